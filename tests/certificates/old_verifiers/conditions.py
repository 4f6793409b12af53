"""The conditions of optimality as the old verifiers measured them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates import exact
from maxmargin.certificates.duality import DualValue, PrimalValue
from maxmargin.certificates.kernel_duality import KernelMeasure
from maxmargin.certificates.measure import HullDistance, PlaneMargin
from maxmargin.certificates.passes import length
from maxmargin.certificates.proof import KKT, Violation
from maxmargin.data.table import Matrix, Vector
from maxmargin.problems.statement import KernelMargin, SoftMargin

INSIDE = 1e-3
ON_THE_PLANE = 1e-9


def rows_on(plane: PlaneMargin) -> NDArray[np.intp]:
    """The rows that a weakly separating plane passes through, as far as float64 can tell."""
    farthest = float(np.max(np.abs(plane.distances)))
    return np.flatnonzero(np.abs(plane.distances) <= ON_THE_PLANE * farthest)


def weakly_separated(X: Matrix, signs: Vector, plane: PlaneMargin, claim: Any, fit_intercept: bool) -> int:
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
    claim: Any,
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


def soft_conditions(
    problem: SoftMargin,
    plane: tuple[Vector, float],
    a: Vector,
    primal: PrimalValue,
    dual: DualValue,
    values: Vector,
    inside: float = INSIDE,
) -> KKT:
    """The Karush-Kuhn-Tucker conditions at the plane and the feasible weights that a makes. values = X w."""
    (w, b), signs, costs = plane, problem.signs, problem.costs
    feasible = feasible_weights(dual, signs, a)
    total = float(a.sum())
    scale = max(length(w, "l2"), length(dual.w, "l2"))
    share = row_shares(problem, feasible, primal.slack, signs * (values + b)) / (primal.value or 1.0)
    worst = int(np.argmax(share))
    upper = problem.upper
    scale_of_a = upper if problem.loss.is_bounded else float(feasible.max(initial=0.0))
    telling = (feasible > inside * scale_of_a) & (feasible < (1.0 - inside) * upper)
    own = signs * (1.0 - problem.loss.bend * feasible / costs) - values
    spread = float(np.ptp(own[telling])) if problem.fit_intercept and np.any(telling) else 0.0
    imbalance = abs(float(np.sum(signs * a))) / total if problem.fit_intercept and total > 0.0 else 0.0
    return KKT(
        stationarity=Violation(length(w - dual.w, "l2") / scale if scale > 0.0 else 0.0),
        primal=Violation(0.0),
        dual=Violation(imbalance),
        slackness=Violation(float(share[worst]), worst),
        bias=Violation(spread),
    )


def feasible_weights(dual: DualValue, signs: Vector, a: Vector) -> Vector:
    """The feasible point t a' that the weights a of these rows make."""
    plus, minus = dual.factors
    return np.asarray(a * np.where(signs > 0, plus, minus))


def row_shares(problem: SoftMargin, a: Vector, slack: Vector, functional: Vector) -> Vector:
    """What each row adds to P - D, apart from 1/2 |w - w(a)|^2: never negative, and zero in complementary slackness.

    before the knee    C_i (xi_i - q_i a_i)^2 / (2 bend)                  + a_i max(0, y_i (w.x_i + b) - 1)
    beyond it          (u_i - a_i) (xi_i - q_i (u_i + a_i) / 2)
    """
    loss, costs, beyond = problem.loss, problem.costs, a * np.maximum(0.0, functional - 1.0)
    share = np.zeros(len(a))
    if loss.is_smooth:
        share = costs * (slack - loss.bend * a / costs) ** 2 / (2.0 * loss.bend)
    if loss.is_bounded:
        upper = problem.upper
        bent = 0.5 * loss.bend * (upper + a) / costs if loss.is_smooth else 0.0
        straight = (upper - a) * (slack - bent)
        share = np.where(slack >= loss.knee, straight, share)
    return np.asarray(share + beyond)


def kernel_conditions(problem: KernelMargin, a: Vector, measured: KernelMeasure, inside: float = INSIDE) -> KKT:
    """The Karush-Kuhn-Tucker conditions at the plane and the feasible weights that a makes; the plane separates, if
    the margin is hard.

    The plane is w(a') / m, with m = 1 for the soft margin; the weights make t w(a').
    """
    signs, total = problem.signs, float(a.sum())
    shares = shares_of(problem, a, measured)
    worst = int(np.argmax(shares))
    m, t = nearest(problem, measured), factor(measured)
    feasible = kernel_feasible_weights(problem, a, measured)
    if problem.is_hard or not problem.loss.is_bounded:
        telling = feasible > inside * float(feasible.max(initial=0.0))
    else:
        telling = (feasible > inside * problem.upper) & (feasible < (1.0 - inside) * problem.upper)
    telling &= problem.fit_intercept
    total *= problem.fit_intercept
    own = (m * signs * (1.0 - problem.loss.bend * feasible / problem.costs) - measured.values) / m
    return KKT(
        stationarity=Violation(abs(1.0 - t * m) / max(1.0, t * m) if measured.square > 0.0 else 0.0),
        primal=Violation(0.0),
        dual=Violation(abs(float(np.sum(signs * a))) / total if total > 0.0 else 0.0),
        slackness=Violation(float(shares[worst]), worst),
        bias=Violation(float(np.ptp(own[telling])) if np.any(telling) else 0.0),
    )


def nearest(problem: KernelMargin, measured: KernelMeasure) -> float:
    """y (w.phi(x) + b) of the row by which a hard margin is measured; 1 for a soft one."""
    return float(np.min(problem.signs * (measured.values + measured.b))) if problem.is_hard else 1.0


def factor(measured: KernelMeasure) -> float:
    """t."""
    return measured.factors[0] / measured.scales[0] if measured.scales[0] > 0.0 else 0.0


def kernel_feasible_weights(problem: KernelMargin, a: Vector, measured: KernelMeasure) -> Vector:
    """The feasible point t a' that the weights a make."""
    return np.asarray(a * np.where(problem.signs > 0, *measured.factors))


def shares_of(problem: KernelMargin, a: Vector, measured: KernelMeasure) -> Vector:
    """What each row adds to P - D, apart from 1/2 |w - w(t a')|^2, relative to P."""
    feasible = kernel_feasible_weights(problem, a, measured)
    functional = problem.signs * (measured.values + measured.b)
    if problem.is_hard:
        shares = feasible * np.maximum(0.0, functional / nearest(problem, measured) - 1.0)
    else:
        shares = row_shares(problem, feasible, measured.slack, functional)
    return np.asarray(shares / (measured.primal or 1.0))
