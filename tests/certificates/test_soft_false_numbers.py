"""False bounds, planes and weights about honest certificates of the soft margin: all are refused."""

import math

import numpy as np
import pytest
from falsehoods import Falsehoods, changed, honest, refuse
from soft_margin_cases import (
    ALL,
    BOUND,
    HINGE,
    OBJECTIVE,
    OPTIMAL,
    SQUARED,
    STOPPED,
    WITH_BIAS,
    class_weights,
    hinge,
    hinge_float32,
    hinge_through_the_origin,
    lie,
    sample_weights,
    squared_through_the_origin,
    stopped,
)

from maxmargin.certificates.soft_margin import SoftVerdict

falsehood = Falsehoods()


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("exact", [False, True])
def test_the_honest_ones_are_verified(make, exact):
    case = honest(make)
    assert case.certificate.is_optimal == (make not in STOPPED)
    assert case.verify(exact), case.verify(exact)
    assert str(case.verify(exact)).startswith("Verified")


# bounds


@falsehood(ALL, OBJECTIVE)
def primal_lowered_by_a_billionth(case):
    return lie(case, primal=case.certificate.primal * (1.0 - 1e-9))


@falsehood(ALL, BOUND)
def dual_raised_by_a_millionth(case):
    return lie(case, dual=case.certificate.dual * (1.0 + 1e-6))


@falsehood(ALL, OBJECTIVE)
def gap_closed_from_above(case):
    return lie(case, primal=case.certificate.dual)


@falsehood(ALL, BOUND)
def gap_closed_from_below(case):
    return lie(case, dual=case.certificate.primal)


@falsehood(ALL, OBJECTIVE)
def primal_is_zero(case):
    return lie(case, primal=0.0, dual=0.0)


@falsehood(ALL, OBJECTIVE)
def primal_is_minus_infinity(case):
    return lie(case, primal=-math.inf)


@falsehood(ALL, BOUND)
def dual_is_infinite(case):
    return lie(case, dual=math.inf, primal=math.inf)


@falsehood(ALL, "a bound is NaN")
def primal_is_nan(case):
    return lie(case, primal=math.nan)


@falsehood(ALL, "a bound is NaN")
def dual_is_nan(case):
    return lie(case, dual=math.nan)


@falsehood(OPTIMAL, "the relative gap is .* above the tol of .*: not optimal")
def primal_unknown_but_optimal(case):
    return lie(case, primal=math.inf)


@falsehood(STOPPED, "the relative gap is .* above the tol")
def verdict_upgraded(case):
    return lie(case, verdict=SoftVerdict.OPTIMAL)


@falsehood(OPTIMAL, "the relative gap is .* above the tol of 1.0e-17: not optimal")
def tol_lowered(case):
    return lie(case, tol=1e-17)


for wrong in (math.nan, math.inf, 1e9, 1.0, 0.0, -1.0):

    @falsehood(ALL, "tol must be above 0 and below 1", name=f"tol_is_{wrong}")
    def tol_is_no_gap(case, wrong=wrong):
        return lie(case, tol=wrong)


@falsehood(ALL, "verdict 'best ever' is not known")
def verdict_made_up(case):
    return lie(case, verdict="best ever")


# the plane


@falsehood(ALL, OBJECTIVE)
def plane_is_steeper(case):
    return lie(case, w=1.1 * case.certificate.w)


@falsehood(ALL, OBJECTIVE)
def plane_turned_round(case):
    return lie(case, w=-case.certificate.w, b=-case.certificate.b)


@falsehood(ALL, OBJECTIVE)
def plane_forgotten(case):
    return lie(case, w=np.zeros_like(case.certificate.w), b=0.0)


@falsehood([*HINGE, *SQUARED], OBJECTIVE)
def coordinates_exchanged(case):
    return lie(case, w=np.roll(case.certificate.w, 1))


@falsehood(WITH_BIAS, OBJECTIVE)
def plane_shifted(case):
    return lie(case, b=case.certificate.b + 0.1)


