"""The last plane of stochastic steps on a tiny table, tightened: what is left of its gap, an exact solver closes.

The gap of the steps falls like 1 / t, and where a row counts k times they depend on whether it is told as one row of
weight k or as k rows. The optimum does not, and on so few numbers it costs less than the sweeps. So the exact solver
of the same problem proposes its plane and its weights to the judge of the steps. The plane takes the place of theirs if
it is better; the run itself stays where the steps have left it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin.data.table import Vector
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import KernelMargin, SoftMargin, TwoClasses
from maxmargin.run.control import Clock, prove
from maxmargin.run.observation import NOBODY, observed
from maxmargin.solve.soft_margin import Judge, soft_margin_of
from maxmargin.solvers import registry

if TYPE_CHECKING:
    from maxmargin.solve.kernel_margin import KernelJudge
    from maxmargin.solve.stochastic import JudgeOfTheLast

MOST_NUMBERS = 2_000  # rows times columns of a tiny table
MOST_ROWS = 100  # of one with a kernel, whose values are as many as the square
FINEST = 1e-12  # the gap that is asked for


def is_tiny(n_rows: int, n_columns: int, *, has_kernel: bool) -> bool:
    return n_rows * n_columns <= MOST_NUMBERS and not (has_kernel and n_rows > MOST_ROWS)


def best_one(two: TwoClasses, problem: SoftMargin, tol: float, clock: Clock) -> Iterate:
    """The best plane to this gap with its weights, in the units of the user."""
    scaled, scale = soft_margin_of(two, problem.costs, problem.loss, problem.fit_intercept)
    best = Judge(scaled, tol, None)
    iterate, _ = prove(registry.soft_margin(scaled, tol=tol, stepwise=clock.is_watched), best, clock, None)
    with np.errstate(over="ignore"):
        w: Vector = best.plane.w * scale
        weights = np.minimum(best.a * scale * scale, problem.upper)
    return Iterate(w, best.plane.b, weights, True, iterate.updates, iterate.sweeps)


def tighten(two: TwoClasses, judge: JudgeOfTheLast) -> None:
    """The plane that the judge keeps is the better one of its own and the best one."""
    own = judge.plane
    with observed(NOBODY):  # of the steps alone
        best = best_one(two, judge.problem, FINEST, Clock(None, verbose=0))
    judge.evaluate(best)
    if not judge.plane.primal.upper < own.primal.upper:
        judge.plane = own


def tighten_in_a_kernel(problem: KernelMargin, judge: KernelJudge) -> None:
    """The same in the space of a kernel: an interior point on columns whose inner products are the kernel's values,
    and an active set for the last digits."""
    from maxmargin.solve.kernel_columns import by_columns
    from maxmargin.solve.kernel_margin import KernelJudge
    from maxmargin.solvers.kernel_smo.low_rank import low_rank

    exact = KernelJudge(problem, FINEST, judge.threads, settles=True)
    found = low_rank(problem, problem.highest_rank, centred=problem.fit_intercept)
    solver = registry.on_columns_of_a_kernel(problem.loss)
    with observed(NOBODY):
        by_columns(found.columns, found.scale, exact, Clock(None, verbose=0), None, solver)
    judge.evaluate(Iterate(np.zeros(0), 0.0, exact.a))
