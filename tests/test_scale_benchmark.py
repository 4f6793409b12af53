"""The parts of the scale benchmark that decide what its numbers mean: sets, processes, judge, bars, simulation."""

import importlib
import os
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
if not BENCHMARKS.exists():
    pytest.skip("a source distribution has no benchmarks", allow_module_level=True)
sys.path.append(str(BENCHMARKS))
scale, equal, growth, process, race, sets, simulator = map(
    importlib.import_module,
    (
        *("scale", "scale_equal", "scale_growth", "scale_process", "scale_race", "scale_sets", "pass_simulator"),
    ),
)  # fmt: skip


# The sets.


def test_a_longer_set_begins_with_the_rows_of_a_shorter_one(tmp_path, monkeypatch):
    monkeypatch.setattr(sets, "DRAWN", 400)
    short, long = (np.load(sets.made(tmp_path, n, 7).rows) for n in (800, 1_000))
    assert long.shape == (1_000, 8)
    assert np.array_equal(long[:800], short)
    assert set(long[:, -1]) == {-1.0, 1.0}


def test_all_forms_of_a_set_have_the_same_numbers(tmp_path, monkeypatch):
    from maxmargin import scan_table
    from maxmargin.reading.svmlight import read_svmlight

    monkeypatch.setattr(sets, "GROUP_BYTES", 8 * 6 * 100)
    monkeypatch.setattr(sets, "FILE_GROUPS", 2)
    made = sets.made(tmp_path, 500, 5)
    X, y = made.labelled()
    parquet = scan_table(made.parquet(), label="label").X
    assert parquet.n_blocks == 5
    assert len(list(made.parquet().iterdir())) == 3
    assert np.array_equal(np.vstack([parquet.block(k) for k in range(5)]), X)
    text = read_svmlight(made.text())
    assert np.allclose(text.X.toarray(), X, rtol=1e-6)
    assert np.array_equal(text.y, y)


def test_a_set_that_was_not_finished_is_written_again(tmp_path):
    (tmp_path / "made_100_x_3.half").mkdir()
    assert np.load(sets.made(tmp_path, 100, 3).rows).shape == (100, 4)


def test_real_sets_keep_their_rows_and_labels_together(tmp_path):
    X = np.arange(40.0).reshape(20, 2)
    np.savez(tmp_path / "small.npz", X=X, y=np.where(X[:, 0] > 15, 1, -1))
    rows = np.load(sets.real(tmp_path / "scratch", "small", tmp_path).rows)
    assert not np.array_equal(rows[:, 0], np.sort(rows[:, 0]))  # shuffled
    by_value = rows[np.argsort(rows[:, 0])]
    assert by_value[:, -1].tolist() == [-1.0] * 8 + [1.0] * 12


# Processes.


def test_a_job_answers_from_its_own_process():
    assert process.alone("os:getcwd", {}, time_limit=60) == str(Path.cwd())
    assert process.alone("os:getpid", {}, time_limit=60) != os.getpid()
    assert process.alone("os:getpid", {"x": 1}, time_limit=60)["failure"].startswith("TypeError")


@pytest.mark.parametrize(
    ("job", "arguments", "failure"),
    [
        ("no_such_module:run", {}, "not installed: no_such_module"),
        ("os:abort", {}, "ended with code -6"),
        ("subprocess:run", {"args": ["sleep", "60"]}, "more than 2 s"),
    ],
)
def test_a_job_that_fails_says_why(job, arguments, failure):
    assert process.alone(job, arguments, time_limit=2 if "more" in failure else 60)["failure"].startswith(failure)


def test_the_clock_counts_what_other_processes_use():
    import subprocess

    clock = process.Clock()
    busy = "import time\nwhile time.process_time() < 0.5: pass"
    subprocess.run([sys.executable, "-c", busy], check=True)
    ended = clock.read()["cpu"]
    with subprocess.Popen([sys.executable, "-c", busy + "\nprint()\ninput()"], stdin=-1, stdout=-1) as running:
        running.stdout.readline()
        both = clock.read()["cpu"]
        running.communicate(b"\n")
    assert ended >= 0.45
    assert both - ended >= 0.45


# What the tables say.


def entry(primal, cpu, gap=None):
    return race.Entry("somebody", "somehow", primal, cpu, gap=gap)


def test_ours_is_compared_at_the_same_excess_or_a_better_one():
    entries = [entry(11.0, 1.0, 0.1), entry(10.1, 2.0, 0.01), entry(10.0 + 1e-6, 4.0, 1e-7), entry(10.2, 3.0)]
    assert race.ours_at(entries, 10.0, 0.5) == 1.0
    assert race.ours_at(entries, 10.0, race.excess_of(entries[-1], 10.0)) == 2.0
    assert race.ours_at(entries, 10.0, 0.001) == 4.0
    assert race.ours_at(entries, 10.0, 1e-9) == 4.0  # nearer than ours can tell: the optimum, as far as anybody knows
    assert race.ours_at([entry(10.2, 3.0)], 10.0, 0.1) == float("inf")


@pytest.mark.parametrize(
    ("dual", "primal", "agrees"),
    [(9.99, 10.0, True), (9.999, 10.0005, True), (10.01, 10.02, False), (9.0, 9.5, False), (9.9, 10.2, True)],
)
def test_two_fits_agree_within_both_gaps(dual, primal, agrees):
    other = {"primal": 10.0, "dual": 9.999, "gap": 1e-4}
    assert equal.same({"primal": primal, "dual": dual, "gap": (primal - dual) / primal}, other) is agrees
    assert not equal.same(other, {"failure": "crashed"})


