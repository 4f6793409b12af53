"""What is measured of many small problems at once is what `duality` measures of each, with no smaller an error."""

import math

import numpy as np
import pytest

from maxmargin.certificates import exact_soft_margin
from maxmargin.certificates.duality import dual_value, primal_value, soft_conditions
from maxmargin.certificates.many_duality import (
    DualValues,
    PrimalValues,
    are_negligible,
    dual_values,
    many_conditions,
    primal_values,
)
from maxmargin.problems.losses import HINGE, HUBER_HINGE, MODIFIED_HUBER, SQUARED_HINGE, Loss
from maxmargin.problems.many_margins import many_margins
from maxmargin.problems.statement import SoftMargin, TwoClasses, prices

STEEP = Loss("steep", box=3.0, bend=0.0)  # its bounds are rounded down
SIZES = [(2, 2), (33, 2), (7, 2), (40, 2), (3, 2)]
WIDE = [(41, 40), (60, 40)]


def drawn(sizes, seed=0, weighted=True):
    """Problems whose rows are numbered from 100 on, and a plane and weights for each: nowhere near an optimum."""
    random = np.random.default_rng(seed)
    problems, first = [], 100
    for n, d in sizes:
        X, signs = random.normal(size=(n, d)) * random.choice([1e-3, 1.0, 30.0]), np.where(np.arange(n) % 2, 1.0, -1.0)
        weights = random.uniform(0.1, 4.0, n) if weighted else None
        problems.append(TwoClasses(X, signs, weights, np.arange(first, first + n), 1, 0, float(np.abs(X).max())))
        first += n
    d = sizes[0][1]
    w, b = random.normal(size=(len(sizes), d)), random.normal(size=len(sizes))
    return problems, w, b, random


def weights_within(many, random):
    """Dual variables, some of them at an end of their box."""
    share = random.choice([0.0, 1.0, -1.0], size=len(many.signs), p=[0.3, 0.3, 0.4])
    upper = many.upper if many.loss.is_bounded else 3.0 * many.costs
    return upper * np.where(share < 0.0, random.uniform(size=len(share)), share)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("loss", [HINGE, STEEP, SQUARED_HINGE, HUBER_HINGE, MODIFIED_HUBER])
@pytest.mark.parametrize("sizes", [SIZES, WIDE, [(5, 3)]])
def test_each_problem_is_measured_as_by_itself(sizes, loss, bias):
    problems, w, b, random = drawn(sizes)
    b = b if bias else np.zeros(len(sizes))
    many = many_margins(problems, 0.7, loss, bias)
    a = weights_within(many, random)
    primal, dual = primal_values(many, w, b), dual_values(many, a)
    for k, two in enumerate(problems):
        own = many.spans[k]
        costs = prices(0.7, two)
        problem = SoftMargin(two.X, two.signs, costs, loss, bias)
        alone = primal_value(problem, w[k], b[k], matters=1e-6)
        assert abs(alone.value - primal.value[k]) <= min(alone.error, primal.error[k])
        assert alone.error <= primal.error[k] <= 1e-11 * primal.value[k]
        assert exact_soft_margin.primal_at_most(two.X, two.signs, costs, w[k], b[k], loss, primal.upper[k])
        single = dual_value(problem, a[own], matters=1e-6)
        if single.value == 0.0:
            assert dual.lower[k] == 0.0
            continue
        assert abs(single.value - dual.value[k]) <= min(single.error, dual.error[k])
        assert single.error <= dual.error[k] <= 1e-9 * dual.value[k]
        assert exact_soft_margin.dual_at_least(two.X, two.signs, costs, a[own], bias, loss, dual.lower[k])
        alike = soft_conditions(problem, (w[k], b[k]), a[own], alone, single, primal.values[own])
        found = many_conditions(many, w, a, primal, dual)[k]
        for name in ("stationarity", "primal", "dual", "slackness", "bias"):
            assert getattr(found, name).value == pytest.approx(getattr(alike, name).value, rel=1e-9, abs=1e-12)
        assert found.slackness.row == two.rows[alike.slackness.row]


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
@pytest.mark.parametrize("forged", [-1e-300, math.nan, math.inf, "beyond"])
def test_weights_outside_their_box_prove_nothing_and_harm_no_neighbour(forged, loss):
    problems, _, _, random = drawn([(8, 2)] * 3)
    many = many_margins(problems, 1.0, loss, True)
    a = weights_within(many, random)
    honest = dual_values(many, a)
    place = many.edges[1] + 3
    a[place] = np.nextafter(many.upper[place], np.inf) if forged == "beyond" else forged
    found = dual_values(many, a)
    assert honest.lower[1] > 0.0
    assert found.lower[1] == 0.0
    assert found.lower[[0, 2]].tolist() == honest.lower[[0, 2]].tolist()


