"""Products of wide sparse rows in two pieces, against those of the rows as they are."""

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin.certificates import kernel_duality
from maxmargin.problems.kernels import KernelChoice, product, rows_of, sparse_products


def words(n, seed, d=60):
    """Rows of words, from such as nearly all have to such as none has; one row is empty."""
    random = np.random.default_rng(seed)
    X = np.where(random.random((n, d)) < np.geomspace(0.9, 1e-3, d), random.normal(size=(n, d)), 0.0)
    X[3] = 0.0
    X[:, -2:] = 0.0
    return X


each_share = pytest.mark.parametrize("frequent", [0.0, 0.03, 0.5, 1.0])


@each_share
def test_pieces_are_the_rows(frequent, monkeypatch):
    monkeypatch.setattr(sparse_products, "FREQUENT", frequent)
    X, others = words(80, 0), words(50, 1)
    is_frequent = sparse_products.frequent_columns(sparse.csr_array(X))
    assert np.array_equal(is_frequent, np.count_nonzero(X, axis=0) > frequent * 80)
    rows, columns = (
        sparse_products.parted(sparse.csr_array(Z), np.sum(Z**2, axis=1), is_frequent) for Z in (others, X)
    )
    assert np.array_equal(rows.frequent.toarray(), others[:, is_frequent])
    assert np.array_equal(rows.rare.toarray(), others[:, ~is_frequent])
    found = sparse_products.product(rows[10:30], sparse_products.as_columns(columns[5:80]))
    assert found == pytest.approx(others[10:30] @ X[5:80].T, rel=1e-13, abs=1e-13)
    assert np.array_equal(rows[10:30].squares, np.sum(others[10:30] ** 2, axis=1))


@each_share
@pytest.mark.parametrize("name", ["linear", "poly", "rbf"])
def test_sums_are_those_of_an_array(name, frequent, monkeypatch):
    """Of other rows, of rows among themselves, and with their sizes."""
    X, others = words(600, 2), words(300, 3)
    choice = KernelChoice(name, 0.2, 0.5, 3)
    coefficients = np.random.default_rng(4).normal(size=(600, 2))
    monkeypatch.setattr(sparse_products, "FREQUENT", frequent)
    monkeypatch.setattr(product, "DENSE_BLOCK", 0)
    found = []
    for form in (np.asarray, sparse.csr_array):
        kernel = choice.on(sparse.csr_array(X))  # not shifted
        A, B, sizes = kernel.points(form(others)), kernel.points(form(X)), np.zeros(300)
        sums = kernel.combine(A, B, coefficients, None, sizes)
        found.append((sums, sizes, kernel.combine(A, B, coefficients), kernel.combine(B, B, coefficients)))
    for dense, thin in zip(*found, strict=True):
        assert thin == pytest.approx(dense, rel=1e-12, abs=1e-12 * np.abs(dense).max())


def test_the_error_of_the_judge_covers_both_ways(monkeypatch):
    """One and the same sum by arrays and in pieces: no farther apart than twice the bound, which says something."""
    X = words(500, 5)
    kernel = KernelChoice("rbf", 0.3, 0.0, 3).on(sparse.csr_array(X))
    coefficients = np.random.default_rng(6).random((200, 1))
    monkeypatch.setattr(product, "DENSE_BLOCK", 0)
    (sums, _, error), (others, _, _) = (
        kernel_duality.combined(kernel, points, rows_of(points, np.arange(200)), coefficients, None)
        for points in (kernel.points(form(X)) for form in (sparse.csr_array, np.asarray))
    )
    assert np.all(np.abs(sums - others)[:, 0] <= 2.0 * error)
    assert np.all(error <= 1e-11 * coefficients.sum())


def test_memory_follows_the_entries():
    """Columns that are written out have at most 1 / FREQUENT numbers for each entry."""
    X = sparse.csr_array(words(1000, 7, d=500))
    is_frequent = sparse_products.frequent_columns(X)
    columns = sparse_products.as_columns(sparse_products.parted(X, np.zeros(1000), is_frequent))
    assert 0 < columns.lines.size < X.nnz / sparse_products.FREQUENT
    assert columns.rare.nnz > 0
