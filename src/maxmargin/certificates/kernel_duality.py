"""Both sides of the margin in the space of a kernel, from the raw data, with every rounding error accounted for.

    plane     w(a') = sum_j a'_j y_j phi(x_j),     w.phi(x_i) = sum_j a'_j y_j k(x_i, x_j)
              |w|^2 = sum_i a'_i y_i w.phi(x_i)
    primal    P(w, b) = 1/2 |w|^2 + sum_i C_i loss(1 - y_i (w.phi(x_i) + b))          an upper bound of the optimum
    dual      D(t a') = t sum_i a'_i - t^2 / 2 (|w(a')|^2 + sum_i q_i a'_i^2)         a lower bound of it

a' is made of any weights 0 <= a_i <= u_i: with a bias, the class of the larger sum is scaled down until
sum_i a'_i y_i = 0, which keeps the box; then t is the best factor, at most 1 where the box is finite. So a are doubles,
and a' and t a' are the real numbers that they stand for. u_i = box C_i and q_i = bend / C_i: `problems.losses`. For the
hard margin, C_i = inf, the plane is scaled until its nearest row, which has y (w.phi(x) + b) = m, has 1:
P = 1/2 |w|^2 / m^2.

One pass over the kernel serves both sides. It runs in BLAS, which adds in any order: the sum of a block of k terms is
within gamma_k of the sum of its terms' magnitudes [higham2002]. Each value comes with an error that bounds how far it
is from the real number; `upper` and `lower` are four errors away, so that whoever measures again confirms them.

D and |w|^2 take the values of rows that carry weight, and P those of rows that pay. With rbf and a soft margin, all
others need only be known to pay nothing: float32 says so where its error leaves no doubt (`kernel_screening`), and rows
that are in doubt are measured in float64 as well.

That D is below P takes a kernel that is positive semidefinite. Some are proven to be (`Kernel.is_semidefinite`); all
others, a function and a table among them, are taken to be, and refused where |w|^2 turns out negative.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.duality import LEAST, LIGHTEST, OUTWARDS, SMALLEST_BEND
from maxmargin.certificates.kernel_screening import is_near, is_worth_it, summed_in_float32
from maxmargin.certificates.passes import losses_of, rounding, soft_gap, total
from maxmargin.data.executor import MOST_BLOCKS, Threads
from maxmargin.data.table import Vector
from maxmargin.problems.kernels import Kernel, Points, ProductKernel, rows_of
from maxmargin.problems.kernels.base import FAINT
from maxmargin.problems.statement import KernelMargin, best_bias

Rows = NDArray[np.intp]
Sums = tuple[NDArray[np.float64], Vector, Vector]  # of columns, at least of their magnitudes, and the error
Summed = Callable[[Kernel, Points, Points, NDArray[np.float64], Threads | None], Sums]

BLURRED = 0.05  # a relative error of kernel values above this: float64 knows nothing


@dataclass(frozen=True, eq=False)
class KernelMeasure:
    """What weights a of the rows are worth.

    values      w.phi(x_i) of every row, for w = w(a') and without the bias
    b           the bias: the best one, if none was given (hard margin: the middle of the two classes); 0 without one
    slack       max(0, 1 - y_i (w.phi(x_i) + b)), of the plane as it is
    square      |w|^2
    primal      P(w, b) is within primal_error of it; infinite where float64 overflows, or where the hard margin's plane
                does not surely separate
    dual        D(t a') is within dual_error of it. Where a proves nothing it is 0, which a = 0 proves; the error is
                infinite if that is float64's fault
    factors     t a' as factors of a: of the rows with y = +1, of the rows with y = -1
    scales      a' likewise
    off         bounds of the errors of the values; float32's where the row carries no weight and surely pays nothing
    square_error   of the square
    """

    values: Vector
    b: float
    slack: Vector
    square: float
    primal: float
    primal_error: float
    dual: float
    dual_error: float
    factors: tuple[float, float]
    scales: tuple[float, float]
    off: Vector
    square_error: float

    @cached_property
    def upper(self) -> float:
        """Surely at least P(w, b), and confirmed by whoever measures again."""
        return self.primal + OUTWARDS * self.primal_error

    @cached_property
    def lower(self) -> float:
        """Surely at most D, and confirmed by whoever measures again: never below what a = 0 proves."""
        return max(0.0, self.dual - OUTWARDS * self.dual_error)

    @cached_property
    def gap(self) -> float:
        """Between these two, relative."""
        return soft_gap(self.upper, self.lower)


class Direction(NamedTuple):
    """w(a'): its values and its square with their errors, sum_i a'_i, and how far the a'_i are off, relatively.

    The values of rows that were not measured are NaN, and their errors infinite. `carriers` are the rows that carry
    weight, and `coefficients` what they carry, a column for each class; `size` is a typical sum_j a'_j |k(x, x_j)|.
    `bent` is sum_i q_i a'_i^2, with its error.
    """

    values: Vector
    off: Vector
    square: float
    square_error: float
    gain: float
    share: float
    scales: tuple[float, float]
    carriers: Points | None = None
    coefficients: NDArray[np.float64] | None = None
    size: float = 0.0
    bent: float = 0.0
    bent_error: float = 0.0

    def look_at(self, kernel: Kernel, rows: Rows, points: Points, summed: Summed, threads: Threads | None) -> Vector:
        """Measure the values of these rows; returns at least sum_j a'_j |k(x, x_j)| of each of them."""
        if self.carriers is None or self.coefficients is None or not len(rows):
            return np.zeros(0)
        found, sizes, error = summed(kernel, points, self.carriers, self.coefficients, threads)
        self.values[rows] = found[:, 0] - found[:, 1]
        self.off[rows] = error + self.share * sizes + rounding(1) * np.abs(self.values[rows])
        return sizes


def measure(
    problem: KernelMargin, a: Vector, *, b: float | None = None, threads: Threads | None = None
) -> KernelMeasure:
    """P and D of the plane and the feasible point that the weights a make; those of a = 0 if a is not in its box."""
    return both_sides(problem, direction(problem, a, threads), b, threads)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def direction(problem: KernelMargin, a: Vector, threads: Threads | None) -> Direction:
    """w(a'), with the values of the rows that carry weight, at least. Without weight, with a bias in both classes, or
    where float64 cannot balance them, w = 0."""
    inside = bool((a >= 0.0).all() and (a <= problem.upper).all() and np.isfinite(a).all())
    a = a if inside else np.zeros(len(a))
    plus, n = problem.signs > 0, problem.n_rows
    (positive, additions), (negative, _) = total(np.where(plus, a, 0.0)), total(np.where(plus, 0.0, a))
    lighter, heavier = min(positive, negative), max(positive, negative)
    if not problem.fit_intercept:
        lighter = heavier = positive + negative
    if not LIGHTEST * heavier < lighter < math.inf or not heavier < math.inf:
        lost = 0.0 if lighter == 0.0 else math.inf
        return Direction(np.zeros(n), np.zeros(n), 0.0, lost, 0.0, 0.0, (0.0, 0.0))
    gain, scales = float(lighter), (1.0, 1.0)
    if problem.fit_intercept:
        gain, scales = float(2.0 * lighter), (float(lighter / positive), float(lighter / negative))
    support = np.flatnonzero(a)
    scaled = a[support] * np.where(plus[support], *scales)
    coefficients = np.zeros((len(support), 2))
    coefficients[np.arange(len(support)), np.where(plus[support], 0, 1)] = scaled
    carriers, share = rows_of(problem.points, support), 1.01 * rounding(3 * additions + 8)  # of every a'
    values, off = np.full(n, np.nan), np.full(n, np.inf)
    w = Direction(values, off, 0.0, 0.0, gain, share, scales, carriers, coefficients)
    first = (support, carriers) if can_be_screened(problem) else (np.arange(n), problem.points)
    sizes = w.look_at(problem.kernel, *first, combined, threads)
    signed = scaled * problem.signs[support] * values[support]
    square, in_square = total(signed)
    magnitude = float(total(np.abs(signed))[0])
    square_error = float(total(scaled * off[support])[0]) + (share + rounding(in_square + 2)) * magnitude
    vanished = LEAST * (len(support) + float(total(np.abs(values[support]))[0]))
    square_error = 1.01 * square_error + vanished
    if not (math.isfinite(square) and math.isfinite(square_error)):
        square_error = math.inf
    if square < -square_error:
        raise ValueError(
            f"the kernel is not positive semidefinite: |w|^2 = {square:.6g} for a combination w of the rows, "
            "and no length is negative. A margin is defined for positive semidefinite kernels only."
        )
    square = 0.0 if square < 0.0 else float(square)  # nearer to the truth, which is not negative
    bent = bent_of(problem, support, scaled, gain, share) if problem.loss.is_smooth else (0.0, 0.0)
    return w._replace(
        square=square, square_error=square_error, size=float(np.median(sizes)), bent=bent[0], bent_error=bent[1]
    )


def bent_of(problem: KernelMargin, rows: Rows, scaled: Vector, gain: float, share: float) -> tuple[float, float]:
    """sum_i q_i a'_i^2 over these rows, and its error: the a'_i are within `share` of themselves."""
    heavy = scaled + LEAST  # at least what was to be represented, where it vanished
    quotients, additions = total(heavy * (heavy / problem.costs[rows]))
    bent = problem.loss.bend * float(quotients) + LEAST * (len(rows) + gain)
    return bent, (4.0 * share + rounding(additions + 8)) * bent if SMALLEST_BEND <= bent < math.inf else math.inf


def can_be_screened(problem: KernelMargin) -> bool:
    """Whether rows that carry no weight may be looked at in float32 first."""
    kernel = problem.kernel
    return isinstance(kernel, ProductKernel) and kernel.is_exponential and not problem.is_hard


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def both_sides(problem: KernelMargin, w: Direction, b: float | None, threads: Threads | None) -> KernelMeasure:
    """What w is worth. The values that it lacks are measured: in float32 first, in float64 where that leaves doubt."""

    def look_at(rows: Rows, summed: Summed) -> None:
        w.look_at(problem.kernel, rows, rows_of(problem.points, rows), summed, threads)

    screened = np.flatnonzero(np.isnan(w.values) & np.isinf(w.off)) if can_be_screened(problem) else np.empty(0, int)
    if len(screened) and w.carriers is not None:
        is_close = is_worth_it(problem.kernel, problem.points, w.carriers, w.size)
        in_reach = (is_near(problem.kernel, problem.points, w.carriers)[0] & is_close)[screened]
        look_at(screened[~in_reach], combined)
        screened = screened[in_reach]
        look_at(screened, mostly_in_float32)
    while True:
        known = bool(np.isfinite(w.values).all())
        bias = b if b is not None else bias_of(problem, w.values) if known else 0.0
        functional = problem.signs * (w.values + bias)
        missing, off = 1.0 - functional, w.off + rounding(4) * (np.abs(w.values) + abs(bias) + 1.0)
        in_doubt = ~(missing[screened] + off[screened] <= 0.0)
        if not in_doubt.any():
            break
        look_at(screened[in_doubt], combined)
        screened = screened[~in_doubt]
    primal = hard_primal(w, functional, off) if problem.is_hard else soft_primal(problem, w, missing, off)
    dual, dual_error, t = dual_of(w, is_free(problem))
    factors = (t * w.scales[0], t * w.scales[1])
    return KernelMeasure(
        w.values, bias, np.maximum(0.0, missing), w.square, *primal, dual, dual_error, factors, w.scales, w.off,
        w.square_error,
    )  # fmt: skip


def least_gap(problem: KernelMargin, w: Direction) -> float:
    """What the relative gap of w is at least, up to rounding, from the rows that were measured; P with no others."""
    rows = np.flatnonzero(np.isfinite(w.values))
    signs, costs = problem.signs[rows], problem.costs[rows]
    if problem.is_hard or not len(rows):
        return 0.0
    some = dataclasses.replace(problem, X=problem.X[:0], signs=signs, costs=costs)  # a bias is told by values
    missing = 1.0 - signs * (w.values[rows] + best_bias(some, w.values[rows]))
    return soft_gap(
        0.5 * w.square + float(losses_of(some.loss, some.costs, missing).sum()), dual_of(w, is_free(problem))[0]
    )


def combined(kernel: Kernel, A: Points, B: Points, coefficients: NDArray[np.float64], threads: Threads | None) -> Sums:
    """sum_j c_j k(x_i, x_j) for each column c >= 0; at least sum_j c_j |k(x_i, x_j)| over all columns; and the error.

    The error bounds that of the columns' sums, of every one and of all together. With r, s and K as in
    `Kernel.rounding` and S_i = sum_j c_j K(x_i, x_j) it is 1.1 ((r_i + gamma) S_i + s_i sum_j c_j), where r_i < 5 %.
    """
    n, terms = A.X.shape[0], len(B.places)
    weights = coefficients.sum(axis=1) + FAINT
    reach, others = kernel.reach(A), kernel.reach(B)
    if reach is not None and others is not None:
        sums = kernel.combine(A, B, coefficients, threads)
        sizes = reach * float(total(weights * others)[0])
    elif kernel.is_positive:
        sums = kernel.combine(A, B, coefficients, threads)
        sizes = sums.sum(axis=1) + FAINT * terms
    else:
        sizes = np.zeros(n)
        sums = kernel.combine(A, B, coefficients, threads, sizes)
    relative, absolute = kernel.rounding(A, B)
    blocks = kernel.terms_of_sums(A, B) // kernel.block[1] + 1
    relative = relative + rounding(min(terms, kernel.block[1]) + blocks + 3 * MOST_BLOCKS + 8)
    heavy = float(total(weights)[0])
    error = 1.1 * (relative * sizes + absolute * heavy) + 2.0 * LEAST * terms
    known = (relative <= BLURRED) & np.isfinite(error)
    return sums, 1.1 * (sizes + absolute * heavy), np.where(known, error, math.inf)


def mostly_in_float32(
    kernel: Kernel, A: Points, B: Points, coefficients: NDArray[np.float64], threads: Threads | None
) -> Sums:
    """The same, in float32 but for the rows of B that are too far away for it; the rows of A are near."""
    is_b_near = is_near(kernel, A, B)[1]
    near, far = np.flatnonzero(is_b_near), np.flatnonzero(~is_b_near)
    if not len(far):
        return summed_in_float32(kernel, A, B, coefficients, threads)
    sums, sizes, error = summed_in_float32(kernel, A, rows_of(B, near), coefficients[near], threads)
    more, more_sizes, more_error = combined(kernel, A, rows_of(B, far), coefficients[far], threads)
    sums = sums + more
    return sums, sizes + more_sizes, error + more_error + rounding(4) * sums.sum(axis=1)


def bias_of(problem: KernelMargin, values: Vector) -> float:
    """The best bias; the hard margin's is that in the middle. 0 where its search leaves float64."""
    b = middle(problem, values) if problem.is_hard else best_bias(problem, values)
    return b if math.isfinite(b) else 0.0


def middle(problem: KernelMargin, values: Vector) -> float:
    """The bias that puts the plane in the middle between the two classes; 0 where it has none."""
    if not problem.fit_intercept:
        return 0.0
    plus = problem.signs > 0
    lowest = float(np.min(values, where=plus, initial=np.inf))
    highest = float(np.max(values, where=~plus, initial=-np.inf))
    return -0.5 * (lowest + highest) if math.isfinite(lowest + highest) else 0.0


def soft_primal(problem: KernelMargin, w: Direction, missing: Vector, off: Vector) -> tuple[float, float]:
    """P and its error, where 1 - y_i (w.phi(x_i) + b) is within `off` of `missing`."""
    loss, in_loss = total(losses_of(problem.loss, problem.costs, missing))
    moved = float(total(losses_of(problem.loss, problem.costs, missing, off))[0])
    half = 0.5 * w.square
    value, relative = half + float(loss), 2.0 * rounding(in_loss + 8)
    error = (moved - float(loss)) + 0.51 * w.square_error + relative * (moved + abs(half)) + LEAST * len(off)
    return (value, error) if math.isfinite(value + error) else (math.inf, math.inf)


def hard_primal(w: Direction, functional: Vector, off: Vector) -> tuple[float, float]:
    """1/2 |w|^2 / m^2 and its error, for m = min_i y_i (w.phi(x_i) + b) up to `off`."""
    m, least = float(functional.min()), float((functional - off).min())
    most = float((functional + off).min())
    if not (least > 0.0 and math.isfinite(most) and math.isfinite(w.square + w.square_error)):
        return math.inf, math.inf
    value = 0.5 * (w.square / m) / m
    above = 0.5 * ((w.square + w.square_error) / least) / least
    below = 0.5 * (max(0.0, w.square - w.square_error) / most) / most
    error = max(above - value, value - below) * 1.01 + 2.0 * rounding(8) * above + LEAST
    return (value, error) if math.isfinite(value + error) else (math.inf, math.inf)


def is_free(problem: KernelMargin) -> bool:
    """Whether dual variables have no upper end, so that t may be any."""
    return problem.is_hard or not problem.loss.is_bounded


def dual_of(w: Direction, is_free: bool) -> tuple[float, float, float]:
    """D(t a'), its error, and t."""
    if w.gain == 0.0:
        return 0.0, w.square_error, 0.0
    square, square_error = w.square + w.bent, w.square_error + w.bent_error
    if is_free and not square > 2.0 * square_error:  # D grows without limit as the square vanishes
        return 0.0, math.inf, 0.0
    t = w.gain / square if square > 0.0 else 1.0
    t = t if is_free else min(1.0, t)
    value = t * (w.gain - 0.5 * t * square)
    error = t * (2.0 * w.share * w.gain + 0.51 * t * square_error)
    error += 2.0 * rounding(8) * t * (w.gain + t * abs(square)) + 4.0 * LEAST * (1.0 + t)
    if not error <= 0.5 * value < math.inf:  # float64 can hardly tell it from 0
        return 0.0, math.inf, 0.0
    return value, error, t
