"""Margins in the space of a kernel with rational values, in exact arithmetic: linear, poly and precomputed, and others
whose class knows `exact_values`.

    P(w, b) = 1/2 |w|^2 + sum_i C_i loss(1 - y_i (w.phi(x_i) + b)),       w = sum_j a'_j y_j phi(x_j)
    D = max_t  t sum_i a'_i - t^2 / 2 (|w|^2 + sum_i q_i a'_i^2)

with a' as in `kernel_duality`: with a bias the class of the larger sum scaled down, t <= 1 where the box is finite. All
numbers are doubles, so integers times powers of two, and so are all values of a polynomial kernel; of q_i see
`exact_soft_margin`. With A_j the weights as integers, A_+ and A_- their sums, and p_i, n_i the sums of A_j k(x_i, x_j)
over the two classes,

    w.phi(x_i) = min(A_+, A_-) (A_- p_i - A_+ n_i) / (A_+ A_-)  times a power of two;  p_i - n_i without a bias.

No plane separates the classes exactly when some weights l >= 0, l != 0 have sum_i l_i y_i phi(x_i) = 0 and, with a
bias, sum_i l_i y_i = 0. In coordinates of phi (the monomials, for poly; any factor of a line is left out, as it moves
no null vector) this is a null vector of an integer matrix. Without coordinates, sum_j k(x_i, x_j) y_j l_j = 0 for every
row i with l_i > 0 says that |w|^2 = 0. Two equal rows of opposite classes are a witness whatever the kernel; for
exponentials with gamma > 0 there is no other: their matrices of the values of distinct rows are positive definite.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.optimize import linprog

from maxmargin.certificates.exact import float_circuit, primitive
from maxmargin.certificates.exact_linear_algebra import (
    Integers,
    common_integers,
    dyadic,
    nonnegative_null_vector,
    power_of_two,
    split,
)
from maxmargin.certificates.exact_soft_margin import (
    aligned,
    integers_of,
    is_within,
    losses,
    products_with,
    side_sum,
    sum_of_quotients,
)
from maxmargin.certificates.passes import chosen_rows
from maxmargin.data.table import Matrix, Vector, is_sparse
from maxmargin.problems.kernels import Kernel, Linear, ProductKernel
from maxmargin.problems.statement import KernelMargin

Rows = NDArray[np.intp]

MOST_DEGREE = 1000  # of a polynomial: a value has about a hundred times as many digits, and each pair of rows has one
EXACT_VALUES = 2**17  # numbers of rows, or kernel values, held as Python's integers at a time
MOST_COORDINATES = 300  # of phi, to look for a witness in
EXCHANGES = 30
NEGLIGIBLE_PIVOT = 1e-10  # of the largest: what is left of a kernel matrix is rounding


def has_exact_values(kernel: Kernel) -> bool:
    """Whether values are rational, and short enough to be written out."""
    return not kernel.irrational and kernel.degree <= MOST_DEGREE


class ExactDirection(NamedTuple):
    """w(a'): w.phi(x_i) = values_i times `factor`; |w|^2; sum_i a'_i; and sum_i q_i a'_i^2, or a little more."""

    values: Integers
    factor: Fraction
    square: Fraction
    gain: Fraction
    bent: Fraction = Fraction(0)


def direction(problem: KernelMargin, a: Vector) -> ExactDirection:
    """w(a'), zero if one of the classes has no weight, without a bias both, or a weight is not in its box."""
    inside = is_within(a, problem.costs, problem.loss)
    integers, unit = integers_of(a if inside else np.zeros(len(a)))
    plus = problem.signs > 0
    sides = [np.flatnonzero((integers != 0) & side) for side in (plus, ~plus)]
    positive, negative = (int(sum(integers[side])) for side in sides)
    # a' = a lighter times / over
    lighter, times, over = min(positive, negative), (negative, positive), positive * negative
    if not problem.fit_intercept:
        lighter, times, over = 1, (1, 1), min(1, positive + negative)
    if over == 0:
        return ExactDirection(np.zeros(len(a), dtype=object), Fraction(1), Fraction(0), Fraction(0))
    (of_plus, of_minus), shared = aligned([sums_with(problem, side, integers[side]) for side in sides])
    values, scale = times[0] * of_plus - times[1] * of_minus, Fraction(lighter, over) * power_of_two(unit)
    factor = scale * power_of_two(shared)
    per_class = [int(sum(integers[side] * values[side])) for side in sides]
    square = (times[0] * per_class[0] - times[1] * per_class[1]) * scale * factor
    gain, bent = (times[0] * positive + times[1] * negative) * scale, Fraction(0)
    if problem.loss.is_smooth:
        quotients = [sum_of_quotients(times[k] * integers[side], problem.costs[side]) for k, side in enumerate(sides)]
        bent = sum(quotients, Fraction(0)) * scale * scale * Fraction(problem.loss.bend)
    return ExactDirection(values, factor, square, gain, bent)


def primal_value(problem: KernelMargin, a: Vector, b: float) -> Fraction | None:
    """P of the plane that a and b make; None if it is infinite: a hard margin, and the plane does not separate."""
    w = direction(problem, a)
    # All in units of 2^least / denominator.
    (bias, bias_unit), denominator = integers_of(np.array([b])), w.factor.denominator
    odd = denominator >> (twos := (denominator & -denominator).bit_length() - 1)
    least = min(-twos, bias_unit, 0)
    one = odd << -least
    reached = w.values * (w.factor.numerator << (-twos - least)) + odd * (int(bias[0]) << (bias_unit - least))
    functional = np.where(problem.signs > 0, reached, -reached)
    if problem.is_hard:
        m = Fraction(int(min(functional)), one)
        return w.square / (2 * m * m) if m > 0 else None
    slack = one - functional
    prices, price_unit = integers_of(problem.costs)
    paid = losses(problem.loss, prices, np.where(slack > 0, slack, 0), Fraction(1, one))
    return w.square / 2 + paid * power_of_two(price_unit)


def dual_value(problem: KernelMargin, a: Vector) -> Fraction | None:
    """D of the feasible point that a makes; None if it is infinite: a hard margin, and w(a') = 0."""
    w = direction(problem, a)
    if w.square < 0:
        raise ValueError(f"the kernel is not positive semidefinite: |w|^2 = {float(w.square):.6g} for some rows")
    if problem.is_hard:
        return w.gain * w.gain / (2 * w.square) if w.square else None if w.gain else Fraction(0)
    curve = w.square + w.bent
    t = w.gain / curve if curve else Fraction(1)
    if problem.loss.is_bounded:
        t = min(t, Fraction(1))
    return t * w.gain - t * t * curve / 2


def primal_at_most(problem: KernelMargin, a: Vector, b: float, bound: float) -> bool:
    if not math.isfinite(bound):
        return bound == math.inf
    value = primal_value(problem, a, b)
    return value is not None and value <= Fraction(bound)


def dual_at_least(problem: KernelMargin, a: Vector, bound: float) -> bool:
    if bound <= 0.0:
        return True
    value = dual_value(problem, a)
    return value is None or (bound < math.inf and value >= Fraction(bound))


def sums_with(problem: KernelMargin, rows: Rows, weights: Integers) -> tuple[Integers, int]:
    """sum_j weights_j k(x_i, x_j) over these rows j, for every row i: integers times one power of two."""
    kernel, X = problem.kernel, problem.X
    everything = np.arange(problem.n_rows)
    if not len(rows):
        return np.zeros(problem.n_rows, dtype=object), 0
    if isinstance(kernel, Linear):
        w, unit = side_sum(X, rows, weights)
        parts = [products_with(part, w) for _, part in chosen_rows(X, everything, EXACT_VALUES)]
        parts = [(products, own + unit) for products, own in parts]
    else:
        parts = []
        for part in np.array_split(everything, max(1, len(everything) * len(rows) // EXACT_VALUES)):
            values, own = kernel_values(problem, part, rows)
            parts.append((values @ weights, own))
    sums, unit = aligned(parts)
    return np.concatenate(sums), unit


def kernel_values(problem: KernelMargin, some: Rows, others: Rows) -> tuple[Integers, int]:
    """k(x_i, x_j) for these rows i and these rows j: integers times one power of two."""
    kernel, X = problem.kernel, problem.X
    if kernel.is_table:
        return common_integers(dyadic(as_dense(X[some])[:, problem.points.places[others]]))
    left, left_unit = common_integers(dyadic(as_dense(X[some])))
    right, right_unit = common_integers(dyadic(as_dense(X[others])))
    if not isinstance(kernel, ProductKernel):
        (left, right), unit = aligned([(left, left_unit), (right, right_unit)])
        return kernel.exact_values(left, right, unit)
    inner, unit = integer_products(left, right), left_unit + right_unit
    numbers, shared = integers_of(np.array([kernel.gamma, kernel.coef0]))
    gamma, coef0 = int(numbers[0]), int(numbers[1])
    least = min(unit, 0)  # gamma inner 2^(shared + unit) + coef0 2^shared
    base = inner * (gamma << (unit - least)) + (coef0 << -least)
    return integer_power(base, kernel.degree), (shared + least) * kernel.degree


def integer_power(base: Integers, degree: int) -> Integers:
    return np.asarray(base**degree if degree else np.ones(base.shape, dtype=object))


def integer_products(left: Integers, right: Integers) -> Integers:
    """left right' by products of limbs in float64, every sum of which is exact.

    >>> integer_products(np.array([[3, 2**70]], dtype=object), np.array([[5, -1]], dtype=object)) + 2**70
    array([[15]], dtype=object)
    """
    if left.size == 0 or right.size == 0:
        return np.zeros((len(left), len(right)), dtype=object)
    width = (52 - left.shape[1].bit_length()) // 2
    lefts, rights = split(left, width), split(right, width)
    total = np.zeros((len(left), len(right)), dtype=object)
    for place in range(len(lefts) + len(rights) - 2, -1, -1):
        pairs = [(i, place - i) for i in range(len(lefts)) if 0 <= place - i < len(rights)]
        sums = sum((lefts[i] @ rights[j].T).astype(np.int64) for i, j in pairs)
        total = (total << width) + np.asarray(sums).astype(object)
    return total


def as_dense(X: Matrix) -> NDArray[np.float64]:
    return np.asarray(X.toarray() if is_sparse(X) else X)


# --------------------------------------------------------------------------------------- no plane separates


def witness(problem: KernelMargin) -> Vector | None:
    """Weights l >= 0 of the rows that prove that no plane separates the classes; None if none were found."""
    pair = equal_pair(problem, np.arange(problem.n_rows))
    weights = np.zeros(problem.n_rows)
    if pair is not None:
        weights[list(pair)] = 1.0
        return weights
    coordinates = float_coordinates(problem)
    if coordinates is None:
        return None
    guess = float_witness(coordinates, problem.signs, problem.fit_intercept)
    rows = np.flatnonzero(guess > 0.0)
    exact = exact_witness(problem, rows, guess[rows])
    if exact is None:
        return None
    total = sum(exact)
    weights[rows] = [0.0 if weight == 0 else max(weight / total, math.ulp(0.0)) for weight in exact]
    return weights


def exact_witness(problem: KernelMargin, rows: Rows, guess: Vector) -> list[int] | None:
    """Integers l >= 0 of these rows, not all 0, with sum_i l_i y_i phi(x_i) = 0 and, with a bias, sum_i l_i y_i = 0; or
    None if none were found.

    The guess says which rows to try first, and may be wrong in every digit.
    """
    pair = equal_pair(problem, rows)
    if pair is not None:
        return [int(row in pair) for row in rows]
    if len(rows) == 0 or not has_exact_values(problem.kernel):
        return None
    if problem.fit_intercept and len(np.unique(problem.signs[rows])) < 2:
        return None
    signs = problem.signs[rows].astype(np.int64).astype(object)
    matrix = np.vstack([coordinates_of(problem, rows).T * signs, *([signs] if problem.fit_intercept else [])])
    for tried in (float_circuit(matrix, guess), np.arange(len(rows))):
        found, _ = nonnegative_null_vector(matrix[:, tried], EXCHANGES)
        if found is not None:
            weights = np.zeros(len(rows), dtype=object)
            weights[tried] = found
            # The proof: it rests on these integers, not on how they were found.
            if (matrix @ weights).any() or (weights < 0).any() or not weights.any():
                raise AssertionError("the combination does not vanish")
            return primitive(weights)
    return None


def coordinates_of(problem: KernelMargin, rows: Rows) -> Integers:
    """Rows of integers whose combinations vanish exactly where those of phi(x_i) do."""
    kernel = problem.kernel
    if number_of_monomials(problem) > max(MOST_COORDINATES, len(rows)):
        return kernel_values(problem, rows, rows)[0].T
    table = dyadic(as_dense(problem.X[rows])).mantissas
    return np.stack([np.prod(table[:, list(own)], axis=1) for own in monomials(kernel, table.shape[1])], axis=1)


def monomials(kernel: Kernel, n_columns: int) -> Iterator[tuple[int, ...]]:
    """The columns that each coordinate of phi multiplies: `degree` of them, or also fewer if coef0 > 0."""
    least = 0 if kernel.coef0 else kernel.degree
    degrees = range(least, kernel.degree + 1) if kernel.gamma else range(least, 1)
    return itertools.chain.from_iterable(
        itertools.combinations_with_replacement(range(n_columns), degree) for degree in degrees
    )


def number_of_monomials(problem: KernelMargin) -> float:
    """At most as many; infinite where phi is none of them."""
    degree = problem.kernel.degree
    return math.comb(problem.n_columns + degree, degree) if isinstance(problem.kernel, ProductKernel) else math.inf


def equal_pair(problem: KernelMargin, rows: Rows) -> tuple[int, int] | None:
    """Two equal rows of opposite classes, if there are some among these."""
    seen: dict[bytes, int] = {}
    some = problem.X[rows]
    if not is_sparse(some):  # equal rows have equal sums, and few others have
        with np.errstate(over="ignore", invalid="ignore"):
            _, group, sizes = np.unique(some.sum(axis=1), return_inverse=True, return_counts=True)
        is_repeated = sizes[group] > 1
        rows, some = rows[is_repeated], some[is_repeated]
    for row, key in zip(rows, contents(some), strict=True):
        before = seen.setdefault(key, int(row))
        if problem.signs[before] != problem.signs[row]:
            return before, int(row)
    return None


def contents(X: Matrix) -> Iterator[bytes]:
    """What is in each row, as bytes that are equal where the rows are."""
    if not is_sparse(X):
        yield from (row.tobytes() for row in np.ascontiguousarray(X + 0.0))  # -0.0 is 0.0
        return
    X = X.copy()
    X.eliminate_zeros()
    X.sort_indices()
    for start, stop in itertools.pairwise(X.indptr):
        yield X.indices[start:stop].tobytes() + X.data[start:stop].tobytes()


@np.errstate(all="ignore")
def float_coordinates(problem: KernelMargin) -> NDArray[np.float64] | None:
    """Rows with the inner products that the kernel says, up to rounding and to the scale of each column."""
    kernel = problem.kernel
    if kernel.irrational:
        return None
    if not isinstance(kernel, ProductKernel):
        return factor_of(kernel.values(problem.points, problem.points))
    if number_of_monomials(problem) > max(MOST_COORDINATES, problem.n_columns + 1):
        return None
    table = as_dense(problem.X).astype(np.float64)
    table = table / (np.abs(table).max(axis=0) + math.ulp(0.0))
    return np.stack([np.prod(table[:, list(own)], axis=1) for own in monomials(kernel, table.shape[1])], axis=1)


def factor_of(K: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """G with G G' about K and few columns, by Cholesky's rule with pivots; None if it needs many."""
    factor, order, rank, _ = scipy.linalg.lapack.dpstrf(K, lower=1, tol=NEGLIGIBLE_PIVOT * np.diag(K).max(initial=0.0))
    if rank > MOST_COORDINATES:
        return None
    G = np.empty((len(K), rank))
    G[order - 1] = np.tril(factor)[:, :rank]
    return G


def float_witness(coordinates: NDArray[np.float64], signs: Vector, fit_intercept: bool = True) -> Vector:
    """A vertex of { l >= 0, sum_i l_i y_i phi(x_i) = 0, sum_i l_i y_i = 0, sum_i l_i = 2 }; zero if there is none.

    Without a bias the second equation falls away.
    """
    n = len(signs)
    lines = np.vstack([coordinates.T * signs, *([signs] if fit_intercept else []), np.ones(n)])
    right = np.append(np.zeros(len(lines) - 1), 2.0)
    answer = linprog(np.zeros(n), A_eq=lines, b_eq=right, method="highs-ds")
    return np.asarray(answer.x) if answer.status == 0 else np.zeros(n)
