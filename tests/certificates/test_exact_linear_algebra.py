"""Exact linear algebra against a slow elimination with fractions that shares nothing with it."""

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from maxmargin.certificates import exact_linear_algebra as algebra

patient = settings(deadline=None)  # the oracles are slow, and so is a busy machine

# ------------------------------------------------------------------------------------------- the slow oracle


def echelon(matrix):
    """Reduced echelon form over the rationals, and its pivot columns."""
    lines = [[Fraction(v) for v in line] for line in matrix]
    pivots = []
    for j in range(len(lines[0]) if lines else 0):
        r = len(pivots)
        i = next((i for i in range(r, len(lines)) if lines[i][j]), None)
        if i is None:
            continue
        lines[r], lines[i] = lines[i], lines[r]
        lines[r] = [v / lines[r][j] for v in lines[r]]
        for i in range(len(lines)):
            if i != r and lines[i][j]:
                factor = lines[i][j]
                lines[i] = [v - factor * u for v, u in zip(lines[i], lines[r], strict=True)]
        pivots.append(j)
    return lines, pivots


def slow_null_basis(matrix, width):
    """One vector per free column, 1 there and 0 on the other free columns."""
    lines, pivots = echelon(matrix)
    basis = []
    for f in sorted(set(range(width)) - set(pivots)):
        vector = [Fraction(0)] * width
        vector[f] = Fraction(1)
        for line, j in zip(lines, pivots, strict=False):
            vector[j] = -line[f]
        basis.append(vector)
    return basis


def slow_has_nonnegative_point(matrix, width):
    """Some circuit of the columns has weights of one sign; every subset is tried."""
    for size in range(1, width + 1):
        for columns in itertools.combinations(range(width), size):
            basis = slow_null_basis([[line[j] for j in columns] for line in matrix], size)
            if len(basis) == 1 and (all(v >= 0 for v in basis[0]) or all(v <= 0 for v in basis[0])):
                return True
    return False


def as_fractions(null, width):
    """The basis that a NullSpace describes, in the oracle's order."""
    basis = []
    for column, f in enumerate(null.free):
        vector = [Fraction(0)] * width
        vector[f] = Fraction(1)
        for j, numerator in zip(null.basic, null.numerators[:, column], strict=True):
            vector[j] = Fraction(int(numerator), null.denominator)
        basis.append(vector)
    return basis


def assert_same_space(null, matrix):
    """The prime may choose other free columns than the oracle does, never another space."""
    width = len(matrix[0])
    ours, slow = as_fractions(null, width), slow_null_basis(matrix, width)
    assert len(ours) == len(slow)
    assert echelon(ours) == echelon(slow)


def objects(matrix):
    return np.array(matrix, dtype=object)


entries = st.one_of(st.integers(-3, 3), st.integers(-(2**70), 2**70))
matrices = st.tuples(st.integers(1, 5), st.integers(1, 6)).flatmap(
    lambda shape: st.lists(
        st.lists(entries, min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
    )
)
small_matrices = st.tuples(st.integers(1, 3), st.integers(1, 6)).flatmap(
    lambda shape: hnp.arrays(np.int64, shape, elements=st.integers(-3, 3))
)

# --------------------------------------------------------------------------------------------------- numbers


def exact_value(mantissa, exponent):
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.int64, np.uint64, np.bool_])
def test_dyadic_reads_every_dtype_without_rounding(dtype):
    @patient
    @given(hnp.arrays(dtype, (3, 2), elements=finite_elements(dtype)))
    def check(values):
        numbers = algebra.dyadic(values)
        common, unit = algebra.common_integers(numbers)
        for i, j in np.ndindex(values.shape):
            true = Fraction(values[i, j].item())
            assert exact_value(numbers.mantissas[i, j], numbers.exponents[j]) == true
            assert exact_value(common[i, j], unit) == true

    check()


def finite_elements(dtype):
    if np.dtype(dtype).kind == "f":
        width = 8 * np.dtype(dtype).itemsize
        return st.floats(width=width, allow_nan=False, allow_infinity=False, allow_subnormal=True)
    return hnp.from_dtype(np.dtype(dtype))


