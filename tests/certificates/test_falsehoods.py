"""Judge the judge: a table of falsehoods, each told by a careful liar about several honest certificates.

A careful liar keeps the books: whoever raises a margin also adjusts the primal value, so that only the data can
tell. Every falsehood must be refused in float64 and in fractions, and for the right reason. Not every change is a
falsehood: what is weaker than the truth is still true, and the last section says so.
"""

import dataclasses
import functools
import math
import re
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from oracles import NOT, SEPARABLE, WEAKLY, is_lower_bound, is_upper_bound, truth
from strategies import nearly_touching, separable, tables
from strategies import weakly_separable as made_weakly_separable

from maxmargin import HardMarginSVM, Perceptron, Verdict, Winnow, separability
from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.certify import Claim, certify
from maxmargin.certificates.measure import objective
from maxmargin.certificates.proof import KKT, TheoremBound, Violation
from maxmargin.data import synthetic

# --------------------------------------------------------------------------------------------- honest certificates


class Case(NamedTuple):
    """A certificate and the data that it is about."""

    certificate: Certificate
    X: Any
    y: Any
    sample_weight: Any = None

    def verify(self, exact):
        return self.certificate.verify(self.X, self.y, exact=exact, sample_weight=self.sample_weight)


def l2_with_bias():
    X, y, _ = synthetic.separable_gaussians(n=30, d=3, margin=0.3, seed=2)
    y = np.where(y > 0, "spam", "ham")
    return Case(HardMarginSVM().fit(X, y).certificate_, X, y)


def l2_through_the_origin():
    X, y, plane = synthetic.separable_gaussians(n=30, d=3, margin=0.3, seed=3)
    X += plane.b * plane.w  # the plane now passes through the origin
    return Case(HardMarginSVM(fit_intercept=False).fit(X, y).certificate_, X, y)


def l2_sparse_learnt_by_mistakes():
    X, y, _ = synthetic.separable_gaussians(n=40, d=4, margin=0.5, seed=4)
    X = sparse.csr_array(X)
    return Case(Perceptron().fit(X, y).certificate_, X, y)


def l1_learnt_by_mistakes():
    X, y, _ = synthetic.separable_gaussians(n=30, d=3, margin=0.5, seed=5)
    return Case(Winnow().fit(X, y).certificate_, X, y)


def l1_optimal():
    X = np.array([[2.0, 0.0], [2.0, 5.0], [3.0, -1.0], [0.0, 1.0], [0.0, -4.0], [-1.0, 0.0]])
    signs = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    claim = Claim(np.array([2.0, 0.0]), -2.0, np.array([0, 3]), np.ones(2))
    return Case(certify(X, signs, claim, norm="l1", fit_intercept=True, tol=1e-9), X, signs.astype(int))


def not_separable():
    X, y = synthetic.overlapping(n=40, seed=1)
    return Case(separability(X, y), X, y)


def not_separable_through_the_origin():
    X, y = np.array([[1.0, 1.0], [2.0, 2.0], [1.0, -1.0], [2.0, -2.0]]), np.array([-1, 1, -1, 1])
    return Case(separability(X, y, fit_intercept=False), X, y)


def weakly_separable():
    X, y, _ = synthetic.touching()
    return Case(separability(X, y), X, y)


def undecided():
    X, y = np.array([[1.0, 0.0], [1.0, 1.0], [np.nextafter(1.0, 2.0), 0.5]]), np.array([-1, -1, 1])
    claim = Claim(np.array([1.0, 0.0]), -1.0, np.arange(3), np.array([0.5, 0.5, 1.0]))
    return Case(certify(X, y.astype(float), claim, norm="l2", fit_intercept=True, tol=1e-9), X, y)


def stopped():
    X, y, _ = synthetic.separable_gaussians(n=30, d=3, margin=0.01, seed=6)
    return Case(Perceptron(max_updates=3).fit(X, y).certificate_, X, y)


