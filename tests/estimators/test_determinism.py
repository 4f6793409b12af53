"""On one machine the same input gives the same answer, bit for bit: fitted again, or by more threads."""

import pytest
from sklearn.base import clone

import maxmargin
from maxmargin.data import executor
from maxmargin.data.synthetic import overlapping, separable_gaussians

ESTIMATORS = [
    maxmargin.HardMarginSVM(),
    maxmargin.HardMarginSVM("l1"),
    maxmargin.LinearSVM(),
    maxmargin.LinearSVM(solver="coordinate_descent"),
    maxmargin.LinearSVM(loss="squared_hinge"),
    maxmargin.LinearSVMCV([0.1, 1.0], cv=2),
    maxmargin.KernelSVM(),
    maxmargin.KernelSVM(kernel="poly", coef0=1.0),
    maxmargin.StochasticSVM(tol=0.2),
    maxmargin.Perceptron(order="shuffled"),
    maxmargin.MarginPerceptron(),
    maxmargin.Winnow(),
    maxmargin.KernelPerceptron(),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_the_same_bits(estimator, monkeypatch):
    apart = isinstance(estimator, maxmargin.HardMarginSVM) or not hasattr(estimator, "tol")
    X, y = separable_gaussians(300, 4, margin=0.5)[:2] if apart else overlapping(400)
    monkeypatch.setattr(executor, "WORTH_A_BLOCK", 50)
    answers = []
    for cores in (1, 1, 3):
        monkeypatch.setattr(executor, "cores", lambda cores=cores: cores)
        model = clone(estimator).fit(X, y)
        certificate = model.certificate_
        answers.append([model.decision_function(X).tobytes(), certificate.weights.tobytes(), certificate.primal])
    assert answers[0] == answers[1] == answers[2]
