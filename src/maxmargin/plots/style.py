"""How the pictures look: colours that everyone tells apart, on light and on dark paper, and calm axes.

The classes have the colours and the shapes of the playground: blue circles, vermilion squares, and their lighter kin
on dark paper, which are told apart by everyone [okabe2008]; in grey print the shapes tell. Ink and paper are those of
the Matplotlib style that is in use. What a user has set in rcParams goes before what is chosen here: the sizes of
figures and fonts, the size of markers, and the colours of `axes.prop_cycle`, of which the classes get the first two.
Many rows, and rows on small paper, are drawn as smaller marks, through which others shine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PIP_LINE = 'Pictures need Matplotlib: pip install "maxmargin[plots]"'
ON_LIGHT = {1: "#0072b2", -1: "#d55e00"}
ON_DARK = {1: "#56b4e9", -1: "#e69f00"}
MARKERS = {1: "o", -1: "s"}
DOT = 34.0  # square points, the area of a row
HALO = 300.0  # square points, the area of the heaviest support vector's halo
FAINT = 0.45  # how strongly rows are drawn that are only there for orientation
FAINTEST = 0.4  # and thousands of them
SHADE = 0.16  # of a halo
DASHES = (0, (5, 3))
SQUARE = (6.0, 7.15)  # inches: a square, and room for the title and the legend
WIDE = (9.0, 4.6)
FEW = 300  # rows that are drawn in full size
MANY = 2000  # rows that a vector picture holds as pixels
SMALLEST_DOT = 2.0
LARGE = 4.5  # inches: axes as large as this have marks in full size

Legend = bool | str | Mapping[str, Any]  # whether there is one; where; or anything that Matplotlib's legend takes


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
    classes = colours_of_the_user() or (ON_DARK if is_dark else ON_LIGHT)
    return Palette(ink, paper, mixed(ink, paper, 0.3), mixed(ink, paper, 0.07), classes)


def now_and_usually() -> tuple[Any, Any]:
    """What is set in Matplotlib, and what it is where nobody has set anything."""
    import matplotlib

    return matplotlib.rcParams, matplotlib.rcParamsDefault


def colours_of_the_user() -> dict[int, str] | None:
    """The first two of `axes.prop_cycle`, where it is neither Matplotlib's own nor that of its dark style."""
    from matplotlib import style
    from matplotlib.colors import to_hex

    own, usual = (settings["axes.prop_cycle"] for settings in now_and_usually())
    if own in (usual, style.library["dark_background"]["axes.prop_cycle"]):
        return None
    colours = own.by_key().get("color", [])
    return {1: to_hex(colours[0]), -1: to_hex(colours[1])} if len(colours) > 1 else None


def size_of(name: str, usual: float) -> float:
    """The size of a font by its name in rcParams, where the user has set it or `font.size`; or else the usual one."""
    from matplotlib.font_manager import FontProperties

    now, usually = now_and_usually()
    if now[name] != usually[name]:
        return float(FontProperties(size=now[name]).get_size_in_points())
    return usual * float(now["font.size"]) / float(usually["font.size"])


def new_figure(usual: tuple[float, float]) -> dict[str, Any]:
    """The size of a figure and its dots, as the user has set them, or the usual ones."""
    now, usually = now_and_usually()
    is_usual = {
        name: tuple(np.ravel(now[name])) == tuple(np.ravel(usually[name])) for name in ("figure.figsize", "figure.dpi")
    }
    return {
        "figsize": usual if is_usual["figure.figsize"] else tuple(now["figure.figsize"]),
        "dpi": 150 if is_usual["figure.dpi"] else now["figure.dpi"],
        "layout": "constrained",
    }


class Marks(NamedTuple):
    """How points are drawn: `scale` of their areas, how much shines through, and whether as pixels."""

    scale: float
    alpha: float
    rasterized: bool


def marks_for(ax: Any, count: int) -> Marks:
    """So many rows in these axes: smaller marks where there are many, and on small paper."""
    now, usually = now_and_usually()
    asked = (float(now["lines.markersize"]) / float(usually["lines.markersize"])) ** 2
    width, height = ax.figure.get_size_inches() if hasattr(ax.figure, "get_size_inches") else (LARGE, LARGE)
    place = ax.get_position()
    room = min(1.0, min(width * place.width, height * place.height) / (0.75 * LARGE))
    crowd = min(1.0, math.sqrt(FEW / max(1, count)))
    scale = max(SMALLEST_DOT / DOT, asked * room * crowd)
    return Marks(scale, max(FAINTEST, crowd**0.5), count > MANY)


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
        _, ax = pyplot().subplots(**new_figure(size))
    return ax


