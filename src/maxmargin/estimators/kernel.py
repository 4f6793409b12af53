"""The soft and the hard margin in the space of a kernel; and what all estimators with a kernel share: its parameters,
its values on the table, predictions from the rows learnt."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.kernel_margin import KernelCertificate
from maxmargin.data.checking import checked_table
from maxmargin.data.executor import Threads, one_thread_for_blas
from maxmargin.data.objects import given
from maxmargin.data.table import Matrix, is_sparse, matrix_of
from maxmargin.estimators.base import MarginClassifier, require_fit, table_of
from maxmargin.estimators.declarations import KERNEL_SVM, LOSS
from maxmargin.estimators.kernel_labels import are_in_float32, certainly_signed
from maxmargin.estimators.no_plane import no_plane
from maxmargin.estimators.parameters import Declarations
from maxmargin.problems.choices import Strategy
from maxmargin.problems.kernels import Kernel, KernelChoice, Linear
from maxmargin.problems.kernels.base import Points, is_table
from maxmargin.problems.kernels.given import refuse_a_skew_table
from maxmargin.problems.kernels.limits import refuse_decisions_beyond_float64
from maxmargin.problems.losses import HINGE, loss_named
from maxmargin.problems.statement import TrainingSet, TwoClasses, plain
from maxmargin.run.control import Clock
from maxmargin.solve.answer import Answer
from maxmargin.solvers import registry

if TYPE_CHECKING:
    from maxmargin.solve.kernel_margin import KernelQuestion, KernelWork


def learns_from_streams(estimator: Any) -> bool:
    """Whether there is a partial_fit; an AttributeError says why not."""
    if estimator.kernel == Linear.name:
        return True
    raise AttributeError(
        'partial_fit is for kernel="linear": with another kernel every row that was ever learnt from must be kept. '
        "For a stream, put a map such as sklearn.kernel_approximation.RBFSampler before this estimator."
    )


FEW = 16  # rows whose values are made at once
MOST_KEPT = 2**22  # numbers of support vectors, or of values


class KeptSupport(NamedTuple):
    """What a kernel keeps of the support vectors for predictions of few rows, and whose it is."""

    kernel: Kernel
    vectors: Matrix
    points: Points


# Beside the estimators, not in them: a prediction changes no estimator, and no file holds them.
KEPT: WeakKeyDictionary[Any, KeptSupport] = WeakKeyDictionary()


class KernelPlanes(MarginClassifier):
    """Planes w = sum_j c_j phi(x_j): `support_vectors_` are the x_j and `dual_coef_` the c_j of each plane."""

    kernel: Any
    gamma: float | str
    coef0: float
    degree: int
    _kernel: Kernel | None = None

    def _kernel_on(self, table: TrainingSet) -> Kernel:
        """The kernel on this table."""
        X = table.X
        if is_table(self.kernel):
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"a precomputed kernel is a square matrix, one row and one column for each row of the data; "
                    f"X has the shape {X.shape}"
                )
            refuse_a_skew_table(X, np.arange(X.shape[0]))
        return KernelChoice(self.kernel, self.gamma, self.coef0, self.degree).on(X, table.weights)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """w = sum_j c_j x_j of each plane: the linear kernel alone has it in the columns."""
        if "coef_" in vars(self):
            return np.asarray(vars(self)["coef_"])
        kernel = self._kernel
        if not isinstance(kernel, Linear):
            what = "is not fitted" if kernel is None else f"has its planes in the space of a {kernel.name} one"
            raise AttributeError(f"there is no coef_ but with a linear kernel, and this {type(self).__name__} {what}")
        w = self.dual_coef_ @ self.support_vectors_
        return np.asarray(w.toarray() if is_sparse(w) else w)

    @coef_.setter
    def coef_(self, planes: Any) -> None:
        """Of planes that were found without a kernel."""
        self.__dict__["coef_"] = planes

    def _store_signed_weights(self, answers: list[Answer]) -> None:
        """c_j = y_j a_j of the rows with weight."""
        duals = []
        for answer in answers:
            assert answer.a is not None
            duals.append(answer.two.signs[np.searchsorted(answer.two.rows, answer.certificate.rows)] * answer.a)
        self._store_support(answers, duals)

    def _store_support_vectors(self, X: Matrix, kernel: Kernel | None) -> None:
        """With a precomputed kernel the rows are known by their places alone."""
        assert kernel is not None
        self._kernel = kernel
        rows = X[self.support_, :0] if kernel.is_table else X[self.support_]
        self.support_vectors_ = given(rows) if kernel.is_code else rows

    def _kernel_values(self, X: Any) -> NDArray[np.float64]:
        """w.phi(x) + b: one column for each plane."""
        require_fit(self)
        X = matrix_of(checked_table(self, X, reset=False).X)
        assert self._kernel is not None
        coefficients = self.dual_coef_.T
        if X.shape[0] <= FEW and (kept := self._kept_support()) is not None:
            values = self._kernel.combine_few(self._kernel.points(X), kept, coefficients) + self.intercept_
        else:
            with one_thread_for_blas:
                support = self._kernel.points(self.support_vectors_, self.support_)
                coefficients = np.ascontiguousarray(coefficients)
                values = self._kernel.combine(self._kernel.points(X), support, coefficients) + self.intercept_
        refuse_decisions_beyond_float64(values)
        return np.asarray(values)

    def _kept_support(self) -> Points | None:
        """Made once for the predictions of few rows, if it is not large."""
        vectors, kernel = self.support_vectors_, self._kernel
        assert kernel is not None
        if not kernel.suits_few or max(vectors.size, FEW * vectors.shape[0]) > MOST_KEPT:
            return None
        known = KEPT.get(self)
        if known is None or known.kernel is not kernel or known.vectors is not vectors:
            points = kernel.kept(kernel.points(vectors, self.support_))
            known = KEPT[self] = KeptSupport(kernel, vectors, points)
        return known.points

    def _scores_for_labels(self, X: Any) -> NDArray[np.float64]:
        """Of many rows and two classes, in float32 where it is certain of the sign."""
        kernel, is_few = self._kernel, not hasattr(X, "shape") or X.shape[0] <= FEW
        if kernel is None or is_few or len(self.classes_) != 2 or not are_in_float32(kernel):
            return self.decision_function(X)
        X = matrix_of(checked_table(self, X, reset=False).X)
        with one_thread_for_blas:
            support = kernel.points(self.support_vectors_, self.support_)
            scores = certainly_signed(kernel, X, support, self.dual_coef_[0], float(self.intercept_[0]))
        refuse_decisions_beyond_float64(scores[:, None])
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_table(self.kernel)
        return tags


def check_approximation(svm: Any) -> None:
    if svm.approximation is not None and math.inf == svm.C:
        raise ValueError("an approximation has no hard margin: give a finite C, or approximation=None")
    if svm.approximation is not None and svm.solver != registry.AUTO:
        raise ValueError(f'solver="{svm.solver}" solves the kernel as it is: give approximation=None')


def check_loss(svm: Any) -> None:
    loss_named(svm.loss, svm.huber_width)


class KernelSVM(KernelPlanes):
    """The widest street in the space of a kernel, where rows inside it or beyond it pay a loss, weighed by C.

        min 1/2 |w|^2 + C sum_i loss(1 - y_i (w.phi(x_i) + b))

    Every fit ends with a certificate: the objective is within `tol` of the optimum, measured in float64 on all rows.
    From 8,000 rows on, samples are solved first, which grow until they are everything; they are the same every time.

    Parameters
    ----------
    C : float, default=1.0
        Weighs the losses: a small C regularises much. `math.inf` is the hard margin: no row inside the street.
    kernel : "rbf", "linear", "poly", "laplacian", "precomputed" or a function, default="rbf"
        poly is (gamma x.x' + coef0)^degree, rbf is exp(-gamma |x - x'|^2), laplacian exp(-gamma |x - x'|_1). A function
        k(A, B) gives the kernel of every row of A with every row of B, dense or sparse, and must be positive
        semidefinite; X may then be a list of words, graphs or other objects, or a data frame with columns of words, and
        A and B are some of its rows. With "precomputed", X is the matrix of its values.
    gamma : "scale", "auto" or float, default="scale"
        scale is 1 / (columns * variance of X, a row of weight k being k rows), auto is 1 / columns.
    coef0, degree : float, default=0.0, and int, default=3
        The constant and the exponent of the polynomial kernel.
    loss : str, default: the hinge
        What slack costs, by its name, as in `LinearSVM`. The hard margin, C = inf, pays none.
    huber_width : float, default=None
        Of the Huber hinge, as in `LinearSVM`: None is 0.5.
    fit_intercept : bool, default=True
        False keeps the plane at the origin of the kernel's space: b = 0.
    tol : float, default=1e-3
        The relative gap (primal - dual) / primal that is to be proven.
    solver : "auto", "cvxpy" or "coordinate_descent", default="auto"
        All but "auto" solve the linear problem on columns G with K = G G': one for each row, or for each dimension of
        the kernel's space where there are fewer. "cvxpy" does it off the shelf, to compare with; extra `reference`.
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
        Seconds, those of the last evaluation included. What has been judged by then is shown, with its true gap.
    verbose : int, default=0
        1 shows progress on stderr once a second, 2 every round.

    Attributes
    ----------
    certificate_ : KernelCertificate or MulticlassCertificate
        What is proven; the second for more than two classes.
    support_ : ndarray of shape (n_support,)
        The rows with a dual variable above zero, of any plane.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        These rows themselves; not with a precomputed kernel.
    dual_coef_ : ndarray of shape (n_planes, n_support)
        a_i y_i of those rows.
    n_support_ : ndarray of shape (n_planes,)
        How many rows support each plane (not each class, as in SVC).
    bounded_ : ndarray of bool, of the shape of dual_coef_
        Where the dual variable is at its bound: C_i, with "modified_huber" 4 C_i.
    intercept_ : ndarray of shape (n_planes,)
        The bias of each plane; of a hard margin, the nearest row has y (w.phi(x) + b) = 1.
    margin_, street_ : float
        1 / |w| in the space of the kernel, and 2 / |w|.
    class_weight_ : ndarray of shape (n_classes,)
        The weight of each class.
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
    rules = (check_approximation, check_loss)

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        coef0: float = 0.0,
        degree: int = 3,
        loss: str = LOSS.default,
        huber_width: float | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        solver: str = "auto",
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
        self.loss = loss
        self.huber_width = huber_width
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.solver = solver
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.cache_size = cache_size
        self.approximation = approximation
        self.max_iter = max_iter
        self.max_time = max_time
        self.verbose = verbose

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a file; older ones had the hinge and a bias."""
        super().__setstate__({"loss": HINGE.name, "huber_width": None, "fit_intercept": True, "solver": "auto"} | state)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the plane.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels: two or more classes.
        sample_weight : array-like of shape (n_samples,), default=None
            A sample of weight k counts as k equal ones.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self.fit_checked(table_of(self, X, y, sample_weight))

    def fit_checked(self, table: TrainingSet) -> Self:
        """Find the plane of input that has been checked already.

        Parameters
        ----------
        table : TrainingSet
            Rows, labels as codes, weights of rows.

        Returns
        -------
        self
            The fitted estimator.
        """
        from maxmargin.solve.kernel_margin import KernelQuestion, KernelWork
        from maxmargin.solve.kernel_pairs import answers_together

        kernel = self._kernel_on(table)
        class_weight = table.class_weights(self.class_weight)
        table = table.weighted(class_weight)
        with Threads() as threads, one_thread_for_blas:
            work = KernelWork(kernel, table.X, threads, self.cache_size)
            asked = KernelQuestion(
                float(self.C), self.tol, self.approximation, self.max_iter, class_weight,
                loss_named(self.loss, self.huber_width), bool(self.fit_intercept), self.solver,
            )  # fmt: skip
            return self._solve(
                table,
                lambda two, clock: self._answer(two, asked, work, clock),
                lambda problems, clock: answers_together(problems, asked, work, clock),
            )

    def _answer(self, two: TwoClasses, asked: KernelQuestion, work: KernelWork, clock: Clock) -> Answer:
        from maxmargin.solve.kernel_margin import solve_kernel_margin

        answer = solve_kernel_margin(two, asked, work, clock)
        certificate: Any = answer.certificate
        none_is_proven = certificate.is_separable is None and not clock.is_over
        if math.inf == self.C and (certificate.is_separable is False or none_is_proven):
            raise no_plane(certificate)
        return answer

    def _store_planes(self, X: Matrix, answers: list[Answer]) -> None:
        self._store_signed_weights(answers)
        self._store_support_vectors(X, answers[0].kernel)
        self.intercept_ = np.array([answer.certificate.b / answer.nearest for answer in answers])
        self.bounded_ = np.zeros(self.dual_coef_.shape, dtype=bool)
        loss = loss_named(self.loss, self.huber_width)
        for line, answer in zip(self.bounded_, answers, strict=True):
            certificate, two = answer.certificate, answer.two
            own = np.searchsorted(two.rows, certificate.rows)
            costs = self.C * (np.ones(len(own)) if two.weights is None else two.weights[own])
            line[np.searchsorted(self.support_, certificate.rows)] = certificate.weights >= loss.bounds(costs)

    def _store(self, X: Matrix, classes: NDArray[Any], strategy: Strategy, answers: list[Answer]) -> None:
        super()._store(X, classes, strategy, answers)
        assert isinstance(answers[0].certificate, KernelCertificate)
        weights = dict(answers[0].certificate.class_weight)
        self.class_weight_ = np.array([weights.get(plain(label), 1.0) for label in classes])

    def _margin(self, answer: Answer) -> float:
        return 1.0 / answer.length if answer.length > 0.0 else math.inf

    def values_of_planes(self, X: Any) -> NDArray[np.float64]:
        return self._kernel_values(X)
