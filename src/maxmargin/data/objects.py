"""Rows that are no numbers: words, sequences, graphs, images, data frames with columns of words.

A kernel function compares them; nobody else looks into them. Here such rows are known by their places: a table of one
column, in which row i holds i, with the user's own rows beside it. Whoever takes some rows of that table takes the same
rows of the user's, and only the kernel function is given these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_consistent_length, column_or_1d, validate_data

from maxmargin.data.frames import PLAIN, array_of, frame_of
from maxmargin.data.table import Matrix, is_sparse

NUMBERS = "biufc"  # kinds of NumPy


class Places(np.ndarray[Any, Any]):
    """One column of places, and the rows that have them."""

    rows: Any

    def __array_finalize__(self, parent: Any) -> None:
        self.rows = getattr(parent, "rows", None)


def placed(rows: Any) -> Matrix:
    """The table of these rows."""
    if isinstance(rows, Places):
        return rows
    places = np.arange(float(_num_samples(rows)))[:, None].view(Places)
    places.rows = rows
    return places


def given(X: Matrix) -> Any:
    """The user's own rows of such a table; one that holds numbers as it is."""
    if not isinstance(X, Places):
        return X
    places = np.asarray(X[:, 0], dtype=np.intp)
    if isinstance(X.rows, list | tuple):
        return [X.rows[place] for place in places]
    return X.rows[places] if isinstance(X.rows, np.ndarray) else _safe_indexing(X.rows, places)


def compares_objects(estimator: Any, X: Any, reset: bool) -> bool:
    """Whether its kernel function is given rows that are no numbers: these, or as those that it has learnt from."""
    return holds_objects(X) if reset else bool(getattr(getattr(estimator, "_kernel", None), "of_objects", False))


def check_objects(estimator: Any, rows: Any, y: Any, reset: bool) -> tuple[Matrix, Any, float]:
    """Their table, a label for each if labels are asked for, and the largest place; names of columns are checked."""
    if hasattr(rows, "columns"):  # a data frame
        validate_data(estimator, rows, reset=reset, skip_check_array=True)
    elif reset:
        estimator.__dict__.pop("n_features_in_", None)
        estimator.__dict__.pop("feature_names_in_", None)
    X = placed(rows)
    if isinstance(y, str) and y == "no_validation":
        return X, None, float(len(X))
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    return X, y, float(len(X))


def holds_objects(X: Any) -> bool:
    """Whether X is rows, and no table of numbers."""
    if is_sparse(X):
        return False
    if isinstance(X, list | tuple):
        return are_objects(X)
    if isinstance(X, np.ndarray):
        return X.ndim > 2 or (X.ndim > 0 and X.dtype.kind not in NUMBERS and not are_numbers(X))
    if isinstance(X, PLAIN):
        return False
    frame = frame_of(X)
    if frame is None:
        return array_of(X) is not X and holds_objects(array_of(X))
    return not all(are_numbers(frame.cells(place)) for place in range(len(frame.names)))


def are_objects(rows: list[Any] | tuple[Any, ...]) -> bool:
    """Of a list: not the rows of a table of numbers."""
    if not rows or isinstance(rows[0], int | float | complex | np.number):
        return False
    if not isinstance(rows[0], list | tuple | np.ndarray):
        return True
    try:
        return holds_objects(np.array(rows))
    except ValueError:  # of different lengths
        return True


def are_numbers(cells: NDArray[Any]) -> bool:
    """Whether each cell is a number, or says one."""
    if cells.dtype.kind in NUMBERS:
        return True
    if cells.dtype.kind in "Mm" or (cells.ndim == 1 and cells.dtype.kind in "UST"):
        return False
    try:
        for cell in cells.ravel().tolist():
            float(cell)
    except OverflowError:
        return True
    except (TypeError, ValueError):
        return False
    return True
