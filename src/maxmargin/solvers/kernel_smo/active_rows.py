"""Active rows, and one round of batch SMO among them.

values_i = sum_j a_j y_j k_ij are kept for these rows, and with them the slopes v_i = y_i (1 - q_i a_i) - values_i. In a
round

    1. the rows that violate most, half of them from either side, join the newest half of the last working set
    2. their own small problem is solved (`working_set`); q stands on the diagonal of its kernel
    3. values += the change of a times the kernel's rows, which are made in float32 and kept as long as the cache lasts

The gap is free: with b between the slopes of the two sides, row i adds C_i loss(t_i) - a_i t_i + q_i a_i^2 / 2, where
t = 1 - y (value + b), and all rows together are P - D.

Without a bias there is no equation between the variables. It is as if one more row stood at the origin of the kernel's
space, with a variable that has no bounds and no price: it takes up whatever the others are out of balance, its slope
is always 0, and a pair of it and row i is row i moving by itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.table import Vector
from maxmargin.problems.losses import HINGE, Loss
from maxmargin.problems.protocol import State, varying
from maxmargin.problems.statement import SoftMargin
from maxmargin.solvers.kernel_smo.kernel_rows import Rows, add_rows, column_edges
from maxmargin.solvers.kernel_smo.row_cache import RowCache
from maxmargin.solvers.kernel_smo.working_set import solve_working_set

SIZE = 1024  # of a working set; half of it where rows are expensive, and no more of them are to be made than needed
PRECISION = 0.1  # a working set is solved to this part of its violation
STEPS = 50  # times its size: the most steps for a working set
STEEPEST = 1e30  # q: more would leave float32, and holds a variable as well
FREE = 1e300  # the variable of the row at the origin: no step changes it


class Terms(NamedTuple):
    """What the dual asks of rows: signs y, costs C, ends u of their variables, q (None: 0), the loss; and of a bias."""

    signs: Vector
    costs: Vector
    upper: Vector
    q: Vector | None
    loss: Loss
    fit_intercept: bool

    def of(self, rows: Rows) -> Terms:
        """Those of some rows."""
        costs = self.costs[rows]
        upper = costs if self.upper is self.costs else self.upper[rows]
        return self._replace(
            signs=self.signs[rows], costs=costs, upper=upper, q=None if self.q is None else self.q[rows]
        )


def terms_of(problem: SoftMargin, scale: float) -> Terms:
    """Those of a kernel divided by `scale`, whose variables are so many times as large."""
    costs, loss = problem.costs * scale, problem.loss
    q = np.minimum(loss.bend / costs, STEEPEST) if loss.is_smooth else None
    return Terms(problem.signs, costs, loss.bounds(costs), q, loss, problem.fit_intercept)


@dataclass(eq=False)
class View:
    """The slopes of rows; where a y may rise and fall; the largest slope that may rise and the least that may fall.

    `gap` is P - D, as far as float32 can tell; P is infinite while a hard margin has no plane that separates, and
    `ray` is then the most that D(t a) can be, t >= 0: (sum a)^2 / (2 |w|^2), without bound where w vanishes. `b` is the
    bias in the middle between the two sides, or 0.
    """

    slopes: Vector
    rising: NDArray[np.bool_]
    falling: NDArray[np.bool_]
    highest: float
    lowest: float
    b: float
    gap: float
    primal: float
    dual: float
    ray: float = 0.0

    @cached_property
    def violation(self) -> float:
        return self.highest - self.lowest


def look(terms: Terms, a: Vector, values: Vector) -> View:
    """Where things stand among these rows."""
    signs, costs, upper, q, loss, fit_intercept = terms
    plus, slopes = signs > 0.0, signs - values
    bent = 0.0
    if q is not None:
        slopes -= signs * (q * a)
        bent = float(np.einsum("i,i,i->", q, a, a))
    above, below = a > 0.0, a < upper
    rising, falling = np.where(plus, below, above), np.where(plus, above, below)
    at_origin = -np.inf if fit_intercept else 0.0
    highest = float(slopes.max(where=rising, initial=at_origin))
    lowest = float(slopes.min(where=falling, initial=-at_origin))
    b = 0.5 * (highest + lowest) if fit_intercept else 0.0
    square = float(np.einsum("i,i,i->", signs, a, values))
    weight = float(a.sum())
    dual, ray = weight - 0.5 * square - 0.5 * bent, 0.0
    if not highest > lowest and not math.isfinite(highest - lowest):  # a sample of one class
        return View(slopes, rising, falling, highest, lowest, b, 0.0, dual, dual)
    if costs[0] == np.inf:
        # y (value + b) of the row that is nearest to the plane
        nearest = 1.0 - (0.5 * (highest - lowest) if fit_intercept else max(highest, -lowest))
        primal = 0.5 * square / nearest**2 if nearest > 0.0 else np.inf
        ray = 0.5 * weight * (weight / square) if square > 0.0 else np.inf if weight > 0.0 else 0.0
        gap = primal - dual
    else:
        missing = signs * (slopes - b) if q is None else 1.0 - signs * (values + b)
        losses = np.maximum(missing, 0.0)
        if loss != HINGE:
            losses = loss.value(losses)
        paid = np.einsum("i,i->", costs, losses)
        primal = 0.5 * square + float(paid)
        gap = float(paid - np.einsum("i,i->", a, missing)) + 0.5 * bent
    return View(slopes, rising, falling, highest, lowest, b, gap, primal, dual, ray)


@dataclass(init=False, eq=False)
class Table(State):
    """Active rows: their variables, their values, and a cache of kernel rows over them."""

    a: Vector = varying()
    values: Vector = varying()
    working_set: Rows = varying(grows=True)

    def __init__(self, cache: RowCache, terms: Terms, a: Vector, values: Vector) -> None:
        self.cache, self.terms, self.signs, self.a, self.values = cache, terms, terms.signs, a, values
        self.working_set = np.empty(0, dtype=np.intp)
        self.size = SIZE if cache.rows.is_cheap else SIZE // 2
        self.most_steps = STEPS * self.size

    def look(self) -> View:
        return look(self.terms, self.a, self.values)

    def step(self, view: View) -> int:
        """One round; returns the steps that its working set took."""
        chosen = self.choose(view)
        terms, before = self.terms.of(chosen), self.a[chosen]
        signs, upper, a = terms.signs, terms.upper, before.copy()
        slopes = (view.slopes[chosen] - view.b).astype(np.float32)
        K = self.cache.square(chosen)
        if terms.q is not None:
            K[np.diag_indices(len(chosen))] += terms.q.astype(np.float32)
        if not terms.fit_intercept:
            K, slopes = np.pad(K, (0, 1)), np.append(slopes, np.float32(0.0))
            signs, upper, a = np.append(signs, 1.0), np.append(upper, np.inf), np.append(a, FREE)
        steps = int(solve_working_set(K, signs, slopes, a, upper, PRECISION, self.most_steps))
        a = a[: len(chosen)]
        changes = terms.signs * (a - before)
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
        together = min(self.size, self.cache.in_use)
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
