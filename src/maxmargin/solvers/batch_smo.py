"""Batch SMO: the kernel soft margin, some hundred dual variables at a time.

    max  D(a) = sum_i a_i - 1/2 sum_ij a_i a_j y_i y_j k_ij,      0 <= a_i <= C_i,   sum_i a_i y_i = 0

values_i = sum_j a_j y_j k_ij and the slopes v_i = y_i - values_i are kept for all rows. In each round

    1. the rows that violate most, half of them from either side, join the newest half of the last working set
    2. their own small problem is solved (`working_set`)
    3. values += the change of a times the kernel's rows, which are made in float32 and kept as long as the cache lasts

The gap is free: with b between the slopes of the two sides, row i adds (C_i - a_i) xi_i + a_i max(0, -xi'_i), where
xi' = 1 - y (value + b) and xi its positive part, and all rows together are P - D.

Rows whose variable is at an end of its box and whose slope is far on the right side are left out when they are many
("shrinking"): the rest is solved as a smaller table of its own, and then the change of a is carried to all rows, or
judged at once: whoever judges it measures all rows anyway.

What float32 loses is found again: whoever judges a proposal measures all values in float64, the rounds go on from
these, and errors in the changes shrink with the changes. References: [joachims1999], [fan2005], [wen2018].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.matrix import Vector
from maxmargin.problems.kernel_margin import KernelMargin, KernelSolver
from maxmargin.problems.separation import Solution
from maxmargin.solvers.kernel_rows import RowCache
from maxmargin.solvers.working_set import add_rows, solve_working_set

Rows = NDArray[np.intp]

SIZE = 1024  # of a working set; half of it where rows are expensive, and no more of them are to be made than needed
KEPT = 2 * SIZE  # rows that are cheap to make: those of a working set, and some of the last ones
PRECISION = 0.1  # a working set is solved to this part of its violation
STEPS = 50  # times its size: the most steps for a working set
FEW = 0.5  # of the rows may be left for it to pay to leave the others out
APART = 0.5  # of the violation: a slope that is so far on the right side is left out
FURTHER = 0.1  # of the gap: where the smaller table stops
AIM = 0.7  # of the tolerance: float32 sees the gap a little too small
PATIENCE = 50  # rounds in which something must have got better
LITTLE = 1e-4  # of the gap: a dual objective that rose by less is at the end of what float32 can tell
HOPELESS = 1e10  # a dual objective of the hard margin: if a plane exists, its margin is below 1e-5 of the radius
COLUMNS = 4096  # of the cache that one thread adds up at a time


class View(NamedTuple):
    """The slopes of all rows; where a y may rise and fall; the largest slope that may rise and the least that may fall.

    `gap` is P - D, as far as float32 can tell; P is infinite while a hard margin has no plane that separates.
    """

    slopes: Vector
    rising: NDArray[np.bool_]
    falling: NDArray[np.bool_]
    highest: float
    lowest: float
    gap: float
    primal: float
    dual: float

    @property
    def violation(self) -> float:
        return self.highest - self.lowest


class Progress:
    """Whether the rounds lead somewhere: the dual objective of all rows rises, or the gap of some of them falls."""

    def __init__(self) -> None:
        self.round, self.marked, self.smallest = 0, -np.inf, np.inf

    def has_ended(self, view: View, *, all_rows: bool) -> bool:
        """Asked once in each round, says yes after PATIENCE rounds without progress."""
        little = LITTLE * min(view.gap, view.dual)
        better = view.dual - self.marked > little if all_rows else view.gap < 0.99 * self.smallest
        self.round = 0 if better else self.round + 1
        if better:
            self.marked, self.smallest = view.dual, view.gap
        return self.round > PATIENCE


class Table:
    """Rows in play: their variables, their values, and a cache of kernel rows over them."""

    def __init__(self, cache: RowCache, signs: Vector, costs: Vector, a: Vector, values: Vector) -> None:
        self.cache, self.signs, self.costs, self.a, self.values = cache, signs, costs, a, values
        self.working_set = np.empty(0, dtype=np.intp)
        self.size = SIZE if cache.rows.is_cheap else SIZE // 2

    def look(self) -> View:
        """Where things stand."""
        signs, a, costs = self.signs, self.a, self.costs
        plus, slopes = signs > 0.0, signs - self.values
        above, below = a > 0.0, a < costs
        rising, falling = np.where(plus, below, above), np.where(plus, above, below)
        highest = float(np.max(slopes, where=rising, initial=-np.inf))
        lowest = float(np.min(slopes, where=falling, initial=np.inf))
        square = float(np.einsum("i,i,i->", signs, a, self.values))
        dual = float(a.sum()) - 0.5 * square
        if costs[0] == np.inf:
            nearest = 1.0 - 0.5 * (highest - lowest)  # y (value + b) of the row that is nearest to the plane
            primal = 0.5 * square / nearest**2 if nearest > 0.0 else np.inf
            gap = primal - dual
        else:
            missing = signs * (slopes - 0.5 * (highest + lowest))
            slack = np.maximum(missing, 0.0)
            primal = 0.5 * square + float(np.einsum("i,i->", costs, slack))
            gap = float(np.einsum("i,i->", costs, slack) - np.einsum("i,i->", a, missing))
        return View(slopes, rising, falling, highest, lowest, gap, primal, dual)

    def step(self, view: View) -> int:
        """One round; returns the steps that its working set took."""
        chosen = self.choose(view)
        signs, before = self.signs[chosen], self.a[chosen]
        a = before.copy()
        slopes = (view.slopes[chosen] - 0.5 * (view.highest + view.lowest)).astype(np.float32)
        K = self.cache.rows.square(chosen)
        steps = int(solve_working_set(K, signs, slopes, a, self.costs[chosen], PRECISION, STEPS * self.size))
        changes = signs * (a - before)
        moved = np.flatnonzero(changes)
        self.a[chosen] = a
        self.working_set = chosen
        self.carry(chosen[moved], changes[moved])
        return steps

    def choose(self, view: View) -> Rows:
        """The newest half of the last working set and, from either side, the rows that violate most."""
        kept = self.working_set[-(self.size // 2) :]
        free = np.ones(len(self.signs), dtype=bool)
        free[kept] = False
        share = (self.size - len(kept)) // 2
        rising = most(view.slopes, np.flatnonzero(view.rising & free & (view.slopes > view.lowest)), share)
        free[rising] = False
        falling = most(-view.slopes, np.flatnonzero(view.falling & free & (view.slopes < view.highest)), share)
        return np.concatenate([kept, rising, falling])

    def carry(self, chosen: Rows, changes: Vector) -> None:
        """values += sum of the changes times the kernel's rows."""
        together = min(self.size, len(self.cache.owner))
        for start in range(0, len(chosen), together):
            slots = self.cache.slots(chosen[start : start + together])
            coefficients = changes[start : start + together].astype(np.float32)

            def run(_: int, first: int, last: int, slots: Rows = slots, c: NDArray[np.float32] = coefficients) -> None:
                add_rows(self.cache.values, slots, c, self.values, first, last)

            n = len(self.signs)
            self.cache.rows.threads.run(run, [*range(0, n, COLUMNS), n])

    def take_over(self, part: Table, chosen: Rows, before: Vector) -> None:
        """The values of all rows, after these rows have changed as a table of their own."""
        changed = np.flatnonzero(part.a != before)
        self.carry(chosen[changed], part.signs[changed] * (part.a - before)[changed])
        self.values[chosen] = part.values

    def in_play(self, view: View) -> Rows:
        """Rows that some pair may still move: not those whose slope is far on the side where they cannot go."""
        far = APART * max(view.violation, 0.0)
        settled = np.where(view.rising, view.slopes < view.lowest - far, True)
        settled &= np.where(view.falling, view.slopes > view.highest + far, True)
        return np.flatnonzero(~settled)

    def part(self, chosen: Rows, cache_bytes: float) -> Table:
        """These rows as a table of their own."""
        cache = RowCache(self.cache.rows.restricted(chosen), cache_bytes, KEPT)
        return Table(cache, self.signs[chosen], self.costs[chosen], self.a[chosen], self.values[chosen])


