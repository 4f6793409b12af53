"""Kernels that are functions of an inner product: one matrix product, and one pass over the result.

    linear    x.x'
    poly      (gamma x.x' + coef0)^degree
    rbf       exp(-gamma |x - x'|^2)

All three are positive semidefinite, as sums and limits of products of the linear one with positive factors: coef0 >= 0.

Values are computed in float64, in plain NumPy, in blocks. |x - x'|^2 is taken as |x|^2 + |x'|^2 - 2 x.x', of rows
from which the mean of the table was subtracted: less cancels, and a shift by any vector changes no distance.

`left_factor` and `right_factor` are rows u(x) and columns v(x') with k(x, x') = f(u(x).v(x')): one product gives the
exponents of rbf, and the bases of poly. Solvers make such products in float32, by code of their own
(`solvers/kernel_smo/kernel_rows`); they and the judge's screening ask which of the two forms a kernel has.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.data.executor import Threads, check_interrupt
from maxmargin.data.table import Matrix, Vector, is_sparse, row_squares, terms_of
from maxmargin.problems.kernels.base import (
    BLOCK,
    EXP_ERROR,
    LEAST,
    UNIT_ROUNDOFF,
    Kernel,
    Points,
    as_array,
    block_sums,
    first_beyond,
    register,
    spans,
    weights_of,
)
from maxmargin.problems.kernels.limits import ADVICE, BeyondFloat64
from maxmargin.problems.kernels.sparse_products import PartedRows, as_columns, frequent_columns, parted, product

ROWS = 1024  # of a table that are moved at a time
DENSE_NUMBERS = 2**22  # so many numbers of sparse rows may be written out
DENSE_BLOCK = 2**19  # so many numbers of a block of sparse rows that meets few others
FULL = 0.2  # of a sparse table: with a larger share of entries, products are faster on all numbers


class ProductKernel(Kernel):
    """exp(-gamma |x - x'|^2) if `is_exponential`, else (gamma x.x' + coef0)^degree."""

    is_exponential: ClassVar[bool] = False

    @np.errstate(over="ignore", invalid="ignore")
    def points(self, X: Matrix, places: NDArray[np.intp] | None = None) -> Points:
        places = np.arange(X.shape[0]) if places is None else places
        if self.shift is None:
            X = X.astype(np.float64, copy=False)
            return Points(X, row_squares(X), places)
        moved, squares = np.empty(X.shape), np.empty(X.shape[0])
        for rows in spans(0, X.shape[0], ROWS):
            check_interrupt()
            np.subtract(as_array(X[rows]), self.shift, out=moved[rows])
            squares[rows] = row_squares(moved[rows])
        return Points(moved, squares, places)

    @np.errstate(over="ignore", invalid="ignore")
    def values(self, A: Points, B: Points) -> NDArray[np.float64]:
        return self.of_products(products(A.X, B.X), A.squares, B.squares)

    def combine(
        self,
        A: Points,
        B: Points,
        coefficients: NDArray[np.float64],
        threads: Threads | None = None,
        sizes: Vector | None = None,
    ) -> NDArray[np.float64]:
        """Wide sparse rows in two pieces (`sparse_products`)."""
        if not (is_wide(A.X) and is_wide(B.X)):
            return super().combine(A, B, coefficients, threads, sizes)
        is_frequent = frequent_columns(B.X)
        right = parted(B.X, B.squares, is_frequent)
        left = right if A is B else parted(A.X, A.squares, is_frequent)
        both, weights = A is B and sizes is None, weights_of(coefficients)
        return block_sums(
            self, A.X.shape[0], left.__getitem__, lambda columns: as_columns(right[columns]), coefficients, weights,
            threads, sizes, both,
        )  # fmt: skip

    def kept(self, B: Points) -> Points:
        """With the rows as the columns of a product, written out where they are sparse and not large."""
        if not is_sparse(B.X):
            return B._replace(X=B.X.T)
        is_small = B.X.shape[0] * B.X.shape[1] <= DENSE_NUMBERS
        return B._replace(X=np.ascontiguousarray(B.X.toarray().T) if is_small else B.X.T.tocsr())

    def values_beside(self, A: Points, kept: Points) -> NDArray[np.float64]:
        return self.of_products(as_array(A.X @ kept.X), A.squares, kept.squares)

    def from_factors(self, left: Any, right: Any) -> NDArray[np.float64]:
        if isinstance(left, PartedRows):
            return self.of_products(product(left, right), left.squares, right.squares)
        return self.of_factors(as_array(left @ right))

    def of_products(self, inner: NDArray[np.float64], left: Vector, right: Vector) -> NDArray[np.float64]:
        """The values from x.x', |x|^2 of the rows and |x'|^2 of the columns; in place."""
        raise NotImplementedError

    def of_factors(self, inner: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values from u(x).v(x'); in place."""
        raise NotImplementedError

    def right_factor(self, B: Points) -> Any:
        X = B.X.toarray() if is_sparse(B.X) and B.X.shape[0] * B.X.shape[1] <= DENSE_BLOCK else B.X
        X = self.right_rows(X, B.squares)
        return np.ascontiguousarray(X.T) if is_sparse(B.X) and not is_sparse(X) else X.T

    def right_rows(self, X: Matrix, squares: Vector) -> Matrix:
        """v(x') of the rows X, whose |x'|^2 these are."""
        raise NotImplementedError


