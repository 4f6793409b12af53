"""Kernels whose values are given: a table knows the places of its rows, and what a function returns is checked."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import polynomial_kernel

from maxmargin import KernelPerceptron, KernelSVM, StochasticSVM
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
        (np.ones(3), r"must return a table of shape \(2, 3\).* returned the shape \(3,\)$"),
        (np.ones((3, 2)), r"returned the shape \(3, 2\), which is transposed: rows are those of its first"),
        (sparse.csr_array(np.ones((3, 2))), "which is transposed"),
        (np.ones((2, 3, 1)), r"returned the shape \(2, 3, 1\)$"),
        (None, r"must return a table of shape \(2, 3\).* returned None$"),
        (1.0, r"must return a table of shape \(2, 3\).* returned 1.0$"),
        ("a word", "returned 'a word'$"),
        ([[1.0, 2.0], [3.0]], r"must return a table of shape \(2, 3\).* returned no table"),
        (np.full((2, 3), np.nan), "returned nan for row 0 and row 0; its values must be finite"),
        (np.ma.masked_equal([[1.0, 1.0, 1.0], [1.0, 2.0, 1.0]], 2.0), "returned nan for row 1 and row 1"),
        (np.ones((2, 3), dtype=complex), "are real numbers, and the kernel function returned complex128"),
        (np.ones((2, 3), dtype="m8[s]"), "are real numbers, and the kernel function returned timedelta64"),
        (np.full((2, 3), "1"), "are real numbers, and the kernel function returned <U1"),
        (np.array([[1, 2, 3], [4, 5, "six"]], dtype=object), "are real numbers, .*'six'"),
    ],
)
def test_what_a_function_must_not_return(returned, words):
    kernel = Function(function=lambda A, B: returned)
    with pytest.raises(ValueError, match=words):
        kernel.values(kernel.points(np.eye(3)[:2]), kernel.points(np.eye(3)))


@pytest.mark.parametrize("form", [np.asfortranarray, sparse.csr_array, pd.DataFrame, np.float32, np.ndarray.tolist])
def test_forms_that_a_function_may_return(form):
    kernel, X = Function(function=lambda A, B: form(formula(A, B))), thin(9, 4)
    values = kernel.values(kernel.points(X), kernel.points(X[:5]))
    assert np.allclose(values, formula(X, X[:5]))
    assert values.flags.writeable
    assert values.dtype == np.float64


@pytest.mark.parametrize("writeable", [True, False])
@pytest.mark.parametrize("estimator", [KernelSVM(C=0.01), KernelSVM(C=np.inf), KernelPerceptron(), StochasticSVM()])
def test_what_a_function_keeps_is_not_written_to(estimator, writeable):
    """Or else the next fit would prove something of other values."""
    kept = {}

    def known(A, B):
        key = A.tobytes(), B.tobytes()
        if key not in kept:
            kept[key] = np.exp(-((A[:, None] - B) ** 2).sum(axis=2))
            kept[key].flags.writeable = writeable
        return kept[key]

    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.arange(40) % 2
    first, again = (clone(estimator).set_params(kernel=known).fit(X, y) for _ in range(2))
    assert kept
    for (A, B), values in kept.items():
        A, B = (np.frombuffer(rows).reshape(-1, 3) for rows in (A, B))
        assert np.array_equal(values, np.exp(-((A[:, None] - B) ** 2).sum(axis=2)))
    assert str(first.certificate_) == str(again.certificate_)
