"""Null spaces over the rationals, exactly.

    given    an integer matrix M, m lines by k columns
    find     all l with M l = 0

1. Exchange pivots modulo a prime p.  This finds r lines and r columns whose block A has det A != 0 modulo p,
   hence det A != 0; the other columns are free.  The exchanged tableau holds the inverse of A modulo p.
2. Solve A u = b, b a free column, by p-adic lifting: with C = A^-1 mod p and c = b at the start, repeat

       x_t = C c mod p,    c <- (c - A x_t) / p.    Then    A (x_0 + ... + x_t p^t) = b  (mod p^(t+1)),

   and the fractions are rebuilt from their residues.  Cramer's rule and Hadamard's inequality say how many
   digits suffice; fewer often do, so it is tried on the way.
3. Multiply out, with integers: M l = 0 on every line.  This check is the proof.  An unlucky prime, or a
   fraction rebuilt too early, fails here; it can cost time but never truth.

Cost: m k r operations modulo p; then, for entries of B bits, about 2 r B / 31 digits at (B/16 + 2) r^2
multiplications each, which are float64 matrix products whose every sum stays below 2^53.
Reference: [dixon1982].  Differs: the inverse comes out of the tableau; entries are cut into limbs, so that
BLAS does exact arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.executor import check_interrupt
from maxmargin.data.table import is_sparse

Rows: TypeAlias = Any  # a 2-D ndarray, a scipy.sparse csr_array or csr_matrix; in a pass over all rows also a Table
Integers: TypeAlias = NDArray[np.object_]  # Python's integers, of any length
Int64s: TypeAlias = NDArray[np.int64]

PRIMES = (2147483629, 2147483587, 2147483579, 2147483563, 2147483549)  # below 2^31: a product of two fits
GUARD_BITS = 34  # a wrong fraction then looks right about once in 2^32 tries, and fails the check
EXACT_BLOCK = 2**17  # numbers of X held as Python's integers at a time


class Dyadic(NamedTuple):
    """Numbers mantissas[..., j] * 2**exponents[j]: every finite double is one, and so are all integers."""

    mantissas: Integers
    exponents: Int64s


def dyadic(values: NDArray[Any]) -> Dyadic:
    """Read real numbers of any dtype as integers times one power of two per column, without any rounding.

    >>> dyadic(np.array([[0.75, 3e0], [1.0, 1e-3]])).mantissas[:, 0].tolist()
    [3, 4]
    """
    mantissas, exponents = mantissas_and_exponents(values)
    absent = 2**40  # the exponent of a zero, above all others
    exponents = np.where(mantissas == 0, absent, exponents)
    least = exponents.min(axis=0, initial=absent)
    shift = np.where(mantissas == 0, 0, exponents - least)
    return Dyadic(mantissas << shift.astype(object), np.where(least == absent, 0, least))


def mantissas_and_exponents(values: NDArray[Any]) -> tuple[Integers, Int64s]:
    """Each value as an integer times a power of two; a double's integer is odd, or zero."""
    if values.dtype.kind in "iub":
        whole = values.astype(np.int8) if values.dtype.kind == "b" else values
        return whole.astype(object), np.zeros(values.shape, dtype=np.int64)
    if values.dtype.kind != "f" or values.dtype.itemsize > 8:
        raise TypeError(f"exact arithmetic reads integers and floats of at most 64 bits, not {values.dtype}")
    if not np.isfinite(values).all():
        raise FloatingPointError("NaN and infinity have no exact value")
    fraction, exponent = np.frexp(values.astype(np.float64))
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    lowest_bit = (mantissa & -mantissa).astype(np.float64)
    zeros = np.where(mantissa == 0, 0, np.frexp(lowest_bit)[1].astype(np.int64) - 1)
    return (mantissa >> zeros).astype(object), exponent.astype(np.int64) - 53 + zeros


def common_integers(numbers: Dyadic) -> tuple[Integers, int]:
    """The same numbers as integers times one power of two for all."""
    used = (numbers.mantissas != 0).any(axis=tuple(range(numbers.mantissas.ndim - 1)))
    least = int(numbers.exponents[used].min(initial=2**40)) if used.any() else 0
    shift = np.where(used, numbers.exponents - least, 0)
    return numbers.mantissas << shift.astype(object), least


