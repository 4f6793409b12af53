"""Tables whose columns have a type: Arrow, Parquet, data frames, and NumPy's .npy and .npz.

A column is fetched when it is needed and becomes a NumPy array: numbers become columns of X, text and categories are
kept as strings, and anything else (dates, lists) is refused by its name. So is a missing value, with its row; where
missing values are welcome, it is NaN. Numbers are never rounded: whole numbers that float64 cannot hold are refused.

pyarrow is asked for by its name, and only where it is needed: the extra `data` brings it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.data.columns import Columns, LabelledTable, Roles
from maxmargin.data.files import DataFileError, MissingValueError, shortened

SPARSE_PARTS = {"data", "format", "indices", "indptr", "shape"}
MISSING_TYPES = {"NAType", "NaTType", "NoneType"}
FILL_IN = "; fill it in, or remove the row"


class TypedColumns(NamedTuple):
    """The names of the columns (None if they have none), how many they are, and what fetches one of them."""

    file: str
    names: Sequence[str] | None
    width: int
    fetch: Callable[[int], Any]


# Where the columns come from.


def arrow_columns(file: str, stream: Any) -> TypedColumns:
    """Of a pyarrow table, or of anything that gives an Arrow stream (`__arrow_c_stream__`)."""
    pyarrow = optional("pyarrow")
    with unreadable_refused(file, "Arrow"):
        table = stream if isinstance(stream, pyarrow.Table) else pyarrow.table(stream)
        table.validate(full=True)

    def fetch(index: int) -> Any:
        with unreadable_refused(file, "Arrow"):
            return arrow_values(table.column(index))

    return TypedColumns(file, table.column_names, table.num_columns, fetch)


def parquet_columns(file: str, source: Any) -> TypedColumns:
    parquet = optional("pyarrow.parquet")
    with unreadable_refused(file, "Parquet"):
        opened = parquet.ParquetFile(source)
        names = opened.schema_arrow.names

    def fetch(index: int) -> Any:
        with unreadable_refused(file, "Parquet"):
            column = opened.read(columns=[names[index]]).column(0)
            column.validate(full=True)
            return arrow_values(column)

    return TypedColumns(file, names, len(names), fetch)


def arrow_file_columns(file: str, source: Any) -> TypedColumns:
    """Of an Arrow file (Feather), or of an Arrow stream that was saved."""
    pyarrow = optional("pyarrow")
    ipc = optional("pyarrow.ipc")
    with unreadable_refused(file, "Arrow"):
        content = pyarrow.OSFile(source) if isinstance(source, str) else pyarrow.BufferReader(source.read())
        try:
            table = ipc.open_file(content).read_all()
        except pyarrow.ArrowInvalid:
            content.seek(0)
            table = ipc.open_stream(content).read_all()
    return arrow_columns(file, table)


def arrow_values(column: Any) -> Any:
    """An Arrow column as an array; where values are missing, NaN or None."""
    types = optional("pyarrow").types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_decimal(column.type):
        column = column.cast("float64")
    if column.null_count and types.is_integer(column.type):
        column = column.cast("float64")  # refuses what it would have to round
    return column.to_numpy()


def frame_columns(file: str, frame: Any) -> TypedColumns:
    """Of a data frame of pandas, Polars or their like; its index is no column."""
    columns = list(frame.columns)
    names = [str(name) for name in columns]
    for name in names:
        if names.count(name) > 1:
            raise DataFileError(file, f"{names.count(name)} columns are called {shortened(name)}; rename them")
    return TypedColumns(file, names, len(names), lambda index: frame[columns[index]])


def array_columns(file: str, table: NDArray[Any]) -> TypedColumns:
    """Of an array of two dimensions, or of one with fields that have names."""
    if table.dtype.names and table.ndim == 1:
        names = table.dtype.names
        return TypedColumns(file, names, len(names), lambda index: table[names[index]])
    if table.ndim != 2:
        raise DataFileError(file, f"the array has the shape {table.shape}; a table has two dimensions")
    return TypedColumns(file, None, table.shape[1], lambda index: table[:, index])


def archive_columns(file: str, arrays: dict[str, NDArray[Any]]) -> TypedColumns:
    """Of the arrays in an .npz file: one of two dimensions, X, has the columns X0, X1 ..."""
    names, values = [], []
    for name, array in arrays.items():
        if array.ndim == 2 and array.shape[1] != 1:
            names += [f"{name}{column}" for column in range(array.shape[1])]
            values += list(array.T)
        else:
            names.append(name)
            values.append(array.reshape(-1) if array.ndim == 2 else array)
    return TypedColumns(file, names, len(names), values.__getitem__)


def read_npy(file: str, source: Any) -> TypedColumns:
    with unreadable_refused(file, ".npy"):
        array = np.load(source, allow_pickle=False)
    return array_columns(file, array)


@contextmanager
def opened(source: Any) -> Iterator[Any]:
    """A stream as it is; a path as a stream that is closed whatever happens, which np.load does not see to."""
    if hasattr(source, "read"):
        yield source
        return
    with open(source, "rb") as stream:
        yield stream


def read_npz(file: str, source: Any, roles: Roles) -> LabelledTable:
    """Arrays by their names; a matrix that scipy.sparse.save_npz wrote is X, and other arrays may stand beside it."""
    with unreadable_refused(file, ".npz"), opened(source) as stream, np.load(stream, allow_pickle=False) as archive:
        kept = [name for name in archive.files if name not in roles.ignore]
        if not kept or any(not name.endswith(".npy") for name in archive.zip.namelist()):
            raise DataFileError(file, "this zip archive holds no NumPy arrays; export a spreadsheet as CSV")
        arrays = {name: archive[name] for name in kept}
    roles = roles._replace(ignore=[name for name in roles.ignore if not isinstance(name, str)])
    if not arrays.keys() >= SPARSE_PARTS:
        return table_of(archive_columns(file, arrays), roles)
    X = sparse_matrix(file, {name: arrays.pop(name) for name in SPARSE_PARTS})
    beside = table_of(archive_columns(file, arrays), roles, rows=X.shape[0])
    if beside.feature_names or beside.texts:
        extra = ", ".join([*(beside.feature_names or ()), *beside.texts])
        raise DataFileError(file, f"beside the sparse matrix there are arrays without a purpose: {extra}; ignore them")
    return beside._replace(X=X, feature_names=None)


def sparse_matrix(file: str, parts: dict[str, NDArray[Any]]) -> sparse.csr_array:
    """CSR from the parts that scipy.sparse.save_npz writes, its indices checked."""
    with unreadable_refused(file, ".npz"):
        form = {"csr": sparse.csr_array, "csc": sparse.csc_array}.get(bytes(parts["format"].item()).decode())
        if form is None:
            raise DataFileError(file, "the sparse matrix is neither CSR nor CSC; save X.tocsr()")
        matrix = form((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"].tolist()))
        matrix.check_format(full_check=True)
        X = sparse.csr_array(matrix)
        X.sum_duplicates()
    values = numbers_in(X.data, file, None)
    X.data = values if values.dtype == np.float32 else values.astype(np.float64)
    return X


# What becomes of them.


def table_of(table: TypedColumns, roles: Roles, rows: int | None = None) -> LabelledTable:
    """Fetch the columns as they were asked for; `rows` is how many there must be, if that is known."""
    file = table.file
    columns = Columns(file, table.names, table.width, roles)
    fetched: dict[int, NDArray[Any]] = {}
    numbers: list[int] = []
    texts: list[int] = []
    for index in range(table.width):
        if index not in columns.features and index not in (columns.label, columns.weight, columns.id):
            continue
        is_feature = index in columns.features
        values = numbers_or_strings(np.asarray(table.fetch(index)), file, columns[index], columns.may_lack(index))
        rows = len(values) if rows is None else rows
        if len(values) != rows:
            raise DataFileError(file, f"it has {len(values)} rows, where others have {rows}", column=columns[index])
        if is_feature:
            told = columns.holds_text(index)
            is_text = values.dtype.kind in "UO" if told is None else told
            if values.dtype.kind in "UO" and not is_text:
                row = next(row for row, cell in enumerate(values.tolist()) if isinstance(cell, str))
                raise DataFileError(file, f"{shortened(values[row])} is not a number", column=columns[index], row=row)
            (texts if is_text else numbers).append(index)
        fetched[index] = values
    if not rows:
        raise DataFileError(file, "there is no row")
    kinds = {fetched[index].dtype for index in numbers}
    X = np.empty((rows, len(numbers)), np.float32 if kinds == {np.dtype(np.float32)} else np.float64)
    for position, index in enumerate(numbers):
        X[:, position] = numbers_in(fetched.pop(index), file, columns[index], roles.missing)
        columns.refuse_without_values(index, np.isnan(X[:, position]))
    return LabelledTable(
        X,
        None if columns.label is None else labels_of(fetched[columns.label], file, columns[columns.label]),
        tuple(columns.name_of(index) for index in numbers),
        columns.label_name,
        np.arange(1, rows + 1),
        None if columns.weight is None else weights_of(fetched[columns.weight], file, columns[columns.weight]),
        None if columns.id is None else fetched[columns.id],
        {columns.name_of(index): words_of(fetched[index], index, columns) for index in texts},
        {columns.name_of(index): part for index, part in columns.asked.items()},
    )


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
        return np.array(cells, dtype=np.float64)
    return np.array(cells, dtype=object if any(cell != cell for cell in cells) else str)


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


def labels_of(values: NDArray[Any], file: str, name: str | int) -> NDArray[Any]:
    """Strings, or numbers; whole numbers are integers."""
    if values.dtype.kind == "f":
        numbers = numbers_in(values, file, name)
        if np.all(numbers == np.round(numbers)) and np.all(np.abs(numbers) < 2.0**53):
            return numbers.astype(np.int64)
    return values


def weights_of(values: NDArray[Any], file: str, name: str | int) -> NDArray[np.float64]:
    if values.dtype.kind == "U":
        raise DataFileError(file, f"the weight {shortened(str(values[0]))} is not a number", column=name, row=0)
    weights = numbers_in(values, file, name).astype(np.float64)
    if np.any(weights < 0):
        row = int(np.argmax(weights < 0))
        raise DataFileError(file, f"the weight {weights[row]:g} is negative", column=name, row=row)
    return weights


def optional(module: str) -> Any:
    """A module of pyarrow, or an error that says where to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError("Arrow and Parquet need pyarrow: pip install 'maxmargin[data]'") from error


@contextmanager
def unreadable_refused(file: str, form: str) -> Iterator[None]:
    """Whatever a damaged file makes its reader raise, as one error; a file that cannot be opened is another matter."""
    try:
        yield
    except (DataFileError, ImportError):
        raise
    except Exception as error:  # a reader of binary files can raise anything
        if isinstance(error, OSError) and error.errno is not None:
            raise
        problem = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataFileError(file, f"it cannot be read as {form}: {problem[:200]}") from None