OPTIMAL = [l2_with_bias, l2_through_the_origin, l1_optimal]
PROVEN = [*OPTIMAL, l2_sparse_learnt_by_mistakes, l1_learnt_by_mistakes]
WITNESSED = [not_separable, weakly_separable]  # and one without a bias, for a falsehood of its own
OPEN = [undecided, stopped]
ALL = [*PROVEN, *WITNESSED, not_separable_through_the_origin, *OPEN]
VERDICTS = {
    l2_with_bias: Verdict.OPTIMAL,
    l2_through_the_origin: Verdict.OPTIMAL,
    l1_optimal: Verdict.OPTIMAL,
    l2_sparse_learnt_by_mistakes: Verdict.SEPARABLE,
    l1_learnt_by_mistakes: Verdict.SEPARABLE,
    not_separable: Verdict.NOT_SEPARABLE,
    not_separable_through_the_origin: Verdict.NOT_SEPARABLE,
    weakly_separable: Verdict.WEAKLY_SEPARABLE,
    undecided: Verdict.UNDECIDED,
    stopped: Verdict.STOPPED,
}


@functools.cache
def honest(make):
    return make()


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("exact", [False, True])
def test_the_honest_ones_are_verified(make, exact):
    case = honest(make)
    assert case.certificate.verdict is VERDICTS[make]
    assert case.verify(exact), case.verify(exact)


# ------------------------------------------------------------------------------------------------------ falsehoods


class Falsehood(NamedTuple):
    name: str
    tell: Any
    about: list
    reason: str


FALSEHOODS: list[Falsehood] = []


def falsehood(about, reason):
    """Register a function from an honest case to a false one; its name is the falsehood's."""

    def register(tell):
        FALSEHOODS.append(Falsehood(tell.__name__, tell, about, reason))
        return tell

    return register


def lie(case, **changes):
    """The certificate with these changes; primal and dual follow the margins unless they are changed themselves."""
    c = dataclasses.replace(case.certificate, **changes)
    follow = {
        value: objective(getattr(c, margin), c.norm)
        for value, margin in (("primal", "margin_lower"), ("dual", "margin_upper"))
        if value not in changes and (margin in changes or "norm" in changes)
    }
    return case._replace(certificate=dataclasses.replace(c, **follow))


def changed(array, place, value):
    copy = np.array(array)
    copy[place] = value
    return copy


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.array(X)


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

    @falsehood(ALL, "a bound is NaN")
    def number_is_nan(case, number=number):
        return lie(case, **{number: math.nan})

    FALSEHOODS[-1] = FALSEHOODS[-1]._replace(name=f"{number}_is_nan")

for number, factor in (("primal", 1.0 + 1e-10), ("primal", 1.0 - 1e-10), ("dual", 1.0 + 1e-10), ("dual", 0.5)):

    @falsehood(PROVEN, "primal and dual are not the values that follow from the margins")
    def value_edited(case, number=number, factor=factor):
        return lie(case, **{number: getattr(case.certificate, number) * factor})

    FALSEHOODS[-1] = FALSEHOODS[-1]._replace(name=f"{number}_times_{factor!r}")


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

    @falsehood(ALL, "the plane is not finite or has the wrong length")
    def coefficient_not_finite(case, value=value):
        return lie(case, w=changed(case.certificate.w, 0, value))

    FALSEHOODS[-1] = FALSEHOODS[-1]._replace(name=f"coefficient_{name}")

    @falsehood(ALL, "the plane is not finite or has the wrong length")
    def bias_not_finite(case, value=value):
        return lie(case, b=value)

    FALSEHOODS[-1] = FALSEHOODS[-1]._replace(name=f"bias_{name}")


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


# the verdict


