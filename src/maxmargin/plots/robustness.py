"""How the accuracy falls as rows are moved: the proven share of rows that stay right within each radius."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.certificates.words import rounded_down
from maxmargin.estimators.robustness import Robustness, robustness
from maxmargin.plots.style import DASHES, Legend, Palette, furnish, legend_of, one_axes, palette_of, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOM = 1.04  # to the right of the farthest row
LINES: tuple[Any, ...] = ("solid", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 1.5, 1.5, 1.5)))
WHERE = {"l2": "radius of perturbation, its length", "linf": "radius of perturbation, its largest entry"}


class RobustnessDisplay:
    """The accuracy over the radius of perturbation, of one model or of several side by side.

    A line is the share of rows that are classified right and stay so, whatever perturbation of at most this radius they
    get. It is exact for planes, and a lower bound for kernels and for classes in pairs, which its name says.

    Parameters
    ----------
    answers : dict
        The `Robustness` of each model, by its name.

    Attributes
    ----------
    ax_, figure_ : the Matplotlib axes and figure, once it is drawn

    Examples
    --------
    >>> from maxmargin import HardMarginSVM, RobustnessDisplay
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], [0, 0, 1, 1]
    >>> display = RobustnessDisplay.from_estimator(HardMarginSVM().fit(X, y), X, y)  # doctest: +SKIP
    >>> display.figure_.savefig("robustness.png")  # doctest: +SKIP
    """

    def __init__(self, answers: Mapping[str, Robustness]) -> None:
        self.answers = dict(answers)
        norms = {answer.norm for answer in self.answers.values()}
        if len(norms) != 1:
            raise ValueError(f"one picture shows perturbations of one norm, not of {sorted(norms) or 'none'}")
        self.norm = norms.pop()

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, norm: str = "l2", ax: Axes | None = None, **look: Any
    ) -> RobustnessDisplay:
        """Of a fitted model, or of several in a dict by their names, on the rows X with labels y.

        Parameters
        ----------
        estimator : a fitted classifier, or a dict of these
            By their names.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.
        norm : {"l2", "linf"}, default="l2"
            Of the perturbation.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        **look
            `legend`, `title` and what else `plot` takes.

        Returns
        -------
        RobustnessDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        models = estimator if isinstance(estimator, Mapping) else {type(estimator).__name__: estimator}
        return cls({str(name): robustness(model, X, y, norm=norm) for name, model in models.items()}).plot(ax, **look)

    @classmethod
    def from_robustness(
        cls, answer: Robustness | Mapping[str, Robustness], *, ax: Axes | None = None, **look: Any
    ) -> RobustnessDisplay:
        """Of what `robustness` found; of several models, a dict of these by their names.

        Parameters
        ----------
        answer : Robustness or dict of Robustness
            By the names of the models.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: a new figure.
        **look
            `legend`, `title` and what else `plot` takes.

        Returns
        -------
        RobustnessDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        return cls(answer if isinstance(answer, Mapping) else {answer.model: answer}).plot(ax, **look)

    def plot(self, ax: Axes | None = None, *, legend: Legend = True, title: str | None = None) -> RobustnessDisplay:
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
        RobustnessDisplay
            `ax_` and `figure_` are Matplotlib's.
        """
        self.ax_: Any = one_axes(ax, (7.5, 4.6))
        self.figure_: Figure = self.ax_.figure
        palette = palette_of(self.ax_)
        right = self.farthest_shown
        colours = (palette.accent, palette.warning, palette.ink)
        for number, (name, answer) in enumerate(self.answers.items()):
            self._draw(palette, name, answer, right, colours[number % 3], LINES[number % 4])
        furnish(self.ax_, palette, titled(self.title, title), WHERE[self.norm], "rows that stay right")
        self.ax_.set_xlim(0.0, right)
        self.ax_.set_ylim(0.0, 1.03)
        self.ax_.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        self.ax_.grid(axis="y", color=palette.street, linewidth=0.8)
        self.ax_.set_axisbelow(True)
        legend_of(self.ax_, palette, legend, loc="upper right")
        return self

    def _draw(
        self, palette: Palette, name: str, answer: Robustness, right: float, colour: str, dashes: Any
    ) -> None:  # fmt: skip
        found = answer.curve()
        radii, accuracy = np.append(found.radii, right), np.append(found.accuracy, found.accuracy[-1])
        label = name if answer.is_exact else f"{name}, at least"
        self.ax_.plot(
            radii, accuracy, drawstyle="steps-post", color=colour, linewidth=1.8, linestyle=dashes, label=label
        )
        if len(self.answers) == 1:
            self.ax_.axhline(
                answer.accuracy,
                color=palette.faint,
                linewidth=1.2,
                linestyle=DASHES,
                label="rows as they are",
                zorder=1,
            )

    @property
    def farthest_shown(self) -> float:
        """Beyond the farthest row of all models, where that is not infinitely far."""
        distances = np.concatenate([answer.distances for answer in self.answers.values()])
        finite = distances[(distances > 0.0) & (distances < math.inf)]
        return ROOM * float(finite.max()) if len(finite) else 1.0

    @property
    def title(self) -> str:
        """Within which radius half of the rows stay right."""
        lines = ["Rows that stay right when they are moved"]
        if len(self.answers) == 1:
            [answer] = self.answers.values()
            half = float(np.sort(answer.distances)[(len(answer) - 1) // 2])
            if half > 0.0:
                lines.append(
                    f"half of {len(answer):,} rows within {rounded_down(half, 4)}; all that is drawn is proven"
                )
        return "\n".join(lines)
