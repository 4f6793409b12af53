"""Rows that stand for their copies: the sweeps solve the same problem, and each copy has its share."""

import numpy as np
import oracles
import pytest
import scipy.sparse as sparse

from maxmargin import LinearSVM
from maxmargin.problems.losses import HINGE, SQUARED_HINGE
from maxmargin.problems.protocol import Options, shown
from maxmargin.problems.statement import SoftMargin
from maxmargin.solvers import copies as module
from maxmargin.solvers.coordinate_descent import descent
from maxmargin.solvers.copies import worth_merging

each_form = pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_array])


def counted(n=6000, d=4, seed=0):
    """Small counts, so that there are hundreds of rows at most, with labels that they decide, with noise."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 3, (n, d)).astype(float)
    return X, np.where(X @ random.normal(size=d) + random.normal(size=n) > 1.0, 1.0, -1.0)


@each_form
def test_copies_add_their_units_and_share_by_them(form):
    X, signs = counted()
    units = np.random.default_rng(1).uniform(0.1, 2.0, len(X))
    found = worth_merging(form(X), signs, units, 0.1)
    assert found is not None
    assert np.array_equal(X[found.stands], X)
    assert np.array_equal(signs[found.stands], signs)
    own = ~found.others
    assert own.sum() == len(np.unique(np.column_stack([X, signs]), axis=0))
    assert found.merged[own].sum() == pytest.approx(units.sum())
    a = np.where(own, found.merged, 0.0)
    assert np.array_equal(found.shared(a), units)  # to the last bit: a bound is a bound
    a = np.where(own, np.random.default_rng(2).random(len(X)) * found.merged, 0.0)
    assert found.sums(found.shared(a)) == pytest.approx(a)
    assert np.all(found.shared(a) <= units)


def test_a_sample_says_whether_to_look(monkeypatch):
    """Ten copies of each row, in a table that is larger than the sample."""
    X = np.repeat(np.random.default_rng(0).normal(size=(2000, 2)), 10, axis=0)
    X = np.random.default_rng(1).permutation(X)
    signs, units = np.ones(len(X)), np.ones(len(X))
    assert worth_merging(X, signs, units, 0.15) is not None
    looked_at = []
    monkeypatch.setattr(module, "find_copies", lambda X, *rest: looked_at.append(len(X)))
    assert worth_merging(X, signs, units, 0.05) is None
    assert worth_merging(X[::2], signs[::2], units[::2], 0.05) is None
    assert looked_at == []
    assert worth_merging(X[:30], signs[:30], units[:30], 0.05) is None
    assert looked_at == [30]  # the table is no larger than two samples


def test_a_sample_sees_copies_in_a_large_table():
    X, signs = counted(n=20_000)
    assert worth_merging(X, signs, np.ones(len(X)), 0.1) is not None


@each_form
@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "origin"])
def test_merged_sweeps_show_feasible_weights_of_all_rows(form, loss, bias):
    X, signs = counted()
    costs = np.random.default_rng(3).uniform(0.01, 0.1, len(X))
    problem = SoftMargin(form(X), signs, costs, loss, bias)
    state = descent.start(problem, Options(1e-3))
    assert state.descent.n_distinct < 200
    for iterate in shown(descent.steps(problem, state)):
        if iterate.proposes:
            break
    a, w = iterate.a, iterate.w
    assert np.all((a >= 0.0) & (a <= problem.upper))
    assert w == pytest.approx(X.T @ (signs * a), abs=1e-8)
    assert state.descent.tally.values[0] == pytest.approx(
        a.sum() - 0.5 * w @ w - 0.5 * np.sum(problem.diagonal * a * a), rel=1e-9
    )
    primal, dual = oracles.soft_primal(problem, w), oracles.soft_dual(problem, a)
    assert dual <= primal * (1.0 + 1e-12)
    assert primal - dual <= 0.02 * primal


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_answer_is_that_of_the_rows_one_by_one(monkeypatch, loss):
    X, signs = counted(seed=4)
    merged = LinearSVM(C=0.1, loss=loss, solver="coordinate_descent", tol=1e-7).fit(X, signs)
    monkeypatch.setattr(descent, "FEW_ROWS", len(X))
    alone = LinearSVM(C=0.1, loss=loss, solver="coordinate_descent", tol=1e-7).fit(X, signs)
    assert merged.certificate_.is_optimal
    assert alone.certificate_.is_optimal
    assert merged.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=2e-7)
    assert merged.certificate_.verify(X, signs).holds


def test_a_start_is_gathered_by_the_rows_that_stand_for_it():
    X, signs = counted()
    problem = SoftMargin(X, signs, np.ones(len(X)), HINGE, True)
    a = np.random.default_rng(5).random(len(X))
    state = descent.start(problem, Options(1e-3, a))
    assert state.descent.point.w == pytest.approx(X.T @ (signs * a))
    assert state.descent.point.a.sum() == pytest.approx(a.sum())
    assert state.descent.weights(fresh=True).sum() == pytest.approx(a.sum())
