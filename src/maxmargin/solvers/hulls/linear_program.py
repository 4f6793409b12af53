"""The l1 margin exactly, as a linear program on a working set of rows and columns.

    primal    min |w|_1          subject to  y_i (w.x_i + b) >= 1;         the margin is 1 / |w|_1
    dual      max sum_i a_i      subject to  |sum_i a_i y_i x_ij| <= 1 for every column j,  sum_i a_i y_i = 0,
              a >= 0             (without b: not the last equation);       the margin is 1 / sum_i a_i
    link      the rows with a_i > 0 are on the street's edge, the columns with w_j != 0 at the dual's bound

As many columns have weight as rows have (with b, one less), so few of both are looked at:

    start     the street of the l2 margin, where the nearest hulls are found fast: its support vectors, the rows
              nearest to it, its heaviest columns. If the hulls meet, that is the answer for this norm too
              (many rows and many columns: everything, or what is nearest to the plane between the class means)
    repeat    the dual on the working set: by a path in its rows where it is dense and wide (l1_path), or else by HiGHS,
              its interior point method and then a vertex
              h = y (X w + b) and p = X^T (y a), one pass each: rows with h < 1 and columns with |p_j| > 1 join
    until     none is left; the vertex is then solved for once more as a system of linear equations

With sum_i a_i <= 10^9 the dual always has an optimum. Where that limit is reached on all columns, the answer comes
from  min |p|_inf  subject to  sum a = 1:  either |p| = 0, and a is the proof that no plane exists, or a tiny margin.

Cost: one LP for each of 2 to 6 rounds. Reference: [bennett1992], [bradley1998].
Differs: the box |p_j| <= 1 is kept as bounds of variables, which is several times as fast in HiGHS.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.optimize import linprog

from maxmargin.data.table import Matrix, Vector, largest_magnitude
from maxmargin.problems.protocol import Anew, Iterate, Iterates, Options
from maxmargin.problems.statement import Separation
from maxmargin.solvers.hulls.l1_path import end_of_path
from maxmargin.solvers.hulls.nearest import nearest_hulls
from maxmargin.solvers.passes import combination, values_of

Places = NDArray[np.intp]

SMALL_FOR_HULLS = 3000  # rows or columns: up to here the nearest hulls are found in seconds
SMALL_FOR_LP = 200_000  # numbers in X: up to here all columns are given to HiGHS at once
LARGE_FOR_LP = 5_000_000  # beyond this, not all rows either
WORTH_A_PATH = 50_000  # numbers of a working set: below, HiGHS is at its vertex in no time
DENSE = 0.25  # of its numbers are not zero: from there on products of rows are no fewer than BLAS makes fast
AT_A_VERTEX = 1e-12  # a relative gap that only a vertex has
LARGEST_SUM = 1e9  # of the weights: a margin below 1 / LARGEST_SUM of the largest |x_ij| is doubtful
AT_ORIGIN = 1e-13  # |p| below this share of the largest |x_ij|: the hulls meet, as far as float64 can tell
LARGEST_SYSTEM = 5000  # equations, when they are as many as the unknowns;
LARGEST_LEAST_SQUARES = 1500  # and when they are not
PATIENCE = 0.1  # seconds between two signs of life


class Part(NamedTuple):
    """The working set: its rows and columns, and there y_i x_ij times a power of two, so that none exceeds 1."""

    rows: Places
    columns: Places
    Z: sparse.csr_array
    signs: Vector
    lift: bool


class Vertex(NamedTuple):
    """A solution on a working set: the plane on its columns, the weights of its rows, and the LP's steps."""

    w: Vector
    b: float
    weights: Vector
    steps: int


class Claim(NamedTuple):
    """A vertex seen on the whole table: h = y (X w + b), p = X^T (y a), and the relative gap of the margins."""

    w: Vector
    b: float
    a: Vector
    h: Vector
    p: Vector
    gap: float


def start(problem: Separation, options: Options) -> Anew:
    return Anew(options)


def steps(problem: Separation, state: Anew) -> Iterates:
    return l1_margin(problem)


