"""Both sides of the soft margin: what float64 says, against fractions, on ordinary tables and on the nastiest.

The oracle here is written down as the formulas are, row by row, and shares nothing with the library; the library's own
exact arithmetic is held against it, and float64 against both.
"""

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from oracles import fractions_of
from random_sparse import random_sparse
from strategies import any_rows, extreme, forms, labels, moderate, wild

from maxmargin.certificates import duality, exact_soft_margin, passes
from maxmargin.certificates.duality import dual_value, primal_value
from maxmargin.certificates.passes import row_blocks, total
from maxmargin.problems.losses import HINGE, LOSSES, SQUARED_HINGE, Loss
from maxmargin.problems.statement import SoftMargin

# ------------------------------------------------------------------------------------------------------- the oracle


def primal_of(problem, w, b):
    """P(w, b), a fraction."""
    plane, bias = [Fraction(float(v)) for v in w], Fraction(float(b))
    value = sum(v * v for v in plane) / 2
    for row, sign, cost in zip(fractions_of(problem.X), problem.signs, problem.costs, strict=True):
        slack = max(Fraction(0), 1 - int(sign) * (sum(v * x for v, x in zip(plane, row, strict=True)) + bias))
        value += Fraction(float(cost)) * loss_of(problem.loss, slack)
    return value


def loss_of(loss, slack):
    """A square before the knee, and a straight line from there on."""
    if slack < loss.knee and loss.bend and (loss.box == math.inf or slack < Fraction(loss.box) * Fraction(loss.bend)):
        return slack * slack / (2 * Fraction(loss.bend))
    return Fraction(loss.box) * (slack - Fraction(loss.box) * Fraction(loss.bend) / 2)


def dual_of(problem, a):
    """D of the feasible point that a makes, a fraction."""
    a = [Fraction(float(v)) for v in a]
    sides = [sum(v for v, sign in zip(a, problem.signs, strict=True) if sign == side) for side in (1.0, -1.0)]
    if problem.fit_intercept:
        if 0 in sides:
            return Fraction(0)
        a = [v * min(sides) / sides[0 if sign > 0 else 1] for v, sign in zip(a, problem.signs, strict=True)]
    gain = sum(a)
    if gain == 0:
        return Fraction(0)
    rows = fractions_of(problem.X)
    w = [
        sum(v * int(s) * row[j] for v, s, row in zip(a, problem.signs, rows, strict=True)) for j in range(len(rows[0]))
    ]
    square = sum(v * v for v in w)
    bent = sum(v * v / Fraction(float(cost)) for v, cost in zip(a, problem.costs, strict=True))
    square += Fraction(problem.loss.bend) * bent
    t = gain / square if square else Fraction(1)
    t = min(t, Fraction(1)) if problem.loss.is_bounded else t
    return t * gain - t * t * square / 2


def exact_sides(problem, w, b, a):
    """The same by the library."""
    known = problem.X, problem.signs, problem.costs
    return (
        exact_soft_margin.primal_value(*known, w, b, problem.loss),
        exact_soft_margin.dual_value(*known, a, problem.fit_intercept, problem.loss),
    )


# --------------------------------------------------------------------------------------------------------- problems

ODD = [Loss("odd", 0.3, 0.7), Loss("narrow", 3.0, 1e-9), Loss("wide", 1e9, 1e9), Loss("flat", math.inf, 1e9)]
losses = st.sampled_from([*LOSSES.values(), *ODD])
few_digits, not_negative, above_zero = (st.integers(least, 3).map(float) for least in (-3, 0, 1))
powers = st.sampled_from([0, 0, 0, 1, -3, 20, -40, 100, -100, 300, -300, 500, -500, 900, -900, -1022, -1060])


