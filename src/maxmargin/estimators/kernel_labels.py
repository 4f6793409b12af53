"""The labels of new rows with an rbf kernel: in float32 where it is certain of the sign, and else in float64.

    w.phi(x) + b = S_plus - S_minus + b,    S = sum_j |c_j| k(x, x_j) over the c_j of one sign

float32 knows both sums up to an error that is bounded (`certificates.kernel_screening`). Where the value is farther
from 0 than that error, and than what float64 could be off as well, its sign is that of the real number and of
`decision_function`. All other rows are measured in float64: no label is another one.
"""

from __future__ import annotations

import numpy as np

from maxmargin.certificates.kernel_screening import is_near, summed_in_float32
from maxmargin.data.table import Vector
from maxmargin.problems.kernels import Kernel, Points, ProductKernel, rows_of

SOME = 512  # rows that tell whether float32 is certain of most
MOST = 0.5  # of them in doubt: with more, float64 is faster by itself
BEYOND = 1e-9  # of the sums: float64's own error is below it, wherever float32's is bounded


def are_in_float32(kernel: Kernel | None) -> bool:
    """Whether float32 can be certain of a sign."""
    return isinstance(kernel, ProductKernel) and kernel.is_exponential


def certainly_signed(kernel: Kernel, points: Points, support: Points, coefficients: Vector, b: float) -> Vector:
    """Numbers with the signs of w.phi(x) + b, for w = sum_j c_j phi(x_j): roughly these values themselves."""
    near, near_support = is_near(kernel, points, support)
    scores = np.full(len(near), np.nan)
    rows = np.flatnonzero(near) if np.all(near_support) else np.zeros(0, dtype=np.intp)
    for some in (rows[:SOME], rows[SOME:]):
        if len(some):
            scores[some] = certain(kernel, rows_of(points, some), support, coefficients, b)
        if np.count_nonzero(np.isnan(scores[some])) > MOST * len(some):
            break
    in_doubt = np.flatnonzero(np.isnan(scores))
    if len(in_doubt):
        few = points if len(in_doubt) == len(scores) else rows_of(points, in_doubt)
        scores[in_doubt] = kernel.combine(few, support, coefficients[:, None])[:, 0] + b
    return scores


def certain(kernel: Kernel, points: Points, support: Points, coefficients: Vector, b: float) -> Vector:
    """w.phi(x) + b in float32; NaN where its sign could be another one."""
    parts = np.column_stack([np.maximum(coefficients, 0.0), np.maximum(-coefficients, 0.0)])
    sums, sizes, error = summed_in_float32(kernel, points, support, parts, None)
    values = sums[:, 0] - sums[:, 1] + b
    return np.where(np.abs(values) > error + BEYOND * (sizes + abs(b)), values, np.nan)