IMPLIED = {  # what is weaker than the truth is still true
    (Verdict.OPTIMAL, Verdict.SEPARABLE),
    (Verdict.WEAKLY_SEPARABLE, Verdict.NOT_SEPARABLE),
    (Verdict.UNDECIDED, Verdict.STOPPED),
    (Verdict.STOPPED, Verdict.UNDECIDED),
}
for verdict in Verdict:
    swindled = [make for make in ALL if VERDICTS[make] is not verdict and (VERDICTS[make], verdict) not in IMPLIED]

    @falsehood(swindled, "")
    def verdict_swapped(case, verdict=verdict):
        return lie(case, verdict=verdict)

    FALSEHOODS[-1] = FALSEHOODS[-1]._replace(name=f"verdict_is_{verdict.name}")


@falsehood(OPTIMAL, "the relative gap is .*, above the tol of 1.0e-18: not optimal")
def tol_tightened(case):
    return lie(case, tol=1e-18)


@falsehood(OPTIMAL, "not optimal")
def tol_is_nan(case):
    return lie(case, tol=math.nan)


@falsehood([l2_sparse_learnt_by_mistakes, l1_learnt_by_mistakes], "above the tol of .*: not optimal")
def optimal_at_a_wide_gap(case):
    return lie(case, verdict=Verdict.OPTIMAL, tol=1e-9)


@falsehood(PROVEN, "not optimal")
def optimal_without_an_upper_bound(case):
    nobody = {"rows": np.zeros(0, np.intp), "weights": np.zeros(0)}
    return lie(case, verdict=Verdict.OPTIMAL, tol=math.inf, margin_upper=math.inf, kkt=None, **nobody)


@falsehood([not_separable, stopped], "the plane's margin is")
def separable_all_the_same(case):
    perfect = KKT(*[Violation(0.0)] * 5)
    return lie(case, verdict=Verdict.SEPARABLE, margin_lower=0.1, margin_upper=0.2, kkt=perfect)


@falsehood([weakly_separable], "Row [0-9]+ is not strictly on its side")
def separable_by_what_rounding_cannot_exclude(case):
    """Rows on the plane, and a margin that is smaller than the rounding of their distances."""
    perfect = KKT(*[Violation(1e300, 0)] * 5)
    return lie(case, verdict=Verdict.SEPARABLE, margin_lower=1e-300, margin_upper=1.0, kkt=perfect)


@falsehood([*WITNESSED, *OPEN], "no positive margin is claimed, so nothing is separated")
def separable_without_a_margin(case):
    return lie(case, verdict=Verdict.SEPARABLE)


# the conditions of optimality


BADLY = {  # who violates which condition; a perceptron's w is a combination of the rows and keeps the first
    "stationarity": [l1_learnt_by_mistakes],
    "slackness": [l2_sparse_learnt_by_mistakes, l1_learnt_by_mistakes],
    "bias": [l2_sparse_learnt_by_mistakes, l1_learnt_by_mistakes],
}
for condition in BADLY:

    @falsehood(BADLY[condition], f"the condition of {condition} is violated by .*, not by 0")
    def condition_beautified(case, condition=condition):
        kkt = case.certificate.kkt
        return lie(case, kkt=dataclasses.replace(kkt, **{condition: Violation(0.0, getattr(kkt, condition).row)}))

    FALSEHOODS[-1] = FALSEHOODS[-1]._replace(name=f"{condition}_beautified")

    @falsehood(BADLY[condition], f"the condition of {condition} is violated by")
    def condition_slightly_beautified(case, condition=condition):
        kkt = case.certificate.kkt
        violation = getattr(kkt, condition)
        less = dataclasses.replace(violation, value=violation.value * (1.0 - 1e-4))
        return lie(case, kkt=dataclasses.replace(kkt, **{condition: less}))

    FALSEHOODS[-1] = FALSEHOODS[-1]._replace(name=f"{condition}_slightly_beautified")

    @falsehood(PROVEN, f"the condition of {condition} is violated by .*, not by nan")
    def condition_is_nan(case, condition=condition):
        kkt = case.certificate.kkt
        return lie(case, kkt=dataclasses.replace(kkt, **{condition: Violation(math.nan, getattr(kkt, condition).row)}))

    FALSEHOODS[-1] = FALSEHOODS[-1]._replace(name=f"{condition}_is_nan")


