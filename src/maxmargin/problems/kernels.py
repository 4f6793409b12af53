"""Kernels: the inner product of two rows after a map phi that is never computed.

    linear         x.x'
    poly           (gamma x.x' + coef0)^degree
    rbf            exp(-gamma |x - x'|^2)
    a function     k(A, B): the kernel of every row of A with every row of B
    precomputed    the table holds the values themselves: row i is x_i's kernel with every row that was learnt from

A plane in the space of phi is w = sum_j c_j phi(x_j), so that w.phi(x) = sum_j c_j k(x, x_j): rows are all it takes.

Values are computed in float64, in plain NumPy, in blocks. |x - x'|^2 is taken as |x|^2 + |x'|^2 - 2 x.x', of rows
from which the mean of the table was subtracted: less cancels, and a shift by any vector changes no distance.
`rounding` bounds how far a computed value can be from the real one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.data.matrix import Matrix, Vector, is_sparse, largest_magnitude, row_squares
from maxmargin.data.threads import Threads, block_edges, check_interrupt, one_thread_for_blas
from maxmargin.problems.kernel_function import checked_values
from maxmargin.problems.kernel_scale import scale_of

UNIT_ROUNDOFF = 2.0**-53
LEAST = math.ulp(0.0)
EXP_ERROR = 4.0  # units in the last place that NumPy's exp may be off
FAINT = 2.0**-1000  # added to weights: u times it is more than what a weight below the normal range can have lost
ROWS = 1024  # of a table that are moved at a time
BLOCKS_AT_ONCE = 32  # of rows whose left factors are made together
BLOCK, FUNCTION_BLOCK = (256, 256), (1024, 1024)  # of kernel values at a time: in the cache; few calls of a function
DENSE_NUMBERS = 2**22  # so many numbers of sparse rows may be written out
DENSE_BLOCK = 2**19  # so many numbers of a block of sparse rows that meets few others
SKEW = 1e-8  # of the largest value: how far from symmetric a precomputed kernel may be
FULL = 0.2  # of a sparse table: with a larger share of entries, products are faster on all numbers


class KernelName(StrEnum):
    """The kernels that have a name."""

    LINEAR = "linear"
    POLY = "poly"
    RBF = "rbf"
    FUNCTION = "function"
    PRECOMPUTED = "precomputed"


NAMED = tuple(name for name in KernelName if name is not KernelName.FUNCTION)  # all that can be asked for by a word


class Points(NamedTuple):
    """Rows in the form that the kernel needs: shifted if distances are asked, with |x|^2, and their places.

    `places` are the numbers of these rows in the table that was learnt from, where they come from there.
    """

    X: Matrix
    squares: Vector
    places: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Kernel:
    """Which kernel, and its numbers. `shift` is what an rbf kernel subtracts from every row; None: nothing."""

    name: KernelName
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 1
    function: Callable[[Any, Any], Any] | None = None
    shift: Vector | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a file; some programs keep an enum as its text."""
        vars(self).update(state, name=KernelName(state["name"]))

    @np.errstate(over="ignore", invalid="ignore")
    def points(self, X: Matrix, places: NDArray[np.intp] | None = None) -> Points:
        """The rows X as this kernel wants them."""
        places = np.arange(X.shape[0]) if places is None else places
        if self.name is KernelName.PRECOMPUTED:
            return Points(X, np.zeros(0), places)
        X = X.astype(np.float64, copy=False)  # a function, too, must say the same of a row wherever it meets it
        if self.name is KernelName.FUNCTION:
            return Points(X, np.zeros(0), places)
        if self.shift is not None:
            moved = np.empty(X.shape)
            for rows in spans(0, len(X), ROWS):
                check_interrupt()
                np.subtract(X[rows], self.shift, out=moved[rows])
            X = moved
        return Points(X, row_squares(X), places)

    @np.errstate(over="ignore", invalid="ignore")
    def values(self, A: Points, B: Points) -> NDArray[np.float64]:
        """k(x, x') for every x of A and x' of B, in float64."""
        if self.name is KernelName.PRECOMPUTED:
            return as_array(A.X[:, B.places])
        if self.name is KernelName.FUNCTION:
            return self.called(A, B)
        inner = products(A.X, B.X)
        if self.name is KernelName.LINEAR:
            return inner
        if self.name is KernelName.RBF:
            inner *= 2.0 * self.gamma
            inner -= self.gamma * A.squares[:, None]
            inner -= self.gamma * B.squares
            return exponential(inner)
        inner *= self.gamma
        inner += self.coef0
        return power(inner, self.degree)

    def diagonal(self, A: Points) -> Vector:
        """k(x, x) of each row."""
        if self.name is KernelName.RBF:
            return np.ones(A.X.shape[0])
        if self.name is KernelName.LINEAR:
            return A.squares
        if self.name is KernelName.POLY:
            return power(self.gamma * A.squares + self.coef0, self.degree)
        if self.name is KernelName.PRECOMPUTED:
            return as_array(A.X[np.arange(len(A.places)), A.places])
        own = (rows_of(A, slice(i, i + 1)) for i in range(A.X.shape[0]))
        return np.array([float(self.values(row, row)[0, 0]) for row in own])

    def reach(self, A: Points) -> Vector:
        """q(x) of each row, with |k(x, x')| <= q(x) q(x') for the real values: of linear and poly."""
        squares = A.squares * (1.0 + 1e-9) + LEAST * A.X.shape[1]  # what vanished when it was squared
        if self.name is KernelName.LINEAR:
            return np.asarray(np.sqrt(squares))
        return np.asarray((self.gamma * squares + abs(self.coef0)) ** (0.5 * self.degree) * (1.0 + 1e-9))

    def rounding(self, A: Points, B: Points) -> tuple[Vector, Vector]:
        """Bounds (r, s) for each row x of A: every computed k(x, x') of B is within r K + s of the real value.

        K = k(x, x') for rbf, q(x) q(x') for linear and poly (see `reach`). An inner product of d terms is within
        gamma_d |x| |x'| of the real one; |x|^2, times gamma and as one of the terms of a product, goes through twice as
        many roundings: the exponent of rbf is within 2 (d + 6) u gamma (|x| + |x'|)^2. Rows x' that are farther from 0
        than 3 |x| and |x| + sqrt(40 / gamma) are so far from x that k < e^-40, and what is lost there is below 10^-15.
        What a function returns, or a table holds, is the real value.
        """
        n = A.X.shape[0]
        nothing = np.zeros(n)
        if self.name in (KernelName.FUNCTION, KernelName.PRECOMPUTED):
            return nothing, nothing
        terms = max(terms_per_row(A.X), terms_per_row(B.X))
        lengths, others = (np.sqrt(P.squares * (1.0 + 1e-9) + LEAST * P.X.shape[1]) for P in (A, B))
        longest = float(others.max(initial=0.0))
        vanished = (terms + 2) * LEAST * (1.0 + 4.0 * self.gamma) * (1.0 + terms * longest)
        if self.name is KernelName.RBF:
            far = np.maximum(3.0 * lengths, lengths + np.sqrt(40.0 / self.gamma)) if self.gamma > 0.0 else np.inf
            share = 2.02 * (terms + 6) * UNIT_ROUNDOFF
            exponent = share * self.gamma * (lengths + np.minimum(longest, far)) ** 2 + vanished
            relative = 1.01 * np.expm1(np.minimum(exponent, 700.0)) + 2.0 * EXP_ERROR * UNIT_ROUNDOFF
            return relative, nothing + 1e-15 * share + 1e-300
        degree = 1 if self.name is KernelName.LINEAR else self.degree
        most = self.gamma * lengths * longest + abs(self.coef0)
        relative = nothing + 1.01 * degree * (terms + 6) * UNIT_ROUNDOFF
        return relative, degree * vanished * (1.0 + 1.01 * most) ** (degree - 1) + degree * LEAST

    def combine(
        self,
        A: Points,
        B: Points,
        coefficients: NDArray[np.float64],
        threads: Threads | None = None,
        sizes: Vector | None = None,
    ) -> NDArray[np.float64]:
        """sum_j k(x, x_j) c_j for each row x of A, and each column c of the coefficients; nothing large is kept.

        To `sizes`, if it is given, sum_j |k(x, x_j)| (|c_j| + 2^-1000) is added, |c_j| over all columns. Where A is B
        and there are no sizes, each value is made once and serves both of its rows.
        """
        n, weights = A.X.shape[0], np.abs(coefficients).sum(axis=1) + FAINT
        if self.name is KernelName.LINEAR and sizes is None:  # w itself, a row block at a time
            blocks = spans(0, len(coefficients), self.block[1])
            none = np.zeros((B.X.shape[1], coefficients.shape[1]))
            return np.asarray(A.X @ sum((B.X[rows].T @ coefficients[rows] for rows in blocks), none))
        if self.name is KernelName.PRECOMPUTED:  # the columns in their places: zeros cost less than to pick columns
            coefficients, weights = (spread_out(c, B.places, A.X.shape[1]) for c in (coefficients, weights))
        out = np.zeros((n, coefficients.shape[1]))
        (height, width), edges = self.block, block_edges(n, n * len(coefficients))
        both = A is B and sizes is None and self.name in (KernelName.RBF, KernelName.POLY)
        mirrored = [np.zeros_like(out) for _ in edges] if both else []  # for each thread: its own

        @np.errstate(over="ignore", invalid="ignore")  # of this thread
        def run(block: int, start: int, stop: int) -> None:
            for some in spans(start, stop, BLOCKS_AT_ONCE * height):
                check_interrupt()
                left = self.left_factor(rows_of(A, some))
                run_some(block, some, left)

        def run_some(block: int, some: slice, left: Any) -> None:
            start, stop = some.start, some.stop
            parts = [(slice(start + at.start, start + at.stop), left[at]) for at in spans(0, stop - start, height)]
            for columns in spans(start if both else 0, len(coefficients), width):
                right = columns if self.name is KernelName.PRECOMPUTED else self.right_factor(rows_of(B, columns))
                for rows, part in parts:
                    if both and columns.start < rows.start:
                        break  # these pairs, and those of the rows below, have had their turn the other way round
                    check_interrupt()
                    values = self.from_factors(part, right)
                    out[rows] += values @ coefficients[columns]
                    if sizes is not None:
                        sizes[rows] += np.abs(values) @ weights[columns]
                    if both:
                        beyond = slice(max(rows.stop, columns.start), columns.stop)
                        mirrored[block][beyond] += values[:, beyond.start - columns.start :].T @ coefficients[rows]

        if self.name is KernelName.FUNCTION:  # which need not bear several threads, and may have its own
            for rows, columns in itertools.product(spans(0, n, height), spans(0, len(coefficients), width)):
                values = self.values(rows_of(A, rows), rows_of(B, columns))
                out[rows] += values @ coefficients[columns]
                if sizes is not None:
                    sizes[rows] += np.abs(values) @ weights[columns]
            return out
        with Threads.shared(threads) as shared, one_thread_for_blas():
            shared.run(run, edges)
        return sum(mirrored, out)

    @property
    def block(self) -> tuple[int, int]:
        """How many rows by how many rows `combine` takes at a time: their values stay in the cache."""
        return FUNCTION_BLOCK if self.name is KernelName.FUNCTION else BLOCK

    def left_factor(self, A: Points) -> Matrix:
        """Rows u(x) with k(x, x') = f(u(x).v(x')): one product gives the exponents of rbf, and the bases of poly."""
        if self.name is KernelName.RBF:
            squares = -self.gamma * A.squares
            return written_out(extended(A.X, 2.0 * self.gamma, squares, np.ones(len(squares))))
        if self.name is KernelName.POLY:
            return written_out(extended(A.X, self.gamma, np.full(A.X.shape[0], self.coef0)))
        return written_out(A.X) if self.name is KernelName.LINEAR else A.X

    def right_factor(self, B: Points) -> Matrix:
        """Columns v(x')."""
        X = B.X.toarray() if is_sparse(B.X) and B.X.shape[0] * B.X.shape[1] <= DENSE_BLOCK else B.X
        if self.name is KernelName.RBF:
            X = extended(X, 1.0, np.ones(X.shape[0]), -self.gamma * B.squares)
        if self.name is KernelName.POLY:
            X = extended(X, 1.0, np.ones(X.shape[0]))
        return np.ascontiguousarray(X.T) if is_sparse(B.X) and not is_sparse(X) else X.T

    def from_factors(self, left: Matrix, right: Any) -> NDArray[np.float64]:
        """The values of the rows and the columns whose factors these are."""
        if self.name is KernelName.PRECOMPUTED:
            return as_array(left[:, right])
        values = as_array(left @ right)
        if self.name is KernelName.RBF:
            return exponential(values)
        return values if self.name is KernelName.LINEAR else power(values, self.degree)

    def called(self, A: Points, B: Points) -> NDArray[np.float64]:
        """What the user's function says."""
        assert self.function is not None
        return checked_values(self.function(A.X, B.X), A.places, B.places)


