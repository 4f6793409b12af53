"""`maxmargin fit DATA -o MODEL`: scale the columns, find the planes, prove them, and keep them in a file."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from maxmargin.cli.certified import certificate_for_machines, exit_code, tell_certificate
from maxmargin.cli.console import ExitCode, UserError, messages, refuse_to_write_over, say, say_json
from maxmargin.cli.models import in_a_sentence, save_model
from maxmargin.cli.options import (
    AsJson,
    ClassWeight,
    Data,
    Exact,
    HuberWidth,
    Loss,
    MaxTime,
    NoBias,
    Price,
    ReadingOptions,
    Scale,
    Scaling,
    Tolerance,
    choice_of,
    kernel_named,
    number_of,
    read_class_weight,
)
from maxmargin.cli.preparation import preparation_of, prepare, report_of, scaling_of, sentences_of
from maxmargin.cli.progress import Stopwatch, TimeLimit, check_time, gap_shown, time_told
from maxmargin.cli.tables import DataFile, count_labels, describe, headline, read, refuse_a_measure
from maxmargin.estimators.declarations import COEF0, DEGREE, GAMMA, LINEAR_KERNEL, LOSS, MULTI_CLASS, PRICE
from maxmargin.estimators.parameters import Declaration

USUALLY = 60.0  # seconds between two checkpoints


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
    max_time: MaxTime = None


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


def fit(
    *,
    data: Data,
    reading: ReadingOptions,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="MODEL", help="Where to write the model.")
    ] = None,
    asked: FitOptions,
    kept: CheckpointOptions,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other parameter of the estimator; repeat it for more."),
    ] = None,
    exact: Exact = False,
    as_json: AsJson = False,
) -> int:
    """Find the planes between the labels of a file, prove them, and write a model.

    Exit codes: 0 proven, 2 stopped with a gap, 3 proven not separable, 130 interrupted, 1 an error.
    """
    if output is not None and not Path(output).absolute().parent.is_dir():
        raise UserError(f"{output} cannot be written: there is no folder for it; make it first")
    if output is not None and Path(output).is_dir():
        raise UserError(f"{output} cannot be written: it is a folder; name a file in it")
    refuse_to_write_over(output, data, sql=reading.sql)
    check_time(asked.max_time)
    check_checkpoint(kept, output)
    table = read(data, reading)
    limit = TimeLimit(asked.max_time)
    labels = [value for value, _ in count_labels(table)]
    refuse_a_measure(table, labels)
    classifier = make_classifier(asked, labels, settings)
    preparation = preparation_of(table, asked.scale, reading.impute)
    return int(run(classifier, preparation, table, exact, as_json, limit, output, kept))


def run(
    classifier: Any,
    preparation: Any,
    table: DataFile,
    exact: bool,
    as_json: bool,
    limit: TimeLimit,
    output: str | None,
    kept: CheckpointOptions,
) -> ExitCode:
    """Fit, check, keep, tell. After Ctrl-C what was found so far is kept and told."""
    from maxmargin.estimators.no_plane import NoPlaneError

    interrupted, watch = False, Stopwatch()
    with in_a_sentence(table.name):
        X = prepare(table, preparation)
        if limit.seconds is not None:
            classifier.set_params(max_time=limit.left())
        try:
            with gap_shown("Fitting", getattr(classifier, "tol", None)):
                fit_or_go_on(classifier, X, table.y, weights_for(classifier, table), kept)
            certificate = classifier.certificate_
        except NoPlaneError as error:
            certificate, output = error.certificate, None
        except KeyboardInterrupt:
            if not hasattr(classifier, "certificate_"):
                raise
            certificate, interrupted = classifier.certificate_, True
        if kept.checkpoint is not None and (interrupted or "TIME" in status_of(classifier)):
            messages.print(f"The run is kept in {kept.checkpoint}: the same command with --resume goes on with it.")
        if limit.seconds is not None:
            classifier.set_params(max_time=limit.seconds)  # as the user gave it
        seconds, compiling = watch.seconds, watch.compiling
        verification = certificate.verify(X, table.y, exact=exact, sample_weight=table.weights)
    code = ExitCode.INTERRUPTED if interrupted else exit_code(certificate, verification)
    accuracy = float(classifier.score(X, table.y)) if hasattr(classifier, "classes_") else None
    unwritten = None
    if output is not None:
        try:
            save_model(preparation, classifier, table, output)
        except UserError as error:  # a full disk: what was found is told nevertheless
            unwritten, output, code = error, None, ExitCode.ERROR
    taken, scaling = report_of(table, preparation), scaling_of(preparation)
    found = {
        **describe(table),
        "algorithm": type(classifier).__name__,
        "parameters": {name: value for name, value in classifier.get_params().items() if value is not None},
        "scaling": scaling,
        "columns_taken": taken,
        "status": status_of(classifier),
        "accuracy": accuracy,
        "seconds": seconds,
        "seconds_compiling": compiling,
        "model": output,
        "exit_code": int(code),
    }
    if as_json:
        failure = {} if unwritten is None else {"error": str(unwritten)}
        say_json({**found, **failure, **certificate_for_machines(certificate, verification)})
    else:
        say(headline(table))
        columns = "columns" if not table.texts else "columns of numbers"
        how = f"the {columns} {'as they are' if scaling is None else f'scaled by {scaling}'}"
        say(f"{type(classifier).__name__} on {how}, {time_told(seconds, compiling)}")
        for sentence in sentences_of(taken):
            say(sentence)
        tell_certificate(certificate, verification)
        if accuracy is not None:
            say(f"  {accuracy:.2%} of these rows get their own label")
        if output is not None:
            say(f"Written to {output}")
    if unwritten is not None:
        raise unwritten
    return code


def weights_for(classifier: Any, table: DataFile) -> dict[str, Any]:
    """The rows' weights, if the file has some."""
    from sklearn.utils.validation import has_fit_parameter

    if table.weights is None:
        return {}
    if not has_fit_parameter(classifier, "sample_weight"):
        raise UserError(f"--weight has no meaning for a {type(classifier).__name__}, which learns row by row")
    return {"sample_weight": table.weights}


