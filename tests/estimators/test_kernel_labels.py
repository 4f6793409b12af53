"""Labels in float32 where it is certain: never another label than float64's, and float64 where there is doubt."""

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin import KernelPerceptron, KernelSVM
from maxmargin.estimators import kernel_labels
from maxmargin.estimators.kernel_labels import certain_values, certainly_signed
from maxmargin.problems.kernels import Kernel, KernelChoice


def rings(n=300, d=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, np.where(X[:, 0] ** 2 + X[:, 1] ** 2 + 0.3 * random.normal(size=n) > 1.5, "out", "in")


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("options", [{"C": 100}, {"gamma": 5.0}, {"kernel": "poly"}, {"kernel": "laplacian"}])
def test_labels_are_those_of_the_decision_function(form, options):
    X, y = rings()
    svm = KernelSVM(**options).fit(form(X), y)
    rows = form(np.concatenate([X, rings(700, seed=1)[0], 1e3 * X[:5], 1e-3 * X[:5]]))
    assert np.array_equal(svm.predict(rows), svm.classes_[(svm.decision_function(rows) >= 0.0).astype(int)])


def test_the_perceptron_predicts_so_as_well():
    X, y = rings()
    learner = KernelPerceptron(gamma=3.0).fit(X, y)
    assert np.array_equal(learner.predict(X), learner.classes_[(learner.decision_function(X) >= 0.0).astype(int)])


def parts(seed=3, n=1200):
    X, _ = rings(n, seed=seed)
    kernel = KernelChoice("rbf", 0.4, 0.0, 3).on(X)
    points = kernel.points(X)
    support = kernel.points(X[:150], np.arange(150))
    coefficients = np.random.default_rng(seed).normal(size=150)
    return kernel, points, support, coefficients


def test_rows_in_doubt_are_measured_in_float64(monkeypatch):
    """A bias that puts one row on the plane, but for a billionth: float32 cannot tell, and does not say."""
    kernel, points, support, c = parts()
    exact = kernel.combine(points, support, c[:, None])[:, 0]
    asked = []
    combine = Kernel.combine
    monkeypatch.setattr(
        Kernel, "combine", lambda self, A, *rest: (asked.append(len(A.places)), combine(self, A, *rest))[1]
    )
    for row in (7, 900):
        for side in (1.0, -1.0):
            b = -exact[row] + side * 1e-9
            found = certain_values(kernel, support, c, b, None)(points)
            assert np.isnan(found[row])
            known = ~np.isnan(found)
            assert np.mean(known) > 0.95
            assert np.array_equal(np.sign(found[known]), np.sign(exact + b)[known])
            scores = certainly_signed(kernel, points.X + kernel.shift, support, c, b)
            assert np.array_equal(np.sign(scores), np.sign(exact + b))
    assert len(asked) == 4
    assert max(asked) < 100


def test_where_most_are_in_doubt_float64_does_all(monkeypatch):
    """After some rows, and not after all of them."""
    kernel, points, support, c = parts()
    looked = []
    monkeypatch.setattr(kernel_labels, "BEYOND", 10.0)
    monkeypatch.setattr(kernel_labels, "ROWS", 512)
    sums = kernel_labels.summed_in_float32
    monkeypatch.setattr(
        kernel_labels, "summed_in_float32", lambda k, A, *rest: (looked.append(len(A.places)), sums(k, A, *rest))[1]
    )
    X = points.X + kernel.shift
    scores = certainly_signed(kernel, X, support, c, 0.1)
    assert looked == [512]
    assert np.array_equal(scores, kernel.combine(kernel.points(X), support, c[:, None])[:, 0] + 0.1)


def test_rows_that_are_far_away_are_measured_in_float64():
    kernel, points, support, c = parts()
    X = np.concatenate([points.X[:3] + kernel.shift, np.full((1, 5), 1e6)])
    scores = certainly_signed(kernel, X, support, c, -0.25)
    assert scores == pytest.approx(kernel.combine(kernel.points(X), support, c[:, None])[:, 0] - 0.25, abs=1e-4)
    assert scores[3] == -0.25


@pytest.mark.parametrize(("length", "at_once"), [(1.0, 1024), (9.0, 256), (14.0, 128), (40.0, None)])
def test_support_vectors_that_are_far_leave_fewer_columns_at_once(monkeypatch, length, at_once):
    """1,000 columns: with all at once float32 loses more, and is certain of rows near zero alone."""
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 1000)) * length / np.sqrt(1000.0)
    kernel = KernelChoice("rbf", 1.0, 0.0, 3).on(X)
    support, c = kernel.points(X[:30], np.arange(30)), random.normal(size=30)
    asked, sums = [], kernel_labels.summed_in_float32
    monkeypatch.setattr(kernel_labels, "summed_in_float32", lambda *given: (asked.append(given[5]), sums(*given))[1])
    scores = certainly_signed(kernel, X, support, c, 0.3)
    assert asked == ([] if at_once is None else [at_once])
    exact = kernel.combine(kernel.points(X), support, c[:, None])[:, 0] + 0.3
    assert np.array_equal(np.sign(scores), np.sign(exact))
    assert scores == pytest.approx(exact, abs=1e-2)
