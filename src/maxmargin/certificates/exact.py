"""Proofs in exact rational arithmetic.  A double is an integer times a power of two, so all can be decided.

    intersection    l >= 0, l != 0,  sum_i l_i y_i x_i = 0  (and  sum_i l_i y_i = 0  with a bias)
    plane           y_i (w.x_i + b) > 0  on every row;  or  >= g |w|,  so that the best margin is at least g
    upper bound     with a bias  p = sum_+ l x / sum_+ l - sum_- l x / sum_- l,   best margin <= |p|_dual / 2
                    without      p = sum_i l_i y_i x_i / sum_i l_i,               best margin <= |p|_dual
    weak plane      y_i (w.x_i + b) >= 0  on every row,  > 0  on some row

Gordan: a plane with y_i (w.x_i + b) > 0 on every row exists exactly when no intersection does.  So a proof that
there is no intersection is an answer too: the rows that were given are separable.

A pass over all rows is filtered: float64 decides whatever its own rounding error cannot overturn; integers
decide the rest.  X is an array of integers, booleans or floats of at most 64 bits, or a SciPy CSR matrix in
canonical format, or a table of blocks of these; its numbers are read without rounding.  Reference: [gordan1873],
[higham2002] section 3.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.exact_face import plane_through
from maxmargin.certificates.exact_linear_algebra import (
    EXACT_BLOCK,
    Dyadic,
    Integers,
    Rows,
    common_integers,
    dyadic,
    float_above,
    mantissas_and_exponents,
    nonnegative_null_vector,
    null_point,
    power_of_two,
    present_columns,
    weighted_sum,
)
from maxmargin.certificates.passes import product, rows_in_float64
from maxmargin.data.executor import check_interrupt
from maxmargin.data.table import is_sparse
from maxmargin.problems.statement import Norm

Vector = NDArray[Any]
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

ROUNDING = 2.0**-53
EXTRA_WORK = 100_000  # r^2 times the rows beyond a circuit that an exact search takes in: seconds at most


@dataclass(frozen=True)
class Verdict:
    """Whether the claim is proven, why, and the first row that contradicts it (None when no row does)."""

    holds: bool
    reason: str
    row: int | None = None
    off: int = 0  # of a weak plane: how many rows are strictly on their side

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True)
class Intersection:
    """Integer weights >= 0 of the rows, whose combination vanishes; None if refused, and why.

    `separable` says that there are none on the rows that were given: this too is proven.
    """

    weights: list[int] | None
    reason: str
    separable: bool = False

    def __bool__(self) -> bool:
        return self.weights is not None


# -------------------------------------------------------------------------------------- the hulls intersect


def null_vector(rows: Rows, signs: Vector, with_bias: bool, weights: Vector | None = None) -> list[int] | None:
    """Solve M l = 0, M of the columns y_i x_i (with a bias y_i (x_i, 1)), in integers without common factor.

    None if only l = 0 does.  If the null space is a line, its vector with a sum >= 0.  If it is larger, the
    vector in it that agrees with `weights` (> 0, by default 1) on rows that depend on rows of larger weight.

    >>> null_vector(np.array([[0.0], [1.0], [3.0]]), np.array([1, -1, 1]), with_bias=True)
    [2, 3, 1]
    """
    claimed = np.ones(len(signs)) if weights is None else weights
    if not (claimed > 0).all():
        raise ValueError("weights must be positive")
    order = np.argsort(-claimed, kind="stable")
    matrix = signed_columns(rows, signs, with_bias)[:, order]
    point = np.empty(len(order), dtype=object)
    point[order], _ = null_point(matrix, common_integers(dyadic(claimed[None, order]))[0][0])
    if not point.any():
        return None
    return primitive(point if point.sum() >= 0 else -point)


def proves_intersection(
    rows: Rows, signs: Vector, weights: Vector, with_bias: bool, exchanges: int = 30
) -> Intersection:
    """Find l >= 0, l != 0 with M l = 0 on the rows of positive weight, or prove that there is none.

    The weights only say which rows to try; they may be wrong in every digit.  The answer is a basic solution:
    at most rank M + 1 <= d + 2 rows carry it.  If there are more, float64 guesses which.  Should the guess fail,
    rows of large weight are added and exchanged exactly; running out of either leaves the question open.

    >>> proves_intersection(np.array([[1.0], [1.0]]), np.array([1, -1]), np.array([0.5, 0.4]), with_bias=True)
    Intersection(weights=[1, 1], reason='The convex hulls of the two classes share a point.', separable=False)
    """
    if len(weights) != len(signs) or not np.isfinite(weights).all() or not (weights > 0).any():
        return Intersection(None, "The weights must be finite, one for each row, and some of them positive.")
    support = np.flatnonzero(weights > 0)
    support = support[np.argsort(-weights[support], kind="stable")]
    try:
        matrix = signed_columns(rows[support], signs[support], with_bias)
    except FloatingPointError:
        return Intersection(None, "A row of the witness is not finite.")
    tried = float_circuit(matrix, weights[support].astype(np.float64))
    found, excluded = nonnegative_null_vector(matrix[:, tried], exchanges)
    if found is None and len(tried) < len(support):
        others = np.setdiff1d(np.arange(len(support)), tried)
        tried = np.append(tried, others[: max(8, EXTRA_WORK // len(tried) ** 2)])
        found, excluded = nonnegative_null_vector(matrix[:, tried], exchanges)
    if found is None and excluded and len(tried) == len(support):
        return Intersection(None, "These rows are separable: no weights >= 0 make their sum vanish.", True)
    if found is None:
        return Intersection(None, f"{len(tried)} rows were tried and no intersection found; it stays open.")
    # The proof: it rests on these integers, not on how they were found.
    if (matrix[:, tried] @ found).any() or (found < 0).any() or not found.any():
        raise AssertionError("the combination does not vanish")
    exact = np.zeros(len(signs), dtype=object)
    exact[support[tried]] = found
    hulls = "The convex hulls of the two classes share a point."
    origin = "The convex hull of the rows, each times its sign, holds the origin."
    return Intersection(primitive(exact), hulls if with_bias else origin)


@np.errstate(all="ignore")
def float_circuit(matrix: Integers, weights: Floats) -> Indices:
    """Columns that carry some l >= 0 with M l about 0, and no two such l, if M weights is about 0: a guess.

    Caratheodory: along a null vector v of some columns, l - t v reaches 0 in one of them and stays >= 0.
    """
    lines = np.array([shortened(line) for line in matrix]).reshape(matrix.shape)
    lengths = np.linalg.norm(lines, axis=0)
    lines /= np.where(lengths > 0, lengths, 1.0)
    left = weights / weights.max() * np.where(lengths > 0, lengths, 1.0)
    while True:
        support = np.flatnonzero(left > 0)
        some = support[np.argsort(left[support], kind="stable")][: len(lines) + 2]
        if not lines[:, some].size:
            return support[:1]
        _, sizes, vectors = np.linalg.svd(np.linalg.qr(lines[:, some], mode="r"))
        if len(some) - np.count_nonzero(sizes > 1e-12 * len(some)) < 2:
            return support
        # Orthogonal to l, hence not l itself, which would take all columns away at once.
        v = vectors[-1] * (vectors[-2] @ left[some]) - vectors[-2] * (vectors[-1] @ left[some])
        rising = v > 1e-9 * abs(v).max()
        steps = np.where(rising, left[some] / np.where(rising, v, 1.0), np.inf)
        leaving = int(np.argmin(steps))
        if rising.any():
            left[some] = np.maximum(left[some] - steps[leaving] * v, 0.0)
        left[some[leaving]] = 0.0


def shortened(line: Integers) -> Floats:
    """Integers of any length over a power of two, at most 1 in size, in float64."""
    bits = int(max(abs(line))).bit_length()
    leading: Floats = (line >> max(0, bits - 1000)).astype(np.float64)
    shrunk: Floats = np.ldexp(leading, -min(bits, 1000))
    return shrunk


def signed_columns(rows: Rows, signs: Vector, with_bias: bool) -> Integers:
    """M, a column y_i x_i or y_i (x_i, 1) per row; powers of two that scale its lines move no null vector."""
    y = exact_signs(signs)
    lines = dyadic(present_columns(rows)[0]).mantissas.T * y
    lines = lines[(lines != 0).any(axis=1)]
    return np.vstack([lines, y]) if with_bias else lines


def check_signs(signs: Vector) -> None:
    if not (abs(signs) == 1).all():
        raise ValueError("signs must be +1 or -1")


def exact_signs(signs: Vector) -> Integers:
    check_signs(signs)
    return signs.astype(np.int64).astype(object)


def primitive(vector: Integers) -> list[int]:
    return [int(v) for v in vector // math.gcd(*vector)]


# ---------------------------------------------------------------------------------------- planes and margins


def exact_margins_positive(X: Rows, signs: Vector, w: Vector, b: float | None) -> Verdict:
    """Decide y_i (w.x_i + b) > 0 for every row i; b is None for a plane through the origin."""
    plane = read_plane(w, b)
    if plane is None:
        return Verdict(False, "A coefficient of the plane is not finite.")
    row = first_row_below(X, signs, plane, doubtful_rows(X, signs, w, b, level=0.0), lambda exponent: 1)
    if row is not None:
        return Verdict(False, f"Row {row} is not strictly on its side of the plane.", row)
    return Verdict(True, "Every row is strictly on its side of the plane.")


def exact_margin_at_least(
    X: Rows, signs: Vector, w: Vector, b: float | None, bound: float, norm: Norm | str
) -> Verdict:
    """Decide min_i y_i (w.x_i + b) >= bound |w|, w != 0, in the norm l2 or l1 of w."""
    plane = read_plane(w, b)
    if plane is None or not math.isfinite(bound):
        return Verdict(False, "The bound or a coefficient of the plane is not finite.")
    if not w.any():
        return Verdict(False, "w is zero, which makes no plane.")
    normal, unit = common_integers(Dyadic(plane.mantissas[:-1], plane.exponents[:-1]))
    g, l1 = Fraction(bound), Norm(norm) is Norm.L1
    square = sum(normal * normal)
    length = sum(abs(normal)) if l1 else math.isqrt(square) + 1  # >= |w| / 2**unit

    def least_integer(exponent: int) -> int:
        """The least integer m with m 2**exponent >= bound |w|."""
        scale = g * power_of_two(unit - exponent)
        if l1:
            return math.ceil(scale * length)
        squared = scale * scale * square
        return -math.isqrt(math.floor(squared)) if g <= 0 else math.isqrt(math.ceil(squared) - 1) + 1

    level = float_above(max(g, Fraction(0)) * length * power_of_two(unit))
    row = first_row_below(X, signs, plane, doubtful_rows(X, signs, w, b, level), least_integer)
    if row is not None:
        return Verdict(False, f"The margin of row {row} is below {float(bound)!r}.", row)
    return Verdict(True, f"The margin of every row is at least {float(bound)!r}.")


def margins_in_floats(X: Rows, signs: Vector, w: Vector, b: float) -> Floats | None:
    """y_i (w.x_i + b) of every row, each rounded once, from its exact value; None where one is beyond float64."""
    plane, found = read_plane(w, b), np.empty(len(signs))
    if plane is None:
        return None
    for rows, margins, unit in exact_margins(X, signs, plane, [np.arange(len(signs))]):
        if len(margins) < len(rows):
            return None
        try:
            found[rows] = [float(int(margin) * power_of_two(unit)) for margin in margins]
        except OverflowError:
            return None
    return found


def exact_weak_plane(X: Rows, signs: Vector, face_rows: Vector, w: Vector, b: float | None) -> Verdict:
    """Decide y_i (v.x_i + c) >= 0 on every row and > 0 on some, for (v, c) near (w, b), through a face.

    Doubles can rarely hold v.x_i + c = 0 on the face rows.  So as many coordinates of (w, b) as the face rows
    have rank, those that they determine best, are solved from these equations in rationals; the others stay.
    """
    claimed = read_plane(w, b)
    if claimed is None:
        return Verdict(False, "A coefficient of the plane is not finite.")
    try:
        plane, drift = plane_through(X[face_rows], claimed, with_bias=b is not None)
    except FloatingPointError:
        return Verdict(False, "A row on the plane is not finite.")
    off = len(signs)
    for rows, margins, _ in exact_margins(X, signs, plane, doubtful_rows(X, signs, w, b, level=0.0, drift=drift)):
        if len(margins) < len(rows) or (margins < 0).any():
            row = int(rows[np.argmax(margins < 0) if (margins < 0).any() else len(margins)])
            return Verdict(False, f"Row {row} is beyond the plane.", row)
        off -= int(np.count_nonzero(margins == 0))
    if off == 0:
        return Verdict(False, "Every row is on the plane.")
    return Verdict(True, "No row is beyond the plane, and some row is strictly on its side.", off=off)


def read_plane(w: Vector, b: float | None) -> Dyadic | None:
    """(w, b) as exact numbers, 0 for no bias; None unless all are finite."""
    offset = np.asarray([0.0 if b is None else b])
    if not (np.isfinite(w).all() and np.isfinite(offset).all()):
        return None
    parts = mantissas_and_exponents(w), mantissas_and_exponents(offset)
    return Dyadic(*(np.concatenate(both) for both in zip(*parts, strict=True)))


def doubtful_rows(
    X: Rows, signs: Vector, w: Vector, b: float | None, level: float, drift: Floats | None = None
) -> Iterator[Indices]:
    """The rows, block by block, where float64 does not prove  y_i (v.x_i + c) > level  for all (v, c) within
    `drift` of (w, b), coefficient by coefficient.

        |fl(w.x + b) - (w.x + b)| <= gamma_n (|w|.|x| + |b|) + tiny,    gamma_n = n u / (1 - n u),

    in any order of summation.  n = d + 6 leaves room for integers that float64 rounds; `tiny` is for
    underflow, be it gradual or flushed to zero.
    """
    n = X.shape[1] + 6
    gamma = n * ROUNDING / (1 - n * ROUNDING)
    normal, offset = w.astype(np.float64), 0.0 if b is None else float(b)
    moved = np.zeros(X.shape[1] + 1) if drift is None else drift
    for start, block in rows_in_float64(X):
        with np.errstate(all="ignore"):  # overflow makes the error infinite or NaN, and the row doubtful
            sizes = abs(block)
            largest = float((sizes.data if is_sparse(sizes) else sizes).max(initial=0.0))
            value = signs[start : start + block.shape[0]] * (product(block, normal) + offset)
            size = product(sizes, abs(normal)) + abs(offset)
            tiny = n * 2.0**-1020 * (1 + abs(normal).max(initial=0.0) + moved.max()) * (1 + largest)
            error = 1.01 * (gamma * size + product(sizes, moved[:-1]) + moved[-1]) + tiny
            error += 4 * ROUNDING * (abs(value) + abs(level))  # value - level is rounded as well
            clear = value - level > error
        yield start + np.flatnonzero(~clear)


def first_row_below(
    X: Rows, signs: Vector, plane: Dyadic, candidates: Iterable[Indices], least: Callable[[int], int]
) -> int | None:
    """The first candidate with  y_i (v.x_i + c) < least(e) 2**e,  where 2**e makes the margins integers.

    A row that is not finite has no margin, and counts as below.
    """
    for rows, margins, unit in exact_margins(X, signs, plane, candidates):
        below = np.flatnonzero(margins < least(unit))
        if len(below) or len(margins) < len(rows):
            return int(rows[below[0] if len(below) else len(margins)])
    return None


def exact_margins(
    X: Rows, signs: Vector, plane: Dyadic, candidates: Iterable[Indices]
) -> Iterator[tuple[Indices, Integers, int]]:
    """Candidates, their y_i (v.x_i + c) over 2**e as far as the rows are finite, and e."""
    check_signs(signs)
    at_a_time = max(1, EXACT_BLOCK // max(1, X.shape[1]))
    for block in candidates:
        for start in range(0, len(block), at_a_time):
            check_interrupt()
            rows = block[start : start + at_a_time]
            dense, columns = present_columns(X[rows])
            finite = np.isfinite(dense).all(axis=1)
            whole = len(rows) if finite.all() else int(np.argmin(finite))
            mantissas, exponents = dyadic(dense[:whole])
            used = np.append(columns, len(plane.exponents) - 1)
            present = np.append((mantissas != 0).any(axis=0), True)
            coefficients = np.where(present, plane.mantissas[used], 0)
            normal, unit = common_integers(Dyadic(coefficients, plane.exponents[used] + np.append(exponents, 0)))
            yield rows, (mantissas @ normal[:-1] + normal[-1]) * exact_signs(signs[rows[:whole]]), unit


# ------------------------------------------------------------------------------------ two points of the hulls


def exact_upper_bound_holds(
    rows: Rows, signs: Vector, weights: Vector, bound: float, with_bias: bool, norm: Norm | str
) -> Verdict:
    """Decide |p|_dual / 2 <= bound (without a bias |p|_dual <= bound) for the p of these weights.

    If so, no margin exceeds the bound.  The dual norm is l2 for l2, and the largest coordinate for l1.

    The weights are divided by their exact sums, so they may be in any scale, each class in its own.
    """
    sound = len(weights) == len(signs) and bool((np.isfinite(weights) & (weights >= 0)).all())
    if not sound or not math.isfinite(bound):
        return Verdict(False, "The bound and the weights must be finite, and no weight negative.")
    support = np.flatnonzero(weights)
    y = exact_signs(signs[support])
    a = common_integers(dyadic(weights[None, support]))[0][0]
    plus, minus = sum(a[y > 0]), sum(a[y < 0])
    if plus + minus == 0 or (with_bias and plus * minus == 0):
        return Verdict(False, "One class has no weight." if with_bias else "No row has a weight.")
    total = 2 * plus * minus if with_bias else plus + minus
    signed = np.where(y > 0, a * minus, -a * plus) if with_bias else a * y
    try:
        coordinates, unit = common_integers(weighted_sum(rows[support], signed))
    except FloatingPointError:
        return Verdict(False, "A row that has a weight is not finite.")
    limit = Fraction(bound) * total * power_of_two(-unit)
    if Norm(norm) is Norm.L1:
        holds = max(abs(coordinates), default=0) <= limit
    else:
        holds = limit >= 0 and sum(coordinates * coordinates) <= limit * limit
    if not holds:
        return Verdict(False, f"The points of these weights leave room for a margin above {float(bound)!r}.")
    return Verdict(True, f"No plane has a margin above {float(bound)!r}.")
