"""The user's own table as points: two of its columns, and its labels as two or three classes.

"read_csv" (text, given: null or {"across": name or null, "up": , "label": , "scale": "none", "standard" or "range"})
    points    the rows, at most 500 of them, evenly chosen
    words     which columns, rows and labels they are; an error names the line
    columns   the names of all columns, and numbers: those that hold numbers
    chosen    {"across": , "up": , "label": , "scale": }, as they were taken
"""

from __future__ import annotations

import io
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from maxmargin.persistence.errors import Refusal
from maxmargin.reading.columns import LABEL_NAMES, is_number
from maxmargin.reading.csv import records_of
from maxmargin.reading.files import DataFileError
from maxmargin.reading.read import read_table
from maxmargin.run.observation import evenly

TABLE = "the table"
LISTED = 5  # names in a sentence
MOST_ROWS = 500
FARTHEST = 1e6  # of a coordinate
THREE = (-1, 1, 2)  # the labels of three classes, in their sorted order
SCALES = {
    "none": "",
    "standard": " Each column is moved and scaled to mean 0 and deviation 1.",
    "range": " Each column is moved and scaled to lie between 0 and 1.",
}


@dataclass(frozen=True)
class TableChoice:
    """Which columns are taken, and how they are scaled; null is ours to choose."""

    across: str | None
    up: str | None
    label: str | None
    scale: Literal["none", "standard", "range"]


AS_IT_IS = TableChoice(None, None, None, "none")


def points_in(text: str, choice: TableChoice | None = None) -> dict[str, Any]:
    """The chosen columns, or else the first two of numbers. Of two labels the second is positive, as everywhere; three
    are three classes; of more, the first is positive, and all others are against it.

    The labels are in the one column that is called label, y, target or class, or else in the last. What is left out of
    the table, and what is taken together, is said.
    """
    asked = choice or AS_IT_IS
    try:
        names = first_line(text)
        label_at = label_column(names) if asked.label is None else place_of(asked.label, names)
        table = read_table(file_of(text), label=label_at, format="csv")
    except DataFileError as error:
        raise Refusal(str(error), "text") from None
    X, y = np.asarray(table.X, dtype=np.float64), np.asarray(table.y)
    numbers = list(table.feature_names or ())
    if X.shape[1] < 2:
        raise Refusal(f"the table has {X.shape[1]} column of numbers; two are needed", "text")
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) < 2:
        raise Refusal(f"all rows have the label {labels[0]!s}; two are needed", "text")
    used = chosen_columns(asked, numbers)
    places = scaled(X[:, [numbers.index(name) for name in used]], asked.scale)
    far = np.flatnonzero(~(np.abs(places).max(axis=1) <= FARTHEST))
    if len(far):
        raise Refusal(f"line {table.lines[far[0]]}: coordinates are at most {FARTHEST:g}", "text")
    chosen = evenly(len(X), MOST_ROWS)
    signs = signs_of(codes, len(labels))
    label = names[label_at]
    unused = [name for name in names if name != label and name not in used]
    left_out = f"; left out: {listed(unused)}" if unused else ""
    sentences = [
        rows_in_words(len(X), len(chosen)),
        f"{used[0]!r} is across, {used[1]!r} up{left_out}.{SCALES[asked.scale]}",
        labels_in_words(labels.tolist()),
    ]
    if all(map(is_number, used)):
        sentences.append("The first line holds numbers, and was read as the names of the columns: it is no point.")
    return {
        "points": [[*places[row].tolist(), int(signs[row])] for row in chosen],
        "words": " ".join(sentences),
        "columns": names,
        "numbers": numbers,
        "chosen": {"across": used[0], "up": used[1], "label": label, "scale": asked.scale},
    }


def place_of(name: str, names: list[str]) -> int:
    """Where the column of this name is."""
    if name not in names:
        raise Refusal(f"the table has no column {name[:40]!r}; it has {listed(names)}", "given")
    return names.index(name)


def chosen_columns(asked: TableChoice, numbers: list[str]) -> list[str]:
    """The names of two columns of numbers: those that are asked for, and the first others."""
    for name in (asked.across, asked.up):
        if name is not None and name not in numbers:
            raise Refusal(f"{name[:40]!r} is no column of numbers beside the labels; {listed(numbers)} are", "given")
    if asked.across is not None and asked.across == asked.up:
        raise Refusal(f"{asked.across[:40]!r} cannot be across and up at once: choose two columns", "given")
    free = [name for name in numbers if name not in (asked.across, asked.up)]
    across = asked.across if asked.across is not None else free.pop(0)
    return [across, asked.up if asked.up is not None else free.pop(0)]


def scaled(places: NDArray[np.float64], scale: str) -> NDArray[np.float64]:
    """Columns as they are, with mean 0 and deviation 1, or between 0 and 1; one that is constant becomes 0.

    >>> scaled(np.array([[1.0, 5.0], [3.0, 5.0]]), "standard").tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    if scale == "none":
        return places
    low, width = places.min(axis=0), np.ptp(places, axis=0)
    if scale == "standard":
        low, width = places.mean(axis=0), places.std(axis=0)
    return np.asarray((places - low) / np.where(width > 0.0, width, 1.0))


def signs_of(codes: NDArray[np.intp], n_labels: int) -> NDArray[np.intp]:
    """The labels of the page."""
    if n_labels == len(THREE):
        return np.array(THREE)[codes]
    return np.where(codes == (1 if n_labels == 2 else 0), 1, -1)


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
    if len(labels) == len(THREE):
        return f"{labels[1]!r} are circles, {labels[0]!r} squares, {labels[2]!r} triangles."
    return f"{labels[0]!r} is positive; the other {len(labels) - 1} labels are negative together: {listed(labels[1:])}."


def listed(names: list[Any]) -> str:
    """The first few, and how many more there are."""
    shown = [repr(name) for name in names[:LISTED]]
    return ", ".join(shown) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")
