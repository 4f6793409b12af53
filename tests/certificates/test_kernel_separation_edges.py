"""Planes in the space of a kernel, on tables that can be checked by hand: bounds from both sides, and equalities."""

import math

import numpy as np
import pytest

from maxmargin.certificates import kernel_separation as judge
from maxmargin.certificates.kernel_duality import combined
from maxmargin.certificates.kernel_separation import KernelPlane, measure, radius_squared
from maxmargin.certificates.passes import total
from maxmargin.problems.kernels import Linear, Precomputed, Rbf, rows_of

U = 2.0**-53
LEAST = math.ulp(0.0)
TABLE = Precomputed()
FACING = np.array([[1.0, -1.0], [-1.0, 1.0]])  # rows 1 and -1 on a line
SIGNS = np.array([1.0, -1.0])
up, down = (lambda x: math.nextafter(x, math.inf)), (lambda x: math.nextafter(x, -math.inf))


def plane(functional, off, square, square_error=0.0, weight=1.0):
    return KernelPlane(np.array(functional), np.array(off), square, square_error, weight)


def test_the_margin_of_a_plane_some_errors_down():
    assert plane([1.0, 3.0], [0.5, 0.5], 1.0).lower(0.0) == 1.0 - 8 * U
    assert plane([-1.0, 3.0], [0.5, 0.5], 1.0).lower(0.0) == -1.0 - 8 * U
    assert plane([5.0, 3.0], [4.0, 1.0], 1.0).lower(1.0) == 1.0 - 8 * U
    assert plane([5.0, 3.0], [2.0, 1.0], 1.0).lower(2.0) == 1.0 - 8 * U
    assert plane([3.0], [0.0], 4.0, 5.0).lower(1.0) == 1.0 - 8 * U  # a longer w where the margin is positive
    assert plane([-3.0], [0.0], 9.0, 8.0).lower(1.0) == 3.0 * (-1.0 - 8 * U)  # and a shorter one where it is not
    assert plane([0.5], [0.0], 4.0, 12.0).lower(1.0) == 0.125 * (1.0 - 8 * U)
    assert plane([0.0], [0.0], 1.0, 2.0).lower(1.0) == -math.inf
    assert plane([1.0], [0.0], 0.0).lower(1.0) == -math.inf
    assert plane([1.0], [math.inf], 1.0).lower(0.0) == 1.0 - 8 * U
    assert plane([1.0], [math.inf], 1.0).lower(1.0) == -math.inf


def test_what_weights_prove_some_errors_up():
    assert plane([1.0], [0.0], 4.0, 5.0, 2.0).upper(0.0) == 1.0 + 8 * U
    assert plane([1.0], [0.0], 4.0, 5.0, 3.0).upper(1.0) == 1.0 + 8 * U
    assert plane([1.0], [0.0], 4.0, math.inf, 2.0).upper(0.0) == 1.0 + 8 * U
    assert plane([1.0], [0.0], 4.0, 0.0, 0.0).upper(1.0) == math.inf
    assert plane([1.0], [0.0], -4.0, 0.0, 1.0).upper(1.0) == 0.0
    assert plane([1.0], [0.0], 9.0, 2.5).size(-2.0) == 2.0


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_sums_and_their_errors(fit_intercept):
    table = np.array([[4.0, 1.0, 0.5], [1.0, 2.0, -1.0], [0.5, -1.0, 8.0]])
    signs, a = np.array([1.0, -1.0, 1.0]), np.array([0.5, 3.0, 0.0])
    points = TABLE.points(table)
    found = measure(TABLE, points, signs, a, fit_intercept)
    lift, lifted = (-2.5, 3.5) if fit_intercept else (0.0, 0.0)
    values = table[:, 0] * 0.5 - table[:, 1] * 3.0 + lift
    assert found.functional.tolist() == (signs * values).tolist()
    assert found.weight == 3.5
    assert found.square == 0.5 * values[0] - 3.0 * values[1]
    coefficients = np.array([[0.5, 0.0], [0.0, 3.0]])
    _, sizes, error = combined(TABLE, points, rows_of(points, np.array([0, 1])), coefficients, None)
    additions = total(np.ones(2))[1]
    gamma = (additions + 4) * U
    assert found.off == pytest.approx(error + gamma * (sizes + lifted), rel=1e-12, abs=0.0)
    magnitude = abs(0.5 * values[0]) + abs(3.0 * values[1])
    expected = 1.01 * (0.5 * found.off[0] + 3.0 * found.off[1]) + gamma * magnitude
    assert found.square_error == pytest.approx(expected, rel=1e-12, abs=0.0)


def told(monkeypatch, sums, sizes, error):
    given = np.array(sums, dtype=float), np.array(sizes, dtype=float), np.array(error, dtype=float)
    monkeypatch.setattr(judge, "combined", lambda *arguments: given)


