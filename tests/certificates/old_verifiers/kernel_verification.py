"""Checking a certificate of a margin in the space of a kernel against the raw data.

Both sides are measured anew, from X, y and the claimed numbers alone. What is compared with what:

    primal     >= P of the plane that the weights and the bias make
    dual       <= D of the weights, which must be in their box
    verdict    "optimal" if and only if the gap is at most tol; "not separable" only with an exact witness
    KKT        each violation is what it is said to be, up to rounding, and the row named has it
    theorems   known ones, with bounds that can be

A claim is believed in float64 only if it holds with every rounding error against it, and refused if it fails with
every error in its favour. In between, exact rational arithmetic decides where the kernel has rational values (linear,
poly, precomputed); for rbf and for a function, what float64 cannot tell is refused: nothing false is ever believed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from certificates.old_verifiers.conditions import INSIDE, factor, kernel_conditions, nearest, shares_of
from certificates.old_verifiers.form import Rows, figures_refused, gap_refused, is_whole, malformed
from certificates.old_verifiers.soft_verification import costs_of
from certificates.old_verifiers.theorem_verification import pegasos_refused
from certificates.old_verifiers.verification import margin_between, objective_between, problem_of

from maxmargin import KernelCertificate, KernelVerdict, Verification
from maxmargin.certificates import exact_kernel
from maxmargin.certificates.kernel_duality import KernelMeasure, measure
from maxmargin.data.table import Matrix, Vector
from maxmargin.problems.kernels import Kernel, KernelChoice
from maxmargin.problems.kernels.given import refuse_a_skew_table
from maxmargin.problems.losses import loss_named
from maxmargin.problems.statement import KernelMargin

WITHOUT_NUMBERS = {  # the numbers that a kernel does not have, and the values that stand there
    "linear": {"gamma": 1.0, "coef0": 0.0, "degree": 1},
    "rbf": {"coef0": 0.0, "degree": 1},
    "function": {"gamma": 1.0, "coef0": 0.0, "degree": 1},
    "precomputed": {"gamma": 1.0, "coef0": 0.0, "degree": 1},
    "poly": {},
}


def verify(
    certificate: KernelCertificate, X: Any, y: Any, *, exact: bool, sample_weight: Any, kernel: Any
) -> Verification:
    """Whether the certificate is true of X and y."""
    c: Any = certificate
    if exact and c.verdict is not KernelVerdict.NOT_SEPARABLE and c.kernel in ("rbf", "function"):
        why = "exp of a rational number is none" if c.kernel == "rbf" else "nothing is known of what a function rounds"
        raise ValueError(
            f"exact arithmetic needs a kernel with rational values, linear, poly or precomputed, and this one is "
            f"{'a function' if c.kernel == 'function' else c.kernel}: {why}. Use exact=False, where every rounding "
            "error is accounted for."
        )
    refuse_a_long_polynomial(c, exact)
    try:
        X, signs, kept = problem_of(c, X, y, sample_weight)
        costs = costs_of(c, np.asarray(y), sample_weight, kept)
    except (TypeError, ValueError) as error:
        return Verification(False, exact, (str(error),))
    try:
        refusals = tuple(refusals_of(certificate, X, signs, costs, kept, exact, kernel))
    except ValueError as error:
        return Verification(False, exact, (str(error),))
    if refusals:
        if sample_weight is None and any("objective is" in reason for reason in refusals):
            refusals += ("if the fit was given a sample_weight, it is needed here too",)
        return Verification(False, exact, refusals)
    return Verification(True, exact, (proven(certificate),))


def refuse_a_long_polynomial(c: Any, exact: bool) -> None:
    if exact and is_whole(c.degree) and c.degree > exact_kernel.MOST_DEGREE:
        raise ValueError(
            f"exact arithmetic takes polynomials of a degree of at most {exact_kernel.MOST_DEGREE}, and this one has "
            f"{c.degree}: its values would fill the memory. Use exact=False, where rounding errors are accounted for."
        )


def proven(c: KernelCertificate) -> str:
    if c.verdict is KernelVerdict.NOT_SEPARABLE:
        return f"the hulls of the {c.n_support} witness rows meet in the space of the kernel: no plane separates them"
    return margin_between(c.margin_lower, c.margin_upper) if c.is_hard else objective_between(c.dual, c.primal)


def refusals_of(
    c: KernelCertificate, X: Matrix, signs: Vector, costs: Vector, kept: Rows, exact_arithmetic: bool, function: Any
) -> Iterator[str]:
    """Each reason why the certificate is not true, as a clause."""
    malformed = next(malformations(c, X, costs, kept, function), None)
    if malformed is not None:
        yield malformed
        return
    a = np.zeros(len(kept))
    a[np.searchsorted(kept, c.rows)] = c.weights
    loss = loss_named(c.loss, c.huber_width)
    upper = loss.bounds(costs)
    outside = ~((a >= 0.0) & (a <= upper) & np.isfinite(a))
    if np.any(outside):
        row = int(np.argmax(outside))
        times = upper[row] / costs[row] if upper[row] < np.inf else 1.0
        cost = f"{'' if times == 1.0 else f'{times:g} times '}its cost {costs[row]:.9g}"
        most = cost if upper[row] < np.inf else "infinity"
        yield f"the weight {a[row]:.9g} of row {kept[row]} is not between 0 and {most}: not a point of the dual"
        return
    floats = X.astype(np.float64, copy=False)
    kernel = kernel_on(c, floats, kept, function)
    problem = KernelMargin(floats, signs, costs, loss, c.fit_intercept, kernel, kernel.points(floats, kept))
    if not c.fit_intercept and c.b != 0.0:
        yield f"the plane should pass through the origin but has b = {c.b}"
    measured = measure(problem, a, b=c.b)
    if c.verdict is KernelVerdict.NOT_SEPARABLE:
        yield from witness_refused(c, problem, a, measured)
        return
    yield from bounds_refused(c, problem, a, measured, exact_arithmetic)
    yield from gap_refused(c, c.dual, c.primal)
    if c.kkt is not None:
        yield from conditions_refused(c, problem, a, measured, kept)
    yield from pegasos_refused(c, problem)


def malformations(c: KernelCertificate, X: Matrix, costs: Vector, kept: Rows, function: Any) -> Iterator[str]:
    """What is not even a claim about this problem."""
    yield from malformed(c, kept)
    yield from kernel_malformations(c, X, function)
    if not c.C > 0.0:
        yield f"C must be positive, not {c.C}"
    if (c.loss == "huber_hinge") != (c.huber_width is not None):
        yield f"huber_width is {c.huber_width}: the Huber hinge needs one, and no other loss has it"
    if c.is_hard and c.loss != "hinge":
        yield f"the hard margin, C = inf, pays no loss, and the certificate speaks of the {c.loss}"
    wrong = ~((costs > 0.0) & (np.isfinite(costs) | c.is_hard))
    if np.any(wrong):
        row = int(np.argmax(wrong))
        yield f"C times the weights must be positive and finite; row {kept[row]} has {costs[row]}"
    if not math.isfinite(c.b):
        yield f"the bias {c.b} is not finite"


class WithKernel(Protocol):
    """What a certificate says of its kernel."""

    @property
    def kernel(self) -> str: ...
    @property
    def gamma(self) -> float: ...
    @property
    def coef0(self) -> float: ...
    @property
    def degree(self) -> int: ...


def kernel_malformations(c: WithKernel, X: Matrix, function: Any) -> Iterator[str]:
    if c.kernel not in WITHOUT_NUMBERS:
        yield f"the kernel {c.kernel!r} is not known"
        return
    name = c.kernel
    if name == "function" and not callable(function):
        yield "the kernel is a function, which a certificate cannot hold: give it again, verify(X, y, kernel=...)"
    if name != "function" and function is not None and function != c.kernel:
        yield f"the certificate is about the {c.kernel} kernel, not about the one that was given"
    for number, value in WITHOUT_NUMBERS[name].items():
        if getattr(c, number) != value:
            yield f"the {c.kernel} kernel has no {number}, and here it is {getattr(c, number)}"
    if not 0.0 <= c.gamma < math.inf:
        yield f"gamma must be at least 0 and finite, not {c.gamma}"
    if not 0.0 <= c.coef0 < math.inf:
        yield f"coef0 must be at least 0 and finite, not {c.coef0}: otherwise the kernel is not positive semidefinite"
    if not isinstance(c.degree, int) or isinstance(c.degree, bool) or c.degree < 0:
        yield f"degree must be a whole number of at least 0, not {c.degree!r}"
    if name == "precomputed" and X.shape[0] > X.shape[1]:
        yield f"a precomputed kernel needs a value for every pair of rows, and X has {X.shape[1]} columns"


def kernel_on(c: WithKernel, X: Matrix, kept: Rows, function: Any) -> Kernel:
    """The kernel that a certificate speaks of, on these rows of the table; a table that is none is refused."""
    if c.kernel == "precomputed":
        if len(kept) and int(kept[-1]) >= X.shape[1]:
            raise ValueError(f"a precomputed kernel needs a column for row {kept[-1]}, and X has {X.shape[1]} columns")
        refuse_a_skew_table(X[:, kept], kept)
    return KernelChoice(function if c.kernel == "function" else c.kernel, c.gamma, c.coef0, c.degree).on(X)


def bounds_refused(
    c: KernelCertificate, problem: KernelMargin, a: Vector, found: KernelMeasure, exact_arithmetic: bool
) -> Iterator[str]:
    exactly = "in exact arithmetic " if exact_arithmetic else ""
    rational = exact_kernel.has_exact_values(problem.kernel)
    primal = between(
        c.primal >= found.primal + found.primal_error, c.primal < found.primal - found.primal_error,
        (lambda: primal_at_most(problem, a, c.b, c.primal)) if rational else None, exact_arithmetic,
    )  # fmt: skip
    if not primal:
        value = as_number(found.primal, found.primal_error)
        yield f"{exactly}the plane's objective is {value}, not {c.primal!r}"
    dual = between(
        c.dual <= max(0.0, found.dual - found.dual_error),
        c.dual > (1.0 + 1e-9) * (found.dual + 2.0 * found.dual_error),  # twice: the best t may be another one
        (lambda: dual_at_least(problem, a, c.dual)) if rational else None, exact_arithmetic,
    )  # fmt: skip
    if not dual:
        value = as_number(found.dual, found.dual_error)
        yield f"{exactly}the weights prove a lower bound of {value}, not {c.dual!r}"


def between(surely: bool, surely_not: bool, exactly: Callable[[], bool] | None, exact_arithmetic: bool) -> bool:
    """What float64 decides, unless exact arithmetic is asked for or needed; without it, doubt is a refusal."""
    if exactly is None:
        return surely
    return exactly() if exact_arithmetic or not (surely or surely_not) else surely


def primal_at_most(problem: KernelMargin, a: Vector, b: float, bound: float) -> bool:
    if not math.isfinite(bound):
        return bound == math.inf
    value = exact_kernel.primal_value(problem, a, b)
    return value is not None and value <= Fraction(bound)


def dual_at_least(problem: KernelMargin, a: Vector, bound: float) -> bool:
    if bound <= 0.0:
        return True
    value = exact_kernel.dual_value(problem, a)
    return value is None or (bound < math.inf and value >= Fraction(bound))


def as_number(value: float, error: float) -> str:
    return f"{value:.12g}" if math.isfinite(value + error) else "beyond what float64 can tell"


def witness_refused(c: KernelCertificate, problem: KernelMargin, a: Vector, found: KernelMeasure) -> Iterator[str]:
    """Few rows: the exact check is quick, so the witness is never believed to rounding only."""
    if not c.is_hard:
        yield f"with C = {c.C} rows may be on the wrong side: only the hard margin, C = inf, can be impossible"
        return
    if c.primal != math.inf or c.dual != math.inf or c.b != 0.0 or c.kkt is not None or c.theorems:
        yield "where no plane separates, both bounds are infinite, and nothing is said of a plane"
    rows = np.flatnonzero(a)
    if exact_kernel.exact_witness(problem, rows, a[rows]) is None:
        yield "the witness does not hold: no combination of its rows was found that vanishes in the space of the kernel"
    elif not abs(found.square) <= 4.0 * found.square_error:
        yield f"the witness rows prove it, but their weights leave the hull points {math.sqrt(found.square):.3g} apart"
    elif c.fit_intercept and abs(imbalance := float(np.sum(problem.signs * a))) > 1e-9 * float(a.sum()):
        yield f"the weights of the witness differ by {imbalance:.3g} between the classes"


def conditions_refused(
    c: KernelCertificate, problem: KernelMargin, a: Vector, found: KernelMeasure, kept: Rows
) -> Iterator[str]:
    """The violations may differ by what rounding does."""
    assert c.kkt is not None
    if not math.isfinite(found.primal):
        yield "no plane is known that could meet the conditions of optimality"
        return
    # Rows whose weights are at the very limit between telling b and not telling it: without them, and with them.
    fresh, widest = (kernel_conditions(problem, a, found, INSIDE * (1.0 + sign * 1e-6)) for sign in (1.0, -1.0))
    m, off = nearest(problem, found), float(np.max(found.off, where=(a > 0.0) | (found.slack > 0.0), initial=0.0))
    of_value = 4.0 * (found.primal_error + found.dual_error + found.square_error) / (found.primal or 1.0)
    of_value += 4.0 * off / m * factor(found) * float(a.max(initial=0.0)) / (found.primal or 1.0)
    rounding = {
        "stationarity": 4.0 * (found.square_error / (found.square or 1.0) + off / m),
        "slackness": of_value,
        "bias": 4.0 * off / m + of_value * float(found.slack.max()),
    }
    yield from figures_refused(c.kkt, fresh, widest, rounding)
    shares = shares_of(problem, a, found)
    most, at_row = float(shares.max()), shares[kept == c.kkt.slackness.row]
    if not np.any((at_row >= most) | (at_row >= most - 1e-6 * (1e-6 + most) - of_value)):
        yield f"row {c.kkt.slackness.row} is not the one that adds most to the gap"
