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
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.kernel_margin import KernelCertificate
from maxmargin.certificates.multiclass import MulticlassCertificate
from maxmargin.certificates.passes import length, margins_of, row_shares
from maxmargin.certificates.soft_margin import SoftMarginCertificate
from maxmargin.certificates.words import side_names
from maxmargin.data.checking import checked_rows
from maxmargin.data.frames import PLAIN, frame_of
from maxmargin.data.table import Matrix, Vector, as_table, column_at_hand, is_source, is_sparse, matrix_of
from maxmargin.plots.contours import MESH, Grid
from maxmargin.plots.projection import along_the_kernel_plane, along_the_plane
from maxmargin.plots.shapes import (
    Box,
    Lines,
    Points,
    between,
    box_around,
    hull,
    hull_points,
    one_line,
    slack_to_lines,
)
from maxmargin.problems.kernels import Kernel
from maxmargin.problems.losses import HINGE, loss_named
from maxmargin.problems.statement import SoftMargin

ALONG, ACROSS = "first principal direction in the plane", "distance from the plane"
LEAST_SLACK = 1e-9  # below, or below the gap that was asked for, a row is on its edge of the street


@dataclasses.dataclass(frozen=True, eq=False)
class Plane:
    """One plane of a fitted estimator on the rows of a table.

    certificate   what is proven of it
    X             the rows, dense or sparse
    feature_names names of the columns, where they have some
    signs         +1 and -1 of the two sides; 0 of a row that is on neither
    values        w.x + b of each row, or w.phi(x) + b
    w, b          the plane; w is None in the space of a kernel
    length        |w|
    reach         the edges of the street are where w.x + b is plus and minus this; 0: there is no street
    a             the dual variable of each row
    costs         C_i, the most that it can be; infinite for a hard margin
    kernel        None for a plane between the columns themselves
    decide        w.x + b of other rows
    """

    certificate: Any
    X: Matrix
    feature_names: tuple[str, ...] | None
    signs: Vector
    values: Vector
    w: Vector | None
    b: float
    length: float
    reach: float
    a: Vector
    costs: Vector
    kernel: Kernel | None
    decide: Callable[[Any], Vector]

    @cached_property
    def is_soft(self) -> bool:
        return is_soft(self.certificate)

    @cached_property
    def margins(self) -> Vector:
        """y (w.x + b) in units of the street: 0 on the plane, 1 on the own edge. NaN of a row on neither side."""
        return np.where(self.signs == 0.0, np.nan, self.signs * self.values / (self.reach or 1.0))

    @cached_property
    def slack(self) -> Vector:
        """xi_i = max(0, 1 - margin), where there is a street; rows that are on their edge, to the gap, have none."""
        missing = np.nan_to_num(1.0 - self.margins)
        least = max(LEAST_SLACK, self.certificate.tol if self.is_soft else 0.0)
        return np.where(missing > least, missing, 0.0) if self.reach > 0.0 else np.zeros(len(missing))

    @property
    def distances(self) -> Vector:
        """From the plane, positive on its positive side; of a kernel, in its space."""
        return self.values / self.length if self.length > 0.0 else self.values

    @cached_property
    def support(self) -> NDArray[np.intp]:
        """The rows that carry weight."""
        return np.flatnonzero(self.a)

    @property
    def names(self) -> tuple[str, str]:
        """What to call the positive and the negative side."""
        return side_names(self.certificate)


