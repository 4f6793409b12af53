"""The tables from which kernel rows are multiplied: in float32, written out or sparse, without what all rows share.

    |x - x'|^2 = |(x - m) - (x' - m)|^2        for any m: with the most frequent number of each column in m, many
                                               tables are sparse, and a product takes their entries alone
    -|z - z'|^2 / 2 = z.z' - |z|^2 / 2 - |z'|^2 / 2        one product of rows (z, 1, |z|^2 / 2), with two more columns

All of them are made some rows at a time, so that work can be ended in between.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin._loops import njit
from maxmargin.data.executor import check_interrupt
from maxmargin.data.table import Vector, is_sparse
from maxmargin.problems.kernels import ProductKernel, spans

FULL = 3.0  # columns for each entry of a sparse row: with fewer, it is faster to multiply the zeros as well
FEW_ROWS = 64  # of a dense table that are looked at together
SEVERAL, SEVERAL_COLUMNS = 100, 32  # rows that are looked at for a background, and columns for it to matter
WIDE = 2048  # rows that are written out at a time

Values = NDArray[np.float32]


def without_background(X: Any) -> Any | None:
    """A dense table as a sparse one, shifted until the number that is most frequent in a column is 0 there, if most
    numbers are then 0: distances are the same. So are the pixels around a picture, and ones among zeros that were
    standardized.
    """
    if is_sparse(X) or len(X) < SEVERAL or X.shape[1] < SEVERAL_COLUMNS:
        return None
    some = np.sort(X[:: len(X) // SEVERAL][:SEVERAL], axis=0)
    background, longest, run = some[0].copy(), np.ones(X.shape[1]), np.ones(X.shape[1])
    for before, row in itertools.pairwise(some):  # equal numbers follow each other
        run = np.where(row == before, run + 1.0, 1.0)
        background, longest = np.where(run > longest, row, background), np.maximum(run, longest)
    if (1.0 - np.mean(longest) / SEVERAL) * FULL >= 1.0:
        return None
    thin = thinned(X, background)
    return thin if thin.nnz * FULL < X.size else None


def thinned(X: Any, background: Vector) -> Any:
    """X - background without its zeros, some rows at a time: no second table of all numbers is written."""
    entries, columns, counts = [], [], [np.zeros(1, dtype=np.intp)]
    for some in spans(0, len(X), FEW_ROWS):
        check_interrupt()
        part = X[some] - background
        places = np.flatnonzero(part)
        entries.append(part.ravel()[places])
        columns.append(places % X.shape[1])
        counts.append(np.count_nonzero(part, axis=1))
    ends = np.cumsum(np.concatenate(counts))
    return sparse.csr_array((np.concatenate(entries), np.concatenate(columns), ends), shape=X.shape)


def transposed(rows: Any) -> Values:
    """Sparse rows as the columns of a table that is written out."""
    table = np.empty((rows.shape[1], rows.shape[0]), dtype=np.float32)
    for some in spans(0, rows.shape[0], WIDE):
        check_interrupt()
        table[:, some] = rows[some].toarray().T
    return table


def written_out(X: Any, factor: float, halves: Values, kernel: ProductKernel) -> Values:
    """(z, 1, |z|^2 / 2) of every row as a column; the last line only where the kernel needs it."""
    n, d = X.shape
    table = np.empty((d + (2 if kernel.is_exponential else 1), n), dtype=np.float32)
    for some in spans(0, n, WIDE):
        check_interrupt()
        np.multiply(X[some].T, factor, out=table[:d, some], casting="same_kind")
    table[d] = 1.0
    if kernel.is_exponential:
        table[d + 1] = halves
    return table


@njit(fastmath={"contract", "reassoc"})
def add_rows(table: Any, slots: Any, coefficients: Any, values: Any, start: Any, stop: Any) -> None:
    """values += sum_k coefficients_k table[slots_k], from column start to stop."""
    for first in range(start, stop, 1024):
        last = min(first + 1024, stop)
        total = np.zeros(last - first, np.float32)
        k, count = 0, slots.shape[0]
        while k + 4 <= count:
            c0, c1, c2, c3 = coefficients[k], coefficients[k + 1], coefficients[k + 2], coefficients[k + 3]
            r0, r1 = table[slots[k], first:last], table[slots[k + 1], first:last]
            r2, r3 = table[slots[k + 2], first:last], table[slots[k + 3], first:last]
            for t in range(last - first):
                total[t] += (c0 * r0[t] + c1 * r1[t]) + (c2 * r2[t] + c3 * r3[t])
            k += 4
        while k < count:
            c0, r0 = coefficients[k], table[slots[k], first:last]
            for t in range(last - first):
                total[t] += c0 * r0[t]
            k += 1
        for t in range(last - first):
            values[first + t] += total[t]
