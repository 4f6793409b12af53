"""A plane that separates in the space of a kernel: the perceptron runs, and its counts are certified.

Where it does not end after some sweeps, the judge is asked once for a witness: rows whose hulls meet in that space.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from maxmargin.certificates.exact_kernel import MOST_COORDINATES, number_of_monomials, witness
from maxmargin.data.executor import OutOfTime, Threads
from maxmargin.data.table import Vector
from maxmargin.problems.choices import Norm, Order
from maxmargin.problems.kernels import Kernel, ProductKernel
from maxmargin.problems.losses import HINGE
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import KernelMargin, Separation, TwoClasses
from maxmargin.problems.trace import UpdateObserver
from maxmargin.run.control import Clock, RunState, Status
from maxmargin.solve.answer import Answer
from maxmargin.solve.kernel_margin import EvaluationTime
from maxmargin.solve.kernel_points import points_in_time
from maxmargin.solve.separation import drive

REFEREE_AFTER = 20  # sweeps without success: then a witness is looked for, once
MOST_NUMBERS = 2**20  # of the table of coordinates that a witness is looked for in


def learn(
    two: TwoClasses,
    kernel: Kernel,
    clock: Clock,
    fit_intercept: bool,
    order: Order,
    seed: int,
    max_sweeps: int,
    threads: Threads,
    trace: UpdateObserver | None = None,
) -> Answer:
    """Sweep until no row is a mistake, a witness is found, the sweeps or the time are over, or Ctrl-C."""
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
        threads=threads,
    )
    problem = Separation(two.X, two.signs, Norm.L2, fit_intercept)
    hard = KernelMargin(two.X, two.signs, np.full(len(two.signs), np.inf), HINGE, fit_intercept, kernel, points)
    needed = EvaluationTime(hard, threads)
    proof: Vector | None = None
    was_asked = False

    def no_plane_exists(iterate: Iterate, state: RunState) -> bool:
        nonlocal proof, was_asked
        if not state.asked and iterate.sweeps >= REFEREE_AFTER:
            state.asked = True
            proof = witness(hard) if is_small(hard) else None
        was_asked = state.asked
        return proof is not None

    iterate, status = drive(problem, run, clock, no_plane_exists, lambda iterate: needed.seconds_for(iterate.a))
    if status is Status.BUDGET and not was_asked and is_small(hard):
        proof = witness(hard)
        status = status if proof is None else Status.WITNESS
    certified = functools.partial(
        kernel_separation,
        two,
        kernel,
        points,
        iterate.a,
        fit_intercept=fit_intercept,
        settled=iterate.proposes,
        mistakes=iterate.updates,
        witness=proof,
    )
    certificate: Any
    try:
        with clock.judging():
            certificate = certified(measured=bool(np.any(iterate.a)))  # no mistake was made: nothing to measure
    except OutOfTime:  # the limit holds all the same: what was learnt is kept, and nothing is claimed of it
        status, certificate = clock.reason, certified(measured=False, settled=False)
    return Answer(two, iterate, certificate, status, kernel=kernel)


def is_small(problem: KernelMargin) -> bool:
    """Whether the search for a witness is a matter of a second: a linear program in the coordinates of phi."""
    n, kernel = problem.n_rows, problem.kernel
    coordinates = number_of_monomials(problem) if isinstance(kernel, ProductKernel) else float(n)
    return bool(kernel.irrational) or n * min(coordinates, float(MOST_COORDINATES)) <= MOST_NUMBERS
