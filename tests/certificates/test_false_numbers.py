"""False numbers, planes, weights and witnesses about honest certificates of the hard margin: all are refused.

A careful liar keeps the books: whoever raises a margin also adjusts the primal value, so that only the data can tell.
"""

import dataclasses
import math

import numpy as np
import pytest
from falsehoods import Falsehoods, changed, dense, honest, refuse
from hard_margin_cases import (
    ALL,
    OPEN,
    OPTIMAL,
    PROVEN,
    VERDICTS,
    WITNESSED,
    l1_learnt_by_mistakes,
    l1_optimal,
    l2_sparse_learnt_by_mistakes,
    l2_through_the_origin,
    l2_with_bias,
    lie,
    undecided,
    weakly_separable,
)

from maxmargin import HardMarginSVM, Verdict

falsehood = Falsehoods()


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("exact", [False, True])
def test_the_honest_ones_are_verified(make, exact):
    case = honest(make)
    assert case.certificate.verdict is VERDICTS[make]
    assert case.verify(exact), case.verify(exact)


# numbers


@falsehood(PROVEN, "the plane's margin is .* \\(row [0-9]+\\), not")
def margin_lower_raised_by_a_millionth(case):
    return lie(case, margin_lower=case.certificate.margin_lower * (1.0 + 1e-6))


@falsehood([l2_sparse_learnt_by_mistakes, l1_learnt_by_mistakes], "the plane's margin is")
def gap_closed_from_below(case):
    return lie(case, margin_lower=case.certificate.margin_upper, verdict=Verdict.OPTIMAL)


@falsehood(PROVEN, "the plane's margin is")
def margin_lower_infinite(case):
    return lie(case, margin_lower=math.inf)


@falsehood([*WITNESSED, *OPEN], "the plane's margin is|a positive margin is claimed")
def margin_lower_made_positive(case):
    return lie(case, margin_lower=1e-3)


@falsehood(PROVEN, "the weighted rows prove an upper bound of")
def margin_upper_lowered_by_a_millionth(case):
    return lie(case, margin_upper=case.certificate.margin_upper * (1.0 - 1e-6))


@falsehood([l2_sparse_learnt_by_mistakes, l1_learnt_by_mistakes], "the weighted rows prove an upper bound of")
def gap_closed_from_above(case):
    return lie(case, margin_upper=case.certificate.margin_lower, verdict=Verdict.OPTIMAL)


@falsehood([*PROVEN, *OPEN], "only a witness that the hulls meet makes the upper bound 0")
def margin_upper_zero_without_a_witness(case):
    return lie(case, margin_upper=0.0)


@falsehood([*PROVEN, *OPEN], "only a witness that the hulls meet makes the upper bound 0")
def margin_upper_negative(case):
    return lie(case, margin_upper=-1e-300)


@falsehood(WITNESSED, "a witness that the hulls meet makes the upper bound 0")
def margin_upper_negative_with_a_witness(case):
    return lie(case, margin_upper=-1e-9)


for number in ("margin_lower", "margin_upper", "primal", "dual"):

    @falsehood(ALL, "a bound is NaN", name=f"{number}_is_nan")
    def number_is_nan(case, number=number):
        return lie(case, **{number: math.nan})


for number, factor in (("primal", 1.0 + 1e-10), ("primal", 1.0 - 1e-10), ("dual", 1.0 + 1e-10), ("dual", 0.5)):

    @falsehood(
        PROVEN, "primal and dual are not the values that follow from the margins", name=f"{number}_times_{factor!r}"
    )
    def value_edited(case, number=number, factor=factor):
        return lie(case, **{number: getattr(case.certificate, number) * factor})


@falsehood([l2_sparse_learnt_by_mistakes, l1_learnt_by_mistakes], "primal and dual are not the values that follow")
def gap_closed_on_paper(case):
    return lie(case, primal=case.certificate.dual)


@falsehood([*WITNESSED, *OPEN], "primal and dual are not the values that follow")
def primal_of_a_plane_that_separates_nothing(case):
    return lie(case, primal=1.0)


