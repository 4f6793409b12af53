"""Sums of a kernel and the directions that they make, with the error that the analysis gives: no less, and no more.

Most numbers here are powers of two, so that sums are exact and one term of an error stands out.
"""

import math

import numpy as np
import pytest
from error_analysis import LEAST, U, close, gamma

from maxmargin.certificates import kernel_duality
from maxmargin.certificates.kernel_duality import (
    combined,
    direction,
    measure,
    mostly_in_float32,
)
from maxmargin.problems.kernels import KERNELS, KernelChoice, Rbf, rows_of
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin


def problem_of(X, signs, C=1.0, kernel="precomputed", gamma=1.0, coef0=0.0, degree=1):
    X, signs = np.asarray(X, dtype=float), np.asarray(signs, dtype=float)
    kernel = KernelChoice(kernel, gamma, coef0, degree).on(X)
    costs = np.broadcast_to(np.asarray(C, dtype=float), signs.shape).copy()
    return KernelMargin(X, signs, costs, HINGE, True, kernel, kernel.points(X))


# ------------------------------------------------------------------------------------------------- sums of the kernel


TABLE = np.array([[4.0, -1.0, 0.5], [-1.0, 2.0, 0.0], [0.5, 0.0, 1.0]])


def of_a_rounding(monkeypatch, relative, absolute):
    def rounding(self, A, B):
        return np.full(len(A.places), relative), np.full(len(A.places), absolute)

    for kind in KERNELS.values():
        monkeypatch.setattr(kind, "rounding", rounding)


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
    kernel = Rbf(1.0)
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
