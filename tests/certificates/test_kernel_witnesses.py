"""Where no plane separates in the space of a kernel there is a witness, and where one does there is none."""

import math

import numpy as np
import pytest
from kernel_certificates import (
    apart,
    problem_of,
    solved,
    square_of_products,
)

from maxmargin.certificates import exact_kernel
from maxmargin.certificates.kernel_duality import measure
from maxmargin.certificates.kernel_margin import (
    KernelCertificate,
    no_plane_certificate,
)


def test_where_a_plane_exists_there_is_no_witness():
    X, y = apart(20)
    for settings in ({"kernel": "rbf"}, {"kernel": "poly"}, {"kernel": "precomputed"}):
        table = square_of_products(X, X) if settings["kernel"] == "precomputed" else X
        assert exact_kernel.witness(problem_of(table, y, C=math.inf, **settings)[1]) is None


def test_the_square_has_no_line_but_a_conic():
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([1, -1, -1, 1])
    weights = exact_kernel.witness(problem_of(X, y, C=math.inf, kernel="linear")[1])
    assert weights.tolist() == [0.25] * 4
    assert exact_kernel.witness(problem_of(X, y, C=math.inf, kernel="poly")[1]) is None
    homogeneous = problem_of(X - 0.5, y, C=math.inf, kernel="poly", coef0=0.0)[1]  # x1 x2 is one of its monomials
    assert exact_kernel.witness(homogeneous) is None
    odd = problem_of(X - 0.5, y, C=math.inf, kernel="poly", coef0=0.0, degree=3)[1]  # but no odd one knows the corners
    assert exact_kernel.witness(odd) is not None


@pytest.mark.parametrize("seed", range(12))
def test_witnesses_agree_with_the_bounds(seed):
    """Either a witness is found, or the hard margin is bounded from both sides."""
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(14, 2)), 1 + seed % 3)
    y = np.where(random.random(14) < 0.5, 1, -1)
    y[:2] = 1, -1
    for settings in ({"kernel": "linear"}, {"kernel": "poly", "degree": 2}, {"kernel": "poly", "degree": 3}):
        two, problem = problem_of(X, y, C=math.inf, **settings)
        weights = exact_kernel.witness(problem)
        if weights is None:
            a = solved(problem, tol=1e-8, max_iter=10**6)
            assert measure(problem, a).upper < math.inf
            continue
        claim = no_plane_certificate(two, problem, weights, math.inf, (), 1e-3)
        assert claim.verify(X, y)
        assert claim.is_separable is False
        assert KernelCertificate.from_json(claim.to_json()).verify(X, y, exact=True)


def test_a_witness_in_monomials_or_in_values_of_the_kernel():
    """Many columns: more monomials than it is worth to write down."""
    random = np.random.default_rng(5)
    X = random.integers(-3, 4, size=(6, 40)).astype(float)
    X = np.vstack([X, X[0]])
    y = np.array([1, 1, 1, -1, -1, -1, -1])
    _, problem = problem_of(X, y, C=math.inf, kernel="poly", degree=3)
    assert exact_kernel.number_of_monomials(problem) > exact_kernel.MOST_COORDINATES
    assert exact_kernel.exact_witness(problem, np.arange(7), np.ones(7)) == [1, 0, 0, 0, 0, 0, 1]
    line = np.array([[-1.0], [0.0], [1.0], [2.0]])
    _, problem = problem_of(line, np.array([1, -1, 1, -1]), C=math.inf, kernel="poly", degree=2)
    rows = np.arange(4)
    values = exact_kernel.kernel_values(problem, rows, rows)[0]
    assert values.tolist() == [[int((1 + a * b) ** 2) for b in (-1, 0, 1, 2)] for a in (-1, 0, 1, 2)]
    assert exact_kernel.exact_witness(problem, rows, np.ones(4)) == [1, 3, 3, 1]