@falsehood([hinge_through_the_origin, squared_through_the_origin], "should pass through the origin but has b = 1e-06")
def plane_leaves_the_origin(case):
    return lie(case, b=1e-6)


@falsehood(ALL, "the plane is not finite")
def plane_is_nan(case):
    return lie(case, w=changed(case.certificate.w, 0, math.nan))


@falsehood(ALL, "the plane is not finite")
def bias_is_infinite(case):
    return lie(case, b=math.inf)


@falsehood(ALL, "the plane is not finite or has the wrong length")
def plane_too_short(case):
    return lie(case, w=case.certificate.w[:-1])


# the weights


@falsehood([*HINGE, stopped], "the weight .* of row [0-9]+ is not between 0 and its cost")
def weight_above_its_cost(case):
    c = case.certificate
    return lie(case, weights=changed(c.weights, int(np.argmax(c.weights)), 1.001 * 3.0 * c.C * 4.0))


@falsehood(SQUARED, BOUND)
def weight_far_too_large(case):
    return lie(case, weights=changed(case.certificate.weights, 0, 1000.0))


@falsehood(ALL, "the weight .* of row [0-9]+ is not between 0 and")
def weight_negative(case):
    return lie(case, weights=changed(case.certificate.weights, 1, -1e-300))


@falsehood(ALL, "the weight nan of row [0-9]+ is not between 0 and")
def weight_nan(case):
    return lie(case, weights=changed(case.certificate.weights, 0, math.nan))


@falsehood(ALL, "the weight inf of row [0-9]+ is not between 0 and")
def weight_infinite(case):
    return lie(case, weights=changed(case.certificate.weights, 0, math.inf))


@falsehood(ALL, BOUND)
def weight_forgotten(case):
    weights = case.certificate.weights
    return lie(case, weights=changed(weights, int(np.argmax(weights)), 0.0))


@falsehood(ALL, BOUND)
def all_weights_forgotten(case):
    return lie(case, rows=np.zeros(0, np.intp), weights=np.zeros(0))


@falsehood([hinge, hinge_through_the_origin, hinge_float32, class_weights, sample_weights], BOUND)
def weights_halved(case):
    return lie(case, weights=0.5 * case.certificate.weights)


@falsehood(OPTIMAL, f"{BOUND}|is not between 0 and its cost")
def weights_of_other_rows(case):
    order = np.argsort(case.certificate.weights)
    weights = np.empty(len(order))
    weights[order] = case.certificate.weights[order[::-1]]
    return lie(case, weights=weights)


@falsehood(ALL, "rows and weights do not match, or a row comes twice")
def row_comes_twice(case):
    return lie(case, rows=changed(case.certificate.rows, 1, int(case.certificate.rows[0])))


@falsehood(ALL, "rows and weights do not match")
def weight_without_a_row(case):
    return lie(case, weights=np.append(case.certificate.weights, 1.0))


@falsehood(ALL, "rows and weights do not match")
def weights_in_a_table(case):
    c = case.certificate
    return lie(case, weights=c.weights[:, None], rows=c.rows[:, None])


@falsehood(ALL, "row 1000 is not part of this problem")
def row_beyond_the_table(case):
    return lie(case, rows=changed(case.certificate.rows, -1, 1000))


@falsehood(ALL, "row -1 is not part of this problem")
def row_from_the_end(case):
    return lie(case, rows=changed(case.certificate.rows, 0, -1))


@falsehood([sample_weights], "row [0-9]+ is not part of this problem")
def row_that_does_not_count(case):
    return lie(case, rows=changed(case.certificate.rows, 0, int(np.flatnonzero(case.sample_weight == 0.0)[0])))


@falsehood.each
def test_falsehood_is_refused(told, make, exact):
    refuse(told, make, exact)


def test_every_falsehood_is_told_under_its_own_name():
    assert falsehood.have_names_of_their_own()
