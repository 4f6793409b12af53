"""--max-time covers all that comes after reading; the answer for machines is written as it is made. No clock runs."""

import json
import types
import weakref

import numpy as np
import pytest

from maxmargin.cli import compare, console
from maxmargin.cli import path as path_command
from maxmargin.cli.console import TimeLimit
from maxmargin.data.synthetic import overlapping

GOOD = "a,b,y\n0,0,u\n0,2,u\n1,1,u\n4,0,v\n5,1,v\n5,3,v\n"


class Clock:
    """A clock that goes on only where work says so."""

    def __init__(self):
        self.now = 100.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(console, "time", clock)
    return clock


def test_what_is_left(clock):
    limit = TimeLimit(10.0)
    clock.now += 4.0
    assert limit.left() == 6.0
    assert limit.left(0.5) == 3.0
    assert limit.left(reserve=1.0) == 5.0
    assert limit.left(reserve=99.0) == 3.0  # half of the rest at most
    assert not limit.is_over
    clock.now += 7.0
    assert limit.is_over
    assert limit.left() == console.LEAST
    assert TimeLimit(None).left() is None
    assert not TimeLimit(None).is_over


@pytest.mark.parametrize(
    ("command", "solver"),
    [
        ("fit", "maxmargin.LinearSVM.fit"),
        ("check", "maxmargin.cli.check.ask"),
        ("path", "maxmargin.path"),
        ("audit", "maxmargin.estimators.audit.audit"),
    ],
)
def test_preparation_counts(command, solver, clock, write, tmp_path, monkeypatch, capsys):
    from maxmargin.cli import main

    data, model, seen = write(GOOD), str(tmp_path / "model"), []
    assert main(["fit", data, "-o", model]) == 0

    def slow(preparing):
        def prepared(*arguments, **others):
            clock.now += 4.0
            return preparing(*arguments, **others)

        return prepared

    def solved(*arguments, **given):
        told = getattr(arguments[0], "max_time", None) if command == "fit" else given.get("max_time", arguments[-1])
        seen.append(told)
        raise ValueError("enough is known")

    for place in ("fit.prepare", "path.prepare", "check.encoded", "models.numbers_of"):
        module, _, name = place.partition(".")
        target = __import__(f"maxmargin.cli.{module}", fromlist=[name])
        monkeypatch.setattr(target, name, slow(getattr(target, name)))
    monkeypatch.setattr(solver, solved)
    arguments = [command, model, data] if command == "audit" else [command, data]
    assert main([*arguments, "--label", "y", "--max-time", "10"]) == 1
    assert seen == [6.0]


def test_printing_counts(monkeypatch, write, capsys, clock):
    """Many rows as JSON: what printing them will take is kept from the solver."""
    from maxmargin.cli import main

    monkeypatch.setattr(path_command, "seconds_of_printing", lambda rows: 0.25)
    seen = []

    def solved(*_, **given):
        seen.append(given["max_time"])
        raise ValueError("enough is known")

    monkeypatch.setattr("maxmargin.path", solved)
    for line in (["--Cs", "4"], ["--Cs", "4", "--json"], ["--Cs", "0.1,1", "--json"], ["--Cs", "99", "--json"]):
        assert main(["path", write(GOOD), "--max-time", "10", *line]) == 1
    assert seen == [10.0, 9.0, 9.5, 5.0]
    monkeypatch.undo()
    assert 0.0 < path_command.seconds_of_printing(100_000) < 60.0


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_each_algorithm_of_a_comparison_has_its_own_time(kernel, clock):
    X, y = overlapping(30)
    given, asked = [], []

    class Slow:
        classes_ = np.unique(y)

        def set_params(self, max_time):
            given.append(max_time)

        def fit(self, X, y):
            clock.now += given[-1]
            return self

        @property
        def certificate_(self):
            return types.SimpleNamespace(verify=verify)

        def predict(self, rows):
            asked.append(len(rows))
            return y[: len(rows)]

        def score(self, X, y, weights):
            return 1.0

    def verify(X, y):
        clock.now += 8.0
        return True

    estimator = Slow()
    estimator.kernel = kernel
    table = types.SimpleNamespace(y=y, weights=None)
    first = compare.run("one", estimator, X, table, 10.0)
    second = compare.run("two", estimator, X, table, 10.0)
    assert given == ([5.0, 5.0] if kernel else [9.0, 9.0])  # the second begins anew
    assert (first.accuracy, second.accuracy) == ((None, None) if kernel else (1.0, 1.0))
    assert asked == []
    clock.now = 0.0
    assert compare.run("three", estimator, X, table, 100.0).accuracy == 1.0


def test_json_is_written_as_it_is_made():
    """An element is let go before the one after the next is made, so that a path of many points is never held whole."""
    alive = weakref.WeakSet()

    class Watched(dict):
        __hash__ = object.__hash__

    def elements():
        for number in range(5):
            assert len(alive) <= 1
            element = Watched(number=number)
            alive.add(element)
            yield element
            del element

    text = "".join(console.pieces_of_json({"a": 1, "points": elements(), "b": float("inf"), "c": [float("nan")]}))
    assert json.loads(text) == {"a": 1, "points": [{"number": n} for n in range(5)], "b": None, "c": [None]}


def test_the_points_of_a_path_are_made_one_by_one(monkeypatch):
    points = path_command.for_machines(types.SimpleNamespace(classes=(0, 1), C_max=1.0, separation=None, points=[]))
    assert list(points["points"]) == []
    assert not isinstance(points["points"], list)
