"""Stochastic subgradient steps on rows that are read by blocks: w and its mean are all that is kept.

    sweep     one block after the other; the steps of `stochastic_subgradient` on its rows. All problems of many classes
              take theirs while the block is there
    order     as the rows lie; or in sweep number s a permutation of the blocks, and of the rows of each block, drawn by
              the seed and s. So rows of different blocks never alternate
    look      one pass, after 2 sweeps, 4, 8, ... and at the end: P of the plane; D of rules at this plane and at the
              mean of the planes, each with some widths

In memory the violations that were counted are a dual point. They have the length of the table, and here a rule takes
their place (`problems.block_margin`). Any rule bounds the optimum, and the best bound of all looks is kept. The plane
is the one that the steps give, not the best that they came by.

The steps go one row after the other, so that a sweep reads the blocks in this process, whoever computes the passes.
Between two sweeps the state is complete, and is kept: another process goes on from there with the same bits. What the
plane and the weights are worth is measured again, never read from a file.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates.block_duality import judged, measurement, sure
from maxmargin.certificates.passes import soft_gap
from maxmargin.data.executor import OutOfTime, check_interrupt
from maxmargin.data.labelled import LabelledTable
from maxmargin.data.table import Vector
from maxmargin.problems.block_margin import Ask, BlockMargin, Facts, ListedRows, Rule, SignedBlock, Weights
from maxmargin.problems.descent import NO_NUMBERS, Descent
from maxmargin.problems.protocol import State, StateError, varying
from maxmargin.problems.statement import SoftMargin
from maxmargin.problems.step_lengths import DAMPED
from maxmargin.run.control import Clock, Status
from maxmargin.solve.by_blocks import SLOWER, Found, Leader, run_all
from maxmargin.solve.stochastic import FIRST_LOOK, UNTIL_NEXT_LOOK
from maxmargin.solvers.stochastic_subgradient import NUMBERS_PER_CALL, Step, prepare, visit

WIDTHS = (0.001, 0.004, 0.015, 0.06, 0.3)  # of the rules, in distances from the plane to an edge of its street


class Several(NamedTuple):
    """Several parts in one read of a block."""

    parts: tuple[Any, ...]

    def __call__(self, block: SignedBlock) -> Found:
        return Found(tuple(part(block) for part in self.parts))


@dataclass(eq=False)
class Descending(State):
    """One problem while it is solved: the run as it stands; the plane that was measured last, the best weights.

    passes, measured    the sweeps so far; the visits before the last look, -1: there was none
    """

    problem: BlockMargin
    facts: Facts
    tol: float
    run: Descent = varying()
    w: Vector = varying(factory=lambda: NO_NUMBERS, grows=True)
    b: float = varying(0.0)
    weights: Weights = varying(factory=lambda: Weights(Rule.nothing(0), ListedRows.nobody()), grows=True)
    status: str = varying("")
    measured: int = varying(-1)
    primal: float = math.inf
    dual: float = 0.0
    fingerprint: str = ""

    @property
    def gap(self) -> float:
        return soft_gap(self.primal, self.dual)

    @property
    def is_known(self) -> bool:
        return self.measured >= 0

    @property
    def passes(self) -> int:
        return self.run.sweeps

    def after_restore(self) -> None:
        d = self.facts.n_columns
        if self.is_known and not len(self.w) == len(self.weights.rule.w) == d:
            raise StateError("the plane or the rule of the run cannot be of this table")

    def measure_again(self) -> Generator[Ask, Any, None]:
        """What an earlier process has found."""
        answer = yield measurement(self.problem, self.facts.n_blocks, self.w, self.b, self.weights)
        sides = judged(self.problem, self.w, answer)
        self.primal, self.dual = sides.primal.upper, max(0.0, sure(sides.dual).lower)
        self.fingerprint = sides.fingerprint

    def rules(self) -> Iterator[Rule]:
        """At the plane, and at the mean of the planes."""
        mean = dataclasses.replace(self.run, average=True)
        planes = [(self.run.w, self.run.b), *([] if self.run.average else [(mean.w, mean.b)])]
        return (Rule(w, b, width) for w, b in planes if np.all(np.isfinite(w)) for width in WIDTHS)

    def measure(self) -> Generator[Ask, Any, None]:
        """The look."""
        visits, w, b = self.run.visits, self.run.w, float(self.run.b)
        weights = [Weights(rule, ListedRows.nobody()) for rule in self.rules()]
        asks = [measurement(self.problem, self.facts.n_blocks, w, b, own) for own in weights]
        answer = yield Ask(Several(tuple(ask.part for ask in asks)))
        sides = [judged(self.problem, w, found) for found in answer.answers]
        self.w, self.b, self.primal = w, b, sides[0].primal.upper
        self.fingerprint, self.measured = sides[0].fingerprint, visits
        duals = [sure(found.dual).lower for found in sides]
        best = int(np.argmax(duals))
        if duals[best] > self.dual or not len(self.weights.rule.w):
            self.weights, self.dual = weights[best], max(0.0, duals[best])
        self.status = Status.PROVEN.name if self.gap <= self.tol else ""

    def visit(self, block: SignedBlock, random: np.random.Generator | None, step: Step) -> None:
        """The steps at the rows of a block."""
        n = len(block.signs)
        if not n:
            return
        self.run.a = np.zeros(n)  # counts of these rows, which nobody asks for
        rows = SoftMargin(block.X, block.signs, block.costs, self.problem.loss, self.problem.fit_intercept)
        table, rule, _ = prepare(rows, self.run, damped=step == DAMPED)
        order = np.arange(n) if random is None else random.permutation(n)
        at_once = max(1, int(NUMBERS_PER_CALL / max(1.0, self.facts.terms)))
        for start in range(0, n, at_once):
            check_interrupt()
            visit(table, rule, self.run, None, order[start : start + at_once], step)
        self.run.a = NO_NUMBERS


class Sweeps(NamedTuple):
    """How the rows are visited; seed None: as they lie."""

    step: Step
    seed: int | None
    most: int


def descend(table: LabelledTable, standings: list[Descending], sweeps: Sweeps, clock: Clock, seconds: float) -> None:
    """Until every gap is proven, the sweeps are made, the time is over, or Ctrl-C; whatever was found is measured."""
    first = {id(one): one.run.sweeps for one in standings}
    for one in standings:
        if not len(one.run.v_lag):
            one.run.begin_mean()
        one.run.a = NO_NUMBERS
    leader = Leader(table, standings, clock, standings[0].tol, seconds)
    known = [one for one in standings if one.is_known]
    run_all(leader, known, [one.measure_again() for one in known])
    reason, going = Status.BUDGET, [one for one in standings if not one.status]
    done, next_look = max(one.run.sweeps - first[id(one)] for one in standings), FIRST_LOOK
    while next_look <= done:
        next_look *= UNTIL_NEXT_LOOK
    try:
        with clock.searching():
            for sweep in range(done, sweeps.most if going else done):
                clock.reserve = SLOWER * leader.slowest if clock.is_limited else 0.0
                one_sweep(table, going, sweeps, [first[id(one)] + sweep for one in going], clock)
                if sweep + 1 >= next_look:
                    look_at(leader, going)
                    next_look = UNTIL_NEXT_LOOK * (sweep + 1)
                    going = [one for one in going if not one.status]
                clock.at_rest(standings)
                if not going:
                    break
    except OutOfTime:
        reason = clock.reason
    except KeyboardInterrupt:
        clock.interrupt()
        reason = Status.INTERRUPTED
    clock.reserve = 0.0
    late = [one for one in going if one.measured != one.run.visits]
    with suppress(OutOfTime), clock.judging():
        look_at(leader, late)
    look_at(leader, [one for one in late if not one.is_known])  # beyond the limit, too: or nothing is known
    for one in going:
        one.status = one.status or reason.name


def one_sweep(
    table: LabelledTable, going: list[Descending], sweeps: Sweeps, numbers: list[int], clock: Clock
) -> None:  # fmt: skip
    """Of all problems, each with its own number of this sweep."""
    order = np.arange(table.n_blocks)
    randoms: list[np.random.Generator | None] = [None] * len(going)
    if sweeps.seed is not None:
        randoms = [np.random.default_rng((sweeps.seed, number)) for number in numbers]
        if table.n_blocks > 1:
            order = np.random.default_rng((sweeps.seed, numbers[0], table.n_blocks)).permutation(table.n_blocks)
    for done, k in enumerate(order):
        block = table.block(int(k))
        for one, random in zip(going, randoms, strict=True):
            one.visit(one.problem.of(block), random, sweeps.step)
        clock.stage = f"sweep {numbers[0] + 1}, block {done + 1} of {table.n_blocks}"
        clock.report()
    for one in going:
        one.run.sweeps += 1


def look_at(leader: Leader, standings: list[Descending]) -> None:
    run_all(leader, standings, [one.measure() for one in standings])
