"""Learning by mistakes in pictures: one update, the whole run, its theorem, or a film of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.plots.schedule import draw_game, draw_schedule
from maxmargin.plots.shapes import Box, Points, box_around
from maxmargin.plots.style import (
    DASHES,
    Legend,
    Palette,
    draw_rows,
    furnish,
    legend_of,
    many_axes,
    marks_for,
    one_axes,
    palette_of,
    pyplot,
    size_of,
    title_over,
    titled,
)
from maxmargin.plots.updates import Run, run_of, run_of_trace
from maxmargin.problems.trace import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_FRAMES = 60


class TraceKind(StrEnum):
    """What is drawn of a run."""

    UPDATE = "update"
    RUN = "run"
    BOUND = "bound"
    SCHEDULE = "schedule"
    GAME = "game"


class TraceDisplay:
    """The updates of learners that go row by row: of perceptrons, with a kernel too, Winnow, and stochastic steps.

    kind="run" is the run as small pictures, kind="update" one update before and after, kind="bound" the number of
    updates against what the theorem allows; kind="schedule" the guesses of a margin perceptron or the epsilons of
    Winnow, phase by phase, and kind="game" Winnow's last phase as a repeated game. `animate` writes a film.

    The first two need two columns; the bound is drawn for any number of them. An estimator that was not fitted with
    record=True runs once more; a `Trace` that was read from a file is drawn by `from_trace`.

    Parameters
    ----------
    run : Run
        The numbers of the picture; see `maxmargin.plots.updates`.

    Attributes
    ----------
    ax_, axes_, figure_ : the first axes, all of them, and the figure, once it is drawn

    Examples
    --------
    >>> from maxmargin import Perceptron, TraceDisplay
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], [0, 0, 1, 1]
    >>> model = Perceptron(record=True).fit(X, y)
    >>> TraceDisplay.from_estimator(model, X, y, kind="bound").figure_.savefig("bound.png")  # doctest: +SKIP
    """

    _scatter_kwargs: Mapping[str, Any] | None = None

    def __init__(self, run: Run) -> None:
        self.run = run

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        plane: int = 0,
        kind: str = "run",
        update: int = 1,
        panels: int = 6,
        ax: Axes | None = None,
        **look: Any,
    ) -> TraceDisplay:
        """Draw the run of a fitted estimator on the rows X with labels y.

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
        kind : {"run", "update", "bound", "schedule", "game"}, default="run"
            What is drawn.
        update : int, default=1
            Which update, of kind="update".
        panels : int, default=6
            How many moments, of kind="run".
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        **look
            `legend`, `title` and what else `plot` takes.

        Returns
        -------
        TraceDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        return cls(run_of(estimator, X, y, plane=plane)).plot(ax, kind=kind, update=update, panels=panels, **look)

    @classmethod
    def from_trace(
        cls, trace: Trace, *, kind: str = "run", update: int = 1, panels: int = 6, ax: Axes | None = None, **look: Any
    ) -> TraceDisplay:
        """Draw a recorded run, such as one that `Trace.from_json` has read: neither data nor estimator are needed.

        Parameters
        ----------
        trace : Trace
            A recorded run.
        kind : {"run", "update", "bound", "schedule", "game"}, default="run"
            What is drawn.
        update : int, default=1
            Which update, of kind="update".
        panels : int, default=6
            How many moments, of kind="run".
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        **look
            `legend`, `title` and what else `plot` takes.

        Returns
        -------
        TraceDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        return cls(run_of_trace(trace)).plot(ax, kind=kind, update=update, panels=panels, **look)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: str = "run",
        update: int = 1,
        panels: int = 6,
        legend: Legend = True,
        title: str | None = None,
        scatter_kwargs: Mapping[str, Any] | None = None,
    ) -> TraceDisplay:
        """Draw into `ax` (or its place, where there are many panels), or into a new figure.

        `legend`, `title` and `scatter_kwargs` as in `StreetDisplay.plot`; panels have a title over all of them.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        kind : {"run", "update", "bound", "schedule", "game"}, default="run"
            What is drawn.
        update : int, default=1
            Which update, of kind="update".
        panels : int, default=6
            How many moments, of kind="run".
        legend : bool, str or dict, default=True
            Whether there is one, where, or what Matplotlib's `legend` takes.
        title : str, default=None
            In the place of ours; "" leaves it out.
        scatter_kwargs : dict, default=None
            For Matplotlib's `scatter`, which draws the samples.

        Returns
        -------
        TraceDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        self._scatter_kwargs = scatter_kwargs
        try:
            chosen = TraceKind(kind)
        except ValueError:
            known = ", ".join(repr(one.value) for one in TraceKind)
            raise ValueError(f"kind={kind!r} is not known; it can be {known}") from None
        if chosen is TraceKind.BOUND:
            self.axes_: NDArray[Any] = np.array([one_axes(ax, (7.5, 5.0))])
            self._draw_bound(legend, title)
        elif chosen in (TraceKind.SCHEDULE, TraceKind.GAME):
            self.axes_ = np.array([one_axes(ax, (7.5, 5.0))])
            (draw_schedule if chosen is TraceKind.SCHEDULE else draw_game)(self.axes_[0], self.run, legend, title)
        elif chosen is TraceKind.UPDATE:
            self._need_two_columns()
            self._draw_update(ax, update)
        else:
            self._need_two_columns()
            self._draw_run(ax, panels)
        self.ax_: Any = self.axes_[0]
        self.figure_: Figure = self.ax_.figure
        if chosen in (TraceKind.UPDATE, TraceKind.RUN):
            title_over(self.figure_, palette_of(self.ax_), title or "")
            if legend is not True:  # the panels speak for themselves
                legend_of(self.ax_, palette_of(self.ax_), legend)
        return self

    def animate(self, path: str | Path, *, seconds: float = 8.0) -> Path:
        """Write a film of the run: a GIF, or an MP4 where ffmpeg is installed.

        Parameters
        ----------
        path : str or path-like
            The file: .gif or .mp4.
        seconds : float, default=8
            How long it takes.

        Returns
        -------
        Path
            Where it was written.
        """
        from matplotlib.animation import FFMpegWriter, PillowWriter

        path = Path(path)
        self._need_two_columns()
        if path.suffix.lower() not in (".gif", ".mp4"):
            raise ValueError(f"a film is a .gif or an .mp4, not {path.name!r}")
        if path.suffix.lower() == ".mp4" and not FFMpegWriter.isAvailable():
            raise ValueError("an MP4 is written by ffmpeg, which is not installed here; a .gif needs nothing more")
        frames = mostly_early(len(self.run.update), MOST_FRAMES)
        pace = max(1, round(len(frames) / seconds))
        figure, ax = pyplot().subplots(figsize=(5.0, 5.4), dpi=80)
        writer = PillowWriter(fps=pace) if path.suffix.lower() == ".gif" else FFMpegWriter(fps=pace)
        try:
            with writer.saving(figure, str(path), 80):
                for _ in self._frames(ax, [*frames, *frames[-1:] * pace]):  # the last one stays for a second
                    writer.grab_frame()
        finally:
            pyplot().close(figure)
        return path

    def _frames(self, ax: Any, frames: list[int]) -> Iterator[int]:
        """The rows are drawn once; the ring and the two planes move."""
        run, points, box = self.run, self.run.X, self._box
        palette = self._draw_rows(ax, frames[0])
        [ring] = ax.collections[-1:]
        [before] = ax.plot([], [], color=palette.faint, linewidth=1.2, linestyle=DASHES, zorder=2)
        [after] = ax.plot([], [], color=palette.ink, linewidth=1.8, zorder=2)
        furnish(ax, palette)
        for k in frames:
            ring.set_offsets(points[run.at[k]])
            before.set_data(*strung(run.lines(run.before[k], float(run.b_before[k]), box)).T)
            after.set_data(*strung(run.lines(run.after[k], float(run.b_after[k]), box)).T)
            ax.set_title(f"{run.noun} {run.update[k]} of {run.n_updates}\n{run.rule}", fontsize=10, color=palette.ink)
            yield k

    def _need_two_columns(self) -> None:
        if self.run.X.shape[1] != 2:
            raise ValueError(
                f'planes that move are drawn in two columns; these data have {self.run.X.shape[1]}. kind="bound" '
                "draws the run against its theorem for any number of columns"
            )

    def _draw_run(self, ax: Axes | None, panels: int) -> None:
        shown = mostly_early(len(self.run.update), max(1, panels))
        columns = min(3, len(shown))
        rows = -(-len(shown) // columns)
        grid = many_axes(ax, rows, columns, (3.0 * columns, 3.2 * rows + 0.5))
        for spare in grid.ravel()[len(shown) :]:
            spare.set_axis_off()
        self.axes_ = grid.ravel()[: len(shown)]
        for panel, k in zip(self.axes_, shown, strict=True):
            palette = self._draw_rows(panel, k)
            self._draw_plane(panel, palette, k, after=False, faint=True)
            self._draw_plane(panel, palette, k, after=True)
            furnish(panel, palette, f"{self.run.noun} {self.run.update[k]}")
            panel.set_xticks([])
            panel.set_yticks([])

    def _draw_update(self, ax: Axes | None, update: int) -> None:
        matching = np.flatnonzero(self.run.update == update)
        if len(matching) == 0:
            kept = ", ".join(map(str, self.run.update[:8].tolist()))
            raise ValueError(
                f"{self.run.noun} {update} is not in the record, which has {kept} ... {self.run.update[-1]}"
            )
        k = int(matching[0])
        self.axes_ = many_axes(ax, 1, 2, (9.0, 5.2))[0]
        for panel, after in zip(self.axes_, (False, True), strict=True):
            palette = self._draw_rows(panel, k)
            if after:
                self._draw_plane(panel, palette, k, after=False, faint=True)
            self._draw_plane(panel, palette, k, after)
            sign, row = int(self.run.signs[self.run.at[k]]), int(self.run.row[k])
            value = self._value(k, after)
            when = f"{'after' if after else 'before'} {self.run.noun} {update}"
            furnish(panel, palette, f"{when}\nrow {row} (y = {sign:+d}) has y (w.x + b) = {value:.4g}")
        self.axes_[0].set_xlabel(self.run.rule, fontsize=size_of("axes.labelsize", 9))

    def _value(self, k: int, after: bool) -> float:
        """y (w.x + b) of the row of this update."""
        run, at = self.run, int(self.run.at[k])
        w, b = (run.after[k], run.b_after[k]) if after else (run.before[k], run.b_before[k])
        return float(run.signs[at] * run.value(w, float(b), run.X[at : at + 1])[0])

    def _draw_rows(self, ax: Any, k: int) -> Palette:
        """All rows, and a ring around the one of this update."""
        palette, points, box = palette_of(ax), self.run.X, self._box
        draw_rows(ax, palette, points, self.run.signs, self.run.names, scatter_kwargs=self._scatter_kwargs)
        place = points[self.run.at[k]]
        area = 170 * max(0.3, marks_for(ax, 1).scale)
        ax.scatter(*place, s=area, facecolors="none", edgecolors=palette.ink, linewidths=1.5, zorder=4)
        ax.set_xlim(box.left, box.right)
        ax.set_ylim(box.bottom, box.top)
        ax.set_aspect("equal" if box.right - box.left == box.top - box.bottom else "auto")
        return palette

    @property
    def _box(self) -> Box:
        return box_around(self.run.X)

    def _draw_plane(self, ax: Any, palette: Palette, k: int, after: bool, faint: bool = False) -> None:
        run = self.run
        w, b = (run.after[k], run.b_after[k]) if after else (run.before[k], run.b_before[k])
        line = strung(run.lines(w, float(b), self._box))
        style: dict[str, Any] = {"color": palette.faint, "linestyle": DASHES} if faint else {"color": palette.ink}
        if len(line):
            ax.plot(*line.T, linewidth=1.2 if faint else 1.8, zorder=2, label="before" if faint else "plane", **style)

    def _draw_bound(self, legend: Legend, title: str | None) -> None:
        ax, run = self.axes_[0], self.run
        palette = palette_of(ax)
        if run.progress == 0.0 and not np.any(np.isfinite(run.margin_bound)):
            raise ValueError(
                "stochastic steps bound no margin on their way; ConvergenceDisplay shows their gap closing"
            )
        end = float(run.n_updates) if run.theorem is None else max(float(run.n_updates), run.theorem.bound)
        end = end if np.isfinite(end) else float(run.n_updates)
        if run.progress > 0.0:
            t = np.geomspace(1.0, 1.3 * end, 200)
            ax.plot(t, np.sqrt(t) * run.radius, color=palette.ink, linewidth=1.2, label="at most R sqrt(t)")
            ax.plot(t, t * run.progress, color=palette.ink, linewidth=1.2, linestyle=DASHES, label="at least g t")
            height, name = run.norm, "|w| after t updates"
        else:
            height = np.minimum.accumulate(run.margin_bound)
            name = f"no margin of the {run.bounded} is above this, after t updates"
        style: dict[str, Any] = {"color": palette.accent, "linewidth": 2.0, "marker": "o", "markersize": 3.0}
        ax.plot(run.update, height, label=name, **style)
        if run.theorem is not None and np.isfinite(run.theorem.bound):
            label = f"the theorem allows {run.theorem.bound:,.0f} updates"
            ax.axvline(run.theorem.bound, color=palette.warning, linewidth=2.0, linestyle=(0, (1, 1.5)), label=label)
        ax.set_xscale("log")
        ax.set_yscale("log")
        named = titled(self.title, title)
        furnish(ax, palette, named, "updates t", "length of the weights" if run.progress > 0.0 else "margin")
        legend_of(ax, palette, legend, loc="best")

    @property
    def title(self) -> str:
        """How many updates there were, and what the theorem says."""
        count, theorem = self.run.n_updates, self.run.theorem
        if theorem is None:
            return f"{count:,} updates\nstopped before it was done: no theorem speaks"
        return f"{count:,} updates, at most {theorem.bound:,.0f} are possible\n{theorem.name}"


def mostly_early(count: int, most: int) -> list[int]:
    """At most so many of 0, 1, ..., count - 1, with the first and the last, more of them early: much happens there."""
    if count <= most:
        return list(range(count))
    chosen = {round(x) - 1 for x in np.geomspace(1, count, most)}
    spare = [k for k in range(count) if k not in chosen]
    return sorted([*chosen, *spare[: most - len(chosen)]])


def strung(lines: tuple[Points, ...]) -> Points:
    """Lines as one, with a gap between each two."""
    gap = np.full((1, 2), np.nan)
    parts = [part for line in lines for part in (gap, line)][1:]
    return np.concatenate(parts) if parts else np.zeros((0, 2))
