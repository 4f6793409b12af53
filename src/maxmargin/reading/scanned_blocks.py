"""Files that are read some rows at a time: what is a block of each format, and how one is read.

    .npy        so many rows, from their place in the file
    Parquet     a row group
    Arrow       a record batch of an IPC file
    CSV         a range of bytes that begins and ends with a line (`scanned_text.py`)
    svmlight    the same

A reader is small, can be pickled, and holds no file open; `read(k)` is the same rows whenever it is asked for. They are
checked as `read_table` checks a whole file, and whatever is wrong is named with its file and place. To make a reader,
no row need be read: what the columns are is told by the head of a file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import RawIOBase
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from maxmargin.reading.columns import LabelledTable, Roles, listed
from maxmargin.reading.files import DataFileError
from maxmargin.reading.frames import (
    FLOATS,
    TypedColumns,
    array_columns,
    arrow_columns,
    optional,
    table_of,
    unreadable_refused,
)

AT_ONCE = 2**17  # bytes of the rows that are read into the cache and cut there
SHORTER = "the file has become shorter since it was first read"
BESIDE_A_ROW = (
    44  # bytes: a fourth of what labels, codes, signs, prices and slopes of a row take, as blocks are counted
)


class BlockReader(Protocol):
    """Files of one format, as blocks.

    head       the columns: a table without rows
    heights    how many rows each block has, if that is known before they are read
    cut        what makes the blocks, in plain values
    """

    @property
    def n_blocks(self) -> int: ...

    @property
    def head(self) -> LabelledTable: ...

    @property
    def heights(self) -> tuple[int, ...] | None: ...

    @property
    def cut(self) -> list[Any]: ...

    def file_of(self, k: int) -> str: ...

    def line_of(self, k: int, row: int) -> int:
        """In which line of its file a row of a block begins; where there are no lines, which row it is, from 1."""

    def read(self, k: int) -> LabelledTable: ...

    def meant(self, labels: NDArray[Any]) -> NDArray[Any]:
        """What the labels of the blocks mean, of which these are all the different ones: words, or numbers."""


class Block(NamedTuple):
    """Rows of a file: a row group, a record batch, or those from `number` on; `rows` of them, if that is known."""

    file: str
    number: int
    rows: int | None = None


class TypedBlocks:
    """Blocks whose columns have a type."""

    blocks: tuple[Block, ...]
    roles: Roles
    head: LabelledTable
    what: str  # a block is

    @property
    def n_blocks(self) -> int:
        return len(self.blocks)

    @property
    def heights(self) -> tuple[int, ...] | None:
        known = tuple(block.rows for block in self.blocks if block.rows is not None)
        return known if len(known) == len(self.blocks) else None

    @property
    def cut(self) -> list[Any]:
        return [[block.number, block.rows] for block in self.blocks]

    def file_of(self, k: int) -> str:
        return self.blocks[k].file

    def place(self, block: Block) -> str:
        return f"{block.file}, {self.what} {block.number}"

    def line_of(self, k: int, row: int) -> int:
        before = [j for j in range(k) if self.blocks[j].file == self.blocks[k].file]
        known = [self.blocks[j].rows for j in before]
        return (
            1
            + row
            + sum(len(self.read(j).lines) if rows is None else rows for j, rows in zip(before, known, strict=True))
        )

    def columns(self, block: Block) -> TypedColumns:
        raise NotImplementedError

    def read(self, k: int) -> LabelledTable:
        return table_of(self.columns(self.blocks[k]), self.roles)

    def meant(self, labels: NDArray[Any]) -> NDArray[Any]:
        return labels


def head_of(columns: TypedColumns, roles: Roles) -> LabelledTable:
    return table_of(columns, roles._replace(may_be_empty=True, missing=True))


def kinds_of(head: LabelledTable) -> dict[str, str]:
    """Of each feature what a model remembers: it is a number, a category or text."""
    texts = {name: head.asked.get(name, "category") for name in head.texts}
    return dict.fromkeys(head.feature_names or (), "number") | texts


def settled(roles: Roles, heads: Sequence[tuple[str, LabelledTable]]) -> tuple[Roles, LabelledTable]:
    """The columns of all files, which must be alike; and roles by which each block is read as the others are."""
    first, head = heads[0]
    for file, other in heads[1:]:
        refuse_other_columns(file, other, first, head)
    expected = kinds_of(head) if roles.expected is None else roles.expected
    return roles._replace(expected=expected, may_be_empty=True), head


def refuse_other_columns(file: str, other: LabelledTable, first: str, head: LabelledTable) -> None:
    """A sentence where two files are no parts of one table."""
    known, found = kinds_of(head), kinds_of(other)
    lacking = [name for name in known if name not in found]
    more = [name for name in found if name not in known]
    if lacking or more:
        told = f"it has no column {listed(lacking)}" if lacking else f"it has a column {listed(more)}"
        raise DataFileError(file, f"its columns are not those of {first}: {told}")
    for name, kind in known.items():
        if kind != found[name]:
            raise DataFileError(file, f"it holds {said(found[name])}, and in {first} {said(kind)}", column=name)
    if list(known) != list(found):
        raise DataFileError(file, f"its columns are those of {first}, but in another order")
    if (head.y is None) is not (other.y is None):
        raise DataFileError(file, f"its columns are not those of {first}: one has labels, the other has none")
    if head.y is not None and (head.y.dtype.kind == "U") is not (other.y.dtype.kind == "U"):
        kinds = ("text", "numbers") if other.y.dtype.kind == "U" else ("numbers", "text")
        raise DataFileError(
            file,
            f"its labels are {kinds[0]}, and those of {first} {kinds[1]}: write them alike",
            column=head.label_name,
        )


def said(kind: str) -> str:
    return "numbers" if kind == "number" else "text"


@dataclass(frozen=True)
class NpyRows(TypedBlocks):
    """.npy files of two dimensions, or of fields with names: so many rows a block, from their place in the file."""

    blocks: tuple[Block, ...]
    layouts: dict[str, Layout]
    roles: Roles
    head: LabelledTable
    what: str = "rows from"

    @classmethod
    def of(cls, paths: Sequence[str], block_bytes: int, roles: Roles) -> NpyRows:
        layouts = {path: layout_of(path) for path in paths}
        heads = [(path, head_of(array_columns(path, layouts[path].empty), roles)) for path in paths]
        blocks: list[Block] = []
        for path, layout in layouts.items():
            height = max(1, block_bytes // (layout.row_bytes + BESIDE_A_ROW))
            blocks += [
                Block(path, start, min(height, layout.n_rows - start)) for start in range(0, layout.n_rows, height)
            ]
        return cls(tuple(blocks), layouts, *settled(roles, heads))

    def columns(self, block: Block) -> TypedColumns:
        assert block.rows is not None
        layout = self.layouts[block.file]
        if layout.is_plain:
            return PlainRows(layout, block.file, block.number, block.rows).columns(self.place(block))
        return array_columns(self.place(block), layout.rows(block.file, block.number, block.rows))


class Layout(NamedTuple):
    """Where the numbers of a .npy file are, and how they are written."""

    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_columns: bool

    @property
    def n_rows(self) -> int:
        return self.shape[0] if self.shape else 0

    @property
    def width(self) -> int:
        return self.shape[1] if len(self.shape) == 2 else 1

    @property
    def row_bytes(self) -> int:
        return self.dtype.itemsize * self.width

    @property
    def is_plain(self) -> bool:
        """Floats, row by row."""
        return len(self.shape) == 2 and not self.by_columns and self.dtype in FLOATS

    @property
    def empty(self) -> NDArray[Any]:
        return np.empty((0, *self.shape[1:]), self.dtype)

    def rows(self, path: str, start: int, count: int) -> NDArray[Any]:
        """Read and not mapped: a file that becomes shorter would kill a process that has mapped it."""
        if not self.by_columns:
            return self.numbers(path, start * self.width, count * self.width).reshape(count, *self.shape[1:])
        columns = [self.numbers(path, column * self.n_rows + start, count) for column in range(self.width)]
        return np.stack(columns, axis=1) if columns else np.empty((count, 0), self.dtype)

    def numbers(self, path: str, first: int, count: int) -> NDArray[Any]:
        found = np.fromfile(path, self.dtype, count, offset=self.offset + first * self.dtype.itemsize)
        if len(found) < count:
            raise DataFileError(path, SHORTER)
        return found


class PlainRows:
    """Rows of a matrix of floats, cut as they are read: the features, and beside them the other columns.

    Some rows at a time go through a small buffer. To read all and cut then would take twice the memory; and what is new
    to a process costs it more than what is read into it.
    """

    def __init__(self, layout: Layout, path: str, start: int, count: int) -> None:
        self.layout, self.path, self.start, self.count = layout, path, start, count
        self.apart: dict[int, NDArray[Any]] = {}

    def columns(self, place: str) -> TypedColumns:
        return TypedColumns(place, None, self.layout.width, self.column, together=self.together)

    def together(self, first: int, last: int) -> NDArray[Any]:
        layout, count = self.layout, self.count
        X = np.empty((count, last + 1 - first), layout.dtype)
        self.apart = {
            index: np.empty(count, layout.dtype) for index in range(layout.width) if not first <= index <= last
        }
        height = max(1, AT_ONCE // layout.row_bytes)
        buffer = np.empty((min(height, count), layout.width), layout.dtype)
        with open(self.path, "rb", buffering=0) as file:
            file.seek(layout.offset + self.start * layout.row_bytes)
            for begin in range(0, count, height):
                rows, end = buffer[: count - begin], min(count, begin + height)
                fill(file, rows, self.path)
                X[begin:end] = rows[:, first : last + 1]
                for index, values in self.apart.items():
                    values[begin:end] = rows[:, index]
        return X

    def column(self, index: int) -> NDArray[Any]:
        if index not in self.apart:  # of features that are to be looked at one by one
            whole = self.layout.rows(self.path, self.start, self.count)
            self.apart = dict(enumerate(whole.T))
        return self.apart[index]


def fill(file: RawIOBase, rows: NDArray[Any], path: str) -> None:
    """From the file; a system may give less than was asked for."""
    wanted = rows.data.cast("B")
    while len(wanted):
        count = file.readinto(wanted)
        if not count:
            raise DataFileError(path, SHORTER)
        wanted = wanted[count:]


def layout_of(path: str) -> Layout:
    with unreadable_refused(path, ".npy"):
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    if mapped.ndim != 2 and not (mapped.ndim == 1 and mapped.dtype.names):
        raise DataFileError(path, f"the array has the shape {mapped.shape}; a table has two dimensions")
    by_columns = mapped.ndim == 2 and not mapped.flags.c_contiguous
    return Layout(int(mapped.offset), mapped.shape, mapped.dtype, by_columns)


@dataclass(frozen=True)
class ParquetGroups(TypedBlocks):
    """The row groups of one or several files, in their order."""

    blocks: tuple[Block, ...]
    roles: Roles
    head: LabelledTable
    what: str = "row group"

    @classmethod
    def of(cls, paths: Sequence[str], roles: Roles) -> ParquetGroups:
        heads, blocks = [], []
        for path in paths:
            file = opened(path)
            with unreadable_refused(path, "Parquet"):
                empty, count = file.schema_arrow.empty_table(), file.num_row_groups
                blocks += [Block(path, group, file.metadata.row_group(group).num_rows) for group in range(count)]
            heads.append((path, head_of(arrow_columns(path, empty), roles)))
        return cls(tuple(blocks), *settled(roles, heads))

    def columns(self, block: Block) -> TypedColumns:
        place = self.place(block)
        with unreadable_refused(place, "Parquet"):
            rows = opened(block.file).read_row_group(block.number, use_threads=False)
        return arrow_columns(place, rows)

    def largest(self) -> tuple[int, str]:
        """How many bytes the largest block has as float64, and where it is."""
        block = max(self.blocks, key=lambda block: block.rows or 0)
        width = self.head.X.shape[1] + len(self.head.texts)
        return (block.rows or 0) * width * 8, f"row group {block.number} of {block.file}"


def opened(path: str) -> Any:
    with unreadable_refused(path, "Parquet"):
        found = os.stat(path)
        return optional("pyarrow.parquet").ParquetFile(path, metadata=footer_of(path, found.st_size, found.st_mtime_ns))


@lru_cache(maxsize=1)  # blocks come file by file, and what a file tells of all its groups is long
def footer_of(path: str, size: int, time: int) -> Any:
    """What a file of this size and this time tells of its row groups."""
    return optional("pyarrow.parquet").read_metadata(path)


@dataclass(frozen=True)
class ArrowBatches(TypedBlocks):
    """The record batches of one or several Arrow IPC files (Feather), in their order."""

    blocks: tuple[Block, ...]
    roles: Roles
    head: LabelledTable
    what: str = "record batch"

    @classmethod
    def of(cls, paths: Sequence[str], roles: Roles) -> ArrowBatches:
        heads, blocks = [], []
        for path in paths:
            with unreadable_refused(path, "Arrow"), optional("pyarrow").OSFile(path) as content:
                file = optional("pyarrow.ipc").open_file(content)
                empty, count = file.schema.empty_table(), file.num_record_batches
            blocks += [Block(path, number) for number in range(count)]
            heads.append((path, head_of(arrow_columns(path, empty), roles)))
        return cls(tuple(blocks), *settled(roles, heads))

    def columns(self, block: Block) -> TypedColumns:
        place = self.place(block)
        pyarrow = optional("pyarrow")
        with unreadable_refused(place, "Arrow"), pyarrow.OSFile(block.file) as content:
            batch = optional("pyarrow.ipc").open_file(content).get_batch(block.number)
        return arrow_columns(place, pyarrow.Table.from_batches([batch]))
