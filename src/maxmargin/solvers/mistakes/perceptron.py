"""The perceptron: learning by mistakes.

    problem   find w with y_i w.x_i > 0 for every row (a bias is one more coordinate, fixed at 1)
    step      a row with y_i w.x_i <= 0 is a mistake:  w <- w + rate y_i x_i          (w = 0 at the start)
    ends      when every row has been visited since the last mistake

    theorem   at most R^2 / g^2 mistakes, for the margin g of any separating plane, R = max |x_i|    [novikov1962]
    dual      the mistakes a_i of the rows are a dual point: the best margin is at most |w| / (rate sum_i a_i)

With a guess G > 0 the same loop is the margin perceptron: a row is a violation already when its distance
y_i w.x_i / |w| is below G / 2. |w| is carried along, |w + s x|^2 = |w|^2 + 2 s w.x + s^2 |x|^2, and summed anew
before each sweep.

Cost: one sweep reads every row once. Differs: also keeps the sum that gives the averaged weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin._numba import njit
from maxmargin.data.matrix import Vector, row_squares
from maxmargin.data.rows import add, dot, rows_of
from maxmargin.problems.protocol import AT_REST, Iterate, Run, SolverRun
from maxmargin.problems.state import State, varying
from maxmargin.problems.statement import Separation
from maxmargin.problems.trace import Trace
from maxmargin.problems.visits import Order
from maxmargin.solvers.passes import values_of

NUMBERS_PER_CALL = 50_000_000  # a compiled call cannot be interrupted: it reads at most so many numbers
VISITS_AT_LEAST = 4096  # a small table is swept several times in a call


@njit
def visit(
    rows: Any,
    signs: Any,
    squares: Any,
    order: Any,
    start: int,
    shuffled: bool,
    lift: float,
    w: Any,
    lagged: Any,
    counts: Any,
    rate: float,
    half_guess: float,
    norm_squared: float,
    visits: int,
    clean: int,
    max_updates: int,
) -> Any:
    """Visit the rows order[start:] until their end, max_updates, or as many clean visits as there are rows.

    Returns (next position, updates, |w|^2, clean: visits since the last violation, the last violation).
    """
    n_columns = w.shape[0] - 1
    updates, violation, largest = 0, 0.0, norm_squared
    for k in range(start, order.shape[0]):
        if shuffled and k % signs.shape[0] == 0:
            clean = 0  # n visits over the end of one order and the start of the next may miss a row
        i = order[k]
        value = signs[i] * (dot(rows, i, w) + lift * w[n_columns])
        if value > 0.0 and (half_guess == 0.0 or value >= half_guess * np.sqrt(norm_squared)):
            clean += 1
            if clean == signs.shape[0]:
                return k + 1, updates, norm_squared, clean, violation
            continue
        step = rate * signs[i]
        add(rows, i, step, w)
        w[n_columns] += step * lift
        add(rows, i, step * (visits + k), lagged)
        lagged[n_columns] += step * lift * (visits + k)
        norm_squared += 2.0 * rate * value + rate * rate * squares[i]
        largest = max(largest, norm_squared)
        if half_guess > 0.0 and norm_squared < 1e-3 * largest:  # digits have cancelled: sum anew
            norm_squared = 0.0
            for j in range(w.shape[0]):
                norm_squared += w[j] * w[j]
            largest = norm_squared
        counts[i] += 1.0
        updates += 1
        clean, violation = 0, value
        if updates == max_updates:
            return k + 1, updates, norm_squared, clean, violation
    return order.shape[0], updates, norm_squared, clean, violation


class Rule(NamedTuple):
    """How a perceptron runs: the length of its updates, the order of its visits, the margin that it guesses."""

    rate: float = 1.0
    order: Order = Order.CYCLIC
    guess: float = 0.0
    max_updates: int = 2**62
    max_sweeps: int = 2**62


@dataclass(eq=False)
class PerceptronState(State):
    """The weights with the bias as their last entry, what their mean lags behind, and the updates of each row."""

    w: Vector = varying()
    lagged: Vector = varying()
    counts: Vector = varying()
    random: np.random.Generator = varying()
    updates: int = varying(0)
    sweeps: int = varying(0)
    visits: int = varying(0)
    clean: int = varying(0)


def perceptron(
    problem: Separation,
    *,
    seed: int = 0,
    first_w: Vector | None = None,
    trace: Trace | None = None,
    **rule: Any,
) -> Run:
    """An iterate after each sweep (of a small table: after several); it proposes when no row is a violation.

    `first_w` has the bias as its last entry; the rest is a `Rule`.
    """
    state = start(problem, seed, first_w)
    return Run(state, steps(problem, state, Rule(**rule), trace))


def start(problem: Separation, seed: int, first_w: Vector | None = None) -> PerceptronState:
    n, d = problem.X.shape
    w = np.zeros(d + 1) if first_w is None else first_w.astype(np.float64)
    return PerceptronState(w, np.zeros(d + 1), np.zeros(n), np.random.default_rng(seed))


def steps(problem: Separation, state: PerceptronState, rule: Rule, trace: Trace | None) -> SolverRun:
    n, d = problem.X.shape
    rate, order, guess, max_updates, max_sweeps = rule
    lift = 1.0 if problem.fit_intercept else 0.0
    squares, rows = row_squares(problem.X) + lift, rows_of(problem.X)
    rows_per_call = max(1, NUMBERS_PER_CALL // max(1, d))
    everything, w = np.arange(n), state.w
    while True:
        yield AT_REST
        position, norm_squared, half_guess = 0, float(w @ w), 0.5 * guess
        if order is Order.WORST_FIRST:
            values = problem.signs * (values_of(problem.X, w) + lift * w[d])
            worst = int(np.argmin(values))
            state.clean = n if values[worst] > 0.0 and values[worst] >= half_guess * np.sqrt(norm_squared) else 0
            visiting = everything[worst : worst + 1] if state.clean == 0 else everything[:0]
            half_guess = np.inf  # it has been found to be a violation: no second opinion
        else:
            turns = min(max(1, VISITS_AT_LEAST // n), max_sweeps - state.sweeps)
            orders = [everything if order is Order.CYCLIC else state.random.permutation(n) for _ in range(turns)]
            visiting = orders[0] if turns == 1 else np.concatenate(orders)
        while position < len(visiting):
            here = visiting[: position + rows_per_call]
            before = w.copy() if trace is not None else w
            at_once = 1 if trace is not None else max_updates - state.updates
            position, made, norm_squared, state.clean, violation = visit(
                rows, problem.signs, squares, here, position, order is Order.SHUFFLED, lift, w, state.lagged,
                state.counts, rate, half_guess, norm_squared, state.visits, state.clean, at_once,
            )  # fmt: skip
            state.updates += made
            if trace is not None and made:
                shown = violation if guess == 0.0 else violation / max(float(np.linalg.norm(before)), 1e-300)
                bound = float(np.linalg.norm(w)) / (rate * state.updates)
                trace.append(int(here[position - 1]), shown, before, w, bound)
            if state.clean >= n or state.updates >= max_updates:
                break
        state.visits += position
        state.sweeps += max(1, -(-position // n))
        yield Iterate(
            w[:d], lift * float(w[d]), state.counts, state.clean >= n, state.updates, state.sweeps,
            averaged=w - state.lagged / max(1, state.visits), searched=guess,
        )  # fmt: skip
        if state.clean >= n or state.updates >= max_updates or state.sweeps >= max_sweeps:
            return


def longest_row(problem: Separation) -> float:
    """R, the largest norm of a row with its lifted coordinate."""
    return float(np.sqrt(row_squares(problem.X).max() + (1.0 if problem.fit_intercept else 0.0)))
