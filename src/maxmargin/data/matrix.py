"""The table of numbers: a C-ordered array or a CSR matrix, float32 or float64, finite, never written to.

The checks name the row and the column of what is wrong, because "Input contains NaN" sends people searching.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

from maxmargin.data.frames import PLAIN, array_of, frame_of

Vector = NDArray[np.float64]
Matrix = Any  # an ndarray, or a scipy.sparse csr_array or csr_matrix
Where: TypeAlias = Callable[[tuple[int, ...]], str]  # what to call a cell in a message

# Fourth powers of numbers far beyond these overflow or vanish; such a table is scaled by a power of two.
SAFE_RANGE = (2.0**-100, 2.0**100)
BLOCK = 2**16  # numbers that fit the cache


def is_sparse(X: Any) -> bool:
    """Whether X is a SciPy sparse matrix or array."""
    return bool(sparse.issparse(X))


class Checked(NamedTuple):
    """A table that may be computed with, its labels if there are any, and max |x_ij|."""

    X: Matrix
    y: Any
    largest: float


class Scaled(NamedTuple):
    """A table and the power of two by which its numbers were multiplied (1.0 almost always)."""

    X: Matrix
    scale: float


ACCEPTED: dict[str, Any] = {  # what scikit-learn lets in, of fit and of verify alike
    "accept_sparse": "csr",
    "accept_large_sparse": True,
    "dtype": [np.float64, np.float32],
    "order": "C",
    "ensure_all_finite": False,
}


def cell_at(place: tuple[int, ...], first: int = 0) -> str:
    """Of an array whose row 0 is row `first` of the table."""
    return f"row {first + place[0]}, column {place[-1]}" if len(place) > 1 else f"entry {place[0]}"


def cell_of_column(name: Any, place: tuple[int, ...]) -> str:
    """In a column of a data frame."""
    return f"row {place[0]}, column {name!r}"


def place_in(names: list[Any] | None) -> Where:
    """How a cell is called: by the name of its column, where columns have names."""
    return cell_at if names is None else lambda place: cell_of_column(names[place[-1]], place)


def check_table(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool = True) -> Checked:
    """What scikit-learn checks, that every number is finite and kept, and that no two columns have one name."""
    X, names = opened(X)
    checked = validate_data(estimator, X, labels_in(y), reset=reset, **ACCEPTED)
    X, y = checked if isinstance(checked, tuple) else (checked, None)
    X = canonical(X)
    return Checked(X, y, refuse_what_is_not_finite(X, place_in(names)))


def check_rows(X: Any) -> Matrix:
    """The same checks, of a table that no estimator learns from: what `fit` refuses, nobody verifies."""
    X, names = opened(X)
    X = canonical(check_array(X, **ACCEPTED))
    refuse_what_is_not_finite(X, place_in(names))
    return X


def opened(X: Any) -> tuple[Any, list[Any] | None]:
    """X with its rows at hand, and the names of its columns if it is a data frame; what is not a double is refused."""
    frame = None if isinstance(X, PLAIN) else frame_of(X)
    if frame is None:
        refuse_what_is_not_numbers(X)
        refuse_what_float64_cannot_hold(X)
        return X, None
    refuse_two_of_one_name(frame.names)
    for number, name in enumerate(frame.names):  # each column by itself: together they may be rounded already
        cells, where = frame.cells(number), partial(cell_of_column, name)
        refuse_cells(cells, where)
        refuse_rounding(cells, where)
    return frame.native, frame.names


def labels_in(y: Any) -> Any:
    """Labels as an array, if they are a series; one that is missing is an error that names its row."""
    if isinstance(y, PLAIN):
        return y
    labels = array_of(y)
    if labels is not y and labels.dtype.kind in "Of" and np.any(missing := labels != labels):
        raise ValueError(f"Input y contains NaN: row {int(np.argmax(missing))} has no label.")
    return labels


def canonical(X: Matrix) -> Matrix:
    """A sparse table with each entry once and in order; the user's own keeps its order and its duplicates."""
    if is_sparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


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


