"""A soft margin: solver and judge in turn, until the gap is proven.

The solver proposes when it believes that it is there; the judge measures both sides on all rows, keeps the best plane
and the best dual point that it has seen (they need not come together), and tells the solver what it saw, so
that X w need not be computed again. The certificate is made of the judge's numbers alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from maxmargin.certificates.duality import (
    PrimalValue,
    dual_value,
    feasible_weights,
    no_dual_value,
    primal_value,
    soft_conditions,
)
from maxmargin.certificates.passes import over_rows, proves_gap, soft_gap, values_of
from maxmargin.certificates.soft_margin import SoftMarginCertificate, SoftVerdict
from maxmargin.data.table import Vector, scaled_to_safe_range
from maxmargin.problems.losses import Loss, width_of
from maxmargin.problems.protocol import Evaluation, Iterate, State, varying
from maxmargin.problems.statement import ClassWeight, SignedRows, SoftMargin, TwoClasses, best_bias, prices
from maxmargin.run.control import Clock, Status, prove
from maxmargin.run.observation import Observer
from maxmargin.solve.answer import Answer, SoftQuestion
from maxmargin.solvers import registry

BEYOND_ROUNDING = 1e-12  # so much beyond its edge, a row does not pay for what rounding might do to it
ALMOST = (1e-2, 1e-4, 1e-6, 1e-8)  # of u_i: weights so near to an end of their box are tried at that end
WORTH_TIDYING = 0.01  # of the rows: for fewer, one more pass over the table is too much


class Plane(NamedTuple):
    """A plane that was judged: with X w and its objective."""

    w: Vector
    b: float
    values: Vector
    primal: PrimalValue


@dataclass(init=False, eq=False)
class Judge(State):
    """Evaluates proposals; knows the best plane and the best dual point so far.

    Of a run that is kept, so are the plane and the weights: what they are worth is measured again.
    """

    plane: Plane = varying(parts=("w", "b"), lasting=True)
    a: Vector = varying(lasting=True)

    def __init__(self, problem: SoftMargin, tol: float, largest: float | None) -> None:
        self.problem, self.tol, self.largest = problem, tol, largest
        n, d = problem.table.shape
        nothing = np.broadcast_to(np.zeros(1), n)
        self.a, self.dual = nothing, no_dual_value(d)
        self.plane = self.measured(np.zeros(d), best_bias(problem, nothing), nothing)

    def look_at(self, w: Vector, values: Vector) -> Plane:
        """The plane w at its best bias; it is kept if it, or a steeper one, is better than before. values = X w."""
        plane = self.measured(w, best_bias(self.problem, values), values)
        for candidate in (plane, self.steeper(plane)):
            if candidate.primal.upper < self.plane.primal.upper:
                self.plane = candidate
        return plane

    def steeper(self, plane: Plane) -> Plane:
        """The plane so steep that no row pays, where one is and it promises to be better; or else the same."""
        if float(plane.primal.missing.max()) >= 1.0:  # a row on the wrong side
            return plane
        half, middle = half_gap(self.problem, plane.values)
        if not half > 0.0:
            return plane
        factor = (1.0 + BEYOND_ROUNDING) / half
        with np.errstate(over="ignore"):
            w = factor * plane.w
            if not 0.5 * float(np.sum(w * w)) < plane.primal.upper:
                return plane
        return self.measured(w, factor * middle, values_of(self.problem.table, w))

    def measured(self, w: Vector, b: float, values: Vector) -> Plane:
        primal = primal_value(self.problem, w, b, values=values, largest=self.largest, matters=self.tol)
        return Plane(w, b, values, primal)

    def evaluate(self, iterate: Iterate, *, thorough: bool = True) -> Evaluation:
        """Measure the plane and the weights that are proposed; keep what is better than before.

        Not thorough: where the solver itself believes that its weights cannot close the gap to what the plane costs
        (its `dual`), they are not measured, which would cost a pass over the rows.
        """
        shown, own = (np.shape(iterate.w), np.shape(iterate.a)), (self.plane.w.shape, self.problem.signs.shape)
        if shown != own:
            raise ValueError(f"the solver shows w and a of the shapes {shown}; those of this problem are {own}")
        w = np.where(np.isfinite(iterate.w), iterate.w, 0.0)
        plane = self.look_at(w, values_of(self.problem.table, w))
        believed = math.inf if math.isnan(iterate.dual) else iterate.dual
        if not thorough and soft_gap(self.plane.primal.upper, max(believed, self.dual.lower)) > self.tol:
            dual = max(believed, self.dual.lower)
        else:
            self.weigh(iterate.a)
            dual = self.dual.lower
        gap = soft_gap(self.plane.primal.upper, dual)
        return Evaluation(self.plane.primal.upper, dual, gap, plane.values, plane.b)

    def weigh(self, a: Vector) -> None:
        """Measure a dual point; keep it if it is better."""
        inside = np.clip(a, 0.0, self.problem.upper)
        dual = dual_value(self.problem, inside, largest=self.largest, matters=self.tol)
        if dual.lower > self.dual.lower:
            self.a, self.dual = inside, dual

    def begin(self, a: Vector, w: Vector | None = None) -> Vector:
        """The better of two starts, a and a stretched to fill its box if that is finite; and a look at w and w(a)."""
        self.weigh(a)
        if self.problem.loss.is_bounded:
            with np.errstate(over="ignore"):
                fullest = float(np.max(a / self.problem.upper))
            if fullest > 0.0:
                self.weigh(a / fullest)
        for plane in (w, self.dual.w):
            if plane is not None and not self.gap <= self.tol:
                self.look_at(plane, values_of(self.problem.table, plane))
        return self.a

    def seconds_for(self, iterate: Iterate) -> float:
        """What an evaluation takes: a pass over the rows, which needs no time of its own."""
        return 0.0

    @property
    def gap(self) -> float:
        return soft_gap(self.plane.primal.upper, self.dual.lower)

    def shown(self, iterate: Iterate) -> tuple[Iterate, SignedRows]:
        """What observers see of an iterate on the way, and the problem that it is of."""
        return iterate, self.problem

    def after_restore(self) -> None:
        w, b, *_ = self.plane
        self.plane = self.measured(w, b, values_of(self.problem.table, w))
        if np.any(self.a):
            self.dual = dual_value(self.problem, self.a, largest=self.largest, matters=self.tol)

    def tidy(self) -> None:
        """Put weights that are almost at an end of their box there, where the proof still holds.

        An interior point leaves a little weight on every row; afterwards only rows that matter carry some.
        """
        for share in ALMOST:
            moved, count = self.at_ends(share)
            if not count > WORTH_TIDYING * len(moved):
                return
            dual = dual_value(self.problem, moved, largest=self.largest, matters=self.tol)
            if soft_gap(self.plane.primal.upper, dual.lower) <= self.tol:
                self.a, self.dual = moved, dual
                return

    def at_ends(self, share: float) -> tuple[Vector, int]:
        """The weights, those within this share of an end of their box, and on its side of the edge, at that end; and
        how many they are."""
        problem, plane, upper, a = self.problem, self.plane, self.problem.upper, self.a
        scale = upper if problem.loss.is_bounded else np.broadcast_to(a.max(initial=0.0), len(a))
        moved, counts = np.empty(len(a)), []

        def move(_: int, rows: slice) -> None:
            functional = problem.signs[rows] * (plane.values[rows] + plane.b)
            own, most = a[rows], upper[rows]
            low = (own > 0.0) & (own <= share * scale[rows]) & (functional > 1.0)
            high = (own < most) & (own >= (1.0 - share) * most) & (functional < 1.0 - problem.loss.knee)
            moved[rows] = np.where(high, most, own)
            moved[rows][low] = 0.0
            counts.append(int(np.count_nonzero(low | high)))

        over_rows(problem.table, move)
        return moved, sum(counts)


def half_gap(problem: SoftMargin, values: Vector) -> tuple[float, float]:
    """Half the distance between the values of the two classes, negative where they overlap; and -1 times its middle.

    Without a bias: the least y_i w.x_i, and 0.
    """
    if not problem.fit_intercept:
        return float(np.min(problem.signs * values)), 0.0
    plus = problem.signs > 0
    lowest = float(np.min(values, where=plus, initial=np.inf))
    highest = float(np.max(values, where=~plus, initial=-np.inf))
    return 0.5 * (lowest - highest), -0.5 * (lowest + highest)


def soft_margin_of(two: TwoClasses, costs: Vector, loss: Loss, fit_intercept: bool) -> tuple[SoftMargin, float]:
    """The problem as the solvers see it, and the power of two s by which its numbers were multiplied.

    With x' = s x the same plane is w' = w / s, and the objective is s^2 times that with costs C_i / s^2.
    """
    table = scaled_to_safe_range(two.X, two.largest)
    if table.scale != 1.0:
        with np.errstate(over="ignore"):
            costs = np.clip(costs / table.scale / table.scale, 2.0**-1000, 2.0**1000)
    return SoftMargin(table.X, two.signs, costs, loss, fit_intercept), table.scale


def soft_certificate(
    two: TwoClasses, judge: Judge, costs: Vector, scale: float, C: float, class_weight: ClassWeight
) -> tuple[SoftMarginCertificate, Vector]:
    """What the judge has seen, as a certificate in the user's own units and rows; and the feasible dual variables of
    its rows: its weights with the heavier class scaled down, and by the best factor."""
    problem, plane, a, dual = judge.problem, judge.plane, judge.a, judge.dual
    if scale != 1.0:  # all of it once more, on the numbers as the user gave them
        problem = SoftMargin(two.X, two.signs, costs, problem.loss, problem.fit_intercept)
        plane, a = (
            in_units_of_the_user(problem, plane, scale, judge.tol),
            np.clip(a * scale * scale, 0.0, problem.upper),
        )
        dual = dual_value(problem, a, matters=judge.tol)
    optimal = proves_gap(dual.lower, plane.primal.upper, judge.tol)
    rows = np.flatnonzero(a)
    known = math.isfinite(plane.primal.value)
    certificate = SoftMarginCertificate(
        verdict=SoftVerdict.OPTIMAL if optimal else SoftVerdict.BOUNDED,
        loss=problem.loss.name,
        huber_width=width_of(problem.loss),
        C=C,
        fit_intercept=bool(problem.fit_intercept),
        class_weight=class_weight,
        positive=two.positive,
        negative=two.negative,
        n_rows=two.X.shape[0],
        n_columns=two.X.shape[1],
        w=np.array(plane.w),
        b=float(plane.b),
        rows=rows,
        weights=a[rows],
        primal=plane.primal.upper,
        dual=dual.lower,
        tol=float(judge.tol),
        kkt=soft_conditions(problem, (plane.w, plane.b), a, plane.primal, dual, plane.values) if known else None,
    )
    return two.in_rows_of_the_user(certificate), feasible_weights(dual, two.signs[rows], a[rows])


def solve_soft_margin(
    two: TwoClasses,
    asked: SoftQuestion,
    clock: Clock,
    start: Vector | None = None,
    plane: Vector | None = None,
    observer_of: Callable[[float], Observer] | None = None,
) -> Answer:
    """The answer to one two-class problem, from these dual variables of the table's rows, and this plane.

    `observer_of` makes an observer of this problem, from the power of two by which the solver's numbers are multiplied.
    """
    costs = np.broadcast_to(asked.C, len(two.signs)) if two.weights is None else prices(asked.C, two)
    problem, scale = soft_margin_of(two, costs, asked.loss, asked.fit_intercept)
    clock.observer = None if observer_of is None else observer_of(scale)
    judge = Judge(problem, asked.tol, two.largest if scale == 1.0 else None)
    if start is not None:
        start = judge.begin(start[two.rows] / scale / scale, None if plane is None else plane / scale)
    stepwise = clock.is_watched or asked.max_iter is not None
    run = registry.soft_margin(problem, solver=asked.solver, tol=asked.tol, start=start, stepwise=stepwise)
    iterate, status = prove(run, judge, clock, asked.max_iter)
    del run  # and with it the memory of the solver
    certificate, a = soft_certificate(two, judge, costs, scale, asked.C, asked.class_weight)
    if (
        status is Status.PROVEN and certificate.verdict is not SoftVerdict.OPTIMAL
    ):  # in the scaled numbers, but not in the user's
        status = Status.STALLED
    return Answer(two, iterate, certificate, status, a)


def in_units_of_the_user(problem: SoftMargin, plane: Plane, scale: float, tol: float) -> Plane:
    """The plane w.(scale x) + b = 0 measured on x; w = 0 where float64 cannot hold it."""
    zero = np.zeros(problem.n_columns)
    with np.errstate(over="ignore"):
        planes = [(plane.w * scale, plane.b), (zero, best_bias(problem, np.zeros(problem.n_rows)))]
    measured = []
    for w, b in planes:
        values = values_of(problem.table, w)
        measured.append(Plane(w, b, values, primal_value(problem, w, b, values=values, matters=tol)))
    return min(measured, key=lambda plane: plane.primal.upper)
