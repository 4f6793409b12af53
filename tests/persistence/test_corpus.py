"""Files of every version load, answer what they answered, and verify."""

import json

import numpy as np
import pytest
from persistence.make_corpus import (
    CORPUS,
    DIAGONALS,
    MODELS,
    NAMES,
    POINTS,
    THREE,
    XOR,
    estimator_of,
    prepared,
)

from maxmargin.persistence import load, model_info, save, verify_model
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
    assert verify_model(info.model, X, y)


@pytest.mark.parametrize("version", ["v2", "v3"])
def test_hard_margins_of_kernels_are_canonical_in_every_version(version):
    """f = 1 at the nearest row. XOR with (x.x' + 1)^2: w is sqrt(2) x1 x2 / 2, so that 1 / |w| is sqrt(2)."""
    model = load(CORPUS / version / "kernel_hard.safetensors")
    assert model.margin_ == pytest.approx(2**0.5, rel=1e-9)
    assert model.street_ == pytest.approx(2 * 2**0.5, rel=1e-9)
    np.testing.assert_allclose(model.dual_coef_, [[0.125, 0.125, -0.125, -0.125]], rtol=1e-9)
    np.testing.assert_allclose(model.decision_function(XOR), DIAGONALS, rtol=1e-9)
    three = load(CORPUS / version / "kernel_hard_three.safetensors")
    values = three.values_of_planes(POINTS)
    for k, label in enumerate(three.classes_):
        assert np.min(np.where(label == THREE, 1, -1) * values[:, k]) == pytest.approx(1.0, rel=1e-9)
    np.testing.assert_allclose(three.margin_, [part.margin_lower for part in three.certificate_], rtol=1e-9)


def test_a_model_of_an_earlier_version_is_saved_as_one_of_this(tmp_path):
    for path in FILES:
        info = model_info(path)
        save(info.model, tmp_path / "model")
        again = model_info(tmp_path / "model")
        assert again.version == VERSION
        X = MODELS.get(path.stem, MODELS["perceptron"])()[1]
        assert np.array_equal(again.model.decision_function(X), info.model.decision_function(X))
