"""The conditions of optimality of soft and kernel margins, and what certificates say of themselves, by hand."""

import dataclasses
import math

import numpy as np
import pytest

from maxmargin.certificates import duality, kernel_margin
from maxmargin.certificates.duality import DualValue, PrimalValue, row_shares, soft_conditions
from maxmargin.certificates.kernel_duality import KernelMeasure
from maxmargin.certificates.kernel_margin import KernelVerdict, hard_margin, kernel_certificate, no_plane_certificate
from maxmargin.certificates.proof import KKT, Violation
from maxmargin.certificates.soft_margin import SoftMarginCertificate, SoftVerdict, soft_gap
from maxmargin.problems.kernels import Polynomial
from maxmargin.problems.losses import HINGE, SQUARED_HINGE, Loss
from maxmargin.problems.statement import KernelMargin, SoftMargin, TwoClasses

SIGNS = np.array([1.0, 1.0, -1.0, -1.0])
COSTS = np.array([2.0, 4.0, 2.0, 2.0])
VALUES = np.array([1.5, -1.0, -1.0, 2.0])  # X w


def soft(
    loss=HINGE,
    fit_intercept=True,
    a=(1.0, 1.0, 1.5, 0.5),
    b=0.5,
    w=(3.0, 4.0),
    own=(3.0, 0.0),
    value=2.0,
    factors=(1.0, 1.0),
    **options,
):
    problem = SoftMargin(np.zeros((4, 2)), SIGNS, COSTS, loss, fit_intercept)
    primal = PrimalValue(value, 0.0, 1.0 - SIGNS * (VALUES + b), 0.0)
    dual = DualValue(1.0, 0.0, factors, np.array(own), 0.0)
    return soft_conditions(problem, (np.array(w), b), np.array(a), primal, dual, VALUES, **options)


def test_stationarity_is_relative_to_the_longer_plane():
    assert soft().stationarity == Violation(4.0 / 5.0)
    assert soft(w=(3.0, 0.0), own=(3.0, 4.0)).stationarity == Violation(4.0 / 5.0)
    assert soft(w=(0.0, 0.0), own=(0.0, 0.0)).stationarity == Violation(0.0)
    assert soft(w=(0.25, 0.0), own=(0.0, 0.0)).stationarity == Violation(1.0)
    assert soft().primal == Violation(0.0)


def test_imbalance_counts_with_a_bias_only():
    assert soft().dual == Violation(0.0)
    assert soft(a=(1.0, 3.0, 0.5, 0.5)).dual == Violation(0.6)
    assert soft(a=(0.1, 0.0, 0.3, 0.0)).dual.value == pytest.approx(0.5)
    assert soft(a=(1.0, 3.0, 0.5, 0.5), fit_intercept=False).dual == Violation(0.0)
    assert soft(a=(0.0, 0.0, 0.0, 0.0)).dual == Violation(0.0)


def test_the_row_with_the_largest_share_of_the_gap():
    """y f = 2, -1/2, 1/2 and -5/2: slack 0, 3/2, 1/2 and 7/2."""
    assert soft().slackness == Violation((2.0 - 0.5) * 3.5 / 2.0, 3)
    assert soft(value=0.0).slackness == Violation(1.5 * 3.5, 3)
    assert soft(a=(2.0, 4.0, 2.0, 2.0)).slackness == Violation(1.0, 0)  # a (y f - 1) = 2, over 2
    assert soft(a=(1.0, 1.0, 0.75, 0.25), factors=(1.0, 2.0)).slackness == soft().slackness
    assert soft(a=(1.0, 2.0, 2.0, 2.0), factors=(2.0, 1.0)).slackness == Violation(1.0, 0)
    squared = soft(SQUARED_HINGE)
    assert squared.slackness == Violation(2.0 * (3.5 - 0.125) ** 2 / 2.0, 3)
    assert soft(SQUARED_HINGE, a=(8.0, 12.0, 2.0, 14.0)).slackness == Violation(8.0 / 2.0 + 2.0 * 4.0 / 2.0, 0)


