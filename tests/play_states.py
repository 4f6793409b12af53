"""States of the playground for its tests: every algorithm, on points whose answer is known."""

from maxmargin.playground.lessons import lessons
from maxmargin.playground.messages import read_state, read_view
from maxmargin.playground.presets import points_named
from maxmargin.run.control import collected

FEW = next(lesson["state"]["points"] for lesson in lessons() if lesson["name"] == "multiplier")  # around the origin

LINEAR = [
    ("perceptron", {}),
    ("perceptron", {"order": "shuffled", "rate": 0.5, "random_state": 3}),
    ("perceptron", {"fit_intercept": False, "order": "worst_first"}),
    ("margin_perceptron", {}),
    ("margin_perceptron", {"guess": 0.1}),
    ("winnow", {}),
    ("winnow", {"epsilon": 0.1, "balanced": True, "fit_intercept": False}),
    ("hard_margin", {}),
    ("hard_margin", {"norm": "l1"}),
    ("hard_margin", {"solver": "coordinate_descent"}),
    ("hard_margin", {"fit_intercept": False}),
    ("linear_svm", {}),
    ("linear_svm", {"C": "inf"}),
    ("linear_svm", {"C": 0.1, "loss": "squared_hinge"}),
    ("linear_svm", {"solver": "coordinate_descent", "fit_intercept": False}),
    ("stochastic_svm", {}),
    ("stochastic_svm", {"average": True, "project": True, "max_iter": 20, "shuffle": False}),
]
BENT = [
    ("kernel_svm", {}),
    ("kernel_svm", {"kernel": "poly", "degree": 2, "coef0": 1.0, "C": 10.0}),
    ("kernel_svm", {"kernel": "rbf", "gamma": 2.0, "C": "inf"}),
    ("kernel_svm", {"loss": "squared_hinge", "fit_intercept": False}),
    ("stochastic_svm", {"kernel": "rbf", "max_iter": 30}),
    ("kernel_perceptron", {}),
    ("kernel_perceptron", {"kernel": "poly", "degree": 2, "coef0": 1.0, "order": "shuffled", "random_state": 1}),
]
STRAIGHTENED = [  # a kernel that bends nothing
    ("kernel_svm", {"kernel": "linear"}),
    ("kernel_perceptron", {"kernel": "linear", "fit_intercept": False}),
]


def name_of(case):
    name, parameters = case
    return "-".join([name, *(f"{key}={value}" for key, value in parameters.items())])


def state_of(case, preset="separable"):
    name, parameters = case
    around_origin = preset == "separable" and not parameters.get("fit_intercept", True)
    points = [list(point) for point in (FEW if around_origin else points_named(preset))]
    return read_state({"points": points, "algorithm": name, "parameters": parameters})


def view_of(state):
    return read_view(None, state.points)


def fitted(state):
    """The library's own answer."""
    with collected():
        return state.algorithm.make(state.parameters).fit(state.points, state.signs)
