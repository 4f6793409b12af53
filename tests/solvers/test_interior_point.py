"""The path of centres, with all rows and with few in play."""

import tracemalloc

import numpy as np
import oracles
import pytest
import scipy.sparse as sparse
from solver_runs import soft_iterates

from maxmargin import LinearSVM
from maxmargin.data.executor import Threads, block_edges
from maxmargin.problems.losses import HINGE
from maxmargin.problems.protocol import Evaluation
from maxmargin.problems.statement import SoftMargin, best_bias, slack, total_loss
from maxmargin.solvers.interior_point.central_path import PathRows, put_on_path
from maxmargin.solvers.interior_point.method import sample_sizes
from maxmargin.solvers.interior_point.sampling import draw, merge_rows


def noisy(n, d, noise=0.5, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    values = X @ random.standard_normal(d) + 0.3 + noise * random.standard_normal(n)
    return X, np.where(values > 0, 1.0, -1.0)


def hinge(X, signs, C=1.0, bias=True):
    return SoftMargin(X, signs, np.full(len(signs), float(C)), HINGE, bias)


def judged(solver, problem, tol=1e-6):
    """The gap that is proven in the end, and what was proposed on the way."""
    primal, dual, answer, seen = np.inf, -np.inf, None, []
    try:
        while True:
            solution = solver.send(answer)
            answer = None
            assert np.all(solution.a >= 0.0)
            assert np.all(solution.a <= problem.costs)
            if solution.proposes:
                seen.append((solution.w.copy(), solution.a.copy(), solution.active))
                values = problem.X @ solution.w
                b = best_bias(problem, values)
                paid = total_loss(problem, slack(problem, values, b))
                primal = min(primal, 0.5 * float(solution.w @ solution.w) + paid)
                dual = max(dual, oracles.soft_dual(problem, solution.a))
                answer = Evaluation(primal, dual, (primal - dual) / primal, values, b)
                if answer.gap <= tol:
                    solver.close()
                    return answer.gap, seen
    except StopIteration:
        return (primal - dual) / primal, seen


ODD = {
    "outliers": lambda X: np.where(np.arange(len(X))[:, None] % 100 == 0, 1e4 * X, X),
    "far from zero": lambda X: X + 1e4,
    "unscaled": lambda X: X * 10.0 ** np.arange(-4.0, 4.0),
    "constant column": lambda X: np.where(np.arange(8) == 3, 5.0, X),
    "twice the same columns": lambda X: np.hstack([X[:, :4], X[:, :4]]),
    "few values": np.round,
    "nothing": np.zeros_like,
}


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("odd", ODD)
def test_odd_tables_are_proven(odd, C):
    X, signs = noisy(2500, 8)
    problem = hinge(ODD[odd](X), signs, C)
    assert judged(soft_iterates("interior_point", problem, 1e-6), problem)[0] <= 1e-6


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(2, 1), (2, 3), (30, 200), (300, 1)])
def test_odd_shapes_are_proven(shape, bias):
    X, signs = noisy(*shape)
    signs[:2] = 1.0, -1.0
    problem = hinge(X, signs, bias=bias)
    assert judged(soft_iterates("interior_point", problem, 1e-9), problem, 1e-9)[0] <= 1e-9


def test_a_class_of_three_rows():
    X, _ = noisy(3000, 6)
    problem = hinge(X, np.where(np.arange(3000) < 3, 1.0, -1.0), C=10.0)
    assert judged(soft_iterates("interior_point", problem, 1e-6), problem)[0] <= 1e-6


def test_rows_are_dropped_and_the_proof_is_of_all_rows():
    X, signs = noisy(20_000, 5)
    problem = hinge(X, signs)
    gap, seen = judged(soft_iterates("interior_point", problem, 1e-8), problem, 1e-8)
    assert gap <= 1e-8
    assert seen[-1][2] < 5_000


