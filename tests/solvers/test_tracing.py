"""Who looks at the updates of a run changes nothing of it, and sees what happened."""

import numpy as np
import pytest
from solver_runs import iterates

from maxmargin.problems.choices import Order
from maxmargin.problems.descent import Descent
from maxmargin.problems.kernels import Rbf
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin, Norm, Separation, SoftMargin
from maxmargin.problems.trace import Trace
from maxmargin.run.observation import ChosenUpdates
from maxmargin.solvers.mistakes.kernel_perceptron import kernel_perceptron
from maxmargin.solvers.mistakes.margin_perceptron import margin_perceptron
from maxmargin.solvers.mistakes.perceptron import perceptron
from maxmargin.solvers.mistakes.winnow import winnow
from maxmargin.solvers.stochastic_subgradient import stochastic_subgradient

RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((60, 3))
Y = np.where(X @ [1.0, -2.0, 0.5] + 0.4 * RANDOM.standard_normal(60) > 0.0, 1.0, -1.0)
KERNEL = Rbf(0.7)
EVERY, CHOSEN = list(range(1, 10_000)), [1, 2, 9, 40, 100, 101, 250]


def separation(norm):
    return Separation(X, Y, norm, True)


def stochastic(trace, kernel, **options):
    costs = np.full(60, 0.5)
    problem = SoftMargin(X, Y, costs, HINGE, True)
    if kernel:
        problem = KernelMargin(X, Y, costs, HINGE, True, KERNEL, KERNEL.points(X))
    run = Descent(0.5, 60, kernel, True, np.zeros(60 if kernel else 3), np.zeros(60), radius=3.0)
    return stochastic_subgradient(problem, run, seed=1, max_sweeps=6, trace=trace, **options)


RUNS = {
    **{
        f"{name} {order}": lambda trace, make=make, norm=norm, order=order: make(
            separation(norm), order=order, seed=2, max_updates=700, trace=trace
        )
        for order in Order
        for name, make, norm in (
            ("perceptron", perceptron, Norm.L2),
            ("margin perceptron", margin_perceptron, Norm.L2),
            ("winnow", winnow, Norm.L1),
            ("one winnow", lambda problem, **options: winnow(problem, epsilon=0.4, **options), Norm.L1),
        )
    },
    **{
        f"kernel perceptron {order}": lambda trace, order=order: kernel_perceptron(
            KERNEL, KERNEL.points(X), Y, fit_intercept=True, order=order, seed=3, max_sweeps=9, trace=trace
        )
        for order in Order
    },
    "stochastic": lambda trace: stochastic(trace, False),
    "stochastic with a kernel": lambda trace: stochastic(trace, True, step=0.2),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_is_looked_at_is_the_same_run(name):
    """Single updates are made by the same calls, cut into pieces: the same bits, the same iterates."""
    plain, traced, chosen, all_of_it = None, Trace(), ChosenUpdates(CHOSEN), ChosenUpdates(EVERY)
    runs = [list(map(seen, iterates(RUNS[name](trace)))) for trace in (plain, traced, chosen, all_of_it)]
    assert runs[0] == runs[1] == runs[2] == runs[3]
    assert traced.n_updates == all_of_it.n_updates == len(all_of_it.kept)


def seen(iterate):
    mean = None if iterate.averaged is None else iterate.averaged.tobytes()
    return iterate.w.tobytes(), iterate.b, iterate.a.tobytes(), mean, iterate.updates, iterate.sweeps, iterate.proposes


@pytest.mark.parametrize("name", RUNS)
def test_chosen_updates_are_those_of_the_whole_trace(name):
    chosen, every = ChosenUpdates(CHOSEN), ChosenUpdates(EVERY)
    for trace in (chosen, every):
        for _ in iterates(RUNS[name](trace)):
            pass
    assert [update.number for update in chosen.kept] == [number for number in CHOSEN if number <= len(every.kept)]
    assert len(chosen.kept) >= 2
    for update in chosen.kept:
        same = every.kept[update.number - 1]
        for own, other in zip(update, same, strict=True):
            assert np.array_equal(own, other, equal_nan=True)
    for earlier, later in zip(every.kept, every.kept[1:], strict=False):
        assert np.array_equal(later.before, earlier.after) or not np.any(later.before[:3])  # or a phase begins


def test_the_kernel_perceptron_shows_the_value_before_and_a_bound_that_is_true():
    every = ChosenUpdates(EVERY)
    *_, last = iterates(RUNS["kernel perceptron shuffled"](every))
    K = KERNEL.values(KERNEL.points(X), KERNEL.points(X)) + 1.0
    for update in every.kept:
        before = update.before[:-1]
        assert update.violation == pytest.approx(Y[update.row] * (K @ before)[update.row], abs=1e-9)
        assert update.violation <= 0.0
        assert update.after[-1] == update.after[:-1].sum()
        length = np.sqrt(update.after[:-1] @ K @ update.after[:-1])
        assert update.bound == pytest.approx(length / update.number)
    assert np.array_equal(every.kept[-1].a, last.a)


@pytest.mark.parametrize("kernel", [False, True])
def test_a_visit_of_the_stochastic_subgradient_shows_its_plane(kernel):
    every = ChosenUpdates(EVERY)
    *_, last = iterates(stochastic(every, kernel))
    assert len(every.kept) == 6 * 60
    G = KERNEL.values(KERNEL.points(X), KERNEL.points(X)) if kernel else X
    for update in every.kept:
        value = Y[update.row] * (G[update.row] @ update.before[:-1] + update.before[-1])
        assert update.violation == pytest.approx(value, abs=1e-9)
        w = update.after[:-1] if kernel else X.T @ (Y * update.a)
        assert update.after[:-1] == pytest.approx(Y * update.a if kernel else w, abs=1e-9)
    assert last.updates == sum(update.violation < 1.0 for update in every.kept)
