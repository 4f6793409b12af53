"""Kernels by the formula that reports tell of them: in fractions, and to 60 digits where exp is in it."""

import decimal
import re
from fractions import Fraction

import numpy as np
import scipy.sparse as sparse

from maxmargin.problems.kernels import KernelChoice

decimal.getcontext().prec = 60
WORDS = {"|x - x'|^2": "square", "|x - x'|_1": "size", "x.x'": "inner", "^": "**"}
PLAIN = "x.x'"  # of a kernel without a formula


def exp(exponent):
    return Fraction((decimal.Decimal(exponent.numerator) / decimal.Decimal(exponent.denominator)).exp())


def real_value(kernel, x, z):
    """k(x, z), read from `formula`."""
    text = kernel.formula or PLAIN
    numbers = {"gamma": Fraction(kernel.gamma), "coef0": Fraction(kernel.coef0), "degree": kernel.degree}
    text = text.format(**{name: name for name in numbers})
    for words, code in WORDS.items():
        text = text.replace(words, f" {code} ")
    text = re.sub(r"(gamma)\s+(?=[a-z])", r"\1 * ", text)
    x, z = ([Fraction(float(v)) for v in row] for row in (x, z))
    pairs = list(zip(x, z, strict=True))
    parts = {
        "inner": sum(u * v for u, v in pairs),
        "square": sum((u - v) ** 2 for u, v in pairs),
        "size": sum(abs(u - v) for u, v in pairs),
    }
    return Fraction(eval(text, {"exp": exp, **numbers, **parts}))


def real_values(kernel, A, B):
    A, B = (X.toarray() if sparse.issparse(X) else X for X in (A, B))
    return [[real_value(kernel, x, z) for z in B] for x in A]


def function(A, B):
    """A user's own: positive semidefinite, and not of one sign."""
    A, B = (X.toarray() if sparse.issparse(X) else np.asarray(X) for X in (A, B))
    return np.tanh(A) @ np.tanh(B).T


def kernel_of(kind, X, gamma=0.3, coef0=0.5, degree=3):
    """A kernel of this class on the rows X, and the table that it takes: X, or the values themselves."""
    table = function(X, X) if kind.is_table else X
    return KernelChoice(function if kind.is_code else kind.name, gamma, coef0, degree).on(table), table
