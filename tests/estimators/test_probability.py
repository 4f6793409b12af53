"""Scores as probabilities: the two formulas wherever they can be written down, and their limits where they cannot."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs

from maxmargin import KernelPerceptron, KernelSVM, LinearSVM, StochasticSVM, logistic, symmetric_logistic
from maxmargin.estimators.probability import Calibration

scores = st.floats(allow_nan=False)


@given(scores)
def test_they_are_the_formulas(f):
    if abs(f) < 700:
        assert logistic(f) == pytest.approx(1 / (1 + math.exp(-f)), rel=1e-14)
        assert symmetric_logistic(f) == pytest.approx((1 - math.exp(-f)) / (1 + math.exp(-f)), rel=1e-12, abs=1e-15)
    assert 0.0 <= logistic(f) <= 1.0
    assert -1.0 <= symmetric_logistic(f) <= 1.0


@given(scores)
def test_they_are_symmetric(f):
    assert logistic(f) + logistic(-f) == pytest.approx(1.0, rel=1e-15)
    assert symmetric_logistic(-f) == -symmetric_logistic(f)
    assert symmetric_logistic(f) == pytest.approx(2 * logistic(f) - 1, abs=1e-15)


@given(st.floats(-1e-3, 1e-3))
def test_small_scores_keep_their_digits(f):
    assert symmetric_logistic(f) == pytest.approx(f / 2 - f**3 / 24, rel=1e-12, abs=1e-320)


@pytest.mark.parametrize("function", [logistic, symmetric_logistic])
def test_numbers_and_arrays(function):
    assert isinstance(function(1), float)
    assert isinstance(function(np.float32(1)), float)
    assert function([[1, 2], [3, 4]]).shape == (2, 2)
    assert function(np.ones(3, dtype=np.float32)).dtype == np.float32
    assert math.isnan(function(math.nan))
    given_array = np.array([-1.0, 1.0])
    function(given_array)
    assert given_array.tolist() == [-1.0, 1.0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "estimator",
    [LinearSVM(), StochasticSVM(average=True), KernelPerceptron(max_iter=50), KernelSVM()],
    ids=lambda estimator: type(estimator).__name__,
)
def test_scores_are_calibrated_by_scikit_learn(estimator, n_classes):
    X, y = make_blobs(240, centers=n_classes, n_features=3, cluster_std=3.0, random_state=1)
    model = CalibratedClassifierCV(estimator, ensemble=False).fit(X, y)
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (240, n_classes)
    assert np.allclose(probabilities.sum(axis=1), 1.0)
    assert model.score(X, y) > 0.75
    sure = probabilities.max(axis=1) > 0.8
    assert abs(probabilities[sure].max(axis=1).mean() - np.mean((model.predict(X) == y)[sure])) < 0.15


def test_a_curve_steeper_than_float64_is_no_warning():
    steep = Calibration(2, [1e308], [0.0])
    with warnings.catch_warnings(action="error"):
        assert steep.probabilities([-100.0, 0.0, 100.0]).tolist() == [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
