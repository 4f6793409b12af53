"""Inverted lists: what they hold, and that memory follows the entries of the rows."""

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin.data.executor import Threads
from maxmargin.problems.kernels import KernelChoice
from maxmargin.solvers.kernel_smo import inverted_lists, row_cache
from maxmargin.solvers.kernel_smo.inverted_lists import add_lists, inverted, parted
from maxmargin.solvers.kernel_smo.kernel_rows import SparseTable, shared_rows


def words(n=300, d=5000, entries=10, seed=0):
    """Rows of a few words each: some words are in many rows, most in hardly any."""
    random = np.random.default_rng(seed)
    chosen = (d ** random.random((n, entries))).astype(int) - 1
    X = np.zeros((n, d), dtype=np.float32)
    np.put_along_axis(X, chosen, random.random((n, entries)).astype(np.float32) + 0.5, axis=1)
    return X


def test_a_list_has_the_rows_with_an_entry():
    X = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0], [4.0, 0.0, 0.0]], dtype=np.float32)
    lists = inverted(sparse.csr_array(X), np.array([2, 0, 0]))
    assert lists.ends.tolist() == [0, 3, 3, 5]
    assert lists.places.tolist() == [0, 1, 2, 1, 2]
    assert lists.entries.tolist() == [4.0, 1.0, 1.0, 2.0, 2.0]
    out = np.full((3, 3), 10.0, dtype=np.float32)
    rows = sparse.csr_array(X)
    add_lists(rows.data, rows.indices, rows.indptr, lists, out)
    assert np.array_equal(out, 10.0 + X @ X[[2, 0, 0]].T)


@pytest.mark.parametrize("frequent", [0.0, 0.08, 1.0])
def test_the_parts_are_the_columns_that_have_entries(frequent, monkeypatch):
    monkeypatch.setattr(inverted_lists, "FREQUENT", frequent)
    X = words()
    parts, counts = parted(sparse.csr_array(X)), np.count_nonzero(X, axis=0)
    assert np.array_equal(parts.frequent.toarray(), X[:, counts > frequent * 300])
    assert np.array_equal(parts.rare.toarray(), X[:, (counts > 0) & (counts <= frequent * 300)])
    assert parts.entries_of_a_row == np.count_nonzero(X) / 300


def test_memory_follows_the_entries():
    X = sparse.csr_array(words().astype(float))
    kernel = KernelChoice("rbf", 0.1, 0.0, 3).on(X)
    with Threads() as threads:
        rows = shared_rows(kernel, kernel.points(X), threads).rows
    assert isinstance(rows, SparseTable)
    assert 0 < rows.lines.size < X.nnz / inverted_lists.FREQUENT
    assert 0 < len(rows.lists.places) < X.nnz


def test_light_rows_have_more_slots_where_they_come_back(monkeypatch):
    """Few to begin with; the values are right all the while, and memory is touched as far as it is in use."""
    monkeypatch.setattr(row_cache, "FIRST", 10)
    monkeypatch.setattr(row_cache, "TOGETHER", 3)
    X = sparse.csr_array(words().astype(float))
    kernel = KernelChoice("rbf", 0.1, 0.0, 3).on(X)
    points = kernel.points(X)
    expected, random, in_use = kernel.values(points, points), np.random.default_rng(1), []
    with Threads() as threads:
        rows = shared_rows(kernel, points, threads).rows
        assert rows.are_light
        memories = row_cache.rooms_for(rows, 1e8)
        assert memories[0] is memories[1]
        cache = row_cache.RowCache(rows, memories[0])
        for start in (0, 10, 20, 30):
            cache.slots(np.arange(start, start + 10))
            in_use.append(cache.in_use)
        for _ in range(30):
            chosen = random.permutation(40)[:8]
            assert cache.values[cache.slots(chosen)] == pytest.approx(expected[chosen], abs=1e-6)
            in_use.append(cache.in_use)
    assert in_use[:4] == [10] * 4  # new rows are no reason
    assert in_use[-1] == 40
    assert np.all(cache.owner[40:] == -1)
