"""w.x + b of rows of any size: finite where it is, and of the right sign where it is not."""

import math

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin import LinearSVM
from maxmargin.estimators.base import plane_values


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
