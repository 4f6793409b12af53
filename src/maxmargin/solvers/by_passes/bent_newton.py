"""Newton by passes, for losses with a bend: one pass a step, and no state beside the plane.

    primal     P(w, b) = 1/2 |w|^2 + sum_i C_i loss(f_i),       f_i = 1 - y_i (w.x_i + b)
    slope      a_i = C_i clip(f_i / bend, 0, box)
    step       (I + X'T X) dw + X'T 1 db = sum_i a_i y_i x_i - w,      1'T X dw + 1'T 1 db = sum_i a_i y_i
    curvature  t_i = C_i / bend for 0 < f_i < knee, else 0

The slopes a_i are dual variables: with the class of the larger sum scaled down they prove a lower bound of P. So a pass
has all that a step needs, and its own gap; what is proposed is the plane and the rule "the slopes at this plane".

A pass looks at several steps s along the last direction: P at each, slopes and matrix at s = 1. Where s = 1 gains less
than half of what the best one does, the next pass begins at the best, without a direction.

Rows beyond the knee, or beyond their edge, have no curvature. Where most rows are there, as at the start of a narrow
Huber hinge, Newton's step is far too long. The widest parabola that touches the loss at f and is nowhere below it has

    c_i = C_i box / (knee + 2 distance of f_i from [0, knee])

and with all of these a full step never raises P. So these rows have t_i = rho c_i: rho begins at 1, falls by 8 after a
full step, rises by 4 after a short one, and ends at 0. The squared hinge has no knee, and begins at 0.

Dense rows are taken from a centre, the mean of the rows that pay: a free bias absorbs a shift, and products of numbers
far from zero would lose their digits.

Cost of a pass: 4 n d and d^2 / 2 for each row that is curved; answer: (d + 1)^2 numbers of each block. 6 to 14 passes.
References: [mangasarian2002], [keerthi2005]. Differs: one pass a step, steps tried side by side, touching parabolas.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin._loops import njit
from maxmargin.data.rows import add, dot
from maxmargin.data.table import Vector, rows_of
from maxmargin.problems.block_margin import (
    Ask,
    BlockMargin,
    Facts,
    ListedRows,
    PassRun,
    PassState,
    Proposal,
    Proven,
    Rule,
    SignedBlock,
    SolverByPasses,
    Weights,
)
from maxmargin.problems.protocol import varying
from maxmargin.solvers.by_passes.budget import LEVELS_OF_A_TREE
from maxmargin.solvers.interior_point.normal_equations import CHUNK, Factor, padded
from maxmargin.solvers.passes import Square, inner, outer_block

STEPS = np.array([1.0, 0.7, 0.5, 0.35, 0.25, 0.12, 0.06, 0.03, 0.01, 0.003, 0.001])
ENOUGH = 0.5  # of the best gain: a full step with as much saves the pass to the best one
SHORT = 0.3  # a step: below it the parabolas of the rows beyond count more
LESS, MORE, FIRST_RHO, LEAST_RHO = 0.125, 4.0, 0.01, 1e-3
AIM = 0.5  # of tol: rounding is the judge's, who adds it
PATIENCE = 3  # passes that gain nothing, before it is rounding that is in the way
GAIN = 1e-14  # of P: a smaller one is rounding
MATRICES = 8  # of (d + 1)^2, beside those of the tree: a block's, a sum, the system, its factor and copies
MOST_PASSES = 300


@njit
def losses_and_slopes(
    rows: Any, signs: Any, costs: Any, w: Any, b: float, dw: Any, db: float, steps: Any,
    bend: float, box: float, rho: float, a: Any, t: Any, losses: Any,
) -> None:  # fmt: skip
    """Slopes a and curvatures t at w + dw; losses_k += sum_i C_i loss at w + steps_k dw."""
    knee = box * bend
    for i in range(signs.shape[0]):
        f, change = 1.0 - signs[i] * (dot(rows, i, w) + b), -signs[i] * (dot(rows, i, dw) + db)
        for k in range(steps.shape[0]):
            at = f + steps[k] * change
            share = min(box, max(0.0, at) / bend)
            losses[k] += costs[i] * share * (at - 0.5 * bend * share)
        at = f + steps[0] * change
        a[i] = costs[i] * min(box, max(0.0, at) / bend)
        if 0.0 < at < knee:
            t[i] = costs[i] / bend
        else:
            t[i] = 0.0 if rho == 0.0 else rho * costs[i] * box / (knee + 2.0 * max(-at, at - knee))


@njit
def sum_slopes(rows: Any, signs: Any, costs: Any, a: Any, totals: Any) -> None:
    """totals of either class: sum a_i x_i, sum a_i, sum a_i^2 / C_i."""
    d = totals.shape[1] - 2
    for i in range(signs.shape[0]):
        if a[i] != 0.0:
            side = 0 if signs[i] > 0.0 else 1
            add(rows, i, a[i], totals[side])
            totals[side, d] += a[i]
            totals[side, d + 1] += a[i] * (a[i] / costs[i])


class Seen(NamedTuple):
    """What rows answer: the loss at each step; at the full one slopes by class, and the matrix's lower triangle."""

    losses: Vector
    totals: Square
    matrix: Square

    def and_of(self, other: Seen) -> Seen:
        return Seen(self.losses + other.losses, self.totals + other.totals, self.matrix + other.matrix)


