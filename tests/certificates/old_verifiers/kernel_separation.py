"""The certificate of a plane that separates in the space of a kernel: any weights of the rows, and what they prove.

    plane     w = sum_j a_j y_j phi(x_j),   w.phi(x_i) = sum_j a_j y_j k(x_i, x_j),   |w|^2 = sum_i a_i y_i w.phi(x_i)
    lower     the best margin of any plane is at least min_i y_i w.phi(x_i) / |w|
    upper     and at most |w| / sum_i a_i: w / sum_i a_i is a point of the hull of the y_i phi(x_i)
    Novikov   a perceptron makes at most R^2 / g^2 mistakes, R^2 = max_i k(x_i, x_i), g the margin of any plane

With a bias all of it is about the lifted rows (phi(x), 1), whose kernel is k + 1: their margin counts the bias as a
part of w, and the plane needs no other number.

Every sum comes with an error that bounds how far it is from the real number (`kernel_duality`); what is stated is four
errors away, so that whoever measures again confirms it. For kernels with rational values (linear, poly, precomputed)
the same is decided in integers where float64 is in doubt, or where it is asked for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from certificates.old_verifiers.form import Rows, hull_refused, malformed
from certificates.old_verifiers.kernel_verification import kernel_malformations, kernel_on, refuse_a_long_polynomial
from certificates.old_verifiers.theorem_verification import kernel_novikov_refused
from certificates.old_verifiers.verification import margin_between, problem_of

from maxmargin import KernelSeparationCertificate, Verdict, Verification
from maxmargin.certificates import exact_kernel
from maxmargin.certificates.duality import LEAST
from maxmargin.certificates.exact_linear_algebra import power_of_two
from maxmargin.certificates.exact_soft_margin import integers_of
from maxmargin.certificates.kernel_duality import combined
from maxmargin.certificates.measure import objective
from maxmargin.certificates.passes import rounding, total
from maxmargin.data.table import Matrix, Vector
from maxmargin.problems.kernels import Kernel, Points, rows_of
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin


class KernelPlane(NamedTuple):
    """y_i w.phi(x_i) with their errors; |w|^2 with its error; sum_i a_i."""

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
    support = np.flatnonzero(a)
    plus, weights = signs[support] > 0, a[support]
    coefficients = np.stack([np.where(plus, weights, 0.0), np.where(plus, 0.0, weights)], axis=1)
    sums, sizes, error = combined(kernel, points, rows_of(points, support), coefficients, None)
    (gain, additions), (balance, _) = total(weights), total(weights * signs[support])
    lift, lifted = (float(balance), float(gain)) if fit_intercept else (0.0, 0.0)
    values = sums[:, 0] - sums[:, 1] + lift
    off = error + rounding(additions + 4) * (sizes + lifted)
    signed = weights * signs[support] * values[support]
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
    known = np.isfinite(values) & np.isfinite(off)
    off = np.where(known, off, math.inf)
    return KernelPlane(signs * np.where(known, values, 0.0), off, float(square), square_error, float(gain))


@np.errstate(over="ignore", invalid="ignore")  # infinite, or no number, is no bound that anybody claims
def radius_squared(kernel: Kernel, points: Points, fit_intercept: bool) -> float:
    """At least R^2."""
    diagonal, (relative, absolute) = kernel.diagonal(points), kernel.rounding(points, points)
    return float(np.max(diagonal * (1.0 + 2.0 * relative + rounding(8)) + absolute)) + (1.0 if fit_intercept else 0.0)


def refusals_of(
    c: KernelSeparationCertificate, X: Matrix, signs: Vector, kept: Rows, exact: bool, function: Any
) -> Iterator[str]:
    """Each reason why the certificate is not true, as a clause."""
    wrong = next(itertools.chain(malformed(c, kept), hull_refused(c), kernel_malformations(c, X, function)), None)
    if wrong is not None:
        yield wrong
        return
    if c.verdict not in (Verdict.SEPARABLE, Verdict.UNDECIDED, Verdict.STOPPED):
        yield f"weights of the rows cannot prove the verdict {c.verdict!r}"
        return
    a = np.zeros(len(kept))
    a[np.searchsorted(kept, c.rows)] = c.weights
    floats = X.astype(np.float64, copy=False)
    kernel = kernel_on(c, floats, kept, function)
    points = kernel.points(floats, kept)
    plane = measure(kernel, points, signs, a, c.fit_intercept)
    lower_holds, upper_holds = c.margin_lower <= plane.lower(1.0), c.margin_upper >= plane.upper(1.0)
    if exact or (not (lower_holds and upper_holds) and exact_kernel.has_exact_values(kernel)):
        problem = KernelMargin(floats, signs, np.full(len(kept), math.inf), HINGE, True, kernel, points)
        lower_holds, upper_holds = exactly(c, problem, a)
    if not lower_holds:
        row = int(kept[int(np.argmin(plane.functional))])
        yield f"the plane's margin is {plane.lower(0.0):.12g} (row {row}), not {c.margin_lower:.12g}"
    if not upper_holds:
        yield f"the weighted rows prove an upper bound of {plane.upper(0.0):.12g}, not {c.margin_upper:.12g}"
    if c.verdict is Verdict.SEPARABLE and not c.margin_lower > 0.0:
        yield "no positive margin is claimed, so nothing is separated"
    if c.verdict is not Verdict.SEPARABLE and c.margin_lower > 0.0:
        yield "a positive margin is claimed with a verdict that denies it"
    if c.margin_lower > c.margin_upper:
        yield "the lower bound is above the upper one: the kernel is not positive semidefinite"
    if c.primal != objective(c.margin_lower, "l2") or c.dual != objective(c.margin_upper, "l2"):
        yield "primal and dual are not the values that follow from the margins"
    yield from kernel_novikov_refused(c, radius_squared(kernel, points, c.fit_intercept))


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


def verify(c: Any, X: Any, y: Any, *, exact: bool, sample_weight: Any, kernel: Any) -> Verification:
    if exact and c.kernel in ("rbf", "function"):
        raise ValueError(f"exact arithmetic needs a kernel with rational values, and {c.kernel} has none")
    refuse_a_long_polynomial(c, exact)
    try:
        table, signs, kept = problem_of(c, X, y, sample_weight)
        refusals = tuple(refusals_of(c, table, signs, kept, exact, kernel))
    except (TypeError, ValueError) as error:
        refusals = (str(error),)
    if refusals:
        return Verification(False, exact, refusals)
    return Verification(True, exact, (margin_between(c.margin_lower, c.margin_upper),))
