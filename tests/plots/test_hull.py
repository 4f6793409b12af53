"""The display of hulls: outlines, nearest points, witnesses."""

import numpy as np
import pytest

from maxmargin import HardMarginSVM, HullDisplay, KernelSVM, LinearSVM, Perceptron, separability
from maxmargin.data import synthetic
from maxmargin.plots.shapes import hull


def line_named(display, label):
    return next(np.array(line.get_data()).T for line in display.ax_.lines if line.get_label() == label)


def dots_named(display, label):
    return next(np.asarray(one.get_offsets()) for one in display.ax_.collections if one.get_label() == label)


def outlines(display):
    return [np.array(line.get_data()).T for line in display.ax_.lines if line.get_label().startswith("_")]


@pytest.mark.parametrize("estimator", [HardMarginSVM(), LinearSVM(), Perceptron()], ids=lambda one: str(one))
def test_the_shortest_way_is_as_long_as_the_street_is_wide(estimator, style):
    X, y, plane = synthetic.street(40, seed=10)
    display = HullDisplay.from_estimator(estimator.fit(X, y), X, y)
    way = line_named(display, "the shortest way")
    assert np.linalg.norm(way[0] - way[1]) == pytest.approx(2.0 * plane.margin, abs=1e-9)
    assert display.ax_.get_title().startswith("No street is wider than this")
    for outline, sign in zip(outlines(display), (1, -1), strict=True):
        assert outline[:-1].tolist() == hull(X[y == sign]).tolist()


def test_the_witness_is_in_both_hulls():
    X, y = synthetic.overlapping(30, seed=1)
    display = HullDisplay.from_estimator(LinearSVM().fit(X, y), X, y)
    [point] = dots_named(display, "a point of both hulls")
    for outline in outlines(display):
        along, away = np.diff(outline, axis=0), point - outline[:-1]
        assert np.all(along[:, 0] * away[:, 1] - along[:, 1] * away[:, 0] >= -1e-9)
    assert "4 rows of 30 prove it" in display.ax_.get_title()


def test_a_pair_of_many_classes():
    X, y = synthetic.flowers()
    X = X[:, :2]
    display = HullDisplay.from_estimator(LinearSVM(multi_class="ovo").fit(X, y), X, y, plane=0)
    assert display.certificate.positive == "aster"
    assert set(y[display.hulls.rows]) == {"aster", "bellis"}


def test_many_columns_as_shadows_of_true_distance():
    X, y, _ = synthetic.separable_gaussians(40, 5, seed=2)
    svm = HardMarginSVM().fit(X, y)
    way = line_named(HullDisplay.from_estimator(svm, X, y), "the shortest way")
    assert np.linalg.norm(way[0] - way[1]) == pytest.approx(svm.street_, rel=1e-6)


def test_through_the_origin():
    X, y, _ = synthetic.separable_gaussians(30, 2, seed=8)
    certificate = separability(X, y, fit_intercept=False)
    display = HullDisplay.from_certificate(certificate, X, y)
    way = line_named(display, "the shortest way")
    assert np.linalg.norm(way[0]) == pytest.approx(certificate.margin_upper, rel=1e-9)
    assert way[1].tolist() == [0.0, 0.0]


def test_what_has_no_hulls():
    X, y, _ = synthetic.street(30)
    svm = KernelSVM().fit(X, y)
    with pytest.raises(ValueError, match="in the space of its kernel"):
        HullDisplay.from_estimator(svm, X, y)
    with pytest.raises(ValueError, match="separability"):
        HullDisplay.from_certificate(svm.certificate_, X, y)
