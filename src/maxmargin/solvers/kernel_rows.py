"""Rows of the kernel matrix in float32, as fast as the machine can make them.

The kernel is divided by the power of two at its largest k(x, x), so that its values are at most about 1. With
z = sqrt(2 gamma) (x - shift) for rbf, and z = sqrt(gamma) x scaled for the others,

    rbf             k = exp(z.z' - |z|^2 / 2 - |z'|^2 / 2) = exp((z, -|z|^2 / 2, -1).(z', 1, |z'|^2 / 2))
    poly, linear    k = (z.z' + r)^p                       =     ((z, r).(z', 1))^p

one matrix product of rows that are two numbers longer, and then one pass over the result. Where rows are sparse, the
product adds only what is there: a whole line of the transposed table for each entry of a row; and where the
table is too wide to be written out, a few rows are written out instead and meet the sparse table.

Columns are split into blocks, which run side by side. Rows that were made are kept in a cache of bounded size.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin._numba import njit
from maxmargin.data.matrix import Vector, is_sparse
from maxmargin.data.threads import Threads
from maxmargin.problems.kernels import Kernel, KernelName, Points, rows_of
from maxmargin.problems.notebook import State
from maxmargin.solvers.row_batches import RowBatches

Rows = NDArray[np.intp]
Values = NDArray[np.float32]

BLOCK = 8192  # columns: with some hundred rows they stay in the cache
TILE = 2048  # columns of a line of the transposed table that are added at a time
MOST_NUMBERS = 2**28  # a sparse table may be written out in float32 up to this size
CHEAP = 100  # multiplications: rows with fewer of them for each value are made anew rather than kept for long
FAR_FROM_ZERO = 0.01  # of the largest k(x, x): where all distances are below it, float32 would hold little of them
TOGETHER = 32  # rows that are written out to meet a wide sparse table


class KernelRows(ABC):
    """Makes rows of the kernel over some columns: all rows of the problem, or those that are still in play."""

    def __init__(self, kernel: Kernel, n_columns: int, threads: Threads, products: float) -> None:
        self.kernel, self.n_columns, self.threads = kernel, n_columns, threads
        self.is_cheap = products <= CHEAP  # multiplications for each value

    @abstractmethod
    def inner(self, rows: Rows, start: int, stop: int, out: Values) -> None:
        """out[:, start:stop] = what the kernel is a function of, for these rows and columns."""

    @abstractmethod
    def restricted(self, columns: Rows) -> KernelRows:
        """The same over a part of the columns."""

    def fill(self, rows: Rows, out: Values) -> None:
        """out[k] = the kernel of row rows[k] with every column."""

        def run(_: int, start: int, stop: int) -> None:
            self.inner(rows, start, stop, out)
            apply(self.kernel, out[:, start:stop])

        self.threads.run(run, [*range(0, self.n_columns, BLOCK), self.n_columns])

    def square(self, rows: Rows) -> Values:
        """The kernel among these rows."""
        part = self.restricted(rows)
        out = np.empty((len(rows), len(rows)), dtype=np.float32)
        part.fill(np.arange(len(rows)), out)
        return out


def apply(kernel: Kernel, inner: Values) -> None:
    """The kernel from the inner products, in place."""
    if kernel.name is KernelName.RBF:
        np.exp(inner, out=inner)
    elif kernel.name is KernelName.POLY and kernel.degree == 2:
        np.multiply(inner, inner, out=inner)
    elif kernel.name is KernelName.POLY and kernel.degree != 1:
        base = inner.copy()
        inner[...] = 1.0
        for _ in range(kernel.degree):
            inner *= base


class DenseTable(KernelRows):
    """`table` holds (z, 1, |z|^2 / 2) of the columns, one below the other; `left` says what stands against 1 and it."""

    def __init__(self, kernel: Kernel, table: Values, constant: float, threads: Threads) -> None:
        super().__init__(kernel, table.shape[1], threads, len(table))
        self.table, self.constant = table, constant

    def inner(self, rows: Rows, start: int, stop: int, out: Values) -> None:
        left = self.table[:, rows].T.copy()
        if self.kernel.name is KernelName.RBF:
            left[:, -2] = -left[:, -1]
            left[:, -1] = -1.0
        else:
            left[:, -1] = self.constant
        np.matmul(left, self.table[:, start:stop], out=out[:, start:stop])

    def restricted(self, columns: Rows) -> DenseTable:
        return DenseTable(self.kernel, np.ascontiguousarray(self.table[:, columns]), self.constant, self.threads)


class SparseTable(KernelRows):
    """Sparse rows against the transposed table, written out."""

    def __init__(
        self, kernel: Kernel, rows: Any, table: Values, halves: Values, constant: float, threads: Threads
    ) -> None:
        super().__init__(kernel, table.shape[1], threads, rows.nnz / max(1, rows.shape[0]))
        self.rows, self.table, self.halves, self.constant = rows, table, halves, constant

    def inner(self, rows: Rows, start: int, stop: int, out: Values) -> None:
        part = out[:, start:stop]
        if self.kernel.name is KernelName.RBF:
            np.add(-self.halves[rows][:, None], -self.halves[start:stop], out=part)
        else:
            part[...] = self.constant
        add_lines(self.rows.data, self.rows.indices, self.rows.indptr, rows, self.table, start, stop, out)

    def restricted(self, columns: Rows) -> SparseTable:
        table = np.ascontiguousarray(self.table[:, columns])
        return SparseTable(self.kernel, self.rows[columns], table, self.halves[columns], self.constant, self.threads)


@njit(fastmath={"reassoc", "contract"})
def add_lines(data: Any, indices: Any, indptr: Any, rows: Any, table: Any, first: Any, last: Any, out: Any) -> None:
    """out[k] += sum over the entries of row rows[k]: the entry times its line of the table; columns first to last."""
    for start in range(first, last, TILE):
        stop = min(start + TILE, last)
        for k in range(rows.shape[0]):
            row = out[k, start:stop]
            entry, end = indptr[rows[k]], indptr[rows[k] + 1]
            while entry + 4 <= end:
                v0, v1, v2, v3 = data[entry], data[entry + 1], data[entry + 2], data[entry + 3]
                t0, t1 = table[indices[entry], start:stop], table[indices[entry + 1], start:stop]
                t2, t3 = table[indices[entry + 2], start:stop], table[indices[entry + 3], start:stop]
                for c in range(stop - start):
                    row[c] += (v0 * t0[c] + v1 * t1[c]) + (v2 * t2[c] + v3 * t3[c])
                entry += 4
            while entry < end:
                value, line = data[entry], table[indices[entry], start:stop]
                for c in range(stop - start):
                    row[c] += value * line[c]
                entry += 1


class WideTable(KernelRows):
    """A sparse table that meets a few rows at a time."""

    def __init__(self, kernel: Kernel, rows: Any, halves: Values, constant: float, threads: Threads) -> None:
        super().__init__(kernel, rows.shape[0], threads, math.inf)
        self.rows, self.halves, self.constant = rows, halves, constant

    def inner(self, rows: Rows, start: int, stop: int, out: Values) -> None:
        columns, part = self.rows[start:stop], out[:, start:stop]
        for first in range(0, len(rows), TOGETHER):
            few = rows[first : first + TOGETHER]
            part[first : first + TOGETHER] = (columns @ np.ascontiguousarray(self.rows[few].toarray().T)).T
        if self.kernel.name is KernelName.RBF:
            part -= self.halves[rows][:, None]
            part -= self.halves[start:stop]
        else:
            part += self.constant

    def restricted(self, columns: Rows) -> WideTable:
        return WideTable(self.kernel, self.rows[columns], self.halves[columns], self.constant, self.threads)


class GivenValues(KernelRows):
    """Values that come in float64: of a function or a table, and of rows that are far from 0 for their distances.

    phi is shifted to one of the rows, z: k(x, x') - k(x, z) - k(x', z) + k(z, z). With sum a_i y_i = 0 that changes all
    values by the same number, which a bias takes up; and what is left is what float32 can hold.
    """

    def __init__(self, kernel: Kernel, points: Points, to_z: Vector, scale: float, threads: Threads) -> None:
        super().__init__(kernel, points.X.shape[0], threads, math.inf)
        self.points, self.to_z, self.scale = points, to_z, scale  # to_z = k(x, z) - k(z, z) / 2

    def fill(self, rows: Rows, out: Values) -> None:
        """Not in blocks: a user's function need not be safe beside itself."""
        self.inner(rows, 0, self.n_columns, out)

    def inner(self, rows: Rows, start: int, stop: int, out: Values) -> None:
        columns = rows_of(self.points, slice(start, stop))
        values = self.kernel.values(rows_of(self.points, rows), columns) - self.to_z[rows][:, None]
        values -= self.to_z[start:stop]
        np.divide(values, self.scale, out=out[:, start:stop], casting="same_kind")

    def restricted(self, columns: Rows) -> GivenValues:
        return GivenValues(self.kernel, rows_of(self.points, columns), self.to_z[columns], self.scale, self.threads)


