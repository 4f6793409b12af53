"""Every field of every kind of certificate, forged one by one: `verify` refuses it, or the certificate is still true.

The fields are taken from the JSON of honest certificates, so that a new one is forged from the day it is there. What
may be accepted is listed below, with the reason; and then the bounds are still true, by fractions that share nothing
with the judge.
"""

import copy
import dataclasses
import functools
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from certificate_truth import truth_of
from small_certificates import MAKERS, X, fitted

from maxmargin import HardMarginSVM, KernelPerceptron, LinearSVM, MulticlassCertificate, Perceptron
from maxmargin.certificates.form import FITS
from maxmargin.certificates.proof import TheoremBound, Violation
from maxmargin.certificates.report import REPORTED

WORDS = {
    "verdict": ["OPTIMAL", "SEPARABLE", "WEAKLY_SEPARABLE", "NOT_SEPARABLE", "UNDECIDED", "STOPPED", "BOUNDED"],
    "norm": ["l1", "l2"],
    "loss": ["hinge", "squared_hinge"],
    "kernel": ["linear", "poly", "rbf", "function", "precomputed"],
}
MAY_BE_ACCEPTED = {  # a field, and why a forgery of it can be true
    "tol": "what was asked for is known to the user alone: it stands in the reported part, and agrees with the verdict",
    "verdict": "a weaker verdict is true as well",
    "margin_lower": "a lower bound that is lower",
    "margin_upper": "an upper bound that is higher",
    "primal": "an upper bound that is higher",
    "dual": "a lower bound that is lower",
    "norm": "where no plane separates, the best margin is 0 in every norm",
    "fit_intercept": "where no plane separates, none does through the origin",
    "kernel": "poly of degree 1 is linear",
    "w": "a plane of which the bounds are true as well",
    "b": "a plane of which the bounds are true as well",
    "rows": "the same rows in another order, or rows of equal weight exchanged",
    "weights": "weights that prove the bounds as well",
    "shares": "weights that prove the bounds as well",
    "rule_w": "a rule that proves the bounds as well",
    "rule_b": "a rule that proves the bounds as well",
    "rule_width": "a rule that proves the bounds as well",
    "class_weight": "the same pairs in another order",
    "kkt": "left out: nothing is said",
    "theorems": "left out, or said twice: they stand in the reported part",
    "theorems.bound": "a bound that depends on a step, a guess or a number of sweeps: what the algorithm reported",
    "theorems.plane": "of a step of one's own: another plane, or none, of which the bound can be true as well",
    "theorems.measured": "what was counted: what the algorithm reported",
    "kkt.stationarity.value": "a figure that is rounding alone",
    "kkt.dual.value": "a figure that is rounding alone",
    "kkt.slackness.value": "a figure that is rounding alone",
    "kkt.bias.value": "a figure that is rounding alone",
    "kkt.primal.row": "a row that is as near",
    "kkt.dual.row": "a row that carries as little",
    "kkt.slackness.row": "a row that has as much, up to rounding",
}


def places(value, path=()):
    """Every field, and what is in it; of a list, its first entry."""
    if path:
        yield path
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*path, name))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


def at(value, path):
    return functools.reduce(lambda inner, step: inner[step], path, value)


def name_of(path):
    return ".".join(step for step in path if isinstance(step, str))


def forged_values(value, name):
    if isinstance(value, bool):
        return [not value, "yes"]
    if isinstance(value, int):
        return [10**6, value + 1, value + 0.5, 10**400]
    if isinstance(value, float):
        numbers = [1.5 * value, 0.5 * value, -value, 0.0, math.inf, math.nan, 10**400]
        return [number for number in numbers if number != value]
    if isinstance(value, str):
        return [word for word in ["nonsense", "", *WORDS.get(name, [])] if word != value]
    if isinstance(value, list):
        return [other for other in ([], value[:-1], value + value[-1:], value[::-1]) if other != value]
    return [None, {}] if isinstance(value, dict) else [0, "nonsense"]


@functools.cache
def honest(name):
    return MAKERS[name]()


