"""Dual coordinate descent for the widest street on sparse and wide data.

    primal    P(w, b) = 1/2 |w|^2     subject to  y_i (w.x_i + b) >= 1
    dual      D(a) = sum_i a_i - 1/2 |w(a)|^2,    a >= 0,   sum_i a_i y_i = 0
    link      w(a) = sum_i a_i y_i x_i

One step moves one dual variable to its exact maximum, the others held. The equality forbids single moves, so it is
traded for a proximal term on b: the primal gains (b - centre)^2 / (2 rho), the slope of row i becomes

    G_i = y_i (w.x_i + centre + rho S) - 1,     S = sum_i a_i y_i,     a_i <- max(0, a_i - G_i / (|x_i|^2 + rho))

and after each sweep the centre moves to centre + rho S: S goes to zero, and nothing of the penalty remains.
A row with a_i = 0 whose slope lies above everything seen in the last sweep is left out until the next full pass.

Where single steps crawl, because many free rows pull against each other, one *face step* solves for all of them:
conjugate gradients on {a_i > 0}, then a projected search along the answer.

Cost: one sweep reads every active row once. References: [hsieh2008] Algorithm 1, [more1991].
Differs: the unregularised b by its moving centre; face steps between the sweeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from maxmargin._numba import njit
from maxmargin.data.matrix import Matrix, Vector, is_sparse, row_squares
from maxmargin.data.rows import add, dot, rows_of
from maxmargin.problems.separation import Separation, Solution
from maxmargin.solvers.scan import scan

SWEEPS_AT_FIRST = 10
SWEEPS_BETWEEN = 4
NUMBERS_PER_CALL = 30_000_000  # a compiled call cannot be interrupted: it reads at most so many numbers
FACE_ITERATIONS = 40
FACE_REDUCTION = 0.02


@njit
def sweep(
    rows: Any, signs: Any, order: Any, a: Any, w: Any, squares: Any, rho: float, bias: Any, ceiling: float, seen: Any
) -> Any:
    """Visit the rows in `order`; bias = (centre, S); seen = (lowest, highest) projected slope of this sweep.

    Returns how many rows stay active; they come first in `order`.
    """
    active = order.shape[0]
    k = 0
    while k < active:
        i = order[k]
        slope = signs[i] * (dot(rows, i, w) + bias[0] + rho * bias[1]) - 1.0
        if a[i] == 0.0 and slope > ceiling:
            active -= 1
            order[k], order[active] = order[active], i
            continue
        k += 1
        projected = slope if a[i] > 0.0 else min(slope, 0.0)
        seen[0], seen[1] = min(seen[0], projected), max(seen[1], projected)
        moved = max(0.0, a[i] - slope / (squares[i] + rho))
        change = (moved - a[i]) * signs[i]
        if change != 0.0:
            a[i] = moved
            add(rows, i, change, w)
            bias[1] += change
    return active


def dual_coordinate_descent(problem: Separation, tol: float = 1e-6, seed: int = 0) -> Iterator[Solution]:
    """A solution after each round of sweeps; settled when its relative gap is at most tol."""
    X, signs = problem.X, problem.signs
    n, d = X.shape
    random = np.random.default_rng(seed)
    rows, squares = rows_of(X), row_squares(X)
    rows_per_call = max(1, NUMBERS_PER_CALL * n // max(1, X.data.size if is_sparse(X) else X.size))
    rho = (0.1 * float(squares.mean()) or 1.0) if problem.fit_intercept else 0.0
    a, w, bias = np.zeros(n), np.zeros(d), np.zeros(2)
    active = np.flatnonzero(squares + rho > 0.0)
    ceiling, sweeps, face_steps = np.inf, 0, 0
    while True:
        for _ in range(SWEEPS_AT_FIRST if sweeps == 0 else SWEEPS_BETWEEN):
            active = random.permutation(active)
            seen = np.array([np.inf, -np.inf])
            kept = []
            for start in range(0, len(active), rows_per_call):
                order = active[start : start + rows_per_call]
                stay = sweep(rows, signs, order, a, w, squares, rho, bias, ceiling, seen)
                kept.append(order[:stay])
            active = np.concatenate(kept)
            ceiling = seen[1] if seen[1] > 0.0 else np.inf
            bias[0] += rho * bias[1]
            sweeps += 1
        solution, h = judge(problem, a, sweeps, face_steps, tol)
        yield solution
        if solution.settled:
            return
        slope = signs * (h + bias[0] + rho * bias[1]) - 1.0
        face_steps += face_step(X, signs, a, slope, squares, rho)
        w = X.T @ (signs * a)
        bias[1] = float(signs @ a)
        bias[0] += rho * bias[1]
        active, ceiling = np.flatnonzero(squares + rho > 0.0), np.inf


def judge(problem: Separation, a: Vector, sweeps: int, face_steps: int, tol: float) -> tuple[Solution, Vector]:
    """The plane of the class-balanced a with its relative gap as the solver sees it, and X w(a)."""
    signs = problem.signs
    plus, minus = float(a[signs > 0].sum()), float(a[signs < 0].sum())
    h = scan(problem.X, np.ascontiguousarray(problem.X.T @ (signs * a), dtype=np.float64))
    if problem.fit_intercept and plus > 0.0 and minus > 0.0:
        p = problem.X.T @ (a * np.where(signs > 0, 1.0 / plus, -1.0 / minus))
    else:
        p = problem.X.T @ (signs * a) / max(plus + minus, np.finfo(float).tiny)
    p = np.asarray(p, dtype=np.float64).ravel()
    reach = scan(problem.X, p)
    square = float(p @ p)
    if problem.fit_intercept:
        lowest_plus, highest_minus = float(reach[signs > 0].min()), float(reach[signs < 0].max())
        b, floor = -0.5 * (lowest_plus + highest_minus), lowest_plus - highest_minus
    else:
        b, floor = 0.0, float((signs * reach).min())
    gap = (square - floor) / square if square > 0.0 else np.inf
    details = {"meets": False, "gap": gap}
    return Solution(p, b, a.copy(), gap <= tol, sweeps + face_steps, sweeps, details), h


@njit
def curve(rows: Any, signs: Any, free: Any, v: Any, rho: float, u: Any, image: Any) -> float:
    """image = H v on the face, H v = y (X X'(y v) + rho y.v); returns v.Hv. `u` holds X'(y v)."""
    for j in range(u.shape[0]):
        u[j] = 0.0
    total, curvature = 0.0, 0.0
    for k in range(free.shape[0]):
        change = signs[free[k]] * v[k]
        total += change
        if change != 0.0:
            add(rows, free[k], change, u)
    for k in range(free.shape[0]):
        image[k] = signs[free[k]] * (dot(rows, free[k], u) + rho * total)
        curvature += v[k] * image[k]
    return curvature


@njit
def conjugate_gradients(
    rows: Any, signs: Any, free: Any, diagonal: Any, rho: float, state: Any, energy: float, enough: float, most: int
) -> Any:
    """At most `most` iterations, until the energy of the residual is at most `enough`; returns (energy, iterations)."""
    x, residual, direction, image, u = state
    n = free.shape[0]
    for iteration in range(most):
        if energy <= enough:
            return energy, iteration
        curvature = curve(rows, signs, free, direction, rho, u, image)
        if curvature <= 0.0:
            return 0.0, iteration
        step, previous = energy / curvature, energy
        energy = 0.0
        for k in range(n):
            x[k] += step * direction[k]
            residual[k] -= step * image[k]
            energy += residual[k] * residual[k] / diagonal[k]
        for k in range(n):
            direction[k] = residual[k] / diagonal[k] + energy / previous * direction[k]
    return energy, most


def face_step(X: Matrix, signs: Vector, a: Vector, slope: Vector, squares: Vector, rho: float) -> int:
    """Move all free rows at once towards the minimum on their face; a changes in place. Returns iterations.

    The minimum of slope.x + 1/2 x'Hx over the free rows, by conjugate gradients preconditioned by the diagonal of H.
    """
    rows, free = rows_of(X), np.flatnonzero(a > 0.0)
    diagonal, residual = squares[free] + rho, -slope[free]
    state = (np.zeros(len(free)), residual, residual / diagonal, np.empty(len(free)), np.empty(X.shape[1]))
    x, _, _, image, u = state
    energy = float(np.sum(residual * residual / diagonal))
    enough = FACE_REDUCTION**2 * energy
    numbers = (X.data.size if is_sparse(X) else X.size) * len(free) // X.shape[0] + X.shape[1]
    at_once = max(1, NUMBERS_PER_CALL // (2 * numbers))
    iterations = 0
    while iterations < FACE_ITERATIONS and energy > enough:
        most = min(at_once, FACE_ITERATIONS - iterations)
        energy, made = conjugate_gradients(rows, signs, free, diagonal, rho, state, energy, enough, most)
        iterations += made
    step = 1.0
    while step > 1e-3:  # projected search: the objective must fall
        change = np.maximum(a[free] + step * x, 0.0) - a[free]
        if float(np.sum(slope[free] * change)) + 0.5 * curve(rows, signs, free, change, rho, u, image) < 0.0:
            a[free] += change
            break
        step /= 2.0
    return iterations
