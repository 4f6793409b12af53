"""The gap as it falls, on stderr, where somebody looks: one line, which is gone when the work is done."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from maxmargin.cli.console import messages

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

    from maxmargin.run.observers import observing

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
