"""The hinge, and other straight losses, over rows that do not fit into memory: those near the margin do, or need not.

    primal     P(w, b) = 1/2 |w|^2 + sum_i u_i max(0, f_i),      f_i = 1 - y_i (w.x_i + b),   u_i = box C_i
    W          rows in memory, with dual variables of their own. All others are settled: a_i = u_i if they pay at one
               plane (the rule's), else 0; rows that left W are named, with the a_i that they had
    master     the problem of W beside the settled rows (`master.py`): its dual point is one of the whole problem
    pass       P along the line from the best plane to the master's, and the settled rows that are wrong there
    exchange   the worst of these come into W; rows of W at a bound, and on the right side of both planes, leave

    first      a sample gives a plane and how far that may be off, so how wide the band around the margin must be: it is
               W. Where it does not fit, it is narrowed (`narrowing.py`)
    too many   rows in the band nevertheless, or an exchange that gains little: the path of `replayed_path` is followed,
               over all rows and with nothing in memory, until the rows within a few times its next movement fit into W;
               or, where rows pile up at the margin, to its end

The best plane and the best dual point are kept each by itself. A run ends when neither has gained for some passes.
State: planes, the rows of W, names of some settled rows.

Cost of a pass: 6 n d; on the path K n d + n d^2 / 2. 3 to 6 passes where the rows near the margin fit, 10 to 60 else.
References: [ferris2002], [jung2008]. Differs: the rows left out stay on disk; what is settled is told by a plane.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from maxmargin.data.labelled import RowIds
from maxmargin.data.table import Vector, is_sparse
from maxmargin.problems.block_margin import (
    Ask,
    BlockMargin,
    Facts,
    ListedRows,
    PassRun,
    Proven,
    Rule,
    SolverByPasses,
    Weights,
)
from maxmargin.solvers.by_passes import master, narrowing, replayed_path
from maxmargin.solvers.by_passes.budget import LEVELS_OF_A_TREE
from maxmargin.solvers.by_passes.hinge_passes import IN_MEMORY, LookAlong, Looked, Sample, Sampled, Sorted, SortOut
from maxmargin.solvers.by_passes.narrowing import FILLED, Guess, few_of, objective_on, rms
from maxmargin.solvers.by_passes.replayed_path import Path, Walked
from maxmargin.solvers.by_passes.taken_rows import TakenRows
from maxmargin.solvers.by_passes.working_set_state import BAND, LOOK, PATH, SAMPLE, WorkingSet
from maxmargin.solvers.interior_point.normal_equations import padded
from maxmargin.solvers.passes import inner

LEAST_SAMPLE, ROWS_PER_COLUMN, LEAST_OF_A_CLASS = 20_000, 100, 500
MASTER_GAP, COARSE = 0.05, 1e-3  # to which a master is solved, of the gap that is asked for: rows come by its plane
GOOD = 0.6  # up to which deviation the plane of a sample is believed
SHORT, AGAIN = 0.03, 30.0  # steps of the path, of which two in turn have it begin again, at so many times m
LEAST_M = 1e-4  # where the path begins
SLOW, FAST = 0.9, 0.5  # of the gap before: exchanging goes on below, if HALF of the wrong rows could come, and if not
ROOM = 0.7  # of W, for the rows near the path: they are counted where it was, not where it goes
HALF = 0.5  # of what the wrong rows cost must come with them, at the first look, too
SLOW_LOOKS = 4  # that may gain little if so many come: D rises with each of them, and P falls only when all are in
FEW = 1 / 3  # of W: if no more rows than that pay, by the sample, they are found one by one
STEPS = np.array([0.0, 0.003, 0.01, 0.03, 0.06, 0.12, 0.25, 0.4, 0.6, 0.8, 1.0])
AT_BOUND = 1e-6  # of u
PATIENCE = 15  # passes in which neither side gains
MOST_PASSES = 300
MATRICES = 8  # of (d + 8)^2 on the path, beside those of the tree
ROW_COPIES, ROW_NUMBERS = 2.5, 45  # of a row of W: as it is, as it is joined, in a snapshot; numbers beside it
LEAST_ROWS = 2_000  # of W, and 5 for each column


def floor(problem: BlockMargin, facts: Facts) -> float:
    """Bytes that it needs beside the blocks."""
    matrix = 8.0 * padded(facts.n_columns + replayed_path.EXTRAS) ** 2
    levels = 1 + math.ceil(math.log(max(1, facts.n_blocks), LEVELS_OF_A_TREE))
    planes = 8.0 * facts.n_columns * (replayed_path.MOST_STEPS + 40)
    least = min(facts.n_rows, max(LEAST_ROWS, 5 * facts.n_columns))
    matrices = max((MATRICES + levels) * matrix, master.bytes_of_matrices(facts.n_columns))
    return matrices + planes + of_a_block(facts) + least * bytes_of_a_row(facts)


def of_a_block(facts: Facts) -> float:
    """Vectors of numbers beside the rows of a block."""
    return 8.0 * 12 * facts.block_bytes / max(1.0, facts.row_bytes)


def bytes_of_a_row(facts: Facts) -> float:
    return ROW_COPIES * (facts.row_bytes + 16.0) + 8.0 * ROW_NUMBERS


def start(problem: BlockMargin, facts: Facts, memory: float, tol: float) -> SolverByPasses:
    d = facts.n_columns
    least = min(facts.n_rows, max(LEAST_ROWS, 5 * d))
    free = memory - (floor(problem, facts) - least * bytes_of_a_row(facts))
    most = int(min(facts.n_rows, max(least, free / bytes_of_a_row(facts))))
    nothing = Rule.nothing(d)
    state = WorkingSet(
        facts, most, w=np.zeros(d), proven=Weights(nothing, ListedRows.nobody()), rule=nothing,
        settled=np.zeros((2, d + 1)), named=ListedRows.nobody(), master_w=np.zeros(d),
    )  # fmt: skip
    return SolverByPasses(state, steps(problem, state, tol))


def steps(problem: BlockMargin, state: WorkingSet, tol: float) -> PassRun:
    """Proposes when its own gap is near enough; where the judge does not see it, goes on to a smaller one."""
    while state.passes < MOST_PASSES and state.fruitless < PATIENCE and state.phase in ASKS:
        ask, take = ASKS[state.phase]
        found = yield ask(problem, state)
        state.passes += 1
        state.fruitless += 1
        take(problem, state, found, tol)
        del found
        if state.gap <= state.aim * tol:
            state.aim = 0.3 * state.gap / tol
            proven = yield state.proposal()  # type: ignore[misc]
            if isinstance(proven, Proven) and proven.gap <= tol:
                return
    if (proposal := state.proposal()) is not None:
        yield proposal


# ------------------------------------------------------------------------------------------------------- the sample


def ask_for_sample(problem: BlockMargin, state: WorkingSet) -> Ask:
    facts = state.facts
    size = max(LEAST_SAMPLE, ROWS_PER_COLUMN * facts.n_columns, facts.n_rows // 10)
    size = facts.n_rows if facts.n_rows <= state.most else min(size, int(FILLED * state.most))
    rates = [max(size / facts.n_rows, 1.2 * LEAST_OF_A_CLASS / side) for side in facts.sides]
    return Ask(Sample(problem.loss, (rates[0], rates[1]), state.most))


def take_sample(problem: BlockMargin, state: WorkingSet, found: Sampled, tol: float) -> None:
    """Everything, if it fits; else the plane of the sample and its deviation."""
    rows = found.rows
    state.sample = few_of(rows, found.weights)
    if rows.n_rows == state.facts.n_rows:
        state.rows = rows
        solve_master(problem, state, tol)
        return
    guess = narrowing.plane_of_sample(found, problem.fit_intercept)
    state.w, state.b, state.deviation = guess
    state.note = narrowing.what_fits(guess, state.sample, state.facts.n_rows, state.most, bytes_of_a_row(state.facts))
    counts = rows.raised(found.weights) / rows.costs
    paying = float(counts[rows.missing(guess.w, guess.b) > guess.deviation].sum())
    if guess.deviation < GOOD and paying > FEW * state.most:
        set_band(state, guess, rows, counts)
    else:
        state.rows = rows
        solve_master(problem, state, tol)


# --------------------------------------------------------------------------------------------------------- the band


def ask_for_band(problem: BlockMargin, state: WorkingSet) -> Ask:
    rule = state.rule
    return Ask(SortOut(problem.loss, rule.w, rule.b, state.width, state.rate, state.passes, state.most))


def take_band(problem: BlockMargin, state: WorkingSet, found: Sorted, tol: float) -> None:
    """The band at the plane of the rule is W, if all of it fits."""
    w, b = state.rule.w, state.rule.b
    state.found_plane(w, b, 0.5 * inner(w, w) + found.paid)
    if found.inside > found.rows.n_rows:
        narrow(problem, state, found) if state.path is None else go_on_along_path(state)
        return
    state.rows, state.settled = found.rows, found.beyond
    state.named, state.last_gap = ListedRows.nobody(), math.inf
    solve_master(problem, state, tol)


def narrow(problem: BlockMargin, state: WorkingSet, found: Sorted) -> None:
    """To a better plane and its band, or, where there is none, to the path."""
    assert state.sample is not None
    before = Guess(state.rule.w, state.rule.b, state.deviation)
    guess = narrowing.narrowed(before, found, state.sample, problem.fit_intercept)
    if guess is None:
        begin_path(state)
    else:
        state.deviation = guess.deviation
        set_band(state, guess, found.rows, np.full(found.rows.n_rows, found.inside / found.rows.n_rows))


def set_band(state: WorkingSet, guess: Guess, rows: TakenRows, counts: Vector) -> None:
    state.width, state.rate = narrowing.band_around(guess, rows, counts, state.most)
    state.rule, state.phase = Rule(guess.w, guess.b, 0.0), BAND


# --------------------------------------------------------------------------------------------- the master, the look


def solve_master(problem: BlockMargin, state: WorkingSet, tol: float) -> None:
    """What is settled and what W says of it; next, a look at all rows."""
    rows = state.rows
    assert rows is not None
    answer = master.solved(rows, rows.costs, state.settled, problem.fit_intercept, MASTER_GAP * min(tol, COARSE))
    state.master_w, state.master_b, state.shares = answer.w, answer.b, answer.shares
    dual = master.dual_value(state.settled + rows.sums(rows.costs * answer.shares), problem.fit_intercept)
    if dual > state.dual:
        listed = ListedRows.sorted(
            np.concatenate([rows.ids, state.named.ids]), np.concatenate([answer.shares, state.named.shares])
        )
        state.found_weights(dual, Weights(state.rule, listed))
    if state.primal == math.inf:  # nothing is known of any plane: look at the master's alone
        state.w, state.b, state.at = answer.w, answer.b, 1.0
    else:
        assert state.sample is not None
        values = [objective_on(state.sample, *between(state, step)) for step in STEPS]
        state.at = 1.0 if STEPS[int(np.argmin(values))] >= 0.6 else 0.5
    state.phase = LOOK


def between(state: WorkingSet, step: float) -> tuple[Vector, float]:
    return state.w + step * (state.master_w - state.w), state.b + step * (state.master_b - state.b)


def ask_to_look(problem: BlockMargin, state: WorkingSet) -> Ask:
    assert state.rows is not None
    ids = np.concatenate([state.rows.ids, state.named.ids])
    shares = np.concatenate([np.full(state.rows.n_rows, IN_MEMORY), state.named.shares])
    planes = (state.w, state.b), (state.master_w, state.master_b)
    part = LookAlong(problem.loss, state.rule, *planes, STEPS, state.at, max(1, state.most // 3))
    return Ask(part, ListedRows.sorted(ids, shares).by_block())


def take_look(problem: BlockMargin, state: WorkingSet, found: Looked, tol: float) -> None:
    planes = [between(state, step) for step in STEPS]
    values = [0.5 * inner(w, w) + float(paid) for (w, _), paid in zip(planes, found.paid, strict=True)]
    k = int(np.nanargmin(values))
    state.found_plane(*planes[k], values[k])
    if state.gap <= state.aim * tol:
        return
    gap, before = state.primal - state.dual, state.last_gap  # not relative: where P is far from D, that is 1 for long
    if not found.wrong and state.at < 1.0:  # half-way no row is wrong: look at the master's own plane
        state.at = 1.0
        return
    came = exchange(state, found)
    state.last_gap = gap
    gains = gap < (SLOW if came >= HALF else FAST) * before and (came >= HALF or before < math.inf)
    state.slow_looks += not gains
    if found.wrong and (gains or (came >= HALF and state.slow_looks <= SLOW_LOOKS)):
        solve_master(problem, state, tol)
    else:
        go_on_along_path(state, found.wrong / state.most)


def exchange(state: WorkingSet, found: Looked) -> float:
    """Wrong rows come, rows of W that are settled leave; which part of all prizes came. (Of rows that are equal, or lie
    on one plane with the margin, thousands may be wrong by no more than rounding: they need not come.)"""
    rows, wrong, p = state.rows, found.rows, state.shares
    assert rows is not None
    p = np.where(p < AT_BOUND, 0.0, np.where(p > 1.0 - AT_BOUND, 1.0, p))
    f, g = rows.missing(state.w, state.b), rows.missing(state.master_w, state.master_b)
    right = ((p == 0.0) & (np.maximum(f, g) < 0.0)) | ((p == 1.0) & (np.minimum(f, g) > 0.0))
    leaving = np.flatnonzero(right)
    farthest = np.argsort(-np.minimum(np.abs(f), np.abs(g))[leaving], kind="stable")
    room = max(0, 2 * state.most - len(state.named.ids))  # names take memory, too
    needed = min(room, max(0, rows.n_rows + wrong.n_rows - state.most))
    leaving = np.sort(leaving[farthest[:needed]])
    wrong = wrong.first(max(0, state.most - rows.n_rows + len(leaving)))
    gone = rows.of(leaving)
    state.settled = state.settled + gone.sums(gone.costs * p[leaving]) - wrong.sums(wrong.costs * wrong.shares)
    stay = ~np.isin(state.named.ids, wrong.ids)
    ids: RowIds = np.concatenate([state.named.ids[stay], gone.ids])
    state.named = ListedRows.sorted(ids, np.concatenate([state.named.shares[stay], p[leaving]]))
    state.rows = rows.without(leaving)._replace(most=state.most).and_of(wrong._replace(most=state.most))
    return float(-wrong.keys.sum()) / found.prizes if found.prizes > 0.0 else 1.0


# --------------------------------------------------------------------------------------------------------- the path


def begin_path(state: WorkingSet) -> None:
    sample = state.sample
    assert sample is not None
    dense = not is_sparse(sample.X) and sample.n_rows > 0
    centre = sample.X.mean(axis=0, dtype=np.float64) if dense else np.zeros(state.facts.n_columns)
    state.path = Path.at(state.w, state.b, min(1.0, max(LEAST_M, state.deviation)), centre)
    state.phase = PATH


def go_on_along_path(state: WorkingSet, wrong: float = 0.0) -> None:
    """From where it was left, or from the best plane. The more wrong rows beside W, the later it is tried again."""
    state.rows, state.shares = None, np.zeros(0)
    state.named, state.settled = ListedRows.nobody(), np.zeros_like(state.settled)
    state.movements *= 2.0 * max(1.0, wrong)
    if state.path is None:
        begin_path(state)
    state.phase = PATH


def ask_along_path(problem: BlockMargin, state: WorkingSet) -> Ask:
    assert isinstance(state.path, Path)
    return Ask(state.path.part(problem.loss))


def take_step(problem: BlockMargin, state: WorkingSet, found: Walked, tol: float) -> None:
    path, sample = state.path, state.sample
    assert isinstance(path, Path)
    assert sample is not None
    before = path.merit
    place = replayed_path.advance(problem, path, found, state.primal, tol)
    if path.merit < SLOW * before:
        state.fruitless = 0
    if len(path.taken) > 1 and max(path.taken[-2:]) <= SHORT and path.m < 1.0:  # m is too small for so far a plane
        w, b = path.here()
        state.path, state.fruitless = Path.at(w, b, min(1.0, AGAIN * path.m), path.centre), 0
        return
    state.found_plane(place.rule.w, place.rule.b, place.primal)
    state.found_weights(place.dual, Weights(place.rule, ListedRows.nobody()))
    if len(path.taken) > replayed_path.MOST_STEPS:
        state.phase = "end"
    if place.is_shortened or state.gap <= state.aim * tol or place.undecided > ROOM * state.most:
        return
    step = path.planes[-1]
    moves = rms(sample.missing(step[:-1], float(step[-1])) - 1.0)
    fitting = np.flatnonzero(place.within <= ROOM * state.most)
    width = float(replayed_path.WIDTHS[fitting[0]]) if len(fitting) else 0.0
    if width >= state.movements * moves:
        w, b = path.here()
        state.rule, state.width, state.rate, state.phase = Rule(w, b, 0.0), width, 1.0, BAND


ASKS: dict[str, tuple[Any, Any]] = {
    SAMPLE: (ask_for_sample, take_sample),
    BAND: (ask_for_band, take_band),
    LOOK: (ask_to_look, take_look),
    PATH: (ask_along_path, take_step),
}
