"""Answers as students give them: numbers, fractions such as "2/3", lists and arrays; and a sentence for all else.

An exercise declares the parts of its answer as fields. What comes in is a dict with these names, a list with the
parts in their order, or the part itself where there is only one. What goes on to the judge is float64, or whole
numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from maxmargin.data.table import Vector

LARGEST = 1e9  # no exercise needs a larger number
LONGEST = 1000  # nor a longer list
HUGE = re.compile(r"[eE][+-]?[\d_]{4,}")  # an exponent whose power of ten would fill the memory
DUST = 1e-9  # of the largest
NEAR = 5e-3  # relative: answers in three digits are answers
GAP = 0.02  # relative, of the two bounds that multipliers in three digits prove


@dataclass(frozen=True)
class Field:
    """One part of an answer: its name, its shape (None: any length), and whether its numbers are whole."""

    name: str
    shape: tuple[int | None, ...] = ()
    whole: bool = False

    @property
    def words(self) -> str:
        """What is asked for.

        >>> Field("w", (2,)).words, Field("b").words, Field("rows", (None,), whole=True).words
        ('w, a list of 2 numbers', 'b, a number', 'rows, a list of whole numbers')
        """
        kind = "whole number" if self.whole else "number"
        if not self.shape:
            return f"{self.name}, a {kind}"
        if len(self.shape) == 2:
            return f"{self.name}, {self.shape[0]} lists of {self.shape[1]} {kind}s"
        count = "" if self.shape[0] is None else f"{self.shape[0]} "
        return f"{self.name}, a list of {count}{kind}s"

    def read(self, given: Any) -> Any:
        """The numbers: a float or an int without a shape, else an array; a ValueError is a sentence about it."""
        numbers = np.array([self.number(entry) for entry in self.entries(given, self.shape)])
        if self.whole:
            numbers = numbers.astype(np.int64)
        if not self.shape:
            return numbers[0].item()
        sizes = [-1 if size is None else size for size in self.shape]
        return numbers.reshape(sizes)

    def entries(self, given: Any, shape: tuple[int | None, ...]) -> Iterator[Any]:
        if not shape:
            yield given
            return
        parts = given.tolist() if isinstance(given, np.ndarray) else given
        if not isinstance(parts, Sequence) or isinstance(parts, str | bytes):
            raise ValueError(f"{self.words} is asked for, not {shown(given)}")
        size = shape[0]
        if size is not None and len(parts) != size:
            raise ValueError(f"{self.words} is asked for; {len(parts)} were given where {size} are needed")
        if len(parts) > LONGEST:
            raise ValueError(f"{self.name} has {len(parts):,} entries: more than any answer here")
        for part in parts:
            yield from self.entries(part, shape[1:])

    def number(self, given: Any) -> float:
        is_one = isinstance(given, np.generic) or (isinstance(given, np.ndarray) and given.ndim == 0)
        value: Any = given.item() if is_one else given
        try:
            if isinstance(value, str):
                value = math.inf if HUGE.search(value) else Fraction(value.strip()) if len(value) < 50 else None
            if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
                raise TypeError
            number = float(value)
        except (TypeError, ValueError, OverflowError, ZeroDivisionError):
            raise ValueError(f"{self.words} is asked for, and {shown(given)} is no number") from None
        if not abs(number) <= LARGEST:
            raise ValueError(f"{self.name} holds {shown(given)}: numbers here are finite, and at most {LARGEST:g}")
        if self.whole and not number.is_integer():
            raise ValueError(f"{self.words} is asked for, and {shown(given)} is not whole")
        return number


def shown(given: Any) -> str:
    """A few letters of whatever it is."""
    try:
        text = repr(given)
    except Exception:  # an object whose repr fails is nonsense too
        text = ""
    return text if 0 < len(text) <= 40 else f"{type(given).__name__} object"


def read_answer(fields: tuple[Field, ...], answer: Any) -> dict[str, Any]:
    """The parts of an answer by name; a ValueError says in a sentence what is wrong with it."""
    names = [field.name for field in fields]
    wanted = "; ".join(field.words for field in fields)
    if isinstance(answer, Mapping):
        given = dict(answer)
        missing = [name for name in names if name not in given]
        unknown = [str(name)[:20] for name in given if name not in names]
        if missing or unknown:
            wrong = [f"{', '.join(missing)} missing"] if missing else []
            wrong += [f"{', '.join(unknown)} not asked for"] if unknown else []
            raise ValueError(f"{wanted} is asked for: {' and '.join(wrong)}")
    elif len(fields) == 1:
        given = {names[0]: answer}
    elif isinstance(answer, Sequence) and not isinstance(answer, str | bytes) and len(answer) == len(fields):
        given = dict(zip(names, answer, strict=True))
    else:
        raise ValueError(f"an answer has {len(fields)} parts: {wanted}; not {shown(answer)}")
    return {field.name: field.read(given[field.name]) for field in fields}


def differs(given: float, real: float, scale: float = 0.0) -> bool:
    """Whether two numbers differ by more than rounding to three digits, of the larger of the real one and the scale."""
    return not abs(given - real) <= NEAR * max(abs(real), scale)


def without_dust(values: Vector) -> Vector:
    """Zeros in place of what a computer leaves where it means 0."""
    return np.where(np.abs(values) > DUST * np.abs(values).max(initial=0.0), values, 0.0)


def number(value: Any) -> str:
    """A number in a sentence.

    >>> number(2.0), number(1 / 3), number(-0.0)
    ('2', '0.333333', '0')
    """
    return f"{float(value) + 0.0:.6g}" if math.isfinite(value) else str(value)


def listed(values: Any) -> str:
    """Numbers in a sentence: (1, 2.5)."""
    return f"({', '.join(number(value) for value in np.asarray(values, dtype=np.float64))})"
