"""What the numbers prove, from the raw data, in plain NumPy and with every rounding error accounted for.

    plane     margin(w, b) = min_i y_i (w.x_i + b) / |w|           a lower bound of the best margin
    hulls     p = sum_+ l_i x_i / sum_+ l - sum_- l_i x_i / sum_- l
              |p|_* / 2                                            an upper bound, for any l >= 0
              (through the origin: p = sum l_i y_i x_i / sum l, and |p|_*)

|.| is the norm of the margin, |.|_* its dual: both Euclidean for l2; the sum and the largest coordinate for l1.
The scaling by the class sums makes any nonnegative weights feasible. A computed dot product of k terms is within
k u / (1 - k u) of the sum of its terms' magnitudes, u = 2^-53 [higham2002]; the bounds below are moved outwards by
that much, so that they hold for the real numbers and not only for the computed ones. Where float64 leaves open whether
a plane separates rows that are not many, integers say so (`measured_plane`). How far both are from the conditions of
optimality is measured from the same numbers (`conditions`).
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates import exact
from maxmargin.certificates.passes import LongestRow, length, longest_row, margins_of, point_of, rounding
from maxmargin.certificates.proof import KKT, Violation
from maxmargin.data.table import Block, Matrix, Table, Vector, as_table, largest_magnitude, matrix_of

MOST_IN_INTEGERS = 100_000  # numbers of a table that are read as integers where float64 is in doubt: a second
ON_THE_PLANE = 1e-9  # of the farthest row: nearer rows are taken to lie on a weakly separating plane


@dataclass(frozen=True, eq=False)
class Claim:
    """A plane and row weights for one two-class problem, still to be judged.

    `hulls_meet` asks for the exact proof that the weighted rows span a common point of the hulls; `weakly`, whether the
    plane separates weakly then.
    """

    w: Vector
    b: float
    rows: NDArray[np.intp]
    weights: Vector
    hulls_meet: bool = False
    stopped: bool = False
    weakly: bool = True


class PlaneMargin(NamedTuple):
    """The margin of a plane: computed, surely at least, and the row that has it.

    `distances` are the signed distances of all rows; `w` and `b` are the plane with |w| = 1. If there is no plane
    (w = 0) or no row, the margin is -inf and the rest is NaN.
    """

    value: float
    lower: float
    row: int
    distances: Vector
    w: Vector
    b: float


class HullDistance(NamedTuple):
    """Half the distance of two points of the hulls (of one point to the origin without a bias).

    `p` joins them; `weights` are the feasible weights that make it, one per given row.
    """

    value: float
    upper: float
    p: Vector
    weights: Vector


def dual_norm(norm: str) -> str:
    return "l2" if norm == "l2" else "max"


class ScaledPlane(NamedTuple):
    """A plane of which no w.x overflows: |w|_1 < 1. `size` is |w| in the norm of the margin."""

    w: Vector
    b: float
    size: float

    def lower(self, least: float, terms: int, magnitude: float) -> float:
        """At most the margin, of the least y (w.x + b) as it was computed: w.x has so many terms, of this magnitude."""
        error = 1.01 * rounding(terms + 2) * (magnitude + abs(self.b)) + math.ulp(0.0) * (terms + 2)
        relative = 2.0 * rounding(len(self.w) + 4)  # of the norm and the division
        lower = min((least - error) / self.size, sys.float_info.max)
        lower = lower * (1.0 - relative) if lower > 0.0 else lower * (1.0 + relative)
        return math.nextafter(math.nextafter(lower, -math.inf), -math.inf)  # a denormal rounds by more


def scaled_plane(w: Vector, b: float, norm: str) -> ScaledPlane | None:
    """The same plane times a power of two; None if it is none."""
    steepest = length(w, "max")
    if steepest == 0.0 or not math.isfinite(steepest) or not math.isfinite(b):
        return None
    exponent = math.frexp(steepest)[1] + len(w).bit_length()  # afterwards |w|_1 < 1
    with np.errstate(over="ignore"):
        w, b = np.ldexp(w, -exponent), float(np.ldexp(b, -exponent))
    return ScaledPlane(w, b, length(w, norm))


def magnitude_of(w: Vector, largest: float, longest: float | None) -> float:
    """At least |w|.|x| of any row, up to rounding: largest >= |x_ij|, and longest >= |x_i| where it is known."""
    magnitude = length(w, "l1") * largest
    return magnitude if longest is None else min(length(w, "l2") * longest, magnitude)


def plane_margin(X: Matrix | Table, signs: Vector, w: Vector, b: float, norm: str) -> PlaneMargin:
    """The margin of the plane w.x + b = 0 on the rows."""
    table = as_table(X)
    (n, d), terms = table.shape, table.terms
    none = PlaneMargin(-math.inf, -math.inf, -1, np.full(n, np.nan), np.full(d, np.nan), math.nan)
    plane = scaled_plane(w, b, norm)
    if n == 0 or plane is None:
        return none
    values, largest = margins_of(table, plane.w)
    magnitude = magnitude_of(plane.w, largest, longest_row(table) if table.is_sparse else None)
    if not math.isfinite(magnitude + abs(plane.b)):
        return none
    values += plane.b
    values *= signs
    row = int(np.argmin(values))
    least = float(values[row])
    lower = plane.lower(least, terms, magnitude)
    with np.errstate(over="ignore"):
        values /= plane.size
    return PlaneMargin(least / plane.size, lower, row, values, plane.w / plane.size, plane.b / plane.size)


def hull_distance(X: Matrix, signs: Vector, weights: Vector, norm: str, fit_intercept: bool) -> HullDistance:
    """The upper bound that the weights of these rows prove. Infinite if a class has no weight."""
    plus, minus = signs > 0, signs < 0
    groups = [plus, minus] if fit_intercept else [plus | minus]
    feasible = np.zeros(len(weights))
    for group in groups:
        heaviest = float(np.max(weights[group], initial=0.0))
        own = weights[group] / heaviest if 0.0 < heaviest < math.inf else weights[group]  # so that no sum overflows
        total = math.fsum(own)
        if not (total > 0.0 and math.isfinite(total)):
            return HullDistance(math.inf, math.inf, np.full(X.shape[1], np.nan), feasible)
        feasible[group] = own / total
    star, largest = dual_norm(norm), largest_magnitude(X)
    with np.errstate(over="ignore"):  # an infinite bound is a true one
        p = point_of(X, signs * feasible)
    value = length(p, star)
    vanished = math.ulp(0.0) * (len(weights) + 2) * X.shape[1] * (1.0 + largest)  # of weights, of products
    longest = LongestRow(largest)(Block(0, 0, X)) if star == "l2" else largest
    spread = len(groups) * longest  # at least |sum_i l_i |x_i||
    error = 1.01 * rounding(len(weights) + 3) * spread + vanished
    share = 1.0 / len(groups)
    upper = (value + error) * (1.0 + 2.0 * rounding(X.shape[1] + 4))
    return HullDistance(share * value, share * upper, p, feasible)


def objective(margin: float, norm: str) -> float:
    """The margin as the value of the problem min 1/2 |w|_2^2 (l1: min |w|_1) subject to y (w.x + b) >= 1."""
    if not margin > 0.0:
        return math.inf
    if margin == math.inf:
        return 0.0
    return 0.5 / margin / margin if norm == "l2" else 1.0 / margin


def measured_plane(X: Matrix | Table, signs: Vector, w: Vector, b: float, norm: str) -> PlaneMargin:
    """The margin of a plane: in float64 or, where that leaves open whether it separates the rows and they are few, in
    integers. Those say yes or leave it at what float64 says."""
    plane = plane_margin(X, signs, w, b, norm)
    n, d = X.shape
    in_doubt = plane.lower <= 0.0 < plane.value + 4.0 * rounding_of(plane)
    if not in_doubt or n * d > MOST_IN_INTEGERS:
        return plane
    margins = exact.margins_in_floats(matrix_of(X), signs, w, b)
    if margins is None or not margins.min() > 0.0:
        return plane
    exponent = math.frexp(length(w, "max"))[1]
    size = length(np.ldexp(w, -exponent), norm)
    distances = np.ldexp(margins, -exponent) / size
    row = int(np.argmin(distances))
    value = float(distances[row])
    lower = math.nextafter(math.nextafter(value * (1.0 - 4.0 * rounding(d + 8)), -math.inf), -math.inf)
    if not (lower > 0.0 and exact.exact_margin_at_least(X, signs, w, b, lower, norm)):  # denormals round by more
        return plane
    return plane._replace(value=value, lower=lower, row=row, distances=distances)


def rounding_of(plane: PlaneMargin) -> float:
    return plane.value - plane.lower if math.isfinite(plane.lower) else 0.0


def rounding_of_hulls(hulls: HullDistance) -> float:
    return hulls.upper - hulls.value if math.isfinite(hulls.upper) else 0.0


def rows_on(plane: PlaneMargin) -> NDArray[np.intp]:
    """The rows that a weakly separating plane passes through, as far as float64 can tell."""
    farthest = float(np.max(np.abs(plane.distances)))
    return np.flatnonzero(np.abs(plane.distances) <= ON_THE_PLANE * farthest)


def weakly_separated(X: Matrix | Table, signs: Vector, plane: PlaneMargin, claim: Claim, fit_intercept: bool) -> int:
    """Exactly, after an exact projection onto the rows that are on the plane: how many rows are off it; 0 where one is
    on the wrong side."""
    if not plane.value > -math.inf:
        return 0
    farthest = float(np.max(np.abs(plane.distances)))
    if not (farthest > 0.0 and plane.value >= -ON_THE_PLANE * farthest):
        return 0
    return exact.exact_weak_plane(X, signs, rows_on(plane), claim.w, claim.b if fit_intercept else None).off


def conditions(
    signs: Vector,
    claim: Claim,
    plane: PlaneMargin,
    hulls: HullDistance,
    norm: str,
    fit_intercept: bool,
) -> KKT | None:
    """The Karush-Kuhn-Tucker conditions of the claim, each relative to its own scale."""
    if not math.isfinite(hulls.value) or hulls.value == 0.0:
        return None
    share = hulls.weights / hulls.weights.sum()  # a / sum a
    if norm == "l2":
        stationarity = length(plane.w - hulls.p / length(hulls.p, "l2"), "l2")
    else:  # |w|_1 |p|_max = w.p: p is largest wherever w is not zero
        stationarity = max(0.0, 1.0 - float(plane.w @ (hulls.p / length(hulls.p, "max"))))
    slack = slackness(plane, claim.rows, share)
    worst = int(np.argmax(slack))
    lightest = int(np.argmin(share))
    signed = signs[claim.rows]
    own_bias = signed * (plane.value - plane.distances[claim.rows])  # b_i - b, with y_i (w.x_i + b_i) = margin
    disagreement = float(np.ptp(own_bias[share > 0.0])) / plane.value if fit_intercept else 0.0
    return KKT(
        stationarity=Violation(float(stationarity)),
        primal=Violation(max(0.0, 1.0 - float(plane.distances[plane.row]) / plane.value), plane.row),
        dual=Violation(
            max(0.0, -float(share[lightest]), abs(float(signed @ share)) if fit_intercept else 0.0),
            int(claim.rows[lightest]),
        ),
        slackness=Violation(max(0.0, float(slack[worst])), int(claim.rows[worst])),
        bias=Violation(disagreement),
    )


def slackness(plane: PlaneMargin, rows: NDArray[np.intp], share: Vector) -> Vector:
    """a_i (y_i (w.x_i + b) - 1) / sum a for these rows, in canonical scale: the nearest row has y (w.x + b) = 1."""
    beyond = plane.distances[rows] - plane.value
    with np.errstate(over="ignore"):  # infinite, where the nearest row is too near for any number
        return np.asarray(share * beyond / plane.value)
