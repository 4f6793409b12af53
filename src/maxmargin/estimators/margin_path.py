"""The soft margins of many C, side by side: what `path` returns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.soft_margin import SoftMarginCertificate
from maxmargin.data.checking import check_table
from maxmargin.data.table import Vector
from maxmargin.estimators.linear import LinearSVM
from maxmargin.run.control import Status


class PathPoint(NamedTuple):
    """The soft margin at one C."""

    C: float
    coef: Vector
    intercept: float
    margin: float
    n_support: int
    n_inside: int
    n_mistakes: int
    certificate: SoftMarginCertificate
    status: Status


@dataclass(frozen=True, eq=False, repr=False)
class MarginPath:
    """Soft margins of two classes for rising C. Its length is the number of points; path[k] is one `PathPoint`.

    Parameters
    ----------
    classes : tuple
        The labels on the negative and on the positive side.
    points : tuple of PathPoint
        One `PathPoint` for each C.
    C_max : float or None
        Where the path ends: from here on the soft margin is the hard margin (infinity for a loss that bends,
        and where it is beyond float64). None if no plane separates the rows, or if that was not asked.
    separation : Certificate or None
        The certificate of the hard margin or, where no plane separates the rows, the witness of that; None if
        it was not asked.

    Attributes
    ----------
    Cs, coefs, intercepts, margins, n_support, n_inside, n_mistakes : ndarray
        Of all points: `coefs` has a line for each, margins are 1 / |w|, `n_inside` counts rows with 0 < xi <= 1, and
        `n_mistakes` those with xi > 1. A row that is within `tol` of its edge of the street is on the edge.
    certificates, statuses : tuple
        Likewise.

    Examples
    --------
    >>> from maxmargin import path
    >>> street = path([[0, 0], [0, 2], [3, 0], [5, 1]], [0, 0, 1, 1], Cs=[0.01, 1])
    >>> len(street), street[1].C, street.n_mistakes.tolist()
    (2, 1.0, [0, 0])
    """

    classes: tuple[Any, Any]
    points: tuple[PathPoint, ...]
    C_max: float | None
    separation: Certificate | None

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, k: int) -> PathPoint:
        return self.points[k]

    @property
    def Cs(self) -> Vector:
        return np.array([point.C for point in self.points])

    @property
    def coefs(self) -> NDArray[np.float64]:
        return np.array([point.coef for point in self.points])

    @property
    def intercepts(self) -> Vector:
        return np.array([point.intercept for point in self.points])

    @property
    def margins(self) -> Vector:
        return np.array([point.margin for point in self.points])

    @property
    def n_support(self) -> NDArray[np.intp]:
        return np.array([point.n_support for point in self.points])

    @property
    def n_inside(self) -> NDArray[np.intp]:
        return np.array([point.n_inside for point in self.points])

    @property
    def n_mistakes(self) -> NDArray[np.intp]:
        return np.array([point.n_mistakes for point in self.points])

    @property
    def certificates(self) -> tuple[SoftMarginCertificate, ...]:
        return tuple(point.certificate for point in self.points)

    @property
    def statuses(self) -> tuple[Status, ...]:
        return tuple(point.status for point in self.points)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The values w.x + b of the samples, for every C of the path.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_points)
            A line for each sample, a column for each C.
        """
        X = check_table(LinearSVM(), X).X
        if X.shape[1] != len(self.points[0].coef):
            raise ValueError(f"X has {X.shape[1]} columns, but the path was made with {len(self.points[0].coef)}")
        return np.asarray(X @ self.coefs.T, dtype=np.float64) + self.intercepts

    def best(self, X: Any, y: Any) -> PathPoint:
        """The point that labels most of these rows rightly; the lowest C of those that do it equally well.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples; others than those that the path was made with.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        PathPoint
            With its `C`, its hyperplane and its certificate.

        Examples
        --------
        >>> from maxmargin import path
        >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], ["left", "left", "right", "right"]
        >>> path(X, y, Cs=[0.01, 1, 100]).best([[1, 0], [2, 1]], ["left", "right"]).C
        1.0
        """
        positive_side = np.asarray(y) == self.classes[1]
        right = (self.decision_function(X) >= 0.0) == positive_side[:, None]
        return self.points[int(np.argmax(right.sum(axis=0)))]

    def __repr__(self) -> str:
        first, last = self.points[0], self.points[-1]
        end = "" if self.C_max is None else f", C_max {self.C_max:.4g}"
        largest = max(certificate.relative_gap for certificate in self.certificates)
        return (
            f"MarginPath({len(self)} points, C from {first.C:.4g} to {last.C:.4g}{end}, margins from "
            f"{first.margin:.4g} to {last.margin:.4g}, relative gaps at most {largest:.1e})"
        )

    def report(self) -> str:
        """One line for each point, and what is known about the end of the path.

        Returns
        -------
        str
            A table: C, margin, support vectors, samples inside the street, mistakes, relative gap, how it ended.
        """
        lines = [f"{'C':>11}{'margin':>12}{'support':>9}{'inside':>9}{'mistakes':>9}{'gap':>9}  ended"]
        lines += [
            f"{p.C:>11.5g}{p.margin:>12.5g}{p.n_support:>9,}{p.n_inside:>9,}{p.n_mistakes:>9,}"
            f"{p.certificate.relative_gap:>9.1e}  {p.status.name.lower()}"
            for p in self.points
        ]
        if self.separation is None:
            return "\n".join([*lines, "Whether a plane separates the rows was not asked."])
        lines.append(self.separation.verdict.value)
        if self.C_max is not None and self.C_max < math.inf:
            lines.append(f"From C = {self.C_max:.6g} on, the soft margin is this hard margin.")
        return "\n".join(lines)
