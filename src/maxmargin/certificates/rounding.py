"""Numbers as text: bounds rounded outwards, so that what is printed is still true; and counts with their noun."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal


def rounded_down(number: float, digits: int = 6) -> str:
    """The number to this many digits, never more than it is.

    >>> rounded_down(0.7499999999), rounded_down(2.0), rounded_down(-1.23456789, 3)
    ('0.749999', '2', '-1.24')
    """
    return _rounded(number, digits, ROUND_FLOOR)


def rounded_up(number: float, digits: int = 6) -> str:
    """The number to this many digits, never less than it is.

    >>> rounded_up(0.7500000001), rounded_up(math.inf)
    ('0.750001', 'inf')
    """
    return _rounded(number, digits, ROUND_CEILING)


def rounded_within(number: float, lower: float, upper: float, digits: int = 4) -> str:
    """The number to this many digits, or as many more as it takes to lie within its own bounds.

    >>> rounded_within(0.60002, 0.60002, 0.600021), rounded_within(0.612345, 0.5, 0.7), rounded_within(2.0, 0.5, 1.5)
    ('0.60002', '0.6123', '2')
    """
    if not lower <= number <= upper:
        return f"{number:.{digits}g}"
    texts = (f"{number:.{count}g}" for count in range(digits, 18))
    return next((text for text in texts if lower <= float(text) <= upper), repr(float(number)))


def counted(count: int, many: str, one: str) -> str:
    """A count before its noun, and the verb that agrees with it.

    >>> counted(1200, "rows are", "row is"), counted(1, "rows are", "row is")
    ('1,200 rows are', '1 row is')
    """
    return f"{count:,} {one if count == 1 else many}"


def rounded_gap(gap: float) -> str:
    """Two digits that are not less than the gap, as a power of ten.

    >>> rounded_gap(0.00123), rounded_gap(0.5)
    ('1.3e-03', '5.0e-01')
    """
    return f"{float(rounded_up(gap, 2)):.1e}"


def _rounded(number: float, digits: int, rounding: str) -> str:
    if not math.isfinite(number):
        return str(number)
    short = Context(prec=digits, rounding=rounding).create_decimal(Decimal(number)).normalize()
    return f"{float(short):.{digits}g}"
