"""Where the best plane of the rows can be at most, given one that is proven to be near it; and so which rows it has on
their side.

    P(w, b) = 1/2 |w|^2 + L(w, b), L convex;   dual <= P(w*, b*) <= P(w, b) <= primal
    =>   1/2 |w - w*|^2 <= primal - dual,   so that   |w.z - w*.z| <= delta |z|,   delta = sqrt(2 (primal - dual))

for every z: L has a subgradient at (w*, b*) that balances (w*, 0). For z = x_j - c, c the mean of the rows, w*.z_j is
within delta_j = delta |z_j| of v_j = w.z_j. What is left is the bias of those rows, B = b + w.c:

    hard margin   v*_j + B >= 1 for every row of the positive side, and <= -1 for every row of the negative one, so that
                  max_+ (1 - v_j - delta_j) <= B* <= min_- (-1 - v_j + delta_j)
    soft margin   the slope of the losses in B, G(B) = -sum_j y_j C_j loss'(1 - y_j (v*_j + B)), rises with B and with
                  every v*_j. Where it is above 0 for all v_j - delta_j, B* is not larger; where it is below 0 for all
                  v_j + delta_j, not smaller

A row that carries no weight in the proof can be left out of it: its plane still separates the others as widely, or
costs no more, and its weights bound the best plane of the others as they are. Its loss may not reach into the interval
of B either, or B would be another.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.passes import length, rounding, sizes_of, values_of
from maxmargin.certificates.soft_margin import SoftMarginCertificate
from maxmargin.data.table import Matrix, Vector, is_sparse, row_squares
from maxmargin.problems.losses import Loss, loss_named

Flags = NDArray[np.bool_]

HALVINGS = 70
SLIGHTLY = 1.0 + 1e-12  # more than the few roundings of one number


class Centred(NamedTuple):
    """The rows, their mean c (0 where there is no bias) and at least |x_j - c|."""

    X: Matrix
    center: Vector
    lengths: Vector


def centred(X: Matrix, fit_intercept: bool) -> Centred:
    d = X.shape[1]
    center = np.asarray(X.mean(axis=0), dtype=np.float64).ravel() if fit_intercept else np.zeros(d)
    if is_sparse(X):  # |x|^2 - 2 x.c + |c|^2, with what cancels
        squares, inner, own = row_squares(X).astype(np.float64), values_of(X, center), float(center @ center)
        sizes = squares + 2.0 * sizes_of(X, np.abs(center)) + own
        lengths = np.sqrt(np.maximum(0.0, squares - 2.0 * inner + own) + 4.0 * rounding(d + 8) * sizes)
    else:
        moved = X.astype(np.float64) - center
        lengths = np.sqrt(np.einsum("ij,ij->i", moved, moved))
        lengths += rounding(d + 8) * lengths + rounding(2) * math.sqrt(d) * (
            np.abs(X).max(axis=1) + np.abs(center).max()
        )
    return Centred(X, center, np.asarray(lengths * SLIGHTLY) + 1e-150)


class Interval(NamedTuple):
    """At least, and at most, y (w*.x + b*) of each row, for the best plane of the rows that were looked at.

    `is_free` are rows that do not hold B where it is: without such a row, if it carries no weight, all is the same.
    """

    lower: Vector
    upper: Vector
    is_free: Flags


@np.errstate(over="ignore", invalid="ignore")
def best_plane_near(
    certificate: Certificate | SoftMarginCertificate, rows: Centred, signs: Vector, costs: Vector, counting: Flags
) -> Interval:
    """What the best plane of the counting rows, which the certificate is about, makes of all rows."""
    w, gap = certificate.w, certificate.primal - certificate.dual
    n_terms = rows.X.shape[1] + 12
    if isinstance(certificate, Certificate):  # in canonical scale, where the nearest row has y (w.x + b) = 1
        w = w / (certificate.margin_lower * length(w, certificate.norm))
    delta = math.sqrt(2.0 * max(0.0, gap)) * SLIGHTLY if math.isfinite(gap) else math.inf
    values = values_of(rows.X, w) - float(rows.center @ w)
    sizes = sizes_of(rows.X, np.abs(w)) + float(np.abs(rows.center) @ np.abs(w))
    off = delta * rows.lengths + 2.0 * rounding(n_terms) * sizes
    low = high = 0.0
    is_free = np.ones(len(signs), dtype=bool)
    if certificate.fit_intercept:
        if isinstance(certificate, Certificate):
            low, high, is_free = bias_of_hard(values, off, signs, counting)
        else:
            loss = loss_named(certificate.loss, certificate.huber_width)
            low, high = bias_of_soft(values[counting], off[counting], signs[counting], costs[counting], loss)
    ends = np.stack([signs * low, signs * high])
    slop = rounding(4) * (np.abs(values) + max(abs(low), abs(high)))
    lower = signs * values - off + ends.min(axis=0) - slop
    upper = signs * values + off + ends.max(axis=0) + slop
    is_free &= isinstance(certificate, Certificate) | (lower >= 1.0)
    return Interval(lower, upper, is_free)


def bias_of_hard(values: Vector, off: Vector, signs: Vector, counting: Flags) -> tuple[float, float, Flags]:
    """Between which B* lies, and all rows but the two that say so."""
    at_least = np.where(counting & (signs > 0), 1.0 - values - off, -math.inf)
    at_most = np.where(counting & (signs < 0), -1.0 - values + off, math.inf)
    first, second = int(np.argmax(at_least)), int(np.argmin(at_most))
    is_free = np.ones(len(signs), dtype=bool)
    is_free[[first, second]] = False
    return float(at_least[first]), float(at_most[second]), is_free


def bias_of_soft(values: Vector, off: Vector, signs: Vector, costs: Vector, loss: Loss) -> tuple[float, float]:
    """Between which B* lies: by halving, for the slope rises with B."""

    def slope(moved: Vector, B: float) -> tuple[float, float]:
        """G(B), and at most what rounding makes of it."""
        pulls = costs * loss.share(1.0 - signs * (moved + B))
        return float(-np.sum(signs * pulls)), rounding(len(pulls) + 8) * float(np.sum(pulls))

    bounds = []
    for sign in (1.0, -1.0):  # from above with all values lowered, from below with all values raised
        moved = values - sign * off
        turns = signs - moved
        inside, outside = (float(turns.min()) - 1.0, float(turns.max()) + 1.0)[:: int(sign)]
        for _ in range(HALVINGS):
            middle = 0.5 * (inside + outside)
            found, error = slope(moved, middle)
            inside, outside = (inside, middle) if sign * found > error else (middle, outside)
        bounds.append(outside)
    return bounds[1], bounds[0]
