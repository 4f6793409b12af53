"""Rows of the kernel matrix in float32, as fast as the machine can make them.

The kernel is divided by the power of two at its largest k(x, x), so that its values are at most about 1. With
z = sqrt(2 gamma) (x - shift) for rbf, and z = sqrt(gamma) x scaled for the others,

    rbf             k = exp(z.z' - |z|^2 / 2 - |z'|^2 / 2) = exp((z, -|z|^2 / 2, -1).(z', 1, |z'|^2 / 2))
    poly, linear    k = (z.z' + r)^p                       =     ((z, r).(z', 1))^p

one matrix product of rows that are two numbers longer, and then one pass over the result. Where rows are sparse, the
product adds only what is there (`inverted_lists`). A dense table may become sparse: |x - x'|^2 is the same after any
shift, and with the most frequent number of each column in it most numbers may be 0.

Columns are split into blocks, which run side by side; tables are made some rows at a time. So work can be ended in
between.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin._loops import njit
from maxmargin.data.executor import Threads, block_edges, check_interrupt
from maxmargin.data.table import Vector, is_sparse, row_squares
from maxmargin.problems.kernels import Kernel, Points, ProductKernel, rows_of, spans
from maxmargin.solvers.kernel_smo.inverted_lists import Entries, Parts, add_lines, add_lists, inverted, parted, taken

Rows = NDArray[np.intp]
Values = NDArray[np.float32]

WIDEST, NARROWEST = 2048, 256  # columns of a block: threads share them evenly, and each is worth a thread's attention
BLOCKS = 8  # or a multiple, where there are so many columns
HEIGHT = 256  # of the values that are made, added up and forgotten at a time
FULL = 3.0  # columns for each entry of a sparse row: with fewer, it is faster to multiply the zeros as well
FEW_ROWS, WIDE = 64, 2048  # of a dense table that are looked at together; that are written out together
SEVERAL, SEVERAL_COLUMNS = 100, 32  # rows that are looked at for a background, and columns for it to matter
CHEAP = 100  # multiplications for each value: rows that take no more are made anew rather than kept for long
FAR_FROM_ZERO = 0.01  # of the largest k(x, x): where all distances are below it, float32 would hold little of them
LARGEST_EXPONENT, MANY = 2.0**15, 0.99  # gamma |x|^2 of as many rows: float32 holds less of an rbf's exponent


def column_edges(n_columns: int) -> list[int]:
    """Where blocks of columns begin and end: of equal width, and as many for each of two, four or eight threads."""
    blocks = BLOCKS * (n_columns // (BLOCKS * WIDEST) + 1)
    while blocks > 1 and n_columns < blocks * NARROWEST:
        blocks //= 2
    return [n_columns * block // blocks for block in range(blocks + 1)]


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


class KernelRows(ABC):
    """Makes rows of the kernel over some columns: all rows of the problem, or those that are still active."""

    def __init__(self, n_columns: int, threads: Threads, products: float) -> None:
        self.n_columns, self.threads = n_columns, threads
        self.is_cheap = products <= CHEAP  # multiplications for each value
        self.are_light = False  # whether making a row takes about as long as reading it

    @abstractmethod
    def left(self, rows: Rows) -> Any:
        """These rows as they meet columns, of this table or of a part of it."""

    @abstractmethod
    def inner(self, left: Any, start: int, stop: int, out: Values, at: int) -> None:
        """What the kernel is a function of, for these rows and the columns from start to stop: in `out`, from column
        `at` on."""

    @abstractmethod
    def finish(self, inner: Values, start: int, stop: int) -> None:
        """The kernel from what it is a function of, in place, for the columns from start to stop."""

    @abstractmethod
    def restricted(self, columns: Rows) -> KernelRows:
        """The same over a part of the columns."""

    def fill(self, rows: Rows, out: Values) -> None:
        """out[k] = the kernel of row rows[k] with every column."""
        self.meet(self.left(rows), out)

    def meet(self, left: Any, out: Values) -> None:
        """The kernel of these rows with every column."""

        def run(_: int, start: int, stop: int) -> None:
            self.inner(left, start, stop, out, start)
            self.finish(out, start, stop)

        self.spread(run, self.n_columns)

    def spread(self, run: Callable[[int, int, int], None], n_columns: int) -> None:
        """run(_, start, stop) for blocks of columns, side by side."""
        self.threads.run(run, column_edges(n_columns))

    def square(self, rows: Rows) -> Values:
        """The kernel among these rows."""
        out = np.empty((len(rows), len(rows)), dtype=np.float32)
        self.restricted(rows).meet(self.left(rows), out)
        return out

    def add(self, rows: Rows, coefficients: Vector, columns: Rows, values: Vector) -> None:
        """values[columns] += sum_k coefficients_k times the kernel of row rows[k] with these columns.

        Nothing is kept: values of the kernel are made a few at a time, and added up while they are at hand.
        """
        parts = [slice(first, first + HEIGHT) for first in range(0, len(rows), HEIGHT)]
        lefts = [(self.left(rows[part]), coefficients[part].astype(np.float32)) for part in parts]
        tiles: list[Values] = []  # those that no thread is at work with: fresh memory is slow

        def run(_: int, start: int, stop: int) -> None:
            width = stop - start
            few, sums = self.restricted(columns[start:stop]), np.zeros(width)
            tile = tiles.pop() if tiles else np.empty(HEIGHT * WIDEST, dtype=np.float32)
            for left, c in lefts:
                check_interrupt()
                some = tile[: len(c) * width].reshape(len(c), width)
                few.inner(left, 0, width, some, 0)
                few.finish(some, 0, width)
                add_rows(some, np.arange(len(c)), c, sums, 0, width)
            values[columns[start:stop]] += sums
            tiles.append(tile)

        if len(rows) and len(columns):
            self.spread(run, len(columns))


# 2^f = c_0 + c_1 f + ... + c_6 f^6 for |f| <= 1/2, to 1e-9: the best such polynomial at the nodes of Chebyshev
C0, C1, C2, C3 = np.float32(1.0), np.float32(0.693147206), np.float32(0.240226466), np.float32(0.05550329)
C4, C5, C6 = np.float32(0.00961851953), np.float32(0.00133998604), np.float32(0.000153375768)
LOG2_E, LEAST_POWER, HALF = np.float32(math.log2(math.e)), np.float32(-126.0), np.float32(0.5)
EXPONENT_PLACE = np.int32(23)  # of the bits of a float32


@njit(fastmath={"contract", "reassoc"})
def exponential(values: Any, start: Any, stop: Any) -> None:
    """e^x = 2^n 2^f, n whole and |f| <= 1/2, in place: to 2^-23 (1 + |x|), which is what float32 makes of x already.

    Below 2^-126 there is 2^-126, and where x is not a number: rows that are too far away for float32.
    """
    for k in range(values.shape[0]):
        row = values[k, start:stop]
        bits = row.view(np.int32)
        for t in range(row.shape[0]):
            power = row[t] * LOG2_E
            power = power if power > LEAST_POWER else LEAST_POWER
            whole = np.floor(power + HALF)
            f = power - whole
            row[t] = (((((C6 * f + C5) * f + C4) * f + C3) * f + C2) * f + C1) * f + C0
            bits[t] += np.int32(whole) << EXPONENT_PLACE


class ProductRows(KernelRows):
    """Values that are multiplied here, in float32."""

    def __init__(self, kernel: ProductKernel, n_columns: int, threads: Threads, products: float) -> None:
        super().__init__(n_columns, threads, products)
        self.kernel = kernel

    def finish(self, inner: Values, start: int, stop: int) -> None:
        if self.kernel.is_exponential:
            exponential(inner, start, stop)
            return
        part, degree = inner[:, start:stop], self.kernel.degree
        base = part.copy() if degree > 2 else part
        for _ in range(degree - 1):
            np.multiply(part, base, out=part)
        if degree == 0:
            part[...] = 1.0


class DenseTable(ProductRows):
    """`table` holds (z, 1, |z|^2 / 2) of the columns, one below the other; `left` says what stands against 1 and it."""

    def __init__(self, kernel: ProductKernel, table: Values, constant: float, threads: Threads) -> None:
        super().__init__(kernel, table.shape[1], threads, len(table))
        self.table, self.constant = table, constant

    def left(self, rows: Rows) -> Values:
        left = np.take(self.table, rows, axis=1).T
        if self.kernel.is_exponential:
            left[:, -2] = -left[:, -1]
            left[:, -1] = -1.0
        else:
            left[:, -1] = self.constant
        return left

    @np.errstate(over="ignore", invalid="ignore")
    def inner(self, left: Values, start: int, stop: int, out: Values, at: int) -> None:
        np.matmul(left, self.table[:, start:stop], out=out[:, at : at + stop - start])

    def restricted(self, columns: Rows) -> DenseTable:
        return DenseTable(self.kernel, np.take(self.table, columns, axis=1), self.constant, self.threads)


class SparseTable(ProductRows):
    """Sparse rows against lines of the transposed table, for columns that many rows have, and lists for the others.

    `parts` are all rows, cut into those columns and these; `chosen` are those of the rows that are columns of this
    table; `halves` of either row are added to a product.
    """

    def __init__(
        self, kernel: ProductKernel, parts: Parts, chosen: Rows, lines: Values, halves: Values, threads: Threads
    ) -> None:
        super().__init__(kernel, len(chosen), threads, parts.entries_of_a_row)
        self.parts, self.chosen, self.lines, self.halves = parts, chosen, lines, halves
        self.are_light = parts.products <= CHEAP
        self.lists = inverted(parts.rare, chosen)

    def left(self, rows: Rows) -> tuple[Entries, Entries, Values]:
        few = self.chosen[rows]
        return taken(self.parts.frequent, few), taken(self.parts.rare, few), self.halves[rows]

    def meet(self, left: tuple[Entries, Entries, Values], out: Values) -> None:
        """Where there are lists, rows side by side, and not columns: a list is read as a whole."""
        if not len(self.lists.places):
            super().meet(left, out)
            return
        frequent, rare, halves = left

        def run(_: int, start: int, stop: int) -> None:
            few = frequent.between(start, stop), rare.between(start, stop), halves[start:stop]
            self.inner(few, 0, self.n_columns, out[start:stop], 0)
            self.finish(out[start:stop], 0, self.n_columns)

        self.threads.run(run, block_edges(len(out), out.size), 2 * HEIGHT)

    def inner(self, left: tuple[Entries, Entries, Values], start: int, stop: int, out: Values, at: int) -> None:
        frequent, rare, halves = left
        lines = self.lines, self.halves, start, stop, out, at
        add_lines(frequent.data, frequent.indices, frequent.indptr, halves, *lines)
        if len(self.lists.places):
            assert (start, stop) == (0, self.n_columns)  # as `meet` and `add` ask for them
            add_lists(rare.data, rare.indices, rare.indptr, self.lists, out)

    def restricted(self, columns: Rows) -> SparseTable:
        lines, halves = np.take(self.lines, columns, axis=1), self.halves[columns]
        return SparseTable(self.kernel, self.parts, self.chosen[columns], lines, halves, self.threads)


class GivenValues(KernelRows):
    """Values that the kernel itself makes, in float64: where it is no function of a product, and of rows that are far
    from 0 for their distances.

    phi is shifted to one of the rows, z: k(x, x') - k(x, z) - k(x', z) + k(z, z). With sum a_i y_i = 0 that changes all
    values by the same number, which a bias takes up; and what is left is what float32 can hold. The values of rbf are
    not shifted: there, float32 holds the values, but not the exponents.
    """

    def __init__(self, kernel: Kernel, points: Points, to_z: Vector, scale: float, threads: Threads) -> None:
        super().__init__(points.X.shape[0], threads, math.inf)
        self.kernel, self.points, self.to_z, self.scale = kernel, points, to_z, scale  # to_z = k(x, z) - k(z, z) / 2

    def left(self, rows: Rows) -> tuple[Points, Vector]:
        return rows_of(self.points, rows), self.to_z[rows]

    def inner(self, left: tuple[Points, Vector], start: int, stop: int, out: Values, at: int) -> None:
        check_interrupt()
        (rows, to_z), columns = left, rows_of(self.points, slice(start, stop))
        values = self.kernel.values(rows, columns) - to_z[:, None]
        values -= self.to_z[start:stop]
        np.divide(values, self.scale, out=out[:, at : at + stop - start], casting="same_kind")

    def finish(self, inner: Values, start: int, stop: int) -> None:
        """They are the kernel."""

    def spread(self, run: Callable[[int, int, int], None], n_columns: int) -> None:
        """A user's function not side by side: it need not be safe beside itself."""
        if not self.kernel.is_code:
            super().spread(run, n_columns)
            return
        for block, (start, stop) in enumerate(itertools.pairwise(column_edges(n_columns))):
            run(block, start, stop)

    def restricted(self, columns: Rows) -> GivenValues:
        return GivenValues(self.kernel, rows_of(self.points, columns), self.to_z[columns], self.scale, self.threads)


