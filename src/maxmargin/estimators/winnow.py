"""Winnow: learning by mistakes with multiplicative weights."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from maxmargin.certificates import theorems
from maxmargin.certificates.proof import TheoremBound
from maxmargin.data.table import Vector, largest_magnitude, matrix_of
from maxmargin.estimators.declarations import WINNOW
from maxmargin.estimators.parameters import Declarations
from maxmargin.estimators.perceptrons import MistakeDriven
from maxmargin.problems.choices import Norm, Order
from maxmargin.problems.protocol import Iterate, Run
from maxmargin.problems.statement import Separation, TwoClasses
from maxmargin.problems.trace import Trace, UpdateObserver
from maxmargin.run.control import Clock
from maxmargin.solve.answer import Answer


class Winnow(MistakeDriven):
    """Balanced Winnow: few mistakes where few columns matter, because the weights are multiplied.

        on a mistake   v_j *= (1 - epsilon)^(-a_j)       a = y (x / s, 1), s = max |x_ij|, so that |a_j| <= 1

    Each column has two weights, one for either sign (balanced). The margin that counts is the l1 margin,
    min y (w.x + b) / |w|_1, and the certificate bounds it from both sides, in the units of X.

    Parameters
    ----------
    epsilon : float, default=None
        The step, in (0, 1/2]. None searches: it starts from 1/2 and halves its logarithm whenever more mistakes were
        made than the theorem allows.
    balanced : bool, default=True
        False keeps all weights of columns positive: for data where larger values speak for the positive class.
    normalize_rows : bool, default=False
        Divide each lifted row (x, 1) by its own largest number, in place of the whole table by s.
    order, fit_intercept, max_updates, record, random_state, multi_class, max_time, verbose : as in `Perceptron`

    Attributes
    ----------
    as in `Perceptron`
    """

    norm_ = Norm.L1
    parameters: ClassVar[Declarations] = WINNOW

    def __init__(
        self,
        epsilon: float | None = None,
        *,
        balanced: bool = True,
        order: str = "cyclic",
        fit_intercept: bool = True,
        normalize_rows: bool = False,
        max_updates: int | None = None,
        record: bool | Trace = False,
        random_state: int | np.random.RandomState | None = 0,
        multi_class: str = "ovr",
        max_time: float | None = None,
        verbose: bool | int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.balanced = balanced
        self.order = order
        self.fit_intercept = fit_intercept
        self.normalize_rows = normalize_rows
        self.max_updates = max_updates
        self.record = record
        self.random_state = random_state
        self.multi_class = multi_class
        self.max_time = max_time
        self.verbose = verbose

    def _solver(self, problem: Separation, max_updates: int, trace: UpdateObserver | None, scale: float) -> Run:
        from maxmargin.solvers.mistakes.winnow import winnow

        return winnow(
            problem,
            epsilon=self.epsilon,
            balanced=self.balanced,
            order=Order(self.order),
            seed=self._seed(),
            max_updates=max_updates,
            trace=trace,
        )

    def _unit(self, answer: Answer) -> float:
        """Winnow sees the rows divided by their largest number."""
        if self.normalize_rows:
            return super()._unit(answer)
        return 1.0 / largest_magnitude(matrix_of(answer.two.X))

    def _best_plane(self, problem: Separation, clock: Clock) -> tuple[Vector, float] | None:
        """Where no weight of a column is negative, the theorem is about planes that have none."""
        return super()._best_plane(problem, clock) if self.balanced else None

    def _theorems(self, two: TwoClasses, w: Vector, b: float, iterate: Iterate) -> tuple[TheoremBound, ...]:
        weights = two.X.shape[1] * (2 if self.balanced else 1) + (2 if self.fit_intercept else 0)
        return theorems.winnow_mistakes(
            two.X, two.signs, w, b, self.fit_intercept, iterate.updates, weights, epsilon=self.epsilon,
            normalized=self.normalize_rows,
        )  # fmt: skip