@st.composite
def numbers(draw, n, elements=few_digits, exponents=powers):
    """n numbers, each in its own scale or all in one."""
    values = draw(hnp.arrays(np.float64, n, elements=elements)) * draw(st.sampled_from([1.0, 0.1, 1 / 3]))
    shift = draw(hnp.arrays(np.int64, n, elements=exponents)) if draw(st.booleans()) else draw(exponents)
    return np.ldexp(values, shift)


@st.composite
def cases(draw, exponents=powers, scales=extreme):
    """A problem, a plane and weights in the box, none of which have to do with each other."""
    X = np.ldexp(draw(st.one_of(any_rows(), wild(denormals=True))), draw(scales))
    X = draw(forms)(X)
    X = np.array(X) if isinstance(X, list) else X
    X = X.astype(float) if X.dtype.kind not in "f" else X
    n, d = X.shape
    signs = draw(labels(n)).astype(float)
    costs = np.maximum(draw(numbers(n, above_zero, exponents)), math.ulp(0.0))
    loss = draw(losses)
    problem = SoftMargin(X, signs, costs, loss, draw(st.booleans()))
    w, b = draw(numbers(d, exponents=exponents)), float(draw(numbers(1, exponents=exponents))[0])
    if draw(st.booleans()):  # in the box
        a = np.where(loss.is_bounded, problem.upper, costs)
        a = a * draw(hnp.arrays(np.float64, n, elements=st.sampled_from([0.0, 1e-9, 0.3, 0.5, 1.0])))
    else:
        a = draw(numbers(n, not_negative, exponents))
        a = np.minimum(a, problem.upper)
    return problem, w, b, a


ordinary = cases(st.sampled_from([0, 0, 1, -3, 5]), st.sampled_from([0, 0, 0, 1, -3, 10]))


@settings(max_examples=40)
@given(case=cases(st.sampled_from([0, 1, -3, 20, -40, 300, -300]), moderate))
def test_exact_arithmetic_is_exact(case):
    problem, w, b, a = case
    primal, dual = exact_sides(problem, w, b, a)
    assert primal == primal_of(problem, w, b)
    wanted = dual_of(problem, a)
    if not problem.loss.is_smooth:
        assert dual == wanted
    else:
        assert wanted * (1 - Fraction(1, 2**200)) <= dual <= wanted


@settings(max_examples=60)
@given(case=cases())
def test_bounds_hold_for_real_numbers_at_any_scale(case):
    problem, w, b, a = case
    exact_primal, exact_dual = exact_sides(problem, w, b, a)
    primal, dual = primal_value(problem, w, b), dual_value(problem, a)
    if math.isfinite(primal.value):
        assert abs(Fraction(primal.value) - exact_primal) <= Fraction(primal.error)
    if math.isfinite(primal.upper):
        assert exact_primal <= Fraction(primal.upper)
    assert dual.lower >= 0.0
    assert exact_dual >= Fraction(dual.lower)
    if math.isfinite(dual.error):
        assert Fraction(dual.value) - Fraction(dual.error) <= exact_dual
        assert exact_dual <= (Fraction(dual.value) + 2 * Fraction(dual.error)) * (1 + Fraction(1, 10**9))
    for matters in (1e-6, 1e-2):  # coarser, still true
        assert primal_value(problem, w, b, matters=matters).upper >= primal.upper or math.isinf(primal.upper)
        coarse = dual_value(problem, a, matters=matters)
        assert exact_dual >= Fraction(coarse.lower)


