"""What a fit finds in its time, and what is proven: on one screen and as plain values, with the exit code that says it.
The model is written first."""

from __future__ import annotations

import dataclasses
import json
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from rich import box
from rich.table import Table

from maxmargin.certificates.words import rounded_down, rounded_gap, rounded_up
from maxmargin.cli.checkpoints import CheckpointOptions, fit_and_keep
from maxmargin.cli.console import (
    ExitCode,
    TimeLimit,
    UserError,
    gap_shown,
    messages,
    say,
    say_json,
    show,
    time_told,
)
from maxmargin.cli.preparation import scaling_of, sentences_of, sentences_of_left_out
from maxmargin.cli.recorded_run import write_record
from maxmargin.cli.tables import DataFile

if TYPE_CHECKING:
    from maxmargin.estimators.probability import Calibration

MOST_VALUES = 2**24  # of a kernel, to predict from the dual: fractions of a second
FULL_REPORTS = 2  # of so many planes; of more, a line for each
PLANES_SHOWN = 60  # of more, those of which least is proven
PROVEN = ("OPTIMAL", "SEPARABLE")
IMPOSSIBLE = ("NOT_SEPARABLE", "WEAKLY_SEPARABLE")


def exit_code(certificate: Any, verification: Any) -> ExitCode:
    """Proven, proven not to be possible, or neither."""
    verdicts = [part.verdict.name for part in certificate.parts]
    if not verification.holds:
        return ExitCode.UNPROVEN
    if any(verdict in IMPOSSIBLE for verdict in verdicts):
        return ExitCode.NOT_SEPARABLE
    return ExitCode.FINE if all(verdict in PROVEN for verdict in verdicts) else ExitCode.UNPROVEN


def tell_certificate(certificate: Any, verification: Any) -> None:
    """The report of a plane or two; of many, a table. What does not hold is no headline: why not comes first."""
    parts, checked, holds = certificate.parts, str(verification), verification.holds
    if not holds:
        say(checked)
        say("What the certificate claims, and what these data do not confirm:")
    if len(parts) <= FULL_REPORTS:
        say(certificate.report())
    else:
        show(table_of(parts))
        checked = f"{checked.partition(':')[0]}: all {len(parts):,} planes." if holds else checked
    if holds:
        say(f"  {checked}")


def tell_normalized(model: Any) -> None:
    """What is proven of the rows at length 1, beside the margin of the rows as they are."""
    if not hasattr(model, "normalized_margin_"):
        return
    from maxmargin.certificates.words import between, sides
    from maxmargin.estimators.model_verification import normalized_margins

    found = normalized_margins(model)
    for part, margin in zip(model.certificate_.parts, found, strict=True):
        which = f" ({sides(part)})" if len(found) > 1 else ""
        kind = "cosine" if part.norm == "l2" else "l1 margin"
        says = "no plane separates them" if margin.upper == 0.0 else between(margin.lower, margin.upper, 9)
        say(f"  rows at length 1{which}: best {kind} {says}")


def normalized_for_machines(model: Any) -> dict[str, Any]:
    """The same as plain values, where it was asked for."""
    from maxmargin.estimators.model_verification import normalized_margins

    found = [margin._asdict() for margin in normalized_margins(model)]
    return {"normalized_margin": found} if found else {}


