"""Kernels of products: what `values` and `combine` compute, in every form of the table, against the formulas."""

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from maxmargin.problems.kernels import KernelChoice, product, rows_of
from maxmargin.problems.kernels.product import power


def thin(n=600, d=30, seed=0, share=0.9):
    random = np.random.default_rng(seed)
    return np.where(random.random((n, d)) < share, 0.0, random.normal(size=(n, d)) + 1.0)


def formula(name, A, B):
    if name == "linear":
        return A @ B.T
    if name == "poly":
        return polynomial_kernel(A, B, gamma=0.2, coef0=0.5, degree=3)
    return rbf_kernel(A, B, gamma=0.2)


def choice(name):
    return KernelChoice(name, 0.2, 0.5, 3)


def as_it_is(X):
    return X


FORMS = [as_it_is, sparse.csr_array, sparse.csr_matrix]


@pytest.mark.parametrize("name", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [0.9, 0.3])
def test_values_and_sums_are_those_of_the_formula(name, form, share):
    X, others = thin(share=share), thin(700, seed=1, share=share)
    kernel = choice(name).on(form(X))
    A, B = kernel.points(form(others)), kernel.points(form(X))
    table = formula(name, others, X)
    assert np.allclose(kernel.values(A, B), table, rtol=1e-12)
    coefficients = np.random.default_rng(2).normal(size=(600, 3))
    assert np.allclose(kernel.combine(A, B, coefficients), table @ coefficients, rtol=1e-12, atol=1e-10)
    assert np.allclose(kernel.diagonal(B), np.diag(formula(name, X, X)))
    some = np.array([5, 3, 599])
    assert np.allclose(kernel.values(rows_of(A, some), B), table[some], rtol=1e-12)


@pytest.mark.parametrize("name", ["poly", "rbf"])
def test_wide_sparse_rows_are_not_written_out(name, monkeypatch):
    X = sparse.csr_array(thin())
    kernel = choice(name).on(X)
    points = kernel.points(X)
    written = kernel.combine(points, points, np.ones((600, 1)))
    monkeypatch.setattr(product, "DENSE_BLOCK", 0)
    assert sparse.issparse(kernel.right_factor(points))
    assert np.allclose(kernel.combine(points, points, np.ones((600, 1))), written, rtol=1e-12)


def test_gamma_by_name():
    X = thin()
    for table in (X, sparse.csr_array(X)):
        assert KernelChoice("rbf", "auto", 0.0, 3).on(table).gamma == 1.0 / 30
        assert KernelChoice("rbf", "scale", 0.0, 3).on(table).gamma == pytest.approx(1.0 / (30 * X.var()))
    assert KernelChoice("rbf", "scale", 0.0, 3).on(np.ones((3, 2))).gamma == 1.0


def test_rows_that_are_equal_have_the_value_one():
    X = np.random.default_rng(0).normal(size=(50, 7)) * 100.0
    kernel = KernelChoice("rbf", 3.0, 0.0, 3).on(X)
    points = kernel.points(X)
    assert np.all(kernel.values(points, points) <= 1.0)
    assert np.all(kernel.combine(points, points, np.eye(50)) <= 1.0)
    assert np.allclose(np.diag(kernel.values(points, points)), 1.0)


@pytest.mark.parametrize("degree", range(8))
def test_powers(degree):
    base = np.array([-2.0, 0.0, 0.5, 3.0])
    assert np.array_equal(power(base, degree), base**degree)
