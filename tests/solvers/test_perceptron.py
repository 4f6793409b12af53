"""The perceptrons: their theorems on data of known margin, in integers so that every comparison is exact."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from solver_runs import iterates

from maxmargin.problems.choices import Order
from maxmargin.problems.statement import Norm, Separation
from maxmargin.problems.trace import Trace
from maxmargin.solvers.mistakes.margin_perceptron import margin_perceptron, updates_of_a_phase
from maxmargin.solvers.mistakes.perceptron import longest_row, perceptron

orders = st.sampled_from([Order.CYCLIC, Order.SHUFFLED, Order.DRAWN])


@st.composite
def integer_data(draw, bias: bool):
    """Integer rows and a plane (u, c) that separates them: X, signs, (u, c)."""
    d = draw(st.integers(1, 4))
    entry = st.integers(-9, 9)
    u = np.array(draw(st.lists(entry, min_size=d, max_size=d).filter(any)))
    c = draw(st.integers(-9, 9)) if bias else 0
    X = np.array(draw(st.lists(st.lists(entry, min_size=d, max_size=d), min_size=2, max_size=12)))
    values = X @ u + c
    X, values = X[values != 0], values[values != 0]
    assume(len(X) > 0)
    return X.astype(float), np.sign(values).astype(float), (u, c)


def lifted(X, bias):
    return [[Fraction(x) for x in row] + ([Fraction(1)] if bias else []) for row in X]


def squared_ratio(X, signs, plane, bias):
    """R^2 / g^2 of the lifted rows, exactly."""
    u = [Fraction(int(x)) for x in plane[0]] + ([Fraction(int(plane[1]))] if bias else [])
    rows = lifted(X, bias)
    radius_squared = max(sum(x * x for x in row) for row in rows)
    least = min(
        Fraction(sign) * sum(x * v for x, v in zip(row, u, strict=True)) for row, sign in zip(rows, signs, strict=True)
    )
    return radius_squared * sum(v * v for v in u) / least**2


def last(solutions):
    *_, solution = iterates(solutions)
    return solution


@pytest.mark.parametrize("bias", [True, False])
@given(data=st.data(), order=orders, seed=st.integers(0, 3))
@settings(max_examples=150)
def test_novikov(bias, data, order, seed):
    X, signs, plane = data.draw(integer_data(bias))
    solution = last(perceptron(Separation(X, signs, Norm.L2, bias), order=order, seed=seed))
    assert solution.proposes
    assert solution.updates <= squared_ratio(X, signs, plane, bias)
    exact = [Fraction(v) for v in solution.w]
    for row, sign in zip(X, signs, strict=True):
        value = sum(Fraction(x) * w for x, w in zip(row, exact, strict=True)) + Fraction(solution.b)
        assert Fraction(sign) * value > 0
    assert np.array_equal(X.T @ (signs * solution.a), solution.w)  # w is the sum of its mistakes
    assert solution.a.sum() == solution.updates


@given(data=st.data())
@settings(max_examples=60)
def test_cosine_to_the_known_plane_grows_like_the_theorem_says(data):
    X, signs, (u, c) = data.draw(integer_data(True))
    trace = Trace()
    last(perceptron(Separation(X, signs, Norm.L2, True), trace=trace))
    target = np.append(u, c) / math.sqrt(float(u @ u + c * c))
    ratio = float(squared_ratio(X, signs, (u, c), True)) ** -0.5
    arrays = trace.to_arrays()
    for t, after in zip(arrays["update"], arrays["after"], strict=True):
        assert after @ target / np.linalg.norm(after) >= math.sqrt(t) * ratio * (1 - 1e-12)


@pytest.mark.parametrize("bias", [True, False])
@given(data=st.data(), order=orders, part=st.floats(0.05, 1.0), share=st.sampled_from([0.25, 0.04, 0.5, 0.81]))
@settings(max_examples=100)
def test_margin_perceptron_with_a_good_guess(bias, data, order, part, share):
    X, signs, plane = data.draw(integer_data(bias))
    problem = Separation(X, signs, Norm.L2, bias)
    ratio = float(squared_ratio(X, signs, plane, bias))
    guess = part * longest_row(problem) / math.sqrt(ratio)
    solution = last(perceptron(problem, order=order, guess=guess, share=share))
    assert solution.proposes
    assert solution.updates <= updates_of_a_phase(share) * ratio * (1 + 1e-12)
    assert lifted_margin(problem, solution) >= math.sqrt(share) * guess * (1 - 1e-9)


@pytest.mark.parametrize("bias", [True, False])
@given(data=st.data(), order=orders, share=st.sampled_from([0.25, 0.25, 0.04, 0.5, 0.81]))
@settings(max_examples=60)
def test_shrinking_reaches_its_share_of_the_best_margin(bias, data, order, share):
    X, signs, plane = data.draw(integer_data(bias))
    problem = Separation(X, signs, Norm.L2, bias)
    ratio = float(squared_ratio(X, signs, plane, bias))
    known = longest_row(problem) / math.sqrt(ratio)  # a margin that exists; the best one may be larger
    solution = last(margin_perceptron(problem, order=order, share=share))
    assert solution.proposes
    assert lifted_margin(problem, solution) >= share * known * (1 - 1e-9)
    assert solution.updates <= updates_of_a_phase(share) / (share * (1 - share)) * ratio


def test_constants_of_a_quarter():
    assert updates_of_a_phase(0.25) == 12.0


@pytest.mark.parametrize("share", [0.25, 0.6, 0.81])
def test_shares_of_a_margin_that_is_known(share):
    """Rows (+-1, t): the best plane through the origin is x = 0, and its margin is 1."""
    t = np.linspace(-3.0, 3.0, 9)
    X = np.vstack([np.column_stack([np.full(9, s), t]) for s in (1.0, -1.0)])
    problem, trace = Separation(X, np.sign(X[:, 0]), Norm.L2, False), Trace()
    solution = last(margin_perceptron(problem, share=share, trace=trace))
    assert solution.proposes
    assert share <= lifted_margin(problem, solution) <= 1.0
    assert solution.updates <= updates_of_a_phase(share) / (share * (1 - share)) * 10.0
    tried = [phase.tried for phase in trace.phases]
    assert tried[0] == math.sqrt(10.0)
    assert np.allclose(np.diff(np.log(tried)), math.log(share) / 2)
    assert solution.searched == tried[-1] > math.sqrt(share)
    assert sum(phase.updates for phase in trace.phases) == solution.updates
    for phase in trace.phases[:-1]:  # they did not end by themselves: their guesses are too large
        assert phase.tried > 1.0
        allowed = math.floor(updates_of_a_phase(share) * (math.sqrt(10.0) / phase.tried) ** 2)
        assert phase.updates == allowed or (phase.updates < allowed and phase.bound < phase.tried)
    assert np.array_equal(np.unique(trace.to_arrays()["tried"]), np.sort(tried))


@pytest.mark.parametrize("order", list(Order))
@given(data=st.data())
@settings(max_examples=60)
def test_a_budget_that_is_enough_is_enough(order, data):
    """When the last update that is allowed was made, every row may be right: that is looked at."""
    X, signs, _ = data.draw(integer_data(True))
    problem = Separation(X, signs, Norm.L2, True)
    free = last(perceptron(problem, order=order))
    just = last(perceptron(problem, order=order, max_updates=free.updates))
    assert just.proposes
    assert np.array_equal(just.w, free.w)
    if free.updates > 1:
        short = last(perceptron(problem, order=order, max_updates=free.updates - 1))
        assert not short.proposes
        assert short.updates == free.updates - 1


@given(data=st.data(), seed=st.integers(0, 9))
@settings(max_examples=40)
def test_drawn_rows_are_those_of_the_generator(data, seed):
    """w += y x for each row that is drawn and wrong, draw after draw; a look at all rows changes nothing."""
    X, signs, _ = data.draw(integer_data(True))
    solution = last(perceptron(Separation(X, signs, Norm.L2, True), order=Order.DRAWN, seed=seed))
    n, random, w, rows = (
        len(X),
        np.random.default_rng(seed),
        np.zeros(X.shape[1] + 1),
        np.column_stack([X, X[:, 0] * 0 + 1]),
    )
    while np.any(signs * (rows @ w) <= 0.0):
        draws = random.integers(n, size=max(1, 4096 // n) * n)
        right = 0
        for k, i in enumerate(draws):
            right = 0 if k % n == 0 else right
            if signs[i] * (rows[i] @ w) <= 0.0:
                w, right = w + signs[i] * rows[i], 0
            else:
                right += 1
            if right == n:  # these draws end here
                break
    assert np.array_equal(np.append(solution.w, solution.b), w)
    assert solution.proposes


def lifted_margin(problem, solution):
    norm = math.hypot(float(np.linalg.norm(solution.w)), solution.b if problem.fit_intercept else 0.0)
    return float(np.min(problem.signs * (problem.X @ solution.w + solution.b))) / norm


@given(data=st.data())
@settings(max_examples=40)
def test_worst_first_visits_the_worst_row(data):
    X, signs, plane = data.draw(integer_data(True))
    trace = Trace()
    solution = last(perceptron(Separation(X, signs, Norm.L2, True), order=Order.WORST_FIRST, trace=trace))
    assert solution.proposes
    assert solution.updates <= squared_ratio(X, signs, plane, True)
    arrays = trace.to_arrays()
    for row, before in zip(arrays["row"], arrays["before"], strict=True):
        values = signs * (X @ before[:-1] + before[-1])
        assert values[row] == values.min()


@given(data=st.data(), order=st.sampled_from(list(Order)))
@settings(max_examples=40)
def test_dense_and_sparse_take_the_same_steps(data, order):
    X, signs, _ = data.draw(integer_data(True))
    dense = last(perceptron(Separation(X, signs, Norm.L2, True), order=order))
    csr = last(perceptron(Separation(sparse.csr_array(X), signs, Norm.L2, True), order=order))
    assert dense.updates == csr.updates
    assert np.array_equal(dense.w, csr.w)
    assert dense.b == csr.b


def test_a_sweep_over_two_shuffled_orders_cannot_skip_a_row():
    """n clean visits count only within one order: the last rows of one and the first of the next may coincide."""
    random = np.random.default_rng(0)
    for seed in range(200):
        X = random.integers(-3, 4, (7, 2)).astype(float)
        values = X @ [2.0, -1.0] + 0.5
        problem = Separation(X, np.sign(values), Norm.L2, True)
        solution = last(perceptron(problem, order=Order.SHUFFLED, seed=seed))
        assert np.min(problem.signs * (X @ solution.w + solution.b)) > 0


def test_budget_ends_a_run_that_cannot_end():
    X, signs = np.array([[1.0], [1.0]]), np.array([1.0, -1.0])
    for run in (perceptron, margin_perceptron):
        solution = last(run(Separation(X, signs, Norm.L2, True), max_updates=101))
        assert not solution.proposes
        assert solution.updates == 101


def test_rate_scales_the_weights_and_nothing_else():
    random = np.random.default_rng(1)
    X = random.integers(-9, 10, (50, 3)).astype(float)
    values = X @ [1.0, 2.0, -3.0] + 0.5
    problem = Separation(X, np.sign(values), Norm.L2, True)
    one, eight = last(perceptron(problem)), last(perceptron(problem, rate=8.0))
    assert np.array_equal(8.0 * one.w, eight.w)
    assert one.updates == eight.updates


def test_averaged_weights_are_the_mean_over_all_visits():
    random = np.random.default_rng(2)
    X = random.integers(-5, 6, (30, 2)).astype(float)
    signs = np.where(X @ [1.0, 1.0] > 0.5, 1.0, -1.0)
    solution = last(perceptron(Separation(X, signs, Norm.L2, True), max_sweeps=3))
    w, total, visits = np.zeros(3), np.zeros(3), 0
    clean = 0
    for _ in range(3):
        for x, y in zip(X, signs, strict=True):
            total += w
            visits += 1
            if y * (x @ w[:2] + w[2]) <= 0:
                w += y * np.append(x, 1.0)
                clean = 0
            else:
                clean += 1
            if clean == len(X):
                break
        if clean == len(X):
            break
    assert np.allclose(solution.averaged, total / visits, atol=np.abs(w).max() / visits + 1e-12)
