"""What is proven, in few words: bounds, the titles of pictures, sentences. All of it is in the `report`.

Numbers are rounded outwards, so that what is printed is still true. A certificate is told by its fields, whatever its
kind.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, NamedTuple


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


class Bounds(NamedTuple):
    """What is bounded, "margin" or "objective", and what its best value is proven to lie between."""

    quantity: str
    lower: float
    upper: float

    @property
    def best(self) -> str:
        return "best margin" if self.quantity == "margin" else "least objective"

    def between(self, digits: int) -> str:
        return between(self.lower, self.upper, digits)


def bounds_of(c: Any) -> Bounds:
    """Where no plane separates, no margin is positive."""
    if c.is_separable is False:
        return Bounds("margin", 0.0, 0.0)
    return (
        Bounds("margin", c.margin_lower, c.margin_upper) if c.is_about_margin else Bounds("objective", c.dual, c.primal)
    )


def between(lower: float, upper: float, digits: int = 6) -> str:
    """Two bounds, rounded outwards.

    >>> between(1 / 3, 2 / 3, 3)
    'between 0.333 and 0.667'
    """
    if lower == -math.inf:
        return f"at most {rounded_up(upper, digits)}"
    return f"between {rounded_down(lower, digits)} and {rounded_up(upper, digits)}"


def sides(c: Any) -> str:
    return f"{c.positive!r} against {'the rest' if c.negative is None else repr(c.negative)}"


def side_names(certificate: Any) -> tuple[str, str]:
    """The labels of the two sides, as a reader wants them."""
    first, second = (
        "the rest" if label is None else label if isinstance(label, str) else f"label {label}"
        for label in (certificate.positive, certificate.negative)
    )
    return first, second


# A picture has two lines, the page and the commands have room for one.

TITLES = {"OPTIMAL": "The widest street", "SEPARABLE": "Separable", "UNDECIDED": "Undecided at this precision"}
CONDITIONS = {
    "stationarity": "w = sum a_i y_i x_i",
    "primal": "y_i (w.x_i + b) >= 1 - xi_i",
    "dual": "a_i >= 0 and sum a_i y_i = 0",
    "slackness": "a_i > 0 only on its edge or inside, xi_i > 0 only where a_i = C",
    "bias": "every support vector on its edge gives the same b",
}
HARD_CONDITIONS = CONDITIONS | {
    "primal": "y_i (w.x_i + b) >= 1",
    "slackness": "a_i > 0 only on the edge: y_i (w.x_i + b) = 1",
    "bias": "every support vector gives the same b",
}


def title(c: Any) -> str:
    """The verdict and the bounds, above a picture of the street."""
    if c.is_separable is False:
        weakly = c.verdict.name == "WEAKLY_SEPARABLE"
        first = "Weakly separable: the hulls touch" if weakly else "Not separable: the hulls meet"
        return f"{first}\n{rows_that_prove(c)}"
    if hasattr(c, "C"):
        hard = not math.isfinite(c.C)
        best = "The widest street in the space of the kernel" if hard else "The best street for this C"
        first = best if c.is_optimal else "Not proven to the gap that was asked for"
        price = "" if hard else f"C = {c.C:g}, "
        return f"{first}\n{price}least objective proven {between(c.dual, c.primal)}"
    kind = getattr(c, "norm", f"{getattr(c, 'kernel', '')} kernel")
    first = TITLES.get(c.verdict.name, "Stopped before it was proven")
    return f"{first}\nbest {kind} margin proven {between(max(0.0, c.margin_lower), c.margin_upper)}"


def rows_that_prove(c: Any) -> str:
    return f"{counted(c.n_support, 'rows', 'row')} of {c.n_rows:,} {'proves' if c.n_support == 1 else 'prove'} it"


def sentences(c: Any) -> list[str]:
    """What is proven of the plane and of all others, what could still be gained, and which rows say so."""
    if c.is_separable is False:
        rows = ", ".join(str(int(row)) for row in sorted(c.rows[c.weights > 0.0]))
        if c.n_support == 1:
            return [f"Row {rows} proves it: it is the origin."]
        return [f"Rows {rows} prove it: their hulls meet."]
    plane = "plane in the space of the kernel" if hasattr(c, "kernel") else "line"
    quantity, lower, upper = bounds_of(c)
    low, high, found = rounded_down(lower), rounded_up(upper), []
    if quantity == "objective":
        found.append(f"This {plane} costs at most {high}; no {plane} costs less than {low}.")
    elif lower > 0.0:
        a_margin = "an l1 margin" if getattr(c, "norm", "l2") == "l1" else "a margin"
        lifted = ", the bias counted in" if c.is_lifted else ""
        found.append(f"This {plane} has {a_margin} of at least {low}{lifted}; no {plane} has more than {high}.")
    elif math.isfinite(upper):
        found.append(f"No {plane} has a margin of more than {high}.")
    if found and math.isfinite(c.relative_gap) and (quantity == "objective" or lower > 0.0):
        found.append(f"So at most {rounded_up(100.0 * c.relative_gap, 2)} % of it could still be gained.")
    return [*found, f"{c.support_words}."]
