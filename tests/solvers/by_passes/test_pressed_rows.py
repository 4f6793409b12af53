"""The hinge of many columns by passes: what it proves is what the rows in memory prove."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sparse
from labelled_rows import by_blocks, two_classes

from maxmargin import LinearSVM
from maxmargin.problems.block_margin import Ask, Facts, Proposal, SolverByPasses
from maxmargin.problems.losses import SQUARED_HINGE
from maxmargin.problems.protocol import restore, snapshot
from maxmargin.run.control import Clock
from maxmargin.solve.by_blocks import Leader, Standing, answers_of
from maxmargin.solvers.by_passes import pressed_rows, registry
from maxmargin.solvers.by_passes.master import dual_value
from maxmargin.solvers.by_passes.pressed_rows import Sort


def text(n=400, d=150, seed=0, dtype=np.float64):
    """Rare words, some of which tell the class."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = sparse.random_array((n, d), density=0.05, rng=random, format="csr")
    X = X.toarray()
    X[:, :3] = np.where(y == 1, 1.0, -1.0)[:, None] * 0.4 + random.normal(size=(n, 3))
    return sparse.csr_array(X.astype(dtype)), y


def solver_of(problem, facts, most, tol):
    """With room for so many rows."""
    state = pressed_rows.start(problem, facts, 0.0, tol).state
    return SolverByPasses(state, pressed_rows.steps(problem, facts, state, most, tol))


def led(X, y, most, tol=1e-6, fit_intercept=True, **cut):
    table = by_blocks(X, y, **cut)
    problem = two_classes(table, fit_intercept=fit_intercept)
    facts = Facts.of(table, problem)
    solver = solver_of(problem, facts, most, tol)
    standing = Standing.of(problem, facts, tol, solver.state)
    Leader(table, [standing], Clock(None, 0), tol, 0.0).lead([standing.led(solver, None)], 1)
    return standing


def assert_within_both_bounds(standing, X, y, fit_intercept=True):
    known = LinearSVM(tol=1e-8, fit_intercept=fit_intercept).fit(X, y).certificate_
    assert standing.dual <= known.primal
    assert known.dual <= standing.primal


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_where_all_rows_fit_one_master_is_the_answer(dtype, fit_intercept):
    X, y = text(dtype=dtype)
    standing = led(X, y, 400, fit_intercept=fit_intercept)
    assert (standing.status, standing.passes) == ("PROVEN", 1)
    assert_within_both_bounds(standing, X, y, fit_intercept)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("form", ["sparse", "dense", "float32"])
def test_half_of_the_rows_are_enough(form, fit_intercept):
    X, y = text(dtype=np.float32 if form == "float32" else np.float64)
    X = X.toarray() if form == "dense" else X
    standing = led(X, y, 200, fit_intercept=fit_intercept)
    assert standing.status == "PROVEN"
    assert 3 < standing.passes < 60
    assert len(standing.weights.listed.ids) <= 200
    assert_within_both_bounds(standing, X, y, fit_intercept)


def test_blocks_that_are_empty_or_of_one_class_and_weights():
    X, y = text()
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=400)
    weights[7] = 0.0
    standing = led(X, y, 200, edges=[0, 0, 1, 200, 200, 390, 400], weights=weights)
    known = LinearSVM(tol=1e-8).fit(X, y, weights).certificate_
    assert standing.status == "PROVEN"
    assert standing.dual <= known.primal
    assert known.dual <= standing.primal


def test_too_little_room_ends_with_the_true_gap():
    X, y = text()
    standing = led(X, y, 30)
    assert standing.status == "STALLED"
    assert standing.gap > 1e-3
    assert_within_both_bounds(standing, X, y)


