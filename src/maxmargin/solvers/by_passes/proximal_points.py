"""Many columns, whatever the memory of this process: proximal points of the dual, by Newton and conjugate gradients.

    primal     P(w, b) = 1/2 |w|^2 + sum_i u_i max(0, f_i),      f_i = 1 - y_i (w.x_i + b),   0 <= a_i <= u_i
    stage      from shares p_i (0 at first):    min 1/2 |w|^2 + sum_i u_i h e(p_i + f_i / h),    e' (z) = clip(z, 0, 1)
    then       p_i <- clip(p_i + f_i / h, 0, 1),    which is a dual point, a_i = u_i p_i;    h falls
    Newton     (I + X'T X) dw + X'T 1 db = sum_i a_i y_i x_i - w,    1'T X dw + 1'T 1 db = sum_i a_i y_i,
               t_i = u_i / h where 0 < p_i + f_i / h < 1, else 0
    gradients  of conjugate directions: b is eliminated, the diagonal preconditions. One pass a step: q -> X'T X q

A stage need not be solved well: it ends when its slope is small beside the change of the shares. A loss with a bend is
one stage, with h its knee and nothing before it, and minimises P itself. (The squared hinge: no bound, h its bend.)

Nothing has the length of the table. The shares of a row follow from the planes at which the stages ended, and are
replayed wherever its block is. A process remembers those of the blocks that it has seen last, and which of their rows
are curved: then a pass of conjugate gradients costs two products with the curved rows alone. What is not remembered is
replayed with the same bits; there are 10 to 20 stages. No matrix of columns times columns is made.

Weights are told by the rule "a_i = u_i where f_i > 0" and the rows of which that is not true, which a pass lists.

Cost: a pass of gradients 2 numbers of curved rows, and d + 1 numbers from each block; some hundred of them. That is
for blocks that are in memory, such as a cluster holds. References: [rockafellar1976], [zhao2010]. Differs: the shares
are replayed, and nobody keeps them.
"""

from __future__ import annotations

import math
import uuid
from dataclasses import dataclass

import numpy as np

from maxmargin.data.table import Vector
from maxmargin.problems.block_margin import (
    Ask,
    BlockMargin,
    Facts,
    ListedRows,
    PassRun,
    PassState,
    Proposal,
    Proven,
    Rule,
    SolverByPasses,
    Weights,
)
from maxmargin.problems.protocol import varying
from maxmargin.solvers.by_passes.bent_newton import AIM, GAIN, dual_of
from maxmargin.solvers.by_passes.budget import LEVELS_OF_A_TREE
from maxmargin.solvers.by_passes.proximal_passes import (
    Differ,
    Form,
    Listed,
    Product,
    Seen,
    StageDerivatives,
    Stages,
    remembered,
)
from maxmargin.solvers.passes import Square, inner

STEPS = np.array([1.0, 0.7, 0.5, 0.35, 0.25, 0.12, 0.06, 0.03, 0.01, 0.003, 0.001])
ENOUGH = 0.5  # of the best gain: a full step with as much saves the pass to the best one
FIRST_WIDTH = 1.0  # h of the first stage
LESS, HALVED = 1 / 3, 0.5  # h falls to that share of itself where a stage did not halve the gap: it costs more then
NEAR = 0.3  # the slope of a stage beside the change of its shares
FORCING = 0.3  # the residual of conjugate gradients, of what it was
MOST_GRADIENTS = 200  # in one step
PATIENCE = 6  # looks that gain nothing
MOST_PASSES = 5000
FALLEN, IDLE = 0.97, 12  # the gap falls to that share of itself in so many stages
LISTED_BYTES, LEAST_LISTED = 64, 1000  # of a row that is listed, while lists are joined
REMEMBERED = 2**26  # bytes of a process, at most, wherever it is: 16 for a row
VECTORS = 40  # of columns: planes of the stages, conjugate gradients, what is sent
LOOK, GRADIENT, LIST = PHASES = "look", "gradient", "list"


