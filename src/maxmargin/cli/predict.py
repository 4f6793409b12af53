"""`maxmargin predict MODEL DATA`: a label for each row of a file."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from maxmargin.cli import datafile
from maxmargin.cli.console import ExitCode, UserError, messages, results, say_json
from maxmargin.cli.datafile import Format
from maxmargin.cli.model import in_a_sentence, load_model
from maxmargin.cli.options import AsJson, Data, FileFormat, Ignore, Label, ModelFile, NoHeader


def predict(
    model: ModelFile,
    data: Data,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write the labels, one a line; - is stdout.")
    ] = "-",
    scores: Annotated[bool, typer.Option("--scores", help="The scores, too, after a comma.")] = False,
    label: Label = None,
    ignore: Ignore = None,
    no_header: NoHeader = False,
    format: FileFormat = Format.AUTO,
    as_json: AsJson = False,
) -> int:
    """Label the rows of a file. Where it has a column of labels, say how many are the same.

    A CSV file needs no labels; --label names the column of labels where it has one.
    """
    with messages.status(f"Reading {data}"):
        table = datafile.read(data, format, label, not no_header, ignore=ignore, needs_labels=False)
    loaded = load_model(model, table.X.shape[1])
    with in_a_sentence(table.name):
        X = loaded.prepared(table)
        labels = loaded.classifier.predict(X).tolist()
        values = loaded.classifier.decision_function(X).tolist() if scores or as_json else None
        accuracy = None if table.y is None else float(loaded.classifier.score(X, table.y))
    if as_json:
        say_json({"file": table.name, "labels": labels, "scores": values, "accuracy": accuracy})
        return ExitCode.FINE
    write(lines_of(labels, values), output)
    if accuracy is not None:
        messages.print(f"{accuracy:.2%} of {len(labels):,} labels are those of the file")
    return ExitCode.FINE


def lines_of(labels: list[Any], values: list[Any] | None) -> str:
    """One line for each row."""
    if values is None:
        return "\n".join(map(str, labels))
    scores = (value if isinstance(value, list) else [value] for value in values)
    return "\n".join(",".join([str(label), *map(repr, row)]) for label, row in zip(labels, scores, strict=True))


def write(text: str, output: str) -> None:
    """To a file, or to standard output."""
    if output == "-":
        results.file.write(text + "\n")
        return
    try:
        with open(output, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        raise UserError(f"{output} cannot be written: {(error.strerror or str(error)).lower()}") from None
