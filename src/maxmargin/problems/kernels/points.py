"""Rows in the form that a kernel needs, and how they are cut into blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.matrix import Matrix, Vector, is_sparse


class Points(NamedTuple):
    """Rows as a kernel wants them, with |x|^2 if it is made of inner products, and their places.

    `places` are the numbers of these rows in the table that was learnt from, where they come from there.
    """

    X: Matrix
    squares: Vector
    places: NDArray[np.intp]

    @property
    def dense(self) -> NDArray[np.float64]:
        """The rows as an array, also where they are sparse."""
        return as_array(self.X)


def rows_of(points: Points, rows: slice | NDArray[np.intp]) -> Points:
    """Some of the rows."""
    squares = points.squares[rows] if len(points.squares) else points.squares
    return Points(points.X[rows], squares, points.places[rows])


def spans(start: int, stop: int, size: int) -> Iterator[slice]:
    """start..stop in slices of that size."""
    return (slice(low, min(low + size, stop)) for low in range(start, stop, size))


def terms_per_row(X: Matrix) -> int:
    """The most entries of a row that are not zero."""
    return int(np.diff(X.indptr).max(initial=0)) if is_sparse(X) else int(X.shape[1])


def as_array(values: Any) -> NDArray[np.float64]:
    return np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)
