"""Certificates of the soft margin as JSON, of many classes, and of labels of every kind."""

import dataclasses
import json
import math
import pickle

import numpy as np
import pytest
from falsehoods import changed, honest
from hypothesis import given, settings
from hypothesis import strategies as st
from soft_margin_cases import ALL, hinge, mixed
from strategies import namings

from maxmargin import LinearSVM, MulticlassCertificate
from maxmargin.certificates.soft_margin import SoftMarginCertificate, SoftVerdict


@pytest.mark.parametrize("make", ALL)
def test_json_and_back(make):
    case = honest(make)
    c = case.certificate
    text = c.to_json()
    assert "\n" not in text
    json.loads(text)
    for copy in (SoftMarginCertificate.from_json(text), SoftMarginCertificate.from_dict(c.to_dict())):
        assert copy.to_json() == text
        assert copy.report() == c.report()
        assert repr(copy) == repr(c)
        assert copy.verdict is c.verdict
        assert case._replace(certificate=copy).verify(True)


def test_json_holds_what_json_cannot():
    c = dataclasses.replace(honest(hinge).certificate, primal=math.inf, verdict=SoftVerdict.BOUNDED, kkt=None)
    copy = SoftMarginCertificate.from_json(c.to_json())
    assert copy.primal == math.inf
    assert copy.kkt is None
    assert copy.relative_gap == math.inf


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"verdict": "SURE"}, "unknown verdict 'SURE'"),
        ({"C": "much"}, "not a certificate"),
        ({"rows": [0.5]}, "not a certificate"),
        ({"class_weight": [1]}, "not a certificate"),
        ({"kkt": {"stationarity": 1}}, "not a certificate"),
    ],
)
def test_what_is_no_certificate_is_not_read(changes, words):
    fields = honest(hinge).certificate.to_dict() | changes
    with pytest.raises(ValueError, match=words):
        SoftMarginCertificate.from_dict(fields)


def test_missing_and_unknown_fields_are_named():
    fields = honest(hinge).certificate.to_dict()
    del fields["loss"]
    with pytest.raises(ValueError, match=r"missing \['loss'\], unknown \['hinge'\]"):
        SoftMarginCertificate.from_dict(fields | {"hinge": 1})


def three_classes(seed=12):
    random = np.random.default_rng(seed)
    centres = np.repeat([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]], 20, axis=0)
    return centres + random.normal(size=(60, 2)), np.repeat(["a", "b", "c"], 20)


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("balanced", [None, "balanced"])
def test_many_classes(strategy, loss, balanced):
    X, y = three_classes()
    weight = np.random.default_rng(1).integers(0, 3, 60).astype(float)
    svm = LinearSVM(multi_class=strategy, loss=loss, class_weight=balanced, tol=1e-5).fit(X, y, sample_weight=weight)
    certificate = svm.certificate_
    assert certificate.is_optimal
    for copy in (certificate, MulticlassCertificate.from_json(certificate.to_json())):
        for exact in (False, True):
            answer = copy.verify(X, y, exact=exact, sample_weight=weight)
            assert answer, answer
        assert not copy.verify(X, y)
        assert not copy.verify(X[::-1], y, sample_weight=weight)
    assert [type(part) for part in copy] == [SoftMarginCertificate] * 3
    assert copy.report() == certificate.report()
    parts = list(certificate)
    parts[1] = dataclasses.replace(parts[1], dual=parts[1].primal)
    answer = MulticlassCertificate(tuple(parts)).verify(X, y, sample_weight=weight)
    assert not answer
    other = "the rest" if strategy == "ovr" else "'c'"
    assert all(reason.startswith(f"[{parts[1].positive!r} against {other}]: ") for reason in answer.reasons)


def test_rows_of_a_third_class_are_no_part_of_a_pair():
    X, y = three_classes()
    pair = LinearSVM(multi_class="ovo").fit(X, y).certificate_[0]
    liar = dataclasses.replace(pair, rows=changed(pair.rows, -1, 59))
    assert "row 59 is not part of this problem" in str(liar.verify(X, y))
    outside = dataclasses.replace(pair, weights=changed(pair.weights, -1, 1e9))
    assert f"of row {pair.rows[-1]} " in str(outside.verify(X, y))


@given(data=st.data(), naming=namings)
@settings(max_examples=20)
def test_labels_of_every_kind(data, naming):
    X, y = mixed(20, 2, seed=data.draw(st.integers(0, 100)))
    named = naming(y)
    if len(np.unique(y)) < 2:
        return
    weights = {label: 1.0 + place for place, label in enumerate(np.unique(named).tolist())}
    certificate = LinearSVM(class_weight=weights).fit(X, named).certificate_
    assert SoftMarginCertificate.from_json(certificate.to_json()).verify(X, named, exact=True)


@pytest.mark.parametrize("rows", [[], [0], [2, 5, 700], [5, 2], [2, 2], [-1, 3], [0.5, 2.0], [[1, 2]]], ids=str)
def test_rows_of_any_form_come_out_of_a_pickle_as_they_went_in(rows):
    c = dataclasses.replace(honest(hinge).certificate, rows=np.array(rows))
    again = pickle.loads(pickle.dumps(c)).rows
    assert (again.dtype.kind, again.tolist()) == (c.rows.dtype.kind, rows)
