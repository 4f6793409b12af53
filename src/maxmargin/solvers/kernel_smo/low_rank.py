"""A kernel as the inner products of a few columns: pivoted Cholesky, the rows that say most about the others first.

    K ~ s G G',    G has r columns.    K - s G G' stays positive semidefinite: its trace is the error that is left

In each step the row whose own k(x, x) is explained worst becomes the pivot p:

    g = (K[:, p] / s - G G[p]') / sqrt(k(x_p, x_p) / s - |G[p]|^2)        the next column of G

s is the power of two at the largest k(x, x). Centred, phi is shifted to one of the rows, z, and K is made of
k(x, x') - k(x, z) - k(x', z) + k(z, z): with a bias, and only with one, that is the same problem, and rows that are far
from 0 for their distances keep these. What float64 has lost in a value, r is not wasted on.

Cost: n r kernel values and n r^2 multiplications; LAPACK makes them where all columns of a small table are asked for.
Reference: [fine2001].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf

from maxmargin.data.executor import check_interrupt
from maxmargin.problems.kernels import rows_of, spans
from maxmargin.problems.statement import KernelMargin
from maxmargin.solvers.kernel_smo.kernel_rows import power_at

NOTHING_LEFT = 1e-12  # of the largest k(x, x): a pivot below it is rounding
UNIT_ROUNDOFF = 2.0**-53
ROUNDINGS = 8.0  # in a centred value
AT_ONCE = 2000  # rows whose whole matrix is made


class LowRank(NamedTuple):
    """G, the pivots in their order, the part of the trace of K / s that G G' does not explain, and s."""

    columns: NDArray[np.float64]
    pivots: NDArray[np.intp]
    unexplained: float
    scale: float


class ScaledKernel:
    """The kernel among the rows of a problem, divided by s; `floor`: what is below it is rounding, and no distance."""

    def __init__(self, problem: KernelMargin, centred: bool) -> None:
        self.kernel, self.points = problem.kernel, problem.points
        diagonal = np.array(self.kernel.diagonal(self.points))
        largest = float(diagonal.max())
        self.to_z = np.zeros(len(diagonal))  # k(x, z) - k(z, z) / 2
        if centred:
            z = int(np.argsort(diagonal)[len(diagonal) // 2])
            self.to_z = self.kernel.values(self.points, rows_of(self.points, slice(z, z + 1)))[:, 0]
            self.to_z -= 0.5 * diagonal[z]
            diagonal -= 2.0 * self.to_z
        self.scale = power_at(float(diagonal.max()))
        self.diagonal = np.maximum(diagonal / self.scale, 0.0)
        terms = ROUNDINGS if centred else NOTHING_LEFT / UNIT_ROUNDOFF
        self.floor = terms * UNIT_ROUNDOFF * largest / self.scale

    def columns(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """k(x, x') / s of all x, and these x'."""
        return self.between(slice(None), rows)  # no row is copied

    def between(self, some: slice | NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """k(x, x') / s of some x, and these x'."""
        values = self.kernel.values(rows_of(self.points, some), rows_of(self.points, rows))
        values -= self.to_z[some, None]
        values -= self.to_z[rows]
        values /= self.scale
        return values


def low_rank(problem: KernelMargin, rank: int, *, centred: bool = False) -> LowRank:
    """The first `rank` columns, or fewer where the kernel has no more to tell; at least one, which may be 0."""
    n = problem.n_rows
    kernel = ScaledKernel(problem, centred)
    trace = float(kernel.diagonal.sum())
    if rank >= n and n <= AT_ONCE:
        G, pivots = all_columns(kernel)
    else:
        G, pivots = some_columns(kernel, min(rank, n))
    left = max(0.0, trace - float(np.sum(G * G)))
    columns = G if G.shape[1] else np.zeros((n, 1))
    return LowRank(columns, pivots, left / trace if trace > 0.0 else 0.0, kernel.scale)


def all_columns(kernel: ScaledKernel) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    n = len(kernel.diagonal)
    K = np.empty((n, n), order="F")
    height, width = kernel.kernel.block
    for some in spans(0, n, max(1, height * width // n)):
        check_interrupt()
        K[:, some] = kernel.columns(np.arange(some.start, some.stop))
    check_interrupt()
    lower, order, rank, _ = dpstrf(K, lower=1, tol=kernel.floor, overwrite_a=1)
    G, pivots = np.zeros((n, rank)), np.asarray(order[:rank] - 1, dtype=np.intp)
    G[order - 1] = np.tril(lower)[:, :rank]
    return G, pivots


def some_columns(kernel: ScaledKernel, rank: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    n, left = len(kernel.diagonal), kernel.diagonal.copy()
    G, pivots = np.zeros((rank, n)), np.empty(rank, dtype=np.intp)  # G' while it grows: a column is contiguous
    for k in range(rank):
        p = int(np.argmax(left))
        if not left[p] > kernel.floor:
            G, pivots = G[:k], pivots[:k]
            break
        pivots[k] = p
        check_interrupt()
        column = kernel.columns(pivots[k : k + 1])[:, 0]
        column -= G[:k, p] @ G[:k]
        G[k] = column / np.sqrt(left[p])
        left -= G[k] * G[k]
        left[p] = 0.0
    return np.ascontiguousarray(G.T), pivots
