"""CSV files: a table of numbers with a column of labels.

The delimiter is a comma, a semicolon or a tab, whichever the first line holds most of. Numbers are read exactly, as
Python reads them. Nothing is guessed and nothing is filled in: an empty cell, a NaN, a line that is too short or a
label column that cannot be told is a `DataFileError`, which names the file, the line and the column. Large files are
read by pyarrow where it is installed (`csv_pieces.py`): the same numbers and words, and whatever it stumbles over is
read again here.

Where categories are welcome, a column that begins with text is text all the way: a number in it, like text in a column
of numbers, is a slip that is refused with its place, unless the column is said to be categorical.

Where missing values are welcome, they become NaN: in a column of numbers an empty cell, NA, ? and their like; in a
column of text the empty cell alone, because NA may be a word.

Labels are whole numbers, or the text that they are. 1, +1 and 1.0 are the same whole number. 007 is no number but a
name: whoever writes zeros in front wants them back. So one label that is no plain number makes all of them text.
"""

from __future__ import annotations

import csv
import itertools
import math
import os
import re
from array import array
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.reading.cells import labels_like
from maxmargin.reading.columns import (
    MISSING,
    Columns,
    LabelledTable,
    Layout,
    Roles,
    count_numbers,
    is_missing_label,
    is_number,
    problem_of_missing_label,
)
from maxmargin.reading.csv_pieces import NotPlain, csv_pieces, has_pyarrow
from maxmargin.reading.files import (
    AS_IT_IS,
    Asked,
    DataFileError,
    MissingValueError,
    Source,
    lines_of,
    name_of,
    shortened,
)
from maxmargin.reading.notations import advice_on

WORTH_IT = 2**20  # bytes of a file: below, loading pyarrow takes longer than reading
DELIMITERS = "\t;,"  # where two are equally frequent, the earlier: a comma may be a decimal comma
OTHER_DELIMITERS = {"|": "a bar", " ": "a space", ":": "a colon"}
LARGEST_LABEL = 2**63
ZERO_IN_FRONT = re.compile(r"[-+]?0\d", re.ASCII)
EMPTY = "the cell is empty; fill it in, or remove the line"


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
    return read_csv_columns(source, Roles(label, usual_label=True, texts=False), Asked(header))


def read_csv_columns(source: Source, roles: Roles, asked: Asked = AS_IT_IS) -> LabelledTable:
    """Read a table with the columns as they were asked for."""
    file = name_of(source)
    with closing(records_of(source, file)) as records:
        layout, begun = layout_of(records, file, roles, asked.header)
        if begun and is_for_pyarrow(source):
            cells = cells_by_pyarrow(source, layout._replace(delimiter=delimiter_in(source)))
            if cells is not None:
                return table_of(cells, layout)
        return table_of(cells_of(itertools.chain(begun, records), layout), layout)


def layout_of(records: Iterator[Record], file: str, roles: Roles, header: bool) -> tuple[Layout, list[Record]]:
    """What the columns are, and the records that were read to know it."""
    first = next(records, None)
    if first is None:
        raise DataFileError(file, "the file is empty")
    refuse_a_line_before_the_table(first, file)
    if len(first.cells) == 1 and (roles.label is not None or roles.usual_label):
        problem = "there is one column only (no comma, semicolon or tab); a table needs labels and numbers"
        between = [name for mark, name in OTHER_DELIMITERS.items() if mark in first.cells[0].strip()]
        problem += f"; if {between[0]} is between its cells, write a comma instead" if between else ""
        raise DataFileError(file, problem, first.line)
    names = [cell.strip() for cell in first.cells] if header else None
    columns = Columns(file, names, len(first.cells), roles, first.line if header else None)
    texts, begun = text_columns(columns, records if header else itertools.chain([first], records))
    if not begun and not columns.roles.may_be_empty:
        raise DataFileError(columns.file, "there is a header but no row of data", columns.header_line)
    numbers = [index for index in columns.features if index not in set(texts)]
    return Layout(columns, numbers, texts, begun[0].line if begun else first.line + 1), begun


def refuse_a_line_before_the_table(first: Record, file: str) -> None:
    """What spreadsheets and people write above the header, and what would become its names."""
    start = first.cells[0].strip().lower()
    if start.startswith("sep="):
        raise DataFileError(file, "the line tells a spreadsheet the delimiter; remove it", first.line)
    if start.startswith("#") and len(first.cells) == 1:
        raise DataFileError(file, "a comment is no part of a CSV file; remove the line", first.line)


def records_of(source: Source, file: str, delimiter: str = "") -> Generator[Record, None, None]:
    """The rows that are not empty; without a delimiter, the first line tells it."""
    with closing(lines_of(source)) as some_at_a_time:
        lines = itertools.chain.from_iterable(some_at_a_time)
        begun = []
        for line in lines:
            begun.append(line)
            if line.strip():
                break
        reader = csv.reader(itertools.chain(begun, lines), delimiter=delimiter or delimiter_of(begun), strict=True)
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