@dataclass(eq=False)
class ProximalPoints(PassState):
    """What is asked next is `phase`. Planes have b at their end.

    plane, step     where the last look was, or the next one is, and how it came there
    best, weights   the best plane; the dual point that was listed last, and its D
    x, r, q         of conjugate gradients, with the diagonal and X'T 1 of the last look, the slope along b, sum_i a_i
    value           what the stage minimises, before `step`
    reached, mark   D where the last stage ended; the gap there, and how many stages it has not fallen since
    """

    run: str
    room: float
    plane: Vector = varying()
    step: Vector = varying()
    best: Vector = varying()
    weights: Weights = varying(grows=True)
    planes: Square = varying(grows=True)
    x: Vector = varying()
    r: Vector = varying()
    q: Vector = varying()
    diagonal: Vector = varying()
    curved: Vector = varying()
    widths: Vector = varying(factory=lambda: np.zeros(0), grows=True)
    phase: str = varying(LOOK)
    width: float = varying(FIRST_WIDTH)
    slope: float = varying(0.0)
    weight: float = varying(0.0)
    energy: float = varying(0.0)
    target: float = varying(0.0)
    gradients: int = varying(0)
    newton_steps: int = varying(0)
    primal: float = varying(math.inf)
    dual: float = varying(0.0)
    value: float = varying(math.inf)
    is_stuck: bool = varying(False)
    reached: float = varying(0.0)
    mark: float = varying(math.inf)
    idle: int = varying(0)
    aim: float = varying(AIM)
    looks: int = varying(0)
    fruitless: int = varying(0)
    passes: int = varying(0)

    @property
    def stages(self) -> Stages:
        return Stages(self.run, self.planes, self.widths, self.room)

    @property
    def gap(self) -> float:
        return (self.primal - self.dual) / self.primal if 0.0 < self.primal < math.inf else math.inf

    def proposal(self) -> Proposal | None:
        return None if self.primal == math.inf else Proposal(self.best[:-1], float(self.best[-1]), self.weights)


def floor(problem: BlockMargin, facts: Facts) -> float:
    """Bytes that it needs beside the blocks."""
    levels = 2 + math.ceil(math.log(max(1, facts.n_blocks), LEVELS_OF_A_TREE))
    return 8.0 * facts.n_columns * (5 * levels + VECTORS) + 12.0 * facts.block_bytes / max(1.0, facts.row_bytes)


def start(problem: BlockMargin, facts: Facts, memory: float, tol: float) -> SolverByPasses:
    form, d = Form.of(problem.loss), facts.n_columns
    room = max(0.0, memory - floor(problem, facts))
    state = ProximalPoints(
        uuid.uuid4().hex, min(0.5 * room, REMEMBERED), plane=np.zeros(d + 1), step=np.zeros(d + 1),
        best=np.zeros(d + 1), weights=Weights(Rule.nothing(d), ListedRows.nobody()), planes=np.zeros((0, d + 1)),
        x=np.zeros(d), r=np.zeros(d), q=np.zeros(d), diagonal=np.zeros(d), curved=np.zeros(d + 1),
        width=form.bend or FIRST_WIDTH,
    )  # fmt: skip
    most = int(max(LEAST_LISTED, 0.5 * room / LISTED_BYTES))
    return SolverByPasses(state, steps(problem, form, state, most, tol))


def steps(problem: BlockMargin, form: Form, state: ProximalPoints, most: int, tol: float) -> PassRun:
    """Proposes when its own gap is near enough; where the judge does not see it, goes on to a smaller one."""
    try:
        while state.fruitless < PATIENCE and state.idle < IDLE and state.passes < MOST_PASSES:
            found = yield ask(problem, form, state, most)
            state.passes += 1
            if state.phase == GRADIENT:
                go_on(problem, state, found.total)
            elif state.phase == LOOK:
                take_look(problem, form, state, found, tol)
            else:
                take_list(state, found)
            if state.phase == LOOK and state.gap <= state.aim * tol:
                state.aim = 0.3 * state.gap / tol
                proven = yield state.proposal()  # type: ignore[misc]
                if isinstance(proven, Proven) and proven.gap <= tol:
                    return
        if (proposal := state.proposal()) is not None:
            yield proposal
    finally:
        remembered.forget(state.run)


def ask(problem: BlockMargin, form: Form, state: ProximalPoints, most: int) -> Ask:
    where = state.width, state.looks, state.plane
    if state.phase == GRADIENT:
        return Ask(Product(form, state.stages, *where, state.q))
    if state.phase == LIST:
        return Ask(Differ(state.stages, state.plane, most))
    tried = STEPS if np.any(state.step) else STEPS[:1]
    return Ask(StageDerivatives(form, problem.loss, state.stages, *where, state.step, tried))


# --------------------------------------------------------------------------------------------------------- the looks


