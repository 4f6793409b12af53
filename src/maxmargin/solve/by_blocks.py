"""Solvers and the judge over the blocks of a table: all problems of many classes advance in the same passes.

A run is a generator. It yields what it wants to know of the blocks, an `Ask`, and is sent what all blocks together
answer. Runs of several problems (one for each class, or pair of classes) are led side by side: each pass reads a block
once and asks it on behalf of all runs that still go on.

    part(signed_block) -> found           a pure function, or a NamedTuple with __call__, that can be sent elsewhere;
    part(signed_block, own)               where the block has listed rows
    found.and_of(other)                   joins what two neighbours found

A solver also yields a `Proposal`: then the judge's own run takes its place in the passes, and the solver is answered
with what is proven so far. The best plane and the best dual point are kept from the judge's numbers; they need not come
together.

Whenever a solver asks for a pass its state is complete, with the best plane and weights: it is at rest, and another
process goes on from there with the same bits. What they are worth is measured again, never read from a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates.block_duality import both_sides
from maxmargin.certificates.passes import soft_gap
from maxmargin.data.executor import OutOfTime, counting, pass_over
from maxmargin.data.labelled import LabelledBlock, LabelledTable
from maxmargin.data.table import Vector
from maxmargin.problems.block_margin import (
    Ask,
    BlockMargin,
    Facts,
    ListedRows,
    OwnRows,
    PassRun,
    PassState,
    Proposal,
    Proven,
    Rule,
    SolverByPasses,
    Weights,
)
from maxmargin.problems.protocol import Iterate, State, StateError, varying
from maxmargin.problems.statement import SignedRows
from maxmargin.run.control import Clock, Status, now
from maxmargin.run.observation import PassProgress

RestingRun = Generator[Ask | Proposal | None, Any, Any]  # that says by `yield None` that it is at rest

SLOWER = 1.3  # times the slowest pass so far: so much time is kept for the last one, which measures


class Found(NamedTuple):
    """What the runs were answered, each its own."""

    answers: tuple[Any, ...]

    def and_of(self, other: Found) -> Found:
        return Found(tuple(one.and_of(two) for one, two in zip(self.answers, other.answers, strict=True)))


class SideBySide(NamedTuple):
    """One part for each problem, in one read of a block."""

    problems: tuple[BlockMargin, ...]
    parts: tuple[Any, ...]

    def __call__(self, block: LabelledBlock, own: dict[int, OwnRows] | None = None) -> Found:
        """`own`: by the number of the run."""
        answers = []
        for number, (problem, part) in enumerate(zip(self.problems, self.parts, strict=True)):
            signed = problem.of(block)
            answers.append(part(signed, own[number]) if own and number in own else part(signed))
        return Found(tuple(answers))


def side_by_side(
    table: LabelledTable,
    problems: list[BlockMargin],
    runs: Sequence[PassRun | RestingRun],
    one_pass: Callable[[LabelledTable, list[BlockMargin], list[Ask]], tuple[Any, ...]] | None = None,
    at_rest: Callable[[int], None] = lambda number: None,
) -> list[Any]:
    """The results of all runs, in their order; `one_pass` makes the passes, `at_rest` is told which run is at rest."""
    results: list[Any] = [None] * len(runs)
    answers: dict[int, Any] = dict.fromkeys(range(len(runs)))
    while answers:
        asks: dict[int, Any] = {}
        for number, answer in answers.items():
            try:
                while (wish := runs[number].send(answer)) is None:
                    at_rest(number)
                    answer = None
                asks[number] = wish
            except StopIteration as end:
                results[number] = end.value
        if not asks:
            break
        answers.clear()
        found = (one_pass or answers_of)(table, [problems[number] for number in asks], list(asks.values()))
        answers = dict(zip(asks, found, strict=True))
        del found
    return results


def answers_of(table: LabelledTable, problems: list[BlockMargin], asks: list[Ask]) -> tuple[Any, ...]:
    """One pass: what all blocks together answer to each."""
    own: dict[int, dict[int, OwnRows]] = {}
    for number, ask in enumerate(asks):
        for block, rows in ask.own.items():
            own.setdefault(block, {})[number] = rows
    part = SideBySide(tuple(problems), tuple(ask.part for ask in asks))
    answers: tuple[Any, ...] = pass_over(part, table, own).answers
    return answers


@dataclass(eq=False)
class Standing(State):
    """One problem while it is solved: the solver's state; the best plane, the best weights, as they were measured here.

    passes    that the solver has had; `status`: how it ended, empty while it goes on
    is_known  whether anything was measured
    """

    problem: BlockMargin
    facts: Facts
    tol: float
    solver: PassState = varying()
    w: Vector = varying()
    weights: Weights = varying(grows=True)
    b: float = varying(0.0)
    passes: int = varying(0)
    is_known: bool = varying(False)
    status: str = varying("")
    primal: float = math.inf
    dual: float = 0.0
    fingerprint: str = ""  # of the rows that were measured
    measured: int = 0  # how many passes the solver had had at the last measurement

    @classmethod
    def of(cls, problem: BlockMargin, facts: Facts, tol: float, solver: PassState) -> Standing:
        nothing = Weights(Rule.nothing(facts.n_columns), ListedRows.nobody())
        return cls(problem, facts, tol, solver, np.zeros(facts.n_columns), nothing)

    @property
    def gap(self) -> float:
        return soft_gap(self.primal, self.dual)

    @property
    def believed_gap(self) -> float:
        return min(self.gap, self.solver.gap)

    def after_restore(self) -> None:
        d = self.facts.n_columns
        rule, listed = self.weights
        if not len(self.w) == len(rule.w) == d or len(listed.ids) != len(listed.shares):
            raise StateError("the best plane or the weights of the run cannot be of this table")

    def measure(self, proposed: Proposal) -> Generator[Ask | Proposal, Any, Proven]:
        """The judge's passes; what is better than before is kept."""
        w = np.where(np.isfinite(proposed.w), proposed.w, 0.0)
        found = yield from both_sides(
            self.problem, self.facts, w, float(proposed.b), proposed.weights, matters=self.tol
        )  # fmt: skip
        self.is_known, self.measured, self.fingerprint = True, self.passes, found.fingerprint
        if found.primal.upper < self.primal or self.primal == math.inf:
            self.w, self.b, self.primal = w.copy(), float(proposed.b), found.primal.upper
        if found.dual.lower > self.dual:
            rule, listed = proposed.weights
            self.weights = Weights(rule._replace(w=rule.w.copy()), ListedRows(listed.ids.copy(), listed.shares.copy()))
            self.dual = found.dual.lower
        return Proven(self.primal, self.dual, self.gap)

    def again(self) -> Proposal:
        """What an earlier process has found."""
        return Proposal(self.w, self.b, self.weights)

    def last_word(self) -> Proposal | None:
        """What has not been measured yet, if the run must end now; at least the plane w = 0."""
        if self.is_known and (self.status or self.measured == self.passes):
            return None
        proposal = self.solver.proposal()
        return proposal if proposal is not None or self.is_known else self.again()

    def led(self, solver: SolverByPasses, max_iter: int | None) -> RestingRun:
        """The run of the solver, and of the judge in its turn, until the gap is proven; at rest before each pass."""
        if self.is_known:
            yield from self.measure(self.again())
        answer: Any = None
        try:
            while not self.status:
                try:
                    with np.errstate(all="ignore"):
                        wish = solver.run.send(answer)
                except StopIteration:
                    self.status = Status.STALLED.name
                    break
                if isinstance(wish, Proposal):
                    answer = yield from self.measure(wish)
                elif max_iter is not None and self.passes >= max_iter:
                    self.status = Status.BUDGET.name
                    if (last := self.solver.proposal()) is not None and self.measured < self.passes:
                        yield from self.measure(last)
                else:
                    yield None
                    answer = yield wish
                    self.passes += 1
                if self.gap <= self.tol:
                    self.status = Status.PROVEN.name
            yield None
        finally:
            solver.run.close()


