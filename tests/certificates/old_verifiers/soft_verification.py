"""Checking a certificate of the soft margin against the raw data.

Both sides are measured anew. What is compared with what:

    primal     >= P of the plane
    dual       <= D of the weights, which must be in their box
    verdict    "optimal" if and only if the gap between the two is at most tol
    KKT        each violation is what it is said to be, up to rounding, and the row named has it
    theorems   known ones, with bounds that can be

A claim is believed in float64 only if it holds with every rounding error against it, and refused if it fails with
every error in its favour. In between, exact rational arithmetic decides: nothing false is ever believed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from certificates.old_verifiers.conditions import INSIDE, feasible_weights, row_shares, soft_conditions
from certificates.old_verifiers.form import Rows, figures_refused, gap_refused, is_class_weight, is_number, malformed
from certificates.old_verifiers.theorem_verification import pegasos_refused
from certificates.old_verifiers.verification import objective_between, problem_of

from maxmargin import SoftMarginCertificate, Verification
from maxmargin.certificates import exact_soft_margin
from maxmargin.certificates.duality import DualValue, PrimalValue, dual_value, primal_value
from maxmargin.certificates.passes import length, values_of
from maxmargin.data.checking import check_weights
from maxmargin.data.table import Matrix, Vector
from maxmargin.problems.losses import HUBER_HINGE, LOSSES, Loss, loss_named
from maxmargin.problems.statement import SoftMargin


def verify(certificate: SoftMarginCertificate, X: Any, y: Any, *, exact: bool, sample_weight: Any) -> Verification:
    """Whether the certificate is true of X and y."""
    try:
        X, signs, kept = problem_of(certificate, X, y, sample_weight)
        costs = costs_of(certificate, np.asarray(y), sample_weight, kept)
    except (TypeError, ValueError) as error:
        return Verification(False, exact, (str(error),))
    refusals = tuple(refusals_of(certificate, X, signs, costs, kept, exact))
    if refusals:
        if sample_weight is None and any("objective is" in reason for reason in refusals):
            refusals += ("if the fit was given a sample_weight, it is needed here too",)
        return Verification(False, exact, refusals)
    return Verification(True, exact, (objective_between(certificate.dual, certificate.primal),))


def costs_of(certificate: SoftMarginCertificate, y: Any, sample_weight: Any, kept: Rows) -> Vector:
    """C_i of the rows: the products are taken as float64 rounds them."""
    if not (is_class_weight(certificate.class_weight) and is_number(certificate.C)):
        raise ValueError("C must be a number, and class_weight pairs of a label and a positive weight, each label once")
    weights = np.ones(len(y))
    for label, weight in certificate.class_weight:
        own = np.asarray(y == label)
        if not np.any(own):
            raise ValueError(f"class_weight names {label!r}, which is no label of these data")
        weights[own] = weight
    if sample_weight is not None:
        weights *= check_weights(sample_weight, len(y))
    with np.errstate(over="ignore"):
        return np.asarray(certificate.C * weights[kept])


def refusals_of(
    c: SoftMarginCertificate, X: Matrix, signs: Vector, costs: Vector, kept: Rows, exact_arithmetic: bool
) -> Iterator[str]:
    """Each reason why the certificate is not true, as a clause."""
    malformed = next(malformations(c, costs, kept), None)
    if malformed is not None:
        yield malformed
        return
    if not c.fit_intercept and c.b != 0.0:
        yield f"the plane should pass through the origin but has b = {c.b}"
    a = np.zeros(len(kept))
    a[np.searchsorted(kept, c.rows)] = c.weights
    loss = loss_named(c.loss, c.huber_width)
    problem = SoftMargin(X, signs, costs, loss, c.fit_intercept)
    outside = ~((a >= 0.0) & (a <= problem.upper) & np.isfinite(a))
    if np.any(outside):
        row = int(np.argmax(outside))
        times = "" if loss.box == 1.0 else f"{loss.box:g} times "
        most = f"{times}its cost {costs[row]:.9g}" if loss.is_bounded else "infinity"
        yield f"the weight {a[row]:.9g} of row {kept[row]} is not between 0 and {most}: not a point of the dual"
        return
    values = values_of(X, c.w)
    primal, dual = primal_value(problem, c.w, c.b, values=values, matters=c.tol), dual_value(problem, a, matters=c.tol)
    exact = ExactSides(X, signs, costs, c, loss, a)
    if exact_arithmetic:
        if not exact.primal_holds():
            yield f"in exact arithmetic the plane's objective is {as_number(primal)} and exceeds {c.primal!r}"
        if not exact.dual_holds():
            yield f"in exact arithmetic the weights prove a lower bound of {as_number(dual)}, not {c.dual!r}"
    else:
        if not primal_agrees(c.primal, primal, exact):
            yield f"the plane's objective is {as_number(primal)}, not {c.primal:.12g}"
        if not dual_agrees(c.dual, dual, exact):
            yield f"the weights prove a lower bound of {as_number(dual)}, not {c.dual:.12g}"
    yield from gap_refused(c, c.dual, c.primal)
    if c.kkt is not None:
        yield from conditions_refused(c, problem, a, primal, dual, values, kept)
    yield from pegasos_refused(c, problem)


def malformations(c: SoftMarginCertificate, costs: Vector, kept: Rows) -> Iterator[str]:
    """What is not even a claim about this problem."""
    yield from malformed(c, kept)
    if c.loss not in LOSSES:
        yield f"the loss {c.loss!r} is not known"
    elif (c.loss == HUBER_HINGE.name) != (c.huber_width is not None):
        yield f"huber_width is {c.huber_width}: the Huber hinge needs one, and no other loss has it"
    else:
        try:
            loss_named(c.loss, c.huber_width)
        except ValueError as error:
            yield str(error)
    if c.w.shape != (c.n_columns,) or not np.all(np.isfinite(c.w)) or not math.isfinite(c.b):
        yield "the plane is not finite or has the wrong length"
    if not 0.0 < c.C < math.inf:
        yield f"C must be positive and finite, not {c.C}"
    wrong = ~((costs > 0.0) & np.isfinite(costs))
    if np.any(wrong):
        row = int(np.argmax(wrong))
        yield f"C times the weights must be positive and finite; row {kept[row]} has {costs[row]}"


@dataclasses.dataclass(frozen=True, eq=False)
class ExactSides:
    """The two claims of a certificate, in rational arithmetic."""

    X: Matrix
    signs: Vector
    costs: Vector
    c: SoftMarginCertificate
    loss: Loss
    a: Vector

    def primal_holds(self) -> bool:
        c = self.c
        return exact_soft_margin.primal_at_most(self.X, self.signs, self.costs, c.w, c.b, self.loss, c.primal)

    def dual_holds(self) -> bool:
        c = self.c
        known = self.X, self.signs, self.costs, self.a
        return exact_soft_margin.dual_at_least(*known, c.fit_intercept, self.loss, c.dual)


def primal_agrees(claimed: float, found: PrimalValue, exact: ExactSides) -> bool:
    if claimed >= found.value + found.error:
        return True
    if claimed < found.value - found.error:
        return False
    return exact.primal_holds()


def dual_agrees(claimed: float, found: DualValue, exact: ExactSides) -> bool:
    if claimed <= max(0.0, found.value - found.error):
        return True
    if claimed > (1.0 + 1e-9) * (found.value + 2.0 * found.error):  # twice: the best t may be another one
        return False
    return exact.dual_holds()


def as_number(found: PrimalValue | DualValue) -> str:
    return f"{found.value:.12g}" if math.isfinite(found.value + found.error) else "beyond what float64 can hold"


def conditions_refused(
    c: SoftMarginCertificate,
    problem: SoftMargin,
    a: Vector,
    primal: PrimalValue,
    dual: DualValue,
    values: Vector,
    kept: Rows,
) -> Iterator[str]:
    """The violations may differ by what rounding does."""
    assert c.kkt is not None
    if not math.isfinite(primal.value):
        yield "float64 cannot measure the conditions of optimality that are reported"
        return
    feasible = feasible_weights(dual, problem.signs, a)
    with np.errstate(over="ignore", invalid="ignore"):
        # Rows whose weights are at the very limit between telling b and not telling it: without them, and with them.
        fresh, widest = (
            soft_conditions(problem, (c.w, c.b), a, primal, dual, values, INSIDE * (1.0 + sign * 1e-6))
            for sign in (1.0, -1.0)
        )
        shares = row_shares(problem, feasible, primal.slack, problem.signs * (values + c.b)) / (primal.value or 1.0)
        scale = max(length(c.w, "l2"), length(dual.w, "l2")) or 1.0
        of_value = 4.0 * (primal.error + dual.error) / (primal.value or 1.0)
    rounding = {
        "stationarity": 4.0 * dual.w_error / scale,
        "slackness": of_value,
        "bias": 4.0 * primal.slack_error + of_value * float(primal.slack.max()),
    }
    yield from figures_refused(c.kkt, fresh, widest, rounding)
    most, at_row = float(shares.max()), shares[kept == c.kkt.slackness.row]
    if not np.any((at_row >= most) | (at_row >= most - 1e-6 * (1e-6 + most) - of_value)):
        yield f"row {c.kkt.slackness.row} is not the one that adds most to the gap"
