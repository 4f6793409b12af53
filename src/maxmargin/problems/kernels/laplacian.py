"""The Laplacian kernel: it falls with the distance along the axes, and has a peak where the others are round.

    k(x, x') = exp(-gamma D),      D = |x - x'|_1 = sum_j |x_j - x'_j|

It is positive semidefinite: a product of the kernels exp(-gamma |x_j - x'_j|), each of which is the transform of a
positive density (Cauchy's) [rahimi2007]. It is no function of an inner product, so that its values are what solvers and
the judge are served with.

How far rounding moves a value, with t the terms of D that are not 0, u = 2^-53 and e = gamma D:

- a difference is within u of the real one, relatively, and never below the least numbers; adding up t positive terms in
  any order is t - 1 roundings, the product with gamma is one more: the exponent is within share e of the real one, with
  share = 1.01 (t + 2) u [higham2002], and at most the least number beside;
- exp is off by at most EXP_ERROR units in the last place: twice as many u.

So where e is at most E, the value is within expm1(share E) + 2 EXP_ERROR u of the real one, relatively. Where e is
larger than 40, what is lost of the value, about share e exp(-e), is below 10^-15 share: E = 40 will do, and for rows
that are near to 0 less, gamma (|x|_1 + |x'|_1).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from maxmargin.data.executor import check_interrupt
from maxmargin.data.table import Matrix, Vector, is_sparse, terms_of
from maxmargin.problems.kernels.base import (
    EXP_ERROR,
    LEAST,
    UNIT_ROUNDOFF,
    Kernel,
    Points,
    as_array,
    first_beyond,
    register,
    spans,
)
from maxmargin.problems.kernels.limits import ADVICE, MOST, BeyondFloat64

AT_ONCE = 2**24  # differences between two checks of the clock
COLUMNS = 4096  # of sparse rows that are written out at a time
FARTHEST = 40.0  # an exponent: what is lost of values beyond is below 10^-15 of its share


@register
class Laplacian(Kernel):
    """exp(-gamma |x - x'|_1)."""

    name = "laplacian"
    parameters = ("gamma",)
    formula = "exp(-{gamma} |x - x'|_1)"
    irrational = "exp of a rational number is none"
    is_semidefinite = is_positive = is_shift_invariant = True

    @np.errstate(over="ignore")
    def values(self, A: Points, B: Points) -> NDArray[np.float64]:
        exponents = distances(A.X, B.X)
        exponents *= -self.gamma
        return np.exp(exponents, out=exponents)

    @np.errstate(over="ignore", invalid="ignore")
    def rounding(self, A: Points, B: Points) -> tuple[Vector, Vector]:
        terms = min(int(A.X.shape[1]), terms_of(A.X) + terms_of(B.X))
        share = 1.01 * (terms + 2) * UNIT_ROUNDOFF
        sizes = sizes_of(A.X) + float(sizes_of(B.X).max(initial=0.0))
        exponent = share * np.minimum(self.gamma * sizes * (1.0 + 1e-9), FARTHEST) + LEAST
        relative = 1.01 * np.expm1(exponent) + 2.0 * EXP_ERROR * UNIT_ROUNDOFF
        relative = np.where(sizes <= MOST, relative, np.inf)  # else D may have overflowed
        return relative, np.full(len(relative), 1e-15 * share + 1e-300)

    def refuse_beyond_float64(self, points: Points) -> None:
        """D must be finite: gamma can make an ordinary number of it again."""
        with np.errstate(over="ignore"):
            sizes = sizes_of(points.X)
        row = first_beyond(sizes)
        if row is not None:
            raise BeyondFloat64(
                f"the numbers of row {points.places[row]} add up to {sizes[row]:.3g}, beyond what float64 can subtract "
                f"and add up: the laplacian kernel cannot be computed; {ADVICE}"
            )


def sizes_of(X: Matrix) -> Vector:
    """|x|_1 of each row."""
    return np.asarray(abs(X).sum(axis=1), dtype=np.float64).ravel()


def distances(A: Matrix, B: Matrix) -> NDArray[np.float64]:
    """|x - x'|_1 for every x of A and x' of B."""
    if is_sparse(A) or is_sparse(B):
        return sparse_distances(A, B)
    out = np.empty((A.shape[0], B.shape[0]))
    for rows in spans(0, len(A), max(1, AT_ONCE // max(1, B.size))):
        check_interrupt()
        cdist(A[rows], B, "cityblock", out=out[rows])
    return out


def sparse_distances(A: Matrix, B: Matrix) -> NDArray[np.float64]:
    """The same over the columns in which either has an entry, some of them at a time."""
    if is_sparse(A) and is_sparse(B):
        columns = np.union1d(A.indices, B.indices)
        A, B = packed(A, columns), packed(B, columns)
    out = np.zeros((A.shape[0], B.shape[0]))
    for some in spans(0, A.shape[1], COLUMNS):
        out += distances(as_array(A[:, some]), as_array(B[:, some]))
    return out


def packed(X: Matrix, columns: NDArray[np.intp]) -> Matrix:
    """Sparse rows without all other columns, which are empty."""
    places = np.searchsorted(columns, X.indices)
    return sparse.csr_array((X.data, places, X.indptr), shape=(X.shape[0], len(columns)))
