"""Exact proofs: closed forms, slow oracles with fractions, and false claims that must be refused."""

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from maxmargin.certificates import exact
from maxmargin.certificates.exact import (
    exact_margin_at_least,
    exact_margins_positive,
    exact_upper_bound_holds,
    exact_weak_plane,
    null_vector,
    proves_intersection,
)

up, down = (lambda x: math.nextafter(x, math.inf)), (lambda x: math.nextafter(x, -math.inf))
patient = settings(deadline=None)  # the oracles are slow, and so is a busy machine
with_and_without_bias = pytest.mark.parametrize("with_bias", [True, False])
both_norms = pytest.mark.parametrize("norm", ["l2", "l1"])
formats = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])

# ------------------------------------------------------------------------------------------ the slow oracles


def fractions_of(vector):
    return [Fraction(v.item()) for v in np.asarray(vector)]


def signed_rows(X, signs, with_bias):
    return [
        [int(y) * x for x in fractions_of(row) + [Fraction(1)] * with_bias] for row, y in zip(X, signs, strict=True)
    ]


def combine(weights, rows):
    return [sum(Fraction(a) * r for a, r in zip(weights, column, strict=True)) for column in zip(*rows, strict=True)]


def slow_null_basis(rows):
    """All l with sum_i l_i rows_i = 0, by elimination on [rows | identity]."""
    k, d = len(rows), len(rows[0])
    left = [list(row) + [Fraction(int(i == j)) for j in range(k)] for i, row in enumerate(rows)]
    for j in range(d):
        pivot = next((row for row in left if row[j]), None)
        if pivot is None:
            continue
        left = [
            [a - row[j] / pivot[j] * p for a, p in zip(row, pivot, strict=True)] for row in left if row is not pivot
        ]
    return [row[d:] for row in left]


def slow_intersects(rows):
    """Some smallest dependent subset has weights of one sign; every subset is tried."""
    for size in range(1, len(rows) + 1):
        for subset in itertools.combinations(rows, size):
            basis = slow_null_basis(subset)
            if len(basis) == 1 and (all(v >= 0 for v in basis[0]) or all(v <= 0 for v in basis[0])):
                return True
    return False


def slow_margins(X, signs, w, b):
    plane = fractions_of(w) + ([] if b is None else [Fraction(b)])
    return [sum(p * r for p, r in zip(plane, row, strict=True)) for row in signed_rows(X, signs, b is not None)]


def first_index(conditions):
    return next((i for i, condition in enumerate(conditions) if condition), None)


def proves(X, signs, weights, with_bias):
    """The verdict, after its integers have been multiplied out with fractions."""
    found = proves_intersection(X, signs, weights, with_bias)
    dense = X.toarray() if sparse.issparse(X) else X
    if found:
        rows = signed_rows(dense, signs, with_bias)
        assert min(found.weights) >= 0
        assert max(found.weights) > 0
        assert not any(combine(found.weights, rows))
        assert sum(a > 0 for a in found.weights) <= dense.shape[1] + 2
    return bool(found)


wild = st.one_of(
    st.integers(-2, 2).map(float),
    st.floats(-10, 10),
    st.sampled_from([0.1, 0.3, 1e-150, -1e150, 5e-324, -2.5e-320, 1 + 2**-52, 1e16, -1e16]),
)
grid = st.integers(-2, 2).map(float)


@st.composite
def labelled_rows(draw, elements, max_rows=6, max_columns=3):
    shape = draw(st.integers(1, max_rows)), draw(st.integers(1, max_columns))
    X = draw(hnp.arrays(np.float64, shape, elements=elements))
    return X, draw(hnp.arrays(np.int64, shape[0], elements=st.sampled_from([-1, 1])))


# --------------------------------------------------------------------------------------- the hulls intersect


def test_null_vector_closed_forms():
    line = np.array([[0.0], [1.0], [3.0]])
    assert null_vector(line, np.array([1, -1, 1]), True) == [2, 3, 1]
    square = np.array([[0, 0], [1, 1], [1, 0], [0, 1]])
    assert null_vector(square, np.array([1, 1, -1, -1]), True) == [1, 1, 1, 1]
    assert null_vector(np.array([[0.5, 0.0], [0.0, 2.0]]), np.array([1, 1]), False) is None
    assert null_vector(np.array([[0.5], [-0.25]]), np.array([1, 1]), False) == [1, 2]


