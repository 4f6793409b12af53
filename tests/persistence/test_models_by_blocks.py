"""Models of rows by blocks in a file: they come back with their certificates, and false ones are refused."""

import copy

import numpy as np
import pytest
from block_certificates import HEIGHTS, certified, of_many_classes, rows_of

from maxmargin import LinearSVM
from maxmargin.certificates.claimed_blocks import CutRows
from maxmargin.persistence import ModelFileError, load, save, verify_model
from maxmargin.persistence.container import pack, unpack
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.record import read_certificate, write_certificate
from maxmargin.persistence.schema import Reader


def fitted(classes=("no", "yes"), **options):
    X, y = rows_of(classes=classes)
    rows = CutRows(X, np.array(HEIGHTS))
    return LinearSVM(loss="squared_hinge", memory="10MB", tol=1e-6, **options).fit(rows, y), rows, X, y


@pytest.mark.parametrize("classes", [("no", "yes"), (0, 1, 2)])
@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_it_comes_back_with_its_certificate(classes, strategy, tmp_path):
    model, rows, X, y = fitted(classes, multi_class=strategy)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.certificate_.to_json() == model.certificate_.to_json()
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.certificate_.verify(rows, y)
    assert verify_model(again, rows, y)
    assert (tmp_path / "model").stat().st_size < 6000
    with pytest.raises(AttributeError, match="nothing of a fit has the length of the table"):
        _ = again.support_


def test_other_planes_than_those_of_its_certificate_are_not_kept(tmp_path):
    model, rows, _, y = fitted()
    model.coef_ = 1.5 * model.coef_ + 0.1
    assert "does not predict by the planes" in str(verify_model(model, rows, y))
    with pytest.raises(ModelFileError, match="it does not predict by the planes that are proven"):
        save(model, tmp_path / "model")


@pytest.mark.parametrize(("certificate", "classes"), [(certified, ("no", "yes")), (of_many_classes, (0, 1, 2))])
def test_listed_rows_rules_and_heights_are_arrays(certificate, classes):
    honest, arrays = certificate(*rows_of(classes=classes)), {}
    document = write_certificate(honest, arrays)
    assert {name: array.dtype.name for name, array in arrays.items()} == {
        "certificate.rows": "int64",
        "certificate.shares": "float64",
        "certificate.w": "float64",
        "certificate.rule_w": "float64",
        "certificate.heights": "int64",
    }
    parts = getattr(honest, "parts", (honest,))
    sides = [(part.positive, part.negative) for part in parts]
    again = read_certificate(Reader(dict(arrays)), document, sides, 3)
    assert again.to_json() == honest.to_json()


def changed(tmp_path, edit):
    """The file of a model with something else in it."""
    model, *_ = fitted()
    save(model, tmp_path / "model")
    document, arrays = unpack((tmp_path / "model").read_bytes())
    document, arrays = copy.deepcopy(document), dict(arrays)
    edit(document, arrays)
    (tmp_path / "model").write_bytes(pack(document, arrays))
    return tmp_path / "model"


def of_part(**fields):
    return lambda document, arrays: document["certificate"]["parts"][0].update(fields)


def of_arrays(name, make):
    return lambda document, arrays: arrays.update({name: make(arrays[name])})


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (of_part(fingerprint=7), "fingerprint must be a short text"),
        (of_part(rule_used="yes"), "rule_used must be true or false"),
        (of_part(rule_width=None), "rule_width must be a number"),
        (of_part(more=1), "a field 'more'"),
        (of_part(n_rows=-1), "n_rows must be a whole number"),
        (of_part(kkt=0), "kkt must be null"),
        (lambda document, arrays: document["certificate"]["parts"][0].pop("rule_b"), "no field 'rule_b'"),
        (lambda document, arrays: arrays.pop("certificate.heights"), "'certificate.heights' is missing"),
        (of_arrays("certificate.heights", lambda own: -own), "none negative"),
        (of_arrays("certificate.heights", lambda own: own.astype(float)), "is of type float64"),
        (of_arrays("certificate.rule_w", lambda own: own[:, :-1]), "has the shape"),
        (of_arrays("certificate.rule_w", lambda own: own * np.nan), "holds NaN"),
        (of_arrays("certificate.rows", lambda own: np.array([1])), "has 1 entries, where 0 are needed"),
        (of_arrays("certificate.shares", lambda own: np.array([0.5])), "has the shape"),
        (
            lambda document, arrays: document["certificate"].update(kind="soft margin"),
            "'certificate.weights' is missing",
        ),
        (lambda document, arrays: document["fitted"].update(parts=["planes"]), "does not consist of the parts"),
    ],
)
def test_what_is_not_exactly_right_is_refused(edit, words, tmp_path):
    with pytest.raises(ModelFileError, match=words):
        load(changed(tmp_path, edit))


def test_a_fit_in_memory_has_no_certificate_by_blocks(tmp_path):
    X, y = rows_of()
    save(LinearSVM(loss="squared_hinge", tol=1e-6).fit(X, y), tmp_path / "memory")
    document, arrays = unpack((tmp_path / "memory").read_bytes())
    own = {}
    said = write_certificate(fitted()[0].certificate_, own)
    arrays = {name: array for name, array in arrays.items() if not name.startswith("certificate.")} | own
    (tmp_path / "model").write_bytes(pack(copy.deepcopy(document) | {"certificate": said}, arrays))
    with pytest.raises(ModelFileError, match="a certificate by blocks goes with a fit of rows by blocks"):
        load(tmp_path / "model")


def test_parts_of_different_blocks_are_not_kept():
    X, y = rows_of(classes=(0, 1, 2))
    parts = of_many_classes(X, y).parts[:2] + of_many_classes(X, y, [60]).parts[2:]
    with pytest.raises(Refusal, match="tables of different blocks"):
        write_certificate(type(of_many_classes(X, y))(parts), {})
