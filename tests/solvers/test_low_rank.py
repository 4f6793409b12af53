"""Pivoted Cholesky: G G' below K, exact at full rank, and the trace that is left."""

import kernel_cases
import numpy as np
import pytest

from maxmargin.solvers.low_rank import low_rank


@pytest.mark.parametrize("name", kernel_cases.KERNELS)
def test_the_rest_is_positive_semidefinite(name):
    X, signs = kernel_cases.rings(n=50)
    problem = kernel_cases.problem_of(X, signs, **kernel_cases.KERNELS[name])
    K = kernel_cases.gram(problem)
    found = low_rank(problem, 4)
    rest = K - found.columns @ found.columns.T
    assert np.linalg.eigvalsh(rest)[0] >= -1e-9 * np.trace(K)
    assert found.unexplained == pytest.approx(np.trace(rest) / np.trace(K), abs=1e-9)
    assert found.columns.shape[1] == len(found.pivots) == len(set(found.pivots))


def test_full_rank_is_the_kernel_and_more_is_not_made():
    X, signs = kernel_cases.rings(n=40)
    problem = kernel_cases.problem_of(X, signs)
    found = low_rank(problem, 1000)
    assert found.columns @ found.columns.T == pytest.approx(kernel_cases.gram(problem), abs=1e-6)
    linear = low_rank(kernel_cases.problem_of(X, signs, kernel="linear"), 10)
    assert linear.columns.shape == (40, 2)
    assert linear.unexplained == pytest.approx(0.0, abs=1e-12)
