"""The order of the rows: all of them, at random, neighbours together; and the sweeps that follow it get there."""

import numpy as np
import pytest

from maxmargin import LinearSVM
from maxmargin.solvers.coordinate_descent import sweeps
from maxmargin.solvers.coordinate_descent.sweeps import in_ascending_order, rows_together, shuffle, shuffled_groups


def state(seed=7):
    return np.array([seed], dtype=np.uint64)


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 1000])
def test_groups_hold_every_row_once_and_neighbours_together(n):
    rows = np.arange(n) * 3
    order = shuffled_groups(rows, 16, state())
    np.testing.assert_array_equal(np.sort(order), rows)
    starts = np.flatnonzero(np.diff(order, prepend=-10) != 3)
    assert len(starts) <= -(-n // 16)
    assert len(starts) >= 0.8 * (n // 16)  # but the groups are not where they were


def test_the_order_is_random_and_can_be_repeated():
    random = state()
    first, second = (shuffled_groups(np.arange(1000), 16, random) for _ in range(2))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, shuffled_groups(np.arange(1000), 16, state()))


def test_groups_of_one_are_a_shuffle():
    rows = np.arange(100)
    shuffled = rows.copy()
    shuffle(shuffled, state())
    np.testing.assert_array_equal(shuffled_groups(rows, 1, state()), shuffled)


def test_ascending():
    rows = np.random.default_rng(0).permutation(1000)[:300]
    np.testing.assert_array_equal(in_ascending_order(rows, 1000), np.sort(rows))


def test_small_tables_are_visited_row_by_row():
    assert rows_together(1000, 8 * 1000 * 20) == 1
    assert rows_together(1_000_000, 8 * 1_000_000 * 20) == sweeps.TOGETHER


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_sweeps_in_groups_end_at_the_same_optimum(monkeypatch, loss):
    """Also where the rows lie sorted by their class: the worst that can happen to neighbours."""
    random = np.random.default_rng(1)
    X = random.normal(size=(4000, 6))
    y = np.where(X[:, 0] + 0.7 * random.normal(size=4000) > 0.1, "up", "down")
    X, y = X[np.argsort(y)], np.sort(y)
    row_by_row = LinearSVM(loss=loss, solver="coordinate_descent", tol=1e-7).fit(X, y)
    monkeypatch.setattr(sweeps, "FAST_MEMORY", 0)
    monkeypatch.setattr("maxmargin.solvers.coordinate_descent.descent.NUMBERS_PER_ROUND", 0)
    in_groups = LinearSVM(loss=loss, solver="coordinate_descent", tol=1e-7).fit(X, y)
    assert in_groups.certificate_.relative_gap <= 1e-7
    assert not np.array_equal(in_groups.coef_, row_by_row.coef_)  # it did go another way
    np.testing.assert_allclose(in_groups.certificate_.primal, row_by_row.certificate_.primal, rtol=2e-7)
    again = LinearSVM(loss=loss, solver="coordinate_descent", tol=1e-7).fit(X, y)
    np.testing.assert_array_equal(again.coef_, in_groups.coef_)
