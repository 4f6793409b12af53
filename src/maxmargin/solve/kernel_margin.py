"""A margin in the space of a kernel: its judge, and the algorithm that suits it.

    linear                     the solvers of planes, on the columns themselves (`kernel_columns`)
    others                     batch SMO (`kernel_smo`), for as long as it may be the faster of the two
    badly scaled, not large    an interior point, on columns of which the kernel is the inner product; where dual
                               variables have no upper end, Newton
    solver="cvxpy"             the program of the textbook, on such columns

A first-order method in float32 needs as many steps as the problem is badly conditioned, and on numbers of very
different sizes it never ends. An interior point takes about as many steps on any data, each of n r^2 multiplications
for the rank r of the kernel. So SMO has as many steps as would cost the same, and the other then begins.

The judge measures a proposal on all rows in float64, from the raw data, and gives the values back to the solver, which
works in float32: what its rounding did is gone when it goes on. On a small table, it is first asked what the proposal
leads to, to the last digits (`active_set`): if that is proven, the run ends there.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.certificates.kernel_duality import KernelMeasure, both_sides, direction, least_gap, measure, middle
from maxmargin.certificates.kernel_margin import kernel_certificate, nearest, no_plane_certificate
from maxmargin.data.executor import OutOfTime, Threads, check_interrupt, interruptible
from maxmargin.data.table import Matrix, Vector, is_sparse
from maxmargin.problems.kernels import Kernel, Linear, Points, rows_of
from maxmargin.problems.losses import HINGE, Loss
from maxmargin.problems.protocol import Evaluation, Iterate, Iterates, Run, State, varying
from maxmargin.problems.statement import ClassWeight, KernelMargin, SignedRows, TwoClasses, prices
from maxmargin.run.control import Clock, Status, now, prove
from maxmargin.solve.answer import Answer
from maxmargin.solve.kernel_columns import approximate, by_columns, centred_columns, hard_margin, nothing
from maxmargin.solve.soft_margin import ALMOST
from maxmargin.solvers import registry
from maxmargin.solvers.kernel_smo.active_set import MOST_ROWS, settled
from maxmargin.solvers.kernel_smo.low_rank import low_rank

if TYPE_CHECKING:
    from maxmargin.solvers.kernel_smo.kernel_rows import SharedRows, Values
    from maxmargin.solvers.kernel_smo.row_cache import RowCache

ABOUT = 1.05  # times the least objective that was seen: about as good
SURELY = 2.0  # times the error of a value, and
BEYOND_ROUNDING = 1e-12  # of 1: so far beyond its edge, a row does not pay for what rounding might do to it
SOME_ROWS = 256  # whose kernel is timed
WORTH_TIMING = 1_000_000  # kernel values: fewer take no time that matters
MARGIN = 1.2  # times what an evaluation is thought to take is reserved for it
MOST_WORK = 2e10  # n r^2: with more, columns take too long
LEAST_STEPS = 20_000  # of SMO, before anything else is tried
WORK_OF_A_STEP = 250  # n r^2 of the other that take as long
MEGABYTE = 2.0**20


@dataclass(init=False, eq=False)
class KernelJudge(State):
    """Evaluates proposals; keeps the weights that prove the gap that is asked for or, until some do, the best plane.

    So no plane is kept that is worse than one that was evaluated before, w = 0 to begin with; unless it is proven to
    `tol`, or `any_plane` is to be shown as it is: then those that prove the smallest gap. Of planes that are about as
    good, the one is kept of which more is known: where float64 has lost many digits, a bound can be far above the
    objective.

    Of a run that is kept, so are the weights and the bias: what they are worth is measured again.
    """

    a: Vector = varying(lasting=True)
    measured: KernelMeasure = varying(parts=("b",), lasting=True)
    least: float = varying(lasting=True)
    was_brief: bool = varying(lasting=True)

    def __init__(
        self, problem: KernelMargin, tol: float, threads: Threads, *, any_plane: bool = False, settles: bool = False
    ) -> None:
        self.problem, self.tol, self.threads = problem, tol, threads
        self.a = np.zeros(problem.n_rows)
        self.measured = measure(problem, self.a, threads=threads)
        self.any_plane, self.least = any_plane, float(self.measured.primal)
        self.witness: Vector | None = None
        self.was_brief = False  # the last proposal was refused for its rows with weight alone
        self.settles, self.is_settled = settles and problem.n_rows <= MOST_ROWS, False
        self.evaluation_time = EvaluationTime(problem, threads)

    @property
    def gap(self) -> float:
        return self.measured.gap

    def evaluate(self, iterate: Iterate, *, thorough: bool = True) -> Evaluation:
        """Measure the weights that are proposed; keep them if they prove more.

        Not thorough: where rows that carry weight already show that the gap is too large, no others are measured, and
        their values are NaN, and so is the bias. But not twice in a row: a solver needs exact values of all rows to get
        out of its errors.
        """
        if self.settles and (answer := self.settle(iterate.a)) is not None:
            return answer
        begun, a = now(), np.clip(iterate.a, 0.0, self.problem.upper)
        a = np.where(np.isfinite(a), a, 0.0)  # a solver in overflow proposes nothing
        w = direction(self.problem, a, self.threads)
        if not (thorough or self.was_brief) and (gap := least_gap(self.problem, w)) > self.tol:
            self.was_brief = True
            return Evaluation(math.inf, 0.0, gap, w.values, math.nan)
        self.was_brief = False
        measured = both_sides(self.problem, w, None, self.threads)
        self.evaluation_time.note(a, now() - begun)
        self.keep_if_better(a, measured)
        if not self.gap <= self.tol and not self.any_plane and (steeper := self.steeper(a, measured)) is not None:
            self.keep_if_better(*steeper)
        return Evaluation(measured.upper, measured.lower, measured.gap, measured.values, measured.b)

    def settle(self, a: Vector) -> Evaluation | None:
        """Keep the weights that these lead to, if they are proven."""
        found = settled(self.problem, a)
        if found is None or (measured := measure(self.problem, found, threads=self.threads)).gap > self.tol:
            return None
        self.a, self.measured, self.is_settled = found, measured, True
        return Evaluation(measured.upper, measured.lower, measured.gap, measured.values, measured.b)

    def keep_if_better(self, a: Vector, measured: KernelMeasure) -> None:
        gap = measured.gap
        if self.any_plane or gap <= self.tol or math.isinf(self.measured.upper):
            better = not self.gap < gap
        else:
            self.least = min(self.least, measured.primal)
            enough = ABOUT * self.least
            knows_more = measured.upper < self.measured.upper or self.measured.primal > enough
            better = not self.gap <= self.tol and measured.primal <= enough and knows_more
        if better:
            self.a, self.measured = a, measured

    def steeper(self, a: Vector, measured: KernelMeasure) -> tuple[Vector, KernelMeasure] | None:
        """The same plane so steep that surely no row pays, where it separates the classes and that promises more.

        Where the street is wide for its price, the least bit of slack that rounding leaves costs more than |w|^2.
        """
        problem, (high, low) = self.problem, measured.scales
        if problem.is_hard or not measured.square > 0.0:
            return None
        b = middle(problem, measured.values)
        surely = problem.signs * (measured.values + b) - SURELY * measured.off
        nearest = (1.0 - BEYOND_ROUNDING) * float(surely.min())
        if not (nearest > 0.0 and 0.5 * measured.square < self.measured.upper * nearest * nearest):
            return None
        with np.errstate(over="ignore"):
            a = a * np.where(problem.signs > 0, high, low) / nearest
        if not np.all(a <= problem.upper):
            return None
        return a, measure(problem, a, b=b / nearest, threads=self.threads)

    def clear_up(self) -> None:
        """Put weights that are almost at an end of their box there, where the proof still holds: an interior point
        leaves a little weight on every row. Pairs of variables (`tidy`) end there by themselves.

        Without a proof: to the smallest gap, if the plane is about as good as the best.
        """
        if self.is_settled:
            return
        problem, upper = self.problem, self.problem.upper
        functional = problem.signs * (self.measured.values + self.measured.b)
        kept = self.a
        for share in ALMOST:
            low = (kept <= share * kept.max()) & (functional > 1.0)
            high = (kept >= (1.0 - share) * upper) & (functional < 1.0)
            a = np.where(low, 0.0, np.where(high, upper, kept))
            measured = measure(problem, a, threads=self.threads)
            for candidate in ((a, measured), self.steeper(a, measured)):
                if candidate is None:
                    continue
                gap = candidate[1].gap
                if gap <= self.tol or (gap <= self.gap and candidate[1].primal <= ABOUT * self.least):
                    self.a, self.measured = candidate
                if gap <= self.tol:
                    return

    def shown(self, iterate: Iterate) -> tuple[Iterate, SignedRows]:
        """What observers see of an iterate on the way, and the problem that it is of."""
        return iterate, self.problem

    def seconds_for(self, iterate: Iterate) -> float:
        """What an evaluation of these weights takes."""
        return self.evaluation_time.seconds_for(iterate.a)

    def best_weights(self) -> Vector:
        """The feasible weights that were measured."""
        return self.a * np.where(self.problem.signs > 0, *self.measured.factors)

    def nearest(self) -> float:
        """y (w.phi(x) + b) at the edge of the street: 1 of a soft margin, and of a plane that does not separate."""
        if not (self.problem.is_hard and self.measured.primal < math.inf):
            return 1.0
        return nearest(self.problem, self.measured)

    def make_canonical(self) -> None:
        """The hard margin's own form of the plane: its nearest row has y (w.phi(x) + b) = 1, and the weights are then
        the dual variables. It stays as it was where rounding in the new numbers would cost the proof."""
        with np.errstate(over="ignore"):
            a = self.a * np.where(self.problem.signs > 0, *self.measured.scales) / self.nearest()
        measured = measure(self.problem, a, threads=self.threads)
        if measured.primal < math.inf and (not self.gap <= self.tol or measured.gap <= self.tol):
            self.a, self.measured = a, measured

    def after_restore(self) -> None:
        self.measured = measure(self.problem, self.a, b=self.measured.b, threads=self.threads)

    def tidy(self) -> None:
        """Pairs of variables end at the ends of their boxes by themselves."""


class EvaluationTime:
    """How long it takes to measure weights: a kernel value for each row and each row that carries weight."""

    def __init__(self, problem: KernelMargin, threads: Threads) -> None:
        self.problem, self.threads = problem, threads
        self.seconds_per_value: float | None = None

    def note(self, a: Vector, seconds: float) -> None:
        """So long did it take."""
        if (values := len(a) * np.count_nonzero(a)) >= WORTH_TIMING:
            self.seconds_per_value = seconds / values

    def seconds_for(self, a: Vector) -> float:
        """What is to be reserved for these weights."""
        if (values := len(a) * np.count_nonzero(a)) < WORTH_TIMING:
            return 0.0
        if self.seconds_per_value is None:
            self.seconds_per_value = self.seconds_of_few() / self.threads.number
        return MARGIN * self.seconds_per_value * values

    def seconds_of_few(self) -> float:
        """Seconds for a kernel value on one core, from two small tables of them: the first one wakes up the memory."""
        few = rows_of(self.problem.points, slice(0, SOME_ROWS))
        with interruptible(None):  # a search that ends while they are made would leave no time known
            for _ in range(2):
                begun = now()
                self.problem.kernel.combine(few, rows_of(few, slice(0, SOME_ROWS)), np.ones((len(few.places), 1)))
                seconds = now() - begun
        return seconds / len(few.places) ** 2


def soft_margin(
    problem: KernelMargin,
    judge: KernelJudge,
    clock: Clock,
    rounds: Callable[..., Run],
    max_iter: int | None,
    solver: str,
) -> tuple[Iterate, Status]:
    """The algorithms above, until the gap is proven or somebody says stop. `rounds` are those of SMO."""
    if clock.is_over:  # the rows may not have been made
        return nothing(problem), clock.reason
    if isinstance(problem.kernel, Linear):
        return by_columns(*centred_columns(problem), judge, clock, max_iter, solver)
    rank = problem.highest_rank
    if solver == registry.AUTO:
        work = problem.n_rows * float(rank) ** 2
        budget = max(LEAST_STEPS, work / WORK_OF_A_STEP) if work <= MOST_WORK else math.inf
        iterate, status = prove(rounds(), judge, clock, max_iter, budget)
        if status is not Status.STALLED or work > MOST_WORK:
            return iterate, status
        solver = registry.on_columns_of_a_kernel(problem.loss)
    else:
        iterate = nothing(problem)
    try:
        with clock.searching():
            found = low_rank(problem, rank, centred=problem.fit_intercept)
    except OutOfTime:
        return iterate, clock.reason
    return by_columns(found.columns, found.scale, judge, clock, max_iter, solver)


class KernelWork:
    """What the two-class problems of a fit share: the rows as the kernel wants them, and a cache of its values.

    All of it is made when it is first needed, where the clock is checked.
    """

    def __init__(self, kernel: Kernel, X: Matrix, threads: Threads, cache_size: float) -> None:
        self.kernel, self.threads, self.n_bytes, self.X = kernel, threads, cache_size * MEGABYTE, X
        self.whole: RowCache | None = None

    @functools.cached_property
    def points(self) -> Points:
        points = self.kernel.compared(self.kernel.points(self.X))
        self.kernel.refuse_beyond_float64(points)
        return points

    @functools.cached_property
    def shared(self) -> SharedRows:
        from maxmargin.solvers.kernel_smo.kernel_rows import shared_rows

        points = self.points
        if isinstance(self.kernel, Linear) and not is_sparse(points.X):  # only with a bias, which takes a shift up
            points = self.kernel.points(points.X - points.X.mean(axis=0), points.places)
        shared = shared_rows(self.kernel, points, self.threads)
        if not self.kernel.is_table:
            return shared
        from maxmargin.solvers.kernel_smo.given_table import picked

        return shared._replace(rows=picked(shared.rows))

    @functools.cached_property
    def memories(self) -> tuple[Values, Values]:
        """For kernel rows over all rows of a problem, and over those that are active."""
        from maxmargin.solvers.kernel_smo.row_cache import rooms_for

        return rooms_for(self.shared.rows, self.n_bytes)

    def rounds(self, problem: KernelMargin, two: TwoClasses, **options: Any) -> Run:
        """Batch SMO; to make its first rows takes time, which counts."""
        from maxmargin.solvers.kernel_smo.method import batch_smo

        def iterates(state: Rounds) -> Iterates:
            check_interrupt()
            run = batch_smo(problem, self.cache_of(two), self.shared.scale, memory=self.memories[1], **options)
            state.run = run.state
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
        from maxmargin.solvers.kernel_smo.row_cache import RowCache

        if not self.is_whole(two):
            return RowCache(self.shared.rows.restricted(two.rows), self.memories[0])
        if self.whole is None:
            self.whole = RowCache(self.shared.rows, self.memories[0])
        return self.whole

    def is_whole(self, two: TwoClasses) -> bool:
        return len(two.rows) == int(self.X.shape[0])


@dataclass(eq=False)
class Rounds(State):
    """Of batch SMO, which is not started before its first iterate is asked for."""

    run: State | None = varying(None)


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
    rounds = functools.partial(work.rounds, problem, two, tol=asked.tol)
    if is_hard:
        iterate, status = hard_margin(problem, judge, clock, rounds, asked.solver)
    elif asked.approximation is not None:
        iterate, status = approximate(problem, asked.approximation, judge, clock)
    else:
        iterate, status = soft_margin(problem, judge, clock, rounds, asked.max_iter, asked.solver)
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
