"""Faults planted in the certificates, one at a time: do the tests of the judge notice each of them?

    python tests/hunt_mutants.py 400 --seed 1                   draws 400 faults, every file in proportion to its lines
    python tests/hunt_mutants.py 400 --seed 1 --only 17         that one again, with what the tests say
    python tests/hunt_mutants.py 20 --package cli --tests tests/cli

First the tests run once, and it is noted which lines each of them reaches and how long it takes. Then, for each fault,
the tests that reach its line run in a process of their own, the fastest first, until one fails: the fault is killed. A
fault that lets the tests run five times as long as they took is killed, too. One that no test notices is a
survivor: write the test, or, if the edit changes nothing that can be observed, say why in equivalent_mutants.toml.
Prints a table, and ends with 1 if a fault survived, or if none was planted.
"""

import argparse
import ast
import hashlib
import importlib.abc
import importlib.machinery
import itertools
import json
import os
import random
import resource
import signal
import sys
import time
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mutations import Fault, faults, planted

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "maxmargin"
NOTES = ROOT / ".mutants"
EQUIVALENT = Path(__file__).parent / "equivalent_mutants.toml"
MOST_MEMORY = 8 * 2**30
HANGS = 5.0  # times as long as the tests take without a fault, and some seconds for the start


@dataclass(frozen=True)
class Mutant:
    """A fault in a file."""

    path: Path
    fault: Fault

    def __str__(self):
        return f"{self.path.stem}.{self.fault.function}: {self.fault.edit}"


def draw(folder, count, seed, names=None):
    """`count` mutants, of each file, or of each that is named, in proportion to its lines, the same for the same seed
    and source."""
    files = sorted(path for path in folder.rglob("*.py") if faults(path.read_text(encoding="utf-8")))
    if names:
        unknown = sorted({*names} - {path.stem for path in files})
        if unknown:
            sys.exit(f"no file of {folder.name}/ that faults can be planted in has this name: {', '.join(unknown)}")
        files = [path for path in files if path.stem in names]
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in files]
    shares = [count * line / sum(lines) for line in lines]
    numbers = [int(share) for share in shares]
    by_rest = sorted(range(len(files)), key=lambda k: numbers[k] - shares[k])
    for k in by_rest[: count - sum(numbers)]:
        numbers[k] += 1
    chance = random.Random(seed)
    drawn = []
    for path, number in zip(files, numbers, strict=True):
        possible = faults(path.read_text(encoding="utf-8"))
        chosen = sorted(chance.sample(range(len(possible)), min(number, len(possible))))
        drawn += [Mutant(path, possible[k]) for k in chosen]
    return drawn


def equivalents():
    """The faults that change nothing, by the text of the mutant."""
    if not EQUIVALENT.exists():
        return {}
    return {entry["mutant"]: entry["reason"] for entry in tomllib.loads(EQUIVALENT.read_text())["equivalent"]}


