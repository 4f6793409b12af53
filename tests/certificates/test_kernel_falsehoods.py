"""Judge the judge of margins in the space of a kernel: falsehoods, each told about several honest certificates.

Every falsehood must be refused, in float64 and (where the kernel has rational values) in fractions, and for the right
reason. What is weaker is still true and is believed. The last section tries claims in the last digit.
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
from sklearn.svm import SVC

from maxmargin.certificates import exact_kernel
from maxmargin.certificates.kernel_duality import measure
from maxmargin.certificates.kernel_margin import (
    KernelCertificate,
    KernelVerdict,
    kernel_certificate,
    no_plane_certificate,
)
from maxmargin.certificates.multiclass import MulticlassCertificate
from maxmargin.certificates.proof import KKT, Violation
from maxmargin.problems.kernel_margin import KernelMargin
from maxmargin.problems.kernels import KernelChoice
from maxmargin.problems.multiclass import TwoClasses
from maxmargin.problems.soft_margin import Loss

# --------------------------------------------------------------------------------------------- honest certificates


class Case(NamedTuple):
    """A certificate and the data that it is about."""

    certificate: KernelCertificate
    X: Any
    y: Any
    sample_weight: Any = None
    kernel: Any = None

    def verify(self, exact):
        return self.certificate.verify(
            self.X, self.y, exact=exact, sample_weight=self.sample_weight, kernel=self.kernel
        )

    @property
    def ways(self):
        """float64, and exact arithmetic where there is one."""
        return (False,) if self.certificate.kernel in ("rbf", "function") else (False, True)


def mixed(n=40, d=2, seed=0):
    """Two classes that overlap a little, apart by a curve."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, np.where((X**2).sum(axis=1) + 0.5 * random.normal(size=n) > 1.2, 1, -1)


def problem_of(X, y, C=1.0, kernel="rbf", gamma=1.0, coef0=1.0, degree=2, weights=None, class_weight=(), pair=(1, -1)):
    """The two classes of the pair, and the problem, as a fit makes them."""
    positive, negative = pair
    taken = (y == positive) | (y == negative if negative is not None else True)
    rows = np.flatnonzero(taken & (weights > 0.0) if weights is not None else taken)
    prices = np.ones(len(y)) if weights is None else weights.copy()
    for label, weight in class_weight:
        prices[y == label] *= weight
    signs = np.where(y[rows] == positive, 1.0, -1.0)
    two = TwoClasses(X[rows], signs, None, rows, positive, negative, None)
    chosen = KernelChoice(kernel, gamma, coef0, degree).on(two.X)
    points = chosen.points(two.X, rows)
    return two, KernelMargin(two.X, signs, C * prices[rows], Loss.HINGE, True, chosen, points)


def solved(problem, tol=1e-10, max_iter=-1):
    """Dual variables by another library."""
    values = problem.kernel.values(problem.points, problem.points)
    C = 1e12 if problem.is_hard else 1.0
    weights = None if problem.is_hard else problem.costs
    svc = SVC(C=C, kernel="precomputed", tol=tol, max_iter=max_iter).fit(values, problem.signs, sample_weight=weights)
    a = np.zeros(problem.n_rows)
    a[svc.support_] = np.abs(svc.dual_coef_[0])
    return np.clip(a, 0.0, problem.costs)


def fitted(X, y, tol=1e-6, spoil=1.0, **settings):
    """`spoil` moves the weights away from the optimum."""
    two, problem = problem_of(X, y, **settings)
    a = solved(problem)
    a = np.minimum(a * np.where(np.arange(len(a)) % 3, 1.0, spoil), problem.costs)
    C = settings.get("C", 1.0)
    certificate = kernel_certificate(two, problem, a, measure(problem, a), C, settings.get("class_weight", ()), tol)
    function = settings["kernel"] if callable(settings.get("kernel")) else None
    return Case(certificate, X, y, settings.get("weights"), function)


def rbf():
    return fitted(*mixed(seed=1), gamma=0.5, C=2.0)