def test_the_bias_of_rows_inside_their_bounds():
    """y - X w = -1/2, 2, 0 and -3."""
    assert soft().bias.value == 5.0
    assert soft(a=(1.0, 1.0, 1.0, 2.0)).bias.value == 2.5
    assert soft(a=(1.0, 0.0, 0.0, 2.0)).bias.value == 0.0
    assert soft(a=(0.0, 4.0, 2.0, 2.0)).bias.value == 0.0
    assert soft(fit_intercept=False).bias.value == 0.0
    assert soft(a=(0.0020001, 0.0040001, 0.002, 0.0), factors=(1.0, 1.0)).bias.value == 2.5
    assert soft(a=(1.9979, 3.9959, 1.998, 2.0)).bias.value == 2.5
    assert soft(a=(0.5, 1.0, 0.6, 0.5), inside=0.25).bias.value == 0.0
    assert soft(a=(0.51, 1.01, 1.5, 1.5), inside=0.25).bias.value == 2.5
    assert duality.INSIDE == 1e-3


def test_the_bias_of_a_squared_hinge():
    """y (1 - a / (2 C)) - X w: 3/4 - 3/2, 7/8 + 1, -5/8 + 1 and -7/8 - 2."""
    assert soft(SQUARED_HINGE).bias.value == 1.875 + 2.875
    assert soft(SQUARED_HINGE, a=(1.0, 1.0, 0.0015, 0.001)).bias.value == pytest.approx(1.875 + 0.75, abs=2e-3)
    assert soft(SQUARED_HINGE, a=(0.0, 0.0, 0.0, 0.0)).bias.value == 0.0
    assert soft(SQUARED_HINGE, fit_intercept=False).bias.value == 0.0
    assert soft(SQUARED_HINGE, a=(0.1, 0.1, 0.02, 0.0), inside=0.25).bias.value == pytest.approx(2.5, abs=0.1)
    assert soft(SQUARED_HINGE, a=(8.0, 2.0, 2.0, 2.0), inside=0.25).bias.value == 0.0


@pytest.mark.parametrize(
    ("primal", "dual", "gap"),
    [
        (4.0, 1.0, 0.75),
        (0.5, 0.25, 0.5),
        (0.0, 0.0, 0.0),
        (0.0, -1.0, math.inf),
        (math.inf, 1.0, math.inf),
        (-1.0, -1.0, math.inf),
        (math.nan, 0.0, math.inf),
        (1.0, 1.0, 0.0),
    ],
)
def test_soft_gaps(primal, dual, gap):
    assert soft_gap(primal, dual) == gap


def soft_certificate(**changes):
    fields = {
        "verdict": SoftVerdict.OPTIMAL, "loss": "hinge", "C": 1.0, "fit_intercept": True, "class_weight": (),
        "positive": 1, "negative": -1, "n_rows": 3, "n_columns": 1, "w": np.ones(1), "b": 0.0,
        "rows": np.array([0]), "weights": np.ones(1), "primal": 4.0, "dual": 1.0, "tol": 0.5,
    }  # fmt: skip
    return SoftMarginCertificate(**(fields | changes))


def test_what_a_soft_certificate_says_of_itself():
    c = soft_certificate()
    assert "relative gap 0.67," in repr(soft_certificate(primal=3.0))
    assert (c.relative_gap, c.is_optimal, c.gap, c.is_about_margin, c.kkt) == (0.75, True, 3.0, False, None)
    assert not soft_certificate(verdict=SoftVerdict.BOUNDED).is_optimal
    assert soft_certificate(C=math.inf).is_about_margin
    assert not c.verify([[1.0], [2.0], [-1.0]], [1, 1, -1]).exact
    assert repr(c) == (
        "SoftMarginCertificate(OPTIMAL, objective in [1, 4], relative gap 0.75, 1 of 3 rows carry weight)"
    )


# ------------------------------------------------------------------------------------------------------------ kernels


KERNEL = Polynomial(0.5, 1.0, 3)
TWO = TwoClasses(np.zeros((4, 2)), SIGNS, None, np.array([10, 11, 12, 13]), "p", "n", None)
MEASURED = {
    "values": VALUES, "b": 0.5, "slack": np.maximum(0.0, 1.0 - SIGNS * (VALUES + 0.5)), "square": 4.0, "primal": 2.0,
    "primal_error": 0.0, "dual": 1.0, "dual_error": 0.0, "factors": (1.0, 1.0), "scales": (1.0, 1.0),
    "off": np.zeros(4), "square_error": 0.0,
}  # fmt: skip
FAR = np.array([1.5, 3.5, -2.5, -8.5])  # y (values + 1/2) = 2, 4, 2 and 8