@settings(max_examples=40)
@given(case=ordinary)
def test_bounds_are_tight_on_ordinary_data(case):
    problem, w, b, a = case
    primal, dual = primal_value(problem, w, b), dual_value(problem, a)
    largest = float(abs(problem.X).max())
    if largest > 1e3:
        return
    reach = 1.0 + abs(b) + largest * float(np.abs(w).sum())
    steep = max(1.0, float(problem.loss.share(reach)))
    assert primal.upper <= primal.value * (1 + 1e-12) + 1e-12 * float(problem.costs.sum()) * reach * steep
    weight = float(a.sum()) * max(1.0, *dual.factors)
    plain = dual.value - 1e-10 * weight * (1.0 + largest * largest * weight)
    assert dual.lower >= plain


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_array])
def test_a_table_of_ordinary_size(loss, bias, form):
    random = np.random.default_rng(1)
    X = form(random.normal(size=(3000, 20)) * (random.random((3000, 20)) < 0.5))
    signs = np.where(random.random(3000) < 0.4, 1.0, -1.0)
    costs = random.random(3000) + 0.01
    problem = SoftMargin(X, signs, costs, loss, bias)
    w, b, a = random.normal(size=20), 0.3 if bias else 0.0, random.random(3000) * costs
    exact_primal, exact_dual = exact_sides(problem, w, b, a)
    primal, dual = primal_value(problem, w, b), dual_value(problem, a)
    assert exact_primal <= Fraction(primal.upper) <= exact_primal * (1 + Fraction(1, 10**11))
    assert (
        exact_dual * (1 - Fraction(1, 10**8)) <= Fraction(dual.lower) <= exact_dual
    )  # |w(a)| is small by cancellation


# ------------------------------------------------------------------------------------------- one thing at a time


def small(loss=HINGE, costs=(1.0, 1.0), X=((0.0,), (2.0,)), bias=True):
    return SoftMargin(np.array(X), np.array([-1.0, 1.0]), np.array(costs), loss, bias)


def test_known_values():
    problem = small()
    primal = primal_value(problem, np.array([0.5]), -0.5)
    assert primal.value == 0.125 + 0.5 + 0.5
    assert list(primal.slack) == [0.5, 0.5]
    dual = dual_value(problem, np.array([0.5, 1.0]))
    assert dual.value == 0.5  # a' = (1/2, 1/2): 1 - 1/2
    assert dual.factors == (0.5, 1.0)
    assert list(dual.w) == [1.0]
    assert 0.5 * (1 - 1e-12) < dual.lower < 0.5


def test_t_is_below_one_where_the_weights_are_too_large():
    dual = dual_value(small(costs=(10.0, 10.0)), np.array([10.0, 10.0]))
    assert dual.value == 0.5  # t = 20 / 400
    assert dual.factors == (0.05, 0.05)


def test_t_may_be_above_one_for_the_squared_hinge_only():
    a = np.array([0.01, 0.01])
    assert max(dual_value(small(costs=(9.0, 9.0)), a).factors) == 1.0
    assert max(dual_value(small(SQUARED_HINGE, costs=(9.0, 9.0)), a).factors) > 1.0


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
@pytest.mark.parametrize("a", [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [-1e-300, 1.0], [math.nan, 1.0], [math.inf, 1.0]])
def test_weights_that_prove_nothing_are_worth_what_zero_is(loss, a):
    dual = dual_value(small(loss), np.array(a))
    assert (dual.value, dual.lower, dual.factors) == (0.0, 0.0, (0.0, 0.0))
    known = small(loss)
    assert exact_soft_margin.dual_value(known.X, known.signs, known.costs, np.array(a), True, loss) == 0


def test_a_weight_one_unit_above_its_cost_is_outside():
    above = np.array([0.5, np.nextafter(1.0, 2.0)])
    assert dual_value(small(), above).lower == 0.0
    assert dual_value(small(SQUARED_HINGE), above).lower > 0.0


