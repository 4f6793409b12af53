"""Columns that are no numbers, cells that are missing, rows that have names: from the file to the answer and back."""

import pandas as pd
import pytest

import maxmargin
from maxmargin.cli import main

HEADER = "name,age,colour,grade,review,good\n"
ROWS = [
    "w0,9,red,1,lovely and deep,yes",
    "w1,2,white,2,thin and sour,no",
    "w2,8,red,3,lovely fresh wine,yes",
    "w3,1,pink,1,sour wine,no",
    "w4,7,white,1,deep wine,yes",
    "w5,3,pink,3,thin wine,no",
]
TABLE = HEADER + "\n".join(ROWS) + "\n"
GAPS = TABLE.replace("w1,2,", "w1,,").replace("w3,1,pink", "w3,NA,").replace("thin wine", "")
KINDS = ["--label", "good", "--id", "name", "--categorical", "grade", "--text", "review"]


@pytest.fixture
def model(write, tmp_path, capsys):
    path = str(tmp_path / "model")
    assert main(["fit", write(TABLE), *KINDS, "-o", path]) == 0
    capsys.readouterr()
    return path


def test_what_was_done_is_told(write, capsys):
    assert main(["fit", write(GAPS), *KINDS, "--impute"]) == 0
    shown = capsys.readouterr().out
    for part in (
        "6 rows x 4 columns",
        "columns of numbers scaled by StandardScaler",
        "colour: 3 categories, a column for each",
        "grade: 3 categories",
        "review: text, its words hashed into 16,384 columns",
        "age: 2 missing cells filled in with the mean",
        "colour: 1 missing cell filled in with the most frequent category",
    ):
        assert part in shown


@pytest.mark.parametrize("options", [[], ["--scale", "none"], ["-t", "rbf"], ["--impute", "--scale", "minmax"]])
def test_the_same_is_done_by_every_command(options, write, run, tmp_path):
    path, data = str(tmp_path / "model"), write(GAPS if "--impute" in options else TABLE)
    code, found = run("fit", data, *KINDS, *options, "-o", path)
    assert (code, found["columns_taken"]["categories"]) == (0, {"colour": 3, "grade": 3})
    assert run("verify", path, data, "--label", "good")[1]["is_the_data_of_the_fit"] is True
    code, audited = run("audit", path, data, "--label", "good")
    assert (code, audited["is_the_data_of_the_fit"]) == (0, True)
    assert audited["excess"] <= found["relative_gap"] + 1e-5
    code, found = run("predict", path, data, "--label", "good", "--id", "name")
    assert (code, found["accuracy"], found["ids"]) == (0, 1.0, ["w0", "w1", "w2", "w3", "w4", "w5"])


def test_columns_are_found_by_name_and_others_passed_over(model, write, run):
    frame = pd.DataFrame([row.split(",") for row in ROWS], columns=HEADER.strip().split(","))
    frame["age"] = frame["age"].astype(float)
    other = frame[["review", "grade", "colour", "age"]].assign(note=[None, "a", 1, 2, 3, 4])
    other.to_csv(path := write("", "other.csv"), index=False)
    labels = frame["good"].tolist()
    assert run("predict", model, path)[1]["labels"] == labels
    assert maxmargin.load(model).predict(other).tolist() == labels


def test_parquet_is_read_as_csv_is(model, run, tmp_path):
    frame = pd.DataFrame([row.split(",") for row in ROWS], columns=HEADER.strip().split(","))
    frame = frame.astype({"age": float, "grade": int})
    frame.to_parquet(path := str(tmp_path / "data.parquet"))
    assert run("verify", model, path, "--label", "good")[1]["is_the_data_of_the_fit"] is True


