"""Equal rows with opposite labels."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.problems.statement import Norm, Separation
from maxmargin.solvers import copies
from maxmargin.solvers.copies import contradiction, contradictions


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
def test_every_row_that_has_an_opposite_is_found(seed, form):
    random = np.random.default_rng(seed)
    X, signs = random.integers(0, 3, (40, 3)).astype(float), random.choice([-1.0, 1.0], 40)
    rows, others = contradictions(form(X), signs)
    expected = [i for i in range(40) if any(signs[j] != signs[i] and np.array_equal(X[i], X[j]) for j in range(40))]
    assert rows.tolist() == expected
    assert np.array_equal(X[rows], X[others])
    assert np.all(signs[rows] == -signs[others])


def test_no_opposites():
    X = np.arange(12.0).reshape(6, 2)
    assert contradiction(Separation(X, np.ones(6), Norm.L2, True)) is None
    same = Separation(np.vstack([X, X]), np.ones(12), Norm.L2, True)
    assert contradiction(same) is None


def test_entries_in_any_order():
    X = sp.csr_array((np.array([1.0, 2.0, 2.0, 1.0]), np.array([0, 1, 1, 0]), np.array([0, 2, 4])), shape=(2, 2))
    found = contradiction(Separation(X, np.array([1.0, -1.0]), Norm.L2, True))
    assert found is not None
    assert found.a.tolist() == [1.0, 1.0]
    assert not X.has_sorted_indices  # the caller's table is left as it was


def test_equal_hashes_are_not_enough(monkeypatch):
    """Whatever the hash says, rows are compared number by number."""
    X = np.array([[1.0], [2.0]])
    monkeypatch.setattr(copies, "find_equal", lambda X, signs: (np.array([0]), np.array([0, 0])))
    rows, _ = contradictions(X, np.array([1.0, -1.0]))
    assert len(rows) == 0
