"""The rounds of a solver as the page steps through them: the plane and the two values that the judge makes of each.

The values are the best so far, as a fit keeps them: the primal of the best plane and the dual of the best weights. Each
algorithm's own judge evaluates its iterates once more, on the points as the page shows them, because a step needs the
bias and the weights of its round too; `estimators.rounds` has the bounds alone, of any estimator and any rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.measure import hull_distance, objective, plane_margin
from maxmargin.certificates.soft_margin import SoftMarginCertificate
from maxmargin.data.matrix import Vector
from maxmargin.data.threads import Threads
from maxmargin.playground.fits import Fit
from maxmargin.playground.thinning import evenly
from maxmargin.problems.kernels import Kernel, KernelChoice
from maxmargin.problems.losses import HINGE, loss_named
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import KernelMargin, SoftMargin
from maxmargin.solve.soft_margin import Judge
from maxmargin.solve.stochastic import JudgeOfTheLast


class Round(NamedTuple):
    """One round: w is None with a kernel; `a` are weights of all rows; the values are infinite where unknown."""

    number: int
    w: Vector | None
    b: float
    a: Vector
    primal: float
    dual: float
    solver: str


def rounds_of(fit: Fit, most: int) -> list[Round]:
    """At most so many rounds of a fit, from the first to the last, evenly chosen; none of a mistake-driven learner."""
    iterates = [moment.iterate for moment in fit.recording.kept]
    numbered = [(at * fit.recording.stride + 1, iterates[at]) for at in evenly(len(iterates), most)]
    return [found for found in judged(fit, numbered) if np.isfinite(found.a).all()]


def judged(fit: Fit, numbered: list[tuple[int, Iterate]]) -> Iterator[Round]:
    name = fit.state.algorithm.name
    is_bent = fit.state.parameters.get("kernel", "linear") != "linear"
    if name == "kernel_svm" or (name == "stochastic_svm" and is_bent):
        yield from judged_in_kernel(fit, numbered)
    elif isinstance(fit.certificate, SoftMarginCertificate):
        yield from judged_softly(fit, numbered)
    elif name in ("hard_margin", "linear_svm"):
        yield from judged_hard(fit, numbered)


def judged_softly(fit: Fit, numbered: list[tuple[int, Iterate]]) -> Iterator[Round]:
    certificate, X = fit.certificate, fit.state.points
    costs = np.full(len(X), certificate.C)
    loss = loss_named(certificate.loss, certificate.huber_width)
    problem = SoftMargin(X, signs_of(fit), costs, loss, certificate.fit_intercept)
    kind = JudgeOfTheLast if fit.state.algorithm.name == "stochastic_svm" else Judge
    judge = kind(problem, certificate.tol, None)
    for number, iterate in numbered:
        b = judge.evaluate(iterate).b
        values = judge.plane.primal.upper, judge.dual.lower
        yield Round(number, iterate.w, b, iterate.a, *values, iterate.solver)


def judged_hard(fit: Fit, numbered: list[tuple[int, Iterate]]) -> Iterator[Round]:
    certificate, X, signs = fit.certificate, fit.state.points, signs_of(fit)
    assert isinstance(certificate, Certificate)
    primal, dual = math.inf, 0.0
    norm = certificate.norm
    for number, iterate in numbered:
        w, b, a = iterate.w, iterate.b, iterate.a
        primal = min(primal, objective(plane_margin(X, signs, w, b, norm).lower, norm))
        distance = 0.0 if iterate.meets else hull_distance(X, signs, a, norm, certificate.fit_intercept).upper
        dual = max(dual, objective(distance, norm))
        yield Round(number, w, b, a, primal, dual, fit.state.parameters.get("solver", "linear_program"))


def judged_in_kernel(fit: Fit, numbered: list[tuple[int, Iterate]]) -> Iterator[Round]:
    from maxmargin.solve.kernel_margin import KernelJudge

    X, kernel = fit.state.points, kernel_of(fit)
    costs = np.full(len(X), fit.state.parameters["C"])
    problem = KernelMargin(X, signs_of(fit), costs, HINGE, True, kernel, kernel.points(X))
    with Threads() as threads:
        judge = KernelJudge(problem, fit.certificate.tol, threads)
        for number, iterate in numbered:
            judge.evaluate(iterate)
            a = judge.a * np.where(problem.signs > 0, *judge.measured.scales)
            w = (a * problem.signs) @ X if fit.state.parameters["kernel"] == "linear" else None
            yield Round(number, w, judge.measured.b, a, judge.measured.upper, judge.measured.lower, "pairs")


def kernel_of(fit: Fit) -> Kernel:
    """The kernel on the points of the fit."""
    numbers: dict[str, Any] = {"gamma": 1.0, "coef0": 0.0, "degree": 1, **fit.state.parameters}
    choice = KernelChoice(numbers["kernel"], numbers["gamma"], numbers["coef0"], numbers["degree"])
    return choice.on(fit.state.points)


def signs_of(fit: Fit) -> Vector:
    return fit.state.signs.astype(np.float64)
