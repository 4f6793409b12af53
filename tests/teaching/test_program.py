"""Programs run as they stand, and find what the library has proven."""

import math

import numpy as np
import pytest

from maxmargin import HardMarginSVM, KernelSVM, LinearSVM, Perceptron, program
from maxmargin.certificates.duality import dual_value, primal_value
from maxmargin.data import synthetic
from maxmargin.problems.losses import loss_named
from maxmargin.problems.statement import SoftMargin

NEAR = 1e-6  # relative: what Clarabel leaves open
FORMS = ("primal", "dual")


def run(text, X, y):
    pytest.importorskip("cvxpy")
    left = {"X": X, "y": y.astype(np.float64)}
    exec(compile(text, "program", "exec"), left)
    return left


@pytest.fixture(scope="module")
def separable():
    X, y, _ = synthetic.street(20, seed=3)
    return X, y


@pytest.fixture(scope="module")
def noisy():
    return synthetic.overlapping(30, seed=2)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("norm", ["l2", "l1"])
@pytest.mark.parametrize("bias", [True, False])
def test_the_hard_margin(separable, form, norm, bias):
    X, y = separable
    X = X if bias else X - X[:3].mean(axis=0)
    svm = HardMarginSVM(norm, fit_intercept=bias).fit(X, y)
    left = run(program("hard margin", form, fit_intercept=bias, norm=norm), X, y)
    assert left["optimum"] == pytest.approx(svm.certificate_.primal, rel=NEAR)
    assert y * (X @ left["w"] + left["b"]) == pytest.approx(y * svm.decision_function(X), abs=1e-3)
    assert np.all(left["a"] >= 0)
    assert left["a"].sum() * (1 if norm == "l1" else 0.5) == pytest.approx(left["optimum"], rel=1e-4)
    assert (left["b"] == 0.0) == (not bias)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("C", [0.05, 2.0])
def test_the_soft_margin(noisy, form, loss, bias, C):
    X, y = noisy
    certificate = LinearSVM(C=C, loss=loss, fit_intercept=bias, tol=1e-9).fit(X, y).certificate_
    left = run(program("soft margin", form, C=C, loss=loss, fit_intercept=bias), X, y)
    assert certificate.dual * (1 - NEAR) <= left["optimum"] <= certificate.primal * (1 + NEAR)
    problem = SoftMargin(X, y.astype(float), np.full(len(y), C), loss_named(loss), bias)  # judged, not compared
    assert primal_value(problem, left["w"], left["b"]).value == pytest.approx(certificate.primal, rel=1e-5)
    assert dual_value(problem, np.minimum(left["a"], problem.upper)).value == pytest.approx(certificate.dual, rel=1e-5)


@pytest.mark.parametrize(
    ("kernel", "numbers"),
    [("linear", {}), ("poly", {"gamma": 0.5, "coef0": 1.0, "degree": 2}), ("rbf", {"gamma": 0.5})],
)
@pytest.mark.parametrize("C", [math.inf, 0.7])
def test_the_dual_with_a_kernel(separable, noisy, kernel, numbers, C):
    X, y = separable if math.isinf(C) else noisy
    svm = KernelSVM(C=C, kernel=kernel, tol=1e-7, **numbers).fit(X, y)
    left = run(program("soft margin", "dual", C=C, kernel=kernel, **numbers), X, y)
    assert left["optimum"] == pytest.approx(svm.certificate_.primal, rel=NEAR)
    assert [left["f"](x) for x in X] == pytest.approx(svm.decision_function(X), abs=1e-3)
    assert program(svm, "dual") == program("soft margin", "dual", C=C, kernel=kernel, **numbers)


