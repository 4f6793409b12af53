"""Honest certificates of every kind and verdict, about so few rows that each is checked in no time."""

import math
from typing import Any, NamedTuple

import numpy as np
from block_certificates import certified

from maxmargin import (
    HardMarginSVM,
    KernelPerceptron,
    KernelSVM,
    LinearSVM,
    MarginPerceptron,
    NotSeparableError,
    Perceptron,
    StochasticSVM,
    UndecidedError,
    Winnow,
    separability,
)
from maxmargin.certificates.certificate import certify
from maxmargin.certificates.measure import Claim


class Case(NamedTuple):
    """A certificate, the data that it is about, and the kernel where that is a function."""

    certificate: Any
    X: Any
    y: Any
    sample_weight: Any = None
    kernel: Any = None

    def verify(self, exact):
        options = {"exact": exact, "sample_weight": self.sample_weight}
        if hasattr(self.certificate, "kernel"):
            options["kernel"] = self.kernel
        return self.certificate.verify(self.X, self.y, **options)

    @property
    def ways(self):
        """float64, and exact arithmetic where there is one."""
        is_witness = self.certificate.verdict.name == "NOT_SEPARABLE"
        return (False, True) if is_witness or self.certificate_kernel not in ("rbf", "function") else (False,)

    @property
    def certificate_kernel(self):
        return getattr(self.certificate, "kernel", "linear")


random = np.random.default_rng(5)
X = random.normal(size=(12, 2)).round(3)
APART = np.where(X @ [1.0, 2.0] > 0.1, "b", "a")  # a line, which leaves a street
MIXED = np.where(X @ [1.0, 2.0] + random.normal(size=12) > 0.1, "b", "a")
CROSSED = np.where(X[:, 0] * X[:, 1] > 0.0, 1, -1)
WEIGHTS = np.array([1.0, 2.0, 0.0, 0.5] * 3)
LIGHT = np.where(np.isin(np.arange(12), [0, 4]), 0.5, 2.0)
STRAYED = np.where((LIGHT == 0.5) ^ (APART == "b"), "b", "a")  # two light rows so far away that losses differ there


def square(A, B):
    return (1.0 + A @ B.T) ** 2


def fitted(estimator, y=APART, table=X, sample_weight=None, kernel=None):
    try:
        certificate = (
            estimator.fit(table, y) if sample_weight is None else estimator.fit(table, y, sample_weight)
        ).certificate_
    except (NotSeparableError, UndecidedError) as error:
        certificate = error.certificate
    return Case(certificate, table, y, sample_weight, kernel)


def by_blocks(sample_weight=None, **how):
    return Case(certified(X, MIXED, [5, 0, 7], sample_weight=sample_weight, **how), X, MIXED, sample_weight)


def undecided():
    rows, y = np.array([[1.0, 0.0], [1.0, 1.0], [np.nextafter(1.0, 2.0), 0.5]]), np.array([-1, -1, 1])
    claim = Claim(np.array([1.0, 0.0]), -1.0, np.arange(3), np.array([0.5, 0.5, 1.0]))
    return Case(certify(rows, y.astype(float), claim, norm="l2", fit_intercept=True, tol=1e-9), rows, y)


def weakly_separable():
    rows, y = np.array([[0.0, 0.0], [0.0, 2.0], [0.0, 1.0], [1.0, 0.0], [-1.0, 3.0]]), np.array([1, 1, -1, 1, -1])
    return Case(separability(rows, y), rows, y)


