"""Honest certificates of margins in the space of a kernel, of every kernel, form of rows and verdict."""

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from sklearn.svm import SVC

from maxmargin.certificates import exact_kernel
from maxmargin.certificates.kernel_duality import measure
from maxmargin.certificates.kernel_margin import (
    KernelCertificate,
    kernel_certificate,
    no_plane_certificate,
)
from maxmargin.problems.kernels import KernelChoice
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin, TwoClasses


class Case(NamedTuple):
    """A certificate and the data that it is about, and the kernel where that is a function."""

    certificate: KernelCertificate
    X: Any
    y: Any
    sample_weight: Any = None
    kernel: Any = None

    def verify(self, exact):
        return self.certificate.verify(
            self.X, self.y, exact=exact, sample_weight=self.sample_weight, kernel=self.kernel
        )

    @property
    def ways(self):
        """float64, and exact arithmetic where there is one."""
        return (False,) if self.certificate.kernel in ("rbf", "function") else (False, True)


def mixed(n=40, d=2, seed=0):
    """Two classes that overlap a little, apart by a curve."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, np.where((X**2).sum(axis=1) + 0.5 * random.normal(size=n) > 1.2, 1, -1)


def problem_of(X, y, C=1.0, kernel="rbf", gamma=1.0, coef0=1.0, degree=2, weights=None, class_weight=(), pair=(1, -1)):
    """The two classes of the pair, and the problem, as a fit makes them."""
    positive, negative = pair
    taken = (y == positive) | (y == negative if negative is not None else True)
    rows = np.flatnonzero(taken & (weights > 0.0) if weights is not None else taken)
    prices = np.ones(len(y)) if weights is None else weights.copy()
    for label, weight in class_weight:
        prices[y == label] *= weight
    signs = np.where(y[rows] == positive, 1.0, -1.0)
    two = TwoClasses(X[rows], signs, None, rows, positive, negative, None)
    chosen = KernelChoice(kernel, gamma, coef0, degree).on(two.X)
    points = chosen.points(two.X, rows)
    return two, KernelMargin(two.X, signs, C * prices[rows], HINGE, True, chosen, points)


def solved(problem, tol=1e-10, max_iter=-1):
    """Dual variables by another library."""
    values = problem.kernel.values(problem.points, problem.points)
    C = 1e12 if problem.is_hard else 1.0
    weights = None if problem.is_hard else problem.costs
    svc = SVC(C=C, kernel="precomputed", tol=tol, max_iter=max_iter).fit(values, problem.signs, sample_weight=weights)
    a = np.zeros(problem.n_rows)
    a[svc.support_] = np.abs(svc.dual_coef_[0])
    return np.clip(a, 0.0, problem.costs)


def fitted(X, y, tol=1e-6, spoil=1.0, **settings):
    """`spoil` moves the weights away from the optimum."""
    two, problem = problem_of(X, y, **settings)
    a = solved(problem)
    a = np.minimum(a * np.where(np.arange(len(a)) % 3, 1.0, spoil), problem.costs)
    C = settings.get("C", 1.0)
    certificate = kernel_certificate(two, problem, a, measure(problem, a), C, settings.get("class_weight", ()), tol)
    function = settings["kernel"] if callable(settings.get("kernel")) else None
    return Case(certificate, X, y, settings.get("weights"), function)


def rbf():
    return fitted(*mixed(seed=1), gamma=0.5, C=2.0)


def rbf_sparse():
    X, y = mixed(seed=2)
    return fitted(sparse.csr_array(np.where(np.abs(X) > 0.3, X, 0.0)), y, C=3.0)


def linear():
    return fitted(*mixed(seed=3), kernel="linear", C=0.5)


def poly():
    return fitted(*mixed(seed=4), kernel="poly", C=2.0)


def poly_float32():
    X, y = mixed(seed=5)
    return fitted(X.astype(np.float32), y, kernel="poly", degree=3, gamma=0.3)


def square_of_products(A, B):
    return (1.0 + A @ B.T) ** 2


def function():
    return fitted(*mixed(seed=6), kernel=square_of_products)


def precomputed():
    X, y = mixed(seed=7)
    return fitted(square_of_products(X, X), y, kernel="precomputed")


def class_weights():
    return fitted(*mixed(seed=8), kernel="poly", class_weight=((-1, 3.0), (1, 0.7)))


def sample_weights():
    X, y = mixed(seed=9)
    return fitted(X, y, kernel="poly", weights=np.random.default_rng(9).integers(0, 4, len(y)).astype(float))


def precomputed_with_sample_weights():
    X, y = mixed(seed=10)
    weights = np.random.default_rng(9).integers(0, 3, len(y)).astype(float)
    return fitted(square_of_products(X, X), y, kernel="precomputed", weights=weights)


def loose():
    """Weights that are far from the optimum: violations that can be told from rounding."""
    return fitted(*mixed(seed=11), kernel="poly", spoil=0.5)


def apart(seed):
    X, _ = mixed(30, seed=seed)
    return X, np.where(X[:, 0] * X[:, 1] > 0.0, 1, -1)


def hard_rbf():
    return fitted(*apart(12), C=math.inf, tol=1e-3)


def hard_poly():
    return fitted(*apart(13), C=math.inf, kernel="poly", tol=1e-3)


def hard_loose():
    return fitted(*apart(14), C=math.inf, kernel="poly", spoil=0.998, tol=1e-6)


def without_plane(X, y, **settings):
    two, problem = problem_of(X, y, C=math.inf, **settings)
    weights = exact_kernel.witness(problem)
    assert weights is not None
    return Case(no_plane_certificate(two, problem, weights, math.inf, (), 1e-3), X, y)


def equal_rows():
    X, y = mixed(seed=15)
    X[7] = X[3]
    return without_plane(X, np.where(np.arange(len(y)) == 7, -y[3], y), kernel="rbf")


def no_line():
    return without_plane(*mixed(seed=16), kernel="linear")


def no_conic():
    return without_plane(*mixed(60, seed=17), kernel="poly")


def no_table():
    X = np.array([[i, j] for i in range(-3, 4) for j in range(-3, 4)], dtype=float)
    y = np.where(np.random.default_rng(17).random(len(X)) < 0.5, 1, -1)
    return without_plane(square_of_products(X, X), y, kernel="precomputed")


SOFT = [rbf, rbf_sparse, linear, poly, poly_float32, function, precomputed]
WEIGHTED = [class_weights, sample_weights, precomputed_with_sample_weights]
HARD = [hard_rbf, hard_poly]
OPTIMAL = [*SOFT, *WEIGHTED, *HARD]
LOOSE = [loose, hard_loose]
WITNESS = [equal_rows, no_line, no_conic, no_table]
PLANES = [*OPTIMAL, *LOOSE]
ALL = [*PLANES, *WITNESS]
TABLES = [precomputed, precomputed_with_sample_weights, no_table]


def lie(case, **changes):
    return case._replace(certificate=dataclasses.replace(case.certificate, **changes))


FIELDS = {field.name for field in dataclasses.fields(KernelCertificate)}
CLAIMED = {
    "verdict",
    "b",
    "rows",
    "weights",
    "primal",
    "dual",
    "tol",
    "kkt",
}  # the others say which problem it is
