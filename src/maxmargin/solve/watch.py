"""Who watches a fit: whatever is asked for around it, without the fit being told.

    with listening(listener): ...     every fit of this thread tells the listener of each breath; True ends the fit
    with keeping(notebook): ...       and is written down, so that another process can go on with it

A breath is a solution that a solver shows between two steps: its arrays are the solver's own, and still changing.
A program that serves people learns in this way how far a fit is, and stops one that nobody waits for any more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from maxmargin.problems.notebook import BLANK, Notebook
from maxmargin.problems.separation import SignedRows, Solution

Listener = Callable[[Solution, SignedRows], bool | None]


@dataclass(frozen=True)
class Watch:
    """Those who hear of each breath, and where the run is written down."""

    listeners: tuple[Listener, ...] = ()
    notebook: Notebook = BLANK

    def hears(self, solution: Solution, problem: SignedRows) -> bool:
        """Tell everybody; whether somebody wants it to stop."""
        wishes = [listener(solution, problem) for listener in self.listeners]
        return any(wishes)


NOBODY = Watch()
WATCH: ContextVar[Watch] = ContextVar("WATCH")


def current_watch() -> Watch:
    return WATCH.get(NOBODY)


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    token = WATCH.set(watch)
    try:
        yield
    finally:
        WATCH.reset(token)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Within it, fits are heard, beside those who listen already."""
    watch = current_watch()
    with watched(dataclasses.replace(watch, listeners=(*watch.listeners, listener))):
        yield


@contextmanager
def keeping(notebook: Notebook) -> Iterator[None]:
    """Within it, fits are written down."""
    with watched(dataclasses.replace(current_watch(), notebook=notebook)):
        yield
