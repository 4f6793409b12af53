"""The loss of a certificate is part of its claim: another name, another width, a width where none belongs."""

import dataclasses
import math
import re

import numpy as np
import pytest
from certificate_truth import truth_of
from soft_margin_cases import BOUND, OBJECTIVE, fitted, mixed

from maxmargin.certificates.soft_margin import SoftMarginCertificate

EITHER = f"{OBJECTIVE}|{BOUND}|is not between"
NEEDED = "the Huber hinge needs one, and no other loss has it"
NO_NUMBER = "huber_width must be a number"


def huber(**settings):
    return fitted(*mixed(seed=21), loss="huber_hinge", **settings)


def modified(**settings):
    """Some labels are wrong: there are rows beyond every knee."""
    X, y = mixed(seed=22)
    y[:6] *= -1
    return fitted(X, y, loss="modified_huber", **settings)


def hinge():
    return fitted(*mixed(seed=23))


def refused(case, reason, **changes):
    lie = case._replace(certificate=dataclasses.replace(case.certificate, **changes))
    for exact in (False, True):
        answer = lie.verify(exact)
        assert not answer
        assert re.search(reason, str(answer)), answer


@pytest.mark.parametrize("make", [huber, modified])
@pytest.mark.parametrize(
    "settings",
    [{}, {"fit_intercept": False}, {"C": 0.01}, {"C": 50.0}, {"class_weight": {1: 2.5}}, {"solver": "newton"}],
    ids=str,
)
def test_honest_ones_are_believed_and_true(make, settings):
    case = make(**settings)
    certificate = case.certificate
    assert certificate.is_optimal
    for exact in (False, True):
        assert case.verify(exact), case.verify(exact)
    again = SoftMarginCertificate.from_json(certificate.to_json())
    assert again.huber_width == certificate.huber_width == (0.5 if make is huber else None)
    assert again.verify(case.X, case.y, exact=True)
    if not certificate.class_weight:
        assert truth_of(certificate, case.X, case.y) is None


def test_another_name():
    refused(huber(), EITHER, loss="hinge", huber_width=None)
    refused(huber(), EITHER, loss="squared_hinge", huber_width=None)
    refused(huber(), EITHER, loss="modified_huber", huber_width=None)
    refused(hinge(), EITHER, loss="huber_hinge", huber_width=0.5)
    refused(modified(C=30.0), EITHER, loss="huber_hinge", huber_width=0.5)
    refused(modified(C=30.0), EITHER, loss="squared_hinge")
    refused(modified(), "the loss 'ramp' is not known", loss="ramp")


def test_another_width():
    case = huber()
    for width in (0.25, 0.499, 0.501, 1.0, 100.0):
        refused(case, EITHER, huber_width=width)
    for width in (0.0, -0.5, math.nan, math.inf, 1e-12):
        refused(case, NO_NUMBER, huber_width=width)
    refused(case, "huber_width must be a number or None", huber_width="0.5")
    refused(case, "huber_width must be a number or None", huber_width=True)


def test_a_width_where_none_belongs():
    refused(huber(), NEEDED, huber_width=None)
    refused(hinge(), NEEDED, huber_width=0.5)
    refused(modified(), NEEDED, huber_width=0.5)


@pytest.mark.parametrize("make", [huber, modified])
def test_weights_beyond_the_box(make):
    case = make(C=0.05)
    weights = case.certificate.weights.copy()
    weights[np.argmax(weights)] *= 1.0 + 1e-9
    box = "its cost" if make is huber else "4 times its cost"
    refused(case, f"is not between 0 and {box}", weights=weights)


@pytest.mark.parametrize("make", [huber, modified])
def test_bounds_moved_a_little(make):
    case = make()
    c = case.certificate
    refused(case, f"{OBJECTIVE}|in exact arithmetic the plane's objective", primal=c.primal * (1.0 - 1e-6))
    refused(case, f"{BOUND}|in exact arithmetic the weights prove", dual=c.dual * (1.0 + 1e-6))


def test_older_documents_have_no_width():
    certificate = hinge().certificate
    fields = certificate.to_dict()
    assert fields.pop("huber_width") is None
    assert SoftMarginCertificate.from_dict(fields).huber_width is None
