"""The filter of exact proofs in float64: its allowance for rounding, from both sides, where one term stands out."""

import math

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin.certificates import exact

U = 2.0**-53
SMALL = 2.0**-1020


def is_clear(X, w, b, level, drift=None, row=0, sign=1.0):
    (doubtful,) = exact.doubtful_rows(X, np.full(X.shape[0], sign), np.array(w), b, level, drift)
    return row not in doubtful


def allowance(X, w, b, value, drift=None, sign=1.0):
    """How far a level must be below the value of row 0 to be proven: by bisection."""
    X = X if sparse.issparse(X) else np.array(X)
    drift = None if drift is None else np.array(drift)
    low, high = math.ulp(0.0), 1e300
    while high - low > 1e-9 * high:
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = (low, middle) if is_clear(X, w, b, value - middle, drift, sign=sign) else (middle, high)
    return high


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_rounding_of_the_products(form):
    """Value 2^-10 of terms of 2^40: gamma of d + 6 terms, and 1 % more."""
    X = [[2.0**40 + 2.0**-10, 0.0]]
    expected = 1.01 * 8 * U * (2.0**41 + 2.0**-10)
    for b, sign in ((-(2.0**40), 1.0), (2.0**40, -1.0)):
        found = allowance(form(X), [sign, 1.0], b, 2.0**-10, sign=sign)
        assert found == pytest.approx(expected, rel=1e-6, abs=0.0)
    one = allowance(form([[2.0**40 + 2.0**-10]]), [1.0], -(2.0**40), 2.0**-10)
    assert one == pytest.approx(expected * 7 / 8, rel=1e-6, abs=0.0)
    assert allowance(form([[2.0**40, -(2.0**40), 5.0]]), [-1.0, -1.0, 0.0], None, 0.0) == pytest.approx(
        1.01 * 9 * U * 2.0**41, rel=1e-6, abs=0.0
    )


def test_rounding_of_the_difference():
    """Where level and value are both 2^60, their difference takes 4 u of each."""
    found = 2.0**60 - next(
        level
        for level in (2.0**60 - 2.0**7 * k for k in range(100))
        if is_clear(np.array([[2.0**60]]), [1.0], None, level)
    )
    assert found == pytest.approx((1.01 * 7 + 8) * U * 2.0**60, abs=2.0**7)
    assert not is_clear(np.array([[0.0]]), [1.0], None, 0.0)
    assert not is_clear(np.array([[2.0**60]]), [1.0], None, 2.0**61)
    assert is_clear(np.array([[0.0]]), [1.0], None, -1.0)
    assert is_clear(np.array([[2.0**60]]), [1.0], None, 0.0)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_coefficients_that_drift(form):
    X = [[-3.0, 5.0]]
    for drift, expected in (([0.25, 0.0, 0.0], 0.75), ([0.0, 0.5, 0.0], 2.5), ([0.0, 0.0, 2.0], 2.0), ([1, 1, 1], 9.0)):
        assert allowance(form(X), [0.0, 0.0], 0.0, 0.0, drift) == pytest.approx(1.01 * expected, rel=1e-6, abs=0.0)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_underflow(form):
    """A row of zeros beside another: nothing is left but what products could have lost."""
    for other, w, drift, expected in (
        (0.0, 2.0**-900, None, 7 * SMALL),
        (2.0**-900, -(2.0**-900), None, 7 * SMALL),
        (0.0, -1.0, None, 7 * SMALL * 2.0),
        (-1.0, 2.0**-900, None, 7 * SMALL * 2.0),
        (-(2.0**300), -(2.0**500), None, 7 * SMALL * 2.0**800),
        (2.0**300, 0.0, [2.0**600, 0.0], 7 * SMALL * 2.0**900),
        (0.0, 2.0**-900, [3.0, 0.0], 7 * SMALL * 4.0),
    ):
        found = allowance(form([[0.0], [other]]), [w], None, 0.0, drift)
        assert found == pytest.approx(expected, rel=1e-6, abs=0.0)


def test_equality_is_doubtful():
    """The level that is exactly the error below the value proves nothing; the next double does."""
    X, w = np.zeros((1, 1)), [0.0]
    level = 7 * SMALL
    for _ in range(5):
        level = 7 * SMALL + 4 * U * level
    assert not is_clear(X, w, None, -level)
    assert is_clear(X, w, None, -math.nextafter(level, 1.0))


def test_no_columns_and_no_rows():
    assert is_clear(np.zeros((1, 0)), [], 1.0, 0.5)
    assert not is_clear(np.zeros((1, 0)), [], 1.0, 1.0)
    assert not is_clear(np.zeros((1, 0)), [], None, 0.0)
    assert list(exact.doubtful_rows(np.zeros((0, 2)), np.zeros(0), np.ones(2), None, 0.0)) == []


def test_the_blocks_of_the_filter_keep_their_rows(monkeypatch):
    monkeypatch.setattr("maxmargin.certificates.passes.BLOCK", 3)
    X, signs = np.array([[1.0], [1.0], [-1.0], [1.0], [0.0], [-1.0], [-1.0]]), np.array([1, 1, -1, -1, 1, -1, 1])
    found = [rows.tolist() for rows in exact.doubtful_rows(X, signs, np.ones(1), None, 0.5)]
    assert found == [[], [3, 4], [6]]
    assert [rows.tolist() for rows in exact.doubtful_rows(X, signs, np.ones(1), 0.75, 0.5)] == [[2], [3, 5], [6]]