# the plane


@falsehood(OPTIMAL, "the plane's margin is")
def plane_perturbed(case):
    w = case.certificate.w
    return lie(case, w=w + 1e-4 * np.linalg.norm(w) * np.arange(1, len(w) + 1))


@falsehood(PROVEN, "the plane's margin is")
def plane_flipped(case):
    return lie(case, w=-case.certificate.w, b=-case.certificate.b)


@falsehood([*PROVEN, *OPEN, weakly_separable], "the plane's margin is")
def plane_zero(case):
    return lie(case, w=np.zeros_like(case.certificate.w), b=0.0)


for name, value in (("nan", math.nan), ("inf", math.inf), ("minus_inf", -math.inf)):

    @falsehood(ALL, "the plane is not finite or has the wrong length", name=f"coefficient_{name}")
    def coefficient_not_finite(case, value=value):
        return lie(case, w=changed(case.certificate.w, 0, value))

    @falsehood(ALL, "the plane is not finite or has the wrong length", name=f"bias_{name}")
    def bias_not_finite(case, value=value):
        return lie(case, b=value)


@falsehood(ALL, "the plane is not finite or has the wrong length")
def plane_too_long(case):
    return lie(case, w=np.append(case.certificate.w, 0.0))


@falsehood(ALL, "the plane is not finite or has the wrong length")
def plane_too_short(case):
    return lie(case, w=case.certificate.w[:-1])


@falsehood([l2_with_bias, l1_optimal], "the plane's margin is")
def bias_shifted(case):
    return lie(case, b=case.certificate.b + 1e-3 * np.linalg.norm(case.certificate.w))


@falsehood([l2_through_the_origin], "the plane should pass through the origin but has b = 1e-12")
def bias_where_none_is_allowed(case):
    return lie(case, b=1e-12)


@falsehood([l2_through_the_origin], "the plane should pass through the origin")
def wider_street_with_a_forbidden_bias(case):
    wider = HardMarginSVM().fit(case.X, case.y).certificate_
    return case._replace(certificate=dataclasses.replace(wider, fit_intercept=False))


# the weights


@falsehood(ALL, "the weight of row [0-9]+ is negative or not finite")
def weight_negative(case):
    return lie(case, weights=changed(case.certificate.weights, 0, -1e-9))


@falsehood(ALL, "the weight of row [0-9]+ is negative or not finite")
def weight_nan(case):
    return lie(case, weights=changed(case.certificate.weights, -1, math.nan))


@falsehood(ALL, "the weight of row [0-9]+ is negative or not finite")
def weight_infinite(case):
    return lie(case, weights=changed(case.certificate.weights, -1, math.inf))


@falsehood(ALL, "a row comes twice")
def row_repeated(case):
    return lie(case, rows=changed(case.certificate.rows, 0, case.certificate.rows[-1]))


@falsehood(ALL, "rows and weights do not match")
def one_weight_more_than_rows(case):
    return lie(case, weights=np.append(case.certificate.weights, 1.0))


@falsehood(ALL, "rows and weights do not match")
def rows_in_two_dimensions(case):
    return lie(case, rows=case.certificate.rows[None, :1], weights=case.certificate.weights[None, :1])


@falsehood(ALL, "row 1000000 is not part of this problem")
def row_out_of_range(case):
    return lie(case, rows=changed(case.certificate.rows, 0, 1_000_000))


@falsehood(ALL, "row -1 is not part of this problem")
def row_negative(case):
    return lie(case, rows=changed(case.certificate.rows, 0, -1))


@falsehood([*PROVEN, *OPEN], "the weighted rows prove an upper bound of")
def weights_on_the_farthest_rows(case):
    """One row of either side, the two that are farthest apart: a bound, but a high one."""
    X, y = dense(case.X), np.asarray(case.y)
    plus, minus = np.flatnonzero(y == case.certificate.positive), np.flatnonzero(y == case.certificate.negative)
    distances = np.abs(X[plus][:, None] - X[minus][None]).max(axis=2)
    i, j = np.unravel_index(int(np.argmax(distances)), distances.shape)
    return lie(case, rows=np.array([plus[i], minus[j]]), weights=np.ones(2))


