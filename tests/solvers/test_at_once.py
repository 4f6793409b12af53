"""Loops that have a second form, in whole arrays: both compute the same."""

import copy
import sys
from contextvars import copy_context

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin import _loops
from maxmargin._loops import Loop
from maxmargin.data.table import rows_of
from maxmargin.solvers import copies, passes
from maxmargin.solvers.interior_point import at_once as on_the_path
from maxmargin.solvers.interior_point import central_path, normal_equations
from maxmargin.solvers.interior_point.central_path import Direction, PathRows
from maxmargin.solvers.kernel_smo import working_set
from maxmargin.solvers.newton import semismooth

N, D = 90, 5
LOOPS = {
    name: loop
    for module in (central_path, normal_equations, passes, copies, semismooth, working_set)
    for name, loop in vars(module).items()
    if isinstance(loop, Loop) and loop.at_once is not None
}


def a_place_on_the_path(random):
    p = random.uniform(0.01, 0.99, N)
    place = random.permutation(2 * N)[:N]
    cost = random.uniform(0.5, 2.0, N) * random.choice([-1.0, 1.0], N)
    rows = PathRows(place, cost, random.uniform(size=N), p, 1.0 - p, *random.uniform(0.01, 2.0, (2, N)))
    return rows, Direction(*(0.01 * random.standard_normal((3, N)))), Direction(*np.zeros((3, N)))


