"""A table is blocks of rows, and a pass is a function of one block.

    source    what a new kind of table brings: n_rows (or None), n_columns, n_blocks, block(k)
    table     what passes run over: a source that was read once and checked (`checking.py`), or a matrix in memory
    matrix    a C-ordered array or CSR, float32 or float64: the rows of a block

The edges of the blocks belong to the table: a row group, a byte range, a chunk is a block. A matrix in memory is cut by
its size alone, and most are one block. A row is a place within a block; a source need not know how many rows it has.
The same blocks give the same bits, whoever computes them (`executor.py`); other blocks of the same rows may differ in
the last digits of a sum.
"""

from __future__ import annotations

import importlib
import itertools
import math
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.data.executor import block_edges, check_interrupt, share

Vector = NDArray[np.float64]
Matrix = Any  # an ndarray, or a scipy.sparse csr_array or csr_matrix

# Fourth powers of numbers far beyond these overflow or vanish; such a table is scaled by a power of two.
SAFE_RANGE = (2.0**-100, 2.0**100)
BLOCK = 2**16  # numbers that fit the cache
BLOCKS_HELD = 8  # that a memory budget must hold: one is read while others are computed with, copied and joined
PASSES_OF_A_ROW = 3  # over the numbers of the rows themselves: as much work as reading so many

is_sparse: Callable[[Any], bool] = sparse.issparse  # whether it is a SciPy sparse matrix or array


class DenseRows(NamedTuple):
    """A C-ordered array."""

    values: NDArray[Any]


class SparseRows(NamedTuple):
    """CSR, with unsigned indices: Numba then need not ask whether an index is negative."""

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]


def rows_of(X: Matrix) -> DenseRows | SparseRows:
    """X as read-only views, without a copy. Always read-only: one compiled version serves every input."""
    if not is_sparse(X):
        return DenseRows(_read_only(X))
    return SparseRows(_read_only(X.data), _unsigned(X.indices), _unsigned(X.indptr))


def _unsigned(indices: NDArray[Any]) -> NDArray[Any]:
    return _read_only(indices.view(np.dtype(f"uint{8 * indices.dtype.itemsize}")))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def is_dask(given: Any) -> bool:
    """Whether it is computed by Dask. (A data frame has its columns as attributes: its class knows better.)"""
    return "dask" in sys.modules and callable(getattr(type(given), "__dask_graph__", None))


def dask_rows() -> ModuleType:
    """What makes a source of arrays and data frames of Dask: it stands on the checks of tables, which ask for it."""
    return importlib.import_module("maxmargin.data.dask_rows")


class Scaled(NamedTuple):
    """A table and the power of two by which its numbers were multiplied (1.0 almost always)."""

    X: Matrix
    scale: float


