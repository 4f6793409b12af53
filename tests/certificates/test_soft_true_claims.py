"""Claims about the soft margin: what is weaker is still true; what is accepted is true, also in the last digit."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from falsehoods import Case, dense, honest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from soft_margin_cases import ALL, SQUARED, STOPPED, fitted, huge_numbers, lie, mixed
from strategies import extreme, tables

from maxmargin import KernelSVM, LinearSVM
from maxmargin.certificates import duality, exact_soft_margin
from maxmargin.certificates.exact_linear_algebra import float_above
from maxmargin.certificates.proof import Violation
from maxmargin.certificates.soft_margin import SoftMarginCertificate, SoftVerdict
from maxmargin.problems.losses import HINGE, SQUARED_HINGE


@pytest.mark.parametrize("exact", [False, True])
def test_a_forgotten_sample_weight_is_asked_for(exact):
    X, y = mixed(seed=11)
    weight = np.linspace(0.5, 2.0, len(y))
    case = fitted(X, y, sample_weight=weight)
    assert case.verify(exact)
    answer = case._replace(sample_weight=None).verify(exact)
    assert not answer
    assert "if the fit was given a sample_weight" in str(answer) or "is not between 0 and its cost" in str(answer)


def test_an_overflow_does_not_help_a_liar():
    """w.x cancels, but the sum of its magnitudes overflows: float64 knows nothing, and fractions decide."""
    X, y = np.array([[1e300, 1e300], [0.0, 0.0]]), np.array([1, -1])
    w = np.array([1e8, -1e8])  # P = 10^16 + 2
    claim = SoftMarginCertificate(
        SoftVerdict.BOUNDED, "hinge", 1.0, True, (), 1, -1, 2, 2, w, 0.0,
        np.zeros(0, np.intp), np.zeros(0), primal=1.0, dual=0.0, tol=1e-4,
    )  # fmt: skip
    for exact in (False, True):
        answer = claim.verify(X, y, exact=exact)
        assert not answer
        assert "beyond what float64 can tell" in str(answer)
        assert dataclasses.replace(claim, primal=1e16 + 2).verify(X, y, exact=exact)


# ----------------------------------------------------------------------------------- what is weaker is still true


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("make", ALL)
def test_weaker_claims_are_true(make, exact):
    case = honest(make)
    c = case.certificate
    order = np.random.default_rng(0).permutation(len(c.rows))
    weaker = [
        {"verdict": SoftVerdict.BOUNDED, "tol": 1e-17},
        {"primal": 2.0 * c.primal, "verdict": SoftVerdict.BOUNDED},
        {"dual": 0.5 * c.dual, "verdict": SoftVerdict.BOUNDED},
        {"dual": -1.0, "primal": math.inf, "verdict": SoftVerdict.BOUNDED},
        {"tol": 0.9},
        {"kkt": None},
        {"rows": c.rows[order], "weights": c.weights[order]},
        {"primal": float_above(Fraction(c.primal))},
    ]
    if make in STOPPED:
        weaker.remove({"tol": 0.9})
    for changes in weaker:
        assert lie(case, **changes).verify(exact), (changes, lie(case, **changes).verify(exact))


@pytest.mark.parametrize("make", SQUARED)
def test_any_multiple_of_the_weights_proves_the_same_for_the_squared_hinge(make):
    case = honest(make)
    assert lie(case, weights=1e-3 * case.certificate.weights, kkt=None).verify(True)
    assert lie(case, weights=1e30 * case.certificate.weights, kkt=None).verify(False)


@pytest.mark.parametrize("make", [make for make in ALL if make is not huge_numbers])
def test_other_forms_of_the_same_table(make):
    case = honest(make)
    wide = sparse.csr_array(case.X)
    wide = sparse.csr_array((wide.data, wide.indices.astype(np.int64), wide.indptr.astype(np.int64)), wide.shape)
    for X in (
        dense(case.X),
        np.asfortranarray(dense(case.X)),
        sparse.csr_matrix(case.X),
        sparse.csc_array(case.X),
        wide,
    ):
        for exact in (False, True):
            assert case._replace(X=X).verify(exact)
    assert case._replace(X=dense(case.X).tolist(), y=list(case.y)).verify(False)


def test_integers_beyond_float64_are_refused_as_they_are_by_fit():
    X, y = np.array([[2**60], [2**60 + 1], [2**60 + 2], [0]]), np.array([-1, 1, 1, -1])
    case = fitted(X.astype(float), y, C=1e-30, tol=0.5)
    for exact in (False, True):
        assert case.verify(exact)
        assert "row 1, column 0 holds 1152921504606846977" in str(case._replace(X=X).verify(exact))


# -------------------------------------------------------------------------------------------- to the last digit

shares = st.sampled_from([0.0, 0.0, 0.1, 0.3, 0.5, 1.0])
digits = st.integers(-2, 2).map(float)


@st.composite
def claims(draw):
    """A small table, any plane and any weights; and both values, in fractions."""
    data = draw(tables(scales=st.one_of(st.just(0), extreme)))
    (n, d), signs = data.X.shape, data.y.astype(float)
    loss, bias = draw(st.sampled_from([HINGE, SQUARED_HINGE])), draw(st.booleans())
    C = draw(st.sampled_from([1.0, 0.1, 3.0, 1e-200, 1e100]))
    largest = float(np.abs(data.X).max()) or 1.0
    w = draw(hnp.arrays(np.float64, d, elements=digits)) * draw(st.sampled_from([1.0, 0.1, min(1e300, 1.0 / largest)]))
    b = draw(digits) if bias else 0.0
    a = C * draw(hnp.arrays(np.float64, n, elements=shares))
    known = data.X, signs, np.full(n, C)
    primal = exact_soft_margin.primal_value(*known, w, b, loss)
    dual = exact_soft_margin.dual_value(*known, a, bias, loss)
    rows = np.flatnonzero(a)
    claim = SoftMarginCertificate(
        SoftVerdict.BOUNDED, loss.name, C, bias, (), 1, -1, n, d, w, b, rows, a[rows], math.inf, 0.0, 1e-3
    )
    return Case(claim, data.X, data.y), primal, dual


def below(value):
    """The largest double that is at most this fraction."""
    try:
        guess = float(value)
    except OverflowError:
        return float(np.finfo(float).max)
    return guess if Fraction(guess) <= value else math.nextafter(guess, -math.inf)


@given(claim=claims(), ulps=st.sampled_from([0, 1, 2, 3, 10, 1000]))
@settings(max_examples=40)
def test_exactly_what_is_true_is_accepted(claim, ulps):
    """The values themselves, rounded to the side that is true, and the next doubles on the side that is not."""
    case, primal, dual = claim
    low = below(dual)
    high = -below(-primal) if primal <= Fraction(float(np.finfo(float).max)) else math.inf
    true_primal, true_dual, false_primal, false_dual = high, low, high, low
    for _ in range(ulps):
        true_primal, true_dual = math.nextafter(true_primal, math.inf), math.nextafter(true_dual, -math.inf)
        false_primal, false_dual = math.nextafter(false_primal, 0.0), math.nextafter(false_dual, math.inf)
    for exact in (False, True):
        assert lie(case, primal=true_primal, dual=true_dual).verify(exact)
        if ulps > 0:
            assert not lie(case, primal=false_primal, dual=true_dual).verify(exact)
            assert not lie(case, primal=true_primal, dual=false_dual).verify(exact)


@pytest.mark.parametrize("told", [0.0, 0.5, 1.0, 1.001, 1e300, math.inf])
@pytest.mark.parametrize("model", [LinearSVM(C=0.01, loss="squared_hinge"), KernelSVM(C=0.01, kernel="linear")])
def test_how_far_w_is_from_the_weights_cannot_be_told_where_both_vanish(told, model):
    """All rows are equal: w is 0, and the weights of the classes sum to a w of 0, or of a rounding error."""
    y = np.arange(16) % 4 == 3
    for X, is_told in ((np.full((16, 1), -3.8729549), False), (np.full((16, 1), -3.8729549) + y[:, None], True)):
        c = model.fit(X, y).certificate_
        assert c.verdict.name == "OPTIMAL"
        again = dataclasses.replace(c, kkt=dataclasses.replace(c.kkt, stationarity=Violation(told)))
        assert bool(again.verify(X, y)) is (told == 0.0 or (told <= 1.0 and not is_told))


@pytest.mark.parametrize("told", [7.0, 1e300, math.inf, math.nan, -1e-300])
@pytest.mark.parametrize("figure", ["stationarity", "slackness"])
@pytest.mark.parametrize("model", [LinearSVM(C=0.01, loss="squared_hinge"), KernelSVM(C=0.01, kernel="linear")])
def test_where_float64_cannot_tell_a_figure_it_is_not_what_none_can_be(model, figure, told):
    """Two vectors are no farther apart than twice the longer one, and no row pays more than all of the objective."""
    X, y = np.full((16, 1), -3.8729549), np.arange(16) % 4 == 3
    c = model.fit(X, y).certificate_
    row = getattr(c.kkt, figure).row
    lying = dataclasses.replace(c, kkt=dataclasses.replace(c.kkt, **{figure: Violation(told, row)}))
    assert c.verify(X, y)
    assert c.verify(X, y, exact=True)
    assert not lying.verify(X, y)
    assert not lying.verify(X, y, exact=True)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("X", [[1.1e12, 2.2e12, 1.1e12], [1.1e20, 2.2e20, 1.1e20], [1.1e150] * 3], ids=str)
def test_a_machine_without_long_doubles_refuses_no_figure_that_it_cannot_tell(X, exact, monkeypatch):
    X, y = np.array(X)[:, None], np.array([0, 1, 1])
    c = LinearSVM(C=1e5).fit(X, y).certificate_
    monkeypatch.setattr(duality, "LONGER", False)
    assert c.verify(X, y, exact=exact)
    for figure, told in (("stationarity", 3.0), ("slackness", 3.0), ("slackness", math.inf)):
        lying = dataclasses.replace(getattr(c.kkt, figure), value=told)
        assert not dataclasses.replace(c, kkt=dataclasses.replace(c.kkt, **{figure: lying})).verify(X, y, exact=exact)
