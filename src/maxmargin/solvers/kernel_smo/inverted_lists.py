"""Inner products of a sparse row with many others: each entry adds a line of the transposed table, or a list.

    x.x'_j = sum over the columns c of x:  x_c x'_jc        for all j at once: each entry of x adds its column's list

In a column that many rows have, that is a whole line of the transposed table, written out; in others an inverted list.

A list holds the places j of the rows that have an entry in the column, and the entries. A row costs the sum of the
lengths of its lists, and nothing for what two rows do not share; the lists take as much memory as the rows. Where words
are rare, as in texts, that is a small part of writing the other rows out and adding whole lines.

Reference: the inverted files of text retrieval, [zobel2006].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin._loops import njit
from maxmargin.data.executor import check_interrupt
from maxmargin.problems.kernels import spans

FREQUENT = 0.08  # of all rows: where more have an entry in a column, adding a line for all is faster than the list
SCATTERED = 4.0  # multiplications of a line in the time of one of a list
TILE = 2048  # columns of a line that are added at a time
WIDE = 2048  # rows that are written out at a time


class Lists(NamedTuple):
    """The list of column c is places[ends[c]:ends[c + 1]], with the entries beside them."""

    ends: NDArray[np.int64]
    places: NDArray[np.int32]
    entries: NDArray[np.float32]


class Parts(NamedTuple):
    """A CSR table as two: the columns in which many rows have an entry, and the others that have any.

    `products` are the multiplications for each value of the kernel, on an average; one of a list counts as several.
    """

    frequent: Any
    rare: Any
    products: float

    @property
    def entries_of_a_row(self) -> float:
        return float((self.frequent.nnz + self.rare.nnz) / max(1, self.rare.shape[0]))

    def lines(self) -> NDArray[np.float32]:
        """The frequent columns, each written out as a line."""
        rows = self.frequent
        table = np.empty((rows.shape[1], rows.shape[0]), dtype=np.float32)
        for some in spans(0, rows.shape[0], WIDE):
            check_interrupt()
            table[:, some] = rows[some].toarray().T
        return table


class Entries(NamedTuple):
    """Some rows of a CSR table, without what SciPy checks whenever it makes one; row k is indptr[k]:indptr[k + 1]."""

    data: NDArray[np.float32]
    indices: NDArray[np.int32]
    indptr: NDArray[np.integer]

    def between(self, start: int, stop: int) -> Entries:
        return self._replace(indptr=self.indptr[start : stop + 1])


def taken(rows: Any, chosen: NDArray[np.intp]) -> Entries:
    """These rows of a CSR table, in that order."""
    if not len(rows.data):
        return Entries(rows.data, rows.indices, np.zeros(len(chosen) + 1, rows.indptr.dtype))
    begins = rows.indptr[chosen]
    counts = rows.indptr[chosen + 1] - begins
    ends = np.append(0, np.cumsum(counts))
    places = np.repeat(begins - ends[:-1], counts) + np.arange(ends[-1])
    return Entries(rows.data[places], rows.indices[places], ends)


def parted(rows: Any) -> Parts:
    counts = np.bincount(rows.indices, minlength=rows.shape[1])
    is_frequent = counts > FREQUENT * rows.shape[0]
    shares = counts / max(1, rows.shape[0])
    products = float(shares[is_frequent].sum() + SCATTERED * np.sum(shares[~is_frequent] ** 2))
    return Parts(with_columns(rows, is_frequent), with_columns(rows, ~is_frequent & (counts > 0)), products)


def with_columns(rows: Any, wanted: NDArray[np.bool_]) -> Any:
    """The table with these columns alone."""
    numbers = np.cumsum(wanted) - 1
    stays = wanted[rows.indices]
    ends = np.append(0, np.cumsum(stays))[rows.indptr]
    shape = rows.shape[0], int(np.count_nonzero(wanted))
    return sparse.csr_array((rows.data[stays], numbers[rows.indices[stays]].astype(np.int32), ends), shape=shape)


def inverted(rows: Any, chosen: NDArray[np.intp]) -> Lists:
    """The lists of these rows of a CSR table, whose places are 0, 1, ... in that order."""
    return Lists(*fill_lists(rows.data, rows.indices, rows.indptr, chosen, rows.shape[1]))


@njit
def fill_lists(data: Any, indices: Any, indptr: Any, chosen: Any, n_columns: Any) -> Any:
    """Count, add up, and put each entry into its place."""
    ends = np.zeros(n_columns + 1, np.int64)
    for k in range(chosen.shape[0]):
        for entry in range(indptr[chosen[k]], indptr[chosen[k] + 1]):
            ends[indices[entry]] += 1
    total = 0
    for c in range(n_columns + 1):  # where the list begins, for now
        total, ends[c] = total + ends[c], total
    places, entries = np.empty(total, np.int32), np.empty(total, np.float32)
    for k in range(chosen.shape[0]):
        for entry in range(indptr[chosen[k]], indptr[chosen[k] + 1]):
            at = ends[indices[entry]]
            places[at], entries[at] = k, data[entry]
            ends[indices[entry]] = at + 1
    for c in range(n_columns, 0, -1):  # each beginning has become the end, which is where the next one begins
        ends[c] = ends[c - 1]
    ends[0] = 0
    return ends, places, entries


@njit
def add_lists(data: Any, indices: Any, indptr: Any, lists: Any, out: Any) -> None:
    """out[k] += for each entry of row k: the entry times its list."""
    ends, places, entries = lists
    for k in range(out.shape[0]):
        row = out[k]
        for entry in range(indptr[k], indptr[k + 1]):
            value, column = data[entry], indices[entry]
            for at in range(ends[column], ends[column + 1]):
                row[places[at]] += value * entries[at]


@njit(fastmath={"reassoc", "contract"})
def add_lines(
    data: Any, indices: Any, indptr: Any, halves: Any, table: Any, others: Any, first: Any, last: Any, out: Any, at: Any
) -> None:
    """out[k] = what is halved of row k and of the columns from first to last, and for each entry of row k: the entry
    times its line of the table."""
    for start in range(first, last, TILE):
        stop = min(start + TILE, last)
        for k in range(out.shape[0]):
            row, half, other = out[k, start - first + at : stop - first + at], halves[k], others[start:stop]
            for c in range(stop - start):
                row[c] = half + other[c]
            entry, end = indptr[k], indptr[k + 1]
            while entry + 8 <= end:
                v0, v1, v2, v3 = data[entry], data[entry + 1], data[entry + 2], data[entry + 3]
                v4, v5, v6, v7 = data[entry + 4], data[entry + 5], data[entry + 6], data[entry + 7]
                t0, t1 = table[indices[entry], start:stop], table[indices[entry + 1], start:stop]
                t2, t3 = table[indices[entry + 2], start:stop], table[indices[entry + 3], start:stop]
                t4, t5 = table[indices[entry + 4], start:stop], table[indices[entry + 5], start:stop]
                t6, t7 = table[indices[entry + 6], start:stop], table[indices[entry + 7], start:stop]
                for c in range(stop - start):
                    one, two = v0 * t0[c] + v1 * t1[c], v2 * t2[c] + v3 * t3[c]
                    three, four = v4 * t4[c] + v5 * t5[c], v6 * t6[c] + v7 * t7[c]
                    row[c] += (one + two) + (three + four)
                entry += 8
            while entry < end:
                value, line = data[entry], table[indices[entry], start:stop]
                for c in range(stop - start):
                    row[c] += value * line[c]
                entry += 1
