"""Exact proofs that hulls meet: closed forms, slow oracles with fractions, and false claims that must be refused."""

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from exact_oracles import (
    combine,
    down,
    first_index,
    formats,
    grid,
    labelled_rows,
    patient,
    proves,
    slow_intersects,
    slow_margins,
    up,
    wild,
    with_and_without_bias,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import null_vectors, signed_rows

from maxmargin.certificates import exact
from maxmargin.certificates.exact import (
    exact_margins_positive,
    null_vector,
    proves_intersection,
)


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
    basis = null_vectors(signed_rows(X, signs, with_bias))
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
    basis = null_vectors(signed_rows(X, signs, True))
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
