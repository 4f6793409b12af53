"""Checking what a certificate says of theorems: no invented ones, and no bound that the data and the plane do not give.

What an algorithm counted on its way, no data can prove; it stands in the report as what the algorithm reported. But
what each theorem promises follows from X, y and the plane, and is computed again. g is known up to the rounding of one
evaluation, so a bound may lie anywhere between those of the largest and of the least g that this leaves possible.

    Novikov, halving, guess     1, 64 and 12 times R^2/g^2; a guess that was too large promises nothing, which is inf
    Winnow                      (32/3) or (16/3) ln(m)/g^2, m for balanced weights or not; with a step of one's own,
                                ln(m)/(eta (g - eta/2)), which is least for eta = g: never below 2 ln(m)/g^2
    share of the best margin    at least what the plane and the weights of the rows prove, and at most 1
    Pegasos                     above P, by at most what one sweep leaves open; nothing where a condition is broken
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates import theorems
from maxmargin.certificates.measure import plane_margin
from maxmargin.certificates.passes import rounding
from maxmargin.certificates.proof import TheoremBound
from maxmargin.data.table import Matrix, Vector, in_safe_range, largest_magnitude, row_squares
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import SoftMargin

SLACK = 1e-9  # relative: of two evaluations of a bound, beyond what is known of g


class Interval(NamedTuple):
    """From the least to the largest value that rounding leaves possible."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        return value == self.high or self.low * (1.0 - SLACK) <= value <= self.high * (1.0 + SLACK)

    def times(self, factor: float) -> Interval:
        return Interval(factor * self.low, factor * self.high)

    def squared(self) -> Interval:
        return Interval(self.low * self.low, self.high * self.high)


def over(radius: float, least: float, most: float) -> Interval:
    """radius / g for a g between least and most; infinite where g may be 0."""
    return Interval(radius / most if most > 0.0 else math.inf, radius / least if least > 0.0 else math.inf)


def lifted_ratio(X: Matrix, signs: Vector, w: Vector, b: float, fit_intercept: bool) -> Interval:
    """R / g of the lifted rows, as in `theorems`."""
    table = in_safe_range(X)
    plane = plane_margin(table.X, signs, w / table.scale, b, "l2")
    lift = math.hypot(1.0, plane.b if fit_intercept else 0.0)
    radius = math.sqrt(float(row_squares(table.X).max(initial=0.0)) + (1.0 if fit_intercept else 0.0))
    return over(radius * lift, plane.lower, most_of(plane.value, plane.lower))


def winnow_ratio(X: Matrix, signs: Vector, w: Vector, b: float, fit_intercept: bool) -> Interval:
    """1 / g of the lifted rows scaled to at most 1, in l1."""
    plane = plane_margin(X, signs, w, b, "l1")
    lifted = (largest_magnitude(X) or 1.0) + (abs(plane.b) if fit_intercept else 0.0)
    return over(lifted, plane.lower, most_of(plane.value, plane.lower))


def most_of(value: float, lower: float) -> float:
    """As far above the computed value as the lower bound is below, and as much again."""
    return value + 2.0 * (value - lower) if math.isfinite(lower) else 0.0


@np.errstate(over="ignore", invalid="ignore")
def separation_theorems_refused(c: Any, X: Matrix, signs: Vector, rows: Any) -> Iterator[str]:
    """Of the hard margin: what mistake-driven learners are promised.

    Certificates of its time recorded no other plane with a theorem: one that does is taken for one of that plane.
    """
    for theorem in c.theorems:
        if theorem.plane and len(theorem.plane) == X.shape[1] + 1 and np.all(np.isfinite(theorem.plane)):
            w, b = np.array(theorem.plane[:-1]), theorem.plane[-1]
            yield from theorem_of_plane_refused(dataclasses.replace(c, w=w, b=b), X, signs, rows, theorem)
        elif theorem.plane:
            yield "no plane"
        else:
            yield from theorem_of_plane_refused(c, X, signs, rows, theorem)


