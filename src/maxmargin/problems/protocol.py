"""What solver and judge say to each other.

A solver is a generator over its `State` that shows iterates. Their arrays are its own, still changing: whoever keeps
one copies it. An iterate that proposes nothing is a pause between two steps, in which the clock is read. One that
proposes asks to be evaluated. For a soft margin the judge answers with an `Evaluation`, and the solver goes on from
there until it is closed; where it gets None, it goes on as if it had not asked. For a separation a proposal is the end:
what it shows is certified. `AT_REST` is no iterate: it says that the run could go on from its state as it is now
(`problems.state`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from maxmargin.data.matrix import Vector
from maxmargin.problems.state import Kept, State, resumed, varying


@dataclass(eq=False, slots=True)
class Iterate:
    """What a solver shows between two steps; nothing in it is believed before it is certified.

    w, b      the plane w.x + b = 0
    a         weights of the rows, none negative. Separation: in any scale, as mistake counts are. Soft margin: dual
              variables, 0 <= a_i <= u_i; the judge clips them to that, scales the heavier class down until
              sum_i a_i y_i = 0, and takes the best D(t a), t <= 1 where the box is finite
    proposes  it asks to be evaluated: the algorithm has ended by its own rule, or believes that it is near enough
    updates   steps so far, in its own unit: changes of w or of the active set, sweeps, iterations; n_updates_
    sweeps    passes over the rows so far; n_iter_, and what `max_iter` ends a soft margin by

    What only some algorithms know; leave out what yours does not:

    gap       (P - D) / P as the solver believes it (nan: unknown). It is shown, and "auto" extrapolates it; where a
              solver hands over, its last point is kept if this is below 1/2
    primal    P of the plane, likewise, for the solver itself
    dual      D of the weights, likewise. At a proposal the judge does not measure the weights if this cannot reach tol:
              too large costs a pass, too small hides a proof. In doubt leave it nan: then they are always measured
    passes    rows read so far / rows of the table: "auto" compares it with what the next solver would need
    meets     the hulls of the classes meet in the combination of rows that `a` is: a witness
    averaged  the mean of the planes on the way, its bias as the last entry
    searched  the number that a search in phases is trying now: the guess of a margin, the eta of Winnow
    loss      the mean loss that the steps met
    active    how many rows are active, for whoever observes
    rows_made how many rows of the kernel were made
    solver    the name of the algorithm; whoever runs it writes it
    """

    w: Vector
    b: float
    a: Vector
    proposes: bool = False
    updates: int = 0
    sweeps: int = 0
    gap: float = np.nan
    primal: float = np.nan
    dual: float = np.nan
    passes: float = 0.0
    meets: bool = False
    averaged: Vector | None = None
    searched: float = np.nan
    loss: float = 0.0
    active: int = 0
    rows_made: int = 0
    solver: str = ""

    @property
    def gap_is_known(self) -> bool:
        return self.gap == self.gap


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What the judge answers to a proposal. What is proven is kept by the judge; this is for the solver to go on with.

    primal   the least objective of a plane so far (kernels: of this proposal, inf where it was not measured)
    dual     the best dual value so far. Where the solver's own `dual` cannot close the gap, the weights are not
             measured, and this is the larger of the two: believed, not proven (kernels: of this proposal)
    gap      (primal - dual) / primal of these two (kernels: where not all was measured, a bound from below)
    values   X w of the proposed plane; not to be written to (kernels: NaN for rows that were not measured)
    b        the best bias for the proposed w, 0 without one (kernels: NaN where it was not looked for)
    """

    primal: float
    dual: float
    gap: float
    values: Vector
    b: float


class Options(NamedTuple):
    """How a solver is asked.

    tol     the relative gap (P - D) / P that the judge must see; aim a little below it
    start   soft margin: dual variables within their box, of a warm start; a solver may ignore them. Separation: None
    seed    of the solver's own random numbers; 0 in every fit, so that a fit can be repeated
    """

    tol: float = 1e-4
    start: Vector | None = None
    seed: int = 0


AT_REST = Iterate(np.zeros(0), 0.0, np.zeros(0))
Iterates = Generator[Iterate, "Evaluation | None", None]


@dataclass(eq=False)
class Run:
    """A solver that was started: its state, and its iterates, of which none has been asked for."""

    state: State
    iterates: Iterates


@dataclass(eq=False)
class Anew(State):
    """Of a solver that keeps nothing: whoever goes on with its run begins anew."""

    options: Options


@dataclass(eq=False)
class Late(State):
    """Of a run that has not been started before its first iterate is asked for."""

    run: State | Kept | None = varying(None)


def later(start: Callable[[], Run], n_rows: int) -> Run:
    """A run whose start is long by itself: it is started with the first iterate."""
    state = Late()

    def iterates() -> Iterates:
        run = start()
        state.run = resumed(state.run, run.state, n_rows)
        yield from run.iterates

    return Run(state, iterates())


def shown(run: Iterates) -> Iterates:
    """The iterates of a run, without its rests."""
    answer: Evaluation | None = None
    try:
        while True:
            try:
                iterate = run.send(answer)
            except StopIteration:  # of the solver, and of nobody else
                return
            answer = None if iterate is AT_REST else (yield iterate)
    finally:
        run.close()
