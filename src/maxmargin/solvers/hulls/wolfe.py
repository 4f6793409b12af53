"""Wolfe's algorithm: the point nearest to the origin in a hull, or between two hulls.

    primal    min 1/2 |p|^2,   p = sum_i l_i z_i,   l >= 0,   sum of l over each group = 1
    optimal   h_i = z_i.p >= level_g for every row i of group g, with equality where l_i > 0

One group is a single hull (a plane through the origin); two groups with z_i = y_i x_i are the hulls of two
classes, and p joins their nearest points. The rows with l_i > 0 form the *corral*, always affinely independent.

    one major step    the row that violates its level most enters the corral (`descend`)
    minor steps       x = the weights of the nearest point of the corral's affine hull; if x > 0 it is the new l;
                      otherwise l moves towards x until a weight vanishes, and that row leaves (`settle`)
    ends              level_g = sum l_i h_i over group g; these add up to |p|^2. Any other p' has p'.p >= sum_g min h_i:
                      none is shorter than (1 - tol) |p| once the gap, sum_g (level_g - min h_i), is at most tol |p|^2

Lifted rows (z_i, kappa e_g) make the corral linearly independent, and R'R = their Gram matrix is all that is
kept: an entering row is orthogonalised twice against the corral (as accurate as QR without storing Q), a
leaving row is rotated out, and each solve is refined once against the rows themselves.

Cost of a major step: m d + k d + k^2 for m rows, k in the corral. |p| falls at every step, so no corral comes
twice. Reference: [wolfe1976]. Differs: two groups; the lifted factor; stops on the relative gap.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import njit

REORDER = {"reassoc", "contract"}  # sums may be reordered, so that they run in vector registers

# The loops below spell out `for s in range(k): x[s] = 0.0`: an assignment to a slice takes the compiler a second.


class End(IntEnum):
    """Why `descend` returned."""

    NEAREST = 0  # the relative gap is at most tol
    AT_ORIGIN = 1  # the nearest point is the origin, as far as float64 can tell
    STALLED = 2  # rounding allows no further progress
    PAUSED = 3  # max_steps; call again to go on


NEAREST, AT_ORIGIN, STALLED, PAUSED = (int(end) for end in End)


class Corral(NamedTuple):
    """The state between calls: rows[:size[0]], their weights, and the upper triangular factor R."""

    rows: NDArray[np.int64]
    weights: NDArray[np.float64]
    factor: NDArray[np.float64]
    size: NDArray[np.int64]


def empty_corral(capacity: int) -> Corral:
    factor = np.zeros((capacity, capacity))
    return Corral(np.zeros(capacity, np.int64), np.zeros(capacity), factor, np.zeros(1, np.int64))


def start(Z: NDArray[np.float64], groups: NDArray[np.int64], n_groups: int, capacity: int) -> Corral:
    """One row of each group: the one nearest to the other group's mean (one group: to the origin)."""
    direction = sum(Z[groups == g].mean(axis=0) for g in range(n_groups))
    scores = Z @ direction
    corral, kappa = empty_corral(capacity), lift_of(Z)
    for g in range(n_groups):
        members = np.flatnonzero(groups == g)
        enter(Z, groups, kappa, corral, members[np.argmin(scores[members])], 1.0)
    return corral


