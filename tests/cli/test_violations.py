"""`maxmargin violations`: rows inside the street, mistakes, support vectors; and the distances that predict tells."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

import maxmargin
from maxmargin.cli import main
from maxmargin.reading.csv import read_csv

LINE = "x,label\n0,a\n1,a\n4,a\n3,b\n6,b\n7,b\n"


@pytest.fixture
def fitted(write, tmp_path, capsys):
    """C = 0.08 on a line: 0 1 3 4 6 7, of which 4 is an a and 3 is a b.

    The weights of 1, 4, 3 and 6 are at C, so w = C (-1 - 4 + 3 + 6) = 0.32, and by symmetry b = -3.5 w: 0 and 7 are
    outside of the street.
    """
    path, data = str(tmp_path / "model"), write(LINE)
    assert main(["fit", data, "--scale", "none", "-c", "0.08", "-e", "1e-9", "-o", path]) == 0
    capsys.readouterr()
    return path, data


def test_numbers_by_hand(fitted, run):
    code, found = run("violations", *fitted)
    assert code == 0
    (plane,) = found["planes"]
    assert (plane["plane"], plane["rows"], plane["inside"], plane["mistakes"]) == ("'b' against 'a'", 6, 2, 2)
    assert plane["slack"] == pytest.approx(2 * 0.2 + 2 * 1.16, rel=1e-6)
    assert [(row["line"], row["label"], row["kind"]) for row in found["rows"]] == [
        (3, "a", "inside"), (4, "a", "mistake"), (5, "b", "mistake"), (6, "b", "inside"),
    ]  # fmt: skip
    assert [row["slack"] for row in found["rows"]] == pytest.approx([0.2, 1.16, 1.16, 0.2], rel=1e-6)
    assert [row["distance"] for row in found["rows"]] == pytest.approx([2.5, -0.5, -0.5, 2.5], rel=1e-6)
    assert {(row["multiplier"], row["at"]) for row in found["rows"]} == {(0.08, "bound")}


def test_support_vectors_with_their_multipliers(write, run, tmp_path):
    """C = 1/4: 1 and 6 are on the edge of the street, so that w (6 - 3.5) = 1."""
    path, data = str(tmp_path / "model"), write(LINE)
    assert run("fit", data, "--scale", "none", "-c", "0.25", "-e", "1e-9", "-o", path)[0] == 0
    _, found = run("violations", path, data, "--support")
    assert [(row["line"], row["at"]) for row in found["rows"]] == [
        (3, "edge"), (4, "bound"), (5, "bound"), (6, "edge"),
    ]  # fmt: skip
    assert [row["multiplier"] for row in found["rows"]] == pytest.approx([0.13, 0.25, 0.25, 0.13], rel=1e-6)
    plane = found["planes"][0]
    assert (plane["support"], plane["at_the_edge"], plane["at_the_bound"]) == (4, 2, 2)


@pytest.mark.parametrize("options", [[], ["-t", "rbf"], ["--multi-class", "ovo"], ["--loss", "squared_hinge"]])
def test_as_python_measures_them_behind_the_steps(options, flowers, run, tmp_path):
    path = str(tmp_path / "model")
    assert run("fit", *flowers, *options, "-o", path)[0] == 0
    _, found = run("violations", path, flowers[0])
    model, table = maxmargin.load(path), read_csv(flowers[0], label="species")
    X = model[:-1].transform(pd.DataFrame(table.X, columns=table.feature_names))
    slack, svm = model[-1].slack(X, table.y), model[-1]
    expected = svm.violations(X, table.y)
    for number, plane in enumerate(found["planes"]):
        rows = [row for row in found["rows"] if row["plane"] == plane["plane"]]
        inside = [row["row"] for row in rows if row["kind"] == "inside"]
        mistakes = [row["row"] for row in rows if row["kind"] == "mistake"]
        assert inside == expected[number].inside.tolist()
        assert mistakes == expected[number].mistakes.tolist()
        assert [row["slack"] for row in rows] == slack[[row["row"] for row in rows], number].tolist()
        distances = svm.distances(X)[[row["row"] for row in rows], number]
        assert [abs(row["distance"]) for row in rows] == np.abs(distances).tolist()
        assert all((row["distance"] < 0.0) == (row["kind"] == "mistake") for row in rows)
    assert sum(plane["support"] for plane in found["planes"]) == int(svm.n_support_.sum())


def test_weights_of_classes_and_rows_are_in_the_bound(write, run, tmp_path):
    path = str(tmp_path / "model")
    text = "x,n,label\n0,1,a\n1,1,a\n4,3,a\n3,1,b\n6,1,b\n7,1,b\n"
    options = ["--weight", "n", "-w", "b=2", "--scale", "none", "-c", "0.01"]
    assert run("fit", write(text), *options, "-o", path)[0] == 0
    _, found = run("violations", path, write(text), "--support")
    bounds = {2: 0.01, 3: 0.01, 4: 0.03, 5: 0.02, 6: 0.02, 7: 0.02}  # C, times 3 in line 4, times 2 of each b
    assert all(row["multiplier"] <= bounds[row["line"]] * (1 + 1e-9) for row in found["rows"])
    at = {row["line"] for row in found["rows"] if row["at"] == "bound"}
    assert at == {row["line"] for row in found["rows"] if row["multiplier"] >= bounds[row["line"]] * (1 - 1e-6)}
    assert {2, 3, 4} <= at  # the a's weigh less together than the b's could


def test_other_data_have_no_multipliers(fitted, write, run, fail):
    other = write(LINE.replace("7,b", "5,b"), "other.csv")
    _, found = run("violations", fitted[0], other)
    assert [row["line"] for row in found["rows"]] == [3, 4, 5, 6, 7]
    assert {row["multiplier"] for row in found["rows"]} == {None}
    assert found["rows"][-1]["slack"] == pytest.approx(1 - 1.5 * 0.32, rel=1e-6)
    assert "is not what" in fail("violations", fitted[0], other, "--support")


def test_as_csv(fitted, tmp_path, capsys, fail):
    path = tmp_path / "rows.csv"
    assert main(["violations", *fitted, "-o", str(path)]) == 0
    assert "Written to" in capsys.readouterr().out
    assert main(["violations", *fitted, "-o", "-"]) == 0
    text = capsys.readouterr().out
    assert text == path.read_text()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["kind"] for row in rows] == ["inside", "mistake", "mistake", "inside"]
    assert float(rows[1]["slack"]) == pytest.approx(1.16, rel=1e-6)
    assert "ends in .csv" in fail("violations", *fitted, "-o", str(tmp_path / "rows.json"))
    assert "would be lost" in fail("violations", *fitted, "-o", fitted[1])


def test_for_people(fitted, capsys):
    assert main(["violations", *fitted]) == 0
    shown = capsys.readouterr().out
    assert "'b' against 'a': 2 of 6 rows inside the street, 2 mistakes, slack 2.72 in all" in shown
    assert "4 rows carry weight (66.7%): 0 below their bound, 4 at it" in shown


def test_nothing_pays(write, tmp_path, capsys):
    path, data = str(tmp_path / "model"), write("x,label\n0,a\n1,a\n5,b\n6,b\n")
    assert main(["fit", data, "-c", "inf", "-o", path]) == 0
    capsys.readouterr()
    other = write("x,label\n0,a\n6,b\n", "other.csv")
    assert main(["violations", path, other, "-o", "-"]) == 0
    assert capsys.readouterr().out == "row,line,label,plane,slack,distance,multiplier,at,kind\n"
    assert main(["violations", path, other]) == 0
    assert capsys.readouterr().out.endswith("0 of 2 rows inside the street, 0 mistakes, slack 0 in all\n")


def test_distances_of_predictions(fitted, run, capsys):
    _, found = run("predict", *fitted, "--distances")
    assert found["distances"] == pytest.approx([-3.5, -2.5, 0.5, -0.5, 2.5, 3.5], rel=1e-6)
    assert found["scores"] == pytest.approx([0.32 * distance for distance in found["distances"]], rel=1e-6)
    assert main(["predict", *fitted, "--scores", "--distances"]) == 0
    first = capsys.readouterr().out.splitlines()[0].split(",")
    assert first[0] == "a"
    assert [float(number) for number in first[1:]] == pytest.approx([-1.12, -3.5], rel=1e-6)
