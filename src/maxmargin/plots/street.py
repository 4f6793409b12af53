"""The street between two classes in a picture, or the witness that there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.words import title
from maxmargin.plots.geometry import Plane, Street, certified_plane, plane_of, street_of
from maxmargin.plots.hull import draw_witness, witness_points
from maxmargin.plots.shapes import square_around
from maxmargin.plots.style import (
    DASHES,
    DOT,
    FEW,
    HALO,
    MARKERS,
    SHADE,
    SQUARE,
    Legend,
    Palette,
    draw_rows,
    furnish,
    legend_below,
    marks_for,
    one_axes,
    palette_of,
    titled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class StreetDisplay:
    """The rows, the plane, the two edges of its street, the support vectors by their dual variables, and slack.

    Two columns are drawn as they are, with the bent line of a kernel. More columns are seen from the side of the plane:
    how far each row is from it, against the direction in the plane in which the rows spread most. Where it is proven
    that no plane exists, the witness is drawn, and where the hulls meet.

    Made by `from_estimator` or `from_certificate`.

    Parameters
    ----------
    plane : Plane
        The numbers of the picture; see `maxmargin.plots.geometry`.

    Attributes
    ----------
    ax_, figure_ : the Matplotlib axes and figure, once it is drawn
    street : everything of the plane that has a place in the picture
    certificate : what is proven; the title says it

    Examples
    --------
    >>> from maxmargin import HardMarginSVM, StreetDisplay
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], [0, 0, 1, 1]
    >>> StreetDisplay.from_estimator(HardMarginSVM().fit(X, y), X, y).figure_.savefig("street.png")  # doctest: +SKIP
    """

    def __init__(self, plane: Plane) -> None:
        self.plane, self.certificate = plane, plane.certificate
        if self.shows_witness and plane.X.shape[1] != 2 and plane.length == 0.0:
            raise ValueError(
                f"no plane separates the classes, and a witness is drawn in two columns; these data have "
                f"{plane.X.shape[1]}. A soft margin has a plane to look along: LinearSVM"
            )
        self.street: Street = street_of(plane)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        plane: int = 0,
        sample_weight: Any = None,
        feature_names: Any = None,
        ax: Axes | None = None,
        **look: Any,
    ) -> StreetDisplay:
        """Draw what a fitted estimator found in the rows X with labels y, the ones that it was fitted to.

        `plane` is the number of the plane, where there are more than two classes. The names of two columns are
        written on the axes; a data frame brings its own. `look` is what `plot` takes.

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
        feature_names : list of str, default=None
            Of the two axes.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        **look
            `legend`, `title` and what else `plot` takes.

        Returns
        -------
        StreetDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        known = {"sample_weight": sample_weight, "feature_names": feature_names}
        return cls(plane_of(estimator, X, y, plane=plane, **known)).plot(ax, **look)

    @classmethod
    def from_certificate(
        cls, certificate: Any, X: Any, y: Any, *, ax: Axes | None = None, **look: Any
    ) -> StreetDisplay:
        """Draw what a certificate proves about the rows X with labels y.

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
        StreetDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        return cls(certified_plane(certificate, X, y)).plot(ax, **look)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        legend: Legend = True,
        title: str | None = None,
        scatter_kwargs: Mapping[str, Any] | None = None,
    ) -> StreetDisplay:
        """Draw into `ax`, or into a new figure.

        `legend` says whether there is one, where, or what Matplotlib's `legend` takes; `title` takes the place of ours,
        and "" leaves it out; `scatter_kwargs` go to Matplotlib's `scatter` for the rows.

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
        StreetDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        self.ax_: Any = one_axes(ax, SQUARE)
        self.figure_: Figure = self.ax_.figure
        palette, street = palette_of(self.ax_), self.street
        box, same_units = street.box, street.same_units
        if self.shows_witness and self.plane.X.shape[1] == 2:
            witness = witness_points(self.certificate, street.points, self.plane.signs)
            box, same_units = square_around(np.vstack([street.points, witness.points])), True
            draw_rows(self.ax_, palette, street.points, self.plane.signs, self.plane.names, True, scatter_kwargs)
            draw_witness(self.ax_, palette, witness, self.plane.names)
        else:
            names, signs = self.plane.names, self.plane.signs
            draw_rows(self.ax_, palette, street.points, signs, names, scatter_kwargs=scatter_kwargs)
            self._draw_street(palette)
            self._draw_slack(palette)
            self._draw_support(palette)
        furnish(self.ax_, palette, titled(self.title, title), *street.axes)
        self.ax_.set_xlim(box.left, box.right)
        self.ax_.set_ylim(box.bottom, box.top)
        self.ax_.set_aspect("equal" if same_units else "auto")
        self.ax_.locator_params(nbins=6)
        legend_below(self.ax_, palette, legend)
        return self

    @property
    def shows_witness(self) -> bool:
        return isinstance(self.certificate, Certificate) and self.certificate.is_separable is False

    def _draw_street(self, palette: Palette) -> None:
        street = self.street
        if len(street.pavement):
            self.ax_.fill(*street.pavement.T, color=palette.street, linewidth=0, zorder=0)
        for number, line in enumerate(street.boundary):
            label = None if number else "plane"
            self.ax_.plot(*line.T, color=palette.ink, linewidth=1.6, label=label, zorder=2)
        for number, line in enumerate((*street.edges[0], *street.edges[1])):
            label = None if number else "edges of the street"
            self.ax_.plot(*line.T, color=palette.ink, linewidth=1.0, linestyle=DASHES, label=label, zorder=1)

    def _draw_slack(self, palette: Palette) -> None:
        """A thin line from each row that pays to its edge of the street, in the colour of its class."""
        from matplotlib.collections import LineCollection

        if len(self.street.late) == 0:
            return
        colours = [palette.classes[int(sign)] for sign in self.plane.signs[self.street.late]]
        marks = marks_for(self.ax_, len(self.street.points))
        thin: dict[str, Any] = {"linewidths": 0.9 * marks.scale**0.5, "alpha": 0.7 * marks.alpha}
        lines = LineCollection(list(self.street.slack), colors=colours, zorder=1, rasterized=marks.rasterized, **thin)
        lines.set_label("slack")
        self.ax_.add_collection(lines, autolim=False)

    def _draw_support(self, palette: Palette) -> None:
        """A halo around each row that carries weight, its area in proportion to the dual variable; and an inked rim."""
        street, signs = self.street, self.plane.signs[self.street.rows]
        points, marks = street.points[street.rows], marks_for(self.ax_, len(street.points))
        halo: dict[str, Any] = {
            "facecolors": palette.ink,
            "alpha": SHADE * marks.alpha**2,
            "linewidths": 0,
            "zorder": 2.5,
        }
        halo["rasterized"] = marks.rasterized
        crowded = len(points) > FEW  # then rims alone, thin, so that the colours below are seen
        name = "support vectors" if self._is_best else "rows that carry weight"
        self.ax_.scatter(
            *points.T,
            s=(2.0 * DOT if crowded else HALO) * marks.scale * street.sizes,
            label=f"{name}, by weight",
            **halo,
        )
        for sign in (1, -1):
            self.ax_.scatter(
                *points[signs == sign].T,
                s=DOT * marks.scale,
                marker=MARKERS[sign],
                facecolors="none" if crowded else palette.classes[sign],
                edgecolors=palette.ink,
                linewidths=(0.5 if crowded else 1.1) * marks.scale**0.5,
                alpha=0.3 if crowded else None,
                rasterized=marks.rasterized,
                zorder=4,
            )

    @property
    def _is_best(self) -> bool:
        return self.certificate.verdict.name in ("OPTIMAL", "BOUNDED")

    @property
    def title(self) -> str:
        """The verdict and the bounds, as a title."""
        return title(self.certificate)
