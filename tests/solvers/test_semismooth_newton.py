"""Newton on the squared hinge: three ways to one direction, an exact search, a gap that is an identity, a sample."""

import dataclasses

import numpy as np
import oracles
import pytest
import scipy.sparse as sparse
from random_sparse import random_sparse

from maxmargin.data.executor import Threads
from maxmargin.problems.losses import HINGE, HUBER_HINGE, MODIFIED_HUBER, SQUARED_HINGE
from maxmargin.problems.statement import SoftMargin
from maxmargin.solvers.newton.semismooth import Line, semismooth_newton
from maxmargin.solvers.newton.systems import FewColumns, FewRows, ManyOfBoth, system_for
from maxmargin.solvers.passes import RowPasses

SYSTEMS = (FewColumns, FewRows, ManyOfBoth)
each_bias = pytest.mark.parametrize("bias", [True, False], ids=["bias", "origin"])
each_form = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def problem_of(n=50, d=4, *, bias=True, form=np.asarray, seed=0):
    random = np.random.default_rng(seed)
    signs = np.where(random.random(n) < 0.4, 1.0, -1.0)
    X = random.normal(size=(n, d)) + 0.6 * signs[:, None] + 0.3
    return SoftMargin(form(X), signs, random.uniform(0.1, 3.0, n), SQUARED_HINGE, bias)


def direction_of(kind, problem, passes, J, g):
    work = kind(problem, passes).direction(J, g, 0.0)
    while True:
        try:
            next(work)
        except StopIteration as found:
            return found.value


@each_bias
@each_form
def test_three_ways_to_one_direction(form, bias, monkeypatch):
    """All satisfy Newton's equations on J, written down in full."""
    monkeypatch.setattr("maxmargin.solvers.newton.systems.LEAST_REDUCTION", 1e-12)
    problem = problem_of(bias=bias, form=form)
    J, g = np.arange(0, 50, 2), np.array([1.0, -2.0, 0.5, 3.0])
    X, D = oracles.dense(problem.X)[J], 2.0 * problem.costs[J]
    with Threads() as threads:
        passes = RowPasses(problem.X, threads)
        for kind in SYSTEMS:
            dw, db = direction_of(kind, problem, passes, J, g)
            change = D * (X @ dw + db)
            assert dw + X.T @ change == pytest.approx(-g, rel=1e-8, abs=1e-8)
            assert change.sum() == pytest.approx(0.0, abs=1e-8) if bias else db == 0.0


@each_form
def test_a_kept_sum_follows_the_rows(form):
    """Rows enter and leave, few or many: the direction is that of a new system."""
    problem = problem_of(form=form)
    g = np.ones(4)
    random = np.random.default_rng(1)
    with Threads() as threads:
        passes = RowPasses(problem.X, threads)
        kept = FewColumns(problem, passes)
        for share in (1.0, 0.9, 0.5, 0.52, 0.1, 1.0):
            J = np.flatnonzero(random.random(50) <= share)
            for _ in kept.follow(J):
                pass
            dw, db = direction_of(lambda *_: kept, problem, passes, J, g)
            anew, b_anew = direction_of(FewColumns, problem, passes, J, g)
            assert dw == pytest.approx(anew, rel=1e-9)
            assert db == pytest.approx(b_anew, rel=1e-9)


def test_the_shape_chooses():
    with Threads() as threads:
        for shape, kind in (((50, 4), FewColumns), ((5, 40), FewRows)):
            problem = problem_of(*shape)
            assert isinstance(system_for(problem, RowPasses(problem.X, threads)), kind)
        X = random_sparse((3000, 5000), 1e-3, np.random.default_rng(0))
        wide = SoftMargin(X, np.where(np.arange(3000) % 2, 1.0, -1.0), np.ones(3000), SQUARED_HINGE, True)
        assert isinstance(system_for(wide, RowPasses(X, threads)), ManyOfBoth)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("loss", [SQUARED_HINGE, HUBER_HINGE, MODIFIED_HUBER], ids=lambda loss: loss.name)
