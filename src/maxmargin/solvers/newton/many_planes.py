"""Semismooth Newton on many small problems in one compiled call, each from w = 0 to its end.

    rows       z = (x - mean, 1), so that the bias is the last weight, and numbers far from zero lose no digits
    step       (I + Z_J'D Z_J) dv = -g on the rows J that pay and are before the knee, D = C / bend; I is 0 at the bias
    line       as far as the objective falls, by the exact search of `semismooth`; then the bias goes to its best
    end        once J is final a step is exact: the gap 1/2 |g|^2 + |b y'a| falls far below what is asked for at once

The mathematics is that of `semismooth`, and so are its loops; the systems are those of `short_path`. What rows miss is
computed anew in each step. Cost of a step: |J| d^2 / 2 + d^3 / 3 + 3 n d multiplications.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin._loops import njit
from maxmargin.problems.many_margins import ManyMargins, Proposals
from maxmargin.solvers.interior_point.short_path import factored, inner, solve
from maxmargin.solvers.newton.semismooth import LINE_PRECISION, MOST_TRIALS, PATIENCE, ROUNDING, move_block, slope_block

FINER = 1e-3  # of tol: to what the gap falls in the last step, or in one more
MOST_STEPS = 50  # a dozen are usual: what needs more is left to others


def proposals(many: ManyMargins, tol: float) -> Proposals:
    """A plane and dual variables for each problem; where Newton's steps lead nowhere, the last that were found."""
    n, d = many.X.shape
    found = Proposals(np.zeros((len(many), d)), np.zeros(len(many)), np.zeros(n), np.zeros(len(many), dtype=np.int64))
    shape = (many.loss.bend, many.loss.box, many.loss.knee)
    solve_each(
        many.X, many.signs, many.costs, many.edges, shape, many.fit_intercept, FINER * tol, found.w, found.b, found.a,
        found.steps,
    )  # fmt: skip
    return found._replace(a=np.minimum(found.a, many.upper))


@njit
def solve_each(
    X: Any, signs: Any, costs: Any, edges: Any, shape: Any, bias: bool, tol: float, planes: Any, biases: Any, a: Any,
    steps: Any,
) -> None:  # fmt: skip
    """Problem after problem; `shape` is the bend of the loss, its box, and its knee."""
    longest, d = 0, X.shape[1]
    for k in range(edges.shape[0] - 1):
        longest = max(longest, edges[k + 1] - edges[k])
    Z, miss = np.empty((longest, d + 1)), np.empty((2, longest))
    matrices, vectors = np.empty((3, d + 1, d + 1)), np.empty((6, d + 1))
    for k in range(edges.shape[0] - 1):
        begin, end = edges[k], edges[k + 1]
        rows, v, mean = Z[: end - begin], vectors[4], vectors[5]
        centre(X[begin:end], bias, mean, rows)
        steps[k] = newton(
            rows, signs[begin:end], costs[begin:end], shape, bias, tol, miss[0, : end - begin],
            miss[1, : end - begin], a[begin:end], v, vectors[0], vectors[1], vectors[2], vectors[3], matrices,
        )  # fmt: skip
        planes[k] = v[:d]
        biases[k] = v[d] - inner(v, mean, d)


@njit
def centre(X: Any, bias: bool, mean: Any, Z: Any) -> None:
    """Z = (X - mean, 1); without a bias the rows stay where they are."""
    n, d = X.shape
    mean[:] = 0.0
    if bias:
        for i in range(n):
            for j in range(d):
                mean[j] += X[i, j] / n
    for i in range(n):
        for j in range(d):
            Z[i, j] = X[i, j] - mean[j]
        Z[i, d] = 1.0 if bias else 0.0


