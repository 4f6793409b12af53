"""The judge's passes over a table, in plain NumPy: X w, |X| w, X'c, the lengths of the rows, what they pay; and sums,
with the roundings that they take counted.

    gamma_k = k u / (1 - k u),  u = 2^-53      a sum of k terms is within gamma_k of the sum of their magnitudes

in whatever order they are added [higham2002]. Each pass is a function of one block, and what the blocks give is joined
in a fixed tree (`data.executor`); the additions of the tree are counted like all others. The rows of a block are shared
by the threads that there are, in parts that follow from its size, and joined like blocks. They are
read some at a time: of an array as many as stay in the cache, of CSR 2^21 entries. All sums run in NumPy's and SciPy's
own loops: BLAS adds in an order that depends on the number of threads. The exceptions are `margins_of` and `point_of`,
of the hard margin: their bounds hold for any order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.data.executor import additions, block_edges, join, parts_of, row_by_row, share
from maxmargin.data.table import (
    BLOCK,
    Block,
    Matrix,
    Table,
    Vector,
    as_table,
    blocks,
    in_safe_range,
    is_sparse,
    largest_of,
    row_squares,
    rows_between,
)
from maxmargin.problems.losses import Loss
from maxmargin.problems.statement import SoftMargin

if TYPE_CHECKING:
    from maxmargin.problems.many_margins import ManyMargins

SPARSE_BLOCK = 2**21  # entries of a CSR matrix that are converted at a time
WORTH_CUTTING = 4  # times as many entries of a CSR matrix as numbers of an array: to cut it out takes a while
SURELY = 1.0 + 2.0**-40  # times a difference of two numbers: it is not less, whatever rounding did to it or its bound
WIDTH = 32  # terms that are added one after the other


def rounding(terms: int, number: Any = np.float64) -> float:
    """gamma_k = k u / (1 - k u) for k roundings in this type of numbers."""
    share = terms * 0.5 * float(np.finfo(number).eps)
    return share / (1.0 - share)


def power_below(value: float) -> float:
    """The power of two by which to divide exactly, so that squares neither overflow nor vanish."""
    return math.ldexp(1.0, math.frexp(value)[1] - 1) if 0.0 < value < math.inf else 1.0


def total(values: NDArray[Any]) -> tuple[Any, int]:
    """The sum, and the most additions that any term went through: a few times the logarithm of their number.

    >>> total(np.arange(100.0))
    (np.float64(4950.0), 65)
    """
    rest, passed, add = values[:0].sum(), 1, np.add.reduce
    while len(values) > WIDTH:
        whole = len(values) // WIDTH * WIDTH
        rest += add(values[whole:])
        values = add(values[:whole].reshape(WIDTH, -1), axis=0)
        passed += WIDTH
    return add(values) + rest, passed + (len(values) if passed == 1 else WIDTH)


class Sum(NamedTuple):
    """A sum, of numbers or of vectors, and the most roundings that any term went through."""

    value: Any
    roundings: int

    def and_of(self, other: Sum) -> Sum:
        return Sum(self.value + other.value, max(self.roundings, other.roundings))


NOTHING = Sum(0.0, 0)  # of no rows


def joined(parts: Any, n_parts: int) -> Sum:
    """The sum of the sums of all blocks."""
    if n_parts == 1:
        return next(iter(parts))  # type: ignore[no-any-return]
    value, roundings = join(parts, Sum.and_of)
    return Sum(value, roundings + additions(n_parts))


def over_rows(table: Table, run: Callable[[int, slice], None]) -> int:
    """run(part, rows) for the parts of the rows that threads may share, if they are not empty; how many there are."""
    if len(table.parts) == 2:
        run(0, slice(*table.parts))
    else:
        share(lambda part, start, stop: run(part, slice(start, stop)), table.parts)
    return len(table.parts) - 1


def row_total(table: Table, values: Callable[[slice], NDArray[Any]]) -> Sum:
    """The sum of a number of each row; `values` has those of some rows."""
    if len(table.parts) == 2:
        return Sum(*total(values(slice(None))))
    found: dict[int, Sum] = {}

    def add(part: int, rows: slice) -> None:
        found[part] = Sum(*total(values(rows)))

    n_parts = over_rows(table, add)
    return joined((found.get(part, NOTHING) for part in range(n_parts)), n_parts)


def row_blocks(X: Matrix, start: int = 0, end: int | None = None) -> Iterator[tuple[slice, Matrix]]:
    """The rows some at a time in float64, without a copy where they are float64 already."""
    end = X.shape[0] if end is None else end
    if not is_sparse(X):
        height = max(1, BLOCK // max(1, X.shape[1]))
        for first in range(start, end, height):
            rows = slice(first, min(end, first + height))
            yield rows, X[rows].astype(np.float64, copy=False)
        return
    while start < end:
        stop = int(np.searchsorted(X.indptr, int(X.indptr[start]) + SPARSE_BLOCK, side="right")) - 1
        stop = min(max(stop, start + 1), end)
        yield slice(start, stop), rows_between(X, start, stop, np.float64)
        start = stop


def parts_of_block(X: Matrix) -> list[int]:
    """Where the parts of its rows begin and end that several threads may read."""
    return block_edges(X.shape[0], X.data.size // WORTH_CUTTING if is_sparse(X) else X.size)


def of_each_row(X: Matrix, measure: Callable[[Matrix], NDArray[Any]], number: Any = np.float64) -> NDArray[Any]:
    """A number of each row: measure(rows)."""
    values = np.empty(X.shape[0], dtype=number)

    def run(_: int, start: int, stop: int) -> None:
        for rows, part in row_blocks(X, start, stop):
            values[rows] = measure(part)

    share(run, parts_of_block(X))
    return values


def rows_in_float64(X: Matrix | Table) -> Iterator[tuple[int, Matrix]]:
    """All rows of a table, some at a time, and where they start."""
    for block in as_table(X).blocks():
        yield from ((block.start + rows.start, part) for rows, part in row_blocks(block.X))


def chosen_rows(X: Matrix | Table, rows: NDArray[np.intp], numbers: int) -> Iterator[tuple[NDArray[np.intp], Matrix]]:
    """These rows, which are in order, some at a time: of a part of them about so many numbers are read at once."""
    table = as_table(X)
    most = max(numbers, table.n_columns)  # the sum of so many has as many numbers as there are columns
    at_a_time = max(1, most * table.n_rows // max(1, table.numbers))
    for k, (first, last) in enumerate(itertools.pairwise(np.searchsorted(rows, table.edges))):
        block = table.block(k) if first < last else None
        for start in range(first, last, at_a_time):
            part = rows[start : min(start + at_a_time, last)]
            assert block is not None
            yield part, block.X[part - block.start]


def product(part: Any, w: NDArray[Any]) -> NDArray[Any]:
    part = part.astype(w.dtype, copy=False)
    return np.asarray(part @ w if is_sparse(part) else np.einsum("ij,j->i", part, w))


def weighted_sum(part: Any, weights: NDArray[Any]) -> NDArray[Any]:
    """X' times the weights, in their precision."""
    part = part.astype(weights.dtype, copy=False)
    return np.asarray(part.T @ weights if is_sparse(part) else np.einsum("ij,i->j", part, weights))


