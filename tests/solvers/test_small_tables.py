"""SMO among all rows of a small table: its kernel rows, its steps, and when it is left."""

import dataclasses

import kernel_cases
import numpy as np
import pytest

from maxmargin.data.executor import Threads
from maxmargin.problems.losses import HINGE, SQUARED_HINGE
from maxmargin.solvers.kernel_smo import small_tables
from maxmargin.solvers.kernel_smo.active_rows import terms_of
from maxmargin.solvers.kernel_smo.kernel_rows import shared_rows
from maxmargin.solvers.kernel_smo.method import AllRows
from maxmargin.solvers.kernel_smo.row_cache import RowCache, room_for
from maxmargin.solvers.kernel_smo.small_tables import SmallTable, lines_of, make_row


def cache_of(problem, threads, megabytes=1.0):
    rows = shared_rows(problem.kernel, problem.points, threads).rows
    return RowCache(rows, room_for(rows, megabytes * 2**20))


def noisy(n=60, columns=3, **options):
    X, signs = kernel_cases.rings(n=n)
    X = np.column_stack([X, *(X[:, 0] * X[:, 1] + k for k in range(columns - 2))])
    signs[:: n // 6] *= -1.0
    return kernel_cases.problem_of(X, signs, **options)


@pytest.mark.parametrize("columns", range(2, 8))
def test_rows_of_the_kernel(columns):
    problem = noisy(columns=columns)
    with Threads() as threads:
        cache = cache_of(problem, threads)
    out = np.full((60, 60), np.nan, dtype=np.float32)
    for i in (0, 7, 59):
        make_row(lines_of(cache.rows), i, out)
    assert out[[0, 7, 59]] == pytest.approx(kernel_cases.gram(problem)[[0, 7, 59]], abs=1e-6)
    assert np.all(np.isnan(out[1:7]))


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE], ids=["hinge", "squared"])
def test_rounds_close_the_gap(loss, monkeypatch):
    """The values follow a, the box and the equation hold, and a round leaves a small part of the violation."""
    monkeypatch.setattr(small_tables, "STEPS", 50.0)
    problem = dataclasses.replace(noisy(), loss=loss)
    with Threads() as threads:
        cache = cache_of(problem, threads)
    terms = terms_of(problem, 1.0)
    assert SmallTable.suits(cache, terms)
    table = SmallTable(cache, terms, np.zeros(60), np.zeros(60))
    for _ in range(6):
        before = table.look()
        steps = table.step(before)
        after = table.look()
        assert steps > 0
        assert after.violation <= 0.02 * before.violation + 1e-6
        assert after.dual > before.dual
        if after.gap < 1e-4 * after.primal:
            break
    assert after.gap < 1e-4 * after.primal
    assert np.all((table.a >= 0.0) & (table.a <= terms.upper))
    assert table.a @ problem.signs == pytest.approx(0.0, abs=1e-9)
    K = kernel_cases.gram(problem)
    assert table.values == pytest.approx(K @ (table.a * problem.signs), abs=1e-5 * table.a.sum())
    assert table.made.sum() < 60 or np.all(table.a > 0.0)


def test_a_round_has_its_steps():
    problem = noisy()
    with Threads() as threads:
        cache = cache_of(problem, threads)
    table = SmallTable(cache, terms_of(problem, 1.0), np.zeros(60), np.zeros(60))
    table.most_steps = 3
    assert table.step(table.look()) == 3
    assert 0 < np.count_nonzero(table.a) <= 6


def test_what_it_does_not_suit(monkeypatch):
    """Long rows, many rows, little memory, another kernel, no bias."""
    with Threads() as threads:
        problem = noisy()
        terms, cache = terms_of(problem, 1.0), cache_of(problem, threads)
        assert SmallTable.suits(cache, terms)
        assert not SmallTable.suits(cache, terms._replace(fit_intercept=False))
        assert not SmallTable.suits(cache_of(problem, threads, 0.001), terms)
        assert not SmallTable.suits(cache_of(noisy(kernel="poly"), threads), terms)
        for name, value in (("SMALL", 59), ("SHORT", 4)):
            monkeypatch.setattr(small_tables, name, value + 1)
            assert SmallTable.suits(cache, terms)
            monkeypatch.setattr(small_tables, name, value)
            assert not SmallTable.suits(cache, terms)
            monkeypatch.undo()


def test_all_rows_are_chosen():
    problem = noisy()
    with Threads() as threads:
        cache = cache_of(problem, threads)
        whole = AllRows(problem, cache, 1.0, np.empty(3600, dtype=np.float32))
        assert whole.is_small
        part = whole.part_of(whole.choose(whole.look()), 1.0)
        assert type(part.table) is SmallTable
        whole.is_small = False
        assert type(whole.part_of(np.arange(20), 1.0).table) is not SmallTable


def test_a_cache_whose_memory_is_used_forgets_its_rows():
    """One against the rest shares a cache: what another problem kept there is not read any more."""
    problem = noisy()
    with Threads() as threads:
        cache = cache_of(problem, threads)
        cache.slots(np.array([5, 9]))
        SmallTable(cache, terms_of(problem, 1.0), np.zeros(60), np.zeros(60)).rows[:] = np.nan
        found = cache.values[cache.slots(np.array([9, 5]))]
    assert found == pytest.approx(kernel_cases.gram(problem)[[9, 5]], abs=1e-6)
