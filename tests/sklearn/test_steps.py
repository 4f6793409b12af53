"""SGDClassifier finds the optimum of what it minimises; a Perceptron says what became of its promise."""

import inspect
import logging
import pickle

import numpy as np
import pytest
import scipy.sparse as sparse
import sklearn.linear_model as linear_model
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_classification
from sklearn.linear_model._perceptron import Perceptron as TheirPerceptron
from sklearn.linear_model._stochastic_gradient import SGDClassifier as TheirSGDClassifier

import maxmargin
from maxmargin import audit
from maxmargin.sklearn import SVC, LinearSVC, Perceptron, SGDClassifier
from maxmargin.sklearn.delegation import TOLD

X3, Y3 = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
X2, Y2 = make_classification(120, 6, random_state=0, flip_y=0.1)
LOSSES = {"hinge": lambda z: np.maximum(0.0, 1.0 - z), "squared_hinge": lambda z: np.maximum(0.0, 1.0 - z) ** 2}


def objective(sgd, X, signs, weights):
    """alpha/2 |w|^2 and the mean loss, as scikit-learn states it."""
    values = signs * (X @ sgd.coef_[0] + sgd.intercept_[0])
    return 0.5 * sgd.alpha * np.sum(sgd.coef_**2) + np.mean(weights * LOSSES[sgd.loss](values))


@pytest.mark.parametrize(("ours", "original"), [(SGDClassifier, TheirSGDClassifier), (Perceptron, TheirPerceptron)])
def test_signatures_are_theirs(ours, original):
    assert issubclass(ours, original)
    assert inspect.signature(ours) == inspect.signature(original)
    for method in ("fit", "partial_fit"):
        mine, his = (inspect.signature(getattr(kind, method)).parameters for kind in (ours, original))
        assert list(mine) == list(his)
    assert repr(ours(alpha=2.0)) == repr(original(alpha=2.0))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_optimum_of_the_stated_objective(loss, is_sparse):
    X, weights = sparse.csr_array(X2) if is_sparse else X2, 1.0 + np.arange(len(Y2)) % 3
    settings = {"loss": loss, "alpha": 0.01, "class_weight": {0: 2.0, 1: 1.0}}
    ours = SGDClassifier(**settings).fit(X, Y2, sample_weight=weights)
    steps = TheirSGDClassifier(**settings, random_state=0).fit(X, Y2, sample_weight=weights)
    signs, counted = np.where(Y2 == 1, 1.0, -1.0), weights * np.where(Y2 == 0, 2.0, 1.0)
    best, theirs = (objective(one, X2, signs, counted) for one in (ours, steps))
    assert best <= theirs * (1.0 + 1e-6)
    assert ours.certificate_.primal * 0.01 == pytest.approx(best, rel=1e-6)
    assert ours.certificate_.relative_gap <= 1e-4
    assert ours.certificate_.verify(X, Y2, sample_weight=weights, exact=True)
    assert audit(clone(ours).fit(X, Y2), X, Y2).excess <= 1e-4


def test_attributes_are_theirs():
    for y in (Y3, Y3 == 1):
        ours, original = (kind(random_state=0).fit(X3, y) for kind in (SGDClassifier, TheirSGDClassifier))
        for name in ("coef_", "intercept_", "classes_"):
            mine, his = getattr(ours, name), getattr(original, name)
            assert (type(mine), mine.shape, mine.dtype) == (type(his), his.shape, his.dtype), name
        assert set(vars(original)) <= set(vars(ours))
        assert isinstance(ours.n_iter_, int)
        assert ours.predict(X3).dtype == original.predict(X3).dtype
    assert ours.score(X3, y) >= original.score(X3, y) - 0.1


def test_weight_of_a_class_counts_in_its_own_problem():
    X, codes = make_blobs([60, 30, 10], random_state=0, cluster_std=2.5)
    ours = SGDClassifier(alpha=0.1, class_weight="balanced").fit(X, NAMES[codes])
    assert len(ours.certificate_) == 3
    assert ours.certificate_.verify(X, NAMES[codes], exact=True)
    assert audit(ours, X, NAMES[codes]).excess <= 1e-4


def test_a_run_goes_on_from_the_optimum():
    for dtype in (np.float32, np.float64):
        X = X2.astype(dtype)
        ours = SGDClassifier().fit(X, Y2)
        assert ours.certificate_.verify(X, Y2)
        ours.partial_fit(X, Y2)
        assert not hasattr(ours, "certificate_")


