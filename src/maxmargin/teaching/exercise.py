"""An exercise: small data, a question, the parts of its answer, and how it is graded. One function makes one.

    @register("name", "Its title")
    def name(variant):
        X, y = ...                                         # small, by variant.seed and variant.random alone
        def grade(w, b): ...                               # the parts of the answer, read and of the right shape
        return Task(question, {"X": X, "y": y}, (Field("w", (2,)), Field("b")), grade)

`grade` measures the answer by the judge's code or in exact arithmetic, and gives a `Grade`. No answer is stored.
"""

from __future__ import annotations

import html
import textwrap
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates.record import plain
from maxmargin.teaching.answers import Field, read_answer
from maxmargin.teaching.grade import Failure, Grade


class Task(NamedTuple):
    """What the function of an exercise makes."""

    question: str
    data: Mapping[str, Any]
    fields: tuple[Field, ...]
    grade: Callable[..., Grade]


class Variant(NamedTuple):
    """By which the data of an exercise are drawn."""

    seed: int
    random: np.random.Generator


Make = Callable[[Variant], Task]


class Entry(NamedTuple):
    """An exercise that is known: its number, its name, its title, and the function that makes it."""

    number: int
    name: str
    title: str
    make: Make

    def __repr__(self) -> str:
        return f"Entry({self.number}, {self.name!r}, {self.title!r})"


@dataclass(frozen=True, eq=False)
class Exercise:
    """Data and a question; `check` grades an answer by what it proves.

    Parameters
    ----------
    number, name, title, seed : int, str, str, int
        Which exercise, and which of its variants.
    question : str
        What `print` shows, beside the data.
    data : dict
        X, y and whatever else is given, by name. `exercise.X` is short for `exercise.data["X"]`.
    fields : tuple of Field
        The parts of the answer: names, shapes, whether their numbers are whole.
    grade : callable
        The function behind `check`.

    Examples
    --------
    >>> from maxmargin import exercise
    >>> task = exercise("one variable")
    >>> print(task)
    Exercise 16, one variable: A multiplier on one variable
    <BLANKLINE>
    Minimise 0.2 x^2 - x + 1 subject to x >= 5. Give the best x and the multiplier a of the constraint: with the
    Lagrangian L(x, a) = f(x) - a (x - c), the slope f'(x) is a, x >= c, a >= 0 and a (x - c) = 0.
    <BLANKLINE>
    p = 0.2
    q = -1
    r = 1
    c = 5
    answer: x, a number; a, a number
    >>> print(task.check(x=5, a=0.5))
    Not yet.
      stationarity: f'(x) = 1 at x = 5, and a = 0.5: they differ by 0.5.
      proven: the optimum lies between 0.6875, the dual function at a = 0.5, and 1, f at x = 5.
    """

    number: int
    name: str
    title: str
    seed: int
    question: str
    data: Mapping[str, Any]
    fields: tuple[Field, ...]
    grade: Callable[..., Grade]

    def check(self, answer: Any = None, /, **parts: Any) -> Grade:
        """What the answer proves, and which condition fails at which row.

        Parameters
        ----------
        answer : dict, list or number, default=None
            The parts by their names, or in their order; or the part itself where there is one only. Numbers can
            be fractions: "2/3". Three digits are enough.
        **parts
            The parts as keywords, in the place of `answer`.

        Returns
        -------
        Grade
            True in an `if` where the answer is right; `print` it.
        """
        try:
            given = read_answer(self.fields, parts if parts and answer is None else answer)
        except ValueError as error:
            return Grade(False, (), (Failure("form of the answer", f"{error}."),))
        return self.grade(**given)

    def __getattr__(self, name: str) -> Any:
        data = vars(self).get("data", {})
        if name in data:
            return data[name]
        raise AttributeError(f"this exercise has no {name!r}; it has {', '.join(data)}")

    def __str__(self) -> str:
        return "\n".join([self._heading, "", *textwrap.wrap(self.question, 116), "", *self._given])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        heading, question = html.escape(self._heading), html.escape(self.question)
        given = html.escape("\n".join(self._given))
        return f'<div><b>{heading}</b><p>{question}</p><pre style="white-space: pre-wrap">{given}</pre></div>'

    @property
    def _heading(self) -> str:
        return f"Exercise {self.number}, {self.name}: {self.title}"

    @property
    def _given(self) -> list[str]:
        lines = [f"{name} = {written(value)}" for name, value in self.data.items()]
        return [*lines, f"answer: {'; '.join(field.words for field in self.fields)}"]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for a page.

        Returns
        -------
        dict
            By name.
        """
        own = {name: getattr(self, name) for name in ("number", "name", "title", "seed", "question")}
        data = {name: plain(value) for name, value in self.data.items()}
        fields = [{"name": field.name, "words": field.words} for field in self.fields]
        return own | {"data": data, "fields": fields}


def written(value: Any) -> str:
    """Numbers, lists and tables without decimals that are zero.

    >>> written(np.array([[1.0, -2.5], [0.0, 3.0]]))
    '[[1, -2.5], [0, 3]]'
    """
    if np.ndim(value) == 0:
        return f"{value:g}"
    return f"[{', '.join(written(entry) for entry in value)}]"


ENTRIES: dict[str, Entry] = {}


def register(name: str, title: str) -> Callable[[Make], Make]:
    """Make an exercise known; it gets the next number."""

    def known(make: Make) -> Make:
        if name in ENTRIES:
            raise ValueError(f"there is an exercise {name!r} already")
        ENTRIES[name] = Entry(len(ENTRIES) + 1, name, title, make)
        return make

    return known


def made(entry: Entry, seed: int) -> Exercise:
    """The same data for the same name and seed, whatever exercises come or go."""
    random = np.random.default_rng([seed, zlib.crc32(entry.name.encode())])
    return Exercise(entry.number, entry.name, entry.title, seed, *entry.make(Variant(seed, random)))
