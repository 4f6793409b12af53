"""`maxmargin fit DATA -o MODEL`: scale the columns, find the planes, prove them, and keep them in a file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from maxmargin.cli.certified import Fitted, Found, Told, conclude, dual_answer, sought
from maxmargin.cli.checkpoints import CheckpointOptions, check_checkpoint
from maxmargin.cli.console import (
    Stopwatch,
    TimeLimit,
    UserError,
    check_time,
    gap_shown,
    in_a_sentence,
    messages,
    refuse_to_write_over,
)
from maxmargin.cli.options import AsJson, Data, Exact, FitOptions, Memory, ReadingOptions, Scheduler, make_classifier
from maxmargin.cli.preparation import (
    left_out_of,
    preparation_of,
    prepare,
    report_of,
    scaling_for,
)
from maxmargin.cli.recorded_run import RecordFile, ask_for_record, check_record
from maxmargin.cli.tables import DataFile, count_labels, describe, headline, read, refuse_a_measure

FOLDS = 5  # of a calibration
HALF = 0.5  # of --max-time, for the fit of all rows where others follow


def fit(
    *,
    data: Data,
    reading: ReadingOptions,
    memory: Memory = None,
    scheduler: Scheduler = None,
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
    if kept != CheckpointOptions():
        check_checkpoint(kept, output)
    if record is not None:
        check_record(record, data, reading.sql, {"the model": output, "the checkpoint": kept.checkpoint})
    if scheduler is not None and memory is None:
        raise UserError("--scheduler is for tables that are read by blocks: give --memory, too, such as --memory 1GB")
    if memory is not None:
        from maxmargin.cli.computing import computing_on
        from maxmargin.cli.fit_by_blocks import fit_by_blocks

        if record is not None or probability:
            option = "--record" if record is not None else "--probability"
            raise UserError(f"{option} has the rows in memory: leave it out, or --memory")
        with computing_on(scheduler):
            return fit_by_blocks(data, reading, memory, output, asked, settings, kept, exact, as_json)
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
    model = Fitted(classifier, preparation, table, found, calibration)
    report, left_out = report_of(table, preparation), left_out_of(table, classes_of(classifier, table))
    return conclude(model, Told(headline(table), describe(table), report, left_out), output, record, as_json)


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
    watch = Stopwatch()
    with in_a_sentence(table.name):
        X = prepare(table, preparation)
        planes = sought(classifier, X, table.y, weights_for(classifier, table), limit, kept, share)
        seconds, compiling = watch.seconds, watch.compiling
        verification = planes.certificate.verify(X, table.y, exact=exact, sample_weight=table.weights)
    accuracy, dual = None, None
    if hasattr(classifier, "classes_"):
        predicted = classifier.predict(X)
        accuracy = float((predicted == table.y).mean())
        dual = dual_answer(classifier, X, table.y, table.weights, predicted)
    return Found(planes.certificate, verification, accuracy, dual, seconds, compiling, *planes[1:])


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
