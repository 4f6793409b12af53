"""Bounds that are printed are still bounds."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.certificates.words import rounded_down, rounded_up


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 15))
def test_rounding_goes_outwards(number, digits):
    assert float(rounded_down(number, digits)) <= number <= float(rounded_up(number, digits))


@given(st.floats(1e-300, 1e300), st.integers(1, 15))
def test_rounding_is_near(number, digits):
    assert float(rounded_down(number, digits)) == pytest.approx(number, rel=2.0 * 10.0 ** (1 - digits))


@pytest.mark.parametrize("number", [math.inf, -math.inf])
def test_what_is_not_finite_stays(number):
    assert float(rounded_down(number)) == float(rounded_up(number)) == number


def test_six_digits_if_nothing_else_is_asked():
    assert (rounded_down(1.23456789), rounded_up(1.23456789)) == ("1.23456", "1.23457")
    assert (rounded_down(-1.23456789), rounded_up(-1.23456789)) == ("-1.23457", "-1.23456")
    assert (rounded_down(123456.0), rounded_up(0.1, 17)) == ("123456", "0.10000000000000001")
    assert (rounded_down(9.9999999, 2), rounded_up(9.9999999, 2)) == ("9.9", "10")
