"""Bugs that were found by trying to break it, and must not come back."""

import numpy as np
import pytest

from maxmargin import HardMarginSVM, MarginPerceptron, NotSeparableError, Verdict, Winnow, separability
from maxmargin.run.control import Status

STREET = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0], [-1.0, -1.0], [-2.0, 0.0], [-1.0, -3.0]])
SIDES = [1, 1, 1, -1, -1, -1]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("X", [np.ones((2, 2)), np.ones((2, 5))], ids=["square", "wide"])
def test_rows_that_coincide_where_there_are_more_columns_than_rows(X, fit_intercept):
    assert separability(X, [1, -1], fit_intercept=fit_intercept).verdict is Verdict.NOT_SEPARABLE


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e200, 1e300])
def test_streets_whose_squares_are_no_doubles(scale, fit_intercept):
    certificate = HardMarginSVM(fit_intercept=fit_intercept).fit(STREET * scale, SIDES).certificate_
    assert certificate.verify(STREET * scale, SIDES, exact=True)


@pytest.mark.parametrize("learner", [HardMarginSVM(), HardMarginSVM("l1"), Winnow()], ids=str)
def test_denormal_rows(learner):
    certificate = learner.fit(STREET * 1e-320, SIDES).certificate_
    assert certificate.verify(STREET * 1e-320, SIDES, exact=True)


def test_least_squares_of_float32_rows():
    X = np.array([[1e30], [1e30], [-1e30]], dtype=np.float32)
    with pytest.raises(NotSeparableError):
        HardMarginSVM().fit(X, [0, 1, 0])
    fitted = HardMarginSVM(on_inseparable="return").fit(X, [0, 1, 0])
    assert np.isfinite(fitted.coef_).all()


def test_a_margin_perceptron_far_from_the_origin():
    X, y = [[1e9, -1e-3], [1e9, 1.0]], [1, -1]
    learnt, best = MarginPerceptron(max_updates=10_000).fit(X, y), HardMarginSVM().fit(X, y).margin_
    assert learnt.status_ is Status.BUDGET or learnt.margin_ >= 0.05 * best


def test_a_quarter_of_the_best_margin_is_proven():
    X = [[-6, -2, 6, -2], [-1, -1, 1, -1], [0, 4, 0, 4], [2, 6, -2, 6], [1, 1, -1, 1]]
    fitted = MarginPerceptron(fit_intercept=False).fit(X, [-1, -1, 1, 1, 1])
    for theorem in fitted.certificate_.theorems:
        assert theorem.holds, theorem
