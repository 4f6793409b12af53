"""The faults that a hunt plants: every kind of them, each in its own place, and nothing else."""

import ast
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import hunt_mutants
import pytest
from hunt_mutants import PACKAGE, Chosen, Mutant, draw, equivalents, fastest_that_reach
from mutations import faults, planted

SOURCE = '''
"""Text is left alone."""
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elsewhere import Thing

LIMIT: "Thing | None" = 2.0


def f(x: int | None, *, flag: bool = True) -> "Thing":
    """So are docstrings."""
    if x < LIMIT:
        raise ValueError(f"{x + 1} is {flag!r:>10}")
    total = min(x, 3) * -x
    total += x
    names["a"] = total is None or flag
    return not total
'''


def edited(edit):
    (fault,) = (fault for fault in faults(SOURCE) if fault.edit.endswith(edit))
    return ast.unparse(planted(SOURCE, fault.place))


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ("2.0 becomes 4.0", "= 4.0"),
        ("True becomes False", "flag: bool=False"),
        ("x < LIMIT becomes x <= LIMIT", "if x <= LIMIT:"),
        ("min(x, 3) becomes max(x, 3)", "max(x, 3) * -x"),
        ("min(x, 3) * -x becomes min(x, 3) / -x", "min(x, 3) / -x"),
        ("-x becomes x", "min(x, 3) * x"),
        ("x + 1 becomes x - 1", "{x - 1}"),
        ("total += x: becomes -=", "total -= x"),
        ("total is None or flag becomes total is None and flag", "total is None and flag"),
        ("total is None becomes total is not None", "total is not None or"),
        ("not total becomes total", "return total"),
    ],
)
def test_an_expression_is_changed(edit, expected):
    changed = edited(edit)
    assert expected in changed
    assert len(set(ast.unparse(ast.parse(SOURCE)).splitlines()) - set(changed.splitlines())) == 1


@pytest.mark.parametrize(
    "statement", ["total += x", "names['a'] = total is None or flag", "if x < LIMIT:", "raise ValueError("]
)
def test_a_statement_is_left_out(statement):
    (fault,) = (f for f in faults(SOURCE) if f.edit.endswith("is left out") and f.edit.startswith(statement))
    assert statement in ast.unparse(ast.parse(SOURCE))
    assert statement not in ast.unparse(planted(SOURCE, fault.place))


def test_text_annotations_and_imports_are_left_alone():
    before = ast.unparse(ast.parse(SOURCE)).splitlines()
    after = [set(ast.unparse(planted(SOURCE, fault.place)).splitlines()) for fault in faults(SOURCE)]
    untouched = [line for line in before if line and all(line in lines for lines in after)]
    assert [line.strip()[:20] for line in untouched] == [
        *('"""Text is left alon', "from typing import T", "if TYPE_CHECKING:", "from elsewhere impor"),
        '"""So are docstrings',
    ]


def test_a_fault_has_a_name_of_its_own():
    for path in (PACKAGE / "certificates").glob("*.py"):
        names = [(fault.function, fault.edit) for fault in faults(path.read_text(encoding="utf-8"))]
        assert len(names) == len(set(names))


def test_a_draw_is_in_proportion_and_is_the_same_again():
    drawn = draw(PACKAGE / "certificates", 100, 1)
    assert len(drawn) == 100
    assert drawn == draw(PACKAGE / "certificates", 100, 1)
    assert drawn != draw(PACKAGE / "certificates", 100, 2)
    longest = max((PACKAGE / "certificates").glob("*.py"), key=lambda path: len(path.read_text().splitlines()))
    assert sum(mutant.path == longest for mutant in drawn) >= 4


def test_the_fastest_tests_that_can_notice_come_first(tmp_path):
    """Those that run the line; of a constant also those beside them, which may read it and run no line at all."""
    path = tmp_path / "module.py"
    path.write_text("LIMIT = 2.0\n\n\ndef f(x):\n    return x < LIMIT\n")
    seconds = {"a.py::slow": 3.0, "a.py::reads": 0.0, "a.py::quick": 1.0, "b.py::elsewhere": 0.0}
    lines = {str(path): {"1": ["a.py::slow"], "5": ["a.py::slow", "a.py::quick"]}}
    constant, comparison = (Mutant(path, fault) for fault in faults(path.read_text()))
    assert fastest_that_reach(comparison, seconds, lines, 9.0) == ["a.py::quick", "a.py::slow"]
    assert fastest_that_reach(constant, seconds, lines, 9.0) == ["a.py::reads", "a.py::quick", "a.py::slow"]
    assert fastest_that_reach(constant, seconds, lines, 2.0) == ["a.py::reads", "a.py::quick"]


def test_a_test_that_is_there_because_of_a_fault_runs_too():
    """As where the parameters of a test are the constants that are judged."""
    items = [SimpleNamespace(nodeid=name) for name in ("a.py::f[4]", "a.py::g", "a.py::h", "a.py::i")]
    plugin = Chosen(["a.py::i", "a.py::g", "a.py::f[2]"], {"a.py::f[2]", "a.py::g", "a.py::h", "a.py::i"})
    plugin.pytest_collection_modifyitems(items)
    assert [item.nodeid for item in items] == ["a.py::i", "a.py::g", "a.py::f[4]"]


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="another Python writes some expressions another way")
def test_equivalent_mutants_exist_and_have_reasons():
    existing = {
        f"{path.stem}.{fault.function}: {fault.edit}"
        for path in (PACKAGE / "certificates").rglob("*.py")
        for fault in faults(path.read_text(encoding="utf-8"))
    }
    assert not equivalents().keys() - existing
    assert all(len(reason) > 20 for reason in equivalents().values())


@pytest.mark.parametrize("options", [["0"], ["3", "--only", "99"], ["3", "--part", "5/4"], ["3", "--files", "nowhere"]])
def test_a_draw_without_faults_says_so(options):
    command = [sys.executable, str(Path(hunt_mutants.__file__)), *options]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "fault" in ended.stderr
    assert not ended.stdout
