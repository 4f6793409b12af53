"""The paths of centres of many small problems in one compiled call, each to its end and with the rest of a fit's work.

    path       `short_path.follow`, from w = 0 to the gap that is asked for
    bias       the b that is best for w: the weighted quantile of y_i - w.x_i at sum_+ u_i
    steeper    where every row is on its side, the plane at which no row pays, if it is the cheaper one
    tidy       dual variables that are almost at an end of their box go there, while the gap stays small enough

For losses with a box and without a bend, as the hinge. If the gap of what is found is too large after all, the path is
followed farther. Cost of a problem: that of `short_path`, and 10 n d multiplications at its end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin._loops import njit
from maxmargin.data.rows import add, dot
from maxmargin.data.table import rows_of
from maxmargin.problems.many_margins import ManyMargins, Proposals
from maxmargin.solvers.interior_point.central_path import Direction, PathRows
from maxmargin.solvers.interior_point.short_path import (
    ASKS,
    BEST_GAP,
    BEST_MU,
    BEST_RESIDUAL,
    GAP,
    LAST,
    MOST_STEPS,
    NUMBERS,
    SHRINK,
    STEPS,
    TINY,
    B,
    follow,
    inner,
)

ALMOST = np.array([1e-2, 1e-4, 1e-6, 1e-8, 0.0])  # of u_i: weights so near to an end of their box are tried at that end
BEYOND_ROUNDING = 1e-12  # so much beyond its edge, a row does not pay for what rounding might do to it
WITHIN = 1.0 - 1e-6  # of tol: the judge's bounds are wider by their rounding errors
SMALLEST_GAP = 2.0**-52
NO_KNEE = 0.0


def proposals(many: ManyMargins, tol: float) -> Proposals:
    """A plane and dual variables for each problem; where the path ended too early, the last that were found."""
    n, d = many.X.shape
    found = Proposals(np.zeros((len(many), d)), np.zeros(len(many)), np.zeros(n), np.zeros(len(many), dtype=np.int64))
    cost = many.signs * many.upper
    solve_each(rows_of(many.X), cost, many.edges, many.fit_intercept, tol, found.w, found.b, found.a, found.steps)
    return found


@njit
def solve_each(
    rows: Any, cost: Any, edges: Any, bias: bool, tol: float, planes: Any, biases: Any, a: Any, steps: Any
) -> None:  # fmt: skip
    """Problem after problem; `cost` is y_i u_i."""
    longest, d = 0, planes.shape[1]
    for k in range(edges.shape[0] - 1):
        longest = max(longest, edges[k + 1] - edges[k])
    work, numbers, centre = np.empty((12, longest)), np.empty(NUMBERS), np.zeros(d)
    place = np.empty(longest, np.int64)
    for k in range(edges.shape[0] - 1):
        begin, n = edges[k], edges[k + 1] - edges[k]
        start_cold(work, numbers)
        for i in range(n):
            place[i] = begin + i
        if bias:
            centre[:] = 0.0
            for i in range(n):
                add(rows, begin + i, 1.0 / n, centre)
        own, w, values = cost[begin : begin + n], planes[k], work[11, :n]
        now = PathRows(place[:n], own, work[0, :n], work[1, :n], work[2, :n], work[3, :n], work[4, :n])
        move = Direction(work[5, :n], work[6, :n], work[7, :n])
        trial = Direction(work[8, :n], work[9, :n], work[10, :n])
        ask_below, path_w = tol, np.zeros(d)
        while (
            follow(
                rows, now, move, trial, NO_KNEE, bias, centre, path_w, numbers, tol, ask_below, MOST_STEPS,
            ) == ASKS
        ):  # fmt: skip
            w[:] = path_w
            for i in range(n):
                values[i] = dot(rows, begin + i, w)
            biases[k], primal = placed(own, w, values, numbers[B], bias)
            weights = a[begin : begin + n]
            for i in range(n):
                weights[i] = abs(own[i]) * (numbers[SHRINK] * min(now.p[i], 1.0))
            dual = tidied(rows, begin, own, values, biases[k], primal, bias, tol, weights, trial.p)
            if primal - dual <= WITHIN * tol * primal:
                break
            ask_below = max(0.3 * numbers[GAP], SMALLEST_GAP)
        steps[k] = int(numbers[STEPS])


@njit
def start_cold(work: Any, numbers: Any) -> None:
    """Every row in the middle of its box, at w = 0 and b = 0."""
    for row, value in enumerate((0.0, 0.5, 0.5, 1.0, 2.0, 0.0, 0.0, 0.0)):  # moved, p, q, s, xi, and the direction
        work[row, :] = value
    numbers[:] = 0.0
    numbers[LAST], numbers[BEST_GAP], numbers[BEST_RESIDUAL], numbers[BEST_MU] = 1.0, np.inf, np.inf, np.inf


@njit
def placed(cost: Any, w: Any, values: Any, b: float, bias: bool) -> Any:
    """The best bias, and the objective there; w and its values become steeper where that costs less."""
    n, half_square = cost.shape[0], 0.5 * inner(w, w, w.shape[0])
    if bias:
        b = best_bias(cost, values)
    loss, lowest, highest, least = 0.0, np.inf, -np.inf, np.inf
    for i in range(n):
        sign = 1.0 if cost[i] > 0.0 else -1.0
        loss += abs(cost[i]) * max(0.0, 1.0 - sign * (values[i] + b))
        least = min(least, sign * values[i])
        if sign > 0.0:
            lowest = min(lowest, values[i])
        else:
            highest = max(highest, values[i])
    primal, half = half_square + loss, 0.5 * (lowest - highest) if bias else least
    factor = (1.0 + BEYOND_ROUNDING) / max(half, TINY)
    if not (half > 0.0 and factor * factor * half_square < primal):
        return b, primal
    b = -0.5 * (lowest + highest) * factor if bias else 0.0
    for j in range(w.shape[0]):
        w[j] *= factor
    for i in range(n):
        values[i] *= factor
    return b, factor * factor * half_square


@njit
def best_bias(cost: Any, values: Any) -> Any:
    """The weighted quantile of y_i - w.x_i at sum_+ u_i; the middle where a whole interval is best."""
    n, level, reached, last = cost.shape[0], 0.0, 0.0, 0
    t = np.empty(n)
    for i in range(n):
        t[i] = (1.0 if cost[i] > 0.0 else -1.0) - values[i]
        level += max(0.0, cost[i])
    order = np.argsort(t)
    for k in range(n):
        last = k
        reached += abs(cost[order[k]])
        if reached >= level * (1.0 - 1e-14):
            break
    if reached <= level * (1.0 + 1e-14) and last + 1 < n:
        return 0.5 * (t[order[last]] + t[order[last + 1]])
    return t[order[last]]


@njit
def tidied(
    rows: Any, begin: int, cost: Any, values: Any, b: float, primal: float, bias: bool, tol: float, a: Any, kept: Any
) -> Any:  # fmt: skip
    """Move dual variables to the ends of their box that they are almost at, as far as the gap allows; then D."""
    n, d, dual = cost.shape[0], rows.values.shape[1], 0.0
    kept[:] = a
    sides = np.empty((2, d))
    for share in ALMOST:
        for i in range(n):
            upper, functional = abs(cost[i]), (values[i] + b if cost[i] > 0.0 else -values[i] - b)
            a[i] = kept[i]
            if functional > 1.0 and a[i] <= share * upper:
                a[i] = 0.0
            elif functional < 1.0 and a[i] >= (1.0 - share) * upper:
                a[i] = upper
        dual = dual_value(rows, begin, cost, a, bias, sides)
        if primal - dual <= WITHIN * tol * primal:
            break
    return dual


@njit
def dual_value(rows: Any, begin: int, cost: Any, a: Any, bias: bool, sides: Any) -> Any:
    """D of a, the heavier class scaled down and then both by the best factor t <= 1."""
    plus, minus, up, down, square = 0.0, 0.0, 1.0, 1.0, 0.0
    sides[:] = 0.0
    for i in range(cost.shape[0]):
        if a[i] > 0.0:
            if cost[i] > 0.0:
                plus += a[i]
                add(rows, begin + i, a[i], sides[0])
            else:
                minus += a[i]
                add(rows, begin + i, -a[i], sides[1])
    if bias:
        light = min(plus, minus)
        up, down = light / max(plus, TINY), light / max(minus, TINY)
    for j in range(sides.shape[1]):
        u = up * sides[0, j] + down * sides[1, j]
        square += u * u
    total = up * plus + down * minus
    t = min(1.0, total / square) if square > 0.0 else 1.0
    return t * total - 0.5 * t * t * square
