"""A query to a database as a table: its columns come as Arrow where the driver speaks it, otherwise row by row.

    duckdb:FILE     a DuckDB file (needs duckdb); opened to be read only. duckdb: alone is an empty one in memory, for
                    queries that read files of their own
    sqlite:FILE     a SQLite file, likewise
    a connection    of DuckDB, of an ADBC driver, or of any driver that follows Python's DB-API; it stays open

What the database has against a query becomes a `DataFileError`, in its own words.
"""

from __future__ import annotations

import importlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import numpy as np

from maxmargin.reading.files import DataFileError, shortened
from maxmargin.reading.frames import TypedColumns, arrow_columns, optional

QUERY = "the query"  # what to call it in a message
SCHEMES = "duckdb:FILE or sqlite:FILE"


def query_columns(query: str, database: Any) -> TypedColumns:
    """The columns of what a query returns."""
    if not isinstance(database, str):
        return columns_from(database, query)
    with closing(opened(database)) as connection:
        return columns_from(connection, query)


def opened(address: str) -> Any:
    """A connection that cannot write."""
    scheme, colon, path = address.partition(":")
    if not colon or scheme not in ("duckdb", "sqlite"):
        raise DataFileError(shortened(address), f"this is no database; it can be {SCHEMES}, or an open connection")
    if path and not os.path.isfile(path):
        raise DataFileError(path, "there is no such database")
    if scheme == "sqlite":
        if not path:
            raise DataFileError(address, "say which file: sqlite:FILE")
        uri = f"file:{path.replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?mode=ro"
        with complaints_told(path):
            return sqlite3.connect(uri, uri=True)
    try:
        duckdb = importlib.import_module("duckdb")
    except ImportError as error:
        raise ImportError("DuckDB files need duckdb: pip install 'maxmargin[sql]'") from error
    with complaints_told(path):
        return duckdb.connect(path, read_only=True) if path else duckdb.connect()


def columns_from(connection: Any, query: str) -> TypedColumns:
    with complaints_told(QUERY):
        if hasattr(connection, "sql"):  # DuckDB
            relation = connection.sql(query)
            table = None if relation is None else optional("pyarrow").table(relation)
        else:
            with closing(connection.cursor()) as cursor:
                cursor.execute(query)
                if not hasattr(cursor, "fetch_arrow_table"):
                    return fetched(cursor)
                table = cursor.fetch_arrow_table()  # ADBC
    if table is None or not table.num_columns:
        raise DataFileError(QUERY, "it returns no table; begin it with SELECT")
    return arrow_columns(QUERY, table)


def fetched(cursor: Any) -> TypedColumns:
    """The rows of a DB-API cursor, as columns."""
    if cursor.description is None:
        raise DataFileError(QUERY, "it returns no table; begin it with SELECT")
    names = [column[0] for column in cursor.description]
    rows = cursor.fetchall()
    return TypedColumns(QUERY, names, len(names), lambda index: np.array([row[index] for row in rows], dtype=object))


@contextmanager
def complaints_told(name: str) -> Iterator[None]:
    """Every driver has errors of its own."""
    try:
        yield
    except (DataFileError, ImportError):
        raise
    except Exception as error:
        sentence = " ".join(str(error).split()) or type(error).__name__
        raise DataFileError(name, f"the database refuses it: {sentence[:300]}") from None
