"""SVC and LinearSVC as scikit-learn's users know them; what they find is proven, and is what scikit-learn finds."""

import inspect
import logging
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sparse
import sklearn.svm._classes as theirs
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_classification
from sklearn.exceptions import ConvergenceWarning

import maxmargin.sklearn
from maxmargin import audit
from maxmargin.sklearn import SVC, LinearSVC, SGDClassifier
from maxmargin.sklearn.delegation import TOLD

X3, Y3 = load_iris(return_X_y=True)
X2, Y2 = make_classification(120, 6, random_state=0, flip_y=0.1)
NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.mark.parametrize("ours", [SVC, LinearSVC])
def test_signatures_are_theirs(ours):
    original = getattr(theirs, ours.__name__)
    assert issubclass(ours, original)
    assert inspect.signature(ours) == inspect.signature(original)
    assert list(inspect.signature(ours.fit).parameters) == list(inspect.signature(original.fit).parameters)
    assert repr(ours(C=2.0)) == repr(original(C=2.0))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_attributes_of_svc_are_theirs(kernel, is_sparse):
    X = sparse.csr_matrix(X3) if is_sparse else X3
    ours, original = (kind(kernel=kernel, coef0=1.0).fit(X, NAMES[Y3]) for kind in (SVC, theirs.SVC))
    for name in ("dual_coef_", "support_", "support_vectors_", "n_support_", "intercept_", "class_weight_", "n_iter_"):
        mine, his = getattr(ours, name), getattr(original, name)
        assert type(mine) is type(his), name
        assert mine.dtype == his.dtype, name
        assert mine.ndim == his.ndim, name
    assert ours.dual_coef_.shape == (2, len(ours.support_))
    assert np.all(np.diff(Y3[ours.support_]) >= 0)
    assert ours.n_support_.sum() == len(ours.support_)
    assert ours.fit_status_ == 0
    assert ours.shape_fit_ == original.shape_fit_
    np.testing.assert_allclose(ours.decision_function(X), original.decision_function(X), atol=0.02)
    ours.decision_function_shape = original.decision_function_shape = "ovo"
    np.testing.assert_allclose(ours.decision_function(X), original.decision_function(X), atol=0.02)
    assert ours.certificate_.is_optimal
    assert ours.certificate_.verify(X, NAMES[Y3])


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("scaling", [1, 7.5])
def test_regularised_bias_is_solved_and_proven(is_sparse, loss, scaling):
    X = sparse.csr_array(X2 + 1.0) if is_sparse else X2 + 1.0
    settings = {"loss": loss, "intercept_scaling": scaling, "C": 0.5, "class_weight": {0: 2.0, 1: 1.0}}
    ours = LinearSVC(**settings).fit(X, Y2)
    original = theirs.LinearSVC(**settings, max_iter=100_000, tol=1e-8, dual=True, random_state=0).fit(X, Y2)
    np.testing.assert_allclose(ours.coef_, original.coef_, atol=2e-3)
    np.testing.assert_allclose(ours.intercept_, original.intercept_, atol=2e-3)
    assert ours.certificate_.relative_gap <= 1e-6
    assert ours.certificate_.verify(X, Y2, exact=True)
    assert not ours.certificate_.verify(X2, Y2)
    assert isinstance(ours.n_iter_, int)


def test_parts_of_many_classes_take_the_users_rows():
    ours = LinearSVC().fit(X3, NAMES[Y3])
    assert ours.coef_.shape == (3, 4)
    assert len(ours.certificate_) == 3
    assert all(part.verify(X3, NAMES[Y3]) for part in ours.certificate_)
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(ours.certificate_)
    again = pickle.loads(pickle.dumps(ours))
    assert again.certificate_.verify(X3, NAMES[Y3])
    refused = ours.certificate_.verify([["a"]], [1])
    assert not refused


@pytest.mark.parametrize("ours", [SVC(), LinearSVC(), SVC(kernel="linear")])
def test_weights_are_part_of_what_is_proven(ours):
    weights = np.arange(len(Y2)) % 4
    fitted = clone(ours).set_params(class_weight="balanced").fit(X2, Y2, sample_weight=weights)
    assert fitted.certificate_.verify(X2, Y2, sample_weight=weights)
    assert not fitted.certificate_.verify(X2, Y2)
    negative = clone(ours).set_params(class_weight="balanced").fit(X2, Y2, np.where(weights == 0, -1.0, weights))
    kept = weights > 0
    np.testing.assert_array_equal(negative.predict(X2[kept]), fitted.predict(X2[kept]))


