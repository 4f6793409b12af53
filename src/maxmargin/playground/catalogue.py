"""The algorithms of the library as the playground offers them, with their parameters."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import maxmargin
from maxmargin.playground.parameters import Parameter, Refused
from maxmargin.problems.losses import HINGE, HUBER_HINGE, LOSSES

RATE = Parameter(
    "rate", "Rate", "How far an update moves: from zero it scales w, and changes no decision.", "log", 1.0, 0.01, 100.0
)
ORDER = Parameter(
    "order",
    "Order",
    "Which row is visited next: as they lie, in a new order in each sweep, or the worst one of all.",
    "choice",
    "cyclic",
    choices=(("cyclic", "as they lie"), ("shuffled", "shuffled"), ("worst_first", "worst first")),
)
BIAS = Parameter("fit_intercept", "Bias", "Whether the line may leave the origin.", "switch", True)
SEED = Parameter(
    "random_state",
    "Seed",
    "Of the shuffled order: another seed, another run.",
    "integer",
    0,
    0,
    999,
    shown_if=("order", ("shuffled",)),
)
SHUFFLE_SEED = dataclasses.replace(SEED, shown_if=("shuffle", (True,)))
AVERAGE = Parameter(
    "average", "Average", "Show the mean of all planes on the way instead of the last one.", "switch", False
)
PRICE = Parameter(
    "C",
    "C, the price of slack",
    "How much a unit of slack costs: a small C buys a wide street, a large C few violations.",
    "log",
    1.0,
    1e-3,
    1e4,
)
HARD_PRICE = dataclasses.replace(PRICE, also=(("inf", "infinite: the hard margin"),))


def losses() -> tuple[tuple[str, str], ...]:
    """All that are registered."""
    return tuple((loss.name, loss.title) for loss in LOSSES.values())


def kernels(first: str) -> tuple[Parameter, ...]:
    """The kernel and its numbers; `first` is the default."""
    named = {"rbf": "rbf, exp(-gamma |x - x'|²)", "poly": "poly, (gamma x.x' + r)^p", "linear": "linear, x.x'"}
    ordered = [first, *(name for name in named if name != first)]
    bent = ("kernel", ("rbf", "poly"))
    poly = ("kernel", ("poly",))
    return (
        Parameter(
            "kernel",
            "Kernel",
            "The space in which the plane is flat; here it is seen bent.",
            "choice",
            first,
            choices=tuple((name, named[name]) for name in ordered),
        ),
        Parameter(
            "gamma",
            "gamma",
            "How fast the kernel falls with distance (rbf), or how much x.x' counts (poly).",
            "log",
            "scale",
            1e-3,
            1e3,
            also=(("scale", "1 / (2 variance of the points)"),),
            shown_if=bent,
        ),
        Parameter("degree", "p, the degree", "The power of the polynomial.", "integer", 3, 1, 8, shown_if=poly),
        Parameter(
            "coef0", "r", "The constant of the polynomial: it lets lower powers in.", "linear", 0.0, 0.0, 10.0,
            shown_if=poly,
        ),
    )  # fmt: skip


def gap(default: float) -> Parameter:
    return Parameter(
        "tol", "Gap to prove", "The relative gap between the proven bounds at which to stop.", "log", default, 1e-9, 0.1
    )


@dataclass(frozen=True)
class Algorithm:
    """`fixed` are parameters of the estimator that the page does not show."""

    name: str
    title: str
    sentence: str
    estimator: str
    steps: str
    parameters: tuple[Parameter, ...]
    fixed: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "sentence": self.sentence,
            "estimator": self.estimator,
            "steps": self.steps,
            "parameters": [parameter.to_json() for parameter in self.parameters],
        }

    def read(self, given: dict[str, Any]) -> dict[str, Any]:
        """All parameters that have a meaning, checked, with the defaults of those that are not given."""
        known = {parameter.name for parameter in self.parameters}
        for name in given:
            if name not in known:
                raise Refused(
                    f"{self.title} has no parameter {name[:40]!r}; it has {', '.join(sorted(known))}", "state"
                )
        values = {
            parameter.name: parameter.read(given.get(parameter.name, parameter.default))
            for parameter in self.parameters
        }
        return {parameter.name: values[parameter.name] for parameter in self.parameters if parameter.matters(values)}

    def make(self, parameters: dict[str, Any], **more: Any) -> Any:
        """The estimator."""
        return getattr(maxmargin, self.estimator)(**parameters, **self.fixed, **more)


ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm(
            "perceptron",
            "Perceptron",
            "Whenever a row is on the wrong side, add it to w; stop when no row is.",
            "Perceptron",
            "updates",
            (RATE, ORDER, BIAS, AVERAGE, SEED),
        ),
        Algorithm(
            "margin_perceptron",
            "Margin perceptron",
            "A perceptron that also counts narrow escapes: at least a quarter of the best margin (of the lifted rows).",
            "MarginPerceptron",
            "updates",
            (
                Parameter(
                    "guess",
                    "Guess G of the margin",
                    "A row nearer to the plane than G/2 is a violation.",
                    "log",
                    None,
                    1e-3,
                    1e3,
                    also=((None, "none: start from R and halve"),),
                ),
                ORDER,
                BIAS,
                SEED,
            ),
        ),
        Algorithm(
            "winnow",
            "Winnow",
            "Weights are multiplied instead of added to: few mistakes where few columns matter.",
            "Winnow",
            "updates",
            (
                Parameter(
                    "epsilon",
                    "epsilon",
                    "The step: a weight is multiplied by (1 - epsilon)^(-a).",
                    "log",
                    None,
                    1e-3,
                    0.5,
                    also=((None, "none: start from 1/2 and halve"),),
                ),
                Parameter(
                    "balanced",
                    "Balanced",
                    "Two weights for each column, so that w can have either sign.",
                    "switch",
                    True,
                ),
                ORDER,
                BIAS,
                SEED,
            ),
        ),
        Algorithm(
            "hard_margin",
            "Hard margin",
            "The widest street with no row on it, exactly; or a proof that there is none.",
            "HardMarginSVM",
            "rounds",
            (
                Parameter(
                    "norm",
                    "Distance",
                    "l2 is the usual distance; l1 of w measures by the largest coordinate, and gives sparse planes.",
                    "choice",
                    "l2",
                    choices=(("l2", "l2"), ("l1", "l1")),
                ),
                BIAS,
                Parameter(
                    "solver",
                    "Solver",
                    "Which algorithm finds it: the nearest points of the hulls, or one dual variable after the other.",
                    "choice",
                    "auto",
                    choices=(
                        ("auto", "chosen"),
                        ("hulls", "nearest points of the hulls"),
                        ("coordinate_descent", "coordinate descent"),
                    ),
                    shown_if=("norm", ("l2",)),
                ),
            ),
            {"on_inseparable": "return"},
        ),
        Algorithm(
            "linear_svm",
            "Linear SVM",
            "The widest street at a price for every row that is not beyond its edge.",
            "LinearSVM",
            "rounds",
            (
                HARD_PRICE,
                Parameter(
                    "loss",
                    "Loss",
                    "What slack costs: its amount, its square, or a square that becomes a straight line at its knee.",
                    "choice",
                    HINGE.name,
                    choices=losses,
                ),
                Parameter(
                    "huber_width",
                    "Width",
                    "Of the Huber hinge: how much slack is paid by its square before the line is straight.",
                    "log",
                    HUBER_HINGE.bend,
                    0.01,
                    10.0,
                    shown_if=("loss", (HUBER_HINGE.name,)),
                ),
                BIAS,
                gap(1e-6),
                Parameter(
                    "solver",
                    "Solver",
                    "Which algorithm closes the gap.",
                    "choice",
                    "auto",
                    choices=(("auto", "chosen"), ("coordinate_descent", "coordinate descent")),
                ),
            ),
        ),
        Algorithm(
            "kernel_svm",
            "Kernel SVM",
            "The widest street in the space of a kernel: the boundary bends.",
            "KernelSVM",
            "rounds",
            (HARD_PRICE, *kernels("rbf"), gap(1e-4)),
        ),
        Algorithm(
            "stochastic_svm",
            "Stochastic subgradient",
            "The soft margin one row at a time: shrink w a little, and add the row if it is inside the street.",
            "StochasticSVM",
            "updates",
            (
                PRICE,
                *kernels("linear"),
                Parameter(
                    "step",
                    "Step",
                    "eta_t, how far visit t moves: 1 / (lambda t), or always the same.",
                    "log",
                    "pegasos",
                    1e-4,
                    1.0,
                    also=(("pegasos", "Pegasos: 1 / (lambda t)"),),
                ),
                AVERAGE,
                Parameter(
                    "project", "Project", "After each step move w back into the ball that holds the best w.", "switch",
                    False,
                ),
                dataclasses.replace(BIAS, shown_if=("kernel", ("linear",))),
                Parameter("max_iter", "Sweeps", "How often each row is visited at most.", "integer", 100, 1, 2000),
                Parameter("shuffle", "Shuffle", "Visit the rows in a new order in each sweep.", "switch", True),
                SHUFFLE_SEED,
                gap(1e-2),
            ),
        ),
        Algorithm(
            "kernel_perceptron",
            "Kernel perceptron",
            "The perceptron in the space of a kernel: it remembers how often it was wrong about each row.",
            "KernelPerceptron",
            "updates",
            (
                *kernels("rbf"),
                BIAS,
                Parameter("max_iter", "Sweeps", "After so many sweeps it gives up.", "integer", 1000, 1, 2000),
                Parameter("shuffle", "Shuffle", "Visit the rows in a new order in each sweep.", "switch", False),
                SHUFFLE_SEED,
            ),
        ),
    )
}  # fmt: skip
