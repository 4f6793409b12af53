"""How long one pass over a table takes on a cluster: a simulation of its tasks, event by event.

    python benchmarks/pass_simulator.py                          # a cluster of 100 machines, as in docs/scaling.md
    python benchmarks/pass_simulator.py --blocks 20000 --block-seconds 0.2 --machines 10 --cores 16 --threads 1

A pass is one task for each run of `task_blocks` neighbouring blocks, 1, 8 or 64, and then one for each 8 answers that
are joined, until one is left: whole branches of the tree in which sums are added. What happens to a task:

    the client submits it     all of them, submit_seconds each, before the first is sent
    the scheduler sends it    one after the other, `task_seconds` each; a worker gets `sent_bytes` with its first task
    a worker unpacks it       worker_seconds, each of its own
    and computes it           block_seconds / speed for each block that one of its threads has, longer if it straggles;
    or joins answers          the others fetched: answer_bytes / bandwidth each, and join_seconds to add it up

A worker that dies loses what it computes: the scheduler notices after `notice_seconds`, sends the task to somebody
else, and the worker is back after `restart_seconds`. (Answers of its finished tasks, and blocks that it held, count as
not lost.) A pass ends when the last answer is with the client. The check against passes that were measured is
`pass_measured.py`.
"""

import argparse
import heapq
import itertools
from collections import deque
from typing import NamedTuple

import numpy as np

NEIGHBOURS = 8


class Pass(NamedTuple):
    """What is to be done; seconds are those of a worker of speed 1."""

    n_blocks: int
    block_seconds: float
    task_blocks: int = 64
    sent_bytes: float = 0.0  # to each worker, once
    answer_bytes: float = 0.0  # of each task

    @property
    def runs(self) -> list[int]:
        """How many blocks each task has."""
        starts = range(0, self.n_blocks, self.task_blocks)
        return [min(self.task_blocks, self.n_blocks - start) for start in starts]


class Cluster(NamedTuple):
    """Who does it: workers, and what they have to go through."""

    speeds: tuple[float, ...]
    threads: int = 1  # of a worker, which share the blocks of a task
    start_seconds: float = 0.0  # of a pass, before anything is submitted
    submit_seconds: float = 0.0  # of the client, for each task
    task_seconds: float = 0.0  # of the scheduler, for each task
    worker_seconds: float = 0.0  # of the worker, for each task
    latency: float = 0.0
    bandwidth: float = float("inf")  # bytes a second, of a worker and of the client
    join_seconds: float = 0.0  # for each answer
    straggling: float = 0.0  # the share of tasks that take longer
    slowness: float = 1.0  # how many times longer
    deaths: tuple[tuple[float, int], ...] = ()  # (when, which worker)
    notice_seconds: float = 0.0
    restart_seconds: float = 0.0


class Task(NamedTuple):
    seconds: float  # of a worker of speed 1
    fetching: float  # before it can begin
    needs: int  # answers of other tasks
    leads_to: int | None  # the task that needs its answer


class Timeline(NamedTuple):
    """When the pass had ended, what its parts were busy for, and what was computed in vain."""

    seconds: float
    tasks: int
    scheduler: float  # and client
    computing: float  # of all workers together
    joining: float  # of all workers together
    repeated: int


