"""Passes over the rows of a soft margin on its central path, each fused so that a row is read once.

    u_i = box C_i       the largest a_i: what a row can cost,           knee = box bend (`losses`)
    p_i = a_i / u_i     the share of it that a row uses,                q_i = 1 - p_i
    s_i, xi_i > 0       surplus and slack,                              xi_i - s_i + knee p_i = 1 - y_i (w.x_i + b)
    link                w = sum_i u_i p_i y_i x_i,                      sum_i u_i p_i y_i = 0
    path                p_i s_i = mu,  q_i xi_i = mu

A Newton step towards p s + ds p + dp s = p s + e,  q xi + ... = q xi + h  is, row by row, with r_i = e_i/p_i - h_i/q_i,

    dp_i = t_i (r_i - y_i (x_i.dw + db)),     t_i = 1 / (s_i/p_i + xi_i/q_i + knee)
    ds_i = (e_i - s_i dp_i) / p_i,            dxi_i = (h_i + xi_i dp_i) / q_i

and q is kept beside p, because 1 - p has no digits left where p is almost 1. (In the dual of `statement` q_i is another
number, the bend / C_i that is knee / u_i here.) The equation of xi, s and p with the
margin holds at the start, and every step keeps it: the margins need no array of their own. The hinge has no knee.

A pass runs over rows start..stop of the active ones and adds to sums of its own, so that blocks of rows may run on
several threads and be added up in a fixed order.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import njit
from maxmargin.data.rows import add, dot
from maxmargin.data.table import Vector
from maxmargin.problems.protocol import State, varying
from maxmargin.solvers.interior_point import at_once
from maxmargin.solvers.interior_point.at_once import ACTIVE, ALMOST_FLAT, AT_COST, AT_ZERO, EXTRAS, FAR, NEAR, WRONG
from maxmargin.solvers.interior_point.normal_equations import CHUNK, add_outer_products

HALVINGS = 40
SMALL_SHARE = 0.02  # p or q of a row that may be dropped


class PathRows(NamedTuple):
    """Which rows of the table, y_i u_i, where each is, and how far its margin moved of late."""

    place: NDArray[np.int64]
    cost: Vector
    moved: Vector
    p: Vector
    q: Vector
    s: Vector
    xi: Vector


class Direction(NamedTuple):
    """dp, and either ds and dxi or, before the plane's part is known, the wanted changes e and h of the products."""

    p: Vector
    s: Vector
    xi: Vector


class PathPoint(NamedTuple):
    """Where the path is: mu, both objectives, and the Newton system up to its right-hand side."""

    mu: float
    primal: float
    dual: float
    gap: float
    shrink: float
    matrix: NDArray[np.float64]
    residual: Vector
    predictor: Vector


@njit
def put_on_path(active: Any, f: Any, mu: float, knee: float) -> None:
    """The point of the path that belongs to the margins: p s = q xi = mu, p + q = 1, xi - s + knee p = f.

    Without a knee that is a quadratic equation. With one, p is between 0 and 1 and rises with f: found by halving.
    """
    for k in range(f.shape[0]):
        low, high = 0.0, 1.0
        for _ in range(HALVINGS if knee > 0.0 else 0):
            p = 0.5 * (low + high)
            if mu / (1.0 - p) - mu / p + knee * p < f[k]:
                low = p
            else:
                high = p
        difference = f[k] - knee * (0.5 * (low + high))  # xi - s
        root = np.sqrt(4.0 * mu * mu + difference * difference)
        far = 0.5 * (2.0 * mu + root + abs(difference))
        near = 0.5 * (2.0 * mu + 4.0 * mu * mu / (root + abs(difference)))
        active.s[k], active.xi[k] = (near, far) if difference > 0.0 else (far, near)
        active.p[k], active.q[k] = mu / active.s[k], mu / active.xi[k]
        off = f[k] - knee * active.p[k] - (active.xi[k] - active.s[k])  # what the halving left
        if knee > 0.0 and off > 0.0:
            active.xi[k] += off
        elif knee > 0.0:
            active.s[k] -= off


