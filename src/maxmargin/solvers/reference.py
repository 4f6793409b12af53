"""The margin problems off the shelf: written down in CVXPY, solved by Clarabel. To compare with, not to be fast.

    l2 primal   min 1/2 |w|_2^2                        subject to  y_i (w.x_i + b) >= 1
    l2 dual     max sum_i a_i - 1/2 |p|_2^2            subject to  a >= 0,  sum_i a_i y_i = 0
    l1 primal   min |w|_1                              subject to  y_i (w.x_i + b) >= 1
    l1 dual     max sum_i a_i                          subject to  a >= 0,  sum_i a_i y_i = 0,  |p_j| <= 1

    where       p = sum_i a_i y_i x_i; without b the equation sum_i a_i y_i = 0 falls away
    link        l2: w = p; l1: w is the price of |p_j| <= 1;  b = y_i - w.x_i on the rows with a_i > 0

No plane exists exactly when the primal has no iterate; its prices are then a proof: p = 0 and sum_i a_i y_i = 0.

    soft primal   min 1/2 |w|_2^2 + sum_i C_i (box r_i + m_i^2 / (2 bend))
                  subject to  y_i (w.x_i + b) >= 1 - m_i - r_i,   m, r >= 0
    link          a_i is the price of row i's constraint; m_i is the part of its slack before the knee, r_i the rest

Cost: an interior point method on everything at once. Reference: [diamond2016], [goulart2024].
"""

from __future__ import annotations

import contextlib
import importlib
import math
import warnings
from enum import StrEnum
from typing import Any

import numpy as np

from maxmargin.data.table import Matrix, Vector, largest_magnitude
from maxmargin.problems.protocol import Anew, Iterate, Iterates, Options
from maxmargin.problems.statement import Norm, Separation, SoftMargin
from maxmargin.solvers.passes import values_of

PRECISION = 1e-10
TOLERANCES = ("tol_gap_abs", "tol_gap_rel", "tol_feas", "tol_infeas_abs", "tol_infeas_rel")
DUST = 1e-10  # an interior point leaves such a share of the largest weight on the rows that have none


class Form(StrEnum):
    """Which of the two problems CVXPY is given."""

    PRIMAL = "primal"
    DUAL = "dual"


def start(problem: Separation | SoftMargin, options: Options) -> Anew:
    return Anew(options)


def steps(problem: SoftMargin, state: Anew) -> Iterates:
    return soft_reference(problem, tol=state.options.tol)


def hard_steps(problem: Separation, state: Anew) -> Iterates:
    return reference(problem)


def reference(problem: Separation, *, form: Form | str = Form.PRIMAL) -> Iterates:
    """One iterate, which proposes.

    >>> X, signs = np.array([[0.0, 1.0], [2.0, 2.0], [0.0, -1.0]]), np.array([1.0, 1.0, -1.0])
    >>> [iterate] = reference(Separation(X, signs, Norm.L2, True))
    >>> iterate.w.round(6) + 0.0, round(iterate.b, 6) + 0.0, iterate.a.round(6) + 0.0
    (array([0., 1.]), 0.0, array([0.5, 0. , 0.5]))
    """
    if Form(form) is Form.DUAL:
        yield solved_dual(problem) or solved_primal(problem)
    else:
        yield solved_primal(problem)


def solved_primal(problem: Separation) -> Iterate:
    cp = imported_cvxpy()
    scale = power_of_two_for(problem.X)
    w, b = cp.Variable(problem.n_columns), cp.Variable()
    if not problem.fit_intercept:
        b = cp.Constant(0.0)
    beyond_the_edge = cp.multiply(problem.signs, (problem.X * scale) @ w + b) >= 1
    size = cp.norm1(w) if problem.norm is Norm.L1 else 0.5 * cp.sum_squares(w)
    program = cp.Problem(cp.Minimize(size), [beyond_the_edge])
    solve(program)
    meets = program.status in (cp.INFEASIBLE, cp.INFEASIBLE_INACCURATE)
    plane, bias = (np.zeros(problem.n_columns), 0.0) if meets else (w.value, float(b.value))
    a = beyond_the_edge.dual_value
    if a is None:  # of a program without a solution, older releases of CVXPY give none
        a = point_in_both_hulls(problem, scale)
    return as_solution(problem, program, scale, plane, bias, a, meets)


def point_in_both_hulls(problem: Separation, scale: float) -> Vector:
    """Weights a >= 0 of sum one with sum_i a_i y_i x_i = 0 and, with a bias, sum_i a_i y_i = 0; zeros: none found."""
    cp = imported_cvxpy()
    a = cp.Variable(problem.n_rows)
    meeting = [a >= 0, cp.sum(a) == 1, (problem.X * scale).T @ cp.multiply(problem.signs, a) == 0]
    if problem.fit_intercept:
        meeting.append(problem.signs @ a == 0)
    solve(cp.Problem(cp.Minimize(0), meeting))
    return np.zeros(problem.n_rows) if a.value is None else np.asarray(a.value)


