"""A margin in the space of a kernel: solver and judge in turn, until the gap is proven.

The judge measures a proposal on all rows in float64, from the raw data, and gives the values back to the solver, which
works in float32: what its rounding did is gone when it goes on.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable

import numpy as np

from maxmargin.certificates.exact_kernel import witness
from maxmargin.certificates.kernel_duality import KernelMeasure, both_sides, direction, least_gap, measure
from maxmargin.certificates.soft_margin import feasible_weights, soft_gap
from maxmargin.data.breath import OutOfTime
from maxmargin.data.matrix import Vector, in_safe_range
from maxmargin.data.threads import Threads
from maxmargin.problems.kernel_margin import KernelMargin, KernelSolver
from maxmargin.problems.kernels import rows_of
from maxmargin.problems.notebook import State
from maxmargin.problems.separation import Norm, Separation, Solution
from maxmargin.problems.soft_margin import Judgement, Loss, SoftMargin
from maxmargin.solve.clock import Clock, Status, now
from maxmargin.solve.separation import drive
from maxmargin.solve.soft_margin import Judge, prove
from maxmargin.solvers.low_rank import low_rank
from maxmargin.solvers.soft_street import soft_street
from maxmargin.solvers.widest_street import widest_street

FINER = 0.1  # of the tolerance: to what the problem of low rank is solved
HARD_RANK = 2000  # the most columns that stand for the kernel when its hard margin is sought
SOME_ROWS = 256  # whose kernel is timed
WORTH_TIMING = 1_000_000  # kernel values: fewer take no time that matters
MARGIN = 1.2  # times what a judgement is thought to take is reserved for it


class KernelJudge:
    """Hears proposals; keeps the weights that prove the smallest gap.

    Of planes whose objective is above that of w = 0, none is kept, unless it is proven to `tol` nevertheless, or
    `any_plane` is to be shown as it is.
    """

    def __init__(self, problem: KernelMargin, tol: float, threads: Threads, *, any_plane: bool = False) -> None:
        self.problem, self.tol, self.threads = problem, tol, threads
        self.a = np.zeros(problem.n_rows)
        self.measured: KernelMeasure = measure(problem, self.a, threads=threads)
        self.most = math.inf if any_plane else self.measured.upper
        self.witness: Vector | None = None
        self.was_brief = False  # the last proposal was refused for its rows with weight alone
        self.pace: float | None = None  # seconds for a kernel value, once it is known

    @property
    def gap(self) -> float:
        return soft_gap(self.measured.upper, self.measured.lower)

    def hear(self, solution: Solution, *, thorough: bool = True) -> Judgement:
        """Measure the weights that are proposed; keep them if they prove more.

        Not thorough: where rows that carry weight already show that the gap is too large, no others are measured, and
        their values are NaN, and so is the bias. But not twice in a row: a solver needs exact values of all rows to get
        out of its errors.
        """
        begun, a = now(), np.clip(solution.a, 0.0, self.problem.costs)
        a = np.where(np.isfinite(a), a, 0.0)  # a solver in overflow proposes nothing
        w = direction(self.problem, a, self.threads)
        if not (thorough or self.was_brief) and (gap := least_gap(self.problem, w)) > self.tol:
            self.was_brief = True
            return Judgement(math.inf, 0.0, gap, w.values, math.nan)
        self.was_brief = False
        measured = both_sides(self.problem, w, None, self.threads)
        if (values := self.problem.n_rows * np.count_nonzero(a)) >= WORTH_TIMING:
            self.pace = (now() - begun) / values
        gap = soft_gap(measured.upper, measured.lower)
        if (measured.upper <= self.most or gap <= self.tol) and not self.gap < gap:
            self.a, self.measured = a, measured
        return Judgement(measured.upper, measured.lower, gap, measured.values, measured.b)

    def seconds_for(self, solution: Solution) -> float:
        """What a judgement of these weights takes: a kernel value for each row and each row that carries weight."""
        values = self.problem.n_rows * np.count_nonzero(solution.a)
        if values < WORTH_TIMING:
            return 0.0
        if self.pace is None:
            self.pace = pace_of(self.problem) / self.threads.number
        return MARGIN * self.pace * values

    def best_weights(self) -> Vector:
        """The feasible weights that were measured."""
        return self.a * np.where(self.problem.signs > 0, *self.measured.factors)

    def canonical_weights(self) -> Vector:
        """The weights of the same plane, scaled until its nearest row has y (w.phi(x) + b) = 1."""
        nearest = float(np.min(self.problem.signs * (self.measured.values + self.measured.b)))
        return self.a * np.where(self.problem.signs > 0, *self.measured.scales) / nearest

    def state(self) -> State:
        """The weights, for a notebook: what they are worth is measured again."""
        return {"a": self.a, "was_brief": self.was_brief}

    def take_up(self, kept: State) -> None:
        self.a, self.was_brief = kept["a"], kept["was_brief"]
        self.measured = measure(self.problem, self.a, threads=self.threads)

    def tidy(self) -> None:
        """Pairs of variables end at the ends of their boxes by themselves."""


def pace_of(problem: KernelMargin) -> float:
    """Seconds for a kernel value on one core, from two small tables of them: the first one wakes up the memory."""
    few = rows_of(problem.points, slice(0, SOME_ROWS))
    for _ in range(2):
        begun = now()
        problem.kernel.combine(few, rows_of(few, slice(0, SOME_ROWS)), np.ones((len(few.places), 1)))
        seconds = now() - begun
    return seconds / len(few.places) ** 2


def hard_margin(
    problem: KernelMargin, judge: KernelJudge, clock: Clock, rounds: Callable[..., KernelSolver]
) -> tuple[Solution, Status]:
    """The widest street on the rows of G, K = G G': linear, so that the algorithms of the linear one can find it.

    Where these find two points of the hulls that meet, the judge looks for a proof that they do. Where G cannot stand
    for all of K, `rounds(start=...)` goes on from there.
    """
    try:
        with clock.searching():
            G = in_safe_range(low_rank(problem, HARD_RANK).columns).X  # the weights are the same in every unit
    except OutOfTime:
        return nothing(problem), clock.reason
    separation = Separation(G, problem.signs, Norm.L2, True)
    solution, status = drive(separation, functools.partial(widest_street, tol=FINER * judge.tol), clock)
    if not heard(judge, solution, clock):
        return solution, clock.reason
    if not judge.gap <= judge.tol and status is Status.SETTLED:
        judge.witness = witness(problem) if solution.details.get("meets") else None
        if judge.witness is not None:
            return solution, Status.WITNESS
        solution, status = prove(rounds(start=judge.best_weights()), judge, clock, None)
    if judge.measured.primal < np.inf:
        heard(judge, dataclasses.replace(solution, a=judge.canonical_weights()), clock)
    return solution, Status.PROVEN if judge.gap <= judge.tol else status


def approximate(problem: KernelMargin, rank: int, judge: KernelJudge, clock: Clock) -> tuple[Solution, Status]:
    """The kernel G G' of that rank instead: a linear problem on the rows of G, whose dual variables the judge then
    measures with the true kernel."""
    try:
        with clock.searching():
            G = low_rank(problem, rank).columns
    except OutOfTime:
        return nothing(problem), clock.reason
    linear = SoftMargin(G, problem.signs, problem.costs, Loss.HINGE, True)
    inner = Judge(linear, FINER * judge.tol, None)
    solution, status = prove(soft_street(linear, tol=FINER * judge.tol), inner, clock, None)
    solution = dataclasses.replace(solution, a=feasible_weights(inner.dual, problem.signs, inner.a))
    if not heard(judge, solution, clock):
        return solution, clock.reason
    return solution, Status.PROVEN if judge.gap <= judge.tol else Status.SETTLED if status is Status.PROVEN else status


def heard(judge: KernelJudge, solution: Solution, clock: Clock) -> bool:
    """Have it judged; False where the time for that is over, too, and what was judged before stands."""
    try:
        with clock.judging():
            judge.hear(solution)
    except OutOfTime:
        return False
    return True


def nothing(problem: KernelMargin) -> Solution:
    """What is known before anything is."""
    return Solution(np.zeros(0), 0.0, np.zeros(problem.n_rows), False, 0, 0, {})
