"""The small problems of a fit, one for each pair of classes or for each class, solved and judged together.

One compiled call proposes a plane and dual variables for each of some hundred problems, and a few passes of the judge
over all their rows prove them. What they do not prove is left to `soft_margin`, one problem at a time. The certificates
are of the judge's numbers alone, and say the same as those of single problems.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from maxmargin.certificates.many_duality import are_negligible, dual_values, many_conditions, primal_values
from maxmargin.certificates.passes import proves_gap
from maxmargin.certificates.soft_margin import SoftMarginCertificate, SoftVerdict
from maxmargin.problems.losses import width_of
from maxmargin.problems.many_margins import ManyMargins, Proposals, many_margins
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import TwoClasses
from maxmargin.run.control import Clock, Status
from maxmargin.solve.answer import Answer, SoftQuestion
from maxmargin.solvers.registry import Solver, loaded

AT_ONCE = 2**17  # numbers, more or less: they stay in the cache, and a compiled call ends within a tenth of a second


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
    loss, width, tol = asked.loss.name, width_of(asked.loss), float(asked.tol)
    for k, (two, begin) in enumerate(zip(several, many.edges.tolist(), strict=False)):
        if counts[k] > most or not (is_clear[k] and proves_gap(lowers[k], uppers[k], tol)):
            yield None
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
