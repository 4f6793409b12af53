"""Workers that die, freeze or are killed by a block; a scheduler that goes away. All of them are the test's own."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from cluster_parts import Deadly, Look, MadeBlocks, Slow, bits, own_workers

from maxmargin.data.dask_executor import OnDask
from maxmargin.data.executor import OutOfTime, Serial, interruptible

LOOK = Look(np.ones(4))


def wait_for(condition, seconds=60.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize("hold", [pytest.param(False, marks=pytest.mark.long), True])
def test_a_worker_that_is_killed_in_the_middle_of_a_pass(client, hold):
    blocks, look = MadeBlocks(20), Look(np.ones(4), 0.02, 20)
    want = bits(Serial().fold(LOOK, blocks, {}))
    with OnDask(client, hold=hold, blocks_a_task=1) as executor:
        assert bits(executor.fold(LOOK, blocks, {})) == want
        victim = own_workers(client)[0]
        threading.Timer(0.3, os.kill, (victim, signal.SIGKILL)).start()
        assert bits(executor.fold(look, blocks, {})) == want
    wait_for(lambda: len(set(own_workers(client)) - {victim}) == 2)


def test_all_workers_are_killed_at_once_with_all_that_they_were_sent(client):
    blocks, look = MadeBlocks(20), Look(np.ones(100_000), 0.02, 20)
    victims = own_workers(client)

    def kill():
        for pid in victims:
            os.kill(pid, signal.SIGKILL)

    with OnDask(client, hold=True, blocks_a_task=1) as executor:
        executor.fold(LOOK, blocks, {})
        threading.Timer(0.3, kill).start()
        assert bits(executor.fold(look, blocks, {})) == bits(Serial().fold(LOOK, blocks, {}))
    wait_for(lambda: len(set(own_workers(client)) - set(victims)) == 2)


def test_a_worker_that_is_frozen_for_a_while(client):
    blocks = MadeBlocks(12)
    frozen = own_workers(client)[0]
    os.kill(frozen, signal.SIGSTOP)
    thaw = threading.Timer(3.0, os.kill, (frozen, signal.SIGCONT))
    thaw.start()
    try:
        assert bits(OnDask(client, blocks_a_task=1).fold(LOOK, blocks, {})) == bits(Serial().fold(LOOK, blocks, {}))
    finally:
        thaw.join()


def test_a_pass_is_repeated_when_its_workers_were_killed_too_often(small_cluster, tmp_path):
    """The first two that look at block 5 die, and the scheduler allows no failure."""
    for number in range(2):
        (tmp_path / str(number)).touch()
    executor = OnDask(small_cluster, hold=True, blocks_a_task=1)
    blocks = MadeBlocks(7)
    assert bits(executor.fold(Deadly(5, str(tmp_path), LOOK), blocks, {})) == bits(Serial().fold(LOOK, blocks, {}))
    assert not list(tmp_path.iterdir())


def test_a_block_that_always_ends_its_worker_is_named(small_cluster, tmp_path):
    for number in range(20):
        (tmp_path / str(number)).touch()
    executor = OnDask(small_cluster, blocks_a_task=8)
    with pytest.raises(RuntimeError, match=r"blocks 8 to 10,? ended every worker in 4 attempts") as error:
        executor.fold(Deadly(9, str(tmp_path), LOOK), MadeBlocks(11), {})
    assert type(error.value.__cause__).__name__ == "KilledWorker"
    assert len(list(tmp_path.iterdir())) == 16


def test_the_clock_ends_a_pass_and_its_tasks(client, tmp_path):
    begun = time.monotonic()

    def check():
        if list(tmp_path.iterdir()):
            raise OutOfTime

    with interruptible(check), pytest.raises(OutOfTime):
        OnDask(client, blocks_a_task=1).fold(Slow(1.0, str(tmp_path)), MadeBlocks(60), {})
    wait_for(lambda: not any(client.processing().values()))
    assert len(list(tmp_path.iterdir())) < 10
    assert time.monotonic() - begun < 30.0


def test_a_cluster_that_does_nothing_is_left_after_the_patience(client, tmp_path):
    with pytest.raises(TimeoutError, match=r"no task was finished within 0\.5 s .*checkpoint"):
        OnDask(client, patience=0.5).fold(Slow(5.0, str(tmp_path)), MadeBlocks(2), {})


def test_a_scheduler_that_goes_away_in_the_middle(small_cluster, tmp_path):
    def close():
        wait_for(lambda: list(tmp_path.iterdir()))
        small_cluster.cluster.close()

    closing = threading.Thread(target=close)
    closing.start()
    begun = time.monotonic()
    with pytest.raises(ConnectionError, match=r"lost its scheduler .*new client"):
        OnDask(small_cluster, patience=60.0).fold(Slow(0.5, str(tmp_path)), MadeBlocks(100), {})
    assert time.monotonic() - begun < 60.0
    closing.join()
    with pytest.raises(ConnectionError, match="lost its scheduler"):
        OnDask(small_cluster).fold(LOOK, MadeBlocks(3), {})
