"""The widest street, or rows whose hulls meet, of a table that is read by blocks: scans and a small working set.

    start      W = a sample of the rows
    repeat     p = the nearest points of the hulls of W, in memory, by any solver of separations
               no plane has a margin above |p| / 2 (through the origin: |p|), for W is a part of all rows
               scan, one pass:   h_i = y_i p.x_i of all rows
                   the least h of each class      p has a margin of (h_+ + h_-) / 2|p| (through the origin: h / |p|)
                   the rows inside the street, and those that are little outside of it, join W
    until      no row is inside: p is nearest for all rows
               the hulls of W meet: so do those of all rows, and its weights say where. No further pass is needed

level_g is what the nearest points of W have of h, in class g: a row with h below it is inside. Rows that carry no
weight and are not near the street leave W. |p| never rises, and falls where a row from inside has joined; so no W comes
twice. Where no row is inside that was not in W before, float64 can do no more, and the run ends.

A pass costs one product with all rows and brings at most 2 ROWS_PER_COLUMN d rows, the lowest. State: the ids of W;
whoever goes on fetches its rows in one pass. In memory: W, within `most_rows`.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.data.executor import check_interrupt
from maxmargin.data.labelled import RowIds
from maxmargin.data.table import Vector, safe_scale
from maxmargin.problems.block_margin import Ask, BlockMargin, Facts, ListedRows, PassState, SignedBlock
from maxmargin.problems.protocol import Iterate, shown, varying
from maxmargin.problems.statement import Norm, Separation
from maxmargin.solvers import registry
from maxmargin.solvers.by_passes.taken_rows import Named, OfEachClass, TakenRows, groups_of, lowest_of_each, taken
from maxmargin.solvers.passes import values_of

NEAR = 0.3  # of |p|^2: rows so little outside of the street join W, too: a pass costs more than rows
ROWS_PER_COLUMN = 40  # of each class, in one round
LEAST_ROWS = 1000  # of each class, in one round
SAMPLE = 10_000  # rows of each class, if they fit
MANY = 300  # rows of W with more columns than `registry.LARGE`: beyond, one dual variable at a time
AIM = 0.5  # of the gap that is asked for: rows that are inside by less leave the rest of it to rounding


class Street(NamedTuple):
    """The nearest points of the hulls of W: p, the rows that carry them. `meets`: p = 0 as far as float64 can tell."""

    p: Vector
    carrying: ListedRows
    meets: bool
    settled: bool  # no row that is not in W is known to be inside


class RowsInStreet(NamedTuple):
    """A part of a scan: the least h of each group, and the lowest of the rows that are below the levels plus `near`."""

    p: Vector
    levels: Vector
    near: float
    most: int

    def __call__(self, block: SignedBlock) -> FoundInStreet:
        h = block.signs * values_of(block.X, self.p)
        groups = groups_of(block.signs, len(self.levels) == 2)
        least = np.array([h[groups == g].min(initial=math.inf) for g in range(len(self.levels))])
        low = np.flatnonzero(h < self.levels[groups] + self.near)
        return FoundInStreet(least, taken(block, block.costs, low, self.most, h[low], by_class=len(self.levels) == 2))


class FoundInStreet(NamedTuple):
    least: Vector
    rows: TakenRows

    def and_of(self, other: FoundInStreet) -> FoundInStreet:
        return FoundInStreet(np.minimum(self.least, other.least), self.rows.and_of(other.rows))


@dataclass(eq=False)
class HardMarginState(PassState):
    """W by its ids, in its order; none before the sample."""

    ids: RowIds = varying(factory=lambda: np.zeros(0, dtype=np.uint64), grows=True)


class ShownStreet(NamedTuple):
    """A street for the judge to see, and the solver's own pass: whoever leads makes one pass of both."""

    street: Street
    ask: Ask


Steps = Generator[Ask | ShownStreet, Any, Street]


