"""A score as a probability.

    logistic              p(f) = 1 / (1 + exp(-f))                        from 0 to 1
    symmetric logistic    s(f) = (1 - exp(-f)) / (1 + exp(-f))            from -1 to 1

    s = 2 p - 1 = tanh(f / 2),     p(f) + p(-f) = 1,     s(-f) = -s(f)

Written as they stand, exp(-f) overflows for f < -709, and for small f the difference 1 - exp(-f) cancels. With
z = exp(-|f|) <= 1, p is 1 / (1 + z) on the one side and z / (1 + z) on the other; and s is a tanh.

The score of a margin classifier has no unit: that 1 is the edge of the street says nothing of how probable a row there
is. Probabilities that are meant as such are calibrated on rows that were held out; see docs/probabilities.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def logistic(f: Any) -> Any:
    """1 / (1 + exp(-f)), of a number or of each number in an array.

    >>> from maxmargin import logistic
    >>> logistic(0.0), logistic(-1000.0), logistic(1000.0)
    (0.5, 0.0, 1.0)
    >>> logistic([-2.0, 2.0]).round(6).tolist()
    [0.119203, 0.880797]
    """
    scores = as_floats(f)
    z = np.exp(-np.abs(scores))
    return plain(np.where(scores >= 0.0, 1.0, z) / (1.0 + z))


def symmetric_logistic(f: Any) -> Any:
    """(1 - exp(-f)) / (1 + exp(-f)), of a number or of each number in an array.

    >>> from maxmargin import symmetric_logistic
    >>> symmetric_logistic(0.0), symmetric_logistic(-1000.0), symmetric_logistic(1000.0)
    (0.0, -1.0, 1.0)
    >>> symmetric_logistic([1e-20, 2.0]).tolist()
    [5e-21, 0.7615941559557649]
    """
    return plain(np.tanh(0.5 * as_floats(f)))


def as_floats(f: Any) -> np.ndarray[Any, np.dtype[np.floating[Any]]]:
    scores = np.asarray(f)
    return scores if scores.dtype.kind == "f" else scores.astype(np.float64)


def plain(values: Any) -> Any:
    """A number for a number, an array for an array."""
    return float(values) if values.ndim == 0 else values