def rbf_sparse():
    X, y = mixed(seed=2)
    return fitted(sparse.csr_array(np.where(np.abs(X) > 0.3, X, 0.0)), y, C=3.0)


def linear():
    return fitted(*mixed(seed=3), kernel="linear", C=0.5)


def poly():
    return fitted(*mixed(seed=4), kernel="poly", C=2.0)


def poly_float32():
    X, y = mixed(seed=5)
    return fitted(X.astype(np.float32), y, kernel="poly", degree=3, gamma=0.3)


def square_of_products(A, B):
    return (1.0 + A @ B.T) ** 2


def function():
    return fitted(*mixed(seed=6), kernel=square_of_products)


def precomputed():
    X, y = mixed(seed=7)
    return fitted(square_of_products(X, X), y, kernel="precomputed")


def class_weights():
    return fitted(*mixed(seed=8), kernel="poly", class_weight=((-1, 3.0), (1, 0.7)))


def sample_weights():
    X, y = mixed(seed=9)
    return fitted(X, y, kernel="poly", weights=np.random.default_rng(9).integers(0, 4, len(y)).astype(float))


def precomputed_with_sample_weights():
    X, y = mixed(seed=10)
    weights = np.random.default_rng(9).integers(0, 3, len(y)).astype(float)
    return fitted(square_of_products(X, X), y, kernel="precomputed", weights=weights)


def loose():
    """Weights that are far from the optimum: violations that can be told from rounding."""
    return fitted(*mixed(seed=11), kernel="poly", spoil=0.5)


def apart(seed):
    X, _ = mixed(30, seed=seed)
    return X, np.where(X[:, 0] * X[:, 1] > 0.0, 1, -1)


def hard_rbf():
    return fitted(*apart(12), C=math.inf, tol=1e-3)


def hard_poly():
    return fitted(*apart(13), C=math.inf, kernel="poly", tol=1e-3)


def hard_loose():
    return fitted(*apart(14), C=math.inf, kernel="poly", spoil=0.998, tol=1e-6)


def without_plane(X, y, **settings):
    two, problem = problem_of(X, y, C=math.inf, **settings)
    weights = exact_kernel.witness(problem)
    assert weights is not None
    return Case(no_plane_certificate(two, problem, weights, math.inf, (), 1e-3), X, y)


def equal_rows():
    X, y = mixed(seed=15)
    X[7] = X[3]
    return without_plane(X, np.where(np.arange(len(y)) == 7, -y[3], y), kernel="rbf")


def no_line():
    return without_plane(*mixed(seed=16), kernel="linear")


def no_conic():
    return without_plane(*mixed(60, seed=17), kernel="poly")


def no_table():
    X = np.array([[i, j] for i in range(-3, 4) for j in range(-3, 4)], dtype=float)
    y = np.where(np.random.default_rng(17).random(len(X)) < 0.5, 1, -1)
    return without_plane(square_of_products(X, X), y, kernel="precomputed")


SOFT = [rbf, rbf_sparse, linear, poly, poly_float32, function, precomputed]
WEIGHTED = [class_weights, sample_weights, precomputed_with_sample_weights]
HARD = [hard_rbf, hard_poly]
OPTIMAL = [*SOFT, *WEIGHTED, *HARD]
LOOSE = [loose, hard_loose]
WITNESS = [equal_rows, no_line, no_conic, no_table]
PLANES = [*OPTIMAL, *LOOSE]
ALL = [*PLANES, *WITNESS]
TABLES = [precomputed, precomputed_with_sample_weights, no_table]


@functools.cache
def honest(make):
    return make()


@pytest.mark.parametrize("make", ALL)
def test_the_honest_ones_are_verified(make):
    case = honest(make)
    verdict = {True: KernelVerdict.OPTIMAL, False: KernelVerdict.BOUNDED}[make in OPTIMAL]
    assert case.certificate.verdict is (KernelVerdict.NOT_SEPARABLE if make in WITNESS else verdict)
    for exact in case.ways:
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
    copy = np.array(array, dtype=np.result_type(array, type(value)))
    copy[place] = value
    return copy


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.array(X, dtype=float)


