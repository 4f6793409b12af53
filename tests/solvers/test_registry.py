"""Which solver "auto" begins with, and when it hands over."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import LinearSVM
from maxmargin.problems.losses import LOSSES, loss_named
from maxmargin.problems.protocol import Anew, Iterate, Options
from maxmargin.problems.statement import Norm, Separation, SoftMargin, slack, total_loss
from maxmargin.solvers.newton.systems import newton_passes
from maxmargin.solvers.patience import LITTLE, RARE, Patience, patience_for, while_it_pays
from maxmargin.solvers.registry import AT_ONCE, AUTO, SEPARATION, SOFT_MARGIN, SOLVERS, may_begin_anew, plan, started


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
    assert patience.passes == newton_passes(problem)


def test_squared_hinge_of_a_few_rows_or_columns_begins_with_newton():
    for shape in ((40, 2100), (400, 30)):
        assert next(plan(squared_hinge(*table(*shape)), 1e-4))[0] == "newton"


def test_sweeps_get_there_on_text():
    X, y = table(300, 2500, 0.02)
    svm = LinearSVM(loss="squared_hinge").fit(X, y)
    assert svm.solver_ == "coordinate_descent"
    assert svm.certificate_.is_optimal


def gaps(values, dual=math.nan):
    """A solver that makes a pass for each of these gaps, and never asks."""
    for passes, gap in enumerate(values, start=1):
        yield Iterate(np.zeros(1), 0.0, np.zeros(1), gap=gap, dual=dual, passes=float(passes))


@pytest.mark.parametrize(("values", "made"), [([1.0] * 40, 5), ([0.999] * 3 + [0.5**k for k in range(1, 38)], 40)])
def test_nothing_is_decided_in_the_first_sweeps(values, made):
    """A gap that does not fall is given up after a twentieth of the patience, and not before: it may fall later."""
    assert sum(1 for _ in while_it_pays(gaps(values), "sweeps", Patience(100.0), 1e-12, [(0.0, 1.0, 1.0)])) == made


def test_a_gap_that_rises_for_once_is_no_reason_to_leave():
    """After a step for a whole face it may be large for some sweeps."""
    values = [0.8**k for k in range(1, 11)] + [1.0] + [0.8**k for k in range(11, 30)]
    assert sum(1 for _ in while_it_pays(gaps(values), "sweeps", Patience(60.0), 1e-3, [(0.0, 1.0, 1.0)])) == len(values)


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
    made = sum(
        1 for _ in while_it_pays(sweeps_over_fewer(least, late), "sweeps", Patience(50.0), 1e-4, [(0.0, 1.0, 1.0)])
    )
    assert (made == 400) == all_are_made


@pytest.mark.parametrize(("dual", "made"), [(0.001, 5), (0.003, 2), (math.nan, 5)])
def test_where_the_objective_is_small_rows_may_leave_yet(dual, made):
    """P = D / (1 - gap), here 0.1 or 0.3; where D is not known, it is waited for."""
    sweeps = while_it_pays(gaps([0.99] * 40, dual), "sweeps", Patience(100.0, little=0.2), 1e-4, [(0.0, 1.0, 1.0)])
    assert sum(1 for _ in sweeps) == made


def test_what_a_rare_class_makes_of_the_patience_and_what_the_best_bias_alone_pays():
    X, costs = np.zeros((1000, 2)), np.full(1000, 3.0)

    def asked(rows, fit_intercept=True):
        signs = np.where(np.arange(1000) < rows, 1.0, -1.0)
        return SoftMargin(X, signs, costs, loss_named("hinge"), fit_intercept)

    pays = total_loss(asked(200), slack(asked(200), np.zeros(1000), -1.0))
    assert patience_for(asked(200), 10.0) == patience_for(asked(800), 10.0) == Patience(10.0, LITTLE * pays)
    assert patience_for(asked(200, fit_intercept=False), 10.0) == Patience(10.0, LITTLE * 3000.0)
    assert patience_for(asked(10), 10.0) == patience_for(asked(990), 10.0)
    assert patience_for(asked(10), 10.0) == Patience(pytest.approx(10.0 * math.sqrt(100.0 * RARE)))
    assert patience_for(asked(1), 10.0) == patience_for(asked(0), 10.0) == Patience(40.0)


@pytest.mark.parametrize(
    ("noise", "quantile", "solver"),
    [(0.02, 0.5, "coordinate_descent"), (0.3, 0.99, "coordinate_descent"), (0.3, 0.5, "interior_point")],
)
def test_classes_that_are_nearly_apart_or_rare_stay_with_sweeps(noise, quantile, solver):
    random = np.random.default_rng(3)
    X = random.standard_normal((12_000, 20))
    scores = X @ random.standard_normal(20)
    scores += noise * scores.std() * random.standard_normal(len(X))
    svm = LinearSVM(tol=1e-3).fit(X, scores > np.quantile(scores, quantile))
    assert svm.solver_ == solver
    assert svm.certificate_.is_optimal


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, known in SOLVERS.items() for name in known])
def test_who_begins_anew_has_no_state_to_go_on_from(kind, name):
    X, signs = np.array([[2.0, 1.0], [1.0, 3.0], [-1.0, -1.0], [-2.0, 0.5]]), np.array([1.0, 1.0, -1.0, -1.0])
    solver = SOLVERS[kind][name]
    asked = [loss for loss in LOSSES.values() if solver.suits(loss) is None] if kind == SOFT_MARGIN else list(Norm)
    suited = next(each for each in asked if solver.suits(each) is None)
    problem = Separation(X, signs, suited, True)
    if kind == SOFT_MARGIN:
        problem = SoftMargin(X, signs, np.ones(4), loss_named(suited.name), True)
    run = started(kind, name, problem, Options(1e-3))
    assert isinstance(run.state, Anew) is not solver.keeps
    assert may_begin_anew(kind, name, suited) is not solver.keeps


def test_what_auto_may_begin_anew():
    assert may_begin_anew(SOFT_MARGIN, AUTO, LOSSES["squared_hinge"])
    assert not may_begin_anew(SOFT_MARGIN, AUTO, LOSSES["hinge"])
    assert may_begin_anew(SEPARATION, AUTO, Norm.L1)


@pytest.mark.parametrize(
    ("rows", "columns", "rare", "first"),
    [
        (3000, 50, 1500, "interior_point"),
        (3000, 50, 30, "coordinate_descent"),  # sum_i a_i is no more than twice what the rare class may weigh
        (3000, 50, 2970, "coordinate_descent"),
        (900, 50, 9, "interior_point"),  # in one call: sweeps take longer than that in any case
        (900, 70, 9, "coordinate_descent"),
    ],
)
def test_a_short_path_is_taken_at_once_where_much_may_weigh(rows, columns, rare, first):
    X = np.random.default_rng(0).standard_normal((rows, columns))
    problem = SoftMargin(X, np.where(np.arange(rows) < rare, 1.0, -1.0), np.ones(rows), loss_named("hinge"), True)
    assert next(plan(problem, Options(1e-4)))[0] == first
