"""The path that is replayed: its rows are where a plain loop over the formulas has them, and it ends at the rule."""

import numpy as np
import pytest
import scipy.sparse as sparse
from block_margin_oracle import problem_of, table_of

from maxmargin.data.executor import pass_over
from maxmargin.problems.losses import HINGE
from maxmargin.solvers.by_passes import replayed_path
from maxmargin.solvers.by_passes.replayed_path import HELD, LENGTHS, WIDTHS, Path, Walk, advance

RANDOM = np.random.default_rng(7)
N, D = 300, 3
X = RANDOM.normal(size=(N, D)) + 0.5
SIGNS = np.where(X @ [1.0, -1.0, 0.5] + RANDOM.logistic(size=N) > 0.0, 1.0, -1.0)
COSTS = RANDOM.random(N) + 0.5
TABLE = table_of(X, (SIGNS > 0).astype(int), [100, 0, 150, 50], COSTS)


class Signed:
    """The blocks as the problem sees them."""

    n_blocks = TABLE.n_blocks

    def __init__(self, table, problem):
        self.table, self.problem = table, problem

    def block(self, k):
        return self.problem.of(self.table.block(k))


def walked(plane, m, planes, targets, taken):
    """p, q, s, xi of each row, all rows at once."""
    f = 1.0 - SIGNS * (X @ plane[:-1] + plane[-1])
    s, xi = np.where(f < 0.0, 2.0 * m - f, 2.0 * m), np.where(f < 0.0, 2.0 * m, 2.0 * m + f)
    p = np.where(f < 0.0, m / s, 1.0 - m / xi)
    q = 1.0 - p
    for step, goal, part in zip(planes, targets, taken, strict=True):
        c = SIGNS * (X @ step[:-1] + step[-1])
        e = np.where(f < 0.0, goal, 2.0 * goal * p) - p * s
        h = np.where(f < 0.0, 2.0 * goal * q, goal) - q * xi
        dp = part * (e / p - h / q - c) / (s / p + xi / q)
        ds, dxi = (part * e - s * dp) / p, (part * h + xi * dp) / q
        moved = np.clip(p + dp, HELD * p, 1.0 - HELD * q)
        more = np.maximum(0.0, np.maximum(HELD * s - (s + ds), HELD * xi - (xi + dxi)))
        p, q, s, xi = moved, 1.0 - moved, s + ds + more, xi + dxi + more
        f = f - part * c
        assert np.allclose(xi - s, f, atol=1e-12)
    return p, q, s, xi


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_pass_has_the_sums_of_where_the_rows_are(form):
    table = table_of(form(X), (SIGNS > 0).astype(int), [100, 0, 150, 50], COSTS)
    plane, planes = np.array([0.4, -0.2, 0.3, 0.1]), 0.1 * RANDOM.normal(size=(3, D + 1))
    targets, taken = np.array([0.05, 0.01, 0.004]), np.array([1.0, 0.25, 1.0])
    centre = np.zeros(D) if form is sparse.csr_array else np.array([0.5, 0.4, 0.3])
    seen = pass_over(Walk(HINGE, plane, 0.2, planes, targets, taken, centre), Signed(table, problem_of(HINGE)))
    p, q, s, xi = walked(plane, 0.2, planes, targets, taken)
    f, t = xi - s, COSTS / (s / p + xi / q)
    Z = np.hstack([X - centre, np.ones((N, 1))])
    lower = np.tril(seen.matrix[: D + 1, : D + 1])
    close = {"rtol": 1e-9, "atol": 1e-12}
    assert np.allclose(lower, np.tril(Z.T @ (t[:, None] * Z)), **close)
    assert np.allclose(seen.matrix[D + 1, : D + 1], (t * SIGNS * (xi - s)) @ Z, **close)
    target = np.where(f < 0.0, 1.0 / p - 2.0, 2.0 - 1.0 / q)
    assert np.allclose(seen.matrix[D + 2, : D + 1], (t * SIGNS * target) @ Z, **close)
    less = 0.004 / (0.008 + np.abs(f))
    rule = np.where(f > 0.0, 1.0 - less, less)
    for side, sign in enumerate((1.0, -1.0)):
        mine = np.where(sign == SIGNS, COSTS, 0.0)
        assert np.allclose(seen.matrix[D + 3 + side, : D + 1], (mine * p) @ Z, **close)
        assert np.allclose(seen.matrix[D + 5 + side, : D + 1], (mine * rule) @ Z, **close)
    expected = [COSTS @ (p * s + q * xi), COSTS @ np.maximum(0.0, f), COSTS.sum(), np.sum(np.minimum(p, q) > 0.05)]
    assert np.allclose(seen.sums, expected, **close)
    assert seen.within.tolist() == [np.count_nonzero(np.abs(f) < width) for width in WIDTHS]
    before = f + SIGNS * (X @ planes[-1][:-1] + planes[-1][-1])
    at = before - LENGTHS[:, None] * (before - f)
    merits = (np.maximum(0.0, at) - 0.004 * np.log1p(np.abs(at) / 0.008)) @ COSTS
    assert np.allclose(seen.merits, merits, **close)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_it_ends_at_the_centre_that_the_rule_tells(fit_intercept):
    """The minimum of M: w = sum a y x and sum a y = 0 for the a of the rule; gap within AIM of what was asked."""
    problem, tol = problem_of(HINGE, fit_intercept=fit_intercept), 1e-5
    path, primal, dual = Path.at(np.zeros(D), 0.0, 1.0, np.zeros(D)), np.inf, 0.0
    blocks = Signed(TABLE, problem)
    for _ in range(40):
        place = advance(problem, path, pass_over(path.part(HINGE), blocks), primal, tol)
        primal, dual = min(primal, place.primal), max(dual, place.dual)
    assert len(path.taken) <= 41
    a = COSTS * place.rule.slopes(1.0 - SIGNS * (X @ place.rule.w + place.rule.b), HINGE)
    assert np.allclose((a * SIGNS) @ X, place.rule.w, atol=1e-8 * a.sum())
    assert abs(a @ SIGNS) * fit_intercept <= 1e-8 * a.sum()
    assert 0.0 <= (primal - dual) / primal <= tol
    assert place.rule.width == pytest.approx(replayed_path.AIM * tol * primal / (2.0 * COSTS.sum()), rel=1e-3)


def test_a_step_that_is_too_long_is_shortened():
    """A plane far off, and a direction that leads away: the next pass has a shorter part of it."""
    problem = problem_of(HINGE)
    path = Path.at(np.zeros(D), 0.0, 0.1, np.zeros(D))
    path.planes, path.targets, path.taken, path.merit = np.full((1, D + 1), 50.0), np.array([0.05]), np.ones(1), 1.0
    place = advance(problem, path, pass_over(path.part(HINGE), Signed(TABLE, problem)), np.inf, 1e-3)
    assert place.is_shortened
    assert 0.0 < path.taken[0] < 1.0
    assert not advance(problem, path, pass_over(path.part(HINGE), Signed(TABLE, problem)), np.inf, 1e-3).is_shortened
    assert len(path.taken) == 2
