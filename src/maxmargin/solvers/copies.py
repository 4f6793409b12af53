"""Equal rows: which they are; of one class, what one that stands for all is worth; of two, that no plane separates.

    merged           C_j = sum of C_i over the copies i of row j,     a_i = C_i a_j / C_j: the dual variable is shared
                     by cost, which is best for a loss that bends, too
    contradiction    x_i = x_j,  y_i = +1,  y_j = -1:    the hulls of the classes have this point in common, with
                     l_i = l_j = 1, the shortest proof that there is no plane

Copies are found by a 64-bit hash of each row, in one pass, and then compared number by number. Rows of which one says 0
where the other says -0, or keeps a zero that the other leaves out, are taken to be different.
Cost: one read of the table. A sample of the rows says beforehand whether it is worth it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import njit
from maxmargin.data.executor import check_interrupt
from maxmargin.data.table import Matrix, Vector, is_sparse
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import Separation

SAMPLED = 3.0  # sqrt(n) rows are looked at before all are: with m copies of each, 9 (m - 1) of them have an equal
SAMPLE = 1000  # rows that are looked at before all are
DISTINCT = 0.9  # a column with so many different values in the sample leaves few copies of a row
SMALL = 2_000_000  # numbers: so many are compared in no time
ODD, MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
HALF = np.uint64(32)
WORTH_MERGING = 0.9  # of the rows are distinct at most, or merging is not worth its indirection


@njit
def mix(hash_so_far: Any, word: Any) -> Any:
    """One more word of 64 bits: each bit of it changes about half of the bits of the hash."""
    mixed = (hash_so_far ^ word) * MIX
    return mixed ^ (mixed >> HALF)


def mixed(hashes: Any, words: Any) -> Any:
    """The same of whole arrays."""
    found = (hashes ^ words.astype(np.uint64)) * MIX
    return found ^ (found >> HALF)


def hash_dense_at_once(words: Any, signs: Any, hashes: Any) -> None:
    hashes[:] = np.where(signs > 0.0, np.uint64(1), ODD)
    for column in words.T:
        hashes[:] = mixed(hashes, column)


@njit(at_once=hash_dense_at_once)
def hash_dense(words: Any, signs: Any, hashes: Any) -> None:
    for i in range(words.shape[0]):
        row, total = words[i], np.uint64(1) if signs[i] > 0.0 else ODD
        for j in range(row.shape[0]):
            total = mix(total, np.uint64(row[j]))
        hashes[i] = total


def hash_sparse_at_once(words: Any, indices: Any, indptr: Any, signs: Any, hashes: Any) -> None:
    hashes[:] = np.where(signs > 0.0, np.uint64(1), ODD)
    sizes = np.diff(indptr)
    for k in range(int(sizes.max(initial=0))):
        some = np.flatnonzero(sizes > k)
        entries = indptr[some] + k
        hashes[some] = mixed(mixed(hashes[some], indices[entries]), words[entries])


@njit(at_once=hash_sparse_at_once)
def hash_sparse(words: Any, indices: Any, indptr: Any, signs: Any, hashes: Any) -> None:
    for i in range(indptr.shape[0] - 1):
        total = np.uint64(1) if signs[i] > 0.0 else ODD
        for entry in range(indptr[i], indptr[i + 1]):
            total = mix(mix(total, np.uint64(indices[entry])), np.uint64(words[entry]))
        hashes[i] = total


def find_owners_at_once(hashes: Any, _: Any, owner: Any, first: Any) -> int:
    _, places, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    order = np.argsort(places)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    owner[:], first[: len(order)] = rank[inverse], places[order]
    return len(order)


@njit(at_once=find_owners_at_once)
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


def all_equal_dense_at_once(words: Any, signs: Any, owner: Any, first: Any) -> bool:
    other = first[owner]
    return bool(np.array_equal(signs, signs[other]) and np.array_equal(words, words[other]))


@njit(at_once=all_equal_dense_at_once)
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


def all_equal_sparse_at_once(words: Any, indices: Any, indptr: Any, signs: Any, owner: Any, first: Any) -> bool:
    other, sizes = first[owner], np.diff(indptr)
    if not (np.array_equal(signs, signs[other]) and np.array_equal(sizes, sizes[other])):
        return False
    there = np.arange(len(indices)) + np.repeat(indptr[:-1][other] - indptr[:-1], sizes)
    return bool(np.array_equal(indices, indices[there]) and np.array_equal(words, words[there]))


@njit(at_once=all_equal_sparse_at_once)
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


def find_copies(
    X: Matrix, signs: Vector, distinct: float = WORTH_MERGING
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """(first, owner) of the distinct rows, or None if more than that share of the rows is distinct."""
    first, owner = find_equal(X, signs)
    if len(first) > distinct * X.shape[0]:
        return None
    words = words_of(X)
    check_interrupt()
    if is_sparse(X):
        equal = all_equal_sparse(words, X.indices, X.indptr, signs, owner, first)
    else:
        equal = all_equal_dense(words, signs, owner, first)
    return (first, owner) if equal else None


class Copies(NamedTuple):
    """Row i is a copy of row stands[i], the first of them.

    others    the rows for which another one stands
    units     u_i of each row, or C_i where there is no box
    merged    the sum of the units of its copies at a row that stands for them; those of the others as they are
    """

    stands: NDArray[np.int64]
    others: NDArray[np.bool_]
    units: Vector
    merged: Vector

    def sums(self, numbers: Vector) -> Vector:
        """At the rows that stand for others, the sum over these; elsewhere 0."""
        return np.asarray(np.bincount(self.stands, numbers, minlength=len(numbers)), dtype=np.float64)

    def shared(self, a: Vector) -> Vector:
        """The dual variables of all rows; at its bound where that of the row that stands for it is."""
        return np.asarray((a / self.merged)[self.stands] * self.units)


def worth_merging(X: Matrix, signs: Vector, units: Vector, distinct: float) -> Copies | None:
    """The copies, where at most that share of the rows is distinct; a sample says whether to look.

    With m copies of a row in the mean, the share is at least 1 / m; K equal pairs among s rows of n say that
    m = 1 + 2 K n / s^2.
    """
    n = X.shape[0]
    few = int(SAMPLED * math.sqrt(n))
    if n > 2 * few:
        some = slice(None, None, n // few)
        _, owner = find_equal(X[some] if is_sparse(X) else np.ascontiguousarray(X[some]), signs[some])
        count = np.bincount(owner).astype(np.float64)
        twice_pairs = float(np.sum(count * (count - 1.0)))
        if 1.0 + twice_pairs * n / len(owner) ** 2 < 1.0 / distinct:
            return None
    found = find_copies(X, signs, distinct) if np.all(units > 0.0) else None
    if found is None:
        return None
    first, owner = found
    stands = first[owner]
    others = stands != np.arange(n)
    merged = units.copy()
    merged[first] = np.bincount(owner, units)
    return Copies(stands, others, units, merged)


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


def contradictions(X: Matrix, signs: Vector) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of the one class, and beside each a row of the other that is equal to it: one for every row that has any."""
    none = np.zeros(0, dtype=np.intp)
    if is_sparse(X) and not X.has_sorted_indices:
        X = X.sorted_indices()
    first, owner = find_equal(X, np.ones(len(signs)))
    if len(first) == len(signs):
        return none, none
    partners = []
    for sign in (1.0, -1.0):
        members = np.flatnonzero(signs == sign)[::-1]
        partner = np.full(len(first), -1, dtype=np.intp)
        partner[owner[members]] = members  # the first of them stays
        partners.append(partner)
    plus, minus = partners
    other = np.where(signs > 0, minus[owner], plus[owner])
    rows = np.flatnonzero(other >= 0)
    rows = rows[equal_rows(X, rows, other[rows])]
    return rows, other[rows]


def are_likely(X: Matrix) -> bool:
    """Whether a look for equal rows is worth it: not in a large table with a column of numbers that were measured."""
    if is_sparse(X) or X.size <= SMALL:
        return True
    return sample_columns(X)[0] < DISTINCT


def equal_rows(X: Matrix, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether each of these rows is equal to the one beside it."""
    if not len(rows):
        return np.zeros(0, dtype=bool)
    if is_sparse(X):
        different = abs(X[rows] - X[others])
        return np.asarray(different.sum(axis=1) == 0.0).ravel()
    return np.asarray(np.all(X[rows] == X[others], axis=1))


def contradiction(problem: Separation) -> Iterate | None:
    """Two rows as a witness, if there are any."""
    rows, others = contradictions(problem.X, problem.signs)
    if not len(rows):
        return None
    a = np.zeros(problem.n_rows)
    a[[rows[0], others[0]]] = 1.0
    return Iterate(np.zeros(problem.n_columns), 0.0, a, True, 0, 1, meets=True)
