"""The best bias, the slack and the loss, against looking everywhere."""

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from maxmargin.data.checking import encode_labels
from maxmargin.problems.losses import HINGE, LOSSES, SQUARED_HINGE
from maxmargin.problems.statement import SoftMargin, Strategy, best_bias, slack, total_loss, two_class_problems

each_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=lambda loss: loss.name)


def problem_of(values, signs, costs, loss, fit_intercept=True):
    """A problem with one column, which holds the values: w = 1."""
    X = np.asarray(values, dtype=np.float64)[:, None]
    return SoftMargin(X, np.asarray(signs, dtype=np.float64), np.asarray(costs, dtype=np.float64), loss, fit_intercept)


def loss_at(problem, b):
    return total_loss(problem, slack(problem, problem.X[:, 0], b))


@st.composite
def one_column(draw, loss):
    """Few different values and costs, so that ties and flat pieces are frequent; sometimes one class only."""
    n = draw(st.integers(1, 9))
    values = draw(
        st.one_of(
            hnp.arrays(np.float64, n, elements=st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0])),
            hnp.arrays(np.float64, n, elements=st.floats(-1e3, 1e3)),
        )
    )
    signs = draw(hnp.arrays(np.float64, n, elements=st.sampled_from([-1.0, 1.0])))
    costs = draw(st.one_of(st.just(np.full(n, 0.1)), hnp.arrays(np.float64, n, elements=st.sampled_from([0.1, 1, 7]))))
    return problem_of(values, signs, costs, loss)


@each_loss
@given(data=st.data())
def test_no_bias_is_better(loss, data):
    problem = data.draw(one_column(loss))
    values = problem.X[:, 0]
    b = best_bias(problem, values)
    least = oracles.soft_least_loss(problem.signs - values, problem.signs, problem.costs, loss)
    scale = float(np.sum(problem.costs)) * max(1.0, float(np.abs(values).max())) ** 2
    assert loss_at(problem, b) <= least + 1e-13 * scale
    for other in data.draw(st.lists(st.floats(-1e3, 1e3), max_size=5)):
        assert loss_at(problem, b) <= loss_at(problem, other) + 1e-13 * scale


@each_loss
def test_the_middle_of_a_flat_piece_keeps_its_distance(loss):
    problem = problem_of([3.0, -3.0], [1, -1], [1.0, 1.0], loss)
    assert loss_at(problem, best_bias(problem, problem.X[:, 0])) == 0.0


def test_middle_of_the_interval_for_equal_costs_and_for_others():
    for costs in ([1.0, 1.0], [2.0, 2.0]):
        assert best_bias(problem_of([1.0, -3.0], [1, -1], costs, HINGE), np.array([1.0, -3.0])) == 1.0
    weighted = problem_of([0.0, 4.0, -4.0], [1, -1, -1], [2.0, 2.0, 1.0], HINGE)
    assert best_bias(weighted, weighted.X[:, 0]) == -2.0  # between t = -5 and t = 1


@each_loss
def test_a_cost_of_two_is_two_rows(loss):
    values, signs = np.array([0.3, -0.2, 1.5, -1.1]), np.array([1.0, -1.0, -1.0, 1.0])
    twice = problem_of(np.append(values, values[2]), np.append(signs, signs[2]), np.ones(5), loss)
    heavy = problem_of(values, signs, [1.0, 1.0, 2.0, 1.0], loss)
    one, other = best_bias(twice, twice.X[:, 0]), best_bias(heavy, heavy.X[:, 0])
    assert loss_at(heavy, one) == pytest.approx(loss_at(heavy, other), rel=1e-12)


@each_loss
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_one_class_pays_nothing(loss, sign):
    problem = problem_of([0.0, 2.0, 5.0], [sign] * 3, [1.0, 2.0, 3.0], loss)
    assert loss_at(problem, best_bias(problem, problem.X[:, 0])) == 0.0


@each_loss
def test_no_bias_is_zero(loss):
    assert best_bias(problem_of([5.0, 4.0], [1, -1], [1, 1], loss, fit_intercept=False), np.array([5.0, 4.0])) == 0.0


def test_many_rows_and_outliers():
    random = np.random.default_rng(0)
    values = random.standard_cauchy(10_000) * 1e3
    signs = np.where(random.random(10_000) < 0.01, 1.0, -1.0)
    problem = problem_of(values, signs, random.uniform(0.1, 10.0, 10_000), SQUARED_HINGE)
    b = best_bias(problem, values)
    pays = problem.costs * slack(problem, values, b)
    assert pays @ signs == pytest.approx(0.0, abs=1e-12 * pays.sum())


@each_loss
def test_box_and_curvature(loss):
    problem = problem_of([0.0, 1.0], [1, -1], [2.0, 4.0], loss)
    assert problem.upper.tolist() == [2.0 * loss.box, 4.0 * loss.box]
    assert problem.diagonal.tolist() == [loss.bend / 2.0, loss.bend / 4.0]
    paid = {"hinge": 14.0, "squared_hinge": 38.0, "huber_hinge": 14.0 - 6.0 * 0.25, "modified_huber": 2.0 + 4.0 * 8.0}
    assert total_loss(problem, np.array([1.0, 3.0])) == paid[loss.name]


def test_a_pair_of_classes_knows_its_own_largest_number():
    """Not that of the table: it may be in a row of another class."""
    X = np.array([[1.0, -2.0], [0.5, 1.0], [7.0, 0.0], [3.0, 0.0]])
    pairs = two_class_problems(X, encode_labels(np.array([0, 1, 2, 2])), Strategy.ONE_VERSUS_ONE, None, 7.0)
    assert [pair.largest for pair in pairs] == [2.0, 7.0, 7.0]
