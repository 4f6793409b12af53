"""`maxmargin fit DATA -o MODEL`: scale the columns, find the planes, prove them, and keep them in a file."""

from __future__ import annotations

import dataclasses
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from maxmargin.cli.certified import (
    certificate_for_machines,
    dual_answer,
    exit_code,
    normalized_for_machines,
    tell_certificate,
    tell_normalized,
)
from maxmargin.cli.console import (
    ExitCode,
    Stopwatch,
    TimeLimit,
    UserError,
    check_time,
    gap_shown,
    messages,
    refuse_to_write_over,
    say,
    say_json,
    time_told,
)
from maxmargin.cli.estimator_options import FitOptions, make_classifier
from maxmargin.cli.models import in_a_sentence, save_model
from maxmargin.cli.options import AsJson, Data, Exact, ReadingOptions
from maxmargin.cli.preparation import (
    left_out_of,
    preparation_of,
    prepare,
    report_of,
    scaling_for,
    scaling_of,
    sentences_of,
    sentences_of_left_out,
)
from maxmargin.cli.recorded_run import RecordFile, ask_for_record, check_record, write_record
from maxmargin.cli.tables import DataFile, count_labels, describe, headline, read, refuse_a_measure

USUALLY = 60.0  # seconds between two checkpoints
FOLDS = 5  # of a calibration
HALF = 0.5  # of --max-time, for the fit of all rows where others follow


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
    record: RecordFile = None,
    probability: Annotated[
        bool,
        typer.Option("--probability", help="Calibrate, by five more fits, so that predict --probability can tell."),
    ] = False,
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
    if record is not None:
        check_record(record, data, reading.sql, {"the model": output, "the checkpoint": kept.checkpoint})
    table = read(data, reading)
    limit = TimeLimit(asked.max_time)
    labels = [value for value, _ in count_labels(table)]
    refuse_a_measure(table, labels)
    classifier = make_classifier(asked, labels, settings)
    if probability:
        refuse_what_cannot_be_held_out(table)
    if record is not None:
        ask_for_record(classifier, kept.checkpoint)
    if exact:
        refuse_exact_arithmetic(classifier)
    preparation = preparation_of(
        table, scaling_for(getattr(classifier, "kernel", ""), asked.scale, table), reading.impute
    )
    found = run(classifier, preparation, table, exact, limit, kept, HALF if probability else 1.0)
    calibration = calibrated(classifier, preparation, table, limit) if probability and found.has_planes else None
    unwritten = None
    if output is not None and found.has_planes:
        try:
            save_model(preparation, classifier, table, output, calibration)
        except UserError as error:  # a full disk: what was found is told nevertheless
            unwritten = error
    records: list[str] = []
    if record is not None and unwritten is None:
        try:
            records = write_record(classifier, record, names_as_scaled(preparation, table))
        except UserError as error:
            unwritten = error
    written = output if found.has_planes and unwritten is None else None
    code = ExitCode.ERROR if unwritten is not None else found.code
    if as_json:
        failure = {} if unwritten is None else {"error": str(unwritten)}
        told = for_machines(classifier, preparation, table, found)
        proof = certificate_for_machines(found.certificate, found.verification)
        told["calibration"] = None if calibration is None else dataclasses.asdict(calibration)
        say_json({**told, "model": written, "records": records, "exit_code": int(code), **failure, **proof})
    else:
        tell(classifier, preparation, table, found)
        if calibration is not None:
            say(f"  calibrated over {calibration.folds} folds: probabilities are estimates, of which nothing is proven")
        if written is not None:
            say(f"Written to {written}")
        for file in records:
            say(f"The run is in {file}")
    if unwritten is not None:
        raise unwritten
    return int(code)


class Found(NamedTuple):
    """What a fit has found, how long it took, and whether its proof holds; after Ctrl-C, what was found so far."""

    certificate: Any
    verification: Any
    accuracy: float | None
    dual: Any  # what the multipliers say by themselves, where there are some
    seconds: float
    compiling: float
    is_interrupted: bool
    has_planes: bool  # to be written; otherwise it is proven that there are none

    @property
    def code(self) -> ExitCode:
        return ExitCode.INTERRUPTED if self.is_interrupted else exit_code(self.certificate, self.verification)


def refuse_what_cannot_be_held_out(table: DataFile) -> None:
    """Before any work: the curve of probabilities is fitted to rows that were left out of a fit."""
    from maxmargin.estimators.probability import checked_folds

    with in_a_sentence(table.name):
        checked_folds(table.y if table.weights is None else table.y[table.weights > 0.0], FOLDS)