def test_copies_of_a_row_share_by_cost():
    X, signs = noisy(1500, 3)
    X = np.round(X)
    costs = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    problem = SoftMargin(X, signs, costs, HINGE, True)
    gap, seen = judged(soft_iterates("interior_point", problem, 1e-6), problem)
    assert gap <= 1e-6
    share = seen[-1][1] / costs
    _, group = np.unique(np.column_stack([X, signs]), axis=0, return_inverse=True)
    group = group.ravel()  # NumPy 2.0.0 returns a column
    for members in (share[group == g] for g in np.unique(group)[:50]):
        assert np.ptp(members) <= 1e-12


def test_moved_columns_give_the_bias_back():
    random = np.random.default_rng(0)
    X = np.where(random.random((3000, 30)) < 0.1, random.standard_normal((3000, 30)), 4.0)
    values = X @ random.standard_normal(30)
    problem = hinge(X, np.where(values > np.median(values), 1.0, -1.0))
    solver = soft_iterates("interior_point", problem, 1e-6)
    solution = next(solution for solution in solver if solution.proposes)
    plane = best_bias(problem, X @ solution.w)
    assert solution.b == pytest.approx(plane, abs=1e-2 * abs(plane))


def test_threads_do_not_change_a_bit(monkeypatch):
    X, signs = noisy(40_000, 10)
    problem = hinge(X, signs)

    def answer(cores):
        monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)), raising=False)
        solver = soft_iterates("interior_point", problem, 1e-4)
        solution = next(solution for solution in solver if solution.proposes)
        return solution.w.copy(), solution.a.copy()

    assert len(block_edges(*X.shape[:1], X.size)) > 2
    for one, many in zip(answer(1), answer(3), strict=True):
        assert np.array_equal(one, many)


@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_array])
def test_sieve_agrees_with_the_path_of_all_rows(form):
    X, signs = noisy(30_000, 4)
    problem = hinge(form(X), signs)
    assert len(sample_sizes(*X.shape)) > 1
    gap, seen = judged(soft_iterates("sieve", problem, 1e-7), problem, 1e-7)
    assert gap <= 1e-7
    assert seen[-1][2] < 10_000
    assert judged(soft_iterates("interior_point", problem, 1e-7), problem, 1e-7)[0] <= 1e-7


def test_sieve_survives_samples_that_mislead():
    X, signs = noisy(30_000, 4)
    X[::3000] *= 1e5
    problem = hinge(X, signs, C=10.0)
    assert judged(soft_iterates("sieve", problem, 1e-6), problem)[0] <= 1e-6


def test_a_sample_keeps_few_rows_of_a_class_and_the_costs_of_all():
    X, _ = noisy(30_000, 3)
    problem = hinge(X, np.where(np.arange(30_000) < 100, 1.0, -1.0))
    sample = draw(merge_rows(problem), 5_000)
    assert np.count_nonzero(sample.cost > 0) == 100
    assert sample.cost[sample.cost > 0].sum() == pytest.approx(100.0)
    assert -sample.cost[sample.cost < 0].sum() == pytest.approx(29_900.0)


@pytest.mark.parametrize("knee", [0.0, 1e-6, 0.5, 2.0, 100.0])
def test_the_path_has_its_products(knee):
    f = np.array([-3.0, -1e-9, 0.0, 1e-9, 0.25, 3.0])
    play = PathRows(np.arange(6), np.ones(6), *np.zeros((5, 6)))
    put_on_path(play, f, 1e-3, knee)
    assert play.p * play.s == pytest.approx(1e-3)
    assert play.q * play.xi == pytest.approx(1e-3)
    assert play.p + play.q == pytest.approx(1.0)
    assert play.xi - play.s + knee * play.p == pytest.approx(f, abs=1e-12)


def test_a_block_that_fails_says_so():
    def fail(block, start, stop):
        raise ValueError("broken")

    with Threads() as threads, pytest.raises(ValueError, match="broken"):
        threads.run(fail, [0, 1, 2])


@pytest.mark.parametrize("d", [4, 12])
def test_a_fit_takes_some_twenty_numbers_a_row(d):
    """With the judge's and the certificate's, but without the support vectors that are kept."""
    X, y = noisy(40_000, d)
    svm = LinearSVM(solver="interior_point", tol=1e-3)
    svm.fit(X, y)  # compiles
    tracemalloc.start()
    svm.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (peak - svm.support_vectors_.nbytes) / X[:, 0].nbytes < 22.0
