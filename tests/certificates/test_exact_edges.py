"""Exact margins, hulls and faces at their edges: blocks of rows, the first row that is named, and equalities."""

import math
from fractions import Fraction

import numpy as np
import pytest

from maxmargin.certificates import exact
from maxmargin.certificates.exact import (
    exact_margin_at_least,
    exact_margins_positive,
    exact_upper_bound_holds,
    exact_weak_plane,
)
from maxmargin.certificates.exact_face import plane_through

NOTHING = np.zeros(0, dtype=int)
up, down = (lambda x: math.nextafter(x, math.inf)), (lambda x: math.nextafter(x, -math.inf))


def test_rows_that_float64_can_see_are_not_read_in_integers(monkeypatch):
    asked = []
    monkeypatch.setattr(exact, "exact_margins", lambda X, signs, plane, rows: asked.extend(map(len, rows)) or [])
    X, signs = np.array([[0.5], [-0.25]]), np.array([1, -1])
    assert exact_margins_positive(X, signs, np.ones(1), None)
    assert exact_margin_at_least(X, signs, np.ones(1), None, 0.1, "l1")
    assert exact_weak_plane(X, signs, NOTHING, np.ones(1), 0.0).off == 2
    assert asked == [0, 0, 0]


@pytest.mark.parametrize(
    ("bound", "norm", "least", "most"),
    [(2.0, "l2", 10.0, 12.0), (2.0, "l1", 14.0, 14.0), (0.5, "l1", 3.5, 3.5), (-3.0, "l2", 0.0, 0.0)],
)
@pytest.mark.parametrize("scale", [1.0, 2.0**-60, 2.0**300])
def test_the_filter_starts_at_the_bound_times_the_length(monkeypatch, bound, norm, least, most, scale):
    levels = []
    plain = exact.doubtful_rows
    monkeypatch.setattr(exact, "doubtful_rows", lambda *given: levels.append(given[-1]) or plain(*given))
    X, signs, w = np.array([[30.0, 40.0]]), np.array([1]), np.array([3.0, -4.0]) * scale
    assert exact_margin_at_least(X, -signs, w, None, bound, norm)
    assert least * scale <= levels[0] <= up(most * scale)


@pytest.mark.parametrize("scale", [1.0, 2.0**-300, 2.0**300])
def test_bounds_are_decided_at_equality(scale):
    X, signs, w = np.array([[3.0, 4.0], [0.0, 0.0]]), np.array([1, 1]), np.array([3.0, 4.0]) * scale
    assert exact_margin_at_least(X, signs, w, None, 0.0, "l2")
    assert exact_margin_at_least(X, signs, w, None, 5e-324, "l2").row == 1
    assert exact_margin_at_least(X, signs, w, -5.0 * scale, -1.0, "l2")
    assert exact_margin_at_least(X, signs, w, -5.0 * scale, down(-1.0), "l2")
    assert exact_margin_at_least(X, signs, w, -5.0 * scale, up(-1.0), "l2").row == 1
    assert exact_margin_at_least(X, signs, w, -7.0 * scale, -1.0, "l1")
    assert exact_margin_at_least(X, signs, w, -7.0 * scale, up(-1.0), "l1").row == 1
    assert exact_margin_at_least(X[:1], signs[:1], np.array([1.0, 0.0]) * scale, None, 3.0, "l2")
    assert exact_margin_at_least(X[:1], signs[:1], np.array([1.0, 0.0]) * scale, None, up(3.0), "l2").row == 0
    assert exact_margin_at_least(X[:1], signs[:1], w, None, 5.0, "l2")
    verdict = exact_margin_at_least(X[:1], signs[:1], w, None, up(5.0), "l2")
    assert verdict.reason == f"The margin of row 0 is below {up(5.0)!r}."


