"""Conjugate gradients on a face of the box: one step for all dual variables that lie between their bounds.

    minimise  m(x) = slope.x + 1/2 x'Hx,    -a_i <= x_i <= u_i - a_i,        H v = y (X X'(y v) + rho y.v) + q v

over the free rows {0 < a_i < u_i}, starting from x = 0. One round runs conjugate gradients, preconditioned by the
diagonal of H, without regard to the bounds. Where some are crossed after a few iterations, x moves straight towards
that point up to the first bound, or towards its projection on the box, whichever lowers m more. (The projection
serves where many bounds are crossed; the straight way where a few are, on a long way along which m hardly bends.)
Rows at a bound stay there, and the next round works on the smaller face. No round raises m: the dual does not fall.

Cost: one iteration reads the free rows twice. Reference: [more1991] Algorithm GPCG, its second half.
Differs: the sweeps of coordinate descent replace its projected gradients; bounds may be crossed for a few iterations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from maxmargin._loops import njit, numbers_per_call
from maxmargin.data.rows import add, dot, touch_row
from maxmargin.data.table import Vector

NUMBERS_PER_CALL = 20_000_000  # a compiled call cannot be interrupted: it reads at most so many numbers
PATIENCE = 10  # iterations between looks at the bounds
REDUCTION = 0.02  # of the residual
ROUNDS = 25
ROUNDING = 1e-14
AHEAD = 2  # rows: the memory is asked for a row this long before it is visited


@njit
def slopes_of(dual: Any, point: Any, free: Any, slopes: Any) -> None:
    """G_i of the rows in `free`."""
    rows, signs, _, diagonal, _, rho = dual
    a, w, bias = point
    b = bias[0] + rho * bias[1]
    for k in range(free.shape[0]):
        if k + AHEAD < free.shape[0]:
            touch_row(rows, free[k + AHEAD])
        i = free[k]
        slopes[k] = signs[i] * (dot(rows, i, w) + b) - 1.0 + diagonal[i] * a[i]


@njit
def curve(dual: Any, free: Any, v: Any, image: Any, u: Any) -> float:
    """image = H v on the face, u = X'(y v); returns v.Hv."""
    rows, signs, _, diagonal, _, rho = dual
    n = free.shape[0]
    for j in range(u.shape[0]):
        u[j] = 0.0
    total, curvature = 0.0, 0.0
    for k in range(n):
        if k + AHEAD < n:
            touch_row(rows, free[k + AHEAD])
        change = signs[free[k]] * v[k]
        total += change
        if change != 0.0:
            add(rows, free[k], change, u)
    for k in range(n):
        if k + AHEAD < n:
            touch_row(rows, free[k + AHEAD])
        i = free[k]
        image[k] = signs[i] * (dot(rows, i, u) + rho * total) + diagonal[i] * v[k]
        curvature += v[k] * image[k]
    return curvature


@njit
def conjugate_gradients(dual: Any, free: Any, inside: Any, state: Any, energy: float, enough: float, most: int) -> Any:
    """At most `most` iterations on the rows `inside`, until the energy of the residual is at most `enough`.

    Returns the energy and the number of iterations.
    """
    scale = dual.curvature
    x, residual, direction, image, u = state
    for iteration in range(most):
        if energy <= enough:
            return energy, iteration
        curvature = curve(dual, free, direction, image, u)
        if not curvature > 0.0:
            return 0.0, iteration
        step, previous = energy / curvature, energy
        energy = 0.0
        for k in range(free.shape[0]):
            if inside[k]:
                x[k] += step * direction[k]
                residual[k] -= step * image[k]
                energy += residual[k] * residual[k] / scale[free[k]]
        for k in range(free.shape[0]):
            if inside[k]:
                direction[k] = residual[k] / scale[free[k]] + energy / previous * direction[k]
    return energy, most


class Move:
    """From x to the best point of the segment `along`: m changes by descent t + curvature t^2 / 2, t <= longest."""

    def __init__(self, slope: Vector, along: Vector, turn: Vector, longest: float) -> None:
        self.along, self.turn = along, turn
        descent, curvature = float((slope * along).sum()), float((along * turn).sum())
        lowest = -descent / curvature if curvature > 0.0 else np.inf
        self.step = max(0.0, min(longest, lowest)) if descent < 0.0 else 0.0
        if longest >= 1.0 and self.step > 0.99:  # the target itself, to the last bit
            self.step = 1.0
        self.gain = -(self.step * descent + 0.5 * self.step * self.step * curvature)


