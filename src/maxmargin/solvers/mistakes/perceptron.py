"""The perceptron: learning by mistakes.

    problem   find w with y_i w.x_i > 0 for every row (a bias is one more coordinate, fixed at 1)
    step      a row with y_i w.x_i <= 0 is a mistake:  w <- w + rate y_i x_i          (w = 0 at the start)
    ends      when every row has been visited since the last mistake (`driver`)

    theorem   at most R^2 / g^2 mistakes, for the margin g of any separating plane, R = max |x_i|    [novikov1962]
    dual      the mistakes a_i of the rows are a dual point: the best margin is at most |w| / (rate sum_i a_i)

With a guess G > 0 the same loop is the margin perceptron: a row is a violation already when its distance
y_i w.x_i / |w| is below q G, q = 1/2, of which `share` is the square (`margin_perceptron`). |w| is carried along,
|w + s x|^2 = |w|^2 + 2 s w.x + s^2 |x|^2, and summed anew before each order, and where digits have cancelled.

Normalised rows are x_i / |x_i|, lifted first where there is a bias: y_i / |x_i| takes the place of y_i. Then R = 1, g
is a cosine, and there are at most 1 / g^2 mistakes. Of the rows as they are, a_i / |x_i| are weights of the same w.

The averaged perceptron is the mean of w over all T visits. The mistake in visit t, from 0, is missing in t of them: the
mean is w minus the sum of all t rate y_i x_i (`lagged`) over T.

Cost: one sweep reads every row once; a mistake, its row twice more.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import njit, numbers_per_call
from maxmargin.data.rows import add, dot
from maxmargin.data.table import Vector, row_squares, rows_of
from maxmargin.problems.choices import Order
from maxmargin.problems.protocol import Iterate, Run, varying
from maxmargin.problems.statement import Separation
from maxmargin.problems.trace import UpdateObserver
from maxmargin.solvers.mistakes.driver import UNLIMITED, Budget, Learner, MistakeState, Visits, learn, scaled_signs
from maxmargin.solvers.passes import values_of

NUMBERS_PER_CALL = 50_000_000  # a compiled call cannot be interrupted: it reads at most so many numbers
SURELY = 1.0 - 1e-9  # of a guess: below it is more than rounding
VISITS_AT_LEAST = 4096  # a small table is swept several times in a call


@njit
def visit(
    rows: Any,
    signs: Any,
    squares: Any,
    order: Any,
    start: int,
    at_random: bool,
    lift: float,
    w: Any,
    lagged: Any,
    counts: Any,
    rate: float,
    nearest: float,
    norm_squared: float,
    visits: int,
    clean: int,
    max_updates: int,
) -> Any:
    """Visit the rows order[start:] until as many clean visits as there are rows, or a violation is one too many.

    A row nearer than `nearest` is one. The bias is the last entry of w, and `lift` its coordinate in each row: 1, or 0
    where there is none. Returns (next position, updates, |w|^2, clean: visits since the last violation,
    the row of the last violation, its value).
    """
    n_columns = w.shape[0] - 1
    updates, row, violation, largest = 0, -1, 0.0, norm_squared
    for k in range(start, order.shape[0]):
        if at_random and k % signs.shape[0] == 0:
            clean = 0  # n visits over the end of one order and the start of the next may miss a row
        i = order[k]
        value = signs[i] * (dot(rows, i, w) + lift * w[n_columns])
        if value > 0.0 and (nearest == 0.0 or value >= nearest * np.sqrt(norm_squared)):
            clean += 1
            if clean == signs.shape[0]:
                return k + 1, updates, norm_squared, clean, row, violation
            continue
        if updates == max_updates:
            return k, updates, norm_squared, clean, row, violation
        step = rate * signs[i]
        add(rows, i, step, w)
        w[n_columns] += step * lift
        add(rows, i, step * (visits + k), lagged)
        lagged[n_columns] += step * lift * (visits + k)
        norm_squared += 2.0 * rate * value + rate * rate * squares[i]
        largest = max(largest, norm_squared)
        if nearest > 0.0 and norm_squared < 1e-3 * largest:  # digits have cancelled: sum anew
            norm_squared = 0.0
            for j in range(w.shape[0]):
                norm_squared += w[j] * w[j]
            largest = norm_squared
        counts[i] += 1.0
        updates += 1
        clean, row, violation = 0, i, value
    return order.shape[0], updates, norm_squared, clean, row, violation


@dataclass(eq=False, kw_only=True)
class PerceptronState(MistakeState):
    """w with the bias as its last entry, T times what its mean lags behind, and T, the visits; a_i are the `counts`."""

    w: Vector = varying()
    lagged: Vector = varying()
    visits: int = varying(0)


class PerceptronRule(Learner):
    """With a rate and a guess, of which the part q is demanded; the guess 0 is the perceptron without one."""

    state: PerceptronState

    def __init__(
        self,
        problem: Separation,
        state: PerceptronState,
        rate: float,
        guess: float,
        q: float,
        gives_up: bool,
        order: Order,
    ) -> None:
        n, d = problem.X.shape
        self.gives_up = gives_up
        self.problem, self.state, self.rate, self.guess, self.order = problem, state, rate, guess, order
        self.q, self.lift, self.signs = q, 1.0 if problem.fit_intercept else 0.0, scaled_signs(problem)
        self.rows = rows_of(problem.X)
        self.squares = np.ones(n) if problem.normalized else row_squares(problem.X) + self.lift
        self.visits_per_call = max(1, numbers_per_call(NUMBERS_PER_CALL) // max(1, d))
        self.sweeps_at_once = VISITS_AT_LEAST // n

    def begin_order(self) -> None:
        self.norm_squared, self.nearest = float(self.state.w @ self.state.w), self.q * self.guess

    def worst_first(self) -> NDArray[np.intp]:
        w, n = self.state.w, self.problem.n_rows
        values = self.signs * (values_of(self.problem.X, w) + self.lift * w[-1])
        worst = int(np.argmin(values))
        is_right = values[worst] > 0.0 and values[worst] >= self.nearest * np.sqrt(self.norm_squared)
        self.state.clean = n if is_right else 0
        self.nearest = np.inf  # it has been found to be a violation: no second opinion
        return np.array([] if is_right else [worst], dtype=np.intp)

    def visit(self, order: NDArray[np.intp], start: int, most: int) -> Visits:
        state, at_random = self.state, self.order in (Order.SHUFFLED, Order.DRAWN)
        position, updates, self.norm_squared, clean, row, value = visit(
            self.rows, self.signs, self.squares, order, start, at_random, self.lift, state.w,
            state.lagged, state.counts, self.rate, self.nearest, self.norm_squared, state.visits - start,
            state.clean, most,
        )  # fmt: skip
        state.visits += position - start
        is_full = clean < self.problem.n_rows and position < len(order)
        return Visits(position, updates, clean, is_full, row, value)

    def has_failed(self) -> bool:
        return self.gives_up and self.state.updates > 0 and self.bound() < SURELY * self.guess

    def weights(self) -> Vector:
        return self.state.w.copy()

    def as_shown(self, violation: float, before: Vector) -> float:
        """With a guess, the distance that was too short."""
        return violation if self.guess == 0.0 else violation / max(float(np.linalg.norm(before)), 1e-300)

    def bound(self) -> float:
        return float(np.linalg.norm(self.state.w)) / (self.rate * self.state.updates)

    def iterate(self, proposes: bool, sweeps: int) -> Iterate:
        state = self.state
        a = state.counts * np.abs(self.signs) if self.problem.normalized else state.counts
        return Iterate(
            state.w[:-1], self.lift * float(state.w[-1]), a, proposes, state.updates, sweeps,
            averaged=state.w - state.lagged / max(1, state.visits), searched=self.guess,
        )  # fmt: skip


def perceptron(
    problem: Separation,
    *,
    rate: float = 1.0,
    order: Order = Order.CYCLIC,
    guess: float = 0.0,
    share: float = 0.25,
    gives_up: bool = False,
    seed: int = 0,
    max_updates: int = UNLIMITED,
    max_sweeps: int = UNLIMITED,
    first_w: Vector | None = None,
    trace: UpdateObserver | None = None,
) -> Run:
    """An iterate after each sweep (of a small table: after several); it proposes when no row is a violation.

    With a guess, a row nearer than sqrt(share) of it is one; `gives_up` ends a run whose updates prove that no margin
    is as large as the guess. `first_w` has the bias as its last entry.
    """
    n, d = problem.X.shape
    w = np.zeros(d + 1) if first_w is None else first_w.astype(np.float64)
    state = PerceptronState(
        w=w, lagged=np.zeros(d + 1), counts=np.zeros(n), random=np.random.default_rng(seed)
    )  # fmt: skip
    rule = functools.partial(PerceptronRule, problem, state, rate, guess, math.sqrt(share), gives_up, order)
    return Run(state, learn(rule, Budget(max_updates, max_sweeps), trace))


def longest_row(problem: Separation) -> float:
    """R, the largest norm of a row with its lifted coordinate."""
    if problem.normalized:
        return 1.0
    return float(np.sqrt(row_squares(problem.X).max() + (1.0 if problem.fit_intercept else 0.0)))
