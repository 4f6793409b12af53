"""w.x + b of rows of any size."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.data.table import Block, Matrix, Vector


@np.errstate(over="ignore", invalid="ignore")
def plane_values(X: Matrix, coef: NDArray[Any], intercept: Any) -> NDArray[np.float64]:
    """w.x + b: one column for each plane. A sum that overflows on its way is made anew in smaller units, so that it has
    its sign, and is infinite only where it is beyond float64."""
    values = np.asarray(X @ coef.T + intercept, dtype=np.float64)
    beyond = np.flatnonzero(~np.all(np.isfinite(values), axis=1))
    if len(beyond):
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


def refuse_too_long_steps(values: Vector, rows: NDArray[np.intp]) -> None:
    """A sentence where w.x + b of one of these rows is beyond float64."""
    if len(beyond := rows[~np.isfinite(values)]):
        why = f"w.x + b of row {beyond[0]} is beyond what float64 can hold"
        raise ValueError(f"the steps are too long: {why}. Scale the columns of X.")
