"""Files of every version load, answer what they answered, and verify."""

import json

import numpy as np
import pytest
from persistence.make_corpus import CORPUS, MODELS, NAMES, estimator_of, prepared

from maxmargin.persistence import load, model_info
from maxmargin.persistence.model_file import VERSION

FILES = sorted(CORPUS.glob("*/*.safetensors"))


def name_in_corpus(path):
    return str(path.relative_to(CORPUS))


each_file = pytest.mark.parametrize("path", FILES, ids=name_in_corpus)


def test_this_version_is_in_the_corpus():
    assert {path.stem for path in FILES if path.parent.name == f"v{VERSION}"} == set(NAMES)


@each_file
def test_file_is_small(path):
    assert path.stat().st_size < 6_000


@each_file
def test_file_answers_what_it_answered(path):
    expected = json.loads((path.parent / "answers.json").read_text())[path.stem]
    model, X = load(path), MODELS.get(path.stem, MODELS["perceptron"])()[1]
    assert [str(label) for label in model.predict(X)] == expected["labels"]
    np.testing.assert_allclose(model.decision_function(X), expected["decisions"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("path", [path for path in FILES if path.stem in MODELS], ids=name_in_corpus)
def test_file_verifies_on_its_data(path):
    info, (_, X, y) = model_info(path), MODELS[path.stem]()
    rows = prepared(info.model, X)
    assert info.fingerprint.matches(rows, y)
    assert estimator_of(info.model).certificate_.verify(rows, y)