def forgeries(case):
    """Certificates that differ from the honest one in one place."""
    fields, kind = case.certificate.to_dict(), type(case.certificate)
    for path in places(fields):
        for count, value in enumerate(forged_values(at(fields, path), name_of(path))):
            changed = copy.deepcopy(fields)
            at(changed, path[:-1])[path[-1]] = value
            try:
                yield path, count, case._replace(certificate=kind.from_dict(changed))
            except ValueError:  # no certificate at all
                yield path, count, None


def is_true(case):
    """Whether the bounds hold; None where fractions cannot tell."""
    if case.sample_weight is not None or getattr(case.certificate, "kernel", "linear") in ("rbf", "function"):
        return None
    if case.certificate.verdict.name == "NOT_SEPARABLE" and hasattr(case.certificate, "kernel"):
        return None
    return truth_of(case.certificate, case.X, case.y) is None


@pytest.mark.parametrize("name", MAKERS)
def test_the_honest_ones_are_verified_and_true(name):
    case = honest(name)
    for exact in case.ways:
        assert case.verify(exact), case.verify(exact)
    assert is_true(case) in (True, None)


@pytest.mark.parametrize("name", MAKERS)
def test_a_forged_field_is_refused_or_true(name):
    refused = set()
    for path, count, forged in forgeries(honest(name)):
        if forged is None:
            refused.add(path[0])
            continue
        for exact in forged.ways if count < 2 and name_of(path) != "degree" else forged.ways[:1]:
            if exact and getattr(forged.certificate, "kernel", "linear") in ("rbf", "function"):
                continue  # which exact arithmetic does not know
            answer = forged.verify(exact)
            if answer:
                assert name_of(path) in MAY_BE_ACCEPTED, (path, forged.certificate)
                assert is_true(forged) in (True, None), (path, forged.certificate)
            else:
                assert answer.reasons
                refused.add(path[0])
    fields = {field.name for field in dataclasses.fields(honest(name).certificate)}
    certificate = honest(name).certificate
    empty = {name for name in ("rows", "shares") if hasattr(certificate, "shares") and not len(certificate.rows)}
    assert fields - refused - empty <= {"theorems", "kkt", "class_weight"}  # some of all others must have been false


def of_other_types(value):
    """What no JSON holds, and what no certificate of ours does: of other types, left out in part, or too large."""
    if isinstance(value, np.ndarray):
        yield from (value.astype(kind) for kind in (np.uint64, np.float32, np.longdouble, object, bool))
        yield np.ma.masked_array(value, mask=np.arange(value.size).reshape(value.shape) == 0)
        yield from (value[:, None], value.tolist())
        if value.dtype.kind == "i":  # in falling order, and twice: their unsigned differences are positive
            yield from (value.astype(np.uint64)[::-1], np.append(value, value[:1]).astype(np.uint64))
    elif isinstance(value, float | int):
        yield from (np.float32(0.1), np.float16(1.0), np.longdouble(1.0), np.array(1.0), 10**400, -(10**400), "1", 1j)
        yield from (np.int8(1), Fraction(1, 2), np.ma.masked)


@pytest.mark.parametrize("name", MAKERS)
def test_a_field_of_another_type_is_refused(name):
    case = honest(name)
    for field in dataclasses.fields(case.certificate):
        own = getattr(case.certificate, field.name)
        if field.name in ("positive", "negative"):  # of whatever type: equal labels are the same
            continue
        for value in of_other_types(own):
            if field.type == "int" and isinstance(value, np.int8) and own == value:  # the same whole number
                continue
            forged = case._replace(certificate=dataclasses.replace(case.certificate, **{field.name: value}))
            for exact in case.ways:
                assert not forged.verify(exact), (field.name, value)


