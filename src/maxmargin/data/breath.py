"""A breath in the midst of long work: whoever watches the clock may end it there.

A solver shows itself between two steps. Where a step, a preparation or a measurement is long by itself, it breathes
between its blocks, and then whoever listens may raise `OutOfTime`: what was under way is given up, what was shown
before stands. Without a listener a breath is nothing. It is heard in the threads that share the work, too.

    with breathing(listener):         listener() is called at every breath
        for block in blocks:
            breathe()
            ...

Who works knows no clock: it only says where it could be stopped. A block is worth at most about 50 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[], None]

LISTENER: ContextVar[Listener | None] = ContextVar("LISTENER", default=None)


class OutOfTime(Exception):
    """Raised at a breath by whoever wants the work to end; it never leaves the library."""


def breathe() -> None:
    """Here the work could be ended."""
    listener = LISTENER.get()
    if listener is not None:
        listener()


@contextmanager
def breathing(listener: Listener | None) -> Iterator[None]:
    """Within it, the listener hears every breath; None: nobody does."""
    token = LISTENER.set(listener)
    try:
        yield
    finally:
        LISTENER.reset(token)
