"""The certificate of a margin in the space of a kernel: weights of the rows and a bias, and what they prove.

    dual <= the least value of 1/2 |w|^2 + sum_i C_i loss(1 - y_i (w.phi(x_i) + b)) <= primal

C_i = C times the weight of the row's class times the row's own weight. The plane needs no numbers of its own: it is
w = sum_i a'_i y_i phi(x_i), with the weights a of which, with a bias, the class of the larger sum is scaled down to the
other's.

C = inf is the hard margin, where no row may be inside the street: the plane is scaled until its nearest row has
y (w.phi(x) + b) = 1, and then 1/2 |w|^2 is the least value. If no plane separates the classes, weights l >= 0 with
sum_i l_i y_i phi(x_i) = 0 and, with a bias, sum_i l_i y_i = 0 say so.

All of it takes a kernel that is positive semidefinite. Where that is not proven (`Kernel.is_semidefinite`), as for a
function and for a table, it is taken on trust, and the report says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates import exact_kernel
from maxmargin.certificates.duality import INSIDE
from maxmargin.certificates.form import almost, figures_refused, relative_error, row_refused
from maxmargin.certificates.kernel_duality import KernelMeasure, is_free, measure
from maxmargin.certificates.kernel_statement import kernel_malformations, kernel_on, refuse_what_is_not_rational
from maxmargin.certificates.passes import proves_gap, row_shares, soft_gap
from maxmargin.certificates.proof import KKT, TheoremBound, Violation
from maxmargin.certificates.record import Record
from maxmargin.certificates.theorem_verification import pegasos_refused
from maxmargin.certificates.verify import Bound, Evaluator, objective_at_least, objective_at_most, register
from maxmargin.data.table import Vector
from maxmargin.problems.losses import HINGE, Loss, loss_named, width_of, width_refused
from maxmargin.problems.statement import KernelMargin, TwoClasses

ROUNDING = 2.0**-53


class KernelVerdict(StrEnum):
    """What is proven, as a sentence.

    Examples
    --------
    >>> from maxmargin import KernelSVM
    >>> KernelSVM().fit([[0], [1], [2]], [0, 1, 0]).certificate_.verdict is KernelVerdict.OPTIMAL
    True
    """

    OPTIMAL = "Optimal: no plane in the space of this kernel has a lower objective, to the stated gap."
    BOUNDED = "Not proven to the gap that was asked for: the optimum lies between the stated bounds."
    NOT_SEPARABLE = "Not separable: no plane in the space of this kernel separates the classes; witness rows prove it."


@dataclass(frozen=True, eq=False, repr=False)
class KernelCertificate(Record):
    """What is proven about the margin between one class and another (or the rest) in the space of a kernel.

    Parameters
    ----------
    verdict : KernelVerdict
        What is proven, as a sentence.
    kernel, gamma, coef0, degree : str, float, float, int
        The name of the kernel ("linear", "rbf", "function" and so on), and its numbers (1, 0 and 1 where it has
        none).
    C, class_weight : float, tuple of pairs
        Which problem: inf is the hard margin; pairs (label, weight), empty: all 1.
    positive, negative : label
        The labels on the two sides; negative None means all other labels.
    n_rows, n_columns : int
        The size of the problem.
    b : float
        The bias of the plane.
    rows, weights : ndarray of int, ndarray
        Rows of X with their dual variables a_i > 0; the others have none. With a bias, the class of the larger
        sum is to be scaled down to the other's. Or the witness: l_i > 0.
    primal, dual : float
        The optimum lies between them, rounding included; both infinite if no plane separates.
    tol : float
        The relative gap that was asked for.
    kkt : KKT or None
        How well the conditions of optimality hold; None where no plane is known.
    theorems : tuple of TheoremBound
        The algorithm's guarantees beside what happened.
    loss, huber_width : str, float or None
        What slack costs, the name of one in `problems.losses`; the width of the Huber hinge. The hard margin,
        which pays none, has the hinge.
    fit_intercept : bool
        Whether the plane has a bias.

    Examples
    --------
    >>> from maxmargin import KernelSVM
    >>> certificate = KernelSVM().fit([[0], [1], [2], [3]], [0, 1, 1, 0]).certificate_
    >>> certificate.kernel, certificate.dual <= certificate.primal, certificate.is_optimal
    ('rbf', True, True)
    """

    kind: ClassVar[str] = "kernel margin"
    recognised_by: ClassVar[set[str]] = {"kernel", "C"}
    verdicts: ClassVar[type[StrEnum]] = KernelVerdict
    question: ClassVar[str] = "is_optimal"
    later: ClassVar[dict[str, Any]] = {"loss": HINGE.name, "huber_width": None, "fit_intercept": True}

    verdict: KernelVerdict
    kernel: str
    gamma: float
    coef0: float
    degree: int
    C: float
    class_weight: tuple[tuple[Any, float], ...]
    positive: Any
    negative: Any
    n_rows: int
    n_columns: int
    b: float
    rows: NDArray[np.intp]
    weights: Vector
    primal: float
    dual: float
    tol: float
    kkt: KKT | None = None
    theorems: tuple[TheoremBound, ...] = ()
    loss: str = HINGE.name
    huber_width: float | None = None
    fit_intercept: bool = True

    @property
    def is_hard(self) -> bool:
        """Whether this is the hard margin."""
        return math.isinf(self.C)

    @property
    def relative_gap(self) -> float:
        """(primal - dual) / primal: how much lower an objective could at most be; NaN if no plane separates."""
        return math.nan if self.verdict is KernelVerdict.NOT_SEPARABLE else soft_gap(self.primal, self.dual)

    @property
    def is_optimal(self) -> bool:
        """Whether the gap that was asked for is proven."""
        return self.verdict is KernelVerdict.OPTIMAL

    @property
    def is_separable(self) -> bool | None:
        if self.verdict is KernelVerdict.NOT_SEPARABLE:
            return False
        return True if self.is_hard and self.primal < math.inf else None

    @property
    def margin_lower(self) -> float:
        """1 / sqrt(2 primal), rounded down: the best hard margin is at least this; NaN for a soft one."""
        return hard_margin(self.primal) * (1.0 - 4.0 * ROUNDING) if self.is_hard else math.nan

    @property
    def margin_upper(self) -> float:
        """1 / sqrt(2 dual), rounded up: the best hard margin is at most this; NaN for a soft one."""
        return hard_margin(self.dual) * (1.0 + 4.0 * ROUNDING) if self.is_hard else math.nan


NO_WITNESS = "the witness does not hold: no combination of its rows was found that vanishes in the space of the kernel"


class KernelEvaluator(Evaluator):
    """Of certificates in the space of a kernel."""

    refuse_exact: ClassVar[Callable[[Any], None]] = staticmethod(refuse_what_is_not_rational)

    def malformed(self) -> Iterator[str]:
        yield from kernel_malformations(self.c, self.data.X, self.data.kernel)

    @property
    def loss(self) -> Loss:
        return HINGE

    @property
    def has_bias(self) -> bool:
        """Whether there is one that is no part of the kernel."""
        return True

    @cached_property
    def problem(self) -> KernelMargin:
        X, signs, costs, kept, function = self.data
        floats = X.astype(np.float64, copy=False)
        kernel = kernel_on(self.c, floats, kept, function)
        return KernelMargin(floats, signs, costs, self.loss, self.has_bias, kernel, kernel.points(floats, kept))

    @cached_property
    def has_exact_values(self) -> bool:
        return exact_kernel.has_exact_values(self.problem.kernel)

    def witness_refused(self, square: float, square_error: float) -> Iterator[str]:
        """Few rows: the exact check is quick, so a witness is never believed to rounding only."""
        rows = np.flatnonzero(self.a)
        if exact_kernel.exact_witness(self.problem, rows, self.a[rows]) is None:
            yield NO_WITNESS
        elif not abs(square) <= 4.0 * square_error:
            yield f"the witness rows prove it, but their weights leave the hull points {math.sqrt(square):.3g} apart"


@register(KernelCertificate.kind)
class KernelMarginEvaluator(KernelEvaluator):
    """P of the plane that the weights and the bias make, and D of the weights, which must be in their box."""

    def malformed(self) -> Iterator[str]:
        yield from super().malformed()
        c = self.c
        if not c.C > 0.0:
            yield f"C must be positive, not {c.C}"
        if (refused := width_refused(c.loss, c.huber_width)) is not None:
            yield refused
        if c.is_hard and c.loss != HINGE.name:
            yield f"the hard margin, C = inf, pays no loss, and the certificate speaks of the {c.loss}"
        if not math.isfinite(self.c.b):
            yield f"the bias {self.c.b} is not finite"

    @property
    def loss(self) -> Loss:
        """A ValueError where it has no such width."""
        return loss_named(self.c.loss, self.c.huber_width)

    @property
    def has_bias(self) -> bool:
        return bool(self.c.fit_intercept)

    @property
    def upper(self) -> Vector:
        return self.loss.bounds(self.data.costs)

    @cached_property
    def found(self) -> KernelMeasure:
        return measure(self.problem, self.a, b=self.c.b)

    def bounds(self) -> Iterator[Bound]:
        if self.c.verdict is KernelVerdict.NOT_SEPARABLE:
            return
        c, found, problem, rational = self.c, self.found, self.problem, self.has_exact_values
        at_most = (lambda: exact_kernel.primal_at_most(problem, self.a, c.b, c.primal)) if rational else None
        at_least = (lambda: exact_kernel.dual_at_least(problem, self.a, c.dual)) if rational else None
        yield objective_at_most(c.primal, found.primal, found.primal_error, at_most)
        yield objective_at_least(c.dual, found.dual, found.dual_error, at_least)

    def verdict(self) -> Iterator[str]:
        c, found, a = self.c, self.found, self.a
        if c.verdict is not KernelVerdict.NOT_SEPARABLE:
            return
        if not c.is_hard:
            yield f"with C = {c.C} rows may be on the wrong side: only the hard margin, C = inf, can be impossible"
            return
        if c.primal != math.inf or c.dual != math.inf or c.b != 0.0 or c.kkt is not None or c.theorems:
            yield "where no plane separates, both bounds are infinite, and nothing is said of a plane"
        if refused := list(self.witness_refused(found.square, found.square_error)):
            yield from refused
        elif c.fit_intercept and abs(imbalance := float(np.sum(self.problem.signs * a))) > 1e-9 * float(a.sum()):
            yield f"the weights of the witness differ by {imbalance:.3g} between the classes"

    def conditions(self) -> Iterator[str]:
        """The violations may differ by what rounding does."""
        kkt, problem, a, found = self.c.kkt, self.problem, self.a, self.found
        if kkt is None or self.c.verdict is KernelVerdict.NOT_SEPARABLE:
            return
        if not math.isfinite(found.primal):
            yield "no plane is known that could meet the conditions of optimality"
            return
        # Rows whose weights are at the very limit between telling b and not telling it: without them, and with them.
        fresh, widest = (kernel_conditions(problem, a, found, INSIDE * (1.0 + sign * 1e-6)) for sign in (1.0, -1.0))
        m, off = nearest(problem, found), float(np.max(found.off, where=(a > 0.0) | (found.slack > 0.0), initial=0.0))
        of_value = found.primal_error + found.dual_error + found.square_error + off / m * factor(found) * float(a.max())
        of_value = min(1.0, 4.0 * of_value / (found.primal or 1.0))  # no share is more than all
        rounding = {
            "stationarity": relative_error(4.0 * found.square_error, found.square) + 4.0 * off / m,
            "slackness": of_value,
            "bias": 4.0 * off / m + of_value * float(found.slack.max()),
        }
        yield from figures_refused(kkt, fresh, widest, rounding)
        shares = shares_of(problem, a, found)
        most = almost(float(shares.max()), of_value)
        yield from row_refused(kkt.slackness.row, self.data.kept, shares, most, "the one that adds most to the gap")

    def theorems(self) -> Iterator[str]:
        yield from pegasos_refused(self.c, self.problem)


def hard_margin(objective: float) -> float:
    """The margin 1 / |w| of a plane with 1/2 |w|^2 = objective."""
    return math.sqrt(0.5 / objective) if objective > 0.0 else math.inf


def kernel_certificate(
    two: TwoClasses,
    problem: KernelMargin,
    a: Vector,
    measured: KernelMeasure,
    C: float,
    class_weight: tuple[tuple[Any, float], ...],
    tol: float,
    kkt: KKT | None = None,
) -> KernelCertificate:
    """What the weights a were measured to be worth, in the rows of the user; `kkt` where it was measured, too."""
    verdict = KernelVerdict.OPTIMAL if proves_gap(measured.lower, measured.upper, tol) else KernelVerdict.BOUNDED
    if kkt is None and math.isfinite(measured.primal):
        kkt = kernel_conditions(problem, a, measured)
    claim = stated(two, problem, a, C, class_weight, tol)
    return KernelCertificate(
        verdict, **claim, b=float(measured.b), primal=measured.upper, dual=measured.lower, kkt=in_rows_of(two, kkt)
    )


def no_plane_certificate(
    two: TwoClasses, problem: KernelMargin, a: Vector, C: float, class_weight: tuple[tuple[Any, float], ...], tol: float
) -> KernelCertificate:
    """That no plane separates the classes, as a witness of `exact_kernel` proves."""
    claim = stated(two, problem, a, C, class_weight, tol)
    return KernelCertificate(KernelVerdict.NOT_SEPARABLE, **claim, b=0.0, primal=math.inf, dual=math.inf)


def stated(
    two: TwoClasses, problem: KernelMargin, a: Vector, C: float, class_weight: tuple[tuple[Any, float], ...], tol: float
) -> dict[str, Any]:
    """What every certificate of this problem and these weights says."""
    kernel, support = problem.kernel, np.flatnonzero(a)
    return {
        "kernel": kernel.name,
        "gamma": float(kernel.gamma),
        "coef0": float(kernel.coef0),
        "degree": int(kernel.degree),
        "C": float(C),
        "loss": problem.loss.name,
        "huber_width": width_of(problem.loss),
        "fit_intercept": bool(problem.fit_intercept),
        "class_weight": class_weight,
        "positive": two.positive,
        "negative": two.negative,
        "n_rows": two.X.shape[0],
        "n_columns": two.X.shape[1],
        "rows": two.rows[support],
        "weights": a[support],
        "tol": float(tol),
    }


def in_rows_of(two: TwoClasses, kkt: KKT | None) -> KKT | None:
    """The conditions with the row of the slackness numbered as in the user's table."""
    if kkt is None:
        return None
    slackness = Violation(kkt.slackness.value, int(two.rows[kkt.slackness.row]))
    return KKT(kkt.stationarity, kkt.primal, kkt.dual, slackness, kkt.bias)