@falsehood(PROVEN, "is not the nearest to the plane")
def another_row_is_said_to_be_nearest(case):
    c = case.certificate
    distances = dense(case.X) @ c.w + c.b
    return lie(case, kkt=dataclasses.replace(c.kkt, primal=Violation(0.0, int(np.argmax(np.abs(distances))))))


@falsehood([l2_sparse_learnt_by_mistakes, l1_learnt_by_mistakes], "is not the one that has the most slack")
def another_row_is_said_to_have_the_slack(case):
    c = case.certificate
    other = next(int(row) for row in c.rows if row != c.kkt.slackness.row)
    return lie(case, kkt=dataclasses.replace(c.kkt, slackness=Violation(c.kkt.slackness.value, other)))


@falsehood(PROVEN, "is not the nearest to the plane")
def nearest_row_out_of_range(case):
    kkt = case.certificate.kkt
    return lie(case, kkt=dataclasses.replace(kkt, primal=Violation(0.0, 1_000_000)))


@falsehood(PROVEN, "the report of the optimality conditions is missing or out of place")
def conditions_left_out(case):
    return lie(case, kkt=None)


@falsehood([*WITNESSED, *OPEN], "the report of the optimality conditions is missing or out of place")
def conditions_invented(case):
    return lie(case, kkt=KKT(*[Violation(0.0)] * 5))


@falsehood(ALL, "the theorem's figures are NaN")
def theorem_of_nan(case):
    return lie(case, theorems=(TheoremBound("Novikov", math.nan, 1.0),))


# the problem


@falsehood([l2_with_bias, l2_through_the_origin, l2_sparse_learnt_by_mistakes], "the plane's margin is")
def norm_is_l1(case):
    return lie(case, norm="l1")


@falsehood([l1_learnt_by_mistakes], "the weighted rows prove an upper bound of")
def norm_is_l2(case):
    return lie(case, norm="l2")


@falsehood(ALL, "the norm 'l3' is not known")
def norm_unknown(case):
    return case._replace(certificate=dataclasses.replace(case.certificate, norm="l3"))


@falsehood([l2_with_bias, l1_optimal], "the plane should pass through the origin")
def bias_denied(case):
    return lie(case, fit_intercept=False)


@falsehood([l2_through_the_origin], "the weighted rows prove an upper bound of")
def bias_allowed_after_all(case):
    return lie(case, fit_intercept=True)


@falsehood([not_separable_through_the_origin], "the witness does not hold: These rows are separable")
def witness_through_the_origin_for_any_plane(case):
    return lie(case, fit_intercept=True)


@falsehood(ALL, "the certificate is about [0-9]+ rows x [0-9]+ columns, these data have")
def one_row_more(case):
    return lie(case, n_rows=case.certificate.n_rows + 1)


@falsehood(ALL, "the certificate is about [0-9]+ rows x [0-9]+ columns, these data have")
def one_column_less(case):
    return lie(case, n_columns=case.certificate.n_columns - 1)


@falsehood(PROVEN, "the plane's margin is")
def sides_exchanged(case):
    return lie(case, positive=case.certificate.negative, negative=case.certificate.positive)


@falsehood(ALL, "the certificate is about [0-9]+ rows")
def label_unknown(case):
    return lie(case, negative="somebody else")


@falsehood([*PROVEN, *WITNESSED], "these data have rows on one side only")
def label_unknown_against_the_rest(case):
    return lie(case, positive="somebody else", negative=None)


# other data: the certificate is stale


@falsehood([l2_with_bias, l2_through_the_origin, l1_optimal], "the plane's margin is|the weighted rows prove")
def rows_in_another_order(case):
    """The supporting rows trade places with others."""
    order = np.roll(np.arange(len(case.y)), 1)
    return case._replace(X=case.X[order], y=np.asarray(case.y)[order])


@falsehood(WITNESSED, "the witness does not hold")
def witness_rows_in_another_order(case):
    order = np.arange(len(case.y))[::-1]
    return case._replace(X=case.X[order], y=np.asarray(case.y)[order])


