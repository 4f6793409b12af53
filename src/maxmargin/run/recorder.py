"""A run as it happens: within `recorded()`, every iterate of every fit of this thread is kept.

Its arrays are the solver's own and still changing, so they are copied; nothing is measured while the solver
runs, so that its times are its own. Memory is bounded: when `limit` of them are kept, every second one is dropped, and
from then on only every second, fourth ... is kept.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import SignedRows
from maxmargin.run.observers import observing


class Moment(NamedTuple):
    """An iterate on the way, in the numbers that the solver sees, and when it was shown."""

    seconds: float
    problem: SignedRows
    iterate: Iterate


class Recorder:
    """Sees every iterate; keeps at most `limit`, evenly spread: the first, and each `stride` after it."""

    def __init__(self, limit: int) -> None:
        self.limit, self.stride, self.seen = limit, 1, 0
        self.begun = time.perf_counter()
        self.kept: list[Moment] = []
        self.last: Moment | None = None

    def observe(self, iterate: Iterate, problem: SignedRows) -> None:
        copy = dataclasses.replace(iterate, w=iterate.w.copy(), a=iterate.a.copy())
        self.last = Moment(self.elapsed, problem, copy)
        if self.seen % self.stride == 0:
            self.kept.append(self.last)
            if len(self.kept) >= self.limit:
                del self.kept[1::2]
                self.stride *= 2
        self.seen += 1

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.begun

    @property
    def moments(self) -> list[Moment]:
        """Those that were kept, and the last."""
        kept = self.kept
        return [*kept, self.last] if self.last is not None and (not kept or kept[-1] is not self.last) else kept


@contextmanager
def recorded(limit: int = 200) -> Iterator[Recorder]:
    """Within it, fits of this thread are recorded.

    >>> from maxmargin import HardMarginSVM
    >>> with recorded() as run:
    ...     _ = HardMarginSVM().fit([[0, 0], [0, 2], [3, 0], [5, 1]], [0, 0, 1, 1])
    >>> len(run.moments) >= 1
    True
    """
    recorder = Recorder(limit)
    with observing(recorder.observe):
        yield recorder
