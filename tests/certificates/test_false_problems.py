"""False verdicts and conditions, other problems and stale data: certificates of the hard margin that are refused."""

import dataclasses
import math

import numpy as np
from falsehoods import Falsehoods, changed, dense, refuse
from hard_margin_cases import (
    ALL,
    IMPLIED,
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
    not_separable,
    not_separable_through_the_origin,
    stopped,
    weakly_separable,
)

from maxmargin import Verdict
from maxmargin.certificates.proof import KKT, TheoremBound, Violation

falsehood = Falsehoods()


# the verdict


for verdict in Verdict:
    swindled = [make for make in ALL if VERDICTS[make] is not verdict and (VERDICTS[make], verdict) not in IMPLIED]

    @falsehood(swindled, "", name=f"verdict_is_{verdict.name}")
    def verdict_swapped(case, verdict=verdict):
        return lie(case, verdict=verdict)


@falsehood(OPTIMAL, "the relative gap is .*, above the tol of 1.0e-18: not optimal")
def tol_tightened(case):
    return lie(case, tol=1e-18)


for wrong in (math.nan, math.inf, 1e9, 1.0, -1e-9):

    @falsehood(ALL, "tol must be above 0 and below 1", name=f"tol_is_{wrong}")
    def tol_is_no_gap(case, wrong=wrong):
        return lie(case, tol=wrong)


@falsehood(OPTIMAL, "above the tol of 0.0e.00: not optimal")
def optimal_without_a_tol(case):
    return lie(case, tol=0.0)


@falsehood([l2_sparse_learnt_by_mistakes, l1_learnt_by_mistakes], "above the tol of .*: not optimal")
def optimal_at_a_wide_gap(case):
    return lie(case, verdict=Verdict.OPTIMAL, tol=1e-9)


@falsehood(PROVEN, "not optimal")
def optimal_without_an_upper_bound(case):
    nobody = {"rows": np.zeros(0, np.intp), "weights": np.zeros(0)}
    return lie(case, verdict=Verdict.OPTIMAL, tol=0.999, margin_upper=math.inf, kkt=None, **nobody)


@falsehood([not_separable, stopped], "the plane's margin is")
def separable_all_the_same(case):
    perfect = KKT(*[Violation(0.0)] * 5)
    return lie(case, verdict=Verdict.SEPARABLE, margin_lower=0.1, margin_upper=0.2, kkt=perfect)


@falsehood([weakly_separable], "the margin of row [0-9]+ is below 1e-300")
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

    @falsehood(
        BADLY[condition], f"the condition of {condition} is violated by .*, not by 0", name=f"{condition}_beautified"
    )
    def condition_beautified(case, condition=condition):
        kkt = case.certificate.kkt
        return lie(case, kkt=dataclasses.replace(kkt, **{condition: Violation(0.0, getattr(kkt, condition).row)}))

    @falsehood(
        BADLY[condition], f"the condition of {condition} is violated by", name=f"{condition}_slightly_beautified"
    )
    def condition_slightly_beautified(case, condition=condition):
        kkt = case.certificate.kkt
        violation = getattr(kkt, condition)
        less = dataclasses.replace(violation, value=violation.value * (1.0 - 1e-4))
        return lie(case, kkt=dataclasses.replace(kkt, **{condition: less}))

    @falsehood(PROVEN, f"the condition of {condition} is violated by .*, not by nan", name=f"{condition}_is_nan")
    def condition_is_nan(case, condition=condition):
        kkt = case.certificate.kkt
        return lie(case, kkt=dataclasses.replace(kkt, **{condition: Violation(math.nan, getattr(kkt, condition).row)}))


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


@falsehood(ALL, "row [0-9]+ has the label .*, which is none of .*, 'somebody else': the certificate is about")
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


@falsehood(ALL, "row 0 has the label 'another', which is none of .*: the certificate is about [0-9]+ rows")
def labels_are_others(case):
    return case._replace(y=np.full(len(case.y), "another"))


@falsehood([*PROVEN, *OPEN], "the certificate is about [0-9]+ rows x [0-9]+ columns, these data have")
def one_row_without_weight(case):
    return case._replace(sample_weight=changed(np.ones(len(case.y)), 0, 0.0))


@falsehood(ALL, "could not be broadcast|operands|shape")
def weights_of_another_length(case):
    return case._replace(sample_weight=np.ones(len(case.y) + 1))


@falsehood.each
def test_falsehood_is_refused(told, make, exact):
    refuse(told, make, exact)


def test_every_falsehood_is_told_under_its_own_name():
    assert falsehood.have_names_of_their_own()