class Derivatives(NamedTuple):
    """A part of a pass: the loss along w + s dw, with gradient and Hessian at the full step. Answer: `Seen`."""

    w: Vector
    b: float
    dw: Vector
    db: float
    steps: Vector
    bend: float
    box: float
    rho: float
    centre: Vector

    def __call__(self, block: SignedBlock) -> Seen:
        n, d = len(block.signs), len(self.w)
        rows, a, t, losses = rows_of(block.X), np.empty(n), np.empty(n), np.zeros(len(self.steps))
        plane, loss = (self.w, self.b, self.dw, self.db, self.steps), (self.bend, self.box, self.rho)
        losses_and_slopes(rows, block.signs, block.costs, *plane, *loss, a, t, losses)
        totals = np.zeros((2, d + 2))
        sum_slopes(rows, block.signs, block.costs, a, totals)
        size, curved = padded(d + 1), np.flatnonzero(t)
        matrix, buffer, ones = np.zeros((size, size)), np.zeros((CHUNK, size)), np.ones((CHUNK, 1))
        outer_block(rows, curved, t[curved], self.centre, 0, len(curved), ones, buffer, matrix)
        return Seen(losses, totals, matrix)


@dataclass(eq=False)
class BentNewton(PassState):
    """The plane and the direction that is tried; P and the best D as the solver believes them, and where that is."""

    has_centre: bool
    w: Vector = varying()
    dw: Vector = varying()
    centre: Vector = varying()
    dual_w: Vector = varying()
    b: float = varying(0.0)
    db: float = varying(0.0)
    dual_b: float = varying(0.0)
    rho: float = varying(0.0)
    primal: float = varying(math.inf)
    dual: float = varying(0.0)
    proposed: float = varying(math.inf)  # the gap of the last proposal
    fruitless: int = varying(0)
    passes: int = varying(0)

    @property
    def gap(self) -> float:
        return (self.primal - self.dual) / self.primal if 0.0 < self.primal < math.inf else math.inf

    def proposal(self) -> Proposal | None:
        if self.primal == math.inf:
            return None
        return Proposal(self.w, self.b, Weights(Rule(self.dual_w, self.dual_b, 0.0), ListedRows.nobody()))


def floor(problem: BlockMargin, facts: Facts) -> float:
    """Bytes that it needs beside the blocks."""
    matrix = 8.0 * padded(facts.n_columns + 1) ** 2
    levels = 1 + math.ceil(math.log(max(1, facts.n_blocks), LEVELS_OF_A_TREE))
    return (MATRICES + levels) * matrix + 8.0 * 24 * facts.n_columns


def start(problem: BlockMargin, facts: Facts, memory: float, tol: float) -> SolverByPasses:
    zero = np.zeros(facts.n_columns)
    centred = problem.fit_intercept and not facts.is_sparse
    state = BentNewton(
        centred, zero, zero.copy(), zero.copy(), zero.copy(), rho=1.0 if problem.loss.is_bounded else 0.0
    )
    return SolverByPasses(state, steps(problem, state, tol))


def steps(problem: BlockMargin, state: BentNewton, tol: float) -> PassRun:
    """Proposes when its own gap is near enough, and again when that has halved; ends when nothing is gained."""
    loss = problem.loss
    while state.fruitless < PATIENCE and state.passes < MOST_PASSES:
        tried = STEPS if np.any(state.dw) or state.db != 0.0 else STEPS[:1]
        plane = state.w, state.b, state.dw, state.db
        seen = yield Ask(Derivatives(*plane, tried, loss.bend, loss.box, state.rho, state.centre))
        state.passes += 1
        if moved(problem, state, tried, seen) and state.gap <= min(AIM * tol, 0.5 * state.proposed):
            state.proposed = state.gap
            proven = yield state.proposal()  # type: ignore[misc]
            if isinstance(proven, Proven) and proven.gap <= tol:
                return
    if (proposal := state.proposal()) is not None:
        yield proposal


