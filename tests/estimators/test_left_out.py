"""Where the best plane can be: the interval of its bias, and the rows without which all is the same."""

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin import HardMarginSVM, LinearSVM
from maxmargin.data.synthetic import overlapping, street
from maxmargin.estimators.left_out import best_plane_near, bias_of_soft, centred
from maxmargin.problems.losses import HINGE, MODIFIED_HUBER, SQUARED_HINGE
from maxmargin.problems.statement import SoftMargin, best_bias


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE, MODIFIED_HUBER])
@pytest.mark.parametrize("seed", range(5))
def test_the_best_bias_of_all_values_that_near_is_in_the_interval(loss, seed):
    rng = np.random.default_rng(seed)
    signs = np.where(np.arange(31) % 3 == 0, 1.0, -1.0)
    values, off, costs = rng.normal(size=31) + signs, rng.uniform(0.0, 0.4, 31), rng.uniform(0.5, 2.0, 31)
    problem = SoftMargin(np.zeros((31, 1)), signs, costs, loss, True)
    low, high = bias_of_soft(values, off, signs, costs, loss)
    for shares in (np.ones(31), -np.ones(31), *rng.uniform(-1.0, 1.0, (30, 31)), *np.sign(rng.normal(size=(30, 31)))):
        assert low - 1e-9 <= best_bias(problem, values + shares * off) <= high + 1e-9
    assert high == pytest.approx(best_bias(problem, values - off), abs=1e-6)  # and no wider than that
    assert low == pytest.approx(best_bias(problem, values + off), abs=1e-6)


def test_an_interval_of_biases_that_are_all_best():
    """Two rows with a hinge: every b between them costs the same."""
    signs, values = np.array([1.0, -1.0]), np.array([0.25, -0.25])
    low, high = bias_of_soft(values, np.zeros(2), signs, np.ones(2), HINGE)
    assert (low, high) == pytest.approx((-0.75, 0.75))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "hard"])
def test_without_a_free_row_all_is_the_same(seed, loss):
    if loss == "hard":
        X, y, _ = street(30, seed=seed)
        certificate = HardMarginSVM().fit(X, y).certificate_
    else:
        X, y = overlapping(30, seed=seed, distance=3.0)
        certificate = LinearSVM(loss=loss, tol=1e-5).fit(X, y).certificate_
    rows, signs, costs, everything = centred(X, True), y.astype(float), np.ones(30), np.ones(30, dtype=bool)
    found = best_plane_near(certificate, rows, signs, costs, everything)
    assert np.count_nonzero(found.is_free) > 5
    changed = 0
    for row in range(30):
        kept = np.arange(30) != row
        without = best_plane_near(certificate, rows, signs, costs, kept)
        same = np.allclose(found.lower, without.lower, atol=1e-9) and np.allclose(found.upper, without.upper, atol=1e-9)
        assert same or not found.is_free[row]
        changed += not same
    assert changed > 0


def test_lengths_are_at_least_those_of_the_moved_rows():
    X = np.random.default_rng(0).normal(size=(20, 3)) + np.array([100.0, 0.0, -3.0])
    for table in (X, sparse.csr_array(X)):
        _, center, lengths = centred(table, True)
        true = np.linalg.norm(X - X.mean(axis=0), axis=1)
        assert center == pytest.approx(X.mean(axis=0))
        assert np.all(lengths >= true * (1.0 - 1e-15))
        assert lengths == pytest.approx(true, rel=1e-3)
    assert centred(X, False).center.tolist() == [0.0, 0.0, 0.0]
