"""A data file as the user names it, of any format that the library reads, on disk or from standard input."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from maxmargin.cli.console import UserError, messages

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COMPRESSED = {".gz", ".bz2", ".xz"}
CSV_SUFFIXES = {".csv", ".tsv"}
SVMLIGHT_SUFFIXES = {".libsvm", ".svm", ".svml", ".svmlight"}
LABELS_SHOWN = 8


class Format(StrEnum):
    """How a file is written."""

    AUTO = "auto"
    CSV = "csv"
    SVMLIGHT = "svmlight"
    PARQUET = "parquet"
    ARROW = "arrow"
    NPY = "npy"
    NPZ = "npz"


class DataFile(NamedTuple):
    """The rows of a file; row i begins in line lines[i]. The columns of a sparse file have no names, but indices.

    y is None where no labels were asked for, and weights where there are none.
    """

    name: str
    format: Format
    X: Any
    y: Any
    lines: NDArray[np.int64]
    label_name: str | None
    feature_names: tuple[str, ...] | None
    zero_based: bool = True
    weights: NDArray[np.float64] | None = None


def read(
    file: str,
    format: Format,
    label: str | None,
    header: bool,
    *,
    weight: str | None = None,
    ignore: Sequence[str] | None = None,
    needs_labels: bool = True,
) -> DataFile:
    """Read a file, or standard input where its name is -; every problem becomes a `UserError`.

    Where no labels are needed, they are read if their column is named; columns of text are passed over.
    """
    from maxmargin.data.columns import Roles
    from maxmargin.data.files import DataFileError
    from maxmargin.data.sources import read_table, recognise
    from maxmargin.data.tables import read_csv_columns

    name = "standard input" if file == "-" else file
    wanted: dict[str, Any] = {
        "label": None if label is None else index_or_name(label),
        "weight": None if weight is None else index_or_name(weight),
        "ignore": [index_or_name(column) for column in ignore or ()],
    }
    try:
        source = standard_input() if file == "-" else file
        format = Format(recognise(source).value) if format is Format.AUTO else format
        if format is Format.CSV:
            roles = Roles(**wanted, usual_label=needs_labels, texts=not needs_labels)
            table = read_csv_columns(source, roles, header)
        elif not header:
            raise UserError(f"{name} is no CSV file: --no-header is for CSV (--format csv)")
        else:
            table = read_table(source, **wanted, format=format.value)
    except DataFileError as error:
        raise UserError(str(error)) from None
    except ModuleNotFoundError as missing:
        raise UserError(f"{name}: to read this format, install {missing.name}") from None
    except OSError as error:
        raise UserError(f"{name} cannot be read: {(error.strerror or str(error)).lower()}") from None
    for note in table.notes:
        messages.print(f"maxmargin: {name}: {note}")
    if needs_labels and table.y is None:
        names = ", ".join(map(repr, table.feature_names or ()))
        raise UserError(f"{name}: say with --label which column holds the labels; there are {names}")
    if needs_labels and table.texts:
        names = ", ".join(map(repr, table.texts))
        raise UserError(f"{name}: {names} hold text and no numbers: leave them out with --ignore, or encode them first")
    return DataFile(
        name, format, table.X, table.y, table.lines, table.label_name, table.feature_names, table.zero_based,
        table.weights,
    )  # fmt: skip


def count_labels(data: DataFile) -> list[tuple[Any, int]]:
    """The labels, sorted, and how many rows have each."""
    import numpy as np

    labels, counts = np.unique(data.y, return_counts=True)
    return list(zip(labels.tolist(), counts.tolist(), strict=True))


def headline(data: DataFile) -> str:
    """A line about the file."""
    rows, columns = data.X.shape
    counts = count_labels(data)
    shown = [f"{label!r} ({count:,})" for label, count in counts[:LABELS_SHOWN]]
    shown += [f"{len(counts) - LABELS_SHOWN} more"] if len(counts) > LABELS_SHOWN else []
    return f"{data.name}: {rows:,} rows x {columns:,} columns, {len(counts)} labels: {', '.join(shown)}"


def describe(data: DataFile) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "file": data.name,
        "format": data.format.value,
        "rows": data.X.shape[0],
        "columns": data.X.shape[1],
        "labels": [{"label": label, "count": count} for label, count in count_labels(data)],
    }


def standard_input() -> IO[bytes]:
    """All of it, so that the format can be recognised before it is read."""
    stream = io.BytesIO(sys.stdin.buffer.read())
    stream.name = "<stdin>"
    return stream


def index_or_name(column: str) -> str | int:
    """A whole number is an index."""
    return int(column) if re.fullmatch(r"-?\d+", column, re.ASCII) else column


def suffix_of(file: str) -> str:
    """The end of a name that says how the file is written, behind that of its compression."""
    suffixes = [suffix.lower() for suffix in Path(file).suffixes]
    while suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""
