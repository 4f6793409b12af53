"""The algorithms of the library as the playground offers them: which of their parameters, and in which order."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import maxmargin
from maxmargin.estimators.widgets import Widget
from maxmargin.persistence.errors import Refusal

KERNEL = ("kernel", "gamma", "degree", "coef0")


@dataclass(frozen=True)
class Algorithm:
    """`shown` are the parameters of the estimator that the page offers, `defaults` those that it starts from elsewhere,
    `fixed` some that it sets and does not show."""

    name: str
    title: str
    sentence: str
    estimator: str
    steps: str
    shown: tuple[str, ...]
    defaults: dict[str, Any] = field(default_factory=dict)
    fixed: dict[str, Any] = field(default_factory=dict)

    @property
    def parameters(self) -> list[Widget]:
        """As the estimator declares them: with all words that are known now."""
        declared = getattr(maxmargin, self.estimator).parameters
        return [declared[name].widget(name, self.defaults.get(name, declared[name].default)) for name in self.shown]

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
        for name in given:
            if name not in self.shown:
                known = ", ".join(sorted(self.shown))
                raise Refusal(f"{self.title} has no parameter {name[:40]!r}; it has {known}", "state")
        parameters, values = self.parameters, {}
        for parameter in parameters:
            try:
                values[parameter.name] = value_read(parameter, given.get(parameter.name, parameter.default))
            except ValueError as problem:
                raise Refusal(str(problem), parameter.name) from None
        return {parameter.name: values[parameter.name] for parameter in parameters if matters(parameter, values)}

    def make(self, parameters: dict[str, Any], **more: Any) -> Any:
        """The estimator."""
        return getattr(maxmargin, self.estimator)(**parameters, **self.fixed, **more)


def matters(parameter: Widget, others: dict[str, Any]) -> bool:
    """Whether it has a meaning beside these values of the others."""
    return parameter.shown_if is None or others[parameter.shown_if[0]] in parameter.shown_if[1]


def value_read(parameter: Widget, value: Any) -> Any:
    """The value as the estimator wants it, or a ValueError that says what it may be."""
    if any(value is special or (isinstance(value, str) and value == special) for special, _ in parameter.also):
        return math.inf if value == "inf" else value
    if parameter.kind == "switch":
        if not isinstance(value, bool):
            raise ValueError(f"{parameter.name} must be true or false")
        return value
    if parameter.kind == "choice":
        known = [choice for choice, _ in parameter.choices]
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"{parameter.name} must be one of {', '.join(known)}")
        return value
    whole = parameter.kind == "integer"
    if isinstance(value, bool) or not isinstance(value, int | float) or not parameter.low <= value <= parameter.high:
        kind = "a whole number" if whole else "a number"
        others = "".join(f", or {special!r}" for special, _ in parameter.also)
        raise ValueError(f"{parameter.name} must be {kind} between {parameter.low:g} and {parameter.high:g}{others}")
    if whole and value != int(value):
        raise ValueError(f"{parameter.name} must be a whole number, not {value:g}")
    return int(value) if whole else float(value)


ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm(
            "perceptron",
            "Perceptron",
            "Whenever a row is on the wrong side, add it to w; stop when no row is.",
            "Perceptron",
            "updates",
            ("rate", "order", "fit_intercept", "normalize_rows", "average", "random_state", "multi_class"),
        ),
        Algorithm(
            "margin_perceptron",
            "Margin perceptron",
            "A perceptron that also counts narrow escapes: at least a share of the best margin (of the lifted rows).",
            "MarginPerceptron",
            "updates",
            ("guess", "share", "order", "fit_intercept", "normalize_rows", "random_state", "multi_class"),
        ),
        Algorithm(
            "winnow",
            "Winnow",
            "Weights are multiplied instead of added to: few mistakes where few columns matter.",
            "Winnow",
            "updates",
            ("epsilon", "balanced", "order", "fit_intercept", "normalize_rows", "random_state", "multi_class"),
        ),
        Algorithm(
            "hard_margin",
            "Hard margin",
            "The widest street with no row on it, exactly; or a proof that there is none.",
            "HardMarginSVM",
            "rounds",
            ("norm", "fit_intercept", "normalize_rows", "solver", "multi_class"),
            fixed={"on_inseparable": "return"},
        ),
        Algorithm(
            "linear_svm",
            "Linear SVM",
            "The widest street at a price for every row that is not beyond its edge.",
            "LinearSVM",
            "rounds",
            ("C", "loss", "huber_width", "fit_intercept", "tol", "solver", "multi_class"),
            defaults={"tol": 1e-6, "huber_width": 0.5},
        ),
        Algorithm(
            "kernel_svm",
            "Kernel SVM",
            "The widest street in the space of a kernel: the boundary bends.",
            "KernelSVM",
            "rounds",
            ("C", *KERNEL, "loss", "huber_width", "fit_intercept", "tol", "multi_class"),
            defaults={"tol": 1e-4, "huber_width": 0.5},
        ),
        Algorithm(
            "stochastic_svm",
            "Stochastic subgradient",
            "The soft margin one row at a time: shrink w a little, and add the row if it is inside the street.",
            "StochasticSVM",
            "updates",
            (
                "C",
                *KERNEL,
                "step",
                "average",
                "project",
                "fit_intercept",
                "max_iter",
                "shuffle",
                "random_state",
                "tol",
                "multi_class",
            ),
            defaults={"max_iter": 100},  # the plane that the steps give
        ),
        Algorithm(
            "kernel_perceptron",
            "Kernel perceptron",
            "The perceptron in the space of a kernel: it remembers how often it was wrong about each row.",
            "KernelPerceptron",
            "updates",
            (*KERNEL, "fit_intercept", "max_iter", "order", "random_state", "multi_class"),
        ),
    )
}