@falsehood(OPTIMAL, "the plane's margin is .* \\(row [0-9]+\\)|the weighted rows prove")
def one_cell_changed(case):
    """The nearest row moves towards the plane, by a millionth."""
    c = case.certificate
    X, row = dense(case.X), c.kkt.primal.row
    column = int(np.argmax(np.abs(c.w)))
    towards = -np.sign(c.w[column] * (X[row] @ c.w + c.b))
    X[row, column] += 1e-6 * towards
    return case._replace(X=X)


@falsehood(WITNESSED, "the witness does not hold|their weights leave the hull points")
def one_cell_of_the_witness_changed(case):
    """The row that lies alone in its class leaves the hull of the others, by one unit in the last place or by 10."""
    X = dense(case.X)
    X[case.certificate.rows] += 1e-3 * np.arange(len(case.certificate.rows))[:, None] ** 2
    return case._replace(X=X)


@falsehood(PROVEN, "the plane's margin is -")
def one_label_flipped(case):
    y = np.array(case.y)
    y[0] = next(label for label in np.unique(y) if label != y[0])
    return case._replace(y=y)


@falsehood(WITNESSED, "the witness does not hold: These rows are separable")
def label_of_a_witness_flipped(case):
    c, y = case.certificate, np.array(case.y)
    y[c.rows[0]] = c.negative if y[c.rows[0]] == c.positive else c.positive
    return case._replace(y=y)


@falsehood(ALL, "the certificate is about [0-9]+ rows x [0-9]+ columns, these data have")
def one_row_appended(case):
    X = dense(case.X)
    return case._replace(X=np.vstack([X, X[:1]]), y=np.append(case.y, case.y[0]))


@falsehood(ALL, "the certificate is about [0-9]+ rows x [0-9]+ columns, these data have")
def one_column_appended(case):
    X = dense(case.X)
    return case._replace(X=np.hstack([X, X[:, :1]]))


@falsehood(ALL, "X has [0-9]+ rows but y has the shape")
def labels_of_another_length(case):
    return case._replace(y=np.append(case.y, case.y[0]))


@falsehood(ALL, "X has [0-9]+ rows but y has the shape")
def labels_in_a_column(case):
    return case._replace(y=np.asarray(case.y)[:, None])


@falsehood(ALL, "Input X contains NaN .*: row 1, column 0")
def x_holds_nan(case):
    return case._replace(X=changed(dense(case.X), (1, 0), math.nan))


@falsehood(ALL, "Input X contains -infinity .*: row 0, column 1")
def x_holds_infinity(case):
    return case._replace(X=changed(dense(case.X), (0, 1), -math.inf))


@falsehood(ALL, "could not convert string to float|X must hold numbers|dtype")
def x_holds_words(case):
    return case._replace(X=np.full(case.X.shape, "word"))


@falsehood(ALL, "1D array|2D array")
def x_is_one_row(case):
    return case._replace(X=dense(case.X)[0])


@falsehood(ALL, "the certificate is about [0-9]+ rows")
def labels_are_others(case):
    return case._replace(y=np.full(len(case.y), "another"))


@falsehood([*PROVEN, *OPEN], "the certificate is about [0-9]+ rows x [0-9]+ columns, these data have")
def one_row_without_weight(case):
    return case._replace(sample_weight=changed(np.ones(len(case.y)), 0, 0.0))


@falsehood(ALL, "could not be broadcast|operands|shape")
def weights_of_another_length(case):
    return case._replace(sample_weight=np.ones(len(case.y) + 1))


PAIRS = [(told, make) for told in FALSEHOODS for make in told.about]


@pytest.mark.parametrize("exact", [False, True], ids=["float64", "exact"])
@pytest.mark.parametrize(("told", "make"), PAIRS, ids=[f"{told.name}-{make.__name__}" for told, make in PAIRS])
def test_falsehood_is_refused(told, make, exact):
    case = told.tell(honest(make))
    answer = case.verify(exact)
    assert not answer
    assert answer.reasons
    assert str(answer).startswith("Refused (in ")
    assert re.search(told.reason, "; ".join(answer.reasons))


