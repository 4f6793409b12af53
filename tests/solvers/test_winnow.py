"""Winnow: its theorem on data of known l1 margin, its steps against plain multiplicative weights, and honesty."""

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
from maxmargin.solvers.mistakes.winnow import n_weights, winnow

ORDERS = st.sampled_from(list(Order))
BOTH = pytest.mark.parametrize("balanced", [True, False])
BIAS = pytest.mark.parametrize("bias", [True, False])


@st.composite
def planted(draw, bias, balanced):
    """Integer rows, their signs, and a lower bound of their margin, by a plane that separates them."""
    d = draw(st.integers(1, 4))
    u = np.array(draw(st.lists(st.integers(-5 if balanced else 0, 5), min_size=d, max_size=d).filter(any)))
    c = draw(st.integers(-5, 5)) if bias else 0
    rows = st.lists(st.lists(st.integers(-5, 5), min_size=d, max_size=d), min_size=1, max_size=10)
    X = np.array(draw(rows))
    values = X @ u + c
    X, values = X[values != 0], values[values != 0]
    assume(len(X) > 0 and X.any())
    size = int(np.abs(X).max() * np.abs(u).sum() + abs(c))  # |(s u, c)|_1: the plane of the scaled rows
    return X.astype(float), np.sign(values).astype(float), Fraction(int(np.abs(values).min()), size)


def last(solutions):
    *_, solution = iterates(solutions)
    return solution


def sides(problem, solution):
    """y_i (w.x_i + b), each rounded once."""
    X = problem.X.toarray() if sparse.issparse(problem.X) else problem.X
    return [s * math.fsum([*(row * solution.w), solution.b]) for row, s in zip(X, problem.signs, strict=True)]


def noise(n, d, seed):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)), np.where(random.random(n) < 0.5, 1.0, -1.0)


# ------------------------------------------------------------------------------------------------- the theorem


@BIAS
@BOTH
@given(data=st.data(), order=ORDERS, seed=st.integers(0, 3))
@settings(max_examples=100)
def test_search_keeps_its_bound(bias, balanced, data, order, seed):
    X, signs, margin = data.draw(planted(bias, balanced))
    problem = Separation(X, signs, Norm.L1, bias)
    solution = last(winnow(problem, balanced=balanced, order=order, seed=seed))
    assert solution.proposes
    assert min(sides(problem, solution)) > 0.0
    assert balanced or solution.w.min() >= 0.0
    assert solution.updates <= 32.0 / 3.0 * math.log(n_weights(problem, balanced)) / float(margin) ** 2
    # The last run began because g < 2 eta was proven, or it was the first.
    assert solution.searched > float(margin) / 2.0 or solution.searched == -np.log1p(-0.5)


@BIAS
@BOTH
@given(data=st.data(), share=st.sampled_from([0.25, 0.5, 1.0, 1.5]))
@settings(max_examples=100)
def test_one_run_keeps_its_bound(bias, balanced, data, share):
    X, signs, margin = data.draw(planted(bias, balanced))
    g = float(margin)
    eta = min(share * g, math.log(2.0))
    problem = Separation(X, signs, Norm.L1, bias)
    solution = last(winnow(problem, epsilon=-math.expm1(-eta), balanced=balanced))
    assert solution.proposes
    assert solution.updates <= math.log(n_weights(problem, balanced)) / (eta * (g - eta / 2.0)) * (1.0 + 1e-12)
    assert solution.a.sum() == solution.updates


@BIAS
@BOTH
@given(data=st.data(), order=ORDERS)
@settings(max_examples=40)
def test_mistakes_bound_the_margin(bias, balanced, data, order):
    """g <= max_j p_j / M <= ln(m) / (eta M) + eta / 2 after every mistake: the inequality (*) of the proof."""
    X, signs, margin = data.draw(planted(bias, balanced))
    trace, problem = Trace(), Separation(X, signs, Norm.L1, bias)
    last(winnow(problem, epsilon=0.2, balanced=balanced, order=order, max_updates=200, trace=trace))
    columns = trace.to_arrays()
    mistakes, eta = columns["update"], -math.log1p(-0.2)
    most = math.log(n_weights(problem, balanced)) / (eta * mistakes) + eta / 2.0
    assert np.all(columns["margin_bound"] >= float(margin) * (1.0 - 1e-12))
    assert np.all(columns["margin_bound"] <= most + 1e-12)


