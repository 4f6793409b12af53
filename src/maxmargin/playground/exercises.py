"""The exercises of `maxmargin.exercise` on the page: the question, the points, and a grade by what an answer proves.

"exercise" (given: {"name": "widest street", "seed": 0, "answer": null or {"w": "1, 0", "b": "-2/3"}})
    exercise   {"number": , "name": , "title": , "seed": , "question": , "data": {"X": , ...}, "fields": [{"name": "w",
               "words": "w, a list of 2 numbers"}, ...]}
    given      [[name, text], ...]: the data as text
    points     [[x, y, label], ...] where the rows have two columns, else null
    grade      null without an answer, else {"right": , "proven": [sentences], "lower": , "upper": ,
               "failures": [{"condition": , "sentence": , "row": or -1}, ...]}
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from maxmargin import exercise, exercises
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.schema import Between, OneOf
from maxmargin.teaching.answers import Field
from maxmargin.teaching.exercise import written

LARGEST_SEED = 9999
LONGEST_ANSWER = 2000  # letters


def names() -> list[str]:
    return [entry.name for entry in exercises()]


Name = Annotated[str, OneOf(names)]


@dataclass(frozen=True)
class GivenExercise:
    """Which exercise, and a student's answer as it was typed."""

    name: Name
    seed: Annotated[int, Between(0, LARGEST_SEED)]
    answer: dict[str, Any] | None


def listed() -> list[dict[str, Any]]:
    """Number, name and title of each, for a list to choose from."""
    return [{"number": entry.number, "name": entry.name, "title": entry.title} for entry in exercises()]


def graded(given: GivenExercise) -> dict[str, Any]:
    """The exercise, and the grade of the answer if there is one."""
    task = exercise(given.name, given.seed)
    data = task.data
    X, y = data.get("X"), data.get("y")
    points = None
    if X is not None and y is not None and np.shape(X)[1] == 2:
        points = [[float(x1), float(x2), int(label)] for (x1, x2), label in zip(X, y, strict=True)]
    grade = None
    if given.answer is not None:
        grade = task.check(read_parts(task.fields, given.answer)).to_dict()
    return {
        "exercise": task.to_dict(),
        "given": [[name, written(value)] for name, value in data.items()],
        "points": points,
        "grade": grade,
    }


def read_parts(fields: tuple[Field, ...], answer: dict[str, Any]) -> dict[str, Any]:
    """The parts of an answer from their texts: numbers with commas or spaces between them, lists with semicolons.

    >>> read_parts((Field("w", (2,)), Field("b")), {"w": "[1, 2/3]", "b": " 0.5"})
    {'w': ['1', '2/3'], 'b': '0.5'}
    """
    parts: dict[str, Any] = {}
    for field in fields:
        text = answer.get(field.name, "")
        if not isinstance(text, str) or len(text) > LONGEST_ANSWER:
            raise Refusal(f"{field.name} must be a text of at most {LONGEST_ANSWER} letters", "given")
        parts[field.name] = read_part(field, text)
    return parts


def read_part(field: Field, text: str) -> Any:
    if len(field.shape) == 2:
        rows = [row for row in re.split(r"[;\n\]]", text) if row.strip(" ,[")]
        return [numbers_in(row) for row in rows]
    return numbers_in(text) if field.shape else text.strip()


def numbers_in(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,;\[\]()]+", text) if word]
