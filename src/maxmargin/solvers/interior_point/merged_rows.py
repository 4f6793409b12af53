"""Equal rows of one class are one row, and a column may move its most frequent value to zero.

    merged    C_j = sum of C_i over the copies i of row j,     a_i = C_i a_j / C_j: the dual variable is shared by cost,
              which is best for a loss that bends, too
    moved     w.x + b = w.(x - m) + (b + w.m):                 any m will do, where there is a free bias

    rotated   w.x = (Q'w).(Q'x),  |w| = |Q'w|:                 n rows of d > n numbers lie in n dimensions

All leave the two objectives and their optima as they are, and make the work smaller: data that was counted or
measured with few digits is full of copies, and a column that is mostly one value is mostly zero after its move, so
that a dense table may become a much smaller CSR matrix.

Copies are found by a hash of each row (`copies`).
Cost: one read of the table. A sample of the rows says beforehand whether it is worth it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.data.executor import check_interrupt
from maxmargin.data.table import Matrix, Vector, is_sparse
from maxmargin.problems.statement import SoftMargin
from maxmargin.solvers.copies import DISTINCT, SAMPLE, find_copies, sample_columns

SPARSE_BELOW = 0.13  # of the entries are not zero: pairs of them are then fewer than dense products are fast
DENSE_ABOVE = 0.25
SMALL_TABLE = 4_000_000  # numbers: a CSR matrix that is half full may be copied into a dense table of this size
FEW_ROWS, FEW_COLUMNS = 1000, 64  # of a table whose whole path is a matter of milliseconds
FREQUENT = 0.3  # of a column: its most frequent value is moved to zero


@dataclass(frozen=True, eq=False)
class MergedRows:
    """The distinct rows of a problem.

    X        the table that is read
    place    distinct row j is row place[j] of it
    first    and this row of the caller's table, the first of its copies
    cost     y_j u_j, the most that a_j can be, with its sign
    owner    the caller's row i is a copy of row owner[i]; None if all rows stand for themselves
    moved    m, or None
    basis    Q with orthonormal columns, or None: the rows are Q'x, and w is Q times theirs
    """

    X: Matrix
    place: NDArray[np.int64]
    first: NDArray[np.int64]
    cost: Vector
    owner: NDArray[np.int64] | None
    moved: Vector | None
    basis: NDArray[np.float64] | None = None

    @property
    def is_merged(self) -> bool:
        """Whether the rows have other numbers than those of the table that is read."""
        return len(self.place) < int(self.X.shape[0])

    @property
    def are_few(self) -> bool:
        """Whether the whole path is one call: few rows, each for itself, and few columns."""
        (n, d), as_they_are = self.X.shape, self.owner is None and self.moved is None
        return as_they_are and n <= FEW_ROWS and d <= FEW_COLUMNS and not is_sparse(self.X)


def merge_rows(problem: SoftMargin) -> MergedRows:
    """The rows of a problem, merged where copies are likely, in the form that is read fastest."""
    n, d = problem.X.shape
    if d > n and n * d <= SMALL_TABLE:
        return rotate(problem)
    return merge_sparse(problem) if is_sparse(problem.X) else merge_dense(problem)


def merge_sparse(problem: SoftMargin) -> MergedRows:
    X = problem.X if problem.X.has_sorted_indices else problem.X.sorted_indices()
    n, d = X.shape
    first, owner = find_copies(X, problem.signs) or (np.arange(n), None)
    cost = merged_cost(problem, first, owner)
    if DENSE_ABOVE * n * d < X.data.size and n * d <= SMALL_TABLE:
        return MergedRows(np.ascontiguousarray(X[first].toarray()), np.arange(len(first)), first, cost, owner, None)
    return MergedRows(X, first, first, cost, owner, None)


def merge_dense(problem: SoftMargin) -> MergedRows:
    X, copies, modes = problem.X, None, np.zeros(problem.n_columns)
    density = 1.0
    if problem.n_rows > SAMPLE and problem.n_columns > 0:
        distinct, modes, shares = sample_columns(X)
        modes = np.where(shares > FREQUENT, modes, 0.0) if problem.fit_intercept else np.zeros_like(modes)
        density = float(np.mean(X[:: -(-len(X) // SAMPLE)] != modes))
        copies = find_copies(X, problem.signs) if distinct < DISTINCT else None
    first, owner = copies or (np.arange(len(X)), None)
    cost = merged_cost(problem, first, owner)
    if density < SPARSE_BELOW:
        return MergedRows(move_to_zero(X, first, modes), np.arange(len(first)), first, cost, owner, modes)
    return MergedRows(X, first, first, cost, owner, None)


def merged_cost(problem: SoftMargin, first: NDArray[np.int64], owner: NDArray[np.int64] | None) -> Vector:
    """y_j u_j of the distinct rows."""
    cost = problem.signs * problem.upper
    return cost if owner is None else np.asarray(np.bincount(owner, cost, minlength=len(first)), dtype=np.float64)


def rotate(problem: SoftMargin) -> MergedRows:
    """A wide table in the coordinates of its own rows: X' = Q R, so that row i is column i of R."""
    X = problem.X.toarray() if is_sparse(problem.X) else problem.X
    Q, R = np.linalg.qr(X.T.astype(np.float64))
    everyone = np.arange(len(X))
    cost = problem.signs * problem.upper
    return MergedRows(np.ascontiguousarray(R.T), everyone, everyone, cost, None, None, Q)


def move_to_zero(X: NDArray[Any], chosen: NDArray[np.int64], modes: Vector) -> Matrix:
    """The chosen rows, less the modes, as CSR; a block at a time, because the dense difference is never whole."""
    parts = []
    for start in range(0, len(chosen), 4096):
        check_interrupt()
        block = X[chosen[start : start + 4096]].astype(np.float64)
        parts.append(sparse.csr_array(np.where(block == modes, 0.0, block - modes)))
    return sparse.csr_array(sparse.vstack(parts, format="csr"))