class Cells(NamedTuple):
    """The rows of a file: numbers, where each begins, weights, and the words of each column that is read as text."""

    X: NDArray[np.float64]
    lines: NDArray[np.int64]
    weights: NDArray[np.float64]
    words: dict[int, list[str]]


def cells_of(records: Iterator[Record], layout: Layout) -> Cells:
    """Cells to numbers; labels, weights, ids and categories apart."""
    columns, numbers = layout.columns, layout.numbers
    values, weights, lines = array("d"), array("d"), array("q")
    labels: set[str] = set()  # that were seen, and are none that say "missing"
    words: dict[int, list[str]] = {index: [] for index in layout.words}
    for record in records:
        refuse_other_widths(record, columns)
        line, cells = record
        for index, column in words.items():
            column.append(word_in(cells[index], index, columns, line, column, labels))
        if columns.weight is not None:
            weights.append(weight_in(cells[columns.weight], columns, line))
        row = [cells[index] for index in numbers]
        try:
            read = list(map(float, row))
        except ValueError:
            refuse_cells(row, numbers, columns, line)
            read = [float(cell) if is_number(cell) else math.nan for cell in row]
        if any("_" in cell for cell in row):
            refuse_cells(row, numbers, columns, line)
        values.extend(read)
        lines.append(line)
    X = np.array(values, dtype=np.float64).reshape(len(lines), len(numbers))
    return Cells(X, np.array(lines, dtype=np.int64), np.array(weights, dtype=np.float64), words)


def is_for_pyarrow(source: Source) -> bool:
    """Whether a source is a file that can be read twice, is large enough, and pyarrow is there."""
    if not isinstance(source, str | os.PathLike) or not os.path.isfile(source):
        return False
    return os.path.getsize(source) >= WORTH_IT and has_pyarrow()


def cells_by_pyarrow(source: Source, layout: Layout) -> Cells | None:
    """The same, where the whole file is plain; None where it is not."""
    try:
        pieces = list(csv_pieces(source, layout))
    except NotPlain:
        return None
    X = np.concatenate([piece.X for piece in pieces])
    weights = [piece.weights for piece in pieces if piece.weights is not None]
    return Cells(
        X,
        np.arange(layout.first_line, layout.first_line + len(X), dtype=np.int64),
        np.concatenate(weights) if weights else np.empty(0),
        {index: list(itertools.chain.from_iterable(piece.words[index] for piece in pieces)) for index in layout.words},
    )


def delimiter_in(source: Source) -> str:
    """That of the first line that is not empty."""
    with closing(lines_of(source)) as some_at_a_time:
        lines = itertools.chain.from_iterable(some_at_a_time)
        return delimiter_of([next((line for line in lines if line.strip()), "")])


def table_of(cells: Cells, layout: Layout) -> LabelledTable:
    columns, numbers, words = layout.columns, layout.numbers, cells.words
    refuse_what_is_not_finite(cells.X, numbers, columns, cells.lines)
    refuse_header_that_is_data(columns, words)
    return LabelledTable(
        cells.X,
        None if columns.label is None else labels_in(words[columns.label], columns.roles),
        columns.names_of(numbers),
        columns.label_name,
        cells.lines,
        None if columns.weight is None else cells.weights,
        None if columns.id is None else np.array(words[columns.id], dtype=str),
        {columns.name_of(index): columns.with_gaps(index, *words_and_gaps(words[index])) for index in layout.texts},
        {columns.name_of(index): part for index, part in columns.asked.items()},
        weight_name=columns.title_of(columns.weight),
        id_name=columns.title_of(columns.id),
        has_names=columns.names is not None,
        notes=columns.notes,
        ignored=columns.ignored,
    )


def labels_in(words: list[str], roles: Roles) -> NDArray[Any]:
    """Of a part they stay words: what they mean is told by those of all parts."""
    return np.array(words, dtype=str) if roles.is_part else labels_of(words, roles)


def labels_of(words: list[str], roles: Roles) -> NDArray[Any]:
    return whole_numbers_or_strings(words) if roles.classes is None else labels_like(words, roles.classes)


def whole_numbers_or_strings(labels: Sequence[str]) -> NDArray[Any]:
    """int64 where every label is a plain whole number, otherwise the strings.

    >>> whole_numbers_or_strings(["1", "+2", "3.0"]).tolist(), whole_numbers_or_strings(["007", "010"]).tolist()
    ([1, 2, 3], ['007', '010'])
    """
    numbers = {}
    for label in set(labels):
        if not is_number(label) or ZERO_IN_FRONT.match(label):
            return np.array(labels)
        number = float(label)
        if not (number.is_integer() and abs(number) < LARGEST_LABEL):
            return np.array(labels)
        numbers[label] = int(label) if label.lstrip("+-").isdecimal() else int(number)
    return np.array([numbers[label] for label in labels], dtype=np.int64)


