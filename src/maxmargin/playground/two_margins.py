"""The two margins of the points at length 1, what ties them, and the margin in the space of the points beside them.

"two_margins" (state): of lines, whatever the algorithm is; with a bias where the state has one
    separable  true, false, or null where it is undecided; false: both margins are 0, and "own" has none
    m          coordinates of the lifted rows (x, 1), or of x: 3 or 2
    l2, l1     {"lower": , "upper": , "words": "0.2296 … 0.2297", "in_own_space": margin of its plane on the points as
               they are, or null, "in_own_space_words": the same, rounded down}: the best margin of the rows at length
               1, g_P (a cosine) and g_W
    tie        {"lower": g_P / sqrt(m), "upper": sqrt(m) g_P, "words": }, from the proven bounds of g_P: g_W is between
    own        {"lower": , "upper": , "words": }: the best margin (l2) of the points as they are
    verified   whether all bounds of l2 and l1 follow from the points alone, by code that imports no solver
    words      sentences
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import maxmargin
from maxmargin.certificates.words import rounded_down, rounded_up
from maxmargin.playground.catalogue import ALGORITHMS
from maxmargin.playground.fits import Recording, Stopped, fit_state, warm_up
from maxmargin.playground.messages import MOST_SECONDS, State
from maxmargin.run.observation import observing

HARD = ALGORITHMS["hard_margin"]
DIGITS = 5


def both_margins(state: State, is_stopped: Callable[[], bool] = lambda: False) -> dict[str, Any]:
    """g_P and g_W with their bounds, and the best margin of the points as they are."""
    bias = bool(state.parameters.get("fit_intercept", True))
    for norm in ("l2", "l1"):
        warm_up(HARD, HARD.read({"norm": norm, "fit_intercept": bias, "normalize_rows": True}))
    with observing(Recording(is_stopped)):
        found = maxmargin.two_margins(state.points, state.signs, fit_intercept=bias, max_time=MOST_SECONDS)
    if is_stopped():
        raise Stopped
    own = fit_state(State(state.points, state.signs, HARD, HARD.read({"fit_intercept": bias})), is_stopped).certificate
    separable, root = found.certificates[0].is_separable, math.sqrt(found.m)
    margins = {
        name: between(one.lower, one.upper) | in_own_space(certificate)
        for name, one, certificate in zip(("l2", "l1"), (found.l2, found.l1), found.certificates, strict=True)
    }
    tie = between(found.l2.lower / root * (1.0 - 1e-15), found.l2.upper * root * (1.0 + 1e-15))
    told = {
        "separable": separable,
        "m": found.m,
        **margins,
        "tie": tie,
        "own": between(own.margin_lower, own.margin_upper),
        "verified": found.verify(state.points, state.signs),
    }
    return {**told, "words": in_words(told, bias)}


def between(lower: float, upper: float) -> dict[str, Any]:
    """Two bounds of a best margin, which is not negative: w = 0 has none."""
    lower = max(0.0, lower)
    words = "0" if upper <= 0.0 else f"{rounded_down(lower, DIGITS)} … {rounded_up(upper, DIGITS)}"
    return {"lower": lower, "upper": max(0.0, upper), "words": words}


def in_own_space(certificate: Any) -> dict[str, Any]:
    """What the plane of a certificate leaves free on the points as they are."""
    margin = certificate.margin_lower if certificate.is_separable else None
    return {
        "in_own_space": margin,
        "in_own_space_words": None if margin is None else rounded_down(margin, DIGITS),
    }


def in_words(told: dict[str, Any], bias: bool) -> list[str]:
    rows = "a = (x, 1), the 1 of the bias counted in" if bias else "a = x, the line through the origin"
    words = [f"Rows {rows}, each divided by its length: |a|_2 for l2, its largest number for l1."]
    if told["separable"] is False:
        return [*words, "No line separates the classes: both margins are 0, in every space."]
    words.append(
        f"Tied, with m = {told['m']} coordinates: g_P / sqrt(m) <= g_W <= sqrt(m) g_P. Here g_W = "
        f"{told['l1']['words']} lies within {told['tie']['words']}; one is positive exactly when the other is."
    )
    words.append(
        f"In your own space the best margin is {told['own']['words']}; the planes of the rows at length 1 are others, "
        "because there a bias costs, and far points count for less."
        if bias
        else f"In your own space the best margin is {told['own']['words']}; the planes of the rows at length 1 are "
        "others, because there far points count for less."
    )
    return words
