"""Learning by mistakes in the space of a kernel."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from maxmargin.data.executor import Threads, one_thread_for_blas
from maxmargin.data.table import Matrix
from maxmargin.estimators.base import table_of
from maxmargin.estimators.declarations import KERNEL_PERCEPTRON
from maxmargin.estimators.kernel import KernelPlanes
from maxmargin.estimators.parameters import Declarations
from maxmargin.estimators.recording import RecordsUpdates
from maxmargin.problems.choices import Order
from maxmargin.problems.kernels import Kernel
from maxmargin.problems.statement import TwoClasses
from maxmargin.problems.trace import Trace
from maxmargin.run.control import Clock
from maxmargin.solve.answer import Answer
from maxmargin.solve.kernel_separation import learn


class KernelPerceptron(RecordsUpdates, KernelPlanes):
    """Rosenblatt's perceptron in the space of a kernel, with Novikov's bound beside the count and a proof at the end.

        while some row has y w.phi(x) <= 0:   c_i += 1 for that row,        w = sum_j c_j y_j phi(x_j)

    It ends when a whole sweep has no mistake. The certificate then proves, rounding included, that every row is on its
    side, and bounds the best margin from both sides: the mistake counts are a dual point. On data that no plane
    separates in the space of the kernel it ends too: after 20 sweeps a witness is looked for once, rows and weights
    whose combination vanishes there. The certificate is then that no plane separates, which is exact; it speaks of the
    data, and no longer of the plane of the mistakes, which still predicts. Equal rows with opposite labels are a
    witness for every kernel; others are found for kernels with rational values (linear, poly, precomputed) and tables
    that are not large.

    Parameters
    ----------
    kernel : a name or a function, default="rbf"
        As in `KernelSVM`.
    gamma, coef0, degree : as in `KernelSVM`
        The numbers of the kernel.
    fit_intercept : bool, default=True
        A bias, learnt as one more coordinate of phi(x) that is 1 in every row: the kernel is k + 1.
    max_iter : int, default=1000
        The most sweeps. When they are spent the certificate says that it was stopped; with an rbf kernel this only
        happens when the margin is small, or when equal rows have different labels.
    order : {"cyclic", "shuffled", "worst_first", "drawn"}, default="cyclic"
        How the rows are visited, as in `Perceptron`. With "worst_first" each update counts as a sweep.
    record : bool or Trace, default=False
        Keep every update in `trace_`, as in `Perceptron`; its planes are coefficients of the rows.
    random_state : int, RandomState or None, default=0
        The seed of the shuffled and the drawn order; None takes another one for each fit.
    multi_class, max_time, verbose : as in `HardMarginSVM`

    Attributes
    ----------
    certificate_ : `KernelSeparationCertificate`, or `MulticlassCertificate` for more than two classes
    support_, support_vectors_ : the rows on which a mistake was made, of any plane
    dual_coef_ : c_j y_j of those rows, one line for each plane
    intercept_ : the bias of each plane
    margin_, street_ : the proven margin in the space of the (lifted) rows, and twice that; -inf where there is none
    n_support_, status_, classes_, n_features_in_, n_iter_ (sweeps), n_updates_ (mistakes)
    trace_ : the record of the updates, one for each plane

    Examples
    --------
    No line separates the corners of a square by their diagonals; a polynomial of degree 2 does.

    >>> from maxmargin import KernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["same", "other", "other", "same"]
    >>> model = KernelPerceptron(kernel="poly", gamma=1, coef0=1, degree=2).fit(X, y)
    >>> model.predict(X).tolist()
    ['same', 'other', 'other', 'same']
    >>> bool(model.certificate_.verify(X, y, exact=True)), model.certificate_.theorems[0].holds
    (True, True)
    """

    parameters: ClassVar[Declarations] = KERNEL_PERCEPTRON

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        degree: int = 3,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        order: str = "cyclic",
        record: bool | Trace = False,
        random_state: int | np.random.RandomState | None = 0,
        multi_class: str = "ovr",
        max_time: float | None = None,
        verbose: bool | int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.order = order
        self.record = record
        self.random_state = random_state
        self.multi_class = multi_class
        self.max_time = max_time
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the rows until no row is a mistake.

        There are no sample weights: the theorem speaks of a set of rows, and the order of visits matters.

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
        table = table_of(self, X, y)
        kernel = self._kernel_on(table)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return self._solve(table, lambda two, clock: self._answer(two, clock, kernel, seed))

    def _answer(self, two: TwoClasses, clock: Clock, kernel: Kernel, seed: int) -> Answer:
        visits = Order(self.order), seed, int(self.max_iter)
        with Threads() as threads, one_thread_for_blas:
            return learn(two, kernel, clock, bool(self.fit_intercept), *visits, threads, self._observer(clock))

    def _store_planes(self, X: Matrix, answers: list[Answer]) -> None:
        mistakes = [np.flatnonzero(answer.iterate.a) for answer in answers]
        duals = [answer.two.signs[own] * answer.iterate.a[own] for answer, own in zip(answers, mistakes, strict=True)]
        supports = [answer.two.rows[own] for answer, own in zip(answers, mistakes, strict=True)]
        self._store_support(answers, duals, supports)
        self.intercept_ = np.array([float(dual.sum()) if self.fit_intercept else 0.0 for dual in duals])
        self._store_support_vectors(X, answers[0].kernel)

    def _margin(self, answer: Answer) -> float:
        certificate: Any = answer.certificate
        return float(certificate.margin_lower)

    def values_of_planes(self, X: Any) -> NDArray[np.float64]:
        return self._kernel_values(X)