@njit(at_once=at_once.step_and_weigh)
def step_and_weigh(
    rows: Any,
    active: Any,
    move: Any,
    knee: float,
    step: float,
    start: int,
    stop: int,
    centre: Any,
    buffer: Any,
    M: Any,
    sums: Any,
) -> None:
    """Take the step, then M += sum_i u_i t_i z_i z_i', z_i = (x_i - m, 1, y_i (xi_i - s_i), y_i p_i / t_i by class).

    So M holds the matrix of the next Newton step, the right-hand side of its predictor (e = -p s, h = -q xi, so that
    r = xi - s), and sum_i a_i y_i x_i of either class. sums += (sum u (p s + q xi), sum C loss, sum u p^2 by class).
    """
    t, extra = np.empty(CHUNK), np.empty((CHUNK, EXTRAS))
    products, losses, plus, minus = 0.0, 0.0, 0.0, 0.0
    for first in range(start, stop, CHUNK):
        count = min(CHUNK, stop - first)
        for here in range(count):
            k = first + here
            p, q = active.p[k] + step * move.p[k], active.q[k] - step * move.p[k]
            s, xi = active.s[k] + step * move.s[k], active.xi[k] + step * move.xi[k]
            active.p[k], active.q[k], active.s[k], active.xi[k] = p, q, s, xi
            f = xi - s + knee * p
            if step > 0.0:
                active.moved[k] = max(0.5 * active.moved[k], abs(move.xi[k] - move.s[k] + knee * move.p[k]))
            cost = abs(active.cost[k])
            y = 1.0 if active.cost[k] > 0.0 else -1.0
            products += cost * (p * s + q * xi)
            best = min(1.0, max(0.0, f / (knee + ALMOST_FLAT)))
            losses += cost * (best * (f - 0.5 * knee * best))
            plus, minus = plus + (cost * p * p if y > 0.0 else 0.0), minus + (cost * p * p if y < 0.0 else 0.0)
            t[here] = cost * p * q / (xi * p + s * q + knee * p * q)
            share = s + xi * p / q + knee * p
            extra[here, 0], extra[here, 1] = 1.0, y * (xi - s)
            extra[here, 2], extra[here, 3] = (share, 0.0) if y > 0.0 else (0.0, -share)
        add_outer_products(rows, active.place[first : first + count], centre, t, extra, buffer, M)
    sums[0] += products
    sums[1] += losses
    sums[2] += plus
    sums[3] += minus


@njit(at_once=at_once.predict)
def predict(
    rows: Any,
    active: Any,
    move: Any,
    knee: float,
    dw: Any,
    db: float,
    limit: float,
    start: int,
    stop: int,
    right: Any,
    sums: Any,
) -> None:
    """The step to mu = 0, and what the second-order terms that it leaves ask of the corrector.

    move.s, move.xi   the wanted e and h of the corrector without its target mu, the second-order terms within `limit`
    right             [X 1]'(u t r y) for that e and h, and for e = h = 1: the target is chosen after this pass
    sums              the largest of -ds/s, -dxi/xi and of -dp/p, dp/q; then the coefficients of sum u (p s + q xi)
                      along the step: of the dual step, of the primal step, of their product
    """
    d = dw.shape[0]
    primal, dual, along_dual, along_primal, along_both = sums[0], sums[1], 0.0, 0.0, 0.0
    for k in range(start, stop):
        i, cost = active.place[k], active.cost[k]
        p, q, s, xi = active.p[k], active.q[k], active.s[k], active.xi[k]
        change = dot(rows, i, dw) + db
        t = p * q / (xi * p + s * q + knee * p * q)
        dp = t * (xi - s - (change if cost > 0.0 else -change))
        by_p, by_q = dp / p, dp / q
        ds, dxi = -s - s * by_p, -xi + xi * by_q
        primal, dual = max(primal, max(1.0 + by_p, 1.0 - by_q)), max(dual, max(-by_p, by_q))
        along_dual += abs(cost) * dp * (s - xi)
        along_primal += abs(cost) * (p * ds + q * dxi)
        along_both += abs(cost) * dp * (ds - dxi)
        e = -p * s - min(max(dp * ds, -limit), limit)
        h = -q * xi + min(max(dp * dxi, -limit), limit)
        move.s[k], move.xi[k] = e, h
        known, per_target = cost * t * (e / p - h / q), cost * t * (1.0 / p - 1.0 / q)
        add(rows, i, known, right[0])
        add(rows, i, per_target, right[1])
        right[0, d] += known
        right[1, d] += per_target
    sums[0], sums[1] = primal, dual
    sums[2] += along_dual
    sums[3] += along_primal
    sums[4] += along_both


@njit(at_once=at_once.direct)
def direct(
    rows: Any, active: Any, move: Any, knee: float, dw: Any, db: float, target: float, start: int, stop: int, sums: Any
) -> None:
    """From e - target and h - target in move.s and move.xi to dp, ds, dxi; sums[0] = 1 / the longest step."""
    largest = sums[0]
    for k in range(start, stop):
        p, q, s, xi = active.p[k], active.q[k], active.s[k], active.xi[k]
        change = dot(rows, active.place[k], dw) + db
        e, h = move.s[k] + target, move.xi[k] + target
        dp = (p * q / (xi * p + s * q + knee * p * q)) * (e / p - h / q - (change if active.cost[k] > 0.0 else -change))
        ds, dxi = (e - s * dp) / p, (h + xi * dp) / q
        move.p[k], move.s[k], move.xi[k] = dp, ds, dxi
        largest = max(max(max(-ds / s, -dxi / xi), max(-dp / p, dp / q)), largest)
    sums[0] = largest


