"""`maxmargin fit`, `predict`, `verify` and `info` on real files: what is told, what is written, every exit code."""

import json

import numpy as np
import pandas as pd
import pytest

import maxmargin.persistence
from maxmargin import LinearSVM
from maxmargin.cli import main
from maxmargin.data.synthetic import overlapping
from maxmargin.reading.csv import read_csv

STREET = "a,b,label\n0,0,left\n0,2,left\n3,0,right\n5,1,right\n"
CROSSED = "a,b,label\n1,1,a\n-1,-1,a\n1,-1,b\n-1,1,b\n"


@pytest.fixture
def model(flowers, tmp_path, capsys):
    path = str(tmp_path / "flowers.safetensors")
    assert main(["fit", *flowers, "-o", path]) == 0
    capsys.readouterr()
    return path


def test_one_screen(flowers, tmp_path, capsys):
    path = str(tmp_path / "model")
    assert main(["fit", *flowers, "-o", path]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    for part in ("150 rows x 4 columns", "StandardScaler", "'aster' against the rest", "optimal", f"Written to {path}"):
        assert part in captured.out
    assert "Verified in float64, rounding included: all 3 planes." in captured.out
    assert len(captured.out.splitlines()) < 24


def test_of_very_many_planes_a_table_has_those_of_which_least_is_proven(tmp_path, capsys):
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(13), 4)
    X = random.normal(size=(13, 3))[y] + 0.2 * random.normal(size=(52, 3))
    path = tmp_path / "many.csv"
    path.write_text("a,b,c,y\n" + "\n".join(f"{a},{b},{c},{k}" for (a, b, c), k in zip(X.tolist(), y, strict=True)))
    assert main(["fit", str(path), "--label", "y", "--set", "multi_class=ovo"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("60 of 78 planes: of no other is less proven. --json tells of all." in line for line in lines)
    assert sum(" against " in line for line in lines) == 60
    assert any("all 78 planes." in line for line in lines)


def test_the_file_loads_in_python(model, flowers):
    table = read_csv(flowers[0], label="species")
    pipeline = maxmargin.persistence.load(model)
    frame = pd.DataFrame(table.X, columns=table.feature_names)
    assert pipeline.score(frame, table.y) > 0.9
    scaled = pipeline[:-1].transform(frame)
    assert pipeline[-1].certificate_.verify(scaled, table.y)


def test_two_labels_get_the_whole_report(write, capsys):
    assert main(["fit", write(STREET), "--label", "label", "--scale", "none", "-c", "10", "--exact"]) == 0
    shown = capsys.readouterr().out
    assert "Optimal: no plane has a lower objective" in shown
    assert "Verified in exact rational arithmetic" in shown
    assert "100.00% of these rows get their own label" in shown
    assert "Written" not in shown


def test_for_machines(write, run, tmp_path):
    path = str(tmp_path / "model")
    code, found = run("fit", write(STREET), "--label", "label", "-o", path, "-e", "1e-6")
    assert code == found["exit_code"] == 0
    assert (found["algorithm"], found["scaling"], found["model"]) == ("LinearSVM", "StandardScaler", path)
    assert found["parameters"]["tol"] == 1e-6
    assert found["relative_gap"] <= 1e-6
    assert found["verdicts"] == ["OPTIMAL"]
    assert found["verification"]["holds"] is True
    assert found["status"] == ["PROVEN"]


@pytest.mark.parametrize(
    ("options", "algorithm"),
    [
        (["--algorithm", "hard-margin"], "HardMarginSVM"),
        (["-c", "inf"], "LinearSVM"),
        (["--algorithm", "perceptron"], "Perceptron"),
        (["--algorithm", "margin-perceptron"], "MarginPerceptron"),
        (["--algorithm", "winnow"], "Winnow"),
        (["--algorithm", "stochastic", "-e", "0.5"], "StochasticSVM"),
        (["-t", "2", "-g", "0.5"], "KernelSVM"),
        (["-t", "poly", "-d", "2", "-r", "1", "-c", "inf"], "KernelSVM"),
        (["--loss", "squared_hinge", "-w", "left=2", "--multi-class", "ovo"], "LinearSVM"),
        (["-w", "balanced", "--no-bias"], "LinearSVM"),
    ],
    ids=["hard", "inf", "perceptron", "margin", "winnow", "stochastic", "rbf", "poly", "squared", "balanced"],
)
def test_every_algorithm_is_kept_and_verified(options, algorithm, write, run, tmp_path):
    path, data = str(tmp_path / "model"), [write(STREET), "--label", "label"]
    code, found = run("fit", *data, "-o", path, *options)
    assert (code, found["algorithm"]) == (0, algorithm)
    code, found = run("verify", path, *data)
    assert (code, found["holds"], found["is_the_data_of_the_fit"]) == (0, True, True)
    code, found = run("predict", path, *data)
    assert (code, found["labels"], found["accuracy"]) == (0, ["left", "left", "right", "right"], 1.0)


def test_kernel_parameters_arrive(write, run):
    _, found = run("fit", write(STREET), "--label", "label", "-t", "1", "-g", "0.5", "-d", "2", "-r", "1.5", "-c", "3")
    wanted = {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.5, "C": 3.0}
    assert wanted.items() <= found["parameters"].items()


def test_not_separable_is_code_3_and_writes_nothing(write, run, tmp_path):
    path = tmp_path / "model"
    code, found = run("fit", write(CROSSED), "-o", str(path), "-c", "inf")
    assert (code, found["verdicts"], found["model"]) == (3, ["NOT_SEPARABLE"], None)
    assert not path.exists()


def test_an_early_end_is_a_sentence_on_stderr_in_the_words_of_the_command(flowers, capsys):
    assert main(["fit", *flowers, "-e", "1e-12", "--set", "max_iter=1"]) == 2
    [said] = capsys.readouterr().err.splitlines()
    assert said.startswith("maxmargin: LinearSVM ended early in 3 of 3 two-class problems: ")
    assert said.endswith("To come further: raise --set max_iter=NUMBER, or ask for less by a larger --tol.")
    assert main(["path", *flowers, "--positive", "aster", "--max-time", "1e-9"]) == 2
    [said] = capsys.readouterr().err.splitlines()
    assert said.startswith("maxmargin: path ended early: max_time was reached. ")
    assert "raise --max-time" in said
    assert main(["fit", *flowers, "-e", "1e-3"]) == 0
    assert capsys.readouterr().err == ""


def test_what_the_compiler_took_is_told_apart(flowers, run, capsys, monkeypatch):
    begun = []

    def compiled_by_now():  # 40 seconds after it was first asked, which is more than the fit took
        begun.append(True)
        return 100.0 if len(begun) == 1 else 140.0

    monkeypatch.setattr("maxmargin.run.control.compiled_by_now", compiled_by_now)
    code, found = run("fit", *flowers)
    assert (code, found["seconds_compiling"]) == (0, 40.0)
    assert found["seconds"] == 0.0
    assert main(["fit", *flowers]) == 0
    assert "compiled" not in capsys.readouterr().out
    begun.clear()
    assert main(["fit", *flowers]) == 0
    assert "0 s (its loops were compiled once in 40 s)" in capsys.readouterr().out


def test_stopped_early_is_code_2_with_its_gap(write, run, tmp_path):
    X, y = overlapping(3000)
    rows = "".join(f"{a},{b},{label}\n" for (a, b), label in zip(X[:, :2].tolist(), y.tolist(), strict=True))
    path, data = str(tmp_path / "model"), write("a,b,label\n" + rows)
    code, found = run("fit", data, "-o", path, "--max-time", "1e-9", "-e", "1e-9")
    assert code == 2
    assert found["relative_gap"] > 1e-9
    assert found["status"] == ["TIME"]
    code, found = run("verify", path, data)
    assert (code, found["holds"]) == (2, True)


def test_weights_and_columns_that_are_passed_over(write, run, fail, tmp_path):
    path = str(tmp_path / "model")
    data = write("id,x,times,label\n7,0,1,a\n8,1,3,b\n9,2,1,b\n10,3,2,a\n")
    options = ["--weight", "times", "--ignore", "id"]
    code, found = run("fit", data, "-o", path, *options)
    assert (code, found["columns"]) == (0, 1)
    code, found = run("verify", path, data, *options)
    assert (code, found["holds"]) == (0, True)
    assert run("verify", path, data, "--ignore", "id", "--ignore", "times")[0] == 2
    assert "--weight has no meaning" in fail("fit", data, *options, "--algorithm", "perceptron")


def test_verify_refuses_other_data(model, write, capsys):
    changed = "petal_length,petal_width,leaf_length,leaf_width,label\n1,1,1,1,aster\n9,9,9,9,bellis\n5,5,5,5,crocus\n"
    assert main(["verify", model, write(changed), "--label", "label"]) == 2
    shown = capsys.readouterr().out
    assert shown.splitlines()[1].startswith("Refused")  # before all that the certificate claims
    assert "not the data that the model was fitted on" in shown


def test_a_feature_is_not_taken_for_the_label(write, run, tmp_path):
    data, path = write("x,y,label\n0,0,up\n1,3,down\n0,1,up\n2,2,down\n"), str(tmp_path / "model.safetensors")
    assert run("fit", data, "--label", "label", "-o", path)[0] == 0
    code, found = run("verify", path, data)  # y is one of the model's columns: the labels are in the other
    assert (code, found["holds"]) == (0, True)


def test_columns_are_found_by_their_names(model, flowers, write, run):
    table = read_csv(flowers[0], label="species")
    lines = [",".join(["note", *reversed(table.feature_names)])]
    lines += [",".join(["some text", *map(repr, row[::-1])]) for row in table.X.tolist()]
    code, found = run("predict", model, write("\n".join(lines)))
    assert code == 0
    assert found["accuracy"] is None
    assert found["labels"] == run("predict", model, *flowers)[1]["labels"]


def test_predictions_in_a_file(model, flowers, tmp_path, capsys):
    path = tmp_path / "labels.txt"
    assert main(["predict", model, *flowers, "-o", str(path)]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "94.00% of 150 labels are those of the file" in captured.err
    assert path.read_text().splitlines()[:2] == ["aster", "aster"]


def test_predictions_with_scores(model, flowers, capsys):
    assert main(["predict", model, *flowers, "--scores"]) == 0
    label, *scores = capsys.readouterr().out.splitlines()[0].split(",")
    assert label == "aster"
    assert np.argmax([float(score) for score in scores]) == 0


def test_sparse_files_with_fewer_columns(write, run, tmp_path):
    path = str(tmp_path / "model")
    code, found = run("fit", write("1 1:1 3:2\n-1 2:1\n1 1:2\n-1 2:2 3:1\n", "data.svm"), "-o", path)
    assert (code, found["scaling"]) == (0, "MaxAbsScaler")
    code, found = run("predict", path, write("1 1:3\n-1 2:3\n", "new.svm"))
    assert (code, found["labels"], found["accuracy"]) == (0, [1, -1], 1.0)


def test_standard_input(type_in, run, tmp_path):
    path = str(tmp_path / "model")
    type_in(STREET)
    assert run("fit", "-", "--label", "label", "-o", path)[0] == 0
    type_in("a,b\n0,1\n9,0\n")
    assert run("predict", path, "-")[1]["labels"] == ["left", "right"]


def test_info(model, run, capsys):
    code, found = run("info", model)
    assert (code, found["estimator"], found["preparation"]) == (0, "LinearSVM", ["StandardScaler"])
    assert found["labels"] == ["aster", "bellis", "crocus"]
    assert found["data"]["n_rows"] == 150
    assert len(found["certificates"]) == 3
    assert main(["info", model]) == 0
    shown = capsys.readouterr().out
    assert "petal_length" in shown
    assert "Optimal" in shown


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["-c", "0"], "C must be a positive number"),
        (["-t", "sigmoid"], "'sigmoid' is no kernel"),
        (["-t", "2", "-g", "wide"], "--gamma must be a number"),
        (["-w", "up=2"], "must be LABEL=WEIGHT, with one of left, right"),
        (["-w", "left=heavy"], "'heavy' is not a number"),
        (["--algorithm", "hard-margin", "-w", "balanced"], "--class-weight has no meaning for HardMarginSVM"),
        (["--algorithm", "winnow", "-t", "2"], "--kernel has no meaning for Winnow"),
        (["-g", "3"], "--gamma has no meaning for LinearSVM"),
        (["-t", "rbf", "-d", "5"], "--degree has no meaning for the rbf kernel"),
        (["-t", "laplacian", "--coef0", "2"], "--coef0 has no meaning for the laplacian kernel"),
        (["--algorithm", "perceptron", "-c", "2"], "--C has no meaning for Perceptron"),
        (["--max-time", "-1"], "--max-time must be"),
        (["-t", "2", "--exact"], "exact arithmetic needs"),
        (["-o", "/nowhere/at/all"], "cannot be written: there is no folder for it; make it first"),
        (["--lable", "x"], "--label"),
        (["--label", "z"], "no column is called 'z'"),
    ],
    ids=[
        "C",
        "kernel",
        "gamma",
        "label",
        "weight",
        "hard",
        "winnow",
        "linear gamma",
        "rbf degree",
        "laplacian coef0",
        "price",
        "time",
        "exact",
        "output",
        "typo",
        "column",
    ],
)
def test_errors_of_fit(options, part, write, fail):
    assert part in fail("fit", write(STREET), *options)


