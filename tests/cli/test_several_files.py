"""Several files, folders and patterns as one table: the answers of all commands are those of one file."""

import json
import os

import numpy as np
import pandas
import pytest

from maxmargin.cli import main
from maxmargin.data.synthetic import overlapping

X, Y = overlapping(240)
LABELS = np.where(Y > 0, "yes", "no")
EDGES = [0, 90, 90, 240]


def frame():
    table = pandas.DataFrame(X, columns=[f"x{place}" for place in range(X.shape[1])])
    table["colour"] = np.array(["red", "blue", "green"])[np.arange(240) % 3]
    table["label"] = LABELS
    return table


@pytest.fixture
def parts(tmp_path):
    """One file, and its rows in three, one of them without rows."""
    frame().to_csv(tmp_path / "whole.csv", index=False)
    (tmp_path / "parts").mkdir()
    for number in range(3):
        frame()[EDGES[number] : EDGES[number + 1]].to_csv(tmp_path / f"parts/part{number}.csv", index=False)
    return tmp_path


def told(capsys, *arguments):
    code = main(list(map(str, arguments)))
    captured = capsys.readouterr()
    assert code in (0, 2, 3), captured.err
    return json.loads(captured.out)


OWN = ("file", "seconds", "seconds_compiling", "model", "line", "columns_taken")


def without_own(value):
    """Without what the name of the file and the clock decide."""
    if isinstance(value, dict):
        return {name: without_own(entry) for name, entry in value.items() if name not in OWN and "second" not in name}
    return [without_own(one) for one in value] if isinstance(value, list) else value


def spellings(parts):
    return {
        "names": [parts / f"parts/part{number}.csv" for number in range(3)],
        "folder": [parts / "parts"],
        "pattern": [parts / "parts/part*.csv"],
    }


@pytest.mark.parametrize("spelling", ["names", "folder", "pattern"])
def test_a_model_of_several_files_is_that_of_one(parts, spelling, capsys):
    data = spellings(parts)[spelling]
    fits = [
        told(capsys, "fit", *given, "--json", "-o", parts / name)
        for given, name in ((data, "of_parts"), ([parts / "whole.csv"], "of_whole"))
    ]
    assert without_own(fits[0]) == without_own(fits[1])
    assert (parts / "of_parts").read_bytes() == (parts / "of_whole").read_bytes()
    for command in ("predict", "verify", "audit", "violations"):
        found = [told(capsys, command, parts / "of_parts", *given, "--json") for given in (data, [parts / "whole.csv"])]
        assert without_own(found[0]) == without_own(found[1])


@pytest.mark.parametrize("command", ["check", "path", "leave-one-out"])
def test_commands_without_a_model(parts, command, capsys):
    data = spellings(parts)["names"]
    found = [told(capsys, command, *given, "--json") for given in (data, [parts / "whole.csv"])]
    assert without_own(found[0]) == without_own(found[1])


def test_rows_are_told_by_their_file(parts, capsys):
    assert main(["fit", str(parts / "parts"), "-o", str(parts / "m")]) == 0
    capsys.readouterr()
    rows = told(capsys, "violations", parts / "m", parts / "parts", "--json")["rows"]
    files = {os.path.basename(row["file"]) for row in rows}
    assert files == {"part0.csv", "part2.csv"}
    for row in rows:
        first = 0 if row["file"].endswith("part0.csv") else 90
        assert row["row"] == first + row["line"] - 2


def test_convert_joins_files(parts, capsys):
    data = [str(path) for path in spellings(parts)["names"]]
    assert main(["convert", *data, str(parts / "joined.csv")]) == 0
    assert main(["convert", *data, "-o", str(parts / "again.csv")]) == 0
    assert main(["convert", str(parts / "whole.csv"), str(parts / "one.csv")]) == 0
    assert (parts / "joined.csv").read_text() == (parts / "one.csv").read_text() == (parts / "again.csv").read_text()
    assert main(["scale", *data, "-o", str(parts / "scaled.csv")]) == 0
    assert len(pandas.read_csv(parts / "scaled.csv")) == 240


