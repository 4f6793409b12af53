"""Labels: any two or more values in, sorted classes and their codes out; and the weights of the rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from maxmargin.data.frames import PLAIN, array_of
from maxmargin.data.matrix import labels_in, refuse_what_float64_cannot_hold


class Labels(NamedTuple):
    """classes[codes] is y; the classes are sorted, as scikit-learn sorts them. A row that does not count has -1."""

    classes: NDArray[Any]
    codes: NDArray[np.intp]


def encode_labels(y: NDArray[Any], weights: NDArray[np.float64] | None = None) -> Labels:
    """The classes of y and each row's code; one class alone is an error. Rows of weight zero do not count."""
    if weights is not None and not np.all(weights > 0.0):
        counting = np.flatnonzero(weights > 0.0)
        classes, codes = encode_labels(y[counting])
        all_codes = np.full(len(y), -1, dtype=np.intp)
        all_codes[counting] = codes
        return Labels(classes, all_codes)
    labels = encode_two_numbers(y)
    if labels is None:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        labels = Labels(classes, codes.astype(np.intp, copy=False))
    require_two_classes(labels.classes)
    return labels


def encode_two_numbers(y: NDArray[Any]) -> Labels | None:
    """Two whole numbers, the usual case, without sorting; None for everything else."""
    if y.ndim != 1 or y.size == 0 or y.dtype.kind not in "iufb":
        return None
    low, high = y.min(), y.max()
    is_high = y == high
    if low == high or not (float(low).is_integer() and float(high).is_integer()):
        return None
    if not np.all(is_high | (y == low)):
        return None
    return Labels(np.array([low, high]), is_high.astype(np.intp))


def require_two_classes(classes: NDArray[Any]) -> None:
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only ({classes.tolist()[0]!r} in every row that counts): "
            "a plane needs rows of at least two classes to separate."
        )


def check_labels(y: Any, n_rows: int) -> NDArray[Any]:
    """One label for each row, of a kind that `fit` takes: words, whole numbers, truth values."""
    labels: NDArray[Any] = np.asarray(labels_in(y))
    if labels.shape != (n_rows,):
        raise ValueError(f"X has {n_rows} rows but y has the shape {labels.shape}")
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: y holds complex numbers, which are no labels")
    if labels.dtype.kind == "f":
        whole = np.isfinite(labels) & (labels == np.floor(labels))
        if not np.all(whole):
            row = int(np.argmin(whole))
            raise ValueError(f"row {row} has the label {labels[row]}: a label must be a word or a whole number")
    return labels


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """One finite weight >= 0 for each row, not all zero."""
    sample_weight = sample_weight if isinstance(sample_weight, PLAIN) else array_of(sample_weight)
    given = np.asarray(sample_weight)
    if given.dtype.kind == "c":
        raise ValueError("Complex data not supported: sample_weight holds complex numbers")
    if given.dtype.kind in "Mm":
        raise ValueError("sample_weight holds dates or times, which are no weights")
    refuse_what_float64_cannot_hold(sample_weight if isinstance(sample_weight, list | tuple) else given)
    weights = given.astype(np.float64, copy=False)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight has the shape {weights.shape}, but X has {n_rows} rows: one weight for each")
    wrong = ~((weights >= 0.0) & (weights < np.inf))
    if np.any(wrong):
        row = int(np.argmax(wrong))
        raise ValueError(f"sample_weight must not hold NaN, infinity or negative values: row {row} has {weights[row]}")
    if not np.any(weights > 0.0):
        raise ValueError("sample_weight is zero for every row: nothing is left to separate")
    return weights


def labels_of_a_batch(y: NDArray[Any], classes: Any, known: NDArray[Any] | None) -> Labels:
    """The labels of one batch of a stream: among those that are known, or listed in `classes` in the first call."""
    if known is None:
        if classes is None:
            raise ValueError("the first call of partial_fit needs classes=, all labels that will ever come")
        known = encode_labels(np.asarray(classes)).classes
    elif classes is not None and not np.array_equal(np.unique(classes), known):
        raise ValueError(f"classes={list(classes)} differ from those of the first call, {known.tolist()}")
    codes = np.searchsorted(known, y).clip(0, len(known) - 1)
    unseen = known[codes] != y
    if np.any(unseen):
        row = int(np.argmax(unseen))
        raise ValueError(
            f"row {row} has the label {y[row : row + 1].tolist()[0]!r}, which is not among classes={known.tolist()}"
        )
    return Labels(known, codes)
