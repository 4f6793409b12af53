"""The judge of the kernel benchmark: float64 NumPy on the set itself, the same for everybody.

    primal    P(c, b) = 1/2 c'Kc + C sum_i max(0, 1 - y_i (f_i + b)),    f = K c,  K_ij = exp(-gamma |x_i - x_j|^2)
    dual      D(a) = sum_i a_i - 1/2 c'Kc,                               c_i = a_i y_i,  0 <= a_i <= C,  sum_i c_i = 0
    gap       (P - D) / P, which bounds the excess (P - P*) / P

Everybody is judged by the weights a of the support rows alone. They are clipped to [0, C], and for D the class of the
larger sum is scaled down to the other one. P is that of the plane before or after the scaling, whichever is better,
with the best b for it. The two classes are summed apart, K c_plus and K c_minus, so that the scaling costs nothing.
K is computed in blocks and never kept.
"""

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from linear_judge import BEST_BIAS

BLOCK_ROWS, BLOCK_COLUMNS = 512, 2048


class Verdict(NamedTuple):
    """The best objective of a plane, and the dual value of the weights that it came with."""

    primal: float
    dual: float

    @property
    def gap(self) -> float:
        return (self.primal - self.dual) / self.primal if self.primal < math.inf else math.inf


def judge(X, y, gamma: float, C: float, support, weights) -> Verdict:
    """What the weights of the support rows are worth; infinitely little where they are not finite."""
    if not np.isfinite(weights).all():
        return Verdict(math.inf, -math.inf)
    a = np.clip(np.asarray(weights, dtype=np.float64), 0.0, C)
    by_class = np.stack([a * (y[support] > 0), a * (y[support] < 0)], axis=1)
    sums = by_class.sum(axis=0)
    if sums.min() == 0.0:  # no weights, or in one class alone: feasible is only a = 0
        return Verdict(_primal(y, C, 0.0, np.zeros(len(y))), 0.0)
    values = kernel_sums(X, gamma, support, by_class * [1.0, -1.0])
    as_claimed, feasible = np.ones(2), sums.min() / sums
    primals = []
    for scales in (as_claimed, feasible):
        f = values @ scales
        square = (by_class * [1.0, -1.0]) @ scales @ f[support]
        primals.append(_primal(y, C, square, f))
    return Verdict(min(primals), float(sums @ feasible - 0.5 * square))


def _primal(y, C: float, square: float, f) -> float:
    b = BEST_BIAS["hinge"](y, y - f)
    return float(0.5 * square + C * np.maximum(0.0, 1.0 - y * (f + b)).sum())


def kernel_sums(X, gamma: float, support, coefficients) -> np.ndarray:
    """sum_j k(x_i, x_j) c_j over the support rows j, for every row i and every column c of the coefficients.

    |x - x'|^2 is |x|^2 + |x'|^2 - 2 x.x', of rows from which their mean was subtracted: less cancels.
    """
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    B = _centred(X[support], mean)
    B_squares = np.einsum("ij,ij->i", B, B)
    sums = np.zeros((X.shape[0], coefficients.shape[1]))
    for row in range(0, X.shape[0], BLOCK_ROWS):
        A = _centred(X[row : row + BLOCK_ROWS], mean)
        A_squares = np.einsum("ij,ij->i", A, A)[:, None]
        for column in range(0, len(B), BLOCK_COLUMNS):
            columns = slice(column, column + BLOCK_COLUMNS)
            distances = np.maximum(0.0, A_squares + B_squares[columns] - 2.0 * (A @ B[columns].T))
            sums[row : row + BLOCK_ROWS] += np.exp(-gamma * distances) @ coefficients[columns]
    return sums


def _centred(rows, mean) -> np.ndarray:
    return (rows.toarray() if sp.issparse(rows) else rows).astype(np.float64) - mean
