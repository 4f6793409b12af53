"""Newton by passes: its parabolas, its own bound, and that its state is all that it needs."""

import numpy as np
import pytest
from blocked_rows import Blocked, uneven

from maxmargin.certificates.duality import dual_value
from maxmargin.data.labelled import surveyed, with_labels
from maxmargin.problems.block_margin import Ask, BlockMargin, Facts, Proposal, Proven
from maxmargin.problems.losses import loss_named
from maxmargin.problems.protocol import restore, snapshot
from maxmargin.problems.statement import SoftMargin
from maxmargin.solve.by_blocks import answers_of
from maxmargin.solvers.by_passes import bent_newton
from maxmargin.solvers.by_passes.bent_newton import Derivatives, dual_of

RANDOM = np.random.default_rng(2)
N, D = 400, 6
X = RANDOM.normal(size=(N, D)) + 3.0
Y = (X[:, 0] - X[:, 1] + RANDOM.normal(size=N) > 0.3).astype(int)
WEIGHTS = RANDOM.exponential(size=N)
LOSSES = [("squared_hinge", None), ("huber_hinge", 0.5), ("huber_hinge", 0.01), ("modified_huber", None)]


def table_of(X=X):
    return surveyed(with_labels(Blocked(X, uneven(len(X))), Y, WEIGHTS))


def problem_of(loss, width, C=1.0, fit_intercept=True):
    return BlockMargin(1, 0, np.full(2, C), loss_named(loss, width), fit_intercept)


@pytest.mark.parametrize(("loss", "width"), LOSSES)
def test_the_parabolas_touch_the_loss_and_are_nowhere_below_it(loss, width):
    """t of a row at f: the loss at g is at most loss(f) + slope (g - f) + t (g - f)^2 / 2."""
    problem = problem_of(loss, width)
    rho = 1.0 if problem.loss.is_bounded else 0.0
    f = np.concatenate([np.linspace(-3.0, 9.0, 241), [problem.loss.knee if problem.loss.is_bounded else 1.0]])
    a, t, losses = np.empty(len(f)), np.empty(len(f)), np.zeros(1)
    rows, ones = bent_newton.rows_of(1.0 - f[:, None]), np.ones(len(f))
    line = ones[:1], 0.0, np.zeros(1), 0.0, np.ones(1)
    bent_newton.losses_and_slopes(rows, ones, ones, *line, problem.loss.bend, problem.loss.box, rho, a, t, losses)
    values = problem.loss.value(f)
    assert np.sum(values) == pytest.approx(losses[0], rel=1e-12)
    curvature = np.where(t > 0.0, t, 1.0 / problem.loss.bend)
    at = np.linspace(-20.0, 20.0, 801)[:, None]
    parabola = values + a * (at - f) + 0.5 * curvature * (at - f) ** 2
    assert np.all(problem.loss.value(at) <= parabola + 1e-9 * (1.0 + parabola))
    if problem.loss.is_bounded:  # and no wider one is
        outside = (f > problem.loss.knee * 1.01) | (f < -0.01)
        wider = values + a * (at - f) + 0.45 * curvature * (at - f) ** 2
        assert np.all(np.any(problem.loss.value(at) > wider, axis=0)[outside & (np.abs(f) < 3.0)])


@pytest.mark.parametrize(("loss", "width"), LOSSES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_its_own_bound_is_that_of_the_slopes(loss, width, fit_intercept):
    problem = problem_of(loss, width, fit_intercept=fit_intercept)
    w, zero = RANDOM.normal(size=D) * 0.2, np.zeros(D)
    ask = Ask(Derivatives(w, 0.1, zero, 0.0, np.ones(1), problem.loss.bend, problem.loss.box, 0.0, zero))
    (seen,) = answers_of(table_of(), [problem], [ask])
    signs = np.where(Y == 1, 1.0, -1.0)
    held = SoftMargin(X, signs, WEIGHTS, problem.loss, fit_intercept)
    slopes = WEIGHTS * problem.loss.share(1.0 - signs * (X @ w + 0.1))
    assert dual_of(problem, seen.totals) == pytest.approx(dual_value(held, slopes).value, rel=1e-10)


def led(solver, table, problem, passes):
    """What a run asks for in that pass, or at its end; its proposals are answered with a gap that is too large."""
    wish = next(solver.run)
    for _ in range(passes - 1):
        (answer,) = answers_of(table, [problem], [wish])
        try:
            proposed = solver.run.send(answer)
            while isinstance(proposed, Proposal):
                proposed = solver.run.send(Proven(2.0, 1.0, 0.5))
        except StopIteration:
            break
        wish = proposed
    return wish


@pytest.mark.parametrize(("loss", "width"), LOSSES)
def test_a_restored_state_asks_the_same_first(loss, width):
    problem, table = problem_of(loss, width), table_of()
    facts = Facts.of(table, problem)
    for passes in range(1, 8):
        solver, again = (bent_newton.start(problem, facts, 1e9, 1e-12) for _ in range(2))
        asked = led(solver, table, problem, passes)
        restore(again.state, snapshot(solver.state), N)
        assert all(np.array_equal(*pair) for pair in zip(asked.part, next(again.run).part, strict=True))


@pytest.mark.parametrize(("loss", "width"), LOSSES)
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
def test_few_passes(loss, width, C):
    problem, table = problem_of(loss, width, C), table_of()
    solver = bent_newton.start(problem, Facts.of(table, problem), 1e9, 1e-6)
    wish, passes = next(solver.run), 0
    while isinstance(wish, Ask):
        (answer,) = answers_of(table, [problem], [wish])
        passes, wish = passes + 1, solver.run.send(answer)
    assert solver.state.gap <= 5e-7
    assert passes <= (40 if width == 0.01 else 20)


def test_a_column_far_from_zero_costs_no_digits():
    problem = problem_of("squared_hinge", None)
    gaps = []
    for shift in (0.0, 1e6):
        table = table_of(X + shift)
        solver = bent_newton.start(problem, Facts.of(table, problem), 1e9, 1e-14)
        led(solver, table, problem, 12)
        gaps.append(solver.state.gap)
    assert gaps[0] < 1e-9
    assert gaps[1] < 1e-6
