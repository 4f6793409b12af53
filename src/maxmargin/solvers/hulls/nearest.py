"""The widest street as the nearest points of two hulls, found on a small working set of rows.

    primal    max_{w,b}  min_i y_i (w.x_i + b) / |w|
    dual      min 1/2 |p|,   p = sum_+ l_i x_i - sum_- l_i x_i,   l >= 0,   sum_+ l = sum_- l = 1
    link      w = p,   b from the support vectors,   margin = |p| / 2
              (through the origin: p = sum l_i y_i x_i with sum l = 1, and margin = |p|)

Few rows touch the street, so few rows are looked at:

    start     the support vectors of a sample of the rows; in a small problem, the rows nearest to the other class
    repeat    p = the nearest points on the working set: by Wolfe's algorithm or, with more columns than rows,
              by block pivoting
              h = X p, one pass over all rows; the rows farthest inside the street join the working set
    until     no row is inside: p is nearest for all rows

If the hulls of a few rows meet, so do those of all: p = 0, and l is a witness on at most d + 2 rows. Where Wolfe's
algorithm has not found them after some steps, a common point is looked for by itself (`overlap`), once.

Cost: four or five passes over the data, and the working set. Reference: [wolfe1976], by column generation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import numbers_per_call
from maxmargin.data.executor import check_interrupt
from maxmargin.data.table import Matrix, Vector, in_safe_range, is_sparse, take
from maxmargin.problems.protocol import Anew, Evaluation, Iterate, Iterates, Options
from maxmargin.problems.statement import Separation
from maxmargin.solvers.hulls import block_pivoting, overlap, wolfe
from maxmargin.solvers.passes import combination, values_of

Rows = NDArray[np.intp]

AT_ORIGIN = 1e-13  # |p| below this share of the longest row: the hulls meet, as far as float64 can tell
SAMPLE_FROM = 20_000  # rows: a larger problem starts from a sample
SAMPLE_SHARE = 16
FINER = 0.01  # of the gap that is asked for
STEPS_PER_LOOK = 500  # all rows are looked at when so many steps were made on the working set
NUMBERS_PER_CALL = 50_000_000  # a compiled call cannot be interrupted: it reads at most so many numbers


class Street(NamedTuple):
    """The nearest points of the hulls of some rows: p, and the rows that span it with their weights."""

    p: Vector
    rows: Rows
    weights: Vector
    end: wolfe.End
    steps: int


def start(problem: Separation, options: Options) -> Anew:
    return Anew(options)


def steps(problem: Separation, state: Anew) -> Iterates:
    return nearest_hulls(problem, tol=FINER * state.options.tol, stepwise=state.options.stepwise)


def nearest_hulls(
    problem: Separation, tol: float = 1e-11, stepwise: bool = False
) -> Generator[Iterate, Evaluation | None, None]:
    """Better and better iterates; the last one proposes. `stepwise`: the first corral, then one for each major step."""
    groups = np.where(problem.signs > 0, 0, 1) if problem.fit_intercept else np.zeros(problem.n_rows, np.intp)
    working, weights, steps = yield from first_working_set(problem, groups)
    sweeps = 0
    while True:
        for street in nearest_on(problem, groups, working, weights, tol, stepwise):
            view = look(problem, groups, street, tol)
            sweeps += 1
            inside = np.setdiff1d(view.inside, working)
            meets = street.end is wolfe.End.AT_ORIGIN
            proposes = meets or (street.end is not wolfe.End.PAUSED and len(inside) == 0)
            a = np.zeros(problem.n_rows)
            a[street.rows] = street.weights
            b = view.support_bias if proposes else view.halfway_bias
            yield Iterate(street.p, b, a, proposes, steps + street.steps, sweeps, meets=meets)
        if proposes:
            return
        steps += street.steps
        # The span of p comes first, with its weights: the next run starts where this one ended.
        others = np.setdiff1d(working, street.rows, assume_unique=True)
        working, weights = np.concatenate([street.rows, others, inside]), street.weights


def first_working_set(
    problem: Separation, groups: Rows
) -> Generator[Iterate, Evaluation | None, tuple[Rows, Vector | None, int]]:
    """Rows to start from, the weights of the first of them if they are known, and the steps spent.

    The iterates of the sample are yielded on the way, as iterates of the whole that propose nothing.
    """
    n, d = problem.X.shape
    if n <= max(256, 4 * d, 2000 if d > 2000 else 0):
        return np.arange(n), None, 0
    members = [np.flatnonzero(groups == g) for g in range(int(groups.max()) + 1)]
    if n > SAMPLE_FROM:
        chosen = np.concatenate([every_so_often(rows, max(2000, len(rows) // SAMPLE_SHARE)) for rows in members])
        sample = Separation(problem.X[chosen], problem.signs[chosen], problem.norm, problem.fit_intercept)
        for iterate in nearest_hulls(sample, tol=1e-6):
            a = np.zeros(n)
            a[chosen] = iterate.a
            yield dataclasses.replace(iterate, a=a, proposes=False, meets=False)
        support = np.flatnonzero(iterate.a)
        return chosen[support], iterate.a[support], iterate.updates
    share = problem.signs / np.bincount(groups)[groups]
    h = problem.signs * values_of(problem.X, combination(problem.X, share))
    return np.concatenate([lowest(h, rows, rows_a_round(d)) for rows in members]), None, 0


def every_so_often(rows: Rows, size: int) -> Rows:
    return rows[:: max(1, len(rows) // size)]


def rows_a_round(d: int) -> int:
    """How many rows of a class join the working set at once."""
    return 50 + 2 * min(d, 500)


def lowest(h: Vector, rows: Rows, count: int) -> Rows:
    if len(rows) <= count:
        return rows
    return rows[np.argpartition(h[rows], count - 1)[:count]]


class View(NamedTuple):
    """What one pass over all rows shows: the rows farthest inside the street, and two ways to place the plane.

    `support_bias` is the support vectors' own; `halfway_bias` lies between the nearest rows of the classes.
    """

    inside: Rows
    support_bias: float
    halfway_bias: float


def look(problem: Separation, groups: Rows, street: Street, tol: float) -> View:
    """h = X p, and who is inside: nobody, if the relative gap is at most tol."""
    if street.end is wolfe.End.AT_ORIGIN:
        return View(np.zeros(0, np.intp), 0.0, 0.0)
    h = problem.signs * values_of(problem.X, street.p)
    level = np.bincount(groups[street.rows], street.weights * h[street.rows])
    slack = tol * float(street.p @ street.p) / len(level)
    found = [np.flatnonzero((groups == g) & (h < level[g] - slack)) for g in range(len(level))]
    inside = np.concatenate([lowest(h, rows, rows_a_round(problem.n_columns)) for rows in found])
    if not problem.fit_intercept:
        return View(inside, 0.0, 0.0)
    floor = [h[rows].min(initial=level[g]) for g, rows in enumerate(found)]
    return View(inside, float(level[1] - level[0]) / 2.0, float(floor[1] - floor[0]) / 2.0)


def nearest_on(
    problem: Separation, groups: Rows, working: Rows, weights: Vector | None, tol: float, stepwise: bool
) -> Iterator[Street]:
    """The nearest points on the working set; `weights` are those of its first rows, from an earlier run."""
    X = take(problem.X, working).astype(np.float64, copy=False)
    signs, groups = problem.signs[working], groups[working]
    steps, unit = 0, 1.0
    if len(working) <= problem.n_columns:
        K = gram(X, problem.fit_intercept) * signs[:, None] * signs
        nearby = AT_ORIGIN * float(np.sqrt(max(0.0, K.diagonal().max())))  # sparse rows are centred by differences
        free = np.ones(len(working), bool)
        if weights is not None:
            free[:] = np.arange(len(working)) < len(weights)
        found, steps = block_pivoting.nearest_points(K, groups, free, tol)
        if found is not None:
            spanning = take(X, found.rows)
            found = block_pivoting.refined(found, spanning, signs[found.rows], groups, problem.fit_intercept)
            p = spanning.T @ (signs[found.rows] * found.weights)
            end = wolfe.End.AT_ORIGIN if np.linalg.norm(p) <= nearby else wolfe.End.NEAREST
            yield Street(p, working[found.rows], found.weights, end, steps)
            return
        Z = block_pivoting.coordinates(K)
    else:
        X = dense(X)
        centre = X.mean(axis=0) if problem.fit_intercept else 0.0  # both hulls move alike: p stays
        Z = signs[:, None] * (X - centre)
        table = in_safe_range(Z)  # rows that differ by little: their squares would vanish
        Z, unit = table.X, table.scale
    n_groups = int(groups.max()) + 1
    capacity = min(len(working), Z.shape[1] + n_groups)
    if weights is None:
        corral = wolfe.start(Z, groups, n_groups, capacity)
    else:
        corral = wolfe.resume(Z, groups, capacity, np.arange(len(weights)), weights)
    longest = wolfe.lift_of(Z)
    steps_per_look = 1 if stepwise else STEPS_PER_LOOK
    end, next_look, most = wolfe.End.PAUSED, steps + steps_per_look, 0 if stepwise else steps_per_look
    may_overlap = weights is None and not stepwise and len(working) > problem.n_columns
    while end is wolfe.End.PAUSED:
        check_interrupt()
        k = corral.size[0]
        most = min(most, max(1, numbers_per_call(NUMBERS_PER_CALL) // (Z.size + k * (k + Z.shape[1]))))
        code, taken, p = wolfe.descend(Z, groups, n_groups, longest, corral, 0.1 * tol, AT_ORIGIN * longest, most)
        end, steps, most = wolfe.End(code), steps + taken, steps_per_look
        if end is wolfe.End.PAUSED and steps < next_look:
            continue
        if may_overlap and end is wolfe.End.PAUSED:
            may_overlap = False
            point = overlap.common_point(problem, working)
            if point is not None and point.left <= AT_ORIGIN:
                yield Street(np.zeros(problem.n_columns), point.rows, point.weights, wolfe.End.AT_ORIGIN, steps)
                return
        next_look = steps + steps_per_look
        k = corral.size[0]
        rows, spanning_weights = corral.rows[:k].copy(), corral.weights[:k].copy()
        p = p / unit
        if len(p) != problem.n_columns:
            p = X[rows].T @ (signs[rows] * spanning_weights)
        yield Street(p, working[rows], spanning_weights, end, steps)


def gram(X: Matrix, centred: bool) -> NDArray[np.float64]:
    """X X', of the rows less their mean where both hulls may move alike: far from the origin little else is left.

    A sparse X is not filled; its products are centred instead.
    """
    if not centred:
        return dense(X @ X.T)
    if not is_sparse(X):
        X = X - X.mean(axis=0)
        return np.asarray(X @ X.T)
    K = dense(X @ X.T)
    mean = K.mean(axis=0)
    return np.asarray(K - mean[:, None] - mean[None, :] + mean.mean())


def dense(X: Matrix) -> NDArray[np.float64]:
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
