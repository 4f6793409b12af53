"""The saddle, drawn: of one variable, and of margins along a line of planes."""

import math

import numpy as np
import pytest
from matplotlib import pyplot

from maxmargin import (
    ConstrainedParabola,
    HardMarginSVM,
    KernelSVM,
    LagrangianDisplay,
    LinearSVM,
    Perceptron,
)
from maxmargin.data import synthetic
from maxmargin.plots.margin_line import margin_line

BINDING, FREE = ConstrainedParabola(0.2, -1, 1, 5), ConstrainedParabola(0.2, -1, 1, -3)
SOFT = [
    LinearSVM(tol=1e-9),
    LinearSVM(tol=1e-9, loss="squared_hinge"),
    LinearSVM(tol=1e-9, loss="huber_hinge"),
    LinearSVM(tol=1e-9, fit_intercept=False),
    LinearSVM(tol=1e-9, class_weight={-1: 2.0, 1: 0.5}),
    KernelSVM(tol=1e-8, gamma=0.5),
]


def lines_of(ax):
    return {line.get_label(): np.array(line.get_data()) for line in ax.lines}


def objective(svm, X, y, t, costs):
    """P of the plane t (w, b), computed anew."""
    missing = np.maximum(0.0, 1.0 - y * t * svm.decision_function(X))
    loss = {"hinge": missing, "squared_hinge": missing**2}[svm.loss]
    return t * t * svm.coef_[0] @ svm.coef_[0] / 2 + costs @ loss


# ------------------------------------------------------------------------------------ a line of planes


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_objective_along_a_line_from_zero(loss):
    X, y = synthetic.overlapping(40, seed=3)
    svm = LinearSVM(C=0.7, loss=loss, tol=1e-9).fit(X, y)
    line = margin_line(svm, X, y)
    for t in (-0.5, 0.0, 0.3, 1.0, 2.0):
        assert line.value(t) == pytest.approx(objective(svm, X, y, t, np.full(40, 0.7)))
    assert line.value(np.array([0.0, 1.0])) == pytest.approx([0.7 * 40, svm.certificate_.primal])


@pytest.mark.parametrize("estimator", SOFT, ids=str)
def test_the_lagrangian_is_below_and_touches_at_the_optimum(estimator):
    X, y = synthetic.overlapping(40, seed=3)
    svm = estimator.fit(X, y)
    line, t = margin_line(svm, X, y), np.linspace(-1.0, 3.0, 81)
    for s in (0.0, 0.3, 1.0):
        below = line.lagrangian(t, s)
        assert np.all(below <= line.value(t) + 1e-6 * line.value(t))
        assert np.all(below >= line.dual(s) - 1e-6 * line.value(1.0))
    assert line.dual(1.0) == pytest.approx(svm.certificate_.dual, rel=1e-6)
    assert line.lagrangian(1.0, 1.0) == pytest.approx(line.value(1.0), rel=1e-4)
    assert line.saddle.value == pytest.approx(svm.certificate_.primal, rel=1e-5)
    assert line.lowest(1.0) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("estimator", [HardMarginSVM(), KernelSVM(C=math.inf, gamma=0.5)], ids=str)
def test_a_hard_margin_from_zero_is_a_parabola_with_a_constraint(estimator):
    X, y, _ = synthetic.street(30, seed=3)
    line = margin_line(estimator.fit(X, y), X, y)
    half = 0.5 * line.squares[2]
    same = ConstrainedParabola(half, 0.0, 0.0, c=1.0)
    t = np.linspace(-0.5, 2.0, 26)
    assert line.value(t) == pytest.approx(np.where(t >= 1.0 - 1e-9, half * t * t, math.inf))
    for s in (0.0, 0.5, 1.0, 1.7):
        price = s * float(line.a.sum())
        assert line.dual(s) == pytest.approx(same.dual(price), rel=1e-5, abs=1e-9)
        assert line.lagrangian(t, s) == pytest.approx(same.lagrangian(t, price), rel=1e-5, abs=1e-5)
    assert line.most == math.inf
    assert line.edge == 1.0


def test_from_another_start_the_line_ends_at_the_fit():
    X, y = synthetic.overlapping(40, seed=3)
    svm = LinearSVM(tol=1e-9).fit(X, y)
    line = margin_line(svm, X, y, start=([-1.0, 1.0], 0.5))
    missing = np.maximum(0.0, 1.0 - y * (X @ [-1.0, 1.0] + 0.5))
    assert line.value(0.0) == pytest.approx(1.0 + missing.sum())
    assert line.value(1.0) == pytest.approx(svm.certificate_.primal)
    least = min(line.lagrangian(np.linspace(-2, 3, 501), 0.7))
    assert least >= line.dual(0.7)
    assert line.lagrangian(line.lowest(0.7), 0.7) == pytest.approx(least, rel=1e-5)
    assert line.edge is None


def test_bounds_hold_only_within_the_box():
    X, y = synthetic.overlapping(40, seed=3)
    line = margin_line(LinearSVM(tol=1e-9).fit(X, y), X, y)
    assert 1.0 <= line.most < 1.01  # some multipliers are at C
    assert line.bounds(0.5, 0.5).lower == line.dual(0.5)
    assert line.bounds(0.5, 1.5).lower == -math.inf
    assert line.bounds(0.5, -0.1).lower == -math.inf
    assert line.bounds(0.5, 0.5).upper == line.value(0.5)


def test_one_plane_of_many_classes_leaves_out_no_row():
    X, y = synthetic.flowers()
    svm = LinearSVM(tol=1e-8).fit(X, y)
    line = margin_line(svm, X, y, plane=1)
    assert line.value(1.0) == pytest.approx(svm.certificate_[1].primal, rel=1e-6)
    ovo = LinearSVM(tol=1e-8, multi_class="ovo").fit(X, y)
    assert len(margin_line(ovo, X, y, plane=2).a) == 100


