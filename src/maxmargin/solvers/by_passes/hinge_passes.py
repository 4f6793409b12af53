"""What the working set of the hinge asks of a block, by pure functions. u_i = box C_i is the most that a_i can be.

    Sample     rows whose hashed id is below a rate, and what the rows of either class can weigh together
    SortOut    at a plane: the objective, the rows within `width` of the margin, or a sample of them; one vector for
               those that pay beyond, and one for those that pay within
    LookAlong  along a line of planes: the objective at each; settled rows that are on the wrong side there

A settled row costs what its weight misses: (1 - s_i) u_i f_i if it pays (f_i > 0), else s_i u_i |f_i|. That is its
prize: of too many wrong rows those with the largest are taken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.data.table import Vector
from maxmargin.problems.block_margin import OwnRows, Rule, SignedBlock
from maxmargin.problems.losses import Loss
from maxmargin.solvers.by_passes.taken_rows import Square, TakenRows, hashed, missing_of, sums_of, taken

IN_MEMORY = -1.0  # the share of a row that is listed because it is in the working set


class Sampled(NamedTuple):
    rows: TakenRows
    weights: Vector  # sum u_i of either class

    def and_of(self, other: Sampled) -> Sampled:
        return Sampled(self.rows.and_of(other.rows), self.weights + other.weights)


class Sample(NamedTuple):
    """`rates`: of the positive and of the negative rows."""

    loss: Loss
    rates: tuple[float, float]
    most: int

    def __call__(self, block: SignedBlock) -> Sampled:
        costs, plus = self.loss.bounds(block.costs), block.signs > 0.0
        everyone = np.arange(len(plus))
        below = hashed(block.ids(everyone)) < np.where(plus, *self.rates)
        weights = np.array([costs[plus].sum(), costs[~plus].sum()])
        return Sampled(taken(block, costs, np.flatnonzero(below), self.most), weights)


class Sorted(NamedTuple):
    paid: float  # sum u_i max(0, f_i)
    beyond: Square  # sum u_i (x_i, 1) over the rows that pay and are not in the band, of either class
    paying: Square  # the same over those in the band
    weights: Vector  # sum u_i of either class in the band
    inside: int
    rows: TakenRows

    def and_of(self, other: Sorted) -> Sorted:
        return Sorted(
            self.paid + other.paid,
            self.beyond + other.beyond,
            self.paying + other.paying,
            self.weights + other.weights,
            self.inside + other.inside,
            self.rows.and_of(other.rows),
        )


class SortOut(NamedTuple):
    """`rate`: of the rows in the band that are taken, by their hash."""

    loss: Loss
    w: Vector
    b: float
    width: float
    rate: float
    seed: int
    most: int

    def __call__(self, block: SignedBlock) -> Sorted:
        costs = self.loss.bounds(block.costs)
        f = missing_of(block.X, block.signs, self.w, self.b)
        near = np.abs(f) < self.width
        places = np.flatnonzero(near)
        hashes = hashed(block.ids(places), self.seed)
        drawn = hashes < self.rate
        return Sorted(
            float(costs @ np.maximum(0.0, f)),
            sums_of(block.X, block.signs, np.where(f >= self.width, costs, 0.0)),
            sums_of(block.X, block.signs, np.where(near & (f > 0.0), costs, 0.0)),
            np.bincount(np.where(block.signs[places] > 0.0, 0, 1), costs[places], 2).astype(np.float64),
            len(places),
            taken(block, costs, places[drawn], self.most, hashes[drawn]),
        )


class Looked(NamedTuple):
    paid: Vector  # sum u_i max(0, f_i) at each plane of the line
    wrong: int
    prizes: float  # of all wrong rows: what P - D would lose if none were wrong
    rows: TakenRows

    def and_of(self, other: Looked) -> Looked:
        return Looked(
            self.paid + other.paid,
            self.wrong + other.wrong,
            self.prizes + other.prizes,
            self.rows.and_of(other.rows),
        )


class LookAlong(NamedTuple):
    """From plane `one` to `two`, sides at the part `at` of the way. Listed: rows in memory, and named ones."""

    loss: Loss
    rule: Rule
    one: tuple[Vector, float]
    two: tuple[Vector, float]
    steps: Vector
    at: float
    most: int

    def __call__(self, block: SignedBlock, own: OwnRows | None = None) -> Looked:
        costs = self.loss.bounds(block.costs)
        f = missing_of(block.X, block.signs, *self.one)
        change = missing_of(block.X, block.signs, *self.two) - f
        shares = np.zeros(len(f))
        if self.rule.used:
            shares = (missing_of(block.X, block.signs, self.rule.w, self.rule.b) > 0.0).astype(np.float64)
        if own is not None:
            shares[own.places_in(block)] = own.shares
        paid = np.array([float(costs @ np.maximum(0.0, f + step * change)) for step in self.steps])
        f += self.at * change
        prizes = costs * np.where(f > 0.0, (1.0 - shares) * f, -shares * f)
        wrong = np.flatnonzero((prizes > 0.0) & (shares != IN_MEMORY))
        worth = prizes[wrong]
        return Looked(
            paid, len(wrong), float(worth.sum()), taken(block, costs, wrong, self.most, -worth, shares[wrong])
        )
