"""A table in a database, learnt from directly."""

import duckdb
import pytest

from maxmargin.cli import main


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "cars.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE cars AS SELECT range * 100 AS kg, 'c' || range AS plate, 1 + range % 2 AS times, "
            "CASE range % 3 WHEN 0 THEN 'red' ELSE 'blue' END AS colour, "
            "CASE WHEN range < 6 THEN 'small' ELSE 'large' END AS kind FROM range(12)"
        )
    return ["--sql", f"duckdb:{path}"]


def test_from_a_query_to_predictions(database, run, capsys, tmp_path):
    model, query = str(tmp_path / "model"), "SELECT * FROM cars"
    columns = ["--label", "kind", "--weight", "times", "--id", "plate"]
    code, found = run("fit", query, *database, *columns, "-o", model)
    assert (code, found["file"], found["rows"], found["columns"]) == (0, "the query", 12, 2)
    assert found["columns_taken"]["categories"] == {"colour": 2}
    code, found = run("verify", model, query, *database, *columns)
    assert (code, found["is_the_data_of_the_fit"]) == (0, True)
    assert run("audit", model, query, *database, *columns)[0] == 0
    assert run("check", query, *database, *columns)[1]["separable"] is True
    assert main(["predict", model, "SELECT plate, colour, kg FROM cars LIMIT 2", *database, "--id", "plate"]) == 0
    assert capsys.readouterr().out.splitlines() == ["c0,small", "c1,small"]


def test_errors_are_sentences(database, fail):
    assert "the database refuses it" in fail("fit", "SELECT * FROM boats", *database, "--label", "kind")
    assert "say with --label which column holds the labels" in fail("fit", "SELECT * FROM cars", *database)
    assert "no column is called 'type'" in fail("fit", "SELECT * FROM cars", *database, "--label", "type")
    assert "there is no such database" in fail("fit", "SELECT 1", "--sql", "duckdb:/nowhere", "--label", "x")
