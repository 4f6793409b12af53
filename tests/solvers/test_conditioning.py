"""Other coordinates: the same planes and values, and proofs where rounding stopped the solvers."""

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin import LinearSVM
from maxmargin.problems.losses import SQUARED_HINGE
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import SoftMargin
from maxmargin.solvers.interior_point.conditioning import LARGEST, from_a_better_place


def far_table(n, d, form, seed, offset=1e4):
    """Columns far from zero; labels that are noisy; prices over six powers of ten."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    y = np.where(X @ random.normal(size=d) + random.normal(size=n) > 0.0, 1, -1)
    y[:2] = [1, -1]
    return form(X + offset), y, 10.0 ** random.uniform(-3.0, 3.0, n)


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "origin"])
@pytest.mark.parametrize("shape", [(40, 5), (1, 1), (6, 6), (5, 12)], ids=str)
@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_array], ids=["float64", "float32", "csr"])
def test_lengths_and_values_stay(shape, form, bias):
    X, y, prices = far_table(*shape, form, seed=1) if shape != (1, 1) else (form(np.array([[1e4]])), [1], [1.0])
    problem = SoftMargin(X, np.asarray(y, dtype=float), np.asarray(prices), SQUARED_HINGE, bias)
    seen = []

    def solver(placed, w):
        seen.append(placed)
        assert placed.X @ w == pytest.approx(rows @ old - (old @ rows.mean(axis=0) if bias else 0.0), abs=1e-9)
        w = np.random.default_rng(2).normal(size=placed.n_columns)
        yield Iterate(w, 0.5 if bias else 0.0, np.ones(placed.n_rows), True)

    rows = X.toarray() if sparse.issparse(X) else X.astype(float)
    old = np.random.default_rng(5).normal(size=shape[1])
    [solution] = from_a_better_place(problem, old, solver)
    [placed] = seen
    w = np.random.default_rng(2).normal(size=placed.n_columns)
    assert np.linalg.norm(solution.w) == pytest.approx(np.linalg.norm(w), rel=1e-12)
    assert rows @ solution.w + solution.b == pytest.approx(placed.X @ w + (0.5 if bias else 0.0), abs=1e-9)
    assert placed.n_columns == min(shape)
    if not bias and shape[1] > 1:
        assert sorted(np.abs(placed.X).max(axis=0))[-2] < 10.0  # all that is far is in one column


def test_a_large_table_stays_where_it_is():
    X = np.broadcast_to(np.float64(1.0), (LARGEST + 1, 1))
    n = len(X)
    problem = SoftMargin(X, np.ones(n), np.ones(n), SQUARED_HINGE, True)
    assert list(from_a_better_place(problem, np.zeros(1), pytest.fail)) == []


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "origin"])
@pytest.mark.parametrize(
    ("shape", "offset"), [((30, 1), 1e4), ((30, 100), 1e5), ((300, 30), 1e6), ((5, 10), 1e6)], ids=str
)
@pytest.mark.parametrize("form", [np.float32, sparse.csr_array], ids=["float32", "csr"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_far_columns_and_prices_of_all_sizes_are_proven(loss, shape, offset, form, bias):
    X, y, weights = far_table(*shape, form, seed=3, offset=offset)
    svm = LinearSVM(100.0, loss=loss, fit_intercept=bias, tol=1e-6).fit(X, y, sample_weight=weights)
    assert svm.certificate_.is_optimal
    assert svm.certificate_.verify(X, y, sample_weight=weights)


def test_columns_in_units_of_all_sizes_are_proven():
    random = np.random.default_rng(4)
    X = random.normal(size=(100, 150)) * 10.0 ** random.integers(-4, 5, size=150)
    y, weights = random.choice([-1, 1], 100), 10.0 ** random.uniform(-3.0, 3.0, 100)
    svm = LinearSVM(1000.0, loss="squared_hinge", tol=1e-4).fit(X, y, sample_weight=weights)
    assert svm.certificate_.is_optimal
