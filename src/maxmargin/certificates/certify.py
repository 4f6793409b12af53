"""From a claim to a certificate: measure the plane, measure the hulls, decide what that proves.

margin_lower > 0                       separable; and optimal, if margin_upper is within tol of it
the hulls of some rows meet exactly    not separable; weakly, if a plane has no row on its wrong side
neither                                the best margin lies between the bounds, and that is all that is known
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from maxmargin.certificates import exact
from maxmargin.certificates.certificate import Certificate, FurtherLook, Verdict
from maxmargin.certificates.form import proves_gap
from maxmargin.certificates.measure import hull_distance, objective, plane_margin
from maxmargin.certificates.proof import TheoremBound
from maxmargin.certificates.separation import Claim as Claim
from maxmargin.certificates.separation import conditions, weakly_separated
from maxmargin.data.table import Matrix, Table, Vector, rows_at


def certify(
    X: Matrix | Table,
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
    hulls = hull_distance(rows_at(X, rows), signs[rows], weights, norm, fit_intercept)
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
        kkt=conditions(signs, claim, plane, hulls, norm, fit_intercept) if lower > 0.0 else None,
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
