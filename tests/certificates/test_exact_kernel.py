"""Kernel margins in exact arithmetic: both sides pair by pair in fractions, long integers, and witnesses."""

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin.certificates import exact_kernel, exact_soft_margin
from maxmargin.problems.kernels import KernelChoice
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin

FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
pairs = functools.partial(zip, strict=True)


def objects(values):
    return np.array(values, dtype=object)


POINTS = np.array([[0.5, -1.0], [2.0, 0.25], [0.0, 0.0], [1.0, 1.0], [-3.0, 0.125]])
CLASSES = np.array([1.0, -1.0, 1.0, -1.0, 1.0])


def kernel_problem(table, signs, C, kernel, gamma=0.5, coef0=1.5, degree=3):
    kernel = KernelChoice(kernel, gamma, coef0, degree).on(table)
    signs = np.asarray(signs, dtype=float)
    costs = np.broadcast_to(np.asarray(C, dtype=float), signs.shape).copy()
    return KernelMargin(table, signs, costs, HINGE, True, kernel, kernel.points(table))


def slow_kernel(problem, table):
    kernel = problem.kernel
    if kernel.name == "precomputed":
        return [[Fraction(v) for v in row] for row in table.tolist()]
    rows = [[Fraction(v) for v in row] for row in table.tolist()]
    inner = [[sum(u * v for u, v in pairs(x, z)) for z in rows] for x in rows]
    if kernel.name == "linear":
        return inner
    return [[(Fraction(kernel.gamma) * v + Fraction(kernel.coef0)) ** kernel.degree for v in row] for row in inner]


def slow_kernel_sides(problem, K, a, b):
    signs = [int(s) for s in problem.signs]
    a = [Fraction(v) for v in a]
    sums = [sum(v for v, s in pairs(a, signs) if s == side) for side in (1, -1)]
    a = [v * min(sums) / sums[0 if s > 0 else 1] for v, s in pairs(a, signs)]
    values = [sum(v * s * k for v, s, k in pairs(a, signs, row)) for row in K]
    square, gain = sum(v * s * f for v, s, f in pairs(a, signs, values)), sum(a)
    functional = [s * (f + Fraction(b)) for s, f in pairs(signs, values)]
    if problem.is_hard:
        m = min(functional)
        return (square / (2 * m * m) if m > 0 else None), gain * gain / (2 * square)
    paid = sum(Fraction(c) * max(0, 1 - f) for c, f in pairs(problem.costs.tolist(), functional))
    t = min(gain / square, 1)
    return square / 2 + paid, t * gain - t * t * square / 2


@FORMS
@pytest.mark.parametrize("kernel", ["linear", "poly", "precomputed"])
@pytest.mark.parametrize("few", [1, 2**17])
def test_both_sides_of_a_kernel_whatever_the_blocks(form, kernel, few, monkeypatch):
    monkeypatch.setattr(exact_kernel, "EXACT_VALUES", few)
    monkeypatch.setattr(exact_soft_margin, "EXACT_BLOCK", few)
    table = POINTS if kernel != "precomputed" else POINTS @ POINTS.T + np.diag([1.0, 2.0, 0.5, 0.0, 2.0**-30])
    for C in (3.0, [1.0, 0.1, 3.0, 2.0, 7.0], math.inf)[:: 1 if few > 1 else 2]:
        problem = kernel_problem(form(table), CLASSES, C, kernel)
        K = slow_kernel(problem, table)
        for a in ([1.0, 0.1, 0.5, 0.0, 0.25], [0.0, 2.0**-60, 0.0, 0.0, 0.1], [0.0, 0.0, 0.0, 1.0, 2.0**-20]):
            for b in (-3.0 * 2.0**-70, 2.0**70):
                primal, dual = slow_kernel_sides(problem, K, a, b)
                assert exact_kernel.primal_value(problem, np.array(a), b) == primal
                assert exact_kernel.dual_value(problem, np.array(a)) == dual


