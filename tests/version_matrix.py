"""The tests against an installed wheel, for every Python and every release of scikit-learn that is supported.

    make matrix
    python tests/version_matrix.py --only lowest --again -- tests/estimators -k contract

Each cell is a venv of its own in .matrix/, with the wheel that a user would get. "lowest" takes the least release of
each dependency that pyproject.toml admits. A Python that this machine does not have, or a venv that cannot be made, is
a row that says so. Cells can be run one at a time: .matrix/results.json keeps the last run of each, and the table that
is printed shows all of them. Ends with 1 if a test failed.
"""

import argparse
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".matrix"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TOOLS = ("all", "bench", "docs", "test")  # extras that are not for users
SHOWN = ("scikit-learn", "numpy", "scipy", "numba")


@dataclass(frozen=True)
class Cell:
    """One combination of versions; `pins` are constraints for pip."""

    name: str
    python: str
    pins: tuple[str, ...] = ()


def lowest_versions():
    """Constraints that hold each dependency, of the package and of its extras, at its lower bound."""
    users = [extra for name, extra in PROJECT["optional-dependencies"].items() if name not in TOOLS]
    required = {*PROJECT["dependencies"], *(requirement for extra in users for requirement in extra)}
    bounds = [re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", requirement) for requirement in sorted(required)]
    assert all(bounds), f"every dependency has a lower bound and nothing else: {sorted(required)}"
    return tuple(f"{bound[1]}=={bound[2]}" for bound in bounds)


CELLS = (
    Cell("lowest", "3.11", lowest_versions()),
    Cell("scikit-learn 1.6", "3.11", ("scikit-learn==1.6.*",)),
    Cell("scikit-learn 1.7", "3.12", ("scikit-learn==1.7.*",)),
    Cell("scikit-learn 1.8", "3.13", ("scikit-learn==1.8.*",)),
    Cell("newest, 3.11", "3.11"),
    Cell("newest, 3.12", "3.12"),
    Cell("newest, 3.13", "3.13"),
)


def answer_of(*command):
    """What a command prints, or None where it fails or does not exist."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def find_python(version):
    """The interpreter of this version: on the path, or uv's, or pyenv's; None if there is none."""
    if answer_of(f"python{version}", "--version"):
        return shutil.which(f"python{version}")
    if found := answer_of("uv", "python", "find", version):
        return found
    if root := answer_of("pyenv", "root"):
        found = sorted(Path(root, "versions").glob(f"{version}.*/bin/python"))
        return str(found[-1]) if found else None
    return None


def build_wheel():
    shutil.rmtree(FOLDER / "wheel", ignore_errors=True)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(FOLDER / "wheel"),
        str(ROOT),
    ]
    subprocess.run(pip, check=True)
    (wheel,) = (FOLDER / "wheel").glob("*.whl")
    return wheel


def make_venv(cell, python, wheel, again):
    """A venv that holds the wheel with all its extras; its folder. `again` keeps the packages that it has."""
    venv = FOLDER / re.sub(r"[^\w.]+", "-", cell.name)
    constraints, pins = venv / "constraints.txt", "\n".join(cell.pins) + "\n"
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    if again and constraints.exists() and constraints.read_text() == pins:
        subprocess.run([*pip, "--force-reinstall", "--no-deps", str(wheel)], check=True)
        return venv
    shutil.rmtree(venv, ignore_errors=True)
    subprocess.run([python, "-m", "venv", str(venv)], check=True)
    constraints.write_text(pins)
    subprocess.run([*pip, "--constraint", str(constraints), f"maxmargin[all,test] @ {wheel.as_uri()}"], check=True)
    return venv


def run_tests(venv, arguments):
    """[passed, failed, skipped] of the tests on the installed wheel; a run without a report is one failure."""
    report = venv / "report.xml"
    report.unlink(missing_ok=True)
    environment = {**os.environ, "MAXMARGIN_INSTALLED": "1"}
    environment.pop("PYTHONPATH", None)
    where = [str(venv / "bin" / "python"), "-c", "import maxmargin; print(maxmargin.__file__)"]
    found = subprocess.run(where, env=environment, cwd=venv, capture_output=True, text=True, check=True).stdout
    assert found.startswith(str(venv)), f"the tests would see {found}"
    pytest = [str(venv / "bin" / "pytest"), "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *arguments]
    pytest += ["-W", "ignore::DeprecationWarning"]  # old releases of one dependency with new ones of another
    subprocess.run(pytest, env=environment, cwd=ROOT, check=False)
    if not report.exists():
        return [0, 1, 0]
    suite = ElementTree.parse(report).getroot().find("testsuite")
    total, skipped = int(suite.get("tests")), int(suite.get("skipped"))
    failed = int(suite.get("failures")) + int(suite.get("errors"))
    return [total - failed - skipped, failed, skipped]


def versions_in(venv):
    """Of Python, and of the packages that are shown."""
    python = str(venv / "bin" / "python")
    listed = answer_of(python, "-m", "pip", "list", "--format=freeze") or ""
    versions = dict(line.split("==") for line in listed.splitlines() if "==" in line)
    return [answer_of(python, "--version").split()[-1], *(versions.get(name, "?") for name in SHOWN)]


def result_of(cell, wheel, again, arguments):
    """What is said of a cell: its versions, the counts of its tests, which tests they were, and when."""
    nothing = ["-"] * len(SHOWN)
    python = find_python(cell.python)
    if python is None:
        return {"versions": [f"{cell.python} is missing", *nothing], "counts": [0, 0, 0], "tests": "none"}
    try:
        venv = make_venv(cell, python, wheel, again)
    except subprocess.CalledProcessError:
        return {"versions": [f"{cell.python}, no venv", *nothing], "counts": [0, 1, 0], "tests": "none"}
    counts = run_tests(venv, arguments or ["tests", "-n", "2", "--dist", "loadfile"])
    return {"versions": versions_in(venv), "counts": counts, "tests": " ".join(arguments) or "all"}


def table_of(results):
    header = ["cell", "Python", *SHOWN, "passed", "failed", "skipped", "tests", "on"]
    rows = [
        [name, *result["versions"], *map(str, result["counts"]), result["tests"], result["on"]]
        for name, result in results.items()
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *rows])


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="cells whose name holds this text")
    parser.add_argument("--again", action="store_true", help="keep the venvs that are there, and renew the wheel alone")
    parser.add_argument("tests", nargs="*", help="arguments for pytest; default: all tests, on two cores")
    chosen = parser.parse_args(arguments)
    kept = FOLDER / "results.json"
    known = json.loads(kept.read_text()) if kept.exists() else {}
    wheel, worst = build_wheel(), 0
    for cell in CELLS:
        if chosen.only and chosen.only not in cell.name:
            continue
        result = result_of(cell, wheel, chosen.again, chosen.tests)
        known[cell.name] = {**result, "on": f"{datetime.datetime.now():%Y-%m-%d %H:%M}"}
        kept.write_text(json.dumps(known, indent=1))
        worst = max(worst, result["counts"][1])
    print(table_of({cell.name: known[cell.name] for cell in CELLS if cell.name in known}))
    return 1 if worst else 0


if __name__ == "__main__":
    sys.exit(main())
