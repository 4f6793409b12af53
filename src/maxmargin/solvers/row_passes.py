"""Sums over chosen rows on every core: X'c, X'D X v, X'D X and the diagonal of it, with the same bits on any machine.

    combine    sum_k c_k x_k                  one read of the rows
    curve      sum_k c_k (x_k . v) x_k        one read: a row is still in the cache when it is added
    squares    sum_k c_k x_k^2                by column
    outer      sum_k c_k z_k z_k'             z_k = (x_k - centre, 1); CSR rows have no centre

The chosen rows are cut into blocks whose edges depend on the data alone, each block sums for itself in float64, and
the sums are added in the order of the blocks: whoever computes them, and when, is not seen in the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin._numba import njit
from maxmargin.data.matrix import Matrix, Vector, is_sparse
from maxmargin.data.rows import add, dot, rows_of
from maxmargin.data.threads import Threads, block_edges
from maxmargin.solvers.interior_point.normal_equations import CHUNK, add_outer_products, padded

Chosen = NDArray[np.intp]
Square = NDArray[np.float64]

PRODUCTS_PER_CHECK = 1_000_000_000


@njit(fastmath={"reassoc", "contract"})
def inner(x: Any, y: Any) -> float:
    """x.y on one core: for long vectors, BLAS would wake the others, and its sum would depend on their number."""
    total = 0.0
    for j in range(x.shape[0]):
        total += x[j] * y[j]
    return total


@njit
def combine_block(rows: Any, chosen: Any, c: Any, start: int, stop: int, total: Any) -> None:
    for k in range(start, stop):
        add(rows, chosen[k], c[k], total)


@njit
def curve_block(rows: Any, chosen: Any, c: Any, v: Any, start: int, stop: int, total: Any) -> None:
    """The last entry of total gathers sum_k c_k (x_k . v)."""
    last = total.shape[0] - 1
    for k in range(start, stop):
        value = c[k] * dot(rows, chosen[k], v)
        total[last] += value
        add(rows, chosen[k], value, total)


@njit
def squares_dense(rows: Any, chosen: Any, c: Any, start: int, stop: int, total: Any) -> None:
    for k in range(start, stop):
        row = rows.values[chosen[k]]
        for j in range(row.shape[0]):
            total[j] += c[k] * row[j] * row[j]


@njit
def squares_sparse(rows: Any, chosen: Any, c: Any, start: int, stop: int, total: Any) -> None:
    for k in range(start, stop):
        for entry in range(rows.indptr[chosen[k]], rows.indptr[chosen[k] + 1]):
            total[rows.indices[entry]] += c[k] * rows.data[entry] * rows.data[entry]


@njit
def outer_block(
    rows: Any, chosen: Any, c: Any, centre: Any, start: int, stop: int, ones: Any, buffer: Any, M: Any
) -> None:
    for first in range(start, stop, CHUNK):
        last = min(first + CHUNK, stop)
        add_outer_products(rows, chosen[first:last], centre, c[first:last], ones[: last - first], buffer, M)


class RowPasses:
    """The sums over rows of one table."""

    def __init__(self, X: Matrix, threads: Threads) -> None:
        self.rows, self.threads = rows_of(X), threads
        self.sparse = is_sparse(X)
        self.n_columns = int(X.shape[1])
        self.numbers_per_row = float((X.data.size if self.sparse else X.size) / max(1, X.shape[0]))

    def sum_of_blocks(self, n_chosen: int, numbers: float, shape: Any, block: Callable[[int, int, Any], None]) -> Any:
        """block(start, stop, sum) adds its rows to a sum of that shape.

        So few blocks that their sums are a small part of what they read.
        """
        numbers = min(numbers, numbers * n_chosen * self.numbers_per_row / (4.0 * float(np.prod(shape))))
        edges = block_edges(n_chosen, int(numbers))
        sums = [np.zeros(shape) for _ in edges[1:]]
        self.threads.run(lambda k, start, stop: block(start, stop, sums[k]), edges)
        for other in sums[1:]:
            sums[0] += other
        return sums[0]

    def over(self, chosen: Chosen, size: int, block: Callable[[int, int, Any], None]) -> Vector:
        total: Vector = self.sum_of_blocks(len(chosen), len(chosen) * self.numbers_per_row, size, block)
        return total

    def combine(self, chosen: Chosen, c: Vector) -> Vector:
        return self.over(
            chosen,
            self.n_columns,
            lambda start, stop, total: combine_block(self.rows, chosen, c, start, stop, total),
        )

    def curve(self, chosen: Chosen, c: Vector, v: Vector) -> tuple[Vector, float]:
        """X'D X v over the chosen rows, and sum_k c_k (x_k . v)."""
        total = self.over(
            chosen,
            self.n_columns + 1,
            lambda start, stop, total: curve_block(self.rows, chosen, c, v, start, stop, total),
        )
        return total[:-1], float(total[-1])

    def squares(self, chosen: Chosen, c: Vector) -> Vector:
        block = squares_sparse if self.sparse else squares_dense
        return self.over(
            chosen, self.n_columns, lambda start, stop, total: block(self.rows, chosen, c, start, stop, total)
        )

    def outer(self, chosen: Chosen, c: Vector, centre: Vector) -> Iterator[Square]:
        """Parts whose sum has sum_k c_k z_k z_k' in its lower triangle, c >= 0; each part takes a moment."""
        size, ones = padded(self.n_columns + 1), np.ones((CHUNK, 1))
        products = max(1.0, self.numbers_per_row**2)
        at_once = max(CHUNK, int(PRODUCTS_PER_CHECK / products))

        def add_block(start: int, stop: int, total: Square) -> None:
            buffer = np.zeros((CHUNK, size))
            outer_block(self.rows, part, c_of_part, centre, start, stop, ones, buffer, total)

        for first in range(0, len(chosen), at_once):
            part, c_of_part = chosen[first : first + at_once], c[first : first + at_once]
            yield self.sum_of_blocks(len(part), len(part) * products / 10.0, (size, size), add_block)