def test_a_table_of_kernel_values(noisy):
    X, y = noisy
    K = X @ X.T
    left = run(program("soft margin", "dual", C=0.7, kernel="precomputed"), K, y)
    plain = run(program("soft margin", "dual", C=0.7), X, y)
    assert left["optimum"] == pytest.approx(plain["optimum"], rel=NEAR)
    assert [left["f"](row) for row in K] == pytest.approx([plain["f"](x) for x in X], abs=1e-4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_kernels_without_a_bias(noisy, loss):
    """The linear kernel is the plane of the columns."""
    X, y = noisy
    left = run(program("soft margin", "dual", C=0.7, loss=loss, kernel="linear", fit_intercept=False), X, y)
    certificate = LinearSVM(C=0.7, loss=loss, fit_intercept=False, tol=1e-9).fit(X, y).certificate_
    assert left["optimum"] == pytest.approx(certificate.primal, rel=NEAR)


def test_without_a_row_on_the_edge_the_equality_tells_the_bias():
    """All multipliers are at C: their mean would be empty."""
    X, y = np.array([[-1.0], [-1.5], [1.0], [1.5]]), np.array([-1, -1, 1, 1])
    for shift in (0.0, 3.0):
        left = run(program("soft margin", "dual", C=0.01), X + shift, y)
        assert not left["edge"].any()
        problem = SoftMargin(X + shift, y.astype(float), np.full(4, 0.01), loss_named("hinge"), True)
        found = primal_value(problem, left["w"], left["b"]).value
        assert found == pytest.approx(left["optimum"], rel=1e-4)


def test_an_estimator_brings_its_own_parameters(separable):
    X, y = separable
    assert program(HardMarginSVM()) == program("hard margin")
    assert program(HardMarginSVM("l1", fit_intercept=False), "dual") == program(
        "hard margin", "dual", norm="l1", fit_intercept=False
    )
    assert program(LinearSVM(C=3.0, loss="squared_hinge")) == program("soft margin", C=3.0, loss="squared_hinge")
    fitted = KernelSVM(gamma="scale").fit(X, y)
    assert repr(float(fitted._kernel.gamma)) in program(fitted, "dual")
    with pytest.raises(ValueError, match="fit it first"):
        program(KernelSVM(gamma="scale"), "dual")
    assert "np.float64" not in program(LinearSVM(C=np.float64(0.5)))
    assert program("soft margin", C=np.int64(2)) == program("soft margin", C=2)
    with pytest.raises(ValueError, match="one for all"):
        program(LinearSVM(class_weight="balanced"))
    with pytest.raises(ValueError, match="does not solve a program"):
        program(Perceptron())
    with pytest.raises(ValueError, match="precomputed"):
        program(KernelSVM(kernel=lambda A, B: A @ B.T), "dual")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"problem": "soft"}, "problem='soft' is not known"),
        ({"form": "both"}, "form='both' is not known"),
        ({"loss": "huber_hinge"}, "loss='huber_hinge' is not known here"),
        ({"problem": "soft margin", "C": -1}, "C must be a positive number"),
        ({"problem": "soft margin", "C": "1"}, "C must be a positive number"),
        ({"problem": "soft margin", "C": math.nan}, "C must be a positive number"),
        ({"form": "dual", "kernel": "rbf", "gamma": math.inf}, "gamma must be a positive number"),
        ({"kernel": "rbf"}, "ask for form"),
        ({"problem": "soft margin", "norm": "l1"}, "is for the hard margin"),
    ],
)
def test_what_cannot_be_written_down_is_a_sentence(wrong, words):
    with pytest.raises(ValueError, match=words):
        program(**wrong)


@pytest.mark.parametrize("form", FORMS)
def test_programs_are_short(form):
    for loss in ("hinge", "squared_hinge"):
        lines = program("soft margin", form, loss=loss).splitlines()
        assert len(lines) <= 25
        assert max(map(len, lines)) <= 110


def test_a_degree_is_whole():
    with pytest.raises(ValueError, match="degree must be a whole number"):
        program("soft margin", "dual", kernel="poly", degree=2.5)


def test_no_parameter_is_given_beside_an_estimator():
    with pytest.raises(ValueError, match="a LinearSVM brings its own C: make one with C=4, or leave it out here"):
        program(LinearSVM(), C=4)
    with pytest.raises(ValueError, match="brings its own loss"):
        program(LinearSVM(), loss="hinge")
    with pytest.raises(ValueError, match="the hard margin has no price: C=4"):
        program("hard margin", C=4)
    assert program("hard margin", C=float("inf")) == program("hard margin")
    assert program("soft margin") == program(LinearSVM())
