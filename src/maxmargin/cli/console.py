"""Where the commands write: results to stdout, messages and progress to stderr."""

from __future__ import annotations

import json
import math
from enum import IntEnum
from typing import Any

from rich.console import Console, RenderableType

WIDTH_OF_A_FILE = 120  # where there is no terminal to ask

# Text is printed as it is: brackets in a label are no markup, and its numbers keep their colour.
results = Console(markup=False, highlight=False, emoji=False)
results_in_a_file = Console(markup=False, highlight=False, emoji=False, width=WIDTH_OF_A_FILE)
messages = Console(stderr=True, markup=False, highlight=False, emoji=False, soft_wrap=True)


class ExitCode(IntEnum):
    """What a script learns; the docstring of the package explains them."""

    FINE = 0
    ERROR = 1
    UNPROVEN = 2
    NOT_SEPARABLE = 3
    INTERRUPTED = 130


class UserError(Exception):
    """Something that the user can put right; the message is the one sentence that is shown."""


def say(text: str = "", style: str | None = None) -> None:
    """A line of the result, which is never wrapped."""
    results.print(text, style=style, soft_wrap=True)


def show(table: RenderableType) -> None:
    """A table of the result, at most as wide as the terminal."""
    (results if results.is_terminal else results_in_a_file).print(table)


def say_json(value: dict[str, Any]) -> None:
    """The result for machines: JSON as the standard has it, so that what is not finite is null."""
    say(json.dumps(without_infinities(value), indent=2, allow_nan=False, ensure_ascii=False))


def without_infinities(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: without_infinities(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [without_infinities(entry) for entry in value]
    return value
