"""Both sides of many small soft margins at once, as `duality` measures one: from the data, with every rounding error.

    primal    P_k(w, b) = 1/2 |w|^2 + sum_i C_i loss(1 - y_i (w.x_i + b))
    dual      D_k(t a') = t sum_i a'_i - t^2 / 2 (|w(a')|^2 + sum_i q_i a'_i^2)

over the rows i of problem k, which stand one after the other (`problems.many_margins`). A sum over a problem is within
gamma_n of the sum of its magnitudes, n the number of its rows, in whatever order its rows are added [higham2002].
(Roundings are counted so that no error is smaller than the one that `duality` finds for the same claim.)
These are the coarse bounds of `duality`, made for rows that are near to zero: where they leave a gap open, the problem
is to be measured by itself, with the finer ones.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.duality import INSIDE, LEAST, LIGHTEST, NEGLIGIBLE, OUTWARDS, SMALLEST_BEND
from maxmargin.certificates.passes import (
    WIDTH,
    combination_of_each,
    losses_of,
    rounding,
    row_shares,
    values_of_each,
)
from maxmargin.certificates.proof import KKT, Violation
from maxmargin.data.table import Vector
from maxmargin.problems.many_margins import ManyMargins

NO_WEIGHT = Violation(0.0)


class PrimalValues(NamedTuple):
    """P of each problem is within `error` of `value`; what each row misses, and X w."""

    value: Vector
    error: Vector
    missing: Vector
    values: Vector

    @property
    def upper(self) -> Vector:
        """Surely at least P, and confirmed by whoever measures again; NaN or infinite where float64 overflows."""
        return self.value + OUTWARDS * self.error


class DualValues(NamedTuple):
    """D of each problem is within `error` of `value`, at the feasible weights t a' of the rows, and w(t a')."""

    value: Vector
    error: Vector
    feasible: Vector
    w: NDArray[np.float64]

    @property
    def lower(self) -> Vector:
        """Surely at most D, and confirmed by whoever measures again; 0 is what no weights prove."""
        lower = self.value - OUTWARDS * self.error
        return np.where(lower > 0.0, lower, 0.0)


def roundings(terms: NDArray[np.int64]) -> Vector:
    """gamma_k of each of these numbers k."""
    shares = terms * 2.0**-53
    return shares / (1.0 - shares)


def sums(many: ManyMargins, values: NDArray[Any]) -> Any:
    """The sum over the rows of each problem."""
    return np.add.reduceat(values, many.edges[:-1], axis=0)


@np.errstate(over="ignore", invalid="ignore")
def primal_values(many: ManyMargins, w: NDArray[np.float64], b: Vector) -> PrimalValues:
    """P of a plane for each problem."""
    d, counts = many.X.shape[1], many.counts
    values = values_of_each(many.X, many.spans, w)
    # Each slack is within gamma (|w|.|x_i| + |b| + 1) of the real one.
    off = 1.01 * rounding(d + 4) * (np.abs(w).sum(axis=1) * many.largest + np.abs(b) + 1.0)
    missing = 1.0 - many.signs * (values + many.of_rows(b))
    loss = sums(many, losses_of(many.loss, many.costs, missing))
    moved = sums(many, losses_of(many.loss, many.costs, missing, many.of_rows(off)))
    half = 0.5 * np.einsum("ij,ij->i", w, w)
    relative = 2.0 * roundings(np.maximum(d, counts) + 2 * WIDTH + 9)
    error = (moved - loss) + relative * (moved + half) + LEAST * (counts + d)
    return PrimalValues(half + loss, error, missing, values)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def dual_values(many: ManyMargins, a: Vector) -> DualValues:
    """D of the feasible point that the weights make in each problem; NaN where they are outside their box."""
    d, counts = many.X.shape[1], many.counts
    inside = (a >= 0.0) & (a <= many.upper)
    plus = many.signs > 0.0
    positive, negative = sums(many, np.where(plus, a, 0.0)), sums(many, np.where(plus, 0.0, a))
    gain, up, down = positive + negative, np.ones(len(many)), np.ones(len(many))
    proves = np.logical_and.reduceat(inside, many.edges[:-1])
    if many.fit_intercept:
        lighter, heavier = np.minimum(positive, negative), np.maximum(positive, negative)
        gain, up, down = 2.0 * lighter, lighter / positive, lighter / negative
        proves &= lighter > LIGHTEST * heavier
    proves &= (gain > LIGHTEST) & (gain < math.inf)
    feasible = np.where(plus, many.of_rows(up), many.of_rows(down)) * a
    w = combination_of_each(many.X, many.spans, many.signs * feasible)
    square, bend = np.einsum("ij,ij->i", w, w), np.zeros(len(many))
    reach = np.sqrt(square)
    if many.loss.is_smooth:
        bent = feasible + LEAST  # at least what was to be represented, where it vanished
        bend = many.loss.bend * sums(many, bent * (bent / many.costs)) + LEAST * (counts + gain)
        proves &= bend >= SMALLEST_BEND
        square += bend
    t = gain / np.where(square > 0.0, square, gain)  # the best factor: at most 1 where the box is finite
    t = np.minimum(1.0, t) if many.loss.is_bounded else t
    value = t * (gain - 0.5 * t * square)
    # Now with errors: the weights, and the sum of each class, are within `share` of the real ones.
    share = 1.01 * roundings(4 * counts + 6 * WIDTH + 16)
    off = share * gain * many.largest * math.sqrt(d)  # of |w(a')|: at least share sum_i a'_i |x_i|
    off += LEAST * (counts + 2) * (d + 2) * (1.0 + many.largest + gain)  # of what vanished below the least double
    share, off = share + rounding(4), off + rounding(4) * reach
    relative = 2.0 * rounding(d + 2 * WIDTH + 9)
    farther = reach * (1.0 + relative) + off
    square_upper = (farther * farther + bend * (1.0 + 4.0 * share)) * (1.0 + relative) + LEAST * (d + 4)
    least = t * (gain * (1.0 - 4.0 * share) - 0.5 * t * square_upper * (1.0 + relative) - 4.0 * LEAST)
    error = (value - least) * (1.0 + relative) + 4.0 * LEAST
    proves &= (error <= 0.5 * value) & (value < math.inf)
    return DualValues(np.where(proves, value, np.nan), error, many.of_rows(t) * feasible, t[:, None] * w)


def are_negligible(primal: PrimalValues, dual: DualValues, matters: float) -> NDArray[np.bool_]:
    """Of which problems both errors are far below the gap that matters: `duality` takes no finer sums for them."""
    return np.logical_and(*(OUTWARDS * one.error <= NEGLIGIBLE * matters * one.value for one in (primal, dual)))


@np.errstate(over="ignore", invalid="ignore")
def many_conditions(
    many: ManyMargins, w: NDArray[np.float64], a: Vector, primal: PrimalValues, dual: DualValues
) -> list[KKT]:
    """The conditions of optimality of each problem (`soft_margin.soft_conditions`); rows as the user numbers them."""
    begins, upper = many.edges[:-1], many.upper
    total = sums(many, a)
    imbalance = np.abs(sums(many, many.signs * a)) / np.where(total > 0.0, total, 1.0)
    lengths = [np.sqrt(np.einsum("ij,ij->i", v, v)) for v in (w, dual.w, w - dual.w)]
    scale = np.maximum(lengths[0], lengths[1])
    stationarity = lengths[2] / np.where(scale > 0.0, scale, 1.0)
    share = row_shares(many, dual.feasible, np.maximum(0.0, primal.missing), 1.0 - primal.missing)
    share /= many.of_rows(np.where(primal.value > 0.0, primal.value, 1.0))
    share[np.isnan(share)] = np.inf  # of a problem of which nothing is proven
    most = np.maximum.reduceat(share, begins)
    reached = np.flatnonzero(share == many.of_rows(most))
    worst = many.rows[reached[np.searchsorted(reached, begins)]]
    spread = np.zeros(len(many))
    if many.fit_intercept:
        largest = upper if many.loss.is_bounded else many.of_rows(np.maximum.reduceat(dual.feasible, begins))
        telling = (dual.feasible > INSIDE * largest) & (dual.feasible < (1.0 - INSIDE) * upper)
        own = many.signs * (1.0 - many.loss.bend * dual.feasible / many.costs) - primal.values
        highest = np.maximum.reduceat(np.where(telling, own, -np.inf), begins)
        lowest = np.minimum.reduceat(np.where(telling, own, np.inf), begins)
        spread = np.where(highest >= lowest, highest - lowest, 0.0)
    else:
        imbalance = np.zeros(len(many))
    figures = (stationarity.tolist(), imbalance.tolist(), most.tolist(), worst.tolist(), spread.tolist())
    return [
        KKT(Violation(first), NO_WEIGHT, Violation(second), Violation(third, row), Violation(last))
        for first, second, third, row, last in zip(*figures, strict=True)
    ]
