"""What users give is checked: a table of numbers, one label for each row, weights of the rows.

A table that passed is a C-ordered array or a CSR matrix, float32 or float64, finite, never written to, or a source that
was read once (`Surveyed`). Labels are any two or more values; sorted classes and their codes come out. The checks name
the row and the column of what is wrong, because "Input contains NaN" sends people searching.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.ma import MaskedArray
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, validate_data

from maxmargin.data.executor import check_interrupt
from maxmargin.data.frames import PLAIN, array_of, frame_of, refuse_two_of_one_name, unmasked
from maxmargin.data.objects import check_objects, compares_objects, holds_objects, placed
from maxmargin.data.table import (
    Block,
    Matrix,
    Source,
    Table,
    column_at_hand,
    dask_rows,
    is_dask,
    is_source,
    is_sparse,
    largest_magnitude,
    terms_of,
)

Where: TypeAlias = Callable[[tuple[int, ...]], str]  # what to call a cell in a message


class Checked(NamedTuple):
    """A table that may be computed with, its labels if there are any, and max |x_ij|."""

    X: Matrix
    y: Any
    largest: float


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


def canonical(X: Matrix) -> Matrix:
    """A sparse table with each entry once and in order; the user's own keeps its order and its duplicates."""
    if is_sparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def check_table(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool = True) -> Checked:
    """What scikit-learn checks, that every number is finite and kept, and that no two columns have one name."""
    if callable(getattr(estimator, "kernel", None)) and compares_objects(estimator, X, reset):
        return Checked(*check_objects(estimator, X, labels_in(y), reset))
    X, names = opened(X)
    y = labels_in(y)
    checked = validate_data(estimator, X, y, reset=reset, skip_check_array=are_arrays(X, y), **ACCEPTED)
    X, y = checked if isinstance(checked, tuple) else (checked, None)
    X = canonical(X)
    return Checked(X, y, refuse_what_is_not_finite(X, place_in(names)))


def are_arrays(X: Any, y: Any) -> bool:
    """Whether scikit-learn would look at each of them for long, and give them back as they are."""
    if not (type(X) is type(y) is np.ndarray and X.ndim == 2 and y.shape == X.shape[:1] and X.size > 0):
        return False
    is_table = X.dtype in ACCEPTED["dtype"] and X.flags.c_contiguous
    return is_table and (y.dtype.kind in "iub" or (y.dtype.kind == "f" and bool(np.isfinite(y).all())))


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
        X = unmasked(X) if isinstance(X, MaskedArray) else X
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
    labels: Any = unmasked(y) if isinstance(y, MaskedArray) else y if isinstance(y, PLAIN) else array_of(y)
    if labels is not y and labels.dtype.kind in "Of" and np.any(missing := labels != labels):
        raise ValueError(f"Input y contains NaN: row {int(np.argmax(missing))} has no label.")
    return labels


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


class Labels(NamedTuple):
    """classes[codes] is y; the classes are sorted, as scikit-learn sorts them. A row that does not count has -1."""

    classes: NDArray[Any]
    codes: NDArray[np.intp] | NDArray[np.int8]


def encode_labels(y: NDArray[Any], weights: NDArray[np.float64] | None = None) -> Labels:
    """The classes of y and each row's code; one class alone is an error. Rows of weight zero do not count."""
    if weights is not None and not np.all(weights > 0.0):
        counting = np.flatnonzero(weights > 0.0)
        classes, codes = encode_labels(y[counting])
        all_codes = np.full(len(y), -1, dtype=np.intp)
        all_codes[counting] = codes
        return Labels(classes, all_codes)
    labels = encode_two_numbers(y)
    if labels is None:
        if y.ndim != 1 or y.dtype.kind not in "iub" or 2 * len(np.unique(y)) >= len(y):  # wrong, or to be warned of
            check_classification_targets(y)
        labels = Labels(*np.unique(y, return_inverse=True))
    require_two_classes(labels.classes)
    return labels


def encode_two_numbers(y: NDArray[Any]) -> Labels | None:
    """Two whole numbers, the usual case, without sorting; None for everything else."""
    if y.ndim != 1 or y.size == 0 or y.dtype.kind not in "iufb":
        return None
    low, high = y.min(), y.max()
    is_high = y == high
    if low == high or not (float(low).is_integer() and float(high).is_integer() and np.all(is_high | (y == low))):
        return None
    return Labels(np.array([low, high]), is_high.view(np.int8))


def require_two_classes(classes: NDArray[Any]) -> None:
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only ({classes.tolist()[0]!r} in every row that counts): "
            "a plane needs rows of at least two classes to separate."
        )


