"""SVC: where scikit-learn hands the rows over to libsvm, `KernelSVM` takes them, and leaves what libsvm would leave.

libsvm has a plane f for each pair of classes i < j, positive on the side of i, and puts the dual variables of all of
them into k - 1 lines: a row of class i has that of (i, j) in line j - 1, a row of class j in line i. With two classes,
scikit-learn turns the signs around itself.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from sklearn.svm._classes import SVC as TheirSVC  # whatever the name in sklearn.svm stands for

from maxmargin.data.checking import canonical
from maxmargin.estimators.kernel import KernelSVM
from maxmargin.problems.kernels.limits import BeyondFloat64
from maxmargin.sklearn.delegation import is_delegated, reasons_for_svc
from maxmargin.sklearn.handing_over import checked, class_weight_of, counted, fit_native, gap_for
from maxmargin.sklearn.prepared_rows import NOT_FINITE, KernelTable, NotFiniteKernel, PreparedRows, polynomial
from maxmargin.sklearn.versions import sparse_like_theirs

X_OF_THE_FIT = "_BaseLibSVM__Xfit"  # where theirs looks for the rows that a kernel function takes
THEIR_CACHE, OUR_CACHE = 200, 1000.0  # megabytes: the defaults
WITH_GAMMA = ("rbf", "poly")  # of the kernels that are ours to solve


class SVC(TheirSVC):
    """scikit-learn's SVC, fitted by `KernelSVM`.

    Parameters, attributes and methods are those of `sklearn.svm.SVC`, and `certificate_` is added: a proof how far the
    planes are from the best ones at most, which `certificate_.verify(X, y)` checks. The fit asks for a relative gap of
    1e-6, or of `tol` if that is smaller. `shrinking` and `random_state` change nothing. `max_iter` counts rounds, of
    many of libsvm's steps each; where it ends a fit before the proof, that gives scikit-learn's warning.

    >>> from maxmargin.sklearn import SVC
    >>> X, y = [[0, 0], [1, 1], [2, 0], [3, 1]], ["a", "a", "b", "b"]
    >>> svc = SVC(kernel="linear").fit(X, y)
    >>> svc.predict([[0.5, 0.5], [2.5, 0.5]]).tolist(), svc.n_support_.tolist()
    (['a', 'b'], [1, 1])
    >>> bool(svc.certificate_.verify(X, y, exact=True))
    True
    """

    def _dense_fit(
        self, X: Any, y: Any, sample_weight: Any, solver_type: Any, kernel: str, random_seed: int
    ) -> None:  # fmt: skip
        self.__dict__.pop("certificate_", None)
        if is_delegated(reasons_for_svc(self)):
            super()._dense_fit(X, y, sample_weight, solver_type, kernel, random_seed)
            return
        if callable(self.kernel):
            setattr(self, X_OF_THE_FIT, X)
            X = self._compute_kernel(X)
            if X.shape[0] != X.shape[1]:
                raise ValueError("X.shape[0] should be equal to X.shape[1]")
            if not np.all(np.isfinite(X)):
                raise ValueError(f"The dual coefficients or intercepts are not finite: {NOT_FINITE}")
        self.dual_coef_ = self._fit_by_ours(X, y, sample_weight, kernel)
        self.support_vectors_ = np.empty((0, 0)) if kernel == "precomputed" else X[self.support_]

    def _sparse_fit(
        self, X: Any, y: Any, sample_weight: Any, solver_type: Any, kernel: str, random_seed: int
    ) -> None:  # fmt: skip
        self.__dict__.pop("certificate_", None)
        if is_delegated(reasons_for_svc(self)):
            super()._sparse_fit(X, y, sample_weight, solver_type, kernel, random_seed)
            return
        X = canonical(X)
        dual = self._fit_by_ours(X, y, sample_weight, kernel)
        self.support_vectors_ = sparse_like_theirs(X[self.support_])
        lines, n_support = dual.shape  # stored in full, zeros too: libsvm reads them by their places
        places = np.tile(np.arange(n_support), lines)
        starts = np.arange(lines + 1) * n_support
        self.dual_coef_ = sparse_like_theirs(sparse.csr_array((dual.ravel(), places, starts), dual.shape))

    def _validate_for_predict(self, X: Any) -> Any:
        """As theirs; libsvm takes an entry that stands there twice for two columns, and the plane is of their sum."""
        return canonical(super()._validate_for_predict(X))

    def _fit_by_ours(self, X: Any, y: Any, sample_weight: Any, kernel: str) -> NDArray[np.float64]:
        """All of libsvm's attributes but the support vectors; the dual variables in its lines."""
        if sample_weight.ndim != 1:
            raise ValueError(f"Sample weights must be 1D array or scalar, got {sample_weight.ndim}D array.")
        codes, weights = y.astype(np.intp), counted(sample_weight) if len(sample_weight) else None
        refuse_what_libsvm_refuses(codes, weights)
        table, numbers = self._table(kernel), {}
        if table is None and kernel in WITH_GAMMA:
            numbers = {"gamma": self._gamma, "coef0": self.coef0, "degree": self.degree}
        native = KernelSVM(
            C=self.C,
            kernel=kernel if table is None else "precomputed",
            **numbers,
            tol=gap_for(self.tol),
            class_weight=class_weight_of(self.classes_, self.class_weight_),
            cache_size=OUR_CACHE if self.cache_size == THEIR_CACHE else self.cache_size,
            max_iter=None if self.max_iter < 0 else max(1, self.max_iter),
            verbose=int(self.verbose),
        )
        try:
            rows = X if table is None or callable(self.kernel) else table(X)
            known = checked(rows, self.classes_, codes, weights)
            self.fit_status_ = int(fit_native(self, native, lambda: native.fit_checked(known)))
        except (BeyondFloat64, NotFiniteKernel) as error:
            raise ValueError(f"The dual coefficients or intercepts are not finite: {error}") from None
        self._warn_from_fit_status()
        self.certificate_ = native.certificate_ if table is None else PreparedRows(native.certificate_, table)
        return self._take_over(native, codes)

    def _table(self, kernel: str) -> KernelTable | None:
        """Of a kernel whose values `KernelSVM` takes: a function, and a word with numbers that are its limits. With
        gamma=0 or degree=0 all rows are equal; with coef0 < 0 the fit finds out whether there is a space at all."""
        if callable(self.kernel):
            return KernelTable(self.kernel)
        if kernel == "rbf" and self._gamma == 0.0:
            return KernelTable(functools.partial(polynomial, gamma=0.0, coef0=1.0, degree=1))
        if kernel == "poly" and (self._gamma == 0.0 or self.degree == 0 or self.coef0 < 0.0):
            numbers = {"gamma": self._gamma, "coef0": self.coef0, "degree": self.degree}
            return KernelTable(functools.partial(polynomial, **numbers))
        return None

    def _take_over(self, native: KernelSVM, codes: NDArray[np.intp]) -> NDArray[np.float64]:
        n_classes = len(self.classes_)
        pairs = list(itertools.combinations(range(n_classes), 2))
        order = np.argsort(codes[native.support_], kind="stable")
        support = native.support_[order]
        own = codes[support]
        present = np.searchsorted(self.classes_, native.classes_)  # a class may have no row of weight: nothing is in it
        dual, self.intercept_ = np.zeros((n_classes - 1, len(support))), np.zeros(len(pairs))
        self.intercept_[:] = [1.0 if i in present else -1.0 for i, _ in pairs]
        self._num_iter = np.zeros(len(pairs), dtype=np.int32)
        self._probA = self._probB = np.empty(0)
        self.support_ = support.astype(np.int32)
        self._n_support = np.bincount(own, minlength=n_classes).astype(np.int32)
        sign = -1.0 if len(present) == 2 else 1.0  # of two classes, ours is positive on the side of the second
        updates = np.atleast_1d(native.n_updates_)
        for line, (i, j) in enumerate(itertools.combinations(present.tolist(), 2)):
            values = sign * native.dual_coef_[line, order]
            dual[j - 1, own == i], dual[i, own == j] = values[own == i], values[own == j]
            place = pairs.index((i, j))
            self.intercept_[place] = sign * native.intercept_[line]
            self._num_iter[place] = self.max_iter if self.fit_status_ else max(1, min(updates[line], 2**31 - 1))
        return dual


def refuse_what_libsvm_refuses(codes: NDArray[np.intp], weights: NDArray[np.float64] | None) -> None:
    if weights is None:
        return
    present = np.unique(codes[weights > 0.0])
    if not len(present):
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    if len(present) < 2:
        raise ValueError("Invalid input - all samples with positive weights belong to the same class.")
