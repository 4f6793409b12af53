"""A margin problem along a line of planes: as few unknowns as a picture has room for, and the same duality.

    line         (w, b)(t) = (w_0, b_0) + t ((w_1, b_1) - (w_0, b_0)),      t = 0 the start, t = 1 the plane of the fit
    primal       P(t) = 1/2 |w(t)|^2 + sum_i C_i loss(1 - y_i (w(t).x_i + b(t)));   a hard margin forbids what costs
    multipliers  s a, a those of the fit: one number s in place of many
    Lagrangian   L(t, s) = 1/2 |w(t)|^2 + sum_i s a_i (1 - y_i (w(t).x_i + b(t))) - sum_i q_i (s a_i)^2 / 2
    dual         g(s) = s sum_i a_i - s^2 / 2 (|w(a)|^2 + sum_i q_i a_i^2)    the least L of all planes, 0 <= s a <= u
    bounds       g(s) <= the optimum <= P(t)

From the start w_0 = 0 the lowest plane of L(., s) lies on the line itself, at t = s: then the hard margin is the
parabola 1/2 |w_1|^2 t^2 under t >= 1. From another start the least L along the line can lie above g(s), never below it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.data.table import Vector
from maxmargin.plots.geometry import Plane, plane_of
from maxmargin.problems.losses import HINGE, Loss, loss_named
from maxmargin.teaching.lagrange import Bounds, Saddle

ON_THE_EDGE = 1e-7  # a row that misses less is on its edge
FAR = 0.05  # of P: bounds that are further apart belong to no saddle
HARD = Loss("hard_margin", math.inf, 0.0)


@dataclass(frozen=True, eq=False)
class MarginLine:
    """P, L and g along a line of planes; `margin_line` makes one from a fitted estimator.

    start, step    y_i (w(t).x_i + b(t)) = start_i + t step_i
    squares        |w(t)|^2 = squares[0] + 2 squares[1] t + squares[2] t^2
    a, costs, loss the multipliers of the fit, made feasible; C_i; the two numbers of the loss
    square_of_a    |w(a)|^2
    """

    start: Vector
    step: Vector
    squares: tuple[float, float, float]
    a: Vector
    costs: Vector
    loss: Loss
    square_of_a: float

    x_name = "t: from the start (0) to the plane of the fit (1)"
    a_name = "s: the multipliers are s a"

    @property
    def is_hard(self) -> bool:
        return self.loss == HARD

    def missing(self, t: Any) -> Any:
        """1 - y_i (w(t).x_i + b(t)), a column for each row."""
        return 1.0 - self.start - np.multiply.outer(np.asarray(t, dtype=np.float64), self.step)

    def half_square(self, t: Any) -> Any:
        """1/2 |w(t)|^2."""
        zero, one, two = self.squares
        return 0.5 * (zero + 2.0 * one * t + two * t * t)

    @property
    def edge(self) -> float | None:
        """Of the line from w_0 = 0 to a hard margin: where its constraints hold with equality."""
        return 1.0 if self.is_hard and self.squares[0] == 0.0 else None

    def is_allowed(self, t: Any) -> Any:
        """Whether no row pays what a hard margin forbids; a soft one allows everything."""
        least = np.max(self.missing(t), axis=-1) <= ON_THE_EDGE
        return least if self.is_hard else np.ones_like(least)

    def curve(self, t: Any) -> Any:
        """P(t), without the prohibitions of a hard margin."""
        if self.is_hard:
            return self.half_square(t)
        return self.half_square(t) + self.loss.value(np.maximum(0.0, self.missing(t))) @ self.costs

    def value(self, t: Any) -> Any:
        """P(t): infinite where a hard margin forbids the plane."""
        return np.where(self.is_allowed(t), self.curve(t), np.inf)

    def lagrangian(self, t: Any, s: Any) -> Any:
        """L(t, s)."""
        return self.half_square(t) + s * (self.missing(t) @ self.a) - 0.5 * s * s * self.bent

    @property
    def bent(self) -> float:
        """sum_i q_i a_i^2."""
        return float(np.sum(self.a * self.a / self.costs)) * self.loss.bend if self.loss.is_smooth else 0.0

    def lowest(self, s: Any) -> Any:
        """The t with the least L(., s) on the line."""
        return (s * float(self.step @ self.a) - self.squares[1]) / self.squares[2]

    def dual(self, s: Any) -> Any:
        """g(s), the least L(., s) of all planes, on the line or not."""
        return s * float(self.a.sum()) - 0.5 * s * s * (self.square_of_a + self.bent)

    @property
    def saddle(self) -> Saddle:
        """The fit, to its gap."""
        return Saddle(1.0, 1.0, float(self.dual(1.0)))

    def bounds(self, t: float, s: float) -> Bounds:
        """g(s) <= the optimum <= P(t), as far as s a is allowed."""
        allowed = 0.0 <= s <= self.most
        return Bounds(float(self.dual(s)) if allowed else -math.inf, float(self.value(t)))

    @property
    def most(self) -> float:
        """The largest s with s a_i <= u_i."""
        if not self.loss.is_bounded:
            return math.inf
        carrying = self.a > 0.0
        return float(np.min(self.loss.bounds(self.costs)[carrying] / self.a[carrying], initial=math.inf))

    @property
    def x_range(self) -> tuple[float, float]:
        return -0.25, 2.0

    @property
    def a_range(self) -> tuple[float, float]:
        """As far as the multipliers stay within their box, up to twice those of the fit."""
        return 0.0, min(2.0, max(1.0, self.most))


def margin_line(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    start: tuple[Any, float] | None = None,
    plane: int = 0,
    sample_weight: Any = None,
) -> MarginLine:
    """The line from a plane (w_0, b_0) to that of a fitted estimator; from w_0 = 0, b_0 = 0 where none is given.

    >>> from maxmargin import HardMarginSVM
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], [0, 0, 1, 1]
    >>> line = margin_line(HardMarginSVM().fit(X, y), X, y)
    >>> [round(float(line.value(t)), 6) for t in (0.5, 1.0, 2.0)], round(line.dual(1.0), 6)
    ([inf, 0.222222, 0.888889], 0.222222)
    """
    found = plane_of(estimator, X, y, plane=plane, sample_weight=sample_weight)
    if found.reach == 0.0 or not np.any(found.a) or getattr(found.certificate, "norm", "l2") != "l2":
        raise ValueError("this plane has no multipliers of an l2 margin: there is no saddle to draw")
    ours = found.signs != 0.0
    signs, values, a = found.signs[ours], found.values[ours] - found.b, found.a[ours]
    costs = found.costs[ours]
    loss = loss_of(found, bool(np.all(np.isfinite(costs))))
    ends = ((np.zeros(len(signs)), 0.0), (values, found.b))
    squares = (0.0, 0.0, found.length**2)
    if start is not None:
        if found.w is None:
            raise ValueError("in the space of a kernel the line starts at w = 0: leave start out")
        w_0, b_0 = np.asarray(start[0], dtype=np.float64), float(start[1])
        if w_0.shape != found.w.shape:
            raise ValueError(f"the start has {w_0.size} coefficients; the plane has {found.w.size}")
        move = found.w - w_0
        ends = ((found.X[ours] @ w_0, b_0), (values, found.b))
        squares = (float(w_0 @ w_0), float(w_0 @ move), float(move @ move))
        if squares[2] == 0.0:
            raise ValueError("the start is the plane of the fit: that is no line")
    a = feasible(found, signs, a)
    first, last = (signs * (value + b) for value, b in ends)
    line = MarginLine(first, last - first, squares, a, costs, loss, square_of(found, signs, a, ours))
    if not line.bounds(1.0, 1.0).gap <= FAR * float(line.curve(1.0)):
        raise ValueError("this fit is not near enough to the optimum to show its saddle: fit it to a smaller tol")
    return line


def loss_of(found: Plane, is_soft: bool) -> Loss:
    if not is_soft:
        return HARD
    certificate = found.certificate
    return loss_named(getattr(certificate, "loss", HINGE.name), getattr(certificate, "huber_width", None))


def feasible(found: Plane, signs: Vector, a: Vector) -> Vector:
    """With a bias both classes weigh the same: the heavier one is scaled down."""
    if not getattr(found.certificate, "fit_intercept", True):
        return a
    sums = {sign: float(a[signs == sign].sum()) for sign in (1.0, -1.0)}
    lighter = min(sums.values())
    return np.where(signs > 0.0, a * (lighter / sums[1.0]), a * (lighter / sums[-1.0])) if lighter > 0.0 else 0.0 * a


def square_of(found: Plane, signs: Vector, a: Vector, ours: Any) -> float:
    """|w(a)|^2; of a kernel, by its values."""
    rows, carrying = found.X[ours], np.flatnonzero(a)
    weights = (a * signs)[carrying]
    if found.kernel is None:
        w = rows[carrying].T @ weights
        return float(w @ w)
    points = found.kernel.points(rows[carrying], np.flatnonzero(ours)[carrying])
    return float(weights @ found.kernel.values(points, points) @ weights)
