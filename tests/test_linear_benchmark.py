"""The parts of the linear benchmark that decide what its numbers mean: judge, isolation, cache, share of proof."""

import importlib
import math
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize_scalar

from maxmargin import LinearSVM
from maxmargin.solve.soft_margin import Judge

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
if not BENCHMARKS.exists():
    pytest.skip("a source distribution has no benchmarks", allow_module_level=True)
sys.path.append(str(BENCHMARKS))
cache, isolation, judge, peers, proof, race = map(
    importlib.import_module,
    ("linear_cache", "isolation", "linear_judge", "linear_peers", "linear_proof", "linear_race"),
)

LOSSES = {"hinge": lambda slack: slack.sum(), "squared_hinge": lambda slack: (slack**2).sum()}


def noisy_rows(seed, n=60, d=4, digits=8):
    """Few digits make ties."""
    random = np.random.default_rng(seed)
    X = np.round(random.standard_normal((n, d)), digits)
    y = np.where(X[:, 0] + 0.5 * random.standard_normal(n) > 0.3, 1.0, -1.0)
    return X, y, np.round(random.standard_normal(d), digits)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("digits", [0, 8])
@pytest.mark.parametrize("seed", range(5))
def test_judge_finds_the_best_bias(loss, digits, seed):
    X, y, w = noisy_rows(seed, digits=digits)

    def cost(b):
        return 0.5 * w @ w + 3.0 * LOSSES[loss](np.maximum(0.0, 1.0 - y * (X @ w + b)))

    found = judge.objective(X, y, 3.0, loss, w)
    assert found <= minimize_scalar(cost, bounds=(-9, 9), method="bounded", options={"xatol": 1e-10}).fun * (1 + 1e-12)
    assert found >= min(map(cost, np.linspace(-9, 9, 20_001))) * (1 - 1e-3)
    assert judge.objective(sp.csr_matrix(X), y, 3.0, loss, w) == pytest.approx(found, rel=1e-12)
    assert judge.objective(X, y, 3.0, loss, w, 0.25) == pytest.approx(cost(0.25), rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_judge_asks_nothing_of_a_wide_street(loss):
    X, y = np.array([[-3.0], [-2.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    assert judge.objective(X, y, 1.0, loss, np.array([1.0])) == 0.5
    assert judge.objective(X, y, 1.0, loss, np.array([np.nan])) == math.inf


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_judge_agrees_with_the_certificate(loss, C):
    X, y, _ = noisy_rows(7)
    svm = LinearSVM(C=C, loss=loss, tol=1e-7).fit(X, y)
    found = judge.objective(X, y, C, loss, svm.coef_[0])
    assert svm.certificate_.dual * (1 - 1e-12) <= found <= svm.certificate_.primal * (1 + 1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", ["LinearSVC tight", "SGDClassifier"])
def test_peers_solve_the_same_problem(loss, name):
    X, y, _ = noisy_rows(3, n=400)
    peer = peers.PEERS[loss][name]
    C = 0.1
    w = peer.normal(peer.fit(peer.convert(X, y), C))
    best = LinearSVM(C=C, loss=loss, tol=1e-7).fit(X, y).certificate_.dual
    assert best * (1 - 1e-12) <= peers.judged(X, y, C, loss, lambda _: w, None) <= best * 1.02


def test_a_job_that_fails_costs_only_itself():
    sleeps = [0.0, 60.0, 0.0, -1.0, 0.01]
    jobs = [(partial(time.sleep, seconds), repr) for seconds in sleeps]
    first, slow, third, wrong, last = isolation.measure_jobs(iter, jobs, time_limit=2.0)
    assert [done.value for done in (first, third, last)] == ["None"] * 3
    assert last.seconds >= 0.01 > first.seconds
    assert slow.failure == "more than 2 s"
    assert wrong.failure.startswith("ValueError")


def run(seconds, *, limit=30.0):
    failure = "" if seconds is not None else f"more than {limit:g} s"
    return cache.Run(seconds, 1.0 if seconds is not None else math.inf, failure, limit, "2026-01-01")


def test_cache_forgets_what_is_to_be_run_again(tmp_path):
    file = tmp_path / "peers.json"
    known = cache.Cache(file, "hinge", again=0.0)
    known.keep("a", 1.0, "quick", run(0.5))
    known.keep("a", 1.0, "slow", run(20.0))
    known.keep("a", 1.0, "endless", run(None))
    for again, found in {0.0: [True, True, True], 2.0: [False, True, True], math.inf: [False] * 3}.items():
        later = cache.Cache(file, "hinge", again=again)
        assert [later.find("a", 1.0, name, 30.0) is not None for name in ("quick", "slow", "endless")] == found
    assert known.find("a", 1.0, "slow", 10.0).failure == "more than 10 s"
    assert known.find("a", 1.0, "endless", 40.0) is None


def test_cache_keeps_losses_apart(tmp_path):
    cache.Cache(tmp_path / "peers.json", "hinge", again=0.0).keep("a", 1.0, "SGDClassifier", run(0.5))
    assert (
        cache.Cache(tmp_path / "peers.json", "squared_hinge", again=0.0).find("a", 1.0, "SGDClassifier", 30.0) is None
    )


def test_stopwatch_counts_the_outermost_call_once():
    watch = proof.Stopwatch()
    inner = watch.watch(partial(time.sleep, 0.02))
    outer = watch.watch(lambda: [inner(), inner()])
    start = time.perf_counter()
    outer()
    assert 0.04 <= watch.seconds <= time.perf_counter() - start


def test_proof_is_a_share_of_the_fit_and_leaves_no_trace():
    X, y, _ = noisy_rows(1)
    methods = dict(vars(Judge))
    assert 0.0 < proof.proof_share(partial(LinearSVM().fit, X, y)) < 1.0
    assert dict(vars(Judge)) == methods


@pytest.mark.parametrize(("seconds", "share", "missed"), [(0.2, 0.2, "f"), (0.2, 0.05, ""), (0.02, 0.2, "")])
def test_a_dear_proof_is_reported(seconds, share, missed):
    rungs = [race.Rung(1e-6, seconds, 1.0, 1.0, 0.0, proof=share)]
    terms = race.Terms("hinge", 1, 120.0, 30.0, 0.0)
    one = race.Race("made", 1.0, 10, 2, "dense", 160, terms, {}, rungs)
    assert one.missed == missed
    lines = {bar.letter: bar for bar in race.bars([one])}
    assert ("f" in lines) == (seconds >= race.WATCHED_SECONDS)
    if missed:
        assert not lines["f"].holds
        assert lines["f"].where == ["made C=1 (20% at 1e-06)"]
