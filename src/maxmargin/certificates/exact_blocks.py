"""Both sides of the soft margin by blocks in exact rational arithmetic: a pass like that of `block_duality`.

All numbers are doubles, hence fractions, and so are what a row misses, the slopes, and their sums: nothing is rounded,
and the order of sums does not matter. One exception: the slope of a rule with a width is a quotient of its own in each
row, whose sums would grow without end. It is rounded down behind its 1400th bit, which is another point of the box, and
proves what it proves. A row takes some microseconds for each of its numbers, so this is for tables of up to some
hundred thousand numbers.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from maxmargin.data.executor import check_interrupt
from maxmargin.data.table import Vector, is_sparse
from maxmargin.problems.block_margin import BlockMargin, OwnRows, Rule, SignedBlock
from maxmargin.problems.losses import Loss

ZERO, ONE = Fraction(0), Fraction(1)
SCALE = 2**1400
Row = dict[int, Fraction]


class ExactSums(NamedTuple):
    """sum C_i loss_i; of each class sum a_i, sum a_i x_i and sum a_i^2 / C_i."""

    loss: Fraction
    weight: tuple[Fraction, Fraction]
    point: tuple[Row, Row]
    square: tuple[Fraction, Fraction]

    def and_of(self, other: ExactSums) -> ExactSums:
        return ExactSums(
            self.loss + other.loss,
            (self.weight[0] + other.weight[0], self.weight[1] + other.weight[1]),
            (added(self.point[0], other.point[0]), added(self.point[1], other.point[1])),
            (self.square[0] + other.square[0], self.square[1] + other.square[1]),
        )


def added(left: Row, right: Row, times: Fraction = ONE) -> Row:
    return left | {j: left.get(j, ZERO) + times * value for j, value in right.items()}


class ExactMeasurement(NamedTuple):
    """A part of the pass."""

    loss: Loss
    w: Vector
    b: float
    rule: Rule

    def __call__(self, block: SignedBlock, own: OwnRows | None = None) -> ExactSums:
        shares = {} if own is None else dict(zip(own.places_in(block).tolist(), own.shares.tolist(), strict=True))
        plane, of_rule = (exact_row(np.arange(len(w)), w) for w in (self.w, self.rule.w))
        paid, weight, square, point = ZERO, [ZERO, ZERO], [ZERO, ZERO], ({}, {})  # type: Any, Any, Any, Any
        for i in range(block.X.shape[0]):
            check_interrupt()
            x, sign, cost = row_of(block.X, i), int(block.signs[i]), Fraction(float(block.costs[i]))
            side = 0 if sign > 0 else 1
            paid += cost * exact_loss(self.loss, 1 - sign * (dot(plane, x) + Fraction(self.b)))
            if i in shares:
                slope = Fraction(self.loss.box) * Fraction(shares[i])
            else:
                slope = exact_slope(self.rule, self.loss, 1 - sign * (dot(of_rule, x) + Fraction(self.rule.b)))
            weight[side] += cost * slope
            square[side] += cost * slope * slope
            for j, value in x.items() if slope else ():
                point[side][j] = point[side].get(j, ZERO) + cost * slope * value
        return ExactSums(paid, (weight[0], weight[1]), point, (square[0], square[1]))


def exact_row(columns: Any, values: Any) -> Row:
    return {int(j): Fraction(float(value)) for j, value in zip(columns, values, strict=True) if value}


def row_of(X: Any, i: int) -> Row:
    if not is_sparse(X):
        return exact_row(np.arange(X.shape[1]), X[i])
    stored = slice(X.indptr[i], X.indptr[i + 1])
    return exact_row(X.indices[stored], X.data[stored])


def dot(plane: Row, x: Row) -> Fraction:
    return sum((plane.get(j, ZERO) * value for j, value in x.items()), ZERO)


def share_of(loss: Loss, t: Fraction) -> Fraction:
    """The slope of a smooth loss."""
    share = max(ZERO, t) / Fraction(loss.bend)
    return min(share, Fraction(loss.box)) if loss.is_bounded else share


def exact_loss(loss: Loss, t: Fraction) -> Fraction:
    if not loss.is_smooth:
        return Fraction(loss.box) * max(ZERO, t)
    share = share_of(loss, t)
    return share * (t - Fraction(loss.bend) * share / 2)


def exact_slope(rule: Rule, loss: Loss, f: Fraction) -> Fraction:
    """a_i / C_i by the rule."""
    if not rule.used:
        return ZERO
    if loss.is_smooth:
        return share_of(loss, f)
    if rule.width == 0.0:
        return Fraction(loss.box) if f > 0 else ZERO
    less = Fraction(rule.width) / (2 * Fraction(rule.width) + abs(f))
    return Fraction(loss.box) * Fraction(math.floor(SCALE * (1 - less if f > 0 else less)), SCALE)


def exact_primal(w: Vector, found: ExactSums) -> Fraction:
    return sum((Fraction(float(value)) ** 2 for value in w), ZERO) / 2 + found.loss


def exact_dual(problem: BlockMargin, found: ExactSums) -> Fraction:
    """D of the feasible point that the weights make."""
    scales, gain = (ONE, ONE), sum(found.weight, ZERO)
    if problem.fit_intercept:
        lighter = min(found.weight)
        if not lighter:
            return ZERO
        scales, gain = (lighter / found.weight[0], lighter / found.weight[1]), 2 * lighter
    if not gain:
        return ZERO
    left = added({}, found.point[0], scales[0])
    square = sum((value * value for value in added(left, found.point[1], -scales[1]).values()), ZERO)
    square += Fraction(problem.loss.bend) * sum(s * s * own for s, own in zip(scales, found.square, strict=True))
    t = gain / square if square else ONE
    t = min(ONE, t) if problem.loss.is_bounded else t
    return t * gain - t * t * square / 2