@pytest.mark.parametrize("degree", [0, 1, 2, 5])
@pytest.mark.parametrize("gamma", [2.0**-70, 0.1, 2.0**60])
@pytest.mark.parametrize("coef0", [0.0, 0.3, 2.0**50])
def test_values_of_polynomial_kernels(degree, gamma, coef0):
    scales = np.array([[1.0, 2.0**30], [2.0**-40, 1.0], [0.0, 0.0], [2.0**20, 3.0]])
    problem = kernel_problem(scales, [1, -1, 1, -1], 1.0, "poly", gamma, coef0, degree)
    some, others = np.array([0, 3]), np.array([1, 2, 0])
    values, unit = exact_kernel.kernel_values(problem, some, others)
    K = slow_kernel(problem, scales)
    for i, j in itertools.product(range(2), range(3)):
        assert Fraction(int(values[i, j])) * Fraction(2) ** unit == K[some[i]][others[j]]
    large = kernel_problem(2.0**40 * scales, [1, -1, 1, -1], 1.0, "poly", gamma, coef0, degree)  # units above 1
    values, unit = exact_kernel.kernel_values(large, some[1:], others[2:])
    assert Fraction(int(values[0, 0])) * Fraction(2) ** unit == slow_kernel(large, 2.0**40 * scales)[3][0]


def test_some_megabytes_are_held_at_a_time():
    assert 2**14 <= exact_kernel.EXACT_VALUES <= 2**20


def test_kernels_whose_values_can_be_written_out():
    for name, degree, known in (
        ("linear", 1, True),
        ("poly", 1000, True),
        ("poly", 1001, False),
        ("precomputed", 1, True),
        ("rbf", 1, False),
    ):
        problem = kernel_problem(np.eye(2), [1, -1], 1.0, name, degree=degree)
        assert exact_kernel.has_exact_values(problem.kernel) is known


def test_as_many_values_at_a_time_as_may_be_held(monkeypatch):
    problem, shapes = kernel_problem(POINTS, CLASSES, 1.0, "poly"), []
    plain = exact_kernel.kernel_values

    def observed(problem, some, others):
        shapes.append((len(some), len(others)))
        return plain(problem, some, others)

    monkeypatch.setattr(exact_kernel, "kernel_values", observed)
    for most, expected in ((2**17, [(5, 3)]), (15, [(5, 3)]), (5, [(2, 3), (2, 3), (1, 3)])):
        shapes.clear()
        monkeypatch.setattr(exact_kernel, "EXACT_VALUES", most)
        exact_kernel.sums_with(problem, np.array([0, 1, 4]), objects([1, 2, 3]))
        assert shapes == expected


def test_a_plane_at_its_hard_edge():
    problem = kernel_problem(np.array([[1.0], [-1.0]]), [1, -1], math.inf, "linear")
    a = np.array([1.0, 1.0])
    assert exact_kernel.primal_value(problem, a, 0.0) == Fraction(1, 2)
    assert exact_kernel.primal_value(problem, a, 2.0) is None  # a row lies on it
    assert exact_kernel.primal_value(problem, a, 3.0) is None
    assert exact_kernel.primal_value(problem, a, 1.0) == 2
    same = kernel_problem(np.array([[1.0], [1.0]]), [1, -1], math.inf, "linear")
    assert exact_kernel.dual_value(same, a) is None  # w = 0: no plane
    assert exact_kernel.dual_value(same, np.zeros(2)) == 0
    soft = kernel_problem(np.array([[1.0], [1.0]]), [1, -1], 1.0, "linear")
    assert exact_kernel.dual_value(soft, a) == 2
    assert exact_kernel.primal_value(soft, np.zeros(2), 0.0) == 2


def test_weights_outside_of_their_box_are_none():
    problem = kernel_problem(np.array([[1.0], [-1.0]]), [1, -1], 1.0, "linear")
    assert exact_kernel.dual_value(problem, np.array([1.0, 1.0])) == Fraction(1, 2)
    for bad in (math.nextafter(1.0, 2.0), -5e-324, math.nan, math.inf, 0.0):
        for a in ([bad, 1.0], [1.0, bad]):
            found = exact_kernel.direction(problem, np.array(a))
            assert (found.values.tolist(), found.factor, found.square, found.gain) == ([0, 0], 1, 0, 0)


