"""Checking a certificate: every number again from the raw data, and nothing taken on trust.

A claim is refused when it does not fit the data (sizes, rows, labels), is not a proof (negative weights, NaN, a
plane that does not separate), or promises more than the data give. What is compared with what:

    margin_lower     <= the margin of the plane, up to the rounding of one evaluation
    margin_upper     >= the distance of the hull points, likewise; 0 only with an exact witness
    primal, dual     the values that follow from the two margins
    verdict          one that the bounds allow
    KKT              no violation is larger than it is said to be, and the rows named have it
    theorems         a record of the run, which no data can prove: its figures must be numbers
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from maxmargin.certificates import exact
from maxmargin.certificates.certificate import Certificate, FurtherLook, Verdict
from maxmargin.certificates.certify import Claim, conditions, slackness, weakly_separated
from maxmargin.certificates.measure import HullDistance, PlaneMargin, hull_distance, objective, plane_margin
from maxmargin.data.matrix import Matrix, Vector, is_sparse, refuse_what_is_not_finite
from maxmargin.problems.multiclass import plain

Rows = NDArray[np.intp]

AGREEMENT = 2.0**-50  # relative: two evaluations of the same formula, on other machines, may differ by rounding
WITNESSED = (Verdict.NOT_SEPARABLE, Verdict.WEAKLY_SEPARABLE)


@dataclass(frozen=True)
class Verification:
    """True or False in an `if`; the reasons when printed."""

    holds: bool
    exact: bool
    reasons: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        how = "in exact rational arithmetic" if self.exact else "in float64, rounding included"
        if self.holds:
            return f"Verified {how}: " + "; ".join(self.reasons) + "."
        return f"Refused ({how}): " + "; ".join(self.reasons) + "."


def verify(certificate: Certificate, X: Any, y: Any, *, exact: bool, sample_weight: Any) -> Verification:
    """Whether the certificate is true of X and y."""
    try:
        X, signs, kept = problem_of(certificate, X, y, sample_weight)
    except ValueError as error:
        return Verification(False, exact, (str(error),))
    refusals = tuple(refusals_of(certificate, X, signs, kept, exact))
    if refusals:
        if len(np.unique(signs)) < 2:
            refusals = ("these data have rows on one side only", *refusals)
        return Verification(False, exact, refusals)
    return Verification(True, exact, (proven(certificate),))


def proven(certificate: Certificate) -> str:
    if certificate.verdict in WITNESSED:
        return f"the hulls of the {certificate.n_support} witness rows meet, so no plane separates the classes"
    return f"the best margin lies between {certificate.margin_lower:.9g} and {certificate.margin_upper:.9g}"


class Claimed(Protocol):
    """Which problem a certificate is about, of whatever kind it is."""

    @property
    def positive(self) -> Any: ...
    @property
    def negative(self) -> Any: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_columns(self) -> int: ...


def problem_of(certificate: Claimed, X: Any, y: Any, sample_weight: Any) -> tuple[Matrix, Vector, Rows]:
    """The rows that the certificate speaks of, their signs, and which rows of the user's X they are."""
    X = check_array(X, accept_sparse="csr", dtype="numeric", ensure_all_finite=False)
    if X.dtype.kind not in "iufb":
        raise ValueError(f"X must hold numbers, its dtype is {X.dtype}")
    if X.dtype.kind == "f":
        refuse_what_is_not_finite(X)
    if X.dtype.itemsize > 8:
        wide, X = X, X.astype(np.float64)
        if (wide != X).sum():
            raise ValueError(f"X holds numbers of the type {wide.dtype} that float64 cannot hold")
    if is_sparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    y = np.asarray(y)
    if y.shape != (X.shape[0],):
        raise ValueError(f"X has {X.shape[0]} rows but y has the shape {y.shape}")
    plus = np.asarray(y == certificate.positive)
    minus = ~plus if certificate.negative is None else np.asarray(y == certificate.negative)
    if plus.shape != y.shape or minus.shape != y.shape:
        raise ValueError(f"y has no label {certificate.positive!r}")
    taken = plus | minus
    if sample_weight is not None:
        taken &= np.asarray(sample_weight) > 0.0
    kept = np.flatnonzero(taken)
    if len(kept) < len(taken):
        X = X[kept]
    signs = np.where(plus[kept], 1.0, -1.0)
    if X.shape != (certificate.n_rows, certificate.n_columns):
        # Between two of many classes other labels are as they should be, but here a row is missing.
        known = (certificate.positive, certificate.negative)
        stranger = None if certificate.negative is None else strange_label(y, known)
        first, of_them = ("", "") if stranger is None else (f"{stranger}: ", " with these labels")
        raise ValueError(
            f"{first}the certificate is about {certificate.n_rows} rows x {certificate.n_columns} columns{of_them}, "
            f"these data have {X.shape[0]} x {X.shape[1]}"
        )
    return X, signs, kept