class RowCache:
    """Kernel rows that are kept, as many as the memory allows: a ring in which what came first is replaced first.

    Memory that was never touched costs more than rows that are cheap to make: of those, `enough` are kept.
    """

    def __init__(self, rows: KernelRows, n_bytes: float, enough: int) -> None:
        n = rows.n_columns
        slots = int(min(n, enough if rows.is_cheap else n, max(1, n_bytes // (4 * n))))
        self.rows, self.values = rows, np.empty((slots, n), dtype=np.float32)
        self.slot_of, self.owner, self.next_slot = np.full(n, -1), np.full(slots, -1), 0
        self.made = RowBatches(slots)

    def slots(self, chosen: Rows) -> Rows:
        """Where in `values` the rows are, no more than there are slots; what is missing is made."""
        missing = chosen[self.slot_of[chosen] < 0]
        if len(missing):
            wanted = np.zeros(self.rows.n_columns + 1, dtype=bool)  # the last one stands for slots without an owner
            wanted[chosen] = True
            order = (np.arange(len(self.owner)) + self.next_slot) % len(self.owner)
            free = order[~wanted[self.owner[order]]][: len(missing)]
            self.slot_of[self.owner[free][self.owner[free] >= 0]] = -1
            self.owner[free] = self.slot_of[missing] = -1  # until they are made: a user's function may fail
            for first, last in runs(free):
                self.rows.fill(missing[first:last], self.values[free[first] : free[first] + last - first])
                self.made.note(free[first:last], missing[first:last])
            self.owner[free], self.slot_of[missing] = missing, free
            self.next_slot = (int(free[-1]) + 1) % len(self.owner)
        return self.slot_of[chosen]

    def state(self) -> State:
        """Which rows are where, for a notebook, and in what company they were made."""
        return {"owner": self.owner, "next_slot": self.next_slot, **self.made.state()}

    def take_up(self, kept: State) -> None:
        n, owner = self.rows.n_columns, kept["owner"]
        self.made.make_again(kept, owner, n, self.made_together, self.values)
        self.owner, self.next_slot = owner, kept["next_slot"] % len(owner)
        filled = np.flatnonzero(owner >= 0)
        self.slot_of[:] = -1
        self.slot_of[owner[filled]] = filled

    def made_together(self, rows: Rows) -> Values:
        values = np.empty((len(rows), self.rows.n_columns), dtype=np.float32)
        self.rows.fill(rows, values)
        return values


def runs(slots: Rows) -> Iterator[tuple[int, int]]:
    """Stretches of slots that follow each other."""
    edges = np.flatnonzero(np.diff(slots) != 1) + 1
    return zip([0, *edges], [*edges, len(slots)], strict=True)


class SharedRows(NamedTuple):
    """What the two-class problems of a fit share: the kernel's rows over all rows of the table, divided by `scale`."""

    rows: KernelRows
    scale: float


def shared_rows(kernel: Kernel, points: Points, threads: Threads) -> SharedRows:
    """The rows of the kernel among these points, divided by the power of two at its largest k(x, x)."""
    if kernel.name is KernelName.RBF:
        scale, factor, constant = 1.0, math.sqrt(2.0 * kernel.gamma), 0.0
    else:
        squares = kernel.diagonal(points)
        z = int(np.argsort(squares)[len(squares) // 2])
        to_z = kernel.combine(points, rows_of(points, slice(z, z + 1)), np.ones((1, 1)))[:, 0]
        to_z -= 0.5 * squares[z]
        spread = float((squares - 2.0 * to_z).max())  # of |phi(x) - phi(z)|^2
        largest = float(squares.max())
        if kernel.name in (KernelName.FUNCTION, KernelName.PRECOMPUTED) or spread < FAR_FROM_ZERO * largest:
            scale = power_at(spread)
            return SharedRows(GivenValues(kernel, points, to_z, scale, threads), scale)
        degree = kernel.degree if kernel.name is KernelName.POLY else 1
        gamma = kernel.gamma if kernel.name is KernelName.POLY else 1.0
        scale = power_at(largest)
        root = scale ** (1.0 / max(degree, 1))
        factor, constant = math.sqrt(gamma / root), kernel.coef0 / root
    halves = np.asarray(0.5 * factor * factor * points.squares, dtype=np.float32)
    if not is_sparse(points.X):
        table = written_out(points.X, factor, halves, kernel)
        return SharedRows(DenseTable(kernel, table, constant, threads), scale)
    rows = points.X.astype(np.float32)
    rows.data *= np.float32(factor)
    if rows.shape[0] * rows.shape[1] <= MOST_NUMBERS:
        table = np.ascontiguousarray(rows.T.toarray())
        return SharedRows(SparseTable(kernel, rows, table, halves, constant, threads), scale)
    return SharedRows(WideTable(kernel, rows, halves, constant, threads), scale)


def written_out(X: Any, factor: float, halves: Values, kernel: Kernel) -> Values:
    """(z, 1, |z|^2 / 2) of every row as a column; the last line only where the kernel needs it."""
    n, d = X.shape
    table = np.empty((d + (2 if kernel.name is KernelName.RBF else 1), n), dtype=np.float32)
    np.multiply(X.T, factor, out=table[:d], casting="same_kind")
    table[d] = 1.0
    if kernel.name is KernelName.RBF:
        table[d + 1] = halves
    return table


def power_at(value: float) -> float:
    """The power of two at or below a positive value."""
    return math.ldexp(1.0, math.frexp(value)[1] - 1) if 0.0 < value < math.inf else 1.0