def test_slopes_are_those_of_the_points():
    points = [(n, {"cpu": 1e-6 * n, "peak": 50_000_000 + 3 * n}) for n in (1_000, 10_000, 100_000)]
    (sentence,) = growth.slopes({(20, "npy", "hinge"): points})
    assert "power 1.00" in sentence
    assert "by 3.00 bytes a row" in sentence


def test_a_table_takes_the_place_of_the_one_before(tmp_path):
    path = tmp_path / "scale.md"
    scale.put(path, scale.TITLES["before"], ["old"])
    scale.put(path, scale.TITLES["growth"], ["| a |"])
    scale.put(path, scale.TITLES["before"], ["new"])
    text = path.read_text()
    assert "old" not in text
    assert text.index("| a |") < text.index("new")
    assert text.count("\n## ") == 2


# The short forms.


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(
            ["growth"], ["| 5 | 20,000 |", "CPU grows", "Peak within the budget: everywhere"], marks=pytest.mark.long
        ),
        pytest.param(["equal"], ["| made_5000_x_5 |", "nowhere"], marks=pytest.mark.long),
        pytest.param(
            ["peers", "--peers", "SGDClassifier.partial_fit"], ["**maxmargin**", "its defaults, 20 epochs"],
            marks=pytest.mark.long,
        ),
        (["before", "--before", str(scale.OURS)], ["| 200 x 5 |"]),
    ],
)  # fmt: skip
def test_short_forms(arguments, expected, tmp_path, capsys):
    out = tmp_path / "scale.md"
    scale.main([*arguments, "--short", "--scratch", str(tmp_path / "rows"), "--out", str(out)])
    for part in expected:
        assert part in out.read_text()
    assert out.read_text().splitlines()[-1] in capsys.readouterr().out


# The simulation.


def seconds(work, cluster):
    return simulator.simulate(work, cluster).seconds


def test_one_worker_does_one_block_after_the_other():
    assert seconds(simulator.Pass(10, 0.5, 8), simulator.Cluster((1.0,))) == pytest.approx(5.0)
    assert seconds(simulator.Pass(10, 0.5, 8), simulator.Cluster((2.0,))) == pytest.approx(2.5)


def test_workers_share_the_tasks_and_not_what_is_in_them():
    cluster = simulator.Cluster((1.0,) * 4)
    assert seconds(simulator.Pass(64, 1.0, 8), cluster) == pytest.approx(16.0)
    assert seconds(simulator.Pass(64, 1.0, 64), cluster) == pytest.approx(64.0)
    assert seconds(simulator.Pass(64, 1.0, 64), cluster._replace(threads=16)) == pytest.approx(4.0)


def test_joins_are_tasks_that_wait_for_their_answers():
    found = simulator.simulate(simulator.Pass(65, 1.0, 1), simulator.Cluster((1.0,) * 100, join_seconds=0.1))
    assert found.tasks == 65 + 9 + 2 + 1
    assert found.seconds == pytest.approx(1.0 + 0.7 + 0.7 + 0.1)
    assert found.joining == pytest.approx(0.1 * 64)


def test_a_scheduler_sends_one_task_after_the_other():
    work, cluster = simulator.Pass(80, 0.01, 1), simulator.Cluster((1.0,) * 80, task_seconds=0.1)
    found = simulator.simulate(work, cluster)
    assert found.seconds == pytest.approx(0.1 * (80 + 10 + 2 + 1), rel=0.02)
    assert found.scheduler == pytest.approx(9.3)


def test_bytes_take_their_time():
    cluster = simulator.Cluster((1.0, 1.0), bandwidth=100.0, latency=1.0)
    work = simulator.Pass(2, 5.0, 1, sent_bytes=200.0, answer_bytes=100.0)
    # a message, what is sent, the blocks; a message, a message, one answer; a message, one answer to the client
    assert seconds(work, cluster) == pytest.approx(1 + 2 + 5 + 1 + 1 + 1 + 1 + 1)


def test_stragglers_hold_up_the_pass():
    work = simulator.Pass(16, 1.0, 1)
    assert seconds(work, simulator.Cluster((1.0,) * 16)) == pytest.approx(1.0)
    assert seconds(work, simulator.Cluster((1.0,) * 15 + (0.1,))) == pytest.approx(10.0)
    assert seconds(work, simulator.Cluster((1.0,) * 16, straggling=1.0, slowness=5.0)) == pytest.approx(5.0)


def test_what_a_dead_worker_did_is_done_again():
    work = simulator.Pass(2, 4.0, 1)
    cluster = simulator.Cluster((1.0, 1.0), deaths=((3.0, 1),), notice_seconds=0.5, restart_seconds=20.0)
    found = simulator.simulate(work, cluster)
    assert found.repeated == 1
    assert found.seconds == pytest.approx(8.0)  # the other worker has it when its own is done
    quick = simulator.simulate(work, cluster._replace(restart_seconds=0.5))
    assert quick.seconds == pytest.approx(3.5 + 4.0)
    assert quick.computing == pytest.approx(4.0 + 3.0 + 4.0)
    alone = cluster._replace(speeds=(1.0,), deaths=((3.0, 0),), restart_seconds=10.0)
    assert seconds(simulator.Pass(1, 4.0), alone) == pytest.approx(13.0 + 4.0)