def test_columns_of_different_scale_stay_short():
    values = np.array([[1.0, 3e-150], [0.5, 5e-151]]) * np.array([1e150, 1.0])
    assert max(int(v).bit_length() for v in algebra.dyadic(values).mantissas.ravel()) < 70


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_dyadic_refuses_what_is_not_finite(bad):
    with pytest.raises(FloatingPointError):
        algebra.dyadic(np.array([[1.0, bad]]))


@pytest.mark.parametrize("dtype", [np.complex128, object])
def test_dyadic_refuses_other_dtypes(dtype):
    with pytest.raises(TypeError, match="64 bits"):
        algebra.dyadic(np.ones((1, 1), dtype=dtype))


@patient
@given(hnp.arrays(np.float64, (3, 4), elements=st.sampled_from([0.0, 0.1, -3.0, 5e-324, 1e300])))
def test_weighted_sum_of_dense_and_sparse_rows(rows):
    weights = objects([1, -2, 3])
    for given_rows in (rows, sparse.csr_array(rows), sparse.csr_matrix(rows)):
        sums = algebra.weighted_sum(given_rows, weights)
        for j in range(4):
            expected = sum(int(w) * Fraction(x.item()) for w, x in zip(weights, rows[:, j], strict=True))
            assert exact_value(sums.mantissas[j], sums.exponents[j]) == expected


@patient
@given(st.fractions())
def test_float_above_is_above_and_near(value):
    above = algebra.float_above(value)
    assert value < Fraction(above)
    assert Fraction(math.nextafter(math.nextafter(above, -math.inf), -math.inf)) <= value


def test_float_above_a_number_too_large_is_infinite():
    assert algebra.float_above(Fraction(10) ** 400) == math.inf


# ----------------------------------------------------------------------------------------------- null spaces


@patient
@given(matrices)
def test_null_space_equals_the_slow_one(matrix):
    assert_same_space(algebra.null_space(objects(matrix)), matrix)


@patient
@given(matrices, st.integers(1, 4))
def test_null_space_of_dependent_columns(matrix, copies):
    width = len(matrix[0])
    matrix = [[*line, copies * line[0] - 2 * line[-1]] for line in matrix]
    null = algebra.null_space(objects(matrix))
    assert width in null.free
    assert_same_space(null, matrix)


@pytest.mark.parametrize("primes", [(2, 3, 5, 7, 11, 13, 2147483629), (3, 2147483587)])
@given(matrix=small_matrices)
@settings(max_examples=50, deadline=None)
def test_unlucky_primes_cost_time_but_never_truth(primes, matrix):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(algebra, "PRIMES", primes)
        null = algebra.null_space(matrix.astype(object))
    assert_same_space(null, matrix.tolist())


def test_the_primes_are_primes_below_two_to_the_31():
    for prime in algebra.PRIMES:
        assert 2**30 < prime < 2**31
        assert all(prime % divisor for divisor in range(2, math.isqrt(prime) + 1))


def test_matrix_that_vanishes_modulo_the_first_prime():
    p = algebra.PRIMES[0]
    assert algebra.null_space(objects([[p, 0], [0, 1]])).free == []
    assert algebra.null_space(objects([[p, 0], [0, p]])).free == []
    null = algebra.null_space(objects([[p, 2 * p, 5 * p], [3 * p, p, 5 * p]]))
    assert as_fractions(null, 3) == [[-1, -2, 1]]


def test_matrix_that_vanishes_modulo_every_prime_is_admitted():
    product = math.prod(algebra.PRIMES)
    with pytest.raises(ArithmeticError, match="every prime"):
        algebra.null_space(objects([[product, 0], [0, product]]))
    with pytest.raises(ArithmeticError, match="every prime"):
        algebra.null_point(objects([[product, 0], [0, product]]), objects([1, 1]))


def test_no_lines_and_no_columns():
    null = algebra.null_space(np.zeros((0, 3), dtype=object))
    assert (null.basic, null.free) == ([], [0, 1, 2])
    assert algebra.null_space(np.zeros((2, 0), dtype=object)).free == []


@patient
@given(matrices, st.integers(-5, 5))
def test_null_point_keeps_the_free_values(matrix, value):
    width = len(matrix[0])
    values = objects([value + j for j in range(width)])
    point, denominator = algebra.null_point(objects(matrix), values)
    assert denominator > 0
    assert not (objects(matrix) @ point).any()
    for f in algebra.null_space(objects(matrix)).free:
        assert point[f] == denominator * values[f]


