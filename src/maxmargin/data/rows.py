"""Rows behind one door: the compiled loops say dot() and add(), and mean a dense array or CSR (`table.rows_of`).

    dot(rows, i, w)          x_i . w      over the columns of X: w may be longer (a lifted bias at its end)
    add(rows, i, scale, w)   w += scale * x_i
    square(rows, i)          |x_i|^2
    touch_row(rows, i)       asks the memory for x_i, a few rows before it is needed

One source serves both forms: Numba chooses by the type of `rows`. Uncompiled, the same names are the plain
Python below.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse

from maxmargin._loops import is_record, overload, touch
from maxmargin.data.table import DenseRows

PER_LINE = 8  # float64 in a cache line of 64 bytes
TOUCHED = 512  # numbers of a row that are asked for ahead; the memory finds the rest of a long row by itself


def dot(rows: Any, i: int, w: Any) -> float:
    if isinstance(rows, DenseRows):
        return float(rows.values[i] @ w[: rows.values.shape[1]])
    entries = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
    return float(rows.data[entries] @ w[rows.indices[entries]])


def add(rows: Any, i: int, scale: float, w: Any) -> None:
    if isinstance(rows, DenseRows):
        w[: rows.values.shape[1]] += scale * rows.values[i]
    else:
        entries = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
        w[rows.indices[entries]] += scale * rows.data[entries]


def square(rows: Any, i: int) -> float:
    if isinstance(rows, DenseRows):
        return float(np.sum(np.square(rows.values[i], dtype=np.float64)))
    return float(np.sum(np.square(rows.data[int(rows.indptr[i]) : int(rows.indptr[i + 1])], dtype=np.float64)))


def chosen_rows(rows: Any, chosen: Any, n_columns: int) -> Any:
    """These rows as an array, for what is computed with all of them at once: of a table that is not large."""
    if isinstance(rows, DenseRows):
        return rows.values[chosen]
    places = [one.view(f"i{one.itemsize}") for one in (rows.indices, rows.indptr)]
    return sparse.csr_array((rows.data, *places), (len(rows.indptr) - 1, n_columns))[chosen].toarray()


def touch_row(rows: Any, i: int) -> None:
    pass  # there is nothing to compute


# A sum may be reordered, so that it runs in vector registers; nothing else may be assumed of the numbers.
@overload(dot, fastmath={"reassoc", "contract"})
def _compile_dot(rows: Any, i: Any, w: Any) -> Any:
    def dense(rows: Any, i: Any, w: Any) -> Any:
        total = 0.0
        row = rows.values[i]
        for j in range(row.shape[0]):
            total += row[j] * w[j]
        return total

    def csr(rows: Any, i: Any, w: Any) -> Any:
        total = 0.0
        for entry in range(rows.indptr[i], rows.indptr[i + 1]):
            total += rows.data[entry] * w[rows.indices[entry]]
        return total

    return dense if is_record(rows, DenseRows) else csr


@overload(add)
def _compile_add(rows: Any, i: Any, scale: Any, w: Any) -> Any:
    def dense(rows: Any, i: Any, scale: Any, w: Any) -> None:
        row = rows.values[i]
        for j in range(row.shape[0]):
            w[j] += scale * row[j]

    def csr(rows: Any, i: Any, scale: Any, w: Any) -> None:
        for entry in range(rows.indptr[i], rows.indptr[i + 1]):
            w[rows.indices[entry]] += scale * rows.data[entry]

    return dense if is_record(rows, DenseRows) else csr


@overload(square, fastmath={"reassoc", "contract"})
def _compile_square(rows: Any, i: Any) -> Any:
    def dense(rows: Any, i: Any) -> Any:
        total = 0.0
        row = rows.values[i]
        for j in range(row.shape[0]):
            total += np.float64(row[j]) * row[j]
        return total

    def csr(rows: Any, i: Any) -> Any:
        total = 0.0
        for entry in range(rows.indptr[i], rows.indptr[i + 1]):
            total += np.float64(rows.data[entry]) * rows.data[entry]
        return total

    return dense if is_record(rows, DenseRows) else csr


@overload(touch_row)
def _compile_touch_row(rows: Any, i: Any) -> Any:
    def dense(rows: Any, i: Any) -> None:
        width = rows.values.shape[1]
        for j in range(0, min(width, TOUCHED), PER_LINE):
            touch(rows.values, i * width + j)

    def csr(rows: Any, i: Any) -> None:
        stop = min(rows.indptr[i + 1], rows.indptr[i] + np.uint64(TOUCHED))
        for entry in range(rows.indptr[i], stop, np.uint64(PER_LINE)):
            touch(rows.indices, entry)
            touch(rows.data, entry)

    return dense if is_record(rows, DenseRows) else csr
