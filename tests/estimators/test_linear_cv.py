"""C by cross-validation: the same scores as a search that fits every C anew, and the plane of the best one."""

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.base import clone
from sklearn.metrics import cohen_kappa_score, make_scorer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.class_weight import compute_class_weight

from maxmargin import LinearSVM, LinearSVMCV
from maxmargin.data.synthetic import flowers, overlapping

CS = [0.001, 0.1, 10.0]


@pytest.mark.parametrize("scoring", [None, "f1_macro", make_scorer(cohen_kappa_score)])
@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_agrees_with_a_grid_search(scoring, strategy):
    X, y = flowers(120)
    ours = LinearSVMCV(CS, cv=4, scoring=scoring, multi_class=strategy, tol=1e-6).fit(X, y)
    search = GridSearchCV(LinearSVM(multi_class=strategy, tol=1e-6), {"C": CS}, cv=4, scoring=scoring).fit(X, y)
    scores = np.stack([search.cv_results_[f"split{k}_test_score"] for k in range(4)])
    assert np.allclose(ours.scores_, scores, atol=0.04)  # a row on the plane may fall to either side
    assert CS[int(np.argmax(ours.scores_.mean(axis=0)))] == ours.C_
    best = LinearSVM(ours.C_, multi_class=strategy, tol=1e-6).fit(X, y)
    assert np.array_equal(ours.coef_, best.coef_)
    assert np.array_equal(ours.predict(X), best.predict(X))
    assert ours.score(X, y) == pytest.approx(search.score(X, y), abs=0.02)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_two_classes(loss, form):
    X, y = overlapping(90, distance=3.0, seed=1)
    svm = LinearSVMCV(loss=loss, cv=3).fit(form(X), y)
    assert np.allclose(svm.Cs_, np.logspace(-4, 4, 10))
    assert svm.scores_.shape == (3, 10)
    assert svm.C_ in svm.Cs_
    assert svm.certificate_.is_optimal
    assert svm.certificate_.C == svm.C_
    assert svm.certificate_.verify(form(X), y)
    assert len(svm.slack(form(X), y)) == 90
    assert svm.score(form(X), y) > 0.8


def test_the_lowest_of_equally_good():
    X, y = [[-2.0], [-1.0], [1.0], [2.0]] * 5, [0, 0, 1, 1] * 5
    svm = LinearSVMCV([10.0, 0.1, 1.0], cv=KFold(4)).fit(X, y)
    assert np.all(svm.scores_ == 1.0)
    assert svm.Cs_.tolist() == [0.1, 1.0, 10.0]
    assert svm.C_ == 0.1


def test_weights_count_in_fits_and_scores():
    """A row of weight 2 is the row twice, and a row of weight 0 is none; the folds are told which is where."""
    X, y = overlapping(60, seed=2)
    fold = np.arange(60) % 3
    weights = np.random.default_rng(0).integers(0, 3, 60)
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    weighted = LinearSVMCV(CS, cv=splits, tol=1e-8).fit(X, y, sample_weight=weights)
    again, folds = np.repeat(np.arange(60), weights), np.repeat(fold, weights)
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]
    repeated = LinearSVMCV(CS, cv=splits, tol=1e-8).fit(X[again], y[again])
    assert np.allclose(weighted.scores_, repeated.scores_, atol=0.05)
    assert weighted.certificate_.verify(X, y, sample_weight=weights)


def test_balanced_is_computed_once_from_all_rows():
    X, y = overlapping(80, seed=3)
    keep = (y > 0) | (np.arange(80) % 4 == 1)
    X, y = X[keep], y[keep]
    weights = dict(zip([-1, 1], compute_class_weight("balanced", classes=np.array([-1, 1]), y=y), strict=True))
    balanced = LinearSVMCV(CS, class_weight="balanced").fit(X, y)
    stated = LinearSVMCV(CS, class_weight=weights).fit(X, y)
    assert np.array_equal(balanced.scores_, stated.scores_)
    assert np.array_equal(balanced.coef_, stated.coef_)
    assert balanced.certificate_.class_weight == stated.certificate_.class_weight


def test_parameters_are_its_own():
    svm = LinearSVMCV(CS, cv=3, scoring="f1", loss="squared_hinge")
    assert clone(svm).get_params() == svm.get_params()
    assert "C" not in svm.get_params()
    X, y = overlapping(20)
    for parameters, message in [
        ({"Cs": 0}, "Cs must be"),
        ({"Cs": [-1.0]}, "Cs must be"),
        ({"loss": "log"}, "loss='log' is not known"),
        ({"tol": 0.0}, "tol must be"),
        ({"multi_class": "all"}, "multi_class='all' is not known"),
        ({"scoring": "beauty"}, "beauty"),
    ]:
        with pytest.raises(ValueError, match=message):
            LinearSVMCV(**parameters).fit(X, y)


def test_names_of_columns_are_kept():
    pandas = pytest.importorskip("pandas")
    X, y = overlapping(40)
    svm = LinearSVMCV(CS).fit(pandas.DataFrame(X, columns=["height", "width"]), y)
    assert svm.feature_names_in_.tolist() == ["height", "width"]
    assert svm.n_features_in_ == 2
