"""The stochastic subgradient rule: the compiled loop beside the rule as it is written, on tables and on kernels."""

import math

import numpy as np
import pytest
import scipy.sparse as sparse
from solver_runs import iterates

from maxmargin.certificates.duality import dual_value, primal_value
from maxmargin.problems.descent import Descent
from maxmargin.problems.kernels import Polynomial
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin, SoftMargin
from maxmargin.solvers.mistakes import kernel_memory
from maxmargin.solvers.stochastic_subgradient import order_of, stochastic_subgradient

C = 0.7
STEPS = {
    "pegasos": lambda t, lam, square: 1.0 / (lam * t),
    "damped": lambda t, lam, square: 1.0 / (lam * t + square),
    "0.5": lambda t, lam, square: 0.5,
    "3/sqrt(t)": lambda t, lam, square: 3.0 / math.sqrt(t),
    "0.7 / t^0.25": lambda t, lam, square: 0.7 / t**0.25,
    "function": lambda t, lam, square: 3.0 / (2.0 + t),
}
GIVEN = {"0.5": 0.5, "function": lambda t: 3.0 / (2.0 + t)}  # all others by their names


def noisy_table(n=150, d=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    y = np.where(X @ random.normal(size=d) + 0.5 * random.normal(size=n) > 0.2, 1.0, -1.0)
    return X, y


def as_written(X, y, orders, *, bias, step="pegasos", project=False, weights=None):
    """w <- w - eta (lambda w - s [y (w.x + b) < 1] y x), visit by visit: every w and every b."""
    n, d = X.shape
    lam, w, b = 1.0 / (n * C), np.zeros(d), 0.0
    weights = np.ones(n) if weights is None else weights
    planes = []
    for t, i in enumerate(np.concatenate(orders), start=1):
        eta = STEPS[step](t, lam, weights[i] * X[i] @ X[i])
        violated = float(y[i] * (w @ X[i] + b) < 1.0)
        w = w - eta * (lam * w - weights[i] * violated * y[i] * X[i])
        if bias:
            b = b + min(eta, 1.0 / math.sqrt(t) if step == "damped" else 1.0) * weights[i] * violated * y[i]
        radius = math.sqrt(C * weights.sum())
        if project and np.linalg.norm(w) > radius:
            w = w * (radius / np.linalg.norm(w))
        planes.append((w, b))
    return planes


def run_on(X, y, *, average=False, bias=True, project=False, weights=None, sweeps=6, step="pegasos", seed=3, run=None):
    n, d = X.shape
    costs = C * (np.ones(n) if weights is None else weights)
    radius = math.sqrt(costs.sum()) if project else math.inf
    run = Descent(C, n, False, average, np.zeros(d), np.zeros(n), radius=radius) if run is None else run
    problem = SoftMargin(X, y, costs, HINGE, bias)
    *_, solution = iterates(stochastic_subgradient(problem, run, step=step, seed=seed, max_sweeps=sweeps))
    return solution, run, problem


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("step", STEPS)
def test_it_is_the_rule(bias, project, step):
    X, y = noisy_table()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 150)
    solution, _, _ = run_on(X, y, bias=bias, project=project, weights=weights, step=GIVEN.get(step, step))
    orders = [order_of(150, 3, sweep) for sweep in range(6)]
    planes = as_written(X, y, orders, bias=bias, step=step, project=project, weights=weights)
    assert solution.sweeps == 6
    assert np.allclose(solution.w, planes[-1][0], rtol=1e-12, atol=1e-12)
    assert solution.b == pytest.approx(planes[-1][1], rel=1e-12, abs=1e-12)
    assert np.allclose((solution.a * y) @ X, solution.w, rtol=1e-9, atol=1e-9)
    if not bias and step == "pegasos" and not project:
        assert np.all(solution.a <= C * weights * (1 + 1e-12))


@pytest.mark.parametrize("step", STEPS)
def test_the_mean_counts_later_visits_more(step):
    X, y = noisy_table()
    solution, _, _ = run_on(X, y, average=True, step=GIVEN.get(step, step))
    planes = as_written(X, y, [order_of(150, 3, sweep) for sweep in range(6)], bias=True, step=step)
    t = np.arange(1.0, len(planes) + 1)
    assert np.allclose(solution.w, t @ np.array([w for w, _ in planes]) / t.sum(), rtol=1e-10, atol=1e-12)
    assert solution.b == pytest.approx(t @ [b for _, b in planes] / t.sum(), rel=1e-10)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("number", [np.float32, np.float64])
def test_every_form_of_a_table_gives_the_same(form, number):
    X, y = noisy_table()
    X = X.astype(np.float32).astype(number)
    X[np.abs(X) < 0.3] = 0.0
    solution, _, _ = run_on(form(X), y, average=True)
    expected, _, _ = run_on(X.astype(np.float64), y, average=True)
    assert np.allclose(solution.w, expected.w, rtol=1e-10)


def test_projected_planes_stay_on_the_ball():
    X, y = noisy_table()
    radius = math.sqrt(C * 150)
    planes = as_written(X, y, [order_of(150, 3, 0)], bias=False)
    assert max(np.linalg.norm(w) for w, _ in planes) > 10 * radius
    for visits in range(1, 40):
        solution, _, _ = run_on(X[:visits], y[:visits], project=True, sweeps=1, seed=None, bias=False)
        assert np.linalg.norm(solution.w) <= math.sqrt(C * visits) * (1 + 1e-12)


