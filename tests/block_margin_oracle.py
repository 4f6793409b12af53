"""Both sides of the soft margin of blocks, in fractions, row by row as the formulas are written down; and tables of
blocks to try them on. The arithmetic shares nothing with the library."""

import math
from fractions import Fraction

import numpy as np
import scipy.sparse as sparse
from labelled_rows import Cut

from maxmargin.data.labelled import LabelledTable, surveyed
from maxmargin.problems.block_margin import BlockMargin, Facts, ListedRows, Rule, Weights
from maxmargin.solve.by_blocks import side_by_side


class Pieces(Cut):
    """Rows with labels that are in memory, in blocks of these heights."""

    def __init__(self, X, y, heights, sample_weight=None):
        super().__init__(X, y, [0, *np.cumsum(heights)], sample_weight)
        self.n_rows = X.shape[0]


def facts_of(table: LabelledTable) -> Facts:
    return Facts(
        table.n_rows, table.n_columns, table.n_blocks, (1, 1), table.seen.largest, table.seen.terms,
        table.seen.is_sparse, table.row_bytes, table.row_bytes,
    )  # fmt: skip


def answer_of(table, problem, run):
    """The result of one run."""
    return side_by_side(table, [problem], [run])[0]


def exact(values):
    return [Fraction(float(value)) for value in values]


def exact_rows(table, problem):
    """(id, x, sign, C) of every row of the problem."""
    for k in range(table.n_blocks):
        block = problem.of(table.block(k))
        X = block.X.toarray() if sparse.issparse(block.X) else block.X
        ids = block.ids(np.arange(len(block.rows)))
        for row, x, sign, cost in zip(ids, X, block.signs, block.costs, strict=True):
            yield int(row), exact(x), int(sign), Fraction(float(cost))


def missing(x, sign, w, b):
    return 1 - sign * (sum(u * v for u, v in zip(exact(w), x, strict=True)) + Fraction(float(b)))


def exact_loss(loss, t):
    t = max(Fraction(0), t)
    if not loss.bend:
        return Fraction(loss.box) * t
    share = t / Fraction(loss.bend)
    share = share if loss.box == math.inf else min(share, Fraction(loss.box))
    return share * (t - Fraction(loss.bend) * share / 2)


def exact_slope(rule, loss, f):
    if not rule.used:
        return Fraction(0)
    if loss.bend:
        share = max(Fraction(0), f) / Fraction(loss.bend)
        return share if loss.box == math.inf else min(share, Fraction(loss.box))
    if rule.width == 0.0:
        return Fraction(loss.box) * (f > 0)
    less = 1 / (2 + abs(f) / Fraction(float(rule.width)))
    return Fraction(loss.box) * (1 - less if f > 0 else less)


def exact_sides(table, problem, w, b, weights):
    """P and D."""
    loss, rule = problem.loss, weights.rule
    listed = dict(zip(weights.listed.ids.tolist(), exact(weights.listed.shares), strict=True))
    primal, sums = sum(v * v for v in exact(w)) / 2, {1: Fraction(0), -1: Fraction(0)}
    points = {side: [Fraction(0)] * len(w) for side in sums}
    squares = dict(sums)
    for row, x, sign, cost in exact_rows(table, problem):
        primal += cost * exact_loss(loss, missing(x, sign, w, b))
        slope = (
            listed[row] * Fraction(loss.box) if row in listed
            else exact_slope(rule, loss, missing(x, sign, rule.w, rule.b))
        )  # fmt: skip
        sums[sign] += cost * slope
        squares[sign] += cost * slope**2
        points[sign] = [v + cost * slope * u for v, u in zip(points[sign], x, strict=True)]
    scales, gain = {1: Fraction(1), -1: Fraction(1)}, sums[1] + sums[-1]
    if problem.fit_intercept:
        if not min(sums.values()):
            return primal, Fraction(0)
        scales = {side: min(sums.values()) / own for side, own in sums.items()}
        gain = 2 * min(sums.values())
    if not gain:
        return primal, Fraction(0)
    square = sum((scales[1] * u - scales[-1] * v) ** 2 for u, v in zip(points[1], points[-1], strict=True))
    square += Fraction(loss.bend) * sum(scales[side] ** 2 * own for side, own in squares.items())
    t = gain / square if square else Fraction(1)
    t = min(t, Fraction(1)) if loss.is_bounded else t
    return primal, t * gain - t * t * square / 2


def table_of(X, y, heights, sample_weight=None):
    return surveyed(Pieces(X, y, heights, sample_weight))


def problem_of(loss, *, C=1.0, prices=None, fit_intercept=True, positive=1, negative=None):
    return BlockMargin(positive, negative, np.full(2, C) if prices is None else np.asarray(prices), loss, fit_intercept)


def weights_of(w, b, width=0.0, ids=(), shares=(), used=True):
    ids, shares = np.asarray(ids, dtype=np.uint64), np.asarray(shares, dtype=np.float64)
    return Weights(Rule(np.asarray(w, dtype=np.float64), float(b), float(width), used), ListedRows(ids, shares))
