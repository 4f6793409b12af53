"""`maxmargin robustness` and `maxmargin leave-one-out`: distances, curves and errors by their numbers."""

import csv
import io

import numpy as np
import pytest

from maxmargin import LinearSVM, leave_one_out, load, robustness
from maxmargin.cli import main
from maxmargin.reading.csv import read_csv

STREET = "name,a,b,label\np,0,0,left\nq,0,2,left\nr,3,0,right\ns,5,1,right\n"
LINE = "x,label\n0,a\n1,a\n4,a\n3,b\n6,b\n7,b\n"


@pytest.fixture
def street(write, tmp_path, capsys):
    path, data = str(tmp_path / "model"), write(STREET)
    assert main(["fit", data, "--id", "name", "-c", "inf", "-o", path]) == 0
    capsys.readouterr()
    return path, data


def test_distances_are_those_of_the_file_behind_a_scaler(write, run, tmp_path):
    """The widest street on a line is between 10 and 40, however the column is scaled."""
    path, data = str(tmp_path / "model"), write("x,label\n0,a\n10,a\n40,b\n70,b\n")
    assert run("fit", data, "-c", "inf", "-o", path)[1]["scaling"] == "StandardScaler"
    code, found = run("robustness", path, data)
    assert (code, found["is_exact"], found["columns"]) == (0, True, "the columns of the file")
    assert found["distances"] == pytest.approx([25, 15, 15, 45], rel=1e-6)
    assert found["curve"]["radii"][0] == 0.0
    assert found["curve"]["accuracy"][0] == found["accuracy"] == 1.0
    _, found = run("robustness", path, data, "--radii", "20,14")
    assert (found["curve"]["radii"], found["curve"]["accuracy"]) == ([14.0, 20.0], [1.0, 0.5])


def test_the_same_as_python(flowers, run, tmp_path):
    path = str(tmp_path / "model")
    assert run("fit", *flowers, "-o", path)[0] == 0
    table = read_csv(flowers[0], label="species")
    model = load(path)
    for step in model.named_steps.values():
        vars(step).pop("feature_names_in_", None)
    for norm in ("l2", "linf"):
        _, found = run("robustness", path, flowers[0], "--norm", norm)
        assert found["distances"] == robustness(model, table.X, table.y, norm=norm).distances.tolist()


def test_columns_that_the_model_makes(write, run, tmp_path):
    path = str(tmp_path / "model")
    data = write("kg,colour,label\n1,red,a\n2,red,a\n7,blue,b\n8,red,b\n")
    assert run("fit", data, "-o", path)[0] == 0
    _, found = run("robustness", path, data)
    assert found["columns"] == "the columns that the model makes of those of the file"
    assert min(found["distances"]) > 0.0


def test_the_curve_as_csv_and_as_a_picture(street, tmp_path, capsys, fail):
    assert main(["robustness", *street, "-o", "-"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    accuracy = [float(row["accuracy"]) for row in rows]
    assert (accuracy[0], accuracy[-1]) == (1.0, 0.0)
    assert accuracy == sorted(accuracy, reverse=True)
    picture = tmp_path / "curve.png"
    assert main(["robustness", *street, "-o", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    shown = capsys.readouterr().out
    assert "4 of 4 rows are classified right" in shown
    assert "stay right, at least" in shown
    assert "ends in .csv" in fail("robustness", *street, "-o", str(tmp_path / "curve.txt"))
    assert "norm='l3' is not known" in fail("robustness", *street, "--norm", "l3")
    assert "--radii must be numbers" in fail("robustness", *street, "--radii", "a,b")


def test_leave_one_out_by_hand(write, run):
    """Without it, 4 is beyond the plane of the others, and so is 3: they are mistakes already."""
    code, found = run("leave-one-out", write(LINE), "--scale", "none", "--folds", "0")
    assert (code, found["error_lower"], found["error_upper"]) == (0, 2 / 6, 2 / 6)
    assert [(row["line"], row["label"], row["answer"]) for row in found["rows"]] == [
        (4, "a", "wrong"),
        (5, "b", "wrong"),
    ]
    assert found["cross_validated"] is None


def test_leave_one_out_is_that_of_python(flowers, run, tmp_path):
    table = read_csv(flowers[0], label="species")
    y = (table.y == "crocus").astype(int)
    path = tmp_path / "rows.csv"
    options = ["--positive", "crocus", "--scale", "none", "-c", "0.1", "-w", "1=2"]
    code, found = run("leave-one-out", *flowers, *options, "-o", str(path))
    expected = leave_one_out(LinearSVM(C=0.1, class_weight={0: 1.0, 1: 2.0}), table.X, y)
    assert code == (0 if expected.is_exact else 2)
    assert (found["error_lower"], found["error_upper"]) == (expected.error_lower, expected.error_upper)
    assert found["cross_validated"] == expected.cross_validated
    wrong = [row["row"] for row in found["rows"] if row["answer"] == "wrong"]
    assert wrong == expected.wrong.tolist()
    assert len(path.read_text().splitlines()) == 1 + len(found["rows"])


def test_one_fit_leaves_rows_open_and_is_code_2(write, run, capsys):
    code, found = run("leave-one-out", write(LINE), "--scale", "none", "--one-fit", "--folds", "0")
    assert (code, found["refits"]) == (2, 0)
    assert found["error_lower"] == 2 / 6 < found["error_upper"]
    assert main(["leave-one-out", write(LINE), "--one-fit"]) == 2
    assert "undecided" in capsys.readouterr().out


def test_the_hard_margin_and_data_without_one(write, run):
    code, found = run("leave-one-out", write("x,y\n0,a\n1,a\n2,a\n5,b\n6,b\n7,b\n"), "-c", "inf", "--folds", "0")
    assert (code, found["error_upper"], found["refits"]) == (0, 0.0, 2)
    code, found = run("leave-one-out", write(LINE), "-c", "inf")
    assert (code, found["exit_code"], found["verification"]["holds"]) == (3, 3, True)
    weights = np.array([row["weight"] for row in found["carrying_rows"]])
    assert len(weights) >= 2
    assert "separable" in found["error"]


def test_three_labels_are_a_sentence(flowers, fail):
    assert "leave_one_out takes two labels" in fail("leave-one-out", *flowers)


def test_one_fold_is_none(write, fail):
    said = fail("leave-one-out", write(LINE), "--folds", "1")
    assert "--folds 1 leaves no row to fit to: give 2 or more, or 0 for no cross-validated error" in said
    with pytest.raises(ValueError, match="cv=1 is no number of folds: give 2 or more"):
        leave_one_out(LinearSVM(), [[0], [1], [4], [5]], [0, 0, 1, 1], cv=1)
