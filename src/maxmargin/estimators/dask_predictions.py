"""Predictions of rows that Dask computes: lazy, block by block, wherever Dask computes them.

    of an array         an array with the same chunks of rows
    of a data frame     a series with the index of the rows; of a number for each class, a data frame

What is sent with them is what predictions are made of: no certificate, no dual variable.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from maxmargin.data.dask_rows import is_frame, refuse_cut_rows

OF_PLANES = ("classes_", "coef_", "intercept_", "_strategy", "n_features_in_", "feature_names_in_")


@dataclass(frozen=True, eq=False)
class OfBlock:
    """What a method of an estimator says of a block of rows; `nobody`: of none."""

    estimator: Any
    method: str
    nobody: NDArray[Any]

    @property
    def __name__(self) -> str:
        """As Dask shows it."""
        return self.method

    def __call__(self, block: Any) -> Any:
        found = getattr(self.estimator, self.method)(block) if block.shape[0] else self.nobody
        if not hasattr(block, "index"):
            return found
        if found.ndim == 1:
            return block._constructor_sliced(found, index=block.index)
        return block._constructor(found, index=block.index, columns=self.estimator.classes_)


def lazy(estimator: Any, method: str, X: Any) -> Any:
    """What `predict` or `decision_function` will say of the rows of X."""
    check_is_fitted(estimator, "classes_")
    refuse_cut_rows(X)
    rows = X._meta if is_frame(X) else np.empty((0, X.shape[1]))
    validate_data(estimator, X=rows, reset=False, skip_check_array=True)
    classes = estimator.classes_
    wide = method == "decision_function" and len(classes) > 2
    nobody: NDArray[Any] = np.empty(
        (0, len(classes)) if wide else 0, classes.dtype if method == "predict" else np.float64
    )
    of_block = OfBlock(light(estimator), method, nobody)
    if is_frame(X):
        return X.map_partitions(of_block, meta=of_block(X._meta))
    chunks = (X.chunks[0], (len(classes),)) if wide else None
    return X.map_blocks(of_block, dtype=nobody.dtype, meta=nobody, chunks=chunks, drop_axis=[] if wide else 1)


def light(estimator: Any) -> Any:
    """The estimator without what it does not predict by, if it is a plane between columns."""
    if getattr(estimator, "_kernel", None) is not None:
        return estimator
    twin = copy.copy(estimator)
    kept = {name: value for name, value in vars(estimator).items() if name in OF_PLANES}
    twin.__dict__ = {**estimator.get_params(deep=False), **kept}
    twin.__dict__.pop("client", None)
    return twin
