"""The parts of the kernel benchmark that decide what its numbers mean: judge, peers, interpreter, cache, race."""

import importlib
import math
import multiprocessing.spawn
import site
import sys
import venv
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from maxmargin import KernelSVM

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
if not BENCHMARKS.exists():
    pytest.skip("a source distribution has no benchmarks", allow_module_level=True)
sys.path.append(str(BENCHMARKS))
cache, interpreter, isolation, judge, ours, peers, race, sets = map(
    importlib.import_module,
    (
        *("kernel_cache", "kernel_interpreter", "isolation", "kernel_judge", "kernel_ours", "kernel_peers"),
        *("kernel_race", "kernel_sets"),
    ),
)


def corners(n=200, d=4, seed=0):
    X, y = sets.NoisyCorners(n, d, faint=0.3, blur=0.1, flipped=0.05, seed=seed).make()
    return X, y, sets.scale_gamma(X)


def solved(X, y, gamma, C, tol=1e-9):
    return peers.support_of(SVC(C=C, gamma=gamma, tol=tol).fit(X, y))


# The judge.


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_judge_finds_no_gap_at_the_optimum(C):
    X, y, gamma = corners()
    rows, weights = solved(X, y, gamma, C)
    verdict = judge.judge(X, y, gamma, C, rows, weights)
    assert 0.0 <= verdict.gap <= 1e-5  # LIBSVM keeps kernel values in float32
    assert judge.judge(sp.csr_matrix(X), y, gamma, C, rows, weights) == pytest.approx(verdict, rel=1e-10)


def test_judge_computes_what_its_docstring_says():
    X, y, gamma = corners(n=60)
    rows, weights = solved(X, y, gamma, 2.0, tol=0.5)
    c = np.zeros(60)
    c[rows] = weights * y[rows]
    K = rbf_kernel(X, gamma=gamma)
    costs = [2.0 * np.maximum(0.0, 1.0 - y * (K @ c + b)).sum() for b in y - K @ c]  # the best b is one of these
    found = judge.judge(X, y, gamma, 2.0, rows, weights)
    assert found.primal == pytest.approx(0.5 * c @ K @ c + min(costs), rel=1e-12)
    assert found.dual == pytest.approx(weights.sum() - 0.5 * c @ K @ c, rel=1e-9)


def test_judge_sums_over_all_blocks():
    X, _, gamma = corners(n=judge.BLOCK_COLUMNS + 100)
    rows = np.arange(0, len(X), 3)
    c = np.random.default_rng(1).standard_normal((len(rows), 2))
    for support, coefficients in [(rows, c), (np.arange(len(X)), np.ones((len(X), 2)))]:
        expected = rbf_kernel(X, X[support], gamma=gamma) @ coefficients
        assert judge.kernel_sums(X, gamma, support, coefficients) == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("spoil", ["above C", "below 0", "unbalanced", "noise", "one class", "nothing"])
def test_no_claim_gets_a_dual_value_above_the_optimum(spoil):
    X, y, gamma = corners()
    rows, weights = solved(X, y, gamma, 1.0)
    optimum = judge.judge(X, y, gamma, 1.0, rows, weights)
    spoilt = {
        "above C": 50.0 * weights,
        "below 0": weights - 0.5,
        "unbalanced": weights * np.where(y[rows] > 0, 1.0, 0.7),
        "noise": weights * np.random.default_rng(0).uniform(0.5, 1.5, len(rows)),
        "one class": weights * (y[rows] > 0),
        "nothing": 0.0 * weights,
    }[spoil]
    found = judge.judge(X, y, gamma, 1.0, rows, spoilt)
    assert found.dual <= optimum.primal
    assert found.primal >= optimum.dual
    assert found.gap > 1e-3


def test_judge_forgives_rounding():
    X, y, gamma = corners()
    rows, weights = solved(X, y, gamma, 1.0)
    assert judge.judge(X, y, gamma, 1.0, rows, weights.astype(np.float32)).gap <= 1e-5
    assert judge.judge(X, y, gamma, 1.0, rows, weights * np.where(y[rows] > 0, 1.0 + 1e-7, 1.0)).gap <= 1e-5


def test_what_is_not_a_number_has_no_gap():
    X, y, gamma = corners(n=20)
    assert judge.judge(X, y, gamma, 1.0, np.array([0, 1]), np.array([1.0, np.nan])).gap == math.inf


# The sets.


