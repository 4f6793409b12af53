"""What differs between the releases of scikit-learn that are supported, in one place.

Callbacks came with 1.9: before, an estimator is one without them. Balanced class weights that count sample weights
came with 1.7: before, scikit-learn's own estimators counted rows.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight

__all__ = ["CallbackSupportMixin", "class_weights_like_theirs", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands for scikit-learn's, which the installed release does not have."""

    def with_callbacks(fit: Any) -> Any:
        """The method as it is."""
        return fit


_COUNTS_SAMPLE_WEIGHT = "sample_weight" in inspect.signature(compute_class_weight).parameters


def class_weights_like_theirs(
    class_weight: Any, classes: NDArray[Any], y: NDArray[Any], sample_weight: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """The weight of each class as the installed scikit-learn gives it to its own estimators."""
    counted = {"sample_weight": sample_weight} if _COUNTS_SAMPLE_WEIGHT else {}
    return np.asarray(compute_class_weight(class_weight, classes=classes, y=y, **counted), dtype=np.float64)
