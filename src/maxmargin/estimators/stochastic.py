"""The soft margin one row at a time: stochastic subgradient steps, for long tables and for streams."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from maxmargin.certificates.passes import length
from maxmargin.data.table import Matrix
from maxmargin.estimators import by_blocks, stochastic_stream
from maxmargin.estimators.base import refuse_too_long_steps, table_of
from maxmargin.estimators.declarations import STOCHASTIC_SVM
from maxmargin.estimators.kernel import KernelPlanes, learns_from_streams
from maxmargin.estimators.parameters import Declarations, check_parameters
from maxmargin.estimators.recording import RecordsUpdates
from maxmargin.estimators.support_rows import SupportRows
from maxmargin.problems.choices import Strategy
from maxmargin.problems.descent import Descent
from maxmargin.problems.kernels import Kernel, Linear
from maxmargin.problems.run_record import Subject
from maxmargin.problems.statement import ClassWeight, KernelMargin, TrainingSet, TwoClasses
from maxmargin.problems.step_lengths import PEGASOS
from maxmargin.problems.trace import Trace
from maxmargin.run.control import BY_THE_CLOCK, Clock, Status
from maxmargin.solve.answer import Answer
from maxmargin.solve.soft_margin import soft_certificate
from maxmargin.solve.stochastic import (
    JudgeOfTheLast,
    beside_pegasos,
    follow,
    in_a_kernel,
    lengths_of_visits,
)
from maxmargin.solve.tightening import is_tiny, tighten


def check_bias(svm: Any) -> None:
    if svm.kernel != Linear.name and not svm.fit_intercept:
        raise ValueError('fit_intercept=False is for kernel="linear": a plane in the space of a kernel has a bias')


class StochasticSVM(RecordsUpdates, SupportRows, KernelPlanes):
    """The soft margin by stochastic subgradient steps: one row at a time, from a table or from a stream.

        min 1/2 |w|^2 + C sum_i max(0, 1 - y_i (w.x_i + b)),                   lambda = 1 / (n C)
        w <- w - eta_t (lambda w - [y (w.x + b) < 1] y x)                      at visit t, of a row (x, y)
        b <- b + min(eta_t, 1) [y (w.x + b) < 1] y

    After whole sweeps the violations that were counted are a dual point, so that the run proves its own gap. It
    falls like 1 / t: `LinearSVM` is the way to more than two digits, and it is faster where the table fits into memory.

    Parameters
    ----------
    C : float, default=1.0
        Weighs the sum of the losses: a small C regularises much, a large one little.
    kernel, gamma, coef0, degree : as in `KernelSVM`; default="linear"
        Anything but "linear" keeps the rows it learnt from.
    step : str, float or function, default="pegasos"
        eta_t, the length of the step at visit t = 1, 2, ...; after T visits the mean of the objectives is above the
        least one by about

        - "pegasos": 1 / (lambda t).  ln(T) / (lambda T): the theorem of which the certificate speaks
        - "damped": 1 / (lambda t + |x|^2): no first step that throws w far away. `partial_fit` damps Pegasos always
        - 0.1, a number: the same at every visit.  1 / (eta T) + eta: it does not fall to zero
        - "0.1/sqrt(t)", or another number.  1 / sqrt(T)
        - "0.1/t^0.25", inverse scaling with any power
        - a function of t
    project : bool, default=False
        After each step move w back to the ball |w|^2 <= sum_i C_i, in which the best w lies.
    average : bool, default=False
        Give the mean of w and b over the visits, with weight t, in place of the last ones: much nearer to the optimum,
        above all after one pass over a stream of noisy rows, whose last rows alone can move the last plane far.
    fit_intercept : bool, default=True
        A bias, which is not regularised. A kernel always has one.
    tol : float, default=1e-2
        The relative gap at which to stop, once it is proven.
    max_iter : int, default=None
        The most sweeps over the rows: the plane that they give is shown as it is. None: 100, and in a tiny table in
        memory, at most 2,000 numbers (rows times columns; with a kernel at most 100 rows), the last plane is tightened:
        an exact solver takes its gap down to rounding errors, so that a row of weight k is k equal rows, to all digits.
        That is for a fit which only wants the plane: not where `step` or `project` say how to go, where `record` keeps
        the visits, or where the clock ended it; and `warm_start` and `partial_fit` go on from where the steps have left
        the run.
    shuffle : bool, default=True
        Visit the rows in a new order in each sweep, and those of each call of `partial_fit`; else as they lie.
    record : bool or Trace, default=False
        Keep every visit of `fit` in `trace_`, in bounded memory; a Trace says how much: `record=Trace(limit=500)`.
    random_state : int, RandomState or None, default=0
        The seed of the orders; None takes another one for each fit.
    stream_rows : int, default=None
        The n of lambda = 1 / (n C) for `partial_fit`: how many rows each two-class problem is taken to have. None:
        those that have come so far, whatever the size of the batches; a row that comes again counts again, so that
        to go over the same rows more than once, say how many they are. After `fit`: those of its table.
    multi_class, class_weight : as in `LinearSVM`
    warm_start : bool, default=False
        Go on where the last fit ended, at visit t + 1.
    max_time, verbose : as in `LinearSVM`

    Attributes
    ----------
    coef_, intercept_ : the planes; there is no coef_ with a kernel
    certificate_ : `SoftMarginCertificate` of the plane as it is; with a kernel `KernelCertificate`, of the plane that
        the dual point makes, which is then the one that is shown. Not after `partial_fit`: see `certify`
        Its `theorems` hold the loss that was met on the way beside the bound of Pegasos' theorem, or say why there is
        none: it is for steps 1 / (lambda t), without a bias, over whole sweeps from w = 0
    support_, dual_coef_, n_support_ : the rows with a dual variable above zero, and a_i y_i
    support_vectors_ : those rows themselves; without a kernel as in `LinearSVM`
    margin_, street_, status_, classes_, n_features_in_, n_iter_ (sweeps), n_updates_ (violations)
    trace_ : the record of the visits, one for each plane

    Examples
    --------
    >>> from maxmargin import StochasticSVM
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], ["left", "left", "right", "right"]
    >>> svm = StochasticSVM(C=10, average=True, max_iter=2000, tol=0.05).fit(X, y)
    >>> svm.predict([[0.5, 0.5], [4, 0.5]]).tolist()
    ['left', 'right']
    >>> bool(svm.certificate_.verify(X, y, exact=True)), svm.certificate_.relative_gap <= 0.05
    (True, True)
    """

    parameters: ClassVar[Declarations] = STOCHASTIC_SVM
    rules = (check_bias,)

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "linear",
        gamma: float | str = "scale",
        coef0: float = 0.0,
        degree: int = 3,
        step: float | str | Callable[[int], float] = "pegasos",
        project: bool = False,
        average: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-2,
        max_iter: int | None = None,
        shuffle: bool = True,
        record: bool | Trace = False,
        random_state: int | np.random.RandomState | None = 0,
        stream_rows: int | None = None,
        multi_class: str = "ovr",
        class_weight: Any = None,
        warm_start: bool = False,
        max_time: float | None = None,
        verbose: bool | int = 0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.step = step
        self.project = project
        self.average = average
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.record = record
        self.random_state = random_state
        self.stream_rows = stream_rows
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.max_time = max_time
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Sweep over the rows until the gap is proven to be `tol`, or `max_iter` times; then see `max_iter`.

        A row of weight s is a row whose slack costs s times as much; it is visited as often as the others.

        Of X from `scan_table`, rows, labels and weights stay in their files: each sweep reads the blocks one after the
        other in this process, shuffled: in a new order, and the rows of each block in one. See docs/scaling.md.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels: two or more classes.
        sample_weight : array-like of shape (n_samples,), default=None
            What the slack of each costs, times C.

        Returns
        -------
        self
            The fitted estimator.
        """
        if by_blocks.is_asked_of_a_learner(X, y):
            from maxmargin.estimators import stochastic_by_blocks

            check_parameters(self)
            stochastic_by_blocks.fit(self, X, y, sample_weight, stochastic_stream.seed_of(self))
            return self
        table = table_of(self, X, y, sample_weight)
        kernel = None if self.kernel == Linear.name else self._kernel_on(table)
        class_weight = table.class_weights(self.class_weight)
        table = table.weighted(class_weight)
        seed = stochastic_stream.seed_of(self)
        earlier = iter(self._runs if self._goes_on(table) else ())
        steps_matter = self.max_iter is not None or self.record is not False or self.project or self.step != PEGASOS
        tightens = not steps_matter and is_tiny(*table.X.shape, has_kernel=kernel is not None)

        def answer(two: TwoClasses, clock: Clock) -> Answer:
            return self._answer(two, clock, kernel, seed, class_weight, next(earlier, None), tightens=tightens)

        return self._solve(table, answer)

    def _goes_on(self, table: TrainingSet) -> bool:
        """Whether the last runs were of the same planes."""
        same = hasattr(self, "classes_") and np.array_equal(self.classes_, table.labels.classes)
        return bool(self.warm_start and same and self._strategy == self.multi_class)

    def _answer(
        self,
        two: TwoClasses,
        clock: Clock,
        kernel: Kernel | None,
        seed: int | None,
        class_weight: ClassWeight,
        earlier: Descent | None,
        *,
        tightens: bool,
    ) -> Answer:
        from maxmargin.solvers.stochastic_subgradient import stochastic_subgradient

        problem = stochastic_stream.problem_of(self, two, kernel, clock)
        run = stochastic_stream.run_of(self, problem, problem.n_rows, earlier, clock)
        trace, sweeps = self._observer(clock), stochastic_stream.most_sweeps(self)
        solver = stochastic_subgradient(problem, run, step=self.step, seed=seed, max_sweeps=sweeps, trace=trace)
        if isinstance(problem, KernelMargin):
            stated = (float(self.C), class_weight, self.tol)
            answer = in_a_kernel(two, problem, solver, clock, *stated, tightens=tightens)
        else:
            judge = JudgeOfTheLast(problem, self.tol, two.largest)
            iterate, status = follow(solver, judge, clock)
            refuse_too_long_steps(judge.plane.values + judge.plane.b, two.rows)
            if tightens and status not in BY_THE_CLOCK:
                tighten(two, judge)
                status = Status.PROVEN if judge.gap <= self.tol else status
            certificate, a = soft_certificate(two, judge, problem.costs, 1.0, float(self.C), class_weight)
            answer = Answer(two, iterate, certificate, status, a)
        answer = dataclasses.replace(answer, run=run, kernel=kernel)
        theorem = beside_pegasos(problem, run, answer, is_pegasos=self.step == PEGASOS, goes_on=earlier is not None)
        told = (theorem,) if math.isfinite(theorem.measured) else ()  # losses beyond float64 are no count
        return dataclasses.replace(answer, certificate=dataclasses.replace(answer.certificate, theorems=told))

    def _store(self, X: Matrix, classes: NDArray[Any], strategy: Strategy, answers: list[Answer]) -> None:
        super()._store(X, classes, strategy, answers)
        self._runs = [answer.run for answer in answers if answer.run is not None]

    def _subject(self, trace: Trace, answer: Answer, plane: int) -> Subject:
        told, run = super()._subject(trace, answer, plane), answer.run
        assert run is not None
        return dataclasses.replace(told, steps=lengths_of_visits(trace, answer, self.step), shrink=run.lam)

    def _store_planes(self, X: Matrix, answers: list[Answer]) -> None:
        self._store_signed_weights(answers)
        self._kernel = answers[0].kernel
        if self._kernel is None:
            super()._store_planes(X, answers)
            self._keep_support_rows(X)
            return
        self.__dict__.pop("coef_", None)
        self.intercept_ = np.array([answer.certificate.b for answer in answers])
        self._store_support_vectors(X, self._kernel)

    def _margin(self, answer: Answer) -> float:
        certificate: Any = answer.certificate
        steepness = answer.length if self._kernel else length(certificate.w, "l2")
        return 1.0 / steepness if steepness > 0.0 else math.inf

    def values_of_planes(self, X: Any) -> NDArray[np.float64]:
        has_kernel = getattr(self, "_kernel", None) is not None
        return self._kernel_values(X) if has_kernel else super().values_of_planes(X)

    @property
    def certificate_(self) -> Any:
        """What is proven of the planes on the table of the last fit."""
        if "_certificate" not in self.__dict__:
            why = (
                "rows came by partial_fit, and a stream has no objective to prove anything about. certify(X, y) "
                "measures the planes on rows that you choose"
                if hasattr(self, "classes_")
                else "nothing is fitted yet"
            )
            raise AttributeError(f"there is no certificate_: {why}.")
        return self._certificate

    @certificate_.setter
    def certificate_(self, certificate: Any) -> None:
        self._certificate = certificate

    @available_if(learns_from_streams)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One visit to each of these rows, from where the last call (or fit) ended; step="pegasos" is damped.

        Rows that lie sorted by class make a bad stream: `shuffle` mixes those of one call, not those of several.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like, default=None
            All labels that will ever come; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            What the slack of each costs, times C.

        Returns
        -------
        self
            The estimator, with the planes at which the run stands now.

        Examples
        --------
        >>> from maxmargin import StochasticSVM
        >>> stream = StochasticSVM(average=True).partial_fit([[0, 0], [5, 1]], [0, 1], classes=[0, 1])
        >>> stream.partial_fit([[0, 2], [3, 0]], [0, 1]).predict([[4, 0]])
        array([1])
        """
        stochastic_stream.learn(self, X, y, classes, sample_weight)
        return self

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """What the planes are worth on these rows: the objective of each, beside a bound below which no plane comes.

        The bound is that of `LinearSVM`, proven to `tol`, which costs one fit of it (within `max_time`).

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels: every class occurs.
        sample_weight : array-like of shape (n_samples,), default=None
            What the slack of each costs, times C.

        Returns
        -------
        SoftMarginCertificate or MulticlassCertificate
            Of the planes as they are, on these rows.
        """
        return stochastic_stream.certificate_on(self, X, y, sample_weight)
