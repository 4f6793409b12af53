"""The widest street by dual coordinate descent: the soft margin without bounds on the dual variables.

    sweeps       a_i <- max(0, a_i - G_i / (|x_i|^2 + rho)), as in `descent`
    subspace     conjugate gradients for all free rows at once, after every few sweeps
    street       p = X'(y a), the weights of either class scaled to sum to one: from one hull to the other
    gap          (|p|^2 - the distance of the classes along p) / |p|^2

Where no plane exists the a_i grow without bound, and the gap stays open: then the hulls of the heaviest rows are asked
whether they meet. Cost: a sweep reads every active row once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from maxmargin.data.table import Vector, row_squares
from maxmargin.problems.protocol import Iterate, Iterates, Options, State, varying
from maxmargin.problems.statement import Separation
from maxmargin.solvers.coordinate_descent.descent import CoordinateDescent
from maxmargin.solvers.hulls.nearest import nearest_hulls
from maxmargin.solvers.passes import combination, values_of

SWEEPS_AT_FIRST, SWEEPS, ITERATIONS = 10, 4, 40
FINER = 0.1  # of the gap that is asked for
DOUBTFUL_AFTER = 40  # sweeps with a relative gap above a half: perhaps no plane exists
HEAVY_ROWS = (30, 300, 1500)
LAST_SWEEP = 4000


@dataclass(eq=False)
class StreetState(State):
    """The sweeps, and the sweep after which the heaviest rows are looked at."""

    tol: float
    descent: CoordinateDescent = varying()
    next_look: int = varying(DOUBTFUL_AFTER)


def start(problem: Separation, options: Options) -> StreetState:
    """At a = 0, without bounds."""
    n = problem.n_rows
    least_rho = np.finfo(float).tiny if problem.fit_intercept else 0.0
    descent = CoordinateDescent(
        problem.X, problem.signs, np.full(n, np.inf), np.zeros(n), least_rho=least_rho, seed=options.seed
    )
    descent.rows_per_round = 0  # the sweeps are counted
    return StreetState(FINER * options.tol, descent)


def steps(problem: Separation, state: StreetState) -> Iterates:
    """Sweeps; where their gap stays open, a look whether the hulls of the heaviest rows meet."""
    empty = np.flatnonzero(row_squares(problem.X) == 0.0)
    if len(empty) and not problem.fit_intercept:  # no plane through the origin keeps the origin off itself
        a = np.zeros(problem.n_rows)
        a[empty[0]] = 1.0
        yield Iterate(np.zeros(problem.n_columns), 0.0, a, True, meets=True)
        return
    for iterate in sweeps(problem, state.descent, state.tol):
        yield iterate
        if iterate.sweeps >= state.next_look and iterate.gap > 0.5:
            state.next_look *= 2
            for count in HEAVY_ROWS:
                meeting = meeting_of_heaviest(problem, iterate, count)
                if meeting is not None:
                    yield meeting
                    return
        if iterate.sweeps >= LAST_SWEEP:
            return
        yield None


def sweeps(problem: Separation, descent: CoordinateDescent, tol: float) -> Iterator[Iterate]:
    """The widest street: an iterate after each round of sweeps; it proposes when its relative gap is at most tol."""
    while True:
        if descent.sweeps > 0:
            step = descent.subspace_step(descent.free())
            for _ in step.run(ITERATIONS):
                pass
            descent.land(step)
            descent.look_at_everything()
        for _ in range(SWEEPS_AT_FIRST if descent.sweeps == 0 else SWEEPS):
            for _ in descent.sweep():
                pass
        iterate = street_of(problem, descent.point.a, descent.sweeps, descent.iterations, tol)
        yield iterate
        if iterate.proposes:
            return


def meeting_of_heaviest(problem: Separation, iterate: Iterate, count: int) -> Iterate | None:
    """Whether the hulls of the rows with the largest weights meet: these grow without bound where no plane exists."""
    heavy = np.sort(np.argsort(-iterate.a, kind="stable")[:count])
    if problem.fit_intercept and len(np.unique(problem.signs[heavy])) < 2:
        return None
    part = Separation(problem.X[heavy], problem.signs[heavy], problem.norm, problem.fit_intercept)
    *_, street = nearest_hulls(part)
    if not street.meets:
        return None
    a = np.zeros(problem.n_rows)
    a[heavy] = street.a
    return Iterate(iterate.w, iterate.b, a, True, iterate.updates + street.updates, iterate.sweeps, meets=True)


def street_of(problem: Separation, a: Vector, sweeps: int, subspace_steps: int, tol: float) -> Iterate:
    """The plane of the class-balanced a with its relative gap as the solver sees it."""
    signs = problem.signs
    plus, minus = float(a[signs > 0].sum()), float(a[signs < 0].sum())
    if problem.fit_intercept and plus > 0.0 and minus > 0.0:
        p = combination(problem.X, a * np.where(signs > 0, 1.0 / plus, -1.0 / minus))
    else:
        p = combination(problem.X, signs * a) / max(plus + minus, np.finfo(float).tiny)
    reach = values_of(problem.X, p)
    square = float(p @ p)
    if problem.fit_intercept:
        lowest_plus, highest_minus = float(reach[signs > 0].min()), float(reach[signs < 0].max())
        b, floor = -0.5 * (lowest_plus + highest_minus), lowest_plus - highest_minus
    else:
        b, floor = 0.0, float((signs * reach).min())
    gap = (square - floor) / square if square > 0.0 else np.inf
    return Iterate(p, b, a.copy(), gap <= tol, sweeps + subspace_steps, sweeps, gap=gap)
