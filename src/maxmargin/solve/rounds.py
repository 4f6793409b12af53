"""The iterates of a run, measured afterwards by the judge of its problem: what was proven after each round.

As in a fit, the best plane and the best weights so far count, and they need not come together. The bounds are those of
the quantity that the problem is about: the objective of a soft margin, the margin of a separation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from maxmargin.certificates import kernel_duality, kernel_separation
from maxmargin.certificates.duality import OUTWARDS
from maxmargin.certificates.measure import hull_distance, plane_margin
from maxmargin.data.table import Vector
from maxmargin.problems.kernels import Kernel
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import KernelMargin, Separation, SignedRows, SoftMargin
from maxmargin.solve.soft_margin import Judge
from maxmargin.solve.stochastic import JudgeOfTheLast


class Round(NamedTuple):
    """An iterate as it was measured.

    b             the bias with which its plane was measured
    a             its weights, feasible in the space of a kernel
    lower, upper  what the best value of any plane lies between, by all rounds so far
    """

    iterate: Iterate
    b: float
    a: Vector
    lower: float
    upper: float


def judged(
    problem: SignedRows,
    iterates: Iterable[Iterate],
    *,
    tol: float = 0.0,
    kernel: Kernel | None = None,
    takes_last: bool = False,
) -> Iterator[Round]:
    """Every iterate with what is proven by then, in the numbers of the problem.

    `kernel` is that of a separation in its space. `takes_last`: the plane is shown as it is, with its own bias, and the
    last one counts, as in stochastic steps.
    """
    if isinstance(problem, KernelMargin):
        return judged_in_kernel(problem, iterates)
    if isinstance(problem, SoftMargin):
        return judged_softly((JudgeOfTheLast if takes_last else Judge)(problem, tol, None), iterates)
    assert isinstance(problem, Separation)
    return judged_hard(problem, iterates, kernel)


def judged_softly(judge: Judge, iterates: Iterable[Iterate]) -> Iterator[Round]:
    for iterate in iterates:
        b = judge.evaluate(iterate).b
        yield Round(iterate, b, iterate.a, judge.dual.lower, judge.plane.primal.upper)


def judged_in_kernel(problem: KernelMargin, iterates: Iterable[Iterate]) -> Iterator[Round]:
    nothing = kernel_duality.measure(problem, np.zeros(problem.n_rows))
    lower, upper = nothing.lower, nothing.upper
    for iterate in iterates:
        a = np.clip(iterate.a, 0.0, problem.costs)
        found = kernel_duality.measure(problem, a)
        lower, upper = max(lower, found.lower), min(upper, found.upper)
        yield Round(iterate, found.b, a * np.where(problem.signs > 0, *found.scales), lower, upper)


def judged_hard(problem: Separation, iterates: Iterable[Iterate], kernel: Kernel | None) -> Iterator[Round]:
    lower, upper = 0.0, math.inf
    for iterate in iterates:
        found = margins_in_kernel(problem, iterate, kernel) if len(iterate.w) == 0 else margins(problem, iterate)
        lower, upper = max(lower, found[0]), min(upper, found[1])
        yield Round(iterate, iterate.b, iterate.a, lower, upper)


def margins(problem: Separation, iterate: Iterate) -> tuple[float, float]:
    """What its plane has, and what its weights allow."""
    rows, norm = np.flatnonzero(iterate.a), problem.norm.value
    lower = plane_margin(problem.X, problem.signs, iterate.w, iterate.b, norm).lower
    return lower, hull_distance(
        problem.X[rows], problem.signs[rows], iterate.a[rows], norm, problem.fit_intercept
    ).upper


def margins_in_kernel(problem: Separation, iterate: Iterate, kernel: Kernel | None) -> tuple[float, float]:
    assert kernel is not None
    points = kernel.points(problem.X)
    plane = kernel_separation.measure(kernel, points, problem.signs, iterate.a, problem.fit_intercept)
    return plane.lower(OUTWARDS), plane.upper(OUTWARDS)
