"""Data frames and series of any library: the names of their columns, and their cells as NumPy has them.

narwhals knows pandas, Polars, PyArrow, Modin and cuDF, and those that must be asked before there are rows: DuckDB, lazy
frames. Arrays and lists (`PLAIN`) need none of this: whoever has one does not ask, and narwhals is not imported.

On the way to NumPy nothing is rounded and nothing is made up: whole numbers beside missing ones stay whole, and what is
missing is NaN, in categories too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

PLAIN = (np.ndarray, list, tuple, str, sparse.sparray, sparse.spmatrix)


class Frame(NamedTuple):
    """A data frame whose rows are there: as its library has it, and what fetches a column by its place."""

    native: Any
    names: list[Any]
    columns: Any

    @property
    def is_arrow(self) -> bool:
        """Whether it is a table of PyArrow."""
        return bool(self.columns.implementation.is_pyarrow())

    def cells(self, place: int) -> NDArray[Any]:
        return cells_of(self.columns[:, place])


def frame_of(given: Any) -> Frame | None:
    """A data frame; None of what is none."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        found = nw.from_native(given, pass_through=True)
    except DuplicateError:
        return frame_with_twins(given)
    if isinstance(found, nw.LazyFrame):
        found = found.collect()
    return Frame(found.to_native(), list(found.columns), found) if isinstance(found, nw.DataFrame) else None


def frame_with_twins(given: Any) -> Frame | None:
    """Two columns of one name, which narwhals does not take: here they go by their places, for the caller to judge."""
    import narwhals as nw

    is_arrow = nw.dependencies.is_pyarrow_table(given)
    if not is_arrow and not nw.dependencies.is_pandas_like_dataframe(given):
        return None
    names = list(given.column_names if is_arrow else given.columns)
    places = [str(place) for place in range(len(names))]
    by_place = given.rename_columns(places) if is_arrow else given.set_axis(places, axis=1)
    return Frame(given, names, nw.from_native(by_place))


def unmasked(given: np.ma.MaskedArray[Any, Any]) -> Any:
    """NaN where cells are masked, which NumPy would show as they were."""
    if not np.ma.is_masked(given):
        return given
    return np.ma.filled(given.astype(np.float64 if given.dtype.kind in "biuf" else object), np.nan)


def array_of(given: Any) -> Any:
    """A series as an array; anything else as it is."""
    import narwhals as nw

    found = nw.from_native(given, series_only=True, pass_through=True)
    return cells_of(found) if isinstance(found, nw.Series) else given


def cells_of(column: Any) -> NDArray[Any]:
    """The cells of a series of narwhals; where some are missing, Python's own values and NaN."""
    if column.dtype.is_float() or column.dtype.is_temporal():
        return np.asarray(column.to_numpy())
    missing = column.is_null().to_numpy()
    if not missing.any():
        return np.asarray(column.to_numpy())
    cells = np.fromiter(column.to_list(), dtype=object, count=len(column))
    cells[missing] = np.nan
    return cells


def refuse_two_of_one_name(names: list[Any]) -> None:
    """In a data frame: a model of such columns could not tell one from the other."""
    if len(set(names)) == len(names):
        return
    twin = next(name for place, name in enumerate(names) if name in names[:place])
    places = [str(place) for place, name in enumerate(names) if name == twin]
    raise ValueError(
        f"{len(places)} columns of X are called {twin!r}: {' and '.join(places)} (counted from 0). Rename them, "
        "or give X.to_numpy() if their order is all that counts."
    )
