"""Which question is answered by whom; and the answer to the first of them, what is seen of a state: the algorithm's
answer, drawn and proven."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import maxmargin
from maxmargin.playground.catalogue import ALGORITHMS
from maxmargin.playground.challenge import challenge
from maxmargin.playground.code import code
from maxmargin.playground.drawing import hulls_of, picture_of
from maxmargin.playground.fits import Fit, Stopped, fit_state
from maxmargin.playground.lessons import lessons
from maxmargin.playground.messages import LARGEST, MOST_BYTES, MOST_POINTS, MOST_SECONDS, Ask, Question, State
from maxmargin.playground.presets import presets
from maxmargin.playground.proofs import certificate_of, conditions_of, theorems_of
from maxmargin.playground.steps import rounds_of, steps
from maxmargin.playground.tables import points_in
from maxmargin.plots.shapes import Box

ROUNDS_SHOWN = 16


def reply(ask: Ask, is_stopped: Callable[[], bool]) -> dict[str, Any]:
    """The answer to a question; `Stopped` where nobody waits for it, `Refusal` where it cannot be answered."""
    if ask.question is Question.CATALOGUE:
        return catalogue()
    if ask.question is Question.READ_CSV:
        assert ask.text is not None
        return points_in(ask.text)
    assert ask.state is not None
    assert ask.view is not None
    if ask.question is Question.ANSWER:
        return answer(ask.state, ask.view, is_stopped)
    if ask.question is Question.STEPS:
        return steps(ask.state, ask.view, is_stopped)
    if ask.question is Question.CODE:
        return code(ask.state)
    assert ask.line is not None
    return challenge(ask.state, ask.line, ask.view, is_stopped)


def catalogue() -> dict[str, Any]:
    """All that the page can offer: the algorithms with what is registered by now."""
    return {
        "algorithms": [algorithm.to_json() for algorithm in ALGORITHMS.values()],
        **examples(),
        "start": {"preset": "separable", "algorithm": "hard_margin"},
        "limits": {"points": MOST_POINTS, "coordinate": LARGEST, "bytes": MOST_BYTES, "seconds": MOST_SECONDS},
        "version": maxmargin.__version__,
    }


@functools.cache
def examples() -> dict[str, Any]:
    return {"presets": presets(), "lessons": lessons()}


def answer(state: State, view: Box, is_stopped: Callable[[], bool] = lambda: False) -> dict[str, Any]:
    """Fit, and say all that the page shows."""
    fit = fit_state(state, is_stopped)
    picture = picture_of(fit, view)
    if is_stopped():
        raise Stopped
    margin = margin_of(fit) if picture["reach"] is not None else None
    in_kernel = not hasattr(fit.certificate, "w")
    return {
        **picture,
        "margin": margin,
        "street": None if margin is None else 2.0 * margin,
        "space": "kernel" if in_kernel else getattr(fit.certificate, "norm", "l2"),
        "support": support_of(fit),
        "hulls": hulls_of(state.points, state.signs, fit.certificate),
        "certificate": certificate_of(fit.certificate),
        "rounds": values_of_rounds(fit),
        "kkt": conditions_of(fit.certificate),
        "theorems": theorems_of(fit.certificate),
        "status": {"name": fit.status.name, "words": fit.status.value},
        "updates": getattr(fit.model, "n_updates_", 0),
        "sweeps": getattr(fit.model, "n_iter_", 0),
        "milliseconds": fit.milliseconds,
    }


def margin_of(fit: Fit) -> float:
    """The distance from the plane to an edge of its street, as the estimator states it."""
    return float(fit.model.margin_)


def support_of(fit: Fit) -> list[dict[str, Any]]:
    """The rows that carry weight: dual variables where the estimator has some, else what the certificate holds."""
    model, certificate = fit.model, fit.certificate
    if hasattr(model, "dual_coef_"):
        rows, weights = model.support_, np.abs(model.dual_coef_[0])
    else:
        carrying = certificate.weights > 0.0
        rows, weights = certificate.rows[carrying], certificate.weights[carrying]
    bounded = bounds_reached(fit, weights)
    return [
        {"row": int(row), "a": float(a), "bounded": bool(full)}
        for row, a, full in zip(rows, weights, bounded, strict=True)
    ]


def bounds_reached(fit: Fit, weights: Any) -> Any:
    """Whether each dual variable is at its bound C."""
    if hasattr(fit.model, "bounded_"):
        return fit.model.bounded_[0]
    return weights >= fit.state.parameters.get("C", math.inf)


def values_of_rounds(fit: Fit) -> list[dict[str, Any]]:
    """The primal and the dual value closing; the last are those of the certificate."""
    rounds = [
        {"round": found.number, "primal": found.primal, "dual": found.dual} for found in rounds_of(fit, ROUNDS_SHOWN)
    ]
    last = {"primal": fit.certificate.primal, "dual": fit.certificate.dual}
    if rounds and not (rounds[-1]["primal"] == last["primal"] and rounds[-1]["dual"] == last["dual"]):
        rounds.append({"round": fit.recording.seen + 1, **last})
    return rounds
