"""What solver and judge say to each other.

A solver is a generator over its `State` that shows iterates. Their arrays are its own, still changing: whoever keeps
one copies it. An iterate that proposes nothing is a pause between two steps, in which the clock is read. One that
proposes asks to be evaluated, and the judge answers with an `Evaluation`: the solver goes on from there, until nobody
asks for more. `AT_REST` is no iterate: it says that the run could go on from its state as it is now (`problems.state`).
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
    a         weights of the rows, none negative, in any scale: the dual point (mistake counts are one)
    proposes  it asks to be evaluated: the algorithm has ended by its own rule, or believes that it is near enough
    updates   how many steps it took: updates of w, or changes of the active set
    sweeps    how many passes over the rows

    What only some algorithms know:

    gap       the relative duality gap, as the solver believes it (nan: it does not know)
    primal    the objective of the plane, likewise
    dual      the objective of the weights, likewise
    passes    over the table that were made, where rows are left out
    meets     the hulls of the classes meet in the combination of rows that `a` is: a witness
    averaged  the mean of the planes on the way, its bias as the last entry
    searched  the number that a search in phases is trying now: the guess of a margin, the eta of Winnow
    loss      the mean loss that the steps met
    active    how many rows are active
    rows_made how many rows of the kernel were made
    solver    the name of the algorithm
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
    """What has been proven so far, and what the judge saw of the plane that was proposed.

    primal, dual   the best value of either side so far: the optimum lies between them
    gap            (primal - dual) / primal
    values         X w of the proposed plane; not to be written to
    b              the best bias for the proposed w (0 without one)
    """

    primal: float
    dual: float
    gap: float
    values: Vector
    b: float


class Options(NamedTuple):
    """How a solver is asked: to which relative gap, from which dual variables, with which random numbers."""

    tol: float = 1e-4
    start: Vector | None = None
    seed: int = 0


AT_REST = Iterate(np.zeros(0), 0.0, np.zeros(0))
SolverRun = Generator[Iterate, "Evaluation | None", None]


@dataclass(eq=False)
class Run:
    """A solver that was started: its state, and its iterates, of which none has been asked for."""

    state: State
    iterates: SolverRun


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

    def iterates() -> SolverRun:
        run = start()
        state.run = resumed(state.run, run.state, n_rows)
        yield from run.iterates

    return Run(state, iterates())


def shown(run: SolverRun) -> SolverRun:
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