def refuse_what_is_not_numbers(X: Any, where: Where = cell_at) -> None:
    """Complex and object cells, by row and column: NumPy's own message names neither."""
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind not in "Mm":
        refuse_cells(X, where)


def refuse_cells(cells: NDArray[Any], where: Where) -> None:
    """An error about the first cell that is no real number."""
    if cells.size == 0:
        return
    if cells.dtype.kind == "c":
        place = tuple(int(index) for index in (np.argwhere(cells.imag != 0).tolist() or [[0] * cells.ndim])[0])
        raise ValueError(
            f"Complex data not supported: {where(place)} holds {cells[place]}. "
            "Give the real and the imaginary parts as two columns."
        )
    if cells.dtype.kind in "Mm":
        raise TypeError(
            f"{where((0,) * cells.ndim)} holds a date or a time, which is not a number. "
            "Encode such a column as numbers first."
        )
    if cells.dtype.kind in "OUST":
        for number, cell in enumerate(cells.ravel().tolist()):  # Python's own text, whatever NumPy calls it
            try:
                float(cell)
            except OverflowError:  # a number, and no double: the next check has a sentence for it
                continue
            except (TypeError, ValueError) as error:
                place = tuple(map(int, np.unravel_index(number, cells.shape)))
                raise type(error)(
                    f"{where(place)} holds {cell!r}, which is not a number "
                    f"({error}). Encode such a column as numbers first."
                ) from None


def refuse_what_float64_cannot_hold(X: Any, where: Where = cell_at) -> None:
    """Integers beyond 2^53, fractions, decimals and long doubles that would be rounded: a proof about rounded numbers
    proves nothing."""
    if is_sparse(X):
        if X.dtype.kind == "f" and X.dtype.itemsize <= 8:
            return
        entries = X.tocoo()
        refuse_rounding(entries.data, lambda place: where((int(entries.row[place[0]]), int(entries.col[place[0]]))))
    elif isinstance(X, list | tuple):
        refuse_rounding(np.array(X, dtype=object), where)
    elif isinstance(X, np.ndarray):
        refuse_rounding(X, where)


def refuse_rounding(values: NDArray[Any], where: Where) -> None:
    """An error about the first of the values that is not a double."""
    if values.dtype.kind == "O":
        rounded = np.array([not is_a_double(value) for value in values.ravel()], dtype=bool).reshape(values.shape)
    elif (values.dtype.kind in "iu" and values.itemsize == 8) or (values.dtype.kind == "f" and values.itemsize > 8):
        rounded = is_rounded(values)
    else:
        return
    if np.any(rounded):
        place = tuple(int(index) for index in np.argwhere(rounded)[0])
        raise ValueError(
            f"{where(place)} holds {values[place]}, which float64 cannot hold exactly. "
            "Subtract an offset first, or give X.astype(float) if rounding is what you want."
        )


