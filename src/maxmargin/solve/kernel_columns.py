"""A kernel as inner products of columns: K = s G G' (`low_rank`), and the solvers of planes on G.

    linear kernel        the columns themselves
    soft margin          where SMO is slow: an interior point or Newton, to one tolerance after the other
    hard margin          the widest street on the rows of G
    approximation=rank   G of that rank, in place of all of K

Of the solvers of planes, the plane is forgotten: the kernel's own is w = sum_j a_j y_j phi(x_j), and as good as the
weights are. So these are sought to a tolerance that is finer, refined by what the judge of the kernel has measured
(`edge_refinement`) and, if the judge is not content, sought again to one that is finer still.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.certificates.duality import feasible_weights
from maxmargin.certificates.exact_kernel import witness
from maxmargin.data.executor import OutOfTime
from maxmargin.data.table import Matrix, is_sparse
from maxmargin.problems.protocol import Iterate, Run
from maxmargin.problems.statement import KernelMargin, Norm, Separation, SignedRows, SoftMargin
from maxmargin.run.control import Clock, Status, prove
from maxmargin.solve.separation import drive
from maxmargin.solve.soft_margin import Judge
from maxmargin.solvers import registry
from maxmargin.solvers.kernel_smo.edge_refinement import refined
from maxmargin.solvers.kernel_smo.kernel_rows import power_at
from maxmargin.solvers.kernel_smo.low_rank import ScaledKernel, low_rank

if TYPE_CHECKING:
    from maxmargin.solve.kernel_margin import KernelJudge

FINER = (1e-1, 1e-4, 1e-7)  # of the tolerance: to what the weights are sought, one after the other
FINER_ON_A_FACTOR = 0.1  # of the tolerance: to what a hard margin, and a problem of low rank, is solved
FINEST = 1e-13  # no float64 says more
LEAST_ROOT = 2.0**-500  # of the scale, whose square must not vanish
REFINEMENTS, WORTH_IT = 5, 0.5  # steps at most, each to this part of the objective or less
HARD_RANK = 2000  # the most columns that stand for the kernel when its hard margin is sought
STEPS_OF_A_ROW = 200_000  # of SMO for a hard margin: after as many it still creeps, on numbers that float64 cannot tell


def nothing(problem: KernelMargin) -> Iterate:
    """What is known before anything is."""
    return Iterate(np.zeros(0), 0.0, np.zeros(problem.n_rows))


def centred_columns(problem: KernelMargin) -> tuple[Matrix, float]:
    """The rows around their mean, which a bias takes up, if they are an array; and s, by which K = s X X'."""
    X = problem.points.X
    if problem.fit_intercept and not is_sparse(X):
        X = X - X.mean(axis=0)
    root = max(power_at(float(np.max(np.abs(X.data if is_sparse(X) else X), initial=0.0))), LEAST_ROOT)
    return X / root if root != 1.0 else X, root * root


class ColumnsJudge(Judge):
    """Judges planes on columns whose inner products are the kernel's, divided by `scale`.

    With so many times the costs, the weights are so many times those of the kernel. They stay as they are: the least of
    them counts, where w is made of them.
    """

    def __init__(self, of: KernelJudge, columns: Matrix, scale: float, tol: float) -> None:
        with np.errstate(over="ignore"):
            costs = np.clip(of.problem.costs * scale, 2.0**-1000, 2.0**1000)
        problem = of.problem
        super().__init__(SoftMargin(columns, problem.signs, costs, problem.loss, problem.fit_intercept), tol, None)
        self.of, self.scale = of, scale

    def seconds_for(self, iterate: Iterate) -> float:
        """The evaluation in the space of the kernel, which is to come."""
        return self.of.seconds_for(iterate)

    def tidy(self) -> None:
        pass

    def shown(self, iterate: Iterate) -> tuple[Iterate, SignedRows]:
        """Observers see the kernel's own."""
        return dataclasses.replace(iterate, w=np.zeros(0), a=iterate.a / self.scale), self.of.problem

    def in_kernel(self, iterate: Iterate) -> Iterate:
        """The best weights, as a proposal to the kernel's judge."""
        a = feasible_weights(self.dual, self.problem.signs, self.a) / self.scale
        return Iterate(np.zeros(0), 0.0, a, True, iterate.updates, iterate.sweeps, gap=self.gap)


