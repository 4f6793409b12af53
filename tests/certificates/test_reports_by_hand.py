"""Reports, and certificates as text, line by line: made by hand, so that every number and every condition shows."""

import dataclasses
import json
import math
from enum import StrEnum

import numpy as np
import pytest

from maxmargin.certificates import report as written
from maxmargin.certificates.certificate import Certificate, FurtherLook, Verdict
from maxmargin.certificates.kernel_margin import KernelCertificate, KernelVerdict
from maxmargin.certificates.kernel_separation import KernelSeparationCertificate
from maxmargin.certificates.proof import KKT, TheoremBound, Violation, promise
from maxmargin.certificates.record import plain, read_back, spell_out
from maxmargin.certificates.soft_margin import SoftMarginCertificate, SoftVerdict
from maxmargin.certificates.words import sentences, title

KKT_5 = KKT(Violation(0.5), Violation(0.0, 3), Violation(0.25, 0), Violation(math.inf, 4), Violation(1e-9))
WITH = {"positive": "p", "negative": "n", "n_rows": 1234, "n_columns": 1000}
CARRYING = {"rows": np.array([7, 5, 9]), "weights": np.array([1.0, 0.0, 2.0])}
SMALL = {"kernel": "poly", "gamma": 0.5, "coef0": 1.0, "degree": 3}


def hard(**changes):
    fields = {
        "verdict": Verdict.SEPARABLE, "norm": "l1", "fit_intercept": True, "w": np.ones(1), "b": 0.0,
        "margin_lower": 1.0, "margin_upper": 4.0, "primal": 0.5, "dual": 0.125, "tol": 0.5,
    }  # fmt: skip
    return Certificate(**(fields | WITH | CARRYING | changes))


def soft(**changes):
    fields = {
        "verdict": SoftVerdict.OPTIMAL, "loss": "squared_hinge", "C": 10.0, "fit_intercept": False,
        "class_weight": (("p", 0.5), ("n", 2.0)), "w": np.ones(1), "b": 0.0, "primal": 4.0, "dual": 1.0, "tol": 0.001,
    }  # fmt: skip
    return SoftMarginCertificate(**(fields | WITH | CARRYING | changes))


def kernel(**changes):
    fields = {
        "verdict": KernelVerdict.BOUNDED, "C": 10.0, "class_weight": (), "b": 0.0, "primal": 4.0, "dual": 1.0,
        "tol": 0.001,
    }  # fmt: skip
    return KernelCertificate(**(fields | SMALL | WITH | CARRYING | changes))


def separation(**changes):
    fields = {
        "verdict": Verdict.SEPARABLE, "fit_intercept": True, "margin_lower": 1.0, "margin_upper": 4.0, "primal": 0.5,
        "dual": 0.125,
    }  # fmt: skip
    return KernelSeparationCertificate(**(fields | SMALL | WITH | CARRYING | changes))


PROBLEM = "  problem: 'p' against 'n', 1,234 rows x 1,000 columns, with a bias"
CARRIED = "  rows that carry weight: 2 of 1,234: 7, 9"
CONDITIONS = [
    "    stationarity 5.0e-01",
    "    primal       0.0e+00",
    "    dual         2.5e-01  (row 0)",
    "    slackness    inf  (row 4)",
    "    bias         1.0e-09",
]


def lines(certificate):
    return certificate.report().splitlines()


def test_a_hard_margin():
    expected = [
        Verdict.SEPARABLE.value,
        PROBLEM,
        "  best l1 margin: between 1 and 4",
        "  street (twice the margin): at least 2",
        "  primal 0.5, dual 0.125, relative gap of the margin 0.75",
        CARRIED,
    ]
    assert lines(hard()) == expected
    origin = lines(hard(fit_intercept=False, negative=None))
    assert origin[1] == "  problem: 'p' against the rest, 1,234 rows x 1,000 columns, through the origin"
    zero = lines(hard(margin_lower=0.0, verdict=Verdict.UNDECIDED))
    assert zero[2:] == ["  best l1 margin: between 0 and 4", CARRIED]
    assert lines(hard(margin_lower=-math.inf, verdict=Verdict.UNDECIDED))[2] == "  best l1 margin: at most 4"
    small = lines(hard(margin_lower=0.25))
    assert small[3] == "  street (twice the margin): at least 0.5"
    judged = lines(hard(kkt=KKT_5))
    assert judged[:6] == expected
    assert judged[7:] == CONDITIONS
    best = lines(hard(kkt=KKT_5, verdict=Verdict.OPTIMAL))
    assert best[6] != judged[6]
    assert best[6] == "  conditions of optimality, largest violation as float64 computes it (row):"
    assert lines(hard(weights=np.zeros(3)))[-1] == expected[-2]


