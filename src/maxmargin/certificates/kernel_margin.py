"""The certificate of a margin in the space of a kernel: weights of the rows and a bias, and what they prove.

    dual <= the least value of 1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w.phi(x_i) + b)) <= primal

C_i = C times the weight of the row's class times the row's own weight. The plane needs no numbers of its own: it is
w = sum_i a'_i y_i phi(x_i), with the weights a of which the class of the larger sum is scaled down to the other's.

C = inf is the hard margin, where no row may be inside the street: the plane is scaled until its nearest row has
y (w.phi(x) + b) = 1, and then 1/2 |w|^2 is the least value. If no plane separates the classes, weights l >= 0 with
sum_i l_i y_i phi(x_i) = 0 and sum_i l_i y_i = 0 say so.

All of it takes a kernel that is positive semidefinite. linear, rbf and poly with coef0 >= 0 are, as sums and limits of
products of the linear one with positive factors; for a function and for a table it is taken on trust.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.form import proves_gap
from maxmargin.certificates.kernel_duality import KernelMeasure
from maxmargin.certificates.proof import KKT, Proof, TheoremBound, Violation
from maxmargin.certificates.rounding import rounded_down, rounded_up
from maxmargin.certificates.soft_margin import INSIDE, row_shares, soft_gap
from maxmargin.data.matrix import Vector
from maxmargin.problems.multiclass import TwoClasses
from maxmargin.problems.statement import KernelMargin

if TYPE_CHECKING:
    from maxmargin.certificates.verification import Verification


ROUNDING = 2.0**-53


class KernelVerdict(StrEnum):
    """What is proven, as a sentence."""

    OPTIMAL = "Optimal: no plane in the space of this kernel has a lower objective, to the stated gap."
    BOUNDED = "Not proven to the gap that was asked for: the optimum lies between the stated bounds."
    NOT_SEPARABLE = "Not separable: no plane in the space of this kernel separates the classes; witness rows prove it."


@dataclass(frozen=True, eq=False)
class KernelCertificate(Proof):
    """What is proven about the margin between one class and another (or the rest) in the space of a kernel.

    verdict                       what is proven, as a sentence
    kernel, gamma, coef0, degree  which kernel: "linear", "poly", "rbf", "function" or "precomputed", and its numbers
                                  (1, 0 and 1 where it has none)
    C, class_weight               which problem: inf is the hard margin; pairs (label, weight), empty: all 1
    positive, negative            the labels on the two sides; negative None means all other labels
    n_rows, n_columns             the size of the problem
    b                             the bias of the plane
    rows, weights                 rows of X with their dual variables a_i > 0; the others have none. The class of the
                                  larger sum is to be scaled down to the other's. Or the witness: weights l_i > 0
    primal, dual                  the optimum lies between them, rounding included; both infinite if no plane separates
    tol                           the relative gap that was asked for
    kkt                           how well the conditions of optimality hold; None where no plane is known
    theorems                      the algorithm's guarantees beside what happened
    """

    verdicts: ClassVar[type[StrEnum]] = KernelVerdict
    numbers: ClassVar[tuple[str, ...]] = ("gamma", "coef0", "C", "b", "primal", "dual", "tol")
    question: ClassVar[str] = "is_optimal"

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
        """True or False where it is proven, None where it is not: a soft margin does not say."""
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

    def verify(
        self, X: Any, y: Any, *, exact: bool = False, sample_weight: Any = None, kernel: Any = None
    ) -> Verification:
        """Check every number against the raw data, with code that imports no solver.

        exact=True recomputes both sides in rational arithmetic, where rounding cannot fake anything: for the kernels
        linear, poly and precomputed. A kernel that is a function must be given again; of a precomputed one, X is the
        table. The answer can stand in an `if`, and says why when it is printed. Give the same `sample_weight` as to
        `fit`.
        """
        from maxmargin.certificates.kernel_verification import verify

        return verify(self, X, y, exact=exact, sample_weight=sample_weight, kernel=kernel)

    def __repr__(self) -> str:
        return (
            f"KernelCertificate({self.verdict.name}, {self.kernel}, objective in [{rounded_down(self.dual)}, "
            f"{rounded_up(self.primal)}], relative gap {rounded_up(self.relative_gap, 2)}, "
            f"{self.n_support} of {self.n_rows} rows carry weight)"
        )

    def report(self) -> str:
        """All of it, for a person."""
        from maxmargin.certificates.report import kernel_report

        return kernel_report(self)


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
) -> KernelCertificate:
    """What the weights a were measured to be worth, as a certificate in the rows of the user."""
    optimal = proves_gap(measured.lower, measured.upper, tol)
    kkt = kernel_conditions(problem, a, measured) if math.isfinite(measured.primal) else None
    verdict = KernelVerdict.OPTIMAL if optimal else KernelVerdict.BOUNDED
    claim = stated(two, problem, a, C, class_weight, tol)
    return KernelCertificate(
        verdict, **claim, b=float(measured.b), primal=measured.upper, dual=measured.lower, kkt=in_rows_of(two, kkt)
    )


def no_plane_certificate(
    two: TwoClasses,
    problem: KernelMargin,
    weights: Vector,
    C: float,
    class_weight: tuple[tuple[Any, float], ...],
    tol: float,
) -> KernelCertificate:
    """That no plane separates the classes, as a witness of `exact_kernel` proves."""
    claim = stated(two, problem, weights, C, class_weight, tol)
    return KernelCertificate(KernelVerdict.NOT_SEPARABLE, **claim, b=0.0, primal=math.inf, dual=math.inf)


def stated(
    two: TwoClasses, problem: KernelMargin, a: Vector, C: float, class_weight: tuple[tuple[Any, float], ...], tol: float
) -> dict[str, Any]:
    """What every certificate of this problem and these weights says."""
    kernel, support = problem.kernel, np.flatnonzero(a)
    return {
        "kernel": kernel.name.value,
        "gamma": float(kernel.gamma),
        "coef0": float(kernel.coef0),
        "degree": int(kernel.degree),
        "C": float(C),
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
    """The Karush-Kuhn-Tucker conditions at the plane and the feasible weights that a makes; the plane separates, if
    the margin is hard.

    The plane is w(a') / m, with m = 1 for the soft margin; the weights make t w(a').
    """
    signs, total = problem.signs, float(a.sum())
    shares = shares_of(problem, a, measured)
    worst = int(np.argmax(shares))
    m, t = nearest(problem, measured), factor(measured)
    feasible = feasible_weights(problem, a, measured)
    if problem.is_hard:
        telling = feasible > inside * float(feasible.max(initial=0.0))
    else:
        telling = (feasible > inside * problem.costs) & (feasible < (1.0 - inside) * problem.costs)
    own = (m * signs - measured.values) / m
    return KKT(
        stationarity=Violation(abs(1.0 - t * m) / max(1.0, t * m) if measured.square > 0.0 else 0.0),
        primal=Violation(0.0),
        dual=Violation(abs(float(np.sum(signs * a))) / total if total > 0.0 else 0.0),
        slackness=Violation(float(shares[worst]), worst),
        bias=Violation(float(np.ptp(own[telling])) if np.any(telling) else 0.0),
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
