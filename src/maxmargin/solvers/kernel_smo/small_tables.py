"""SMO among all rows of a small table, whose kernel rows are made in the loop, when they are first needed.

A working set (`working_set`) pays for the square of its kernel before its first step, is chosen again in every round,
and each of its parts is a call. Where rows are few and short, one compiled loop is faster: a step picks its pair among
all rows, by the same rules, moves the slopes of all, and makes the two rows of the kernel if they are not there.

    cost      a step: a few passes over the rows; a kernel row, n times the columns, for each variable that ever moves

Where it takes more steps than there are rows, most of them are between few rows: then it is left to the others.

The slopes v are moved in float32. At the end of a round, values += the change of a times the kernel's rows, as always
(`active_rows`), so that errors do not add up.

References: [fan2005], [chang2011].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin._loops import njit
from maxmargin.data.table import Vector
from maxmargin.solvers.kernel_smo.active_rows import Table, Terms, View
from maxmargin.solvers.kernel_smo.kernel_rows import DenseTable, Values, add_rows, exponential
from maxmargin.solvers.kernel_smo.row_cache import RowCache
from maxmargin.solvers.kernel_smo.working_set import (
    FAR,
    FLATTEST,
    LEAST_KEY,
    NONE,
    TWO,
    ZERO,
    key_of,
    may_rise,
    place_of,
)

SMALL, SHORT = 3000, 64  # rows, and numbers in each of them
PRECISION = 0.01  # a round goes on to this part of its violation: steps cost little, a look at them much
EXPONENTIAL = -1  # in the place of a degree
ONE = np.float32(1.0)
STEPS = 0.5  # times the rows: after as many in a round it is faster to have fewer active rows


class SmallTable(Table):
    """All rows of a problem, in play together: their kernel rows are in `rows` where `made` says so."""

    def __init__(self, cache: RowCache, terms: Terms, a: Vector, values: Vector) -> None:
        super().__init__(cache, terms, a, values)
        cache.forget()
        self.rows, self.made = cache.values, np.zeros(len(a), np.bool_)
        self.most_steps = int(STEPS * len(a))

    @staticmethod
    def suits(cache: RowCache, terms: Terms) -> bool:
        """Few short rows, for all of which there is memory; a kernel whose diagonal is 1; and a bias."""
        rows = cache.rows
        if not (isinstance(rows, DenseTable) and rows.kernel.is_exponential and terms.fit_intercept):
            return False
        return rows.n_columns <= SMALL and len(rows.table) <= SHORT and len(cache.owner) == rows.n_columns

    def step(self, view: View) -> int:
        """One round; returns its steps."""
        table, signs, upper, q = self.cache.rows, self.terms.signs, self.terms.upper, self.terms.q
        assert isinstance(table, DenseTable)
        before, slopes = self.a.copy(), (view.slopes - view.b).astype(np.float32)
        up, low = np.where(view.rising, slopes, -FAR), np.where(view.falling, slopes, FAR)
        bent = np.zeros(len(signs), np.float32) if q is None else q.astype(np.float32)
        enough = np.float32(max(PRECISION * view.violation, 0.0))
        kernel = lines_of(table), self.rows, self.made, np.float32(1.0) + bent, bent
        steps = int(move_pairs(*kernel, signs, up, low, self.a, upper, enough, self.most_steps))
        changes = signs * (self.a - before)
        moved = np.flatnonzero(changes)
        add_rows(self.rows, moved, changes[moved].astype(np.float32), self.values, 0, len(signs))
        return steps


class Lines(NamedTuple):
    """A `DenseTable` for loops: its lines (z, 1, |z|^2 / 2), r, and the degree; EXPONENTIAL stands for exp."""

    table: Values
    constant: np.float32
    degree: int


def lines_of(table: DenseTable) -> Lines:
    degree = EXPONENTIAL if table.kernel.is_exponential else int(table.kernel.degree)
    return Lines(table.table, np.float32(table.constant), degree)


@njit(fastmath={"contract", "reassoc"})
def make_row(lines: Any, i: Any, rows: Any) -> None:
    """exp((z, -|z|^2 / 2, -1).(z', 1, |z'|^2 / 2)), or ((z, r).(z', 1))^p, of row i with all others."""
    table, constant, degree = lines
    row, others, c = rows[i], table[-1], 0
    if degree == EXPONENTIAL:
        last, half = table.shape[0] - 2, -others[i]
        for t in range(row.shape[0]):
            row[t] = half - others[t]
    else:
        last = table.shape[0] - 1
        row[:] = constant
    while c + 4 <= last:
        v0, v1, v2, v3 = table[c, i], table[c + 1, i], table[c + 2, i], table[c + 3, i]
        t0, t1, t2, t3 = table[c], table[c + 1], table[c + 2], table[c + 3]
        for t in range(row.shape[0]):
            row[t] += (v0 * t0[t] + v1 * t1[t]) + (v2 * t2[t] + v3 * t3[t])
        c += 4
    while c < last:
        v0, t0 = table[c, i], table[c]
        for t in range(row.shape[0]):
            row[t] += v0 * t0[t]
        c += 1
    if degree == EXPONENTIAL:
        exponential(rows[i : i + 1], 0, row.shape[0])
        return
    for t in range(row.shape[0]):
        base, value = row[t], ONE
        for _ in range(degree):
            value *= base
        row[t] = value


@njit
def diagonal_of(lines: Any, n: Any) -> Any:
    """k(x, x) of each of n rows."""
    out = np.ones(n, np.float32)
    if lines.degree != EXPONENTIAL:
        for t in range(n):
            base = lines.constant
            for c in range(lines.table.shape[0] - 1):
                base += lines.table[c, t] * lines.table[c, t]
            for _ in range(lines.degree):
                out[t] *= base
    return out


@njit
def move_pairs(
    lines: Any, rows: Any, made: Any, diagonal: Any, bent: Any, signs: Any, up: Any, low: Any, a: Any, costs: Any,
    enough: Any, limit: Any,
) -> Any:  # fmt: skip
    """Move pairs until the violation is at most `enough`, or for so many steps; returns the steps.

    The `diagonal` is that of the kernel and of what is `bent`. `up` are the slopes of rows that may rise, and `low` of
    those that may fall; elsewhere they are far away.
    """
    n = a.shape[0]
    gain = np.zeros(n, np.float32)
    up_bits, low_bits, gain_bits = up.view(np.int32), low.view(np.int32), gain.view(np.int32)
    least_bits = np.empty(1, np.int32)
    least = least_bits.view(np.float32)
    step, steps = ZERO, 0
    of_i, of_j = gain, gain
    while True:
        top, bottom = LEAST_KEY, LEAST_KEY
        for t in range(n):
            change = step * (of_i[t] - of_j[t])
            up[t] -= change
            low[t] -= change
            top = max(top, key_of(up_bits[t]))
            bottom = max(bottom, np.int32(~key_of(low_bits[t])))
        i = place_of(top, up_bits)
        least_bits[0] = key_of(np.int32(~bottom))
        violation = up[i] - least[0]
        if not violation > enough or up[i] <= -FAR or steps >= limit:  # nor if it is not a number
            return steps
        if not made[i]:
            make_row(lines, i, rows)
            made[i] = True
        of_i, highest, best = rows[i], up[i], NONE
        own = diagonal[i]
        for t in range(n):
            above = max(highest - low[t], ZERO)
            gain[t] = above * above / max(own + diagonal[t] - TWO * of_i[t], FLATTEST)
            best = max(best, gain_bits[t])
        j = place_of(best, gain_bits)
        if not gain[j] > ZERO:  # it vanished in float32, or is not a number
            return steps
        if not made[j]:
            make_row(lines, j, rows)
            made[j] = True
        of_j, v_i, v_j = rows[j], up[i], low[j]
        curvature = max(own + diagonal[j] - TWO * of_i[j], FLATTEST)
        room_i = costs[i] - a[i] if signs[i] > 0.0 else a[i]
        room_j = a[j] if signs[j] > 0.0 else costs[j] - a[j]
        far = min(float(v_i - v_j) / float(curvature), room_i, room_j)
        a[i] = (costs[i] if signs[i] > 0.0 else 0.0) if far == room_i else a[i] + signs[i] * far
        a[j] = (0.0 if signs[j] > 0.0 else costs[j]) if far == room_j else a[j] - signs[j] * far
        step = np.float32(far)
        v_i -= step * bent[i]
        v_j += step * bent[j]
        up[i] = v_i if may_rise(signs[i], a[i], costs[i]) else -FAR
        low[i] = v_i if may_rise(-signs[i], a[i], costs[i]) else FAR
        up[j] = v_j if may_rise(signs[j], a[j], costs[j]) else -FAR
        low[j] = v_j if may_rise(-signs[j], a[j], costs[j]) else FAR
        steps += 1
