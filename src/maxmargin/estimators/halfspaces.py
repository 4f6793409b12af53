"""Proven distances of rows to planes, and to sums and differences of planes.

A plane here is a combination sum_p m_p (w_p.x + b_p) of those of a classifier: one of them, a difference of two, a sum
of scores. Where it has the value v at x, no perturbation shorter than |v| / |w|_* changes its sign: |w|_* is the dual
norm, |w|_2 for l2 and |w|_1 for linf, and some perturbation of every greater length does.

In the space of a kernel, x + d is at the distance |phi(x + d) - phi(x)| =: D from x, and the sign is the same while
|w| D < |v|. For |d|_2 <= r:

    linear   D = r
    rbf      D^2 = 2 - 2 exp(-gamma r^2), so that D = t at r = sqrt(-log(1 - t^2 / 2) / gamma); never if t^2 >= 2
    poly     D^2 <= p (p - 1) U^(p - 2) (gamma |x| r)^2 + p U^(p - 1) gamma r^2,     U = gamma (|x| + r)^2 + coef0

poly: with u = gamma |x|^2 + coef0, s = gamma x.d and g(u) = u^p, D^2 = g(u) - 2 g(u + s) + g(u + 2 s + gamma |d|^2).
That is the second difference of g with the step s, at most s^2 max g'', and g(u + 2 s + gamma |d|^2) - g(u + 2 s), at
most gamma |d|^2 max g'; all arguments are between -U and U.

For linf, |d|_2 <= sqrt(columns) |d|_inf. Behind a scaling of the columns by g, |g d|_2 <= max |g| |d|_2 and
|g d|_2 <= |g|_2 |d|_inf. With a kernel these are lower bounds alone.

Every number is rounded outwards: `near` is surely not more, and `far` surely not less than the distance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.passes import length, rounding
from maxmargin.data.executor import Threads, one_thread_for_blas
from maxmargin.data.table import Matrix, Vector, is_sparse
from maxmargin.estimators.audit import direction_of
from maxmargin.estimators.decision import Decision, Scaling
from maxmargin.problems.kernels import Kernel, Linear, Rbf
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin

U = 2.0**-53
TINY = 1e-300  # more than what vanishes below the least double
LEAST = 2.0**-1074
HALVINGS = 100

Numbers = NDArray[np.float64]


class Sides(NamedTuple):
    """Of each row (line) and each combination (column): on its positive side, with which distance to the other.

    plus, minus   surely at least so far inside the positive, or the negative, side; 0 where that is in doubt
    plus_far      surely at most so far from where the positive side ends, of a row that is inside it; and
    minus_far     likewise
    """

    plus: Numbers
    minus: Numbers
    plus_far: Numbers
    minus_far: Numbers


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def sides_of(decision: Decision, X: Matrix, combinations: Numbers, norm: str) -> Sides:
    """Where the rows X are for each line of the combinations, by the norm of a perturbation, "l2" or "linf"."""
    if decision.kernel is None:
        values, error, least, most = between_columns(decision, X, combinations, norm)
    else:
        values, error, most, places = in_the_space_of_a_kernel(decision, X, combinations)

    def near(v: Numbers) -> Numbers:
        return outwards(v / most, -1) if decision.kernel is None else in_columns(decision, v / most, places, norm)

    def far(v: Numbers) -> Numbers:
        return outwards(v / least, 1) if decision.kernel is None else np.full(v.shape, np.inf)

    known = np.isfinite(values) & np.isfinite(error) & (most >= 0.0)
    surely = [np.where(known, np.maximum(0.0, sign * values - error), 0.0) for sign in (1.0, -1.0)]
    at_most = [np.where(known, np.maximum(0.0, sign * values + error), np.inf) for sign in (1.0, -1.0)]
    plus, minus = (np.where(v > 0.0, near(v), 0.0) for v in surely)
    return Sides(plus, minus, *(np.where(v > 0.0, far(v), 0.0) for v in at_most))


def outwards(distances: Numbers, direction: int) -> Numbers:
    """Farther by more than a quotient rounds; infinity stays."""
    moved = distances * (1.0 + direction * 8.0 * U) + direction * TINY
    return np.maximum(0.0, np.where(np.isnan(moved), 0.0 if direction < 0 else np.inf, moved))


def between_columns(
    decision: Decision, X: Matrix, combinations: Numbers, norm: str
) -> tuple[Numbers, Numbers, Vector, Vector]:
    """w.x + b of the combinations and its error; at most, and at least, |w|_*."""
    scaling, (n_columns, n_planes) = decision.scaling, (X.shape[1], len(decision.planes))
    planes, sizes = decision.planes * scaling.g, np.abs(decision.planes)
    W, sums = combinations @ planes, np.abs(combinations) @ np.abs(planes)
    # A plane of one line, before no step, is exact; the terms of all others went through some roundings each.
    terms = 0 if np.all(np.count_nonzero(combinations, axis=1) == 1) and not scaling.roundings else n_planes + 1
    W_error = rounding(terms + scaling.roundings) * sums + (TINY if terms else 0.0)
    b = combinations @ (decision.biases + decision.planes @ scaling.h)
    b_sizes = np.abs(combinations) @ (np.abs(decision.biases) + sizes @ scaling.magnitude)
    b_error = rounding(terms + scaling.roundings + n_columns + 4) * b_sizes
    values = np.asarray(X @ W.T) + b
    magnitudes = np.asarray(abs(X) @ np.abs(W).T) + b_sizes
    error = 1.01 * (rounding(n_columns + 4) * magnitudes + np.asarray(abs(X) @ W_error.T) + b_error) + TINY
    dual = "l1" if norm == "linf" else "l2"
    lengths, off = (np.array([length(w, dual) for w in part]) for part in (W, W_error))  # squares neither vanish
    off = off * 1.01 + rounding(n_columns + 8) * lengths + LEAST  # nor overflow
    return values, error, np.maximum(0.0, lengths - off), lengths + off


def in_the_space_of_a_kernel(
    decision: Decision, X: Matrix, combinations: Numbers
) -> tuple[Numbers, Numbers, Vector, tuple[Vector, Vector]]:
    """w.phi(x) + b and its error, at most |w|; of each row behind the scaling at most |x'|, and how far x' is off."""
    kernel, support = decision.kernel, decision.support
    assert kernel is not None
    assert support is not None
    X, off = scaled(decision.scaling, X)
    points, n = kernel.points(X), X.shape[0]
    problem = KernelMargin(X, np.ones(n), np.ones(n), HINGE, True, kernel, points)
    roots, own = (np.sqrt(np.maximum(0.0, kernel.diagonal(part)) * (1.0 + 1e-9)) for part in (points, support))
    columns = []
    with Threads() as threads, one_thread_for_blas:
        for line in combinations:
            w = direction_of(problem, support, line @ decision.planes, threads)
            terms = int(np.count_nonzero(line)) - 1
            lost = 1.01 * rounding(terms) * float(own @ (np.abs(line) @ np.abs(decision.planes)))  # of w
            b, b_size = float(line @ decision.biases), float(np.abs(line) @ np.abs(decision.biases))
            error = w.off + lost * roots + rounding(terms + 4) * (np.abs(w.values) + b_size) + TINY
            reach = np.sqrt(max(0.0, w.square) + w.square_error) * (1.0 + 8.0 * U) + lost
            columns.append((w.values + b, error, reach))
    values, errors = (np.stack([column[k] for column in columns], axis=1) for k in (0, 1))
    lengths = np.sqrt(points.squares * (1.0 + 1e-9)) + TINY
    return values, errors, np.array([column[2] for column in columns]), (lengths, off)


def scaled(scaling: Scaling, X: Matrix) -> tuple[Matrix, Vector]:
    """g x + h, and at most how far each row is from it by rounding, in l2."""
    if not scaling.roundings:
        return X, np.zeros(X.shape[0])
    sizes = np.asarray(abs(X) @ np.abs(scaling.g)) + float(np.sum(scaling.magnitude))  # |.|_1, which is at least |.|_2
    off = 1.01 * rounding(scaling.roundings + 4) * sizes + TINY
    if is_sparse(X) and not np.any(scaling.h):
        return X.multiply(scaling.g).tocsr().astype(np.float64), off
    return np.asarray((X.toarray() if is_sparse(X) else X) * scaling.g + scaling.h, dtype=np.float64), off


def in_columns(decision: Decision, t: Numbers, places: tuple[Vector, Vector], norm: str) -> Numbers:
    """No perturbation of a row shorter than this moves it by t in the space of the kernel."""
    (lengths, off), scaling = places, decision.scaling
    assert decision.kernel is not None
    radius = np.maximum(0.0, radius_in_l2(decision.kernel, outwards(t, -1), lengths[:, None]) - off[:, None])
    stretch = float(np.max(np.abs(scaling.g)) if norm == "l2" else length(scaling.g, "l2"))
    return outwards(radius / (stretch * (1.0 + rounding(len(scaling.g) + scaling.roundings + 4))), -1)


def radius_in_l2(kernel: Kernel, t: Numbers, lengths: Any) -> Numbers:
    """The r up to which every |phi(x + d) - phi(x)| with |d|_2 <= r is at most t; `lengths` are at least the |x|."""
    if isinstance(kernel, Linear):
        return t
    if kernel.gamma == 0.0 or kernel.degree == 0:
        return np.full(t.shape, np.inf)  # a constant
    if isinstance(kernel, Rbf):
        half = 0.5 * t * t * (1.0 - 8.0 * U)
        within = np.minimum(half, 1.0 - U)
        return np.where(half >= 1.0, np.inf, np.sqrt(-np.log1p(-within) / kernel.gamma) * (1.0 - 32.0 * U))
    return radius_of_poly(kernel, t, np.broadcast_to(lengths, t.shape))


def radius_of_poly(kernel: Kernel, t: Numbers, lengths: Numbers) -> Numbers:
    """By halving: the bound of D rises with r, and is at least sqrt(p) (gamma r^2)^(p/2)."""
    gamma, coef0, p = kernel.gamma, kernel.coef0, kernel.degree

    def moved(r: Numbers) -> Numbers:
        most = gamma * (lengths + r) ** 2 + coef0
        bent = p * (p - 1) * most ** (p - 2) * (gamma * lengths * r) ** 2 if p > 1 else 0.0
        return np.sqrt(bent + p * most ** (p - 1) * gamma * r * r) * (1.0 + (16.0 * p + 64.0) * U)

    low, high = np.zeros(t.shape), (t * t / p) ** (0.5 / p) / np.sqrt(gamma) * (1.0 + 1e-9) + TINY
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        within = moved(middle) <= t
        low, high = np.where(within, middle, low), np.where(within, high, middle)
    return np.where(np.isfinite(t), low, np.where(np.isnan(t), 0.0, np.inf))
