"""Is a certificate true? Decided in fractions, by code that shares nothing with the judge.

    truth_of(certificate, X, y)     None if every bound and the verdict hold of these rows; else what is false

Small tables only: each sum is a sum of Python's fractions. The conditions of optimality and the theorems are figures
of float64 and of the run; they are not looked at here.
"""

import math
from fractions import Fraction

import numpy as np
from block_margin_oracle import exact_sides, table_of
from oracles import NOT, WEAKLY, carriers, fractions_of, is_lower_bound, is_upper_bound, touches, truth

from maxmargin import Certificate, KernelCertificate, KernelSeparationCertificate, SoftMarginCertificate
from maxmargin.certificates.block_margin import BlockMarginCertificate
from maxmargin.problems.block_margin import BlockMargin
from maxmargin.problems.losses import loss_named


def truth_of(certificate, X, y):
    """A clause about what is false, or None."""
    c, y = certificate, np.asarray(y)
    if isinstance(c, BlockMarginCertificate):
        return block_margin(c, X, y)
    signs = np.where(y == c.positive, 1, -1)
    weights = [Fraction(0)] * len(y)
    for row, weight in zip(c.rows, c.weights, strict=True):
        weights[row] = Fraction(float(weight))
    by_kind = {
        Certificate: separation,
        SoftMarginCertificate: soft_margin,
        KernelCertificate: kernel_margin,
        KernelSeparationCertificate: kernel_separation,
    }
    return by_kind[type(c)](c, X, signs, weights)


def within(low, high, tol):
    """(high - low) / high <= tol."""
    return math.isfinite(high) and Fraction(high) - Fraction(low) <= Fraction(tol) * Fraction(high)


def separation(c, X, signs, weights):
    verdict, claims_plane = c.verdict.name, c.margin_lower > -math.inf
    if claims_plane and (not np.any(c.w) or not is_lower_bound(c.margin_lower, X, signs, c.w, c.b, c.norm)):
        return "margin_lower"
    if c.rows_off_plane is not None:
        counted = 0 <= c.rows_off_plane <= c.n_rows and verdict == "WEAKLY_SEPARABLE"
        if not counted or not touches(X, signs, c.w, c.b, c.rows_off_plane, c.fit_intercept):
            return "rows_off_plane"
    if verdict in ("NOT_SEPARABLE", "WEAKLY_SEPARABLE"):
        if c.margin_upper != 0.0:
            return "margin_upper"
        known = truth(X, signs, fit_intercept=c.fit_intercept)
        return None if known in ({WEAKLY, NOT} if verdict == "NOT_SEPARABLE" else {WEAKLY}) else "verdict"
    if not is_upper_bound(c.margin_upper, X, signs, weights, c.norm, c.fit_intercept):
        return "margin_upper"
    if (verdict in ("OPTIMAL", "SEPARABLE")) != (c.margin_lower > 0.0):
        return "verdict"
    if verdict == "OPTIMAL" and not (0.0 < c.tol < 1.0 and within(c.margin_lower, c.margin_upper, c.tol)):
        return "optimal"
    return None


def dot(p, q):
    return sum((s * t for s, t in zip(p, q, strict=True)), Fraction(0))


def loss_of(c):
    """The box, which is None where there is none, and the bend."""
    known = {"hinge": (1, 0), "squared_hinge": (None, Fraction(1, 2)), "modified_huber": (4, Fraction(1, 2))}
    return (1, Fraction(c.huber_width)) if c.loss == "huber_hinge" else known[c.loss]


def loss(box, bend, t):
    """The best a t - bend a^2 / 2 with 0 <= a <= box."""
    t = max(Fraction(0), t)
    if box is not None and t >= box * bend:
        return box * t - bend * box * box / Fraction(2)
    return t * t / (2 * bend)


def soft_margin(c, X, signs, weights):
    rows, C, (box, bend) = fractions_of(X), Fraction(c.C), loss_of(c)
    w, b = [Fraction(float(v)) for v in c.w], Fraction(c.b)
    costs = [C * Fraction(dict(c.class_weight).get(c.positive if s > 0 else c.negative, 1.0)) for s in signs]
    missing = [1 - int(s) * (dot(w, x) + b) for s, x in zip(signs, rows, strict=True)]
    primal = dot(w, w) / 2 + sum(cost * loss(box, bend, t) for cost, t in zip(costs, missing, strict=True))
    gram = [[dot(p, q) for q in rows] for p in rows]
    bend = [bend / cost for cost in costs]
    box = None if box is None else [box * cost for cost in costs]
    if outside(weights, box):
        return "weights"
    dual = dual_value(gram, signs, weights, box, bend, c.fit_intercept)
    return bounds(c, primal, dual)


def outside(weights, box):
    """Whether the weights are no point of the dual."""
    return box is not None and any(a > most for a, most in zip(weights, box, strict=True))


