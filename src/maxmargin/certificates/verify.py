"""Checking a certificate, of whatever kind: every number again from the raw data, and nothing taken on trust.

A claim is refused when it does not fit the data (sizes, rows, labels), is not a claim at all (a field of another kind,
NaN, weights outside of their box), or promises more than the data give. What is compared with what:

    bounds     each with what the plane, or the weights, are measured to be worth
    verdict    one that the bounds allow; "optimal" if and only if the gap is at most tol; witnesses are exact
    KKT        each violation is what it is said to be, up to rounding, and the rows named have it
    theorems   known ones, with bounds that the data and the plane give; what was counted stands in the report as such

A bound is believed in float64 only if it holds with every rounding error against it, and refused if it fails with
every error in its favour. In between, exact rational arithmetic decides, and where a kernel has no rational values,
what float64 cannot tell is refused: nothing false is ever believed. How the bounds of a kind are measured is the
matter of its evaluator, which is registered by the kind's name:

    malformed     what is no statement or no claim of this kind, before anything is measured
    bounds        each claimed bound beside what was measured, rounding errors included; exact arithmetic for the rest
    verdict       what the verdict claims beyond the bounds: a witness
    conditions    the conditions of Karush, Kuhn and Tucker, measured anew
    theorems      the algorithm's guarantees, computed anew

An evaluator belongs to one certificate and the rows that it speaks of. Each of its answers is the reasons to refuse.
"""

from __future__ import annotations

import itertools
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.exact import Verdict as Answer
from maxmargin.certificates.form import (
    Rows,
    gap_refused,
    is_class_weight,
    is_number,
    is_word,
    malformed,
    separation_refused,
)
from maxmargin.certificates.measure import objective
from maxmargin.certificates.report import Verification
from maxmargin.certificates.theorem_verification import theorem_refused
from maxmargin.certificates.words import bounds_of
from maxmargin.data.checking import check_labels, check_weights, checked_rows
from maxmargin.data.cluster import on_cluster
from maxmargin.data.table import Matrix, Table, Vector, column_at_hand, is_source, matrix_of, select
from maxmargin.problems.kernels import KERNELS
from maxmargin.problems.statement import plain


class Data(NamedTuple):
    """The rows that a certificate speaks of: their signs, what each may cost, and their numbers in the user's table.

    X is a matrix or, for an evaluator that reads `by_blocks`, perhaps a table of blocks. A cost is infinite where no
    loss is paid. `kernel` is what the user gave: a function, which no certificate holds.
    """

    X: Matrix
    signs: Vector
    costs: Vector
    kept: Rows
    kernel: Any = None


class Bound(NamedTuple):
    """A bound that is claimed, beside what was measured.

    surely     what holds with every rounding error against the claim: float64 believes it, and whatever says less
    beyond     what fails with every error in its favour: float64 refuses whatever says more
    words      the reason to refuse
    exactly    decides what float64 cannot tell; None where the problem has no rational values
    """

    claimed: float
    surely: float
    beyond: float
    words: str
    exactly: Callable[[], object] | None
    is_lower: bool

    @property
    def is_believed(self) -> bool:
        return self.claimed <= self.surely if self.is_lower else self.claimed >= self.surely

    @property
    def is_refuted(self) -> bool:
        return self.claimed > self.beyond if self.is_lower else self.claimed < self.beyond


def objective_at_most(claimed: float, value: float, error: float, exactly: Callable[[], object] | None) -> Bound:
    """That P of the plane, which was measured, is not above the claim."""
    words = f"the plane's objective is {as_number(value, error)}, not {claimed!r}"
    return Bound(claimed, value + error, value - error, words, exactly, is_lower=False)


def objective_at_least(claimed: float, value: float, error: float, exactly: Callable[[], object] | None) -> Bound:
    """That D of the weights, which was measured, is not below the claim."""
    words = f"the weights prove a lower bound of {as_number(value, error)}, not {claimed!r}"
    beyond = (1.0 + 1e-9) * (value + 2.0 * error)  # twice: the best t may be another one
    return Bound(claimed, max(0.0, value - error), beyond, words, exactly, is_lower=True)


