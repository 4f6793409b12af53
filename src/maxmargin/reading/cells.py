"""The cells of a column that has a type: numbers, words, labels, weights and ids, each as it is or refused by its row.

Nothing is rounded and nothing that is missing is filled in; a label, a weight or an id can never be missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.reading.columns import Columns, Roles, is_missing_label, is_number, problem_of_missing_label
from maxmargin.reading.files import DataFileError, MissingValueError, shortened

MISSING_TYPES = {"NAType", "NaTType", "NoneType"}
TRUTH = {"true": True, "false": False}
FILL_IN = "; fill it in, or remove the row"


def column_of(values: NDArray[Any], index: int, columns: Columns) -> NDArray[Any]:
    """Numbers or strings; what is missing in the labels or the weights nothing can fill in."""
    try:
        return numbers_or_strings(values, columns.file, columns[index], columns.may_lack(index))
    except MissingValueError as error:
        if index in columns.features:
            raise
        what = "label" if index == columns.label else "weight"
        problem = f"the {what} is missing; write it, or remove the row"
        raise DataFileError(columns.file, problem, column=error.column, row=error.row) from None


def ids_of(values: NDArray[Any], file: str, name: str | int) -> NDArray[Any]:
    """The names of the rows, each as it is: whole numbers and text as they are, others as their text."""
    if values.ndim != 1:
        raise DataFileError(file, f"it has the shape {values.shape}, which is no column", column=name)
    cells = values.tolist() if values.dtype.kind in "biufUO" else values.astype(str).tolist()
    for row, cell in enumerate(cells):
        if type(cell).__name__ in MISSING_TYPES or cell != cell or cell == "":
            raise DataFileError(file, "the id is missing; write it, or remove the row", column=name, row=row)
    if all(isinstance(cell, int) for cell in cells):
        return np.array(cells, dtype=object)  # NumPy would make floats of some
    return np.array([cell if isinstance(cell, str | int) else str(cell) for cell in cells], dtype=object)


def words_of(values: NDArray[Any], index: int, columns: Columns) -> NDArray[Any]:
    """Categories as strings, whole numbers without their .0."""
    missing = values != values
    if missing.any() and not columns.may_lack(index):
        row = int(np.argmax(missing))
        raise MissingValueError(columns.file, f"the value is missing{FILL_IN}", column=columns[index], row=row)
    words = values.astype(str)
    if values.dtype.kind == "f":
        words = np.array([word.removesuffix(".0") for word in words.tolist()])
    return columns.with_gaps(index, words, missing)


def numbers_or_strings(values: NDArray[Any], file: str, name: str | int, gaps: bool = False) -> NDArray[Any]:
    """A column of numbers or of strings, none of them missing; anything else is refused.

    Where gaps are welcome, they are NaN, and strings are objects then.
    """
    if values.ndim != 1:
        raise DataFileError(file, f"it has the shape {values.shape}, which is no column", column=name)
    if values.dtype.kind in "biufU":
        return values
    if values.dtype.kind not in "OT":
        problem = f"its type {values.dtype} is neither a number nor text; ignore it, or turn it into numbers"
        raise DataFileError(file, problem, column=name)
    cells, first = values.tolist(), None
    if set(map(type, cells)) == {str}:  # most columns, and the loop takes its time
        return np.array(cells, dtype=str)
    for row, cell in enumerate(cells):
        if type(cell).__name__ in MISSING_TYPES or (isinstance(cell, float) and cell != cell):
            if not gaps:
                raise MissingValueError(file, f"the value is missing{FILL_IN}", column=name, row=row)
            cells[row] = np.nan
            continue
        if not isinstance(cell, str | int | float | Decimal | np.generic):
            problem = (
                f"{shortened(repr(cell))} is neither a number nor text; ignore the column, or turn it into numbers"
            )
            raise DataFileError(file, problem, column=name, row=row)
        first = (row, cell) if first is None else first
        if isinstance(cell, str) != isinstance(first[1], str):
            place = f"{shortened(repr(cell))} stands where row {first[0]} has {shortened(repr(first[1]))}"
            raise DataFileError(file, f"{place}: is it text or a number?", column=name, row=row)
    if first is None or not isinstance(first[1], str):
        return numbers_of_objects(cells, file, name)
    return np.array(cells, dtype=object if any(cell != cell for cell in cells) else str)


def numbers_of_objects(cells: list[Any], file: str, name: str | int) -> NDArray[Any]:
    """Python's numbers as an array; whole numbers that float64 cannot hold stay whole, and are refused among others."""
    large = [row for row, cell in enumerate(cells) if isinstance(cell, int) and abs(cell) > 2**53]
    if not large:
        return np.array(cells, dtype=np.float64)
    if all(isinstance(cell, int) and -(2**63) <= cell < 2**63 for cell in cells):
        return np.array(cells, dtype=np.int64)
    problem = f"{cells[large[0]]} is more than float64 can hold exactly; subtract an offset, or ignore the column"
    raise DataFileError(file, problem, column=name, row=large[0])


