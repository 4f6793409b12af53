"""What the mistake-driven learners share: the budget, the referee, the record, the choice of the plane."""

from __future__ import annotations

import dataclasses
from abc import ABCMeta, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from maxmargin.certificates import theorems
from maxmargin.certificates.passes import values_of
from maxmargin.certificates.proof import TheoremBound
from maxmargin.data.table import Vector, scaled_to_safe_range
from maxmargin.estimators import by_blocks
from maxmargin.estimators.base import table_of
from maxmargin.estimators.parameters import check_parameters
from maxmargin.estimators.recording import RecordsUpdates
from maxmargin.problems.choices import Norm
from maxmargin.problems.protocol import Iterate, Run
from maxmargin.problems.run_record import Subject
from maxmargin.problems.statement import Separation, TwoClasses
from maxmargin.problems.trace import Trace, UpdateObserver
from maxmargin.run.control import Clock, RunState, Status
from maxmargin.solve.answer import Answer
from maxmargin.solve.best_plane import best_lifted_plane, with_both_classes
from maxmargin.solve.separation import drive, in_units_of_the_user, judge, normalized_by, separation_of, witness

REFEREE_AFTER = 20  # sweeps without success: then the hull solver is asked, once, whether a plane exists at all
UPDATES_ALLOWED = 2_000_000  # by default, and ten more for each row


class MistakeDriven(RecordsUpdates, metaclass=ABCMeta):
    """What the mistake-driven learners share: the budget, the referee, the trace, the choice of the plane."""

    norm_: Norm = Norm.L2
    fit_intercept: bool
    normalize_rows: bool
    order: str
    max_updates: int | None
    random_state: Any

    @abstractmethod
    def _solver(self, problem: Separation, max_updates: int, trace: UpdateObserver | None, scale: float) -> Run:
        """The algorithm on one problem, whose numbers are the user's times `scale`."""

    @abstractmethod
    def _theorems(self, two: TwoClasses, w: Vector, b: float, iterate: Iterate) -> tuple[TheoremBound, ...]:
        """Its guarantees on these data, beside what happened."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the rows until no row is a mistake, or until it is proven that this cannot be.

        There are no sample weights: the theorems speak of a set of rows, and the order of visits matters.
        Rows from `scan_table` stay in their files, and a sweep reads block after block in this process.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels: two or more classes.

        Returns
        -------
        self
            The fitted estimator.
        """
        if by_blocks.is_asked_of_a_learner(X, y):
            check_parameters(self)
            if by_blocks.can_sweep(self):
                from maxmargin.estimators import mistakes_by_blocks

                mistakes_by_blocks.fit(self, X, y, self._store, self._seed(), UPDATES_ALLOWED)
                return self
        return self._solve(table_of(self, X, y), self._answer)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _unit(self, answer: Answer) -> float:
        """The weights of a trace times this are in the units of the user."""
        return scaled_to_safe_range(answer.two.X, answer.two.largest).scale

    def _subject(self, trace: Trace, answer: Answer, plane: int) -> Subject:
        return dataclasses.replace(super()._subject(trace, answer, plane), unit=self._unit(answer))

    def _answer(self, two: TwoClasses, clock: Clock) -> Answer:
        problem, scale = separation_of(two, self.norm_, self.fit_intercept, self.normalize_rows)
        allowed = self.max_updates or UPDATES_ALLOWED + 10 * problem.n_rows
        proof: Iterate | None = None
        was_asked = False

        def no_plane_exists(iterate: Iterate, state: RunState) -> bool:
            nonlocal proof, was_asked
            if not state.asked and iterate.sweeps >= REFEREE_AFTER:
                state.asked = True
                proof = witness(problem, clock)
            was_asked = state.asked
            return proof is not None

        run = self._solver(problem, max_updates=int(allowed), trace=self._observer(clock), scale=scale)
        iterate, status = drive(problem, run, clock, no_plane_exists)
        if status in (Status.BUDGET, Status.WITNESS) and not was_asked:
            proof = witness(problem, clock)
        w, b = self._choose_plane(problem, iterate)
        shown = dataclasses.replace(iterate, a=with_both_classes(problem, iterate.a))
        certificate = judge(
            two,
            self.norm_,
            self.fit_intercept,
            proof or shown,
            scale,
            tol=0.0,
            stopped=not iterate.proposes,
            plane=(w, b),
            clock=clock,
            theorems=self._promises(two, problem, (w, b), shown, scale, clock) if iterate.proposes else (),
        )
        normalized = normalized_by(certificate, two) if self.normalize_rows else None
        return Answer(two, iterate, certificate, status, normalized=normalized)

    def _promises(
        self,
        two: TwoClasses,
        problem: Separation,
        plane: tuple[Vector, float],
        iterate: Iterate,
        scale: float,
        clock: Clock,
    ) -> tuple[TheoremBound, ...]:
        """The guarantees from the plane that was found, or from the best one, if it is known."""
        own = self._theorems(two, *in_units_of_the_user(*plane, scale), iterate)
        best = self._best_plane(problem, clock)
        if best is None:
            return own
        best = in_units_of_the_user(*best, scale)
        return theorems.from_the_better_plane(own, self._theorems(two, *best, iterate), best)

    def _best_plane(self, problem: Separation, clock: Clock) -> tuple[Vector, float] | None:
        """Of all planes that its theorems speak of, the one of the largest margin, if it can be had."""
        return best_lifted_plane(problem, clock)

    def _choose_plane(self, problem: Separation, iterate: Iterate) -> tuple[Vector, float]:
        """The last weights; where they do not separate, the averaged ones if these make fewer mistakes."""
        averaged = iterate.averaged
        if averaged is None:
            return iterate.w.copy(), iterate.b
        mean = (averaged[:-1].copy(), float(averaged[-1]) if self.fit_intercept else 0.0)
        last = (iterate.w.copy(), iterate.b)
        if getattr(self, "average", False) and (not iterate.proposes or mistakes(problem, *mean) == 0):
            return mean
        if iterate.proposes:
            return last
        return min(last, mean, key=lambda plane: mistakes(problem, *plane))


def mistakes(problem: Separation, w: Vector, b: float) -> int:
    return int(np.count_nonzero(problem.signs * (values_of(problem.X, w) + b) <= 0.0))
