"""The soft margin end to end: against scikit-learn and closed forms, weights and classes, and honest ends."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sparse
from random_sparse import random_sparse
from sklearn.svm import SVC, LinearSVC
from soft_fits import each_loss, mixed, objective, proven, with_and_without_bias

from maxmargin import HardMarginSVM, LinearSVM, NotSeparableError, Verdict
from maxmargin.run.control import Status

# ------------------------------------------------------------------------------------------------ what is the answer


def test_two_points_in_closed_form():
    """Two rows at distance 5: the hard margin as long as its a = 2 / 25 is at most C, and a = C below."""
    X, y = np.array([[0.0, 0.0], [3.0, 4.0]]), ["a", "b"]
    svm = LinearSVM(C=1.0, tol=1e-9).fit(X, y)
    assert np.allclose(svm.coef_, [[0.24, 0.32]], rtol=1e-6)
    assert svm.street_ == pytest.approx(5.0, rel=1e-6)
    assert svm.margin_ == pytest.approx(2.5, rel=1e-6)
    assert not svm.bounded_.any()
    svm = LinearSVM(C=0.04, tol=1e-9).fit(X, y)
    assert np.allclose(svm.coef_, [[0.12, 0.16]], rtol=1e-6)
    assert np.allclose(svm.dual_coef_, [[-0.04, 0.04]], rtol=1e-6)
    assert svm.certificate_.primal == pytest.approx(0.06, rel=1e-8)


def test_two_points_in_closed_form_with_squares():
    """max 2 a - 25 a^2 / 2 - a^2 / (2 C): a = 2 / (25 + 1 / C)."""
    X, y = np.array([[0.0, 0.0], [3.0, 4.0]]), ["a", "b"]
    svm = LinearSVM(C=0.2, loss="squared_hinge", tol=1e-9).fit(X, y)
    assert np.allclose(svm.dual_coef_, [[-2 / 30, 2 / 30]], rtol=1e-6)
    assert np.allclose(svm.coef_, [[0.2, 4 / 15]], rtol=1e-6)
    assert svm.certificate_.dual == pytest.approx(2 / 30, rel=1e-8)


@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_hinge_agrees_with_libsvm(C, weighted):
    X, y = mixed(seed=1)
    weights = np.random.default_rng(1).random(len(y)) + 0.1 if weighted else np.ones(len(y))
    svm = LinearSVM(C, tol=1e-7).fit(X, y, sample_weight=weights if weighted else None)
    reference = SVC(kernel="linear", C=C, tol=1e-8).fit(X, y, sample_weight=weights)
    reference.loss = "hinge"
    theirs = objective(reference, X, y, C * weights)
    assert objective(svm, X, y, C * weights) == pytest.approx(theirs, rel=3e-6)  # its bias is not the best for its w
    assert theirs >= svm.certificate_.dual
    assert objective(svm, X, y, C * weights) <= svm.certificate_.primal
    assert proven(svm, X, y, weights if weighted else None)


@each_loss
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_no_bias_agrees_with_liblinear(loss, C):
    X, y = mixed(seed=2)
    svm = LinearSVM(C, loss=loss, fit_intercept=False, tol=1e-7).fit(X, y)
    reference = LinearSVC(C=C, loss=loss, fit_intercept=False, dual=True, tol=1e-10, max_iter=10**6, random_state=0)
    reference.fit(X, y).intercept_ = np.zeros(1)
    theirs = objective(reference, X, y)
    assert svm.intercept_ == [0.0]
    assert objective(svm, X, y) == pytest.approx(theirs, rel=1e-6)
    assert theirs >= svm.certificate_.dual
    assert proven(svm, X, y)


@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_squared_hinge_agrees_with_libsvm(C):
    """The squared hinge is the hard margin of the products x_i.x_j + 1/(2 C) [i = j]."""
    X, y = mixed(seed=3)
    svm = LinearSVM(C, loss="squared_hinge", tol=1e-9).fit(X, y)
    hard = SVC(kernel="precomputed", C=1e12, tol=1e-10).fit(X @ X.T + np.eye(len(y)) / (2 * C), y)
    w = hard.dual_coef_[0] @ X[hard.support_]
    slack = np.maximum(0.0, 1.0 - y * (X @ w + hard.intercept_[0]))
    theirs = 0.5 * float(w @ w) + C * float(slack @ slack)
    assert objective(svm, X, y) == pytest.approx(theirs, rel=1e-6)
    assert theirs >= svm.certificate_.dual
    assert proven(svm, X, y)


@each_loss
@with_and_without_bias
@pytest.mark.parametrize("solver", ["auto", "coordinate_descent", "interior_point", "sieve", "newton", "cvxpy"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_every_solver_proves_the_same(loss, bias, solver, form):
    if solver == "newton" and loss == "hinge":
        return
    if solver in ("interior_point", "sieve") and loss == "squared_hinge":
        return
    tol = 1e-3 if solver == "cvxpy" else 1e-6
    X, y = mixed(seed=4)
    wanted = LinearSVM(loss=loss, fit_intercept=bias, tol=1e-6).fit(X, y).certificate_
    svm = LinearSVM(loss=loss, fit_intercept=bias, solver=solver, tol=tol).fit(form(X), y)
    assert svm.certificate_.dual <= wanted.primal
    assert wanted.dual <= svm.certificate_.primal
    assert proven(svm, form(X), y)
    assert svm.solver_ == solver or solver == "auto"


@each_loss
def test_a_large_c_comes_near_the_hard_margin(loss):
    X, y = mixed(seed=5, noise=0.0)
    hard = HardMarginSVM().fit(X, y)
    svm = LinearSVM(1e6, loss=loss, tol=1e-6).fit(X, y)
    assert svm.margin_ == pytest.approx(hard.margin_, rel=1e-3)


@with_and_without_bias
def test_infinite_c_is_the_hard_margin(bias):
    X, y = mixed(seed=6, noise=0.0)
    if not bias:
        y = np.where(X[:, 0] > 0, 1, -1)
    hard = HardMarginSVM(fit_intercept=bias, tol=1e-9).fit(X, y)
    svm = LinearSVM(math.inf, fit_intercept=bias, tol=1e-9).fit(X, y)
    assert np.array_equal(svm.coef_, hard.coef_)
    assert np.array_equal(svm.intercept_, hard.intercept_)
    assert np.array_equal(svm.dual_coef_, hard.dual_coef_)
    assert svm.certificate_.verdict is Verdict.OPTIMAL
    assert svm.certificate_.verify(X, y, exact=True)
    assert np.array_equal(svm.predict(X), y)
    assert svm.slack(X, y).max() < 1e-9
    assert svm.solver_ == "hard margin"
    assert not svm.bounded_.any()


def test_a_gap_that_stands_still_while_a_face_is_solved_is_no_reason_to_hand_over():
    """As many columns as rows, and few entries: sweeps take milliseconds, a step of the interior point as many."""
    random = np.random.default_rng(0)
    X = random_sparse((1000, 1000), 0.04, random)
    y = np.where(X @ random.standard_normal(1000) + 0.3 * random.standard_normal(1000) > 0, 1, -1)
    svm = LinearSVM(tol=1e-4).fit(X, y)
    assert svm.status_ is Status.PROVEN
    assert svm.solver_ == "coordinate_descent"


def test_infinite_c_on_inseparable_data_raises():
    X, y = mixed(seed=7)
    with pytest.raises(NotSeparableError) as caught:
        LinearSVM(math.inf).fit(X, y)
    assert caught.value.certificate.verify(X, y, exact=True)


# ------------------------------------------------------------------------------------------------------------ weights


@each_loss
@with_and_without_bias
def test_a_weight_of_k_is_k_copies(loss, bias):
    X, y = mixed(seed=8)
    weights = np.random.default_rng(8).integers(0, 4, len(y))
    weighted = LinearSVM(0.7, loss=loss, fit_intercept=bias, tol=1e-8).fit(X, y, sample_weight=weights)
    copies = np.repeat(X, weights, axis=0), np.repeat(y, weights)
    copied = LinearSVM(0.7, loss=loss, fit_intercept=bias, tol=1e-8).fit(*copies)
    assert weighted.certificate_.dual <= copied.certificate_.primal
    assert copied.certificate_.dual <= weighted.certificate_.primal
    assert np.allclose(weighted.coef_, copied.coef_, atol=1e-3)
    assert weighted.certificate_.n_rows == np.count_nonzero(weights)
    assert not np.isin(np.flatnonzero(weights == 0), weighted.support_).any()
    assert proven(weighted, X, y, weights)
    assert proven(copied, *copies)


@each_loss
def test_class_weights_mean_what_they_mean_to_scikit_learn(loss):
    X, y = mixed(seed=9)
    names = np.where(y > 0, "yes", "no")
    given = LinearSVM(loss=loss, class_weight={"yes": 3.0}, tol=1e-7).fit(X, names)
    by_hand = LinearSVM(loss=loss, tol=1e-7).fit(X, names, sample_weight=np.where(y > 0, 3.0, 1.0))
    assert np.array_equal(given.coef_, by_hand.coef_)
    assert given.class_weight_.tolist() == [1.0, 3.0]
    assert proven(given, X, names)
    if loss == "hinge":
        reference = SVC(kernel="linear", class_weight={"yes": 3.0}, tol=1e-8).fit(X, names)
        assert np.allclose(given.coef_, reference.coef_, atol=1e-3)
        balanced = LinearSVM(class_weight="balanced", tol=1e-7).fit(X, names)
        reference = SVC(kernel="linear", class_weight="balanced", tol=1e-8).fit(X, names)
        assert np.allclose(balanced.class_weight_, reference.class_weight_)
        assert np.allclose(balanced.coef_, reference.coef_, atol=1e-3)
        assert proven(balanced, X, names)


def test_balanced_counts_copies_as_rows():
    X, y = mixed(seed=10)
    weights = np.random.default_rng(10).integers(0, 3, len(y))
    weighted = LinearSVM(class_weight="balanced", tol=1e-8).fit(X, y, sample_weight=weights)
    copied = LinearSVM(class_weight="balanced", tol=1e-8).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert np.allclose(weighted.class_weight_, copied.class_weight_)
    assert np.allclose(weighted.coef_, copied.coef_, atol=1e-3)


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_a_class_without_weight_is_no_class(strategy):
    X, y = np.array([[0.0], [1.0], [5.0], [6.0], [9.0], [12.0]]), np.array(list("aabbcd"))
    weights = [1, 2, 1, 1, 0, 3]
    svm = LinearSVM(multi_class=strategy, class_weight={"d": 2.0}, tol=1e-6).fit(X, y, sample_weight=weights)
    assert list(svm.classes_) == ["a", "b", "d"]
    assert proven(svm, X, y, weights)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.zeros(4), "zero for every row"),
        ([1, 1, 0, 0], "one class"),
        ([1, 1, 1, -1], "negative values: row 3 has -1"),
        ([1, np.nan, 1, 1], "NaN.*row 1 has nan"),
        ([1, 1], "shape"),
        ([1, 1, 1, 1e305], r"C times the weight of row 3 is 1e\+10 \* 1e\+305, which float64 cannot hold"),
    ],
)
def test_weights_that_cannot_be(weights, words):
    with pytest.raises(ValueError, match=words):
        LinearSVM(1e10).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], sample_weight=weights)


# ------------------------------------------------------------------------------------------------------- many classes


@each_loss
@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_many_classes(loss, strategy):
    random = np.random.default_rng(13)
    centres = {"north": (0, 3), "south": (0, -3), "east": (3, 0), "west": (-3, 0)}
    X = np.vstack([random.normal(size=(30, 2)) + centre for centre in centres.values()])
    y = np.repeat(list(centres), 30)
    svm = LinearSVM(loss=loss, multi_class=strategy, tol=1e-6).fit(X, y)
    n_problems = 4 if strategy == "ovr" else 6
    assert svm.coef_.shape == (n_problems, 2)
    assert svm.dual_coef_.shape == svm.bounded_.shape == (n_problems, len(svm.support_))
    assert svm.decision_function(X).shape == (120, 4)
    assert svm.score(X, y) > 0.9
    assert proven(svm, X, y)
    for part, coef, dual in zip(svm.certificate_, svm.coef_, svm.dual_coef_, strict=True):
        off = np.linalg.norm(dual @ X[svm.support_] - coef)
        assert off <= (part.kkt.stationarity.value + 1e-9) * max(1.0, np.linalg.norm(coef))
    slack = svm.slack(X, y)
    assert slack.shape == (120, n_problems)
    assert np.isnan(slack).sum() == (0 if strategy == "ovr" else 6 * 60)
    assert len(svm.violations(X, y)) == n_problems


def test_two_of_many_classes_are_the_two_class_problem():
    X, y = mixed(seed=11)
    y = np.where(X[:, 3] > 1.0, 5, y)
    three = LinearSVM(multi_class="ovo", tol=1e-7).fit(X, y)
    pair = LinearSVM(tol=1e-7).fit(X[y != 5], y[y != 5])
    assert (three.certificate_[0].positive, three.certificate_[0].negative) == (-1, 1)
    assert np.allclose(three.coef_[0], -pair.coef_[0], atol=1e-3)


# ------------------------------------------------------------------------------------------------ what is shown of it


@each_loss
@with_and_without_bias
def test_the_dual_makes_the_plane(loss, bias):
    X, y = mixed(seed=14)
    svm = LinearSVM(0.3, loss=loss, fit_intercept=bias, tol=1e-6).fit(X, y)
    signs = np.where(y > 0, 1.0, -1.0)
    dual, support = svm.dual_coef_[0], svm.support_
    off = np.linalg.norm(dual @ X[support] - svm.coef_[0]) / np.linalg.norm(svm.coef_[0])
    assert off <= svm.certificate_.kkt.stationarity.value + 1e-9
    assert np.all(dual * signs[support] > 0.0)
    if bias:
        assert abs(dual.sum()) < 1e-12 * np.abs(dual).sum()
    assert svm.n_support_ == [len(support)]
    assert len(support) == svm.certificate_.n_support
    slack = svm.slack(X, y)
    if loss == "hinge":
        assert np.all(np.abs(dual) <= 0.3)
        assert np.allclose(np.abs(dual[svm.bounded_[0]]), 0.3, rtol=1e-3)
        assert svm.bounded_[0].sum() > 0
        assert np.all(slack[support[~svm.bounded_[0]]] < 0.05)
    else:
        assert not svm.bounded_.any()
        assert np.allclose(np.abs(dual), 2.0 * 0.3 * slack[support], atol=1e-3)
    assert slack[np.setdiff1d(np.arange(len(y)), support)].max() < 0.01


def test_slack_and_violations():
    X, y = mixed(seed=15)
    svm = LinearSVM().fit(X, y)
    slack = svm.slack(X, y)
    assert np.array_equal(slack, np.maximum(0.0, 1.0 - y * svm.decision_function(X)))
    violations = svm.violations(X, y)
    assert np.array_equal(violations.mistakes, np.flatnonzero(svm.predict(X) != y))
    assert np.array_equal(np.union1d(*violations), np.flatnonzero(slack > 0.0))
    with pytest.raises(ValueError, match=r"y has the shape \(3,\)"):
        svm.slack(X, y[:3])
    with pytest.raises(ValueError, match=r"y has the label 7; it must hold one of \[-1, 1\]"):
        svm.slack(X[:2], [1, 7])


@each_loss
def test_the_report_says_it(loss):
    X, y = mixed(seed=16)
    svm = LinearSVM(2.0, loss=loss, tol=1e-6, class_weight={"bad": 2.0}).fit(X, np.where(y > 0, "good", "bad"))
    lines = svm.certificate_.report().splitlines()
    assert lines[0] == "Optimal: no plane has a lower objective, to the stated gap."
    assert lines[1] == "  problem: 'good' against 'bad', 120 rows x 4 columns, with a bias"
    assert lines[2] == f"  {loss.replace('_', ' ')}, C = 2 times 2 for 'bad', 1 for 'good'"
    assert lines[3].startswith("  least objective: between ")
    assert lines[-1] == "    a relative gap of 1e-06 was asked for"
    assert repr(svm.certificate_).startswith("SoftMarginCertificate(OPTIMAL, objective in [")
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(svm.certificate_)


def test_a_pickle_has_no_rows_of_the_user():
    X, y = mixed(seed=3)
    svm = LinearSVM().fit(X, y)
    assert svm.support_vectors_.tolist() == X[svm.support_].tolist()
    again = pickle.loads(pickle.dumps(svm))
    with pytest.raises(AttributeError, match=r"none in pickles and files: take X\[model.support_\]"):
        _ = again.support_vectors_
    assert again.decision_function(X).tolist() == svm.decision_function(X).tolist()
