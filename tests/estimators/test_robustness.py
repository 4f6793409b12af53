"""`robustness`: no perturbation within the distance changes a prediction, and for planes one just beyond it does."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from maxmargin import HardMarginSVM, KernelPerceptron, KernelSVM, LinearSVM, StochasticSVM, Winnow, robustness
from maxmargin.data.synthetic import overlapping, rings

IRIS = load_iris(return_X_y=True)
NOISY = overlapping(60, seed=2)
DIRECTIONS = 60
NORMS = {"l2": 2, "linf": np.inf}


def perturbations(n_columns, norm, seed=0):
    """Of the length 1 in this norm; with the axes and their signs among them."""
    steps = np.random.default_rng(seed).normal(size=(DIRECTIONS, n_columns))
    if norm == "linf":
        steps = np.sign(steps)
    steps = np.vstack([steps, np.eye(n_columns), -np.eye(n_columns)])
    return steps / np.linalg.norm(steps, ord=NORMS[norm], axis=1, keepdims=True)


def assert_nothing_changes_within(model, X, y, found, also=()):
    """Rows that are right stay right, and rows that are wrong stay wrong."""
    right = model.predict(X) == y
    assert np.array_equal(found.distances > 0.0, right)
    radii = np.minimum(np.abs(found.distances), 1e3) * (1.0 - 1e-9)
    for step in [*perturbations(X.shape[1], found.norm), *also]:
        assert np.array_equal(model.predict(X + radii[:, None] * step) == y, right)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    "model", [LinearSVM(), LinearSVC(), LogisticRegression(), RidgeClassifier(), SVC(kernel="linear")]
)
def test_two_classes_are_exact(model, norm):
    X, y = NOISY
    model.fit(X, y)
    found = robustness(model, X, y, norm=norm)
    w = np.ravel(model.coef_)
    size = np.linalg.norm(w) if norm == "l2" else np.abs(w).sum()
    assert found.is_exact
    assert found.distances == pytest.approx(y * model.decision_function(X) / size, rel=1e-9)
    assert found.accuracy == model.score(X, y)
    step = w / np.linalg.norm(w) if norm == "l2" else np.sign(w)
    signs = np.sign(model.decision_function(X))
    beyond = X - (signs * np.abs(found.distances) * (1.0 + 1e-6))[:, None] * step
    assert np.all(model.predict(beyond) != model.predict(X))
    assert_nothing_changes_within(model, X, y, found, [step, -step])


@settings(max_examples=60, deadline=None)
@given(
    w=st.lists(st.floats(-100, 100), min_size=3, max_size=3).filter(any),
    b=st.floats(-100, 100),
    rows=st.lists(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), min_size=1, max_size=4),
)
def test_bounds_hold_in_fractions(w, b, rows):
    model = HardMarginSVM().fit([[0.0] * 3, [1.0] * 3], [0, 1])
    model.coef_, model.intercept_ = np.array([w]), np.array([b])
    found = robustness(model, rows, [1] * len(rows))
    l1 = robustness(model, rows, [1] * len(rows), norm="linf")
    square, total = sum(Fraction(v) ** 2 for v in w), sum(abs(Fraction(v)) for v in w)
    for row, near, far, near1, far1 in zip(
        rows, found.distances, found.farthest, l1.distances, l1.farthest, strict=True
    ):
        value = sum(Fraction(v) * Fraction(x) for v, x in zip(w, row, strict=True)) + Fraction(b)
        assert near == 0.0 or (near > 0.0) == (value > 0)
        assert near1 == 0.0 or (near1 > 0.0) == (value > 0)
        assert Fraction(float(near)) ** 2 * square <= value**2
        assert Fraction(abs(float(near1))) * total <= abs(value)
        if value > 0:
            assert math.isinf(far) or Fraction(float(far)) ** 2 * square >= value**2
            assert math.isinf(far1) or Fraction(float(far1)) * total >= value


@pytest.mark.parametrize("size", [5e-324, 1e-237, 1.0, 1e200, 1e308])
def test_no_distance_is_longer_because_squares_vanish_or_overflow(size):
    model = HardMarginSVM().fit([[0.0] * 3, [1.0] * 3], [0, 1])
    model.coef_, model.intercept_ = np.array([[0.0, 0.0, size]]), np.zeros(1)
    for norm in ("l2", "linf"):
        found = robustness(model, [[0.0, 0.0, 1.0]], [1], norm=norm)
        assert found.distances[0] <= 1.0 <= found.farthest[0]


def test_what_cancels_is_not_believed():
    """1e16 + 3 - 1e16 is 4 in some orders of addition: the true distance is 3 / sqrt(3)."""
    model = HardMarginSVM().fit([[0.0] * 3, [1.0] * 3], [0, 1])
    model.coef_, model.intercept_ = np.ones((1, 3)), np.zeros(1)
    for row in itertools.permutations([1e16, 3.0, -1e16]):
        found = robustness(model, [row], [1])
        assert found.distances[0] <= math.sqrt(3.0) <= found.farthest[0]
    rows, labels, true = np.array([[0.0], [1.0], [3.0], [4.0]]) + 1e15, [0, 0, 1, 1], np.array([2.0, 1.0, 1.0, 2.0])
    found = robustness(
        make_pipeline(StandardScaler(with_std=False), LinearSVM(tol=1e-9)).fit(rows, labels), rows, labels
    )
    assert np.all(found.distances <= true * (1.0 + 1e-4))
    assert np.all(found.farthest >= true * (1.0 - 1e-4))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    "model", [LinearSVM(), LogisticRegression(max_iter=1000), SGDClassifier(random_state=0), Winnow()]
)
def test_classes_against_the_rest_are_exact(model, norm):
    X, y = IRIS
    model.fit(X, y)
    found = robustness(model, X, y, norm=norm)
    assert found.is_exact
    assert_nothing_changes_within(model, X, y, found)
    scores = X @ model.coef_.T + model.intercept_
    for row in np.flatnonzero(found.distances > 0.0)[::7]:  # towards the nearest other class, just beyond its edge
        own, beaten = y[row], []
        for other in set(range(3)) - {int(own)}:
            w = model.coef_[own] - model.coef_[other]
            size = np.linalg.norm(w) if norm == "l2" else np.abs(w).sum()
            step = w / size if norm == "l2" else np.sign(w)
            beaten.append(((scores[row, own] - scores[row, other]) / size, step))
        least, step = min(beaten, key=lambda pair: pair[0])
        assert found.distances[row] == pytest.approx(least, rel=1e-6)
        assert model.predict([X[row] - least * (1.0 + 1e-6) * step]) != own


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    "model", [LinearSVM(multi_class="ovo"), SVC(kernel="linear"), SVC(kernel="linear", break_ties=True)]
)
def test_pairs_are_bounded(model, norm):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(120, 3)) + 1.2 * np.eye(4, 3)[np.arange(120) % 4], np.arange(120) % 4
    model.fit(X, y)
    found = robustness(model, X, y, norm=norm)
    assert not found.is_exact
    assert np.all(np.isinf(found.farthest))
    planes = model.coef_ / np.linalg.norm(model.coef_, ord=NORMS[norm], axis=1, keepdims=True)
    assert_nothing_changes_within(model, X, y, found, [*planes, *-planes])
    assert np.median(found.distances[found.distances > 0.0]) > 0.1


def test_equal_votes_are_told_apart_by_the_scores():
    """Three planes through the origin, at 120 degrees: a class has one vote each in three of the six sectors."""
    angles = np.deg2rad([0.0, 120.0, 240.0])
    model = LinearSVM(multi_class="ovo").fit(*IRIS)
    model.coef_ = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    model.intercept_, model.n_features_in_ = np.array([0.3, -0.3, 0.3]), 2  # 0 against 1, 0 against 2, 1 against 2
    X = np.random.default_rng(0).uniform(-0.6, 0.6, (400, 2))
    y = model.predict(X)
    pairs = model.values_of_planes(X) >= 0.0
    tied = (pairs[:, 0] != pairs[:, 1]) & (pairs[:, 0] == pairs[:, 2])
    assert np.count_nonzero(tied) > 20
    found = robustness(model, X, y)
    assert np.all(found.distances[tied] > 0.0)
    assert_nothing_changes_within(model, X, y, found)


KERNELS = [
    KernelSVM(gamma=0.5),
    KernelSVM(kernel="poly", gamma=0.5, coef0=1.0, degree=3),
    KernelSVM(kernel="poly", gamma=2.0, coef0=0.0, degree=2),
    KernelSVM(kernel="linear"),
    KernelPerceptron(gamma=1.0, max_iter=20),
    StochasticSVM(kernel="rbf", tol=0.5, random_state=0),
    SVC(gamma=0.5),
    SVC(kernel="poly", coef0=1.0),
]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("model", KERNELS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_kernels_are_bounded(model, norm):
    X, y = rings(50, seed=1)
    model.fit(X, y)
    found = robustness(model, X, y, norm=norm)
    assert not found.is_exact
    assert_nothing_changes_within(model, X, y, found)
    assert np.all(np.isinf(found.farthest[found.distances > 0.0]))
    if norm == "l2" and getattr(model, "kernel", "") == "linear":
        values = np.where(y == model.classes_[1], 1.0, -1.0) * model.decision_function(X)
        w = model.dual_coef_ @ model.support_vectors_
        assert found.distances == pytest.approx(values / np.linalg.norm(w), rel=1e-9)


@pytest.mark.parametrize("model", [KernelSVM(), KernelSVM(multi_class="ovr"), SVC(), KernelPerceptron(max_iter=5)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_kernels_of_many_classes_are_bounded(model):
    X, y = IRIS
    found = robustness(model.fit(X, y), X, y)
    assert_nothing_changes_within(model, X, y, found)
    assert np.median(found.distances) > 0.05


def test_a_row_that_rbf_cannot_turn_is_infinitely_far():
    X, y = np.array([[0.0], [0.1], [0.2], [0.3]]), np.array([0, 1, 1, 1])
    model = KernelSVM(C=1e-3, gamma=1.0).fit(X, y)
    assert np.min(np.abs(model.decision_function(X))) > math.sqrt(2.0) / model.margin_  # the bias alone decides
    found = robustness(model, X, y)
    assert found.distances.tolist() == [-math.inf, math.inf, math.inf, math.inf]


SCALERS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    MinMaxScaler((-1, 1)),
    MaxAbsScaler(),
    RobustScaler(),
    RobustScaler(with_centering=False),
    RobustScaler(with_scaling=False),
]


@pytest.mark.parametrize("scaler", SCALERS, ids=repr)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("last", [LinearSVM(), KernelSVM()])
def test_scalers_are_part_of_the_model(scaler, norm, last):
    X, y = overlapping(60, seed=2)
    X = X * [100.0, 0.01] + [3000.0, 5.0]
    model = make_pipeline(scaler, "passthrough", last).fit(X, y)
    found = robustness(model, X, y, norm=norm)
    assert "before they are scaled" in found.how
    assert_nothing_changes_within(model, X, y, found)
    if isinstance(last, LinearSVM):
        origin, *units = model.decision_function(np.vstack([np.zeros(2), np.eye(2)]))
        size = np.linalg.norm(np.array(units) - origin, ord=2 if norm == "l2" else 1)
        assert found.distances == pytest.approx(y * model.decision_function(X) / size, rel=1e-6)


def test_two_scalers_and_a_search():
    X, y = NOISY
    model = make_pipeline(StandardScaler(), MinMaxScaler(), LinearSVM())
    search = GridSearchCV(model, {"linearsvm__C": [0.1, 1.0]}, cv=2).fit(X, y)
    found = robustness(search, X, y)
    assert_nothing_changes_within(search, X, y, found)
    assert found.model == "LinearSVM"


@pytest.mark.parametrize(
    "model", [LinearSVM(), KernelSVM(kernel="poly", coef0=1.0), make_pipeline(MaxAbsScaler(), KernelSVM())]
)
def test_sparse_rows(model):
    X, y = NOISY
    thin = sparse.csr_array(X)
    model.fit(thin, y)
    assert robustness(model, thin, y).distances == pytest.approx(robustness(model, X, y).distances, rel=1e-9)


def test_curves_count_rows():
    found = robustness(LinearSVM().fit(*NOISY), *NOISY)
    radii = [0.0, 0.3, 1.0, 5.0]
    expected = [np.mean(found.distances > radius) for radius in radii]
    assert found.accuracy_at(radii).tolist() == expected
    assert [found.accuracy_at(radius) for radius in radii] == expected
    curve = found.curve()
    assert curve.radii[0] == 0.0
    assert np.all(np.diff(curve.accuracy) <= 0.0)
    assert np.all(curve.accuracy <= curve.at_most)
    assert (curve.accuracy[0], curve.accuracy[-1]) == (found.accuracy, 0.0)
    steps = np.flatnonzero(np.diff(curve.radii) > 1e-9)  # exact: between two rows both sides agree
    between = found.curve(0.5 * (curve.radii[steps] + curve.radii[steps + 1]))
    assert len(steps) > 20
    assert between.at_most.tolist() == between.accuracy.tolist()
    bounded = robustness(KernelSVM().fit(*NOISY), *NOISY)
    assert bounded.accuracy_at_most(100.0) == bounded.accuracy
    assert bounded.accuracy_at(100.0) == 0.0


def test_a_plane_that_is_zero_is_never_crossed():
    model = LinearSVM().fit(*NOISY)
    model.coef_, model.intercept_ = np.zeros((1, 2)), np.array([1.0])
    found = robustness(model, *NOISY)
    assert found.distances.tolist() == [math.inf if label == 1 else -math.inf for label in NOISY[1]]


def test_a_row_on_the_plane_is_in_doubt():
    model = HardMarginSVM().fit([[0.0], [2.0]], [0, 1])
    found = robustness(model, [[1.0], [3.0]], [1, 1])
    assert found.distances[0] == 0.0
    assert (found.accuracy, found.accuracy_at_most(0.0)) == (0.5, 1.0)
    assert "1 are so near to the boundary" in str(found)


def test_the_report():
    found = robustness(LinearSVM().fit(*NOISY), *NOISY)
    right = int(np.count_nonzero(found.distances > 0.0))
    assert f"LinearSVM: {right} of 60 rows are classified right" in str(found)
    assert "exact, up to rounding, by the length of a perturbation" in str(found)
    assert repr(found).startswith("Robustness(LinearSVM, l2, exact")


def square(A, B):
    return (np.asarray(A) @ np.asarray(B).T) ** 2


@pytest.mark.parametrize(
    ("model", "X", "sentence"),
    [
        (make_pipeline(PCA(1), LinearSVM()), NOISY[0], "PCA is no scaling of columns"),
        (make_pipeline(MinMaxScaler(clip=True), LinearSVM()), NOISY[0], "clips what is beyond its range"),
        (KernelSVM(kernel="precomputed"), NOISY[0] @ NOISY[0].T, "no columns in which a row"),
        (KernelSVM(kernel=square), NOISY[0], "a function of the user"),
        (SVC(kernel="sigmoid"), NOISY[0], "not positive semidefinite"),
        (SVC(kernel=square), NOISY[0], "a function of the user"),
        (KNeighborsClassifier(), NOISY[0], "the boundary of KNeighborsClassifier"),
    ],
)
def test_what_has_no_known_boundary(model, X, sentence):
    with pytest.raises(ValueError, match=sentence):
        robustness(model.fit(X, NOISY[1]), X, NOISY[1])


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"X": NOISY[0][:, :1]}, "1 features"),
        ({"y": np.append(NOISY[1][1:], 7)}, "row 59 has the label 7, which the model does not know"),
        ({"y": NOISY[1][1:]}, "60 rows"),
        ({"norm": "l1"}, "norm='l1' is not known"),
        ({"X": [[0.0, 1.0], [math.inf, 2.0]], "y": [1, 1]}, "row 1, column 0"),
    ],
)
def test_sentences(changed, sentence):
    asked = {"X": NOISY[0], "y": NOISY[1]} | changed
    with pytest.raises(ValueError, match=sentence):
        robustness(LinearSVM().fit(*NOISY), **asked)


def test_a_radius_is_not_negative_and_a_model_is_fitted():
    with pytest.raises(ValueError, match="at least 0"):
        robustness(LinearSVM().fit(*NOISY), *NOISY).accuracy_at(-1.0)
    with pytest.raises(NotFittedError):
        robustness(LinearSVM(), *NOISY)
