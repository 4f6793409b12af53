"""Passes on a cluster of Dask on this machine, beside what the simulation of them says.

    python benchmarks/pass_measured.py [--short] [--rounds N] [--most-workers N]

On one machine client, scheduler and workers share its cores, so the constants depend on the number of workers, and on
who else is at work. They are measured beside each pass, in the same rounds: by passes in which nothing is computed, of
few tasks, of many, and with large answers; and by one of blocks that wait, which shows how much of the work of client
and scheduler is done before the first block begins. Everything else is predicted. Most of the blocks measured here wait
and do not compute: so there may be more workers than cores, and what is tested is the tree, the scheduler, the slow and
the dead; those that compute run on as many workers as there are cores. The error is predicted / measured - 1, of the
median of the rounds.
"""

import argparse
import os
import signal
import statistics
import threading
import time
from typing import NamedTuple

import numpy as np
from pass_simulator import Cluster, Pass, simulate
from race_cells import machine

from maxmargin.data.dask_executor import OnDask
from maxmargin.data.executor import Serial, one_thread_for_blas

SLOW = 0.25  # the speed of the straggler
DIES_AFTER = 0.5  # seconds
LARGE = 8_000_000  # bytes


class Numbered(NamedTuple):
    """Blocks that are nothing but their number."""

    n_blocks: int

    def block(self, k: int) -> int:
        return k


class Total(NamedTuple):
    values: np.ndarray

    def and_of(self, other: "Total") -> "Total":
        return Total(self.values + other.values)


