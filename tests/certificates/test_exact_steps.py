"""Each step of exact linear algebra on its own: how numbers are read, cut and rebuilt, at the edges of every range."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin.certificates import exact_linear_algebra as algebra

FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
PRIME = algebra.PRIMES[0]


def objects(values):
    return np.array(values, dtype=object)


# ----------------------------------------------------------------------------------------------------------- numbers


def test_a_double_is_an_odd_integer_times_a_power_of_two():
    values = np.array([1.0, -6.0, 0.0, 5e-324, 2.0**1023, 0.1, 2.0**53 - 1.0, -0.0])
    integers, powers = algebra.mantissas_and_exponents(values)
    for value, integer, power in zip(values.tolist(), integers.tolist(), powers.tolist(), strict=True):
        assert Fraction(value) == integer * Fraction(2) ** power
        assert integer % 2 == 1 or integer == 0
    assert isinstance(integers[0], int)


def test_integers_and_booleans_are_read_as_they_are():
    integers, powers = algebra.mantissas_and_exponents(np.array([2**64 - 1, 4], dtype=np.uint64))
    assert (integers.tolist(), powers.tolist()) == ([2**64 - 1, 4], [0, 0])
    integers, powers = algebra.mantissas_and_exponents(np.array([True, False]))
    assert (integers.tolist(), powers.tolist()) == ([1, 0], [0, 0])
    assert type(integers[0]) is int


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="here a long double is a double")
def test_a_long_double_is_refused():
    with pytest.raises(TypeError, match="at most 64 bits, not "):
        algebra.dyadic(np.ones((1, 1), dtype=np.longdouble))


def test_columns_have_units_of_their_own():
    numbers = algebra.dyadic(np.array([[0.75, 0.0, 8.0, 2.0**100], [1.0, 0.0, 0.0, 0.0]]))
    assert numbers.mantissas.tolist() == [[3, 0, 1, 1], [4, 0, 0, 0]]
    assert numbers.exponents.tolist() == [-2, 0, 3, 100]
    common, unit = algebra.common_integers(numbers)
    assert (common.tolist(), unit) == ([[3, 0, 32, 2**102], [4, 0, 0, 0]], -2)
    common, unit = algebra.common_integers(algebra.dyadic(np.array([[0.0, 2.0**100]])))
    assert (common.tolist(), unit) == ([[0, 1]], 100)
    common, unit = algebra.common_integers(algebra.dyadic(np.zeros((2, 2))))
    assert (common.tolist(), unit) == ([[0, 0], [0, 0]], 0)
    assert algebra.dyadic(np.zeros((0, 2))).exponents.tolist() == [0, 0]


@FORMS
@pytest.mark.parametrize("block", [1, 7, 2**17])
def test_sums_in_blocks_of_columns(form, block, monkeypatch):
    monkeypatch.setattr(algebra, "EXACT_BLOCK", block)
    rows = np.array([[0.5, 0.0, 3.0, 0.0, 2.0**70], [2.0, 0.0, 0.0, 0.0, -(2.0**-70)], [0.0, 0.0, 0.25, 0.0, 1.0]])
    weights = objects([3, -1, 2**80])
    sums, exponents = algebra.weighted_sum(form(rows), weights)
    assert sums.dtype == object
    found = [int(s) * Fraction(2) ** int(e) for s, e in zip(sums, exponents, strict=True)]
    assert found == [sum(Fraction(x) * int(v) for x, v in zip(c, weights, strict=True)) for c in rows.T.tolist()]
    assert exponents.tolist() == [-1, 0, -2, 0, -70]
    empty = algebra.weighted_sum(form(rows)[:0], objects([]))
    assert (empty.mantissas.tolist(), empty.exponents.tolist()) == ([0] * 5, [0] * 5)


def test_as_many_columns_at_a_time_as_a_block_holds(monkeypatch):
    shapes = []
    plain = algebra.dyadic
    monkeypatch.setattr(algebra, "dyadic", lambda values: shapes.append(values.shape) or plain(values))
    for block, width in ((1, 1), (6, 2), (8, 2), (9, 3), (100, 5)):
        shapes.clear()
        monkeypatch.setattr(algebra, "EXACT_BLOCK", block)
        algebra.weighted_sum(np.ones((3, 5)), objects([1, 2, 3]))
        assert shapes[0] == (3, width)
        assert sum(columns for _, columns in shapes) == 5
    monkeypatch.setattr(algebra, "EXACT_BLOCK", 2)
    shapes.clear()
    algebra.weighted_sum(np.ones((0, 5)), objects([]))
    assert shapes == [(0, 2), (0, 2), (0, 1)]


def test_stored_zeros_have_no_unit():
    rows = sparse.csr_array((np.array([8.0, 0.0, 0.0]), np.array([0, 0, 1]), np.array([0, 1, 3])), shape=(2, 2))
    sums = algebra.weighted_sum(rows, objects([5, 7]))
    assert (sums.mantissas.tolist(), sums.exponents.tolist()) == ([5, 0], [3, 0])
    assert rows.nnz == 3


def test_columns_that_are_there():
    rows = np.array([[0.0, 1.0, 0.0, 2.0], [0.0, 0.0, 0.0, 3.0]])
    found, columns = algebra.present_columns(sparse.csr_array(rows))
    assert (found.tolist(), columns.tolist()) == ([[1.0, 2.0], [0.0, 3.0]], [1, 3])
    found, columns = algebra.present_columns(rows)
    assert found is rows
    assert columns.tolist() == [0, 1, 2, 3]


def test_some_megabytes_are_held_at_a_time():
    assert 2**14 <= algebra.EXACT_BLOCK <= 2**20


def test_float_above_is_the_next_one():
    assert algebra.float_above(Fraction(1)) == math.nextafter(1.0, 2.0)
    assert algebra.float_above(Fraction(10) ** 400) == math.inf
    assert algebra.power_of_two(-3) == Fraction(1, 8)


# ------------------------------------------------------------------------------------------------------ null spaces


@pytest.mark.parametrize("prime", algebra.PRIMES)
def test_primes_whose_squares_fit_in_64_bits(prime):
    assert 2**30 < prime < 2**31
    assert all(pow(base, prime - 1, prime) == 1 for base in (2, 3, 5, 7, 11))


def test_a_null_space_that_one_line_leaves_and_another_takes_away(monkeypatch):
    """Modulo 2 one column is free, and its vector fails on another line: then all columns are independent."""
    monkeypatch.setattr(algebra, "PRIMES", (2,))
    null = algebra.null_space(objects([[1, 1], [1, 3]]))
    assert (null.basic, null.free, null.numerators.shape, null.denominator) == ([0, 1], [], (2, 0), 1)
    null = algebra.null_space(objects([[1, 0], [0, 1]]))
    assert (null.basic, null.free, null.numerators.shape, null.denominator) == ([0, 1], [], (2, 0), 1)


def test_two_free_columns_of_an_unlucky_prime_prove_nothing(monkeypatch):
    monkeypatch.setattr(algebra, "PRIMES", (2,))
    with pytest.raises(ArithmeticError, match="every prime"):
        algebra.null_space(objects([[2, 0, 0], [0, 2, 0], [0, 0, 2]]))
    monkeypatch.setattr(algebra, "PRIMES", (2, PRIME))
    assert algebra.null_space(objects([[2, 0, 0], [0, 2, 0], [0, 0, 2]])).free == []


def test_a_point_of_the_null_space():
    matrix = objects([[3, 1, 2, 0], [0, 5, 0, 7]])
    point, denominator = algebra.null_point(matrix, objects([100, 100, 1, 2]))
    assert denominator == 15
    assert point[2:].tolist() == [15, 30]
    assert point.tolist() == [4, -42, 15, 30]
    values = objects([0, 0, 1, 2])
    algebra.null_point(matrix, values)
    assert values.tolist() == [0, 0, 1, 2]


def test_points_of_the_null_space_survive_an_unlucky_prime(monkeypatch):
    monkeypatch.setattr(algebra, "PRIMES", (2, PRIME))
    point, denominator = algebra.null_point(objects([[2, 1], [4, 6]]), objects([5, 7]))
    assert point.tolist() == [0, 0]
    assert denominator == 1


def dictionary_path(matrix, most):
    """Bland's rule in fractions: the basic variables after each exchange, and the last point."""
    width = matrix.shape[1]
    null = algebra.null_space(matrix)
    line = {
        b: {f: Fraction(int(v), null.denominator) for f, v in zip(null.free, row, strict=True)}
        for b, row in zip(null.basic, null.numerators, strict=True)
    }
    first, *rest = null.free
    # x_first = 1 - sum of the rest
    table = {b: [row[first], {f: row[f] - row[first] for f in rest}] for b, row in line.items()}
    table[first] = [Fraction(1), {f: Fraction(-1) for f in rest}]
    count = 0
    while True:
        negative = sorted(b for b, (constant, _) in table.items() if constant < 0)
        if not negative:
            point = [table[k][0] if k in table else Fraction(0) for k in range(width)]
            return point, count
        constant, row = table.pop(negative[0])
        entering = sorted(f for f, v in row.items() if v > 0)
        if not entering:
            return None, count
        count += 1
        f = entering[0]
        factor = row.pop(f)
        solved = [-constant / factor, {g: -v / factor for g, v in row.items()} | {negative[0]: 1 / factor}]
        for b, (c, own) in table.items():
            v = own.pop(f)
            for g, s in solved[1].items():
                own[g] = own.get(g, Fraction(0)) + v * s
            table[b] = [c + v * solved[0], own]
        table[f] = solved
        assert count <= most


