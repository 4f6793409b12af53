"""Pivoted Cholesky: G G' below K, exact at full rank, and the trace that is left."""

import kernel_cases
import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin.solvers.kernel_smo import low_rank as low_rank_module
from maxmargin.solvers.kernel_smo.low_rank import low_rank


@pytest.mark.parametrize("name", kernel_cases.KERNELS)
def test_the_rest_is_positive_semidefinite(name):
    X, signs = kernel_cases.rings(n=50)
    problem = kernel_cases.problem_of(X, signs, **kernel_cases.KERNELS[name])
    K = kernel_cases.gram(problem)
    found = low_rank(problem, 4)
    rest = K - found.scale * (found.columns @ found.columns.T)
    assert np.linalg.eigvalsh(rest)[0] >= -1e-9 * np.trace(K)
    assert found.unexplained == pytest.approx(np.trace(rest) / np.trace(K), abs=1e-9)
    assert found.columns.shape[1] == len(found.pivots) == len(set(found.pivots))


def test_full_rank_is_the_kernel_and_more_is_not_made():
    X, signs = kernel_cases.rings(n=40)
    problem = kernel_cases.problem_of(X, signs)
    found = low_rank(problem, 1000)
    product = found.scale * (found.columns @ found.columns.T)
    assert product == pytest.approx(kernel_cases.gram(problem), abs=1e-6)
    linear = low_rank(kernel_cases.problem_of(X, signs, kernel="linear"), 10)
    assert linear.columns.shape == (40, 2)
    assert linear.unexplained == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("name", kernel_cases.KERNELS)
@pytest.mark.parametrize("rank", [7, 1000])
def test_centred_columns_keep_the_distances(name, rank):
    """Of all columns, and up to what the ones that are missing can add."""
    X, signs = kernel_cases.rings(n=50)
    problem = kernel_cases.problem_of(X + 30.0, signs, **kernel_cases.KERNELS[name])
    K = kernel_cases.gram(problem)
    found = low_rank(problem, rank, centred=True)
    product = found.scale * (found.columns @ found.columns.T)
    wanted, have = distances(K), distances(product)
    assert np.all(have <= wanted + 1e-6 * wanted.max())
    if rank > len(X):
        assert have == pytest.approx(wanted, abs=1e-6 * wanted.max())


def distances(K):
    return K.diagonal()[:, None] + K.diagonal() - 2.0 * K


@pytest.mark.parametrize("size", [1e-60, 1e60])
def test_columns_are_about_1_whatever_the_kernel_is(size):
    X, signs = kernel_cases.rings(n=50)
    found = low_rank(kernel_cases.problem_of(size * X, signs, kernel="linear"), 10, centred=True)
    assert 0.5 < np.abs(found.columns).max() < 2.0
    assert found.columns.shape[1] == 2


def test_all_and_some_columns_are_the_same(monkeypatch):
    X, signs = kernel_cases.rings(n=40)
    problem = kernel_cases.problem_of(X, signs, kernel="poly", gamma=1.0, coef0=1.0, degree=3)
    at_once = low_rank(problem, 40, centred=True)
    monkeypatch.setattr(low_rank_module, "AT_ONCE", 10)
    one_by_one = low_rank(problem, 40, centred=True)
    assert at_once.columns.shape[1] == one_by_one.columns.shape[1] == problem.highest_rank - 1  # no constant
    assert np.abs(at_once.columns) == pytest.approx(np.abs(one_by_one.columns), abs=1e-6)


@pytest.mark.parametrize("X", [np.full((4, 2), 3.0), sparse.csr_array((4, 2))])
def test_rows_that_are_all_equal_have_one_column_of_zeros(X):
    problem = kernel_cases.problem_of(X, np.array([1.0, -1.0, 1.0, -1.0]), kernel="linear")
    assert not low_rank(problem, 10, centred=True).columns.any()
