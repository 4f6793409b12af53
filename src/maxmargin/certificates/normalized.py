"""Rows at length 1: the margin as a cosine, and its l1 relative, from any plane and any weights of the rows.

    rows      a_i = y_i (x_i, 1), or y_i x_i without a bias; v = (w, b) or w
    l2        g_P = max_v min_i v.a_i / (|v|_2 |a_i|_2)            the cosine of the largest angle
    l1        g_W = max_v min_i v.a_i / (|v|_1 |a_i|_inf)

    lower     any plane has such a minimum: the largest is at least that
    upper     any weights l >= 0, not all 0:  min_i v.a_i / |a_i|  <=  sum_i l_i v.a_i / sum_i l_i |a_i|
              <=  |v| |sum_i l_i a_i|_* / sum_i l_i |a_i|,   |.|_* = |.|_2 for l2, |.|_inf for l1

Dividing a row by its length changes no sign: a plane separates the rows at length 1 exactly when it separates the
rows as they are, and weights of the one are weights of the other, l_i |a_i| for l_i. So both bounds are from the plane
and the weights of an ordinary certificate.

The two are tied, with m coordinates of v (d + 1 with a bias). |v|_2 <= |v|_1 <= sqrt(m) |v|_2 and
|a|_inf <= |a|_2 <= sqrt(m) |a|_inf, so that |v|_1 |a|_inf and |v|_2 |a|_2 are each at most sqrt(m) times the other:

    g_P / sqrt(m)  <=  g_W  <=  sqrt(m) g_P

Both ends are reached: by the rows e_1, ..., e_m (g_P = 1/sqrt(m), g_W = 1/m), and by all rows (1, +-1, ..., +-1)
(g_P = 1/sqrt(m), g_W = 1).

A table out of the safe range is first multiplied by a power of two, as the solvers see it. Roundings are counted as in
`measure`: the lower bound is moved down, the upper one up. `holds_exactly` decides both in fractions: squares are
compared, and a length that is a root is taken to hundreds of digits, against the claim.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates.measure import dual_norm, plane_margin
from maxmargin.certificates.passes import length, point_of, rounding
from maxmargin.data.table import Matrix, Vector, in_safe_range, is_sparse, matrix_of, row_squares

DIGITS = 2**600  # of a root in `holds_exactly`
TINY = 1e-300


class NormalizedMargin(NamedTuple):
    """The best margin of the rows at length 1 lies between these; -inf and inf where nothing is proven."""

    lower: float
    upper: float

    @property
    def relative_gap(self) -> float:
        return (self.upper - self.lower) / self.upper if 0.0 < self.upper < math.inf else math.inf


NO_MARGIN = NormalizedMargin(-math.inf, 0.0)  # where no plane separates


def follows_from(c: Any, claimed: NormalizedMargin, problem: tuple[Any, Vector, Any], *, exact: bool) -> bool:
    """Whether the bounds follow from the plane and the weights of a certificate that holds; exact: in fractions.

    The problem is the certificate's: the table, the signs, and which rows of the user's they are (`verify.problem_of`).
    """
    if c.is_separable is False:
        return claimed == NO_MARGIN
    table, signs, kept = problem
    weights = np.zeros(len(kept))
    weights[np.searchsorted(kept, c.rows)] = c.weights
    given = matrix_of(table), signs, c.w, c.b, weights, c.norm, c.fit_intercept
    if not exact:
        fresh = normalized_margin(*given)
        if claimed.lower <= fresh.lower and claimed.upper >= fresh.upper:
            return True
    return holds_exactly(*given, claimed)


def lengths_of(X: Matrix, norm: str, fit_intercept: bool) -> Vector:
    """|a_i| of the rows of a table in the safe range, as float64 computes it."""
    if norm == "l2":
        return np.asarray(np.sqrt(row_squares(X) + (1.0 if fit_intercept else 0.0)))
    largest = abs(X).max(axis=1)
    largest = np.asarray(largest.todense() if is_sparse(X) else largest, dtype=np.float64).ravel()
    return np.maximum(largest, 1.0) if fit_intercept else largest


def normalized_distances(
    X: Matrix, signs: Vector, w: Vector, b: float, norm: str, fit_intercept: bool, *, upwards: bool = False
) -> Vector:
    """Surely at most (upwards: at least) v.a_i / (|v| |a_i|) of each row; -inf without a plane, and for a row of 0."""
    table = in_safe_range(X)
    plane = plane_margin(table.X, signs, w / table.scale, b, norm)
    if not math.isfinite(plane.lower):
        return np.full(X.shape[0], -math.inf)
    bias = abs(plane.b) if fit_intercept else 0.0
    size = math.hypot(1.0, bias) if norm == "l2" else 1.0 + bias  # |v| / |w|
    off, relative = 2.0 * (plane.value - plane.lower) + TINY, 4.0 * rounding(X.shape[1] + 8)
    distances = plane.distances + (off if upwards else -off)
    relative = -relative if upwards else relative
    lengths = lengths_of(table.X, norm, fit_intercept)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        cosines = distances / (size * lengths)
    cosines = np.where(cosines > 0.0, cosines * (1.0 - relative), cosines * (1.0 + relative))
    return np.where(lengths > 0.0, cosines, -math.inf)


def normalized_margin(
    X: Matrix, signs: Vector, w: Vector, b: float, weights: Vector, norm: str, fit_intercept: bool
) -> NormalizedMargin:
    """What the plane and the weights, one for each row of X, prove."""
    lower = float(normalized_distances(X, signs, w, b, norm, fit_intercept).min(initial=math.inf))
    return NormalizedMargin(lower if X.shape[0] else -math.inf, upper_bound(X, signs, weights, norm, fit_intercept))


def upper_bound(X: Matrix, signs: Vector, weights: Vector, norm: str, fit_intercept: bool) -> float:
    """No plane has a larger margin on the rows at length 1."""
    rows = np.flatnonzero(weights)
    heaviest = float(np.max(weights[rows], initial=0.0))
    if not 0.0 < heaviest < math.inf or np.any(weights[rows] < 0.0):
        return math.inf
    part, own, n, d = in_safe_range(X).X[rows], weights[rows] / heaviest, len(rows), X.shape[1]
    total = math.fsum(own * lengths_of(part, norm, fit_intercept)) * (1.0 - rounding(d + 8))
    if not total > 0.0:
        return math.inf
    p = point_of(part, signs[rows] * own)
    p = np.append(p, math.fsum(signs[rows] * own)) if fit_intercept else p
    value: float = length(p, dual_norm(norm)) / total
    vanished = TINY * (n + 2) * d / total
    return float((value + 1.02 * rounding(n + 4)) * (1.0 + 2.0 * rounding(d + 8)) + vanished)


def holds_exactly(
    X: Matrix,
    signs: Vector,
    w: Vector,
    b: float,
    weights: Vector,
    norm: str,
    fit_intercept: bool,
    claimed: NormalizedMargin,
) -> bool:
    """Whether both bounds hold, in fractions; float64 decides the rows that its rounding cannot overturn."""
    if math.isnan(claimed.lower):
        return False
    doubtful = np.flatnonzero(~(normalized_distances(X, signs, w, b, norm, fit_intercept) >= claimed.lower))
    scale = Fraction(in_safe_range(X).scale)
    v = [Fraction(float(own)) / scale for own in w] + [Fraction(float(b))] * bool(fit_intercept)
    size = sum(own * own for own in v) if norm == "l2" else sum(map(abs, v)) ** 2
    for row in doubtful:
        a = lifted_row(X, int(row), signs, scale, fit_intercept)
        f = sum((own * cell for own, cell in zip(v, a, strict=True)), Fraction(0))
        g = Fraction(claimed.lower) if math.isfinite(claimed.lower) else Fraction(0)
        if claimed.lower == math.inf or size == 0 or f * abs(f) < g * abs(g) * size * squared_length(a, norm):
            return claimed.lower == -math.inf
    rows = np.flatnonzero(weights)
    if claimed.upper == math.inf:
        return True
    if not math.isfinite(claimed.upper) or not np.all(np.isfinite(weights[rows]) & (weights[rows] > 0.0)):
        return False
    lifted = [lifted_row(X, int(row), signs, scale, fit_intercept) for row in rows]
    own = [Fraction(float(weight)) for weight in weights[rows]]
    p = [sum((weight * a[j] for weight, a in zip(own, lifted, strict=True)), Fraction(0)) for j in range(len(v))]
    star = sum(cell * cell for cell in p) if norm == "l2" else max(map(abs, p), default=Fraction(0)) ** 2
    total = sum(
        (weight * root_below(squared_length(a, norm)) for weight, a in zip(own, lifted, strict=True)), Fraction(0)
    )
    return bool(total > 0 and claimed.upper >= 0.0 and star <= (Fraction(claimed.upper) * total) ** 2)


def lifted_row(X: Matrix, row: int, signs: Vector, scale: Fraction, fit_intercept: bool) -> list[Fraction]:
    cells = X[[row]].toarray()[0] if is_sparse(X) else X[row]
    sign = int(signs[row])
    return [sign * scale * Fraction(float(cell)) for cell in cells] + [Fraction(sign)] * bool(fit_intercept)


def squared_length(a: list[Fraction], norm: str) -> Fraction:
    return sum((cell * cell for cell in a), Fraction(0)) if norm == "l2" else max(map(abs, a)) ** 2


def root_below(square: Fraction) -> Fraction:
    """At most its root."""
    return Fraction(math.isqrt(math.floor(square * DIGITS * DIGITS)), DIGITS)
