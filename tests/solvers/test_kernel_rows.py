"""Rows of the kernel in float32 against float64; the cache, and what happens to it when a user's function fails."""

import math

import kernel_cases
import numpy as np
import pytest

from maxmargin.data.executor import Threads
from maxmargin.data.table import is_sparse
from maxmargin.solvers.kernel_smo import inverted_lists, kernel_rows
from maxmargin.solvers.kernel_smo.given_table import GivenTable, picked
from maxmargin.solvers.kernel_smo.kernel_rows import shared_rows
from maxmargin.solvers.kernel_smo.row_cache import RowCache, room_for
from maxmargin.solvers.kernel_smo.small_pairs import make_among

each_kernel = pytest.mark.parametrize("name", kernel_cases.KERNELS)
each_form = pytest.mark.parametrize("form", kernel_cases.FORMS)


def rows_of(problem, threads):
    """The rows, their scale, and what they should hold: the kernel, of a phi that may have been shifted."""
    rows, scale = shared_rows(problem.kernel, problem.points, threads)
    rows = picked(rows)
    expected = kernel_cases.gram(problem)
    if isinstance(rows, kernel_rows.GivenValues | GivenTable):
        expected = expected - rows.to_z - rows.to_z[:, None]
    return rows, scale, expected


def small_blocks(monkeypatch, frequent):
    """Several blocks of a few columns; columns of a sparse table as lines where so many rows have them, else lists."""
    for name, value in {"WIDEST": 8, "NARROWEST": 2, "HEIGHT": 4, "FULL": 0.0, "WIDE": 8}.items():
        monkeypatch.setattr(kernel_rows, name, value)
    for name, value in {"FREQUENT": frequent, "TILE": 8, "WIDE": 8}.items():
        monkeypatch.setattr(inverted_lists, name, value)


@pytest.mark.parametrize("n", [0, 1, 255, 511, 512, 1024, 2810, 4096, 16_384, 17_834, 100_000])
def test_blocks_of_columns_are_even(n):
    edges = kernel_rows.column_edges(n)
    widths = np.diff(edges)
    assert (edges[0], edges[-1]) == (0, n)
    assert widths.max() - widths.min() <= 1
    assert widths.max() <= kernel_rows.WIDEST
    assert len(widths) == 1 or widths.min() >= kernel_rows.NARROWEST
    assert n < 2048 or len(widths) % 8 == 0


each_share = pytest.mark.parametrize("frequent", [0.0, 0.9, 1.0], ids=["lines", "both", "lists"])


@each_kernel
@each_form
@each_share
def test_values(name, form, frequent, monkeypatch):
    small_blocks(monkeypatch, frequent)
    X, signs = kernel_cases.rings(n=45)
    X = 3.0 + np.column_stack([X, X[:, 0] * X[:, 1], np.zeros(45), X[:, 1] ** 2, X[:, 0]])
    problem = kernel_cases.problem_of(kernel_cases.FORMS[form](X), signs, **kernel_cases.KERNELS[name])
    with Threads() as threads:
        rows, scale, expected = rows_of(problem, threads)
        chosen, columns = np.array([3, 44, 0]), np.arange(40, 4, -3)
        out = np.empty((3, 45), dtype=np.float32)
        rows.fill(chosen, out)
        tolerance = (1e-3 if name == "narrow rbf" else 2e-5) * np.abs(expected).max()  # exponents of thousands
        assert scale * out == pytest.approx(expected[chosen], abs=tolerance)
        square = rows.square(chosen)
        assert scale * square == pytest.approx(expected[np.ix_(chosen, chosen)], abs=tolerance)
        square[:] = np.nan
        make_among(rows, chosen, square)
        assert scale * square == pytest.approx(expected[np.ix_(chosen, chosen)], abs=tolerance)
        part = rows.restricted(columns)
        out = np.empty((2, len(columns)), dtype=np.float32)
        part.fill(np.array([1, 0]), out)
        assert scale * out == pytest.approx(expected[np.ix_(columns[[1, 0]], columns)], abs=tolerance)
        assert np.abs(out).max() <= 2.001


