"""A small dual problem, two variables at a time: sequential minimal optimisation with second-order choice.

    max  D(a) = sum_i a_i - 1/2 sum_ij a_i a_j y_i y_j k_ij,      0 <= a_i <= C_i,   sum_i a_i y_i fixed

v_i = y_i - sum_j a_j y_j k_ij is the slope of D along a_i y_i. a_i y_i may rise in `up` (y = +1 below C, or y = -1
above 0) and fall in `low`. The slope along +a_i y_i, -a_j y_j is v_i - v_j, its curvature k_ii + k_jj - 2 k_ij:

    i    the largest v in up
    j    of low: the largest gain (v_i - v_j)^2 / (k_ii + k_jj - 2 k_ij)          [fan2005]
    step (v_i - v_j) / curvature, or as far as the box lets it

until the largest v in up is hardly above the least in low: then no pair can gain.

v is kept twice, with rows outside of up at -infinity and outside of low at +infinity (large numbers, which no step
moves). Every loop over the set runs in vector registers: the compiler turns a maximum of integers into one, but not of
floats, which could be NaN; so floats are compared by their bits, whose order is the same but for the sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin._numba import njit

FAR = np.float32(3e38)
FLATTEST = np.float32(1e-6)  # curvature: float32 cannot tell less from rounding, with k at most about 1
ALL_BUT_SIGN, LEAST_KEY = np.int32(2**31 - 1), np.int32(-(2**31))
SIGN_PLACE, AS_IT_IS, UPSIDE_DOWN = np.int32(31), np.int32(0), np.int32(-1)


@njit
def solve_working_set(K: Any, signs: Any, v: Any, a: Any, costs: Any, precision: Any, most: Any) -> Any:
    """Move a until the violation is below `precision` of what it was; returns the steps made."""
    q = a.shape[0]
    up, low = np.empty(q, np.float32), np.empty(q, np.float32)
    diagonal, gain = np.empty(q, np.float32), np.empty(q, np.float32)
    for t in range(q):
        diagonal[t] = K[t, t]
        up[t] = v[t] if may_rise(signs[t], a[t], costs[t]) else -FAR
        low[t] = v[t] if may_rise(-signs[t], a[t], costs[t]) else FAR
    enough, steps = np.float32(-1.0), 0
    while steps < most:
        i = place_of_largest(up, AS_IT_IS)
        violation = up[i] - low[place_of_largest(low, UPSIDE_DOWN)]
        if steps == 0:
            enough = max(np.float32(precision) * violation, np.float32(0.0))
        if violation <= enough or up[i] <= -FAR:
            break
        of_i, k_ii, highest = K[i], diagonal[i], up[i]
        for t in range(q):
            above = max(highest - low[t], np.float32(0.0))
            gain[t] = above * above / max(k_ii + diagonal[t] - np.float32(2.0) * of_i[t], FLATTEST)
        j = place_of_largest(gain, AS_IT_IS)
        of_j, v_i, v_j = K[j], up[i], low[j]
        step = float(v_i - v_j) / float(max(k_ii + diagonal[j] - np.float32(2.0) * of_i[j], FLATTEST))
        room_i = costs[i] - a[i] if signs[i] > 0.0 else a[i]
        room_j = a[j] if signs[j] > 0.0 else costs[j] - a[j]
        step = min(step, room_i, room_j)
        a[i] = (costs[i] if signs[i] > 0.0 else 0.0) if step == room_i else a[i] + signs[i] * step
        a[j] = (0.0 if signs[j] > 0.0 else costs[j]) if step == room_j else a[j] - signs[j] * step
        up[i] = v_i if may_rise(signs[i], a[i], costs[i]) else -FAR
        low[i] = v_i if may_rise(-signs[i], a[i], costs[i]) else FAR
        up[j] = v_j if may_rise(signs[j], a[j], costs[j]) else -FAR
        low[j] = v_j if may_rise(-signs[j], a[j], costs[j]) else FAR
        short = np.float32(step)
        for t in range(q):
            change = short * (of_i[t] - of_j[t])
            up[t] -= change
            low[t] -= change
        steps += 1
    return steps


@njit
def place_of_largest(values: Any, order: Any) -> Any:
    """The first place of the largest (or, upside down, the least) of these float32 numbers, none of which is NaN."""
    bits = values.view(np.int32)
    size, largest, from_end = np.int32(bits.shape[0]), LEAST_KEY, np.int32(0)
    for t in range(bits.shape[0]):
        largest = max(largest, order ^ bits[t] ^ ((bits[t] >> SIGN_PLACE) & ALL_BUT_SIGN))
    for t in range(bits.shape[0]):
        key = order ^ bits[t] ^ ((bits[t] >> SIGN_PLACE) & ALL_BUT_SIGN)
        from_end = max(from_end, size - np.int32(t) if key == largest else np.int32(0))
    return size - from_end


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
