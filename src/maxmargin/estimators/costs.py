"""What a row costs: C times the weight of its class times its own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from maxmargin.data.matrix import Vector
from maxmargin.estimators.base import Table
from maxmargin.estimators.declarations import CLASS_WEIGHT
from maxmargin.problems.multiclass import TwoClasses, plain

ClassWeight = tuple[tuple[Any, float], ...]  # pairs (label, weight); none if every weight is 1


def class_weights(class_weight: Any, table: Table) -> ClassWeight:
    """The weights of the classes, from None, a dict or "balanced"."""
    if class_weight is None:
        return ()
    CLASS_WEIGHT.check("class_weight", class_weight)
    classes, codes = table.labels
    counting = codes >= 0
    if isinstance(class_weight, str) and class_weight == "balanced":
        # Weighted rows are counted by their weight, whichever release of scikit-learn is installed.
        totals = np.bincount(codes[counting], None if table.weights is None else table.weights[counting], len(classes))
        weights = totals.sum() / (len(classes) * totals)
    else:
        weights = compute_class_weight(class_weight, classes=classes, y=classes[codes[counting]])
    if not np.all((weights > 0.0) & (weights < math.inf)):
        wrong = int(np.argmin((weights > 0.0) & (weights < math.inf)))
        raise ValueError(
            f"class_weight must be positive and finite; class {plain(classes[wrong])!r} has {weights[wrong]}. "
            "To leave a class out, leave its rows out."
        )
    return tuple((plain(label), float(weight)) for label, weight in zip(classes, weights, strict=True))


def weights_of_rows(table: Table, class_weight: ClassWeight) -> Vector | None:
    """The weight of each row: its class's times its own; None if all are 1."""
    if not class_weight:
        return table.weights
    of_class = np.array([weight for _, weight in class_weight])
    weights = of_class[np.maximum(table.labels.codes, 0)]
    return weights if table.weights is None else weights * table.weights


def prices(C: float, two: TwoClasses) -> Vector:
    """C_i of each row, which float64 must be able to hold."""
    if two.weights is None:
        return np.full(two.X.shape[0], C)
    with np.errstate(over="ignore"):
        costs = C * two.weights
    wrong = ~((costs > 0.0) & (costs < math.inf))
    if np.any(wrong):
        row = int(np.argmax(wrong))
        raise ValueError(
            f"C times the weight of row {two.rows[row]} is {C:g} * {two.weights[row]:g}, which float64 cannot hold"
        )
    return costs
