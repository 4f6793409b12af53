"""A fit that ended early says so, once: why, in how many of its two-class problems, and the largest gap that is left.

    a fit in a program              one `ConvergenceWarning`
    a fit within `told_of_ends()`   no warning: whoever listens, another estimator, a command or the page, says it

A fit that a callback stopped was meant to end, one that Ctrl-C stopped raises `KeyboardInterrupt`, and where it is
proven that no plane separates the classes, no time would have found one: none of these is early.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import sklearn
from sklearn.exceptions import ConvergenceWarning

from maxmargin.certificates.words import rounded_gap
from maxmargin.run.control import EARLY, Status

PACKAGES = (str(Path(__file__).parents[1]), str(Path(sklearn.__file__).parent))
BUDGETS = ("max_iter", "max_updates")


class End(NamedTuple):
    """How a two-class problem ended, and what is proven about it."""

    status: Status
    certificate: Any

    @property
    def is_early(self) -> bool:
        """Whether more was asked for than is proven."""
        if self.status not in EARLY:
            return False
        proven_impossible = getattr(self.certificate, "is_separable", None) is False
        return not (proven_impossible or self.certificate.verdict.name == "OPTIMAL")

    @property
    def gap(self) -> float:
        """Infinite where nothing is known: no plane, or no bound."""
        if self.certificate.is_about_margin and not self.certificate.margin_lower > 0.0:
            return math.inf
        gap = float(self.certificate.relative_gap)
        return math.inf if math.isnan(gap) else gap


@dataclass(frozen=True)
class Ending:
    """How a fit ended, in all its parts.

    name, parameters   of the estimator or function, and the names of what can be set
    parts              what `ends` are ends of
    not_begun          parts for which no time was left
    """

    name: str
    parameters: Collection[str]
    ends: Sequence[End]
    parts: str = "two-class problems"
    not_begun: int = 0

    def warn(self) -> None:
        """At the line of the user, if it was early."""
        if (sentence := self.sentence()) is not None:
            warnings.warn(sentence, ConvergenceWarning, stacklevel=frames_up_to_the_user())

    def sentence(self, spelt: Callable[[str], str | None] = str) -> str | None:
        """What is missing; None where nothing is. `spelt` says how a parameter is written, or None if it cannot be."""
        early = [end for end in self.ends if end.is_early]
        if not early and not self.not_begun:
            return None
        reasons = Counter(end.status for end in early) or Counter([Status.TIME])
        where = f" in {len(early)} of {len(self.ends)} {self.parts}" if len(self.ends) > 1 and early else ""
        words = {reason: reason.value.partition(": ")[2] for reason in reasons}
        why = "; ".join(f"{words[one]} ({n} times)" if len(reasons) > 1 else words[one] for one, n in reasons.items())
        sentences = [f"{self.name} ended early{where}: {why}."]
        if self.not_begun:
            sentences.append(f"{self.not_begun} of {self.not_begun + len(self.ends)} {self.parts} were not begun.")
        if early:
            sentences.append(what_is_known(max(early, key=lambda end: end.gap), many=len(self.ends) > 1))
        advice = ", or ".join(what_to_do(set(reasons), self.parameters, spelt))
        return " ".join([*sentences, f"To come further: {advice}."] if advice else sentences)


def what_is_known(worst: End, *, many: bool) -> str:
    """The gap that is left; rounded up, because it is a promise."""
    if worst.gap == math.inf:
        if worst.certificate.is_about_margin:
            return "No plane that separates the classes was found, and no proof that there is none."
        return "Nothing is proven about the distance of its plane from the optimum."
    asked = getattr(worst.certificate, "tol", 0.0)
    wanted = f", and {asked:.1e} was asked for" if asked > 0.0 else ""
    return f"The {'largest ' if many else ''}relative gap is {rounded_gap(worst.gap)}{wanted}."


def what_to_do(reasons: set[Status], parameters: Collection[str], spelt: Callable[[str], str | None]) -> Iterator[str]:
    if Status.STALLED in reasons:
        yield "scale the columns"
    limits = [*(["max_time"] if Status.TIME in reasons else []), *(BUDGETS if Status.BUDGET in reasons else [])]
    for name in limits:
        if name in parameters and (limit := spelt(name)) is not None:
            yield f"raise {limit}"
    if "tol" in parameters and (tol := spelt("tol")) is not None:
        yield f"ask for less by a larger {tol}"


def frames_up_to_the_user() -> int:
    """From whoever asks: behind this package and scikit-learn is the line at which the warning is shown."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGES):
        frame, level = frame.f_back, level + 1
    return level
