"""Judge the judge of the soft margin: falsehoods, each told about several honest certificates, and what is true.

Every falsehood must be refused in float64 and in fractions, and for the right reason. What is accepted, in either, is
true of the real numbers: the last section tries random claims, also in the last digit.
"""

import dataclasses
import functools
import json
import math
import re
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import extreme, namings, tables

from maxmargin import LinearSVM, MulticlassCertificate
from maxmargin.certificates import exact_soft_margin
from maxmargin.certificates.exact_linear_algebra import float_above
from maxmargin.certificates.proof import KKT, Violation
from maxmargin.certificates.soft_margin import SoftMarginCertificate, SoftVerdict
from maxmargin.problems.soft_margin import Loss

# --------------------------------------------------------------------------------------------- honest certificates


class Case(NamedTuple):
    """A certificate and the data that it is about."""

    certificate: SoftMarginCertificate
    X: Any
    y: Any
    sample_weight: Any = None

    def verify(self, exact):
        return self.certificate.verify(self.X, self.y, exact=exact, sample_weight=self.sample_weight)


def mixed(n=60, d=3, seed=0):
    """Two classes that overlap a little."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    y = np.where(X @ np.arange(1.0, d + 1) + random.normal(size=n) > 0.5, 1, -1)
    return X, y


def fitted(X, y, sample_weight=None, tol=1e-6, **settings):
    svm = LinearSVM(tol=tol, **settings).fit(X, y, sample_weight=sample_weight)
    return Case(svm.certificate_, X, y, sample_weight)


def hinge():
    X, y = mixed(seed=1)
    return fitted(X, np.where(y > 0, "spam", "ham"), C=2.0)


def hinge_through_the_origin():
    return fitted(*mixed(seed=2), C=0.5, fit_intercept=False)


def hinge_float32():
    X, y = mixed(seed=3)
    return fitted(X.astype(np.float32), y)


def hinge_coordinate_descent():
    return fitted(*mixed(seed=4), solver="coordinate_descent", tol=1e-3)


def squared_sparse():
    X, y = mixed(seed=5)
    return fitted(sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0)), y, loss="squared_hinge", tol=1e-3)


def squared_through_the_origin():
    return fitted(*mixed(seed=6), loss="squared_hinge", fit_intercept=False, C=3.0, tol=1e-3)


def class_weights():
    X, y = mixed(seed=7)
    return fitted(X, y, class_weight={-1: 3.0, 1: 0.7})


def sample_weights():
    X, y = mixed(seed=8)
    return fitted(X, y, sample_weight=np.random.default_rng(8).integers(0, 4, len(y)).astype(float))


def huge_numbers():
    X, y = mixed(seed=9)
    return fitted(X * 1e150, y, C=1e-290)


def stopped():
    X, y = mixed(seed=10)
    return fitted(X, y, solver="coordinate_descent", max_iter=1, tol=1e-12)


def stopped_inside():
    """An interior point on its way, which meets none of the conditions."""
    X, y = mixed(seed=11)
    return fitted(X, y, solver="interior_point", max_iter=4, tol=1e-12)


HINGE = [hinge, hinge_through_the_origin, hinge_float32, hinge_coordinate_descent, class_weights, sample_weights]
SQUARED = [squared_sparse, squared_through_the_origin]
OPTIMAL = [*HINGE, *SQUARED, huge_numbers]
STOPPED = [stopped, stopped_inside]
ALL = [*OPTIMAL, *STOPPED]
WITH_BIAS = [make for make in ALL if "origin" not in make.__name__]
LOOSE = [stopped_inside]  # violations that can be told from rounding


@functools.cache
def honest(make):
    return make()


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("exact", [False, True])
def test_the_honest_ones_are_verified(make, exact):
    case = honest(make)
    assert case.certificate.is_optimal == (make not in STOPPED)
    assert case.verify(exact), case.verify(exact)
    assert str(case.verify(exact)).startswith("Verified")


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
    return case._replace(certificate=dataclasses.replace(case.certificate, **changes))


def changed(array, place, value):
    copy = np.array(array, dtype=np.result_type(array, type(value)) if not isinstance(value, str) else object)
    copy[place] = value
    return copy


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.array(X, dtype=float)


OBJECTIVE, BOUND = "the plane's objective", "the weights prove a lower bound of .*, not"


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


@falsehood(OPTIMAL, "above the tol of inf")
def tol_infinite(case):
    return lie(case, tol=math.inf)


@falsehood(ALL, "tol must be positive")
def tol_is_nan(case):
    return lie(case, tol=math.nan)


@falsehood(ALL, "tol must be positive")
def tol_negative(case):
    return lie(case, tol=-1.0)


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


@falsehood([class_weights], "must be positive and finite; row [0-9]+ has 0")
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


@falsehood(ALL, "the certificate is about [0-9]+ rows|y has no label")
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


@falsehood(SQUARED, r"sample_weight has the shape \(1,\), but there are 60 rows")
def sample_weight_for_one(case):
    return case._replace(sample_weight=[1.0])


@falsehood([hinge, hinge_float32, stopped, *SQUARED], "must be positive and finite; row 3 has inf")
def sample_weight_infinite(case):
    return case._replace(sample_weight=changed(np.ones(len(case.y)), 3, math.inf))


@falsehood(ALL, "the certificate is about")
def sample_weight_nan(case):
    weight = np.ones(len(case.y)) if case.sample_weight is None else case.sample_weight
    return case._replace(sample_weight=changed(weight, int(np.flatnonzero(weight)[0]), math.nan))


@falsehood(ALL, "'>' not supported|could not convert|did not contain a loop|ufunc")
def sample_weight_words(case):
    return case._replace(sample_weight=["heavy"] * len(case.y))


# the conditions


def understated(name):
    @falsehood(LOOSE, f"the condition of {name} is violated by")
    def tell(case):
        violation = getattr(case.certificate.kkt, name)
        return lie(
            case,
            kkt=dataclasses.replace(case.certificate.kkt, **{name: Violation(0.9 * violation.value, violation.row)}),
        )

    FALSEHOODS[-1] = FALSEHOODS[-1]._replace(name=f"{name}_understated")
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


PAIRS = [(told, make) for told in FALSEHOODS for make in told.about]


@pytest.mark.parametrize("exact", [False, True], ids=["float64", "exact"])
@pytest.mark.parametrize(("told", "make"), PAIRS, ids=[f"{told.name}-{make.__name__}" for told, make in PAIRS])
def test_falsehood_is_refused(told, make, exact):
    case = told.tell(honest(make))
    answer = case.verify(exact)
    assert not answer
    assert answer.reasons
    assert str(answer).startswith("Refused (in ")
    assert re.search(told.reason, "; ".join(answer.reasons)), answer.reasons


def test_every_falsehood_is_told_under_its_own_name():
    assert len({told.name for told in FALSEHOODS}) == len(FALSEHOODS)
    assert all(told.about for told in FALSEHOODS)


@pytest.mark.parametrize("exact", [False, True])
def test_a_forgotten_sample_weight_is_asked_for(exact):
    X, y = mixed(seed=11)
    weight = np.linspace(0.5, 2.0, len(y))
    case = fitted(X, y, sample_weight=weight)
    assert case.verify(exact)
    answer = case._replace(sample_weight=None).verify(exact)
    assert not answer
    assert "if the fit was given a sample_weight" in str(answer) or "is not between 0 and its cost" in str(answer)


def test_an_overflow_does_not_help_a_liar():
    """w.x cancels, but the sum of its magnitudes overflows: float64 knows nothing, and fractions decide."""
    X, y = np.array([[1e300, 1e300], [0.0, 0.0]]), np.array([1, -1])
    w = np.array([1e8, -1e8])  # P = 10^16 + 2
    claim = SoftMarginCertificate(
        SoftVerdict.BOUNDED, "hinge", 1.0, True, (), 1, -1, 2, 2, w, 0.0,
        np.zeros(0, np.intp), np.zeros(0), primal=1.0, dual=0.0, tol=1e-4,
    )  # fmt: skip
    for exact in (False, True):
        answer = claim.verify(X, y, exact=exact)
        assert not answer
        assert "beyond what float64 can hold" in str(answer)
        assert dataclasses.replace(claim, primal=1e16 + 2).verify(X, y, exact=exact)


# ----------------------------------------------------------------------------------- what is weaker is still true


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("make", ALL)
def test_weaker_claims_are_true(make, exact):
    case = honest(make)
    c = case.certificate
    order = np.random.default_rng(0).permutation(len(c.rows))
    worse = {
        field.name: dataclasses.replace(getattr(c.kkt, field.name), value=2.0 * getattr(c.kkt, field.name).value)
        for field in dataclasses.fields(KKT)
    }
    weaker = [
        {"verdict": SoftVerdict.BOUNDED},
        {"primal": 2.0 * c.primal, "verdict": SoftVerdict.BOUNDED},
        {"dual": 0.5 * c.dual, "verdict": SoftVerdict.BOUNDED},
        {"dual": -1.0, "primal": math.inf, "verdict": SoftVerdict.BOUNDED},
        {"tol": 0.9},
        {"kkt": None},
        {"kkt": KKT(**worse)},
        {"rows": c.rows[order], "weights": c.weights[order]},
        {"primal": float_above(Fraction(c.primal)), "tol": 0.5},
    ]
    if make in STOPPED:
        weaker.remove({"tol": 0.9})
    for changes in weaker:
        assert lie(case, **changes).verify(exact), (changes, lie(case, **changes).verify(exact))


@pytest.mark.parametrize("make", SQUARED)
def test_any_multiple_of_the_weights_proves_the_same_for_the_squared_hinge(make):
    case = honest(make)
    assert lie(case, weights=1e-3 * case.certificate.weights, kkt=None).verify(True)
    assert lie(case, weights=1e30 * case.certificate.weights, kkt=None).verify(False)


@pytest.mark.parametrize("make", [make for make in ALL if make is not huge_numbers])
def test_other_forms_of_the_same_table(make):
    case = honest(make)
    wide = sparse.csr_array(case.X)
    wide = sparse.csr_array((wide.data, wide.indices.astype(np.int64), wide.indptr.astype(np.int64)), wide.shape)
    for X in (
        dense(case.X),
        np.asfortranarray(dense(case.X)),
        sparse.csr_matrix(case.X),
        sparse.csc_array(case.X),
        wide,
    ):
        for exact in (False, True):
            assert case._replace(X=X).verify(exact)
    assert case._replace(X=dense(case.X).tolist(), y=list(case.y)).verify(False)


def test_integers_of_any_length():
    X, y = np.array([[2**60], [2**60 + 1], [2**60 + 2], [0]]), np.array([-1, 1, 1, -1])
    case = fitted(X.astype(float), y, C=1e-30, tol=0.5)
    assert case.verify(True)
    for exact in (False, True):  # P differs by less than the claim leaves room for, and fractions see that
        loose = lie(case, primal=1.1 * case.certificate.primal, dual=0.9 * case.certificate.dual, kkt=None, tol=0.9)
        assert loose._replace(X=X).verify(exact)


# ------------------------------------------------------------------------------------------------------ JSON, classes


@pytest.mark.parametrize("make", ALL)
def test_json_and_back(make):
    case = honest(make)
    c = case.certificate
    text = c.to_json()
    assert "\n" not in text
    json.loads(text)
    for copy in (SoftMarginCertificate.from_json(text), SoftMarginCertificate.from_dict(c.to_dict())):
        assert copy.to_json() == text
        assert copy.report() == c.report()
        assert repr(copy) == repr(c)
        assert copy.verdict is c.verdict
        assert case._replace(certificate=copy).verify(True)


def test_json_holds_what_json_cannot():
    c = dataclasses.replace(honest(hinge).certificate, primal=math.inf, verdict=SoftVerdict.BOUNDED, kkt=None)
    copy = SoftMarginCertificate.from_json(c.to_json())
    assert copy.primal == math.inf
    assert copy.kkt is None
    assert copy.relative_gap == math.inf


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"verdict": "SURE"}, "unknown verdict 'SURE'"),
        ({"C": "much"}, "not a certificate"),
        ({"rows": [0.5]}, "not a certificate"),
        ({"class_weight": [1]}, "not a certificate"),
        ({"kkt": {"stationarity": 1}}, "not a certificate"),
    ],
)
def test_what_is_no_certificate_is_not_read(changes, words):
    fields = honest(hinge).certificate.to_dict() | changes
    with pytest.raises(ValueError, match=words):
        SoftMarginCertificate.from_dict(fields)


def test_missing_and_unknown_fields_are_named():
    fields = honest(hinge).certificate.to_dict()
    del fields["loss"]
    with pytest.raises(ValueError, match=r"missing \['loss'\], unknown \['hinge'\]"):
        SoftMarginCertificate.from_dict(fields | {"hinge": 1})


def three_classes(seed=12):
    random = np.random.default_rng(seed)
    centres = np.repeat([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]], 20, axis=0)
    return centres + random.normal(size=(60, 2)), np.repeat(["a", "b", "c"], 20)


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("balanced", [None, "balanced"])
def test_many_classes(strategy, loss, balanced):
    X, y = three_classes()
    weight = np.random.default_rng(1).integers(0, 3, 60).astype(float)
    svm = LinearSVM(multi_class=strategy, loss=loss, class_weight=balanced, tol=1e-5).fit(X, y, sample_weight=weight)
    certificate = svm.certificate_
    assert certificate.is_optimal
    for copy in (certificate, MulticlassCertificate.from_json(certificate.to_json())):
        for exact in (False, True):
            answer = copy.verify(X, y, exact=exact, sample_weight=weight)
            assert answer, answer
        assert not copy.verify(X, y)
        assert not copy.verify(X[::-1], y, sample_weight=weight)
    assert [type(part) for part in copy] == [SoftMarginCertificate] * 3
    assert copy.report() == certificate.report()
    parts = list(certificate)
    parts[1] = dataclasses.replace(parts[1], dual=parts[1].primal)
    answer = MulticlassCertificate(tuple(parts)).verify(X, y, sample_weight=weight)
    assert not answer
    other = "the rest" if strategy == "ovr" else "'c'"
    assert all(reason.startswith(f"[{parts[1].positive!r} against {other}]: ") for reason in answer.reasons)


def test_rows_of_a_third_class_are_no_part_of_a_pair():
    X, y = three_classes()
    pair = LinearSVM(multi_class="ovo").fit(X, y).certificate_[0]
    liar = dataclasses.replace(pair, rows=changed(pair.rows, -1, 59))
    assert "row 59 is not part of this problem" in str(liar.verify(X, y))
    outside = dataclasses.replace(pair, weights=changed(pair.weights, -1, 1e9))
    assert f"of row {pair.rows[-1]} " in str(outside.verify(X, y))


@given(data=st.data(), naming=namings)
@settings(max_examples=20)
def test_labels_of_every_kind(data, naming):
    X, y = mixed(20, 2, seed=data.draw(st.integers(0, 100)))
    named = naming(y)
    if len(np.unique(y)) < 2:
        return
    weights = {label: 1.0 + place for place, label in enumerate(np.unique(named).tolist())}
    certificate = LinearSVM(class_weight=weights).fit(X, named).certificate_
    assert SoftMarginCertificate.from_json(certificate.to_json()).verify(X, named, exact=True)


# -------------------------------------------------------------------------------------------- to the last digit

shares = st.sampled_from([0.0, 0.0, 0.1, 0.3, 0.5, 1.0])
digits = st.integers(-2, 2).map(float)


@st.composite
def claims(draw):
    """A small table, any plane and any weights; and both values, in fractions."""
    data = draw(tables(scales=st.one_of(st.just(0), extreme)))
    (n, d), signs = data.X.shape, data.y.astype(float)
    loss, bias = draw(st.sampled_from(list(Loss))), draw(st.booleans())
    C = draw(st.sampled_from([1.0, 0.1, 3.0, 1e-200, 1e100]))
    largest = float(np.abs(data.X).max()) or 1.0
    w = draw(hnp.arrays(np.float64, d, elements=digits)) * draw(st.sampled_from([1.0, 0.1, min(1e300, 1.0 / largest)]))
    b = draw(digits) if bias else 0.0
    a = C * draw(hnp.arrays(np.float64, n, elements=shares))
    known = data.X, signs, np.full(n, C)
    primal = exact_soft_margin.primal_value(*known, w, b, loss)
    dual = exact_soft_margin.dual_value(*known, a, bias, loss)
    rows = np.flatnonzero(a)
    claim = SoftMarginCertificate(
        SoftVerdict.BOUNDED, loss.value, C, bias, (), 1, -1, n, d, w, b, rows, a[rows], math.inf, 0.0, 1e-3
    )
    return Case(claim, data.X, data.y), primal, dual


def below(value):
    """The largest double that is at most this fraction."""
    try:
        guess = float(value)
    except OverflowError:
        return float(np.finfo(float).max)
    return guess if Fraction(guess) <= value else math.nextafter(guess, -math.inf)


@given(claim=claims(), ulps=st.sampled_from([0, 1, 2, 3, 10, 1000]))
@settings(max_examples=120)
def test_exactly_what_is_true_is_accepted(claim, ulps):
    """The values themselves, rounded to the side that is true, and the next doubles on the side that is not."""
    case, primal, dual = claim
    low = below(dual)
    high = -below(-primal) if primal <= Fraction(float(np.finfo(float).max)) else math.inf
    true_primal, true_dual, false_primal, false_dual = high, low, high, low
    for _ in range(ulps):
        true_primal, true_dual = math.nextafter(true_primal, math.inf), math.nextafter(true_dual, -math.inf)
        false_primal, false_dual = math.nextafter(false_primal, 0.0), math.nextafter(false_dual, math.inf)
    for exact in (False, True):
        assert lie(case, primal=true_primal, dual=true_dual).verify(exact)
        if ulps > 0:
            assert not lie(case, primal=false_primal, dual=true_dual).verify(exact)
            assert not lie(case, primal=true_primal, dual=false_dual).verify(exact)
