"""CSV files: a table of numbers with a column of labels.

The delimiter is a comma, a semicolon or a tab, whichever the first line holds most of. Numbers are read exactly, as
Python reads them. Nothing is guessed and nothing is filled in: an empty cell, a NaN, a line that is too short or a
label column that cannot be told is a `DataFileError`, which names the file, the line and the column.
"""

from __future__ import annotations

import csv
import itertools
import math
from array import array
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.files import DataFileError, Source, lines_of, name_of, shortened

DELIMITERS = "\t;,"  # where two are equally frequent, the earlier: a comma may be a decimal comma
LABEL_NAMES = ("label", "y", "target", "class")
COLUMNS_SHOWN = 20
LARGEST_LABEL = 2**63


class LabelledTable(NamedTuple):
    """X and y of a CSV file, and where they were: row i begins in line `lines[i]`, counted from 1."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    label_name: str
    lines: NDArray[np.int64]


class Record(NamedTuple):
    """The cells of one row and the line where it begins."""

    line: int
    cells: list[str]


def read_csv(source: Source, label: str | int | None = None, header: bool = True) -> LabelledTable:
    """Read a table whose cells are numbers, but for one column of labels.

    source : a path (.gz too), or an open file
    label  : the name of the label column, or its index (from 0; -1 is the last). None takes the one column that is
             called label, y, target or class; if there is none, or more than one, that is an error
    header : whether the first line holds the names of the columns

    Labels are whole numbers if all of them are, otherwise strings.

    >>> import io
    >>> table = read_csv(io.StringIO("height,width,label\\n1.5,2,cat\\n3,4,dog\\n"))
    >>> table.X.tolist(), table.y.tolist(), table.feature_names
    ([[1.5, 2.0], [3.0, 4.0]], ['cat', 'dog'], ('height', 'width'))
    """
    file = name_of(source)
    with closing(records_of(source, file)) as records:
        first = next(records, None)
        if first is None:
            raise DataFileError(file, "the file is empty")
        if len(first.cells) == 1:
            problem = "there is one column only (no comma, semicolon or tab); a table needs labels and numbers"
            raise DataFileError(file, problem, first.line)
        columns = Columns(file, first, header, label)
        rows = records if header else itertools.chain([first], records)
        return assemble(columns, rows)


def records_of(source: Source, file: str) -> Generator[Record, None, None]:
    """The rows that are not empty."""
    with closing(lines_of(source)) as lines:
        begun = []
        for line in lines:
            begun.append(line)
            if line.strip():
                break
        reader = csv.reader(itertools.chain(begun, lines), delimiter=delimiter_of(begun), strict=True)
        while True:
            number = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise DataFileError(file, explain(error), number) from None
            if len(cells) > 1 or (cells and cells[0].strip()):
                yield Record(number, cells)


def delimiter_of(begun: Sequence[str]) -> str:
    """The most frequent delimiter outside of quotes in the first line that is not empty."""
    outside = "".join("".join(begun).split('"')[::2])
    return max(DELIMITERS, key=outside.count) if any(mark in outside for mark in DELIMITERS) else ","


def explain(error: csv.Error) -> str:
    text = str(error)
    if "field limit" in text:
        return f'a cell has more than {csv.field_size_limit():,} characters: is a quote (") left open?'
    if "unexpected end of data" in text:
        return 'a quote (") is opened and never closed'
    if "expected after" in text:
        return 'there is text after a closing quote ("); inside of quotes, write a quote as ""'
    return text


class Columns:
    """The columns of one file: their names, and which of them holds the labels."""

    def __init__(self, file: str, first: Record, header: bool, label: str | int | None) -> None:
        self.file = file
        self.width = len(first.cells)
        self.header_line = first.line if header else None
        self.names = [cell.strip() for cell in first.cells] if header else None
        self.label = self._find(label)
        if self.names is not None and "" in self.names:
            raise DataFileError(
                file,
                "it has no name in the header (row numbers that were saved with the table?): name it, or remove it",
                first.line,
                self.names.index(""),
            )

    def __getitem__(self, index: int) -> str | int:
        """The name of a column, or its index where it has none."""
        return index if self.names is None else self.names[index]

    @property
    def feature_names(self) -> tuple[str, ...]:
        names = [f"x{index}" for index in range(self.width)] if self.names is None else self.names
        return tuple(name for index, name in enumerate(names) if index != self.label)

    @property
    def label_name(self) -> str:
        return f"column {self.label}" if self.names is None else self.names[self.label]

    def _find(self, label: str | int | None) -> int:
        """The index of the label column; every doubt is an error that lists the columns."""
        width = self.width
        if isinstance(label, int):
            if -width <= label < width:
                return label % width
            raise self._error(f"there is no column {label}: the {width} columns count from 0 to {width - 1}")
        if self.names is None:
            raise self._error(
                "without a header the label column has no name"
                f"{'' if label is None else f' {label!r}'}: give its index, 0 to {width - 1} (-1 is the last)"
            )
        if label is None:
            matches = [index for index, name in enumerate(self.names) if name.lower() in LABEL_NAMES]
            problem = f"no column is called {', '.join(LABEL_NAMES[:-1])} or {LABEL_NAMES[-1]}"
            if matches:
                named = " and ".join(repr(self.names[index]) for index in matches)
                problem = f"{named} could each be the label column"
        else:
            matches = [index for index, name in enumerate(self.names) if name == label.strip()]
            problem = f"{len(matches) or 'no'} column{'s are' if matches else ' is'} called {label!r}"
        if len(matches) == 1:
            return matches[0]
        doubt = "; the first line looks like data: is there no header?" if count_numbers(self.names) else ""
        raise self._error(f"{problem}. Say which one holds the labels, by name or index: {self._listed()}{doubt}")

    def _error(self, problem: str) -> DataFileError:
        return DataFileError(self.file, problem, self.header_line)

    def _listed(self) -> str:
        names = self.names or []
        shown = ", ".join(f"{index} {shortened(name)}" for index, name in enumerate(names[:COLUMNS_SHOWN]))
        return shown + (f" and {self.width - COLUMNS_SHOWN} more" if self.width > COLUMNS_SHOWN else "")


def assemble(columns: Columns, records: Iterator[Record]) -> LabelledTable:
    """Cells to numbers, the label column apart."""
    values, labels, lines = array("d"), [], array("q")
    for line, cells in records:
        if len(cells) != columns.width:
            counted = f"{len(cells)} {'cell' if len(cells) == 1 else 'cells'}"
            raise DataFileError(columns.file, f"{counted}, where the first line has {columns.width}", line)
        labels.append(label_in(cells.pop(columns.label), columns, line))
        try:
            values.extend(map(float, cells))
        except ValueError:
            refuse_cells(cells, columns, line)
        if any("_" in cell for cell in cells):  # Python reads 1_000 as a number, no one else does
            refuse_cells(cells, columns, line)
        lines.append(line)
    if not lines:
        raise DataFileError(columns.file, "there is a header but no row of data", columns.header_line)
    X = np.array(values, dtype=np.float64).reshape(len(lines), columns.width - 1)
    refuse_what_is_not_finite(X, columns, lines)
    refuse_header_that_is_data(columns, set(labels))
    return LabelledTable(
        X, whole_numbers_or_strings(labels), columns.feature_names, columns.label_name, np.array(lines)
    )


def label_in(cell: str, columns: Columns, line: int) -> str:
    label = cell.strip()
    if label == "" or label.lower() == "nan":
        raise DataFileError(columns.file, "the label is missing", line, columns[columns.label])
    return label


def feature_column(columns: Columns, position: int) -> str | int:
    """The name of the feature at this position, once the label is taken out."""
    return columns[position + (position >= columns.label)]


def refuse_cells(cells: list[str], columns: Columns, line: int) -> None:
    """The error of the first cell that is not a number."""
    for position, cell in enumerate(cells):
        if is_number(cell):
            continue
        problem = f"{shortened(cell)} is not a number"
        if not cell.strip():
            problem = "the cell is empty; fill it in, or remove the line"
        elif is_number(cell.replace(",", ".", 1)):
            problem += "; write a decimal point"
        raise DataFileError(columns.file, problem, line, feature_column(columns, position))


def refuse_what_is_not_finite(X: NDArray[np.float64], columns: Columns, lines: Sequence[int]) -> None:
    finite = np.isfinite(X)
    if finite.all():
        return
    row, position = divmod(int(np.argmin(finite)), X.shape[1])
    value = X[row, position]
    problem = "NaN is not a number; fill the cell in, or remove the line"
    if not math.isnan(value):
        problem = "the number is infinite, or too large for 64 bits"
    raise DataFileError(columns.file, problem, lines[row], feature_column(columns, position))


def refuse_header_that_is_data(columns: Columns, labels: set[str]) -> None:
    """A header of numbers whose label name is itself a label: the first row, about to be lost."""
    if columns.names is None or columns.names[columns.label] not in labels:
        return
    if count_numbers(columns.names) >= columns.width - 1:
        raise DataFileError(
            columns.file, "the header looks like a row of data: is there no header?", columns.header_line
        )


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def count_numbers(cells: Sequence[str]) -> int:
    return sum(map(is_number, cells))


def whole_numbers_or_strings(labels: list[str]) -> NDArray[Any]:
    """int64 where every label is a whole number (1, +1 and 1.0 are the same one), otherwise the strings."""
    numbers = {}
    for label in set(labels):
        if not is_number(label):
            return np.array(labels)
        number = float(label)
        if not (number.is_integer() and abs(number) < LARGEST_LABEL):
            return np.array(labels)
        numbers[label] = int(label) if label.lstrip("+-").isdecimal() else int(number)
    return np.array([numbers[label] for label in labels], dtype=np.int64)
