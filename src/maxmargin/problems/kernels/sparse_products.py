"""Inner products of wide sparse rows in float64: columns that many rows have are written out, the others stay sparse.

    x.x' = sum over frequent columns + sum over rare ones

A product with rows that are written out adds a number for each entry and each of these rows, at the speed of memory. A
product of sparse rows adds only where both have an entry, but each of its steps takes many times as long. So each has
the columns that suit it. What the columns are is counted in the rows on the right, and memory follows the entries: a
line that is written out has at most 1 / FREQUENT times as many numbers as its column has entries.

Either sum has no more terms than a row has entries, and joining them is one more addition where both have some: an
error bound for as many terms as the row has entries covers it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.data.table import Matrix, Vector

FREQUENT = 0.03  # of the rows: where more have an entry in a column, it is written out


@dataclass(frozen=True)
class PartedRows:
    """Sparse rows in two pieces: their frequent columns, and the rare ones; and |x|^2."""

    frequent: Any
    rare: Any
    squares: Vector

    def __getitem__(self, rows: slice) -> PartedRows:
        return PartedRows(self.frequent[rows], self.rare[rows], self.squares[rows])


class PartedColumns(NamedTuple):
    """The same rows as columns of a product: lines that are written out, and a sparse table."""

    lines: NDArray[np.float64]
    rare: Any
    squares: Vector


def parted(X: Matrix, squares: Vector, is_frequent: NDArray[np.bool_]) -> PartedRows:
    """The rows, cut into the frequent columns and the others."""
    return PartedRows(with_columns(X, is_frequent), with_columns(X, ~is_frequent), squares)


def frequent_columns(X: Matrix) -> NDArray[np.bool_]:
    counts = np.bincount(X.indices, minlength=X.shape[1])
    return np.asarray(counts > FREQUENT * X.shape[0])


def with_columns(X: Matrix, wanted: NDArray[np.bool_]) -> Any:
    """The table with these columns alone."""
    stays = wanted[X.indices]
    numbers = (np.cumsum(wanted) - 1)[X.indices[stays]]
    ends = np.append(0, np.cumsum(stays))[X.indptr]
    return sparse.csr_array((X.data[stays], numbers, ends), shape=(X.shape[0], int(np.count_nonzero(wanted))))


def as_columns(rows: PartedRows) -> PartedColumns:
    return PartedColumns(np.ascontiguousarray(rows.frequent.toarray().T), rows.rare.T.tocsr(), rows.squares)


def product(rows: PartedRows, columns: PartedColumns) -> NDArray[np.float64]:
    """x.x' of every row and every column."""
    found = np.asarray(rows.frequent @ columns.lines)
    if rows.rare.nnz and columns.rare.nnz:
        found += (rows.rare @ columns.rare).toarray()
    return found