def in_a_child(work, seconds=None):
    """The value of work(), a JSON value, from a forked process; None if it takes longer than `seconds` of CPU time."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            os.setsid()
            if seconds is not None:
                resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
                resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
            answer = work()
            with os.fdopen(writing, "w") as stream:
                json.dump(answer, stream)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as stream:
        text = stream.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) not in (signal.SIGXCPU, signal.SIGKILL):
        return ["crashed", f"signal {os.WTERMSIG(status)}"]
    return json.loads(text) if text else None


class Reach:
    """A pytest plugin: which lines of the package each test runs, how much CPU time it takes, and which fail."""

    def __init__(self, coverage):
        self.coverage, self.seconds, self.failed = coverage, {}, []

    def pytest_runtest_logstart(self, nodeid):
        self.coverage.switch_context(nodeid)
        self.seconds[nodeid] = -time.process_time()

    def pytest_runtest_logfinish(self, nodeid):
        self.seconds[nodeid] += time.process_time()

    def pytest_runtest_logreport(self, report):
        self.failed += [report.nodeid] if report.failed else []


class Chosen:
    """A pytest plugin: these tests alone, in this order, and those that the fault made; keeps the first that fails."""

    def __init__(self, names, known):
        self.places = {name: place for place, name in enumerate(names)}
        self.known = known
        self.failed = None

    def pytest_collection_modifyitems(self, items):
        chosen = (item for item in items if item.nodeid in self.places or item.nodeid not in self.known)
        items[:] = sorted(chosen, key=lambda item: self.places.get(item.nodeid, len(self.places)))

    def pytest_runtest_logreport(self, report):
        if report.failed and self.failed is None:
            self.failed = report.nodeid


class Planting(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module of the package with a fault in it."""

    def __init__(self, mutant):
        self.mutant = mutant
        self.name = ".".join(("maxmargin", *mutant.path.relative_to(PACKAGE).with_suffix("").parts))
        self.name = self.name.removesuffix(".__init__")

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        is_package = self.mutant.path.name == "__init__.py"
        spec = importlib.machinery.ModuleSpec(name, self, origin=str(self.mutant.path), is_package=is_package)
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [str(self.mutant.path.parent)]
        return spec

    def exec_module(self, module):
        tree = planted(self.mutant.path.read_text(encoding="utf-8"), self.mutant.fault.place)
        exec(compile(tree, str(self.mutant.path), "exec"), module.__dict__)


def pytest_in_silence(arguments, plugin, loud=False):
    import pytest

    if not loud:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
    options = ["-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist", f"--rootdir={ROOT}"]
    return int(pytest.main([*options, *arguments], plugins=[plugin]))


