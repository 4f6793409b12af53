"""The certificate of a plane in the space of a kernel: its bounds hold in exact arithmetic, and no falsehood passes."""

import dataclasses
import math
import re
from fractions import Fraction

import numpy as np
import pytest

from maxmargin import KernelPerceptron, KernelSeparationCertificate, Verdict

X = np.random.default_rng(0).normal(size=(80, 2))
X = X[np.abs(X[:, 0] * X[:, 1]) > 0.2][:37]
Y = np.where(X[:, 0] * X[:, 1] > 0.0, "a", "b")


def learnt(kernel="poly", **options):
    numbers = {"gamma": 0.3, "coef0": 1.1, "degree": 2} if kernel == "poly" else {}
    return KernelPerceptron(kernel, **{**numbers, **options}).fit(X, Y).certificate_


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("max_iter", [1, 1000])
def test_the_bounds_hold_in_rational_arithmetic(bias, max_iter):
    c = learnt(fit_intercept=bias, max_iter=max_iter)
    table = [[Fraction(float(x)) for x in row] for row in X]
    weights = np.zeros(37, dtype=object)
    weights[c.rows] = [int(weight) for weight in c.weights]
    signs = np.where(Y == "b", 1, -1)

    def kernel(p, q):
        inner = Fraction(0.3) * sum(s * t for s, t in zip(p, q, strict=True)) + Fraction(1.1)
        return inner * inner + int(bias)

    values = [sum(int(s * w) * kernel(p, q) for q, s, w in zip(table, signs, weights, strict=True) if w) for p in table]
    square = sum(int(s * w) * value for s, w, value in zip(signs, weights, values, strict=True))
    nearest = min(int(s) * value for s, value in zip(signs, values, strict=True))
    assert Fraction(c.margin_lower) * abs(Fraction(c.margin_lower)) * square <= nearest * abs(nearest)
    assert Fraction(c.margin_upper) ** 2 * sum(weights) ** 2 >= square
    assert c.margin_lower == pytest.approx(float(nearest) / math.sqrt(float(square)), rel=1e-10)
    assert c.margin_upper == pytest.approx(math.sqrt(float(square)) / float(sum(weights)), rel=1e-10)
    assert (c.verdict is Verdict.SEPARABLE) == (nearest > 0)
    assert c.verify(X, Y, exact=True)


@pytest.mark.parametrize(("kernel", "exact"), [("poly", False), ("poly", True), ("rbf", False)])
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (lambda c: {"margin_lower": c.margin_lower * (1 + 1e-6)}, "the plane's margin is"),
        (lambda c: {"margin_upper": c.margin_upper * (1 - 1e-6)}, "prove an upper bound of"),
        (lambda c: {"margin_lower": math.nan}, "a bound is NaN"),
        (lambda c: {"primal": 2.0 * c.primal}, "primal and dual are not"),
        (lambda c: {"verdict": Verdict.STOPPED}, "a verdict that denies it"),
        (lambda c: {"verdict": Verdict.OPTIMAL}, "cannot prove the verdict"),
        (lambda c: {"margin_lower": 0.0, "primal": math.inf}, "so nothing is separated"),
        (lambda c: {"weights": -c.weights}, "the weight of row 0 is negative"),
        (lambda c: {"weights": c.weights[1:]}, "rows and weights do not match"),
        (lambda c: {"rows": c.rows + 37}, "is not part of this problem"),
        (lambda c: {"weights": c.weights * np.where(c.rows == c.rows[0], 9.0, 1.0)}, "the plane's margin is"),
        (lambda c: {"gamma": c.gamma * 0.5}, "the plane's margin is|prove an upper bound"),
        (lambda c: {"kernel": "cosine"}, "is not known"),
        (lambda c: {"coef0": -1.0}, "coef0"),
        (lambda c: {"n_rows": 38}, "38 rows"),
        (lambda c: {"positive": "c"}, "not 'c'|label|rows"),
    ],
)
def test_falsehoods_are_refused(kernel, exact, changes, words):
    c = learnt(kernel)
    answer = dataclasses.replace(c, **changes(c)).verify(X, Y, exact=exact)
    assert not answer
    assert re.search(words, str(answer)), str(answer)


def test_other_data_are_refused():
    c = learnt()
    assert not c.verify(X, np.where(X[:, 0] > 0.0, "a", "b"))
    assert not c.verify(-2.0 * X[::-1], Y)
    assert not c.verify(X[1:], Y[1:])


def test_exact_arithmetic_needs_a_rational_kernel():
    with pytest.raises(ValueError, match="rational values"):
        learnt("rbf").verify(X, Y, exact=True)


def test_it_is_written_and_read_back():
    c = learnt()
    again = KernelSeparationCertificate.from_json(c.to_json())
    assert again.verify(X, Y, exact=True)
    assert again.to_json() == c.to_json()
    assert "poly" in repr(c)
    assert "Novikov" in str(c)
    with pytest.raises(TypeError, match="is_separable"):
        bool(c)


def test_a_kernel_that_is_none_is_refused():
    def negative(A, B):
        return -(A @ B.T) - 10.0

    with pytest.raises(ValueError, match="not positive semidefinite"):
        KernelPerceptron(negative, max_iter=2).fit(X, Y)