def strange_label(y: NDArray[Any], known: tuple[Any, ...], sample_weight: Any = None) -> str | None:
    """A clause about the first row whose label is not known, if there is one; rows without weight may have any."""
    strange = np.ones(y.shape, dtype=bool)
    for label in known:
        strange &= np.asarray(y != label)
    weights = np.ones(y.shape) if sample_weight is None else np.asarray(sample_weight)
    if weights.shape == y.shape:
        strange &= weights > 0.0
    if y.ndim != 1 or not np.any(strange):
        return None
    row = int(np.argmax(strange))
    return f"row {row} has the label {plain(y[row])!r}, which is none of {', '.join(map(repr, known))}"


def refusals_of(
    certificate: Certificate, X: Matrix, signs: Vector, kept: Rows, exact_arithmetic: bool
) -> Iterator[str]:
    """Each reason why the certificate is not true, as a clause."""
    c = certificate
    if c.norm not in ("l1", "l2"):
        yield f"the norm {c.norm!r} is not known"
        return
    if c.w.shape != (c.n_columns,) or not np.all(np.isfinite(c.w)) or not math.isfinite(c.b):
        yield "the plane is not finite or has the wrong length"
        return
    if not c.fit_intercept and c.b != 0.0:
        yield f"the plane should pass through the origin but has b = {c.b}"
    if c.rows.ndim != 1 or c.rows.shape != c.weights.shape or len(np.unique(c.rows)) != len(c.rows):
        yield "rows and weights do not match, or a row comes twice"
        return
    missing = np.setdiff1d(c.rows, kept)
    if len(missing):
        yield f"row {missing[0]} is not part of this problem"
        return
    if not np.all(np.isfinite(c.weights)) or np.any(c.weights < 0.0):
        worst = int(c.rows[int(np.argmin(np.where(np.isfinite(c.weights), c.weights, -np.inf)))])
        yield f"the weight of row {worst} is negative or not finite: not a point of the hulls"
        return
    if any(math.isnan(value) for value in (c.margin_lower, c.margin_upper, c.primal, c.dual)):
        yield "a bound is NaN"
        return
    rows = np.searchsorted(kept, c.rows)
    floats = X.astype(np.float64) if X.dtype.kind != "f" else X
    plane = plane_margin(floats, signs, c.w, c.b, c.norm)
    hulls = hull_distance(floats[rows], signs[rows], c.weights, c.norm, c.fit_intercept)
    yield from bounds_refused(c, plane, hulls, kept)
    yield from conditions_refused(c, floats, signs, rows, kept, plane, hulls)
    yield from verdict_refused(c, X, signs, rows, kept, plane, hulls)
    if exact_arithmetic:
        yield from exactly_refused(c, X, signs, rows, kept)


def bounds_refused(c: Certificate, plane: PlaneMargin, hulls: HullDistance, kept: Rows) -> Iterator[str]:
    if c.margin_lower > plane.value + rounding_of(plane):
        where = f" (row {kept[plane.row]})" if plane.row >= 0 else ""
        yield f"the plane's margin is {plane.value:.12g}{where}, not {c.margin_lower:.12g}"
    if c.verdict not in WITNESSED:
        if not c.margin_upper > 0.0:
            yield "only a witness that the hulls meet makes the upper bound 0"
        elif c.margin_upper < hulls.value - rounding_of_hulls(hulls):
            yield f"the weighted rows prove an upper bound of {hulls.value:.12g}, not {c.margin_upper:.12g}"
    if not agree(c.primal, objective(c.margin_lower, c.norm)) or not agree(c.dual, objective(c.margin_upper, c.norm)):
        yield "primal and dual are not the values that follow from the margins"
    for theorem in c.theorems:
        if math.isnan(theorem.bound) or math.isnan(theorem.measured):
            yield f"the theorem's figures are NaN ({theorem.name})"


def rounding_of(plane: PlaneMargin) -> float:
    return plane.value - plane.lower if math.isfinite(plane.lower) else 0.0


def rounding_of_hulls(hulls: HullDistance) -> float:
    return hulls.upper - hulls.value if math.isfinite(hulls.upper) else 0.0


