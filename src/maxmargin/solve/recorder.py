"""A run as it happens: within `recorded()`, every breath of every fit of this thread is kept.

A breath's arrays are the solver's own and still changing, so they are copied; nothing is measured while the solver
runs, so that its times are its own. Memory is bounded: when `limit` breaths are kept, every second one is dropped, and
from then on only every second, fourth ... is kept.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from maxmargin.problems.separation import SignedRows, Solution
from maxmargin.solve.watch import listening


class Breath(NamedTuple):
    """One of the solutions on the way, in the numbers that the solver sees."""

    seconds: float
    problem: SignedRows
    solution: Solution


class Recorder:
    """Hears every breath; keeps at most `limit`, evenly spread: the first, and each `stride` after it."""

    def __init__(self, limit: int) -> None:
        self.limit, self.stride, self.heard = limit, 1, 0
        self.begun = time.perf_counter()
        self.kept: list[Breath] = []
        self.last: Breath | None = None

    def hear(self, solution: Solution, problem: SignedRows) -> None:
        s = solution
        copy = Solution(s.w.copy(), s.b, s.a.copy(), s.settled, s.updates, s.sweeps, dict(s.details))
        self.last = Breath(self.elapsed, problem, copy)
        if self.heard % self.stride == 0:
            self.kept.append(self.last)
            if len(self.kept) >= self.limit:
                del self.kept[1::2]
                self.stride *= 2
        self.heard += 1

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.begun

    @property
    def breaths(self) -> list[Breath]:
        """Those that were kept, and the last."""
        kept = self.kept
        return [*kept, self.last] if self.last is not None and (not kept or kept[-1] is not self.last) else kept


@contextmanager
def recorded(limit: int = 200) -> Iterator[Recorder]:
    """Within it, fits of this thread are recorded.

    >>> from maxmargin import HardMarginSVM
    >>> with recorded() as run:
    ...     _ = HardMarginSVM().fit([[0, 0], [0, 2], [3, 0], [5, 1]], [0, 0, 1, 1])
    >>> len(run.breaths) >= 1
    True
    """
    recorder = Recorder(limit)
    with listening(recorder.hear):
        yield recorder