def table_of(parts: tuple[Any, ...]) -> Table:
    """A line for each plane; of very many, for those of which least is proven."""
    from maxmargin.certificates.report import from_the_worst
    from maxmargin.certificates.words import bounds_of, sides

    caption = None
    if len(parts) > PLANES_SHOWN:
        caption = f"{PLANES_SHOWN} of {len(parts):,} planes: of no other is less proven. --json tells of all."
        parts = tuple(parts[k] for k in from_the_worst(parts)[:PLANES_SHOWN])
    table = Table(caption=caption, header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("plane", "verdict", "optimum between", "and", "gap", "rows with weight"):
        table.add_column(heading, justify="left" if heading in ("plane", "verdict") else "right", no_wrap=True)
    for part in parts:
        _, low, high = bounds_of(part)
        bounds = (rounded_down(low), rounded_up(high), rounded_gap(part.relative_gap))
        table.add_row(sides(part), part.verdict.name.lower().replace("_", " "), *bounds, f"{part.n_support:,}")
    return table


def certificate_for_machines(certificate: Any, verification: Any) -> dict[str, Any]:
    """The same as plain values; the certificate is what `from_json` reads."""
    return {
        "verdicts": [part.verdict.name for part in certificate.parts],
        "relative_gap": certificate.relative_gap,
        "certificate": json.loads(certificate.to_json()),
        "verification": dataclasses.asdict(verification),
    }


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
            if kept.checkpoint is None:
                classifier.fit(X, y, **weights)
            else:
                fit_and_keep(classifier, X, y, weights, kept)
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


def dual_answer(classifier: Any, X: Any, y: Any, weights: Any, predicted: Any) -> Any:
    """What the multipliers say by themselves (`from_dual`), beside the labels that are predicted; None of a classifier
    without them, or of very many."""
    by_its_dual = type(classifier).__name__ in ("HardMarginSVM", "LinearSVM", "LinearSVMCV", "KernelSVM")
    by_its_dual = by_its_dual and not getattr(classifier, "normalize_rows", False)  # then of other rows
    if not by_its_dual or not 0 < len(getattr(classifier, "support_", ())) * len(y) <= MOST_VALUES:
        return None
    from maxmargin.teaching.dual_answer import answer_beside, refuse_other_multipliers

    try:
        refuse_other_multipliers(classifier)
        return answer_beside(classifier, X, y, None, weights, predicted)
    except ValueError:  # many classes, or multipliers that make no plane
        return None


def status_of(classifier: Any) -> list[str]:
    status = getattr(classifier, "status_", [])
    return [one.name for one in (status if isinstance(status, list) else [status])]


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


class Fitted(NamedTuple):
    """What is to be kept and told; `table` has the rows, or no rows where they are read by blocks."""

    classifier: Any
    preparation: Any
    table: DataFile
    found: Found
    calibration: Any = None


class Told(NamedTuple):
    """What is told of the table: in a line, for machines, of its columns, and what of it was left out."""

    headline: str
    description: dict[str, Any]
    report: dict[str, Any]
    left_out: dict[str, Any]


def conclude(model: Fitted, told: Told, output: str | None, record: str | None, as_json: bool) -> int:
    """Write the model, and tell what was found, whatever becomes of the file."""
    classifier, preparation, table, found, calibration = model
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
        answer = for_machines(model, told)
        proof = certificate_for_machines(found.certificate, found.verification)
        answer["calibration"] = None if calibration is None else dataclasses.asdict(calibration)
        say_json({**answer, "model": written, "records": records, "exit_code": int(code), **failure, **proof})
    else:
        tell(model, told)
        if calibration is not None:
            say(f"  calibrated over {calibration.folds} folds: probabilities are estimates, of which nothing is proven")
        if written is not None:
            say(f"Written to {written}")
        for file in records:
            say(f"The run is in {file}")
    if unwritten is not None:
        raise unwritten
    return int(code)


def names_as_scaled(preparation: Any, table: DataFile) -> tuple[str, ...] | None:
    """What the columns of the fit are called; categories and words make columns of their own, which have no name."""
    if table.texts or table.feature_names is None:
        return None
    is_scaled = scaling_of(preparation) is not None
    return tuple(f"{name}, scaled" if is_scaled else name for name in table.feature_names)


def for_machines(model: Fitted, told: Told) -> dict[str, Any]:
    """What was done, as plain values."""
    classifier, found = model.classifier, model.found
    return {
        **told.description,
        "algorithm": type(classifier).__name__,
        "parameters": {name: value for name, value in classifier.get_params().items() if value is not None},
        "scaling": scaling_of(model.preparation),
        "columns_taken": told.report,
        "left_out": told.left_out,
        "status": status_of(classifier),
        "accuracy": found.accuracy,
        **normalized_for_machines(classifier),
        "dual": None if found.dual is None else found.dual.summary,
        "seconds": found.seconds,
        "seconds_compiling": found.compiling,
    }


def tell(model: Fitted, told: Told) -> None:
    """The same for people, and what is proven."""
    classifier, found = model.classifier, model.found
    say(told.headline)
    columns, scaling = "columns of numbers" if model.table.texts else "columns", scaling_of(model.preparation)
    how = f"the {columns} {'as they are' if scaling is None else f'scaled by {scaling}'}"
    say(f"{type(classifier).__name__} on {how}, {time_told(found.seconds, found.compiling)}")
    for sentence in (*sentences_of(told.report), *sentences_of_left_out(told.left_out)):
        say(sentence)
    tell_certificate(found.certificate, found.verification)
    tell_normalized(classifier)
    if found.dual is not None:
        say(f"  {found.dual}")
    if found.accuracy is not None:
        say(f"  {found.accuracy:.2%} of these rows get their own label")


def save_model(scaler: Any, classifier: Any, data: DataFile, path: str, calibration: Calibration | None) -> None:
    """Write a model with the names of its columns and the fingerprint of its data; `scaler` is a Pipeline, or None."""
    import numpy as np
    from sklearn.pipeline import Pipeline

    from maxmargin.persistence import ModelFileError, save

    model = classifier if scaler is None else Pipeline([*scaler.steps, ("classify", classifier)])
    if data.names is not None:
        remember_names(classifier if scaler is None else scaler, np.array(data.names, dtype=object))
    try:
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # of arrays that have no names
            known: Any = {"columns_by": data.columns_by, "roles": data.roles, "calibration": calibration}
            rows = (data.rows(), data.y) if len(data.lines) else ()  # none are at hand of a table by blocks
            save(model, path, *rows, **known)
    except ModelFileError as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}") from None


def remember_names(step: Any, names: Any) -> None:
    """The way back: each part of a ColumnTransformer knows its own columns."""
    first = step.steps[0][1] if hasattr(step, "steps") else step
    if hasattr(first, "n_features_in_"):
        first.feature_names_in_ = names
    for _, inner, chosen in getattr(first, "transformers_", ()):
        if isinstance(chosen, list) and not isinstance(inner, str):
            remember_names(inner, names[chosen])