def test_class_without_weight():
    """SVC keeps the class, and predicts it nowhere; LinearSVC has no plane for it."""
    for out in range(3):
        kept = np.isin(Y3, out, invert=True)
        weights = kept.astype(float)
        ours = SVC(gamma=0.5).fit(X3, Y3, sample_weight=weights)
        assert ours.classes_.tolist() == [0, 1, 2]
        np.testing.assert_array_equal(ours.predict(X3), theirs.SVC(gamma=0.5).fit(X3[kept], Y3[kept]).predict(X3))
        assert ours.certificate_.verify(X3, Y3, sample_weight=weights)
    with pytest.raises(ValueError, match="all samples of the class"):
        LinearSVC().fit(X3, Y3, sample_weight=weights)
    with pytest.raises(ValueError, match="all samples have zero or negative weights"):
        SVC().fit(X3, Y3, sample_weight=np.zeros(len(Y3)))
    with pytest.raises(ValueError, match="belong to the same class"):
        SVC().fit(X3, Y3, sample_weight=(Y3 == 1).astype(float))


def test_functions_and_tables_as_kernels():
    function = SVC(kernel=lambda A, B: A @ B.T).fit(X3, Y3)
    table = SVC(kernel="precomputed").fit(X3 @ X3.T, Y3)
    assert function.certificate_.verify(X3, Y3)
    assert table.certificate_.verify(X3 @ X3.T, Y3)
    np.testing.assert_array_equal(function.dual_coef_, table.dual_coef_)
    np.testing.assert_array_equal(function.predict(X3), table.predict(X3 @ X3.T))
    assert function.support_vectors_.shape == (0, 0)
    with pytest.raises(ValueError, match="should be equal"):
        SVC(kernel=lambda A, B: np.ones((3, 4))).fit(X3, Y3)
    with pytest.raises(ValueError, match="the kernel of these rows has values that float64 cannot hold"):
        SVC(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)).fit(X3, Y3)


def test_limits_give_their_warnings():
    X, y = make_blobs(400, centers=2, cluster_std=6.0, random_state=0)
    svc = SVC(C=1e4, gamma=1.0, max_iter=1)
    with pytest.warns(ConvergenceWarning, match=r"Solver terminated early \(max_iter=1\)"):
        svc.fit(X, y)
    assert svc.fit_status_ == 1
    assert svc.n_iter_.tolist() == [1]
    assert not svc.certificate_.is_optimal
    assert svc.certificate_.verify(X, y)
    linear = LinearSVC(C=10.0, loss="hinge", max_iter=2)
    with pytest.warns(ConvergenceWarning, match="Liblinear failed to converge"):
        linear.fit(X, y)
    assert linear.n_iter_ == 2
    assert linear.certificate_.verify(X, y)


def test_numbers_beyond_float64():
    X = np.finfo(float).max * np.random.default_rng(0).uniform(size=(10, 2))
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="intercepts are not finite"):
        SVC(gamma=1.0).fit(X, np.arange(10) % 2)


DELEGATED = {
    'SVC(kernel="sigmoid")': SVC(kernel="sigmoid"),
    "SVC(probability=True)": SVC(probability=True),
    'LinearSVC(penalty="l1")': LinearSVC(penalty="l1", dual=False),
    'LinearSVC(multi_class="crammer_singer")': LinearSVC(multi_class="crammer_singer"),
}


@pytest.mark.filterwarnings("ignore:The `probability` parameter:FutureWarning")
def test_four_cases_are_theirs_and_no_other(caplog):
    TOLD.clear()
    caplog.set_level(logging.INFO, logger="maxmargin.sklearn")
    for estimator in DELEGATED.values():
        fitted = clone(estimator).fit(X2, Y2)
        clone(estimator).fit(X2, Y2)
        assert not hasattr(fitted, "certificate_")
        original = getattr(theirs, type(fitted).__name__)(**estimator.get_params())
        assert len(original.fit(X2, Y2).predict(X2)) == len(Y2)
    assert set(DELEGATED) == TOLD
    assert [record.getMessage().partition(" is fitted")[0] for record in caplog.records] == list(DELEGATED)
    TOLD.clear()
    for kernel in ("linear", "rbf", "poly"):
        assert SVC(kernel=kernel, coef0=1.0).fit(X2, Y2).certificate_.is_optimal
    for loss in ("hinge", "squared_hinge"):
        assert LinearSVC(loss=loss).fit(X2, Y2).certificate_.is_optimal
    assert not TOLD
    sigmoid = SVC().fit(X2, Y2).set_params(kernel="sigmoid").fit(X2, Y2)
    assert not hasattr(sigmoid, "certificate_")


def test_ties_are_theirs():
    """At f = 0 each predicts what its original does."""
    X, y = [[-1.0], [1.0]], [0, 1]
    linear = LinearSVC(fit_intercept=False).fit(X, y)
    assert linear.decision_function([[0.0]]).tolist() == [0.0]
    assert linear.predict([[0.0]]).tolist() == [0]
    assert SVC.predict is theirs.SVC.predict
    X, y = make_blobs(60, centers=4, random_state=3, cluster_std=3.0)
    ours = SVC(break_ties=True).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), np.argmax(ours.decision_function(X), axis=1))


