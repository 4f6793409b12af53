"""In which order coordinate descent visits its rows: at random; and where they are many, neighbours together.

A sweep in a fixed order can be slow for ever, one in random order is not [hsieh2008]. But a table that is larger than
the processor's own memory is read at random at the price of its latency, row by row. So there the active rows are cut
into groups of neighbours, and the groups are visited in random order: a sweep over 5,000,000 rows of 18 numbers takes
half the time. As many sweeps are needed where the rows come in no order, and more of them where like rows lie together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin._numba import njit

FAST_MEMORY = 12_000_000  # bytes: up to here a random order costs nothing
NUMBERS_OF_A_ROW = 6  # that a sweep reads beside the row: a, y, u, q, the curvature, its place in the order
TOGETHER = 16  # rows: more of them gain little, and sweeps are wasted on rows that are alike


def rows_together(n_rows: int, n_bytes: int) -> int:
    """How many neighbours to visit together in a table of so many bytes."""
    return TOGETHER if n_bytes + 8 * NUMBERS_OF_A_ROW * n_rows > FAST_MEMORY else 1


@njit
def shuffle(order: Any, random: Any) -> None:
    """Fisher and Yates, with the xorshift generator whose state is random[0]."""
    state = random[0]
    for k in range(order.shape[0] - 1):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        left = np.uint64(order.shape[0] - k)
        other = k + np.int64(((state >> np.uint64(32)) * left) >> np.uint64(32))
        order[k], order[other] = order[other], order[k]
    random[0] = state


@njit
def shuffled_groups(rows: Any, together: int, random: Any) -> Any:
    """The rows, given in ascending order, in groups of neighbours that follow each other at random."""
    groups = np.arange((rows.shape[0] + together - 1) // together)
    shuffle(groups, random)
    order = np.empty_like(rows)
    filled = 0
    for group in groups:
        for k in range(group * together, min(rows.shape[0], (group + 1) * together)):
            order[filled] = rows[k]
            filled += 1
    return order


@njit
def in_ascending_order(rows: Any, n_rows: int) -> Any:
    """The same rows; faster than sorting where they are a large part of the table."""
    is_here = np.zeros(n_rows, np.bool_)
    for i in rows:
        is_here[i] = True
    ascending = np.empty_like(rows)
    filled = 0
    for i in range(n_rows):
        if is_here[i]:
            ascending[filled] = i
            filled += 1
    return ascending