def most(values: Vector, candidates: Rows, count: int) -> Rows:
    """The candidates with the largest values."""
    if len(candidates) <= count:
        return candidates
    return candidates[np.argpartition(-values[candidates], count - 1)[:count]]


def batch_smo(
    problem: KernelMargin,
    cache: RowCache,
    scale: float,
    *,
    tol: float,
    few_bytes: float,
    start: Vector | None = None,
) -> KernelSolver:
    """Rounds until the gap seems to be below tol; each proposal that is judged brings back exact values.

    The cache holds rows of the kernel divided by `scale`; `few_bytes` are for that of the smaller tables.
    """
    n = problem.n_rows
    table = Table(cache, problem.signs, problem.costs * scale, np.zeros(n), np.zeros(n))
    if start is not None:
        table.a[:] = start * scale
        support = np.flatnonzero(start)
        table.carry(support, table.signs[support] * table.a[support])
    rounds = steps = 0
    aim, progress, proven = AIM * tol, Progress(), None

    def solution(view: View, settled: bool) -> Solution:
        gap = view.gap / view.primal if 0.0 < view.primal < np.inf else view.gap
        b = 0.5 * (view.highest + view.lowest)
        return Solution(np.zeros(0), b, table.a / scale, settled, steps, rounds, {"gap": gap})

    while True:
        view = table.look()
        is_there = view.gap <= aim * view.primal < np.inf or view.violation <= 0.0
        is_hopeless = problem.is_hard and view.dual > HOPELESS
        few, chosen = None, table.in_play(view)
        if not (is_there or is_hopeless or progress.has_ended(view, all_rows=True)):
            if len(chosen) > FEW * n or n <= 2 * table.size or not view.primal < np.inf:
                steps, rounds = steps + table.step(view), rounds + 1
                yield solution(view, False)
                continue
            few, before = table.part(chosen, few_bytes), table.a[chosen]
            inner, inner_progress, goal = few.look(), Progress(), 0.5 * aim * view.primal
            enough = max(FURTHER * inner.gap, goal)
            while inner.gap > enough and inner.violation > 0.0 and not inner_progress.has_ended(inner, all_rows=False):
                steps, rounds = steps + few.step(inner), rounds + 1
                table.a[chosen] = few.a
                yield solution(view, False)
                inner = few.look()
            if inner.gap > goal and inner.violation > 0.0:
                table.take_over(few, chosen, before)
                continue
        answer = yield solution(view, True)
        if answer is None or (proven is not None and not answer.gap < 0.9 * proven):
            return
        is_known = np.isfinite(answer.values)
        if few is not None and not np.all(is_known):  # a judge who has seen enough need not look at all rows
            table.take_over(few, chosen, before)
        table.values[is_known], proven = answer.values[is_known], answer.gap
        aim, progress = 0.5 * aim, Progress()
