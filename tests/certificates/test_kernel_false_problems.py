"""Judge the judge of kernels: the certificate of another kernel, problem or table is refused."""

import math

import numpy as np
from falsehoods import (
    Falsehoods,
    dense,
    honest,
    refuse_in,
)
from kernel_certificates import (
    ALL,
    CLAIMED,
    FIELDS,
    HARD,
    PLANES,
    SOFT,
    TABLES,
    WEIGHTED,
    WITNESS,
    class_weights,
    equal_rows,
    function,
    hard_poly,
    hard_rbf,
    lie,
    linear,
    loose,
    no_conic,
    no_line,
    no_table,
    poly,
    poly_float32,
    precomputed,
    precomputed_with_sample_weights,
    rbf,
    rbf_sparse,
    sample_weights,
    square_of_products,
)

from maxmargin.certificates.theorems import TheoremBound

falsehood = Falsehoods()

OBJECTIVE, BOUND = "the plane's objective is", "the weights prove a lower bound of .*, not"
NO_KERNEL = "not positive semidefinite|is symmetric"
NO_WITNESS = "the witness does not hold|their weights leave|differ by"


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


@falsehood([poly, hard_poly], "degree must be a whole number, not 2.5")
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


@falsehood([precomputed, precomputed_with_sample_weights, no_table], "is symmetric; row .*, column .* holds")
def the_table_is_not_symmetric(case):
    table = np.array(dense(case.X), dtype=float)
    row = int(case.certificate.rows[0])
    other = int(case.certificate.rows[1])
    table[row, other] += 1e-3 * np.abs(table).max()
    return case._replace(X=table)


@falsehood([precomputed_with_sample_weights], "needs a column for row 39, and X has 39 columns")
def the_table_lacks_a_column(case):
    return lie(case, n_columns=39)._replace(X=case.X[:, :39])


@falsehood([precomputed, no_table], f"{OBJECTIVE}|{BOUND}|{NO_WITNESS}")
def table_not_taken_as_one(case):
    return lie(case, kernel="poly", coef0=1.0, degree=2)


# the loss, and the bias


@falsehood([rbf, linear, poly, precomputed, class_weights, sample_weights, loose], f"{OBJECTIVE}|{BOUND}")
def another_loss(case):
    return lie(case, loss="squared_hinge")


@falsehood(SOFT, "the loss 'sharp' is not known")
def unknown_loss(case):
    return lie(case, loss="sharp")


@falsehood([*HARD, *WITNESS], "the hard margin, C = inf, pays no loss")
def loss_of_a_hard_margin(case):
    return lie(case, loss="modified_huber")


@falsehood(ALL, "huber_width is 0.5: the Huber hinge needs one, and no other loss has it")
def width_of_the_hinge(case):
    return lie(case, huber_width=0.5)


@falsehood(SOFT, "huber_width is None: the Huber hinge needs one")
def no_width(case):
    return lie(case, loss="huber_hinge")


@falsehood(SOFT, "huber_width must be a number between")
def narrow_width(case):
    return lie(case, loss="huber_hinge", huber_width=0.0)


@falsehood(PLANES, "the plane should pass through the origin but has b =")
def through_the_origin(case):
    return lie(case, fit_intercept=False)


@falsehood([rbf, poly, hard_rbf], "fit_intercept must be True or False")
def half_a_bias(case):
    return lie(case, fit_intercept=0.5)


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


@falsehood([class_weights], "pairs of a label and a positive weight")
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


@falsehood([*PLANES, equal_rows, no_line, no_conic], f"{OBJECTIVE}|{BOUND}|{NO_WITNESS}|{NO_KERNEL}")
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


@falsehood([rbf, poly, loose], "the theorem's figures are NaN")
def theorem_of_nan(case):
    return lie(case, theorems=(TheoremBound("Pegasos", math.nan, 1.0),))


@falsehood.each_case
def test_falsehood_is_refused(told, make):
    case = told.tell(honest(make))
    for exact in case.ways:
        refuse_in(case, told.reason, exact)


def test_every_falsehood_is_told_under_its_own_name():
    assert falsehood.have_names_of_their_own()


def test_every_field_is_lied_about():
    assert falsehood.fields() >= FIELDS - CLAIMED
