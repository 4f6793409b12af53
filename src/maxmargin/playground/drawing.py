"""The picture of a fit in the words of the page. Its numbers come from `plots.geometry`, as those of all pictures."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.measure import dual_norm, length
from maxmargin.data.matrix import Vector
from maxmargin.playground.fits import Fit
from maxmargin.plots.contours import Grid
from maxmargin.plots.geometry import Plane, Street, one_line, plane_of, street_of
from maxmargin.plots.shapes import Box, Points, between, hull, hull_points

MESH = 48  # squares along each side of the grid on which a boundary is sought,
FIELD = 24  # and of the one that the page shades
DIGITS = 9  # of the coordinates of a bent line: far below a pixel
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


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # a street can be as narrow as a denormal number
def picture_of(fit: Fit, view: Box) -> dict[str, Any]:
    """The boundary, the edges of the street, what rows pay that are not beyond their edge, and which are mistakes."""
    if not fit.has_plane:
        return NOTHING_DRAWN
    plane = plane_of(fit.model, fit.state.points, fit.state.signs)
    if fit.plane is not None:
        w, b = fit.plane
        plane = dataclasses.replace(plane, kernel=None, w=w, b=b, length=length(w, "l2"))
    elif plane.kernel is not None:
        plane = dataclasses.replace(plane, decide=fit.quick_values(plane.kernel))
    street = street_of(plane, box=view, mesh=MESH)
    field = None
    if plane.kernel is not None:
        values = Grid(plane.decide, view, FIELD).values
        field = {"columns": FIELD + 1, "rows": FIELD + 1, "values": short(values.ravel(), SHADES)}
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


def short_points(line: Points) -> list[list[float]]:
    return [short(point, DIGITS) for point in line]


def short(values: NDArray[np.float64], digits: int) -> list[float]:
    """So many digits of each, as a message holds them."""
    return [float(f"{value:.{digits}g}") for value in values.tolist()]


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