def test_every_falsehood_is_told_under_its_own_name():
    assert len({told.name for told in FALSEHOODS}) == len(FALSEHOODS)
    assert all(told.about for told in FALSEHOODS)


# ---------------------------------------------------------------------------------------------- to the last digit


@settings(max_examples=60)
@given(data=st.data(), fit_intercept=st.booleans(), norm=st.sampled_from(["l2", "l1"]))
def test_exactly_the_margin_and_not_one_unit_in_the_last_place_more(data, fit_intercept, norm):
    """The rows are integers times a power of two, so that the best margin is a double: it can be claimed exactly."""
    made = separable(fit_intercept, columns=st.integers(1, 2))
    known = data.draw(made if norm == "l2" else made.filter(lambda known: known.axis))
    support = support_of(known)
    difference = known.X[support[0]] - known.X[support[1]]
    middle = (known.X[support[0]] + known.X[support[1]]) / 2.0
    b = -float(difference @ middle) if fit_intercept else 0.0
    claim = Claim(difference, b, np.array(support), np.ones(2))
    signs = known.y.astype(float)
    issued = certify(known.X, signs, claim, norm=norm, fit_intercept=fit_intercept, tol=1e-9)
    case = Case(issued, known.X, known.y)
    assert issued.verdict is Verdict.OPTIMAL
    up, down = math.nextafter(known.margin, math.inf), math.nextafter(known.margin, 0.0)
    assert lie(case, margin_lower=known.margin, margin_upper=known.margin).verify(exact=True)
    assert lie(case, margin_lower=down, margin_upper=up).verify(exact=True)
    too_low = lie(case, margin_lower=down, margin_upper=down).verify(exact=True)
    assert "leave room for a margin above" in str(too_low)
    too_high = lie(case, margin_lower=up, margin_upper=up).verify(exact=True)
    assert "row" in str(too_high)
    assert repr(up) in str(too_high)
    for factor in (1.0 + 1e-12, 1.0 + 1e-6, 2.0):
        assert not lie(case, margin_lower=known.margin * factor).verify(exact=True)
        assert not lie(case, margin_upper=known.margin / factor).verify(exact=True)


def support_of(known):
    """The two rows that were put opposite each other: as near as rows of both classes can be."""
    plus, minus = np.flatnonzero(known.y > 0), np.flatnonzero(known.y < 0)
    distances = np.linalg.norm(known.X[plus][:, None] - known.X[minus][None], axis=2)
    i, j = np.unravel_index(int(np.argmin(distances)), distances.shape)
    return int(plus[i]), int(minus[j])


@settings(max_examples=60)
@given(data=nearly_touching(), fit_intercept=st.booleans())
def test_only_a_true_witness_is_believed(data, fit_intercept):
    """All rows are offered as a witness: it is accepted exactly when the hulls meet."""
    n, d = data.X.shape
    liar = Certificate(
        Verdict.NOT_SEPARABLE, "l2", fit_intercept, 1, -1, n, d, np.zeros(d), 0.0, np.arange(n), np.ones(n),
        margin_lower=-math.inf, margin_upper=0.0, primal=math.inf, dual=math.inf, tol=1e-9,
    )  # fmt: skip
    answer = liar.verify(data.X, data.y)
    separable = truth(data.X, data.y, fit_intercept=fit_intercept) == SEPARABLE
    assert ("These rows are separable" in str(answer)) == separable
    assert not (answer and separable)


