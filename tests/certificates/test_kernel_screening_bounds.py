"""What float32 may lose, term by term: the bound is the one that the analysis gives, at the edges of its conditions."""

import math

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin.certificates import kernel_screening
from maxmargin.certificates.kernel_screening import is_near, is_worth_it, product, rate, summed_in_float32
from maxmargin.problems.kernels import Points, Rbf, rows_of

U = 2.0**-24
LEAST = 5e-324
RBF = Rbf(0.5)


def points_with(squares, n_columns=1):
    """Rows of which only |x|^2 is asked."""
    squares = np.asarray(squares, dtype=float)
    return Points(np.zeros((len(squares), n_columns)), squares, np.arange(len(squares)))


def close(value, rel=1e-6):
    return pytest.approx(value, rel=rel, abs=0.0)


def slow_sums(kernel, A, B, coefficients):
    A, B = (T.toarray() if sparse.issparse(T) else T for T in (A, B))
    distances = ((A[:, None].astype(np.longdouble) - B[None]) ** 2).sum(axis=2)
    return np.exp(-np.longdouble(kernel.gamma) * distances) @ coefficients


@pytest.mark.parametrize(
    ("n_columns", "terms"),
    [(1, 1), (100, 100), (129, 129), (130, 130), (131, 130), (253, 130), (254, 131), (1000, 136)],
)
def test_the_rate_of_dense_rows(n_columns, terms):
    """Rows (z, -h, -1), 128 of their columns at a time: 128 terms, then as many sums as there are parts."""
    A, B = points_with([1.0], n_columns), points_with([2.0, 3.0], n_columns)
    assert rate(A, B) == close(2.04 * (terms + 8) * U)


def test_the_rate_of_sparse_rows_is_that_of_their_entries():
    A = RBF.points(sparse.csr_array(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])))
    B = RBF.points(sparse.csr_array(np.array([[1.0, 2.0, 3.0]])))
    assert rate(A, B) == rate(B, A) == close(2.04 * 11 * U)
    assert rate(A, A) == close(2.04 * 9 * U)
    long = RBF.points(sparse.csr_array(np.ones((1, 500))))
    assert rate(long, long) == close(2.04 * 508 * U)


def test_the_edge_of_what_is_near():
    """r (h + h') is below 1 %: each of the two has half of it. h = gamma |x|^2."""
    edge = 0.005 / (2.04 * 9 * U) / 0.5
    squares = [edge * (1.0 - 1e-9), edge * (1.0 + 1e-9), 0.0, math.inf, math.nan]
    expected = [True, False, True, False, False]
    one, other = is_near(RBF, points_with(squares), points_with([1.0, 2.0 * edge]))
    assert one.tolist() == expected
    assert other.tolist() == [True, False]
    one, other = is_near(RBF, points_with([1.0, 2.0 * edge]), points_with(squares))
    assert one.tolist() == [True, False]
    assert other.tolist() == expected


def test_the_edge_of_a_square_is_still_near():
    r = rate(points_with([0.0]), points_with([0.0]))
    kernel = Rbf(1.0)
    edge = 0.5 * 0.01 / r
    found = is_near(kernel, points_with([edge, math.nextafter(edge, math.inf)]), points_with([edge]))
    assert [rows.tolist() for rows in found] == [[True, False], [True]]


def test_roundings_that_multiply_are_out_of_reach():
    most = int(0.01 / (2.04 * U)) - 8  # r <= 1 %
    for entries, reached in ((most, True), (most + 1, False)):
        row = sparse.csr_array((np.full(entries, 1e-9), np.arange(entries), [0, entries]), shape=(1, entries))
        points = RBF.points(row)
        assert [rows.tolist() for rows in is_near(RBF, points, points)] == [[reached], [reached]]


def test_sparse_rows_that_carry_weight_are_written_out(monkeypatch):
    monkeypatch.setattr(kernel_screening, "MOST_NUMBERS", 12)
    A = RBF.points(sparse.csr_array(np.ones((9, 4))))
    for n, reached in ((3, True), (4, False)):
        near = is_near(RBF, A, RBF.points(sparse.csr_array(np.ones((n, 4)))))
        assert [rows.tolist() for rows in near] == [[reached] * 9, [reached] * n]
    dense = RBF.points(np.ones((9, 4)))
    assert np.all(is_near(RBF, dense, dense)[0])


def test_some_megabytes_may_be_written_out():
    assert 2**20 <= kernel_screening.MOST_NUMBERS <= 2**26


def test_the_edge_of_what_is_worth_it():
    """(2 r h + (64 + 16) u) S <= 0.6."""
    r = 2.04 * 9 * U
    A = points_with([0.0, 1000.0, 4000.0])
    for row, h in enumerate((0.0, 500.0, 2000.0)):
        edge = 0.6 / (2.0 * r * h + 80.0 * U)
        for size, worth in ((edge * (1.0 - 1e-9), True), (edge * (1.0 + 1e-9), False)):
            assert is_worth_it(RBF, A, A, size)[row] == worth