OBJECTIVE, BOUND = "the plane's objective is", "the weights prove a lower bound of .*, not"
NO_WITNESS = "the witness does not hold|their weights leave|differ by"


# bounds


@falsehood(PLANES, OBJECTIVE)
def primal_lowered_by_a_millionth(case):
    return lie(case, primal=case.certificate.primal * (1.0 - 1e-6))


@falsehood(PLANES, BOUND)
def dual_raised_by_a_millionth(case):
    return lie(case, dual=case.certificate.dual * (1.0 + 1e-6))


@falsehood(PLANES, OBJECTIVE)
def gap_closed_from_above(case):
    return lie(case, primal=case.certificate.dual)


@falsehood(PLANES, BOUND)
def gap_closed_from_below(case):
    return lie(case, dual=case.certificate.primal)


@falsehood(PLANES, OBJECTIVE)
def primal_is_zero(case):
    return lie(case, primal=0.0, dual=0.0)


@falsehood(PLANES, OBJECTIVE)
def primal_is_minus_infinity(case):
    return lie(case, primal=-math.inf)


@falsehood(PLANES, BOUND)
def dual_is_infinite(case):
    return lie(case, dual=math.inf, primal=math.inf)


@falsehood(ALL, "a bound is NaN")
def primal_is_nan(case):
    return lie(case, primal=math.nan)


@falsehood(ALL, "a bound is NaN")
def dual_is_nan(case):
    return lie(case, dual=math.nan)


@falsehood(WITNESS, "both bounds are infinite")
def finite_bound_where_no_plane_is(case):
    return lie(case, primal=1.0)


@falsehood(WITNESS, "both bounds are infinite")
def finite_dual_where_no_plane_is(case):
    return lie(case, dual=0.0)


@falsehood(OPTIMAL, "the relative gap is .* above the tol of .*: not optimal")
def primal_unknown_but_optimal(case):
    return lie(case, primal=math.inf)


@falsehood(LOOSE, "the relative gap is .* above the tol")
def verdict_upgraded(case):
    return lie(case, verdict=KernelVerdict.OPTIMAL)


@falsehood(WITNESS, f"{BOUND}|the relative gap")
def optimal_where_no_plane_is(case):
    return lie(case, verdict=KernelVerdict.OPTIMAL, dual=1.0)


@falsehood([*HARD, hard_loose], "both bounds are infinite|the witness does not hold")
def separable_denied(case):
    return lie(case, verdict=KernelVerdict.NOT_SEPARABLE)


@falsehood([*HARD, hard_loose], "the witness does not hold")
def separable_denied_in_every_field(case):
    return lie(case, verdict=KernelVerdict.NOT_SEPARABLE, primal=math.inf, dual=math.inf, kkt=None)


@falsehood([*SOFT, *WEIGHTED, loose], "rows may be on the wrong side: only the hard margin, C = inf, can be impossible")
def soft_margin_denied(case):
    return lie(case, verdict=KernelVerdict.NOT_SEPARABLE, primal=math.inf, dual=math.inf, kkt=None)


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


# the kernel


@falsehood([rbf, rbf_sparse, poly, poly_float32, hard_rbf, hard_poly, loose], f"{OBJECTIVE}|{BOUND}")
def gamma_raised(case):
    return lie(case, gamma=1.1 * case.certificate.gamma)


@falsehood([rbf, poly, hard_rbf, hard_poly], f"{OBJECTIVE}|{BOUND}")
def gamma_is_zero(case):
    return lie(case, gamma=0.0)


@falsehood([rbf, poly, equal_rows], "gamma must be at least 0 and finite, not -1")
def gamma_negative(case):
    return lie(case, gamma=-1.0)


@falsehood(ALL, "gamma must be at least 0 and finite, not nan|has no gamma")
def gamma_is_nan(case):
    return lie(case, gamma=math.nan)


@falsehood([linear, precomputed, function, no_line], "kernel has no gamma, and here it is 2.0")
def gamma_invented(case):
    return lie(case, gamma=2.0)