def as_number(value: float, error: float) -> str:
    return f"{value:.12g}" if math.isfinite(value + error) else "beyond what float64 can tell"


def nothing_to_refuse(c: Any) -> None:
    """Exact arithmetic can decide whatever a certificate c of this kind claims."""


@dataclass(eq=False)
class Evaluator(ABC):
    """A certificate c on its rows: all that its kind adds."""

    by_blocks: ClassVar[bool] = False  # whether it can do with a table whose rows are not all in memory
    refuse_exact: ClassVar[Callable[[Any], None]] = staticmethod(nothing_to_refuse)  # by a ValueError

    c: Any
    data: Data
    exact_arithmetic = False  # whether fractions were asked for, where float64 can prove it too

    @classmethod
    def refusals(cls, c: Any, X: Any, y: Any, sample_weight: Any, kernel: Any, exact: bool) -> tuple[str, ...]:
        """Each reason why the certificate is not true of the data; a ValueError where these are none."""
        table, signs, kept = problem_of(c, X, y, sample_weight)
        table = table if cls.by_blocks else matrix_of(table)
        costs = costs_of(c, np.asarray(column_at_hand(y)), sample_weight, kept)
        found = tuple(refusals_of(cls(c, Data(table, signs, costs, kept, kernel)), exact))
        return ("these data have rows on one side only", *found) if found and len(np.unique(signs)) < 2 else found

    @cached_property
    def places(self) -> Rows:
        """The rows that carry weight, in the order of the certificate, as places among those of the problem."""
        return np.asarray(np.searchsorted(self.data.kept, self.c.rows))

    @cached_property
    def a(self) -> Vector:
        """The weights of all rows."""
        weights = np.zeros(len(self.data.kept))
        weights[self.places] = self.c.weights
        return weights

    @property
    def upper(self) -> Vector:
        """The largest weights that the rows may have."""
        return self.data.costs

    def malformed(self) -> Iterator[str]:
        yield from ()

    @abstractmethod
    def bounds(self) -> Iterator[Bound]:
        """One for each side; none where the verdict is a witness."""

    def verdict(self) -> Iterator[str]:
        yield from ()

    def conditions(self) -> Iterator[str]:
        if self.c.kkt is not None:
            yield "conditions of optimality are reported that nobody measures"

    def theorems(self) -> Iterator[str]:
        for theorem in self.c.theorems:
            yield from theorem_refused(theorem, None, at_most=True, counts=False)


EVALUATORS: dict[str, type[Evaluator]] = {}


def register(kind: str) -> Callable[[type[Evaluator]], type[Evaluator]]:
    """The evaluator of the certificates of this kind."""

    def known(evaluator: type[Evaluator]) -> type[Evaluator]:
        EVALUATORS[kind] = evaluator
        return evaluator

    return known


DIGITS = 9  # of the bounds that are confirmed


def verify(c: Any, X: Any, y: Any, *, exact: bool, sample_weight: Any = None, kernel: Any = None) -> Verification:
    """Whether the certificate is true of X and y."""
    evaluator = EVALUATORS[c.kind]
    if kernel is not None and not hasattr(c, "kernel"):
        raise TypeError("this certificate is not about a kernel: verify it without one")
    if exact:
        evaluator.refuse_exact(c)
    try:
        with on_cluster(None) if is_source(X) else nullcontext():
            refusals = evaluator.refusals(c, X, y, sample_weight, kernel, exact)
    except (TypeError, ValueError) as error:
        return Verification(False, exact, (str(error),))
    if not refusals:
        return Verification(True, exact, (proven(c),))
    if sample_weight is None and any("objective is" in reason for reason in refusals):
        refusals += ("if the fit was given a sample_weight, it is needed here too",)
    return Verification(False, exact, refusals)


def proven(c: Any) -> str:
    if c.is_separable is False:
        so = " in the space of the kernel: no plane separates them"
        so = so if hasattr(c, "kernel") else ", so no plane separates the classes"
        return f"the hulls of the {c.n_support} witness rows meet{so}"
    found = bounds_of(c)
    return f"the {found.best} {'is' if found.lower == -np.inf else 'lies'} {found.between(DIGITS)}"


