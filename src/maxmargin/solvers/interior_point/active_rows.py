"""The active rows on the central path, those that were dropped, and the sums over both.

    active          p, q, s, xi of their own
    at zero       p_i = tau left_i            left_i: the smaller of p and q when the row was dropped
    at cost       p_i = 1 - tau left_i        tau: what is left of it since, as mu falls

So far from the bend of its loss, a row is linear: the fixed part of the dropped rows is one vector `fixed`, the sum of
u_i (x_i, 1) over those at cost, and the fading part one vector `carried`, for each class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.executor import Threads, block_edges
from maxmargin.data.table import Vector, is_sparse, rows_of
from maxmargin.problems.protocol import Iterate, State, StateError, varying
from maxmargin.solvers.interior_point import central_path
from maxmargin.solvers.interior_point.at_once import ACTIVE, AT_COST, AT_ZERO, EXTRAS, FAR, WRONG
from maxmargin.solvers.interior_point.central_path import SMALL_SHARE, Direction, DropRule, PathPoint, PathRows
from maxmargin.solvers.interior_point.merged_rows import MergedRows
from maxmargin.solvers.interior_point.normal_equations import CHUNK, padded
from maxmargin.solvers.passes import sum_by_class, values_of_rows

SAMPLE = 1000  # rows whose mean is the centre m: any point among the rows will do
TINY = np.finfo(float).tiny
TINY_SHIFT = 1e-13  # of 1'Ct1: keeps the bias determined when no row is near the margin

COPIED = 0.1  # of the table: so few active rows are copied, to be read in one run
FEW_ROWS = 2000  # active: not worth making fewer
PRODUCTS = 200_000_000  # of numbers, between two checks of the clock
WORTH_DROPPING, MANY_WRONG = 0.25, 0.005  # of the active rows, of the dropped ones
OF_A_ROW = PathRows._fields[2:]
SHARING = 5  # numbers: what it costs to share a dual variable among the copies of a row


def no_direction(rows: int) -> Direction:
    """Of so many rows; of memory that nobody has written to."""
    return Direction(*np.zeros((3, rows)))


@dataclass(init=False, eq=False)
class ActiveRows(State):
    """The active rows and the sums over all rows; w, b and the direction in which they go.

    units         the numbers of the active rows; now has their moved, p, q, s, xi, and move their direction
    side, left    of every row: active, or dropped at p = 0 or at p = 1, and how much was left to that then
    fixed         sum_i C_i (x_i, 1) over the rows dropped at p = 1, for either class
    carried       the same of what was left, which fades with tau
    """

    units: NDArray[np.int64] = varying(grows=True)
    now: PathRows = varying(parts=OF_A_ROW, grows=True)
    move: Direction = varying(grows=True)
    side: NDArray[np.int8] = varying()
    left: Vector = varying(grows=True)
    w: Vector = varying()
    b: float = varying()
    fixed: NDArray[np.float64] = varying()
    carried: NDArray[np.float64] = varying()
    tau: float = varying()
    a: Vector = varying()
    step: float = varying()
    steps: int = varying()
    drop_rule: DropRule = varying()

    def __init__(self, merged: MergedRows, costs: Vector, knee: float, bias: bool, threads: Threads) -> None:
        """`costs` are the u_i of the caller's rows."""
        self.merged, self.costs, self.knee, self.bias, self.threads = merged, costs, knee, bias, threads
        n, d = len(merged.cost), int(merged.X.shape[1])
        self.n, self.d = n, d
        self.rows = rows_of(merged.X)
        self.numbers = (merged.X.data.size if is_sparse(merged.X) else merged.X.size) / max(1, merged.X.shape[0])
        self.w, self.b, self.tau, self.step = np.zeros(d), 0.0, 1.0, 1.0
        self.fixed, self.carried = np.zeros((2, d + 1)), np.zeros((2, d + 1))
        self.side, self.left = np.zeros(n, np.int8), np.zeros(0)  # until rows are dropped
        self.a = np.zeros(len(costs))
        self.steps = 0
        self.drop_rule = DropRule()
        self.centre = np.zeros(d)
        if bias and n > 0 and not is_sparse(merged.X):
            self.centre = merged.X[merged.place[:: -(-n // SAMPLE)]].mean(axis=0, dtype=np.float64)

    def start_cold(self) -> None:
        """All rows active at w = 0, b = 0, where xi - s + knee p = 1; moved, p, q, s and xi."""
        xi = max(1.0, 2.0 - 0.5 * self.knee)
        state = np.array([[0.0], [0.5], [0.5], [xi - 1.0 + 0.5 * self.knee], [xi]])
        units = np.arange(self.n) if self.merged.is_merged else self.merged.place  # the same numbers
        self.enter(units, np.repeat(state, self.n, axis=1))

    def start_near(self, w: Vector, b: float, mu: float, width: float) -> None:
        """At a plane that is known to be near: rows within `width` of the bend active, on the path at mu."""
        self.w[:], self.b, self.left = w, b, np.zeros(self.n)
        edges = block_edges(self.n, int(self.n * self.numbers))
        totals = np.zeros((len(edges) - 1, 2, 2, self.d + 1))

        def run(block: int, start: int, stop: int) -> None:
            central_path.sort_out(
                self.rows, self.merged.place, self.merged.cost, w, b, mu, width, self.knee, start, stop,
                self.side, self.left, totals[block],
            )  # fmt: skip

        self.threads.run(run, edges)
        self.fixed, self.carried = (self.centred(total) for total in totals.sum(axis=0))
        units = np.flatnonzero(self.side == ACTIVE)
        f = 1.0 - np.sign(self.merged.cost[units]) * (self.values(units, w) + b)
        self.enter(units, np.zeros((5, len(units))))
        central_path.put_on_path(self.now, f, mu, self.knee)
        self.drop_rule.distance = min(self.drop_rule.distance, width / 3.0)

    def enter(self, units: NDArray[np.int64], state: NDArray[np.float64]) -> None:
        """Make these rows active, with their moved, p, q, s and xi."""
        n = len(units)
        self.units, cost = units, self.merged.cost if n == self.n else self.merged.cost[units]
        index = self.merged.place[units] if self.merged.is_merged else units
        self.rows_now = self.rows
        if n <= COPIED * self.merged.X.shape[0]:
            self.rows_now, index = rows_of(self.merged.X[index]), np.arange(n)
        self.state = state if state.strides[1] == state.itemsize else np.ascontiguousarray(state)
        self.now = PathRows(index, cost, *self.state)
        self.move, self.trial = no_direction(n), no_direction(n)
        self.edges = block_edges(n, int(n * (self.numbers + 10)))
        width, blocks = padded(self.d + EXTRAS), len(self.edges) - 1
        self.matrices, self.buffers = np.empty((blocks, width, width)), np.zeros((blocks, CHUNK, width))
        self.total_cost = float(np.abs(self.now.cost).sum())

    def leave_direction(self) -> None:
        """Room for whoever works between two steps, where the directions say nothing."""
        self.move = self.trial = no_direction(0)

    def after_restore(self) -> None:
        units, move, state = self.units, self.move, [getattr(self.now, name) for name in OF_A_ROW]
        fit = {len(units)} == {len(part) for part in (*state, *move)} and len(self.left) in (0, self.n)
        if not fit or units.max(initial=0) >= self.n or units.min(initial=0) < 0:
            raise StateError("its active rows do not fit this run")
        self.enter(units, np.array(state))
        self.move = move

    def step_and_weigh(self, step: float) -> PathPoint:
        """Take the step; the Newton system of the place where it leads."""
        d, sums = self.d, np.zeros((len(self.edges) - 1, 4))

        def run(block: int, start: int, stop: int) -> None:
            if start == self.edges[block]:
                self.matrices[block] = 0.0
            central_path.step_and_weigh(
                self.rows_now, self.now, self.move, self.knee, step, start, stop, self.centre,
                self.buffers[block], self.matrices[block], sums[block],
            )  # fmt: skip

        chunks = max(1, int(PRODUCTS / (CHUNK * (self.numbers + EXTRAS) ** 2)))
        self.threads.run(run, self.edges, CHUNK * chunks)
        M = self.matrices[0] if len(self.matrices) == 1 else self.matrices.sum(axis=0)
        products, losses, *squares = sums.sum(axis=0)
        k = d + 1
        plus, minus = M[d + 2, :k] + self.fixed[0], self.fixed[1] - M[d + 3, :k]
        plus += self.tau * self.carried[0]
        minus += self.tau * self.carried[1]
        signed = plus - minus
        fixed = self.fixed[0] - self.fixed[1]
        b = self.b + float(self.w @ self.centre)
        at_cost = (1.0 - 0.5 * self.knee) * self.fixed[:, d].sum()  # u (f - knee / 2), but for the plane's part of f
        primal = 0.5 * self.w @ self.w - fixed[:d] @ self.w - fixed[d] * b + at_cost + losses
        dual, shrink = self.dual_value(plus, minus, squares)
        matrix = M[:k, :k].copy()
        upper = np.triu_indices(k, 1)
        matrix[upper] = matrix.T[upper]
        residual, predictor = signed, M[d + 1, :k].copy()
        residual[:d] -= self.w
        diagonal = np.arange(d)
        matrix[diagonal, diagonal] += 1.0
        if self.bias:
            matrix[d, d] *= 1.0 + TINY_SHIFT
        else:
            matrix[d, :], matrix[:, d], matrix[d, d] = 0.0, 0.0, 1.0
        mu = products / (2.0 * self.total_cost)
        gap = (primal - dual) / primal if primal > 0.0 else np.inf
        self.steps += 1
        return PathPoint(mu, primal, dual, gap, shrink, matrix, residual, predictor)

    def dual_value(self, plus: Vector, minus: Vector, squares: list[float]) -> tuple[float, float]:
        """D of a, the heavier class scaled down and then both to the best of D(t a), t <= 1; and that t.

        `squares` = sum u p^2 of either class, over the rows in active; of the others, those at cost have p = 1.
        """
        d = self.d
        up = down = 1.0
        if self.bias:
            light = min(plus[d], minus[d])
            up, down = light / max(plus[d], TINY), light / max(minus[d], TINY)
        u, total = up * plus[:d] - down * minus[:d], up * plus[d] + down * minus[d]
        bent = up * up * (squares[0] + self.fixed[0, d]) + down * down * (squares[1] + self.fixed[1, d])
        square = float(u @ u) + self.knee * bent
        shrink = min(1.0, total / square) if square > 0.0 else 1.0
        return shrink * total - 0.5 * shrink * shrink * square, shrink

    def centred(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of weighted (x, 1), one in a row, as sums of weighted (x - m, 1)."""
        sums[:, :-1] -= sums[:, -1:] * self.centre
        return sums

    def bias_of(self, plane: Vector) -> float:
        """The change of b, from that of b + w.m."""
        return float(plane[-1] - plane[:-1] @ self.centre)

    def right_hand_side(self, right: Vector) -> Vector:
        if not self.bias:
            right[self.d] = 0.0
        return right

    def over_active(self, run: Callable[[int, int, int], None]) -> None:
        """run(block, start, stop) over the active rows; where they are one block, soon read, without a check."""
        if len(self.edges) == 2:
            run(0, *self.edges)
        else:
            self.threads.run(run, self.edges)

    def predict(self, plane: Vector, limit: float) -> tuple[Vector, Vector]:
        blocks = len(self.edges) - 1
        if len(self.move.p) < len(self.units):
            self.move, self.trial = no_direction(len(self.units)), no_direction(len(self.units))
        right, sums = np.zeros((blocks, 2, self.d + 1)), np.zeros((blocks, 5))
        dw, db = plane[:-1], self.bias_of(plane)

        def run(block: int, start: int, stop: int) -> None:
            central_path.predict(
                self.rows_now, self.now, self.move, self.knee, dw, db, limit, start, stop, right[block], sums[block]
            )

        self.over_active(run)
        total = sums.sum(axis=0)
        total[:2] = sums[:, :2].max(axis=0)
        return self.centred(right.sum(axis=0)), total

    def direct(self, move: Direction, plane: Vector, target: float) -> float:
        """The longest step."""
        sums = np.zeros((len(self.edges) - 1, 1))
        dw, db = plane[:-1], self.bias_of(plane)

        def run(block: int, start: int, stop: int) -> None:
            central_path.direct(self.rows_now, self.now, move, self.knee, dw, db, target, start, stop, sums[block])

        self.over_active(run)
        return 1.0 / max(float(sums.max()), 1e-300)

    def recentre(self, step: float, low: float, high: float) -> Vector:
        right = np.zeros((len(self.edges) - 1, 1, self.d + 1))

        def run(block: int, start: int, stop: int) -> None:
            central_path.recentre(
                self.rows_now, self.now, self.move, self.trial, self.knee, step, low, high, start, stop, right[block]
            )

        self.over_active(run)
        return np.asarray(self.centred(right.sum(axis=0))[0])

    def iterate(self, point: PathPoint, proposes: bool) -> Iterate:
        """The plane and the dual variables of the caller's rows."""
        if proposes:
            self.leave_direction()
        if proposes or 4 * len(self.units) > len(self.a) or self.steps % 8 == 0:
            self.spread(point.shrink)
        b = self.b if self.merged.moved is None else self.b - float(self.w @ self.merged.moved)
        w = self.w if self.merged.basis is None else self.merged.basis @ self.w
        return Iterate(w, b, self.a, proposes, self.steps, self.steps, gap=float(point.gap), active=len(self.units))

    def spread(self, shrink: float) -> None:
        """The dual variables of the caller's rows."""
        if len(self.units) == len(self.a):
            np.multiply(shrink, self.costs, out=self.a)
            self.a *= np.minimum(self.now.p, 1.0)
            return
        left = self.left if len(self.left) else np.empty(self.n)
        left[self.units] = np.minimum(self.now.p, 1.0)
        owner, nobody = self.merged.owner, np.empty(0, np.int64)

        def run(_: int, start: int, stop: int) -> None:
            own, costs = slice(start, stop), np.ascontiguousarray(self.costs[start:stop])
            given, owners = (own, nobody) if owner is None else (slice(None), owner[own])
            central_path.share_out(self.side[given], left[given], self.tau, owners, costs, shrink, self.a[own])

        self.threads.run(run, block_edges(len(self.a), SHARING * len(self.a)))

    def sums_over(self, units: NDArray[np.int64], weights: Vector) -> NDArray[np.float64]:
        """sum of weights_k (x_k, 1) over these rows, for either class."""
        edges = block_edges(len(units), int(len(units) * self.numbers))
        totals = np.zeros((len(edges) - 1, 2, self.d + 1))
        index, cost = self.merged.place[units], self.merged.cost[units]

        def run(block: int, start: int, stop: int) -> None:
            sum_by_class(self.rows, index, cost, weights, start, stop, totals[block])

        self.threads.run(run, edges)
        return self.centred(totals.sum(axis=0))

    def drop_decided(self, point: PathPoint) -> bool:
        """Drop the rows that are far from the margin and will hardly come back; False if they are too few to matter."""
        if not self.drop_rule.may_drop or self.steps < 4 or len(self.units) <= FEW_ROWS:
            return False
        early = point.gap > self.drop_rule.late
        if early and not self.drop_rule.early:
            return False
        at_zero, at_cost = self.drop_rule.far(self.state, self.edges, early)
        dropped = at_zero | at_cost
        if np.count_nonzero(dropped) < WORTH_DROPPING * len(dropped):
            return False
        self.leave_direction()
        dropped[np.argmin(np.abs(self.now.xi - self.now.s))] = False  # somebody stays
        self.fade()
        units, at_cost, cost = self.units[dropped], at_cost[dropped], np.abs(self.now.cost[dropped])
        left = np.where(at_cost, self.now.q[dropped], self.now.p[dropped])
        self.side[units], self.left[units] = np.where(at_cost, AT_COST, AT_ZERO), left
        self.carried += self.sums_over(units, cost * np.where(at_cost, -left, left))
        self.fixed += self.sums_over(units[at_cost], cost[at_cost])
        stays = ~dropped
        kept = np.count_nonzero(stays)
        for numbers in self.state:  # in their place: there is no room for two of them
            numbers[:kept] = numbers[stays]
        worth_copying = 2 * kept * self.state.itemsize <= self.state.strides[0]
        self.enter(self.units[stays], self.state[:, :kept].copy() if worth_copying else self.state[:, :kept])
        return True

    def fade(self) -> None:
        """Take tau into what is left, and start again at tau = 1."""
        self.carried *= self.tau
        self.left = self.left * self.tau if len(self.left) else np.zeros(self.n)
        self.tau = 1.0

    def check_is_due(self, point: PathPoint) -> bool:
        """Whether the margins of the dropped rows should be looked at."""
        self.drop_rule.work += (self.numbers / 2.0 + 4.0) * len(self.units)
        due = point.gap < self.drop_rule.check_below or self.drop_rule.work > 0.5 * (self.n - len(self.units))
        return len(self.units) < self.n and due

    def take_back(self, point: PathPoint) -> bool:
        """Make dropped rows active again that are on the wrong side of their edge, and those near it."""
        dropped = self.n - len(self.units)
        if dropped == 0:
            return False
        self.drop_rule.work = 0.0
        self.drop_rule.check_below = min(self.drop_rule.check_below, 0.3 * point.gap)
        verdict = np.empty(self.n, np.int8)

        def run(block: int, start: int, stop: int) -> None:
            place, cost, near = self.merged.place, self.merged.cost, 0.3 * self.drop_rule.distance
            central_path.look_again(
                self.rows, place, cost, self.w, self.b, near, self.knee, start, stop, self.side, verdict
            )

        self.threads.run(run, block_edges(self.n, int(self.n * self.numbers)))
        wrong = np.count_nonzero(verdict == WRONG)
        if wrong == 0:
            return False
        if wrong > MANY_WRONG * dropped:
            self.drop_rule.late = min(self.drop_rule.late, 0.03 * point.gap)
            self.drop_rule.times_moved *= 2.0
            self.drop_rule.early = False
        self.put_back(np.flatnonzero(verdict != FAR), point.mu)
        return True

    def values(self, units: NDArray[np.int64], w: Vector) -> Vector:
        """w.x of these rows."""
        index, values = self.merged.place[units], np.empty(len(units))

        def run(block: int, start: int, stop: int) -> None:
            values_of_rows(self.rows, index, w, start, stop, values)

        self.threads.run(run, block_edges(len(units), int(len(units) * self.numbers)))
        return values

    def put_back(self, units: NDArray[np.int64], mu: float) -> None:
        """Make these rows active again."""
        f = 1.0 - np.sign(self.merged.cost[units]) * (self.values(units, self.w) + self.b)
        cost, at_cost = np.abs(self.merged.cost[units]), self.side[units] == AT_COST
        left = self.left[units]
        self.fixed -= self.sums_over(units[at_cost], cost[at_cost])
        self.carried -= self.sums_over(units, cost * np.where(at_cost, -left, left))
        beyond = f - self.knee * at_cost
        is_near = (beyond > 0.0) == at_cost  # the path, on the right side
        own = np.where(is_near, mu / (mu + np.abs(beyond)), 0.5)
        small = np.maximum(np.clip(self.tau * left, 1e-9, 0.5), np.minimum(own, SMALL_SHARE))
        p, q = np.where(at_cost, 1.0 - small, small), np.where(at_cost, small, 1.0 - small)
        difference = f - self.knee * p  # xi - s
        larger = mu + np.where(at_cost, difference, -difference)
        partner = np.maximum(mu / small, larger)  # s beside a small p, xi beside a small q
        s, xi = np.where(at_cost, partner - difference, partner), np.where(at_cost, partner, partner + difference)
        self.side[units], self.left[units] = ACTIVE, 0.0
        state = np.hstack([self.state, np.stack([np.full(len(units), np.inf), p, q, s, xi])])
        order = np.argsort(units := np.concatenate([self.units, units]), kind="stable")
        self.enter(units[order], state[:, order])
