"""The soft margin end to end: against scikit-learn and closed forms, weights and classes, and honest ends."""

import math
import pickle
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.callback import FitCallback, ScoringMonitor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from strategies import extreme, forms, tables

from maxmargin import HardMarginSVM, LinearSVM, NotSeparableError, Verdict
from maxmargin.certificates.soft_margin import SoftVerdict
from maxmargin.solve.clock import Status

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
    assert lines[2] == f"  {loss.replace('_', ' ')}, C = 2 with class weights"
    assert lines[3].startswith("  least objective: between ")
    assert "asked for 1.0e-06" in lines[4]
    assert repr(svm.certificate_).startswith("SoftMarginCertificate(OPTIMAL, objective in [")
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(svm.certificate_)


# --------------------------------------------------------------------------------------------------------- early ends


@each_loss
@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_max_time_keeps_what_was_found(loss, strategy):
    random = np.random.default_rng(17)
    X, y = random.normal(size=(3000, 30)), random.integers(0, 3, 3000)
    svm = LinearSVM(100.0, loss=loss, max_time=1e-9, tol=1e-10, multi_class=strategy).fit(X, y)
    assert set(svm.status_) <= {Status.TIME, Status.PROVEN}
    assert Status.TIME in svm.status_
    for part, status in zip(svm.certificate_, svm.status_, strict=True):
        assert part.is_optimal == (status is Status.PROVEN)
        assert 0.0 <= part.relative_gap <= 1.0
    assert svm.certificate_.verify(X, y)
    svm.predict(X[:3])


@pytest.mark.parametrize("solver", ["coordinate_descent", "interior_point"])
def test_max_iter_keeps_what_was_found(solver):
    X, y = mixed(seed=18)
    svm = LinearSVM(10.0, solver=solver, max_iter=2, tol=1e-12).fit(X, y)
    assert svm.status_ is Status.BUDGET
    assert svm.certificate_.verdict is SoftVerdict.BOUNDED
    assert 1e-12 < svm.certificate_.relative_gap <= 1.0
    assert objective(svm, X, y) <= svm.certificate_.primal * (1 + 1e-12)
    assert svm.certificate_.verify(X, y, exact=True)
    assert "Not proven to the gap" in svm.certificate_.report()


def test_a_gap_below_rounding_ends_honestly():
    X, y = mixed(40, seed=19)
    for loss in LOSSES:
        svm = LinearSVM(loss=loss, tol=1e-17, max_time=5.0).fit(X, y)
        assert svm.status_ in (Status.STALLED, Status.TIME)
        assert svm.certificate_.verdict is SoftVerdict.BOUNDED
        assert svm.certificate_.relative_gap < 1e-5
        assert svm.certificate_.verify(X, y, exact=True)


class Counting:
    """Counts rounds; may ask to stop, or raise as Ctrl-C does."""

    def __init__(self, stop_after=math.inf, interrupt_after=math.inf):
        self.stop_after, self.interrupt_after = stop_after, interrupt_after
        self.names, self.scores = [], []

    def setup(self, estimator, context):
        self.names.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.names.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.names.append(f"end {context.task_name}")
        if fitted_estimator is not None:
            self.scores.append(fitted_estimator.score(X, y))
        if self.rounds >= self.interrupt_after:
            raise KeyboardInterrupt
        return self.rounds >= self.stop_after

    def teardown(self, estimator, context):
        self.names.append("teardown")

    @property
    def rounds(self):
        return self.names.count("end round")


@each_loss
def test_callbacks_hear_of_every_round(loss):
    X, y = mixed(seed=20)
    counting = Counting()
    assert isinstance(counting, FitCallback)
    svm = LinearSVM(loss=loss, tol=1e-9).set_callbacks(counting).fit(X, np.where(y > 0, "yes", "no"))
    assert counting.rounds >= 1
    assert counting.names[:2] == ["setup", "begin fit"]
    assert counting.names[-2:] == ["end fit", "teardown"]
    assert counting.names.count("begin round") == counting.rounds
    assert counting.scores[-1] == svm.score(X, np.where(y > 0, "yes", "no"))
    plain = LinearSVM(loss=loss, tol=1e-9).fit(X, np.where(y > 0, "yes", "no"))
    assert np.array_equal(svm.coef_, plain.coef_)


def test_a_callback_stops_the_fit():
    X, y = mixed(seed=21)
    counting = Counting(stop_after=2)
    svm = LinearSVM(100.0, solver="interior_point", tol=1e-10).set_callbacks(counting).fit(X, y)
    assert counting.rounds == 2
    assert svm.status_ is Status.STOPPED
    assert svm.certificate_.verdict is SoftVerdict.BOUNDED
    assert svm.certificate_.verify(X, y)


