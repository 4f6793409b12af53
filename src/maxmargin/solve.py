"""Solver and certificate in turn: the one place where they meet.

A solver is a generator of better and better solutions. `drive` takes them until the solver has settled, the time is
over or the user interrupts; then the last solution, in the user's own units, becomes a claim, and the certificate
says what it is worth.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from maxmargin.certificates.certificate import Certificate, TheoremBound
from maxmargin.certificates.certify import Claim, certify
from maxmargin.data.matrix import Vector, in_safe_range
from maxmargin.problems.multiclass import TwoClasses
from maxmargin.problems.separation import Norm, Separation, Solution

Solver = Callable[[Separation], Iterator[Solution]]


class Status(StrEnum):
    """Why a fit ended."""

    SETTLED = "settled: the algorithm ended by its own rule"
    BUDGET = "budget: as many updates were made as are allowed"
    TIME = "time: max_time was reached"
    INTERRUPTED = "interrupted by the user"
    WITNESS = "witness: a proof that no plane exists ended it"


class Clock:
    """The time limit of one fit, over all its two-class problems, and its progress on stderr."""

    def __init__(self, max_time: float | None, verbose: int) -> None:
        self.started = self.reported = time.perf_counter()
        self.deadline = np.inf if max_time is None else self.started + max_time
        self.verbose = verbose
        self.interrupted = False

    @property
    def is_over(self) -> bool:
        return self.interrupted or time.perf_counter() >= self.deadline

    def show(self, solution: Solution) -> None:
        now = time.perf_counter()
        if self.verbose and (now - self.reported >= 1.0 or self.verbose > 1):
            self.reported = now
            line = f"maxmargin {now - self.started:7.1f} s  {solution.sweeps} sweeps  {solution.updates} updates"
            print(line, file=sys.stderr, flush=True)


@dataclass(frozen=True, eq=False)
class Answer:
    """The last solution of a two-class problem, what is proven about it, and why it was the last."""

    two: TwoClasses
    solution: Solution
    certificate: Certificate
    status: Status


def drive(
    problem: Separation, solver: Solver, clock: Clock, stop: Callable[[Solution], bool] = lambda solution: False
) -> tuple[Solution, Status]:
    """Take solutions until one is settled, `stop` says so, the time is over, or Ctrl-C."""
    n, d = problem.X.shape
    solution = Solution(np.zeros(d), 0.0, np.zeros(n), False, 0, 0, {})
    try:
        for solution in solver(problem):
            clock.show(solution)
            if solution.settled:
                return solution, Status.SETTLED
            if stop(solution):
                return solution, Status.WITNESS
            if clock.is_over:
                return solution, Status.INTERRUPTED if clock.interrupted else Status.TIME
    except KeyboardInterrupt:
        clock.interrupted = True
        return solution, Status.INTERRUPTED
    return solution, Status.BUDGET


def separation_of(two: TwoClasses, norm: Norm, fit_intercept: bool) -> tuple[Separation, float]:
    """The problem as the solvers see it, and the power of two by which its numbers were multiplied."""
    table = in_safe_range(two.X, two.largest)
    return Separation(table.X, two.signs, norm, fit_intercept), table.scale


def judge(
    two: TwoClasses,
    norm: Norm,
    fit_intercept: bool,
    solution: Solution,
    scale: float,
    *,
    tol: float,
    stopped: bool = False,
    plane: tuple[Vector, float] | None = None,
    theorems: tuple[TheoremBound, ...] = (),
) -> Certificate:
    """The certificate of a solution; `plane` takes the place of its own where the user is shown another one."""
    w, b = plane if plane is not None else (solution.w, solution.b)
    rows = np.flatnonzero(solution.a)
    w, b = in_units_of_the_user(w, b, scale)
    claim = Claim(w, b, rows, solution.a[rows], bool(solution.details.get("meets")), stopped)
    certificate = certify(
        two.X,
        two.signs,
        claim,
        norm=norm.value,
        fit_intercept=fit_intercept,
        tol=tol,
        positive=two.positive,
        negative=two.negative,
        theorems=theorems,
    )
    return in_rows_of_the_user(certificate, two)


def in_units_of_the_user(w: Vector, b: float, scale: float) -> tuple[Vector, float]:
    """The plane w.(scale x) + b = 0, up to a positive factor: whichever of the two forms cannot overflow."""
    return (w, b / scale) if scale > 1.0 else (w * scale, b)


def in_rows_of_the_user(certificate: Certificate, two: TwoClasses) -> Certificate:
    """The certificate with its rows numbered as in the user's table."""
    kkt = certificate.kkt
    if kkt is not None:
        moved = {
            field.name: dataclasses.replace(violation, row=int(two.rows[violation.row]))
            for field in dataclasses.fields(kkt)
            if (violation := getattr(kkt, field.name)).row >= 0
        }
        kkt = dataclasses.replace(kkt, **moved)
    return dataclasses.replace(certificate, rows=two.rows[certificate.rows], kkt=kkt)


def witness(problem: Separation, clock: Clock) -> Solution | None:
    """The hull solver's proof that no plane exists, if it finds one quickly; None otherwise."""
    from maxmargin.solvers.nearest_hulls import nearest_hulls
    from maxmargin.solvers.widest_street import suits_hulls

    if not suits_hulls(problem):
        return None
    solution, _ = drive(problem, nearest_hulls, clock)
    return solution if solution.details.get("meets") else None