def test_no_master_is_above_all_rows_whatever_the_plane():
    """Means pay at most what their rows pay."""
    X, y = text()
    table = by_blocks(X, y)
    problem = two_classes(table)
    facts, random = Facts.of(table, problem), np.random.default_rng(2)
    least = LinearSVM(tol=1e-8).fit(X, y).certificate_.primal
    for width in (0.1, 0.5):
        state = solver_of(problem, facts, 400, 1e-6).state
        state.w, state.b = 0.3 * random.normal(size=X.shape[1]), 0.1
        (found,) = answers_of(table, [problem], [Ask(Sort(state.w, state.b, width, 400, state.w, state.b))])
        f = 1.0 - np.where(y == 1, 1.0, -1.0) * (X @ state.w + state.b)
        assert found.near == len(found.taken.ids) == np.sum(np.abs(f) < width)
        assert found.losses == pytest.approx(np.maximum(f, 0.0).sum())
        assert found.plus[-1] + found.minus[-1] == np.sum(f >= width)
        pressed_rows.master(problem, state, found, 1e-7)
        assert 0.0 <= state.dual <= least


def test_a_run_goes_on_from_its_state_with_the_same_bits():
    X, y = text()
    table = by_blocks(X, y)
    problem = two_classes(table)
    facts = Facts.of(table, problem)

    def proposals(solver, passes):
        """Until so many passes were asked for: then the state is complete."""
        answer, found = None, []
        while True:
            try:
                wish = solver.run.send(answer)
            except StopIteration:
                return found
            if isinstance(wish, Proposal):
                return [wish]
            if passes == 0:
                return found
            (answer,), passes = answers_of(table, [problem], [wish]), passes - 1

    (whole,) = proposals(solver_of(problem, facts, 200, 1e-6), 1000)
    first = solver_of(problem, facts, 200, 1e-6)
    assert proposals(first, 4) == []
    second = solver_of(problem, facts, 200, 1e-6)
    restore(second.state, snapshot(first.state), table.n_rows)
    (resumed,) = proposals(second, 1000)
    np.testing.assert_array_equal(resumed.w, whole.w)
    np.testing.assert_array_equal(resumed.weights.listed.shares, whole.weights.listed.shares)


def test_the_dual_value_by_hand():
    """x = 1 and x = -1 with a = 1/2 each: w = 1, D = 1 - 1/2; the heavier class is scaled down."""
    assert dual_value(np.array([[0.5, 0.5], [-0.5, 0.5]]), True) == pytest.approx(0.5)
    assert dual_value(np.array([[0.8, 0.8], [-0.5, 0.5]]), True) == pytest.approx(0.5)
    assert dual_value(np.array([[0.8, 0.8], [0.0, 0.0]]), True) == 0.0
    assert dual_value(np.array([[0.8, 0.8], [0.0, 0.0]]), False) == pytest.approx(0.8 - 0.32)


def test_the_choice_is_by_the_columns_and_by_the_rows_that_fit():
    for columns, room, names in (
        (3000, 1e9, ("working_set", "newton")),
        (3001, 1e9, ("pressed_rows", "proximal_points")),
        (3001, 24 * 8 * 3001 + 100.0, ("proximal_points", "proximal_points")),
    ):
        X = sparse.csr_array((np.ones(2), ([0, 1], [0, 1])), shape=(2, columns))
        table = by_blocks(X, np.array([0, 1]), blocks=1)
        problem = two_classes(table)
        bent = dataclasses.replace(problem, loss=SQUARED_HINGE)
        facts = Facts.of(table, problem)
        assert tuple(registry.name_for(one, facts, room) for one in (problem, bent)) == names


class Blocks:
    def __init__(self, X, height):
        self.X, self.height = X, height
        self.n_rows, self.n_columns = X.shape
        self.n_blocks = -(-X.shape[0] // height)

    def block(self, k):
        return self.X[k * self.height : (k + 1) * self.height]


def test_linear_svm_of_many_columns_within_a_memory_budget():
    X, y = text(d=3100)
    svm = LinearSVM(memory="20MB", tol=1e-6).fit(Blocks(X, 70), y)
    assert svm.solver_ == "pressed_rows"
    assert svm.certificate_.relative_gap <= 1e-6
    assert svm.certificate_.verify(Blocks(X, 70), y)
    known = LinearSVM(tol=1e-6).fit(X, y).certificate_
    assert svm.certificate_.dual <= known.primal
    assert known.dual <= svm.certificate_.primal
