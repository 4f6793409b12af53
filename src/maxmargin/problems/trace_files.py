"""A recorded run in a file: JSON, which holds all of it and is read back, and CSV, a line for each update.

The document has the updates column by column, as `Trace.to_arrays` gives them, and the subject of the run. Numbers are
written to the last digit; null stands where there is none (a visit of stochastic steps bounds no margin). A document
is data from anywhere: its sizes are compared with each other before anything is made of it, and what does not fit is
refused in a sentence.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.table import Vector
from maxmargin.problems.run_record import Entry, Phase, Subject

if TYPE_CHECKING:
    from maxmargin.problems.trace import Trace

FORMAT, VERSION = "maxmargin run", 1


def written(text: str, path: str | os.PathLike[str] | None) -> str:
    """The text, which is now in the file too, if there is one."""
    if path is not None:
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    return text


# Writing.


def json_of(trace: Trace) -> str:
    """The document as text."""
    columns = trace.to_arrays()
    updates = {name: plain(columns[name]) for name in ("update", "row", "violation", "before", "after", "margin_bound")}
    document = {
        "format": FORMAT,
        "version": VERSION,
        "limit": trace.limit,
        "n_updates": trace.n_updates,
        "stride": trace.stride,
        "updates": updates,
        "phases": [plain(dataclasses.astuple(phase)) for phase in trace.phases],
        "subject": None if trace.subject is None else described(trace.subject),
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def described(subject: Subject) -> dict[str, Any]:
    """The subject as JSON holds it."""
    return {name: plain(value) for name, value in vars(subject).items()}


def plain(value: Any) -> Any:
    """Lists and numbers in place of arrays; None for a number that JSON has no word for."""
    if isinstance(value, np.ndarray | tuple | list):
        return [plain(entry) for entry in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, dict):
        return {name: plain(entry) for name, entry in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def csv_of(trace: Trace) -> str:
    """update, row, violation, norm, cosine, margin_bound, the number that a search tried, and the weights after the
    update; empty: there is none."""
    columns = trace.to_arrays()
    width = columns["after"].shape[1]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    told = ("update", "row", "violation", "norm", "cosine", "margin_bound", *(["tried"] if trace.phases else []))
    writer.writerow([*told, *names_of_weights(trace.subject, width)])
    numbers = zip(*(columns[name].tolist() for name in told), columns["after"].tolist(), strict=True)
    for *one, after in numbers:
        writer.writerow(["" if plain(value) is None else repr(value) for value in (*one, *after)])
    return text.getvalue()


def names_of_weights(subject: Subject | None, width: int) -> list[str]:
    """By their columns, or, in the space of a kernel, by their rows; a bias is the last."""
    if subject is None:
        return [f"w{j}" for j in range(width)]
    if subject.kernel:
        return [*(f"row {row}" for row in range(width - 1)), "b"]
    d = subject.X.shape[1]
    names = [f"w of {name}" for name in subject.columns] or [f"w{j}" for j in range(d)]
    return [*names[:width], *["b"] * (width - d)]


# Reading.


class RecordRead(NamedTuple):
    """What a document says of a run."""

    entries: list[Entry]
    n_updates: int
    stride: int
    limit: int
    phases: list[Phase]
    subject: Subject | None


def record_in(text: str | bytes) -> RecordRead:
    """The run of a document."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is no recorded run: it is no JSON ({str(error)[:80]})") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f'this is no recorded run: Trace.to_json writes documents with "format": "{FORMAT}"')
    if document.get("version") != VERSION:
        raise ValueError(f"this run has version {document.get('version')!r}; this release reads version {VERSION}")
    limit, n_updates, stride = (whole(document, name) for name in ("limit", "n_updates", "stride"))
    columns = part(document, "updates", dict)
    update, row = (vector(columns, name, whole_numbers=True) for name in ("update", "row"))
    n = len(update)
    before, after = table(columns, "before", n), table(columns, "after", n)
    violation, bound = vector(columns, "violation"), vector(columns, "margin_bound")
    if not len(row) == len(violation) == len(bound) == n or before.shape != after.shape:
        refuse("the columns of 'updates' have different lengths")
    if limit < 2 or stride < 1 or (n and (update[0] < 1 or np.any(np.diff(update) < 1) or update[-1] > n_updates)):
        refuse("'updates' are not numbered upwards, from 1 to 'n_updates'")
    entries = [
        (int(update[k]), int(row[k]), float(violation[k]), before[k], after[k], float(bound[k])) for k in range(n)
    ]
    phases = [phase_in(one) for one in (part(document, "phases", list) if "phases" in document else [])]
    firsts = [phase.first for phase in phases]
    if firsts and (firsts[0] != 1 or firsts != sorted(firsts)):
        refuse("'phases' do not follow each other, from update 1 on")
    subject = None
    if document.get("subject") is not None:
        subject = subject_in(part(document, "subject", dict))
        check_rows(subject, row.astype(np.int64), after.shape[1])
    return RecordRead(entries, n_updates, stride, limit, phases, subject)


