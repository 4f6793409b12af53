"""Claims about the hard margin, to the last digit: what is accepted is true, and what is weaker is still true."""

import dataclasses
import functools
import math
import re

import numpy as np
import pytest
from falsehoods import Case, changed, honest
from hard_margin_cases import ALL, IMPLIED, PROVEN, VERDICTS, WITNESSED, lie
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from oracles import NOT, SEPARABLE, WEAKLY, is_lower_bound, is_upper_bound, truth
from strategies import nearly_touching, separable, tables
from strategies import weakly_separable as made_weakly_separable

from maxmargin import HardMarginSVM, Verdict, separability
from maxmargin.certificates.certificate import Certificate, certify
from maxmargin.certificates.measure import Claim
from maxmargin.certificates.proof import KKT, Violation

# ---------------------------------------------------------------------------------------------- to the last digit


@settings(max_examples=60)
@given(data=st.data(), fit_intercept=st.booleans(), norm=st.sampled_from(["l2", "l1"]))
def test_exactly_the_margin_and_not_one_unit_in_the_last_place_more(data, fit_intercept, norm):
    """The rows are integers times a power of two, so that the best margin is a double: it can be claimed exactly."""
    made = separable(fit_intercept, columns=st.integers(1, 2))
    known = data.draw(made if norm == "l2" else made.filter(lambda known: known.axis))
    support = support_of(known)
    difference = known.X[support[0]] - known.X[support[1]]
    middle = (known.X[support[0]] + known.X[support[1]]) / 2.0
    b = -float(difference @ middle) if fit_intercept else 0.0
    claim = Claim(difference, b, np.array(support), np.ones(2))
    signs = known.y.astype(float)
    issued = certify(known.X, signs, claim, norm=norm, fit_intercept=fit_intercept, tol=1e-9)
    case = Case(issued, known.X, known.y)
    assert issued.verdict is Verdict.OPTIMAL
    up, down = math.nextafter(known.margin, math.inf), math.nextafter(known.margin, 0.0)
    assert lie(case, margin_lower=known.margin, margin_upper=known.margin).verify(exact=True)
    assert lie(case, margin_lower=down, margin_upper=up).verify(exact=True)
    too_low = lie(case, margin_lower=down, margin_upper=down).verify(exact=True)
    assert "leave room for a margin above" in str(too_low)
    too_high = lie(case, margin_lower=up, margin_upper=up).verify(exact=True)
    assert "row" in str(too_high)
    assert repr(up) in str(too_high)
    for factor in (1.0 + 1e-12, 1.0 + 1e-6, 2.0):
        assert not lie(case, margin_lower=known.margin * factor).verify(exact=True)
        assert not lie(case, margin_upper=known.margin / factor).verify(exact=True)


def support_of(known):
    """The two rows that were put opposite each other: as near as rows of both classes can be."""
    plus, minus = np.flatnonzero(known.y > 0), np.flatnonzero(known.y < 0)
    distances = np.linalg.norm(known.X[plus][:, None] - known.X[minus][None], axis=2)
    i, j = np.unravel_index(int(np.argmin(distances)), distances.shape)
    return int(plus[i]), int(minus[j])


@settings(max_examples=60)
@given(data=nearly_touching(), fit_intercept=st.booleans())
def test_only_a_true_witness_is_believed(data, fit_intercept):
    """All rows are offered as a witness: it is accepted exactly when the hulls meet."""
    n, d = data.X.shape
    liar = Certificate(
        Verdict.NOT_SEPARABLE, "l2", fit_intercept, 1, -1, n, d, np.zeros(d), 0.0, np.arange(n), np.ones(n),
        margin_lower=-math.inf, margin_upper=0.0, primal=math.inf, dual=math.inf, tol=1e-9,
    )  # fmt: skip
    answer = liar.verify(data.X, data.y)
    separable = truth(data.X, data.y, fit_intercept=fit_intercept) == SEPARABLE
    assert ("These rows are separable" in str(answer)) == separable
    assert not (answer and separable)


