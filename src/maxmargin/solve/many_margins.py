"""The small problems of a fit, one for each pair of classes or for each class, solved and judged together.

One compiled call proposes a plane and dual variables for each of some hundred problems, and a few passes of the judge
over all their rows prove them. Where only rounding errors stand in the way, the proposal is judged once more, with the
finer sums of a single problem. What is not proven then is left to `soft_margin`, one problem at a time. The
certificates are of the judge's numbers alone, and say the same as those of single problems.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from maxmargin._loops import are_first_work
from maxmargin.certificates.many_duality import are_negligible, dual_values, many_conditions, primal_values
from maxmargin.certificates.passes import proves_gap
from maxmargin.certificates.soft_margin import SoftMarginCertificate, SoftVerdict
from maxmargin.data.table import Table, safe_scale
from maxmargin.problems.losses import width_of
from maxmargin.problems.many_margins import ManyMargins, Proposals, many_margins
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import SoftMargin, TwoClasses, prices
from maxmargin.run.control import Clock, Status
from maxmargin.solve.answer import Answer, SoftQuestion
from maxmargin.solve.soft_margin import Judge, soft_certificate
from maxmargin.solvers import registry
from maxmargin.solvers.registry import Solver, loaded

AT_ONCE = 2**17  # numbers, more or less: they stay in the cache, and a compiled call ends within a tenth of a second


def solve_small_ones(problems: Sequence[TwoClasses], clock: Clock, asked: SoftQuestion) -> Mapping[int, Answer]:
    """The answers to those of many problems, by their place, that are so small that they are solved and judged
    together; the others are left to be solved one by one, and all are where somebody looks at single steps, or
    where they are not worth the compiler."""
    solver = registry.for_many(asked.solver, asked.loss)
    if solver is None or solver.many is None or clock.is_watched:
        return {}
    most, small = solver.many, []
    for place, two in enumerate(problems):
        n, d = two.X.shape
        few = n <= most.rows and 0 < d <= min(n, most.columns) and n * d <= most.numbers
        if few and not isinstance(two.X, Table) and two.largest is not None and safe_scale(two.largest) == 1.0:
            small.append(place)
    if not small or are_first_work([problems[place].X.shape for place in small]):
        return {}
    return solve_together(problems, small, asked, clock, solver)


def solve_together(
    problems: Sequence[TwoClasses], small: list[int], asked: SoftQuestion, clock: Clock, solver: Solver
) -> dict[int, Answer]:  # fmt: skip
    """The answers to the problems at these places, as far as they are proven."""
    assert solver.many is not None
    found: dict[int, Answer] = {}
    proposals = loaded(solver.many.proposals)
    for places in groups(problems, small):
        if clock.is_over:
            break
        several = [problems[place] for place in places]
        many = many_margins(several, asked.C, asked.loss, asked.fit_intercept)
        answers = judged(many, proposals(many, asked.tol), several, asked, solver.name)
        found.update((place, answer) for place, answer in zip(places, answers, strict=True) if answer is not None)
    return found


def groups(problems: Sequence[TwoClasses], small: list[int]) -> Iterator[list[int]]:
    """As many as have AT_ONCE numbers."""
    group: list[int] = []
    numbers = 0
    for place in small:
        n, d = problems[place].X.shape
        if group and numbers + n * d > AT_ONCE:
            yield group
            group, numbers = [], 0
        group.append(place)
        numbers += n * d
    yield group


def judged(
    many: ManyMargins, proposed: Proposals, several: list[TwoClasses], asked: SoftQuestion, solver: str
) -> Iterator[Answer | None]:
    """What is proven of the proposals; None where it is less than was asked for, or took more steps than it may."""
    w, b, a, steps = proposed
    primal, dual = primal_values(many, w, b), dual_values(many, a)
    conditions = many_conditions(many, w, a, primal, dual)
    carrying = np.flatnonzero(a)
    cuts, feasible = np.searchsorted(carrying, many.edges).tolist(), dual.feasible[carrying]
    weights, rows = a[carrying], many.rows[carrying]
    uppers, lowers, biases, counts = primal.upper.tolist(), dual.lower.tolist(), b.tolist(), steps.tolist()
    most = math.inf if asked.max_iter is None else asked.max_iter
    is_clear = are_negligible(primal, dual, asked.tol).tolist()
    is_near = (primal.value - dual.value <= asked.tol * primal.value).tolist()
    loss, width, tol = asked.loss.name, width_of(asked.loss), float(asked.tol)
    for k, (two, begin) in enumerate(zip(several, many.edges.tolist(), strict=False)):
        if counts[k] > most:
            yield None
            continue
        if not (is_clear[k] and proves_gap(lowers[k], uppers[k], tol)):
            a_k = a[begin : begin + len(two.signs)]
            proposal = Iterate(w[k].copy(), biases[k], a_k, True, counts[k], counts[k], solver=solver)
            yield judged_by_itself(two, proposal, asked) if is_near[k] else None
            continue
        own = slice(cuts[k], cuts[k + 1])
        plane, kkt = w[k].copy(), conditions[k]
        n_rows, n_columns = two.X.shape
        certificate = SoftMarginCertificate(
            verdict=SoftVerdict.OPTIMAL,
            loss=loss,
            huber_width=width,
            C=asked.C,
            fit_intercept=many.fit_intercept,
            class_weight=asked.class_weight,
            positive=two.positive,
            negative=two.negative,
            n_rows=n_rows,
            n_columns=n_columns,
            w=plane,
            b=biases[k],
            rows=rows[own].copy(),
            weights=weights[own].copy(),
            primal=uppers[k],
            dual=lowers[k],
            tol=tol,
            kkt=kkt,
        )
        iterate = Iterate(plane, biases[k], a[begin : begin + n_rows], True, counts[k], counts[k], solver=solver)
        yield Answer(two, iterate, certificate, Status.PROVEN, feasible[own])


def judged_by_itself(two: TwoClasses, proposal: Iterate, asked: SoftQuestion) -> Answer | None:
    """With the finer sums."""
    costs = prices(asked.C, two)
    judge = Judge(SoftMargin(two.X, two.signs, costs, asked.loss, asked.fit_intercept), asked.tol, two.largest)
    if not judge.evaluate(proposal).gap <= asked.tol:
        return None
    certificate, a = soft_certificate(two, judge, costs, 1.0, asked.C, asked.class_weight)
    is_proven = certificate.verdict is SoftVerdict.OPTIMAL
    return Answer(two, proposal, certificate, Status.PROVEN, a) if is_proven else None