def stream_of(X, y, batches, *, step, weights, bias=True):
    """A stream of unknown length: every batch makes n larger."""
    run, start = Descent(C, 1, False, False, np.zeros(X.shape[1]), np.zeros(0)), 0
    for size in batches:
        rows = slice(start, start := start + size)
        run.n_rows, run.a = start, np.zeros(size)
        problem = SoftMargin(X[rows], y[rows], C * weights[rows], HINGE, bias)
        for _ in stochastic_subgradient(problem, run, step=step, max_sweeps=1, grows=True).iterates:
            pass
    return run


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("step", ["pegasos", "damped"])
def test_batches_of_a_stream_of_unknown_length_do_not_matter(bias, step):
    """w = sum a_i y_i x_i over the violations, a_i = C_i or damped: a dual point of the rows that have come."""
    X, y = noisy_table()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 150)
    w, b = np.zeros(4), 0.0
    for t, (x, sign, own) in enumerate(zip(X, y, weights, strict=True), start=1):
        eta = 1.0 / (1.0 / C + (own * x @ x if step == "damped" else 0.0))
        if sign * (w @ x + b) < 1.0:
            w = w + eta * own * sign * x
            b = b + bias * min(eta, 1.0 / math.sqrt(t) if step == "damped" else 1.0) * own * sign
    for batches in ([150], [1] * 150, [1, 100, 9, 40]):
        run = stream_of(X, y, batches, step=step, weights=weights, bias=bias)
        assert np.allclose(run.w, w, rtol=1e-12, atol=1e-12)
        assert run.b == pytest.approx(b, rel=1e-12, abs=1e-12)
        assert run.visits == run.n_rows == 150
        assert run.grows


def test_a_step_of_ones_own_is_pulled_back_by_the_rows_so_far():
    X, y = noisy_table(3)
    run = stream_of(X, y, [2, 1], step=0.5, weights=np.ones(3), bias=False)
    w = np.zeros(4)
    for x, sign, n in zip(X, y, (2, 2, 3), strict=True):
        w = w - 0.5 * (w / (n * C) - (sign * (w @ x) < 1.0) * sign * x)
    assert np.allclose(run.w, w, rtol=1e-12)


@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3, 1e200])
def test_a_damped_first_step_does_not_overshoot_its_row(length):
    """It has the row between the plane and the edge of its street; Pegasos throws it n C |x|^2 far."""
    rows, sign = np.array([[length, 0.0], [0.0, length]]), np.array([-1.0, 1.0])
    reached = {}
    for step in ("damped", "pegasos") if length < 1e100 else ("damped",):
        _, run, _ = run_on(rows, sign, step=step, sweeps=1, seed=None, bias=False)
        reached[step] = sign * (rows @ run.w)
    assert np.all((reached["damped"] >= 0.0) & (reached["damped"] <= 1.0))
    if length == 1e3:
        assert reached["pegasos"].max() > 1e5


def test_a_run_can_be_left_and_taken_up_again():
    X, y = noisy_table()
    whole, _, _ = run_on(X, y, average=True, sweeps=7)
    _, run, _ = run_on(X, y, average=True, sweeps=3)
    parts, _, _ = run_on(X, y, average=True, sweeps=4, run=run)
    assert np.array_equal(parts.w, whole.w)
    assert parts.b == whole.b
    assert np.array_equal(parts.a, whole.a)


def test_violations_are_a_dual_point_and_the_gap_falls():
    X, y = noisy_table(400)
    gaps = []
    for sweeps in (5, 50, 500):
        solution, _, problem = run_on(X, y, bias=False, average=True, sweeps=sweeps)
        primal = primal_value(problem, solution.w, 0.0).upper
        dual = dual_value(problem, np.minimum(solution.a, C)).lower
        gaps.append((primal - dual) / primal)
    assert gaps[0] > 3 * gaps[1] > 9 * gaps[2]
    assert gaps[2] < 5e-3


def quadratic(X):
    """phi of (x.x' + 1)^2 in two dimensions."""
    x, z = X.T
    root = math.sqrt(2.0)
    return np.column_stack([x * x, z * z, root * x * z, root * x, root * z, np.ones(len(X))])


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("slots", [None, 3])
def test_a_kernel_is_the_same_rule_in_its_space(average, project, slots, monkeypatch):
    X, y = noisy_table(80, 2)
    if slots is not None:  # rows of the kernel come and go
        monkeypatch.setattr(kernel_memory, "BYTES", 0)
        monkeypatch.setattr(kernel_memory, "AT_ONCE", slots)
    radius = math.sqrt(C * 80) if project else math.inf
    expected, _, _ = run_on(quadratic(X), y, project=project, sweeps=5)
    last = (expected.a * y) @ quadratic(X)
    kernel = Polynomial(1.0, 1.0, 2)
    problem = KernelMargin(X, y, np.full(80, C), HINGE, True, kernel, kernel.points(X))
    run = Descent(C, 80, True, average, np.zeros(80), np.zeros(80), radius=radius)
    *_, solution = iterates(stochastic_subgradient(problem, run, seed=3, max_sweeps=5))
    assert np.allclose(run.position.scale * run.v, quadratic(X) @ last, rtol=1e-9, atol=1e-9)
    w = (solution.a * y) @ quadratic(X)
    mean, _, _ = run_on(quadratic(X), y, project=project, average=average, sweeps=5)
    assert np.allclose(w, mean.w, rtol=1e-9, atol=1e-9)
    assert solution.b == pytest.approx(mean.b, rel=1e-9)


def test_steps_that_are_too_long_are_named():
    X, y = noisy_table()
    with pytest.raises(ValueError, match="the steps are too long: after"):
        run_on(X, y, step=1e6, sweeps=500)
    with pytest.raises(ValueError, match=r"step\(3\) is -1.0"):
        run_on(X, y, step=lambda t: 1.0 if t < 3 else -1.0)
    with pytest.raises(ValueError, match=r"step\(1\) is nan"):
        run_on(X, y, step=lambda t: math.nan)
