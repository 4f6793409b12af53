"""Time: the gap as it falls, how long a command worked, and how much of --max-time is left.

The gap is shown on stderr, where somebody looks: one line, which is gone when the work is done.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from maxmargin.cli.console import UserError, messages

if TYPE_CHECKING:
    from maxmargin.problems.protocol import Iterate
    from maxmargin.problems.statement import SignedRows

BETWEEN = 0.1  # seconds
OPTIONS = {
    "max_time": "--max-time",
    "tol": "--tol",
    "max_iter": "--set max_iter=NUMBER",
    "max_updates": "--set max_updates=NUMBER",
}
WORTH_TELLING = 0.1  # seconds of compiling
LEAST = 1e-3  # seconds that a solver gets
USUAL_END = 1e-4  # where the bar ends if no gap is asked for


@contextmanager
def gap_shown(work: str, tol: float | None = None, options: Mapping[str, str] = OPTIONS) -> Iterator[None]:
    """Within it, every fit is observed. The bar runs from a gap of 1 to `tol`, each digit as long as the others.

    A fit that ended early is told in a sentence when the bar is gone; `options` are how the command spells parameters.
    """
    from maxmargin.estimators.convergence import Ending, told_to

    endings: list[Ending] = []
    with told_to(endings.append), bar_shown(work, tol):
        yield
    for ending in endings:
        if (sentence := ending.sentence(options.get)) is not None:
            messages.print(f"maxmargin: {sentence}")


@contextmanager
def bar_shown(work: str, tol: float | None) -> Iterator[None]:
    if not messages.is_terminal:
        yield
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from maxmargin.run.control import observing

    standing = TextColumn("{task.fields[standing]}", markup=False)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        standing,
    )
    with Progress(*columns, console=messages, transient=True) as progress:
        task = progress.add_task(work, total=1.0, standing="")
        shown, gap = 0.0, math.nan

        def show(iterate: Iterate, _: SignedRows) -> None:
            nonlocal shown, gap
            gap = iterate.gap if iterate.gap_is_known else gap  # the last one that is known: not every iterate has one
            if (now := time.perf_counter()) - shown >= BETWEEN:
                shown = now
                progress.update(task, completed=share(gap, tol or USUAL_END), standing=told(iterate, gap))

        with observing(show):
            yield


def share(gap: float, tol: float) -> float:
    """How much of the way is gone, in digits."""
    return min(1.0, max(0.0, math.log(gap) / math.log(min(tol, 0.5)))) if 0.0 < gap < math.inf else 0.0


def told(iterate: Iterate, gap: float) -> str:
    counts = f"{iterate.sweeps:,} sweeps  {iterate.updates:,} updates"
    return f"gap {gap:.1e}  {counts}" if 0.0 < gap < math.inf else counts


class Stopwatch:
    """How long a command worked since this was made, and apart from that how long its loops were compiled, which
    happens once."""

    def __init__(self) -> None:
        import maxmargin._numba  # noqa: F401  to load the compiler is no part of the work
        from maxmargin.run import control

        self._compiled_by_now = control.compiled_by_now
        self._compiled_before, self._begun = control.compiled_by_now(), time.perf_counter()

    @property
    def compiling(self) -> float:
        return self._compiled_by_now() - self._compiled_before

    @property
    def seconds(self) -> float:
        return max(0.0, time.perf_counter() - self._begun - self.compiling)


def time_told(seconds: float, compiling: float) -> str:
    """As a report says it.

    >>> time_told(0.0123, 0.0), time_told(0.0123, 29.7)
    ('0.0123 s', '0.0123 s (its loops were compiled once in 29.7 s)')
    """
    apart = f" (its loops were compiled once in {compiling:.3g} s)" if compiling >= WORTH_TELLING else ""
    return f"{seconds:.3g} s{apart}"


class TimeLimit:
    """The seconds of --max-time, from when the data are read: what prepares, proves and prints is part of the work."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds, self.begun = seconds, time.perf_counter()

    def left(self, share: float = 1.0, reserve: float = 0.0) -> float | None:
        """What a solver may take of the rest: a share, or all but a reserve, which is half of it at most.

        None where there is no limit. Where the time is over, still a little, to say anything.
        """
        if self.seconds is None:
            return None
        rest = self.seconds - (time.perf_counter() - self.begun)
        return max(share * rest - min(reserve, 0.5 * rest), min(self.seconds, LEAST))

    @property
    def is_over(self) -> bool:
        return self.seconds is not None and time.perf_counter() - self.begun >= self.seconds


def check_time(max_time: float | None) -> None:
    """One sentence where a time limit is none."""
    if max_time is not None and not max_time > 0.0:
        raise UserError(f"--max-time must be a positive number of seconds, not {max_time:g}")
