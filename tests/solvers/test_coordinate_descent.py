"""Coordinate descent on the dual: its sums, its bounds, its faces, and how it ends."""

import numpy as np
import oracles
import pytest
import scipy.sparse as sparse
from solver_runs import soft_iterates

from maxmargin.data.table import rows_of
from maxmargin.problems.losses import HINGE, SQUARED_HINGE
from maxmargin.problems.protocol import Evaluation
from maxmargin.problems.statement import SoftMargin, best_bias
from maxmargin.solvers.coordinate_descent import descent as descent_module
from maxmargin.solvers.coordinate_descent.descent import CoordinateDescent, Schedule
from maxmargin.solvers.coordinate_descent.sweeps import shuffle, squares_of_rows

each_loss = pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
each_bias = pytest.mark.parametrize("bias", [True, False], ids=["bias", "origin"])


def words(n=300, d=500, seed=0, noise=0.1):
    """Rows of a few words each, most of them rare, and labels that some words decide, with some noise."""
    random = np.random.default_rng(seed)
    columns = np.minimum(random.zipf(1.3, (n, 12)) - 1, d - 1)
    X = sparse.csr_array((random.random((n, 12)).ravel(), (np.repeat(np.arange(n), 12), columns.ravel())), (n, d))
    X.sum_duplicates()
    values = X @ random.normal(size=d) + 0.2
    return X, np.where((values > 0) != (random.random(n) < noise), 1.0, -1.0)


def problem_of(X, signs, C=1.0, loss=HINGE, bias=True):
    return SoftMargin(X, signs, np.full(len(signs), C) if np.isscalar(C) else C, loss, bias)


def descent_of(problem, rho=1e-6):
    least = rho if problem.fit_intercept else 0.0
    return CoordinateDescent(problem.X, problem.signs, problem.upper, problem.diagonal, least_rho=least, seed=0)


def run_sweeps(descent, count):
    for _ in range(count):
        for _ in descent.sweep():
            pass


def prove(problem, tol=1e-6, **options):
    """Drive the solver with the slow judge; returns (primal, dual, last solution, judgements)."""
    solver, answer, primal, dual, judgements = (
        soft_iterates("coordinate_descent", problem, tol, **options),
        None,
        np.inf,
        0.0,
        0,
    )
    for _ in range(100_000):
        try:
            solution = solver.send(answer)
        except StopIteration:
            break
        answer = None
        assert np.all((solution.a >= 0.0) & (solution.a <= problem.upper))
        if solution.proposes:
            judgements += 1
            primal, dual = (
                min(primal, oracles.soft_primal(problem, solution.w)),
                max(dual, oracles.soft_dual(problem, solution.a)),
            )
            gap = (primal - dual) / primal
            if gap <= tol:
                break
            values = np.asarray(problem.X @ solution.w)
            answer = Evaluation(primal, dual, gap, values, best_bias(problem, values))
    return primal, dual, solution, judgements


@each_loss
@each_bias
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_proves_its_gap_on_words(loss, bias, C):
    primal, dual, _, judgements = prove(problem_of(*words(), C, loss, bias))
    assert dual <= primal * (1 + 1e-12)
    assert (primal - dual) / primal <= 1e-6
    assert judgements <= 12  # it knows when it is near


def test_costs_of_rows_differ():
    X, signs = words(seed=1)
    costs = np.random.default_rng(1).uniform(0.01, 3.0, len(signs))
    primal, dual, _, _ = prove(problem_of(X, signs, costs))
    assert (primal - dual) / primal <= 1e-6


def test_two_points_by_hand():
    """Points -1 and +1: a = 1/2 each if the costs allow it, and otherwise as much as they allow."""
    X, signs = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    assert prove(problem_of(X, signs, 1.0), 1e-9)[2].a == pytest.approx([0.5, 0.5], rel=1e-4)
    assert prove(problem_of(X, signs, 0.125), 1e-9)[2].a == pytest.approx([0.125, 0.125], rel=1e-8)
    squared = prove(problem_of(X, signs, 0.5, SQUARED_HINGE), 1e-12)[2].a
    assert squared == pytest.approx([1 / 3, 1 / 3], rel=1e-5)  # 1 - 2a - a = 0


