"""The rules of the house that a machine can read."""

import ast
import graphlib
import importlib.util
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import maxmargin

PACKAGE = Path(maxmargin.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

# Nobody waits for these before the first fit.
HEAVY = {
    *("cvxpy", "duckdb", "matplotlib", "numba", "onnx", "pandas", "polars", "rich", "skops", "starlette", "typer"),
    "uvicorn",
}
# Names that say nothing about what is inside.
EMPTY_NAMES = {"common", "core", "helpers", "misc", "utils"}
LONGEST_FILE = 400
LONGER = {"persistence/schema.py": 464}  # one idea: what a document may hold, read and written by the same annotations
MOST_LINES_FOR_CHECKPOINTS = 30
# Files that a reader meets on the way of a fit: what is not asked for (observers, warnings, theorems) is not met.
HOUSE = Path(__file__).parents[1] / "benchmarks" / "house.py"
FILES_ON_THE_WAY = {  # one of them is the door to the loops
    "LinearSVM().fit": 19,
    "KernelSVM().fit": 22,
    "HardMarginSVM().fit": 18,
    "maxmargin fit": 40,
    "a drag in the playground": 30,
}
# How often it goes from one file to another, with a twentieth for data that need a step more.
SWITCHES_ON_THE_WAY = {
    "LinearSVM().fit": 455,
    "KernelSVM().fit": 255,
    "HardMarginSVM().fit": 112,
    "maxmargin fit": 545,
    "a drag in the playground": 215,
}


def path_in_package(path):
    return str(path.relative_to(PACKAGE))


each_file = pytest.mark.parametrize("path", FILES, ids=path_in_package)


def loaded_by(statement):
    """The modules that a new process has loaded after `statement`."""
    script = f"import sys; {statement}; print(*sys.modules)"
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(finished.stdout.split())


def test_public_names_are_sorted():
    assert maxmargin.__all__ == sorted(maxmargin.__all__)
    assert len(maxmargin.__all__) == len(set(maxmargin.__all__))


@pytest.mark.parametrize("name", maxmargin.__all__)
def test_public_name_exists_and_is_documented(name):
    assert getattr(maxmargin, name).__doc__


def test_public_names_are_listed():
    assert set(maxmargin.__all__) <= set(dir(maxmargin))


def test_type_checkers_read_the_same_names():
    """Every line of the table re-exports one name, in the form that strict type checkers take for public."""
    body = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8")).body
    lines = [statement for statement in body if isinstance(statement, ast.ImportFrom)]
    assert [len(line.names) for line in lines] == [1] * len(lines)
    assert all(line.names[0].asname == line.names[0].name for line in lines)
    assert sorted(line.names[0].name for line in lines) == maxmargin.__all__


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = maxmargin.no_such_name


def test_importing_the_package_loads_nothing_heavy():
    assert not loaded_by("import maxmargin") & (HEAVY | {"numpy", "scipy", "sklearn"})


def test_public_names_load_nothing_heavy():
    loaded_by_sklearn = loaded_by("import sklearn.svm")  # pandas and rich, where it finds them
    assert not loaded_by("from maxmargin import *") & (HEAVY - loaded_by_sklearn)


@each_file
def test_file_opens_with_its_purpose(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@each_file
def test_file_is_short(path):
    longest = LONGER.get(path.relative_to(PACKAGE).as_posix(), LONGEST_FILE)
    assert len(path.read_text(encoding="utf-8").splitlines()) <= longest


@each_file
def test_file_name_says_what_is_inside(path):
    assert not EMPTY_NAMES & set(path.relative_to(PACKAGE).with_suffix("").parts)


def imported_by(tree):
    """The names that a module imports, inside of functions too, but not for types alone."""
    for_types = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    for_types = {id(inner) for node in for_types for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in for_types:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            yield node.module


def test_no_module_needs_one_that_needs_it():
    graph = {}
    for path in FILES:
        if (
            path.name != "__init__.py"
        ):  # a package is not its parts: `import maxmargin` for the version closes no circle
            name = ".".join(["maxmargin", *path.relative_to(PACKAGE).with_suffix("").parts])
            graph[name] = set(imported_by(ast.parse(path.read_text(encoding="utf-8"))))
    graph = {module: names & set(graph) - {module} for module, names in graph.items()}
    assert sum(map(len, graph.values())) > 1000
    graphlib.TopologicalSorter(graph).prepare()


@pytest.fixture(scope="module")
def house():
    if not HOUSE.exists():
        pytest.skip("a source distribution has no benchmarks")
    spec = importlib.util.spec_from_file_location("house", HOUSE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def counted(house):
    return house.read_off(PACKAGE.parent)


def test_private_methods_are_called_inside_of_their_class(house, counted):
    assert counted["private"] == {}
    found = house.private_calls(ast.parse("native._fit_table(table); self._solve(1); native.fit(X); super()._store()"))
    assert list(found) == [(1, "native._fit_table")]


def test_algorithms_know_little_of_checkpoints(counted):
    assert sum(counted["checkpoints"].values()) <= MOST_LINES_FOR_CHECKPOINTS, counted["checkpoints"]


@pytest.mark.parametrize("family", ["loss", "kernel", "solver", "certificate kind", "table"])
def test_a_member_of_a_family_is_named_in_few_files(counted, family):
    assert 1 <= len(counted["families"][family]) <= 3, counted["families"][family]


@pytest.mark.skipif(not HOUSE.exists(), reason="a source distribution has no benchmarks")
def test_the_way_is_short():
    command = [sys.executable, str(HOUSE), "--source", str(PACKAGE.parent), "--walk", *FILES_ON_THE_WAY]
    environment = {**os.environ, "MAXMARGIN_UNCOMPILED_ROWS": "0"}
    finished = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    for (name, most), line in zip(FILES_ON_THE_WAY.items(), finished.stdout.splitlines(), strict=True):
        walk = json.loads(line)
        assert len(walk["names"]) <= most, (name, walk["names"])
        assert walk["switches"] <= SWITCHES_ON_THE_WAY.get(name, math.inf), (name, walk["pairs"][:20])
