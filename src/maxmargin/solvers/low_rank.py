"""A kernel of low rank: pivoted Cholesky, the rows that say most about the others first.

    K ~ G G',    G has r columns.    K - G G' stays positive semidefinite, so that its trace is the error that is left

In each step the row whose own k(x, x) is explained worst becomes the pivot p:

    g = (K[:, p] - G G[p]') / sqrt(k(x_p, x_p) - |G[p]|^2)        the next column of G

Cost: n r kernel values and n r^2 multiplications. Reference: [fine2001].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.breath import breathe
from maxmargin.problems.kernel_margin import KernelMargin
from maxmargin.problems.kernels import rows_of

NOTHING_LEFT = 1e-12  # of the largest k(x, x): a pivot below it is rounding


class LowRank(NamedTuple):
    """G, the pivots in their order, and the part of the trace of K that G G' does not explain."""

    columns: NDArray[np.float64]
    pivots: NDArray[np.intp]
    unexplained: float


def low_rank(problem: KernelMargin, rank: int) -> LowRank:
    """The first `rank` columns, or fewer where the kernel has no more to tell."""
    breathe()
    kernel, points, n = problem.kernel, problem.points, problem.n_rows
    rank = min(rank, n)
    left = np.array(kernel.diagonal(points))
    trace, smallest = float(left.sum()), NOTHING_LEFT * float(left.max())
    G, pivots = np.zeros((rank, n)), np.empty(rank, dtype=np.intp)  # G' while it grows: a column is contiguous
    for k in range(rank):
        p = int(np.argmax(left))
        if not left[p] > smallest:
            G, pivots = G[:k], pivots[:k]
            break
        pivots[k] = p
        column = kernel.combine(points, rows_of(points, slice(p, p + 1)), np.ones((1, 1)))[:, 0]
        column -= G[:k, p] @ G[:k]
        G[k] = column / np.sqrt(left[p])
        left -= G[k] * G[k]
        left[p] = 0.0
    return LowRank(np.ascontiguousarray(G.T), pivots, float(left.sum()) / trace if trace > 0.0 else 0.0)