def test_callbacks_of_scikit_learn():
    X, y = mixed(seed=22)
    monitor = ScoringMonitor(scoring="accuracy")
    LinearSVM(tol=1e-8, solver="interior_point").set_callbacks(monitor).fit(X, y)
    assert len(monitor.get_logs(select="most_recent").data) > 2
    for C in (1.0, math.inf):
        LinearSVM(C).set_callbacks(Counting()).fit(X[:, :1], np.where(X[:, 0] > 0, 3, 4))
    three = Counting()
    LinearSVM(multi_class="ovo").set_callbacks(three).fit(X, np.where(X[:, 0] > 1, 2, y))
    assert three.rounds >= 3
    assert len(three.scores) == 1  # of the whole: one of three planes predicts nothing


def test_the_progress_bar_of_scikit_learn(capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    X, y = mixed(seed=23)
    svm = LinearSVM().set_callbacks(ProgressBar()).fit(X, y)
    assert svm.status_ is Status.PROVEN
    assert "LinearSVM" in capsys.readouterr().out
    search = GridSearchCV(LinearSVM(), {"C": [0.1, 1.0]}, cv=2)
    search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(X, y)
    assert "GridSearchCV" in capsys.readouterr().out


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_interrupt_leaves_a_fitted_estimator_with_its_true_gap(strategy):
    X, y = mixed(seed=24)
    y = np.where(X[:, 0] > 1, 2, y)
    svm = LinearSVM(100.0, solver="interior_point", tol=1e-10, multi_class=strategy)
    svm.set_callbacks(Counting(interrupt_after=2))
    with pytest.raises(KeyboardInterrupt):
        svm.fit(X, y)
    assert svm.status_[0] is Status.INTERRUPTED
    assert svm.certificate_.verify(X, y)
    assert all(0.0 < part.relative_gap <= 1.0 for part in svm.certificate_)
    assert svm.class_weight_.tolist() == [1.0, 1.0, 1.0]
    svm.predict(X[:3])


def test_ctrl_c_from_the_keyboard():
    random = np.random.default_rng(25)
    X, y = random.normal(size=(4000, 60)), random.integers(0, 2, 4000)
    LinearSVM(solver="coordinate_descent", max_iter=1).fit(X, y)  # compiles
    svm = LinearSVM(1e4, solver="coordinate_descent", tol=1e-13)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    started = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        svm.fit(X, y)
    assert time.perf_counter() - started < 5.0
    assert svm.status_ is Status.INTERRUPTED
    assert svm.certificate_.verify(X, y)
    assert 0.0 < svm.certificate_.relative_gap <= 1.0


def test_progress_is_shown_on_stderr(capsys):
    X, y = mixed(seed=26)
    LinearSVM(verbose=2, tol=1e-8).fit(X, y)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "sweeps" in shown.err
    assert "gap about" in shown.err
    LinearSVM().fit(X, y)
    assert capsys.readouterr().err == ""


# -------------------------------------------------------------------------------------------------------- warm starts


@each_loss
@with_and_without_bias
def test_a_second_fit_from_the_answer_has_nothing_to_do(loss, bias):
    X, y = mixed(seed=27)
    svm = LinearSVM(loss=loss, fit_intercept=bias, warm_start=True, tol=1e-5).fit(X, y)
    first = svm.certificate_
    svm.fit(X, y)
    assert svm.n_updates_ == 0
    assert svm.solver_ == "none needed"
    assert proven(svm, X, y)
    assert svm.certificate_.relative_gap <= max(1e-5, first.relative_gap)
    weights = np.zeros(len(y))
    weights[first.rows] = first.weights
    given = LinearSVM(loss=loss, fit_intercept=bias, tol=1e-5).fit(X, y, a0=weights)
    assert proven(given, X, y)
    if loss == "squared_hinge":  # the answer of Newton is at the optimum, where a makes the plane
        assert given.n_updates_ == 0
    off = np.linalg.norm(given.dual_coef_ @ X[given.support_] - given.coef_) / np.linalg.norm(given.coef_)
    assert off <= given.certificate_.kkt.stationarity.value + 1e-9


@each_loss
def test_a_warm_start_on_another_c_proves_the_new_one(loss):
    X, y = mixed(seed=28)
    svm = LinearSVM(0.1, loss=loss, warm_start=True, tol=1e-6).fit(X, y)
    for C in (0.1, 10.0, 1e-4):
        svm.set_params(C=C).fit(X, y)
        assert svm.certificate_.C == C
        assert proven(svm, X, y)
    svm.fit(X[:50], y[:50])  # another number of rows: from the start
    assert proven(svm, X[:50], y[:50])


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_a_warm_start_of_many_classes(strategy):
    X, y = mixed(seed=29)
    y = np.where(X[:, 0] > 1, 2, y)
    svm = LinearSVM(multi_class=strategy, warm_start=True).fit(X, y)
    assert svm.fit(X, y).n_updates_ == [0, 0, 0]
    assert proven(svm, X, y)
    a0 = np.zeros((3, len(y)))
    for line, part in zip(a0, svm.certificate_, strict=True):
        line[part.rows] = part.weights
    assert proven(LinearSVM(multi_class=strategy, tol=1e-6).fit(X, y, a0=a0), X, y)


def test_nonsense_to_start_from():
    X, y = mixed(seed=30)
    for a0 in (np.full(len(y), 1e300), np.zeros(len(y)), np.where(y > 0, 1.0, 0.0)):
        assert proven(LinearSVM(tol=1e-6).fit(X, y, a0=a0), X, y)
    for a0 in (np.ones(3), -np.ones(len(y)), np.full(len(y), np.nan), np.ones((2, len(y)))):
        with pytest.raises(ValueError, match="a0 must hold 120 dual variables for each of 1 problems"):
            LinearSVM().fit(X, y, a0=a0)


# -------------------------------------------------------------------------------------------------- forms and numbers


@each_loss
@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_the_same_at_any_scale(loss, scale):
    """s X with C / s^2 is the same problem, and its plane is w / s."""
    X, y = mixed(seed=31)
    svm = LinearSVM(0.5, loss=loss, tol=1e-6).fit(X, y)
    scaled = LinearSVM(0.5 / scale / scale, loss=loss, tol=1e-6).fit(X * scale, y)
    assert np.allclose(scaled.coef_ * scale, svm.coef_, atol=1e-2)
    assert scaled.certificate_.relative_gap <= 1e-6
    assert proven(scaled, X * scale, y)
    one = LinearSVM(1.0, loss=loss, tol=1e-6, max_time=20.0).fit(X * scale, y)  # C far too large, or far too small
    assert one.certificate_.verify(X * scale, y, exact=True)
    assert one.certificate_.is_optimal == (one.status_ is Status.PROVEN)


@each_loss
@with_and_without_bias
@pytest.mark.parametrize("size", [1e3, 1e6, 1e12])
def test_columns_in_units_far_too_small(loss, bias, size):
    """The street is wide, |w|^2 is far below C, and a slack of one rounding error would cost more than all of it."""
    X, y = mixed(seed=37, noise=0.0)
    X[:, 0] += 0.5 if bias else 0.0
    X -= 0.0 if bias else 0.1 * np.outer(y, np.ones(4))
    y = y if bias else np.where(X[:, 0] > 0, 1, -1)
    svm = LinearSVM(0.1, loss=loss, fit_intercept=bias, tol=1e-6).fit(X * size, y)
    assert proven(svm, X * size, y)


@each_loss
def test_float32_and_wide_indices(loss):
    X, y = mixed(seed=32)
    X = np.where(np.abs(X) > 0.5, X, 0.0).astype(np.float32)
    csr = sparse.csr_array(X)
    wide = sparse.csr_array((csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)), csr.shape)
    for table in (X, X.astype(float), csr, wide, sparse.csc_matrix(csr), np.asfortranarray(X), X.tolist()):
        svm = LinearSVM(loss=loss, tol=1e-6).fit(table, y)
        assert svm.coef_.dtype == np.float64
        assert proven(svm, table, y)
        assert proven(svm, X, y)


