"""A score as a probability.

    logistic              p(f) = 1 / (1 + exp(-f))                        from 0 to 1
    symmetric logistic    s(f) = (1 - exp(-f)) / (1 + exp(-f))            from -1 to 1

    s = 2 p - 1 = tanh(f / 2),     p(f) + p(-f) = 1,     s(-f) = -s(f)

Written as they stand, exp(-f) overflows for f < -709, and for small f the difference 1 - exp(-f) cancels. With
z = exp(-|f|) <= 1, p is 1 / (1 + z) on the one side and z / (1 + z) on the other; and s is a tanh.

The score of a margin classifier has no unit: that 1 is the edge of the street says nothing of how probable a row there
is. Probabilities that are meant as such are calibrated on rows that were held out (Platt):

    two classes     p(positive | f) = p(s f + t), for the numbers s, t that make the labels of held-out rows likeliest
    more            one such pair for each class against the rest, and the p_c divided by their sum

They are estimates: a certificate says nothing of them. See docs/probabilities.md.

Reference: [platt1999]; the fit of s and t is scikit-learn's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from maxmargin.run.control import collected, now


def logistic(f: Any) -> Any:
    """1 / (1 + exp(-f)), of a number or of each number in an array.

    Parameters
    ----------
    f : float or array-like
        Scores.

    Returns
    -------
    float or ndarray
        Between 0 and 1.

    Examples
    --------
    >>> from maxmargin import logistic
    >>> logistic(0.0), logistic(-1000.0), logistic(1000.0)
    (0.5, 0.0, 1.0)
    >>> logistic([-2.0, 2.0]).round(6).tolist()
    [0.119203, 0.880797]
    """
    scores = as_floats(f)
    z = np.exp(-np.abs(scores))
    return plain(np.where(scores >= 0.0, 1.0, z) / (1.0 + z))


def symmetric_logistic(f: Any) -> Any:
    """(1 - exp(-f)) / (1 + exp(-f)), of a number or of each number in an array.

    Parameters
    ----------
    f : float or array-like
        Scores.

    Returns
    -------
    float or ndarray
        Between -1 and 1.

    Examples
    --------
    >>> from maxmargin import symmetric_logistic
    >>> symmetric_logistic(0.0), symmetric_logistic(-1000.0), symmetric_logistic(1000.0)
    (0.0, -1.0, 1.0)
    >>> symmetric_logistic([1e-20, 2.0]).tolist()
    [5e-21, 0.7615941559557649]
    """
    return plain(np.tanh(0.5 * as_floats(f)))


@dataclass
class Calibration:
    """Platt's curve over the scores of a classifier: s and t of each class against the rest; of two classes, of the
    later one alone. `folds` are those whose held-out rows it was fitted to."""

    folds: int
    slopes: list[float]
    offsets: list[float]

    def probabilities(self, scores: Any) -> NDArray[np.float64]:
        """A line for each row, a column for each class; from what `decision_function` gives."""
        columns = np.asarray(scores, dtype=np.float64)
        columns = columns[:, None] if columns.ndim == 1 else columns
        with np.errstate(over="ignore"):  # beyond float64 a probability is 0 or 1
            found = np.asarray(logistic(columns * np.array(self.slopes) + np.array(self.offsets)))
        if found.shape[1] == 1:
            return np.hstack([1.0 - found, found])
        sums = found.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(sums > 0.0, found / sums, 1.0 / found.shape[1]))


class HeldOutScores(ClassifierMixin, BaseEstimator):
    """Stands for a classifier whose scores are known: the rows that it is given are their own scores."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HeldOutScores:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        scores = self.decision_function(X)
        return self.classes_[(scores >= 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def decision_function(self, X: Any) -> Any:
        return X[:, 0] if X.shape[1] == 1 else X


def calibrate(
    model: Any, X: Any, y: Any, sample_weight: Any = None, *, folds: int = 5, max_time: float | None = None
) -> Calibration:
    """Platt's curve for this classifier or Pipeline, by cross-validation: it is fitted anew without each fold.

    A class of fewer rows than folds makes the folds fewer; one of a single row cannot be held out, which is a
    ValueError. Rows of weight 0 do not count. With `max_time`, each fold has its share of the seconds.

    >>> from maxmargin import LinearSVM
    >>> from maxmargin.estimators.probability import calibrate
    >>> X, y = [[0.0], [1.0], [2.0], [2.5], [3.0], [4.0]], ["a", "a", "b", "a", "b", "b"]
    >>> calibration = calibrate(LinearSVM(), X, y, folds=3)
    >>> probabilities = calibration.probabilities(LinearSVM().fit(X, y).decision_function([[0.0], [4.0]]))
    >>> bool(probabilities[0, 0] > 0.5), bool(probabilities[1, 1] > 0.5)
    (True, True)
    """
    X, y = X if hasattr(X, "shape") else np.asarray(X), np.asarray(y)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    counting = np.arange(len(y)) if weights is None else np.flatnonzero(weights > 0.0)
    folds = checked_folds(y[counting], folds)
    end = None if max_time is None else now() + max_time
    scores: list[Any] = [None] * len(y)
    for number, (kept, left) in enumerate(
        StratifiedKFold(folds, shuffle=True, random_state=0).split(counting, y[counting])
    ):
        own, out = counting[kept], counting[left]
        seconds = None if end is None else max((end - now()) / (folds - number), 1e-3)
        for row, score in zip(out.tolist(), scores_without(model, X, y, weights, own, out, seconds), strict=True):
            scores[row] = score
    table = np.array([scores[row] for row in counting.tolist()], dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    fitted = CalibratedClassifierCV(HeldOutScores(), method="sigmoid", ensemble=False, cv=2)
    fitted.fit(table, y[counting], None if weights is None else weights[counting])
    curves = fitted.calibrated_classifiers_[0].calibrators
    return Calibration(folds, [-float(curve.a_) for curve in curves], [-float(curve.b_) for curve in curves])


def checked_folds(y: Any, folds: int) -> int:
    """As many as the smallest class allows."""
    labels, counts = np.unique(y, return_counts=True)
    if int(counts.min()) < 2:
        alone = labels[int(counts.argmin())].item()
        raise ValueError(f"the label {alone!r} has one row, which cannot be held out: there is nothing to calibrate by")
    return min(folds, int(counts.min()))


def scores_without(
    model: Any, X: Any, y: Any, weights: Any, own: Any, out: Any, max_time: float | None
) -> NDArray[np.float64]:
    """The scores of some rows, by the same classifier fitted to others."""
    again = clone(model)
    last = again.steps[-1] if isinstance(again, Pipeline) else ("", again)
    last[1].set_params(max_time=max_time, verbose=0)
    prefix = f"{last[0]}__" if last[0] else ""
    fitting = {} if weights is None else {f"{prefix}sample_weight": weights[own]}
    is_table = getattr(last[1], "kernel", None) == "precomputed"
    with collected():  # how each fold ended is no news
        again.fit(X[own][:, own] if is_table else X[own], y[own], **fitting)
    return np.asarray(again.decision_function(X[out][:, own] if is_table else X[out]))


def as_floats(f: Any) -> np.ndarray[Any, np.dtype[np.floating[Any]]]:
    scores = np.asarray(f)
    return scores if scores.dtype.kind == "f" else scores.astype(np.float64)


def plain(values: Any) -> Any:
    """A number for a number, an array for an array."""
    return float(values) if values.ndim == 0 else values
