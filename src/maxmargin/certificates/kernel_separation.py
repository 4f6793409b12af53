"""The certificate of a plane that separates in the space of a kernel: any weights of the rows, and what they prove.

    plane     w = sum_j a_j y_j phi(x_j),   w.phi(x_i) = sum_j a_j y_j k(x_i, x_j),   |w|^2 = sum_i a_i y_i w.phi(x_i)
    lower     the best margin of any plane is at least min_i y_i w.phi(x_i) / |w|
    upper     and at most |w| / sum_i a_i: w / sum_i a_i is a point of the hull of the y_i phi(x_i)
    Novikov   a perceptron makes at most R^2 / g^2 mistakes, R^2 = max_i k(x_i, x_i), g the margin of any plane
    witness   weights a >= 0, not all 0, with w = 0: no plane separates, and no margin is positive (`exact_kernel`)

With a bias all of it is about the lifted rows (phi(x), 1), whose kernel is k + 1: their margin counts the bias as a
part of w, and the plane needs no other number.

Every sum comes with an error that bounds how far it is from the real number (`kernel_duality`); what is stated is four
errors away, so that whoever measures again confirms it. For kernels with rational values (linear, poly, precomputed)
the same is decided in integers where float64 is in doubt, or where it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates import exact_kernel
from maxmargin.certificates.certificate import relative_gap
from maxmargin.certificates.duality import LEAST, OUTWARDS
from maxmargin.certificates.exact_linear_algebra import power_of_two
from maxmargin.certificates.exact_soft_margin import integers_of
from maxmargin.certificates.kernel_duality import Rows, Summed, combined, mostly_in_float32
from maxmargin.certificates.kernel_margin import KernelEvaluator
from maxmargin.certificates.kernel_screening import is_near, is_worth_it
from maxmargin.certificates.measure import objective
from maxmargin.certificates.passes import rounding, total
from maxmargin.certificates.proof import TheoremBound, Verdict
from maxmargin.certificates.record import Record
from maxmargin.certificates.theorem_verification import kernel_novikov_refused
from maxmargin.certificates.theorems import NOVIKOV
from maxmargin.certificates.verify import Bound, register
from maxmargin.data.table import Vector
from maxmargin.problems.kernels import Kernel, Points, ProductKernel, rows_of
from maxmargin.problems.statement import KernelMargin, TwoClasses

WORTH_SCREENING = 2**20  # kernel values: with fewer, all of them are float64
FARTHER = OUTWARDS + 1.0  # errors: a row whose value is so far above that of another is not the nearest


class KernelPlane(NamedTuple):
    """y_i w.phi(x_i) with their errors; |w|^2 with its error; sum_i a_i. Of a row that is surely not the nearest, value
    and error may be those of float32."""

    functional: Vector
    off: Vector
    square: float
    square_error: float
    weight: float

    def lower(self, errors: float) -> float:
        """The margin of the plane, so many errors down."""
        least = float((self.functional - (errors * self.off if errors else 0.0)).min())
        size = self.size(errors if least > 0.0 else -errors)
        return least / size * (1.0 - rounding(8) * math.copysign(1.0, least)) if size > 0.0 else -math.inf

    def upper(self, errors: float) -> float:
        """What the weights prove, so many errors up."""
        return self.size(errors) / self.weight * (1.0 + rounding(8)) if self.weight > 0.0 else math.inf

    def size(self, errors: float) -> float:
        return math.sqrt(max(0.0, self.square + (errors * self.square_error if errors else 0.0)))


@np.errstate(over="ignore", invalid="ignore")
def measure(kernel: Kernel, points: Points, signs: Vector, a: Vector, fit_intercept: bool) -> KernelPlane:
    """The plane that the weights a >= 0 make."""
    support, n = np.flatnonzero(a), len(signs)
    plus, weights, carriers = signs[support] > 0, a[support], rows_of(points, support)
    coefficients = np.stack([np.where(plus, weights, 0.0), np.where(plus, 0.0, weights)], axis=1)
    (gain, additions), (balance, _) = total(weights), total(weights * signs[support])
    lift, lifted = (float(balance), float(gain)) if fit_intercept else (0.0, 0.0)
    functional, off = np.full(n, math.inf), np.full(n, math.inf)

    def look_at(rows: Rows, some: Points, summed: Summed = combined) -> Vector:
        """Measure these rows; returns at least sum_j a_j |k(x, x_j)| of each."""
        if not len(rows):
            return np.zeros(0)
        sums, sizes, error = summed(kernel, some, carriers, coefficients, None)
        values = sums[:, 0] - sums[:, 1] + lift
        error = error + rounding(additions + 4) * (sizes + lifted)
        known = np.isfinite(values) & np.isfinite(error)
        functional[rows] = signs[rows] * np.where(known, values, 0.0)
        off[rows] = np.where(known, error, math.inf)
        return np.asarray(sizes)

    def look_for_the_nearest(size: float) -> None:
        """Of rows without weight, float32 tells which are surely farther from the plane than another row is."""
        others = np.setdiff1d(np.arange(n), support, assume_unique=True)
        some = rows_of(points, others)
        is_close = is_near(kernel, some, carriers)[0] & is_worth_it(kernel, some, carriers, FARTHER * size)
        far, close = others[~is_close], others[is_close]
        look_at(far, rows_of(points, far))
        least = float(np.min(functional))
        look_at(close, rows_of(points, close), mostly_in_float32)
        in_doubt = close[~(functional[close] - FARTHER * off[close] > least)]
        look_at(in_doubt, rows_of(points, in_doubt))

    is_screened = isinstance(kernel, ProductKernel) and kernel.is_exponential and n * len(support) > WORTH_SCREENING
    sizes = look_at(support, carriers) if is_screened else look_at(np.arange(n), points)
    signed = weights * functional[support]
    square, in_square = total(signed)
    magnitude = float(total(np.abs(signed))[0])
    square_error = 1.01 * float(total(weights * off[support])[0]) + rounding(in_square + 4) * magnitude
    square_error += LEAST * (1.0 + len(support))
    if not math.isfinite(float(square) + square_error):
        square, square_error = 0.0, math.inf
    if square < -square_error:
        raise ValueError(
            f"the kernel is not positive semidefinite: |w|^2 = {float(square):.6g} for a combination w of the rows"
        )
    if is_screened:
        look_for_the_nearest(float(np.median(sizes)))
    return KernelPlane(functional, off, float(square), square_error, float(gain))


@np.errstate(over="ignore", invalid="ignore")  # infinite, or no number, is no bound that anybody claims
def radius_squared(kernel: Kernel, points: Points, fit_intercept: bool) -> float:
    """At least R^2."""
    diagonal, (relative, absolute) = kernel.diagonal(points), kernel.rounding(points, points)
    return float(np.max(diagonal * (1.0 + 2.0 * relative + rounding(8)) + absolute)) + (1.0 if fit_intercept else 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class KernelSeparationCertificate(Record):
    """What is proven about separating one class from another (or from the rest) in the space of a kernel.

    Parameters
    ----------
    verdict : Verdict
        What is proven, as a sentence.
    kernel, gamma, coef0, degree : str, float, float, int
        The name of the kernel ("linear", "rbf", "function" and so on), and its numbers (1, 0 and 1 where it has
        none).
    fit_intercept : bool
        Whether the rows are lifted: k + 1 in place of k.
    positive, negative : label
        The labels on the two sides; negative None means all other labels.
    n_rows, n_columns : int
        The size of the problem.
    rows, weights : ndarray of int, ndarray
        The plane: rows of X with their a_i > 0; or the witness, where no plane separates.
    margin_lower, margin_upper : float
        The best margin of any plane lies between them, rounding included.
    primal, dual : float
        The same as values of min 1/2 |w|^2 subject to y w.phi(x) >= 1.
    kkt : None
        None: nothing is said of the conditions of optimality.
    theorems : tuple of TheoremBound
        The algorithm's guarantees beside what happened.

    Examples
    --------
    >>> from maxmargin import KernelPerceptron
    >>> certificate = KernelPerceptron().fit([[0], [1], [2], [3]], [0, 1, 1, 0]).certificate_
    >>> certificate.is_separable, 0.0 < certificate.margin_lower <= certificate.margin_upper
    (True, True)
    """

    kind: ClassVar[str] = "kernel separation"
    recognised_by: ClassVar[set[str]] = {"kernel"}
    verdicts: ClassVar[type[StrEnum]] = Verdict
    question: ClassVar[str] = "is_separable"
    is_lifted: ClassVar[bool] = True

    verdict: Verdict
    kernel: str
    gamma: float
    coef0: float
    degree: int
    fit_intercept: bool
    positive: Any
    negative: Any
    n_rows: int
    n_columns: int
    rows: NDArray[np.intp]
    weights: Vector
    margin_lower: float
    margin_upper: float
    primal: float
    dual: float
    kkt: None = None
    theorems: tuple[TheoremBound, ...] = ()

    @property
    def relative_gap(self) -> float:
        """(margin_upper - margin_lower) / margin_upper: how much larger a margin could at most be."""
        return relative_gap(self.margin_lower, self.margin_upper)

    @property
    def is_separable(self) -> bool | None:
        """True or False where it is proven, None where it is not."""
        return {Verdict.SEPARABLE: True, Verdict.NOT_SEPARABLE: False}.get(self.verdict)


def kernel_separation(
    two: TwoClasses,
    kernel: Kernel,
    points: Points,
    a: Vector,
    *,
    fit_intercept: bool,
    settled: bool,
    mistakes: int,
    measured: bool = True,
    witness: Vector | None = None,
) -> KernelSeparationCertificate:
    """What the mistakes a of the rows prove; `settled`: the algorithm believes that its plane separates.

    Not measured: there was no time, and nothing is claimed of the best margin. A witness takes the place of the plane.
    """
    lower, upper = -math.inf, math.inf
    verdict = Verdict.UNDECIDED if settled else Verdict.STOPPED
    if witness is not None:
        a, upper, verdict = witness, 0.0, Verdict.NOT_SEPARABLE
    elif measured:
        plane = measure(kernel, points, two.signs, a, fit_intercept)
        lower, upper = plane.lower(OUTWARDS), plane.upper(OUTWARDS)
        verdict = Verdict.SEPARABLE if lower > 0.0 else verdict
    novikov = radius_squared(kernel, points, fit_intercept) / lower / lower if lower > 0.0 else math.inf
    support = np.flatnonzero(a)
    return KernelSeparationCertificate(
        verdict=verdict,
        kernel=kernel.name,
        gamma=float(kernel.gamma),
        coef0=float(kernel.coef0),
        degree=int(kernel.degree),
        fit_intercept=bool(fit_intercept),
        positive=two.positive,
        negative=two.negative,
        n_rows=two.X.shape[0],
        n_columns=two.X.shape[1],
        rows=two.rows[support],
        weights=a[support],
        margin_lower=lower,
        margin_upper=upper,
        primal=objective(lower, "l2"),
        dual=objective(upper, "l2"),
        theorems=(TheoremBound(NOVIKOV, novikov * (1.0 + rounding(8)), float(mistakes)),),
    )


@register(KernelSeparationCertificate.kind)
class KernelSeparationEvaluator(KernelEvaluator):
    """The margin of the plane that the weights make, and the length of the point that they make of the hull."""

    def malformed(self) -> Iterator[str]:
        yield from super().malformed()
        if self.c.verdict in (Verdict.OPTIMAL, Verdict.WEAKLY_SEPARABLE):
            yield f"weights of the rows cannot prove the verdict {self.c.verdict!r}"

    @property
    def has_bias(self) -> bool:
        return bool(self.c.fit_intercept)

    @cached_property
    def plane(self) -> KernelPlane:
        problem = self.problem
        return measure(problem.kernel, problem.points, problem.signs, self.a, self.c.fit_intercept)

    @cached_property
    def in_integers(self) -> tuple[bool, bool]:
        return exactly(self.c, self.problem, self.a)

    def bounds(self) -> Iterator[Bound]:
        if self.c.verdict is Verdict.NOT_SEPARABLE:
            return
        low, high, plane, rational = self.c.margin_lower, self.c.margin_upper, self.plane, self.has_exact_values
        row = int(self.data.kept[int(np.argmin(plane.functional))])
        words = f"the plane's margin is {plane.lower(0.0):.12g} (row {row}), not {low:.12g}"
        exact_low = (lambda: self.in_integers[0]) if rational else None
        yield Bound(low, plane.lower(1.0), math.inf, words, exact_low, is_lower=True)
        words = f"the weighted rows prove an upper bound of {plane.upper(0.0):.12g}, not {high:.12g}"
        exact_high = (lambda: self.in_integers[1]) if rational else None
        yield Bound(high, plane.upper(1.0), -math.inf, words, exact_high, is_lower=False)

    def verdict(self) -> Iterator[str]:
        if self.c.verdict is Verdict.NOT_SEPARABLE:
            if (self.c.margin_lower, self.c.margin_upper) != (-math.inf, 0.0):
                yield "where no plane separates, the upper bound is 0, and nothing is said of a plane"
            yield from self.witness_refused(self.plane.square, self.plane.square_error)
        elif self.c.margin_lower > self.c.margin_upper:
            yield "the lower bound is above the upper one: the kernel is not positive semidefinite"

    def theorems(self) -> Iterator[str]:
        radius = radius_squared(self.problem.kernel, self.problem.points, self.c.fit_intercept)
        yield from kernel_novikov_refused(self.c, radius)


def exactly(c: KernelSeparationCertificate, problem: KernelMargin, a: Vector) -> tuple[bool, bool]:
    """Whether the lower and the upper bound hold, in integers. w = 0 is no plane, and no weights are no bound."""
    integers, unit = integers_of(a)
    signed = np.where(problem.signs > 0, integers, -integers)
    support = np.flatnonzero(integers != 0)
    values, own = exact_kernel.sums_with(problem, support, signed[support])
    least = min(own, 0)
    values = (values << (own - least)) + ((int(sum(signed)) << -least) if c.fit_intercept else 0)
    # w.phi(x_i) = values_i 2^(least + unit), and a_i = integers_i 2^unit
    square = int(sum(signed * values)) * power_of_two(least + 2 * unit)
    nearest = int(min(np.where(problem.signs > 0, values, -values))) * power_of_two(least + unit)
    weight = int(sum(integers)) * power_of_two(unit)
    if square < 0:
        raise ValueError(f"the kernel is not positive semidefinite: |w|^2 = {float(square):.6g} for some rows")
    lower = c.margin_lower == -math.inf or (
        math.isfinite(c.margin_lower)
        and square > 0
        and signed_square(nearest) >= signed_square(Fraction(c.margin_lower)) * square
    )
    upper = c.margin_upper == math.inf or (
        c.margin_upper >= 0.0 and weight > 0 and Fraction(c.margin_upper) ** 2 * weight * weight >= square
    )
    return bool(lower), bool(upper)


def signed_square(value: Fraction) -> Fraction:
    """A square that keeps the sign, and so the order."""
    return value * value if value > 0 else -value * value
