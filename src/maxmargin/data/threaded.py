"""An executor of passes for blocks that take long to read: several are read at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from maxmargin.data.executor import Blocks, Part, RowVector, Serial, cores, on_block, one_thread_for_blas

if TYPE_CHECKING:
    from maxmargin.data.table import Table

T = TypeVar("T")


class Threaded(NamedTuple):
    """As many blocks at a time as there are threads, each of which reads its own."""

    threads: int = 0  # 0: one for each core

    def map(self, part: Part[T], table: Table, *row_vectors: RowVector) -> Iterator[T]:
        threads = self.threads or cores()
        waiting: deque[Future[T]] = deque()
        with one_thread_for_blas, ThreadPoolExecutor(threads) as pool:
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

    def fold(self, part: Part[Any], blocks: Blocks, own: Mapping[int, Any]) -> Any:
        return Serial().fold(part, blocks, own)  # the memory holds as many blocks as one pass reads at a time
