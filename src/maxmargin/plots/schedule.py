"""The search of a run in pictures: the numbers that it tried, phase by phase, and Winnow's last phase as a game.

Of the game, after t rounds, with m weights and the payoffs v.a of the rounds (none above 0):

    mean payoff  <=  value  <=  max_j p_j / t  <=  mean payoff + ln(m) / (eta t) + eta / 2

The value is the l1 margin. The first holds where it is positive, which a payoff never is; the last is the bound of the
regret (solvers/mistakes/winnow.py).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from maxmargin.certificates.words import counted
from maxmargin.plots.style import DASHES, Legend, furnish, legend_of, palette_of, titled
from maxmargin.plots.updates import Run


def draw_schedule(ax: Any, run: Run, legend: Legend = True, title: str | None = None) -> None:
    """A step for each number that was tried, as long as its phase; and what the updates of each phase prove."""
    if not run.phases:
        raise ValueError(
            "this run searched for no number: the schedule is that of MarginPerceptron without a guess, and of Winnow"
        )
    palette, is_guess = palette_of(ax), run.weights == 0
    for phase in run.phases:
        ends = [phase.first - 1, phase.first - 1 + max(1, phase.updates)]
        is_last = phase is run.phases[-1]
        name = "this one ends by itself, or is the last" if is_last else "too large: not ended in time"
        first = is_last or phase is run.phases[0]
        color = palette.accent if is_last else palette.ink
        ax.plot(ends, [phase.tried] * 2, color=color, linewidth=2.5, label=name if first else None)
    if is_guess:
        ax.plot(run.update, run.margin_bound, color=palette.faint, linewidth=1.0, label="no margin is above this")
    ax.set_yscale("log")
    what = "guess G of the margin" if is_guess else "epsilon"
    own = f"{counted(len(run.phases), 'phases', 'phase')}, {counted(run.n_updates, 'updates', 'update')} in all"
    furnish(ax, palette, titled(own, title), "updates", what)
    legend_of(ax, palette, legend, loc="best")


def draw_game(ax: Any, run: Run, legend: Legend = True, title: str | None = None) -> None:
    """The last phase of Winnow: the value of the game from above, the mean payoff, and what bounds the regret."""
    if run.weights == 0 or not run.phases:
        raise ValueError("the repeated game is Winnow's: fit one with record=True")
    phase = run.phases[-1]
    own = run.update >= phase.first
    t, eta = run.update[own] - phase.first + 1, -math.log1p(-phase.tried)
    if len(t) != phase.updates or not len(t):
        raise ValueError(
            "updates of the last phase were left out of this record: a longer one is record=Trace(limit=...)"
        )
    mean, palette = np.cumsum(run.violation[own]) / t, palette_of(ax)
    ax.plot(t, mean + math.log(run.weights) / (eta * t) + eta / 2.0, color=palette.warning, linestyle=DASHES,
            linewidth=1.4, label="mean payoff + ln(m)/(eta t) + eta/2")  # fmt: skip
    ax.plot(t, run.margin_bound[own], color=palette.accent, linewidth=2.0, label="the value is at most max p / t")
    ax.plot(t, mean, color=palette.ink, linewidth=1.4, label="mean payoff of the rounds")
    ax.axhline(0.0, color=palette.faint, linewidth=0.8)
    named = f"The last {phase.updates:,} rounds, epsilon = {phase.tried:.4g}"
    furnish(ax, palette, titled(named, title), "rounds t", "payoff")
    legend_of(ax, palette, legend, loc="best")