def test_same_data_same_bits():
    for loss in LOSSES:
        X, y = mixed(3000, 10, seed=33)
        one, other = (LinearSVM(loss=loss).fit(X, y) for _ in range(2))
        assert np.array_equal(one.coef_, other.coef_)
        assert np.array_equal(one.dual_coef_, other.dual_coef_)
        assert one.certificate_.to_json() == other.certificate_.to_json()


@each_loss
def test_flipping_labels_and_permuting_rows_changes_nothing_else(loss):
    X, y = mixed(seed=34)
    svm = LinearSVM(loss=loss, tol=1e-8).fit(X, y)
    order = np.random.default_rng(1).permutation(len(y))
    assert np.allclose(LinearSVM(loss=loss, tol=1e-8).fit(X, -y).coef_, -svm.coef_, atol=1e-3)
    assert np.allclose(LinearSVM(loss=loss, tol=1e-8).fit(X[order], y[order]).coef_, svm.coef_, atol=1e-3)


def test_pickle_clone_and_search():
    X, y = mixed(seed=35)
    svm = LinearSVM(class_weight="balanced").fit(X, y)
    copy = pickle.loads(pickle.dumps(svm))
    assert np.array_equal(copy.predict(X), svm.predict(X))
    assert copy.certificate_.verify(X, y)
    assert copy.status_ is Status.PROVEN
    assert not hasattr(clone(svm), "coef_")
    pipeline = make_pipeline(StandardScaler(), LinearSVM())
    search = GridSearchCV(pipeline, {"linearsvm__C": [0.01, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.7


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"C": 0.0}, "C must be a positive number"),
        ({"C": -1.0}, "C must be a positive number .*not -1.0"),
        ({"C": math.nan}, "C must be a positive number"),
        ({"C": "1"}, "C must be a positive number .*not '1'"),
        ({"C": None}, "C must be a positive number .*not None"),
        ({"loss": "logistic"}, "loss='logistic' is not known; it can be 'hinge', 'squared_hinge'"),
        ({"tol": 0.0}, "tol must be a positive number, not 0.0"),
        ({"tol": None}, "tol must be a positive number, not None"),
        ({"solver": "best"}, "solver='best' is not known; it can be 'auto'"),
        ({"solver": "newton"}, 'solver="newton" is for loss="squared_hinge"'),
        ({"solver": "sieve", "loss": "squared_hinge"}, 'solver="sieve" is for loss="hinge"'),
        ({"multi_class": "many"}, "multi_class='many' is not known; it can be 'ovr', 'ovo'"),
        ({"max_iter": 0}, "max_iter must be a positive whole number or None, not 0"),
        ({"max_iter": 2.5}, "max_iter must be a positive whole number or None, not 2.5"),
        ({"max_time": -1}, "max_time must be a positive number of seconds or None, not -1"),
        ({"class_weight": "fair"}, "class_weight"),
        ({"class_weight": {0: 0.0}}, "class_weight must be positive and finite; class 0 has 0.0"),
        ({"class_weight": {0: math.inf}}, "class_weight must be positive and finite; class 0 has inf"),
        ({"class_weight": {"zero": 1.0}}, "zero|class"),
    ],
)
def test_bad_parameters_are_named(settings, words):
    with pytest.raises(ValueError, match=words):
        LinearSVM(**settings).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


