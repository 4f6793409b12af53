"""Shapes in two coordinates: boxes, lines that are cut to them, hulls, the nearest point of a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Lines = tuple[Points, ...]


class Box(NamedTuple):
    """The part of the plane that is shown."""

    left: float
    right: float
    bottom: float
    top: float


def square_around(points: Points, room: float = 0.07) -> Box:
    """The smallest upright square around the points, and room on each side as a part of it.

    >>> square_around(np.array([[0.0, 0.0], [4.0, 2.0]]), room=0.0)
    Box(left=0.0, right=4.0, bottom=-1.0, top=3.0)
    """
    lowest, highest = points.min(axis=0), points.max(axis=0)
    (x, y), half = 0.5 * (lowest + highest), 0.5 * (float(np.max(highest - lowest)) or 1.0)
    half *= 1.0 + 2.0 * room
    return Box(float(x - half), float(x + half), float(y - half), float(y + half))


def box_around(points: Points, room: float = 0.07, uneven: float = 4.0) -> Box:
    """A square, or where one coordinate spreads more than `uneven` times as far as the other, a box of its own sides.

    >>> box_around(np.array([[0.0, 0.0], [100.0, 1.0]]), room=0.0)
    Box(left=0.0, right=100.0, bottom=0.0, top=1.0)
    """
    lowest, highest = points.min(axis=0), points.max(axis=0)
    spread = highest - lowest
    if not 0.0 < float(spread.max()) > uneven * float(spread.min()) > 0.0:
        return square_around(points, room)
    (left, bottom), (right, top) = lowest - 2.0 * room * spread, highest + 2.0 * room * spread
    return Box(float(left), float(right), float(bottom), float(top))


def corners(box: Box) -> Points:
    """The four corners, counterclockwise."""
    left, right, bottom, top = box
    return np.array([[left, bottom], [right, bottom], [right, top], [left, top]])


def between(w: Points, b: float, low: float, high: float, box: Box) -> Points:
    """The corners of the part of the box where low <= w.x + b <= high; none if there is no such part.

    A half plane is cut away at a time [sutherland1974].

    >>> between(np.array([1.0, 0.0]), 0.0, 0.0, 5.0, Box(-1, 1, -1, 1)).tolist()
    [[0.0, -1.0], [1.0, -1.0], [1.0, 1.0], [0.0, 1.0]]
    """
    polygon = corners(box)
    for sign, bound in ((1.0, low), (-1.0, high)):
        height = sign * (polygon @ w + b - bound)
        kept: list[Points] = []
        for i in range(len(polygon)):
            before = i - 1
            if (height[before] >= 0.0) != (height[i] >= 0.0):
                share = height[before] / (height[before] - height[i])
                kept.append(polygon[before] + share * (polygon[i] - polygon[before]))
            if height[i] >= 0.0:
                kept.append(polygon[i])
        if not kept:
            return np.zeros((0, 2))
        polygon = np.array(kept)
    return polygon


def line_in_box(w: Points, b: float, box: Box) -> Points:
    """The two ends of the part of the line w.x + b = 0 that lies in the box; none if it misses it.

    >>> line_in_box(np.array([0.0, 2.0]), -1.0, Box(0, 4, 0, 3)).tolist()
    [[4.0, 0.5], [0.0, 0.5]]
    """
    around = corners(box)
    height = around @ w + b
    ends: list[Points] = []
    for i in range(4):
        start, end = around[i], around[(i + 1) % 4]
        from_start, from_end = height[i], height[(i + 1) % 4]
        if (from_start > 0.0) != (from_end > 0.0):
            ends.append(start + from_start / (from_start - from_end) * (end - start))
    return np.array(ends).reshape(-1, 2)


def one_line(w: Points, b: float, box: Box) -> Lines:
    """The same for a picture, which may be without the line."""
    line = line_in_box(w, b, box)
    return (line,) if len(line) else ()


def hull(points: Points) -> Points:
    """The corners of the convex hull, counterclockwise; two points give a segment, one gives itself.

    >>> hull(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5], [1.0, 2.0]])).tolist()
    [[0.0, 0.0], [2.0, 0.0], [1.0, 2.0]]
    """
    ordered = np.unique(points, axis=0)  # by the first column, then by the second
    if len(ordered) <= 2:
        return ordered
    return np.array(_chain(ordered)[:-1] + _chain(ordered[::-1])[:-1])


def _chain(points: Points) -> list[Points]:
    """The side of the hull from the first point to the last, turning left only [andrew1979]."""
    chain: list[Points] = []
    for point in points:
        while len(chain) >= 2 and _turn(chain[-2], chain[-1], point) <= 0.0:
            chain.pop()
        chain.append(point)
    return chain


def _turn(a: Points, b: Points, c: Points) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def hull_points(points: Points, signs: NDArray[np.int64], weights: NDArray[np.float64]) -> Points:
    """The weighted mean of each side's rows, the positive side first: two points of the hulls, nearest or equal."""
    means = []
    for sign in (1, -1):
        side = signs == sign
        means.append(weights[side] @ points[side] / weights[side].sum())
    return np.array(means)


def nearest_on_lines(points: Points, lines: Sequence[Points]) -> Points | None:
    """The points of these lines of many corners that are nearest to the given ones; None if there is no line.

    >>> nearest_on_lines(np.array([[1.0, 1.0], [5.0, 0.0]]), [np.array([[0.0, 0.0], [4.0, 0.0]])]).tolist()
    [[1.0, 0.0], [4.0, 0.0]]
    """
    lines = [line for line in lines if len(line)]
    if not lines:
        return None
    starts, steps = (
        np.concatenate([line[:-1] for line in lines]),
        np.concatenate([np.diff(line, axis=0) for line in lines]),
    )
    squares, away = np.einsum("ij,ij->i", steps, steps), points[..., None, :] - starts
    shares = np.einsum("...ij,ij->...i", away, steps) / np.where(squares > 0.0, squares, 1.0)
    places = starts + np.clip(shares, 0.0, 1.0)[..., None] * steps
    nearest = np.argmin(np.sum((places - points[..., None, :]) ** 2, axis=-1), axis=-1)
    return np.asarray(np.take_along_axis(places, nearest[..., None, None], axis=-2)[..., 0, :])


def slack_to_lines(points: Points, signs: NDArray[np.float64], edges: tuple[Lines, Lines]) -> NDArray[np.float64]:
    """From each row to the nearest point of its own edge; no way, where that edge is out of sight."""
    ends = points.copy()
    for side, own in zip((signs > 0, signs <= 0), edges, strict=True):
        found = nearest_on_lines(points[side], own)
        ends[side] = points[side] if found is None else found
    return np.stack([points, ends], axis=1)
