"""The soft margin of tables of every form and scale, of wrong parameters, and of whatever comes in."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from soft_fits import LOSSES, each_loss, mixed, proven, with_and_without_bias
from strategies import extreme, forms, tables

from maxmargin import LinearSVM
from maxmargin.run.control import Status

# -------------------------------------------------------------------------------------------------- forms and numbers


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
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
        ({"tol": 0.0}, "tol must be a number above 0 and below 1, not 0.0"),
        ({"tol": None}, "tol must be a number above 0 and below 1, not None"),
        ({"solver": "best"}, "solver='best' is not known; it can be 'auto'"),
        ({"solver": "newton"}, 'solver="newton" is for losses that bend, as loss="squared_hinge": the hinge has no'),
        ({"solver": "sieve", "loss": "squared_hinge"}, 'solver="sieve" is for losses with a box, as loss="hinge"'),
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


@pytest.mark.parametrize("solver", ["interior_point", "sieve"])
def test_too_many_columns_for_a_matrix_are_counted(solver):
    X = sparse.random_array((50, 60_000), density=1e-3, random_state=0, format="csr")
    with pytest.raises(ValueError, match="X has 60,000 of them, and 20,000 are too many already"):
        LinearSVM(solver=solver).fit(X, np.arange(50) % 2)


def test_a_failed_fit_keeps_the_last_one():
    X, y = mixed(seed=36)
    svm = LinearSVM().fit(X, y)
    before = svm.coef_
    with pytest.raises(ValueError, match="NaN"):
        svm.fit(np.where(X > 2.0, np.nan, X), y)
    assert svm.coef_ is before


# -------------------------------------------------------------------------------------------------- whatever comes in


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(
    data=tables(scales=st.one_of(st.just(0), extreme)),
    form=forms,
    loss=st.sampled_from(LOSSES),
    bias=st.booleans(),
    C=st.sampled_from([1e-6, 0.1, 1.0, 7.0, 1e3]),
    weighted=st.booleans(),
)
@settings(max_examples=40)
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
@settings(max_examples=40)
def test_ordinary_data_are_always_proven(seed, n, d, digits, loss, bias, C):
    """Few digits make duplicates and ties."""
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(n, d)), digits)
    y = np.where(X[:, 0] + random.normal(size=n) > 0, 1, -1)
    y[:2] = [1, -1]
    svm = LinearSVM(C, loss=loss, fit_intercept=bias, tol=1e-6, max_time=20.0).fit(X, y)
    assert proven(svm, X, y)
