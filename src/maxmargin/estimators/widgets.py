"""A parameter as a page shows it, and what comes back from there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Widget:
    """A slider ("log", "linear" or "integer"), a "switch" or a "choice".

    `low` and `high` are the ends of a slider, `choices` the words of a choice with their labels; `also` are pairs
    (value, label) beside the numbers, where "inf" stands for infinity, which JSON cannot hold. `shown_if` is the name
    of another parameter, and those of its values at which this one has a meaning.
    """

    name: str
    label: str
    help: str
    kind: str
    default: Any
    low: float = 0.0
    high: float = 0.0
    choices: tuple[tuple[str, str], ...] = ()
    also: tuple[tuple[Any, str], ...] = ()
    shown_if: tuple[str, tuple[Any, ...]] | None = None

    def to_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "name": self.name,
            "label": self.label,
            "help": self.help,
            "kind": self.kind,
            "default": self.default,
            "also": [{"value": value, "label": label} for value, label in self.also],
            "shown_if": None if self.shown_if is None else {self.shown_if[0]: list(self.shown_if[1])},
        }
        if self.kind == "choice":
            fields["choices"] = [{"value": value, "label": label} for value, label in self.choices]
        elif self.kind != "switch":
            fields.update(low=self.low, high=self.high)
        return fields

    def matters(self, others: dict[str, Any]) -> bool:
        """Whether it has a meaning beside these values of the others."""
        return self.shown_if is None or others[self.shown_if[0]] in self.shown_if[1]

    def read(self, value: Any) -> Any:
        """The value as the estimator wants it, or a ValueError that says what it may be."""
        if any(value is special or (isinstance(value, str) and value == special) for special, _ in self.also):
            return math.inf if value == "inf" else value
        if self.kind == "switch":
            if not isinstance(value, bool):
                raise ValueError(f"{self.name} must be true or false")
            return value
        if self.kind == "choice":
            known = [choice for choice, _ in self.choices]
            if not isinstance(value, str) or value not in known:
                raise ValueError(f"{self.name} must be one of {', '.join(known)}")
            return value
        whole = self.kind == "integer"
        if isinstance(value, bool) or not isinstance(value, int | float) or not self.low <= value <= self.high:
            kind = "a whole number" if whole else "a number"
            others = "".join(f", or {special!r}" for special, _ in self.also)
            raise ValueError(f"{self.name} must be {kind} between {self.low:g} and {self.high:g}{others}")
        if whole and value != int(value):
            raise ValueError(f"{self.name} must be a whole number, not {value:g}")
        return int(value) if whole else float(value)
