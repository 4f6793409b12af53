"""A recorded run as one page: `trace_page.html` with the numbers of the run in it; no server and no network is needed.

The page has the steps, and what they were about, as JSON inside of a script element; every "<" in it is written as
\\u003c, so that no text of the user can end that element, and the page writes text as text. A long run is shown by
some of its steps, evenly chosen, and a large table by some of its rows; the page says so.
"""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.table import Vector
from maxmargin.problems.run_record import Subject
from maxmargin.problems.trace_files import plain

if TYPE_CHECKING:
    from maxmargin.problems.trace import Trace

TEMPLATE = Path(__file__).with_suffix(".html")
PLACE = "__RUN__"
DIGITS = 7
MOST_ROWS = 1000
MOST_NUMBERS = 12_000  # of rows
MOST_STEPS = 400
MOST_CHARACTERS = 20_000  # of steps


def page_of(trace: Trace) -> str:
    """The page."""
    if trace.subject is None:
        raise ValueError("this trace does not know what it is about: it is shown once the fit has ended")
    text = json.dumps(numbers_of(trace, trace.subject), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return TEMPLATE.read_text(encoding="utf-8").replace(PLACE, text.replace("<", "\\u003c"))


def frame_of(trace: Trace) -> str:
    """The page inside of another one, such as a notebook; its script sees nothing of the page around it."""
    page = html.escape(page_of(trace))
    style = "width: 100%; height: min(50rem, 95vh); border: 0"
    return f'<iframe title="A recorded run" sandbox="allow-scripts" style="{style}" srcdoc="{page}"></iframe>'


def numbers_of(trace: Trace, about: Subject) -> dict[str, Any]:
    """What the page knows."""
    shown = rows_shown(trace, about)
    steps, notes = steps_shown(trace, about, shown), []
    if len(steps) < trace.n_updates:
        notes.append(f"{len(steps):,} of {trace.n_updates:,} steps are in this file")
    if len(shown) < about.n_rows:
        notes.append(f"{len(shown):,} of {about.n_rows:,} rows")
    count = len(about.theorems)
    return {
        "algorithm": about.algorithm,
        "parameters": plain(about.parameters),
        "names": about.names,
        "columns": about.columns,
        "X": [short(row) for row in about.X[shown]],
        "y": about.signs[shown].astype(int).tolist(),
        "weights": short(about.weights[shown]) if len(about.weights) else None,
        "width": about.X.shape[1],
        "unit": about.unit,
        "kernel": plain(about.kernel) or None,
        "lambda": about.shrink,
        "steps": steps,
        "total": trace.n_updates,
        "title": about.title,
        "words": about.words[: len(about.words) - count],
        "promises": about.words[len(about.words) - count :],
        "theorems": plain(about.theorems),
        "progress": about.progress,
        "radius": about.radius,
        "note": "; ".join(notes),
    }


def rows_shown(trace: Trace, about: Subject) -> NDArray[np.int64]:
    """The lines of X that are in the page; of a kernel all, because a plane is made of them, or none."""
    n, d = about.X.shape
    most = min(MOST_ROWS, MOST_NUMBERS // max(1, d))
    if n <= most:
        return np.arange(n)
    return np.zeros(0, dtype=np.int64) if about.kernel else np.linspace(0, n - 1, most).astype(np.int64)


def steps_shown(trace: Trace, about: Subject, shown: Any) -> list[dict[str, Any]]:
    """As many steps as there is room for, evenly chosen, the first and the last among them."""
    columns = trace.to_arrays()
    is_weight = np.arange(columns["after"].shape[1]) < about.X.shape[1]  # and no bias
    unit = np.where(is_weight & (not about.kernel), about.unit, 1.0)
    before, after = columns["before"] * unit, columns["after"] * unit
    rows = dict(zip(about.places.tolist(), about.rows.tolist(), strict=True))
    lines = {int(place): line for line, place in enumerate(about.places[shown].tolist())}

    def step(k: int, last: int | None) -> dict[str, Any]:
        place = int(columns["row"][k])
        told: dict[str, Any] = {
            "update": int(columns["update"][k]),
            "row": rows.get(place, place),
            "at": lines.get(place, -1),
            "violation": short(columns["violation"][k : k + 1])[0],
            "bound": short(columns["margin_bound"][k : k + 1])[0],
            "after": short(after[k]),
        }
        if about.kernel:
            told["place"] = place
        if "tried" in columns:
            told["tried"] = short(columns["tried"][k : k + 1])[0]
        if len(about.steps):
            told["eta"] = short(about.steps[k : k + 1])[0]
        follows = np.array_equal(before[k], np.zeros_like(before[k]) if last is None else after[last])
        return told if follows else {**told, "before": short(before[k])}

    def chosen(most: int) -> list[dict[str, Any]]:
        at = np.unique(np.linspace(0, len(trace) - 1, min(most, len(trace))).round().astype(int)).tolist()
        return [step(k, at[j - 1] if j else None) for j, k in enumerate(at)]

    if len(trace) == 0:
        return []
    most = min(MOST_STEPS, len(trace))
    found = chosen(most)
    while most > 2 and (size := len(json.dumps(found, separators=(",", ":")))) > MOST_CHARACTERS:
        most = max(2, min(most - 1, int(most * MOST_CHARACTERS / size)))
        found = chosen(most)
    return found


def short(numbers: Vector) -> list[Any]:
    """To a few digits; whole numbers as such, None where there is no number."""
    rounded = [float(f"{value:.{DIGITS}g}") for value in np.asarray(numbers, dtype=np.float64).tolist()]
    return [plain(int(value) if value.is_integer() and abs(value) < 1e7 else value) for value in rounded]
