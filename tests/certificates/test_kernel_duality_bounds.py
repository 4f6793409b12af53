"""The error that is stated with a side of a kernel's margin is the one that the analysis gives: no less, and no more.

Most numbers here are powers of two, so that sums are exact and one term of an error stands out.
"""

import math

import numpy as np
import pytest

from maxmargin.certificates import kernel_duality
from maxmargin.certificates.kernel_duality import (
    Direction,
    KernelMeasure,
    combined,
    direction,
    dual_of,
    hard_primal,
    measure,
    middle,
    mostly_in_float32,
    soft_primal,
)
from maxmargin.problems.kernels import Kernel, KernelChoice, KernelName, rows_of
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin

LEAST = 5e-324
U = 2.0**-53
NOTHING = (0.0, math.inf, 0.0)


def gamma(terms):
    return terms * U * (1.0 + terms * U)


def close(value, rel=1e-6):
    return pytest.approx(value, rel=rel, abs=0.0)


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
    assert found._replace(dual_error=1.0).lower == 0.0


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


# ------------------------------------------------------------------------------------------------- sums of the kernel


TABLE = np.array([[4.0, -1.0, 0.5], [-1.0, 2.0, 0.0], [0.5, 0.0, 1.0]])


def of_a_rounding(monkeypatch, relative, absolute):
    def rounding(self, A, B):
        return np.full(len(A.places), relative), np.full(len(A.places), absolute)

    monkeypatch.setattr(Kernel, "rounding", rounding)


