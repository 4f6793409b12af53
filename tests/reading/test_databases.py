"""Queries as tables: DuckDB, SQLite, ADBC; what the database refuses is a sentence."""

import sqlite3
import sys
from contextlib import closing

import adbc_driver_sqlite.dbapi
import duckdb
import numpy as np
import pytest

from maxmargin.reading.files import DataFileError
from maxmargin.reading.read import read_table

MAKE = "CREATE TABLE pets (tag TEXT, kg DOUBLE, legs INTEGER, colour TEXT, animal TEXT)"
FILL = "INSERT INTO pets VALUES ('a7', 3.5, 4, 'red', 'cat'), ('b3', 9, 4, 'grey', 'dog'), ('c1', 0.1, 2, 'red', 'hen')"
QUERY = "SELECT * FROM pets ORDER BY tag"


@pytest.fixture
def duck(tmp_path):
    path = tmp_path / "pets.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(MAKE)
        connection.execute(FILL)
    return f"duckdb:{path}"


@pytest.fixture
def lite(tmp_path):
    path = tmp_path / "pets #1?.sqlite"
    connection = sqlite3.connect(path)
    connection.execute(MAKE)
    connection.execute(FILL)
    connection.commit()
    connection.close()
    return f"sqlite:{path}"


def is_the_table(table):
    assert table.X.tolist() == [[3.5, 4.0], [9.0, 4.0], [0.1, 2.0]]
    assert table.X.dtype == np.float64
    assert table.y.tolist() == ["cat", "dog", "hen"]
    assert table.ids.tolist() == ["a7", "b3", "c1"]
    assert {name: words.tolist() for name, words in table.texts.items()} == {"colour": ["red", "grey", "red"]}


def test_addresses(duck, lite):
    for database in (duck, lite):
        is_the_table(read_table(QUERY, database=database, label="animal", id="tag"))


def test_connections_stay_open(duck, lite, tmp_path):
    with duckdb.connect(duck.partition(":")[2]) as connection:
        for _ in range(2):
            is_the_table(read_table(QUERY, database=connection, label="animal", id="tag"))
    with adbc_driver_sqlite.dbapi.connect(str(tmp_path / "adbc.sqlite")) as connection:
        with connection.cursor() as cursor:
            cursor.execute(MAKE)
            cursor.execute(FILL)
        for _ in range(2):
            is_the_table(read_table(QUERY, database=connection, label="animal", id="tag"))
    with closing(sqlite3.connect(lite.partition(":")[2])) as connection:
        is_the_table(read_table(QUERY, database=connection, label="animal", id="tag"))


def test_duckdb_in_memory_reads_files_of_its_own(tmp_path):
    (tmp_path / "data.csv").write_text("x,y\n1,a\n2,b\n")
    table = read_table(f"SELECT x, y FROM read_csv('{tmp_path}/data.csv')", database="duckdb:", label="y")
    assert table.X.tolist() == [[1.0], [2.0]]


def test_missing_values_are_named_or_kept(duck, lite):
    query = "SELECT CASE WHEN legs = 2 THEN NULL ELSE legs END AS legs, colour, animal FROM pets ORDER BY tag"
    for database in (duck, lite):
        with pytest.raises(DataFileError, match=r"the query, row 2 .*column 'legs': the value is missing"):
            read_table(query, database=database, label="animal")
        kept = read_table(query, database=database, label="animal", missing="keep")
        np.testing.assert_array_equal(kept.X, [[4.0], [4.0], [np.nan]])


@pytest.mark.parametrize("kind", ["duck", "lite"])
@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELEC * FROM pets", "the query: the database refuses it: .*SELEC"),
        ("SELECT * FROM cats", "the database refuses it: .*cats"),
        ("SELECT nothing FROM pets", "the database refuses it: .*nothing"),
        ("DELETE FROM pets", "the database refuses it|returns no table"),
        ("SELECT * FROM pets WHERE kg > 99", "there is no row"),
    ],
)
def test_what_the_database_refuses(kind, query, message, request):
    database = request.getfixturevalue(kind)
    with pytest.raises(DataFileError, match=message):
        read_table(query, database=database, label="animal")
    is_the_table(read_table(QUERY, database=database, label="animal", id="tag"))  # nothing was deleted


def test_addresses_that_lead_nowhere(tmp_path, monkeypatch):
    cases = {
        "oracle:x": "it can be duckdb:FILE or sqlite:FILE",
        "pets.db": "it can be duckdb:FILE or sqlite:FILE",
        f"duckdb:{tmp_path}/none": "there is no such database",
        f"sqlite:{tmp_path}/none": "there is no such database",
        "sqlite:": "say which file",
    }
    for address, message in cases.items():
        with pytest.raises(DataFileError, match=message):
            read_table("SELECT 1", database=address, label=None)
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database at all" * 100)
    for scheme in ("duckdb", "sqlite"):
        with pytest.raises(DataFileError, match="the database refuses it"):
            read_table(QUERY, database=f"{scheme}:{broken}", label="animal")
    assert list(tmp_path.iterdir()) == [broken]
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ImportError, match=r"maxmargin\[sql\]"):
        read_table("SELECT 1", database="duckdb:", label=None)