def moved(problem: BlockMargin, state: BentNewton, tried: Vector, seen: Seen) -> bool:
    """Go where P is lowest, and find the next direction; whether the slopes there are known."""
    planes = [(state.w + s * state.dw, state.b + s * state.db) for s in tried]
    values = [0.5 * inner(w, w) + float(loss) for (w, _), loss in zip(planes, seen.losses, strict=True)]
    best = int(np.nanargmin(values)) if not np.all(np.isnan(values)) else 0
    before, lowest = state.primal, values[best]
    gains = before - lowest > GAIN * abs(before) or before == math.inf
    state.fruitless = 0 if gains else state.fruitless + 1
    is_full = len(tried) == 1 or (gains and before - values[0] >= ENOUGH * (before - lowest))
    if not is_full:
        if gains:
            state.w, state.b = planes[best][0], float(planes[best][1])
            state.primal = lowest
        if problem.loss.is_bounded and (not gains or tried[best] < SHORT):
            state.rho = min(1.0, max(FIRST_RHO, MORE * state.rho))
        state.dw, state.db = np.zeros(len(state.w)), 0.0
        return False
    if len(tried) > 1:
        state.rho = LESS * state.rho if LESS * state.rho > LEAST_RHO else 0.0
    state.w, state.b, state.primal = planes[0][0], float(planes[0][1]), min(values[0], before)
    dual = dual_of(problem, seen.totals)
    if dual > state.dual:
        state.dual_w, state.dual_b, state.dual = state.w.copy(), state.b, dual
    state.dw, state.db = direction(problem, state, seen)
    weight = float(seen.totals[:, -2].sum())
    if state.has_centre and weight > 0.0:
        state.centre = seen.totals[:, :-2].sum(axis=0) / weight
    return True


def direction(problem: BlockMargin, state: BentNewton, seen: Seen) -> tuple[Vector, float]:
    """Newton's step from the plane, in coordinates around the centre that the matrix was made with."""
    d = len(state.w)
    residual = seen.totals[0] - seen.totals[1]
    right, slope = residual[:d] - state.w, float(residual[d])
    lower = np.tril(seen.matrix[: d + 1, : d + 1])
    matrix = lower + np.tril(lower, -1).T
    matrix.flat[: (d + 1) * d : d + 2] += 1.0
    total = float(matrix[d, d])
    if not problem.fit_intercept:
        return finite(Factor(matrix[:d, :d]).solve(right), 0.0)
    if not total > 0.0:  # no row is curved
        return finite(Factor(matrix[:d, :d]).solve(right), 0.0)
    centre, h = state.centre, matrix[:d, d]
    right = right - slope * centre - h * (slope / total)
    dw = Factor(matrix[:d, :d] - np.outer(h / total, h)).solve(right)
    return finite(dw, (slope - inner(h, dw)) / total - inner(centre, dw))


def finite(dw: Vector, db: float) -> tuple[Vector, float]:
    """Nowhere, where a system could not be solved."""
    return (dw, float(db)) if math.isfinite(db) and np.all(np.isfinite(dw)) else (np.zeros(len(dw)), 0.0)


def dual_of(problem: BlockMargin, totals: Square) -> float:
    """D of the slopes, the heavier class scaled down and both by the best factor."""
    (plus, minus), scales = totals[:, -2], (1.0, 1.0)
    gain = float(plus + minus)
    if problem.fit_intercept:
        lighter = min(plus, minus)
        if not lighter > 0.0:
            return 0.0
        gain, scales = 2.0 * float(lighter), (lighter / plus, lighter / minus)
    w = scales[0] * totals[0, :-2] - scales[1] * totals[1, :-2]
    bent = problem.loss.bend * (scales[0] ** 2 * totals[0, -1] + scales[1] ** 2 * totals[1, -1])
    square = inner(w, w) + float(bent)
    t = gain / square if square > 0.0 else 1.0
    t = min(1.0, t) if problem.loss.is_bounded else t
    return float(t * (gain - 0.5 * t * square))
