"""Long work can be ended in its midst: by the clock, by Ctrl-C, by whoever no longer waits for it.

A solver shows an iterate between two steps. Where a step, a preparation or a measurement is long by itself, it checks
between its blocks whether it shall go on. There whoever waits may raise `OutOfTime`: what was under way is given up,
what was shown before stands. Without somebody who checks it is nothing. Threads that share the work check, too.

    with interruptible(check):        check() is called at every check_interrupt()
        for block in blocks:
            check_interrupt()
            ...

Who works knows no clock: it only says where it could be stopped. A block is worth at most about 50 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Check = Callable[[], None]

CHECK: ContextVar[Check | None] = ContextVar("CHECK", default=None)


class OutOfTime(Exception):
    """Raised by a check that wants the work to end; it never leaves the library."""


def check_interrupt() -> None:
    """Here the work could be ended."""
    check = CHECK.get()
    if check is not None:
        check()


@contextmanager
def interruptible(check: Check | None) -> Iterator[None]:
    """Within it, the work is checked; None: it is not."""
    token = CHECK.set(check)
    try:
        yield
    finally:
        CHECK.reset(token)
