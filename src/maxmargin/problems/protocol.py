"""What solver and judge say to each other.

A solver is a generator of iterates whose arrays are its own, still changing: whoever keeps one copies it. An iterate
that proposes nothing is a pause between two steps, in which the clock is read. One that proposes asks to be evaluated,
and the judge answers with an `Evaluation`: the solver goes on from there, until nobody asks for more.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from maxmargin.data.matrix import Vector


@dataclass(frozen=True, eq=False)
class Iterate:
    """What a solver shows between two steps; nothing in it is believed before it is certified.

    w, b      the plane w.x + b = 0
    a         weights of the rows, none negative, in any scale: the dual point (mistake counts are one)
    proposes  it asks to be evaluated: the algorithm has ended by its own rule, or believes that it is near enough
    updates   how many steps it took: updates of w, or changes of the active set
    sweeps    how many passes over the rows
    details   what this algorithm has to add, by name
    """

    w: Vector
    b: float
    a: Vector
    proposes: bool
    updates: int
    sweeps: int
    details: dict[str, Any]


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


SolverRun = Generator[Iterate, "Evaluation | None", None]