def test_audit_knows_them():
    fitted = SVC().fit(X2, Y2)
    assert audit(fitted, X2, Y2).excess <= 1e-5


def test_nothing_is_imported_unasked():
    program = "import sys, maxmargin; print('sklearn' in sys.modules or 'maxmargin.sklearn' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "False"


LIMITS = [{"gamma": 0.0}, {"kernel": "poly", "gamma": 0.0, "coef0": 2.0}, {"kernel": "poly", "degree": 0}]


@pytest.mark.parametrize("settings", LIMITS)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_kernels_that_are_constant_are_solved_and_proven(settings, is_sparse):
    X = sparse.csr_matrix(X3) if is_sparse else X3
    ours, original = (kind(**settings).fit(X, Y3) for kind in (SVC, theirs.SVC))
    assert ours.certificate_.is_optimal
    assert ours.certificate_.verify(X, Y3)
    np.testing.assert_array_equal(ours.predict(X), original.predict(X))
    assert pickle.loads(pickle.dumps(ours)).certificate_.verify(X, Y3)


def test_negative_coef0_is_proven_where_there_is_a_space_and_refused_where_there_is_none():
    flat = SVC(kernel="poly", degree=1, gamma=1.0, coef0=-5.0).fit(X2, Y2)  # a bias takes the constant up
    np.testing.assert_allclose(
        flat.decision_function(X2), SVC(kernel="linear").fit(X2, Y2).decision_function(X2), atol=1e-4
    )
    assert flat.certificate_.verify(X2, Y2)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        SVC(kernel="poly", degree=2, gamma=1.0, coef0=-5.0).fit(X2, Y2)


@pytest.mark.parametrize("weights", ["balanced", {"a": 1.0, "b": 5.0, "c": 9.0}])
def test_weight_of_a_class_counts_in_its_own_problem(weights):
    """Against the rest, liblinear gives the others weight 1."""
    X, codes = make_blobs([100, 40, 15], random_state=0, cluster_std=2.5)
    y = np.array(["a", "b", "c"])[codes]
    settings = {"class_weight": weights, "C": 0.1}
    ours = LinearSVC(**settings).fit(X, y)
    original = theirs.LinearSVC(**settings, tol=1e-9, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, original.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, original.intercept_, atol=1e-4)
    assert ours.certificate_.verify(X, y, exact=True)
    assert audit(ours, X, y).excess <= 1e-5


def test_no_warning_where_the_limit_was_enough():
    linear, kernel = (svc.fit([[-1.0], [1.0]], [0, 1]) for svc in (LinearSVC(max_iter=2), SVC(max_iter=1)))
    assert linear.certificate_.is_optimal
    assert kernel.certificate_.is_optimal
    assert kernel.fit_status_ == 0


def entries_twice(X):
    """The same table, each number as two halves in one place."""
    table = sparse.csr_matrix(X)
    return sparse.csr_matrix((np.repeat(table.data, 2) / 2, np.repeat(table.indices, 2), table.indptr * 2), X.shape)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_entries_that_stand_twice_are_added(kernel):
    """In the fit and in predictions: the plane that is proven is the one that predicts."""
    once, twice = (SVC(kernel=kernel).fit(X, Y3) for X in (sparse.csr_matrix(X3), entries_twice(X3)))
    for X in (X3, entries_twice(X3), sparse.csr_matrix(X3)):
        np.testing.assert_array_equal(twice.decision_function(X), once.decision_function(X))
    given = entries_twice(X3)
    assert twice.certificate_.verify(given, Y3)
    twice.predict(given)
    assert given.nnz == 2 * np.count_nonzero(X3)  # the user's own stays as it is


@pytest.mark.parametrize("weight", [0.0, -1.0])
@pytest.mark.parametrize("svc", [SVC(), LinearSVC(), SGDClassifier()])
@pytest.mark.parametrize("classes", [2, 3])
def test_classes_that_weigh_nothing_are_refused_in_a_sentence(svc, weight, classes):
    kept = np.isin(Y3, range(classes))
    with pytest.raises(ValueError, match="class_weight must be positive and finite; class 1 has"):
        clone(svc).set_params(class_weight={1: weight}).fit(X3[kept], Y3[kept])


def test_one_class_is_loaded_without_the_others():
    program = "import sys; from maxmargin.sklearn import SVC; print('maxmargin.sklearn.perceptron' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "False"
    program = "from maxmargin.sklearn import *; print(LinearSVC, Perceptron, SGDClassifier, patch_sklearn)"
    assert "SGDClassifier" in subprocess.check_output([sys.executable, "-c", program], text=True)
    assert not hasattr(maxmargin.sklearn, "NuSVC")
