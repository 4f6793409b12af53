"""The soft margin in the space of a kernel.

    primal    P(w, b) = 1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w.phi(x_i) + b)),    w = sum_j c_j phi(x_j)
    dual      D(a) = sum_i a_i - 1/2 sum_ij a_i a_j y_i y_j k(x_i, x_j),           0 <= a_i <= C_i,   sum_i a_i y_i = 0
    link      c_j = a_j y_j

C_i = inf is the hard margin: no row may be inside the street.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from maxmargin.problems.kernels import Kernel, Points
from maxmargin.problems.separation import Solution
from maxmargin.problems.soft_margin import Judgement, SoftMargin


@dataclass(frozen=True, eq=False)
class KernelMargin(SoftMargin):
    """Rows, signs and costs, and the kernel with the rows as it wants them. There is always a bias."""

    kernel: Kernel
    points: Points

    @property
    def is_hard(self) -> bool:
        return bool(self.costs[0] == float("inf"))


KernelSolver = Generator[Solution, "Judgement | None", None]
