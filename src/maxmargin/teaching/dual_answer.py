"""What the dual knows by itself: the plane, the bias and the predictions, from the multipliers alone.

    values    f(x) = sum_i a_i y_i k(x_i, x) + b                   w = sum_i a_i y_i x_i is never formed
    bias      b_i = y_i (1 - q_i a_i) - sum_j a_j y_j k(x_j, x_i)  on each free support vector, 0 < a_i < u_i
    q, u      u_i = box C_i and q_i = bend / C_i, the two numbers of the loss; the hard margin has u = inf and q = 0

At the optimum a free support vector lies where its loss wants it, on the edge of the street if the loss is the hinge:
so each of them tells b, and all tell the same. How far they are apart says how far the multipliers are from optimal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.checking import checked_rows
from maxmargin.data.table import Vector, is_source, is_sparse, matrix_of
from maxmargin.problems.losses import Loss, loss_named

INSIDE = 1e-3  # of u_i, or of the largest a_i: nearer to its bounds a multiplier does not tell b
HARD = Loss("hard_margin", math.inf, 0.0)


@dataclass(frozen=True, eq=False)
class DualAnswer:
    """What follows from the multipliers of the rows that were learnt from.

    Parameters
    ----------
    values : ndarray
        f(x) of the rows that were asked for, with b the mean of what the free support vectors say.
    labels : ndarray
        The labels that these values predict: classes_[1] where f(x) >= 0.
    b : float
        That mean; the estimator's own where no support vector is free; 0 without a bias.
    rows, biases : ndarray of int, ndarray
        The free support vectors, and the b that each of them says.
    agrees : int
        How many of the labels are those that the estimator predicts.

    Examples
    --------
    >>> from maxmargin import HardMarginSVM, from_dual
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], [-1, -1, 1, 1]
    >>> answer = from_dual(HardMarginSVM().fit(X, y), X, y)
    >>> answer.labels.tolist(), answer.agrees
    ([-1, -1, 1, 1], 4)
    """

    values: Vector
    labels: NDArray[Any]
    b: float
    rows: NDArray[np.intp]
    biases: Vector
    agrees: int

    @property
    def spread(self) -> float:
        """The highest b minus the lowest: 0 at the optimum."""
        return float(np.ptp(self.biases)) if len(self.biases) else 0.0

    @property
    def summary(self) -> dict[str, Any]:
        """As plain values: b, how many support vectors say it and how far they are apart, how many labels agree."""
        return {"b": self.b, "free": len(self.rows), "spread": self.spread, "labels_that_agree": self.agrees}

    def __str__(self) -> str:
        if len(self.rows):
            word = "vector says" if len(self.rows) == 1 else "vectors say"
            bias = f"{len(self.rows)} free support {word} b = {self.b:.6g}, {self.spread:.1e} apart at most"
        else:
            bias = f"no support vector is free to say b; it is {self.b:.6g}"
        return f"{bias}. From the dual alone, {self.agrees:,} of {len(self.labels):,} labels are those of the plane."


def from_dual(estimator: Any, X: Any, y: Any, rows: Any = None, *, sample_weight: Any = None) -> DualAnswer:
    """Predict from the multipliers alone, and see whether the support vectors agree about b.

        f(x) = sum_i a_i y_i k(x_i, x) + b,      b = the mean of  y_i - sum_j a_j y_j k(x_j, x_i)  over free rows i

    Parameters
    ----------
    estimator : a fitted `HardMarginSVM`, `LinearSVM` or `KernelSVM` of two classes
    X, y : as they were given to its `fit`
        Samples and labels.
    rows : array of shape (n, d), default=None
        The rows to predict; X where none are given. Of a precomputed kernel, their values with all rows of X.
    sample_weight : array-like of shape (n_samples,), default=None
        As it was given to its `fit`.

    Returns
    -------
    DualAnswer
        Values, labels, the b of each free support vector, and how many labels agree with the estimator's own.

    Examples
    --------
    >>> from maxmargin import HardMarginSVM, from_dual
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], [-1, -1, 1, 1]
    >>> answer = from_dual(HardMarginSVM().fit(X, y), X, y)
    >>> print(answer)
    2 free support vectors say b = -1, ... apart at most. From the dual alone, 4 of 4 labels are those of the plane.
    """
    refuse_other_multipliers(estimator)
    X = matrix_of(checked_rows(X)) if is_source(X) else X
    return answer_beside(estimator, X, y, rows, sample_weight, estimator.predict(X if rows is None else rows))


def refuse_other_multipliers(estimator: Any) -> None:
    """Of estimators without any, of many classes, and where they make no plane."""
    if not hasattr(estimator, "dual_coef_") or not hasattr(estimator, "certificate_"):
        raise ValueError(f"{type(estimator).__name__} has no multipliers: fit a HardMarginSVM, LinearSVM or KernelSVM")
    if len(estimator.classes_) != 2:
        raise ValueError(f"there are {len(estimator.classes_)} classes, and one dual for each plane: give two of them")
    certificate = estimator.certificate_
    if certificate.is_separable is False or getattr(certificate, "norm", "l2") != "l2":
        raise ValueError("these multipliers make no plane: w = sum_i a_i y_i x_i is of the l2 margin of a plane")


def answer_beside(estimator: Any, X: Any, y: Any, rows: Any, sample_weight: Any, predicted: NDArray[Any]) -> DualAnswer:
    """The answer, beside the labels that the estimator itself predicts for the same rows."""
    learnt = X.tocsr() if is_sparse(X) else np.asarray(X, dtype=np.float64)
    asked = learnt if rows is None else rows.tocsr() if is_sparse(rows) else np.asarray(rows, dtype=np.float64)
    support, signed = estimator.support_, estimator.dual_coef_[0]
    own_values = inner(estimator, learnt, learnt[support], support) @ signed
    free, biases = biases_of(estimator, y, own_values, sample_weight)
    b = float(np.mean(biases)) if len(biases) else float(estimator.intercept_[0])
    values = own_values if rows is None else inner(estimator, asked, learnt[support], support) @ signed
    labels = estimator.classes_[(values + b >= 0.0).astype(np.intp)]
    return DualAnswer(values + b, labels, b, free, biases, agrees=int(np.count_nonzero(labels == predicted)))


def inner(estimator: Any, A: Any, B: Any, places: NDArray[np.intp]) -> NDArray[np.float64]:
    """k(x, x') of all rows of A and B; x.x' where there is no kernel."""
    kernel = getattr(estimator, "_kernel", None)
    if kernel is None:
        product = A @ B.T
        return np.asarray(product.toarray() if is_sparse(product) else product)
    return np.asarray(kernel.values(kernel.points(A), kernel.points(B, places)))


def biases_of(estimator: Any, y: Any, values: Vector, sample_weight: Any) -> tuple[NDArray[np.intp], Vector]:
    """The free support vectors and what each says of b; none without a bias. values = sum_j a_j y_j k(x_j, x_i)."""
    support, a = estimator.support_, np.abs(estimator.dual_coef_[0])
    if not getattr(estimator, "fit_intercept", True) or not len(a):
        return np.zeros(0, np.intp), np.zeros(0)
    certificate, labels = estimator.certificate_, np.asarray(y)
    C, loss = getattr(certificate, "C", math.inf), HARD
    if math.isfinite(C):
        loss = loss_named(certificate.loss, certificate.huber_width)
    costs = np.full(len(labels), C) if sample_weight is None else C * np.asarray(sample_weight, dtype=np.float64)
    for label, weight in getattr(certificate, "class_weight", ()):
        costs[labels == label] *= weight
    upper = loss.bounds(costs)[support] if loss.is_bounded else np.full(len(a), np.inf)
    least = INSIDE * (upper if loss.is_bounded else np.full(len(a), a.max()))
    free = (a > least) & (a < (1.0 - INSIDE) * upper)
    signs = np.where(labels[support] == estimator.classes_[1], 1.0, -1.0)
    own = signs * (1.0 - loss.bend * a / costs[support]) - values[support]
    return support[free], own[free]
