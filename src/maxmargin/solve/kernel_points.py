"""The rows of a problem as a kernel wants them, within the time limit."""

from __future__ import annotations

import contextlib

import numpy as np

from maxmargin.data.executor import OutOfTime, check_interrupt
from maxmargin.data.table import Vector
from maxmargin.problems.kernels import Kernel, Points, rows_of
from maxmargin.problems.statement import KernelMargin, TwoClasses
from maxmargin.run.control import Clock


def points_in_time(kernel: Kernel, two: TwoClasses, clock: Clock) -> Points:
    """These rows; where the time is over before they are made, as they are: no solver begins, and nobody asks."""
    try:
        with clock.searching():
            points = kernel.points(two.X, two.rows)
    except OutOfTime:
        return Points(two.X, np.zeros(0), two.rows)
    kernel.refuse_beyond_float64(points)
    return points


def values_in_time(problem: KernelMargin, a: Vector, clock: Clock | None) -> Vector:
    """w.phi(x_i) of every row for w = sum_j a_j y_j phi(x_j); zeros where the time is over, and no solver begins."""
    own = np.flatnonzero(a)
    coefficients = (a * problem.signs)[own, None]
    try:
        with contextlib.nullcontext() if clock is None else clock.searching():
            check_interrupt()
            return problem.kernel.combine(problem.points, rows_of(problem.points, own), coefficients)[:, 0]
    except OutOfTime:
        return np.zeros(problem.n_rows)
