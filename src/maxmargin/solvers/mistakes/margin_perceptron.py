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

import math

from maxmargin.problems.choices import Order
from maxmargin.problems.protocol import Run
from maxmargin.problems.statement import Separation
from maxmargin.problems.trace import UpdateObserver
from maxmargin.solvers.mistakes.driver import UNLIMITED, Budget, SearchState, halving
from maxmargin.solvers.mistakes.perceptron import longest_row, perceptron


def margin_perceptron(
    problem: Separation,
    *,
    order: Order = Order.CYCLIC,
    seed: int = 0,
    max_updates: int = UNLIMITED,
    trace: UpdateObserver | None = None,
) -> Run:
    """The iterates of the phases, with all updates counted; it proposes when a phase ends by itself."""
    radius = longest_row(problem)
    state = SearchState(radius)

    def phase(guess: float, left: Budget) -> Run:
        allowed = math.floor(12.0 * (radius / guess) ** 2) if guess > 0.0 else UNLIMITED
        limit = max(1, min(allowed, left.updates))
        return perceptron(problem, order=order, seed=seed, guess=guess, max_updates=limit, trace=trace)

    return Run(state, halving(state, problem.n_rows, Budget(max_updates), phase))
