"""The convex hulls of two classes: where they come nearest, or the point that lies in both."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.words import between, rows_that_prove, side_names
from maxmargin.data.table import Vector
from maxmargin.estimators.separability import separability
from maxmargin.plots.geometry import Hulls, hulls_of, part_of, rows_and_names, signs_of
from maxmargin.plots.shapes import Points, box_around, hull, hull_points
from maxmargin.plots.style import (
    MARKERS,
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

HATCHES = {1: "////", -1: "...."}


class HullDisplay:
    """The hulls of two classes of two columns, and the shortest way between them; or the witness in both.

    The two nearest points prove that no street is wider than they are apart: every street must pass between them. A
    point in both hulls proves that there is none.

    Parameters
    ----------
    certificate : Certificate
        What is proven.
    X, y : array-like
        The rows and the labels that it is about.

    Attributes
    ----------
    ax_, figure_ : the Matplotlib axes and figure, once it is drawn
    hulls : the numbers of the picture; see `maxmargin.plots.geometry.hulls_of`

    Examples
    --------
    >>> from maxmargin import HullDisplay, separability
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], [0, 0, 1, 1]
    >>> HullDisplay.from_certificate(separability(X, y), X, y).figure_.savefig("hulls.png")  # doctest: +SKIP
    """

    def __init__(self, certificate: Certificate, X: Any, y: Any) -> None:
        self.certificate = certificate
        self.hulls: Hulls = hulls_of(certificate, X, y)
        self.signs = signs_of(certificate, y, len(self.hulls.points))

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, plane: int = 0, ax: Axes | None = None, **look: Any
    ) -> HullDisplay:
        """The hulls that a fitted estimator has between them.

        The certificate of a hard margin knows the two points. For any other estimator `separability` is asked.

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
        HullDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        certificate = part_of(estimator, plane)
        if getattr(estimator, "_kernel", None) is not None:
            raise ValueError(
                f"the hulls of a {type(estimator).__name__} lie in the space of its kernel, where nobody can draw "
                "them; StreetDisplay shows the line that the kernel bends, and separability(X, y) the hulls of the "
                "columns themselves"
            )
        if not (isinstance(certificate, Certificate) and knows_the_hulls(certificate)):
            table, _ = rows_and_names(X)
            signs = signs_of(certificate, y, table.shape[0])
            ours = signs != 0.0
            bias = bool(getattr(certificate, "fit_intercept", True))
            found: Any = separability(table[ours], signs[ours] > 0.0, fit_intercept=bias)
            return cls.from_certificate(renamed(found, certificate, np.flatnonzero(ours)), X, y, ax=ax, **look)
        return cls.from_certificate(certificate, X, y, ax=ax, **look)

    @classmethod
    def from_certificate(cls, certificate: Any, X: Any, y: Any, *, ax: Axes | None = None, **look: Any) -> HullDisplay:
        """The hulls that a hard-margin certificate, such as that of `separability`, speaks of.

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
        HullDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        if not isinstance(certificate, Certificate):
            raise ValueError(f"a {type(certificate).__name__} knows no points of hulls: separability(X, y) does")
        return cls(certificate, X, y).plot(ax, **look)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        legend: Legend = True,
        title: str | None = None,
        scatter_kwargs: Mapping[str, Any] | None = None,
    ) -> HullDisplay:
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
        HullDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        self.ax_: Any = one_axes(ax, SQUARE)
        self.figure_: Figure = self.ax_.figure
        palette, found = palette_of(self.ax_), self.hulls
        names = side_names(self.certificate)
        draw_rows(self.ax_, palette, found.points, self.signs, names, scatter_kwargs=scatter_kwargs)
        for sign, outline in zip((1, -1), found.outlines, strict=True):
            if len(outline):
                draw_hull(self.ax_, outline, palette.ink if found.mirrored else palette.classes[sign], sign)
        ring(self.ax_, palette, found.points[found.rows], "rows that carry the proof")
        if found.meet:
            label = "the origin, in their hull" if found.mirrored else "a point of both hulls"
            cross(self.ax_, palette, found.nearest[1:], label)
        else:
            self.ax_.plot(*found.nearest.T, color=palette.ink, linewidth=1.8, zorder=4, label="the shortest way")
            cross(self.ax_, palette, found.nearest, "nearest points")
        box = box_around(np.vstack([found.points, found.nearest]))
        furnish(self.ax_, palette, titled(self.title, title))
        self.ax_.set_xlim(box.left, box.right)
        self.ax_.set_ylim(box.bottom, box.top)
        self.ax_.set_aspect("equal")
        self.ax_.locator_params(nbins=6)
        legend_below(self.ax_, palette, legend)
        return self

    @property
    def title(self) -> str:
        """What the hulls prove, with the bound rounded outwards."""
        certificate = self.certificate
        if self.hulls.meet:
            return f"The hulls meet: no plane separates them\n{rows_that_prove(certificate)}"
        factor = 1.0 if self.hulls.mirrored else 2.0
        what = "distance from the origin" if self.hulls.mirrored else "distance of the hulls"
        low, high = (factor * m for m in (certificate.margin_lower, certificate.margin_upper))
        return f"No street is wider than this\n{what} proven {between(low, high)}"


def knows_the_hulls(certificate: Certificate) -> bool:
    """Whether its weights are the nearest points, or a witness."""
    return certificate.norm == "l2" and certificate.verdict.name in ("OPTIMAL", "NOT_SEPARABLE", "WEAKLY_SEPARABLE")


def renamed(found: Certificate, certificate: Any, rows: Any) -> Certificate:
    """A certificate about True and False, with the labels and the rows of another one."""
    return dataclasses.replace(
        found, positive=certificate.positive, negative=certificate.negative, rows=rows[found.rows]
    )


class Witness(NamedTuple):
    """The rows of a witness as points whose hulls meet, their signs and weights; mirrored through the origin or not."""

    points: Points
    signs: Vector
    weights: Vector
    mirrored: bool


def witness_points(certificate: Certificate, points: Points, signs: Vector) -> Witness:
    """Through the origin it is the rows y_i x_i whose hull holds the origin, so the negative ones are mirrored."""
    carrying = certificate.weights > 0.0
    rows, weights = certificate.rows[carrying], certificate.weights[carrying]
    factors = np.ones(len(rows)) if certificate.fit_intercept else signs[rows]
    return Witness(points[rows] * factors[:, None], signs[rows], weights, not certificate.fit_intercept)


def draw_witness(ax: Any, palette: Palette, witness: Witness, names: tuple[str, str]) -> None:
    """The rows of a witness, their hulls, and where these meet."""
    points, signs = witness.points, witness.signs
    if witness.mirrored:
        draw_hull(ax, hull(points), palette.ink, 1)
        meeting, label = np.zeros((1, 2)), "the origin, in their hull"
    else:
        for sign in (1, -1):
            draw_hull(ax, hull(points[signs == sign]), palette.classes[sign], sign)
        meeting, label = hull_points(points, signs.astype(np.int64), witness.weights)[:1], "where the hulls meet"
    for sign in (1, -1):
        ax.scatter(
            *points[signs == sign].T,
            s=70 * marks_for(ax, len(points)).scale,
            marker=MARKERS[sign],
            color=palette.classes[sign],
            zorder=4,
        )
    ring(ax, palette, points, f"witness rows{f', {names[1]} mirrored' if witness.mirrored else ''}")
    cross(ax, palette, meeting, label)


def draw_hull(ax: Any, outline: Points, colour: str, sign: int) -> None:
    """A hull: its outline, and inside a tint and a hatch, so that two of them differ in grey."""
    ax.fill(*outline.T, facecolor=colour, alpha=0.10, linewidth=0, zorder=1)
    ax.fill(*outline.T, facecolor="none", edgecolor=colour, alpha=0.25, hatch=HATCHES[sign], linewidth=0, zorder=1)
    ax.plot(*np.vstack([outline, outline[:1]]).T, color=colour, linewidth=1.6, zorder=2)


def ring(ax: Any, palette: Palette, points: Points, label: str) -> None:
    area = 150 * marks_for(ax, len(points)).scale
    ax.scatter(*points.T, s=area, facecolors="none", edgecolors=palette.ink, linewidths=1.3, label=label, zorder=4)


def cross(ax: Any, palette: Palette, points: Points, label: str) -> None:
    style: dict[str, Any] = {"marker": "X", "color": palette.ink, "edgecolors": palette.paper, "linewidths": 0.8}
    ax.scatter(*points.T, s=84 * marks_for(ax, len(points)).scale, label=label, zorder=5, **style)
