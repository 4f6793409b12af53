"""A parameter as a page shows it."""

from __future__ import annotations

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
