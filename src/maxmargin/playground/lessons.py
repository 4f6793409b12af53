"""Short lessons, as `lessons.toml` has them: each a state to look at, three sentences and a question."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Any

from maxmargin.playground.presets import points_named

FILE = Path(__file__).with_name("lessons.toml")
NEEDED = {"name": str, "title": str, "sentences": list, "question": str, "answer": str, "algorithm": str}
FURTHER = {"points": (str, list), "parameters": dict, "b": str, "mode": str, "open": list, "exercise": str}
MODES = ("answer", "steps", "challenge", "multiplier")  # what the page shows first


@functools.cache
def lessons() -> list[dict[str, Any]]:
    """In the order in which they build on each other, as the page reads them."""
    return [lesson(entry) for entry in tomllib.loads(FILE.read_text(encoding="utf-8"))["lesson"]]


def lesson(entry: dict[str, Any]) -> dict[str, Any]:
    """One lesson; an error of whoever wrote it is named.

    >>> lesson({"name": "mine", "tilte": "My own"})
    Traceback (most recent call last):
    ValueError: the lesson 'mine' has a field 'tilte', which no lesson has
    """
    known: dict[str, Any] = {**NEEDED, **FURTHER}
    name = entry.get("name")
    for field, value in entry.items():
        if field not in known:
            raise ValueError(f"the lesson {name!r} has a field {field!r}, which no lesson has")
        if not isinstance(value, known[field]):
            raise ValueError(f"{field!r} of the lesson {name!r} is {value!r}")
    missing = [field for field in (*NEEDED, "points") if field not in entry]
    mode = entry.get("mode", MODES[0])
    if missing or len(entry["sentences"]) != 3 or mode not in MODES:
        raise ValueError(f"the lesson {name!r} needs {missing or f'three sentences, and a mode of {MODES}'}")
    points = points_named(entry["points"]) if isinstance(entry["points"], str) else entry["points"]
    return {
        **{field: entry[field] for field in ("name", "title", "sentences", "question", "answer")},
        "state": {
            "points": [list(point) for point in points],
            "algorithm": entry["algorithm"],
            "parameters": entry.get("parameters", {}),
        },
        "b": {"algorithm": entry["b"], "parameters": {}} if "b" in entry else None,
        "mode": mode,
        "open": entry.get("open", []),
        "exercise": entry.get("exercise"),
    }