def kernel_problem(hard=False):
    points = KERNEL.points(np.zeros((4, 2)))
    return KernelMargin(TWO.X, SIGNS, np.full(4, math.inf) if hard else COSTS, HINGE, True, KERNEL, points)


def kernel_kkt(hard=False, a=(1.0, 1.0, 1.5, 0.5), inside=1e-3, **changes):
    changes = ({"values": FAR} if hard else {}) | changes
    return kernel_margin.kernel_conditions(
        kernel_problem(hard), np.array(a), KernelMeasure(**(MEASURED | changes)), inside
    )


def test_conditions_of_a_kernel_margin():
    kkt = kernel_kkt()
    assert (kkt.stationarity, kkt.primal, kkt.dual) == (Violation(0.0), Violation(0.0), Violation(0.0))
    assert kkt.slackness == Violation(1.5 * 3.5 / 2.0, 3)
    assert kkt.bias == Violation(5.0)
    assert kernel_kkt(a=(1.0, 3.0, 0.5, 0.5)).dual == Violation(0.6)
    assert kernel_kkt(a=(0.1, 0.0, 0.3, 0.0)).dual.value == pytest.approx(0.5)
    assert kernel_kkt(a=(0.0,) * 4).dual == Violation(0.0)
    assert kernel_kkt(a=(1.0, 1.0, 1.0, 2.0)).bias == Violation(2.5)
    assert kernel_kkt(a=(0.0, 4.0, 2.0, 2.0)).bias == Violation(0.0)
    assert kernel_kkt(a=(0.5, 1.0, 0.6, 0.5), inside=0.25).bias == Violation(0.0)
    assert kernel_kkt(a=(1.5, 3.0, 0.6, 1.5), inside=0.25).bias == Violation(0.0)
    assert kernel_kkt(a=(1.0, 2.0, 2.0, 2.0), factors=(2.0, 1.0)).slackness == Violation(1.0, 0)
    assert kernel_kkt(primal=0.0).slackness == Violation(1.5 * 3.5, 3)


def test_stationarity_of_a_kernel_margin_is_a_factor():
    assert kernel_kkt(factors=(3.0, 1.0), scales=(0.75, 1.0)).stationarity == Violation(0.75)
    assert kernel_kkt(factors=(1.0, 1.0), scales=(4.0, 1.0)).stationarity == Violation(0.75)
    assert kernel_kkt(factors=(1.0, 1.0), scales=(0.0, 1.0)).stationarity == Violation(1.0)
    assert kernel_kkt(factors=(3.0, 1.0), square=0.0).stationarity == Violation(0.0)
    assert kernel_kkt(factors=(3.0, 1.0), square=0.5).stationarity.value == pytest.approx(2.0 / 3.0)
    assert kernel_kkt(True, factors=(1.0, 1.0)).stationarity == Violation(0.5)  # m = 2


def test_conditions_of_a_hard_kernel_margin():
    """The plane over m = 2: y f = 1, 2, 1 and 4; own biases (2 y - values) / 2: 1/4, -3/4, 1/4 and 13/4."""
    kkt = kernel_kkt(True)
    assert kkt.slackness == Violation(0.5 * 3.0 / 2.0, 3)
    assert kkt.bias == Violation(4.0)
    assert kernel_kkt(True, a=(1.0, 0.0, 1.0, 0.0)).bias == Violation(0.0)
    assert kernel_kkt(True, a=(4.0, 1.0, 4.0, 1.0), inside=0.25).bias == Violation(0.0)
    assert kernel_kkt(True, a=(4.0, 1.1, 4.0, 1.0), inside=0.25).bias == Violation(1.0)
    assert kernel_kkt(True, a=(0.0,) * 4).bias == Violation(0.0)
    assert kernel_kkt(True, a=(0.04, 0.02, 0.04, 0.01), inside=0.25).bias == Violation(1.0)
    assert kernel_kkt(True, a=(1.0, 1.0, 0.75, 0.25), factors=(1.0, 2.0)).slackness == kkt.slackness


