"""How a fit closed in on its answer: what was proven after each round, measured by the judge's own code.

The estimator is copied and fitted once more, and every iterate of its solver is kept (`run.recorder`). Afterwards each
is measured on all rows: what its plane is worth, and what its weights prove. As in a fit, the best plane and the best
weights so far count, and they need not come together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from maxmargin.certificates import kernel_duality, kernel_separation
from maxmargin.certificates.duality import OUTWARDS, dual_value, primal_value
from maxmargin.certificates.measure import hull_distance, plane_margin
from maxmargin.certificates.passes import values_of
from maxmargin.data.matrix import Vector, in_safe_range
from maxmargin.estimators.base import table_of
from maxmargin.estimators.convergence import collected
from maxmargin.estimators.no_plane import NoPlaneError
from maxmargin.problems.statement import KernelMargin, Separation, SoftMargin, best_bias
from maxmargin.run.recorder import Moment, recorded

PATIENCE = 60.0  # seconds: a shorter fit is made twice, because the first time its loops may have been compiled


@dataclass(frozen=True, eq=False)
class Rounds:
    """What was proven after each round of a two-class problem.

    quantity         "objective", which a soft margin lowers, or "margin", which a hard one raises
    lower, upper     the best value of any plane lies between them
    seconds          since the first round
    sweeps, updates  so far
    """

    quantity: str
    lower: Vector
    upper: Vector
    seconds: Vector
    sweeps: Vector
    updates: Vector

    @property
    def gap(self) -> Vector:
        """(upper - lower) / upper: at most 1, which is what nothing proves."""
        with np.errstate(invalid="ignore", divide="ignore"):
            gap = (self.upper - self.lower) / self.upper
        return np.where(np.isfinite(gap), np.clip(gap, 0.0, 1.0), 1.0)

    @property
    def found(self) -> Vector:
        """What the best plane so far is worth: the upper bound of an objective, the lower bound of a margin."""
        return self.upper if self.quantity == "objective" else self.lower

    @property
    def proven(self) -> Vector:
        """What the best weights so far prove that no plane can pass."""
        return self.lower if self.quantity == "objective" else self.upper


def rounds_of(estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, limit: int = 200) -> Rounds:
    """The rounds of a fit of this estimator to two classes.

    >>> from maxmargin import LinearSVM
    >>> found = rounds_of(LinearSVM(C=10), [[0, 0], [0, 2], [3, 0], [5, 1]], [0, 0, 1, 1])
    >>> found.quantity, bool(found.gap[-1] <= 1e-4)
    ('objective', True)
    """
    copy = clone(estimator)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    for _ in range(2):
        with recorded(limit) as recorder, collected():
            try:
                certificate = copy.fit(X, y, **weights).certificate_
            except NoPlaneError as error:
                certificate = error.certificate
        ended = recorder.elapsed
        if ended > PATIENCE:
            break
    if hasattr(certificate, "parts"):
        raise ValueError(f"there are {len(certificate)} two-class problems; follow one: choose two classes, or a rest")
    if not recorder.moments:
        raise ValueError(f"{type(estimator).__name__} was done before its first round: there is nothing to follow")
    problem = recorder.moments[0].problem
    moments = [moment for moment in recorder.moments if moment.problem is problem]
    hard = isinstance(problem, Separation) or getattr(problem, "is_hard", False)
    scale = in_safe_range(table_of(copy, X, y).X).scale if not isinstance(problem, KernelMargin) else 1.0
    bounds = np.array([measured(moment, copy, scale) for moment in moments])
    if isinstance(problem, KernelMargin) and hard:
        bounds = np.array([[kernel_margin(upper), kernel_margin(lower)] for lower, upper in bounds])
    ends = [certificate.margin_lower, certificate.margin_upper] if hard else [certificate.dual, certificate.primal]
    if ends[0] <= ends[1] and np.all(np.isfinite(ends)):  # the last round: what the fit proved in the end
        bounds = np.vstack([bounds, ends])
        moments.append(moments[-1]._replace(seconds=ended))
    return Rounds(
        "margin" if hard else "objective",
        np.maximum.accumulate(bounds[:, 0]),
        np.minimum.accumulate(bounds[:, 1]),
        np.array([moment.seconds - moments[0].seconds for moment in moments]),
        np.array([moment.iterate.sweeps for moment in moments]),
        np.array([moment.iterate.updates for moment in moments]),
    )


def kernel_margin(objective: float) -> float:
    """1 / |w| from 1/2 |w|^2."""
    return float(np.sqrt(0.5 / objective)) if objective > 0.0 else np.inf


def measured(moment: Moment, fitted: Any, scale: float) -> tuple[float, float]:
    """What the best value of any plane is surely above, and surely below, in the units of the user."""
    problem, iterate = moment.problem, moment.iterate
    w, b, a = iterate.w, iterate.b, iterate.a
    if isinstance(problem, KernelMargin):
        kernel = kernel_duality.measure(problem, np.clip(a, 0.0, problem.costs))
        return kernel.lower, kernel.upper
    if isinstance(problem, SoftMargin):
        w = np.where(np.isfinite(w), w, 0.0)
        values = values_of(problem.table, w)
        primal = primal_value(problem, w, best_bias(problem, values), values=values)
        dual = dual_value(problem, np.clip(a, 0.0, problem.upper))
        return dual.lower * scale * scale, primal.upper * scale * scale
    assert isinstance(problem, Separation)
    if len(w) == 0:  # a plane in the space of a kernel
        points, signs = fitted._kernel.points(problem.X), problem.signs
        plane = kernel_separation.measure(fitted._kernel, points, signs, a, problem.fit_intercept)
        return max(0.0, plane.lower(OUTWARDS)), plane.upper(OUTWARDS)
    rows = np.flatnonzero(a)
    norm = problem.norm.value
    lower = plane_margin(problem.X, problem.signs, w, b, norm).lower
    upper = hull_distance(problem.X[rows], problem.signs[rows], a[rows], norm, problem.fit_intercept).upper
    return max(0.0, lower) / scale, upper / scale
