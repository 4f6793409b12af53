"""In float64 every rounding error is held against the claim; where that leaves doubt, fractions decide."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from certificate_truth import truth_of
from certificates.hunt_false_verdicts import hunt

from maxmargin import HardMarginSVM, Verdict, separability
from maxmargin.certificates import exact
from maxmargin.certificates.certificate import certify
from maxmargin.certificates.measure import Claim, hull_distance, objective

float64_and_exact = pytest.mark.parametrize("in_fractions", [False, True])


def claimed(c, lower, upper):
    margins = {"margin_lower": lower, "margin_upper": upper, "tol": 1e-3}
    values = {"primal": objective(lower, c.norm), "dual": objective(upper, c.norm)}
    return dataclasses.replace(c, verdict=Verdict.OPTIMAL, **margins, **values)


@float64_and_exact
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_far_from_the_origin(in_fractions, form):
    """Rows at 1.7e18, 2304 apart: the best margin is 1152. float64 cannot see that it is not 1700; integers do."""
    X, y = form(np.array([[1.7e18], [1.7e18 + 2304.0]])), np.array([-1, 1])
    plane = Claim(np.array([1.0]), -(1.7e18 + 1024.0), np.arange(2), np.ones(2))
    c = certify(X, y.astype(float), plane, norm="l2", fit_intercept=True, tol=1e-3)
    assert c.verify(X, y, exact=in_fractions)
    assert not claimed(c, 1700.0, 1700.0).verify(X, y, exact=in_fractions)
    kkt = dataclasses.replace(c, kkt=None)
    refused = str(claimed(kkt, 1700.0, 1701.0).verify(X, y, exact=in_fractions))
    assert "the plane's margin is 1024 (row 0), not 1700" in refused
    assert "leave room for a margin above 1151" in str(claimed(kkt, 1.0, 1151.0).verify(X, y, exact=in_fractions))


@float64_and_exact
def test_a_narrow_street_at_a_million(in_fractions):
    """A margin of 1e-9 at 1e6: a claim that is half as much again is false, and refused."""
    X = np.array([[1e6, 0.0], [1e6, 1.0], [1e6 + 2e-9, 0.5]])
    y = np.array([-1, -1, 1])
    c = separability(X, y)
    margin = float((Fraction(X[2, 0]) - Fraction(X[0, 0])) / 2)
    assert c.verify(X, y, exact=in_fractions)
    assert c.margin_lower <= margin <= c.margin_upper
    for factor in (1.5, 1.01, 1.0 + 1e-9):
        assert not claimed(c, factor * margin, factor * margin).verify(X, y, exact=in_fractions)


def bounds_to_the_last_digit(X, y):
    """A plane and weights whose margins are fractions that float64 rounds; and the doubles on either side of them."""
    plane = Claim(np.array([3.0, 4.0]), -1.0, np.arange(len(y)), np.ones(len(y)))
    c = certify(X, y.astype(float), plane, norm="l1", fit_intercept=True, tol=1e-3)
    least = min(
        int(sign) * (3 * Fraction(row[0]) + 4 * Fraction(row[1]) - 1) for sign, row in zip(y, X.tolist(), strict=True)
    )
    lower = least / 7
    below = float(lower) if Fraction(float(lower)) <= lower else math.nextafter(float(lower), -math.inf)
    return c, below, math.nextafter(below, math.inf)


@float64_and_exact
@pytest.mark.parametrize("seed", range(10))
def test_to_the_last_digit(in_fractions, seed):
    """The largest double that is a lower bound is accepted, and the next one is not."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(6, 2)) + 10.0 ** random.integers(0, 6)
    y = np.where(X @ [3.0, 4.0] > 1.0, 1, -1)
    c, true, false = bounds_to_the_last_digit(X, y)
    c = dataclasses.replace(c, kkt=None, theorems=(), margin_upper=math.inf, dual=0.0)
    for bound, holds in ((true, True), (false, False)):
        told = dataclasses.replace(
            c,
            verdict=Verdict.SEPARABLE if bound > 0.0 else Verdict.STOPPED,
            margin_lower=bound,
            primal=objective(bound, "l1"),
        )
        assert (truth_of(told, X, y) is None) is holds
        reasons = [reason for reason in told.verify(X, y, exact=in_fractions).reasons if "margin is" in reason]
        assert (reasons == []) is holds


def test_float64_decides_alone_where_it_can(monkeypatch):
    """An honest certificate, measured again as it was measured, costs no exact arithmetic."""
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 4)) + 1e3
    y = np.where(np.arange(50) % 2, 1, -1)
    X[:, 0] += 5.0 * y
    certificate = HardMarginSVM().fit(X, y).certificate_
    for name in ("exact_margin_at_least", "exact_upper_bound_holds"):
        monkeypatch.setattr(exact, name, lambda *_: pytest.fail("float64 was not enough"))
    assert certificate.verify(X, y)


def test_classes_of_very_different_weight():
    """Each class has weights in a scale of its own, down to the least doubles: none of them loses its digits."""
    X, signs = np.array([[0.0], [1.0], [10.0], [17.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    weights = np.array([3.0 * 5e-324, 7.0 * 5e-324, 3.0, 7.0])
    found = hull_distance(X, signs, weights, "l2", True)
    assert found.value == pytest.approx(0.5 * (10.0 * 0.3 + 17.0 * 0.7 - 0.7))
    assert exact.exact_upper_bound_holds(X, signs, weights, found.upper, True, "l2")


def test_nothing_true_is_refused_and_nothing_false_accepted():
    """The short form of the hunt; its long form is a command."""
    tally = hunt(fits=88, seed=7)
    assert tally.wrong == []
    assert tally.counts["honest"] >= 150
    assert tally.counts["refused"] > 500
    assert tally.counts["true and accepted"] > 500
