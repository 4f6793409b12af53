"""The user's own table as points: two of its columns, and its labels as two classes."""

from __future__ import annotations

import io
from contextlib import closing
from typing import Any

import numpy as np

from maxmargin.data.columns import LABEL_NAMES
from maxmargin.data.files import DataFileError
from maxmargin.data.sources import read_table
from maxmargin.data.tables import records_of
from maxmargin.play.messages import LARGEST, MOST_POINTS
from maxmargin.play.parameters import Refused
from maxmargin.play.thinning import evenly

TABLE = "the table"


def points_in(text: str) -> dict[str, Any]:
    """The first two columns of numbers. Of two labels the second is positive, as everywhere; of more, the first is, and
    all others are against it.

    The labels are in the one column that is called label, y, target or class, or else in the last.
    """
    try:
        table = read_table(file_of(text), label=label_column(text), format="csv")
    except DataFileError as error:
        raise Refused(str(error), "text") from None
    X, y = np.asarray(table.X, dtype=np.float64), np.asarray(table.y)
    if X.shape[1] < 2:
        raise Refused(f"the table has {X.shape[1]} column of numbers; two are needed", "text")
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) < 2:
        raise Refused(f"all rows have the label {labels[0]!s}; two are needed", "text")
    far = np.flatnonzero(~(np.abs(X[:, :2]).max(axis=1) <= LARGEST))
    if len(far):
        raise Refused(f"line {table.lines[far[0]]}: coordinates are at most {LARGEST:g}", "text")
    chosen = evenly(len(X), MOST_POINTS)
    positive = 1 if len(labels) == 2 else 0
    signs = np.where(codes == positive, 1, -1)
    points = [[*X[row, :2].tolist(), int(signs[row])] for row in chosen]
    names = table.feature_names or ()
    return {"points": points, "words": words_about(names, labels.tolist(), len(X), len(chosen))}


def file_of(text: str) -> io.BytesIO:
    """The text as an open file; half a character, which JSON can hold and a file cannot, becomes a question mark."""
    source = io.BytesIO(text.encode(errors="replace"))
    source.name = TABLE
    return source


def label_column(text: str) -> int:
    """Where the labels are, by the names in the first line."""
    with closing(records_of(file_of(text), TABLE)) as records:
        header = next(records, None)
    cells = [] if header is None else [cell.strip().lower() for cell in header.cells]
    named = [at for at, cell in enumerate(cells) if cell in LABEL_NAMES]
    return named[0] if len(named) == 1 else -1


def words_about(names: tuple[str, ...], labels: list[Any], n_rows: int, n_chosen: int) -> str:
    rows = f"{n_chosen} rows" if n_chosen == n_rows else f"{n_chosen} of {n_rows:,} rows, evenly chosen"
    more = f" (the first two of {len(names)})" if len(names) > 2 else ""
    sides = (labels[1], repr(labels[0])) if len(labels) == 2 else (labels[0], f"the other {len(labels) - 1} labels")
    return f"{rows}; columns {names[0]!r} and {names[1]!r}{more}; {sides[0]!r} is +1, {sides[1]} -1."
