"""Exact proofs of planes that have rows on themselves, but none on their wrong side."""

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from exact_oracles import (
    down,
    first_index,
    formats,
    fractions_of,
    grid,
    labelled_rows,
    patient,
    up,
    wild,
    with_and_without_bias,
)
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from oracles import null_vectors, signed_rows

from maxmargin.certificates import exact
from maxmargin.certificates.exact import (
    exact_weak_plane,
)


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
            basis = null_vectors([*subset, rows[j]])
            if len(basis) == 1 and basis[0][-1] and all(v * basis[0][-1] >= 0 for v in basis[0]):
                return True
    return False


def test_a_weak_plane_in_many_dimensions_in_time():
    X, signs, normal, _, face = weakly_separable(60, 5, with_bias=False)
    started = time.perf_counter()
    assert exact_weak_plane(X, signs, face, normal / math.sqrt(sum(normal**2)), None)
    assert time.perf_counter() - started < 10