def phase_in(entry: Any) -> Phase:
    """One run of a search: the number that it tried, its first update, how many, their payoff, and their bound."""
    if not isinstance(entry, list) or len(entry) != 5 or not all(type(one) in (int, float) for one in entry[:4]):
        refuse("a phase is not five numbers")
    tried, first, updates, payoff, bound = entry
    if type(first) is not int or type(updates) is not int or first < 1 or updates < 0:
        refuse("a phase does not count its updates")
    tried, payoff, bound = vector({"phases": [tried, payoff, bound]}, "phases").tolist()
    return Phase(tried, first, updates, payoff, math.inf if math.isnan(bound) else bound)


def subject_in(document: dict[str, Any]) -> Subject:
    signs, places, rows = (
        vector(document, name, whole_numbers=name != "signs") for name in ("signs", "places", "rows")
    )
    n = len(signs)
    X = table(document, "X", n)
    if not len(places) == len(rows) == n or not np.all(np.abs(signs) == 1.0):
        refuse("'X', 'signs', 'places' and 'rows' are not about the same rows")
    names = texts(document, "names")
    if len(names) != 2:
        refuse("'names' are not two")
    theorems, parameters = part(document, "theorems", list), part(document, "parameters", dict)
    if not (is_number(rate := parameters.get("rate", 1.0)) and rate > 0.0):
        refuse("its 'rate' is no positive number")
    return Subject(
        algorithm=part(document, "algorithm", str),
        parameters=parameters,
        X=X,
        signs=signs,
        places=places.astype(np.int64),
        rows=rows.astype(np.int64),
        n_rows=whole(document, "n_rows"),
        names=(names[0], names[1]),
        title=part(document, "title", str),
        words=texts(document, "words"),
        theorems=tuple(theorem_in(one) for one in theorems),
        columns=texts(document, "columns"),
        unit=number(document, "unit"),
        kernel=part(document, "kernel", dict),
        steps=vector(document, "steps"),
        weights=vector(document, "weights"),
        shrink=number(document, "shrink"),
        w=vector(document, "w"),
        b=number(document, "b"),
        progress=number(document, "progress"),
        radius=number(document, "radius"),
    )


def theorem_in(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict):
        refuse("'theorems' has an entry that is no object")
    bound = math.inf if document.get("bound") is None else number(document, "bound")
    told = {"name": part(document, "name", str), "bound": bound, "measured": number(document, "measured")}
    return {**told, "at_most": part(document, "at_most", bool)}


def check_rows(subject: Subject, rows: NDArray[np.int64], width: int) -> None:
    """The rows of the updates are among those of the subject, and its planes have its columns."""
    n, d = subject.n_rows, subject.X.shape[1]
    if len(rows) and not (rows.min() >= 0 and rows.max() < n):
        refuse(f"an update is about a row that is none of the {n}")
    if np.any(subject.places < 0) or np.any(subject.places >= n) or np.any(np.diff(subject.places) < 1):
        refuse("'places' are not places of rows, in their order")
    if len(rows) and width not in ((n + 1,) if subject.kernel else (d, d + 1)):
        refuse(f"the planes have {width} numbers, which fits neither the columns nor the rows")
    if len(subject.steps) not in (0, len(rows)) or len(subject.weights) not in (0, len(subject.signs)):
        refuse("'steps' or 'weights' has another length than what it is about")
    if len(subject.columns) not in (0, d) or len(subject.w) not in (0, d):
        refuse("'columns' or 'w' has another length than a row of 'X'")


def refuse(what: str) -> NoReturn:
    raise ValueError(f"this recorded run is damaged: {what}")


def part(document: dict[str, Any], name: str, kind: type) -> Any:
    value = document.get(name)
    if not isinstance(value, kind):
        refuse(f"{name!r} is missing, or is no {kind.__name__}")
    return value


def whole(document: dict[str, Any], name: str) -> int:
    value = document.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**62:
        refuse(f"{name!r} is missing, or is no whole number")
    return value


def number(document: dict[str, Any], name: str) -> float:
    value: Any = document.get(name)
    if not is_number(value):
        refuse(f"{name!r} is missing, or is no number")
    return float(value)


def texts(document: dict[str, Any], name: str) -> tuple[str, ...]:
    values = part(document, name, list)
    if not all(isinstance(value, str) for value in values):
        refuse(f"{name!r} holds more than text")
    return tuple(values)


def vector(document: dict[str, Any], name: str, *, whole_numbers: bool = False) -> Vector:
    """A list of numbers; null is NaN, where whole numbers are not asked for."""
    values = part(document, name, list)
    if not all(is_number(value) or (value is None and not whole_numbers) for value in values):
        refuse(f"{name!r} holds more than numbers")
    if whole_numbers and not all(isinstance(value, int) and abs(value) < 2**53 for value in values):
        refuse(f"{name!r} holds more than whole numbers")
    return np.array([math.nan if value is None else float(value) for value in values], dtype=np.float64)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def table(document: dict[str, Any], name: str, n: int) -> NDArray[np.float64]:
    """So many lists of numbers, of one length."""
    lines = part(document, name, list)
    if len(lines) != n or not all(isinstance(line, list) for line in lines):
        refuse(f"{name!r} has not {n} rows")
    width = len(lines[0]) if lines else 0
    if not all(len(line) == width and all(map(is_number, line)) for line in lines):
        refuse(f"{name!r} holds more than numbers, or rows of different lengths")
    return np.array(lines, dtype=np.float64).reshape(n, width)
