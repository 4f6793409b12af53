"""A native fit in the place of libsvm's or liblinear's: which gap is asked for, and how it ended.

scikit-learn's `tol` bounds what the conditions of optimality miss, ours the relative gap of the objective. The gap
falls with the square of what they miss, so that a much smaller number asks for about as much.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.checking import Labels, canonical, encode_labels
from maxmargin.data.table import largest_magnitude
from maxmargin.estimators.convergence import Ending
from maxmargin.estimators.parameters import check_parameters
from maxmargin.problems.statement import TrainingSet
from maxmargin.run.control import Status, collected, now, tell_of

LEAST_GAP, LARGEST_GAP = 1e-10, 1e-6  # that are asked for: no more than float64 can prove, no less than libsvm reaches
ENOUGH = 1e-4  # a gap at which rounding errors may end a fit without a warning: certificate_ says it


def gap_for(tol: float) -> float:
    return min(max(tol, LEAST_GAP), LARGEST_GAP)


def class_weight_of(classes: NDArray[Any], weights: NDArray[np.float64]) -> dict[Any, float] | None:
    """As the native estimators want it; None where all are 1."""
    return None if np.all(weights == 1.0) else dict(zip(classes.tolist(), weights.tolist(), strict=True))


def counted(sample_weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """As in libsvm and liblinear, negative weights count as 0."""
    return np.maximum(sample_weight, 0.0)


def refuse_missing_classes(classes: NDArray[Any], fitted: NDArray[Any]) -> None:
    if len(fitted) < len(classes):
        missing = np.setdiff1d(classes, fitted)[0]
        raise ValueError(f"all samples of the class {missing!r} have zero or negative weights")


def checked(
    X: Any, classes: NDArray[Any], codes: NDArray[Any], sample_weight: NDArray[np.float64] | None
) -> TrainingSet:  # fmt: skip
    """What scikit-learn has checked already, as the native estimators have it after their own checks."""
    begun, X = now(), canonical(X)
    if sample_weight is None or np.all(sample_weight > 0.0):
        labels = Labels(classes, codes)
    else:
        labels = encode_labels(classes[codes], sample_weight)
    return TrainingSet(X, labels, sample_weight, largest_magnitude(X), begun)


def fit_native(svc: Any, native: Any, fit: Callable[[], Any]) -> bool:
    """Whether `max_iter` ended it before the proof, for which scikit-learn has its own words. Where rounding errors end
    the fit, the user's estimator warns here."""
    with collected() as ends, np.errstate(under="ignore"):  # 0 is near enough, whatever the user says
        check_parameters(native)
        fit()
    early = [end for end in ends if end.is_early]
    far = [end for end in early if end.status is not Status.BUDGET and not end.gap <= ENOUGH]
    if far:
        tell_of(Ending(type(svc).__name__, svc.get_params(deep=False), far))
    return any(end.status is Status.BUDGET for end in early)
