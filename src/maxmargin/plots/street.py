"""The street between two classes in a picture, or the witness that there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.certificate import Certificate, Verdict
from maxmargin.certificates.multiclass import MulticlassCertificate
from maxmargin.plots.rounding import rounded_down, rounded_up
from maxmargin.plots.shapes import (
    Box,
    Points,
    between,
    functional_margin,
    hull,
    hull_points,
    line_in_box,
    square_around,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Blue and vermilion are told apart by everyone [okabe2008]; the shapes differ too.
COLOURS = {1: "#0072B2", -1: "#D55E00"}
MARKERS = {1: "o", -1: "s"}
INK, STREET = "#222222", "#F0F0F0"
SIZE = (6.0, 7.15)  # inches: a square, and room for the title and the legend
PIP_LINE = 'Pictures need Matplotlib: pip install "maxmargin[plots]"'


class StreetDisplay:
    """The rows, the plane, its two margin lines and the rows that hold them; or a witness, and where the hulls meet.

    Made by `from_estimator` or `from_certificate`, for data of two columns.

    Attributes
    ----------
    ax_, figure_ : the Matplotlib axes and figure, once it is drawn
    certificate : what is proven; the title says it

    Examples
    --------
    >>> from maxmargin import HardMarginSVM
    >>> from maxmargin.plots import StreetDisplay
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], [0, 0, 1, 1]
    >>> StreetDisplay.from_estimator(HardMarginSVM().fit(X, y), X, y).figure_.savefig("street.png")  # doctest: +SKIP
    """

    def __init__(
        self, certificate: Certificate, X: Any, y: Any, *, feature_names: tuple[str, str] | None = None
    ) -> None:
        if feature_names is None and hasattr(X, "columns") and len(X.columns) == 2:
            feature_names = (str(X.columns[0]), str(X.columns[1]))
        points = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 2:
            raise ValueError(f"a street is drawn in two columns; these data have the shape {points.shape}")
        y = np.asarray(y)
        if y.shape != points.shape[:1]:
            raise ValueError(f"X has {len(points)} rows but y has the shape {y.shape}")
        plus = y == certificate.positive
        minus = ~plus if certificate.negative is None else y == certificate.negative
        self.certificate = certificate
        self.feature_names = feature_names
        self.X = points
        self.signs: NDArray[np.int64] = np.where(plus, 1, np.where(minus, -1, 0))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None) -> StreetDisplay:
        """Draw what a fitted estimator found in the rows X with labels y, the ones that it was fitted to."""
        certificate = getattr(estimator, "certificate_", None)
        if certificate is None:
            raise ValueError(f"{type(estimator).__name__} has no certificate_ yet: fit it first")
        return cls.from_certificate(certificate, X, y, ax=ax)

    @classmethod
    def from_certificate(
        cls, certificate: Certificate | MulticlassCertificate, X: Any, y: Any, *, ax: Axes | None = None
    ) -> StreetDisplay:
        """Draw what a certificate proves about the rows X with labels y."""
        if isinstance(certificate, MulticlassCertificate):
            raise ValueError(
                f"these are {len(certificate)} two-class problems; draw one: "
                "StreetDisplay.from_certificate(certificate[0], X, y)"
            )
        return cls(certificate, X, y).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> StreetDisplay:
        """Draw into `ax`, or into a new figure."""
        if ax is None:
            _, ax = pyplot().subplots(figsize=SIZE, dpi=150, layout="constrained")
        self.ax_: Axes = ax
        self.figure_: Figure = ax.figure  # type: ignore[assignment]  # a subfigure draws just as well
        box = square_around(self.X)
        if self.shows_witness:
            witness = self._witness()
            box = square_around(np.vstack([self.X, witness[0]]))
            self._draw_rows(faint=True)
            self._draw_witness(*witness)
        else:
            self._draw_rows(faint=False)
            self._draw_street(box)
            self._draw_rings()
        self._furnish(box)
        return self

    @property
    def shows_witness(self) -> bool:
        return self.certificate.verdict in (Verdict.NOT_SEPARABLE, Verdict.WEAKLY_SEPARABLE)

    def _draw_rows(self, faint: bool) -> None:
        for sign in (1, -1):
            side = self.signs == sign
            self._dots(
                self.X[side],
                s=34,
                marker=MARKERS[sign],
                color=COLOURS[sign],
                alpha=0.45 if faint else 1.0,
                edgecolors="white",
                linewidths=0.6,
                label=self._name(sign),
                zorder=3,
            )

    def _dots(self, points: Points, **style: Any) -> None:
        self.ax_.scatter(points[:, 0], points[:, 1], **style)

    def _name(self, sign: int) -> str:
        label = self.certificate.positive if sign > 0 else self.certificate.negative
        if label is None:
            return "the rest"
        return str(label) if isinstance(label, str) else f"label {label}"

    def _draw_street(self, box: Box) -> None:
        certificate = self.certificate
        w, b = certificate.w, certificate.b
        if not w.any():
            return
        self.ax_.plot(*line_in_box(w, b, box).T, color=INK, linewidth=1.6, label="plane", zorder=2)
        if certificate.margin_lower > 0.0:
            reach = functional_margin(certificate)
            street = between(w, b, -reach, reach, box)
            self.ax_.fill(*street.T, color=STREET, linewidth=0, zorder=0)
            for offset, label in ((reach, "margin lines"), (-reach, None)):
                line = line_in_box(w, b + offset, box)
                self.ax_.plot(*line.T, color=INK, linewidth=1.0, linestyle=(0, (5, 3)), label=label, zorder=1)

    def _draw_rings(self) -> None:
        rows = self.certificate.rows[self.certificate.weights > 0.0]
        optimal = self.certificate.verdict is Verdict.OPTIMAL
        self._ring(self.X[rows], "support vectors" if optimal else "rows that carry weight")

    def _ring(self, points: Points, label: str, size: int = 130) -> None:
        self._dots(points, s=size, facecolors="none", edgecolors=INK, linewidths=1.4, label=label, zorder=4)

    def _witness(self) -> tuple[Points, NDArray[np.int64], NDArray[np.float64]]:
        """The witness rows as points whose hulls meet, their signs and weights.

        Through the origin it is the rows y_i x_i whose hull holds the origin, so the negative ones are mirrored.
        """
        carrying = self.certificate.weights > 0.0
        rows, weights = self.certificate.rows[carrying], self.certificate.weights[carrying]
        signs = self.signs[rows]
        if self.certificate.fit_intercept:
            return self.X[rows], signs, weights
        return self.X[rows] * signs[:, None], signs, weights

    def _draw_witness(self, points: Points, signs: NDArray[np.int64], weights: NDArray[np.float64]) -> None:
        if self.certificate.fit_intercept:
            for sign in (1, -1):
                self._draw_hull(hull(points[signs == sign]), COLOURS[sign])
            meeting, label = hull_points(points, signs, weights)[:1], "where the hulls meet"
        else:
            self._draw_hull(hull(points), INK)
            meeting, label = np.zeros((1, 2)), "the origin, in their hull"
        for sign in (1, -1):
            self._dots(points[signs == sign], s=70, marker=MARKERS[sign], color=COLOURS[sign], zorder=4)
        mirrored = "" if self.certificate.fit_intercept else f", {self._name(-1)} mirrored"
        self._ring(points, f"witness rows{mirrored}", size=180)
        self._dots(meeting, s=84, marker="X", color=INK, edgecolors="white", linewidths=0.8, label=label, zorder=5)

    def _draw_hull(self, outline: Points, colour: str) -> None:
        self.ax_.fill(*outline.T, facecolor=colour, alpha=0.14, linewidth=0, zorder=1)
        closed = np.vstack([outline, outline[:1]])
        self.ax_.plot(*closed.T, color=colour, linewidth=1.6, zorder=2)

    def _furnish(self, box: Box) -> None:
        ax = self.ax_
        ax.set_xlim(box.left, box.right)
        ax.set_ylim(box.bottom, box.top)
        ax.set_aspect("equal")
        ax.set_title(self.title, fontsize=11, color=INK, pad=10)
        if self.feature_names is not None:
            ax.set_xlabel(self.feature_names[0])
            ax.set_ylabel(self.feature_names[1])
        ax.tick_params(labelsize=8, colors="#666666", length=3)
        ax.locator_params(nbins=6)
        for spine in ax.spines.values():
            spine.set_color("#BBBBBB")
            spine.set_linewidth(0.8)
        below = -0.06 if self.feature_names is None else -0.12
        legend = ax.legend(
            loc="upper center", bbox_to_anchor=(0.5, below), ncols=3, frameon=False, fontsize=9, handletextpad=0.5
        )
        for handle in legend.legend_handles:
            if handle is not None:
                handle.set_alpha(1.0)

    @property
    def title(self) -> str:
        """The verdict and the bounds, rounded outwards so that the title is true."""
        certificate = self.certificate
        if self.shows_witness:
            weakly = certificate.verdict is Verdict.WEAKLY_SEPARABLE
            first = "Weakly separable: the hulls touch" if weakly else "Not separable: the hulls meet"
            return f"{first}\n{certificate.n_support} rows of {certificate.n_rows:,} prove it"
        low, high = rounded_down(certificate.margin_lower), rounded_up(certificate.margin_upper)
        first = {
            Verdict.OPTIMAL: "The widest street",
            Verdict.SEPARABLE: "Separable",
            Verdict.UNDECIDED: "Undecided at this precision",
            Verdict.STOPPED: "Stopped before it was proven",
        }[certificate.verdict]
        return f"{first}\nbest {certificate.norm} margin proven between {low} and {high}"


def pyplot() -> Any:
    """Matplotlib's pyplot, or a message that says how to get it."""
    try:
        import matplotlib.pyplot
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(PIP_LINE, name=missing.name) from None
    return matplotlib.pyplot