@st.composite
def claims(draw):
    """Small data and a certificate with every part drawn at random, or taken from an honest one."""
    fit_intercept = draw(st.booleans())
    data = draw(st.one_of(tables(), separable(fit_intercept), nearly_touching(), made_weakly_separable(fit_intercept)))
    (n, d), signs = data.X.shape, data.y.astype(float)
    norm = draw(st.sampled_from(["l2", "l1"]))
    w = draw(hnp.arrays(np.float64, d, elements=st.integers(-2, 2).map(float)))
    b = float(draw(st.integers(-2, 2))) if fit_intercept else 0.0
    if draw(st.booleans()):
        b *= float(np.abs(data.X).max())
    weights = draw(hnp.arrays(np.float64, n, elements=st.integers(0, 2).map(float)))
    meets, stopped = draw(st.booleans()), draw(st.booleans())
    claim = Claim(w, b, np.arange(n), weights, meets and bool(weights.any()), stopped)
    honest = certify(
        data.X, signs, claim, norm=norm, fit_intercept=fit_intercept, tol=draw(st.sampled_from([1e-9, 0.5]))
    )
    scale = float(np.abs(data.X).max()) or 1.0
    number = st.one_of(
        st.sampled_from([0.0, 1e-300, math.inf, -math.inf, 0.5 * scale, scale, 1e-16 * scale, -scale]),
        st.sampled_from([honest.margin_lower, honest.margin_upper]).flatmap(
            lambda x: st.sampled_from([x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf), 1.0001 * x])
        ),
    )
    changes = {}
    if draw(st.booleans()):
        changes["verdict"] = draw(st.sampled_from(Verdict))
    if draw(st.booleans()):
        changes["margin_lower"] = draw(number)
    if draw(st.booleans()):
        changes["margin_upper"] = draw(number)
    if draw(st.booleans()):
        changes["fit_intercept"] = draw(st.booleans())
    if draw(st.booleans()):
        changes["kkt"] = draw(st.sampled_from([None, KKT(*[Violation(1e300, row) for row in [0] * 5])]))
    return lie(Case(honest, data.X, data.y), **changes)


@settings(max_examples=600)
@given(case=claims())
def test_whatever_is_accepted_is_true(case):
    """Random claims; the oracle checks those that pass. Float64 may be generous to a bound, not to a verdict."""
    c = case.certificate
    signs = case.y.astype(float)
    known = None
    for exact in (False, True):
        answer = case.verify(exact)
        assert answer.reasons
        if not answer:
            continue
        known = known or truth(case.X, case.y, fit_intercept=c.fit_intercept)
        assert known in MEANS.get(c.verdict, {known})
        assert c.verdict is not Verdict.OPTIMAL or c.relative_gap <= c.tol
        if exact:
            assert c.margin_lower == -math.inf or is_lower_bound(c.margin_lower, case.X, signs, c.w, c.b, c.norm)
            if c.margin_upper > 0.0:
                assert is_upper_bound(c.margin_upper, case.X[c.rows], signs[c.rows], c.weights, c.norm, c.fit_intercept)


MEANS = {
    Verdict.OPTIMAL: {SEPARABLE},
    Verdict.SEPARABLE: {SEPARABLE},
    Verdict.WEAKLY_SEPARABLE: {WEAKLY},
    Verdict.NOT_SEPARABLE: {WEAKLY, NOT},
}


def test_integers_too_long_for_float64_are_judged_as_they_are():
    """Fitted in float64, where two rows coincide; the table itself is separable, and the judge says so."""
    X = np.array([[2**60], [2**60 + 1]])
    certificate = separability(X.astype(float), [0, 1])
    assert certificate.verdict is Verdict.NOT_SEPARABLE
    assert "These rows are separable" in str(certificate.verify(X, [0, 1]))
    assert certificate.verify(X.astype(float), [0, 1])


def test_wide_numbers_that_float64_cannot_hold_are_refused():
    third = np.longdouble(1.0) / 3
    if np.float64(third) == third:
        pytest.skip("here a long double is a double")
    certificate = separability([[0.0], [1.0]], [0, 1])
    assert "float64 cannot hold" in str(certificate.verify(np.array([[0.0], [third]]), [0, 1]))
    assert certificate.verify(np.array([[0.0], [1.0]], dtype=np.longdouble), [0, 1], exact=True)


# -------------------------------------------------------------------------------- one versus one, and sample weights


