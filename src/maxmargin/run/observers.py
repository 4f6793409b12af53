"""Who observes a fit: whatever is asked for around it, without the fit being told.

    with observing(observer): ...     every fit of this thread shows the observer each iterate; True ends the fit
    with tracing(observer): ...       learners that go row by row show it single updates, those that it asks for
    with keeping(snapshots): ...      and is kept from time to time, so that another process can go on with it

The arrays of an iterate are the solver's own, and still changing.
A program that serves people learns in this way how far a fit is, and stops one that nobody waits for any more.

Whoever drives a solver opens the state of the run (`problems.state`), which holds all others within it, and says where
it is at rest: a copy is made there and, from time to time, kept. A run of many two-class problems has a record for
each: the state of the one at hand and, of those that have ended, what lasts of theirs.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maxmargin.problems.protocol import Iterate
from maxmargin.problems.state import Record, State, restore, snapshot, varying
from maxmargin.problems.statement import SignedRows
from maxmargin.problems.trace import UpdateObserver

SHORTEST_REST = 0.05  # seconds between two copies: a copy costs less than the sweeps between


@dataclass(eq=False)
class RunState(State):
    """A two-class problem while it is solved.

    solver     the solver's own state
    judge      what is proven so far
    iterate    the last one that was shown
    judged     whether it has been evaluated
    given_up_w, given_up_a   the planes and the weights of algorithms that handed over to another
    next_look  of stochastic steps: the sweep at which they are evaluated unasked
    asked      of perceptrons: whether somebody else was asked for a witness
    status     how it ended; empty while it goes on
    """

    n_rows: int
    solver: State = varying(lasting=True)
    judge: State | None = varying(None, lasting=True)
    iterate: Iterate = varying(factory=lambda: Iterate(np.zeros(0), 0.0, np.zeros(0)), grows=True, lasting=True)
    judged: bool = varying(True)
    given_up_w: NDArray[np.float64] = varying(factory=lambda: np.zeros((0, 0)), grows=True)
    given_up_a: NDArray[np.float64] = varying(factory=lambda: np.zeros((0, 0)), grows=True)
    next_look: float = varying(0.0)
    asked: bool = varying(False)
    status: str = varying("", lasting=True)


class Snapshots:
    """`keep` is called with the records every so many seconds; without it, nothing is kept."""

    def __init__(
        self,
        keep: Callable[[list[Record]], None] | None = None,
        every: float = 60.0,
        earlier: list[Record] | None = None,
    ) -> None:
        self.keep, self.every, self.earlier = keep, every, list(earlier or ())
        self.ended: list[Record] = []
        self.latest: list[Record] | None = None
        self.state: RunState | None = None
        self.kept: Record = {}
        self.is_closed = keep is None  # no more is kept: a problem was left before its end
        self.is_open = False
        self.copied = self.written = time.perf_counter()

    def turn_to(self, problem: int) -> None:
        """The next two-class problem begins."""
        self.is_closed = self.is_closed or self.is_open
        if not self.is_closed:
            self.state, self.is_open = None, True
            self.kept = self.earlier[problem] if problem < len(self.earlier) else {}

    def open(self, state: RunState) -> bool:
        """The run begins, from where an earlier process left it; whether it has ended there.

        A run within a run, such as the question whether a plane exists, is not kept.
        """
        if self.is_closed or not self.is_open or self.state is not None:
            return False
        self.state, kept = state, self.kept
        if kept:
            ended = kept.get("status", "") != ""
            restore(state, kept, state.n_rows, ended=ended)
            if ended:
                self.note_end()
                return True
        return False

    def rest(self, state: RunState) -> None:
        """Here, another process could go on from the state."""
        if state is not self.state or self.is_closed:
            return
        now = time.perf_counter()
        if self.latest is not None and now - self.copied < SHORTEST_REST:
            return
        self.latest, self.copied = [*self.ended, snapshot(state)], now
        self.write_if_due()

    def end(self, state: RunState, status: str) -> None:
        """This problem has ended by itself."""
        if state is self.state and not self.is_closed:
            state.status = status
            self.note_end()
            self.write_if_due()

    def note_end(self) -> None:
        assert self.state is not None
        self.ended.append(snapshot(self.state, ended=True))
        self.latest, self.is_open = list(self.ended), False

    def write_if_due(self) -> None:
        if time.perf_counter() - self.written >= self.every:
            self.write()

    def write(self) -> None:
        """Keep the last copy, if there is a new one."""
        if self.keep is not None and self.latest is not None:
            self.keep(self.latest)
            self.latest, self.written = None, time.perf_counter()


NOTHING_KEPT = Snapshots()


Observer = Callable[[Iterate, SignedRows], bool | None]


@dataclass(frozen=True)
class Observation:
    """Those who see each iterate, whoever keeps the run, and whoever looks at single updates."""

    observers: tuple[Observer, ...] = ()
    snapshots: Snapshots = NOTHING_KEPT
    trace: UpdateObserver | None = None

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
    """Within it, fits are observed, beside those who observe already."""
    watch = current_observation()
    with observed(dataclasses.replace(watch, observers=(*watch.observers, observer))):
        yield


@contextmanager
def tracing(trace: UpdateObserver) -> Iterator[None]:
    """Within it, fits of one two-class problem show single updates."""
    with observed(dataclasses.replace(current_observation(), trace=trace)):
        yield


@contextmanager
def keeping(snapshots: Snapshots) -> Iterator[None]:
    """Within it, fits are kept from time to time."""
    with observed(dataclasses.replace(current_observation(), snapshots=snapshots)):
        yield
