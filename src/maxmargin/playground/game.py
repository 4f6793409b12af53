"""The last run of Winnow as a repeated game: a mixture of weights against a row that it gets wrong, round by round.

"game" (state), of Winnow
    weights   [{"name": "x", "share": }, ...]: the last mixture, of the columns and the bias, then of their opposites
    rows      [{"row": i, "share": , "times": }, ...]: the rows that were chosen against it, the most frequent first
    rounds    T
    value     {"lower": , "upper": , "words": }: the value of the game lies between; it is the l1 margin of the rows as
              Winnow sees them, lifted and divided by their largest number
    regret    {"measured": , "bound": , "words": }: what the best single weight would have won, less what was won
    words     sentences
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.certificates.words import rounded_down, rounded_up
from maxmargin.persistence.errors import Refusal
from maxmargin.playground.explain import number
from maxmargin.playground.fits import fit_state
from maxmargin.playground.messages import State

DIGITS = 5
NAMES = ("x", "y", "bias")


def game(state: State, is_stopped: Callable[[], bool] = lambda: False) -> dict[str, Any]:
    """Play it once more, and record it."""
    if state.algorithm.name != "winnow":
        raise Refusal("The game is that of Winnow: choose Winnow as the algorithm.", "algorithm")
    fit = fit_state(state, is_stopped, record=True)
    played, phases = fit.model.game_, fit.model.trace_.phases
    has_bias, balanced = state.parameters["fit_intercept"], state.parameters["balanced"]
    names = [*NAMES, *(f"-{name}" for name in NAMES)]
    exist = [True, True, has_bias, balanced, balanced, has_bias]
    chosen = np.flatnonzero(played.choices)
    rows = sorted(chosen.tolist(), key=lambda row: (-played.choices[row], row))
    low = rounded_down(played.value_lower, DIGITS)
    high = rounded_up(played.value_upper, DIGITS) if math.isfinite(played.value_upper) else "unknown"
    value = f"{low} … {high}"
    regret = f"{number(played.regret)} <= {rounded_up(played.regret_bound, DIGITS)}"
    runs = f"run {len(phases)} of the search, with epsilon = {number(phases[-1].tried)}"
    epsilon = runs if state.parameters["epsilon"] is None else f"epsilon = {number(phases[-1].tried)}"
    sure = f"wins at least {low} against every row" if played.value_lower > 0.0 else "does not separate the classes"
    return {
        "weights": [
            {"name": name, "share": float(share)}
            for name, share, there in zip(names, played.strategy, exist, strict=True)
            if there
        ],
        "rows": [
            {"row": row, "share": float(played.choices[row]), "times": round(played.choices[row] * played.rounds)}
            for row in rows
        ],
        "rounds": played.rounds,
        "value": {"lower": played.value_lower, "upper": played.value_upper, "words": value},
        "regret": {"measured": played.regret, "bound": played.regret_bound, "words": regret},
        "words": [
            f"{played.rounds:,} rounds ({epsilon}). In each a row is chosen that the mixture gets wrong, and the "
            "weights grow that speak for it.",
            "The value of the game is the l1 margin of the rows as Winnow sees them. No mixture wins more than "
            f"{high} against the rows as they were chosen, and the last one {sure}.",
            f"Regret: {regret}. So much more the best single weight would have won in all rounds; the bound is "
            "ln(m) / eta + T eta / 2.",
        ],
    }
