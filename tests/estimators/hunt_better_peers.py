"""Does another solver ever find an objective below a lower bound that was proven here, or do we end above it?

    PYTHONPATH=src:tests python tests/estimators/hunt_better_peers.py [PROBLEMS] [SEED]      300 and 0 by default

Random soft margins are solved here to a gap of 1e-9 and by LIBLINEAR (squared hinge, no bias), LIBSVM (hinge, linear
and rbf) and Clarabel (both losses, through CVXPY); the first two at tight settings. The objective of a peer is computed
from its own plane or dual variables, in float64. None may lie below the proven lower bound by more than rounding
(`ROUNDING`, relative), and the proven upper bound may not lie above the peer's by more than the gap.
"""

import sys
import warnings

import cvxpy as cp
import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, LinearSVC

from maxmargin import KernelSVM, LinearSVM

GAP, ROUNDING = 1e-9, 1e-10


def problem(random):
    """Rows of a few scales, labels that overlap or not, and C over six powers of ten."""
    n, d = int(random.integers(6, 60)), int(random.integers(1, 8))
    X = random.normal(size=(n, d)) * 10.0 ** random.uniform(-2, 2)
    noise = random.choice([0.0, 0.3, 2.0]) * np.abs(X).mean()
    y = np.where(X @ random.normal(size=d) + noise * random.normal(size=n) > 0, 1, -1)
    y[:2] = (1, -1)
    return X, y, 10.0 ** random.uniform(-3, 3)


def objective(values, square, y, C, loss):
    """1/2 |w|^2 + C sum loss(y_i f(x_i))."""
    slack = np.maximum(0.0, 1.0 - y * values)
    return 0.5 * square + C * np.sum(slack if loss == "hinge" else slack * slack)


def by_libsvm(X, y, C, kernel, gamma):
    svc = SVC(C=C, kernel=kernel, gamma=gamma, tol=1e-10).fit(X, y)
    K = X @ X.T if kernel == "linear" else rbf_kernel(X, gamma=gamma)
    weights = np.zeros(len(y))
    weights[svc.support_] = svc.dual_coef_[0]
    return objective(K @ weights + svc.intercept_[0], weights @ K @ weights, y, C, "hinge")


def by_liblinear(X, y, C):
    svc = LinearSVC(C=C, loss="squared_hinge", dual=True, fit_intercept=False, tol=1e-12, max_iter=200_000).fit(X, y)
    w = svc.coef_[0]
    return objective(X @ w, w @ w, y, C, "squared_hinge")


def by_clarabel(X, y, C, loss):
    w, b, slack = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable(len(y), nonneg=True)
    cost = cp.sum(slack) if loss == "hinge" else cp.sum_squares(slack)
    model = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * cost), [cp.multiply(y, X @ w + b) >= 1 - slack])
    model.solve(solver=cp.CLARABEL)
    return objective(X @ w.value + b.value, w.value @ w.value, y, C, loss)


def pairs(X, y, C):
    """The name of a peer, its objective, and the certificate of the same problem here."""
    gamma = 1.0 / (X.shape[1] * X.var())
    ours = {loss: LinearSVM(C, loss=loss, tol=GAP).fit(X, y).certificate_ for loss in ("hinge", "squared_hinge")}
    for loss, certificate in ours.items():
        yield f"Clarabel, {loss}", by_clarabel(X, y, C, loss), certificate
    yield "LIBSVM, linear", by_libsvm(X, y, C, "linear", gamma), ours["hinge"]
    rbf = KernelSVM(C, kernel="rbf", gamma=gamma, tol=GAP).fit(X, y).certificate_
    yield "LIBSVM, rbf", by_libsvm(X, y, C, "rbf", gamma), rbf
    through_origin = LinearSVM(C, loss="squared_hinge", fit_intercept=False, tol=GAP).fit(X, y).certificate_
    yield "LIBLINEAR, squared_hinge", by_liblinear(X, y, C), through_origin


def main(problems=300, seed=0):
    random, compared, wrong, furthest = np.random.default_rng(seed), 0, 0, (0.0, "")
    for number in range(problems):
        X, y, C = problem(random)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = list(pairs(X, y, C))
        for name, peer, certificate in found:
            compared += 1
            furthest = max(furthest, (peer / certificate.dual - 1.0, name))
            below, above = peer < certificate.dual * (1 - ROUNDING), certificate.primal > peer * (1 + GAP + ROUNDING)
            if below or above:
                wrong += 1
                print(f"problem {number}, {name}: {peer!r} beside [{certificate.dual!r}, {certificate.primal!r}]")
    print(
        f"{compared:,} objectives of peers on {problems:,} problems: {wrong:,} below a bound or better than ours "
        f"by more than the gap; the furthest peer ({furthest[1]}) ended {furthest[0]:.1e} above the optimum"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
