"""The soft margin whose C is chosen by cross-validation: one path of warm starts in each fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from maxmargin.data.checking import check_weights, checked_table, encode_labels
from maxmargin.data.table import Matrix, Vector, matrix_of
from maxmargin.estimators.convergence import Ending
from maxmargin.estimators.declarations import LINEAR_SVM_CV, LOSS
from maxmargin.estimators.linear import LinearSVM
from maxmargin.estimators.parameters import Declarations, check_parameters
from maxmargin.estimators.path import check_Cs
from maxmargin.problems.statement import TrainingSet
from maxmargin.run.control import collected, tell_of

LOWEST, HIGHEST = -4, 4  # powers of ten, as in LogisticRegressionCV
EQUAL = 1e-12  # scores that differ by less are equal: the order of a sum shall not choose


class LinearSVMCV(LinearSVM):
    """`LinearSVM` with the C that scores best in cross-validation.

    In each fold C rises, and each fit starts from the dual variables of the last one; then one more fit, on all rows,
    with the best C. Every fit is proven to the relative duality gap `tol`, so that the scores compare planes and not
    how far a solver got; if some are not, one warning at the end says how many.

    Parameters
    ----------
    Cs : int or array-like, default=10
        The values of C, or how many: evenly spaced in their logarithm from 1e-4 to 1e4.
    cv : int, cross-validation generator or iterable, default=None
        As in scikit-learn: None is five stratified folds.
    scoring : str or callable, default=None
        As in scikit-learn: None is the accuracy.
    loss, huber_width, fit_intercept, tol, solver, multi_class : as in `LinearSVM`
        Of every fit.
    class_weight : dict or "balanced", default=None
        "balanced" is computed once, from all rows.
    max_iter : int, default=None
        As in `LinearSVM`, of every fit.
    max_time : float, default=None
        Seconds for each fit. What has been found by then is scored.
    verbose : int, default=0
        1 shows progress on stderr once a second, 2 every step.

    Attributes
    ----------
    C_ : float
        The best C; of several that are equally good, the lowest.
    Cs_ : ndarray of shape (n_Cs,)
        The values of C that were tried, rising.
    scores_ : ndarray of shape (n_folds, n_Cs)
        The score of each fold at each C.
    coef_, intercept_, certificate_ : as in `LinearSVM`
        These and all else that it has after `fit`: of the last fit, on all rows.

    Examples
    --------
    >>> from maxmargin import LinearSVMCV
    >>> from maxmargin.data.synthetic import overlapping
    >>> X, y = overlapping(100)
    >>> svm = LinearSVMCV(Cs=[0.01, 0.1, 1, 10]).fit(X, y)
    >>> svm.scores_.shape, svm.C_ in svm.Cs_, svm.certificate_.is_optimal
    ((5, 4), True, True)
    """

    parameters: ClassVar[Declarations] = LINEAR_SVM_CV

    def __init__(
        self,
        Cs: int | Sequence[float] | NDArray[np.float64] = 10,
        *,
        cv: int | Any | None = None,
        scoring: Any = None,
        loss: str = LOSS.default,
        huber_width: float | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        solver: str = "auto",
        multi_class: str = "ovr",
        class_weight: Any = None,
        max_iter: int | None = None,
        max_time: float | None = None,
        verbose: bool | int = 0,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.loss = loss
        self.huber_width = huber_width
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.solver = solver
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.max_time = max_time
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose C, then find the plane on all rows.

        `sample_weight` weighs the rows in every fit and, as in `LogisticRegressionCV`, in every score. Callbacks
        are called in the last fit only.

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
        check_parameters(self)
        count, given = check_Cs(self.Cs)
        Cs = np.logspace(LOWEST, HIGHEST, count) if given is None else given
        machine = self._machine(float(Cs[0]))
        X, y, largest = checked_table(self, X, y)
        X = matrix_of(X)
        weights = None if sample_weight is None else check_weights(sample_weight, X.shape[0])
        class_weight = self.class_weight
        if class_weight is not None:
            table = TrainingSet(X, encode_labels(y, weights), weights, largest)
            class_weight = dict(table.class_weights(class_weight))
        machine.set_params(class_weight=class_weight, warm_start=True)
        folds = list(check_cv(self.cv, y, classifier=True).split(X, y))
        with collected() as ends:
            scores = np.array([self._fold_scores(machine, Cs, X, y, weights, fold) for fold in folds])
            mean = np.nan_to_num(scores.mean(axis=0), nan=-np.inf)
            C = float(Cs[np.flatnonzero(mean >= mean.max() - EQUAL)[0]])
            last = self._machine(C)
            if hasattr(self, "_skl_callbacks"):
                last.set_callbacks(*self._skl_callbacks)
            last.fit(X, y, weights)
        fitted = {name: value for name, value in vars(last).items() if name not in last.get_params()}
        for name in ("_skl_callbacks", "feature_names_in_"):
            fitted.pop(name, None)
        self.__dict__.update(fitted, C_=C, Cs_=Cs, scores_=scores)
        tell_of(Ending(type(self).__name__, self.get_params(deep=False), ends, "two-class problems of all folds"))
        return self

    def _machine(self, C: float) -> LinearSVM:
        """The estimator of one C."""
        shared = LinearSVM().get_params().keys() & self.get_params().keys()
        return LinearSVM(C, **{name: getattr(self, name) for name in shared})

    def _fold_scores(
        self, machine: LinearSVM, Cs: Vector, X: Matrix, y: NDArray[Any], weights: Vector | None, fold: Any
    ) -> list[float]:
        """The scores of all C on the rows that this fold leaves out."""
        train, test = fold
        scorer = check_scoring(machine, scoring=self.scoring)
        X_train, X_test = X[train], X[test]
        in_fit, in_score = (None, {}) if weights is None else (weights[train], {"sample_weight": weights[test]})
        machine.__dict__.pop("_weights", None)  # another fold has other rows
        return [
            float(scorer(machine.set_params(C=float(C)).fit(X_train, y[train], in_fit), X_test, y[test], **in_score))
            for C in Cs
        ]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score by which C was chosen.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            A sample of weight k counts as k equal ones.

        Returns
        -------
        float
            The share, or what `scoring` measures.
        """
        check_is_fitted(self, "coef_")
        if self.scoring is None:
            return float(super().score(X, y, sample_weight))
        in_score = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(check_scoring(self, scoring=self.scoring)(self, X, y, **in_score))