@dataclass(frozen=True, eq=False)
class KernelChoice:
    """A kernel as the user names it, before the data are known: gamma may be "scale" or "auto"."""

    kernel: Any
    gamma: Any
    coef0: float
    degree: int

    def on(self, X: Matrix) -> Kernel:
        """The kernel on this table: scale is 1 / (columns * variance of X), auto is 1 / columns."""
        if callable(self.kernel):
            return Kernel(KernelName.FUNCTION, function=self.kernel)
        name = KernelName(self.kernel)
        if name in (KernelName.LINEAR, KernelName.PRECOMPUTED):
            return Kernel(name)
        gamma = scale_of(X, self.gamma)
        if name is KernelName.POLY:
            return Kernel(name, gamma, float(self.coef0), int(self.degree))
        if is_sparse(X):
            return Kernel(name, gamma)
        mean = X.mean(axis=0, dtype=np.float64)
        return Kernel(name, gamma, shift=np.clip(mean, X.min(axis=0), X.max(axis=0)))  # a constant column: exactly it


def refuse_a_skew_table(table: Matrix, places: NDArray[np.intp]) -> None:
    """A precomputed kernel is symmetric: `table` holds its values among the rows in these places."""
    skew = abs(table - table.T)
    if float(skew.max()) > SKEW * max(largest_magnitude(table), 1e-300):
        i, j = np.unravel_index(int(skew.argmax()), table.shape)
        raise ValueError(
            f"a precomputed kernel is symmetric; row {places[i]}, column {places[j]} holds {table[i, j]} "
            f"and row {places[j]}, column {places[i]} holds {table[j, i]}"
        )


