"""The user's own table as points: two of its columns, and its labels as two classes."""

from __future__ import annotations

import io
from contextlib import closing
from typing import Any

import numpy as np

from maxmargin.persistence.errors import Refusal
from maxmargin.playground.messages import LARGEST, MOST_POINTS
from maxmargin.reading.columns import LABEL_NAMES
from maxmargin.reading.csv import records_of
from maxmargin.reading.files import DataFileError
from maxmargin.reading.notations import is_number
from maxmargin.reading.read import read_table
from maxmargin.run.recorder import evenly

TABLE = "the table"
LISTED = 5  # names in a sentence


def points_in(text: str) -> dict[str, Any]:
    """The first two columns of numbers. Of two labels the second is positive, as everywhere; of more, the first is, and
    all others are against it.

    The labels are in the one column that is called label, y, target or class, or else in the last. What is left out of
    the table, and what is taken together, is said.
    """
    try:
        names = first_line(text)
        label_at = label_column(names)
        table = read_table(file_of(text), label=label_at, format="csv")
    except DataFileError as error:
        raise Refusal(str(error), "text") from None
    X, y = np.asarray(table.X, dtype=np.float64), np.asarray(table.y)
    if X.shape[1] < 2:
        raise Refusal(f"the table has {X.shape[1]} column of numbers; two are needed", "text")
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) < 2:
        raise Refusal(f"all rows have the label {labels[0]!s}; two are needed", "text")
    far = np.flatnonzero(~(np.abs(X[:, :2]).max(axis=1) <= LARGEST))
    if len(far):
        raise Refusal(f"line {table.lines[far[0]]}: coordinates are at most {LARGEST:g}", "text")
    chosen = evenly(len(X), MOST_POINTS)
    positive = 1 if len(labels) == 2 else 0
    signs = np.where(codes == positive, 1, -1)
    points = [[*X[row, :2].tolist(), int(signs[row])] for row in chosen]
    used = (table.feature_names or ())[:2]
    unused = [name for at, name in enumerate(names) if at != label_at % len(names) and name not in used]
    sentences = [
        rows_in_words(len(X), len(chosen)),
        f"{used[0]!r} is across, {used[1]!r} up{f'; left out: {listed(unused)}' if unused else ''}.",
        labels_in_words(labels.tolist()),
    ]
    if all(map(is_number, used)):
        sentences.append("The first line holds numbers, and was read as the names of the columns: it is no point.")
    return {"points": points, "words": " ".join(sentences)}


def file_of(text: str) -> io.BytesIO:
    """The text as an open file; half a character, which JSON can hold and a file cannot, becomes a question mark."""
    source = io.BytesIO(text.encode(errors="replace"))
    source.name = TABLE
    return source


def first_line(text: str) -> list[str]:
    """The names of the columns."""
    with closing(records_of(file_of(text), TABLE)) as records:
        header = next(records, None)
    return [] if header is None else [cell.strip() for cell in header.cells]


def label_column(names: list[str]) -> int:
    """Where the labels are, by the names in the first line."""
    named = [at for at, name in enumerate(names) if name.lower() in LABEL_NAMES]
    return named[0] if len(named) == 1 else -1


def rows_in_words(n_rows: int, n_chosen: int) -> str:
    if n_chosen == n_rows:
        return f"{n_rows} rows."
    return f"{n_chosen} of {n_rows:,} rows, evenly chosen; {n_rows - n_chosen:,} are left out."


def labels_in_words(labels: list[Any]) -> str:
    if len(labels) == 2:
        return f"{labels[1]!r} is positive, {labels[0]!r} negative."
    return f"{labels[0]!r} is positive; the other {len(labels) - 1} labels are negative together: {listed(labels[1:])}."


def listed(names: list[Any]) -> str:
    """The first few, and how many more there are."""
    shown = [repr(name) for name in names[:LISTED]]
    return ", ".join(shown) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")
