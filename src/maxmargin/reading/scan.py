"""Tables larger than memory: rows that stay in their files, and are read block by block whenever they are needed.

    X, y = scan_table("rows/*.parquet", label="y", memory="512MB")[:2]
    LinearSVM().fit(X, y)

The blocks are those of the files (`scanned_blocks.py`). One pass over them is made here: labels and weights are kept in
memory, 8 bytes a row or so, and rows that are wrong are named. What can be read once only, such as a stream or a
compressed file, is first written to a folder, and a warning says where.
"""

from __future__ import annotations

import glob
import math
import os
import re
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Collection, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.table import Matrix
from maxmargin.reading.columns import ColumnName, Roles
from maxmargin.reading.files import COMPRESSED, DataFileError, Format, chunks_of, recognise, suffix_of
from maxmargin.reading.frames import optional
from maxmargin.reading.scanned_blocks import (
    ArrowBatches,
    BlockReader,
    CsvRanges,
    MappedRows,
    ParquetGroups,
    SvmlightRanges,
)

BLOCKS_HELD = 8  # that the memory must hold: one is read while others are computed with, copied and joined
LARGEST_BLOCK = 200 * 10**6  # bytes: beyond, a larger block is no faster
SMALLEST_BLOCK = 2**16
TEXT_IN_NUMBERS = 2  # how many bytes of memory a byte of text may become
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
MEMORY = re.compile(r"([0-9]*\.?[0-9]+)\s*([kmgt]?i?)b?", re.ASCII)


class SpooledWarning(UserWarning):
    """Rows that can be read once only were written to a folder first."""


class ScannedRows:
    """The features of a table, as a source of blocks: what `fit` takes as X. It can be pickled, and holds no file."""

    def __init__(self, reader: BlockReader, roles: Roles, n_rows: int, names: tuple[str, ...] | None, width: int):
        self.reader, self.n_rows, self.n_columns, self.feature_names = reader, n_rows, width, names
        self.n_blocks = reader.n_blocks
        beside = [name for name in (roles.label, roles.weight) if name is not None]
        self.roles = roles._replace(label=None, weight=None, ignore=(*roles.ignore, *beside))

    def block(self, k: int) -> Matrix:
        return self.reader.read(k, self.roles).X

    def __repr__(self) -> str:
        kind = type(self.reader).__name__
        return f"<{self.n_rows:,} rows x {self.n_columns:,} columns in {self.n_blocks} blocks of {kind}>"


class ScannedTable(NamedTuple):
    """X is read when it is needed; y and the weights are in memory (None where they were not asked for)."""

    X: ScannedRows
    y: NDArray[Any] | None
    weights: NDArray[np.float64] | None


