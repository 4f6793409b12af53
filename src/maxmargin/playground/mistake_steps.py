"""The updates of the perceptrons and of Winnow, from the library's own trace."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from maxmargin.data.matrix import Vector
from maxmargin.playground.fits import Fit, fit_state
from maxmargin.playground.measured import measured_plane, number
from maxmargin.playground.messages import State
from maxmargin.playground.one_step import MOST_STEPS, Run, carried, planes, step, vector
from maxmargin.plots.shapes import Box
from maxmargin.problems.trace import Trace


def mistake_steps(state: State, view: Box, is_stopped: Callable[[], bool]) -> Run:
    """Every update; every second, fourth ... one of a long run."""
    fit = fit_state(state, is_stopped, record=Trace(limit=MOST_STEPS))
    trace: Trace = fit.model.trace_
    note = None
    if fit.status.name == "WITNESS":
        note = "Then the hulls were found to meet: no line separates the classes."
    elif fit.status.name == "TIME":
        note = "Then the time was over."
    elif state.parameters.get("average"):
        note = "The line that is shown in the end is the mean of all lines on the way."
    return trace.n_updates, updates(fit, trace, view), note


def updates(fit: Fit, trace: Trace, view: Box) -> Iterator[dict[str, Any]]:
    state, columns = fit.state, trace.to_arrays()
    explain = {"perceptron": by_mistake, "margin_perceptron": by_distance, "winnow": by_multiplying}
    scale = float(np.abs(state.points).max()) if state.algorithm.name == "winnow" else 1.0
    counts = np.zeros(len(state.points))
    for k in range(len(trace)):
        t, row, violation = int(columns["update"][k]), int(columns["row"][k]), float(columns["violation"][k])
        before, after = plane_in(columns["before"][k], scale), plane_in(columns["after"][k], scale)
        sign = int(state.signs[row])
        if not np.any(columns["before"][k]):  # a phase begins
            counts[:] = 0.0
        counts[row] += 1.0
        rule, arithmetic = explain[state.algorithm.name](fit, t, row, violation, before, after)
        yield step(
            t, rule, arithmetic, row=row, sign=sign, violation=violation, bound=float(columns["margin_bound"][k]),
            support=[] if trace.is_thinned else carried(counts), measured=measured_plane(state, *after),
            **planes(before, after, view),
        )  # fmt: skip


def plane_in(entry: Vector, scale: float) -> tuple[Vector, float]:
    """w and b of an entry of the trace, whose bias is the last number if it has one."""
    return entry[:2] / scale, float(entry[2]) if len(entry) > 2 else 0.0


def by_mistake(
    fit: Fit, t: int, row: int, value: float, before: tuple[Vector, float], after: tuple[Vector, float]
) -> tuple[str, list[str]]:
    rate = fit.state.parameters["rate"]
    rule = f"Row {row} is a mistake, y (w.x + b) <= 0: w moves by rate y x{biased(fit, ', b by rate y')}."
    return rule, [product_line(fit, row, before, f"= {number(value)} <= 0"), *addition(fit, row, before, after, rate)]


def by_distance(
    fit: Fit, t: int, row: int, value: float, before: tuple[Vector, float], after: tuple[Vector, float]
) -> tuple[str, list[str]]:
    guess = fit.recording.phase_of(t)
    lifted = "|(w, b)|" if fit.state.parameters["fit_intercept"] else "|w|"
    size = math.hypot(*before[0], before[1])
    rule = f"Row {row} is nearer to the plane than G/2: w moves by y x{biased(fit, ', b by y')}."
    if size == 0.0:
        lines = [f"w = 0: a phase with the guess G = {number(guess)} begins, and every row is a violation"]
    else:
        lines = [
            product_line(fit, row, before, f"= {number(value * size)}"),
            f"divided by {lifted} = {number(size)}: {number(value)} < G/2 = {number(0.5 * guess)}",
        ]
    return rule, [*lines, *addition(fit, row, before, after, 1.0)]


def by_multiplying(
    fit: Fit, t: int, row: int, value: float, before: tuple[Vector, float], after: tuple[Vector, float]
) -> tuple[str, list[str]]:
    eta = fit.recording.phase_of(t)
    epsilon, s = -math.expm1(-eta), float(np.abs(fit.state.points).max())
    lifted = [*(fit.state.signs[row] * fit.state.points[row] / s)]
    lifted += [float(fit.state.signs[row])] if fit.state.parameters["fit_intercept"] else []
    factors = [(1.0 - epsilon) ** -a for a in lifted]
    rule = f"Row {row} is a mistake, w.a <= 0: each weight is multiplied by (1 - epsilon)^(-a_j)."
    inside = "(x/s, 1)" if fit.state.parameters["fit_intercept"] else "x/s"
    balanced = ", the opposite ones divided by them" if fit.state.parameters["balanced"] else ""
    bias = biased(fit, f"; b: {number(before[1])} becomes {number(after[1])}")
    return rule, [
        f"a = y {inside} = {vector(lifted)}, s = {number(s)} the largest coordinate",
        f"w.a = {number(value)} <= 0, with the weights divided by their sum",
        f"factors (1 - {number(epsilon)})^(-a) = {vector(factors)}{balanced}",
        f"w: {vector(before[0])} becomes {vector(after[0])}{bias}",
    ]


def product_line(fit: Fit, row: int, plane: tuple[Vector, float], end: str) -> str:
    (w, b), x, sign = plane, fit.state.points[row], int(fit.state.signs[row])
    return f"y (w.x + b) = {sign:+d} ({vector(w)}.{vector(x)}{biased(fit, signed(b))}) {end}"


def addition(fit: Fit, row: int, before: tuple[Vector, float], after: tuple[Vector, float], rate: float) -> list[str]:
    x, sign = fit.state.points[row], int(fit.state.signs[row])
    factor = f"{number(rate)} ({sign:+d})" if rate != 1.0 else f"({sign:+d})"
    lines = [f"w: {vector(before[0])} + {factor} {vector(x)} = {vector(after[0])}"]
    if fit.state.parameters["fit_intercept"]:
        lines.append(f"b: {number(before[1])} + {factor} = {number(after[1])}")
    return lines


def signed(value: float) -> str:
    """As it is added in a line of arithmetic."""
    return f" - {number(-value)}" if value < 0.0 else f" + {number(value)}"


def biased(fit: Fit, text: str) -> str:
    """The text where there is a bias; nothing through the origin."""
    return text if fit.state.parameters["fit_intercept"] else ""