def resume(
    Z: NDArray[np.float64],
    groups: NDArray[np.int64],
    capacity: int,
    rows: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> Corral:
    """The corral of an earlier run, among new rows."""
    corral, kappa, k = empty_corral(capacity), lift_of(Z), len(rows)
    lifted = Z[rows] @ Z[rows].T + kappa**2 * (groups[rows][:, None] == groups[rows][None, :])
    try:
        corral.factor[:k, :k] = np.linalg.cholesky(lifted).T
        corral.rows[:k], corral.weights[:k], corral.size[0] = rows, weights, k
    except np.linalg.LinAlgError:  # nearly dependent: row by row, leaving out what depends on the others
        for row, weight in zip(rows, weights, strict=True):
            enter(Z, groups, kappa, corral, row, weight)
        entered = slice(corral.size[0])
        totals = np.bincount(groups[corral.rows[entered]], corral.weights[entered])
        corral.weights[entered] /= totals[groups[corral.rows[entered]]]
    return corral


def lift_of(Z: NDArray[np.float64]) -> float:
    """kappa: of the size of the rows, so that the lifted Gram matrix is neither swamped nor lost."""
    return float(np.sqrt(np.max(np.einsum("ij,ij->i", Z, Z)))) or 1.0


@njit(fastmath=REORDER)
def product(Z: Any, i: int, p: Any) -> Any:
    """z_i . p."""
    total = 0.0
    for j in range(p.shape[0]):
        total += Z[i, j] * p[j]
    return total


@njit
def combine(Z: Any, rows: Any, x: Any, k: int, p: Any) -> None:
    """p = sum of x_s z_s over the corral."""
    for j in range(p.shape[0]):
        p[j] = 0.0
    for s in range(k):
        for j in range(p.shape[0]):
            p[j] += x[s] * Z[rows[s], j]


@njit
def solve_lower(R: Any, k: int, x: Any) -> None:
    """x <- R'^-1 x, along the lines of R as they lie in memory."""
    for s in range(k):
        x[s] /= R[s, s]
        for t in range(s + 1, k):
            x[t] -= R[s, t] * x[s]


@njit(fastmath=REORDER)
def solve_upper(R: Any, k: int, x: Any) -> None:
    """x <- R^-1 x."""
    for s in range(k - 1, -1, -1):
        total = 0.0
        for t in range(s + 1, k):
            total += R[s, t] * x[t]
        x[s] = (x[s] - total) / R[s, s]


@njit
def enter(Z: Any, groups: Any, kappa: float, corral: Any, row: int, weight: float) -> bool:
    """Append a row to the factor; False if it depends on the corral, which then stays as it is."""
    rows, R, k = corral.rows, corral.factor, corral.size[0]
    if k == R.shape[0]:
        return False
    d = Z.shape[1]
    column, correction, orthogonal, tip = np.zeros(k), np.empty(k), np.empty(d), np.zeros(2)
    length = kappa * kappa
    for j in range(d):
        orthogonal[j] = Z[row, j]
        length += orthogonal[j] * orthogonal[j]
    tip[groups[row]] = kappa
    for _ in range(2):  # twice is enough [daniel1976]
        for s in range(k):
            correction[s] = product(Z, rows[s], orthogonal) + kappa * tip[groups[rows[s]]]
        solve_lower(R, k, correction)
        for s in range(k):
            column[s] += correction[s]
        solve_upper(R, k, correction)
        for s in range(k):
            for j in range(d):
                orthogonal[j] -= correction[s] * Z[rows[s], j]
            tip[groups[rows[s]]] -= kappa * correction[s]
    height = tip[0] * tip[0] + tip[1] * tip[1]
    for j in range(d):
        height += orthogonal[j] * orthogonal[j]
    if not height > 1e-24 * length:
        return False
    for s in range(k):
        R[s, k] = column[s]
    R[k, k] = np.sqrt(height)
    rows[k] = row
    corral.weights[k] = weight
    corral.size[0] = k + 1
    return True


@njit
def leave(corral: Any, s: int) -> None:
    """Rotate column s out of the factor."""
    rows, weights, R, k = corral.rows, corral.weights, corral.factor, corral.size[0]
    for t in range(s, k - 1):
        rows[t] = rows[t + 1]
        weights[t] = weights[t + 1]
        for u in range(t + 2):
            R[u, t] = R[u, t + 1]
        # R is now upper Hessenberg in column t: one rotation of lines t, t+1 makes it triangular again.
        length = np.sqrt(R[t, t] * R[t, t] + R[t + 1, t] * R[t + 1, t])
        cosine, sine = (R[t, t] / length, R[t + 1, t] / length) if length > 0.0 else (1.0, 0.0)
        R[t, t] = length
        R[t + 1, t] = 0.0
        for u in range(t + 2, k):
            above, below = R[t, u], R[t + 1, u]
            R[t, u] = cosine * above + sine * below
            R[t + 1, u] = cosine * below - sine * above
    corral.size[0] = k - 1


@njit
def nearest_in_affine_hull(Z: Any, groups: Any, corral: Any, ones: Any, x: Any, p: Any) -> bool:
    """x = the weights of the point of the corral's affine hull that is nearest to the origin; False if rounding has
    left a factor that does not tell.

    R'R x = c_0 1_0 + c_1 1_1, where 1_g (`ones`) is 1 at the rows of group g, and c such that the weights of each group
    sum to one; then one step of refinement.
    """
    rows, R, k, n_groups = corral.rows, corral.factor, corral.size[0], ones.shape[0]
    sums = np.zeros((2, 2))
    sums[1, 1] = 1.0  # replaced when there is a second group
    for g in range(n_groups):
        for s in range(k):
            ones[g, s] = 1.0 if groups[rows[s]] == g else 0.0
        solve_lower(R, k, ones[g])
        solve_upper(R, k, ones[g])
        sums[g, g] = 0.0
    for g in range(n_groups):
        for s in range(k):
            sums[groups[rows[s]], g] += ones[g, s]
    determinant = sums[0, 0] * sums[1, 1] - sums[0, 1] * sums[1, 0]
    if not abs(determinant) > 0.0:
        return False
    for s in range(k):
        x[s] = 0.0
    change = np.zeros(k)
    for refinement in range(2):
        if refinement == 1:
            combine(Z, rows, x, k, p)
            for s in range(k):
                change[s] = -product(Z, rows[s], p)
            solve_lower(R, k, change)
            solve_upper(R, k, change)
        missing_0, missing_1 = 1.0, 0.0 if n_groups == 1 else 1.0
        for s in range(k):
            x[s] += change[s]
            if groups[rows[s]] == 0:
                missing_0 -= x[s]
            else:
                missing_1 -= x[s]
        c_0 = (missing_0 * sums[1, 1] - missing_1 * sums[0, 1]) / determinant
        c_1 = (missing_1 * sums[0, 0] - missing_0 * sums[1, 0]) / determinant
        for s in range(k):
            x[s] += c_0 * ones[0, s] + (c_1 * ones[1, s] if n_groups == 2 else 0.0)
    return True


@njit
def settle(Z: Any, groups: Any, corral: Any, ones: Any, x: Any, p: Any) -> int:
    """Minor steps: until the nearest point of the affine hull lies inside the corral's hull."""
    weights = corral.weights
    steps = 0
    while True:
        steps += 1
        if not nearest_in_affine_hull(Z, groups, corral, ones, x, p):
            return steps
        k = corral.size[0]
        reach, blocking = 1.0, k  # k: no row blocks the way
        for s in range(k):
            if x[s] <= 0.0:
                ratio = weights[s] / (weights[s] - x[s]) if weights[s] > x[s] else 0.0
                if blocking == k or ratio < reach:
                    reach, blocking = ratio, s
        for s in range(k):
            weights[s] = x[s] if blocking == k else weights[s] + reach * (x[s] - weights[s])
        if blocking == k:
            return steps
        leave(corral, blocking)


@njit
def descend(
    Z: Any, groups: Any, n_groups: int, kappa: float, corral: Any, tol: float, origin: float, max_steps: int
) -> Any:
    """Major steps until the relative gap is at most tol, |p| <= origin, or nothing more can be gained.

    Paused after max_steps, but not before it has made one major step. Returns (End, steps, p).
    """
    m, d = Z.shape
    p, x, h = np.empty(d), np.empty(corral.factor.shape[0]), np.empty(m)
    ones = np.empty((n_groups, corral.factor.shape[0]))
    barred = np.zeros(m, np.int64)  # the step at which a row was found to depend on the corral
    # of each group: min h_i, the same of rows that may enter, and level_g
    lowest, open_lowest, level = np.empty(2), np.empty(2), np.empty(2)
    entering = np.empty(2, np.int64)
    previous = np.inf
    first = steps = settle(Z, groups, corral, ones, x, p)
    while True:
        k = corral.size[0]
        combine(Z, corral.rows, corral.weights, k, p)
        square = 0.0
        for j in range(d):
            square += p[j] * p[j]
        if square <= origin * origin:
            return AT_ORIGIN, steps, p
        if not square < previous:  # nor where it is NaN
            return STALLED, steps, p
        for g in range(2):
            lowest[g] = open_lowest[g] = np.inf
            level[g] = 0.0
        for i in range(m):
            h[i] = product(Z, i, p)
            g = groups[i]
            if h[i] < lowest[g]:
                lowest[g] = h[i]
            if h[i] < open_lowest[g] and barred[i] != steps:
                open_lowest[g] = h[i]
                entering[g] = i
        for s in range(k):
            level[groups[corral.rows[s]]] += corral.weights[s] * h[corral.rows[s]]
        gap = level[0] - lowest[0]
        if n_groups == 2:
            gap += level[1] - lowest[1]
        if gap <= tol * square:
            return NEAREST, steps, p
        if steps - first >= max_steps:
            return PAUSED, steps, p
        g = 1 if n_groups == 2 and level[1] - open_lowest[1] > level[0] - open_lowest[0] else 0
        if not level[g] - open_lowest[g] > 0.1 * tol * square:
            return STALLED, steps, p
        if enter(Z, groups, kappa, corral, entering[g], 0.0):
            previous = square
            steps += settle(Z, groups, corral, ones, x, p)
        else:
            barred[entering[g]] = steps
