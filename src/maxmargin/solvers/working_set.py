"""A small dual problem, two variables at a time: sequential minimal optimisation with second-order choice.

    max  D(a) = sum_i a_i - 1/2 sum_ij a_i a_j y_i y_j k_ij,      0 <= a_i <= C_i,   sum_i a_i y_i fixed

v_i = y_i - sum_j a_j y_j k_ij is the slope of D along a_i y_i. a_i y_i may rise in `up` (y = +1 below C, or y = -1
above 0) and fall in `low`. The slope along +a_i y_i, -a_j y_j is v_i - v_j, its curvature k_ii + k_jj - 2 k_ij:

    i    the largest v in up
    j    of low: the largest gain (v_i - v_j)^2 / (k_ii + k_jj - 2 k_ij)          [fan2005]
    step (v_i - v_j) / curvature, or as far as the box lets it

until the largest v in up is hardly above the least in low: then no pair can gain.

v is kept twice more, with rows outside of up at -infinity and outside of low at +infinity (large numbers), so
that maxima run over whole registers; positions are looked up afterwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin._numba import njit

FAR = np.float32(3e38)
FLATTEST = np.float32(1e-6)  # curvature: float32 cannot tell less from rounding, with k at most about 1


@njit(fastmath={"contract", "nnan", "nsz", "reassoc"})
def solve_working_set(K: Any, signs: Any, v: Any, a: Any, costs: Any, precision: Any, most: Any) -> Any:
    """Move a, and v with it, until the violation is below `precision` of what it was; returns the steps made."""
    q = a.shape[0]
    up, low, diagonal, gain = (
        np.empty(q, np.float32),
        np.empty(q, np.float32),
        np.empty(q, np.float32),
        np.empty(q, np.float32),
    )
    for t in range(q):
        diagonal[t] = K[t, t]
        up[t] = v[t] if may_rise(signs[t], a[t], costs[t]) else -FAR
        low[t] = v[t] if may_rise(-signs[t], a[t], costs[t]) else FAR
    enough, steps = np.float32(-1.0), 0
    while steps < most:
        highest, lowest = -FAR, FAR
        for t in range(q):
            highest, lowest = max(highest, up[t]), min(lowest, low[t])
        if highest <= -FAR or lowest >= FAR:
            break
        if steps == 0:
            enough = np.float32(precision) * (highest - lowest)
        if highest - lowest <= max(enough, np.float32(0.0)):
            break
        i = 0
        while up[i] != highest:
            i += 1
        of_i, k_ii, best = K[i], diagonal[i], np.float32(0.0)
        for t in range(q):
            above = max(highest - low[t], np.float32(0.0))
            gain[t] = above * above / max(k_ii + diagonal[t] - np.float32(2.0) * of_i[t], FLATTEST)
            best = max(best, gain[t])
        j = 0
        while gain[j] != best:
            j += 1
        of_j = K[j]
        step = float(highest - low[j]) / float(max(k_ii + diagonal[j] - np.float32(2.0) * of_i[j], FLATTEST))
        room_i = costs[i] - a[i] if signs[i] > 0.0 else a[i]
        room_j = a[j] if signs[j] > 0.0 else costs[j] - a[j]
        step = min(step, room_i, room_j)
        a[i] = (costs[i] if signs[i] > 0.0 else 0.0) if step == room_i else a[i] + signs[i] * step
        a[j] = (0.0 if signs[j] > 0.0 else costs[j]) if step == room_j else a[j] - signs[j] * step
        short = np.float32(step)
        for t in range(q):
            change = short * (of_i[t] - of_j[t])
            v[t] -= change
            up[t] -= change
            low[t] -= change
        for t in (i, j):
            up[t] = v[t] if may_rise(signs[t], a[t], costs[t]) else -FAR
            low[t] = v[t] if may_rise(-signs[t], a[t], costs[t]) else FAR
        steps += 1
    return steps


@njit(inline="always")
def may_rise(sign: Any, a: Any, cost: Any) -> Any:
    """Whether a y may rise, for y = sign."""
    return a < cost if sign > 0.0 else a > 0.0


@njit(fastmath={"contract", "reassoc"})
def add_rows(cache: Any, slots: Any, coefficients: Any, values: Any, start: Any, stop: Any) -> None:
    """values += sum_k coefficients_k cache[slots_k], from column start to stop."""
    for first in range(start, stop, 1024):
        last = min(first + 1024, stop)
        total = np.zeros(last - first, np.float32)
        k, count = 0, slots.shape[0]
        while k + 4 <= count:
            c0, c1, c2, c3 = coefficients[k], coefficients[k + 1], coefficients[k + 2], coefficients[k + 3]
            r0, r1 = cache[slots[k], first:last], cache[slots[k + 1], first:last]
            r2, r3 = cache[slots[k + 2], first:last], cache[slots[k + 3], first:last]
            for t in range(last - first):
                total[t] += (c0 * r0[t] + c1 * r1[t]) + (c2 * r2[t] + c3 * r3[t])
            k += 4
        while k < count:
            c0, r0 = coefficients[k], cache[slots[k], first:last]
            for t in range(last - first):
                total[t] += c0 * r0[t]
            k += 1
        for t in range(last - first):
            values[first + t] += total[t]
