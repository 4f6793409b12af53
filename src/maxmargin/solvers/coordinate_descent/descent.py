"""Dual coordinate descent for sparse and wide data: one loop for the soft margin and for the widest street.

    primal    P(w, b) = 1/2 |w|^2 + sum_i C_i loss(1 - y_i (w.x_i + b))
    dual      D(a) = sum_i a_i - 1/2 |w(a)|^2 - sum_i q_i a_i^2 / 2,     0 <= a_i <= u_i,   sum_i a_i y_i = 0
    link      w(a) = sum_i a_i y_i x_i
    loss      u_i = box C_i,   q_i = bend / C_i (`losses`);     widest street u_i = inf, q_i = 0

One step moves one dual variable to its exact maximum, the others held. The equality forbids single moves, so it is
traded for a proximal term on b: the primal gains (b - centre)^2 / (2 rho), the slope of row i becomes

    G_i = y_i (w.x_i + centre + rho S) - 1 + q_i a_i,    S = sum_i a_i y_i
    a_i <- min(u_i, max(0, a_i - G_i / (|x_i|^2 + q_i + rho)))

and after each sweep the centre moves to centre + rho S: S goes to zero, and nothing of the penalty remains.
A row with a_i = 0 whose slope lies above everything seen in the last sweep, or with a_i = u_i and a slope below it,
is left out until the whole table is looked at again: what [hsieh2008] calls shrinking.

With b = centre + rho S and S = 0 the gap is a sum over rows, and the slopes that a sweep computes anyway give it. With
m_i the move that would be best for row i if it moved nothing else, w and b held:

    P - D = - sum_i m_i (G_i + q_i m_i / 2),      m_i = min(u_i - a_i, max(-a_i, -G_i / q_i))

(Where q_i = 0, as for the hinge, m_i goes to one end of the box or to the other.) It is stale, because w moves during
the sweep, and it misses the rows left out: so it only says when to ask the judge.

Where single steps crawl, because many free rows pull against each other, one *subspace step* solves for all of them
(subspace). It is made when the sweeps that are left at the present decay cost more than it does:

    log(tol / gap) / log(decay)  *  active rows   >   k  *  iterations  *  free rows  *  cost of an iteration

with k small where nearly all active rows are free, because the face is found, and large elsewhere. Three sweeps later
it is compared with what sweeps of the same cost would have done; if it was no better, the next one waits twice as long.

At the end of a sweep the true gap is smaller than the stale one, by about the progress of that sweep; every evaluation
corrects this guess, and the judge is asked when the guess says that tol is reached. It is also asked on the way,
whenever the gap has fallen a hundred times: rows were left out wrongly, and it sees all of them. All of this counts
work, not seconds: the same input gives the same steps on every machine.

Where a table has many equal rows of a class, one of them stands for all, and the others rest (copies).

Cost: one sweep reads every active row once. References: [hsieh2008] Algorithm 1 and section 3.2, [more1991].
Differs: the unregularised b by its moving centre; subspace steps between the sweeps; the end is a gap, not a slope.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import njit, numbers_per_call
from maxmargin.data.table import Matrix, Vector, is_sparse, rows_of
from maxmargin.problems.protocol import Iterate, Iterates, Options, State, varying
from maxmargin.problems.statement import SoftMargin, best_bias
from maxmargin.solvers.coordinate_descent.subspace import SubspaceStep
from maxmargin.solvers.coordinate_descent.sweeps import (
    Dual,
    Point,
    Tally,
    balance,
    close,
    in_ascending_order,
    reset,
    rows_together,
    shuffle,
    shuffled_groups,
    squares_of_rows,
    sweep,
)
from maxmargin.solvers.copies import Copies, worth_merging
from maxmargin.solvers.passes import combination, values_of

NUMBERS_PER_CALL = 20_000_000  # a compiled call cannot be interrupted: it reads at most so many numbers
NUMBERS_PER_ROUND = 40_000  # and about so many at least: the interpreter costs as much as a thousand numbers
MOST_TIMES = 16
SHARE_OF_CURVATURE = 0.1  # rho, as a share of the mean |x_i|^2
REACH_OF_B = 10.0  # rho sum_i C_i is at least this: however small the costs, b gets where it must within a few sweeps
MOST_PASSES = 20_000  # rows visited, in units of the table
FEW_ROWS = 5000  # swept sooner than merged
DISTINCT = 0.1  # of the rows at most: of two or three copies each is visited in a sweep, as a heavy row should be
TINY = 1e-300
PROGRESS_WITHIN_A_SWEEP = (0.15, 0.7)
CORRECTION = (0.5, 10.0)
ON_THE_WAY = 0.01
SWEEPS_PER_ITERATION = 1.2  # an iteration reads a row twice, one after the other; a sweep reads it once, at random
FIRST_STEP, SHORTEST_WAIT, LONGEST_WAIT = 6, 4, 256
ITERATIONS, MOST_ITERATIONS = 20, 200
NEARLY_ALL = 0.85
FACE_IS_FOUND, FACE_IS_NOT_FOUND = 2.0, 10.0  # k above
FEW_CROSSED = 0.02
JUDGED_AFTER = 3  # sweeps after a subspace step
IDLE_UNTIL_WIDER, IDLE_UNTIL_END = 3, 8  # evaluations in a row that brought nothing
SOMETHING = 0.9


@njit
def sweeps(dual: Any, point: Any, order: Any, random: Any, times: int, limits: Any, tally: Any) -> Any:
    """Whole sweeps, `times` of them; returns how many rows stay active; they come first in `order`."""
    kept = order.shape[0]
    for _ in range(times):
        shuffle(order[:kept], random)
        reset(tally)
        kept = sweep(dual, point, order, 0, kept, 0, limits, tally)
        close(dual, point.bias, limits, tally)
    return kept


@dataclass(init=False, eq=False)
class CoordinateDescent(State):
    """The state of the sweeps: a point, the order of the active rows, and what the last sweep saw."""

    point: Point = varying()
    tally: Tally = varying()
    limits: Vector = varying()
    active: NDArray[np.int64] = varying(grows=True)
    random: NDArray[np.uint64] = varying()  # the state of the generator
    sweeps: int = varying()
    iterations: int = varying()
    passes: float = varying()
    owed: float = varying(0.0)  # passes of a subspace step: counted with the next gap, which is the first to show it
    gap: float = varying()
    shared: Vector = varying()  # a of all rows, where one stands for its copies
    shared_at: float = varying()  # passes

    def __init__(
        self, X: Matrix, signs: Vector, upper: Vector, diagonal: Vector, copies: Copies | None = None,
        *, least_rho: float, seed: int,
    ):  # fmt: skip
        """Where there are copies, `upper` and `diagonal` of a row that stands for others are those of their costs."""
        n, d = X.shape
        rows, squares = rows_of(X), np.empty(n)
        squares_of_rows(rows, squares)
        rho = max(least_rho, SHARE_OF_CURVATURE * float(squares.mean())) if least_rho > 0.0 else 0.0
        curvature = squares
        curvature += diagonal
        curvature += rho
        self.dual = Dual(rows, signs, upper, diagonal, curvature, rho)
        self.point = Point(np.zeros(n), np.zeros(d), np.zeros(2))
        self.limits, self.tally = np.empty(2), Tally(np.empty(2), np.zeros(2))
        self.random = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
        self.sweeps, self.iterations, self.passes, self.owed, self.gap = 0, 0, 0.0, 0.0, np.inf
        self.shared, self.shared_at = np.zeros(0), 0.0
        numbers = max(1, X.data.size if is_sparse(X) else X.size)
        self.numbers_per_row = numbers / n
        self.rows_per_call = max(1, numbers_per_call(NUMBERS_PER_CALL) * n // numbers)
        self.rows_per_round = NUMBERS_PER_ROUND * n // numbers
        # An empty row without a curvature rests where its constant slope of -1 drives it.
        self.still, self.copies, self.n_distinct = self.dual.curvature <= 0.0, copies, n
        full = self.still & (upper < np.inf)
        if copies is not None:
            self.still |= copies.others
            full &= ~copies.others
            self.n_distinct = n - int(np.count_nonzero(copies.others))
            self.shared = np.zeros(n)
        self.point.a[full] = upper[full]
        self.together = rows_together(self.n_distinct, numbers * self.n_distinct // n * X.dtype.itemsize)
        self.look_at_everything()
        self.restart()

    def start(self, problem: SoftMargin, a: Vector) -> None:
        """Begin from these dual variables, and with the bias that suits their w."""
        own = a if self.copies is None else self.copies.sums(a)
        self.point.a[:] = np.where(self.still, self.point.a, np.clip(own, 0.0, self.dual.upper))
        self.point.w[:] = combination(problem.X, self.dual.signs * self.point.a)
        self.restart()
        if problem.fit_intercept:
            b = best_bias(problem, values_of(problem.X, self.point.w))
            self.point.bias[0] = b - self.dual.rho * self.point.bias[1]

    def restart(self) -> None:
        """S and D anew from a and w."""
        a, w, bias = self.point
        bias[1] = float((self.dual.signs * a).sum())
        bent = (self.dual.diagonal * a * a).sum()
        self.tally.values[0] = float(a.sum() - 0.5 * (w * w).sum() - 0.5 * bent)

    def look_at_everything(self) -> None:
        self.active = np.flatnonzero(~self.still)
        self.limits[:] = -np.inf, np.inf

    def sweep(self) -> Iterator[None]:
        """Visit every active row once, in random order, or a few times where they are few; pauses between calls."""
        order, tally, n = self.active, self.tally, self.n_distinct
        times = max(1, min(MOST_TIMES, self.rows_per_round // max(1, len(order))))
        if len(order) * self.together > n and times == 1:
            order = shuffled_groups(order, self.together, self.random)
            reset(tally)
            kept = 0
            for begin in range(0, len(order), self.rows_per_call):
                end = min(len(order), begin + self.rows_per_call)
                kept = sweep(self.dual, self.point, order, begin, end, kept, self.limits, tally)
                yield
            close(self.dual, self.point.bias, self.limits, tally)
            self.active = in_ascending_order(order[:kept], len(self.still))
        else:
            kept = sweeps(self.dual, self.point, order, self.random, times, self.limits, tally)
            yield
            self.active = order[:kept]
        self.sweeps += times
        self.passes += max(0.001, times * len(order) / n) + self.owed  # the judge costs something, too
        self.owed = 0.0
        value, gap = tally.values.tolist()
        self.gap = gap / max(value + gap, gap, sys.float_info.min)  # D is below 0 while S is not 0

    def free(self) -> Any:
        """The active rows between their bounds, in order."""
        a, upper, active = self.point.a[self.active], self.dual.upper[self.active], self.active
        return np.sort(active[(a > 0.0) & (a < upper)])

    def subspace_step(self, free: Any) -> SubspaceStep:
        """A step for all free rows at once, to be run; then tell with land() that it is over."""
        return SubspaceStep(self.dual, self.point, free, self.numbers_per_row)

    def land(self, step: SubspaceStep) -> None:
        self.iterations += step.iterations
        self.owed += 2.0 * step.iterations * len(step.free) / self.n_distinct
        self.restart()
        self.point.bias[0] += self.dual.rho * self.point.bias[1]

    def balance(self) -> None:
        """Make S = 0 by moving free rows, and rows at a bound if there are not enough of them."""
        if self.dual.rho > 0.0:
            balance(self.dual, self.point, self.active, self.tally.values)

    def recall(self, values: Vector) -> None:
        """Choose the active rows anew, from the values w.x_i of all rows."""
        _, signs, upper, diagonal, _, _ = self.dual
        a = self.point.a
        slope = signs * (values + self.b) - 1.0 + diagonal * a
        resting = ((a <= 0.0) & (slope > self.limits[1])) | ((a >= upper) & (slope < self.limits[0]))
        self.active = np.flatnonzero(~(resting | self.still))

    @property
    def b(self) -> float:
        return float(self.point.bias[0] + self.dual.rho * self.point.bias[1])

    def weights(self, *, fresh: bool) -> Vector:
        """The dual variables of all rows; those of copies may be old, unless they are to be judged."""
        if self.copies is None:
            return np.asarray(self.point.a)
        if fresh or (self.passes - self.shared_at) * self.n_distinct >= len(self.still):
            self.shared, self.shared_at = self.copies.shared(self.point.a), self.passes
        return self.shared

    def iterate(self, *, proposes: bool = False) -> Iterate:
        return Iterate(
            self.point.w, self.b, self.weights(fresh=proposes), proposes, self.sweeps + self.iterations, self.sweeps,
            gap=self.gap, dual=float(self.tally.values[0]), passes=self.passes, active=len(self.active),
        )  # fmt: skip


@dataclass(eq=False)
class Schedule(State):
    """What has been seen so far: the gaps of the sweeps, the evaluations, the fate of the last subspace step."""

    tol: float
    gaps: list[float] = varying(factory=lambda: [1.0], grows=True)
    guess: float = varying(1.0)
    correction: float = varying(1.0)
    judged: float = varying(1.0)
    idle: int = varying(0)
    wait: int = varying(SHORTEST_WAIT)
    next_step: int = varying(FIRST_STEP)
    iterations: int = varying(ITERATIONS)
    stepped_at: int = varying(-1)
    expected: float = varying(0.0)

    @property
    def swept(self) -> int:
        return len(self.gaps) - 1

    def see(self, gap: float) -> None:
        """After a sweep: its stale gap."""
        low, high = PROGRESS_WITHIN_A_SWEEP
        progress = min(high, max(low, gap / max(self.gaps[-1], TINY)))
        self.gaps.append(gap)
        self.guess = self.correction * gap * progress
        if self.stepped_at >= 0 and self.swept >= self.stepped_at + JUDGED_AFTER:
            self.wait = SHORTEST_WAIT if gap < self.expected else min(2 * self.wait, LONGEST_WAIT)
            self.next_step, self.stepped_at = self.stepped_at + self.wait, -1

    @property
    def should_ask(self) -> bool:
        return self.guess <= max(self.tol, ON_THE_WAY * self.judged)

    def learn(self, gap: float) -> None:
        """After an evaluation."""
        low, high = CORRECTION
        self.correction = min(high, max(low, self.correction * gap / max(self.guess, TINY)))
        self.idle = 0 if gap < SOMETHING * self.judged else self.idle + 1
        self.judged = min(gap, self.judged)

    @property
    def should_look_wider(self) -> bool:
        return self.idle >= IDLE_UNTIL_WIDER

    @property
    def is_at_its_end(self) -> bool:
        """Asking brings nothing any more: what is left is rounding."""
        return self.idle >= IDLE_UNTIL_END

    @property
    def decay(self) -> float:
        """The factor by which one sweep lowers the gap, of late."""
        return min(0.999, math.pow(max(TINY, self.gaps[-1] / max(self.gaps[-5], TINY)), 0.25))

    @property
    def may_step(self) -> bool:
        """Whether it is time to think of a subspace step."""
        return self.swept >= self.next_step and self.stepped_at < 0 and self.gaps[-1] > self.tol

    def subspace_iterations(self, active: int, free: int) -> int:
        """How many iterations a subspace step may make now; 0: none."""
        if not self.may_step or free < 2:
            return 0
        left = math.log(self.tol / self.gaps[-1]) / math.log(self.decay)
        k = FACE_IS_FOUND if free >= NEARLY_ALL * active else FACE_IS_NOT_FOUND
        return self.iterations if left * active > k * SWEEPS_PER_ITERATION * self.iterations * free else 0

    def stepped(self, iterations: int, crossed: int, active: int, free: int) -> None:
        """After a subspace step: what sweeps at its cost would have reached, and whether the next one may be longer."""
        sweeps = SWEEPS_PER_ITERATION * iterations * free / max(1, active) + JUDGED_AFTER
        self.stepped_at, self.expected = self.swept, self.gaps[-1] * self.decay**sweeps
        if crossed < FEW_CROSSED * free and iterations >= self.iterations:
            self.iterations = min(MOST_ITERATIONS, self.iterations * 3 // 2)


@dataclass(eq=False)
class DescentState(State):
    """The sweeps, and when to do what else."""

    descent: CoordinateDescent = varying()
    schedule: Schedule = varying()


def start(problem: SoftMargin, options: Options) -> DescentState:
    """At a = 0, or at the dual variables that are given."""
    signs, upper, diagonal = (
        np.ascontiguousarray(numbers, dtype=np.float64) for numbers in (problem.signs, problem.upper, problem.diagonal)
    )
    least_rho = REACH_OF_B / float(problem.costs.sum()) if problem.fit_intercept else 0.0
    units = upper if problem.loss.is_bounded else np.ascontiguousarray(problem.costs, dtype=np.float64)
    copies = worth_merging(problem.X, signs, units, DISTINCT) if problem.n_rows > FEW_ROWS else None
    if copies is not None:
        upper = copies.merged if problem.loss.is_bounded else upper
        diagonal = diagonal * (units / copies.merged)
    descent = CoordinateDescent(problem.X, signs, upper, diagonal, copies, least_rho=least_rho, seed=options.seed)
    if options.start is not None:
        descent.start(problem, options.start)
    return DescentState(descent, Schedule(options.tol))


def steps(problem: SoftMargin, state: DescentState) -> Iterates:
    """Sweeps and subspace steps until the judge is content, until rounding stops them, or after MOST_PASSES."""
    descent, schedule = state.descent, state.schedule
    while descent.passes < MOST_PASSES and not schedule.is_at_its_end:
        yield None
        for _ in descent.sweep():
            yield descent.iterate()
        schedule.see(descent.gap)
        if schedule.should_ask:
            descent.balance()
            evaluation = yield descent.iterate(proposes=True)
            if evaluation is None:
                continue
            schedule.learn(evaluation.gap)
            if schedule.should_look_wider:
                descent.look_at_everything()
            else:
                descent.recall(evaluation.values)
        elif schedule.may_step:
            active, free = len(descent.active), descent.free()
            if (iterations := schedule.subspace_iterations(active, len(free))) > 0:
                step = descent.subspace_step(free)
                for _ in step.run(iterations):
                    yield descent.iterate()
                descent.land(step)
                schedule.stepped(step.iterations, step.crossed, active, len(free))
