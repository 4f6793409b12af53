"""Margins in the space of a kernel with every loss, and through its origin: against CVXPY, fractions and LinearSVM."""

import itertools
import math

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin import KernelSVM, LinearSVM, NotSeparableError, from_dual, load, save
from maxmargin.persistence import verify_model
from maxmargin.problems.losses import LOSSES, loss_named

random = np.random.default_rng(3)
X = random.normal(size=(60, 3)).round(3)
Y = np.where(X[:, 0] * X[:, 1] + 0.4 * random.normal(size=60) > 0.1, "b", "a")
SIGNS = np.where(Y == "b", 1.0, -1.0)
KERNELS = {
    "rbf": {"kernel": "rbf", "gamma": 0.5},
    "poly": {"kernel": "poly", "gamma": 0.5, "coef0": 1.0, "degree": 2},
    "linear": {"kernel": "linear"},
}


def gram(kernel):
    """k(x, x') of all rows, by the formulas."""
    inner, squares = X @ X.T, (X**2).sum(axis=1)
    if kernel == "rbf":
        return np.exp(-0.5 * (squares[:, None] + squares - 2.0 * inner))
    return (0.5 * inner + 1.0) ** 2 if kernel == "poly" else inner


def by_cvxpy(K, costs, loss, fit_intercept, hard=False):
    """The optimum of the dual as it is written, by Clarabel."""
    import cvxpy as cp

    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    a = cp.Variable(len(costs), nonneg=True)
    dual = cp.sum(a) - 0.5 * cp.sum_squares(root.T @ cp.multiply(SIGNS, a))
    if not hard:
        dual -= 0.5 * loss.bend * cp.sum(cp.multiply(1.0 / costs, cp.square(a)))
    constraints = [a <= loss.box * costs] if loss.is_bounded and not hard else []
    constraints += [SIGNS @ a == 0] if fit_intercept else []
    program = cp.Problem(cp.Maximize(dual), constraints)
    return program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("kernel", list(KERNELS))
def test_the_optimum_is_that_of_the_program_of_the_dual(kernel, loss, fit_intercept):
    pytest.importorskip("cvxpy")
    for C in (0.3, 20.0):
        svm = KernelSVM(C, **KERNELS[kernel], loss=loss, fit_intercept=fit_intercept, tol=1e-8).fit(X, Y)
        c = svm.certificate_
        assert (c.loss, c.fit_intercept, c.C) == (loss, fit_intercept, C)
        expected = by_cvxpy(gram(kernel), np.full(60, C), loss_named(loss), fit_intercept)
        assert c.relative_gap <= 1e-8
        assert c.dual * (1.0 - 1e-9) <= expected <= c.primal * (1.0 + 1e-9)
        assert c.verify(X, Y, exact=kernel != "rbf")
        assert verify_model(svm, X, Y)
        assert fit_intercept or svm.intercept_.tolist() == [0.0]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", list(LOSSES))
