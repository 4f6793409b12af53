"""A model remembers which columns were its label, its weight and its id: no command has to be told again."""

import numpy as np
import pytest

from maxmargin import model_info
from maxmargin.cli import main

TABLE = """plate,kg,doors,times,note,price
a1,900,3,1,x,low
a2,1000,5,2,x,low
a3,950,3,1,y,low
b1,1800,5,1,y,high
b2,2100,5,3,x,high
b3,1900,3,1,y,high
"""
ROLES = ["--label", "price", "--weight", "times", "--id", "plate", "--ignore", "note"]


@pytest.fixture
def data(write):
    return write(TABLE)


@pytest.fixture
def model(data, tmp_path, capsys):
    path = str(tmp_path / "model")
    assert main(["fit", data, *ROLES, "-c", "0.2", "-o", path]) == 0
    capsys.readouterr()
    return path


def test_the_file_keeps_them(model):
    assert dict(model_info(model).roles) == {"label": "price", "weight": "times", "id": "plate"}


def test_every_command_finds_its_columns(model, data, run, tmp_path):
    code, found = run("verify", model, data)
    assert (code, found["holds"], found["is_the_data_of_the_fit"]) == (0, True, True)
    code, found = run("audit", model, data)
    assert (code, found["is_the_data_of_the_fit"]) == (0, True)
    code, found = run("predict", model, data)
    assert (found["ids"], found["accuracy"]) == (["a1", "a2", "a3", "b1", "b2", "b3"], 1.0)
    assert run("violations", model, data)[1]["planes"][0]["rows"] == 6
    picture = tmp_path / "street.png"
    assert main(["plot", model, data, "-o", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_robustness_takes_the_weights_that_are_there(model, write, run):
    """A row of weight 0 may have any label; a table without weights will do."""
    measured = run("robustness", model, write(TABLE))[1]["distances"]
    unknown = write(TABLE + "c1,1500,4,0,x,unknown\n", "unknown.csv")
    code, found = run("robustness", model, unknown)
    assert (code, found["distances"], found["lines"]) == (0, measured, [2, 3, 4, 5, 6, 7])
    assert run("violations", model, unknown)[0] == 0
    code, found = run("robustness", model, write(TABLE.replace("times", "renamed"), "bare.csv"))
    assert (code, found["distances"]) == (0, measured)


def test_info_tells_them(model, run):
    assert run("info", model)[1]["columns_for"] == {"label": "price", "weight": "times", "id": "plate"}


def test_an_option_has_the_last_word(model, write, run):
    other = write(TABLE.replace("price", "cost").replace("times", "n"), "other.csv")
    code, found = run("verify", model, other, "--label", "cost", "--weight", "n")
    assert (code, found["is_the_data_of_the_fit"]) == (0, True)
    code, found = run("verify", model, write(TABLE), "--ignore", "times")
    assert (code, found["holds"]) == (2, False)


@pytest.mark.parametrize(("name", "holds"), [("price", "labels"), ("times", "weights")])
def test_a_column_that_is_missing_is_a_sentence(name, holds, model, write, fail):
    other = write(TABLE.replace(name, "renamed"), "other.csv")
    for command in ("verify", "audit", "violations"):
        said = fail(command, model, other)
        assert f"no column is called '{name}', as the {holds} of the fit were. Say which one holds the {holds}" in said
        assert "'renamed'" in said


def test_two_columns_of_the_name_are_a_doubt(model, write, fail):
    twice = write(TABLE.replace("note", "price"), "twice.csv")
    assert "2 columns are called 'price', as the labels of the fit were" in fail("verify", model, twice)


def test_predict_needs_none_of_them(model, write, capsys):
    rows = [line.split(",")[1:3] for line in TABLE.splitlines()]
    bare = write("\n".join(",".join(cells) for cells in rows) + "\n", "bare.csv")
    assert main(["predict", model, bare]) == 0
    captured = capsys.readouterr()
    assert captured.out.split() == ["low"] * 3 + ["high"] * 3
    assert captured.err == (
        f"maxmargin: {bare}: no column is called 'plate', which named the rows of the fit: they have no ids\n"
    )


def test_labels_that_are_not_whole_are_not_compared(model, write, type_in, capsys, fail):
    text = TABLE.replace("1,x,low", "1,x,")
    holes = write(text, "holes.csv")
    for source in (holes, "-"):
        type_in(text)
        assert main(["predict", model, source]) == 0
        captured = capsys.readouterr()
        assert [line.split(",")[1] for line in captured.out.split()] == ["low"] * 3 + ["high"] * 3
        assert "not every row has a label (line 2), so that they are not compared" in captured.err
    assert "line 2, column 'price'" in fail("predict", model, holes, "--label", "price")
    assert "line 2, column 'price'" in fail("verify", model, holes)


def test_the_label_that_was_guessed_is_remembered_too(write, run, tmp_path):
    path, data = str(tmp_path / "model"), write("a,y\n0,l\n1,l\n4,r\n5,r\n")
    run("fit", data, "-o", path)
    assert run("verify", path, write("y,a,target\nl,0,1\nl,1,1\nr,4,2\nr,5,2\n", "more.csv"))[0] == 0


def test_columns_without_names_go_by_their_places(write, run, tmp_path):
    path = str(tmp_path / "model")
    rows = "\n".join(TABLE.splitlines()[1:]) + "\n"
    data, options = write(rows), ["--no-header", "--ignore", "4"]
    code, _ = run("fit", data, *options, "--label", "-1", "--weight", "3", "--id", "0", "-o", path)
    assert (code, dict(model_info(path).roles)) == (0, {"label": "5", "weight": "3", "id": "0"})
    code, found = run("verify", path, data, *options)
    assert (code, found["is_the_data_of_the_fit"]) == (0, True)
    bare = write("\n".join(",".join(line.split(",")[1:3]) for line in rows.splitlines()), "bare.csv")
    assert run("predict", path, bare, "--no-header")[1]["labels"] == ["low"] * 3 + ["high"] * 3


def test_arrays_beside_a_sparse_matrix(run, tmp_path):
    from scipy import sparse

    path, data = str(tmp_path / "model"), tmp_path / "data.npz"
    X = sparse.csr_array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 2.0]])
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape, "format": b"csr"}
    np.savez(data, **parts, who=np.array(["a", "a", "b", "b"]), spare=np.zeros(4))
    code, found = run("fit", str(data), "--label", "who", "--ignore", "spare", "-o", path)
    assert (code, found["left_out"]["columns"]) == (0, {"spare": "as was asked"})
    assert run("verify", path, str(data), "--ignore", "spare")[1]["is_the_data_of_the_fit"] is True


