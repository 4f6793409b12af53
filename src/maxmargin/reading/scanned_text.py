"""Text that is read some lines at a time: CSV and SVMlight files, in ranges of bytes that begin and end with a line.

Where the ranges begin is found without reading the files. So nobody knows in which line one begins: that is counted
where something is wrong, and told.
"""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.reading.columns import LabelledTable, Layout, Roles
from maxmargin.reading.csv import Cells, cells_of, delimiter_in, labels_of, layout_of, records_of, table_of
from maxmargin.reading.csv_pieces import NotPlain, Reader, has_pyarrow, refuse_what_is_not_plain
from maxmargin.reading.files import BYTE_ORDER_MARK, PIECE, DataFileError
from maxmargin.reading.scanned_blocks import BESIDE_A_ROW, SHORTER, refuse_other_columns

TEXT_IN_NUMBERS = 2  # how many bytes of memory a byte of text becomes, at least
ENTRY_IN_NUMBERS = 3  # and one of an SVMlight file, at most: 1:1 and a space are a number and its index
FIRST_LINES = 2**16  # bytes


class ByteRange(NamedTuple):
    """Whole lines of a file."""

    path: str
    start: int
    stop: int

    def content(self) -> bytes:
        with open(self.path, "rb") as file:
            file.seek(self.start)
            found = file.read(self.stop - self.start)
        if len(found) < self.stop - self.start:
            raise DataFileError(self.path, SHORTER)
        found = found if self.start else found.removeprefix(BYTE_ORDER_MARK.encode())
        return found if found.endswith(b"\n") else found + b"\n"

    def lines_before(self) -> int:
        with open(self.path, "rb") as file:
            starts = range(0, self.start, PIECE)
            return sum(file.read(min(PIECE, self.start - start)).count(b"\n") for start in starts)


