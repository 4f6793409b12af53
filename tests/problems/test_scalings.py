"""The same plane from every way of writing the objective."""

import numpy as np
import pytest

from maxmargin import C_from, LinearSVM, loss_factor_from, norm_factor_from
from maxmargin.data.synthetic import overlapping


def objective(plane, X, y, *, norm_factor, loss_factor, power):
    w, b = plane[:-1], plane[-1]
    slack = np.maximum(0.0, 1.0 - y * (X @ w + b))
    return norm_factor * w @ w + loss_factor * np.sum(slack**power)


SPELLINGS = {  # as a lecture writes them: the factor before |w|^2, before the sum (or mean), the rows of the mean
    "lambda |w|^2 + sum": (0.3, 1.0, 1),
    "|w|^2 + C sum": (1.0, 0.7, 1),
    "lambda / 2 |w|^2 + C sum": (0.3 / 2, 0.7, 1),
    "alpha / 2 |w|^2 + mean": (0.01 / 2, 1.0, 60),
}


@pytest.mark.parametrize(("loss", "power"), [("hinge", 1), ("squared_hinge", 2)])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_our_plane_is_best_for_the_other_objective(spelling, loss, power):
    """No plane nearby is better, and the certificate's bound carries over: the values differ by 2 p."""
    p, q, n = SPELLINGS[spelling]
    X, y = overlapping(60, seed=1)
    svm = LinearSVM(C_from(norm_factor=p, loss_factor=q, mean_over=n), loss=loss, tol=1e-9).fit(X, y)
    plane = np.append(svm.coef_[0], svm.intercept_)
    factors = {"norm_factor": p, "loss_factor": q / n, "power": power}
    best = objective(plane, X, y, **factors)
    assert best == pytest.approx(2.0 * p * svm.certificate_.primal, rel=1e-9)
    random = np.random.default_rng(0)
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            assert objective(plane + size * random.normal(size=3), X, y, **factors) >= best * (1.0 - 1e-9)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_there_and_back(spelling):
    p, q, n = SPELLINGS[spelling]
    C = C_from(norm_factor=p, loss_factor=q, mean_over=n)
    assert norm_factor_from(C, loss_factor=q, mean_over=n) == pytest.approx(p, rel=1e-15)
    assert loss_factor_from(C, norm_factor=p, mean_over=n) == pytest.approx(q, rel=1e-15)


def test_our_own_spelling_is_no_change():
    assert C_from(loss_factor=3.0) == 3.0
    assert loss_factor_from(3.0) == 3.0
    assert norm_factor_from(3.0, loss_factor=3.0) == 0.5


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("inf"), float("nan")])
def test_factors_are_positive(wrong):
    with pytest.raises(ValueError, match="norm_factor must be positive"):
        C_from(norm_factor=wrong)
    with pytest.raises(ValueError, match="C must be positive"):
        norm_factor_from(wrong)
    with pytest.raises(ValueError, match="mean_over must be positive"):
        loss_factor_from(1.0, mean_over=wrong)
