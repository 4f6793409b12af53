"""Other problems, stale data and beautified conditions: certificates of the soft margin that are refused."""

import dataclasses
import math

import numpy as np
from falsehoods import Case, Falsehoods, changed, dense, refuse
from soft_margin_cases import (
    ALL,
    BOUND,
    HINGE,
    LOOSE,
    OBJECTIVE,
    SQUARED,
    WITH_BIAS,
    class_weights,
    hinge,
    hinge_float32,
    hinge_through_the_origin,
    huge_numbers,
    lie,
    sample_weights,
    squared_sparse,
    squared_through_the_origin,
    stopped,
    stopped_inside,
)

from maxmargin.certificates.proof import KKT, Violation
from maxmargin.certificates.soft_margin import SoftVerdict

falsehood = Falsehoods()


# the problem


@falsehood(ALL, f"{OBJECTIVE}|{BOUND}")
def c_doubled(case):
    return lie(case, C=2.0 * case.certificate.C)


@falsehood([*HINGE, stopped], "is not between 0 and its cost")
def c_halved(case):
    return lie(case, C=0.5 * case.certificate.C)


@falsehood([*SQUARED, huge_numbers], f"{BOUND}|is not between 0 and its cost")
def c_lowered_a_little(case):
    return lie(case, C=0.9 * case.certificate.C)


@falsehood(ALL, "C must be positive and finite, not nan")
def c_is_nan(case):
    return lie(case, C=math.nan)


@falsehood(ALL, "C must be positive and finite, not inf")
def c_is_infinite(case):
    return lie(case, C=math.inf)


@falsehood(ALL, "C must be positive and finite, not 0")
def c_is_zero(case):
    return lie(case, C=0.0)


@falsehood(ALL, f"{OBJECTIVE}|{BOUND}|is not between")
def loss_exchanged(case):
    other = {"hinge": "squared_hinge", "squared_hinge": "hinge"}
    return lie(case, loss=other[case.certificate.loss])


@falsehood(ALL, "the loss 'ramp' is not known")
def loss_unknown(case):
    return lie(case, loss="ramp")


@falsehood([class_weights], f"{OBJECTIVE}|{BOUND}|is not between")
def class_weight_forgotten(case):
    return lie(case, class_weight=())


@falsehood([class_weights], f"{OBJECTIVE}|{BOUND}|is not between")
def class_weight_exchanged(case):
    (one, first), (other, second) = case.certificate.class_weight
    return lie(case, class_weight=((one, second), (other, first)))


@falsehood([hinge_float32, stopped], f"{OBJECTIVE}|{BOUND}|is not between")
def class_weight_invented(case):
    return lie(case, class_weight=((1, 2.0),))


@falsehood([class_weights], "pairs of a label and a positive weight")
def class_weight_zero(case):
    return lie(case, class_weight=((1, 0.0),))


@falsehood(WITH_BIAS, "should pass through the origin")
def bias_denied(case):
    return lie(case, fit_intercept=False)


@falsehood([hinge_through_the_origin, squared_through_the_origin], BOUND)
def bias_invented(case):
    """A plane through the origin is not the best of all planes."""
    return lie(case, fit_intercept=True)


@falsehood(ALL, OBJECTIVE)
def sides_exchanged(case):
    c = case.certificate
    return lie(case, positive=c.negative, negative=c.positive)


@falsehood(ALL, "row [0-9]+ has the label .*, which is none of 'elsewhere', .*: the certificate is about")
def label_unknown(case):
    return lie(case, positive="elsewhere")


@falsehood(ALL, "the certificate is about")
def n_rows_wrong(case):
    return lie(case, n_rows=case.certificate.n_rows + 1)


@falsehood(ALL, "the certificate is about")
def n_columns_wrong(case):
    return lie(case, n_columns=4)


# the data


@falsehood(ALL, OBJECTIVE)
def one_row_moved(case):
    X = dense(case.X)
    plane = case.certificate
    row = int(plane.rows[np.argmax(plane.weights)])
    X[row] -= 2.0 * (plane.w / np.linalg.norm(plane.w)) * (1 if case.y[row] == plane.positive else -1) * np.abs(X).max()
    return case._replace(X=X)


@falsehood(ALL, f"{OBJECTIVE}|{BOUND}")
def rows_in_another_order(case):
    return case._replace(X=case.X[::-1])


@falsehood(ALL, f"{OBJECTIVE}|{BOUND}")
def columns_in_another_order(case):
    return case._replace(X=dense(case.X)[:, ::-1])


@falsehood(ALL, f"{OBJECTIVE}|{BOUND}")
def data_in_other_units(case):
    return case._replace(X=dense(case.X) * 0.5)


@falsehood(ALL, OBJECTIVE)
def one_label_flipped(case):
    plane = case.certificate
    values = dense(case.X) @ plane.w + plane.b
    counts = np.ones(len(case.y)) if case.sample_weight is None else case.sample_weight
    row = int(np.argmax(np.where((case.y == plane.positive) & (counts > 0), values, -np.inf)))
    return case._replace(y=changed(case.y, row, plane.negative).astype(case.y.dtype))


