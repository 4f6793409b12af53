"""Batch SMO: the kernel soft margin, some hundred dual variables at a time, on the rows that matter.

    max  D(a) = sum_i a_i - 1/2 sum_ij a_i a_j y_i y_j k_ij,      0 <= a_i <= C_i,   sum_i a_i y_i = 0

Rounds among rows that are in play (`rows_in_play`) cost a row of the kernel over them for each variable that moves. So
few rows are in play:

    1. A sample of the rows is solved, roughly. Its plane, y (value + b), tells which rows of a sample four times as
       large are inside the street, or near it: these are in play next. And so on, until the sample is everything.
    2. When the rows in play have come a good part of their way, the change of a is carried to the rows around them:
       sums of kernel values, of which none is kept. Those that it brought near to the street are in play from then on.
       Near is what is nearer than values are likely to move by the next time: less than they just did.
    3. Rows that are much farther away are left, with their values and the a of that time, and looked at again when the
       rows around have moved inwards so far that some of those might have come near, too.
    4. When the gap of the rows in play seems to be below tol, the plane is proposed. Whoever judges it measures all
       rows in float64. If it was not good enough, the rounds go on from these values: what float32 lost, and what was
       left too early, is found again, and errors in the changes shrink with the changes.

References: [joachims1999], [fan2005], [wen2018].
"""

from __future__ import annotations

import math
import sys

import numpy as np

from maxmargin.data.matrix import Vector
from maxmargin.problems.notebook import BLANK, Notebook, NotebookError, State
from maxmargin.problems.protocol import Iterate, SolverRun
from maxmargin.problems.statement import KernelMargin
from maxmargin.solvers.kernel_smo.active_rows import Table, View, look
from maxmargin.solvers.kernel_smo.kernel_rows import Rows, Values
from maxmargin.solvers.kernel_smo.row_cache import RowCache

SMALLEST = 2000  # rows of the first sample, or more
GROWTH = 4  # times as many rows in the next sample
ROUGH = 0.05  # the relative gap to which a sample is solved
NEAR = 0.3  # y (value + b) - 1 of rows that are in play, at most: when a sample begins, and ever
NEXT = 0.3  # of what values moved by, they are likely to move the next time
OFTEN = 0.9  # of the rows moved by less: what a few do is found when it has happened
AROUND = 3.0  # times farther away than what is near: rows beyond that are left
SAFE = 0.5  # of that distance: rows that were left may have come as near
UNIT_ROUNDOFF = 2.0**-24  # of float32
NEARLY_ALL = 0.9  # of all rows in play: then all of them are
FURTHER = 0.03  # of the gap of the rows in play: where the others are looked at
AIM = 0.7  # of the tolerance: float32 sees the gap a little too small
PATIENCE = 50  # rounds in which something must have got better
LOOKS = 5  # at the rows around, likewise
BETTER = 0.9  # of the gap that was proven before, or a dual objective that has risen by as much: float32 can do more
LITTLE = 1e-4  # of the gap: a dual objective that rose by less is at the end of what float32 can tell
WIDER = 4  # times that patience: with a gap that has been smaller
GROWING = 0.5  # of itself: a dual objective that is nothing beside the gap rises by that much, or it rises in vain
HOPELESS = 1e10  # what a dual objective of the hard margin can rise to: the best margin is below 1e-5 of the radius
PART_ARRAYS = ("a", "values", "before")


class Progress:
    """Whether the rounds lead somewhere: the dual objective of all rows rises, or the gap of some of them falls.

    A dual objective that rises while the gap does not fall, again and again, rises by rounding errors.
    """

    def __init__(self) -> None:
        self.round, self.marked, self.smallest, self.wider = 0, -np.inf, np.inf, 0

    def has_ended(self, view: View, patience: int, *, all_rows: bool) -> bool:
        """Asked once in each round, says yes after so many rounds without progress."""
        little = min(LITTLE * view.gap, GROWING * view.dual) if view.gap < np.inf else LITTLE * view.dual
        better = view.dual - self.marked > little if all_rows else view.gap < 0.99 * self.smallest
        self.round = 0 if better else self.round + 1
        self.wider = self.wider + 1 if self.smallest <= view.gap < np.inf else 0
        if better:
            self.marked, self.smallest = view.dual, min(view.gap, self.smallest)
        return self.round > patience or self.wider > WIDER * patience

    def state(self) -> State:
        return {f"progress_{name}": value for name, value in vars(self).items()}

    def take_up(self, kept: State) -> None:
        vars(self).update({name: kept[f"progress_{name}"] for name in vars(self)})


