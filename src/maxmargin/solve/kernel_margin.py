"""A margin in the space of a kernel: solver and judge in turn, until the gap is proven.

The judge measures a proposal on all rows in float64, from the raw data, and gives the values back to the solver, which
works in float32: what its rounding did is gone when it goes on. On a small table, it is first asked what the proposal
leads to (`active_set`): if that is proven, the run ends there.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from maxmargin.certificates.exact_kernel import witness
from maxmargin.certificates.kernel_duality import KernelMeasure, both_sides, direction, least_gap, measure, middle
from maxmargin.certificates.kernel_margin import nearest
from maxmargin.certificates.passes import soft_gap
from maxmargin.certificates.soft_margin import feasible_weights
from maxmargin.data.executor import OutOfTime, Threads, interruptible
from maxmargin.data.table import Vector
from maxmargin.problems.kernels import rows_of
from maxmargin.problems.protocol import Evaluation, Iterate, Run, State, varying
from maxmargin.problems.statement import KernelMargin, Norm, Separation, SignedRows, SoftMargin
from maxmargin.run.control import Clock, Status, now
from maxmargin.solve.separation import drive
from maxmargin.solve.soft_margin import ALMOST, Judge, prove
from maxmargin.solvers import registry
from maxmargin.solvers.kernel_smo.active_set import MOST_ROWS, settled
from maxmargin.solvers.kernel_smo.low_rank import low_rank

FINER = 0.1  # of the tolerance: to what the problem of low rank is solved
ABOUT = 1.05  # times the least objective that was seen: about as good
SURELY = 2.0  # times the error of a value, and
BEYOND_ROUNDING = 1e-12  # of 1: so far beyond its edge, a row does not pay for what rounding might do to it
HARD_RANK = 2000  # the most columns that stand for the kernel when its hard margin is sought
STEPS_OF_A_ROW = 200_000  # of SMO for a hard margin: after as many it still creeps, on numbers that float64 cannot tell
SOME_ROWS = 256  # whose kernel is timed
WORTH_TIMING = 1_000_000  # kernel values: fewer take no time that matters
MARGIN = 1.2  # times what an evaluation is thought to take is reserved for it


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
    b: float = varying(lasting=True)
    least: float = varying(lasting=True)
    was_brief: bool = varying(lasting=True)

    def __init__(
        self, problem: KernelMargin, tol: float, threads: Threads, *, any_plane: bool = False, settles: bool = False
    ) -> None:
        self.problem, self.tol, self.threads = problem, tol, threads
        self.a = np.zeros(problem.n_rows)
        self.measured: KernelMeasure = measure(problem, self.a, threads=threads)
        self.any_plane, self.b, self.least = any_plane, 0.0, float(self.measured.primal)
        self.witness: Vector | None = None
        self.was_brief = False  # the last proposal was refused for its rows with weight alone
        self.settles, self.is_settled = settles and problem.n_rows <= MOST_ROWS, False
        self.seconds_per_value: float | None = None  # seconds for a kernel value, once it is known

    @property
    def gap(self) -> float:
        return gap_of(self.measured)

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
        if (values := self.problem.n_rows * np.count_nonzero(a)) >= WORTH_TIMING:
            self.seconds_per_value = (now() - begun) / values
        self.keep_if_better(a, measured)
        if not self.gap <= self.tol and not self.any_plane and (steeper := self.steeper(a, measured)) is not None:
            self.keep_if_better(*steeper)
        return Evaluation(measured.upper, measured.lower, gap_of(measured), measured.values, measured.b)

    def settle(self, a: Vector) -> Evaluation | None:
        """Keep the weights that these lead to, if they are proven."""
        found = settled(self.problem, a)
        if found is None or gap_of(measured := measure(self.problem, found, threads=self.threads)) > self.tol:
            return None
        self.a, self.measured, self.is_settled = found, measured, True
        return Evaluation(measured.upper, measured.lower, gap_of(measured), measured.values, measured.b)

    def keep_if_better(self, a: Vector, measured: KernelMeasure) -> None:
        gap = gap_of(measured)
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
                gap = gap_of(candidate[1])
                if gap <= self.tol or (gap <= self.gap and candidate[1].primal <= ABOUT * self.least):
                    self.a, self.measured = candidate
                if gap <= self.tol:
                    return

    def shown(self, iterate: Iterate) -> tuple[Iterate, SignedRows]:
        """What observers see of an iterate on the way, and the problem that it is of."""
        return iterate, self.problem

    def seconds_for(self, iterate: Iterate) -> float:
        """What an evaluation of these weights takes: a kernel value for each row and each row that carries weight."""
        values = self.problem.n_rows * np.count_nonzero(iterate.a)
        if values < WORTH_TIMING:
            return 0.0
        if self.seconds_per_value is None:
            self.seconds_per_value = seconds_per_value_of(self.problem) / self.threads.number
        return MARGIN * self.seconds_per_value * values

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
        if measured.primal < math.inf and (not self.gap <= self.tol or gap_of(measured) <= self.tol):
            self.a, self.measured = a, measured

    def before_snapshot(self) -> None:
        self.b = float(self.measured.b)

    def after_restore(self) -> None:
        self.measured = measure(self.problem, self.a, b=self.b, threads=self.threads)

    def tidy(self) -> None:
        """Pairs of variables end at the ends of their boxes by themselves."""


def gap_of(measured: KernelMeasure) -> float:
    return soft_gap(measured.upper, measured.lower)


def seconds_per_value_of(problem: KernelMargin) -> float:
    """Seconds for a kernel value on one core, from two small tables of them: the first one wakes up the memory."""
    few = rows_of(problem.points, slice(0, SOME_ROWS))
    with interruptible(None):  # a search that ends while they are made would leave no time known
        for _ in range(2):
            begun = now()
            problem.kernel.combine(few, rows_of(few, slice(0, SOME_ROWS)), np.ones((len(few.places), 1)))
            seconds = now() - begun
    return seconds / len(few.places) ** 2


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
    search = registry.separation(separation, solver=solver, tol=FINER * judge.tol)
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
    inner = Judge(linear, FINER * judge.tol, None)
    iterate, status = prove(
        registry.soft_margin(linear, tol=FINER * judge.tol, stepwise=clock.is_watched), inner, clock, None
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


def nothing(problem: KernelMargin) -> Iterate:
    """What is known before anything is."""
    return Iterate(np.zeros(0), 0.0, np.zeros(problem.n_rows))