@BIAS
@BOTH
def test_search_halves_when_it_must(bias, balanced):
    """Without a plane every run uses up what it is allowed, 2 ln(m) / eta^2, and then eta is halved."""
    X, signs = noise(30, 3, seed=4)
    problem = Separation(X, signs, Norm.L1, bias)
    used = {}
    for solution in iterates(winnow(problem, balanced=balanced, max_updates=20_000)):
        used[solution.searched] = solution.updates
    etas = np.array(list(used))
    assert len(etas) >= 5
    assert np.array_equal(etas, np.ldexp(math.log(2.0), -np.arange(len(etas))))
    allowed = np.floor(2.0 * math.log(n_weights(problem, balanced)) / etas**2)
    assert np.array_equal(np.diff([0, *used.values()])[:-1], allowed[:-1])


# --------------------------------------------------------------------------------------------------- the steps


@BIAS
@BOTH
@pytest.mark.parametrize("order", list(Order))
def test_replay(bias, balanced, order):
    """Every recorded step, done again as the textbook says: multiply, then divide by the sum."""
    X, signs = noise(30, 3, seed=5)
    trace = Trace()
    problem = Separation(X, signs, Norm.L1, bias)
    solution = last(winnow(problem, epsilon=0.3, balanced=balanced, order=order, max_updates=300, trace=trace))
    columns = trace.to_arrays()
    A = signs[:, None] * np.column_stack([X / np.abs(X).max(), np.ones(len(X))] if bias else [X / np.abs(X).max()])
    kept = A.shape[1]
    doubled = np.ones(kept, bool) if balanced else np.arange(kept) >= X.shape[1]
    doubles = np.column_stack([A, -A[:, doubled]])
    v = np.ones(doubles.shape[1])
    counts = np.zeros(len(X))

    def signed(v):
        w = v[:kept].copy()
        w[doubled] -= v[kept:]
        return w / v.sum()

    for k, i in enumerate(columns["row"]):
        assert columns["before"][k] == pytest.approx(signed(v), abs=1e-12)
        assert columns["violation"][k] == pytest.approx(A[i] @ signed(v), abs=1e-12)
        assert columns["violation"][k] <= 1e-12
        if order is Order.WORST_FIRST:
            assert A[i] @ signed(v) == pytest.approx((A @ signed(v)).min(), abs=1e-12)
        v *= 0.7 ** -doubles[i]
        counts[i] += 1.0
        assert columns["after"][k] == pytest.approx(signed(v), abs=1e-12)
        assert columns["margin_bound"][k] == pytest.approx((counts @ doubles).max() / (k + 1), abs=1e-12)
    assert trace.n_updates == solution.updates == 300
    assert np.array_equal(counts, solution.a)
    scaled = np.append(solution.w * np.abs(X).max(), [solution.b] if bias else [])
    assert scaled == pytest.approx(signed(v), abs=1e-12)


@BIAS
@BOTH
@given(data=st.data(), order=ORDERS)
@settings(max_examples=40)
def test_every_form_of_a_table_takes_the_same_steps(bias, balanced, data, order):
    X, signs, _ = data.draw(planted(bias, balanced))
    dense = last(winnow(Separation(X, signs, Norm.L1, bias), balanced=balanced, order=order))
    for form in (sparse.csr_array(X), X.astype(np.float32)):
        other = last(winnow(Separation(form, signs, Norm.L1, bias), balanced=balanced, order=order))
        assert np.array_equal(other.a, dense.a)
        assert (other.updates, other.sweeps) == (dense.updates, dense.sweeps)
        assert other.w == pytest.approx(dense.w, rel=1e-9, abs=1e-12)


@BIAS
@given(data=st.data(), exponent=st.integers(-300, 300))
@settings(max_examples=40)
def test_the_scale_is_undone(bias, data, exponent):
    X, signs, _ = data.draw(planted(bias, True))
    own = last(winnow(Separation(X, signs, Norm.L1, bias)))
    two = last(winnow(Separation(np.ldexp(X, exponent), signs, Norm.L1, bias)))
    assert two.updates == own.updates
    assert np.array_equal(two.w, np.ldexp(own.w, -exponent))
    assert two.b == own.b
    thousand = last(winnow(Separation(1000.0 * X, signs, Norm.L1, bias)))
    assert thousand.updates == own.updates
    assert thousand.w == pytest.approx(own.w / 1000.0, rel=1e-9, abs=1e-15)
    assert thousand.b == pytest.approx(own.b, rel=1e-9, abs=1e-12)