def test_what_vanishes_is_a_least_number_for_each_row(monkeypatch):
    told(monkeypatch, np.zeros((2, 2)), [0.0, 0.0], [0.0, 0.0])
    found = measure(TABLE, TABLE.points(FACING), SIGNS, np.ones(2), False)
    assert found.square_error == 3 * LEAST
    told(monkeypatch, np.zeros((2, 2)), [1.0, 2.0], [0.0, 0.5])
    found = measure(TABLE, TABLE.points(FACING), SIGNS, np.ones(2), False)
    gamma = (total(np.ones(2))[1] + 4) * U
    assert found.off == pytest.approx([gamma, 0.5 + 2 * gamma], rel=1e-12, abs=0.0)


def test_a_square_that_is_negative_beyond_its_error_is_refused(monkeypatch):
    points = TABLE.points(FACING)
    gamma = judge.rounding(total(np.ones(1))[1] + 4)
    error = (1.0 - gamma) / 1.01
    while 1.01 * error + gamma + 2 * LEAST < 1.0:
        error = up(error)
    while 1.01 * error + gamma + 2 * LEAST > 1.0:
        error = down(error)
    equal = 1.01 * error + gamma + 2 * LEAST
    told(monkeypatch, [[-equal, 0.0], [0.0, 0.0]], [0.0, 0.0], [error, 0.0])
    a = np.array([1.0, 0.0])
    if equal == 1.0:
        assert measure(TABLE, points, SIGNS, a, False).square == -1.0
    told(monkeypatch, [[-2.0, 0.0], [0.0, 0.0]], [0.0, 0.0], [0.5, 0.0])
    with pytest.raises(ValueError, match=r"\|w\|\^2 = -2 for"):
        measure(TABLE, points, SIGNS, a, False)


def test_numbers_that_overflow_are_bounded_by_nothing():
    table = np.array([[1e308, 0.0], [0.0, 1.0]])
    found = measure(TABLE, TABLE.points(table), np.ones(2), np.array([1e10, 1.0]), False)
    assert found.functional.tolist() == [0.0, 1.0]
    assert found.off[0] == math.inf
    assert math.isfinite(found.off[1])
    assert (found.square, found.square_error) == (0.0, math.inf)
    assert found.lower(1.0) == -math.inf
    assert found.upper(1.0) == math.inf
    huge = measure(TABLE, TABLE.points(np.eye(2) * 1e200), np.ones(2), np.full(2, 1e100), False)
    assert (huge.square, huge.square_error) == (0.0, math.inf)
    assert np.isfinite(huge.off).all()


def test_an_error_that_overflows_leaves_nothing_known(monkeypatch):
    a = np.array([1.0, 0.0])
    told(monkeypatch, [[1.7e308, 0.0], [0.0, 0.0]], [0.0, 0.0], [1e307, 0.0])
    found = measure(TABLE, TABLE.points(FACING), SIGNS, a, False)
    assert (found.square, found.square_error) == (0.0, math.inf)
    told(monkeypatch, [[5.0, 0.0], [7.0, 0.0]], [0.0, 0.0], [math.inf, 0.0])
    assert measure(TABLE, TABLE.points(FACING), SIGNS, a, False).functional.tolist() == [0.0, -7.0]


def test_the_radius_is_rounded_up():
    table = np.diag([1.0, 4.0])
    assert radius_squared(TABLE, TABLE.points(table), False) == 4.0 * (1.0 + 8 * U)
    assert radius_squared(TABLE, TABLE.points(table), True) == pytest.approx(5.0 + 32 * U, abs=4 * U)
    linear = Linear()
    for X in (np.array([[1.0], [-1.0]]), np.zeros((2, 3))):
        points = linear.points(X)
        relative, absolute = linear.rounding(points, points)
        diagonal = float(X[0] @ X[0])
        expected = 2.0 * relative[0] + 8 * U if diagonal else absolute[0]
        assert radius_squared(linear, points, False) - diagonal == pytest.approx(expected, rel=0.1, abs=0.0)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_float32_does_not_choose_the_nearest_row(fit_intercept, monkeypatch):
    """The bounds are those of float64 alone; most rows without weight are seen by float32 only, and no near one is."""
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(size=(400, 3)), [[1e4, 0.0, 0.0]]])  # one is too far away for float32
    signs, kernel = np.where(X[:, 0] > 0.0, 1.0, -1.0), Rbf(0.3)
    a = np.where(random.random(401) < 0.1, random.integers(1, 9, 401), 0.0)
    points = kernel.points(X)
    plain = measure(kernel, points, signs, a, fit_intercept)
    monkeypatch.setattr(judge, "WORTH_SCREENING", 0)
    found = measure(kernel, points, signs, a, fit_intercept)
    for errors in (0.0, 1.0, 4.0):
        assert found.lower(errors) == pytest.approx(plain.lower(errors), rel=1e-12, abs=0.0)
        assert found.upper(errors) == pytest.approx(plain.upper(errors), rel=1e-12, abs=0.0)
    rough = found.off > 100.0 * plain.off
    assert np.count_nonzero(rough) > 200
    assert np.all(np.abs(found.functional - plain.functional) <= found.off + plain.off)
    assert np.argmin(found.functional) == np.argmin(plain.functional)
    assert not np.any(rough[(a > 0.0) | (X[:, 0] > 1e3)])
