"""The error that is stated with a side of a kernel's margin is the one that the analysis gives: no less, and no more.

Most numbers here are powers of two, so that sums are exact and one term of an error stands out.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from error_analysis import LEAST, close, gamma

from maxmargin.certificates import kernel_duality
from maxmargin.certificates.kernel_duality import (
    Direction,
    KernelMeasure,
    dual_of,
    hard_primal,
    middle,
    soft_primal,
)
from maxmargin.problems.kernels import KernelChoice
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin

NOTHING = (0.0, math.inf, 0.0)


def problem_of(X, signs, C=1.0, kernel="precomputed", gamma=1.0, coef0=0.0, degree=1):
    X, signs = np.asarray(X, dtype=float), np.asarray(signs, dtype=float)
    kernel = KernelChoice(kernel, gamma, coef0, degree).on(X)
    costs = np.broadcast_to(np.asarray(C, dtype=float), signs.shape).copy()
    return KernelMargin(X, signs, costs, HINGE, True, kernel, kernel.points(X))


def a_direction(square=1.0, square_error=0.0, gain=2.0, share=0.0, scales=(1.0, 0.5)):
    return Direction(np.zeros(2), np.zeros(2), square, square_error, gain, share, scales)


# ------------------------------------------------------------------------------------------------------------- dual


def test_bounds_are_four_errors_away():
    vector, rest = np.zeros(1), ((1.0, 1.0), (1.0, 1.0), np.zeros(1), 0.0)
    found = KernelMeasure(vector, 0.0, vector, 1.0, 8.0, 0.25, 1.0, 0.125, *rest)
    assert (found.upper, found.lower) == (9.0, 0.5)
    assert replace(found, dual_error=1.0).lower == 0.0


@pytest.mark.parametrize("is_hard", [True, False])
def test_the_best_factor_of_a_dual_point(is_hard):
    for square, gain, t in ((1.0, 2.0, 2.0), (4.0, 2.0, 0.5), (2.0, 2.0, 1.0)):
        expected = t if is_hard else min(1.0, t)
        value, error, found = dual_of(a_direction(square, gain=gain), is_hard)
        assert found == expected
        assert value == expected * gain - expected**2 * square / 2.0
        assert error == close(2.0 * gamma(8) * expected * (gain + expected * square))


def test_the_error_of_a_dual_value():
    for is_hard in (True, False):
        for square, t in ((1.0, 4.0), (16.0, 0.25)):
            t = t if is_hard else min(1.0, t)
            rounded = 2.0 * gamma(8) * t * (4.0 + t * square)
            value, error, _ = dual_of(a_direction(square, 0.0, 4.0, 2.0**-10), is_hard)
            assert error == close(t * 2.0 * 2.0**-10 * 4.0 + rounded)
            value, error, _ = dual_of(a_direction(square, square * 2.0**-10, 4.0), is_hard)
            assert error == close(0.51 * t * t * square * 2.0**-10 + rounded)
            assert value == t * 4.0 - t * t * square / 2.0


def test_a_square_that_is_zero_or_less_but_for_rounding():
    value, error, t = dual_of(a_direction(0.0, 0.25), False)
    assert (value, t) == (2.0, 1.0)
    assert error == close(0.51 * 0.25)
    value, error, t = dual_of(a_direction(-0.125, 0.25), False)
    assert (value, t) == (2.0625, 1.0)
    assert error == close(0.51 * 0.25)
    value, error, t = dual_of(a_direction(-1.0, 0.0, 4.0), False)
    assert error == close(2.0 * gamma(8) * 5.0)
    assert dual_of(a_direction(0.0, 0.0), True) == NOTHING
    assert dual_of(a_direction(-0.125, 0.25), True) == NOTHING


def test_the_least_numbers_of_a_dual_value():
    for t, least in ((1.0, 8), (0.25, 5)):
        gain = 2000 * LEAST
        assert dual_of(a_direction(gain / t, 0.0, gain), False)[1] == least * LEAST


def test_without_weight_the_error_is_that_of_the_balance():
    assert dual_of(a_direction(0.0, 0.0, 0.0), False) == (0.0, 0.0, 0.0)
    assert dual_of(a_direction(0.0, math.inf, 0.0), False) == NOTHING
    assert dual_of(a_direction(0.0, 0.0, 0.0), True) == (0.0, 0.0, 0.0)


def test_an_error_of_half_the_value_says_nothing():
    for error, known in ((0.48, True), (0.495, False), (0.5, False), (0.6, False)):
        assert (dual_of(a_direction(1.0, error), True) != NOTHING) is known
    for error, known in ((1.4, True), (1.5, False)):  # D = 2 - 1/2
        assert (dual_of(a_direction(1.0, error), False) != NOTHING) is known
    assert dual_of(a_direction(1.0, math.inf), False) == NOTHING
    assert dual_of(a_direction(math.nan, 0.0), False) == NOTHING
    for square in (1e-300, 1.0):  # it overflows
        assert dual_of(a_direction(square, 0.0, 1e200), True) == NOTHING


def test_an_error_of_exactly_half_the_value_says_something():
    rounded = 2.0 * gamma(8) * 3.0
    directions = [a_direction(1.0, (0.75 - rounded) / 0.51 * (1.0 + k * 2.0**-53)) for k in range(-30, 30)]
    found = [dual_of(w, False) for w in directions]
    assert found[-1] == NOTHING
    assert max(error for _, error, _ in found if error < math.inf) == 0.75  # D = 2 - 1/2


# ----------------------------------------------------------------------------------------------------------- primal


def test_a_soft_primal_value_and_its_error():
    problem = problem_of(np.eye(4), [1, -1, 1, -1], [2.0, 3.0, 5.0, 7.0])
    missing, off = np.array([0.5, -0.125, -0.5, -1.0]), np.array([0.25, 0.25, 0.5, 0.25])
    exactly = 2.0 * gamma(1 + 4 + 8)
    assert soft_primal(problem, a_direction(3.0), missing, np.zeros(4)) == (2.5, close(exactly * 2.5))
    value, error = soft_primal(problem, a_direction(-3.0), missing, np.zeros(4))
    assert (value, error) == (-0.5, close(exactly * 2.5))
    value, error = soft_primal(problem, a_direction(3.0), missing, off)
    assert (value, error) == (2.5, close(2.0 * 0.25 + 3.0 * 0.125, rel=1e-12))
    value, error = soft_primal(problem, a_direction(3.0, 0.25), missing, np.zeros(4))
    assert (value, error) == (2.5, close(0.51 * 0.25, rel=1e-12))
    assert soft_primal(problem, a_direction(0.0), np.full(4, -1.0), np.zeros(4)) == (0.0, 4 * LEAST)


def test_a_soft_primal_value_beyond_float64_is_infinite():
    problem, zeros = problem_of(np.eye(2), [1, -1], 10.0), np.zeros(2)
    infinite = (math.inf, math.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        assert soft_primal(problem, a_direction(1.0), np.full(2, 1e308), zeros) == infinite
        assert soft_primal(problem, a_direction(1.0), np.array([math.nan, 0.0]), zeros) == infinite
        assert soft_primal(problem, a_direction(1.0, math.inf), zeros, zeros) == infinite
        assert soft_primal(problem, a_direction(1.0, 1.7e308), np.full(2, 8e306), zeros) == infinite
        assert soft_primal(problem, a_direction(1.0), zeros, np.array([math.inf, 0.0])) == infinite


def test_a_hard_primal_value_and_its_error():
    functional, zeros = np.array([2.0, 4.0, 3.0]), np.zeros(3)
    assert hard_primal(a_direction(16.0), functional, zeros) == (2.0, close(2.0 * gamma(8) * 2.0))
    value, error = hard_primal(a_direction(16.0, 4.0), functional, zeros)
    assert (value, error) == (2.0, close(1.01 * 0.5, rel=1e-12))
    # the nearest row may be nearer than it seems: above; or farther, if all are: below
    value, error = hard_primal(a_direction(16.0), functional, np.array([1.0, 0.0, 0.0]))
    assert (value, error) == (2.0, close(1.01 * 6.0, rel=1e-12))
    value, error = hard_primal(a_direction(16.0), functional, np.array([0.0, 3.0, 2.5]))
    assert (value, error) == (2.0, close(1.01 * (32.0 - 2.0), rel=1e-12))


def test_both_errors_of_a_hard_primal_value_at_once():
    value, error = hard_primal(a_direction(16.0, 4.0), np.array([2.0]), np.array([1.0]))
    assert (value, error) == (2.0, close(1.01 * (0.5 * 20.0 - 2.0), rel=1e-12))
    above = 1.79e308  # of which 1 % more is beyond float64
    w = a_direction(2.0 * 0.16 * above)
    assert hard_primal(w, np.array([1.0]), np.array([0.6])) == (math.inf, math.inf)


def test_the_lower_side_of_a_hard_primal_value():
    """|w|^2 may be as good as zero: then P is below by all of itself."""
    below = Direction(np.zeros(1), np.zeros(1), 2.0, 1.9, 2.0, 0.0, (1.0, 1.0))
    value, error = hard_primal(below, np.array([1.0]), np.zeros(1))
    assert (value, error) == (1.0, close(1.01 * 0.95, rel=1e-12))
    value, error = hard_primal(a_direction(0.0, 0.0), np.array([1.0]), np.zeros(1))
    assert (value, error) == (0.0, LEAST)


@pytest.mark.parametrize(
    ("square", "square_error", "functional", "off"),
    [
        (1.0, 0.0, 0.0, 0.0),
        (1.0, 0.0, -1.0, 0.0),
        (1.0, 0.0, 1.0, 1.0),
        (1.0, 0.0, 1.0, 2.0),
        (math.inf, 0.0, 1.0, 0.0),
        (1.0, math.inf, 1.0, 0.0),
        (1.0, 0.0, math.nan, 0.0),
        (1e300, 0.0, 1e-100, 0.0),
    ],
)
def test_a_plane_that_does_not_surely_separate_has_no_hard_primal_value(square, square_error, functional, off):
    w = a_direction(square, square_error)
    with np.errstate(over="ignore", invalid="ignore"):
        assert hard_primal(w, np.array([functional, 7.0]), np.array([off, 0.0])) == (math.inf, math.inf)
        assert hard_primal(w, np.array([math.inf]), np.array([off])) == (math.inf, math.inf)


def test_the_middle_between_two_classes():
    problem = problem_of(np.eye(4), [1, -1, 1, -1], math.inf)
    assert middle(problem, np.array([5.0, 1.0, 3.0, -2.0])) == -2.0
    assert middle(problem, np.array([5.0, math.inf, 3.0, -2.0])) == 0.0
    assert middle(problem, np.full(4, 1e308)) == 0.0
    assert middle(problem_of(np.eye(2), [1, 1], math.inf), np.array([5.0, 1.0])) == 0.0
    assert kernel_duality.bias_of(problem, np.array([5.0, 1.0, 3.0, -2.0])) == -2.0
    soft = problem_of(np.eye(4), [1, -1, 1, -1], [1.0, 1.0, 3.0, 1.0])
    assert kernel_duality.bias_of(soft, np.array([5.0, 1.0, 3.0, -2.0])) == -2.0  # the row with 3 pays first
