"""Slow answers in fractions to the questions of exact proofs, and rows of all sizes to ask them about."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from oracles import null_vectors, signed_rows

from maxmargin.certificates.exact import (
    proves_intersection,
)

up, down = (lambda x: math.nextafter(x, math.inf)), (lambda x: math.nextafter(x, -math.inf))
patient = settings(deadline=None)  # the oracles are slow, and so is a busy machine
with_and_without_bias = pytest.mark.parametrize("with_bias", [True, False])
both_norms = pytest.mark.parametrize("norm", ["l2", "l1"])
formats = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])


def fractions_of(vector):
    return [Fraction(v.item()) for v in np.asarray(vector)]


def combine(weights, rows):
    return [sum(Fraction(a) * r for a, r in zip(weights, column, strict=True)) for column in zip(*rows, strict=True)]


def slow_intersects(rows):
    """Some smallest dependent subset has weights of one sign; every subset is tried."""
    for size in range(1, len(rows) + 1):
        for subset in itertools.combinations(rows, size):
            basis = null_vectors(subset)
            if len(basis) == 1 and (all(v >= 0 for v in basis[0]) or all(v <= 0 for v in basis[0])):
                return True
    return False


def slow_margins(X, signs, w, b):
    plane = fractions_of(w) + ([] if b is None else [Fraction(b)])
    return [sum(p * r for p, r in zip(plane, row, strict=True)) for row in signed_rows(X, signs, b is not None)]


def first_index(conditions):
    return next((i for i, condition in enumerate(conditions) if condition), None)


def proves(X, signs, weights, with_bias):
    """The verdict, after its integers have been multiplied out with fractions."""
    found = proves_intersection(X, signs, weights, with_bias)
    dense = X.toarray() if sparse.issparse(X) else X
    if found:
        rows = signed_rows(dense, signs, with_bias)
        assert min(found.weights) >= 0
        assert max(found.weights) > 0
        assert not any(combine(found.weights, rows))
        assert sum(a > 0 for a in found.weights) <= dense.shape[1] + 2
    return bool(found)


wild = st.one_of(
    st.integers(-2, 2).map(float),
    st.floats(-10, 10),
    st.sampled_from([0.1, 0.3, 1e-150, -1e150, 5e-324, -2.5e-320, 1 + 2**-52, 1e16, -1e16]),
)
grid = st.integers(-2, 2).map(float)


@st.composite
def labelled_rows(draw, elements, max_rows=6, max_columns=3):
    shape = draw(st.integers(1, max_rows)), draw(st.integers(1, max_columns))
    X = draw(hnp.arrays(np.float64, shape, elements=elements))
    return X, draw(hnp.arrays(np.int64, shape[0], elements=st.sampled_from([-1, 1])))
