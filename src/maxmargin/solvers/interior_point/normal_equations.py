"""The small matrix of a Newton step, sum_i t_i z_i z_i', and its Cholesky factor.

    z_i = (x_i - m, e_i)      a row of the table, and beside it a few extra columns that the caller computes

An extra column such as 1, or r_i, costs one column more and brings X't, or X'(t r), with it: one read of the table
serves the matrix and its right-hand sides.

Numbers far from zero lose their digits in products, so that dense rows are taken from a centre m.

Dense rows are scaled by sqrt(t_i) into a small buffer, and their products are taken in tiles of four rows times four
columns: as fast as BLAS for few columns and for many, but on the thread that calls it, so that blocks of rows run
beside each other. The factor is our own for the same reason: LAPACK wakes up threads, and on a busy machine waits for
them. Cost: n d^2 / 2 multiplications. CSR rows add their pairs of entries: sum_i nnz_i^2 / 2.

Only the lower triangle is filled. Reference: [higham2002] section 10 (a factor of the matrix scaled to unit diagonal).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky

from maxmargin._loops import is_record, njit, overload
from maxmargin.data.executor import check_interrupt
from maxmargin.data.table import DenseRows, Vector

CHUNK = 64  # rows in the buffer: they stay in the cache while the matrix passes by
REGISTER = 8  # numbers in a vector register: a row of the triangle is filled up to whole registers
PANEL = 32  # columns of a factor that are finished together
PRODUCTS = 100_000_000  # of numbers, between two checks of the clock
SMALLEST_SHIFT, SHIFT_GROWTH, LARGEST_SHIFT = 1e-15, 30.0, 1.0


def padded(columns: int) -> int:
    """The number of columns, filled up to whole registers."""
    return -(-columns // REGISTER) * REGISTER


def add_outer_products(rows: Any, chosen: Any, centre: Any, t: Any, extra: Any, buffer: Any, M: Any) -> None:
    """M += sum_k t_k z_k z_k' over the chosen rows, CHUNK at most; extra[k] is e_k. Sparse rows have no centre."""
    (add_dense if isinstance(rows, DenseRows) else add_sparse)(rows, chosen, centre, t, extra, buffer, M)


@overload(add_outer_products)
def _compile_add_outer_products(rows: Any, chosen: Any, centre: Any, t: Any, extra: Any, buffer: Any, M: Any) -> Any:
    def dense(rows: Any, chosen: Any, centre: Any, t: Any, extra: Any, buffer: Any, M: Any) -> None:
        add_dense(rows, chosen, centre, t, extra, buffer, M)

    def sparse(rows: Any, chosen: Any, centre: Any, t: Any, extra: Any, buffer: Any, M: Any) -> None:
        add_sparse(rows, chosen, centre, t, extra, buffer, M)

    is_dense = is_record(rows, DenseRows)
    return dense if is_dense else sparse


