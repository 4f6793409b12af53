"""Files as they are in life, and what each command says about them: (file, command) -> (exit code, sentence).

The rows of a good table: two columns of numbers, which separate the labels.
"""

import io
import sqlite3

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from maxmargin.cli import main

ROWS = ["0,0,u", "0,2,u", "1,1,u", "4,0,v", "5,1,v", "5,3,v"]
GOOD = "\n".join(["a,b,y", *ROWS]) + "\n"


def csv_of(header, rows=ROWS):
    return "\n".join([header, *rows]) + "\n"


def with_column(name, words):
    """The good table with one more column, whose words come again and again."""
    cells = [f'"{words[row % len(words)]}"' for row in range(len(ROWS))]
    return csv_of(f"{name},a,b,y", [f"{cell},{row}" for cell, row in zip(cells, ROWS, strict=True)])


def parquet_of(names, *columns):
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_arrays([pa.array(column) for column in columns], names=names), stream)
    return stream.getvalue()


BACK = [5.0, 5.0, 4.0, 1.0, 0.0, 0.0]
NUMBERS = [0.0, 0.0, 1.0, 4.0, 5.0, 5.0]
LABELS = ["u", "u", "u", "v", "v", "v"]
MEASURES = "a,y\n" + "".join(f"{n},{n}.5\n" for n in range(30))
INDEXED = pd.DataFrame({"a": NUMBERS, "y": LABELS}).iloc[[0, 1, 3, 4]]
SENTENCES = [
    # Names.
    ("a,a,y.csv", csv_of("a,a,y"), ["check"], 1, "line 1: 2 columns are called 'a': 0 and 1 (counted from 0)"),
    ("a,a,y.csv", csv_of("a,a ,y"), ["fit"], 1, "2 columns are called 'a': 0 and 1"),
    ("a,a,y.csv", csv_of("a,a,y"), ["fit", "--ignore", "1"], 0, "6 rows x 1 columns"),
    ("words.csv", csv_of("c,c,b,y", [f"w,x,{row[2:]}" for row in ROWS]), ["check"], 1, "'c': 0 and 1"),
    ("mixed.csv", csv_of("a,a,c,y", [f"{row[:3]},w,{row[4:]}" for row in ROWS]), ["convert", "-o", "-"], 1, "0 and 1"),
    ("label.csv", csv_of("y,b,y"), ["fit", "--label", "2"], 1, "2 columns are called 'y': 0 and 2"),
    ("label.csv", csv_of("a,y,y"), ["fit", "--label", "y"], 1, "2 columns are called 'y'. Say which one"),
    ("2,1,0.csv", csv_of("2,1,0"), ["fit", "--label", "2"], 1, "count from the end, -3 or -1"),
    ("2,1,0.csv", csv_of("2,1,0"), ["fit", "--label", "-1"], 0, "6 rows x 2 columns"),
    ("7,8,9.csv", csv_of("7,8,9"), ["fit", "--label", "9"], 0, "6 rows x 2 columns"),
    ("two.parquet", parquet_of(["a", "a", "y"], NUMBERS, BACK, LABELS), ["fit", "--label", "y"], 1, "'a': 0 and 1"),
    ("dots.parquet", parquet_of(["a.b", "a", "y"], BACK, NUMBERS, LABELS), ["check", "--label", "y"], 0, "Verified"),
    ("index.parquet", INDEXED, ["fit", "--label", "y"], 1, "column '__index_level_0__': it had no name when"),
    ("index.parquet", INDEXED, ["fit", "--label", "y", "--ignore", "__index_level_0__"], 0, "4 rows x 1 columns"),
    ("again.csv", csv_of("Unnamed: 0,b,y"), ["fit"], 1, "row numbers that were saved with the table?"),
    # Numbers in another notation.
    ("comma.csv", with_column("c", ["1,5", "2,5"]), ["fit"], 1, "column 'c' holds '1,5' and its like"),
    ("comma.csv", with_column("c", ["1,5", "2,5"]), ["check"], 1, "write a decimal point; --categorical c"),
    ("comma.csv", with_column("c", ["1,5", "2,5"]), ["fit", "--categorical", "c"], 0, "c: 2 categories"),
    ("semicolon.csv", "a;y\n1,5;u\n2,5;u\n7;v\n", ["fit"], 1, "began with text, '1,5'; write a decimal point"),
    ("thousands.csv", with_column("c", ["1,234"]), ["path"], 1, "decimal comma or a separator of thousands"),
    ("thousands.csv", with_column("c", ["7", "1,234"]), ["fit"], 1, "decimal comma or a separator of thousands"),
    ("thousands.csv", with_column("c", ["1,234,567"]), ["fit"], 1, "leave the separators out"),
    ("german.csv", with_column("c", ["1.234,50"]), ["compare"], 1, "write a decimal point and no separators"),
    ("swiss.csv", with_column("c", ["1'234", "12'500.5"]), ["fit"], 1, "leave the separators out"),
    ("percent.csv", with_column("c", ["12%", "7.5 %"]), ["scale"], 1, "leave the per cent sign out"),
    ("percent.csv", with_column("c", ["5", "12%"]), ["fit"], 1, "'12%' is not a number; leave the per cent sign out"),
    ("money.csv", with_column("c", ["$5", "$1,200"]), ["fit"], 1, "leave the sign of the currency out"),
    ("dates.csv", with_column("c", ["2024-01-31", "2024-02-01"]), ["fit"], 1, "a date or a time becomes a number"),
    ("dates.csv", with_column("c", ["31.1.2024", "1/2/2024"]), ["fit"], 1, "a date or a time becomes a number"),
    ("times.csv", with_column("c", ["10:30", "9:15:00"]), ["fit"], 1, "a date or a time becomes a number"),
    ("text.parquet", parquet_of(["a", "y"], ["1.5", "2"] * 3, LABELS), ["fit", "--label", "y"], 1, "kept as text"),
    ("words.csv", with_column("c", ["2-door", "red 5", "x"]), ["fit"], 0, "c: 3 categories"),
    # Labels.
    ("na.csv", GOOD.replace("5,3,v", "5,3,NA"), ["fit"], 1, "line 7, column 'y': the label 'NA' says that it"),
    ("na.csv", GOOD.replace("5,3,v", "5,3,?"), ["check"], 1, "the label '?' says that it is missing"),
    ("na.csv", GOOD.replace("5,3,v", "5,3,None"), ["path"], 1, "the label 'None' says that it is missing"),
    ("none.csv", GOOD.replace(",v", ",none"), ["fit"], 0, "'none' (3)"),
    ("na.parquet", parquet_of(["a", "y"], NUMBERS, [*LABELS[:5], None]), ["fit", "--label", "y"], 1, "label is miss"),
    ("na.parquet", parquet_of(["a", "y"], NUMBERS, [*LABELS[:5], "NA"]), ["fit", "--label", "y"], 1, "'NA' says"),
    ("measure.csv", MEASURES, ["fit"], 1, "Is it a measure and not a class?"),
    ("measure.csv", MEASURES, ["compare"], 1, "30 different labels in 30 rows"),
    # The rest.
    ("bars.csv", GOOD.replace(",", "|"), ["fit"], 1, "if a bar is between its cells, write a comma instead"),
    ("spaces.csv", GOOD.replace(",", " "), ["fit"], 1, "if a space is between its cells, write a comma instead"),
    ("excel.csv", "sep=;\n" + GOOD.replace(",", ";"), ["fit"], 1, "line 1: the line tells a spreadsheet the delimiter"),
    ("comment.csv", "# made by hand\n" + GOOD, ["fit"], 1, "line 1: a comment is no part of a CSV file"),
    ("header.csv", "a,b,y\n", ["fit"], 1, "there is a header but no row of data"),
    ("huge.svm", "1 1:1\n-1 4000000000:2\n", ["fit"], 1, "line 2: the index 4000000000 makes 4,000,000,000 columns"),
    ("huge.svm", "1 1:1\n-1 4000000000:2\n", ["check"], 1, "--n-features 4000000000"),
    ("bare.svm", "1:1 2:1\n", ["fit"], 1, "the label is missing; put 0 where it is not known"),
    ("good.csv", GOOD, ["fit", "--zero-based"], 1, "--zero-based and --one-based are for these"),
    ("ids.csv", "id,y\n1,u\n2,v\n", ["fit", "--id", "id"], 1, "nothing to learn from"),
    ("ids.csv", "id,y\n1,u\n2,v\n", ["check", "--id", "id"], 1, "nothing to learn from"),
    ("gap.svm", "1 1:1\n-1 2:1\n", ["fit", "--impute"], 1, "what is not written is 0: leave out --impute"),
    ("gap.csv", GOOD.replace("5,3", "5,"), ["fit"], 1, "(--impute fills such cells in)"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "command", "code", "part"), SENTENCES)