def l1_margin(problem: Separation, *, tol: float = 1e-10) -> Iterates:
    """Better and better iterates; the last one proposes. While HiGHS works, the last one is repeated."""
    n, d = problem.X.shape
    if min(n, d) <= SMALL_FOR_HULLS:
        for street in nearest_hulls(problem):
            meets = street.meets
            latest = Iterate(street.w, street.b, street.a, meets, 0, street.sweeps, meets=meets)
            yield latest
        if meets:
            return
    else:
        latest = first_plane(problem)
        yield latest
    rows, columns = first_working_set(problem, latest)
    scale = math.ldexp(1.0, -math.frexp(largest_magnitude(problem.X) or 1.0)[1])
    steps, sweeps = 0, latest.sweeps
    while True:
        part = part_of(problem, rows, columns, scale)
        vertex = yield from in_background(partial(largest_sum, part), latest)
        doubtful = vertex.weights.sum() > 0.999 * LARGEST_SUM
        claim = claim_of(problem, part, vertex, scale)
        new_rows, new_columns = outside(problem, part, claim, tol)
        if doubtful and not len(new_columns):
            vertex = yield from in_background(partial(smallest_box, part), latest)
            witness = polished_witness(part, vertex.weights)
            if np.abs(part.Z.T @ witness).max(initial=0.0) <= AT_ORIGIN:
                claim = claim_of(problem, part, vertex._replace(weights=witness), scale)
                steps += vertex.steps
                yield Iterate(claim.w, claim.b, claim.a, True, steps, sweeps + 1, meets=True)
                return
            claim = claim_of(problem, part, vertex, scale)
            new_rows, new_columns = outside(problem, part, claim, tol)
        if not len(new_rows) and not len(new_columns) and claim.gap > 0.01 * tol:
            vertex = yield from in_background(partial(polished, part, vertex), latest)
            better = claim_of(problem, part, vertex, scale)
            if better.gap < claim.gap:
                claim = better
                new_rows, new_columns = outside(problem, part, claim, tol)
        steps, sweeps = steps + vertex.steps, sweeps + 1
        proposes = not len(new_rows) and not len(new_columns)
        latest = Iterate(claim.w, claim.b, claim.a, proposes, steps, sweeps)
        yield latest
        if proposes:
            return
        rows, columns = np.concatenate([rows, new_rows]), np.concatenate([columns, new_columns])


# ------------------------------------------------------------------------------------------ the working set


def first_plane(problem: Separation) -> Iterate:
    """The plane half way between the means of the classes (through the origin: towards the mean of y_i x_i)."""
    plus = problem.signs > 0
    a = np.where(plus, 1.0 / max(1, plus.sum()), 1.0 / max(1, (~plus).sum()))
    w = combination(problem.X, problem.signs * a)
    b = 0.0
    if problem.fit_intercept:
        b = -0.5 * float(a @ values_of(problem.X, w))
    return Iterate(w, b, a)


def first_working_set(problem: Separation, plane: Iterate) -> tuple[Places, Places]:
    n, d = problem.X.shape
    numbers = (problem.X.data if hasattr(problem.X, "indptr") else problem.X).size
    rows, columns = np.arange(n), np.arange(d)
    count = 50 + 2 * min(d + 1, 1000)
    if numbers > (SMALL_FOR_LP if n > 4 * d else LARGE_FOR_LP) and n > 4 * count:
        h = problem.signs * (values_of(problem.X, plane.w) + plane.b)
        nearest = [lowest(h, np.flatnonzero(problem.signs == sign), count) for sign in (1.0, -1.0)]
        support = np.flatnonzero(plane.a) if plane.sweeps else rows[:0]
        rows = np.unique(np.concatenate([support, *nearest]))
    count = 50 + 2 * len(rows)
    if numbers > SMALL_FOR_LP and d > 4 * count:
        columns = np.sort(lowest(-np.abs(plane.w), columns, count))
    return rows, columns


def lowest(values: Vector, places: Places, count: int) -> Places:
    if len(places) <= count:
        return places
    return places[np.argpartition(values[places], count - 1)[:count]]


def part_of(problem: Separation, rows: Places, columns: Places, scale: float) -> Part:
    X: Matrix = problem.X if len(rows) == problem.n_rows else problem.X[rows]
    X = X if len(columns) == problem.n_columns else X[:, columns]
    signs = problem.signs[rows]
    Z = sparse.diags_array(signs * scale) @ sparse.csr_array(X, dtype=np.float64)
    return Part(rows, columns, sparse.csr_array(Z), signs, problem.fit_intercept)