@pytest.mark.parametrize("margin", [0.25, 1.0])
def test_what_could_still_be_gained_is_said_of_a_margin_of_any_size(margin):
    told = sentences(hard(margin_lower=margin, margin_upper=2.0 * margin))
    assert told[1] == "So at most 50 % of it could still be gained."
    [third] = sentences(hard(margin_lower=2.0 * margin, margin_upper=3.0 * margin))[1:2]
    assert third == "So at most 34 % of it could still be gained."
    open_still = hard(margin_lower=0.0, margin_upper=2.0, verdict=Verdict.UNDECIDED)
    assert "gained" not in "".join(sentences(open_still))


def test_an_inseparable_table():
    c = hard(verdict=Verdict.NOT_SEPARABLE, margin_lower=-1.0, margin_upper=0.0)
    assert lines(c) == [
        Verdict.NOT_SEPARABLE.value,
        PROBLEM,
        "  best l1 margin: 0, no plane has a positive one",
        "  witness: 2 rows whose hulls meet: 7, 9",
    ]
    origin = dataclasses.replace(c, weights=np.array([0.0, 1.0, 0.0]), fit_intercept=False)
    [row] = origin.rows[origin.weights > 0.0]
    assert lines(origin)[3] == f"  witness: 1 row, which is the origin: {row}"
    assert sentences(origin) == [f"Row {row} proves it: it is the origin."]
    assert title(origin).endswith("\n1 row of 1,234 proves it")
    assert title(c).endswith("\n2 rows of 1,234 prove it")
    weak = dataclasses.replace(c, verdict=Verdict.WEAKLY_SEPARABLE, rows_off_plane=1000, further_look=FurtherLook.FOUND)
    assert lines(weak)[4:] == ["  off the plane, on their own side: 1,000 of 1,234 rows; all others lie on it"]
    late = dataclasses.replace(c, further_look=FurtherLook.NO_TIME)
    assert lines(late)[4:] == [written.REPORTED, f"    {FurtherLook.NO_TIME.value}"]
    assert len(lines(hard(further_look=FurtherLook.NO_TIME))) == 6
    stopped = lines(hard(verdict=Verdict.STOPPED, margin_lower=-1.0))
    assert stopped[0] == written.OPEN
    assert stopped[-2:] == [written.REPORTED, f"    {Verdict.STOPPED.value}"]


def test_a_soft_margin():
    c = soft()
    expected = [
        SoftVerdict.OPTIMAL.value,
        PROBLEM.replace("with a bias", "through the origin"),
        "  squared hinge, C = 10 times 0.5 for 'p', 2 for 'n'",
        "  least objective: between 1 and 4",
        "  relative gap 0.75",
        CARRIED,
    ]
    asked = [written.REPORTED, "    a relative gap of 0.001 was asked for"]
    assert lines(c) == [*expected, *asked]
    judged = lines(soft(kkt=KKT_5))
    assert judged[7:] == [*CONDITIONS, *asked]
    bounded = lines(soft(kkt=KKT_5, verdict=SoftVerdict.BOUNDED))
    assert bounded[6] != judged[6]
    assert lines(soft(class_weight=()))[2] == "  squared hinge, C = 10"


