"""The path of centres of a small table in one compiled call: the same steps, without a call of Python for each pass.

A step over a few hundred rows takes some microseconds, and a dozen calls between its passes take more than that. Here
the passes of `central_path` and the factor of `normal_equations` are called from one loop, which returns when it has a
gap to propose, has come to its end, or has made as many steps as it may. No row is dropped: there are too few to pay.

    step      step_and_weigh, factor, then predict, direct, and once recentre and direct (`method`)
    solve     M^-1 r by the factor, refined while what is left of r is above its rounding

Cost: that of `method`, n d^2 / 2 + 4 n d multiplications a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import njit
from maxmargin.data.table import Vector, rows_of
from maxmargin.problems.protocol import Iterate, Iterates, State, varying
from maxmargin.solvers.interior_point.at_once import EXTRAS
from maxmargin.solvers.interior_point.central_path import (
    Direction,
    PathRows,
    direct,
    predict,
    recentre,
    step_and_weigh,
)
from maxmargin.solvers.interior_point.merged_rows import MergedRows
from maxmargin.solvers.interior_point.normal_equations import (
    CHUNK,
    LARGEST_SHIFT,
    REGISTER,
    SHIFT_GROWTH,
    SMALLEST_SHIFT,
    factor_panels,
    substitute,
)

MOST_STEPS, STALLED, MOST_CORRECTIONS = 500, 20, 1
SECOND_ORDER_LIMIT = 10.0  # the second-order terms of the corrector, in units of mu
NEAR, FAR = 0.1, 10.0  # products within these multiples of the target need no correction
BOUNDARY, CLOSEST = 0.99, 0.9999  # of the way to the nearest p, q, s, xi = 0; in a long step near the end
NO_FARTHER = 0.1  # of the gap that is asked for: the gap on the path that the last steps aim at
NEGLIGIBLE = 1e-4  # of the gap that is asked for
BEYOND_ROUNDING = 1e-20  # a gap, relative to the objective, of which nothing is left in its digits
REFINED = 1e-14  # of a right-hand side: what a solution may leave of it
REFINEMENTS = 3
TINY_SHIFT, TINY = 1e-13, 1e-300

ASKS, GOES_ON, ENDED = 0, 1, 2
# What is kept of a path beside its rows: the bias, the length of the last step, the least gap, residual and mu so far
# and the steps since one of them fell, how many steps there were; the gap of the last one, the best factor of its a.
B, LAST, BEST_GAP, BEST_RESIDUAL, BEST_MU, SINCE, STEPS, GAP, SHRINK, NUMBERS = range(10)


@dataclass(init=False, eq=False)
class ShortPath(State):
    """Where the rows and the plane are: moved, p, q, s, xi of each row, its direction, w, and the numbers above."""

    path_rows: NDArray[np.float64] = varying()
    moves: NDArray[np.float64] = varying()
    w: Vector = varying()
    numbers: Vector = varying()
    ask_below: float = varying()

    def __init__(self, merged: MergedRows, knee: float, bias: bool, tol: float) -> None:
        self.merged, self.knee, self.bias, self.tol = merged, knee, bias, tol
        n, d = merged.X.shape
        xi = max(1.0, 2.0 - 0.5 * knee)
        self.path_rows = np.empty((5, n))
        self.path_rows.T[:] = 0.0, 0.5, 0.5, xi - 1.0 + 0.5 * knee, xi  # at w = 0, b = 0
        self.moves, self.trial = np.zeros((3, n)), np.zeros((3, n))
        self.w, self.numbers, self.ask_below = np.zeros(d), np.zeros(NUMBERS), tol
        self.numbers[[LAST, BEST_GAP, BEST_RESIDUAL, BEST_MU]] = 1.0, np.inf, np.inf, np.inf
        self.centre = merged.X.mean(axis=0, dtype=np.float64) if bias and n else np.zeros(d)

    def go_on(self, most: int) -> int:
        """So many steps at most, until there is something to propose."""
        now = PathRows(self.merged.place, self.merged.cost, *self.path_rows)
        move, trial = Direction(*self.moves), Direction(*self.trial)
        return int(
            follow(
                rows_of(self.merged.X), now, move, trial, self.knee, self.bias, self.centre, self.w, self.numbers,
                self.tol, self.ask_below, most,
            )
        )  # fmt: skip

    def iterate(self, upper: Vector, proposes: bool) -> Iterate:
        """The plane and the dual variables."""
        b, w, steps, gap = float(self.numbers[B]), self.w, int(self.numbers[STEPS]), float(self.numbers[GAP])
        if self.merged.basis is not None:
            w = self.merged.basis @ w
        a = upper * (float(self.numbers[SHRINK]) * np.minimum(self.path_rows[1], 1.0))
        return Iterate(w, b, a, proposes, steps, steps, gap=gap, active=len(upper))


def short_steps(path: ShortPath, upper: Vector, stepwise: bool) -> Iterates:
    """To the end of the path, or of as much of it as the judge wants."""
    most = 1 if stepwise else MOST_STEPS
    while True:
        yield None
        found = path.go_on(most)
        if found == ENDED:
            return
        yield path.iterate(upper, proposes=found == ASKS)
        if found == ASKS:
            path.ask_below = max(0.3 * float(path.numbers[GAP]), np.finfo(float).eps)


@njit
def follow(
    rows: Any, now: Any, move: Any, trial: Any, knee: float, bias: bool, centre: Any, w: Any, numbers: Any, tol: float,
    ask_below: float, most: int,
) -> int:  # fmt: skip
    """From where the rows are to a gap of at most `ask_below`, or so many steps farther, or to the end.

    Whoever comes back finds the Newton system of the same place, summed once more: the same bits.
    """
    n, d, made = now.p.shape[0], w.shape[0], 0
    k, width = d + 1, -(-(d + EXTRAS) // REGISTER) * REGISTER
    M, buffer, sums = np.empty((width, width)), np.zeros((CHUNK, width)), np.empty(4)
    A, L, scale = np.empty((k, k)), np.empty((k, k)), np.empty(k)
    plane, residual, vectors = np.empty(k), np.empty(k), np.empty((6, k))
    total_cost, step = 0.0, 0.0
    for i in range(n):
        total_cost += abs(now.cost[i])
    if numbers[STEPS] == 0.0:
        numbers[STEPS], made = 1.0, 1
    while True:
        M[:] = 0.0
        sums[:] = 0.0
        step_and_weigh(rows, now, move, knee, step, 0, n, centre, buffer, M, sums)
        mu, primal, most_left = sums[0] / (2.0 * total_cost), sums[1] + 0.5 * inner(w, w, d), 0.0
        gap_on_path = 2.0 * mu * total_cost
        dual = dual_value(M, d, knee, bias, sums, numbers)
        for j in range(k):
            residual[j] = M[d + 2, j] + M[d + 3, j] - (w[j] if j < d else 0.0)
            most_left = max(most_left, abs(residual[j]))
        gap = numbers[GAP] = (primal - dual) / primal if primal > 0.0 else np.inf
        if made > 0:
            if not gap_on_path > BEYOND_ROUNDING * primal:  # or one of them is not a number
                return ENDED
            if gap <= ask_below:
                return ASKS
            if made >= most:
                return GOES_ON
        matters = gap_on_path > NEGLIGIBLE * tol * primal
        if (
            gap < 0.95 * numbers[BEST_GAP]
            or most_left < 0.9 * numbers[BEST_RESIDUAL]
            or (matters and mu < 0.95 * numbers[BEST_MU])
        ):
            numbers[SINCE] = 0.0
            numbers[BEST_GAP], numbers[BEST_MU] = min(numbers[BEST_GAP], gap), min(numbers[BEST_MU], mu)
            numbers[BEST_RESIDUAL] = min(numbers[BEST_RESIDUAL], most_left)
        else:
            numbers[SINCE] += 1.0
        if numbers[SINCE] > STALLED or numbers[STEPS] >= MOST_STEPS or not factored(M, bias, A, L, scale):
            return ENDED
        least = NO_FARTHER * ask_below * primal / gap_on_path * mu
        step = find_step(
            rows, now, move, trial, knee, bias, centre, M[d + 1], residual, mu, total_cost, least, numbers[LAST],
            A, L, scale, plane, vectors,
        )  # fmt: skip
        for j in range(d):
            w[j] += step * plane[j]
        numbers[B] += step * (plane[d] - inner(plane, centre, d))
        numbers[LAST] = step
        numbers[STEPS] += 1.0
        made += 1


@njit
def find_step(
    rows: Any, now: Any, move: Any, trial: Any, knee: float, bias: bool, centre: Any, predictor: Any, residual: Any,
    mu: float, total_cost: float, least: float, last: float, A: Any, L: Any, scale: Any, plane: Any, vectors: Any,
) -> Any:  # fmt: skip
    """The length of the next step; its plane in `plane`, the direction of the rows in `move`."""
    n, d = now.p.shape[0], centre.shape[0]
    wanted, other, right, more, spare = vectors[0], vectors[1], vectors[2:4], vectors[4:5], vectors[5]
    sums, longest = np.zeros(5), np.zeros(1)
    for j in range(d + 1):
        wanted[j] = residual[j] + predictor[j]
    solve(A, L, scale, bias, wanted, plane, spare)
    right[:] = 0.0
    limit = SECOND_ORDER_LIMIT * mu
    predict(rows, now, move, knee, plane[:d], plane[d] - inner(plane, centre, d), limit, 0, n, right, sums)
    primal_step, dual_step = min(1.0, 1.0 / max(sums[0], TINY)), min(1.0, 1.0 / max(sums[1], TINY))
    change = dual_step * sums[2] + primal_step * sums[3] + dual_step * primal_step * sums[4]
    within_reach = max(0.0, 1.0 + change / (2.0 * total_cost * mu))
    sigma = max(min(1.0, within_reach) ** 3, 0.3 if last < 0.1 else 1e-6)
    target = max(sigma, min(1.0, least / mu)) * mu
    for j in range(d):
        right[0, j] -= right[0, d] * centre[j]
        right[1, j] -= right[1, d] * centre[j]
    for j in range(d + 1):
        wanted[j] = residual[j] + right[0, j] + target * right[1, j]
    solve(A, L, scale, bias, wanted, plane, spare)
    direct(rows, now, move, knee, plane[:d], plane[d] - inner(plane, centre, d), target, 0, n, longest)
    reached = 1.0 / max(longest[0], TINY)
    for _ in range(MOST_CORRECTIONS):
        if reached > 0.95:
            break
        longer = min(1.0, 1.3 * reached + 0.2)
        more[:] = 0.0
        recentre(rows, now, move, trial, knee, longer, NEAR * target, FAR * target, 0, n, more)
        for j in range(d + 1):
            wanted[j] += more[0, j] - (more[0, d] * centre[j] if j < d else 0.0)
        solve(A, L, scale, bias, wanted, other, spare)
        longest[0] = 0.0
        direct(rows, now, trial, knee, other[:d], other[d] - inner(other, centre, d), 0.0, 0, n, longest)
        gained, hoped = 1.0 / max(longest[0], TINY) - reached, longer - reached
        if gained >= 0.0:
            reached += gained
            plane[:] = other
            move.p[:] = trial.p
            move.s[:] = trial.s
            move.xi[:] = trial.xi
        if gained < 0.1 * hoped:
            break
    boundary = min(max(BOUNDARY, 1.0 - mu), CLOSEST) if reached > 0.9 else BOUNDARY
    return min(1.0, boundary * reached)


@njit
def dual_value(M: Any, d: int, knee: float, bias: bool, sums: Any, numbers: Any) -> Any:
    """D of a, the heavier class scaled down and then both to the best of D(t a), t <= 1."""
    plus, minus, up, down, square = M[d + 2, d], -M[d + 3, d], 1.0, 1.0, 0.0
    if bias:
        light = min(plus, minus)
        up, down = light / max(plus, TINY), light / max(minus, TINY)
    for j in range(d):
        u = up * M[d + 2, j] + down * M[d + 3, j]
        square += u * u
    square += knee * (up * up * sums[2] + down * down * sums[3])
    total = up * plus + down * minus
    t = min(1.0, total / square) if square > 0.0 else 1.0
    numbers[SHRINK] = t
    return t * total - 0.5 * t * t * square


@njit
def factored(M: Any, bias: bool, A: Any, L: Any, scale: Any) -> bool:
    """A = D (M + I) D with a diagonal of 1, and L L' = A; with a tiny shift where A is not positive definite."""
    k = A.shape[0]
    for i in range(k):
        for j in range(i + 1):
            A[i, j] = M[i, j] if bias or i < k - 1 else 0.0
    for i in range(k - 1):
        A[i, i] += 1.0
    A[k - 1, k - 1] = A[k - 1, k - 1] * (1.0 + TINY_SHIFT) if bias else 1.0
    for i in range(k):
        scale[i] = 1.0 / np.sqrt(max(A[i, i], TINY))
    for i in range(k):
        for j in range(i + 1):
            A[i, j] *= scale[i] * scale[j]
            A[j, i] = A[i, j]
    shift = 0.0
    while shift <= LARGEST_SHIFT:
        L[:] = A
        for i in range(k):
            L[i, i] += shift
        if factor_panels(L, 0, k):
            return True
        shift = max(SMALLEST_SHIFT, SHIFT_GROWTH * shift)
    return False


@njit
def solve(A: Any, L: Any, scale: Any, bias: bool, right: Any, x: Any, residual: Any) -> None:
    """x = D A^-1 D right, refined while more than rounding is left."""
    k, largest = right.shape[0], 0.0
    if not bias:
        right[k - 1] = 0.0
    for i in range(k):
        residual[i] = right[i] * scale[i]
        largest = max(largest, abs(residual[i]))
        x[i] = 0.0
    for _ in range(REFINEMENTS):
        substitute(L, residual)
        left = 0.0
        for i in range(k):
            x[i] += residual[i]
        for i in range(k):
            residual[i] = right[i] * scale[i] - inner(A[i], x, k)
            left = max(left, abs(residual[i]))
        if left <= REFINED * largest:
            break
    for i in range(k):
        x[i] *= scale[i]


@njit(fastmath={"reassoc", "contract"})
def inner(u: Any, v: Any, count: int) -> float:
    """u.v of the first so many numbers."""
    total = 0.0
    for j in range(count):
        total += u[j] * v[j]
    return total
