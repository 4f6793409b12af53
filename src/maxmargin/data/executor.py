"""Long work: who computes it, how what they find is joined, and where it can be ended in its midst.

A pass over the blocks of a table:

    part(block, *slices)    a pure function of a block and its slices of the row vectors: a function of a module, or a
                            NamedTuple with __call__, so that it can be sent elsewhere
    executor.map            the parts of all blocks, in the order of the blocks, whoever computes them and when
    join                    a fixed tree: 8 neighbours from left to right, then 8 of these, ...

The tree depends on the numbers of the blocks alone. So whether one thread computes them, several, or other machines,
the result has the same bits; and a worker that has 8, or 64, neighbours joins them where it is. Of a table of one block
the pass is called directly, and no executor is asked.

A step of an algorithm is shared by `Threads`: the edges of its blocks follow from the size of the data alone, each adds
to sums of its own, and whoever needs the total adds them up in their order: one thread or many, the same bits. The
caller takes blocks, too, and does not wait for a thread that wakes up late. BLAS is held to one thread meanwhile. A fit
has one set of threads, for its solvers and for `share`, by which passes over a matrix in memory are cut.

A solver shows an iterate between two steps. Where a step, a preparation or a measurement is long by itself, it checks
between its blocks whether it shall go on. There whoever waits may raise `OutOfTime`: what was under way is given up,
what was shown before stands. Without somebody who checks, or anything that could end it, it is nothing. Threads that
share the work check, too.

    with interruptible(check):        check() is called at every check_interrupt()
        for block in blocks:
            check_interrupt()
            ...

Who works knows no clock: it only says where it could be stopped. A block is worth at most about 50 ms.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from queue import SimpleQueue
from threading import Lock, Semaphore, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from maxmargin.data.table import Table

T = TypeVar("T")
MOST_BLOCKS = 8
WORTH_A_BLOCK = 100_000  # numbers to read: a smaller block is done before a thread has woken up


class Threads:
    """One thread per core: the caller's own, and helpers that are started when there is first something to share."""

    def __init__(self) -> None:
        self.number = cores()
        self.asked: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.helpers: list[Thread] = []

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, *reason: object) -> None:
        for _ in self.helpers:
            self.asked.put(None)
        for helper in self.helpers:
            helper.join()
        self.helpers = []

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
        work, helpers = SharedWork(run, calls), min(self.number, len(calls)) - 1
        while len(self.helpers) < helpers:
            self.helpers.append(Thread(target=help_whoever_asks, args=(self.asked,), daemon=True))
            self.helpers[-1].start()
        for _ in range(helpers):
            self.asked.put(partial(copy_context().run, work.help))
        work.lead()

    @staticmethod
    @contextmanager
    def shared(threads: Threads | None = None) -> Iterator[Threads]:
        """These threads, or those of whoever shares them, or new ones for as long as they are needed."""
        known = SHARED.get() if threads is None else threads
        if known is not None:
            yield known
            return
        with Threads() as own:
            yield own


SHARED: ContextVar[Threads | None] = ContextVar("SHARED", default=None)