def reached_lines(tests, folder):
    """{test: seconds} and {file: {line: tests}}, from one run of all tests, which must pass."""

    def measure():
        import coverage

        watcher = coverage.Coverage(data_file=None, include=[f"{folder}/*"])
        plugin = Reach(watcher)
        watcher.start()
        code = pytest_in_silence(tests, plugin)
        watcher.stop()
        if code != 0:
            return ["red", plugin.failed or [f"pytest ended with {code}"]]
        data = watcher.get_data()
        lines = {
            name: {line: [test for test in names if test] for line, names in data.contexts_by_lineno(name).items()}
            for name in data.measured_files()
        }
        return ["green", plugin.seconds, lines]

    digest = hashlib.sha256(json.dumps(tests).encode())
    for path in sorted([*PACKAGE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")]):
        digest.update(path.read_bytes())
    note = NOTES / f"{digest.hexdigest()[:16]}.json"
    if not note.exists():
        found = in_a_child(measure)
        if found is None or found[0] != "green":
            why = "they did not end" if found is None else ", ".join(map(str, found[1]))
            sys.exit(f"without any fault the tests must pass, {' '.join(tests)}: {why}")
        NOTES.mkdir(exist_ok=True)
        note.write_text(json.dumps(found))
    _, seconds, lines = json.loads(note.read_text())
    return seconds, lines


def fastest_that_reach(mutant, seconds, lines, most):
    """The tests that run the fault's lines or, if it runs on import, all beside those that run its file; the fastest,
    up to `most` seconds."""
    of_file = lines.get(str(mutant.path), {})
    fault = mutant.fault
    if runs_on_import(mutant):  # what it makes may be read where no line of its file runs
        files = {file_of(name) for tests in of_file.values() for name in tests}
        names = {name for name in seconds if file_of(name) in files}
    else:
        wanted = {str(line) for line in range(fault.line, fault.last_line + 1)}
        names = {name for line, tests in of_file.items() if line in wanted for name in tests}
    ordered = sorted(names, key=lambda name: (seconds.get(name, 0.0), name))
    until = itertools.accumulate(seconds.get(name, 0.0) for name in ordered)
    return [name for name, total in zip(ordered, until, strict=True) if total <= most]


def runs_on_import(mutant):
    """Whether the fault stands outside of any function's body, where no test is seen to run it."""
    tree = ast.parse(mutant.path.read_text(encoding="utf-8"))
    return not any(
        isinstance(node, ast.FunctionDef) and node.body[0].lineno <= mutant.fault.line <= node.end_lineno
        for node in ast.walk(tree)
    )


def file_of(name):
    return name.split("::", 1)[0]


def hunt(mutant, names, known, limit, loud=False):
    """(verdict, detail) of one mutant: killed by a test, or survived."""
    if not names:
        return "survived", "no test runs this line"

    def work():
        sys.meta_path.insert(0, Planting(mutant))
        plugin = Chosen(names, known)
        files = sorted({file_of(name) for name in names})
        code = pytest_in_silence(["-x", *(str(ROOT / file) for file in files)], plugin, loud)
        return [code, plugin.failed]

    answer = in_a_child(work, limit)
    if answer is None:
        return "killed", "the tests do not end"
    code, failed = answer
    if code == 0:
        return "survived", f"{len(names)} tests pass"
    return "killed", failed or "the tests cannot be collected"


def load_what_never_changes(folder):
    """Everything heavy, once, but no module of the package that imports the folder that faults are planted in."""
    for name in ("numpy", "scipy.sparse", "scipy.optimize", "sklearn.svm", "sklearn.pipeline", "hypothesis", "pytest"):
        importlib.import_module(name)
    before = ("data", "problems", "solvers")
    if folder.relative_to(PACKAGE).parts[0] not in before:
        for layer in before:
            for path in sorted((PACKAGE / layer).rglob("*.py")):
                if path.stem not in ("__init__", "reference"):
                    parts = path.relative_to(PACKAGE).with_suffix("").parts
                    importlib.import_module(".".join(("maxmargin", *parts)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--package", default="certificates", help="the folder below src/maxmargin to plant faults in")
    parser.add_argument("--tests", nargs="+", default=["tests/certificates"])
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="of tests for one mutant: the fastest that reach it"
    )
    parser.add_argument("--only", type=int, help="the number of one mutant of the draw")
    parser.add_argument("--files", nargs="+", help="draw from these files alone: duality exact")
    parser.add_argument("--part", default="1/1", help="2/4: the second of every four, to share the work")
    chosen = parser.parse_args()

    importlib.import_module("conftest")  # chooses Numba's cache, before anything loads Numba; not again in the children
    os.environ["PYTEST_XDIST_WORKER"] = "hunt"
    folder = PACKAGE / chosen.package
    drawn = draw(folder, chosen.count, chosen.seed, chosen.files)
    part, parts = map(int, chosen.part.split("/"))
    drawn = [
        (number, mutant)
        for number, mutant in enumerate(drawn)
        if chosen.only in (None, number) and number % parts == part - 1
    ]
    if not drawn:
        sys.exit("no fault is planted: of this draw, none is in this part or has this number")
    load_what_never_changes(folder)
    tests = [str(Path(test)) for test in chosen.tests]
    seconds, lines = reached_lines(tests, folder)
    limit = HANGS * (chosen.seconds + 10.0)
    known = equivalents()
    counts, by_file, survivors = Counter(), {}, []
    for number, mutant in drawn:
        if str(mutant) in known and chosen.only is None:
            verdict, detail = "equivalent", known[str(mutant)]
        else:
            names = fastest_that_reach(mutant, seconds, lines, chosen.seconds)
            verdict, detail = hunt(mutant, names, seconds, limit, loud=chosen.only is not None)
        counts[verdict] += 1
        by_file.setdefault(mutant.path.stem, Counter())[verdict] += 1
        if verdict == "survived":
            survivors.append((number, mutant))
        print(f"{number:4d} {verdict:10s} {mutant}\n     {detail}", flush=True)

    print("\n| file | killed | equivalent | survived |\n|---|--:|--:|--:|")
    for name, found in [*sorted(by_file.items()), ("all", counts)]:
        print(f"| {name} | {found['killed']} | {found['equivalent']} | {found['survived']} |")
    for number, mutant in survivors:
        print(f"\nsurvivor {number}, line {mutant.fault.line}: {mutant}")
    print(
        f"{counts.total():,} faults planted in the judge: {counts['killed']:,} found by its tests, "
        f"{counts['equivalent']:,} that change nothing, {counts['survived']:,} not found"
    )
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