def test_every_field_of_a_kernel_certificate():
    a, weights = np.array([1.0, 0.0, 1.5, 0.5]), (("p", 2.0),)
    measured = KernelMeasure(**(MEASURED | {"primal": 2.0, "dual": 1.99}))
    c = kernel_certificate(TWO, kernel_problem(), a, measured, 2.0, weights, 0.01)
    assert (c.kernel, c.gamma, c.coef0, c.degree, c.C, c.class_weight) == ("poly", 0.5, 1.0, 3, 2.0, weights)
    assert (c.positive, c.negative, c.n_rows, c.n_columns, c.tol, c.b) == ("p", "n", 4, 2, 0.01, 0.5)
    assert (c.rows.tolist(), c.weights.tolist()) == ([10, 12, 13], [1.0, 1.5, 0.5])
    assert (c.primal, c.dual, c.verdict, c.is_optimal) == (2.0, 1.99, KernelVerdict.OPTIMAL, True)
    assert c.kkt.slackness.row == 11
    assert (c.is_hard, c.is_separable, math.isnan(c.margin_lower), math.isnan(c.margin_upper)) == (
        False,
        None,
        True,
        True,
    )
    wide = kernel_certificate(TWO, kernel_problem(), a, measured, 2.0, weights, 0.001)
    assert (wide.verdict, wide.is_optimal) == (KernelVerdict.BOUNDED, False)
    unknown = KernelMeasure(**(MEASURED | {"primal": math.inf}))
    nothing = kernel_certificate(TWO, kernel_problem(True), a, unknown, math.inf, (), 0.001)
    assert (nothing.kkt, nothing.is_separable, nothing.is_hard) == (None, None, True)
    assert not c.verify(TWO.X, ["p", "p", "n", "n"]).exact
    assert "relative gap 0.67," in repr(dataclasses.replace(c, primal=3.0, dual=1.0))
    assert repr(dataclasses.replace(c, dual=1.0)) == (
        "KernelCertificate(OPTIMAL, poly, objective in [1, 2], relative gap 0.5, 3 of 4 rows carry weight)"
    )


def test_hard_margins_are_rounded_outwards():
    a = np.array([1.0, 0.0, 1.0, 0.0])
    measured = KernelMeasure(**(MEASURED | {"values": FAR, "primal": 0.5, "dual": 0.5}))
    c = kernel_certificate(TWO, kernel_problem(True), a, measured, math.inf, (), 0.01)
    assert (c.margin_lower, c.margin_upper) == (1.0 - 2.0**-51, 1.0 + 2.0**-51)
    assert (c.is_separable, c.is_hard) == (True, True)
    assert (hard_margin(8.0), hard_margin(0.125), hard_margin(0.0), hard_margin(-1.0)) == (
        0.25,
        2.0,
        math.inf,
        math.inf,
    )
    none = no_plane_certificate(TWO, kernel_problem(True), a, math.inf, (), 0.01)
    assert (none.verdict, none.is_separable, none.b) == (KernelVerdict.NOT_SEPARABLE, False, 0.0)
    assert (none.primal, none.dual, none.kkt) == (math.inf, math.inf, None)
    assert math.isnan(none.relative_gap)
    assert kernel_margin.in_rows_of(TWO, None) is None
    kkt = KKT(*(Violation(float(k), k) for k in range(4)), Violation(4.0))
    moved = kernel_margin.in_rows_of(TWO, kkt)
    assert moved == dataclasses.replace(kkt, slackness=Violation(3.0, 13))


@pytest.mark.parametrize(
    ("box", "bend"), [(1.0, 0.0), (2.0, 0.0), (1.0, 0.25), (4.0, 0.25), (2.0, 2.0), (math.inf, 0.5)]
)
def test_what_a_row_adds_to_the_gap(box, bend):
    """C loss(t) + bend a^2 / (2 C) - a t, before the knee and beyond it, of a within its box."""
    loss, knee = Loss("of its own", box, bend), box * bend
    edge = min(knee, 9.0)
    for cost in (0.5, 2.0):
        for t in (-1.0, 0.0, 0.5 * edge, edge, edge + 0.125, edge + 3.0):
            for a in (0.0, 0.25 * cost, min(box, 8.0) * cost):
                paid = 0.0 if t <= 0.0 else t * t / (2.0 * bend) if t < knee else box * (t - 0.5 * knee)
                problem = SoftMargin(np.zeros((1, 1)), np.ones(1), np.array([cost]), loss, True)
                added = row_shares(problem, np.array([a]), np.array([max(0.0, t)]), np.array([1.0 - t]))
                expected = cost * paid + bend * a * a / (2.0 * cost) - a * t
                assert added == pytest.approx(expected, rel=1e-12, abs=1e-12)
