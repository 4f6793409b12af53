"""A fit by a command: the estimator that its options make; --checkpoint keeps the run while it goes on."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import typer

from maxmargin.cli.certified import status_of
from maxmargin.cli.console import TimeLimit, UserError, gap_shown, messages
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

USUALLY = 60.0  # seconds between two checkpoints
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


@dataclass(frozen=True)
class CheckpointOptions:
    """Where a run is kept, so that it may be stopped or killed at any moment and gone on with; and how often."""

    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Where to keep the run, so that another process can go on with it."),
    ] = None
    every: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="How often the run is kept; 60 unless you say otherwise.")
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the checkpoint, if there is one.")] = (
        False
    )


def check_checkpoint(kept: CheckpointOptions, output: str | None) -> None:
    """One sentence where the options make no sense together, before any work is done."""
    if kept.checkpoint is None:
        if kept.every is not None or kept.resume:
            option = "--resume" if kept.resume else "--every"
            raise UserError(f"{option} needs --checkpoint FILE, where the run is kept")
        return
    if kept.every is not None and not 0.0 <= kept.every < math.inf:
        raise UserError(f"--every must be a number of seconds, not {kept.every:g}")
    if output is not None and os.path.realpath(output) == os.path.realpath(kept.checkpoint):
        raise UserError(f"{output} cannot be both the model and the checkpoint: give each a file of its own")
    if os.path.exists(kept.checkpoint) and not kept.resume:
        raise UserError(f"{kept.checkpoint} exists: --resume goes on with the run in it; remove it to begin anew")


def fit_or_go_on(classifier: Any, X: Any, y: Any, weights: dict[str, Any], kept: CheckpointOptions) -> None:
    """Fit, and keep the run where that is asked for."""
    from maxmargin.persistence import ModelFileError, fit_with_checkpoints

    if kept.checkpoint is None:
        classifier.fit(X, y, **weights)
        return
    if (limit := what_is_not_kept(classifier)) is not None:
        messages.print(f"maxmargin: {limit}")
    path, every = kept.checkpoint, USUALLY if kept.every is None else kept.every
    goes_on = kept.resume and os.path.exists(path)
    try:
        fit_with_checkpoints(classifier, X, y, **weights, path=path, every=every, resume=goes_on)
    except ModelFileError as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}") from None


def what_is_not_kept(classifier: Any) -> str | None:
    """A sentence for algorithms that write nothing down while they work."""
    from maxmargin.estimators.hard_margin import HardMarginSVM
    from maxmargin.problems.losses import LOSSES
    from maxmargin.problems.statement import Norm
    from maxmargin.solvers.registry import AUTO, SEPARATION, SOFT_MARGIN, may_begin_anew

    values = classifier.get_params()
    is_hard = values.get("C") == math.inf
    if is_hard and "kernel" in values:
        return "the hard margin of a kernel is not kept in a checkpoint: --resume begins it anew"
    solver = values.get("solver", AUTO)
    if is_hard or isinstance(classifier, HardMarginSVM):
        begins_anew = may_begin_anew(SEPARATION, solver, Norm(values.get("norm", "l2")))
    else:
        begins_anew = "loss" in values and may_begin_anew(SOFT_MARGIN, solver, LOSSES[values["loss"]])
    if begins_anew:
        return (
            "this algorithm may be kept between planes only: then --resume begins the plane anew that was being sought"
        )
    return None


class Planes(NamedTuple):
    """What a fit has left."""

    certificate: Any
    is_interrupted: bool
    has_planes: bool


def sought(
    classifier: Any, X: Any, y: Any, weights: dict[str, Any], limit: TimeLimit, kept: CheckpointOptions, share: float
) -> Planes:
    """Fit, in a share of the time."""
    from maxmargin.estimators.no_plane import NoPlaneError

    is_interrupted, has_planes = False, True
    if limit.seconds is not None:
        classifier.set_params(max_time=limit.left(share))
    try:
        with gap_shown("Fitting", getattr(classifier, "tol", None)):
            fit_or_go_on(classifier, X, y, weights, kept)
        certificate = classifier.certificate_
    except NoPlaneError as error:
        certificate, has_planes = error.certificate, False
    except KeyboardInterrupt:
        if not hasattr(classifier, "certificate_"):
            raise
        certificate, is_interrupted = classifier.certificate_, True
    if kept.checkpoint is not None and (is_interrupted or "TIME" in status_of(classifier)):
        messages.print(f"The run is kept in {kept.checkpoint}: the same command with --resume goes on with it.")
    if limit.seconds is not None:
        classifier.set_params(max_time=limit.seconds)  # as the user gave it
    return Planes(certificate, is_interrupted, has_planes)