@register
class Linear(ProductKernel):
    """x.x'."""

    name = "linear"
    irrational = ""
    is_semidefinite = True

    def of_products(self, inner: NDArray[np.float64], left: Vector, right: Vector) -> NDArray[np.float64]:
        return inner

    def diagonal(self, A: Points) -> Vector:
        return A.squares

    def reach(self, A: Points) -> Vector:
        return np.asarray(np.sqrt(at_least_squares(A)))

    def rounding(self, A: Points, B: Points) -> tuple[Vector, Vector]:
        return power_rounding(self, A, B)

    def dimension(self, n_columns: int) -> float:
        return n_columns

    def combine(
        self,
        A: Points,
        B: Points,
        coefficients: NDArray[np.float64],
        threads: Threads | None = None,
        sizes: Vector | None = None,
    ) -> NDArray[np.float64]:
        """By w itself, which a row block at a time adds to."""
        if sizes is not None:
            return super().combine(A, B, coefficients, threads, sizes)
        blocks = spans(0, len(coefficients), self.block[1])
        none = np.zeros((B.X.shape[1], coefficients.shape[1]))
        return np.asarray(A.X @ sum((B.X[rows].T @ coefficients[rows] for rows in blocks), none))

    def left_factor(self, A: Points) -> Matrix:
        return written_out(A.X)

    def right_rows(self, X: Matrix, squares: Vector) -> Matrix:
        return X

    def of_factors(self, inner: NDArray[np.float64]) -> NDArray[np.float64]:
        return inner


@register
class Polynomial(ProductKernel):
    """(gamma x.x' + coef0)^degree."""

    name = "poly"
    parameters = ("gamma", "coef0", "degree")
    formula = "({gamma} x.x' + {coef0})^{degree}"
    irrational = ""
    is_semidefinite = True

    def of_products(self, inner: NDArray[np.float64], left: Vector, right: Vector) -> NDArray[np.float64]:
        inner *= self.gamma
        inner += self.coef0
        return power(inner, self.degree)

    def diagonal(self, A: Points) -> Vector:
        return power(self.gamma * A.squares + self.coef0, self.degree)

    def reach(self, A: Points) -> Vector:
        squares = at_least_squares(A)
        return np.asarray((self.gamma * squares + abs(self.coef0)) ** (0.5 * self.degree) * (1.0 + 1e-9))

    def rounding(self, A: Points, B: Points) -> tuple[Vector, Vector]:
        return power_rounding(self, A, B)

    def dimension(self, n_columns: int) -> float:
        return math.comb(n_columns + self.degree, self.degree)

    def left_factor(self, A: Points) -> Matrix:
        return written_out(extended(A.X, self.gamma, np.full(A.X.shape[0], self.coef0)))

    def right_rows(self, X: Matrix, squares: Vector) -> Matrix:
        return extended(X, 1.0, np.ones(X.shape[0]))

    def of_factors(self, inner: NDArray[np.float64]) -> NDArray[np.float64]:
        return power(inner, self.degree)