@falsehood([poly, poly_float32, hard_poly, loose], f"{OBJECTIVE}|{BOUND}")
def coef0_raised(case):
    return lie(case, coef0=1.2)


@falsehood([poly, hard_poly, no_conic], "coef0 must be at least 0 .*, not -0.1: otherwise .* not positive semidefinite")
def coef0_negative(case):
    return lie(case, coef0=-0.1)


@falsehood([rbf, linear, precomputed, function, equal_rows], "kernel has no coef0")
def coef0_invented(case):
    return lie(case, coef0=1.0)


@falsehood([poly, hard_poly, loose, poly_float32], f"{OBJECTIVE}|{BOUND}")
def degree_raised(case):
    return lie(case, degree=case.certificate.degree + 1)


@falsehood([poly, hard_poly], "degree must be a whole number of at least 0, not 2.5")
def degree_broken(case):
    return lie(case, degree=2.5)


@falsehood([poly, no_conic], "degree must be a whole number of at least 0, not -1")
def degree_negative(case):
    return lie(case, degree=-1)


@falsehood([rbf, linear, precomputed], "kernel has no degree")
def degree_invented(case):
    return lie(case, degree=3)


@falsehood([poly, hard_poly, loose], f"{OBJECTIVE}|{BOUND}")
def kernel_exchanged(case):
    return lie(case, kernel="linear", gamma=1.0, coef0=0.0, degree=1)


@falsehood([no_line], NO_WITNESS)
def witness_for_a_richer_kernel(case):
    return lie(case, kernel="poly", gamma=1.0, coef0=1.0, degree=12)


@falsehood([no_line, no_conic, no_table], NO_WITNESS)
def witness_for_rbf(case):
    return lie(case, kernel="rbf", gamma=1.0, coef0=0.0, degree=1)


@falsehood(ALL, "the kernel 'magic' is not known")
def kernel_unknown(case):
    return lie(case, kernel="magic")


@falsehood([function], "the kernel is a function, .* give it again")
def function_forgotten(case):
    return case._replace(kernel=None)


@falsehood([function], f"{OBJECTIVE}|{BOUND}")
def another_function(case):
    return case._replace(kernel=lambda A, B: (1.1 + A @ B.T) ** 2)


@falsehood([function], "must return a table of shape")
def function_of_another_shape(case):
    return case._replace(kernel=lambda A, B: np.ones(3))


@falsehood([function], "not positive semidefinite")
def function_that_is_no_kernel(case):
    return case._replace(kernel=lambda A, B: -((1.0 + A @ B.T) ** 2))


@falsehood([rbf, linear, precomputed], "not about the one that was given")
def function_invented(case):
    return case._replace(kernel=square_of_products)


@falsehood([linear, poly], f"{OBJECTIVE}|{BOUND}|needs a value for every pair")
def table_invented(case):
    return lie(case, kernel="precomputed", gamma=1.0, coef0=0.0, degree=1)


@falsehood([precomputed, no_table], f"{OBJECTIVE}|{BOUND}|{NO_WITNESS}")
def table_not_taken_as_one(case):
    return lie(case, kernel="poly", coef0=1.0, degree=2)


# the plane and the weights


@falsehood(PLANES, OBJECTIVE)
def plane_shifted(case):
    return lie(case, b=case.certificate.b + 0.1 * (1.0 + abs(case.certificate.b)))


@falsehood(ALL, "the bias inf is not finite")
def bias_is_infinite(case):
    return lie(case, b=math.inf)


@falsehood(ALL, "the bias nan is not finite")
def bias_is_nan(case):
    return lie(case, b=math.nan)


@falsehood([*SOFT, *WEIGHTED, loose], "the weight .* of row [0-9]+ is not between 0 and its cost")
def weight_above_its_cost(case):
    c = case.certificate
    return lie(case, weights=changed(c.weights, int(np.argmax(c.weights)), 1.001 * 3.0 * c.C * 4.0))


@falsehood([*HARD, hard_loose], f"{OBJECTIVE}|{BOUND}")
def weight_far_too_large(case):
    return lie(case, weights=changed(case.certificate.weights, 0, 1e6))