def check_labels(y: Any, n_rows: int) -> NDArray[Any]:
    """One label for each row, of a kind that `fit` takes: words, whole numbers, truth values."""
    labels: NDArray[Any] = np.asarray(labels_in(column_at_hand(y)))
    if labels.shape != (n_rows,):
        raise ValueError(f"X has {n_rows} rows but y has the shape {labels.shape}")
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: y holds complex numbers, which are no labels")
    if labels.dtype.kind == "f":
        whole = np.isfinite(labels) & (labels == np.floor(labels))
        if not np.all(whole):
            row = int(np.argmin(whole))
            raise ValueError(f"row {row} has the label {labels[row]}: a label must be a word or a whole number")
    return labels


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """One finite weight >= 0 for each row, not all zero."""
    own = column_at_hand(sample_weight)
    own = unmasked(own) if isinstance(own, MaskedArray) else own if isinstance(own, PLAIN) else array_of(own)
    given = np.asarray(own)
    if given.dtype.kind == "c":
        raise ValueError("Complex data not supported: sample_weight holds complex numbers")
    if given.dtype.kind in "Mm":
        raise ValueError("sample_weight holds dates or times, which are no weights")
    refuse_what_float64_cannot_hold(own if isinstance(own, list | tuple) else given)
    weights = given.astype(np.float64, copy=False)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight has the shape {weights.shape}, but X has {n_rows} rows: one weight for each")
    wrong = ~((weights >= 0.0) & (weights < np.inf))
    if np.any(wrong):
        row = int(np.argmax(wrong))
        raise ValueError(f"sample_weight must not hold NaN, infinity or negative values: row {row} has {weights[row]}")
    if not np.any(weights > 0.0):
        raise ValueError("sample_weight is zero for every row: nothing is left to separate")
    return weights


def labels_of_a_batch(y: NDArray[Any], classes: Any, known: NDArray[Any] | None) -> Labels:
    """The labels of one batch of a stream: among those that are known, or listed in `classes` in the first call."""
    if known is None:
        if classes is None:
            raise ValueError("the first call of partial_fit needs classes=, all labels that will ever come")
        known = encode_labels(np.asarray(classes)).classes
    elif classes is not None and not np.array_equal(np.unique(classes), known):
        raise ValueError(f"classes={list(classes)} differ from those of the first call, {known.tolist()}")
    codes = np.searchsorted(known, y).clip(0, len(known) - 1)
    unseen = known[codes] != y
    if np.any(unseen):
        row = int(np.argmax(unseen))
        raise ValueError(
            f"row {row} has the label {y[row : row + 1].tolist()[0]!r}, which is not among classes={known.tolist()}"
        )
    return Labels(known, codes)


OF_A_BLOCK = {**ACCEPTED, "ensure_min_samples": 0}  # which may be empty


class Surveyed(Table):
    """A source that was read once: every number is finite and a double, and it is known how many rows there are."""

    def __init__(self, source: Source, estimator: Any = None, *, reset: bool = True) -> None:
        if is_dask(source):
            source = dask_rows().DaskTable(source)
        self.source, self.n_columns, self.edges = source, int(source.n_columns), [0]
        self.largest, self.terms, self.numbers, self.is_sparse = 0.0, 0, 0, False
        self.dtype = np.dtype(np.float32)
        for k in range(source.n_blocks):
            X = self.checked(k, estimator, reset)
            if k and is_sparse(X) is not self.is_sparse:
                raise ValueError(f"block {k} of X is {'sparse' if is_sparse(X) else 'dense'}, and those before are not")
            self.is_sparse, self.dtype = is_sparse(X), np.result_type(self.dtype, X.dtype)
            self.largest = max(self.largest, refuse_what_is_not_finite(X, partial(cell_at, first=self.edges[-1])))
            self.terms = max(self.terms, terms_of(X))
            self.numbers += int(X.data.size if self.is_sparse else X.size)
            self.edges.append(self.edges[-1] + int(X.shape[0]))
        if source.n_rows is not None and source.n_rows != self.n_rows:
            raise ValueError(f"X has n_rows = {source.n_rows}, but its {self.n_blocks} blocks have {self.n_rows} rows")
        if self.n_rows == 0:
            raise ValueError(f"Found array with 0 sample(s) in {self.n_blocks} blocks: there is nothing to fit")

    def checked(self, k: int, estimator: Any, reset: bool) -> Matrix:
        """Block k as scikit-learn checks a table, and its numbers kept as they are."""
        check_interrupt()
        X, start = self.source.block(k), self.edges[-1]
        where = partial(cell_at, first=start)
        refuse_what_is_not_numbers(X, where)
        refuse_what_float64_cannot_hold(X, where)
        if len(shape := np.shape(X)) == 2 and shape[1] != self.n_columns:
            raise ValueError(f"block {k} of X has {shape[1]} columns, not {self.n_columns}")
        if estimator is not None:  # which learns the number of columns, or has learnt it
            return canonical(validate_data(estimator, X, reset=reset and k == 0, **OF_A_BLOCK))
        return canonical(check_array(X, **OF_A_BLOCK))

    def block(self, k: int) -> Block:
        check_interrupt()
        X = canonical(check_array(self.source.block(k), **OF_A_BLOCK))
        known = X.shape == (self.edges[k + 1] - self.edges[k], self.n_columns) and terms_of(X) <= self.terms
        if not (known and largest_magnitude(X) <= self.largest):  # what rounding errors are bounded by
            raise ValueError(f"block {k} of X has changed: it had other rows or numbers when it was first read")
        return Block(k, self.edges[k], X)


def checked_table(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool = True) -> Checked:
    """What an estimator is given: a source becomes a table, everything else a matrix (`check_table`)."""
    if not is_source(X):
        return check_table(estimator, X, y, reset=reset)
    table = Surveyed(X, estimator, reset=reset)
    labels = None if isinstance(y, str) and y == "no_validation" else check_labels(y, table.n_rows)
    return Checked(table, labels, table.largest)


def checked_rows(X: Any, *, may_be_objects: bool = False) -> Matrix | Table:
    """The same, of rows that no estimator learns from; a kernel function may compare what is no number."""
    return Surveyed(X) if is_source(X) else placed(X) if may_be_objects and holds_objects(X) else check_rows(X)