@each_kernel
@each_form
@each_share
def test_sums_of_rows(name, form, frequent, monkeypatch):
    small_blocks(monkeypatch, frequent)
    X, signs = kernel_cases.rings(n=45)
    X = np.column_stack([X, X[:, 0] * X[:, 1], np.zeros(45), X[:, 1] ** 2, *[X[:, 0] + shift for shift in range(8)]])
    problem = kernel_cases.problem_of(kernel_cases.FORMS[form](X), signs, **kernel_cases.KERNELS[name])
    random = np.random.default_rng(0)
    with Threads() as threads:
        rows, scale, expected = rows_of(problem, threads)
        chosen, columns, coefficients = random.permutation(45)[:14], random.permutation(45)[:21], random.normal(size=14)
        values = random.normal(size=45)
        wanted = values.copy()
        wanted[columns] += coefficients @ expected[np.ix_(chosen, columns)] / scale
        rows.add(chosen, coefficients, columns, values)
        assert values == pytest.approx(wanted, abs=1e-4 if name != "narrow rbf" else 1e-2)
        rows.add(chosen[:0], coefficients[:0], columns, values)
        rows.add(chosen, coefficients, columns[:0], values)
        assert values == pytest.approx(wanted, abs=1e-4 if name != "narrow rbf" else 1e-2)


def test_a_background_is_not_multiplied():
    """Ones among zeros that were standardized, and a picture in the middle of a frame: rows are thin after a shift."""
    random = np.random.default_rng(3)
    is_ink = random.random((300, 40)) < 0.1
    X = np.where(is_ink, random.normal(size=(300, 40)), 0.0) + random.normal(size=40)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for table, kind in ((X, kernel_rows.SparseTable), (random.normal(size=X.shape), kernel_rows.DenseTable)):
        problem = kernel_cases.problem_of(table, np.where(random.random(300) < 0.5, 1.0, -1.0))
        with Threads() as threads:
            rows, scale, expected = rows_of(problem, threads)
            assert type(rows) is kind
            out = np.empty((300, 300), dtype=np.float32)
            rows.fill(np.arange(300), out)
            assert scale * out == pytest.approx(expected, abs=2e-5)


def test_the_exponential():
    x = -np.logspace(-9, np.log10(87.0), 50_001).astype(np.float32)
    found = np.tile(x, (2, 1))
    kernel_rows.exponential(found, 1, 50_001)
    assert np.array_equal(found[:, 0], [x[0], x[0]])  # from column 1 on
    error = np.abs(found[1, 1:] / np.exp(x[1:].astype(float)) - 1.0)
    with np.errstate(divide="ignore"):
        assert np.all(error <= 2.0**-23 * (1.0 + np.abs(x[1:])))
    ends = np.array([[0.0, -0.0, 1e-6, -87.0, -89.0, -1e4, -3e38]], dtype=np.float32)
    kernel_rows.exponential(ends, 0, 7)
    assert np.array_equal(ends[0, :2], [1.0, 1.0])
    assert ends[0, 2] == pytest.approx(1.0, abs=2e-6)
    assert ends[0, 3] == pytest.approx(np.exp(-87.0), rel=1e-5)
    assert np.array_equal(ends[0, 4:], np.full(3, 2.0**-126, dtype=np.float32))


def test_what_is_kept_is_copied_into_a_square():
    X, signs = kernel_cases.rings(n=30)
    problem = kernel_cases.problem_of(X, signs)
    with Threads() as threads:
        rows, _, expected = rows_of(problem, threads)
        made = []
        fill = rows.fill
        rows.fill = lambda chosen, out: (made.extend(chosen.tolist()), fill(chosen, out))
        rows.is_cheap = False
        cache = RowCache(rows, room_for(rows, 1e6))
        cache.slots(np.array([4, 9, 20, 2]))
        cache.values[cache.slot_of[9], 1] = 0.5  # a mark
        chosen = np.array([1, 9, 28, 4])
        among = cache.square(chosen)
    expected[9, 1] = expected[1, 9] = 0.5
    assert among == pytest.approx(expected[np.ix_(chosen, chosen)], abs=1e-6)
    assert np.array_equal(among, among.T)
    assert made == [4, 9, 20, 2]


