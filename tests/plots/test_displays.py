"""Displays of losses, paths, convergence and conditions: they draw the numbers that they say they draw."""

import math

import numpy as np
import pytest
from matplotlib import pyplot

from maxmargin import (
    ConvergenceDisplay,
    HardMarginSVM,
    KernelSVM,
    KKTDisplay,
    LinearSVM,
    LossDisplay,
    PathDisplay,
    Perceptron,
    path,
)
from maxmargin.data import synthetic


@pytest.fixture
def noisy():
    return synthetic.overlapping(40, seed=3)


def lines_of(ax):
    return {line.get_label(): np.array(line.get_data()) for line in ax.lines}


def test_losses_and_the_margins_below(noisy, style):
    X, y = noisy
    svm = LinearSVM(tol=1e-8).fit(X, y)
    display = LossDisplay.from_estimator(svm, X, y)
    drawn = lines_of(display.ax_)
    margins = y * svm.decision_function(X)
    assert drawn["rows of label 1"][0] == pytest.approx(margins[y == 1])
    assert drawn["rows of label -1"][0] == pytest.approx(margins[y == -1])
    x, hinge = drawn["hinge"]
    assert hinge == pytest.approx(np.maximum(0.0, 1.0 - x))
    x, square = drawn["squared hinge"]
    assert square == pytest.approx(np.maximum(0.0, 1.0 - x) ** 2)
    inside = np.count_nonzero((margins >= 0.0) & (margins < 1.0 - 1e-8))
    wanted = f"{inside} inside the street, {len(svm.violations(X, y).mistakes)} on the wrong side"
    assert display.ax_.get_title().endswith(wanted)


def test_both_losses_are_above_the_0_1_loss(noisy):
    X, y = noisy
    drawn = lines_of(LossDisplay.from_certificate(LinearSVM().fit(X, y).certificate_, X, y).ax_)
    for name in ("hinge", "squared hinge"):
        x, height = drawn[name]
        assert np.all(height >= (x <= 0.0))


def test_a_path_over_the_price(style):
    X, y, _ = synthetic.street(30, seed=10)
    found = path(X, y, Cs=[0.01, 0.1, 1.0, 10.0])
    display = PathDisplay.from_path(found, C=0.5)
    upper, middle, lower = (lines_of(ax) for ax in display.axes_)
    assert upper["_child0"].tolist() == [found.Cs.tolist(), found.margins.tolist()]
    assert middle["_child0"][1].tolist() == found.n_support.tolist()
    assert lower["inside the street"][1].tolist() == found.n_inside.tolist()
    assert lower["mistakes"][1].tolist() == found.n_mistakes.tolist()
    assert upper["C = 0.5"][0].tolist() == [0.5, 0.5]
    assert upper[f"from C = {found.C_max:.4g} on, the hard margin"][0].tolist() == [found.C_max] * 2
    assert "4 of 4 points proven" in display.ax_.get_title()


def test_a_path_from_an_estimator_has_its_parameters(noisy):
    X, y = noisy
    display = PathDisplay.from_estimator(LinearSVM(C=2.0, loss="squared_hinge", tol=1e-3), X, y, Cs=[0.1, 2.0])
    assert display.C == 2.0
    assert {certificate.loss for certificate in display.path.certificates} == {"squared_hinge"}
    with pytest.raises(ValueError, match="has a kernel"):
        PathDisplay.from_estimator(KernelSVM(), X, y)


def test_one_plane_of_many_over_the_price():
    X, y = synthetic.flowers()
    display = PathDisplay.from_estimator(LinearSVM().fit(X, y), X, y, plane=1, Cs=[1.0])
    assert set(display.path.classes) == {"bellis", "the rest"}


def test_primal_and_dual_close_in(noisy, style):
    X, y = noisy
    svm = LinearSVM(tol=1e-6).fit(X, y)
    display = ConvergenceDisplay.from_estimator(svm, X, y)
    left, right = (lines_of(ax) for ax in display.axes_)
    plane, proof = left["best plane so far"][1], left["best proof so far"][1]
    assert np.all(plane >= proof)
    assert np.all(np.diff(plane) <= 0.0)
    assert np.all(np.diff(proof) >= 0.0)
    assert plane[-1] == pytest.approx(svm.certificate_.primal, rel=1e-6)
    gap = right["gap"][1]
    assert gap == pytest.approx(np.maximum((plane - proof) / plane, 1e-16), abs=1e-15)
    assert gap[-1] <= svm.tol
    assert right[f"tol = {svm.tol:g}"][1].tolist() == [svm.tol, svm.tol]
    assert np.all(np.diff(right["gap"][0]) >= 0.0)


def test_conditions_and_the_line_they_want(noisy, style):
    X, y = noisy
    svm = LinearSVM(C=0.7, tol=1e-8).fit(X, y)
    display = KKTDisplay.from_estimator(svm, X, y)
    a = np.zeros(len(y))
    a[svm.support_] = np.abs(svm.dual_coef_[0])
    margins = y * svm.decision_function(X)
    for rows, sign in zip(display.ax_.collections, (1, -1), strict=True):
        wanted = np.column_stack([margins, a / 0.7])[y == sign]
        assert np.asarray(rows.get_offsets()) == pytest.approx(wanted)
    x, height = lines_of(display.ax_)["where the conditions hold"]
    assert height.tolist() == [1.0, 1.0, 0.0, 0.0]
    assert x[1:3].tolist() == [1.0, 1.0]
    assert display.ax_.get_title().startswith("The conditions of optimality hold")
    assert f"stationarity {svm.certificate_.kkt.stationarity.value:.1e}" in display.ax_.texts[0].get_text()


@pytest.mark.parametrize(
    "estimator", [HardMarginSVM(), LinearSVM(loss="squared_hinge"), KernelSVM(C=math.inf), Perceptron()], ids=str
)
def test_conditions_of_other_margins(estimator):
    X, y, _ = synthetic.street(30, seed=10)
    display = KKTDisplay.from_estimator(estimator.fit(X, y), X, y)
    optimal = estimator.certificate_.verdict.name == "OPTIMAL"
    first = "The conditions of optimality hold" if optimal else "How far from the conditions of optimality"
    assert display.ax_.get_title().startswith(first)


def test_no_conditions_without_a_street():
    X, y = synthetic.xor()
    with pytest.raises(ValueError, match="this plane has none"):
        KKTDisplay.from_estimator(HardMarginSVM(on_inseparable="return").fit(X, y), X, y)


@pytest.mark.parametrize("display", [LossDisplay, PathDisplay, ConvergenceDisplay, KKTDisplay])
def test_axes_of_the_user_are_used(noisy, display):
    X, y = noisy
    figure, ax = pyplot.subplots()
    shown = display.from_estimator(LinearSVM().fit(X, y), X, y, ax=ax)
    assert shown.figure_ is figure
    assert pyplot.get_fignums() == [figure.number]


def test_the_title_of_the_conditions_speaks_of_the_rows_that_are_drawn(noisy):
    """The rows of the fit meet the conditions; other rows, of which nothing is proven, need not."""
    X, y = noisy
    svm = LinearSVM().fit(X, y)
    assert KKTDisplay.from_estimator(svm, X, y).title.startswith("The conditions of optimality hold")
    assert KKTDisplay.from_estimator(svm, X + 5.0, y).title.startswith("How far from the conditions of optimality")