@njit(fastmath={"reassoc", "contract"})
def add_dense(rows: Any, chosen: Any, centre: Any, t: Any, extra: Any, buffer: Any, M: Any) -> None:
    count, d = chosen.shape[0], centre.shape[0]
    for k in range(count):
        root, scaled, row = np.sqrt(t[k]), buffer[k], rows.values[chosen[k]]
        for j in range(d):
            scaled[j] = root * (row[j] - centre[j])
        for e in range(extra.shape[1]):
            scaled[d + e] = root * extra[k, e]
    last = -(-count // 4) * 4
    buffer[count:last] = 0.0
    for j in range(0, -(-(d + extra.shape[1]) // 4) * 4, 4):
        M0, M1, M2, M3 = M[j], M[j + 1], M[j + 2], M[j + 3]
        width = (j // REGISTER + 1) * REGISTER
        for k in range(0, last, 4):
            z0, z1, z2, z3 = buffer[k], buffer[k + 1], buffer[k + 2], buffer[k + 3]
            a0, a1, a2, a3 = z0[j], z1[j], z2[j], z3[j]
            b0, b1, b2, b3 = z0[j + 1], z1[j + 1], z2[j + 1], z3[j + 1]
            c0, c1, c2, c3 = z0[j + 2], z1[j + 2], z2[j + 2], z3[j + 2]
            d0, d1, d2, d3 = z0[j + 3], z1[j + 3], z2[j + 3], z3[j + 3]
            for h in range(width):
                x0, x1, x2, x3 = z0[h], z1[h], z2[h], z3[h]
                M0[h] += a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3
                M1[h] += b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3
                M2[h] += c0 * x0 + c1 * x1 + c2 * x2 + c3 * x3
                M3[h] += d0 * x0 + d1 * x1 + d2 * x2 + d3 * x3


@njit
def add_sparse(rows: Any, chosen: Any, centre: Any, t: Any, extra: Any, buffer: Any, M: Any) -> None:
    """The entries of a row come in rising order of their columns, so that every product lands below the diagonal."""
    d = centre.shape[0]
    for k in range(chosen.shape[0]):
        first, end = rows.indptr[chosen[k]], rows.indptr[chosen[k] + 1]
        for entry in range(first, end):
            scaled, column = t[k] * rows.data[entry], rows.indices[entry]
            target = M[column]
            for other in range(first, entry + 1):
                target[rows.indices[other]] += scaled * rows.data[other]
            for e in range(extra.shape[1]):
                M[d + e, column] += scaled * extra[k, e]
        for e in range(extra.shape[1]):
            for f in range(e + 1):
                M[d + e, d + f] += t[k] * extra[k, e] * extra[k, f]


def factor_panels_at_once(L: Any, begin: int, stop: int) -> bool:
    """All panels with the first."""
    if begin > 0:
        return True
    try:
        L[:] = cholesky(L, lower=True, check_finite=False)
    except LinAlgError:
        return False
    return bool(np.all(np.diagonal(L) > 0.0))


@njit(fastmath={"reassoc", "contract"}, at_once=factor_panels_at_once)
def factor_panels(L: Any, begin: int, stop: int) -> bool:
    """Columns begin, a multiple of PANEL, to stop of the factor, when those before them are done.

    PANEL columns at a time: what the columns before them take away comes in tiles of four rows times four columns. Then
    U, the transpose of the factor on the diagonal, and by its rows the rows of L below.
    """
    n = L.shape[0]
    U, inverse = np.empty((min(PANEL, n), min(PANEL, n))), np.empty(PANEL)
    for first in range(begin, stop, PANEL):
        end = min(first + PANEL, n)
        for i in range(first if first > 0 else n, n, 4):
            for j in range(first, min(end, i + 4), 4):
                subtract_tile(L, i, j, first, min(i + 4, n), min(j + 4, end))
        for i in range(first, end):
            for j in range(first, i + 1):
                U[j - first, i - first] = L[i, j]
        if not factor_upper(U, end - first, inverse):
            return False
        for i in range(first, end):
            for j in range(first, i + 1):
                L[i, j] = U[j - first, i - first]
        for i in range(end, n, 4):
            divide_rows(L[i : min(i + 4, n), first:end], U, inverse)
    return True


@njit(fastmath={"reassoc", "contract"})
def factor_upper(U: Any, width: int, inverse: Any) -> bool:
    """The upper triangle of A becomes U with U'U = A, and `inverse` one by its diagonal.

    Whole rows are taken from whole rows, four at a time, so that nothing is summed up within a register.
    """
    for j in range(width):
        row = U[j]
        if not row[j] > 0.0:
            return False
        inverse[j] = 1.0 / np.sqrt(row[j])
        for h in range(j, width):
            row[h] *= inverse[j]
        i = j + 1
        while i + 3 < width:
            r0, r1, r2, r3 = U[i], U[i + 1], U[i + 2], U[i + 3]
            t0, t1, t2, t3 = row[i], row[i + 1], row[i + 2], row[i + 3]
            for h in range(i, width):
                x = row[h]
                r0[h] -= t0 * x
                r1[h] -= t1 * x
                r2[h] -= t2 * x
                r3[h] -= t3 * x
            i += 4
        for k in range(i, width):
            other, t = U[k], row[k]
            for h in range(k, width):
                other[h] -= t * row[h]
    return True


@njit(fastmath={"reassoc", "contract"})
def divide_rows(rows: Any, U: Any, inverse: Any) -> None:
    """rows <- rows U^-1, four of them at most."""
    count, width = rows.shape
    if count < 4:
        for i in range(count):
            row = rows[i]
            for j in range(width):
                row[j] *= inverse[j]
                for h in range(j + 1, width):
                    row[h] -= row[j] * U[j, h]
        return
    r0, r1, r2, r3 = rows[0], rows[1], rows[2], rows[3]
    for j in range(width):
        by = U[j]
        t0, t1, t2, t3 = r0[j] * inverse[j], r1[j] * inverse[j], r2[j] * inverse[j], r3[j] * inverse[j]
        r0[j], r1[j], r2[j], r3[j] = t0, t1, t2, t3
        for h in range(j + 1, width):
            x = by[h]
            r0[h] -= t0 * x
            r1[h] -= t1 * x
            r2[h] -= t2 * x
            r3[h] -= t3 * x


@njit(fastmath={"reassoc", "contract"})
def subtract_tile(L: Any, i: int, j: int, columns: int, i_end: int, j_end: int) -> None:
    """L[i:i_end, j:j_end] -= L[i:i_end, :columns] L[j:j_end, :columns]'."""
    if i_end - i < 4 or j_end - j < 4:
        for r in range(i, i_end):
            for c in range(j, j_end):
                total = 0.0
                for h in range(columns):
                    total += L[r, h] * L[c, h]
                L[r, c] -= total
        return
    r0, r1, r2, r3 = L[i], L[i + 1], L[i + 2], L[i + 3]
    for c in range(j, j_end):
        other = L[c]
        t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
        for h in range(columns):
            x = other[h]
            t0 += r0[h] * x
            t1 += r1[h] * x
            t2 += r2[h] * x
            t3 += r3[h] * x
        r0[c] -= t0
        r1[c] -= t1
        r2[c] -= t2
        r3[c] -= t3


def substitute_at_once(L: Any, x: Any) -> None:
    x[:] = cho_solve((L, True), x, check_finite=False)


@njit(fastmath={"reassoc", "contract"}, at_once=substitute_at_once)
def substitute(L: Any, x: Any) -> None:
    """x <- (L L')^-1 x."""
    n = L.shape[0]
    for i in range(n):
        total, row = x[i], L[i]
        for h in range(i):
            total -= row[h] * x[h]
        x[i] = total / row[i]
    for i in range(n - 1, -1, -1):
        row = L[i]
        x[i] /= row[i]
        for h in range(i):
            x[h] -= x[i] * row[h]


def factor(L: NDArray[np.float64]) -> bool:
    """The lower triangle of A becomes L with L L' = A; False if A is not positive definite to working precision.

    Some panels at a time, with a check of the clock between.
    """
    n = len(L)
    panels = max(1, PRODUCTS // (PANEL * n * n // 4 + 1))
    for begin in range(0, n, panels * PANEL):
        if begin > 0:
            check_interrupt()
        if not factor_panels(L, begin, min(n, begin + panels * PANEL)):
            return False
    return True


class Factor:
    """M^-1, from a Cholesky factor of M scaled to unit diagonal; where that fails, of M with a tiny shift.

    Two steps of refinement take the error of the shift back.
    """

    def __init__(self, M: NDArray[np.float64]) -> None:
        """M is symmetric, both triangles filled."""
        self.scale: Vector = 1.0 / np.sqrt(np.maximum(np.diagonal(M), np.finfo(float).tiny))
        self.A = M * self.scale
        self.A *= self.scale[:, None]
        self.good, shift = False, 0.0
        while not self.good and shift <= LARGEST_SHIFT:
            self.L = self.A.copy()
            self.L.flat[:: len(M) + 1] += shift
            self.good = factor(self.L)
            shift = max(SMALLEST_SHIFT, SHIFT_GROWTH * shift)

    def solve(self, right: Vector) -> Vector:
        """M^-1 right."""
        target = right * self.scale
        x = np.zeros_like(target)
        for _ in range(3):
            residual = target - np.einsum("ij,j->i", self.A, x)
            substitute(self.L, residual)
            x += residual
        return np.asarray(x * self.scale)
