"""Batch SMO: the kernel soft margin, some hundred dual variables at a time, on the rows that matter.

    max  D(a) = sum_i a_i - 1/2 sum_ij a_i a_j y_i y_j k_ij - 1/2 sum_i q_i a_i^2,  0 <= a_i <= u_i,  sum_i a_i y_i = 0

u_i and q_i are those of the loss (`problems.losses`): C_i and 0 of the hinge; without a bias, the equation falls away.
Rounds among rows that are active (`active_rows`) cost a row of the kernel over them for each variable that moves. So
few rows are active:

    1. A sample of the rows is solved, roughly. Its plane, y (value + b), tells which rows of a sample four times as
       large are inside the street, or near it: these are active next. And so on, until the sample is everything.
    2. When the active rows have come a good part of their way, the change of a is carried to the rows around them:
       sums of kernel values, of which none is kept. Those that it brought near to the street are active from then on.
       Near is what is nearer than values are likely to move by the next time: less than they just did.
    3. Rows that are much farther away are left, with their values and the a of that time, and looked at again when the
       rows around have moved inwards so far that some of those might have come near, too.
    4. When the gap of the active rows seems to be below tol, the plane is proposed. Whoever judges it measures all
       rows in float64. If it was not good enough, the rounds go on from these values: what float32 lost, and what was
       left too early, is found again, and errors in the changes shrink with the changes.

A round moves the variables of a working set, in pairs (`working_set`). Where rows are few and short, all are active,
and each step picks its pair among all of them, as in the textbook (`small_tables`).

References: [joachims1999], [fan2005], [wen2018].
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from maxmargin.data.table import Vector
from maxmargin.problems.protocol import Iterate, Iterates, Run, State, StateError, varying
from maxmargin.problems.statement import KernelMargin
from maxmargin.solvers.kernel_smo.active_rows import Table, View, look, terms_of
from maxmargin.solvers.kernel_smo.kernel_rows import Rows, Values
from maxmargin.solvers.kernel_smo.row_cache import RowCache
from maxmargin.solvers.kernel_smo.small_tables import SmallTable

SMALLEST = 2000  # rows of the first sample, or more
GROWTH = 4  # times as many rows in the next sample
ROUGH = 0.05  # the relative gap to which a sample is solved
NEAR = 0.3  # y (value + b) - 1 of rows that are active, at most: when a sample begins, and ever
NEXT = 0.3  # of what values moved by, they are likely to move the next time
OFTEN = 0.9  # of the rows moved by less: what a few do is found when it has happened
AROUND = 3.0  # times farther away than what is near: rows beyond that are left
SAFE = 0.5  # of that distance: rows that were left may have come as near
UNIT_ROUNDOFF = 2.0**-24  # of float32
NEARLY_ALL = 0.9  # of all rows active: then all of them are
FURTHER = 0.03  # of the gap of the active rows: where the others are looked at
AIM = 0.7  # of the tolerance: float32 sees the gap a little too small
PATIENCE = 50  # rounds in which something must have got better
LOOKS = 5  # at the rows around, likewise
BETTER = 0.9  # of the gap that was proven before, or a dual objective that has risen by as much: float32 can do more
LITTLE = 1e-4  # of the gap: a dual objective that rose by less is at the end of what float32 can tell
WIDER = 4  # times that patience: with a gap that has been smaller
GROWING = 0.5  # of itself: a dual objective that is nothing beside the gap rises by that much, or it rises in vain
HOPELESS = 1e10  # what a dual objective of the hard margin can rise to: the best margin is below 1e-5 of the radius


@dataclass(eq=False)
class Progress(State):
    """Whether the rounds lead somewhere: the dual objective of all rows rises, or the gap of some of them falls.

    A dual objective that rises while the gap does not fall, again and again, rises by rounding errors.
    """

    round: int = varying(0)
    marked: float = varying(-np.inf)
    smallest: float = varying(np.inf)
    wider: int = varying(0)

    def has_ended(self, view: View, patience: int, *, all_rows: bool) -> bool:
        """Asked once in each round, says yes after so many rounds without progress."""
        size = abs(view.dual)  # which is below 0 where a has left every box, by rounding errors
        little = min(LITTLE * view.gap, GROWING * size) if view.gap < np.inf else LITTLE * size
        better = view.dual - self.marked > little if all_rows else view.gap < 0.99 * self.smallest
        self.round = 0 if better else self.round + 1
        self.wider = self.wider + 1 if self.smallest <= view.gap < np.inf else 0
        if better:
            self.marked, self.smallest = view.dual, min(view.gap, self.smallest)
        return self.round > patience or self.wider > WIDER * patience


@dataclass(eq=False)
class Part(State):
    """The active rows as a table of their own. `gap` is what is shown of the whole meanwhile."""

    table: Table = varying()
    cache: RowCache = varying()
    before: Vector = varying()
    gap: float = varying()
    goal: float = varying(0.0)
    enough: float = varying(0.0)
    progress: Progress = varying(factory=Progress)

    def own_rows(self, n_rows: int) -> int:
        return len(self.before)

    def aim_at(self, goal: float, gap: float) -> None:
        """A gap below the goal is worth a proposal; part of the way, or any, is enough for a look at the others."""
        self.goal, self.enough = goal, min(max(FURTHER * gap, goal), sys.float_info.max)

    def has_ended(self, view: View) -> bool:
        stays = view.gap > self.enough and view.violation > 0.0 and not view.ray > HOPELESS
        return not stays or self.progress.has_ended(view, PATIENCE, all_rows=not view.primal < np.inf)

    def is_there(self, view: View) -> bool:
        return view.gap <= self.goal or view.violation <= 0.0


@dataclass(init=False, eq=False)
class AllRows(State):
    """All rows and their variables, and the plane's bias as it was last seen.

    known             rows of the sample whose values are right, but for those of a part at work
    near              how far outside of the street rows are active
    then, values_then a and the values of all rows, when these were last right
    is_small          all rows are in play (`small_tables`), as long as that may be faster
    room              how far outside of the street rows that were left since then are at least
    """

    a: Vector = varying()
    values: Vector = varying()
    known: Rows = varying(grows=True)
    then: Vector = varying()
    values_then: Vector = varying()
    sample: int = varying()
    b: float = varying()
    near: float = varying()
    room: float = varying()
    is_small: bool = varying()

    def __init__(self, problem: KernelMargin, cache: RowCache, scale: float, memory: Values) -> None:
        n = problem.n_rows
        self.cache, self.memory, self.signs, self.terms = cache, memory, problem.signs, terms_of(problem, scale)
        self.a, self.values = np.zeros(n), np.zeros(n)
        self.sizes = sample_sizes(n)
        self.order = sampling_order(problem.signs) if len(self.sizes) > 1 else np.arange(n)
        self.is_small = SmallTable.suits(cache, self.terms)
        self.known = np.sort(self.order[: self.sizes[0]])
        self.sample, self.b, self.near = 0, 0.0, NEAR
        self.then, self.values_then, self.room = np.zeros(n), np.zeros(n), np.inf

    @property
    def is_all(self) -> bool:
        return self.sample == len(self.sizes) - 1

    def look(self) -> View:
        known = self.known
        return look(self.terms.of(known), self.a[known], self.values[known])

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
        left = without(np.arange(len(self.a)), self.known, len(self.a))
        self.values[left] = self.values_then[left]
        self.carry(self.a - self.then, left)
        self.remember()

    def choose(self, view: View) -> Rows:
        """The active rows: those that some pair may move, or that are near to it."""
        is_in = view.rising & (view.slopes > self.b - self.near) | view.falling & (view.slopes < self.b + self.near)
        chosen = self.known[is_in]
        if self.is_small or len(chosen) > NEARLY_ALL * len(self.a) or not view.primal < np.inf:
            chosen = self.known
        return chosen

    def part_of(self, chosen: Rows, gap: float) -> Part:
        is_all = len(chosen) == len(self.a)
        if not is_all and np.may_share_memory(self.cache.values, self.memory):
            self.cache.forget()
        cache = self.cache if is_all else RowCache(self.cache.rows.restricted(chosen), self.memory)
        terms, kind = self.terms.of(chosen), SmallTable if self.is_small else Table
        table = kind(cache, terms, self.a[chosen], self.values[chosen])
        return Part(table, cache, table.a.copy(), gap)

    def take_over(self, part: Part, chosen: Rows, b: float) -> None:
        """What has changed in a part is carried to the other rows that are known."""
        others = without(self.known, chosen, len(self.a))
        before = self.values.copy()
        self.values[chosen] = part.table.values
        changes = np.zeros(len(self.a))
        changes[chosen] = part.table.a - part.before
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
        b = look(self.terms, self.a, values).b if math.isnan(b) else b
        self.note(values[self.known] - before + (b - self.b), b)
        self.remember()

    def note(self, moves: Vector, b: float) -> None:
        """By how much value + b of some rows has moved. What float32 may be off by is no move."""
        likely = NEXT * quantile(np.abs(moves), OFTEN)
        self.b, self.near = b, min(NEAR, max(likely, UNIT_ROUNDOFF * float(self.a.sum())))

    def carry(self, changes: Vector, columns: Rows) -> None:
        """The values of these rows follow changes of a."""
        rows = np.flatnonzero(changes)
        self.cache.rows.add(rows, self.signs[rows] * changes[rows], columns, self.values)


def quantile(values: Vector, share: float) -> float:
    """NumPy's, which takes longer to check its arguments than to find it; NaN if one of them is."""
    place = share * (len(values) - 1)
    below = int(place)
    some = np.partition(values, (below, min(below + 1, len(values) - 1), len(values) - 1))
    low, high = some[below], some[min(below + 1, len(values) - 1)]
    part = place - below
    between = low + (high - low) * part if part < 0.5 else high - (high - low) * (1.0 - part)
    return math.nan if math.isnan(some[-1]) else float(between)


