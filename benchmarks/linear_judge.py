"""The judge of the linear benchmark: float64 NumPy on the set itself, the same for everybody.

    P(w, b) = 1/2 |w|^2 + C sum_i loss(1 - y_i (w.x_i + b)),     loss(t) = max(0, t) or max(0, t)^2

The bias is not penalised, and the square carries no 1/2, as in LIBLINEAR, scikit-learn and maxmargin.

Everybody is judged by w alone, with the best b for it. P* is the best P that anybody reached, and the
excess of a plane is (P - P*) / P*. Our dual values bound P* from below: they say how well it is known.

Row i pays to one side of t_i = y_i - w.x_i: a row of +1 where b < t_i, a row of -1 where b > t_i.
"""

import numpy as np
import scipy.sparse as sp

BLOCK = 2**22  # numbers that are widened to float64 at a time


def objective(X, y, C: float, loss: str, w, b: float | None = None) -> float:
    """P(w, b), with the best b where none is given; infinite where w is not finite."""
    if not np.isfinite(w).all():
        return np.inf
    values = _product(X, w)
    if b is None:
        b = BEST_BIAS[loss](y, y - values)
    slack = np.maximum(0.0, 1.0 - y * (values + b))
    return float(0.5 * (w @ w) + C * (slack.sum() if loss == "hinge" else slack @ slack))


def _best_for_hinge(y, t) -> float:
    """The slope in b is -n_plus plus the number of t_i below b."""
    k = int(np.count_nonzero(y > 0))
    return float(np.partition(t, k - 1)[k - 1])


def _best_for_squared_hinge(y, t) -> float:
    """Half the slope in b is linear from one t_i to the next: b times the number of rows that pay, minus their t."""
    order = np.argsort(t)
    t, plus = t[order], y[order] > 0
    paying = np.cumsum(~plus) + np.cumsum(plus[::-1])[::-1] - plus  # beyond each t_i, up to the next
    paid = np.cumsum(np.where(plus, 0.0, t)) + np.cumsum(np.where(plus, t, 0.0)[::-1])[::-1] - np.where(plus, t, 0.0)
    k = int(np.searchsorted(paying * t - paid, 0.0))  # the first t_i from which on it does not fall
    return float(t[0] if k == 0 else paid[k - 1] / paying[k - 1])


BEST_BIAS = {"hinge": _best_for_hinge, "squared_hinge": _best_for_squared_hinge}


def _product(X, w) -> np.ndarray:
    if sp.issparse(X):
        return X.astype(np.float64) @ w
    rows = max(1, BLOCK // X.shape[1])
    starts = range(0, X.shape[0], rows)
    return np.concatenate([X[start : start + rows].astype(np.float64) @ w for start in starts])
