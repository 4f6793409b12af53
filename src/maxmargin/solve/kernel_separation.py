"""A plane that separates in the space of a kernel: the perceptron runs, and its counts are certified."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from maxmargin.data.executor import OutOfTime
from maxmargin.problems.choices import Norm, Order
from maxmargin.problems.kernels import Kernel
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import Separation, TwoClasses
from maxmargin.problems.trace import UpdateObserver
from maxmargin.run.control import Clock
from maxmargin.solve.answer import Answer
from maxmargin.solve.kernel_points import points_in_time
from maxmargin.solve.separation import drive

MARGIN = 1.2  # times what the certificate is thought to take is reserved for it


def learn(
    two: TwoClasses,
    kernel: Kernel,
    clock: Clock,
    fit_intercept: bool,
    order: Order,
    seed: int,
    max_sweeps: int,
    trace: UpdateObserver | None = None,
) -> Answer:
    """Sweep until no row is a mistake, the sweeps are spent, the time is over, or Ctrl-C."""
    from maxmargin.certificates.kernel_separation import kernel_separation
    from maxmargin.solvers.mistakes.kernel_perceptron import kernel_perceptron

    points = points_in_time(kernel, two, clock)
    run = kernel_perceptron(
        kernel,
        points,
        two.signs,
        fit_intercept=fit_intercept,
        order=order,
        seed=seed,
        max_sweeps=max_sweeps,
        trace=trace,
    )

    def seconds_for(iterate: Iterate) -> float:
        """What the certificate takes: as the search, a row of the kernel for each row on which a mistake was made."""
        return MARGIN * clock.elapsed * np.count_nonzero(iterate.a) / max(1.0, float(iterate.rows_made))

    problem = Separation(two.X, two.signs, Norm.L2, fit_intercept)
    iterate, status = drive(problem, run, clock, seconds_for=seconds_for)
    certified = functools.partial(
        kernel_separation,
        two,
        kernel,
        points,
        iterate.a,
        fit_intercept=fit_intercept,
        settled=iterate.proposes,
        mistakes=iterate.updates,
    )
    certificate: Any
    try:
        with clock.judging():
            certificate = certified(measured=bool(np.any(iterate.a)))  # no mistake was made: nothing to measure
    except OutOfTime:  # the limit holds all the same: what was learnt is kept, and nothing is claimed of it
        status, certificate = clock.reason, certified(measured=False, settled=False)
    return Answer(two, iterate, certificate, status, kernel=kernel)