def is_rounded(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where float64 changes long integers or long doubles."""
    if values.size == 0 or (values.dtype.kind in "iu" and int(values.min()) >= -(2**53) and int(values.max()) <= 2**53):
        return np.zeros(values.shape, dtype=bool)
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = values.astype(np.float64).astype(values.dtype) != values
    if values.dtype.kind in "iu":  # 2^63 and 2^64 overflow on the way back
        rounded |= values.astype(np.float64) >= float(np.iinfo(values.dtype).max)
    return np.asarray(rounded & (values == values))  # NaN is refused elsewhere


def is_a_double(cell: Any) -> bool:
    """Whether a Python number is one that float64 holds; what is no number is refused elsewhere."""
    if type(cell) is float or isinstance(cell, str | bytes):
        return True
    try:
        return bool(float(cell) == cell or cell != cell)
    except ArithmeticError:  # too large for any double
        return False
    except (TypeError, ValueError):
        return True


def refuse_what_is_not_finite(X: Matrix, where: Where = cell_at) -> float:
    """max |x_ij|, or an error that names the first cell that is NaN or infinite."""
    values, largest = X.data if is_sparse(X) else X, largest_magnitude(X)
    if math.isfinite(largest):
        return largest
    if is_sparse(X):
        entry = int(np.flatnonzero(~np.isfinite(values))[0])
        row, column = int(np.searchsorted(X.indptr, entry, side="right")) - 1, int(X.indices[entry])
        cell = values[entry]
    else:
        row, column = divmod(int(np.argmin(np.isfinite(values))), X.shape[1])
        cell = values[row, column]
    name = "NaN" if np.isnan(cell) else "infinity" if cell > 0 else "-infinity"
    raise ValueError(
        f"Input X contains {name} (NaN and inf are not allowed): {where((row, column))}. "
        "Remove such rows, or fill them in, for example with sklearn.impute.SimpleImputer."
    )


def blocks(X: Matrix) -> Iterator[slice]:
    """Slices of rows that fit the cache, so that several looks at a block cost one read of the memory."""
    rows = max(1, BLOCK // max(1, X.shape[1])) if not is_sparse(X) else max(1, X.shape[0])
    return (slice(start, start + rows) for start in range(0, X.shape[0], rows))


def largest_magnitude(X: Matrix) -> float:
    """max |x_ij|; NaN if there is one."""
    if is_sparse(X):
        return largest_of(X.data)
    return float(max((largest_of(X[block]) for block in blocks(X)), default=0.0, key=nan_is_largest))


def largest_of(values: NDArray[Any]) -> float:
    if values.size == 0:
        return 0.0
    return float(max(abs(float(values.max())), abs(float(values.min()))))


def nan_is_largest(value: float) -> float:
    return math.inf if math.isnan(value) else value


def in_safe_range(X: Matrix, largest: float | None = None) -> Scaled:
    """X itself or, where squares would overflow or vanish, X times a power of two. `largest` = max |x_ij| if known."""
    scale = safe_scale(largest_magnitude(X) if largest is None else largest)
    return Scaled(X, 1.0) if scale == 1.0 else Scaled(X.astype(np.float64) * scale, scale)


def safe_scale(largest: float) -> float:
    """The power of two by which numbers of this size are brought near to 1; 1.0 where their squares are safe."""
    if largest == 0.0 or SAFE_RANGE[0] <= largest <= SAFE_RANGE[1]:
        return 1.0
    return math.ldexp(1.0, min(1000, -math.frexp(largest)[1]))


def rows_between(X: Matrix, start: int, stop: int, dtype: Any = None) -> Matrix:
    """X[start:stop] in this type of numbers, by default its own: a view where it is that already."""
    dtype = X.dtype if dtype is None else dtype
    if not is_sparse(X):
        return X[start:stop].astype(dtype, copy=False)
    low, high = int(X.indptr[start]), int(X.indptr[stop])
    part = sparse.csr_array((stop - start, X.shape[1]), dtype=dtype)
    part.data, part.indices = X.data[low:high].astype(dtype, copy=False), X.indices[low:high]  # given at once: copied
    part.indptr = X.indptr[start : stop + 1] - X.indptr[start]
    return part


def take(X: Matrix, rows: NDArray[np.intp]) -> Matrix:
    """X[rows], without a copy if these are all rows in their order."""
    everything = len(rows) == X.shape[0] and np.array_equal(rows, np.arange(len(rows)))
    return X if everything else X[rows]


@np.errstate(over="ignore")
def row_squares(X: Matrix) -> Vector:
    """|x_i|^2 of every row, in float64: infinite where it is beyond."""
    if is_sparse(X):
        entries = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        squares = np.bincount(entries, X.data.astype(np.float64) ** 2, minlength=X.shape[0])
        return np.asarray(squares, dtype=np.float64)  # without any entry it counts in integers
    return np.asarray(np.einsum("ij,ij->i", X, X, dtype=np.float64))
