"""The models that the tests of files are about, and the corpus: files of each version, which must load forever.

    PYTHONPATH=src:tests python tests/persistence/make_corpus.py

writes the files of the version at hand to tests/persistence/corpus/vN. Files of earlier versions are never written
again.
"""

import json
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler

from maxmargin import (
    HardMarginSVM,
    KernelPerceptron,
    KernelSVM,
    LinearSVM,
    LinearSVMCV,
    MarginPerceptron,
    Perceptron,
    StochasticSVM,
    Trace,
    Winnow,
)

CORPUS = Path(__file__).parent / "corpus"

# Two columns; the classes lie apart, two of them along a line.
POINTS = np.array([[0.1, 0], [0, 1.3], [1, 0.2], [4, 0.1], [5.5, 1], [4.25, 2], [0, 6], [1, 7.125], [2, 6.5]])
TWO = np.where(POINTS[:, 0] > 3, 1, -1)
THREE = np.repeat(["left", "right", "top"], 3)
MIXED = np.array([1, -1, 1, -1, 1, -1, 1, -1, 1])  # no plane
XOR, DIAGONALS = np.array([[1.0, 1], [-1, -1], [1, -1], [-1, 1]]), np.array([1, 1, -1, -1])
WORDS = np.array([["red", "a"], ["red", "b"], ["blue", "b"], ["green", "a"]] * 2, dtype=object)
TEXTS = np.array(["so good", "good wine", "a bad one", "bad wine", "very good", "Bad! bad!", "", "good or bad"])
ANSWERS = np.array([0, 0, 1, 1] * 2)
TABLE = np.array(  # a number, two categories, a text; some cells are missing
    [[float(i), *WORDS[i], text] for i, text in enumerate(TEXTS)], dtype=object
)
TABLE[1, 0] = TABLE[2, 1] = np.nan


def blocks():
    """Columns of every kind."""
    number = make_pipeline(SimpleImputer(), StandardScaler())
    category = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    text = HashingVectorizer(n_features=16, ngram_range=(1, 2), alternate_sign=False)
    return ColumnTransformer([("numbers", number, [0]), ("words", category, [1, 2]), ("text", text, 3)])


def precomputed():
    return POINTS @ POINTS.T + 1.0


def stream():
    model = StochasticSVM(average=True, stream_rows=18)
    for rows in (slice(0, 5), slice(5, 9)):
        model.partial_fit(POINTS[rows], THREE[rows], classes=["left", "right", "top"])
    return model


# name: the model, X, y; every call makes them anew
MODELS = {
    "perceptron": lambda: (Perceptron(), POINTS, TWO),
    "perceptron_recorded": lambda: (Perceptron(record=Trace(limit=50), max_updates=np.int64(500)), POINTS, THREE),
    "margin_perceptron": lambda: (MarginPerceptron(max_time=60), POINTS, TWO > 0),
    "winnow": lambda: (Winnow(epsilon=0.25), POINTS, TWO),
    "hard_margin": lambda: (HardMarginSVM(), POINTS, TWO),
    "hard_margin_no_plane": lambda: (HardMarginSVM(on_inseparable="return"), POINTS, MIXED),
    "hard_margin_sparse": lambda: (HardMarginSVM(), sparse.csr_array(POINTS.astype(np.float32)), TWO),
    "hard_margin_normalized": lambda: (HardMarginSVM(normalize_rows=True), POINTS, TWO),
    "linear": lambda: (LinearSVM(C=10, class_weight={-1: 2.0, 1: 0.5}), POINTS, TWO),
    "linear_three": lambda: (LinearSVM(multi_class="ovo", warm_start=True), POINTS, THREE.astype(object)),
    "linear_hard": lambda: (LinearSVM(C=float("inf")), POINTS.astype(np.float32), THREE),
    "linear_cv": lambda: (LinearSVMCV(Cs=[0.1, 1.0], cv=3, scoring="accuracy"), POINTS, TWO.astype(float)),
    "kernel": lambda: (KernelSVM(), POINTS, TWO),
    "kernel_hard": lambda: (
        KernelSVM(float("inf"), kernel="poly", gamma=1, coef0=1, degree=2, tol=1e-9),
        XOR,
        DIAGONALS,
    ),
    "kernel_hard_three": lambda: (KernelSVM(float("inf"), multi_class="ovr", tol=1e-9), POINTS, THREE),
    "kernel_three": lambda: (KernelSVM(kernel="poly", degree=2, coef0=1), sparse.csr_matrix(POINTS), THREE),
    "kernel_precomputed": lambda: (KernelSVM(kernel="precomputed"), precomputed(), TWO),
    "kernel_perceptron": lambda: (KernelPerceptron(), POINTS, TWO),
    "kernel_perceptron_no_plane": lambda: (KernelPerceptron("linear"), XOR, DIAGONALS),
    "stochastic": lambda: (StochasticSVM(average=True), POINTS, TWO),
    "stochastic_kernel": lambda: (StochasticSVM(kernel="rbf", project=True), POINTS, TWO),
    "pipeline": lambda: (make_pipeline(StandardScaler(), LinearSVM()), POINTS, TWO),
    "pipeline_scalers": lambda: (
        Pipeline([("range", MinMaxScaler((-1, 1))), ("size", MaxAbsScaler()), ("svm", KernelSVM())]),
        POINTS,
        TWO,
    ),
    "pipeline_filled": lambda: (
        make_pipeline(SimpleImputer(strategy="median"), StandardScaler(with_mean=False), LinearSVM()),
        np.where(POINTS == 1.0, np.nan, POINTS),
        TWO,
    ),
    "pipeline_words": lambda: (
        make_pipeline(OneHotEncoder(handle_unknown="ignore"), LinearSVM()),
        WORDS,
        ANSWERS,
    ),
    "pipeline_texts": lambda: (make_pipeline(HashingVectorizer(n_features=32), LinearSVM()), TEXTS, ANSWERS),
    "pipeline_columns": lambda: (Pipeline([("columns", blocks()), ("svm", LinearSVM())]), TABLE, ANSWERS),
    "pipeline_some_columns": lambda: (
        make_pipeline(
            ColumnTransformer(
                [("as they are", "passthrough", [1]), ("size", MaxAbsScaler(), slice(0, 1))], sparse_threshold=0.0
            ),
            KernelSVM(),
        ),
        POINTS,
        TWO,
    ),
}

NAMES = (*MODELS, "stream")
BESIDE = {"hard_margin_normalized": {"columns_by": "name", "roles": {"label": "side"}}}  # what else `save` was told


def fitted(name):
    """A fitted model, X and y."""
    if name == "stream":
        return stream(), POINTS, THREE
    model, X, y = MODELS[name]()
    return model.fit(X, y), X, y


def estimator_of(model):
    """The last step of a Pipeline, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model


def prepared(model, X):
    """X as the estimator sees it."""
    for step in model[:-1] if isinstance(model, Pipeline) else ():
        X = step.transform(X)
    return X


def answers(model, X):
    """What a file of the corpus must still say."""
    decisions = np.asarray(model.decision_function(X))
    return {"decisions": decisions.tolist(), "labels": [str(label) for label in model.predict(X)]}


def main():
    from maxmargin.persistence.model_file import VERSION, save

    folder = CORPUS / f"v{VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    expected = {}
    for name in NAMES:
        model, X, y = fitted(name)
        save(model, folder / f"{name}.safetensors", X, y, **BESIDE.get(name, {}))
        expected[name] = answers(model, X)
    (folder / "answers.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
