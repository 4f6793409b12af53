"""What one pass costs, by its kind, and what follows from it for tables that no machine here can hold.

    python benchmarks/pass_costs.py --scratch DIR [--task-ms 5] [--short]

Measured: fits by blocks of made rows (scale_sets.py) with few and many columns, dense and sparse, from .npy, Parquet
and SVMlight text. Of each kind of pass the least CPU counts, for one number of the table; the reading that is in it
stands in a line of its own. From these constants, and from the milliseconds of client and scheduler for a task that
pass_measured.py prints, follow the seconds of a pass on 100 machines, by the simulation of pass_simulator.py.

Assumed, not measured: 100 machines of 16 cores like this one, 1.25 GB/s between them and from the store of the files,
2 GB/s from a disk of their own.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scale_sets
from pass_simulator import Cluster, Pass, simulate
from race_cells import line, machine
from scale_process import alone

SIZES = {20: 1_000_000, 50: 500_000, 200: 120_000, 800: 30_000}  # columns: rows
SHORT = {5: 4_000}
SPARSE = (100_000, 100_000, 100)  # rows, columns, numbers of a row
MEMORY = "256MB"
SPARSE_TEXT = "SVMlight text, hinge"
LOSSES = ("hinge", "squared_hinge")
MACHINES, CORES = 100, 16
NETWORK = 1.25e9
OWN_DISK = 2e9
BLOCK = 200e6  # bytes


class Cost(NamedTuple):
    """Seconds of one core for a number of the table."""

    reading: float
    kinds: dict[str, float]  # the reading left out


def measured(rows: Path, loss: str, n_numbers: int, tol: float = 1e-6) -> Cost:
    reading = alone("scale_ours:reading", {"rows": str(rows), "memory": MEMORY}, time_limit=600)
    arguments = {"rows": str(rows), "memory": MEMORY, "C": 1.0, "loss": loss, "tol": tol, "max_time": 300.0}
    fit = alone("scale_ours:by_blocks", arguments, time_limit=900)
    for answer in (reading, fit):
        if "failure" in answer:
            raise RuntimeError(answer["failure"])
    once = reading["cpu"] / n_numbers
    return Cost(once, {kind: max(0.0, min(cpu) / n_numbers - once) for kind, cpu in fit["kinds"].items()})


def costs(scratch: Path, sizes: dict[int, int], sparse: tuple[int, int, int]) -> Iterator[tuple[str, int, Cost]]:
    for n_columns, n_rows in sizes.items():
        made = scale_sets.made(scratch, n_rows, n_columns)
        for loss in LOSSES:
            yield f".npy, {loss.replace('_', ' ')}", n_columns, measured(made.rows, loss, n_rows * n_columns)
        parquet = alone("scale_ours:reading", {"rows": str(made.parquet()), "memory": MEMORY}, time_limit=600)
        if "failure" not in parquet:
            yield "Parquet", n_columns, Cost(parquet["cpu"] / (n_rows * n_columns), {})
    made = scale_sets.made_sparse(scratch, *sparse)
    yield SPARSE_TEXT, sparse[1], measured(made.rows, "hinge", sparse[0] * sparse[2], tol=1e-2)


def table(found: list[tuple[str, int, Cost]]) -> Iterator[str]:
    yield line(["rows", "columns", "pass", "ns a number, one core", "GB/s of float32"])
    yield line(["---", "--:", "---", "--:", "--:"])
    for what, n_columns, cost in found:
        for kind, seconds in {"reading alone": cost.reading, **cost.kinds}.items():
            speed = f"{4e-9 / seconds:.2f}" if seconds > 0.0 else ""
            yield line([what, f"{n_columns:,}", kind, f"{1e9 * seconds:.2f}", speed])


class Kind(NamedTuple):
    """A pass over the large table: seconds of one core for a number, numbers that come back of a task."""

    name: str
    seconds: float
    answer: float


def predictions(
    kinds: list[Kind], n_numbers: float, n_columns: float, task_seconds: float, bytes_each: float = 4.0
) -> Iterator[str]:
    yield line(
        [
            "pass",
            "blocks a task",
            "held s",
            "own disk s",
            "store s",
            "scheduler s",
            "tasks",
            "GB of answers",
            "what takes most",
        ]
    )
    yield line(["---", *["--:"] * 7, "---"])
    n_blocks = max(1, round(bytes_each * n_numbers / BLOCK))
    for kind in kinds:
        for task_blocks in (1, 8, 64):
            cells, found = [], None
            for speed in (float("inf"), OWN_DISK, NETWORK):
                one_core = kind.seconds * n_numbers / n_blocks
                at_once = min(CORES, max(1.0, n_blocks / task_blocks / MACHINES))  # tasks that share what is read
                waiting = BLOCK * at_once / speed
                cluster = Cluster(
                    (1.0,) * (MACHINES * CORES), task_seconds=task_seconds, latency=1e-3, bandwidth=NETWORK
                )
                work = Pass(n_blocks, max(one_core, waiting), task_blocks, 24 * n_columns, 8 * kind.answer)
                found = found or simulate(work, cluster)
                cells.append(f"{simulate(work, cluster).seconds:.1f}")
            assert found is not None
            computing = found.computing / (MACHINES * CORES)
            parts = {
                "the scheduler": found.scheduler,
                "computing": computing,
                "the last tasks": found.seconds - max(found.scheduler, computing),
            }
            yield line(
                [
                    kind.name,
                    f"{task_blocks}",
                    *cells,
                    f"{found.scheduler:.1f}",
                    f"{found.tasks:,}",
                    f"{found.tasks * 8e-9 * kind.answer:.2f}",
                    max(parts, key=parts.__getitem__),
                ]
            )


def kinds_of(costs: list[tuple[int, Cost]], n_columns: float) -> list[Kind]:
    """The passes of a fit of so many columns; those that sum a matrix cost a + b n_columns for a number."""
    found = []
    for name in costs[-1][1].kinds:
        points = [(columns, cost.kinds[name]) for columns, cost in costs if name in cost.kinds]
        seconds, answer = points[-1][1], 2 * (n_columns + 1)
        if "newton" in name or "path" in name:
            answer = (n_columns + 1) ** 2
            if len(points) > 1:
                columns, values = np.array(points).T
                slope, base = np.polyfit(columns, values, 1)
                seconds = max(seconds, base + slope * n_columns)
        found.append(Kind(name, seconds, answer))
    return found


def report(scratch: Path, task_seconds: float, *, short: bool) -> Iterator[str]:
    sizes, sparse = (SHORT, (500, 50, 5)) if short else (SIZES, SPARSE)
    found = list(costs(scratch, sizes, sparse))
    yield from table(found)
    for loss in (loss.replace("_", " ") for loss in LOSSES):
        dense = [(n_columns, cost) for what, n_columns, cost in found if what == f".npy, {loss}"]
        yield ""
        yield (
            f"1e9 rows x 1,000 columns of float32, {loss}, on {MACHINES} machines of {CORES} cores, blocks of "
            f"{BLOCK / 1e6:.0f} MB, {1e3 * task_seconds:.1f} ms of client and scheduler for a task:"
        )
        yield ""
        yield from predictions(kinds_of(dense, 1e3), 1e12, 1e3, task_seconds)
    text = [(n_columns, cost) for what, n_columns, cost in found if what == SPARSE_TEXT]
    yield ""
    yield (
        f"1e9 rows x 1,000,000 columns with 100 numbers a row, 8 bytes each, hinge, on the same machines, if a pass "
        f"costs for a number what it does at {text[0][0]:,} columns:"
    )
    yield ""
    yield from predictions(kinds_of(text, 1e6), 1e11, 1e6, task_seconds, 8.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scratch", type=Path, metavar="DIR", help="where rows are written (default: removed again)")
    parser.add_argument("--task-ms", type=float, default=5.0, help="client and scheduler, for a task (default: 5)")
    parser.add_argument("--short", action="store_true", help="small rows, to see that it works")
    options = parser.parse_args()
    print(machine(), end="\n\n")
    with tempfile.TemporaryDirectory() as temporary:
        for sentence in report(options.scratch or Path(temporary), options.task_ms / 1e3, short=options.short):
            print(sentence, flush=True)


if __name__ == "__main__":
    main()