def test_null_vector_of_a_larger_space_agrees_with_the_weights():
    """The row of the largest weight balances the others: 3/4 = 1/2 + 3/8 - 1/8."""
    found = null_vector(np.ones((4, 1)), np.array([1, -1, -1, 1]), True, np.array([1.0, 0.5, 0.375, 0.125]))
    assert found == [6, 4, 3, 1]


def test_null_vector_needs_positive_weights_and_signs():
    X = np.ones((2, 1))
    with pytest.raises(ValueError, match="positive"):
        null_vector(X, np.array([1, -1]), True, np.array([1.0, 0.0]))
    with pytest.raises(ValueError, match=r"\+1 or -1"):
        null_vector(X, np.array([1, 0]), True)


@with_and_without_bias
@patient
@given(data=labelled_rows(wild))
def test_null_vector_equals_the_slow_one(with_bias, data):
    X, signs = data
    basis = slow_null_basis(signed_rows(X, signs, with_bias))
    found = null_vector(X, signs, with_bias)
    assert (found is None) == (len(basis) == 0)
    if found is not None:
        assert math.gcd(*found) == 1
        assert sum(found) >= 0
        assert not any(combine(found, signed_rows(X, signs, with_bias)))
    if len(basis) == 1:
        i = first_index(basis[0])
        assert [v / basis[0][i] for v in basis[0]] == [Fraction(v, found[i]) for v in found]


@with_and_without_bias
@pytest.mark.parametrize("elements", [grid, wild], ids=["grid", "wild"])
def test_intersection_is_decided_like_the_slow_oracle(with_bias, elements):
    @patient
    @given(labelled_rows(elements), st.randoms(use_true_random=False))
    def check(data, random):
        X, signs = data
        weights = np.array([random.choice([1e-9, 0.1, 0.5, 1.0]) for _ in signs])
        assert proves(X, signs, weights, with_bias) == slow_intersects(signed_rows(X, signs, with_bias))

    check()


@formats
def test_two_equal_rows_of_opposite_signs(form):
    X = form(np.array([[0.1, 0.0, 1e-300], [0.1, 0.0, 1e-300]]))
    found = proves_intersection(X, np.array([1.0, -1.0]), np.array([0.3, 0.7]), True)
    assert found.weights == [1, 1]
    assert found.reason == "The convex hulls of the two classes share a point."


def test_the_origin_itself_is_in_the_hull():
    found = proves_intersection(np.array([[0.0, 0.0], [1.0, 2.0]]), np.array([1, 1]), np.ones(2), False)
    assert found.weights == [1, 0]
    assert "origin" in found.reason


def test_rows_without_weight_are_left_out():
    X, signs = np.array([[1.0], [1.0], [np.nan]]), np.array([1, -1, 1])
    assert proves_intersection(X, signs, np.array([1.0, 1.0, 0.0]), True).weights == [1, 1, 0]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.uint8, np.int64, np.bool_])
def test_intersection_in_every_dtype(dtype):
    X = np.array([[0, 0], [1, 1], [1, 0], [0, 1]]).astype(dtype)
    assert proves_intersection(X, np.array([1, 1, -1, -1]), np.ones(4), True).weights == [1, 1, 1, 1]


def test_integers_beyond_the_mantissa_are_exact():
    signs = np.array([1, -1])
    assert not proves_intersection(np.array([[2**62], [2**62 + 1]]), signs, np.ones(2), True)
    assert proves_intersection(np.array([[2**62 + 1], [2**62 + 1]]), signs, np.ones(2), True)


@pytest.mark.parametrize(("x", "proven"), [(0.3, True), (up(1.0), False), (1.0, True), (0.0, True), (-5e-324, False)])
def test_a_point_on_a_segment_or_one_ulp_beyond(x, proven):
    X = np.array([[0.0], [1.0], [x]])
    assert proves(X, np.array([1, 1, -1]), np.ones(3), True) == proven


@pytest.mark.parametrize("nudge", [0, 1, -1])
def test_a_point_on_an_edge_moved_by_one_ulp(nudge):
    """The edge from (0, 0) to (3, 1) of a triangle: (1.5, 0.5) is on it, one ulp lower is outside."""
    height = {0: 0.5, 1: up(0.5), -1: down(0.5)}[nudge]
    X = np.array([[0.0, 0.0], [3.0, 1.0], [0.0, 5.0], [1.5, height]])
    assert proves(X, np.array([1, 1, 1, -1]), np.array([0.5, 0.5, 1e-17, 1.0]), True) == (nudge >= 0)


