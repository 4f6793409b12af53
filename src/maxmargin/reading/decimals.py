"""Decimal numbers to float64, compiled, and right to the last bit.

A decimal is a whole number m < 10^19 times 10^e. Three ways, from the cheapest on, none of which guesses:

1. m <= 2^53 and |e| <= 22: m and 10^|e| are float64 without an error, so one product or quotient is rounded once
   (Clinger, "How to read floating point numbers accurately", 1990).
2. Otherwise 5^e is known to 128 bits, m * 5^e to the leading 128 of 192 bits, and its leading 54 bits say how to round
   (Lemire, "Number parsing at a gigabyte per second", 2021, where it is proven that they are enough).
3. What is left is NaN here, and for Python's own float() to read: more than 19 digits if the rest could matter,
   numbers that are subnormal or overflow, and whatever is not a decimal at all.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import njit

SMALLEST_POWER, LARGEST_POWER = -342, 308  # of ten: beyond them every decimal of 19 digits is zero or infinite
SHORT_DIVISOR = -27  # 5^27 is the last power of five in 64 bits
EXACT_POWERS = 10.0 ** np.arange(23)
EXACT_WHOLE = np.uint64(2**53)
MOST_DIGITS = 19  # that surely fit 64 bits
MOST_EXPONENT = 100_000  # a longer exponent is not counted on

ZERO, ONE, THREE, TEN = np.uint64(0), np.uint64(1), np.uint64(3), np.uint64(10)
HALF, LOW_HALF = np.uint64(32), np.uint64(2**32 - 1)
TOP_BIT, TOP_SHIFT = np.uint64(2**63), np.uint64(63)
ALL_BITS = np.uint64(2**64 - 1)
UNDECIDED = np.uint64(2**9 - 1)  # the bits of a product below the 55 that a float64 needs
DROPPED = np.uint64(9)  # how many these are
HIDDEN_BIT_TWICE = np.uint64(2**53)


@cache
def powers_of_five() -> NDArray[np.uint64]:
    """Row e - SMALLEST_POWER: the leading 128 bits of 5^e in two words.

    They are rounded down; up where 1 / 5^e fits 64 bits, so that an exact quotient does not come out a bit too small.
    """
    words = np.empty((LARGEST_POWER - SMALLEST_POWER + 1, 2), np.uint64)
    for exponent in range(SMALLEST_POWER, LARGEST_POWER + 1):
        power = 5 ** abs(exponent)
        if exponent < 0:
            power = (1 << (power.bit_length() + 127)) // power + (exponent >= SHORT_DIVISOR)
        surplus = power.bit_length() - 128
        power = power >> surplus if surplus > 0 else power << -surplus
        words[exponent - SMALLEST_POWER] = power >> 64, power & (2**64 - 1)
    words.flags.writeable = False
    return words


@njit
def product(a: Any, b: Any) -> Any:
    """The high and the low word of a * b."""
    a_low, a_high, b_low, b_high = a & LOW_HALF, a >> HALF, b & LOW_HALF, b >> HALF
    low = a_low * b_low
    middle = a_high * b_low + (low >> HALF)
    carried = a_low * b_high + (middle & LOW_HALF)
    return a_high * b_high + (middle >> HALF) + (carried >> HALF), (carried << HALF) | (low & LOW_HALF)


@njit
def float_of(whole: Any, exponent: int, powers: Any) -> float:
    """whole * 10^exponent, rounded to nearest, ties to even; NaN where this is for float() to say."""
    if whole == ZERO:
        return 0.0
    if whole <= EXACT_WHOLE and -22 <= exponent <= 22:
        power = float(EXACT_POWERS[abs(exponent)])
        return float(whole) * power if exponent >= 0 else float(whole) / power
    if not SMALLEST_POWER <= exponent <= LARGEST_POWER:
        return math.nan
    shift = 0
    while whole < TOP_BIT:
        whole <<= ONE
        shift += 1
    high, low = product(whole, powers[exponent - SMALLEST_POWER, 0])
    if high & UNDECIDED == UNDECIDED:
        more, _ = product(whole, powers[exponent - SMALLEST_POWER, 1])
        if low > ALL_BITS - more:
            high += ONE
            low = more - (ALL_BITS - low) - ONE
        else:
            low += more
    if low == ALL_BITS:
        return math.nan
    upper = high >> TOP_SHIFT
    rest = upper + DROPPED
    leading = high >> rest  # 54 bits: those of a float64, and one that says how to round
    binary = ((217706 * exponent) >> 16) + 63 + int(upper) - shift  # the exponent of two of the leading bit
    if not -1022 <= binary <= 1022:
        return math.nan
    halfway = leading & THREE == ONE and leading << rest == high and low <= ONE and -4 <= exponent <= 23
    if leading & ONE and not halfway:  # exactly between two numbers, the even one is below
        leading += ONE
    leading >>= ONE
    return math.ldexp(float(leading), binary - 52)


@njit
def is_digit(byte: int) -> bool:
    return 48 <= byte <= 57


@njit
def ends_a_word(byte: int) -> bool:
    """White space, the end of a line, or the # of a comment."""
    return byte == 32 or 9 <= byte <= 13 or byte == 35


@njit
def many_digits(text: Any, place: int) -> Any:
    """More than MOST_DIGITS digits, perhaps with a point: where they end, the whole number of those that count, the
    exponent of ten, and whether any were dropped."""
    whole, digits, exponent, dropped, after_point = ZERO, 0, 0, False, False
    while is_digit(text[place]) or (text[place] == 46 and not after_point):
        if text[place] == 46:
            after_point = True
        elif digits < MOST_DIGITS:
            whole = whole * TEN + np.uint64(text[place] - 48)
            digits += whole != ZERO
            exponent -= after_point
        else:
            dropped = True
            exponent += not after_point
        place += 1
    return place, whole, exponent, dropped


@njit
def read_number(text: Any, place: int, powers: Any) -> tuple[float, int]:
    """The number that begins at this place, and where its word ends; NaN where float() has to look at the word.

    The text must hold a byte after the number that ends a word.
    """
    negative = text[place] == 45
    if negative or text[place] == 43:
        place += 1
    whole, exponent, dropped = ZERO, 0, False
    start, most = place, place + MOST_DIGITS
    while place < most and is_digit(text[place]):
        whole = whole * TEN + np.uint64(text[place] - 48)
        place += 1
    seen = place > start
    if text[place] == 46:
        place += 1
        point = place
        while place <= most and is_digit(text[place]):
            whole = whole * TEN + np.uint64(text[place] - 48)
            place += 1
        exponent = point - place
        seen = seen or place > point
    if is_digit(text[place]):
        place, whole, exponent, dropped = many_digits(text, start)
    if seen and (text[place] == 101 or text[place] == 69):
        place += 1
        falls = text[place] == 45
        if falls or text[place] == 43:
            place += 1
        seen = is_digit(text[place])
        written = 0
        while is_digit(text[place]):
            if written < MOST_EXPONENT:
                written = 10 * written + int(text[place] - 48)
            place += 1
        exponent += -written if falls else written
    if not seen or not ends_a_word(text[place]):
        while not ends_a_word(text[place]):
            place += 1
        return math.nan, place
    value = float_of(whole, exponent, powers)
    if dropped and value != float_of(whole + ONE, exponent, powers):
        value = math.nan
    return -value if negative else value, place
