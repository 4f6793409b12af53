"""The hinge with many columns: rows near the street are in memory, all others are pressed into one row of each class.

    sort      one pass at a plane (w', b'), f'_i = 1 - y_i (w'.x_i + b'):
                  |f'_i| < h               the row comes into memory: W
                  f'_i >= h                it pays, and is pressed:  z = sum C_i x_i / c,  c = sum C_i,  of each class
                  f'_i <= -h               it does not pay, and is left out
    master    min 1/2 |w|^2 + sum_W C_i max(0, f_i) + sum_z c max(0, 1 - y_z (w.z + b)),    in memory, by any solver
    repeat    sort at the plane of the master

A mean pays at most what its rows pay on average, so that no objective of the master is above that of all rows; and they
are equal where each pressed row pays and none pays that was left out. A dual point of the master is one of all rows:
a_i = C_i a_z / c. Near the optimum a_z = c, and it is told by the rule "a_i = C_i where f'_i > 0" for the rows that are
not listed. So each pass proves P at its plane, and each master a D. No matrix of columns times columns is made: this is
for text, where the interior point has no room.

Where P at the plane of a master is above the best one, W was too small for so long a step: the same pass has seen P on
the way to it, and the next one sorts at the best place of it. Where the gap has not fallen by a fifth in many passes,
W is too small altogether, and the run ends with its true gap.

h is the largest width of which the last pass has counted no more rows than fit. Where all rows fit, all are taken, and
the first master is the answer. State: the plane to sort at, h, and the best of either side; W follows from them by the
pass. A pass costs two products with all rows, and brings W and two vectors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.data.executor import check_interrupt
from maxmargin.data.table import Matrix, Vector, is_sparse, stacked
from maxmargin.problems.block_margin import (
    Ask,
    BlockMargin,
    Facts,
    ListedRows,
    PassRun,
    PassState,
    Proposal,
    Rule,
    SignedBlock,
    SolverByPasses,
    Weights,
)
from maxmargin.problems.losses import HINGE
from maxmargin.problems.protocol import Evaluation, shown, varying
from maxmargin.problems.statement import SoftMargin, best_bias, slack, total_loss
from maxmargin.solvers import registry
from maxmargin.solvers.by_passes.master import dual_value
from maxmargin.solvers.by_passes.taken_rows import OfEachClass, TakenRows, taken
from maxmargin.solvers.passes import combination, values_of

LEAST_ROWS = 1000  # of W
OF_THE_SAMPLE = 1e-3  # the gap to which it is solved
FINER = 0.2  # of the gap that is asked for: that of the master
FULL = 0.9  # of the rows that fit are taken where they are only estimated
WIDTHS = 2.0 ** np.arange(-24.0, 8.0, 0.25)  # of which the rows are counted
STEPS = 0.5 ** np.arange(8.0)  # of the way from the best plane
NEARER, PATIENCE = 0.8, 12  # the gap falls to that share of what it was, in so many passes
VECTORS = 24  # of columns: the sums of a block, of the levels of the tree, planes


class Sort(NamedTuple):
    """A part of a pass: what all rows pay, also on the way from the best plane to this one; those near the street, sums
    of those beyond it, and how many are near."""

    w: Vector
    b: float
    width: float
    most: int
    best_w: Vector
    best_b: float

    def __call__(self, block: SignedBlock) -> Sorted:
        f = 1.0 - block.signs * (values_of(block.X, self.w) + self.b)
        back = 1.0 - block.signs * (values_of(block.X, self.best_w) + self.best_b)
        losses = np.array([float(block.costs @ np.maximum(back + t * (f - back), 0.0)) for t in STEPS])
        sizes = np.abs(f)
        near = np.flatnonzero(sizes < self.width)
        beyond = np.where(f >= self.width, block.costs, 0.0)
        sums = [
            np.append(combination(block.X, own), own.sum())
            for own in (np.where(block.signs == sign, beyond, 0.0) for sign in (1.0, -1.0))
        ]
        nearest = taken(block, block.costs, near, self.most, sizes[near])
        counts = np.searchsorted(np.sort(sizes), WIDTHS)
        return Sorted(losses, len(near), nearest, sums[0], sums[1], counts)


class Sorted(NamedTuple):
    losses: Vector
    near: int
    taken: TakenRows
    plus: Vector
    minus: Vector
    counts: NDArray[np.intp]

    def and_of(self, other: Sorted) -> Sorted:
        return Sorted(
            self.losses + other.losses,
            self.near + other.near,
            self.taken.and_of(other.taken),
            self.plus + other.plus,
            self.minus + other.minus,
            self.counts + other.counts,
        )


@dataclass(eq=False)
class PressedState(PassState):
    """Where to sort, of which width (0: nothing is known yet); the best plane and weights; passes that brought nothing.

    `finer`: the share of the gap that is asked for to which masters are solved.
    """

    w: Vector = varying()
    weights: Weights = varying(grows=True)
    best_w: Vector = varying()
    b: float = varying(0.0)
    width: float = varying(0.0)
    best_b: float = varying(0.0)
    primal: float = varying(math.inf)
    dual: float = varying(0.0)
    finer: float = varying(FINER)
    mark: float = varying(math.inf)
    in_vain: int = varying(0)

    def wait(self) -> None:
        """Count the passes since the gap has fallen."""
        gap = self.primal - self.dual
        self.mark, self.in_vain = (gap, 0) if gap <= NEARER * self.mark else (self.mark, self.in_vain + 1)

    def at(self, t: float) -> tuple[Vector, float]:
        """On the way from the best plane."""
        return self.best_w + t * (self.w - self.best_w), self.best_b + t * (self.b - self.best_b)

    def see(self, losses: Vector) -> bool:
        """P at the plane of the last pass; whether it is the best one."""
        primal = 0.5 * float(self.w @ self.w) + float(losses[0])
        if not primal < self.primal:
            return False
        self.best_w, self.best_b, self.primal = self.w, self.b, primal
        return True

    def turn_back(self, losses: Vector) -> bool:
        """To the best plane on the way, if one is better than that from which it was gone."""
        primals = [0.5 * float(w @ w) for w in (self.at(float(t))[0] for t in STEPS)] + losses
        best = int(np.argmin(primals))
        if not primals[best] < self.primal:
            return False
        self.w, self.b = self.at(float(STEPS[best]))
        return True

    def proposal(self) -> Proposal | None:
        return None if self.primal == math.inf else Proposal(self.best_w, self.best_b, self.weights)


def floor(problem: BlockMargin, facts: Facts) -> float:
    """Bytes that it needs beside the blocks."""
    return VECTORS * 8.0 * facts.n_columns + min(LEAST_ROWS, facts.n_rows) * row_in_memory(facts)


def row_in_memory(facts: Facts) -> float:
    """Bytes of a row of W: as it comes, while it is joined, in the master, with its numbers."""
    return 3.0 * facts.row_bytes + 160.0


def rows_in(memory: float, facts: Facts) -> float:
    """Rows of W that so many bytes have room for."""
    return (memory - VECTORS * 8.0 * facts.n_columns) / row_in_memory(facts)


def start(problem: BlockMargin, facts: Facts, memory: float, tol: float) -> SolverByPasses:
    d = facts.n_columns
    nothing = Weights(Rule.nothing(d), ListedRows.nobody())
    state = PressedState(np.zeros(d), nothing, np.zeros(d))
    most = max(LEAST_ROWS, int(rows_in(memory, facts)))
    return SolverByPasses(state, steps(problem, facts, state, most, tol))


def steps(problem: BlockMargin, facts: Facts, state: PressedState, most: int, tol: float) -> PassRun:
    if state.width == 0.0 and facts.n_rows <= most:
        state.width = math.inf
    elif state.width == 0.0:
        sample = yield Ask(OfEachClass(most // 2, facts.sides))
        state.w, state.b, state.width = first_plane(problem, facts, sample, most)
    while state.in_vain < PATIENCE:
        found = yield Ask(Sort(state.w, state.b, state.width, most, state.best_w, state.best_b))
        if found.near > most:
            state.width = width_for(found, most)
            continue
        is_better = state.see(found.losses)
        if not is_better and state.turn_back(found.losses):
            state.wait()
            continue
        if state.primal - state.dual > tol * state.primal or state.finer < FINER:
            w, b = master(problem, state, found, state.finer * tol)
            if state.width == math.inf:  # W is everything
                state.best_w, state.best_b = w, b
                yield Proposal(w, b, state.weights)
                state.finer, state.in_vain = 0.1 * state.finer, state.in_vain + PATIENCE // 3
                continue
            if is_better:
                state.w, state.b = w, b
            else:
                state.w, state.b = 0.5 * (state.w + state.best_w), 0.5 * (state.b + state.best_b)
            state.width = width_for(found, most)
        state.wait()
        if state.primal - state.dual <= tol * state.primal:
            yield Proposal(state.best_w, state.best_b, state.weights)
            state.finer, state.in_vain = 0.1 * state.finer, state.in_vain + 1
    yield Proposal(state.best_w, state.best_b, state.weights)


def width_for(found: Sorted, most: int) -> float:
    """The largest of which no more rows than fit were counted."""
    fitting = np.flatnonzero(found.counts <= FULL * most)
    return float(WIDTHS[fitting[-1]]) if len(fitting) else 0.5 * float(WIDTHS[0])


def first_plane(problem: BlockMargin, facts: Facts, sample: TakenRows, most: int) -> tuple[Vector, float, float]:
    """Of a sample, each row for as many as it stands for; and the width of which about as many rows as fit are near."""
    plus = sample.signs > 0.0
    taken = max(1, int(plus.sum())), max(1, int((~plus).sum()))
    times = np.where(plus, facts.sides[0] / taken[0], facts.sides[1] / taken[1])
    rows = SoftMargin(sample.X, sample.signs, sample.costs * times, HINGE, problem.fit_intercept)
    w, b, _ = solved(rows, OF_THE_SAMPLE)
    sizes = np.abs(1.0 - sample.signs * (values_of(sample.X, w) + b))
    order = np.argsort(sizes, kind="stable")
    reached = np.cumsum(times[order])
    place = min(int(np.searchsorted(reached, FULL * most)), len(order) - 1)
    return w, b, max(float(sizes[order[place]]), float(WIDTHS[0]))


def master(problem: BlockMargin, state: PressedState, found: Sorted, tol: float) -> tuple[Vector, float]:
    """The plane of W and of the pressed rows; D with the weights that belong to it, if it is the best one."""
    W = found.taken
    pressed = [(sign, sums) for sign, sums in ((1.0, found.plus), (-1.0, found.minus)) if sums[-1] > 0.0]
    extra = [as_row(W.X, sums[:-1] / sums[-1]) for _, sums in pressed]
    signs = np.append(W.signs, [sign for sign, _ in pressed])
    costs = np.append(W.costs, [sums[-1] for _, sums in pressed])
    rows = SoftMargin(stacked([W.X, *extra]), signs, costs, HINGE, problem.fit_intercept)
    w, b, a = solved(rows, tol)
    own, plus = a[: len(W.ids)], W.signs > 0.0
    parts = np.where(plus, own, 0.0), np.where(plus, 0.0, own)
    sums = [np.append(combination(W.X, part), part.sum()) for part in parts]
    pressed_sums = np.array([found.plus, found.minus])  # a_i = C_i, as the rule says
    dual = dual_value(np.array(sums) + pressed_sums, problem.fit_intercept)
    if dual > state.dual:
        listed = ListedRows.sorted(W.ids, np.clip(own / W.costs, 0.0, 1.0))
        state.dual, state.weights = dual, Weights(Rule(state.w.copy(), state.b, 0.0), listed)
    return w, b


def as_row(like: Matrix, values: Vector) -> Matrix:
    row = values[None, :].astype(like.dtype)
    return sparse.csr_array(row) if is_sparse(like) else row


class Solved(NamedTuple):
    w: Vector
    b: float
    a: Vector


def solved(problem: SoftMargin, tol: float) -> Solved:
    """The soft margin of rows in memory, by whatever suits them, to the gap that is measured here."""
    run = shown(registry.soft_margin(problem, tol=tol).iterates)
    best, least, most = Solved(np.zeros(problem.n_columns), 0.0, np.zeros(problem.n_rows)), math.inf, 0.0
    answer: Evaluation | None = None
    while True:
        try:
            iterate = run.send(answer)
        except StopIteration:
            return best
        check_interrupt()
        answer = None
        if not iterate.proposes:
            continue
        values = values_of(problem.X, iterate.w)
        b = best_bias(problem, values)
        primal = 0.5 * float(iterate.w @ iterate.w) + total_loss(problem, slack(problem, values, b))
        dual = dual_of(problem, iterate.a)
        if primal < least:
            best, least = best._replace(w=iterate.w.copy(), b=b), primal
        if dual > most:
            best, most = best._replace(a=np.clip(iterate.a, 0.0, problem.costs)), dual
        gap = (least - most) / least if least > 0.0 else 0.0
        if gap <= tol:
            run.close()
            return best
        answer = Evaluation(least, most, gap, values, b)


def dual_of(problem: SoftMargin, a: Vector) -> float:
    """D of dual variables in their box."""
    parts = [np.where(problem.signs == sign, a, 0.0) for sign in (1.0, -1.0)]
    sums = [np.append(combination(problem.X, part), part.sum()) for part in parts]
    return dual_value(np.array(sums), problem.fit_intercept)