def test_a_row_with_both_labels_costs_both():
    X, signs = np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([-1.0, 1.0])
    primal, _, solution, _ = prove(problem_of(X, signs, 3.0))
    assert primal == pytest.approx(6.0, rel=1e-6)
    assert solution.a == pytest.approx([3.0, 3.0], rel=1e-5)


def test_empty_rows_through_the_origin_rest_at_their_cost():
    X, signs = sparse.csr_array(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])), np.array([1.0, 1.0, -1.0])
    primal, dual, solution, _ = prove(problem_of(X, signs, 2.0, bias=False))
    assert solution.a[[0, 2]].tolist() == [2.0, 2.0]
    assert (primal - dual) / primal <= 1e-6


@each_loss
@each_bias
def test_the_running_sums_are_those_of_a(loss, bias):
    problem = problem_of(*words(), 1.0, loss, bias)
    descent = descent_of(problem)
    run_sweeps(descent, 5)
    a, w, (_, imbalance) = descent.point
    assert w == pytest.approx(problem.X.T @ (problem.signs * a), abs=1e-10)
    dual = a.sum() - 0.5 * w @ w - 0.5 * np.sum(problem.diagonal * a * a)
    assert descent.tally.values[0] == pytest.approx(dual, rel=1e-10)
    assert imbalance == pytest.approx(problem.signs @ a, abs=1e-10)


@each_loss
def test_without_a_bias_no_sweep_lowers_the_dual(loss):
    descent, values = descent_of(problem_of(*words(), 10.0, loss, bias=False)), [0.0]
    for _ in range(20):
        run_sweeps(descent, 1)
        values.append(descent.tally.values[0])
    assert np.all(np.diff(values) >= -1e-12 * values[-1])


@each_loss
def test_the_gap_is_the_sum_over_rows(loss):
    """P - D from the slopes, as the sweeps add it up, at a point that no longer moves."""
    problem = problem_of(*words(), 0.3, loss, bias=False)
    descent = descent_of(problem)
    run_sweeps(descent, 3)
    a, w, _ = descent.point
    slope = problem.signs * (problem.X @ w) - 1.0 + problem.diagonal * a
    if loss is HINGE:
        terms = np.maximum(0.0, -slope) * (problem.upper - a) + np.maximum(0.0, slope) * a
    else:
        q = problem.diagonal
        terms = np.where(slope < q * a, slope * slope / (2.0 * q), a * slope - 0.5 * q * a * a)
    gap = oracles.soft_primal(problem, w) - oracles.soft_dual(problem, a)
    assert terms.sum() == pytest.approx(gap, rel=1e-9)


def test_balance_makes_the_classes_equal_within_the_box():
    problem = problem_of(*words(), 1.0)
    descent = descent_of(problem)
    run_sweeps(descent, 2)
    assert descent.point.bias[1] != 0.0
    descent.balance()
    a, w, bias = descent.point
    assert bias[1] == 0.0
    assert float(problem.signs @ a) == pytest.approx(0.0, abs=1e-12 * a.sum())
    assert np.all((a >= 0.0) & (a <= problem.upper))
    assert w == pytest.approx(problem.X.T @ (problem.signs * a), abs=1e-10)


@each_loss
@each_bias
def test_a_face_step_raises_the_dual_within_the_box(loss, bias):
    problem = problem_of(*words(), 100.0, loss, bias)
    descent = descent_of(problem)
    run_sweeps(descent, 6)

    def augmented():
        a, w, (centre, imbalance) = descent.point
        dual = a.sum() - 0.5 * w @ w - 0.5 * np.sum(problem.diagonal * a * a)
        return dual - centre * imbalance - 0.5 * descent.dual.rho * imbalance**2

    before = augmented()
    step = descent.subspace_step(descent.free())
    for _ in step.run(30):
        pass
    a, w, bias_now = descent.point
    bias_now[1] = float(problem.signs @ a)
    assert 0 < step.iterations <= 30
    assert augmented() - before == pytest.approx(step.fell, rel=1e-6)
    assert step.fell > 0.0
    assert np.all((a >= 0.0) & (a <= problem.upper))
    assert w == pytest.approx(problem.X.T @ (problem.signs * a), abs=1e-9)


