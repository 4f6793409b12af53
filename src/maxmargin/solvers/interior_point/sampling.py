"""The sieve: a plane from some of the rows says which of all the rows matter.

    samples    n_0 < n_1 < n rows, each class in proportion, its costs raised to those of the whole class
    width      how far the margins of the next, larger problem may lie from those of this one. The error of a plane
               from n_k rows falls as 1 / sqrt(n_k), and its size is seen when the next sample moves the plane
    in active    rows whose loss bends within `width` of 1 - y (w.x + b); every other row is linear there, and all of
                 them are one vector

So the path of the whole problem starts near its end, with few rows. The rows that were left out are looked at by
whoever judges the proposal, and those on the wrong side come back. Where the samples mislead, as they do when few
rows are far larger than the rest, the path of all rows is followed from its beginning: the sieve may be wrong, its
answer is proven.

Cost: a few reads of the table, beside the work on the rows in active. References: [ferris2002], [jung2008].
Differs: the rows left out are chosen by a sample, not by the path.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.matrix import Vector
from maxmargin.data.threads import Threads
from maxmargin.problems.notebook import BLANK, Notebook, State
from maxmargin.problems.protocol import Iterate, SolverRun
from maxmargin.problems.statement import SoftMargin
from maxmargin.solvers.interior_point.active_rows import ActiveRows
from maxmargin.solvers.interior_point.merged_rows import MergedRows, merge_rows
from maxmargin.solvers.interior_point.method import follow_all_rows, follow_path

SMALLEST_SAMPLE = 5_000
ROWS_PER_COLUMN = 50  # in the smallest sample: with fewer, its plane separates the sample and says nothing
WORTH_SAMPLING = 5  # times the smallest sample
WORTH_TWO_SAMPLES = 20
FEW_OF_A_CLASS = 500  # rows, which a sample takes at least
SAMPLE_GAP = 1e-3  # to which a sample is solved, whatever is asked of the whole: a rough plane misleads
DEVIATIONS = 4.0  # of the margins: the width
FIRST_SHARE = 0.5  # of the rows in active, as long as no deviation is known
PATIENCE = 20  # steps for a gap of 1/2, or the samples have misled


def worth_sieving(n_rows: int, n_columns: int) -> bool:
    """Whether there are enough rows for a sample to pay."""
    return len(sample_sizes(n_rows, n_columns)) > 1


def sample_sizes(n: int, d: int) -> list[int]:
    """The numbers of rows, from the smallest sample to all."""
    first = max(SMALLEST_SAMPLE, ROWS_PER_COLUMN * d)
    if n < WORTH_SAMPLING * first:
        return [n]
    return [first, n] if n < WORTH_TWO_SAMPLES * first else [first, int(np.sqrt(first * n)), n]


def sampled_path(problem: SoftMargin, *, tol: float, notebook: Notebook = BLANK) -> SolverRun:
    """Solve samples of growing size, then follow the path of all rows from where they lead."""
    merged, bias = merge_rows(problem), problem.fit_intercept
    sizes = sample_sizes(len(merged.cost), int(merged.X.shape[1]))
    nothing = np.zeros(problem.n_rows)
    w, b, deviation, stage = np.zeros(merged.X.shape[1]), 0.0, 0.0, 0
    last = len(sizes) - 1

    def state() -> State:
        return {"w": w, "b": float(b), "deviation": deviation, "stage": stage}

    if (kept := notebook.page("sieve", state)) is not None:
        w, b, deviation, stage = (kept[name] for name in ("w", "b", "deviation", "stage"))
    with Threads() as threads:
        while stage < last:
            size, previous = sizes[stage], sizes[stage - 1] if stage > 0 else 0
            sample = draw(merged, size)
            active = ActiveRows(sample, np.abs(sample.cost), problem.loss.knee, bias, threads)
            if previous == 0:
                active.start_cold()
            else:
                start_near(active, w, b, deviation)
            for iterate in follow_path(active, SAMPLE_GAP, notebook=notebook):
                if iterate.proposes:
                    break
                details = {**iterate.details, "gap": 1.0}
                yield Iterate(iterate.w, iterate.b, nothing, False, iterate.updates, iterate.sweeps, details)
            if previous > 0:
                moved = active.values(active.units, active.w - w) + (active.b - b)
                deviation = float(np.sqrt(np.mean(moved * moved) * previous / size))
            w, b, stage = active.w, active.b, stage + 1
            notebook.page("sieve", state)
        if 0 < last == stage:
            active = ActiveRows(merged, problem.upper, problem.loss.knee, bias, threads)
            start_near(active, w, b, deviation)
            yield from follow_path(active, tol, PATIENCE, notebook)
        stage = last + 1
        notebook.page("sieve", state)
        yield from follow_all_rows(problem, merged, threads, tol, notebook)


def start_near(active: ActiveRows, w: Vector, b: float, deviation: float) -> None:
    """Put the rows within DEVIATIONS of the margin in active; the nearer half, if no deviation is known yet."""
    width = DEVIATIONS * deviation
    if deviation == 0.0:
        missing = 1.0 - np.sign(active.merged.cost) * (active.values(np.arange(active.n), w) + b)
        width = float(np.quantile(np.abs(missing - np.clip(missing, 0.0, active.knee)), FIRST_SHARE)) or 1.0
    active.start_near(w, b, width / DEVIATIONS, width)


def draw(merged: MergedRows, size: int) -> MergedRows:
    """About that many rows, the same in every run, with costs that sum to those of their class."""
    random = np.random.default_rng(0)
    n = len(merged.cost)
    parts: list[NDArray[np.int64]] = []
    factors = []
    for members in (np.flatnonzero(merged.cost > 0.0), np.flatnonzero(merged.cost < 0.0)):
        number = min(len(members), max(size * len(members) // n, FEW_OF_A_CLASS))
        chosen = members[np.sort(random.choice(len(members), number, replace=False, shuffle=False))]
        factors.append(np.full(number, merged.cost[members].sum() / merged.cost[chosen].sum()))
        parts.append(chosen)
    chosen = np.concatenate(parts)
    order = np.argsort(chosen, kind="stable")
    chosen, raised = chosen[order], np.concatenate(factors)[order]
    return dataclasses.replace(
        merged, place=merged.place[chosen], first=merged.first[chosen], cost=merged.cost[chosen] * raised, owner=None
    )
