"""`maxmargin fit DATA -o MODEL`: scale the columns, find the planes, prove them, and keep them in a file."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from maxmargin.cli import datafile
from maxmargin.cli.certified import certificate_for_machines, exit_code, tell_certificate
from maxmargin.cli.checkpoint import Checkpoint, check_checkpoint, fit_or_go_on
from maxmargin.cli.console import ExitCode, UserError, messages, say, say_json
from maxmargin.cli.datafile import DataFile, Format, describe
from maxmargin.cli.model import in_a_sentence, read_class_weight, save_model
from maxmargin.cli.options import (
    AsJson,
    Categorical,
    ClassWeight,
    Coef0,
    Data,
    Degree,
    Exact,
    Features,
    FileFormat,
    Gamma,
    HuberWidth,
    Id,
    Ignore,
    Impute,
    Kernel,
    Label,
    Loss,
    MaxTime,
    MultiClass,
    NoBias,
    NoHeader,
    Price,
    Scale,
    Scaling,
    Settings,
    Sql,
    Text,
    TimeLimit,
    Tolerance,
    Weight,
    ZeroBased,
    check_time,
)
from maxmargin.cli.outputs import refuse_to_write_over
from maxmargin.cli.preparation import preparation_of, prepare, report_of, scaling_of, sentences_of
from maxmargin.cli.progress import gap_shown
from maxmargin.cli.stopwatch import Stopwatch, told
from maxmargin.estimators.declarations import BIAS, COEF0, DEGREE, GAMMA, LINEAR_KERNEL, LOSS, PRICE
from maxmargin.estimators.parameters import Declaration


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


def fit(
    data: Data,
    label: Label = None,
    weight: Weight = None,
    ignore: Ignore = None,
    id: Id = None,
    categorical: Categorical = None,
    text: Text = None,
    impute: Impute = False,
    n_features: Features = None,
    zero_based: ZeroBased = None,
    sql: Sql = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="MODEL", help="Where to write the model."),
    ] = None,
    algorithm: Annotated[Algorithm, typer.Option(help="How the planes are found.")] = Algorithm.SVM,
    C: Price = PRICE.default,
    loss: Loss = LOSS.default,
    huber_width: HuberWidth = None,
    kernel: Kernel = LINEAR_KERNEL.default,
    gamma: Gamma = GAMMA.default,
    degree: Degree = DEGREE.default,
    coef0: Coef0 = COEF0.default,
    scale: Scale = Scaling.AUTO,
    class_weight: ClassWeight = None,
    multi_class: MultiClass = None,
    no_bias: NoBias = False,
    tol: Tolerance = None,
    max_time: MaxTime = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Where to keep the run, so that another process can go on with it."),
    ] = None,
    every: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="How often the run is kept; 60 unless you say otherwise.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in the checkpoint, if there is one.")
    ] = False,
    settings: Settings = None,
    exact: Exact = False,
    no_header: NoHeader = False,
    format: FileFormat = Format.AUTO,
    as_json: AsJson = False,
) -> int:
    """Find the planes between the labels of a file, prove them, and write a model.

    Exit codes: 0 proven, 2 stopped with a gap, 3 proven not separable, 130 interrupted, 1 an error.
    """
    if output is not None and not Path(output).absolute().parent.is_dir():
        raise UserError(f"{output} cannot be written: there is no folder for it; make it first")
    if output is not None and Path(output).is_dir():
        raise UserError(f"{output} cannot be written: it is a folder; name a file in it")
    refuse_to_write_over(output, data, sql=sql)
    check_time(max_time)
    kept = None if checkpoint is None else Checkpoint(checkpoint, 60.0 if every is None else every, resume)
    check_checkpoint(kept, every, resume, output)
    with messages.status(f"Reading {data}"):
        table = datafile.read(
            data, format, label, not no_header, weight=weight, ignore=ignore, id=id, categorical=categorical, text=text,
            impute=impute, n_features=n_features, zero_based=zero_based, sql=sql,
        )  # fmt: skip
    limit = TimeLimit(max_time)
    labels = [value for value, _ in datafile.count_labels(table)]
    datafile.refuse_a_measure(table, labels)
    given: dict[str, Any] = {
        "C": C,
        "loss": loss,
        "huber_width": huber_width,
        "kernel": kernel,
        "gamma": number("--gamma", gamma, GAMMA),
        "degree": degree,
        "coef0": coef0,
        "class_weight": read_class_weight(class_weight, labels),
        "fit_intercept": not no_bias,
        "max_time": max_time,
        "tol": tol,
        "multi_class": multi_class,
    }
    classifier = make_classifier(algorithm, given, settings)
    preparation = preparation_of(table, scale, impute)
    code = run(classifier, preparation, table, exact, as_json, limit, output, kept)
    return int(code)


def run(
    classifier: Any,
    preparation: Any,
    table: DataFile,
    exact: bool,
    as_json: bool,
    limit: TimeLimit,
    output: str | None,
    kept: Checkpoint | None,
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
        if kept is not None and (interrupted or "TIME" in status_of(classifier)):
            messages.print(f"The run is kept in {kept.path}: the same command with --resume goes on with it.")
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
        say(datafile.headline(table))
        columns = "columns" if not table.texts else "columns of numbers"
        how = f"the {columns} {'as they are' if scaling is None else f'scaled by {scaling}'}"
        say(f"{type(classifier).__name__} on {how}, {told(seconds, compiling)}")
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


def make_classifier(algorithm: Algorithm, given: dict[str, Any], settings: Sequence[str] | None = None) -> Any:
    """The estimator with those of the options that it has; what it does not have must not have been asked for."""
    import maxmargin

    has_kernel = given["kernel"] != LINEAR_KERNEL.default
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
    kind = kinds[algorithm]
    usual = {"C": PRICE, "loss": LOSS, "kernel": LINEAR_KERNEL, "fit_intercept": BIAS}
    for name in ("C", "loss", "huber_width", "kernel", "class_weight", "fit_intercept", "tol", "multi_class"):
        if name not in kind.parameters and given[name] != (usual[name].default if name in usual else None):
            option = {"fit_intercept": "no-bias"}.get(name, name).replace("_", "-")
            raise UserError(f"--{option} has no meaning for {kind.__name__} (--algorithm {algorithm.value})")
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
