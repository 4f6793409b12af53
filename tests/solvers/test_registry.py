"""Which solver "auto" begins with, and when it hands over."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import LinearSVM
from maxmargin.problems.losses import loss_named
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import SoftMargin
from maxmargin.solvers.newton.systems import newton_passes
from maxmargin.solvers.registry import AT_ONCE, plan, while_it_pays


def table(n, d, density=1.0, seed=0):
    """Rows and labels of a noisy plane."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)) * (random.random((n, d)) < density)
    y = np.where(X @ random.standard_normal(d) + random.standard_normal(n) > 0.0, 1.0, -1.0)
    return (X if density == 1.0 else sp.csr_array(X)), y


def squared_hinge(X, y):
    return SoftMargin(X, y, np.ones(len(y)), loss_named("squared_hinge"), True)


@pytest.mark.parametrize("density", [1.0, 0.05])
def test_squared_hinge_of_many_wide_rows_begins_with_sweeps(density):
    """A system of all rows in each step costs hundreds of sweeps."""
    problem = squared_hinge(*table(400, 2100, density))
    assert newton_passes(problem) > AT_ONCE
    (first, patience), (second, _), *_ = plan(problem, 1e-4)
    assert (first, second) == ("coordinate_descent", "newton")
    assert patience == newton_passes(problem)


def test_squared_hinge_of_a_few_rows_or_columns_begins_with_newton():
    for shape in ((40, 2100), (400, 30)):
        assert next(plan(squared_hinge(*table(*shape)), 1e-4))[0] == "newton"


def test_sweeps_get_there_on_text():
    X, y = table(300, 2500, 0.02)
    svm = LinearSVM(loss="squared_hinge").fit(X, y)
    assert svm.solver_ == "coordinate_descent"
    assert svm.certificate_.is_optimal


def gaps(values):
    """A solver that makes a pass for each of these gaps, and never asks."""
    for passes, gap in enumerate(values, start=1):
        yield Iterate(np.zeros(1), 0.0, np.zeros(1), gap=gap, passes=float(passes))


@pytest.mark.parametrize(("values", "made"), [([1.0] * 40, 5), ([0.999] * 3 + [0.5**k for k in range(1, 38)], 40)])
def test_nothing_is_decided_in_the_first_sweeps(values, made):
    """A gap that does not fall is given up after a twentieth of the patience, and not before: it may fall later."""
    assert sum(1 for _ in while_it_pays(gaps(values), "sweeps", 100.0, 1e-12, [(0.0, 1.0, 1.0)])) == made


def test_a_gap_that_rises_for_once_is_no_reason_to_leave():
    """After a step for a whole face it may be large for some sweeps."""
    values = [0.8**k for k in range(1, 11)] + [1.0] + [0.8**k for k in range(11, 30)]
    assert sum(1 for _ in while_it_pays(gaps(values), "sweeps", 60.0, 1e-3, [(0.0, 1.0, 1.0)])) == len(values)


def sweeps_over_fewer(least, late):
    """Ten of 100 rows leave in each sweep until `least` are left; the gap falls by a hundredth, and after `late` sweeps
    by a third."""
    passes, active, gap = 0.0, 100, 1.0
    for k in range(400):
        passes, gap = passes + active / 100.0, gap * (0.7 if k >= late else 0.99)
        active = max(least, active - 10)
        yield Iterate(np.zeros(1), 0.0, np.zeros(100), gap=gap, passes=passes, active=active)


@pytest.mark.parametrize(
    ("least", "late", "all_are_made"),
    [
        (1, 400, True),  # hundreds of sweeps are left, each over a hundredth of the rows
        (60, 400, False),  # over 60 of them, another solver is cheaper
        (40, 8, True),  # it does not look better at first, but rows still leave
    ],
)
def test_sweeps_over_few_rows_are_cheap(least, late, all_are_made):
    made = sum(1 for _ in while_it_pays(sweeps_over_fewer(least, late), "sweeps", 50.0, 1e-4, [(0.0, 1.0, 1.0)]))
    assert (made == 400) == all_are_made