def test_the_cases_are_of_every_kind_and_verdict():
    kinds = {type(honest(name).certificate) for name in MAKERS}
    assert {kind.__name__ for kind in kinds} == {
        "Certificate",
        "SoftMarginCertificate",
        "BlockMarginCertificate",
        "KernelCertificate",
        "KernelSeparationCertificate",
    }
    for kind in kinds:
        verdicts = {case.verdict for case in (honest(name).certificate for name in MAKERS) if type(case) is kind}
        if kind.__name__ == "KernelSeparationCertificate":  # which proves no other
            assert {verdict.name for verdict in verdicts} == {"SEPARABLE", "NOT_SEPARABLE", "STOPPED"}
        else:
            assert verdicts == set(kind.verdicts)
        for field in dataclasses.fields(kind):
            assert field.name == "verdict" or str(field.type) in FITS


def above_what_was_reported(report):
    return report.partition(REPORTED)[0].rstrip()


@pytest.mark.parametrize("name", MAKERS)
def test_what_only_the_algorithm_knows_is_said_in_its_own_part(name):
    """tol and theorems can be forged, within limits: nothing outside of that part changes."""
    c = honest(name).certificate
    changes = [{"theorems": ()}]
    if "tol" in vars(c) and c.tol > 0.0:
        changes.append({"tol": 0.9})
    for change in changes:
        forged = dataclasses.replace(c, **change)
        assert above_what_was_reported(forged.report()) == above_what_was_reported(c.report())


# ------------------------------------------------------------------------------------------------ one after the other

float64_and_exact = pytest.mark.parametrize("exact", [False, True])


@float64_and_exact
@pytest.mark.parametrize(
    ("theorem", "words"),
    [
        (TheoremBound("Fermat: mistakes <= 0", 0.0, 0.0), "there is no theorem 'Fermat"),
        (TheoremBound("Novikov: mistakes <= R^2/g^2", 1.0, 1.0), "the theorem promises .*, not 1 "),
        (TheoremBound("Novikov: mistakes <= R^2/g^2", math.inf, 1.0), "the theorem promises .*, not inf "),
        (TheoremBound("halving: updates <= 64 R^2/g^2", 64.0, 1.0), "the theorem promises .*, not 64 "),
        (TheoremBound("margin perceptron, G <= g: updates <= 12 R^2/g^2", 12.0, 1.0), "the theorem promises"),
        (TheoremBound("Winnow, halving: mistakes <= (32/3) ln(m)/g^2", 3.0, 1.0), "the theorem promises"),
        (TheoremBound("Winnow: mistakes <= ln(m)/(eta (g - eta/2))", 1.0, 1.0), "the theorem promises"),
        (TheoremBound("halving: share of the best lifted margin, promised and proven", 0.25, 1.5, False), "at most 1"),
        (TheoremBound("halving: share of the best lifted margin, promised and proven", 0.25, 1e-9, False), "at least"),
        (TheoremBound("halving: share of the best lifted margin, promised and proven", 0.5, 0.6, False), "promises"),
        (TheoremBound("Pegasos: loss met per sweep <= P + 4 R^2 (1 + ln T)/(2 lambda^2 T)", 9.0, 1.0), "no theorem"),
    ],
    ids=lambda value: getattr(value, "name", "")[:30],
)
def test_theorems_that_are_invented_or_false(exact, theorem, words):
    case = fitted(Perceptron())
    forged = case._replace(certificate=dataclasses.replace(case.certificate, theorems=(theorem,)))
    answer = forged.verify(exact)
    assert not answer
    assert any(re.search(words, reason) for reason in answer.reasons), answer


def test_a_count_that_is_none():
    case = fitted(Perceptron())
    [novikov] = case.certificate.theorems
    for count in (-1.0, 0.5, math.inf):
        forged = dataclasses.replace(case.certificate, theorems=(dataclasses.replace(novikov, measured=count),))
        assert "what was counted is no count" in str(case._replace(certificate=forged).verify(False))
    assert math.floor(novikov.measured) == novikov.measured
    kernel = fitted(KernelPerceptron("rbf"))
    [novikov] = kernel.certificate.theorems
    lower = dataclasses.replace(novikov, bound=0.9 * novikov.bound)
    forged = dataclasses.replace(kernel.certificate, theorems=(lower,))
    assert "the theorem promises" in str(kernel._replace(certificate=forged).verify(False))


