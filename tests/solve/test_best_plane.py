"""The best plane of the lifted rows, and what theorems say from it."""

import dataclasses
import math

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin import Certificate, HardMarginSVM, MarginPerceptron, Perceptron, Winnow
from maxmargin.certificates import theorems
from maxmargin.problems.statement import Norm, Separation
from maxmargin.run.control import Clock
from maxmargin.solve import best_plane
from maxmargin.solve.best_plane import best_lifted_plane, with_both_classes


def cloud(n=200, d=2, gap=0.1, seed=1):
    """Rows that a plane separates with a margin of at least `gap`."""
    random = np.random.default_rng(seed)
    X, normal = random.standard_normal((n, d)), random.standard_normal(d)
    normal /= np.linalg.norm(normal)
    y = np.where(X @ normal + 0.1 > 0.0, 1.0, -1.0)
    return X + np.outer(gap * y, normal), y


def unlimited():
    return Clock(None, 0)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("norm", [Norm.L2, Norm.L1])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_it_is_the_widest_street_of_the_lifted_rows(bias, norm, form):
    X, y = cloud(gap=0.5)
    X = X if bias else X + np.outer(y, np.linalg.lstsq(X, y, rcond=None)[0])
    w, b = best_lifted_plane(Separation(form(X), y, norm, bias), unlimited())
    unit = np.abs(X).max() if norm is Norm.L1 else 1.0
    lifted = np.column_stack([X / unit, np.ones(200)])[:, : 3 if bias else 2]
    street = HardMarginSVM(norm=norm.value, fit_intercept=False).fit(lifted, y)
    v = np.append(w * unit, b)
    size = np.linalg.norm(v, 1 if norm is Norm.L1 else 2)
    assert np.min(y * (X @ w + b)) / size == pytest.approx(street.margin_, rel=0.02)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize(
    "learner", [Perceptron(), Perceptron(fit_intercept=False), MarginPerceptron(), Winnow(), Winnow(epsilon=0.01)]
)
def test_bounds_are_from_the_best_plane_and_verify(learner, scale, monkeypatch):
    X, y = cloud()
    X = (X + np.outer(y, [0.3, 0.2])) * scale if not learner.fit_intercept else X * scale
    certificate = learner.fit(X, y).certificate_
    bounds = [theorem for theorem in certificate.theorems if theorem.at_most]
    monkeypatch.setattr(best_plane, "MOST_NUMBERS", {Norm.L2: 0, Norm.L1: 0})
    found = [theorem for theorem in learner.fit(X, y).certificate_.theorems if theorem.at_most]
    assert all(len(theorem.plane) in (0, 3) for theorem in bounds)
    assert not any(theorem.plane for theorem in found)
    for best, own in zip(bounds, found, strict=True):
        assert best.holds
        assert best.bound <= own.bound
        assert bool(best.plane) == (best.bound < own.bound)
    assert certificate.verify(X, y)
    again = Certificate.from_json(certificate.to_json())
    assert again.theorems == certificate.theorems
    assert again.verify(X, y, exact=True)


def test_novikov_is_much_less_than_from_the_plane_that_was_found():
    X, y = cloud(gap=0.01)
    fitted = Perceptron().fit(X, y)
    [theorem] = fitted.certificate_.theorems
    own = theorems.novikov(X, y, fitted.coef_[0], fitted.intercept_[0], True, fitted.n_updates_)
    assert theorem.measured <= theorem.bound < own.bound / 5
    lifted = np.column_stack([X, np.ones(200)])
    best = HardMarginSVM(fit_intercept=False).fit(lifted, y).margin_
    assert theorem.bound == pytest.approx(np.max(np.sum(lifted**2, axis=1)) / best**2, rel=0.05)
    assert "g of the best plane known" in fitted.certificate_.report()


@pytest.mark.parametrize(
    "plane", [(1.0, 1.0), (1.0, 1.0, math.inf), (math.nan, 0.0, 0.0), (0.0, 0.0, 0.0), (-1.0, 0.5, 0.0), ()]
)
def test_a_bound_is_refused_that_is_not_of_its_plane(plane):
    X, y = cloud()
    certificate = Perceptron().fit(X, y).certificate_
    [theorem] = certificate.theorems
    assert theorem.plane
    forged = dataclasses.replace(certificate, theorems=(dataclasses.replace(theorem, plane=plane),))
    assert "theorem" in str(forged.verify(X, y))
    assert not forged.verify(X, y)


