"""A line that the user drew, measured by the judge, against the best one that there is.

By its margin it is compared with the widest street. By its objective, where the algorithm has a price C, it is compared
with the best soft margin:

    P(s) = 1/2 s^2 |w|^2 + C sum_i loss(1 - s y_i (w.x_i + b))

The line says nothing of the scale s of its plane, where the edges of its street are. P is convex in s, so its slope
rises, and bisection finds where it is zero: the s that is best for the line. What that plane costs, and what no plane
costs less than, is then measured and proven by `certify`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin import certify
from maxmargin.certificates.measure import plane_margin
from maxmargin.certificates.words import rounded_down, rounded_up
from maxmargin.data.table import Vector
from maxmargin.playground.catalogue import ALGORITHMS
from maxmargin.playground.curves import SOFT, own_loss
from maxmargin.playground.fits import Recording, Stopped, fit_state, warm_up
from maxmargin.playground.messages import MOST_SECONDS, Line, State
from maxmargin.playground.shown import NOTHING_DRAWN, certificate_of, hulls_of, straight_picture
from maxmargin.plots.shapes import Box
from maxmargin.problems.losses import HUBER_HINGE, Loss
from maxmargin.run.control import collected
from maxmargin.run.observation import observing

BEST = ALGORITHMS["hard_margin"]
GAP = 1e-6  # to which the least objective is sought
HALVINGS = 60


def challenge(state: State, line: Line, view: Box, is_stopped: Callable[[], bool] = lambda: False) -> dict[str, Any]:
    """Both lines, their margins, and how much of the best one the user has."""
    best = best_line(State(state.points, state.signs, BEST, BEST.read({})), view, is_stopped)
    yours = your_line(state, line, view)
    share = None
    if yours["separates"] and best["upper"]:
        share = min(1.0, yours["margin"] / best["upper"])
        yours["words"].append(f"That is at least {rounded_down(100.0 * share, 4)} % of the best margin.")
    w, b = yours["plane"]["w"], yours["plane"]["b"]
    return {"yours": yours, "best": best, "share": share, "objective": objective_of_line(state, w, b, is_stopped)}


@np.errstate(over="ignore", invalid="ignore")
def objective_of_line(
    state: State, w: Vector, b: float, is_stopped: Callable[[], bool] = lambda: False
) -> dict[str, Any] | None:
    """What the line costs at the C of the state, and how far that is from the least, proven; None without a price."""
    price = state.parameters.get("C", math.inf)
    if math.isinf(price):
        return None
    loss = own_loss(state)
    warm_up(SOFT, SOFT.read({"C": price, "loss": loss.name}))
    scale = best_scale(state.signs * (state.points @ w + b), float(w @ w), price, loss)
    width = loss.bend if loss.name == HUBER_HINGE.name else None
    asked: dict[str, Any] = {"C": price, "loss": loss.name, "huber_width": width, "tol": GAP, "max_time": MOST_SECONDS}
    with observing(Recording(is_stopped)), collected():
        found = certify(state.points, state.signs, scale * w, scale * b, **asked)
    if is_stopped():
        raise Stopped
    part = found.audit.parts[0].certificate
    least, most = rounded_down(part.dual), rounded_up(part.primal)
    above = f"at most {rounded_up(100.0 * found.excess, 3)} % above the least"
    if found.least_excess > 0.0:
        above = (
            f"between {rounded_down(100.0 * found.least_excess, 3)} and {rounded_up(100.0 * found.excess, 3)} % above"
        )
        above += " the least"
    return {
        "C": price,
        "loss": loss.title,
        "scale": scale,
        "value": found.objective,
        "lower": part.dual,
        "upper": part.primal,
        "excess": found.excess,
        "words": [
            f"At C = {price:g}, with the {loss.title} and its plane scaled in its favour, your line costs "
            f"{rounded_up(found.objective)}.",
            f"No line costs less than {least}, and one costs at most {most}: yours is proven to be {above}.",
        ],
    }


def best_scale(values: Vector, square: float, price: float, loss: Loss) -> float:
    """The s >= 0 with the least P(s), for values y_i (w.x_i + b) and |w|^2.

    >>> best_scale(np.array([1.0, 1.0]), 1.0, 0.25, Loss("straight", box=1.0, bend=0.0))
    0.5
    """

    def slope(s: float) -> float:
        return s * square - price * float(np.sum(loss.share(1.0 - s * values) * values))

    low, high = 0.0, 1.0
    if slope(0.0) >= 0.0:
        return 0.0
    while slope(high) < 0.0:
        low, high = high, 2.0 * high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return high


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
