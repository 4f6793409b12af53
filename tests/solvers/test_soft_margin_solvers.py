"""What every solver of the soft margin promises, whichever it is: its answer is proven, repeatable, and the best."""

from typing import NamedTuple

import numpy as np
import oracles
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from solver_runs import soft_iterates

from maxmargin.problems.losses import LOSSES
from maxmargin.problems.protocol import Evaluation
from maxmargin.problems.statement import SoftMargin, best_bias
from maxmargin.solvers.registry import SOFT_MARGIN, SOLVERS

PAIRS = [
    (name, loss)
    for name, solver in SOLVERS[SOFT_MARGIN].items()
    for loss in LOSSES.values()
    if solver.suits(loss) is None
]
OURS = [pair for pair in PAIRS if pair[0] != "cvxpy"]


def called(value):
    """A loss by its name, in the name of a test."""
    return getattr(value, "name", None)


each_pair = pytest.mark.parametrize(("name", "loss"), PAIRS, ids=called)
each_of_ours = pytest.mark.parametrize(("name", "loss"), OURS, ids=called)
each_bias = pytest.mark.parametrize("bias", [True, False], ids=["bias", "origin"])

# Steps along one dual variable crawl where the rows are nearly parallel, seen from the origin, or the price is high.
CRAWLING = {"coordinate_descent"}
STEEP = {"far from the origin", "columns of all sizes", "an outlier"}
MOST_YIELDS = 100_000  # a solver that cannot get further must end
FORMS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "csr_float64": sparse.csr_array,
    "csr_float32_int64": lambda X: with_long_indices(sparse.csr_array(X.astype(np.float32))),
}


