"""What a recorded run holds beside its updates: what it was about, and the runs of a search."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.table import Vector

Entry = tuple[int, int, float, Vector, Vector, float]  # number, row, violation, weights before and after, bound


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Subject:
    """What a run was about, and how it ended.

    algorithm, parameters   the estimator's class, and those of its parameters that are numbers, words or None
    X, signs      the rows, +1 and -1: all, or of a large table some, evenly spread, with those of the updates
    places, rows  their places among the rows of this two-class problem, and in the table of the fit
    n_rows        of the two-class problem
    names         of the positive and of the negative side
    columns       names of the columns; none where they have none
    unit          the weights of the trace times this are in the units of X
    kernel        its name and its numbers; none for a plane between the columns themselves
    steps         eta of each update that is kept, of stochastic steps; else empty
    weights       s_i of the rows, where they have some; else empty
    shrink        lambda of stochastic steps: w shrinks by eta lambda
    w, b          the plane that is shown in the end; with a kernel empty
    title, words  what is proven of it
    theorems      name, bound, measured, at_most: what is promised beside what happened
    progress      g: every update of a perceptron moves w by so much in the right direction; 0 for others
    radius        R: the length of the longest lifted row; 0 for others
    """

    algorithm: str
    parameters: dict[str, Any]
    X: NDArray[np.float64]
    signs: Vector
    places: NDArray[np.int64]
    rows: NDArray[np.int64]
    n_rows: int
    names: tuple[str, str]
    title: str
    words: tuple[str, ...]
    theorems: tuple[dict[str, Any], ...] = ()
    columns: tuple[str, ...] = ()
    unit: float = 1.0
    kernel: dict[str, Any] = dataclasses.field(default_factory=dict)
    steps: Vector = dataclasses.field(default_factory=lambda: np.zeros(0))
    weights: Vector = dataclasses.field(default_factory=lambda: np.zeros(0))
    shrink: float = 0.0
    w: Vector = dataclasses.field(default_factory=lambda: np.zeros(0))
    b: float = 0.0
    progress: float = 0.0
    radius: float = 0.0


@dataclasses.dataclass
class Phase:
    """One run of a search, from w = 0 on: a margin perceptron's with one guess, Winnow's with one epsilon.

    tried     the guess, or epsilon
    first     the number of its first update, from 1
    updates   how many it made
    payoff    the sum of their violations: for Winnow, what the weights won in all rounds
    bound     what all of them prove: no margin is larger
    """

    tried: float
    first: int
    updates: int = 0
    payoff: float = 0.0
    bound: float = math.inf