POLY = {"kernel": "poly", "gamma": 0.5, "coef0": 1.0, "degree": 2}
MAKERS = {
    "hard": lambda: fitted(HardMarginSVM()),
    "hard l1": lambda: fitted(HardMarginSVM("l1")),
    "hard through the origin": lambda: fitted(HardMarginSVM(fit_intercept=False), np.where(X[:, 0] > 0, "b", "a")),
    "hard with weights": lambda: fitted(HardMarginSVM(), sample_weight=WEIGHTS),
    "not separable": lambda: fitted(HardMarginSVM(), CROSSED),
    "weakly separable": weakly_separable,
    "undecided": undecided,
    "stopped": lambda: fitted(Perceptron(max_updates=1)),
    "perceptron": lambda: fitted(Perceptron()),
    "margin perceptron": lambda: fitted(MarginPerceptron()),
    "margin perceptron with a guess": lambda: fitted(MarginPerceptron(guess=1e-3)),
    "margin perceptron to a share": lambda: fitted(MarginPerceptron(share=0.6)),
    "margin perceptron with a guess to a share": lambda: fitted(MarginPerceptron(guess=1e-3, share=0.6)),
    "perceptron at length 1": lambda: fitted(Perceptron(normalize_rows=True)),
    "margin perceptron at length 1": lambda: fitted(MarginPerceptron(normalize_rows=True)),
    "winnow at length 1": lambda: fitted(Winnow(normalize_rows=True)),
    "hard at length 1": lambda: fitted(HardMarginSVM(normalize_rows=True)),
    "winnow": lambda: fitted(Winnow()),
    "winnow with a step": lambda: fitted(Winnow(epsilon=0.01)),
    "soft": lambda: fitted(LinearSVM(C=2.0), MIXED),
    "soft squared": lambda: fitted(LinearSVM(C=2.0, loss="squared_hinge"), MIXED),
    "soft through the origin": lambda: fitted(LinearSVM(fit_intercept=False), MIXED),
    "soft with class weights": lambda: fitted(LinearSVM(class_weight={"a": 3.0, "b": 0.75}), MIXED),
    "soft with weights": lambda: fitted(LinearSVM(), MIXED, sample_weight=WEIGHTS),
    "soft stopped": lambda: fitted(LinearSVM(solver="coordinate_descent", max_iter=1, tol=1e-12), MIXED),
    "blocks": lambda: by_blocks(C=2.0),
    "blocks with a width": lambda: by_blocks(width=1e-3, tol=1e-9),
    "blocks squared": lambda: by_blocks(C=2.0, loss="squared_hinge", fit_intercept=False),
    "blocks huber": lambda: by_blocks(loss="huber_hinge", huber_width=0.25),
    "blocks with weights": lambda: by_blocks(class_weight={"a": 3.0, "b": 0.75}, sample_weight=WEIGHTS),
    "pegasos": lambda: fitted(StochasticSVM(fit_intercept=False, max_iter=20, tol=1e-9), MIXED),
    "pegasos with a bias": lambda: fitted(StochasticSVM(max_iter=3, tol=1e-9), MIXED),
    "kernel linear": lambda: fitted(KernelSVM(kernel="linear"), MIXED),
    "kernel poly": lambda: fitted(KernelSVM(**POLY, tol=1e-6), MIXED),
    "kernel rbf": lambda: fitted(KernelSVM(gamma=0.5, tol=1e-6), MIXED),
    "kernel function": lambda: fitted(KernelSVM(kernel=square, tol=1e-6), MIXED, kernel=square),
    "kernel precomputed": lambda: fitted(KernelSVM(kernel="precomputed", tol=1e-6), MIXED, square(X, X)),
    "kernel with weights": lambda: fitted(
        KernelSVM(**POLY, class_weight={"a": 3.0, "b": 0.75}), MIXED, sample_weight=WEIGHTS
    ),
    "kernel stochastic": lambda: fitted(StochasticSVM(**POLY, max_iter=3, tol=1e-9), MIXED),
    "kernel squared": lambda: fitted(KernelSVM(**POLY, loss="squared_hinge", C=2.0), MIXED),
    "kernel huber": lambda: fitted(KernelSVM(**POLY, loss="huber_hinge", huber_width=0.25), MIXED),
    "kernel modified huber": lambda: fitted(
        KernelSVM(**POLY, loss="modified_huber", fit_intercept=False), STRAYED, sample_weight=LIGHT
    ),
    "kernel rbf squared": lambda: fitted(KernelSVM(gamma=0.5, loss="squared_hinge", fit_intercept=False), MIXED),
    "kernel through the origin": lambda: fitted(KernelSVM(**POLY, fit_intercept=False), MIXED),
    "kernel hard through the origin": lambda: fitted(KernelSVM(C=math.inf, **POLY, fit_intercept=False), CROSSED),
    "kernel not separable through the origin": lambda: fitted(
        KernelSVM(C=math.inf, kernel="linear", fit_intercept=False), CROSSED
    ),
    "kernel hard": lambda: fitted(KernelSVM(C=math.inf, **POLY), CROSSED),
    "kernel hard rbf": lambda: fitted(KernelSVM(C=math.inf, gamma=0.5), CROSSED),
    "kernel not separable": lambda: fitted(KernelSVM(C=math.inf, kernel="linear"), CROSSED),
    "kernel perceptron": lambda: fitted(KernelPerceptron(**POLY), CROSSED),
    "kernel perceptron rbf": lambda: fitted(KernelPerceptron("rbf", gamma=0.5), CROSSED),
    "kernel perceptron stopped": lambda: fitted(KernelPerceptron("rbf", gamma=0.5, max_iter=1), CROSSED),
    "kernel perceptron not separable": lambda: fitted(KernelPerceptron("linear", max_iter=2), CROSSED),
}
