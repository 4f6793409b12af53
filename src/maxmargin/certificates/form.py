"""The form of a certificate: whether it is a claim at all, before any number of it is measured.

Every field has a kind, which its annotation names: a truth value, a whole number, a number, a word, an array, labels,
conditions, theorems. A field of another kind is refused, and so is one whose kind nobody has written down here: a new
field of a certificate must be thought of. By the same kinds a certificate is read from JSON. Nothing here looks at the
rows.
"""

from __future__ import annotations

import dataclasses
import math
import operator
import sys
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.passes import proves_gap
from maxmargin.certificates.proof import KKT, FurtherLook, TheoremBound, Violation
from maxmargin.data.table import Vector
from maxmargin.problems.kernels import KERNELS
from maxmargin.problems.losses import LOSSES
from maxmargin.problems.statement import Norm

Rows = NDArray[np.intp]
MOST = sys.float_info.max
ARRAYS = (np.ndarray, np.memmap)  # and none that leave entries out, such as masked ones
LARGEST = {"stationarity": 2.0 + 1e-6}  # vectors are no farther apart than twice the longer one; rounding included
WORDS: dict[str, Collection[str]] = {  # the fields that are one of several words
    "norm": [norm.value for norm in Norm],
    "loss": LOSSES,
    "kernel": KERNELS,
}


def is_flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and abs(int(value)) <= MOST


def is_number(value: Any) -> bool:
    """A double, or a whole number of Python's: NumPy's other types are not fit for exact arithmetic."""
    return isinstance(value, float) or (type(value) is int and abs(value) <= MOST)


def is_word(value: Any) -> bool:
    return isinstance(value, str)


def is_of_numbers(value: Any) -> bool:
    return type(value) in ARRAYS and value.dtype == np.float64


def is_of_rows(value: Any) -> bool:
    return type(value) in ARRAYS and value.dtype.kind == "i"  # signed: else no difference is negative


def is_label(value: Any) -> bool:
    """Of whatever type, but one of them, and NaN is equal to no row's label; None stands for all other labels."""
    return value is None or (np.ndim(value) == 0 and bool(value == value))


def is_conditions(value: Any) -> bool:
    if not isinstance(value, KKT):
        return value is None
    violations = [getattr(value, field.name) for field in dataclasses.fields(KKT)]
    return all(isinstance(one, Violation) and is_number(one.value) and is_whole(one.row) for one in violations)


def is_theorems(value: Any) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(one, TheoremBound)
        and is_word(one.name)
        and is_number(one.bound)
        and is_number(one.measured)
        and is_flag(one.at_most)
        and isinstance(one.plane, tuple)
        and all(map(is_number, one.plane))
        for one in value
    )


def is_class_weight(value: Any) -> bool:
    """Pairs of a label and a weight, each label once."""
    if not isinstance(value, tuple) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
        return False
    labels = [label for label, _ in value]
    alone = all(labels[i] != labels[j] for i in range(len(labels)) for j in range(i))
    return alone and all(is_number(weight) and 0.0 < weight < math.inf for _, weight in value)


def as_is(value: Any) -> Any:
    return value


def read_number(value: Any) -> float:
    if not is_number(value):
        raise ValueError(f"{str(value)[:80]!r} is no number")
    return float(value)


def read_numbers(value: Any) -> Vector:
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "fiu":
        raise ValueError(f"{str(value)[:80]} is no array of numbers")
    return numbers.astype(np.float64)


def read_count(value: Any) -> Any:
    if not (value is None or (type(value) is int and value >= 0)):
        raise ValueError(f"{value!r} is no count")
    return value


def read_look(value: Any) -> FurtherLook:
    if value not in FurtherLook.__members__:
        raise ValueError(f"further_look {value!r} is not known")
    return FurtherLook[value]


def read_theorem(value: Any) -> TheoremBound:
    return TheoremBound(**(value | {"plane": tuple(map(float, value.get("plane", ())))}))


def read_conditions(value: Any) -> KKT | None:
    return None if value is None else KKT(**{name: Violation(**entry) for name, entry in value.items()})


class Kind(NamedTuple):
    """Of a field: what fits into it, in words too, and how it is read from plain values."""

    fits: Callable[[Any], bool]
    words: str
    read: Callable[[Any], Any] = as_is


FITS: dict[str, Kind] = {  # by annotation
    "bool": Kind(is_flag, "True or False"),
    "int": Kind(is_whole, "a whole number"),
    "float": Kind(is_number, "a number", read_number),
    "str": Kind(is_word, "a word"),
    "float | None": Kind(lambda value: value is None or is_number(value), "a number or None"),
    "int | None": Kind(lambda value: value is None or is_whole(value), "a whole number or None", read_count),
    "FurtherLook": Kind(lambda value: isinstance(value, FurtherLook), "a word about a further look", read_look),
    "Any": Kind(is_label, "a label"),
    "Vector": Kind(is_of_numbers, "an array of float64", read_numbers),
    "NDArray[np.intp]": Kind(
        is_of_rows,
        "an array of whole numbers",
        lambda value: np.array([operator.index(row) for row in value], dtype=np.intp),
    ),
    "KKT | None": Kind(is_conditions, "the conditions of optimality, or None", read_conditions),
    "None": Kind(lambda value: value is None, "None", read_conditions),
    "tuple[TheoremBound, ...]": Kind(
        is_theorems, "theorems", lambda value: tuple(read_theorem(theorem) for theorem in value)
    ),
    "tuple[tuple[Any, float], ...]": Kind(
        is_class_weight,
        "pairs of a label and a positive weight, each label once",
        lambda value: tuple((label, float(weight)) for label, weight in value),
    ),
}


