"""The parts of a certificate of many classes: which there must be, and which kind each is."""

import dataclasses

import numpy as np
import pytest

from maxmargin.certificates.certificate import Certificate, Verdict, certify
from maxmargin.certificates.kernel_margin import KernelCertificate
from maxmargin.certificates.kernel_separation import KernelSeparationCertificate
from maxmargin.certificates.measure import Claim
from maxmargin.certificates.multiclass import MulticlassCertificate, kind_of
from maxmargin.certificates.soft_margin import SoftMarginCertificate

X, Y = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]), np.array(["a", "b", "c"])
PLANES = {"ab": ([-1.0, 0.0], 2.0), "ac": ([0.0, -1.0], 2.0), "bc": ([1.0, -1.0], 0.0)}


def part(positive, negative):
    """The best plane between two of the three rows."""
    key = "".join(sorted((positive, negative)))
    w, b = PLANES[key]
    sign = 1.0 if key[0] == positive else -1.0
    rows = [i for i in range(3) if Y[i] in key]
    signs = np.where(Y[rows] == positive, 1.0, -1.0)
    claim = Claim(sign * np.array(w), sign * b, np.arange(2), np.array([0.5, 0.5]))
    made = certify(
        X[rows],
        signs,
        claim,
        norm="l2",
        fit_intercept=True,
        tol=1e-6,
        positive=positive,
        negative=negative,
    )
    kkt = made.kkt
    there = {
        name: dataclasses.replace(getattr(kkt, name), row=rows[getattr(kkt, name).row])
        for name in ("primal", "dual", "slackness")
    }
    return dataclasses.replace(made, rows=np.array(rows), kkt=dataclasses.replace(kkt, **there))


AB, AC, BC = part("a", "b"), part("a", "c"), part("b", "c")
REST = [dataclasses.replace(AB, positive=label, negative=None) for label in "abc"]


def refused(*parts, y=Y, weights=None):
    answer = MulticlassCertificate(parts).verify(X, y, sample_weight=weights)
    assert not answer
    assert answer.exact is False
    return answer.reasons


def refusals(*parts):
    return list(MulticlassCertificate(parts)._refusals())


def test_every_pair_once_in_whatever_order_and_direction():
    for parts in ((AB, AC, BC), (BC, AB, AC), (part("c", "b"), part("b", "a"), AC)):
        certificate = MulticlassCertificate(parts)
        answer = certificate.verify(X, Y)
        assert (answer.holds, answer.exact, len(answer.reasons)) == (True, False, 3)
        assert certificate.verify(X, Y, exact=True).exact is True
        assert certificate.is_optimal
        assert refusals(*parts) == []


def test_optimal_only_if_every_part_is():
    half = dataclasses.replace(AC, verdict=Verdict.SEPARABLE)
    assert not MulticlassCertificate((AB, half, BC)).is_optimal
    assert not MulticlassCertificate((half, half, half)).is_optimal
    assert repr(MulticlassCertificate((AB, half, BC))) == "MulticlassCertificate(3 problems: 2 OPTIMAL, 1 SEPARABLE)"


def test_no_parts_or_parts_of_two_kinds():
    words = "the parts of a certificate must be of one kind, and there must be some"
    assert refusals() == [words]
    soft = object.__new__(SoftMarginCertificate)
    assert refusals(AB, AC, soft) == [words]
    assert refused() == (words,)


def test_the_rest_and_pairs_do_not_go_together():
    words = "some parts are about a class against the rest, and others about a pair of classes"
    assert refusals(AB, AC, REST[1]) == [words]
    assert refusals(REST[0], AC) == [words]
    assert refused(AB, AC, REST[1]) == (words,)


def test_a_pair_that_is_missing_or_comes_twice():
    missing, twice = (f"there must be one part about 'b' against 'c', and there are {k}" for k in (0, 2))
    number = "3 labels make 3 problems, and there are {} parts"
    assert refusals(AB, AC) == [missing, number.format(2)]
    assert refusals(AB, AC, BC, BC) == [twice, number.format(4)]
    assert refusals(AB, AC, BC, part("c", "b")) == [twice, number.format(4)]
    assert refusals(AB, AB, AC)[:2] == [
        "there must be one part about 'a' against 'b', and there are 2",
        "there must be one part about 'b' against 'c', and there are 0",
    ]
    assert len(refusals(AB, AB, AC)) == 2
    assert refused(AB, AC) == (missing,)


def test_a_pair_of_a_class_with_itself_is_one_problem_too_many():
    itself = dataclasses.replace(AB, negative="a")
    assert refusals(AB, AC, BC, itself) == ["3 labels make 3 problems, and there are 4 parts"]


def test_a_class_against_the_rest_that_comes_twice():
    assert refusals(*REST) == []
    twice = refusals(*REST, REST[2])
    assert twice == [
        "there must be one part about 'c', and there are 2",
        "3 labels make 3 problems, and there are 4 parts",
    ]


def test_a_label_that_no_part_is_about():
    words = "row 2 has the label 'c', which is none of 'a', 'b'"
    assert refused(AB) == (words,)
    assert MulticlassCertificate((AB,)).verify(X, Y, sample_weight=[1.0, 1.0, 0.0])
    assert refused(*REST[:2])[0] == words


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"kernel": "rbf", "C": 1.0}, KernelCertificate),
        ({"kernel": "rbf", "loss": "hinge", "C": 1.0}, KernelCertificate),
        ({"kernel": "rbf"}, KernelSeparationCertificate),
        ({"loss": "hinge", "C": 1.0}, SoftMarginCertificate),
        ({"norm": "l2"}, Certificate),
    ],
)
def test_the_kind_of_a_part_is_recognised_by_its_fields(fields, kind):
    assert kind_of(fields) is kind
