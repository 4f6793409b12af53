"""The matrix of a Newton step and its factor, against plain NumPy."""

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin.data.table import rows_of
from maxmargin.solvers.interior_point.normal_equations import CHUNK, Factor, add_outer_products, factor, padded

FORMS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "csr": sparse.csr_array,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (7, 3), (CHUNK, 9), (CHUNK - 1, 30)])
def test_outer_products_are_summed(form, rows, columns):
    random = np.random.default_rng(0)
    table = random.integers(-3, 4, (2 * CHUNK, columns)).astype(float)
    chosen = np.sort(random.choice(2 * CHUNK, rows, replace=False))
    t, extra = random.random(CHUNK), random.standard_normal((CHUNK, 2))
    centre = np.zeros(columns) if form == "csr" else random.standard_normal(columns)
    width = padded(columns + 2)
    M, buffer = np.zeros((width, width)), np.zeros((CHUNK, width))
    add_outer_products(rows_of(FORMS[form](table)), chosen, centre, t, extra, buffer, M)
    z = np.hstack([table[chosen] - centre, extra[:rows]])
    expected = z.T @ (t[:rows, None] * z)
    k = columns + 2
    assert np.tril(M[:k, :k]) == pytest.approx(np.tril(expected), abs=1e-10)


@pytest.mark.parametrize("n", [1, 2, 5, 31, 32, 33, 70])
def test_factor_is_the_one_of_cholesky(n):
    B = np.random.default_rng(n).standard_normal((2 * n, n))
    L = B.T @ B
    expected = np.linalg.cholesky(L)
    assert factor(L)
    assert np.tril(L) == pytest.approx(expected, abs=1e-10)


def test_factor_refuses_what_is_not_positive_definite():
    assert not factor(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert not factor(np.array([[np.nan]]))


def test_badly_scaled_and_singular_systems_are_solved():
    scale = np.array([1e-8, 1.0, 1e8])
    M = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]]) * scale * scale[:, None]
    expected = np.array([1.0, 2.0, 3.0]) / scale
    assert np.allclose(Factor(M).solve(M @ expected) * scale, [1.0, 2.0, 3.0])
    singular = np.ones((4, 4))
    solved = Factor(singular)
    assert solved.good
    assert np.allclose(singular @ solved.solve(np.ones(4)), 1.0)


def test_hopeless_systems_are_named():
    assert not Factor(np.array([[1.0, 5.0], [5.0, 1.0]])).good
