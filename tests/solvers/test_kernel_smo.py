"""Batch SMO: every kernel and form of rows, to a tolerance that float32 alone does not reach; with little memory."""

import functools
from dataclasses import replace

import kernel_cases
import numpy as np
import pytest
from sklearn.svm import SVC
from solver_runs import iterates

from maxmargin.problems.protocol import Iterate
from maxmargin.solve.kernel_margin import KernelJudge
from maxmargin.solvers.kernel_smo import active_rows as rows_in_play
from maxmargin.solvers.kernel_smo import method as module

each_kernel = pytest.mark.parametrize("name", kernel_cases.KERNELS)
each_form = pytest.mark.parametrize("form", kernel_cases.FORMS)


@each_kernel
@each_form
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_the_gap_closes(name, form, C):
    X, signs = kernel_cases.rings()
    problem = kernel_cases.problem_of(kernel_cases.FORMS[form](X), signs, C, **kernel_cases.KERNELS[name])
    solution, judgement = kernel_cases.solved(problem)
    assert judgement.gap <= 1e-6
    assert np.all((solution.a >= 0.0) & (solution.a <= problem.costs))
    assert float(np.sum(solution.a * signs)) == pytest.approx(0.0, abs=1e-9 * C)


def test_the_same_plane_as_svc():
    X, signs = kernel_cases.rings(n=200, seed=1)
    problem = kernel_cases.problem_of(X, signs, 10.0)
    solution, judgement = kernel_cases.solved(problem, 1e-8)
    svc = SVC(C=10.0, tol=1e-9).fit(X, signs)
    assert judgement.values + judgement.b == pytest.approx(svc.decision_function(X), abs=1e-4)
    assert set(np.flatnonzero(solution.a > 1e-6)) == set(svc.support_)


def test_small_working_sets_and_few_rows_in_play(monkeypatch):
    """Many rounds, rows left out and carried along again, a cache of three rows: the same optimum."""
    monkeypatch.setattr(rows_in_play, "SIZE", 8)
    X, signs = kernel_cases.rings(n=150, seed=2)
    costs = np.random.default_rng(0).uniform(0.2, 5.0, 150)
    problem = kernel_cases.problem_of(X, signs, costs)
    solution, judgement = kernel_cases.solved(problem, 1e-7, cache_bytes=3 * 150 * 4)
    assert solution.sweeps > 20
    assert judgement.primal == pytest.approx(exact_optimum(problem), rel=1e-6)


def exact_optimum(problem):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_in_play, "SIZE", 512)
        patch.setattr(module, "SMALLEST", 10**9)
        return kernel_cases.solved(problem, 1e-9)[1].primal


@pytest.fixture
def small_samples(monkeypatch):
    """Samples that grow four times until a few hundred rows are all of them."""
    monkeypatch.setattr(module, "SMALLEST", 5)
    monkeypatch.setattr(module, "GROWTH", 3)
    monkeypatch.setattr(rows_in_play, "SIZE", 16)


@pytest.mark.parametrize("C", [0.1, 3.0, 1000.0])
@pytest.mark.parametrize("name", ["square", "rbf", "narrow rbf", "function"])
@each_form
def test_from_samples_to_all_rows(small_samples, name, form, C):
    X, signs = kernel_cases.rings(n=400, seed=7)
    problem = kernel_cases.problem_of(kernel_cases.FORMS[form](X), signs, C, **kernel_cases.KERNELS[name])
    assert len(module.sample_sizes(400)) == 4
    _, judgement = kernel_cases.solved(problem, 1e-6)
    assert judgement.gap <= 1e-6
    assert judgement.primal == pytest.approx(exact_optimum(problem), rel=2e-6)


