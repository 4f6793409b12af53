"""Files that are read some rows at a time: what is a block of each format, and how one is read.

    .npy        so many rows, from a memory map
    Parquet     a row group
    Arrow       a record batch of an IPC file
    CSV         a range of bytes that begins and ends with a line
    svmlight    the same

A reader is small, can be pickled, and holds no file open; `read(k)` is the same rows whenever it is asked for. They are
checked as `read_table` checks a whole file, and whatever is wrong is named with its file and place.
"""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.data.table import Matrix
from maxmargin.reading.columns import Roles
from maxmargin.reading.csv import (
    Cells,
    cells_of,
    delimiter_in,
    labels_of,
    layout_of,
    records_of,
    refuse_what_is_not_finite,
)
from maxmargin.reading.csv_pieces import Layout, NotPlain, Reader, has_pyarrow, refuse_what_is_not_plain
from maxmargin.reading.files import DataFileError
from maxmargin.reading.frames import array_columns, arrow_columns, optional, table_of, unreadable_refused

LABELS_ALIKE = "the labels of some blocks are text, and of others numbers: write them alike"


class RowsRead(NamedTuple):
    """The rows of a block: features, labels as the file has them, weights."""

    X: Matrix
    labels: Any = None
    weights: NDArray[np.float64] | None = None
    names: tuple[str, ...] | None = None


class BlockReader(Protocol):
    """Files of one format, as blocks."""

    @property
    def n_blocks(self) -> int: ...

    def read(self, k: int, roles: Roles) -> RowsRead: ...

    def all_labels(self, parts: list[Any]) -> NDArray[Any]:
        """The labels of all blocks as one array, of one type."""


class TypedBlocks:
    """Blocks whose columns have a type."""

    def table(self, k: int) -> Any:
        raise NotImplementedError

    def read(self, k: int, roles: Roles) -> RowsRead:
        found = table_of(self.table(k), roles._replace(may_be_empty=True))
        if found.texts:
            raise DataFileError(
                self.table(k).file,
                "it is text: a table that is read by blocks holds numbers; encode it first, or ignore it",
                column=next(iter(found.texts)),
            )
        return RowsRead(found.X, found.y, found.weights, found.feature_names)

    def all_labels(self, parts: list[Any]) -> NDArray[Any]:
        kinds = {part.dtype.kind == "U" for part in parts if len(part)}
        if len(kinds) > 1:
            raise ValueError(LABELS_ALIKE)
        return np.concatenate(parts)


@dataclass(frozen=True)
class MappedRows(TypedBlocks):
    """A .npy file of two dimensions, or of fields with names: rows edges[k] to edges[k + 1]."""

    path: str
    edges: tuple[int, ...]

    @classmethod
    def of(cls, path: str, block_bytes: int) -> MappedRows:
        rows = mapped(path)
        height = max(1, block_bytes // max(1, rows.nbytes // max(1, len(rows))))
        return cls(path, (*range(0, len(rows), height), len(rows)))

    @property
    def n_blocks(self) -> int:
        return len(self.edges) - 1

    def table(self, k: int) -> Any:
        start, stop = self.edges[k : k + 2]
        return array_columns(f"{self.path}, rows from {start} on", np.array(mapped(self.path)[start:stop]))


def mapped(path: str) -> NDArray[Any]:
    with unreadable_refused(path, ".npy"):
        found: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return found


@dataclass(frozen=True)
class ParquetGroups(TypedBlocks):
    """The row groups of one or several files, in their order."""

    groups: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, paths: Sequence[str]) -> ParquetGroups:
        return cls(tuple((path, group) for path in paths for group in range(opened(path).num_row_groups)))

    @property
    def n_blocks(self) -> int:
        return len(self.groups)

    def table(self, k: int) -> Any:
        path, group = self.groups[k]
        place = f"{path}, row group {group}"
        with unreadable_refused(place, "Parquet"):
            rows = opened(path).read_row_group(group, use_threads=False)
        return arrow_columns(place, rows)

    def largest(self) -> tuple[int, str]:
        """How many bytes the largest block has as float64, and where it is."""
        sizes = [
            (opened(path).metadata.row_group(group).num_rows * opened(path).metadata.num_columns * 8, path, group)
            for path, group in self.groups
        ]
        size, path, group = max(sizes)
        return size, f"row group {group} of {path}"


def opened(path: str) -> Any:
    with unreadable_refused(path, "Parquet"):
        return optional("pyarrow.parquet").ParquetFile(path)


@dataclass(frozen=True)
class ArrowBatches(TypedBlocks):
    """The record batches of one or several Arrow IPC files (Feather), in their order."""

    batches: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, paths: Sequence[str]) -> ArrowBatches:
        found = []
        for path in paths:
            with unreadable_refused(path, "Arrow"), optional("pyarrow").memory_map(path) as content:
                count = optional("pyarrow.ipc").open_file(content).num_record_batches
            found += [(path, number) for number in range(count)]
        return cls(tuple(found))

    @property
    def n_blocks(self) -> int:
        return len(self.batches)

    def table(self, k: int) -> Any:
        path, number = self.batches[k]
        place = f"{path}, record batch {number}"
        pyarrow = optional("pyarrow")
        with unreadable_refused(place, "Arrow"), pyarrow.memory_map(path) as content:
            rows = pyarrow.Table.from_batches([optional("pyarrow.ipc").open_file(content).get_batch(number)])
        return arrow_columns(place, rows)


