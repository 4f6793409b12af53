"""The last digits of dual variables on small tables."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from maxmargin import KernelSVM

X, Y = make_classification(80, 4, random_state=3, flip_y=0.1)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber_hinge"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_small_tables_are_solved_to_the_last_digits(C, loss, fit_intercept):
    svm = KernelSVM(C=C, loss=loss, fit_intercept=fit_intercept).fit(X, Y)
    assert svm.certificate_.relative_gap < 1e-6
    assert svm.certificate_.verify(X, Y)


def test_dual_variables_are_those_of_libsvm():
    """As far as its kernel values in float32 let them be."""
    ours, theirs = KernelSVM().fit(X, Y), SVC(tol=1e-10).fit(X, Y)
    dense = np.zeros((2, len(Y)))
    dense[0, ours.support_], dense[1, theirs.support_] = ours.dual_coef_[0], theirs.dual_coef_[0]
    np.testing.assert_allclose(dense[0], dense[1], atol=1e-4)


def test_row_of_weight_k_is_k_equal_rows():
    weights = np.arange(len(Y)) % 3
    rows = np.repeat(np.arange(len(Y)), weights)
    weighted = KernelSVM(gamma=0.2).fit(X, Y, sample_weight=weights)
    repeated = KernelSVM(gamma=0.2).fit(X[rows], Y[rows])
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_numbers_that_float64_holds_are_found_to_the_last_bit(kernel):
    rows = np.array([[-2, -1], [-1, -1], [-1, -2], [1, 1], [1, 2], [2, 1]])
    svm = KernelSVM(kernel=kernel).fit(rows @ rows.T if kernel == "precomputed" else rows, [1, 1, 1, 2, 2, 2])
    assert svm.dual_coef_.tolist() == [[-0.25, 0.25]]
