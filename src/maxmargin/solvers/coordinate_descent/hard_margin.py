"""The widest street by dual coordinate descent: the soft margin without bounds on the dual variables.

    sweeps       a_i <- max(0, a_i - G_i / (|x_i|^2 + rho)), as in `dual_coordinate_descent`
    subspace step    conjugate gradients for all free rows at once (`subspace`), after every few sweeps
    street       p = X'(y a), the weights of either class scaled to sum to one: from one hull to the other
    gap          (|p|^2 - the distance of the classes along p) / |p|^2

Where no plane exists the a_i grow without bound, and the gap stays open. Cost: a sweep reads every active row once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from maxmargin.data.matrix import Vector
from maxmargin.problems.notebook import BLANK, Notebook
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import Separation
from maxmargin.solvers.coordinate_descent.descent import Descent, take_up
from maxmargin.solvers.passes import combination, values_of

SWEEPS_AT_FIRST, SWEEPS, ITERATIONS = 10, 4, 40


def street_descent(
    problem: Separation, tol: float = 1e-6, seed: int = 0, notebook: Notebook = BLANK
) -> Iterator[Iterate]:
    """The widest street: an iterate after each round of sweeps; proposes when its relative gap is at most tol."""
    n = problem.n_rows
    least_rho = np.finfo(float).tiny if problem.fit_intercept else 0.0
    descent = Descent(problem.X, problem.signs, np.full(n, np.inf), np.zeros(n), least_rho=least_rho, seed=seed)
    descent.rows_per_round = 0  # the sweeps are counted
    take_up(descent, notebook)
    while True:
        notebook.rest()
        for _ in range(SWEEPS_AT_FIRST if descent.sweeps == 0 else SWEEPS):
            for _ in descent.sweep():
                pass
        iterate = judge(problem, descent.point.a, descent.sweeps, descent.iterations, tol)
        yield iterate
        if iterate.proposes:
            return
        step = descent.subspace_step(descent.free())
        for _ in step.run(ITERATIONS):
            pass
        descent.land(step)
        descent.look_at_everything()


def judge(problem: Separation, a: Vector, sweeps: int, subspace_steps: int, tol: float) -> Iterate:
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
    return Iterate(p, b, a.copy(), gap <= tol, sweeps + subspace_steps, sweeps, {"meets": False, "gap": gap})
