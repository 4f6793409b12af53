"""Who observes a run while it goes on; and who keeps it.

    with observing(observer): ...     every fit of this thread shows the observer each iterate; True ends the fit
    with tracing(observer): ...       learners that go row by row show it single updates, those that it asks for
    with keeping(snapshots): ...      and is kept from time to time, so that another process can go on with it
    with watching_passes(observer):   of a table that is read by blocks: told of each block of a pass; True ends the fit

The fit is not told. The arrays of an iterate are the solver's own, and still changing.
A program that serves people learns in this way how far a fit is, and stops one that nobody waits for any more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import SignedRows
from maxmargin.problems.trace import UpdateObserver

if TYPE_CHECKING:
    from maxmargin.run.control import Snapshots

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
