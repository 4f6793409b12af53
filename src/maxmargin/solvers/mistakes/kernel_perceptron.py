"""The kernel perceptron: learning by mistakes in a space that is never entered.

    problem   find w with y_i w.phi(x_i) > 0 for every row (a bias is one more coordinate, fixed at 1: k + 1 for k)
    link      w = sum_j c_j y_j phi(x_j), so that w.phi(x) = sum_j c_j y_j k(x_j, x)
    step      a row with y_i w.phi(x_i) <= 0 is a mistake:  c_i <- c_i + 1                   (c = 0 at the start)
    ends      when a whole sweep has no mistake

    theorem   at most R^2 / g^2 mistakes, for the margin g of any separating plane, R^2 = max k(x_i, x_i)
    dual      the mistakes c_i are a dual point: the best margin is at most |w| / sum_i c_i

The values w.phi(x_i) of all rows are kept: a visit costs nothing, a mistake one row of the kernel (`kernel_memory`).

Reference: [aizerman1964], [novikov1962].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin._numba import njit
from maxmargin.data.matrix import Vector
from maxmargin.problems.kernels import Kernel, Points
from maxmargin.problems.protocol import AT_REST, Iterate, Run, SolverRun
from maxmargin.problems.state import State, varying
from maxmargin.solvers.mistakes.kernel_memory import KernelMemory, is_ready, move

NUMBERS_PER_CALL = 20_000_000  # a compiled call cannot be interrupted: it adds at most so many numbers


@njit
def visit(rows: Any, signs: Any, order: Any, start: int, lift: float, values: Any, counts: Any, most: int) -> Any:
    """Visit order[start:] as long as the rows that are needed are ready, and for at most so many mistakes.

    Returns the next place in the order, and the number of mistakes.
    """
    mistakes = 0
    for k in range(start, order.shape[0]):
        i = order[k]
        if signs[i] * values[i] > 0.0:
            continue
        if mistakes == most or not is_ready(rows, i):
            return k, mistakes
        move(rows, i, signs[i], values)
        if lift > 0.0:
            for j in range(values.shape[0]):
                values[j] += signs[i] * lift
        counts[i] += 1.0
        mistakes += 1
    return order.shape[0], mistakes


@dataclass(eq=False)
class KernelPerceptronState(State):
    """The values of the plane on all rows, the mistakes of each, and the rows of the kernel that are remembered."""

    memory: KernelMemory = varying()
    random: np.random.Generator = varying()
    values: Vector = varying()
    counts: Vector = varying()
    mistakes: int = varying(0)
    sweep: int = varying(0)


def kernel_perceptron(
    kernel: Kernel, points: Points, signs: Vector, *, fit_intercept: bool, seed: int | None, max_sweeps: int
) -> Run:
    """An iterate after each sweep, and before rows of the kernel are made; it proposes when a sweep had no mistake.

    Without a seed the rows are visited as they lie; with one, each sweep has a new order. `a` are the mistakes c_i.
    """
    n = len(signs)
    random = np.random.default_rng(0 if seed is None else seed)
    state = KernelPerceptronState(KernelMemory(kernel, points), random, np.zeros(n), np.zeros(n))
    return Run(state, steps(state, signs, 1.0 if fit_intercept else 0.0, seed is not None, max_sweeps))


def steps(state: KernelPerceptronState, signs: Vector, lift: float, is_shuffled: bool, max_sweeps: int) -> SolverRun:
    n, memory, values = len(signs), state.memory, state.values
    most = max(1, NUMBERS_PER_CALL // n)
    while state.sweep < max_sweeps:
        yield AT_REST
        state.sweep += 1
        order = state.random.permutation(n) if is_shuffled else np.arange(n)
        place, before = 0, state.mistakes
        while True:
            place, made = visit(memory.rows, signs, order, place, lift, values, state.counts, most)
            state.mistakes += made
            clean = place == n and state.mistakes == before
            yield Iterate(
                np.zeros(0), 0.0, state.counts, clean, state.mistakes, state.sweep, rows_made=memory.n_made
            )  # fmt: skip
            if place == n:
                break
            coming = order[place:]
            if memory.rows.slots[coming[0]] < 0:
                memory.fetch(int(coming[0]), coming[signs[coming] * values[coming] <= 0.0])
        if clean:
            return
