"""What is seen of a state: the algorithm's answer, drawn and proven."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.playground.drawing import hulls_of, picture_of
from maxmargin.playground.fits import Fit, Stopped, fit_state
from maxmargin.playground.messages import State
from maxmargin.playground.proofs import certificate_of, conditions_of, theorems_of
from maxmargin.playground.steps import rounds_of
from maxmargin.plots.shapes import Box

ROUNDS_SHOWN = 16


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
