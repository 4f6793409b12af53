"""A parameter of an algorithm: how the page shows it, and which values the server takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


class Refused(ValueError):
    """A message that cannot be answered: the sentence that the user reads, and the field that it is about."""

    def __init__(self, sentence: str, field: str) -> None:
        super().__init__(sentence)
        self.sentence, self.field = sentence, field


@dataclass(frozen=True)
class Parameter:
    """See `messages` for the kinds. `also` are pairs (value, label) beside the numbers; "inf" stands for infinity.

    `choices` may be a function that gives the pairs, where others may add to them.
    """

    name: str
    label: str
    help: str
    kind: str
    default: Any
    low: float = 0.0
    high: float = 0.0
    choices: tuple[tuple[Any, str], ...] | Callable[[], tuple[tuple[Any, str], ...]] = ()
    also: tuple[tuple[Any, str], ...] = ()
    shown_if: tuple[str, tuple[Any, ...]] | None = None

    @property
    def options(self) -> tuple[tuple[Any, str], ...]:
        """The pairs (value, label) of a choice."""
        return self.choices() if callable(self.choices) else self.choices

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
            fields["choices"] = [{"value": value, "label": label} for value, label in self.options]
        elif self.kind != "switch":
            fields.update(low=self.low, high=self.high)
        return fields

    def matters(self, others: dict[str, Any]) -> bool:
        """Whether it has a meaning beside these values of the others."""
        return self.shown_if is None or others[self.shown_if[0]] in self.shown_if[1]

    def read(self, value: Any) -> Any:
        """The value as the estimator wants it, or a refusal that says what it may be."""
        if any(value is special or (isinstance(value, str) and value == special) for special, _ in self.also):
            return math.inf if value == "inf" else value
        if self.kind == "switch":
            if not isinstance(value, bool):
                raise Refused(f"{self.name} must be true or false", self.name)
            return value
        if self.kind == "choice":
            known = [choice for choice, _ in self.options]
            if not isinstance(value, str) or value not in known:
                raise Refused(f"{self.name} must be one of {', '.join(known)}", self.name)
            return value
        whole = self.kind == "integer"
        if isinstance(value, bool) or not isinstance(value, int | float) or not self.low <= value <= self.high:
            kind = "a whole number" if whole else "a number"
            others = "".join(f", or {special!r}" for special, _ in self.also)
            raise Refused(f"{self.name} must be {kind} between {self.low:g} and {self.high:g}{others}", self.name)
        if whole and value != int(value):
            raise Refused(f"{self.name} must be a whole number, not {value:g}", self.name)
        return int(value) if whole else float(value)