@falsehood([*PROVEN, *OPEN], "the weighted rows prove an upper bound of inf")
def no_weights(case):
    return lie(case, rows=np.zeros(0, np.intp), weights=np.zeros(0))


@falsehood([l2_with_bias, l1_optimal, l1_learnt_by_mistakes, *OPEN], "the weighted rows prove an upper bound of inf")
def weights_in_one_class(case):
    c = case.certificate
    return lie(case, weights=np.where(np.asarray(case.y)[c.rows] == c.positive, c.weights, 0.0))


# the witness


@falsehood(WITNESSED, "the witness does not hold")
def witness_without_one_row(case):
    return lie(case, rows=case.certificate.rows[1:], weights=case.certificate.weights[1:])


@falsehood(WITNESSED, "the witness does not hold")
def witness_without_weight(case):
    return lie(case, weights=0.0 * case.certificate.weights)


@falsehood(WITNESSED, "the witness does not hold")
def witness_without_rows(case):
    return lie(case, rows=np.zeros(0, np.intp), weights=np.zeros(0))


@falsehood(WITNESSED, "the witness does not hold: These rows are separable")
def witness_of_one_class(case):
    c = case.certificate
    return lie(case, weights=np.where(np.asarray(case.y)[c.rows] == c.positive, c.weights, 0.0))


@falsehood(WITNESSED, "their weights leave the hull points .* apart")
def witness_weights_edited(case):
    c = case.certificate
    counts = [np.sum(np.asarray(case.y)[c.rows] == side) for side in (c.positive, c.negative)]
    crowded = (c.positive, c.negative)[int(np.argmax(counts))]
    place = int(np.flatnonzero(np.asarray(case.y)[c.rows] == crowded)[0])
    return lie(case, weights=changed(c.weights, place, c.weights[place] * (1.0 + 1e-9)))


@falsehood(PROVEN, "the witness does not hold")
def witness_for_separable_data(case):
    return lie(
        case, verdict=Verdict.NOT_SEPARABLE, kkt=None, margin_lower=-math.inf, margin_upper=0.0,
        rows=np.arange(len(case.y)), weights=np.ones(len(case.y)),
    )  # fmt: skip


@falsehood([undecided], "the witness does not hold: These rows are separable")
def witness_for_rows_one_ulp_apart(case):
    return lie(case, verdict=Verdict.NOT_SEPARABLE, margin_upper=0.0)


@falsehood([weakly_separable], "the plane's margin is|the plane has rows on its wrong side")
def weak_plane_flipped(case):
    return lie(case, w=-case.certificate.w, b=-case.certificate.b, margin_lower=-math.inf)


@falsehood([weakly_separable], "the plane has rows on its wrong side, or all rows on itself")
def weak_plane_moved(case):
    return lie(case, b=case.certificate.b + 0.1 * np.linalg.norm(case.certificate.w), margin_lower=-math.inf)


@falsehood([weakly_separable], "the plane has rows on its wrong side, or all rows on itself")
def weak_plane_tilted(case):
    w = case.certificate.w
    return lie(case, w=w + 1e-3 * np.linalg.norm(w) * np.array([0.0, 1.0]), margin_lower=-math.inf)


@falsehood(WITNESSED, "the plane has rows on its wrong side, or all rows on itself")
def weak_plane_missing(case):
    zero = np.zeros_like(case.certificate.w)
    return lie(case, verdict=Verdict.WEAKLY_SEPARABLE, w=zero, b=0.0, margin_lower=-math.inf)


@falsehood.each
def test_falsehood_is_refused(told, make, exact):
    refuse(told, make, exact)


def test_every_falsehood_is_told_under_its_own_name():
    assert falsehood.have_names_of_their_own()
