"""scikit-learn's own checks on every estimator; `StochasticSVM` has its own file."""

import numpy as np
import pytest
from scikit_learn_checks import each_check
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import HardMarginSVM, KernelSVM, LinearSVM, LinearSVMCV, MarginPerceptron, Perceptron, Winnow

ESTIMATORS = [
    HardMarginSVM(on_inseparable="return"),
    HardMarginSVM(on_inseparable="return", multi_class="ovo", fit_intercept=False),
    HardMarginSVM("l1", on_inseparable="return"),
    KernelSVM(),
    KernelSVM(multi_class="ovr", kernel="poly", degree=2, coef0=1.0),
    KernelSVM(loss="squared_hinge", fit_intercept=False),
    LinearSVM(),
    LinearSVM(loss="squared_hinge"),
    LinearSVM(multi_class="ovo"),
    LinearSVMCV([0.1, 10.0], cv=2),
    Perceptron(),
    Perceptron(multi_class="ovo", order="shuffled", average=True),
    MarginPerceptron(max_updates=100_000),
    Winnow(max_updates=100_000),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # as scikit-learn tests its own
@each_check(ESTIMATORS)
def test_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_in_a_pipeline_and_a_search(estimator):
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    y = np.where(X @ [1.0, 2.0, -1.0] > 0.2, "yes", "no")
    search = GridSearchCV(
        make_pipeline(StandardScaler(), clone(estimator)), {f"{type(estimator).__name__.lower()}__verbose": [0]}, cv=3
    )
    assert search.fit(X, y).best_score_ > 0.8


def test_sample_weight_is_routed():
    random = np.random.default_rng(1)
    X = random.normal(size=(40, 2))
    y = np.where(X @ [1.0, 1.0] > 0.1, 1, 0)
    with config_context(enable_metadata_routing=True):
        svm = HardMarginSVM(on_inseparable="return").set_fit_request(sample_weight=True)
        svm = svm.set_score_request(sample_weight=True)
        search = GridSearchCV(svm, {"tol": [1e-9]}, cv=2).fit(X, y, sample_weight=np.ones(40))
    assert search.best_score_ > 0.8
