"""A kernel as users ask for it: by its name, or with a function of theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maxmargin.data.matrix import Matrix
from maxmargin.problems.kernels.base import KERNELS, Kernel
from maxmargin.problems.kernels.given import Function


@dataclass(frozen=True, eq=False)
class KernelChoice:
    """A kernel before the data are known: gamma may be "scale" or "auto"."""

    kernel: Any
    gamma: Any
    coef0: float
    degree: int

    def on(self, X: Matrix) -> Kernel:
        """The kernel on this table."""
        if callable(self.kernel):
            return Function(function=self.kernel)
        return KERNELS[self.kernel].on(X, self.gamma, self.coef0, self.degree)


def is_table(kernel: Any) -> bool:
    """Whether rows are to hold the values of the kernel themselves; asked of whatever a user has given."""
    return isinstance(kernel, str) and kernel in KERNELS and KERNELS[kernel].is_table