@patient
@given(labelled_rows(st.floats(-100, 100), max_rows=8, max_columns=4), st.integers(0, 1000))
def test_separable_rows_are_never_proven_to_intersect(data, seed):
    """However small the margin: rows are kept whenever their exact margin has the right sign."""
    X, _ = data
    w = np.random.default_rng(seed).integers(-3, 4, X.shape[1]).astype(float)
    margins = slow_margins(X, np.ones(len(X)), w, 0.125)
    signs = np.array([1 if m > 0 else -1 for m in margins])
    assume(all(margins))
    assert exact_margins_positive(X, signs, w, 0.125)
    assert not proves_intersection(X, signs, np.ones(len(X)), True)


def test_rows_scaled_from_tiny_to_huge():
    rng = np.random.default_rng(3)
    scales = 10.0 ** np.linspace(-150, 150, 12)
    X = rng.normal(size=(13, 12)) * scales
    X = np.vstack([X, X[4]])
    signs = np.append(rng.choice([-1, 1], 13), 0)
    signs[13] = -signs[4]
    assert proves(X, signs, np.ones(14), True)
    X[13, 0] = up(X[13, 0])
    basis = slow_null_basis(signed_rows(X, signs, True))
    assert len(basis) == 1
    one_sign = all(v >= 0 for v in basis[0]) or all(v <= 0 for v in basis[0])
    assert proves(X, signs, np.ones(14), True) == one_sign


def test_scales_mixed_inside_a_column():
    X = np.array([[1e150, 5e-324], [1e-150, 1.0], [-3.0, 1e300], [2.0, -1e-310]])
    signs = np.array([1, -1, 1, -1])
    assert proves(X, signs, np.ones(4), True) == slow_intersects(signed_rows(X, signs, True))


@pytest.mark.parametrize(
    "weights",
    [[np.nan, 1.0], [np.inf, 1.0], [0.0, 0.0], [-1.0, 0.0], [1.0]],
    ids=["nan", "inf", "0", "negative", "few"],
)
def test_useless_weights_are_refused(weights):
    found = proves_intersection(np.ones((2, 1)), np.array([1, -1]), np.array(weights), True)
    assert not found
    assert "weights" in found.reason


def test_rows_that_are_not_finite_are_refused():
    found = proves_intersection(np.array([[np.inf], [np.inf]]), np.array([1, -1]), np.ones(2), True)
    assert not found
    assert "finite" in found.reason


def test_a_refusal_says_whether_the_rows_are_separable():
    X = np.array([[0.0], [1.0], [2.0]])
    for rows in (X, X[:2]):
        refused = proves_intersection(rows, np.array([1, 1, -1])[-len(rows) :], np.ones(len(rows)), True)
        assert not refused
        assert refused.separable
        assert "separable" in refused.reason


def test_a_search_that_gives_up_says_so(monkeypatch):
    """Weights that lead float64 astray: the two rows that meet hardly count."""
    X, signs = np.array([[9.0], [8.0], [1.0], [1.0]]), np.array([1, 1, 1, -1])
    weights = np.array([1.0, 1.0, 1e-3, 1e-9])
    assert proves(X, signs, weights, True)
    monkeypatch.setattr(exact, "float_circuit", lambda matrix, weights: np.array([0, 1]))
    assert proves(X, signs, weights, True)
    refused = proves_intersection(X, signs, weights, True, exchanges=0)
    assert not refused
    assert not refused.separable
    assert "open" in refused.reason


def test_rows_that_meet_behind_many_others():
    """Fifty rows of equal weight in general position on one side, then two that meet: found, or left open."""
    rng = np.random.default_rng(6)
    X = np.vstack([rng.normal(size=(50, 20)) + 9, np.zeros((2, 20))])
    signs = np.append(np.ones(51), -1)
    weights = np.append(np.ones(50), [1e-3, 1e-3])
    found = proves_intersection(X, signs, weights, True)
    assert found.weights == [0] * 50 + [1, 1]


