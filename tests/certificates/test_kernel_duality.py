"""Both sides of a margin in the space of a kernel: what float64 says, against fractions and long decimals.

The oracle (`kernel_oracle`) is written down as the formulas are, pair by pair, and shares nothing with the library; the
library's own exact arithmetic is held against it, and float64 against both. Rounding errors are to be covered by what
is stated, on tables and numbers of any size.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from kernel_oracle import kernel_table, sides, some_problem

from maxmargin.certificates import exact_kernel
from maxmargin.certificates.kernel_duality import measure
from maxmargin.problems.kernels import KERNELS, KernelChoice, Precomputed, Rbf
from maxmargin.problems.losses import HINGE, LOSSES
from maxmargin.problems.statement import KernelMargin


def measure_of(problem, a):
    """What is measured; None if the kernel is refused."""
    try:
        return measure(problem, a)
    except ValueError:
        return None


def check(problem, a, exact):
    """Whether the statement is any good; that it is true is asserted."""
    found = measure_of(problem, a)
    if found is None:  # a rounded table that is not positive semidefinite
        assert isinstance(problem.kernel, Precomputed)
        assert sides(problem, a, 0.0)[2] < 0
        return False
    primal, dual, square, values = sides(problem, a, found.b)
    slip = 1 if exact else 1 + Fraction(1, 10**45)
    if exact:
        assert exact_kernel.primal_value(problem, a, found.b) == primal
        if square >= 0 and not problem.loss.is_smooth:
            assert exact_kernel.dual_value(problem, a) == dual
        elif square >= 0:  # quotients are rounded up behind their 300th bit
            assert dual * (1 - Fraction(1, 2**250)) <= exact_kernel.dual_value(problem, a) <= dual
    if math.isfinite(found.primal):
        assert primal is not None
        assert abs(Fraction(found.primal) - primal) <= Fraction(found.primal_error) * slip
        assert Fraction(found.upper) >= primal
    if math.isfinite(found.dual_error):
        assert dual is None or Fraction(found.lower) <= dual * slip
        # D is measured at a factor t of the measure's own, where the best one is a little better
        assert dual is None or abs(Fraction(found.dual) - dual) <= 2 * Fraction(found.dual_error) * slip
    if math.isfinite(found.square_error):
        assert abs(Fraction(found.square) - square) <= Fraction(found.square_error) * slip
    for value, real, off in zip(found.values, values, found.off, strict=True):
        assert not math.isfinite(off) or abs(Fraction(float(value)) - real) <= Fraction(float(off)) * slip
    return bool(math.isfinite(found.primal) and found.primal_error <= 1e-6 * found.primal)


@pytest.mark.parametrize("name", ["linear", "poly", "precomputed"])
def test_bounds_hold_in_fractions(name):
    random = np.random.default_rng(len(name))
    good = [check(*some_problem(random, name), exact=True) for _ in range(600)]
    assert np.mean(good) > 0.2  # and say something


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_bounds_of_exponentials_hold_in_long_decimals(name):
    random = np.random.default_rng(7)
    good = [check(*some_problem(random, name), exact=False) for _ in range(800)]
    assert np.mean(good) > 0.2


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES.values(), ids=list(LOSSES))
def test_bounds_hold_for_every_loss_and_without_a_bias(loss, fit_intercept):
    random = np.random.default_rng(11)
    for name in ("linear", "poly", "precomputed", "rbf"):
        problems = [some_problem(random, name, loss, fit_intercept) for _ in range(120)]
        good = [check(problem, a, exact=name != "rbf") for problem, a in problems]
        assert np.mean(good) > 0.2
        assert all(measure(problem, a).b == 0.0 for problem, a in problems if not fit_intercept and name == "rbf")


@pytest.mark.parametrize("name", list(KERNELS))
def test_bounds_hold_over_many_blocks(name):
    """More rows than fit in a block; the oracle in long doubles."""
    random = np.random.default_rng(3)
    X = random.normal(size=(700, 5)) + 2.0
    signs = np.where(X[:, 0] * X[:, 1] > 4.0, 1.0, -1.0)

    def function(A, B):
        return (1.0 + A @ B.T) ** 2

    table = function(X, X) if name == "precomputed" else X
    kernel = KernelChoice(function if name == "function" else name, 0.1, 1.0, 3).on(table)
    problem = KernelMargin(table, signs, np.full(700, 2.0), HINGE, True, kernel, kernel.points(table))
    a = np.where(random.random(700) < 0.9, random.random(700), 0.0)
    found = measure(problem, a)
    long = X.astype(np.longdouble)
    inner = long @ long.T
    K = {
        "linear": inner,
        "poly": (np.longdouble(kernel.gamma) * inner + 1) ** 3,
        "rbf": np.exp(-np.longdouble(kernel.gamma) * ((long[:, None] - long[None]) ** 2).sum(axis=2)),
        "laplacian": np.exp(-np.longdouble(kernel.gamma) * np.abs(long[:, None] - long[None]).sum(axis=2)),
        "function": function(X, X),
        "precomputed": table.astype(np.longdouble),
    }[name]
    plus, minus = a[signs > 0].astype(np.longdouble).sum(), a[signs < 0].astype(np.longdouble).sum()
    scaled = a * np.where(signs > 0, min(plus, minus) / plus, min(plus, minus) / minus)
    values = K @ (scaled * signs)
    off = np.maximum(found.off, 1e-13 * np.abs(K) @ scaled) if name == "function" else found.off
    assert np.all(np.abs(found.values - values) <= off)
    square = (scaled * signs) @ values
    primal = square / 2 + 2.0 * np.maximum(0.0, 1 - signs * (values + found.b)).sum()
    t = min(1.0, scaled.sum() / square)
    dual = t * scaled.sum() - t * t * square / 2
    assert abs(primal - found.primal) <= max(found.primal_error, 1e-12 * primal * (name == "function"))
    assert abs(dual - found.dual) <= max(found.dual_error, 1e-12 * dual * (name == "function"))
    assert found.primal_error < 1e-9 * found.primal
    assert found.lower < found.upper


# ------------------------------------------------------------------------------------------------ one by one


def problem_of(X, signs, C=1.0, kernel="rbf", gamma=1.0, coef0=0.0, degree=1):
    kernel = KernelChoice(kernel, gamma, coef0, degree).on(X)
    signs = np.asarray(signs, dtype=float)
    return KernelMargin(X, signs, np.full(len(signs), C), HINGE, True, kernel, kernel.points(X))


SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def test_a_known_hard_margin():
    """Two rows at distance r: |phi - phi'|^2 = 2 - 2 exp(-r^2), and the margin is half of its root."""
    problem = problem_of(np.array([[0.0], [1.0]]), [1, -1], math.inf)
    found = measure(problem, np.array([1.0, 1.0]))
    margin = 0.5 * math.sqrt(2.0 - 2.0 * math.exp(-1.0))
    assert found.primal == pytest.approx(0.5 / margin**2, rel=1e-14)
    assert found.dual == pytest.approx(0.5 / margin**2, rel=1e-14)
    assert found.lower <= 0.5 / margin**2 <= found.upper
    assert found.upper - found.lower < 1e-12 * found.upper