def scan_table(
    source: Any,
    *,
    label: ColumnName | None = None,
    weight: ColumnName | None = None,
    ignore: Collection[ColumnName] = (),
    memory: str | int = "512MB",
    format: str = "auto",
    header: bool = True,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    folder: str | os.PathLike[str] | None = None,
) -> ScannedTable:
    """Rows that stay in their files: X and y for `fit`, whatever their size.

    source     : a path, a folder, a pattern such as "rows/*.parquet", a list of paths, a `pyarrow.dataset.Dataset`; or
                 what can be read once only: an Arrow stream (a query of DuckDB), a lazy frame of Polars
    label      : the column of the labels, by its name or its index. An SVMlight file has them in front: give None
    weight     : the column of the weights, likewise
    ignore     : columns to leave out
    memory     : how much memory blocks may take, such as "512MB"; they are cut accordingly, where the files leave the
                 choice. A row group of Parquet is a block as it is: where one is too large, that is an error
    format     : "csv", "svmlight", "parquet", "arrow", "npy"; "auto" recognises it
    header, n_features, zero_based : see `read_table`
    folder     : where rows are written that can be read once only (default: the system's temporary folder); they are
                 removed when X is

    >>> import pathlib, tempfile
    >>> path = tempfile.mkdtemp() + "/rows.csv"
    >>> _ = pathlib.Path(path).write_text("a,b,y\\n1,2,yes\\n3,4,no\\n")
    >>> X, y, _ = scan_table(path, label="y")
    >>> X, y.tolist()
    (<2 rows x 2 columns in 1 blocks of CsvRanges>, ['yes', 'no'])
    """
    allowed = bytes_of(memory)
    block_bytes = max(SMALLEST_BLOCK, min(LARGEST_BLOCK, allowed // BLOCKS_HELD))
    paths, scratch = paths_of(source, folder)
    written_as = format_of(paths, format)
    roles = Roles(label, weight, ignore=(ignore,) if isinstance(ignore, str) else tuple(ignore))
    reader: BlockReader
    if written_as is Format.PARQUET:
        reader = ParquetGroups.of(paths)
        refuse_a_large_group(reader, allowed)
    elif written_as is Format.ARROW:
        reader = ArrowBatches.of(paths)
    elif written_as is Format.NPY:
        if len(paths) > 1:
            raise DataFileError(
                paths[1], "rows of several .npy files cannot be read as one table: save them as Parquet"
            )
        reader = MappedRows.of(paths[0], block_bytes)
    elif written_as is Format.CSV:
        reader = CsvRanges.of(paths, block_bytes // TEXT_IN_NUMBERS, roles, header)
    elif written_as is Format.SVMLIGHT:
        if label is not None or weight is not None or roles.ignore:
            raise DataFileError(paths[0], "an SVMlight file has its label in front and no other named columns")
        reader = SvmlightRanges.of(paths, block_bytes // TEXT_IN_NUMBERS, n_features, zero_based)
    else:
        raise DataFileError(paths[0], f"{written_as} files are not read by blocks: save the rows as Parquet or .npy")
    table = surveyed(reader, roles, paths[0])
    if scratch is not None:
        weakref.finalize(table.X, shutil.rmtree, scratch, ignore_errors=True)
    return table


def surveyed(reader: BlockReader, roles: Roles, file: str) -> ScannedTable:
    """One pass: labels and weights are kept, and all blocks have the same columns."""
    labels, weights, n_rows = [], [], 0
    names, width = None, None
    for k in range(reader.n_blocks):
        rows = reader.read(k, roles)
        if width is not None and (rows.names, rows.X.shape[1]) != (names, width):
            raise DataFileError(file, f"block {k} has other columns than those before it: {rows.names or width}")
        names, width = rows.names, int(rows.X.shape[1])
        labels.append(rows.labels)
        weights.append(rows.weights)
        n_rows += int(rows.X.shape[0])
    if not n_rows or width is None:
        raise DataFileError(file, "there is no row")
    return ScannedTable(
        ScannedRows(reader, roles, n_rows, names, width),
        None if labels[0] is None else reader.all_labels(labels),
        None if weights[0] is None else np.concatenate([part for part in weights if part is not None]),
    )


def bytes_of(memory: str | int) -> int:
    """A size as people write it.

    >>> bytes_of("512MB"), bytes_of("1.5 GiB"), bytes_of(4096)
    (512000000, 1610612736, 4096)
    """
    if isinstance(memory, bool) or not isinstance(memory, int | str):
        raise TypeError(f'memory must be a size such as "512MB" or a number of bytes, not {memory!r}')
    found = MEMORY.fullmatch(str(memory).strip().lower())
    size = float(found[1]) * UNITS[found[2]] if found and found[2] in UNITS else 0.0
    if not 1.0 <= size < math.inf:
        raise ValueError(f'memory must be a size such as "512MB" or "2 GiB", not {str(memory)[:40]!r}')
    return int(size)


def refuse_a_large_group(reader: ParquetGroups, allowed: int) -> None:
    if not reader.n_blocks:
        return
    size, place = reader.largest()
    if size * BLOCKS_HELD > allowed:
        raise ValueError(
            f"{place} takes {size / 1e6:.3g} MB in memory, and {BLOCKS_HELD} blocks must fit into the memory of "
            f"{allowed / 1e6:.3g} MB: allow {size * BLOCKS_HELD / 1e6:.3g} MB, or write smaller row groups "
            f"(pyarrow.parquet.write_table(..., row_group_size=...))"
        )


# Where the rows are.


def paths_of(source: Any, folder: str | os.PathLike[str] | None) -> tuple[list[str], str | None]:
    """The files, and the folder that is to be removed in the end, if rows were written to one."""
    if isinstance(source, str | os.PathLike):
        return plain_files(expanded(os.fspath(source)), folder)
    if isinstance(source, list | tuple) and not source:
        raise ValueError("a table to scan is at least one file, and this list is empty")
    if isinstance(source, list | tuple) and all(isinstance(part, str | os.PathLike) for part in source):
        return plain_files([path for part in source for path in expanded(os.fspath(part))], folder)
    files = getattr(source, "files", None)
    if files and all(os.path.exists(path) for path in files):  # a dataset of pyarrow, on this machine
        return list(files), None
    return spooled(source, folder)


def expanded(path: str) -> list[str]:
    """A folder, or a pattern, as the files in it, in the order of their names."""
    if os.path.isdir(path):
        found = [os.path.join(path, name) for name in sorted(os.listdir(path)) if not name.startswith((".", "_"))]
        found = [name for name in found if os.path.isfile(name)]
    else:
        found = sorted(glob.glob(path)) if glob.has_magic(path) and not os.path.exists(path) else [path]
    if not found:
        raise FileNotFoundError(f"there is no file in {path}" if os.path.isdir(path) else f"no file is called {path}")
    return found


def plain_files(paths: Sequence[str], folder: str | os.PathLike[str] | None) -> tuple[list[str], str | None]:
    """The files as they are; those that are compressed text, unpacked into a folder."""
    packed = [path for path in paths if is_compressed(path)]
    if not packed:
        return list(paths), None
    scratch, written = scratch_in(folder, f"{packed[0]} is compressed"), []
    for number, path in enumerate(paths):
        if path in packed:
            unpacked = os.path.join(scratch, f"{number:06}{suffix_of(path) or '.csv'}")
            with open(unpacked, "wb") as file:
                file.writelines(chunks_of(path))
            path = unpacked
        written.append(path)
    return written, scratch


def is_compressed(path: str) -> bool:
    with open(path, "rb") as file:
        start = file.read(8)
    return any(start.startswith(magic) for magic in COMPRESSED)


def spooled(source: Any, folder: str | os.PathLike[str] | None) -> tuple[list[str], str | None]:
    """Rows that come once, written as an Arrow file."""
    if hasattr(source, "sink_ipc"):  # a lazy frame of Polars
        scratch = scratch_in(folder, "the rows of a lazy frame are computed")
        path = os.path.join(scratch, "rows.arrow")
        source.sink_ipc(path)
        return [path], scratch
    if not hasattr(source, "__arrow_c_stream__"):
        raise TypeError(
            "a table to scan is a path, a folder, a pattern, a list of paths, a dataset or an Arrow stream, not "
            f"{type(source).__name__}"
        )
    pyarrow = optional("pyarrow")
    scratch = scratch_in(folder, "a stream can be read once")
    path = os.path.join(scratch, "rows.arrow")
    reader = pyarrow.RecordBatchReader.from_stream(source)
    with optional("pyarrow.ipc").new_file(path, reader.schema) as file:
        for batch in reader:
            file.write_batch(batch)
    return [path], scratch


def scratch_in(folder: str | os.PathLike[str] | None, reason: str) -> str:
    scratch = tempfile.mkdtemp(prefix="maxmargin-rows-", dir=folder)
    warnings.warn(f"{reason}: the rows are written to {scratch} and read from there", SpooledWarning, stacklevel=4)
    return scratch


def format_of(paths: Sequence[str], format: str) -> Format:
    if format not in set(Format):
        raise ValueError(f"format must be one of {', '.join(Format)}, not {format!r}")
    if format != Format.AUTO:
        return Format(format)
    found = [recognise(path) for path in paths]
    other = next((path for path, form in zip(paths, found, strict=True) if form is not found[0]), None)
    if other is not None:
        raise DataFileError(other, f"it is not written as {found[0]}, as {paths[0]} is: scan files of one format")
    return found[0]
