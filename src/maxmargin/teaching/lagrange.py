"""Lagrange multipliers on one variable: the lowest point of a parabola on a half-line.

    primal       min f(x) = p x^2 + q x + r   subject to   x >= c                        p > 0
    Lagrangian   L(x, a) = f(x) - a (x - c)                                              a >= 0, the price of a unit
    dual         g(a) = min_x L(x, a) = L(x(a), a),          x(a) = (a - q) / (2 p)
    bounds       g(a) <= the optimum <= f(x)                 for every a >= 0 and every x >= c (weak duality)
    optimum      f'(x) = a,   x >= c,   a >= 0,   a (x - c) = 0

Two cases. If the lowest point -q / (2 p) of the parabola is allowed, it is the answer, and the price is a = 0. Else the
constraint holds the answer back: x = c, and the price is the slope there, a = f'(c) > 0: so much would the optimum fall
if c were one unit (of a small length) lower. Either way (x, a) is a saddle: L(x, .) is highest at a, L(., a) is lowest
at x, and both sides of the weak duality meet. Planes are the same with one multiplier for each row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, NamedTuple


class Saddle(NamedTuple):
    """Where the lowest point and the price meet, and the value that both sides have there."""

    x: float
    a: float
    value: float


class Conditions(NamedTuple):
    """By how much a point x and a price a violate each condition of Karush, Kuhn and Tucker: 0 where it holds.

    stationarity   |f'(x) - a|
    primal         max(0, c - x)
    dual           max(0, -a)
    slackness      |a (x - c)|
    """

    stationarity: float
    primal: float
    dual: float
    slackness: float


class Bounds(NamedTuple):
    """The optimum lies between them: -inf where the price is negative, inf where the point is not allowed."""

    lower: float
    upper: float

    @property
    def gap(self) -> float:
        return self.upper - self.lower


@dataclass(frozen=True)
class ConstrainedParabola:
    """min p x^2 + q x + r subject to x >= c, with p > 0; its Lagrangian, its dual function and its saddle.

    Parameters
    ----------
    p, q, r : float
        The parabola; p is positive, so that it has a lowest point.
    c : float
        The least x that is allowed.

    Examples
    --------
    >>> from maxmargin import ConstrainedParabola
    >>> problem = ConstrainedParabola(0.2, -1, 1, c=5)            # the constraint binds: its price is 1
    >>> problem.saddle
    Saddle(x=5.0, a=1.0, value=1.0)
    >>> ConstrainedParabola(0.2, -1, 1, c=-3).saddle              # the lowest point is allowed: it costs nothing
    Saddle(x=2.5, a=0.0, value=-0.25)
    >>> problem.bounds(x=6.5, a=0.5)                              # any point and any price: weak duality
    Bounds(lower=0.6875, upper=2.95)
    >>> problem.conditions(x=5, a=0)                              # at the right point, for the wrong price
    Conditions(stationarity=1.0, primal=0.0, dual=0.0, slackness=0.0)
    """

    p: float
    q: float
    r: float
    c: float

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise ValueError(f"{field.name} must be a finite number, not {value!r}")
        if not self.p > 0.0:
            raise ValueError(f"p must be positive, so that the parabola has a lowest point; it is {self.p!r}")

    def value(self, x: Any) -> Any:
        """f(x); of a number or of an array.

        Parameters
        ----------
        x : float or array-like
            Points.

        Returns
        -------
        float or ndarray
            One for each x.
        """
        return (self.p * x + self.q) * x + self.r

    def slope(self, x: Any) -> Any:
        """f'(x).

        Parameters
        ----------
        x : float or array-like
            Points.

        Returns
        -------
        float or ndarray
            One for each x.
        """
        return 2.0 * self.p * x + self.q

    def lagrangian(self, x: Any, a: Any) -> Any:
        """L(x, a) = f(x) - a (x - c).

        Parameters
        ----------
        x : float or array-like
            Points.
        a : float or array-like
            Prices.

        Returns
        -------
        float or ndarray
            One for each pair.
        """
        return self.value(x) - a * (x - self.c)

    def lowest(self, a: Any) -> Any:
        """x(a), the lowest point of L(., a).

        Parameters
        ----------
        a : float or array-like
            Prices.

        Returns
        -------
        float or ndarray
            One for each price.
        """
        return (a - self.q) / (2.0 * self.p)

    def dual(self, a: Any) -> Any:
        """g(a), the least value of L(., a).

        Parameters
        ----------
        a : float or array-like
            Prices.

        Returns
        -------
        float or ndarray
            One for each price.
        """
        return self.lagrangian(self.lowest(a), a)

    def is_allowed(self, x: Any) -> Any:
        """x >= c.

        Parameters
        ----------
        x : float or array-like
            Points.

        Returns
        -------
        bool or ndarray
            One for each x.
        """
        return x >= self.c

    @property
    def saddle(self) -> Saddle:
        """The optimum and its price."""
        free = self.lowest(0.0)
        x = float(max(free, self.c))
        a = float(self.slope(x)) if free < self.c else 0.0
        return Saddle(x, a, float(self.value(x)))

    @property
    def binds(self) -> bool:
        """Whether the constraint holds the answer back: its price is positive exactly then."""
        return self.saddle.a > 0.0

    def conditions(self, x: float, a: float) -> Conditions:
        """How far x and a are from the conditions of optimality.

        Parameters
        ----------
        x : float
            The point.
        a : float
            The price.

        Returns
        -------
        Conditions
            Each is 0 where it holds.
        """
        return Conditions(
            stationarity=abs(float(self.slope(x) - a)),
            primal=max(0.0, float(self.c - x)),
            dual=max(0.0, float(-a)),
            slackness=abs(float(a * (x - self.c))),
        )

    def bounds(self, x: float, a: float) -> Bounds:
        """g(a) <= the optimum <= f(x), as far as a and x are allowed.

        Parameters
        ----------
        x : float
            The point.
        a : float
            The price.

        Returns
        -------
        Bounds
            `lower` and `upper`.
        """
        lower = float(self.dual(a)) if a >= 0.0 else -math.inf
        return Bounds(lower, float(self.value(x)) if x >= self.c else math.inf)

    # What a picture of it shows.

    most = math.inf  # the largest price that is allowed

    @property
    def edge(self) -> float:
        """Where the constraint holds with equality, so that the price does not matter."""
        return float(self.c)

    def curve(self, x: Any) -> Any:
        """f(x), where it is forbidden too.

        Parameters
        ----------
        x : float or array-like
            Points.

        Returns
        -------
        float or ndarray
            One for each x.
        """
        return self.value(x)

    @property
    def x_range(self) -> tuple[float, float]:
        """An interval that shows both the lowest point of the parabola and the constraint."""
        low, high = sorted((self.lowest(0.0), float(self.c)))
        room = max(0.75 * (high - low), 2.0 / math.sqrt(self.p))
        return float(low - room), float(high + room)

    @property
    def a_range(self) -> tuple[float, float]:
        """Prices from 0 to beyond the best one."""
        return 0.0, 2.0 * self.saddle.a or 0.3 * float(self.slope(self.x_range[1]))
