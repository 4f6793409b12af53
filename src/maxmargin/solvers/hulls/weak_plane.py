"""A weakly separating plane, for data whose hulls meet: no row on the wrong side, some row off the plane.

    wanted    v = (w, b) with  z_i.v >= 0 for all rows,  z_i.v > 0 for some,      z_i = y_i (x_i, 1)

If the rows F carry a witness, sum l_i z_i = 0 with l > 0, then every such v has z_i.v = 0 on F. So v is orthogonal to
F, and the question is asked again of what is left of the rows, for those of which something is left:

    start     F = the rows of the witness, and all rows that are equal to one of the other class
    repeat    Q = an orthonormal basis of F, by the directions that its new rows add;  z_i <- z_i - Q Q'z_i
              F spans all columns, or all rows vanish: no such plane
              the nearest point of their hull to the origin:  not 0: it is v;  0: its witness rows join F

Each turn adds a direction to Q at least, so there are at most d + 1. The origin is moved to a row of F and every column
to size one: otherwise what is small beside the lifted 1 would seem to vanish. In floating point: the certificate checks
the plane exactly, after projecting it onto the rows it passes through. Cost: n d^2 multiplications for all
projections, and a hull problem in each turn. Reference: facial reduction [borwein1981].
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from maxmargin.data.executor import check_interrupt
from maxmargin.data.table import Vector
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import Norm, Separation
from maxmargin.solvers.copies import contradictions
from maxmargin.solvers.hulls.nearest import dense, nearest_hulls

Table = NDArray[np.float64]

VANISHING = 1e-10  # of its length: what is left of a row, if it is smaller, is rounding
LARGEST_TABLE = 50_000_000  # numbers: beyond this the question is left open
AT_ONCE = 64  # rows of F whose directions are found together
ROWS_AT_ONCE = 8192  # that are projected between two checks of the clock


def is_too_large(problem: Separation) -> bool:
    """Whether the question is left open."""
    return problem.n_rows * (problem.n_columns + 1) > LARGEST_TABLE


def weak_plane(problem: Separation, witness: Iterate) -> tuple[Vector, float] | None:
    """(w, b), or None if none is found."""
    d = problem.n_columns
    X = dense(problem.X)
    face = carriers(np.linalg.norm(X, axis=1), witness.a)
    centre = X[face[0]] if problem.fit_intercept else np.zeros(d)
    Z = problem.signs[:, None] * (X - centre)
    if problem.fit_intercept:
        Z = np.column_stack([Z, problem.signs])
    sizes = np.abs(Z).max(axis=0)
    sizes[sizes == 0.0] = 1.0
    Z /= sizes
    lengths = np.linalg.norm(Z, axis=1)
    Q = np.zeros((Z.shape[1], 0))
    found = np.union1d(face, contradictions(problem.X, problem.signs)[0])
    is_first = True
    while True:
        new = directions(Z[found], VANISHING * lengths[found])
        if new.shape[1] == 0 and not is_first:  # rounding hides what the face rules out
            return None
        is_first = False
        Q = np.column_stack([Q, new])
        if Q.shape[1] == Z.shape[1]:  # nothing is orthogonal to all of F
            return None
        Z, lengths = np.delete(Z, found, axis=0), np.delete(lengths, found)
        project_out(Z, new)
        left = np.linalg.norm(Z, axis=1) > VANISHING * lengths
        Z, lengths = Z[left], lengths[left]
        if len(Z) == 0:
            return None
        *_, answer = nearest_hulls(Separation(Z, np.ones(len(Z)), Norm.L2, False))
        if np.linalg.norm(answer.w) > VANISHING * np.linalg.norm(Z, axis=1).max():
            # any multiple will do, and this one cannot overflow
            v = (answer.w - Q @ (Q.T @ answer.w)) * (float(sizes.min()) / sizes)
            return v[:d], float(v[d] - v[:d] @ centre) if problem.fit_intercept else 0.0
        found = carriers(np.linalg.norm(Z, axis=1), answer.a)


def directions(rows: Table, negligible: Vector) -> Table:
    """An orthonormal basis of these rows; rows of which less than that is left beside the others do not count.

    Some rows at a time, each orthogonalised twice against all that came before.
    """
    found = np.zeros((rows.shape[1], 0))
    for start in range(0, len(rows), AT_ONCE):
        check_interrupt()
        few, least = rows[start : start + AT_ONCE].T, negligible[start : start + AT_ONCE]
        for _ in range(2):
            few = few - found @ (found.T @ few)
        counts = np.linalg.norm(few, axis=0) > least
        few, least = few[:, counts], least[counts]
        if few.shape[1] == 0:
            continue
        basis, R, order = scipy.linalg.qr(few, mode="economic", pivoting=True)
        size = np.abs(np.diagonal(R))
        found = np.column_stack([found, basis[:, : int(np.count_nonzero(size > least[order][: len(size)]))]])
    return found


def project_out(Z: Table, directions: Table) -> None:
    """z_i <- z_i less its part along the directions, in place."""
    for start in range(0, len(Z), ROWS_AT_ONCE):
        check_interrupt()
        some = Z[start : start + ROWS_AT_ONCE]
        for _ in range(2):
            some -= (some @ directions) @ directions.T


def carriers(lengths: Vector, a: Vector) -> NDArray[np.intp]:
    """The rows that a witness rests on: a weight that is rounding carries nothing, a row of zeros needs no other."""
    if np.any(at_origin := (a > VANISHING) & (lengths == 0.0)):
        return np.flatnonzero(at_origin)
    carried = a * lengths
    return np.flatnonzero((a > 0.0) & (carried >= VANISHING * carried.max()))
