"""What float64 cannot hold: kernel values that are too large are refused before a solver or a judge meets them.

MOST leaves room for sums of a few million values. The values of new rows, too, must be finite to decide anything.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

MOST = 2.0**1000
ADVICE = "scale the columns first, for example with sklearn.preprocessing.StandardScaler"


class BeyondFloat64(ValueError):
    """Of a table: a kernel cannot be computed on it."""


def refuse_decisions_beyond_float64(values: NDArray[np.float64]) -> None:
    """A sentence about the first of some new rows whose value w.phi(x) + b is not a number."""
    with np.errstate(over="ignore", invalid="ignore"):
        if math.isfinite(values.sum()):  # then every one is
            return
    unknown = ~np.all(np.isfinite(values), axis=1)
    if np.any(unknown):
        row = int(np.argmax(unknown))
        raise ValueError(
            f"the kernel of row {row} with the rows that were learnt from is beyond what float64 can add up, so that "
            "nothing can be said about it: its numbers are too large for this model; scale it as the rows of the fit "
            "were scaled"
        )