class Waits(NamedTuple):
    """A part that takes so long of any block, and longer on the worker of this name; its answer has so many bytes."""

    seconds: float
    answer_bytes: int = 8
    slow: str = ""

    def __call__(self, block: int) -> Total:
        time.sleep(self.seconds / (SLOW if self.slow and self.slow == this_worker() else 1.0))
        return Total(np.ones(self.answer_bytes // 8))


class Multiplies(NamedTuple):
    """A part that computes: the product of so many rows with themselves."""

    n_rows: int
    n_columns: int = 50

    def __call__(self, block: int) -> Total:
        X = np.random.default_rng(block).random((self.n_rows, self.n_columns), dtype=np.float32)
        return Total(X.T @ X)


def this_worker() -> str:
    from distributed import get_worker

    return str(get_worker().name)


class Case(NamedTuple):
    name: str
    workers: int
    n_blocks: int
    block_ms: float  # 0: the part computes
    task_blocks: int
    answer_bytes: int = 8
    straggler: bool = False
    death: bool = False


def cases(most_workers: int, *, short: bool) -> list[Case]:
    if short:
        return [Case("waits", 2, 16, 5.0, 1), Case("waits", 2, 16, 5.0, 8)]
    found = [
        Case("waits", workers, 256, block_ms, task_blocks)
        for workers in (1, 2, 4, 8)
        if workers <= most_workers
        for block_ms, task_blocks in ((1.0, 8), (5.0, 1), (5.0, 8), (5.0, 64), (20.0, 8))
        if workers * 400 >= 256 * block_ms  # not longer than some seconds
    ]
    found += [
        Case("waits, 8 MB each", 4, 64, 20.0, 8, answer_bytes=LARGE),
        Case("one of 4 is slow", 4, 256, 10.0, 8, straggler=True),
        Case("one of 4 dies", 4, 256, 20.0, 8, death=True),
    ]
    cores = len(os.sched_getaffinity(0))
    return found + [Case("computes", workers, 128, 0.0, 8) for workers in range(1, cores + 1)]


class Constants(NamedTuple):
    """Seconds of a pass, of the client and the scheduler for a task; bytes a second of an answer."""

    start: float
    submit: float
    task: float
    bytes_a_second: float


class OneCluster:
    """Workers of one thread, for several cases."""

    def __init__(self, workers: int) -> None:
        import dask
        from distributed import Client, LocalCluster

        dask.config.set({"distributed.deploy.lost-worker-timeout": "24h"})  # or it gives up one that dies twice
        self.cluster = LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        )
        self.client = Client(self.cluster)
        self.client.wait_for_workers(workers)
        self.workers = workers
        self.seconds_of(Waits(0.0), 64, 8)  # the workers import what they need

    def __enter__(self) -> "OneCluster":
        return self

    def __exit__(self, *error: object) -> None:
        self.client.close()
        self.cluster.close()

    def seconds_of(self, part: object, n_blocks: int, task_blocks: int) -> float:
        with OnDask(self.client, hold=False, blocks_a_task=task_blocks) as executor:
            start = time.perf_counter()
            executor.fold(part, Numbered(n_blocks), {})
            return time.perf_counter() - start

    def measured(self, case: Case, part: object) -> float:
        if not case.death:
            return self.seconds_of(part, case.n_blocks, case.task_blocks)
        pid = next(iter(self.client.run(os.getpid).values()))
        killing = threading.Timer(DIES_AFTER, os.kill, (pid, signal.SIGKILL))
        killing.start()
        took = self.seconds_of(part, case.n_blocks, case.task_blocks)
        killing.join()
        self.client.wait_for_workers(self.workers, timeout=300)
        return took


PROBES = {  # passes without work, and one of blocks that wait: the part, and how many blocks, one a task
    "few": (Waits(0.0), 8),
    "many": (Waits(0.0), 64),
    "large": (Waits(0.0, LARGE), 8),
    "waiting": (Waits(0.02), 64),
}


def constants(took: dict[str, float], workers: int) -> Constants:
    """From the seconds of the probes."""
    n_few, n_many = 8 + 1, 64 + 8 + 1
    each = max(1e-5, (took["many"] - took["few"]) / (n_many - n_few))
    start = max(0.0, took["few"] - n_few * each)
    fetched = 8 * LARGE / max(1e-3, took["large"] - took["few"])  # seven are fetched by a worker, one by the client
    waiting = Case("waits", workers, 64, 20.0, 1)
    before = [Constants(start, share * each, (1.0 - share) * each, fetched) for share in np.linspace(0.0, 1.0, 21)]
    return min(before, key=lambda found: abs(predicted(waiting, found, 0.02, 0.0) - took["waiting"]))


def predicted(case: Case, found: Constants, block_seconds: float, restart: float) -> float:
    speeds = [1.0] * case.workers
    if case.straggler:
        speeds[0] = SLOW
    cluster = Cluster(
        tuple(speeds),
        start_seconds=found.start,
        submit_seconds=found.submit,
        task_seconds=found.task,
        bandwidth=found.bytes_a_second,
        deaths=((DIES_AFTER, 0),) if case.death else (),
        restart_seconds=restart,
    )
    work = Pass(case.n_blocks, block_seconds, case.task_blocks, answer_bytes=case.answer_bytes)
    return simulate(work, cluster).seconds


def seconds_here(part: Multiplies, n_blocks: int) -> float:
    """Of one block, in this process alone."""
    with one_thread_for_blas():
        Serial().fold(part, Numbered(2), {})
        start = time.perf_counter()
        Serial().fold(part, Numbered(n_blocks), {})
        return (time.perf_counter() - start) / n_blocks


def restart_seconds(cluster: OneCluster) -> float:
    """How long it takes until a worker that was killed is back."""
    pid = next(iter(cluster.client.run(os.getpid).values()))
    start = time.perf_counter()
    os.kill(pid, signal.SIGKILL)
    while len(cluster.client.scheduler_info(n_workers=-1)["workers"]) == cluster.workers:
        time.sleep(0.01)
    cluster.client.wait_for_workers(cluster.workers, timeout=300)
    return time.perf_counter() - start


def compared(cluster: OneCluster, case: Case, rounds: int) -> tuple[float, str]:
    """The error, and a line of the table."""
    computing = Multiplies(20_000)
    slow = "0" if case.straggler else ""
    part = Waits(case.block_ms / 1e3, case.answer_bytes, slow) if case.block_ms else computing
    restart = restart_seconds(cluster) if case.death else 0.0
    probes: dict[str, list[float]] = {name: [] for name in (*PROBES, "block", "case")}
    for _ in range(rounds):
        for name, (probe, n_blocks) in PROBES.items():
            probes[name].append(cluster.seconds_of(probe, n_blocks, 1))
        probes["block"].append(case.block_ms / 1e3 or seconds_here(computing, 32))
        probes["case"].append(cluster.measured(case, part))
    took = {name: statistics.median(values) for name, values in probes.items()}
    found = constants(took, cluster.workers)
    expected = predicted(case, found, took["block"], restart)
    error = expected / took["case"] - 1.0
    return abs(error), (
        f"| {case.name} | {cluster.workers} | {case.n_blocks} | {1e3 * took['block']:.1f} | {case.task_blocks} "
        f"| {1e3 * found.start:.0f} + {1e3 * found.submit:.1f} + {1e3 * found.task:.1f} | {expected:.2f} "
        f"| {took['case']:.2f} | {min(probes['case']):.2f} to {max(probes['case']):.2f} | {100 * error:+.0f} % |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="two small passes, in some seconds")
    parser.add_argument("--rounds", type=int, default=3, help="the median of so many (default: 3)")
    parser.add_argument("--most-workers", type=int, default=4, help="(default: 4)")
    options = parser.parse_args()
    rounds = 1 if options.short else options.rounds
    print(machine(), end="\n\n")
    print(
        "| pass | workers | blocks | ms a block | blocks a task | ms: pass + client, scheduler a task | predicted s "
        "| measured s | least to most | error |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|---|--:|")
    todo = cases(options.most_workers, short=options.short)
    errors = []
    for workers in sorted({case.workers for case in todo}):
        with OneCluster(workers) as cluster:
            for case in (case for case in todo if case.workers == workers):
                error, text = compared(cluster, case, rounds)
                errors.append(error)
                print(text, flush=True)
    print(
        f"\nThe median of the errors is {100 * statistics.median(errors):.0f} %, the largest {100 * max(errors):.0f} %."
    )


if __name__ == "__main__":
    main()
