"""One door for every table: a file of any format, a stream, a data frame, or an Arrow stream.

The format is recognised by the first bytes; text, by the name of the file or else by its first line:

    CSV, TSV      a comma, a semicolon or a tab between the cells; .gz, .bz2 and .xz too
    svmlight      <label> <index>:<value> ..., sparse; .gz, .bz2 and .xz too
    parquet       Apache Parquet (needs pyarrow)
    arrow         Arrow files and streams, Feather (needs pyarrow)
    npy, npz      NumPy's own, never with pickled objects; scipy.sparse.save_npz

A query in a database is an Arrow stream, where the driver speaks Arrow: read_table(duckdb.sql("..."), label="y"); or
text, with the database beside it: read_table("SELECT ...", database="duckdb:FILE", label="y").
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any, Literal

import numpy as np

from maxmargin.data.frames import frame_of
from maxmargin.reading.columns import ColumnName, LabelledTable, Roles
from maxmargin.reading.databases import query_columns
from maxmargin.reading.files import Asked, DataFileError, Source, checked_width, name_of, table_in
from maxmargin.reading.frames import TypedColumns, array_columns, arrow_columns, frame_columns, table_of


def read_table(
    source: Any,
    *,
    label: ColumnName | None,
    weight: ColumnName | None = None,
    ignore: Collection[ColumnName] = (),
    id: ColumnName | None = None,
    categorical: Collection[ColumnName] = (),
    n_features: int | None = None,
    format: str = "auto",
    header: bool = True,
    zero_based: bool | Literal["auto"] = "auto",
    any_order: bool = False,
    missing: Literal["refuse", "keep"] = "refuse",
    database: Any = None,
) -> LabelledTable:
    """Read a table: X and y, and what else was asked for; `DataFileError` names the place of what is wrong.

    Numbers go to X; categories, to `texts`, for the caller to encode. Nothing missing is filled in.

    Parameters
    ----------
    source : path, file, data frame, Arrow table, array or query
        Also any object with `__arrow_c_stream__`; a query, if `database` is given.
    label : str or int or None
        The column of the labels, by its name or its index (from 0; -1 is the last); None if there are none.
        An SVMlight file has its labels in front: give None.
    weight : str or int, default=None
        The column of the weights, likewise.
    ignore : collection of columns, default=()
        Columns to leave out.
    id : str or int, default=None
        The column of the names of the rows, which stay the text that they are.
    categorical : collection of columns, default=()
        Columns that are categories though they look like numbers; columns of text are so anyway.
    n_features : int, default=None
        The number of columns of X; None takes what there is.
    format : {"auto", "csv", "svmlight", "parquet", "arrow", "npy", "npz"}, default="auto"
        "auto" recognises it.
    header : bool, default=True
        Whether the first line of a CSV file holds the names of the columns.
    zero_based : bool or "auto", default="auto"
        How an SVMlight file counts its columns.
    any_order : bool, default=False
        Whether its indices may come in any order.
    missing : {"refuse", "keep"}, default="refuse"
        Whether a feature that lacks a value is an error, or kept as NaN, for an imputer to come.
    database : str or connection, default=None
        What answers a query: "duckdb:FILE", "sqlite:FILE", or an open connection (see `databases`).

    Returns
    -------
    LabelledTable
        `X`, `y`, `weights`, `texts` and what else was read.

    Examples
    --------
    >>> import io
    >>> table = read_table(io.StringIO("kg,colour,animal\\n3.5,red,cat\\n9,grey,dog\\n"), label="animal")
    >>> table.X.tolist(), table.y.tolist(), list(table.texts)
    ([[3.5], [9.0]], ['cat', 'dog'], ['colour'])
    """
    if missing not in ("refuse", "keep"):
        raise ValueError(f'missing must be "refuse" or "keep", not {missing!r}')
    roles = Roles(label, weight, id, listed(ignore), listed(categorical), missing=missing == "keep")
    return read_roles(
        source,
        roles,
        n_features=n_features,
        format=format,
        header=header,
        zero_based=zero_based,
        any_order=any_order,
        database=database,
    )


def read_roles(
    source: Any,
    roles: Roles,
    *,
    n_features: int | None = None,
    format: str = "auto",
    header: bool = True,
    zero_based: bool | Literal["auto"] = "auto",
    any_order: bool = False,
    database: Any = None,
) -> LabelledTable:
    """`read_table`, with the columns as roles ask for them."""
    columns = columns_in_memory(source) if database is None else query_columns(source, database)
    if columns is None:
        return table_in(source, roles, format, Asked(header, n_features, zero_based, any_order))
    return checked_width(table_of(columns, roles), columns.file, n_features)


def listed(names: Collection[ColumnName]) -> tuple[ColumnName, ...]:
    """A name alone is a list of one, and not of its letters."""
    return (names,) if isinstance(names, str) else tuple(names)


def columns_in_memory(source: Any) -> TypedColumns | None:
    """The columns of what is no file."""
    if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        return None
    if isinstance(source, np.ndarray):
        return array_columns("the data", source)
    frame = frame_of(source)
    if frame is not None:
        return arrow_columns("the data", frame.native) if frame.is_arrow else frame_columns("the data", frame)
    if hasattr(source, "__arrow_c_stream__"):
        return arrow_columns("the data", source)
    raise TypeError(
        f"a table is a path, an open file, a data frame, an Arrow stream or an array, not {type(source).__name__}"
    )


def read_sparse(source: Source, roles: Roles, asked: Asked) -> LabelledTable:
    refuse_named_columns(name_of(source), roles)
    from maxmargin.reading.svmlight import read_svmlight  # the compiler with it

    table = read_svmlight(source, n_features=asked.n_features, zero_based=asked.zero_based, any_order=asked.any_order)
    return LabelledTable(
        table.X,
        table.y,
        None,
        None,
        table.lines,
        queries=table.queries,
        zero_based=table.zero_based,
        notes=table.notes,
    )


def refuse_named_columns(file: str, roles: Roles) -> None:
    """Where a sparse file is asked for columns by name."""
    named = ("label", "weight", "id", "ignore", "categorical", "prose")
    asked = [name.replace("prose", "text") for name in named if getattr(roles, name) not in (None, ())]
    if asked:
        problem = f"an SVMlight file has its label in front and no other named columns: leave out {', '.join(asked)}"
        raise DataFileError(file, problem)
