"""Rows of the kernel in float32 against float64; the cache, and what happens to it when a user's function fails."""

import kernel_cases
import numpy as np
import pytest

from maxmargin.data.threads import Threads
from maxmargin.solvers import kernel_rows
from maxmargin.solvers.kernel_rows import RowCache, shared_rows

each_kernel = pytest.mark.parametrize("name", kernel_cases.KERNELS)
each_form = pytest.mark.parametrize("form", kernel_cases.FORMS)


def rows_of(problem, threads):
    """The rows, their scale, and what they should hold: the kernel, of a phi that may have been shifted."""
    rows, scale = shared_rows(problem.kernel, problem.points, threads)
    expected = kernel_cases.gram(problem)
    if isinstance(rows, kernel_rows.GivenValues):
        expected = expected - rows.to_z - rows.to_z[:, None]
    return rows, scale, expected


@each_kernel
@each_form
@pytest.mark.parametrize("wide", [False, True], ids=["written out", "wide"])
def test_values(name, form, wide, monkeypatch):
    if wide:
        monkeypatch.setattr(kernel_rows, "MOST_NUMBERS", 1)
    monkeypatch.setattr(kernel_rows, "BLOCK", 16)
    monkeypatch.setattr(kernel_rows, "TILE", 8)
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
        assert scale * rows.square(chosen) == pytest.approx(expected[np.ix_(chosen, chosen)], abs=tolerance)
        part = rows.restricted(columns)
        out = np.empty((2, len(columns)), dtype=np.float32)
        part.fill(np.array([1, 0]), out)
        assert scale * out == pytest.approx(expected[np.ix_(columns[[1, 0]], columns)], abs=tolerance)
        assert np.abs(out).max() <= 2.001


def test_rows_of_a_precomputed_kernel():
    X, signs = kernel_cases.rings(n=30)
    K = kernel_cases.gram(kernel_cases.problem_of(X, signs))
    problem = kernel_cases.problem_of(K, signs, kernel="precomputed")
    with Threads() as threads:
        rows, scale, expected = rows_of(problem, threads)
        out = np.empty((1, 30), dtype=np.float32)
        rows.fill(np.array([7]), out)
        assert scale * out[0] == pytest.approx(expected[7], abs=1e-6)


def test_rows_far_from_zero_keep_their_distances():
    X, signs = kernel_cases.rings(n=30)
    problem = kernel_cases.problem_of(X + 1000.0, signs, kernel="poly", gamma=1.0, coef0=1.0, degree=2)
    with Threads() as threads:
        rows, scale, _ = rows_of(problem, threads)
        found = scale * rows.square(np.arange(30)).astype(float)
    wanted = kernel_cases.gram(problem)
    assert distances(found) == pytest.approx(distances(wanted), rel=1e-4, abs=1e-6 * distances(wanted).max())


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
        cache = RowCache(rows, 5 * 40 * 4, 100)
        assert cache.values.nbytes == 5 * 40 * 4
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
        cache = RowCache(rows, 2 * 20 * 4, 100)
        cache.slots(np.array([0, 1]))
        fails = True
        with pytest.raises(RuntimeError):
            cache.slots(np.array([2]))
        fails = False
        assert scale * cache.values[cache.slots(np.array([0, 1]))] == pytest.approx(expected[:2], abs=1e-5)