@falsehood(ALL, "the certificate is about 6?[0-9]+ rows")
def one_row_more(case):
    weight = None if case.sample_weight is None else np.append(case.sample_weight, 1.0)
    return Case(case.certificate, np.vstack([dense(case.X), dense(case.X)[:1]]), np.append(case.y, case.y[0]), weight)


@falsehood(ALL, "the certificate is about")
def every_row_twice(case):
    weight = None if case.sample_weight is None else np.tile(case.sample_weight, 2)
    return Case(case.certificate, np.vstack([dense(case.X)] * 2), np.tile(case.y, 2), weight)


@falsehood(ALL, "rows but y has the shape")
def labels_too_few(case):
    return case._replace(y=case.y[:-1])


@falsehood(ALL, r"Input X contains NaN .*: row 1, column 0")
def x_holds_nan(case):
    return case._replace(X=changed(dense(case.X), (1, 0), math.nan))


@falsehood(ALL, "could not convert string to float|X must hold numbers|dtype")
def x_holds_words(case):
    return case._replace(X=np.full(case.X.shape, "word"))


@falsehood([sample_weights], "the certificate is about")
def sample_weight_forgotten_where_some_are_zero(case):
    return case._replace(sample_weight=None)


@falsehood([hinge, hinge_float32, stopped, *SQUARED], f"{OBJECTIVE}|{BOUND}|is not between")
def sample_weight_invented(case):
    return case._replace(sample_weight=np.where(np.arange(len(case.y)) % 2, 0.5, 2.0))


@falsehood(ALL, "sample_weight has the shape|could not be broadcast|operands")
def sample_weight_too_short(case):
    return case._replace(sample_weight=np.ones(5))


@falsehood(SQUARED, r"sample_weight has the shape \(1,\), but X has 60 rows")
def sample_weight_for_one(case):
    return case._replace(sample_weight=[1.0])


@falsehood(
    [hinge, hinge_float32, stopped, *SQUARED],
    "sample_weight must not hold NaN, infinity or negative values: row 3 has inf",
)
def sample_weight_infinite(case):
    return case._replace(sample_weight=changed(np.ones(len(case.y)), 3, math.inf))


@falsehood(ALL, "sample_weight must not hold NaN")
def sample_weight_nan(case):
    weight = np.ones(len(case.y)) if case.sample_weight is None else case.sample_weight
    return case._replace(sample_weight=changed(weight, int(np.flatnonzero(weight)[0]), math.nan))


@falsehood(ALL, "'>' not supported|could not convert|did not contain a loop|ufunc")
def sample_weight_words(case):
    return case._replace(sample_weight=["heavy"] * len(case.y))


# the conditions


def understated(name):
    @falsehood(LOOSE, f"the condition of {name} is violated by", name=f"{name}_understated")
    def tell(case):
        violation = getattr(case.certificate.kkt, name)
        return lie(
            case,
            kkt=dataclasses.replace(case.certificate.kkt, **{name: Violation(0.9 * violation.value, violation.row)}),
        )

    return tell


understated("stationarity")
understated("slackness")


@falsehood([hinge, class_weights, squared_sparse], "the condition of dual is violated by")
def imbalance_of_the_weights_denied(case):
    """The weights of one class are halved; all that follows is admitted, but for the imbalance."""
    c = case.certificate
    weights = np.where(case.y[c.rows] == c.positive, 0.5, 1.0) * c.weights
    row = c.kkt.slackness.row
    kkt = KKT(Violation(9.0), Violation(0.0), Violation(1e-6), Violation(9.0, row), Violation(math.inf))
    return lie(case, weights=weights, dual=0.0, verdict=SoftVerdict.BOUNDED, kkt=kkt)


@falsehood([stopped_inside], "the condition of bias is violated by")
def spread_of_the_bias_denied(case):
    return lie(case, kkt=dataclasses.replace(case.certificate.kkt, bias=Violation(0.0)))


@falsehood(ALL, "the condition of slackness is violated by")
def condition_is_nan(case):
    return lie(case, kkt=dataclasses.replace(case.certificate.kkt, slackness=Violation(math.nan, 0)))


@falsehood(ALL, "the condition of primal is violated by 0, not by -1")
def condition_below_zero(case):
    return lie(case, kkt=dataclasses.replace(case.certificate.kkt, primal=Violation(-1.0)))


@falsehood(LOOSE, "row [0-9]+ is not the one that adds most to the gap")
def slackness_blamed_on_another_row(case):
    slackness = case.certificate.kkt.slackness
    other = 0 if slackness.row else 1
    return lie(case, kkt=dataclasses.replace(case.certificate.kkt, slackness=Violation(slackness.value, other)))


@falsehood(ALL, "row 1000 is not the one that adds most to the gap")
def slackness_blamed_on_nobody(case):
    slackness = case.certificate.kkt.slackness
    return lie(case, kkt=dataclasses.replace(case.certificate.kkt, slackness=Violation(slackness.value, 1000)))


@falsehood.each
def test_falsehood_is_refused(told, make, exact):
    refuse(told, make, exact)


def test_every_falsehood_is_told_under_its_own_name():
    assert falsehood.have_names_of_their_own()
