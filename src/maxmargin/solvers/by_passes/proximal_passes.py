"""The passes of `proximal_points`: what blocks answer, and what a process remembers of those that it has seen last."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from maxmargin.data.executor import check_interrupt
from maxmargin.data.labelled import RowIds
from maxmargin.data.table import Vector, rows_of
from maxmargin.problems.block_margin import SignedBlock
from maxmargin.problems.losses import Loss
from maxmargin.solvers.passes import Square, combination, curve_block, squares_of_rows, values_of


class Form(NamedTuple):
    """What of a row's price it may weigh (inf: as much as it misses), and whether shares go on from stage to stage."""

    box: float
    cap: float
    bend: float  # 0: h is chosen

    @classmethod
    def of(cls, loss: Loss) -> Form:
        if not loss.is_smooth:
            return cls(loss.box, 1.0, 0.0)
        return cls(loss.box, 1.0, loss.knee) if loss.is_bounded else cls(1.0, math.inf, loss.bend)


class Stages(NamedTuple):
    """Where the stages ended: planes, b at the end of each, and the h of each; `run` names the fit they belong to."""

    run: str
    planes: Square
    widths: Vector
    room: float  # bytes that a process may remember of it

    def shares(self, block: SignedBlock) -> Vector:
        """Of the rows of a block, after the last stage."""
        done, p = remembered.of(self.run, block.number, "shares", (0, np.zeros(len(block.signs))))
        if done > len(self.widths):
            done, p = 0, np.zeros(len(block.signs))
        for plane, width in zip(self.planes[done:], self.widths[done:], strict=True):
            p = np.clip(p + missing(block, plane[:-1], float(plane[-1])) / width, 0.0, 1.0)
        if len(self.widths) > done:
            remembered.keep(self, block.number, "shares", (len(self.widths), p))
        return p


class Remembered:
    """Vectors of the blocks that a process has seen last, by run, block and kind: a number says what of they are."""

    def __init__(self) -> None:
        self.kept: OrderedDict[tuple[str, int, str], tuple[int, Vector]] = OrderedDict()
        self.bytes, self.lock = 0, threading.Lock()

    def of(self, run: str, block: int, kind: str, otherwise: tuple[int, Vector]) -> tuple[int, Vector]:
        with self.lock:
            return self.kept.get((run, block, kind), otherwise)

    def keep(self, stages: Stages, block: int, kind: str, found: tuple[int, Vector]) -> None:
        key = stages.run, block, kind
        with self.lock:
            before = self.kept.pop(key, None)
            self.bytes += found[1].nbytes - (0 if before is None else before[1].nbytes)
            self.kept[key] = found
            while self.bytes > stages.room and self.kept:
                self.bytes -= self.kept.popitem(last=False)[1][1].nbytes

    def forget(self, run: str) -> None:
        with self.lock:
            for key in [key for key in self.kept if key[0] == run]:
                self.bytes -= self.kept.pop(key)[1].nbytes


remembered = Remembered()


def missing(block: SignedBlock, w: Vector, b: float) -> Vector:
    return 1.0 - block.signs * (values_of(block.X, w) + b)


def integral(z: Vector, cap: float) -> Vector:
    """e(z): its slope is z, between 0 and the cap."""
    within = np.clip(z, 0.0, cap)
    return within * (z - 0.5 * within)


class Seen(NamedTuple):
    """At each step P and what the stage minimises; at the first one the slopes by class (see `dual_of`), the change of
    the shares; X'T 1 and the diagonal of X'T X, with 1'T 1 at the end."""

    primal: Vector
    stage: Vector
    totals: Square
    change: float
    curved: Vector
    diagonal: Vector

    def and_of(self, other: Seen) -> Seen:
        return Seen(
            self.primal + other.primal,
            self.stage + other.stage,
            self.totals + other.totals,
            self.change + other.change,
            self.curved + other.curved,
            self.diagonal + other.diagonal,
        )


