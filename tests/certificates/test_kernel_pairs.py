"""Many margins measured together: the same numbers as of each by itself, and bounds that hold in long decimals."""

import dataclasses
import math
from fractions import Fraction

import kernel_cases
import numpy as np
import pytest
from kernel_oracle import sides, some_problem

from maxmargin import KernelSVM
from maxmargin.certificates.kernel_duality import measure
from maxmargin.certificates.kernel_margin import kernel_conditions
from maxmargin.certificates.kernel_pairs import ManyRows, measure_together
from maxmargin.data.table import is_sparse
from maxmargin.problems.kernels import KernelChoice, rows_of
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin, best_bias

FIGURES = ("stationarity", "primal", "dual", "slackness", "bias")


each_kernel = pytest.mark.parametrize("name", ["rbf", "poly", "linear"])


def nasty_problems(name, count):
    """Those of the hinge, on dense rows and with finite costs."""
    random, found = np.random.default_rng(5), []
    while len(found) < count:
        problem, a = some_problem(random, name)
        if not (problem.is_hard or is_sparse(problem.X)):
            found.append((problem, a))
    return found


@each_kernel
def test_bounds_hold_in_long_decimals(name):
    slip, sharp, count = 1 + Fraction(1, 10**45), 0, 500 if name == "rbf" else 250
    for problem, a in nasty_problems(name, count):
        (judged,) = measure_together(ManyRows(problem.kernel, problem.points), [problem], [a])
        if judged is None:
            continue
        found = judged.measured
        primal, dual, square, values = sides(problem, a, found.b)
        assert abs(Fraction(found.primal) - primal) <= Fraction(found.primal_error) * slip
        assert Fraction(found.upper) >= primal
        assert Fraction(found.lower) <= dual * slip
        assert abs(Fraction(found.square) - square) <= Fraction(found.square_error) * slip
        if math.isfinite(found.dual_error):
            assert abs(Fraction(found.dual) - dual) <= 2 * Fraction(found.dual_error) * slip
        for value, real, off in zip(found.values, values, found.off, strict=True):
            assert abs(Fraction(float(value)) - real) <= Fraction(float(off)) * slip
        sharp += found.primal_error <= 1e-6 * found.primal
    assert sharp > 0.4 * count  # and say something


def many_problems(weighted=False, d=3, name="rbf"):
    """Pairs of four classes of one table, with weights that are any numbers in their boxes."""
    random = np.random.default_rng(1)
    X, y = random.normal(size=(400, d)) + 0.3, random.integers(0, 4, 400)
    kernel = KernelChoice(name, 0.4, 0.5, 3).on(X)
    points, problems, weights = kernel.points(X), [], []
    for k, j in ((0, 1), (0, 2), (1, 3), (2, 3)):
        rows = np.flatnonzero((y == k) | (y == j))
        costs = random.uniform(0.5, 4.0, len(rows)) if weighted else np.full(len(rows), 2.0)
        signs = np.where(y[rows] == k, 1.0, -1.0)
        problems.append(KernelMargin(X[rows], signs, costs, HINGE, True, kernel, rows_of(points, rows)))
        weights.append(costs * random.choice([0.0, 0.0, 0.3, 0.9, 1.0], size=len(rows)))
    return ManyRows(kernel, points), problems, weights


@each_kernel
@pytest.mark.parametrize("weighted", [False, True])
def test_each_is_what_it_is_by_itself(weighted, name):
    table, problems, weights = many_problems(weighted, name=name)
    for problem, a, judged in zip(problems, weights, measure_together(table, problems, weights), strict=True):
        found = judged.measured
        one = measure(problem, a, b=found.b)
        assert np.all(np.abs(found.values - one.values) <= found.off + one.off)  # some of them in float32
        assert found.b == best_bias(problem, found.values)
        for name in ("square", "primal", "dual"):
            error = getattr(found, f"{name}_error")
            assert abs(getattr(found, name) - getattr(one, name)) <= error
            assert getattr(one, f"{name}_error") <= error <= 30.0 * getattr(one, f"{name}_error")
        assert one.primal + one.primal_error <= found.upper
        assert found.lower <= one.dual - one.dual_error
        assert found.factors == pytest.approx(one.factors, rel=1e-12)
        assert found.scales == pytest.approx(one.scales, rel=1e-12)
        assert found.slack == pytest.approx(one.slack, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_conditions_are_those_of_each(weighted):
    table, problems, weights = many_problems(weighted)
    for problem, a, judged in zip(problems, weights, measure_together(table, problems, weights), strict=True):
        own = kernel_conditions(problem, a, judged.measured)
        for figure in FIGURES:
            assert getattr(judged.kkt, figure).value == pytest.approx(getattr(own, figure).value, rel=1e-9, abs=1e-15)
            assert getattr(judged.kkt, figure).row == getattr(own, figure).row
    assert any(judged.kkt.bias.value > 0.0 for judged in measure_together(table, problems, weights))


def beyond(a, problem):
    return np.where(np.arange(len(a)) == 3, np.nextafter(problem.costs, np.inf), a)


def below(a, problem):
    return np.where(np.arange(len(a)) == 3, -5e-324, a)


def unknown(a, problem):
    return np.where(np.arange(len(a)) == 3, np.nan, a)


def one_sided(a, problem):
    return np.where(problem.signs > 0.0, a, 0.0)


def nothing(a, problem):
    return np.zeros(len(a))


@pytest.mark.parametrize("spoil", [beyond, below, unknown, one_sided, nothing])
@pytest.mark.parametrize("p", [0, 2, 3])
def test_what_is_not_smooth_is_not_measured_and_the_others_are(spoil, p):
    table, problems, weights = many_problems()
    right = measure_together(table, problems, weights)
    spoilt = [spoil(a, problems[q]) if q == p else a for q, a in enumerate(weights)]
    for q, (judged, before) in enumerate(zip(measure_together(table, problems, spoilt), right, strict=True)):
        assert (judged is None) == (q == p)
        if judged is not None:
            assert judged.measured.upper == pytest.approx(before.measured.upper, rel=1e-12)


def test_a_hard_margin_is_not_measured():
    table, problems, weights = many_problems()
    problems[1] = dataclasses.replace(problems[1], costs=np.full(problems[1].n_rows, math.inf))
    assert [judged is None for judged in measure_together(table, problems, weights)] == [False, True, False, False]


def test_a_kernel_of_which_too_little_is_known_is_not_measured():
    table, problems, weights = many_problems(name="linear")
    table.reach = None
    assert not any(measure_together(table, problems, weights))


def test_rows_that_float64_cannot_compare_are_not_measured():
    table, problems, weights = many_problems()
    table.relative[problems[0].points.places[0]] = 0.06
    measured = measure_together(table, problems, weights)
    assert measured[0] is None
    assert any(judged is not None for judged in measured)


@each_kernel
@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_every_certificate_of_a_fit_is_confirmed(C, multi_class, name):
    X, y = kernel_cases.many_rings()
    certificate = KernelSVM(C=C, kernel=name, multi_class=multi_class, tol=1e-5).fit(X, y).certificate_
    assert certificate.is_optimal
    assert certificate.verify(X, y), str(certificate.verify(X, y))
    first, second, *others = certificate.parts
    forged = dataclasses.replace(certificate, parts=(first, dataclasses.replace(second, primal=second.dual), *others))
    assert not forged.verify(X, y)