def plane_of(
    estimator: Any, X: Any, y: Any, *, plane: int = 0, sample_weight: Any = None, feature_names: Any = None
) -> Plane:
    """The plane of this number, of an estimator that was fitted to the rows X with the labels y."""
    certificate = part_of(estimator, plane)
    (table, names), y = rows_and_names(X, feature_names), np.asarray(column_at_hand(y))
    signs = signs_of(certificate, y, table.shape[0])
    values = estimator.values_of_planes(X)[:, plane]
    a = np.zeros(len(signs))
    if hasattr(estimator, "dual_coef_"):
        known = estimator.support_
        if len(known) and int(known.max()) >= len(a):
            raise ValueError(f"support_ has row {int(known.max())}, but X has {len(a)} rows: give the rows of the fit")
        a[known] = np.abs(estimator.dual_coef_[plane])
    else:
        a[certificate.rows] = certificate.weights
    kernel, b = getattr(estimator, "_kernel", None), float(estimator.intercept_[plane])
    if kernel is None:
        w = np.asarray(estimator.coef_[plane], dtype=np.float64)
        size, decide = length(w, "l2"), values_on(w, b)
    else:
        w, size = None, math.sqrt(max(0.0, float(np.sum(signs * a * (values - b)))))
        support = kernel.points(estimator.support_vectors_, estimator.support_)
        coefficients = np.ascontiguousarray(estimator.dual_coef_[plane])[:, None]

        def decide(points: Any) -> Vector:
            return np.asarray(kernel.combine(kernel.points(points), support, coefficients)[:, 0] + b)

    reach, costs = reach_of(certificate, signs, values), costs_of(certificate, y, sample_weight)
    return Plane(certificate, table, names, signs, values, w, b, size, reach, a, costs, kernel, decide)


def certified_plane(certificate: Any, X: Any, y: Any, *, sample_weight: Any = None) -> Plane:
    """The plane of a certificate that has one of its own; that of a kernel is known to its estimator alone."""
    if isinstance(certificate, MulticlassCertificate):
        raise ValueError(f"these are {len(certificate)} two-class problems; draw one: certificate[0]")
    if not isinstance(certificate, Certificate | SoftMarginCertificate):
        raise ValueError("the plane of a kernel is drawn from its estimator: from_estimator(estimator, X, y)")
    table, names = rows_and_names(X)
    if table.shape[1] != len(certificate.w):
        raise ValueError(f"the certificate is about {len(certificate.w)} columns; X has {table.shape[1]}")
    y = np.asarray(column_at_hand(y))
    signs, w, b = signs_of(certificate, y, table.shape[0]), certificate.w, certificate.b
    a = np.zeros(len(signs))
    a[certificate.rows] = certificate.weights
    decide = values_on(w, b)
    reach, costs = reach_of(certificate, signs, decide(table)), costs_of(certificate, y, sample_weight)
    return Plane(
        certificate, table, names, signs, decide(table), w, b, length(w, "l2"), reach, a, costs, None, decide
    )  # fmt: skip


def values_on(w: Vector, b: float) -> Callable[[Any], Vector]:
    """w.x + b of given rows."""
    return lambda points: margins_of(as_table(points), w)[0] + b


def part_of(estimator: Any, plane: int) -> Any:
    """The certificate of one plane; a sentence where there is none."""
    name = type(estimator).__name__
    if not hasattr(estimator, "classes_"):
        raise ValueError(f"{name} has no certificate_ yet: fit it first")
    certificate = getattr(estimator, "certificate_", None)
    if certificate is None:
        raise ValueError(
            f"{name} has no certificate_: it learnt from a stream. certify(X, y) makes one for rows that you choose, "
            "and from_certificate draws it"
        )
    parts = certificate.parts
    if not 0 <= plane < len(parts):
        raise ValueError(f"there are {len(parts)} planes, counted from 0; plane={plane} is not one of them")
    return parts[plane]


def two_sides(estimator: Any, X: Any, y: Any, plane: int, sample_weight: Any = None) -> tuple[Any, Any, Any]:
    """The rows of one two-class problem, their labels and weights; a rest is labelled as that. Two classes stay."""
    if len(np.unique(np.asarray(column_at_hand(y)))) == 2:
        return X, y, sample_weight
    certificate = part_of(estimator, plane)
    table, _ = rows_and_names(X)
    signs = signs_of(certificate, y, table.shape[0])
    ours = signs != 0.0
    weights = None if sample_weight is None else np.asarray(column_at_hand(sample_weight))[ours]
    return table[ours], np.where(signs[ours] > 0.0, *side_names(certificate)), weights


