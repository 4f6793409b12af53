"""Learning by mistakes on rows that are read by blocks: sweeps over the blocks; mistakes are counted for few rows.

    sweep     one block after the other, by the loops of `solvers.mistakes` on its rows; all problems of many classes
              learn while the block is there. Shuffled: a permutation of the blocks, and of the rows of each
    ends      when every row was visited since the last mistake (shuffled: within one sweep), looked at after a block
    phases    of a learner that searches a number (`block_learners.py`): the next one begins with the next sweep
    referee   after 20 sweeps, or at the end of the budget: the separation by passes says once whether there is a plane
    judge     one pass sees the planes to choose from, and brings the rows that were mistaken. Where these are more than
              the memory holds, they are forgotten, and nothing bounds the best margin from above
    kept      between two sweeps the state is complete: another process goes on from there with the same bits

The steps go one row after the other, so that a sweep reads the blocks in this process, whoever computes the passes.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates.block_planes import Nearest, RawRows, Seen, once, seen_plane
from maxmargin.certificates.block_separation import BlockClaim, certify_by_blocks
from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.measure import scaled_plane
from maxmargin.data.executor import OutOfTime, check_interrupt
from maxmargin.data.labelled import LabelledTable, RowIds, block_and_row
from maxmargin.data.table import Vector
from maxmargin.problems.block_margin import Ask, BlockMargin, Facts, ListedRows, OwnRows, SignedBlock
from maxmargin.problems.choices import Order
from maxmargin.problems.protocol import State, StateError, shown, varying
from maxmargin.problems.statement import Separation
from maxmargin.run.control import Clock, Status
from maxmargin.solve.block_learners import NO_COUNTS, BlockLearner, Planes
from maxmargin.solve.by_blocks import SLOWER, Leader, run_all
from maxmargin.solve.separation import in_units_of_the_user
from maxmargin.solve.separation_by_blocks import Separating, lower_of, nothing_of
from maxmargin.solvers.by_passes.widest_street import row_in_memory, scaled
from maxmargin.solvers.mistakes.driver import MistakeState, visited
from maxmargin.solvers.passes import values_of

REFEREE_AFTER = 20  # sweeps
PRECISE = 1e-9  # of the referee
NO_IDS: RowIds = np.zeros(0, dtype=np.uint64)


class Candidates(NamedTuple):
    """A part: how many rows each plane has on the wrong side or on it, and what the judge sees of each."""

    planes: tuple[tuple[Vector, float], ...]
    scale: float
    judges: tuple[Nearest, ...]

    def __call__(self, block: SignedBlock, own: OwnRows | None = None) -> Judged:
        X = scaled(block.X, self.scale)
        wrong = np.array([np.sum(block.signs * (values_of(X, w) + b) <= 0.0) for w, b in self.planes])
        return Judged(wrong, tuple(judge(block, own) for judge in self.judges))


class Judged(NamedTuple):
    wrong: Vector
    seen: tuple[Seen, ...]

    def and_of(self, other: Judged) -> Judged:
        seen = tuple(one.and_of(two) for one, two in zip(self.seen, other.seen, strict=True))
        return Judged(self.wrong + other.wrong, seen)


@dataclass(eq=False)
class Learning(State):
    """One problem while it is learnt: the phase at hand, updates and sweeps before it, and the mistakes of each row.

    unit      what the learner wants to know of all rows; nan: not yet
    tried     the number of this phase
    memory    for rows that were mistaken; 0 when they were too many
    """

    table: LabelledTable
    problem: BlockMargin
    facts: Facts
    learner: BlockLearner
    scale: float
    memory: float = varying()
    state: MistakeState = varying(None)
    unit: float = varying(math.nan)
    tried: float = varying(0.0)
    updates: int = varying(0)
    sweeps: int = varying(0)
    clean: int = varying(0)
    ids: RowIds = varying(factory=lambda: NO_IDS, grows=True)
    counts: Vector = varying(factory=lambda: NO_COUNTS, grows=True)
    status: str = varying("")
    was_asked: bool = varying(False)
    waits: bool = False  # for the next sweep
    witness: Separating | None = None
    certificate: Certificate | None = None
    rows: RawRows | None = None
    gap: float = math.inf
    is_known: bool = False

    def __post_init__(self) -> None:
        if self.learner.unit(self.scale) is None:
            self.unit = 0.0
        self.begin_phase(self.learner.tried(self.unit, self.lift))

    @property
    def lift(self) -> float:
        return float(self.problem.fit_intercept)

    @property
    def all_updates(self) -> int:
        return self.updates + self.state.updates

    def after_restore(self) -> None:
        blocks, rows = block_and_row(self.ids)
        heights = self.table.seen.heights
        are_there = bool(np.all(blocks < len(heights))) and bool(np.all(rows < heights[blocks]))
        if not (are_there and np.all(np.diff(blocks * 2**32 + rows) > 0) and len(self.ids) == len(self.counts)):
            raise StateError("rows that were mistaken cannot be of this table")
        if self.status == Status.WITNESS.name:  # which is not kept: who goes on asks for it again
            self.status, self.was_asked = "", False

    def begin_phase(self, tried: float) -> None:
        self.tried = tried
        self.state = self.learner.start(self.facts, tried, self.lift)
        self.ids, self.counts, self.clean = NO_IDS, NO_COUNTS, 0

    def measure_unit(self) -> Generator[Ask, Any, None]:
        """What the learner wants to know before it begins."""
        self.unit = (yield Ask(self.learner.unit(self.scale))).value
        self.begin_phase(self.learner.tried(self.unit, self.lift))

    @property
    def left(self) -> int:
        """Updates of this phase."""
        left = self.learner.max_updates - self.updates
        if self.learner.searches:
            left = max(1, min(left, self.learner.allowed(self.facts, self.tried, self.unit, self.lift)))
        return left - self.state.updates

    def visit(self, block: SignedBlock) -> None:
        """The rows of a block, once."""
        n, state = len(block.signs), self.state
        if not n or self.waits or self.status:
            return
        rows = Separation(scaled(block.X, self.scale), block.signs, self.learner.norm, self.problem.fit_intercept)
        state.counts, state.clean = np.zeros(n), 0
        rule = self.learner.rule(rows, state, self.tried, self.unit)
        rule.begin_order()
        order = np.arange(n) if rule.order is Order.CYCLIC else state.random.permutation(n)
        position = 0
        while position < n:
            check_interrupt()
            rule.begin_call()
            most = min(rule.updates_per_call, self.left)
            found = visited(rule, order[: position + rule.visits_per_call], position, most)
            position = found.position
            if found.is_full and self.left <= 0:
                break
        self.clean = self.clean + n if state.clean == n else state.clean
        self.count(block, state.counts)
        state.counts = NO_COUNTS
        if position < n or rule.has_failed():
            self.end_phase()
        elif self.clean >= self.facts.n_rows:
            self.status = Status.SETTLED.name

    def count(self, block: SignedBlock, counts: Vector) -> None:
        mistaken = np.flatnonzero(counts)
        ids = np.concatenate([self.ids, block.ids(mistaken)])
        if len(ids) * row_in_memory(self.facts) > self.memory:
            self.ids, self.counts, self.memory = NO_IDS, NO_COUNTS, 0.0
            return
        self.ids, places = np.unique(ids, return_inverse=True)
        joined = np.concatenate([self.counts, counts[mistaken]])
        self.counts = np.bincount(places, joined, len(self.ids)).astype(np.float64)

    def end_phase(self) -> None:
        """A mistake is left, and no update is allowed; or no margin is as large as the number that was tried."""
        if self.learner.searches and self.all_updates < self.learner.max_updates:
            self.updates = self.all_updates
            self.begin_phase(self.learner.shrunk(self.tried))
            self.waits = True
        else:
            self.status = Status.BUDGET.name

    def ask_referee(self) -> Generator[Ask, Any, None]:
        """Whether there is a plane: until one is seen, or the hulls meet."""
        self.was_asked = True
        known = Separating(self.table, self.problem, self.facts, PRECISE, max(self.memory, 1e6))
        run, answer = shown(known.led()), None
        while True:
            try:
                wish = run.send(answer)
            except StopIteration:
                break
            if known.best is not None and lower_of(known.best) > 0.0:
                run.close()
                return
            answer = yield wish
        if known.certificate().is_separable is False:
            self.witness, self.status = known, Status.WITNESS.name

    def judge(self) -> Generator[Ask, Any, None]:
        """The plane that is shown, and what is proven, in one pass."""
        settled, norm = self.status == Status.SETTLED.name, str(self.learner.norm)
        planes = self.learner.planes(self.state, self.unit, self.lift)
        if settled and not self.learner.average:
            planes = planes[:1]
        shown = [in_units_of_the_user(w, b, self.scale) for w, b in planes]
        claimed = [scaled_plane(w, b, norm) for w, b in shown]
        nowhere = np.zeros(self.table.n_columns)
        judges = tuple(Nearest(nowhere if plane is None else plane.w) for plane in claimed)
        carrying = ListedRows(self.ids, self.counts) if self.witness is None else self.witness.carrying
        found = yield Ask(Candidates(tuple(planes), self.scale, judges), carrying.by_block())
        chosen = self.choice(planes, found.wrong, settled)
        (w, b), plane, seen = shown[chosen], claimed[chosen], found.seen[chosen]
        rows = once(seen.listed) if len(carrying.ids) else nothing_of(self.table)
        sides = [bool(np.any(rows.signs == sign)) for sign in (1.0, -1.0)]
        if self.problem.fit_intercept and sum(sides) == 1 and self.witness is None:
            other = seen.minus.row if sides[0] else seen.plus.row  # any row of its class bounds the margin
            carrying = ListedRows.sorted(np.append(carrying.ids, other.ids), np.append(self.counts, self.counts.sum()))
            rows = once(rows.and_of(other))
        measured = None if plane is None else seen_plane(seen, plane, self.facts.is_sparse)
        claim = BlockClaim(w, b, carrying, self.witness is not None, stopped=not settled)
        self.certificate = certify_by_blocks(self.table, self.problem, claim, measured, rows, 0.0, norm)
        self.rows = rows

    def choice(self, planes: Planes, wrong: Vector, settled: bool) -> int:
        """The last plane, 0, or the mean of all, 1."""
        if len(planes) == 1:
            return 0
        return int(wrong[1] == 0 or not settled if self.learner.average else wrong[1] < wrong[0])


def learn(table: LabelledTable, standings: list[Learning], clock: Clock, seconds: float) -> None:
    """Until each has ended by itself, by a witness or its budget, the time is over, or Ctrl-C; all are judged."""
    leader = Leader(table, standings, clock, 0.0, seconds)
    reason = Status.BUDGET
    try:
        with clock.searching():
            new = [one for one in standings if math.isnan(one.unit)]
            run_all(leader, new, [one.measure_unit() for one in new])
            while True:
                clock.at_rest(standings)
                if not (going := [one for one in standings if not one.status]):
                    break
                tired = [one for one in going if one.sweeps >= REFEREE_AFTER and not one.was_asked]
                run_all(leader, tired, [one.ask_referee() for one in tired])
                if going := [one for one in going if not one.status]:
                    clock.reserve = SLOWER * leader.slowest if clock.is_limited else 0.0
                    one_sweep(table, going, clock)
            spent = [one for one in standings if one.status == Status.BUDGET.name and not one.was_asked]
            run_all(leader, spent, [one.ask_referee() for one in spent])
    except OutOfTime:
        reason = clock.reason
    except KeyboardInterrupt:
        clock.interrupt()
        reason = Status.INTERRUPTED
    for one in standings:
        one.status = one.status or reason.name
    clock.reserve = 0.0
    run_all(leader, standings, [one.judge() for one in standings])  # beyond the limit, too: or nothing is known


def one_sweep(table: LabelledTable, going: list[Learning], clock: Clock) -> None:
    learner, sweep = going[0].learner, going[0].sweeps
    order = np.arange(table.n_blocks)
    if learner.order is not Order.CYCLIC:
        order = np.random.default_rng((learner.seed, sweep)).permutation(table.n_blocks)
    for one in going:
        one.waits, one.clean = False, one.clean if learner.order is Order.CYCLIC else 0
    for done, k in enumerate(order):
        block = table.block(int(k))
        for one in going:
            one.visit(one.problem.of(block))
        clock.stage = f"sweep {sweep + 1}, block {done + 1} of {table.n_blocks}"
        clock.report()
        if all(one.status or one.waits for one in going):
            break
    for one in going:
        one.sweeps += 1
