"""A separating plane: solver and certificate in turn.

A solver shows better and better iterates. `drive` takes them until one proposes, the time is over or the user
interrupts; then the last iterate, in the user's own units, becomes a claim, and the certificate says what it is worth.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np

from maxmargin.certificates.certificate import Certificate, FurtherLook, Verdict, certify
from maxmargin.certificates.enclosed_witness import common_point
from maxmargin.certificates.measure import Claim, objective, plane_margin
from maxmargin.certificates.normalized import NormalizedMargin, normalized_margin
from maxmargin.certificates.passes import proves_gap
from maxmargin.certificates.proof import TheoremBound
from maxmargin.data.executor import OutOfTime
from maxmargin.data.table import Table, Vector, is_sparse, matrix_of, scaled_to_safe_range
from maxmargin.problems.protocol import Iterate, Iterates, Run, shown_as
from maxmargin.problems.statement import Norm, Separation, TwoClasses
from maxmargin.run.control import Clock, RunState, Status
from maxmargin.solve.answer import Answer
from maxmargin.solve.best_plane import lifted_separation
from maxmargin.solvers import registry

CERTAIN = 0.5  # a relative gap of the margin below which a plane exists
PATIENCE = 160  # sweeps, of which the question whether the hulls meet is asked twice
MOST_MOVED = 1_000_000  # numbers of a table that is moved to decide
FACTORS = 64  # that are tried to round a bias well
LEAST_EXPONENT = -1000  # of a column: 1 / 2^e must be a double, and smaller numbers than that have few digits anyway


def drive(
    problem: Separation,
    run: Run,
    clock: Clock,
    stop: Callable[[Iterate, RunState], bool] = lambda iterate, state: False,
    seconds_for: Callable[[Iterate], float] = lambda iterate: 0.0,
) -> tuple[Iterate, Status]:
    """Take iterates until one proposes, `stop` says so, the time is over, or Ctrl-C.

    `seconds_for` says how long the certificate of an iterate takes: the search ends so much before the limit.
    """
    n, d = problem.n_rows, problem.n_columns
    state = RunState(n, run.state, iterate=Iterate(np.zeros(d), 0.0, np.zeros(n)))
    if (ended := clock.ended_before(state)) is not None:
        return state.iterate, ended
    status = Status.BUDGET
    try:
        with clock.searching():
            while (iterate := clock.next_of(run.iterates, None, state)) is not None:
                state.iterate = iterate
                if clock.is_watched:
                    clock.show(iterate, problem)
                if iterate.proposes or stop(iterate, state):
                    status = Status.SETTLED if iterate.proposes else Status.WITNESS
                    break
                clock.reserve = seconds_for(iterate)
                if clock.is_over:
                    status = clock.reason
                    break
    except OutOfTime:
        status = clock.reason
    except KeyboardInterrupt:
        clock.interrupt()
        status = Status.INTERRUPTED
    finally:
        run.iterates.close()
    clock.reserve = 0.0
    clock.note_end(state, status)
    return state.iterate, status


def separation_of(
    two: TwoClasses, norm: Norm, fit_intercept: bool, normalized: bool = False
) -> tuple[Separation, float]:
    """The problem as the solvers see it, and the power of two by which its numbers were multiplied."""
    table = scaled_to_safe_range(two.X, two.largest)
    return Separation(table.X, two.signs, norm, fit_intercept, normalized), table.scale


def normalized_by(certificate: Certificate, two: TwoClasses) -> NormalizedMargin:
    """What a certificate proves of the rows at length 1."""
    if certificate.is_separable is False:
        return NormalizedMargin(-math.inf, 0.0)
    weights = np.zeros(len(two.rows))
    weights[np.searchsorted(two.rows, certificate.rows)] = certificate.weights
    plane = certificate.w, certificate.b
    return normalized_margin(matrix_of(two.X), two.signs, *plane, weights, certificate.norm, certificate.fit_intercept)


def judge(
    two: TwoClasses,
    norm: Norm,
    fit_intercept: bool,
    iterate: Iterate,
    scale: float,
    *,
    tol: float,
    stopped: bool = False,
    plane: tuple[Vector, float] | None = None,
    theorems: tuple[TheoremBound, ...] = (),
    weakly: bool = False,
    clock: Clock | None = None,
) -> Certificate:
    """The certificate of an iterate; `plane` takes the place of its own where the user is shown another one.

    `weakly` asks whether the plane separates weakly, where no plane separates. Where the clock leaves no time for the
    exact proof that none does, that is not claimed.
    """
    w, b = plane if plane is not None else (iterate.w, iterate.b)
    rows = np.flatnonzero(iterate.a)
    w, b = in_units_of_the_user(w, b, scale)
    claim = Claim(w, b, rows, iterate.a[rows], iterate.meets, stopped, weakly)
    certified = functools.partial(
        certify,
        two.X,
        two.signs,
        norm=norm.value,
        fit_intercept=fit_intercept,
        tol=tol,
        positive=two.positive,
        negative=two.negative,
        theorems=theorems,
    )
    try:
        with contextlib.nullcontext() if clock is None or weakly else clock.judging(from_now=True):
            certificate = certified(claim)
    except OutOfTime:
        if weakly:
            raise
        certificate = certified(dataclasses.replace(claim, hulls_meet=False, stopped=True))
    return two.in_rows_of_the_user(certificate)


def with_plane(certificate: Certificate, two: TwoClasses, plane: tuple[Vector, float], scale: float) -> Certificate:
    """The same proof that no plane separates, beside another plane, which is measured."""
    w, b = in_units_of_the_user(*plane, scale)
    if not (np.all(np.isfinite(w)) and np.isfinite(b)):
        return certificate
    lower = plane_margin(two.X, two.signs, w, float(b), certificate.norm).lower
    primal = objective(lower, certificate.norm)
    return dataclasses.replace(certificate, w=w, b=float(b), margin_lower=lower, primal=primal)


def in_units_of_the_user(w: Vector, b: float, scale: float) -> tuple[Vector, float]:
    """The plane w.(scale x) + b = 0, up to a positive factor: whichever of the two forms cannot overflow."""
    return (w, b / scale) if scale > 1.0 else (w * scale, b)


class SeparationQuestion(NamedTuple):
    """A plane that is asked for, and how."""

    norm: Norm
    fit_intercept: bool
    tol: float
    solver: str = "auto"
    normalized: bool = False


class Fallback(Protocol):
    """What is shown where no plane separates the rows: the certificate, of whatever plane.

    `judged` certifies the witness, with a plane that is given; the problem's table is `scale` times the user's.
    """

    def __call__(
        self,
        problem: Separation,
        witness: Iterate,
        given: tuple[TwoClasses, float],
        clock: Clock,
        judged: Callable[..., Certificate],
    ) -> Certificate: ...


def solve_separation(
    two: TwoClasses, asked: SeparationQuestion, clock: Clock, fallback: Fallback | None = None
) -> Answer:
    """The widest street of one two-class problem; what is proven if there is none, and the plane of the fallback."""
    norm, fit_intercept, tol, solver, normalized = asked
    problem, scale = separation_of(two, norm, fit_intercept, normalized)
    find = at_length_one if normalized else registry.separation
    run = find(problem, solver=solver, tol=tol, stepwise=clock.observation.stepwise)
    iterate, status = drive(problem, run, clock)
    stopped = status in (Status.TIME, Status.INTERRUPTED)

    def certified(iterate: Iterate) -> Certificate:
        judged = functools.partial(judge, two, norm, fit_intercept, iterate, scale, tol=tol, clock=clock)
        nowhere = iterate.meets or not (stopped or np.any(iterate.w))
        if nowhere and fallback is not None:
            return fallback(problem, iterate, (two, scale), clock, judged)
        return judged(stopped=stopped)

    certificate = certified(iterate)
    if certificate.verdict is Verdict.UNDECIDED:
        for move in (False, True):
            if certificate.verdict is not Verdict.UNDECIDED or (move and not can_be_moved(problem)):
                break
            other = decide(problem, iterate, clock, move=move)
            certificate = min(certificate, certified(other), key=lambda one: one.verdict is Verdict.UNDECIDED)
    proven = normalized_by(certificate, two) if normalized else None
    is_open = certificate.verdict in (Verdict.SEPARABLE, Verdict.UNDECIDED)
    if proven is not None and certificate.is_separable:
        is_open = not proves_gap(proven.lower, proven.upper, tol)
    if status is Status.SETTLED and is_open:
        status = Status.STALLED  # the algorithm is at its end, and the gap is not what was asked for
    return Answer(two, iterate, certificate, status, normalized=proven)


def at_length_one(problem: Separation, *, solver: str, tol: float, stepwise: bool) -> Run:
    """The best plane of the lifted rows, each divided by its length: a separation through the origin.

    Its iterates are shown as planes and weights of the rows as they are.
    """
    lifted = lifted_separation(problem)
    run = registry.separation(lifted.problem, solver=solver, tol=tol, stepwise=stepwise)

    def iterates() -> Iterates:
        try:
            yield from shown_as(run.iterates, lifted.in_own_space)
        finally:
            run.iterates.close()

    return Run(run.state, iterates())


def with_least_squares(
    problem: Separation,
    witness: Iterate,
    given: tuple[TwoClasses, float],
    clock: Clock,
    judged: Callable[..., Certificate],
) -> Certificate:
    """A fallback: the plane of least squares or, where the time is over, that between the means of the classes.

    The proof that none separates comes first.
    """
    from maxmargin.solvers.hulls.least_squares import least_squares_plane, plane_between_means

    (two, scale), certificate = given, judged()
    try:
        with clock.searching():
            plane = least_squares_plane(problem, two.weights)
    except OutOfTime:
        plane = plane_between_means(problem, two.weights)
    if certificate.is_separable is False:
        return with_plane(certificate, two, plane, scale)
    return judged(plane=plane)


def with_weak_plane(
    problem: Separation,
    witness: Iterate,
    given: tuple[TwoClasses, float],
    clock: Clock,
    judged: Callable[..., Certificate],
) -> Certificate:
    """A fallback: the weakly separating plane, if one is found, or why not; after the proof that none separates."""
    from maxmargin.solvers.hulls.weak_plane import is_too_large, weak_plane

    certificate = judged()
    if certificate.is_separable is not False:
        return certificate
    look = FurtherLook.TOO_LARGE
    if not is_too_large(problem):
        try:
            with clock.searching():
                plane = weak_plane(problem, witness)
                weak = certificate if plane is None else judged(plane=plane, weakly=True)
            if weak.verdict is Verdict.WEAKLY_SEPARABLE:
                return weak
            look = FurtherLook.NONE_FOUND
        except OutOfTime:
            look = FurtherLook.NO_TIME
    return dataclasses.replace(certificate, further_look=look)


def in_equal_units(problem: Separation) -> tuple[Separation, Vector]:
    """The same rows with every column divided by the power of two next to its largest entry; and 1 / these powers.

    Whether a plane exists is the same question, and a witness is the same witness; the widest street is another.
    """
    sizes = np.asarray(abs(problem.X).max(axis=0).todense() if is_sparse(problem.X) else np.abs(problem.X).max(axis=0))
    exponents = np.frexp(sizes.ravel().astype(np.float64))[1]
    units = np.exp2(-np.maximum(exponents, LEAST_EXPONENT))
    X = problem.X.astype(np.float64)
    if is_sparse(X):
        X.data *= units[X.indices]
    else:
        X *= units
    return Separation(X, problem.signs, Norm.L2, problem.fit_intercept), units


def decide(problem: Separation, iterate: Iterate, clock: Clock, *, move: bool = False) -> Iterate:
    """Where rounding leaves open whether a plane exists: the plane, or the witness, of the rows in equal units.

    `move` brings the columns to 0 first. The weights of the first iterate still bound the margin from above.
    """
    moved, origin = moved_exactly(problem) if move else (problem, np.zeros(problem.n_columns))
    equal, units = in_equal_units(moved)
    other, _ = drive(equal, registry.separation(equal), clock)
    if other.meets:
        return dataclasses.replace(iterate, a=other.a, meets=True)
    largest = float(units.max())
    w, b = other.w * (units / largest), other.b / largest
    if move:
        w, b = moved_back(moved, origin, w, b)
    return dataclasses.replace(iterate, w=w, b=b)


def can_be_moved(problem: Separation) -> bool:
    return (
        problem.fit_intercept and not isinstance(problem.X, Table) and problem.n_rows * problem.n_columns <= MOST_MOVED
    )


def moved_exactly(problem: Separation) -> tuple[Separation, Vector]:
    """The rows with each column moved to one of its own numbers, where every difference is a double; and these numbers.

    x - c is one where x and c are within a factor of two [higham2002], and often else: a difference d is exact if
    nothing is lost in (x - d) - c and in x - (d + c). A bias takes up the move, so that without one nothing is moved.
    """
    X = np.array(problem.X.toarray() if is_sparse(problem.X) else problem.X, dtype=np.float64)
    origin = X[0].copy() if problem.fit_intercept else np.zeros(X.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        moved = X - origin
        is_exact = np.all((X - moved == origin) & (moved + origin == X), axis=0)
    origin[~is_exact] = 0.0
    return dataclasses.replace(problem, X=X - origin), origin


def moved_back(moved: Separation, origin: Vector, w: Vector, b: float) -> tuple[Vector, float]:
    """The plane on the rows as they were, w.x + (b - w.c), up to a positive factor: that for which the bias, which is
    rounded, comes nearest to it."""
    best, found = -np.inf, (w, b)
    for factor in np.linspace(1.0, 2.0, FACTORS, endpoint=False):
        scaled = w * factor
        shift = sum((Fraction(float(v)) * Fraction(float(c)) for v, c in zip(scaled, origin, strict=True)), Fraction(0))
        bias = float(Fraction(b * float(factor)) - shift)
        left = float(Fraction(bias) + shift)
        least = float(np.min(moved.signs * (moved.X @ scaled + left))) / float(factor)
        if least > best:
            best, found = least, (scaled, bias)
    return found


def witness(problem: Separation, clock: Clock) -> Iterate | None:
    """A proof that no plane exists, if one is found quickly; None otherwise.

    Two equal rows of both classes; or else the nearest points of the hulls. Where rows and columns are many, coordinate
    descent is given up when its gap shows that there is a plane, or after some sweeps. That the hulls meet as far as
    float64 can tell is no proof: a run is ended by what the judge accepts.
    """

    def is_answered(iterate: Iterate, _: RunState) -> bool:
        return iterate.gap_is_known and (iterate.gap < CERTAIN or iterate.sweeps >= PATIENCE)

    # A problem of its own: a recorder tells this question from the run that it interrupts.
    question = dataclasses.replace(problem, norm=Norm.L2)
    iterate, _ = drive(question, registry.separation(question), clock, is_answered)
    if not iterate.meets:
        return None
    rows = np.flatnonzero(iterate.a)
    met = common_point(problem.X[rows], problem.signs[rows], iterate.a[rows], problem.fit_intercept)
    return iterate if met.weights is not None else None