def planted_intersection(d, rng, draw):
    """Rows in general position with the signs of their one affine dependence: the hulls intersect (Radon)."""
    X = draw(rng, (d + 2, d))
    dependence = np.linalg.svd(np.vstack([X.T.astype(float), np.ones(d + 2)]))[2][-1]
    return X, np.where(dependence > 0, 1, -1), abs(dependence)


@pytest.mark.parametrize("d", [10, 34, 120])
@pytest.mark.parametrize(
    "draw",
    [lambda rng, shape: rng.normal(size=shape), lambda rng, shape: rng.integers(0, 2, shape)],
    ids=["53", "01"],
)
def test_radon_partitions_in_time(d, draw):
    X, signs, weights = planted_intersection(d, np.random.default_rng(d), draw)
    started = time.perf_counter()
    found = proves_intersection(X, signs, weights, True)
    assert time.perf_counter() - started < 10  # 0.4 s for d = 120 on one quiet core
    assert found
    assert not any(combine(found.weights, signed_rows(X, signs, True)))
    claimed = np.array([float(Fraction(a, sum(found.weights))) for a in found.weights])
    assert np.allclose(claimed, weights / weights.sum(), atol=1e-6)
    signs[np.argmax(weights)] *= -1
    assert not proves_intersection(X, signs, weights, True)


@patient
@given(st.integers(0, 10**6))
def test_more_rows_than_a_circuit_are_reduced(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (12, 3))
    signs = rng.choice([-1, 1], 12)
    weights = rng.random(12)
    proven = proves(X, signs, weights, True)
    assert proven == proves(X[::-1], signs[::-1], weights, True)


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
    monkeypatch.setattr("maxmargin.certificates.exact_linear_algebra.FLOAT_BLOCK", 100)
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


# ----------------------------------------------------------------------------------------------- weak planes


def weakly_separable(d, seed, with_bias):
    """Integer rows on an integer plane, of both signs, and rows strictly beside it."""
    rng = np.random.default_rng(seed)
    normal = rng.integers(1, 10, d)
    X = rng.integers(-9, 10, (6 * d, d))
    height = X @ normal
    X[: 2 * d] = X[: 2 * d] * normal[0]
    X[: 2 * d, 0] -= (X[: 2 * d] @ normal) // normal[0]
    offset = 3 * int(normal[0]) if with_bias else 0
    if with_bias:
        X[: 2 * d, 0] -= 3
    height = X @ normal + offset
    signs = np.where(height > 0, 1, -1)
    signs[: 2 * d : 2] = 1
    return X, signs, normal, offset, np.flatnonzero(height == 0)


@formats
@with_and_without_bias
@pytest.mark.parametrize("d", [2, 3, 10])
def test_a_plane_that_doubles_cannot_hold_is_proven(form, with_bias, d):
    X, signs, normal, offset, face = weakly_separable(d, d, with_bias)
    length = math.sqrt(sum(normal**2))
    w, b = normal / length, offset / length if with_bias else None
    assert exact_weak_plane(form(X), signs, face, w, b)
    some = np.flatnonzero(X @ normal + offset)[0]
    signs[some] *= -1
    assert exact_weak_plane(form(X), signs, face, w, b).row == some


def test_without_the_face_the_rounded_plane_is_refused():
    X, signs = np.array([[1.0, 3.0], [-1.0, -3.0], [2.0, 6.0], [-3.0, 1.0]]), np.array([1, 1, -1, 1])
    w = np.array([-0.3, 0.1])
    assert not exact_weak_plane(X, signs, np.array([], dtype=int), w, None)
    assert exact_weak_plane(X, signs, np.array([0]), w, None)
    assert exact_weak_plane(X, signs, np.array([0, 1, 2]), w, None)


@pytest.mark.parametrize("nudge", [up, down])
def test_a_row_one_ulp_beyond_the_plane_is_found(nudge):
    X = np.array([[0.0, 0.0], [3.0, 1.0], [1.5, nudge(0.5)], [0.0, 9.0]])
    signs = np.array([1, -1, 1, 1])
    w = np.array([-1.0, 3.0]) / math.sqrt(10)
    verdict = exact_weak_plane(X, signs, np.array([0, 1]), w, 0.0)
    assert verdict.row == (None if nudge is up else 2)


