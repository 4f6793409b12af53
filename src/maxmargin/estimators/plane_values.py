"""w.x + b of the rows that a fitted estimator is asked about.

A product needs no order of memory: an array in Fortran order, as that inside of a data frame, is multiplied as it lies.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from maxmargin.data.checking import ACCEPTED, checked_table, is_source, opened, place_in, refuse_what_is_not_finite
from maxmargin.data.executor import row_by_row
from maxmargin.data.table import Block, Matrix, Table, as_table, canonical, is_sparse


def rows_to_multiply(estimator: Any, X: Any) -> Matrix | Table:
    """X with all that `fit` checks of a table, but in the order of memory that it has."""
    if is_source(X):
        return checked_table(estimator, X, reset=False).X
    X, names = opened(X)
    X = canonical(validate_data(estimator, X, reset=False, **(ACCEPTED | {"order": None})))
    with np.errstate(over="ignore", invalid="ignore"):
        total = (X.data if is_sparse(X) else X).sum()
    if not np.isfinite(total):  # or else every number is
        refuse_what_is_not_finite(X, place_in(names))
    return X


def values_at(X: Matrix | Table, coef: NDArray[Any], intercept: Any) -> NDArray[np.float64]:
    """w.x + b: one column for each plane."""
    return row_by_row(PlaneValues(coef, intercept), as_table(X))


@np.errstate(over="ignore", invalid="ignore")
def plane_values(X: Matrix, coef: NDArray[Any], intercept: Any) -> NDArray[np.float64]:
    """w.x + b: one column for each plane. A sum that overflows on its way is made anew in smaller units, so that it has
    its sign, and is infinite only where it is beyond float64."""
    values = np.asarray(X @ coef.T + intercept, dtype=np.float64)
    if not np.isfinite(values.sum()):  # or else all of them are
        beyond = np.flatnonzero(~np.all(np.isfinite(values), axis=1))
        few = sparse.csr_array(X[beyond], dtype=np.float64)
        largest = abs(few).max(axis=1).toarray().ravel(), np.max(np.abs(coef), axis=1)
        of_rows, of_planes = (np.frexp(sizes)[1] for sizes in largest)
        few.data = np.ldexp(few.data, -np.repeat(of_rows, np.diff(few.indptr)))
        sums = few @ np.ldexp(coef, -of_planes[:, None]).T
        again = np.ldexp(sums, of_rows[:, None] + of_planes) + intercept
        values[beyond] = np.where(np.isfinite(values[beyond]), values[beyond], again)
    return values


class PlaneValues(NamedTuple):
    """The same, of a block of rows."""

    coef: NDArray[Any]
    intercept: Any

    def __call__(self, block: Block) -> NDArray[np.float64]:
        return plane_values(block.X, self.coef, self.intercept)
