"""A common point of hulls that overlap by much: found where there is one, on few rows, and not where there is none."""

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin import separability
from maxmargin.certificates.certificate import Verdict
from maxmargin.problems.statement import Norm, Separation
from maxmargin.solvers.hulls import nearest, overlap
from maxmargin.solvers.hulls.overlap import basic_weights, can_carry, common_point


def drawn(n, d, seed, pixels=False):
    """Rows and groups without a plane between them; `pixels`: most numbers are 0, many columns have one class only."""
    random = np.random.default_rng(seed)
    X, groups = random.standard_normal((n, d)), np.arange(n) % 2
    if pixels:
        X = np.where(random.random((n, d)) < 4.0 / n * np.arange(1, d + 1), np.abs(X), 0.0)
    return X, groups


def separation(X, groups, fit_intercept=True):
    return Separation(X, np.where(groups == 0, 1.0, -1.0), Norm.L2, fit_intercept)


@pytest.mark.parametrize("pixels", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_weights_balance_and_are_few(fit_intercept, pixels):
    for seed in range(2):
        X, groups = drawn(300, 40, seed, pixels)
        problem = separation(sparse.csr_array(X) if seed else X, groups, fit_intercept)
        found = common_point(problem, np.arange(150 * (seed + 1)))
        assert found is not None
        assert found.left < 1e-14
        assert np.all(found.weights > 0.0)
        members = groups[found.rows] if fit_intercept else np.zeros(len(found.rows), np.intp)
        np.testing.assert_allclose(np.bincount(members, found.weights), 1.0)
        Z = X[found.rows] * problem.signs[found.rows, None]
        np.testing.assert_allclose(found.weights @ Z, 0.0, atol=1e-13 * np.abs(X).max())
        assert len(found.rows) <= np.linalg.matrix_rank(Z) + 2


def test_rows_on_the_wrong_side_of_the_first_rows_plane_join_them():
    """The first rows are those that a plane separates; the point needs others."""
    X, groups = drawn(400, 20, 3)
    first = np.flatnonzero((X[:, 0] > 0.0) == (groups == 0))[:150]
    found = common_point(separation(X, groups), first)
    assert found is not None
    assert not set(found.rows) <= set(first)


@pytest.mark.parametrize("apart", [0.3, 4.0])
def test_nothing_is_found_where_a_plane_separates(apart):
    X, groups = drawn(300, 10, 0)
    X[:, 3] = np.abs(X[:, 3]) * np.where(groups == 0, 1.0, -1.0) + apart * np.where(groups == 0, 1.0, -1.0)
    X = X @ np.linalg.qr(np.random.default_rng(1).standard_normal((10, 10)))[0]  # in no single column
    assert common_point(separation(X, groups), np.arange(300)) is None


def test_columns_that_meet_in_one_number_leave_rows_out():
    #            meets at 1     only group 0, once row 3 is out
    X = np.array([[1.0, 0.0], [2.0, 0.0], [1.0, 5.0], [0.5, 5.0], [1.0, 0.0]])
    groups = np.array([0, 0, 0, 1, 1])
    signs = np.where(groups == 0, 1.0, -1.0)[:, None]
    assert can_carry(signs * X, groups, True).tolist() == [True, False, False, False, True]
    assert not can_carry(signs * (X + 9.0 * groups[:, None]), groups, True).any()
    together = np.zeros(5, np.intp)
    assert not can_carry(X, together, False).any()  # no number of the first column is 0
    Z = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, -3.0]])
    assert can_carry(Z, together[:3], False).tolist() == [False, True, True]


def test_a_basis_keeps_the_point_and_drops_rows():
    """Weights of 60 rows that balance become weights of at most 6 that do."""
    random = np.random.default_rng(5)
    rows, weights = random.standard_normal((60, 5)), random.random(60) + 0.1
    rows -= weights @ rows / weights.sum()
    found = basic_weights(rows, weights)
    assert found is not None
    kept, shares = found
    assert len(kept) <= 6
    assert np.all(shares > 0.0)
    np.testing.assert_allclose(shares @ rows[kept], 0.0, atol=1e-12)
    assert basic_weights(rows[:4], weights[:4]) is None  # fewer rows than equations


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_table_whose_hulls_overlap_is_proven_by_it(monkeypatch, fit_intercept):
    monkeypatch.setattr(nearest, "STEPS_PER_LOOK", 20)
    points, look = [], overlap.common_point
    monkeypatch.setattr(overlap, "common_point", lambda *args: points.append(look(*args)) or points[-1])
    X, groups = drawn(240, 50, 9, pixels=True)
    certificate = separability(X, groups, fit_intercept=fit_intercept)
    assert certificate.verdict in (Verdict.NOT_SEPARABLE, Verdict.WEAKLY_SEPARABLE)
    assert len(points) == 1
    assert sorted(points[0].rows) == certificate.rows.tolist()
    assert certificate.verify(X, groups)
