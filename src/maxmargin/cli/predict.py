"""`maxmargin predict MODEL DATA`: a label for each row of a file."""

from __future__ import annotations

import csv
import io
from typing import Annotated, Any

import typer

from maxmargin.cli.console import ExitCode, UserError, messages, results, say_json
from maxmargin.cli.datafile import Format
from maxmargin.cli.model import in_a_sentence, load_and_read
from maxmargin.cli.options import (
    AsJson,
    Data,
    Features,
    FileFormat,
    Id,
    Ignore,
    Label,
    ModelFile,
    NoHeader,
    Sql,
    Weight,
)
from maxmargin.cli.tablefile import whole


def predict(
    model: ModelFile,
    data: Data,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write the labels, one a line; - is stdout.")
    ] = "-",
    scores: Annotated[bool, typer.Option("--scores", help="The scores, too, after a comma.")] = False,
    label: Label = None,
    weight: Weight = None,
    ignore: Ignore = None,
    id: Id = None,
    n_features: Features = None,
    sql: Sql = None,
    no_header: NoHeader = False,
    format: FileFormat = Format.AUTO,
    as_json: AsJson = False,
) -> int:
    """Label the rows of a file. Where it has a column of labels, say how many are the same.

    A CSV file needs no labels; --label names the column of labels where it has one, --weight counts its rows as often,
    and --id writes the name of each row before its label. A category that the fit has not seen counts as none of those
    that it has, and is told.
    """
    loaded, table = load_and_read(
        model, data, format, label, not no_header, weight=weight, ignore=ignore, id=id, n_features=n_features, sql=sql,
        needs_labels=False,
    )  # fmt: skip
    with in_a_sentence(table.name):
        X = loaded.prepared(table)
        labels = loaded.classifier.predict(X).tolist()
        values = loaded.classifier.decision_function(X).tolist() if scores or as_json else None
        accuracy = None if table.y is None else float(loaded.classifier.score(X, table.y, table.weights))
    ids = None if table.ids is None else table.ids.tolist()
    if as_json:
        say_json({"file": table.name, "ids": ids, "labels": labels, "scores": values, "accuracy": accuracy})
        return ExitCode.FINE
    write(lines_of(ids, labels, values), output)
    if accuracy is not None:
        messages.print(f"{accuracy:.2%} of {len(labels):,} labels are those of the file")
    return ExitCode.FINE


def lines_of(ids: list[Any] | None, labels: list[Any], values: list[Any] | None) -> str:
    """One line for each row: its id if it has one, its label, its scores if they are asked for."""
    if ids is None and values is None:
        return "\n".join(map(str, labels))
    columns = ([] if ids is None else [ids]) + [labels] + ([] if values is None else columns_of(values))
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(zip(*columns, strict=True))
    return text.getvalue().removesuffix("\n")


def columns_of(values: list[Any]) -> list[list[Any]]:
    """The scores by their planes."""
    return [list(plane) for plane in zip(*values, strict=True)] if isinstance(values[0], list) else [values]


def write(text: str, output: str) -> None:
    """To a file, or to standard output."""
    if output == "-":
        results.file.write(text + "\n")
        return
    try:
        with whole(output) as path, open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        raise UserError(f"{output} cannot be written: {(error.strerror or str(error)).lower()}") from None
