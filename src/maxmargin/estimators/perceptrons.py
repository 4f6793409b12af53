"""Learning by mistakes: the perceptron and the margin perceptron."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, ClassVar, Self

import numpy as np

from maxmargin.certificates import theorems
from maxmargin.certificates.proof import TheoremBound
from maxmargin.data.checking import checked_table, labels_of_a_batch
from maxmargin.data.table import Vector, matrix_of
from maxmargin.estimators.base import plane_values, refuse_too_long_steps
from maxmargin.estimators.declarations import MARGIN_PERCEPTRON, PERCEPTRON
from maxmargin.estimators.mistakes import MistakeDriven
from maxmargin.estimators.parameters import Declarations, check_parameters
from maxmargin.problems.choices import Norm, Order, Strategy
from maxmargin.problems.protocol import Iterate, Run, shown
from maxmargin.problems.run_record import Subject
from maxmargin.problems.statement import Separation, TwoClasses, two_class_problems
from maxmargin.problems.trace import Trace, UpdateObserver
from maxmargin.run.control import Status
from maxmargin.solve.answer import Answer
from maxmargin.solve.best_plane import with_both_classes
from maxmargin.solve.separation import judge, normalized_by


class Perceptron(MistakeDriven):
    """Rosenblatt's perceptron, with Novikov's bound beside the count and a proof at the end.

        while some row has y (w.x + b) <= 0:   w += rate y x,   b += rate y

    It ends when no row is misclassified. Novikov's bound, R^2 / g^2 for the margin g of any plane, is from the best
    plane where the table is small, and else from the one that was found. On data that no plane separates it ends too:
    after 20 sweeps the hull solver is asked once, and its witness, if it finds one, is the answer; in any case after
    `max_updates`.

    Parameters
    ----------
    rate : float, default=1.0
        The learning rate. Starting from zero it scales w and changes no decision.
    order : {"cyclic", "shuffled", "worst_first", "drawn"}, default="cyclic"
        How the rows are visited. "shuffled" takes a new order for each sweep; "worst_first" looks at all rows before
        each update; "drawn" draws each row from all, with replacement. After as many draws without a mistake as there
        are rows, a drawn run looks at every row: it ends only if none is misclassified.
    fit_intercept : bool, default=True
        A bias, learnt as one more coordinate that is 1 in every row.
    normalize_rows : bool, default=False
        Learn from each lifted row (x, 1) at length 1: its margin is then a cosine, and Novikov's bound is 1 / g^2. The
        plane is one for the rows as they are, and so is the certificate; `normalized_margin_` is what is proven of the
        largest cosine, from below and from above.
    average : bool, default=False
        Return the mean of the weights over all visits. Where the last weights separate the classes and their mean
        does not, the last ones are returned.
    max_updates : int, default=None
        The budget; None means 2,000,000 + 10 n, for n samples. When it is spent, the plane is the last or the
        averaged one, whichever makes fewer mistakes, and the certificate says that it was stopped.
    record : bool or Trace, default=False
        Keep every update in `trace_`, in bounded memory; a Trace says how much: `record=Trace(limit=500)`.
    random_state : int, RandomState or None, default=0
        The seed of the shuffled and the drawn order; None takes another one for each fit.
    multi_class, max_time, verbose : as in `HardMarginSVM`

    Attributes
    ----------
    coef_, intercept_, classes_, certificate_, margin_, street_, status_, n_iter_ (sweeps), n_updates_
    normalized_margin_ : with normalize_rows, (lower, upper) of the best margin of the rows at length 1
    trace_ : the record of the updates, one for each plane

    Examples
    --------
    >>> from maxmargin import Perceptron
    >>> Perceptron().fit([[1, 2], [2, 1], [-1, -1]], [1, 1, 0]).predict([[3, 3]])
    array([1])
    """

    parameters: ClassVar[Declarations] = PERCEPTRON

    def __init__(
        self,
        *,
        rate: float = 1.0,
        order: str = "cyclic",
        fit_intercept: bool = True,
        normalize_rows: bool = False,
        average: bool = False,
        max_updates: int | None = None,
        record: bool | Trace = False,
        random_state: int | np.random.RandomState | None = 0,
        multi_class: str = "ovr",
        max_time: float | None = None,
        verbose: bool | int = 0,
    ) -> None:
        self.rate = rate
        self.order = order
        self.fit_intercept = fit_intercept
        self.normalize_rows = normalize_rows
        self.average = average
        self.max_updates = max_updates
        self.record = record
        self.random_state = random_state
        self.multi_class = multi_class
        self.max_time = max_time
        self.verbose = verbose

    def _solver(
        self,
        problem: Separation,
        max_updates: int,
        trace: UpdateObserver | None,
        scale: float,
        first_w: Vector | None = None,
        max_sweeps: int = 2**62,
    ) -> Run:
        from maxmargin.solvers.mistakes.perceptron import perceptron

        return perceptron(
            problem,
            rate=float(self.rate),
            order=Order(self.order),
            seed=self._seed(),
            max_updates=max_updates,
            max_sweeps=max_sweeps,
            first_w=first_w,
            trace=trace,
        )

    def _theorems(self, two: TwoClasses, w: Vector, b: float, iterate: Iterate) -> tuple[TheoremBound, ...]:
        return (
            theorems.novikov(
                two.X, two.signs, w, b, self.fit_intercept, iterate.updates, normalized=self.normalize_rows
            ),
        )

    def _subject(self, trace: Trace, answer: Answer, plane: int) -> Subject:
        """With the two numbers of Novikov's argument, from the plane whose margin his bound is from."""
        told, two = super()._subject(trace, answer, plane), answer.two
        theorem = next(iter(answer.certificate.theorems), None)
        if theorem is None:
            return told
        w, b = (np.array(theorem.plane[:-1]), theorem.plane[-1]) if theorem.plane else (told.w, told.b)
        g = theorems.lifted_margin(two.X, two.signs, w, b, self.fit_intercept, self.normalize_rows)
        kind = self.fit_intercept, self.normalize_rows
        ratio = theorems.lifted_ratio(two.X, two.signs, w, b, *kind) if g > 0.0 else 0.0
        return dataclasses.replace(told, progress=g, radius=g * ratio)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """One sweep over these rows, from the weights with which the last call ended (never the averaged ones).

        The certificate speaks of these rows; nothing is recorded.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples of this batch.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like, default=None
            All labels that will ever come; needed in the first call.

        Returns
        -------
        self
            The estimator, with the weights after this sweep.

        Examples
        --------
        >>> from maxmargin import Perceptron
        >>> stream = Perceptron().partial_fit([[1, 2], [-1, -1]], [1, 0], classes=[0, 1])
        >>> stream.partial_fit([[2, 1]], [1]).predict([[3, 3]])
        array([1])
        """
        check_parameters(self)
        first = not hasattr(self, "coef_")
        X, y, _ = checked_table(self, X, y, reset=first)
        X = matrix_of(X)
        labels = labels_of_a_batch(y, classes, None if first else self.classes_)
        strategy = Strategy(self.multi_class)
        problems = two_class_problems(X, labels, strategy)
        planes = np.zeros((len(problems), X.shape[1] + 1))
        if not first:
            planes = np.column_stack([self.coef_, self.intercept_])
        answers = [self._one_sweep(two, plane) for two, plane in zip(problems, planes, strict=True)]
        self._store(X, labels.classes, strategy, answers)
        self.__dict__.pop("_seen", None)  # of the table of an earlier fit
        return self

    def _one_sweep(self, two: TwoClasses, plane: Vector) -> Answer:
        if len(two.signs) == 0:  # no row of these two classes in the batch
            iterate = Iterate(plane[:-1], float(plane[-1]), np.zeros(0))
        else:
            problem = Separation(two.X, two.signs, Norm.L2, self.fit_intercept, self.normalize_rows)
            run = self._solver(problem, 2**62, None, 1.0, first_w=plane, max_sweeps=1)
            with np.errstate(all="ignore"):  # whatever overflows, the end is looked at
                iterate = next(shown(run.iterates))
            refuse_too_long_steps(plane_values(two.X, iterate.w[None], iterate.b)[:, 0], two.rows)
            iterate = dataclasses.replace(iterate, a=with_both_classes(problem, iterate.a))
        certificate = judge(two, Norm.L2, self.fit_intercept, iterate, 1.0, tol=0.0, stopped=True)
        normalized = normalized_by(certificate, two) if self.normalize_rows else None
        return Answer(two, iterate, certificate, Status.BUDGET, normalized=normalized)


