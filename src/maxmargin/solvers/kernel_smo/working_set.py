"""A small dual problem, two variables at a time: sequential minimal optimisation with second-order choice.

    max  D(a) = sum_i a_i - 1/2 sum_ij a_i a_j y_i y_j k_ij,      0 <= a_i <= C_i,   sum_i a_i y_i fixed

v_i = y_i - sum_j a_j y_j k_ij is the slope of D along a_i y_i. a_i y_i may rise in `up` (y = +1 below C, or y = -1
above 0) and fall in `low`. The slope along +a_i y_i, -a_j y_j is v_i - v_j, its curvature k_ii + k_jj - 2 k_ij:

    i    the largest v in up
    j    of low: the largest gain (v_i - v_j)^2 / (k_ii + k_jj - 2 k_ij)          [fan2005]
    step (v_i - v_j) / curvature, or as far as the box lets it

until the largest v in up is hardly above the least in low: then no pair can gain.

v is kept twice, with rows outside of up at -infinity and outside of low at +infinity (large numbers, which no step
moves). A step passes over the set four times: to move v and see its extremes, to find i, to see the gains, to find j.
Every loop runs in vector registers: the compiler turns a maximum of integers into one, but not of floats, which could
be NaN; so floats are compared by their bits, whose order is the same but for the sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin._loops import njit

FAR = np.float32(3e38)
FLATTEST = np.float32(1e-6)  # curvature: float32 cannot tell less from rounding, with k at most about 1
ALL_BUT_SIGN, SIGN_PLACE = np.int32(2**31 - 1), np.int32(31)
LEAST_KEY, NONE = np.int32(-(2**31)), np.int32(0)
ZERO, TWO = np.float32(0.0), np.float32(2.0)


@njit
def solve_working_set(K: Any, signs: Any, v: Any, a: Any, costs: Any, precision: Any, most: Any) -> Any:
    """Move a until the violation is below `precision` of what it was; returns the steps made."""
    q = a.shape[0]
    up, low, gain = np.empty(q, np.float32), np.empty(q, np.float32), np.empty(q, np.float32)
    up_bits, low_bits, gain_bits = up.view(np.int32), low.view(np.int32), gain.view(np.int32)
    diagonal = np.empty(q, np.float32)
    for t in range(q):
        diagonal[t] = K[t, t]
        up[t] = v[t] if may_rise(signs[t], a[t], costs[t]) else -FAR
        low[t] = v[t] if may_rise(-signs[t], a[t], costs[t]) else FAR
    least_bits = np.empty(1, np.int32)
    least = least_bits.view(np.float32)
    enough, step, steps = np.float32(-1.0), ZERO, 0
    of_i, of_j = K[0], K[0]
    while True:
        top, bottom = LEAST_KEY, LEAST_KEY
        for t in range(q):
            change = step * (of_i[t] - of_j[t])
            up[t] -= change
            low[t] -= change
            top = max(top, key_of(up_bits[t]))
            bottom = max(bottom, np.int32(~key_of(low_bits[t])))
        i = place_of(top, up_bits)
        least_bits[0] = key_of(np.int32(~bottom))  # a key's key is what it was made of
        violation = up[i] - least[0]
        if steps == 0:
            enough = max(np.float32(precision) * violation, ZERO)
        if not violation > enough or up[i] <= -FAR or steps >= most:  # nor if it is not a number
            return steps
        of_i, k_ii, highest, best = K[i], diagonal[i], up[i], NONE
        for t in range(q):
            above = max(highest - low[t], ZERO)
            gain[t] = above * above / max(k_ii + diagonal[t] - TWO * of_i[t], FLATTEST)
            best = max(best, gain_bits[t])
        j = place_of(best, gain_bits)
        if not gain[j] > ZERO:  # it vanished in float32, or is not a number
            return steps
        of_j, v_i, v_j = K[j], up[i], low[j]
        curvature = max(k_ii + diagonal[j] - TWO * of_i[j], FLATTEST)
        room_i = costs[i] - a[i] if signs[i] > 0.0 else a[i]
        room_j = a[j] if signs[j] > 0.0 else costs[j] - a[j]
        far = min(float(v_i - v_j) / float(curvature), room_i, room_j)
        a[i] = (costs[i] if signs[i] > 0.0 else 0.0) if far == room_i else a[i] + signs[i] * far
        a[j] = (0.0 if signs[j] > 0.0 else costs[j]) if far == room_j else a[j] - signs[j] * far
        up[i] = v_i if may_rise(signs[i], a[i], costs[i]) else -FAR
        low[i] = v_i if may_rise(-signs[i], a[i], costs[i]) else FAR
        up[j] = v_j if may_rise(signs[j], a[j], costs[j]) else -FAR
        low[j] = v_j if may_rise(-signs[j], a[j], costs[j]) else FAR
        step = np.float32(far)
        steps += 1


@njit(inline="always")
def key_of(bits: Any) -> Any:
    """The bits of a float32 that is not NaN as an integer of the same order.

    Every integer is told to stay one of 32 bits: without that, Numba makes 64 of them, and half as many fit a register.
    """
    return np.int32(bits ^ np.int32(np.int32(bits >> SIGN_PLACE) & ALL_BUT_SIGN))


def place_of_at_once(key: Any, bits: Any) -> Any:
    keys = bits ^ ((bits >> SIGN_PLACE) & ALL_BUT_SIGN)
    places = np.flatnonzero(keys == key)
    return np.int32(places[0] if len(places) else len(bits) - 1)


@njit(at_once=place_of_at_once)
def place_of(key: Any, bits: Any) -> Any:
    """The first place of a key; where it is nowhere, as among floats that are not numbers, the last place."""
    size, from_end = np.int32(bits.shape[0]), np.int32(1)
    for t in range(bits.shape[0]):
        from_end = max(from_end, np.int32(size - np.int32(t)) if key_of(bits[t]) == key else NONE)
    return size - from_end


@njit(inline="always")
def may_rise(sign: Any, a: Any, cost: Any) -> Any:
    """Whether a y may rise, for y = sign."""
    return a < cost if sign > 0.0 else a > 0.0
