"""Fits in memory, now and before: two source trees in turn, in processes of their own.

A round runs every case with either tree, and the next round begins with the other one. A case gives the CPU of one fit,
as the least of several; the table has the least over all rounds, and their ratio. Above 1 it is slower than before.
"""

import statistics
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from race_cells import line, seconds
from scale_process import alone

CASES = {  # rows, columns, loss, fits in a round
    "200 x 5": (200, 5, "hinge", 200),
    "200 x 5, squared hinge": (200, 5, "squared_hinge", 200),
    "2,000 x 20": (2_000, 20, "hinge", 40),
    "20,000 x 30": (20_000, 30, "hinge", 8),
    "500,000 x 50": (500_000, 50, "hinge", 2),
    "500,000 x 50, squared hinge": (500_000, 50, "squared_hinge", 2),
}
SLOWER = 1.05  # a bar with room for noise


def report(now: Path, before: Path, rounds: int, *, short: bool, time_limit: float) -> Iterator[str]:
    cases = list(CASES)[:1] if short else list(CASES)
    rounds = 1 if short else rounds
    found: dict[tuple[str, Path], list[float]] = {}
    failures = []
    for number in range(rounds):
        for name in cases:
            for source in (now, before) if number % 2 else (before, now):
                answer = alone(
                    "scale_before:fits", {"case": name, "short": short}, time_limit=time_limit, source=source
                )
                if "failure" in answer:
                    failures.append(f"{name}: {answer['failure']}")
                else:
                    found.setdefault((name, source), []).append(answer["cpu"])
    yield line(["rows in memory", "before, CPU s", "now, CPU s", "now / before", "of the rounds"])
    yield line(["---", *["--:"] * 3, "---"])
    slower = []
    for name in cases:
        ours, theirs = found.get((name, now), []), found.get((name, before), [])
        if not ours or not theirs:
            continue
        ratio = min(ours) / min(theirs)
        middle = statistics.median(mine / other for mine, other in zip(ours, theirs, strict=False))
        if min(ratio, middle) > SLOWER:
            slower.append(name)
        yield line(
            [name, seconds(min(theirs)), seconds(min(ours)), f"{ratio:.2f}", f"median of the ratios {middle:.2f}"]
        )
    yield ""
    yield f"- Slower than before by more than {100 * (SLOWER - 1):.0f} %: {'; '.join(slower) or 'nothing'}."
    yield from (f"- {failure}" for failure in dict.fromkeys(failures))


def fits(case: str, short: bool) -> dict[str, Any]:
    """The least CPU of a fit, as a job."""
    import scale_sets

    from maxmargin import LinearSVM

    warnings.simplefilter("ignore")
    n_rows, n_columns, loss, count = CASES[case]
    rows = np.concatenate(
        [
            scale_sets.drawn(number, min(scale_sets.DRAWN, n_rows - start), n_columns)
            for number, start in enumerate(range(0, n_rows, scale_sets.DRAWN))
        ]
    )
    X, y = np.ascontiguousarray(rows[:, :-1]), rows[:, -1]
    LinearSVM(loss=loss).fit(X[:1_000], y[:1_000])
    times = []
    for _ in range(3 if short else count):
        start = time.process_time()
        LinearSVM(loss=loss).fit(X, y)
        times.append(time.process_time() - start)
    return {"cpu": min(times)}