def test_an_error_at_the_very_edge_is_worth_it():
    size = next(s for s in (0.6 / (80.0 * U) * (1.0 + k * 2.0**-53) for k in range(-9, 10)) if 80.0 * U * s == 0.6)
    assert is_worth_it(RBF, points_with([0.0]), points_with([0.0]), size).tolist() == [True]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_error_of_sums_in_float32(form):
    """1.05 ((r h + 80 u) S + r sum_j c_j h_j k), and S up to 1.05 of itself."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 2.0], [0.0, 0.5]])
    points = RBF.points(form(X))
    B = rows_of(points, np.arange(1, 4))
    coefficients = np.array([[0.5, 0.0], [0.0, 4.0], [1.0, 0.25]])
    sums, sizes, error = summed_in_float32(RBF, points, B, coefficients, None)
    real = slow_sums(RBF, X, X[1:], coefficients).astype(float)
    assert sums == pytest.approx(real, rel=1e-6)
    h = 0.5 * (X * X).sum(axis=1)
    r = 2.04 * 10 * U
    farther = slow_sums(RBF, X, X[1:], (coefficients.sum(axis=1) * h[1:])[:, None])[:, 0].astype(float)
    expected = 1.05 * ((r * h + 80.0 * U) * real.sum(axis=1) + r * farther)
    assert error == pytest.approx(expected, rel=1e-5)
    assert sizes == pytest.approx(1.05 * real.sum(axis=1), rel=1e-5)


def test_what_is_lost_below_float32():
    far = RBF.points(np.array([[0.0], [40.0]]))  # e^-800
    sums, sizes, error = summed_in_float32(RBF, rows_of(far, [0]), rows_of(far, [1, 1, 1]), np.full((3, 2), 8.0), None)
    assert sums.tolist() == [[0.0, 0.0]]
    assert sizes == close([8.0 * 4 * 2.0**-100])
    assert error == close([8.0 * 4 * 2.0**-100])


def test_weights_that_are_all_zero_or_the_least():
    points = RBF.points(np.array([[0.0], [1.0]]))
    sums, _, error = summed_in_float32(RBF, points, points, np.zeros((2, 2)), None)
    assert sums.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert error == close(np.full(2, 3.0 * 2.0**-100))
    _, _, error = summed_in_float32(RBF, points, points, np.full((2, 2), 2.0**-1060), None)
    lost = 2.0**-1060 * 1.05 * 80 * U * 2.0 * (1.0 + math.exp(-0.5))
    assert error.tolist() == [round(lost / LEAST) * LEAST + 4.0 * LEAST] * 2
    sums, _, _ = summed_in_float32(RBF, points, points, np.full((2, 2), 2.0**900), None)
    assert sums == pytest.approx(np.full((2, 2), 2.0**900 * (1.0 + math.exp(-0.5))), rel=1e-6)


@pytest.mark.parametrize("n_columns", [1, 127, 128, 129, 256, 257, 700])
def test_long_rows_are_multiplied_part_by_part(n_columns):
    random = np.random.default_rng(0)
    left = random.integers(-3, 4, size=(5, n_columns)).astype(np.float32)
    right = random.integers(-3, 4, size=(n_columns, 4)).astype(np.float32)
    found = product(left, right)
    assert found.tolist() == (left @ right).tolist()
    assert found.dtype == np.float32
    assert product(sparse.csr_array(left), right).tolist() == found.tolist()


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 255), (3, 256), (3, 257), (1030, 70), (1025, 600)])
def test_blocks_of_rows_and_terms(n, m):
    """More rows and more terms than fit in a block; weights that single out the first and the last."""
    random = np.random.default_rng(1)
    X = random.normal(size=(n + m, 2))
    points = RBF.points(X)
    A, B = rows_of(points, np.arange(n)), rows_of(points, np.arange(n, n + m))
    coefficients = np.zeros((m, 2))
    coefficients[0, 0] = coefficients[-1, 1] = 1.0
    sums, _, error = summed_in_float32(RBF, A, B, coefficients, None)
    real = slow_sums(RBF, X[:n], X[n:], coefficients)
    assert np.all(np.abs(sums - real).sum(axis=1) <= error)
    assert np.all(error <= 1e-4 * real.sum(axis=1) + 2.0**-100 * (m + 2))


def test_the_factors_of_the_exponent():
    kernel = Rbf(2.0)
    points = kernel.points(np.array([[1.0, -3.0], [0.5, 0.0]]))
    left = kernel_screening.left_factor(kernel, points)
    right = kernel_screening.right_factor(kernel, points)
    assert left.dtype == right.dtype == np.float32
    assert left == pytest.approx(np.array([[2.0, -6.0, -20.0, -1.0], [1.0, 0.0, -0.5, -1.0]]))
    assert right == pytest.approx(np.array([[2.0, -6.0, 1.0, 20.0], [1.0, 0.0, 1.0, 0.5]]).T)
    assert right.flags.c_contiguous
    sparse_points = kernel.points(sparse.csr_array(points.X))
    assert kernel_screening.right_factor(kernel, sparse_points).tolist() == right.tolist()
    assert kernel_screening.root(Rbf(1e308)) == close(math.sqrt(2.0) * 1e154)


def test_the_clock_is_read_at_every_block(monkeypatch):
    moments = []
    monkeypatch.setattr(kernel_screening, "check_interrupt", lambda: moments.append(1))
    points = RBF.points(np.zeros((600, 1)))
    summed_in_float32(RBF, rows_of(points, np.arange(2)), points, np.ones((600, 1)), None)
    assert len(moments) == 3  # 256 terms at a time