class StageDerivatives(NamedTuple):
    """A part of a pass: P and the stage's own objective on the way from plane - step to `plane`, and the slopes there.

    The first of `steps` is 1. Answer: `Seen`.
    """

    form: Form
    loss: Loss
    stages: Stages
    width: float
    look: int
    plane: Vector
    step: Vector
    steps: Vector

    def __call__(self, block: SignedBlock) -> Seen:
        check_interrupt()
        u, h, cap = self.form.box * block.costs, self.width, self.form.cap
        p, f = self.stages.shares(block), missing(block, self.plane[:-1], float(self.plane[-1]))
        change = -block.signs * (values_of(block.X, self.step[:-1]) + self.step[-1]) if len(self.steps) > 1 else 0.0
        tried = [f - (1.0 - s) * change for s in self.steps]
        primal = np.array([float(block.costs @ self.loss.value(at)) for at in tried])
        stage = np.array([h * float(u @ integral(p + at / h, cap)) for at in tried])
        z = p + f / h
        new = np.clip(z, 0.0, cap)
        a, t = u * new, np.where((z > 0.0) & (z < cap), u / h, 0.0)
        remembered.keep(self.stages, block.number, "curved", (self.look, t))
        sides = [np.where(block.signs == sign, a, 0.0) for sign in (1.0, -1.0)]
        totals = [np.append(combination(block.X, own), [own.sum(), own @ (own / block.costs)]) for own in sides]
        moved = h * float(u @ np.square(new - p)) if cap < math.inf else 0.0
        curved, diagonal = np.append(combination(block.X, t), t.sum()), squares_of_rows(block, t)  # type: ignore[arg-type]
        return Seen(primal, stage, np.array(totals), moved, curved, diagonal)


class Product(NamedTuple):
    """X'T X q, and 1'T X q at its end; T is that of the last look, at `plane`."""

    form: Form
    stages: Stages
    width: float
    look: int
    plane: Vector
    q: Vector

    def __call__(self, block: SignedBlock) -> Sum:
        check_interrupt()
        looked, t = remembered.of(self.stages.run, block.number, "curved", (-1, np.empty(0)))
        if looked != self.look:
            z = self.stages.shares(block) + missing(block, self.plane[:-1], float(self.plane[-1])) / self.width
            t = np.where((z > 0.0) & (z < self.form.cap), self.form.box * block.costs / self.width, 0.0)
            remembered.keep(self.stages, block.number, "curved", (self.look, t))
        total, chosen = np.zeros(len(self.q) + 1), np.flatnonzero(t)
        curve_block(rows_of(block.X), chosen, t[chosen], self.q, 0, len(chosen), total)
        return Sum(total)


class Sum(NamedTuple):
    total: Vector

    def and_of(self, other: Sum) -> Sum:
        return Sum(self.total + other.total)


class Differ(NamedTuple):
    """Rows whose share after the stages is not what the rule of the plane says; of too many, those that differ most."""

    stages: Stages
    plane: Vector
    most: int

    def __call__(self, block: SignedBlock) -> Listed:
        p, f = self.stages.shares(block), missing(block, self.plane[:-1], float(self.plane[-1]))
        sizes = block.costs * np.abs(p - (f > 0.0))
        chosen = np.flatnonzero(sizes)
        return Listed(block.ids(chosen), p[chosen], sizes[chosen], self.most).cut()


class Listed(NamedTuple):
    ids: RowIds
    shares: Vector
    sizes: Vector
    most: int

    def and_of(self, other: Listed) -> Listed:
        ids, shares, sizes = (np.concatenate(pair) for pair in zip(self[:3], other[:3], strict=True))
        return Listed(ids, shares, sizes, self.most).cut()

    def cut(self) -> Listed:
        if len(self.ids) <= self.most:
            return self
        largest = np.sort(np.argsort(-self.sizes, kind="stable")[: self.most])
        return Listed(self.ids[largest], self.shares[largest], self.sizes[largest], self.most)