def by_columns(
    columns: Matrix,
    scale: float,
    judge: KernelJudge,
    clock: Clock,
    max_iter: int | None,
    solver: str,
) -> tuple[Iterate, Status]:
    """The solvers of planes on these columns, to one tolerance after the other."""
    for finer in FINER:
        tol = max(finer * judge.tol, FINEST)
        inner = ColumnsJudge(judge, columns, scale, tol)
        planes = registry.soft_margin(
            inner.problem, solver=solver, tol=tol, stepwise=clock.is_watched or max_iter is not None
        )
        iterate, status = prove(planes, inner, clock, max_iter)
        iterate = inner.in_kernel(iterate)
        with clock.judging(), contextlib.suppress(OutOfTime):  # then what was judged before stands
            evaluate_and_refine(judge, iterate)
            judge.clear_up()
        if judge.gap <= judge.tol:
            return iterate, Status.PROVEN
        if status is not Status.PROVEN:
            return iterate, status
    return iterate, Status.STALLED


def evaluate_and_refine(judge: KernelJudge, iterate: Iterate) -> None:
    """Propose the weights and, as long as that brings something, those that their exact values lead to."""
    answer, best = judge.evaluate(iterate), math.inf
    kernel: ScaledKernel | None = None
    for _ in range(REFINEMENTS):
        if judge.gap <= judge.tol or not answer.primal < WORTH_IT * best:
            return
        kernel = kernel or ScaledKernel(judge.problem, centred=judge.problem.fit_intercept)
        a = refined(judge.problem, kernel, iterate.a, answer.values, answer.b)
        if a is None:
            return
        iterate, best = dataclasses.replace(iterate, a=a), answer.primal
        answer = judge.evaluate(iterate)


def hard_margin(
    problem: KernelMargin, judge: KernelJudge, clock: Clock, rounds: Callable[..., Run], solver: str
) -> tuple[Iterate, Status]:
    """The widest street on the rows of G, K = G G': linear, so that the algorithms of the linear one can find it.

    Where these find two points of the hulls that meet, the judge looks for a proof that they do. Where G cannot stand
    for all of K, `rounds(start=...)` goes on from there.
    """
    try:
        with clock.searching():
            found = low_rank(problem, HARD_RANK, centred=problem.fit_intercept)
    except OutOfTime:
        return nothing(problem), clock.reason
    separation = Separation(found.columns, problem.signs, Norm.L2, problem.fit_intercept)
    search = registry.separation(separation, solver=solver, tol=FINER_ON_A_FACTOR * judge.tol)
    iterate, status = drive(separation, search, clock)
    if not is_evaluated(judge, iterate, clock):
        return iterate, clock.reason
    if not judge.gap <= judge.tol and status is Status.SETTLED:
        judge.witness = witness(problem) if iterate.meets else None
        if judge.witness is not None:
            return iterate, Status.WITNESS
        if solver == registry.AUTO:
            run, most_steps = rounds(start=judge.best_weights()), STEPS_OF_A_ROW * problem.n_rows
            iterate, status = prove(run, judge, clock, None, most_steps)
    if judge.measured.primal < np.inf:
        with clock.judging(), contextlib.suppress(OutOfTime):
            judge.make_canonical()
    return iterate, Status.PROVEN if judge.gap <= judge.tol else status


def approximate(problem: KernelMargin, rank: int, judge: KernelJudge, clock: Clock) -> tuple[Iterate, Status]:
    """The kernel G G' of that rank instead: a linear problem on the rows of G, whose dual variables the judge then
    measures with the true kernel."""
    try:
        with clock.searching():
            found = low_rank(problem, rank)
    except OutOfTime:
        return nothing(problem), clock.reason
    with np.errstate(over="ignore"):
        costs = np.clip(problem.costs * found.scale, 2.0**-1000, 2.0**1000)
    linear = SoftMargin(found.columns, problem.signs, costs, problem.loss, problem.fit_intercept)
    inner = Judge(linear, FINER_ON_A_FACTOR * judge.tol, None)
    iterate, status = prove(
        registry.soft_margin(linear, tol=FINER_ON_A_FACTOR * judge.tol, stepwise=clock.is_watched), inner, clock, None
    )
    iterate = dataclasses.replace(iterate, a=feasible_weights(inner.dual, problem.signs, inner.a) / found.scale)
    if not is_evaluated(judge, iterate, clock):
        return iterate, clock.reason
    return iterate, Status.PROVEN if judge.gap <= judge.tol else Status.SETTLED if status is Status.PROVEN else status


def is_evaluated(judge: KernelJudge, iterate: Iterate, clock: Clock) -> bool:
    """Have it judged; False where the time for that is over, too, and what was judged before stands."""
    try:
        with clock.judging():
            judge.evaluate(iterate)
    except OutOfTime:
        return False
    return True