def take_look(problem: BlockMargin, form: Form, state: ProximalPoints, seen: Seen, tol: float) -> None:
    """Go where the stage is lowest, if that is not the whole step; else on from there, or to the next stage."""
    planes = [state.plane - (1.0 - s) * state.step for s in STEPS[: len(seen.primal)]]
    squares = np.array([0.5 * inner(plane[:-1], plane[:-1]) for plane in planes])
    primals, values, before = squares + seen.primal, squares + seen.stage, state.value
    best, lowest = int(np.argmin(primals)), int(np.argmin(values))
    gains = before == math.inf or before - values[lowest] > GAIN * abs(before)
    if primals[best] < state.primal * (1.0 - GAIN) or gains:
        state.fruitless = 0
    else:
        state.fruitless += 1
    if primals[best] < state.primal:
        state.primal, state.best = float(primals[best]), planes[best]
    if len(planes) > 1 and not (gains and before - values[0] >= ENOUGH * (before - values[lowest])):
        state.plane = planes[lowest] if gains else state.plane - state.step
        state.value = float(values[lowest]) if gains else before
        state.step, state.is_stuck, state.looks = np.zeros_like(state.step), not gains, state.looks + 1
        return
    state.value, state.step = float(values[0]), np.zeros_like(state.step)
    dual = dual_of(problem, seen.totals)
    if form.bend and dual > state.dual:
        rule = Rule(state.plane[:-1].copy(), float(state.plane[-1]), 0.0)
        state.dual, state.weights = dual, Weights(rule, ListedRows.nobody())
    is_near = state.primal - dual <= state.aim * tol * state.primal
    right, d = (seen.totals[0] - seen.totals[1])[:-1], len(state.x)
    right[:d] -= state.plane[:-1]
    bias = right[d] ** 2 / max(float(seen.curved[-1]), 1.0) if problem.fit_intercept else 0.0
    is_flat = math.sqrt(inner(right[:d], right[:d]) + bias) <= NEAR * math.sqrt(seen.change)
    if not form.bend and (is_near or (state.newton_steps and (is_flat or state.is_stuck))):
        end_stage(state, dual)
    elif not (form.bend and is_near):
        state.slope, state.weight = float(right[d]), float(seen.totals[:, d].sum())
        state.curved, state.diagonal = seen.curved, 1.0 + seen.diagonal
        begin_gradients(problem, state, right[:d])


def end_stage(state: ProximalPoints, dual: float) -> None:
    """The shares at the plane are those of the next one."""
    state.planes, state.widths = np.vstack([state.planes, state.plane]), np.append(state.widths, state.width)
    gap = (state.primal - dual) / state.primal
    if gap > HALVED * state.mark:
        state.width *= LESS
    state.mark, state.idle = (gap, 0) if gap <= FALLEN * state.mark else (state.mark, state.idle + 1)
    state.newton_steps, state.is_stuck, state.value, state.reached = 0, False, math.inf, dual
    state.looks, state.phase = state.looks + 1, LIST


def take_list(state: ProximalPoints, found: Listed) -> None:
    state.phase = LOOK
    if state.reached > state.dual:
        rule = Rule(state.plane[:-1].copy(), float(state.plane[-1]), 0.0)
        state.dual, state.weights = state.reached, Weights(rule, ListedRows.sorted(found.ids, found.shares))


# --------------------------------------------------------------------------------------------- conjugate gradients


def begin_gradients(problem: BlockMargin, state: ProximalPoints, right: Vector) -> None:
    total = float(state.curved[-1])
    if problem.fit_intercept and total > 0.0:
        right = right - state.curved[:-1] * (state.slope / total)
        state.diagonal = state.diagonal - state.curved[:-1] ** 2 / total
    state.r, state.x, state.gradients = right, np.zeros(len(right)), 0
    state.q = right / state.diagonal
    state.energy, state.target = inner(right, state.q), FORCING * math.sqrt(inner(right, right))
    state.phase = GRADIENT
    if not total > 0.0 or not state.energy > 0.0:  # no row is curved: the matrix is that of |w|^2
        state.x = right
        end_gradients(problem, state)


def go_on(problem: BlockMargin, state: ProximalPoints, product: Vector) -> None:
    """product: X'T X q, and 1'T X q at its end."""
    image = state.q + product[:-1]
    if problem.fit_intercept:
        image -= state.curved[:-1] * (product[-1] / state.curved[-1])
    length = state.energy / inner(state.q, image)
    state.x, state.r = state.x + length * state.q, state.r - length * image
    state.gradients += 1
    residual_square = inner(state.r, state.r)
    if not residual_square > state.target**2 or state.gradients >= MOST_GRADIENTS:
        end_gradients(problem, state)
        return
    scaled = state.r / state.diagonal
    energy = inner(state.r, scaled)
    state.q, state.energy = scaled + (energy / state.energy) * state.q, energy


def end_gradients(problem: BlockMargin, state: ProximalPoints) -> None:
    """The step that was found, to be tried by the next look."""
    total, bias = float(state.curved[-1]), 0.0
    if problem.fit_intercept and total > 0.0:
        bias = (state.slope - inner(state.curved[:-1], state.x)) / total
    elif problem.fit_intercept and state.weight > 0.0:  # as if all rows with weight were curved
        bias = state.slope * state.width / state.weight
    step = np.append(state.x, bias)
    state.step = step if np.all(np.isfinite(step)) else np.zeros_like(step)
    state.plane, state.newton_steps, state.looks = state.plane + state.step, state.newton_steps + 1, state.looks + 1
    state.phase = LOOK
