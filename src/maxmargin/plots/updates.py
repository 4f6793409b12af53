"""The numbers of a recorded run: each update's row and planes, and the theorem that bounds their count.

Novikov's argument in two lines [novikov1962], for lifted rows of length at most R and a plane of margin g:

    |w_t| >= t g         every update moves w by at least g along the best direction
    |w_t| <= sqrt(t) R   and adds at most R^2 to its squared length, because the row was a mistake

A line and a root cannot stay in this order for ever: they cross at t = R^2 / g^2, and no run gets farther.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from maxmargin.certificates.proof import TheoremBound
from maxmargin.data.table import Vector
from maxmargin.estimators.recording import RecordsUpdates
from maxmargin.plots.contours import Grid
from maxmargin.plots.geometry import part_of
from maxmargin.plots.shapes import Box, Points, one_line
from maxmargin.problems.kernels import KERNELS, KernelChoice
from maxmargin.problems.run_record import Phase, Subject
from maxmargin.problems.trace import Trace
from maxmargin.run.control import collected

MESH = 48  # squares along each side of a small picture

RULES = {
    "Perceptron": "a mistake, y (w.x + b) <= 0: add y x to w, and y to b",
    "MarginPerceptron": "too near to the plane: add y x to w, and y to b",
    "Winnow": "a mistake: the weights are multiplied",
    "KernelPerceptron": "a mistake, y w.phi(x) <= 0: its count grows by one",
    "StochasticSVM": "a visit: w shrinks; y (w.x + b) < 1: it moves by eta y x",
}


@dataclasses.dataclass(frozen=True, eq=False)
class Run:
    """A recorded run on one two-class problem.

    X, signs, names   the rows, +1 and -1, and what the two sides are called
    columns        names of the columns; none where they have none
    rule           what an update does, in a line
    noun           what it is called: an update, or a visit
    update         the numbers of the updates that were kept, from 1
    row            the row that caused each, in the table of the fit
    at             the same among the rows here
    violation      y (w.x + b) before it, or the distance that was too short
    before, after  w of each plane, a line for each, in the units of X; with a kernel the coefficients of the rows
    b_before, b_after   their biases
    norm           the length of the lifted weights, divided by the rate
    margin_bound   what the updates so far prove that no margin is above; NaN where they prove nothing
    bounded        whose margins these are: of the rows as the algorithm sees them
    n_updates      of the whole run
    theorem        the bound of the number of updates; None if the run was stopped, and no theorem speaks
    progress       g: every update of a perceptron moves w by so much in the right direction; 0 for others
    radius         R: the length of the longest lifted row; 0 for others
    phases         the runs of a search, each with the number that it tried; none where nothing is searched
    weights        m, the number of Winnow's weights; 0 for others
    values         with a kernel, w.phi(x) of other rows for given coefficients; None without one
    """

    X: NDArray[np.float64]
    signs: Vector
    names: tuple[str, str]
    columns: tuple[str, ...]
    rule: str
    noun: str
    update: NDArray[np.int64]
    row: NDArray[np.int64]
    at: NDArray[np.int64]
    violation: Vector
    before: NDArray[np.float64]
    b_before: Vector
    after: NDArray[np.float64]
    b_after: Vector
    norm: Vector
    margin_bound: Vector
    bounded: str
    n_updates: int
    theorem: TheoremBound | None
    progress: float
    radius: float
    phases: list[Phase]
    weights: int
    values: Callable[[Vector, Points], Vector] | None

    def value(self, w: Vector, b: float, points: Points) -> Vector:
        """w.x + b of these points, or w.phi(x) + b."""
        return (points @ w if self.values is None else self.values(w, points)) + b

    def lines(self, w: Vector, b: float, box: Box) -> tuple[Points, ...]:
        """Where the plane is in two columns; nowhere while w = 0."""
        if not np.any(w):
            return ()
        if self.values is None:
            return one_line(w, b, box)
        return tuple(Grid(lambda points: self.value(w, b, points), box, MESH).lines(0.0))


def run_of(estimator: Any, X: Any, y: Any, *, plane: int = 0) -> Run:
    """The run of a fitted learner: as it was recorded, or else a copy of it runs once more, and is recorded."""
    if not isinstance(estimator, RecordsUpdates):
        raise ValueError(
            f"updates are recorded by Perceptron, MarginPerceptron, Winnow, KernelPerceptron and StochasticSVM; "
            f"{type(estimator).__name__} takes other steps: ConvergenceDisplay follows its rounds"
        )
    part_of(estimator, plane)
    if not hasattr(estimator, "trace_"):
        with collected():  # how it ended was said of the estimator that is drawn
            estimator = clone(estimator).set_params(record=True).fit(X, y)
    traces = estimator.trace_ if isinstance(estimator.trace_, list) else [estimator.trace_]
    return run_of_trace(traces[plane])


def run_of_trace(trace: Trace) -> Run:
    """The run of a trace, which may come from a file."""
    about = trace.subject
    if about is None or len(trace) == 0:
        raise ValueError("the run made no update: there is nothing to draw")
    columns, d = trace.to_arrays(), about.X.shape[1]
    width = columns["after"].shape[1] - 1 if about.kernel else d
    unit = 1.0 if about.kernel else about.unit
    has_bias = columns["after"].shape[1] > width
    no_bias = np.zeros(len(trace))
    at = np.searchsorted(about.places, columns["row"]).clip(max=len(about.places) - 1)
    theorem = next((TheoremBound(**one) for one in about.theorems if one["at_most"]), None)
    return Run(
        X=about.X,
        signs=about.signs,
        names=about.names,
        columns=about.columns,
        rule=RULES.get(about.algorithm, about.algorithm),
        noun="visit" if about.algorithm == "StochasticSVM" else "update",
        update=columns["update"],
        row=about.rows[at],
        at=at,
        violation=columns["violation"],
        before=columns["before"][:, :width] * unit,
        b_before=columns["before"][:, width] if has_bias else no_bias,
        after=columns["after"][:, :width] * unit,
        b_after=columns["after"][:, width] if has_bias else no_bias,
        norm=columns["norm"] / float(about.parameters.get("rate", 1.0)),
        margin_bound=columns["margin_bound"],
        bounded=rows_seen(about),
        n_updates=trace.n_updates,
        theorem=theorem if theorem is not None and np.isfinite(theorem.bound) else None,
        progress=about.progress,
        radius=about.radius,
        phases=trace.phases,
        weights=weights_of(about, has_bias),
        values=values_of(about),
    )


def rows_seen(about: Subject) -> str:
    """What the algorithm makes of a row: with a bias one more coordinate, and in Winnow no number above 1."""
    has_bias = about.parameters.get("fit_intercept", True)
    if about.parameters.get("normalize_rows", False):
        return "lifted rows at length 1" if has_bias else "rows at length 1"
    if about.algorithm == "Winnow":
        return "rows (x/s, 1)" if has_bias else "rows x/s"
    return "lifted rows" if has_bias else "rows"


def weights_of(about: Subject, has_bias: bool) -> int:
    """m: two weights a column or, unbalanced, one; and two for the bias."""
    if about.algorithm != "Winnow":
        return 0
    columns = int(about.X.shape[1])
    return (2 * columns if about.parameters.get("balanced", True) else columns) + 2 * int(has_bias)


def values_of(about: Subject) -> Callable[[Vector, Points], Vector] | None:
    """w.phi(x) by the kernel of a run; a sentence where that is no formula, or where rows are missing."""
    if not about.kernel:
        return None
    kind = KERNELS.get(str(about.kernel.get("name")))

    def values(coefficients: Vector, points: Points) -> Vector:
        if kind is None or kind.is_code or kind.is_table or len(about.X) < about.n_rows:
            raise ValueError("the planes of this kernel are not drawn: its values, or some rows, are not in the record")
        kernel = KernelChoice(kind.name, *(about.kernel.get(name, 1) for name in ("gamma", "coef0", "degree"))).on(
            about.X
        )
        own = np.flatnonzero(coefficients)
        return np.asarray(kernel.values(kernel.points(points), kernel.points(about.X[own])) @ coefficients[own])

    return values