class SharedRows(NamedTuple):
    """What the two-class problems of a fit share: the kernel's rows over all rows of the table, divided by `scale`."""

    rows: KernelRows
    scale: float


@np.errstate(over="ignore")
def shared_rows(kernel: Kernel, points: Points, threads: Threads) -> SharedRows:
    """The rows of the kernel among these points, divided by the power of two at its largest k(x, x)."""
    if isinstance(kernel, ProductKernel) and kernel.is_exponential:
        scale, factor, constant = 1.0, math.sqrt(2.0) * math.sqrt(kernel.gamma), 0.0
        most, squares = LARGEST_EXPONENT, points.squares
        if kernel.gamma * squares.max(initial=0.0) > most and kernel.gamma * float(np.quantile(squares, MANY)) > most:
            return SharedRows(GivenValues(kernel, points, np.zeros(len(squares)), scale, threads), scale)
        return SharedRows(table_of(kernel, points, factor, constant, threads), scale)
    squares = kernel.diagonal(points)
    z = int(np.argsort(squares)[len(squares) // 2])
    to_z = kernel.combine(points, rows_of(points, slice(z, z + 1)), np.ones((1, 1)))[:, 0]
    to_z -= 0.5 * squares[z]
    spread, largest = float((squares - 2.0 * to_z).max()), float(squares.max())  # of |phi(x) - phi(z)|^2, |phi(x)|^2
    if not isinstance(kernel, ProductKernel) or spread < FAR_FROM_ZERO * largest:
        scale = power_at(spread)
        return SharedRows(GivenValues(kernel, points, to_z, scale, threads), scale)
    scale = power_at(largest)
    root = scale ** (1.0 / max(kernel.degree, 1))
    factor, constant = math.sqrt(kernel.gamma / root), kernel.coef0 / root
    return SharedRows(table_of(kernel, points, factor, constant, threads), scale)


def table_of(kernel: ProductKernel, points: Points, factor: float, constant: float, threads: Threads) -> ProductRows:
    """z = factor x, in the form in which products are fastest; `constant` is r."""
    X, squares = points.X, points.squares
    if kernel.is_exponential and (thin := without_background(X)) is not None:
        X, squares = thin, row_squares(thin)
    halves = np.asarray(0.5 * factor * factor * squares, dtype=np.float32)
    if not is_sparse(X) or X.shape[0] * X.shape[1] <= FULL * X.nnz:
        X = X.toarray() if is_sparse(X) else X
        return DenseTable(kernel, written_out(X, factor, halves, kernel), constant, threads)
    rows = X.astype(np.float32)
    rows.data *= np.float32(factor)
    added = -halves if kernel.is_exponential else np.full_like(halves, 0.5 * constant)
    parts = parted(rows)
    return SparseTable(kernel, parts, np.arange(len(added)), parts.lines(), added, threads)


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


def power_at(value: float) -> float:
    """The power of two at or below a positive value."""
    return math.ldexp(1.0, math.frexp(value)[1] - 1) if 0.0 < value < math.inf else 1.0
