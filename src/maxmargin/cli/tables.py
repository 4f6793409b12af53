"""Tables as the commands read them: files of any format that the library knows, a query, or a stream."""

from __future__ import annotations

import dataclasses
import io
import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from maxmargin.cli.console import UserError, files_of, messages
from maxmargin.cli.options import ReadingOptions
from maxmargin.cli.several_files import joined, name_of_all
from maxmargin.reading.files import Asked, Format, table_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from maxmargin.reading.columns import LabelledTable, Roles

LABELS_SHOWN = 8
MANY_LABELS = 20


class DataFile(NamedTuple):
    """The rows of a file: a `LabelledTable`, whose docstring explains the fields, with its name and format.

    The columns of a sparse file have no names, but indices. A cell that is missing is NaN.
    """

    name: str
    format: Format
    X: Any
    y: Any
    feature_names: tuple[str, ...] | None
    label_name: str | None
    lines: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None
    ids: NDArray[Any] | None = None
    texts: Mapping[str, NDArray[Any]] = MappingProxyType({})
    asked: Mapping[str, str] = MappingProxyType({})
    queries: NDArray[np.int64] | None = None
    zero_based: bool = True
    notes: tuple[str, ...] = ()
    weight_name: str | None = None
    id_name: str | None = None
    has_names: bool = True
    ignored: tuple[str, ...] = ()
    parts: tuple[tuple[str, int], ...] = ()  # of several files: each, and its first row here

    @property
    def table(self) -> LabelledTable:
        from maxmargin.reading.columns import LabelledTable

        return LabelledTable(*self[2:-1])

    def place_of(self, row: int) -> dict[str, Any]:
        """Where a row stands: its line, and its file where there are several."""
        file = next((file for file, start in reversed(self.parts) if start <= row), None)
        return ({} if file is None else {"file": file}) | {"line": int(self.lines[row])}

    def place_told(self, row: int) -> str:
        """The same for people: 12, or b.csv:12."""
        return ":".join(map(str, self.place_of(row).values()))

    @property
    def roles(self) -> dict[str, str]:
        """The columns that are no features, for a model to remember: by name, or by index where they have no names."""
        titles = {"label": self.label_name, "weight": self.weight_name, "id": self.id_name}
        kept = {part: title for part, title in titles.items() if title is not None}
        return kept if self.has_names else {part: title.removeprefix("column ") for part, title in kept.items()}

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
            parts=tuple((file, int(counts[:start].sum())) for file, start in self.parts),
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


class Expected(NamedTuple):
    """What a model knows of its data: which columns, and whether each is a number, a category or text; how they are
    told apart; what its labels are; whether it fills in missing cells; and which columns were label, weight and id, of
    which a table with labels must have those that are `needed`."""

    columns: Mapping[str, str] | None = None
    columns_by: str | None = None
    classes: Sequence[Any] | None = None
    fills_in: bool = False
    roles: Mapping[str, str] = MappingProxyType({})
    needed: tuple[str, ...] = ("label", "weight")


ANYTHING = Expected()


def read(
    data: str | Sequence[str], options: ReadingOptions, *, model: Expected = ANYTHING, needs_labels: bool = True
) -> DataFile:
    """Read files as one table, standard input where their name is -, or a query; every problem becomes a `UserError`.

    Where no labels are needed, they are read if their column is named, here or in the model, and there may be no row.
    Where there is no model that expects something, the file and the options tell.
    """
    files = files_of(data, options.sql)
    if len(files) == 1:
        return read_file(files[0], options, model, needs_labels)
    name, found = name_of_all(files), [read_file(file, options, model, needs_labels, is_part=True) for file in files]
    format = found[0].format
    for one in found:
        if one.format is not format:
            raise UserError(f"{one.name} is not written as {format}, as {files[0]} is: give files of one format")
    if format is Format.SVMLIGHT and len({one.zero_based for one in found}) > 1:  # one of them tells how all count
        again = dataclasses.replace(options, zero_based=True)
        found = [
            one if one.zero_based else read_file(one.name, again, model, needs_labels, is_part=True) for one in found
        ]
    with as_user_errors(name, model, options):
        table = joined(files, [one.table for one in found], meant_by(model.classes) if format is Format.CSV else None)
    if not len(table.lines) and needs_labels:
        raise UserError(f"{name}: there is no row")
    refuse_empty_columns(table, name, model)
    refuse_what_cannot_be_used(table, name, options, model, needs_labels)
    starts = itertools.accumulate((len(one.lines) for one in found), initial=0)
    return DataFile(name, format, *table, parts=tuple(zip(files, starts, strict=False)))


def read_file(
    data: str, options: ReadingOptions, model: Expected, needs_labels: bool, *, is_part: bool = False
) -> DataFile:
    """One of the files. As a part of a table it may have no row, and its labels mean what those of all parts mean."""
    from maxmargin.reading.files import DataFileError, recognise

    name = "the query" if options.sql is not None else "standard input" if data == "-" else data
    with as_user_errors(name, model, options), messages.status(f"Reading {data}"):
        source: Any = standard_input() if data == "-" and options.sql is None else data
        format = options.format
        if options.sql is not None:
            format = Format.ARROW
        elif format is Format.AUTO:
            format = recognise(source)
        if format is not Format.CSV and options.no_header:
            raise UserError(f"{name} is no CSV file: --no-header is for CSV (--format csv)")
        try:
            table = read_as(source, format, name, options, model, needs_labels, is_part)
        except DataFileError as error:  # labels that nobody asked for need not be whole
            if needs_labels or options.label is not None or str(error.column) != model.roles.get("label"):
                raise
            where = "" if error.line is None else f" (line {error.line})"
            messages.print(f"maxmargin: {name}: not every row has a label{where}, so that they are not compared")
            if data == "-":
                source.seek(0)
            others = {part: column for part, column in model.roles.items() if part != "label"}
            table = read_as(source, format, name, options, model._replace(roles=others), needs_labels, is_part)
    for note in table.notes:
        messages.print(f"maxmargin: {name}: {note.replace('zero_based=True', '--zero-based')}")
    if format is Format.SVMLIGHT and model.classes is not None:
        from maxmargin.reading.cells import labels_like

        table = table._replace(y=labels_like(table.y.tolist(), model.classes))
    if not is_part:
        refuse_what_cannot_be_used(table, name, options, model, needs_labels)
    return DataFile(name, format, *table)


