"""Checking a certificate: every number again from the raw data, and nothing taken on trust.

A claim is refused when it does not fit the data (sizes, rows, labels), is not a proof (negative weights, NaN, a
plane that does not separate), or promises more than the data give. What is compared with what:

    margin_lower     <= the margin of the plane
    margin_upper     >= the distance of the hull points; 0 only with an exact witness
    primal, dual     the values that follow from the two margins
    verdict          one that the bounds allow
    KKT              each violation is what it is said to be, up to rounding, and the rows named have it
    theorems         known ones, with the bounds that the plane gives; what was counted stands in the report as such

A bound is believed in float64 only if it holds with every rounding error against it, and refused if it fails with
every error in its favour. In between, exact rational arithmetic decides: nothing false is ever believed.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from certificates.old_verifiers.conditions import conditions, slackness, weakly_separated
from certificates.old_verifiers.form import Rows, figures_refused, gap_refused, hull_refused, malformed
from certificates.old_verifiers.theorem_verification import separation_theorems_refused
from numpy.typing import NDArray

from maxmargin import Verification
from maxmargin.certificates import exact
from maxmargin.certificates.certificate import Certificate, FurtherLook, Verdict
from maxmargin.certificates.measure import Claim, HullDistance, PlaneMargin, hull_distance, objective, plane_margin
from maxmargin.certificates.words import rounded_down, rounded_up
from maxmargin.data.checking import check_labels, check_rows, check_weights
from maxmargin.data.table import Matrix, Vector
from maxmargin.problems.statement import plain

WITNESSED = (Verdict.NOT_SEPARABLE, Verdict.WEAKLY_SEPARABLE)


def verify(certificate: Certificate, X: Any, y: Any, *, exact: bool, sample_weight: Any) -> Verification:
    """Whether the certificate is true of X and y."""
    try:
        X, signs, kept = problem_of(certificate, X, y, sample_weight)
    except (TypeError, ValueError) as error:
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
    return margin_between(certificate.margin_lower, certificate.margin_upper)


def margin_between(lower: float, upper: float) -> str:
    return f"the best margin lies between {rounded_down(lower, 9)} and {rounded_up(upper, 9)}"


def objective_between(lower: float, upper: float) -> str:
    return f"the least objective lies between {rounded_down(lower, 9)} and {rounded_up(upper, 9)}"


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
    """The rows that the certificate speaks of, their signs, and which rows of the user's X they are.

    X, y and the weights come through the same checks as in `fit`.
    """
    X = check_rows(X)
    y = check_labels(y, X.shape[0])
    weights = None if sample_weight is None else check_weights(sample_weight, X.shape[0])
    plus = np.asarray(y == certificate.positive)
    minus = ~plus if certificate.negative is None else np.asarray(y == certificate.negative)
    if plus.shape != y.shape or minus.shape != y.shape:
        raise ValueError(f"y has no label {certificate.positive!r}")
    taken = plus | minus
    if weights is not None:
        taken &= weights > 0.0
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
    if (first := next(itertools.chain(malformed(c, kept), hull_refused(c)), None)) is not None:
        yield first
        return
    if c.norm not in ("l1", "l2"):
        yield f"the norm {c.norm!r} is not known"
        return
    if c.w.shape != (c.n_columns,) or not np.all(np.isfinite(c.w)) or not math.isfinite(c.b):
        yield "the plane is not finite or has the wrong length"
        return
    if not c.fit_intercept and c.b != 0.0:
        yield f"the plane should pass through the origin but has b = {c.b}"
    rows = np.searchsorted(kept, c.rows)
    plane = plane_margin(X, signs, c.w, c.b, c.norm)
    hulls = hull_distance(X[rows], signs[rows], c.weights, c.norm, c.fit_intercept)
    yield from lower_bound_refused(c, X, signs, kept, plane, exact_arithmetic)
    yield from upper_bound_refused(c, X[rows], signs[rows], kept, hulls, exact_arithmetic)
    if c.primal != objective(c.margin_lower, c.norm) or c.dual != objective(c.margin_upper, c.norm):
        yield "primal and dual are not the values that follow from the margins"
    yield from verdict_refused(c, X, signs, rows, plane, hulls)
    yield from conditions_refused(c, X, signs, rows, kept, plane, hulls)
    yield from separation_theorems_refused(c, X, signs, rows)


def lower_bound_refused(
    c: Certificate, X: Matrix, signs: Vector, kept: Rows, plane: PlaneMargin, exact_arithmetic: bool
) -> Iterator[str]:
    """Believed in float64 with every rounding error against it, refused with every error in its favour, and decided in
    fractions in between."""
    claimed = c.margin_lower
    if claimed == -math.inf or (claimed <= plane.lower and not exact_arithmetic):
        return
    where = f" (row {kept[plane.row]})" if plane.row >= 0 else ""
    beyond = plane.value + 4.0 * (plane.value - plane.lower) if math.isfinite(plane.lower) else math.inf
    if len(kept) == 0 or not c.w.any() or not claimed <= beyond:
        yield f"the plane's margin is {plane.value:.12g}{where}, not {claimed:.12g}"
        return
    at_least = exact.exact_margin_at_least(X, signs, c.w, c.b if c.fit_intercept else None, claimed, c.norm)
    if not at_least:
        yield f"the plane's margin is {plane.value:.12g}{where}, not {claimed:.12g}: {clause(at_least, kept)}"


def upper_bound_refused(
    c: Certificate, rows: Matrix, signs: Vector, kept: Rows, hulls: HullDistance, exact_arithmetic: bool
) -> Iterator[str]:
    """Likewise. That no margin is positive is never believed without a witness."""
    claimed = c.margin_upper
    if c.verdict in WITNESSED:
        return
    if not claimed > 0.0:
        yield "only a witness that the hulls meet makes the upper bound 0"
        return
    if claimed == math.inf or (claimed >= hulls.upper and not exact_arithmetic):
        return
    proven = f"the weighted rows prove an upper bound of {hulls.value:.12g}, not {claimed:.12g}"
    beyond = hulls.value - 4.0 * (hulls.upper - hulls.value) if math.isfinite(hulls.upper) else -math.inf
    if claimed < beyond:
        yield proven
        return
    bounded = exact.exact_upper_bound_holds(rows, signs, c.weights, claimed, c.fit_intercept, c.norm)
    if not bounded:
        yield f"{proven}: {clause(bounded, kept)}"


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
    """The violations may differ by what rounding does to distances and hull points, and the rows named have them."""
    if (c.kkt is None) != (not c.margin_lower > 0.0 or not math.isfinite(hulls.value) or hulls.value == 0.0):
        yield "the report of the optimality conditions is missing or out of place"
        return
    if c.kkt is None:
        return
    fresh = None
    if plane.value > 0.0:
        fresh = conditions(X, signs, Claim(c.w, c.b, rows, c.weights), plane, hulls, c.norm, c.fit_intercept)
    if fresh is None:
        yield "float64 cannot measure the conditions of optimality that are reported"
        return
    rounding = rounding_of(plane) / plane.value + rounding_of_hulls(hulls) / hulls.value
    rounded = dict.fromkeys(("stationarity", "primal", "slackness", "bias"), 4.0 * rounding)
    yield from figures_refused(c.kkt, fresh, fresh, rounded)
    at_row = plane.distances[kept == c.kkt.primal.row]
    if not np.any(at_row <= plane.value + 2.0 * rounding_of(plane)):
        yield f"row {c.kkt.primal.row} is not the nearest to the plane"
    share = hulls.weights / hulls.weights.sum()
    if not np.any(share[c.rows == c.kkt.dual.row] <= float(share.min()) + 1e-12):
        yield f"row {c.kkt.dual.row} is not the one that carries least"
    slack = slackness(plane, rows, share)
    at_row, most = slack[c.rows == c.kkt.slackness.row], float(slack.max())
    if not np.any((at_row >= most) | (at_row >= most - 1e-6 * (1e-6 + most) - 4.0 * rounding)):
        yield f"row {c.kkt.slackness.row} is not the one that has the most slack for its weight"


def verdict_refused(
    c: Certificate, X: Matrix, signs: Vector, rows: Rows, plane: PlaneMargin, hulls: HullDistance
) -> Iterator[str]:
    """The bounds were measured before: a margin that is proven to be above 0 separates every row."""
    if c.verdict not in WITNESSED:
        yield from gap_refused(c, c.margin_lower, c.margin_upper)
    if c.verdict in (Verdict.OPTIMAL, Verdict.SEPARABLE):
        if not c.margin_lower > 0.0:
            yield "no positive margin is claimed, so nothing is separated"
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


def clause(refusal: exact.Verdict, kept: Rows) -> str:
    """The reason as a clause, with its row numbered as in the user's table."""
    reason = refusal.reason.rstrip(".")
    reason = reason[:1].lower() + reason[1:]
    if refusal.row is None:
        return reason
    return re.sub(rf"\brow {refusal.row}\b", f"row {kept[refusal.row]}", reason)
