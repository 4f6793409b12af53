"""Who observes a fit: whatever is asked for around it, without the fit being told.

    with observing(observer): ...     every fit of this thread shows the observer each iterate; True ends the fit
    with keeping(snapshots): ...      and is kept from time to time, so that another process can go on with it

The arrays of an iterate are the solver's own, and still changing.
A program that serves people learns in this way how far a fit is, and stops one that nobody waits for any more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import SignedRows
from maxmargin.run.snapshots import NOTHING_KEPT, Snapshots

Observer = Callable[[Iterate, SignedRows], bool | None]


@dataclass(frozen=True)
class Observation:
    """Those who see each iterate, and whoever keeps the run."""

    observers: tuple[Observer, ...] = ()
    snapshots: Snapshots = NOTHING_KEPT

    def notify(self, iterate: Iterate, problem: SignedRows) -> bool:
        """Show it to everybody; whether somebody wants it to stop."""
        wishes = [observer(iterate, problem) for observer in self.observers]
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


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Within it, fits are heard, beside those who listen already."""
    watch = current_observation()
    with observed(dataclasses.replace(watch, observers=(*watch.observers, observer))):
        yield


@contextmanager
def keeping(snapshots: Snapshots) -> Iterator[None]:
    """Within it, fits are kept from time to time."""
    with observed(dataclasses.replace(current_observation(), snapshots=snapshots)):
        yield
