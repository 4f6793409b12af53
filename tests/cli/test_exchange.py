"""Models of maxmargin for other programs, and those of others measured: `convert` and `audit` on real files."""

import sys

import joblib
import numpy as np
import onnxruntime
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

import maxmargin
from maxmargin.cli import main
from maxmargin.persistence import read_skops

CARS = "kg,colour,kind\n900,red,small\n1000,red,small\n950,blue,small\n1800,blue,large\n2100,grey,large\n1900,,large\n"


@pytest.fixture
def model(flowers, tmp_path, capsys):
    path = str(tmp_path / "flowers.model")
    assert main(["fit", *flowers, "-o", path]) == 0
    capsys.readouterr()
    return path


def rows_of(flowers):
    return pd.read_csv(flowers[0]).drop(columns="species")


def test_onnx(model, flowers, tmp_path):
    path = str(tmp_path / "flowers.onnx")
    assert main(["convert", model, path]) == 0
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    frame, loaded = rows_of(flowers), maxmargin.load(model)
    decisions, labels = session.run(None, {"X": frame.to_numpy()})
    np.testing.assert_allclose(decisions, loaded.decision_function(frame), rtol=1e-12, atol=1e-12)
    assert labels.tolist() == loaded.predict(frame).tolist()


def test_onnx_with_categories_and_gaps(write, run, tmp_path):
    model, path, data = str(tmp_path / "model"), str(tmp_path / "model.onnx"), write(CARS)
    assert run("fit", data, "--label", "kind", "--impute", "-o", model)[0] == 0
    assert main(["convert", model, "-o", path]) == 0
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    frame = pd.read_csv(data, keep_default_na=False)
    given = {"X": frame[["kg"]].to_numpy(float), "categories": frame[["colour"]].to_numpy(object)}
    decisions, labels = session.run(None, given)
    found = run("predict", model, data)[1]
    np.testing.assert_allclose(decisions, found["scores"], rtol=1e-12)
    assert labels.tolist() == found["labels"]


def test_what_cannot_be_written_is_said(model, write, run, fail, tmp_path, monkeypatch):
    texts, data = str(tmp_path / "texts"), write("note,y\ngood wine,1\nbad wine,0\n", "texts.csv")
    assert run("fit", data, "--label", "y", "--text", "note", "-o", texts)[0] == 0
    assert "hashes the words of a text" in fail("convert", texts, str(tmp_path / "out.onnx"))
    assert "its name can end in .onnx" in fail("convert", model, str(tmp_path / "out.txt"))
    for name in ("out.csv", "out.json", "out.libsvm", "out.liblinear"):
        assert "(StandardScaler): write it as .onnx or .skops" in fail("convert", model, str(tmp_path / name))
    assert "say where to write" in fail("convert", model)
    assert "is a model: it is converted alone" in fail("convert", model, "a.onnx", "-o", "b.onnx")
    assert "there is no folder" in fail("convert", model, "/nowhere/at/all.onnx")
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert "pip install 'maxmargin[onnx]'" in fail("convert", model, str(tmp_path / "out.onnx"))


def test_coefficients_and_text_models(write, run, tmp_path):
    model, data = str(tmp_path / "model"), write("a,b,label\n0,0,-1\n0,2,-1\n3,0,1\n5,1,1\n")
    assert run("fit", data, "--label", "label", "--scale", "none", "-o", model)[0] == 0
    planes = str(tmp_path / "planes.csv")
    assert main(["convert", model, planes]) == 0
    assert pd.read_csv(planes).columns.tolist() == ["positive", "negative", "intercept", "a", "b"]
    assert main(["convert", model, text := str(tmp_path / "model.liblinear")]) == 0
    assert run("predict", text, data, "--label", "label")[1]["accuracy"] == 1.0


def test_skops_keeps_the_certificate(model, flowers, run, tmp_path):
    path = str(tmp_path / "flowers.skops")
    assert main(["convert", model, path]) == 0
    again, frame = read_skops(path), rows_of(flowers)
    assert again.predict(frame).tolist() == maxmargin.load(model).predict(frame).tolist()
    species = pd.read_csv(flowers[0])["species"]
    assert again[-1].certificate_.verify(again[:-1].transform(frame), species.to_numpy())
    assert run("audit", path, *flowers)[0] == 0


@pytest.mark.parametrize(
    "estimator", [LinearSVC(), SVC(), make_pipeline(StandardScaler(), SGDClassifier(random_state=0))]
)
def test_audit_of_scikit_learn(estimator, flowers, run, fail, tmp_path):
    frame, path = rows_of(flowers), str(tmp_path / "theirs.skops")
    skops.io.dump(estimator.fit(frame, pd.read_csv(flowers[0])["species"]), path)
    code, found = run("audit", path, *flowers, "--max-time", "20")
    assert code in (0, 2)
    assert 0.0 <= found["least_excess"] <= found["excess"]
    assert len(found["parts"]) == 3
    assert "scikit-learn predicts with it" in fail("predict", path, *flowers)
    assert "scikit-learn predicts with it" in fail("verify", path, *flowers)


def test_types_that_nobody_trusts_are_refused_by_name(flowers, fail, tmp_path):
    frame, y, path = rows_of(flowers), pd.read_csv(flowers[0])["species"], str(tmp_path / "theirs.skops")
    skops.io.dump(GridSearchCV(LinearSVC(), {"C": [1.0]}, cv=2).fit(frame, y), path)
    said = fail("audit", path, *flowers)
    assert "it holds sklearn." in said  # which types are not trusted changes from release to release
    assert ", of which nobody has said that they can be trusted" in said
    skops.io.dump(make_pipeline(FunctionTransformer(joblib.dump), LinearSVC()), path)
    assert "joblib" in fail("audit", path, *flowers)


def test_damaged_and_strange_skops_files(flowers, fail, tmp_path, monkeypatch):
    path = tmp_path / "theirs.skops"
    skops.io.dump([1, 2, 3], path)
    assert "it holds a list, and not an estimator" in fail("audit", str(path), *flowers)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    assert "not a model that can be loaded with skops" in fail("audit", str(path), *flowers)
    strange = SVC().fit(rows_of(flowers), pd.read_csv(flowers[0])["species"])
    del strange.dual_coef_
    skops.io.dump(strange, path)
    assert "is not as a fit leaves a model" in fail("audit", str(path), *flowers)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    assert "pip install 'maxmargin[skops]'" in fail("audit", str(path), *flowers)