def test_the_plane_zero_and_no_rows_beyond():
    primal = primal_value(small(costs=(3.0, 5.0)), np.zeros(1), 0.0)
    assert primal.value == 8.0
    assert 8.0 < primal.upper < 8.0 * (1 + 1e-13)


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
@pytest.mark.parametrize("cost", [1e-320, 1e-300, 1e-200, 1e-160, 1e-100, 1e100, 1e150])
def test_costs_whose_squares_vanish_or_overflow(loss, cost):
    """a^2 / (2 C) is an ordinary number even where a^2 is below the least double."""
    problem = small(loss, (cost, 2.0 * cost))
    for factor in (1e-3, 0.5, 1.0, 2.0):
        a = np.minimum(problem.upper, factor * np.array([cost, cost]))
        dual = dual_value(problem, a)
        assert Fraction(dual.lower) <= dual_of(problem, a)
        if cost > 1e-300:
            assert dual.lower >= float(dual_of(problem, a)) * (1 - 1e-12)


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
def test_one_class_is_heavier_than_float64_can_divide(loss):
    problem = small(loss, (1e300, 1e300))
    a = np.array([1e300, 1e-20])
    dual = dual_value(problem, a)
    assert dual.lower == 0.0
    assert dual.error == math.inf  # it is not known, and exact arithmetic may say more
    assert dual_of(problem, a) > 0


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
@pytest.mark.parametrize(("x", "cost"), [(1e100, 1e54), (1e154, 1.0), (1e200, 1e10), (1e-170, 1e300), (5e-324, 1e308)])
def test_rows_and_weights_far_apart_in_scale(loss, x, cost):
    """t^2 or |w|^2 alone would vanish or overflow where their product does not."""
    problem = small(loss, (cost, cost), ((0.0,), (x,)))
    a = np.array([cost, cost])
    dual = dual_value(problem, a)
    assert Fraction(dual.lower) <= dual_of(problem, a)


def test_products_that_overflow_and_cancel_prove_nothing():
    problem = SoftMargin(np.array([[1e300, 1e300], [0.0, 0.0]]), np.array([1.0, -1.0]), np.ones(2), HINGE, True)
    primal = primal_value(problem, np.array([1e8, -1e8]), 0.0)
    assert primal.upper == math.inf
    primal = primal_value(problem, np.array([1e8, 1e8]), 0.0)  # w.x = inf: no slack, as far as one can see
    assert primal.upper == math.inf


def test_sums_of_integers_are_exact():
    random = np.random.default_rng(0)
    for n in (0, 1, 2, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 32**3 + 31):
        values = random.integers(0, 2**30, n)
        found, additions = total(values.astype(float))
        assert found == int(values.sum())
        assert additions <= (n + 1 if n <= 32 else 160)


def test_the_error_of_a_sum_is_within_its_bound():
    random = np.random.default_rng(2)
    for n in (1, 10, 1000, 100_000):
        values = random.random(n) * 10.0 ** random.integers(-10, 10, n)
        found, additions = total(values)
        exact = math.fsum(values)
        assert abs(found - exact) <= additions * 2.0**-53 * exact


def test_blocks_of_a_sparse_table(monkeypatch):
    random = np.random.default_rng(3)
    X = random_sparse((200, 30), 0.2, random)
    X = sparse.vstack([X[:50], sparse.csr_array((10, 30)), X[60:]], format="csr")
    w, a = random.normal(size=30), random.random(200)
    for entries in (1, 7, 100, 10**5):
        monkeypatch.setattr(passes, "SPARSE_BLOCK", entries)
        assert next(block.start for block, _ in row_blocks(X)) == 0
        assert sum(part.shape[0] for _, part in row_blocks(X)) == 200
        assert np.allclose(passes.values_of(X, w), X @ w, rtol=1e-14)
        assert np.allclose(passes.combination(X, a)[0], X.T @ a, rtol=1e-13)
        assert np.allclose(passes.lengths_of(X, abs(X).max()), np.sqrt(X.multiply(X).sum(axis=1)), rtol=1e-14)


