"""ONNX graphs answer in another program's runtime what the models answer here."""

import json
import sys

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from persistence.make_corpus import NAMES, POINTS, TWO, fitted
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, PolynomialFeatures, StandardScaler

from maxmargin import KernelSVM, LinearSVM
from maxmargin.persistence import ModelFileError, write_onnx

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # short fits, on purpose

REFUSED = {
    "kernel_precomputed": "its kernel is precomputed",
    "pipeline_columns": "hashes the words of a text",
    "pipeline_texts": "hashes the words of a text",
}
FRAME = pd.DataFrame(
    {
        "kg": [1.5, np.nan, 3.0, 4.5, 2.0, 8.0],
        "colour": ["red", "blue", np.nan, "red", "blue", "blue"],
        "cm": [10.0, 12.0, 9.0, 30.0, 31.0, 35.0],
        "size": ["S", "S", "M", "L", "L", "M"],
        "unused": [0.0] * 6,
    }
).astype({"colour": object, "size": object})
KIND = np.array(["cat", "cat", "cat", "dog", "dog", "hen"])


def run(path, **inputs):
    """What the graph says: the decisions and the labels."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    assert {wanted.name for wanted in session.get_inputs()} == set(inputs)
    return session.run(["decision", "label"], inputs)


def agrees(path, model, rows, /, **inputs):
    decisions, labels = run(path, **inputs)
    expected = model.decision_function(rows)
    assert decisions.dtype == np.float64
    np.testing.assert_allclose(decisions, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
    assert labels.tolist() == model.predict(rows).tolist()


@pytest.mark.parametrize("name", NAMES)
def test_every_model_or_a_sentence(name, tmp_path):
    path = tmp_path / "model.onnx"
    model, X, _ = fitted(name)
    if name in REFUSED:
        with pytest.raises(ModelFileError, match=REFUSED[name]):
            write_onnx(model, path)
        assert not path.exists()
        return
    write_onnx(model, path)
    dense = X.toarray() if hasattr(X, "toarray") else X
    given = {"categories": dense} if name == "pipeline_words" else {"X": dense.astype(np.float64)}
    agrees(path, model, X, **given)


def test_only_standard_operators(tmp_path):
    model, _, _ = fitted("kernel")
    write_onnx(model, tmp_path / "model.onnx")
    graph = onnx.load(tmp_path / "model.onnx")
    assert {node.domain for node in graph.graph.node} == {""}
    assert {one.domain for one in graph.opset_import} == {""}
    assert graph.producer_name == "maxmargin"


@pytest.mark.parametrize("last", [LinearSVM(), LinearSVM(multi_class="ovo"), KernelSVM(), KernelSVM(kernel="poly")])
def test_columns_of_every_kind(last, tmp_path):
    columns = ColumnTransformer(
        [
            ("sizes", OneHotEncoder(handle_unknown="ignore"), ["size"]),
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["cm", "kg"]),
            ("colours", make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()), ["colour"]),
        ]
    )
    model = make_pipeline(columns, last).fit(FRAME, KIND)
    write_onnx(model, path := tmp_path / "model.onnx")
    words = FRAME[["colour", "size"]].fillna("").to_numpy()
    agrees(path, model, FRAME, X=FRAME[["kg", "cm", "unused"]].to_numpy(), categories=words)
    named = {one.key: json.loads(one.value) for one in onnx.load(path).metadata_props}
    assert named == {"X": ["kg", "cm", "unused"], "categories": ["colour", "size"]}


def test_a_category_that_the_fit_has_not_seen(tmp_path):
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LinearSVM())
    X = FRAME[["size"]].to_numpy()
    model.fit(X, KIND)
    write_onnx(model, path := tmp_path / "model.onnx")
    new = np.array([["XXL"], ["S"]], dtype=object)
    agrees(path, model, new, categories=new)


def test_scalers_that_clip(tmp_path):
    can_clip = {"clip": True} if "clip" in MaxAbsScaler().get_params() else {}  # not before scikit-learn 1.8
    model = make_pipeline(MinMaxScaler((-2, 2), clip=True), MaxAbsScaler(**can_clip), LinearSVM()).fit(POINTS, TWO)
    write_onnx(model, path := tmp_path / "model.onnx")
    far = np.array([[99.0, -99.0], [0.5, 0.5]])
    agrees(path, model, far, X=far)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: make_pipeline(PolynomialFeatures(), LinearSVM()).fit(POINTS, TWO), "a step PolynomialFeatures"),
        (lambda: KernelSVM(kernel=lambda A, B: A @ B.T).fit(POINTS, TWO), "its kernel is function"),
        (lambda: PolynomialFeatures().fit(POINTS), "not an estimator of this library"),
        (
            lambda: make_pipeline(OneHotEncoder(), LinearSVM()).fit(FRAME[["cm", "size"]].to_numpy(), KIND),
            "separate them in a ColumnTransformer",
        ),
        (
            lambda: make_pipeline(OneHotEncoder(drop="first"), LinearSVM()).fit(FRAME[["size"]].to_numpy(), KIND),
            "drops or merges",
        ),
    ],
    ids=["step", "function", "other", "mixed", "drop"],
)
def test_what_a_graph_cannot_say(model, message, tmp_path):
    with pytest.raises(ModelFileError, match=message):
        write_onnx(model(), tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_the_package_that_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"maxmargin\[onnx\]"):
        write_onnx(LinearSVM().fit(POINTS, TWO), tmp_path / "model.onnx")
