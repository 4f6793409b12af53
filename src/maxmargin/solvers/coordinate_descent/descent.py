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
is left out until the whole table is looked at again.

With b = centre + rho S and S = 0 the gap is a sum over rows, and the slopes that a sweep computes anyway give it. With
m_i the move that would be best for row i if it moved nothing else, w and b held:

    P - D = - sum_i m_i (G_i + q_i m_i / 2),      m_i = min(u_i - a_i, max(-a_i, -G_i / q_i))

(Where q_i = 0, as for the hinge, m_i goes to one end of the box or to the other.) It is stale, because w moves during
the sweep, and it misses the rows left out: so it only says when to ask the judge.

Where single steps crawl, because many free rows pull against each other, one *subspace step* solves for all of them
(subspace); when it is made, and when the judge is asked, is decided from the gaps that the sweeps leave (schedule).

Where a table has many equal rows of a class, one of them stands for all, and the others rest (copies).

Cost: one sweep reads every active row once. References: [hsieh2008] Algorithm 1 and section 3.2, [more1991].
Differs: the unregularised b by its moving centre; subspace steps between the sweeps; the end is a gap, not a slope.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import njit, numbers_per_call, touch
from maxmargin.data.rows import add, dot, square, touch_row
from maxmargin.data.table import Matrix, Vector, is_sparse, rows_of
from maxmargin.problems.protocol import Iterate, Iterates, Options, State, varying
from maxmargin.problems.statement import SoftMargin, best_bias
from maxmargin.solvers.coordinate_descent.schedule import (
    Schedule,
    in_ascending_order,
    rows_together,
    shuffle,
    shuffled_groups,
)
from maxmargin.solvers.coordinate_descent.subspace import SubspaceStep
from maxmargin.solvers.copies import Copies, worth_merging
from maxmargin.solvers.passes import combination, values_of

NUMBERS_PER_CALL = 20_000_000  # a compiled call cannot be interrupted: it reads at most so many numbers
NUMBERS_PER_ROUND = 40_000  # and about so many at least: the interpreter costs as much as a thousand numbers
MOST_TIMES = 16
AHEAD = 2  # rows: the memory is asked for a row this long before it is visited, for its other numbers twice as long
SHARE_OF_CURVATURE = 0.1  # rho, as a share of the mean |x_i|^2
REACH_OF_B = 10.0  # rho sum_i C_i is at least this: however small the costs, b gets where it must within a few sweeps
MOST_PASSES = 20_000  # rows visited, in units of the table
FEW_ROWS = 5000  # swept sooner than merged
DISTINCT = 0.1  # of the rows at most: of two or three copies each is visited in a sweep, as a heavy row should be
ALMOST_FLAT = 1e-200  # in place of a curvature of zero: a division by it goes to the end of the box


class Dual(NamedTuple):
    """The dual problem as the compiled loops see it; `curvature` = |x_i|^2 + q_i + rho."""

    rows: Any
    signs: Any
    upper: Any
    diagonal: Any
    curvature: Any
    rho: float


class Point(NamedTuple):
    """a, its w(a), and bias = (centre, S)."""

    a: Any
    w: Any
    bias: Any


class Tally(NamedTuple):
    """What is left of a sweep: slopes = (lowest, highest) projected slope, values = (D, the stale gap)."""

    slopes: Any
    values: Any


@njit
def squares_of_rows(rows: Any, squares: Any) -> None:
    for i in range(squares.shape[0]):
        squares[i] = square(rows, i)


@njit
def sweep(dual: Any, point: Any, order: Any, start: int, stop: int, kept: int, limits: Any, tally: Any) -> Any:
    """Visit the rows order[start:stop]; those that stay active are moved to order[kept:]. Returns the new `kept`.

    A row at a bound leaves if its slope lies outside `limits`, the slopes of the sweep before.
    """
    rows, signs, upper, diagonal, curvature, rho = dual
    a, w, bias = point
    lowest, highest = tally.slopes
    value, gap = tally.values
    b = bias[0] + rho * bias[1]
    for k in range(start, stop):
        if k + 2 * AHEAD < stop:
            touch_row(rows, order[k + AHEAD])
            later = order[k + 2 * AHEAD]
            touch(a, later)
            touch(signs, later)
            touch(curvature, later)
        i = order[k]
        old, sign, top, q = a[i], signs[i], upper[i], diagonal[i]
        plain = sign * dot(rows, i, w) - 1.0 + q * old
        slope = plain + sign * b
        projected = slope
        if old <= 0.0:
            if slope > limits[1]:
                continue
            projected = min(slope, 0.0)
        elif old >= top:
            if slope < limits[0]:
                continue
            projected = max(slope, 0.0)
        order[kept] = i
        kept += 1
        lowest, highest = min(lowest, projected), max(highest, projected)
        best = min(top - old, max(-old, -slope / (q + ALMOST_FLAT)))
        gap -= best * (slope + 0.5 * q * best)
        new = min(top, max(0.0, old - slope / curvature[i]))
        change = new - old
        if change != 0.0:
            a[i] = new
            add(rows, i, change * sign, w)
            bias[1] += change * sign
            b += rho * change * sign
            value -= change * plain + 0.5 * change * change * (curvature[i] - rho)
    tally.slopes[0], tally.slopes[1] = lowest, highest
    tally.values[0], tally.values[1] = value, gap
    return kept


@njit
def close(dual: Any, bias: Any, limits: Any, tally: Any) -> None:
    """After a sweep: its slopes are the next limits, and the centre moves."""
    limits[0] = tally.slopes[0] if tally.slopes[0] < 0.0 else -np.inf
    limits[1] = tally.slopes[1] if tally.slopes[1] > 0.0 else np.inf
    bias[0] += dual.rho * bias[1]


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


@njit
def reset(tally: Any) -> None:
    tally.slopes[0], tally.slopes[1], tally.values[1] = np.inf, -np.inf, 0.0


@njit
def balance(dual: Any, point: Any, order: Any, values: Any) -> None:
    """Move rows until S = sum_i a_i y_i is zero: those between their bounds first."""
    rows, signs, upper, diagonal, curvature, rho = dual
    a, w, bias = point
    for everywhere in range(2):
        for i in order:
            old, sign = a[i], signs[i]
            if everywhere == 0 and not 0.0 < old < upper[i]:
                continue
            new = min(upper[i], max(0.0, old - bias[1] * sign))
            change = new - old
            if change != 0.0:
                plain = sign * dot(rows, i, w) - 1.0 + diagonal[i] * old
                a[i] = new
                add(rows, i, change * sign, w)
                values[0] -= change * plain + 0.5 * change * change * (curvature[i] - rho)
                bias[1] = 0.0 if new == old - bias[1] * sign else bias[1] + change * sign
            if bias[1] == 0.0:
                return


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
        bias[1] = float(np.sum(self.dual.signs * a))
        self.tally.values[0] = float(np.sum(a) - 0.5 * np.sum(w * w) - 0.5 * np.sum(self.dual.diagonal * a * a))

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
        self.gap = gap / max(value + gap, gap, np.finfo(float).tiny)  # D is below 0 while S is not 0

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
