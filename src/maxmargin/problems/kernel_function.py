"""A kernel that is the user's own function: what it returns is checked before anybody uses it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def checked_values(returned: Any, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
    """What a user's function returned for these rows of tables, as it must be."""
    values: NDArray[np.float64] = np.asarray(returned, dtype=np.float64)
    shape = len(rows), len(columns)
    if values.shape != shape:
        raise ValueError(
            f"the kernel function was given {shape[0]} and {shape[1]} rows and must return a table of shape {shape}, "
            f"one value for each pair; it returned the shape {values.shape}"
        )
    if not np.all(np.isfinite(values)):
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"the kernel function returned {values[row, column]} for row {rows[row]} and row {columns[column]}; "
            "its values must be finite"
        )
    return values
