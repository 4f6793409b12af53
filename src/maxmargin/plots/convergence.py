"""How a fit closes in on its answer: the best plane from one side, the best proof from the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.estimators.rounds import Rounds, rounds_of
from maxmargin.plots.geometry import two_sides
from maxmargin.plots.style import DASHES, WIDE, Legend, furnish, legend_of, many_axes, palette_of, title_over, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALLEST = 1e-16  # of a gap on a logarithmic scale


class ConvergenceDisplay:
    """Left, what the best plane so far is worth and what the best weights so far prove; right, the gap over time.

    Parameters
    ----------
    rounds : Rounds
        The numbers of the picture; see `maxmargin.estimators.rounds`.
    tol : float, default=None
        The gap that was asked for.
    name : str, default=""
        Of the estimator, for the title.

    Attributes
    ----------
    ax_, axes_, figure_ : the left axes, both of them, and the figure, once it is drawn

    Examples
    --------
    >>> from maxmargin import ConvergenceDisplay, LinearSVM
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], [0, 0, 1, 1]
    >>> ConvergenceDisplay.from_estimator(LinearSVM(), X, y).figure_.savefig("gap.png")  # doctest: +SKIP
    """

    def __init__(self, rounds: Rounds, tol: float | None = None, name: str = "") -> None:
        self.rounds, self.tol, self.name = rounds, tol, name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        plane: int = 0,
        sample_weight: Any = None,
        ax: Axes | None = None,
        **look: Any,
    ) -> ConvergenceDisplay:
        """Fit a copy of the estimator to two classes, and measure what its solver knew after each round.

        `plane` is the number of the plane of a fitted estimator, where there are more than two classes.

        Parameters
        ----------
        estimator : an estimator
            Fitted or not; a copy of it is fitted.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.
        plane : int, default=0
            Which one, where there are more than two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            A sample of weight k counts as k equal ones.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        **look
            `legend`, `title` and what else `plot` takes.

        Returns
        -------
        ConvergenceDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        X, y, sample_weight = two_sides(estimator, X, y, plane, sample_weight)
        found = rounds_of(estimator, X, y, sample_weight=sample_weight)
        return cls(found, getattr(estimator, "tol", None), type(estimator).__name__).plot(ax, **look)

    def plot(self, ax: Axes | None = None, *, legend: Legend = True, title: str | None = None) -> ConvergenceDisplay:
        """Draw two panels into the place of `ax`, or into a new figure; the rest as in `StreetDisplay.plot`.

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
        ConvergenceDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        self.axes_ = many_axes(ax, 1, 2, WIDE)[0]
        self.ax_: Any = self.axes_[0]
        self.figure_: Figure = self.ax_.figure
        palette, rounds = palette_of(self.ax_), self.rounds
        number = np.arange(1, len(rounds.gap) + 1)
        bounds = [np.where(np.isfinite(bound), bound, np.nan) for bound in (rounds.lower, rounds.upper)]
        self.ax_.fill_between(number, *bounds, color=palette.street, linewidth=0)
        sides = (("best plane so far", rounds.found, palette.accent, "o", "solid"),
                 ("best proof so far", rounds.proven, palette.warning, "s", DASHES))  # fmt: skip
        for label, values, colour, marker, dashes in sides:
            self.ax_.plot(
                number, values, color=colour, marker=marker, markersize=4, linewidth=1.6, linestyle=dashes, label=label
            )
        furnish(self.ax_, palette, "", "rounds", rounds.quantity)
        legend_of(self.ax_, palette, legend, loc="best")
        right = self.axes_[1]
        right.plot(
            1000.0 * rounds.seconds, np.maximum(rounds.gap, SMALLEST), color=palette.ink, marker="o", markersize=4,
            linewidth=1.6, label="gap",
        )  # fmt: skip
        if self.tol is not None:
            right.axhline(self.tol, color=palette.ink, linewidth=1.0, linestyle=DASHES, label=f"tol = {self.tol:g}")
        right.set_yscale("log")
        furnish(right, palette, "", "milliseconds since the first round", "relative gap")
        legend_of(right, palette, legend, loc="best")
        title_over(self.figure_, palette, titled(self.title, title))
        return self

    @property
    def title(self) -> str:
        """Who, how many rounds, and the last gap."""
        count = len(self.rounds.gap)
        what = f"{count} round{'s' if count > 1 else ''}, relative gap {self.rounds.gap[-1]:.1e} in the end"
        return f"{self.name} closing in\n{what}" if self.name else what