def test_a_kernel_that_is_not_positive_semidefinite_has_no_dual_value():
    problem = kernel_problem(np.array([[0.0, 1.0], [1.0, 0.0]]), [1, -1], 1.0, "precomputed")
    with pytest.raises(ValueError, match=r"\|w\|\^2 = -2 "):
        exact_kernel.dual_value(problem, np.ones(2))


def test_products_of_long_integers():
    random = np.random.default_rng(0)
    for bits in (3, 24, 25, 26, 52, 53, 62, 63, 64, 200):
        for n_columns in (1, 2, 3, 7, 64):
            left, right = (
                objects([[int(random.choice([-1, 1])) * (2**bits - 1) for _ in range(n_columns)] for _ in range(k)])
                for k in (2, 3)
            )
            assert (exact_kernel.integer_products(left, right) == left @ right.T).all()
            low = left >> (bits // 2)
            assert (exact_kernel.integer_products(low, right) == low @ right.T).all()
    assert exact_kernel.integer_products(objects([[3], [5]]), objects([[7]])).tolist() == [[21], [35]]
    assert exact_kernel.integer_products(objects([[3]]), objects([[7], [5]])).tolist() == [[21, 15]]
    empty = exact_kernel.integer_products(objects([[]]), np.zeros((2, 0), dtype=object))
    assert empty.tolist() == [[0, 0]]


# -------------------------------------------------------------------------------------------------------- witnesses


def test_coordinates_of_a_kernel():
    def names(kernel, gamma, coef0, degree, n_columns=2):
        kernel = KernelChoice(kernel, gamma, coef0, degree).on(np.ones((1, n_columns)))
        return list(exact_kernel.monomials(kernel, n_columns))

    assert names("linear", 1.0, 0.0, 3) == [(0,), (1,)]
    assert names("poly", 1.0, 0.0, 2) == [(0, 0), (0, 1), (1, 1)]
    assert names("poly", 1.0, 0.5, 2) == [(), (0,), (1,), (0, 0), (0, 1), (1, 1)]
    assert names("poly", 0.0, 0.5, 2) == [()]
    assert names("poly", 1.0, 0.5, 0) == [()]
    assert names("poly", 1.0, 0.0, 1, 3) == [(0,), (1,), (2,)]


def test_how_many_monomials_there_are():
    for n_columns, degree in ((1, 1), (2, 3), (5, 2)):
        table = np.ones((2, n_columns))
        problem = kernel_problem(table, [1, -1], 1.0, "poly", degree=degree)
        assert exact_kernel.number_of_monomials(problem) == len(list(exact_kernel.monomials(problem.kernel, n_columns)))
        linear = kernel_problem(table, [1, -1], 1.0, "linear", degree=degree)
        assert exact_kernel.number_of_monomials(linear) == n_columns + 1


@FORMS
def test_equal_rows_of_opposite_classes(form):
    table = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 0.0], [-0.0, 2.0], [1.0, 0.0]])
    problem = kernel_problem(form(table), [1, -1, 1, 1, -1], 1.0, "rbf")
    assert exact_kernel.equal_pair(problem, np.arange(5)) == (1, 3)
    assert exact_kernel.equal_pair(problem, np.array([0, 1, 2])) is None
    assert exact_kernel.equal_pair(problem, np.array([4, 1, 2])) == (4, 2)
    weights = exact_kernel.witness(problem)
    assert weights.tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]
    assert exact_kernel.exact_witness(problem, np.array([0, 4, 2]), np.ones(3)) == [1, 1, 0]
    assert exact_kernel.exact_witness(problem, np.array([0, 1]), np.ones(2)) is None  # rbf has no other witness


@FORMS
def test_rows_that_differ_in_their_last_digit_are_not_equal(form):
    for one, other in ((1e-20, 2e-20), (1.0, 1.0 + 2.0**-52), (5e-324, 0.0)):
        problem = kernel_problem(form(np.array([[one], [other]])), [1, -1], 1.0, "rbf")
        assert exact_kernel.equal_pair(problem, np.arange(2)) is None