def is_of_function(certificate: Any) -> bool:
    """Whether it speaks of a kernel that is a user's function."""
    kernel = getattr(certificate, "kernel", None)
    return is_word(kernel) and kernel in KERNELS and KERNELS[kernel].is_code


def problem_of(certificate: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Matrix | Table, Vector, Rows]:
    """The rows that the certificate speaks of, their signs, and which rows of the user's X they are.

    X, y and the weights come through the same checks as in `fit`.
    """
    X = checked_rows(X, may_be_objects=is_of_function(certificate))
    y = check_labels(y, X.shape[0])
    weights = None if sample_weight is None else check_weights(sample_weight, X.shape[0])
    plus = np.asarray(y == certificate.positive)
    minus = ~plus if certificate.negative is None else np.asarray(y == certificate.negative)
    if plus.shape != y.shape or minus.shape != y.shape:
        raise ValueError(f"y has no label {certificate.positive!r}")
    taken = plus | minus
    if weights is not None:
        taken &= weights > 0.0
    kept = np.flatnonzero(taken)
    X = select(X, kept)
    signs = np.where(plus[kept], 1.0, -1.0)
    if X.shape != (certificate.n_rows, certificate.n_columns):
        # Between two of many classes other labels are as they should be, but here a row is missing.
        known = (certificate.positive, certificate.negative)
        stranger = None if certificate.negative is None else strange_label(y, known)
        first, of_them = ("", "") if stranger is None else (f"{stranger}: ", " with these labels")
        raise ValueError(
            f"{first}the certificate is about {certificate.n_rows} rows x {certificate.n_columns} columns{of_them}, "
            f"these data have {X.shape[0]} x {X.shape[1]}"
        )
    return X, signs, kept


def strange_label(y: NDArray[Any], known: tuple[Any, ...], sample_weight: Any = None) -> str | None:
    """A clause about the first row whose label is not known, if there is one; rows without weight may have any."""
    strange = np.ones(y.shape, dtype=bool)
    for label in known:
        strange &= np.asarray(y != label)
    weights = np.ones(y.shape) if sample_weight is None else np.asarray(sample_weight)
    if weights.shape == y.shape:
        strange &= weights > 0.0
    if y.ndim != 1 or not np.any(strange):
        return None
    row = int(np.argmax(strange))
    return f"row {row} has the label {plain(y[row])!r}, which is none of {', '.join(map(repr, known))}"


def costs_of(certificate: Any, y: Any, sample_weight: Any, kept: Rows) -> Vector:
    """C_i of the rows, infinite for a certificate without a price: the products are taken as float64 rounds them."""
    if not hasattr(certificate, "C"):
        return np.full(len(kept), np.inf)
    if not (is_class_weight(certificate.class_weight) and is_number(certificate.C)):
        raise ValueError("C must be a number, and class_weight pairs of a label and a positive weight, each label once")
    weights = np.ones(len(y))
    for label, weight in certificate.class_weight:
        own = np.asarray(y == label)
        if not np.any(own):
            raise ValueError(f"class_weight names {label!r}, which is no label of these data")
        weights[own] = weight
    if sample_weight is not None:
        weights *= check_weights(sample_weight, len(y))
    with np.errstate(over="ignore"):
        return np.asarray(certificate.C * weights[kept])


def refusals_of(evaluator: Evaluator, exact_arithmetic: bool) -> Iterator[str]:
    """Each reason why the certificate is not true, as a clause."""
    c, kept = evaluator.c, evaluator.data.kept
    evaluator.exact_arithmetic = exact_arithmetic
    no_claim = itertools.chain(
        malformed(c, kept), evaluator.malformed(), costs_refused(evaluator), box_refused(evaluator)
    )
    if (first := next(no_claim, None)) is not None:
        yield first
        return
    if "b" in vars(c) and not getattr(c, "fit_intercept", True) and c.b != 0.0:
        yield f"the plane should pass through the origin but has b = {c.b}"
    yield from bounds_refused(evaluator, exact_arithmetic)
    yield from verdict_refused(c)
    yield from evaluator.verdict()
    yield from evaluator.conditions()
    yield from evaluator.theorems()