class MarginPerceptron(MistakeDriven):
    """A perceptron that also counts narrow escapes: a share of the best margin, guaranteed (of the lifted rows).

        a row is a violation when its distance to the plane is below guess / 2:   w += y x,  b += y

    Without a guess it starts from R, the length of the longest row, and halves whenever 12 R^2 / guess^2 updates were
    not enough: a quarter of the best margin. For another share s, sqrt(s) takes the place of both halves. With a bias
    the theorem speaks of the margin of the lifted rows (x, 1), which is smaller the farther the data lie from the
    origin: centre them first. The certificate speaks of the user's own margin: the mistake counts are a dual point and
    bound the best one from above, so the share that was reached is proven.

    Parameters
    ----------
    guess : float, default=None
        The margin to aim at, in the space of (x, 1) when there is a bias. None searches.
    share : float, default=0.25
        The share of the best margin to guarantee, above 0 and below 1; of a guess that is not above the best margin,
        its square root. The bound of the updates grows like 8 / (1 - share)^3 R^2 / g^2.
    order, fit_intercept, normalize_rows, max_updates, record, random_state, multi_class, max_time, verbose : as in
        `Perceptron`; the guess is then a cosine

    Attributes
    ----------
    as in `Perceptron`

    Examples
    --------
    >>> from maxmargin import MarginPerceptron
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], ["left", "left", "right", "right"]
    >>> street = MarginPerceptron(share=0.5).fit(X, y)
    >>> 0.75 <= street.margin_ <= 1.5 <= street.certificate_.margin_upper
    True
    """

    parameters: ClassVar[Declarations] = MARGIN_PERCEPTRON

    def __init__(
        self,
        guess: float | None = None,
        *,
        share: float = 0.25,
        order: str = "cyclic",
        fit_intercept: bool = True,
        normalize_rows: bool = False,
        max_updates: int | None = None,
        record: bool | Trace = False,
        random_state: int | np.random.RandomState | None = 0,
        multi_class: str = "ovr",
        max_time: float | None = None,
        verbose: bool | int = 0,
    ) -> None:
        self.guess = guess
        self.share = share
        self.order = order
        self.fit_intercept = fit_intercept
        self.normalize_rows = normalize_rows
        self.max_updates = max_updates
        self.record = record
        self.random_state = random_state
        self.multi_class = multi_class
        self.max_time = max_time
        self.verbose = verbose

    def _solver(self, problem: Separation, max_updates: int, trace: UpdateObserver | None, scale: float) -> Run:
        from maxmargin.solvers.mistakes.margin_perceptron import margin_perceptron
        from maxmargin.solvers.mistakes.perceptron import perceptron

        run = margin_perceptron
        if self.guess is not None:
            run = functools.partial(perceptron, guess=float(self.guess) * (1.0 if self.normalize_rows else scale))
        return run(
            problem,
            share=float(self.share),
            order=Order(self.order),
            seed=self._seed(),
            max_updates=max_updates,
            trace=trace,
        )

    def _theorems(self, two: TwoClasses, w: Vector, b: float, iterate: Iterate) -> tuple[TheoremBound, ...]:
        guess = iterate.searched
        updates = theorems.margin_perceptron_updates(
            two.X,
            two.signs,
            w,
            b,
            self.fit_intercept,
            iterate.updates,
            guess=None if self.guess is None else guess,
            share=float(self.share),
            normalized=self.normalize_rows,
        )
        if self.guess is not None:
            return (updates,)
        ceiling = guess / math.sqrt(self.share)  # the phase before this one failed: its guess was too large
        return updates, theorems.share_of_the_best(
            two.X, two.signs, w, b, self.fit_intercept, iterate.a, ceiling, float(self.share), self.normalize_rows
        )
