"""Winnow: learning by mistakes with multiplicative weights.

    rows      a_i = y_i (x_i / s, 1) with s = max |x_ij|: no entry exceeds 1 (without a bias: y_i x_i / s)
    weights   v = 1 at the start, two for each coordinate, (a, -a): their difference w is signed (balanced);
              unbalanced, a column has one weight, so that w >= 0, and only the bias has two
    step      a row with w.a_i <= 0 is a mistake:  v_j <- v_j exp(eta a_ij),  exp(-eta) = 1 - epsilon
    ends      when every row has been visited since the last mistake (shuffled: when a whole sweep is clean)

    margin    g = max_w min_i w.a_i / |w|_1, for which the bias is a weight like the others
    dual      p = sum of the a_i over all M mistakes:  g <= max_j p_j / M, j over all weights (|p|_inf / M)
    link      v_j = exp(eta p_j), so that p is all there is to keep

A bound that is proven, for m weights. Phi = sum v is m at the start. A mistake has entries in [-1, 1] and,
under the weights v / Phi, a mean w.a_i <= 0: by Hoeffding's lemma Phi grows by a factor <= exp(eta^2 / 2).

    eta M g  <=  eta max_j p_j  <=  ln Phi  <=  ln m + M eta^2 / 2                                         (*)

    one run   M <= ln(m) / (eta (g - eta/2)) if eta < 2 g; the least is 2 ln(m) / g^2, for eta = g
    search    eta = ln 2 (epsilon = 1/2). A run may make 2 ln(m) / eta^2 mistakes; if it finds one more, then
              g < eta by (*): eta <- eta / 2, and start anew. So the last run has eta > g / 2, and all runs
              make at most 2 ln(m) / eta^2 (1 + 1/4 + 1/16 + ...) < (32/3) ln(m) / g^2 mistakes
    usual     (16/3) ln(m) / g^2 for one run with epsilon = (3/4) g, where terms of order epsilon are dropped

Where p changes, the weights are computed anew from it; a factor common to all keeps them from overflowing.
What float64 cannot tell from zero counts as a mistake, so that a plane that is proposed has every row on its side.

Cost: a sweep reads every row once; a mistake costs two exponentials for each nonzero of its row.
Reference: [littlestone1988], [arora2012].  Differs: one scale for the whole table; p is kept instead of v.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin._numba import njit, overload, types
from maxmargin.data.matrix import Vector, largest_magnitude
from maxmargin.data.rows import DenseRows, rows_of
from maxmargin.problems.protocol import AT_REST, Iterate, Run, SolverRun
from maxmargin.problems.state import Kept, State, resumed, varying
from maxmargin.problems.statement import Separation
from maxmargin.problems.trace import Trace
from maxmargin.problems.visits import Order
from maxmargin.solvers.mistakes.margin_perceptron import with_counts
from maxmargin.solvers.passes import values_of

LARGEST_EPSILON = 0.5
EXPONENT_RANGE = 500.0  # exp(500) and exp(-500) are far from overflow and underflow
NUMBERS_PER_CALL = 15_000_000  # a compiled call cannot be interrupted: it reads at most so many numbers,
CHANGES_PER_CALL = 2_000_000  # and changes at most so many weights
ROW_OVERHEAD = 16  # to find a row takes as long as to read so many numbers


def dot_and_size(rows: Any, i: int, w: Any) -> Any:
    """sum_j x_ij w_j  and  sum_j |x_ij w_j|, by which the rounding of the first is bounded."""
    if isinstance(rows, DenseRows):
        products = rows.values[i] * w[: rows.values.shape[1]]
    else:
        entries = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
        products = rows.data[entries] * w[rows.indices[entries]]
    return float(products.sum()), float(np.abs(products).sum())


def move(rows: Any, i: int, step: float, eta: float, shift: float, balanced: bool, p: Any, w: Any) -> None:
    """p += step * x_i, and w anew where x_i is not zero."""
    if isinstance(rows, DenseRows):
        columns = np.flatnonzero(rows.values[i])
        values = rows.values[i, columns]
    else:
        entries = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
        columns, values = rows.indices[entries], rows.data[entries]
    p[columns] += step * values
    w[columns] = np.exp(eta * p[columns] - shift)
    if balanced:
        w[columns] -= np.exp(-eta * p[columns] - shift)


# A sum may be reordered, so that it runs in vector registers; nothing else may be assumed of the numbers.
@overload(dot_and_size, fastmath={"reassoc", "contract"})
def _compile_dot_and_size(rows: Any, i: Any, w: Any) -> Any:
    def dense(rows: Any, i: Any, w: Any) -> Any:
        total, size = 0.0, 0.0
        row = rows.values[i]
        for j in range(row.shape[0]):
            product = row[j] * w[j]
            total += product
            size += abs(product)
        return total, size

    def csr(rows: Any, i: Any, w: Any) -> Any:
        total, size = 0.0, 0.0
        for entry in range(rows.indptr[i], rows.indptr[i + 1]):
            product = rows.data[entry] * w[rows.indices[entry]]
            total += product
            size += abs(product)
        return total, size

    return dense if _is_dense(rows) else csr


@overload(move)
def _compile_move(rows: Any, i: Any, step: Any, eta: Any, shift: Any, balanced: Any, p: Any, w: Any) -> Any:
    def dense(rows: Any, i: Any, step: Any, eta: Any, shift: Any, balanced: Any, p: Any, w: Any) -> None:
        row = rows.values[i]
        for j in range(row.shape[0]):
            if row[j] != 0.0:
                p[j] += step * row[j]
                w[j] = signed_weight(eta * p[j], shift, balanced)

    def csr(rows: Any, i: Any, step: Any, eta: Any, shift: Any, balanced: Any, p: Any, w: Any) -> None:
        for entry in range(rows.indptr[i], rows.indptr[i + 1]):
            j = rows.indices[entry]
            p[j] += step * rows.data[entry]
            w[j] = signed_weight(eta * p[j], shift, balanced)

    return dense if _is_dense(rows) else csr


def _is_dense(rows: Any) -> bool:
    return isinstance(rows, types.BaseNamedTuple) and rows.instance_class is DenseRows


@njit
def signed_weight(exponent: float, shift: float, balanced: bool) -> float:
    if balanced:
        return float(np.exp(exponent - shift) - np.exp(-exponent - shift))
    return float(np.exp(exponent - shift))


@njit
def visit(
    rows: Any,
    signs: Any,
    order: Any,
    start: int,
    scale: float,
    lift: float,
    eta: float,
    shift: float,
    balanced: bool,
    doubt: float,
    shuffled: bool,
    p: Any,
    w: Any,
    counts: Any,
    clean: int,
    max_updates: int,
) -> Any:
    """Visit the rows order[start:] until every row is clean, or a mistake is one too many.

    Returns (next position, updates, clean: visits since the last mistake, row of the last mistake, its w.a).
    """
    n_columns = w.shape[0] - 1
    updates, row, violation = 0, -1, 0.0
    for k in range(start, order.shape[0]):
        if shuffled and k % signs.shape[0] == 0:
            clean = 0  # n visits over the end of one order and the start of another may miss a row
        i = order[k]
        along, size = dot_and_size(rows, i, w)
        bias = lift * w[n_columns]
        value = signs[i] * (along / scale + bias)
        if value > doubt * (size / scale + abs(bias)):
            clean += 1
            if clean >= signs.shape[0]:
                return k + 1, updates, clean, row, violation
            continue
        if updates == max_updates:
            return k, updates, clean, row, violation
        step = signs[i] / scale
        move(rows, i, step, eta, shift, balanced, p, w)
        if lift > 0.0:
            p[n_columns] += signs[i]
            w[n_columns] = signed_weight(eta * p[n_columns], shift, True)
        counts[i] += 1.0
        updates += 1
        clean, row, violation = 0, i, value
    return order.shape[0], updates, clean, row, violation


class Rule(NamedTuple):
    """How Winnow runs: with weights for either sign of a column or not, and the order of its visits."""

    balanced: bool
    order: Order
    max_updates: int
    max_sweeps: int


@dataclass(eq=False)
class WinnowState(State):
    """The exponents p, their weights w times exp(-shift) with the sum of all, and the mistakes of each row."""

    random: np.random.Generator = varying()
    p: Vector = varying()
    counts: Vector = varying()
    w: Vector = varying()
    total: float = varying()
    shift: float = varying(0.0)
    since_shift: int = varying(0)
    updates: int = varying(0)
    sweeps: int = varying(0)
    clean: int = varying(0)
    at_once: int = varying(1)


@dataclass(eq=False)
class SearchState(State):
    """The eta, the updates and the sweeps of the phases before, and the phase at hand."""

    eta: float = varying()
    updates: int = varying(0)
    sweeps: int = varying(0)
    phase: State | Kept | None = varying(None)


def winnow(
    problem: Separation,
    *,
    epsilon: float | None = None,
    balanced: bool = True,
    order: Order = Order.CYCLIC,
    seed: int = 0,
    max_updates: int = 2**62,
    max_sweeps: int = 2**62,
    trace: Trace | None = None,
) -> Run:
    """Iterates with all updates counted; one proposes when no row is a mistake. epsilon=None searches.

    `a` counts the mistakes of the current run; it is the solver's own and changes when it goes on. The trace
    has the signed weights for the a_i, divided by the sum of all weights, and the bound max_j p_j / M.
    """
    if epsilon is not None and not 0.0 < epsilon <= LARGEST_EPSILON:
        raise ValueError(f"epsilon must be in (0, {LARGEST_EPSILON}], got {epsilon}")
    state = SearchState(-math.log1p(-(LARGEST_EPSILON if epsilon is None else epsilon)))
    rule = Rule(balanced, order, max_updates, max_sweeps)
    return Run(state, phases(problem, state, rule, epsilon is None, seed, trace))


def phases(
    problem: Separation, state: SearchState, rule: Rule, searches: bool, seed: int, trace: Trace | None
) -> SolverRun:
    log_weights = math.log(max(2, n_weights(problem, rule.balanced)))
    while True:
        eta = state.eta
        allowed = min(2.0 * log_weights / eta**2, 2.0**62) if searches else 2**62
        left = rule._replace(
            max_updates=min(math.floor(allowed), rule.max_updates - state.updates),
            max_sweeps=rule.max_sweeps - state.sweeps,
        )
        phase = start(problem, eta, rule.balanced, seed)
        state.phase = resumed(state.phase, phase, problem.n_rows)
        for iterate in steps(problem, phase, eta, left, trace):
            if iterate is not AT_REST:
                last = iterate
                iterate = with_counts(iterate, state.updates, state.sweeps)
            yield iterate
        state.updates, state.sweeps, state.phase = last.updates, last.sweeps, None  # totals, by with_counts
        if last.proposes or state.updates >= rule.max_updates or state.sweeps >= rule.max_sweeps:
            return
        state.eta /= 2.0


def n_weights(problem: Separation, balanced: bool = True) -> int:
    """m: two weights a column or, unbalanced, one; and two for the bias."""
    return (2 if balanced else 1) * problem.n_columns + (2 if problem.fit_intercept else 0)


def start(problem: Separation, eta: float, balanced: bool, seed: int) -> WinnowState:
    n, d = problem.X.shape
    p = np.zeros(d + 1)
    w, total = weights(p, eta, 0.0, balanced, 1.0 if problem.fit_intercept else 0.0)
    return WinnowState(np.random.default_rng(seed), p, np.zeros(n), w, total)


def steps(problem: Separation, state: WinnowState, eta: float, rule: Rule, trace: Trace | None) -> SolverRun:
    """Winnow with one eta, until no row is a mistake or max_updates are made and another is needed."""
    n, d = problem.X.shape
    balanced, order, max_updates, max_sweeps = rule
    lift = 1.0 if problem.fit_intercept else 0.0
    scale = largest_magnitude(problem.X) or 1.0
    doubt = (d + 8) * 2.0**-52
    rows = rows_of(problem.X)
    width = ROW_OVERHEAD + (problem.X.data if hasattr(problem.X, "indptr") else problem.X).size // n
    rows_per_call = max(1, NUMBERS_PER_CALL // width)
    updates_per_call = max(1, min(CHANGES_PER_CALL // width, int(EXPONENT_RANGE / 2.0 / eta)))
    if trace is not None:
        updates_per_call = 1
    p, stopped = state.p, False
    while not stopped and state.clean < n and state.sweeps < max_sweeps:
        yield AT_REST
        if order is Order.WORST_FIRST:
            values = problem.signs * (values_of(problem.X, state.w) / scale + lift * state.w[d])
            worst = int(np.argmin(values))
            visiting = np.array([worst]) if values[worst] <= 0.0 else np.arange(n)
        else:
            turns = max(1, min(state.at_once, max_sweeps - state.sweeps))
            every = [np.arange(n) if order is Order.CYCLIC else state.random.permutation(n) for _ in range(turns)]
            visiting = np.concatenate(every)
            state.at_once = min(2 * turns, rows_per_call // n)
        position = 0
        while not stopped and state.clean < n and position < len(visiting):
            if (state.since_shift + updates_per_call) * eta > EXPONENT_RANGE:
                state.shift, state.since_shift = eta * largest_sum(p, balanced, lift), 0
                state.w, state.total = weights(p, eta, state.shift, balanced, lift)
            before = state.w / state.total if trace is not None else state.w
            here = visiting[: position + rows_per_call]
            position, made, state.clean, row, value = visit(
                rows, problem.signs, here, position, scale, lift, eta, state.shift, balanced, doubt,
                order is Order.SHUFFLED, p, state.w, state.counts, state.clean,
                min(updates_per_call, max_updates - state.updates),
            )  # fmt: skip
            state.updates, state.since_shift = state.updates + made, state.since_shift + made
            stopped = state.clean < n and position < len(here) and state.updates >= max_updates
            previous, (_, state.total) = state.total, weights(p, eta, state.shift, balanced, lift)
            plane = state.w / state.total
            if trace is not None and made:
                used = d + int(lift)
                bound = largest_sum(p, balanced, lift) / state.updates
                trace.append(row, value / previous, before[:used], plane[:used], bound)
            passes = state.sweeps + math.ceil(position / n)
            yield Iterate(
                plane[:d] / scale, float(plane[d]), state.counts, state.clean >= n, state.updates, passes, searched=eta
            )  # fmt: skip
        state.sweeps += math.ceil(position / n)


def weights(p: Vector, eta: float, shift: float, balanced: bool, lift: float) -> tuple[Vector, float]:
    """The signed weights and the sum of all weights v, both times exp(-shift)."""
    d = len(p) - 1
    used, doubled = slice(0, d + int(lift)), slice(0 if balanced else d, d + int(lift))
    above, below = np.zeros(d + 1), np.zeros(d + 1)
    above[used] = np.exp(eta * p[used] - shift)
    below[doubled] = np.exp(-eta * p[doubled] - shift)
    return above - below, float(above.sum() + below.sum())


def largest_sum(p: Vector, balanced: bool, lift: float) -> float:
    """max_j p_j over all weights."""
    d = len(p) - 1
    largest = float(np.abs(p[:d]).max() if balanced else p[:d].max())
    return max(largest, abs(float(p[d]))) if lift else largest
