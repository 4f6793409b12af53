"""Margins of rows at length 1 beside a certificate: what follows from it is accepted, and an ulp more is refused."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin import two_margins
from maxmargin.certificates import normalized
from maxmargin.certificates.normalized import NO_MARGIN, NormalizedMargin, follows_from, holds_exactly

X, SIGNS = np.array([[3.0, 1.0], [1.0, 4.0], [-2.0, -1.0], [-1.0, -5.0]]), np.array([1.0, 1.0, -1.0, -1.0])
EXACTLY = pytest.mark.parametrize("exact", [False, True])


def claim_of(w, b, rows, weights, norm="l2", fit_intercept=False, is_separable=True):
    return SimpleNamespace(
        w=np.array(w), b=b, rows=np.array(rows), weights=np.array(weights), norm=norm, fit_intercept=fit_intercept,
        is_separable=is_separable,
    )  # fmt: skip


def problem_of(X, signs=SIGNS):
    return X, np.asarray(signs), np.arange(X.shape[0])


@EXACTLY
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_array])
@pytest.mark.parametrize("scale", [1.0, 2.0**-600, 2.0**600])
def test_what_is_issued_follows_and_no_more(form, scale, fit_intercept, exact):
    if scale != 1.0 and (form is np.float32 or fit_intercept):
        return  # beyond float32; and a bias beside such rows is another table
    table = form(scale * X)
    answer = two_margins(table, SIGNS, fit_intercept=fit_intercept)
    for c, claimed in zip(answer.certificates, (answer.l2, answer.l1), strict=True):
        assert 0.0 < claimed.lower <= claimed.upper
        assert claimed.relative_gap == (claimed.upper - claimed.lower) / claimed.upper
        for more, holds in (
            (claimed, True),
            (claimed._replace(lower=claimed.lower * (1.0 - 1e-6), upper=claimed.upper * (1.0 + 1e-6)), True),
            (NormalizedMargin(-math.inf, math.inf), True),
            (claimed._replace(lower=claimed.upper * (1.0 + 1e-6)), False),
            (claimed._replace(upper=claimed.lower * (1.0 - 1e-6)), False),
            (claimed._replace(lower=math.inf), False),
            (claimed._replace(upper=-math.inf), False),
            (claimed._replace(upper=math.nan), False),
            (claimed._replace(lower=math.nan), False),
        ):
            assert follows_from(c, more, problem_of(table), exact=exact) is holds


@EXACTLY
def test_no_margin_where_no_plane_separates(exact):
    c = claim_of([1.0, 0.0], 0.0, [0], [1.0], is_separable=False)
    assert follows_from(c, NO_MARGIN, problem_of(X), exact=exact)
    for other in (NormalizedMargin(-math.inf, 0.1), NormalizedMargin(-1.0, 0.0), NormalizedMargin(-math.inf, math.inf)):
        assert not follows_from(c, other, problem_of(X), exact=exact)
    assert NO_MARGIN.relative_gap == math.inf


def test_fractions_are_asked_where_they_are_wanted_or_float64_cannot_tell(monkeypatch):
    """The rows (3, 4) and -(3, 4): the cosine is 1, which float64 proves up to its rounding only."""
    asked = []
    monkeypatch.setattr(normalized, "holds_exactly", lambda *given: asked.append(given[-1]) or True)
    rows, c = np.array([[3.0, 4.0], [-3.0, -4.0]]), claim_of([3.0, 4.0], 0.0, [0, 1], [1.0, 1.0])
    problem, wide, sharp = problem_of(rows, [1.0, -1.0]), NormalizedMargin(0.999, 1.001), NormalizedMargin(1.0, 1.001)
    for claimed, exact, times in (
        (wide, False, 0),
        (wide, True, 1),
        (sharp, False, 2),
        (wide._replace(upper=1.0), False, 3),
    ):
        assert follows_from(c, claimed, problem, exact=exact)
        assert len(asked) == times


@EXACTLY
@pytest.mark.parametrize("table", [np.asarray, sparse.csr_array])
def test_the_very_edge_in_fractions(table, exact):
    """Cosines that are rational: 1 of (3, 4); in l1 the row (2, 1) has 2 / 2 along the first column."""
    rows, own = table(np.array([[3.0, 4.0], [-3.0, -4.0]])), problem_of
    c = claim_of([3.0, 4.0], 0.0, [0, 1], [1.0, 3.0])
    assert follows_from(c, NormalizedMargin(1.0, 1.0), own(rows, [1.0, -1.0]), exact=exact)
    above, below = math.nextafter(1.0, 2.0), math.nextafter(1.0, 0.0)
    assert not follows_from(c, NormalizedMargin(above, 1.0), own(rows, [1.0, -1.0]), exact=exact)
    assert not follows_from(c, NormalizedMargin(1.0, below), own(rows, [1.0, -1.0]), exact=exact)
    rows = table(np.array([[2.0, 1.0], [-2.0, 1.0]]))
    c = claim_of([1.0, 0.0], 0.0, [0, 1], [1.0, 1.0], norm="l1")
    assert follows_from(c, NormalizedMargin(1.0, 1.0), own(rows, [1.0, -1.0]), exact=exact)
    assert not follows_from(c, NormalizedMargin(above, 1.0), own(rows, [1.0, -1.0]), exact=exact)
    assert not follows_from(c, NormalizedMargin(1.0, below), own(rows, [1.0, -1.0]), exact=exact)
    lifted = claim_of([1.0, 0.0], 1.0, [0], [1.0], norm="l1", fit_intercept=True)  # (2, 1, 1): 3 / (2 * 2)
    assert follows_from(lifted, NormalizedMargin(0.75, 1.0), own(table(np.array([[2.0, 1.0]])), [1.0]), exact=exact)
    assert not follows_from(
        lifted, NormalizedMargin(math.nextafter(0.75, 1.0), 1.0), own(table(np.array([[2.0, 1.0]])), [1.0]), exact=exact
    )


def test_a_negative_margin_is_compared_with_its_sign():
    rows, signs = np.array([[3.0, 4.0], [3.0, 4.0]]), np.array([1.0, -1.0])
    given = rows, signs, np.array([3.0, 4.0]), 0.0, np.array([1.0, 1.0]), "l2", False
    assert holds_exactly(*given, NormalizedMargin(-1.0, 0.0))
    assert not holds_exactly(*given, NormalizedMargin(math.nextafter(-1.0, 0.0), 0.0))
    assert not holds_exactly(*given, NormalizedMargin(-1.0, -1e-9))


def test_without_a_plane_or_weights_nothing_is_proven():
    nothing, some, one = np.zeros(2), np.array([1.0, 1.0]), np.ones(4)
    no_plane = X, SIGNS, nothing, 0.0, one, "l2", False
    assert normalized.normalized_margin(*no_plane).lower == -math.inf
    assert not holds_exactly(*no_plane, NormalizedMargin(-1.0, math.inf))
    assert holds_exactly(*no_plane, NormalizedMargin(-math.inf, 1.0))
    for weights in (np.zeros(4), np.array([1.0, -1.0, 1.0, 1.0]), np.array([math.inf, 1.0, 1.0, 1.0])):
        given = X, SIGNS, some, 0.0, weights, "l2", False
        assert normalized.normalized_margin(*given).upper == math.inf
        assert not holds_exactly(*given, NormalizedMargin(-math.inf, 1.0))
        assert holds_exactly(*given, NormalizedMargin(-math.inf, math.inf))


@pytest.mark.parametrize("norm", ["l2", "l1"])
def test_what_is_surely_at_most_and_at_least_lies_outside_even_of_nothing(norm):
    """Rows of zeros beside a bias: no rounding error is in sight, and products that vanished are reckoned with."""
    rows, signs, w = np.zeros((2, 1)), np.array([1.0, -1.0]), np.array([1.0])
    assert np.all(normalized.normalized_distances(rows, signs, w, 0.0, norm, True) < 0.0)
    assert np.all(normalized.normalized_distances(rows, signs, w, 0.0, norm, True, upwards=True) > 0.0)


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300])
def test_weights_in_any_scale_prove_the_same(size):
    rows, signs, weights = np.array([[3.0], [1.0], [-2.0]]), np.array([1.0, 1.0, -1.0]), np.array([0.0, 0.5, 0.5])
    proven = normalized.upper_bound(rows, signs, weights * size, "l2", False)
    assert proven == pytest.approx(1.0, rel=1e-12, abs=0.0)
