"""The widest street: the exact hard margin, or a proof that no plane exists."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.passes import length
from maxmargin.data.cluster import on_cluster
from maxmargin.data.table import Matrix, Vector, is_source
from maxmargin.estimators import by_blocks
from maxmargin.estimators.base import MarginClassifier, table_of
from maxmargin.estimators.declarations import HARD_MARGIN_SVM
from maxmargin.estimators.no_plane import no_plane
from maxmargin.estimators.parameters import Declarations, check_parameters
from maxmargin.estimators.scikit_learn_versions import SharesClient
from maxmargin.problems.choices import Strategy
from maxmargin.problems.statement import Norm, TwoClasses
from maxmargin.run.control import Clock, Status
from maxmargin.solve.answer import Answer
from maxmargin.solve.separation import Fallback, SeparationQuestion, solve_separation, with_least_squares


class OnInseparable(StrEnum):
    """What `HardMarginSVM` does with data that no plane separates."""

    RAISE = "raise"
    RETURN = "return"


class HardMarginSVM(SharesClient, MarginClassifier):
    """The widest street between two classes, exactly, with proof.

        min 1/2 |w|^2   subject to   y_i (w.x_i + b) >= 1            (norm="l1": min |w|_1)

    On data that no plane separates it raises `NotSeparableError`, which carries the proof: rows whose convex hulls
    meet. Where float64 cannot tell, it raises `UndecidedError`, with the bounds. It never turns soft silently.

    scikit-learn's `check_estimator` fits inseparable data, of which the default tells the truth, so that
    `HardMarginSVM()` does not pass it; `HardMarginSVM(on_inseparable="return")` is the setting that does.

    Parameters
    ----------
    norm : {"l2", "l1"}, default="l2"
        The norm of w. l1 measures distances by the largest coordinate and gives sparse planes.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is not part of the norm.
    normalize_rows : bool, default=False
        Take the largest margin of the lifted rows (x, 1), each at length 1: for l2 the largest cosine, for l1 the
        largest w.a / (|w|_1 |a|_inf). Then the bias is part of the norm. `normalized_margin_` is proven to `tol`; the
        certificate speaks of the same plane and weights on the rows as they are, where others may have a wider street.
    tol : float, default=1e-9
        The relative gap between the proven bounds of the margin at which the verdict is "optimal".
    solver : {"auto", "hulls", "coordinate_descent", "linear_program", "cvxpy"}, default="auto"
        "auto" chooses by norm and shape; "cvxpy" is the off-the-shelf reference (extra `reference`).
    multi_class : {"ovr", "ovo"}, default="ovr"
        One versus rest or one versus one, when there are more than two classes.
    on_inseparable : {"raise", "return"}, default="raise"
        "return" keeps the verdict and the witness in `certificate_`, and fits the plane of (weighted) least squares
        to the labels -1 and +1, with a penalty on w of 1e-6 of the rows' sum of squares: stated and deterministic.
        If `max_time` ends that, it is the plane half way between the means of the two classes.
        Where it is undecided whether a plane exists, the plane is that which the solver ended with, if it has one.
    max_time : float, default=None
        Seconds. What has been found by then is kept, with its true gap, which a `ConvergenceWarning` tells.
    verbose : int, default=0
        1 shows progress on stderr once a second, 2 every step.
    memory : str or int, default=None
        Of a table that is read by blocks (`scan_table`): the most memory that `fit` may take, such as "512MB". Then no
        vector has the length of the table, norm is "l2", and the plane of on_inseparable="return" is that half way
        between the means of the classes. None: the rows are put together in memory, unless they are Dask's.
    client : distributed.Client or str, default=None
        Of a table that is read by blocks: the Dask cluster that reads it, or the address of its scheduler. None: the
        current client, if there is one. It is shared by clones and copies, and is in no file.

    Attributes
    ----------
    coef_ : ndarray of shape (n_planes, n_features)
        w of each plane, scaled so that the nearest row has y (w.x + b) = 1.
    intercept_ : ndarray of shape (n_planes,)
        b of each plane, in the same scale.
    certificate_ : Certificate or MulticlassCertificate
        What is proven; the second for more than two classes.
    margin_, street_ : float
        Distance from the plane to the nearest row, proven from below; and twice that.
    support_ : ndarray of shape (n_support,)
        The rows that touch the street.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        Those rows themselves.
    dual_coef_ : ndarray of shape (n_planes, n_support)
        a_i y_i of those rows; with normalize_rows the a_i sum to 1.
    normalized_margin_ : pair of float
        With normalize_rows, the lower and the upper bound of the best margin of the rows at length 1.
    n_support_ : ndarray of shape (n_planes,)
        How many rows support each plane (not each class, as in SVC).
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
    >>> from maxmargin import HardMarginSVM
    >>> svm = HardMarginSVM().fit([[0, 0], [0, 2], [3, 0], [5, 1]], ["left", "left", "right", "right"])
    >>> round(svm.street_, 9)
    3.0
    >>> bool(svm.certificate_.verify([[0, 0], [0, 2], [3, 0], [5, 1]], ["left", "left", "right", "right"]))
    True
    """

    _fallback: ClassVar[Fallback] = staticmethod(with_least_squares)
    parameters: ClassVar[Declarations] = HARD_MARGIN_SVM

    def __init__(
        self,
        norm: str = "l2",
        *,
        fit_intercept: bool = True,
        normalize_rows: bool = False,
        tol: float = 1e-9,
        solver: str = "auto",
        multi_class: str = "ovr",
        on_inseparable: str = "raise",
        max_time: float | None = None,
        verbose: bool | int = 0,
        memory: str | int | None = None,
        client: Any = None,
    ) -> None:
        self.norm = norm
        self.fit_intercept = fit_intercept
        self.normalize_rows = normalize_rows
        self.tol = tol
        self.solver = solver
        self.multi_class = multi_class
        self.on_inseparable = on_inseparable
        self.max_time = max_time
        self.verbose = verbose
        self.memory = memory
        self.client = client

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a file; older ones had no memory."""
        super().__setstate__({"memory": None} | state)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the widest street.

        A row of weight k is k equal rows: none if k = 0, and otherwise the street is the same for every k. (A class
        weight would have no meaning here, so there is none.)

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
        if is_source(X) and by_blocks.is_asked(self, X, y):
            check_parameters(self)
            from maxmargin.estimators import hard_margin_by_blocks

            known = {"returns": self._returns, "looks_further": self._fallback is not with_least_squares}
            with on_cluster(self.client):
                hard_margin_by_blocks.fit(self, X, y, sample_weight, self._store, **known)
            return self
        return self._solve(table_of(self, X, y, sample_weight), self._answer)

    @property
    def _returns(self) -> bool:
        """Whether a plane is shown where none separates."""
        return OnInseparable(self.on_inseparable) is OnInseparable.RETURN

    def _answer(self, two: TwoClasses, clock: Clock) -> Answer:
        returns = self._returns
        asked = SeparationQuestion(Norm(self.norm), self.fit_intercept, self.tol, self.solver, self.normalize_rows)
        answer = solve_separation(two, asked, clock, self._fallback if returns else None)
        certificate, stopped = answer.certificate, answer.status in (Status.TIME, Status.INTERRUPTED)
        assert isinstance(certificate, Certificate)
        if not (returns or certificate.is_separable or stopped):
            raise no_plane(certificate)
        return answer

    def plane_of(self, certificate: Certificate) -> tuple[NDArray[np.float64], float]:
        return canonical_plane(certificate)

    def _store(self, X: Matrix, classes: NDArray[Any], strategy: Strategy, answers: list[Answer]) -> None:
        super()._store(X, classes, strategy, answers)
        dual_of = normalized_dual if self.normalize_rows else canonical_dual
        self._store_support(answers, [dual_of(answer) for answer in answers])
        self.support_vectors_ = X[self.support_]


