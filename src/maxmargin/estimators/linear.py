"""The soft margin: the widest street at a price for every row that is not beyond its edge."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.passes import length
from maxmargin.certificates.soft_margin import SoftMarginCertificate
from maxmargin.data.cluster import on_cluster
from maxmargin.data.executor import sharing
from maxmargin.data.table import Matrix, Table, Vector, is_source
from maxmargin.estimators import by_blocks
from maxmargin.estimators.base import MarginClassifier, single, training_set
from maxmargin.estimators.convergence import Ending
from maxmargin.estimators.declarations import LINEAR_SVM, LOSS
from maxmargin.estimators.hard_margin import HardMarginSVM, canonical_plane
from maxmargin.estimators.parameters import Declarations, check_parameters
from maxmargin.estimators.scikit_learn_versions import CallbackSupportMixin, SharesClient, with_callbacks
from maxmargin.estimators.support_rows import SupportRows
from maxmargin.problems.choices import Strategy
from maxmargin.problems.losses import loss_named
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import SignedRows, TrainingSet, TwoClasses, places_among, plain
from maxmargin.run.control import Clock, collected, tell_of
from maxmargin.run.observation import Observer
from maxmargin.solve.answer import Answer, SoftQuestion
from maxmargin.solve.many_margins import solve_small_ones
from maxmargin.solve.soft_margin import solve_soft_margin

NEEDS_A_NUMBER_A_ROW = ("support_", "dual_coef_", "bounded_", "n_support_")


class Start(NamedTuple):
    """Dual variables of the rows and a plane, as far as there are any."""

    a: Vector | None
    w: Vector | None


def check_solver(svm: Any) -> None:
    """Newton wants a second derivative, the path of centres a bounded dual variable; a width is the Huber hinge's."""
    from maxmargin.solvers.registry import SOFT_MARGIN, check_suits

    check_suits(SOFT_MARGIN, svm.solver, loss_named(svm.loss, svm.huber_width))


