"""Long work: shared by every core, with sums that do not depend on how many there are, and ended in its midst.

The edges of the blocks follow from the size of the data alone. Each block adds to sums of its own, and whoever needs
the total adds them up in their order: one thread or many, the same bits. BLAS is held to one thread meanwhile: a
product inside a block must not wait for a core that another block has.

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

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache, partial
from types import TracebackType

from threadpoolctl import ThreadpoolController

MOST_BLOCKS = 8
WORTH_A_BLOCK = 100_000  # numbers to read: a smaller block is done before a thread has woken up


class Threads:
    """One thread per core, started when there is first something to share."""

    def __init__(self) -> None:
        self.number = cores()
        self.pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Threads:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.pool is not None:
            self.pool.shutdown(cancel_futures=True)

    def run(self, run_block: Callable[[int, int, int], None], edges: list[int], at_once: int | None = None) -> None:
        """run_block(block, start, stop) for every block; with `at_once`, for at most so many of its rows at a time,
        one after the other. The clock is checked before each: where it ends the work, nothing runs on."""

        def run(block: int, start: int, stop: int) -> None:
            for first in range(start, stop, at_once or max(1, stop - start)):
                check_interrupt()
                run_block(block, first, min(stop, first + at_once) if at_once else stop)

        calls = [(block, start, stop) for block, (start, stop) in enumerate(itertools.pairwise(edges))]
        if len(calls) == 1 or self.number == 1:
            for call in calls:
                run(*call)
            return
        if self.pool is None:
            self.pool = ThreadPoolExecutor(self.number)
        futures = [self.pool.submit(partial(copy_context().run, run, *call)) for call in calls]
        wait(futures)
        for done in futures:
            done.result()

    @staticmethod
    @contextlib.contextmanager
    def shared(threads: Threads | None) -> Iterator[Threads]:
        """These threads, or new ones for as long as they are needed."""
        if threads is not None:
            yield threads
            return
        with Threads() as own:
            yield own


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def block_edges(rows: int, numbers: int) -> list[int]:
    """Where the blocks of that many rows begin and end, if reading them all is reading that many numbers."""
    blocks = max(1, min(MOST_BLOCKS, numbers // WORTH_A_BLOCK, rows))
    return [rows * block // blocks for block in range(blocks + 1)]


@cache
def controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextlib.contextmanager
def one_thread_for_blas() -> Iterator[None]:
    """Let the blocks be what runs side by side, and not the products inside them."""
    with controller().limit(limits=1, user_api="blas"):
        yield


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
