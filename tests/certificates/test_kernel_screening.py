"""What float32 says of the rows that carry no weight: the bound holds on nasty numbers, and no row that pays is missed.

The oracle takes differences, squares and exponentials in long doubles, pair by pair.
"""

import math

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin.certificates import kernel_duality
from maxmargin.certificates.kernel_duality import direction, least_gap, measure
from maxmargin.certificates.kernel_screening import is_near, is_worth_it, summed_in_float32
from maxmargin.problems.kernels import KernelChoice, Rbf, rows_of
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin

LONG = np.longdouble


def kernel_table(X, others, gamma):
    """exp(-gamma |x - x'|^2) in long doubles."""
    X, others = (np.asarray(T.toarray() if sparse.issparse(T) else T).astype(LONG) for T in (X, others))
    return np.exp(-LONG(gamma) * np.sum((X[:, None] - others[None]) ** 2, axis=2))


def nasty_table(random, n, d):
    """Rows that are ordinary, far from zero, far apart, equal, all of one sign, or so small that float32 loses them."""
    X = random.normal(size=(n, d))
    match random.integers(7):
        case 1:
            X += 10.0 ** random.integers(0, 8)
        case 2:
            X *= 10.0 ** random.integers(-6, 6, size=(n, 1))
        case 3:
            X[:] = X[random.integers(3, size=n)]
        case 4:
            X = np.abs(X)
        case 5:
            X *= 10.0 ** random.integers(-170, -20)
        case 6:
            X *= 10.0 ** random.integers(-30, 30, size=(1, d))
    return X


def nasty_weights(random, m):
    """Two columns of nonnegative numbers that may cancel, differ by many orders, or be beyond float32."""
    weights = random.random((m, 2)) * (random.random((m, 2)) < 0.8)
    match random.integers(5):
        case 1:
            weights[:, 1] = weights[:, 0]
        case 2:
            weights *= 10.0 ** random.integers(-60, 60, size=(m, 1))
        case 3:
            weights *= 10.0 ** random.integers(-300, 300)
        case 4:
            weights[:] = 1.0
    return weights


def nasty_gamma(random, X):
    size = float(np.median(np.sum(X * X, axis=1))) or 1.0
    return float(random.choice([1.0 / size, 30.0 / size, 1e-3 / size, 1.0, 1e-30, 1e30]))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_bound_holds(form):
    random = np.random.default_rng(1)
    told = split = 0
    for _ in range(150):
        m, d = int(random.integers(1, 200)), int(random.choice([1, 3, 20, 300, 900]))
        X = nasty_table(random, 30 + m, d)
        if form is sparse.csr_array:
            X[random.random(X.shape) < 0.7] = 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            gamma = nasty_gamma(random, X)
            shift = None if form is sparse.csr_array or random.integers(2) else X.mean(axis=0)
            kernel = Rbf(gamma, shift=shift)
            X = form(X)
            points, weights = kernel.points(X), nasty_weights(random, m)
            B = rows_of(points, np.arange(30, 30 + m))
            near, others = (np.flatnonzero(rows) for rows in is_near(kernel, rows_of(points, np.arange(30)), B))
            if len(near):  # some of B far away: these in float64
                A = rows_of(points, near)
                sums, _, error = kernel_duality.mostly_in_float32(kernel, A, B, weights, None)
                real = kernel_table(X[near], X[30:], gamma) @ weights.astype(LONG)
                known = np.isfinite(error)
                assert np.all(np.abs(sums - real).sum(axis=1)[known] <= error[known])
                split += bool(0 < len(others) < m and known.any())
        if not len(near) or not len(others):
            continue
        B, weights = rows_of(B, others), weights[others]
        sums, sizes, error = summed_in_float32(kernel, rows_of(points, near), B, weights, None)
        real = kernel_table(X[near], X[30 + others], gamma) @ weights.astype(LONG)
        assert np.all(np.abs(sums - real).sum(axis=1) <= error)
        assert np.all(np.abs((sums[:, 0] - sums[:, 1]) - (real[:, 0] - real[:, 1])) <= error)
        assert np.all(real.sum(axis=1) <= sizes)
        told += bool(np.median(error) < 1e-3 * np.median(sizes))
    assert told > 50  # and it says something
    assert split > 5


def test_what_float32_cannot_hold_is_out_of_reach():
    kernel = Rbf(1.0)
    X = np.array([[0.0], [1.0], [1e6], [1e30], [1e200], [60.0]])
    with np.errstate(over="ignore"):
        points = kernel.points(X)
        near = rows_of(points, slice(0, 2))
        expected = [True, True, False, False, False, True]
        assert [rows.tolist() for rows in is_near(kernel, points, near)] == [expected, [True, True]]
        assert [rows.tolist() for rows in is_near(kernel, near, points)] == [[True, True], expected]
    assert is_worth_it(kernel, near, near, 1.0).all()
    assert not is_worth_it(kernel, near, near, 1e6).any()  # the error would be too large


