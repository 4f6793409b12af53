"""0 >= 0 proves nothing: certificates without rows, without weight, without a plane, without parts."""

import dataclasses
import math

import numpy as np
import pytest
from hard_margin_cases import l1_optimal, l2_with_bias

from maxmargin import (
    KernelPerceptron,
    KernelSVM,
    LinearSVM,
    MulticlassCertificate,
    Verdict,
)
from maxmargin.certificates.measure import objective

XOR, SAME = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([1, 0, 0, 1])
CENTRED = 2.0 * XOR - 1.0  # every class sums to 0
float64_and_exact = pytest.mark.parametrize("exact", [False, True])


def margins(lower, upper):
    return {
        "margin_lower": lower,
        "margin_upper": upper,
        "primal": objective(lower, "l2"),
        "dual": objective(upper, "l2"),
    }


NOTHING = {"rows": np.zeros(0, np.intp), "weights": np.zeros(0)}
WEIGHTLESS = {"rows": np.arange(4), "weights": np.zeros(4)}
CANCELLED = {"rows": np.arange(4), "weights": np.ones(4)}  # w = 0, although every row carries weight


@float64_and_exact
@pytest.mark.parametrize("kernel", ["linear", "poly", "precomputed"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("empty", [NOTHING, WEIGHTLESS, CANCELLED], ids=["no rows", "no weight", "w = 0"])
@pytest.mark.parametrize(
    ("lower", "upper"), [(1000.0, 2000.0), (1e-300, math.inf), (-math.inf, 1e-3), (-1.0, math.inf)]
)
def test_a_kernel_separation_needs_a_plane(exact, kernel, fit_intercept, empty, lower, upper):
    """XOR, which no line separates, by a proof that is empty."""
    X = CENTRED @ CENTRED.T if kernel == "precomputed" else CENTRED
    settings = {"degree": 1, "gamma": 1.0} if kernel == "poly" else {}
    honest = KernelPerceptron(kernel, fit_intercept=fit_intercept, max_iter=1, **settings).fit(X, SAME).certificate_
    assert honest.verify(X, SAME, exact=exact)
    verdict = Verdict.SEPARABLE if lower > 0.0 else Verdict.STOPPED
    forged = dataclasses.replace(honest, verdict=verdict, theorems=(), **empty, **margins(lower, upper))
    answer = forged.verify(X, SAME, exact=exact)
    if lower == -math.inf and empty is CANCELLED:
        assert answer  # w = 0 is no plane, but a point of the hull that proves every upper bound
    else:
        assert not answer
        assert "the plane's margin is" in str(answer) or "the weighted rows prove" in str(answer)


def test_a_kernel_separation_of_rbf_needs_a_plane():
    honest = KernelPerceptron("rbf").fit(XOR, SAME).certificate_
    for empty in (NOTHING, WEIGHTLESS):
        assert not dataclasses.replace(honest, **empty).verify(XOR, SAME)
        for lower, upper in ((1000.0, 2000.0), (1e-300, math.inf)):
            forged = dataclasses.replace(honest, theorems=(), **empty, **margins(lower, upper))
            assert not forged.verify(XOR, SAME)


@float64_and_exact
def test_a_table_that_is_no_kernel_proves_nothing(exact):
    """|w|^2 < 0: every square is above it."""
    table = np.array([[0.0, 1.0], [1.0, 0.0]])
    honest = KernelPerceptron("precomputed", max_iter=1).fit(np.eye(2), [1, 0]).certificate_
    plane = {"rows": np.arange(2), "weights": np.ones(2), "theorems": (), "fit_intercept": False}
    forged = dataclasses.replace(honest, verdict=Verdict.SEPARABLE, **plane, **margins(1.0, 2.0))
    answer = forged.verify(table, [1, 0], exact=exact)
    assert not answer
    assert "not positive semidefinite" in str(answer)


@float64_and_exact
@pytest.mark.parametrize("make", [l2_with_bias, l1_optimal])
@pytest.mark.parametrize("part", ["plane", "rows", "weights"])
def test_a_hard_margin_needs_both_sides(exact, make, part):
    case = make()
    c = case.certificate
    empty = {
        "plane": {"w": np.zeros_like(c.w), "b": 0.0},
        "rows": NOTHING,
        "weights": {"weights": np.zeros_like(c.weights)},
    }[part]
    assert not dataclasses.replace(c, **empty).verify(case.X, case.y, exact=exact)


@float64_and_exact
@pytest.mark.parametrize("empty", [NOTHING, WEIGHTLESS], ids=["no rows", "no weight"])
@pytest.mark.parametrize("kernel", [None, "linear", "poly"])
def test_a_soft_margin_without_weights_proves_0(exact, empty, kernel):
    svm = LinearSVM() if kernel is None else KernelSVM(kernel=kernel)
    honest = svm.fit(XOR, SAME).certificate_
    assert honest.verify(XOR, SAME, exact=exact)
    forged = dataclasses.replace(honest, **empty)
    assert "the weights prove a lower bound of 0" in str(forged.verify(XOR, SAME, exact=exact))


@float64_and_exact
def test_a_hard_margin_of_a_kernel_without_weights_has_no_plane(exact):
    honest = KernelSVM(C=math.inf, kernel="poly", degree=2, coef0=1.0).fit(XOR, SAME).certificate_
    for empty in (NOTHING, WEIGHTLESS):
        answer = dataclasses.replace(honest, **empty).verify(XOR, SAME, exact=exact)
        assert "the plane's objective is" in str(answer)
        assert "the weights prove a lower bound of 0" in str(answer)


@float64_and_exact
def test_no_parts_prove_nothing(exact):
    for y in (SAME, np.zeros(0)):
        answer = MulticlassCertificate(()).verify(XOR[: len(y)], y, exact=exact)
        assert not answer
        assert "there must be some" in str(answer)