@falsehood(ALL, "the weight .* of row [0-9]+ is not between 0 and")
def weight_negative(case):
    return lie(case, weights=changed(case.certificate.weights, 1, -1e-300))


@falsehood(ALL, "the weight nan of row [0-9]+ is not between 0 and")
def weight_nan(case):
    return lie(case, weights=changed(case.certificate.weights, 0, math.nan))


@falsehood(ALL, "the weight inf of row [0-9]+ is not between 0 and")
def weight_infinite(case):
    return lie(case, weights=changed(case.certificate.weights, 0, math.inf))


@falsehood(ALL, f"{OBJECTIVE}|{BOUND}|{NO_WITNESS}|the condition of")
def weight_forgotten(case):
    weights = case.certificate.weights
    return lie(case, weights=changed(weights, int(np.argmax(weights)), 0.0))


@falsehood(ALL, f"{OBJECTIVE}|{BOUND}|{NO_WITNESS}")
def all_weights_forgotten(case):
    return lie(case, rows=np.zeros(0, np.intp), weights=np.zeros(0))


@falsehood([*SOFT, *WEIGHTED], f"{OBJECTIVE}|{BOUND}")
def weights_halved(case):
    return lie(case, weights=0.5 * case.certificate.weights)


@falsehood([*PLANES, no_line, no_conic], f"{OBJECTIVE}|{BOUND}|is not between|{NO_WITNESS}|the condition of")
def weights_of_other_rows(case):
    order = np.argsort(case.certificate.weights)
    weights = np.empty(len(order))
    weights[order] = case.certificate.weights[order[::-1]]
    return lie(case, weights=weights)


@falsehood(WITNESS, NO_WITNESS)
def witness_off_by_a_millionth(case):
    return lie(case, weights=changed(case.certificate.weights, 0, (1.0 + 1e-6) * case.certificate.weights[0]))


@falsehood([equal_rows], NO_WITNESS)
def witness_of_two_other_rows(case):
    return lie(case, rows=np.array([int(np.argmax(case.y == 1)), int(np.argmax(case.y == -1))]))


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


# the problem


@falsehood([*SOFT, *WEIGHTED, loose], f"{OBJECTIVE}|{BOUND}")
def c_doubled(case):
    return lie(case, C=2.0 * case.certificate.C)


@falsehood([*SOFT, *WEIGHTED], "is not between 0 and its cost")
def c_halved(case):
    return lie(case, C=0.5 * case.certificate.C)


@falsehood(ALL, "C must be positive, not nan")
def c_is_nan(case):
    return lie(case, C=math.nan)


@falsehood([*SOFT, loose], OBJECTIVE)
def c_is_infinite(case):
    return lie(case, C=math.inf)


@falsehood(HARD, f"{OBJECTIVE}|{BOUND}|is not between")
def c_is_finite(case):
    return lie(case, C=0.1)


@falsehood(WITNESS, "only the hard margin, C = inf, can be impossible")
def c_is_finite_where_no_plane_is(case):
    return lie(case, C=10.0)


@falsehood(ALL, "C must be positive, not 0")
def c_is_zero(case):
    return lie(case, C=0.0)


@falsehood([class_weights], f"{OBJECTIVE}|{BOUND}|is not between")
def class_weight_forgotten(case):
    return lie(case, class_weight=())


@falsehood([class_weights], f"{OBJECTIVE}|{BOUND}|is not between")
def class_weight_exchanged(case):
    (one, first), (other, second) = case.certificate.class_weight
    return lie(case, class_weight=((one, second), (other, first)))


@falsehood([poly, rbf, loose], f"{OBJECTIVE}|{BOUND}|is not between")
def class_weight_invented(case):
    return lie(case, class_weight=((1, 2.0),))


@falsehood([class_weights], "must be positive and finite; row [0-9]+ has 0")
def class_weight_zero(case):
    return lie(case, class_weight=((1, 0.0),))


@falsehood(PLANES, OBJECTIVE)
def sides_exchanged(case):
    """The plane turns round with its weights, but the bias stays."""
    c = case.certificate
    return lie(case, positive=c.negative, negative=c.positive)