def row_lengths(part: Any, unit: float) -> Vector:
    """At least |x_i|, up to rounding, of rows in float64 whose numbers are below 2 `unit`."""
    if is_sparse(part):
        entries = part.data / unit
        squares = sparse.csr_array((entries * entries, part.indices, part.indptr), part.shape).sum(axis=1)
    else:
        entries = part / unit
        squares = np.einsum("ij,ij->i", entries, entries)
    return np.asarray((np.sqrt(squares) + 1e-150) * unit)


class Values(NamedTuple):
    """X w in the precision of w, whatever the precision of X."""

    w: NDArray[Any]

    def __call__(self, block: Block) -> NDArray[Any]:
        with np.errstate(over="ignore", invalid="ignore"):
            return of_each_row(block.X, lambda part: product(part, self.w), self.w.dtype)


class Sizes(NamedTuple):
    """|X| w."""

    w: Vector

    def __call__(self, block: Block) -> Vector:
        return of_each_row(block.X, lambda part: product(abs(part), self.w))


class Lengths(NamedTuple):
    """At least |x_i|, up to rounding: what vanishes when it is squared is added. largest >= |x_ij|."""

    largest: float

    def __call__(self, block: Block) -> Vector:
        return of_each_row(block.X, lambda part: row_lengths(part, power_below(self.largest)))