def products(A: Matrix, B: Matrix) -> NDArray[np.float64]:
    """x.x' for every x of A and x' of B, as an array."""
    if not is_sparse(A):
        return np.asarray(A @ B.T if not is_sparse(B) else (B @ A.T).T)
    if not is_sparse(B):
        return np.asarray(A @ B.T)
    if B.shape[0] * B.shape[1] <= DENSE_NUMBERS:
        return np.asarray(A @ np.ascontiguousarray(B.toarray().T))
    return np.asarray((A @ B.T).toarray())


def terms_per_row(X: Matrix) -> int:
    """The most terms that are not zero in an inner product with a row."""
    return int(np.diff(X.indptr).max(initial=0)) if is_sparse(X) else int(X.shape[1])


def extended(X: Matrix, factor: float, *columns: Vector, dtype: type = np.float64) -> Matrix:
    """factor X with more columns on its right."""
    (n, d), more = X.shape, np.stack(columns, axis=1)
    if is_sparse(X):
        return sparse.hstack([X * factor, sparse.csr_array(more)], format="csr").astype(dtype)
    wider = np.empty((n, d + len(columns)), dtype=dtype)
    np.multiply(X, factor, out=wider[:, :d], casting="same_kind")
    wider[:, d:] = more
    return wider


def written_out(X: Matrix) -> Matrix:
    """A sparse table that is not so sparse, as an array."""
    return X.toarray() if is_sparse(X) and X.nnz > FULL * X.shape[0] * X.shape[1] else X


