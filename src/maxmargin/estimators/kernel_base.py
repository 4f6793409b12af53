"""What estimators with a kernel share: its parameters, its values on the table, predictions from the rows learnt."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from maxmargin.data.checking import checked_table
from maxmargin.data.executor import one_thread_for_blas
from maxmargin.data.table import Matrix, matrix_of
from maxmargin.estimators.base import MarginClassifier, TrainingSet
from maxmargin.problems.kernels import Kernel, KernelChoice
from maxmargin.problems.kernels.choice import is_table
from maxmargin.problems.kernels.given import refuse_a_skew_table
from maxmargin.problems.kernels.limits import refuse_decisions_beyond_float64


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
        return KernelChoice(self.kernel, self.gamma, self.coef0, self.degree).on(X)

    def _store_support_vectors(self, X: Matrix, kernel: Kernel | None) -> None:
        """With a precomputed kernel the rows are known by their places alone."""
        assert kernel is not None
        self._kernel = kernel
        self.support_vectors_ = X[self.support_, :0] if kernel.is_table else X[self.support_]

    def _kernel_values(self, X: Any) -> NDArray[np.float64]:
        """w.phi(x) + b: one column for each plane."""
        check_is_fitted(self, "classes_")
        X = matrix_of(checked_table(self, X, reset=False).X)
        assert self._kernel is not None
        with one_thread_for_blas():
            points, support = self._kernel.points(X), self._kernel.points(self.support_vectors_, self.support_)
            values = self._kernel.combine(points, support, np.ascontiguousarray(self.dual_coef_.T)) + self.intercept_
        refuse_decisions_beyond_float64(values)
        return np.asarray(values)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_table(self.kernel)
        return tags
