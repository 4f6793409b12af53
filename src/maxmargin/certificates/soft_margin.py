"""The certificate of a soft margin: a plane and weights of the rows, and the bounds of the optimum that they prove.

    dual <= the least value of 1/2 |w|^2 + sum_i C_i loss(1 - y_i (w.x_i + b)) <= primal

C_i = C times the weight of the row's class times the row's own weight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates import exact_soft_margin
from maxmargin.certificates.duality import (
    INSIDE,
    DualValue,
    PrimalValue,
    dual_value,
    feasible_weights,
    primal_value,
    soft_conditions,
)
from maxmargin.certificates.form import almost, figures_refused, relative_error, row_refused
from maxmargin.certificates.passes import length, row_shares, soft_gap, values_of
from maxmargin.certificates.proof import KKT, TheoremBound
from maxmargin.certificates.record import Record
from maxmargin.certificates.theorem_verification import pegasos_refused
from maxmargin.certificates.verify import Bound, Evaluator, objective_at_least, objective_at_most, register
from maxmargin.data.table import Vector
from maxmargin.problems.losses import loss_named, width_refused
from maxmargin.problems.statement import SoftMargin


class SoftVerdict(StrEnum):
    """What is proven, as a sentence.

    Examples
    --------
    >>> from maxmargin import LinearSVM, SoftVerdict
    >>> LinearSVM().fit([[0], [1], [2]], [0, 1, 1]).certificate_.verdict is SoftVerdict.OPTIMAL
    True
    """

    OPTIMAL = "Optimal: no plane has a lower objective, to the stated gap."
    BOUNDED = "Not proven to the gap that was asked for: the optimum lies between the stated bounds."


@dataclass(frozen=True, eq=False, repr=False)
class SoftMarginCertificate(Record):
    """What is proven about the soft margin between one class and another (or the rest).

    Parameters
    ----------
    verdict : SoftVerdict
        What is proven, as a sentence.
    loss, C, fit_intercept : str, float, bool
        Which problem; `loss` is the name of one in `problems.losses`.
    class_weight : tuple of pairs
        Pairs (label, weight): C_i = C * weight of the label * sample weight; empty: all 1.
    positive, negative : label
        The labels on the two sides; negative None means all other labels.
    n_rows, n_columns : int
        The size of the problem.
    w, b : ndarray, float
        The plane w.x + b = 0.
    rows, weights : ndarray of int, ndarray
        Rows of X with their dual variables a_i > 0; the others have none. With a bias, the class of the larger
        sum is to be scaled down to the other's.
    primal, dual : float
        The optimum lies between them, rounding included: P of the plane is at most `primal`, and D of the
        weights at least `dual`.
    tol : float
        The relative gap that was asked for.
    kkt : KKT or None
        How well the conditions of optimality hold.
    theorems : tuple of TheoremBound
        The algorithm's guarantees beside what happened.
    huber_width : float or None
        Where the Huber hinge becomes a straight line; None for all other losses.

    Examples
    --------
    >>> from maxmargin import LinearSVM
    >>> X, y = [[0], [1], [4], [3], [6], [7]], [0, 0, 0, 1, 1, 1]
    >>> certificate = LinearSVM().fit(X, y).certificate_
    >>> certificate.dual <= certificate.primal, certificate.is_optimal, bool(certificate.verify(X, y, exact=True))
    (True, True, True)
    """

    kind: ClassVar[str] = "soft margin"
    recognised_by: ClassVar[set[str]] = {"loss"}
    verdicts: ClassVar[type[StrEnum]] = SoftVerdict
    question: ClassVar[str] = "is_optimal"

    verdict: SoftVerdict
    loss: str
    C: float
    fit_intercept: bool
    class_weight: tuple[tuple[Any, float], ...]
    positive: Any
    negative: Any
    n_rows: int
    n_columns: int
    w: Vector
    b: float
    rows: NDArray[np.intp]
    weights: Vector
    primal: float
    dual: float
    tol: float
    kkt: KKT | None = None
    theorems: tuple[TheoremBound, ...] = ()
    huber_width: float | None = None

    @property
    def relative_gap(self) -> float:
        """(primal - dual) / primal: how much lower an objective could at most be."""
        return soft_gap(self.primal, self.dual)

    @property
    def is_optimal(self) -> bool:
        """Whether the gap that was asked for is proven."""
        return self.verdict is SoftVerdict.OPTIMAL


@register(SoftMarginCertificate.kind)
class SoftMarginEvaluator(Evaluator):
    """P of the plane and D of the weights, which must be in their box."""

    by_blocks = True

    def malformed(self) -> Iterator[str]:
        c = self.c
        if (refused := width_refused(c.loss, c.huber_width)) is not None:
            yield refused
        if not 0.0 < c.C < math.inf:
            yield f"C must be positive and finite, not {c.C}"

    @cached_property
    def problem(self) -> SoftMargin:
        """A ValueError where the loss has no such width."""
        X, signs, costs, *_ = self.data
        return SoftMargin(X, signs, costs, loss_named(self.c.loss, self.c.huber_width), self.c.fit_intercept)

    @property
    def upper(self) -> Vector:
        return self.problem.upper

    @cached_property
    def values(self) -> Vector:
        return values_of(self.problem.table, self.c.w)

    @cached_property
    def primal(self) -> PrimalValue:
        return primal_value(self.problem, self.c.w, self.c.b, values=self.values, matters=self.c.tol)

    @cached_property
    def dual(self) -> DualValue:
        return dual_value(self.problem, self.a, matters=self.c.tol)

    def bounds(self) -> Iterator[Bound]:
        c, (X, signs, costs, *_), loss = self.c, self.data, self.problem.loss
        yield objective_at_most(
            c.primal, self.primal.value, self.primal.error,
            lambda: exact_soft_margin.primal_at_most(X, signs, costs, c.w, c.b, loss, c.primal),
        )  # fmt: skip
        yield objective_at_least(
            c.dual, self.dual.value, self.dual.error,
            lambda: exact_soft_margin.dual_at_least(X, signs, costs, self.a, c.fit_intercept, loss, c.dual),
        )  # fmt: skip

    def conditions(self) -> Iterator[str]:
        """The violations may differ by what rounding does."""
        c, problem, primal, dual, values = self.c, self.problem, self.primal, self.dual, self.values
        if c.kkt is None:
            return
        if not math.isfinite(primal.value):
            yield "float64 cannot measure the conditions of optimality that are reported"
            return
        feasible = feasible_weights(dual, problem.signs, self.a)
        with np.errstate(over="ignore", invalid="ignore"):
            # Rows whose weights are at the very limit between telling b and not telling it: without them, and with.
            fresh, widest = (
                soft_conditions(problem, (c.w, c.b), self.a, primal, dual, values, INSIDE * (1.0 + sign * 1e-6))
                for sign in (1.0, -1.0)
            )
            shares = row_shares(problem, feasible, primal.slack, problem.signs * (values + c.b)) / (primal.value or 1.0)
            scale = max(length(c.w, "l2"), length(dual.w, "l2"))
            of_value = min(1.0, 4.0 * (primal.error + dual.error) / (primal.value or 1.0))  # no share is more than all
        rounding = {
            "stationarity": relative_error(4.0 * dual.w_error, scale),
            "slackness": of_value,
            "bias": 4.0 * primal.slack_error + of_value * float(primal.slack.max()),
        }
        yield from figures_refused(c.kkt, fresh, widest, rounding)
        most = almost(float(shares.max()), of_value)
        yield from row_refused(c.kkt.slackness.row, self.data.kept, shares, most, "the one that adds most to the gap")

    def theorems(self) -> Iterator[str]:
        if self.c.theorems:
            yield from pegasos_refused(self.c, self.problem)
