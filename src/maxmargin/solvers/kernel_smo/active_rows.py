"""Active rows, and one round of batch SMO among them.

values_i = sum_j a_j y_j k_ij and the slopes v_i = y_i - values_i are kept for these rows. In a round

    1. the rows that violate most, half of them from either side, join the newest half of the last working set
    2. their own small problem is solved (`working_set`)
    3. values += the change of a times the kernel's rows, which are made in float32 and kept as long as the cache lasts

The gap is free: with b between the slopes of the two sides, row i adds (C_i - a_i) xi_i + a_i max(0, -xi'_i), where
xi' = 1 - y (value + b) and xi its positive part, and all rows together are P - D.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.table import Vector
from maxmargin.problems.protocol import State, varying
from maxmargin.solvers.kernel_smo.kernel_rows import Rows, column_edges
from maxmargin.solvers.kernel_smo.row_cache import RowCache
from maxmargin.solvers.kernel_smo.working_set import add_rows, solve_working_set

SIZE = 1024  # of a working set; half of it where rows are expensive, and no more of them are to be made than needed
PRECISION = 0.1  # a working set is solved to this part of its violation
STEPS = 50  # times its size: the most steps for a working set


class View(NamedTuple):
    """The slopes of rows; where a y may rise and fall; the largest slope that may rise and the least that may fall.

    `gap` is P - D, as far as float32 can tell; P is infinite while a hard margin has no plane that separates, and
    `ray` is then the most that D(t a) can be, t >= 0: (sum a)^2 / (2 |w|^2), without bound where w vanishes.
    """

    slopes: Vector
    rising: NDArray[np.bool_]
    falling: NDArray[np.bool_]
    highest: float
    lowest: float
    gap: float
    primal: float
    dual: float
    ray: float = 0.0

    @property
    def violation(self) -> float:
        return self.highest - self.lowest

    @property
    def b(self) -> float:
        """The bias in the middle between the two sides."""
        return 0.5 * (self.highest + self.lowest)


def look(signs: Vector, costs: Vector, a: Vector, values: Vector) -> View:
    """Where things stand among these rows."""
    plus, slopes = signs > 0.0, signs - values
    above, below = a > 0.0, a < costs
    rising, falling = np.where(plus, below, above), np.where(plus, above, below)
    highest = float(np.max(slopes, where=rising, initial=-np.inf))
    lowest = float(np.min(slopes, where=falling, initial=np.inf))
    square = float(np.einsum("i,i,i->", signs, a, values))
    weight = float(a.sum())
    dual, ray = weight - 0.5 * square, 0.0
    if not highest > lowest and not math.isfinite(highest - lowest):  # a sample of one class
        return View(slopes, rising, falling, highest, lowest, 0.0, dual, dual)
    if costs[0] == np.inf:
        nearest = 1.0 - 0.5 * (highest - lowest)  # y (value + b) of the row that is nearest to the plane
        primal = 0.5 * square / nearest**2 if nearest > 0.0 else np.inf
        ray = 0.5 * weight * (weight / square) if square > 0.0 else np.inf if weight > 0.0 else 0.0
        gap = primal - dual
    else:
        missing = signs * (slopes - 0.5 * (highest + lowest))
        slack = np.maximum(missing, 0.0)
        primal = 0.5 * square + float(np.einsum("i,i->", costs, slack))
        gap = float(np.einsum("i,i->", costs, slack) - np.einsum("i,i->", a, missing))
    return View(slopes, rising, falling, highest, lowest, gap, primal, dual, ray)


@dataclass(init=False, eq=False)
class Table(State):
    """Active rows: their variables, their values, and a cache of kernel rows over them."""

    a: Vector = varying()
    values: Vector = varying()
    working_set: Rows = varying(grows=True)

    def __init__(self, cache: RowCache, signs: Vector, costs: Vector, a: Vector, values: Vector) -> None:
        self.cache, self.signs, self.costs, self.a, self.values = cache, signs, costs, a, values
        self.working_set = np.empty(0, dtype=np.intp)
        self.size = SIZE if cache.rows.is_cheap else SIZE // 2

    def look(self) -> View:
        return look(self.signs, self.costs, self.a, self.values)

    def step(self, view: View) -> int:
        """One round; returns the steps that its working set took."""
        chosen = self.choose(view)
        signs, before = self.signs[chosen], self.a[chosen]
        a = before.copy()
        slopes = (view.slopes[chosen] - view.b).astype(np.float32)
        K = self.cache.square(chosen)
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

            self.cache.rows.threads.run(run, column_edges(len(self.signs)))


def most(values: Vector, candidates: Rows, count: int) -> Rows:
    """The candidates with the largest values."""
    if len(candidates) <= count:
        return candidates
    return candidates[np.argpartition(-values[candidates], count - 1)[:count]]
