"""Who observes a run while it goes on, who records it, and who keeps it.

    with observing(observer): ...     every fit of this thread shows the observer each iterate; True ends the fit
    with recorded() as run: ...       and each iterate is copied, at most `limit` of them, evenly spread
    with tracing(observer): ...       learners that go row by row show it single updates, those that it asks for
    with keeping(snapshots): ...      and is kept from time to time, so that another process can go on with it
    with watching_passes(observer):   of a table that is read by blocks: told of each block of a pass; True ends the fit

The fit is not told. The arrays of an iterate are the solver's own, and still changing.
A program that serves people learns in this way how far a fit is, and stops one that nobody waits for any more.
Nothing is measured while the solver runs, so that its times are its own.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin.data.table import Vector
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import SignedRows
from maxmargin.problems.trace import UpdateObserver

if TYPE_CHECKING:
    from maxmargin.run.snapshots import Snapshots

Observer = Callable[[Iterate, SignedRows], bool | None]


class PassProgress(NamedTuple):
    """Pass `number` (from 1) over a table has had so many of its blocks; the largest gap of its problems, as it is
    proven or as its solver believes (infinite: not known), and the seconds since the fit began."""

    number: int
    blocks: int
    n_blocks: int
    gap: float
    seconds: float


PassObserver = Callable[[PassProgress], bool | None]


@dataclass(frozen=True)
class Observation:
    """Who sees each iterate (`stepwise`: one after each step of a solver), keeps the run, looks at single updates."""

    observers: tuple[Observer, ...] = ()
    snapshots: Snapshots | None = None
    trace: UpdateObserver | None = None
    stepwise: bool = False
    of_passes: tuple[PassObserver, ...] = ()

    def tell_pass(self, progress: PassProgress) -> bool:
        """The same, of a block more."""
        wishes = [observer(progress) for observer in self.of_passes]
        return any(wishes)


NOBODY = Observation()
OBSERVATION: ContextVar[Observation] = ContextVar("OBSERVATION")


def current_observation() -> Observation:
    return OBSERVATION.get(NOBODY)


@contextmanager
def observed(watch: Observation) -> Iterator[None]:
    token = OBSERVATION.set(watch)
    try:
        yield
    finally:
        OBSERVATION.reset(token)


def observing(observer: Observer, *, stepwise: bool = False) -> AbstractContextManager[None]:
    """Within it, fits are observed, beside those who observe already."""
    watch = current_observation()
    observers, stepwise = (*watch.observers, observer), stepwise or watch.stepwise
    return observed(dataclasses.replace(watch, observers=observers, stepwise=stepwise))


def watching_passes(observer: PassObserver) -> AbstractContextManager[None]:
    """Within it, fits of tables that are read by blocks tell of their passes."""
    watch = current_observation()
    return observed(dataclasses.replace(watch, of_passes=(*watch.of_passes, observer)))


def tracing(trace: UpdateObserver) -> AbstractContextManager[None]:
    """Within it, fits of one two-class problem show single updates."""
    return observed(dataclasses.replace(current_observation(), trace=trace))


def keeping(snapshots: Snapshots) -> AbstractContextManager[None]:
    """Within it, fits are kept from time to time."""
    return observed(dataclasses.replace(current_observation(), snapshots=snapshots))


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