def many_axes(ax: Axes | None, rows: int, columns: int, size: tuple[float, float], **shared: Any) -> NDArray[Any]:
    """A grid of axes: in a new figure, or in the place of the given axes."""
    if ax is None:
        figure = pyplot().figure(**new_figure(size))
        return np.asarray(figure.subplots(rows, columns, squeeze=False, **shared))
    ax.set_axis_off()
    height, width = 1.0 / rows, 1.0 / columns
    places = [
        [(j * width, 1.0 - (i + 1) * height, 0.86 * width, 0.78 * height) for j in range(columns)] for i in range(rows)
    ]
    return np.array([[ax.inset_axes(place) for place in line] for line in places])


def furnish(ax: Any, palette: Palette, title: str = "", x: str = "", y: str = "") -> None:
    """Calm axes: small ticks, thin spines, a title that is read first."""
    ax.set_title(title, fontsize=size_of("axes.titlesize", 11), color=palette.ink, pad=10)
    ax.set_xlabel(x, fontsize=size_of("axes.labelsize", 9), color=palette.ink)
    ax.set_ylabel(y, fontsize=size_of("axes.labelsize", 9), color=palette.ink)
    grey = mixed(palette.ink, palette.paper, 0.65)
    for axis in ("x", "y"):
        size = size_of(f"{axis}tick.labelsize", 8)
        ax.tick_params(axis=axis, which="both", labelsize=size, colors=grey, length=3)
    ax.minorticks_off()
    for spine in ax.spines.values():
        spine.set_color(palette.faint)
        spine.set_linewidth(0.8)


def legend_of(ax: Any, palette: Palette, legend: Legend = True, **options: Any) -> None:
    """The legend, in the ink of the picture and on its paper, where and as it is asked for."""
    if legend is False:
        return
    asked: Mapping[str, Any] = {} if legend is True else {"loc": legend} if isinstance(legend, str) else legend
    if "loc" in asked and "bbox_to_anchor" not in asked:
        options.pop("bbox_to_anchor", None)
    usual = {"facecolor": palette.paper, "edgecolor": "none", "framealpha": 0.85, "labelcolor": palette.ink}
    ax.legend(**(usual | {"fontsize": size_of("legend.fontsize", 9), "handletextpad": 0.5} | options | dict(asked)))
    for handle in ax.get_legend().legend_handles:
        if handle.get_alpha() is not None and hasattr(handle, "set_sizes"):  # however faint, the names stay clear
            is_row = handle.get_alpha() >= FAINTEST
            handle.set_alpha(1.0 if is_row else SHADE)
            handle.set_sizes([max(DOT / 2.0 if is_row else 2.0 * DOT, *handle.get_sizes())])


def legend_below(ax: Any, palette: Palette, legend: Legend = True, columns: int = 3) -> None:
    """Below the axes, in as many columns as there is room for."""
    wide = ax.figure.get_size_inches()[0] if hasattr(ax.figure, "get_size_inches") else 6.0
    columns = max(1, min(columns, int(wide / (0.22 * size_of("legend.fontsize", 9)))))
    below = -0.12 if ax.get_xlabel() else -0.06
    legend_of(ax, palette, legend, loc="upper center", bbox_to_anchor=(0.5, below), ncols=columns)


def title_over(figure: Any, palette: Palette, title: str) -> None:
    """Over several panels."""
    if title:
        figure.suptitle(title, fontsize=size_of("figure.titlesize", 11), color=palette.ink)


def titled(own: str, asked: str | None) -> str:
    """The title that the user wants; an empty one is none."""
    return own if asked is None else asked


def draw_rows(
    ax: Any,
    palette: Palette,
    points: Any,
    signs: Any,
    names: tuple[str, str],
    faint: bool = False,
    scatter_kwargs: Mapping[str, Any] | None = None,
) -> None:
    """The rows of the two sides, as points of two colours and two shapes."""
    marks = marks_for(ax, len(points))
    for sign, name in zip((1, -1), names, strict=True):
        side = points[signs == sign]
        usual = {
            "s": DOT * marks.scale,
            "marker": MARKERS[sign],
            "color": palette.classes[sign],
            "alpha": FAINT if faint else marks.alpha,
            "edgecolors": palette.paper,
            "linewidths": 0.6 * marks.scale**0.5,
            "rasterized": marks.rasterized,
            "label": name,
            "zorder": 3,
        }
        asked = dict(scatter_kwargs or {})
        if "c" in asked or "facecolors" in asked:
            usual.pop("color")
        ax.scatter(side[:, 0], side[:, 1], **(usual | asked))