@falsehood(ALL, "the certificate is about [0-9]+ rows")
def label_unknown(case):
    return lie(case, positive="elsewhere")


@falsehood(ALL, "the certificate is about")
def n_rows_wrong(case):
    return lie(case, n_rows=case.certificate.n_rows + 1)


@falsehood(ALL, "the certificate is about")
def n_columns_wrong(case):
    return lie(case, n_columns=99)


# the data


@falsehood(TABLES, f"{OBJECTIVE}|{BOUND}|{NO_WITNESS}|not positive semidefinite")
def one_value_of_the_table_changed(case):
    X = dense(case.X)
    first = case.certificate.rows[0]
    X[first, first] += 1.0
    return case._replace(X=X)


@falsehood([make for make in ALL if make not in TABLES], f"{OBJECTIVE}|{BOUND}|{NO_WITNESS}")
def one_row_moved(case):
    X = dense(case.X)
    row = int(case.certificate.rows[np.argmax(case.certificate.weights)])
    X[row] += 3.0
    return case._replace(X=X)


@falsehood([*PLANES, equal_rows, no_line, no_conic], f"{OBJECTIVE}|{BOUND}|{NO_WITNESS}|not positive semidefinite")
def rows_in_another_order(case):
    return case._replace(X=case.X[::-1])


@falsehood([*(make for make in PLANES if make is not linear)], f"{OBJECTIVE}|{BOUND}")
def data_in_other_units(case):
    return case._replace(X=dense(case.X) * 0.5)


