"""The kernel perceptron: learning by mistakes in a space that is never entered.

    problem   find w with y_i w.phi(x_i) > 0 for every row (a bias is one more coordinate, fixed at 1: k + 1 for k)
    link      w = sum_j c_j y_j phi(x_j), so that w.phi(x) = sum_j c_j y_j k(x_j, x)
    step      a row with y_i w.phi(x_i) <= 0 is a mistake:  c_i <- c_i + 1                   (c = 0 at the start)
    ends      when a whole sweep has no mistake (`driver`)
    orders    as they lie, shuffled, drawn with replacement, or the row of the least y_i w.phi(x_i) first

    theorem   at most R^2 / g^2 mistakes, for the margin g of any separating plane, R^2 = max k(x_i, x_i)
    dual      the mistakes c_i are a dual point: the best margin is at most |w| / sum_i c_i

The values w.phi(x_i) of all rows are kept: a visit costs nothing, a mistake one row of the kernel (`kernel_memory`).

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
from maxmargin.data.table import Vector
from maxmargin.problems.choices import Order
from maxmargin.problems.kernels import Kernel, Points
from maxmargin.problems.protocol import Iterate, Run, varying
from maxmargin.problems.trace import UpdateObserver
from maxmargin.solvers.mistakes.driver import Budget, Learner, MistakeState, Visits, learn
from maxmargin.solvers.mistakes.kernel_memory import KernelMemory, is_ready, move

NUMBERS_PER_CALL = 20_000_000  # a compiled call cannot be interrupted: it adds at most so many numbers


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


@dataclass(eq=False, kw_only=True)
class KernelPerceptronState(MistakeState):
    """The values of the plane on all rows, and the rows of the kernel that are remembered."""

    memory: KernelMemory = varying()
    values: Vector = varying()


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
            coming = order[start:]
            memory.fetch(int(coming[0]), coming[signs[coming] * state.values[coming] <= 0.0], state.counts > 0.0)
        position, updates, row, violation = visit(
            memory.rows, signs, order, start, self.lift, state.values, state.counts, most
        )
        is_full = position < len(order)
        self.is_missing = is_full and updates < most
        goes_on = start > 0 or len(order) == 0  # clean visits count within one sweep
        clean = 0 if updates else position - start + (state.clean if goes_on else 0)
        return Visits(position, updates, clean, is_full and not self.is_missing, row, violation)

    def worst_first(self) -> NDArray[np.intp]:
        values = self.signs * self.state.values
        worst = int(np.argmin(values))
        self.state.clean = len(values) if values[worst] > 0.0 else 0
        return np.array([] if values[worst] > 0.0 else [worst], dtype=np.intp)

    def weights(self) -> Vector:
        """The coefficients c_i y_i, and the bias that they make."""
        coefficients = self.state.counts * self.signs
        return np.append(coefficients, coefficients.sum() if self.lift else 0.0)

    def bound(self) -> float:
        return math.sqrt(max(0.0, float(self.weights()[:-1] @ self.state.values))) / self.state.updates

    def iterate(self, proposes: bool, sweeps: int) -> Iterate:
        state, no_plane = self.state, np.zeros(0)
        made = state.memory.n_made
        return Iterate(no_plane, 0.0, state.counts, proposes, state.updates, sweeps, rows_made=made)


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
) -> Run:
    """An iterate after each sweep, and before rows of the kernel are made; it proposes when a sweep had no mistake.

    `a` are the mistakes c_i.
    """
    n, random = len(signs), np.random.default_rng(seed)
    state = KernelPerceptronState(
        counts=np.zeros(n), random=random, memory=KernelMemory(kernel, points), values=np.zeros(n)
    )
    rule = functools.partial(KernelPerceptronRule, state, signs, fit_intercept, order)
    return Run(state, learn(rule, Budget(sweeps=max_sweeps), trace))
