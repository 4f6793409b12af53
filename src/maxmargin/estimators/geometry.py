"""Rows and planes, of every estimator: distances, the canonical form, slack, and the rows that pay.

    distance          (w.x + b) / |w|, with a sign: the same for every multiple of (w, b)
    canonical form    the multiple with min_i y_i (w.x_i + b) = 1; there the margin is 1 / |w| and the street 2 / |w|
    slack             xi_i = max(0, 1 - y_i (w.x_i + b)), of the plane as the estimator has it

With a kernel, w is in its space, and so are distances and margins. All of it is float64 arithmetic, which rounds: what
is proven is in `certificate_`, and of distances in `robustness`.
"""

from __future__ import annotations

import inspect
import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.passes import length
from maxmargin.data.table import Vector, column_at_hand
from maxmargin.problems.choices import Strategy
from maxmargin.problems.statement import plain


class CanonicalPlane(NamedTuple):
    """A plane whose nearest row has y (w.x + b) = 1: `w` are numbers of the columns, or with a kernel the coefficients
    of the support vectors; margin = 1 / |w| and street = 2 / |w|."""

    w: Vector
    b: float
    margin: float
    street: float


class Violations(NamedTuple):
    """Rows that pay: `inside` the street but on their side (0 < xi <= 1), and `mistakes` beyond the plane (xi > 1)."""

    inside: NDArray[np.intp]
    mistakes: NDArray[np.intp]


class RowsAndPlanes:
    """What an estimator with `values_of_planes`, `classes_` and `intercept_` tells of rows."""

    classes_: NDArray[Any]
    intercept_: Any
    _strategy: Strategy

    def __init_subclass__(cls, **options: Any) -> None:
        """A method that is said here and done there keeps the words: its `__doc__`, too, has them."""
        super().__init_subclass__(**options)
        for name, method in vars(cls).items():
            said = getattr(super(cls, cls), name, None)
            if not name.startswith("_") and inspect.isfunction(method) and method.__doc__ is None:
                method.__doc__ = getattr(said, "__doc__", None)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row.

        Where w.x + b is exactly 0, of two classes it is classes_[1]: f(x) >= 0 is +1. Of Dask's rows it is lazy.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Each is one of `classes_`.
        """
        raise NotImplementedError

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """w.x + b: one number per row for two classes, otherwise one per row and class. Of Dask's rows it is lazy.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Not divided by the length of w: `distances` are.
        """
        raise NotImplementedError

    def values_of_planes(self, X: Any) -> NDArray[np.float64]:
        """w.x + b: one column for each plane.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_planes)
            Not divided by the length of w.
        """
        raise NotImplementedError

    def distances(self, X: Any) -> NDArray[np.float64]:
        """(w.x + b) / |w| of each row: positive on the positive side; of many planes, one column for each.

        With a kernel, in its space. Where w = 0 there is no plane, and the distance is infinite.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_planes)
            Signed distances.
        """
        values = self.values_of_planes(X)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return alone(np.where(values == 0.0, 0.0, values / lengths_of_planes(self)))

    def canonical_planes(self, X: Any, y: Any) -> Any:
        """The planes in canonical form on these rows: a `CanonicalPlane`, or a list of these.

        A plane that does not separate the rows has none, which a ValueError says.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        CanonicalPlane or list of CanonicalPlane
            `w`, `b`, the margin and the street.
        """
        values = self.values_of_planes(X)
        margins = signs_of_planes(self, y, len(values)) * values
        own = vars(self)
        w = own["coef_"] if "coef_" in own else own["dual_coef_"]
        found = []
        for number, (column, size) in enumerate(zip(margins.T, lengths_of_planes(self), strict=True)):
            nearest = int(np.nanargmin(column))
            least = float(column[nearest])
            if not (least > 0.0 and size > 0.0):
                which = f"plane {number}" if margins.shape[1] > 1 else "the plane"
                why = "only a plane that separates the rows has a canonical form"
                raise ValueError(f"row {nearest} is not on its side of {which}: {why}")
            margin = least / float(size)
            found.append(
                CanonicalPlane(w[number] / least, float(self.intercept_[number]) / least, margin, 2.0 * margin)
            )
        return found[0] if len(found) == 1 else found

    def slack(self, X: Any, y: Any) -> NDArray[np.float64]:
        """xi_i = max(0, 1 - y_i (w.x_i + b)) of each row; of many classes, one column for each plane.

        With one versus one, a row of a third class has no slack (NaN) against the plane between two others.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_planes)
            0 for samples that are beyond their edge of the street.
        """
        values = self.values_of_planes(X)
        return alone(np.maximum(0.0, 1.0 - signs_of_planes(self, y, len(values)) * values))

    def violations(self, X: Any, y: Any) -> Any:
        """The rows inside the street (0 < xi <= 1) and beyond the plane (xi > 1); a list of these for many planes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        Violations or list of Violations
            The numbers of the rows: `inside` and `mistakes`.
        """
        slack = self.slack(X, y)
        columns = slack[:, None] if slack.ndim == 1 else slack
        found = [Violations(np.flatnonzero((xi > 0) & (xi <= 1)), np.flatnonzero(xi > 1)) for xi in columns.T]
        return found[0] if len(found) == 1 else found


def alone(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """One number for each row where there is one plane."""
    return columns[:, 0] if columns.shape[1] == 1 else columns


def signs_of_planes(model: Any, y: Any, n_rows: int) -> NDArray[np.float64]:
    """+1 and -1 of the two sides of each plane, NaN of a label that is on neither."""
    y, classes = np.asarray(column_at_hand(y)), model.classes_
    known = np.isin(y, classes)
    if y.shape != (n_rows,) or not np.all(known):
        what = f"the shape {y.shape}" if y.shape != (n_rows,) else f"the label {plain(y[~known][0])!r}"
        raise ValueError(f"y has {what}; it must hold one of {classes.tolist()} for each row of X")
    if len(classes) == 2:
        return np.where(y == classes[1], 1.0, -1.0)[:, None]
    if model._strategy is Strategy.ONE_VERSUS_REST:
        return np.where(y[:, None] == classes, 1.0, -1.0)
    pairs = itertools.combinations(classes, 2)
    return np.stack([np.where(y == i, 1.0, np.where(y == j, -1.0, np.nan)) for i, j in pairs], axis=1)


def lengths_of_planes(model: Any) -> Vector:
    """|w| of each plane, with a kernel in its space."""
    kernel = getattr(model, "_kernel", None)
    if kernel is None:
        return np.array([length(w, "l2") for w in model.coef_])
    if kernel.is_table:
        return lengths_by_margins(model)
    support = kernel.points(model.support_vectors_, model.support_)
    coefficients = np.ascontiguousarray(model.dual_coef_.T)
    squares = np.einsum("ij,ij->j", coefficients, kernel.combine(support, support, coefficients))
    return np.asarray(np.sqrt(np.maximum(0.0, squares)))


def lengths_by_margins(model: Any) -> Vector:
    """1 / margin_, which is |w| of the estimators that have a price C; others do not keep it."""
    if not hasattr(model, "C"):
        raise ValueError(
            f"a {type(model).__name__} with a precomputed kernel does not know |w|: the kernel of its support vectors "
            "with each other is in the table of its fit alone"
        )
    with np.errstate(divide="ignore"):
        return 1.0 / np.atleast_1d(np.asarray(model.margin_, dtype=np.float64))
