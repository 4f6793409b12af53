"""Reading a document and its arrays as a closed schema: each field is asked for once, by its type; none may be left.

    with Fields(document, "the document") as fields:
        version = fields.whole("version")

Numbers that JSON cannot hold are written as {"number": "inf"}, as in certificates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.persistence.container import Arrays
from maxmargin.persistence.errors import Refusal

SPELT = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
LARGEST_COUNT = 2**62
LONGEST_TEXT = 1000


class Fields:
    """The fields of one JSON object. What is missing, of another type or unknown is a `Refusal`."""

    def __init__(self, fields: Any, place: str) -> None:
        if not isinstance(fields, dict):
            raise Refusal(f"{place} is not an object with fields")
        self.left, self.place = dict(fields), place

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self.left:
            raise Refusal(f"{self.place} has a field {next(iter(self.left))[:40]!r}, which this version does not know")

    def take(self, name: str) -> Any:
        """Any value; whoever takes it has to check it."""
        if name not in self.left:
            raise Refusal(f"{self.place} has no field {name!r}")
        return self.left.pop(name)

    def _take(self, name: str, fits: Callable[[Any], bool], says: str) -> Any:
        value = self.take(name)
        if not fits(value):
            raise Refusal(f"{name!r} of {self.place} must be {says}, not {shown(value)}")
        return value

    def flag(self, name: str) -> bool:
        return bool(self._take(name, lambda value: isinstance(value, bool), "true or false"))

    def text(self, name: str, longest: int = LONGEST_TEXT) -> str:
        return str(self._take(name, lambda value: is_text(value, longest), "a short text"))

    def one_of(self, name: str, options: Any) -> str:
        listed = ", ".join(map(repr, options))
        return str(self._take(name, lambda value: isinstance(value, str) and value in options, f"one of {listed}"))

    def whole(self, name: str, least: int = 0, most: int = LARGEST_COUNT) -> int:
        says = f"a whole number from {least} to {most}"
        return int(self._take(name, lambda value: is_whole(value) and least <= value <= most, says))

    def number(self, name: str) -> float:
        """Any number; infinity and NaN too."""
        return number_in(self.take(name), f"{name!r} of {self.place}")

    def list(self, name: str) -> list[Any]:
        return list(self._take(name, lambda value: isinstance(value, list), "a list"))

    def fields(self, name: str) -> Fields:
        return Fields(self.take(name), f"{name!r} of {self.place}")


class Shelf:
    """The arrays of a file, each to be taken once."""

    def __init__(self, arrays: Arrays) -> None:
        self.left = dict(arrays)

    def take(
        self, name: str, shape: tuple[int | None, ...], types: tuple[str, ...] = ("float64",), *, finite: bool = True
    ) -> NDArray[Any]:
        """The array of that name; None in a shape stands for any size."""
        if name not in self.left:
            raise Refusal(f"the array {name!r} is missing")
        array = self.left.pop(name)
        if array.dtype.name not in types:
            raise Refusal(f"the array {name!r} is of type {array.dtype.name}, where {' or '.join(types)} is needed")
        fits = array.ndim == len(shape) and all(
            size is None or size == own for size, own in zip(shape, array.shape, strict=True)
        )
        if not fits:
            needed = " x ".join("any" if size is None else str(size) for size in shape)
            raise Refusal(f"the array {name!r} has the shape {array.shape}, where {needed} is needed")
        if finite and array.dtype.kind == "f" and not np.all(np.isfinite(array)):
            raise Refusal(f"the array {name!r} holds NaN or infinity")
        return array

    def take_rows(self, name: str, length: int | None = None) -> NDArray[np.intp]:
        """Numbers of rows, none negative."""
        rows = self.take(name, (length,), ("int64",))
        if np.any(rows < 0):
            raise Refusal(f"the array {name!r} holds negative numbers of rows")
        return rows.astype(np.intp, copy=False)

    def close(self) -> None:
        if self.left:
            raise Refusal(f"there is an array {next(iter(self.left))[:40]!r}, which does not belong to this model")


def is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_text(value: Any, longest: int = LONGEST_TEXT) -> bool:
    return isinstance(value, str) and len(value) <= longest


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def number_in(value: Any, place: str) -> float:
    """A number of a document, as a float."""
    if isinstance(value, dict) and set(value) == {"number"} and isinstance(value["number"], str):
        value = SPELT.get(value["number"], value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise Refusal(f"{place} must be a number, not {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise Refusal(f"{place} is too large for 64 bits") from None


def shown(value: Any) -> str:
    """A value in a message, cut where it is long."""
    text = f"a {type(value).__name__}" if isinstance(value, dict | list) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def split(values: NDArray[Any], sizes: list[int], name: str) -> list[NDArray[Any]]:
    """Arrays that were written one after the other."""
    if sum(sizes) != len(values):
        raise Refusal(f"the array {name!r} has {len(values)} entries, where {sum(sizes)} are needed")
    return np.split(values, np.cumsum(sizes)[:-1]) if sizes else []


def without_numpy(value: Any) -> Any:
    """Python's own numbers, lists and dicts in place of NumPy's."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [without_numpy(entry) for entry in value]
    if isinstance(value, dict):
        return {without_numpy(label): without_numpy(weight) for label, weight in value.items()}
    return value