def canonical_plane(certificate: Certificate) -> tuple[NDArray[np.float64], float]:
    """The plane in canonical form where it separates: the nearest row at y (w.x + b) = 1."""
    if not certificate.margin_lower > 0.0:
        return certificate.w, certificate.b
    functional = certificate.margin_lower * length(certificate.w, certificate.norm)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        w, b = certificate.w / functional, np.float64(certificate.b) / functional
    if not (np.all(np.isfinite(w)) and np.isfinite(b)):  # rows so near to zero that float64 cannot hold 1 / margin
        return certificate.w, certificate.b
    return w, float(b)


def canonical_dual(answer: Answer) -> Vector:
    """a_i y_i of the support vectors, scaled so that sum a_i y_i x_i is the canonical w.

    On data without a margin: the witness as it is.
    """
    certificate = answer.certificate
    assert isinstance(certificate, Certificate)
    weights, signs = hull_weights(certificate, answer.two)
    a = canonical_weights(certificate, weights) if certificate.margin_lower > 0.0 else weights
    return a * signs if np.all(np.isfinite(a)) else weights * signs  # beyond float64: the weights as they are


def normalized_dual(answer: Answer) -> Vector:
    """a_i y_i of the support vectors, the a_i of sum 1: for l2, sum a_i y_i (x_i, 1) is along the plane."""
    certificate = answer.certificate
    carrying = certificate.weights > 0.0
    weights, rows = certificate.weights[carrying], certificate.rows[carrying]
    return np.asarray(weights / weights.sum() * answer.two.signs[np.searchsorted(answer.two.rows, rows)])


def hull_weights(certificate: Certificate, two: TwoClasses) -> tuple[Vector, Vector]:
    """The weights above zero, which sum to one (with a bias: in each class); and the signs of their rows."""
    carrying = certificate.weights > 0.0
    weights, signs = certificate.weights[carrying], two.signs[np.searchsorted(two.rows, certificate.rows[carrying])]
    for group in (signs > 0, signs < 0) if certificate.fit_intercept else (signs != 0,):
        weights = np.where(group, weights / max(float(weights[group].sum()), np.finfo(float).tiny), weights)
    return weights, signs


def canonical_weights(certificate: Certificate, weights: Vector) -> Vector:
    """The a_i; infinite where they are beyond float64.

    The weights l of the hull points have |p| = 2 margin (without a bias: |p| = margin), so a = l / (2 margin^2),
    or l / margin^2; and one power of the margin less for l1.
    """
    with np.errstate(over="ignore", divide="ignore"):
        a = weights / certificate.margin_upper / (2.0 if certificate.fit_intercept else 1.0)
        return a if certificate.norm == "l1" else np.asarray(a / certificate.margin_upper)
