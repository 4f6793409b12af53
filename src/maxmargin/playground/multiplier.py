"""One multiplier on one variable, to touch: min 0.2 x^2 - x + 1 subject to x >= c, at any x and any price a.

"multiplier" (given: {"c": , "x": , "a": })
    curve        [[x, f(x)], ...], and lagrangian: [[x, L(x, a)], ...] of this price
    dual         [[a, g(a)], ...], the least value of L(., a) over all x
    here         {"value": f(x), "lagrangian": L(x, a), "dual": g(a), "lowest": x(a), the lowest point of L(., a)}
    bounds       {"lower": g(a) or null where a < 0, "upper": f(x) or null where x < c}: the optimum lies between them
    conditions   [{"condition": , "words": , "value": 0.0, "holds": true}, ...], those of Karush, Kuhn and Tucker
    saddle       {"x": , "a": , "value": }, and field: L - value on a grid over x and a, row by row from the lowest a
    words        sentences about x and a
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from maxmargin import ConstrainedParabola
from maxmargin.persistence.schema import Between
from maxmargin.teaching.answers import number

P, Q, R = 0.2, -1.0, 1.0  # the parabola of the lecture notes
X_RANGE, A_RANGE = (-6.0, 10.0), (-0.5, 2.5)
STEPS = 80
FIELD = 40
EXACT = 1e-9
CONDITIONS = {
    "stationarity": "f'(x) = a: at this price x is the lowest point of L",
    "primal": "x >= c: the point is allowed",
    "dual": "a >= 0: a price is not negative",
    "slackness": "a (x - c) = 0: a price only where the constraint binds",
}


@dataclass(frozen=True)
class GivenMultiplier:
    """The constraint x >= c, a point and a price."""

    c: Annotated[float, Between(*X_RANGE)]
    x: Annotated[float, Between(*X_RANGE)]
    a: Annotated[float, Between(*A_RANGE)]


def multiplier(given: GivenMultiplier) -> dict[str, Any]:
    """All that the page draws and says of this point and this price."""
    x, a, problem = given.x, given.a, ConstrainedParabola(P, Q, R, given.c)
    xs, prices = np.linspace(*X_RANGE, STEPS + 1), np.linspace(*A_RANGE, STEPS + 1)
    bounds, saddle = problem.bounds(x, a), problem.saddle
    violated = problem.conditions(x, a)._asdict()
    grid_x, grid_a = np.meshgrid(np.linspace(*X_RANGE, FIELD + 1), np.linspace(*A_RANGE, FIELD + 1))
    return {
        "x_range": X_RANGE,
        "a_range": A_RANGE,
        "curve": np.column_stack([xs, problem.value(xs)]),
        "lagrangian": np.column_stack([xs, problem.lagrangian(xs, a)]),
        "dual": np.column_stack([prices, problem.dual(prices)]),
        "here": {
            "value": problem.value(x),
            "lagrangian": problem.lagrangian(x, a),
            "dual": problem.dual(a),
            "lowest": problem.lowest(a),
        },
        "bounds": {name: side if math.isfinite(side) else None for name, side in bounds._asdict().items()},
        "conditions": [
            {"condition": name, "words": words, "value": violated[name], "holds": violated[name] <= EXACT}
            for name, words in CONDITIONS.items()
        ],
        "saddle": saddle._asdict(),
        "field": {
            "columns": FIELD + 1,
            "rows": FIELD + 1,
            "values": (problem.lagrangian(grid_x, grid_a) - saddle.value).ravel(),
        },
        "words": in_words(problem, given),
    }


def in_words(problem: ConstrainedParabola, given: GivenMultiplier) -> list[str]:
    """What this point and this price prove of the optimum, and whether they are the saddle."""
    x, a = given.x, given.a
    lower, upper = problem.bounds(x, a)
    if math.isfinite(lower) and math.isfinite(upper):
        first = f"Proven: the optimum lies between g(a) = {number(lower)} and f(x) = {number(upper)}."
    elif math.isfinite(upper):
        first = f"A negative price proves nothing: the optimum is at most f(x) = {number(upper)}."
    elif math.isfinite(lower):
        first = f"This x is not allowed, so that it proves nothing: the optimum is at least g(a) = {number(lower)}."
    else:
        first = "Neither is allowed, and nothing is proven: x must be at least c, and a at least 0."
    if not all(violation <= EXACT for violation in problem.conditions(x, a)):
        return [first]
    if problem.binds:
        return [first, "This is the saddle: the constraint holds x back, and its price is the slope of f there."]
    return [first, "This is the saddle: the lowest point of f is allowed, and the constraint costs nothing."]