def test_a_kernel_margin():
    asked = [written.REPORTED, "    a relative gap of 0.001 was asked for"]
    assert lines(kernel()) == [
        KernelVerdict.BOUNDED.value,
        PROBLEM,
        "  poly kernel (0.5 x.x' + 1)^3, hinge, C = 10",
        "  least objective: between 1 and 4",
        "  relative gap 0.75",
        CARRIED,
        *asked,
    ]
    strict = lines(kernel(C=math.inf, kernel="rbf", primal=0.5, dual=0.125, kkt=KKT_5))
    assert strict[2] == "  rbf kernel exp(-0.5 |x - x'|^2), hard margin"
    assert strict[3].startswith("  best margin: between 0.99999999999")
    assert strict[8:] == [*CONDITIONS, *asked]
    assert written.ON_TRUST not in strict
    assert lines(kernel(kkt=KKT_5))[6] != lines(kernel(kkt=KKT_5, verdict=KernelVerdict.OPTIMAL))[6]
    for name, words in (("function", "a function as the kernel"), ("precomputed", "precomputed kernel")):
        trusted = lines(kernel(kernel=name))
        assert trusted[2] == f"  {words}, hinge, C = 10"
        assert trusted[6] == written.ON_TRUST
    none = kernel(verdict=KernelVerdict.NOT_SEPARABLE, C=math.inf, primal=math.inf, dual=math.inf)
    assert lines(none)[3:] == [
        "  best margin: 0, no plane has a positive one",
        "  witness: 2 rows whose hulls meet in the space of the kernel: 7, 9",
        *asked,
    ]


def test_digits():
    thirds = lines(hard(margin_lower=1 / 3, margin_upper=1.0, primal=2 / 3, dual=1 / 3))
    assert thirds[2:5] == [
        "  best l1 margin: between 0.333333333333 and 1",
        "  street (twice the margin): at least 0.666666666666",
        "  primal 0.666666666667, dual 0.333333333333, relative gap of the margin 0.67",
    ]
    assert lines(soft(primal=3.0))[4] == "  relative gap 0.67"
    assert lines(separation(theorems=(TheoremBound("N", 1 / 3, 2 / 3),)))[-1] == "    N: 0.666667 of at most 0.333334"


def test_a_plane_in_the_space_of_a_kernel():
    theorems = (TheoremBound("Novikov", 16.0, 3.0), TheoremBound("Other", 2.0, 5.0, False))
    c = separation(theorems=(*theorems, TheoremBound("Open", math.inf, 1.0)))
    assert lines(c) == [
        Verdict.SEPARABLE.value,
        PROBLEM.replace("with a bias", "rows lifted by a bias"),
        "  poly kernel (0.5 x.x' + 1)^3",
        "  best margin: between 1 and 4",
        CARRIED,
        written.REPORTED,
        "    Novikov: 3 of at most 16",
        "    Other: 5 against at least 2",
        "    Open: 1 without a bound",
    ]
    assert lines(separation(fit_intercept=False))[1] == PROBLEM.removesuffix(", with a bias")
    assert lines(separation(kernel="precomputed"))[-1] == written.ON_TRUST
    assert lines(separation(verdict=Verdict.STOPPED))[0] == written.OPEN
    assert (theorems[0].holds, theorems[1].holds) == (True, True)
    assert TheoremBound("", 1.0, 1.0).holds
    assert TheoremBound("", 1.0, 1.0, False).holds
    assert not TheoremBound("", 1.0, 2.0).holds
    assert not TheoremBound("", 2.0, 1.0, False).holds


@pytest.mark.parametrize(("count", "more"), [(12, False), (13, True)])
def test_at_most_a_dozen_rows_are_named(count, more):
    weights = np.arange(1.0, count + 1.0)
    text = written.heaviest(hard(rows=np.arange(count) + 100, weights=weights))
    named = [str(100 + k) for k in range(count - 12, count)]
    assert text.startswith(", ".join(named))
    assert (text != ", ".join(named)) == more
    equal = written.heaviest(hard(rows=np.arange(20)[::-1], weights=np.ones(20)))
    assert equal.startswith("8, 9, 10")


# ------------------------------------------------------------------------------------------------ certificates as text


