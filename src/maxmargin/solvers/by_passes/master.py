"""The soft margin of the rows in memory, beside rows elsewhere whose dual variables are settled.

    min 1/2 |w|^2 + sum_{i in memory} u_i max(0, f_i) + sum_{i settled} a_i f_i,      f_i = 1 - y_i (w.x_i + b)

A settled row is linear, and all of them are one vector of either class: settled = sum a_i (x_i, 1). No objective of
this problem is above that of the whole, and its dual point, with the settled a_i, is one of the whole problem: what it
proves costs no pass. It is solved on the path of centres of the interior point in memory.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from maxmargin.data.executor import MOST_BLOCKS, Threads
from maxmargin.data.table import Vector
from maxmargin.problems.protocol import shown
from maxmargin.solvers.by_passes.taken_rows import Square, TakenRows
from maxmargin.solvers.interior_point.active_rows import ActiveRows
from maxmargin.solvers.interior_point.at_once import EXTRAS
from maxmargin.solvers.interior_point.merged_rows import MergedRows
from maxmargin.solvers.interior_point.method import MOST_STEPS, Following, followed
from maxmargin.solvers.interior_point.normal_equations import CHUNK, padded
from maxmargin.solvers.passes import inner

MATRICES = 6  # the system and its factors, beside one matrix for each run of rows that a thread may have


class Answer(NamedTuple):
    """The plane and a_i / u_i of the rows in memory."""

    w: Vector
    b: float
    shares: Vector


def solved(rows: TakenRows, costs: Vector, settled: Square | None, fit_intercept: bool, tol: float) -> Answer:
    """To a gap of tol, or as far as rounding lets it come."""
    everyone, answer = np.arange(rows.n_rows), Answer(np.zeros(rows.X.shape[1]), 0.0, np.zeros(rows.n_rows))
    best = math.inf
    with Threads.shared() as threads:
        merged = MergedRows(rows.X, everyone, everyone, rows.signs * costs, None, None)
        active = ActiveRows(merged, costs, 0.0, fit_intercept, threads)
        active.start_cold()
        if settled is not None:
            active.fixed = active.centred(settled.copy())
        for iterate in shown(followed(Following(active, tol), tol, MOST_STEPS)):
            if not iterate.gap < best:
                continue
            best = iterate.gap
            active.spread(1.0)
            answer = Answer(active.w.copy(), float(active.b), np.clip(active.a / costs, 0.0, 1.0))
            if iterate.proposes:
                break
    return answer


def bytes_of_matrices(n_columns: int) -> float:
    """What a master takes beside its rows, at most."""
    width = padded(n_columns + EXTRAS)
    return 8.0 * width * (MATRICES * width + MOST_BLOCKS * (width + CHUNK))


def dual_value(sums: Square, fit_intercept: bool) -> float:
    """D by the sums of a (x, 1) over either class: the heavier one scaled down, then both by the best factor."""
    (plus, minus), scales = sums[:, -1], (1.0, 1.0)
    gain = float(plus + minus)
    if fit_intercept:
        lighter = float(min(plus, minus))
        if not lighter > 0.0:
            return 0.0
        gain, scales = 2.0 * lighter, (lighter / float(plus), lighter / float(minus))
    w = scales[0] * sums[0, :-1] - scales[1] * sums[1, :-1]
    square = inner(w, w)
    t = min(1.0, gain / square) if square > 0.0 else 1.0
    value = t * (gain - 0.5 * t * square)
    return float(value) if math.isfinite(value) else 0.0
