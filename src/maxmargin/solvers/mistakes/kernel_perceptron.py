"""The kernel perceptron: learning by mistakes in a space that is never entered.

    problem   find w with y_i w.phi(x_i) > 0 for every row (a bias is one more coordinate, fixed at 1: k + 1 for k)
    link      w = sum_j c_j y_j phi(x_j), so that w.phi(x) = sum_j c_j y_j k(x_j, x)
    step      a row with y_i w.phi(x_i) <= 0 is a mistake:  c_i <- c_i + 1                   (c = 0 at the start)
    ends      when a whole sweep has no mistake (`driver`)
    orders    as they lie, shuffled, drawn with replacement, or the row of the least y_i w.phi(x_i) first

    theorem   at most R^2 / g^2 mistakes, for the margin g of any separating plane, R^2 = max k(x_i, x_i)
    dual      the mistakes c_i are a dual point: the best margin is at most |w| / sum_i c_i

The values w.phi(x_i) of all rows are kept: a visit costs nothing, a mistake one row of the kernel (`kernel_memory`).
Rows that are made together cost far less, and which ones are needed next is no guess: the kernel among the next few
rows of the order tells which of them are going to be mistakes.

Rows of the kernel may be float32. Then a sweep without a mistake is believed when the values of all rows that are near
to 0 have been computed once more, in float64, and are those of rows that are right. What float64 cannot tell from 0
is 0 then, a mistake.

Reference: [aizerman1964], [novikov1962].
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import njit, numbers_per_call
from maxmargin.data.executor import Threads
from maxmargin.data.table import Vector
from maxmargin.problems.choices import Order
from maxmargin.problems.kernels import Kernel, Points, rows_of
from maxmargin.problems.protocol import Iterate, Run, varying
from maxmargin.problems.trace import UpdateObserver
from maxmargin.solvers.mistakes.driver import Budget, Learner, MistakeState, Visits, learn
from maxmargin.solvers.mistakes.kernel_memory import AT_ONCE, KernelMemory, is_ready, move

NUMBERS_PER_CALL = 20_000_000  # a compiled call cannot be interrupted: it adds at most so many numbers
NEAREST, FARTHEST = 16, 1024  # rows of the order that are looked at ahead: at least and at most
WORTH_LOOKING = 0.5  # of the values that the rows found are to be made of: as many may be made to find them
NEAR, AT_ZERO = 2.0**-20, 2.0**-36  # of the sum of all counts: float32 cannot tell a value from 0, nor can float64


@njit
def visit(rows: Any, signs: Any, order: Any, start: int, lift: float, values: Any, counts: Any, most: int) -> Any:
    """Visit order[start:] as long as the rows that are needed are ready, and for at most so many mistakes.

    Returns the next place in the order, the number of mistakes, the row of the last one and its y w.phi(x).
    """
    mistakes, row, violation = 0, -1, 0.0
    for k in range(start, order.shape[0]):
        i = order[k]
        if signs[i] * values[i] > 0.0:
            continue
        if mistakes == most or not is_ready(rows, i):
            return k, mistakes, row, violation
        row, violation = i, signs[i] * values[i]
        move(rows, i, signs[i], values)
        if lift > 0.0:
            for j in range(values.shape[0]):
                values[j] += signs[i] * lift
        counts[i] += 1.0
        mistakes += 1
    return order.shape[0], mistakes, row, violation


@njit
def foresee(kernel: Any, signs: Any, lift: float, values: Any) -> Any:
    """Which of some rows are mistakes, if they are visited in their order."""
    is_mistake = np.zeros(signs.shape[0], np.bool_)
    for k in range(signs.shape[0]):
        if signs[k] * values[k] <= 0.0:
            is_mistake[k] = True
            values[k + 1 :] += signs[k] * (kernel[k, k + 1 :] + lift)
    return is_mistake


@dataclass(eq=False, kw_only=True)
class KernelPerceptronState(MistakeState):
    """The values of the plane on all rows, the rows of the kernel that are remembered, and how many rows of the order
    are looked at ahead."""

    memory: KernelMemory = varying()
    values: Vector = varying()
    ahead: int = varying(AT_ONCE)


class KernelPerceptronRule(Learner):
    """A call ends where a row of the kernel is missing: an iterate is shown before it is made, by the next call."""

    state: KernelPerceptronState

    def __init__(self, state: KernelPerceptronState, signs: Vector, fit_intercept: bool, order: Order) -> None:
        self.state, self.signs, self.order = state, signs, order
        self.lift = 1.0 if fit_intercept else 0.0
        self.updates_per_call = max(1, numbers_per_call(NUMBERS_PER_CALL) // len(signs))
        self.is_missing = False

    def visit(self, order: NDArray[np.intp], start: int, most: int) -> Visits:
        state, signs, memory = self.state, self.signs, self.state.memory
        if self.is_missing:
            memory.fetch(int(order[start]), self.coming_mistakes(order[start:]), state.counts > 0.0)
        position, updates, row, violation = visit(
            memory.rows, signs, order, start, self.lift, state.values, state.counts, most
        )
        is_full = position < len(order)
        self.is_missing = is_full and updates < most
        goes_on = start > 0 or len(order) == 0  # clean visits count within one sweep
        clean = self.believed(0 if updates else position - start + (state.clean if goes_on else 0))
        return Visits(position, updates, clean, is_full and not self.is_missing, row, violation)

    def coming_mistakes(self, order: NDArray[np.intp]) -> NDArray[np.intp]:
        """Rows of this order that are going to be mistakes. As many are looked at as it is worth: their kernel among
        each other is to cost less than the rows of the kernel that are found to be needed."""
        state = self.state
        coming = order[: min(max(state.ahead, NEAREST), FARTHEST)]
        is_mistake = foresee(state.memory.square(coming), self.signs[coming], self.lift, state.values[coming])
        found: NDArray[np.intp] = coming[is_mistake]
        missing = int(np.count_nonzero(state.memory.rows.slots[found] < 0))
        if missing > AT_ONCE or len(coming) ** 2 > WORTH_LOOKING * missing * len(self.signs):
            state.ahead = max(NEAREST, len(coming) // 2)
        elif 2 * missing <= AT_ONCE:
            state.ahead = min(FARTHEST, 2 * len(coming))
        return found

    def believed(self, clean: int) -> int:
        """So many visits without a mistake, if float32 can be believed: 0 where one of all rows was a mistake."""
        state, memory = self.state, self.state.memory
        if memory.is_rough and clean >= len(self.signs):
            own = np.flatnonzero(state.counts)
            size = float(state.counts.sum())
            near = np.flatnonzero(self.signs * state.values <= NEAR * size)
            weights = (self.signs * state.counts)[own]
            rows, others = rows_of(memory.points, near), rows_of(memory.points, own)
            values = memory.kernel.combine(rows, others, weights[:, None], memory.threads)[:, 0]
            values += self.lift * float(weights.sum())
            state.values[near] = np.where(np.abs(values) > AT_ZERO * size, values, 0.0)
            clean = 0 if np.any(self.signs[near] * state.values[near] <= 0.0) else clean
        return clean

    def worst_first(self) -> NDArray[np.intp]:
        values = self.signs * self.state.values
        worst = int(np.argmin(values))
        self.state.clean = self.believed(len(values) if values[worst] > 0.0 else 0)
        return np.array([] if self.state.clean else [worst], dtype=np.intp)

    def weights(self) -> Vector:
        """The coefficients c_i y_i, and the bias that they make."""
        coefficients = self.state.counts * self.signs
        return np.append(coefficients, coefficients.sum() if self.lift else 0.0)

    def bound(self) -> float:
        return math.sqrt(max(0.0, float(self.weights()[:-1] @ self.state.values))) / self.state.updates

    def iterate(self, proposes: bool, sweeps: int) -> Iterate:
        state, no_plane = self.state, np.zeros(0)
        return Iterate(no_plane, 0.0, state.counts, proposes, state.updates, sweeps)


def kernel_perceptron(
    kernel: Kernel,
    points: Points,
    signs: Vector,
    *,
    fit_intercept: bool,
    order: Order = Order.CYCLIC,
    seed: int = 0,
    max_sweeps: int,
    trace: UpdateObserver | None = None,
    threads: Threads | None = None,
) -> Run:
    """An iterate after each sweep, and before rows of the kernel are made; it proposes when a sweep had no mistake.

    `a` are the mistakes c_i. With threads, many rows of an rbf are made in float32.
    """
    n, random = len(signs), np.random.default_rng(seed)
    state = KernelPerceptronState(
        counts=np.zeros(n), random=random, memory=KernelMemory(kernel, points, threads), values=np.zeros(n)
    )
    rule = functools.partial(KernelPerceptronRule, state, signs, fit_intercept, order)
    return Run(state, learn(rule, Budget(sweeps=max_sweeps), trace))
