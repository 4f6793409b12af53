"""A sieve: a plane from some of the rows says which of all the rows matter.

    samples    n_0 < n_1 < n rows, each class in proportion, its costs raised to those of the whole class
    width      how far the margins of the next, larger problem may lie from those of this one. The error of a plane
               from n_k rows falls as 1 / sqrt(n_k), and its size is seen when the next sample moves the plane
    active     rows whose loss bends within `width` of 1 - y (w.x + b); every other row is linear there, and all of
               them are one vector

So the path of the whole problem starts near its end, with few rows. The rows that were left out are looked at by
whoever judges the proposal, and those on the wrong side come back. Where the samples mislead, as they do when few
rows are far larger than the rest, the path of all rows is followed from its beginning: the sieve may be wrong, its
answer is proven.

Cost: a few reads of the table, beside the work on the active rows. References: [ferris2002], [jung2008].
Differs: the rows left out are chosen by a sample, not by the path.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.executor import Threads
from maxmargin.data.table import Vector
from maxmargin.problems.protocol import Iterates, Options, shown_as, varying
from maxmargin.problems.statement import SoftMargin
from maxmargin.solvers.interior_point.active_rows import ActiveRows
from maxmargin.solvers.interior_point.merged_rows import MergedRows, merge_rows
from maxmargin.solvers.interior_point.method import (
    FEW_OF_A_CLASS,
    PathState,
    follow_all_rows,
    follow_path,
    sample_sizes,
)

SAMPLE_GAP = 1e-3  # to which a sample is solved, whatever is asked of the whole: a rough plane misleads
DEVIATIONS = 4.0  # of the margins: the width
FIRST_SHARE = 0.5  # of the active rows, as long as no deviation is known
PATIENCE = 20  # steps for a gap of 1/2, or the samples have misled


@dataclass(eq=False)
class SampledState(PathState):
    """The plane of the last sample, how far the margins may lie from its own, and which sample is next."""

    w: Vector = varying(factory=lambda: np.zeros(0), grows=True)
    b: float = varying(0.0)
    deviation: float = varying(0.0)
    stage: int = varying(0)


def start(problem: SoftMargin, options: Options) -> SampledState:
    return SampledState(options.tol)


def steps(problem: SoftMargin, state: SampledState) -> Iterates:
    """Solve samples of growing size, then follow the path of all rows from where they lead."""
    merged, bias = merge_rows(problem), problem.fit_intercept
    sizes = sample_sizes(len(merged.cost), int(merged.X.shape[1]))
    last = len(sizes) - 1
    if state.stage == 0:
        state.w = np.zeros(merged.X.shape[1])
    with Threads.shared() as threads:
        while state.stage < last:
            size, previous = sizes[state.stage], sizes[state.stage - 1] if state.stage > 0 else 0
            sample = draw(merged, size)
            active = ActiveRows(sample, np.abs(sample.cost), problem.loss.knee, bias, threads)
            if previous == 0:
                active.start_cold()
            else:
                start_near(active, state.w, state.b, state.deviation)
            yield from solve_sample(problem, state, active)
            if previous > 0:
                moved = active.values(active.units, active.w - state.w) + (active.b - state.b)
                state.deviation = float(np.sqrt(np.mean(moved * moved) * previous / size))
            state.w, state.b, state.stage = active.w, active.b, state.stage + 1
        if 0 < last == state.stage:
            active = ActiveRows(merged, problem.upper, problem.loss.knee, bias, threads)
            start_near(active, state.w, state.b, state.deviation)
            yield from follow_path(problem, state, active, state.tol, PATIENCE)
        state.stage = last + 1
        yield from follow_all_rows(problem, merged, threads, state)


def solve_sample(problem: SoftMargin, state: SampledState, active: ActiveRows) -> Iterates:
    """To a gap at which its plane is good enough; nothing of it is a proposal for the whole."""
    nothing = np.zeros(problem.n_rows)
    yield from shown_as(
        follow_path(problem, state, active, SAMPLE_GAP),
        lambda iterate: None if iterate.proposes else dataclasses.replace(iterate, a=nothing, gap=1.0),
    )
    state.path = None


def start_near(active: ActiveRows, w: Vector, b: float, deviation: float) -> None:
    """Make the rows within DEVIATIONS of the margin active; the nearer half, if no deviation is known yet."""
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
