"""A plane that separates in the space of a kernel: the perceptron runs, and its counts are certified."""

from __future__ import annotations

from typing import Any

from maxmargin.problems.kernels import Kernel
from maxmargin.problems.multiclass import TwoClasses
from maxmargin.problems.separation import Norm, Separation
from maxmargin.solve.clock import Answer, Clock
from maxmargin.solve.separation import drive


def learn(
    two: TwoClasses, kernel: Kernel, clock: Clock, fit_intercept: bool, seed: int | None, max_sweeps: int
) -> Answer:
    """Sweep until no row is a mistake, the sweeps are spent, the time is over, or Ctrl-C."""
    from maxmargin.certificates.kernel_separation import kernel_separation
    from maxmargin.solvers.kernel_perceptron import kernel_perceptron

    points, notebook = kernel.points(two.X, two.rows), clock.watch.notebook

    def solver(_: Separation) -> Any:
        return kernel_perceptron(
            kernel,
            points,
            two.signs,
            fit_intercept=fit_intercept,
            seed=seed,
            max_sweeps=max_sweeps,
            notebook=notebook,
        )

    solution, status = drive(Separation(two.X, two.signs, Norm.L2, fit_intercept), solver, clock, notebook=notebook)
    certificate: Any = kernel_separation(
        two,
        kernel,
        points,
        solution.a,
        fit_intercept=fit_intercept,
        settled=solution.settled,
        mistakes=solution.updates,
    )
    return Answer(two, solution, certificate, status)