class Part:
    """The rows in play as a table of their own. `gap` is what is shown of the whole meanwhile."""

    def __init__(self, table: Table, chosen: Rows, gap: float) -> None:
        self.table, self.chosen, self.before, self.gap = table, chosen, table.a.copy(), gap
        self.goal, self.enough, self.progress = 0.0, 0.0, Progress()

    def aim_at(self, goal: float) -> None:
        """A gap below the goal is worth a proposal; part of the way, or any, is enough for a look at the others."""
        self.goal, self.enough = goal, min(max(FURTHER * self.table.look().gap, goal), sys.float_info.max)

    def has_ended(self, view: View) -> bool:
        stays = view.gap > self.enough and view.violation > 0.0 and not view.ray > HOPELESS
        return not stays or self.progress.has_ended(view, PATIENCE, all_rows=not view.primal < np.inf)

    def is_there(self, view: View) -> bool:
        return view.gap <= self.goal or view.violation <= 0.0

    def state(self) -> State:
        numbers = {"before": self.before, "gap": self.gap, "goal": self.goal, "enough": self.enough}
        return {"chosen": self.chosen, **self.table.state(), **numbers, **self.progress.state()}

    def take_up(self, kept: State) -> None:
        self.table.take_up(kept)
        self.before, self.goal, self.enough = kept["before"], kept["goal"], kept["enough"]
        self.progress.take_up(kept)