def test_errors_with_models(model, write, fail):
    assert "no such file" in fail("info", "nothing.safetensors")
    assert "not a model" in fail("info", write("x,y\n1,2\n"))
    assert "has no column 'petal_length'" in fail("predict", model, write("a,b,c,d\n1,2,3,4\n"))
    wide = write("1 1:1 2:1 3:1 4:1 5:1\n", "wide.svm")
    assert "the model knows its columns by name: 'petal_length'" in fail("predict", model, wide)


def test_ctrl_c_keeps_what_was_found(write, run, monkeypatch, tmp_path):
    """A fit that is interrupted is fitted as far as it got, and raises."""
    fit = LinearSVM.fit

    def interrupted(self, X, y):
        fit(self, X, y)
        raise KeyboardInterrupt

    path, data = tmp_path / "model", [write(STREET), "--label", "label"]
    monkeypatch.setattr(LinearSVM, "fit", interrupted)
    code, found = run("fit", *data, "-o", str(path))
    assert code == found["exit_code"] == 130
    assert run("verify", str(path), *data)[0] == 0


def test_ctrl_c_before_anything_was_found(write, monkeypatch, capsys):
    def interrupted(self, X, y):
        raise KeyboardInterrupt

    monkeypatch.setattr(LinearSVM, "fit", interrupted)
    assert main(["fit", write(STREET), "--label", "label"]) == 130
    assert "Interrupted." in capsys.readouterr().err


