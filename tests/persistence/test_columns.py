"""A ColumnTransformer in a file: however its columns were named, it comes back as it was."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from maxmargin import LinearSVM
from maxmargin.persistence import ModelFileError, load, save
from maxmargin.persistence.column_blocks import kinds_of_columns

FRAME = pd.DataFrame(
    {
        "kg": [1.5, 2.5, 3.0, 4.5, 2.0, 8.0],
        "colour": ["red", "blue", "red", "red", "blue", "grey"],
        "cm": [10.0, 12.0, 9.0, 30.0, 31.0, 35.0],
        "note": ["a good one", "good", "so so", "bad", "a bad one", ""],
    }
).astype({"colour": object, "note": object})
KIND = np.array([0, 0, 0, 1, 1, 1])
NUMBERS = ["kg", "cm"]


def scaled(columns, **options):
    return ColumnTransformer([("numbers", StandardScaler(), columns)], **options)


@pytest.mark.parametrize(
    "columns",
    [
        NUMBERS, [0, 2], [-4, -2], slice(0, 3, 2), [True, False, True, False], np.array([0, 2]),
        make_column_selector("kg|cm"),
    ],
    ids=["names", "indices", "from the end", "slice", "mask", "array", "selector"],
)  # fmt: skip
def test_columns_by_any_name(columns, tmp_path):
    model = make_pipeline(scaled(columns), LinearSVM()).fit(FRAME, KIND)
    save(model, tmp_path / "model", FRAME, KIND)
    again = load(tmp_path / "model")
    assert np.array_equal(again.decision_function(FRAME), model.decision_function(FRAME))
    shuffled = FRAME[["note", "cm", "colour", "kg"]]
    assert np.array_equal(again.decision_function(shuffled), model.decision_function(shuffled))
    assert again[0].get_feature_names_out().tolist() == ["numbers__kg", "numbers__cm"]
    assert again.fit(FRAME, 1 - KIND).predict(FRAME).tolist() == (1 - KIND).tolist()


def test_arrays_without_names(tmp_path):
    table = FRAME.to_numpy()
    words = make_pipeline(SimpleImputer(strategy="constant", fill_value="none"), OneHotEncoder())
    columns = ColumnTransformer([("kg", "passthrough", [0]), ("words", words, [1]), ("note", HashingVectorizer(), 3)])
    columns.set_params(note__n_features=32)
    model = make_pipeline(columns, LinearSVM()).fit(table, KIND)
    save(model, tmp_path / "model", table, KIND)
    again = load(tmp_path / "model")
    assert np.array_equal(again.decision_function(table), model.decision_function(table))
    assert kinds_of_columns(again[0], 4) == ["number", "category", "number", "text"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (scaled(NUMBERS, transformer_weights={"numbers": 2.0}), "has weights or a remainder"),
        (scaled(["kg"], remainder=OneHotEncoder()), "has weights or a remainder"),
        (ColumnTransformer([("a", StandardScaler(), ["kg"]), ("b", StandardScaler(), NUMBERS)]), "in two blocks"),
        (ColumnTransformer([("a", HashingVectorizer(token_pattern="(a+)+"), "note")]), "the parameter token_pattern"),
        (
            ColumnTransformer([("a", HashingVectorizer(tokenizer=str.split, token_pattern=None), "note")]),
            "parameter to",
        ),
        (ColumnTransformer([("a", OneHotEncoder(min_frequency=2), ["colour"])]), "the parameter min_frequency"),
    ],
    ids=["weights", "remainder", "twice", "pattern", "function", "rare"],
)
def test_what_a_file_cannot_hold(columns, message, tmp_path):
    model = make_pipeline(columns, LinearSVM()).fit(FRAME, KIND)
    with pytest.raises(ModelFileError, match=message):
        save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())
