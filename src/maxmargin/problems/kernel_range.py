"""Kernel values that float64 cannot hold are refused, before a solver or a judge meets them.

    linear, poly    |k(x, x')| <= max k(x, x) over all rows: |x.x'| <= |x| |x'|, and coef0 >= 0
    rbf             k = exp(-gamma |x - x'|^2) is made of gamma |x|^2, which must be finite
    a table         holds what it holds
    a function      is asked when it is called (`checked_values`)

MOST leaves room for sums of a few million values. The values of new rows, too, must be finite to decide anything.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.matrix import largest_magnitude
from maxmargin.problems.kernels import Kernel, KernelName, Points

MOST = 2.0**1000
ADVICE = "scale the columns first, for example with sklearn.preprocessing.StandardScaler"


def refuse_values_beyond_float64(kernel: Kernel, points: Points) -> None:
    """A sentence about the first row whose kernel with itself is too large, or that is too far away for rbf."""
    if kernel.name is KernelName.FUNCTION or not points.X.shape[0]:
        return
    if kernel.name is KernelName.PRECOMPUTED:
        largest = largest_magnitude(points.X)
        if not largest <= MOST:
            raise ValueError(
                f"a value of the precomputed kernel has the size {largest:.3g}, and sums of such values are beyond "
                "float64; divide the kernel by a number, and multiply C by it"
            )
        return
    with np.errstate(over="ignore", invalid="ignore"):
        own = kernel.gamma * points.squares if kernel.name is KernelName.RBF else kernel.diagonal(points)
    too_large = ~(own <= MOST)
    if not np.any(too_large):
        return
    row = int(np.argmax(too_large))
    if kernel.name is KernelName.RBF:
        raise ValueError(
            f"row {points.places[row]} is so far from the others that gamma |x|^2 is {own[row]:.3g}, beyond what "
            f"float64 can add up: the rbf kernel cannot be computed; {ADVICE}, or give a smaller gamma"
        )
    smaller = "" if kernel.name is KernelName.LINEAR else ", or give a smaller gamma or degree"
    raise ValueError(
        f"the {kernel.name.value} kernel of row {points.places[row]} with itself is {own[row]:.3g}, beyond what "
        f"float64 can add up; {ADVICE}{smaller}"
    )


def refuse_decisions_beyond_float64(values: NDArray[np.float64]) -> None:
    """A sentence about the first of some new rows whose value w.phi(x) + b is not a number."""
    unknown = ~np.all(np.isfinite(values), axis=1)
    if np.any(unknown):
        row = int(np.argmax(unknown))
        raise ValueError(
            f"the kernel of row {row} with the rows that were learnt from is beyond what float64 can add up, so that "
            "nothing can be said about it: its numbers are too large for this model; scale it as the rows of the fit "
            "were scaled"
        )
