"""Who computes a pass over the blocks of a table, and how what they find is joined.

    part(block, *slices)    a pure function of a block and its slices of the row vectors: a function of a module, or a
                            NamedTuple with __call__, so that it can be sent elsewhere
    executor.map            the parts of all blocks, in the order of the blocks, whoever computes them and when
    join                    a fixed tree: 8 neighbours from left to right, then 8 of these, ...

The tree depends on the numbers of the blocks alone. So whether one thread computes them, several, or other machines,
the result has the same bits; and a worker that has 8, or 64, neighbours joins them where it is.

Of a table of one block the pass is called directly, and no executor is asked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial, reduce
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.table import Table
from maxmargin.data.threads import cores, one_thread_for_blas

T = TypeVar("T")
Found = TypeVar("Found", covariant=True)
RowVector = NDArray[Any]

NEIGHBOURS = 8


class Part(Protocol[Found]):
    """part(block, *slices): pure, of a block and its slices of the row vectors."""

    def __call__(self, *args: Any, **kwargs: Any) -> Found: ...


class Executor(Protocol):
    def map(self, part: Part[T], table: Table, *row_vectors: RowVector) -> Iterator[T]:
        """part(block, *slices) of every block, in their order."""


class Serial(NamedTuple):
    """One block after the other: no more than one of them is in memory."""

    def map(self, part: Part[T], table: Table, *row_vectors: RowVector) -> Iterator[T]:
        return (on_block(part, table, k, row_vectors) for k in range(table.n_blocks))


class Threaded(NamedTuple):
    """As many blocks at a time as there are threads, each of which reads its own."""

    threads: int = 0  # 0: one for each core

    def map(self, part: Part[T], table: Table, *row_vectors: RowVector) -> Iterator[T]:
        threads = self.threads or cores()
        waiting: deque[Future[T]] = deque()
        with one_thread_for_blas(), ThreadPoolExecutor(threads) as pool:
            try:
                for k in range(table.n_blocks):
                    if len(waiting) == threads:
                        yield waiting.popleft().result()
                    work = partial(copy_context().run, on_block, part, table, k, row_vectors)
                    waiting.append(pool.submit(work))
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()


EXECUTOR: ContextVar[Executor | None] = ContextVar("EXECUTOR", default=None)  # None: one block after the other


@contextmanager
def executing(executor: Executor) -> Iterator[None]:
    """Within it, passes over tables of several blocks are computed by this one."""
    token = EXECUTOR.set(executor)
    try:
        yield
    finally:
        EXECUTOR.reset(token)


def on_block(part: Part[T], table: Table, k: int, row_vectors: Iterable[RowVector]) -> T:
    block = table.block(k)
    return part(block, *(vector[block.rows] for vector in row_vectors))


def parts_of(part: Part[T], table: Table, *row_vectors: RowVector) -> Iterable[T]:
    """What part finds in each block, in their order."""
    if table.n_blocks == 1:
        return (part(table.block(0), *row_vectors),)
    return (EXECUTOR.get() or Serial()).map(part, table, *row_vectors)


def row_by_row(part: Part[RowVector], table: Table, *row_vectors: RowVector) -> RowVector:
    """A number of each row, from parts that have those of a block."""
    if table.n_blocks == 1:
        return part(table.block(0), *row_vectors)
    return np.concatenate(list(parts_of(part, table, *row_vectors)))


def join(parts: Iterable[T], together: Callable[[T, T], T]) -> T:
    """All parts as one, by the fixed tree; at most 8 of each level are held at a time.

    >>> join("abcdefghijk", lambda left, right: f"({left}{right})")
    '((((((((ab)c)d)e)f)g)h)((ij)k))'
    """
    levels: list[list[T]] = [[]]
    for part in parts:
        levels[0].append(part)
        for depth, level in enumerate(levels):
            if len(level) < NEIGHBOURS:
                break
            if depth + 1 == len(levels):
                levels.append([])
            levels[depth + 1].append(reduce(together, level))
            level.clear()
    rest: list[T] = []
    for level in levels:
        level += rest
        rest = [reduce(together, level)] if level else []
    return rest[0]


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