def test_a_sentence_for_each(name, content, command, code, part, tmp_path, capsys):
    path = tmp_path / name
    if isinstance(content, pd.DataFrame):
        content.to_parquet(path)
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert main([command[0], str(path), *command[1:]]) == code
    shown = capsys.readouterr()
    assert part in (shown.err if code else shown.out + shown.err)
    assert "--impute" not in shown.err or "gap" in name
    if code:
        assert shown.out == ""
        assert shown.err.count("\n") == 1 + shown.err.count("taken to count from 1")


def test_a_column_that_is_missing_everywhere_cannot_be_filled_in(write, fail):
    message = fail("fit", write("a,b,y\n,1,u\n,2,v\n"), "--impute")
    assert "the value is missing in every row; ignore the column" in message
    assert "fills such cells in" not in message


@pytest.fixture
def model(write, tmp_path, capsys):
    def fitted(content=GOOD, name="good.csv", *options):
        path = str(tmp_path / f"{name}.model")
        assert main(["fit", write(content, name), *options, "-o", path]) == 0
        capsys.readouterr()
        return path

    return fitted


PREDICTIONS = [
    ("a,b,a\n1,1,9\n", 1, "2 columns are called 'a': 0 and 2"),
    ("b,a\n3,5\n0,0\n", 0, "v\nu\n"),
    ("note,b,note,a\nx,3,y,5\n", 0, "v\n"),
    ("A,b\n5,3\n", 1, "has no column 'a', which the model was fitted on; it has 'A': names must be the same"),
    ("b\n5\n", 1, "has no column 'a', which the model was fitted on\n"),
    ("a,b\n", 0, ""),
    ("a,c\n", 1, "has no column 'b'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "answer"), PREDICTIONS)
def test_a_cell_comes_from_the_place_that_its_name_says(text, code, answer, model, write, capsys):
    assert main(["predict", model(), write(text, "new.csv")]) == code
    shown = capsys.readouterr()
    assert answer in (shown.err if code else shown.out)
    assert code or shown.out == answer


def test_a_file_without_rows_is_an_empty_answer(model, write, run, tmp_path, capsys):
    path = model()
    assert run("predict", path, write("a,b\n", "none.csv"))[1]["labels"] == []
    assert run("predict", path, write("id,a,b,y\n", "none.csv"), "--id", "id", "--label", "y")[1]["accuracy"] is None
    pd.DataFrame({"a": np.zeros(0), "b": np.zeros(0)}).to_parquet(tmp_path / "none.parquet", index=False)
    for options in ([], ["--scores"], ["--id", "a"]):
        with_id = model(GOOD, "one.csv", "--ignore", "a") if "--id" in options else path
        capsys.readouterr()
        assert main(["predict", with_id, str(tmp_path / "none.parquet"), *options]) == 0
        assert capsys.readouterr().out == ""


def test_columns_without_names_go_by_their_order_and_their_number(model, write, capsys):
    bare = "".join(f"{row[4:]},{row[:3]}\n" for row in ROWS)  # the label in front
    path = model(bare, "bare.csv", "--no-header", "--label", "0")

    def predict(text, *options):
        code = main(["predict", path, write(text, "new.csv"), "--no-header", *options])
        shown = capsys.readouterr()
        return shown.out.split() if code == 0 else shown.err

    assert predict("0,0\n5,3\n") == ["u", "v"]  # no label: the same two columns
    assert predict("v,0,0\nu,5,3\n", "--label", "0") == ["u", "v"]
    assert predict("0,0,v\n5,3,u\n", "--label", "2") == ["u", "v"]
    assert predict("0,9,0\n5,9,3\n", "--ignore", "1") == ["u", "v"]
    assert "there are 3 columns without names" in predict("0,0,9\n5,3,9\n")  # which two?
    assert main(["predict", path, write("a,b\n0,0\n", "new.csv")]) == 1
    assert "the columns of the model had no names" in capsys.readouterr().err
    assert main(["predict", model(), write("0,0\n", "new.csv"), "--no-header"]) == 1
    assert "its columns have no names, and the model knows its columns by name: 'a', 'b'" in capsys.readouterr().err


def test_categories_without_names(model, write, capsys):
    rows = [f"{row[4:]},{'red' if row[4:] == 'u' else 'grey'},{row[:3]}" for row in ROWS]
    path = model("\n".join(rows) + "\n", "bare.csv", "--no-header", "--label", "0")
    assert main(["predict", path, write("red,0,0\ngrey,5,3\n", "new.csv"), "--no-header"]) == 0
    assert capsys.readouterr().out == "u\nv\n"


def test_indices_count_as_in_the_file_of_the_model(model, write, run, fail, tmp_path):
    rows = "1 0:2 2:1\n-1 1:3\n1 0:1 1:1\n-1 1:2 2:1\n"
    scores = {}
    for name, options in (("seen", []), ("said", ["--zero-based"])):
        path = model(rows, f"{name}.svm", *options)
        new = write("1 1:3\n-1 2:1\n", "new.svm")  # index 0 does not occur
        scores[name] = run("predict", path, new)[1]["scores"]
        assert run("predict", path, new, "--one-based")[1]["scores"] != scores[name]
    assert scores["seen"] == scores["said"]
    counted_from_1 = model(rows.replace("2:", "3:").replace("1:", "2:").replace("0:", "1:"), "ones.svm")
    assert "there is an index 0, but they count from 1" in fail("predict", counted_from_1, write(rows, "new.svm"))
    out = tmp_path / "again.svm"
    assert main(["convert", write(rows, "rows.svm"), str(out)]) == 0
    assert out.read_text() == rows


def test_a_model_of_indices_says_that_names_do_not_count(model, write, capsys, fail):
    path = model("1 1:2\n-1 2:3\n", "rows.svm", "--scale", "none")
    assert main(["predict", path, write("p,q\n2,0\n", "new.csv")]) == 0
    assert "the model knows no names: its 2 columns are those of the file, in their order" in capsys.readouterr().err
    assert "has 3 columns, but the model was fitted on 2" in fail("predict", path, write("p,q,r\n2,0,0\n", "new.csv"))
    assert "holds words; the model takes numbers only" in fail("predict", path, write("p,q\nx,0\n", "new.csv"))


def test_labels_are_compared_in_the_type_of_the_model(model, write, run, fail, tmp_path):
    numbers = model(GOOD.replace("u", "0").replace("v", "1"), "numbers.csv")
    codes = [("0", "1"), ("0.0", "1e0"), ("+0", "+1")]
    for low, high in codes:
        new = write(GOOD.replace("u", low).replace("v", high), "new.csv")
        assert run("predict", numbers, new, "--label", "y")[1]["accuracy"] == 1.0
        assert run("verify", numbers, new, "--label", "y")[1]["holds"]
    some = write(GOOD.replace("5,3,v", "5,3,unknown").replace("u\n", "0\n").replace("v\n", "1\n"), "some.csv")
    assert run("predict", numbers, some, "--label", "y")[1]["accuracy"] == pytest.approx(5 / 6)
    for command in ("verify", "audit"):
        assert "line 7: the label 'unknown' is none of the model's: 0, 1" in fail(
            command, numbers, some, "--label", "y"
        )
    truths = str(tmp_path / "truths.model")
    truth = parquet_of(["a", "y"], NUMBERS, [label == "v" for label in LABELS])
    assert run("fit", write(truth, "truth.parquet"), "--label", "y", "-o", truths)[0] == 0
    words = "a,y\n" + "".join(f"{x},{label == 'v'}\n" for x, label in zip(NUMBERS, LABELS, strict=True))
    assert run("verify", truths, write(words, "truth.csv"), "--label", "y")[1]["holds"]
    texts = model(GOOD.replace("u", "007").replace("v", "010"), "texts.csv")
    _, found = run("predict", texts, write(GOOD.replace("u", "007").replace("v", "7"), "new.csv"), "--label", "y")
    assert (found["labels"], found["accuracy"]) == (["007"] * 3 + ["010"] * 3, 0.5)


def test_a_feature_of_the_model_is_no_label(model, write, fail):
    assert "'b' cannot be asked for as something else" in fail("predict", model(), write(GOOD), "--label", "b")


def test_scaling_like_a_model_leaves_other_labels_as_they_are(model, write, capsys):
    new = write(GOOD.replace("u", "007").replace("v", "rose"), "new.csv")
    assert main(["scale", new, "--like", model(GOOD.replace("u", "1").replace("v", "2")), "-o", "-"]) == 0
    assert [line.rpartition(",")[2] for line in capsys.readouterr().out.split()] == ["y"] + ["007"] * 3 + ["rose"] * 3


def test_text_models_count_from_1(model, write, fail, tmp_path, capsys):
    rows = "1 0:2 2:1\n-1 1:3\n1 0:1 1:1\n-1 1:2 2:1\n"
    path, text = model(rows, "zero.svm", "--scale", "none"), str(tmp_path / "model.liblinear")
    assert main(["convert", path, text]) == 0
    assert "counts its columns from 1" in capsys.readouterr().err
    assert "there is an index 0, but they count from 1" in fail("predict", text, write(rows, "new.svm"))
    assert main(["predict", text, write(rows, "new.svm"), "--zero-based"]) == 0
    assert capsys.readouterr().out == "1\n-1\n1\n-1\n"


def test_a_label_that_nobody_knows_is_compared_with_nothing(model, write, capsys):
    path = model("1 1:2\n-1 2:3\n", "rows.svm")
    assert main(["predict", path, write("0 1:1\n0 2:1\n", "new.svm")]) == 0
    shown = capsys.readouterr()
    assert shown.out == "1\n-1\n"
    assert "all rows have labels that the model does not know, such as 0; nothing is compared" in shown.err
    assert "0.00%" not in shown.err


def test_a_query_with_two_columns_of_one_name(tmp_path, fail):
    with sqlite3.connect(tmp_path / "t.db") as database:
        database.execute("CREATE TABLE t (a REAL, b REAL, y TEXT)")
        database.executemany("INSERT INTO t VALUES (?, ?, ?)", [row.split(",") for row in ROWS])
    database.close()
    for address in ("sqlite", "duckdb"):
        if address == "duckdb":
            pytest.importorskip("duckdb").connect(tmp_path / "t.duckdb").execute(
                "CREATE TABLE t AS SELECT 1.0 AS a, 2.0 AS b, 'u' AS y"
            )
        file = tmp_path / {"sqlite": "t.db", "duckdb": "t.duckdb"}[address]
        query = "SELECT a, b AS a, y FROM t"
        assert "2 columns are called 'a': 0 and 1" in fail("fit", query, "--sql", f"{address}:{file}", "--label", "y")
