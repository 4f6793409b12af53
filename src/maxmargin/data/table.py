"""A table is blocks of rows, and a pass is a function of one block.

    source    what a new kind of table brings: n_rows (or None), n_columns, n_blocks, block(k)
    table     what passes run over: a source that was read once and checked, or a matrix in memory

The edges of the blocks belong to the table: a row group, a byte range, a chunk is a block. A matrix in memory is cut by
its size alone, and most are one block. A row is a place within a block; a source need not know how many rows it has.
The same blocks give the same bits, whoever computes them (`executor.py`); other blocks of the same rows may differ in
the last digits of a sum.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

from maxmargin.data.labels import check_labels
from maxmargin.data.matrix import (
    ACCEPTED,
    Checked,
    Matrix,
    Scaled,
    canonical,
    cell_at,
    check_rows,
    check_table,
    in_safe_range,
    is_sparse,
    largest_magnitude,
    refuse_what_float64_cannot_hold,
    refuse_what_is_not_finite,
    refuse_what_is_not_numbers,
    rows_between,
    safe_scale,
    take,
)
from maxmargin.data.threads import check_interrupt

BLOCK_NUMBERS = 2**24  # of a matrix in memory: up to so many are one block

OF_A_BLOCK = {**ACCEPTED, "ensure_min_samples": 0}  # which may be empty

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

    @property
    def n_rows(self) -> int:
        return self.edges[-1]

    @property
    def n_blocks(self) -> int:
        return len(self.edges) - 1

    @property
    def shape(self) -> tuple[int, int]:
        return self.edges[-1], self.n_columns

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


class Surveyed(Table):
    """A source that was read once: every number is finite and a double, and it is known how many rows there are."""

    def __init__(self, source: Source, estimator: Any = None, *, reset: bool = True) -> None:
        self.source, self.n_columns, self.edges = source, int(source.n_columns), [0]
        self.largest, self.terms, self.numbers, self.is_sparse = 0.0, 0, 0, False
        self.dtype = np.dtype(np.float32)
        for k in range(source.n_blocks):
            X = self.checked(k, estimator, reset)
            if k and is_sparse(X) is not self.is_sparse:
                raise ValueError(f"block {k} of X is {'sparse' if is_sparse(X) else 'dense'}, and those before are not")
            self.is_sparse, self.dtype = is_sparse(X), np.result_type(self.dtype, X.dtype)
            self.largest = max(self.largest, refuse_what_is_not_finite(X, partial(cell_at, first=self.edges[-1])))
            self.terms = max(self.terms, terms_of(X))
            self.numbers += int(X.data.size if self.is_sparse else X.size)
            self.edges.append(self.edges[-1] + int(X.shape[0]))
        if source.n_rows is not None and source.n_rows != self.n_rows:
            raise ValueError(f"X has n_rows = {source.n_rows}, but its {self.n_blocks} blocks have {self.n_rows} rows")
        if self.n_rows == 0:
            raise ValueError(f"Found array with 0 sample(s) in {self.n_blocks} blocks: there is nothing to fit")

    def checked(self, k: int, estimator: Any, reset: bool) -> Matrix:
        """Block k as scikit-learn checks a table, and its numbers kept as they are."""
        check_interrupt()
        X, start = self.source.block(k), self.edges[-1]
        where = partial(cell_at, first=start)
        refuse_what_is_not_numbers(X, where)
        refuse_what_float64_cannot_hold(X, where)
        if estimator is None:
            X = check_array(X, **OF_A_BLOCK)
        else:  # which learns the number of columns, or has learnt it
            X = validate_data(estimator, X, reset=reset and k == 0, **OF_A_BLOCK)
        if X.shape[1] != self.n_columns:
            raise ValueError(f"block {k} of X has {X.shape[1]} columns, not {self.n_columns}")
        return canonical(X)

    def block(self, k: int) -> Block:
        check_interrupt()
        X = canonical(check_array(self.source.block(k), **OF_A_BLOCK))
        known = X.shape == (self.edges[k + 1] - self.edges[k], self.n_columns) and terms_of(X) <= self.terms
        if not (known and largest_magnitude(X) <= self.largest):  # what rounding errors are bounded by
            raise ValueError(f"block {k} of X has changed: it had other rows or numbers when it was first read")
        return Block(k, self.edges[k], X)


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


def is_source(X: Any) -> bool:
    """Whether X is read by blocks. (A data frame has its columns as attributes: its class knows better.)"""
    return callable(getattr(type(X), "block", None)) and all(
        hasattr(X, name) for name in ("n_rows", "n_columns", "n_blocks")
    )


def as_table(X: Matrix | Table, largest: float | None = None) -> Table:
    """The table itself, or the matrix as one."""
    return X if isinstance(X, Table) else InMemory(X, largest)


def matrix_of(X: Matrix | Table) -> Matrix:
    """All rows at hand."""
    return X.in_memory() if isinstance(X, Table) else X


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


def checked_table(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool = True) -> Checked:
    """What an estimator is given: a source becomes a table, everything else a matrix (`check_table`)."""
    if not is_source(X):
        return check_table(estimator, X, y, reset=reset)
    table = Surveyed(X, estimator, reset=reset)
    asked = not (isinstance(y, str) and y == "no_validation")
    return Checked(table, check_labels(y, table.n_rows) if asked else None, table.largest)


def checked_rows(X: Any) -> Matrix | Table:
    """The same, of rows that no estimator learns from."""
    return Surveyed(X) if is_source(X) else check_rows(X)
