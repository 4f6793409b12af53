"""Wolfe's algorithm shows each of its steps to whoever asks for them; nobody else waits for that."""

import itertools

import numpy as np
import pytest

from maxmargin import HardMarginSVM
from maxmargin.problems.statement import Norm, Separation
from maxmargin.run.observation import observing
from maxmargin.solvers.hulls import wolfe
from maxmargin.solvers.hulls.nearest import nearest_hulls


def clouds(n, d, seed, gap=1.0):
    random = np.random.default_rng(seed)
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = random.normal(size=(n, d))
    X[:, 0] = np.abs(X[:, 0]) * signs + 0.5 * gap * signs
    return X, signs


def iterates(X, signs, **options):
    """Copies of what the solver shows, whose arrays are still its own."""
    problem = Separation(X, signs, Norm.L2, True)
    return [(one.w.copy(), one.b, one.a.copy(), one.proposes, one.meets) for one in nearest_hulls(problem, **options)]


@pytest.mark.parametrize(("n", "d"), [(40, 2), (200, 3), (240, 12), (700, 4)])
def test_every_step_is_shown_and_the_end_is_the_same_to_the_bit(n, d):
    X, signs = clouds(n, d, seed=n)
    steps, jump = iterates(X, signs, stepwise=True), iterates(X, signs)
    assert len(steps) > len(jump)
    for one, other in zip(steps[-1][:3], jump[-1][:3], strict=True):
        np.testing.assert_array_equal(one, other)
    assert [proposes for *_, proposes, _ in steps] == [False] * (len(steps) - 1) + [True]
    sizes = [np.linalg.norm(w) for w, *_ in steps]
    assert np.all(np.diff(sizes) <= 1e-12 * sizes[0])
    corrals = [set(np.flatnonzero(a)) for _, _, a, *_ in steps]
    assert len(corrals[0]) == 2
    assert all(len(later - earlier) <= 1 for earlier, later in itertools.pairwise(corrals))
    for w, _, a, *_ in steps:
        assert a[signs > 0].sum() == pytest.approx(1.0)
        assert a[signs < 0].sum() == pytest.approx(1.0)
        np.testing.assert_allclose((a * signs) @ X, w, atol=1e-9)
        corral = np.column_stack([signs[:, None] * X, signs > 0, signs < 0])[np.flatnonzero(a)]
        assert np.linalg.matrix_rank(corral) == len(corral)


def test_a_fit_that_is_only_observed_is_not_interrupted_after_each_step(monkeypatch):
    X, signs = clouds(200, 3, seed=5)
    calls, honest = [], wolfe.descend
    monkeypatch.setattr(wolfe, "descend", lambda *given: calls.append(given[-1]) or honest(*given))
    seen = []
    with observing(lambda iterate, problem: seen.append(iterate.updates)):
        once = HardMarginSVM().fit(X, signs)
    assert (len(calls), len(seen)) == (1, 1)
    calls.clear()
    seen.clear()
    with observing(lambda iterate, problem: seen.append(iterate.updates), stepwise=True):
        stepwise = HardMarginSVM().fit(X, signs)
    assert calls == [0, *[1] * (len(calls) - 1)]
    assert len(seen) == len(calls) > 3
    np.testing.assert_array_equal(once.coef_, stepwise.coef_)
    assert once.certificate_.margin_lower == stepwise.certificate_.margin_lower


def test_hulls_that_meet_are_approached_step_by_step():
    X = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [3.0, 3.0]])
    signs = np.array([1.0, 1.0, -1.0, -1.0, 1.0])
    steps = iterates(X, signs, stepwise=True)
    assert [meets for *_, meets in steps] == [False] * (len(steps) - 1) + [True]
    assert len(steps) >= 2
