"""What a kind of certificate adds to the one verification (`verify`): an evaluator, registered by the kind's name.

    malformed     what is no statement or no claim of this kind, before anything is measured
    bounds        each claimed bound beside what was measured, rounding errors included; exact arithmetic for the rest
    verdict       what the verdict claims beyond the bounds: a witness
    conditions    the conditions of Karush, Kuhn and Tucker, measured anew
    theorems      the algorithm's guarantees, computed anew

An evaluator belongs to one certificate and the rows that it speaks of. Each of its answers is the reasons to refuse.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.certificates.form import Rows
from maxmargin.certificates.theorem_verification import theorem_refused
from maxmargin.data.table import Matrix, Vector


class Data(NamedTuple):
    """The rows that a certificate speaks of: their signs, what each may cost, and their numbers in the user's table.

    X is a matrix or, for an evaluator that reads `by_blocks`, perhaps a table of blocks. A cost is infinite where no
    loss is paid. `kernel` is what the user gave: a function, which no certificate holds.
    """

    X: Matrix
    signs: Vector
    costs: Vector
    kept: Rows
    kernel: Any = None


class Bound(NamedTuple):
    """A bound that is claimed, beside what was measured.

    surely     what holds with every rounding error against the claim: float64 believes it, and whatever says less
    beyond     what fails with every error in its favour: float64 refuses whatever says more
    words      the reason to refuse
    exactly    decides what float64 cannot tell; None where the problem has no rational values
    """

    claimed: float
    surely: float
    beyond: float
    words: str
    exactly: Callable[[], object] | None
    is_lower: bool

    @property
    def is_believed(self) -> bool:
        return self.claimed <= self.surely if self.is_lower else self.claimed >= self.surely

    @property
    def is_refuted(self) -> bool:
        return self.claimed > self.beyond if self.is_lower else self.claimed < self.beyond


def objective_at_most(claimed: float, value: float, error: float, exactly: Callable[[], object] | None) -> Bound:
    """That P of the plane, which was measured, is not above the claim."""
    words = f"the plane's objective is {as_number(value, error)}, not {claimed!r}"
    return Bound(claimed, value + error, value - error, words, exactly, is_lower=False)


def objective_at_least(claimed: float, value: float, error: float, exactly: Callable[[], object] | None) -> Bound:
    """That D of the weights, which was measured, is not below the claim."""
    words = f"the weights prove a lower bound of {as_number(value, error)}, not {claimed!r}"
    beyond = (1.0 + 1e-9) * (value + 2.0 * error)  # twice: the best t may be another one
    return Bound(claimed, max(0.0, value - error), beyond, words, exactly, is_lower=True)


def as_number(value: float, error: float) -> str:
    return f"{value:.12g}" if math.isfinite(value + error) else "beyond what float64 can tell"


def nothing_to_refuse(c: Any) -> None:
    """Exact arithmetic can decide whatever a certificate c of this kind claims."""


@dataclass(eq=False)
class Evaluator(ABC):
    """A certificate c on its rows: all that its kind adds."""

    by_blocks: ClassVar[bool] = False  # whether it can do with a table whose rows are not all in memory
    refuse_exact: ClassVar[Callable[[Any], None]] = staticmethod(nothing_to_refuse)  # by a ValueError

    c: Any
    data: Data

    @cached_property
    def places(self) -> Rows:
        """The rows that carry weight, in the order of the certificate, as places among those of the problem."""
        return np.asarray(np.searchsorted(self.data.kept, self.c.rows))

    @cached_property
    def a(self) -> Vector:
        """The weights of all rows."""
        weights = np.zeros(len(self.data.kept))
        weights[self.places] = self.c.weights
        return weights

    @property
    def upper(self) -> Vector:
        """The largest weights that the rows may have."""
        return self.data.costs

    def malformed(self) -> Iterator[str]:
        yield from ()

    @abstractmethod
    def bounds(self) -> Iterator[Bound]:
        """One for each side; none where the verdict is a witness."""

    def verdict(self) -> Iterator[str]:
        yield from ()

    def conditions(self) -> Iterator[str]:
        if self.c.kkt is not None:
            yield "conditions of optimality are reported that nobody measures"

    def theorems(self) -> Iterator[str]:
        for theorem in self.c.theorems:
            yield from theorem_refused(theorem, None, at_most=True, counts=False)


EVALUATORS: dict[str, type[Evaluator]] = {}


def register(kind: str) -> Callable[[type[Evaluator]], type[Evaluator]]:
    """The evaluator of the certificates of this kind."""

    def known(evaluator: type[Evaluator]) -> type[Evaluator]:
        EVALUATORS[kind] = evaluator
        return evaluator

    return known