def test_no_plane_and_rows_that_are_not_finite_hold_nothing():
    for bound in (-1.0, 0.0, 1.0):
        verdict = exact_margin_at_least(np.ones((1, 2)), np.array([1]), np.zeros(2), 5.0, bound, "l2")
        assert (verdict.holds, verdict.reason) == (False, "w is zero, which makes no plane.")
    refused = exact_weak_plane(np.array([[np.nan], [1.0]]), np.ones(2), np.array([0]), np.ones(1), 0.0)
    assert (refused.holds, refused.reason) == (False, "A row on the plane is not finite.")
    assert not exact_upper_bound_holds(np.array([[np.inf], [1.0]]), np.array([1, -1]), np.ones(2), 9.0, True, "l2")


def test_every_row_is_checked_even_where_float64_sees_it():
    with pytest.raises(ValueError, match=r"\+1 or -1"):
        exact_margins_positive(np.ones((2, 1)), np.array([1, 2]), np.ones(1), None)
    X = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, np.nan], [0.0, 0.0]])
    assert exact_margins_positive(X, np.ones(4), np.ones(2), None).row == 2
    assert exact_weak_plane(X, np.ones(4), NOTHING, np.ones(2), None).row == 2


def test_a_weak_plane_counts_the_rows_off_itself(monkeypatch):
    monkeypatch.setattr(exact, "EXACT_BLOCK", 2)
    X = np.array([[0.0], [2.0], [0.0], [1e-320], [0.0], [-1.0], [0.0], [3.0]])
    signs = np.array([1, 1, -1, 1, 1, -1, -1, 1])
    assert exact_weak_plane(X, signs, NOTHING, np.ones(1), None).off == 4
    assert exact_weak_plane(X[[0, 3, 2]], signs[[0, 3, 2]], NOTHING, np.ones(1), None).off == 1
    refused = exact_weak_plane(X[[0, 2]], signs[[0, 2]], NOTHING, np.ones(1), None)
    assert (refused.holds, refused.off, refused.reason) == (False, 0, "Every row is on the plane.")


@pytest.mark.parametrize("at_a_time", [1, 2, 3, 8])
def test_the_first_row_beyond_a_plane_is_named(monkeypatch, at_a_time):
    monkeypatch.setattr(exact, "EXACT_BLOCK", at_a_time)
    for bad, sign in ((-1e-320, 1), (np.nan, 1), (-np.inf, -1), (1e-320, -1)):
        for row in range(5):
            X, signs = np.zeros((6, 1)), np.ones(6)
            X[row], signs[row] = bad, sign
            X[5] = -1.0
            verdict = exact_weak_plane(X, signs, NOTHING, np.ones(1), None)
            assert (verdict.holds, verdict.row) == (False, row)
            assert verdict.reason == f"Row {row} is beyond the plane."
            assert exact_margin_at_least(X, signs, np.ones(1), None, 0.0, "l2").row == row


def test_margins_come_in_blocks_as_integers(monkeypatch):
    moments = []
    monkeypatch.setattr(exact, "check_interrupt", lambda: moments.append(1))
    monkeypatch.setattr(exact, "EXACT_BLOCK", 8)
    signs = np.array([1, -1] * 10)

    def blocks(X, b, candidates):
        plane = exact.read_plane(np.arange(1.0, X.shape[1] + 1) * 0.5, b)
        found = list(exact.exact_margins(X, signs[: len(X)], plane, candidates))
        margins = [Fraction(int(m)) * Fraction(2) ** unit for _, margins, unit in found for m in margins]
        return [rows.tolist() for rows, _, _ in found], [float(m) for m in margins]

    X = np.arange(30.0).reshape(10, 3)
    expected = (signs[:10] * (X @ [0.5, 1.0, 1.5] + 0.25)).tolist()
    assert blocks(X, 0.25, [np.arange(3), np.arange(5, 10)]) == (
        [[0, 1], [2], [5, 6], [7, 8], [9]],
        expected[:3] + expected[5:],
    )
    assert len(moments) == 5
    assert [len(rows) for rows in blocks(np.ones((20, 1)), None, [np.arange(20)])[0]] == [8, 8, 4]
    assert [len(rows) for rows in blocks(np.ones((3, 9)), None, [np.arange(3)])[0]] == [1, 1, 1]
    assert blocks(np.ones((9, 0)), 0.25, [np.arange(9)])[0] == [list(range(8)), [8]]
    assert blocks(X[:2], None, [np.arange(2)])[1] == [4.0, -13.0]


