"""The hard margin in the space of a kernel in canonical form: the numbers of the textbooks, and those of others."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine, make_circles
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from maxmargin import HardMarginSVM, KernelPerceptron, KernelSVM, LinearSVM, path
from maxmargin.persistence import read_libsvm, write_libsvm
from maxmargin.plots.geometry import plane_of

CORNERS, DIAGONALS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]), np.array([-1, 1, 1, -1])
SQUARED = {"kernel": "poly", "gamma": 1, "coef0": 1, "degree": 2}
TWO_FLOWERS = load_iris().target < 2


def features(X):
    """phi(x) of (x.x' + 1)^2 in two dimensions, written out."""
    root = math.sqrt(2.0)
    x, z = X.T
    return np.column_stack([np.ones(len(X)), x * x, root * x * z, z * z, root * x, root * z])


@pytest.mark.parametrize(
    "kernel",
    [SQUARED, {"kernel": lambda A, B: (A @ B.T + 1.0) ** 2}, {"kernel": "precomputed"}],
    ids=["poly", "function", "precomputed"],
)
@pytest.mark.parametrize("size", [1.0, 2.0**-20, 2.0**20])
def test_xor_as_in_the_textbook(kernel, size):
    """(x.x' + 1)^2 on the corners of a square: every a is 1/8, f = -x z, and the margin is sqrt(2).

    With size^4 times the kernel, w is divided by size^2 and so many times larger.
    """
    scaled = dict(kernel)
    X = size * CORNERS
    if kernel["kernel"] == "poly":
        scaled["coef0"] = size * size
    elif kernel["kernel"] == "precomputed":
        X = (X @ X.T + size * size) ** 2
    else:
        scaled["kernel"] = lambda A, B: (A @ B.T + size * size) ** 2
    svm = KernelSVM(C=math.inf, **scaled).fit(X, DIAGONALS)
    assert svm.margin_ == pytest.approx(math.sqrt(2.0) * size**2)
    assert svm.street_ == pytest.approx(2.0 * math.sqrt(2.0) * size**2)
    assert svm.dual_coef_ * size**4 == pytest.approx(DIAGONALS[None] / 8.0)
    assert svm.intercept_ == pytest.approx(0.0, abs=1e-12)
    assert svm.decision_function(X) == pytest.approx(DIAGONALS)
    assert svm.certificate_.weights * size**4 == pytest.approx(1.0 / 8.0)
    assert svm.certificate_.margin_lower <= svm.margin_ * (1.0 + 1e-12)


def test_xor_with_the_features_written_out():
    svm = KernelSVM(C=math.inf, **SQUARED).fit(CORNERS, DIAGONALS)
    for written in (HardMarginSVM(), LinearSVM(C=math.inf)):
        written.fit(features(CORNERS), DIAGONALS)
        assert written.margin_ == pytest.approx(svm.margin_)
        assert written.dual_coef_ == pytest.approx(svm.dual_coef_)
        assert written.decision_function(features(CORNERS)) == pytest.approx(DIAGONALS)
        assert written.coef_[0] == pytest.approx([0.0, 0.0, -math.sqrt(0.5), 0.0, 0.0, 0.0], abs=1e-12)
    last = path(features(CORNERS), DIAGONALS).points[-1]
    assert last.margin == pytest.approx(svm.margin_, rel=1e-4)


def test_two_flowers_as_every_book_has_them():
    X, y = load_iris().data[TWO_FLOWERS], load_iris().target[TWO_FLOWERS]
    svm, linear = KernelSVM(C=math.inf, kernel="linear").fit(X, y), HardMarginSVM().fit(X, y)
    assert svm.margin_ == pytest.approx(0.8175557)
    assert svm.margin_ == pytest.approx(linear.margin_)
    assert svm.dual_coef_ @ svm.support_vectors_ == pytest.approx(linear.coef_)
    assert svm.intercept_ == pytest.approx(linear.intercept_)


BENT = [{"kernel": "rbf", "gamma": 0.1}, SQUARED, {"kernel": "poly", "coef0": 1.0}]
FLAT = [{"kernel": "linear"}, *BENT, {"kernel": "poly"}]


@pytest.mark.parametrize(
    ("data", "kernel"), [*(("iris", k) for k in FLAT), *(("wine", k) for k in FLAT), *(("rings", k) for k in BENT)]
)
def test_as_svc_at_a_price_that_nobody_pays(data, kernel):
    if data == "rings":
        X, y = make_circles(100, factor=0.3, noise=0.05, random_state=0)
    else:
        X, y = (load_iris if data == "iris" else load_wine)(return_X_y=True)
        X, y = StandardScaler().fit_transform(X[y < 2]), y[y < 2]
    svm = KernelSVM(C=math.inf, tol=1e-6, **kernel).fit(X, y)
    svc = SVC(C=1e10, tol=1e-8, **kernel).fit(X, y)
    assert svm.decision_function(X) == pytest.approx(svc.decision_function(X), rel=1e-2, abs=1e-2)
    length = math.sqrt((svc.decision_function(X)[svc.support_] - svc.intercept_) @ svc.dual_coef_[0])
    assert svm.margin_ == pytest.approx(1.0 / length, rel=1e-3)
    assert np.abs(svm.dual_coef_).sum() == pytest.approx(np.abs(svc.dual_coef_).sum(), rel=1e-3)
    assert np.min(np.abs(svm.decision_function(X))) == pytest.approx(1.0)
    assert np.abs(svm.dual_coef_).sum() == pytest.approx(svm.margin_**-2, rel=1e-5)  # sum a = |w|^2 = 1 / margin^2


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_every_plane_of_many(multi_class):
    X, y = load_iris(return_X_y=True)
    svm = KernelSVM(C=math.inf, kernel="rbf", gamma=2.0, multi_class=multi_class).fit(X[:149], y[:149])
    lines = zip(svm.certificate_.parts, svm.values_of_planes(X[:149]).T, svm.margin_, strict=True)
    for certificate, values, margin in lines:
        mine = np.isin(y[:149], [certificate.positive, certificate.negative])
        assert np.min(np.abs(values[mine if certificate.negative is not None else slice(None)])) == pytest.approx(1.0)
        assert margin == pytest.approx(certificate.margin_lower, rel=1e-9)


def test_a_loose_proof_is_of_a_canonical_plane_too():
    X, y = make_circles(200, factor=0.3, noise=0.1, random_state=1)
    svm = KernelSVM(C=math.inf, tol=0.5).fit(X, y)
    assert np.min(np.abs(svm.decision_function(X))) == pytest.approx(1.0)
    assert svm.margin_ == pytest.approx(svm.certificate_.margin_lower, rel=1e-6)
    assert svm.certificate_.verify(X, y)


def test_libsvm_is_given_the_same_plane(tmp_path):
    svm = KernelSVM(C=math.inf, **SQUARED).fit(CORNERS, DIAGONALS)
    write_libsvm(svm, tmp_path / "xor.model")
    again = read_libsvm(tmp_path / "xor.model")
    assert np.sort(again.dual_coef_) == pytest.approx(np.array([[-1, -1, 1, 1]]) / 8.0)
    assert again.decision_function(CORNERS) == pytest.approx(DIAGONALS)


def test_a_picture_shows_the_same_street():
    svm = KernelSVM(C=math.inf, **SQUARED).fit(CORNERS, DIAGONALS)
    plane = plane_of(svm, CORNERS, DIAGONALS)
    assert plane.reach == pytest.approx(1.0)
    assert np.abs(plane.distances) == pytest.approx(math.sqrt(2.0))
    assert plane.a == pytest.approx(1.0 / 8.0)


def test_the_perceptrons_margin_is_below_the_best():
    """The perceptron's plane is one of the lifted rows, k + 1: its proven margin is at most that of the hard margin."""
    lifted = KernelSVM(C=math.inf, kernel=lambda A, B: (A @ B.T + 1.0) ** 2 + 1.0).fit(CORNERS, DIAGONALS)
    model = KernelPerceptron(**SQUARED).fit(CORNERS, DIAGONALS)
    values = model.decision_function(CORNERS)
    length = math.sqrt(values[model.support_] @ model.dual_coef_[0])
    assert model.margin_ == pytest.approx(np.min(DIAGONALS * values) / length)
    assert model.margin_ <= lifted.margin_ * (1.0 + 1e-9)