def goal_of(level: float, view: View) -> float:
    """The gap at which a proposal is worth it, where the relative one is to be `level`."""
    return 0.5 * level * view.primal if view.primal < np.inf else 0.0


def sampling_order(signs: Vector) -> Rows:
    """The rows in an order of which every beginning is a fair sample: random, and with its share of both classes."""
    random, places = np.random.default_rng(0), np.empty(len(signs))
    for sign in (1.0, -1.0):
        rows = np.flatnonzero(signs == sign)
        places[rows] = random.permutation(len(rows)) / max(1, len(rows))
    return np.argsort(places, kind="stable")


def without(rows: Rows, others: Rows, n: int) -> Rows:
    """The rows that are none of the others, of n rows."""
    stays = np.ones(n, dtype=bool)
    stays[others] = False
    return rows[stays[rows]]


def sample_sizes(n: int) -> list[int]:
    """How many rows the samples have, the last one all of them."""
    sizes = [n]
    while sizes[0] >= GROWTH * SMALLEST:
        sizes.insert(0, sizes[0] // GROWTH)
    return sizes


@dataclass(eq=False)
class SMOState(State):
    """All rows, the part of them that is at work, if one is, and what the rounds have led to.

    The cache holds rows of the kernel divided by `scale`.
    """

    scale: float
    cache: RowCache = varying()
    whole: AllRows = varying()
    aim: float = varying()
    chosen: Rows = varying(factory=lambda: np.zeros(0, dtype=np.intp), grows=True)
    part: Part | None = varying(None)
    progress: Progress = varying(factory=Progress)
    rounds: int = varying(0)
    steps: int = varying(0)
    proven: float = varying(math.nan)
    dual: float = varying(0.0)

    def iterate(self, gap: float, *, proposes: bool = False) -> Iterate:
        shown = gap if self.whole.is_all else math.nan
        a = self.whole.a / self.scale
        return Iterate(np.zeros(0), self.whole.b, a, proposes, self.steps, self.rounds, gap=shown)


def batch_smo(
    problem: KernelMargin, cache: RowCache, scale: float, *, tol: float, memory: Values, start: Vector | None = None
) -> Run:
    """Rounds until the gap seems to be below tol; each proposal that is judged brings back exact values.

    The cache holds rows of the kernel divided by `scale`; `memory` is for those of smaller tables, one after
    the other.
    """
    whole = AllRows(problem, cache, scale, memory)
    if start is not None:
        whole.begin_with(start * scale)
    state = SMOState(scale, cache, whole, AIM * tol)
    return Run(state, steps(state))


def steps(state: SMOState) -> Iterates:
    """The rounds of the header, 1 to 4; a round, `table.step`, is SMO on a working set (active_rows, working_set)."""
    whole = state.whole
    if state.part is not None:  # an earlier process was at work on it
        if not len(state.chosen) or state.chosen.min() < 0:
            raise StateError("it was at work on a part of the rows, and does not say on which")
        state.part = whole.part_of(state.chosen, 0.0)
    while True:
        if state.part is None:
            yield None
            view = whole.look()
            gap = view.gap / view.primal if 0.0 < view.primal < np.inf else view.gap
            level = state.aim if whole.is_all else ROUGH
            is_there = view.gap <= level * view.primal < np.inf or view.violation <= 0.0
            is_hopeless = view.ray > HOPELESS
            if not (is_there or is_hopeless or state.progress.has_ended(view, LOOKS, all_rows=True)):
                state.chosen = whole.choose(view)
                state.part = whole.part_of(state.chosen, gap)
                state.part.aim_at(goal_of(level, view), state.part.table.look().gap)
            elif not whole.is_all:
                whole.grow()
                state.progress = Progress()
                yield state.iterate(gap)
                continue
        part, chosen = state.part, state.chosen
        if part is not None:
            gap = part.gap
            while True:
                yield None
                inner = part.table.look()
                if whole.is_small:  # there are no others
                    part.aim_at(goal_of(state.aim, inner), 0.0)
                if part.has_ended(inner):
                    break
                made = part.table.step(inner)
                state.steps, state.rounds = state.steps + made, state.rounds + 1
                whole.a[chosen] = part.table.a
                if whole.is_small and made >= part.table.most_steps:  # fewer active rows are better from now on
                    whole.is_small, state.part = False, None
                    whole.take_over(part, chosen, part.table.look().b)
                yield state.iterate(gap)
                if state.part is None:
                    break
            if state.part is None:
                continue
            if not (whole.is_all and part.is_there(inner)):
                whole.take_over(part, chosen, inner.b)
                state.part = None
                continue
        answer = yield state.iterate(gap, proposes=True)
        if answer is None:
            return
        is_known = np.isfinite(answer.values)
        if not math.isnan(answer.b):
            rise, gap_left = answer.dual - state.dual, answer.primal - answer.dual
            is_first = math.isnan(state.proven)
            if not is_first and not (answer.gap < BETTER * state.proven or rise > (1.0 - BETTER) * gap_left):
                return
            state.proven, state.dual = float(answer.gap) if answer.gap < np.inf else math.inf, float(answer.dual)
        if np.all(is_known):
            whole.take(answer.values, answer.b)
        else:  # a judge who has seen enough need not look at all rows, nor for the best bias
            if part is not None:
                whole.take_over(part, chosen, inner.b)
            whole.values[is_known] = answer.values[is_known]
        state.part = None
        state.aim, state.progress = 0.5 * state.aim, Progress()
