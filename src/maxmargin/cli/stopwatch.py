"""How long a command worked, and apart from that how long its loops were compiled, which happens once."""

from __future__ import annotations

import time

WORTH_TELLING = 0.1  # seconds of compiling


class Stopwatch:
    """Runs from when it is made; the seconds of the compiler are not among those of the work."""

    def __init__(self) -> None:
        from maxmargin._numba import seconds_compiling

        self._compiled_by_now = seconds_compiling
        self._compiled_before, self._begun = seconds_compiling(), time.perf_counter()

    @property
    def compiling(self) -> float:
        return self._compiled_by_now() - self._compiled_before

    @property
    def seconds(self) -> float:
        return max(0.0, time.perf_counter() - self._begun - self.compiling)


def told(seconds: float, compiling: float) -> str:
    """As a report says it.

    >>> told(0.0123, 0.0), told(0.0123, 29.7)
    ('0.0123 s', '0.0123 s (its loops were compiled once in 29.7 s)')
    """
    apart = f" (its loops were compiled once in {compiling:.3g} s)" if compiling >= WORTH_TELLING else ""
    return f"{seconds:.3g} s{apart}"
