"""The mistakes of the kernel perceptron, one at a time, by the library's own loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from maxmargin.data.matrix import Vector
from maxmargin.playground.fits import Fit, Stopped, fit_state
from maxmargin.playground.measured import measured_plane, number
from maxmargin.playground.messages import State
from maxmargin.playground.one_step import MOST_BENT_STEPS, BentLines, Run, carried, planes, step
from maxmargin.playground.rounds import kernel_of, signs_of
from maxmargin.playground.thinning import evenly
from maxmargin.plots.shapes import Box


class Mistake(NamedTuple):
    """The row, y w.phi(x) before it counted, and the counts afterwards."""

    number: int
    row: int
    value: float
    counts: Vector


def kernel_perceptron_steps(state: State, view: Box, is_stopped: Callable[[], bool]) -> Run:
    """Every mistake, thinned evenly."""
    fit = fit_state(state, is_stopped)
    total = int(fit.model.n_updates_)
    note = None if fit.status.name == "SETTLED" else "Then the sweeps or the time were over."
    return total, drawn(fit, mistakes(fit, total, is_stopped), view), note


def mistakes(fit: Fit, total: int, is_stopped: Callable[[], bool]) -> Iterator[Mistake]:
    """At most as many mistakes as are shown, and the last one always."""
    from maxmargin.solvers.mistakes.kernel_memory import KernelMemory
    from maxmargin.solvers.mistakes.kernel_perceptron import visit

    kernel, signs = kernel_of(fit), signs_of(fit)
    memory = KernelMemory(kernel, kernel.points(fit.state.points))
    n, lift = len(signs), 1.0 if fit.state.parameters["fit_intercept"] else 0.0
    values, counts = np.zeros(n), np.zeros(n)
    shown = iter([at + 1 for at in evenly(total, MOST_BENT_STEPS)])
    made, target, random = 0, next(shown, 0), shuffler(fit)
    while made < total:
        order, place = np.arange(n) if random is None else random.permutation(n), 0
        if is_stopped():
            raise Stopped
        while made < total:
            # To the next mistake that is shown, and then that one alone: its value must be seen before it counts.
            place, several = visit(memory.rows, signs, order, place, lift, values, counts, target - made - 1)
            made += several
            if place == n:
                break
            row = int(order[place])
            if memory.rows.slots[row] < 0:
                memory.fetch(row, order[place:])
            elif made + 1 == target:
                value = float(signs[row] * values[row])
                place, _ = visit(memory.rows, signs, order[: place + 1], place, lift, values, counts, 1)
                made, target = target, next(shown, 0)
                yield Mistake(made, row, value, counts.copy())


def shuffler(fit: Fit) -> np.random.Generator | None:
    """The orders of the fit once more, from its seed."""
    from sklearn.utils import check_random_state

    if not fit.state.parameters["shuffle"]:
        return None
    return np.random.default_rng(int(check_random_state(fit.state.parameters["random_state"]).randint(2**31 - 1)))


def drawn(fit: Fit, made: Iterator[Mistake], view: Box) -> Iterator[dict[str, Any]]:
    signs, X = signs_of(fit), fit.state.points
    lines, has_bias = BentLines(kernel_of(fit), X, view), fit.state.parameters["fit_intercept"]
    for t, row, value, counts in made:
        coefficients = counts * signs
        b = float(coefficients.sum()) if has_bias else 0.0
        if fit.state.parameters["kernel"] == "linear":
            w = coefficients @ X
            picture = planes(None, (w, b), view) | {"measured": measured_plane(fit.state, w, b)}
        else:
            held = lines.measured(fit.state, coefficients, b)
            picture = {"b": b, "lines": lines(coefficients, b), "measured": held}
        kernel = "k(x_j, x) + 1" if has_bias else "k(x_j, x)"
        yield step(
            t,
            f"Row {row} is a mistake, y w.phi(x) <= 0: its count c grows by one, so that w moves by y phi(x).",
            [
                f"y sum_j c_j y_j ({kernel}) = {number(value)} <= 0",
                f"c of row {row}: {counts[row] - 1:.0f} + 1 = {counts[row]:.0f}",
                f"{np.count_nonzero(counts)} rows have been wrong so far, {t} times in all",
            ],
            row=row,
            sign=int(signs[row]),
            violation=value,
            support=carried(counts),
            **picture,
        )
