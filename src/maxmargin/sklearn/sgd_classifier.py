"""SGDClassifier: what its steps lead to, at once.

    min alpha/2 |w|^2 + 1/n sum_i s_i loss(1 - y_i (w.x_i + b))          s_i: weights of rows and classes

Times 1 / alpha that is the soft margin with C = 1 / (alpha n), whose bias is not regularised: `LinearSVM` solves and
proves it. How scikit-learn's steps would have gone there (`max_iter`, `learning_rate`, `shuffle`, ...) plays no part.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.linear_model._stochastic_gradient import SGDClassifier as TheirSGDClassifier
from sklearn.utils.validation import _check_sample_weight

from maxmargin.sklearn.against_the_rest import linear_svm
from maxmargin.sklearn.delegation import is_delegated, reasons_for_partial_fit, reasons_for_sgd
from maxmargin.sklearn.handing_over import LEAST_GAP, fit_native, refuse_missing_classes

LARGEST_GAP = 1e-4  # that is asked for: much less than steps reach


class SGDClassifier(TheirSGDClassifier):
    """scikit-learn's SGDClassifier, whose optimum is found by `LinearSVM`.

    Parameters, attributes and methods are those of `sklearn.linear_model.SGDClassifier`, and `certificate_` is added: a
    proof how far the planes are from the best ones at most. With penalty="l2" and the losses "hinge", "squared_hinge"
    and "modified_huber" the fit asks for a relative gap of 1e-4, or of `tol` if that is smaller, whatever `max_iter`,
    `learning_rate`, `shuffle` and `random_state` are; `coef_` is of float64. Steps that are asked for as such
    (`partial_fit`, `warm_start`, averages, early stopping, starts), other losses and penalties are scikit-learn's.

    >>> from maxmargin.sklearn import SGDClassifier
    >>> X, y = [[0, 0], [1, 1], [2, 0], [3, 1]], ["a", "a", "b", "b"]
    >>> sgd = SGDClassifier(alpha=0.01).fit(X, y)
    >>> sgd.predict([[0.5, 0.5], [2.5, 0.5]]).tolist()
    ['a', 'b']
    >>> bool(sgd.certificate_.verify(X, y, exact=True)), sgd.certificate_.C
    (True, 25.0)
    """

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Self:
        """Find the planes; as scikit-learn's."""
        self.__dict__.pop("certificate_", None)
        self._validate_params()
        has_start = coef_init is not None or intercept_init is not None
        self._steps = 0
        self._is_ours = not is_delegated(reasons_for_sgd(self, has_start, sample_weight))
        self._weights_given = sample_weight  # theirs rounds them to the type of X
        try:
            super().fit(X, y, coef_init, intercept_init, sample_weight)
        finally:
            is_ours, steps = self.__dict__.pop("_is_ours"), self.__dict__.pop("_steps")
            del self._weights_given
        if is_ours:
            self.n_iter_ = steps
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One epoch of scikit-learn's steps."""
        self.__dict__.pop("certificate_", None)
        is_delegated(reasons_for_partial_fit(self))
        own = self.__dict__
        if own.get("coef_") is not None:  # as their loop wants it
            as_rows = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
            own.update({name: own[name].astype(as_rows) for name in ("coef_", "intercept_")})
        super().partial_fit(X, y, classes, sample_weight)
        return self

    def _fit_binary(self, X: Any, y: Any, **how: Any) -> None:
        if getattr(self, "_is_ours", False):
            self._fit_by_ours(X, y)
        else:
            super()._fit_binary(X, y, **how)

    def _fit_multiclass(self, X: Any, y: Any, **how: Any) -> None:
        if getattr(self, "_is_ours", False):
            self._fit_by_ours(X, y)
        else:
            super()._fit_multiclass(X, y, **how)

    def _fit_by_ours(self, X: Any, y: Any) -> None:
        weights = np.asarray(self._expanded_class_weight, dtype=np.float64)
        native = linear_svm(
            self.classes_,
            weights,
            C=1.0 / (self.alpha * X.shape[0]),
            loss=self.loss,
            fit_intercept=self.fit_intercept,
            tol=LARGEST_GAP if self.tol is None else min(max(self.tol, LEAST_GAP), LARGEST_GAP),
            verbose=int(self.verbose),
        )
        given = self._weights_given
        of_rows = None if given is None else _check_sample_weight(given, X, dtype=np.float64)
        fit_native(self, native, lambda: native.fit(X, y, of_rows))
        refuse_missing_classes(self.classes_, native.classes_)
        self.coef_, self.intercept_, self.certificate_ = native.coef_, native.intercept_, native.certificate_
        self._steps = max(1, int(native.n_iter_))
        self.n_iter_, self.t_ = 0, 1.0 + self._steps * X.shape[0]  # not yet: theirs compares it with max_iter