def costs_refused(evaluator: Evaluator) -> Iterator[str]:
    """Only the hard margin has infinite ones."""
    costs, kept = evaluator.data.costs, evaluator.data.kept
    wrong = ~((costs > 0.0) & (np.isfinite(costs) | np.isinf(getattr(evaluator.c, "C", np.inf))))
    if np.any(wrong):
        row = int(np.argmax(wrong))
        yield f"C times the weights must be positive and finite; row {kept[row]} has {costs[row]}"


def box_refused(evaluator: Evaluator) -> Iterator[str]:
    """Weights that are not in their box."""
    a, upper, data = evaluator.a, evaluator.upper, evaluator.data
    outside = ~((a >= 0.0) & (a <= upper) & np.isfinite(a))
    if not np.any(outside):
        return
    row = int(np.argmax(outside))
    if not hasattr(evaluator.c, "C"):
        yield f"the weight of row {data.kept[row]} is negative or not finite: not a point of the hulls"
        return
    most = "infinity"
    if upper[row] < np.inf:
        times = upper[row] / data.costs[row]
        most = f"{'' if times == 1.0 else f'{times:g} times '}its cost {data.costs[row]:.9g}"
    yield f"the weight {a[row]:.9g} of row {data.kept[row]} is not between 0 and {most}: not a point of the dual"


def claimed_bounds(c: Any) -> tuple[float, float]:
    return (c.margin_lower, c.margin_upper) if "margin_lower" in vars(c) else (c.dual, c.primal)


def bounds_refused(evaluator: Evaluator, exact_arithmetic: bool) -> Iterator[str]:
    """Both must have been measured, unless a witness takes their place."""
    bounds, (low, high) = list(evaluator.bounds()), claimed_bounds(evaluator.c)
    for bound in bounds:
        yield from bound_refused(bound, evaluator.data.kept, exact_arithmetic)
    measured = {(bound.claimed, bound.is_lower) for bound in bounds}
    if evaluator.c.is_separable is not False and measured != {(low, True), (high, False)}:
        yield "a bound is claimed that nobody measures"


def bound_refused(bound: Bound, kept: Rows, exact_arithmetic: bool) -> Iterator[str]:
    if exact_arithmetic and bound.exactly is None:
        yield "exact arithmetic has no way to decide a bound of this kind"
        return
    answer = between(bound.is_believed, bound.is_refuted, bound.exactly, exact_arithmetic)
    if not answer:
        yield f"{bound.words}: {clause(answer, kept)}" if isinstance(answer, Answer) else bound.words


def verdict_refused(c: Any) -> Iterator[str]:
    """What the bounds, which were measured before, deny."""
    are_margins, (low, high) = "margin_lower" in vars(c), claimed_bounds(c)
    if are_margins:
        norm = getattr(c, "norm", "l2")
        if c.primal != objective(low, norm) or c.dual != objective(high, norm):
            yield "primal and dual are not the values that follow from the margins"
    if "tol" in vars(c) and c.is_separable is not False:
        yield from gap_refused(c, low, high)
    if are_margins:
        yield from separation_refused(c)


def between(surely: bool, surely_not: bool, exactly: Callable[[], object] | None, exact_arithmetic: bool) -> object:
    """What float64 decides, unless exact arithmetic is asked for or needed; without it, doubt is a refusal."""
    if exactly is None:
        return surely
    return exactly() if exact_arithmetic or not (surely or surely_not) else surely


def clause(refusal: Answer, kept: Rows) -> str:
    """The reason as a clause, with its row numbered as in the user's table."""
    reason = refusal.reason.rstrip(".")
    reason = reason[:1].lower() + reason[1:]
    if refusal.row is None:
        return reason
    return re.sub(rf"\brow {refusal.row}\b", f"row {kept[refusal.row]}", reason)
