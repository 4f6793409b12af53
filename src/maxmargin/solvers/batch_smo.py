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

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.matrix import Vector
from maxmargin.problems.kernel_margin import KernelMargin, KernelSolver
from maxmargin.problems.notebook import BLANK, Notebook, NotebookError, State
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
PART_ARRAYS = ("a", "values", "before")
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

    def state(self) -> State:
        return {f"progress_{name}": value for name, value in vars(self).items()}

    def take_up(self, kept: State) -> None:
        vars(self).update({name: kept[f"progress_{name}"] for name in vars(self)})


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

    def take_over(self, part: Part) -> None:
        """The values of all rows, after some have changed as a table of their own."""
        few, chosen = part.table, part.chosen
        changed = np.flatnonzero(few.a != part.before)
        self.carry(chosen[changed], few.signs[changed] * (few.a - part.before)[changed])
        self.values[chosen] = few.values

    def in_play(self, view: View) -> Rows:
        """Rows that some pair may still move: not those whose slope is far on the side where they cannot go."""
        far = APART * max(view.violation, 0.0)
        settled = np.where(view.rising, view.slopes < view.lowest - far, True)
        settled &= np.where(view.falling, view.slopes > view.highest + far, True)
        return np.flatnonzero(~settled)

    def state(self) -> State:
        return {"a": self.a, "values": self.values, "working_set": self.working_set}

    def take_up(self, kept: State) -> None:
        self.a[:], self.values[:], self.working_set = kept["a"], kept["values"], kept["working_set"]

    def part(self, chosen: Rows, cache_bytes: float) -> Table:
        """These rows as a table of their own."""
        cache = RowCache(self.cache.rows.restricted(chosen), cache_bytes, KEPT)
        return Table(cache, self.signs[chosen], self.costs[chosen], self.a[chosen], self.values[chosen])


class Part:
    """The rows in play as a table of their own, and what is shown of the whole meanwhile."""

    def __init__(self, table: Table, chosen: Rows, cache_bytes: float, gap: float, b: float) -> None:
        self.table, self.chosen, self.before = table.part(chosen, cache_bytes), chosen, table.a[chosen]
        self.gap, self.b, self.goal, self.enough, self.progress = gap, b, 0.0, 0.0, Progress()

    def aim_at(self, goal: float) -> None:
        """A gap below the goal is worth a proposal; part of the way is enough for a look at all rows."""
        self.goal, self.enough = goal, max(FURTHER * self.table.look().gap, goal)

    def has_ended(self, view: View) -> bool:
        stays = view.gap > self.enough and view.violation > 0.0
        return not stays or self.progress.has_ended(view, all_rows=False)

    def state(self) -> State:
        numbers = {"before": self.before, "gap": self.gap, "b": self.b, "goal": self.goal, "enough": self.enough}
        return {"chosen": self.chosen, **self.table.state(), **numbers, **self.progress.state()}

    def take_up(self, kept: State) -> None:
        self.table.take_up(kept)
        self.before, self.goal, self.enough = kept["before"], kept["goal"], kept["enough"]
        self.progress.take_up(kept)


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
    notebook: Notebook = BLANK,
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
    aim, progress, proven, part = AIM * tol, Progress(), math.nan, None

    def state() -> State:
        numbers = {"rounds": rounds, "steps": steps, "aim": aim, "proven": proven, "is_split": part is not None}
        return {**table.state(), **numbers, **progress.state()}

    def solution(gap: float, b: float, settled: bool) -> Solution:
        return Solution(np.zeros(0), b, table.a / scale, settled, steps, rounds, {"gap": gap})

    if (kept := notebook.page("cache", cache.state)) is not None:
        cache.take_up(kept)
    if (kept := notebook.page("smo", state)) is not None:
        table.take_up(kept)
        progress.take_up(kept)
        rounds, steps, aim, proven = (kept[name] for name in ("rounds", "steps", "aim", "proven"))
        part = part_of(table, few_bytes, notebook) if kept["is_split"] else None
    while True:
        if part is not None:
            gap, b = part.gap, part.b
            while True:
                notebook.rest()
                inner = part.table.look()
                if part.has_ended(inner):
                    break
                steps, rounds = steps + part.table.step(inner), rounds + 1
                table.a[part.chosen] = part.table.a
                yield solution(gap, b, False)
            if inner.gap > part.goal and inner.violation > 0.0:
                table.take_over(part)
                part = None
                notebook.page("smo", state)
                continue
        else:
            notebook.rest()
            view = table.look()
            gap = view.gap / view.primal if 0.0 < view.primal < np.inf else view.gap
            b = 0.5 * (view.highest + view.lowest)
            is_there = view.gap <= aim * view.primal < np.inf or view.violation <= 0.0
            is_hopeless = problem.is_hard and view.dual > HOPELESS
            if not (is_there or is_hopeless or progress.has_ended(view, all_rows=True)):
                chosen = table.in_play(view)
                if len(chosen) > FEW * n or n <= 2 * table.size or not view.primal < np.inf:
                    steps, rounds = steps + table.step(view), rounds + 1
                    yield solution(gap, b, False)
                    continue
                part = Part(table, chosen, few_bytes, gap, b)
                part.aim_at(0.5 * aim * view.primal)
                notebook.page("part", part.state, growing=PART_ARRAYS)
                notebook.page("part cache", part.table.cache.state)
                continue
        answer = yield solution(gap, b, True)
        if answer is None:
            return
        is_known = np.isfinite(answer.values)
        if saw_all := bool(np.all(is_known)):
            if not math.isnan(proven) and not answer.gap < 0.9 * proven:
                return
            proven = float(answer.gap)
        if part is not None:
            if not saw_all:  # a judge who has seen enough need not look at all rows
                table.take_over(part)
            part = None
            notebook.page("smo", state)
        table.values[is_known] = answer.values[is_known]
        aim, progress = 0.5 * aim, Progress()


def part_of(table: Table, few_bytes: float, notebook: Notebook) -> Part:
    """The part that an earlier process was at work on."""
    any_part = Part(table, np.zeros(1, dtype=np.intp), few_bytes, 0.0, 0.0)
    kept = notebook.page("part", any_part.state, growing=PART_ARRAYS)
    n = len(table.signs)
    if kept is None or any(len(kept[name]) != len(kept["chosen"]) for name in PART_ARRAYS) or not len(kept["chosen"]):
        raise NotebookError("it was at work on a part of the rows, and does not say on which")
    if kept["chosen"].min() < 0 or kept["working_set"].max(initial=-1) >= len(kept["chosen"]):
        raise NotebookError(f"it was at work on rows that are not among the {n} of this run")
    part = Part(table, kept["chosen"], few_bytes, kept["gap"], kept["b"])
    part.take_up(kept)
    notebook.page("part", part.state, growing=PART_ARRAYS)
    if (kept := notebook.page("part cache", part.table.cache.state)) is not None:
        part.table.cache.take_up(kept)
    return part
