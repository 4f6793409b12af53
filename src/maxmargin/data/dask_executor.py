"""Passes over the blocks of a table on a Dask cluster: the bits of one process, whoever dies on the way.

    run      1, 8 or 64 consecutive blocks: a branch of the tree. Its future is what has `block(k)`: the blocks, held in
             the memory of a worker; or what reads them there, again in each pass
    task     fold_range over a run; then the join of 8 neighbours, until one is left: only that comes to the client
    pass     all tasks of one fold (`dask_pass.py`); it is pure, and submitted again where it is lost

The scheduler costs some milliseconds a task, and a block may be worth little more: hence runs. Which worker computes
what, and when, is not seen in the result: the tree depends on the numbers of the blocks alone. Blocks are held, and
never a state: what is lost with its worker is read again, and not computed anew from the first pass on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from maxmargin._version import __version__
from maxmargin.data.dask_pass import GONE, KEPT, Lost, Pass, named, waited_for
from maxmargin.data.dask_tasks import (
    Sent,
    Shifted,
    fold_run,
    given,
    held,
    held_again,
    in_hand,
    join_run,
    map_run,
    reading,
)
from maxmargin.data.executor import NEIGHBOURS, Blocks, Part, RowVector, Serial
from maxmargin.data.labelled import Unsurveyed
from maxmargin.data.table import InMemory, Table
from maxmargin.data.table import Part as RowsOf

T = TypeVar("T")

RUNS = (NEIGHBOURS**2, NEIGHBOURS, 1)  # blocks of a task: whole levels of the tree
TASKS_A_THREAD = 3  # with fewer, threads are idle at the end of a pass
OF_A_WORKER = 1 / 8  # of its memory: a run that is held is not larger
OF_THE_CLUSTER = 1 / 2  # of its memory: more is not held
REPEATS = 3
PATIENCE = 600.0  # seconds: more than workers are waited for by the scheduler


class Runs(NamedTuple):
    """Of one table: the future of each run, of so many blocks."""

    blocks: Any
    futures: list[Any]
    length: int
    are_held: bool

    def edges(self) -> list[tuple[int, int]]:
        n_blocks = self.blocks.n_blocks
        return [(start, min(n_blocks, start + self.length)) for start in range(0, n_blocks, self.length)]


class Cluster(NamedTuple):
    """Threads of all workers; their memory in bytes, and that of the smallest of them (0: it has no limit)."""

    threads: int
    memory: int
    least: int


class OnDask:
    """An executor on the cluster of a `distributed.Client`.

    hold             whether blocks stay in the memory of the workers; None: where they fit into half of it
    patience         seconds in which no task is finished, after which a pass is given up
    blocks_a_task    1, 8 or 64; None: as many as leave each thread something to do
    """

    def __init__(
        self, client: Any, *, hold: bool | None = None, patience: float = PATIENCE, blocks_a_task: int | None = None
    ) -> None:
        if client.asynchronous:
            raise TypeError("the client is asynchronous: give one that waits for its results")
        if blocks_a_task not in (None, *RUNS):
            raise ValueError(f"blocks_a_task must be 1, 8, 64 or None, a branch of the tree; not {blocks_a_task}")
        self.client, self.hold, self.patience, self.blocks_a_task = client, hold, patience, blocks_a_task
        self.runs: Runs | None = None
        self.is_checked = False

    def __enter__(self) -> OnDask:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.runs = None  # futures that nobody has are released

    def fold(self, part: Part[Any], blocks: Blocks, own: Mapping[int, Any]) -> Any:
        return self.repeated(partial(self.fold_once, part, blocks, own))

    def map(self, part: Part[T], table: Table, *row_vectors: RowVector) -> Iterator[T]:
        """Not more tasks are under way than keep the threads busy."""
        if is_here(table):
            yield from Serial().map(part, table, *row_vectors)
            return
        some = TASKS_A_THREAD * self.cluster().threads
        for first in range(0, table.n_blocks, some):
            numbers = range(first, min(table.n_blocks, first + some))
            yield from self.repeated(partial(self.map_once, part, table, row_vectors, numbers))

    def repeated(self, once: Callable[[], T]) -> T:
        """What a pass finds; where it is lost, it is submitted again."""
        if not self.is_checked:
            self.is_checked = True
            self.repeated(self.refuse_another_library)
        suspects: frozenset[tuple[int, int]] = frozenset()
        for left in reversed(range(REPEATS + 1)):
            try:
                return once()
            except Lost as lost:
                self.forget_what_is_gone()
                suspects = suspects & lost.suspects or lost.suspects
                if not left:
                    raise RuntimeError(
                        f"{named(suspects)} ended every worker in {REPEATS + 1} attempts ({lost}): a worker may have "
                        f"too little memory for it. Give the workers more, or cut X into smaller blocks. {KEPT}"
                    ) from lost.__cause__
        raise AssertionError

    def refuse_another_library(self) -> None:
        for who, found in Pass(self.client, self.patience).versions():
            if found != f"release {__version__}":
                raise RuntimeError(
                    f"this process has release {__version__} of maxmargin, and {who} of the cluster has {found}: "
                    "install the same one wherever the cluster runs"
                )

    def forget_what_is_gone(self) -> None:
        if self.runs is not None and any(future.status in GONE for future in self.runs.futures):
            self.runs = None

    def fold_once(self, part: Part[Any], blocks: Any, own: Mapping[int, Any]) -> Any:
        runs, tasks = self.runs_of(blocks), Pass(self.client, self.patience)
        sent, level = tasks.sent(part), []
        for run, (start, stop) in zip(runs.futures, runs.edges(), strict=True):
            mine = Sent({k: own[k] for k in range(start, stop) if k in own})
            level.append(tasks.submit("fold", (start, stop), fold_run, sent, run, mine))
        while len(level) > 1:
            groups = [level[first : first + NEIGHBOURS] for first in range(0, len(level), NEIGHBOURS)]
            places = [(len(level), number) for number in range(len(groups))]
            level = [tasks.submit("join", place, join_run, *group) for place, group in zip(places, groups, strict=True)]
        return tasks.results_of(level)[0]

    def map_once(
        self, part: Part[T], table: Table, row_vectors: tuple[RowVector, ...], numbers: range
    ) -> list[T]:  # fmt: skip
        tasks, found = Pass(self.client, self.patience), []
        sent, rows = tasks.sent(part), tasks.sent(table)
        for k in numbers:
            slices = Sent([Shifted(vector[slice(*table.edges[k : k + 2])], table.edges[k]) for vector in row_vectors])
            found.append(tasks.submit("map", (k, k + 1), map_run, sent, rows, slices))
        return tasks.results_of(found)

    # The runs of a table.

    def runs_of(self, blocks: Any) -> Runs:
        """Their futures: those of the last pass, if it was over the same blocks."""
        if self.runs is None or self.runs.blocks is not blocks:
            self.runs = self.runs_anew(blocks, self.runs)
        return self.runs

    def runs_anew(self, blocks: Any, last: Runs | None) -> Runs:
        hold, length = self.plan(blocks)
        runs, tasks = Runs(blocks, [], length, hold), Pass(self.client, self.patience)
        source, edges = source_of(blocks), runs.edges()
        if hold and last is not None and last.are_held and last.length == length and is_before(last.blocks, blocks):
            sent = tasks.sent(reading(blocks, None))
            for before, edge in zip(last.futures, edges, strict=True):
                runs.futures.append(tasks.submit("hold", edge, held_again, sent, before))
        elif is_graph(source) and (hold or source.is_in_cluster):
            sent = tasks.sent(reading(blocks, source.between(0, 0)))
            pieces = self.client.get(source.graph, source.keys, sync=False)
            for start, stop in edges:
                mine = [piece for block in pieces[start:stop] for piece in block]
                runs.futures.append(tasks.submit("hold", (start, stop), in_hand, sent, hold, *mine))
        elif is_graph(source):
            for start, stop in edges:
                own = Sent.sealed(reading(blocks, source.between(start, stop)))
                runs.futures.append(tasks.submit("rows", (start, stop), given, own))
        else:
            sent = tasks.submit("rows", (0, blocks.n_blocks), given, Sent.sealed(blocks))
            runs.futures.extend(tasks.submit("hold", edge, held, sent) if hold else sent for edge in edges)
        return runs

    def plan(self, blocks: Any) -> tuple[bool, int]:
        """Whether they are held, and how many are a run."""
        cluster, size, source = self.cluster(), bytes_of(blocks), source_of(blocks)
        in_cluster = is_graph(source) and source.is_in_cluster  # they are there already
        fits = size is not None and size <= OF_THE_CLUSTER * cluster.memory
        hold = fits and not in_cluster if self.hold is None else self.hold
        if self.blocks_a_task is not None or in_cluster:
            return hold, self.blocks_a_task or 1
        most = blocks.n_blocks // (TASKS_A_THREAD * cluster.threads)
        if hold and size:
            most = min(most, int(OF_A_WORKER * cluster.least / (size / blocks.n_blocks)))
        return hold, next((length for length in RUNS if length <= most), 1)

    def cluster(self) -> Cluster:
        workers = waited_for(self.client, partial(self.client.scheduler_info, n_workers=-1), self.patience)[
            "workers"
        ].values()
        limits = [int(worker["memory_limit"] or 0) for worker in workers]
        least = min(limits, default=0)
        threads = sum(int(worker["nthreads"]) for worker in workers)
        return Cluster(max(1, threads), sum(limits) if least else 0, least)


def is_here(table: Table) -> bool:
    """Whether its rows are in the memory of this process: a working set, for example."""
    while isinstance(table, RowsOf):
        table = table.whole
    return isinstance(table, InMemory)


def is_before(blocks: Any, later: Any) -> bool:
    """Whether these are the same rows, before their survey."""
    return isinstance(blocks, Unsurveyed) and blocks.source is source_of(later)


def source_of(blocks: Any) -> Any:
    """Where a table has its rows from; None: it knows itself."""
    return getattr(blocks, "source", None)


def is_graph(source: Any) -> bool:
    """Whether rows are what a graph of Dask computes (`dask_rows.py`)."""
    return hasattr(source, "graph") and hasattr(source, "is_in_cluster")


def bytes_of(blocks: Any) -> float | None:
    """All rows in memory; None where that is not known."""
    if hasattr(blocks, "row_bytes"):
        return float(blocks.row_bytes * blocks.n_rows)
    size = getattr(source_of(blocks), "n_bytes", None)
    return None if size is None else float(size)