def calibrated(classifier: Any, preparation: Any, table: DataFile, limit: TimeLimit) -> Any:
    """Platt's curve, by fits without each fold, the preparation included; None after Ctrl-C, which keeps the planes."""
    from sklearn.pipeline import Pipeline

    from maxmargin.estimators.no_plane import NoPlaneError
    from maxmargin.estimators.probability import calibrate

    steps = [] if preparation is None else preparation.steps
    model = Pipeline([*steps, ("classify", classifier)])
    try:
        with in_a_sentence(table.name), gap_shown(f"Calibrating over {FOLDS} folds", getattr(classifier, "tol", None)):
            return calibrate(model, table.rows(), table.y, table.weights, folds=FOLDS, max_time=limit.left())
    except (KeyboardInterrupt, NoPlaneError) as error:
        why = "Interrupted" if isinstance(error, KeyboardInterrupt) else "A fold was not fitted in the time"
        messages.print(f"{why}: the model has its planes and its proof, but no probabilities.")
        return None


def run(
    classifier: Any,
    preparation: Any,
    table: DataFile,
    exact: bool,
    limit: TimeLimit,
    kept: CheckpointOptions,
    share: float = 1.0,
) -> Found:
    """Fit, in a share of the time, and check what is found."""
    from maxmargin.estimators.no_plane import NoPlaneError

    is_interrupted, has_planes, watch = False, True, Stopwatch()
    with in_a_sentence(table.name):
        X = prepare(table, preparation)
        if limit.seconds is not None:
            classifier.set_params(max_time=limit.left(share))
        try:
            with gap_shown("Fitting", getattr(classifier, "tol", None)):
                fit_or_go_on(classifier, X, table.y, weights_for(classifier, table), kept)
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
        seconds, compiling = watch.seconds, watch.compiling
        verification = certificate.verify(X, table.y, exact=exact, sample_weight=table.weights)
    accuracy = float(classifier.score(X, table.y)) if hasattr(classifier, "classes_") else None
    dual = dual_answer(classifier, X, table.y, table.weights)
    return Found(certificate, verification, accuracy, dual, seconds, compiling, is_interrupted, has_planes)


def names_as_scaled(preparation: Any, table: DataFile) -> tuple[str, ...] | None:
    """What the columns of the fit are called; categories and words make columns of their own, which have no name."""
    if table.texts or table.feature_names is None:
        return None
    is_scaled = scaling_of(preparation) is not None
    return tuple(f"{name}, scaled" if is_scaled else name for name in table.feature_names)


def for_machines(classifier: Any, preparation: Any, table: DataFile, found: Found) -> dict[str, Any]:
    """What was done, as plain values."""
    return {
        **describe(table),
        "algorithm": type(classifier).__name__,
        "parameters": {name: value for name, value in classifier.get_params().items() if value is not None},
        "scaling": scaling_of(preparation),
        "columns_taken": report_of(table, preparation),
        "left_out": left_out_of(table, classes_of(classifier, table)),
        "status": status_of(classifier),
        "accuracy": found.accuracy,
        **normalized_for_machines(classifier),
        "dual": None if found.dual is None else found.dual.summary,
        "seconds": found.seconds,
        "seconds_compiling": found.compiling,
    }


def tell(classifier: Any, preparation: Any, table: DataFile, found: Found) -> None:
    """The same for people, and what is proven."""
    say(headline(table))
    columns, scaling = "columns" if not table.texts else "columns of numbers", scaling_of(preparation)
    how = f"the {columns} {'as they are' if scaling is None else f'scaled by {scaling}'}"
    say(f"{type(classifier).__name__} on {how}, {time_told(found.seconds, found.compiling)}")
    left_out = left_out_of(table, classes_of(classifier, table))
    for sentence in (*sentences_of(report_of(table, preparation)), *sentences_of_left_out(left_out)):
        say(sentence)
    tell_certificate(found.certificate, found.verification)
    tell_normalized(classifier)
    if found.dual is not None:
        say(f"  {found.dual}")
    if found.accuracy is not None:
        say(f"  {found.accuracy:.2%} of these rows get their own label")


def classes_of(classifier: Any, table: DataFile) -> list[Any]:
    """The labels that the planes are between; where no plane exists, those of the file."""
    known: list[Any] = getattr(classifier, "classes_", table.y).tolist()
    return known


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


def refuse_exact_arithmetic(classifier: Any) -> None:
    """Before a fit whose proof it could not check. (That no plane exists is a proof of rows alone.)"""
    from maxmargin.problems.kernels import KERNELS

    values = classifier.get_params()
    kernel = KERNELS.get(values.get("kernel", ""))
    if kernel is not None and kernel.irrational and values.get("C", math.inf) != math.inf:
        raise UserError(
            f"exact arithmetic needs a kernel with rational values, and {kernel.name} has none: {kernel.irrational}. "
            "Leave --exact out: the proof is checked in float64, with every rounding error accounted for"
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
    from maxmargin.problems.losses import LOSSES

    values = classifier.get_params()
    is_hard = values.get("C") == math.inf
    if is_hard and "kernel" in values:
        return "the hard margin of a kernel is not kept in a checkpoint: --resume begins it anew"
    loss, solver = LOSSES.get(values.get("loss", "")), values.get("solver")
    by_newton = solver == "newton" or (solver == "auto" and loss is not None and loss.is_smooth)
    if is_hard or type(classifier).__name__ == "HardMarginSVM" or by_newton:
        return (
            "this algorithm may be kept between planes only: then --resume begins the plane anew that was being sought"
        )
    return None
