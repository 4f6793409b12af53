"""The two values of the soft margin in exact rational arithmetic.

    P(w, b) = 1/2 |w|^2 + sum_i C_i loss(1 - y_i (w.x_i + b))
    D = max_t  t sum_i a'_i - t^2 / 2 (|w(a')|^2 + sum_i q_i a'_i^2)

with a' as in `duality`: the class of the larger sum scaled down, t <= 1 where the box is finite. All numbers are
doubles, so integers times powers of two; the two classes are summed apart, in integers, and scaled by fractions in the
end.

The one exception: q_i = bend / C_i is no such number. Where a quotient a_i^2 / C_i does not come out even, it is
rounded up behind its 300th bit; D is then smaller by that little, and still proven.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.exact_linear_algebra import (
    EXACT_BLOCK,
    Integers,
    Rows,
    common_integers,
    dyadic,
    mantissas_and_exponents,
    power_of_two,
    weighted_sum,
)
from maxmargin.certificates.passes import chosen_rows
from maxmargin.data.table import Vector, is_sparse
from maxmargin.problems.losses import Loss

QUOTIENT_BITS = 300


def primal_value(X: Rows, signs: Vector, costs: Vector, w: Vector, b: float, loss: Loss) -> Fraction:
    """P(w, b).

    >>> from maxmargin.problems.losses import HINGE
    >>> X, signs, costs = np.array([[0.0], [3.0]]), np.array([-1.0, 1.0]), np.array([10.0, 10.0])
    >>> primal_value(X, signs, costs, np.array([0.5]), -0.75, HINGE)
    Fraction(41, 8)
    """
    plane, unit = integers_of(np.append(w, b))
    value = Fraction(int(sum(plane[:-1] * plane[:-1]))) * power_of_two(2 * unit) / 2
    prices, price_unit = integers_of(costs)
    for rows, part in chosen_rows(X, np.arange(X.shape[0]), EXACT_BLOCK):
        products, shared = products_with(part, plane[:-1])
        # 1 - y (w.x + b), all in units of 2^least
        exponent = shared + unit
        least = min(exponent, unit, 0)
        reached = (products << (exponent - least)) + (int(plane[-1]) << (unit - least))
        slack = (1 << -least) - np.where(signs[rows] > 0, reached, -reached)
        slack = np.where(slack > 0, slack, 0)
        value += losses(loss, prices[rows], slack, power_of_two(least)) * power_of_two(price_unit)
    return value


def losses(loss: Loss, prices: Integers, slack: Integers, unit: Fraction) -> Fraction:
    """sum of prices times losses; the slack, which is not negative, in this unit.

    Before the knee t^2 / (2 bend), beyond it box t - box knee / 2: the same at the knee.
    """
    value, straight = Fraction(0), np.full(len(slack), not loss.is_smooth)
    if loss.is_smooth and loss.is_bounded:
        straight = slack > math.floor(knee_of(loss) / unit)
    if loss.is_smooth:
        before = ~straight
        squares = int(sum(prices[before] * slack[before] * slack[before]))
        value += squares * unit * unit / (2 * Fraction(loss.bend))
    if loss.is_bounded:
        own = prices[straight]
        amount = int(sum(own * slack[straight])) * unit
        value += Fraction(loss.box) * (amount - int(sum(own)) * knee_of(loss) / 2)
    return value


def knee_of(loss: Loss) -> Fraction:
    return Fraction(loss.box) * Fraction(loss.bend)


def is_within(a: Vector, costs: Vector, loss: Loss) -> bool:
    """Whether 0 <= a_i <= box C_i, all of them finite."""
    if not np.all((a >= 0.0) & np.isfinite(a)):
        return False
    if not loss.is_bounded:
        return True
    doubtful = np.flatnonzero(a > loss.bounds(costs))
    return all(Fraction(float(a[i])) <= Fraction(loss.box) * Fraction(float(costs[i])) for i in doubtful)


def dual_value(X: Rows, signs: Vector, costs: Vector, a: Vector, fit_intercept: bool, loss: Loss) -> Fraction:
    """D of the feasible point that a makes; a = 0, which proves 0, if a is outside its box.

    >>> from maxmargin.problems.losses import HINGE
    >>> X, signs, costs = np.array([[0.0], [3.0]]), np.array([-1.0, 1.0]), np.array([10.0, 10.0])
    >>> dual_value(X, signs, costs, np.array([0.25, 1.0]), True, HINGE)
    Fraction(2, 9)
    """
    if not is_within(a, costs, loss):
        return Fraction(0)
    integers, unit = integers_of(a)
    sides = [np.flatnonzero((a > 0.0) & side) for side in (signs > 0, signs < 0)]
    sums = [int(sum(integers[side])) for side in sides]
    scales = [Fraction(1), Fraction(1)]
    if fit_intercept:
        if 0 in sums:
            return Fraction(0)
        scales = [Fraction(min(sums), own) for own in sums]
    gain = sum((own * scale for own, scale in zip(sums, scales, strict=True)), Fraction(0)) * power_of_two(unit)
    if gain == 0:
        return Fraction(0)
    (plus, minus), shared = aligned([side_sum(X, side, integers[side]) for side in sides])
    # w(a') = scale_+ plus - scale_- minus, over one denominator
    denominator = math.lcm(scales[0].denominator, scales[1].denominator)
    w = plus * int(scales[0] * denominator) - minus * int(scales[1] * denominator)
    square = Fraction(int(sum(w * w)), denominator**2) * power_of_two(2 * (shared + unit))
    if loss.is_smooth:
        for side, scale in zip(sides, scales, strict=True):
            bent = sum_of_quotients(integers[side], costs[side]) * power_of_two(2 * unit)
            square += scale * scale * bent * Fraction(loss.bend)
    t = gain / square if square else Fraction(1)
    if loss.is_bounded:
        t = min(t, Fraction(1))
    return t * gain - t * t * square / 2


def primal_at_most(X: Rows, signs: Vector, costs: Vector, w: Vector, b: float, loss: Loss, bound: float) -> bool:
    """Whether P(w, b) <= bound."""
    if not math.isfinite(bound):
        return bound == math.inf
    return primal_value(X, signs, costs, w, b, loss) <= Fraction(bound)


def dual_at_least(
    X: Rows, signs: Vector, costs: Vector, a: Vector, fit_intercept: bool, loss: Loss, bound: float
) -> bool:
    """Whether the feasible point that a makes, or a = 0, proves D >= bound."""
    if bound <= 0.0:
        return True
    return bound < math.inf and dual_value(X, signs, costs, a, fit_intercept, loss) >= Fraction(bound)


def integers_of(values: Vector) -> tuple[Integers, int]:
    """The numbers as integers times one power of two."""
    integers, unit = common_integers(dyadic(values[:, None]))
    return integers[:, 0], unit


def products_with(rows: Rows, normal: Integers) -> tuple[Integers, int]:
    """X normal as integers times one power of two; of CSR, only the entries that are there are read."""
    if not is_sparse(rows):
        entries, unit = common_integers(dyadic(rows))
        return entries @ normal, unit
    entries, powers = mantissas_and_exponents(rows.data)
    unit = int(powers[entries != 0].min(initial=0))
    terms = (entries << np.where(entries != 0, powers - unit, 0).astype(object)) * normal[rows.indices]
    products = np.zeros(rows.shape[0], dtype=object)
    filled = np.flatnonzero(np.diff(rows.indptr))
    if len(filled):
        products[filled] = np.add.reduceat(terms, rows.indptr[filled])
    return products, unit


def side_sum(X: Rows, rows: NDArray[np.intp], weights: Integers) -> tuple[Integers, int]:
    """sum_i weights_i x_i over these rows, as integers times one power of two."""
    sums, unit, done = np.zeros(X.shape[1], dtype=object), 0, 0
    for part, table in chosen_rows(X, rows, EXACT_BLOCK):
        more = common_integers(weighted_sum(table, weights[done : done + len(part)]))
        done += len(part)
        (sums, other), unit = aligned([(sums, unit), more])
        sums = sums + other
    return sums, unit


def aligned(numbers: list[tuple[Integers, int]]) -> tuple[list[Integers], int]:
    """Integers in units of their own, in the smallest of the units."""
    least = min(unit for _, unit in numbers)
    return [integers << (unit - least) for integers, unit in numbers], least


def sum_of_quotients(integers: Integers, costs: Vector) -> Fraction:
    """sum_i integers_i^2 / C_i, rounded up where a quotient does not come out even."""
    value = Fraction(0)
    for cost in np.unique(costs):
        squares = int(sum(integers[costs == cost] ** 2))
        price = Fraction(float(cost))
        if price.numerator == 1:
            value += squares * price.denominator
            continue
        bits = QUOTIENT_BITS + price.numerator.bit_length()
        value += -((-squares * price.denominator << bits) // price.numerator) * power_of_two(-bits)
    return value
