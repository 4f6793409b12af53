"""The same soft margin in coordinates in which rounding does less harm.

A rotation x = Q x' changes neither |w| nor w.x, and a free bias absorbs a shift x = m + x'. So far columns and columns
of very different units can be had as numbers that lose no digits when they are multiplied and added:

    with a bias         the mean m is taken away
    without one         a reflection brings m to the first axis: one large column, and the others as near to zero as
                        they vary. Row i is Q'(x_i - m) + |m| e_1, in which nothing cancels.
    more columns        X' = Q R, columns of the table from the largest to the smallest, so that small units keep their
    than rows           digits [higham2002, section 19.4]; row i is column i of R

It costs a copy of the table and, in the last case, n^2 d multiplications. So it is what a solver tries when rounding
has stopped it on the table as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from maxmargin.data.table import Vector, is_sparse, matrix_of
from maxmargin.problems.protocol import Iterate, Iterates, shown_as
from maxmargin.problems.statement import SoftMargin

LARGEST = 4_000_000  # numbers: a table of this size is copied in no time


def can_be_placed(problem: SoftMargin) -> bool:
    """Whether the table is small enough to be copied."""
    return problem.n_rows * problem.n_columns <= LARGEST


def from_a_better_place(
    problem: SoftMargin, w: Vector, solver: Callable[[SoftMargin, Vector], Iterator[Iterate | None]]
) -> Iterates:
    """The iterates of a solver that is given the problem, and a w, in other coordinates; none if it is too large."""
    if not can_be_placed(problem):
        return
    X = matrix_of(problem.X)
    X = X.toarray() if is_sparse(X) else X
    centre = X.mean(axis=0, dtype=np.float64)
    table, basis = place(X.astype(np.float64) - centre, centre, problem.fit_intercept)

    def in_own_place(iterate: Iterate) -> Iterate:
        w = iterate.w if basis is None else basis @ iterate.w
        b = iterate.b - float(w @ centre) if problem.fit_intercept else 0.0
        return dataclasses.replace(iterate, w=w, b=b)

    run = solver(dataclasses.replace(problem, X=table), w if basis is None else basis.T @ w)
    yield from shown_as(run, in_own_place)


def place(
    varying: NDArray[np.float64], centre: Vector, bias: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """The rows in their new coordinates and Q, or None for the coordinates that they have. varying = X - centre."""
    n, d = varying.shape
    if d > n:
        return turned(varying if bias else varying + centre)
    length = float(np.linalg.norm(centre))
    if bias or length == 0.0:
        return varying, None
    normal = centre / length
    normal[0] += 1.0 if normal[0] >= 0.0 else -1.0
    Q = np.eye(d) - np.outer(normal, normal / abs(normal[0]))
    table = varying @ Q
    table[:, 0] += float(centre @ Q[:, 0])
    return np.ascontiguousarray(table), Q


def turned(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A wide table in the coordinates of its own rows."""
    falling = np.argsort(-np.abs(X).max(axis=0), kind="stable")
    Q, R, order = scipy.linalg.qr(X.T[falling], mode="economic", pivoting=True)
    n, d = X.shape
    basis, table = np.empty((d, n)), np.empty((n, n))
    basis[falling], table[order] = Q, R.T
    return table, basis
