"""Equal rows of one class are one row, and a column may move its most frequent value to zero.

    merged    C_j = sum of C_i over the copies i of row j,     a_i = C_i a_j / C_j: the dual variable is shared by cost,
              which is best for a loss that bends, too
    moved     w.x + b = w.(x - m) + (b + w.m):                 any m will do, where there is a free bias

    rotated   w.x = (Q'w).(Q'x),  |w| = |Q'w|:                 n rows of d > n numbers lie in n dimensions

All leave the two objectives and their optima as they are, and make the work smaller: data that was counted or
measured with few digits is full of copies, and a column that is mostly one value is mostly zero after its move, so
that a dense table may become a much smaller CSR matrix.

Copies are found by a 64-bit hash of each row, in one pass, and then compared number by number.
Cost: one read of the table. A sample of the rows says beforehand whether it is worth it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin._loops import njit
from maxmargin.data.executor import check_interrupt
from maxmargin.data.table import Matrix, Vector, is_sparse
from maxmargin.problems.statement import SoftMargin

SAMPLE = 1000  # rows that are looked at before all are
DISTINCT = 0.9  # a column with so many different values in the sample leaves few copies of a row
WORTH_MERGING = 0.9  # of the rows are distinct at most, or merging is not worth its indirection
SPARSE_BELOW = 0.13  # of the entries are not zero: pairs of them are then fewer than dense products are fast
DENSE_ABOVE = 0.25
SMALL_TABLE = 4_000_000  # numbers: a CSR matrix that is half full may be copied into a dense table of this size
FREQUENT = 0.3  # of a column: its most frequent value is moved to zero

ODD, MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
HALF = np.uint64(32)


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


@njit
def mix(hash_so_far: Any, word: Any) -> Any:
    """One more word of 64 bits: each bit of it changes about half of the bits of the hash."""
    mixed = (hash_so_far ^ word) * MIX
    return mixed ^ (mixed >> HALF)


@njit
def hash_dense(words: Any, signs: Any, hashes: Any) -> None:
    for i in range(words.shape[0]):
        row, total = words[i], np.uint64(1) if signs[i] > 0.0 else ODD
        for j in range(row.shape[0]):
            total = mix(total, np.uint64(row[j]))
        hashes[i] = total


@njit
def hash_sparse(words: Any, indices: Any, indptr: Any, signs: Any, hashes: Any) -> None:
    for i in range(indptr.shape[0] - 1):
        total = np.uint64(1) if signs[i] > 0.0 else ODD
        for entry in range(indptr[i], indptr[i + 1]):
            total = mix(mix(total, np.uint64(indices[entry])), np.uint64(words[entry]))
        hashes[i] = total


@njit
def find_owners(hashes: Any, slots: Any, owner: Any, first: Any) -> int:
    """owner[i] counts the distinct hashes in order of appearance, first[j] is where one appeared; how many."""
    last, distinct = np.uint64(slots.shape[0] - 1), 0
    for i in range(hashes.shape[0]):
        slot = (hashes[i] * ODD >> HALF) & last
        while slots[slot] >= 0 and hashes[first[slots[slot]]] != hashes[i]:
            slot = (slot + np.uint64(1)) & last
        if slots[slot] < 0:
            slots[slot] = distinct
            first[distinct] = i
            distinct += 1
        owner[i] = slots[slot]
    return distinct


@njit
def all_equal_dense(words: Any, signs: Any, owner: Any, first: Any) -> bool:
    for i in range(words.shape[0]):
        other = first[owner[i]]
        if other != i:
            if signs[i] != signs[other]:
                return False
            for j in range(words.shape[1]):
                if words[i, j] != words[other, j]:
                    return False
    return True


@njit
def all_equal_sparse(words: Any, indices: Any, indptr: Any, signs: Any, owner: Any, first: Any) -> bool:
    for i in range(indptr.shape[0] - 1):
        other = first[owner[i]]
        if other != i:
            size, start, there = indptr[i + 1] - indptr[i], indptr[i], indptr[other]
            if signs[i] != signs[other] or size != indptr[other + 1] - there:
                return False
            for entry in range(size):
                if indices[start + entry] != indices[there + entry] or words[start + entry] != words[there + entry]:
                    return False
    return True


def words_of(X: Matrix) -> NDArray[Any]:
    """The numbers as unsigned integers of the same bits."""
    return np.asarray((X.data if is_sparse(X) else X).view(np.dtype(f"u{X.dtype.itemsize}")))


def find_equal(X: Matrix, signs: Vector) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(first, owner) of the rows with distinct hashes; rows of different signs have different ones."""
    n = X.shape[0]
    hashes, owner, first = np.empty(n, np.uint64), np.empty(n, np.int64), np.empty(n, np.int64)
    slots = np.full(1 << int(2 * n - 1).bit_length(), -1, np.int64)
    words = words_of(X)
    check_interrupt()
    with np.errstate(over="ignore"):  # uncompiled, NumPy would warn of what a hash is made of
        if is_sparse(X):
            hash_sparse(words, X.indices, X.indptr, signs, hashes)
        else:
            hash_dense(words, signs, hashes)
        check_interrupt()
        distinct = find_owners(hashes, slots, owner, first)
    return first[:distinct].copy(), owner


def find_copies(X: Matrix, signs: Vector) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """(first, owner) of the distinct rows, or None if almost all are distinct."""
    first, owner = find_equal(X, signs)
    if len(first) > WORTH_MERGING * X.shape[0]:
        return None
    words = words_of(X)
    check_interrupt()
    if is_sparse(X):
        equal = all_equal_sparse(words, X.indices, X.indptr, signs, owner, first)
    else:
        equal = all_equal_dense(words, signs, owner, first)
    return (first, owner) if equal else None


def sample_columns(X: NDArray[Any]) -> tuple[float, Vector, Vector]:
    """From some rows: the largest share of different values in a column, and the modes with their shares."""
    values = np.sort(X[:: -(-len(X) // SAMPLE)], axis=0)
    new = np.ones(values.shape, dtype=bool)
    new[1:] = values[1:] != values[:-1]
    begins = np.where(new, np.arange(len(values))[:, None], 0)
    run = np.arange(len(values))[:, None] - np.maximum.accumulate(begins, axis=0)
    end = run.argmax(axis=0)
    columns = np.arange(values.shape[1])
    distinct = float(new.sum(axis=0).max(initial=0)) / len(values)
    return distinct, values[end, columns].astype(np.float64), (run[end, columns] + 1) / len(values)


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
