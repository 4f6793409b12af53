"""The certificate of separation: what is proven about one two-class problem, with all that is needed to check it again.

It holds the plane and the weights of the rows (the two sides of the proof), the bounds that follow from them, and
how well they satisfy the conditions of optimality. It never holds what only a solver believes. From a claim to a
certificate (`certify`): measure the plane, measure the hulls, decide what that proves.

margin_lower > 0                       separable; and optimal, if margin_upper is within tol of it
the hulls of some rows meet exactly    not separable; weakly, if a plane has no row on its wrong side
neither                                the best margin lies between the bounds, and that is all that is known
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.enclosed_witness import common_point
from maxmargin.certificates.measure import Claim as Claim
from maxmargin.certificates.measure import (
    PlaneMargin,
    conditions,
    hull_distance,
    measured_plane,
    objective,
    weakly_separated,
)
from maxmargin.certificates.passes import proves_gap
from maxmargin.certificates.proof import KKT, TheoremBound
from maxmargin.certificates.proof import FurtherLook as FurtherLook
from maxmargin.certificates.proof import Verdict as Verdict
from maxmargin.certificates.record import Record
from maxmargin.certificates.separation import WITNESSED
from maxmargin.data.table import Matrix, Table, Vector, rows_at


def relative_gap(lower: float, upper: float) -> float:
    """(upper - lower) / upper; infinite where nothing bounds the margin from above, NaN where it is zero."""
    if not (math.isfinite(upper) and upper > 0.0):
        return math.nan if upper == 0.0 else math.inf
    return (upper - lower) / upper


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Record):
    """What is proven about separating one class from another (or from the rest).

    Parameters
    ----------
    verdict : Verdict
        What is proven, as a sentence.
    norm, fit_intercept : str, bool
        Which margin: "l2" or "l1"; with a bias or through the origin.
    positive, negative : label
        The labels on the two sides; negative None means all other labels.
    n_rows, n_columns : int
        The size of the problem.
    w, b : ndarray, float
        The plane w.x + b = 0, zero if none is claimed.
    rows, weights : ndarray of int, ndarray
        Rows of X with weights: points of the hulls, or the witness that the hulls meet.
    margin_lower, margin_upper : float
        The best margin of any plane lies between them, rounding included.
    primal, dual : float
        The same as values of min 1/2|w|^2 (l1: |w|_1) subject to y (w.x + b) >= 1.
    tol : float
        The relative gap that was asked for; 0 where none was, as in learning by mistakes.
    kkt : KKT or None
        How well the conditions of optimality hold; None where no plane separates.
    theorems : tuple of TheoremBound
        The algorithm's guarantees beside what happened.
    rows_off_plane : int or None
        Of a weakly separable problem: how many rows are not on the plane; None: not counted.
    further_look : FurtherLook
        Of an inseparable one: what became of the search for a weakly separating plane.

    Examples
    --------
    >>> from maxmargin import HardMarginSVM
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], [-1, -1, 1, 1]
    >>> certificate = HardMarginSVM().fit(X, y).certificate_
    >>> certificate.verdict.name, round(certificate.margin_lower, 6), bool(certificate.verify(X, y, exact=True))
    ('OPTIMAL', 1.5, True)
    """

    kind: ClassVar[str] = "separation"
    recognised_by: ClassVar[set[str]] = {"norm"}
    verdicts: ClassVar[type[StrEnum]] = Verdict
    question: ClassVar[str] = "is_separable"
    may_ask_for_no_gap: ClassVar[bool] = True

    verdict: Verdict
    norm: str
    fit_intercept: bool
    positive: Any
    negative: Any
    n_rows: int
    n_columns: int
    w: Vector
    b: float
    rows: NDArray[np.intp]
    weights: Vector
    margin_lower: float
    margin_upper: float
    primal: float
    dual: float
    tol: float
    kkt: KKT | None = None
    theorems: tuple[TheoremBound, ...] = ()
    rows_off_plane: int | None = None
    further_look: FurtherLook = FurtherLook.NOT_ASKED

    @property
    def relative_gap(self) -> float:
        """(margin_upper - margin_lower) / margin_upper: how much wider a street could at most be."""
        return relative_gap(self.margin_lower, self.margin_upper)

    @property
    def is_separable(self) -> bool | None:
        """True or False where it is proven, None where it is not."""
        if self.verdict in (Verdict.OPTIMAL, Verdict.SEPARABLE):
            return True
        if self.verdict in WITNESSED:
            return False
        return None


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
    plane: PlaneMargin | None = None,
) -> Certificate:
    """What the claim proves about the rows X with these signs. `plane` is its plane as it was measured on more rows."""
    claim = without_nonsense(claim)
    if plane is None:
        plane = measured_plane(X, signs, claim.w, claim.b, norm)
    rows, weights = claim.rows, claim.weights
    hulls = hull_distance(rows_at(X, rows), signs[rows], weights, norm, fit_intercept)
    lower, upper = plane.lower, hulls.upper
    verdict = Verdict.STOPPED if claim.stopped else Verdict.UNDECIDED
    off = 0
    if lower > 0.0:
        verdict = Verdict.OPTIMAL if proves_gap(lower, upper, tol) else Verdict.SEPARABLE
    elif claim.hulls_meet:
        shares = common_point(X[rows], signs[rows], weights, fit_intercept).weights
        if shares is not None:
            carrying = shares > 0.0
            rows, weights = rows[carrying], shares[carrying]
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
