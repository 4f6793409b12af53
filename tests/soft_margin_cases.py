"""Honest certificates of the soft margin, and a liar."""

import dataclasses

import numpy as np
import scipy.sparse as sparse
from falsehoods import Case

from maxmargin import LinearSVM


def mixed(n=60, d=3, seed=0):
    """Two classes that overlap a little."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    y = np.where(X @ np.arange(1.0, d + 1) + random.normal(size=n) > 0.5, 1, -1)
    return X, y


def fitted(X, y, sample_weight=None, tol=1e-6, **settings):
    svm = LinearSVM(tol=tol, **settings).fit(X, y, sample_weight=sample_weight)
    return Case(svm.certificate_, X, y, sample_weight)


def hinge():
    X, y = mixed(seed=1)
    return fitted(X, np.where(y > 0, "spam", "ham"), C=2.0)


def hinge_through_the_origin():
    return fitted(*mixed(seed=2), C=0.5, fit_intercept=False)


def hinge_float32():
    X, y = mixed(seed=3)
    return fitted(X.astype(np.float32), y)


def hinge_coordinate_descent():
    return fitted(*mixed(seed=4), solver="coordinate_descent", tol=1e-3)


def squared_sparse():
    X, y = mixed(seed=5)
    return fitted(sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0)), y, loss="squared_hinge", tol=1e-3)


def squared_through_the_origin():
    return fitted(*mixed(seed=6), loss="squared_hinge", fit_intercept=False, C=3.0, tol=1e-3)


def class_weights():
    X, y = mixed(seed=7)
    return fitted(X, y, class_weight={-1: 3.0, 1: 0.7})


def sample_weights():
    X, y = mixed(seed=8)
    return fitted(X, y, sample_weight=np.random.default_rng(8).integers(0, 4, len(y)).astype(float))


def huge_numbers():
    X, y = mixed(seed=9)
    return fitted(X * 1e150, y, C=1e-290)


def stopped():
    X, y = mixed(seed=10)
    return fitted(X, y, solver="coordinate_descent", max_iter=1, tol=1e-12)


def stopped_inside():
    """An interior point on its way, which meets none of the conditions."""
    X, y = mixed(seed=11)
    return fitted(X, y, solver="interior_point", max_iter=4, tol=1e-12)


HINGE = [hinge, hinge_through_the_origin, hinge_float32, hinge_coordinate_descent, class_weights, sample_weights]
SQUARED = [squared_sparse, squared_through_the_origin]
OPTIMAL = [*HINGE, *SQUARED, huge_numbers]
STOPPED = [stopped, stopped_inside]
ALL = [*OPTIMAL, *STOPPED]
WITH_BIAS = [make for make in ALL if "origin" not in make.__name__]
LOOSE = [stopped_inside]  # violations that can be told from rounding

OBJECTIVE, BOUND = "the plane's objective", "the weights prove a lower bound of .*, not"


def lie(case, **changes):
    return case._replace(certificate=dataclasses.replace(case.certificate, **changes))
