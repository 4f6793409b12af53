"""`maxmargin predict MODEL DATA`: a label for each row of a file."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from maxmargin.cli.console import (
    ExitCode,
    UserError,
    messages,
    pieces_of_json,
    refuse_to_write_over,
    results,
    say_json,
)
from maxmargin.cli.models import in_a_sentence, load_and_read
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
    if not (as_json or scores or reading.id):
        refuse_labels_of_many_lines(loaded.classifier.classes_.tolist())
    labels: list[Any] = []
    values: list[Any] | None = [] if scores or as_json else None
    with in_a_sentence(table.name):
        if len(table.lines):
            X = loaded.prepared(table)
            labels = loaded.classifier.predict(X).tolist()
            values = None if values is None else loaded.classifier.decision_function(X).tolist()
        accuracy = share_of_same(labels, table, loaded.classifier.classes_.tolist())
    ids = None if table.ids is None else table.ids.tolist()
    if as_json:
        answer = {"file": table.name, "ids": ids, "labels": labels, "scores": values, "accuracy": accuracy}
        if output == "-":
            say_json(answer)
        else:
            write(pieces_of_json(answer), output)
        return ExitCode.FINE
    write(lines_of(ids, labels, values), output)
    if accuracy is not None:
        messages.print(f"{accuracy:.2%} of {len(labels):,} labels are those of the file")
    return ExitCode.FINE


def share_of_same(labels: list[Any], table: DataFile, classes: list[Any]) -> float | None:
    """How many labels are those of the file, by weight; None where it has none that the model knows."""
    if table.y is None or not labels:
        return None
    given = table.y.tolist()
    unknown = [label for label in given if label not in classes]
    if unknown:
        example = f"labels that the model does not know, such as {unknown[0]!r}"
        if len(unknown) == len(given):
            messages.print(f"maxmargin: {table.name}: all rows have {example}; nothing is compared with them")
            return None
        messages.print(f"maxmargin: {table.name}: {len(unknown):,} rows have {example}; they count as mistakes")
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


def lines_of(ids: list[Any] | None, labels: list[Any], values: list[Any] | None) -> Iterator[str]:
    """One line for each row: its id if it has one, its label, its scores if they are asked for."""
    if ids is None and values is None:
        yield from (f"{label}\n" for label in labels)
        return
    columns = ([] if ids is None else [ids]) + [labels] + ([] if not values else columns_of(values))
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(zip(*columns, strict=True))
    yield text.getvalue()


def columns_of(values: list[Any]) -> list[list[Any]]:
    """The scores by their planes."""
    return [list(plane) for plane in zip(*values, strict=True)] if isinstance(values[0], list) else [values]


def write(pieces: Iterator[str], output: str) -> None:
    """To a file, or to standard output."""
    from maxmargin.persistence.atomic import replaced

    if output == "-":
        results.file.writelines(pieces)
        return
    try:
        with replaced(output) as path, open(path, "w", encoding="utf-8") as file:
            file.writelines(pieces)
    except OSError as error:
        raise UserError(f"{output} cannot be written: {(error.strerror or str(error)).lower()}") from None