def test_long_integers():
    rng = np.random.default_rng(0)
    matrix = objects([[int(rng.integers(1, 2**62)) ** int(rng.integers(1, 30)) for _ in range(6)] for _ in range(5)])
    null = algebra.null_space(matrix)
    assert_same_space(null, matrix.tolist())


@patient
@given(small_matrices)
def test_nonnegative_null_vector_exists_exactly_when_a_circuit_has_one_sign(matrix):
    width = matrix.shape[1]
    found, excluded = algebra.nonnegative_null_vector(matrix.astype(object), exchanges=1000)
    assert (found is not None) == (not excluded) == slow_has_nonnegative_point(matrix.tolist(), width)
    if found is not None:
        assert not (matrix.astype(object) @ found).any()
        assert (found >= 0).all()
        assert found.any()
        assert np.count_nonzero(found) <= np.linalg.matrix_rank(matrix) + 1


def test_exchanges_that_run_out_prove_nothing():
    matrix = objects([[1, 2, -1]])
    assert algebra.nonnegative_null_vector(matrix, exchanges=0) == (None, False)
    found, _ = algebra.nonnegative_null_vector(matrix, exchanges=1)
    assert found.tolist() == [0, 1, 2]


# ----------------------------------------------------------------------------------------------- the lifting


@patient
@given(matrices.filter(lambda m: len(m) <= len(m[0])), st.integers(1, 3))
def test_solve_multiplies_out(matrix, count):
    a = objects(matrix)
    prime = algebra.PRIMES[0]
    pivots = algebra.eliminate(a, prime)
    right = objects([[i * j - 2 for j in range(count)] for i in range(len(a))])
    numerators, denominator = algebra.solve(a, pivots, right, prime)
    block = a[np.ix_(pivots.lines, pivots.columns)]
    assert not (block @ numerators - denominator * right[pivots.lines]).any()


@patient
@given(matrices)
def test_eliminate_inverts_its_block(matrix):
    a, prime = objects(matrix), algebra.PRIMES[1]
    pivots = algebra.eliminate(a, prime)
    block = a[np.ix_(pivots.lines, pivots.columns)]
    product = block @ pivots.inverse.astype(object) % prime
    assert (product == np.eye(len(block), dtype=int)).all()


@patient
@given(matrices, st.integers(1, 50))
def test_limbs_add_up(matrix, width):
    limbs = algebra.split(objects(matrix), width)
    assert (abs(limbs) <= 2.0**width).all()
    total = sum((limb.astype(np.int64).astype(object) << (width * j)) for j, limb in enumerate(limbs))
    assert (total == objects(matrix)).all()


@patient
@given(st.lists(st.fractions(-1000, 1000, max_denominator=1000), min_size=1, max_size=3))
def test_fractions_are_rebuilt_from_residues(fractions):
    modulus = algebra.PRIMES[0] ** 5
    residues = objects([f.numerator * pow(f.denominator, -1, modulus) % modulus for f in fractions])
    rebuilt, denominator = algebra.rebuild_fractions(residues, modulus, 0.5)
    assert [Fraction(int(r), denominator) for r in rebuilt] == fractions


def test_too_few_digits_rebuild_nothing():
    modulus = algebra.PRIMES[0] ** 4
    rng = np.random.default_rng(1)
    residues = objects([int(rng.integers(2**62)) ** 2 % modulus for _ in range(4)])
    assert algebra.rebuild_fractions(residues, modulus, 0.5) is None
    assert algebra.rebuild_fractions(residues, 97, 0.5) is None


def test_evaluate_adds_the_digits_up():
    digits = [np.array([[d]]) for d in (3, -1, 4, 1, -5)]
    assert algebra.evaluate(digits, 10).item() == 3 - 10 + 400 + 1000 - 50000


@pytest.mark.parametrize("width", [125, 150])
def test_a_large_matrix_of_full_mantissas_takes_about_a_second(width):
    rows = np.random.default_rng(2).normal(size=(width, width - 1))
    started = time.perf_counter()
    null = algebra.null_space(algebra.dyadic(rows).mantissas.T)
    assert time.perf_counter() - started < 10  # about 0.5 s on one quiet core
    assert len(null.free) == 1
