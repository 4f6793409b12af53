"""What may come in, and what is refused with a sentence that helps."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sparse

from maxmargin import HardMarginSVM, MarginPerceptron, Perceptron, Winnow, separability

X = np.array([[0, 0, 1], [1, 0, 0], [4, 5, 1], [5, 4, 0], [1, 1, 0], [6, 6, 1]])
y = np.array([0, 0, 1, 1, 0, 1])
ESTIMATORS = [HardMarginSVM(), HardMarginSVM("l1"), Perceptron(), MarginPerceptron(), Winnow()]

FORMS = {
    "int64": X,
    "int8": X.astype(np.int8),
    "uint8": X.astype(np.uint8),
    "float16": X.astype(np.float16),
    "float32": X.astype(np.float32),
    "longdouble": X.astype(np.longdouble),
    "bigendian": X.astype(">f8"),
    "fortran": np.asfortranarray(X.astype(float)),
    "strided": np.repeat(X.astype(float), 2, axis=1)[:, ::2],
    "negative_strides": X[::-1][::-1].astype(float)[::-1][::-1],
    "list": X.tolist(),
    "object": X.astype(object),
    "csr_matrix": sparse.csr_matrix(X.astype(float)),
    "csr_array": sparse.csr_array(X.astype(float)),
    "csc_array": sparse.csc_array(X.astype(float)),
    "coo_array": sparse.coo_array(X.astype(float)),
    "csr_float32": sparse.csr_array(X.astype(np.float32)),
    "csr_int": sparse.csr_array(X),
    "pandas": pd.DataFrame(X, columns=["a", "b", "c"]),
    "polars": pl.DataFrame(X, schema=["a", "b", "c"]),
}


def int64_indices():
    csr = sparse.csr_array(X.astype(float))
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    return csr


def with_duplicates():
    """A CSR matrix that stores an entry in two parts."""
    return sparse.csr_array(
        (np.array([0.5, 0.5, 1, 4, 5, 1, 5, 4, 1, 1, 6, 6, 1.0]),
         np.array([2, 2, 0, 0, 1, 2, 0, 1, 0, 1, 0, 1, 2]),
         np.array([0, 2, 3, 6, 8, 10, 13])),
        shape=X.shape,
    )  # fmt: skip


FORMS["csr_int64_indices"] = int64_indices()
FORMS["csr_duplicates"] = with_duplicates()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_plane(estimator, form):
    given = FORMS[form]
    wanted = type(estimator)(**estimator.get_params()).fit(X.astype(float), y)
    found = type(estimator)(**estimator.get_params()).fit(given, y)
    assert np.allclose(found.coef_, wanted.coef_, rtol=1e-12, atol=1e-14)
    assert np.array_equal(found.predict(given), y)
    if form not in ("pandas", "polars", "longdouble"):
        assert found.certificate_.verify(given, y, exact=True)


def test_the_input_is_never_written_to():
    for name in ("csr_duplicates", "csr_int64_indices", "float32"):
        before = FORMS[name].copy()
        HardMarginSVM().fit(FORMS[name], y)
        after = FORMS[name]
        if sparse.issparse(after):
            assert np.array_equal(before.data, after.data)
            assert np.array_equal(before.indices, after.indices)
            assert before.nnz == after.nnz
        else:
            assert np.array_equal(before, after)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_are_used_in_place(dtype):
    """float32 stays float32: the support vectors are views of what came in."""
    assert HardMarginSVM().fit(X.astype(dtype), y).support_vectors_.dtype == dtype


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [-1, 1], [False, True], [0.0, 1.0], [3, 70], ["", "x"]],
    ids=str,
)
def test_any_two_labels(labels):
    named = np.array(labels)[y]
    svm = HardMarginSVM().fit(X, named)
    assert np.array_equal(svm.predict(X), named)
    assert list(svm.classes_) == sorted(labels)
    assert svm.certificate_.positive == sorted(labels)[1]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.parametrize(
    ("rows", "labels", "error", "words"),
    [
        (X, np.zeros(6), ValueError, "one class"),
        (np.where(X == 6, np.nan, X), y, ValueError, "NaN.*row 5, column 0"),
        (np.where(X == 4, np.inf, X), y, ValueError, "infinity.*row 2, column 0"),
        (np.where(X == 4, -np.inf, X), y, ValueError, "-infinity.*row 2, column 0"),
        (np.zeros((0, 3)), np.zeros(0), ValueError, "0 sample"),
        (np.zeros((6, 0)), y, ValueError, "0 feature"),
        (X, y[:5], ValueError, r"inconsistent numbers of samples: \[6, 5\]"),
        (X[:, 0], y, ValueError, "1D array"),
        (X + 1j * (X == 5), y, ValueError, "Complex data not supported: row 2, column 1"),
        (np.where(X == 6, "six", X.astype(object)), y, ValueError, "row 5, column 0 holds 'six'"),
        (np.where(X == 6, None, X.astype(object)), y, TypeError, "row 5, column 0 holds None"),
        (X, np.linspace(0, 1, 6), ValueError, "continuous"),
    ],
)
def test_bad_input_is_refused_by_name(estimator, rows, labels, error, words):
    with pytest.raises(error, match=words):
        estimator.fit(rows, labels)


def test_a_nan_in_a_sparse_matrix_is_found():
    csr = sparse.csr_array(X.astype(float))
    csr.data[3] = np.nan
    row = int(np.searchsorted(csr.indptr, 3, side="right")) - 1
    with pytest.raises(ValueError, match=f"NaN.*row {row}, column {csr.indices[3]}"):
        HardMarginSVM().fit(csr, y)


def test_a_data_frame_with_words_is_refused():
    with pytest.raises(ValueError, match="could not convert"):
        HardMarginSVM().fit(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), [0, 1])


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (HardMarginSVM("l3"), "norm='l3' is not known; it can be 'l1', 'l2'"),
        (HardMarginSVM(tol=0.0), "tol must be a number above 0 and below 1"),
        (HardMarginSVM(tol="small"), "tol must be a number above 0 and below 1"),
        (HardMarginSVM(solver="magic"), "solver='magic' is not known"),
        (HardMarginSVM(on_inseparable="cry"), "on_inseparable='cry' is not known"),
        (HardMarginSVM("l1", solver="hulls"), "finds the l2 margin"),
        (HardMarginSVM(multi_class="all"), "multi_class='all' is not known"),
        (HardMarginSVM(max_time=-1), "max_time must be a positive number"),
        (Perceptron(rate=0), "rate must be a positive number"),
        (Perceptron(order="random"), "order='random' is not known"),
        (Perceptron(max_updates=0), "max_updates must be a positive whole number"),
        (Perceptron(record="yes"), "record must be True, False or a maxmargin.Trace"),
        (MarginPerceptron(guess=-1), "guess must be a positive number"),
        (Winnow(epsilon=0.7), r"epsilon must be a number in \(0, 1/2\]"),
    ],
)
def test_bad_parameters_are_refused_by_name(estimator, words):
    with pytest.raises(ValueError, match=words):
        estimator.fit(X, y)


def test_feature_names_are_checked():
    frame = FORMS["pandas"]
    svm = HardMarginSVM().fit(frame, y)
    assert list(svm.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        svm.predict(frame[["b", "a", "c"]])


def test_separability_takes_what_the_estimators_take():
    for given in FORMS.values():
        assert separability(given, y).is_separable