class LongestRow(NamedTuple):
    """max |x_i|_2, one number of each block; the squares neither overflow nor vanish. largest >= |x_ij|."""

    largest: float

    def __call__(self, block: Block) -> float:
        X, scale = in_safe_range(block.X, self.largest)
        return math.sqrt(float(row_squares(X).max(initial=0.0))) / scale


def values_and_magnitude(X: NDArray[Any], w: Vector) -> tuple[Vector, float]:
    """X w, by BLAS, and max |x_ij| of an array, in one read of the memory."""
    values, largest = np.empty(X.shape[0]), 0.0
    for rows in blocks(X):
        part = X[rows].astype(np.float64, copy=False)
        values[rows] = part @ w
        largest = max(largest, largest_of(part))
    return values, largest


class Margins(NamedTuple):
    """X w and max |x_ij| of dense rows."""

    w: Vector

    def __call__(self, block: Block) -> tuple[Vector, float]:
        return values_and_magnitude(block.X, self.w)


def combined(block: Block, weights: NDArray[Any]) -> Sum:
    """sum_i weights_i x_i over a block, in the precision of the weights."""
    edges = parts_of_block(block.X)
    found: dict[int, Sum] = {}

    def run(k: int, start: int, stop: int) -> None:
        summed, longest, count = np.zeros(block.X.shape[1], dtype=weights.dtype), 0, 0
        for rows, part in row_blocks(block.X, start, stop):
            summed += weighted_sum(part, weights[rows])
            longest, count = max(longest, part.shape[0]), count + 1
        found[k] = Sum(summed, longest + count + 1)

    share(run, edges)
    return joined((found[k] for k in range(len(edges) - 1)), len(edges) - 1)


def values_of(X: Matrix | Table, w: NDArray[Any]) -> NDArray[Any]:
    """X w."""
    return row_by_row(Values(w), as_table(X))


def sizes_of(X: Matrix | Table, w: Vector) -> Vector:
    """|X| w."""
    return row_by_row(Sizes(w), as_table(X))


def lengths_of(X: Matrix | Table, largest: float) -> Vector:
    """At least |x_i|; largest >= |x_ij|."""
    return row_by_row(Lengths(largest), as_table(X))


def combination(X: Matrix | Table, weights: NDArray[Any]) -> Sum:
    """X' times the weights."""
    table = as_table(X)
    if table.n_blocks == 1:
        return combined(table.block(0), weights)
    return joined(parts_of(combined, table, weights), table.n_blocks)


def values_of_each(X: NDArray[np.float64], spans: list[slice], planes: NDArray[np.float64]) -> Vector:
    """X_k w_k, one after the other, of tables that are spans of the rows of one array."""
    values = np.empty(len(X))
    for w, rows in zip(planes, spans, strict=True):
        np.einsum("ij,j->i", X[rows], w, out=values[rows])
    return values


def combination_of_each(X: NDArray[np.float64], spans: list[slice], weights: Vector) -> NDArray[np.float64]:
    """X_k' times the weights of its rows, for each k."""
    points = np.empty((len(spans), X.shape[1]))
    for point, rows in zip(points, spans, strict=True):
        np.einsum("ij,i->j", X[rows], weights[rows], out=point)
    return points


def longest_row(X: Matrix | Table) -> float:
    """max |x_i|_2."""
    table = as_table(X)
    return max(parts_of(LongestRow(table.largest), table))