def test_what_is_left_out_is_listed(write, run, capsys):
    rows = TABLE.replace("a3,950,3,1", "a3,950,3,0").replace("b3,1900,3,1,y,high", "b3,1900,3,0,y,odd")
    data = write(rows)
    code, found = run("fit", data, *ROLES)
    assert code == 0
    assert found["left_out"] == {
        "columns": {"plate": "it names the rows", "note": "as was asked"},
        "rows": [4, 7],
        "labels": ["odd"],
    }
    assert main(["fit", data, *ROLES]) == 0
    shown = capsys.readouterr().out
    assert "left out: column 'plate', it names the rows\n" in shown
    assert "left out: 2 rows of weight 0, line 4, 7\n" in shown
    assert "left out: the label 'odd', which only rows of weight 0 have\n" in shown


def test_a_label_of_rows_that_weigh_nothing_is_no_stranger(write, run, tmp_path):
    path, data = str(tmp_path / "model"), write(TABLE.replace("b3,1900,3,1,y,high", "b3,1900,3,0,y,odd"))
    assert run("fit", data, *ROLES, "-o", path)[0] == 0
    for command in ("verify", "audit"):
        code, found = run(command, path, data)
        assert (code, found["is_the_data_of_the_fit"]) == (0, True)
    assert run("violations", path, data)[1]["planes"][0]["rows"] == 5


def test_a_row_of_a_kernel_is_not_scaled(write, run, fail, tmp_path):
    path = str(tmp_path / "model")
    X, y = np.array([[0.0, 0], [0, 2], [3, 0], [5, 1]]), ["l", "l", "r", "r"]
    rows = [",".join([*map(str, row), label]) for row, label in zip((X @ X.T).tolist(), y, strict=True)]
    data = write("a,b,c,d,y\n" + "\n".join(rows) + "\n")
    code, found = run("fit", data, "-t", "precomputed", "-c", "inf", "-o", path)
    assert (code, found["scaling"]) == (0, None)
    assert found["certificate"]["n_rows"] == 4
    assert found["certificate"]["primal"] == pytest.approx(1 / (2 * 1.5**2), rel=1e-3)  # the street is 3 wide
    assert run("verify", path, data)[0] == 0
    assert "its values are taken as they are" in fail("fit", data, "-t", "precomputed", "--scale", "standard")
    words = write("a,b,y\n1,x,l\n2,y,r\n", "words.csv")
    assert "column 'b' holds words; a precomputed kernel is a table of numbers" in fail(
        "fit", words, "-t", "precomputed"
    )


def test_steps_are_those_of_the_estimator(flowers, run, fail):
    options = ["--algorithm", "stochastic", "--set", "max_iter=3", "-e", "0.9"]
    _, usual = run("fit", *flowers, *options)
    assert usual["parameters"]["step"] == "pegasos"
    for text, step in (("0.01", 0.01), ("0.1/sqrt(t)", "0.1/sqrt(t)"), ("damped", "damped")):
        _, found = run("fit", *flowers, *options, "--step", text, "--average")
        assert (found["parameters"]["step"], found["parameters"]["average"]) == (step, True)
        assert found["certificate"]["parts"][0]["w"] != usual["certificate"]["parts"][0]["w"]
    assert "step must be" in fail("fit", *flowers, *options, "--step", "1/log(t)")
    assert "--step has no meaning for LinearSVM" in fail("fit", *flowers, "--step", "damped")
    assert "--average has no meaning for LinearSVM" in fail("fit", *flowers, "--average")