def test_what_is_no_line_is_a_sentence():
    X, y = synthetic.overlapping(20, seed=3)
    with pytest.raises(ValueError, match="no multipliers"):
        margin_line(HardMarginSVM(on_inseparable="return").fit(X, y), X, y)
    svm = LinearSVM().fit(X, y)
    with pytest.raises(ValueError, match="has 3 coefficients"):
        margin_line(svm, X, y, start=([1, 2, 3], 0))
    with pytest.raises(ValueError, match="that is no line"):
        margin_line(svm, X, y, start=(svm.coef_[0], svm.intercept_[0]))
    with pytest.raises(ValueError, match="starts at w = 0"):
        margin_line(KernelSVM().fit(X, y), X, y, start=([1, 2], 0))
    X, y, _ = synthetic.street(20, seed=1)
    with pytest.raises(ValueError, match="l2"):
        margin_line(HardMarginSVM("l1").fit(X, y), X, y)


# ---------------------------------------------------------------------------------------- the picture


def test_the_function_its_lagrangian_and_the_dual(style):
    display = LagrangianDisplay.from_problem(BINDING, x=6, a=0.5)
    left, middle, right = (lines_of(ax) for ax in display.axes_)
    x, f = left["f(x)"]
    allowed = x >= 5
    assert f[allowed] == pytest.approx(BINDING.value(x[allowed]))
    assert np.isnan(f[~allowed]).all()
    x, below = left["L(x, a) at a = 0.5"]
    assert below == pytest.approx(BINDING.lagrangian(x, 0.5))
    assert left["the point x = 6"].tolist() == [[6.0], [display.bounds.upper]]
    a, g = middle["g(a)"]
    assert g == pytest.approx(BINDING.dual(a))
    assert g.max() == pytest.approx(1.0)
    assert middle["the optimum"][1].tolist() == [1.0, 1.0]
    assert middle["the price a = 0.5"].ravel() == pytest.approx([0.5, 0.6875])
    prices = right["lowest x for each a"]
    assert prices[0] == pytest.approx(BINDING.lowest(prices[1]))
    assert right["x = 5: a does not matter"][0].tolist() == [5.0, 5.0]
    assert right["the point and the price"].ravel().tolist() == [6.0, 0.5]
    [saddle] = [drawn for drawn in display.axes_[2].collections if drawn.get_label() == "the saddle"]
    assert saddle.get_offsets().tolist() == [[5.0, 1.0]]
    assert display.title == "0.6875 = g(a) <= the optimum <= f(x) = 2.2"
    assert display.ax_.get_legend() is not None


def test_at_the_best_price_both_bounds_meet():
    for problem, value in ((BINDING, "1"), (FREE, "-0.25")):
        display = LagrangianDisplay.from_problem(problem)
        assert (display.x, display.a) == problem.saddle[:2]
        assert display.title == f"{value} = g(a) <= the optimum <= f(x) = {value}"
        labels = [drawn.get_label() for drawn in display.ax_.patches]
        assert "forbidden" in labels


def test_a_point_or_a_price_that_proves_nothing_says_so():
    assert "the point is not allowed" in LagrangianDisplay.from_problem(BINDING, x=2, a=0.5).title
    assert "a price below 0 proves nothing" in LagrangianDisplay.from_problem(BINDING, x=6, a=-1).title
    assert LagrangianDisplay.from_problem(BINDING, x=2, a=-1).title.startswith("the optimum\na price below 0")
    X, y = synthetic.overlapping(20, seed=3)
    beyond = LagrangianDisplay.from_estimator(LinearSVM().fit(X, y), X, y, a=1.5)
    assert "multipliers beyond their box prove nothing" in beyond.title
    for wrong in ({"x": math.nan}, {"a": "1"}, {"a": True}):
        with pytest.raises(ValueError, match="must be a finite number"):
            LagrangianDisplay.from_problem(BINDING, **wrong)


@pytest.mark.parametrize(
    "estimator", [HardMarginSVM(), LinearSVM(), LinearSVM(loss="squared_hinge"), KernelSVM()], ids=str
)
def test_a_margin_along_a_line(estimator, style):
    X, y, _ = synthetic.street(30, seed=3)
    svm = estimator.fit(X, y)
    display = LagrangianDisplay.from_estimator(svm, X, y, x=1.3, a=0.6)
    line = margin_line(svm, X, y)
    left, middle, _ = (lines_of(ax) for ax in display.axes_)
    t, below = left["L(t, s) at s = 0.6"]
    assert below == pytest.approx(line.lagrangian(t, 0.6))
    t, P = left["P(t)"]
    known = ~np.isnan(P)
    assert P[known] == pytest.approx(line.value(t)[known])
    assert middle["g(s)"][1] == pytest.approx(line.dual(middle["g(s)"][0]))
    assert display.bounds == line.bounds(1.3, 0.6)
    assert "<= the optimum <= P(t)" in display.title


def test_axes_and_keywords_of_the_user():
    figure, ax = pyplot.subplots()
    display = LagrangianDisplay.from_problem(BINDING, ax=ax, color="red", linewidth=5)
    assert display.figure_ is figure
    assert pyplot.get_fignums() == [figure.number]
    [line] = [line for line in display.ax_.lines if line.get_label() == "f(x)"]
    assert line.get_color() == "red"
    assert line.get_linewidth() == 5


def test_what_is_far_from_the_optimum_has_no_saddle_to_show():
    X, y, _ = synthetic.street(30, seed=3)
    with pytest.raises(ValueError, match="not near enough to the optimum"):
        LagrangianDisplay.from_estimator(Perceptron().fit(X, y), X, y)
