"""Learning by mistakes: the loop that the perceptrons and Winnow share.

    visit     the rows, one after the other, in an order
    mistake   a row that fails the test of the algorithm: the plane is updated, and the row's count grows by one
    ends      when every row has been visited since the last mistake (shuffled: within one sweep). No further visit
              would change the plane: this fixed point is proposed
    drawn     as many draws as there are rows, all of them right, may have missed some: then one sweep looks at every
              row and changes nothing. If it finds a mistake, the drawing goes on

What is a mistake, what is an update and what the counts prove is the mathematics of each algorithm: a `Learner`. Its
visits are compiled, and such a call cannot be interrupted: it is kept short, and an iterate is shown after each. A
trace, which asks for single updates, cuts a call into pieces and changes nothing of the run.

Where a rule needs a number that nobody knows, the search tries a large one and shrinks it until a phase ends by itself.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.table import Vector, is_sparse, row_squares
from maxmargin.problems.choices import Order
from maxmargin.problems.protocol import Iterate, Iterates, Run, State, varying
from maxmargin.problems.statement import Norm, Separation
from maxmargin.problems.trace import UpdateObserver

UNLIMITED = 2**62


class Budget(NamedTuple):
    """How often the plane may change, and how often the rows may be visited."""

    updates: int = UNLIMITED
    sweeps: int = UNLIMITED


@dataclass(eq=False, kw_only=True)
class MistakeState(State):
    """Of every learner: the updates of each row and of all, the sweeps, and the visits since the last mistake."""

    counts: Vector = varying()
    random: np.random.Generator = varying()
    updates: int = varying(0)
    sweeps: int = varying(0)
    clean: int = varying(0)


class Visits(NamedTuple):
    """What happened in some visits.

    position        the next place in the order
    updates         how many there were
    clean           visits since the last mistake
    is_full         they ended before a mistake, because no more updates were allowed
    row, violation  of the last update, where there was one
    """

    position: int
    updates: int
    clean: int
    is_full: bool
    row: int = -1
    violation: float = 0.0


class Learner(ABC):
    """The mathematics of one algorithm; what varies is in its state."""

    state: MistakeState
    order: Order
    visits_per_call: int = UNLIMITED
    updates_per_call: int = UNLIMITED
    sweeps_at_once: int = 1

    def begin_order(self) -> None:  # noqa: B027 (most have nothing to do)
        """Before a new order: what rounding did to numbers that are carried along is undone here."""

    def worst_first(self) -> NDArray[np.intp]:
        """The row that is to be visited in the order `WORST_FIRST`; none where no row is a mistake."""
        raise NotImplementedError

    def begin_call(self) -> None:  # noqa: B027 (most have nothing to do)
        """Before at most `updates_per_call` updates."""

    @abstractmethod
    def visit(self, order: NDArray[np.intp], start: int, most: int) -> Visits:
        """Visit the rows order[start:], for at most so many updates, or until every row has been visited clean."""

    def has_failed(self) -> bool:
        """Whether the updates so far prove that the run looks for what does not exist: then it ends."""
        return False

    @abstractmethod
    def weights(self) -> Vector:
        """As a trace shows them: a copy."""

    def as_shown(self, violation: float, before: Vector) -> float:
        """A violation as a trace shows it, beside the weights before its update."""
        return float(violation)

    @abstractmethod
    def bound(self) -> float:
        """What the updates so far prove: no margin is larger."""

    @abstractmethod
    def iterate(self, proposes: bool, sweeps: int) -> Iterate:
        """The plane as it is now."""


def learn(start: Callable[[], Learner], budget: Budget, trace: UpdateObserver | None) -> Iterates:
    """Visit rows until none is a mistake, or the budget is spent and a mistake is left."""
    learner = start()
    state, n = learner.state, len(learner.state.counts)
    everything = np.arange(n)
    while True:
        yield None
        learner.begin_order()
        is_look = learner.order is Order.DRAWN and state.clean >= n
        order = everything if is_look else next_order(learner, everything, budget.sweeps - state.sweeps)
        position = 0
        while True:
            learner.begin_call()
            call = order[: position + learner.visits_per_call]
            most = 0 if is_look else min(learner.updates_per_call, budget.updates - state.updates)
            if trace is None:
                found = visited(learner, call, position, most)
            else:
                found = traced(learner, call, position, most, trace)
            position, is_right = found.position, state.clean >= n
            is_fixed_point = is_right and (is_look or learner.order is not Order.DRAWN)
            is_spent = (found.is_full and state.updates >= budget.updates) or learner.has_failed()
            sweeps = state.sweeps + (math.ceil(position / n) if len(order) else 1)
            yield learner.iterate(is_fixed_point, sweeps)
            if position == len(order) or is_right or is_spent or (is_look and found.is_full):
                break
        state.sweeps = sweeps
        if is_fixed_point or is_spent or sweeps >= budget.sweeps:
            return


def next_order(learner: Learner, rows: NDArray[np.intp], sweeps_left: int) -> NDArray[np.intp]:
    """The rows in the order in which they are visited next: those of a small table several times."""
    if learner.order is Order.WORST_FIRST:
        return learner.worst_first()
    turns, n, random = max(1, min(learner.sweeps_at_once, sweeps_left)), len(rows), learner.state.random
    if learner.order is Order.DRAWN:
        return random.integers(n, size=turns * n)
    orders = [rows if learner.order is Order.CYCLIC else random.permutation(n) for _ in range(turns)]
    return orders[0] if turns == 1 else np.concatenate(orders)


def scaled_signs(problem: Separation) -> Vector:
    """y_i, by which a loop multiplies a row; y_i / |a_i| where the rows are normalised.

    a_i = (x_i, 1) with a bias, x_i without; its length is |a_i|_2 for l2 and max_j |a_ij| for l1.
    """
    if not problem.normalized:
        return problem.signs
    lift = 1.0 if problem.fit_intercept else 0.0
    if problem.norm is Norm.L2:
        lengths = np.sqrt(row_squares(problem.X) + lift)
    else:
        largest = abs(problem.X).max(axis=1)
        lengths = np.maximum(np.asarray(largest.todense() if is_sparse(problem.X) else largest, float).ravel(), lift)
    return np.asarray(problem.signs / np.where(lengths > 0.0, lengths, 1.0))


def visited(learner: Learner, order: NDArray[np.intp], start: int, most: int) -> Visits:
    """The visits of one call, counted."""
    state, found = learner.state, learner.visit(order, start, most)
    state.updates += found.updates
    state.clean = found.clean
    return found


def traced(learner: Learner, order: NDArray[np.intp], start: int, most: int, trace: UpdateObserver) -> Visits:
    """The same in pieces, with a look at each update that the trace asks for."""
    while True:
        skipped = min(trace.until_next, most)
        before = learner.weights()
        found = visited(learner, order, start, skipped or min(1, most))
        if skipped:
            trace.skip(found.updates)
        elif found.updates:
            violation = learner.as_shown(found.violation, before)
            trace.append(int(found.row), violation, before, learner.weights(), learner.bound(), learner.state.counts)
        start, most = found.position, most - found.updates
        if not found.is_full or most <= 0:
            return found


@dataclass(eq=False)
class SearchState(State):
    """The number that is tried, the updates and the sweeps of the phases before, and the phase at hand."""

    tried: float = varying()
    updates: int = varying(0)
    sweeps: int = varying(0)
    phase: State | None = varying(None)


def shrinking(
    state: SearchState, budget: Budget, phase_with: Callable[[float, Budget], Run], factor: float = 0.5
) -> Iterates:
    """Phase after phase, each with half the number of the one before (or `factor` of it), until one ends by itself.

    The iterates are those of the phases, with all updates and sweeps counted.
    """
    while True:
        phase = phase_with(state.tried, Budget(budget.updates - state.updates, budget.sweeps - state.sweeps))
        state.phase = phase.state
        for iterate in phase.iterates:
            if iterate is not None:
                iterate.updates += state.updates
                iterate.sweeps += state.sweeps
                last = iterate
            yield iterate
        state.updates, state.sweeps, state.phase = last.updates, last.sweeps, None
        if last.proposes or state.updates >= budget.updates or state.sweeps >= budget.sweeps:
            return
        state.tried *= factor
