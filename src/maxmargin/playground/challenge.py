"""A line that the user drew, measured by the judge, against the best one that there is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.certificates.measure import plane_margin
from maxmargin.certificates.rounding import rounded_down
from maxmargin.playground.catalogue import ALGORITHMS
from maxmargin.playground.fits import fit_state
from maxmargin.playground.messages import Line, State
from maxmargin.playground.shown import NOTHING_DRAWN, certificate_of, hulls_of, straight_picture
from maxmargin.plots.shapes import Box

BEST = ALGORITHMS["hard_margin"]


def challenge(state: State, line: Line, view: Box, is_stopped: Callable[[], bool] = lambda: False) -> dict[str, Any]:
    """Both lines, their margins, and how much of the best one the user has."""
    best = best_line(State(state.points, state.signs, BEST, BEST.read({})), view, is_stopped)
    yours = your_line(state, line, view)
    share = None
    if yours["separates"] and best["upper"]:
        share = min(1.0, yours["margin"] / best["upper"])
        yours["words"].append(f"That is at least {rounded_down(100.0 * share, 4)} % of the best margin.")
    return {"yours": yours, "best": best, "share": share}


def your_line(state: State, line: Line, view: Box) -> dict[str, Any]:
    """The line with its sides chosen in its favour: fewer mistakes first, then the larger margin."""
    X, signs = state.points, state.signs.astype(np.float64)
    sides = [plane_margin(X, signs, sign * line.w, sign * line.b, "l2") for sign in (1.0, -1.0)]
    found = min(sides, key=lambda side: (np.count_nonzero(side.distances <= 0.0), -side.value))
    mistakes = np.flatnonzero(found.distances <= 0.0)
    separates = len(mistakes) == 0
    if separates:
        words = [f"Your line separates the classes: row {found.row} is nearest, {rounded_down(found.value)} away."]
    else:
        rows = "1 row is" if len(mistakes) == 1 else f"{len(mistakes)} rows are"
        words = [f"Your line does not separate the classes: {rows} on the wrong side of it."]
    return {
        **straight_picture(found.w, found.b, found.value, view),
        "separates": separates,
        "margin": found.value,
        "nearest": found.row,
        "mistakes": mistakes,
        "words": words,
    }


def best_line(state: State, view: Box, is_stopped: Callable[[], bool]) -> dict[str, Any]:
    """The widest street, or the witness that there is none."""
    fit = fit_state(state, is_stopped)
    proof, separable = certificate_of(fit.certificate), fit.plane is not None
    picture = straight_picture(*fit.plane, 1.0, view) if fit.plane is not None else dict(NOTHING_DRAWN)
    return {
        **{name: picture[name] for name in ("plane", "reach", "lines", "street_area")},
        "lower": proof["lower"] if separable else None,
        "upper": proof["upper"] if separable else None,
        "hulls": hulls_of(state.points, state.signs, fit.certificate),
        "words": proof["words"],
    }
