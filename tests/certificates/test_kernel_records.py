"""Kernel certificates as text and JSON, and of many classes."""

import json
import math

import numpy as np
import pytest
from falsehoods import (
    honest,
)
from kernel_certificates import (
    ALL,
    WITNESS,
    fitted,
    hard_poly,
    no_line,
    poly,
    rbf,
    square_of_products,
)

from maxmargin.certificates.kernel_margin import (
    KernelCertificate,
)
from maxmargin.certificates.multiclass import MulticlassCertificate


@pytest.mark.parametrize("make", ALL)
def test_json_and_back(make):
    case = honest(make)
    c = case.certificate
    text = c.to_json()
    assert "\n" not in text
    json.loads(text)
    for copy in (KernelCertificate.from_json(text), KernelCertificate.from_dict(c.to_dict())):
        assert copy.to_json() == text
        assert copy.report() == c.report()
        assert repr(copy) == repr(c)
        assert copy.verdict is c.verdict
        assert case._replace(certificate=copy).verify(case.ways[-1])


@pytest.mark.parametrize("make", ALL)
def test_the_report_says_what_is_proven(make):
    c = honest(make).certificate
    report = c.report()
    assert report.startswith(c.verdict.value)
    assert ("hard margin" in report) == c.is_hard
    assert ("witness" in report) == (make in WITNESS)
    trusted = c.kernel in ("function", "precomputed") and make not in WITNESS
    assert ("on the condition that the kernel is positive" in report) == trusted
    assert repr(c).startswith(f"KernelCertificate({c.verdict.name}, {c.kernel}")
    with pytest.raises(TypeError, match=r"neither true nor false: ask \.is_optimal"):
        bool(c)


def test_what_follows_from_the_bounds():
    hard, soft, none = honest(hard_poly).certificate, honest(poly).certificate, honest(no_line).certificate
    assert hard.is_separable is True
    assert 0.0 < hard.margin_lower <= hard.margin_upper < math.inf
    assert hard.margin_lower == pytest.approx(1.0 / math.sqrt(2.0 * hard.primal))
    assert soft.is_separable is None
    assert math.isnan(soft.margin_lower)
    assert soft.gap == soft.primal - soft.dual
    assert (none.is_separable, none.margin_lower, none.margin_upper) == (False, 0.0, 0.0)
    assert math.isnan(none.relative_gap)
    assert not none.is_optimal


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"verdict": "SURE"}, "unknown verdict 'SURE'"),
        ({"gamma": "much"}, "not a certificate"),
        ({"rows": [0.5]}, "not a certificate"),
    ],
)
def test_what_is_no_certificate_is_not_read(changes, words):
    with pytest.raises(ValueError, match=words):
        KernelCertificate.from_dict(honest(rbf).certificate.to_dict() | changes)


def test_many_classes():
    random = np.random.default_rng(21)
    X, y = random.normal(size=(45, 2)) + np.repeat([[0, 0], [2, 0], [0, 2]], 15, axis=0), np.repeat([0, 1, 2], 15)
    parts = [fitted(X, y, pair=pair, kernel="poly").certificate for pair in [(0, 1), (0, 2), (1, 2)]]
    certificate = MulticlassCertificate(tuple(parts))
    for copy in (certificate, MulticlassCertificate.from_json(certificate.to_json())):
        assert [type(part) for part in copy] == [KernelCertificate] * 3
        assert copy.is_optimal
        assert copy.is_separable is None
        assert copy.verify(X, y, exact=True)
        assert not copy.verify(X[::-1], y)
    parts = [fitted(X, y, pair=(k, None), kernel=square_of_products).certificate for k in range(3)]
    rest = MulticlassCertificate(tuple(parts))
    assert rest.verify(X, y, kernel=square_of_products)
    assert "give it again" in str(rest.verify(X, y))
    table = square_of_products(X, X)
    pairs = [fitted(table, y, pair=pair, kernel="precomputed").certificate for pair in [(0, 1), (0, 2), (1, 2)]]
    assert MulticlassCertificate(tuple(pairs)).verify(table, y, exact=True)