def calls_of(random, rows, knee):
    """The arguments of each loop."""
    active, move, trial = a_place_on_the_path(random)
    dw, side = random.standard_normal(D), random.integers(0, 3, N).astype(np.int8)
    M, centre = np.zeros((16, 16)), random.standard_normal(D) * (hasattr(rows, "values"))
    A = random.standard_normal((D, 2 * D))
    L = np.tril(np.linalg.cholesky(A @ A.T))
    index, weights = active.place, random.uniform(size=N) * (random.random(N) < 0.7)
    some = 10, 80
    words = rows.values if hasattr(rows, "values") else rows.data
    words = words[: N // 3 if words.ndim == 2 else None].view(f"u{words.itemsize}")
    words = np.concatenate([words, words[::-1]]) if words.ndim == 2 else words
    places = [] if words.ndim == 2 else [rows.indices.view(np.int32), rows.indptr.view(np.int32)]
    n = len(places[1]) - 1 if places else len(words)
    signs = random.choice([-1.0, 1.0], n)
    hashes, kind = random.integers(0, 9, n).astype(np.uint64), "sparse" if places else "dense"
    equal = np.arange(n)
    if kind == "dense":
        signs, equal = np.concatenate([signs[: n // 2], signs[: n // 2][::-1]]), np.minimum(equal, equal[::-1])
    keys = random.integers(-9, 9, N).astype(np.float32).view(np.int32)
    return {
        "place_of": [working_set.key_of.py_func(keys[40]), keys],
        "step_and_weigh": [rows, active, move, knee, 0.7, *some, centre, np.zeros((64, 16)), M, np.ones(4)],
        "predict": [rows, active, move, knee, dw, 0.3, 0.5, *some, np.ones((2, D + 1)), np.zeros(5)],
        "direct": [rows, active, move, knee, dw, 0.3, 0.1, *some, np.zeros(1)],
        "recentre": [rows, active, move, trial, knee, 0.9, 0.1, 0.6, *some, np.ones((1, D + 1))],
        "look_again": [rows, index, active.cost, dw, 0.2, 0.5, knee, *some, side, np.zeros(N, np.int8)],
        "share_out": [side, weights, 0.4, random.integers(0, N, 2 * N), np.arange(2.0 * N), 0.9, np.zeros(2 * N)],
        "factor_panels": [A @ A.T, 0, D],
        "substitute": [L, random.standard_normal(D)],
        "sum_by_class": [rows, index, active.cost, weights, *some, np.ones((2, D + 1))],
        "combine_block": [rows, index, weights, *some, np.ones(D)],
        "outer_block": [rows, index, weights, centre, *some, np.ones((64, 1)), np.zeros((64, 16)), M],
        "values_of_block": [rows, dw, *some, np.ones(N)],
        "inner": [dw, centre],
        "slope_block": [active.s, active.xi, weights, 2.0, 0.6, 0.4, *some],
        "move_block": [active.s, active.xi, weights, 2.0, knee or np.inf, 0.4, np.zeros(N), *some],
        f"hash_{kind}": [words, *places, signs, np.zeros(n, np.uint64)],
        f"all_equal_{kind}": [words, *places, signs, equal, np.arange(n)],
        "find_owners": [hashes, np.full(1024, -1), np.zeros(n, np.int64), np.zeros(n, np.int64)],
        "values_of_rows": [rows, index, dw, *some, np.ones(N)],
    }


def as_plain_python(loop, arguments):
    _loops._uncompiled_until.set((np.inf, np.inf))
    return loop(*arguments)


def arrays_in(arguments):
    for one in arguments:
        if isinstance(one, tuple):
            yield from arrays_in(one)
        elif isinstance(one, np.ndarray):
            yield np.tril(one) if one.ndim == 2 and one.shape[0] == one.shape[1] else one


@pytest.mark.parametrize("name", sorted(LOOPS))
@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_array])
@pytest.mark.parametrize("knee", [0.0, 0.4])
def test_whole_arrays_are_the_loop(name, form, knee):
    """The loop, and those that it calls, as plain Python."""
    random = np.random.default_rng(5)
    table = random.standard_normal((2 * N, D))
    rows = rows_of(form(np.where(np.abs(table) < 0.4, 0.0, table)))
    calls = calls_of(random, rows, knee)
    if name not in calls:  # of the other form
        return
    by_loop, in_arrays, before = (copy.deepcopy(calls[name]) for _ in range(3))
    loop = LOOPS[name]
    beside = vars(sys.modules[loop.__module__])
    assert loop.at_once is beside.get(f"{name}_at_once", getattr(on_the_path, name, None))
    with np.errstate(over="ignore"):
        said = copy_context().run(as_plain_python, loop, by_loop)
        same = loop.at_once(*in_arrays)
    assert (said is None and same is None) or same == pytest.approx(said, rel=1e-9)
    changed = 0
    for mine, his, old in zip(arrays_in(by_loop), arrays_in(in_arrays), arrays_in(before), strict=True):
        if mine.shape not in ((64, 16), (1024,)):  # what the loop alone works in
            np.testing.assert_allclose(his, mine, rtol=2e-5 if form is np.float32 else 1e-9, atol=1e-9)
            changed += not np.array_equal(mine, old)
    assert changed >= 1 or said is not None


def test_every_second_form_is_tried():
    random = np.random.default_rng(0)
    table = random.standard_normal((2 * N, D))
    tried = {name for form in (np.asarray, sparse.csr_array) for name in calls_of(random, rows_of(form(table)), 0.0)}
    assert tried == set(LOOPS)


def test_matrix_that_has_no_factor():
    factor = normal_equations.factor_panels_at_once
    assert not factor(np.array([[1.0, 2.0], [2.0, 1.0]]), 0, 2)
    assert not factor(np.full((2, 2), np.nan), 0, 2)
    assert factor(np.eye(2), 32, 64)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_lifted_plane_has_an_entry_more(form):
    """The loops read as many entries of w, and fill as many of a sum, as a row has."""
    random = np.random.default_rng(5)
    X, w = random.standard_normal((7, 3)), random.standard_normal(4)
    rows, h, total = rows_of(form(X)), np.zeros(7), np.zeros(4)
    passes.values_of_block_at_once(rows, w, 0, 7, h)
    assert h == pytest.approx(X @ w[:3])
    passes.combine_block_at_once(rows, np.arange(7), np.arange(7.0), 0, 7, total)
    assert total == pytest.approx([*(np.arange(7.0) @ X), 0.0])


def test_key_that_is_nowhere():
    nowhere = working_set.place_of.at_once(np.int32(5), np.zeros(4, np.int32))
    assert nowhere == working_set.place_of.py_func(np.int32(5), np.zeros(4, np.int32)) == 3
