"""States: what is kept of them, what waits for an inner one, and what is refused."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin.problems.protocol import State, StateError, Waiting, restore, shown, shown_as, snapshot, varying


class Plane(NamedTuple):
    w: np.ndarray
    b: float
    values: np.ndarray


@dataclass(eq=False)
class Inner(State):
    rows: np.ndarray = varying()
    steps: int = varying(0)

    def own_rows(self, n_rows):
        return len(self.rows)


@dataclass(eq=False)
class Outer(State):
    plane: Plane = varying(parts=("w", "b"))
    inner: State | None = varying(None)
    turn: int = varying(0)


def outer(turn=0):
    return Outer(Plane(np.zeros(2), 0.0, np.zeros(5)), turn=turn)


def kept_in_the_midst():
    state = outer(turn=3)
    state.plane = Plane(np.array([1.0, 2.0]), 0.5, np.ones(5))
    state.inner = Inner(np.array([2, 0, 1]), 7)
    return snapshot(state)


def test_an_inner_state_goes_on_where_it_was_when_it_begins():
    kept, state = kept_in_the_midst(), outer()
    restore(state, kept, 5)
    assert (state.turn, isinstance(state, Waiting), isinstance(state, Outer)) == (3, True, True)
    assert snapshot(state)["inner"] == kept["inner"]  # it can be kept once more before it begins
    state.inner = fresh = Inner(np.zeros(3, np.int64))
    assert (state.inner, fresh.steps, fresh.rows.tolist()) == (fresh, 7, [2, 0, 1])
    state.inner = later = Inner(np.zeros(3, np.int64))
    assert (state.inner, later.steps) == (later, 0)


def test_a_state_without_an_inner_one_does_not_wait():
    state = outer()
    restore(state, snapshot(outer(turn=2)), 5)
    assert (type(state), state.turn) == (Outer, 2)


def test_numbers_of_rows_are_those_of_the_inner_state():
    kept, state = kept_in_the_midst(), outer()
    kept["inner"]["rows"][0] = 3  # of five rows, but not of three
    restore(state, kept, 5)
    with pytest.raises(StateError, match="'rows' of the state 'Inner' cannot be of this run"):
        state.inner = Inner(np.zeros(3, np.int64))


def test_of_a_named_tuple_some_parts_are_kept():
    kept, state = kept_in_the_midst(), outer()
    assert set(kept["plane"]) == {"w", "b"}
    restore(state, kept, 5)
    assert (state.plane.w.tolist(), state.plane.b, state.plane.values.tolist()) == ([1.0, 2.0], 0.5, [0.0] * 5)
    kept["plane"]["values"] = np.zeros(5)
    with pytest.raises(StateError, match="'plane' of the run cannot be of this run"):
        restore(outer(), kept, 5)
    del kept["plane"]["values"], kept["plane"]["b"]
    with pytest.raises(StateError, match="'plane' of the run says nothing of 'b'"):
        restore(outer(), kept, 5)


@dataclass(eq=False)
class Taken(State):
    changed: object = varying(None)
    other: object = varying(None, replaced=True)


def test_what_is_replaced_is_shared_and_what_changes_is_copied():
    table = sparse.csr_array(np.eye(3))
    kept = snapshot(Taken(table, Plane(table.data, 0.0, table.indptr)))
    assert not np.shares_memory(kept["changed"]["data"], table.data)
    assert np.shares_memory(kept["other"]["w"], table.data)


def test_rests_are_passed_on_or_left_out():
    run = iter([None, 1, 2, None, 3])
    assert list(shown_as(run, lambda number: 10 * number if number < 3 else None)) == [None, 10, 20, None]

    def echo():
        answer = "nothing"
        while answer != "end":
            assert (yield None) is None
            answer = yield answer

    answered = shown(echo())
    assert [next(answered), answered.send("one")] == ["nothing", "one"]
    with pytest.raises(StopIteration):
        answered.send("end")