@pytest.mark.parametrize("rare", [1, 2, 7])
def test_a_class_of_few_rows_is_in_every_sample(small_samples, rare):
    X, signs = kernel_cases.rings(n=300, seed=8)
    signs[:] = -1.0
    signs[np.random.default_rng(rare).permutation(300)[:rare]] = 1.0
    assert np.any(signs[module.sampling_order(signs)[: module.sample_sizes(300)[0]]] > 0)
    assert kernel_cases.solved(kernel_cases.problem_of(X, signs, 10.0), 1e-6)[1].gap <= 1e-6


def test_a_sample_is_fair():
    signs = np.where(np.arange(1000) < 300, 1.0, -1.0)
    order = module.sampling_order(signs)
    assert sorted(order) == list(range(1000))
    for size in (10, 100, 500):
        assert np.mean(signs[order[:size]] > 0) == pytest.approx(0.3, abs=1.0 / size + 1e-12)


def test_rows_that_were_left_come_back(small_samples, monkeypatch):
    """The values of rows that were left are what the kernel says, after they have been looked at again."""
    returns = []
    come_back = module.AllRows.come_back

    def checked(whole):
        n_left = len(whole.a) - len(whole.known)
        come_back(whole)
        values = kernel_cases.gram(problem) @ (problem.signs * whole.a)
        assert whole.values == pytest.approx(values, abs=1e-3 * (1.0 + np.abs(values).max()))
        returns.append(n_left)

    monkeypatch.setattr(module.AllRows, "come_back", checked)
    monkeypatch.setattr(module, "SAFE", 0.9)
    X, signs = kernel_cases.rings(n=500, seed=9, noise=0.2)
    for C in (1.0, 100.0, 1e4):
        problem = kernel_cases.problem_of(X, signs, C, gamma=3.0)
        assert kernel_cases.solved(problem, 1e-6)[1].gap <= 1e-6
    assert max(returns, default=0) > 0


def test_what_was_left_too_early_is_found_by_the_judge(small_samples, monkeypatch):
    """Nothing is near, nothing is around, and nobody comes back: only the judge sees the other rows."""
    for name, value in {"NEAR": 1e-9, "AROUND": 1e-9, "SAFE": -1e99}.items():
        monkeypatch.setattr(module, name, value)
    X, signs = kernel_cases.rings(n=400, seed=10)
    assert kernel_cases.solved(kernel_cases.problem_of(X, signs, 10.0), 1e-6)[1].gap <= 1e-6


def test_the_same_bits_each_time(small_samples):
    X, signs = kernel_cases.rings(n=300, seed=3)
    problem = kernel_cases.problem_of(X, signs, 50.0)
    first, second = (kernel_cases.solved(problem, 1e-6)[0] for _ in range(2))
    assert np.array_equal(first.a, second.a)


def test_a_start_is_used():
    X, signs = kernel_cases.rings(n=300, seed=4)
    problem = kernel_cases.problem_of(X, signs, 50.0)
    cold, _ = kernel_cases.solved(problem, 1e-6)
    warm, _ = kernel_cases.solved(problem, 1e-6, start=cold.a)
    assert warm.updates < 0.5 * cold.updates


def test_hard_margin():
    X, signs = kernel_cases.rings(noise=0.05)
    problem = kernel_cases.problem_of(X, signs, np.inf)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_cases, "judged", hard_judgement)
        solution, judgement = kernel_cases.solved(problem, 1e-6)
    assert judgement.gap <= 1e-6
    svc = SVC(C=1e10, tol=1e-9).fit(X, signs)
    assert float(solution.a.sum()) == pytest.approx(float(np.abs(svc.dual_coef_).sum()), rel=1e-4)


def hard_judgement(problem, a):
    values = kernel_cases.gram(problem) @ (problem.signs * a)
    b = -0.5 * (values[problem.signs > 0].min() + values[problem.signs < 0].max())
    square, nearest = float(np.sum(problem.signs * a * values)), float(np.min(problem.signs * (values + b)))
    primal, dual = 0.5 * square / nearest**2 if nearest > 0 else np.inf, float(a.sum()) - 0.5 * square
    return kernel_cases.Evaluation(primal, dual, (primal - dual) / primal, values, b)