def margins_of(table: Table, w: Vector) -> tuple[Vector, float]:
    """X w and max |x_ij|, by BLAS where the table is dense."""
    if table.is_sparse:
        return values_of(table, w), table.largest
    if table.n_blocks == 1:
        return values_and_magnitude(table.block(0).X, w)
    values, largest = zip(*parts_of(Margins(w), table), strict=True)
    return np.concatenate(values), max(largest)


def point_of(X: Matrix, weights: Vector) -> Vector:
    """X' times the weights, of rows at hand, by BLAS: a point that they span."""
    if is_sparse(X) or X.dtype == np.float64:
        return np.asarray(X.T.astype(np.float64, copy=False) @ weights)
    return values_and_magnitude(X.T, weights)[0]


def length(v: Vector, norm: str) -> float:
    """|v| without overflow: l2, l1, or max."""
    if v.size == 0:
        return 0.0
    largest = float(np.abs(v).max())
    if largest == 0.0 or not math.isfinite(largest) or norm == "max":
        return largest
    unit = power_below(largest)
    scaled = v / unit
    return unit * (math.sqrt((scaled * scaled).sum()) if norm == "l2" else float(np.abs(scaled).sum()))


def losses_of(loss: Loss, costs: Vector, missing: Vector, off: Any = 0.0) -> Vector:
    """C_i loss(max(0, missing_i + off_i)) of each row; in place, because there may be many."""
    losses = missing + off
    np.maximum(0.0, losses, out=losses)
    if loss.is_smooth:  # share (t - bend share / 2), share = min(t / bend, box): before the knee, t^2 / (2 bend)
        shares = losses / loss.bend
        np.minimum(shares, loss.box, out=shares)
        losses -= 0.5 * loss.bend * shares
        losses *= shares
    elif loss.box != 1.0:
        losses *= loss.box
    losses *= costs
    return np.asarray(losses)


def loss_total(problem: SoftMargin, missing: Vector, off: Any = 0.0) -> Sum:
    """sum_i C_i loss(max(0, missing_i + off_i)), and its additions."""
    loss, costs, each = problem.loss, problem.costs, isinstance(off, np.ndarray)
    return row_total(
        problem.table, lambda rows: losses_of(loss, costs[rows], missing[rows], off[rows] if each else off)
    )


def row_shares(problem: SoftMargin | ManyMargins, a: Vector, slack: Vector, functional: Vector) -> Vector:
    """What each row adds to P - D, apart from 1/2 |w - w(a)|^2: never negative, and zero in complementary slackness.

    before the knee    C_i (xi_i - q_i a_i)^2 / (2 bend)                  + a_i max(0, y_i (w.x_i + b) - 1)
    beyond it          (u_i - a_i) (xi_i - q_i (u_i + a_i) / 2)
    """
    loss, costs, beyond = problem.loss, problem.costs, a * np.maximum(0.0, functional - 1.0)
    share = np.zeros(len(a))
    if loss.is_smooth:
        share = costs * (slack - loss.bend * a / costs) ** 2 / (2.0 * loss.bend)
    if loss.is_bounded:
        upper = problem.upper
        bent = 0.5 * loss.bend * (upper + a) / costs if loss.is_smooth else 0.0
        straight = (upper - a) * (slack - bent)
        share = np.where(slack >= loss.knee, straight, share)
    return np.asarray(share + beyond)


def soft_gap(primal: float, dual: float) -> float:
    """(primal - dual) / primal; infinite where nothing is known of the primal side."""
    if not 0.0 < primal < np.inf:
        return 0.0 if primal == dual == 0.0 else np.inf
    return (primal - dual) / primal


def proves_gap(low: float, high: float, tol: float) -> bool:
    """Whether (high - low) / high <= tol, in integers: a quotient of doubles could be rounded down to tol.

    low = k / p, high = h / q and tol = t / r: (h p - k q) r <= t h p.
    """
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        return False
    if tol > 0.0 and SURELY * (high - low) <= tol * high < math.inf and tol * high > 2.0**-900:
        return True
    (k, p), (h, q), (t, r) = (float(number).as_integer_ratio() for number in (low, high, tol))  # it may be numpy's
    return (h * p - k * q) * r <= t * h * p