def test_exact_arithmetic_is_refused_before_a_fit_that_it_could_not_check(write, fail, monkeypatch):
    monkeypatch.setattr("maxmargin.KernelSVM.fit", lambda *_, **__: pytest.fail("it was fitted"))
    assert "Leave --exact out" in fail("fit", write(STREET), "-t", "laplacian", "--exact")


def test_the_dual_alone_predicts_and_agrees_about_b(capsys, tmp_path):
    file = tmp_path / "corners.csv"
    file.write_text("u,v,y\n" + "".join(f"{u},{v},{'same' if u == v else 'other'}\n" for u in (-1, 1) for v in (-1, 1)))
    asked = ["fit", str(file), "--label", "y", "-t", "poly", "-d", "2", "-r", "1", "-g", "1", "-o", str(tmp_path / "m")]
    for more, said in (
        ([], "4 free support vectors say b = "),
        (["--loss", "squared_hinge"], "4 free support vectors say b = "),
        (["--no-bias"], "no support vector is free to say b; it is 0."),
    ):
        assert main([*asked, *more]) == 0
        told = capsys.readouterr().out
        assert said in told
        assert "From the dual alone, 4 of 4 labels are those of the plane." in told
    assert main([*asked, "--json"]) == 0
    dual = json.loads(capsys.readouterr().out)["dual"]
    assert (dual["free"], dual["labels_that_agree"]) == (4, 4)
    assert 0.0 <= dual["spread"] < 0.1