@pytest.mark.parametrize("table", [np.asarray, sp.csr_matrix])
def test_gamma_is_that_of_scikit_learn(table):
    X, y, _ = corners()
    X = table(np.round(X, 0))
    assert sets.scale_gamma(X) == pytest.approx(SVC(gamma="scale").fit(X, y)._gamma, rel=1e-12)


# The peers.


@pytest.mark.parametrize("name", ["SVC", "SVC 2000", "libsvm"])
@pytest.mark.parametrize("table", [np.asarray, sp.csr_matrix])
def test_peers_solve_the_same_problem(name, table):
    if name == "libsvm":
        pytest.importorskip("libsvm")
    X, y, gamma = corners(seed=3)
    peer = peers.peers_with(1)[name]
    fitted = peer.fit(peer.convert(table(X), y), 10.0, gamma)
    described = peers.describe(X, y, gamma, 10.0, peer.support, fitted)
    assert judge.Verdict(described["primal"], described["dual"]).gap <= 1e-2


def test_a_dense_table_suits_intelex_from_a_quarter_on():
    few, many = sp.random(50, 40, 0.1, "csr", random_state=0), sp.random(50, 40, 0.5, "csr", random_state=0)
    assert sp.issparse(peers.as_intelex_table(few, None, np.float32)[0])
    dense = peers.as_intelex_table(many, None, np.float32)[0]
    assert (type(dense), dense.dtype) == (np.ndarray, np.float32)


def test_another_python_runs_what_is_measured(tmp_path):
    venv.create(tmp_path / "other", with_pip=False)
    python = next((tmp_path / "other").glob("bin/python"))
    packages = next((tmp_path / "other").glob("lib/python*/site-packages"))
    (packages / "borrowed.pth").write_text("\n".join(site.getsitepackages()))
    job = (partial(eval, "[__import__('sys').prefix, __import__('sys').path]"), list)
    path, executable = sys.path[:], multiprocessing.spawn.get_executable()
    with interpreter.interpreter(python):
        (there,) = isolation.measure_jobs(iter, [job], time_limit=30.0)
    assert there.value[0] == str(tmp_path / "other"), there.failure
    assert str(packages) in there.value[1]
    assert (sys.path, multiprocessing.spawn.get_executable()) == (path, executable)
    assert interpreter.versions(["numpy", "no-such-package"], python) == {
        "numpy": np.__version__,
        "no-such-package": None,
    }


# Ours.


def test_judge_agrees_with_the_certificate():
    X, y, gamma = corners(n=300)
    svm = KernelSVM(C=10.0, gamma=gamma, tol=1e-5).fit(X, y)
    rung = ours.Rung(1e-5, 0.1, **ours.describe(X, y, True, ours.start_watching_the_peak(), [], svm))
    assert max(rung.gap, rung.proven) <= 1e-5
    assert rung.lower * (1.0 - 1e-9) <= rung.primal <= rung.upper * (1.0 + 1e-9)


@pytest.mark.parametrize("time_limit", [60.0, 1e-9])
def test_the_ladder_ends_where_nothing_more_is_proven(monkeypatch, time_limit):
    monkeypatch.setitem(sets.MADE, "small", sets.NoisyCorners(500, 4, faint=0.3, blur=0.1, flipped=0.05, seed=1))
    told = [describe(fit()) for fit, describe in ours.prepare("small", None, 1.0, time_limit, 100.0)]
    rungs = [ours.Rung(tol, 0.1, **fields) for tol, fields in zip(ours.TOLS, told, strict=False)]
    is_whole = len(rungs) == len(ours.TOLS)
    assert is_whole == (time_limit > 1.0)
    assert [rung.proven <= rung.tol for rung in rungs] == [True] * (len(rungs) - 1) + [is_whole]


# The cache.


def run(seconds, gap=1e-4, *, primal=1.0, limit=30.0):
    if seconds is None:
        return cache.run_of(isolation.Measurement(None, failure=f"more than {limit:g} s"), limit)
    described = {"primal": primal, "dual": primal * (1.0 - gap), "n_support": 7}
    return cache.run_of(isolation.Measurement(seconds, described), limit)


def test_cache_gives_back_what_it_was_given(tmp_path):
    known = cache.KernelCache(tmp_path / "peers.json", again=0.0)
    known.keep("a", 1.0, "slow", run(20.0))
    known.keep("a", 1.0, "endless", run(None))
    later = cache.KernelCache(tmp_path / "peers.json", again=0.0)
    assert later.find("a", 1.0, "slow", 30.0) == run(20.0)
    assert later.find("a", 1.0, "endless", 30.0) == run(None)
    assert later.find("a", 1.0, "endless", 40.0) is None
    assert later.find("a", 1.0, "slow", 10.0).failure == "more than 10 s"
    assert later.find("a", 1.0, "slow", 10.0).gap == math.inf
    assert cache.KernelCache(tmp_path / "peers.json", again=25.0).find("a", 1.0, "slow", 30.0) is None