def test_stored_zeros_and_unsorted_entries_are_equal_rows():
    table = sparse.csr_array(
        (np.array([1.0, 2.0, 2.0, 1.0, 0.0]), np.array([0, 2, 2, 0, 1]), np.array([0, 2, 5])), shape=(2, 3)
    )
    problem = kernel_problem(table, [1, -1], 1.0, "rbf")
    assert exact_kernel.equal_pair(problem, np.arange(2)) == (0, 1)
    assert table.nnz == 5  # the table itself is left as it is
    other = sparse.csr_array(np.array([[1.0, 0.0, 2.0], [1.0, 2.0, 0.0]]))
    assert exact_kernel.equal_pair(kernel_problem(other, [1, -1], 1.0, "rbf"), np.arange(2)) is None


LINE = np.array([[-1.0], [0.0], [1.0], [2.0]])


@pytest.mark.parametrize("kernel", ["linear", "poly", "precomputed"])
def test_a_witness_is_a_combination_that_vanishes(kernel):
    table = LINE if kernel != "precomputed" else (LINE @ LINE.T + 1.0) ** 2
    problem = kernel_problem(table, [1, -1, 1, -1], math.inf, kernel, 1.0, 1.0, 2)
    weights = exact_kernel.witness(problem)
    assert weights.min() >= 0.0
    assert math.fsum(weights) == pytest.approx(1.0)
    K = [[float(v) for v in row] for row in slow_kernel(problem, table)]
    signed = weights * problem.signs
    assert math.fsum(signed) == pytest.approx(0.0, abs=1e-12)
    assert float(signed @ np.array(K) @ signed) == pytest.approx(0.0, abs=1e-12)
    rows = np.arange(4)
    exact = exact_kernel.exact_witness(problem, rows, np.ones(4))
    w = [int(s) * v for s, v in pairs(problem.signs, exact)]
    K = slow_kernel(problem, table)
    assert sum(w) == 0
    assert max(exact) > 0
    assert not any(sum(v * k for v, k in pairs(w, row)) for row in K)
    assert math.gcd(*exact) == 1


def test_the_weights_of_a_witness_are_never_rounded_to_nothing(monkeypatch):
    """A row that is part of it stays part of it, however light; the others carry nothing."""
    assert exact_kernel.witness(kernel_problem(LINE, [1, -1, 1, -1], math.inf, "rbf")) is None  # no coordinates
    problem = kernel_problem(LINE, [1, -1, 1, -1], math.inf, "linear")
    monkeypatch.setattr(exact_kernel, "float_witness", lambda coordinates, signs, fit_intercept: np.ones(4))
    monkeypatch.setattr(exact_kernel, "exact_witness", lambda problem, rows, guess: [0, 1, 10**400, 3 * 10**400])
    assert exact_kernel.witness(problem).tolist() == [0.0, 5e-324, 0.25, 0.75]
    monkeypatch.setattr(exact_kernel, "exact_witness", lambda problem, rows, guess: None)
    assert exact_kernel.witness(problem) is None


def test_no_witness_without_rows_of_both_classes():
    problem = kernel_problem(LINE, [1, -1, 1, -1], math.inf, "linear")
    for rows in ([], [0], [0, 2], [1, 3]):
        assert exact_kernel.exact_witness(problem, np.array(rows, dtype=int), np.ones(len(rows))) is None
    assert exact_kernel.exact_witness(problem, np.array([0, 1]), np.ones(2)) is None
    assert exact_kernel.exact_witness(problem, np.array([0, 1, 2]), np.ones(3)) == [1, 2, 1]
    assert exact_kernel.exact_witness(problem, np.array([0, 1, 2, 3]), np.array([1.0, 2.0, 1.0, 0.0])) == [1, 2, 1, 0]


@pytest.mark.parametrize("wrong", [[1, 1, 1, 1], [0, 0, 0, 0], [-1, -2, -1, 0]])
def test_a_combination_is_multiplied_out_whoever_found_it(wrong, monkeypatch):
    monkeypatch.setattr(exact_kernel, "float_circuit", lambda matrix, guess: np.arange(4))
    monkeypatch.setattr(exact_kernel, "nonnegative_null_vector", lambda matrix, exchanges: (objects(wrong), False))
    problem = kernel_problem(LINE, [1, -1, 1, -1], math.inf, "linear")
    with pytest.raises(AssertionError, match="does not vanish"):
        exact_kernel.exact_witness(problem, np.arange(4), np.ones(4))