def conditions_refused(
    c: Certificate,
    X: Matrix,
    signs: Vector,
    rows: Rows,
    kept: Rows,
    plane: PlaneMargin,
    hulls: HullDistance,
) -> Iterator[str]:
    """The violations may be smaller than claimed, and differ by what rounding does to distances and hull points."""
    if (c.kkt is None) != (not c.margin_lower > 0.0 or not math.isfinite(hulls.value) or hulls.value == 0.0):
        yield "the report of the optimality conditions is missing or out of place"
    if c.kkt is None or not plane.value > 0.0:
        return
    fresh = conditions(X, signs, Claim(c.w, c.b, rows, c.weights), plane, hulls, c.norm, c.fit_intercept)
    if fresh is None:
        return
    rounding = rounding_of(plane) / plane.value + rounding_of_hulls(hulls) / hulls.value
    for name in ("stationarity", "primal", "dual", "slackness", "bias"):
        claimed, found = getattr(c.kkt, name).value, getattr(fresh, name).value
        if not (claimed >= found or claimed >= found - 1e-6 * (1e-6 + found) - 4.0 * rounding):
            yield f"the condition of {name} is violated by {found:.3g}, not by {claimed:.3g}"
    at_row = plane.distances[kept == c.kkt.primal.row]
    if not np.any(at_row <= plane.value + 2.0 * rounding_of(plane)):
        yield f"row {c.kkt.primal.row} is not the nearest to the plane"
    slack = slackness(plane, rows, hulls.weights / hulls.weights.sum())
    at_row, most = slack[c.rows == c.kkt.slackness.row], float(slack.max())
    if not np.any((at_row >= most) | (at_row >= most - 1e-6 * (1e-6 + most) - 4.0 * rounding)):
        yield f"row {c.kkt.slackness.row} is not the one that has the most slack for its weight"


def agree(claimed: float, found: float) -> bool:
    return claimed == found or abs(claimed - found) <= AGREEMENT * abs(found) < math.inf


def verdict_refused(
    c: Certificate, X: Matrix, signs: Vector, rows: Rows, kept: Rows, plane: PlaneMargin, hulls: HullDistance
) -> Iterator[str]:
    if c.verdict is Verdict.OPTIMAL and not c.relative_gap <= c.tol < math.inf:
        yield f"the relative gap is {c.relative_gap:.1e}, above the tol of {c.tol:.1e}: not optimal"
    if c.verdict in (Verdict.OPTIMAL, Verdict.SEPARABLE):
        if not c.margin_lower > 0.0:
            yield "no positive margin is claimed, so nothing is separated"
        elif not plane.lower > 0.0:  # too near for float64: as with a witness, rounding decides nothing
            positive = exact.exact_margins_positive(X, signs, c.w, c.b if c.fit_intercept else None)
            if not positive:
                yield clause(positive, kept)
    elif c.margin_lower > 0.0:
        yield "a positive margin is claimed with a verdict that denies it"
    if c.verdict in WITNESSED:
        if c.margin_upper != 0.0:
            yield "a witness that the hulls meet makes the upper bound 0"
        # Few rows: the exact check is quick, so the witness is never believed to rounding only.
        meeting = exact.proves_intersection(X[rows], signs[rows], c.weights, c.fit_intercept)
        if not meeting:
            yield f"the witness does not hold: {meeting.reason.rstrip('.')}"
        elif not hulls.value <= 4.0 * rounding_of_hulls(hulls):
            yield f"the witness rows prove it, but their weights leave the hull points {hulls.value:.3g} apart"
    claim = Claim(c.w, c.b, rows, c.weights)
    off = weakly_separated(X, signs, plane, claim, c.fit_intercept) if c.verdict is Verdict.WEAKLY_SEPARABLE else None
    if off == 0:
        yield "the plane has rows on its wrong side, or all rows on itself"
    elif c.rows_off_plane is not None and c.rows_off_plane != off:
        yield f"{off or 'no'} rows are counted off a weakly separating plane, not {c.rows_off_plane}"
    if c.further_look is FurtherLook.FOUND and off is None:
        yield "a weakly separating plane is said to be found with a verdict that denies it"


def exactly_refused(c: Certificate, X: Matrix, signs: Vector, rows: Rows, kept: Rows) -> Iterator[str]:
    b = c.b if c.fit_intercept else None
    if c.verdict in (Verdict.OPTIMAL, Verdict.SEPARABLE):
        positive = exact.exact_margins_positive(X, signs, c.w, b)
        if not positive:
            yield clause(positive, kept)
            return
    if math.isfinite(c.margin_lower) and c.w.any():
        at_least = exact.exact_margin_at_least(X, signs, c.w, b, c.margin_lower, c.norm)
        if not at_least:
            yield clause(at_least, kept)
    if c.margin_upper > 0.0 and math.isfinite(c.margin_upper):
        bounded = exact.exact_upper_bound_holds(
            X[rows], signs[rows], c.weights, c.margin_upper, c.fit_intercept, c.norm
        )
        if not bounded:
            yield clause(bounded, kept)


def clause(refusal: exact.Verdict, kept: Rows) -> str:
    """The reason as a clause, with its row numbered as in the user's table."""
    reason = refusal.reason.rstrip(".")
    if refusal.row is None:
        return reason
    return re.sub(rf"\b([Rr]ow) {refusal.row}\b", rf"\1 {kept[refusal.row]}", reason)
