"""The solvers' passes over the rows, compiled: of a matrix on every core that this process may use.

    values_of              X w                    each entry from its own row
    combination            X' c                   a number for each row
    products_of_columns    X' D X and X' D y      by BLAS
    RowPasses              over chosen rows k:
      combine        sum_k c_k x_k                one read of the rows
      curve          sum_k c_k (x_k . v) x_k      one read: a row is still in the cache when it is added
      squares        sum_k c_k x_k^2              by column
      outer          sum_k c_k z_k z_k'           z_k = (x_k - centre, 1); CSR rows have no centre

Tables are read in place and summed in float64. The rows of a matrix are cut into parts for the threads by the size of
the data alone, each part sums for itself, and the sums are added in their order: whoever computes them, and when, is
not seen in the result. (`combination` and `products_of_columns` are the exceptions: BLAS adds in an order of its own.)
A table that is not in memory is read block by block, by whoever executes them, and what its blocks give is joined in a
fixed tree (`data.executor`). Loops with a second form (`_at_once`) run so while nothing is compiled: its sums come from
`einsum`, which adds on one core and in one order, whatever BLAS would do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import add as plus
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import njit
from maxmargin.data.executor import Part, Threads, block_edges, check_interrupt, join, parts_of, row_by_row
from maxmargin.data.rows import add, chosen_rows, dot
from maxmargin.data.table import Block, Matrix, Table, Vector, is_sparse, rows_of
from maxmargin.solvers.interior_point.normal_equations import CHUNK, add_outer_products, padded

Chosen = NDArray[np.intp]
Square = NDArray[np.float64]

ROWS = 4096  # of a dense table at a time
PRODUCTS_PER_CHECK = 1_000_000_000
PRODUCTS, SPARSE_PRODUCTS = 200_000_000, 20_000_000  # of numbers by BLAS, between two checks of the clock


def values_of_rows_at_once(rows: Any, index: Any, w: Any, start: int, stop: int, values: Any) -> None:
    X = chosen_rows(rows, index[start:stop], len(w))
    values[start:stop] = np.einsum("ij,j->i", X, w[: X.shape[1]])  # a lifted w has an entry more


@njit(at_once=values_of_rows_at_once)
def values_of_rows(rows: Any, index: Any, w: Any, start: int, stop: int, values: Any) -> None:
    """values_k = x_k . w."""
    for k in range(start, stop):
        values[k] = dot(rows, index[k], w)


def values_of_block_at_once(rows: Any, w: Any, start: int, stop: int, h: Any) -> None:
    values_of_rows_at_once(rows, np.arange(stop), w, start, stop, h)


@njit(at_once=values_of_block_at_once)
def values_of_block(rows: Any, w: Any, start: int, stop: int, h: Any) -> None:
    for i in range(start, stop):
        h[i] = dot(rows, i, w)


def sum_by_class_at_once(rows: Any, index: Any, cost: Any, weights: Any, start: int, stop: int, total: Any) -> None:
    own, d = slice(start, stop), total.shape[1] - 1
    X, is_positive = chosen_rows(rows, index[own], d), cost[own] > 0.0
    for side, members in enumerate((is_positive, ~is_positive)):
        of_side = np.where(members, weights[own], 0.0)
        total[side, :d] += np.einsum("i,ij->j", of_side, X)
        total[side, d] += of_side.sum()


@njit(at_once=sum_by_class_at_once)
def sum_by_class(rows: Any, index: Any, cost: Any, weights: Any, start: int, stop: int, total: Any) -> None:
    """total[0] += sum of weights_k (x_k, 1) over the positive rows, total[1] over the negative ones."""
    d = total.shape[1] - 1
    for k in range(start, stop):
        if weights[k] != 0.0:
            side = 0 if cost[k] > 0.0 else 1
            add(rows, index[k], weights[k], total[side])
            total[side, d] += weights[k]


def inner_at_once(x: Any, y: Any) -> float:
    return float(np.einsum("i,i->", x, y))


@njit(fastmath={"reassoc", "contract"}, at_once=inner_at_once)
def inner(x: Any, y: Any) -> float:
    """x.y on one core: for long vectors, BLAS would wake the others, and its sum would depend on their number."""
    total = 0.0
    for j in range(x.shape[0]):
        total += x[j] * y[j]
    return total


def combine_block_at_once(rows: Any, chosen: Any, c: Any, start: int, stop: int, total: Any) -> None:
    X = chosen_rows(rows, chosen[start:stop], len(total))
    total[: X.shape[1]] += np.einsum("i,ij->j", c[start:stop], X)


@njit(at_once=combine_block_at_once)
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


def outer_block_at_once(
    rows: Any, chosen: Any, c: Any, centre: Any, start: int, stop: int, _: Any, buffer: Any, M: Any
) -> None:
    k = len(centre) + 1
    z = np.ones((stop - start, k))
    z[:, :-1] = chosen_rows(rows, chosen[start:stop], k - 1) - (centre if hasattr(rows, "values") else 0.0)
    M[:k, :k] += np.einsum("ki,kj->ij", z * c[start:stop, None], z)


@njit(at_once=outer_block_at_once)
def outer_block(
    rows: Any, chosen: Any, c: Any, centre: Any, start: int, stop: int, ones: Any, buffer: Any, M: Any
) -> None:
    for first in range(start, stop, CHUNK):
        last = min(first + CHUNK, stop)
        add_outer_products(rows, chosen[first:last], centre, c[first:last], ones[: last - first], buffer, M)


def values_of(X: Matrix | Table, w: Vector) -> Vector:
    """X @ w."""
    if isinstance(X, Table):
        return row_by_row(Values(w), X)
    h, rows = np.empty(X.shape[0]), rows_of(X)
    edges = block_edges(len(h), X.data.size if is_sparse(X) else X.size)
    if len(edges) == 2:
        values_of_block(rows, w, 0, len(h), h)
        return h
    with Threads.shared() as threads:
        threads.run(lambda _, start, stop: values_of_block(rows, w, start, stop, h), edges)
    return h


class Values(NamedTuple):
    """X w of a block."""

    w: Vector

    def __call__(self, block: Block) -> Vector:
        h = np.empty(block.X.shape[0])
        values_of_block(rows_of(block.X), self.w, 0, len(h), h)
        return h


def product(X: Any, w: Vector) -> Vector:
    """X w of rows that are at hand, by BLAS."""
    return np.asarray(X @ w)


def combination(X: Matrix, weights: Vector) -> Vector:
    """X' times the weights; a dense table some rows at a time, or float32 would be copied as a whole."""
    if is_sparse(X):
        return np.asarray(X.T @ weights, dtype=np.float64)
    total = np.zeros(X.shape[1])
    for start in range(0, len(X), ROWS):
        total += X[start : start + ROWS].T.astype(np.float64, copy=False) @ weights[start : start + ROWS]
    return total


