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
from dataclasses import dataclass

from maxmargin.problems.protocol import AT_REST, Iterate, Run, SolverRun
from maxmargin.problems.state import Kept, State, resumed, varying
from maxmargin.problems.statement import Separation
from maxmargin.problems.trace import Trace
from maxmargin.problems.visits import Order
from maxmargin.solvers.mistakes.perceptron import longest_row, perceptron


@dataclass(eq=False)
class SearchState(State):
    """The guess, the updates and the sweeps of the phases before, and the phase at hand."""

    guess: float = varying()
    updates: int = varying(0)
    sweeps: int = varying(0)
    phase: State | Kept | None = varying(None)


def margin_perceptron(
    problem: Separation,
    *,
    order: Order = Order.CYCLIC,
    seed: int = 0,
    max_updates: int = 2**62,
    trace: Trace | None = None,
) -> Run:
    """The iterates of the phases, with all updates counted; it proposes when a phase ends by itself."""
    radius = longest_row(problem)
    state = SearchState(radius)
    return Run(state, phases(problem, state, radius, order, seed, max_updates, trace))


def phases(
    problem: Separation,
    state: SearchState,
    radius: float,
    order: Order,
    seed: int,
    max_updates: int,
    trace: Trace | None,
) -> SolverRun:
    while True:
        guess = state.guess
        allowed = math.floor(12.0 * (radius / guess) ** 2) if guess > 0.0 else 2**62
        limit = max(1, min(allowed, max_updates - state.updates))
        phase = perceptron(problem, order=order, seed=seed, guess=guess, max_updates=limit, trace=trace)
        state.phase = resumed(state.phase, phase.state, problem.n_rows)
        for iterate in phase.iterates:
            if iterate is not AT_REST:
                last = iterate
                iterate = with_counts(iterate, state.updates, state.sweeps)
            yield iterate
        state.updates, state.sweeps, state.phase = last.updates, last.sweeps, None  # totals, by with_counts
        if last.proposes or state.updates >= max_updates:
            return
        state.guess /= 2.0


def with_counts(iterate: Iterate, updates: int, sweeps: int) -> Iterate:
    """Adds to its counts, in place, what the phases before it took."""
    iterate.updates += updates
    iterate.sweeps += sweeps
    return iterate
