"""The dual variables of a small table to the last digits: an active set method, from weights that are nearly optimal.

With some rows at the ends of their boxes, the rows F between them are where their loss wants them at the optimum:

    (K_FF + Q) d + e = r,    sum_i d_i = -sum_i a_i y_i,    r_i = y_i (1 - q_i a_i) - w.phi(x_i) - b
    a_i y_i += d_i,    b += e

A step that would leave the box ends at its wall, and the row that is met there leaves F. If none is met, the row at an
end that is furthest on the wrong side of its edge enters F. When there is none, the conditions of optimality hold as
well as float64 can tell, and one more step takes away what rounding has left in the last. Without a bias there is no
b, no e, and no sum.

SMO in float32 proves its gap with weights that agree to a few digits; the same problem told in another way, a row of
weight k or k equal rows, then has the same answer to many.

Cost: n^2 kernel values, and |F|^3 multiplications a step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.table import Vector
from maxmargin.problems.statement import KernelMargin
from maxmargin.solvers.kernel_smo.edge_refinement import INSIDE
from maxmargin.solvers.kernel_smo.low_rank import ScaledKernel

MOST_ROWS = 150  # of a table: with more, a fit that is not asked for so many digits would notice
MOST_STEPS = 30
RIGHT = 1e-10  # of 1: a row that is on the wrong side of its edge by less is on it


def settled(problem: KernelMargin, a: Vector) -> Vector | None:
    """Weights that fulfil the conditions; None where the steps do not lead there."""
    kernel = ScaledKernel(problem, centred=problem.fit_intercept)
    K, signs, scale = kernel.columns(np.arange(problem.n_rows)), problem.signs, kernel.scale
    upper, a = problem.upper * scale, a * scale
    q = problem.diagonal / scale if problem.loss.is_smooth else np.zeros(len(a))
    low, high = a <= INSIDE * float(a.max(initial=0.0)), a >= (1.0 - INSIDE) * upper
    a, free = np.where(low, 0.0, np.where(high, upper, a)), ~(low | high)
    if np.count_nonzero(free) > problem.highest_rank + 1:  # the edges tell too little about so many
        return None
    b: float | None = 0.0 if problem.fit_intercept else None
    for _ in range(MOST_STEPS):
        rows = np.flatnonzero(free)
        found = on_edges(K, q, signs, a, b, rows)
        if found is None:
            return None
        target, b = found
        outside = (target < 0.0) | (target > upper[rows])
        if np.any(outside):
            wall = np.where(target < 0.0, 0.0, upper[rows])
            share = np.where(outside, (wall - a[rows]) / np.where(outside, target - a[rows], 1.0), np.inf)
            first = int(np.argmin(share))
            a[rows] += share[first] * (target - a[rows])
            a[rows[first]], free[rows[first]] = wall[first], False
            continue
        a[rows] = target
        beyond = signs * (K @ (signs * a) + (b or 0.0)) - (1.0 - q * a)
        wrong = np.where(free, 0.0, np.where(a > 0.0, beyond, -beyond))
        worst = int(np.argmax(wrong))
        if wrong[worst] <= RIGHT:
            if (found := on_edges(K, q, signs, a, b, rows)) is not None:
                a[rows] = np.clip(found[0], 0.0, upper[rows])
            return a / scale
        free[worst] = True
    return None


def on_edges(
    K: NDArray[np.float64], q: Vector, signs: Vector, a: Vector, b: float | None, rows: NDArray[np.intp]
) -> tuple[Vector, float | None] | None:
    """The weights of these rows that put them where they belong while the others stay; and the bias."""
    n, bias = len(rows), int(b is not None)
    if n == 0:
        return None
    system = np.ones((n + bias, n + bias))
    system[:n, :n] = K[np.ix_(rows, rows)]
    system[np.arange(n), np.arange(n)] += q[rows]
    own = signs[rows]
    missing = own * (1.0 - q[rows] * a[rows]) - K[rows] @ (signs * a) - (b or 0.0)
    if bias:
        system[n, n] = 0.0
        missing = np.append(missing, -float(np.sum(signs * a)))
    try:
        step = np.linalg.solve(system, missing)
        if not np.abs(system @ step - missing).max() <= RIGHT:
            step = np.linalg.lstsq(system, missing, rcond=np.finfo(float).eps)[0]
    except np.linalg.LinAlgError:
        step = np.linalg.lstsq(system, missing, rcond=np.finfo(float).eps)[0]
    return a[rows] + own * step[:n], None if b is None else b + float(step[n])
