"""How many threads: as many as this process may use, which is not always how many the machine has."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

import maxmargin
from maxmargin.data import executor
from maxmargin.reading import svmlight
from maxmargin.reading.svmlight import read_svmlight
from maxmargin.solvers import passes as scan_module
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


def test_a_scan_starts_no_more_threads_than_there_are_cores(monkeypatch):
    started = []
    honest = scan_module.ThreadPoolExecutor

    def counted(number):
        started.append(number)
        return honest(number)

    monkeypatch.setattr(scan_module, "ThreadPoolExecutor", counted)
    monkeypatch.setattr(scan_module, "WORTH_A_THREAD", 10)
    X, w = np.arange(400.0).reshape(100, 4), np.ones(4)
    answers = []
    for cores in (1, 3):
        monkeypatch.setattr(scan_module, "cores", lambda cores=cores: cores)
        answers.append(values_of(X, w))
    assert started == [3]
    assert np.array_equal(*answers)


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
