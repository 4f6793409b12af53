"""How the pictures look: colours that everyone tells apart, on light and on dark paper, and calm axes.

Blue and orange are told apart by everyone [okabe2008], and one of them is lighter than the other, so that they differ
in grey print; the shapes of the points differ too. Ink and paper are those of the Matplotlib style that is in use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PIP_LINE = 'Pictures need Matplotlib: pip install "maxmargin[plots]"'
ON_LIGHT = {1: "#0072B2", -1: "#E69F00"}
ON_DARK = {1: "#56B4E9", -1: "#D55E00"}
MARKERS = {1: "o", -1: "s"}
DOT = 34.0  # square points, the area of a row
HALO = 300.0  # square points, the area of the heaviest support vector's halo
FAINT = 0.45  # how strongly rows are drawn that are only there for orientation
DASHES = (0, (5, 3))
SQUARE = (6.0, 7.15)  # inches: a square, and room for the title and the legend
WIDE = (9.0, 4.6)


class Palette(NamedTuple):
    """The colours of one picture: text and lines, the paper, between them, and the two classes."""

    ink: str
    paper: str
    faint: str
    street: str
    classes: dict[int, str]

    @property
    def accent(self) -> str:
        return self.classes[1]

    @property
    def warning(self) -> str:
        return self.classes[-1]


def pyplot() -> Any:
    """Matplotlib's pyplot, or a message that says how to get it."""
    try:
        import matplotlib.pyplot
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(PIP_LINE, name=missing.name) from None
    return matplotlib.pyplot


def palette_of(ax: Any) -> Palette:
    """By the paper of these axes and the ink of the style in use; black or white where that could not be read."""
    from matplotlib import rcParams
    from matplotlib.colors import to_hex

    paper, ink = to_hex(ax.get_facecolor()), to_hex(rcParams["text.color"])
    is_dark = lightness(paper) < 50.0
    if abs(lightness(ink) - lightness(paper)) < 40.0:
        ink = "#ffffff" if is_dark else "#222222"
    classes = ON_DARK if is_dark else ON_LIGHT
    return Palette(ink, paper, mixed(ink, paper, 0.3), mixed(ink, paper, 0.07), classes)


def mixed(ink: str, paper: str, share: float) -> str:
    """So much ink on the paper."""
    from matplotlib.colors import to_hex, to_rgb

    red, green, blue = (share * i + (1.0 - share) * p for i, p in zip(to_rgb(ink), to_rgb(paper), strict=True))
    return to_hex((red, green, blue))


def lightness(colour: str) -> float:
    """L* of CIELAB, from 0 (black) to 100 (white): what is left of a colour in grey print."""
    from matplotlib.colors import to_rgb

    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    luminance = float(np.dot(linear, [0.2126, 0.7152, 0.0722]))
    return 116.0 * float(np.cbrt(luminance)) - 16.0 if luminance > 0.008856 else 903.3 * luminance


def one_axes(ax: Axes | None, size: tuple[float, float] = WIDE) -> Any:
    """These axes, or new ones in a figure of this size."""
    if ax is None:
        _, ax = pyplot().subplots(figsize=size, dpi=150, layout="constrained")
    return ax


def many_axes(ax: Axes | None, rows: int, columns: int, size: tuple[float, float], **shared: Any) -> NDArray[Any]:
    """A grid of axes: in a new figure, or in the place of the given axes."""
    if ax is None:
        figure = pyplot().figure(figsize=size, dpi=150, layout="constrained")
        return np.asarray(figure.subplots(rows, columns, squeeze=False, **shared))
    ax.set_axis_off()
    height, width = 1.0 / rows, 1.0 / columns
    places = [
        [(j * width, 1.0 - (i + 1) * height, 0.86 * width, 0.78 * height) for j in range(columns)] for i in range(rows)
    ]
    return np.array([[ax.inset_axes(place) for place in line] for line in places])


def furnish(ax: Any, palette: Palette, title: str = "", x: str = "", y: str = "") -> None:
    """Calm axes: small ticks, thin spines, a title that is read first."""
    ax.set_title(title, fontsize=11, color=palette.ink, pad=10)
    ax.set_xlabel(x, fontsize=9, color=palette.ink)
    ax.set_ylabel(y, fontsize=9, color=palette.ink)
    grey = mixed(palette.ink, palette.paper, 0.65)
    ax.tick_params(which="both", labelsize=8, colors=grey, length=3)
    ax.minorticks_off()
    for spine in ax.spines.values():
        spine.set_color(palette.faint)
        spine.set_linewidth(0.8)


def legend_of(ax: Any, palette: Palette, **options: Any) -> None:
    """The legend, in the ink of the picture and on its paper."""
    usual = {"facecolor": palette.paper, "edgecolor": "none", "framealpha": 0.85, "labelcolor": palette.ink}
    ax.legend(**(usual | {"fontsize": 9, "handletextpad": 0.5} | options))


def legend_below(ax: Any, palette: Palette, columns: int = 3) -> None:
    below = -0.12 if ax.get_xlabel() else -0.06
    legend_of(ax, palette, loc="upper center", bbox_to_anchor=(0.5, below), ncols=columns)
    for handle in ax.get_legend().legend_handles:
        if handle.get_alpha() == FAINT:  # rows that are there for orientation still have a clear name
            handle.set_alpha(1.0)


def draw_rows(ax: Any, palette: Palette, points: Any, signs: Any, names: tuple[str, str], faint: bool = False) -> None:
    """The rows of the two sides, as points of two colours and two shapes."""
    for sign, name in zip((1, -1), names, strict=True):
        side = points[signs == sign]
        ax.scatter(
            side[:, 0],
            side[:, 1],
            s=DOT,
            marker=MARKERS[sign],
            color=palette.classes[sign],
            alpha=FAINT if faint else 1.0,
            edgecolors=palette.paper,
            linewidths=0.6,
            label=name,
            zorder=3,
        )
