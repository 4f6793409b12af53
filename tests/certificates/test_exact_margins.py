"""Exact margins of planes and distances of hulls: closed forms, slow oracles, and what rounding must not decide."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from exact_oracles import (
    both_norms,
    combine,
    down,
    first_index,
    formats,
    fractions_of,
    grid,
    labelled_rows,
    patient,
    slow_margins,
    up,
    wild,
    with_and_without_bias,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from oracles import signed_rows

from maxmargin.certificates import exact
from maxmargin.certificates.exact import (
    exact_margin_at_least,
    exact_margins_positive,
    exact_upper_bound_holds,
    exact_weak_plane,
)

# ---------------------------------------------------------------------------------------- planes and margins


@with_and_without_bias
@pytest.mark.parametrize("elements", [grid, wild], ids=["grid", "wild"])
@formats
def test_margins_are_decided_like_the_slow_oracle(with_bias, elements, form):
    @patient
    @given(labelled_rows(elements), st.data())
    def check(data, more):
        X, signs = data
        w = more.draw(hnp.arrays(np.float64, X.shape[1], elements=elements))
        b = more.draw(elements) if with_bias else None
        verdict = exact_margins_positive(form(X), signs, w, b)
        expected = first_index(m <= 0 for m in slow_margins(X, signs, w, b))
        assert (verdict.holds, verdict.row) == (expected is None, expected)
        assert bool(verdict) == verdict.holds

    check()


@patient
@given(labelled_rows(wild), st.data())
def test_the_filter_never_clears_a_row_wrongly(data, more):
    X, signs = data
    w = more.draw(hnp.arrays(np.float64, X.shape[1], elements=wild))
    b, level = more.draw(wild), more.draw(wild)
    doubtful = set(np.concatenate(list(exact.doubtful_rows(X, signs, w, b, level))).tolist())
    for i, margin in enumerate(slow_margins(X, signs, w, b)):
        assert i in doubtful or margin > Fraction(level)


def test_the_filter_clears_ordinary_rows_in_several_blocks(monkeypatch):
    monkeypatch.setattr("maxmargin.certificates.passes.BLOCK", 100)
    X = np.random.default_rng(4).normal(size=(500, 7))
    w = np.arange(1.0, 8.0)
    signs = np.where(X @ w > 0, 1, -1)
    for rows in (X, X.astype(np.float32), sparse.csr_array(X)):
        assert sum(map(len, exact.doubtful_rows(rows, signs, w, None, 0.0))) == 0
        assert exact_margins_positive(rows, signs, w, None)
        signs[321] *= -1
        assert exact_margins_positive(rows, signs, w, None).row == 321
        signs[321] *= -1


@pytest.mark.parametrize("columns", [2, 5, 40])
@formats
def test_rounding_never_decides(columns, form):
    """b is w.x rounded to double, so that float64 sees noise where the exact margin is half an ulp at most."""
    rng = np.random.default_rng(columns)
    fooled = 0
    for _ in range(50):
        x, w = rng.normal(size=(1, columns)), rng.normal(size=columns)
        b = -float(sum(Fraction(p) * Fraction(q) for p, q in zip(x[0].tolist(), w.tolist(), strict=True)))
        (margin,) = slow_margins(x, [1], w, b)
        level = float(margin) / math.sqrt(w @ w)
        for sign in (1, -1):
            fooled += (sign * (x @ w + b).item() > 0) != (sign * margin > 0)
            assert exact_margins_positive(form(x), np.array([sign]), w, b).holds == (sign * margin > 0)
            for bound in (up(sign * level), down(sign * level)):
                verdict = exact_margin_at_least(form(x), np.array([sign]), w, b, bound, "l2")
                assert verdict.holds == at_least(sign * margin, Fraction(bound), fractions_of(w), "l2")
    assert fooled > 10


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
@formats
def test_a_row_that_is_not_finite_is_always_doubtful(bad, form):
    X = form(np.array([[1.0, 2.0], [1.0, bad], [bad, 2.0]]))
    for w in ([1.0, 1.0], [1.0, 0.0], [1e300, 1e300]):
        (doubtful,) = exact.doubtful_rows(X, np.ones(3), np.array(w), 0.0, 0.0)
        assert {1, 2} <= set(doubtful.tolist())


def test_underflow_never_decides():
    """Products of 0.6, -0.45 and -0.45 times the least double round to 1, 0 and 0 times: the sign turns."""
    X, w = np.array([[0.6, -0.45, -0.45]]) * 2.0**-537, np.full(3, 2.0**-537)
    assert (X @ w).item() > 0
    assert exact_margins_positive(X, np.array([1]), w, None).row == 0
    assert exact_margins_positive(X, np.array([-1]), w, None)


def test_margin_of_one_unit_among_large_terms():
    X = np.array([[2.0**53, 1.0, -(2.0**53)]])
    assert exact_margins_positive(X, np.array([1]), np.ones(3), 0.0)
    assert not exact_margins_positive(X, np.array([1]), np.ones(3), -1.0)
    assert not exact_margins_positive(X, np.array([-1]), np.ones(3), 0.0)


def test_margins_of_integers_beyond_the_mantissa():
    for dtype in (np.int64, np.uint64):
        X = np.array([[2**53 + 1], [2**53]], dtype=dtype)
        verdict = exact_margins_positive(X, np.array([1, 1]), np.ones(1), -(2.0**53))
        assert verdict.row == 1
        assert exact_margins_positive(X[:1], np.array([1]), np.ones(1), -(2.0**53))


def test_overflow_and_underflow_are_decided_exactly():
    X = np.array([[1e300, -1e300], [1e-300, 0.0]])
    signs = np.array([1, 1])
    assert exact_margins_positive(X, signs, np.array([1e300, 9e299]), None)
    assert exact_margins_positive(X, signs, np.array([1e-300, 9e-301]), None)
    assert exact_margins_positive(X, signs, np.array([9e299, 1e300]), None).row == 0


def test_planes_and_rows_that_are_not_finite_are_refused():
    X, signs = np.array([[1.0], [2.0], [np.nan]]), np.ones(3)
    assert exact_margins_positive(X, signs, np.array([1.0]), 0.0).row == 2
    assert exact_margins_positive(X, signs, np.array([1.0]), -2.0).row == 0
    for w, b in [(np.nan, 0.0), (1.0, np.inf), (np.inf, 0.0)]:
        assert not exact_margins_positive(X[:2], signs[:2], np.array([w]), b)
        assert not exact_margin_at_least(X[:2], signs[:2], np.array([w]), b, 0.1, "l2")
        assert not exact_weak_plane(X[:2], signs[:2], np.array([0]), np.array([w]), b)
    assert not exact_margin_at_least(X[:2], signs[:2], np.array([1.0]), 0.0, np.nan, "l2")
    with pytest.raises(ValueError, match=r"\+1 or -1"):
        exact_margins_positive(X, 2 * signs, np.array([1.0]), 0.0)


def test_margin_three_four_five():
    X, signs, w = np.array([[3.0, 4.0], [-30.0, -40.0]]), np.array([1, -1]), np.array([3.0, 4.0])
    assert exact_margin_at_least(X, signs, w, None, 5.0, "l2")
    assert exact_margin_at_least(X, signs, w, None, up(5.0), "l2").row == 0
    assert exact_margin_at_least(X, signs, w, None, 25 / 7 - 1e-15, "l1")
    assert not exact_margin_at_least(X, signs, w, None, up(25 / 7), "l1")
    assert not exact_margin_at_least(X, signs, np.zeros(2), 1.0, -1.0, "l2")
    with pytest.raises(ValueError, match="l3"):
        exact_margin_at_least(X, signs, w, None, 5.0, "l3")


@both_norms
@with_and_without_bias
@patient
@given(data=labelled_rows(wild), more=st.data())
def test_margin_bounds_are_decided_like_the_slow_oracle(norm, with_bias, data, more):
    X, signs = data
    w = more.draw(hnp.arrays(np.float64, X.shape[1], elements=wild))
    b = more.draw(wild) if with_bias else None
    assume(w.any())
    margins = slow_margins(X, signs, w, b)
    length = slow_length(fractions_of(w), norm)
    try:
        near = float(min(margins)) / float(length)
    except (OverflowError, ZeroDivisionError):
        near = 1.0
    bound = more.draw(st.sampled_from([near, up(near), down(near), 0.0, 5e-324, -near]))
    assume(math.isfinite(bound))
    verdict = exact_margin_at_least(X, signs, w, b, bound, norm)
    expected = first_index(not at_least(m, Fraction(bound), fractions_of(w), norm) for m in margins)
    assert (verdict.holds, verdict.row) == (expected is None, expected)


def slow_length(w, norm):
    if norm == "l1":
        return sum(map(abs, w))
    square = sum(v * v for v in w)
    return Fraction(math.isqrt(square.numerator * square.denominator << 200), square.denominator << 100)


def at_least(margin, bound, w, norm):
    if norm == "l1":
        return margin >= bound * sum(map(abs, w))
    signed_square = bound * abs(bound) * sum(v * v for v in w)
    return margin * abs(margin) >= signed_square


# ----------------------------------------------------------------------------------- two points of the hulls


def test_upper_bound_closed_forms():
    X, signs, weights = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([-1, 1]), np.array([0.1, 7.0])
    assert exact_upper_bound_holds(X, signs, weights, 2.5, True, "l2")
    assert not exact_upper_bound_holds(X, signs, weights, down(2.5), True, "l2")
    assert exact_upper_bound_holds(X, signs, weights, 2.0, True, "l1")
    assert not exact_upper_bound_holds(X, signs, weights, down(2.0), True, "l1")
    assert exact_upper_bound_holds(X[1:], signs[1:], weights[1:], 5.0, False, "l2")
    assert not exact_upper_bound_holds(X[1:], signs[1:], weights[1:], down(5.0), False, "l2")
    assert not exact_upper_bound_holds(X, signs, weights, -2.5, True, "l2")
    diagonal = np.array([[0.0, 0.0], [2.0, 2.0]])
    assert exact_upper_bound_holds(diagonal, signs, weights, up(math.sqrt(2)), True, "l2")
    assert not exact_upper_bound_holds(diagonal, signs, weights, down(math.sqrt(2)), True, "l2")


@both_norms
@with_and_without_bias
@formats
def test_upper_bounds_are_decided_like_the_slow_oracle(norm, with_bias, form):
    @patient
    @given(labelled_rows(wild), st.data())
    def check(data, more):
        X, signs = data
        positive = st.sampled_from([0.0, 0.1, 1.0, 1e-30, 5e-324, 1e200])
        weights = more.draw(hnp.arrays(np.float64, len(X), elements=positive))
        totals = [sum(fractions_of(weights[signs == s])) for s in (1, -1)]
        usable = all(totals) if with_bias else any(totals)
        if not usable:
            assert not exact_upper_bound_holds(form(X), signs, weights, 1e300, with_bias, norm)
            return
        scale = {1: totals[0], -1: totals[1]} if with_bias else dict.fromkeys((1, -1), sum(totals))
        shares = [a / scale[int(y)] for a, y in zip(fractions_of(weights), signs, strict=True)]
        p = combine(shares, signed_rows(X, signs, False))
        half = 2 if with_bias else 1
        square = max(v * v for v in p) if norm == "l1" else sum(v * v for v in p)
        near = float(slow_length(p, "l2") if norm == "l2" else max(map(abs, p))) / half
        bound = more.draw(st.sampled_from([near, up(near), down(near), 0.0]))
        verdict = exact_upper_bound_holds(form(X), signs, weights, bound, with_bias, norm)
        assert verdict.holds == (bound >= 0 and square <= (half * Fraction(bound)) ** 2)

    check()


@pytest.mark.parametrize("weights", [[1.0, -1.0], [np.nan, 1.0], [np.inf, 1.0], [1.0]])
def test_upper_bounds_of_useless_weights_are_refused(weights):
    signs = np.array([1, -1])
    assert not exact_upper_bound_holds(np.ones((2, 1)), signs, np.array(weights), 9.0, True, "l2")


def test_upper_bounds_need_finite_numbers_and_both_classes():
    X, signs, ones = np.array([[np.inf], [1.0]]), np.array([1, -1]), np.ones(2)
    assert "finite" in exact_upper_bound_holds(X, signs, ones, 9.0, True, "l2").reason
    assert not exact_upper_bound_holds(X, signs, ones, np.inf, True, "l2")
    assert "class" in exact_upper_bound_holds(np.ones((2, 1)), signs, np.array([1.0, 0.0]), 9.0, True, "l2").reason
    assert "No row" in exact_upper_bound_holds(np.ones((2, 1)), signs, np.zeros(2), 9.0, False, "l2").reason


def test_wide_rows_are_summed_in_several_blocks(monkeypatch):
    monkeypatch.setattr("maxmargin.certificates.exact_linear_algebra.EXACT_BLOCK", 8)
    X = np.array([np.zeros(50), np.full(50, 2.0)])
    assert exact_upper_bound_holds(X, np.array([-1, 1]), np.ones(2), up(math.sqrt(50)), True, "l2")
    assert not exact_upper_bound_holds(X, np.array([-1, 1]), np.ones(2), 7.07, True, "l2")
