"""A run of stochastic steps: the judge looks in from time to time, and at the end.

What is shown is what the rule gives, not the best of what it came by: a run is stopped early because a plane is wanted
that was learnt from few visits, and w = 0 can have the smaller objective then. Dual points are kept, the best one of
all: they only bound. Where nobody says how many visits there shall be, and the table is tiny, the last plane is
tightened (`tightening`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.certificates import theorems
from maxmargin.certificates.passes import values_of
from maxmargin.certificates.proof import TheoremBound
from maxmargin.data.executor import OutOfTime, Threads, one_thread_for_blas
from maxmargin.data.table import Vector, matrix_of, row_squares
from maxmargin.problems.descent import Descent
from maxmargin.problems.protocol import Evaluation, Iterate, Run
from maxmargin.problems.statement import ClassWeight, KernelMargin, SoftMargin, TwoClasses
from maxmargin.problems.step_lengths import DAMPED
from maxmargin.problems.trace import Trace
from maxmargin.run.control import BY_THE_CLOCK, Clock, RunState, Status
from maxmargin.solve.answer import Answer
from maxmargin.solve.soft_margin import Judge
from maxmargin.solve.tightening import best_one, tighten_in_a_kernel

if TYPE_CHECKING:
    from maxmargin.solve.kernel_margin import KernelJudge

FIRST_LOOK, UNTIL_NEXT_LOOK = 2.0, 2.0  # sweeps, and times the sweeps so far: a look costs as much as a few sweeps


class JudgeOfTheLast(Judge):
    """Measures every plane that is proposed as it is, with its own bias, and keeps the last."""

    def evaluate(self, iterate: Iterate, *, thorough: bool = True) -> Evaluation:
        self.plane = self.measured(iterate.w, iterate.b, values_of(self.problem.table, iterate.w))
        self.weigh(iterate.a)
        return Evaluation(self.plane.primal.upper, self.dual.lower, self.gap, self.plane.values, self.plane.b)


def follow(run: Run, judge: JudgeOfTheLast | KernelJudge, clock: Clock) -> tuple[Iterate, Status]:
    """Take iterates until the gap is proven, the solver ends, the time is over, or Ctrl-C; the last one is judged."""
    n, d = judge.problem.X.shape
    nothing = Iterate(np.zeros(d), 0.0, np.zeros(n))
    state = RunState(n, run.state, judge, nothing, judged=False, next_look=FIRST_LOOK)
    if (ended := clock.ended_before(state)) is not None:
        return state.iterate, ended
    status = Status.BUDGET
    try:
        with clock.searching():
            while (iterate := clock.next_of(run.iterates, None, state)) is not None:
                state.iterate, state.judged = iterate, False
                if iterate.sweeps >= state.next_look:
                    with clock.judging():
                        iterate.gap = judge.evaluate(iterate).gap
                    state.judged, state.next_look = True, UNTIL_NEXT_LOOK * iterate.sweeps
                    if judge.gap <= judge.tol:
                        status = Status.PROVEN
                        break
                clock.show(iterate, judge.problem)
                clock.reserve = judge.seconds_for(iterate) if clock.is_limited and not state.judged else 0.0
                if clock.is_over:
                    status = clock.reason
                    break
    except OutOfTime:
        status = clock.reason
    except KeyboardInterrupt:
        clock.interrupt()
        status = Status.INTERRUPTED
    finally:
        run.iterates.close()
    clock.reserve = 0.0
    with clock.judging(), contextlib.suppress(OutOfTime):  # then what was judged before stands
        if not state.judged:
            judge.evaluate(state.iterate)
            status = Status.PROVEN if judge.gap <= judge.tol else status
    clock.note_end(state, status)
    return state.iterate, status


def in_a_kernel(
    two: TwoClasses,
    problem: KernelMargin,
    run: Run,
    clock: Clock,
    C: float,
    class_weight: ClassWeight,
    tol: float,
    *,
    tightens: bool,
) -> Answer:
    """The plane that the dual point makes is the one that is shown."""
    from maxmargin.certificates.kernel_margin import kernel_certificate
    from maxmargin.solve.kernel_margin import KernelJudge

    with Threads() as threads, one_thread_for_blas:
        judge = KernelJudge(problem, tol, threads, any_plane=True)
        iterate, status = follow(run, judge, clock)
        if tightens and status not in BY_THE_CLOCK:
            tighten_in_a_kernel(problem, judge)
            status = Status.PROVEN if judge.gap <= tol else status
    certificate = kernel_certificate(two, problem, judge.a, judge.measured, C, class_weight, tol)
    weights = judge.a * np.where(two.signs > 0, *judge.measured.scales)
    length, own = math.sqrt(max(0.0, judge.measured.square)), weights[np.searchsorted(two.rows, certificate.rows)]
    return Answer(two, iterate, certificate, status, own, length=length)


def measured_against_the_best(
    two: TwoClasses, problem: SoftMargin, plane: tuple[Vector, float], tol: float, clock: Clock
) -> JudgeOfTheLast:
    """A plane that comes from anywhere, beside the dual point of a solver that seeks the best one."""
    best = best_one(two, problem, tol, clock)
    judge = JudgeOfTheLast(problem, tol, two.largest)
    judge.evaluate(dataclasses.replace(best, w=plane[0], b=plane[1]))
    return judge


def lengths_of_visits(trace: Trace, answer: Answer, step: Any) -> Vector:
    """eta of each visit that a trace has kept."""
    from maxmargin.solvers.stochastic_subgradient import step_lengths

    run, kept, two, kernel = answer.run, trace.to_arrays(), answer.two, answer.kernel
    assert run is not None
    first = run.visits - trace.n_updates  # visits before this fit, of a warm start
    etas = np.array([float(step_lengths(step, run.lam, first + int(t), 1)[0]) for t in kept["update"]])
    if step != DAMPED:
        return etas
    own = np.unique(kept["row"])
    rows = matrix_of(two.X)[own]
    squares = row_squares(rows) if kernel is None else kernel.diagonal(kernel.points(rows, own))
    weights = np.ones(len(own)) if two.weights is None else two.weights[own]
    return np.asarray(etas / (1.0 + etas * (weights * squares)[np.searchsorted(own, kept["row"])]))


def beside_pegasos(
    problem: SoftMargin, run: Descent, answer: Answer, *, is_pegasos: bool, goes_on: bool
) -> TheoremBound:
    """What is promised of Pegasos beside what happened, or why nothing is."""
    is_broken = (
        problem.fit_intercept,
        not is_pegasos,
        goes_on,
        run.visits == 0 or run.visits % problem.n_rows != 0,
    )
    return theorems.pegasos(
        problem.X,
        problem.costs,
        run.C,
        radius=run.radius,
        visits=run.visits,
        primal=answer.certificate.primal,
        loss=answer.iterate.loss,
        broken=[words for words, broken in zip(theorems.BROKEN, is_broken, strict=True) if broken],
    )
