"""The plane through some rows, exactly: doubles can rarely hold v.x_i + c = 0.

    given     rows F and a plane (w, b) that passes them closely
    wanted    (v, c) with v.x_i + c = 0 on all rows of F, which moves as few coefficients of (w, b) as F has rank

Pivoted QR in float64 chooses which ones, and of which rows; the equations are solved in integers, and where another row
of F is not on the solution, once more with that row.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from maxmargin.certificates.exact_linear_algebra import (
    Dyadic,
    Rows,
    common_integers,
    dyadic,
    float_above,
    null_point,
    power_of_two,
    present_columns,
)

Floats = NDArray[np.float64]

LINES_PER_COLUMN = 3  # of the face rows among which those that span the others are looked for
SPANNED = 1e-9  # of the largest: what is left of a row beside the others, if it is less, may be rounding


def spanning_lines(rows: Floats) -> NDArray[np.intp]:
    """Some rows that span the others, as float64 sees it: integers find out whether they do."""
    some = np.arange(0, len(rows), max(1, len(rows) // (LINES_PER_COLUMN * rows.shape[1] + 1)))
    if not rows.size:
        return some
    R, order = scipy.linalg.qr(rows[some].T, mode="r", pivoting=True)
    size = np.abs(np.diagonal(R))
    return np.sort(some[order[: np.count_nonzero(size > SPANNED * size[0])]])


def plane_through(face: Rows, plane: Dyadic, with_bias: bool) -> tuple[Dyadic, Floats]:
    """A plane exactly through the face rows, up to a factor > 0, and the most that each coefficient moved."""
    dense, columns = present_columns(face)
    dense, columns = dense[:, dense.any(axis=0)], columns[dense.any(axis=0)]  # the others stay as they are
    mantissas, exponents = dyadic(dense)
    sizes = abs(dense.astype(np.float64))
    largest = sizes.max(axis=0, initial=0.0)
    scaled = dense / np.where(largest > 0, largest, 1.0)
    if with_bias:
        ones = np.ones((len(dense), 1), dtype=np.int64)
        mantissas, scaled = np.hstack([mantissas, ones.astype(object)]), np.hstack([scaled, ones])
        columns, exponents = np.append(columns, len(plane.exponents) - 1), np.append(exponents, 0)
    # The unknowns are v_j 2**exponents_j.  Pivoted QR puts first the columns whose block is best conditioned.
    values, unit = common_integers(Dyadic(plane.mantissas[columns], plane.exponents[columns] + exponents))
    order: NDArray[Any] = np.arange(len(columns))
    lines = spanning_lines(scaled)
    if scaled.size:
        order = scipy.linalg.qr(scaled[lines], mode="r", pivoting=True)[-1]
    solved = np.empty(len(columns), dtype=object)
    solved[order], denominator = null_point(mantissas[:, order], values[order], lines)

    moved = np.zeros(len(plane.exponents))
    for j in np.flatnonzero(solved != denominator * values):
        distance = Fraction(abs(solved[j] - denominator * values[j]), denominator)
        moved[columns[j]] = float_above(distance * power_of_two(unit - int(exponents[j])))
    through = Dyadic(plane.mantissas * denominator, plane.exponents.copy())
    through.mantissas[columns] = solved
    through.exponents[columns] = unit - exponents
    return through, moved
