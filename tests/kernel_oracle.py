"""Margins in the space of a kernel as their formulas say, in fractions and long decimals, and nasty ones to try."""

import decimal
import math
from fractions import Fraction

import numpy as np
import scipy.sparse as sparse

from maxmargin.problems.kernels import KernelChoice, Laplacian, Linear, Precomputed, Rbf
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin

decimal.getcontext().prec = 60
decimal.getcontext().Emax, decimal.getcontext().Emin = 10**12, -(10**12)

# ------------------------------------------------------------------------------------------------------- the oracle


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def kernel_table(problem):
    """k(x_i, x_j) of all pairs, in fractions; of exponentials in fractions that agree with them to 50 digits."""
    kernel, X = problem.kernel, [[Fraction(float(v)) for v in row] for row in dense(problem.X)]
    if isinstance(kernel, Precomputed):
        return [[row[place] for place in problem.points.places] for row in X]
    gamma, coef0 = Fraction(kernel.gamma), Fraction(kernel.coef0)

    def value(x, z):
        if isinstance(kernel, Rbf | Laplacian):
            power = 2 if isinstance(kernel, Rbf) else 1
            exponent = -gamma * sum(abs(u - v) ** power for u, v in zip(x, z, strict=True))
            long = decimal.Decimal(exponent.numerator) / decimal.Decimal(exponent.denominator)
            return Fraction(long.exp()) if long > -10000 else Fraction(0)
        inner = sum(u * v for u, v in zip(x, z, strict=True))
        return inner if isinstance(kernel, Linear) else (gamma * inner + coef0) ** kernel.degree

    return [[value(x, z) for z in X] for x in X]


def sides(problem, a, b):
    """P and D, fractions (None: infinite), |w|^2 and the values w.phi(x_i)."""
    K, signs = kernel_table(problem), [int(sign) for sign in problem.signs]
    a = [Fraction(float(v)) for v in a]
    sums = [sum(v for v, sign in zip(a, signs, strict=True) if sign == side) for side in (1, -1)]
    scales = {1: min(sums) / sums[0], -1: min(sums) / sums[1]} if min(sums) else {1: Fraction(0), -1: Fraction(0)}
    scales = scales if problem.fit_intercept else {1: Fraction(1), -1: Fraction(1)}
    scaled = [v * scales[s] for v, s in zip(a, signs, strict=True)]
    values = [sum(v * s * k for v, s, k in zip(scaled, signs, row, strict=True) if v) for row in K]
    square = sum(v * s * f for v, s, f in zip(scaled, signs, values, strict=True))
    if isinstance(problem.kernel, Rbf | Laplacian) and abs(square) <= sum(scaled) ** 2 / 10**40:
        square = Fraction(0)  # too near to be told in so many digits
    gain, functional = sum(scaled), [s * (f + Fraction(b)) for s, f in zip(signs, values, strict=True)]
    if problem.is_hard:
        m = min(functional)
        dual = gain * gain / (2 * square) if square > 0 else (None if gain else Fraction(0))
        return (square / (2 * m * m) if m > 0 else None), dual, square, values
    costs, loss = [Fraction(float(C)) for C in problem.costs], problem.loss
    paid = sum(C * loss_in_fractions(loss, 1 - f) for C, f in zip(costs, functional, strict=True))
    curve = square + sum(Fraction(loss.bend) / C * v * v for C, v in zip(costs, scaled, strict=True))
    t = gain / curve if curve > 0 else Fraction(1)
    t = min(Fraction(1), t) if loss.is_bounded else t
    return square / 2 + paid, t * gain - t * t * curve / 2, square, values


def loss_in_fractions(loss, t):
    """The largest s t - bend s^2 / 2 for 0 <= s <= box."""
    t, bend = max(Fraction(0), t), Fraction(loss.bend)
    if loss.is_bounded and t >= Fraction(loss.box) * bend:
        return Fraction(loss.box) * (t - bend * Fraction(loss.box) / 2)
    return t * t / (2 * bend)


# ------------------------------------------------------------------------------------------------- nasty problems


def some_problem(random, name, loss=HINGE, fit_intercept=True):
    """A small problem whose numbers are ordinary, or far apart, or far from zero, or at the ends of float64."""
    n, d = int(random.integers(2, 7)), int(random.integers(1, 4))
    kind = random.integers(6)
    X = random.normal(size=(n, d)) if kind else random.integers(-2, 3, size=(n, d)).astype(float)
    if kind == 1:
        X *= 10.0 ** random.integers(-170, 170, size=(1, d) if random.integers(2) else (n, d))
    if kind == 2:
        X += 10.0 ** random.integers(0, 9)
    if kind == 3:
        X = X.astype(np.float32).astype(float) * 10.0 ** random.integers(-8, 9)
    if kind == 4:
        X[random.integers(n)] = X[0]
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)[random.permutation(n)]
    size = float(np.abs(X).max()) or 1.0
    gamma = float(random.choice([1.0, 0.1, 3.0, min(1e300, 1.0 / size / size) if size > 1e-140 else 1e280, 1e-10]))
    coef0, degree = float(random.choice([0.0, 1.0, 0.3, 1e-5, 1e5])), int(random.integers(0, 5))
    if name == "precomputed":
        with np.errstate(over="ignore", invalid="ignore"):
            X = X @ X.T
        X = np.where(np.isfinite(X), X, 1.0)
    choice = KernelChoice(name, gamma, coef0, degree)
    if random.integers(3) == 0 and name != "precomputed":
        X = sparse.csr_array(np.where(random.random(X.shape) < 0.4, 0.0, X))
    with np.errstate(over="ignore", invalid="ignore"):
        kernel = choice.on(X)
        points = kernel.points(X)
    C = float(random.choice([1.0, 0.1, 1e3, 1e-200, 1e100, math.inf]))
    costs = np.full(n, C) * (1.0 if random.integers(2) else random.integers(1, 4, size=n))
    a = random.choice([0.0, 0.1, 0.3, 1.0, 1.0, 1e-17], size=n) * (1.0 / max(size, 1e-150) if math.isinf(C) else costs)
    if random.integers(4) == 0:
        a *= random.random(n)
    loss = HINGE if math.isinf(C) else loss
    return KernelMargin(X, signs, costs, loss, fit_intercept, kernel, points), a
