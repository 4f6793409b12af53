"""A run as it happens: within `recorded()`, every iterate of every fit of this thread is kept.

Its arrays are the solver's own and still changing, so they are copied; nothing is measured while the solver
runs, so that its times are its own. Memory is bounded: when `limit` of them are kept, every second one is dropped, and
from then on only every second, fourth ... is kept.

A run that is made once more can be looked at in single updates, by their numbers: `ChosenUpdates`.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from maxmargin.data.table import Vector
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import SignedRows
from maxmargin.run.observation import observing


class Moment(NamedTuple):
    """An iterate on the way, in the numbers that the solver sees, and when it was shown."""

    seconds: float
    problem: SignedRows
    iterate: Iterate


class Recorder:
    """Sees every iterate; keeps at most `limit`, evenly spread: the first, and each `stride` after it."""

    def __init__(self, limit: int) -> None:
        self.limit, self.stride, self.seen = limit, 1, 0
        self.begun = time.perf_counter()
        self.kept: list[Moment] = []
        self.last: Moment | None = None

    def observe(self, iterate: Iterate, problem: SignedRows) -> None:
        copy = dataclasses.replace(iterate, w=iterate.w.copy(), a=iterate.a.copy())
        self.last = Moment(self.elapsed, problem, copy)
        if self.seen % self.stride == 0:
            self.kept.append(self.last)
            if len(self.kept) >= self.limit:
                del self.kept[1::2]
                self.stride *= 2
        self.seen += 1

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.begun

    @property
    def moments(self) -> list[Moment]:
        """Those that were kept, and the last."""
        kept = self.kept
        return [*kept, self.last] if self.last is not None and (not kept or kept[-1] is not self.last) else kept


@contextmanager
def recorded(limit: int = 200) -> Iterator[Recorder]:
    """Within it, fits of this thread are recorded.

    >>> from maxmargin import HardMarginSVM
    >>> with recorded() as run:
    ...     _ = HardMarginSVM().fit([[0, 0], [0, 2], [3, 0], [5, 1]], [0, 0, 1, 1])
    >>> len(run.moments) >= 1
    True
    """
    recorder = Recorder(limit)
    with observing(recorder.observe):
        yield recorder


class Update(NamedTuple):
    """One update: its number, its row, what was wrong with it, and the plane and the weights of the rows around it.

    As a `Trace` has them; in the space of a kernel the plane is its coefficients, with the bias as their last entry.
    """

    number: int
    row: int
    violation: float
    before: Vector
    after: Vector
    bound: float
    a: Vector


class ChosenUpdates:
    """Keeps the updates with these numbers, which count from 1 and grow."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers, self.n_updates = numbers, 0
        self.kept: list[Update] = []

    def begin_phase(self, tried: float) -> None:
        """The numbers go on."""

    @property
    def until_next(self) -> int:
        coming = self.numbers[len(self.kept)] if len(self.kept) < len(self.numbers) else 2**62
        return coming - self.n_updates - 1

    def skip(self, updates: int) -> None:
        self.n_updates += updates

    def append(self, row: int, violation: float, before: Vector, after: Vector, bound: float, a: Vector) -> None:
        self.n_updates += 1
        self.kept.append(Update(self.n_updates, row, violation, before.copy(), after.copy(), bound, a.copy()))


def evenly(count: int, most: int) -> list[int]:
    """At most so many of 0, 1, ..., count - 1: evenly spread, with the first and the last.

    >>> evenly(9, 3), evenly(2, 3)
    ([0, 4, 8], [0, 1])
    """
    return [int(at) for at in np.linspace(0, count - 1, min(most, count)).round()]
