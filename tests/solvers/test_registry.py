"""Which solver "auto" begins with, and when it hands over."""

import dataclasses
import math

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import LinearSVM
from maxmargin.problems.losses import LOSSES, loss_named
from maxmargin.problems.protocol import Anew, Iterate, Options
from maxmargin.problems.statement import Norm, Separation, SoftMargin, slack, total_loss
from maxmargin.solvers.coordinate_descent import descent, trial
from maxmargin.solvers.interior_point.method import path_passes, sieve_passes
from maxmargin.solvers.newton.systems import newton_passes
from maxmargin.solvers.patience import LITTLE, RARE, Patience, patience_for
from maxmargin.solvers.registry import (
    AT_ONCE,
    AUTO,
    SEPARATION,
    SOFT_MARGIN,
    SOLVERS,
    may_begin_anew,
    plan,
    started,
    while_it_pays,
)


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


@pytest.mark.parametrize(("little", "all_are_made"), [(1.0, True), (1e-9, False)])
def test_where_the_classes_are_nearly_apart_the_next_solver_may_take_longer(little, all_are_made):
    """26 passes are needed: more than 3/2 of the patience, and less than 3/2 of what it is where they are apart."""
    values = [0.7**k for k in range(1, 27)]
    patience = Patience(12.0, little=little, apart=2.0)
    made = sum(1 for _ in while_it_pays(gaps(values, 0.001), "sweeps", patience, 1e-4, [(0.0, 1.0, 1.0)]))
    assert (made == len(values)) == all_are_made


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
    assert patience_for(asked(200), 10.0, 2.0) == Patience(10.0, LITTLE * pays, 2.0)
    assert patience_for(asked(1), 10.0, 2.0) == Patience(80.0)


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
        (200, 199, 100, "interior_point"),
        (200, 200, 100, "coordinate_descent"),  # no more rows than columns: hardly one is in the way of the others
    ],
)
def test_a_short_path_is_taken_at_once_where_much_may_weigh(rows, columns, rare, first):
    X = np.random.default_rng(0).standard_normal((rows, columns))
    problem = SoftMargin(X, np.where(np.arange(rows) < rare, 1.0, -1.0), np.ones(rows), loss_named("hinge"), True)
    assert next(plan(problem, Options(1e-4)))[0] == first


def noisy(rows, columns, *, C=1.0, noise=0.3, quantile=0.5):
    random = np.random.default_rng(3)
    X = random.standard_normal((rows, columns))
    scores = X @ random.standard_normal(columns)
    scores += noise * scores.std() * random.standard_normal(rows)
    signs = np.where(scores > np.quantile(scores, quantile), 1.0, -1.0)
    return SoftMargin(X, signs, np.full(rows, C), loss_named("hinge"), True)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_tenth_of_the_rows_shows_that_sweeps_over_all_are_hopeless(form):
    problem = noisy(40_000, 12)
    problem = dataclasses.replace(problem, X=form(problem.X))
    assert [name for name, _ in plan(problem, Options(1e-4))][:1] == ["sieve"]
    svm = LinearSVM(tol=1e-3).fit(problem.X, problem.signs)
    assert svm.solver_ == "sieve"
    assert svm.certificate_.is_optimal


@pytest.mark.parametrize(
    ("change", "start"),
    [
        ({"C": 1e-3}, None),  # a few sweeps, and they are at the end
        ({"noise": 0.005}, None),  # nearly apart: rows may leave yet
        ({"quantile": 0.93}, None),  # a rare class
        ({}, np.zeros(40_000)),  # whoever has a start may be at the end soon
    ],
)
def test_where_that_is_not_sure_sweeps_begin(change, start):
    assert next(plan(noisy(40_000, 12, **change), Options(1e-4, start)))[0] == "coordinate_descent"


def test_few_rows_beside_the_columns_say_nothing():
    assert trial.is_hopeless(noisy(20_000, 12), Options(1e-4), 20.0, 1.0)
    assert not trial.is_hopeless(noisy(20_000, 120), Options(1e-4), 20.0, 1.0)


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_two_sweeps_over_some_rows_leave_the_gap_of_two_sweeps_over_all(C):
    problem, found = noisy(60_000, 10, C=C), []
    for rows in (slice(None), slice(None, None, 10)):
        some = SoftMargin(problem.X[rows], problem.signs[rows], problem.costs[rows], problem.loss, True)
        sweeps = descent.start(some, Options(1e-4)).descent
        while sweeps.passes < 2.0:
            list(sweeps.sweep())
        found.append(sweeps.gap)
    assert found[1] == pytest.approx(found[0], abs=0.03)


def test_a_second_sample_halves_the_work_that_is_left_where_the_classes_are_not_apart():
    one, two = noisy(60_000, 10), noisy(120_000, 10)
    assert sieve_passes(one, 1e-4) == (pytest.approx(0.5 * path_passes(one, 1e-4)), 1.0)
    assert sieve_passes(two, 1e-4) == (pytest.approx(0.25 * path_passes(two, 1e-4)), 2.0)
