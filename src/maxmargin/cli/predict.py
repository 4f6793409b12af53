"""`maxmargin predict MODEL DATA`: a label for each row of a file."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from maxmargin.certificates.rounding import counted
from maxmargin.cli.console import (
    ExitCode,
    UserError,
    messages,
    pieces_of_json,
    refuse_to_write_over,
    say_json,
    write_text,
)
from maxmargin.cli.models import Model, in_a_sentence, load_and_read
from maxmargin.cli.options import AsJson, Data, ModelFile, ReadingForAModel
from maxmargin.cli.tables import DataFile


def predict(
    *,
    model: ModelFile,
    data: Data,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write the labels, one a line; - is stdout.")
    ] = "-",
    scores: Annotated[bool, typer.Option("--scores", help="The scores, too, after a comma.")] = False,
    distances: Annotated[
        bool,
        typer.Option(
            "--distances", help="The distances to the planes, too, with their signs, of the columns as they are scaled."
        ),
    ] = False,
    probability: Annotated[
        bool,
        typer.Option(
            "--probability", help="The probability of each label, too, in sorted order; of a model that was calibrated."
        ),
    ] = False,
    reading: ReadingForAModel,
    as_json: AsJson = False,
) -> int:
    """Label the rows of a file. Where it has a column of labels, say how many are the same.

    A CSV file needs no labels; --label names the column of labels where it has one, --weight counts its rows as often,
    and --id writes the name of each row before its label. A category that the fit has not seen counts as none of those
    that it has, and is told. A file without rows has an empty answer.
    """
    refuse_to_write_over(output, data, model, sql=reading.sql)
    loaded, table = load_and_read(model, data, reading, needs_labels=False)
    if probability and loaded.calibration is None:
        raise UserError(f"{model} has no probabilities: fit it with --probability, which calibrates its scores")
    if not (as_json or scores or distances or probability or table.ids is not None):
        refuse_labels_of_many_lines(loaded.classifier.classes_.tolist())
    labels: list[Any] = []
    asked = {"scores": scores or as_json, "distances": distances, "probabilities": probability}
    values: dict[str, list[Any]] = {name: [] for name, is_asked in asked.items() if is_asked}
    with in_a_sentence(table.name):
        if len(table.lines):
            X = loaded.prepared(table)
            labels = loaded.classifier.predict(X).tolist()
            values = {name: measured(loaded, name, X) for name in values}
        accuracy = share_of_same(labels, table, loaded.classifier.classes_.tolist())
    ids = None if table.ids is None else table.ids.tolist()
    if as_json:
        answer = {"file": table.name, "ids": ids, "labels": labels, **values, "accuracy": accuracy}
        answer |= {"classes": loaded.classifier.classes_.tolist()} if probability else {}
        if output == "-":
            say_json(answer)
        else:
            write_text(pieces_of_json(answer), output)
        return ExitCode.FINE
    write_text(lines_of(ids, labels, list(values.values())), output)
    if accuracy is not None:
        messages.print(f"{accuracy:.2%} of {len(labels):,} labels are those of the file")
    return ExitCode.FINE


def measured(loaded: Model, name: str, X: Any) -> list[Any]:
    """Scores, distances or probabilities of the rows; probabilities are estimates, by the curve in the model."""
    if name == "distances":
        return list(loaded.classifier.distances(X).tolist())
    scores = loaded.classifier.decision_function(X)
    if name == "scores" or loaded.calibration is None:
        return list(scores.tolist())
    return list(loaded.calibration.probabilities(scores).tolist())


def share_of_same(labels: list[Any], table: DataFile, classes: list[Any]) -> float | None:
    """How many labels are those of the file, by weight; None where it has none that the model knows."""
    if table.y is None or not labels:
        return None
    given = table.y.tolist()
    unknown = [label for label in given if label not in classes]
    if unknown:
        example = f"that the model does not know, such as {unknown[0]!r}"
        if len(unknown) == len(given):
            messages.print(f"maxmargin: {table.name}: all rows have labels {example}; nothing is compared with them")
            return None
        rows = counted(len(unknown), "rows have labels", "row has a label")
        messages.print(f"maxmargin: {table.name}: {rows} {example}; this counts as a mistake")
    weights = [1.0] * len(given) if table.weights is None else table.weights.tolist()
    right = math.fsum(weight for weight, own, found in zip(weights, given, labels, strict=True) if own == found)
    return right / math.fsum(weights) if math.fsum(weights) > 0.0 else None


def refuse_labels_of_many_lines(classes: list[Any]) -> None:
    """One label a line: a label with a line break in it would be two."""
    for label in classes:
        if len(str(label).splitlines()) > 1:
            raise UserError(
                f"the label {label!r} has a line break in it, and labels are written one a line: --json writes it as "
                "it is; --scores and --id write CSV, with quotes around it"
            )


def lines_of(ids: list[Any] | None, labels: list[Any], values: list[list[Any]]) -> Iterator[str]:
    """One line for each row: its id if it has one, its label, its scores and distances if they are asked for."""
    if ids is None and not values:
        yield from (f"{label}\n" for label in labels)
        return
    columns = ([] if ids is None else [ids]) + [labels]
    columns += [column for measure in values if measure for column in columns_of(measure)]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(zip(*columns, strict=True))
    yield text.getvalue()


def columns_of(values: list[Any]) -> list[list[Any]]:
    """The scores by their planes."""
    return [list(plane) for plane in zip(*values, strict=True)] if isinstance(values[0], list) else [values]