@pytest.mark.parametrize("algorithm", ["perceptron", "kernel-perceptron"])
def test_no_plane_of_a_perceptron_is_told_kept_and_verified(algorithm, write, run, capsys, tmp_path):
    """In the space of a kernel as in that of the columns: code 3, the rows of the witness, and a model of it."""
    data, path = write(CROSSED), str(tmp_path / "model")
    kernel = ["--kernel", "poly", "--set", "degree=1"] if algorithm == "kernel-perceptron" else []
    options = [data, "--label", "label", "--algorithm", algorithm, *kernel, "-o", path]
    code, found = run("fit", *options)
    assert (code, found["verdicts"], found["status"]) == (3, ["NOT_SEPARABLE"], ["WITNESS"])
    assert found["certificate"]["rows"] == [0, 1, 2, 3]
    assert found["certificate"]["weights"] == pytest.approx([0.25] * 4)
    assert main(["fit", *options]) == 3
    told = capsys.readouterr().out
    where = " in the space of the kernel" if kernel else ""
    assert f"witness: 4 rows whose hulls meet{where}: 0, 1, 2, 3" in told
    assert "no plane separates" in told
    for exact in ([], ["--exact"]):
        code, checked = run("verify", path, data, *exact)
        assert (code, checked["holds"], checked["certificate"]) == (3, True, found["certificate"])
    assert "Where no plane separates, the proof is about the data" in checked["predictions"]
    code, checked = run("verify", path, write(CROSSED.replace("-1,1,b", "9,1,b"), "other.csv"))
    assert (code, checked["holds"]) == (2, False)
    assert "the witness does not hold" in checked["verification"]["reasons"][0]