def kernel_conditions(problem: KernelMargin, a: Vector, measured: KernelMeasure, inside: float = INSIDE) -> KKT:
    """The Karush-Kuhn-Tucker conditions at the plane w(a') / m, with m = 1 for the soft margin, and the feasible
    weights that a makes, which make t w(a'). The plane separates, if the margin is hard."""
    signs, total = problem.signs, float(a.sum())
    shares = shares_of(problem, a, measured)
    worst = int(np.argmax(shares))
    m, t = nearest(problem, measured), factor(measured)
    feasible = feasible_weights(problem, a, measured)
    if is_free(problem):
        telling = feasible > inside * float(feasible.max(initial=0.0))
    else:
        telling = (feasible > inside * problem.upper) & (feasible < (1.0 - inside) * problem.upper)
    own = (m * signs * (1.0 - problem.loss.bend * feasible / problem.costs) - measured.values) / m
    return KKT(
        stationarity=Violation(abs(1.0 - t * m) / max(1.0, t * m) if measured.square > 0.0 else 0.0),
        primal=Violation(0.0),
        dual=Violation(abs(float(np.sum(signs * a))) / total if problem.fit_intercept and total > 0.0 else 0.0),
        slackness=Violation(float(shares[worst]), worst),
        bias=Violation(float(np.ptp(own[telling])) if problem.fit_intercept and np.any(telling) else 0.0),
    )


def nearest(problem: KernelMargin, measured: KernelMeasure) -> float:
    """y (w.phi(x) + b) of the row by which a hard margin is measured; 1 for a soft one."""
    return float(np.min(problem.signs * (measured.values + measured.b))) if problem.is_hard else 1.0


def factor(measured: KernelMeasure) -> float:
    """t."""
    return measured.factors[0] / measured.scales[0] if measured.scales[0] > 0.0 else 0.0


def feasible_weights(problem: KernelMargin, a: Vector, measured: KernelMeasure) -> Vector:
    """The feasible point t a' that the weights a make."""
    return np.asarray(a * np.where(problem.signs > 0, *measured.factors))


def shares_of(problem: KernelMargin, a: Vector, measured: KernelMeasure) -> Vector:
    """What each row adds to P - D, apart from 1/2 |w - w(t a')|^2, relative to P."""
    feasible = feasible_weights(problem, a, measured)
    functional = problem.signs * (measured.values + measured.b)
    if problem.is_hard:
        shares = feasible * np.maximum(0.0, functional / nearest(problem, measured) - 1.0)
    else:
        shares = row_shares(problem, feasible, measured.slack, functional)
    return np.asarray(shares / (measured.primal or 1.0))