def refuse_other_widths(record: Record, columns: Columns) -> None:
    found = len(record.cells)
    if found != columns.width:
        counted = f"{found} {'cell' if found == 1 else 'cells'}"
        raise DataFileError(columns.file, f"{counted}, where the first line has {columns.width}", record.line)


def text_columns(columns: Columns, records: Iterator[Record]) -> tuple[list[int], list[Record]]:
    """The features that hold text, by their first cell that is not missing; and the records that were read for it."""
    known = {index: columns.holds_text(index) for index in columns.features}
    begun: list[Record] = []
    for record in records:
        refuse_other_widths(record, columns)
        begun.append(record)
        for index in [index for index, told in known.items() if told is None]:
            cell = record.cells[index].strip()
            known[index] = None if cell.lower() in MISSING else not is_number(cell)
        if None not in known.values():
            break
    return [index for index, told in known.items() if told], begun


def words_and_gaps(words: list[str]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    cells = np.array(words, dtype=str)
    return cells, cells == ""


def word_in(cell: str, index: int, columns: Columns, line: int, before: list[str], labels: set[str]) -> str:
    """A label, an id (as it is, to the space), or a word; `before` are those of the rows above, `labels` the different
    ones of them in the column of labels."""
    word = cell.strip()
    if index == columns.label:
        if word not in labels and is_missing_label(word):
            raise DataFileError(columns.file, problem_of_missing_label(word), line, columns[index])
        labels.add(word)
    elif index == columns.id:
        if word == "":
            raise DataFileError(columns.file, "the id is missing; write it, or remove the row", line, columns[index])
        return cell
    elif word == "":
        if not columns.may_lack(index):
            raise MissingValueError(columns.file, EMPTY, line, columns[index])
    elif not columns.holds_text(index) and is_number(word):
        begun = next(filter(None, before), "")
        advice = advice_on(begun) or "say that it is categorical if it is"
        problem = f"{shortened(word)} is a number, but the column began with text, {shortened(begun)}; {advice}"
        raise DataFileError(columns.file, problem, line, columns[index])
    return word


def weight_in(cell: str, columns: Columns, line: int) -> float:
    weight = float(cell) if is_number(cell) else math.nan
    if not 0.0 <= weight < math.inf:
        problem = f"the weight {shortened(cell)} is not a number that is zero or more"
        raise DataFileError(columns.file, problem, line, columns[columns.weight or 0])
    return weight


def refuse_cells(cells: list[str], places: list[int], columns: Columns, line: int) -> None:
    """The error of the first cell that is not a number, nor missing where that is welcome."""
    for index, cell in zip(places, cells, strict=True):
        is_missing = cell.strip().lower() in MISSING
        if is_number(cell) or (is_missing and columns.roles.missing):
            continue
        problem = f"{shortened(cell)} is not a number"
        if is_missing:
            problem = f"{problem}; fill the cell in, or remove the line" if cell.strip() else EMPTY
            raise MissingValueError(columns.file, problem, line, columns[index])
        if (advice := advice_on(cell)) is not None:
            problem += f"; {advice}"
        elif columns.holds_text(index) is None:
            problem += "; say that the column is categorical if it is"
        raise DataFileError(columns.file, problem, line, columns[index])


def refuse_what_is_not_finite(
    X: NDArray[np.float64], places: list[int], columns: Columns, lines: NDArray[np.int64]
) -> None:
    finite = np.isfinite(X)
    if finite.all():
        return
    if columns.roles.missing:
        missing = np.isnan(X)
        for position, index in enumerate(places):
            columns.refuse_without_values(index, missing[:, position])
        finite |= missing
        if finite.all():
            return
    row, position = divmod(int(np.argmin(finite)), X.shape[1])
    place = int(lines[row]), columns[places[position]]
    if math.isnan(X[row, position]):
        raise MissingValueError(columns.file, "NaN is not a number; fill the cell in, or remove the line", *place)
    raise DataFileError(columns.file, "the number is infinite, or too large for 64 bits", *place)


def refuse_header_that_is_data(columns: Columns, words: dict[int, list[str]]) -> None:
    """A header of numbers whose label name is itself a label: the first row, about to be lost."""
    if columns.names is None or columns.label is None or columns.names[columns.label] not in set(words[columns.label]):
        return
    if count_numbers(columns.names) >= columns.width - 1:
        raise DataFileError(
            columns.file, "the header looks like a row of data: is there no header?", columns.header_line
        )
