"""The rounds of a solver that looks at all rows at once: the plane of each, and the two values that close."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from maxmargin.certificates.soft_margin import soft_gap
from maxmargin.playground.fits import Fit, fit_state
from maxmargin.playground.measured import measured_plane, number
from maxmargin.playground.messages import State
from maxmargin.playground.one_step import MOST_BENT_STEPS, MOST_STEPS, BentLines, Run, carried, planes, step
from maxmargin.playground.rounds import Round, kernel_of, rounds_of, signs_of
from maxmargin.plots.shapes import Box

RULES = {
    "auto": "The nearest points of the two hulls, on a working set of rows (Wolfe's algorithm).",
    "hulls": "The nearest points of the two hulls, on a working set of rows (Wolfe's algorithm).",
    "linear_program": "A vertex of the linear program min |w|_1 subject to y (w.x + b) >= 1.",
    "coordinate_descent": "Sweeps over the rows: each dual variable goes to its best value while the others wait.",
    "interior_point": "One Newton step along the central path, for the plane and the dual variables at once.",
    "sieve": "One Newton step along the central path, on the rows that may still matter.",
    "newton": "One Newton step on the plane: the loss is smooth, and rows that pay bend it.",
    "pairs": "Pairs of dual variables that violate the conditions most go to their best values (SMO).",
}


def round_steps(state: State, view: Box, is_stopped: Callable[[], bool]) -> Run:
    """The rounds as the judge saw them; the last one is the answer."""
    fit = fit_state(state, is_stopped)
    bent = state.parameters.get("kernel", "linear") != "linear"
    rounds = rounds_of(fit, MOST_BENT_STEPS if bent else MOST_STEPS)
    note = None
    if not fit.has_plane:
        note = "Then the hulls were found to meet: no plane separates the classes."
        if fit.certificate.is_separable is None:
            note = "Then it ended: whether a plane separates the classes is undecided at this precision."
    return fit.recording.seen, drawn(fit, rounds, view, bent), note


def drawn(fit: Fit, rounds: list[Round], view: Box, bent: bool) -> Iterator[dict[str, Any]]:
    lines = BentLines(kernel_of(fit), fit.state.points, view) if bent else None
    last: Round | None = None
    for found in rounds:
        if lines is not None:
            coefficients = found.a * signs_of(fit)
            picture = {
                "b": found.b,
                "lines": lines(coefficients, found.b),
                "measured": lines.measured(fit.state, coefficients, found.b),
            }
        else:
            assert found.w is not None
            before = None if last is None or last.w is None else (last.w, last.b)
            own = (found.w, found.b)
            picture = planes(before, own, view) | {"measured": measured_plane(fit.state, *own)}
        yield step(
            found.number,
            RULES.get(found.solver, "One round of the solver."),
            arithmetic_of(fit, found),
            primal=found.primal,
            dual=found.dual,
            support=carried(np.maximum(found.a, 0.0)),
            **picture,
        )
        last = found


def arithmetic_of(fit: Fit, found: Round) -> list[str]:
    hard = "C" not in fit.state.parameters or math.isinf(fit.state.parameters["C"])
    cost = "" if hard else " + C sum loss"
    l1 = fit.state.parameters.get("norm") == "l1"
    lines = [
        f"primal: {'|w|_1' if l1 else '1/2 |w|²'}{cost} = {number(found.primal)} of the best plane so far",
        f"dual: {number(found.dual)}, below which no plane comes",
        f"gap (P - D) / P = {number(soft_gap(found.primal, found.dual))}",
    ]
    if found.w is not None and hard and math.isfinite(found.primal):
        margin = 1.0 / found.primal if l1 else 1.0 / math.sqrt(2.0 * found.primal)
        lines.append(f"so the margin is at least {number(margin)}")
    return lines