@pytest.mark.parametrize("name", ["linear", "square", "rbf"])
def test_rows_far_from_zero(name):
    X, signs = kernel_cases.rings()
    problem = kernel_cases.problem_of(X + 300.0, signs, **kernel_cases.KERNELS[name])
    assert kernel_cases.solved(problem, 1e-4)[1].gap <= 1e-4


def batch_rounds(problem, rows, scale, tol):
    room = functools.partial(kernel_cases.room_for, rows, 1e8)
    return iterates(module.batch_smo(problem, kernel_cases.RowCache(rows, room()), scale, tol=tol, memory=room()))


def test_what_float32_cannot_tell_ends(monkeypatch):
    """No exact values come back: the rounds end all the same."""
    monkeypatch.setattr(module, "PATIENCE", 5)
    X, signs = kernel_cases.rings(n=200, seed=5, noise=1.0)
    problem = kernel_cases.problem_of(X, signs, 1e4)
    with kernel_cases.Threads() as threads:
        rows, scale = kernel_cases.shared_rows(problem.kernel, problem.points, threads)
        solver = batch_rounds(problem, rows, scale, tol=1e-15)
        proposals = sum(solution.proposes for solution in solver)
    assert proposals == 1


@pytest.mark.parametrize("sees_all", [False, True])
def test_a_brief_refusal_says_nothing_of_progress(sees_all):
    """A judge who looks only at rows with weight may call the better proposal the worse: the rounds go on."""
    X, signs = kernel_cases.rings(n=200, seed=6, noise=0.5)
    problem = kernel_cases.problem_of(X, signs, 100.0)
    with kernel_cases.Threads() as threads:
        rows, scale = kernel_cases.shared_rows(problem.kernel, problem.points, threads)
        solver = batch_rounds(problem, rows, scale, tol=1e-3)
        answer, brief_gaps = None, iter([2e-3, 5e-3, 9e-3])
        while True:
            solution = solver.send(answer)
            answer = kernel_cases.judged(problem, solution.a) if solution.proposes else None
            if answer is None:
                continue
            if (gap := next(brief_gaps, None)) is None:
                break
            seen = answer.values if sees_all else np.where(solution.a > 0.0, answer.values, np.nan)
            answer = replace(answer, primal=np.inf, dual=0.0, gap=gap, values=seen, b=np.nan)
    assert answer.gap <= 1e-4


def test_a_judge_is_brief_once():
    X, signs = kernel_cases.rings(n=100)
    problem = kernel_cases.problem_of(X, signs, 10.0)
    poor = Iterate(np.zeros(0), 0.0, np.where(np.arange(100) < 20, 10.0, 0.0), True)
    with kernel_cases.Threads() as threads:
        judge = KernelJudge(problem, 1e-6, threads)
        first, second, third = (judge.evaluate(poor, thorough=False) for _ in range(3))
    assert np.isnan(first.values[20:]).all()
    assert np.isfinite(second.values).all()
    assert np.isnan(third.values[20:]).all()
    assert second.gap >= first.gap


@pytest.mark.parametrize("dual", [3.0, 0.0, -3.0, -2e102, np.nan])
@pytest.mark.parametrize("gap", [np.inf, 5.0])
@pytest.mark.parametrize("all_rows", [True, False])
def test_rounds_that_change_nothing_are_no_progress_whatever_the_dual_objective_is(dual, gap, all_rows):
    nothing = np.zeros(0)
    view = rows_in_play.View(nothing, nothing, nothing, 1.0, -1.0, 0.0, gap, gap + dual, dual)
    progress = module.Progress()
    ended = [progress.has_ended(view, 7, all_rows=all_rows) for _ in range(10)]
    assert not any(ended[:7])
    assert ended[-1]
