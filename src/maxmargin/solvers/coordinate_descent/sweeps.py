"""One sweep of coordinate descent, compiled: each row of an order is visited once, and its dual variable goes to its
best value while the others wait.

    G_i = y_i (w.x_i + b) - 1 + q_i a_i,    b = centre + rho S,    S = sum_i a_i y_i
    a_i <- min(u_i, max(0, a_i - G_i / (|x_i|^2 + q_i + rho)))

The order. A sweep in a fixed one can be slow for ever, one in random order is not [hsieh2008]. But a table that is
larger than the processor's own memory is read at random at the price of its latency, row by row. So there the active
rows are cut into groups of neighbours, and the groups are visited in random order: a sweep over 5,000,000 rows of 18
numbers takes half the time. As many sweeps are needed where the rows come in no order, and more of them where like rows
lie together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin._loops import njit, touch
from maxmargin.data.rows import add, dot, square, touch_row

AHEAD = 2  # rows: the memory is asked for a row this long before it is visited, for its other numbers twice as long
ALMOST_FLAT = 1e-200  # in place of a curvature of zero: a division by it goes to the end of the box


class Dual(NamedTuple):
    """The dual problem as the compiled loops see it; `curvature` = |x_i|^2 + q_i + rho."""

    rows: Any
    signs: Any
    upper: Any
    diagonal: Any
    curvature: Any
    rho: float


class Point(NamedTuple):
    """a, its w(a), and bias = (centre, S)."""

    a: Any
    w: Any
    bias: Any


class Tally(NamedTuple):
    """What is left of a sweep: slopes = (lowest, highest) projected slope, values = (D, the stale gap)."""

    slopes: Any
    values: Any


@njit
def squares_of_rows(rows: Any, squares: Any) -> None:
    for i in range(squares.shape[0]):
        squares[i] = square(rows, i)


@njit
def sweep(dual: Any, point: Any, order: Any, start: int, stop: int, kept: int, limits: Any, tally: Any) -> Any:
    """Visit the rows order[start:stop]; those that stay active are moved to order[kept:]. Returns the new `kept`.

    A row at a bound leaves if its slope lies outside `limits`, the slopes of the sweep before. To the tally go D as it
    rises (`value`), and the stale gap, with `best` for the m_i of `descent`.
    """
    rows, signs, upper, diagonal, curvature, rho = dual
    a, w, bias = point
    lowest, highest = tally.slopes
    value, gap = tally.values
    b = bias[0] + rho * bias[1]
    for k in range(start, stop):
        if k + 2 * AHEAD < stop:
            touch_row(rows, order[k + AHEAD])
            later = order[k + 2 * AHEAD]
            touch(a, later)
            touch(signs, later)
            touch(curvature, later)
        i = order[k]
        old, sign, top, q = a[i], signs[i], upper[i], diagonal[i]
        plain = sign * dot(rows, i, w) - 1.0 + q * old
        slope = plain + sign * b
        projected = slope
        if old <= 0.0:
            if slope > limits[1]:
                continue
            projected = min(slope, 0.0)
        elif old >= top:
            if slope < limits[0]:
                continue
            projected = max(slope, 0.0)
        order[kept] = i
        kept += 1
        lowest, highest = min(lowest, projected), max(highest, projected)
        best = min(top - old, max(-old, -slope / (q + ALMOST_FLAT)))
        gap -= best * (slope + 0.5 * q * best)
        new = min(top, max(0.0, old - slope / curvature[i]))
        change = new - old
        if change != 0.0:
            a[i] = new
            add(rows, i, change * sign, w)
            bias[1] += change * sign
            b += rho * change * sign
            value -= change * plain + 0.5 * change * change * (curvature[i] - rho)
    tally.slopes[0], tally.slopes[1] = lowest, highest
    tally.values[0], tally.values[1] = value, gap
    return kept


@njit
def close(dual: Any, bias: Any, limits: Any, tally: Any) -> None:
    """After a sweep: its slopes are the next limits, and the centre moves."""
    limits[0] = tally.slopes[0] if tally.slopes[0] < 0.0 else -np.inf
    limits[1] = tally.slopes[1] if tally.slopes[1] > 0.0 else np.inf
    bias[0] += dual.rho * bias[1]


@njit
def reset(tally: Any) -> None:
    tally.slopes[0], tally.slopes[1], tally.values[1] = np.inf, -np.inf, 0.0


@njit
def balance(dual: Any, point: Any, order: Any, values: Any) -> None:
    """Move rows until S = sum_i a_i y_i is zero: those between their bounds first."""
    rows, signs, upper, diagonal, curvature, rho = dual
    a, w, bias = point
    for everywhere in range(2):
        for i in order:
            old, sign = a[i], signs[i]
            if everywhere == 0 and not 0.0 < old < upper[i]:
                continue
            new = min(upper[i], max(0.0, old - bias[1] * sign))
            change = new - old
            if change != 0.0:
                plain = sign * dot(rows, i, w) - 1.0 + diagonal[i] * old
                a[i] = new
                add(rows, i, change * sign, w)
                values[0] -= change * plain + 0.5 * change * change * (curvature[i] - rho)
                bias[1] = 0.0 if new == old - bias[1] * sign else bias[1] + change * sign
            if bias[1] == 0.0:
                return


FAST_MEMORY = 12_000_000  # bytes: up to here a random order costs nothing
ROW = 10  # numbers: what a row costs a sweep beside its own numbers
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