def refused(capsys, *arguments):
    assert main(list(map(str, arguments))) == 1
    return capsys.readouterr().err


def test_files_that_are_no_parts_of_one_table(parts, capsys):
    one = parts / "parts/part0.csv"
    frame().to_parquet(parts / "t.parquet")
    assert "t.parquet is not written as csv" in refused(capsys, "check", one, parts / "t.parquet")
    frame().drop(columns="x1").to_csv(parts / "u.csv", index=False)
    assert "u.csv: its columns are not those of" in refused(capsys, "check", one, parts / "u.csv")
    frame().assign(colour=1.5).to_csv(parts / "u.csv", index=False)
    assert "u.csv, column 'colour': it holds numbers, and in" in refused(capsys, "check", one, parts / "u.csv")
    frame().rename(columns={"x1": "x9"}).head(0).to_csv(parts / "u.csv", index=False)
    assert "u.csv: its columns are not those of" in refused(capsys, "check", one, parts / "u.csv")
    (parts / "u.csv").write_text("")
    assert "u.csv: the file is empty" in refused(capsys, "check", one, parts / "u.csv")
    assert "no file is called" in refused(capsys, "check", parts / "nothing*.csv")
    assert "give it alone" in refused(capsys, "check", one, "-")
    assert "put it in quotes" in refused(capsys, "check", "SELECT", "1", "--sql", "duckdb:x")
    lines = one.read_text().splitlines()
    lines[7] = lines[7].replace(",", ",x", 1)
    (parts / "u.csv").write_text("\n".join(lines))
    assert "u.csv, line 8, column 'x1'" in refused(capsys, "check", one, parts / "u.csv")


def test_an_output_among_the_inputs_is_refused(parts, capsys):
    text = refused(capsys, "fit", parts / "parts/part*.csv", "-o", parts / "parts/part1.csv")
    assert "is what is read" in text


def test_labels_mean_what_all_files_say(parts, capsys):
    (parts / "a.csv").write_text("x,label\n1,0\n2,1\n")
    (parts / "b.csv").write_text("x,label\n3,+1.0\n4,0\n")
    (parts / "c.csv").write_text("x,label\n3,one\n4,0\n")
    numbers = told(capsys, "check", parts / "a.csv", parts / "b.csv", "--json")["labels"]
    assert numbers == [{"label": 0, "count": 2}, {"label": 1, "count": 2}]
    words = told(capsys, "check", parts / "a.csv", parts / "c.csv", "--json")["labels"]
    assert words == [{"label": "0", "count": 2}, {"label": "1", "count": 1}, {"label": "one", "count": 1}]


def test_sparse_files_count_alike(parts, capsys):
    (parts / "a.svm").write_text("1 1:1 2:3\n-1 1:2\n")
    (parts / "b.svm").write_text("1 0:1 4:3\n-1 0:2\n")
    found = told(capsys, "check", parts / "a.svm", parts / "b.svm", "--json")
    assert found["columns"] == 5
    (parts / "whole.svm").write_text((parts / "a.svm").read_text() + (parts / "b.svm").read_text())
    assert without_own(found) == without_own(told(capsys, "check", parts / "whole.svm", "--json"))


def test_a_column_that_one_file_lacks_is_filled_in(parts, capsys):
    (parts / "a.csv").write_text("x,z,label\n1,,0\n2,,1\n")
    (parts / "b.csv").write_text("x,z,label\n3,5,1\n4,7,0\n")
    found = told(capsys, "fit", parts / "a.csv", parts / "b.csv", "--impute", "--json")
    assert found["columns_taken"]["filled_in"] == {"z": 2}
    assert "the value is missing in every row" in refused(capsys, "fit", parts / "a.csv", parts / "a.csv", "--impute")