def status_of(classifier: Any) -> list[str]:
    status = getattr(classifier, "status_", [])
    return [one.name for one in (status if isinstance(status, list) else [status])]


def make_classifier(asked: FitOptions, labels: list[Any], settings: Sequence[str] | None) -> Any:
    """The estimator with those of the options that it has; what it does not have must not have been asked for."""
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
    kind = kinds[asked.algorithm]
    given = {field.name: getattr(asked, field.name) for field in fields(asked)}
    given["gamma"] = number("--gamma", asked.gamma, GAMMA)
    given["class_weight"] = read_class_weight(asked.class_weight, labels)
    given["fit_intercept"] = not asked.no_bias
    options = {"fit_intercept": "no_bias"}
    usual = {field.name: field.default for field in fields(asked)} | {"fit_intercept": True}
    for name in ("C", "loss", "huber_width", "kernel", "class_weight", "fit_intercept", "tol", "multi_class"):
        if name not in kind.parameters and given[name] != usual[name]:
            option = options.get(name, name).replace("_", "-")
            raise UserError(f"--{option} has no meaning for {kind.__name__} (--algorithm {asked.algorithm.value})")
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
    from maxmargin.problems.losses import LOSSES

    values = classifier.get_params()
    is_hard = values.get("C") == math.inf
    if is_hard and "kernel" in values:
        return "the hard margin of a kernel is not kept in a checkpoint: --resume begins it anew"
    by_newton = values.get("solver") == "newton" or ("loss" in values and LOSSES[values["loss"]].is_smooth)
    if is_hard or type(classifier).__name__ == "HardMarginSVM" or by_newton:
        return (
            "this algorithm may be kept between planes only: then --resume begins the plane anew that was being sought"
        )
    return None
