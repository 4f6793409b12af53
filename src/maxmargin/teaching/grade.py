"""What an answer proves, and where it fails: a grade is made of sentences, not of points.

A grade rests on what was measured of the answer itself: a plane bounds the best margin from below, multipliers bound it
from above, a witness shows that there is none. So a partial answer has its worth too, and it is stated.
"""

from __future__ import annotations

import dataclasses
import html
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

SHOWN = 6  # failures that are printed


@dataclass(frozen=True)
class Failure:
    """One condition that does not hold: its name, the sentence that says so, and the row where (-1: it has no row)."""

    condition: str
    sentence: str
    row: int = -1


@dataclass(frozen=True)
class Grade:
    """True in an `if` when the answer is right; the sentences when it is printed.

    Parameters
    ----------
    right : bool
        Whether every condition holds.
    proven : tuple of str
        What the answer proves, be it right or not.
    failures : tuple of Failure
        The conditions that fail, the worst row of each.
    lower, upper : float
        What was asked for (a margin, an objective, a number of mistakes) lies between them, as far as the
        answer shows it; -inf and inf where it shows nothing.

    Examples
    --------
    >>> from maxmargin import exercise
    >>> grade = exercise("separate").check(w=[0, 0], b=1)
    >>> grade.right, len(grade.failures) > 0
    (False, True)
    """

    right: bool
    proven: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    lower: float = -math.inf
    upper: float = math.inf

    def __bool__(self) -> bool:
        return self.right

    @property
    def gap(self) -> float:
        """upper - lower: how far the answer leaves it open."""
        return self.upper - self.lower

    def __str__(self) -> str:
        lines = ["Right." if self.right else "Not yet."]
        lines += [f"  {failure.condition}: {failure.sentence}" for failure in self.failures[:SHOWN]]
        more = len(self.failures) - SHOWN
        lines += [f"  and {more} more"] if more > 0 else []
        lines += [f"  proven: {sentence}" for sentence in self.proven]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """What a notebook shows: the same lines, in a box that is coloured by the verdict."""
        verdict, *lines = (html.escape(line.strip()) for line in str(self).splitlines())
        colour = "#00735c" if self.right else "#d55e00"
        said = "".join(f"<div>{line}</div>" for line in lines)
        return f'<div style="border-left: 4px solid {colour}; padding-left: 0.8em"><b>{verdict}</b>{said}</div>'

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for a page; a bound that is infinite is None.

        Returns
        -------
        dict
            By the names of the fields.
        """
        plain = dataclasses.asdict(self) | {"proven": list(self.proven)}
        plain["failures"] = [dataclasses.asdict(failure) for failure in self.failures]
        return plain | {name: plain[name] if math.isfinite(plain[name]) else None for name in ("lower", "upper")}


def graded(
    failures: Iterable[Failure], proven: Iterable[str] = (), lower: float = -math.inf, upper: float = math.inf
) -> Grade:
    """Right where nothing fails."""
    found = tuple(failures)
    return Grade(not found, tuple(proven), found, float(lower), float(upper))
