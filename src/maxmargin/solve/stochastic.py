"""A run of stochastic steps: the judge looks in from time to time, and at the end.

What is shown is what the rule gives, not the best of what it came by: a run is stopped early because a plane is wanted
that was learnt from few visits, and w = 0 can have the smaller objective then. Dual points are kept, the best one of
all: they only bound.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.certificates.duality import values_of
from maxmargin.data.breath import OutOfTime
from maxmargin.data.matrix import Vector
from maxmargin.problems.multiclass import TwoClasses
from maxmargin.problems.notebook import BLANK, Notebook, State, solution_in, state_of
from maxmargin.problems.separation import Solution
from maxmargin.problems.soft_margin import Judgement, SoftMargin
from maxmargin.solve.clock import BY_THE_CLOCK, Clock, Status
from maxmargin.solve.separation import quietly
from maxmargin.solve.soft_margin import Judge, prove, soft_margin_of, taken_up

if TYPE_CHECKING:
    from maxmargin.solve.kernel_margin import KernelJudge

FIRST_LOOK, UNTIL_NEXT_LOOK = 2.0, 2.0  # sweeps, and times the sweeps so far: a look costs as much as a few sweeps


class JudgeOfTheLast(Judge):
    """Measures every plane that is proposed as it is, with its own bias, and keeps the last."""

    def hear(self, solution: Solution, *, thorough: bool = True) -> Judgement:
        self.heard += 1
        self.plane = self.measured(solution.w, solution.b, values_of(self.problem.X, solution.w))
        self.weigh(solution.a)
        return Judgement(self.plane.primal.upper, self.dual.lower, self.gap, self.plane.values, self.plane.b)


def follow(
    solver: Iterator[Solution], judge: JudgeOfTheLast | KernelJudge, clock: Clock, notebook: Notebook = BLANK
) -> tuple[Solution, Status]:
    """Take solutions until the gap is proven, the solver ends, the time is over, or Ctrl-C; the last one is judged."""
    if (ended := taken_up(judge, notebook)) is not None:
        return ended
    solution = Solution(np.zeros(judge.problem.n_columns), 0.0, np.zeros(judge.problem.n_rows), False, 0, 0, {})
    status, next_look, seen = Status.BUDGET, FIRST_LOOK, False

    def state() -> State:
        return {**state_of(solution), "next_look": float(next_look), "seen": seen}

    if (kept := notebook.page("looks", state, growing=("w",))) is not None:
        solution, next_look, seen = solution_in(kept), kept["next_look"], kept["seen"]
    solutions = quietly(solver)
    try:
        while True:
            with clock.searching():
                found = next(solutions, None)
            if found is None:  # the end of the solver: a StopIteration of anybody else is an error of theirs
                break
            solution, seen = found, False
            if solution.sweeps >= next_look:
                with clock.judging():
                    solution.details["gap"] = judge.hear(solution).gap
                seen, next_look = True, UNTIL_NEXT_LOOK * solution.sweeps
                if judge.gap <= judge.tol:
                    status = Status.PROVEN
                    break
            clock.show(solution, judge.problem)
            clock.reserve = judge.seconds_for(solution) if clock.is_limited and not seen else 0.0
            if clock.is_over:
                status = clock.reason
                break
    except OutOfTime:
        status = clock.reason
    except KeyboardInterrupt:
        clock.interrupt()
        status = Status.INTERRUPTED
    clock.reserve = 0.0
    with clock.judging(), contextlib.suppress(OutOfTime):  # then what was judged before stands
        if not seen:
            judge.hear(solution)
            status = Status.PROVEN if judge.gap <= judge.tol else status
    if status not in BY_THE_CLOCK and not clock.is_over:
        notebook.end(solution, status.name)
    return solution, status


def measured_against_the_best(
    two: TwoClasses, problem: SoftMargin, plane: tuple[Vector, float], tol: float, clock: Clock
) -> JudgeOfTheLast:
    """A plane that comes from anywhere, beside the dual point of a solver that seeks the best one."""
    from maxmargin.solvers.soft_street import soft_street

    scaled, scale = soft_margin_of(two, problem.costs, problem.loss, problem.fit_intercept)
    best = Judge(scaled, tol, None)
    solution, _ = prove(soft_street(scaled, tol=tol), best, clock, None)
    judge = JudgeOfTheLast(problem, tol, two.largest)
    with np.errstate(over="ignore"):
        weights = np.minimum(best.a * scale * scale, problem.upper)
    judge.hear(Solution(*plane, weights, True, solution.updates, solution.sweeps, {}))
    return judge
