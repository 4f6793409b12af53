"""Both sides of many soft margins in the space of one kernel, such as those of all pairs of classes, measured together.

What is measured is what `kernel_duality` measures of one problem: the plane w(a'), P and D, from the raw rows and in
float64, with the same bounds of all that rounding may have done. Here the numbers of all problems stand one behind the
other, so that each operation of NumPy runs once, and not once for each problem. A sum over the rows of a problem is
added in any order: the sum of k terms is within gamma_k of the sum of their magnitudes [higham2002].

    row i of problem p        v_i = sum_j a'_j y_j k(x_i, x_j) over the rows j of p,     t_i = 1 - y_i (v_i + b_p)
    problem p                 |w|^2 = sum_i a'_i y_i v_i,     P = 1/2 |w|^2 + sum_i C_i max(0, t_i)

It is for the hinge with a bias, and for kernels of products on dense rows. Those of rbf are positive, so that sums are
sums of magnitudes; for others |k(x, x')| <= q(x) q(x') says how large these are (`Kernel.reach`). What does not go
smoothly (weights outside of their box, or of one class alone; numbers that float64 can hardly hold) is not measured
here: the answer is None, and whoever asked has the problem measured by itself.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.duality import INSIDE, LEAST, LIGHTEST
from maxmargin.certificates.kernel_duality import BLURRED, Direction, KernelMeasure, Rows, dual_of
from maxmargin.certificates.passes import rounding
from maxmargin.certificates.proof import KKT, Violation
from maxmargin.data.executor import check_interrupt
from maxmargin.data.table import Vector
from maxmargin.problems.kernels import Kernel, Linear, Points, rows_of
from maxmargin.problems.kernels.base import FAINT
from maxmargin.problems.statement import KernelMargin, best_bias

ADDED = 32  # roundings of a sum beside those of its terms: more than there are


class ManyRows:
    """The rows of a table, and what the kernel makes of them once for all problems."""

    @np.errstate(over="ignore", invalid="ignore")
    def __init__(self, kernel: Kernel, points: Points) -> None:
        self.kernel, self.points = kernel, points
        self.left, self.right = kernel.left_factor(points), kernel.right_factor(points).T
        self.relative, self.absolute = kernel.rounding(points, points)
        self.reach = kernel.reach(points)

    def sums(self, rows: Rows, others: Rows, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """sum_j c_j k(x_i, x_j) over the others for each of the rows, and each column c; of a linear kernel by w."""
        if isinstance(self.kernel, Linear):
            return self.kernel.combine(rows_of(self.points, rows), rows_of(self.points, others), coefficients)
        left, right = self.left.take(rows, 0), self.right.take(others, 0).T
        return np.asarray(self.kernel.from_factors(left, right) @ coefficients)


class Judged(NamedTuple):
    """What weights are worth, and how well the conditions of optimality hold."""

    measured: KernelMeasure
    kkt: KKT


class Pairs(NamedTuple):
    """Problems one behind the other: rows of the table, signs, costs and weights; where each begins; whose each row is.

    `longest` is the most rows that one of them has.
    """

    rows: NDArray[np.intp]
    signs: Vector
    costs: Vector
    a: Vector
    starts: NDArray[np.intp]
    of: NDArray[np.intp]
    longest: int

    def sums(self, terms: Vector) -> Vector:
        """Of each problem."""
        return np.asarray(np.add.reduceat(terms, self.starts))

    def slices(self) -> list[slice]:
        return [slice(*ends) for ends in itertools.pairwise([*self.starts.tolist(), len(self.rows)])]


def beside_each_other(problems: list[KernelMargin], weights: list[Vector]) -> Pairs:
    sizes = np.array([len(a) for a in weights])
    rows = np.concatenate([problem.points.places for problem in problems])
    signs = np.concatenate([problem.signs for problem in problems])
    costs = np.concatenate([problem.costs for problem in problems])
    of, starts = np.repeat(np.arange(len(sizes)), sizes), np.cumsum(sizes) - sizes
    return Pairs(rows, signs, costs, np.concatenate(weights), starts, of, int(sizes.max()))


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def measure_together(table: ManyRows, problems: list[KernelMargin], weights: list[Vector]) -> list[Judged | None]:
    """P and D of the plane and the feasible point that the weights of each problem make; the places of its points are
    rows of the table."""
    pairs = beside_each_other(problems, weights)
    is_inside = (pairs.a >= 0.0) & (pairs.a <= pairs.costs) & (pairs.costs < math.inf)
    plus = pairs.signs > 0.0
    positive, negative = pairs.sums(np.where(plus, pairs.a, 0.0)), pairs.sums(np.where(plus, 0.0, pairs.a))
    lighter, heavier = np.minimum(positive, negative), np.maximum(positive, negative)
    is_right = np.logical_and.reduceat(is_inside, pairs.starts)
    is_right &= (LIGHTEST * heavier < lighter) & (heavier < math.inf)
    gain, high, low = 2.0 * lighter, lighter / positive, lighter / negative
    share = 1.01 * rounding(3 * pairs.longest + 8)  # of every a'
    scaled = np.where(is_right[pairs.of], pairs.a * np.where(plus, high[pairs.of], low[pairs.of]), 0.0)
    values, off, is_known = values_of(table, pairs, scaled, share)
    is_right &= np.logical_and.reduceat(is_known, pairs.starts)

    signed = scaled * pairs.signs * values
    square, magnitude = pairs.sums(signed), pairs.sums(np.abs(signed))
    square_error = pairs.sums(scaled * off) + (share + rounding(pairs.longest + 2)) * magnitude
    square_error = 1.01 * square_error + LEAST * (pairs.longest + pairs.sums(np.abs(values)))
    is_right &= np.isfinite(square + square_error) & (square >= -square_error)
    square = np.maximum(0.0, square)

    every = pairs.slices()
    bias = np.array([best_bias(problem, values[own]) for problem, own in zip(problems, every, strict=True)])
    is_right &= np.isfinite(bias)
    of_row = bias[pairs.of]
    missing = 1.0 - pairs.signs * (values + of_row)
    moved = missing + (off + rounding(4) * (np.abs(values) + np.abs(of_row) + 1.0))
    slack = np.maximum(0.0, missing)
    loss, most = pairs.sums(pairs.costs * slack), pairs.sums(pairs.costs * np.maximum(0.0, moved))
    primal = 0.5 * square + loss
    error = (most - loss) + 0.51 * square_error + LEAST * pairs.longest
    error += 2.0 * rounding(pairs.longest + 8) * (most + 0.5 * square)
    is_right &= np.isfinite(primal + error)

    found: list[KernelMeasure | None] = [None] * len(problems)
    for p in np.flatnonzero(is_right).tolist():
        own, scales = every[p], (float(high[p]), float(low[p]))
        of_square = (float(square[p]), float(square_error[p]))
        w = Direction(values[own], off[own], *of_square, float(gain[p]), share, scales)
        dual, dual_error, t = dual_of(w, False)
        found[p] = KernelMeasure(
            w.values, float(bias[p]), slack[own], w.square, float(primal[p]), float(error[p]), dual, dual_error,
            (t * scales[0], t * scales[1]), scales, w.off, w.square_error,
        )  # fmt: skip
    conditions = conditions_together(pairs, found, values + of_row, slack, values)
    return [None if one is None else Judged(one, kkt) for one, kkt in zip(found, conditions, strict=True)]


def conditions_together(
    pairs: Pairs, found: list[KernelMeasure | None], decisions: Vector, slack: Vector, values: Vector
) -> list[KKT]:
    """The Karush-Kuhn-Tucker conditions, as `kernel_conditions` has them, of every problem that was measured."""
    factors = np.array([(0.0, 0.0) if one is None else one.factors for one in found])
    primal = np.array([1.0 if one is None else one.primal or 1.0 for one in found])
    plus, of = pairs.signs > 0.0, pairs.of
    feasible = pairs.a * np.where(plus, factors[of, 0], factors[of, 1])
    shares = (pairs.costs - feasible) * slack + feasible * np.maximum(0.0, pairs.signs * decisions - 1.0)
    shares = np.where(np.isfinite(shares), shares / primal[of], 0.0)  # where nothing was measured, they may be NaN
    most = np.maximum.reduceat(shares, pairs.starts)
    places = np.flatnonzero(shares == most[of])
    worst = places[np.searchsorted(of[places], np.arange(len(found)))] - pairs.starts
    telling = (feasible > INSIDE * pairs.costs) & (feasible < (1.0 - INSIDE) * pairs.costs)
    own = pairs.signs - values
    highest = np.maximum.reduceat(np.where(telling, own, -np.inf), pairs.starts)
    lowest = np.minimum.reduceat(np.where(telling, own, np.inf), pairs.starts)
    spread = np.where(highest >= lowest, highest - lowest, 0.0)
    weight, imbalance = pairs.sums(pairs.a), np.abs(pairs.sums(pairs.signs * pairs.a))
    kkts = []
    for p, one in enumerate(found):
        t = 1.0 if one is None else one.factors[0] / one.scales[0]
        stationarity = abs(1.0 - t) / max(1.0, t) if one is not None and one.square > 0.0 else 0.0
        dual = Violation(float(imbalance[p] / weight[p]) if weight[p] > 0.0 else 0.0)
        slackness = Violation(float(most[p]), int(worst[p]))
        kkts.append(KKT(Violation(stationarity), Violation(0.0), dual, slackness, Violation(float(spread[p]))))
    return kkts


def values_of(table: ManyRows, pairs: Pairs, scaled: Vector, share: float) -> tuple[Vector, Vector, Any]:
    """w.phi(x_i) of every row of every problem, its error, and whether float64 knows it; the a' are within `share`."""
    sums, terms = np.zeros((len(scaled), 2)), 0
    column = np.where(pairs.signs > 0.0, 0, 1)
    for own in pairs.slices():
        check_interrupt()
        rows, carried = pairs.rows[own], scaled[own]
        support = np.flatnonzero(carried)
        coefficients = np.zeros((len(support), 2))
        coefficients[np.arange(len(support)), column[own][support]] = carried[support]
        sums[own] = table.sums(rows, rows[support], coefficients)
        terms = max(terms, len(support))
    heavy = (pairs.sums(scaled) + FAINT * pairs.longest)[pairs.of]
    absolute = table.absolute[pairs.rows] * heavy
    relative = table.relative[pairs.rows] + rounding(terms + ADDED)
    sizes = sums[:, 0] + sums[:, 1] + FAINT * terms
    if table.reach is not None:
        reach = table.reach[pairs.rows]
        sizes = reach * (1.01 * pairs.sums((scaled + FAINT) * reach))[pairs.of]
    elif not table.kernel.is_positive:
        sizes = np.full(len(scaled), math.inf)
    error = 1.1 * (relative * sizes + absolute) + 2.0 * LEAST * terms
    values = sums[:, 0] - sums[:, 1]
    off = error + share * (1.1 * (sizes + absolute)) + rounding(1) * np.abs(values)
    return values, off, (relative <= BLURRED) & np.isfinite(off)
