"""Of many, as many as can be shown."""

from __future__ import annotations

import numpy as np


def evenly(count: int, most: int) -> list[int]:
    """At most so many of 0, 1, ..., count - 1: evenly spread, with the first and the last.

    >>> evenly(9, 3), evenly(2, 3)
    ([0, 4, 8], [0, 1])
    """
    return [int(at) for at in np.linspace(0, count - 1, min(most, count)).round()]
