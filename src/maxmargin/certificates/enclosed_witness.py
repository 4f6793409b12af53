"""That two hulls meet, proven in float64: the weights of a common point lie within bounds, and all are positive.

    given     k rows, whose signed columns y_i x_i (with a bias y_i (x_i, 1)) are M: k - 1 lines, those left out that
              follow from others: columns of zeros, columns equal to another, with a bias constant columns
    claim     M l = 0 has a solution with l > 0, all of it
    proof     one row has the weight 1; for the others, A x = c with A square. R is about A^-1, x about R c:

              G = I - R A,   alpha = |G|_inf < 1           so A is regular, and A^-1 = (I - G)^-1 R
              |x* - x| <= |R| |c - A x| + alpha / (1 - alpha) max |R| |c - A x|        for the solution x* itself

              every product with the roundings that it may have had counted in [higham2002]. x above that bound in every
              row: x* > 0. The weights that are exact are not known, but that they exist is.

The numbers of M are those of the table: signs and powers of two round nothing. The refinement of x and what it leaves
run in long doubles where the machine has them. Where this proves nothing, integers decide (`exact`): they need minutes
for a thousand rows, since the weights are fractions of as many digits as the determinant has.

Cost: 4 k^3, by LAPACK. Reference: [rump2010].
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates import exact
from maxmargin.certificates.duality import LONG, LONGER
from maxmargin.certificates.exact_linear_algebra import Rows, present_columns
from maxmargin.certificates.passes import rounding
from maxmargin.data.executor import check_interrupt, one_thread_for_blas
from maxmargin.data.table import Vector

MANY = 100  # rows of a witness: fewer are quickly done in integers
SPAN = 2.0**300  # between the largest and the least number of a line: far from what vanishes in products
REFINEMENTS = 3
VANISHED = 2.0**-1000  # more than a product loses below the normal range
MORE = 1.01  # for the roundings of the bounds themselves
LARGEST_INTEGER = 2**53


class CommonPoint(NamedTuple):
    """Weights of the rows, each next to an exact one, and 0 where a row has no part in it; None where none is proven,
    and why."""

    weights: Vector | None
    reason: str


def common_point(
    rows: Rows, signs: Vector, weights: Vector, with_bias: bool, *, in_integers: bool = False
) -> CommonPoint:
    """A common point of the hulls of these rows, whose weights say where to look: by bounds if many carry weight, and
    else, or `in_integers`, by fractions."""
    carrying = np.flatnonzero(weights > 0.0)
    if len(carrying) >= MANY and np.all(np.isfinite(weights)) and not in_integers:
        found = enclosed_weights(rows[carrying], signs[carrying], weights[carrying], with_bias)
        if found is not None:
            shares = np.zeros(len(weights))
            shares[carrying] = found
            return CommonPoint(shares, "The weights of a common point lie within bounds that are positive.")
    meeting = exact.proves_intersection(rows, signs, weights, with_bias)
    if meeting.weights is None:
        return CommonPoint(None, meeting.reason)
    total = sum(meeting.weights)  # integers of any length: divided first, rounded last, and never to zero
    shares = np.array([max(weight / total, math.ulp(0.0)) if weight else 0.0 for weight in meeting.weights])
    return CommonPoint(shares, meeting.reason)


@np.errstate(all="ignore")
def enclosed_weights(rows: Rows, signs: Vector, weights: Vector, with_bias: bool) -> Vector | None:
    """Weights of these rows, of sum 1, next to exact ones; None where float64 does not prove that they are.

    They are positive, but 0 for rows that a single column leaves out: where the classes, or the rows times their signs
    and the origin, meet in one number only, a row with another one has no part in a common point.
    """
    dense = present_columns(rows)[0]
    left = not_left_out(dense, signs, with_bias)
    if not np.all(left):
        of_the_left = enclosed_weights(dense[left], signs[left], weights[left], with_bias) if np.any(left) else None
        if of_the_left is None:
            return None
        shares = np.zeros(len(left))
        shares[left] = of_the_left
        return shares
    lines = independent_lines(dense, signs, with_bias)
    if lines is None or not 0 < len(lines) == lines.shape[1] - 1:
        return None
    free = int(np.argmax(weights))
    others = np.delete(np.arange(lines.shape[1]), free)
    with one_thread_for_blas:  # with another number of threads, other bits
        found = enclosed_solution(lines[:, others], -lines[:, free])
    if found is None:
        return None
    solution, bound = found
    if not np.all((solution > MORE * bound) & (solution > 1.0 / SPAN) & (solution < SPAN)):
        return None
    shares = np.ones(lines.shape[1], dtype=solution.dtype)
    shares[others] = solution
    shares = np.asarray(shares / shares.sum(), dtype=np.float64)
    return shares if np.all(shares > 0.0) else None


def not_left_out(rows: NDArray[Any], signs: Vector, with_bias: bool) -> NDArray[np.bool_]:
    """One round of it: the rows without a number that lies beyond the only one that both sides have in its column."""
    if with_bias and not (np.any(signs > 0) and np.any(signs < 0)):
        return np.ones(len(rows), bool)
    one = rows[signs > 0] if with_bias else rows * signs[:, None]
    other = rows[signs < 0] if with_bias else np.zeros_like(rows[:1])
    above, below = one.min(axis=0) >= other.max(axis=0), one.max(axis=0) <= other.min(axis=0)
    met = np.where(above, other.max(axis=0), other.min(axis=0))
    return np.asarray(np.all(rows == met, axis=1, where=above | below))


def independent_lines(rows: NDArray[Any], signs: Vector, with_bias: bool) -> Vector | None:
    """M without lines that follow from others by their looks, times powers of two; None where that would round."""
    columns = rows.T
    if columns.dtype.kind in "iu" and not np.all(np.abs(columns.astype(np.float64)) < LARGEST_INTEGER):
        return None
    columns = columns.astype(np.float64)
    if not np.all(np.isfinite(columns)):
        return None
    known = columns[:, :1] if with_bias else 0.0
    columns = np.unique(columns[(columns != known).any(axis=1)], axis=0)
    lines = columns * signs
    lines = np.vstack([lines, signs]) if with_bias else lines
    sizes = np.abs(lines)
    largest = sizes.max(axis=1, initial=0.0)
    if not np.all((largest < SPAN) & (largest > 1.0 / SPAN)):
        return None
    if not np.all(np.min(sizes, axis=1, where=sizes > 0.0, initial=np.inf) * SPAN > largest):
        return None
    return np.asarray(lines * np.exp2(-np.frexp(largest)[1])[:, None])


def enclosed_solution(A: Vector, c: Vector) -> tuple[NDArray[Any], Vector] | None:
    """x, and how far each of its numbers may be from the solution of A x = c; None where A may be singular."""
    size = len(A)
    try:
        R = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        return None
    check_interrupt()
    off = np.abs(np.eye(size) - R @ A)
    check_interrupt()
    off += MORE * rounding(size + 2) * (np.abs(R) @ np.abs(A) + 1.0)
    alpha = MORE * float(off.sum(axis=1).max())
    if not alpha < 0.5:
        return None
    number: Any = LONG if LONGER else np.float64
    A_long, c_long = A.astype(number), c.astype(number)
    x = (R @ c).astype(number)
    for _ in range(REFINEMENTS):
        check_interrupt()
        x = x + R @ (c_long - A_long @ x).astype(np.float64)
    sizes = np.abs(A) @ np.abs(x).astype(np.float64) + np.abs(c)
    left = np.abs(c_long - A_long @ x).astype(np.float64) + MORE * rounding(size + 2, number) * sizes
    moved = MORE * (np.abs(R) @ (MORE * left)) + size * VANISHED
    bound = moved + MORE * alpha / (1.0 - alpha) * float(moved.max())
    return (x, bound) if np.all(np.isfinite(bound)) else None