def test_weights_of_one_class_alone_prove_nothing_beside_a_bias():
    problems, *_ = drawn([(8, 2)] * 2)
    a = np.where(np.concatenate([two.signs for two in problems]) > 0.0, 0.1, 0.0)
    assert dual_values(many_margins(problems, 1.0, HINGE, True), a).lower.tolist() == [0.0, 0.0]
    assert np.all(dual_values(many_margins(problems, 1.0, HINGE, False), a).lower > 0.0)


@pytest.mark.parametrize("number", [math.nan, math.inf, 1e200])
def test_a_plane_beyond_float64_is_no_bound(number):
    problems, w, b, _ = drawn([(8, 2)] * 3)
    many = many_margins(problems, 1.0, HINGE, True)
    honest = primal_values(many, w, b)
    w[1, 0] = number
    found = primal_values(many, w, b)
    assert not found.upper[1] < math.inf
    assert found.upper[[0, 2]].tolist() == honest.upper[[0, 2]].tolist()


def test_where_all_is_paid_by_rounding_alone():
    """Rows on their edge: what rounding may have moved them by is counted."""
    X, signs = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    two = TwoClasses(X, signs, None, np.arange(2), 1, 0, 1.0)
    found = primal_values(many_margins([two], 1e12, HINGE, True), np.array([[1.0]]), np.zeros(1))
    assert found.value.tolist() == [0.5]
    assert found.error[0] > 1e12 * 2**-52


def test_an_error_of_nothing_is_negligible_beside_nothing():
    size, nothing = np.array([1.0, 1.0, 0.0]), np.zeros(0)
    for error, are in (([0.0, 1e-30, 0.0], [True, True, True]), ([0.0, 1.0, 1e-30], [True, False, False])):
        primal = PrimalValues(size, np.array(error), nothing, nothing)
        dual = DualValues(size, np.zeros(3), nothing, nothing)
        assert are_negligible(primal, dual, 1e-3).tolist() == are


def test_without_weights_no_row_tells_the_bias():
    problems, w, b, _ = drawn([(8, 2)] * 2)
    many = many_margins(problems, 1.0, SQUARED_HINGE, True)
    nothing = dual_values(many, np.zeros(16))
    nothing = nothing._replace(feasible=np.zeros(16), w=np.zeros((2, 2)))
    found = many_conditions(many, w, np.zeros(16), primal_values(many, w, b), nothing)
    assert [kkt.bias.value for kkt in found] == [0.0, 0.0]
    assert [kkt.dual.value for kkt in found] == [0.0, 0.0]


@pytest.mark.parametrize("n", [2, 40])
def test_the_error_of_the_dual_value_is_that_of_its_roundings_and_no_more(n):
    """Equal weights, and rows at 1 and -1: |w(a)| = sum a = 1, and t = 1. The error of the square counts by half."""
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    two = TwoClasses(signs[:, None].copy(), signs, None, np.arange(n), 1, 0, 1.0)
    many = many_margins([two], 1.0 / n, HINGE, True)
    found, u = dual_values(many, np.full(n, 1.0 / n)), 2.0**-53
    share = 1.01 * (4 * n + 6 * 32 + 16) * u
    off, relative = share + 4 * u, 2.0 * (1 + 2 * 32 + 9) * u
    assert found.value.tolist() == [0.5]
    expected = 4.0 * (share + 4 * u) + off + 2.0 * relative
    assert found.error[0] == pytest.approx(expected, rel=1e-3, abs=0.0)
