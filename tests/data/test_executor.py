"""How many threads: as many as this process may use, which is not always how many the machine has."""

import os
import re
from pathlib import Path
from threading import Barrier, Event, Thread, current_thread, main_thread
from typing import ClassVar

import numpy as np
import pytest
from soft_fits import mixed

import maxmargin
from maxmargin import LinearSVM
from maxmargin.data import executor
from maxmargin.reading import svmlight
from maxmargin.reading.svmlight import read_svmlight
from maxmargin.solvers.passes import values_of


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system knows no affinity")
def test_cores_are_those_of_the_process():
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, sorted(before)[:1])
        assert executor.cores() == 1
    finally:
        os.sched_setaffinity(0, before)
    assert executor.cores() == len(before)


def test_nobody_else_counts_processors():
    package = Path(maxmargin.__file__).parent
    counting = [path.name for path in package.rglob("*.py") if re.search(r"cpu_count|affinity", path.read_text())]
    assert counting == ["executor.py"]


class Counted(Thread):
    """Threads that are counted as they start."""

    started: ClassVar[list[Thread]] = []

    def start(self):
        self.started.append(self)
        super().start()


@pytest.fixture
def started(monkeypatch):
    monkeypatch.setattr(Counted, "started", [])
    monkeypatch.setattr(executor, "Thread", Counted)
    return Counted.started


def test_a_scan_starts_no_more_threads_than_there_are_cores(monkeypatch, started):
    monkeypatch.setattr(executor, "WORTH_A_BLOCK", 10)
    X, w = np.arange(400.0).reshape(100, 4), np.ones(4)
    answers, counts = [], []
    for cores in (1, 3):
        monkeypatch.setattr(executor, "cores", lambda cores=cores: cores)
        answers.append(values_of(X, w))
        counts.append(len(started))
    assert counts == [0, 2]  # beside the caller's own
    assert np.array_equal(*answers)
    assert not any(thread.is_alive() for thread in started)


def test_a_small_fit_starts_no_thread(monkeypatch, started):
    monkeypatch.setattr(executor, "cores", lambda: 4)
    X, y = mixed(900, 20)
    LinearSVM().fit(X, y).predict(X)
    assert started == []


@pytest.mark.parametrize(
    ("loss", "C"), [("hinge", 1.0), ("hinge", 100.0), ("squared_hinge", 1.0), ("huber_hinge", 1.0)]
)
def test_cores_do_not_change_a_bit_of_a_fit(loss, C, monkeypatch, started):
    X, y = mixed(60_000, 8)
    documents = []
    for cores in (1, 2, 5):
        monkeypatch.setattr(executor, "cores", lambda cores=cores: cores)
        documents.append(LinearSVM(loss=loss, C=C).fit(X, y).certificate_.to_json())
        assert (len(started) > 0) == (cores > 1)
    assert documents[0] == documents[1] == documents[2]
    assert 1 + 1 < len(started) <= 1 + 4  # the solvers and the judge have the same ones
    assert not any(thread.is_alive() for thread in started)


def test_work_is_done_by_whoever_comes_first():
    """The leader waits for a helper that has begun, and for nobody else."""
    have_met, threads = Barrier(2), {}

    def meet(block, start, stop):
        threads[block] = current_thread()
        have_met.wait(60)

    with executor.Threads() as shared:
        shared.number = 2
        shared.run(meet, [0, 1, 2])
        assert len({*threads.values()}) == 2
        shared.run(lambda block, start, stop: threads.pop(block), [0, 1, 2])
    assert threads == {}


def test_a_helper_that_fails_ends_the_work():
    def fail_elsewhere(block, start, stop):
        if current_thread() is not main_thread():
            failed.set()
            raise ValueError("broken")
        failed.wait(60)
        ran.append(block)

    failed, ran = Event(), []
    with executor.Threads() as shared:
        shared.number = 2
        with pytest.raises(ValueError, match="broken"):
            shared.run(fail_elsewhere, list(range(100)))
        assert len(ran) < 99
        shared.run(lambda block, start, stop: ran.append(-1), [0, 1, 2])  # the helper is still there
    assert ran[-2:] == [-1, -1]


def test_a_file_is_read_by_as_many_threads(monkeypatch, tmp_path):
    started = []
    honest = svmlight.ThreadPoolExecutor

    def counted(number):
        started.append(number)
        return honest(number)

    monkeypatch.setattr(svmlight, "ThreadPoolExecutor", counted)
    monkeypatch.setattr(svmlight, "pieces_of", lambda source: iter([b"1 1:2\n", b"-1 2:3\n", b"1 1:4\n"]))
    tables = []
    for cores in (1, 2):
        monkeypatch.setattr(svmlight, "cores", lambda cores=cores: cores)
        tables.append(read_svmlight(str(tmp_path)).X.toarray())
    assert started == [2]
    assert np.array_equal(*tables)
    assert tables[0].tolist() == [[2.0, 0.0], [0.0, 3.0], [4.0, 0.0]]
