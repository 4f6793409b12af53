"""Support vectors, slack, violations, distances and the canonical form, on every estimator that has a soft margin."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin import (
    HardMarginSVM,
    KernelPerceptron,
    KernelSVM,
    LinearSVM,
    LinearSVMCV,
    StochasticSVM,
    audit,
    load,
    save,
)
from maxmargin.estimators import base

random = np.random.default_rng(8)
X = random.normal(size=(50, 3))
Y = np.where(X @ [1.0, -2.0, 0.5] + 0.8 * random.normal(size=50) > 0.2, "yes", "no")
SIGNS = np.where(Y == "yes", 1.0, -1.0)
POLY = {"kernel": "poly", "gamma": 0.5, "coef0": 1.0, "degree": 2}
SOFT = [
    LinearSVM(2.0),
    LinearSVM(2.0, loss="squared_hinge", fit_intercept=False),
    LinearSVMCV([0.5, 2.0], cv=3),
    KernelSVM(2.0),
    KernelSVM(2.0, kernel="linear"),
    KernelSVM(2.0, **POLY, loss="huber_hinge", fit_intercept=False),
    StochasticSVM(2.0, max_iter=20),
    StochasticSVM(2.0, **POLY, max_iter=20),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", SOFT, ids=repr)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)], ids=["", "csr", "32"])
def test_every_soft_margin_tells_of_its_rows(estimator, form):
    table = form(X)
    svm = estimator.fit(table, Y)
    apart = table[svm.support_] - svm.support_vectors_
    assert abs(apart).max() == 0.0
    assert svm.support_vectors_.shape == (len(svm.support_), 3)
    functional = SIGNS * svm.decision_function(table)
    assert np.array_equal(svm.slack(table, Y), np.maximum(0.0, 1.0 - functional))
    inside, mistakes = svm.violations(table, Y)
    assert np.array_equal(inside, np.flatnonzero((functional < 1.0) & (functional >= 0.0)))
    assert np.array_equal(mistakes, np.flatnonzero(functional < 0.0))
    assert np.allclose(svm.distances(table) / svm.margin_, svm.decision_function(table))
    own = functional > 0.0  # rows that the plane separates, which has then a canonical form
    plane = svm.canonical_planes(table[np.flatnonzero(own)], Y[own])
    least = functional[own].min()
    assert plane.margin == pytest.approx(least * svm.margin_)
    assert plane.street == 2.0 * plane.margin
    assert plane.b == pytest.approx(float(svm.intercept_[0]) / least)
    again = pickle.loads(pickle.dumps(svm))
    if not hasattr(svm, "_support_rows"):  # its predictions need them
        assert abs(again.support_vectors_ - svm.support_vectors_).max() == 0.0
        return
    with pytest.raises(AttributeError, match=r", none in pickles and files: take X\[model.support_\]"):
        _ = again.support_vectors_


@pytest.mark.parametrize("estimator", [KernelSVM(2.0, kernel="linear"), KernelPerceptron("linear")])
def test_the_linear_kernel_has_a_plane_in_the_columns(estimator):
    labels = X @ [1.0, -2.0, 0.5] > 0.2
    for table in (X, sparse.csr_array(X)):
        svm = estimator.fit(table, labels)
        assert svm.coef_.shape == (1, 3)
        assert np.allclose(X @ svm.coef_[0] + svm.intercept_[0], svm.decision_function(table))
    three = KernelSVM(kernel="linear").fit(X, np.arange(50) % 3)
    assert three.coef_.shape == (3, 3)


def test_no_other_kernel_has_one():
    for svm in (KernelSVM(), StochasticSVM(kernel="rbf"), KernelSVM(kernel="linear")):
        assert not hasattr(svm, "coef_")
    svm = KernelSVM().fit(X, Y)
    with pytest.raises(AttributeError, match=r"there is no coef_ but with a linear kernel.* a rbf one"):
        _ = svm.coef_


def test_what_is_not_kept_is_said(tmp_path, monkeypatch):
    svm = LinearSVM().fit(X, Y)
    save(svm, tmp_path / "model", X, Y)
    again = load(tmp_path / "model")
    with pytest.raises(AttributeError, match=r"a LinearSVM keeps 4,194,304 numbers of them at most"):
        _ = again.support_vectors_
    monkeypatch.setattr(base, "MOST_NUMBERS", 3 * len(svm.support_) - 1)
    assert not hasattr(svm.fit(X, Y), "support_vectors_")
    monkeypatch.setattr(base, "MOST_NUMBERS", 3 * len(svm.support_))
    assert hasattr(svm.fit(X, Y), "support_vectors_")
    assert not hasattr(LinearSVM(), "support_vectors_")


def test_they_are_those_of_the_last_fit():
    apart, labels = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [4.0, 1.0]]), [0, 0, 1, 1]
    svm = LinearSVM(math.inf).fit(apart, labels)
    assert np.array_equal(svm.support_vectors_, HardMarginSVM().fit(apart, labels).support_vectors_)
    svm.set_params(C=0.01).fit(apart, labels)
    assert np.array_equal(svm.support_vectors_, apart[svm.support_])
    stream = StochasticSVM(kernel="rbf", max_iter=3, tol=0.5).fit(X, Y)
    stream.set_params(kernel="linear").fit(X, Y)
    assert np.array_equal(stream.support_vectors_, X[stream.support_])
    stream.partial_fit(X, Y)
    assert not hasattr(stream, "support_vectors_")


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", ["squared_hinge", "modified_huber"])
def test_an_audit_measures_by_the_model_s_own_loss(loss, fit_intercept):
    svm = KernelSVM(2.0, **POLY, loss=loss, fit_intercept=fit_intercept, tol=1e-6).fit(X, Y)
    [part] = audit(svm, X, Y).parts
    assert (part.certificate.loss, part.certificate.fit_intercept) == (loss, fit_intercept)
    assert part.certificate.primal == pytest.approx(svm.certificate_.primal, rel=2e-3)
    assert part.objective == pytest.approx(svm.certificate_.primal, rel=1e-5)
