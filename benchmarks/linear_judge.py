"""The judge of the linear benchmark: float64 NumPy on the set itself, the same for everybody.

    P(w, b) = 1/2 |w|^2 + C sum_i max(0, 1 - y_i (w.x_i + b)),     the bias is not penalised

Everybody is judged by w alone, with the best b for it. P* is the best P that anybody reached, and the
excess of a plane is (P - P*) / P*. Our dual values bound P* from below: they say how well it is known.
"""

import numpy as np
import scipy.sparse as sp

BLOCK = 2**22  # numbers that are widened to float64 at a time


def objective(X, y, C: float, w, b: float | None = None) -> float:
    """P(w, b), with the best b where none is given; infinite where w is not finite."""
    if not np.isfinite(w).all():
        return np.inf
    values = _product(X, w)
    if b is None:
        b = _best_bias(y, values)
    return float(0.5 * (w @ w) + C * np.maximum(0.0, 1.0 - y * (values + b)).sum())


def _best_bias(y, values) -> float:
    """Row i pays to one side of t_i = y_i - w.x_i; the slope in b is -n_plus plus the number of t_i below b."""
    t, k = y - values, int(np.count_nonzero(y > 0))
    return float(np.partition(t, k - 1)[k - 1])


def _product(X, w) -> np.ndarray:
    if sp.issparse(X):
        return X.astype(np.float64) @ w
    rows = max(1, BLOCK // X.shape[1])
    starts = range(0, X.shape[0], rows)
    return np.concatenate([X[start : start + rows].astype(np.float64) @ w for start in starts])
