"""A weakly separating plane, for data whose hulls meet: no row on the wrong side, some row off the plane.

    wanted    v = (w, b) with  z_i.v >= 0 for all rows,  z_i.v > 0 for some,      z_i = y_i (x_i, 1)

If the rows F carry a witness, sum l_i z_i = 0 with l > 0, then every such v has z_i.v = 0 on F. So v lies in the
space N orthogonal to F, and the question is asked again there, for the rows that do not vanish in N:

    repeat    N = the space orthogonal to F;  none left: no such plane
              the rows in N;  all vanish: no such plane
              the nearest point of their hull to the origin:  not 0: it is v;  0: its witness rows join F

Each turn lowers the dimension of N, so there are at most d + 1. The origin is moved to a row of F and every column to
size one: otherwise what is small beside the lifted 1 would seem to vanish. In floating point: the certificate checks
the plane exactly, after projecting it onto the rows it passes through. Reference: facial reduction [borwein1981].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from maxmargin.data.matrix import Vector
from maxmargin.problems.separation import Norm, Separation, Solution
from maxmargin.solvers.nearest_hulls import dense, nearest_hulls

VANISHING = 1e-10  # of its length: a row's part in N that is smaller is rounding
LARGEST_TABLE = 50_000_000  # numbers: beyond this the question is left open


def weak_plane(problem: Separation, witness: Solution) -> tuple[Vector, float] | None:
    """(w, b), or None if there is none (or the table is too large to ask)."""
    n, d = problem.X.shape
    if n * (d + 1) > LARGEST_TABLE:
        return None
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
    dimension = Z.shape[1] + 1
    while True:
        N = null_space(Z[face], rcond=VANISHING)
        if N.shape[1] == 0 or N.shape[1] >= dimension:  # the second: rounding hides what the face rules out
            return None
        dimension = N.shape[1]
        inside = Z @ N
        left = np.flatnonzero(np.linalg.norm(inside, axis=1) > VANISHING * lengths)
        if len(left) == 0:
            return None
        question = Separation(np.ascontiguousarray(inside[left]), np.ones(len(left)), Norm.L2, False)
        *_, answer = nearest_hulls(question)
        if not answer.details["meets"]:
            v = (N @ answer.w) / sizes
            return v[:d], float(v[d] - v[:d] @ centre) if problem.fit_intercept else 0.0
        found = left[carriers(np.linalg.norm(inside[left], axis=1), answer.a)]
        face = np.concatenate([face, found])


def carriers(lengths: Vector, a: Vector) -> NDArray[np.intp]:
    """The rows that a witness rests on: a weight that is only rounding carries nothing."""
    carried = a * lengths
    return np.flatnonzero((a > 0.0) & (carried >= VANISHING * carried.max()))