class Whole:
    """All rows and their variables, and the plane's bias as it was last seen.

    known             rows of the sample whose values are right, but for those of a part at work
    near              how far outside of the street rows are in play
    then, values_then a and the values of all rows, when these were last right
    room              how far outside of the street rows that were left since then are at least
    """

    def __init__(self, problem: KernelMargin, cache: RowCache, scale: float, memory: Values) -> None:
        n = problem.n_rows
        self.cache, self.memory, self.signs, self.costs = cache, memory, problem.signs, problem.costs * scale
        self.a, self.values = np.zeros(n), np.zeros(n)
        self.order, self.sizes = sampling_order(problem.signs), sample_sizes(n)
        self.known = np.sort(self.order[: self.sizes[0]])
        self.sample, self.b, self.near = 0, 0.0, NEAR
        self.then, self.values_then, self.room = np.zeros(n), np.zeros(n), np.inf

    @property
    def is_all(self) -> bool:
        return self.sample == len(self.sizes) - 1

    def look(self) -> View:
        known = self.known
        return look(self.signs[known], self.costs[known], self.a[known], self.values[known])

    def begin_with(self, a: Vector) -> None:
        """From these variables, with all rows."""
        self.a[:], self.known, self.sample = a, np.arange(len(a)), len(self.sizes) - 1
        self.carry(self.a, self.known)
        self.b = self.look().b

    def grow(self) -> None:
        """The next sample, with its values."""
        size, larger = self.sizes[self.sample : self.sample + 2]
        self.carry(self.a, np.sort(self.order[size:larger]))
        self.sample, self.known, self.near = self.sample + 1, np.sort(self.order[:larger]), NEAR
        if self.is_all:
            self.remember()

    def look_around(self) -> None:
        """Rows that are far outside of the street are left."""
        reach = AROUND * self.near
        margins = self.signs[self.known] * (self.values[self.known] + self.b) - 1.0
        stays = (margins < reach) | (self.a[self.known] > 0.0)
        self.known, self.room = self.known[stays], min(self.room, reach)

    def remember(self) -> None:
        """The values of all rows are right."""
        self.known, self.room = np.arange(len(self.a)), np.inf
        self.then, self.values_then = self.a.copy(), self.values.copy()
        self.look_around()

    def come_back(self) -> None:
        """To the rows that were left."""
        left = np.setdiff1d(np.arange(len(self.a)), self.known, assume_unique=True)
        self.values[left] = self.values_then[left]
        self.carry(self.a - self.then, left)
        self.remember()

    def part(self, view: View, gap: float) -> Part:
        """The rows in play: those that some pair may move, or that are near to it."""
        is_in = view.rising & (view.slopes > self.b - self.near) | view.falling & (view.slopes < self.b + self.near)
        chosen = self.known[is_in]
        if len(chosen) > NEARLY_ALL * len(self.a) or not view.primal < np.inf:
            chosen = self.known
        return self.part_of(chosen, gap)

    def part_of(self, chosen: Rows, gap: float) -> Part:
        is_all = len(chosen) == len(self.a)
        cache = self.cache if is_all else RowCache(self.cache.rows.restricted(chosen), self.memory)
        table = Table(cache, self.signs[chosen], self.costs[chosen], self.a[chosen], self.values[chosen])
        return Part(table, chosen, gap)

    def take_over(self, part: Part, b: float) -> None:
        """What has changed in a part is carried to the other rows that are known."""
        others = np.setdiff1d(self.known, part.chosen, assume_unique=True)
        before = self.values.copy()
        self.values[part.chosen] = part.table.values
        changes = np.zeros(len(self.a))
        changes[part.chosen] = part.table.a - part.before
        self.carry(changes, others)
        moves = self.values - before + (b - self.b)
        self.note(moves[self.known], b)
        if self.is_all:
            self.room -= float(np.max(-self.signs[others] * moves[others], initial=0.0))
            if self.room < SAFE * AROUND * self.near:
                self.come_back()
            else:
                self.look_around()

    def take(self, values: Vector, b: float) -> None:
        """Exact values of all rows, and the bias if one was looked for."""
        before = self.values[self.known]
        self.values[:] = values
        b = look(self.signs, self.costs, self.a, values).b if math.isnan(b) else b
        self.note(values[self.known] - before + (b - self.b), b)
        self.remember()

    def note(self, moves: Vector, b: float) -> None:
        """By how much value + b of some rows has moved. What float32 may be off by is no move."""
        likely = NEXT * float(np.quantile(np.abs(moves), OFTEN))
        self.b, self.near = b, min(NEAR, max(likely, UNIT_ROUNDOFF * float(self.a.sum())))

    def carry(self, changes: Vector, columns: Rows) -> None:
        """The values of these rows follow changes of a."""
        rows = np.flatnonzero(changes)
        self.cache.rows.add(rows, self.signs[rows] * changes[rows], columns, self.values)

    def state(self) -> State:
        numbers = {"sample": self.sample, "b": self.b, "near": self.near, "room": self.room}
        then = {"then": self.then, "values_then": self.values_then}
        return {"a": self.a, "values": self.values, "known": self.known, **then, **numbers}

    def take_up(self, kept: State) -> None:
        self.a[:], self.values[:], self.known = kept["a"], kept["values"], kept["known"]
        self.then, self.values_then = kept["then"], kept["values_then"]
        self.sample, self.b, self.near, self.room = (kept[name] for name in ("sample", "b", "near", "room"))


def sampling_order(signs: Vector) -> Rows:
    """The rows in an order of which every beginning is a fair sample: random, and with its share of both classes."""
    random, places = np.random.default_rng(0), np.empty(len(signs))
    for sign in (1.0, -1.0):
        rows = np.flatnonzero(signs == sign)
        places[rows] = random.permutation(len(rows)) / max(1, len(rows))
    return np.argsort(places, kind="stable")


