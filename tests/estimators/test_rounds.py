"""The rounds of a fit: bounds that are true at every round, and that end where the fit ended."""

import math

import numpy as np
import pytest

from maxmargin import HardMarginSVM, KernelPerceptron, KernelSVM, LinearSVM, Perceptron, StochasticSVM
from maxmargin.data import synthetic
from maxmargin.estimators.rounds import rounds_of
from maxmargin.run.observation import NOBODY, Recorder, current_observation, recorded

SOFT = [LinearSVM(tol=1e-6), LinearSVM(loss="squared_hinge"), KernelSVM(), StochasticSVM(max_iter=20)]
HARD = [HardMarginSVM(), HardMarginSVM(norm="l1"), Perceptron(), KernelPerceptron(), KernelSVM(C=math.inf)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", SOFT, ids=str)
def test_the_optimum_of_a_soft_margin_is_always_between(estimator):
    X, y = synthetic.overlapping(40, seed=3)
    found = rounds_of(estimator, X, y)
    best = estimator.fit(X, y).certificate_
    assert found.quantity == "objective"
    assert np.all(found.lower <= best.primal * (1.0 + 1e-9))
    assert np.all(found.upper >= best.dual * (1.0 - 1e-9))
    assert found.gap[-1] <= best.relative_gap * (1.0 + 1e-6)
    assert np.all(np.diff(found.gap) <= 0.0)
    assert np.all(np.diff(found.seconds) >= 0.0)


@pytest.mark.parametrize("estimator", HARD, ids=str)
def test_the_best_margin_is_always_between(estimator):
    unit = 1.0 if hasattr(estimator, "kernel") else 1e-200  # which the solvers do not see as it is
    X, y, _ = synthetic.street(30, seed=10)
    found = rounds_of(estimator, X * unit, y)
    best = estimator.fit(X * unit, y).certificate_
    assert found.quantity == "margin"
    assert np.all(found.lower <= best.margin_upper * (1.0 + 1e-9))
    assert np.all(found.upper >= best.margin_lower * (1.0 - 1e-9))
    assert found.lower[-1] >= best.margin_lower * (1.0 - 1e-9)
    assert found.upper[-1] <= best.margin_upper * (1.0 + 1e-9)


def test_the_estimator_itself_is_not_touched():
    X, y, _ = synthetic.street(30)
    estimator = LinearSVM()
    rounds_of(estimator, X, y)
    assert not hasattr(estimator, "coef_")


def test_many_classes_are_refused():
    with pytest.raises(ValueError, match="3 two-class problems"):
        rounds_of(LinearSVM(), *synthetic.flowers())


def test_where_no_plane_exists_the_rounds_are_still_true():
    X, y = synthetic.xor()
    found = rounds_of(HardMarginSVM(), X, y)
    assert found.lower.max() == 0.0


def test_a_recorder_keeps_few_and_always_the_last():
    X, y = synthetic.overlapping(200, seed=1)
    with recorded(limit=3) as run:
        LinearSVM(tol=1e-8).fit(X, y)
    assert current_observation() is NOBODY
    assert isinstance(run, Recorder)
    assert len(run.moments) <= 4
    assert run.seen > len(run.moments)
    sweeps = [moment.iterate.sweeps for moment in run.moments]
    assert sweeps == sorted(sweeps)