class SubspaceStep:
    """One attempt on the free rows of `point`. After run(): `fell`, by how much m fell, `iterations`, `crossed`."""

    def __init__(self, dual: Any, point: Any, free: Any, numbers_per_row: float) -> None:
        self.dual, self.point, self.free = dual, point, free
        n, d = len(free), len(point.w)
        self.at_once = max(1, int(numbers_per_call(NUMBERS_PER_CALL) // (2 * (numbers_per_row * n + d) + 1)))
        self.u = np.empty(d)
        self.iterations, self.crossed, self.fell = 0, 0, 0.0

    def run(self, most: int) -> Iterator[None]:
        """At most about `most` iterations; pauses between calls of the compiled loops."""
        dual, a, free = self.dual, self.point.a, self.free
        n = len(free)
        slope, image = np.empty(n), np.empty(n)
        slopes_of(dual, self.point, free, slope)
        below, above = -a[free], dual.upper[free] - a[free]
        scale = dual.curvature[free]
        x, image_of_x = np.zeros(n), np.zeros(n)
        inside = np.ones(n, dtype=np.bool_)
        enough = REDUCTION**2 * float((slope * slope / scale).sum())
        for _ in range(ROUNDS):
            residual = np.where(inside, -(slope + image_of_x), 0.0)
            state = (x.copy(), residual, residual / scale, image, self.u)
            energy = float((residual * residual / scale).sum())
            if energy <= enough or self.iterations >= most:
                break
            target = state[0]
            crosses = False
            while energy > enough and self.iterations < most and not crosses:
                limit = min(self.at_once, PATIENCE, most - self.iterations)
                energy, made = conjugate_gradients(dual, free, inside, state, energy, enough, limit)
                self.iterations += made
                yield
                crosses = bool(((target < below) | (target > above)).any())
            # One way: straight towards the target, up to the first bound. H target is known from the residual.
            along = target - x
            turn = np.where(inside, -(slope + residual) - image_of_x, 0.0)
            straight = Move(slope + image_of_x, along, turn, self.first_bound(x, along, below, above))
            best, arrived = straight, target
            if crosses:  # the other: towards its projection, which has the rows beyond their bounds at these
                projected = np.clip(target, below, above)
                curve(dual, free, projected, image, self.u)
                bent = Move(slope + image_of_x, projected - x, image - image_of_x, 1.0)
                if bent.gain > straight.gain:
                    best, arrived = bent, projected
            if not best.gain > 0.0:
                break
            x = arrived.copy() if best.step == 1.0 else x + best.step * best.along
            image_of_x += best.step * best.turn
            self.fell += best.gain
            near = ROUNDING * (np.abs(below) + np.abs(x))
            empty, full = inside & (x <= below + near), inside & (x >= above - near)
            x = np.where(empty, below, np.where(full, above, x))
            inside &= ~(empty | full)
            if not crosses:
                break
        self.crossed = n - int(np.count_nonzero(inside))
        if self.fell > 0.0:
            self.take(x, below, above)

    def first_bound(self, x: Vector, along: Vector, below: Vector, above: Vector) -> float:
        """How much of the way along can be gone within the box, at most all of it."""
        room = np.where(along > 0.0, above - x, below - x)
        moves = along != 0.0
        return float(min(1.0, (room[moves] / along[moves]).min(initial=1.0)))

    def take(self, x: Vector, below: Vector, above: Vector) -> None:
        """a + x, exactly at the bounds where x is, and w with it."""
        a, w, _ = self.point
        free = self.free
        moved = np.where(x <= below, 0.0, np.where(x >= above, self.dual.upper[free], a[free] + x))
        moved = np.clip(moved, 0.0, self.dual.upper[free])
        add_rows(self.dual, free, moved - a[free], w)
        a[free] = moved


@njit
def add_rows(dual: Any, free: Any, change: Any, w: Any) -> None:
    """w += X'(y change)."""
    for k in range(free.shape[0]):
        if change[k] != 0.0:
            add(dual.rows, free[k], dual.signs[free[k]] * change[k], w)