def meant_by(classes: Sequence[Any] | None) -> Any:
    """What makes labels of the words of CSV files, which only all of them tell."""
    from maxmargin.reading.cells import labels_like
    from maxmargin.reading.csv import whole_numbers_or_strings

    return whole_numbers_or_strings if classes is None else partial(labels_like, classes=classes)


@contextmanager
def as_user_errors(name: str, model: Expected, options: ReadingOptions) -> Iterator[None]:
    """What is wrong with a file, with what the command can do about it."""
    from maxmargin.reading.files import DataFileError, MissingValueError

    try:
        yield
    except MissingValueError as error:
        filled = "--impute fills such cells in" if model.columns is None else "the model was fitted without --impute"
        raise UserError(str(error) if options.impute or model.fills_in else f"{error} ({filled})") from None
    except DataFileError as error:
        raise UserError(str(error).replace("say n_features=", "say --n-features ")) from None
    except ImportError as missing:
        raise UserError(f"{name} cannot be read: {missing}") from None
    except OSError as error:
        raise UserError(f"{name} cannot be read: {(error.strerror or str(error)).lower()}") from None


def read_as(
    source: Any, format: Format, name: str, options: ReadingOptions, model: Expected, needs_labels: bool, is_part: bool
) -> LabelledTable:
    """The table, by the library's own reader."""
    roles = roles_for(options, model, format, needs_labels, is_part)
    zero_based = counting_of(format, name, options.zero_based, model.columns_by)
    if options.sql is not None:
        from maxmargin.reading.read import read_roles

        return read_roles(source, roles, n_features=options.n_features, database=options.sql)
    return table_in(source, roles, format, Asked(not options.no_header, options.n_features, zero_based))


def roles_for(options: ReadingOptions, model: Expected, format: Format, needs_labels: bool, is_part: bool) -> Roles:
    """What the columns are for, as the options and the model say."""
    from maxmargin.reading.columns import Roles

    return Roles(
        label=options.label,
        weight=options.weight,
        id=options.id,
        ignore=tuple(options.ignore or ()),
        categorical=tuple(options.categorical or ()),
        prose=tuple(options.text or ()),
        usual_label=needs_labels and format is Format.CSV,
        missing=options.impute or model.fills_in,
        expected=model.columns,
        written=True,
        may_be_empty=is_part or not needs_labels,
        is_part=is_part,
        by_position=None if model.columns_by is None else model.columns_by == "position",
        classes=model.classes,
        remembered=model.roles,
        needed=model.needed if needs_labels else (),
    )


def refuse_empty_columns(table: LabelledTable, name: str, model: Expected) -> None:
    """A feature that no row of any file has."""
    if model.columns is None and table.feature_names is not None and len(table.lines):
        lacking = (table.X != table.X).all(axis=0)
        for column, lacks in zip(table.feature_names, lacking.tolist(), strict=True):
            if lacks:
                raise UserError(f"{name}, column {column!r}: the value is missing in every row; ignore the column")


def refuse_what_cannot_be_used(
    table: LabelledTable, name: str, options: ReadingOptions, model: Expected, needs_labels: bool
) -> None:
    if needs_labels and table.y is None:
        names = ", ".join(map(repr, (*(table.feature_names or ()), *table.texts)))
        raise UserError(f"{name}: say with --label which column holds the labels; there are {names}")
    if model.columns is not None:
        return
    impute = options.impute or model.fills_in
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


def count_labels(data: DataFile) -> list[tuple[Any, int]]:
    """The labels, sorted, and how many rows have each."""
    import numpy as np

    labels, counts = np.unique(data.y, return_counts=True)
    return list(zip(labels.tolist(), counts.tolist(), strict=True))


def refuse_a_measure(data: DataFile, labels: Sequence[Any], rows: int | None = None) -> None:
    """Labels that are nearly as many as the rows are no classes, but what a regression predicts."""
    rows = len(data.lines) if rows is None else rows
    if len(labels) > MANY_LABELS and 2 * len(labels) > rows:
        where = "" if data.label_name is None else f", column {data.label_name!r}"
        raise UserError(
            f"{data.name}{where}: {len(labels):,} different labels in {rows:,} rows. Is it a measure and "
            "not a class? Choose another column with --label."
        )


def headline(data: DataFile) -> str:
    """A line about the file."""
    return headline_of(data.name, data.X.shape[0], data.n_columns, count_labels(data))


def headline_of(name: str, rows: int, columns: int, counts: list[tuple[Any, int]]) -> str:
    shown = [f"{label!r} ({count:,})" for label, count in counts[:LABELS_SHOWN]]
    shown += [f"{len(counts) - LABELS_SHOWN} more"] if len(counts) > LABELS_SHOWN else []
    return f"{name}: {rows:,} rows x {columns:,} columns, {len(counts)} labels: {', '.join(shown)}"


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