@pytest.mark.parametrize("form", kernel_cases.FORMS)
@pytest.mark.parametrize("order", "CF")
def test_rows_of_a_precomputed_kernel(form, order):
    X, signs = kernel_cases.rings(n=30)
    K = np.asarray(3.0 * kernel_cases.gram(kernel_cases.problem_of(X, signs)), order=order)
    problem = kernel_cases.problem_of(kernel_cases.FORMS[form](K), signs, kernel="precomputed")
    chosen, columns = np.array([7, 2, 21]), np.arange(28, 3, -4)
    with Threads() as threads:
        rows, scale, expected = rows_of(problem, threads)
        assert isinstance(rows, GivenTable) != is_sparse(problem.X)
        out = np.empty((3, 30), dtype=np.float32)
        rows.fill(chosen, out)
        assert scale * out == pytest.approx(expected[chosen], abs=1e-6)
        assert scale * rows.square(chosen) == pytest.approx(expected[np.ix_(chosen, chosen)], abs=1e-6)
        part = rows.restricted(columns).restricted(np.array([5, 0, 3]))
        some, out = columns[[5, 0, 3]], np.empty((2, 3), dtype=np.float32)
        part.fill(np.array([2, 0]), out)
        assert scale * out == pytest.approx(expected[np.ix_(some[[2, 0]], some)], abs=1e-6)


def test_rows_far_from_zero_keep_their_distances():
    X, signs = kernel_cases.rings(n=30)
    problem = kernel_cases.problem_of(X + 1000.0, signs, kernel="poly", gamma=1.0, coef0=1.0, degree=2)
    with Threads() as threads:
        rows, scale, _ = rows_of(problem, threads)
        found = scale * rows.square(np.arange(30)).astype(float)
    wanted = kernel_cases.gram(problem)
    assert distances(found) == pytest.approx(distances(wanted), rel=1e-4, abs=1e-6 * distances(wanted).max())


def test_exponents_that_float32_cannot_hold():
    """Pairs of rows that are near to each other and far from 0: every second distance is the same."""
    random = np.random.default_rng(0)
    X = np.repeat(1e6 * random.normal(size=(20, 3)), 2, axis=0)
    X[1::2] += 0.5
    problem = kernel_cases.problem_of(X, np.tile([1.0, -1.0], 20), kernel="rbf", gamma=1.0)
    with Threads() as threads:
        rows, scale = shared_rows(problem.kernel, problem.points, threads)
        K = np.empty((40, 40), dtype=np.float32)
        rows.fill(np.arange(40), K)
    assert scale == 1.0
    assert K.diagonal() == pytest.approx(1.0, abs=1e-2)
    assert K[np.arange(0, 40, 2), np.arange(1, 40, 2)] == pytest.approx(math.exp(-0.75), rel=1e-2)


def distances(K):
    """|phi(x) - phi(x')|^2."""
    return np.add.outer(np.diag(K), np.diag(K)) - 2.0 * K


def test_the_cache_replaces_what_came_first():
    X, signs = kernel_cases.rings(n=40)
    problem = kernel_cases.problem_of(X, signs)
    made = []
    with Threads() as threads:
        rows, _, expected = rows_of(problem, threads)
        fill = rows.fill
        rows.fill = lambda chosen, out: (made.extend(chosen.tolist()), fill(chosen, out))
        room = room_for(rows, 5 * 40 * 4)
        cache = RowCache(rows, room)
        assert cache.values.nbytes == room.nbytes == 5 * 40 * 4
        assert np.shares_memory(cache.values, room)  # it takes no other
        for wanted in ([1, 2, 3], [3, 4], [5, 6], [1, 5], [6, 4, 3]):
            slots = cache.slots(np.array(wanted))
            assert cache.values[slots] == pytest.approx(expected[wanted], abs=1e-5)
    assert made == [1, 2, 3, 4, 5, 6, 1]  # 6 takes the place of 1, 1 of 2; 3 and 4 are still there


def test_a_function_that_fails_leaves_the_cache_sound():
    X, signs = kernel_cases.rings(n=20)
    fails = False

    def function(A, B):
        if fails:
            raise RuntimeError("not now")
        return A @ B.T

    problem = kernel_cases.problem_of(X, signs, kernel=function)
    with Threads() as threads:
        rows, scale, expected = rows_of(problem, threads)
        cache = RowCache(rows, room_for(rows, 2 * 20 * 4))
        cache.slots(np.array([0, 1]))
        fails = True
        with pytest.raises(RuntimeError):
            cache.slots(np.array([2]))
        fails = False
        assert scale * cache.values[cache.slots(np.array([0, 1]))] == pytest.approx(expected[:2], abs=1e-5)
