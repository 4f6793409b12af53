"""What a row costs by its margin, and the soft margin over C, as curves for the page.

"loss" (state): the loss over the margin y f(x), 1 on the edge of the street, and the rows below it
    curves   [{"name": , "title": , "own": true, "points": [[margin, cost], ...]}, ...]; own: that of the state
    rows     [{"row": i, "sign": 1, "margin": , "cost": }, ...], cost by the own loss; null where it is the hard margin
    words    how many rows pay, and what they pay together

"path" (state): the plane of the soft margin for rising C, each point proven
    points   [{"C": , "margin": , "support": , "inside": , "mistakes": , "primal": , "dual": , "proven": true}, ...]
    end      from this C on the soft margin is the hard margin; null where it never is
    here     the C of the state; null where it has none
    words    sentences
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import maxmargin
from maxmargin.persistence.errors import Refusal
from maxmargin.playground.catalogue import ALGORITHMS
from maxmargin.playground.explain import number
from maxmargin.playground.fits import Recording, Stopped, fit_state, warm_up
from maxmargin.playground.messages import MOST_SECONDS, State
from maxmargin.plots.geometry import plane_of
from maxmargin.problems.losses import HINGE, TEXTBOOK, Loss, loss_named, width_of
from maxmargin.run.control import collected
from maxmargin.run.observation import observing

HIGHEST = 4.0  # of the curves that are drawn
STEPS = 80
POINTS = 20  # of a path
PATH_GAP = 1e-4
SOFT = ALGORITHMS["linear_svm"]


def own_loss(state: State) -> Loss:
    """The loss of the algorithm; the hinge where it has no choice."""
    return loss_named(state.parameters.get("loss", HINGE.name), state.parameters.get("huber_width"))


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # a street can be as narrow as a denormal number
def loss(state: State, is_stopped: Callable[[], bool] = lambda: False) -> dict[str, Any]:
    """The curves over the margins that the rows have from the plane of the fit."""
    fit = fit_state(state, is_stopped)
    if not fit.has_plane:
        raise Refusal("No plane separates the classes, so that no row has a margin.", "state")
    margins = plane_of(fit.model, state.points, state.signs).margins
    own, price = own_loss(state), state.parameters.get("C")
    low, high = min(-1.2, float(margins.min()) - 0.2), max(2.2, float(margins.max()) + 0.2)
    costs = own.value(1.0 - margins)
    at = np.union1d(np.linspace(max(low, -1.0 - HIGHEST), min(high, 2.0), STEPS), [0.0, 1.0])
    curves = [
        {
            "name": each.name,
            "title": each.title,
            "own": each == own,
            "points": np.column_stack([at, each.value(1.0 - at)]),
        }
        for each in dict.fromkeys((*TEXTBOOK, own))
    ]
    inside = int(np.count_nonzero((margins < 1.0 - 1e-6) & (margins > 0.0)))
    wrong = int(np.count_nonzero(margins <= 0.0))
    words = [f"{inside} of {len(margins)} rows are inside the street, and {wrong} on the wrong side of the plane."]
    if price is not None and math.isfinite(price):
        paid = number(float(costs.sum()))
        words.append(f"Together they have a loss of {paid}; at C = {number(price)} they pay C times as much.")
    return {
        "curves": curves,
        "rows": [
            {"row": row, "sign": int(sign), "margin": float(margin), "cost": float(cost)}
            for row, (sign, margin, cost) in enumerate(zip(state.signs, margins, costs, strict=True))
        ],
        "low": low,
        "high": high,
        "words": words,
    }


def path(state: State, is_stopped: Callable[[], bool] = lambda: False) -> dict[str, Any]:
    """The soft margin of lines, by the loss of the state, whatever its algorithm is."""
    own, price, bias = own_loss(state), state.parameters.get("C"), state.parameters.get("fit_intercept", True)
    warm_up(SOFT, SOFT.read({"loss": own.name, "fit_intercept": bias}))
    width = width_of(own)
    asked: dict[str, Any] = {"loss": own.name, "huber_width": width, "fit_intercept": bias, "tol": PATH_GAP}
    with observing(Recording(is_stopped)), collected():
        found = maxmargin.path(state.points, state.signs, Cs=POINTS, max_time=MOST_SECONDS, **asked)
    if is_stopped():
        raise Stopped
    end = found.C_max if found.C_max is not None and math.isfinite(found.C_max) else None
    here = price if price is not None and math.isfinite(price) else None
    return {
        "points": [
            {
                "C": point.C,
                "margin": point.margin,
                "support": point.n_support,
                "inside": point.n_inside,
                "mistakes": point.n_mistakes,
                "primal": point.certificate.primal,
                "dual": point.certificate.dual,
                "proven": point.certificate.is_optimal,
            }
            for point in found.points
        ],
        "end": end,
        "here": here,
        "words": path_in_words(found, own, end),
    }


def path_in_words(found: Any, own: Loss, end: float | None) -> list[str]:
    proven = sum(point.certificate.is_optimal for point in found.points)
    words = [
        f"The soft margin of lines with the {own.title}: {len(found)} values of C, "
        f"{proven} of them proven to a gap of {PATH_GAP:g}."
    ]
    if end is not None:
        words.append(f"From C = {number(end)} on the soft margin is the hard margin.")
    elif found.separation is not None and found.separation.is_separable is False:
        words.append("No line separates the classes: some rows pay at every C.")
    return words