@st.composite
def claims(draw):
    """Small data and a certificate with every part drawn at random, or taken from an honest one."""
    fit_intercept = draw(st.booleans())
    data = draw(st.one_of(tables(), separable(fit_intercept), nearly_touching(), made_weakly_separable(fit_intercept)))
    (n, d), signs = data.X.shape, data.y.astype(float)
    norm = draw(st.sampled_from(["l2", "l1"]))
    w = draw(hnp.arrays(np.float64, d, elements=st.integers(-2, 2).map(float)))
    b = float(draw(st.integers(-2, 2))) if fit_intercept else 0.0
    if draw(st.booleans()):
        b *= float(np.abs(data.X).max())
    weights = draw(hnp.arrays(np.float64, n, elements=st.integers(0, 2).map(float)))
    meets, stopped = draw(st.booleans()), draw(st.booleans())
    claim = Claim(w, b, np.arange(n), weights, meets and bool(weights.any()), stopped)
    honest = certify(
        data.X, signs, claim, norm=norm, fit_intercept=fit_intercept, tol=draw(st.sampled_from([1e-9, 0.5]))
    )
    scale = float(np.abs(data.X).max()) or 1.0
    number = st.one_of(
        st.sampled_from([0.0, 1e-300, math.inf, -math.inf, 0.5 * scale, scale, 1e-16 * scale, -scale]),
        st.sampled_from([honest.margin_lower, honest.margin_upper]).flatmap(
            lambda x: st.sampled_from([x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf), 1.0001 * x])
        ),
    )
    changes = {}
    if draw(st.booleans()):
        changes["verdict"] = draw(st.sampled_from(Verdict))
    if draw(st.booleans()):
        changes["margin_lower"] = draw(number)
    if draw(st.booleans()):
        changes["margin_upper"] = draw(number)
    if draw(st.booleans()):
        changes["fit_intercept"] = draw(st.booleans())
    if draw(st.booleans()):
        changes["kkt"] = draw(st.sampled_from([None, KKT(*[Violation(1e300, row) for row in [0] * 5])]))
    return lie(Case(honest, data.X, data.y), **changes)


@settings(max_examples=250)
@given(case=claims())
def test_whatever_is_accepted_is_true(case):
    """Random claims; the oracle checks those that pass. Float64 may be generous to a bound, not to a verdict."""
    c = case.certificate
    signs = case.y.astype(float)
    known = None
    for exact in (False, True):
        answer = case.verify(exact)
        assert answer.reasons
        if not answer:
            continue
        known = known or truth(case.X, case.y, fit_intercept=c.fit_intercept)
        assert known in MEANS.get(c.verdict, {known})
        assert c.verdict is not Verdict.OPTIMAL or c.relative_gap <= c.tol
        if exact:
            assert c.margin_lower == -math.inf or is_lower_bound(c.margin_lower, case.X, signs, c.w, c.b, c.norm)
            if c.margin_upper > 0.0:
                assert is_upper_bound(c.margin_upper, case.X[c.rows], signs[c.rows], c.weights, c.norm, c.fit_intercept)


MEANS = {
    Verdict.OPTIMAL: {SEPARABLE},
    Verdict.SEPARABLE: {SEPARABLE},
    Verdict.WEAKLY_SEPARABLE: {WEAKLY},
    Verdict.NOT_SEPARABLE: {WEAKLY, NOT},
}


def test_integers_too_long_for_float64_are_not_rounded():
    """Fitted in float64, where two rows coincide; the table itself is separable, and the judge does not read it."""
    X = np.array([[2**60], [2**60 + 1]])
    certificate = separability(X.astype(float), [0, 1])
    assert certificate.verdict is Verdict.NOT_SEPARABLE
    assert "row 1, column 0 holds 1152921504606846977" in str(certificate.verify(X, [0, 1]))
    assert certificate.verify(X.astype(float), [0, 1])


def test_wide_numbers_that_float64_cannot_hold_are_refused():
    third = np.longdouble(1.0) / 3
    if np.float64(third) == third:
        pytest.skip("here a long double is a double")
    certificate = separability([[0.0], [1.0]], [0, 1])
    assert "float64 cannot hold" in str(certificate.verify(np.array([[0.0], [third]]), [0, 1]))
    assert certificate.verify(np.array([[0.0], [1.0]], dtype=np.longdouble), [0, 1], exact=True)


# -------------------------------------------------------------------------------- one versus one, and sample weights


