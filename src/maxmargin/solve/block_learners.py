"""What is asked of a mistake-driven learner whose rows come block by block: the algorithm, its phases, its planes.

start       the state of a phase that tries a number: the guess of a margin, the eta of Winnow
rule        that of `solvers.mistakes` on the rows of one block
allowed     the updates that a phase may make, if the number is searched; one more proves that it is too large
shrunk      the number of the next phase
unit        what one pass must tell before the first phase: the length of the longest row, the largest number
planes      that the state has, in the units of the scaled rows: the last and, where it is kept, their mean
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from maxmargin.data.table import Vector, largest_magnitude, row_squares
from maxmargin.problems.block_margin import Facts, SignedBlock
from maxmargin.problems.choices import Order
from maxmargin.problems.statement import Norm, Separation
from maxmargin.solvers.by_passes.widest_street import scaled
from maxmargin.solvers.mistakes.driver import UNLIMITED, Learner, MistakeState
from maxmargin.solvers.mistakes.margin_perceptron import updates_of_a_phase
from maxmargin.solvers.mistakes.perceptron import PerceptronRule, PerceptronState
from maxmargin.solvers.mistakes.winnow import LARGEST_EPSILON, WinnowRule, WinnowState, weights_of

Planes = list[tuple[Vector, float]]
NO_COUNTS: Vector = np.zeros(0)  # between the blocks


class BlockLearner(Protocol):
    @property
    def order(self) -> Order: ...
    @property
    def seed(self) -> int: ...
    @property
    def max_updates(self) -> int: ...
    @property
    def average(self) -> bool: ...
    @property
    def searches(self) -> bool: ...
    @property
    def norm(self) -> Norm: ...
    def unit(self, scale: float) -> Any: ...
    def tried(self, unit: float, lift: float) -> float: ...
    def start(self, facts: Facts, tried: float, lift: float) -> MistakeState: ...
    def rule(self, rows: Separation, state: Any, tried: float, unit: float) -> Learner: ...
    def allowed(self, facts: Facts, tried: float, unit: float, lift: float) -> int: ...
    def shrunk(self, tried: float) -> float: ...
    def planes(self, state: Any, unit: float, lift: float) -> Planes: ...


class Longest(NamedTuple):
    """A part: max |x_i|^2."""

    scale: float
    value: float = 0.0

    def __call__(self, block: SignedBlock) -> Longest:
        return Longest(self.scale, float(row_squares(scaled(block.X, self.scale)).max(initial=0.0)))

    def and_of(self, other: Longest) -> Longest:
        return max(self, other)


class Largest(NamedTuple):
    """A part: max |x_ij|."""

    scale: float
    value: float = 0.0

    def __call__(self, block: SignedBlock) -> Largest:
        return Largest(self.scale, largest_magnitude(scaled(block.X, self.scale)))

    def and_of(self, other: Largest) -> Largest:
        return max(self, other)


class BlockPerceptron(NamedTuple):
    """guess 0: the perceptron; None: it is searched."""

    rate: float
    guess: float | None
    share: float
    order: Order
    seed: int
    max_updates: int
    average: bool

    norm: Norm = Norm.L2

    @property
    def searches(self) -> bool:
        return self.guess is None

    def unit(self, scale: float) -> Longest | None:
        return Longest(scale) if self.searches else None

    def tried(self, unit: float, lift: float) -> float:
        return math.sqrt(unit + lift) if self.guess is None else self.guess

    def start(self, facts: Facts, tried: float, lift: float) -> PerceptronState:
        d, random = facts.n_columns, np.random.default_rng(self.seed)
        return PerceptronState(w=np.zeros(d + 1), lagged=np.zeros(d + 1), counts=NO_COUNTS, random=random)

    def rule(self, rows: Separation, state: PerceptronState, tried: float, unit: float) -> PerceptronRule:
        return PerceptronRule(rows, state, self.rate, tried, math.sqrt(self.share), self.searches, self.order)

    def allowed(self, facts: Facts, tried: float, unit: float, lift: float) -> int:
        if not tried > 0.0:
            return UNLIMITED
        phase = updates_of_a_phase(self.share) * (math.sqrt(unit + lift) / tried) ** 2
        return math.floor(min(phase, UNLIMITED))

    def shrunk(self, tried: float) -> float:
        return tried * math.sqrt(self.share)

    def planes(self, state: PerceptronState, unit: float, lift: float) -> Planes:
        mean = state.w - state.lagged / max(1, state.visits)
        return [(w[:-1], lift * float(w[-1])) for w in (state.w, mean)]


class BlockWinnow(NamedTuple):
    """epsilon None: it is searched."""

    epsilon: float | None
    balanced: bool
    order: Order
    seed: int
    max_updates: int

    average: bool = False
    norm: Norm = Norm.L1

    @property
    def searches(self) -> bool:
        return self.epsilon is None

    def unit(self, scale: float) -> Largest:
        return Largest(scale)

    def tried(self, unit: float, lift: float) -> float:
        return -math.log1p(-(LARGEST_EPSILON if self.epsilon is None else self.epsilon))

    def start(self, facts: Facts, tried: float, lift: float) -> WinnowState:
        p, random = np.zeros(facts.n_columns + 1), np.random.default_rng(self.seed)
        w, total = weights_of(p, tried, 0.0, self.balanced, lift)
        return WinnowState(counts=NO_COUNTS, random=random, p=p, w=w, total=total)

    def rule(self, rows: Separation, state: WinnowState, tried: float, unit: float) -> WinnowRule:
        return WinnowRule(rows, state, tried, self.balanced, self.order, unit or 1.0)

    def allowed(self, facts: Facts, tried: float, unit: float, lift: float) -> int:
        n_weights = (2 if self.balanced else 1) * facts.n_columns + int(2 * lift)
        return math.floor(min(2.0 * math.log(max(2, n_weights)) / tried**2, UNLIMITED))

    def shrunk(self, tried: float) -> float:
        return 0.5 * tried

    def planes(self, state: WinnowState, unit: float, lift: float) -> Planes:
        plane = state.w / state.total
        return [(plane[:-1] / (unit or 1.0), float(plane[-1]))]