def solved_dual(problem: Separation) -> Iterate | None:
    """None when the dual grows without bound: the primal has no solution then."""
    cp = imported_cvxpy()
    scale = power_of_two_for(problem.X)
    a = cp.Variable(problem.n_rows)
    p = (problem.X * scale).T @ cp.multiply(problem.signs, a)
    above, below = p <= 1, p >= -1
    constraints = [a >= 0] + ([problem.signs @ a == 0] if problem.fit_intercept else [])
    if problem.norm is Norm.L1:
        program = cp.Problem(cp.Maximize(cp.sum(a)), [*constraints, above, below])
    else:
        program = cp.Problem(cp.Maximize(cp.sum(a) - 0.5 * cp.sum_squares(p)), constraints)
    solve(program)
    if program.status in (cp.UNBOUNDED, cp.UNBOUNDED_INACCURATE):
        return None
    w = above.dual_value - below.dual_value if problem.norm is Norm.L1 else p.value
    b = bias_from_support(problem, scale * w, a.value) if problem.fit_intercept else 0.0
    return as_solution(problem, program, scale, w, b, a.value, False)


def soft_reference(problem: SoftMargin, *, tol: float) -> Iterates:
    """One iterate, which proposes, as precise as Clarabel can make it, whatever tol is.

    >>> from maxmargin.problems.losses import HINGE
    >>> X, signs = np.array([[0.0], [2.0]]), np.array([-1.0, 1.0])
    >>> [iterate] = soft_reference(SoftMargin(X, signs, np.ones(2), HINGE, True), tol=1e-6)
    >>> iterate.w.round(6), round(iterate.b, 6), iterate.a.round(6)
    (array([1.]), -1.0, array([0.5, 0.5]))
    """
    cp = imported_cvxpy()
    scale = power_of_two_for(problem.X)
    w, b = cp.Variable(problem.n_columns), cp.Variable()
    if not problem.fit_intercept:
        b = cp.Constant(0.0)
    # In the scaled unit w is 1/scale times as large. The whole objective is brought to a few units as well: w = 0 is
    # a plane, so that none is better than sum_i C_i.
    unit = float(problem.costs.sum())
    loss, parts, losses = problem.loss, [], 0.0
    if loss.is_bounded:
        parts.append(cp.Variable(problem.n_rows, nonneg=True))
        losses = losses + loss.box * parts[-1]
    if loss.is_smooth:
        parts.append(cp.Variable(problem.n_rows, nonneg=True))
        losses = losses + 0.5 / loss.bend * cp.square(parts[-1])
    inside = cp.multiply(problem.signs, (problem.X * scale) @ w + b) >= 1 - sum(parts)
    size = 0.5 * (scale * scale / unit) * cp.sum_squares(w)
    program = cp.Problem(cp.Minimize(size + (problem.costs / unit) @ losses), [inside])
    solve(program)
    a = np.clip(unit * inside.dual_value, 0.0, problem.upper)
    steps = int(program.solver_stats.num_iters or 0)
    plane = scale * np.asarray(w.value, dtype=np.float64)
    yield Iterate(plane, float(b.value), a, True, steps, steps, gap=PRECISION)


def bias_from_support(problem: Separation, w: Vector, a: Vector) -> float:
    """The mean of y_i - w.x_i over the support vectors, each as heavy as its weight."""
    return float(np.average(problem.signs - values_of(problem.X, w), weights=np.maximum(a, 0.0)))


def power_of_two_for(X: Matrix) -> float:
    """What brings the largest |x_ij| to about 1, exactly: Clarabel's tolerances are not relative in everything."""
    return math.ldexp(1.0, -math.frexp(largest_magnitude(X) or 1.0)[1])


def as_solution(
    problem: Separation, program: Any, scale: float, w: Vector, b: float, a: Vector, meets: bool
) -> Iterate:
    """In the units of X: x was multiplied by the scale, so w is, and a as the objective (|w|_1, or |w|_2 squared)."""
    a = np.maximum(a, 0.0)
    a = np.where(a > DUST * a.max(), a, 0.0) * (scale if problem.norm is Norm.L1 else scale * scale)
    steps = int(program.solver_stats.num_iters or 0)
    return Iterate(scale * np.asarray(w, dtype=np.float64), b, a, True, steps, steps, meets=meets)


def solve(program: Any) -> None:
    """To full precision or, where Clarabel cannot, to its own; the status says so, a warning need not."""
    cp = imported_cvxpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for options in (dict.fromkeys(TOLERANCES, PRECISION), {}):
            with contextlib.suppress(cp.SolverError):
                program.solve(solver=cp.CLARABEL, **options)
                return
    raise RuntimeError("Clarabel fails on these numbers. Scale the columns of X alike, or choose another solver.")


def imported_cvxpy() -> Any:
    try:
        import cvxpy

        importlib.import_module("clarabel")  # asked here, because CVXPY's own message is less kind
    except ImportError as error:
        raise ImportError(
            "The reference solver needs CVXPY and Clarabel, which are not installed. "
            "To add them: pip install 'maxmargin[reference]'"
        ) from error
    return cvxpy
