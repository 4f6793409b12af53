"""Rows on the edge are brought there by exact values, whatever the solver's own arithmetic has left."""

import kernel_cases
import numpy as np
import pytest

from maxmargin import KernelSVM
from maxmargin.problems.statement import best_bias
from maxmargin.solvers.kernel_smo import edge_refinement
from maxmargin.solvers.kernel_smo.edge_refinement import refined
from maxmargin.solvers.kernel_smo.low_rank import ScaledKernel


def solved(C=1.0, **kernel):
    X, y = kernel_cases.rings(n=120)
    svm = KernelSVM(C=C, tol=1e-9, **kernel).fit(X, y)
    problem = kernel_cases.problem_of(X, np.where(y > 0, 1.0, -1.0), C=C, **kernel)
    a = np.zeros(len(y))
    a[svm.support_] = np.abs(svm.dual_coef_[0])
    return problem, kernel_cases.gram(problem), a


@pytest.mark.parametrize(
    "name", [name for name, kernel in kernel_cases.KERNELS.items() if not callable(kernel["kernel"])]
)
def test_what_was_disturbed_is_mended(name):
    problem, K, a = solved(**kernel_cases.KERNELS[name])
    on_edge = (a > 1e-4) & (a < 0.9999 * problem.costs)
    random = np.random.default_rng(0)
    disturbed = np.where(on_edge, a * (1.0 + 1e-5 * random.normal(size=len(a))), a)
    disturbed[a == 0.0] = 1e-8  # as an interior point leaves them
    values = K @ (problem.signs * disturbed)
    b = best_bias(problem, values)
    found = refined(problem, ScaledKernel(problem, centred=True), disturbed, values, b)
    assert found is not None
    assert np.all(found[a == 0.0] == 0.0)
    assert float(problem.signs @ found) == pytest.approx(float(problem.signs @ disturbed), abs=1e-9)
    values = K @ (problem.signs * found)
    off = (problem.signs - values)[on_edge]
    assert np.ptp(off) <= 1e-9 * max(1.0, np.abs(values).max())  # all of them ask for the same bias
    assert np.all((found >= 0.0) & (found <= problem.costs))


def test_nothing_to_mend(monkeypatch):
    problem, K, a = solved(kernel="rbf", gamma=1.0)
    kernel, values = ScaledKernel(problem, centred=True), K @ (problem.signs * a)
    assert refined(problem, kernel, np.zeros(len(a)), values, 0.0) is None
    assert refined(problem, kernel, problem.costs.copy(), values, 0.0) is None
    assert refined(problem, kernel, a, np.full(len(a), np.nan), 0.0) is None
    monkeypatch.setattr(edge_refinement, "MOST_VALUES", 3)
    assert refined(problem, kernel, a, values, 0.0) is None
