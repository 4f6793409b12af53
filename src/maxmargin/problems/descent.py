"""A run of stochastic subgradient steps as it stands: it can be left, kept, and taken up again.

w = scale v,   dual variables = scale a           see `solvers.stochastic_subgradient` for the steps
mean           sum_t t w_t / sum_t t = (mass v - v_lag) / weight,     over the visits t since the mean began
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from maxmargin.data.table import Vector
from maxmargin.problems.protocol import State, varying

NO_NUMBERS = np.zeros(0)


class Position(NamedTuple):
    """The numbers that every step changes.

    scale, mass      as above; mass = sum_t t scale_t since the scale was last multiplied into v
    b, b_lag         the bias, and what its mean needs
    square           |v|^2
    visits, weight   the visits that the means are over, and the sum of their weights
    """

    scale: float = 1.0
    mass: float = 0.0
    b: float = 0.0
    b_lag: float = 0.0
    square: float = 0.0
    visits: float = 0.0
    weight: float = 0.0


@dataclass(eq=False)
class Descent(State):
    """A run: of a table, or of a stream of tables.

    C, n_rows                    lambda = 1 / (n_rows C); a stream of unknown length has as many rows as were visited
    has_kernel                   v are the values of w / scale on the rows of the table at hand; else v is w / scale
    average                      whether means are shown
    a                            dual variables / scale, of the rows of the table at hand
    v_lag, a_lag                 what the means need: of v, or with a kernel of a; else empty
    radius                       of the ball that w may not leave
    visits, sweeps, violations   so far
    """

    C: float
    n_rows: int
    has_kernel: bool
    average: bool
    v: Vector = varying(lasting=True)
    a: Vector = varying(lasting=True)
    v_lag: Vector = varying(factory=lambda: NO_NUMBERS, lasting=True)
    a_lag: Vector = varying(factory=lambda: NO_NUMBERS, lasting=True)
    radius: float = np.inf
    position: Position = varying(factory=Position, lasting=True)
    visits: int = varying(0, lasting=True)
    sweeps: int = varying(0, lasting=True)
    violations: int = varying(0, lasting=True)

    @property
    def lam(self) -> float:
        return 1.0 / (self.n_rows * self.C)

    @property
    def grows(self) -> bool:
        """Whether it can be of a stream of unknown length, each of whose rows was visited once."""
        return self.visits == self.n_rows or self.visits == 0

    def taken_up(self, earlier: Descent | None) -> Self:
        """This run from where the earlier one stands, if it has the same columns, or the same rows of a kernel."""
        if earlier is None or earlier.has_kernel != self.has_kernel or len(earlier.v) != len(self.v):
            return self
        same_rows = len(earlier.a) == len(self.a)
        return dataclasses.replace(
            self,
            v=earlier.v.copy(),
            a=earlier.a.copy() if same_rows else self.a,
            v_lag=earlier.v_lag.copy(),
            a_lag=earlier.a_lag.copy(),
            position=earlier.position,
            visits=earlier.visits,
            sweeps=earlier.sweeps,
            violations=earlier.violations,
        )

    def begin_mean(self) -> None:
        """From here on the means are known too."""
        scale, _, b, *_ = self.position
        self.v, self.a, self.position = scale * self.v, scale * self.a, Position(b=b)
        if self.has_kernel:
            self.a_lag = np.zeros(len(self.a))
        else:
            self.v_lag = np.zeros(len(self.v))

    @property
    def w(self) -> Vector:
        """The plane; its values with a kernel, of the last one only."""
        return self.shown(self.v, self.v_lag)

    @property
    def dual(self) -> Vector:
        """The a_i; without a kernel always those of the last plane, because they prove more than their mean."""
        return self.shown(self.a, self.a_lag)

    @np.errstate(over="ignore", invalid="ignore")  # whoever shows it measures it
    def shown(self, values: Vector, lag: Vector) -> Vector:
        """The values as they are or, where a lag is kept, their mean over the visits."""
        scale, mass, *_, weight = self.position
        if not self.average or len(lag) == 0 or weight == 0.0:
            return scale * values
        return (mass * values - lag) / weight

    @property
    def b(self) -> float:
        _, _, b, b_lag, _, _, weight = self.position
        return b - b_lag / weight if self.average and weight > 0.0 else b
