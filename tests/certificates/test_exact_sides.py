"""Both sides of the soft margin in exact arithmetic: blocks, units, and the edges of the box."""

import functools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin.certificates import exact_linear_algebra, exact_soft_margin
from maxmargin.certificates.exact_soft_margin import (
    aligned,
    dual_at_least,
    dual_value,
    integers_of,
    primal_at_most,
    primal_value,
    products_with,
    side_sum,
    sum_of_quotients,
)
from maxmargin.certificates.passes import chosen_rows
from maxmargin.problems.losses import HINGE, SQUARED_HINGE

FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
pairs = functools.partial(zip, strict=True)
LOSSES = pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])


def real(integers, unit):
    """The numbers that integers in this unit stand for."""
    return [Fraction(int(number)) * Fraction(2) ** unit for number in integers]


def objects(values):
    return np.array(values, dtype=object)


X = np.array([[0.0, 1.0], [3.0, -0.5], [0.25, 0.0], [0.0, 0.0], [-2.0, 2.0**-40]])
SIGNS = np.array([-1.0, 1.0, 1.0, -1.0, -1.0])
COSTS = np.array([0.5, 3.0, 0.1, 1.0, 2.0])


def slow_primal(table, w, b, loss, signs=SIGNS, costs=COSTS):
    w, b = [Fraction(v) for v in w], Fraction(b)
    slacks = [
        1 - int(s) * (sum(p * Fraction(v) for p, v in pairs(w, row)) + b) for s, row in pairs(signs, table.tolist())
    ]
    losses = [max(slack, 0) ** (1 if loss is HINGE else 2) for slack in slacks]
    return sum(v * v for v in w) / 2 + sum(Fraction(c) * v for c, v in pairs(costs.tolist(), losses))


def slow_dual(table, a, bias, loss, signs=SIGNS, costs=COSTS):
    a = [Fraction(v) for v in a]
    if bias:
        sums = [sum(v for v, s in pairs(a, signs) if s == side) for side in (1, -1)]
        if 0 in sums:
            return Fraction(0)
        a = [v * min(sums) / sums[0 if s > 0 else 1] for v, s in pairs(a, signs)]
    w = [sum(v * int(s) * Fraction(x) for v, s, x in pairs(a, signs, column)) for column in table.T.tolist()]
    square, gain = sum(v * v for v in w), sum(a)
    if loss is SQUARED_HINGE:
        square += sum(v * v / (2 * Fraction(c)) for v, c in pairs(a, costs.tolist()))
    t = gain / square if square else Fraction(1)
    t = min(t, 1) if loss is HINGE else t
    return t * gain - t * t * square / 2


@FORMS
@LOSSES
@pytest.mark.parametrize("block", [1, 3, 10**5])
def test_both_sides_whatever_the_blocks(form, loss, block, monkeypatch):
    monkeypatch.setattr(exact_soft_margin, "EXACT_BLOCK", block)
    monkeypatch.setattr(exact_linear_algebra, "EXACT_BLOCK", block)
    table = form(X)
    for w, b in (([0.5, -2.0], 0.0), ([2.0**-60, 4.0], 0.75), ([0.0, 0.0], -(2.0**-70)), ([2.0**80, 0.0], 2.0**70)):
        w = np.array(w)
        assert primal_value(table, SIGNS, COSTS, w, b, loss) == slow_primal(X, w.tolist(), b, loss)
    for a in (
        COSTS / 2,
        COSTS * [0.5, 1, 1, 0, 0],
        COSTS * [1, 0, 0.5, 0, 2.0**-50],
        COSTS * [0, 0, 1, 1, 0],
        COSTS * [0, 1, 0, 0, 0],
        0 * COSTS,
    ):
        for bias in (True, False):
            found, wanted = dual_value(table, SIGNS, COSTS, a, bias, loss), slow_dual(X, a.tolist(), bias, loss)
            assert wanted * (1 - Fraction(1, 2**280)) <= found <= wanted
            assert found == wanted or loss is SQUARED_HINGE


@LOSSES
def test_the_edges_of_the_box(loss):
    edge = COSTS.copy()
    assert dual_value(X, SIGNS, COSTS, edge, True, loss) > 0
    above = np.nextafter(edge, math.inf)
    assert (dual_value(X, SIGNS, COSTS, above, True, loss) > 0) == (loss is SQUARED_HINGE)
    one = edge.copy()
    one[3] = math.nextafter(1.0, 2.0)
    assert (dual_value(X, SIGNS, COSTS, one, True, loss) > 0) == (loss is SQUARED_HINGE)
    for bad in (-1.0, -5e-324, math.nan, math.inf):
        outside = edge.copy()
        outside[2] = bad
        assert dual_value(X, SIGNS, COSTS, outside, True, loss) == 0


def test_numbers_that_are_one_unit():
    """A row that misses one unit of its block, and weights that sum up to 1."""
    table, signs, costs = np.array([[1.0 - 2.0**-40], [-1.0]]), np.array([1.0, -1.0]), np.ones(2)
    w = np.ones(1)
    assert primal_value(table, signs, costs, w, 0.0, HINGE) == Fraction(1, 2) + Fraction(1, 2**40)
    table = np.array([[0.5], [-0.5]])
    assert dual_value(table, signs, costs, np.full(2, 0.5), True, HINGE) == 1 - Fraction(1, 8)
    assert dual_value(table, signs, costs, np.array([1.0, 0.0]), False, HINGE) == 1 - Fraction(1, 8)


