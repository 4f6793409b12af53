"""CSV files by pyarrow, some lines at a time: the cells that `csv.py` would read, ten times as fast.

A piece of about 1 MB ends with a line, and goes to pyarrow with the type of each column. pyarrow rounds correctly, as
Python does, so the numbers have the same bits. But it is more generous than we are about quotes and empty lines, knows
no lines, and says less about what is wrong. So it reads plain pieces alone, where nothing can be read in two ways:

    every line is one row, and ends with \\n or \\r\\n
    a quote begins a cell or ends it, and is never inside of one
    numbers are finite, or missing where that is welcome; labels and words are none that `csv.py` would look at twice

Whatever else it meets, or cannot read, is `NotPlain`: then `csv.py` reads the file from its beginning, in Python, and
accepts it or says in which line and column it is wrong.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.reading.columns import MISSING, Layout, is_missing_label, is_number
from maxmargin.reading.files import Source, pieces_of

NEWLINE, QUOTE, RETURN = b'\n"\r'


class NotPlain(Exception):
    """The piece may be right or wrong, and another reader decides."""


class Piece(NamedTuple):
    """Rows one after the other, the first of which is in line `line`: numbers, weights, and words by their column."""

    line: int
    X: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    words: dict[int, list[str]]


def has_pyarrow() -> bool:
    return importlib.util.find_spec("pyarrow") is not None


def csv_pieces(source: Source, layout: Layout) -> Iterator[Piece]:
    """The rows of a file, piece by piece; `NotPlain` where another reader must look."""
    reader = Reader(layout)
    line, skip = 1, layout.first_line - 1
    pieces = itertools.chain(pieces_of(source), [b""])
    for piece, after in itertools.pairwise(pieces):
        refuse_what_is_not_plain(piece, layout.delimiter)
        ends = piece.count(b"\n")
        if skip >= ends:  # all of it is before the first row
            line, skip = line + ends, skip - ends
            continue
        for _ in range(skip):
            piece = piece[piece.index(b"\n") + 1 :]
        yield reader.read(piece if after else piece.rstrip(b"\r\n") + b"\n", line + skip)
        line, skip = line + ends, 0


class Reader:
    """pyarrow, told once what the columns are."""

    def __init__(self, layout: Layout) -> None:
        self.layout, columns = layout, layout.columns
        self.csv, self.pyarrow = importlib.import_module("pyarrow.csv"), importlib.import_module("pyarrow")
        self.floats = [*layout.numbers, *([] if columns.weight is None else [columns.weight])]
        used = [*self.floats, *layout.words]
        self.names = [str(index) for index in range(columns.width)]
        self.parse = self.csv.ParseOptions(delimiter=layout.delimiter, double_quote=False, ignore_empty_lines=False)
        spelled = {spelling for word in MISSING for spelling in (word, word.upper(), word.capitalize())} | {"NaN"}
        self.convert = self.csv.ConvertOptions(
            check_utf8=False,  # it was looked at before
            column_types={
                **{str(index): self.pyarrow.float64() for index in self.floats},
                **{str(index): self.pyarrow.string() for index in layout.words},
            },
            include_columns=[str(index) for index in used],
            null_values=sorted(spelled) if columns.roles.missing else [],
            strings_can_be_null=False,
        )

    def read(self, piece: bytes, line: int) -> Piece:
        options = self.csv.ReadOptions(column_names=self.names, use_threads=False, block_size=len(piece) + 1)
        content = self.pyarrow.BufferReader(piece)
        try:
            table = self.csv.read_csv(content, options, self.parse, self.convert)
        except self.pyarrow.ArrowInvalid as error:
            raise NotPlain(str(error)) from None
        if table.num_rows != piece.count(b"\n"):
            raise NotPlain("a line is not a row")
        columns = self.layout.columns
        numbers = np.empty((table.num_rows, len(self.layout.numbers)))
        for place, index in enumerate(self.layout.numbers):
            numbers[:, place] = table.column(str(index)).to_numpy()
        if not np.isfinite(numbers).all() and not (columns.roles.missing and not np.isinf(numbers).any()):
            raise NotPlain("a number is not finite")
        weights = None if columns.weight is None else np.array(table.column(str(columns.weight)).to_numpy())
        if weights is not None and not (np.isfinite(weights) & (weights >= 0.0)).all():
            raise NotPlain("a weight is not a number that is zero or more")
        words = {index: self.words_of(table.column(str(index)), index) for index in self.layout.words}
        return Piece(line, numbers, weights, words)

    def words_of(self, column: Any, index: int) -> list[str]:
        """As `csv.word_in` has them; each different word is looked at once."""
        encoded = column.combine_chunks().dictionary_encode()
        different, columns = encoded.dictionary.to_pylist(), self.layout.columns
        if index == columns.id:
            if any(word.strip() == "" for word in different):
                raise NotPlain("an id is missing")
        else:
            different = [word.strip() for word in different]
            if index == columns.label:
                doubtful = any(map(is_missing_label, different))
            else:
                doubtful = "" in different and not columns.may_lack(index)
                doubtful |= not columns.holds_text(index) and any(map(is_number, different))
            if doubtful:
                raise NotPlain("a word is missing, or is a number")
        return [different[code] for code in encoded.indices.to_pylist()]


def refuse_what_is_not_plain(piece: bytes, delimiter: str) -> None:
    if b"\0" in piece:
        raise NotPlain("a NUL byte")
    if not piece.isascii():
        try:
            piece.decode("utf-8")
        except UnicodeDecodeError as error:
            raise NotPlain(str(error)) from None
    if b"\r" in piece and piece.count(b"\r") != piece.count(b"\r\n"):
        raise NotPlain("a return without a new line")
    if b'"' in piece and not quotes_are_around_cells(piece, delimiter):
        raise NotPlain("a quote inside of a cell")


def quotes_are_around_cells(piece: bytes, delimiter: str) -> bool:
    """Whether quotes open and close in turn, after and before the end of a cell.

    >>> quotes_are_around_cells(b'"a b",1\\n"c,d",2\\n', ","), quotes_are_around_cells(b'"a""b",1\\n', ",")
    (True, False)
    """
    text = np.frombuffer(b"\n" + piece, dtype=np.uint8)
    quotes = np.flatnonzero(text == QUOTE)
    before, after = text[quotes[::2] - 1], text[quotes[1::2] + 1]
    mark = ord(delimiter)
    opened = (before == mark) | (before == NEWLINE)
    closed = (after == mark) | (after == NEWLINE) | (after == RETURN)
    return len(quotes) % 2 == 0 and bool(opened.all()) and bool(closed.all())