@functools.cache
def three_classes():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0], [6.0, 1.0], [0.0, 5.0], [1.0, 6.0]])
    y = np.array(["a", "a", "b", "b", "c", "c"])
    return X, y, HardMarginSVM(multi_class="ovo").fit(X, y).certificate_


def test_rows_of_a_third_class_are_no_part_of_a_pair():
    X, y, certificate = three_classes()
    pair = certificate[0]
    assert (pair.positive, pair.negative) == ("a", "b")
    for exact in (False, True):
        assert pair.verify(X, y, exact=exact)
        liar = dataclasses.replace(pair, rows=changed(pair.rows, 0, 4))
        assert "row 4 is not part of this problem" in str(liar.verify(X, y, exact=exact))


def test_reasons_name_the_rows_of_the_whole_table():
    X, y, certificate = three_classes()
    pair = certificate[2]
    assert (pair.positive, pair.negative) == ("b", "c")
    liar = lie(Case(pair, X, y), margin_lower=pair.margin_lower * 1.1)
    nearest = {2, 4}  # of the six rows, not of the four that are b or c
    for exact in (False, True):
        named = [reason for reason in liar.verify(exact).reasons if "the plane's margin" in reason]
        assert len(named) == 1
        for reason in named:
            assert int(re.search(r"\brow ([0-9]+)", reason, re.IGNORECASE)[1]) in nearest
    flipped = dataclasses.replace(pair, w=-pair.w, b=-pair.b)
    assert any("(row 2)" in reason for reason in flipped.verify(X, y, exact=True).reasons)


def test_other_sample_weights():
    X, y = [[0.0], [1.0], [1.5], [3.0]], [0, 0, 1, 1]
    certificate = HardMarginSVM().fit(X, y, sample_weight=[1, 1, 0, 1]).certificate_
    for exact in (False, True):
        assert certificate.verify(X, y, exact=exact, sample_weight=[1, 1, 0, 1])
        for weight in ([1, 0, 1, 1], [0, 1, 0, 1], [1, 1, math.nan, 0], [0, 0, 0, 0]):
            assert not certificate.verify(X, y, exact=exact, sample_weight=weight)


# ----------------------------------------------------------------------------------- what is weaker is still true


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("make", ALL)
def test_the_same_plane_and_weights_in_another_scale(make, exact):
    case = honest(make)
    c = case.certificate
    assert lie(case, w=4.0 * c.w, b=4.0 * c.b, weights=0.25 * c.weights).verify(exact)
    if c.w.any():
        huge = 1e307 / max(1.0, np.abs(c.w).max(), abs(c.b))
        a_little_less = c.margin_lower - 1e-3 * abs(c.margin_lower)
        assert lie(case, w=c.w * huge, b=c.b * huge, margin_lower=a_little_less, tol=0.01).verify(exact)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("make", WITNESSED)
def test_who_is_not_separable_by_any_plane_is_not_by_one_through_the_origin(make, exact):
    weaker = {"fit_intercept": False, "verdict": Verdict.NOT_SEPARABLE, "b": 0.0, "margin_lower": -math.inf}
    assert lie(honest(make), **weaker).verify(exact)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("make", PROVEN)
def test_weaker_bounds_are_true(make, exact):
    case = honest(make)
    c = case.certificate
    weaker = lie(case, verdict=Verdict.SEPARABLE, margin_lower=0.5 * c.margin_lower, margin_upper=2.0 * c.margin_upper)
    assert weaker.verify(exact)
    for name in KKT_NAMES:
        worse = Violation(2.0 * getattr(c.kkt, name).value + 1e-9, getattr(c.kkt, name).row)
        told = lie(case, kkt=dataclasses.replace(c.kkt, **{name: worse})).verify(exact)
        assert f"the condition of {name} is violated by" in str(told)  # a figure, and not a bound
    assert lie(case, verdict=Verdict.STOPPED, margin_lower=-math.inf, kkt=None).verify(exact)


KKT_NAMES = [field.name for field in dataclasses.fields(KKT)]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("make", ALL)
def test_an_implied_verdict_is_true(make, exact):
    for stated, weaker in IMPLIED:
        if VERDICTS[make] is stated:
            assert lie(honest(make), verdict=weaker).verify(exact)
