"""Hulls that overlap by much: a common point by Newton's method, where Wolfe's algorithm would take a row at a time.

    given     rows z_i = y_i (x_i, 1), or y_i x_i through the origin, of rank r
    primal    min_v 1/2 sum_i max(0, 1 - v.z_i)^2                nothing regularises v
    optimal   sum_i l_i z_i = 0,   l_i = max(0, 1 - v.z_i)       which is a common point of the hulls, unless l = 0
    one step  (sum of z_i z_i' over the rows with l_i > 0) s = sum_i l_i z_i,  then the best v + t s
    rows out  where the classes meet in one number of a column only, a row with another number there has no weight
    basis     about half the rows have weight, and r + 1 suffice. Of these a basis is chosen, the heaviest first; each
              other row is pushed towards l_i = 0, the basis making up for it, until it is there, or the weight of a
              basic row is: then it takes its place

This is asked of some rows. Where their loss falls to a small share of what it was, v nearly separates them: the rows of
the table that it leaves on the wrong side join, and it is asked again; where there are none, the question is left to
others. That the point is common is not claimed by this file: the judge proves it.

Cost: m d^2 for each step on m rows, m r^2 for the basis, a pass in each round.
Reference: [mangasarian2002], with a line search, and without its regularisation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg.blas import dger

from maxmargin.data.executor import check_interrupt
from maxmargin.data.table import Vector, is_sparse, take
from maxmargin.problems.statement import Separation
from maxmargin.solvers.passes import values_of

MOST_STEPS = 60
ROUNDS = 6  # of rows that join
MOST_ROWS_PER_COLUMN = 4
HARDLY = 0.02  # of the loss at v = 0: below, v separates most rows
RANK = 1e-10  # of the largest eigenvalue
NO_WEIGHT = 1e-9  # of the largest weight
FLAT = 1e-10  # the slope, for each row
LEAST_PIVOT = 1e-9
HALVINGS = 40  # of the interval of a step's length
RIDGE = 1e-12  # of the mean eigenvalue


class CommonPoint(NamedTuple):
    """Rows, and their positive weights, of sum 1 in each group; and what they leave, of the size of the largest row."""

    rows: NDArray[np.intp]
    weights: Vector
    left: float


class Lines(NamedTuple):
    """Rows z_i less a centre that both hulls may move by, with a bias and y_i times `size` beside."""

    rows: Vector
    groups: NDArray[np.intp]
    centre: Vector
    size: float


def common_point(problem: Separation, working: NDArray[np.intp]) -> CommonPoint | None:
    """Looked for on these rows, and on those that their plane leaves on the wrong side; None where none is found."""
    for _ in range(ROUNDS):
        lines = lines_of(problem, working)
        chosen = np.flatnonzero(can_carry(lines.rows[:, : problem.n_columns], lines.groups, problem.fit_intercept))
        if len(chosen) == 0:  # a column separates them: its plane is found below
            chosen = np.arange(len(working))
        coordinates = own_coordinates(lines.rows[chosen])
        balance = balanced_weights(lines.rows[chosen] @ coordinates)
        if balance is None:
            return None
        if balance.at_rest:
            return point_of(lines, working, chosen, balance.weights)
        h = values_at(problem, lines, coordinates @ balance.v)
        others = np.setdiff1d(np.flatnonzero(h <= 0.0), working)
        if not len(others):
            return None
        most = MOST_ROWS_PER_COLUMN * problem.n_columns // 2
        working = np.concatenate([lowest(h, rows, most) for rows in (working, others)])
    return None


def lines_of(problem: Separation, working: NDArray[np.intp]) -> Lines:
    X = take(problem.X, working)
    X = np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
    signs = problem.signs[working]
    if not problem.fit_intercept:
        return Lines(signs[:, None] * X, np.zeros(len(X), np.intp), np.zeros(X.shape[1]), 0.0)
    centre = X.mean(axis=0)
    rows = signs[:, None] * (X - centre)
    size = float(np.sqrt(np.mean(rows * rows)))
    return Lines(np.column_stack([rows, size * signs]), np.where(signs > 0, 0, 1), centre, size)


def values_at(problem: Separation, lines: Lines, v: Vector) -> Vector:
    """y_i times the value of every row."""
    w = v[: problem.n_columns]
    b = lines.size * v[-1] - w @ lines.centre if problem.fit_intercept else 0.0
    return np.asarray(problem.signs * (values_of(problem.X, w) + b))


def lowest(h: Vector, rows: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    return rows if len(rows) <= count else rows[np.argpartition(h[rows], count - 1)[:count]]


def point_of(lines: Lines, working: NDArray[np.intp], chosen: NDArray[np.intp], weights: Vector) -> CommonPoint | None:
    carrying = chosen[weights > NO_WEIGHT * weights.max()]
    Z = lines.rows[carrying]
    basis = basic_weights(Z @ own_coordinates(Z), weights[weights > NO_WEIGHT * weights.max()])
    if basis is None:
        return None
    found, shares = carrying[basis[0]], basis[1]
    totals = np.bincount(lines.groups[found], shares)
    if not np.all(totals > 0.0):
        return None
    shares = shares / totals[lines.groups[found]]
    left = np.linalg.norm(shares @ lines.rows[found])
    return CommonPoint(working[found], shares, float(left / np.linalg.norm(lines.rows, axis=1).max()))


def can_carry(Z: Vector, groups: NDArray[np.intp], with_bias: bool) -> NDArray[np.bool_]:
    """Which rows may have weight, as far as single columns tell. Through the origin, that is the other class."""
    X = np.where(groups[:, None] == 0, Z, -Z) if with_bias else Z
    left = np.ones(len(X), bool)
    while True:
        check_interrupt()
        one = X[left & (groups == 0)]
        other = X[left & (groups == 1)] if with_bias else np.zeros((1, X.shape[1]))
        if not (len(one) and len(other)):
            return np.zeros(len(X), bool)
        above, below = one.min(axis=0) >= other.max(axis=0), one.max(axis=0) <= other.min(axis=0)
        met = np.where(above, other.max(axis=0), other.min(axis=0))
        still = left & np.all(met == X, axis=1, where=above | below)
        if np.array_equal(still, left):
            return left
        left = still


def own_coordinates(Z: Vector) -> Vector:
    """The rows times this are in orthonormal coordinates of the space that they span, of about unit size."""
    sizes, axes = np.linalg.eigh(Z.T @ Z)
    check_interrupt()
    spanned = sizes > max(RANK * sizes[-1], 0.0)
    return np.asarray(axes[:, spanned] * np.sqrt(len(Z) / sizes[spanned]))


class Balance(NamedTuple):
    """v and l; `at_rest`: sum_i l_i z_i = 0, as far as float64 can tell. Else the loss at v nearly vanishes."""

    v: Vector
    weights: Vector
    at_rest: bool


def balanced_weights(Z: Vector) -> Balance | None:
    """None where neither is reached."""
    n, d = Z.shape
    v = np.zeros(d)
    for _ in range(MOST_STEPS):
        check_interrupt()
        missing = 1.0 - Z @ v
        weights = np.maximum(0.0, missing)
        if not float(weights @ weights) > HARDLY * n:
            return Balance(v, weights, False)
        slope = Z.T @ weights
        if float(np.abs(slope).max()) <= FLAT * n:
            return Balance(v, weights, True)
        paying = Z[missing > 0.0]
        matrix = paying.T @ paying
        matrix[np.diag_indices(d)] += RIDGE * np.trace(matrix) / d
        try:
            step = scipy.linalg.solve(matrix, slope, assume_a="pos", check_finite=False)
        except np.linalg.LinAlgError:
            return None
        v = v + best_length(missing, Z @ step) * step
    return None


def best_length(missing: Vector, change: Vector) -> float:
    """The t with the least sum of max(0, missing - t change)^2; 1 where that is as good as any."""

    def falls(t: float) -> bool:
        return bool(np.maximum(0.0, missing - t * change) @ change > 0.0)

    low, high = 0.0, 1.0
    while falls(high) and high < 64.0:
        low, high = high, 2.0 * high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if falls(middle) else (low, middle)
        if high - low < 1e-6 * high:
            break
    return 1.0 if abs(high - 1.0) < 1e-3 else high


def basic_weights(rows: Vector, weights: Vector) -> tuple[NDArray[np.intp], Vector] | None:
    """At most as many rows as there are equations carry weight; None where rounding is in the way."""
    lines = np.column_stack([rows, np.ones(len(rows))]).T
    left = weights / weights.sum()
    size = len(lines)
    if len(rows) < size:
        return None
    heaviest_first = scipy.linalg.qr(lines * left, mode="r", pivoting=True, check_finite=False)[1]
    basis, others = heaviest_first[:size].copy(), heaviest_first[size:]
    try:
        inverse = np.asfortranarray(np.linalg.inv(lines[:, basis]))
        for other in others:
            check_interrupt()
            rise = inverse @ lines[:, other]  # of the basis, for each unit that the other row gives up
            falling = rise < -LEAST_PIVOT
            reach = np.where(falling, left[basis] / np.where(falling, -rise, 1.0), np.inf)
            leaving = int(np.argmin(reach))
            moved = min(float(left[other]), float(reach[leaving]))
            left[basis] = np.maximum(0.0, left[basis] + moved * rise)
            left[other] -= moved
            if moved == reach[leaving]:
                left[basis[leaving]] = 0.0
                line = inverse[leaving] / rise[leaving]
                inverse = dger(-1.0, rise, line, a=inverse, overwrite_a=True)
                inverse[leaving] = line
                basis[leaving] = other
        target = np.zeros(size)
        target[-1] = 1.0
        found = np.linalg.solve(lines[:, basis], target)
    except np.linalg.LinAlgError:
        return None
    none = NO_WEIGHT * found.max()
    return (basis[found > none], found[found > none]) if np.all(found > -none) else None