@float64_and_exact
@pytest.mark.parametrize(
    "name", ["hard", "hard l1", "perceptron", "soft", "soft squared", "kernel linear", "kernel hard"]
)
@pytest.mark.parametrize("condition", ["stationarity", "primal", "dual", "slackness", "bias"])
def test_conditions_at_rows_that_do_not_exist(exact, name, condition):
    case = honest(name)
    for row in (999, -2, 12):
        violation = Violation(getattr(case.certificate.kkt, condition).value, row)
        kkt = dataclasses.replace(case.certificate.kkt, **{condition: violation})
        answer = case._replace(certificate=dataclasses.replace(case.certificate, kkt=kkt)).verify(exact)
        assert not answer
        assert f"row {row}" in str(answer)


@float64_and_exact
def test_rows_off_a_weakly_separating_plane_are_counted_again(exact):
    weak = honest("weakly separable")
    assert weak.certificate.rows_off_plane == 2  # of five: three lie on the plane
    for count in (0, 1, 3, 5, 6):
        forged = dataclasses.replace(weak.certificate, rows_off_plane=count)
        words = f"2 rows are counted off a weakly separating plane, not {count}"
        assert words in str(weak._replace(certificate=forged).verify(exact))
    for name in ("hard", "not separable", "undecided", "stopped"):  # where there is no such plane
        case = honest(name)
        for count in (0, 2, case.certificate.n_rows):
            forged = dataclasses.replace(case.certificate, rows_off_plane=count)
            words = f"no rows are counted off a weakly separating plane, not {count}"
            assert words in str(case._replace(certificate=forged).verify(exact))


@float64_and_exact
@pytest.mark.parametrize("name", MAKERS)
def test_a_class_against_itself_is_no_question(exact, name):
    case = honest(name)
    c = case.certificate
    if exact and exact not in case.ways:
        return
    counting = np.ones(len(case.y), bool) if case.sample_weight is None else case.sample_weight > 0.0
    for label in (c.positive, c.negative):
        rows = int(np.count_nonzero(counting & (np.asarray(case.y) == label)))
        forged = dataclasses.replace(c, positive=label, negative=label, n_rows=rows)
        assert not case._replace(certificate=forged).verify(exact)


# --------------------------------------------------------------------------------------------------- many classes

THREE = np.array(["a", "b", "c"] * 4)


@functools.cache
def many(strategy, soft):
    rows = X + 9.0 * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]] * 4)
    svm = LinearSVM(multi_class=strategy) if soft else HardMarginSVM(multi_class=strategy)
    return rows, svm.fit(rows, THREE).certificate_.parts


@float64_and_exact
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_every_class_or_pair_has_one_part(exact, soft, strategy):
    rows, parts = many(strategy, soft)
    assert MulticlassCertificate(parts).verify(rows, THREE, exact=exact)
    for wrong in (parts[:-1], parts[1:], (*parts, parts[0]), (parts[0], parts[0], parts[2]), parts[:1], ()):
        answer = MulticlassCertificate(wrong).verify(rows, THREE, exact=exact)
        assert not answer
        assert any(words in str(answer) for words in ("there must be", "which is none of"))
    other = many("ovo" if strategy == "ovr" else "ovr", soft)[1]
    for wrong in ((*parts, other[0]), (*parts[:-1], other[-1])):
        assert "some parts are about a class" in str(MulticlassCertificate(wrong).verify(rows, THREE, exact=exact))
    mixed = (*parts[:-1], many(strategy, not soft)[1][-1])
    assert "must be of one kind" in str(MulticlassCertificate(mixed).verify(rows, THREE, exact=exact))


@float64_and_exact
def test_a_pair_turned_round_is_the_same_pair(exact):
    rows, parts = many("ovo", False)
    c = parts[0]
    turned = dataclasses.replace(c, positive=c.negative, negative=c.positive, w=-c.w, b=-c.b)
    assert turned.verify(rows, THREE, exact=exact)
    doubled = MulticlassCertificate((*parts, turned))
    assert "there must be one part about 'a' against 'b'" in str(doubled.verify(rows, THREE, exact=exact))