def weighted_sum(rows: Rows, weights: Integers) -> Dyadic:
    """sum_i weights_i x_i, over dense rows or CSR."""
    width = rows.shape[1]
    sums, exponents = np.zeros(width, dtype=object), np.zeros(width, dtype=np.int64)
    if is_sparse(rows):
        columns = rows.tocsc()
        columns.eliminate_zeros()
        entries, powers = mantissas_and_exponents(columns.data)
        counts = np.diff(columns.indptr)
        present = np.flatnonzero(counts)
        if len(present):
            starts = columns.indptr[present]
            exponents[present] = np.minimum.reduceat(powers, starts)
            shift = powers - np.repeat(exponents[present], counts[present])
            terms = (entries << shift.astype(object)) * weights[columns.indices]
            sums[present] = np.add.reduceat(terms, starts)
        return Dyadic(sums, exponents)
    at_a_time = max(1, EXACT_BLOCK // max(1, len(weights)))
    for start in range(0, width, at_a_time):
        part = slice(start, start + at_a_time)
        mantissas, exponents[part] = dyadic(rows[:, part])
        sums[part] = weights @ mantissas
    return Dyadic(sums, exponents)


def present_columns(rows: Rows) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Dense rows and the columns that they are; columns without an entry in CSR are left out."""
    if is_sparse(rows):
        columns = np.unique(rows.indices).astype(np.intp)
        return rows[:, columns].toarray(), columns
    return rows, np.arange(rows.shape[1])


def power_of_two(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def float_above(value: Fraction) -> float:
    """A double that is larger, by little."""
    try:
        return math.nextafter(float(value), math.inf)
    except OverflowError:
        return math.inf


class NullSpace(NamedTuple):
    """All solutions of M l = 0:  denominator * l[basic] = numerators @ l[free], with l[free] at will."""

    basic: list[int]
    free: list[int]
    numerators: Integers
    denominator: int


def null_space(matrix: Integers) -> NullSpace:
    """Solve M l = 0.  A column is free when it depends on the columns before it, modulo the prime used.

    >>> null_space(np.array([[1, 2, 3], [4, 5, 6]], dtype=object))
    NullSpace(basic=[0, 1], free=[2], numerators=array([[1], [-2]], dtype=object), denominator=1)
    """
    width = matrix.shape[1]
    for prime in PRIMES:
        pivots = eliminate(matrix, prime)
        free = pivots.free
        if not free:  # independent modulo p, hence independent
            return NullSpace(pivots.columns, [], np.zeros((width, 0), dtype=object), 1)
        numerators, denominator = solve(matrix, pivots, -matrix[:, free], prime)
        residual = matrix[:, pivots.columns] @ numerators + denominator * matrix[:, free]
        if not residual.any():
            return NullSpace(pivots.columns, free, numerators, denominator)
        if len(free) == 1:
            # The pivot lines leave one direction and it fails on another line: nothing is left.  Only the
            # independence is claimed then, so every column counts as basic.
            return NullSpace(list(range(width)), [], np.zeros((width, 0), dtype=object), 1)
    raise ArithmeticError("every prime in the list divides a leading minor of the matrix")


def null_point(matrix: Integers, values: Integers, lines: NDArray[np.intp] | None = None) -> tuple[Integers, int]:
    """The point (numerators, denominator) of the null space that equals `values` on every free column.

    `lines`: of the matrix, which are expected to imply all others. Those that are not implied join them.
    """
    if lines is not None and len(lines) < len(matrix):
        while True:
            point, denominator = null_point(matrix[lines], values)
            others = np.flatnonzero(matrix @ point)
            if not len(others):
                return point, denominator
            lines = np.concatenate([lines, others[: matrix.shape[1]]])  # independent of those before
    for prime in PRIMES:
        pivots = eliminate(matrix, prime)
        point = values.copy()
        right_side = -(matrix[:, pivots.free] @ values[pivots.free])
        numerators, denominator = solve(matrix, pivots, right_side[:, None], prime)
        point *= denominator
        point[pivots.columns] = numerators[:, 0]
        if not (matrix @ point).any():
            return point, denominator
    raise ArithmeticError("every prime in the list divides a leading minor of the matrix")


def nonnegative_null_vector(matrix: Integers, exchanges: int) -> tuple[Integers | None, bool]:
    """Find x >= 0, x != 0 with M x = 0, by the simplex method in integers: (x, False), or (None, True) if it is
    proven that there is none, or (None, False) if the exchanges ran out.

        dictionary    q x_basic = Z_0 + Z x_nonbasic,    at first  q x_basic = T x_free  and  sum x_free = 1

    A basic variable with Z_0 < 0 leaves, for a nonbasic one with a positive entry in its line.  Without such
    an entry, the line itself says that the variable is negative wherever x_nonbasic >= 0.  The least indices
    go first, which excludes cycles [bland1977].
    """
    null = null_space(matrix)
    if not null.free:
        return None, True
    q, t = null.denominator, null.numerators
    basic = [*null.basic, null.free[0]]
    nonbasic = null.free[1:]
    table = np.vstack([np.hstack([t[:, :1], t[:, 1:] - t[:, :1]]), [q] + [-q] * len(nonbasic)])
    while (table[:, 0] < 0).any():
        if exchanges <= 0:
            return None, False
        exchanges -= 1
        i = min(np.flatnonzero(table[:, 0] < 0), key=lambda i: basic[i])
        entering = np.flatnonzero(table[i, 1:] > 0)
        if not len(entering):
            return None, True
        j = 1 + min(entering, key=lambda j: nonbasic[j])
        pivot, line, column = table[i, j], table[i].copy(), table[:, j].copy()
        table = pivot * table - np.outer(column, line)
        table[:, j] = q * column
        table[i] = -q * line
        table[i, j] = q * q
        # Now table / (q pivot); the common factor would double the length of the integers at every step.
        q *= pivot
        common = math.gcd(q, *table.ravel())
        q //= common
        table //= common
        basic[i], nonbasic[j - 1] = nonbasic[j - 1], basic[i]
    point = np.zeros(len(null.basic) + len(null.free), dtype=object)
    point[basic] = table[:, 0]
    return point, False


class Pivots(NamedTuple):
    """A = M[lines, columns] has this inverse modulo p; each free column depends on the columns before it."""

    lines: list[int]
    columns: list[int]
    free: list[int]
    inverse: Int64s


def eliminate(matrix: Integers, prime: int) -> Pivots:
    """Exchange pivots in v = M u modulo p until no line is left, taking the columns from the left."""
    tableau: Int64s = (matrix % prime).astype(np.int64)
    unused = np.ones(len(tableau), dtype=bool)
    lines: list[int] = []
    columns: list[int] = []
    free: list[int] = []
    for j in range(tableau.shape[1]):
        check_interrupt()
        candidates = np.flatnonzero(unused & (tableau[:, j] != 0))
        if not len(candidates):
            free.append(j)
            continue
        line = int(candidates[0])
        # v_line = sum_j M_j u_j is solved for u_j, and put into the other lines.
        pivot = pow(int(tableau[line, j]), -1, prime)
        row = tableau[line] * (prime - pivot) % prime
        column = tableau[:, j].copy()
        column[line] = 0
        tableau += np.outer(column, row)
        tableau %= prime
        tableau[line] = row
        tableau[:, j] = column * pivot % prime
        tableau[line, j] = pivot
        unused[line] = False
        lines.append(line)
        columns.append(j)
    return Pivots(lines, columns, free, tableau[np.ix_(lines, columns)])


def solve(matrix: Integers, pivots: Pivots, right_sides: Integers, prime: int) -> tuple[Integers, int]:
    """Solve A U = B on the pivot lines: numerators and one denominator > 0, multiplied out as a check."""
    a = matrix[np.ix_(pivots.lines, pivots.columns)]
    b = right_sides[pivots.lines]
    if not b.any():
        return np.zeros(b.shape, dtype=object), 1
    numerator_bits, denominator_bits = cramer_bits(a, b)
    digits_enough = int((numerator_bits + denominator_bits + GUARD_BITS) / math.log2(prime)) + 1
    attempts = {max(1, digits_enough // part) for part in (8, 4, 2, 1)}
    digits: list[Int64s] = []
    for digit in lift(a, pivots.inverse, b, prime):
        check_interrupt()
        digits.append(digit)
        if len(digits) not in attempts:
            continue
        share = denominator_bits / (numerator_bits + denominator_bits)
        found = rebuild_fractions(evaluate(digits, prime), prime ** len(digits), share)
        if found is not None and not (a @ found[0] - found[1] * b).any():
            return found
        if len(digits) >= digits_enough:
            break
    raise AssertionError("Hadamard's bound was too small")


def cramer_bits(a: Integers, b: Integers) -> tuple[float, float]:
    """Bounds on log2 of Cramer's numerators and of det A, by Hadamard over the columns or over the rows."""

    def log2_norms(squares: Integers) -> list[float]:
        return [int(s).bit_length() / 2 for s in squares]

    a_squares, b_squares = a * a, b * b
    by_columns, by_rows = (sum(log2_norms(a_squares.sum(axis=axis))) for axis in (0, 1))
    longest = b_squares.max(axis=1)
    numerator_by_columns = by_columns + max(log2_norms(b_squares.sum(axis=0)))
    numerator_by_rows = sum(log2_norms(a_squares.sum(axis=1) + longest))
    return min(numerator_by_columns, numerator_by_rows), min(by_columns, by_rows)


def lift(a: Integers, inverse: Int64s, b: Integers, prime: int) -> Iterator[Int64s]:
    """The p-adic digits of A^-1 B, from -p/2 to p/2, without end."""
    size = len(a)
    width = 52 - (prime.bit_length() - 1) - size.bit_length()  # a sum of `size` products stays below 2^53
    a_limbs, inverse_limbs = split(a, width), split(inverse.astype(object), width)
    # |c| <= max(|B|, size max|A|) at all times; with one limb its update fits in 64 bits too.
    short = len(a_limbs) == 1 and int(abs(b).max()) < 2**61
    rest: NDArray[Any] = b.astype(np.int64) if short else b
    half = prime // 2
    while True:
        residue = (rest % prime).astype(np.int64)
        residue -= prime * (residue > half)
        digit = np.zeros(residue.shape, dtype=np.int64)
        for product in exact_products(inverse_limbs, residue)[::-1]:
            digit = ((digit << width) + product) % prime
        digit -= prime * (digit > half)
        yield digit
        total: NDArray[Any] = np.zeros((), dtype=np.int64 if short else object)
        for product in exact_products(a_limbs, digit)[::-1]:
            total = (total << width) + (product if short else product.astype(object))
        rest = (rest - total) // prime


def split(matrix: Integers, width: int) -> NDArray[np.float64]:
    """Write a matrix as sum_j limbs[j] * 2**(width j), every limb at most 2**width in size."""
    bits = int(abs(matrix).max()).bit_length()
    rest: NDArray[Any] = matrix.astype(np.int64) if bits <= 62 else matrix
    limbs = []
    for _ in range(bits // width):
        limbs.append((rest & ((1 << width) - 1)).astype(np.float64))
        rest = rest >> width
    return np.stack([*limbs, rest.astype(np.float64)])


def exact_products(limbs: NDArray[np.float64], digit: Int64s) -> Int64s:
    count, size, _ = limbs.shape
    product = limbs.reshape(count * size, size) @ digit.astype(np.float64)
    return product.astype(np.int64).reshape(count, size, -1)


def evaluate(digits: list[Int64s], prime: int) -> Integers:
    """x_0 + x_1 p + x_2 p^2 + ..., by halves."""
    terms: list[Integers] = [digit.astype(object) for digit in digits]
    power = prime
    while len(terms) > 1:
        pairs = [low + power * high for low, high in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[2 * len(pairs) :]
        power *= power
    return terms[0]


def rebuild_fractions(residues: Integers, modulus: int, share: float) -> tuple[Integers, int] | None:
    """Fractions n/D with one D > 0 and n = D x (mod m), small enough to be the only ones; None if none are.

    Of the bits of m, `share` is for D and the rest, less a guard, for n.
    """
    bits = modulus.bit_length() - GUARD_BITS
    if bits < 0:
        return None
    largest_denominator = 1 << int(bits * share + 1)
    largest_numerator = 1 << int(bits * (1 - share) + 1)
    denominator = 1
    for residue in residues.ravel():
        check_interrupt()
        scaled = residue * denominator % modulus
        if min(scaled, modulus - scaled) <= largest_numerator:
            continue
        # Euclid on (m, x): every remainder is s m + t x, so that remainder / t = x (mod m).
        before, now, t_before, t = modulus, scaled, 0, 1
        while now > largest_numerator:
            quotient, remainder = divmod(before, now)
            before, now, t_before, t = now, remainder, t, t_before - quotient * t
        denominator *= abs(t)
        if denominator > largest_denominator:
            return None
    numerators = residues * denominator % modulus
    return np.where(numerators > modulus // 2, numerators - modulus, numerators), denominator
