"""The numbers of a run that learns by mistakes: each update's row and planes, and the theorem that bounds their count.

Novikov's argument in two lines [novikov1962], for lifted rows of length at most R and a plane of margin g:

    |w_t| >= t g         every update moves w by at least g along the best direction
    |w_t| <= sqrt(t) R   and adds at most R^2 to its squared length, because the row was a mistake

A line and a root cannot stay in this order for ever: they cross at t = R^2 / g^2, and no run gets farther.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from maxmargin.certificates.proof import TheoremBound
from maxmargin.certificates.theorems import lifted_margin, lifted_ratio
from maxmargin.data.table import Vector, in_safe_range, largest_magnitude
from maxmargin.estimators.convergence import collected
from maxmargin.estimators.perceptrons import MistakeDriven, Perceptron
from maxmargin.estimators.winnow import Winnow
from maxmargin.plots.planes import Plane, plane_of
from maxmargin.problems.trace import Trace


@dataclasses.dataclass(frozen=True, eq=False)
class Run:
    """A recorded run of a mistake-driven learner on one two-class problem.

    plane          the plane that it ended with
    rule           what an update does, in a line
    update         the numbers of the updates that were kept, from 1
    row            the row of X that caused each
    violation      y (w.x + b) before it, or the distance that was too short
    before, after  w of each plane, a line for each, in the units of X
    b_before, b_after   their biases
    norm           the length of the lifted weights, divided by the rate
    margin_bound   what the updates so far prove that no margin is above
    n_updates      of the whole run
    theorem        the bound of the number of updates; None if the run was stopped, and no theorem speaks
    progress       g: every update of a perceptron moves w by so much in the right direction; 0 for others
    radius         R: the length of the longest lifted row; 0 for others
    """

    plane: Plane
    rule: str
    update: NDArray[np.int64]
    row: NDArray[np.int64]
    violation: Vector
    before: NDArray[np.float64]
    b_before: Vector
    after: NDArray[np.float64]
    b_after: Vector
    norm: Vector
    margin_bound: Vector
    n_updates: int
    theorem: TheoremBound | None
    progress: float = 0.0
    radius: float = 0.0


def run_of(estimator: Any, X: Any, y: Any, *, plane: int = 0) -> Run:
    """The run of a fitted learner: as it was recorded, or else a copy of it runs once more, and is recorded."""
    if not isinstance(estimator, MistakeDriven):
        raise ValueError(
            f"updates are recorded by Perceptron, MarginPerceptron and Winnow; {type(estimator).__name__} takes other "
            "steps: ConvergenceDisplay follows its rounds"
        )
    if not hasattr(estimator, "trace_"):
        with collected():  # how it ended was said of the estimator that is drawn
            estimator = clone(estimator).set_params(record=True).fit(X, y)
    found = plane_of(estimator, X, y, plane=plane)
    traces = estimator.trace_ if isinstance(estimator.trace_, list) else [estimator.trace_]
    trace: Trace = traces[plane]
    if len(trace) == 0:
        raise ValueError("the run made no update: there is nothing to draw")
    columns = trace.to_arrays()
    ours = np.flatnonzero(found.signs)
    table, signs = found.X[ours], found.signs[ours]
    scale = in_safe_range(table).scale
    unit = 1.0 / largest_magnitude(table) if isinstance(estimator, Winnow) else scale
    d, theorem = table.shape[1], next((one for one in found.certificate.theorems if one.at_most), None)
    rate = float(getattr(estimator, "rate", 1.0))
    bias = bool(estimator.fit_intercept)
    run = Run(
        plane=found,
        rule=rule_of(estimator),
        update=columns["update"],
        row=ours[columns["row"]],
        violation=columns["violation"],
        before=columns["before"][:, :d] * unit,
        b_before=columns["before"][:, d] if bias else np.zeros(len(trace)),
        after=columns["after"][:, :d] * unit,
        b_after=columns["after"][:, d] if bias else np.zeros(len(trace)),
        norm=columns["norm"] / rate,
        margin_bound=columns["margin_bound"],
        n_updates=trace.n_updates,
        theorem=theorem,
    )
    if not isinstance(estimator, Perceptron) or theorem is None:
        return run
    w, b = np.asarray(found.w), found.b
    if theorem.plane:  # whose margin the bound is from
        w, b = np.array(theorem.plane[:-1]), theorem.plane[-1]
    progress = lifted_margin(table, signs, w, b, bias)
    return dataclasses.replace(
        run, progress=progress, radius=progress * lifted_ratio(table, signs, w, b, bias) if progress > 0.0 else 0.0
    )


def rule_of(estimator: MistakeDriven) -> str:
    if isinstance(estimator, Winnow):
        return "a mistake: the weights are multiplied"
    if isinstance(estimator, Perceptron):
        return "a mistake, y (w.x + b) <= 0: add y x to w, and y to b"
    return "too near to the plane: add y x to w, and y to b"