def test_one_call_or_many_are_the_same_run(monkeypatch):
    X, signs = noise(40, 3, seed=1)
    problem = Separation(X, signs, Norm.L1, True)
    at_once = last(winnow(problem, max_updates=3000))
    monkeypatch.setattr("maxmargin.solvers.mistakes.winnow.NUMBERS_PER_CALL", 100)
    monkeypatch.setattr("maxmargin.solvers.mistakes.winnow.CHANGES_PER_CALL", 100)
    solutions = list(iterates(winnow(problem, max_updates=3000)))
    assert len(solutions) > 100
    assert np.all(np.diff([solution.updates for solution in solutions]) >= 0)
    assert np.array_equal(solutions[-1].a, at_once.a)
    assert solutions[-1].w == pytest.approx(at_once.w, rel=1e-9)


# ------------------------------------------------------------------------------------------- ends and extremes


@BOTH
def test_a_disjunction_is_learnt(balanced):
    """Winnow's own problem: x_1 or x_2 of many irrelevant bits. The number of bits enters by its logarithm."""
    random = np.random.default_rng(0)
    X = (random.random((400, 1000)) < 0.1).astype(float)
    signs = np.where(X[:, 1] + X[:, 2] > 0, 1.0, -1.0)
    problem = Separation(sparse.csr_array(X), signs, Norm.L1, True)
    solution = last(winnow(problem, balanced=balanced))
    assert solution.proposes
    assert min(sides(problem, solution)) > 0.0
    assert solution.updates < 32.0 / 3.0 * math.log(n_weights(problem, balanced)) * 5.0**2  # w = (2, 2), b = -1


@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("epsilon", [None, 0.1])
def test_ends_without_a_plane(order, epsilon):
    X, signs = np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([1.0, -1.0])
    problem = Separation(X, signs, Norm.L1, True)
    solution = last(winnow(problem, order=order, epsilon=epsilon, max_updates=5000))
    assert not solution.proposes
    assert solution.updates == 5000
    solution = last(winnow(problem, order=order, epsilon=epsilon, max_sweeps=7))
    assert not solution.proposes
    assert solution.sweeps == 7


def test_the_last_allowed_update_may_settle():
    X, signs = noise(30, 40, seed=2)
    problem = Separation(X, signs, Norm.L1, True)
    free = last(winnow(problem))
    assert free.proposes
    assert last(winnow(problem, max_updates=free.updates)).proposes
    assert not last(winnow(problem, max_updates=free.updates - 1)).proposes


@pytest.mark.parametrize("order", list(Order))
def test_no_weight_overflows(order):
    """Two rows that a long step mistakes in turn, for ever: p grows, and exp(eta p) far beyond the largest double."""
    rows = np.tile([[7.0, -8.0, 7.0, -6.0], [-6.0, 9.0, -6.0, 5.0]], (10, 1))
    problem = Separation(rows, np.ones(20), Norm.L1, False)
    solution = last(winnow(problem, epsilon=0.5, order=order, max_updates=30_000))
    assert solution.searched * np.abs(rows.T @ solution.a).max() / 9.0 > 1000.0
    assert solution.w == pytest.approx(np.array([1.0, 1.0, 1.0, -1.0]) / 36.0)
    assert last(winnow(problem, order=order)).proposes
    negative = Separation(np.array([[-1.0, -1.0]]), np.ones(1), Norm.L1, False)
    solution = last(winnow(negative, epsilon=0.5, balanced=False, order=order, max_updates=5000))
    assert solution.w == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("epsilon", [0.0, -0.1, 0.6, math.nan])
def test_epsilon_has_a_range(epsilon):
    problem = Separation(np.eye(2), np.array([1.0, -1.0]), Norm.L1, True)
    with pytest.raises(ValueError, match="epsilon"):
        winnow(problem, epsilon=epsilon)


def test_a_shuffled_run_depends_on_its_seed_alone():
    X, signs = noise(50, 60, seed=3)
    problem = Separation(X, signs, Norm.L1, True)
    first, again, other = (last(winnow(problem, order=Order.SHUFFLED, seed=seed)) for seed in (1, 1, 2))
    assert np.array_equal(first.a, again.a)
    assert not np.array_equal(first.a, other.a)


def test_a_table_of_zeros():
    """With a bias one class alone is separable; through the origin nothing is."""
    zeros = np.zeros((3, 2))
    assert last(winnow(Separation(zeros, np.ones(3), Norm.L1, True))).proposes
    assert not last(winnow(Separation(zeros, np.ones(3), Norm.L1, False), max_updates=50)).proposes
