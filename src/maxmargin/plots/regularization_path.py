"""A soft margin over its price C: how the street narrows, who holds it, who pays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.estimators.margin_path import MarginPath
from maxmargin.estimators.path import path
from maxmargin.plots.geometry import two_sides
from maxmargin.plots.style import DASHES, Legend, furnish, legend_of, many_axes, palette_of, size_of, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 25


class PathDisplay:
    """Margin, support vectors, rows inside the street and mistakes over C, one above the other.

    A vertical line marks the C of the estimator, and another one the C from which on nothing changes, if there is one.

    Parameters
    ----------
    path : MarginPath
        The numbers of the picture.
    C : float, default=None
        The price that is marked.

    Attributes
    ----------
    ax_, axes_, figure_ : the upper axes, all of them, and the figure, once it is drawn

    Examples
    --------
    >>> from maxmargin import PathDisplay, path
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], [0, 0, 1, 1]
    >>> PathDisplay.from_path(path(X, y)).figure_.savefig("path.png")  # doctest: +SKIP
    """

    def __init__(self, path: MarginPath, C: float | None = None) -> None:
        self.path, self.C = path, C

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        plane: int = 0,
        Cs: Any = POINTS,
        sample_weight: Any = None,
        ax: Axes | None = None,
        **look: Any,
    ) -> PathDisplay:
        """Follow the soft margin of these rows over C, with the other parameters of the estimator.

        `plane` is the number of the plane of a fitted estimator, where there are more than two classes.

        Parameters
        ----------
        estimator : LinearSVM
            Whose other parameters are taken.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.
        plane : int, default=0
            Which one, where there are more than two classes.
        Cs : int or array-like, default=25
            How many values of C, or which.
        sample_weight : array-like of shape (n_samples,), default=None
            A sample of weight k counts as k equal ones.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        **look
            `legend`, `title` and what else `plot` takes.

        Returns
        -------
        PathDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        parameters = estimator.get_params()
        if getattr(estimator, "_kernel", None) is not None or parameters.get("kernel", "linear") != "linear":
            raise ValueError(
                f"a path over C is for planes between the columns; this {type(estimator).__name__} has a kernel"
            )
        names = ("loss", "fit_intercept", "tol", "class_weight", "max_time")
        asked = {name: parameters[name] for name in names if name in parameters}
        if not hasattr(estimator, "C"):  # its tol is about a hard margin, or about nothing
            asked.pop("tol", None)
        X, y, sample_weight = two_sides(estimator, X, y, plane, sample_weight)
        found = path(X, y, Cs=Cs, sample_weight=sample_weight, **asked)
        return cls.from_path(found, C=parameters.get("C"), ax=ax, **look)

    @classmethod
    def from_path(cls, path: MarginPath, *, C: float | None = None, ax: Axes | None = None, **look: Any) -> PathDisplay:
        """Draw a path that `maxmargin.path` found; C is marked, if it is given.

        Parameters
        ----------
        path : MarginPath
            What `maxmargin.path` found.
        C : float, default=None
            To be marked.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        **look
            `legend`, `title` and what else `plot` takes.

        Returns
        -------
        PathDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        return cls(path, C).plot(ax, **look)

    def plot(self, ax: Axes | None = None, *, legend: Legend = True, title: str | None = None) -> PathDisplay:
        """Draw three panels into the place of `ax`, or into a new figure; the rest as in `StreetDisplay.plot`.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        legend : bool, str or dict, default=True
            Whether there is one, where, or what Matplotlib's `legend` takes.
        title : str, default=None
            In the place of ours; "" leaves it out.

        Returns
        -------
        PathDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        self.axes_ = many_axes(ax, 3, 1, (7.0, 7.2))[:, 0]
        self.ax_: Any = self.axes_[0]
        self.figure_: Figure = self.ax_.figure
        palette, found = palette_of(self.ax_), self.path
        line: dict[str, Any] = {"color": palette.ink, "linewidth": 1.6, "marker": "o", "markersize": 3.5}
        upper, middle, lower = self.axes_
        upper.plot(found.Cs, found.margins, **line)
        middle.plot(found.Cs, found.n_support, **line)
        others: dict[str, Any] = {"linewidth": 1.6, "markersize": 4.5}
        lower.plot(found.Cs, found.n_inside, color=palette.accent, marker="o", label="inside the street", **others)
        lower.plot(
            found.Cs, found.n_mistakes, color=palette.warning, marker="s", linestyle=DASHES, label="mistakes", **others
        )
        for panel, name in zip(self.axes_, ("margin 1 / |w|", "support vectors", "rows that pay"), strict=True):
            furnish(panel, palette, "", "C, the price of slack" if panel is lower else "", name)
            panel.set_xscale("log")
            panel.minorticks_off()
            panel.set_ylim(bottom=0.0)
            panel.grid(axis="x", color=palette.street, linewidth=0.8)
            panel.set_axisbelow(True)
            self._mark(panel, palette)
        size = size_of("axes.titlesize", 11)
        self.ax_.set_title(titled(self.title, title), fontsize=size, color=palette.ink, pad=10)
        legend_of(lower, palette, legend, loc="upper right")
        if self.ax_.get_legend_handles_labels()[1]:
            legend_of(self.ax_, palette, legend, loc="upper right")
        return self

    def _mark(self, panel: Any, palette: Any) -> None:
        first = panel is self.ax_
        if self.C is not None and 0.0 < self.C < math.inf:
            label = f"C = {self.C:g}" if first else None
            panel.axvline(self.C, color=palette.ink, linewidth=1.0, linestyle=":", label=label)
        if self.path.C_max is not None and math.isfinite(self.path.C_max):
            label = f"from C = {self.path.C_max:.4g} on, the hard margin" if first else None
            panel.axvline(self.path.C_max, color=palette.ink, linewidth=1.0, linestyle=DASHES, label=label)

    @property
    def title(self) -> str:
        """What was followed, and how well each point is proven."""
        gap = max(certificate.relative_gap for certificate in self.path.certificates)
        proven = np.count_nonzero([certificate.is_optimal for certificate in self.path.certificates])
        return f"The street over the price of slack\n{proven} of {len(self.path)} points proven, gaps at most {gap:.1e}"
