"""A run, step by step: what happened, by which rule, and the arithmetic of it.

Learners that go row by row show their updates, thinned evenly where there are too many; the other solvers show their
rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from maxmargin.playground.fits import Stopped
from maxmargin.playground.kernel_steps import kernel_perceptron_steps
from maxmargin.playground.messages import State
from maxmargin.playground.mistake_steps import mistake_steps
from maxmargin.playground.round_steps import round_steps
from maxmargin.playground.stochastic_steps import stochastic_steps
from maxmargin.plots.shapes import Box

MAKERS = {"stochastic_svm": stochastic_steps, "kernel_perceptron": kernel_perceptron_steps}


def steps(state: State, view: Box, is_stopped: Callable[[], bool] = lambda: False) -> dict[str, Any]:
    """The steps of the algorithm on the points."""
    name = state.algorithm.name
    maker = round_steps if state.algorithm.steps == "rounds" else MAKERS.get(name, mistake_steps)
    total, made, note = maker(state, view, is_stopped)
    shown: list[dict[str, Any]] = []
    for step in made:
        if is_stopped():
            raise Stopped
        shown.append(step)
    words = [f"{len(shown)} of {total:,} steps are shown, evenly chosen."] if len(shown) < total else []
    words += ["It was done before its first step."] if not shown else []
    words += [note] if note else []
    return {"kind": state.algorithm.steps, "total": total, "words": " ".join(words) or None, "steps": shown}
