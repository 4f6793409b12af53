"""One plane of a fitted estimator on the rows of a table: what every picture of it begins with."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.kernel_margin import KernelCertificate
from maxmargin.certificates.multiclass import MulticlassCertificate
from maxmargin.certificates.passes import length, margins_of
from maxmargin.certificates.report import side_names
from maxmargin.certificates.soft_margin import SoftMarginCertificate
from maxmargin.data.checking import checked_rows, is_source
from maxmargin.data.frames import PLAIN, frame_of
from maxmargin.data.table import Matrix, Vector, as_table, is_sparse, matrix_of
from maxmargin.problems.kernels import Kernel

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

    @property
    def margins(self) -> Vector:
        """y (w.x + b) in units of the street: 0 on the plane, 1 on the own edge. NaN of a row on neither side."""
        return np.where(self.signs == 0.0, np.nan, self.signs * self.values / (self.reach or 1.0))

    @property
    def slack(self) -> Vector:
        """xi_i = max(0, 1 - margin), where there is a street; rows that are on their edge, to the gap, have none."""
        missing = np.nan_to_num(1.0 - self.margins)
        least = max(LEAST_SLACK, self.certificate.tol if is_soft(self.certificate) else 0.0)
        return np.where(missing > least, missing, 0.0) if self.reach > 0.0 else np.zeros(len(missing))

    @property
    def distances(self) -> Vector:
        """From the plane, positive on its positive side; of a kernel, in its space."""
        return self.values / self.length if self.length > 0.0 else self.values

    @property
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
    table, names = rows_and_names(X, feature_names)
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
    parts = getattr(certificate, "parts", (certificate,))
    if not 0 <= plane < len(parts):
        raise ValueError(f"there are {len(parts)} planes, counted from 0; plane={plane} is not one of them")
    return parts[plane]


def two_sides(estimator: Any, X: Any, y: Any, plane: int, sample_weight: Any = None) -> tuple[Any, Any, Any]:
    """The rows of one two-class problem, their labels and weights; a rest is labelled as that. Two classes stay."""
    if len(np.unique(np.asarray(y))) == 2:
        return X, y, sample_weight
    certificate = part_of(estimator, plane)
    table, _ = rows_and_names(X)
    signs = signs_of(certificate, y, table.shape[0])
    ours = signs != 0.0
    weights = None if sample_weight is None else np.asarray(sample_weight)[ours]
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
    y = np.asarray(y)
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


def costs_of(certificate: Any, y: Any, sample_weight: Any) -> Vector:
    """C_i = C times the weight of the label times that of the row."""
    y = np.asarray(y)
    costs = np.full(len(y), getattr(certificate, "C", math.inf))
    for label, weight in getattr(certificate, "class_weight", ()):
        costs[y == label] *= weight
    return costs if sample_weight is None else costs * np.asarray(sample_weight, dtype=np.float64)
