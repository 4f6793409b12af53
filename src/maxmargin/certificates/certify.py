"""From a claim to a certificate: measure the plane, measure the hulls, decide what that proves.

margin_lower > 0                       separable; and optimal, if margin_upper is within tol of it
the hulls of some rows meet exactly    not separable; weakly, if a plane has no row on its wrong side
neither                                the best margin lies between the bounds, and that is all that is known
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates import exact
from maxmargin.certificates.certificate import Certificate, FurtherLook, Verdict
from maxmargin.certificates.form import proves_gap
from maxmargin.certificates.measure import (
    HullDistance,
    PlaneMargin,
    hull_distance,
    length,
    objective,
    plane_margin,
)
from maxmargin.certificates.proof import KKT, TheoremBound, Violation
from maxmargin.data.matrix import Matrix, Vector, take

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


def certify(
    X: Matrix,
    signs: Vector,
    claim: Claim,
    *,
    norm: str,
    fit_intercept: bool,
    tol: float,
    positive: Any = 1,
    negative: Any = -1,
    theorems: tuple[TheoremBound, ...] = (),
) -> Certificate:
    """What the claim proves about the rows X with these signs."""
    claim = without_nonsense(claim)
    plane = plane_margin(X, signs, claim.w, claim.b, norm)
    rows, weights = claim.rows, claim.weights
    hulls = hull_distance(take(X, rows), signs[rows], weights, norm, fit_intercept)
    lower, upper = plane.lower, hulls.upper
    verdict = Verdict.STOPPED if claim.stopped else Verdict.UNDECIDED
    off = 0
    if lower > 0.0:
        verdict = Verdict.OPTIMAL if proves_gap(lower, upper, tol) else Verdict.SEPARABLE
    elif claim.hulls_meet:
        meeting = exact.proves_intersection(X[rows], signs[rows], weights, fit_intercept)
        if meeting.weights is not None:
            total = sum(meeting.weights)  # integers of any length: divided first, rounded last, and never to zero
            carrying = np.array([weight > 0 for weight in meeting.weights])
            weights = np.array([max(weight / total, math.ulp(0.0)) for weight in meeting.weights])
            rows, weights = rows[carrying], weights[carrying]
            verdict, upper = Verdict.NOT_SEPARABLE, 0.0
            off = weakly_separated(X, signs, plane, claim, fit_intercept) if claim.weakly else 0
            verdict = Verdict.WEAKLY_SEPARABLE if off else verdict
    return Certificate(
        verdict=verdict,
        norm=norm,
        fit_intercept=bool(fit_intercept),
        positive=positive,
        negative=negative,
        n_rows=X.shape[0],
        n_columns=X.shape[1],
        w=np.array(claim.w, dtype=np.float64),
        b=float(claim.b),
        rows=np.array(rows, dtype=np.intp),
        weights=np.array(weights, dtype=np.float64),
        margin_lower=lower,
        margin_upper=upper,
        primal=objective(lower, norm),
        dual=objective(upper, norm),
        tol=float(tol),
        kkt=conditions(X, signs, claim, plane, hulls, norm, fit_intercept) if lower > 0.0 else None,
        theorems=theorems,
        rows_off_plane=off or None,
        further_look=FurtherLook.FOUND if off else FurtherLook.NOT_ASKED,
    )


def without_nonsense(claim: Claim) -> Claim:
    """The claim without a plane that is not finite, and without weights that are negative or not finite."""
    if not (np.all(np.isfinite(claim.w)) and math.isfinite(claim.b)):
        claim = dataclasses.replace(claim, w=np.zeros(len(claim.w)), b=0.0)
    if not np.all((claim.weights >= 0.0) & (claim.weights < math.inf)):
        claim = dataclasses.replace(claim, rows=np.zeros(0, np.intp), weights=np.zeros(0), hulls_meet=False)
    return claim


def rows_on(plane: PlaneMargin) -> NDArray[np.intp]:
    """The rows that a weakly separating plane passes through, as far as float64 can tell."""
    farthest = float(np.max(np.abs(plane.distances)))
    return np.flatnonzero(np.abs(plane.distances) <= ON_THE_PLANE * farthest)


def weakly_separated(X: Matrix, signs: Vector, plane: PlaneMargin, claim: Claim, fit_intercept: bool) -> int:
    """Exactly, after an exact projection onto the rows that are on the plane: how many rows are off it; 0 where one is
    on the wrong side."""
    if not plane.value > -math.inf:
        return 0
    farthest = float(np.max(np.abs(plane.distances)))
    if not (farthest > 0.0 and plane.value >= -ON_THE_PLANE * farthest):
        return 0
    return exact.exact_weak_plane(X, signs, rows_on(plane), claim.w, claim.b if fit_intercept else None).off


def conditions(
    X: Matrix,
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