def tasks_of(work: Pass, cluster: Cluster, random: np.random.Generator) -> list[Task]:
    """The runs of blocks, then the joins, level by level."""
    heights = work.runs
    late = random.random(len(heights)) < cluster.straggling
    rounds = [-(-height // cluster.threads) for height in heights]  # blocks that one thread has
    seconds = np.multiply(rounds, work.block_seconds) * np.where(late, cluster.slowness, 1.0)
    tasks = [Task(float(one), 0.0, 0, None) for one in seconds]
    first, count = 0, len(tasks)
    while count > 1:
        for start in range(first, first + count, NEIGHBOURS):
            group = range(start, min(first + count, start + NEIGHBOURS))
            for member in group:
                tasks[member] = tasks[member]._replace(leads_to=len(tasks))
            others = len(group) - 1
            fetching = (cluster.latency + others * work.answer_bytes / cluster.bandwidth) if others else 0.0
            tasks.append(Task(others * cluster.join_seconds, fetching, len(group), None))
        first, count = first + count, -(-count // NEIGHBOURS)
    return tasks


def simulate(work: Pass, cluster: Cluster, seed: int = 0) -> Timeline:
    tasks = tasks_of(work, cluster, np.random.default_rng(seed))
    n_runs, missing = len(work.runs), [task.needs for task in tasks]
    waiting = deque(range(n_runs))
    idle, greeted = deque(range(len(cluster.speeds))), set()
    doing: dict[int, tuple[int, int, float]] = {}  # worker: (task, attempt, since)
    dead: set[int] = set()
    submitting = cluster.submit_seconds * len(tasks)
    scheduler_free = cluster.start_seconds + submitting
    busy = {"scheduler": submitting, "computing": 0.0, "joining": 0.0}
    left, repeated, attempts, now = len(tasks), 0, 0, 0.0
    events: list[tuple[float, int, str, int, int]] = []
    numbers = itertools.count()  # what happens at the same moment stays in its order

    def later(when: float, what: str, worker: int, which: int = 0) -> None:
        heapq.heappush(events, (when, next(numbers), what, worker, which))

    for when, worker in cluster.deaths:
        later(when, "died", worker)
    while True:
        while waiting and idle:
            task, worker = waiting.popleft(), idle.popleft()
            scheduler_free = max(now, scheduler_free) + cluster.task_seconds
            busy["scheduler"] += cluster.task_seconds
            begins = scheduler_free + cluster.latency
            if worker not in greeted:
                greeted.add(worker)
                begins += work.sent_bytes / cluster.bandwidth
            attempts += 1
            doing[worker] = (task, attempts, begins)
            took = cluster.worker_seconds + tasks[task].fetching + tasks[task].seconds / cluster.speeds[worker]
            later(begins + took, "done", worker, attempts)
        if not left:
            last = cluster.latency + work.answer_bytes / cluster.bandwidth
            return Timeline(now + last, len(tasks), **busy, repeated=repeated)
        now, _, what, worker, which = heapq.heappop(events)
        if what == "done" and worker in doing and doing[worker][1] == which:
            task, _, since = doing.pop(worker)
            busy["computing" if task < n_runs else "joining"] += now - since
            left -= 1
            idle.append(worker)
            after = tasks[task].leads_to
            if after is not None:
                missing[after] -= 1
                if not missing[after]:
                    waiting.append(after)
        elif what == "died" and worker not in dead:
            dead.add(worker)
            if worker in doing:
                task, _, since = doing.pop(worker)
                busy["computing"] += max(0.0, now - since)
                repeated += 1
                later(now + cluster.notice_seconds, "noticed", worker, task)
            else:
                idle.remove(worker)
            later(now + cluster.restart_seconds, "back", worker)
        elif what == "noticed":
            waiting.appendleft(which)
        elif what == "back":
            dead.discard(worker)
            greeted.discard(worker)
            idle.append(worker)


def what_takes_most(found: Timeline, n_workers: int) -> str:
    parts = {
        "the scheduler": found.scheduler,
        "computing": found.computing / n_workers,
        "the slowest worker": found.seconds - found.scheduler - found.computing / n_workers,
    }
    return max(parts, key=parts.__getitem__)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--blocks", type=int, default=20_000, help="of the table (default: 20000)")
    add("--block-seconds", type=float, default=0.23, help="of one core for a block (default: 0.23, 200 MB)")
    add("--answer-bytes", type=float, default=16_000.0, help="of each task (default: 16000)")
    add("--sent-bytes", type=float, default=24_000.0, help="to each worker (default: 24000)")
    add("--machines", type=int, default=100, help="(default: 100)")
    add("--cores", type=int, default=16, help="of each machine (default: 16)")
    add("--threads", type=int, default=1, help="of a worker, which share the blocks of a task (default: 1)")
    add("--task-seconds", type=float, default=0.005, help="of client and scheduler for a task (default: 0.005)")
    add("--latency", type=float, default=0.001, help="of a message (default: 0.001)")
    add("--bandwidth", type=float, default=1.25e9, help="bytes a second (default: 1.25e9)")
    add("--straggling", type=float, default=0.0, help="share of the tasks that take longer (default: 0)")
    add("--slowness", type=float, default=5.0, help="how many times longer (default: 5)")
    add("--deaths", type=int, default=0, help="workers that die, evenly over the first second (default: 0)")
    add("--task-blocks", type=lambda text: tuple(map(int, text.split(","))), default=(1, 8, 64), help="1,8,64")
    options = parser.parse_args()
    n_workers = options.machines * options.cores // options.threads
    cluster = Cluster(
        (1.0,) * n_workers,
        threads=options.threads,
        task_seconds=options.task_seconds,
        latency=options.latency,
        bandwidth=options.bandwidth,
        straggling=options.straggling,
        slowness=options.slowness,
        deaths=tuple((k / options.deaths, k % n_workers) for k in range(options.deaths)),
        notice_seconds=1.0,
        restart_seconds=10.0,
    )
    print("| blocks a task | tasks | seconds | scheduler | computing, a worker | joining, all | what takes most |")
    print("|--:|--:|--:|--:|--:|--:|---|")
    for task_blocks in options.task_blocks:
        work = Pass(options.blocks, options.block_seconds, task_blocks, options.sent_bytes, options.answer_bytes)
        found = simulate(work, cluster)
        print(
            f"| {task_blocks} | {found.tasks:,} | {found.seconds:.1f} | {found.scheduler:.1f} "
            f"| {found.computing / n_workers:.1f} | {found.joining:.2f} | {what_takes_most(found, n_workers)} |"
        )


if __name__ == "__main__":
    main()