@falsehood(PLANES, f"{OBJECTIVE}|{BOUND}|is not between")
def labels_flipped(case):
    y = np.array(case.y)
    y[: len(y) // 2] *= -1
    return case._replace(y=y)


@falsehood([make for make in ALL if make not in TABLES], "row 3, column 1|contains NaN")
def nan_in_the_table(case):
    X = dense(case.X)
    X[3, 1] = math.nan
    return case._replace(X=X)


@falsehood(ALL, "rows but y has the shape")
def label_missing(case):
    return case._replace(y=case.y[:-1])


@falsehood(ALL, "the certificate is about")
def row_missing(case):
    weights = None if case.sample_weight is None else case.sample_weight[1:]
    return case._replace(X=case.X[1:], y=case.y[1:], sample_weight=weights)


@falsehood([poly, linear], "which float64 cannot hold exactly")
def numbers_that_float64_cannot_hold(case):
    return case._replace(X=np.full(case.X.shape, 2**60 + 1))


@falsehood([sample_weights, precomputed_with_sample_weights], "the certificate is about")
def sample_weight_forgotten(case):
    return case._replace(sample_weight=None)


@falsehood([rbf, poly, loose], f"{OBJECTIVE}|{BOUND}|is not between")
def sample_weight_invented(case):
    return case._replace(sample_weight=np.where(np.arange(len(case.y)) % 2, 0.5, 2.0))


@falsehood([rbf, poly], "sample_weight has the shape|could not be broadcast|operands")
def sample_weight_too_short(case):
    return case._replace(sample_weight=np.ones(5))


# the conditions


def understated(name):
    @falsehood(LOOSE, f"the condition of {name} is violated by")
    def tell(case):
        violation = getattr(case.certificate.kkt, name)
        smaller = Violation(0.9 * violation.value, violation.row)
        return lie(case, kkt=dataclasses.replace(case.certificate.kkt, **{name: smaller}))

    FALSEHOODS[-1] = FALSEHOODS[-1]._replace(name=f"{name}_understated")
    return tell


for condition in ("slackness", "dual", "bias"):
    understated(condition)


@falsehood([hard_loose], "the condition of stationarity is violated by")
def stationarity_understated(case):
    kkt = case.certificate.kkt
    return lie(case, kkt=dataclasses.replace(kkt, stationarity=Violation(0.9 * kkt.stationarity.value)))


@falsehood(PLANES, "the condition of slackness is violated by")
def condition_is_nan(case):
    return lie(case, kkt=dataclasses.replace(case.certificate.kkt, slackness=Violation(math.nan, 0)))


@falsehood(PLANES, "the condition of primal is violated by 0, not by -1")
def condition_below_zero(case):
    return lie(case, kkt=dataclasses.replace(case.certificate.kkt, primal=Violation(-1.0)))


@falsehood(LOOSE, "row [0-9]+ is not the one that adds most to the gap")
def slackness_blamed_on_another_row(case):
    slackness = case.certificate.kkt.slackness
    other = 0 if slackness.row else 1
    return lie(case, kkt=dataclasses.replace(case.certificate.kkt, slackness=Violation(slackness.value, other)))


@falsehood(PLANES, "row 1000 is not the one that adds most to the gap")
def slackness_blamed_on_nobody(case):
    slackness = case.certificate.kkt.slackness
    return lie(case, kkt=dataclasses.replace(case.certificate.kkt, slackness=Violation(slackness.value, 1000)))


@falsehood(WITNESS, "there are no conditions of optimality")
def conditions_invented(case):
    return lie(case, kkt=KKT(*[Violation(9.0, 0)] * 5))


PAIRS = [(told, make) for told in FALSEHOODS for make in told.about]


@pytest.mark.parametrize(("told", "make"), PAIRS, ids=[f"{told.name}-{make.__name__}" for told, make in PAIRS])
def test_falsehood_is_refused(told, make):
    case = told.tell(honest(make))
    for exact in case.ways:
        answer = case.verify(exact)
        assert not answer
        assert str(answer).startswith("Refused (in ")
        assert re.search(told.reason, "; ".join(answer.reasons)), answer.reasons


def test_every_falsehood_is_told_under_its_own_name():
    assert len({told.name for told in FALSEHOODS}) == len(FALSEHOODS)
    assert all(told.about for told in FALSEHOODS)


def test_every_field_is_lied_about():
    """A mutation of each field is among the falsehoods."""
    lied_about = set()
    for told in FALSEHOODS:
        for make in told.about:
            one, other = honest(make).certificate, told.tell(honest(make)).certificate
            names = [field.name for field in dataclasses.fields(one)]
            lied_about |= {name for name in names if getattr(one, name) is not getattr(other, name)}
    assert lied_about == {field.name for field in dataclasses.fields(KernelCertificate)}


# ----------------------------------------------------------------------------------- what is weaker is still true


@pytest.mark.parametrize("make", PLANES)
def test_weaker_claims_are_true(make):
    case = honest(make)
    c = case.certificate
    order = np.random.default_rng(0).permutation(len(c.rows))
    worse = {
        field.name: dataclasses.replace(getattr(c.kkt, field.name), value=2.0 * getattr(c.kkt, field.name).value)
        for field in dataclasses.fields(KKT)
    }
    weaker = [
        {"verdict": KernelVerdict.BOUNDED},
        {"primal": 2.0 * c.primal, "verdict": KernelVerdict.BOUNDED},
        {"dual": 0.5 * c.dual, "verdict": KernelVerdict.BOUNDED},
        {"dual": -1.0, "primal": math.inf, "verdict": KernelVerdict.BOUNDED},
        {"kkt": None},
        {"kkt": KKT(**worse)},
        {"rows": c.rows[order], "weights": c.weights[order]},
        {"primal": math.nextafter(c.primal, math.inf), "tol": 0.9},
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
        scaled = lie(case, weights=factor * c.weights, b=factor * c.b, primal=1.001 * c.primal, kkt=None, tol=0.9)
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


# ------------------------------------------------------------------------------------------------------ witnesses


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


# ---------------------------------------------------------------------------------------------- text, JSON, classes


@pytest.mark.parametrize("make", ALL)
def test_json_and_back(make):
    case = honest(make)
    c = case.certificate
    text = c.to_json()
    assert "\n" not in text
    json.loads(text)
    for copy in (KernelCertificate.from_json(text), KernelCertificate.from_dict(c.to_dict())):
        assert copy.to_json() == text
        assert copy.report() == c.report()
        assert repr(copy) == repr(c)
        assert copy.verdict is c.verdict
        assert case._replace(certificate=copy).verify(case.ways[-1])


@pytest.mark.parametrize("make", ALL)
def test_the_report_says_what_is_proven(make):
    c = honest(make).certificate
    report = c.report()
    assert report.startswith(c.verdict.value)
    assert ("hard margin" in report) == c.is_hard
    assert ("witness" in report) == (make in WITNESS)
    trusted = c.kernel in ("function", "precomputed") and make not in WITNESS
    assert ("on the condition that the kernel is positive" in report) == trusted
    assert repr(c).startswith(f"KernelCertificate({c.verdict.name}, {c.kernel}")
    with pytest.raises(TypeError, match=r"neither true nor false: ask \.is_optimal"):
        bool(c)


def test_what_follows_from_the_bounds():
    hard, soft, none = honest(hard_poly).certificate, honest(poly).certificate, honest(no_line).certificate
    assert hard.is_separable is True
    assert 0.0 < hard.margin_lower <= hard.margin_upper < math.inf
    assert hard.margin_lower == pytest.approx(1.0 / math.sqrt(2.0 * hard.primal))
    assert soft.is_separable is None
    assert math.isnan(soft.margin_lower)
    assert soft.gap == soft.primal - soft.dual
    assert (none.is_separable, none.margin_lower, none.margin_upper) == (False, 0.0, 0.0)
    assert math.isnan(none.relative_gap)
    assert not none.is_optimal


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"verdict": "SURE"}, "unknown verdict 'SURE'"),
        ({"gamma": "much"}, "not a certificate"),
        ({"rows": [0.5]}, "not a certificate"),
    ],
)
def test_what_is_no_certificate_is_not_read(changes, words):
    with pytest.raises(ValueError, match=words):
        KernelCertificate.from_dict(honest(rbf).certificate.to_dict() | changes)


