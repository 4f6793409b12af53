"""What holds of the plane of one step, measured on the points: beside its picture nothing is said of another plane.

hard margin and mistakes    the margin min_i y_i f(x_i) / |w|, or how many rows are on the wrong side or the plane
soft margin                 the objective 1/2 |w|^2 + C sum_i loss(1 - y_i f(x_i)) as well
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from maxmargin.certificates.measure import length
from maxmargin.data.matrix import Vector
from maxmargin.playground.messages import State
from maxmargin.problems.losses import HINGE, loss_named


def measured_plane(state: State, w: Vector, b: float) -> dict[str, Any]:
    """Of the plane w.x + b = 0 in the space of the points."""
    return measured(state, state.points @ w + b, length(w, norm_of(state)), "line")


def measured(state: State, values: Vector, size: float, noun: str) -> dict[str, Any]:
    """From f(x_i) of all points and |w|: a verdict, figures to read, and the mistakes."""
    own = state.signs * values
    mistakes = np.flatnonzero(own <= 0.0)
    if not size > 0.0:
        return {"verdict": f"There is no {noun} yet: w = 0.", "figures": [], "mistakes": []}
    figures = []
    if len(mistakes):
        rows = "1 row is" if len(mistakes) == 1 else f"{len(mistakes)} rows are"
        on_it = " or on it" if np.any(own == 0.0) else ""
        verdict = f"This {noun} does not separate the classes: {rows} on the wrong side of it{on_it}."
    else:
        nearest = int(np.argmin(own))
        space = " (in the kernel's space)" if noun == "boundary" else " (l1)" if norm_of(state) == "l1" else ""
        verdict = f"This {noun} separates the classes: row {nearest} is nearest."
        figures.append([f"Margin{space}", number(own[nearest] / size)])
    price = state.parameters.get("C", math.inf)
    if price < math.inf:
        chosen = state.parameters
        paid = loss_named(chosen.get("loss", HINGE.name), chosen.get("huber_width")).value(1.0 - own)
        figures.append(["Objective", number(0.5 * size * size + price * float(paid.sum()))])
    return {"verdict": verdict, "figures": figures, "mistakes": mistakes}


def norm_of(state: State) -> str:
    """How the margin of the algorithm is measured."""
    return "l1" if state.algorithm.name == "winnow" else str(state.parameters.get("norm", "l2"))


def number(value: float) -> str:
    """As it stands in a line of arithmetic."""
    return f"{value:.5g}"
