"""What a person reads: the key sentence of each verdict, one line for a repr, and help instead of a silent truth."""

import math
import re

import numpy as np
import pytest

from maxmargin import HardMarginSVM, NotSeparableError, Perceptron, Verdict, Verification, separability
from maxmargin.certificates.certificate import Certificate, certify
from maxmargin.certificates.measure import Claim
from maxmargin.certificates.report import OPEN, REPORTED
from maxmargin.data import synthetic

SQUARE = ([[0, 0], [0, 2], [3, 0], [5, 1]], ["left", "left", "right", "right"])


def optimal():
    return HardMarginSVM().fit(*SQUARE).certificate_


def learnt():
    X, y, _ = synthetic.separable_gaussians(n=30, d=3, seed=1)
    return Perceptron().fit(X, y).certificate_


def not_separable():
    return separability(*synthetic.xor())


def weakly_separable():
    return separability(*synthetic.touching()[:2])


def undecided():
    X, y = np.array([[1.0], [np.nextafter(1.0, 2.0)]]), np.array([-1.0, 1.0])
    return certify(X, y, Claim(np.ones(1), -1.0, np.arange(2), np.ones(2)), norm="l2", fit_intercept=True, tol=1e-9)


def stopped():
    X, y, _ = synthetic.separable_gaussians(n=30, d=3, margin=0.01, seed=6)
    return Perceptron(max_updates=3).fit(X, y).certificate_


MAKERS = {
    Verdict.OPTIMAL: optimal,
    Verdict.SEPARABLE: learnt,
    Verdict.NOT_SEPARABLE: not_separable,
    Verdict.WEAKLY_SEPARABLE: weakly_separable,
    Verdict.UNDECIDED: undecided,
    Verdict.STOPPED: stopped,
}


@pytest.mark.parametrize("verdict", Verdict)
def test_the_report_opens_with_the_verdict(verdict):
    certificate = MAKERS[verdict]()
    assert certificate.verdict is verdict
    lines = certificate.report().splitlines()
    assert lines[0] == (OPEN if verdict is Verdict.STOPPED else verdict.value)
    assert all(line.startswith("  ") for line in lines[1:])
    assert all(len(line) <= 120 for line in lines)
    assert str(certificate) == certificate.report()


@pytest.mark.parametrize("verdict", Verdict)
def test_the_repr_is_one_line(verdict):
    text = repr(MAKERS[verdict]())
    assert "\n" not in text
    assert text.startswith(f"Certificate({verdict.name}, margin in [")
    assert text.endswith("rows carry weight)")


def test_the_whole_of_an_optimal_report():
    """To the letter, but for digits that rounding may change."""
    expected = [
        r"The widest street: no plane has a larger margin, to the stated gap\.",
        r"  problem: 'right' against 'left', 4 rows x 2 columns, with a bias",
        r"  best l2 margin: between 1\.(49999999999\d*|5) and 1\.(5000000000\d*|5)",
        r"  street \(twice the margin\): at least (3|2\.9999999999\d*)",
        r"  primal 0\.2222222222\d+, dual 0\.2222222222\d+, relative gap of the margin \d(\.\d)?e-1\d",
        r"  rows that carry weight: \d of 4: 0(, 1)?, 2",
        r"  conditions of optimality, largest violation as float64 computes it \(row\):",
        *(
            rf"    {name} +\d\.\de[+-]\d\d(  \(row \d\))?"
            for name in ("stationarity", "primal", "dual", "slackness", "bias")
        ),
    ]
    lines = optimal().report().splitlines()
    assert len(lines) == len(expected)
    for line, pattern in zip(lines, expected, strict=True):
        assert re.fullmatch(pattern, line), line


@pytest.mark.parametrize(
    ("make", "sentences"),
    [
        (
            not_separable,
            ["best l2 margin: 0, no plane has a positive one", "witness: 4 rows whose hulls meet: 0, 1, 2, 3"],
        ),
        (weakly_separable, ["no plane has a positive one", "witness: 3 rows whose hulls meet: 0, 2, 3"]),
        (undecided, ["best l2 margin: between -", " and "]),
        (stopped, ["best l2 margin: between -", "rows that carry weight: 3 of 30:"]),
        (learnt, ["Novikov: mistakes <= R^2/g^2", " of at most ", "1 against -1, 30 rows x 3 columns, with a bias"]),
    ],
)
def test_key_sentences(make, sentences):
    report = make().report()
    for sentence in sentences:
        assert sentence in report


@pytest.mark.parametrize("make", [not_separable, weakly_separable, undecided, stopped])
def test_nothing_is_said_of_a_street_that_is_not_there(make):
    report = make().report()
    assert "street" not in report.replace(Verdict.OPTIMAL.value, "")
    assert "conditions of optimality" not in report


