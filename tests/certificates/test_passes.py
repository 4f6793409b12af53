"""The judge's passes over a table: roundings, powers of two, sums, blocks and products."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from error_analysis import close
from random_sparse import random_sparse

from maxmargin.certificates import passes
from maxmargin.data.executor import sharing
from maxmargin.data.table import as_table, terms_of

FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def test_roundings_of_both_types_of_numbers():
    for terms in (1, 4, 1000):
        share = Fraction(terms, 2**53)
        assert Fraction(passes.rounding(terms)) == pytest.approx(float(share / (1 - share)), rel=1e-15)
    assert passes.rounding(2**52) == 1.0  # k u = 1/2
    long = float(np.finfo(np.longdouble).eps) / 2.0
    assert passes.rounding(3, np.longdouble) == close(3.0 * long)


@pytest.mark.parametrize("value", [1.0, 1.5, 1.9999999, 2.0, 3.0, 0.75, 0.5, 1e-300, 1e300, 2.0**1023, 5e-324, 1e-310])
def test_a_power_of_two_just_below(value):
    power = passes.power_below(value)
    assert Fraction(power) <= Fraction(value) < 2 * Fraction(power)
    assert math.frexp(power)[0] == 0.5


@pytest.mark.parametrize("value", [0.0, math.inf, math.nan])
def test_no_power_of_two_is_below(value):
    assert passes.power_below(value) == 1.0


def test_how_many_additions_a_sum_takes():
    """One after the other up to 32 terms; then 32 for each time that a 32nd of them is left, and for the last."""
    expected = {0: 1, 1: 2, 31: 32, 32: 33, 33: 65, 1024: 65, 1055: 65, 1056: 97, 32**3: 97, 32**3 + 32**2: 129}
    for n, additions in expected.items():
        values = np.arange(n, dtype=float)
        assert passes.total(values) == (n * (n - 1) // 2, additions)
    first, last = np.zeros(1000), np.zeros(1000)
    first[0] = last[-1] = 1.0
    assert passes.total(first)[0] == passes.total(last)[0] == 1.0
    assert passes.total(np.ones(3, dtype=np.longdouble))[0].dtype == np.longdouble


def test_the_longest_row():
    assert terms_of(np.zeros((3, 7))) == 7
    assert terms_of(sparse.csr_array([[0.0, 0.0], [1.0, 2.0], [0.0, 1.0]])) == 2
    assert terms_of(sparse.csr_array((3, 7))) == 0
    assert terms_of(sparse.csr_array((0, 7))) == 0


def test_blocks_of_a_sparse_table_are_as_large_as_they_may_be(monkeypatch):
    random = np.random.default_rng(0)
    X = random_sparse((60, 20), 0.3, random)
    X = sparse.vstack([sparse.csr_array((2, 20)), X, sparse.csr_array((3, 20)), X[:1]], format="csr")
    counts = np.diff(X.indptr)
    for most in (1, 5, 6, 17, 50, 10**5):
        monkeypatch.setattr(passes, "SPARSE_BLOCK", most)
        end = 0
        for rows, part in passes.row_blocks(X):
            assert rows.start == end
            end = rows.stop
            assert part.shape == (rows.stop - rows.start, 20)
            assert (part.toarray() == X[rows].toarray()).all()
            assert part.nnz <= most or rows.stop == rows.start + 1
            assert end == len(counts) or part.nnz + counts[end] > most  # the next row does not fit
        assert end == len(counts)
    assert np.shares_memory(part.data, X.data)  # all of it is one block, of the same numbers


def test_a_block_of_a_sparse_table_takes_some_megabytes():
    assert 2**18 <= passes.SPARSE_BLOCK <= 2**24


def test_blocks_of_a_dense_table_are_views():
    X = np.arange(300_000.0).reshape(-1, 3)
    found = list(passes.row_blocks(X))
    assert len(found) > 1
    assert [rows.start for rows, _ in found] == [0, *(rows.stop for rows, _ in found[:-1])]
    assert found[-1][0].stop == len(X)
    assert all(np.shares_memory(part, X) and (part == X[rows]).all() for rows, part in found)
    assert next(passes.row_blocks(X.astype(np.float32)))[1].dtype == np.float64


@FORMS
def test_products_with_a_table(form):
    X = form(np.array([[1.0, -2.0, 0.0], [0.0, 0.0, -3.0]]))
    w = np.array([4.0, 0.5, 2.0])
    for number in (np.float64, np.longdouble):
        values = passes.values_of(X, w.astype(number))
        assert values.tolist() == [3.0, -6.0]
        assert values.dtype == number
    assert passes.sizes_of(X, w).tolist() == [5.0, 6.0]
    assert passes.values_of(form(np.full((1, 1), 1e200)), np.array([1e200])).tolist() == [math.inf]


@FORMS
@pytest.mark.parametrize("number", [np.float64, np.longdouble])
def test_combinations_count_their_roundings(form, number, monkeypatch):
    """A term is one of the rows of its block, then its block's sum is one of the blocks; and it was a product."""
    random = np.random.default_rng(1)
    X = random.integers(-3, 4, size=(50, 4)).astype(float)
    weights = random.integers(0, 5, size=50).astype(number)
    expected = (X.T @ weights.astype(float)).tolist()
    for rows in (50, 30, 7):
        monkeypatch.setattr("maxmargin.certificates.passes.BLOCK", 4 * rows)
        table = form(X)
        longest, count = rows, -(-50 // rows)
        if form is sparse.csr_array:
            monkeypatch.setattr(passes, "SPARSE_BLOCK", 3 * rows)
            lengths = [part.shape[0] for _, part in passes.row_blocks(table)]
            longest, count = max(lengths), len(lengths)
        found, roundings = passes.combination(table, weights)
        assert found.tolist() == expected
        assert found.dtype == number
        assert roundings == longest + count + 1
    assert passes.combination(form(X)[:0], weights[:0])[1] == 1


@FORMS
def test_lengths_of_rows_and_what_vanishes_when_it_is_squared(form):
    for scale in (1.0, 2.0**-500, 2.0**500, 2.0**1000):
        X = np.array([[3.0, 4.0], [0.0, -0.5], [1e-170, 0.0], [0.0, 0.0]]) * scale
        lengths = passes.lengths_of(form(X), 4.0 * scale)
        assert lengths[:2] == pytest.approx([5.0 * scale, 0.5 * scale], rel=1e-14)
        assert lengths[2:] == pytest.approx(np.full(2, 4e-150 * scale), rel=1e-12, abs=0.0)


@FORMS
def test_threads_do_not_change_a_bit_of_a_sum(form, monkeypatch):
    """And without them neither: the parts follow from the size of the block."""
    random = np.random.default_rng(3)
    dense = random.standard_normal((30_000, 30)) * (random.random((30_000, 30)) < 0.9)
    weights, w = random.random(30_000), random.standard_normal(30)

    def found():
        table = as_table(form(dense))
        summed, rowwise = passes.combination(table, weights), passes.row_total(table, lambda rows: weights[rows] ** 3)
        lengths = passes.lengths_of(table, table.largest)
        return [
            summed[0],
            *summed[1:],
            *rowwise,
            passes.values_of(table, w),
            lengths,
            passes.sizes_of(table, np.abs(w)),
        ]

    alone = found()
    for cores in (1, 2, 5):
        monkeypatch.setattr("maxmargin.data.executor.cores", lambda cores=cores: cores)
        with sharing():
            assert all(np.array_equal(one, other) for one, other in zip(alone, found(), strict=True))
    assert passes.values_of(dense, w) == pytest.approx(dense @ w, abs=1e-12)
    assert alone[0] == pytest.approx(dense.T @ weights, abs=1e-9)
    assert alone[2] == pytest.approx(np.sum(weights**3), rel=1e-12)
