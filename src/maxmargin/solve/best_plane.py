"""The best plane of the lifted rows, where it costs little: from its margin the theorems of a run by mistakes say most.

lifted rows     (x_i, 1) with a bias, x_i without; for the l1 margin (x_i / s, 1), s = max |x_ij|; or each at length 1
best plane      the largest  min_i y_i v.(x_i, 1) / |v|,  v = (w, b):  a separation through the origin
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse

from maxmargin.certificates.passes import point_of, values_of
from maxmargin.data.executor import OutOfTime
from maxmargin.data.table import Vector, is_sparse, largest_magnitude, row_squares, take
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import Norm, Separation
from maxmargin.run.control import Clock
from maxmargin.solvers import registry
from maxmargin.solvers.mistakes.driver import scaled_signs

MOST_NUMBERS = {Norm.L2: 2**16, Norm.L1: 2**12}  # of the table: then it is a few milliseconds
MOST_ON_A_SIDE = 64  # rows or columns, whichever are fewer: the rows that a nearest point of the hulls is made of
PRECISE = 1e-2  # relative, of the margin: a bound need not be known better than it is


def best_lifted_plane(problem: Separation, clock: Clock) -> tuple[Vector, float] | None:
    """The plane, in the units of the problem; None where it costs too much, or the time is over.

    Nobody is shown this search: it belongs to what is told of a run that has ended.
    """
    n, d = problem.X.shape
    if n * (d + 1) > MOST_NUMBERS[problem.norm] or min(n, d + 1) > MOST_ON_A_SIDE:
        return None
    lifted = lifted_separation(problem)
    run, found = registry.separation(lifted.problem, tol=PRECISE), None
    try:
        with clock.searching():
            while (iterate := clock.next_of(run.iterates)) is not None:
                found = iterate
                if iterate.proposes:
                    break
    except OutOfTime:
        return None
    except KeyboardInterrupt:
        clock.interrupt()
        return None
    finally:
        run.iterates.close()
    if found is None or not np.any(found.w[:d]):
        return None
    own = lifted.in_own_space(found)
    return own.w, own.b


class Lifted(NamedTuple):
    """A problem through the origin, of rows (x_i / unit, 1) / length_i."""

    problem: Separation
    has_bias: bool
    unit: float
    lengths: Vector

    def in_own_space(self, iterate: Iterate) -> Iterate:
        """An iterate of it as a plane and weights of the rows x_i."""
        d = self.problem.n_columns - int(self.has_bias)
        b = float(iterate.w[d]) if self.has_bias else 0.0
        return dataclasses.replace(iterate, w=iterate.w[:d] / self.unit, b=b, a=iterate.a / self.lengths)


def lifted_separation(problem: Separation) -> Lifted:
    """The lifted rows; of a problem with normalised rows, each at length 1."""
    X, n = problem.X, problem.n_rows
    keeps_sparse = problem.normalized and is_sparse(X)
    rows: Any = (
        X.astype(np.float64) if keeps_sparse else np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
    )
    unit, lengths = 1.0, np.ones(n)
    if problem.norm is Norm.L1 and not problem.normalized:
        unit = largest_magnitude(rows) or 1.0
        rows = rows / unit
    if problem.fit_intercept:
        one: Any = np.ones((n, 1))
        rows = (
            sparse.csr_array(sparse.hstack([rows, sparse.csr_array(one)])) if keeps_sparse else np.hstack([rows, one])
        )
    if problem.normalized:
        lengths = 1.0 / np.abs(scaled_signs(problem))
        rows = sparse.csr_array(sparse.diags_array(1.0 / lengths) @ rows) if keeps_sparse else rows / lengths[:, None]
    return Lifted(Separation(rows, problem.signs, problem.norm, False), problem.fit_intercept, unit, lengths)


def with_both_classes(problem: Separation, a: Vector) -> Vector:
    """Weights that bound the margin from above: where only rows of one class have any, a row of the other gets some.

    It is the row nearest to the point that the weights make: any point of the hull of its class would do.
    """
    classes = [np.flatnonzero(problem.signs == sign) for sign in (1.0, -1.0)]
    without = [rows for rows in classes if len(rows) and not np.any(a[rows])]
    total = math.fsum(a)
    if not problem.fit_intercept or len(without) != 1 or total == 0.0:
        return a
    [rows] = without
    other = take(problem.X, rows)
    with np.errstate(over="ignore", invalid="ignore"):  # then it is any row
        nearest = rows[np.argmin(row_squares(other) - 2.0 * values_of(other, point_of(problem.X, a / total)))]
    a = a.copy()
    a[nearest] = total
    return a