def test_many_classes():
    random = np.random.default_rng(21)
    X, y = random.normal(size=(45, 2)) + np.repeat([[0, 0], [2, 0], [0, 2]], 15, axis=0), np.repeat([0, 1, 2], 15)
    parts = [fitted(X, y, pair=pair, kernel="poly").certificate for pair in [(0, 1), (0, 2), (1, 2)]]
    certificate = MulticlassCertificate(tuple(parts))
    for copy in (certificate, MulticlassCertificate.from_json(certificate.to_json())):
        assert [type(part) for part in copy] == [KernelCertificate] * 3
        assert copy.is_optimal
        assert copy.is_separable is None
        assert copy.verify(X, y, exact=True)
        assert not copy.verify(X[::-1], y)
    parts = [fitted(X, y, pair=(k, None), kernel=square_of_products).certificate for k in range(3)]
    rest = MulticlassCertificate(tuple(parts))
    assert rest.verify(X, y, kernel=square_of_products)
    assert "give it again" in str(rest.verify(X, y))
    table = square_of_products(X, X)
    pairs = [fitted(table, y, pair=pair, kernel="precomputed").certificate for pair in [(0, 1), (0, 2), (1, 2)]]
    assert MulticlassCertificate(tuple(pairs)).verify(table, y, exact=True)


# -------------------------------------------------------------------------------------------- to the last digit


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
    bounded = lie(case, verdict=KernelVerdict.BOUNDED, primal=high, dual=low)
    for exact in (False, True):
        assert bounded.verify(exact)
        assert not lie(bounded, primal=math.nextafter(high, 0.0)).verify(exact)
        assert not lie(bounded, dual=math.nextafter(low, math.inf)).verify(exact)


@pytest.mark.parametrize("make", [rbf, rbf_sparse, function, hard_rbf])
def test_what_float64_cannot_tell_is_refused(make):
    case = honest(make)
    c = case.certificate
    for _ in range(3):
        assert not lie(case, primal=c.dual, dual=c.dual).verify(False)
    assert not lie(case, primal=c.primal * (1.0 - 1e-9) if c.relative_gap < 1e-9 else c.dual).verify(False)
