"""Merged, moved and rotated rows pose the same problem."""

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import SoftMargin
from maxmargin.solvers.copies import SAMPLE, find_copies, sample_columns
from maxmargin.solvers.interior_point.merged_rows import merge_rows


def problem_of(X, signs, costs=None, bias=True):
    return SoftMargin(X, signs, np.ones(len(signs)) if costs is None else costs, HINGE, bias)


def counted(n=3 * SAMPLE, d=3, seed=0):
    random = np.random.default_rng(seed)
    X = random.integers(0, 4, (n, d)).astype(float)
    return X, np.where(random.random(n) < 0.4, 1.0, -1.0)


@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_array])
def test_copies_share_a_row_and_add_their_costs(form):
    X, signs = counted()
    costs = np.random.default_rng(1).random(len(X)) + 0.1
    merged = merge_rows(problem_of(form(X), signs, costs))
    assert len(merged.cost) == 2 * 4**3
    assert merged.owner is not None
    assert np.array_equal(X[merged.first[merged.owner]], X)
    assert np.array_equal(np.sign(merged.cost[merged.owner]), signs)
    assert np.bincount(merged.owner, costs) == pytest.approx(np.abs(merged.cost))


def test_distinct_rows_are_left_where_they_are():
    X = np.random.default_rng(0).standard_normal((2 * SAMPLE, 3))
    problem = problem_of(X, np.where(X[:, 0] > 0, 1.0, -1.0))
    merged = merge_rows(problem)
    assert merged.X is X
    assert merged.owner is None
    assert find_copies(X, problem.signs) is None


def test_rows_of_both_classes_are_not_merged():
    X = np.ones((8, 2))
    first, owner = find_copies(X, np.array([1.0, -1.0] * 4))
    assert first.tolist() == [0, 1]
    assert owner.tolist() == [0, 1] * 4


def test_frequent_values_move_to_zero_where_a_bias_takes_them_back():
    random = np.random.default_rng(0)
    X = np.where(random.random((2 * SAMPLE, 30)) < 0.05, random.standard_normal((2 * SAMPLE, 30)), 7.0)
    signs = np.where(random.random(len(X)) < 0.5, 1.0, -1.0)
    merged = merge_rows(problem_of(X, signs))
    assert sparse.issparse(merged.X)
    assert merged.X.nnz < 0.1 * X.size
    assert merged.X.toarray()[merged.place] + merged.moved == pytest.approx(X[merged.first])
    assert merge_rows(problem_of(X, signs, bias=False)).moved is None


def test_half_full_csr_becomes_dense():
    X, signs = counted(d=8)
    merged = merge_rows(problem_of(sparse.csr_array(X), signs))
    assert isinstance(merged.X, np.ndarray)
    assert np.array_equal(merged.X[merged.place], X[merged.first])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_wide_rows_keep_their_products(form):
    X = np.random.default_rng(0).standard_normal((5, 40))
    merged = merge_rows(problem_of(form(X), np.array([1.0, 1.0, -1.0, -1.0, 1.0])))
    assert merged.X.shape == (5, 5)
    assert np.allclose(merged.X @ merged.X.T, X @ X.T)
    assert np.allclose(merged.X @ merged.basis.T, X)


def test_unsorted_csr_is_not_written_to():
    X = sparse.csr_array((np.array([1.0, 2.0]), np.array([1, 0]), np.array([0, 2, 2])), shape=(2, 2))
    merge_rows(problem_of(X, np.array([1.0, -1.0])))
    assert X.indices.tolist() == [1, 0]


def test_sample_finds_the_modes():
    X = np.column_stack([np.arange(10.0), np.array([3.0] * 7 + [1.0, 2.0, 2.0])])
    distinct, modes, shares = sample_columns(X)
    assert distinct == 1.0
    assert (modes[1], shares[1]) == (3.0, 0.7)
