"""A kernel as users ask for it: by its name, or with a function of theirs; and gamma, which may be a word.

scale    1 / (columns * variance of X)
auto     1 / columns
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from maxmargin.data.table import Matrix, is_sparse, row_squares
from maxmargin.problems.kernels.base import KERNELS, Kernel
from maxmargin.problems.kernels.given import Function

ROWS = 1024  # at a time: no second table is written


@dataclass(frozen=True, eq=False)
class KernelChoice:
    """A kernel before the data are known."""

    kernel: Any
    gamma: Any
    coef0: float
    degree: int

    def on(self, X: Matrix) -> Kernel:
        """The kernel on this table."""
        if callable(self.kernel):
            return Function(function=self.kernel)
        read: dict[str, Callable[[Any], Any]] = {"gamma": partial(scale_of, X), "coef0": float, "degree": int}
        kind = KERNELS[self.kernel]
        return kind.on(X, **{number: read[number](getattr(self, number)) for number in kind.parameters})


def is_table(kernel: Any) -> bool:
    """Whether rows are to hold the values of the kernel themselves; asked of whatever a user has given."""
    return isinstance(kernel, str) and kernel in KERNELS and KERNELS[kernel].is_table


def scale_of(X: Matrix, gamma: Any) -> float:
    """gamma as a number."""
    if gamma == "auto":
        return 1.0 / int(X.shape[1])
    if gamma != "scale":
        return float(gamma)
    variance = variance_of(X)
    if not variance < math.inf:
        raise ValueError(
            "gamma='scale' is 1 / (columns * variance of X), and the squares of these numbers are beyond float64; "
            "scale the columns first, for example with sklearn.preprocessing.StandardScaler, or give gamma as a number"
        )
    return 1.0 / (int(X.shape[1]) * variance) if variance > 0.0 else 1.0


def variance_of(X: Matrix) -> float:
    """The variance of all numbers of the table; not finite where float64 cannot hold it."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = int(X.shape[0]) * int(X.shape[1])
        if not is_sparse(X):
            mean = float(X.mean(dtype=np.float64))
            blocks = (X[start : start + ROWS] for start in range(0, len(X), ROWS))
            return float(sum(np.sum(np.square(np.subtract(block, mean, dtype=np.float64))) for block in blocks)) / size
        mean = float(X.sum(dtype=np.float64)) / size
        return float(np.sum(row_squares(X))) / size - float(np.square(mean))