def test_quotients_that_come_out_even_are_exact_and_others_are_rounded_up_a_little():
    integers = objects([3, 5, -7, 11])
    even = np.array([0.5, 1.0, 0.25, 0.5])
    assert sum_of_quotients(integers, even) == 18 + 25 + 4 * 49 + 2 * 121
    odd = np.array([3.0, 0.1, 3.0, 7.0])
    exact = sum((Fraction(int(i) ** 2) / Fraction(c) for i, c in pairs(integers, odd.tolist())), Fraction(0))
    found = sum_of_quotients(integers, odd)
    assert exact < found < exact + Fraction(3, 2**300)
    assert found.denominator <= 2**360  # it was rounded
    assert sum_of_quotients(objects([]), np.array([])) == 0


def test_bounds_that_are_no_numbers():
    known = X, SIGNS, COSTS
    assert primal_at_most(*known, np.zeros(2), 0.0, HINGE, float(COSTS.sum()) + 1e-9)
    assert not primal_at_most(*known, np.zeros(2), 0.0, HINGE, 6.0)
    assert not primal_at_most(*known, np.zeros(2), 0.0, HINGE, -math.inf)
    assert dual_at_least(*known, COSTS, True, HINGE, 0.0)
    assert dual_at_least(*known, -COSTS, True, HINGE, -1.0)
    assert not dual_at_least(*known, -COSTS, True, HINGE, 5e-324)
    assert not dual_at_least(*known, COSTS, True, HINGE, math.inf)
    assert not dual_at_least(*known, COSTS, True, HINGE, math.nan)


def test_integers_in_one_unit():
    for values, integers, unit in (
        ([0.75, 3.0], [3, 12], -2),
        ([4.0, 0.0, 12.0], [1, 0, 3], 2),
        ([0.0, 0.0], [0, 0], 0),
        ([2.0**900, 2.0**-900], [2**1800, 1], -900),
    ):
        found, own = integers_of(np.array(values))
        assert (found.tolist(), own) == (integers, unit)


def test_numbers_in_the_smallest_of_their_units():
    found, unit = aligned([(objects([1, 2]), 3), (objects([5]), 1), (objects([0]), 2)])
    assert [part.tolist() for part in found] == [[4, 8], [5], [0]]
    assert unit == 1


@FORMS
def test_chosen_rows_hold_as_many_numbers_as_they_may(form):
    table = form(np.ones((10, 3)))
    rows = np.array([7, 1, 2, 9, 0, 3, 5, 8, 4])
    parts = list(chosen_rows(table, rows, 12))
    assert [part.tolist() for part, _ in parts] == [[7, 1, 2, 9], [0, 3, 5, 8], [4]]
    assert all(found.shape == (len(part), 3) for part, found in parts)
    assert not list(chosen_rows(table, rows[:0], 12))
    wide = form(np.ones((10, 50)))
    assert [len(part) for part, _ in chosen_rows(wide, np.arange(3), 12)] == [1, 1, 1]
    numbered = form(np.arange(30.0).reshape(10, 3))
    for part, found in chosen_rows(numbered, rows, 12):
        found = found.toarray() if sparse.issparse(found) else found
        assert found[:, 0].tolist() == [3.0 * row for row in part]
    empty = sparse.csr_array((10, 3))
    assert [len(part) for part, _ in chosen_rows(empty, np.arange(10), 12)] == [10]


@FORMS
def test_products_and_sums_of_rows(form):
    table = np.array([[0.5, 0.0, 3.0], [0.0, 0.0, 0.0], [2.0**60, -(2.0**-60), 0.0], [0.0, 7.0, 0.0], [0.0, 0.0, 0.0]])
    normal, weights = objects([2**70 + 1, -3, 5]), objects([1, 9, -2, 4, 11])
    products = real(*products_with(form(table), normal))
    assert products == [sum(Fraction(x) * int(v) for x, v in pairs(row, normal)) for row in table.tolist()]
    found = real(*side_sum(form(table), np.arange(5), weights))
    assert found == [sum(Fraction(x) * int(v) for x, v in pairs(column, weights)) for column in table.T.tolist()]
    rows = np.array([2, 3])
    found = real(*side_sum(form(table), rows, weights[rows]))
    assert found == [-2 * Fraction(2) ** 60, 28 + 2 * Fraction(2) ** -60, 0]
    assert real(*side_sum(form(table), rows[:0], weights[:0])) == [0, 0, 0]
    assert real(*products_with(form(np.zeros((2, 3))), normal)) == [0, 0]
    assert real(*products_with(form(np.array([[2.0**50, 0.0, 0.0]])), objects([1, 0, 0]))) == [2**50]


def test_stored_zeros_have_no_unit():
    table = sparse.csr_array((np.array([0.125, 0.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    products, unit = products_with(table, objects([1, 1]))
    assert (products.tolist(), unit) == ([1], -3)