def test_a_sparse_table_that_is_too_wide_is_out_of_reach():
    kernel, rows = Rbf(1.0), sparse.csr_array((3, 2**24), dtype=np.float64)
    points = kernel.points(rows)
    assert not np.any(is_near(kernel, points, points))


def test_rows_of_so_many_columns_that_their_roundings_multiply_are_out_of_reach():
    kernel = Rbf(1e-9)
    for form, n_columns, reached in (
        (sparse.csr_array, 50_000, True),
        (sparse.csr_array, 100_000, False),
        (np.asarray, 100_000, True),  # some at a time
    ):
        points = kernel.points(form(np.ones((2, n_columns))))
        assert [rows.tolist() for rows in is_near(kernel, points, points)] == [[reached] * 2] * 2


def clouds(random, n=600, d=4, C=1.0, overlap=1.0):
    """Two clouds, some weights that are no solution, and rows without any."""
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = random.normal(size=(n, d)) + signs[:, None] / overlap
    kernel = KernelChoice("rbf", "scale", 0.0, 1).on(X)
    problem = KernelMargin(X, signs, np.full(n, C), HINGE, True, kernel, kernel.points(X))
    a = C * random.random(n) * (random.random(n) < 0.3)
    return problem, a


def in_float64_only(monkeypatch, *args, **kwargs):
    with monkeypatch.context() as patched:
        patched.setattr(kernel_duality, "can_be_screened", lambda problem: False)
        return measure(*args, **kwargs)


@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0, 1e5])
def test_both_sides_are_what_float64_alone_says(monkeypatch, C):
    random = np.random.default_rng(5)
    for overlap in (0.2, 1.0, 5.0):
        problem, a = clouds(random, C=C, overlap=overlap)
        for b in (None, 0.0, 0.7):
            mixed, plain = measure(problem, a, b=b), in_float64_only(monkeypatch, problem, a, b=b)
            assert mixed.primal == pytest.approx(plain.primal, rel=1e-9)
            assert abs(mixed.dual - plain.dual) <= mixed.dual_error + plain.dual_error
            assert mixed.primal_error < 1e-9 * mixed.primal
            if b is not None:
                assert abs(mixed.primal - plain.primal) <= mixed.primal_error + plain.primal_error
                assert np.all(np.abs(mixed.values - plain.values) <= mixed.off + plain.off)


def test_no_row_that_pays_a_little_is_missed():
    """The bias puts a row without weight so near to its edge that float32 cannot tell on which side it is."""
    random = np.random.default_rng(2)
    problem, a = clouds(random)
    a[:100] = 0.0
    values = measure(problem, a).values
    K = kernel_table(problem.X, problem.X, problem.kernel.gamma)
    sums = [a[problem.signs == s].sum() for s in (1, -1)]
    scaled = a * np.where(problem.signs > 0, min(sums) / sums[0], min(sums) / sums[1])
    real = K @ (scaled * problem.signs).astype(LONG)
    for row in range(100):
        for pays in (1e-9, 1e-7, -1e-7):
            b = float(problem.signs[row] * (1.0 - pays) - real[row])
            found = measure(problem, a, b=b)
            loss = np.maximum(0.0, 1.0 - problem.signs * (real + b)).sum()
            primal = 0.5 * (scaled * problem.signs) @ real + loss
            assert abs(found.primal - primal) <= found.primal_error + 1e-16 * primal
            assert (found.slack[row] > 0.0) == (pays > 0.0)
            assert found.off[row] < 1e-11
    assert np.all(np.isfinite(values))


def test_rows_far_away_and_among_them_equal_ones():
    random = np.random.default_rng(3)
    X = np.concatenate([random.normal(size=(60, 2)), 1e7 + np.zeros((5, 2)), np.ones((20, 2))])
    signs = np.where(np.arange(85) % 2, 1.0, -1.0)
    kernel = Rbf(1.0)
    problem = KernelMargin(X, signs, np.ones(85), HINGE, True, kernel, kernel.points(X))
    a = np.where(np.arange(85) < 40, 0.5, 0.0)
    found = measure(problem, a, b=0.1)
    real = kernel_table(X, X, 1.0) @ (a * signs).astype(LONG)
    primal = 0.5 * (a * signs) @ real + np.maximum(0.0, 1.0 - signs * (real + 0.1)).sum()
    assert abs(found.primal - primal) <= found.primal_error
    assert np.all(np.abs(found.values - real) <= found.off)


def test_what_the_rows_with_weight_say_of_the_gap_is_no_more_than_it_is():
    random = np.random.default_rng(4)
    for C in (0.1, 1.0, 10.0):
        problem, a = clouds(random, C=C)
        w = direction(problem, a, None)
        assert np.array_equal(np.isnan(w.values), a == 0.0)
        found = measure(problem, a)
        assert 0.0 < least_gap(problem, w) <= (found.primal - found.dual) / found.primal + 1e-12
    assert least_gap(problem, direction(problem, np.zeros(len(a)), None)) <= 1.0
    assert math.isfinite(found.primal)