# The race.


def rung(tol, seconds, gap=None, *, proven=None, upper=1.0, **fields):
    gap, proven = tol / 2 if gap is None else gap, 0.9 * tol if proven is None else proven
    return ours.Rung(tol, seconds, 1.0, 1.0 - gap, upper, upper * (1.0 - proven), **fields)


LADDER = [rung(1e-2, 0.1), rung(1e-3, 0.5), rung(1e-4, 0.4), rung(1e-5, 2.0), rung(1e-6, 3.0)]


def a_race(peers_runs, rungs=LADDER, n=10_000, set_name="made"):
    terms = race.Terms(1, 600.0, 120.0, 1000.0, 0.0)
    return race.Race(set_name, 1.0, n, 2, "dense", terms, peers_runs, rungs)


@pytest.mark.parametrize(("gap", "seconds"), [(6e-3, 0.1), (1e-3, 0.5), (6e-5, 0.4), (2e-5, 2.0), (1e-12, 3.0)])
def test_ours_is_the_loosest_fit_that_suffices(gap, seconds):
    assert a_race({}).ours_at(gap) == seconds


def test_ours_is_read_off_at_the_judged_gap_and_proven_by_the_certificate():
    one = a_race({}, [rung(1e-2, 0.1, gap=1e-5), rung(1e-3, 0.5)])
    assert one.ours_at(1e-4) == 0.1
    assert one.ours_proven(1e-3) == 0.5
    assert one.ours_at(1e-6) == math.inf


@pytest.mark.parametrize(
    ("peer", "n", "missed"),
    [
        (run(10.0), 10_000, ""),
        (run(0.7), 10_000, "b"),
        (run(0.7), 1_000, ""),
        (run(0.39), 1_000, ""),
        (run(0.37), 1_000, "d"),
        (run(None), 10_000, ""),
        (run(10.0, primal=0.9), 10_000, "f"),
        (run(10.0, primal=1.1, gap=0.0), 10_000, "f"),
    ],
)
def test_bars_are_missed_where_they_are(peer, n, missed):
    one = a_race({"SVC": peer}, n=n)
    assert one.missed == missed
    assert [bar.letter for bar in race.bars([one]) if bar.letter in ("b", "d", "f") and not bar.holds] == [*missed]


@pytest.mark.parametrize(
    ("rungs", "missed"),
    [
        ([rung(1e-2, 1.0)], "ae"),
        ([rung(1e-2, 1.0), ours.Rung(1e-3, None, failure="more than 9 s")], "ae"),
        ([rung(1e-2, 1.0), rung(1e-3, 600.0, proven=2e-3)], "ae"),
        ([rung(1e-2, 1.0), rung(1e-3, 9.0), rung(1e-4, 600.0, proven=5e-4)], ""),
        ([rung(1e-2, 1.0), rung(1e-3, 9.0, growth=3 * 2**30)], "e"),
    ],
)
def test_every_fit_must_be_proven_in_bounded_memory(rungs, missed):
    assert a_race({}, rungs, n=100_000, set_name=sets.LARGE_MADE).missed == missed


def test_the_mean_is_asked_of_all_races():
    races = [a_race({"SVC": run(seconds)}) for seconds in (0.4, 0.4 * 25)]
    mean = next(bar for bar in race.bars(races) if bar.letter == "c")
    assert (mean.found, mean.holds) == ("5.00 times", True)


def test_runs_are_joined_as_they_were(tmp_path):
    kernel = importlib.import_module("kernel")
    failed = [*LADDER, ours.Rung(1e-7, None, failure="more than 9 s")]
    first = [a_race({"SVC": run(3.0), "libsvm": run(None)}, set_name=name) for name in ("mnist_20k", "usps")]
    later = [a_race({"SVC": run(2.0)}, failed, set_name="mnist_20k"), a_race({}, set_name=sets.LARGE_MADE)]
    later = [one._replace(terms=one.terms._replace(again=math.inf)) for one in later]
    files = [tmp_path / "first.json", tmp_path / "later.json"]
    for file, races in zip(files, (first, later), strict=True):
        kernel.write_json(file, [kernel.as_json(one) for one in races])
    assert kernel.joined(files) == [first[1], *later]