@contextmanager
def setting(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Within it, the variable has this value."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


@contextmanager
def sharing() -> Iterator[None]:
    """Within it, passes over matrices in memory share their rows, and whoever needs threads has the same ones."""
    with Threads.shared() as threads, setting(SHARED, threads):
        yield


def share(run_block: Callable[[int, int, int], None], edges: list[int]) -> None:
    """run_block(block, start, stop) for every block, by the threads that are shared here, if any are."""
    threads = SHARED.get()
    if threads is not None and len(edges) > 2:
        threads.run(run_block, edges)
        return
    for block, (start, stop) in enumerate(itertools.pairwise(edges)):
        run_block(block, start, stop)


def help_whoever_asks(asked: SimpleQueue[Callable[[], None] | None]) -> None:
    while (work := asked.get()) is not None:
        work()


class SharedWork:
    """Calls that are made by whoever comes first: the leader from the first on, helpers from the last.

    So each finds in its cache what it read before. Who asks does not wait for helpers to wake up: those that come when
    all is done do nothing. Where a call fails, no other is begun, and the leader raises what it was.
    """

    def __init__(self, run: Callable[..., None], calls: Iterable[tuple[int, int, int]]) -> None:
        self.run, self.calls = run, deque(calls)
        self.error: BaseException | None = None
        self.door, self.last_has_left = Lock(), Semaphore(0)
        self.helping, self.is_closed = 0, False

    def lead(self) -> None:
        try:
            self.call(self.calls.popleft)
        finally:
            with self.door:
                self.is_closed, waits = True, self.helping > 0
            if waits:
                self.last_has_left.acquire()
        if self.error is not None:
            raise self.error

    def help(self) -> None:
        with self.door:
            if self.is_closed:
                return
            self.helping += 1
        try:
            self.call(self.calls.pop)
        except BaseException as error:
            self.error = error
        with self.door:
            self.helping -= 1
            if self.is_closed and self.helping == 0:
                self.last_has_left.release()

    def call(self, take: Callable[[], tuple[int, int, int]]) -> None:
        try:
            while self.calls:
                try:
                    call = take()
                except IndexError:  # somebody else was faster
                    return
                self.run(*call)
        except BaseException:
            self.calls.clear()
            raise


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def block_edges(rows: int, numbers: int) -> list[int]:
    """Where the blocks of that many rows begin and end, if reading them all is reading that many numbers."""
    blocks = max(1, min(MOST_BLOCKS, numbers // WORTH_A_BLOCK, rows))
    return [rows * block // blocks for block in range(blocks + 1)]


class OneThread:
    """While anybody in this process is within: the blocks run side by side, and not the products inside them."""

    def __init__(self) -> None:
        self.lock, self.within, self.limit = Lock(), 0, ExitStack()

    @cached_property
    def controller(self) -> ThreadpoolController:
        return ThreadpoolController()

    def __enter__(self) -> None:
        with self.lock:
            if self.within == 0:
                self.limit.enter_context(self.controller.limit(limits=1, user_api="blas"))
            self.within += 1

    def __exit__(self, *reason: object) -> None:
        with self.lock:
            self.within -= 1
            if self.within == 0:
                self.limit.close()


one_thread_for_blas = OneThread()
Check = Callable[[], None]


@dataclass(eq=False)
class Alarm:
    """Whether anything can end the work by now: a limit, or Ctrl-C. While it is not set, nobody need be asked."""

    is_set: bool = True


ALWAYS = Alarm()
CHECK: ContextVar[tuple[Check, Alarm] | None] = ContextVar("CHECK", default=None)


class OutOfTime(Exception):
    """Raised by a check that wants the work to end; it never leaves the library."""


def check_interrupt() -> None:
    """Here the work could be ended."""
    asked = CHECK.get()
    if asked is not None and asked[1].is_set:
        asked[0]()


def interruptible(check: Check | None, alarm: Alarm = ALWAYS) -> AbstractContextManager[None]:
    """Within it, the work is checked while the alarm is set; None: it is not."""
    return setting(CHECK, None if check is None else (check, alarm))


Found = TypeVar("Found", covariant=True)
RowVector = NDArray[Any]

NEIGHBOURS = 8


class Part(Protocol[Found]):
    """part(block, *slices): pure, of a block and its slices of the row vectors."""

    def __call__(self, *args: Any, **kwargs: Any) -> Found: ...


class Blocks(Protocol):
    """Whatever has blocks, as a part wants them. It can be sent to other processes if an executor does that."""

    @property
    def n_blocks(self) -> int: ...

    def block(self, k: int) -> Any: ...


class Executor(Protocol):
    def map(self, part: Part[T], table: Table, *row_vectors: RowVector) -> Iterator[T]:
        """part(block, *slices) of every block, in their order."""

    def fold(self, part: Part[Any], blocks: Blocks, own: Mapping[int, Any]) -> Any:
        """part(block), or part(block, own[k]) where there is one, of every block k; joined by `and_of` in the tree."""


class Serial(NamedTuple):
    """One block after the other: no more than one of them is in memory."""

    def map(self, part: Part[T], table: Table, *row_vectors: RowVector) -> Iterator[T]:
        return (on_block(part, table, k, row_vectors) for k in range(table.n_blocks))

    def fold(self, part: Part[Any], blocks: Blocks, own: Mapping[int, Any]) -> Any:
        return fold_range(part, blocks, own, 0, blocks.n_blocks)


EXECUTOR: ContextVar[Executor | None] = ContextVar("EXECUTOR", default=None)  # None: one block after the other


def executing(executor: Executor) -> AbstractContextManager[None]:
    """Within it, passes over tables of several blocks are computed by this one."""
    return setting(EXECUTOR, executor)


def on_block(part: Part[T], table: Table, k: int, row_vectors: Iterable[RowVector]) -> T:
    block = table.block(k)
    return part(block, *(vector[block.rows] for vector in row_vectors))


def parts_of(part: Part[T], table: Table, *row_vectors: RowVector) -> Iterable[T]:
    """What part finds in each block, in their order."""
    if table.n_blocks == 1:
        return (part(table.block(0), *row_vectors),)
    return (EXECUTOR.get() or Serial()).map(part, table, *row_vectors)


def pass_over(part: Part[Any], blocks: Blocks, own: Mapping[int, Any] | None = None) -> Any:
    """What part finds in all blocks together: each find has `and_of(other)`, and the tree joins them.

    `own` has what only some blocks need beside the part, by their number: rows that are listed, for example.
    """
    return (EXECUTOR.get() or Serial()).fold(part, blocks, {} if own is None else own)


def fold_range(part: Part[Any], blocks: Blocks, own: Mapping[int, Any], start: int, stop: int) -> Any:
    """What blocks start, start + 1, ... have, as one. A range of 8, 64, ... that starts at a multiple of its length is
    a branch of the tree: whoever folds such ranges, and these in the tree, has the bits of one who folds them all."""
    with one_thread_for_blas:  # with another number of threads, other bits
        return join((found_in(part, blocks, own, k) for k in range(start, stop)), join_two)


def found_in(part: Part[Any], blocks: Blocks, own: Mapping[int, Any], k: int) -> Any:
    check_interrupt()
    block = blocks.block(k)
    found = part(block, own[k]) if k in own else part(block)
    tell_done(1)
    return found


Counted = Callable[[int], None]
COUNTED: ContextVar[Counted | None] = ContextVar("COUNTED", default=None)


def tell_done(blocks: int) -> None:
    """So many more blocks of a pass are done; who computes them elsewhere says so where the pass was asked for."""
    counted = COUNTED.get()
    if counted is not None:
        counted(blocks)


def counting(counted: Counted) -> AbstractContextManager[None]:
    """Within it, it is told of the blocks of passes as they are done."""
    return setting(COUNTED, counted)


def join_two(left: Any, right: Any) -> Any:
    return left.and_of(right)


def row_by_row(part: Part[RowVector], table: Table, *row_vectors: RowVector) -> RowVector:
    """A number of each row, from parts that have those of a block."""
    if table.n_blocks == 1:
        return part(table.block(0), *row_vectors)
    return np.concatenate(list(parts_of(part, table, *row_vectors)))


def join(parts: Iterable[T], together: Callable[[T, T], T]) -> T:
    """All parts as one, by the fixed tree; one sum of each level is held at a time.

    >>> join("abcdefghijk", lambda left, right: f"({left}{right})")
    '((((((((ab)c)d)e)f)g)h)((ij)k))'
    """
    held: dict[int, T] = {}  # what the neighbours so far have, on each level of the tree
    counts: Counter[int] = Counter()
    for part in parts:
        for level in itertools.count():
            part = together(held.pop(level), part) if level in held else part
            counts[level] += 1
            if counts[level] < NEIGHBOURS:
                held[level] = part
                break
            counts[level] = 0
    lowest_first = [held[level] for level in sorted(held)]
    return reduce(lambda right, left: together(left, right), lowest_first)


def additions(n_parts: int) -> int:
    """The most additions that any part goes through in the tree.

    >>> additions(1), additions(2), additions(8), additions(9), additions(65)
    (0, 1, 7, 8, 15)
    """
    most = 0
    while n_parts > 1:
        most += min(NEIGHBOURS, n_parts) - 1
        n_parts = -(-n_parts // NEIGHBOURS)
    return most
