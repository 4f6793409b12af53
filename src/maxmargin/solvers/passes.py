"""One pass over the rows on every core that this process may use: h = X w, read in place, summed in float64.

Each entry of h depends on its own row alone, so the answer is the same for any number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from maxmargin._numba import njit
from maxmargin.data.matrix import Matrix, Vector, is_sparse
from maxmargin.data.rows import dot, rows_of
from maxmargin.data.threads import cores

WORTH_A_THREAD = 500_000  # numbers to read: below this, starting a thread costs more than it saves
ROWS = 4096  # of a dense table at a time


@njit
def values_of_block(rows: Any, w: Any, start: int, stop: int, h: Any) -> None:
    for i in range(start, stop):
        h[i] = dot(rows, i, w)


def values_of(X: Matrix, w: Vector) -> Vector:
    """X @ w."""
    n = X.shape[0]
    h = np.empty(n)
    rows = rows_of(X)
    numbers = X.data.size if hasattr(X, "indptr") else X.size
    threads = min(cores(), 1 + numbers // WORTH_A_THREAD)
    if threads == 1:
        values_of_block(rows, w, 0, n, h)
        return h
    edges = np.linspace(0, n, 4 * threads + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda start, stop: values_of_block(rows, w, start, stop, h), edges[:-1], edges[1:]))
    return h


def combination(X: Matrix, weights: Vector) -> Vector:
    """X' times the weights; a dense table some rows at a time, or float32 would be copied as a whole."""
    if is_sparse(X):
        return np.asarray(X.T @ weights, dtype=np.float64)
    total = np.zeros(X.shape[1])
    for start in range(0, len(X), ROWS):
        total += X[start : start + ROWS].T.astype(np.float64, copy=False) @ weights[start : start + ROWS]
    return total
