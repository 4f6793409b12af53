"""The margin perceptron without a guess: halve until it ends.

    one phase    the margin perceptron with the guess G: w = 0; a row whose distance y_i w.x_i / |w| is below G / 2
                 is a violation, w <- w + y_i x_i; for at most 12 R^2 / G^2 updates
    start        G = R, the length of the longest row; no margin is larger
    if a phase does not end by itself, G <- G / 2 and the next phase begins

    theorem      if G <= g*, a phase ends within 12 R^2 / g*^2 updates, with a margin of at least G / 2
    hence        the first phase that ends has G > g*/2: its margin is at least g*/4, and all phases together
                 take at most 12 R^2/G^2 (1 + 1/4 + 1/16 + ...) <= 64 R^2 / g*^2 updates

The margins are those of the lifted rows (x_i, 1) when there is a bias. The phase's mistake counts are a dual point,
so the certificate knows how far the plane is from the best one without knowing g*.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

from maxmargin.problems.notebook import BLANK, Notebook, State
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import Separation
from maxmargin.problems.trace import Trace
from maxmargin.problems.visits import Order
from maxmargin.solvers.mistakes.perceptron import longest_row, perceptron


def margin_perceptron(
    problem: Separation,
    *,
    order: Order = Order.CYCLIC,
    seed: int = 0,
    max_updates: int = 2**62,
    trace: Trace | None = None,
    notebook: Notebook = BLANK,
) -> Iterator[Iterate]:
    """The iterates of the phases, with all updates counted; proposes when a phase ends by itself."""
    radius = guess = longest_row(problem)
    updates = sweeps = 0

    def state() -> State:
        return {"guess": guess, "before": updates, "sweeps_before": sweeps}

    while True:
        if (kept := notebook.page("phase", state)) is not None:
            guess, updates, sweeps = kept["guess"], kept["before"], kept["sweeps_before"]
        allowed = math.floor(12.0 * (radius / guess) ** 2) if guess > 0.0 else 2**62
        phase = perceptron(
            problem,
            order=order,
            seed=seed,
            guess=guess,
            max_updates=max(1, min(allowed, max_updates - updates)),
            trace=trace,
            notebook=notebook,
        )
        for iterate in phase:
            yield dataclasses.replace(iterate, updates=updates + iterate.updates, sweeps=sweeps + iterate.sweeps)
        updates, sweeps = updates + iterate.updates, sweeps + iterate.sweeps
        if iterate.proposes or updates >= max_updates:
            return
        guess /= 2.0