def theorem_of_plane_refused(c: Any, X: Matrix, signs: Vector, rows: Any, theorem: TheoremBound) -> Iterator[str]:
    plane = (X, signs, c.w, c.b, c.fit_intercept)
    lifted, winnow = lifted_ratio(*plane).squared(), winnow_ratio(*plane).squared()
    sides = (2,) if theorem.plane and np.any(c.w < 0.0) else (1, 2)
    weights = [math.log(X.shape[1] * side + (2 if c.fit_intercept else 0) or 1) for side in sides]
    known = {
        theorems.NOVIKOV: [lifted],
        theorems.HALVING: [lifted.times(64.0)],
        theorems.GUESSED: [lifted.times(12.0), Interval(math.inf, math.inf)],
        theorems.SHARE: [Interval(0.25, 0.25)],
        theorems.WINNOW_HALVING: [winnow.times(32.0 / 3.0 * logarithm) for logarithm in weights],
        theorems.WINNOW: [Interval(2.0 * min(weights) * winnow.low, math.inf)],
        theorems.WINNOW_TO_LEADING_ORDER: [winnow.times(16.0 / 3.0 * logarithm) for logarithm in weights],
    }
    is_share = theorem.name == theorems.SHARE
    yield from theorem_refused(theorem, known.get(theorem.name), at_most=not is_share, counts=not is_share)
    if is_share:
        yield from share_refused(c, X, signs, rows, theorem, lifted)


def share_refused(
    c: Any, X: Matrix, signs: Vector, rows: Any, theorem: TheoremBound, lifted: Interval
) -> Iterator[str]:
    counts = np.zeros(len(signs))
    counts[rows] = c.weights
    proven = theorems.share_of_the_best(X, signs, c.w, c.b, c.fit_intercept, counts).measured if counts.any() else 0.0
    surely = proven * (lifted.low / lifted.high if math.isfinite(lifted.high) else 0.0)
    if not surely * (1.0 - SLACK) <= theorem.measured <= 1.0 + SLACK:
        yield f"the share of the best lifted margin is at least {proven:.6g} and at most 1, not {theorem.measured:.6g}"


def pegasos_refused(c: Any, problem: SoftMargin) -> Iterator[str]:
    """Of a soft margin."""
    known: dict[str, list[Interval]] = {}
    for chosen in range(1, 2 ** len(theorems.BROKEN)):
        broken = [words for place, words in enumerate(theorems.BROKEN) if chosen >> place & 1]
        if (theorems.WITH_A_BIAS in broken) == problem.fit_intercept:
            name = f"{theorems.NO_PEGASOS}{' and '.join(broken)}{theorems.LOSS_MET}"
            known[name] = [Interval(math.inf, math.inf)]
    if c.theorems and not problem.fit_intercept and problem.loss == HINGE and not hasattr(problem, "kernel"):
        n = problem.n_rows
        reach = 2.0 * theorems.costliest_row(problem.X, problem.costs, c.C) * n * c.C
        with np.errstate(over="ignore"):
            most = c.primal + 0.5 * reach * reach * (1.0 + math.log(n)) / n  # T = n, one sweep, leaves most open
        for radius in (theorems.FULL_RADIUS, theorems.SHORT_RADIUS):
            known[theorems.PEGASOS.format(radius)] = [Interval(c.primal, most)]
    for theorem in c.theorems:
        yield from theorem_refused(theorem, known.get(theorem.name), at_most=True, counts=False)


def kernel_novikov_refused(c: Any, radius_squared: float) -> Iterator[str]:
    """Of a perceptron in the space of a kernel: its margin is proven to be margin_lower."""
    bound = radius_squared / c.margin_lower / c.margin_lower if c.margin_lower > 0.0 else math.inf
    bound *= 1.0 + rounding(8)
    known = {theorems.NOVIKOV: [Interval(bound, bound)]}
    for theorem in c.theorems:
        yield from theorem_refused(theorem, known.get(theorem.name), at_most=True, counts=True)


def theorem_refused(
    theorem: TheoremBound, bounds: list[Interval] | None, *, at_most: bool, counts: bool
) -> Iterator[str]:
    """A theorem that is not known here, or that promises something else, or whose count is none."""
    if bounds is None:
        yield f"there is no theorem {theorem.name!r} about this problem"
        return
    if theorem.at_most is not at_most:
        yield f"the theorem promises the opposite ({theorem.name})"
    if not any(bound.holds(theorem.bound) for bound in bounds):
        promised = " or ".join(f"{bound.high:.6g}" for bound in bounds)
        yield f"the theorem promises {promised}, not {theorem.bound:.6g} ({theorem.name})"
    if not 0.0 <= theorem.measured < math.inf or (counts and theorem.measured != math.floor(theorem.measured)):
        yield f"what was counted is no count: {theorem.measured} ({theorem.name})"
