"""`fit --probability` and `predict --probability`: the numbers of scikit-learn's calibration, kept in the file."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold

import maxmargin
from maxmargin import ModelFileError, model_info
from maxmargin.cli import main
from maxmargin.estimators.probability import Calibration, calibrate
from maxmargin.persistence import container, save
from maxmargin.persistence.model_file import describe
from maxmargin.reading.csv import read_csv

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


@pytest.mark.parametrize("options", [[], ["-t", "rbf"], ["--algorithm", "perceptron"], ["--multi-class", "ovo"]])
def test_three_labels_as_scikit_learn_calibrates_them(options, flowers, run, tmp_path):
    path = str(tmp_path / "model")
    code, fitted = run("fit", *flowers, *options, "--probability", "-o", path)
    assert code == (3 if "perceptron" in options else 0)  # no plane separates two of them
    assert fitted["calibration"]["folds"] == 5
    assert len(fitted["calibration"]["slopes"]) == 3
    code, found = run("predict", path, flowers[0], "--probability")
    assert (code, found["classes"]) == (0, ["aster", "bellis", "crocus"])
    table = read_csv(flowers[0], label="species")
    frame = pd.DataFrame(table.X, columns=table.feature_names)
    theirs = CalibratedClassifierCV(clone(maxmargin.load(path)), ensemble=False, cv=FOLDS).fit(frame, table.y)
    assert np.array(found["probabilities"]) == pytest.approx(theirs.predict_proba(frame), abs=1e-9)
    assert np.sum(found["probabilities"], axis=1) == pytest.approx(np.ones(150))


def test_two_labels_and_weights(write, run, tmp_path):
    random = np.random.default_rng(0)
    x, times = random.normal(size=200), random.integers(0, 3, 200)
    y = np.where(random.random(200) < 1 / (1 + np.exp(-2 * x)), "b", "a")
    data = write("x,n,y\n" + "".join(f"{a!r},{n},{b}\n" for a, n, b in zip(x.tolist(), times, y, strict=True)))
    path = str(tmp_path / "model")
    assert run("fit", data, "--weight", "n", "--scale", "none", "--probability", "-o", path)[0] == 0
    _, found = run("predict", path, data, "--probability")
    counts = times > 0
    svm = CalibratedClassifierCV(maxmargin.LinearSVM(), ensemble=False, cv=FOLDS)
    svm.fit(x[counts, None], y[counts], times[counts].astype(float))
    assert np.array(found["probabilities"]) == pytest.approx(svm.predict_proba(x[:, None]), abs=1e-9)
    line = [1 / (1 + np.exp(-2 * one)) for one in (-1.0, 0.0, 1.0)]
    calibration = model_info(path).calibration
    told = calibration.probabilities(maxmargin.load(path).decision_function(pd.DataFrame({"x": [-1.0, 0.0, 1.0]})))
    assert told[:, 1] == pytest.approx(line, abs=0.12)  # the truth behind the draw


def test_a_line_of_csv(flowers, tmp_path, capsys):
    path = str(tmp_path / "model")
    assert main(["fit", *flowers, "--probability", "-o", path]) == 0
    assert "probabilities are estimates, of which nothing is proven" in capsys.readouterr().out
    assert main(["predict", path, flowers[0], "--probability"]) == 0
    first = capsys.readouterr().out.splitlines()[0].split(",")
    assert first[0] == "aster"
    assert sum(map(float, first[1:])) == pytest.approx(1.0)


def test_the_proof_is_what_it_was(flowers, run, tmp_path):
    with_it, without = str(tmp_path / "with"), str(tmp_path / "without")
    _, one = run("fit", *flowers, "--probability", "-o", with_it)
    _, other = run("fit", *flowers, "-o", without)
    assert one["certificate"] == other["certificate"]
    assert run("verify", with_it, flowers[0])[0] == 0
    assert run("info", without)[1]["calibration"] is None
    assert run("info", with_it)[1]["calibration"] == one["calibration"]


def test_a_precomputed_kernel_is_cut_by_rows_and_columns(run, tmp_path):
    random = np.random.default_rng(1)
    X = np.vstack([random.normal(size=(15, 2)), random.normal(size=(15, 2)) + 1.5])
    y = np.array(["a"] * 15 + ["b"] * 15)
    frame = pd.DataFrame(X @ X.T, columns=[f"k{i}" for i in range(30)]).assign(y=y)
    frame.to_csv(data := str(tmp_path / "kernel.csv"), index=False)
    path = str(tmp_path / "model")
    assert run("fit", data, "-t", "precomputed", "-e", "1e-6", "--probability", "-o", path)[0] == 0
    expected = calibrate(maxmargin.KernelSVM(kernel="linear", tol=1e-6), X, y)
    assert model_info(path).calibration.slopes == pytest.approx(expected.slopes, rel=1e-2)


def test_verify_and_convert_say_what_becomes_of_them(write, tmp_path, capsys):
    path, data = str(tmp_path / "model"), write("x,y\n0,a\n1,a\n3,a\n2,b\n4,b\n5,b\n")
    assert main(["fit", data, "--scale", "none", "--probability", "-o", path]) == 0
    assert main(["verify", path, data]) == 0
    assert "Its probabilities are estimates: nothing is proven of them.\n" in capsys.readouterr().out
    assert main(["convert", path, planes := str(tmp_path / "planes.csv")]) == 0
    assert f"{planes} has no place for the probabilities of {path}" in capsys.readouterr().err


def test_what_has_none_says_so(flowers, write, tmp_path, fail, capsys):
    path = str(tmp_path / "model")
    assert main(["fit", *flowers, "-o", path]) == 0
    capsys.readouterr()
    assert "has no probabilities: fit it with --probability" in fail("predict", path, flowers[0], "--probability")
    alone = write("x,y\n0,a\n1,a\n2,b\n")
    assert "the label 'b' has one row, which cannot be held out" in fail("fit", alone, "--probability")


def test_a_class_of_three_rows_makes_three_folds(write, run):
    rows = "".join(f"{x},{'a' if x < 6 else 'b'}\n" for x in range(9))
    assert run("fit", write("x,y\n" + rows), "--probability")[1]["calibration"]["folds"] == 3


def test_no_plane_no_probabilities(write, run):
    code, found = run("fit", write("x,y\n0,a\n2,a\n1,b\n3,b\n"), "-c", "inf", "--probability")
    assert (code, found["calibration"]) == (3, None)


def test_ctrl_c_while_calibrating_keeps_the_model(flowers, tmp_path, capsys, monkeypatch):
    def stopped(*given, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("maxmargin.estimators.probability.calibrate", stopped)
    path = str(tmp_path / "model")
    assert main(["fit", *flowers, "--probability", "-o", path]) == 0
    assert "its planes and its proof, but no probabilities" in capsys.readouterr().err
    assert model_info(path).calibration is None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"slopes": [1.0, 2.0]}, "calibration.slopes must be 1 finite numbers, for 2 classes"),
        ({"offsets": [{"number": "inf"}]}, "calibration.offsets must be 1 finite numbers"),
        ({"offsets": []}, "calibration.offsets must be 1 finite numbers"),
        ({"folds": 1}, "calibration.folds must be 2 or more"),
        ({"folds": "5"}, "calibration.folds must be a whole number"),
        ({"slopes": "steep"}, "calibration.slopes must be a list"),
        ({"extra": 1}, "extra"),
    ],
)
def test_a_damaged_curve_is_refused(changed, said, tmp_path):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    model, calibration = maxmargin.LinearSVM().fit(X, y), Calibration(2, [1.5], [0.25])
    save(model, tmp_path / "model", calibration=calibration)
    assert model_info(tmp_path / "model").calibration == calibration
    document, arrays = describe(model, X, y, calibration=calibration)
    document["calibration"] |= changed
    (tmp_path / "damaged").write_bytes(container.pack(json.loads(json.dumps(document)), arrays))
    with pytest.raises(ModelFileError, match=said):
        model_info(tmp_path / "damaged")
