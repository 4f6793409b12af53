"""What is seen of a fit: its picture, what each row has to do with it, and what is proven, in the words of the page.

The numbers of the picture come from `plots.geometry`, as those of all pictures; the words of the proof from the report.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.certificate import Certificate, Verdict
from maxmargin.certificates.kernel_margin import KernelVerdict
from maxmargin.certificates.measure import dual_norm
from maxmargin.certificates.passes import length
from maxmargin.certificates.proof import promise
from maxmargin.certificates.record import is_witness_of_kernel
from maxmargin.certificates.soft_margin import SoftVerdict
from maxmargin.certificates.words import (
    CONDITIONS,
    HARD_CONDITIONS,
    bounds_of,
    rounded_down,
    rounded_up,
    rounded_within,
    sentences,
)
from maxmargin.data.table import Vector
from maxmargin.playground.fits import Fit, Stopped, fit_state
from maxmargin.playground.messages import State, short, short_points
from maxmargin.playground.steps import rounds_of
from maxmargin.plots.contours import even_nodes
from maxmargin.plots.geometry import Plane, Street, plane_of, street_of
from maxmargin.plots.shapes import Box, Points, between, hull, hull_points, one_line
from maxmargin.problems.losses import HINGE

ROUNDS_SHOWN = 16
MESH = 48  # squares along each side of the grid on which a boundary is sought,
FIELD = 24  # and of the one that the page shades
SHADES = 4  # digits of the values that are shaded

NOTHING_DRAWN: dict[str, Any] = {
    "plane": None,
    "reach": None,
    "lines": {"minus": [], "zero": [], "plus": []},
    "street_area": [],
    "field": None,
    "slack": [],
    "mistakes": [],
}
ROW_DIGITS = 8  # of a distance and a slack
ON_EDGE = 1e-9  # of the street: nearer, a row touches its edge
NOT_PROVEN = (Verdict.UNDECIDED, Verdict.STOPPED, SoftVerdict.BOUNDED, KernelVerdict.BOUNDED)


class Why(IntEnum):
    """Why a row carries weight, or none; `REASONS` says it."""

    BEYOND = 0
    ON_EDGE = 1
    INSIDE_AT_BOUND = 2
    WRONG_AT_BOUND = 3
    PAYS = 4
    HOLDS = 5
    TOUCHES = 6
    OF_WITNESS = 7
    NOT_OF_WITNESS = 8
    MOVED = 9
    NEVER_MOVED = 10
    NOT_YET = 11


REASONS = {
    Why.BEYOND: "No support vector: it lies beyond its edge of the street. Without it the answer would be the same.",
    Why.ON_EDGE: "A support vector on its edge of the street: its weight is whatever holds the edge there.",
    Why.INSIDE_AT_BOUND: "A support vector inside the street: it pays slack, so its weight is at its bound.",
    Why.WRONG_AT_BOUND: "A support vector on the wrong side: it pays most, so its weight is at its bound.",
    Why.PAYS: "A support vector: it pays slack, and its weight is the slope of its loss there.",
    Why.HOLDS: "A support vector: it lies on its edge of the street, and holds it.",
    Why.TOUCHES: "It lies on its edge of the street but carries no weight: other rows hold the street.",
    Why.OF_WITNESS: "Part of the witness: the hulls of these few rows meet, so no plane separates them.",
    Why.NOT_OF_WITNESS: "No part of the witness: the hulls meet without it.",
    Why.MOVED: "It carries weight: the algorithm found it wrong, or too near, and moved w by it.",
    Why.NEVER_MOVED: "It carries no weight: the algorithm never moved w by it.",
    Why.NOT_YET: "Its weight does not fit its place: the answer is not at the optimum, only within its gap.",
}


def answer(state: State, view: Box, is_stopped: Callable[[], bool] = lambda: False) -> dict[str, Any]:
    """Fit, and say all that the page shows."""
    shown = shown_of(fit_state(state, is_stopped), view)
    if is_stopped():
        raise Stopped
    return shown


def shown_of(fit: Fit, view: Box) -> dict[str, Any]:
    """All that the page shows of a fit of two classes."""
    state, plane = fit.state, plane_in(fit)
    picture = picture_of(plane, view)
    margin = margin_of(fit) if picture["reach"] is not None else None
    in_kernel = not hasattr(fit.certificate, "w")
    proof, support = certificate_of(fit.certificate), support_of(fit)
    margin_words, street_words = (None, None) if margin is None else in_words(margin, proof)
    return {
        **picture,
        "rows": rows_of(fit, plane, support),
        "values": values_in_words(fit.certificate),
        "margin": margin,
        "margin_words": margin_words,
        "street_words": street_words,
        "street": None if margin is None else 2.0 * margin,
        "normalized": normalized_in_words(getattr(fit.model, "normalized_margin_", None), fit.certificate),
        "space": "kernel" if in_kernel else getattr(fit.certificate, "norm", "l2"),
        "support": support,
        "hulls": hulls_of(state.points, state.signs, fit.certificate),
        "certificate": proof,
        "rounds": values_of_rounds(fit),
        "kkt": conditions_of(fit.certificate),
        "theorems": theorems_of(fit.certificate),
        "status": {"name": fit.status.name, "words": fit.status.value},
        "updates": getattr(fit.model, "n_updates_", 0),
        "sweeps": getattr(fit.model, "n_iter_", 0),
        "milliseconds": fit.milliseconds,
    }


def margin_of(fit: Fit) -> float:
    """The distance from the plane to an edge of its street, as the estimator states it."""
    return float(fit.model.margin_)


def support_of(fit: Fit) -> list[dict[str, Any]]:
    """The rows that carry weight: dual variables where the estimator has some, else what the certificate holds, as a
    witness."""
    model, certificate = fit.model, fit.certificate
    if hasattr(model, "dual_coef_") and not is_witness_of_kernel(certificate):
        rows, weights = model.support_, np.abs(model.dual_coef_[0])
    else:
        carrying = certificate.weights > 0.0
        rows, weights = certificate.rows[carrying], certificate.weights[carrying]
    bounded = bounds_reached(fit, weights)
    return [
        {"row": int(row), "a": float(a), "bounded": bool(full)}
        for row, a, full in zip(rows, weights, bounded, strict=True)
    ]


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def rows_of(fit: Fit, plane: Plane | None, support: list[dict[str, Any]]) -> dict[str, Any]:
    """Of each row its distance from the plane, positive on its own side, its slack where it has one, and why it carries
    weight or none."""
    a = np.zeros(len(fit.state.points))
    a[[one["row"] for one in support]] = [one["a"] for one in support]
    if plane is None:
        why = np.where(a > 0.0, Why.OF_WITNESS, Why.NOT_OF_WITNESS)
        distances = slack = None
    else:
        norm = getattr(fit.certificate, "norm", "l2")
        size = plane.length if plane.w is None or norm == "l2" else length(plane.w, norm)
        distances = evenly_rounded(plane.signs * plane.values / size) if size > 0.0 else None
        slack = evenly_rounded(plane.slack) if plane.is_soft else None
        why = reasons_of(fit, plane, a, {one["row"] for one in support if one["bounded"]})
    return {"distances": distances, "slack": slack, "why": why, "reasons": list(REASONS.values())}


def evenly_rounded(values: Vector) -> Vector:
    """As many digits of each as the largest has: a drag asks for all of them with every frame."""
    largest = float(np.abs(values).max(initial=0.0))
    digits = ROW_DIGITS - math.ceil(math.log10(largest)) if 0.0 < largest < math.inf else 0
    return np.round(values, digits)


def reasons_of(fit: Fit, plane: Plane, a: Vector, bounded: set[int]) -> Any:
    """By the conditions of optimality: the side of the edge on which each row lies, and its weight."""
    carries, pays = a > 0.0, plane.slack > 0.0
    if not plane.is_soft:
        if fit.certificate.is_separable is False:
            return np.where(carries, Why.OF_WITNESS, Why.NOT_OF_WITNESS)
        if fit.state.algorithm.name not in ("hard_margin", "linear_svm", "kernel_svm"):
            return np.where(carries, Why.MOVED, Why.NEVER_MOVED)
        on_edge = plane.margins <= 1.0 + ON_EDGE
        return np.select([carries, on_edge], [Why.HOLDS, Why.TOUCHES], Why.BEYOND)
    full = np.isin(np.arange(len(a)), list(bounded))
    wrong = plane.margins <= 0.0
    hinge = getattr(fit.certificate, "loss", HINGE.name) == HINGE.name
    cases = [
        (carries & pays & wrong & full, Why.WRONG_AT_BOUND),
        (carries & pays & full, Why.INSIDE_AT_BOUND),
        (carries & pays & ~full & (not hinge), Why.PAYS),
        (carries & (np.abs(plane.margins - 1.0) <= max(ON_EDGE, math.sqrt(fit.certificate.tol))), Why.ON_EDGE),
        (~carries & ~pays, Why.BEYOND),
    ]
    return np.select([case for case, _ in cases], [why for _, why in cases], Why.NOT_YET)


def values_in_words(certificate: Any) -> dict[str, str | None]:
    """The primal and the dual value, rounded outwards: what is printed still encloses the best one."""
    primal, dual = certificate.primal, certificate.dual
    return {
        "primal": rounded_up(primal) if math.isfinite(primal) else None,
        "dual": rounded_down(dual) if math.isfinite(dual) else None,
    }


def in_words(margin: float, proof: dict[str, Any]) -> tuple[str | None, str | None]:
    """The margin and the street in as few digits (at least four) as keep them within their bounds as they are
    printed."""
    if not math.isfinite(margin):
        return None, None
    is_bounded = proof["quantity"] == "margin"
    low, high = (float(proof["lower_words"]), float(proof["upper_words"])) if is_bounded else (0.0, math.inf)
    return rounded_within(margin, low, high), rounded_within(2.0 * margin, 2.0 * low, 2.0 * high)


def normalized_in_words(found: Any, certificate: Any) -> dict[str, Any] | None:
    """Both bounds of the best margin of the rows at length 1; None where it was not asked for, or nothing is proven."""
    if found is None or not math.isfinite(found.upper):
        return None
    lower = max(0.0, found.lower)  # w = 0 in place of a plane that does not separate
    words = "0" if found.upper == 0.0 else f"{rounded_down(lower)} … {rounded_up(found.upper)}"
    return {"norm": certificate.norm, "lower": lower, "upper": found.upper, "words": words}


def bounds_reached(fit: Fit, weights: Any) -> Any:
    """Whether each dual variable is at its bound C."""
    if hasattr(fit.model, "bounded_"):
        return fit.model.bounded_[0]
    return weights >= fit.state.parameters.get("C", math.inf)


def values_of_rounds(fit: Fit) -> list[dict[str, Any]]:
    """The primal and the dual value closing; the last are those of the certificate."""
    last = {"primal": fit.certificate.primal, "dual": fit.certificate.dual}
    if fit.state.algorithm.steps == "rounds" and len(fit.recording.kept) == 1:  # the certificate has measured it
        return [{"round": 1, **last}]
    rounds = [
        {"round": found.number, "primal": found.primal, "dual": found.dual} for found in rounds_of(fit, ROUNDS_SHOWN)
    ]
    if rounds and not (rounds[-1]["primal"] == last["primal"] and rounds[-1]["dual"] == last["dual"]):
        rounds.append({"round": fit.recording.seen + 1, **last})
    return rounds


# The picture.


def plane_in(fit: Fit) -> Plane | None:
    """The plane of a fit on its points; a kernel that bends nothing has one in their own space."""
    if not fit.has_plane:
        return None
    plane = plane_of(fit.model, fit.state.points, fit.state.signs)
    if plane.kernel is None:
        return plane
    if fit.plane is not None:
        w, b = fit.plane
        return dataclasses.replace(plane, kernel=None, w=w, b=b, length=length(w, "l2"))
    return dataclasses.replace(plane, decide=fit.quick_values(plane.kernel))


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # a street can be as narrow as a denormal number
def picture_of(plane: Plane | None, view: Box) -> dict[str, Any]:
    """The boundary, the edges of the street, what rows pay that are not beyond their edge, and which are mistakes."""
    if plane is None:
        return NOTHING_DRAWN
    street = street_of(plane, box=view, mesh=MESH)
    field = None
    if plane.kernel is not None:
        values = plane.decide(even_nodes(view, FIELD))
        field = {"columns": FIELD + 1, "rows": FIELD + 1, "values": short(values, SHADES)}
    return {
        "plane": None if plane.w is None else {"w": plane.w, "b": plane.b},
        "reach": plane.reach if plane.reach > 0.0 and plane.length > 0.0 else None,
        "lines": {
            "minus": polylines(street.edges[1], plane),
            "zero": polylines(street.boundary, plane),
            "plus": polylines(street.edges[0], plane),
        },
        "street_area": street.pavement,
        "field": field,
        "slack": slack_of(plane, street),
        "mistakes": np.flatnonzero((plane.values >= 0.0) != (plane.signs > 0.0)),
    }


def straight_picture(w: Vector, b: float, reach: float, view: Box) -> dict[str, Any]:
    """A plane that no estimator made, and its street."""
    has_street = reach > 0.0
    edges = [one_line(w, b - level, view) if has_street else () for level in (-reach, reach)]
    return {
        "plane": {"w": w, "b": b},
        "reach": reach if has_street else None,
        "lines": {"minus": edges[0], "zero": one_line(w, b, view), "plus": edges[1]},
        "street_area": between(w, b, -reach, reach, view) if has_street else [],
    }


def polylines(lines: Sequence[Points], plane: Plane) -> list[Any]:
    """A straight line as it is; a bent one with as many digits as can be seen."""
    if plane.kernel is None:
        return [line.tolist() for line in lines]
    return [short_points(line) for line in lines]


def slack_of(plane: Plane, street: Street) -> list[dict[str, Any]]:
    """What each row pays that is inside the street or beyond the plane, and the way from it to its edge."""
    xi = plane.slack
    return [
        {"row": int(row), "xi": float(xi[row]), "from": way[0], "to": way[1]}
        for row, way in zip(street.late, street.slack, strict=True)
    ]


def hulls_of(points: Points, signs: NDArray[np.int64], certificate: Any) -> dict[str, Any] | None:
    """The hulls of the classes, and the points of them that the certificate speaks of."""
    if not hasattr(certificate, "w"):  # in the space of a kernel
        return None
    through_origin = not certificate.fit_intercept
    drawn: dict[str, Any] = outlines(points, signs, through_origin)
    drawn |= {"nearest": None, "distance": None, "witness": None}
    if not isinstance(certificate, Certificate):
        return drawn
    carrying = certificate.weights > 0.0
    rows, weights = certificate.rows[carrying], certificate.weights[carrying]
    if certificate.is_separable is False:
        at = np.zeros(2) if through_origin else hull_points(points[rows], signs[rows], weights)[0]
        witness = {"rows": rows, "weights": weights, "at": at}
        return {**drawn, "witness": witness | outlines(points[rows], signs[rows], through_origin)}
    if through_origin and len(rows):
        nearest = np.array([(signs[rows] * weights) @ points[rows] / weights.sum(), np.zeros(2)])
    elif len(np.unique(signs[rows])) == 2:
        nearest = hull_points(points[rows], signs[rows], weights)
    else:  # so few mistakes that a class has none: its weights are no point of its hull
        return drawn
    distance = length(nearest[0] - nearest[1], dual_norm(certificate.norm))
    return {**drawn, "nearest": nearest, "distance": distance}


def outlines(points: Points, signs: NDArray[np.int64], through_origin: bool) -> dict[str, Any]:
    """The corners of the hulls: of both classes, or of all y x where the plane goes through the origin."""
    if through_origin:
        return {"positive": None, "negative": None, "mirrored": hull(points * signs[:, None])}
    return {"positive": hull(points[signs > 0]), "negative": hull(points[signs < 0]), "mirrored": None}


# What is proven.


def certificate_of(certificate: Any) -> dict[str, Any]:
    """The verdict, the bounds and the gap."""
    quantity, lower, upper = bounds_of(certificate)
    gap = certificate.relative_gap if lower > 0.0 or quantity == "objective" else math.nan
    return {
        "verdict": certificate.verdict.name,
        "proven": certificate.verdict not in NOT_PROVEN,
        "words": [certificate.verdict.value, *sentences(certificate)],
        "quantity": quantity,
        "lower": lower,
        "upper": upper,
        "lower_words": rounded_down(lower),
        "upper_words": rounded_up(upper),
        "gap": gap if math.isfinite(gap) else None,
        "gap_words": rounded_up(gap, 2) if math.isfinite(gap) else "unknown",
        "tol": getattr(certificate, "tol", None),
    }


def conditions_of(certificate: Any) -> list[dict[str, Any]]:
    """The largest violation of each condition of Karush, Kuhn and Tucker."""
    if certificate.kkt is None:
        return []
    found = []
    for name, words in (HARD_CONDITIONS if certificate.is_about_margin else CONDITIONS).items():
        violation = getattr(certificate.kkt, name)
        row = violation.row if violation.row >= 0 and violation.value > 0.0 else None
        found.append({"condition": name, "words": words, "value": violation.value, "row": row})
    return found


def theorems_of(certificate: Any) -> list[dict[str, Any]]:
    """What each theorem promises beside what was counted."""
    return [
        {
            "name": theorem.name,
            "count": theorem.measured,
            "bound": theorem.bound if math.isfinite(theorem.bound) else None,
            "holds": theorem.holds,
            "at_most": theorem.at_most,
            "words": promise(theorem),
        }
        for theorem in getattr(certificate, "theorems", ())
    ]