def test_rows_at_length_one_have_their_margin_beside_that_of_the_rows_as_they_are(write, run, capsys, tmp_path):
    """x = 3 and x = -1, with the 1 of a bias: the cosine of half the angle between (3, 1) and -(-1, 1) is told."""
    data, path = write("x,label\n3,a\n-1,b\n"), str(tmp_path / "model")
    options = [
        data,
        "--label",
        "label",
        "--algorithm",
        "hard-margin",
        "--scale",
        "none",
        "--set",
        "normalize_rows=true",
    ]
    code, found = run("fit", *options, "-o", path)
    angle = np.arctan2(1.0, 3.0) - np.arctan2(-1.0, 1.0)
    (bounds,) = found["normalized_margin"]
    assert code == 0
    assert bounds["lower"] <= np.cos(angle / 2.0) * (1.0 + 1e-12)
    assert bounds["lower"] == pytest.approx(np.cos(angle / 2.0), rel=1e-8)
    assert bounds["upper"] == pytest.approx(np.cos(angle / 2.0), rel=1e-8)
    assert run("verify", path, data)[1]["normalized_margin"] == found["normalized_margin"]
    for command in (["fit", *options], ["verify", path, data]):
        assert main(command) == 0
        told = capsys.readouterr().out
        assert f"rows at length 1: best cosine between {np.floor(np.cos(angle / 2.0) * 1e8) / 1e8:.8f}" in told
        assert "best l2 margin: between" in told