def with_long_indices(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


class Outcome(NamedTuple):
    primal: float
    dual: float
    w: np.ndarray
    a: np.ndarray
    solutions: int

    @property
    def gap(self):
        return (self.primal - self.dual) / self.primal


def run(name, problem, tol=1e-6):
    """Drive a solver with the slow judge until tol is proven or it returns; every solution is looked at."""
    solver = soft_iterates(name, problem, tol)
    primal, dual, answer, count = np.inf, 0.0, None, 0
    w, a = np.zeros(problem.n_columns), np.zeros(problem.n_rows)
    while count < MOST_YIELDS:
        try:
            solution = solver.send(answer)
        except StopIteration:
            break
        count, answer = count + 1, None
        assert solution.w.shape == (problem.n_columns,)
        assert solution.a.shape == (problem.n_rows,)
        assert np.all(np.isfinite(solution.w))
        assert solution.gap_is_known
        if not problem.fit_intercept:
            assert solution.b == 0.0
        if solution.proposes or (count < 20 and problem.n_rows < 1000):
            below, above = oracles.soft_dual(problem, solution.a), oracles.soft_primal(problem, solution.w)
            assert below > -np.inf, "the dual point is outside its box"
            assert below <= above * (1.0 + 1e-12)
            if solution.proposes:
                primal, dual = min(primal, above), max(dual, below)
                w, a = solution.w.copy(), solution.a.copy()
                if primal - dual <= tol * primal:
                    solver.close()
                    break
                values = oracles.dense(problem.X) @ w
                answer = Evaluation(primal, dual, (primal - dual) / primal, values, best_bias(problem, values))
    assert count < MOST_YIELDS
    return Outcome(primal, dual, w, a, count)


def noisy(n=60, d=4, seed=0):
    """Two clouds that overlap, not around the origin; some cells are zero."""
    random = np.random.default_rng(seed)
    signs = np.where(random.random(n) < 0.4, 1.0, -1.0)
    X = random.normal(size=(n, d)) + 0.7 * signs[:, None] + 0.5
    X[random.random((n, d)) < 0.3] = 0.0
    return X, signs


def weights(n, seed=1):
    return np.random.default_rng(seed).uniform(0.1, 10.0, n)


@each_bias
@pytest.mark.parametrize("form", FORMS)
@each_pair
def test_proven_and_the_best_in_every_form(name, loss, form, bias):
    X, signs = noisy()
    for costs in (np.full(60, 0.5), weights(60)):
        problem = SoftMargin(FORMS[form](X), signs, costs, loss, bias)
        outcome = run(name, problem)
        assert outcome.gap <= 1e-6
        assert outcome.primal == pytest.approx(oracles.soft_optimum(problem), rel=1e-6)


@pytest.mark.parametrize("form", ["float64", "csr_float32_int64"])
@each_of_ours
def test_two_runs_are_equal_to_the_bit(name, loss, form):
    X, signs = noisy(n=300, d=5)
    problem = SoftMargin(FORMS[form](X), signs, weights(300), loss, True)
    one, other = run(name, problem), run(name, problem)
    assert one.solutions == other.solutions
    assert one.w.tobytes() == other.w.tobytes()
    assert one.a.tobytes() == other.a.tobytes()


@pytest.mark.parametrize(
    ("name", "loss", "C"),
    [(*pair, C) for pair in OURS for C in (1e-4, 1e-2, 1.0, 1e2, 1e4) if C <= 1.0 or pair[0] not in CRAWLING],
    ids=called,
)
@each_bias
def test_any_price(name, loss, bias, C):
    X, signs = noisy()
    problem = SoftMargin(X, signs, np.full(60, C), loss, bias)
    assert run(name, problem).gap <= 1e-6


def rows_of_odd_kinds():
    random = np.random.default_rng(3)
    X, signs = noisy(40, 3)
    one_against_all = np.where(np.arange(40) == 7, 1.0, -1.0)
    wide = random.normal(size=(9, 30))
    return {
        "two rows": (np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([1.0, -1.0])),
        "two equal rows": (np.ones((2, 2)), np.array([1.0, -1.0])),
        "one column": (X[:, :1], signs),
        "nothing but zeros": (np.zeros((6, 2)), np.array([1.0, 1.0, -1.0, 1.0, -1.0, 1.0])),
        "zero rows and columns": (X * (np.arange(40) % 3 > 0)[:, None] * np.array([1.0, 0.0, 1.0]), signs),
        "constant columns": (np.hstack([X, np.full((40, 1), 3.0), np.full((40, 1), -0.1)]), signs),
        "more columns than rows": (wide, np.where(wide[:, 0] > 0, 1.0, -1.0)),
        "both labels on every row": (np.vstack([X, X]), np.repeat([1.0, -1.0], 40)),
        "one row against all": (X, one_against_all),
        "separable": (X + 9.0 * signs[:, None], signs),
        "far from the origin": (X + 1e3, signs),
        "columns of all sizes": (X * np.array([1e4, 1.0, 1e-4]), signs),
        "an outlier": (np.vstack([X, [[1e3, -1e3, 1e3]]]), np.append(signs, -1.0)),
    }


ODD = rows_of_odd_kinds()


@pytest.mark.parametrize(
    ("name", "loss", "kind"),
    [(*pair, kind) for pair in OURS for kind in ODD if kind not in STEEP or pair[0] not in CRAWLING],
    ids=called,
)
@each_bias
def test_odd_shapes(name, loss, bias, kind):
    X, signs = ODD[kind]
    for form in (np.ascontiguousarray, sparse.csr_array):
        problem = SoftMargin(form(X), signs, np.ones(len(signs)), loss, bias)
        assert run(name, problem).gap <= 1e-6


@pytest.mark.parametrize("kind", ["nothing but zeros", "both labels on every row"])
@each_pair
def test_where_no_direction_helps_the_plane_is_zero(name, loss, kind):
    X, signs = ODD[kind]
    outcome = run(name, SoftMargin(X, signs, np.full(len(signs), 1.0), loss, True), tol=1e-7)
    assert np.abs(outcome.w).max() == pytest.approx(0.0, abs=1e-2)


@each_of_ours
def test_two_rows_in_closed_form(name, loss):
    """x = 0 and 2: both weights are a, w = 2 a, and D(a) = 2 a - 2 a^2 - q a^2 is the highest on [0, u]."""
    X, signs = np.array([[0.0], [2.0]]), np.array([-1.0, 1.0])
    for C in (0.1, 10.0):
        outcome = run(name, SoftMargin(X, signs, np.full(2, C), loss, True), tol=1e-9)
        w = 2.0 * min(loss.box * C, 1.0 / (2.0 + loss.bend / C))
        assert outcome.w[0] == pytest.approx(w, rel=1e-4)
        assert outcome.a == pytest.approx([w / 2.0, w / 2.0], rel=1e-4)


@st.composite
def small_problems(draw, loss):
    n, d = draw(st.integers(2, 8)), draw(st.integers(1, 3))
    X = draw(hnp.arrays(np.int64, (n, d), elements=st.integers(-3, 3))).astype(float)
    signs = draw(hnp.arrays(np.int64, n, elements=st.sampled_from([-1, 1]))).astype(float)
    signs[0], signs[1] = 1.0, -1.0
    costs = draw(hnp.arrays(np.float64, n, elements=st.sampled_from([0.01, 0.5, 1.0, 3.0])))
    return SoftMargin(X, signs, costs, loss, draw(st.booleans()))


@each_of_ours
@settings(max_examples=25)
@given(data=st.data())
def test_other_words_for_the_same_problem(name, loss, data):
    """Labels flipped, rows in another order, a row twice at its cost or once at twice the cost."""
    problem = data.draw(small_problems(loss))
    X, signs, costs, bias = problem.X, problem.signs, problem.costs, problem.fit_intercept
    order = np.array(data.draw(st.permutations(range(len(signs)))))
    k = data.draw(st.integers(0, len(signs) - 1))
    heavier = costs.copy()
    heavier[k] *= 2.0
    twice = np.append(np.arange(len(signs)), k)
    plain, flipped, permuted, heavy, doubled = (
        run(name, same, tol=1e-7)
        for same in (
            problem,
            SoftMargin(X, -signs, costs, loss, bias),
            SoftMargin(X[order], signs[order], costs[order], loss, bias),
            SoftMargin(X, signs, heavier, loss, bias),
            SoftMargin(X[twice], signs[twice], costs[twice], loss, bias),
        )
    )
    assert max(outcome.gap for outcome in (plain, flipped, permuted, heavy, doubled)) <= 1e-7
    assert flipped.primal == pytest.approx(plain.primal, rel=3e-7)
    assert permuted.primal == pytest.approx(plain.primal, rel=3e-7)
    assert doubled.primal == pytest.approx(heavy.primal, rel=3e-7)
    assert plain.primal <= heavy.primal * (1.0 + 3e-7)


@each_of_ours
def test_enough_rows_for_blocks_and_threads(name, loss):
    X, signs = noisy(n=50_000, d=6, seed=5)
    problem = SoftMargin(X.astype(np.float32), signs, np.full(len(signs), 0.1), loss, True)
    outcome = run(name, problem, tol=1e-5)
    assert outcome.gap <= 1e-5
