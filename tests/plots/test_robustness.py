"""The curve that is drawn is the one that is proven."""

import numpy as np
import pytest

from maxmargin import HardMarginSVM, KernelSVM, LinearSVM, Perceptron, RobustnessDisplay, robustness
from maxmargin.data.synthetic import overlapping, street


def lines_of(ax):
    return {line.get_label(): np.array(line.get_data()) for line in ax.lines}


@pytest.mark.usefixtures("style")
def test_one_model():
    X, y = overlapping(40, seed=3)
    display = RobustnessDisplay.from_estimator(LinearSVM().fit(X, y), X, y)
    [answer], drawn = display.answers.values(), lines_of(display.ax_)
    radii, accuracy = drawn["LinearSVM"]
    assert accuracy[:-1].tolist() == answer.accuracy_at(radii[:-1]).tolist()
    assert radii[-1] == display.ax_.get_xlim()[1] > answer.distances.max()
    assert drawn["rows as they are"][1].tolist() == [answer.accuracy] * 2
    assert display.ax_.get_xlabel().endswith("its length")
    [line] = [line for line in display.ax_.lines if line.get_label() == "LinearSVM"]
    assert line.get_drawstyle() == "steps-post"


def test_half_of_the_rows_stay_right_within_what_the_title_says():
    X, y = overlapping(41, seed=3)
    answer = robustness(LinearSVM().fit(X, y), X, y)
    title = RobustnessDisplay.from_robustness(answer).ax_.get_title()
    radius = float(title.split("within ")[1].split(";")[0])
    assert answer.accuracy_at(radius * (1.0 - 1e-3)) >= 0.5


def test_several_models_in_one_picture():
    X, y, _ = street(40, seed=1)
    models = {"widest": HardMarginSVM().fit(X, y), "first": Perceptron().fit(X, y), "rbf": KernelSVM().fit(X, y)}
    display = RobustnessDisplay.from_estimator(models, X, y, norm="linf")
    drawn = lines_of(display.ax_)
    assert list(drawn) == ["widest", "first", "rbf, at least"]
    assert display.ax_.get_xlabel().endswith("its largest entry")
    colours = {line.get_color() for line in display.ax_.lines}
    assert len(colours) == 3


def test_perturbations_of_two_norms_are_two_pictures():
    X, y = overlapping(40)
    model = LinearSVM().fit(X, y)
    both = {norm: robustness(model, X, y, norm=norm) for norm in ("l2", "linf")}
    with pytest.raises(ValueError, match="one norm"):
        RobustnessDisplay.from_robustness(both)


def test_a_model_that_is_never_right_has_a_picture_too():
    X, y = overlapping(40)
    model = LinearSVM().fit(X, y)
    model.coef_, model.intercept_ = np.zeros((1, 2)), np.array([-1.0])
    display = RobustnessDisplay.from_estimator(model, X[y == 1], y[y == 1])
    assert display.ax_.get_xlim() == (0.0, 1.0)
    assert lines_of(display.ax_)["LinearSVM"][1].tolist() == [0.0, 0.0]