def claim_of(problem: Separation, part: Part, vertex: Vertex, scale: float) -> Claim:
    w, a = np.zeros(problem.n_columns), np.zeros(problem.n_rows)
    w[part.columns], a[part.rows] = scale * vertex.w, vertex.weights
    h = problem.signs * (values_of(problem.X, w) + vertex.b)
    support = np.flatnonzero(a)
    p = scale * np.asarray(problem.X[support].T @ (problem.signs[support] * a[support]), dtype=np.float64)
    lower, upper = scale * h.min() / max(np.abs(w).sum(), 1e-300), np.abs(p).max() / max(a.sum(), 1e-300)
    return Claim(w, vertex.b, a, h, p, float((upper - lower) / max(upper, 1e-300)))


def outside(problem: Separation, part: Part, claim: Claim, tol: float) -> tuple[Places, Places]:
    """Rows inside the street and columns beyond the bound that are not in the working set, the worst of them."""
    count = 50 + 2 * int(np.count_nonzero(claim.a))
    edge = float(claim.h[part.rows].min()) if len(part.rows) else 1.0
    inside = claim.h < edge - tol * abs(edge)
    inside[part.rows] = False
    new_rows = [lowest(claim.h, np.flatnonzero(inside & (problem.signs == sign)), count) for sign in (1.0, -1.0)]
    size = np.abs(claim.p)
    bound = float(size[part.columns].max(initial=0.0))
    beyond = size > bound + tol * bound
    beyond[part.columns] = False
    return np.concatenate(new_rows), lowest(-size, np.flatnonzero(beyond), count)


# ------------------------------------------------------------------------------------- the linear programs


def largest_sum(part: Part) -> Vertex:
    """max sum a  subject to  Z^T a = s,  |s_j| <= 1,  y.a = 0,  sum a <= LARGEST_SUM,  a >= 0."""
    n, d = part.Z.shape
    if (found := by_path(part)) is not None:
        return found
    equations = sparse.hstack([part.Z.T, -sparse.eye_array(d)], format="csc")
    bounds = np.concatenate([np.tile([0.0, np.inf], (n, 1)), np.tile([-1.0, 1.0], (d, 1))])
    result = solved(
        -np.concatenate([np.ones(n), np.zeros(d)]),
        with_bias(part, equations),
        bounds,
        A_ub=sparse.csc_array(np.concatenate([np.ones(n), np.zeros(d)])[None, :]),
        b_ub=[LARGEST_SUM],
    )
    return vertex_of(part, result)


def by_path(part: Part) -> Vertex | None:
    """The same of a dense and wide part, by the path of its rows, if that ends at a vertex."""
    n, d = part.Z.shape
    if not (n <= min(d, SMALL_FOR_HULLS) and n * d >= WORTH_A_PATH and part.Z.nnz >= DENSE * n * d):
        return None
    end = end_of_path(part.Z.toarray(), part.signs if part.lift else None)
    if end is None or not np.any(end.a) or not np.any(end.w):
        return None
    found = polished(part, Vertex(end.w, end.b, end.a, end.steps))
    h, p = part.Z @ found.w + part.signs * found.b, part.Z.T @ found.weights
    lower, upper = float(h.min()) / float(np.abs(found.w).sum()), float(np.abs(p).max() / found.weights.sum())
    return found if upper - lower <= AT_A_VERTEX * upper else None


def smallest_box(part: Part) -> Vertex:
    """min t  subject to  Z^T a = s,  |s_j| <= t,  y.a = 0,  sum a = 1,  a >= 0."""
    n, d = part.Z.shape
    unit, ones = sparse.eye_array(d), sparse.csc_array(np.ones((2 * d, 1)))
    equations = sparse.hstack([part.Z.T, -unit, sparse.csc_array((d, 1))], format="csc")
    total = sparse.csc_array(np.concatenate([np.ones(n), np.zeros(d + 1)])[None, :])
    bounds = np.concatenate([np.tile([0.0, np.inf], (n, 1)), np.tile([-np.inf, np.inf], (d + 1, 1))])
    equations = sparse.vstack([with_bias(part, equations), total], format="csc")
    result = solved(
        np.concatenate([np.zeros(n + d), [1.0]]),
        equations,
        bounds,
        b_eq=np.concatenate([np.zeros(equations.shape[0] - 1), [1.0]]),
        A_ub=sparse.hstack([sparse.csc_array((2 * d, n)), sparse.vstack([unit, -unit]), -ones], format="csc"),
        b_ub=np.zeros(2 * d),
    )
    vertex = vertex_of(part, result)
    nearest = float((part.Z @ vertex.w + part.signs * vertex.b).min())
    return vertex._replace(w=vertex.w / nearest, b=vertex.b / nearest) if nearest > 0.0 else vertex


