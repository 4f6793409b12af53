"""The two-class problems of a fit with a kernel, solved and judged together: where they are small, most of the time of
one by itself is not spent on its numbers.

All of them are solved one after the other by one loop (`small_pairs`), those on small tables to the last digits
(`active_set`), and then measured in one go (`kernel_pairs`).
Those that are not proven go on from the values that were measured, a few times; what is left after that, and what this
is not for, is answered by itself (`kernel_margin`), as if nobody had tried.
"""

from __future__ import annotations

import contextlib
import math

import numpy as np

from maxmargin._loops import are_small_work, is_compiled
from maxmargin.certificates.kernel_margin import kernel_certificate
from maxmargin.certificates.kernel_pairs import Judged, ManyRows, measure_together
from maxmargin.data.executor import OutOfTime, check_interrupt
from maxmargin.data.table import Vector, is_sparse
from maxmargin.problems.kernels import Linear, ProductKernel, rows_of
from maxmargin.problems.losses import HINGE
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import KernelMargin, TwoClasses, prices
from maxmargin.run.control import Clock, Status
from maxmargin.solve.answer import Answer
from maxmargin.solve.kernel_margin import KernelQuestion, KernelWork
from maxmargin.solvers import registry
from maxmargin.solvers.kernel_smo.active_set import MOST_ROWS, settled
from maxmargin.solvers.kernel_smo.small_pairs import Moved, SmallPairs, solve_small

MANY = 2000  # rows of a problem, at most: with more, it is faster to have fewer active rows
FEWER = 1000  # likewise, where all values of the kernel among them are made at once, or the kernel is linear
WORTH = 3e6  # numbers that the steps of a linear problem pass over: an interior point takes as long
FEW_ROWS = 4 * MOST_ROWS  # of the whole table: with more, and many pairs of few rows, the last digits take too long
ROUNDS = 4  # of solving and judging
AIM, FINER = 0.7, 0.3  # of the tolerance: to what problems are solved at first, and of that in each further round


def answers_together(
    problems: list[TwoClasses], asked: KernelQuestion, work: KernelWork, clock: Clock
) -> dict[int, Answer]:
    """The answers to those that are proven in this way, by their place."""
    answers: dict[int, Answer] = {}
    with clock.searching(), contextlib.suppress(OutOfTime):
        few = those_that_suit(problems, asked, work)
        if few:
            prove_together(answers, few, problems, asked, work)
    return answers


def prove_together(
    answers: dict[int, Answer], few: list[int], problems: list[TwoClasses], asked: KernelQuestion, work: KernelWork
) -> None:
    """Solver and judge in turn, with the problems of these numbers; the answers to those that are proven."""
    margins = {p: margin_of(problems[p], asked, work) for p in few}
    worth = WORTH if isinstance(work.kernel, Linear) else math.inf
    solver = SmallPairs(*work.shared, max(len(problems[p].rows) for p in few), worth)
    table, left = ManyRows(work.kernel, work.points), few
    a = {p: np.zeros(margins[p].n_rows) for p in few}
    values, steps, level = dict(a), dict.fromkeys(few, 0), AIM * asked.tol
    settles = work.X.shape[0] <= FEW_ROWS
    for turn in range(ROUNDS):
        moved: dict[int, Moved] = {}
        for p in left:
            check_interrupt()
            rows, margin = problems[p].rows, margins[p]
            moved[p] = solver.solve(rows, margin.signs, margin.costs, a[p], values[p], level)
            steps[p] += moved[p].steps
            if settles and len(rows) <= MOST_ROWS and (last := settled(margin, moved[p].a)) is not None:
                moved[p] = moved[p]._replace(a=last)
        found = measure_together(table, [margins[p] for p in left], [moved[p].a for p in left])
        again = []
        for p, judged in zip(left, found, strict=True):
            if judged is None:
                continue
            a[p], values[p] = moved[p].a, judged.measured.values
            if judged.measured.gap <= asked.tol:
                answers[p] = answer_of(problems[p], margins[p], a[p], judged, asked, work, steps[p], turn + 1)
            elif moved[p].has_ended and moved[p].steps:
                again.append(p)
        left, level = again, FINER * level
        if not left:
            break


def those_that_suit(problems: list[TwoClasses], asked: KernelQuestion, work: KernelWork) -> list[int]:
    """The problems that this is for, by their numbers."""
    plain = asked.loss == HINGE and asked.fit_intercept and asked.solver == registry.AUTO and math.inf > asked.C
    kernel = work.kernel
    is_limited = asked.approximation is not None or asked.max_iter is not None
    if not plain or is_limited:
        return []
    if not isinstance(kernel, ProductKernel) or is_sparse(work.X):
        return []
    if not is_compiled(solve_small) and are_small_work([two.X.shape for two in problems]):
        return []
    sizes = [len(two.rows) for two in problems]
    if min(sizes) > MANY:
        return []
    is_fast = not isinstance(kernel, Linear) and not SmallPairs.makes_long_rows(work.shared.rows)
    return [p for p, size in enumerate(sizes) if size <= (MANY if is_fast else FEWER)]


def margin_of(two: TwoClasses, asked: KernelQuestion, work: KernelWork) -> KernelMargin:
    points = rows_of(work.points, two.rows)
    return KernelMargin(two.X, two.signs, prices(asked.C, two), asked.loss, True, work.kernel, points)


def answer_of(
    two: TwoClasses,
    margin: KernelMargin,
    a: Vector,
    judged: Judged,
    asked: KernelQuestion,
    work: KernelWork,
    steps: int,
    rounds: int,
) -> Answer:
    """What these weights prove."""
    measured = judged.measured
    certificate = kernel_certificate(two, margin, a, measured, asked.C, asked.class_weight, asked.tol, judged.kkt)
    iterate = Iterate(np.zeros(0), measured.b, a, True, steps, rounds, gap=measured.gap)
    balanced = (a * np.where(two.signs > 0, *measured.scales))[np.flatnonzero(a)]
    return Answer(two, iterate, certificate, Status.PROVEN, balanced, work.kernel, math.sqrt(measured.square))
