"""w.x + b of rows of any size: finite where it is, and of the right sign where it is not."""

import math

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin import LinearSVM
from maxmargin.estimators.base import plane_values, rows_to_multiply


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_sums_that_overflow_on_their_way(form):
    big, huge = 2.0**650, 2.0**1000  # exact, up to the largest of them
    X = form(np.array([[big, -big], [big, -3 * big], [-huge, 3 * huge], [1 / huge, huge], [0.0, 0.0]]))
    coef = np.array([[big, big], [1 / huge, 1 / huge], [12.0, 4.0]])
    assert plane_values(X, coef, np.array([1.0, 2.0, 0.0])).tolist() == [
        [1.0, 2.0, 8 * big],
        [-math.inf, 2.0, 0.0],
        [math.inf, 4.0, 0.0],
        [math.inf, 3.0, 4 * huge],
        [1.0, 2.0, 0.0],
    ]


def test_rows_and_planes_have_units_of_their_own():
    X = np.array([[1e308, -1e308, 0.0], [1e10, 0.0, -0.9e10]])
    coef = np.array([[1e300, 1e300, 1e300], [1e300, 1.0, 1e300]])
    assert plane_values(X, coef, 0.0).tolist() == [[0.0, math.inf], [math.inf, math.inf]]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_predictions_for_huge_rows(form):
    svm = LinearSVM().fit(1e-150 * np.array([[0.0, -1.0], [0.0, 1.0]]), [0, 1])
    svm.coef_ = np.array([[1e150, 1e150]])
    huge = form(np.array([[1e300, -3e300], [-1e300, 3e300], [1e300, -1e300]]))
    assert svm.predict(huge).tolist() == [0, 1, 1]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_are_multiplied_as_they_lie(dtype):
    """No copy of an array in another order of memory; the same labels, and scores that differ by rounding alone."""
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 7)).astype(dtype)
    y = np.where(X[:, 0] + X[:, 1] > 0.1, "b", "a")
    svm, by_column = LinearSVM().fit(X, y), np.asfortranarray(X)
    assert rows_to_multiply(svm, by_column) is by_column
    assert np.array_equal(svm.predict(by_column), svm.predict(X))
    assert np.allclose(svm.decision_function(by_column), svm.decision_function(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("wrong", "name"), [(np.nan, "NaN"), (-np.inf, "-infinity")])
def test_what_is_not_finite_is_named_by_its_place_in_any_order(wrong, name):
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0]])
    svm = LinearSVM().fit(X, [0, 1, 1])
    X[2, 1] = wrong
    for rows in (X, np.asfortranarray(X)):
        with pytest.raises(ValueError, match=f"contains {name} .*: row 2, column 1"):
            svm.predict(rows)


def test_a_sum_beyond_float64_is_no_reason_to_refuse_its_numbers():
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0]])
    svm = LinearSVM().fit(X, [0, 1, 1])
    assert svm.predict(np.full((4, 2), 1e308)).tolist() == [1, 1, 1, 1]