def sample_sizes(n: int) -> list[int]:
    """How many rows the samples have, the last one all of them."""
    sizes = [n]
    while sizes[0] >= GROWTH * SMALLEST:
        sizes.insert(0, sizes[0] // GROWTH)
    return sizes


def batch_smo(
    problem: KernelMargin,
    cache: RowCache,
    scale: float,
    *,
    tol: float,
    memory: Values,
    start: Vector | None = None,
    notebook: Notebook = BLANK,
) -> SolverRun:
    """Rounds until the gap seems to be below tol; each proposal that is judged brings back exact values.

    The cache holds rows of the kernel divided by `scale`; `memory` is for those of smaller tables, one after
    the other.
    """
    whole = Whole(problem, cache, scale, memory)
    if start is not None:
        whole.begin_with(start * scale)
    rounds = steps = 0
    aim, progress, proven, dual, part = AIM * tol, Progress(), math.nan, 0.0, None

    def state() -> State:
        numbers = {"rounds": rounds, "steps": steps, "aim": aim, "proven": proven, "dual": dual}
        return {**whole.state(), **numbers, "is_split": part is not None, **progress.state()}

    def iterate(gap: float, proposes: bool) -> Iterate:
        details = {"gap": gap} if whole.is_all else {}
        return Iterate(np.zeros(0), whole.b, whole.a / scale, proposes, steps, rounds, details)

    if (kept := notebook.page("cache", cache.state)) is not None:
        cache.take_up(kept)
    if (kept := notebook.page("smo", state, growing=("known",))) is not None:
        whole.take_up(kept)
        progress.take_up(kept)
        rounds, steps, aim, proven, dual = (kept[name] for name in ("rounds", "steps", "aim", "proven", "dual"))
        part = part_of(whole, notebook) if kept["is_split"] else None
    while True:
        if part is None:
            notebook.rest()
            view = whole.look()
            gap = view.gap / view.primal if 0.0 < view.primal < np.inf else view.gap
            level = aim if whole.is_all else ROUGH
            is_there = view.gap <= level * view.primal < np.inf or view.violation <= 0.0
            is_hopeless = view.ray > HOPELESS
            if not (is_there or is_hopeless or progress.has_ended(view, LOOKS, all_rows=True)):
                part = whole.part(view, gap)
                part.aim_at(0.5 * level * view.primal if view.primal < np.inf else 0.0)
                notebook.page("part", part.state, growing=PART_ARRAYS)
                notebook.page("part cache", part.table.cache.state)
            elif not whole.is_all:
                whole.grow()
                progress = Progress()
                yield iterate(gap, False)
                continue
        if part is not None:
            gap = part.gap
            while True:
                notebook.rest()
                inner = part.table.look()
                if part.has_ended(inner):
                    break
                steps, rounds = steps + part.table.step(inner), rounds + 1
                whole.a[part.chosen] = part.table.a
                yield iterate(gap, False)
            if not (whole.is_all and part.is_there(inner)):
                whole.take_over(part, inner.b)
                part = None
                notebook.page("smo", state, growing=("known",))
                continue
        answer = yield iterate(gap, True)
        if answer is None:
            return
        is_known = np.isfinite(answer.values)
        if not math.isnan(answer.b):
            rise, rest = answer.dual - dual, answer.primal - answer.dual
            if not math.isnan(proven) and not (answer.gap < BETTER * proven or rise > (1.0 - BETTER) * rest):
                return
            proven, dual = float(answer.gap) if answer.gap < np.inf else math.inf, float(answer.dual)
        if np.all(is_known):
            whole.take(answer.values, answer.b)
        else:  # a judge who has seen enough need not look at all rows, nor for the best bias
            if part is not None:
                whole.take_over(part, inner.b)
            whole.values[is_known] = answer.values[is_known]
        part = None
        notebook.page("smo", state, growing=("known",))
        aim, progress = 0.5 * aim, Progress()


def part_of(whole: Whole, notebook: Notebook) -> Part:
    """The part that an earlier process was at work on."""
    any_part = whole.part_of(np.zeros(1, dtype=np.intp), 0.0)
    kept = notebook.page("part", any_part.state, growing=PART_ARRAYS)
    n = len(whole.a)
    if kept is None or any(len(kept[name]) != len(kept["chosen"]) for name in PART_ARRAYS) or not len(kept["chosen"]):
        raise NotebookError("it was at work on a part of the rows, and does not say on which")
    if kept["chosen"].min() < 0 or kept["working_set"].max(initial=-1) >= len(kept["chosen"]):
        raise NotebookError(f"it was at work on rows that are not among the {n} of this run")
    part = whole.part_of(kept["chosen"], kept["gap"])
    part.take_up(kept)
    notebook.page("part", part.state, growing=PART_ARRAYS)
    if (kept := notebook.page("part cache", part.table.cache.state)) is not None:
        part.table.cache.take_up(kept)
    return part