def test_independent_columns_have_no_null_vector():
    assert algebra.nonnegative_null_vector(objects([[1, 0], [0, 1]]), 10) == (None, True)


def test_exchanges_go_by_the_least_index():
    random = np.random.default_rng(0)
    several = 0
    for _ in range(150):
        matrix = random.integers(-4, 5, size=(int(random.integers(1, 4)), int(random.integers(3, 9)))).astype(object)
        if len(algebra.null_space(matrix).free) == 0:
            continue
        point, count = dictionary_path(matrix, 200)
        several += count > 2
        if point is None:  # one more, in which there is nothing to exchange with
            assert algebra.nonnegative_null_vector(matrix, count + 1) == (None, True)
            assert algebra.nonnegative_null_vector(matrix, count) == (None, False)
        else:
            found, excluded = algebra.nonnegative_null_vector(matrix, count)
            assert not excluded
            total = sum(found)
            assert [Fraction(int(v), int(total)) for v in found] == [v / sum(point) for v in point]
            assert max(found) < 2**16  # not longer than determinants are, after any number of exchanges
        if count:
            assert algebra.nonnegative_null_vector(matrix, count - 1) == (None, False)
    assert several >= 10


# ----------------------------------------------------------------------------------------------------- elimination


def test_free_columns_depend_on_the_columns_before_them():
    matrix = objects([[0, 0, 1, 2, 0], [0, 3, 1, 5, 0], [0, 3, 2, 7, 1]])
    pivots = algebra.eliminate(matrix, PRIME)
    assert pivots.columns == [1, 2, 4]
    assert pivots.free == [0, 3]
    assert pivots.lines == [1, 0, 2]
    block = matrix[np.ix_(pivots.lines, pivots.columns)]
    assert (block @ pivots.inverse.astype(object) % PRIME == np.eye(3, dtype=int)).all()


def test_elimination_of_the_largest_residues():
    """Products of two residues, and sums of them, stay within 64 bits."""
    random = np.random.default_rng(1)
    matrix = -random.integers(1, 5, size=(6, 6)).astype(object)
    pivots = algebra.eliminate(matrix, PRIME)
    block = matrix[np.ix_(pivots.lines, pivots.columns)]
    assert (block @ pivots.inverse.astype(object) % PRIME == np.eye(len(block), dtype=int)).all()
