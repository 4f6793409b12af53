"""The labels of new rows with an rbf kernel: in float32 where it is certain of the sign, and else in float64.

    w.phi(x) + b = S_plus - S_minus + b,    S = sum_j |c_j| k(x, x_j) over the c_j of one sign

float32 knows both sums up to an error that is bounded (`certificates.kernel_screening`). Where the value is farther
from 0 than that error, and than what float64 could be off as well, its sign is that of the real number and of
`decision_function`. All other rows are measured in float64: no label is another one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from maxmargin.certificates.kernel_screening import COLUMNS, is_near, right_factors, summed_in_float32
from maxmargin.data.executor import Threads
from maxmargin.data.table import Matrix, Vector
from maxmargin.problems.kernels import Kernel, Points, ProductKernel, rows_of, spans

ROWS = 2048  # at a time: no copy of a large table is written
AT_ONCE = (1024, 256, COLUMNS)  # columns: as many as leave every support vector near enough for float32
MOST = 0.5  # of the first rows in doubt: with more, float64 is faster by itself
BEYOND = 1e-9  # of the sums: float64's own error is below it, wherever float32's is bounded


def are_in_float32(kernel: Kernel | None) -> bool:
    """Whether float32 can be certain of a sign."""
    return isinstance(kernel, ProductKernel) and kernel.is_exponential


def certainly_signed(kernel: Kernel, X: Matrix, support: Points, coefficients: Vector, b: float) -> Vector:
    """Numbers with the signs of w.phi(x) + b, for w = sum_j c_j phi(x_j): roughly these values themselves."""
    scores = np.full(X.shape[0], np.nan)
    with Threads() as threads:
        values_of = certain_values(kernel, support, coefficients, b, threads)
        for rows in spans(0, len(scores), ROWS):
            scores[rows] = values_of(kernel.points(X[rows]))
            if rows.start == 0 and np.count_nonzero(np.isnan(scores[rows])) > MOST * len(scores[rows]):
                break
        in_doubt = np.flatnonzero(np.isnan(scores))
        if len(in_doubt):
            few = kernel.points(X if len(in_doubt) == len(scores) else X[in_doubt])
            scores[in_doubt] = kernel.combine(few, support, coefficients[:, None], threads)[:, 0] + b
    return scores


def certain_values(
    kernel: Kernel, support: Points, coefficients: Vector, b: float, threads: Threads | None
) -> Callable[[Points], Vector]:
    """A function of rows: w.phi(x) + b in float32, NaN where its sign could be another one."""
    parts = np.column_stack([np.maximum(coefficients, 0.0), np.maximum(-coefficients, 0.0)])
    fits = [at_once for at_once in AT_ONCE if np.all(is_near(kernel, support, support, at_once)[1])]
    rights = right_factors(kernel, support) if fits else []

    def values_of(points: Points) -> Vector:
        scores = np.full(len(points.places), np.nan)
        near, near_support = is_near(kernel, points, support, fits[0]) if fits else (np.zeros(len(scores), bool),) * 2
        rows = np.flatnonzero(near) if np.all(near_support) else np.zeros(0, dtype=np.intp)
        if not len(rows):
            return scores
        few = points if len(rows) == len(scores) else rows_of(points, rows)
        sums, sizes, error = summed_in_float32(kernel, few, support, parts, threads, fits[0], rights)
        values = sums[:, 0] - sums[:, 1] + b
        scores[rows] = np.where(np.abs(values) > error + BEYOND * (sizes + abs(b)), values, np.nan)
        return scores

    return values_of