class Leader:
    """Leads the problems of a table, as many at once as fit, within the time of a clock."""

    def __init__(self, table: LabelledTable, standings: list[Any], clock: Clock, tol: float, survey_seconds: float):
        """`standings` of whatever kind; they go on from where an earlier process left them."""
        self.table, self.standings, self.clock, self.tol = table, standings, clock, tol
        self.passes, self.slowest = 0, survey_seconds
        self.said: set[str] = set()
        if clock.snapshots is not None:
            clock.snapshots.take_up(standings, table.n_rows)

    def lead(self, runs: list[Any], at_once: int) -> None:
        """The runs of the standings, until they end or the time is over."""
        problems = [standing.problem for standing in self.standings]
        reason: Status | None = None
        try:
            with self.clock.searching():
                for first in range(0, len(runs), at_once):
                    group = slice(first, first + at_once)
                    side_by_side(self.table, problems[group], runs[group], self.one_pass, partial(self.at_rest, first))
        except OutOfTime:
            reason = self.clock.reason
        except KeyboardInterrupt:
            self.clock.interrupt()
            reason = Status.INTERRUPTED
        finally:
            for run in runs:
                run.close()
        if reason is not None:
            self.end(reason)

    def at_rest(self, first: int, number: int) -> None:
        """A run of the group that begins with this one is at rest."""
        self.clock.at_rest([self.standings[first + number]])

    def end(self, reason: Status) -> None:
        """Measure what was found; whatever has never been measured, also beyond the limit."""
        self.clock.reserve = 0.0
        with suppress(OutOfTime), self.clock.judging():
            self.measure_last(self.standings)
        unknown = [standing for standing in self.standings if not standing.is_known]
        if unknown:
            if self.clock.verbose:
                self.clock.say("measuring what was found, in one more pass")
            self.measure_last(unknown)
        for standing in self.standings:
            if standing.gap <= self.tol:
                standing.status = Status.PROVEN.name
            standing.status = standing.status or reason.name

    def measure_last(self, standings: list[Standing]) -> None:
        words = [(standing, word) for standing in standings if (word := standing.last_word()) is not None]
        runs: list[PassRun] = [standing.measure(word) for standing, word in words]
        side_by_side(self.table, [standing.problem for standing, _ in words], runs, self.one_pass)

    def one_pass(self, table: LabelledTable, problems: list[BlockMargin], asks: list[Ask]) -> tuple[Any, ...]:
        """A pass, which is shown while it goes on."""
        clock, begun, done = self.clock, now(), 0
        if clock.verbose:
            self.say_notes()
        if clock.is_limited and not clock.interrupted:
            clock.reserve = SLOWER * self.slowest
        self.passes += 1

        def count(blocks: int) -> None:
            nonlocal done
            done += blocks
            self.show(done)

        with counting(count):
            answers = answers_of(table, problems, asks)
        self.slowest = max(self.slowest, now() - begun)
        self.show_planes()
        return answers

    def say_notes(self) -> None:
        """What solvers have to say, each sentence once."""
        notes = {getattr(standing.solver, "note", "") for standing in self.standings if hasattr(standing, "solver")}
        for note in sorted(notes - self.said - {""}):
            self.said.add(note)
            self.clock.say(note)

    @property
    def gap(self) -> float:
        """The largest, as it is proven or, where its solver is further, as that believes."""
        return float(max(getattr(standing, "believed_gap", standing.gap) for standing in self.standings))

    def show(self, done: int) -> None:
        """A block more is done."""
        clock = self.clock
        progress = PassProgress(self.passes, done, self.table.n_blocks, self.gap, clock.elapsed)
        if clock.observation.tell_pass(progress):
            clock.stopped = clock.alarm.is_set = True
        known = f"  gap about {progress.gap:.1e}" if progress.gap < math.inf else ""
        clock.stage = f"pass {self.passes}, block {done} of {self.table.n_blocks}{known}"
        if clock.verbose > 1 and done == self.table.n_blocks:
            clock.say(clock.stage)
        else:
            clock.report()

    def show_planes(self) -> None:
        """Whoever observes iterates sees the best plane of each problem, with no weights of rows."""
        nobody = np.zeros(0)
        for standing in self.standings:
            if standing.is_known and not standing.status:
                shown = Iterate(standing.w, standing.b, nobody, updates=standing.passes, sweeps=standing.passes)
                shown.gap, shown.primal, shown.dual = standing.gap, standing.primal, standing.dual
                self.clock.tell(shown, SignedRows(np.zeros((0, len(standing.w))), nobody))


def run_all(leader: Leader, standings: list[Any], runs: list[Any]) -> None:
    """The runs of these standings, side by side in the passes of the leader."""
    if standings:
        side_by_side(leader.table, [one.problem for one in standings], runs, leader.one_pass)