@register
class Rbf(ProductKernel):
    """exp(-gamma |x - x'|^2); `shift` is the mean of a dense table."""

    name = "rbf"
    parameters = ("gamma",)
    formula = "exp(-{gamma} |x - x'|^2)"
    irrational = "exp of a rational number is none"
    is_semidefinite = is_exponential = is_positive = is_shift_invariant = True

    @classmethod
    def on(cls, X: Matrix, **numbers: Any) -> Self:
        if is_sparse(X):
            return cls(**numbers)
        mean = X.mean(axis=0, dtype=np.float64)
        return cls(**numbers, shift=np.clip(mean, X.min(axis=0), X.max(axis=0)))  # a constant column: exactly it

    def compared(self, points: Points) -> Points:
        """Without columns in which all are equal.

        The points are this kernel's own copy of the rows, and the columns that stay move up in it.
        """
        if self.shift is None or not len(points.X):
            return points
        varies = np.flatnonzero(points.X.min(axis=0) != points.X.max(axis=0))  # NaN, where numbers overflowed, stays
        if len(varies) == points.X.shape[1]:
            return points
        for rows in spans(0, len(points.X), ROWS):
            check_interrupt()
            points.X[rows, : len(varies)] = points.X[rows][:, varies]
        X = points.X[:, : len(varies)]
        return Points(X, row_squares(X), points.places)

    def of_products(self, inner: NDArray[np.float64], left: Vector, right: Vector) -> NDArray[np.float64]:
        inner *= 2.0 * self.gamma
        inner -= self.gamma * left[:, None]
        inner -= self.gamma * right
        return exponential(inner)

    def diagonal(self, A: Points) -> Vector:
        return np.ones(A.X.shape[0])

    def rounding(self, A: Points, B: Points) -> tuple[Vector, Vector]:
        """|x|^2, times gamma and as one of the terms of a product, goes through twice as many roundings as an inner
        product: the exponent is within 2 (d + 6) u gamma (|x| + |x'|)^2. Rows x' that are farther from 0 than 3 |x| and
        |x| + sqrt(40 / gamma) are so far from x that k < e^-40, and what is lost there is below 10^-15.
        """
        nothing, (terms, lengths, longest, vanished) = np.zeros(A.X.shape[0]), in_products(self, A, B)
        far = np.maximum(3.0 * lengths, lengths + np.sqrt(40.0 / self.gamma)) if self.gamma > 0.0 else np.inf
        share = 2.02 * (terms + 6) * UNIT_ROUNDOFF
        exponent = share * self.gamma * (lengths + np.minimum(longest, far)) ** 2 + vanished
        relative = 1.01 * np.expm1(np.minimum(exponent, 700.0)) + 2.0 * EXP_ERROR * UNIT_ROUNDOFF
        return relative, nothing + 1e-15 * share + 1e-300

    def refuse_beyond_float64(self, points: Points) -> None:
        """It is made of gamma |x|^2."""
        with np.errstate(over="ignore", invalid="ignore"):
            own = self.gamma * points.squares
        row = first_beyond(own)
        if row is not None:
            raise BeyondFloat64(
                f"row {points.places[row]} is so far from the others that gamma |x|^2 is {own[row]:.3g}, beyond what "
                f"float64 can add up: the rbf kernel cannot be computed; {ADVICE}, or give a smaller gamma"
            )

    def left_factor(self, A: Points) -> Matrix:
        squares = -self.gamma * A.squares
        return written_out(extended(A.X, 2.0 * self.gamma, squares, np.ones(len(squares))))

    def right_rows(self, X: Matrix, squares: Vector) -> Matrix:
        return extended(X, 1.0, np.ones(X.shape[0]), -self.gamma * squares)

    def of_factors(self, inner: NDArray[np.float64]) -> NDArray[np.float64]:
        return exponential(inner)


def is_wide(X: Matrix) -> bool:
    """Whether a block of these sparse rows is too wide to be written out."""
    return is_sparse(X) and X.shape[1] * BLOCK[1] > DENSE_BLOCK and X.nnz <= FULL * X.shape[0] * X.shape[1]


def at_least_squares(A: Points) -> Vector:
    """|x|^2 and more than rounding took of it, with what vanished when it was squared."""
    return np.asarray(A.squares * (1.0 + 1e-9) + LEAST * A.X.shape[1])


def in_products(kernel: Kernel, A: Points, B: Points) -> tuple[int, Vector, float, float]:
    """The most terms of an inner product; |x| of A and the longest of B; what may vanish below the least numbers."""
    terms = max(terms_of(A.X), terms_of(B.X))
    lengths, others = (np.sqrt(at_least_squares(P)) for P in (A, B))
    longest = float(others.max(initial=0.0))
    return terms, lengths, longest, (terms + 2) * LEAST * (1.0 + 4.0 * kernel.gamma) * (1.0 + terms * longest)


def power_rounding(kernel: Kernel, A: Points, B: Points) -> tuple[Vector, Vector]:
    """Of (gamma x.x' + coef0)^degree: an inner product of d terms is within gamma_d |x| |x'| of the real one."""
    degree, (terms, lengths, longest, vanished) = kernel.degree, in_products(kernel, A, B)
    most = kernel.gamma * lengths * longest + abs(kernel.coef0)
    relative = np.zeros(A.X.shape[0]) + 1.01 * degree * (terms + 6) * UNIT_ROUNDOFF
    return relative, degree * vanished * (1.0 + 1.01 * most) ** (degree - 1) + degree * LEAST


def products(A: Matrix, B: Matrix) -> NDArray[np.float64]:
    """x.x' for every x of A and x' of B, as an array."""
    if not is_sparse(A):
        return np.asarray(A @ B.T if not is_sparse(B) else (B @ A.T).T)
    if not is_sparse(B):
        return np.asarray(A @ B.T)
    if B.shape[0] * B.shape[1] <= DENSE_NUMBERS:
        return np.asarray(A @ np.ascontiguousarray(B.toarray().T))
    return np.asarray((A @ B.T).toarray())


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
