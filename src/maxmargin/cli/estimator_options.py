"""Which estimator a command fits, with which parameters: the options, and the estimator that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Annotated, Any

import typer

from maxmargin.cli.console import UserError
from maxmargin.cli.options import (
    ClassWeight,
    HuberWidth,
    Loss,
    MaxTime,
    NoBias,
    Price,
    Scale,
    Scaling,
    Tolerance,
    choice_of,
    kernel_named,
    number_of,
    read_class_weight,
)
from maxmargin.estimators.declarations import (
    AVERAGE,
    COEF0,
    DEGREE,
    GAMMA,
    LINEAR_KERNEL,
    LOSS,
    MULTI_CLASS,
    PRICE,
    STOCHASTIC_SVM,
)
from maxmargin.estimators.parameters import Declaration

STEP = STOCHASTIC_SVM["step"]


class Algorithm(StrEnum):
    """What can be fitted."""

    SVM = "svm"
    HARD_MARGIN = "hard-margin"
    PERCEPTRON = "perceptron"
    MARGIN_PERCEPTRON = "margin-perceptron"
    WINNOW = "winnow"
    STOCHASTIC = "stochastic"
    KERNEL_SVM = "kernel-svm"
    KERNEL_PERCEPTRON = "kernel-perceptron"


@dataclass(frozen=True)
class FitOptions:
    """What is fitted, to columns scaled how, and with which parameters."""

    algorithm: Annotated[Algorithm, typer.Option(help="How the planes are found.")] = Algorithm.SVM
    C: Price = PRICE.default
    loss: Loss = LOSS.default
    huber_width: HuberWidth = None
    kernel: Annotated[
        str, typer.Option("--kernel", "-t", parser=kernel_named, metavar="NAME", help=LINEAR_KERNEL.option)
    ] = LINEAR_KERNEL.default
    gamma: Annotated[str, number_of(GAMMA, "--gamma", "-g")] = GAMMA.default
    degree: Annotated[int, number_of(DEGREE, "--degree", "-d")] = DEGREE.default
    coef0: Annotated[float, number_of(COEF0, "--coef0", "-r")] = COEF0.default
    scale: Scale = Scaling.AUTO
    class_weight: ClassWeight = None
    multi_class: Annotated[str | None, choice_of(MULTI_CLASS)] = None
    no_bias: NoBias = False
    tol: Tolerance = None
    step: Annotated[str, typer.Option("--step", metavar="LENGTH", help=STEP.option)] = STEP.default
    average: Annotated[bool, typer.Option("--average", help=AVERAGE.option)] = False
    max_time: MaxTime = None


def kind_of(asked: FitOptions) -> Any:
    """The class of the estimator."""
    import maxmargin

    has_kernel = asked.kernel != LINEAR_KERNEL.default
    kinds: dict[Algorithm, Any] = {
        Algorithm.SVM: maxmargin.KernelSVM if has_kernel else maxmargin.LinearSVM,
        Algorithm.HARD_MARGIN: maxmargin.HardMarginSVM,
        Algorithm.PERCEPTRON: maxmargin.KernelPerceptron if has_kernel else maxmargin.Perceptron,
        Algorithm.MARGIN_PERCEPTRON: maxmargin.MarginPerceptron,
        Algorithm.WINNOW: maxmargin.Winnow,
        Algorithm.STOCHASTIC: maxmargin.StochasticSVM,
        Algorithm.KERNEL_SVM: maxmargin.KernelSVM,
        Algorithm.KERNEL_PERCEPTRON: maxmargin.KernelPerceptron,
    }
    return kinds[asked.algorithm]


def make_classifier(asked: FitOptions, labels: list[Any], settings: Sequence[str] | None) -> Any:
    """The estimator with those of the options that it has; what it does not have must not have been asked for."""
    from maxmargin.problems.kernels import KERNELS

    kind = kind_of(asked)
    given = {field.name: getattr(asked, field.name) for field in fields(asked)}
    given["gamma"], given["step"] = number("--gamma", asked.gamma, GAMMA), STEP.read(asked.step)
    given["class_weight"] = read_class_weight(asked.class_weight, labels)
    given["fit_intercept"] = not asked.no_bias
    options = {"fit_intercept": "no_bias"}
    usual = {field.name: field.default for field in fields(asked)} | {"fit_intercept": True}
    names = ("C", "loss", "huber_width", "kernel", "gamma", "degree", "coef0", "class_weight", "fit_intercept", "tol")
    for name in (*names, "multi_class", "step", "average"):
        if name not in kind.parameters and given[name] != usual[name]:
            option = options.get(name, name).replace("_", "-")
            raise UserError(f"--{option} has no meaning for {kind.__name__} (--algorithm {asked.algorithm.value})")
    if "kernel" in kind.parameters:
        for name in ("gamma", "degree", "coef0"):
            if name not in KERNELS[asked.kernel].parameters and given[name] != usual[name]:
                raise UserError(f"--{name} has no meaning for the {asked.kernel} kernel")
    chosen = {name: value for name, value in given.items() if name in kind.parameters and value is not None}
    return kind(**chosen | read_settings(settings, kind))


def number(option: str, text: str, declaration: Declaration) -> Any:
    """A number, or one of the words that the declaration knows beside."""
    value = declaration.read(text)
    if isinstance(value, str) and value not in declaration.also:
        raise UserError(f"{option} must be a number, {' or '.join(declaration.also)}, not {text!r}")
    return value if isinstance(value, str) else float(value)


def read_settings(pairs: Sequence[str] | None, kind: Any) -> dict[str, Any]:
    """`--set NAME=VALUE`: any parameter of an estimator, each read as it is declared.

    >>> from maxmargin import Perceptron
    >>> read_settings(["order=shuffled", "rate=0.5", "average=true"], Perceptron)
    {'order': 'shuffled', 'rate': 0.5, 'average': True}
    """
    known, found = sorted(kind.parameters), {}
    for pair in pairs or ():
        name, equals, text = pair.partition("=")
        if not equals:
            raise UserError(f"--set {pair}: write NAME=VALUE, for example --set {known[0]}=...")
        if name not in known:
            raise UserError(f"--set {pair}: {kind.__name__} has no parameter {name!r}; it has {', '.join(known)}")
        found[name] = kind.parameters[name].read(text)
    return found
