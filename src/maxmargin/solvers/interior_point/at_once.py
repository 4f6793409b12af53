"""The passes of `central_path` in whole arrays, while nothing is compiled.

The formulas are those of the loops, and each function is named after its own. On a
table of up to some hundred thousand numbers NumPy needs about as long for a pass as a compiled loop, and the compiler
longer to be loaded than all of them. Their sums are added in another order, so that the last digits differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.rows import chosen_rows
from maxmargin.solvers.passes import product

ACTIVE, AT_ZERO, AT_COST = 0, 1, 2
FAR, NEAR, WRONG = 0, 1, 2  # a dropped row and its edge: on its own side of it, almost at it, beyond it
EXTRAS = 4  # beside each row: 1, y_i (xi_i - s_i), and y_i p_i / t_i of either class
ALMOST_FLAT = 1e-200  # in place of a knee at zero, where one divides by it


def step_and_weigh(
    rows: Any, active: Any, move: Any, knee: float, step: float, start: int, stop: int, centre: Any, _: Any, M: Any,
    sums: Any,
) -> None:  # fmt: skip
    own, d = slice(start, stop), len(centre)
    p, q, s, xi, moved = (one[own] for one in (active.p, active.q, active.s, active.xi, active.moved))
    dp, ds, dxi, signed = move.p[own], move.s[own], move.xi[own], active.cost[own]
    p += step * dp
    q -= step * dp
    s += step * ds
    xi += step * dxi
    if step > 0.0:
        moved[:] = np.maximum(0.5 * moved, np.abs(dxi - ds + knee * dp))
    cost, is_positive, f = np.abs(signed), signed > 0.0, xi - s + knee * p
    with np.errstate(over="ignore"):
        best = np.clip(f / (knee + ALMOST_FLAT), 0.0, 1.0)
    squares = cost * p * p
    sums += (
        np.sum(cost * (p * s + q * xi)),
        np.sum(cost * (best * (f - 0.5 * knee * best))),
        np.sum(squares[is_positive]),
        np.sum(squares[~is_positive]),
    )
    share = s + xi * p / q + knee * p
    z = np.empty((stop - start, d + EXTRAS))
    z[:, :d] = chosen_rows(rows, active.place[own], d) - centre
    z[:, d], z[:, d + 1] = 1.0, np.where(is_positive, xi - s, s - xi)
    z[:, d + 2], z[:, d + 3] = np.where(is_positive, share, 0.0), np.where(is_positive, 0.0, -share)
    z *= np.sqrt(cost * p * q / (xi * p + s * q + knee * p * q))[:, None]
    M[: d + EXTRAS, : d + EXTRAS] += z.T @ z


def predict(
    rows: Any, active: Any, move: Any, knee: float, dw: Any, db: float, limit: float, start: int, stop: int, right: Any,
    sums: Any,
) -> None:  # fmt: skip
    own, d = slice(start, stop), len(dw)
    p, q, s, xi, cost = (one[own] for one in (active.p, active.q, active.s, active.xi, active.cost))
    X = chosen_rows(rows, active.place[own], d)
    change, magnitude = product(X, dw) + db, np.abs(cost)
    t = p * q / (xi * p + s * q + knee * p * q)
    dp = t * (xi - s - np.where(cost > 0.0, change, -change))
    by_p, by_q = dp / p, dp / q
    ds, dxi = -s - s * by_p, -xi + xi * by_q
    sums[0] = max(sums[0], np.max(1.0 + by_p), np.max(1.0 - by_q))
    sums[1] = max(sums[1], np.max(-by_p), np.max(by_q))
    sums[2] += np.sum(magnitude * dp * (s - xi))
    sums[3] += np.sum(magnitude * (p * ds + q * dxi))
    sums[4] += np.sum(magnitude * dp * (ds - dxi))
    e = -p * s - np.clip(dp * ds, -limit, limit)
    h = -q * xi + np.clip(dp * dxi, -limit, limit)
    move.s[own], move.xi[own] = e, h
    weights = np.stack([cost * t * (e / p - h / q), cost * t * (1.0 / p - 1.0 / q)])
    right[:, :d] += weights @ X
    right[:, d] += weights.sum(axis=1)


def direct(
    rows: Any, active: Any, move: Any, knee: float, dw: Any, db: float, target: float, start: int, stop: int, sums: Any
) -> None:
    own = slice(start, stop)
    p, q, s, xi, cost = (one[own] for one in (active.p, active.q, active.s, active.xi, active.cost))
    change = product(chosen_rows(rows, active.place[own], len(dw)), dw) + db
    e, h = move.s[own] + target, move.xi[own] + target
    dp = (p * q / (xi * p + s * q + knee * p * q)) * (e / p - h / q - np.where(cost > 0.0, change, -change))
    ds, dxi = (e - s * dp) / p, (h + xi * dp) / q
    move.p[own], move.s[own], move.xi[own] = dp, ds, dxi
    sums[0] = max(sums[0], np.max(-ds / s), np.max(-dxi / xi), np.max(-dp / p), np.max(dp / q))


def recentre(
    rows: Any, active: Any, move: Any, trial: Any, knee: float, step: float, low: float, high: float, start: int,
    stop: int, right: Any,
) -> None:  # fmt: skip
    own, d = slice(start, stop), right.shape[1] - 1
    p, q, s, xi, cost = (one[own] for one in (active.p, active.q, active.s, active.xi, active.cost))
    dp, ds, dxi = move.p[own], move.s[own], move.xi[own]
    more_e = back_within((p + step * dp) * (s + step * ds), low, high)
    more_h = back_within((q - step * dp) * (xi + step * dxi), low, high)
    trial.s[own], trial.xi[own] = s * dp + p * ds + more_e, q * dxi - xi * dp + more_h
    k = np.flatnonzero((more_e != 0.0) | (more_h != 0.0))
    p, q, s, xi = p[k], q[k], s[k], xi[k]
    weights = cost[k] * (p * q / (xi * p + s * q + knee * p * q)) * (more_e[k] / p - more_h[k] / q)
    right[0, :d] += weights @ chosen_rows(rows, active.place[own][k], d)
    right[0, d] += weights.sum()


def back_within(products: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """What products outside of [low, high] are asked to change by."""
    return np.where(products < low, low - products, np.where(products > high, np.maximum(high - products, -high), 0.0))


def look_again(
    rows: Any, place: Any, cost: Any, w: Any, b: float, near: float, knee: float, start: int, stop: int, side: Any,
    verdict: Any,
) -> None:  # fmt: skip
    own = slice(start, stop)
    value = product(chosen_rows(rows, place[own], len(w)), w) + b
    f = 1.0 - np.where(cost[own] > 0.0, value, -value)
    beyond = np.where(side[own] == AT_COST, knee - f, f)
    found = np.where(beyond > 0.0, WRONG, np.where(beyond > -near, NEAR, FAR))
    verdict[own] = np.where(side[own] == ACTIVE, FAR, found)


def share_out(side: Any, left: Any, tau: float, owner: Any, costs: Any, scale: float, a: Any) -> None:
    share = np.where(side == ACTIVE, left, tau * left)
    share = np.where(side == AT_COST, 1.0 - share, share)
    a[:] = scale * costs * (share[owner] if len(owner) else share)
