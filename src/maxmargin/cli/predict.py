"""`maxmargin predict MODEL DATA`: a label for each row of a file."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from maxmargin.cli.console import (
    ExitCode,
    UserError,
    in_a_sentence,
    messages,
    pieces_of_json,
    refuse_to_write_over,
    say_json,
    write_text,
)
from maxmargin.cli.models import Model, load_and_read, load_model
from maxmargin.cli.options import AsJson, Data, Memory, ModelFile, ReadingForAModel
from maxmargin.cli.predictions import lines_of, measured, refuse_labels_of_many_lines, tell_unknown
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
    memory: Memory = None,
    as_json: AsJson = False,
) -> int:
    """Label the rows of a file. Where it has a column of labels, say how many are the same.

    A CSV file needs no labels; --label names the column of labels where it has one, --weight counts its rows as often,
    and --id writes the name of each row before its label. A category that the fit has not seen counts as none of those
    that it has, and is told. A file without rows has an empty answer.
    """
    refuse_to_write_over(output, data, model, sql=reading.sql)
    asked = {"scores": scores or as_json, "distances": distances, "probabilities": probability}
    measures = [name for name, is_asked in asked.items() if is_asked]
    if memory is not None:
        from maxmargin.cli.predict_by_blocks import predict_by_blocks

        loaded = load_model(model)
        refuse_without_calibration(loaded, model, probability)
        return predict_by_blocks(loaded, data, reading, memory, measures, output, as_json)
    loaded, table = load_and_read(model, data, reading, needs_labels=False)
    refuse_without_calibration(loaded, model, probability)
    if not (as_json or scores or distances or probability or table.ids is not None):
        refuse_labels_of_many_lines(loaded.classifier.classes_.tolist())
    labels: list[Any] = []
    values: dict[str, list[Any]] = {name: [] for name in measures}
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


def refuse_without_calibration(loaded: Model, model: str, probability: bool) -> None:
    if probability and loaded.calibration is None:
        raise UserError(f"{model} has no probabilities: fit it with --probability, which calibrates its scores")


def share_of_same(labels: list[Any], table: DataFile, classes: list[Any]) -> float | None:
    """How many labels are those of the file, by weight; None where it has none that the model knows."""
    if table.y is None or not labels:
        return None
    given = table.y.tolist()
    unknown = [label for label in given if label not in classes]
    tell_unknown(table.name, len(unknown), len(given), unknown[0] if unknown else None)
    if len(unknown) == len(given):
        return None
    weights = [1.0] * len(given) if table.weights is None else table.weights.tolist()
    right = math.fsum(weight for weight, own, found in zip(weights, given, labels, strict=True) if own == found)
    return right / math.fsum(weights) if math.fsum(weights) > 0.0 else None