def test_a_failed_fit_keeps_the_last_one():
    X, y = mixed(seed=36)
    svm = LinearSVM().fit(X, y)
    before = svm.coef_
    with pytest.raises(ValueError, match="NaN"):
        svm.fit(np.where(X > 2.0, np.nan, X), y)
    assert svm.coef_ is before


# -------------------------------------------------------------------------------------------------- whatever comes in


@given(
    data=tables(scales=st.one_of(st.just(0), extreme)),
    form=forms,
    loss=st.sampled_from(LOSSES),
    bias=st.booleans(),
    C=st.sampled_from([1e-6, 0.1, 1.0, 7.0, 1e3]),
    weighted=st.booleans(),
)
@settings(max_examples=100)
def test_whatever_it_says_is_exactly_true(data, form, loss, bias, C, weighted):
    """Degenerate tables of every kind, in every form and scale."""
    weights = 1.0 + np.arange(len(data.y)) % 3 if weighted else None
    X = form(data.X)
    svm = LinearSVM(C, loss=loss, fit_intercept=bias, tol=1e-6, max_time=5.0).fit(X, data.y, sample_weight=weights)
    certificate = svm.certificate_
    assert certificate.relative_gap >= 0.0
    assert certificate.is_optimal == (svm.status_ is Status.PROVEN)
    for exact in (False, True):
        answer = certificate.verify(X, data.y, exact=exact, sample_weight=weights)
        assert answer, answer


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 60),
    d=st.integers(1, 8),
    digits=st.integers(0, 8),
    loss=st.sampled_from(LOSSES),
    bias=st.booleans(),
    C=st.sampled_from([1e-4, 0.01, 1.0, 100.0, 1e4]),
)
@settings(max_examples=150)
def test_ordinary_data_are_always_proven(seed, n, d, digits, loss, bias, C):
    """Few digits make duplicates and ties."""
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(n, d)), digits)
    y = np.where(X[:, 0] + random.normal(size=n) > 0, 1, -1)
    y[:2] = [1, -1]
    svm = LinearSVM(C, loss=loss, fit_intercept=bias, tol=1e-6, max_time=20.0).fit(X, y)
    assert proven(svm, X, y)