def test_the_lowest_point_of_a_line(loss, seed):
    random = np.random.default_rng(seed)
    r, e, costs = random.normal(size=200), random.normal(size=200), random.uniform(0.1, 5.0, 200)
    slope, curvature = random.normal(), random.uniform(0.0, 3.0)

    def height(t):
        return slope * t + 0.5 * curvature * t * t + costs @ loss.value(r - t * e)

    with Threads() as threads:
        t = Line(costs, loss, threads).lowest(r, e, slope, curvature, 1.0, 0.0)
    for other in t + np.array([-1.0, -1e-3, -1e-6, 1e-6, 1e-3, 1.0]):
        assert height(t) <= height(other) * (1.0 + 1e-14)


@pytest.mark.parametrize("loss", [HUBER_HINGE, MODIFIED_HUBER], ids=lambda loss: loss.name)
def test_the_lowest_point_where_nothing_bends(loss):
    """All rows are far beyond the knee at first, as many on the one side as on the other, but for their prices."""
    r, e = np.full(200, 1e4), np.where(np.arange(200) % 2, 1.0, -1.0)
    costs = np.where(np.arange(200) % 2, 2.0, 1.0)
    with Threads() as threads:
        t = Line(costs, loss, threads).lowest(r, e, 0.0, 0.0, 0.0, 0.0)
    assert costs @ loss.value(r - t * e) <= min(costs @ loss.value(r - other * e) for other in (9e3, 1e4, 1.1e4, 2e4))


@each_bias
@each_form
@pytest.mark.parametrize("shape", [(300, 5), (12, 40)])
def test_its_own_gap_is_the_gap(shape, form, bias):
    """1/2 |w - u|^2 in every step, and a few steps to the end of double precision."""
    problem = problem_of(*shape, bias=bias, form=form)
    last = -1
    for solution in semismooth_newton(problem, tol=1e-14):
        if solution.updates == last:
            continue
        last = solution.updates
        primal, dual = oracles.soft_primal(problem, solution.w), oracles.soft_dual(problem, solution.a)
        assert solution.gap == pytest.approx((primal - dual) / primal, rel=1e-6, abs=1e-13)
        if solution.proposes:
            break
    assert solution.proposes
    assert last <= 15


def test_weights_to_start_from_save_the_steps():
    problem = problem_of(300, 5)
    cold = settled(semismooth_newton(problem, tol=1e-10))
    warm = settled(semismooth_newton(problem, tol=1e-8, start=cold.a))
    assert cold.updates > 1
    assert warm.updates == 0
    dearer = dataclasses.replace(problem, costs=1.5 * problem.costs)
    afresh = settled(semismooth_newton(dearer, tol=1e-10))
    assert settled(semismooth_newton(dearer, tol=1e-10, start=cold.a)).updates < afresh.updates
    assert settled(semismooth_newton(problem, tol=1e-10, start=np.zeros(300))).updates == cold.updates


def settled(solver):
    return next(solution for solution in solver if solution.proposes)


@pytest.mark.parametrize("share", [0.5, 0.001])
def test_a_sample_of_many_rows(share):
    """Also where one class is so small that it is taken whole: the answer is that of all rows."""
    random = np.random.default_rng(2)
    signs = np.where(random.random(20_000) < share, 1.0, -1.0)
    X = (random.normal(size=(20_000, 3)) + 0.5 * signs[:, None]).astype(np.float32)
    problem = SoftMargin(X, signs, np.full(20_000, 0.1), SQUARED_HINGE, True)
    solution = settled(semismooth_newton(problem, tol=1e-8))
    primal, dual = oracles.soft_primal(problem, solution.w), oracles.soft_dual(problem, solution.a)
    assert primal - dual <= 1e-8 * primal
    assert solution.updates <= 6


def test_it_ends_where_rounding_does_not_let_it_go_on():
    """Nobody can be content with tol = 0."""
    problem = problem_of(40, 3)
    solutions = list(semismooth_newton(problem, tol=0.0))
    assert solutions[-1].proposes
    assert solutions[-1].gap < 1e-15


def test_the_hinge_is_refused():
    problem = SoftMargin(np.eye(2), np.array([1.0, -1.0]), np.ones(2), HINGE, True)
    with pytest.raises(ValueError, match="needs a loss that bends: the hinge has no slope"):
        next(semismooth_newton(problem, tol=1e-6))
