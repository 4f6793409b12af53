"""The soft and the hard margin in the space of a kernel."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.kernel_margin import KernelCertificate, kernel_certificate, no_plane_certificate
from maxmargin.data.interruption import OutOfTime, check_interrupt
from maxmargin.data.matrix import Matrix
from maxmargin.data.threads import Threads, one_thread_for_blas
from maxmargin.estimators.base import Table
from maxmargin.estimators.costs import ClassWeight, class_weights, prices, weights_of_rows
from maxmargin.estimators.declarations import KERNEL_SVM
from maxmargin.estimators.kernel_base import KernelPlanes
from maxmargin.estimators.no_plane import no_plane
from maxmargin.estimators.parameters import Declarations
from maxmargin.problems.kernel_range import refuse_values_beyond_float64
from maxmargin.problems.kernels import Kernel, Points, compared, rows_of
from maxmargin.problems.losses import HINGE
from maxmargin.problems.multiclass import Strategy, TwoClasses, plain
from maxmargin.problems.protocol import Run, later
from maxmargin.problems.statement import KernelMargin
from maxmargin.run.control import Clock
from maxmargin.solve.answer import Answer

if TYPE_CHECKING:
    from maxmargin.solvers.kernel_smo.kernel_rows import KernelRows, SharedRows, Values
    from maxmargin.solvers.kernel_smo.row_cache import RowCache

MEGABYTE = 2.0**20


class KernelWork:
    """What the two-class problems of a fit share: the rows as the kernel wants them, and a cache of its values.

    All of it is made when it is first needed, where the clock is heard.
    """

    def __init__(self, kernel: Kernel, table: Table, threads: Threads, n_bytes: float) -> None:
        self.kernel, self.threads, self.n_bytes, self.X = kernel, threads, n_bytes, table.X
        self.whole: RowCache | None = None

    @functools.cached_property
    def points(self) -> Points:
        points = compared(self.kernel, self.kernel.points(self.X))
        refuse_values_beyond_float64(self.kernel, points)
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


def check_approximation(svm: Any) -> None:
    if svm.approximation is not None and math.inf == svm.C:
        raise ValueError("an approximation has no hard margin: give a finite C, or approximation=None")


class KernelSVM(KernelPlanes):
    """The widest street in the space of a kernel, with a price C for rows inside it or beyond it.

    Every fit ends with a certificate: the objective is within `tol` of the optimum, measured in float64 on all rows.
    From 8,000 rows on, samples are solved first, which grow until they are everything; they are the same every time.

    Parameters
    ----------
    C : float, default=1.0
        The price of a unit of slack. `math.inf` is the hard margin: no row inside the street.
    kernel : "rbf", "linear", "poly", "precomputed" or a function, default="rbf"
        poly is (gamma x.x' + coef0)^degree, rbf is exp(-gamma |x - x'|^2). A function k(A, B) gives the kernel of every
        row of A with every row of B, and must be positive semidefinite; with "precomputed", X is the matrix of its
        values.
    gamma : "scale", "auto" or float, default="scale"
        scale is 1 / (columns * variance of X), auto is 1 / columns.
    coef0, degree : float, default=0.0, and int, default=3
        The constant and the exponent of the polynomial kernel.
    tol : float, default=1e-3
        The relative gap (primal - dual) / primal that is to be proven.
    multi_class : "ovo" or "ovr", default="ovo"
        One against one, as in scikit-learn's SVC, or one against the rest.
    class_weight : dict or "balanced", default=None
        C_i = C * weight of the class * sample weight.
    cache_size : float, default=1000
        Kernel cache in MB (upper limit).
    approximation : int, default=None
        Solve with a kernel of this rank instead, which is faster, and say how far that is from the optimum of the
        true kernel: the certificate is about the true one.
    max_iter : int, default=None
        The most rounds for each two-class problem. None: until the gap is proven, or rounding errors leave no way to
        a smaller one. A fit that ends without the proof gives a `ConvergenceWarning`.
    max_time : float, default=None
        Seconds, those of the last judgement included. What has been judged by then is shown, with its true gap.
    verbose : int, default=0
        1 shows progress on stderr once a second, 2 every round.

    Attributes
    ----------
    certificate_ : `KernelCertificate`, or `MulticlassCertificate` for more than two classes
    support_ : the rows with a dual variable above zero, of any plane
    support_vectors_ : these rows themselves; not with a precomputed kernel
    dual_coef_ : a_i y_i of those rows, one line for each plane
    n_support_ : how many rows support each plane (not each class, as in SVC)
    bounded_ : where in dual_coef_ the dual variable is at its bound C_i
    intercept_ : the bias of each plane; of a hard margin, the nearest row has y (w.phi(x) + b) = 1
    margin_, street_ : 1 / |w| in the space of the kernel, and 2 / |w|
    class_weight_ : the weight of each class
    status_ : why it ended
    classes_, n_features_in_, n_updates_, n_iter_

    Examples
    --------
    No line separates the corners of a square by their diagonals; a polynomial of degree 2 does.

    >>> from maxmargin import KernelSVM
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["same", "other", "other", "same"]
    >>> svm = KernelSVM(C=100, kernel="poly", gamma=1, coef0=1, degree=2, tol=1e-6).fit(X, y)
    >>> svm.predict(X).tolist()
    ['same', 'other', 'other', 'same']
    >>> bool(svm.certificate_.verify(X, y, exact=True))
    True
    """

    parameters: ClassVar[Declarations] = KERNEL_SVM
    rules = (check_approximation,)

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        coef0: float = 0.0,
        degree: int = 3,
        tol: float = 1e-3,
        multi_class: str = "ovo",
        class_weight: Any = None,
        cache_size: float = 1000.0,
        approximation: int | None = None,
        max_iter: int | None = None,
        max_time: float | None = None,
        verbose: bool | int = 0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.tol = tol
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.cache_size = cache_size
        self.approximation = approximation
        self.max_iter = max_iter
        self.max_time = max_time
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the plane. A row of weight k is k equal rows."""
        table = self._read(X, y, sample_weight)
        class_weight = class_weights(self.class_weight, table)
        table = table._replace(weights=weights_of_rows(table, class_weight))
        kernel = self._kernel_on(table)
        with Threads() as threads, one_thread_for_blas():
            work = KernelWork(kernel, table, threads, 0.5 * self.cache_size * MEGABYTE)
            return self._solve(table, lambda two, clock: self._answer(two, clock, work, class_weight))

    def _answer(self, two: TwoClasses, clock: Clock, work: KernelWork, class_weight: ClassWeight) -> Answer:
        from maxmargin.solve.kernel_margin import KernelJudge, approximate, hard_margin
        from maxmargin.solve.kernel_stages import soft_margin

        is_hard = math.inf == self.C
        costs = np.full(len(two.rows), math.inf) if is_hard else prices(float(self.C), two)
        problem = KernelMargin(two.X, two.signs, costs, HINGE, True, work.kernel, work.points_of(two, clock))
        judge = KernelJudge(problem, self.tol, work.threads)
        sweeps = functools.partial(work.rounds, problem, two, tol=self.tol)
        if is_hard:
            iterate, status = hard_margin(problem, judge, clock, sweeps)
        elif self.approximation is not None:
            iterate, status = approximate(problem, self.approximation, judge, clock)
        else:
            iterate, status = soft_margin(problem, judge, clock, sweeps, self.max_iter)
        asked = (float(self.C), class_weight, self.tol)
        if judge.witness is not None:
            certificate = no_plane_certificate(two, problem, judge.witness, *asked)
        else:
            certificate = kernel_certificate(two, problem, judge.a, judge.measured, *asked)
        if is_hard and (certificate.is_separable is False or not (certificate.is_separable or clock.is_over)):
            raise no_plane(certificate)
        nearest = judge.nearest()
        a = judge.a * np.where(two.signs > 0, *judge.measured.scales) / nearest
        length = math.sqrt(max(0.0, judge.measured.square)) / nearest
        own = a[np.searchsorted(two.rows, certificate.rows)]
        return Answer(two, iterate, certificate, status, own, work.kernel, length, nearest)

    def _store_planes(self, X: Matrix, answers: list[Answer]) -> None:
        duals = []
        for answer in answers:
            assert answer.a is not None
            duals.append(answer.two.signs[np.searchsorted(answer.two.rows, answer.certificate.rows)] * answer.a)
        self._store_support(answers, duals)
        self._store_support_vectors(X, answers[0].kernel)
        self.intercept_ = np.array([answer.certificate.b / answer.nearest for answer in answers])
        self.bounded_ = np.zeros(self.dual_coef_.shape, dtype=bool)
        for line, answer in zip(self.bounded_, answers, strict=True):
            certificate, two = answer.certificate, answer.two
            own = np.searchsorted(two.rows, certificate.rows)
            costs = self.C * (1.0 if two.weights is None else two.weights[own])
            line[np.searchsorted(self.support_, certificate.rows)] = certificate.weights >= costs

    def _store(self, X: Matrix, classes: NDArray[Any], strategy: Strategy, answers: list[Answer]) -> None:
        super()._store(X, classes, strategy, answers)
        assert isinstance(answers[0].certificate, KernelCertificate)
        weights = dict(answers[0].certificate.class_weight)
        self.class_weight_ = np.array([weights.get(plain(label), 1.0) for label in classes])

    def _margin(self, answer: Answer) -> float:
        steepness = answer.length
        return 1.0 / steepness if steepness > 0.0 else math.inf

    def _plane_values(self, X: Any) -> NDArray[np.float64]:
        return self._kernel_values(X)
