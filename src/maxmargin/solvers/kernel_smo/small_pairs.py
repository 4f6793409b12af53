"""Many small problems on one table, such as all pairs of classes: SMO among all rows of each, in one call.

A problem of some hundred rows is solved in less time than a solver takes to be set up: to look at it, to choose a part
of it, to carry changes to the rest. So nothing is set up here. One compiled loop has the rows of the problem beside
each other, moves pairs of variables (`small_tables`), and looks at the gap from time to time, by what it has at hand:

    v_i = y_i - sum_j a_j y_j k_ij     the slopes
    b                                  the middle between the largest slope that may rise and the least that may fall
    t_i = y_i (v_i - b)                what row i misses
    P - D = sum_i C_i max(0, t_i) - a_i t_i,       P = 1/2 sum_i a_i (1 - y_i v_i) + sum_i C_i max(0, t_i)

The slopes are kept less b, in float32, and move with every step: where it matters they are small, and lose little. From
time to time they are made anew from the values of the rows, float64, which follow the changes of a. Where the judge is
not content, the values begin anew as well, from those that it has measured.

Cost: a few passes over the rows of the problem for each step, and a row of the kernel for each variable that moves. The
memory for these is used by one problem after the other. Where rows of the table are long, all values of the kernel
among the rows of a problem are made before its first step, by a product of matrices.

References: [fan2005], [chang2011].
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from maxmargin._loops import njit
from maxmargin.data.table import Vector
from maxmargin.solvers.kernel_smo.kernel_rows import DenseTable, KernelRows, Rows, Values, add_rows
from maxmargin.solvers.kernel_smo.small_tables import Lines, diagonal_of, lines_of, move_pairs
from maxmargin.solvers.kernel_smo.working_set import FAR, ZERO, may_rise

LONGEST = 300  # numbers in each row of the table: with more, products of matrices make rows faster
NO_LINES = Lines(np.empty((0, 0), np.float32), np.float32(0.0), 0)
OFTEN, SELDOM = 32, 0.125  # steps between two looks at the gap: so many, or as a part of the rows
REFRESHED = 1.0  # times the rows: so many steps, and the slopes are made anew
MOST_STEPS = 15  # times the rows: a problem that takes more is left to others


class Moved(NamedTuple):
    """Dual variables, the steps that led to them, and whether these have led to an end: the gap seems to be as small as
    it was to be, or float32 sees no further step."""

    a: Vector
    steps: int
    has_ended: bool


class SmallPairs:
    """Solves one problem after the other, each told by its rows of the table; the kernel is divided by `scale`.

    `worth` is how many numbers the steps of a problem may pass over, where another way would be faster than more.
    """

    def __init__(self, rows: KernelRows, scale: float, most_rows: int, worth: float = math.inf) -> None:
        self.rows, self.scale, self.worth = rows, scale, worth
        self.memory: Values = np.empty(most_rows * most_rows, np.float32)

    @staticmethod
    def makes_long_rows(rows: KernelRows) -> bool:
        """Whether the values of a problem are made before its first step."""
        return not (isinstance(rows, DenseTable) and len(rows.table) <= LONGEST)

    def solve(self, rows: Rows, signs: Vector, costs: Vector, a: Vector, values: Vector, level: float) -> Moved:
        """From these variables and values on, until the relative gap seems to be at most `level`."""
        n, a, costs, most = (
            len(rows),
            a * self.scale,
            costs * self.scale,
            int(min(MOST_STEPS * len(rows), self.worth / len(rows))),
        )
        kernel, table = self.memory[: n * n].reshape(n, n), self.rows
        if isinstance(table, DenseTable) and len(table.table) <= LONGEST:
            lines, made = lines_of(table), np.zeros(n, np.bool_)
        else:
            lines, made = NO_LINES, np.ones(n, np.bool_)
            make_among(table, rows, kernel)
        steps, has_ended = solve_small(lines, rows, kernel, made, signs, costs, values.copy(), a, level, most)
        return Moved(np.minimum(a, costs) / self.scale, int(steps), bool(has_ended))


@np.errstate(over="ignore", invalid="ignore")
def make_among(table: KernelRows, rows: Rows, out: Values) -> None:
    """The kernel among these rows; a product of a matrix with itself takes half of the work."""
    if not isinstance(table, DenseTable):
        table.restricted(rows).meet(table.left(rows), out)
        return
    is_exponential = table.kernel.is_exponential
    z = np.take(table.table[: -2 if is_exponential else -1], rows, axis=1)
    np.matmul(z.T, z, out=out)
    if is_exponential:
        halves = table.table[-1, rows]
        out -= halves
        out -= halves[:, None]
    else:
        out += np.float32(table.constant)
    table.finish(out, 0, len(rows))


@njit
def solve_small(
    lines: Any, chosen: Any, rows: Any, made: Any, signs: Any, costs: Any, values: Any, a: Any, level: Any, most: Any
) -> Any:
    """Move a until the gap is at most `level` of P, for so many steps; the steps, and whether it ended before."""
    n = a.shape[0]
    own = Lines(np.empty((lines.table.shape[0], n), np.float32), lines.constant, lines.degree)
    for c in range(own.table.shape[0]):
        line, target = lines.table[c], own.table[c]
        for t in range(n):
            target[t] = line[chosen[t]]
    diagonal = np.diag(rows).copy() if n and made[0] else diagonal_of(own, n)
    up, low, bent = np.empty(n, np.float32), np.empty(n, np.float32), np.zeros(n, np.float32)
    then = a.copy()
    at_once, steps, fresh = max(OFTEN, int(SELDOM * n)), 0, 0
    b = begin(signs, costs, values, a, up, low)
    while True:
        moved = move_pairs(own, rows, made, diagonal, bent, signs, up, low, a, costs, ZERO, min(at_once, most - steps))
        steps += moved
        fresh += moved
        if steps >= most:
            return steps, False
        if is_small_enough(signs, costs, up, low, b, a, level) or fresh == 0:
            return steps, True
        if moved < at_once or fresh >= REFRESHED * n:
            follow(rows, signs, then, a, values)
            b = begin(signs, costs, values, a, up, low)
            fresh = 0


@njit
def begin(signs: Any, costs: Any, values: Any, a: Any, up: Any, low: Any) -> Any:
    """The slopes less b, where they may rise and where they may fall; returns b."""
    highest, lowest = -np.inf, np.inf
    for t in range(a.shape[0]):
        slope = signs[t] - values[t]
        highest = max(highest, slope) if may_rise(signs[t], a[t], costs[t]) else highest
        lowest = min(lowest, slope) if may_rise(-signs[t], a[t], costs[t]) else lowest
    b = 0.5 * (highest + lowest)
    for t in range(a.shape[0]):
        slope = np.float32(signs[t] - values[t] - b)
        up[t] = slope if may_rise(signs[t], a[t], costs[t]) else -FAR
        low[t] = slope if may_rise(-signs[t], a[t], costs[t]) else FAR
    return b


@njit
def follow(rows: Any, signs: Any, then: Any, a: Any, values: Any) -> None:
    """values += the change of a times the kernel's rows; `then` is a from now on."""
    n, count = a.shape[0], 0
    moved, changes = np.empty(n, np.intp), np.empty(n, np.float32)
    for t in range(n):
        if a[t] != then[t]:
            moved[count], changes[count] = t, np.float32(signs[t] * (a[t] - then[t]))
            then[t] = a[t]
            count += 1
    add_rows(rows, moved[:count], changes[:count], values, 0, n)


@njit
def is_small_enough(signs: Any, costs: Any, up: Any, low: Any, b: Any, a: Any, level: Any) -> Any:
    """Whether P - D is at most `level` of P, for slopes less b."""
    highest, lowest = -FAR, FAR
    for t in range(a.shape[0]):
        highest = max(highest, up[t])
        lowest = min(lowest, low[t])
    middle, gap, primal = 0.5 * (float(highest) + float(lowest)), 0.0, 0.0
    for t in range(a.shape[0]):
        slope = float(up[t] if up[t] > -FAR else low[t])
        missing = signs[t] * (slope - middle)
        pays = costs[t] * max(missing, 0.0)
        gap += pays - a[t] * missing
        primal += pays + 0.5 * a[t] * (1.0 - signs[t] * (slope + b))
    return gap <= level * primal
