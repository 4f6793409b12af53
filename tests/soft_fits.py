"""What the tests of `LinearSVM` share: data that overlap, and what a proven fit is."""

import numpy as np
import pytest

from maxmargin.run.control import Status

LOSSES = ["hinge", "squared_hinge"]
each_loss = pytest.mark.parametrize("loss", LOSSES)
with_and_without_bias = pytest.mark.parametrize("bias", [True, False])


def mixed(n=120, d=4, seed=0, noise=1.0):
    """Two classes that overlap."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    y = np.where(X @ np.arange(1.0, d + 1) + noise * random.normal(size=n) > 0.5, 1, -1)
    return X, y


def objective(svm, X, y, costs=None):
    """P of the fitted plane, written down once more; two classes."""
    costs = np.full(len(y), svm.C) if costs is None else costs
    signs = np.where(y == svm.classes_[1], 1.0, -1.0)
    slack = np.maximum(0.0, 1.0 - signs * (X @ svm.coef_[0] + svm.intercept_[0]))
    return 0.5 * float(svm.coef_[0] @ svm.coef_[0]) + float(np.sum(costs * slack ** (1 if svm.loss == "hinge" else 2)))


def proven(svm, X, y, sample_weight=None):
    """Whether the fit ended with a proof, and the proof holds in rational arithmetic."""
    assert svm.certificate_.is_optimal
    assert 0.0 <= svm.certificate_.relative_gap <= svm.tol
    statuses = svm.status_ if isinstance(svm.status_, list) else [svm.status_]
    assert set(statuses) == {Status.PROVEN}
    answer = svm.certificate_.verify(X, y, exact=True, sample_weight=sample_weight)
    assert answer, answer
    return True
