"""A primal-dual interior point for losses with a box, as the hinge: few columns, any number of rows, any C.

    primal    P(w, b) = 1/2 |w|^2 + sum_i C_i loss(f_i),     f_i = 1 - y_i (w.x_i + b)
    dual      D(a) = sum_i a_i - 1/2 |sum_i a_i y_i x_i|^2 - knee / 2 sum_i u_i p_i^2,
              a_i = u_i p_i,   u_i = box C_i,   0 <= p_i <= 1,   sum_i a_i y_i = 0
    link      w = sum_i a_i y_i x_i
    path      xi_i - s_i + knee p_i = f_i,   p_i s_i = mu,   q_i xi_i = mu,   q_i = 1 - p_i,   mu -> 0

One Newton step to the path has a single unknown per column, because the rows are eliminated (t, r: central_path.py):

    (I + X'utX) dw + X'ut1 db = sum_i a_i y_i x_i - w + X'(u t r y)
        1'utX dw + 1'ut1 db   = sum_i a_i y_i + 1'(u t r y)

A predictor aims at mu = 0, a corrector at the mu that the predictor shows to be within reach, with its second-order
terms; up to three more corrections bring back the products p s, q xi that block the step. One factor serves them all.

Rows that are far beyond their edge (p -> 0) or far behind the knee (p -> 1) are dropped as the path settles: a row with
p = 1 is linear in (w, b), and all of them together are one vector. What is left of p or 1 - p is carried along as one
vector more, which fades with mu, so that nothing jumps. Rows that turn out to be needed come back.

Where rounding ends the path too early, it is followed once more in coordinates in which rounding does less harm
(`conditioning.py`).

Cost: n d^2 / 2 + 4 n d multiplications a step, 10 to 50 steps for most data, and hardly any dependence on C.
References: [mehrotra1992], [gondzio1996], [ferris2002] (one Newton system in the columns), [jung2008] (rows dropped).
Differs: p = a / u makes the path the same for merged rows and for their copies; q = 1 - p is a variable; a single step
length for both sides; the carried vector of dropped rows; the end is decided by whoever judges the proposals.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from maxmargin._loops import is_plain
from maxmargin.data.executor import Threads, one_thread_for_blas
from maxmargin.data.table import is_sparse, matrix_of
from maxmargin.problems.protocol import Iterates, Options, State, varying
from maxmargin.problems.statement import SoftMargin
from maxmargin.solvers.coordinate_descent.sweeps import ROW, rows_together
from maxmargin.solvers.interior_point.active_rows import ActiveRows
from maxmargin.solvers.interior_point.central_path import PathPoint
from maxmargin.solvers.interior_point.conditioning import from_a_better_place
from maxmargin.solvers.interior_point.merged_rows import FEW_COLUMNS, FEW_ROWS, MergedRows, merge_rows
from maxmargin.solvers.interior_point.normal_equations import Factor
from maxmargin.solvers.interior_point.short_path import ShortPath, follow, short_steps

SMALL = 5_000  # numbers: milliseconds by any way, and the path of centres ends far below most tolerances
SHORT = 200_000  # numbers: a path of some ten milliseconds
STIFF = 25.0  # the mean of C |x|^2 at which sweeps take longer than that
SPEED = 0.5  # the rows come in order and on every core, those of coordinate descent at random and on one
SPEED_BESIDE_GROUPS = 0.8  # where those of coordinate descent come in groups of neighbours
STEPS, STEPS_PER_DIGIT = 12, 3  # on most data; digits of tol
PASSES = 6  # of each step over the rows, beside its matrix
SMALLEST_SAMPLE = 5_000
FEW_OF_A_CLASS = 500  # rows: a sample takes as many at least, and says little where that is twice those in proportion
ROWS_PER_COLUMN = 50  # in the smallest sample: with fewer, its plane separates the sample and says nothing
WORTH_SAMPLING = 5  # times the smallest sample
WORTH_TWO_SAMPLES = 20
SIEVED = 0.5  # of the work is left after a sample


def is_surely_best(problem: SoftMargin, options: Options) -> bool:
    """Whether nothing else need be tried first: where a start is given, sweeps may be at the end soon, and in wide
    tables, where hardly a row is in the way of the others, they mostly are."""
    numbers = problem.n_rows * problem.n_columns
    if numbers <= SMALL:
        return True
    if numbers > SHORT or problem.n_rows <= problem.n_columns or options.start is not None:
        return False
    X = matrix_of(problem.X)
    with np.errstate(over="ignore"):
        squares = float(np.square(X.data if is_sparse(X) else X, dtype=np.float64).sum())
        return most_weight(problem) * squares >= STIFF * problem.n_rows * problem.n_rows


def most_weight(problem: SoftMargin) -> float:
    """What sum_i a_i is at most: no class weighs more than the other may. A path of one call does not mind."""
    plus, total = float(problem.upper.sum(where=problem.signs > 0.0)), float(problem.upper.sum())
    return 2.0 * min(plus, total - plus) if problem.fit_intercept and not is_one_call(problem) else total


def is_one_call(problem: SoftMargin) -> bool:
    """Whether the path of a table as it is takes one call: so few rows are soon done, copies or not."""
    n, d = problem.n_rows, problem.n_columns
    return d <= n <= FEW_ROWS and d <= FEW_COLUMNS and not problem.table.is_sparse


def path_passes(problem: SoftMargin, tol: float) -> float:
    """What the path costs, in sweeps of coordinate descent over all rows."""
    n, d, table = problem.n_rows, problem.n_columns, problem.table
    per_row = table.numbers / n if table.is_sparse else float(d)
    multiplications = (0.25 if table.is_sparse else 0.04) * per_row * per_row + d**3 / (3.0 * n)
    steps = STEPS + STEPS_PER_DIGIT * max(0.0, -math.log10(tol))
    together = rows_together(n, round(n * per_row) * table.dtype.itemsize)
    speed = SPEED_BESIDE_GROUPS if together > 1 else SPEED
    return speed * steps * (PASSES * per_row + ROW + multiplications) / (per_row + ROW)


def sieve_passes(problem: SoftMargin, tol: float) -> tuple[float, float]:
    """What the sieve costs, in the same; and how many times as much where the classes are nearly apart, as far as one
    may hope that it still pays: two samples lead nearer than one."""
    passes, samples = SIEVED * path_passes(problem, tol), len(sample_sizes(problem.n_rows, problem.n_columns)) - 1
    return (passes, 1.0) if samples < 2 else (0.5 * passes, 2.0)


def worth_sieving(problem: SoftMargin) -> bool:
    """Whether there are enough rows for a sample to pay, and enough of either class in it to say where it lies."""
    sizes, n = sample_sizes(problem.n_rows, problem.n_columns), problem.n_rows
    positive = int(np.count_nonzero(problem.signs > 0.0))
    return len(sizes) > 1 and 2 * sizes[0] * min(positive, n - positive) >= FEW_OF_A_CLASS * n


def sample_sizes(n: int, d: int) -> list[int]:
    """The numbers of rows, from the smallest sample to all."""
    first = max(SMALLEST_SAMPLE, ROWS_PER_COLUMN * d)
    if n < WORTH_SAMPLING * first:
        return [n]
    return [first, n] if n < WORTH_TWO_SAMPLES * first else [first, int(np.sqrt(first * n)), n]


MOST_STEPS = 500
MOST_CORRECTIONS = 3
SECOND_ORDER_LIMIT = 10.0  # the second-order terms of the corrector, in units of mu
NEAR, FAR = 0.1, 10.0  # products within these multiples of the target need no correction
BOUNDARY, CLOSEST = 0.99, 0.9999  # of the way to the nearest p, q, s, xi = 0; in a long step near the end
NO_FARTHER = 0.1  # of the gap that is asked for: the gap on the path that the last steps aim at
NEGLIGIBLE = 1e-4  # of the gap that is asked for
BEYOND_ROUNDING = 1e-20  # a gap, relative to the objective, of which nothing is left in its digits
STALLED = 20  # steps without a smaller gap, residual or mu


@dataclass(eq=False)
class PathState(State):
    """Where on which path: `path` is the one at hand; rows may be dropped from it, unless that lost it before.

    is_short    it is followed in compiled calls
    """

    tol: float
    stepwise: bool = False
    has_moved: bool = varying(False)
    may_drop: bool = varying(True)
    is_short: bool = varying(False)
    path: Following | ShortPath | None = varying(None)


def start(problem: SoftMargin, options: Options) -> PathState:
    return PathState(options.tol, options.stepwise)


def steps(problem: SoftMargin, state: PathState) -> Iterates:
    """Follow the path of all rows; an iterate each step, and a proposal when the gap seems to be at most tol."""
    with Threads.shared() as threads:
        if not state.has_moved:
            yield from follow_all_rows(problem, distinct_rows(problem), threads, state)
            state.has_moved, state.may_drop = True, True
        yield from from_a_better_place(
            problem,
            np.zeros(problem.n_columns),
            lambda placed, w: follow_all_rows(placed, distinct_rows(placed), threads, state),
        )


def distinct_rows(problem: SoftMargin) -> MergedRows:
    """The rows as they are, where that is one call; or else merged."""
    if not is_one_call(problem):
        return merge_rows(problem)
    everyone = np.arange(problem.n_rows)
    return MergedRows(problem.X, everyone, everyone, problem.signs * problem.upper, None, None)


def follow_all_rows(problem: SoftMargin, merged: MergedRows, threads: Threads, state: PathState) -> Iterates:
    """From w = 0 to the end. If the path is lost after rows were dropped, once more from the start with all of them."""
    if state.path is None:
        state.is_short = (is_one_call(problem) or merged.are_few) and not is_plain(follow)
    if state.is_short:
        state.path = short = ShortPath(merged, problem.loss.knee, problem.fit_intercept, state.tol)
        yield from short_steps(short, problem.upper, state.stepwise)
        state.path = None
        return
    for may_drop in (True, False) if state.may_drop else (False,):
        state.may_drop = may_drop
        active = ActiveRows(merged, problem.upper, problem.loss.knee, problem.fit_intercept, threads)
        active.drop_rule.may_drop = may_drop
        active.start_cold()
        yield from follow_path(problem, state, active, state.tol)
        if not np.any(active.side):
            return


@dataclass(eq=False)
class Progress(State):
    """Where something last got better, and how many steps ago: a little in each step adds up."""

    gap: float = varying(np.inf)
    residual: float = varying(np.inf)
    mu: float = varying(np.inf)
    rows: int = varying(0)
    since: int = varying(0)

    def note(self, point: PathPoint, active: ActiveRows, tol: float) -> None:
        if len(active.units) < self.rows:  # rows were dropped: mu is another mean now
            self.mu = np.inf
        residual = float(np.abs(point.residual).max())
        matters = 2.0 * point.mu * active.total_cost > NEGLIGIBLE * tol * point.primal  # the gap on the path
        better = (
            point.gap < 0.95 * self.gap or residual < 0.9 * self.residual or (matters and point.mu < 0.95 * self.mu)
        )
        self.since, self.rows = 0 if better else self.since + 1, len(active.units)
        if better:
            self.gap, self.mu = min(self.gap, point.gap), min(self.mu, point.mu)
            self.residual = min(self.residual, residual)


@dataclass(eq=False)
class Following(State):
    """A path while it is followed: below which gap to propose, and the step that is still to be taken."""

    active: ActiveRows = varying()
    ask_below: float = varying()
    step: float = varying(0.0)
    progress: Progress = varying(factory=Progress)


class OnAPath(Protocol):
    """Whoever follows a path."""

    path: Following | ShortPath | None


def follow_path(
    problem: SoftMargin, state: OnAPath, active: ActiveRows, tol: float, patience: int = MOST_STEPS
) -> Iterates:
    """From where the active rows are to the end of the path; given up if a gap of 1/2 takes more than `patience`."""
    state.path = following = Following(active, tol)
    yield from followed(following, tol, patience)
    state.path = None


def followed(following: Following, tol: float, patience: int) -> Iterates:
    """One turn: move the rows by the last step and sum the Newton system in the same pass; show; find the next step.

    The answer of the judge is not used: what it saw is no point on the path. Where it wants more, the path is followed
    to 0.3 of the gap at which it was asked.
    """
    active, progress = following.active, following.progress
    while active.steps < MOST_STEPS:
        yield None
        with alone():
            point = active.step_and_weigh(following.step)
        following.step = 0.0
        gap_on_path = 2.0 * point.mu * active.total_cost
        if not gap_on_path > BEYOND_ROUNDING * point.primal:  # or one of them is not a number
            return
        if point.gap <= following.ask_below:
            yield active.iterate(point, proposes=True)
            with alone():
                are_back = active.take_back(point)
            if are_back:
                following.ask_below = tol
                continue
            following.ask_below = max(0.3 * point.gap, np.finfo(float).eps)
        else:
            yield active.iterate(point, proposes=False)
            with alone():
                are_back = active.check_is_due(point) and active.take_back(point)
            if are_back:
                continue
        progress.note(point, active, tol)
        if progress.since > STALLED or (progress.gap > 0.5 and active.steps > patience):
            return
        with alone():
            if active.drop_decided(point):
                continue
            factor = Factor(point.matrix)
            if not factor.good:
                return
            least = NO_FARTHER * following.ask_below * point.primal / (2.0 * active.total_cost)
            following.step = find_step(active, point, factor, least)


def alone() -> AbstractContextManager[None]:
    """What is computed in whole arrays has the same bits, whatever the number of threads that BLAS may use."""
    return one_thread_for_blas if is_plain(follow) else nullcontext()


def find_step(active: ActiveRows, point: PathPoint, factor: Factor, least: float) -> float:
    """Predictor, corrector and corrections of centrality; the plane moves, the rows with the next pass.

    The target is not below `least`, the mu that the gap asks for: dp_i is t_i ~ 1 / mu times a difference, so that
    farther down the rounding errors of w = sum_i a_i y_i x_i would make the gap grow again.
    """
    carried = active.tau * (active.carried[0] - active.carried[1])
    residual, mu = point.residual, point.mu
    plane = factor.solve(active.right_hand_side(residual + point.predictor - carried))
    (known, per_target), sums = active.predict(plane, SECOND_ORDER_LIMIT * mu)
    primal_most, dual_most, along_dual, along_primal, along_both = sums
    primal_step, dual_step = (min(1.0, 1.0 / max(most, 1e-300)) for most in (primal_most, dual_most))
    change = dual_step * along_dual + primal_step * along_primal + dual_step * primal_step * along_both
    within_reach = max(0.0, 1.0 + change / (2.0 * active.total_cost * mu))
    sigma = max(min(1.0, within_reach) ** 3, 0.3 if active.step < 0.1 else 1e-6)
    sigma = max(sigma, min(1.0, least / mu))
    target = sigma * mu
    wanted = residual + known + target * per_target + (sigma - 1.0) * carried
    plane = factor.solve(active.right_hand_side(wanted))
    longest = active.direct(active.move, plane, target)
    for _ in range(MOST_CORRECTIONS):
        if longest > 0.95:
            break
        longer = min(1.0, 1.3 * longest + 0.2)
        wanted = wanted + active.recentre(longer, NEAR * target, FAR * target)
        other_plane = factor.solve(active.right_hand_side(wanted))
        other_longest = active.direct(active.trial, other_plane, 0.0)
        gained, hoped = other_longest - longest, longer - longest
        if gained >= 0.0:
            plane, longest = other_plane, other_longest
            active.move, active.trial = active.trial, active.move
        if gained < 0.1 * hoped:
            break
    boundary = min(max(BOUNDARY, 1.0 - mu), CLOSEST) if longest > 0.9 else BOUNDARY
    step = min(1.0, boundary * longest)
    active.w += step * plane[:-1]
    active.b += step * active.bias_of(plane)
    active.tau += step * (sigma - 1.0) * active.tau
    active.step = step
    return step