def roundings(terms, columns=None):
    """A term is one of its block of 256; then blocks, and threads' own sums, are added."""
    return gamma(min(terms, 256) + (terms if columns is None else columns) // 256 + 1 + 3 * 8 + 8)


def test_sums_of_a_table_and_their_errors(monkeypatch):
    problem = problem_of(TABLE, [1, -1, 1])
    points = problem.points
    coefficients = np.array([[0.5, 0.0], [0.0, 0.25], [1.0, 0.0]])
    sums, sizes, error = combined(problem.kernel, points, points, coefficients, None)
    assert sums.tolist() == [[2.5, -0.25], [-0.5, 0.5], [1.25, 0.0]]
    exact = np.array([2.75, 1.0, 1.25])
    assert sizes == close(1.1 * exact)
    assert error == close(1.1 * roundings(3) * exact)
    of_a_rounding(monkeypatch, 2.0**-10, 0.0)
    assert combined(problem.kernel, points, points, coefficients, None)[2] == close(1.1 * 2.0**-10 * exact)
    of_a_rounding(monkeypatch, 0.0, 2.0**-10)
    sums, sizes, error = combined(problem.kernel, points, points, coefficients, None)
    assert error == close(1.1 * 2.0**-10 * 1.75)
    assert sizes == close(1.1 * (exact + 2.0**-10 * 1.75))


def test_sums_of_some_rows_of_a_table():
    problem = problem_of(TABLE, [1, -1, 1])
    some, others = rows_of(problem.points, np.array([2, 0])), rows_of(problem.points, np.array([0]))
    sums, sizes, error = combined(problem.kernel, some, others, np.array([[0.5, 0.0]]), None)
    assert sums.tolist() == [[0.25, 0.0], [2.0, 0.0]]
    assert sizes == close(1.1 * np.array([0.25, 2.0]))
    assert error.shape == (2,)


def test_least_numbers_of_sums():
    problem = problem_of(np.zeros((3, 3)), [1, -1, 1])
    _, sizes, error = combined(problem.kernel, problem.points, problem.points, np.ones((3, 2)), None)
    assert error.tolist() == [6 * LEAST] * 3
    assert sizes.tolist() == [0.0] * 3


def test_weights_below_the_normal_range_have_a_size():
    """What such a weight lost is not in proportion to it: 2^-1000 is added to each."""
    problem = problem_of(np.full((2, 2), 2.0**500), [1, -1])
    _, sizes, _ = combined(problem.kernel, problem.points, problem.points, np.zeros((2, 2)), None)
    assert sizes == close(1.1 * 2.0 * 2.0**-500)
    linear = problem_of(np.array([[2.0**500], [2.0**500]]), [1, -1], kernel="linear")
    _, sizes, _ = combined(linear.kernel, linear.points, linear.points, np.zeros((2, 2)), None)
    assert sizes == close(1.1 * 2.0)
    rbf = problem_of(np.zeros((2, 1)), [1, -1], kernel="rbf")
    _, sizes, _ = combined(rbf.kernel, rbf.points, rbf.points, np.zeros((2, 2)), None)
    assert sizes == close(1.1 * 2.0 * 2.0**-1000)


def test_values_of_a_large_relative_error_are_not_known(monkeypatch):
    problem = problem_of(TABLE, [1, -1, 1])
    points, ones = problem.points, np.ones((3, 2))
    own = 3 + 1 + 3 * 8 + 8
    own = own * U / (1.0 - own * U)
    for relative, known in ((0.05 - own, True), (0.05, False), (0.04, True), (math.nan, False)):
        of_a_rounding(monkeypatch, relative, 0.0)
        assert np.isfinite(combined(problem.kernel, points, points, ones, None)[2]).tolist() == [known] * 3
    of_a_rounding(monkeypatch, 0.0, 1e308)
    with np.errstate(over="ignore"):
        assert np.isinf(combined(problem.kernel, points, points, ones, None)[2]).all()


@pytest.mark.parametrize(("terms", "columns"), [(2, 2), (255, 255), (256, 256), (257, 257), (3, 600), (600, 600)])
def test_blocks_of_terms(terms, columns):
    """Of a table all columns are read, and zeros stand where a row carries nothing."""
    problem = problem_of(np.eye(columns), np.where(np.arange(columns) % 2, 1.0, -1.0))
    others = rows_of(problem.points, np.arange(terms))
    _, _, error = combined(problem.kernel, problem.points, others, np.full((terms, 1), 0.5), None)
    assert error[0] == close(1.1 * roundings(terms, columns) * 0.5)
    assert error[-1] == (close(1.1 * roundings(terms, columns) * 0.5) if terms == columns else 2 * terms * LEAST)


@pytest.mark.parametrize("name", ["linear", "poly", "rbf"])
def test_sums_of_kernels_with_a_name(name, monkeypatch):
    X = np.array([[3.0, 4.0], [0.0, 2.0], [0.0, 0.0]])
    problem = problem_of(X, [1, -1, 1], 1.0, name, 0.5, 1.0, 2)
    coefficients = np.array([[0.5, 0.0], [0.0, 0.25], [1.0, 0.0]])
    of_a_rounding(monkeypatch, 2.0**-10, 2.0**-12)
    points, weights = problem.points, np.array([0.5, 0.25, 1.0])
    sums, sizes, error = combined(problem.kernel, points, points, coefficients, None)
    K = problem.kernel.values(points, points)
    assert sums == pytest.approx(K @ coefficients, rel=1e-14)
    lengths = {"linear": np.array([5.0, 2.0, 0.0]), "poly": np.array([13.5, 3.0, 1.0])}
    real = K @ weights if name == "rbf" else lengths[name] * float(weights @ lengths[name])
    assert sizes == pytest.approx(1.1 * (real + 2.0**-12 * 1.75), rel=1e-7)
    assert error == pytest.approx(1.1 * (2.0**-10 * real + 2.0**-12 * 1.75), rel=1e-7)


def test_sums_of_which_a_part_is_too_far_away_for_float32():
    X = np.array([[67.0], [67.5], [68.0], [68.2]])  # on both sides of h = 4570
    kernel = Kernel(KernelName.RBF, 1.0)
    points = kernel.points(X)
    near, far = rows_of(points, np.arange(2)), rows_of(points, np.arange(2, 4))
    coefficients = np.array([[0.5, 0.0], [0.0, 0.25], [1.0, 0.0], [0.0, 0.5]])
    one, other = (
        mostly_in_float32(kernel, near, near, coefficients[:2], None),
        combined(kernel, near, far, coefficients[2:], None),
    )
    assert other[0].min(axis=0).tolist() > [0.05, 0.05]
    both = mostly_in_float32(kernel, near, points, coefficients, None)
    assert both[0].tolist() == (one[0] + other[0]).tolist()
    assert both[1].tolist() == (one[1] + other[1]).tolist()
    assert both[2] == close(one[2] + other[2] + gamma(4) * both[0].sum(axis=1), rel=1e-12)
    swapped = rows_of(points, np.array([2, 0, 3, 1]))
    again = mostly_in_float32(kernel, near, swapped, coefficients[[2, 0, 3, 1]], None)
    assert again[0] == pytest.approx(both[0], rel=1e-6)


# -------------------------------------------------------------------------------------------------------- direction


def test_a_direction_and_its_errors():
    """The values of a table, exactly; each weight is off by its class's sum, its quotient, and its product."""
    problem = problem_of(TABLE, [1, -1, 1], 4.0)
    w = direction(problem, np.array([1.0, 1.0, 1.0]), None)
    assert w.scales == (0.5, 1.0)
    assert w.gain == 2.0
    share = 1.01 * gamma(3 * 4 + 8)
    assert w.share == close(share)
    assert w.values.tolist() == [2.0 + 1.0 + 0.25, -0.5 - 2.0, 0.25 + 0.5]
    sizes = np.array([3.25, 2.5, 0.75])
    off = 1.1 * roundings(3) * sizes + share * 1.1 * sizes + U * sizes
    assert w.off == close(off)
    assert w.square == 0.5 * 3.25 + 2.5 + 0.5 * 0.75
    in_square = (share + gamma(4 + 2)) * w.square
    assert w.square_error == close(1.01 * (0.5 * off[0] + off[1] + 0.5 * off[2] + in_square))
    assert w.size == close(1.1 * 2.5)
    assert w.coefficients.tolist() == [[0.5, 0.0], [0.0, 1.0], [0.5, 0.0]]


def test_rows_without_weight_are_measured_too_where_float32_may_not_decide():
    problem = problem_of(TABLE, [1, -1, 1], 4.0)
    w = direction(problem, np.array([0.0, 1.0, 0.5]), None)
    assert w.scales == (1.0, 0.5)
    assert w.values.tolist() == [0.25 + 0.5, -1.0, 0.5]
    assert w.square == 0.25 + 0.5
    assert w.gain == 1.0
    assert np.isfinite(w.off).all()


def test_the_least_numbers_of_a_square():
    problem = problem_of(np.eye(2), [1, -1], 4.0)
    w = direction(problem, np.full(2, 2.0**-1070), None)
    assert w.square == 0.0
    assert w.square_error == LEAST * 2
    table = problem_of(2.0**600 * np.eye(2), [1, -1], 4.0)
    w = direction(table, np.full(2, 2.0**-1070), None)
    assert w.square_error >= LEAST * 2.0 * 2.0**-470


def test_where_float64_cannot_balance_the_classes():
    problem = problem_of(np.eye(2), [1, -1], 4.0)
    for a, lost in (
        ([1.0, 2.0**-900], math.inf),
        ([2.0**-900, 1.0], math.inf),
        ([0.0, 1.0], 0.0),
        ([1.0, 0.0], 0.0),
        ([5.0, 1.0], 0.0),
        ([1.0, -1.0], 0.0),
    ):
        w = direction(problem, np.array(a), None)
        assert (w.square, w.square_error, w.gain, w.share, w.scales) == (0.0, lost, 0.0, 0.0, (0.0, 0.0))
        assert w.values.tolist() == w.off.tolist() == [0.0, 0.0]
    w = direction(problem, np.array([1.0, math.nextafter(2.0**-900, 1.0)]), None)
    assert w.gain > 0.0
    assert direction(problem, np.array([4.0, 4.0]), None).gain == 8.0  # the edge of the box
    hard = problem_of(np.eye(3), [1, 1, -1], math.inf)
    assert direction(hard, np.full(3, 1e308), None).square_error == math.inf
    assert direction(hard, np.array([math.inf, 1.0, 1.0]), None).square_error == 0.0  # not in the box
    assert direction(hard, np.array([1e308, 1e308, 1.0]), None).square_error == math.inf


def test_a_negative_square_is_refused_beyond_its_error(monkeypatch):
    table = np.array([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match="not positive semidefinite"):
        measure(problem_of(table, [1, -1]), np.ones(2))
    of_a_rounding(monkeypatch, 0.0, 1.0)  # an error as large as the value
    assert measure(problem_of(table, [1, -1]), np.ones(2)).square == 0.0  # nearer to the truth than what was computed


def test_a_negative_square_at_the_very_edge_of_its_error_may_be_zero(monkeypatch):
    problem = problem_of([[0.0, 1.0], [1.0, 0.0]], [1, -1])
    monkeypatch.setattr(kernel_duality, "rounding", lambda terms: 0.0)
    start = 2.0 / (1.01 * 1.1 * 2.0 * 2.0)

    def error_of(absolute):
        of_a_rounding(monkeypatch, 0.0, absolute)
        try:
            return direction(problem, np.ones(2), None).square_error
        except ValueError:
            return 0.0

    errors = [error_of(start * (1.0 + k * 2.0**-53)) for k in range(-20, 21)]
    assert errors[0] == 0.0  # refused
    assert errors[-1] > 2.0
    assert min(error for error in errors if error) == 2.0  # |w|^2 = -2


def test_values_that_overflow_have_no_square():
    problem = problem_of(np.full((2, 2), 1e308) + np.diag([1e307, 1e307]), [1, -1], 1e10)
    w = direction(problem, np.full(2, 1e10), None)
    assert w.square_error == math.inf


# ------------------------------------------------------------------------------------------------------- both sides


def test_both_sides_of_a_table():
    problem = problem_of(4.0 * np.eye(2), [1, -1], 1.0)
    found = measure(problem, np.array([0.25, 0.125]))
    assert found.scales == (0.5, 1.0)
    assert found.values.tolist() == [0.5, -0.5]
    assert found.b == 0.0
    assert found.slack.tolist() == [0.5, 0.5]
    assert found.square == 0.125
    assert found.primal == 0.0625 + 1.0
    assert found.dual == 0.25 - 0.0625
    assert found.factors == (0.5, 1.0)
    given = measure(problem, np.array([0.25, 0.125]), b=3.0)
    assert given.slack.tolist() == [0.0, 3.5]
    assert given.primal == 0.0625 + 3.5
    paid = found.off.sum() + 2.0 * gamma(4) * (0.5 + 1.0)
    assert found.primal_error == close(paid + 0.51 * found.square_error + 2.0 * gamma(3 + 8) * 1.0625, rel=0.02)
    moved = given.off[1] + gamma(4) * (0.5 + 3.0 + 1.0)
    assert given.primal_error == close(moved + 0.51 * found.square_error + 2.0 * gamma(3 + 8) * 3.5625, rel=0.02)
    for table in (np.diag([1e308, 1e308, 1.0]), np.full((3, 3), 1e308)):  # values beyond float64: some, or all
        beyond = measure(problem_of(table, [1, -1, 1], 4.0), np.array([4.0, 4.0, 0.0]))
        assert (beyond.b, beyond.primal, beyond.lower) == (0.0, math.inf, 0.0)
    hard = measure(problem_of(4.0 * np.eye(2), [1, -1], math.inf), np.array([0.25, 0.125]))
    assert hard.primal == 0.25  # margin sqrt(2): 1 / (2 m^2)
    assert hard.dual == 0.25
    assert hard.factors == (1.0, 2.0)
