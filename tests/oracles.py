"""Slow oracles that share nothing with the library: fractions, enumeration, closed forms.

Every double is a fraction, so all questions about a small table can be decided exactly:

    truth            separable, weakly or not: by enumerating the smallest dependent subsets of the signed rows
    best_margin      the l2 margin, squared: by enumerating the faces of the hulls
    plane, hulls     the two sides of the proof, as fractions to compare floats with

Gordan: a plane separates strictly exactly when no l >= 0, l != 0 has sum l_i z_i = 0. Stiemke: a plane has no row on
its wrong side and some row off itself exactly when no l > 0 (on *all* rows) does. z_i = y_i (x_i, 1), or y_i x_i.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import scipy.optimize
import scipy.sparse as sparse

SEPARABLE, WEAKLY, NOT = "separable", "weakly", "not"


def fractions_of(X):
    """A dense or sparse table as lists of fractions."""
    table = X.toarray() if sparse.issparse(X) else np.asarray(X)
    return [[Fraction(cell.item()) for cell in row] for row in table]


def signed_rows(X, signs, fit_intercept):
    """z_i = y_i (x_i, 1) with a bias, y_i x_i without."""
    one = [Fraction(1)] if fit_intercept else []
    return [[int(sign) * cell for cell in row + one] for row, sign in zip(fractions_of(X), signs, strict=True)]


def null_vectors(rows):
    """A basis of all l with sum_i l_i rows_i = 0, by elimination on [rows | identity]."""
    k, d = len(rows), len(rows[0])
    left = [list(row) + [Fraction(int(i == j)) for j in range(k)] for i, row in enumerate(rows)]
    for j in range(d):
        pivot = next((row for row in left if row[j]), None)
        if pivot is None:
            continue
        left = [
            [a - row[j] / pivot[j] * p for a, p in zip(row, pivot, strict=True)] for row in left if row is not pivot
        ]
    return [row[d:] for row in left]


def carriers(rows):
    """The rows with l_i > 0 for some l >= 0 with sum l_i z_i = 0; one circuit after the other, by enumeration."""
    carrying = set()
    for size in range(1, min(len(rows), len(rows[0]) + 1) + 1):
        for subset in itertools.combinations(range(len(rows)), size):
            if carrying.issuperset(subset):
                continue
            basis = null_vectors([rows[i] for i in subset])
            if len(basis) == 1 and len({weight > 0 for weight in basis[0]}) == 1 and all(basis[0]):
                carrying.update(subset)
    return carrying


def truth(X, y, *, fit_intercept=True):
    """Whether a plane separates the rows with y > 0 from the others: exactly."""
    signs = np.where(np.asarray(y) > 0, 1, -1)
    carrying = carriers(signed_rows(X, signs, fit_intercept))
    return SEPARABLE if not carrying else NOT if len(carrying) == len(signs) else WEAKLY


def touches(X, signs, w, b, off, fit_intercept):
    """Whether some plane has the `off` rows that (w, b) puts farthest strictly on their side, the others on itself.

    The planes through the others are a space: in its coordinates the `off` rows must be separable.
    """
    rows = signed_rows(X, signs, fit_intercept)
    plane = [Fraction(float(v)) for v in (*w, b)]
    values = [sum(v * z for v, z in zip(plane, row, strict=False)) for row in rows]
    order = sorted(range(len(rows)), key=lambda i: values[i])
    on, beyond = order[: len(rows) - off], order[len(rows) - off :]
    if not on or not beyond:
        return False
    through = null_vectors([list(column) for column in zip(*(rows[i] for i in on), strict=True)])
    inside = [[sum(v * z for v, z in zip(one, rows[i], strict=True)) for one in through] for i in beyond]
    return bool(through) and not carriers(inside)


# ------------------------------------------------------------------------------------------- the l2 margin, exactly


def solve(matrix, right):
    """The solution of a square system, None if it is singular."""
    size = len(matrix)
    table = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for j in range(size):
        pivot = next((i for i in range(j, size) if table[i][j]), None)
        if pivot is None:
            return None
        table[j], table[pivot] = table[pivot], table[j]
        table[j] = [value / table[j][j] for value in table[j]]
        for i in range(size):
            if i != j and table[i][j]:
                table[i] = [a - table[i][j] * p for a, p in zip(table[i], table[j], strict=True)]
    return [line[-1] for line in table]


def best_margin_squared(X, y, *, fit_intercept=True):
    """The square of the largest l2 margin, 0 if nothing separates: a fraction.

    The nearest points of the hulls are nearest in the affine hulls of the rows that carry them, so all subsets are
    tried: min |sum a_i z_i|^2 with sum a = 1 in each class (without a bias: over all rows), kept if a >= 0.
    """
    signs = np.where(np.asarray(y) > 0, 1, -1)
    rows = signed_rows(X, signs, False)
    groups = [0 if sign > 0 or not fit_intercept else 1 for sign in signs]
    n_groups = 2 if fit_intercept else 1
    best = None
    for size in range(n_groups, min(len(rows), len(rows[0]) + n_groups) + 1):
        for subset in itertools.combinations(range(len(rows)), size):
            square = nearest_in_affine_hulls([rows[i] for i in subset], [groups[i] for i in subset], n_groups)
            if square is not None and (best is None or square < best):
                best = square
    return best / (4 if fit_intercept else 1)


def nearest_in_affine_hulls(rows, groups, n_groups):
    """|p|^2 at the nearest points, if their weights are unique and none is negative."""
    k = len(rows)
    gram = [[sum(a * b for a, b in zip(one, other, strict=True)) for other in rows] for one in rows]
    sums = [[Fraction(int(g == group)) for group in groups] for g in range(n_groups)]
    system = [gram[i] + [sums[g][i] for g in range(n_groups)] for i in range(k)]
    system += [sums[g] + [Fraction(0)] * n_groups for g in range(n_groups)]
    solution = solve(system, [Fraction(0)] * k + [Fraction(1)] * n_groups)
    if solution is None or any(a < 0 for a in solution[:k]):
        return None
    a = solution[:k]
    return sum(a[i] * a[j] * gram[i][j] for i in range(k) for j in range(k))


# ------------------------------------------------------------------------------------ the two sides of the proof


def functional_margin(X, signs, w, b):
    """min_i y_i (w.x_i + b), a fraction."""
    plane = [Fraction(float(v)) for v in w] + [Fraction(float(b))]
    return min(
        sum(v * z for v, z in zip(plane, row, strict=True)) for row in signed_rows(X, np.asarray(signs, int), True)
    )


def hull_points(X, signs, weights, fit_intercept):
    """p = the difference of the hull points (with a bias half of it, so that |p|_* bounds the margin); None if free."""
    weights = [Fraction(float(weight)) for weight in weights]
    n_groups = 2 if fit_intercept else 1
    groups = [int(fit_intercept and sign < 0) for sign in signs]
    totals = [sum(w for w, g in zip(weights, groups, strict=True) if g == group) for group in range(n_groups)]
    if not all(totals):
        return None
    shares = [w / totals[g] / n_groups for w, g in zip(weights, groups, strict=True)]
    rows = signed_rows(X, np.asarray(signs, int), False)
    return [sum(share * row[j] for share, row in zip(shares, rows, strict=True)) for j in range(len(rows[0]))]


def at_most_ratio(value, numerator, square):
    """value <= numerator / sqrt(square), decided in fractions; value may be infinite."""
    if math.isinf(value):
        return value < 0
    value = Fraction(value)
    if value <= 0 or numerator <= 0:
        return (numerator >= 0 >= value) or (value <= 0 and numerator**2 <= value**2 * square)
    return value**2 * square <= numerator**2


def is_lower_bound(value, X, signs, w, b, norm):
    """value <= min_i y_i (w.x_i + b) / |w|, exactly."""
    least = functional_margin(X, signs, w, b)
    exact = [Fraction(float(v)) for v in w]
    if norm == "l1":
        return at_most_ratio(value, least, sum(abs(v) for v in exact) ** 2)
    return at_most_ratio(value, least, sum(v * v for v in exact))


def is_upper_bound(value, X, signs, weights, norm, fit_intercept):
    """value >= |p|_*, exactly, for the hull points of these weights."""
    p = hull_points(X, signs, weights, fit_intercept)
    if p is None or math.isinf(value):
        return value == math.inf
    if norm == "l1":
        return max(abs(v) for v in p) <= Fraction(value)
    return value >= 0 and sum(v * v for v in p) <= Fraction(value) ** 2


# ------------------------------------------------------------------------------------------------- in floating point


def linear_program_margin(X, y, *, fit_intercept=True):
    """The largest l1 margin (HiGHS): max g subject to y_i (w.x_i + b) >= g, |w|_1 <= 1; w = u - v, u, v >= 0."""
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
    signs = np.where(np.asarray(y) > 0, 1.0, -1.0)
    Z = signs[:, None] * X
    n, d = Z.shape
    free = signs[:, None] if fit_intercept else np.zeros((n, 1))
    above = np.hstack([-Z, Z, -free, np.ones((n, 1))])
    within = np.hstack([np.ones((1, 2 * d)), np.zeros((1, 2))])
    answer = scipy.optimize.linprog(
        np.append(np.zeros(2 * d + 1), -1.0),
        A_ub=np.vstack([above, within]),
        b_ub=np.append(np.zeros(n), 1.0),
        bounds=[(0, None)] * (2 * d) + [(None, None), (0, None)],
    )
    assert answer.status == 0, answer.message
    return -answer.fun


# ------------------------------------------------------------------------------------------------- the soft margin


def dense(X):
    """The table as a float64 array."""
    return (X.toarray() if sparse.issparse(X) else np.asarray(X)).astype(np.float64)


def soft_loss(loss, t):
    """What is missing up to the knee pays by its square, the rest by the box."""
    missing = np.maximum(0.0, t)
    before = np.minimum(missing, loss.knee)
    rest = loss.box * (missing - before) if loss.is_bounded else 0.0
    return rest + (before * before / (2.0 * loss.bend) if loss.is_smooth else 0.0)


def soft_loss_of_bias(t, signs, costs, loss, b):
    """sum_i C_i loss(y_i (t_i - b)), t_i = y_i - w.x_i: what the rows pay if the bias is b."""
    return float(costs @ soft_loss(loss, signs * (t - b)))


def soft_least_loss(t, signs, costs, loss):
    """The least of it over b: convex, and bent where a row begins to pay or is at its knee. The lowest of these places,
    then the parabolas on its two sides."""
    places = np.unique(np.concatenate([t, t - signs * loss.knee]) if loss.is_bounded else t)
    low, high = 0, len(places) - 1
    while low < high:
        middle = (low + high) // 2
        here, there = (soft_loss_of_bias(t, signs, costs, loss, places[k]) for k in (middle, middle + 1))
        low, high = (low, middle) if here <= there else (middle + 1, high)
    least = soft_loss_of_bias(t, signs, costs, loss, places[low])
    for left, right in itertools.pairwise(places[max(0, low - 1) : low + 2]):
        missing = signs * (t - 0.5 * (left + right))
        bent, straight = (missing > 0.0) & (missing < loss.knee), missing >= loss.knee
        if loss.is_smooth and np.any(bent):
            pull = loss.knee * float(signs[straight] @ costs[straight]) if np.any(straight) else 0.0
            b = np.clip((costs[bent] @ t[bent] + pull) / costs[bent].sum(), left, right)
            least = min(least, soft_loss_of_bias(t, signs, costs, loss, b))
    return least


def soft_primal(problem, w):
    """P(w, b) at the best b."""
    values, signs, costs = dense(problem.X) @ w, problem.signs, problem.costs
    if problem.fit_intercept:
        return 0.5 * float(w @ w) + soft_least_loss(signs - values, signs, costs, problem.loss)
    return 0.5 * float(w @ w) + float(costs @ soft_loss(problem.loss, 1.0 - signs * values))


def soft_dual(problem, a):
    """D(a), the heavier class scaled down first; minus infinity outside the box."""
    signs, costs, loss = problem.signs, problem.costs, problem.loss
    if np.any(a < 0.0) or not np.all(np.isfinite(a)) or np.any(a > loss.box * costs):
        return -math.inf
    if problem.fit_intercept:
        plus, minus = a[signs > 0].sum(), a[signs < 0].sum()
        lighter = min(plus, minus)
        if lighter == 0.0:
            return 0.0
        a = a * np.where(signs > 0, lighter / plus, lighter / minus)
    u = dense(problem.X).T @ (signs * a)
    return float(a.sum() - 0.5 * (u @ u) - 0.5 * loss.bend * np.sum(a * a / costs))


def soft_dual_by_cvxpy(problem):
    """The best a, by Clarabel."""
    import cvxpy as cp

    X, signs, costs, loss = dense(problem.X), problem.signs, problem.costs, problem.loss
    a = cp.Variable(len(signs))
    bent = 0.5 * loss.bend * cp.sum(cp.multiply(1.0 / costs, cp.square(a)))
    best = cp.Maximize(cp.sum(a) - 0.5 * cp.sum_squares(X.T @ cp.multiply(signs, a)) - bent)
    constraints = [a >= 0, a <= loss.box * costs] + ([signs @ a == 0] if problem.fit_intercept else [])
    cp.Problem(best, constraints).solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return np.clip(a.value, 0.0, loss.box * costs)


def soft_optimum(problem):
    """P at the plane of LIBSVM, which knows an unregularised bias, or without a bias of LIBLINEAR.

    The squared hinge is the hard margin of the products x_i.x_j + 1/(2 C_i) [i = j]. Other losses: the dual by CVXPY.
    """
    from sklearn.svm import SVC, LinearSVC

    X, signs, costs, loss = dense(problem.X), problem.signs, problem.costs, problem.loss
    if loss.is_bounded and loss.is_smooth:
        return soft_primal(problem, X.T @ (signs * soft_dual_by_cvxpy(problem)))
    if not problem.fit_intercept:
        model = LinearSVC(loss=loss.name, C=1.0, fit_intercept=False, tol=1e-11, max_iter=1_000_000, dual=True)
        return soft_primal(problem, model.fit(X, signs, costs).coef_[0])
    hinge = loss.is_bounded
    products = X @ X.T + (0.0 if hinge else np.diag(0.5 / costs))
    model = SVC(kernel="precomputed", C=1.0 if hinge else 1e9, tol=1e-10)
    model.fit(products, signs, costs if hinge else None)
    return soft_primal(problem, X[model.support_].T @ model.dual_coef_[0])