def products_of_columns(X: Matrix, s: Vector, y: Vector, centre: Vector) -> tuple[Square, Vector]:
    """sum_i s_i (x_i - centre)(x_i - centre)' and sum_i s_i y_i x_i, by BLAS; CSR rows have no centre."""
    n, d = X.shape
    matrix, right = np.zeros((d, d)), np.zeros(d)
    rows_at_once = max(1, PRODUCTS // (d * d + 1))
    if is_sparse(X):
        rows_at_once = max(1, int(SPARSE_PRODUCTS / max(1.0, (X.nnz / max(1, n)) ** 2)))
    for start in range(0, n, rows_at_once):
        check_interrupt()
        some = slice(start, min(n, start + rows_at_once))
        rows = X[some].astype(np.float64, copy=False)
        right += rows.T @ (s[some] * y[some])
        if is_sparse(rows):
            matrix += (rows.T @ rows.multiply(s[some, None]).tocsr()).toarray()
        else:
            rows = rows - centre
            matrix += rows.T @ (s[some, None] * rows)
    return matrix, right


class RowPasses:
    """The sums over rows of a matrix."""

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


class Curve(NamedTuple):
    """sum_k c_k (x_k . v) x_k over a block, and sum_k c_k (x_k . v) at its end."""

    v: Vector

    def __call__(self, block: Block, c: Vector) -> Vector:
        total, chosen = np.zeros(block.X.shape[1] + 1), np.flatnonzero(c)
        curve_block(rows_of(block.X), chosen, c[chosen], self.v, 0, len(chosen), total)
        return total


class Outer(NamedTuple):
    """sum_k c_k z_k z_k' over a block."""

    centre: Vector

    def __call__(self, block: Block, c: Vector) -> Square:
        size, chosen = padded(block.X.shape[1] + 1), np.flatnonzero(c)
        total, buffer, ones = np.zeros((size, size)), np.zeros((CHUNK, size)), np.ones((CHUNK, 1))
        outer_block(rows_of(block.X), chosen, c[chosen], self.centre, 0, len(chosen), ones, buffer, total)
        return total


def combine_rows(block: Block, c: Vector) -> Vector:
    total, chosen = np.zeros(block.X.shape[1]), np.flatnonzero(c)
    combine_block(rows_of(block.X), chosen, c[chosen], 0, len(chosen), total)
    return total


def squares_of_rows(block: Block, c: Vector) -> Vector:
    total, chosen = np.zeros(block.X.shape[1]), np.flatnonzero(c)
    add_squares = squares_sparse if is_sparse(block.X) else squares_dense
    add_squares(rows_of(block.X), chosen, c[chosen], 0, len(chosen), total)
    return total


class BlockPasses:
    """The same sums over the rows of a table that is read block by block."""

    def __init__(self, table: Table) -> None:
        self.table, self.sparse, self.n_columns = table, table.is_sparse, table.n_columns
        self.numbers_per_row = table.numbers / max(1, table.n_rows)

    def over(self, part: Part[Any], chosen: Chosen, c: Vector) -> Any:
        weights = np.zeros(self.table.n_rows)
        weights[chosen] = c
        return join(parts_of(part, self.table, weights), plus)

    def combine(self, chosen: Chosen, c: Vector) -> Vector:
        return np.asarray(self.over(combine_rows, chosen, c))

    def curve(self, chosen: Chosen, c: Vector, v: Vector) -> tuple[Vector, float]:
        total = self.over(Curve(v), chosen, c)
        return total[:-1], float(total[-1])

    def squares(self, chosen: Chosen, c: Vector) -> Vector:
        return np.asarray(self.over(squares_of_rows, chosen, c))

    def outer(self, chosen: Chosen, c: Vector, centre: Vector) -> Iterator[Square]:
        if len(chosen):
            yield self.over(Outer(centre), chosen, c)


def passes_over(X: Matrix | Table, threads: Threads) -> RowPasses | BlockPasses:
    return BlockPasses(X) if isinstance(X, Table) else RowPasses(X, threads)
