"""Lagrange multipliers, seen: a function under a constraint, its Lagrangian, the dual function, and their saddle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.certificates.words import rounded_down, rounded_up
from maxmargin.plots.margin_line import MarginLine, margin_line
from maxmargin.plots.style import (
    DASHES,
    Legend,
    Palette,
    furnish,
    legend_of,
    many_axes,
    palette_of,
    size_of,
    title_over,
    titled,
)
from maxmargin.teaching.lagrange import ConstrainedParabola

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STEPS = 401
LEVELS = 14
SIZE = (12.0, 4.8)
DUST = 1e-12  # relative: what rounding did to a bound that comes out even


class LagrangianDisplay:
    """Left, the function with what is forbidden, and below it the Lagrangian for the price a; in the middle the dual
    function, which is how high that comes; right, the Lagrangian over both, with its saddle.

        g(a) = min_x L(x, a)  <=  the optimum  <=  f(x)

    The Lagrangian lies below the function wherever x is allowed, whatever the price: so its lowest point is a lower
    bound. At the best price it touches the function in the optimum, and the two bounds meet.

    Parameters
    ----------
    problem : ConstrainedParabola or MarginLine
        The line of a fit, where it is a `MarginLine`.
    x, a : float, default=None
        The point and the price that are shown; None: those of the saddle.

    Attributes
    ----------
    ax_, axes_, figure_ : the left axes, all three of them, and the figure, once it is drawn
    bounds : what they prove: `bounds.lower`, `bounds.upper`

    Examples
    --------
    >>> from maxmargin import ConstrainedParabola, LagrangianDisplay
    >>> problem = ConstrainedParabola(0.2, -1, 1, c=5)
    >>> LagrangianDisplay.from_problem(problem, x=6, a=0.5).figure_.savefig("price.png")  # doctest: +SKIP
    """

    def __init__(
        self, problem: ConstrainedParabola | MarginLine, x: float | None = None, a: float | None = None
    ) -> None:
        saddle = problem.saddle
        self.problem = problem
        self.x = saddle.x if x is None else finite("x", x)
        self.a = saddle.a if a is None else finite("a", a)
        self.bounds = problem.bounds(self.x, self.a)

    @classmethod
    def from_problem(
        cls, problem: ConstrainedParabola, *, x: float | None = None, a: float | None = None, ax: Axes | None = None,
        **line: Any,
    ) -> LagrangianDisplay:  # fmt: skip
        """One variable: at the point x and the price a, which are the best ones where they are not given.

        Further keywords are those of Matplotlib's lines, for the curve of the function.

        Parameters
        ----------
        problem : ConstrainedParabola
            One variable and one constraint.
        x : float, default=None
            The point; None: the best one.
        a : float, default=None
            The price; None: the best one.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        **line
            What Matplotlib's lines take, for the curve of the function.

        Returns
        -------
        LagrangianDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        return cls(problem, x, a).plot(ax, **line)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, start: tuple[Any, float] | None = None, x: float | None = None,
        a: float | None = None, plane: int = 0, sample_weight: Any = None, ax: Axes | None = None, **line: Any,
    ) -> LagrangianDisplay:  # fmt: skip
        """A margin problem along the line from `start`, a pair (w, b), to the plane of a fitted estimator.

        x is the place on that line, 1 at the plane of the fit; a is the factor of its multipliers.

        Parameters
        ----------
        estimator : a fitted estimator
            Of this library.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.
        start : pair of w and b, default=None
            Where the line begins; None: at w = 0.
        x : float, default=None
            The point; None: the best one.
        a : float, default=None
            The price; None: the best one.
        plane : int, default=0
            Which one, where there are more than two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            A sample of weight k counts as k equal ones.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        **line
            What Matplotlib's lines take, for the curve of the function.

        Returns
        -------
        LagrangianDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        found = margin_line(estimator, X, y, start=start, plane=plane, sample_weight=sample_weight)
        return cls(found, x, a).plot(ax, **line)

    def plot(
        self, ax: Axes | None = None, *, legend: Legend = True, title: str | None = None, **line: Any
    ) -> LagrangianDisplay:
        """Draw three panels into the place of `ax`, or into a new figure; the rest as in `StreetDisplay.plot`.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        legend : bool, str or dict, default=True
            Whether there is one, where, or what Matplotlib's `legend` takes.
        title : str, default=None
            In the place of ours; "" leaves it out.
        **line
            What Matplotlib's lines take, for the curve of the function.

        Returns
        -------
        LagrangianDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        self._legend = legend
        self.axes_ = many_axes(ax, 1, 3, SIZE)[0]
        self.ax_: Any = self.axes_[0]
        self.figure_: Figure = self.ax_.figure
        palette, problem = palette_of(self.ax_), self.problem
        self._points = np.union1d(np.linspace(*widened(problem.x_range, self.x), STEPS), [problem.saddle.x, self.x])
        self._prices = np.union1d(np.linspace(*widened(problem.a_range, max(self.a, 0.0)), STEPS), problem.saddle.a)
        self._draw_function(palette, line)
        self._draw_dual(palette)
        self._draw_saddle(palette)
        title_over(self.figure_, palette, titled(self.title, title))
        return self

    def _draw_function(self, palette: Palette, line: dict[str, Any]) -> None:
        """f, what is forbidden, L(., a) and both bounds."""
        ax, problem, names, x = self.ax_, self.problem, self.names, self._points
        curve, allowed = problem.curve(x), np.asarray(problem.is_allowed(x))
        ax.plot(x, np.where(allowed, np.nan, curve), color=palette.faint, linewidth=1.6)
        solid = {"color": palette.ink, "linewidth": 2.2, "label": names["f"]} | line
        ax.plot(x, np.where(allowed, curve, np.nan), **solid)
        label = f"{names['L']} at {names['a']} = {self.a:.4g}"
        ax.plot(x, problem.lagrangian(x, self.a), color=palette.accent, linewidth=1.8, linestyle=DASHES, label=label)
        lowest = float(problem.lowest(self.a))
        mark(ax, lowest, problem.lagrangian(lowest, self.a), "v", palette.accent)
        if math.isfinite(self.bounds.upper):
            mark(ax, self.x, self.bounds.upper, "s", palette.warning, f"the point {names['x']} = {self.x:.4g}")
        if not allowed.all():
            edge = float(x[allowed].min()) if allowed.any() else float(x[-1])
            ax.axvspan(x[0], edge, label="forbidden", **hatched(palette))
        self._draw_bounds(ax, palette)
        furnish(ax, palette, "a function and its Lagrangian", names["x_label"], names["value"])
        ax.set_xlim(x[0], x[-1])
        ax.set_ylim(*self._heights(curve[allowed]))
        legend_under(ax, palette, self._legend)

    def _draw_dual(self, palette: Palette) -> None:
        """g over the prices: its highest point is the optimum."""
        ax, problem, names, a = self.axes_[1], self.problem, self.names, self._prices
        ax.plot(a, problem.dual(a), color=palette.accent, linewidth=2.2, label=names["g"])
        ax.axhline(problem.saddle.value, color=palette.ink, linewidth=1.2, linestyle=DASHES, label="the optimum")
        if math.isfinite(self.bounds.lower):
            mark(ax, self.a, self.bounds.lower, "v", palette.accent, f"the price {names['a']} = {self.a:.4g}")
        self._draw_bounds(ax, palette)
        furnish(ax, palette, "the dual function: how high that comes", names["a_label"])
        low, high = self._price_range()
        if problem.most < high:
            ax.axvspan(problem.most, high, label="beyond the box", **hatched(palette))
        ax.set_xlim(low, high)
        ax.set_ylim(self.ax_.get_ylim())
        legend_under(ax, palette, self._legend)

    def _draw_saddle(self, palette: Palette) -> None:
        """Level lines of L, the lowest point for each price, and where it is highest."""
        ax, problem, names, saddle = self.axes_[2], self.problem, self.names, self.problem.saddle
        low, high = self._price_range()
        x, a = np.linspace(self._points[0], self._points[-1], 121), np.linspace(low, high, 121)
        heights = np.array([problem.lagrangian(x, price) for price in a])
        ax.contour(
            x,
            a,
            heights,
            levels=levels_around(heights, saddle.value),
            colors=palette.faint,
            linewidths=0.9,
            linestyles="solid",
        )
        label = f"lowest {names['x']} for each {names['a']}"
        ax.plot(problem.lowest(a), a, color=palette.accent, linewidth=1.8, linestyle=DASHES, label=label)
        if problem.edge is not None:
            label = f"{names['x']} = {problem.edge:.4g}: {names['a']} does not matter"
            ax.axvline(problem.edge, color=palette.ink, linewidth=1.2, label=label)
        mark(ax, self.x, self.a, "s", palette.warning, "the point and the price")
        style: dict[str, Any] = {"s": 84, "color": palette.ink, "edgecolors": palette.paper, "linewidths": 0.8}
        ax.scatter([saddle.x], [saddle.a], marker="X", label="the saddle", zorder=6, **style)
        if problem.most < high:
            ax.axhspan(problem.most, high, **hatched(palette))
        furnish(ax, palette, f"the saddle of {names['L']}", names["x_label"], names["a_label"])
        ax.set_xlim(x[0], x[-1])
        ax.set_ylim(low, high)
        legend_under(ax, palette, self._legend)

    def _draw_bounds(self, ax: Any, palette: Palette) -> None:
        """Both bounds, and the gap between them."""
        for value, colour in ((self.bounds.lower, palette.accent), (self.bounds.upper, palette.warning)):
            if math.isfinite(value):
                ax.axhline(value, color=colour, linewidth=0.9, zorder=1)
        if math.isfinite(self.bounds.gap):
            ax.axhspan(*self.bounds, color=palette.street, linewidth=0, zorder=0)

    def _heights(self, allowed: Any) -> tuple[float, float]:
        """Room for both functions near the optimum, and for both bounds: a parabola is soon too high."""
        best, duals = self.problem.saddle.value, self.problem.dual(self._prices)
        low = min([float(duals.min()), *finite_only(self.bounds)])
        steep = 0.15 * (float(np.max(allowed, initial=best)) - best)
        high = max(best + 1.8 * (best - low), best + steep, *finite_only(self.bounds))
        room = 0.08 * (high - low)
        return low - room, high + room

    def _price_range(self) -> tuple[float, float]:
        """With room at both ends, so that what is there can be seen."""
        low, high = min(float(self._prices[0]), self.a), float(self._prices[-1])
        room = 0.06 * (high - low)
        return low - room, high + room

    @property
    def names(self) -> dict[str, str]:
        """What the picture calls its letters."""
        if isinstance(self.problem, ConstrainedParabola):
            return {"f": "f(x)", "L": "L(x, a)", "g": "g(a)", "x": "x", "a": "a", "x_label": "x",
                    "a_label": "a, the price of the constraint", "value": "value"}  # fmt: skip
        return {"f": "P(t)", "L": "L(t, s)", "g": "g(s)", "x": "t", "a": "s", "x_label": self.problem.x_name,
                "a_label": self.problem.a_name, "value": "objective"}  # fmt: skip

    @property
    def title(self) -> str:
        """What the point and the price prove, rounded outwards."""
        names, (lower, upper) = self.names, self.bounds
        low = f"{rounded_down(lower + DUST * abs(lower), 5)} = {names['g']} <= " if math.isfinite(lower) else ""
        high = f" <= {names['f']} = {rounded_up(upper - DUST * abs(upper), 5)}" if math.isfinite(upper) else ""
        price = "a price below 0 proves" if self.a < 0.0 else "multipliers beyond their box prove"
        lacking = ([] if low else [f"{price} nothing"]) + ([] if high else ["the point is not allowed"])
        return f"{low}the optimum{high}" + (f"\n{', and '.join(lacking)}" if lacking else "")