def ranges_of(path: str, block_bytes: int, start: int = 0) -> Iterator[ByteRange]:
    """A file in ranges of about so many bytes, from `start` on, which is the beginning of a line."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        while start < size:
            stop = min(size, start + block_bytes)
            if stop < size:
                file.seek(stop - 1)
                file.readline()
                stop = file.tell()
            yield ByteRange(path, start, stop)
            start = stop


def text_of_a_block(path: str, start: int, block_bytes: int, numbers: float, of_text: float = 0.0) -> int:
    """How many bytes of text are a block of so many bytes in memory, if its lines are as long as the first ones: a row
    takes `numbers` bytes, and `of_text` for each byte of its line."""
    with open(path, "rb") as file:
        file.seek(start)
        first = file.read(FIRST_LINES)
    line = len(first) / max(1, first.count(b"\n"))
    row = max(TEXT_IN_NUMBERS * line, numbers + of_text * line + BESIDE_A_ROW)
    return max(1, int(block_bytes * line / row))


@contextmanager
def told_of(part: ByteRange) -> Iterator[None]:
    """Errors about a part of a file, with its name and the line of the file."""
    try:
        yield
    except DataFileError as error:
        line = None if error.line is None else error.line + part.lines_before()
        raise type(error)(part.path, error.problem, line, error.column, error.character, error.row) from None


class TextBlocks:
    """Blocks that are ranges of text."""

    ranges: tuple[ByteRange, ...]
    heights = None

    @property
    def n_blocks(self) -> int:
        return len(self.ranges)

    @property
    def cut(self) -> list[Any]:
        return [[part.start, part.stop] for part in self.ranges]

    def file_of(self, k: int) -> str:
        return self.ranges[k].path

    def read(self, k: int) -> LabelledTable:
        raise NotImplementedError

    def line_of(self, k: int, row: int) -> int:
        return self.ranges[k].lines_before() + int(self.read(k).lines[row])


@dataclass(frozen=True)
class CsvRanges(TextBlocks):
    """CSV files with the same header. By pyarrow where a range is plain, otherwise in Python: a quote does not go over
    the end of a line here."""

    ranges: tuple[ByteRange, ...]
    layout: Layout

    @classmethod
    def of(cls, paths: Sequence[str], block_bytes: int, roles: Roles, header: bool) -> CsvRanges:
        ranges: list[ByteRange] = []
        filled: tuple[str, Layout] | None = None
        roles = roles._replace(is_part=True, may_be_empty=True)
        for path in paths:
            if not header and not os.path.getsize(path):
                continue
            layout, has_rows = layout_in(path, roles, header)
            if filled is not None and (has_rows or layout.columns.names != filled[1].columns.names):
                refuse_other_columns(path, head_of(layout), filled[0], head_of(filled[1]))
            if not has_rows:  # its columns have no kind yet
                continue
            filled = filled or (path, layout)
            with open(path, "rb") as file:
                start = sum(len(line) for line in itertools.islice(file, layout.first_line - 1))
            ranges += ranges_of(path, text_of_a_block(path, start, block_bytes, 8.0 * len(layout.numbers)), start)
        if filled is None:
            raise DataFileError(paths[0], "there is no row")
        return cls(tuple(ranges), filled[1])

    @property
    def head(self) -> LabelledTable:
        return head_of(self.layout)

    def read(self, k: int) -> LabelledTable:
        part = self.ranges[k]
        with told_of(part):
            return table_of(self.cells(part), self.layout)

    def cells(self, part: ByteRange) -> Cells:
        content, layout = part.content(), self.layout
        try:
            if not has_pyarrow():
                raise NotPlain("without pyarrow")
            refuse_what_is_not_plain(content, layout.delimiter)
            piece = Reader(layout).read(content, 1)
        except NotPlain:
            return cells_of(records_of(io.BytesIO(content), part.path, layout.delimiter), layout)
        lines = np.arange(1, len(piece.X) + 1, dtype=np.int64)
        return Cells(piece.X, lines, np.empty(0) if piece.weights is None else piece.weights, piece.words)

    def meant(self, labels: NDArray[Any]) -> NDArray[Any]:
        return labels_of(labels.tolist(), self.layout.columns.roles)


def layout_in(path: str, roles: Roles, header: bool) -> tuple[Layout, bool]:
    """What the columns are, and whether there is a row."""
    with closing(records_of(path, path)) as records:
        layout, begun = layout_of(records, path, roles, header)
    return layout._replace(delimiter=delimiter_in(path)), bool(begun)


def head_of(layout: Layout) -> LabelledTable:
    words: dict[int, list[str]] = {index: [] for index in layout.words}
    cells = Cells(np.empty((0, len(layout.numbers))), np.empty(0, np.int64), np.empty(0), words)
    return table_of(cells, layout)


@dataclass(frozen=True)
class SvmlightRanges(TextBlocks):
    """Sparse files, whose indices are counted as `zero_based` says, up to n_features."""

    ranges: tuple[ByteRange, ...]
    n_features: int
    zero_based: bool

    @classmethod
    def of(cls, paths: Sequence[str], block_bytes: int, n_features: int | None, zero_based: Any) -> SvmlightRanges:
        from maxmargin.reading.svmlight import MOST_COLUMNS, check_counting
        from maxmargin.reading.svmlight_rows import rows_of_piece  # the compiler with it

        check_counting(paths[0], n_features, zero_based)
        sizes = [text_of_a_block(path, 0, block_bytes, 8.0, ENTRY_IN_NUMBERS) for path in paths]
        ranges = tuple(part for path, size in zip(paths, sizes, strict=True) for part in ranges_of(path, size))
        if n_features is not None and zero_based != "auto":
            return cls(ranges, n_features, bool(zero_based))
        smallest, largest, widest = 1, 0, 0
        for k, part in enumerate(ranges):  # how they are counted is known when all of them are seen
            rows = rows_of_piece(part.content(), any_order=False)
            widest = k if rows.largest > largest else widest
            smallest, largest = min(smallest, rows.smallest), max(largest, rows.largest)
        from_zero = smallest == 0 if zero_based == "auto" else bool(zero_based)
        width = largest + from_zero if n_features is None else n_features
        if width == 0:
            raise DataFileError(paths[0], "no row has an entry, so there is no column")
        if n_features is None and width > MOST_COLUMNS:
            sparse_rows(ranges[widest], None, from_zero)  # refuses the index, with its line
        return cls(ranges, width, from_zero)

    @property
    def head(self) -> LabelledTable:
        X = sparse.csr_array((0, self.n_features))
        return LabelledTable(X, np.empty(0), None, None, np.empty(0, np.int64), zero_based=self.zero_based)

    def read(self, k: int) -> LabelledTable:
        return sparse_rows(self.ranges[k], self.n_features, self.zero_based)

    def meant(self, labels: NDArray[Any]) -> NDArray[Any]:
        from maxmargin.reading.svmlight import whole_numbers_or_floats

        return whole_numbers_or_floats(labels)


def sparse_rows(part: ByteRange, n_features: int | None, zero_based: bool) -> LabelledTable:
    from maxmargin.reading.svmlight import assemble, checked_pieces, joined

    text = io.BytesIO(part.content())
    with told_of(part):
        entries = joined(part.path, checked_pieces(text, part.path, any_order=False))
        if not len(entries.lines):
            X, lines = sparse.csr_array((0, n_features or 0)), np.empty(0, np.int64)
            return LabelledTable(X, np.empty(0), None, None, lines, zero_based=zero_based)
        X = assemble(entries, n_features, zero_based).X
        return LabelledTable(X, entries.labels, None, None, entries.lines, zero_based=zero_based)
