"""Checking what a certificate says of theorems: no invented ones, and no bound that the data and the plane do not give.

What an algorithm counted on its way, no data can prove; it stands in the report as what the algorithm reported. But
what each theorem promises follows from X, y and a plane, the certificate's own or one that is recorded with it: it is
computed again. g is known up to the rounding of one evaluation, so a bound may lie anywhere between those of the
largest and of the least g that this leaves possible.

    Novikov, halving, guess     1, 64 and 12 times R^2/g^2; a guess that was too large promises nothing, which is inf.
                                A share that is in a name makes other numbers of 64 and 12
    Winnow                      (32/3) or (16/3) ln(m)/g^2, m for balanced weights or not; with a step of one's own,
                                ln(m)/(eta (g - eta/2)), which is least for eta = g: never below 2 ln(m)/g^2.
                                Weights that are not balanced make no w negative: m is not theirs for a plane with one
    share of the best margin    at least what the plane and the weights of the rows prove, and at most 1
    Pegasos                     above P, by at most what one sweep leaves open; nothing where a condition is broken
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates import theorems
from maxmargin.certificates.measure import plane_margin
from maxmargin.certificates.normalized import normalized_distances
from maxmargin.certificates.passes import rounding
from maxmargin.certificates.proof import TheoremBound
from maxmargin.data.table import Matrix, Vector, in_safe_range, largest_magnitude, matrix_of, row_squares
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin, SoftMargin

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
    """Of the hard margin: what mistake-driven learners are promised, from the plane of the certificate or another."""
    promises = {plane: promised(c, X, signs, plane) for plane in {theorem.plane for theorem in c.theorems}}
    for theorem in c.theorems:
        known, is_unit = promises[theorem.plane], theorem.name.endswith(theorems.UNIT_ROWS)
        is_share = theorem.name.removesuffix(theorems.UNIT_ROWS) in (theorems.SHARE, theorems.OTHER_SHARE)
        if known is None:
            yield f"the plane of a theorem is not finite, or one of another problem ({theorem.name})"
            continue
        bounds = known.get(theorem.name)
        yield from theorem_refused(theorem, bounds, at_most=not is_share, counts=not is_share, any_plane=True)
        if is_share and not theorem.plane:
            name = theorems.of_unit_rows(theorems.NOVIKOV) if is_unit else theorems.NOVIKOV
            yield from share_refused(c, X, signs, rows, theorem, known[name][0], is_unit)


def promised(c: Any, X: Matrix, signs: Vector, plane: tuple[float, ...]) -> dict[str, list[Interval]] | None:
    """What each theorem can promise from the margin of this plane (empty: the certificate's own); None: it is none."""
    w, b = (np.array(plane[:-1]), plane[-1]) if plane else (c.w, c.b)
    if w.shape != c.w.shape or not (np.all(np.isfinite(w)) and math.isfinite(b)) or (b and not c.fit_intercept):
        return None
    ratios = lifted_ratio(X, signs, w, b, c.fit_intercept), winnow_ratio(X, signs, w, b, c.fit_intercept)
    known = promised_from(c, X, w, *ratios, plane)
    if any(theorem.name.endswith(theorems.UNIT_ROWS) for theorem in c.theorems):
        l2, l1 = (unit_ratio(X, signs, w, b, norm, c.fit_intercept) for norm in ("l2", "l1"))
        known |= {theorems.of_unit_rows(name): own for name, own in promised_from(c, X, w, l2, l1, plane).items()}
    return known


def unit_ratio(X: Matrix, signs: Vector, w: Vector, b: float, norm: str, fit_intercept: bool) -> Interval:
    """1 / g of the rows at length 1."""
    least, most = (
        float(normalized_distances(X, signs, w, b, norm, fit_intercept, upwards=up).min()) for up in (False, True)
    )
    return over(1.0, least, most)


def promised_from(
    c: Any, X: Matrix, w: Vector, lifted: Interval, winnow: Interval, plane: tuple[float, ...]
) -> dict[str, list[Interval]]:
    """By the ratios R / g and 1 / g of both margins."""
    lifted, winnow = lifted.squared(), winnow.squared()
    sides = (2,) if plane and np.any(w < 0.0) else (1, 2)
    weights = [math.log(X.shape[1] * side + (2 if c.fit_intercept else 0) or 1) for side in sides]
    known = {
        theorems.NOVIKOV: [lifted],
        theorems.WINNOW_HALVING: [winnow.times(32.0 / 3.0 * logarithm) for logarithm in weights],
        theorems.WINNOW: [Interval(2.0 * min(weights) * winnow.low, math.inf)],
        theorems.WINNOW_TO_LEADING_ORDER: [winnow.times(16.0 / 3.0 * logarithm) for logarithm in weights],
    }
    for share in {theorems.A_QUARTER}.union(*(shares_in(theorem.name) for theorem in c.theorems)):
        (shrinking, in_all), (guessed, of_a_phase) = theorems.to_a_share(share)
        known[shrinking] = [lifted.times(in_all)]
        known[guessed] = [lifted.times(of_a_phase), Interval(math.inf, math.inf)]
        if not plane:
            name = theorems.SHARE if share == theorems.A_QUARTER else theorems.OTHER_SHARE
            known.setdefault(name, []).append(Interval(share, share))
    return known


def shares_in(name: str) -> set[float]:
    """The share of the best margin that the name of a theorem speaks of, if it does."""
    found = re.findall(r"to the share (0\.\d+|\d\.?\d*e-\d+)[:,]", name)
    return {share for share in map(float, found) if 0.0 < share < 1.0}


def share_refused(
    c: Any, X: Matrix, signs: Vector, rows: Any, theorem: TheoremBound, lifted: Interval, normalized: bool
) -> Iterator[str]:
    counts = np.zeros(len(signs))
    counts[rows] = c.weights
    share = functools.partial(theorems.share_of_the_best, X, signs, c.w, c.b, c.fit_intercept, normalized=normalized)
    proven = share(counts).measured if counts.any() else 0.0
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
    if c.theorems and not problem.fit_intercept and problem.loss == HINGE and not isinstance(problem, KernelMargin):
        n = problem.n_rows
        reach = 2.0 * theorems.costliest_row(matrix_of(problem.X), problem.costs, c.C) * n * c.C
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
    theorem: TheoremBound, bounds: list[Interval] | None, *, at_most: bool, counts: bool, any_plane: bool = False
) -> Iterator[str]:
    """A theorem that is not known here, or that promises something else, or whose count is none."""
    if theorem.plane and not any_plane:
        yield f"the theorem speaks of no other plane ({theorem.name})"
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
