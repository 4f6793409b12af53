"""What a row costs by its margin: the hinge, its square and its own loss above the 0-1 loss, and the rows below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.plots.geometry import Plane, certified_plane, plane_of
from maxmargin.plots.style import DASHES, Legend, Palette, furnish, legend_of, marks_for, one_axes, palette_of, titled
from maxmargin.problems.losses import HINGE, TEXTBOOK, loss_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HIGHEST = 4.0  # of the curves: what is above is not shown
STEPS = 400


class LossDisplay:
    """The hinge, the squared hinge, the loss of the fit if it is another, and the 0-1 loss over the margin y (w.x + b);
    and the margins of the rows as a rug.

    Left of 0 a row is a mistake, between 0 and 1 it is inside the street, and right of 1 it costs nothing. Both hinges
    are above the 0-1 loss: their sum bounds the number of mistakes.

    Parameters
    ----------
    plane : Plane
        The numbers of the picture; `plane.margins` are those of the rows.

    Attributes
    ----------
    ax_, figure_ : the Matplotlib axes and figure, once it is drawn

    Examples
    --------
    >>> from maxmargin import LinearSVM, LossDisplay
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], [0, 0, 1, 1]
    >>> LossDisplay.from_estimator(LinearSVM().fit(X, y), X, y).figure_.savefig("loss.png")  # doctest: +SKIP
    """

    def __init__(self, plane: Plane) -> None:
        self.plane = plane

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, plane: int = 0, ax: Axes | None = None, **look: Any
    ) -> LossDisplay:
        """The margins that the rows X with labels y have from a fitted estimator.

        Parameters
        ----------
        estimator : a fitted estimator
            Of this library.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.
        plane : int, default=0
            Which one, where there are more than two classes.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        **look
            `legend`, `title` and what else `plot` takes.

        Returns
        -------
        LossDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        return cls(plane_of(estimator, X, y, plane=plane)).plot(ax, **look)

    @classmethod
    def from_certificate(cls, certificate: Any, X: Any, y: Any, *, ax: Axes | None = None, **look: Any) -> LossDisplay:
        """The margins that the rows have from the plane of a certificate.

        Parameters
        ----------
        certificate : a certificate
            Of a fit, or of `separability`.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        **look
            `legend`, `title` and what else `plot` takes.

        Returns
        -------
        LossDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        return cls(certified_plane(certificate, X, y)).plot(ax, **look)

    def plot(self, ax: Axes | None = None, *, legend: Legend = True, title: str | None = None) -> LossDisplay:
        """Draw into `ax`, or into a new figure; `legend` and `title` as in `StreetDisplay.plot`.

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
        LossDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        self.ax_: Any = one_axes(ax, (7.5, 5.0))
        self.figure_: Figure = self.ax_.figure
        palette, margins = palette_of(self.ax_), self.plane.margins
        left = min(-1.2, float(np.nanmin(margins)) - 0.2)
        right = max(2.2, float(np.nanmax(margins)) + 0.2)
        self._draw_curves(palette, left, right)
        self._draw_rug(palette)
        named = titled(self.title, title)
        furnish(self.ax_, palette, named, "margin y (w.x + b), 1 on the edge of the street", "what a row costs")
        self.ax_.set_xlim(left, right)
        self.ax_.set_ylim(-0.62, HIGHEST)
        self.ax_.set_yticks(np.arange(0.0, HIGHEST + 0.5))
        legend_of(self.ax_, palette, legend, loc="upper right")
        return self

    def _draw_curves(self, palette: Palette, left: float, right: float) -> None:
        certificate = self.plane.certificate
        own = loss_named(getattr(certificate, "loss", HINGE.name), getattr(certificate, "huber_width", None))
        self.ax_.axvspan(-1.0, 1.0, color=palette.street, linewidth=0, zorder=0)
        x = np.union1d(np.linspace(left, right, STEPS), [0.0, 1.0])
        drawn: dict[Any, Any] = dict(zip(TEXTBOOK, ("solid", (0, (5, 2))), strict=True))
        for loss, dashes in ({own: (0, (6, 1, 1, 1))} | drawn).items():
            width = 2.4 if loss == own else 1.2
            self.ax_.plot(
                x, loss.value(1.0 - x), color=palette.ink, linewidth=width, linestyle=dashes, label=loss.title
            )
        steps = np.array([[left, 1.0], [0.0, 1.0], [0.0, 0.0], [right, 0.0]])
        self.ax_.plot(*steps.T, color=palette.faint, linewidth=1.6, linestyle=DASHES, label="0-1", zorder=1)

    def _draw_rug(self, palette: Palette) -> None:
        """A tick for each row, those of the two sides one below the other."""
        marks = marks_for(self.ax_, len(self.plane.margins))
        for sign, height, name in zip((1, -1), (-0.2, -0.45), self.plane.names, strict=True):
            margins = self.plane.margins[self.plane.signs == sign]
            self.ax_.plot(
                margins,
                np.full(len(margins), height),
                linestyle="none",
                marker="|",
                markersize=11,
                markeredgewidth=1.1 * marks.scale**0.25,
                alpha=0.75 * marks.alpha,
                rasterized=marks.rasterized,
                color=palette.classes[sign],
                label=f"rows of {name}",
            )

    @property
    def title(self) -> str:
        """How many rows pay, and how many are mistakes."""
        margins, slack = self.plane.margins, self.plane.slack
        mistakes = int(np.count_nonzero(margins < 0.0))
        inside = int(np.count_nonzero((slack > 0.0) & (margins >= 0.0)))
        rows = int(np.count_nonzero(self.plane.signs))
        return f"What {rows:,} rows cost\n{inside:,} inside the street, {mistakes:,} on the wrong side"
