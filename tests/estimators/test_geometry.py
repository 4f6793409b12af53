"""Distances, canonical planes and slack mean the same of every estimator."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from maxmargin import (
    HardMarginSVM,
    KernelPerceptron,
    KernelSVM,
    LinearSVM,
    MarginPerceptron,
    Perceptron,
    StochasticSVM,
    Winnow,
)
from maxmargin.data.synthetic import overlapping, rings, street

X, Y, _ = street(40, seed=2)
PLANES = [HardMarginSVM(), LinearSVM(C=100.0), Perceptron(), MarginPerceptron(), Winnow(), StochasticSVM(C=100.0)]
KERNELS = [KernelSVM(C=100.0, gamma=0.5), KernelPerceptron(gamma=0.5), StochasticSVM(C=100.0, kernel="rbf", gamma=0.5)]


def rbf(A, B, gamma=0.5):
    return np.exp(-gamma * np.sum((A[:, None] - B[None]) ** 2, axis=2))


@pytest.mark.parametrize("model", PLANES, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_planes_between_the_columns(model):
    model.fit(X, Y)
    size = np.linalg.norm(model.coef_)
    values = X @ model.coef_[0] + model.intercept_[0]
    assert model.distances(X) == pytest.approx(values / size)
    assert model.slack(X, Y) == pytest.approx(np.maximum(0.0, 1.0 - Y * values))
    assert np.array_equal(model.violations(X, Y).mistakes, np.flatnonzero(1.0 - Y * values > 1.0))
    plane = model.canonical_planes(X, Y)
    assert np.min(Y * (X @ plane.w + plane.b)) == pytest.approx(1.0)
    assert plane.margin == pytest.approx(1.0 / np.linalg.norm(plane.w)) == pytest.approx(np.min(Y * values) / size)
    assert plane.street == 2.0 * plane.margin
    model.coef_, model.intercept_ = 3.0 * model.coef_, 3.0 * model.intercept_  # another scale is the same plane
    assert model.distances(X) == pytest.approx(values / size)
    assert model.canonical_planes(X, Y).w == pytest.approx(plane.w)


@pytest.mark.parametrize("model", KERNELS, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_planes_in_the_space_of_a_kernel(model):
    rows, labels = rings(40, seed=0)
    model.fit(rows, labels)
    K = rbf(model.support_vectors_, model.support_vectors_)
    size = math.sqrt(model.dual_coef_[0] @ K @ model.dual_coef_[0])
    signs, values = np.where(labels == model.classes_[1], 1.0, -1.0), model.decision_function(rows)
    assert model.distances(rows) == pytest.approx(values / size)
    assert model.slack(rows, labels) == pytest.approx(np.maximum(0.0, 1.0 - signs * values))
    plane = model.canonical_planes(rows, labels)
    functional = signs * (rbf(rows, model.support_vectors_) @ plane.w + plane.b)
    assert np.min(functional) == pytest.approx(1.0)
    assert plane.margin == pytest.approx(1.0 / math.sqrt(plane.w @ K @ plane.w))
    assert plane.margin == pytest.approx(np.min(np.abs(model.distances(rows))))


def test_a_precomputed_kernel_knows_its_length_by_its_margin():
    rows, labels = rings(40, seed=0)
    K = rbf(rows, rows)
    own, table = (
        KernelSVM(kernel=kernel, gamma=0.5).fit(given, labels) for kernel, given in (("rbf", rows), ("precomputed", K))
    )
    assert table.distances(K) == pytest.approx(own.distances(rows), rel=1e-4)
    with pytest.raises(ValueError, match="does not know"):
        KernelPerceptron("precomputed").fit(K, labels).distances(K)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("make", [LinearSVM, KernelSVM])
def test_many_planes_have_a_column_each(make, multi_class):
    rows, labels = load_iris(return_X_y=True)
    model = make(multi_class=multi_class).fit(rows, labels)
    values, slack, distances = model.values_of_planes(rows), model.slack(rows, labels), model.distances(rows)
    assert values.shape == slack.shape == distances.shape == (150, 3)
    for column, (positive, negative) in enumerate(
        [(0, 1), (0, 2), (1, 2)] if multi_class == "ovo" else [(0, None)] * 1
    ):
        signs = np.where(labels == positive, 1.0, -1.0)
        counts = np.ones(150, dtype=bool) if negative is None else np.isin(labels, [positive, negative])
        assert np.array_equal(np.isnan(slack[:, column]), ~counts)
        expected = np.maximum(0.0, 1.0 - signs * values[:, column])
        assert slack[counts, column] == pytest.approx(expected[counts])
    assert len(model.violations(rows, labels)) == 3
    ratio = values / distances  # one |w| for each plane
    assert np.ptp(ratio, axis=0) == pytest.approx(np.zeros(3), abs=1e-6 * np.abs(ratio).max())
    with pytest.raises(ValueError, match="is not on its side of plane"):
        model.canonical_planes(rows, labels)


def test_only_a_plane_that_separates_has_a_canonical_form():
    rows, labels = overlapping(40)
    model = LinearSVM().fit(rows, labels)
    worst = int(np.argmin(labels * model.decision_function(rows)))
    with pytest.raises(ValueError, match=f"row {worst} is not on its side of the plane"):
        model.canonical_planes(rows, labels)


def test_a_plane_that_is_zero_is_infinitely_far():
    model = LinearSVM().fit(X, Y)
    model.coef_, model.intercept_ = np.zeros((1, 2)), np.array([-1.0])
    assert model.distances(X).tolist() == [-math.inf] * 40


@pytest.mark.parametrize("ask", ["slack", "violations", "canonical_planes"])
def test_sentences(ask):
    model = KernelSVM().fit(X, Y)
    with pytest.raises(ValueError, match="y has the label 7; it must hold one of"):
        getattr(model, ask)(X, np.full(40, 7))
    with pytest.raises(ValueError, match="y has the shape"):
        getattr(model, ask)(X, Y[1:])
    with pytest.raises(NotFittedError):
        getattr(KernelSVM(), ask)(X, Y)
