"""Tables larger than memory: rows that stay in their files, and are read block by block whenever they are needed.

    X, y, _ = scan_table("rows/*.parquet", label="y", memory="512MB")
    LinearSVM().fit(X, y)

The blocks are those of the files (`scanned_blocks.py`). Labels and weights stay in the files, too: they are columns
that belong to X, and come with its blocks in one read; `np.asarray(y)` reads them into memory. To open a table costs a
look at the head of each file. Its rows are checked as they are read; a file that has changed since is refused.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import weakref
from collections.abc import Collection, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.executor import check_interrupt
from maxmargin.data.labelled import RowsAndLabels
from maxmargin.data.table import BLOCKS_HELD, Matrix, column_at_hand
from maxmargin.reading.columns import ColumnName, LabelledTable, Roles
from maxmargin.reading.files import DataFileError, Format
from maxmargin.reading.paths import format_of, paths_of
from maxmargin.reading.read import refuse_named_columns
from maxmargin.reading.scanned_blocks import SHORTER, ArrowBatches, BlockReader, NpyRows, ParquetGroups
from maxmargin.reading.scanned_text import CsvRanges, SvmlightRanges

LARGEST_BLOCK = 200 * 10**6  # bytes: beyond, a larger block is no faster
SMALLEST_BLOCK = 2**16
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
MEMORY = re.compile(r"([0-9]*\.?[0-9]+)\s*([kmgt]?i?)b?", re.ASCII)
ENDS = 2**16  # bytes at the beginning and at the end of a file, by which it is known again
FEW = 32  # files, or names of columns, that a fingerprint lists


class Stamp(NamedTuple):
    """How a file was when the table was opened."""

    size: int
    time: int

    @classmethod
    def of(cls, path: str) -> Stamp:
        found = os.stat(path)
        return cls(found.st_size, found.st_mtime_ns)


class ScannedRows:
    """The features of a table, as a source of blocks: what `fit` takes as X. It can be pickled, and holds no file.

    `memory` is what was allowed, in bytes. n_rows and `heights`, the rows of each block, are None where the files do
    not tell them before they are read.
    """

    def __init__(self, reader: BlockReader, memory: int, paths: Sequence[str], asked: dict[str, Any]) -> None:
        head = reader.head
        self.reader, self.memory, self.asked = reader, memory, asked
        self.n_columns, self.n_blocks, self.feature_names = int(head.X.shape[1]), reader.n_blocks, head.feature_names
        self.heights = reader.heights
        self.n_rows = None if self.heights is None else sum(self.heights)
        self.stamps = {path: Stamp.of(path) for path in paths}
        self.labelled, self.weighted = head.y is not None, head.weights is not None

    def table(self, k: int) -> LabelledTable:
        """Block k with all that was asked for, text too."""
        check_interrupt()
        self.refuse_a_change(self.reader.file_of(k))
        return self.reader.read(k)

    def block(self, k: int) -> Matrix:
        return self.labelled_block(k).X

    def labelled_block(self, k: int) -> RowsAndLabels:
        refuse_text(self.reader, self.reader.file_of(k))
        found = self.table(k)
        return RowsAndLabels(found.X, found.y, found.weights)

    @property
    def labels(self) -> ScannedColumn | None:
        return ScannedColumn(self, "labels") if self.labelled else None

    @property
    def weights(self) -> ScannedColumn | None:
        return ScannedColumn(self, "weights") if self.weighted else None

    def labelled_by(self, label: ColumnName, weight: ColumnName | None = None) -> ScannedRows:
        """The same files, with this column as labels."""
        found = scan_table(list(self.stamps), **{**self.asked, "label": label, "weight": weight}).X
        found.spooled_by = self.spooled_by if hasattr(self, "spooled_by") else self  # whose end removes what it wrote
        return found

    spooled_by: ScannedRows

    def meant(self, labels: NDArray[Any]) -> NDArray[Any]:
        """What the labels of the blocks mean, of which these are all the different ones."""
        return self.reader.meant(labels)

    def refuse_a_change(self, path: str) -> None:
        now, then = Stamp.of(path), self.stamps[path]
        if now.size < then.size:
            raise DataFileError(path, f"{SHORTER}: {now.size:,} bytes, and it had {then.size:,}")
        if now != then:
            raise DataFileError(path, "the file has changed since it was first read")

    def fingerprint(self) -> dict[str, Any]:
        """What tells this table, cut into these blocks, from another: the same of a copy of the files elsewhere."""
        files = [[os.path.basename(path), stamp.size, ends_of(path)] for path, stamp in self.stamps.items()]
        return {
            "kind": type(self.reader).__name__,
            "files": files if len(files) <= FEW else [len(files), digest_of(files)],
            "columns": few(self.feature_names),
            "roles": {name: self.asked[name] for name in ("label", "weight", "ignore")},
            "n_rows": self.n_rows,
            "n_columns": self.n_columns,
            "n_blocks": self.n_blocks,
            "memory": self.memory,
            "cut": digest_of(self.reader.cut),
        }

    def __repr__(self) -> str:
        kind, rows = type(self.reader).__name__, "?" if self.n_rows is None else f"{self.n_rows:,}"
        return f"<{rows} rows x {self.n_columns:,} columns in {self.n_blocks} blocks of {kind}>"


class ScannedColumn:
    """The labels of a table, or the weights of its rows, which stay in its files: `rows` is the X that it belongs to.

    `np.asarray` reads it into memory; `fit` and `verify` need not do that if they are given its own X.
    """

    def __init__(self, rows: ScannedRows, what: Literal["labels", "weights"]) -> None:
        self.rows, self.what = rows, what

    def block(self, k: int) -> NDArray[Any]:
        found = self.rows.table(k)
        return np.asarray(found.y if self.what == "labels" else found.weights)

    def meant(self, labels: NDArray[Any]) -> NDArray[Any]:
        return self.rows.meant(labels) if self.what == "labels" else labels

    def fingerprint(self) -> dict[str, Any]:
        return self.rows.fingerprint()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("labels that stay in their files are read into memory: that is a copy")
        found: NDArray[Any] = column_at_hand(self)
        return found if dtype is None else found.astype(dtype)

    def __len__(self) -> int:
        return len(np.asarray(self)) if self.rows.n_rows is None else self.rows.n_rows

    def __repr__(self) -> str:
        return f"<the {self.what} of {self.rows!r}>"


class ScannedTable(NamedTuple):
    """X, y and the weights stay in their files (None where they were not asked for), and are read by blocks.

    Parameters
    ----------
    X, y, weights : ScannedRows, ScannedColumn, ScannedColumn
        Tables and columns that `fit` and `verify` take as they are.

    Examples
    --------
    >>> import os, tempfile
    >>> from maxmargin import scan_table
    >>> path = os.path.join(tempfile.mkdtemp(), "rows.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("a,b,y\\n0,1,no\\n2,3,yes\\n")
    >>> table = scan_table(path, label="y")
    >>> table.X.n_columns, table.weights is None
    (2, True)
    """

    X: ScannedRows
    y: ScannedColumn | None
    weights: ScannedColumn | None


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

    Parameters
    ----------
    source : path, folder, pattern, list of paths, dataset, stream or iterator
        A pattern is such as "rows/*.parquet" or "rows/**/*.parquet"; a dataset is one of pyarrow. What can be
        read once only, an Arrow stream (a query of DuckDB), a lazy frame of Polars or data frames one after the
        other (pandas.read_csv(..., chunksize=)), is written to `folder` first; so are the rows of a dataset that
        was filtered, or has columns in the names of its folders.
    label : str or int, default=None
        The column of the labels, by its name or its index. An SVMlight file has them in front: give None.
    weight : str or int, default=None
        The column of the weights, likewise.
    ignore : collection of columns, default=()
        Columns to leave out.
    memory : str or int, default="512MB"
        How much memory blocks may take; they are cut accordingly, where the files leave the choice. A row
        group of Parquet is a block as it is: where one is too large, that is an error.
    format : {"auto", "csv", "svmlight", "parquet", "arrow", "npy"}, default="auto"
        "auto" recognises it.
    header : bool, default=True
        Whether the first line of a CSV file holds the names of the columns.
    n_features : int, default=None
        The number of columns of X; None takes what there is.
    zero_based : bool or "auto", default="auto"
        How an SVMlight file counts its columns.
    folder : path, default=None
        Where rows are written that can be read once only: the system's temporary folder, if none is given.
        They are removed when X is.

    Returns
    -------
    ScannedTable
        X, y and the weights, as columns that stay where they are.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = tempfile.mkdtemp() + "/rows.csv"
    >>> _ = pathlib.Path(path).write_text("a,b,y\\n1,2,yes\\n3,4,no\\n")
    >>> X, y, _ = scan_table(path, label="y")
    >>> X, np.asarray(y).tolist()
    (<? rows x 2 columns in 1 blocks of CsvRanges>, ['yes', 'no'])
    """
    paths, scratch = paths_of(source, folder)
    roles = Roles(label, weight, ignore=(ignore,) if isinstance(ignore, str) else tuple(ignore))
    how = {"header": header, "n_features": n_features, "zero_based": zero_based}
    X = scanned_rows(paths, format_of(paths, format), roles, bytes_of(memory), scratch, **how)
    if label is not None:  # otherwise the text may be the labels, which `fit` is told by name
        refuse_text(X.reader, paths[0])
    if not X.n_blocks or X.n_rows == 0:
        raise DataFileError(paths[0], "there is no row")
    return ScannedTable(X, X.labels, X.weights)


def scanned_rows(
    paths: Sequence[str], written_as: Format, roles: Roles, memory: int, scratch: str | None, **how: Any
) -> ScannedRows:
    """Files of one format, cut into blocks of which the memory holds several; `scratch` is removed with them."""
    block_bytes = max(SMALLEST_BLOCK, min(LARGEST_BLOCK, memory // BLOCKS_HELD))
    reader = reader_of(paths, written_as, roles, block_bytes, **how)
    if isinstance(reader, ParquetGroups):
        refuse_a_large_group(reader, memory)
    asked = {"label": roles.label, "weight": roles.weight, "ignore": list(roles.ignore)}
    X = ScannedRows(reader, memory, paths, {**asked, "memory": memory, "format": written_as, **how})
    if scratch is not None:
        weakref.finalize(X, shutil.rmtree, scratch, ignore_errors=True)
    return X


def reader_of(
    paths: Sequence[str],
    written_as: Format,
    roles: Roles,
    block_bytes: int,
    header: bool = True,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
) -> BlockReader:
    """The files as blocks of about so many bytes, where their format leaves the choice."""
    if written_as is Format.PARQUET:
        return ParquetGroups.of(paths, roles)
    if written_as is Format.ARROW:
        return ArrowBatches.of(paths, roles)
    if written_as is Format.NPY:
        return NpyRows.of(paths, block_bytes, roles)
    if written_as is Format.CSV:
        return CsvRanges.of(paths, block_bytes, roles, header)
    if written_as is Format.SVMLIGHT:
        refuse_named_columns(paths[0], roles)
        return SvmlightRanges.of(paths, block_bytes, n_features, zero_based)
    raise DataFileError(paths[0], f"{written_as} files are not read by blocks: save the rows as Parquet or .npy")


def refuse_text(reader: BlockReader, file: str) -> None:
    for name in reader.head.texts:
        problem = "it is text: a table that is read by blocks holds numbers; encode it first, or ignore it"
        raise DataFileError(file, problem, column=name)


def few(names: Sequence[str] | None) -> Any:
    return None if names is None else list(names) if len(names) <= FEW else [len(names), digest_of(list(names))]


def digest_of(values: Any) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def ends_of(path: str) -> str:
    """A digest of the beginning and the end of a file."""
    with open(path, "rb") as file:
        found = hashlib.sha256(file.read(ENDS))
        file.seek(max(0, os.fstat(file.fileno()).st_size - ENDS))
        found.update(file.read(ENDS))
    return found.hexdigest()


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
