"""How a system of integers is solved exactly: digits modulo a prime are lifted, and fractions rebuilt from them."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from maxmargin.certificates import exact_linear_algebra as algebra

PRIME = algebra.PRIMES[0]


def objects(values):
    return np.array(values, dtype=object)


# --------------------------------------------------------------------------------------------------------- lifting


def digits_taken(matrix, right, monkeypatch):
    """How many digits were lifted until the fractions were found, and what they are."""
    count = 0
    plain = algebra.lift

    def counted(*given):
        nonlocal count
        for digit in plain(*given):
            count += 1
            yield digit

    with monkeypatch.context() as patched:
        patched.setattr(algebra, "lift", counted)
        pivots = algebra.eliminate(matrix, PRIME)
        numerators, denominator = algebra.solve(matrix, pivots, right, PRIME)
    block = matrix[np.ix_(pivots.lines, pivots.columns)]
    assert not (block @ numerators - denominator * right[pivots.lines]).any()
    return count


def test_short_answers_take_an_eighth_of_the_digits_and_long_ones_all(monkeypatch):
    random = np.random.default_rng(2)
    n = 24
    matrix = random.integers(-(2**50), 2**50, size=(n, n)).astype(object)
    short = [matrix @ objects([[2**bits + k] for k in range(n)]) for bits in (10, 250, 500)]
    for right, part in zip([*short, objects([[1]] * n)], (8, 4, 2, 1), strict=True):
        bits = sum(algebra.cramer_bits(matrix, right)) + 34  # to guard
        assert digits_taken(matrix, right, monkeypatch) == (int(bits / math.log2(PRIME)) + 1) // part
    assert digits_taken(objects([[1]]), objects([[1]]), monkeypatch) == 2


def test_digits_that_never_make_a_fraction_are_an_error(monkeypatch):
    plain = algebra.lift

    def impatient(*given):
        for count, digit in enumerate(plain(*given)):
            if count > 1000:
                raise RuntimeError("it goes on for ever")
            yield digit

    monkeypatch.setattr(algebra, "lift", impatient)
    monkeypatch.setattr(algebra, "rebuild_fractions", lambda *given: None)
    matrix = objects([[1, 2], [3, 4]])
    with pytest.raises(AssertionError, match="Hadamard"):
        algebra.solve(matrix, algebra.eliminate(matrix, PRIME), objects([[1], [1]]), PRIME)


def test_fractions_of_which_one_is_wrong_are_not_taken(monkeypatch):
    plain, tried = algebra.rebuild_fractions, []

    def hasty(*given):
        tried.append(plain(*given))
        return (objects([[2], [0], [9]]), 1) if len(tried) == 1 else tried[-1]

    monkeypatch.setattr(algebra, "rebuild_fractions", hasty)
    matrix = objects([[1, 0, 0], [0, 3, 0], [0, 0, 7]])
    numerators, denominator = algebra.solve(matrix, algebra.eliminate(matrix, PRIME), objects([[2], [5], [1]]), PRIME)
    assert [Fraction(int(v), denominator) for v in numerators[:, 0]] == [2, Fraction(5, 3), Fraction(1, 7)]


def test_without_a_right_side_nothing_is_lifted(monkeypatch):
    assert digits_taken(objects([[1, 2], [3, 4]]), objects([[0, 0], [0, 0]]), monkeypatch) == 0


def test_bits_of_cramers_rule():
    """Half of the bits of the squares of the norms: by columns, or by rows."""
    a = objects([[3, 0], [4, 1]])
    b = objects([[2, 1], [0, 5]])
    # columns: |(3, 4)|^2 = 25, 5 bits; |(0, 1)|^2 = 1, 1 bit. rows: 9 and 17, 4 and 5 bits
    # numerators: the columns and the longest of b, 26, 5 bits; the rows with b's largest: 9 + 4, 17 + 25, 4 and 6 bits
    assert algebra.cramer_bits(a, b) == (min(3.0 + 2.5, 2.0 + 3.0), min(3.0, 4.5))
    a, b = objects([[3, 4], [0, 1]]), objects([[2, 1], [0, 5]])
    # columns: 9 and 17; rows: 25 and 1; numerators: 4.5 + 2.5; 25 + 4 and 1 + 25, 5 and 5 bits
    assert algebra.cramer_bits(a, b) == (5.0, 3.0)


def test_bits_of_cramers_rule_suffice():
    random = np.random.default_rng(3)
    for _ in range(60):
        n = int(random.integers(1, 5))
        a = random.integers(-9, 10, size=(n, n)).astype(object)
        b = random.integers(-9, 10, size=(n, 2)).astype(object)
        numerator_bits, denominator_bits = algebra.cramer_bits(a, b)
        assert abs(determinant(a)) <= 2.0**denominator_bits
        for i, j in itertools.product(range(n), range(2)):
            swapped = a.copy()
            swapped[:, i] = b[:, j]
            assert abs(determinant(swapped)) <= 2.0**numerator_bits


def determinant(a):
    if len(a) == 0:
        return 1
    minors = (np.delete(a[1:], j, axis=1) for j in range(len(a)))
    return sum((-1) ** j * a[0, j] * determinant(minor) for j, minor in enumerate(minors))


@pytest.mark.parametrize("bits", [3, 19, 20, 21, 40, 59, 60, 61, 62, 63, 64, 150])
def test_digits_of_a_solution(bits):
    """Entries of one limb and of many; right sides that fit in 64 bits and that do not."""
    random = np.random.default_rng(bits)
    for size, right in itertools.product((1, 2, 5), (3, 60, 61, 62, 63, 64, 90)):
        signs, low = random.choice([-1, 1], size=(size, size)), random.integers(5, size=(size, size))
        a = signs.astype(object) * (2**bits - low.astype(object)) + np.diag(np.arange(1, size + 1)).astype(object)
        pivots = algebra.eliminate(a, PRIME)
        assert pivots.columns
        a = a[np.ix_(pivots.lines, pivots.columns)]
        b = objects([[2**right - 1, -(2**right), 1]] * len(a))
        residue, power = objects([[0, 0, 0]] * len(a)), 1
        for digit in itertools.islice(algebra.lift(a, pivots.inverse, b, PRIME), 6):
            assert abs(digit).max() <= PRIME // 2
            residue, power = residue + power * digit.astype(object), power * PRIME
            assert not ((a @ residue - b) % power).any()


@pytest.mark.parametrize("size", [1, 3, 7, 15, 31])
def test_sums_of_the_largest_residues_are_exact(size):
    """The first digit is C b modulo p, whatever C is: here all of its limbs are full, and odd."""
    inverse = np.full((size, size), PRIME - 2, dtype=np.int64)
    for right in (PRIME - 1, PRIME // 2, PRIME // 2 + 1, PRIME // 3, 1):
        digit = next(algebra.lift(np.eye(size, dtype=int).astype(object), inverse, objects([[right]] * size), PRIME))
        assert abs(digit).max() <= PRIME // 2
        assert not ((digit.astype(object) + 2 * size * right) % PRIME).any()


@pytest.mark.parametrize("bits", [1, 10, 11, 20, 21, 61, 62, 63, 64, 100])
def test_limbs_at_the_edges_of_their_width(bits):
    matrix = objects([[2**bits, -(2**bits)], [2**bits - 1, 1 - 2**bits], [0, 1]])
    for width in (10, 20, 30):
        limbs = algebra.split(matrix, width)
        assert len(limbs) == (bits + 1) // width + 1
        assert (abs(limbs) <= 2.0**width).all()
        assert (limbs[:-1] >= 0).all()
        total = sum(limb.astype(np.int64).astype(object) << (width * j) for j, limb in enumerate(limbs))
        assert (total == matrix).all()


def test_products_of_limbs():
    limbs = np.array([[[1.0, 2.0], [3.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]])
    found = algebra.exact_products(limbs, np.array([[5, 6, 7], [8, 9, 10]]))
    assert found.tolist() == [[[21, 24, 27], [47, 54, 61]], [[8, 9, 10], [5, 6, 7]]]
    assert found.dtype == np.int64


@pytest.mark.parametrize("count", range(1, 12))
def test_digits_add_up(count):
    digits = [np.array([[(-1) ** k * (k + 1)]]) for k in range(count)]
    assert algebra.evaluate(digits, 100).item() == sum((-1) ** k * (k + 1) * 100**k for k in range(count))


# ------------------------------------------------------------------------------------------------------- fractions

MODULUS = 2**521 - 1  # a prime
BITS = 521 - 34  # of which 34 guard


def residue_of(numerator, denominator):
    return numerator * pow(denominator, -1, MODULUS) % MODULUS


def rebuilt(residues, share=0.5):
    found = algebra.rebuild_fractions(objects(residues), MODULUS, share)
    return None if found is None else [Fraction(int(v), found[1]) for v in found[0]]


def test_the_largest_numerator_without_a_denominator():
    largest = 2 ** int(BITS * 0.5 + 1)
    for numerator in (largest, -largest, 0, 1, -1):
        numerators, denominator = algebra.rebuild_fractions(objects([numerator % MODULUS]), MODULUS, 0.5)
        assert (numerators.tolist(), denominator) == ([numerator], 1)
    found = algebra.rebuild_fractions(objects([(largest + 1) % MODULUS]), MODULUS, 0.5)
    assert found is None or found[1] > 1


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_the_edges_of_numerators_and_denominators(share):
    numerator, denominator = 2 ** int(BITS * (1 - share) + 1), 2 ** int(BITS * share + 1)
    inside = Fraction(numerator - 1, denominator - 1)
    assert rebuilt([residue_of(inside.numerator, inside.denominator)], share) == [inside]
    assert rebuilt([residue_of(numerator, 10007)], share) == [Fraction(numerator, 10007)]
    edge = next(d for d in range(denominator, 0, -1) if math.gcd(d, numerator - 1) == 1)
    assert rebuilt([residue_of(numerator - 1, edge)], share) == [Fraction(numerator - 1, edge)]
    beyond = next(d for d in range(2 * denominator, 4 * denominator) if d % 7)
    assert rebuilt([residue_of(7, beyond)], share) is None


def test_one_denominator_for_all():
    fractions = [Fraction(3, 10007), Fraction(-5, 10009), Fraction(7, 10007 * 10009), Fraction(2)]
    residues = [residue_of(f.numerator, f.denominator) for f in fractions]
    assert rebuilt(residues) == fractions
    numerators, denominator = algebra.rebuild_fractions(objects(residues), MODULUS, 0.5)
    assert denominator == 10007 * 10009
    assert numerators.tolist() == [3 * 10009, -5 * 10007, 7, 2 * denominator]


def test_a_modulus_below_the_guard_rebuilds_nothing():
    for bits in (10, 33):
        assert algebra.rebuild_fractions(objects([0]), 2**bits - 1, 0.5) is None
    for bits in (34, 35):
        numerators, denominator = algebra.rebuild_fractions(objects([0]), 2**bits - 1, 0.5)
        assert (numerators.tolist(), denominator) == ([0], 1)


# ---------------------------------------------------------------------------------------------------------- checks


def test_the_clock_is_read_at_every_column_digit_and_fraction(monkeypatch):
    checks = []
    monkeypatch.setattr(algebra, "check_interrupt", lambda: checks.append(1))
    matrix = objects([[3, 1], [1, 5]])
    pivots = algebra.eliminate(matrix, PRIME)
    assert len(checks) == 2
    checks.clear()
    algebra.rebuild_fractions(objects([1, 2, 3]), MODULUS, 0.5)
    assert len(checks) == 3
    checks.clear()
    monkeypatch.setattr(algebra, "rebuild_fractions", lambda *given: (objects([[1], [1]]), 1))
    algebra.solve(matrix, pivots, objects([[4], [6]]), PRIME)
    assert len(checks) == 1  # one digit
