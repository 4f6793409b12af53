"""Semismooth Newton for losses with a bend: the primal is a once differentiable patchwork of quadratics.

    primal     P(w, b) = 1/2 |w|^2 + sum_i C_i loss(r_i),      r_i = 1 - y_i (w.x_i + b)
    gradient   g = w - u,   u = X'(y a),   a_i = C_i clip(r_i / bend, 0, box);   the slope in b is -y'a
    gap        P - D(a) = 1/2 |w - u|^2 - b y'a

The last line is an identity, and y'a = 0 where b is the best for its w: the gradient alone tells what is proven.

One step solves Newton's equations on J = {0 < r_i < knee}, where the loss is a parabola (`losses`), as if J were
final (`systems.py`), goes as far along the answer as P falls, and moves b to its best. Both searches are exact: along a
line, the slope of P is piecewise linear and rises, and its zero is found by Newton's rule with a bracket. Once J is
final, one step ends it: finite termination.

A large table is first solved on a sample of its rows, with their costs raised in proportion: the first steps, in which
nearly all rows pay and most of them change sides, are made on a few thousand rows.

Where rounding stops it, it begins again in coordinates in which rounding does less harm (`conditioning.py`).

A table that is not in memory is read block by block, twice or three times in a step.

Cost: a step reads all rows once and J once, and solves a system. References: [mangasarian2002], [keerthi2005].
Differs: the unregularised b by its own exact search; the sample; a stop by the duality gap.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any

import numpy as np

from maxmargin._loops import njit
from maxmargin.data.executor import Threads, block_edges
from maxmargin.data.table import Vector
from maxmargin.problems.losses import Loss
from maxmargin.problems.protocol import Anew, Evaluation, Iterate, Iterates, Options
from maxmargin.problems.statement import SoftMargin
from maxmargin.solvers.interior_point.conditioning import can_be_placed, from_a_better_place
from maxmargin.solvers.newton.systems import system_for
from maxmargin.solvers.passes import inner, passes_over, values_of

Plane = tuple[Vector, float]

LINE_PRECISION = 1e-3  # of the slope at the start of a line
ROUNDING = 1e-15  # of the sum of the magnitudes
MOST_TRIALS = 60
MOST_STEPS = 1_000
FIRST_STEPS = 100  # after so many, rounding may be in the way even if there is some progress
FARTHEST = 1e300
PATIENCE = 3  # steps that gain nothing, before it is rounding that is in the way
SAMPLE = 2_000
SAMPLE_PER_COLUMN = 10
SAMPLE_TOL = 1e-2  # of P: a step on the sample that gains less is the last one
WORTH_A_SAMPLE = 8  # times as many rows as the sample has


def slope_block_at_once(
    r: Any, e: Any, costs: Any, steepness: float, knee: float, t: float, start: int, stop: int
) -> Any:
    r, e, costs = r[start:stop], e[start:stop], costs[start:stop]
    missing = r - t * e
    pays = np.where(missing > 0.0, steepness * costs * e, 0.0)
    least = np.minimum(missing, knee)
    curvature = np.sum(np.where(missing < knee, pays, 0.0) * e)
    return -float(np.sum(pays * least)), float(curvature), float(np.sum(np.abs(pays) * least))


@njit(fastmath={"reassoc", "contract"}, at_once=slope_block_at_once)
def slope_block(r: Any, e: Any, costs: Any, steepness: float, knee: float, t: float, start: int, stop: int) -> Any:
    """Of sum_i C_i loss(r_i - t e_i): its slope in t, its curvature, and the sum of the slopes' magnitudes.

    steepness = 1 / bend: the slope of the loss is that times what is missing, up to the knee.
    """
    slope, curvature, magnitude = 0.0, 0.0, 0.0
    for i in range(start, stop):
        missing = r[i] - t * e[i]
        pays = steepness * costs[i] * e[i] if r[i] > t * e[i] else 0.0
        slope -= pays * min(missing, knee)
        magnitude += abs(pays) * min(missing, knee)
        curvature += (pays if missing < knee else 0.0) * e[i]
    return slope, curvature, magnitude


def move_block_at_once(
    r: Any, e: Any, costs: Any, bend: float, box: float, t: float, a: Any, start: int, stop: int
) -> float:
    own = slice(start, stop)
    r[own] -= t * e[own]
    share = np.minimum(box, np.maximum(0.0, r[own]) / bend)
    a[own] = costs[own] * share
    return float(np.sum(a[own] * (r[own] - 0.5 * bend * share)))


@njit(fastmath={"reassoc", "contract"}, at_once=move_block_at_once)
def move_block(r: Any, e: Any, costs: Any, bend: float, box: float, t: float, a: Any, start: int, stop: int) -> float:
    """r becomes r - t e and a becomes C clip(r / bend, 0, box); returns sum_i C_i loss(r_i)."""
    loss, steepness = 0.0, 1.0 / bend
    for i in range(start, stop):
        r[i] -= t * e[i]
        share = min(box, steepness * max(0.0, r[i]))
        a[i] = costs[i] * share
        loss += a[i] * (r[i] - 0.5 * bend * share)
    return loss


def start(problem: SoftMargin, options: Options) -> Anew:
    return Anew(options)


def steps(problem: SoftMargin, state: Anew) -> Iterates:
    return semismooth_newton(problem, tol=state.options.tol, start=state.options.start, seed=state.options.seed)


def semismooth_newton(problem: SoftMargin, *, tol: float, start: Vector | None = None, seed: int = 0) -> Iterates:
    """Iterates within and between the steps; asks to be judged when its own gap is at most tol.

    `start` are dual variables to start from, at their own plane w(a).
    """
    if not problem.loss.is_smooth:
        raise ValueError(
            f"Semismooth Newton needs a loss that bends: the {problem.loss.title} has no slope at its edge."
        )
    with Threads.shared() as threads:
        if start is not None and np.any(start):
            everyone = np.arange(problem.n_rows)
            plane = passes_over(problem.X, threads).combine(everyone, problem.signs * start), 0.0
        else:
            plane = yield from plane_of_sample(problem, threads, seed)
        most = FIRST_STEPS if can_be_placed(problem) else MOST_STEPS
        w = yield from descent(problem, threads, tol, plane, most)
        yield from from_a_better_place(
            problem, w, lambda placed, w: descent(placed, threads, tol, (w, 0.0), MOST_STEPS)
        )


def plane_of_sample(problem: SoftMargin, threads: Threads, seed: int) -> Generator[Iterate, Evaluation | None, Plane]:
    """Iterates, and returns the best plane of a sample, or the zero plane where no sample pays.

    Each class is sampled for itself, a small one whole; its rows stand for all of their class.
    """
    n, d = problem.n_rows, problem.n_columns
    size = max(SAMPLE, SAMPLE_PER_COLUMN * d)
    products = n * passes_over(problem.X, threads).numbers_per_row ** 2
    if n < WORTH_A_SAMPLE * size or products < d**3:  # a step on a sample has the same system to solve
        return np.zeros(d), 0.0
    random = np.random.default_rng(seed)
    kept, factors = [], []
    for sign in (1.0, -1.0):
        members = np.flatnonzero(problem.signs == sign)
        chosen = np.sort(random.choice(members, min(len(members), size // 2), replace=False))
        kept.append(chosen)
        factors.append(np.full(len(chosen), len(members) / max(1, len(chosen))))
    rows = np.concatenate(kept)
    costs = problem.costs[rows] * np.concatenate(factors)
    sample = SoftMargin(problem.X[rows], problem.signs[rows], costs, problem.loss, problem.fit_intercept)
    a = np.zeros(n)
    steps, primal = 0, np.inf
    for iterate in descent(sample, threads, SAMPLE_TOL, (np.zeros(d), 0.0), MOST_STEPS):
        a[rows] = iterate.a
        if iterate.updates > steps:
            steps, primal, last = iterate.updates, iterate.primal, primal
            if iterate.proposes or last - primal <= SAMPLE_TOL * primal:
                break
        yield Iterate(iterate.w, iterate.b, a, gap=np.inf)
    return iterate.w, iterate.b


def descent(
    problem: SoftMargin, threads: Threads, tol: float, start: Plane, most_steps: int
) -> Generator[Iterate, Evaluation | None, Vector]:
    """Newton steps from a plane, until nobody asks for more or rounding is in the way; returns the last w."""
    signs = problem.signs
    passes, line = passes_over(problem.X, threads), Line(np.ascontiguousarray(problem.costs), problem.loss, threads)
    system = system_for(problem, passes)
    w, b = start[0].copy(), start[1]
    r = shortfall(problem, values_of(problem.X, w) if np.any(w) else np.zeros(problem.n_rows), b)
    a = np.empty(problem.n_rows)
    e, step = signs, 0.0
    steps = fruitless = 0
    least = lowest = np.inf
    while True:
        loss = line.move(r, e, step, a)
        if problem.fit_intercept:
            shift = line.lowest(r, signs, 0.0, 0.0, 0.0, 0.0)
            loss = line.move(r, signs, shift, a)
            b += shift
            if loss == 0.0:  # nobody pays at the best b: of all these, the one in the middle
                nearest = [float(np.max(r, where=signs == sign, initial=-FARTHEST)) for sign in (1.0, -1.0)]
                shift = 0.5 * (nearest[0] - nearest[1])
                line.move(r, signs, shift, a)
                b += shift
        paying = np.flatnonzero(a)
        paid = a[paying]
        paid *= signs[paying]
        g = w - passes.combine(paying, paid)
        J = paying[r[paying] < problem.loss.knee] if problem.loss.is_bounded else paying
        primal = 0.5 * inner(w, w) + loss
        gap = 0.5 * inner(g, g) + abs(b * float(paid.sum()))
        relative = gap / primal if primal > 0.0 else 0.0
        fruitless = 0 if gap < 0.9 * least or primal < lowest * (1.0 - 1e-12) else fruitless + 1
        least, lowest = min(least, gap), min(lowest, primal)
        lost = not np.isfinite(primal)  # a system that could not be solved
        over = lost or steps == most_steps or fruitless == PATIENCE

        proposes = over or gap <= tol * primal
        evaluation = yield Iterate(w, b, a, proposes, steps, 2 * steps, gap=relative, primal=primal)
        if over:
            return np.zeros_like(w) if lost else w
        if evaluation is not None:  # the roundings of many steps have added up in r: not so in X w
            b = evaluation.b
            r = shortfall(problem, evaluation.values, b)
        dw, db = -g, 0.0
        if len(J):
            work = system.direction(J, g, tol * primal)
            try:
                while True:
                    next(work)
                    yield Iterate(w, b, a, False, steps, 2 * steps, gap=relative, primal=primal)
            except StopIteration as found:
                dw, db = found.value
        e = values_of(problem.X, dw)
        e += db
        e *= signs
        step = line.lowest(r, e, inner(w, dw), inner(dw, dw), 1.0, LINE_PRECISION * abs(inner(g, dw)))
        w += step * dw
        b += step * db
        steps += 1


def shortfall(problem: SoftMargin, values: Vector, b: float) -> Vector:
    """r_i = 1 - y_i (w.x_i + b), of either sign."""
    r: Vector = values + b
    r *= problem.signs
    np.subtract(1.0, r, out=r)
    return r


class Line:
    """Exact search on a line, along which every row falls at its own rate: r_i(t) = r_i - t e_i."""

    def __init__(self, costs: Vector, loss: Loss, threads: Threads) -> None:
        self.costs, self.loss, self.threads = costs, loss, threads
        self.edges = block_edges(len(costs), 3 * len(costs))

    def blocks(self, loop: Any, *arguments: Any) -> list[Any]:
        """loop(*arguments, start, stop) for each block, in order."""
        answers = [None] * (len(self.edges) - 1)

        def run(block: int, start: int, stop: int) -> None:
            answers[block] = loop(*arguments, start, stop)

        self.threads.run(run, self.edges)
        return answers

    def move(self, r: Vector, e: Vector, t: float, a: Vector) -> float:
        """Go to t; returns the loss there, and a."""
        return float(sum(self.blocks(move_block, r, e, self.costs, self.loss.bend, self.loss.box, t, a)))

    def lowest(self, r: Vector, e: Vector, slope: float, curvature: float, t: float, flat: float) -> float:
        """Where  slope t + curvature t^2 / 2 + sum_i C_i loss(r_i - t e_i)  is lowest; the search begins at t.

        Its slope rises and is piecewise linear, so that Newton's rule ends after a few trials. It need not be flatter
        than `flat`, and cannot be flatter than rounding allows. Where all rows that pay are beyond the knee, nothing
        bends, and the step is twice as long as the last until something does.
        """
        low, high, reach = -np.inf, np.inf, 1.0
        about = self.costs, 1.0 / self.loss.bend, self.loss.knee
        for _ in range(MOST_TRIALS):
            slopes, curvatures, magnitude = np.sum(self.blocks(slope_block, r, e, *about, t), axis=0)
            here = slope + curvature * t + float(slopes)
            bend = curvature + float(curvatures)
            if abs(here) <= max(flat, ROUNDING * float(magnitude)):
                break
            low, high = (t, high) if here < 0.0 else (low, t)
            following, reach = (t - here / bend, reach) if bend > 0.0 else (t - math.copysign(reach, here), 2.0 * reach)
            if not low < following < high:
                following = 0.5 * (low + high)
            if following == t or not np.isfinite(following):
                break
            t = following
        return t
