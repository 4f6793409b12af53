"""A data file as the user names it, of any format that the library reads, on disk or from standard input."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from maxmargin.cli.console import UserError, messages

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from maxmargin.reading.columns import LabelledTable

COMPRESSED = {".gz", ".bz2", ".xz"}
CSV_SUFFIXES = {".csv", ".tsv"}
SVMLIGHT_SUFFIXES = {".libsvm", ".svm", ".svml", ".svmlight"}
LABELS_SHOWN = 8
MANY_LABELS = 20
MOST_COLUMNS = 2**28  # of a sparse file that was not said to have so many


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

    y is None where no labels were asked for, and weights, ids and queries where there are none. Columns of text are in
    `texts`, by their names, and `asked` says what they were said to be, "category" or "text". A cell that is missing is
    NaN. Without `has_names` the names count the columns of a file that has none.
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
    ids: NDArray[Any] | None = None
    texts: Mapping[str, NDArray[Any]] = MappingProxyType({})
    asked: Mapping[str, str] = MappingProxyType({})
    weight_name: str | None = None
    id_name: str | None = None
    has_names: bool = True
    queries: NDArray[np.int64] | None = None

    @property
    def columns_by(self) -> str | None:
        """How the columns are told apart, for a model to remember; None where indices are of no file."""
        if self.feature_names is not None:
            return "name" if self.has_names else "position"
        return f"index from {0 if self.zero_based else 1}" if self.format is Format.SVMLIGHT else None

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of all features, those of numbers first; None in a sparse file."""
        return None if self.feature_names is None else (*self.feature_names, *self.texts)

    @property
    def n_columns(self) -> int:
        return int(self.X.shape[1]) + len(self.texts)

    def where(self, counts: NDArray[np.bool_]) -> DataFile:
        """Some of the rows."""
        return self._replace(
            X=self.X[counts],
            y=None if self.y is None else self.y[counts],
            lines=self.lines[counts],
            weights=None if self.weights is None else self.weights[counts],
            ids=None if self.ids is None else self.ids[counts],
            texts={name: words[counts] for name, words in self.texts.items()},
            queries=None if self.queries is None else self.queries[counts],
        )

    def rows(self, names: Sequence[str] | None = None) -> Any:
        """The features, or those that are named: an array of numbers, or of objects where some are text."""
        import numpy as np

        if self.feature_names is None or (names is None and not self.texts):
            return self.X
        chosen = (self.names or ()) if names is None else names
        places = {name: place for place, name in enumerate(self.feature_names)}
        if all(name in places for name in chosen):
            return self.X[:, [places[name] for name in chosen]]
        table = np.empty((len(self.lines), len(chosen)), dtype=object)
        for index, name in enumerate(chosen):
            table[:, index] = self.X[:, places[name]] if name in places else self.texts[name]
        return table


def read(
    file: str,
    format: Format,
    label: str | None,
    header: bool,
    *,
    weight: str | None = None,
    ignore: Sequence[str] | None = None,
    id: str | None = None,
    n_features: int | None = None,
    categorical: Sequence[str] | None = None,
    text: Sequence[str] | None = None,
    impute: bool = False,
    sql: str | None = None,
    zero_based: bool | None = None,
    expected: Mapping[str, str] | None = None,
    columns_by: str | None = None,
    classes: Sequence[Any] | None = None,
    needs_labels: bool = True,
) -> DataFile:
    """Read a file, standard input where its name is -, or a query; every problem becomes a `UserError`.

    Where no labels are needed, they are read if their column is named, and there may be no row. A model says which
    columns it expects, whether they hold text, how they are told apart, and what its labels are; without one, the file
    and the options tell.
    """
    from maxmargin.reading.columns import Roles
    from maxmargin.reading.files import DataFileError, MissingValueError
    from maxmargin.reading.read import read_roles, recognise

    name = "the query" if sql is not None else "standard input" if file == "-" else file
    roles = Roles(
        label=label,
        weight=weight,
        id=id,
        ignore=tuple(ignore or ()),
        categorical=tuple(categorical or ()),
        prose=tuple(text or ()),
        missing=impute,
        expected=expected,
        written=True,
        may_be_empty=not needs_labels,
        by_position=None if columns_by is None else columns_by == "position",
        classes=classes,
    )
    try:
        source = standard_input() if file == "-" and sql is None else file
        if sql is not None:
            format = Format.ARROW
        elif format is Format.AUTO:
            format = Format(recognise(source).value)
        if format is Format.CSV:
            roles = roles._replace(usual_label=needs_labels)
        elif not header:
            raise UserError(f"{name} is no CSV file: --no-header is for CSV (--format csv)")
        counted = counting_of(format, name, zero_based, columns_by)
        table = read_roles(
            source, roles, n_features=n_features, format=format.value, header=header, zero_based=counted, database=sql
        )
    except MissingValueError as error:
        filled = "the model was fitted without --impute" if expected is not None else "--impute fills such cells in"
        raise UserError(str(error) if impute else f"{error} ({filled})") from None
    except DataFileError as error:
        raise UserError(str(error)) from None
    except ImportError as missing:
        raise UserError(f"{name} cannot be read: {missing}") from None
    except OSError as error:
        raise UserError(f"{name} cannot be read: {(error.strerror or str(error)).lower()}") from None
    for note in table.notes:
        messages.print(f"maxmargin: {name}: {note.replace('zero_based=True', '--zero-based')}")
    if format is Format.SVMLIGHT:
        table = checked_sparse(table, name, n_features, classes)
    if needs_labels and table.y is None:
        names = ", ".join(map(repr, (*(table.feature_names or ()), *table.texts)))
        raise UserError(f"{name}: say with --label which column holds the labels; there are {names}")
    if expected is None:
        refuse_what_cannot_be_used(table, name, impute)
    return DataFile(
        name, format, table.X, table.y, table.lines, table.label_name, table.feature_names, table.zero_based,
        table.weights, table.ids, table.texts, table.asked, table.weight_name, table.id_name, table.has_names,
        table.queries,
    )  # fmt: skip


