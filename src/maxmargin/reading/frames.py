"""Tables whose columns have a type: Arrow, Parquet, data frames, and NumPy's .npy and .npz.

A column is fetched when it is needed and becomes a NumPy array: numbers become columns of X, text and categories are
kept as strings, and anything else (dates, lists) is refused by its name. So is a missing value, with its row; where
missing values are welcome, it is NaN. Numbers are never rounded: whole numbers that float64 cannot hold are refused.

pyarrow is asked for by its name, and only where it is needed: the extra `data` brings it.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.data.frames import Frame
from maxmargin.data.table import blocks, largest_magnitude
from maxmargin.reading.cells import column_of, ids_of, labels_of, numbers_in, weights_of, words_of
from maxmargin.reading.columns import ColumnName, Columns, LabelledTable, Roles
from maxmargin.reading.files import Asked, DataFileError, name_of, shortened

FLOATS = (np.float32, np.float64)
FEW_WORDS = 0.1  # for each cell of a column
SPARSE_PARTS = {"data", "format", "indices", "indptr", "shape"}


class TypedColumns(NamedTuple):
    """The names of the columns (None if they have none), how many they are, and what fetches one of them.

    `fetch_as_is` fetches one without turning its cells into floats, where that differs. `together` gives those from one
    to another as rows, in C order, if all of them are floats of one type.
    """

    file: str
    names: Sequence[str] | None
    width: int
    fetch: Callable[[int], Any]
    fetch_as_is: Callable[[int], Any] | None = None
    together: Callable[[int, int], NDArray[Any]] | None = None


# Where the columns come from.


def arrow_columns(file: str, stream: Any) -> TypedColumns:
    """Of a pyarrow table, or of anything that gives an Arrow stream (`__arrow_c_stream__`)."""
    pyarrow = optional("pyarrow")
    with unreadable_refused(file, "Arrow"):
        table = stream if isinstance(stream, pyarrow.Table) else pyarrow.table(stream)
        table.validate(full=True)
        names = table.column_names  # which need not be UTF-8

    def fetch(index: int) -> Any:
        with unreadable_refused(file, "Arrow"):
            return arrow_values(table.column(index))

    def fetch_as_is(index: int) -> Any:
        return as_objects(table.column(index))

    return TypedColumns(file, names, table.num_columns, fetch, fetch_as_is)


def parquet_columns(file: str, source: Any) -> TypedColumns:
    parquet = optional("pyarrow.parquet")
    with unreadable_refused(file, "Parquet"):
        opened = parquet.ParquetFile(source)
        names = opened.schema_arrow.names

    def column(index: int) -> Any:
        """By its place: a file can have several of one name, and a name can be the beginning of another."""
        with unreadable_refused(file, "Parquet"):
            name = names[index]
            found = opened.read(columns=[name])
            twins = [place for place, other in enumerate(found.column_names) if other == name]
            chosen = found.column(twins[names[:index].count(name)])
            chosen.validate(full=True)
            return chosen

    def fetch(index: int) -> Any:
        with unreadable_refused(file, "Parquet"):
            return arrow_values(column(index))

    return TypedColumns(file, names, len(names), fetch, lambda index: as_objects(column(index)))


def read_parquet(source: Any, roles: Roles, _: Asked) -> LabelledTable:
    return table_of(parquet_columns(name_of(source), source), roles)


def read_arrow(source: Any, roles: Roles, _: Asked) -> LabelledTable:
    return table_of(arrow_file_columns(name_of(source), source), roles)


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
    if (words := few_words(column)) is not None:
        return words
    if types.is_decimal(column.type):
        column = column.cast("float64")
    if column.null_count and types.is_integer(column.type):
        column = column.cast("float64")  # refuses what it would have to round
    if not len(column) and str(column.type).endswith(("string", "string_view")):
        return np.empty(0, "U1")  # where there are no cells to tell it
    return column.to_numpy()


def few_words(column: Any) -> NDArray[Any] | None:
    """An Arrow column of text in which the same words come again and again, of which Python sees each once; or None."""
    types = optional("pyarrow").types
    if column.null_count or not (types.is_string(column.type) or types.is_large_string(column.type)):
        return None
    parts = []
    for chunk in column.chunks:
        coded = chunk.dictionary_encode()
        if len(coded.dictionary) > FEW_WORDS * len(chunk):
            return None
        parts.append(np.array(coded.dictionary.to_pylist(), dtype=str)[coded.indices.to_numpy()])
    return np.concatenate(parts) if parts else None


def as_objects(column: Any) -> NDArray[Any]:
    """The cells of an Arrow column as Python has them: whole numbers and decimals to the last digit."""
    cells = np.empty(len(column), dtype=object)
    cells[:] = column.to_pylist()
    return cells


def frame_columns(file: str, frame: Frame) -> TypedColumns:
    """Of a data frame of pandas, Polars or their like; its index is no column."""
    return TypedColumns(file, [str(name) for name in frame.names], len(frame.names), frame.cells)


def array_columns(file: str, table: NDArray[Any]) -> TypedColumns:
    """Of an array of two dimensions, or of one with fields that have names."""
    if table.dtype.names and table.ndim == 1:
        names = table.dtype.names
        return TypedColumns(file, names, len(names), lambda index: table[names[index]])
    if table.ndim != 2:
        raise DataFileError(file, f"the array has the shape {table.shape}; a table has two dimensions")

    def together(first: int, last: int) -> NDArray[Any]:
        return np.ascontiguousarray(table[:, first : last + 1])

    is_plain = table.dtype in FLOATS
    return TypedColumns(
        file, None, table.shape[1], lambda index: table[:, index], together=together if is_plain else None
    )


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


def read_npy(source: Any, roles: Roles, _: Asked) -> LabelledTable:
    file = name_of(source)
    with unreadable_refused(file, ".npy"):
        array = np.load(source, allow_pickle=False)
    return table_of(array_columns(file, array), roles)


@contextmanager
def opened(source: Any) -> Iterator[Any]:
    """A stream as it is; a path as a stream that is closed whatever happens, which np.load does not see to."""
    if hasattr(source, "read"):
        yield source
        return
    with open(source, "rb") as stream:
        yield stream


def read_npz(source: Any, roles: Roles, _: Asked) -> LabelledTable:
    """Arrays by their names; a matrix that scipy.sparse.save_npz wrote is X, and other arrays may stand beside it."""
    file = name_of(source)
    with unreadable_refused(file, ".npz"), opened(source) as stream, np.load(stream, allow_pickle=False) as archive:
        if len(set(archive.files)) < len(archive.files):
            twin = next(name for name in archive.files if archive.files.count(name) > 1)
            raise DataFileError(
                file, f"{archive.files.count(twin)} arrays are called {shortened(twin)}; save one of them"
            )
        kept = [name for name in archive.files if name not in roles.ignore]
        if not kept or any(not name.endswith(".npy") for name in archive.zip.namelist()):
            raise DataFileError(file, "this zip archive holds no NumPy arrays; export a spreadsheet as CSV")
        arrays = {name: archive[name] for name in kept}
        passed_over = [name for name in archive.files if name in roles.ignore]
    if passed_over and any(isinstance(name, int) or name.lstrip("-").isdecimal() for name in asked_for(roles)):
        problem = f"without {passed_over[0]!r}, which is ignored, the columns count otherwise: give names, not indices"
        raise DataFileError(file, problem)
    roles = roles._replace(ignore=[name for name in roles.ignore if name not in passed_over])
    if not arrays.keys() >= SPARSE_PARTS:
        return without_arrays(table_of(archive_columns(file, arrays), roles), passed_over)
    X = sparse_matrix(file, {name: arrays.pop(name) for name in SPARSE_PARTS})
    beside = table_of(archive_columns(file, arrays), roles._replace(expected=None), rows=X.shape[0])
    if beside.feature_names or beside.texts:
        extra = ", ".join([*(beside.feature_names or ()), *beside.texts])
        raise DataFileError(file, f"beside the sparse matrix there are arrays without a purpose: {extra}; ignore them")
    return without_arrays(beside._replace(X=X, feature_names=None), passed_over)


def without_arrays(table: LabelledTable, passed_over: list[str]) -> LabelledTable:
    """The table, with those that were passed over before it was made."""
    return table._replace(ignored=(*passed_over, *table.ignored))


def asked_for(roles: Roles) -> list[ColumnName]:
    """The columns that are named or numbered."""
    alone = [name for name in (roles.label, roles.weight, roles.id) if name is not None]
    return [*alone, *roles.ignore, *roles.categorical, *roles.prose]


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
    X = finite_part(table, columns)
    features = set(columns.features)
    numbers = [] if X is None else columns.features
    texts: list[int] = []
    for index in range(table.width):
        is_feature = index in features
        if X is not None if is_feature else index not in (columns.label, columns.weight, columns.id):
            continue
        if index == columns.id:
            values = ids_of(np.asarray((table.fetch_as_is or table.fetch)(index)), file, columns[index])
        else:
            values = column_of(np.asarray(table.fetch(index)), index, columns)
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
    rows = X.shape[0] if rows is None and X is not None else rows
    if rows is None or (not rows and not roles.may_be_empty):
        raise DataFileError(file, "there is no row")
    if X is None:
        X = side_by_side(
            [numbers_in(fetched.pop(index), file, columns[index], roles.missing) for index in numbers], rows
        )
        for index, lacks in zip(numbers, np.isnan(X).all(axis=0) if roles.missing else (), strict=False):
            columns.refuse_without_values(index, np.full(rows, lacks))
    return LabelledTable(
        X,
        None if columns.label is None else labels_of(fetched[columns.label], file, columns[columns.label], roles),
        columns.names_of(numbers),
        columns.label_name,
        np.arange(1, rows + 1),
        None if columns.weight is None else weights_of(fetched[columns.weight], file, columns[columns.weight]),
        None if columns.id is None else fetched[columns.id],
        {columns.name_of(index): words_of(fetched[index], index, columns) for index in texts},
        {columns.name_of(index): part for index, part in columns.asked.items()},
        weight_name=columns.title_of(columns.weight),
        id_name=columns.title_of(columns.id),
        has_names=columns.names is not None,
        notes=columns.notes,
        ignored=columns.ignored,
    )


def finite_part(table: TypedColumns, columns: Columns) -> NDArray[Any] | None:
    """The features of a matrix of floats at once; None where they must be looked at one by one."""
    features = columns.features
    if table.together is None or not features or any(columns.holds_text(index) for index in features):
        return None
    first, last = features[0], features[-1]
    X = table.together(first, last)
    if last - first != len(features) - 1:
        X = np.take(X, np.array(features) - first, axis=1)
    return X if math.isfinite(largest_magnitude(X)) else None


def side_by_side(columns: list[NDArray[Any]], rows: int) -> NDArray[Any]:
    """Columns as a matrix: float32 if all of them are; some rows at a time, which stay in the cache meanwhile."""
    kind = np.float32 if {column.dtype for column in columns} == {np.dtype(np.float32)} else np.float64
    X = np.empty((rows, len(columns)), kind)
    for some in blocks(X):
        part = X[some]
        for position, column in enumerate(columns):
            part[:, position] = column[some]
    return X


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