def test_the_diagonals_of_a_square():
    problem = problem_of(SQUARE, [1, -1, -1, 1], math.inf, "poly", 1.0, 1.0, 2)
    found = measure(problem, np.array([10.0, 8.0, 8.0, 6.0]) / 3.0)
    assert found.lower <= found.upper < math.inf
    linear = measure(problem_of(SQUARE, [1, -1, -1, 1], math.inf, "linear"), np.ones(4))
    assert linear.upper == math.inf


@pytest.mark.parametrize("a", [[2.0, 1.0], [-1.0, 1.0], [math.nan, 1.0], [1.0, math.inf], [0.0, 1.0], [0.0, 0.0]])
def test_weights_that_are_no_dual_point_prove_what_zero_proves(a):
    found = measure(problem_of(np.array([[0.0], [1.0]]), [1, -1]), np.array(a))
    assert (found.dual, found.dual_error, found.factors) == (0.0, 0.0, (0.0, 0.0))
    assert found.primal == 2.0
    assert not found.values.any()


def test_the_heavier_class_is_scaled_down():
    problem = problem_of(np.array([[0.0], [1.0], [3.0]]), [1, -1, -1])
    one, other = measure(problem, np.array([0.5, 0.5, 0.5])), measure(problem, np.array([0.5, 0.25, 0.25]))
    assert one.scales == (1.0, 0.5)
    assert np.allclose(one.values, other.values)
    assert one.dual == pytest.approx(other.dual)


def test_a_given_bias_is_taken():
    problem = problem_of(np.array([[0.0], [1.0]]), [1, -1])
    best, given = measure(problem, np.array([0.3, 0.3])), measure(problem, np.array([0.3, 0.3]), b=5.0)
    assert given.b == 5.0
    assert given.primal > best.primal
    assert given.dual == best.dual


def test_a_kernel_that_is_not_positive_semidefinite_is_refused():
    table = np.array([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match=r"not positive semidefinite: \|w\|\^2 = -2 "):
        measure(problem_of(table, [1, -1], kernel="precomputed"), np.ones(2))
    with pytest.raises(ValueError, match="not positive semidefinite"):
        measure(problem_of(np.eye(2), [1, -1], kernel=lambda A, B: -(A @ B.T)), np.ones(2))


def test_numbers_beyond_float64_prove_nothing_and_say_nothing_false():
    X = np.array([[1e200], [-1e200], [3e200]])
    for name in ("linear", "poly", "rbf"):
        with np.errstate(over="ignore", invalid="ignore"):
            found = measure(problem_of(X, [1, -1, 1], kernel=name, degree=2), np.ones(3))
        assert found.upper == math.inf
        assert found.lower == 0.0


def test_sparse_and_dense_agree():
    random = np.random.default_rng(0)
    X = np.where(random.random((300, 40)) < 0.9, 0.0, random.normal(size=(300, 40)))
    signs = np.where(random.random(300) < 0.5, 1.0, -1.0)
    a = random.random(300)
    for name in ("linear", "poly", "rbf"):
        problems = (problem_of(T, signs, kernel=name, coef0=1.0, degree=2) for T in (X, sparse.csr_array(X)))
        one, other = (measure(problem, a) for problem in problems)
        assert np.all(np.abs(one.values - other.values) <= one.off + other.off)
        assert one.lower <= other.upper
        assert other.primal_error < 1e-9 * other.primal


def test_rounding_bounds_single_values():
    """Of every kernel value, at distances where rbf vanishes and where it does not."""
    random = np.random.default_rng(1)
    for _ in range(200):
        X = random.normal(size=(6, 3)) * 10.0 ** random.integers(-3, 3, size=(6, 1))
        gamma = float(10.0 ** random.integers(-3, 3))
        kernel = Rbf(gamma)
        points = kernel.points(X)
        relative, absolute = kernel.rounding(points, points)
        problem = KernelMargin(X, np.ones(6), np.ones(6), HINGE, True, kernel, points)
        real = np.array([[float(v) for v in row] for row in kernel_table(problem)])
        for values in (kernel.values(points, points), kernel.combine(points, points, np.eye(6))):
            assert np.all(np.abs(values - real) <= (relative[:, None] + 1e-16) * real + absolute[:, None])
