"""Time and memory against the number of rows, at a fixed budget; and the peak in budgets, at several.

Every fit has a process of its own. The peak is that above the memory of the process after its imports and a small fit,
blocks and copies of them included; the budget is what `memory=` says. A fit that is cold compiles as well, and is shown
once. The slope of time is that of log CPU over log rows from the second size on: 1 is linear. The slope of memory is
bytes of peak for a row more.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scale_sets
from race_cells import line, power
from scale_process import alone

TOL = 1e-6


class Growth(NamedTuple):
    """What is measured: rows by columns, budgets, forms of files."""

    sizes: dict[int, tuple[int, ...]]  # columns: numbers of rows
    memory: str
    forms: dict[str, int]  # kinds of files: the most rows
    losses: tuple[str, ...]
    budgets: tuple[str, ...]  # at the largest size of each number of columns
    time_limit: float


LONG = Growth(
    {20: (100_000, 500_000, 2_000_000, 6_000_000, 20_000_000), 50: (100_000, 500_000, 2_000_000)},
    "64MB",
    {"npy": 20_000_000, "parquet": 2_000_000},
    ("hinge", "squared_hinge"),
    ("32MB", "128MB", "256MB"),
    1800.0,
)
SHORT = Growth({5: (5_000, 20_000)}, "32MB", {"npy": 20_000}, ("hinge",), (), 120.0)


def report(terms: Growth, scratch: Path, most_rows: int) -> Iterator[str]:
    yield line(
        [
            "columns",
            "rows",
            "MB",
            "file",
            "loss",
            "budget",
            "passes",
            "CPU s",
            "ns a number",
            "peak MB",
            "of the budget",
            "proven gap",
        ]
    )
    yield line([*["--:"] * 3, "---", "---", *["--:"] * 7])
    fits: dict[tuple[int, str, str], list[tuple[int, dict[str, Any]]]] = {}
    over = []
    for n_columns, n_rows, form, loss, memory in jobs(terms, most_rows):
        found = fit(scratch, n_columns, n_rows, form, loss, memory, terms.time_limit)
        yield cells(n_columns, n_rows, form, loss, memory, found)
        if "failure" in found:
            over.append(f"{n_rows:,} x {n_columns} from {form} at {memory}: {found['failure']}")
            continue
        if memory == terms.memory:
            fits.setdefault((n_columns, form, loss), []).append((n_rows, found))
        if found["peak"] > found["budget"]:
            over.append(f"{n_rows:,} x {n_columns} from {form}, {loss}: {found['peak'] / found['budget']:.2f} budgets")
    n_columns, sizes = next(iter(terms.sizes.items()))
    cold = fit(
        scratch, n_columns, sizes[0], first(terms.forms), terms.losses[0], terms.memory, terms.time_limit, warm=False
    )
    yield ""
    yield from slopes(fits)
    if "failure" not in cold:
        yield (
            f"- The first of these fits in a new process, compiled code loaded: {cold['cpu']:.1f} s of CPU, a peak "
            f"of {cold['peak'] / 1e6:.0f} MB above the imports of `maxmargin`."
        )
    yield f"- Peak within the budget: {'missed by ' + '; '.join(over) if over else 'everywhere'}."


def first(forms: dict[str, int]) -> str:
    return next(iter(forms))


def jobs(terms: Growth, most_rows: int) -> Iterator[tuple[int, int, str, str, str]]:
    for n_columns, sizes in terms.sizes.items():
        possible = [n_rows for n_rows in sizes if n_rows <= most_rows]
        for loss in terms.losses:
            for form, most in terms.forms.items():
                for n_rows in (n_rows for n_rows in possible if n_rows <= most):
                    yield n_columns, n_rows, form, loss, terms.memory
        for memory in terms.budgets:
            for loss in terms.losses:
                yield n_columns, possible[min(2, len(possible) - 1)], first(terms.forms), loss, memory


def fit(
    scratch: Path,
    n_columns: int,
    n_rows: int,
    form: str,
    loss: str,
    memory: str,
    time_limit: float,
    *,
    warm: bool = True,
) -> dict[str, Any]:
    made = scale_sets.made(scratch, n_rows, n_columns)
    rows = made.parquet() if form == "parquet" else made.rows
    arguments = {"rows": str(rows), "memory": memory, "C": 1.0, "tol": TOL, "loss": loss, "warm": warm}
    return alone("scale_ours:by_blocks", arguments, time_limit=time_limit)


def cells(n_columns: int, n_rows: int, form: str, loss: str, memory: str, found: dict[str, Any]) -> str:
    what = [f"{n_columns}", f"{n_rows:,}", f"{4e-6 * n_rows * n_columns:.0f}", form, loss.replace("_", " "), memory]
    if "failure" in found:
        return line([*what, found["failure"], *[""] * 5])
    numbers = found["cpu"] / (n_rows * n_columns * max(1, found["passes"]))
    return line(
        [
            *what,
            f"{found['passes']}",
            f"{found['cpu']:.2f}",
            f"{1e9 * numbers:.2f}",
            f"{found['peak'] / 1e6:.0f}",
            f"{found['peak'] / found['budget']:.2f}",
            power(found["gap"]),
        ]
    )


def slopes(fits: dict[tuple[int, str, str], list[tuple[int, dict[str, Any]]]]) -> Iterator[str]:
    for (n_columns, form, loss), points in fits.items():
        if len(points) < 2:
            continue
        n, cpu, peaks = np.array([(n_rows, found["cpu"], found["peak"]) for n_rows, found in points], float).T
        late = slice(1, None) if len(n) > 2 else slice(None)
        time = np.polyfit(np.log(n[late]), np.log(cpu[late]), 1)[0]
        memory = np.polyfit(n[late], peaks[late], 1)[0]
        yield (
            f"- {n_columns} columns, {form}, {loss.replace('_', ' ')}: CPU grows as rows to the power {time:.2f}, "
            f"the peak by {memory:.2f} bytes a row (a row has {4 * n_columns} bytes)."
        )
