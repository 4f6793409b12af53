"""`leave_one_out`: as many errors as n fits make, and nothing is said of a row that a loose proof leaves open."""

import math

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import (
    HardMarginSVM,
    KernelSVM,
    LeaveOneOut,
    LinearSVM,
    LinearSVMCV,
    NotSeparableError,
    StochasticSVM,
    certify,
    leave_one_out,
)
from maxmargin.data.synthetic import overlapping, street
from maxmargin.estimators import leave_one_out as module
from maxmargin.estimators.left_out import best_plane_near, centred

NOISY = overlapping(40, seed=5)


def by_fits(estimator, X, y, sample_weight=None):
    """The rows that are wrong, by a fit without each of them."""
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
    wrong = []
    for row in np.flatnonzero(weights > 0.0):
        kept = np.arange(len(y)) != row
        if len(np.unique(y[kept & (weights > 0.0)])) < 2:
            wrong.append(row)
            continue
        model = clone(estimator).set_params(tol=1e-10).fit(X[kept], y[kept], weights[kept])
        if model.predict(X[row : row + 1])[0] != y[row]:
            wrong.append(row)
    return wrong


@pytest.mark.parametrize(
    "estimator",
    [
        LinearSVM(),
        LinearSVM(C=0.02),
        LinearSVM(C=50.0),
        LinearSVM(fit_intercept=False),
        LinearSVM(loss="squared_hinge"),
        LinearSVM(loss="huber_hinge"),
        LinearSVM(class_weight={1: 3.0, -1: 1.0}),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_as_many_errors_as_n_fits_make(estimator):
    X, y = NOISY
    answer = leave_one_out(estimator, X, y, cv=None)
    assert answer.is_exact
    assert answer.wrong.tolist() == by_fits(estimator, X, y)
    assert answer.error_lower == answer.error_upper == len(answer.wrong) / 40
    assert answer.n_known + answer.n_refits == 40
    mistakes = np.flatnonzero(clone(estimator).set_params(tol=1e-8).fit(X, y).predict(X) != y)
    assert set(mistakes) <= set(answer.wrong.tolist())
    assert len(answer.wrong) <= answer.n_support


@pytest.mark.parametrize("estimator", [HardMarginSVM(), LinearSVM(C=math.inf), HardMarginSVM(fit_intercept=False)])
def test_hard_margins_refit_the_support_alone(estimator):
    if estimator.fit_intercept:
        X, y, _ = street(60, seed=3)
    else:
        X, y, _ = street(60, seed=3)
        X = np.hstack([X, np.ones((60, 1))])
    answer = leave_one_out(estimator, X, y, cv=None)
    assert answer.is_exact
    assert answer.wrong.tolist() == by_fits(estimator, X, y)
    assert answer.n_refits <= answer.n_support + 2 <= 7
    assert answer.certificate.is_separable


def test_a_row_that_holds_the_street_alone_can_be_wrong():
    X = np.array([[0.0], [1.0], [4.0], [5.0], [9.0]])
    y = np.array([0, 0, 0, 1, 1])  # without row 2 the middle is 3, and row 2 beyond it; without row 3 it is 6.5
    answer = leave_one_out(HardMarginSVM(), X, y)
    assert answer.wrong.tolist() == [2, 3]
    assert answer.n_refits == 2
    assert (answer.error_lower, answer.is_exact) == (0.4, True)


def test_without_refits_the_bounds_hold():
    X, y = NOISY
    estimator = LinearSVM()
    exact, bounded = (leave_one_out(estimator, X, y, cv=None, refit=refit) for refit in (True, False))
    assert bounded.n_refits == 0
    assert bounded.error_lower <= exact.error_lower
    assert exact.error_upper <= bounded.error_upper
    assert len(bounded.wrong) + len(bounded.undecided) <= bounded.n_support + 2
    assert "undecided" in str(bounded)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    tol=st.sampled_from([0.5, 1e-1, 1e-2, 1e-4]),
    loss=st.sampled_from(["hinge", "squared_hinge"]),
    bias=st.booleans(),
    C=st.sampled_from([0.05, 1.0, 20.0]),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_intervals_hold_the_optimum_however_loose_the_proof(seed, tol, loss, bias, C):
    """A weight that is 0 in a loose dual point says nothing by itself."""
    X, y = overlapping(24, seed=seed)
    X = X + 3.0
    loose = LinearSVM(C=C, loss=loss, fit_intercept=bias, tol=tol, solver="coordinate_descent").fit(X, y).certificate_
    everything = np.ones(24, dtype=bool)
    found = best_plane_near(loose, centred(X, bias), y.astype(float), np.full(24, C), everything)
    best = LinearSVM(C=C, loss=loss, fit_intercept=bias, tol=1e-9).fit(X, y)
    values = y * best.decision_function(X)
    assert np.all(found.lower <= values + 1e-3)
    assert np.all(values - 1e-3 <= found.upper)
    weightless = np.ones(24, dtype=bool)
    weightless[loose.rows[loose.weights > 0.0]] = False
    for row in np.flatnonzero(weightless & found.is_free & (found.lower > 0.0)):
        kept = np.arange(24) != row
        others = LinearSVM(C=C, loss=loss, fit_intercept=bias, tol=1e-9).fit(X[kept], y[kept])
        assert y[row] * others.decision_function(X[row : row + 1])[0] >= found.lower[row] - 1e-3


@pytest.mark.parametrize("bias", [True, False])
def test_intervals_of_a_hard_margin_hold_the_optimum(bias):
    X, y, _ = street(30, seed=4)
    X = X if bias else np.hstack([X, np.ones((30, 1))])
    best = HardMarginSVM(fit_intercept=bias).fit(X, y)
    for tilt in (0.0, 1e-6, 1e-3, 0.02):  # planes that separate, beside the weights of the best one
        w = best.coef_[0] + tilt * np.linalg.norm(best.coef_[0]) * np.resize([1.0, -1.0], X.shape[1])
        b = best.intercept_[0] * (1.0 + tilt)
        given_plane = certify(X, y, w, b, fit_intercept=bias).certificate
        assert given_plane.is_separable
        found = best_plane_near(given_plane, centred(X, bias), y.astype(float), np.ones(30), np.ones(30, dtype=bool))
        values = y * best.decision_function(X)
        assert np.all(found.lower <= values + 1e-9)
        assert np.all(values <= found.upper + 1e-9)


def test_a_fit_that_is_loose_leaves_rows_open(monkeypatch):
    X, y = NOISY
    truth = by_fits(LinearSVM(), X, y)
    monkeypatch.setattr(module, "TOLS", (0.3,))
    answer = leave_one_out(LinearSVM(tol=0.3), X, y, cv=None)
    assert len(answer.undecided) > 0
    assert set(answer.wrong.tolist()) <= set(truth) <= set(answer.wrong.tolist()) | set(answer.undecided.tolist())
    assert not answer.is_exact


def test_the_only_row_of_a_class_is_wrong():
    X, y = np.array([[0.0], [1.0], [5.0]]), np.array(["a", "a", "b"])
    answer = leave_one_out(HardMarginSVM(), X, y)
    assert answer.wrong.tolist() == [2]
    assert math.isnan(answer.cross_validated)


def test_weights_and_rows_that_do_not_count():
    X, y = NOISY
    weights = np.random.default_rng(0).uniform(0.2, 3.0, 40)
    weights[[3, 7]] = 0.0
    answer = leave_one_out(LinearSVM(), X, y, weights, cv=None)
    assert answer.n_rows == 38
    assert answer.wrong.tolist() == by_fits(LinearSVM(), X, y, weights)


def test_balanced_weights_are_those_of_all_rows():
    X, y = NOISY[0][:30], NOISY[1][:30]
    counts = {label: 30 / (2 * np.count_nonzero(y == label)) for label in (-1, 1)}
    balanced, fixed = (leave_one_out(LinearSVM(class_weight=w), X, y, cv=None) for w in ("balanced", counts))
    assert balanced.wrong.tolist() == fixed.wrong.tolist()
    assert balanced.certificate.primal == pytest.approx(fixed.certificate.primal, rel=1e-12)


def test_sparse_rows_and_words():
    X, y = NOISY
    words = np.where(y == 1, "yes", "no")
    dense, thin = (leave_one_out(LinearSVM(), table, words) for table in (X, sparse.csr_array(X)))
    assert dense.wrong.tolist() == thin.wrong.tolist() == by_fits(LinearSVM(), X, y)
    assert dense.cross_validated == thin.cross_validated


def test_one_row_is_spoken_of_as_one():
    answer = LeaveOneOut(4, np.array([2]), np.array([3]), 1, 1, 1, float("nan"), None)
    assert answer.report().splitlines()[1:] == [
        "  1 row carries weight; 1 row is decided by the fit of all rows, 1 by a fit without it",
        "  1 row is undecided: no fit was made without, or none tells",
    ]


def test_the_cross_validated_error_stands_beside_it():
    X, y = NOISY
    answer = leave_one_out(LinearSVM(), X, y, cv=4)
    assert 0.0 < answer.cross_validated < 0.5
    assert (answer.cross_validated * 40).is_integer()
    assert f"cross-validated error {answer.cross_validated:.4g}" in str(answer)
    assert f"The leave-one-out error is {len(answer.wrong)} of 40 rows, which is proven." in str(answer)
    assert repr(answer).startswith("LeaveOneOut(error in [")


def test_no_time_leaves_all_that_needs_a_fit_open():
    X, y = NOISY
    answer = leave_one_out(LinearSVM(), X, y, cv=None, max_time=1e-9)
    assert answer.n_refits == 0
    assert answer.error_lower < answer.error_upper


def test_the_estimator_is_left_as_it_is():
    X, y = NOISY
    estimator = LinearSVM(tol=1e-2)
    leave_one_out(estimator, X, y, refit=False, cv=None)
    assert estimator.tol == 1e-2
    assert not hasattr(estimator, "coef_")


@pytest.mark.parametrize(
    ("estimator", "sentence"),
    [
        (KernelSVM(), "takes a LinearSVM or a HardMarginSVM, not KernelSVM"),
        (StochasticSVM(), "not StochasticSVM"),
        (LinearSVMCV(), "LinearSVMCV chooses C by its rows"),
        (make_pipeline(StandardScaler(), LinearSVM()), "Of a pipeline, give the last step"),
        (HardMarginSVM("l1"), 'norm="l1" need not be one plane'),
    ],
)
def test_what_has_no_optimum(estimator, sentence):
    with pytest.raises(ValueError, match=sentence):
        leave_one_out(estimator, *NOISY)


def test_three_labels_and_data_without_a_margin():
    with pytest.raises(ValueError, match="two labels, and y has 3: 0, 1, 2"):
        leave_one_out(LinearSVM(), *load_iris(return_X_y=True))
    with pytest.raises(NotSeparableError):
        leave_one_out(HardMarginSVM(), *NOISY)
    with pytest.raises(NotSeparableError):
        leave_one_out(HardMarginSVM(on_inseparable="return"), *NOISY)