def as_array(values: Any) -> NDArray[np.float64]:
    return np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)


def spread_out(values: NDArray[np.float64], places: NDArray[np.intp], size: int) -> NDArray[np.float64]:
    """The values in their places, and zeros elsewhere."""
    out = np.zeros((size, *values.shape[1:]))
    out[places] = values
    return out


def exponential(exponents: NDArray[np.float64]) -> NDArray[np.float64]:
    """e to exponents that are at most 0 but for rounding, in place."""
    if exponents.size and exponents.max() > 0.0:
        np.minimum(exponents, 0.0, out=exponents)
    return np.exp(exponents, out=exponents)


def power(base: NDArray[np.float64], degree: int) -> NDArray[np.float64]:
    """base^degree by multiplications."""
    result = None if degree else np.ones_like(base)
    while degree:
        if degree % 2:
            result = base if result is None else result * base
        degree //= 2
        base = base * base if degree else base
    assert result is not None
    return result


def compared(kernel: Kernel, points: Points) -> Points:
    """The points as rbf needs them to compare them with each other: without columns in which all are equal.

    They are this kernel's own copy of the rows, and the columns that stay move up in it.
    """
    if kernel.shift is None or not len(points.X):
        return points
    varies = np.flatnonzero(points.X.min(axis=0) != points.X.max(axis=0))  # NaN, where numbers overflowed, stays
    if len(varies) == points.X.shape[1]:
        return points
    for rows in spans(0, len(points.X), ROWS):
        check_interrupt()
        points.X[rows, : len(varies)] = points.X[rows][:, varies]
    X = points.X[:, : len(varies)]
    return Points(X, row_squares(X), points.places)


def rows_of(points: Points, rows: slice | NDArray[np.intp]) -> Points:
    """Some of the rows."""
    squares = points.squares[rows] if len(points.squares) else points.squares
    return Points(points.X[rows], squares, points.places[rows])


def spans(start: int, stop: int, size: int) -> Iterator[slice]:
    """start..stop in slices of that size."""
    return (slice(low, min(low + size, stop)) for low in range(start, stop, size))