def with_bias(part: Part, equations: Any) -> Any:
    """The equations, and with a bias also y.a = 0."""
    if not part.lift:
        return equations
    row = np.zeros(equations.shape[1])
    row[: len(part.signs)] = part.signs
    return sparse.vstack([equations, sparse.csc_array(row[None, :])], format="csc")


def solved(cost: Vector, equations: Any, bounds: Vector, **limits: Any) -> Any:
    """HiGHS: interior point, then a vertex; if that fails, the simplex method."""
    solve: Any = linprog
    limits = {"b_eq": np.zeros(equations.shape[0]), **limits}
    for method in ("highs-ipm", "highs-ds"):
        result = solve(cost, A_eq=equations, bounds=bounds, method=method, **limits)
        if result.status == 0:
            return result
    raise RuntimeError(f"HiGHS found no iterate of the linear program of the l1 margin: {result.message}")


def vertex_of(part: Part, result: Any) -> Vertex:
    """The weights, and the plane from the prices of the equations."""
    n, d = part.Z.shape
    prices = np.asarray(result.eqlin.marginals, dtype=np.float64)
    steps = int(result.nit) + int(getattr(result, "crossover_nit", 0))
    return Vertex(-prices[:d], -float(prices[d]) if part.lift else 0.0, np.maximum(result.x[:n], 0.0), steps)


def polished(part: Part, vertex: Vertex) -> Vertex:
    """The vertex once more, from its equations: h_i = 1 on the rows with weight, p_j = sign w_j where w_j != 0."""
    rows = np.flatnonzero(vertex.weights > 1e-12 * vertex.weights.max(initial=0.0))
    columns = np.flatnonzero(np.abs(vertex.w) > 1e-12 * np.abs(vertex.w).max(initial=0.0))
    if not 0 < max(len(rows), len(columns)) <= LARGEST_SYSTEM:
        return vertex
    matrix = part.Z[rows][:, columns].toarray()
    plane, target = vertex.w[columns], np.sign(vertex.w[columns])
    if part.lift:
        matrix = np.column_stack([matrix, part.signs[rows]])
        plane, target = np.append(plane, vertex.b), np.append(target, 0.0)
    plane = corrected(matrix, plane, np.ones(len(rows)))
    w, weights = np.zeros_like(vertex.w), np.zeros_like(vertex.weights)
    w[columns] = plane[: len(columns)]
    weights[rows] = np.maximum(corrected(matrix.T, vertex.weights[rows], target), 0.0)
    return Vertex(w, float(plane[-1]) if part.lift else 0.0, weights, vertex.steps)


def polished_witness(part: Part, weights: Vector) -> Vector:
    """The weights once more, from their equations: Z^T a = 0, y.a = 0, sum a = 1."""
    rows = np.flatnonzero(weights > 1e-12 * weights.max(initial=0.0))
    if len(rows) > LARGEST_SYSTEM:
        return weights
    chosen = part.Z[rows]
    used = np.flatnonzero(np.diff(chosen.tocsc().indptr))
    equations = [chosen[:, used].toarray().T, np.ones((1, len(rows)))]
    if part.lift:
        equations.append(part.signs[None, rows])
    target = np.zeros(len(used) + len(equations) - 1)
    target[len(used)] = 1.0
    better = np.zeros_like(weights)
    better[rows] = np.maximum(corrected(np.vstack(equations), weights[rows], target), 0.0)
    return better


def corrected(matrix: Vector, start: Vector, target: Vector) -> Vector:
    """The iterate of matrix @ z = target that is nearest to start, in the sense of least squares."""
    residual = target - matrix @ start
    try:
        if matrix.shape[0] == matrix.shape[1]:
            return start + np.linalg.solve(matrix, residual)
    except np.linalg.LinAlgError:
        pass
    if max(matrix.shape) > LARGEST_LEAST_SQUARES:
        return start
    return start + np.asarray(scipy.linalg.lstsq(matrix, residual, lapack_driver="gelsy")[0])


def in_background(call: Callable[[], Vertex], meanwhile: Iterate) -> Generator[Iterate, None, Vertex]:
    """The result of a call that cannot be interrupted; until it is there, `meanwhile`, as a sign of life.

    A daemon, because whoever stops observing does not wait for its end either.
    """
    future: Future[Vertex] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    while True:
        try:
            return future.result(timeout=PATIENCE)
        except TimeoutError:
            yield meanwhile
