"""The kernel perceptron: the same mistakes as the perceptron makes in the space of the kernel."""

import numpy as np
import pytest
from solver_runs import iterates

from maxmargin.data.executor import Threads
from maxmargin.problems.choices import Order
from maxmargin.problems.kernels import Polynomial, Rbf
from maxmargin.solvers.mistakes import kernel_memory
from maxmargin.solvers.mistakes import kernel_perceptron as perceptron
from maxmargin.solvers.mistakes.kernel_perceptron import kernel_perceptron


def learnt(X, y, kernel, **options):
    *_, solution = iterates(kernel_perceptron(kernel, kernel.points(X), y, **{"max_sweeps": 1000, **options}))
    return solution


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("slots", [None, 2])
def test_it_is_the_rule(bias, slots, monkeypatch):
    if slots is not None:
        monkeypatch.setattr(kernel_memory, "BYTES", 0)
        monkeypatch.setattr(kernel_memory, "AT_ONCE", slots)
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.where((X**2).sum(axis=1) > 2.4, 1.0, -1.0)
    K = (X @ X.T + 0.5) ** 2 + float(bias)
    counts, mistakes, clean = np.zeros(60), 0, False
    while not clean:
        clean = True
        for i in range(60):
            if y[i] * np.sum(counts * y * K[i]) <= 0.0:
                counts[i] += 1.0
                mistakes, clean = mistakes + 1, False
    solution = learnt(X, y, Polynomial(1.0, 0.5, 2), fit_intercept=bias)
    assert solution.proposes
    assert np.array_equal(solution.a, counts)
    assert solution.updates == mistakes


@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("slots", [None, 2])
def test_every_order_ends_with_every_row_right(order, slots, monkeypatch):
    """Within Novikov's bound, for the plane that was found."""
    if slots is not None:
        monkeypatch.setattr(kernel_memory, "BYTES", 0)
        monkeypatch.setattr(kernel_memory, "AT_ONCE", slots)
    X = np.random.default_rng(2).normal(size=(40, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0.0, 1.0, -1.0)
    K = (X @ X.T) ** 2
    solution = learnt(X, y, Polynomial(1.0, 0.0, 2), fit_intercept=False, order=order, seed=4, max_sweeps=100_000)
    values = y * (K @ (solution.a * y))
    assert solution.proposes
    assert values.min() > 0.0
    square = float((solution.a * y) @ K @ (solution.a * y))
    assert solution.updates == solution.a.sum() <= np.diag(K).max() * square / values.min() ** 2


def test_worst_first_is_the_worst():
    X = np.array([[1.0], [3.0], [-2.0]])
    solution = learnt(
        X, np.array([1.0, 1.0, 1.0]), Polynomial(1.0, 0.0, 2), fit_intercept=False, order=Order.WORST_FIRST
    )
    assert solution.a.tolist() == [1.0, 0.0, 0.0]  # at w = 0 all are equally bad, and then none is
    solution = learnt(X, np.array([1.0, -1.0, 1.0]), Polynomial(1.0, 0.0, 2), fit_intercept=False,
                      order=Order.WORST_FIRST, max_sweeps=2)  # fmt: skip
    assert solution.a.tolist() == [1.0, 1.0, 0.0]


def test_it_ends_when_the_sweeps_are_spent():
    X = np.array([[0.0], [0.0], [1.0]])
    solution = learnt(X, np.array([1.0, -1.0, 1.0]), Rbf(), fit_intercept=True, max_sweeps=7)
    assert not solution.proposes
    assert solution.sweeps == 7


def test_orders_are_shuffled_by_the_seed():
    X = np.random.default_rng(1).normal(size=(80, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0.0, 1.0, -1.0)
    kernel = Rbf(4.0)
    one, same, other = (
        learnt(X, y, kernel, fit_intercept=False, order=Order.SHUFFLED, seed=seed) for seed in (1, 1, 2)
    )
    assert one.proposes
    assert np.array_equal(one.a, same.a)
    assert not np.array_equal(one.a, other.a)


def drawn(n=300, seed=3):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, np.where(np.sin(3.0 * X[:, 0]) > X[:, 1], 1.0, -1.0)


@pytest.mark.parametrize("order", [Order.CYCLIC, Order.SHUFFLED])
def test_rows_are_made_for_the_mistakes_alone(order, monkeypatch):
    """What is looked at ahead tells which rows will be needed, and no others are made."""
    made, (X, y) = [], drawn()
    plain = kernel_memory.KernelMemory.made_together
    monkeypatch.setattr(
        kernel_memory.KernelMemory, "made_together", lambda self, rows: made.extend(rows.tolist()) or plain(self, rows)
    )
    solution = learnt(X, y, Rbf(2.0), fit_intercept=True, order=order)
    assert solution.proposes
    assert set(np.flatnonzero(solution.a)) <= set(made)
    assert len(made) <= 1.05 * np.count_nonzero(solution.a)


@pytest.mark.parametrize("order", list(Order))
def test_what_float32_believes_is_computed_once_more(order, monkeypatch):
    """Kernel rows that are wrong in the third digit: a plane is proposed when float64 has found every row right."""
    monkeypatch.setattr(kernel_memory, "MANY", 100)
    monkeypatch.setattr(perceptron, "NEAR", np.inf)  # all values are near enough to 0
    X, y = drawn(150)
    points = Rbf(2.0).points(X)
    K, plain = Rbf(2.0).values(points, points), kernel_memory.KernelMemory.made_together
    noise = np.random.default_rng(0).normal(size=K.shape).astype(np.float32)
    monkeypatch.setattr(
        kernel_memory.KernelMemory, "made_together", lambda self, rows: plain(self, rows) * (1.0 + 1e-3 * noise[rows])
    )
    with Threads() as threads:
        solution = learnt(X, y, Rbf(2.0), fit_intercept=False, order=order, threads=threads, max_sweeps=100_000)
    assert solution.proposes
    assert np.min(y * (K @ (solution.a * y))) > 0.0


@pytest.mark.parametrize(("far", "believed"), [(2.0, 3), (9.0, 0)])
def test_what_float64_cannot_tell_from_zero_is_a_mistake(far, believed, monkeypatch):
    """The third row is right by e^-4, or by e^-81."""
    monkeypatch.setattr(kernel_memory, "MANY", 2)
    X, y = np.array([[0.0], [-1.0], [far]]), np.array([1.0, -1.0, 1.0])
    kernel = Rbf(1.0)
    with Threads() as threads:
        memory = kernel_memory.KernelMemory(kernel, kernel.points(X), threads)
        state = perceptron.KernelPerceptronState(
            counts=np.array([1.0, 1.0, 0.0]), random=np.random.default_rng(0), memory=memory, values=1e-9 * y
        )
        rule = perceptron.KernelPerceptronRule(state, y, True, Order.CYCLIC)
        assert rule.believed(2) == 2  # not all rows were visited
        assert rule.believed(3) == believed
    assert state.values[0] == -state.values[1] == pytest.approx(1.0 - np.exp(-1.0), rel=1e-12)
    expected = np.exp(-(far**2)) - np.exp(-((far + 1.0) ** 2))
    assert state.values[2] == (pytest.approx(expected, rel=1e-12) if believed else 0.0)