def refuse_what_cannot_be_used(table: LabelledTable, name: str, impute: bool) -> None:
    if not table.X.shape[1] and not table.texts:
        raise UserError(f"{name}: there is no column but those of labels, weights and ids: nothing to learn from")
    if impute and table.feature_names is None:
        raise UserError(f"{name}: in a sparse file no cell is missing, what is not written is 0: leave out --impute")


def counting_of(format: Format, name: str, zero_based: bool | None, columns_by: str | None) -> Any:
    """How the indices of an SVMlight file count: as the user says, or as in the file of the model."""
    if zero_based is not None:
        if format is not Format.SVMLIGHT:
            raise UserError(f"{name} is no SVMlight file: --zero-based and --one-based are for these")
        return zero_based
    return {"index from 0": True, "index from 1": False}.get(columns_by or "", "auto")


def checked_sparse(table: LabelledTable, name: str, n_features: int | None, classes: Sequence[Any] | None) -> Any:
    """Labels as the model's are; and as many columns as a plane can have, unless the user says how many there are."""
    from maxmargin.reading.label_column import labels_like

    width = table.X.shape[1]
    if width > MOST_COLUMNS and n_features is None:
        entry = int(table.X.indices.argmax())
        row = int((table.X.indptr[1:] <= entry).sum())
        index = int(table.X.indices[entry]) + (not table.zero_based)
        raise UserError(
            f"{name}, line {table.lines[row]}: the index {index} makes {width:,} columns, which is "
            f"{width / 2**27:,.0f} GB for one plane; if it is no slip, say --n-features {width}"
        )
    return table if classes is None else table._replace(y=labels_like(table.y.tolist(), classes))


def count_labels(data: DataFile) -> list[tuple[Any, int]]:
    """The labels, sorted, and how many rows have each."""
    import numpy as np

    labels, counts = np.unique(data.y, return_counts=True)
    return list(zip(labels.tolist(), counts.tolist(), strict=True))


def refuse_a_measure(data: DataFile, labels: Sequence[Any]) -> None:
    """Labels that are nearly as many as the rows are no classes, but what a regression predicts."""
    if len(labels) > MANY_LABELS and 2 * len(labels) > len(data.lines):
        where = "" if data.label_name is None else f", column {data.label_name!r}"
        raise UserError(
            f"{data.name}{where}: {len(labels):,} different labels in {len(data.lines):,} rows. Is it a measure and "
            "not a class? Choose another column with --label."
        )


def headline(data: DataFile) -> str:
    """A line about the file."""
    rows, columns = data.X.shape[0], data.n_columns
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
        "columns": data.n_columns,
        "labels": [{"label": label, "count": count} for label, count in count_labels(data)],
    }


def standard_input() -> IO[bytes]:
    """All of it, so that the format can be recognised before it is read."""
    stream = io.BytesIO(sys.stdin.buffer.read())
    stream.name = "<stdin>"
    return stream


def suffix_of(file: str) -> str:
    """The end of a name that says how the file is written, behind that of its compression."""
    suffixes = [suffix.lower() for suffix in Path(file).suffixes]
    while suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""
