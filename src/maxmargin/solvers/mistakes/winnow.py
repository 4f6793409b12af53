"""Winnow: learning by mistakes with multiplicative weights.

    rows      z_i = y_i (x_i / s, 1) with s = max |x_ij|: no entry exceeds 1 (without a bias: y_i x_i / s)
    weights   v = 1 at the start, two for each coordinate, (z, -z): their difference w is signed (balanced);
              unbalanced, a column has one weight, so that w >= 0, and only the bias has two
    step      a row with w.z_i <= 0 is a mistake:  v_j <- v_j exp(eta z_ij),  exp(-eta) = 1 - epsilon
    ends      when every row has been visited since the last mistake (`driver`)

    margin    g = max_w min_i w.z_i / |w|_1, for which the bias is a weight like the others
    dual      p = sum of the z_i over all M mistakes:  g <= max_j p_j / M, j over all weights (|p|_inf / M)
    link      v_j = exp(eta p_j), so that p is all there is to keep

A bound that is proven, for m weights. Phi = sum v is m at the start. A mistake has entries in [-1, 1] and,
under the weights v / Phi, a mean w.z_i <= 0: by Hoeffding's lemma Phi grows by a factor <= exp(eta^2 / 2).

    eta M g  <=  eta max_j p_j  <=  ln Phi  <=  ln m + M eta^2 / 2                                         (*)

    one run   M <= ln(m) / (eta (g - eta/2)) if eta < 2 g; the least is 2 ln(m) / g^2, for eta = g
    search    eta = ln 2 (epsilon = 1/2). A run may make 2 ln(m) / eta^2 mistakes; if it finds one more, then
              g < eta by (*): eta <- eta / 2, and start anew. So the last run has eta > g / 2, and all runs
              make at most 2 ln(m) / eta^2 (1 + 1/4 + 1/16 + ...) < (32/3) ln(m) / g^2 mistakes
    usual     (16/3) ln(m) / g^2 for one run with epsilon = (3/4) g, where terms of order epsilon are dropped

Where p changes, the weights are computed anew from it; a factor common to all keeps them from overflowing.
What float64 cannot tell from zero counts as a mistake, so that a plane that is proposed has every row on its side.

Normalised rows are z_i = y_i (x_i, 1) / max(1, max_j |x_ij|), each with its own scale, and g is the margin of these.

Cost: a sweep reads every row once; a mistake costs two exponentials for each nonzero of its row.
Reference: [littlestone1988], [arora2012].  Differs: one scale for the whole table; p is kept instead of v.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import is_record, njit, numbers_per_call, overload
from maxmargin.data.table import DenseRows, Vector, largest_magnitude, rows_of
from maxmargin.problems.choices import Order
from maxmargin.problems.protocol import Iterate, Run, varying
from maxmargin.problems.statement import Separation
from maxmargin.problems.trace import UpdateObserver
from maxmargin.solvers.mistakes.driver import (
    UNLIMITED,
    Budget,
    Learner,
    MistakeState,
    SearchState,
    Visits,
    learn,
    scaled_signs,
    shrinking,
)
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
    return is_record(rows, DenseRows)


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
    at_random: bool,
    p: Any,
    w: Any,
    counts: Any,
    clean: int,
    max_updates: int,
) -> Any:
    """Visit the rows order[start:] until every row is clean, or a mistake is one too many.

    Returns (next position, updates, clean: visits since the last mistake, row of the last mistake, its w.z).
    """
    n_columns = w.shape[0] - 1
    updates, row, violation = 0, -1, 0.0
    for k in range(start, order.shape[0]):
        if at_random and k % signs.shape[0] == 0:
            clean = 0  # n visits over the end of one order and the start of another may miss a row
        i = order[k]
        along, size = dot_and_size(rows, i, w)
        bias = lift * w[n_columns]
        value = signs[i] * (along / scale + bias)
        if value > doubt * (size / scale + abs(bias)) * abs(signs[i]):
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


@dataclass(eq=False, kw_only=True)
class WinnowState(MistakeState):
    """The exponents p, and their weights w times exp(-shift) with the sum of all."""

    p: Vector = varying()
    w: Vector = varying()
    total: float = varying()
    shift: float = varying(0.0)
    since_shift: int = varying(0)
    sweeps_at_once: int = varying(1)


class WinnowRule(Learner):
    """With one eta; balanced or not. `scale` is s, where these are not all rows."""

    state: WinnowState

    def __init__(
        self,
        problem: Separation,
        state: WinnowState,
        eta: float,
        balanced: bool,
        order: Order,
        scale: float | None = None,
    ) -> None:
        n, d = problem.X.shape
        self.problem, self.state, self.eta, self.balanced, self.order = problem, state, eta, balanced, order
        self.lift = 1.0 if problem.fit_intercept else 0.0
        self.scale = 1.0 if problem.normalized else scale or largest_magnitude(problem.X) or 1.0
        self.signs = scaled_signs(problem)
        self.doubt = (d + 8) * 2.0**-52
        self.rows = rows_of(problem.X)
        width = ROW_OVERHEAD + (problem.X.data if hasattr(problem.X, "indptr") else problem.X).size // n
        self.visits_per_call = max(1, numbers_per_call(NUMBERS_PER_CALL) // width)
        self.updates_at_most = max(1, numbers_per_call(CHANGES_PER_CALL) // width)
        self.until_shift = max(1, int(EXPONENT_RANGE / 2.0 / eta))

    def begin_order(self) -> None:
        """Twice as many sweeps at once as before."""
        self.sweeps_at_once = self.state.sweeps_at_once
        self.state.sweeps_at_once = min(2 * self.sweeps_at_once, self.visits_per_call // self.problem.n_rows)

    def worst_first(self) -> NDArray[np.intp]:
        w = self.state.w
        values = self.signs * (values_of(self.problem.X, w) / self.scale + self.lift * w[-1])
        worst = int(np.argmin(values))
        return np.array([worst]) if values[worst] <= 0.0 else np.arange(self.problem.n_rows)

    def begin_call(self) -> None:
        """Another common factor, before the weights overflow; after so many updates, however they are called for."""
        state = self.state
        if state.since_shift >= self.until_shift:
            state.shift, state.since_shift = self.eta * largest_sum(state.p, self.balanced, self.lift), 0
            state.w, state.total = weights_of(state.p, self.eta, state.shift, self.balanced, self.lift)
        self.updates_per_call = min(self.updates_at_most, self.until_shift - state.since_shift)

    def visit(self, order: NDArray[np.intp], start: int, most: int) -> Visits:
        state, before, at_random = self.state, self.state.total, self.order in (Order.SHUFFLED, Order.DRAWN)
        position, updates, clean, row, value = visit(
            self.rows, self.signs, order, start, self.scale, self.lift, self.eta, state.shift, self.balanced,
            self.doubt, at_random, state.p, state.w, state.counts, state.clean, most,
        )  # fmt: skip
        state.since_shift += updates
        _, state.total = weights_of(state.p, self.eta, state.shift, self.balanced, self.lift)
        is_full = clean < self.problem.n_rows and position < len(order)
        return Visits(position, updates, clean, is_full, row, value / before)

    def weights(self) -> Vector:
        return self.state.w[: self.problem.n_columns + int(self.lift)] / self.state.total

    def bound(self) -> float:
        return largest_sum(self.state.p, self.balanced, self.lift) / self.state.updates

    def iterate(self, proposes: bool, sweeps: int) -> Iterate:
        state, plane = self.state, self.state.w / self.state.total
        w, b = plane[:-1] / self.scale, float(plane[-1])
        a = state.counts * np.abs(self.signs) if self.problem.normalized else state.counts
        return Iterate(w, b, a, proposes, state.updates, sweeps, searched=self.eta)


def winnow(
    problem: Separation,
    *,
    epsilon: float | None = None,
    balanced: bool = True,
    order: Order = Order.CYCLIC,
    seed: int = 0,
    max_updates: int = UNLIMITED,
    max_sweeps: int = UNLIMITED,
    trace: UpdateObserver | None = None,
) -> Run:
    """Iterates with all updates counted; one proposes when no row is a mistake. epsilon=None searches.

    `a` counts the mistakes of the current run; it is the solver's own and changes when it goes on. The trace
    has the signed weights for the z_i, divided by the sum of all weights, and the bound max_j p_j / M.
    """
    if epsilon is not None and not 0.0 < epsilon <= LARGEST_EPSILON:
        raise ValueError(f"epsilon must be in (0, {LARGEST_EPSILON}], got {epsilon}")
    log_weights = math.log(max(2, n_weights(problem, balanced)))

    def phase(eta: float, left: Budget) -> Run:
        allowed = min(2.0 * log_weights / eta**2, UNLIMITED) if epsilon is None else UNLIMITED
        state = start(problem, eta, balanced, seed)
        if trace is not None:
            trace.begin_phase(-math.expm1(-eta))
        rule = functools.partial(WinnowRule, problem, state, eta, balanced, order)
        return Run(state, learn(rule, left._replace(updates=min(math.floor(allowed), left.updates)), trace))

    search = SearchState(-math.log1p(-(LARGEST_EPSILON if epsilon is None else epsilon)))
    return Run(search, shrinking(search, Budget(max_updates, max_sweeps), phase))


def n_weights(problem: Separation, balanced: bool = True) -> int:
    """m: two weights a column or, unbalanced, one; and two for the bias."""
    return (2 if balanced else 1) * problem.n_columns + (2 if problem.fit_intercept else 0)


def start(problem: Separation, eta: float, balanced: bool, seed: int) -> WinnowState:
    n, d = problem.X.shape
    p = np.zeros(d + 1)
    w, total = weights_of(p, eta, 0.0, balanced, 1.0 if problem.fit_intercept else 0.0)
    return WinnowState(counts=np.zeros(n), random=np.random.default_rng(seed), p=p, w=w, total=total)


def weights_of(p: Vector, eta: float, shift: float, balanced: bool, lift: float) -> tuple[Vector, float]:
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