def rows_and_names(X: Any, feature_names: Any = None) -> tuple[Matrix, tuple[str, ...] | None]:
    """The rows as numbers, and what the columns are called."""
    frame = None if isinstance(X, PLAIN) else frame_of(X)
    known = feature_names if feature_names is not None or frame is None else frame.names
    names = None if known is None else tuple(map(str, known))
    X = matrix_of(checked_rows(X)) if is_source(X) else X if frame is None else frame.native
    table = X.tocsr() if is_sparse(X) else np.asarray(X, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"X must be a table; its shape is {table.shape}")
    return table, names


def signs_of(certificate: Any, y: Any, n_rows: int) -> Vector:
    """+1 and -1 of the two sides, 0 of a label that is on neither."""
    y = np.asarray(column_at_hand(y))
    if y.shape != (n_rows,):
        raise ValueError(f"X has {n_rows} rows but y has the shape {y.shape}")
    plus = y == certificate.positive
    minus = ~plus if certificate.negative is None else y == certificate.negative
    if not (np.any(plus) and np.any(minus)):
        names = ", ".join(repr(label) for label in np.unique(y)[:8].tolist())
        other = "other labels" if certificate.negative is None else repr(certificate.negative)
        raise ValueError(f"the plane is between {certificate.positive!r} and {other}; y has {names}")
    return np.where(plus, 1.0, np.where(minus, -1.0, 0.0))


def is_soft(certificate: Any) -> bool:
    return isinstance(certificate, SoftMarginCertificate | KernelCertificate) and math.isfinite(certificate.C)


def reach_of(certificate: Any, signs: Vector, values: Vector) -> float:
    """1 for a soft margin; of a plane that separates, the value of its nearest row; else 0."""
    if is_soft(certificate):
        return 1.0
    return max(0.0, float(np.min((signs * values)[signs != 0.0])))


def costs_of(certificate: Any, y: NDArray[Any], sample_weight: Any) -> Vector:
    """C_i = C times the weight of the label times that of the row."""
    costs = np.full(len(y), getattr(certificate, "C", math.inf))
    for label, weight in getattr(certificate, "class_weight", ()):
        costs[y == label] *= weight
    return costs if sample_weight is None else costs * np.asarray(column_at_hand(sample_weight), dtype=np.float64)


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
        boundary, pavement = tuple(lines(0.0)), NOTHING
        edges = (tuple(lines(plane.reach)), tuple(lines(-plane.reach))) if plane.reach > 0.0 else NO_EDGES
        slack = slack_to_lines(points[late], plane.signs[late], edges)
    else:
        w, b = (plane.w, plane.b) if columns == 2 and plane.w is not None else (np.array([0.0, plane.length]), 0.0)
        boundary, edges, pavement = one_line(w, b, around), NO_EDGES, NOTHING
        if plane.reach > 0.0:
            edges = one_line(w, b - plane.reach, around), one_line(w, b + plane.reach, around)
            pavement = between(w, b, -plane.reach, plane.reach, around)
        missing = plane.signs[late] * plane.slack[late] * plane.reach / (plane.length or 1.0) ** 2
        slack = np.stack([points[late], points[late] + missing[:, None] * w], axis=1)
    heaviest = float(plane.a.max(initial=0.0)) or 1.0
    return Street(
        points, (axes[0], axes[1]), around, is_even(around), boundary, edges, pavement, plane.support,
        plane.a[plane.support] / heaviest, late, slack,
    )  # fmt: skip


NOTHING: Points = np.zeros((0, 2))
NO_EDGES: tuple[Lines, Lines] = ((), ())


def along(plane: Plane) -> Vector:
    """The place of each row along the first principal direction in the plane."""
    square = plane.length * plane.length
    if plane.kernel is not None:
        return along_the_kernel_plane(plane.kernel, plane.X, plane.values, square)
    return along_the_plane(plane.X, plane.values, square)


def is_even(box: Box) -> bool:
    return math.isclose(box.right - box.left, box.top - box.bottom, rel_tol=1e-9)


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
    if not plane.is_soft:
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
