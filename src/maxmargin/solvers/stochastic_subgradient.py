"""Stochastic subgradient descent on the soft margin: one row at a time.

    primal    P(w, b) = 1/2 |w|^2 + C sum_i s_i max(0, 1 - y_i (w.x_i + b)),      s_i the weight of row i
              P / (n C) = lambda/2 |w|^2 + 1/n sum_i s_i max(0, ...),             lambda = 1 / (n C)
    step      visit t sees row i:    w <- w - eta_t (lambda w - s_i [y_i (w.x_i + b) < 1] y_i x_i)
                                     b <- b + min(eta_t, 1) s_i [y_i (w.x_i + b) < 1] y_i
    Pegasos   eta_t = 1 / (lambda t), so that w = 1 / (lambda t) times the sum of s_i y_i x_i over the violations so far
    damped    eta_t = 1 / (lambda t + s_i |x_i|^2): no step moves the value of its own row by more than 1
    stream    n is not known: it is t, the rows so far. Pegasos' w is then C times the sum, for every t: steps of length
              C (damped: 1 / (1/C + s_i |x_i|^2)), and nothing shrinks. 0 <= a_i <= C_i: a dual point of the rows so far
    ball      the best w has |w|^2 <= sum_i a_i <= sum_i C_i; with `project` each step ends on that ball or inside it
    dual      w = sum_i a_i y_i x_i. In Pegasos a_i = s_i n C (violations of row i) / t, and each sweep
              visits a row once, so that 0 <= a_i <= C_i after whole sweeps: a dual point, and a proof of the gap

Nothing pulls b back, and the first steps of Pegasos are n C long: so a row moves b by no more than 1, the distance from
the plane to an edge of the street. Damped steps of a stream do not fall with t, and a step of b moves the values of all
rows: there it is no longer than 1 / sqrt(t). The mean of w over the visits, later ones counting more (weight t),
converges like the last w without the logarithm in its bound [lacoste2012].

Shrinking w costs nothing: w = scale v, and only the scale shrinks. The mean costs nothing either: with
M = sum_t t scale_t so far (`mass`), sum_t t w_t = M v - u, where u (`v_lag`) collects M step x_i whenever v moves by
step x_i.
When the scale has become too small for v, or zero as in the first step of Pegasos, or would by being taken back to the
ball from far away, it is multiplied into v, and the sum so far into u. The same holds for the a_i.

With a kernel v is the plane's values on all rows (`kernel_memory`), and w its coefficients a_i.

Cost: a sweep reads every row once. The gap falls like 1 / (lambda T): good for a few digits.
Reference: [shalev2011], Figure 1 with k = 1, and section 4 for kernels. Differs: rows come in shuffled sweeps; the bias
is learnt by the same rule and is not regularised; damped steps, and those of a stream, are our own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import njit, numbers_per_call, touch
from maxmargin.data.executor import check_interrupt
from maxmargin.data.table import Vector, is_sparse, row_squares, rows_of
from maxmargin.problems.descent import NO_NUMBERS, Descent, Position
from maxmargin.problems.protocol import Iterate, Iterates, Run, State, varying
from maxmargin.problems.statement import KernelMargin, SoftMargin
from maxmargin.problems.step_lengths import DAMPED, PEGASOS, inverse_scaling
from maxmargin.problems.trace import UpdateObserver
from maxmargin.solvers.mistakes.kernel_memory import KernelMemory, expect, inner, is_ready, move

NUMBERS_PER_CALL = 20_000_000  # a compiled call cannot be interrupted: it reads at most so many numbers
PRODUCTS_PER_CALL = 2_000_000_000  # of numbers, in making rows of a kernel
VISITS_PER_CALL = 4096  # at least, over several sweeps of a small table
AHEAD = 2  # rows: the memory is asked for a row this long before it is visited, for its other numbers twice as long
SMALLEST_SCALE = 1e-4  # below, or where a step is as much longer than the ball, too many digits would cancel in M v - u
LONGEST_STEP_OF_B = 1.0

Step = str | float | Callable[[int], float]


class Table(NamedTuple):
    """Rows (or their kernel), y_i, s_i, and |x_i|^2 if they are needed."""

    rows: Any
    signs: Any
    weights: Any
    squares: Any


class Rule(NamedTuple):
    """`lift` is 1 with a bias, 0 without; `radius` is infinite where nothing is projected."""

    lam: float
    lift: float
    radius: float
    damped: bool = False


class Steps(NamedTuple):
    """For each visit: eta before it is damped, and the longest step of b."""

    etas: Any
    longest_of_b: Any


class Lagging(NamedTuple):
    """v, a, and the u of either, which their means need (empty where there is no mean)."""

    v: Any
    a: Any
    v_lag: Any
    a_lag: Any


@njit
def fold(values: Any, lag: Any, scale: float, mass: float) -> None:
    """The scale into the values, the sum so far into the lag."""
    for j in range(lag.shape[0]):
        lag[j] -= mass * values[j]
    for j in range(values.shape[0]):
        values[j] *= scale


@njit
def descend(table: Any, rule: Any, plane: Any, position: Any, order: Any, start: int, steps: Any) -> Any:
    """Visit order[start:], with a step of length etas[k] at order[k], as long as the rows that are needed are ready.

    Returns the next place in the order, the number of violations, the loss that was met, and the new position.
    """
    rows, signs, weights, squares = table
    lam, lift, radius, damped = rule
    etas, longest_of_b = steps
    v, a, v_lag, a_lag = plane
    scale, mass, b, b_lag, square, visits, weight = position
    projected, violations, loss, k = radius < np.inf, 0, 0.0, start
    while k < order.shape[0]:
        i = order[k]
        if k + 2 * AHEAD < order.shape[0]:
            touch(signs, order[k + 2 * AHEAD])
            touch(a, order[k + 2 * AHEAD])
            expect(rows, order[k + AHEAD])
        product = inner(rows, i, v)
        missing = 1.0 - signs[i] * (scale * product + b)
        violated = missing > 0.0
        if violated and not is_ready(rows, i):
            break
        eta = etas[k]
        if damped:
            eta /= 1.0 + eta * weights[i] * squares[i]
        scale *= 1.0 - eta * lam
        push = eta * weights[i] if violated else 0.0
        far = projected and push * SMALLEST_SCALE * np.sqrt(squares[i]) > radius  # and soon taken back to the ball
        if abs(scale) < SMALLEST_SCALE or far:
            fold(v, v_lag, scale, mass)
            fold(a, a_lag, scale, mass)
            product *= scale
            square *= scale * scale
            scale, mass = 1.0, 0.0
        if violated:
            step = push * signs[i] / scale
            move(rows, i, step, v)
            a[i] += push / scale
            if v_lag.shape[0] > 0:
                move(rows, i, step * mass, v_lag)
            if a_lag.shape[0] > 0:
                a_lag[i] += push / scale * mass
            shift = lift * min(eta, longest_of_b[k]) * weights[i] * signs[i]
            b += shift
            b_lag += shift * weight
            if projected:
                square += step * (2.0 * product + step * squares[i])
            violations += 1
            loss += weights[i] * missing
        if projected and scale * scale * square > radius * radius:
            scale *= radius / (abs(scale) * np.sqrt(square))
        visits += 1.0
        mass += visits * scale
        weight += visits
        k += 1
    return k, violations, loss, Position(scale, mass, b, b_lag, square, visits, weight)


@dataclass(eq=False)
class SubgradientState(State):
    """The run as it stands, the visits before it went on here, and the sum of the losses that were met since."""

    run: Descent = varying(lasting=True)
    before: int = varying()
    loss: float = varying(0.0)
    memory: KernelMemory | None = varying(None)


def stochastic_subgradient(
    problem: SoftMargin,
    run: Descent,
    *,
    step: Step = PEGASOS,
    seed: int | None = None,
    max_sweeps: int = 2**62,
    trace: UpdateObserver | None = None,
    grows: bool = False,
) -> Run:
    """Go on with the run for at most so many sweeps; an iterate after each sweep, or after some of a small table.

    `grows`: these rows go on a stream of unknown length; `run.n_rows` counts those that came so far, and these.

    Without a seed the rows are visited as they lie; with one, sweep number k has an order of its own, the same in
    every run. No iterate proposes. With a kernel it has no w: the `a` are all there is. `loss` is the mean of
    s_i max(0, 1 - y_i (w.x_i + b)) over the visits so far, each with the plane as it was before its step. A trace sees
    visits, each with y_i (w.x_i + b), as updates.
    """
    if run.average and len(run.v_lag) + len(run.a_lag) == 0:
        run.begin_mean()
    state = SubgradientState(run, run.visits)
    return Run(state, steps(problem, state, step, seed, run.sweeps + max_sweeps, trace, grows))


def steps(
    problem: SoftMargin,
    state: SubgradientState,
    step: Step,
    seed: int | None,
    last: int,
    trace: UpdateObserver | None,
    grows: bool,
) -> Iterates:
    """Up to sweep number `last`."""
    check_interrupt()
    run, n = state.run, problem.n_rows
    table, rule, memory = prepare(problem, run, damped=step == DAMPED)
    if grows and step in (PEGASOS, DAMPED):
        step, rule = run.C, rule._replace(lam=0.0)
    per_row = problem.X.nnz / max(1, n) if is_sparse(problem.X) else problem.n_columns
    visits_per_call = max(1, int(numbers_per_call(NUMBERS_PER_CALL) / max(1, per_row)))
    if memory is not None:  # a visit adds a row of the kernel, which may have to be made
        visits_per_call = max(1, int(min(numbers_per_call(NUMBERS_PER_CALL), PRODUCTS_PER_CALL / max(1, per_row)) / n))
        state.memory = memory
    while n > 0 and run.sweeps < last:
        yield None
        sweeps = range(run.sweeps, min(last, run.sweeps + max(1, VISITS_PER_CALL // n)))
        order = np.concatenate([order_of(n, seed, sweep) for sweep in sweeps])
        for start in range(0, len(order), visits_per_call):
            visiting = order[start : start + visits_per_call]
            state.loss += visit(table, rule, run, memory, visiting, step, trace)
            whole = start + len(visiting) == len(order)
            run.sweeps += len(sweeps) if whole else 0
            w = run.w if memory is None else NO_NUMBERS
            loss = state.loss / (run.visits - state.before)
            yield Iterate(w, run.b, run.dual, False, run.violations, run.sweeps, loss=loss)


def prepare(problem: SoftMargin, run: Descent, *, damped: bool = False) -> tuple[Table, Rule, KernelMemory | None]:
    """What `visit` needs to go on with a run on these rows; the memory is for rows of a kernel."""
    memory = KernelMemory(problem.kernel, problem.points) if isinstance(problem, KernelMargin) else None
    squares = NO_NUMBERS
    if damped or run.radius < math.inf:
        with np.errstate(over="ignore"):
            squares = row_squares(problem.X) if memory is None else memory.kernel.diagonal(memory.points)
    table = Table(rows_of(problem.X) if memory is None else memory.rows, problem.signs, problem.costs / run.C, squares)
    return table, Rule(run.lam, 1.0 if problem.fit_intercept else 0.0, run.radius, damped), memory


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def visit(
    table: Table,
    rule: Rule,
    run: Descent,
    memory: KernelMemory | None,
    order: Any,
    step: Step,
    trace: UpdateObserver | None = None,
) -> float:
    """Visit these rows, and make the rows of the kernel that are missing on the way; returns the loss that was met."""
    t = np.arange(run.visits + 1, run.visits + 1 + len(order), dtype=np.float64)
    longest_of_b = 1.0 / np.sqrt(t) if rule.damped else np.full(len(order), LONGEST_STEP_OF_B)
    lengths = Steps(step_lengths(step, rule.lam, run.visits + 1, len(order)), longest_of_b)
    plane, done, met = Lagging(run.v, run.a, run.v_lag, run.a_lag), 0, 0.0
    if rule.radius < math.inf:  # summed anew: what rounding did to it is gone
        square = np.sum(run.v * run.v) if memory is None else np.sum(run.a * table.signs * run.v)
        run.position = run.position._replace(square=max(0.0, float(square)))
    try:
        while True:
            begun, end = done, len(order) if trace is None else min(len(order), done + max(1, trace.until_next))
            before = None if trace is None or trace.until_next else shown_to_trace(table, run, order[done])
            done, violations, loss, run.position = descend(table, rule, plane, run.position, order[:end], done, lengths)
            run.violations += int(violations)
            met += float(loss)
            if trace is not None and done > begun:
                if before is None:
                    trace.skip(done - begun)
                else:
                    after, _ = shown_to_trace(table, run, order[begun])
                    trace.append(int(order[begun]), before[1], before[0], after, math.nan, run.position.scale * run.a)
            if done == len(order):
                break
            if done == end:
                continue
            assert memory is not None
            coming = order[done:]
            values = table.signs[coming] * (run.position.scale * run.v[coming] + run.position.b)
            memory.fetch(int(order[done]), coming[values < 1.0])
    finally:  # where the clock ends the work, too, the run can go on from here
        run.visits += done
    if not all(np.all(np.isfinite(part)) for part in (run.position.scale * run.v, *plane, run.position)):
        what = "|w|^2 is" if math.isfinite(rule.radius) else "the weights are"
        raise ValueError(
            f"the steps are too long: after {run.visits} visits {what} beyond what float64 can hold. Keep "
            f"step * lambda below 1, with lambda = 1 / (rows * C) = {run.lam:.3g} here, or scale the columns of X"
        )
    return met


def shown_to_trace(table: Table, run: Descent, i: int) -> tuple[Vector, float]:
    """The last plane, its bias as the last entry (with a kernel: the coefficients), and y (w.x + b) of a row."""
    scale, b = run.position.scale, run.position.b
    weights = scale * (run.a * table.signs if run.has_kernel else run.v)
    return np.append(weights, b), float(table.signs[i] * (scale * inner(table.rows, i, run.v) + b))


def order_of(n: int, seed: int | None, sweep: int) -> NDArray[np.intp]:
    """The rows in the order in which this sweep visits them."""
    return np.arange(n) if seed is None else np.random.default_rng((seed, sweep)).permutation(n)


def step_lengths(step: Step, lam: float, first: int, count: int) -> Vector:
    """eta_t for t = first, first + 1, ..., before it is damped."""
    if isinstance(step, str):
        visits, scaling = np.arange(first, first + count, dtype=np.float64), inverse_scaling(step)
        return np.asarray(1.0 / (lam * visits) if scaling is None else scaling.first / visits**scaling.power)
    if not callable(step):
        return np.full(count, float(step))
    etas = np.array([float(step(t)) for t in range(first, first + count)])
    wrong = ~((etas >= 0.0) & (etas < math.inf))
    if np.any(wrong):
        t = int(np.argmax(wrong))
        raise ValueError(f"step({first + t}) is {etas[t]}: the length of a step must be a finite number, not negative")
    return etas
