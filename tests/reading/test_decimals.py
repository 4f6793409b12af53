"""Decimals: the loop gives float()'s own bits, or leaves the word to float()."""

import math
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.reading.decimals import LARGEST_POWER, SMALLEST_POWER, powers_of_five, product, read_number


def read(text):
    return read_number(np.frombuffer(f"{text}\n".encode(), np.uint8), 0, powers_of_five())


def bits(number):
    return struct.pack("<d", number)


def is_exact_or_left(text):
    value, end = read(text)
    return end == len(text) and (math.isnan(value) or bits(value) == bits(float(text)))


def test_the_words_of_the_powers_of_five():
    words = powers_of_five()
    for exponent in range(SMALLEST_POWER, LARGEST_POWER + 1):
        high, low = words[exponent - SMALLEST_POWER].tolist()
        leading, power = (high << 64) + low, 5 ** abs(exponent)
        assert leading.bit_length() == 128
        if exponent >= 0:
            shift = power.bit_length() - 128
            assert leading == (power >> shift if shift > 0 else power << -shift)
        else:  # leading * 5^|e| is 2^k but for less than one part
            missed = leading * power - (1 << (127 + power.bit_length()))
            assert abs(missed) <= power


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_products_of_words(a, b):
    high, low = product(np.uint64(a), np.uint64(b))
    assert (int(high) << 64) + int(low) == a * b


@pytest.mark.parametrize(
    "text",
    [
        "0", "-0", "+0.0", "1", "1.", ".5", "00001.50", "-12.25", "1e5", "1E+05", "1e-5", "0e99999", "1e22", "1e23",
        "9007199254740993", "9007199254740992", "18446744073709551615", "12345678901234567890123", "8.5e22",
        "0.1", "0.30000000000000004", "2.2250738585072014e-308", "123456789012345678e-17", "3." + "1" * 60,
    ],
)  # fmt: skip
def test_ordinary_numbers_are_read_by_the_loop(text):
    value, end = read(text)
    assert end == len(text)
    assert bits(value) == bits(float(text))


@pytest.mark.parametrize(
    "text",
    ["", "+", "-", ".", "e5", "1e", "1e+", "--1", "1x", "1:2", "inf", "nan", "1_0", "5e-324", "1e309", "1e-400"],
)
def test_what_is_left_to_python(text):
    value, end = read(text)
    assert math.isnan(value)
    assert end == len(text)


@settings(max_examples=50)
@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["r", ".15e", ".16e", ".17e", ".25e", ".9g"]))
def test_any_number_with_any_digits(number, form):
    assert is_exact_or_left(repr(number) if form == "r" else format(number, form))


@settings(max_examples=50)
@given(st.integers(2**52, 2**53 - 1), st.integers(-70, 70), st.sampled_from([-1, 0, 1]))
def test_numbers_halfway_between_two(whole, exponent, beside):
    halfway = (2 * whole + 1) * 10**40  # and a digit far behind, which decides
    text = str(halfway * 2**exponent + beside) if exponent >= 0 else str(halfway * 5**-exponent + beside)
    assert is_exact_or_left(f"{text}e{-40 if exponent >= 0 else exponent - 40}")


@settings(max_examples=50)
@given(st.integers(2**52, 2**53 - 1), st.integers(-4, 3))
def test_short_numbers_halfway_between_two(whole, exponent):
    odd = 2 * whole + 1
    text = str(odd * 2**exponent) if exponent >= 0 else f"{odd * 5**-exponent}e{exponent}"
    assert is_exact_or_left(text)


@settings(max_examples=50)
@given(st.from_regex(r"[-+]?[0-9]{0,25}(\.[0-9]{0,25})?([eE][-+]?[0-9]{1,3})?", fullmatch=True))
def test_any_decimal_as_it_may_be_written(text):
    if any(character.isdigit() for character in text.lower().partition("e")[0]):
        assert is_exact_or_left(text)
    else:
        assert math.isnan(read(text)[0])