def test_another_plane_of_the_user_is_a_plane_too():
    """Whatever plane is recorded: its own bound is true."""
    X, y = cloud()
    certificate = Perceptron().fit(X, y).certificate_
    street = HardMarginSVM().fit(X, y)
    w, b = street.coef_[0], float(street.intercept_[0])
    other = dataclasses.replace(theorems.novikov(X, y, w, b, True, 3), plane=(*w.tolist(), b))
    assert dataclasses.replace(certificate, theorems=(other,)).verify(X, y)


def test_positive_weights_have_no_best_plane_of_any_sign():
    """The theorem of Winnow without balancing is about planes with w >= 0, and so is the number of its weights."""
    X, y = np.abs(cloud(d=3)[0]), None
    y = np.where(X.sum(axis=1) > np.median(X.sum(axis=1)), 1.0, -1.0)
    X += np.outer(y > 0, [0.3, 0.3, 0.3])
    certificate = Winnow(balanced=False).fit(X, y).certificate_
    assert certificate.theorems
    assert not any(theorem.plane for theorem in certificate.theorems)
    w, b = np.array([2.0, 1.0, -0.01]), -4.0
    signs = np.where(X @ w + b > 0, 1.0, -1.0)
    found, _ = theorems.winnow_mistakes(X, signs, w, b, True, 3, 5, epsilon=None)  # m = 3 + 2: not balanced
    of_plane = dataclasses.replace(found, plane=(2.0, 1.0, -0.01, -4.0))
    balanced, _ = theorems.winnow_mistakes(X, signs, w, b, True, 3, 8, epsilon=None)
    fitted = Winnow().fit(X, signs).certificate_
    assert not dataclasses.replace(fitted, theorems=(of_plane,)).verify(X, signs)
    assert dataclasses.replace(fitted, theorems=(dataclasses.replace(balanced, plane=of_plane.plane),)).verify(X, signs)


def test_it_is_not_looked_for_where_it_costs_too_much_or_the_time_is_over(monkeypatch):
    X, y = cloud()
    problem = Separation(X, y, Norm.L2, True)
    assert best_lifted_plane(problem, unlimited()) is not None
    over = Clock(1e-9, 0)
    assert over.is_over
    assert best_lifted_plane(problem, over) is None
    monkeypatch.setattr(best_plane, "MOST_ON_A_SIDE", 2)
    assert best_lifted_plane(problem, unlimited()) is None


ONE_ERRS = np.array([[3.0, 0.0], [4.0, 1.0], [-2.0, 0.0], [-9.0, 1.0]]), np.array([1.0, 1.0, -1.0, -1.0])


@pytest.mark.parametrize("learner", [Perceptron(), MarginPerceptron(guess=0.1), Winnow()])
def test_the_margin_is_bounded_where_only_one_class_erred(learner):
    """The first row is the only mistake: the nearest row of the other class is the other point of the hulls."""
    X, y = ONE_ERRS
    certificate = learner.fit(X, y).certificate_
    assert certificate.margin_upper < math.inf
    assert set(y[certificate.rows]) == {1.0, -1.0}
    assert HardMarginSVM(norm=certificate.norm).fit(X, y).margin_ <= certificate.margin_upper
    assert certificate.verify(X, y, exact=True)


def test_the_nearest_row_of_the_other_class_gets_as_much_weight():
    problem = Separation(*ONE_ERRS, Norm.L2, True)
    assert with_both_classes(problem, np.array([1.0, 2.0, 0.0, 0.0])).tolist() == [1.0, 2.0, 3.0, 0.0]
    assert with_both_classes(problem, np.array([0.0, 0.0, 0.0, 5.0])).tolist() == [5.0, 0.0, 0.0, 5.0]
    for weights in ([0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0]):
        assert with_both_classes(problem, np.array(weights)).tolist() == weights
    through = dataclasses.replace(problem, fit_intercept=False)
    assert with_both_classes(through, np.array([1.0, 0.0, 0.0, 0.0])).tolist() == [1.0, 0.0, 0.0, 0.0]