def numbers_in(values: NDArray[Any], file: str, name: str | int | None, gaps: bool = False) -> NDArray[Any]:
    """The numbers, if each is finite (or missing, where gaps are welcome) and float64 can hold it."""
    if values.dtype.kind in "iu" and values.size and max(-int(values.min()), int(values.max())) > 2**53:
        row = int(np.argmax(np.abs(values.astype(np.float64)) >= 2.0**53))
        problem = f"{values[row]} is more than float64 can hold exactly; subtract an offset, or ignore the column"
        raise DataFileError(file, problem, column=name, row=row)
    fine = np.isfinite(values) | (gaps & np.isnan(values)) if values.dtype.kind == "f" else np.True_
    if not np.all(fine):
        row = int(np.argmin(fine))
        if np.isnan(values[row]):
            raise MissingValueError(file, f"the value is missing (NaN){FILL_IN}", column=name, row=row)
        raise DataFileError(file, f"the number is infinite{FILL_IN}", column=name, row=row)
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        return numbers_in(values.astype(np.float64), file, name, gaps)
    return values


def labels_of(values: NDArray[Any], file: str, name: str | int, roles: Roles) -> NDArray[Any]:
    """Strings, or numbers; whole numbers are integers. In the type of a model's labels, where there is a model."""
    if values.dtype.kind == "U":
        missing = [word for word in np.unique(values).tolist() if is_missing_label(word.strip())]
        if missing:
            row = int(np.argmax(np.isin(values, missing)))
            raise DataFileError(file, problem_of_missing_label(str(values[row]).strip()), column=name, row=row)
    if values.dtype.kind == "f":
        unknown = np.isnan(values)
        if np.any(unknown):
            raise DataFileError(file, problem_of_missing_label(""), column=name, row=int(np.argmax(unknown)))
        numbers = numbers_in(values, file, name)
        if np.all(numbers == np.round(numbers)) and np.all(np.abs(numbers) < 2.0**53):
            values = numbers.astype(np.int64)
    return values if roles.classes is None else labels_like(values.tolist(), roles.classes)


def weights_of(values: NDArray[Any], file: str, name: str | int) -> NDArray[np.float64]:
    if values.dtype.kind == "U":
        raise DataFileError(file, f"the weight {shortened(str(values[0]))} is not a number", column=name, row=0)
    if values.dtype.kind == "f" and np.any(np.isnan(values)):
        row = int(np.argmax(np.isnan(values)))
        raise DataFileError(file, "the weight is missing; write it, or remove the row", column=name, row=row)
    weights = numbers_in(values, file, name).astype(np.float64)
    if np.any(weights < 0):
        row = int(np.argmax(weights < 0))
        raise DataFileError(file, f"the weight {weights[row]:g} is negative", column=name, row=row)
    return weights


def labels_like(labels: Sequence[Any], classes: Sequence[Any]) -> NDArray[Any]:
    """The labels of a file in the type of those of a model: text as text, numbers as numbers, whatever the file has.

    A label that cannot be one of the model's stays as it is; then all of them are objects.

    >>> labels_like(["1", "2.0"], [1, 2]).tolist(), labels_like([1, 2], ["1", "x"]).tolist()
    ([1, 2], ['1', '2'])
    """
    if all(isinstance(one, str) for one in classes):
        return np.array([text_of(label) for label in labels], dtype=str)
    if all(isinstance(one, bool) for one in classes):
        known: dict[Any, Any] = {label: truth_of(label) for label in set(labels)}
    else:
        known = {label: number_of(label) for label in set(labels)}
    found = [known[label] for label in labels]
    kinds = {type(label) for label in known.values()}
    return np.array(found) if len(kinds) == 1 or kinds <= {int, float} else np.array(found, dtype=object)


def text_of(label: Any) -> str:
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def truth_of(label: Any) -> Any:
    if isinstance(label, str):
        return TRUTH.get(label.lower(), label)
    return bool(label) if label in (0, 1) else label


def number_of(label: Any) -> Any:
    if isinstance(label, str):
        if not is_number(label):
            return label
        label = int(label) if label.lstrip("+-").isdecimal() else float(label)
    return int(label) if isinstance(label, float) and label.is_integer() else label
