"""Block pivoting: the nearest points of hulls of few rows in many dimensions, from their Gram matrix alone.

    primal    min 1/2 l'K l,   l >= 0,   sum of l over each group = 1,         K_ij = z_i.z_j
    optimal   h = K l;   h_i = level_g where l_i > 0,   h_i >= level_g where l_i = 0

Guess which rows are free (l_i > 0); solve the equations for them; a free row with l_i < 0 and a held row with
h_i < level_g are wrong. One step moves all wrong rows to the other side at once. If their number does not fall
for a few steps, only the last wrong row is moved, which ends in finitely many steps.

With more columns than rows nearly every row touches the street, and a handful of Cholesky factorisations replaces
hundreds of single exchanges. Cost: k^3/3 for k free rows, five to ten times.
Needs affinely independent free rows; where they are not, the caller takes Wolfe's algorithm.
Reference: [judice1994]. Differs: the equalities of the groups, by lifting (K + kappa^2 [same group]).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.lapack import dpstrf

from maxmargin.data.executor import check_interrupt
from maxmargin.data.table import Matrix, Vector

PATIENCE = 3  # whole-block steps without progress before single exchanges


class FreeRows(NamedTuple):
    """The rows with l > 0, their weights, and what is needed to refine them."""

    rows: NDArray[np.intp]
    weights: Vector
    factor: tuple[NDArray[np.float64], bool]


def nearest_points(
    K: NDArray[np.float64], groups: NDArray[np.intp], free: NDArray[np.bool_], tol: float, max_steps: int = 60
) -> tuple[FreeRows | None, int]:
    """The free rows at the optimum (None if block pivoting does not apply), and the steps taken."""
    n_groups = int(groups.max()) + 1
    kappa_squared = float(K.diagonal().max()) or 1.0
    free = free.copy()
    fewest_wrong, patience = len(groups) + 1, PATIENCE
    for step in range(1, max_steps + 1):
        check_interrupt()
        rows = np.flatnonzero(free)
        if len(np.unique(groups[rows])) < n_groups:
            return None, step
        indicator = (groups[rows, None] == np.arange(n_groups)).astype(float)
        try:
            factor = cho_factor(
                K[np.ix_(rows, rows)] + kappa_squared * (indicator @ indicator.T), overwrite_a=True, check_finite=False
            )
        except LinAlgError:
            return None, step
        columns = cho_solve(factor, indicator, check_finite=False)
        multipliers = np.linalg.solve(indicator.T @ columns, np.ones(n_groups))
        weights = columns @ multipliers
        h = K[:, rows] @ weights
        level = np.array([weights[groups[rows] == g] @ h[rows[groups[rows] == g]] for g in range(n_groups)])
        wrong = ~free & (h < level[groups] - tol * abs(level.sum()))
        wrong[rows[weights < 0.0]] = True
        count = int(wrong.sum())
        if count == 0:
            return FreeRows(rows, weights, factor), step
        if count < fewest_wrong:
            fewest_wrong, patience = count, PATIENCE
        else:
            patience -= 1
        if patience >= 0:
            free ^= wrong
        else:
            last = np.flatnonzero(wrong)[-1]
            free[last] = not free[last]
    return None, max_steps


def refined(
    found: FreeRows, X: Matrix, signs: Vector, groups: NDArray[np.intp], centred: bool, times: int = 2
) -> FreeRows:
    """Newton steps whose residual comes from the rows themselves: the Gram matrix has rounded twice as much away.

    `centred` says that the Gram matrix is that of centred rows. Steps that lead nowhere are not taken.
    """
    rows, weights, factor = found
    members = groups[rows]
    indicator = (members[:, None] == np.arange(int(groups.max()) + 1)).astype(float)
    columns = cho_solve(factor, indicator, check_finite=False)
    for _ in range(times):
        reach = X @ (X.T @ (signs * weights))
        reach = reach - reach.mean() if centred else reach
        weights = weights + cho_solve(factor, -signs * reach, check_finite=False)
        missing = 1.0 - indicator.T @ weights
        weights = weights + columns @ np.linalg.solve(indicator.T @ columns, missing)
    if not np.all(indicator.T @ np.maximum(weights, 0.0) < 1.5):  # far more was moved than rounding accounts for
        return found
    return FreeRows(rows, np.maximum(weights, 0.0), factor)


def coordinates(K: NDArray[np.float64]) -> NDArray[np.float64]:
    """As few coordinates as reproduce the Gram matrix: K = Z Z' by pivoted Cholesky."""
    lower, pivots, rank, _ = dpstrf(K, lower=1, tol=1e-14 * float(K.diagonal().max()))
    Z = np.zeros((K.shape[0], rank))
    Z[pivots - 1] = np.tril(lower)[:, :rank]
    return Z
