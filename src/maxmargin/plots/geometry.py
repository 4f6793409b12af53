"""The numbers of a picture, computed once, for whoever draws them: Matplotlib's displays, the playground, a program.

    plane_of(estimator, X, y)      one plane of a fitted estimator on its rows: values, dual variables, margins, slack
    street_of(plane)               where it all lies in two coordinates: rows, plane, edges, slack, support vectors
    hulls_of(certificate, X, y)    the hulls of two classes with their nearest points, or the point in both
    conditions_of(plane)           the conditions of optimality, row by row

Two columns are shown as they are. More columns, and kernels on more than two, are seen from the side of the plane:
the first principal direction in it against the distance from it (`projection`). Plain NumPy; nothing is drawn here.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.passes import length, row_shares
from maxmargin.data.table import Vector, is_sparse
from maxmargin.plots.contours import MESH, Grid
from maxmargin.plots.planes import Plane, certified_plane, is_soft, plane_of, rows_and_names, signs_of
from maxmargin.plots.projection import along_the_kernel_plane, along_the_plane
from maxmargin.plots.shapes import Box, Points, between, box_around, hull, hull_points, line_in_box, nearest_on_lines
from maxmargin.problems.losses import HINGE, loss_named
from maxmargin.problems.statement import SoftMargin

__all__ = [
    "Conditions",
    "Hulls",
    "Plane",
    "Street",
    "certified_plane",
    "conditions_of",
    "hulls_of",
    "plane_of",
    "street_of",
]

ALONG, ACROSS = "first principal direction in the plane", "distance from the plane"
Lines = tuple[Points, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Street:
    """Everything of a plane that has a place in the picture.

    points        two coordinates of each row
    axes          what the coordinates are called
    box           what is shown
    same_units    whether a step to the right and a step up are equally long
    boundary      lines where w.x + b = 0
    edges         lines where it is +reach, and lines where it is -reach; none without a street
    pavement      corners of the street in the box; none for the bent one of a kernel
    rows, sizes   the rows that carry weight, and their dual variables as shares of the largest
    late, slack   the rows that pay, and for each the segment from the row to its edge of the street
    """

    points: Points
    axes: tuple[str, str]
    box: Box
    same_units: bool
    boundary: Lines
    edges: tuple[Lines, Lines]
    pavement: Points
    rows: NDArray[np.intp]
    sizes: Vector
    late: NDArray[np.intp]
    slack: NDArray[np.float64]


def street_of(plane: Plane, *, box: Box | None = None, mesh: int = MESH) -> Street:
    """The picture of a plane. `mesh` squares along each side of the box trace the line of a kernel."""
    late = np.flatnonzero(plane.slack)
    columns = plane.X.shape[1] if plane.kernel is None or not plane.kernel.is_table else 0
    if columns == 2:
        points = np.asarray(plane.X.toarray() if is_sparse(plane.X) else plane.X, dtype=np.float64)
        axes = (plane.feature_names or ("", ""))[:2]
    else:
        points, axes = np.column_stack([along(plane), plane.distances]), (ALONG, ACROSS)
    around = box or box_around(points, room=0.07 if plane.kernel is None else 0.12)
    if columns == 2 and plane.kernel is not None:
        lines = Grid(plane.decide, around, mesh).lines
        boundary, edges, pavement = tuple(lines(0.0)), both_edges(lambda v: tuple(lines(v)), plane.reach), NOTHING
        slack = slack_to_lines(points[late], plane.signs[late], edges)
    else:
        w, b = (plane.w, plane.b) if columns == 2 and plane.w is not None else (np.array([0.0, plane.length]), 0.0)
        boundary = one_line(w, b, around)
        edges = both_edges(lambda value: one_line(w, b - value, around), plane.reach)
        pavement = between(w, b, -plane.reach, plane.reach, around) if plane.reach > 0.0 else NOTHING
        missing = plane.signs[late] * plane.slack[late] * plane.reach / (length(w, "l2") or 1.0) ** 2
        slack = np.stack([points[late], points[late] + missing[:, None] * w], axis=1)
    heaviest = float(plane.a.max(initial=0.0)) or 1.0
    return Street(
        points, (axes[0], axes[1]), around, is_even(around), boundary, edges, pavement, plane.support,
        plane.a[plane.support] / heaviest, late, slack,
    )  # fmt: skip


NOTHING: Points = np.zeros((0, 2))


def along(plane: Plane) -> Vector:
    """The place of each row along the first principal direction in the plane."""
    square = plane.length * plane.length
    if plane.kernel is not None:
        return along_the_kernel_plane(plane.kernel, plane.X, plane.values, square)
    return along_the_plane(plane.X, plane.values, square)


def is_even(box: Box) -> bool:
    return math.isclose(box.right - box.left, box.top - box.bottom, rel_tol=1e-9)


def one_line(w: Vector, b: float, box: Box) -> Lines:
    line = line_in_box(w, b, box)
    return (line,) if len(line) else ()


def both_edges(lines: Callable[[float], Lines], reach: float) -> tuple[Lines, Lines]:
    return (lines(reach), lines(-reach)) if reach > 0.0 else ((), ())


def slack_to_lines(points: Points, signs: Vector, edges: tuple[Lines, Lines]) -> NDArray[np.float64]:
    """From each row to the nearest point of its own edge; no way, where that edge is out of sight."""
    ends = points.copy()
    for side, own in zip((signs > 0, signs <= 0), edges, strict=True):
        found = nearest_on_lines(points[side], own)
        ends[side] = points[side] if found is None else found
    return np.stack([points, ends], axis=1)


class Hulls(NamedTuple):
    """The convex hulls of two classes, in two coordinates.

    outlines      corners of the positive and of the negative hull, counterclockwise
    nearest       a point of each: the nearest ones, or the same point twice where the hulls meet
    meet          whether they do
    rows          the rows that carry the two points
    mirrored      through the origin: negative rows count as -x, and the hull of all is nearest to the origin
    """

    points: Points
    outlines: tuple[Points, Points]
    nearest: Points
    meet: bool
    rows: NDArray[np.intp]
    mirrored: bool


def hulls_of(certificate: Certificate, X: Any, y: Any) -> Hulls:
    """The hulls as a hard-margin certificate sees them: its weights make the two points.

    Of more than two columns, their shadows from the side of the plane, in which the shortest way has its true length.
    """
    table, _ = rows_and_names(X)
    if table.shape[1] != 2 and not (certificate.w.any() and certificate.fit_intercept):
        raise ValueError(
            f"hulls that meet, or are seen from the origin, are drawn in two columns; these data have {table.shape[1]}"
        )
    points = street_of(certified_plane(certificate, X, y)).points
    signs = signs_of(certificate, y, len(points))
    carrying = certificate.weights > 0.0
    rows, weights = certificate.rows[carrying], certificate.weights[carrying]
    mirrored = not certificate.fit_intercept
    if mirrored:
        points = points * np.where(signs == 0.0, 1.0, signs)[:, None]
        nearest = np.array([weights @ points[rows] / weights.sum(), np.zeros(2)])
        outlines = (hull(points[signs != 0.0]), NOTHING)
    else:
        nearest = hull_points(points[rows], signs[rows].astype(np.int64), weights)
        outlines = (hull(points[signs > 0.0]), hull(points[signs < 0.0]))
    return Hulls(points, outlines, nearest, certificate.is_separable is False, rows, mirrored)


class Conditions(NamedTuple):
    """The conditions of Karush, Kuhn and Tucker, row by row.

    margins   y (w.x + b), with the edge of the street at 1
    shares    a_i / C_i; of a hard margin, a_i in units of the largest
    gap       what each row adds to the gap, relative to the objective; zero at the optimum
    rule      corners of the line on which all rows lie at the optimum, margins against shares
    """

    margins: Vector
    shares: Vector
    gap: Vector
    rule: Points


def conditions_of(plane: Plane) -> Conditions:
    """How far each row is from the line: no weight beyond the edge, full price inside, anything between on it."""
    margins, finite = plane.margins, np.isfinite(plane.costs)
    shares = plane.a / np.where(finite, plane.costs, float(plane.a.max(initial=0.0)) or 1.0)
    least = min(-0.5, float(np.nanmin(margins, initial=0.0)) - 0.2)
    most = max(1.5, float(np.nanmax(margins, initial=0.0)) + 0.2)
    if not is_soft(plane.certificate):
        gap = plane.a * np.maximum(0.0, np.nan_to_num(margins) - 1.0) / (float(plane.a.sum()) or 1.0)
        return Conditions(margins, shares, gap, np.array([[1.0, 1.05], [1.0, 0.0], [most, 0.0]]))
    loss = loss_named(getattr(plane.certificate, "loss", HINGE.name), getattr(plane.certificate, "huber_width", None))
    ours = plane.signs != 0.0
    problem = SoftMargin(plane.X[ours], plane.signs[ours], plane.costs[ours], loss, True)
    gap = np.zeros(len(margins))
    slack = np.maximum(0.0, 1.0 - margins[ours])
    gap[ours] = row_shares(problem, plane.a[ours], slack, margins[ours]) / (plane.certificate.primal or 1.0)
    corners = [[least, float(loss.share(1.0 - least))], [1.0, 0.0], [most, 0.0]]
    if loss.knee < 1.0 - least:
        corners.insert(1, [1.0 - loss.knee, loss.box])
    return Conditions(margins, shares, gap, np.array(corners))
