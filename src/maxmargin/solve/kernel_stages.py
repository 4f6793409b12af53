"""A soft margin in the space of a kernel, by the algorithm that suits it.

    linear                     the solvers of planes, on the columns themselves
    others                     batch SMO (`kernel_smo`), for as long as it may be the faster of the two
    badly scaled, not large    an interior point, on columns G with K = s G G' (`low_rank`); where dual variables have
                               no upper end, Newton
    solver="cvxpy"             the program of the textbook, on such columns

A first-order method in float32 needs as many steps as the problem is badly conditioned, and on numbers of very
different sizes it never ends. An interior point takes about as many steps on any data, each of n r^2 multiplications
for the rank r of the kernel. So SMO has as many steps as would cost the same, and the other then begins.

Of the solvers of planes, the plane is forgotten: the kernel's own is w = sum_j a_j y_j phi(x_j), and as good as the
weights are. So these are sought to a tolerance that is finer, refined by what the judge of the kernel has measured
(`edge_refinement`) and, if the judge is not content, sought again to one that is finer still.

On a small table the judge takes weights to the last digits (`active_set`) before it measures them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.certificates.kernel_margin import kernel_certificate, no_plane_certificate
from maxmargin.certificates.soft_margin import feasible_weights
from maxmargin.data.executor import OutOfTime, Threads, check_interrupt
from maxmargin.data.table import Matrix, is_sparse
from maxmargin.problems.kernels import Kernel, Linear, Points, rows_of
from maxmargin.problems.losses import HINGE, Loss
from maxmargin.problems.protocol import Iterate, Iterates, Kept, Run, State, resumed, varying
from maxmargin.problems.statement import ClassWeight, KernelMargin, SignedRows, SoftMargin, TwoClasses, prices
from maxmargin.run.control import Clock, Status
from maxmargin.solve.answer import Answer
from maxmargin.solve.kernel_margin import KernelJudge, approximate, hard_margin, nothing
from maxmargin.solve.soft_margin import Judge, prove
from maxmargin.solvers import registry
from maxmargin.solvers.kernel_smo.edge_refinement import refined
from maxmargin.solvers.kernel_smo.kernel_rows import power_at
from maxmargin.solvers.kernel_smo.low_rank import ScaledKernel, low_rank

if TYPE_CHECKING:
    from maxmargin.solvers.kernel_smo.kernel_rows import KernelRows, SharedRows, Values
    from maxmargin.solvers.kernel_smo.row_cache import RowCache

FINER = (1e-1, 1e-4, 1e-7)  # of the tolerance: to what the weights are sought, one after the other
FINEST = 1e-13  # no float64 says more
LEAST_ROOT = 2.0**-500  # of the scale, whose square must not vanish
REFINEMENTS, WORTH_IT = 5, 0.5  # steps at most, each to this part of the objective or less
MOST_WORK = 2e10  # n r^2: with more, columns take too long
LEAST_STEPS = 20_000  # of SMO, before anything else is tried
WORK_OF_A_STEP = 250  # n r^2 of the other that take as long


def soft_margin(
    problem: KernelMargin,
    judge: KernelJudge,
    clock: Clock,
    rounds: Callable[..., Run],
    max_iter: int | None,
    solver: str,
) -> tuple[Iterate, Status]:
    """The stages above, until the gap is proven or somebody says stop. `rounds` are those of SMO."""
    if clock.is_over:  # the rows may not have been made
        return nothing(problem), clock.reason
    if isinstance(problem.kernel, Linear):
        return by_columns(*centred_columns(problem), judge, clock, max_iter, solver)
    rank, iterate = problem.highest_rank, nothing(problem)
    if solver == registry.AUTO:
        work = problem.n_rows * float(rank) ** 2
        budget = max(LEAST_STEPS, work / WORK_OF_A_STEP) if work <= MOST_WORK else math.inf
        iterate, status = prove(rounds(), judge, clock, max_iter, budget)
        if status is not Status.STALLED or work > MOST_WORK:
            return iterate, status
        solver = registry.on_columns_of_a_kernel(problem.loss)
    try:
        with clock.searching():
            found = low_rank(problem, rank, centred=problem.fit_intercept)
    except OutOfTime:
        return iterate, clock.reason
    return by_columns(found.columns, found.scale, judge, clock, max_iter, solver)


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


MEGABYTE = 2.0**20


class KernelWork:
    """What the two-class problems of a fit share: the rows as the kernel wants them, and a cache of its values.

    All of it is made when it is first needed, where the clock is checked.
    """

    def __init__(self, kernel: Kernel, X: Matrix, threads: Threads, cache_size: float) -> None:
        self.kernel, self.threads, self.n_bytes, self.X = kernel, threads, 0.5 * cache_size * MEGABYTE, X
        self.whole: RowCache | None = None

    @functools.cached_property
    def points(self) -> Points:
        points = self.kernel.compared(self.kernel.points(self.X))
        self.kernel.refuse_beyond_float64(points)
        return points

    @functools.cached_property
    def shared(self) -> SharedRows:
        from maxmargin.solvers.kernel_smo.kernel_rows import shared_rows

        return shared_rows(self.kernel, self.points, self.threads)

    @functools.cached_property
    def memory(self) -> Values:
        from maxmargin.solvers.kernel_smo.row_cache import room_for

        return room_for(self.shared.rows, self.n_bytes)

    @functools.cached_property
    def make_cache(self) -> Callable[[KernelRows], RowCache]:
        from maxmargin.solvers.kernel_smo.row_cache import RowCache, room_for

        return functools.partial(RowCache, memory=room_for(self.shared.rows, self.n_bytes))

    def rounds(self, problem: KernelMargin, two: TwoClasses, **options: Any) -> Run:
        """Batch SMO; to make its first rows takes time, which counts."""
        from maxmargin.solvers.kernel_smo.method import batch_smo

        def iterates(state: Rounds) -> Iterates:
            check_interrupt()
            run = batch_smo(problem, self.cache_of(two), self.shared.scale, memory=self.memory, **options)
            state.run = run.state if state.run is None else resumed(state.run, run.state, problem.n_rows)
            yield from run.iterates

        state = Rounds()
        return Run(state, iterates(state))

    def points_of(self, two: TwoClasses, clock: Clock) -> Points:
        """The rows of a problem; where the time is over before they are made, as they are, and nobody asks for them."""
        try:
            with clock.searching():
                return self.points if self.is_whole(two) else rows_of(self.points, two.rows)
        except OutOfTime:
            return Points(two.X, np.zeros(0), two.rows)

    def cache_of(self, two: TwoClasses) -> RowCache:
        """One against the rest: the same cache for all problems. One against one: its rows of the same table."""
        if not self.is_whole(two):
            return self.make_cache(self.shared.rows.restricted(two.rows))
        if self.whole is None:
            self.whole = self.make_cache(self.shared.rows)
        return self.whole

    def is_whole(self, two: TwoClasses) -> bool:
        return len(two.rows) == int(self.X.shape[0])


@dataclass(eq=False)
class Rounds(State):
    """Of batch SMO, which is not started before its first iterate is asked for."""

    run: State | Kept | None = varying(None)


class KernelQuestion(NamedTuple):
    """A margin that is asked for, and how; C is infinite for the hard margin, which pays no loss."""

    C: float
    tol: float
    approximation: int | None = None
    max_iter: int | None = None
    class_weight: ClassWeight = ()
    loss: Loss = HINGE
    fit_intercept: bool = True
    solver: str = "auto"


def solve_kernel_margin(two: TwoClasses, asked: KernelQuestion, work: KernelWork, clock: Clock) -> Answer:
    """The answer to one two-class problem; of a hard margin, what is proven if there is none."""
    is_hard = math.inf == asked.C
    costs = np.full(len(two.rows), math.inf) if is_hard else prices(asked.C, two)
    loss, points = HINGE if is_hard else asked.loss, work.points_of(two, clock)
    problem = KernelMargin(two.X, two.signs, costs, loss, asked.fit_intercept, work.kernel, points)
    settles = not is_hard and asked.approximation is None and asked.solver == registry.AUTO
    judge = KernelJudge(problem, asked.tol, work.threads, settles=settles)
    sweeps = functools.partial(work.rounds, problem, two, tol=asked.tol)
    if is_hard:
        iterate, status = hard_margin(problem, judge, clock, sweeps, asked.solver)
    elif asked.approximation is not None:
        iterate, status = approximate(problem, asked.approximation, judge, clock)
    else:
        iterate, status = soft_margin(problem, judge, clock, sweeps, asked.max_iter, asked.solver)
    stated = (asked.C, asked.class_weight, asked.tol)
    if judge.witness is not None:
        certificate = no_plane_certificate(two, problem, judge.witness, *stated)
    else:
        certificate = kernel_certificate(two, problem, judge.a, judge.measured, *stated)
    nearest = judge.nearest()
    a = judge.a * np.where(two.signs > 0, *judge.measured.scales) / nearest
    length = math.sqrt(max(0.0, judge.measured.square)) / nearest
    own = a[np.searchsorted(two.rows, certificate.rows)]
    return Answer(two, iterate, certificate, status, own, work.kernel, length, nearest)
