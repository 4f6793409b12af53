"""Both sides of the soft margin, from the raw data, in plain NumPy and with every rounding error accounted for.

    primal    P(w, b) = 1/2 |w|^2 + sum_i C_i loss(1 - y_i (w.x_i + b))          an upper bound of the optimum
    dual      D(t a') = t sum_i a'_i - t^2 / 2 (|w(a')|^2 + sum_i q_i a'_i^2)    a lower bound of it

a' is made of any weights 0 <= a_i <= u_i: with a bias, the class of the larger sum is scaled down until
sum_i a'_i y_i = 0, which keeps the box; then t is the best factor (t <= 1 where the box is finite). So a are
doubles, and t a' are the real numbers that they stand for. u_i = box C_i and q_i = bend / C_i: `problems.losses`.

Each value comes with an error that bounds how far it is from the real number; sums, products and quotients round by
at most u = 2^-53 of themselves, or by half of the least positive double where they are below the normal range
[higham2002]. A certificate states `upper` and `lower`, which are four errors away: whoever measures again, with the
additions in another order, finds a value that is more than one error inside the stated bound, and has it proven.

Where large numbers cancel, as they do in columns far from zero or in units of their own, the error of a sum can be
larger than the gap that is asked for. Then the sums that cancel are taken once more in long doubles, where the machine
has them: 64 bits or more instead of 53.

Both sides are sums over the blocks of the table (`passes`): no more than one of them need be in memory. How far a plane
and weights are from the conditions of optimality is measured from the same numbers (`soft_conditions`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.certificates.passes import (
    combination,
    length,
    lengths_of,
    loss_total,
    over_rows,
    power_below,
    rounding,
    row_shares,
    row_total,
    sizes_of,
    total,
    values_of,
)
from maxmargin.certificates.proof import KKT, Violation
from maxmargin.data.table import Vector
from maxmargin.problems.statement import SoftMargin

NEGLIGIBLE = 0.01  # of the gap that matters: a rounding error below this is not worth a finer bound
OUTWARDS = 4.0  # errors, from the computed value to the stated bound: 3 suffice, for errors of the same size
LONG = np.longdouble
LONGER = np.finfo(LONG).nmant in (63, 112)  # elsewhere it is a double, or no number of a fixed length
LEAST = math.ulp(0.0)
INSIDE = 1e-3  # of u_i: weights nearer to 0 or to u_i do not tell b
SMALLEST_BEND = 2.0**-1000  # below, what is added for what vanished would no longer be little
LIGHTEST = 2.0**-900  # of the heavier class: below, the quotient of the two would lose digits


@dataclass(frozen=True, eq=False)
class PrimalValue:
    """P(w, b) is within `error` of `value`, and what a row misses, 1 - y_i (w.x_i + b), within `slack_error`.

    Where float64 overflows, both are infinite.
    """

    value: float
    error: float
    missing: Vector
    slack_error: float

    @cached_property
    def slack(self) -> Vector:
        """xi_i = max(0, what row i misses)."""
        return np.maximum(0.0, self.missing)

    @cached_property
    def upper(self) -> float:
        """Surely at least P(w, b), and confirmed by whoever measures again."""
        return self.value + OUTWARDS * self.error


@dataclass(frozen=True, eq=False)
class DualValue:
    """D(t a') is within `error` of `value`; with t a' as factors of a, and w(t a').

    factors    of the rows with y = +1, of the rows with y = -1
    w_error    of |w(t a')|
    Where a proves nothing the value is 0, which a = 0 proves; both errors are infinite if that is float64's fault.
    """

    value: float
    error: float
    factors: tuple[float, float]
    w: Vector
    w_error: float

    @cached_property
    def lower(self) -> float:
        """Surely at most D, and confirmed by whoever measures again: never below what a = 0 proves."""
        return max(0.0, self.value - OUTWARDS * self.error)


def no_dual_value(n_columns: int, error: float = 0.0) -> DualValue:
    """a = 0."""
    return DualValue(0.0, error, (0.0, 0.0), np.zeros(n_columns), error)


def negligible(found: PrimalValue | DualValue, matters: float) -> bool:
    """Whether the error is far below the gap that matters, which is relative."""
    return OUTWARDS * found.error <= NEGLIGIBLE * matters * found.value


@np.errstate(over="ignore", invalid="ignore")
def primal_value(
    problem: SoftMargin, w: Vector, b: float, *, values: Vector | None = None, largest: float | None = None,
    matters: float = 0.0,
) -> PrimalValue:  # fmt: skip
    """P(w, b). `values` = X w, `largest` = max |x_ij| if they are known; `matters`: a relative gap to stay below."""
    table, signs = problem.table, problem.signs
    values = values_of(table, w) if values is None else values
    largest = table.largest if largest is None else largest
    terms = table.terms + 4
    # Each slack is within gamma (|w|.|x_i| + |b| + 1) of the real one; first with |w|_1 max|x| for all of them.
    bound = length(w, "l1") * largest + abs(b) + 1.0
    missing = values + b
    missing *= signs
    np.subtract(1.0, missing, out=missing)
    found = primal_from(problem, w, missing, 1.01 * rounding(terms) * bound)
    if not negligible(found, matters):
        sizes = sizes_of(table, np.abs(w)) + abs(b) + 1.0
        found = min(found, primal_from(problem, w, missing, 1.01 * rounding(terms) * sizes), key=error_of)
    if LONGER and not negligible(found, matters):
        missing = (1.0 - signs * (values_of(table, w.astype(LONG)) + b)).astype(np.float64)
        off = 1.01 * (rounding(terms, LONG) * sizes + rounding(1) * np.abs(missing))
        found = min(found, primal_from(problem, w, missing, off), key=error_of)
    return found


def primal_from(problem: SoftMargin, w: Vector, missing: Vector, off: Any) -> PrimalValue:
    """P where 1 - y_i (w.x_i + b) is within `off` of `missing`; rows that are surely beyond their edge pay nothing."""
    (square, in_square), (loss, in_loss) = total(w * w), loss_total(problem, missing)
    moved, half = float(loss_total(problem, missing, off).value), 0.5 * float(square)
    value, relative = half + float(loss), 2.0 * rounding(max(in_square, in_loss) + 8)
    error = (moved - float(loss)) + relative * (moved + half) + LEAST * (len(missing) + len(w))
    if not math.isfinite(value + error) or not np.isfinite(missing).all():
        return PrimalValue(math.inf, math.inf, missing, math.inf)
    return PrimalValue(value, error, missing, float(off.max() if isinstance(off, np.ndarray) else off))


def error_of(found: PrimalValue | DualValue) -> float:
    return found.error


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def dual_value(problem: SoftMargin, a: Vector, *, largest: float | None = None, matters: float = 0.0) -> DualValue:
    """D of the feasible point that the weights a make; 0 if they are outside their box or not finite."""
    if not (a.min(initial=0.0) >= 0.0 and a.max(initial=0.0) < math.inf and (a <= problem.upper).all()):
        return no_dual_value(problem.n_columns)
    largest = problem.table.largest if largest is None else largest
    found = dual_in(np.float64, problem, a, largest, matters)
    if LONGER and not negligible(found, matters):
        found = min(found, dual_in(LONG, problem, a, largest, matters), key=error_of)
    return found


def dual_in(number: Any, problem: SoftMargin, a: Vector, largest: float, matters: float) -> DualValue:
    """D, with the sums over the rows in this type of numbers.

    `scaled` is a', `gain` sum_i a'_i, `reach` |w(a')|, `bent` sum_i q_i a'_i^2, and `square` what t^2 / 2 multiplies.
    """
    table, signs = problem.table, problem.signs
    n, d = table.shape
    plus, weights = signs > 0, a.astype(number, copy=False)
    zero, one = number(0.0), number(1.0)
    positive, additions = row_total(table, lambda rows: np.where(plus[rows], weights[rows], zero))
    negative, _ = row_total(table, lambda rows: np.where(plus[rows], zero, weights[rows]))
    gain, scales = float(positive + negative), (one, one)
    if problem.fit_intercept:
        lighter, heavier = min(positive, negative), max(positive, negative)
        if not LIGHTEST * heavier < lighter < math.inf:
            return no_dual_value(d, 0.0 if lighter == 0.0 else math.inf)
        gain, scales = float(2.0 * lighter), (lighter / positive, lighter / negative)
    if not 0.0 < gain < math.inf:
        return no_dual_value(d, 0.0 if gain == 0.0 else math.inf)
    scaled, signed = np.empty((2, n), dtype=number)

    def scale(_: int, rows: slice) -> None:
        np.multiply(np.where(plus[rows], *scales), weights[rows], out=scaled[rows])
        np.multiply(signs[rows], scaled[rows], out=signed[rows])

    over_rows(table, scale)
    summed, passed = combination(table, signed)
    bent = 0.0
    if problem.loss.is_smooth:
        scaled += LEAST  # at least what was to be represented, where it vanished
        squares = row_total(table, lambda rows: scaled[rows] * (scaled[rows] / problem.costs[rows]))
        bent = problem.loss.bend * float(squares.value) + LEAST * (n + gain)
        if bent < SMALLEST_BEND:
            return no_dual_value(d, math.inf)
    w = summed.astype(np.float64, copy=False)
    unit = power_below(length(w, "max"))
    parts, in_square = total(np.square(w / unit))
    reach = unit * math.sqrt(parts)
    square = reach * reach + bent
    t = gain / square if square > 0.0 else 1.0
    t = min(1.0, t) if problem.loss.is_bounded else t
    value = t * (gain - 0.5 * t * square)
    # Now with errors: the weights, and the sum of each class, are within `share` of the real ones.
    share = 1.01 * rounding(passed + 3 * additions + 8, number)
    off = share * gain * largest * math.sqrt(table.terms)  # of |w(a')|: at least share sum_i a'_i |x_i|
    if not t * t * reach * off <= NEGLIGIBLE * matters * value:  # the rows' own lengths instead of the longest
        lengths = lengths_of(table, largest)
        finer = float(share * row_total(table, lambda rows: scaled[rows] * lengths[rows]).value * (1.0 + share))
        off = finer if finer <= off or not math.isfinite(off) else off
    off += LEAST * (n + 2) * (d + 2) * (1.0 + largest + gain)  # of what vanished below the least double
    share, off = share + rounding(4), off + rounding(4) * reach  # where long doubles were rounded to doubles
    relative = 2.0 * rounding(in_square + 8)
    farther = reach * (1.0 + relative) + off
    square_upper = (farther * farther + bent * (1.0 + 4.0 * share)) * (1.0 + relative) + 4.0 * LEAST
    least = t * (gain * (1.0 - 4.0 * share) - 0.5 * t * square_upper * (1.0 + relative) - 4.0 * LEAST)
    error = (value - least) * (1.0 + relative) + 4.0 * LEAST
    if not error <= 0.5 * value < math.inf:  # these numbers can hardly tell it from 0
        return no_dual_value(d, math.inf)
    plus_factor, minus_factor = (t * float(scale) for scale in scales)
    return DualValue(value, error, (plus_factor, minus_factor), t * w, t * off)


def soft_conditions(
    problem: SoftMargin,
    plane: tuple[Vector, float],
    a: Vector,
    primal: PrimalValue,
    dual: DualValue,
    values: Vector,
    inside: float = INSIDE,
) -> KKT:
    """The Karush-Kuhn-Tucker conditions at the plane and the feasible weights that a makes. values = X w."""
    (w, b), signs, costs = plane, problem.signs, problem.costs
    feasible = feasible_weights(dual, signs, a)
    total = float(a.sum())
    scale = max(length(w, "l2"), length(dual.w, "l2"))
    share = row_shares(problem, feasible, primal.slack, signs * (values + b)) / (primal.value or 1.0)
    worst = int(np.argmax(share))
    upper = problem.upper
    scale_of_a = upper if problem.loss.is_bounded else float(feasible.max(initial=0.0))
    telling = (feasible > inside * scale_of_a) & (feasible < (1.0 - inside) * upper)
    own = signs * (1.0 - problem.loss.bend * feasible / costs) - values
    spread = float(np.ptp(own[telling])) if problem.fit_intercept and np.any(telling) else 0.0
    imbalance = abs(float((signs * a).sum())) / total if problem.fit_intercept and total > 0.0 else 0.0
    return KKT(
        stationarity=Violation(length(w - dual.w, "l2") / scale if scale > 0.0 else 0.0),
        primal=Violation(0.0),
        dual=Violation(imbalance),
        slackness=Violation(float(share[worst]), worst),
        bias=Violation(spread),
    )


def feasible_weights(dual: DualValue, signs: Vector, a: Vector) -> Vector:
    """The feasible point t a' that the weights a of these rows make."""
    plus, minus = dual.factors
    return np.asarray(a * np.where(signs > 0, plus, minus))
