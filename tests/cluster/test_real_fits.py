"""Real fits on a cluster: the bits of one process, whatever happens to the workers; what is left when it goes away."""

import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

import distributed
import pytest
from cluster_fits import QUESTIONS, bits, in_one_process, rows, text
from cluster_parts import own_workers

from maxmargin import LinearSVM
from maxmargin.data.dask_executor import OnDask
from maxmargin.persistence import fit_with_checkpoints

sys.path.insert(0, str(Path(__file__).parent))
from hunt_killed_workers import Trouble, fit_in_trouble


@pytest.fixture(scope="module")
def want():
    with in_one_process():
        return {name: bits(LinearSVM(**question).fit(*rows())) for name, question in QUESTIONS.items()}


@pytest.mark.parametrize(("question", "hold"), [("hinge", False), ("hinge", True), ("squared hinge", None)])
def test_a_fit_has_the_bits_of_one_process(client, want, question, hold):
    svm = LinearSVM(**QUESTIONS[question], client=OnDask(client, hold=hold))
    assert bits(svm.fit(*rows())) == want[question]


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.long), 3])
def test_with_more_or_fewer_workers(client, want, workers):
    client.cluster.scale(workers)
    try:
        client.wait_for_workers(workers, timeout=60)
        assert bits(LinearSVM(**QUESTIONS["hinge"]).fit(*rows())) == want["hinge"]  # by the current client
    finally:
        client.cluster.scale(2)
        client.wait_for_workers(2, timeout=60)


@pytest.mark.parametrize(("question", "hold"), [("hinge", True), ("hinge", False), ("squared hinge", True)])
def test_workers_are_killed_while_it_goes_on(client, want, question, hold):
    """The short form of hunt_killed_workers.py."""
    found, hits = fit_in_trouble(client, question, hold, random.Random(hold), 0.3, most=1)
    assert hits == 1
    assert found == want[question]


@pytest.mark.parametrize(
    ("loss", "hold"), [("hinge", True), pytest.param("squared_hinge", False, marks=pytest.mark.long)]
)
def test_many_sparse_columns_with_rows_that_the_cluster_holds(client, loss, hold, monkeypatch):
    """What a worker remembered of its rows dies with it, and is replayed by another one."""
    monkeypatch.setattr("maxmargin.solvers.by_passes.registry.HALF", 9.0)  # or so few rows would be in this process
    asked = {"loss": loss, "tol": 0.1, "memory": "3.2MB"}
    with in_one_process():
        here = LinearSVM(**asked).fit(*text())
    assert here.solver_ == "proximal_points"
    with Trouble(client, random.Random(5), 0.5, 1, 0.0) as trouble:
        there = LinearSVM(**asked, client=OnDask(client, hold=hold)).fit(*text())
    assert trouble.hits == 1
    assert bits(there) == bits(here)


def test_a_worker_stands_still_for_a_while(client, want):
    """It is waited for, and comes back; for longer: hunt_killed_workers.py --still 30."""
    found, hits = fit_in_trouble(client, "hinge", True, random.Random(1), 0.3, most=1, still=4.0)
    assert hits == 1
    assert found == want["hinge"]


@pytest.mark.long
def test_a_worker_stands_still_for_ever(client, want):
    """The scheduler misses it after `worker-ttl` and has it replaced; others compute what it had."""
    client.wait_for_workers(2, timeout=60)
    executor = StandsStill(client, own_workers(client)[0], 3)
    assert bits(LinearSVM(**QUESTIONS["hinge"], client=executor).fit(*rows())) == want["hinge"]
    executor.missing.join()
    assert executor.worker not in own_workers(client)


class StandsStill(OnDask):
    """A worker stands still from the beginning of a pass on; blocks are held, so that it has some."""

    def __init__(self, client, worker, passes):
        super().__init__(client, hold=True, blocks_a_task=1)
        self.worker, self.left, self.missing = worker, passes, threading.Thread(target=self.miss)

    def fold(self, part, blocks, own):
        self.left -= 1
        if not self.left:
            os.kill(self.worker, signal.SIGSTOP)
            self.missing.start()
        return super().fold(part, blocks, own)

    def miss(self):
        """As the scheduler does it from time to time. (Short from the beginning, it would miss workers that start.)"""

        async def look(dask_scheduler):
            usual, dask_scheduler.worker_ttl = dask_scheduler.worker_ttl, 5.0
            await dask_scheduler.check_worker_ttl()
            dask_scheduler.worker_ttl = usual

        while self.worker in own_workers(self.client):
            time.sleep(0.5)
            self.client.run_on_scheduler(look)


def test_the_scheduler_goes_away_and_another_one_goes_on(want, client, tmp_path):
    """The checkpoint that is left goes on in this process, with the bits of a fit that nobody disturbed."""
    path, question = tmp_path / "checkpoint", QUESTIONS["hinge"]
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=60) as cluster,
        distributed.Client(cluster.scheduler_address, timeout="3s", set_as_default=False) as lonely,
    ):
        executor = ClosesAfter(lonely, cluster, 3)
        with pytest.raises(ConnectionError, match="lost its scheduler"):
            fit_with_checkpoints(LinearSVM(**question, client=executor), *rows(), path=path, every=0.0)
    resumed = fit_with_checkpoints(LinearSVM(**question, client=client), *rows(), path=path, resume=True)
    assert bits(resumed) == want["hinge"]


class ClosesAfter(OnDask):
    """A cluster that goes away while its client waits for a pass."""

    def __init__(self, client, cluster, passes):
        super().__init__(client, patience=60.0)
        self.closing, self.left = threading.Timer(0.02, cluster.close), passes

    def fold(self, part, blocks, own):
        self.left -= 1
        if not self.left:
            self.closing.start()
        return super().fold(part, blocks, own)