def dual_value(gram, signs, weights, box, bend, balanced):
    """D of the feasible point that the weights make: 0 if they make none, infinite where it grows without limit."""
    n = len(weights)
    sums = [sum((a for a, s in zip(weights, signs, strict=True) if s == side), Fraction(0)) for side in (1, -1)]
    if balanced:
        if not all(sums):
            return Fraction(0)
        scale = {1: min(sums) / sums[0], -1: min(sums) / sums[1]}
        weights = [a * scale[int(s)] for a, s in zip(weights, signs, strict=True)]
    signed = [a * int(s) for a, s in zip(weights, signs, strict=True)]
    square = sum(signed[i] * signed[j] * gram[i][j] for i in range(n) for j in range(n))
    square += sum(q * a * a for q, a in zip(bend, weights, strict=True))
    gain = sum(weights)
    if gain == 0:
        return Fraction(0)
    if square == 0:
        return gain if box is not None else math.inf
    t = gain / square if box is None else min(Fraction(1), gain / square)
    return t * gain - t * t * square / 2


def bounds(c, primal, dual):
    if primal is None or (math.isfinite(c.primal) and primal > Fraction(c.primal)):
        return None if c.primal == math.inf else "primal"
    if c.dual == math.inf or (dual < math.inf and Fraction(c.dual) > max(dual, 0)):
        return "dual"
    proven = within(c.dual, c.primal, c.tol)
    if not 0.0 < c.tol < 1.0 or (c.verdict.name == "OPTIMAL") != proven:
        return "verdict"
    return None


def gram_of(c, X):
    """The kernel in fractions: of linear, poly and precomputed."""
    rows = fractions_of(X)
    if c.kernel == "precomputed":
        return rows
    gamma, coef0 = Fraction(c.gamma), Fraction(c.coef0)
    return [[(gamma * dot(p, q) + coef0) ** c.degree for q in rows] for p in rows]


def block_margin(c, X, y):
    """The weights by the rule, on the table cut as the certificate says."""
    if int(c.heights.sum()) != len(y):
        return "heights"
    form, labels = loss_named(c.loss, c.huber_width), np.unique(y).tolist()
    prices = c.C * np.array([dict(c.class_weight).get(label, 1.0) for label in labels])
    problem = BlockMargin(labels.index(c.positive), None, prices, form, c.fit_intercept)
    primal, dual = exact_sides(table_of(X, y, c.heights.tolist()), problem, c.w, c.b, c.told)
    if not primal <= c.primal:
        return "primal"
    if not c.dual <= dual:
        return "dual"
    return None if (c.verdict.name == "OPTIMAL") == within(c.dual, c.primal, c.tol) else "verdict"


def kernel_margin(c, X, signs, weights):
    gram, n = gram_of(c, X), len(signs)
    hard = math.isinf(c.C)
    box, bend = (None, 0) if hard else loss_of(c)
    upper, bends = None if box is None else [box * Fraction(c.C)] * n, [0 if hard else bend / Fraction(c.C)] * n
    if (hard and c.loss != "hinge") or (c.b and not c.fit_intercept):
        return "problem"
    if outside(weights, upper):
        return "weights"
    dual = dual_value(gram, signs, weights, upper, bends, c.fit_intercept)
    sums = [sum(a for a, s in zip(weights, signs, strict=True) if s == side) for side in (1, -1)]
    scale = {1: min(sums) / sums[0], -1: min(sums) / sums[1]} if all(sums) else {1: 0, -1: 0}
    scale = scale if c.fit_intercept else {1: 1, -1: 1}
    signed = [a * int(s) * scale[int(s)] for a, s in zip(weights, signs, strict=True)]
    values = [dot(signed, line) for line in gram]
    square, b = dot(signed, values), Fraction(c.b)
    functional = [int(s) * (value + b) for s, value in zip(signs, values, strict=True)]
    if hard:
        least = min(functional)
        return bounds(c, square / (2 * least * least) if least > 0 else None, dual)
    return bounds(c, square / 2 + Fraction(c.C) * sum(loss(box, bend, 1 - f) for f in functional), dual)


def kernel_separation(c, X, signs, weights):
    gram, lift = gram_of(c, X), int(c.fit_intercept)
    if (
        c.verdict.name == "NOT_SEPARABLE"
    ):  # |sum l_i y_i phi(x_i)|^2 = 0 exactly where K (l y) = 0 on the rows with l_i > 0
        if (c.margin_lower, c.margin_upper) != (-math.inf, 0.0):
            return "margin_upper"
        lines = [[int(signs[i]) * cell for cell in [*(gram[i][j] for j in c.rows), lift]] for i in c.rows]
        return None if lines and carriers(lines) else "verdict"
    signed = [a * int(s) for a, s in zip(weights, signs, strict=True)]
    values = [dot(signed, [k + lift for k in line]) for line in gram]
    square, nearest = dot(signed, values), min(int(s) * v for s, v in zip(signs, values, strict=True))
    if c.margin_lower > -math.inf:
        lower = Fraction(c.margin_lower) if math.isfinite(c.margin_lower) else None
        if lower is None or square <= 0 or lower * abs(lower) * square > nearest * abs(nearest):
            return "margin_lower"
    total = sum(weights)
    if c.margin_upper < math.inf and (
        total == 0 or c.margin_upper < 0.0 or (Fraction(c.margin_upper) * total) ** 2 < square
    ):
        return "margin_upper"
    return None if (c.verdict.name == "SEPARABLE") == (c.margin_lower > 0.0) else "verdict"
