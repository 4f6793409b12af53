"""The conditions of Karush, Kuhn and Tucker, seen: at the optimum every row lies on one line of three pieces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.plots.geometry import Plane, certified_plane, conditions_of, plane_of
from maxmargin.plots.style import Legend, draw_rows, furnish, legend_of, one_axes, palette_of, size_of, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES = ("stationarity", "primal", "dual", "slackness", "bias")


class KKTDisplay:
    """Each row by its margin and its dual variable, and the line on which complementary slackness wants them.

    Beyond the edge of the street (margin above 1) a row has no weight; inside, its weight is the full price C_i, and
    on the edge anything between; where the loss bends, it grows with the slack up to the knee. How far a row
    is from the line is what it adds to the gap.

    Parameters
    ----------
    plane : Plane
        The numbers of the picture; see `maxmargin.plots.geometry`.

    Attributes
    ----------
    ax_, figure_ : the Matplotlib axes and figure, once it is drawn
    conditions : margin, share and gap of each row; see `maxmargin.plots.geometry`

    Examples
    --------
    >>> from maxmargin import KKTDisplay, LinearSVM
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], [0, 0, 1, 1]
    >>> KKTDisplay.from_estimator(LinearSVM().fit(X, y), X, y).figure_.savefig("conditions.png")  # doctest: +SKIP
    """

    def __init__(self, plane: Plane) -> None:
        if plane.reach == 0.0:
            raise ValueError("the conditions of optimality are about a street, and this plane has none")
        self.plane, self.conditions = plane, conditions_of(plane)

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
    ) -> KKTDisplay:
        """The rows X with labels y that the estimator was fitted to, with the same weights.

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
        sample_weight : array-like of shape (n_samples,), default=None
            A sample of weight k counts as k equal ones.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        **look
            `legend`, `title` and what else `plot` takes.

        Returns
        -------
        KKTDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        return cls(plane_of(estimator, X, y, plane=plane, sample_weight=sample_weight)).plot(ax, **look)

    @classmethod
    def from_certificate(
        cls, certificate: Any, X: Any, y: Any, *, sample_weight: Any = None, ax: Axes | None = None, **look: Any
    ) -> KKTDisplay:
        """The rows that a certificate is about.

        Parameters
        ----------
        certificate : a certificate
            Of a fit, or of `separability`.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            A sample of weight k counts as k equal ones.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        **look
            `legend`, `title` and what else `plot` takes.

        Returns
        -------
        KKTDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        return cls(certified_plane(certificate, X, y, sample_weight=sample_weight)).plot(ax, **look)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        legend: Legend = True,
        title: str | None = None,
        scatter_kwargs: Mapping[str, Any] | None = None,
    ) -> KKTDisplay:
        """Draw into `ax`, or into a new figure; `legend`, `title` and `scatter_kwargs` as in `StreetDisplay.plot`.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        legend : bool, str or dict, default=True
            Whether there is one, where, or what Matplotlib's `legend` takes.
        title : str, default=None
            In the place of ours; "" leaves it out.
        scatter_kwargs : dict, default=None
            For Matplotlib's `scatter`, which draws the samples.

        Returns
        -------
        KKTDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        self.ax_: Any = one_axes(ax, (7.5, 5.4))
        self.figure_: Figure = self.ax_.figure
        palette, found = palette_of(self.ax_), self.conditions
        if self.plane.is_soft:
            self.ax_.axvspan(-1.0, 1.0, color=palette.street, linewidth=0, zorder=0)
        self.ax_.plot(*found.rule.T, color=palette.faint, linewidth=5.0, zorder=1, label="where the conditions hold")
        places = np.column_stack([found.margins, found.shares])
        draw_rows(self.ax_, palette, places, self.plane.signs, self.plane.names, scatter_kwargs=scatter_kwargs)
        hard = not np.all(np.isfinite(self.plane.costs))
        furnish(
            self.ax_, palette, titled(self.title, title), "margin y (w.x + b), 1 on the edge of the street",
            "dual variable, of the largest" if hard else "dual variable, in units of its price C",
        )  # fmt: skip
        known = found.margins[np.isfinite(found.margins)]
        self.ax_.set_xlim(min(float(known.min()) - 0.2, 0.5), max(float(known.max()) + 0.2, 1.5))
        top = max(1.0, float(found.shares.max()))
        self.ax_.set_ylim(-0.06 * top, 1.1 * top)
        legend_of(self.ax_, palette, legend, loc="upper right")
        self._write_violations(palette.ink)
        return self

    def _write_violations(self, ink: str) -> None:
        kkt = self.plane.certificate.kkt if hasattr(self.plane.certificate, "kkt") else None
        if kkt is None:
            return
        lines = ["largest violation"] + [f"{name:<13}{getattr(kkt, name).value:.1e}" for name in NAMES]
        place: dict[str, Any] = {"transform": self.ax_.transAxes, "ha": "right", "va": "top"}
        self.ax_.text(
            0.975,
            0.72,
            "\n".join(lines),
            family="monospace",
            fontsize=size_of("legend.fontsize", 8),
            color=ink,
            **place,
        )

    @property
    def title(self) -> str:
        """Whether they hold, and the row that is farthest from it."""
        certificate, worst = self.plane.certificate, int(np.argmax(self.conditions.gap))
        most = float(self.conditions.gap.max())
        hold = certificate.verdict.name == "OPTIMAL" and most <= 10.0 * max(certificate.tol, certificate.relative_gap)
        first = "The conditions of optimality hold" if hold else "How far from the conditions of optimality"
        second = f"row {worst} is farthest from them, {most:.1e} of the objective" if most > 0.0 else "to the last bit"
        return f"{first}\n{second}"
