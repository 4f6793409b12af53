"""What `fit` refuses, `verify` refuses too, and in the same words: a proof about rounded numbers proves nothing."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas
import pytest
import scipy.sparse as sparse

from maxmargin import (
    HardMarginSVM,
    KernelPerceptron,
    KernelSVM,
    LinearSVM,
    Perceptron,
    separability,
)

BIG = 2**60
SMALL = np.array([[0, 0], [1, 2], [4, 1], [5, 3]])
Y = np.array([0, 0, 1, 1])
THREE = np.array([0, 1, 2, 2])

ESTIMATORS = {
    "hard margin": HardMarginSVM(),
    "perceptron": Perceptron(),
    "soft margin": LinearSVM(),
    "kernel margin": KernelSVM(),
    "kernel separation": KernelPerceptron("linear"),
}
each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS.keys())


def cells(number):
    """A table with this number in row 1, column 0."""
    rows = SMALL.astype(object)
    rows[1, 0] = number
    return rows


def mixed_frame():
    return pandas.DataFrame({"a": [0, BIG + 1, 4, 5], "b": [0.5, 2.0, 1.0, 3.0]})


TABLES = {
    "int64": SMALL + BIG + 1,
    "uint64": (SMALL + BIG + 1).astype(np.uint64),
    "a list": (SMALL + BIG + 1).tolist(),
    "a list of integers and floats": [[0.5, 0], [1.0, BIG + 1], [4.0, 1], [5.0, 3]],
    "a data frame": pandas.DataFrame(SMALL + BIG + 1),
    "a data frame of integers and floats": mixed_frame(),
    "sparse": sparse.csr_array(SMALL + BIG + 1),
    "big integers": cells(10**30 + 1),
    "beyond float64": cells(10**400),
    "fractions": cells(Fraction(1, 3)),
    "decimals": cells(Decimal("0.1")),
    "long doubles": SMALL.astype(np.longdouble) + np.longdouble(1) / 3,
}


@each_estimator
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_numbers_that_float64_would_round(estimator, table):
    if isinstance(table, np.ndarray) and table.dtype == np.longdouble and np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("long doubles are doubles here")
    with pytest.raises(ValueError, match="which float64 cannot hold exactly") as caught:
        estimator.fit(table, Y)
    certificate = estimator.fit(SMALL, Y).certificate_
    for exact in (False, certificate.__class__.__name__ != "KernelCertificate"):
        answer = certificate.verify(table, Y, exact=exact)
        assert answer.reasons == (str(caught.value),)


def test_a_precomputed_kernel_is_read_like_any_table():
    table = (SMALL @ SMALL.T).astype(object)
    model = KernelSVM(kernel="precomputed").fit(table, Y)
    table[0, 0] = Fraction(1, 3)
    with pytest.raises(ValueError, match="row 0, column 0 holds 1/3, which float64 cannot hold") as caught:
        KernelSVM(kernel="precomputed").fit(table, Y)
    assert model.certificate_.verify(table, Y, exact=True).reasons == (str(caught.value),)


@each_estimator
@pytest.mark.parametrize(
    "table",
    [
        SMALL.astype(object),
        cells(Fraction(1, 4)),
        cells(Decimal("0.25")),
        cells(True),
        cells(np.float32(0.1)),
        SMALL.tolist(),
        pandas.DataFrame(SMALL),
        SMALL.astype(np.int8),
        SMALL * 2**60,
        SMALL.astype(np.longdouble),
    ],
    ids=lambda table: str(np.asarray(table).ravel()[2]),
)
def test_numbers_that_float64_holds_are_welcome_at_both_doors(estimator, table):
    certificate = estimator.fit(table, Y).certificate_
    assert certificate.verify(table, Y)


WRONG = {
    "complex": (SMALL + 1j, Y, None),
    "words": (np.full((4, 2), "word"), Y, None),
    "None": (cells(None), Y, None),
    "NaN": (cells(float("nan")), Y, None),
    "one row": (SMALL[0], Y, None),
    "labels that are NaN": (SMALL, np.array([0.0, np.nan, 1.0, 1.0]), None),
    "labels between whole numbers": (SMALL, np.array([0.0, 0.5, 1.0, 1.0]), None),
    "complex labels": (SMALL, Y + 0j, None),
    "fewer labels": (SMALL, Y[:3], None),
}


@each_estimator
@pytest.mark.parametrize(("table", "y", "weights"), WRONG.values(), ids=WRONG.keys())
def test_what_is_no_table_and_what_are_no_labels(estimator, table, y, weights):
    with pytest.raises((TypeError, ValueError)):
        estimator.fit(table, y)
    answer = estimator.fit(SMALL, Y).certificate_.verify(table, y)
    assert not answer
    assert answer.reasons


@pytest.mark.parametrize("estimator", [HardMarginSVM(), LinearSVM(), KernelSVM()], ids=["hard", "soft", "kernel"])
@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, np.nan, 1.0, 1.0], "row 1 has nan"),
        ([1.0, 1.0, np.inf, 1.0], "row 2 has inf"),
        ([1.0, 1.0, 1.0, -1.0], "row 3 has -1"),
        ([0.0, 0.0, 0.0, 0.0], "zero for every row"),
        ([1.0, 1.0, 1.0], "sample_weight has the shape"),
        ([1.0, 1.0, 1.0, 1j], "complex"),
        ([1.0, 1.0, 1.0, Fraction(1, 3)], "cannot hold exactly"),
        (["1", "x", "1", "1"], "could not convert"),
    ],
)
def test_weights_that_are_none(estimator, weights, words):
    with pytest.raises(ValueError, match=words):
        estimator.fit(SMALL, Y, sample_weight=weights)
    certificate = estimator.fit(SMALL, Y).certificate_
    assert words in str(certificate.verify(SMALL, Y, sample_weight=weights))


def test_many_classes_come_through_the_same_door():
    certificate = LinearSVM(multi_class="ovo").fit(SMALL, THREE).certificate_
    for table in TABLES.values():
        assert "cannot hold exactly" in str(certificate.verify(table, THREE)) or np.asarray(table).dtype.kind == "f"


def test_big_integers_are_not_called_inseparable():
    """Two rows that differ by 1 at 2^60: rounded they are one row of both classes, and so they are for nobody here."""
    X, y = np.array([[BIG], [BIG + 1]]), [0, 1]
    certificate = separability(np.array([[float(BIG)], [float(BIG)]]), y)
    assert certificate.is_separable is False
    for table in (X, X.astype(object), X.tolist()):
        assert not certificate.verify(table, y, exact=True)