DELEGATED = {
    'SGDClassifier(loss="log_loss")': SGDClassifier(loss="log_loss"),
    "SGDClassifier(penalty='l1')": SGDClassifier(penalty="l1"),
    "SGDClassifier(alpha=0)": SGDClassifier(alpha=0.0, learning_rate="constant", eta0=0.1),
    "SGDClassifier(average=True)": SGDClassifier(average=True),
    "SGDClassifier(early_stopping=True)": SGDClassifier(early_stopping=True),
    "SGDClassifier(warm_start=True)": SGDClassifier(warm_start=True),
    "Perceptron(penalty='l2')": Perceptron(penalty="l2"),
    "Perceptron(early_stopping=True)": Perceptron(early_stopping=True),
}


def test_what_is_theirs_and_nothing_else(caplog):
    TOLD.clear()
    caplog.set_level(logging.INFO, logger="maxmargin.sklearn")
    for estimator in DELEGATED.values():
        assert not hasattr(clone(estimator).fit(X2, Y2), "certificate_")
    SGDClassifier().fit(X2, Y2, coef_init=np.zeros((1, 6)))
    SGDClassifier().partial_fit(X2, Y2, classes=[0, 1])
    Perceptron().partial_fit(X2, Y2, classes=[0, 1])
    others = {"SGDClassifier with coef_init or intercept_init", "SGDClassifier.partial_fit", "Perceptron.partial_fit"}
    assert {*DELEGATED, *others} == TOLD
    assert len(caplog.records) == len(TOLD)
    TOLD.clear()
    for loss in ("hinge", "squared_hinge", "modified_huber"):
        how = {"learning_rate": "adaptive", "eta0": 0.1, "shuffle": False, "max_iter": 3, "tol": None}
        assert SGDClassifier(loss=loss, **how).fit(X2, Y2).certificate_.is_optimal
    Perceptron(class_weight="balanced", eta0=0.5, warm_start=True).fit(X2, Y2)
    assert not TOLD


def test_perceptron_keeps_its_promise():
    """scikit-learn's stops with mistakes where a plane separates; which of these it is, is proven."""
    X, y = make_blobs(60, centers=2, random_state=2, cluster_std=1.0)
    X = X * [1.0, 1e-3] + [50.0, 0.0]
    original, ours = (kind(max_iter=2, tol=None).fit(X, y) for kind in (TheirPerceptron, Perceptron))
    assert original.score(X, y) < 1.0
    assert ours.certificate_.is_separable
    assert ours.score(X, y) == 1.0
    assert ours.certificate_.verify(X, y, exact=True)
    apart = Perceptron().fit(X3, Y3 == 0)
    np.testing.assert_array_equal(apart.coef_, TheirPerceptron().fit(X3, Y3 == 0).coef_)
    np.testing.assert_array_equal(apart.certificate_.w, apart.coef_[0])


def test_perceptron_of_many_classes_has_a_part_for_each():
    ours, original = (kind().fit(X3, NAMES[Y3]) for kind in (Perceptron, TheirPerceptron))
    assert [part.is_separable for part in ours.certificate_] == [True, False, False]
    np.testing.assert_array_equal(ours.coef_[1:], original.coef_[1:])
    assert pickle.loads(pickle.dumps(ours)).certificate_.verify(X3, NAMES[Y3], exact=True)


def test_perceptron_takes_the_weights_that_theirs_takes():
    """One number for all rows; and none for a class, of which nothing can be proven then."""
    ours = Perceptron().fit(X3, Y3 == 0, sample_weight=2.0)
    assert ours.certificate_.is_separable
    for labels in (Y3, Y3 > 1):
        weights = (Y3 < 2).astype(float)
        short, original = (kind().fit(X3, labels, sample_weight=weights) for kind in (Perceptron, TheirPerceptron))
        np.testing.assert_array_equal(short.coef_, original.coef_)
        assert not hasattr(short, "certificate_")


def test_names_are_replaced():
    maxmargin.patch_sklearn()
    try:
        assert (linear_model.SGDClassifier, linear_model.Perceptron) == (SGDClassifier, Perceptron)
    finally:
        maxmargin.unpatch_sklearn()
    assert (linear_model.SGDClassifier, linear_model.Perceptron) == (TheirSGDClassifier, TheirPerceptron)


FORMS = {
    "cells that are masked": lambda X: np.ma.masked_array(X, mask=X > 7.0),
    "long doubles": lambda X: X.astype(np.longdouble) / 3,
    "long integers": lambda X: (X * 10).astype(np.int64) * (2**53 + 1),
    "objects": lambda X: X.astype(object),
    "a matrix of lists": sparse.lil_matrix,
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of theirs
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [Perceptron, SGDClassifier, SVC, LinearSVC])
def test_what_theirs_takes_is_fitted(kind, form):
    """And is proven, as the numbers that theirs makes of it."""
    X = FORMS[form](X3)
    with np.errstate(over="ignore"):
        ours, original = (one().fit(X, Y3 == 0) for one in (kind, kind.__mro__[1]))
        assert ours.score(X, Y3 == 0) >= original.score(X, Y3 == 0)
    assert ours.certificate_.n_rows == len(Y3)