class ByteRange(NamedTuple):
    """Whole lines of a file, the first of which is number `line`."""

    path: str
    start: int
    stop: int
    line: int

    def content(self) -> bytes:
        with open(self.path, "rb") as file:
            file.seek(self.start)
            found = file.read(self.stop - self.start)
        if len(found) < self.stop - self.start:
            raise DataFileError(self.path, "the file has become shorter since it was first read", self.line)
        return found if found.endswith(b"\n") else found + b"\n"


def ranges_of(path: str, block_bytes: int, start: int = 0, line: int = 1) -> Iterator[ByteRange]:
    """A file in ranges of about so many bytes, from `start` on, which is the beginning of a line."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        while start < size:
            file.seek(start)
            content = file.read(block_bytes)
            stop = start + len(content)
            if stop < size and not content.endswith(b"\n"):
                content += file.readline()
                stop = start + len(content)
            yield ByteRange(path, start, stop, line)
            start, line = stop, line + content.count(b"\n")


@contextmanager
def lines_counted_from(before: int) -> Iterator[None]:
    """Errors about a part of a file, with the line of the file."""
    try:
        yield
    except DataFileError as error:
        line = None if error.line is None else error.line + before
        raise type(error)(error.file, error.problem, line, error.column, error.character, error.row) from None


def layout_in(path: str, roles: Roles, header: bool) -> Layout:
    with closing(records_of(path, path)) as records:
        layout, _ = layout_of(records, path, roles, header)
    return layout._replace(delimiter=delimiter_in(path))


@dataclass(frozen=True)
class CsvRanges:
    """CSV files with the same header. By pyarrow where a range is plain, otherwise in Python: a quote does not go over
    the end of a line here."""

    ranges: tuple[ByteRange, ...]
    layout: Layout

    @classmethod
    def of(cls, paths: Sequence[str], block_bytes: int, roles: Roles, header: bool) -> CsvRanges:
        found: list[ByteRange] = []
        layouts = [layout_in(path, roles, header) for path in paths]
        for path, layout in zip(paths, layouts, strict=True):
            if layout.columns.names != layouts[0].columns.names or layout.numbers != layouts[0].numbers:
                raise DataFileError(path, f"its columns are not those of {paths[0]}")
            if layout.texts:
                raise DataFileError(
                    path,
                    "it is text: a table that is read by blocks holds numbers; encode it first, or ignore it",
                    column=layout.columns[layout.texts[0]],
                )
            with open(path, "rb") as file:
                start = sum(len(line) for line in itertools.islice(file, layout.first_line - 1))
            found += ranges_of(path, block_bytes, start, layout.first_line)
        return cls(tuple(found), layouts[0])

    @property
    def n_blocks(self) -> int:
        return len(self.ranges)

    def read(self, k: int, roles: Roles) -> RowsRead:
        part, layout = self.ranges[k], self.layout
        cells = self.cells(part)
        refuse_what_is_not_finite(cells.X, layout.numbers, layout.columns, cells.lines)
        label = layout.columns.label
        return RowsRead(
            cells.X,
            None if label is None else cells.words[label],
            None if layout.columns.weight is None else cells.weights,
            tuple(layout.columns.name_of(index) for index in layout.numbers),
        )

    def cells(self, part: ByteRange) -> Cells:
        content, layout = part.content(), self.layout
        try:
            if not has_pyarrow():
                raise NotPlain("without pyarrow")
            refuse_what_is_not_plain(content, layout.delimiter)
            piece = Reader(layout).read(content, part.line)
        except NotPlain:
            with lines_counted_from(part.line - 1):
                cells = cells_of(records_of(io.BytesIO(content), part.path, layout.delimiter), layout)
            return cells._replace(lines=cells.lines + part.line - 1)
        lines = np.arange(part.line, part.line + len(piece.X), dtype=np.int64)
        return Cells(piece.X, lines, np.empty(0) if piece.weights is None else piece.weights, piece.words)

    def all_labels(self, parts: list[Any]) -> NDArray[Any]:
        return labels_of(list(itertools.chain.from_iterable(parts)), self.layout.columns.roles)


@dataclass(frozen=True)
class SvmlightRanges:
    """Sparse files, whose indices are counted as `zero_based` says, up to n_features."""

    ranges: tuple[ByteRange, ...]
    n_features: int
    zero_based: bool

    @classmethod
    def of(cls, paths: Sequence[str], block_bytes: int, n_features: int | None, zero_based: Any) -> SvmlightRanges:
        from maxmargin.reading.svmlight import MOST_COLUMNS, check_counting
        from maxmargin.reading.svmlight_rows import rows_of_piece  # the compiler with it

        check_counting(paths[0], n_features, zero_based)
        ranges = tuple(part for path in paths for part in ranges_of(path, block_bytes))
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
    def n_blocks(self) -> int:
        return len(self.ranges)

    def read(self, k: int, roles: Roles) -> RowsRead:
        return sparse_rows(self.ranges[k], self.n_features, self.zero_based)

    def all_labels(self, parts: list[Any]) -> NDArray[Any]:
        from maxmargin.reading.svmlight import whole_numbers_or_floats

        return whole_numbers_or_floats(np.concatenate(parts))


def sparse_rows(part: ByteRange, n_features: int | None, zero_based: bool) -> RowsRead:
    from maxmargin.reading.svmlight import assemble, checked_pieces, joined

    text = io.BytesIO(part.content())
    with lines_counted_from(part.line - 1):
        entries = joined(part.path, checked_pieces(text, part.path, any_order=False))
        if not len(entries.lines):
            return RowsRead(sparse.csr_array((0, n_features or 0)), np.empty(0))
        return RowsRead(assemble(entries, n_features, zero_based).X, entries.labels)
