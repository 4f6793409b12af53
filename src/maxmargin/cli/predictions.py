"""What `maxmargin predict` writes, of rows in memory and by blocks: a line for each row, and what is told beside it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from maxmargin.certificates.words import counted
from maxmargin.cli.console import UserError, messages
from maxmargin.cli.models import Model


def measured(loaded: Model, name: str, X: Any) -> list[Any]:
    """Scores, distances or probabilities of the rows; probabilities are estimates, by the curve in the model."""
    if name == "distances":
        return list(loaded.classifier.distances(X).tolist())
    scores = loaded.classifier.decision_function(X)
    if name == "scores" or loaded.calibration is None:
        return list(scores.tolist())
    return list(loaded.calibration.probabilities(scores).tolist())


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


def tell_unknown(name: str, unknown: int, rows: int, example: Any) -> None:
    """That rows of a file have labels that the model does not know, if there are some."""
    if not unknown:
        return
    known = f"that the model does not know, such as {example!r}"
    if unknown == rows:
        messages.print(f"maxmargin: {name}: all rows have labels {known}; nothing is compared with them")
    else:
        some = counted(unknown, "rows have labels", "row has a label")
        messages.print(f"maxmargin: {name}: {some} {known}; this counts as a mistake")
