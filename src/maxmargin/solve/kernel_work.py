"""The margin of two classes in the space of a kernel, soft or hard; and what the problems of one fit share."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.certificates.kernel_margin import kernel_certificate, no_plane_certificate
from maxmargin.data.executor import OutOfTime, Threads, check_interrupt
from maxmargin.data.table import Matrix
from maxmargin.problems.kernels import Kernel, Points, rows_of
from maxmargin.problems.losses import HINGE, Loss
from maxmargin.problems.protocol import Run, later
from maxmargin.problems.statement import ClassWeight, KernelMargin, TwoClasses, prices
from maxmargin.run.control import Clock
from maxmargin.solve.answer import Answer

if TYPE_CHECKING:
    from maxmargin.solvers.kernel_smo.kernel_rows import KernelRows, SharedRows, Values
    from maxmargin.solvers.kernel_smo.row_cache import RowCache

MEGABYTE = 2.0**20


class KernelWork:
    """What the two-class problems of a fit share: the rows as the kernel wants them, and a cache of its values.

    All of it is made when it is first needed, where the clock is checked.
    """

    def __init__(self, kernel: Kernel, X: Matrix, threads: Threads, cache_size: float) -> None:
        self.kernel, self.threads, self.n_bytes, self.X = kernel, threads, 0.5 * cache_size * MEGABYTE, X
        self.whole: RowCache | None = None

    @functools.cached_property
    def points(self) -> Points:
        points = self.kernel.compared(self.kernel.points(self.X))
        self.kernel.refuse_beyond_float64(points)
        return points

    @functools.cached_property
    def shared(self) -> SharedRows:
        from maxmargin.solvers.kernel_smo.kernel_rows import shared_rows

        return shared_rows(self.kernel, self.points, self.threads)

    @functools.cached_property
    def memory(self) -> Values:
        from maxmargin.solvers.kernel_smo.row_cache import room_for

        return room_for(self.shared.rows, self.n_bytes)

    @functools.cached_property
    def make_cache(self) -> Callable[[KernelRows], RowCache]:
        from maxmargin.solvers.kernel_smo.row_cache import RowCache, room_for

        return functools.partial(RowCache, memory=room_for(self.shared.rows, self.n_bytes))

    def rounds(self, problem: KernelMargin, two: TwoClasses, **options: Any) -> Run:
        """Batch SMO; to make its first rows takes time, which counts."""
        from maxmargin.solvers.kernel_smo.method import batch_smo

        def start() -> Run:
            check_interrupt()
            return batch_smo(problem, self.cache_of(two), self.shared.scale, memory=self.memory, **options)

        return later(start, problem.n_rows)

    def points_of(self, two: TwoClasses, clock: Clock) -> Points:
        """The rows of a problem; where the time is over before they are made, as they are, and nobody asks for them."""
        try:
            with clock.searching():
                return self.points if self.is_whole(two) else rows_of(self.points, two.rows)
        except OutOfTime:
            return Points(two.X, np.zeros(0), two.rows)

    def cache_of(self, two: TwoClasses) -> RowCache:
        """One against the rest: the same cache for all problems. One against one: its rows of the same table."""
        if not self.is_whole(two):
            return self.make_cache(self.shared.rows.restricted(two.rows))
        if self.whole is None:
            self.whole = self.make_cache(self.shared.rows)
        return self.whole

    def is_whole(self, two: TwoClasses) -> bool:
        return len(two.rows) == int(self.X.shape[0])


class KernelQuestion(NamedTuple):
    """A margin that is asked for, and how; C is infinite for the hard margin, which pays no loss."""

    C: float
    tol: float
    approximation: int | None = None
    max_iter: int | None = None
    class_weight: ClassWeight = ()
    loss: Loss = HINGE
    fit_intercept: bool = True
    solver: str = "auto"


def solve_kernel_margin(two: TwoClasses, asked: KernelQuestion, work: KernelWork, clock: Clock) -> Answer:
    """The answer to one two-class problem; of a hard margin, what is proven if there is none."""
    from maxmargin.solve.kernel_margin import KernelJudge, approximate, hard_margin
    from maxmargin.solve.kernel_stages import soft_margin

    is_hard = math.inf == asked.C
    costs = np.full(len(two.rows), math.inf) if is_hard else prices(asked.C, two)
    loss, points = HINGE if is_hard else asked.loss, work.points_of(two, clock)
    problem = KernelMargin(two.X, two.signs, costs, loss, asked.fit_intercept, work.kernel, points)
    judge = KernelJudge(problem, asked.tol, work.threads)
    sweeps = functools.partial(work.rounds, problem, two, tol=asked.tol)
    if is_hard:
        iterate, status = hard_margin(problem, judge, clock, sweeps, asked.solver)
    elif asked.approximation is not None:
        iterate, status = approximate(problem, asked.approximation, judge, clock)
    else:
        iterate, status = soft_margin(problem, judge, clock, sweeps, asked.max_iter, asked.solver)
    stated = (asked.C, asked.class_weight, asked.tol)
    if judge.witness is not None:
        certificate = no_plane_certificate(two, problem, judge.witness, *stated)
    else:
        certificate = kernel_certificate(two, problem, judge.a, judge.measured, *stated)
    nearest = judge.nearest()
    a = judge.a * np.where(two.signs > 0, *judge.measured.scales) / nearest
    length = math.sqrt(max(0.0, judge.measured.square)) / nearest
    own = a[np.searchsorted(two.rows, certificate.rows)]
    return Answer(two, iterate, certificate, status, own, work.kernel, length, nearest)
