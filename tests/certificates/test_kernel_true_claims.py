"""What is true of a kernel's margin is believed, to the last digit; what is weaker, too."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from falsehoods import (
    dense,
    honest,
)
from kernel_certificates import (
    ALL,
    HARD,
    OPTIMAL,
    PLANES,
    WITNESS,
    class_weights,
    equal_rows,
    function,
    hard_loose,
    hard_poly,
    hard_rbf,
    lie,
    linear,
    loose,
    no_conic,
    poly,
    poly_float32,
    precomputed,
    problem_of,
    rbf,
    rbf_sparse,
)

from maxmargin import KernelSVM
from maxmargin.certificates import exact_kernel
from maxmargin.certificates.kernel_margin import (
    KernelVerdict,
)
from maxmargin.problems.losses import LOSSES


@pytest.mark.parametrize("make", ALL)
def test_the_honest_ones_are_verified(make):
    case = honest(make)
    verdict = {True: KernelVerdict.OPTIMAL, False: KernelVerdict.BOUNDED}[make in OPTIMAL]
    assert case.certificate.verdict is (KernelVerdict.NOT_SEPARABLE if make in WITNESS else verdict)
    for exact in case.ways:
        assert case.verify(exact), case.verify(exact)
        assert str(case.verify(exact)).startswith("Verified")


# ----------------------------------------------------------------------------------- what is weaker is still true


@pytest.mark.parametrize("make", PLANES)
def test_weaker_claims_are_true(make):
    case = honest(make)
    c = case.certificate
    order = np.random.default_rng(0).permutation(len(c.rows))
    weaker = [
        {"verdict": KernelVerdict.BOUNDED, "tol": 1e-17},
        {"primal": 2.0 * c.primal, "verdict": KernelVerdict.BOUNDED},
        {"dual": 0.5 * c.dual, "verdict": KernelVerdict.BOUNDED},
        {"dual": -1.0, "primal": math.inf, "verdict": KernelVerdict.BOUNDED},
        {"kkt": None},
        {"rows": c.rows[order], "weights": c.weights[order]},
        {"primal": math.nextafter(c.primal, math.inf), "tol": 0.9, "verdict": KernelVerdict.OPTIMAL},
    ]
    for changes in weaker:
        for exact in case.ways:
            assert lie(case, **changes).verify(exact), (changes, lie(case, **changes).verify(exact))


@pytest.mark.parametrize("make", [make for make in PLANES if make is not rbf_sparse])
def test_other_forms_of_the_same_table(make):
    case = honest(make)
    whole = dense(case.X)
    for X in (np.asfortranarray(whole), whole.tolist(), sparse.csr_matrix(whole), sparse.csc_array(whole)):
        if case.kernel is None or not sparse.issparse(X):
            for exact in case.ways:
                assert case._replace(X=X).verify(exact)


@pytest.mark.parametrize("make", [*HARD, hard_loose])
def test_any_multiple_of_the_weights_proves_the_same_for_the_hard_margin(make):
    case = honest(make)
    for factor in (1e-3, 1.7, 1e30):
        c = case.certificate
        plane = {"weights": factor * c.weights, "b": factor * c.b, "kkt": None}
        scaled = lie(case, **plane, primal=1.001 * c.primal, tol=0.9, verdict=KernelVerdict.OPTIMAL)
        assert scaled.verify(False), scaled.verify(False)


@pytest.mark.parametrize("make", [rbf, function, hard_rbf])
def test_exact_arithmetic_needs_rational_values(make):
    with pytest.raises(ValueError, match="exact arithmetic needs a kernel with rational values"):
        honest(make).verify(True)


def test_two_equal_rows_are_exact_for_every_kernel():
    assert honest(equal_rows).verify(True)
    assert sorted(honest(equal_rows).certificate.rows) == [3, 7]


def test_a_witness_is_one_for_every_poorer_kernel():
    """Where no conic separates, no line does."""
    case = honest(no_conic)
    for exact in (False, True):
        assert lie(case, kernel="linear", gamma=1.0, coef0=0.0, degree=1).verify(exact)
        assert lie(case, coef0=3.0, gamma=0.1).verify(exact)  # the same monomials, in other units


def below(value):
    """The largest double that is at most this fraction."""
    guess = float(value)
    return guess if Fraction(guess) <= value else math.nextafter(guess, -math.inf)


@pytest.mark.parametrize("make", [linear, poly, poly_float32, precomputed, class_weights, hard_poly, loose, hard_loose])
def test_exactly_what_is_true_is_accepted(make):
    """The values themselves, rounded to the side that is true, and the next doubles on the side that is not."""
    case = honest(make)
    c = case.certificate
    X = np.asarray(case.X, dtype=np.float64)
    _, problem = problem_of(X, case.y, c.C, c.kernel, c.gamma, c.coef0, c.degree, class_weight=c.class_weight)
    a = np.zeros(c.n_rows)
    a[c.rows] = c.weights
    primal, dual = exact_kernel.primal_value(problem, a, c.b), exact_kernel.dual_value(problem, a)
    high, low = -below(-primal), below(dual)
    bounded = lie(case, verdict=KernelVerdict.BOUNDED, tol=1e-17, primal=high, dual=low)
    for exact in (False, True):
        assert bounded.verify(exact)
        assert not lie(bounded, primal=math.nextafter(high, 0.0)).verify(exact)
        assert not lie(bounded, dual=math.nextafter(low, math.inf)).verify(exact)


@pytest.mark.parametrize("make", [rbf, rbf_sparse, function, hard_rbf])
def test_what_float64_cannot_tell_is_refused(make):
    case = honest(make)
    c = case.certificate
    assert not lie(case, primal=c.dual, dual=c.dual).verify(False)
    assert not lie(case, primal=c.primal * (1.0 - 1e-9) if c.relative_gap < 1e-9 else c.dual).verify(False)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_at_the_optimum_the_rows_that_tell_the_bias_agree_for_every_loss(loss):
    """y f = 1 - bend a / C of each of them: the rows of a loss that bends stand beside the edge of the street."""
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 2))
    y = X[:, 0] + 0.5 * random.normal(size=40) > 0.0
    width = 0.5 if loss == "huber_hinge" else None
    found = KernelSVM(loss=loss, huber_width=width, C=2.0, gamma=0.5, tol=1e-9).fit(X, y).certificate_
    shares = found.weights / found.C
    assert np.any((shares > 0.01) & (shares < 0.99))
    assert found.kkt.bias.value < 1e-9
