"""The hard margin as a quadratic program, in the two forms that general solvers are given.

    primal    min 1/2 |w|^2                   subject to  y_i (w.x_i + b) >= 1             d + 1 variables
    dual      min 1/2 |sum_i a_i y_i x_i|^2   subject to  sum_+ a = sum_- a = 1,  a >= 0       n variables
    link      w = sum_i a_i y_i x_i, up to its length

The dual looks for the nearest points of the two convex hulls. It needs the n x n Gram matrix and pays off
where n < d.
"""

import numpy as np
import scipy.sparse as sp

LARGEST_MATRIX = 6e9  # bytes


class TooLarge(Exception):
    """The form needs a matrix that is not worth trying on an ordinary machine."""


def primal_rows(X, y) -> np.ndarray:
    """The rows y_i (x_i, 1), dense."""
    n, d = X.shape
    _refuse_beyond_memory(n, d + 1)
    Z = np.empty((n, d + 1))
    Z[:, :d] = X.toarray() if sp.issparse(X) else X
    Z[:, d] = 1.0
    Z *= y[:, None]
    return Z


def sparse_primal_rows(X, y) -> sp.csc_matrix:
    """The rows y_i (x_i, 1), in compressed columns."""
    if not sp.issparse(X):
        return sp.csc_matrix(primal_rows(X, y))
    lifted = sp.hstack([X.astype(np.float64), np.ones((len(y), 1))], format="csr")
    return sp.csc_matrix(sp.diags(y) @ lifted)


def primal_cost(d: int, of_bias: float = 0.0) -> np.ndarray:
    """The diagonal of the quadratic term, zero for the bias unless a solver insists on positive definite."""
    return np.append(np.ones(d), of_bias)


def dual_cost(X, y) -> np.ndarray:
    """The matrix of y_i y_j (x_i.x_j + c).

    Any c is right, as sum a_i y_i = 0. The mean of |x|^2 makes the matrix of a centred set positive definite,
    which the Gram matrix alone is not.
    """
    n = len(y)
    _refuse_beyond_memory(n, n)
    X = X.astype(np.float64, copy=False)
    Q = X @ X.T
    Q = Q.toarray() if sp.issparse(Q) else Q
    Q += np.trace(Q) / n
    Q *= y
    Q *= y[:, None]
    return Q


def class_sums(y) -> np.ndarray:
    """The two rows that sum a over either class."""
    return np.stack([y > 0, y < 0]).astype(np.float64)


def normal(X, y, a) -> np.ndarray:
    """w = sum_i a_i y_i x_i."""
    return X.T.astype(np.float64, copy=False) @ (a * y)


def _refuse_beyond_memory(rows: int, columns: int) -> None:
    size = 8.0 * rows * columns
    if size > LARGEST_MATRIX:
        raise TooLarge(f"needs a matrix of {size / 1e9:.1f} GB")
