"""A separating plane of rows that are read by blocks: a run that solves and is judged in the same passes.

The solver shows a street and asks for a scan of all rows; the judge looks at the same street in the same read of the
blocks. It keeps the best plane that it has seen, and the rows that carry the last weights as they stand in the table.
So after every pass there is a certificate, and where the time is over, that of the last pass is the answer.

A witness is judged by its rows alone, after one pass that brings them.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates.block_planes import BlockPlane, Nearest, RawRows, Seen, halfway_bias, seen_plane
from maxmargin.certificates.block_separation import BlockClaim, certify_by_blocks
from maxmargin.certificates.certificate import Certificate, Verdict
from maxmargin.certificates.measure import ScaledPlane, scaled_plane
from maxmargin.data.labelled import LabelledTable
from maxmargin.data.table import Vector
from maxmargin.problems.block_margin import Ask, BlockMargin, Facts, ListedRows, OwnRows, SignedBlock
from maxmargin.problems.protocol import State, varying
from maxmargin.run.control import Status
from maxmargin.solvers.by_passes.widest_street import HardMarginState, ShownStreet, street_by_passes
from maxmargin.solvers.passes import combination


class Together(NamedTuple):
    """A part of the solver and one of the judge, in one read of a block; the listed rows are for the judge."""

    solver: Any
    judge: Any

    def __call__(self, block: SignedBlock, own: OwnRows | None = None) -> Both:
        judged = self.judge(block) if own is None else self.judge(block, own)
        return Both(self.solver(block), judged)


class Both(NamedTuple):
    solver: Any
    judge: Any

    def and_of(self, other: Both) -> Both:
        return Both(self.solver.and_of(other.solver), self.judge.and_of(other.judge))


class Plane(NamedTuple):
    """A plane as it was claimed, and what the judge has seen of it."""

    w: Vector
    b: float
    seen: BlockPlane | None = None


@dataclass(eq=False)
class Separating(State):
    """One problem while it is solved, and what is proven of it.

    carrying, rows    the last weights, and the rows that carry them as the judge has read them
    """

    table: LabelledTable
    problem: BlockMargin
    facts: Facts
    tol: float
    memory: float
    solver: HardMarginState = varying(factory=HardMarginState)
    passes: int = varying(0)
    status: str = ""
    meets: bool = False
    carrying: ListedRows = field(default_factory=ListedRows.nobody)
    rows: RawRows | None = None
    latest: Plane | None = None
    best: Plane | None = None
    gap: float = math.inf
    primal: float = math.inf
    dual: float = 0.0
    is_known: bool = True  # of a plane that nobody has seen it is known that it proves nothing

    @property
    def w(self) -> Vector:
        """Of the best plane so far; none is w = 0."""
        return np.zeros(self.table.n_columns) if self.best is None else self.best.w

    @property
    def b(self) -> float:
        return 0.0 if self.best is None else self.best.b

    def last_word(self) -> None:
        """Nothing is left to be measured where a run must end: each street was judged with its scan."""

    def led(self) -> Generator[Ask | None, Any, Certificate]:
        """The widest street of the problem, or the witness that there is none; as it is certified."""
        steps = street_by_passes(self.problem, self.facts, self.solver, self.tol, self.memory)
        answer: Any = None
        try:
            while not self.status:
                try:
                    wish = steps.send(answer)
                except StopIteration as end:
                    self.status = Status.STALLED.name
                    if end.value.meets:
                        yield from self.judge_witness(end.value.carrying)
                    break
                yield None
                found = yield judged(wish) if isinstance(wish, ShownStreet) else wish
                self.passes += 1
                answer = found
                if isinstance(wish, ShownStreet):
                    self.look(wish.street.p, wish.street.carrying, found.judge)
                    answer = found.solver
        finally:
            steps.close()
        return self.certificate()

    def look(self, w: Vector, carrying: ListedRows, seen: Seen) -> None:
        """The judge's look at a plane, with the bias that has both sides equally far, and at the weights."""
        self.carrying, self.rows = carrying, seen.listed
        centred = scaled_plane(w, 0.0, "l2")
        if centred is None:
            return
        b = halfway_bias(seen) if self.problem.fit_intercept else 0.0
        self.latest = Plane(
            centred.w, b, seen_plane(seen, ScaledPlane(centred.w, b, centred.size), self.facts.is_sparse)
        )
        if self.best is None or lower_of(self.latest) > lower_of(self.best):
            self.best = self.latest
        certificate = self.certificate()
        self.gap, self.primal, self.dual = certificate.relative_gap, certificate.primal, certificate.dual
        if certificate.verdict is Verdict.OPTIMAL:
            self.status = Status.SETTLED.name

    def judge_witness(self, carrying: ListedRows) -> Generator[Ask, Any, None]:
        seen = yield Ask(Nearest(np.zeros(self.table.n_columns)), carrying.by_block())
        self.carrying, self.rows, self.meets, self.passes = carrying, seen.listed, True, self.passes + 1
        if self.certificate().is_separable is False:
            self.status = Status.SETTLED.name

    def certificate(self, stopped: bool = False) -> Certificate:
        """What is proven so far: of the last plane, if it is optimal, or else of the best one."""
        if self.latest is not None and not self.meets:
            certificate = self.certified(self.latest, stopped)
            if certificate.verdict is Verdict.OPTIMAL or self.latest is self.best:
                return certificate
        return self.certified(self.best or Plane(self.w, self.b), stopped)

    @property
    def rows_at_hand(self) -> RawRows:
        """Those that carry weight."""
        return nothing_of(self.table) if self.rows is None else self.rows

    def certified(self, plane: Plane, stopped: bool) -> Certificate:
        rows = self.rows_at_hand
        claim = BlockClaim(plane.w, plane.b, self.carrying, self.meets, stopped)
        return certify_by_blocks(self.table, self.problem, claim, plane.seen, rows, self.tol)


