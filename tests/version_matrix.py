"""The tests against an installed wheel, for every Python and every release of scikit-learn that is supported.

    make matrix
    python tests/version_matrix.py --only lowest -- tests/estimators -k contract

Each cell is a venv of its own in .matrix/, with the wheel that a user would get. "lowest" takes the least release of
each dependency that pyproject.toml admits. A Python that this machine does not have is a row that says so. Prints a
table, and ends with 1 if a test failed.
"""

import argparse
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
SHOWN = ("scikit-learn", "numpy", "scipy", "numba")


@dataclass(frozen=True)
class Cell:
    """One combination of versions; `pins` are constraints for pip."""

    name: str
    python: str
    pins: tuple[str, ...] = ()


def lowest_versions():
    """Constraints that hold each dependency, of the package and of its extras, at its lower bound."""
    users = [extra for name, extra in PROJECT["optional-dependencies"].items() if name not in ("all", "bench", "test")]
    required = {*PROJECT["dependencies"], *(requirement for extra in users for requirement in extra)}
    bounds = [re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement) for requirement in sorted(required)]
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


def make_venv(cell, python, wheel):
    """A fresh venv that holds the wheel with all its extras; its folder."""
    venv = FOLDER / re.sub(r"[^\w.]+", "-", cell.name)
    shutil.rmtree(venv, ignore_errors=True)
    subprocess.run([python, "-m", "venv", str(venv)], check=True)
    constraints = venv / "constraints.txt"
    constraints.write_text("\n".join(cell.pins) + "\n")
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", "--constraint", str(constraints)]
    subprocess.run([*pip, f"maxmargin[all,test] @ {wheel.as_uri()}"], check=True)
    return venv


def run_tests(venv, arguments):
    """(passed, failed, skipped) of the tests on the installed wheel."""
    report = venv / "report.xml"
    environment = {**os.environ, "MAXMARGIN_INSTALLED": "1"}
    environment.pop("PYTHONPATH", None)
    where = [str(venv / "bin" / "python"), "-c", "import maxmargin; print(maxmargin.__file__)"]
    found = subprocess.run(where, env=environment, cwd=venv, capture_output=True, text=True, check=True).stdout
    assert found.startswith(str(venv)), f"the tests would see {found}"
    pytest = [str(venv / "bin" / "pytest"), "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *arguments]
    pytest += ["-W", "ignore::DeprecationWarning"]  # old releases of one dependency with new ones of another
    subprocess.run(pytest, env=environment, cwd=ROOT, check=False)
    suite = ElementTree.parse(report).getroot().find("testsuite")
    total, skipped = int(suite.get("tests")), int(suite.get("skipped"))
    failed = int(suite.get("failures")) + int(suite.get("errors"))
    return total - failed - skipped, failed, skipped


def versions_in(venv):
    listed = answer_of(str(venv / "bin" / "python"), "-m", "pip", "list", "--format=freeze") or ""
    versions = dict(line.split("==") for line in listed.splitlines() if "==" in line)
    return [versions.get(name, "?") for name in SHOWN]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="cells whose name holds this text")
    parser.add_argument("tests", nargs="*", help="arguments for pytest; default: all tests, on two cores")
    chosen = parser.parse_args()
    arguments = chosen.tests or ["tests", "-n", "2", "--dist", "loadfile"]
    wheel = build_wheel()
    rows, worst = [], 0
    for cell in CELLS:
        if chosen.only and chosen.only not in cell.name:
            continue
        python = find_python(cell.python)
        if python is None:
            rows.append([cell.name, f"{cell.python} is missing", *["-"] * (len(SHOWN) + 3)])
            continue
        venv = make_venv(cell, python, wheel)
        counts = run_tests(venv, arguments)
        worst = max(worst, counts[1])
        rows.append([cell.name, cell.python, *versions_in(venv), *map(str, counts)])
    header = ["cell", "Python", *SHOWN, "passed", "failed", "skipped"]
    for row in [header, ["---"] * len(header), *rows]:
        print("| " + " | ".join(row) + " |")
    return 1 if worst else 0


if __name__ == "__main__":
    sys.exit(main())