def test_coordinates_or_values_of_the_kernel():
    """As many monomials as it is worth to write down, and as many as there are rows in any case."""
    rows = np.arange(4)
    for n_columns, kind in ((299, "monomials"), (300, "values")):
        table = np.zeros((4, n_columns))
        table[:, :1] = LINE
        problem = kernel_problem(table, [1, -1, 1, -1], math.inf, "linear")
        found = exact_kernel.coordinates_of(problem, rows)
        assert found.shape == ((4, n_columns) if kind == "monomials" else (4, 4))
        assert exact_kernel.exact_witness(problem, rows, np.ones(4)) is not None


def test_coordinates_of_integers():
    problem = kernel_problem(np.array([[0.5, 3.0], [2.0, 0.0]]), [1, -1], 1.0, "poly", 1.0, 1.0, 2)
    assert exact_kernel.coordinates_of(problem, np.arange(2)).tolist() == [[1, 1, 3, 1, 3, 9], [1, 4, 0, 16, 0, 0]]
    table = kernel_problem(np.array([[4.0, 1.0], [2.0, 3.0]]), [1, -1], 1.0, "precomputed")
    assert exact_kernel.coordinates_of(table, np.arange(2)).tolist() == [[4, 2], [1, 3]]


def test_coordinates_in_float64():
    """Up to the scale of each column, which moves no null vector."""
    problem = kernel_problem(np.array([[4.0, -1.0], [2.0, 0.5]]), [1, -1], 1.0, "poly", 1.0, 1.0, 2)
    found = exact_kernel.float_coordinates(problem)
    assert found.tolist() == [[1.0, 1.0, -1.0, 1.0, -1.0, 1.0], [1.0, 0.5, 0.5, 0.25, 0.25, 0.25]]
    zero = kernel_problem(np.array([[4.0, 0.0], [2.0, 0.0]]), [1, -1], 1.0, "linear")
    assert exact_kernel.float_coordinates(zero).tolist() == [[1.0, 0.0], [0.5, 0.0]]
    assert exact_kernel.float_coordinates(kernel_problem(LINE, [1, -1, 1, -1], 1.0, "rbf")) is None
    for degree, known in ((23, True), (24, False)):  # (2 + degree) over 2: 300, 325
        wide = kernel_problem(np.ones((2, 2)), [1, -1], 1.0, "poly", degree=degree)
        assert (exact_kernel.float_coordinates(wide) is not None) is known
    long = kernel_problem(np.ones((2, 400)), [1, -1], 1.0, "linear")
    assert exact_kernel.float_coordinates(long).shape == (2, 400)


SMALL_TABLE = np.array([[4.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]])


def test_factors_of_a_kernel_matrix():
    random = np.random.default_rng(0)
    for n, rank in ((6, 6), (9, 3), (300, 300), (301, 301), (400, 20)):
        G = random.normal(size=(n, rank))
        K = G @ G.T
        found = exact_kernel.factor_of(K)
        if rank > 300:
            assert found is None
            continue
        assert found.shape == (n, rank)
        assert np.allclose(found @ found.T, K, atol=1e-8 * np.abs(K).max())
    small = np.diag([1.0, 1.5e-10, 0.7e-10])
    for scale in (1.0, 1e-12, 1e6):
        assert exact_kernel.factor_of(scale * small).shape == (3, 2)  # what is left is rounding
    table = kernel_problem(SMALL_TABLE, [1, -1, 1], 1.0, "precomputed")
    G = exact_kernel.float_coordinates(table)
    assert np.allclose(G @ G.T, SMALL_TABLE)
    assert exact_kernel.factor_of(4.0 * np.ones((1, 1))).tolist() == [[2.0]]


def test_a_vertex_of_the_witnesses():
    lines = np.array([[-1.0], [0.0], [1.0]])
    found = exact_kernel.float_witness(lines, np.array([1.0, -1.0, 1.0]))
    assert found == pytest.approx([0.5, 1.0, 0.5])
    assert exact_kernel.float_witness(lines, np.array([1.0, 1.0, -1.0])).tolist() == [0.0] * 3