def lower_of(plane: Plane) -> float:
    return -np.inf if plane.seen is None else plane.seen.lower


def nothing_of(table: LabelledTable) -> RawRows:
    return RawRows(np.zeros(0, dtype=np.uint64), np.zeros((0, table.n_columns)), np.zeros(0))


def judged(shown: ShownStreet) -> Ask:
    """The scan, with the judge beside it."""
    plane = scaled_plane(shown.street.p, 0.0, "l2")
    w = np.zeros(len(shown.street.p)) if plane is None else plane.w
    return Ask(Together(shown.ask.part, Nearest(w)), shown.street.carrying.by_block())


class Means(NamedTuple):
    """A part of a pass: the sum of the rows of each side."""

    def __call__(self, block: SignedBlock) -> Sums:
        return Sums(*(combination(block.X, np.where(block.signs == sign, 1.0, 0.0)) for sign in (1.0, -1.0)))


class Sums(NamedTuple):
    plus: Vector
    minus: Vector

    def and_of(self, other: Sums) -> Sums:
        return Sums(self.plus + other.plus, self.minus + other.minus)


def with_plane_between_means(standing: Separating) -> Generator[Ask, Any, None]:
    """Where no plane separates: that half way between the means of the classes, measured; in two passes."""
    sums = yield Ask(Means())
    with np.errstate(over="ignore", invalid="ignore"):
        plus, minus = (total / side for total, side in zip(sums, standing.facts.sides, strict=True))
        w = plus - minus
        b = -0.5 * float(w @ (plus + minus)) if standing.problem.fit_intercept else 0.0
    plane = scaled_plane(w, b, "l2")
    if plane is not None:
        seen = yield Ask(Nearest(plane.w))
        standing.best = standing.latest = Plane(plane.w, plane.b, seen_plane(seen, plane, standing.facts.is_sparse))