def test_what_no_data_can_prove_stands_apart():
    """Why a run ended and what it counted come last, and under a title of their own."""
    for make, words in ((stopped, Verdict.STOPPED.value), (learnt, "Novikov: mistakes <= R^2/g^2")):
        lines = make().report().splitlines()
        place = lines.index(REPORTED)
        assert [words in line for line in lines[place + 1 :]] == [True]
        assert not any(words in line for line in lines[:place])
    assert REPORTED not in optimal().report()


def test_no_plane_at_all_is_no_lower_bound():
    certificate = certify(
        np.eye(2), np.array([1.0, -1.0]), Claim(np.zeros(2), 0.0, np.arange(2), np.ones(2)),
        norm="l1", fit_intercept=False, tol=1e-9,
    )  # fmt: skip
    assert certificate.margin_lower == -math.inf
    assert "best l1 margin: at most 0.5" in certificate.report()
    assert "through the origin" in certificate.report()


def test_many_rows_are_counted_not_listed():
    X = np.vstack([np.eye(20), -np.eye(20)])
    certificate = HardMarginSVM(fit_intercept=False).fit(X, np.repeat([1, 0], 20)).certificate_
    assert certificate.n_support >= 20
    assert f" and {certificate.n_support - 12:,} more" in certificate.report()


def test_one_class_against_the_rest():
    certificate = HardMarginSVM().fit([[0.0], [1.0], [2.0], [9.0]], ["a", "a", "a", "b"]).certificate_
    assert "'b' against 'a'" in certificate.report()
    parts = HardMarginSVM(on_inseparable="return").fit([[0.0], [2.0], [9.0]], ["a", "b", "c"]).certificate_
    assert "'c' against the rest" in parts[2].report()


@pytest.mark.parametrize("verdict", Verdict)
def test_a_certificate_is_neither_true_nor_false(verdict):
    with pytest.raises(TypeError, match=r"ask \.is_separable, or \.verify\(X, y\)"):
        bool(MAKERS[verdict]())
    with pytest.raises(TypeError, match="neither true nor false"):
        assert not MAKERS[verdict]()


def test_is_separable():
    answers = {verdict: make().is_separable for verdict, make in MAKERS.items()}
    assert answers == {
        Verdict.OPTIMAL: True,
        Verdict.SEPARABLE: True,
        Verdict.NOT_SEPARABLE: False,
        Verdict.WEAKLY_SEPARABLE: False,
        Verdict.UNDECIDED: None,
        Verdict.STOPPED: None,
    }


def test_a_verification_stands_in_an_if_and_speaks():
    certificate = optimal()
    X, y = SQUARE
    answer = certificate.verify(X, y)
    assert isinstance(answer, Verification)
    if not answer:
        pytest.fail(str(answer))
    assert re.fullmatch(
        r"Verified in float64, rounding included: the best margin lies between .* and .*\.", str(answer)
    )
    exactly = certificate.verify(X, y, exact=True)
    assert str(exactly).startswith("Verified in exact rational arithmetic: ")
    refused = certificate.verify(X, y[::-1])
    assert not refused
    assert str(refused).startswith("Refused (in float64, rounding included): the plane's margin is -")
    assert (refused.holds, refused.exact, len(refused.reasons) > 0) == (False, False, True)
    assert ".." not in str(certificate.verify(X, y[::-1], exact=True))


def test_a_verified_witness_says_what_it_means():
    X, y = synthetic.xor()
    answer = separability(X, y).verify(X, y)
    assert str(answer).endswith("the hulls of the 4 witness rows meet, so no plane separates the classes.")


def test_the_error_carries_the_report():
    X, y = synthetic.xor()
    with pytest.raises(NotSeparableError, match="Not separable: a point lies in the hulls of both classes") as caught:
        HardMarginSVM().fit(X, y)
    assert "witness: 4 rows whose hulls meet: 0, 1, 2, 3" in str(caught.value)
    assert caught.value.certificate.verify(X, y, exact=True)


def test_figures_follow_from_each_other():
    certificate = optimal()
    assert certificate.gap == certificate.primal - certificate.dual
    assert 0.0 <= certificate.gap < 1e-9
    assert certificate.relative_gap == (certificate.margin_upper - certificate.margin_lower) / certificate.margin_upper
    assert certificate.primal == pytest.approx(0.5 / 1.5**2)
    assert math.isnan(not_separable().gap)
    assert math.isnan(not_separable().relative_gap)
    assert stopped().gap == math.inf
    assert isinstance(Certificate.from_json(certificate.to_json()), Certificate)