def test_a_plane_through_every_row_is_refused():
    X, signs = np.array([[0.0, 0.0], [3.0, 1.0], [6.0, 2.0]]), np.array([1, -1, 1])
    verdict = exact_weak_plane(X, signs, np.array([0, 1]), np.array([-1.0, 3.0]), 0.0)
    assert not verdict
    assert "on the plane" in verdict.reason


def test_a_face_that_leaves_no_plane_is_refused():
    X, signs = np.array([[0.0, 0.0], [3.0, 1.0], [6.0, 3.0]]), np.array([1, -1, 1])
    assert not exact_weak_plane(X, signs, np.arange(3), np.array([-1.0, 3.0]), 0.1)


def test_a_strict_row_may_be_seen_in_integers_only():
    X, signs = np.array([[3.0, 1.0], [1e-300, 5e-324], [0.0, 1e-320]]), np.array([1, 1, 1])
    assert exact_weak_plane(X, signs, np.array([0]), np.array([-1e-10, 3e-10]), None).row == 1
    assert exact_weak_plane(X[[0, 2]], signs[:2], np.array([0]), np.array([-1e-10, 3e-10]), None)


def test_weak_planes_refuse_rows_that_are_not_finite():
    X, signs = np.array([[1.0], [np.nan]]), np.array([1, 1])
    assert "finite" in exact_weak_plane(X, signs, np.array([1]), np.ones(1), 0.0).reason
    assert exact_weak_plane(X, signs, np.array([], dtype=int), np.ones(1), 0.0).row == 1


@with_and_without_bias
@pytest.mark.parametrize("elements", [grid, wild], ids=["grid", "wild"])
@formats
def test_weak_planes_are_decided_like_the_slow_oracle(with_bias, elements, form):
    @patient
    @given(labelled_rows(elements), st.data())
    def check(data, more):
        X, signs = data
        w = more.draw(hnp.arrays(np.float64, X.shape[1], elements=elements))
        b = more.draw(elements) if with_bias else None
        face = np.arange(more.draw(st.integers(0, min(X.shape))))
        numbers, drift = exact.plane_through(form(X)[face], exact.read_plane(w, b), with_bias)
        plane = [int(m) * Fraction(2) ** int(e) for m, e in zip(*numbers, strict=True)]
        lifted = signed_rows(X, signs, True)
        margins = [sum(p * r for p, r in zip(plane, row, strict=True)) for row in lifted]
        assert not any(margins[: len(face)])
        claimed = [*fractions_of(w), Fraction(b or 0.0)]
        for i, value in enumerate(claimed):  # a coefficient that stayed shows the common factor
            if value and not drift[i]:
                factor = plane[i] / value
                assert factor > 0
                assert all(abs(p / factor - v) <= m for p, v, m in zip(plane, claimed, drift, strict=True))
        verdict = exact_weak_plane(form(X), signs, face, w, b)
        row = first_index(m < 0 for m in margins)
        assert verdict.row == row
        assert verdict.holds == (row is None and any(margins))

    check()


@patient
@given(labelled_rows(grid, max_rows=5), st.integers(0, 1000))
def test_a_proven_weak_plane_agrees_with_gordan(data, seed):
    """y_i (w.x_i + b) >= 0, with > 0 on row j, excludes an intersection that gives row j a weight."""
    X, signs = data
    rng = np.random.default_rng(seed)
    w, b = rng.normal(size=X.shape[1]), float(rng.normal())
    face = rng.choice(len(X), size=min(len(X), X.shape[1]), replace=False)
    if exact_weak_plane(X, signs, face, w, b):
        rows = signed_rows(X, signs, True)
        assert not all(positive_on(rows, j) for j in range(len(X)))


def positive_on(rows, j):
    """Some l >= 0 with sum_i l_i rows_i = 0 has l_j > 0: a circuit of one sign through row j."""
    others = [row for i, row in enumerate(rows) if i != j]
    for size in range(len(others) + 1):
        for subset in itertools.combinations(others, size):
            basis = slow_null_basis([*subset, rows[j]])
            if len(basis) == 1 and basis[0][-1] and all(v * basis[0][-1] >= 0 for v in basis[0]):
                return True
    return False


def test_a_weak_plane_in_many_dimensions_in_time():
    X, signs, normal, _, face = weakly_separable(60, 5, with_bias=False)
    started = time.perf_counter()
    assert exact_weak_plane(X, signs, face, normal / math.sqrt(sum(normal**2)), None)
    assert time.perf_counter() - started < 10