def street_by_passes(problem: BlockMargin, facts: Facts, state: HardMarginState, tol: float, memory: float) -> Steps:
    """Better and better streets; the last one is returned. It asks for the sample, then for a scan of each street."""
    scale = safe_scale(facts.largest)
    most = most_rows(facts, memory)
    if len(state.ids):
        named = ListedRows.sorted(state.ids, np.zeros(len(state.ids)))
        W = in_order(state.ids, (yield Ask(Named(), named.by_block())))
    else:
        W = yield Ask(OfEachClass(max(2, min(SAMPLE, most // 4)), facts.sides))
    while True:
        check_interrupt()
        separation = Separation(scaled(W.X, scale), W.signs, Norm.L2, problem.fit_intercept)
        state.ids = W.ids
        iterate = nearest_points(separation, tol)
        carrying = np.flatnonzero(iterate.a)
        listed = ListedRows.sorted(W.ids[carrying], iterate.a[carrying])
        street = Street(iterate.w * scale, listed, iterate.meets, False)
        if iterate.meets or not np.any(iterate.w):
            return street
        square = float(iterate.w @ iterate.w)
        groups = groups_of(W.signs, problem.fit_intercept)
        h = W.signs * values_of(separation.X, iterate.w)
        sums = np.bincount(groups, iterate.a)
        levels = np.bincount(groups, iterate.a * h) / np.where(sums > 0.0, sums, 1.0)
        room = max(LEAST_ROWS, ROWS_PER_COLUMN * facts.n_columns)
        scan = RowsInStreet(street.p, levels, NEAR * square, int(max(2, min(room, most // 4))))
        seen = yield ShownStreet(street, Ask(scan))
        slack = AIM * tol * square / len(levels)
        inside = seen.rows.keys < levels[seen.rows.groups] - slack
        if np.all(np.isin(seen.rows.ids[inside], W.ids)):
            return street._replace(settled=True)
        low = np.zeros(len(h), dtype=bool)
        low[lowest_of_each(h, W.ids, groups, most // 4)] = True
        kept = (iterate.a > 0.0) | (low & (h < levels[groups] + NEAR * square))
        W = W.of(np.flatnonzero(kept)).with_those(seen.rows)


def row_in_memory(facts: Facts) -> float:
    """Bytes of a row of W: as it is, in float64, and while it is joined."""
    return 2.0 * facts.row_bytes + (2.0 * facts.row_bytes if facts.is_sparse else 8.0 * facts.n_columns) + 64.0


def least_rows(facts: Facts) -> int:
    """With so many rows a round can bring new ones beside those that carry weight."""
    return LEAST_ROWS if facts.is_sparse else 8 * (facts.n_columns + 2)


def most_rows(facts: Facts, memory: float) -> int:
    """Of W."""
    return max(least_rows(facts), int(memory / row_in_memory(facts)))


def floor(facts: Facts) -> float:
    """Bytes that it needs beside the blocks."""
    return min(least_rows(facts), facts.n_rows) * row_in_memory(facts)


def scaled(X: Any, scale: float) -> Any:
    return X if scale == 1.0 else X.astype(np.float64) * scale


def nearest_points(problem: Separation, tol: float) -> Iterate:
    """The last iterate of the solver that suits these rows: the more columns there are, the more rows carry weight, and
    no matrix of them is made."""
    many = problem.n_columns > registry.LARGE and min(problem.n_rows, problem.n_columns) > MANY
    run = registry.separation(problem, solver="coordinate_descent" if many else registry.AUTO, tol=tol)
    last = Iterate(np.zeros(problem.n_columns), 0.0, np.zeros(problem.n_rows))
    for iterate in shown(run.iterates):
        last = iterate
        check_interrupt()
        if iterate.proposes:
            break
    run.iterates.close()
    return last


def in_order(ids: RowIds, found: TakenRows) -> TakenRows:
    """The rows that were fetched, in the order of the ids."""
    places = np.searchsorted(found.ids, ids)
    return found.of(places)