def test_int64_indices_are_read_as_they_are():
    random = np.random.default_rng(4)
    X = random_sparse((50, 9), 0.4, random)
    wide = sparse.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), X.shape)
    signs, costs = np.where(np.arange(50) % 2, 1.0, -1.0), np.ones(50)
    one, other = (SoftMargin(table, signs, costs, HINGE, True) for table in (X, wide))
    primal = [primal_value(problem, np.ones(9), 0.1) for problem in (one, other)]
    dual = [dual_value(problem, costs) for problem in (one, other)]
    for found, other_found in (primal, dual):
        assert (found.value, found.error) == (other_found.value, other_found.error)


def test_a_float32_table_is_not_copied_whole():
    random = np.random.default_rng(5)
    X = random.normal(size=(20_000, 50)).astype(np.float32)
    problem = SoftMargin(X, np.where(X[:, 0] > 0, 1.0, -1.0), np.ones(20_000), HINGE, True)
    tracemalloc.start()
    primal_value(problem, np.ones(50), 0.0, matters=1e-6)
    dual_value(problem, np.ones(20_000), matters=1e-6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.6 * X.nbytes


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
def test_exact_arithmetic_reads_a_wide_sparse_table_as_it_is(loss):
    """Its rows are short, and what is not there takes no time."""
    random = np.random.default_rng(6)
    X = random_sparse((100, 10**5), 1e-5, random)
    signs, costs = np.where(np.arange(100) % 2, 1.0, -1.0), np.full(100, 0.7)
    problem = SoftMargin(X, signs, costs, loss, True)
    w, a = np.where(np.arange(10**5) % 3, 0.0, 1.0), random.random(100) * 0.7
    exact_primal, exact_dual = exact_sides(problem, w, 0.25, a)
    present = np.unique(X.indices)
    narrow = SoftMargin(X[:, present].toarray(), signs, costs, loss, True)
    rest = Fraction(int(np.sum(w)) - int(np.sum(w[present])), 2)
    assert exact_primal == primal_of(narrow, w[present], 0.25) + rest
    assert abs(exact_dual - dual_of(narrow, a)) <= exact_dual / 2**200


@pytest.mark.skipif(not duality.LONGER, reason="here a long double is a double")
@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_array])
def test_what_cancels_is_summed_in_long_doubles(loss, form, monkeypatch):
    """Columns far from zero: w.x and sum a y x are small differences of large numbers."""
    random = np.random.default_rng(7)
    X = form(random.normal(size=(500, 5)) + 1e5)
    signs = np.where(random.random(500) < 0.5, 1.0, -1.0)
    problem = SoftMargin(X, signs, np.ones(500), loss, True)
    w = random.normal(size=5)
    b, a = -1e5 * float(w.sum()), random.random(500) * 1e-3
    exact_primal, exact_dual = exact_sides(problem, w, b, a)
    long = primal_value(problem, w, b), dual_value(problem, a)
    monkeypatch.setattr(duality, "LONGER", False)
    short = primal_value(problem, w, b), dual_value(problem, a)
    for primal, dual in (long, short):
        assert abs(Fraction(primal.value) - exact_primal) <= Fraction(primal.error)
        assert abs(Fraction(dual.value) - exact_dual) <= 2 * Fraction(dual.error)
    assert 100.0 * long[0].error < short[0].error
    assert 100.0 * long[1].error < short[1].error


def test_exact_sides_decide_bounds_to_the_last_digit():
    problem = small()
    known = problem.X, problem.signs, problem.costs

    def at_most(bound):
        return exact_soft_margin.primal_at_most(*known, np.array([0.5]), -0.5, HINGE, bound)

    def at_least(bound):
        return exact_soft_margin.dual_at_least(*known, np.array([0.5, 1.0]), True, HINGE, bound)

    assert at_most(1.125)
    assert not at_most(np.nextafter(1.125, 0.0))
    assert at_most(math.inf)
    assert not at_most(-math.inf)
    assert not at_most(math.nan)
    assert at_least(0.5)
    assert not at_least(np.nextafter(0.5, 1.0))
    assert not at_least(math.inf)
    assert not at_least(math.nan)
    assert at_least(-math.inf)