def test_off_the_shelf_it_is_the_same(loss, fit_intercept):
    pytest.importorskip("cvxpy")
    for kernel in KERNELS:
        settings = {**KERNELS[kernel], "loss": loss, "fit_intercept": fit_intercept, "tol": 1e-7}
        ours, theirs = (KernelSVM(2.0, **settings, solver=solver).fit(X, Y) for solver in ("auto", "cvxpy"))
        assert theirs.certificate_.is_optimal
        assert theirs.certificate_.verify(X, Y)
        assert ours.certificate_.primal == pytest.approx(theirs.certificate_.primal, rel=1e-7, abs=0.0)
        assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("solver", ["auto", "cvxpy", "coordinate_descent"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_hard_margin_through_the_origin(fit_intercept, solver):
    pytest.importorskip("cvxpy")
    few, labels = X[:25], np.where(X[:25, 0] * X[:25, 1] > 0.0, "b", "a")
    settings = {"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "degree": 2, "fit_intercept": fit_intercept}
    svm = KernelSVM(math.inf, **settings, solver=solver, tol=1e-6, loss="squared_hinge").fit(few, labels)
    c = svm.certificate_
    assert (c.loss, c.is_separable, c.is_optimal) == ("hinge", True, True)  # no loss is paid
    assert c.verify(few, labels, exact=True)
    functional = np.where(labels == "b", 1.0, -1.0) * svm.decision_function(few)
    assert functional.min() == pytest.approx(1.0, rel=1e-9)
    # The bias is one more dimension, so that a street at the origin is never wider.
    both = [
        KernelSVM(math.inf, **{**settings, "fit_intercept": own}, tol=1e-6).fit(few, labels) for own in (False, True)
    ]
    assert both[0].certificate_.margin_lower <= both[1].certificate_.margin_upper


def test_no_plane_through_the_origin_though_there_is_one_beside_it():
    rows, labels = np.array([[1.0], [2.0], [3.0], [4.0]]), [-1, -1, 1, 1]
    assert KernelSVM(math.inf, kernel="linear").fit(rows, labels).certificate_.is_separable
    with pytest.raises(NotSeparableError) as raised:
        KernelSVM(math.inf, kernel="linear", fit_intercept=False).fit(rows, labels)
    c = raised.value.certificate
    assert (c.verdict.name, c.fit_intercept) == ("NOT_SEPARABLE", False)
    assert c.verify(rows, labels, exact=True)
    assert not type(c).from_dict({**c.to_dict(), "fit_intercept": True}).verify(rows, labels, exact=True)
    # A row at the origin is on every such plane: it is a witness by itself.
    with pytest.raises(NotSeparableError) as raised:
        KernelSVM(math.inf, kernel="linear", fit_intercept=False).fit([[0.0], [1.0], [-1.0]], [1, 1, -1])
    assert raised.value.certificate.rows.tolist() == [0]
    assert raised.value.certificate.verify([[0.0], [1.0], [-1.0]], [1, 1, -1], exact=True)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", list(LOSSES))
def test_the_linear_kernel_is_the_linear_machine(loss, fit_intercept):
    weights = random.integers(0, 4, 60).astype(float)
    settings = {"loss": loss, "fit_intercept": fit_intercept, "tol": 1e-8, "class_weight": {"a": 2.0, "b": 0.5}}
    one = KernelSVM(3.0, kernel="linear", **settings).fit(X, Y, weights)
    other = LinearSVM(3.0, **settings).fit(X, Y, weights)
    assert one.certificate_.primal == pytest.approx(other.certificate_.primal, rel=2e-8, abs=0.0)
    assert np.allclose(one.decision_function(X), other.decision_function(X), atol=1e-3)
    assert one.certificate_.verify(X, Y, sample_weight=weights, exact=True)
    at_bound = loss_named(loss).bounds((3.0 * weights * np.where(Y == "a", 2.0, 0.5))[one.support_])
    assert np.array_equal(one.bounded_[0], one.certificate_.weights >= at_bound)


def test_many_rows_are_solved_in_samples():
    rows = random.normal(size=(8200, 4))
    labels = rows[:, 0] * rows[:, 1] + 0.3 * random.normal(size=8200) > 0.0
    for loss, fit_intercept in (("squared_hinge", False), ("huber_hinge", True), ("hinge", False)):
        svm = KernelSVM(5.0, loss=loss, fit_intercept=fit_intercept).fit(rows, labels)
        assert svm.certificate_.relative_gap <= 1e-3
        assert svm.certificate_.verify(rows, labels)


@pytest.mark.parametrize("loss", list(LOSSES))
def test_an_approximation_says_how_far_it_is(loss):
    for fit_intercept in (True, False):
        settings = {"loss": loss, "fit_intercept": fit_intercept, "gamma": 0.5, "tol": 1e-6}
        rough = KernelSVM(2.0, **settings, approximation=5).fit(X, Y).certificate_
        best = KernelSVM(2.0, **settings).fit(X, Y).certificate_
        assert rough.verify(X, Y)
        assert rough.dual <= best.primal
        assert best.dual <= rough.primal
        assert rough.relative_gap > 1e-3


def test_three_classes_by_pairs_and_against_the_rest():
    labels = np.digitize(X[:, 0] * X[:, 1], [-0.4, 0.4])
    for way in ("ovo", "ovr"):
        svm = KernelSVM(2.0, loss="squared_hinge", fit_intercept=False, multi_class=way).fit(X, labels)
        assert svm.certificate_.verify(X, labels)
        assert svm.intercept_.tolist() == [0.0] * 3
        assert svm.score(X, labels) > 0.8


def test_the_dual_alone_predicts_and_its_rows_agree_about_b():
    for loss, kernel in itertools.product(LOSSES, KERNELS):
        svm = KernelSVM(2.0, **KERNELS[kernel], loss=loss, tol=1e-8).fit(X, Y)
        answer = from_dual(svm, X, Y)
        assert answer.agrees == 60
        assert answer.spread < 1e-3
        assert answer.b == pytest.approx(svm.intercept_[0], abs=1e-3)
        none = from_dual(KernelSVM(2.0, **KERNELS[kernel], loss=loss, fit_intercept=False).fit(X, Y), X, Y)
        assert (none.b, len(none.rows), none.agrees) == (0.0, 0, 60)


def test_a_model_file_keeps_loss_and_bias(tmp_path):
    svm = KernelSVM(2.0, loss="huber_hinge", huber_width=0.25, fit_intercept=False).fit(X, Y)
    save(svm, tmp_path / "model", X, Y)
    again = load(tmp_path / "model")
    assert again.get_params() == svm.get_params()
    assert again.certificate_.to_dict() == svm.certificate_.to_dict()
    assert verify_model(again, X, Y)
    usual = KernelSVM().fit(X, Y)
    save(usual, tmp_path / "usual", X, Y)
    # As older programs wrote it and read it: nothing of what they do not know.
    header = (tmp_path / "usual").read_bytes()[:20_000]
    assert not any(name in header for name in (b"huber_width", b"fit_intercept", b"solver"))
    assert load(tmp_path / "usual").certificate_.to_dict() == usual.certificate_.to_dict()


def test_a_certificate_of_an_earlier_release_means_what_it_meant():
    c = KernelSVM(2.0, **KERNELS["poly"]).fit(X, Y).certificate_
    fields = {name: value for name, value in c.to_dict().items() if name not in type(c).later}
    older = type(c).from_dict(fields)
    assert (older.loss, older.huber_width, older.fit_intercept) == ("hinge", None, True)
    assert older.verify(X, Y, exact=True)
    state = {name: value for name, value in vars(c).items() if name not in type(c).later}
    restored = object.__new__(type(c))
    restored.__setstate__(state)
    assert restored.to_dict() == c.to_dict()


def test_what_does_not_go_together_is_said():
    for settings, why in (
        ({"loss": "sharp"}, "loss='sharp' is not known"),
        ({"huber_width": 0.5}, 'huber_width=0.5 is for loss="huber_hinge"'),
        ({"solver": "newton"}, "solver='newton' is not known; it can be 'auto'"),
        ({"solver": "cvxpy", "approximation": 3}, 'solver="cvxpy" solves the kernel as it is'),
        ({"fit_intercept": "no"}, "fit_intercept"),
    ):
        with pytest.raises(ValueError, match=why):
            KernelSVM(**settings).fit(X, Y)


def test_an_estimator_that_was_pickled_before_there_was_a_choice():
    state = {name: value for name, value in vars(KernelSVM(4.0)).items() if name not in ("loss", "huber_width")}
    state = {name: value for name, value in state.items() if name not in ("fit_intercept", "solver")}
    old = KernelSVM.__new__(KernelSVM)
    old.__setstate__(state)
    assert clone(old).get_params() == KernelSVM(4.0).get_params()