@njit(at_once=at_once.recentre)
def recentre(
    rows: Any,
    active: Any,
    move: Any,
    trial: Any,
    knee: float,
    step: float,
    low: float,
    high: float,
    start: int,
    stop: int,
    right: Any,
) -> None:
    """Gondzio's correction: ask products that a longer step would leave outside [low, high] to come back.

    trial.s, trial.xi <- the wanted e and h;  right[0] += [X 1]'(u t dr y), the rows without a correction unread.
    """
    d = right.shape[1] - 1
    for k in range(start, stop):
        p, q, s, xi = active.p[k], active.q[k], active.s[k], active.xi[k]
        dp, ds, dxi = move.p[k], move.s[k], move.xi[k]
        product, other = (p + step * dp) * (s + step * ds), (q - step * dp) * (xi + step * dxi)
        more_e = low - product if product < low else max(high - product, -high) if product > high else 0.0
        more_h = low - other if other < low else max(high - other, -high) if other > high else 0.0
        trial.s[k], trial.xi[k] = s * dp + p * ds + more_e, q * dxi - xi * dp + more_h
        if more_e != 0.0 or more_h != 0.0:
            weight = active.cost[k] * (p * q / (xi * p + s * q + knee * p * q)) * (more_e / p - more_h / q)
            add(rows, active.place[k], weight, right[0])
            right[0, d] += weight


@njit
def sort_out(
    rows: Any,
    index: Any,
    cost: Any,
    w: Any,
    b: float,
    mu: float,
    width: float,
    knee: float,
    start: int,
    stop: int,
    side: Any,
    left: Any,
    totals: Any,
) -> None:
    """Which rows are within `width` of where the loss bends; of the others, the sums that stand for them.

    left      the smaller of p and q on the path at mu
    totals    sum u (x, 1) over the rows at cost, and sum u left (x, 1), with a minus for those at cost, per class
    """
    d = w.shape[0]
    for k in range(start, stop):
        c, sign, of_class = abs(cost[k]), 1.0 if cost[k] > 0.0 else -1.0, 0 if cost[k] > 0.0 else 1
        f = 1.0 - sign * (dot(rows, index[k], w) + b)
        f -= min(knee, max(0.0, f))
        if abs(f) < width:
            side[k] = ACTIVE
            continue
        left[k] = 2.0 * mu / (2.0 * mu + abs(f) + np.sqrt(4.0 * mu * mu + f * f))
        side[k] = AT_COST if f > 0.0 else AT_ZERO
        carried = -c * left[k] if f > 0.0 else c * left[k]
        add(rows, index[k], carried, totals[1, of_class])
        totals[1, of_class, d] += carried
        if f > 0.0:
            add(rows, index[k], c, totals[0, of_class])
            totals[0, of_class, d] += c


@njit(at_once=at_once.look_again)
def look_again(
    rows: Any,
    place: Any,
    cost: Any,
    w: Any,
    b: float,
    near: float,
    knee: float,
    start: int,
    stop: int,
    side: Any,
    verdict: Any,
) -> None:
    """Where the dropped rows are now."""
    for k in range(start, stop):
        verdict[k] = FAR
        if side[k] != ACTIVE:
            value = dot(rows, place[k], w) + b
            f = 1.0 - (value if cost[k] > 0.0 else -value)
            beyond = knee - f if side[k] == AT_COST else f
            if beyond > -near:
                verdict[k] = WRONG if beyond > 0.0 else NEAR


@njit(at_once=at_once.share_out)
def share_out(side: Any, left: Any, tau: float, owner: Any, costs: Any, scale: float, a: Any) -> None:
    """a_i of the caller's rows: scale u_i times the share of the row that stands for it. No owner: each for itself."""
    for i in range(a.shape[0]):
        j = owner[i] if owner.shape[0] > 0 else i
        share = left[j] if side[j] == ACTIVE else tau * left[j]
        a[i] = scale * costs[i] * (1.0 - share if side[j] == AT_COST else share)


@dataclass(eq=False)
class DropRule(State):
    """When rows may be dropped, made stricter when too many had to come back.

    early          whether rows may be dropped before the gap is below `late`, if they are very far from the margin
    distance       from the margin, and how many times what the row moved of late
    check_below    the gap below which the dropped rows are looked at next; `work` since they last were
    """

    may_drop: bool = varying(True)
    late: float = varying(0.03)
    early: bool = varying(True)
    distance: float = varying(0.1)
    times_moved: float = varying(3.0)
    check_below: float = varying(0.3)
    work: float = varying(0.0)

    def far(
        self, state: NDArray[np.float64], edges: list[int], early: bool
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The active rows that are far beyond their edge and, if it is not early, those far behind the knee."""
        at_zero, at_cost = np.zeros((2, state.shape[1]), dtype=bool)
        small, times = (0.2 * SMALL_SHARE, 4.0) if early else (SMALL_SHARE, 1.0)
        for own in itertools.starmap(slice, itertools.pairwise(edges)):
            moved, p, q, s, xi = state[:, own]
            distance = times * self.times_moved * moved
            distance += self.distance * (10.0 if early else 1.0)
            np.logical_and(p < small, s > distance, out=at_zero[own])
            if not early:
                np.logical_and(q < small, xi > distance, out=at_cost[own])
        return at_zero, at_cost
