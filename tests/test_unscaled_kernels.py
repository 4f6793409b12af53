"""Tables that nobody has scaled: a proof, or a plane that is no worse than SVC's; the short form of the benchmark."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from maxmargin import KernelSVM

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
if not BENCHMARKS.exists():
    pytest.skip("a source distribution has no benchmarks", allow_module_level=True)
sys.path.append(str(BENCHMARKS))
unscaled = importlib.import_module("unscaled_kernels")

QUICK = [
    question
    for question in unscaled.questions()
    if question.name.startswith(("iris", "wine", "diagonals"))
    or (question.name.startswith("breast_cancer") and ("linear" in question.name or "poly" in question.name))
]


@pytest.mark.parametrize("question", QUICK, ids=lambda question: question.name)
def test_proven_or_no_worse_than_svc(question):
    cell = unscaled.answer(question)
    assert cell.ratio <= 1.0
    assert cell.unproven == 0 or "poly" in question.name
    # Its objective is no worse. Where nothing is proven, rounding decides about a row or two of 150.
    assert cell.accuracy >= cell.svc_accuracy - 0.014 or cell.unproven == 0


def test_no_plane_is_given_up_for_none():
    """Where float64 can prove nothing, the plane is still the best that was seen, and not w = 0."""
    X, y = unscaled.diagonals()
    with pytest.warns(ConvergenceWarning, match="rounding errors leave no way"):
        svm = KernelSVM(kernel="poly", coef0=1.0).fit(X, y)
    assert svm.score(X, y) > 0.9
    assert svm.certificate_.verify(X, y)


def test_the_judge_of_the_benchmark_is_right():
    """Its objective of a plane that is known: two points, one apart, with every kernel that is linear between them."""
    X, y = np.array([[0.0], [2.0]]), np.array([0, 1])
    svc = SVC(kernel="linear", C=1.0).fit(X, y)
    ((rows, signs),) = unscaled.pairs_of(y)
    (plane,) = unscaled.planes_of_svc(svc, y)
    assert unscaled.objective(X, rows, signs, {"kernel": "linear"}, plane) == pytest.approx(0.5)
    nothing = unscaled.Plane(np.zeros(2), 0.0)
    assert unscaled.objective(X, rows, signs, {"kernel": "linear"}, nothing) == pytest.approx(2.0)


def test_planes_of_many_classes_are_those_of_svc():
    X, y = unscaled.TABLES["wine"](return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    svc = SVC(kernel="rbf", gamma=0.1, decision_function_shape="ovo").fit(X, y)
    expected = svc.decision_function(X).T
    K = unscaled.matrix(X, {"kernel": "rbf", "gamma": 0.1})
    for plane, values in zip(unscaled.planes_of_svc(svc, y), expected, strict=True):
        assert K @ plane.coefficients + plane.bias == pytest.approx(values, abs=1e-9)
