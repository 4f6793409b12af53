"""The plane whose values come nearest to the signs, in weighted least squares with a little penalty.

    min  sum_i s_i (w.x_i + b - y_i)^2 + c |w|^2,       c = 1e-6 sum_i s_i |x_i|^2

With m and y0 the weighted means of the rows and the signs, b = y0 - w.m, and what is left is a problem in w alone:

    few columns     (sum_i s_i (x_i - m)(x_i - m)' + c) w = sum_i s_i y_i (x_i - m),    by Cholesky; rows in blocks
    many columns    the same by LSQR [paige1982], which needs products with X and X' only

The condition number is at most 1e6 either way, because of c. Cost: n d^2 / 2 multiplications, or some hundred reads.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, lsqr

from maxmargin.data.executor import check_interrupt
from maxmargin.data.table import Vector, is_sparse, row_squares
from maxmargin.problems.statement import Separation
from maxmargin.solvers.passes import combination, products_of_columns, values_of

FEW_COLUMNS = 2000
PENALTY = 1e-6
MOST_STEPS = 2000
PRECISION = 1e-10  # of LSQR


def least_squares_plane(problem: Separation, weights: Vector | None) -> tuple[Vector, float]:
    """(w, b)."""
    s = np.ones(problem.n_rows) if weights is None else weights
    penalty = PENALTY * float(row_squares(problem.X) @ s) or 1.0
    mean, level = np.zeros(problem.n_columns), 0.0
    if problem.fit_intercept:
        mean = combination(problem.X, s / s.sum())
        level = float(problem.signs @ (s / s.sum()))
    solve = by_normal_equations if problem.n_columns <= FEW_COLUMNS else by_lsqr
    w = solve(problem, s, mean, penalty)
    return w, level - float(w @ mean)


def by_normal_equations(problem: Separation, s: Vector, mean: Vector, penalty: float) -> Vector:
    matrix, right = products_of_columns(problem.X, s, problem.signs, mean)
    right -= float(s @ problem.signs) * mean
    if is_sparse(problem.X):  # the rows were not moved: sum s x x' - (sum s) m m'
        matrix -= s.sum() * np.outer(mean, mean)
    matrix[np.diag_indices(problem.n_columns)] += penalty
    check_interrupt()
    return np.asarray(scipy.linalg.solve(matrix, right, assume_a="pos"))


def by_lsqr(problem: Separation, s: Vector, mean: Vector, penalty: float) -> Vector:
    root, X = np.sqrt(s), problem.X

    def forward(w: NDArray[np.float64]) -> Vector:
        check_interrupt()
        return np.asarray(root * (values_of(X, w.ravel()) - float(mean @ w.ravel())))

    def backward(values: NDArray[np.float64]) -> Vector:
        check_interrupt()
        scaled = root * values.ravel()
        return combination(X, scaled) - float(scaled.sum()) * mean

    operator = LinearOperator(X.shape, matvec=forward, rmatvec=backward, dtype=np.float64)
    centred = problem.signs - (float(problem.signs @ (s / s.sum())) if problem.fit_intercept else 0.0)
    damping = math.sqrt(penalty)
    answer = lsqr(operator, root * centred, damp=damping, atol=PRECISION, btol=PRECISION, iter_lim=MOST_STEPS)
    return np.asarray(answer[0])


def plane_between_means(problem: Separation, weights: Vector | None) -> tuple[Vector, float]:
    """Half way between the weighted means of the two classes; through the origin, towards the mean of y_i x_i."""
    s = np.ones(problem.n_rows) if weights is None else weights
    plus = problem.signs > 0
    share = np.where(plus, s / max(float(s[plus].sum()), 1e-300), s / max(float(s[~plus].sum()), 1e-300))
    w = combination(problem.X, problem.signs * share)
    return w, -0.5 * float(w @ combination(problem.X, share)) if problem.fit_intercept else 0.0
