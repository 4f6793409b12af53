"""Kernels whose values are given: a table knows the places of its rows, and what a function returns is checked."""

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.metrics.pairwise import polynomial_kernel

from maxmargin.problems.kernels import Function, KernelChoice, Precomputed, rows_of

FORMS = [np.asarray, sparse.csr_array, sparse.csr_matrix]


def thin(n=600, d=30):
    random = np.random.default_rng(0)
    return np.where(random.random((n, d)) < 0.9, 0.0, random.normal(size=(n, d)) + 1.0)


def formula(A, B):
    return polynomial_kernel(A, B, gamma=0.2, coef0=0.5, degree=3)


@pytest.mark.parametrize("form", FORMS)
def test_a_table_knows_the_places_of_its_rows(form):
    X = thin(500)
    table, rows = form(formula(X, X)), np.arange(0, 500, 2)
    kernel = Precomputed()
    points = kernel.points(table[rows], rows)
    some = rows_of(points, np.arange(10, 90))
    expected = formula(X[rows], X[rows[10:90]])
    assert np.allclose(kernel.values(points, some), expected)
    assert np.allclose(kernel.diagonal(points), np.diag(formula(X[rows], X[rows])))
    sizes = np.zeros(250)
    sums = kernel.combine(points, some, -np.ones((80, 2)), sizes=sizes)
    assert np.allclose(sums, -np.stack([expected.sum(axis=1)] * 2, axis=1))
    assert np.allclose(sizes, 2.0 * np.abs(expected).sum(axis=1))


def test_a_function_is_called_on_blocks():
    calls = []

    def inner(A, B):
        calls.append((len(A), len(B)))
        return A @ B.T

    X = thin(1500, 4)
    kernel = KernelChoice(inner, 1.0, 0.0, 3).on(X)
    points = kernel.points(X)
    assert isinstance(kernel, Function)
    assert np.allclose(kernel.combine(points, points, np.ones((1500, 1)))[:, 0], X @ X.sum(axis=0))
    assert sorted(calls) == [(476, 476), (476, 1024), (1024, 476), (1024, 1024)]


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (lambda A, B: np.ones(3), r"must return a table of shape \(2, 2\)"),
        (lambda A, B: np.full((2, 2), np.nan), "returned nan for row 0 and row 0"),
    ],
)
def test_what_a_function_must_not_return(returned, words):
    kernel = Function(function=returned)
    points = kernel.points(np.eye(2))
    with pytest.raises(ValueError, match=words):
        kernel.values(points, points)