def test_rows_left_out_come_back_when_they_matter():
    problem = problem_of(*words(), 1.0)
    descent = descent_of(problem)
    run_sweeps(descent, 12)
    assert len(descent.active) < problem.n_rows
    a, w, _ = descent.point
    descent.recall(np.asarray(problem.X @ w))
    slope = problem.signs * (problem.X @ w + descent.b) - 1.0
    wrong = ((a <= 0.0) & (slope < 0.0)) | ((a >= problem.upper) & (slope > 0.0)) | ((a > 0.0) & (a < problem.upper))
    assert np.all(np.isin(np.flatnonzero(wrong), descent.active))


def test_a_start_at_the_answer_is_recognised():
    problem = problem_of(*words(), 1.0)
    cold = prove(problem, 1e-7)
    warm = prove(problem, 1e-6, start=cold[2].a.copy())
    assert warm[2].sweeps < 0.5 * cold[2].sweeps
    assert (warm[0] - warm[1]) / warm[0] <= 1e-6


@pytest.mark.parametrize("form", ["dense", "float32", "long indices"])
def test_two_runs_are_equal_to_the_last_bit(form):
    X, signs = words(n=120, d=80)
    if form == "dense":
        X = X.toarray()
    elif form == "float32":
        X = X.astype(np.float32)
    else:
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    first, second = (prove(problem_of(X, signs, 5.0))[2] for _ in range(2))
    assert np.array_equal(first.a, second.a)
    assert np.array_equal(first.w, second.w)


@each_loss
def test_ends_when_the_judge_is_never_content(loss):
    problem = problem_of(*words(n=60, d=40), 1.0, loss)
    solver = soft_iterates("coordinate_descent", problem, 1e-12)
    solution = next(solver, None)
    for _ in range(50_000):
        if solution is None:
            return
        values = np.asarray(problem.X @ solution.w)
        try:
            solution = solver.send(Evaluation(1.0, 0.5, 0.5, values, 0.0) if solution.proposes else None)
        except StopIteration:
            solution = None
    pytest.fail("it does not end")


def test_ends_after_its_passes(monkeypatch):
    monkeypatch.setattr(descent_module, "MOST_PASSES", 20)
    problem = problem_of(*words(n=200, d=30), 1e4)
    *_, last = soft_iterates("coordinate_descent", problem, 1e-12)
    assert 10 <= last.sweeps < 500


def test_shuffle_permutes_and_goes_on():
    order, random = np.arange(1000), np.array([88172645463325252], dtype=np.uint64)
    shuffle(order, random)
    first = order.copy()
    assert np.array_equal(np.sort(first), np.arange(1000))
    assert np.mean(np.abs(first - np.arange(1000))) == pytest.approx(1000 / 3, rel=0.15)
    shuffle(order, random)
    assert not np.array_equal(order, first)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_squares_of_rows(form, dtype):
    X = words(n=20, d=30)[0].toarray().astype(dtype)
    squares = np.empty(20)
    squares_of_rows(rows_of(form(X)), squares)
    assert squares == pytest.approx(np.sum(X.astype(np.float64) ** 2, axis=1), rel=1e-12)


def test_the_pace_asks_at_the_goal_and_on_the_way():
    schedule = Schedule(1e-6)
    asked = []
    for k in range(60):
        gap = 0.7**k
        schedule.see(gap)
        if schedule.should_ask:
            asked.append(gap)
            schedule.learn(0.6 * gap)
    assert 2 <= sum(gap > 1.7e-6 for gap in asked) <= 5
    assert any(gap <= 1.7e-6 for gap in asked)


def test_the_pace_steps_when_sweeps_crawl_and_waits_when_it_did_not_pay():
    schedule, steps = Schedule(1e-6), []
    for k in range(200):
        schedule.see(0.99**k)
        iterations = schedule.subspace_iterations(active=1000, free=990)
        if iterations:
            steps.append(k)
            schedule.stepped(iterations, 500, 1000, 990)
    assert len(steps) >= 3
    assert np.all(np.diff(np.diff(steps)) >= 0)
    assert Schedule(1e-6).subspace_iterations(1000, 990) == 0