class LinearSVM(SharesClient, CallbackSupportMixin, SupportRows, MarginClassifier):
    """The linear support vector machine, to a duality gap that is proven.

        min 1/2 |w|^2 + C sum_i loss(1 - y_i (w.x_i + b))

    The bias b is not regularised. `tol` is the relative duality gap (P - D) / P: when `fit` ends, independent code has
    measured a plane of objective P and proven that no plane has an objective below D.

    Parameters
    ----------
    C : float, default=1.0
        Weighs the losses: a small C regularises much. `float("inf")` is the hard margin of `HardMarginSVM`, exactly.
    loss : {"hinge", "squared_hinge", "huber_hinge", "modified_huber"}, default="hinge"
        What a row pays that is not beyond its edge of the street: its slack t; t^2; the hinge rounded off at its edge,
        t^2 / (2 h) up to t = h = `huber_width` and t - h / 2 from there on; or t^2 up to t = 2 and 4 t - 4 from there
        on, as in SGDClassifier. Or a loss that was registered (`maxmargin.problems.losses.register`).
    huber_width : float, default=None
        The h of "huber_hinge", and of no other loss. None: 0.5.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    tol : float, default=1e-4
        The relative duality gap to prove.
    solver : {"auto", "interior_point", "sieve", "coordinate_descent", "newton", "cvxpy"}, default="auto"
        "auto" chooses by the table, and goes on with another one where the first is slow.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One versus rest or one versus one, when there are more than two classes.
    class_weight : dict or "balanced", default=None
        Weights of the classes: C_i = C * weight of the class * sample weight.
    max_iter : int, default=None
        The most sweeps (or Newton steps) for each two-class problem. None: until the gap is proven, or rounding
        errors leave no way to a smaller one. A fit that ends without the proof gives a `ConvergenceWarning`.
    max_time : float, default=None
        Seconds. What has been found by then is kept, with its true gap.
    warm_start : bool, default=False
        Start from the dual variables of the last fit, if it had as many rows. Coordinate descent goes on from them
        and Newton from their plane. The path of an interior point begins in the middle of all dual variables and gains
        nothing from a start, so that "interior_point" and "sieve" begin afresh. Whatever the solver does, the start
        is measured first: if it is good enough, nothing is solved, and what is shown is never worse.
    verbose : int, default=0
        1 shows progress on stderr once a second, 2 every step.
    memory : str or int, default=None
        Of a table that is read by blocks: the most memory that `fit` may take, such as "512MB", and no vector has the
        length of the table. None: what `scan_table` was allowed; of other tables, y and the weights are in memory.
    client : distributed.Client or str, default=None
        Of a table that is read by blocks: the Dask cluster that reads it, or the address of its scheduler. None: the
        current client, if there is one. It is shared by clones and copies, and is in no file.

    Attributes
    ----------
    coef_ : ndarray of shape (n_planes, n_features)
        w of each plane.
    intercept_ : ndarray of shape (n_planes,)
        b of each plane.
    certificate_ : SoftMarginCertificate or MulticlassCertificate
        What is proven; the second for more than two classes.
    margin_, street_ : float
        1 / |w|, from the plane to an edge of the street, and 2 / |w|.
    support_ : ndarray of shape (n_support,)
        The rows with a dual variable above zero, of any plane.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        Those rows themselves, after a fit on a table in memory, if they are not many; not in a file.
    dual_coef_ : ndarray of shape (n_planes, n_support)
        a_i y_i of those rows.
    bounded_ : ndarray of bool, of the shape of dual_coef_
        Where the dual variable is at its bound: C_i, with "modified_huber" 4 C_i.
    n_support_ : ndarray of shape (n_planes,)
        How many rows support each plane (not each class, as in SVC).
    class_weight_ : ndarray of shape (n_classes,)
        The weight of each class.
    solver_ : str
        The algorithm that worked last; "none needed" if the start was good enough.
    status_ : Status
        Why the fit ended; a list for more than one plane.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_iter_, n_updates_ : int
        Sweeps, and steps of the algorithm.
    n_features_in_ : int
        How many features there were.

    Examples
    --------
    >>> from maxmargin import LinearSVM
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], ["left", "left", "right", "right"]
    >>> svm = LinearSVM(C=10, tol=1e-6).fit(X, y)
    >>> svm.predict([[0.5, 0.5], [4, 0.5]]).tolist()
    ['left', 'right']
    >>> bool(svm.certificate_.verify(X, y, exact=True))
    True
    """

    parameters: ClassVar[Declarations] = LINEAR_SVM
    rules = (check_solver,)

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = LOSS.default,
        huber_width: float | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        solver: str = "auto",
        multi_class: str = "ovr",
        class_weight: Any = None,
        max_iter: int | None = None,
        max_time: float | None = None,
        warm_start: bool = False,
        verbose: bool | int = 0,
        memory: str | int | None = None,
        client: Any = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.huber_width = huber_width
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.solver = solver
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.max_time = max_time
        self.warm_start = warm_start
        self.verbose = verbose
        self.memory = memory
        self.client = client

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a file; older ones had no width and no memory."""
        super().__setstate__({"huber_width": None, "memory": None} | state)

    def __getattr__(self, name: str) -> Any:
        """Why it is not there."""
        if name in NEEDS_A_NUMBER_A_ROW and "classes_" in vars(self):
            raise AttributeError(
                f"there is no {name}: the rows were read by blocks, and nothing of a fit has the length of the table. "
                "The dual variables are told by certificate_, by a rule and for the rows that it lists"
            )
        return object.__getattribute__(self, name)  # says why, once more

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None, a0: Any = None) -> Self:
        """Find the plane.

        X may be a table that is not in memory, read block by block: `scan_table`, `maxmargin.data.table.Source`, an
        array or a data frame of Dask. Then y may be a column that stays with its blocks, or the name of one.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels: two or more classes.
        sample_weight : array-like of shape (n_samples,), default=None
            A sample of weight k counts as k equal ones.
        a0 : array-like, default=None
            Dual variables to start from: one per sample, or a line of them for each two-class problem.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self)
        context = None
        if hasattr(self, "_skl_callbacks"):
            context = self._init_callback_context(max_subtasks=None)
            context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        if math.inf == self.C:
            self._fit_hard(X, y, sample_weight)
        elif is_source(X) and by_blocks.is_asked(self, X, y):
            with on_cluster(self.client):
                observer_of = None if context is None else partial(Callbacks, self, context, X, y)
                by_blocks.fit(self, X, y, sample_weight, a0, observer_of)
        else:
            with sharing():
                self._fit_soft(X, y, sample_weight, a0, context)
        if context is not None:
            context.call_on_fit_task_end(estimator=self, X=X, y=y, reconstruction_attributes={})
        return self

    def _fit_soft(self, X: Any, y: Any, sample_weight: Any, a0: Any, context: Any) -> None:
        table = training_set(self, X, y, sample_weight, by_blocks=True)
        observer_of = None if context is None else partial(Callbacks, self, context, X, y, table.labels.classes)
        self.fit_checked(table, a0, observer_of)

    def fit_checked(
        self,
        table: TrainingSet,
        a0: Any = None,
        observer_of: Callable[[float], Observer] | None = None,
        fewest_together: int = 2,
    ) -> Self:
        """Find the soft margins of input that has been checked already.

        Parameters
        ----------
        table : TrainingSet
            Rows, labels as codes, weights of rows.
        a0 : array-like, default=None
            As in `fit`.
        observer_of : callable, default=None
            Makes, of the scale of the numbers, what sees each iterate.
        fewest_together : int, default=2
            So many small problems are answered in one call.

        Returns
        -------
        self
            The fitted estimator.
        """
        class_weight = table.class_weights(self.class_weight)
        table = table.weighted(class_weight)
        starts = self._starts(table, a0)
        loss = loss_named(self.loss, self.huber_width)
        asked = SoftQuestion(
            float(self.C), loss, self.fit_intercept, self.tol, self.solver, self.max_iter, class_weight
        )  # fmt: skip
        each = itertools.repeat(Start(None, None)) if starts is None else iter(starts)

        def answer(two: TwoClasses, clock: Clock) -> Answer:
            start = next(each)
            return solve_soft_margin(two, asked, clock, start.a, start.w, observer_of)

        if starts is None and observer_of is None:
            return self._solve(table, answer, partial(solve_small_ones, asked=asked), fewest_together)
        return self._solve(table, answer)

    def _fit_hard(self, X: Any, y: Any, sample_weight: Any) -> None:
        """C = inf: the exact algorithm of the hard margin, and all that it finds."""
        hard = HardMarginSVM(
            fit_intercept=self.fit_intercept,
            tol=self.tol,
            multi_class=self.multi_class,
            max_time=self.max_time,
            verbose=self.verbose,
            memory=self.memory,
            client=self.client,
        )
        try:
            with collected() as ends:
                hard.fit(X, y, sample_weight)
        finally:
            if hasattr(hard, "coef_"):
                fitted = {name: value for name, value in vars(hard).items() if name not in hard.get_params()}
                self.__dict__.update(
                    fitted, bounded_=np.zeros(hard.dual_coef_.shape, dtype=bool), solver_="hard margin"
                )
                self.class_weight_ = np.ones(len(hard.classes_))
        tell_of(Ending(type(self).__name__, self.parameters, ends))

    def _starts(self, table: TrainingSet, a0: Any) -> list[Start] | None:
        """Where to start from, for each two-class problem, over all rows of the table."""
        n_rows, n_classes = table.X.shape[0], len(table.labels.classes)
        pairs = n_classes * (n_classes - 1) // 2
        lines = 1 if n_classes == 2 else n_classes if self.multi_class == Strategy.ONE_VERSUS_REST else pairs
        if a0 is not None:
            starts = np.atleast_2d(np.asarray(a0, dtype=np.float64))
            if starts.shape != (lines, n_rows) or not np.all((starts >= 0.0) & (starts < math.inf)):
                raise ValueError(
                    f"a0 must hold {n_rows} dual variables for each of {lines} problems, none negative and all finite; "
                    f"its shape is {np.shape(a0)}"
                )
            return [Start(line, None) for line in starts]
        last = getattr(self, "_weights", None)
        if not self.warm_start or last is None or last[0] != n_rows or len(last[1]) != lines:
            return None
        starts = np.zeros((lines, n_rows))
        for line, (rows, weights) in zip(starts, last[1], strict=True):
            line[rows] = weights
        planes: Any = self.coef_ if self.coef_.shape == (lines, table.X.shape[1]) else [None] * lines
        return [Start(line, w) for line, w in zip(starts, planes, strict=True)]

    def plane_of(self, certificate: Any) -> tuple[NDArray[np.float64], float]:
        return canonical_plane(certificate) if isinstance(certificate, Certificate) else (certificate.w, certificate.b)

    def _margin(self, answer: Answer) -> float:
        assert isinstance(answer.certificate, SoftMarginCertificate)
        steepness = length(answer.certificate.w, "l2")
        return 1.0 / steepness if steepness > 0.0 else math.inf

    def _store(self, X: Matrix | Table, classes: NDArray[Any], strategy: Strategy, answers: list[Answer]) -> None:
        super()._store(X, classes, strategy, answers)
        duals, at_bound, kept = [], [], []
        weights: dict[Any, float] = {}
        for answer in answers:
            certificate, two = answer.certificate, answer.two
            assert isinstance(certificate, SoftMarginCertificate)
            weights.update(certificate.class_weight)  # the same in every problem
            assert answer.a is not None
            own = places_among(two.rows, certificate.rows)
            signs = two.signs[own]
            duals.append(signs * answer.a)
            costs = certificate.C * (np.ones(len(own)) if two.weights is None else two.weights[own])
            at_bound.append(certificate.weights >= loss_named(self.loss, self.huber_width).bounds(costs))
            kept.append((certificate.rows, certificate.weights))
        self._store_support(answers, duals)
        self._keep_support_rows(X)
        self.bounded_ = np.zeros(self.dual_coef_.shape, dtype=bool)
        for line, (rows, _), where in zip(self.bounded_, kept, at_bound, strict=True):
            line[places_among(self.support_, rows)] = where
        self._weights = (X.shape[0], kept)
        self.class_weight_ = np.array([weights.get(plain(label), 1.0) for label in classes])
        self.solver_ = single([answer.iterate.solver or "none needed" for answer in answers])


class Callbacks:
    """Tells scikit-learn's callbacks of each round; True when one of them asks to stop."""

    def __init__(
        self, estimator: LinearSVM, context: Any, X: Any, y: Any, classes: NDArray[Any], scale: float
    ) -> None:  # fmt: skip
        self.estimator, self.context, self.X, self.y, self.classes = estimator, context, X, y, classes
        self.scale = scale  # of the numbers that the solver sees

    def __call__(self, iterate: Iterate, _: SignedRows) -> bool:
        known = {"estimator": self.estimator, "X": self.X, "y": self.y}
        task = self.context.subcontext(task_name="round")
        task.call_on_fit_task_begin(**known)
        return bool(task.call_on_fit_task_end(**known, reconstruction_attributes=lambda: self.plane(iterate)))

    def plane(self, iterate: Iterate) -> dict[str, Any] | None:
        """What a copy of the estimator needs to predict; None while only one of many planes is known."""
        if len(self.classes) > 2:
            return None
        return {
            "coef_": iterate.w[None, :] * self.scale,
            "intercept_": np.array([iterate.b]),
            "classes_": self.classes,
            "_strategy": Strategy(self.estimator.multi_class),
        }
