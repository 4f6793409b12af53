"""Sums of rbf kernel values in float32, with a bound of all that it loses: half the work of float64.

    k(x, x') = exp(e),     e = z.z' - h - h',     z = sqrt(2 gamma) x,   h = |z|^2 / 2

as one product of the rows (z, -h, -1) and (z', 1, h'). The magnitudes of its d + 2 terms sum up to at most 2 (h + h'),
because |z| |z'| <= h + h'. A term goes through at most t + 3 roundings, t = d, and its factors were rounded to float32
before: with u = 2^-24 the exponent is within

    1.02 (t + 8) u 2 (h + h') = r (h + h')                                                                [higham2002]

of the real one, in whatever order BLAS adds. Where rows are long, COLUMNS of them are multiplied at a time and the
products added up: then t = COLUMNS + d / COLUMNS will do. The value is within 1.02 times that, relatively, plus what
exp is off. So the error of S = sum_j c_j k(x, x_j), c >= 0, has a bound that is a sum of the same kind:

    1.05 ((r h + (TERMS + 16) u) S + r sum_j c_j h_j k(x, x_j))

for blocks of TERMS terms, whose sums are added in float64. It holds where r (h + h') is below 1 %, which keeps all
numbers far from float32's largest ones as well, and r, too: then (t + 8) u is so small that 1.02 covers its powers.
What is lost below float32's least numbers is added.

This decides only which rows surely pay nothing: every number that a certificate states is measured in float64.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.executor import Threads, block_edges, check_interrupt, one_thread_for_blas
from maxmargin.data.table import Matrix, Vector, is_sparse, terms_of
from maxmargin.problems.kernels import Kernel, Points, rows_of, spans
from maxmargin.problems.kernels.base import LEAST
from maxmargin.problems.kernels.product import extended, written_out

UNIT_ROUNDOFF = 2.0**-24
HEIGHT, WIDTH = 1024, 256  # of a block of values: in the cache
TERMS = 64  # that are summed in float32
COLUMNS = 128  # of the rows that are multiplied at a time
MOST = 0.01  # of a kernel value: a larger error is not bounded here
WORTH_IT = 0.6  # an error of a value y w.phi(x): with a larger one, too many rows would stay in doubt
VANISHED = 2.0**-100  # more than all that a term can lose below float32's normal range, if the weights are at most 1
MOST_NUMBERS = 2**22  # of sparse rows that carry weight: so many are written out


def rate(A: Points, B: Points, at_once: int = COLUMNS) -> float:
    """r, where so many columns are multiplied at a time."""
    t = max(terms_of(A.X), terms_of(B.X))
    if not is_sparse(A.X):
        t = min(t, at_once + (t + 2) // at_once + 1)
    return 2.04 * (t + 8) * UNIT_ROUNDOFF


def is_near(
    kernel: Kernel, A: Points, B: Points, at_once: int = COLUMNS
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The rows of A and of B that are so near to 0 that float32 can bound the kernel of any two of them; none among
    numbers that are not finite, or too many to be written out."""
    r = rate(A, B, at_once)
    too_wide = is_sparse(B.X) and B.X.shape[0] * B.X.shape[1] > MOST_NUMBERS
    most = 0.5 * MOST / r if r <= MOST and not too_wide else -1.0
    return kernel.gamma * A.squares <= most, kernel.gamma * B.squares <= most


def is_worth_it(kernel: Kernel, A: Points, B: Points, size: float) -> NDArray[np.bool_]:
    """The rows of A whose values float32 can bound closely enough, if their S is about `size`."""
    h = kernel.gamma * A.squares
    return np.asarray((2.0 * rate(A, B) * h + (TERMS + 16) * UNIT_ROUNDOFF) * size <= WORTH_IT)


def summed_in_float32(
    kernel: Kernel,
    A: Points,
    B: Points,
    coefficients: NDArray[np.float64],
    threads: Threads | None,
    at_once: int = COLUMNS,
    rights: list[tuple[slice, NDArray[np.float32]]] | None = None,
) -> tuple[NDArray[np.float64], Vector, Vector]:
    """sum_j c_j k(x_i, x_j) for each column c >= 0; at least the sum over all columns; and the error of every one and
    of all together. The rows of A and B are near. The more columns at once, the faster, and the larger the error.
    `rights` are the `right_factors` of B, where they are known."""
    heaviest = float(coefficients.max(initial=0.0)) or 1.0
    weights, h = coefficients / heaviest, kernel.gamma * B.squares
    columns = np.column_stack([weights, weights.sum(axis=1) * h]).astype(np.float32)
    out = np.zeros((A.X.shape[0], columns.shape[1]))
    rights = right_factors(kernel, B) if rights is None else rights

    def run(_: int, start: int, stop: int) -> None:
        for rows in spans(start, stop, HEIGHT):
            left = left_factor(kernel, rows_of(A, rows))
            for part, right in rights:
                check_interrupt()
                values = product(left, right, at_once)
                np.exp(values, out=values)
                for few in spans(0, values.shape[1], TERMS):
                    out[rows] += values[:, few] @ columns[part][few]

    with Threads.shared(threads) as shared, one_thread_for_blas:
        shared.run(run, block_edges(len(out), out.shape[0] * len(columns)))
    sums, farther = out[:, :-1], out[:, -1]
    r, lost = rate(A, B, at_once), VANISHED * (len(columns) + 1)
    sizes = sums.sum(axis=1)
    relative = r * kernel.gamma * A.squares + (TERMS + 16) * UNIT_ROUNDOFF
    error = 1.05 * (relative * sizes + r * farther) + lost
    return heaviest * sums, heaviest * (1.05 * sizes + lost), heaviest * error + 4.0 * LEAST


def product(left: Matrix, right: NDArray[np.float32], at_once: int = COLUMNS) -> NDArray[np.float32]:
    """left @ right, some columns of long rows at a time."""
    if is_sparse(left):
        return np.asarray(left @ right)
    values = left[:, :at_once] @ right[:at_once]
    for few in spans(at_once, len(right), at_once):
        values += left[:, few] @ right[few]
    return np.asarray(values)


def left_factor(kernel: Kernel, A: Points) -> Matrix:
    """Rows (z, -h, -1)."""
    h = kernel.gamma * A.squares
    return written_out(extended(A.X, root(kernel), -h, np.full(len(h), -1.0), dtype=np.float32))


def right_factors(kernel: Kernel, B: Points) -> list[tuple[slice, NDArray[np.float32]]]:
    """Those of all blocks of B."""
    return [(part, right_factor(kernel, rows_of(B, part))) for part in spans(0, len(B.places), WIDTH)]


def right_factor(kernel: Kernel, B: Points) -> NDArray[np.float32]:
    """Columns (z', 1, h')."""
    h = kernel.gamma * B.squares
    rows = extended(B.X, root(kernel), np.ones(len(h)), h, dtype=np.float32)
    return np.ascontiguousarray(rows.toarray().T if is_sparse(rows) else rows.T)


def root(kernel: Kernel) -> float:
    """sqrt(2 gamma), where 2 gamma may overflow."""
    return math.sqrt(2.0) * math.sqrt(kernel.gamma)