def malformed(c: Any, kept: Rows) -> Iterator[str]:
    """What is not even a claim about the rows `kept` of the user's table: at least one clause, if it is none."""
    wrong = of_another_kind(c)
    if wrong is not None:  # then nothing else can be asked
        yield wrong
        return
    yield from no_question(c)
    yield from no_such_rows(c, kept)
    yield from no_numbers(c)


def of_another_kind(c: Any) -> str | None:
    """A clause about the first field that is not what its annotation says."""
    for field in dataclasses.fields(c):
        value = getattr(c, field.name)
        if field.name != "verdict" and not (kind := FITS[str(field.type)]).fits(value):
            return f"{field.name} must be {kind.words}, not {str(value)[:80]}"
    return None


def no_question(c: Any) -> Iterator[str]:
    if not isinstance(c.verdict, c.verdicts):
        yield f"the verdict {c.verdict!r} is not known"
    if c.positive is None or c.positive == c.negative:
        yield f"{c.positive!r} against {c.negative!r} is no question: the two sides must have labels of their own"


def no_such_rows(c: Any, kept: Rows) -> Iterator[str]:
    if c.rows.ndim != 1 or c.rows.shape != c.weights.shape or len(np.unique(c.rows)) != len(c.rows):
        yield "rows and weights do not match, or a row comes twice"
        return
    missing = np.setdiff1d(c.rows, kept)
    if len(missing):
        yield f"row {missing[0]} is not part of this problem"


def no_numbers(c: Any) -> Iterator[str]:
    """Bounds, words and planes that are none."""
    bounds = ("margin_lower", "margin_upper", "primal", "dual")
    if any(math.isnan(getattr(c, name)) for name in bounds if name in vars(c)):
        yield "a bound is NaN"
    if any(math.isnan(theorem.bound) or math.isnan(theorem.measured) for theorem in c.theorems):
        yield "the theorem's figures are NaN"
    if "tol" in vars(c) and not type(c).may_ask_for(c.tol):
        yield f"tol must be above 0 and below 1, not {c.tol}"
    for name, words in WORDS.items():
        if name in vars(c) and getattr(c, name) not in words:
            yield f"the {name} {getattr(c, name)!r} is not known"
    if "w" in vars(c) and (c.w.shape != (c.n_columns,) or not np.all(np.isfinite(c.w)) or not math.isfinite(c.b)):
        yield "the plane is not finite or has the wrong length"


def gap_refused(c: Any, low: float, high: float) -> Iterator[str]:
    """A verdict that the two bounds deny. Bounds in the wrong order prove that one of them is about something else."""
    if low > high:
        yield f"the lower bound {low!r} is above the upper bound {high!r}: they contradict each other"
    proven = proves_gap(low, high, c.tol)
    if c.verdict.name == "OPTIMAL" and not proven:
        yield f"the relative gap is {c.relative_gap:.1e}, above the tol of {c.tol:.1e}: not optimal"
    if c.verdict.name == "BOUNDED" and proven:
        yield f"the relative gap is {c.relative_gap:.1e}, within the tol of {c.tol:.1e}: that is optimal, and not less"


def figures_refused(claimed: KKT, found: KKT, widest: KKT, rounding: dict[str, float]) -> Iterator[str]:
    """Conditions whose violation is not what float64 computes, up to what rounding does to it.

    Where rows are at the very limit of being counted, `found` leaves them out and `widest` takes them in. A condition
    that has no row of its own names none.
    """
    for field in dataclasses.fields(KKT):
        own, least, most = (getattr(kkt, field.name) for kkt in (claimed, found, widest))
        allowed = 1e-6 * (1e-6 + most.value) + rounding.get(field.name, 0.0)
        largest = min(most.value + allowed, LARGEST.get(field.name, math.inf))
        within = least.value - allowed <= own.value <= largest or own.value == least.value
        if not (own.value >= 0.0 and within):
            yield f"the condition of {field.name} is violated by {least.value:.3g}, not by {own.value:.3g}"
        if least.row < 0 and own.row != -1:
            yield f"the condition of {field.name} has no row of its own, and row {own.row} is named"


def relative_error(error: float, size: float) -> float:
    """How far off |w - w'| over the longer of the two can be, a figure of at most 2, where it is off by the error.

    Where both vanish, but for an error, it is 0 or 1, and none can tell which.
    """
    return min(2.0, error / size) if size > 0.0 else float(error > 0.0)


def row_refused(row: int, numbers: Rows, values: Vector, least: float, words: str) -> Iterator[str]:
    """A row that is named, and whose value is not the largest; `numbers` are those of the user's table."""
    if not np.any(values[numbers == row] >= least):
        yield f"row {row} is not {words}"


def almost(most: float, rounding: float) -> float:
    """What counts as the largest value, up to what rounding does."""
    return most - 1e-6 * (1e-6 + most) - rounding if math.isfinite(most) else most


def separation_refused(c: Any) -> Iterator[str]:
    """A verdict about separability that the margins deny. The bounds were measured before: a margin that is proven to
    be above 0 separates every row."""
    if c.verdict.name in ("OPTIMAL", "SEPARABLE"):
        if not c.margin_lower > 0.0:
            yield "no positive margin is claimed, so nothing is separated"
    elif c.margin_lower > 0.0:
        yield "a positive margin is claimed with a verdict that denies it"