# ------------------------------------------------------------------------------------------- two points of the hulls


def test_upper_bounds_at_zero_and_without_columns():
    X, signs = np.array([[1.0], [1.0], [7.0]]), np.array([1, -1, 1])
    weights = np.array([2.0, 0.5, 0.0])
    for norm in ("l2", "l1"):
        assert exact_upper_bound_holds(X, signs, weights, 0.0, True, norm)
        assert not exact_upper_bound_holds(X, signs, weights, -5e-324, True, norm)
        assert exact_upper_bound_holds(np.zeros((3, 0)), signs, weights, 0.0, True, norm)
        assert not exact_upper_bound_holds(X, signs, weights, 5e-324, False, norm)
        assert exact_upper_bound_holds(X, signs, np.array([1.0, 0.0, 0.0]), 1.0, False, norm)
    assert exact_upper_bound_holds(X, signs, np.array([3.0, 1.0, 0.0]), 0.5, False, "l2")
    assert not exact_upper_bound_holds(X, signs, np.array([3.0, 1.0, 0.0]), down(0.5), False, "l2")
    assert not exact_upper_bound_holds(X, signs, np.array([0.0, 1.0, 0.0]), 1.0, True, "l2")
    assert not exact_upper_bound_holds(X, signs, np.array([-1.0, np.nan, 1.0]), 1.0, False, "l2")


# ---------------------------------------------------------------------------------------------- planes through a face


def moved_by(face, w, b):
    plane, drift = plane_through(np.array(face), exact.read_plane(np.array(w), b), b is not None)
    return [Fraction(int(m)) * Fraction(2) ** int(e) for m, e in zip(*plane, strict=True)], drift.tolist()


def test_the_coefficient_that_the_face_determines_best_is_moved():
    """Columns are compared in their own scales: of equal ones the first is moved; drifts are the next doubles."""
    plane, drift = moved_by([[1.0, 1000.0]], [3.0, 0.5], None)
    assert (plane[0] / plane[1], plane[2]) == (-1000, 0)
    assert drift == [up(503.0), 0.0, 0.0]
    plane, drift = moved_by([[2.0**-10, 1.0]], [3.0, 0.5], None)
    assert (plane[0] / plane[1], plane[2]) == (-1024, 0)
    assert drift == [up(515.0), 0.0, 0.0]
    plane, drift = moved_by([[1.0, 1000.0], [0.5, 1000.0]], [3.0, 0.5], 0.25)
    assert (plane[0], plane[1] / plane[2]) == (0, Fraction(-1, 1000))
    assert drift[0] in (0.0, up(3.0))
    plane, drift = moved_by([[0.25, 0.0, 0.125]], [2.0**-9, 3.0, 2.0**-8], None)
    assert plane[1] > 0
    assert plane[0] * 2 == -plane[2]
    assert drift == [up(2.0**-8), 0.0, 0.0, 0.0]
    plane, drift = moved_by([[0.0, 0.0]], [1.0, 2.0], 3.0)
    assert (plane[0] * 2, plane[2], drift) == (plane[1], 0, [0.0, 0.0, up(3.0)])
    assert moved_by(np.zeros((0, 2)), [1.0, 2.0], 3.0) == ([1, 2, 3], [0.0, 0.0, 0.0])
    assert moved_by([[3.0, 4.0]], [4.0, -3.0], None) == ([4, -3, 0], [0.0, 0.0, 0.0])
