"""Run a pass over blocks of rows on every core, with sums that do not depend on how many there are.

The edges of the blocks follow from the size of the data alone. Each block adds to sums of its own, and whoever needs
the total adds them up in their order: one thread or many, the same bits. BLAS is held to one thread meanwhile: a
product inside a block must not wait for a core that another block has.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import cache, partial
from types import TracebackType

from threadpoolctl import ThreadpoolController

from maxmargin.data.interruption import check_interrupt

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
