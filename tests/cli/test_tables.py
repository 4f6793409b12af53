"""`maxmargin path`, `compare`, `audit`, `scale` and `convert` on real files."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from maxmargin import KernelSVM, LinearSVM
from maxmargin.cli import main
from maxmargin.data.synthetic import overlapping
from maxmargin.persistence import write_liblinear, write_libsvm
from maxmargin.reading.csv import read_csv
from maxmargin.reading.svmlight import read_svmlight
from maxmargin.reading.svmlight_writer import write_svmlight

STREET = "a,b,label\n0,0,left\n0,2,left\n3,0,right\n5,1,right\n"
CROSSED = "a,b,label\n1,1,a\n-1,-1,a\n1,-1,b\n-1,1,b\n"


def test_path(write, run, capsys):
    data = write(STREET)
    code, found = run("path", data, "--label", "label", "--scale", "none", "--Cs", "0.01,1,100")
    assert code == 0
    assert [point["C"] for point in found["points"]] == [0.01, 1.0, 100.0]
    assert found["points"][-1]["margin"] == pytest.approx(1.5, rel=1e-3)
    assert found["separable"] is True
    assert main(["path", data, "--label", "label", "--Cs", "3"]) == 0
    assert "From C =" in capsys.readouterr().out


def test_path_of_one_label(flowers, run, fail):
    code, found = run("path", *flowers, "--positive", "bellis", "--Cs", "0.1,1")
    assert (code, found["separable"], len(found["points"])) == (0, False, 2)
    assert "a path is for two classes" in fail("path", *flowers)
    assert "--Cs must be a whole number" in fail("path", *flowers, "--Cs", "many")
    assert "has no label 'rose'" in fail("path", *flowers, "--positive", "rose")


def test_path_that_stops_early(flowers, run):
    assert run("path", *flowers, "--positive", "bellis", "--max-time", "1e-9", "-e", "1e-12")[0] == 2


def test_compare(write, run, capsys):
    data = write(STREET)
    code, found = run("compare", data, "--label", "label")
    assert code == 0
    assert all(one["verification"]["holds"] for one in found["algorithms"])
    verdicts = {one["algorithm"]: one["verdicts"][0] for one in found["algorithms"]}
    assert verdicts["perceptron"] == "SEPARABLE"
    assert verdicts["hard margin"] == verdicts["SVM, C=1"] == "OPTIMAL"
    assert main(["compare", data, "--label", "label"]) == 0
    assert "margin perceptron" in capsys.readouterr().out


def test_compare_where_no_plane_exists(write, run):
    code, found = run("compare", write(CROSSED))
    verdicts = {one["algorithm"]: one["verdicts"][0] for one in found["algorithms"]}
    assert code == 0
    assert verdicts["hard margin"] == verdicts["perceptron"] == "NOT_SEPARABLE"
    assert verdicts["kernel SVM, rbf, C=1"] == "OPTIMAL"


@pytest.mark.parametrize("options", [[], ["-t", "2"], ["--loss", "squared_hinge"]], ids=["linear", "rbf", "squared"])
def test_audit(options, flowers, run, tmp_path, capsys):
    path = str(tmp_path / "model")
    code, fitted = run("fit", *flowers, "-o", path, *options)
    code, found = run("audit", path, *flowers)
    assert code == found["exit_code"] == 0
    assert len(found["parts"]) == 3
    assert 0.0 <= found["least_excess"] <= found["excess"] <= 1.1 * fitted["relative_gap"] + 1e-5
    assert main(["audit", path, *flowers]) == 0
    assert "above the optimum, which is proven" in capsys.readouterr().out


def test_audit_of_a_perceptron(write, run, tmp_path):
    path, data = str(tmp_path / "model"), write(STREET)
    assert run("fit", data, "--label", "label", "-o", path, "--algorithm", "perceptron")[0] == 0
    code, found = run("audit", path, data, "--label", "label")
    assert code == 0
    assert 0.0 < found["share"] <= 1.0


def test_audit_where_no_plane_exists(write, run, tmp_path):
    path, data = str(tmp_path / "model"), write(CROSSED)
    assert run("fit", data, "-o", path, "--algorithm", "perceptron")[0] == 3
    assert run("audit", path, data)[0] == 3


def test_audit_that_stops_early(flowers, run, fail, tmp_path):
    path = str(tmp_path / "model")
    assert run("fit", *flowers, "-o", path)[0] == 0
    assert run("audit", path, *flowers, "--max-time", "1e-9", "-e", "1e-12")[0] == 2
    assert "are for text models" in fail("audit", path, *flowers, "-c", "1")


@pytest.fixture
def text_models(tmp_path):
    """A LIBLINEAR and a LIBSVM model of the same sparse file, which are as good as ours."""
    X, y = overlapping(60)
    data = tmp_path / "data.svm"
    write_svmlight(str(data), X, y)
    linear = LinearSVM(C=0.5, fit_intercept=False, loss="squared_hinge", tol=1e-7).fit(X, y)
    write_liblinear(linear, tmp_path / "liblinear")
    write_libsvm(KernelSVM(C=0.5, class_weight={1: 2.0, -1: 1.0}, tol=1e-6).fit(X, y), tmp_path / "libsvm")
    return str(data), str(tmp_path / "liblinear"), str(tmp_path / "libsvm")


def test_audit_of_text_models(text_models, run, fail):
    data, liblinear, libsvm = text_models
    code, found = run("audit", liblinear, data, "-c", "0.5")
    assert (code, found["model"]) == (0, "LinearSVC(C=0.5)")
    assert found["excess"] < 1e-4
    code, found = run("audit", libsvm, data, "-c", "0.5", "-w", "1=2")
    assert (code, found["model"]) == (0, "KernelSVM(C=0.5)")
    assert found["excess"] < 1e-4
    assert run("audit", libsvm, data, "-c", "0.5")[1]["least_excess"] > 1e-3
    assert "does not tell its C" in fail("audit", liblinear, data)
    assert "--C must be a positive number" in fail("audit", liblinear, data, "-c", "0")
    assert "holds no certificate" in fail("verify", libsvm, data)


def test_text_models_predict(text_models, run):
    data, *models = text_models
    for model, program in zip(models, ("LIBLINEAR", "LIBSVM"), strict=True):
        assert run("predict", model, data)[1]["accuracy"] > 0.6
        code, found = run("info", model)
        assert (code, found["written_by"], found["certificates"]) == (0, program, [])


def test_audit_with_a_bias_column(text_models, run):
    data, liblinear, _ = text_models
    lines = Path(liblinear).read_text().replace("bias -1", "bias 1")
    Path(liblinear).write_text(lines + "0\n")
    code, found = run("audit", liblinear, data, "-c", "0.5")
    assert code == 0
    assert "regularises its bias" in found["notes"][0]


def test_scale(flowers, run, tmp_path, capsys):
    path, model = tmp_path / "scaled.csv", str(tmp_path / "model")
    assert main(["scale", *flowers, "-o", str(path)]) == 0
    scaled = read_csv(str(path), label="species").X
    assert np.allclose(scaled.mean(axis=0), 0.0)
    assert np.allclose(scaled.std(axis=0), 1.0)
    assert run("fit", *flowers, "-o", model, "--scale", "minmax")[0] == 0
    assert main(["scale", *flowers, "--like", model, "-o", str(path)]) == 0
    scaled = read_csv(str(path), label="species").X
    assert (scaled.min(), scaled.max()) == (0.0, pytest.approx(1.0))


def test_scale_errors(flowers, write, run, fail, tmp_path):
    model = str(tmp_path / "model")
    assert run("fit", *flowers, "-o", model, "--scale", "none")[0] == 0
    assert "does not scale its columns" in fail("scale", *flowers, "--like", model)
    assert "zeros of a sparse file" in fail("scale", write("1 1:1\n-1 1:2\n", "data.svm"), "--method", "minmax")


def test_convert_keeps_every_bit(write, tmp_path, capsys):
    text = "a,b,label\n0.1,0,1\n0.30000000000000004,-2.5e-300,-1\n"
    sparse, back = str(tmp_path / "data.svm"), str(tmp_path / "back.csv")
    assert main(["convert", write(text), "-o", sparse]) == 0
    assert main(["convert", sparse, "-o", back]) == 0
    capsys.readouterr()
    first, second = read_csv(write(text)), read_csv(back)
    assert first.X.tolist() == second.X.tolist() == read_svmlight(sparse).X.toarray().tolist()
    assert first.y.tolist() == second.y.tolist()


@pytest.mark.parametrize("name", ["data.csv.gz", "data.tsv", "data.libsvm.xz", "data.csv.bz2"])
def test_convert_writes_what_the_name_says(name, write, tmp_path):
    path, back = str(tmp_path / name), str(tmp_path / "back.csv")
    assert main(["convert", write("a,label\n0.1,1\n2,-1\n", "first.csv"), "-o", path]) == 0
    assert main(["convert", path, "-o", back]) == 0
    assert read_csv(back).X.tolist() == [[0.1], [2.0]]


def test_convert_to_standard_output(write, capsys):
    assert main(["convert", write("a,label\n0.5,1\n2,-1\n"), "-o", "-", "--to", "svmlight"]) == 0
    assert capsys.readouterr().out == "1 1:0.5\n-1 1:2\n"


def test_convert_names_labels_that_are_no_numbers(flowers, fail, tmp_path):
    assert "label" in fail("convert", *flowers, "-o", str(tmp_path / "flowers.svm"))
    assert "cannot be written" in fail("convert", *flowers, "-o", "/nowhere/flowers.csv")
    assert "not as parquet" in fail("convert", *flowers, "-o", "-", "--to", "parquet")


def test_a_night_job_in_processes_of_its_own(flowers, run, tmp_path):
    """fit in one process, predict in another."""
    model = str(tmp_path / "model")

    line = [sys.executable, "-m", "maxmargin", "fit", *flowers, "-o", model, "--json"]
    fitted = subprocess.run(line, capture_output=True, text=True, timeout=300)
    assert (fitted.returncode, fitted.stderr) == (0, "")
    assert json.loads(fitted.stdout)["relative_gap"] <= 1e-4
    code, found = run("predict", model, *flowers)
    assert (code, found["accuracy"]) == (0, json.loads(fitted.stdout)["accuracy"])


def test_a_full_disk_costs_neither_the_old_file_nor_the_answer(write, tmp_path, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    data, old, model = write(STREET), tmp_path / "old.csv", str(tmp_path / "model")
    old.write_text("what was here before")
    monkeypatch.setattr("os.replace", full)
    for command in (["scale", data, "-o", str(old)], ["convert", data, str(old)], ["fit", data, "-o", model]):
        assert main(command) == 1
        captured = capsys.readouterr()
        assert captured.err.endswith("cannot be written: no space left on device\n")
    assert "Optimal: no plane has a lower objective" in captured.out
    assert "Written" not in captured.out
    assert old.read_text() == "what was here before"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([Path(data).name, "old.csv"])