def test_there_and_back():
    for c in (
        hard(kkt=KKT_5, margin_lower=-math.inf),
        soft(theorems=(TheoremBound("t", math.inf, 1.0),)),
        separation(),
    ):
        text = c.to_json()
        assert json.loads(text)["verdict"] == c.verdict.name
        again = type(c).from_json(text)
        assert again.to_json() == text
        assert (again.verdict, again.kkt, again.theorems) == (c.verdict, c.kkt, c.theorems)
        assert again.weights.dtype == np.float64
        assert again.rows.dtype == np.intp
    assert Certificate.from_json(hard().to_json()).w.dtype == np.float64
    blank = object.__new__(SoftMarginCertificate)
    blank.__setstate__({**vars(soft()), "verdict": SoftVerdict.BOUNDED.value})
    assert (blank.verdict, blank.C, blank.positive) == (SoftVerdict.BOUNDED, 10.0, "p")
    assert soft().to_dict()["class_weight"] == [["p", 0.5], ["n", 2.0]]


def test_what_is_no_certificate_is_refused():
    fields = soft().to_dict()
    assert SoftMarginCertificate.from_dict({k: v for k, v in fields.items() if k != "theorems"}).theorems == ()
    for change, words in (
        ({"verdict": "SEPARABLE"}, "unknown verdict 'SEPARABLE'"),
        ({"more": 1}, r"unknown \['more'\]"),
        ({"C": None}, "not a certificate"),
        ({"rows": [1.5]}, "not a certificate"),
        ({"kkt": {"primal": {"value": 0.0}}}, "not a certificate"),
        ({"class_weight": [1]}, "not a certificate"),
        ({"tol": 1.0}, "tol must be above 0 and below 1, not 1.0"),
        ({"tol": 0.0}, "tol must be"),
        ({"tol": math.nan}, "tol must be"),
    ):
        with pytest.raises(ValueError, match=words):
            SoftMarginCertificate.from_dict({**fields, **change})
    with pytest.raises(ValueError, match=r"missing \['C'\]"):
        SoftMarginCertificate.from_dict({k: v for k, v in fields.items() if k != "C"})
    assert SoftMarginCertificate.from_dict({**fields, "tol": 0.999}).tol == 0.999
    for number in (-0.1, 0.0, 1.0, 2.0):
        assert not SoftMarginCertificate.may_ask_for(number)
        assert Certificate.may_ask_for(number) == (number == 0.0)


def test_values_as_plain_python():
    class Word(StrEnum):
        ONE = "the first"

    assert plain(Word.ONE) == "ONE"
    assert plain(np.float64(0.5)) == 0.5
    assert type(plain(np.int64(3))) is int
    assert plain((np.float64(1.0), Violation(0.5))) == [1.0, {"value": 0.5, "row": -1}]
    assert plain(np.array([[1, 2]])) == [[1, 2]]
    assert plain(Violation) is Violation
    for value in (math.inf, -math.inf, [1.0, {"a": math.inf, "b": ["inf", 2]}], {"number": 1, "x": 2}, True, None):
        assert read_back(json.loads(json.dumps(spell_out(value), allow_nan=False))) == value
    assert math.isnan(read_back(spell_out(math.nan)))
    assert (written.number(1e-4), written.number(1 / 3), written.number(5.0)) == ("0.0001", "0.3333333333333333", "5")


def test_a_certificate_is_no_truth_value():
    with pytest.raises(TypeError, match=r"\.is_optimal"):
        bool(soft())
    c = hard()
    assert (c.gap, c.n_support, str(c), c.is_about_margin) == (0.375, 2, c.report(), True)


@pytest.mark.parametrize(
    ("theorem", "words"),
    [
        (TheoremBound("Novikov", 2683.9, 1008.0), "Novikov: 1,008 of at most 2,683."),
        (TheoremBound("Novikov", math.inf, 1008.0), "Novikov: it promises nothing here; 1,008 were counted."),
        (TheoremBound("Pegasos", math.inf, 0.125), "Pegasos: it promises nothing here; 0.125 were counted."),
        (TheoremBound("share", 0.25, 0.60987, at_most=False), "share: 0.25 is promised, 0.609 is reached."),
    ],
)
def test_what_a_theorem_promises(theorem, words):
    assert promise(theorem) == words