@functools.cache
def three_classes():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0], [6.0, 1.0], [0.0, 5.0], [1.0, 6.0]])
    y = np.array(["a", "a", "b", "b", "c", "c"])
    return X, y, HardMarginSVM(multi_class="ovo").fit(X, y).certificate_


def test_rows_of_a_third_class_are_no_part_of_a_pair():
    X, y, certificate = three_classes()
    pair = certificate[0]
    assert (pair.positive, pair.negative) == ("a", "b")
    for exact in (False, True):
        assert pair.verify(X, y, exact=exact)
        liar = dataclasses.replace(pair, rows=changed(pair.rows, 0, 4))
        assert "row 4 is not part of this problem" in str(liar.verify(X, y, exact=exact))


def test_reasons_name_the_rows_of_the_whole_table():
    X, y, certificate = three_classes()
    pair = certificate[2]
    assert (pair.positive, pair.negative) == ("b", "c")
    liar = lie(Case(pair, X, y), margin_lower=pair.margin_lower * 1.1)
    nearest = {2, 4}  # of the six rows, not of the four that are b or c
    for exact in (False, True):
        for reason in liar.verify(exact).reasons:
            assert int(re.search(r"\brow ([0-9]+)", reason, re.IGNORECASE)[1]) in nearest
    flipped = dataclasses.replace(pair, w=-pair.w, b=-pair.b)
    assert any(reason.startswith("Row 2 ") for reason in flipped.verify(X, y, exact=True).reasons)


def test_other_sample_weights():
    X, y = [[0.0], [1.0], [1.5], [3.0]], [0, 0, 1, 1]
    certificate = HardMarginSVM().fit(X, y, sample_weight=[1, 1, 0, 1]).certificate_
    for exact in (False, True):
        assert certificate.verify(X, y, exact=exact, sample_weight=[1, 1, 0, 1])
        for weight in ([1, 0, 1, 1], [0, 1, 0, 1], [1, 1, math.nan, 0], [0, 0, 0, 0]):
            assert not certificate.verify(X, y, exact=exact, sample_weight=weight)


# ----------------------------------------------------------------------------------- what is weaker is still true


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("make", ALL)
def test_the_same_plane_and_weights_in_another_scale(make, exact):
    case = honest(make)
    c = case.certificate
    assert lie(case, w=4.0 * c.w, b=4.0 * c.b, weights=0.25 * c.weights).verify(exact)
    if c.w.any():
        huge = 1e307 / max(1.0, np.abs(c.w).max(), abs(c.b))
        a_little_less = c.margin_lower - 1e-3 * abs(c.margin_lower)
        assert lie(case, w=c.w * huge, b=c.b * huge, margin_lower=a_little_less, tol=0.01).verify(exact)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("make", WITNESSED)
def test_who_is_not_separable_by_any_plane_is_not_by_one_through_the_origin(make, exact):
    weaker = {"fit_intercept": False, "verdict": Verdict.NOT_SEPARABLE, "b": 0.0, "margin_lower": -math.inf}
    assert lie(honest(make), **weaker).verify(exact)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("make", PROVEN)
def test_weaker_bounds_are_true(make, exact):
    case = honest(make)
    c = case.certificate
    weaker = lie(case, verdict=Verdict.SEPARABLE, margin_lower=0.5 * c.margin_lower, margin_upper=2.0 * c.margin_upper)
    assert weaker.verify(exact)
    worse = {name: Violation(2.0 * getattr(c.kkt, name).value + 1e-9, getattr(c.kkt, name).row) for name in KKT_NAMES}
    assert lie(case, kkt=KKT(**worse)).verify(exact)
    assert lie(case, verdict=Verdict.STOPPED, margin_lower=-math.inf, kkt=None).verify(exact)


KKT_NAMES = [field.name for field in dataclasses.fields(KKT)]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("make", ALL)
def test_an_implied_verdict_is_true(make, exact):
    for stated, weaker in IMPLIED:
        if VERDICTS[make] is stated:
            assert lie(honest(make), verdict=weaker).verify(exact)