def test_a_category_that_the_fit_has_not_seen_counts_as_none(model, write, capsys):
    new = write(TABLE.replace("red", "mauve"), "new.csv")
    assert main(["predict", model, new, "--id", "name"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[1] == "w1,no"
    told = "column 'colour': 2 of 6 rows hold categories that the fit has not seen, such as 'mauve'"
    assert told in captured.err
    unknown = pd.DataFrame({"age": [1.0], "colour": ["mauve"], "grade": ["1"], "review": [""]})
    assert maxmargin.load(model)[0].transform(unknown).toarray()[0, 1:7].tolist() == [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]


def test_ids_stand_before_labels_and_scores(model, write, capsys):
    quoted = write(TABLE.replace("w0", '"w,0"'))
    assert main(["predict", model, quoted, "--id", "name", "--scores"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith('"w,0",yes,')
    assert float(first.rpartition(",")[2]) > 0


def test_missing_cells_are_refused_with_their_column(write, fail, model):
    missing = write(TABLE.replace("w1,2,", "w1,,"), "missing.csv")
    assert "missing.csv, line 3, column 'age': the cell is empty" in (message := fail("fit", missing, *KINDS))
    assert "--impute fills such cells in" in message
    assert "column 'age'" in (message := fail("predict", model, missing))
    assert "fitted without --impute" in message
    no_colour = write(TABLE.replace("pink", ""), "no_colour.csv")
    assert "line 5, column 'colour'" in fail("fit", no_colour, *KINDS)
    assert "the label is missing" in fail("fit", write(TABLE.replace("sour,no", "sour,")), *KINDS, "--impute")
    nothing = write("a,b,y\n,1,u\nNA,2,v\n", "nothing.csv")
    assert "column 'a': the value is missing in every row" in fail("fit", nothing, "--impute")


def test_words_that_are_many_must_be_said_to_be_something(write, run, fail):
    rows = "".join(f"{i},word{i},{'a' if i < 60 else 'b'}\n" for i in range(120))
    data = write("x,many,y\n" + rows)
    message = fail("fit", data)
    assert "column 'many' holds 120 different words, more than 100" in message
    assert "--categorical many" in message
    assert run("fit", data, "--categorical", "many")[1]["columns_taken"]["categories"] == {"many": 120}
    assert run("fit", data, "--text", "1")[1]["columns_taken"]["text"] == {"many": 16384}


def test_slips_are_refused_with_their_place(write, fail, model):
    assert "line 3, column 'x': 'abc' is not a number" in fail("fit", write("x,y\n1,a\nabc,b\n"))
    assert "line 3, column 'x': '7' is a number, but the column began with text" in fail(
        "fit", write("x,y\nabc,a\n7,b\n")
    )
    assert "column 'age': 'old' is not a number" in fail("predict", model, write(TABLE.replace(",9,", ",old,")))
    assert "has no column 'age', 'grade'" in fail("predict", model, write("colour,review\nred,good\n"))
    assert "asked for twice" in fail("fit", write(TABLE), *KINDS, "--ignore", "grade")
    assert "no column is called 'shade'" in fail("fit", write(TABLE), "--label", "good", "--text", "shade")


def test_questions_about_tables_with_words(write, run, tmp_path, capsys):
    data = write(TABLE)
    assert run("check", data, *KINDS)[1]["separable"] is True
    assert run("path", data, *KINDS, "--Cs", "1")[0] == 0
    out = tmp_path / "out.csv"
    assert main(["scale", data, "--label", "good", "--id", "name", "--ignore", "review", "-o", str(out)]) == 0
    header, first, *_ = out.read_text().splitlines()
    assert header == "name,age,grade,colour=pink,colour=red,colour=white,good"
    assert first.startswith("w0,1.28")
    assert main(["convert", data, "--label", "good", "--ignore", "review", "--weight", "grade", "-o", str(out)]) == 0
    assert out.read_text().splitlines()[0].endswith("name=w5,colour=pink,colour=red,colour=white,grade,good")
    assert "no place for --id" in main_fails(capsys, "convert", data, *KINDS, "-o", str(tmp_path / "out.svm"))


def main_fails(capsys, *arguments):
    capsys.readouterr()
    assert main(list(arguments)) == 1
    return capsys.readouterr().err


def test_weights_in_every_command(write, run):
    data = [write("x,w,y\n0,1,a\n1,2,b\n2,0,a\n3,1,b\n"), "--weight", "w"]
    assert run("check", *data)[1]["separable"] is True  # the row that is in the way has weight 0
    assert run("check", data[0], "--ignore", "w")[1]["separable"] is False
    code, found = run("compare", *data, "--max-time", "1")
    assert code == 0
    assert "perceptron" not in [one["algorithm"] for one in found["algorithms"]]


def test_how_many_columns_a_sparse_file_has(write, run, fail, tmp_path):
    path, data = str(tmp_path / "model"), write("1 1:1 3:2\n-1 2:1\n", "data.svm")
    assert run("fit", data, "--n-features", "5", "-o", path)[1]["columns"] == 5
    assert run("predict", path, data, "--n-features", "5")[0] == 0
    assert run("verify", path, data)[0] == 0
    assert "index 3 is beyond the 2 columns" in fail("check", data, "--n-features", "2")
    assert "leave out id" in fail("fit", data, "--id", "0")