@njit
def newton(
    Z: Any, signs: Any, costs: Any, shape: Any, bias: bool, tol: float, r: Any, e: Any, a: Any, v: Any, g: Any, dv: Any,
    scale: Any, residual: Any, matrices: Any,
) -> int:  # fmt: skip
    """v = (w, b) becomes the plane and a its dual variables; returns the steps that it took."""
    n, k = Z.shape
    d, (bend, box, knee) = k - 1, shape
    M, A, L = matrices[0], matrices[1], matrices[2]
    v[:] = 0.0
    steps, fruitless, least, lowest = 0, 0, np.inf, np.inf
    while True:
        for i in range(n):
            r[i] = 1.0 - signs[i] * inner(Z[i], v, k)
        shift = best_on_line(r, signs, costs, bend, knee, 0.0, 0.0, 0.0, 0.0) if bias else 0.0
        v[d] += shift
        primal = move_block(r, signs, costs, bend, box, shift, a, 0, n) + 0.5 * inner(v, v, d)
        g[:] = v
        g[d] = 0.0
        for i in range(n):
            if a[i] > 0.0:
                for j in range(k):
                    g[j] -= signs[i] * a[i] * Z[i, j]
        gap = 0.5 * inner(g, g, d) + abs(v[d] * g[d])
        fruitless = 0 if gap < 0.9 * least or primal < lowest * (1.0 - 1e-12) else fruitless + 1
        least, lowest = min(least, gap), min(lowest, primal)
        if not gap > tol * primal or fruitless == PATIENCE or steps == MOST_STEPS:
            return steps
        if not direction(Z, costs, bend, knee, bias, r, a, g, dv, scale, residual, M, A, L):
            return steps
        for i in range(n):
            e[i] = signs[i] * inner(Z[i], dv, k)
        flat = LINE_PRECISION * abs(inner(g, dv, d))
        t = best_on_line(r, e, costs, bend, knee, inner(v, dv, d), inner(dv, dv, d), 1.0, flat)
        for j in range(k):
            v[j] += t * dv[j]
        steps += 1


@njit(fastmath={"reassoc", "contract"})
def direction(
    Z: Any, costs: Any, bend: float, knee: float, bias: bool, r: Any, a: Any, g: Any, dv: Any, scale: Any,
    residual: Any, M: Any, A: Any, L: Any,
) -> bool:  # fmt: skip
    """Newton's step, from the sum M over the rows that pay and are before the knee; whether it could be solved."""
    n, k = Z.shape
    M[:], count = 0.0, 0
    for i in range(n):
        if a[i] > 0.0 and r[i] < knee:
            z, weight = Z[i], costs[i] / bend
            count += 1
            for p in range(k):
                row, t = M[p], weight * z[p]
                for q in range(p + 1):
                    row[q] += t * z[q]
    for j in range(k):
        g[j] = -g[j]
    if count == 0:
        dv[:] = g
        dv[k - 1] = 0.0
        solved = True
    else:
        solved = factored(M, bias, A, L, scale)
        if solved:
            solve(A, L, scale, bias, g, dv, residual)
    for j in range(k):
        g[j] = -g[j]
    return solved


@njit
def best_on_line(
    r: Any, e: Any, costs: Any, bend: float, knee: float, slope: float, curvature: float, t: float, flat: float
) -> float:  # fmt: skip
    """`semismooth.Line.lowest`, of all rows at once."""
    low, high, reach = -np.inf, np.inf, 1.0
    for _ in range(MOST_TRIALS):
        rows_slope, rows_curvature, magnitude = slope_block(r, e, costs, 1.0 / bend, knee, t, 0, r.shape[0])
        here, bent = slope + curvature * t + rows_slope, curvature + rows_curvature
        if abs(here) <= max(flat, ROUNDING * magnitude):
            break
        if here < 0.0:
            low = t
        else:
            high = t
        if bent > 0.0:
            following = t - here / bent
        else:
            following, reach = t - np.copysign(reach, here), 2.0 * reach
        if not low < following < high:
            following = 0.5 * (low + high)
        if following == t or not np.isfinite(following):
            break
        t = following
    return t
