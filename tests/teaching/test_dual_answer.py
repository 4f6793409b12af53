"""The dual by itself: the same labels, and support vectors that agree about b."""

import math

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin import HardMarginSVM, KernelSVM, LinearSVM, Perceptron, from_dual
from maxmargin.data import synthetic

ESTIMATORS = [
    LinearSVM(tol=1e-10),
    LinearSVM(tol=1e-10, loss="squared_hinge"),
    LinearSVM(tol=1e-10, loss="huber_hinge", C=0.3),
    LinearSVM(tol=1e-10, fit_intercept=False),
    LinearSVM(tol=1e-10, class_weight={-1: 1.0, 1: 3.0}),
    KernelSVM(tol=1e-8, gamma=0.5),
    KernelSVM(tol=1e-8, kernel="poly", gamma=0.5, coef0=1.0, degree=2),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_the_dual_predicts_what_the_plane_predicts(estimator):
    X, y = synthetic.overlapping(60, seed=3)
    svm = estimator.fit(X, y)
    answer = from_dual(svm, X, y)
    assert answer.values == pytest.approx(svm.decision_function(X), abs=1e-3)
    assert answer.labels.tolist() == svm.predict(X).tolist()
    assert answer.agrees == len(y)
    assert answer.b == pytest.approx(float(svm.intercept_[0]), abs=1e-3)
    assert answer.spread <= 1e-3
    if getattr(estimator, "fit_intercept", True):
        assert len(answer.rows) >= 2
        assert set(answer.rows) <= set(svm.support_)
    else:
        assert answer.b == 0.0
        assert not len(answer.rows)


@pytest.mark.parametrize("estimator", [HardMarginSVM(), KernelSVM(C=math.inf, kernel="linear")], ids=str)
def test_the_hard_margin(estimator):
    X, y, _ = synthetic.street(30, seed=3)
    svm = estimator.fit(X, y)
    answer = from_dual(svm, X, y)
    assert answer.rows.tolist() == svm.support_.tolist()
    assert answer.biases == pytest.approx(np.full(3, svm.intercept_[0]), abs=1e-5)
    assert answer.agrees == len(y)


def test_rows_that_were_not_learnt_from():
    X, y = synthetic.overlapping(60, seed=3)
    svm = KernelSVM(gamma=0.5, tol=1e-8).fit(X, y)
    others = synthetic.overlapping(25, seed=9)[0]
    answer = from_dual(svm, X, y, others)
    assert answer.values == pytest.approx(svm.decision_function(others), abs=1e-4)
    assert answer.agrees == len(answer.labels) == 25


def test_sparse_rows_weights_and_a_table():
    X, y = synthetic.overlapping(60, seed=3)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 60)
    svm = LinearSVM(tol=1e-10).fit(sparse.csr_array(X), y, sample_weight=weights)
    answer = from_dual(svm, sparse.csr_array(X), y, sample_weight=weights)
    assert answer.values == pytest.approx(svm.decision_function(X), abs=1e-3)
    assert answer.spread <= 1e-3
    table = X @ X.T
    known = KernelSVM(kernel="precomputed", tol=1e-8).fit(table, y)
    assert from_dual(known, table, y).agrees == 60


def test_the_spread_is_what_the_certificate_reports():
    """Of a fit that was stopped early, the support vectors do not agree."""
    X, y = synthetic.overlapping(60, seed=3)
    rough, fine = (from_dual(LinearSVM(tol=tol).fit(X, y), X, y) for tol in (0.3, 1e-10))
    assert fine.spread <= 1e-4
    assert rough.spread >= fine.spread


def test_multipliers_that_all_are_at_their_price_tell_no_bias():
    X, y = np.array([[-1.0], [-1.5], [1.0], [1.5]]), np.array([-1, -1, 1, 1])
    svm = LinearSVM(C=0.01, tol=1e-9).fit(X, y)
    answer = from_dual(svm, X, y)
    assert not len(answer.rows)
    assert answer.b == svm.intercept_[0]
    assert "no support vector is free" in str(answer)


def test_labels_of_any_kind():
    X, y = synthetic.overlapping(60, seed=3)
    words = np.where(y > 0, "right", "left")
    svm = LinearSVM(tol=1e-9).fit(X, words)
    assert from_dual(svm, X, words).labels.tolist() == svm.predict(X).tolist()


def test_what_has_no_dual_is_a_sentence():
    X, y = synthetic.overlapping(20, seed=3)
    with pytest.raises(ValueError, match="has no multipliers"):
        from_dual(LinearSVM(), X, y)
    with pytest.raises(ValueError, match="make no plane"):
        from_dual(HardMarginSVM(on_inseparable="return").fit(X, y), X, y)
    flowers = synthetic.flowers()
    with pytest.raises(ValueError, match="there are 3 classes"):
        from_dual(LinearSVM().fit(*flowers), *flowers)
    X, y, _ = synthetic.street(20, seed=1)
    with pytest.raises(ValueError, match="l2"):
        from_dual(HardMarginSVM("l1").fit(X, y), X, y)
    with pytest.raises(ValueError, match="has no multipliers"):
        from_dual(Perceptron().fit(X, y), X, y)
