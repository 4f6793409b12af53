"""A certificate about rows that were prepared from the user's: `verify` takes the user's, and prepares them again.

BiasColumn     a constant column behind all others, whose weight is the regularised bias of LinearSVC
KernelTable    the values of a kernel, computed once for all pairs of rows: of a function that SVC was given, and of
               gamma=0 and other numbers for which there is a formula, and no kernel of ours
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse
from sklearn.utils.extmath import safe_sparse_dot

from maxmargin.certificates.report import Verification
from maxmargin.data.checking import checked_rows
from maxmargin.data.table import is_sparse, matrix_of


@dataclass(frozen=True)
class BiasColumn:
    """[X, s]: with w' = (w, v), w'.x' = w.x + s v, so that b = s v pays 1/2 (b / s)^2."""

    scaling: float

    def __call__(self, X: Any) -> Any:
        return self.beside(matrix_of(checked_rows(X)))

    def beside(self, X: Any) -> Any:
        """Of rows that have been checked."""
        column = np.full((X.shape[0], 1), self.scaling, dtype=np.float64)
        return sparse.hstack([X, sparse.csr_array(column)], format="csr") if is_sparse(X) else np.hstack([X, column])


NOT_FINITE = "the kernel of these rows has values that float64 cannot hold"


class NotFiniteKernel(ValueError):
    """A kernel value that float64 cannot hold."""


@dataclass(frozen=True)
class KernelTable:
    """k(x_i, x_j) of all rows, as SVC reads them."""

    kernel: Callable[[Any, Any], Any]

    def __call__(self, X: Any) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):
            values = self.kernel(X, X)
        values = np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)
        if not np.all(np.isfinite(values)):
            raise NotFiniteKernel(NOT_FINITE)
        return values


def polynomial(A: Any, B: Any, gamma: float, coef0: float, degree: int) -> Any:
    """(gamma x.x' + coef0)^degree, of any numbers."""
    return (gamma * safe_sparse_dot(A, B.T, dense_output=True) + coef0) ** degree


@dataclass(frozen=True, eq=False, repr=False)
class PreparedRows:
    """The certificate in all but `verify`; that of many classes has parts that are of this kind, too."""

    certificate: Any
    preparation: Callable[[Any], Any]

    def verify(self, X: Any, y: Any, **how: Any) -> Verification:
        """Whether the certificate is true of X and y, the rows as they were given to `fit`."""
        try:
            prepared = self.preparation(X)
        except (TypeError, ValueError) as error:
            return Verification(False, bool(how.get("exact")), (str(error),))
        answer: Verification = self.certificate.verify(prepared, y, **how)
        return answer

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in self.__dataclass_fields__:
            raise AttributeError(name)
        return getattr(self.certificate, name)

    def __len__(self) -> int:
        return len(self.certificate)

    def __iter__(self) -> Iterator[PreparedRows]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, index: int) -> PreparedRows:
        return PreparedRows(self.certificate[index], self.preparation)

    def __bool__(self) -> bool:
        return bool(self.certificate)  # which raises: it is neither true nor false

    def __repr__(self) -> str:
        return repr(self.certificate)

    def __str__(self) -> str:
        return str(self.certificate)
