"""How a fit closed in on its answer: what was proven after each round, measured by the judge's own code.

The estimator is copied and fitted once more, and every iterate of its solver is kept (`run.observation`). Afterwards
each is measured on all rows (`solve.rounds`): what its plane is worth, and what its weights prove.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from maxmargin.data.table import Vector, in_safe_range
from maxmargin.estimators.base import table_of
from maxmargin.estimators.no_plane import NoPlaneError
from maxmargin.problems.statement import KernelMargin, Separation
from maxmargin.run.control import collected
from maxmargin.run.observation import recorded
from maxmargin.solve.rounds import judged

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
    if (n_parts := len(certificate.parts)) > 1:
        raise ValueError(f"there are {n_parts} two-class problems; follow one: choose two classes, or a rest")
    if not recorder.moments:
        raise ValueError(f"{type(estimator).__name__} was done before its first round: there is nothing to follow")
    problem = recorder.moments[0].problem
    moments = [moment for moment in recorder.moments if moment.problem is problem]
    hard = isinstance(problem, Separation) or getattr(problem, "is_hard", False)
    iterates = [moment.iterate for moment in moments]
    rounds = judged(problem, iterates, kernel=getattr(copy, "_kernel", None))
    bounds = np.array([[found.lower, found.upper] for found in rounds])
    if not isinstance(problem, KernelMargin):  # in the units of the user
        scale = in_safe_range(table_of(copy, X, y).X).scale
        bounds = bounds / scale if hard else bounds * scale * scale
    elif hard:
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