def finite(name: str, value: Any) -> float:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | np.floating | np.integer)
        or not math.isfinite(value)
    ):
        raise ValueError(f"{name} must be a finite number, not {value!r}")
    return float(value)


def finite_only(values: Any) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def widened(interval: tuple[float, float], value: float) -> tuple[float, float]:
    """An interval that holds the value, with some room around it.

    >>> widened((0.0, 1.0), 0.5), widened((0.0, 1.0), 3.0)
    ((0.0, 1.0), (0.0, 3.1))
    """
    low, high = interval
    room = 0.1 * (high - low)
    return min(low, value - room) if value < low else low, max(high, value + room) if value > high else high


def mark(ax: Any, x: float, y: float, marker: str, colour: str, label: str | None = None) -> None:
    ax.plot([x], [y], linestyle="none", marker=marker, color=colour, label=label, zorder=5)


def hatched(palette: Palette) -> dict[str, Any]:
    """What is not allowed."""
    return {"facecolor": "none", "edgecolor": palette.faint, "hatch": "////", "linewidth": 0, "zorder": 0.5}


def legend_under(ax: Any, palette: Palette, legend: Legend) -> None:
    size = size_of("legend.fontsize", 8)
    legend_of(ax, palette, legend, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, fontsize=size)


def levels_around(heights: Any, value: float) -> Any:
    """Level lines, closer together near the saddle, one of them through it."""
    below, above = value - float(heights.min()), float(heights.max()) - value
    steps = (np.arange(1, LEVELS + 1) / LEVELS) ** 2
    return np.unique(np.concatenate([value - below * steps, [value], value + above * steps]))
