"""scikit-learn's machines as ours: the same planes where the question is the same, and a refusal where it is not."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from maxmargin import KernelSVM, LinearSVM, from_scikit_learn
from maxmargin.data.synthetic import flowers, overlapping


def objective(w, b, X, y, C, power):
    return 0.5 * w @ w + C * np.sum(np.maximum(0.0, 1.0 - y * (X @ w + b)) ** power)


def linear(A, B):
    return A @ B.T


@pytest.mark.parametrize("weights", [None, "balanced", {1: 3.0}])
def test_SVC_has_the_same_plane(weights):
    X, y = overlapping(100, seed=1)
    theirs = SVC(C=0.5, kernel="linear", class_weight=weights, tol=1e-9).fit(X, y)
    ours = from_scikit_learn(theirs).set_params(tol=1e-10).fit(X, y)
    assert np.allclose(ours.coef_, theirs.coef_, rtol=1e-4)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize(
    "theirs",
    [SVC(C=3.0), SVC(kernel="poly", coef0=1.0, degree=2, gamma="auto", class_weight="balanced"), SVC(kernel=linear)],
    ids=["rbf", "poly", "function"],
)
def test_SVC_with_a_kernel_has_the_same_plane(theirs):
    X, y = overlapping(100, seed=1)
    ours = from_scikit_learn(theirs).set_params(tol=1e-9).fit(X, y)
    assert isinstance(ours, KernelSVM)
    theirs.set_params(tol=1e-9).fit(X, y)
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)


def test_SVC_of_three_classes_has_the_same_planes():
    X, y = flowers(90)
    theirs = SVC(kernel="linear", tol=1e-8).fit(X, y)
    ours = from_scikit_learn(theirs).set_params(tol=1e-9).fit(X, y)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-3 * np.abs(theirs.coef_).max())
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.98


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_LinearSVC_without_a_bias_has_the_same_plane(loss):
    X, y = overlapping(80, seed=2)
    theirs = LinearSVC(C=0.3, loss=loss, fit_intercept=False, tol=1e-8, max_iter=100_000, random_state=0).fit(X, y)
    ours = from_scikit_learn(theirs).set_params(tol=1e-9).fit(X, y)
    assert np.allclose(ours.coef_, theirs.coef_, rtol=1e-3)


def test_the_bias_of_LinearSVC_is_regularised_and_less_so_when_scaled():
    X, y = overlapping(80, seed=3)
    X = X + 5.0  # far from the origin a bias has to be paid for
    ours = from_scikit_learn(LinearSVC()).set_params(tol=1e-9).fit(X, y)

    def distance(scaling):
        theirs = LinearSVC(intercept_scaling=scaling, dual=False, tol=1e-10, max_iter=100_000).fit(X, y)
        return np.linalg.norm(theirs.coef_ - ours.coef_) / np.linalg.norm(ours.coef_)

    assert distance(1.0) > 0.01 > distance(1000.0)


@pytest.mark.parametrize(("loss", "power"), [("hinge", 1), ("squared_hinge", 2)])
def test_SGD_comes_near_to_our_objective(loss, power):
    X, y = overlapping(200, seed=4)
    slow = {"learning_rate": "constant", "eta0": 0.001, "tol": None, "max_iter": 1000, "average": True}
    theirs = SGDClassifier(loss=loss, alpha=0.01, random_state=0, **slow).fit(X, y)
    ours = from_scikit_learn(theirs, n_rows=200).set_params(tol=1e-8)
    assert pytest.approx(1.0 / (0.01 * 200)) == ours.C
    ours.fit(X, y)
    reached = objective(theirs.coef_[0], theirs.intercept_[0], X, y, ours.C, power)
    assert ours.certificate_.dual <= reached <= 1.001 * ours.certificate_.primal


def test_what_is_carried_over():
    ours = from_scikit_learn(LinearSVC(C=2.0, loss="hinge", fit_intercept=False, class_weight={0: 2.0}, verbose=1))
    wanted = LinearSVM(C=2.0, loss="hinge", fit_intercept=False, class_weight={0: 2.0}, verbose=1)
    assert ours.get_params() == wanted.get_params()
    assert from_scikit_learn(LinearSVC(tol=0.1, max_iter=3)).tol == LinearSVM().tol
    assert from_scikit_learn(SVC(kernel="linear", verbose=True)).multi_class == "ovo"
    assert not hasattr(from_scikit_learn(LinearSVC().fit([[0.0], [1.0]], [0, 1])), "coef_")


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (SVC(kernel="sigmoid"), "kernel='sigmoid' is not supported"),
        (SVC(kernel="linear", probability=True), "CalibratedClassifierCV"),
        (LinearSVC(penalty="l1", dual=False), "penalty='l1' is not supported"),
        (LinearSVC(multi_class="crammer_singer"), "one problem over all classes"),
        (SGDClassifier(loss="log_loss"), 'loss="log_loss" is not supported'),
        (SGDClassifier(penalty="elasticnet"), "penalty='elasticnet'"),
        (SGDClassifier(penalty=None), "penalty=None"),
        (SGDClassifier(), "n_rows=len"),
        (NuSVC(), r"NuSVC\(\) has no equivalent here"),
        (LogisticRegression(), "LinearSVC, SVC and SGDClassifier have"),
        (make_pipeline(StandardScaler(), LinearSVC()), "give the last step"),
        (LinearSVC, "give an instance"),
    ],
)
def test_what_cannot_be_said_is_refused(estimator, message):
    with pytest.raises(ValueError, match=message):
        from_scikit_learn(estimator)


CARRIED = {
    LinearSVC: {"C": 3.0, "loss": "hinge", "fit_intercept": False, "class_weight": "balanced", "verbose": 1},
    SVC: {
        "C": 3.0,
        "kernel": "poly",
        "gamma": 0.5,
        "coef0": 1.0,
        "degree": 2,
        "class_weight": "balanced",
        "cache_size": 50.0,
        "verbose": True,
    },
    SGDClassifier: {
        "loss": "squared_hinge",
        "fit_intercept": False,
        "class_weight": "balanced",
        "warm_start": True,
        "verbose": 1,
    },
}
REFUSED = {
    LinearSVC: {"penalty": "l1", "multi_class": "crammer_singer"},
    SVC: {"probability": True, "decision_function_shape": "ovo"},
    SGDClassifier: {"penalty": "l1"},
}


@pytest.mark.parametrize("kind", CARRIED)
def test_no_parameter_vanishes_without_a_word(kind):
    """Each one is carried over, refused, or named in the docstring among those that are left behind."""
    n_rows = 50 if kind is SGDClassifier else None
    usual = from_scikit_learn(kind(), n_rows).get_params()
    left_behind = from_scikit_learn.__doc__
    for name in kind().get_params():
        if name in CARRIED[kind]:
            value = CARRIED[kind][name]
            found = from_scikit_learn(kind(**{name: value}), n_rows).get_params()
            assert found[name] == value
            assert found != usual
        elif name in REFUSED[kind]:
            with pytest.raises(ValueError, match=name):
                from_scikit_learn(kind(**{name: REFUSED[kind][name]}), n_rows)
        elif name != "alpha":  # which becomes C
            assert name in left_behind, name
