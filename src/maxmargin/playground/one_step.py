"""One step of a run as the page shows it: the rule, the arithmetic, the lines before and after."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from maxmargin.data.matrix import Vector
from maxmargin.playground.drawing import short_points
from maxmargin.playground.measured import measured, number
from maxmargin.playground.messages import State
from maxmargin.plots.contours import Grid
from maxmargin.plots.geometry import one_line
from maxmargin.plots.shapes import Box
from maxmargin.problems.kernels import Kernel, rows_of

MOST_STEPS = 400
MOST_BENT_STEPS = 120  # a bent line takes longer to draw
BENT_MESH = 24

Run = tuple[int, Iterable[dict[str, Any]], str | None]  # how many steps there were, those that are shown, a sentence


def step(number: int, rule: str, arithmetic: list[str], **known: Any) -> dict[str, Any]:
    """One step; what is not known of it is null, or empty."""
    unknown: dict[str, Any] = {
        "row": None,
        "sign": None,
        "before": None,
        "w": None,
        "b": None,
        "lines": [],
        "lines_before": [],
        "violation": None,
        "count": number,
        "bound": None,
        "primal": None,
        "dual": None,
        "support": [],
    }
    return {"number": number, "rule": rule, "arithmetic": arithmetic, **unknown, **known}


def planes(before: tuple[Vector, float] | None, after: tuple[Vector, float], view: Box) -> dict[str, Any]:
    """The plane before and after a step, and both as lines."""
    drawn: dict[str, Any] = {"w": after[0], "b": after[1], "lines": lines_of(*after, view)}
    if before is not None:
        drawn |= {"before": {"w": before[0], "b": before[1]}, "lines_before": lines_of(*before, view)}
    return drawn


def lines_of(w: Vector, b: float, view: Box) -> list[Any]:
    """The part of a line that is seen; none while there is no line."""
    return [line.tolist() for line in one_line(w, b, view)] if np.any(w) else []


class BentLines:
    """The boundaries of one run in the space of a kernel: sum_j c_j k(x_j, x) + b = 0 for the c of each step."""

    def __init__(self, kernel: Kernel, X: Any, view: Box) -> None:
        self.kernel, self.points, self.view = kernel, kernel.points(X), view

    def __call__(self, coefficients: Vector, b: float) -> list[Any]:
        own = np.flatnonzero(coefficients)
        if len(own) == 0:
            return []
        support = rows_of(self.points, own)

        def values(points: Any) -> Vector:
            return np.asarray(self.kernel.values(self.kernel.points(points), support) @ coefficients[own] + b)

        return [short_points(line) for line in Grid(values, self.view, BENT_MESH).lines(0.0)]

    def measured(self, state: State, coefficients: Vector, b: float) -> dict[str, Any]:
        """What holds of such a boundary; a bias of +1 in the kernel's rows, as perceptrons have it, is b alone here."""
        products = self.kernel_matrix @ coefficients
        size = math.sqrt(max(0.0, float(coefficients @ products)))
        return measured(state, products + b, size, "boundary")

    @functools.cached_property
    def kernel_matrix(self) -> Any:
        return self.kernel.values(self.points, self.points)


def carried(a: Vector) -> list[dict[str, Any]]:
    """The rows that carry weight, and how much: six digits, because there are many."""
    return [{"row": int(row), "a": float(f"{a[row]:.6g}")} for row in np.flatnonzero(a)]


def vector(values: Iterable[float]) -> str:
    return f"({', '.join(map(number, values))})"