def blocks(X: Matrix) -> list[slice]:
    """Slices of rows that fit the cache, so that several looks at a block cost one read of the memory."""
    rows = max(1, BLOCK // max(1, X.shape[1])) if not is_sparse(X) else max(1, X.shape[0])
    return [slice(start, start + rows) for start in range(0, X.shape[0], rows)]


def largest_magnitude(X: Matrix) -> float:
    """max |x_ij|; NaN if there is one."""
    if is_sparse(X):
        return largest_of(X.data)
    if X.size <= BLOCK:
        return largest_of(X)
    X = X.T if X.flags.f_contiguous else X  # as it lies in memory
    found: list[float] = []

    def look(_: int, start: int, stop: int) -> None:
        found.extend(largest_of(X[start:stop][block]) for block in blocks(X[start:stop]))

    share(look, block_edges(X.shape[0], X.size))
    return max(found, default=0.0, key=nan_is_largest)


def largest_of(values: NDArray[Any]) -> float:
    if values.size == 0:
        return 0.0
    return float(max(abs(float(values.max())), abs(float(values.min()))))


def nan_is_largest(value: float) -> float:
    return math.inf if math.isnan(value) else value


def in_safe_range(X: Matrix, largest: float | None = None) -> Scaled:
    """X itself or, where squares would overflow or vanish, X times a power of two. `largest` = max |x_ij| if known."""
    scale = safe_scale(largest_magnitude(X) if largest is None else largest)
    return Scaled(X, 1.0) if scale == 1.0 else Scaled(X.astype(np.float64) * scale, scale)


def safe_scale(largest: float) -> float:
    """The power of two by which numbers of this size are brought near to 1; 1.0 where their squares are safe."""
    if largest == 0.0 or SAFE_RANGE[0] <= largest <= SAFE_RANGE[1]:
        return 1.0
    return math.ldexp(1.0, min(1000, -math.frexp(largest)[1]))


def rows_between(X: Matrix, start: int, stop: int, dtype: Any = None) -> Matrix:
    """X[start:stop] in this type of numbers, by default its own: a view where it is that already."""
    dtype = X.dtype if dtype is None else dtype
    if not is_sparse(X):
        return X[start:stop].astype(dtype, copy=False)
    low, high = int(X.indptr[start]), int(X.indptr[stop])
    part = sparse.csr_array((stop - start, X.shape[1]), dtype=dtype)
    part.data, part.indices = X.data[low:high].astype(dtype, copy=False), X.indices[low:high]  # given at once: copied
    part.indptr = X.indptr[start : stop + 1] - X.indptr[start]
    return part


def take(X: Matrix, rows: NDArray[np.intp]) -> Matrix:
    """X[rows], without a copy if these are all rows in their order."""
    everything = len(rows) == X.shape[0] and np.array_equal(rows, np.arange(len(rows)))
    return X if everything else X[rows]


@np.errstate(over="ignore")
def row_squares(X: Matrix) -> Vector:
    """|x_i|^2 of every row, in float64: infinite where it is beyond."""
    if is_sparse(X):
        entries = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        squares = np.bincount(entries, X.data.astype(np.float64) ** 2, minlength=X.shape[0])
        return np.asarray(squares, dtype=np.float64)  # without any entry it counts in integers
    return np.asarray(np.einsum("ij,ij->i", X, X, dtype=np.float64))


BLOCK_NUMBERS = 2**24  # of a matrix in memory: up to so many are one block


Rows = NDArray[np.intp]


class Source(Protocol):
    """Rows that somebody else holds: all that a new kind of table must have.

    block(k) are the rows of block k, as an array or as CSR: the same numbers whenever they are asked for. All blocks
    are of one of the two forms; a block may be empty. n_rows is None where it is not known before the blocks are read.
    A source that is to be sent to other processes can be pickled.
    """

    n_rows: int | None
    n_columns: int
    n_blocks: int

    def block(self, k: int) -> Any: ...


def is_source(X: Any) -> bool:
    """Whether X is read by blocks. (A data frame has its columns as attributes: its class knows better.)"""
    own = callable(getattr(type(X), "block", None))
    if own and (missing := [name for name in ("n_rows", "n_columns", "n_blocks") if not hasattr(X, name)]):
        raise TypeError(f"a table that is read by blocks has {', '.join(missing)}, too: {type(X).__name__} has not")
    return own or is_dask(X)


class Block(NamedTuple):
    """Rows start, start + 1, ... of a table, in memory: an array in C order or CSR, float32 or float64."""

    number: int
    start: int
    X: Matrix

    @property
    def rows(self) -> slice:
        return slice(self.start, self.start + self.X.shape[0])


class Table:
    """Rows that are read block by block; finite numbers.

    edges      where the blocks begin, and where the last one ends
    largest    max |x_ij|
    terms      the most entries of a row: what rounding errors are counted by
    numbers    how many are stored
    """

    n_columns: int
    edges: list[int]
    is_sparse: bool
    dtype: np.dtype[Any]
    largest: float
    terms: int
    numbers: int

    def block(self, k: int) -> Block:
        """Pure: by whomever it is called, and however often."""
        raise NotImplementedError

    @cached_property
    def n_rows(self) -> int:
        return self.edges[-1]

    @cached_property
    def n_blocks(self) -> int:
        return len(self.edges) - 1

    @cached_property
    def shape(self) -> tuple[int, int]:
        return self.edges[-1], self.n_columns

    @cached_property
    def parts(self) -> list[int]:
        """Where the parts of the rows begin and end that threads may share, in sums over a number of each row."""
        return self.edges if self.n_blocks > 1 else block_edges(self.n_rows, PASSES_OF_A_ROW * self.n_rows)

    @property
    def spans(self) -> list[slice]:
        """The rows of each block, as slices of row vectors."""
        return [slice(*pair) for pair in itertools.pairwise(self.edges)]

    def blocks(self) -> Iterator[Block]:
        return (self.block(k) for k in range(self.n_blocks))

    def __getitem__(self, rows: Rows) -> Matrix:
        """These rows, in memory, in this order: a working set, a sample, a witness."""
        rows = np.asarray(rows, dtype=np.intp)
        order = np.argsort(rows, kind="stable")
        places = np.searchsorted(rows[order], self.edges)
        parts = [
            self.block(k).X[rows[order[start:stop]] - self.edges[k]]
            for k, (start, stop) in enumerate(itertools.pairwise(places))
            if start < stop
        ]
        back = np.empty(len(order), dtype=np.intp)
        back[order] = np.arange(len(order))
        return stacked(parts or [self.block(0).X[:0]])[back]

    def in_memory(self) -> Matrix:
        """All rows as one matrix, for those who cannot do with blocks."""
        if self.is_sparse:
            return stacked([block.X for block in self.blocks()])
        X = np.empty(self.shape, dtype=self.dtype)
        for block in self.blocks():
            X[block.rows] = block.X
        return X


class InMemory(Table):
    """A matrix, uncopied. `largest` = max |x_ij| if it is known."""

    def __init__(self, X: Matrix, largest: float | None = None) -> None:
        self.X, self.n_columns, self.is_sparse, self.dtype = X, int(X.shape[1]), is_sparse(X), X.dtype
        self.numbers = int(X.indptr[-1]) if self.is_sparse else int(X.size)
        self.edges = edges_of(X) if self.numbers > BLOCK_NUMBERS else [0, int(X.shape[0])]
        if largest is not None:
            self.largest = largest

    @cached_property
    def largest(self) -> float:  # type: ignore[override]
        return largest_magnitude(self.X)

    @cached_property
    def terms(self) -> int:  # type: ignore[override]
        return terms_of(self.X)

    def block(self, k: int) -> Block:
        if len(self.edges) == 2:
            return Block(0, 0, self.X)
        check_interrupt()
        return Block(k, self.edges[k], rows_between(self.X, self.edges[k], self.edges[k + 1]))

    def __getitem__(self, rows: Rows) -> Matrix:
        return self.X[rows]

    def in_memory(self) -> Matrix:
        return self.X


class Part(Table):
    """Some rows of another table, in its order, times a power of two; its blocks are those of the other."""

    def __init__(self, whole: Table, rows: Rows, scale: float = 1.0) -> None:
        self.whole, self.rows, self.scale = whole, rows, scale
        self.n_columns, self.is_sparse = whole.n_columns, whole.is_sparse
        self.dtype = whole.dtype if scale == 1.0 else np.dtype(np.float64)
        self.edges = np.searchsorted(rows, whole.edges).tolist()
        self.largest, self.terms = whole.largest * scale, whole.terms  # at least: what rounding bounds need
        self.numbers = whole.numbers * len(rows) // max(1, whole.n_rows)

    def block(self, k: int) -> Block:
        X = self.whole.block(k).X
        X = take(X, self.rows[self.edges[k] : self.edges[k + 1]] - self.whole.edges[k])
        return Block(k, self.edges[k], X if self.scale == 1.0 else X.astype(np.float64) * self.scale)


def edges_of(X: Matrix) -> list[int]:
    """As many rows as have at most BLOCK_NUMBERS numbers, and at least one, in each block but the last."""
    if not is_sparse(X):
        height = max(1, BLOCK_NUMBERS // X.shape[1])
        return [*range(0, X.shape[0], height), int(X.shape[0])]
    edges = [0]
    while edges[-1] < X.shape[0]:
        full = int(np.searchsorted(X.indptr, int(X.indptr[edges[-1]]) + BLOCK_NUMBERS, side="right")) - 1
        edges.append(max(full, edges[-1] + 1))
    return edges


def terms_of(X: Matrix) -> int:
    """The most entries of a row."""
    return int(np.diff(X.indptr).max(initial=0)) if is_sparse(X) else int(X.shape[1])


def stacked(parts: list[Matrix]) -> Matrix:
    if len(parts) == 1:
        return parts[0]
    return sparse.vstack(parts, format="csr") if is_sparse(parts[0]) else np.concatenate(parts)


def as_table(X: Matrix | Table, largest: float | None = None) -> Table:
    """The table itself, or the matrix as one."""
    return X if isinstance(X, Table) else InMemory(X, largest)


def matrix_of(X: Matrix | Table) -> Matrix:
    """All rows at hand."""
    return X.in_memory() if isinstance(X, Table) else X


def is_column(y: Any) -> bool:
    """Whether labels or weights stay with the blocks of a table. (A data frame has its columns as attributes: its class
    knows better.)"""
    return is_dask(y) or (callable(getattr(type(y), "block", None)) and hasattr(y, "rows"))


def column_at_hand(column: Any) -> Any:
    """Such a column as one array, in the order of the blocks; anything else, and what Dask makes an array, as it is."""
    if is_dask(column) or not is_column(column):
        return column
    parts = [np.asarray(column.block(k)) for k in range(column.rows.n_blocks)]
    found = np.concatenate([part for part in parts if len(part)] or parts or [np.empty(0)])
    if hasattr(column, "meant"):
        written, places = np.unique(found, return_inverse=True)
        found = np.asarray(column.meant(written))[places]
    return found


def rows_at(X: Matrix | Table, rows: Rows) -> Matrix:
    """These rows at hand, in this order."""
    return X[rows] if isinstance(X, Table) else take(X, rows)


def select(X: Matrix | Table, rows: Rows) -> Matrix | Table:
    """These rows, which are in order: of a matrix a matrix, of a table that is read by blocks another one."""
    if not isinstance(X, Table):
        return take(X, rows)
    return X if len(rows) == X.n_rows else Part(X, rows)


def scaled_to_safe_range(X: Matrix | Table, largest: float | None) -> Scaled:
    """X or, where squares would overflow or vanish, X times a power of two."""
    if not isinstance(X, Table):
        return in_safe_range(X, largest)
    scale = safe_scale(X.largest)
    return Scaled(X if scale == 1.0 else Part(X, np.arange(X.n_rows), scale), scale)
