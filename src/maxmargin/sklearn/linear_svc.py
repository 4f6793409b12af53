"""LinearSVC: its bias is the weight of a further, constant column, and is regularised like all others.

    min 1/2 |w|^2 + 1/2 (b / s)^2 + C sum_i loss(1 - y_i (w.x_i + b)),        s = intercept_scaling

That is a `LinearSVM` without a bias on the rows (x_i, s), whose last weight is b / s: this is what
is solved, and proven.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm._base import _get_liblinear_solver_type
from sklearn.svm._classes import LinearSVC as TheirLinearSVC  # whatever the name in sklearn.svm stands for
from sklearn.svm._classes import _validate_dual_parameter
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from maxmargin.estimators.linear import LinearSVM
from maxmargin.estimators.scikit_learn_versions import class_weights_like_theirs
from maxmargin.sklearn.against_the_rest import linear_svm
from maxmargin.sklearn.delegation import is_delegated, reasons_for_linear_svc
from maxmargin.sklearn.handing_over import checked, counted, fit_native, gap_for, refuse_missing_classes
from maxmargin.sklearn.prepared_rows import BiasColumn, PreparedRows


class LinearSVC(TheirLinearSVC):
    """scikit-learn's LinearSVC, fitted by `LinearSVM`.

    Parameters, attributes and methods are those of `sklearn.svm.LinearSVC`, and `certificate_` is added: a proof how
    far the planes are from the best ones at most, their regularised bias included, which `certificate_.verify(X, y)`
    checks. The fit asks for a relative gap of 1e-6, or of `tol` if that is smaller. `dual` and `random_state` change
    nothing. `max_iter` counts the steps of whichever solver is at work; where it ends a fit before the proof, there is
    scikit-learn's warning.

    >>> from maxmargin.sklearn import LinearSVC
    >>> X, y = [[0, 0], [1, 1], [2, 0], [3, 1]], ["a", "a", "b", "b"]
    >>> svc = LinearSVC(intercept_scaling=10).fit(X, y)
    >>> svc.predict([[0.5, 0.5], [2.5, 0.5]]).tolist()
    ['a', 'b']
    >>> bool(svc.certificate_.verify(X, y, exact=True))
    True
    """

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the planes; as scikit-learn's."""
        self.__dict__.pop("certificate_", None)
        if is_delegated(reasons_for_linear_svc(self)):
            super().fit(X, y, sample_weight)
            return self
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, order="C", accept_large_sparse=False
        )  # fmt: skip
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        dual = _validate_dual_parameter(self.dual, self.loss, self.penalty, self.multi_class, X)
        if len(self.classes_) < 2:
            raise ValueError(
                "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
                f"{self.classes_[0]!r}"
            )
        of_classes = class_weights_like_theirs(self.class_weight, self.classes_, y, sample_weight)
        if sample_weight is not None:
            sample_weight = counted(_check_sample_weight(sample_weight, X, dtype=np.float64))
        _get_liblinear_solver_type(self.multi_class, self.penalty, self.loss, dual)  # raises for what has none
        prepared = BiasColumn(float(self.intercept_scaling)) if self.fit_intercept else None
        native = linear_svm(
            self.classes_,
            of_classes,
            C=self.C,
            loss=self.loss,
            fit_intercept=False,
            tol=gap_for(self.tol),
            max_iter=max(1, self.max_iter),
            verbose=int(self.verbose),
        )
        table = checked(X if prepared is None else prepared.beside(X), self.classes_, codes, sample_weight)
        is_short = fit_native(self, native, lambda: native.fit_checked(table, fewest_together=1))
        refuse_missing_classes(self.classes_, native.classes_)
        self._take_over(native, prepared)
        if is_short:
            self.n_iter_ = self.max_iter
            warnings.warn(
                "Liblinear failed to converge, increase the number of iterations.", ConvergenceWarning, stacklevel=2
            )  # fmt: skip
        return self

    def _take_over(self, native: LinearSVM, prepared: BiasColumn | None) -> None:
        self.n_iter_ = int(native.n_iter_)
        self.intercept_: Any
        if prepared is None:
            self.coef_, self.intercept_, self.certificate_ = np.asfortranarray(native.coef_), 0.0, native.certificate_
            return
        self.coef_ = np.asfortranarray(native.coef_[:, :-1])  # in liblinear's order
        self.intercept_ = prepared.scaling * native.coef_[:, -1]
        self.certificate_ = PreparedRows(native.certificate_, prepared)
