"""Small tables that are odd but legal, and learners to put before them: every estimator, solver, loss and kernel.

A problem is made from a seed and its number alone, so that one that failed can be made again.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse

import maxmargin

LARGEST_FLOAT32 = 1e37
SUBNORMAL = 5e-324


class Nasty(NamedTuple):
    """What is fitted, to what, and what was done to the rows."""

    name: str
    estimator: Any
    X: Any
    y: Any
    weights: Any
    story: str

    def __str__(self):
        n, d = self.X.shape
        form = "csr" if sparse.issparse(self.X) else "dense"
        weighted = "" if self.weights is None else ", weighted"
        return f"{self.estimator} on {n} x {d} {form} {self.X.dtype}, {self.story}{weighted}"


def nasty_problem(seed, number):
    random = np.random.default_rng([seed, number])
    names = list(LEARNERS)
    name = names[number % len(names)]  # in turn, so that few problems still meet every learner
    estimator = LEARNERS[name](random)
    X, y, story = nasty_table(random)
    if name == "path":  # which is for two classes
        y = np.minimum(y, 1)
    weights = None
    if name not in WITHOUT_WEIGHTS and random.random() < 0.3:
        weights = nasty_weights(random, y)
    if getattr(estimator, "kernel", None) == "precomputed":
        rows = np.asarray(X.todense() if sparse.issparse(X) else X, dtype=np.float64)
        rows = np.clip(np.round(rows), -1000.0, 1000.0)  # exact products: rounded ones need not be those of a kernel
        X = rows @ rows.T * 2.0 ** int(random.integers(-900, 901))
    return Nasty(name, estimator, X, y, weights, story)


# ------------------------------------------------------------------------------------------------------ learners


def price(random, hard=0.15):
    return math.inf if random.random() < hard else float(10.0 ** random.choice([-12, -6, -2, 0, 2, 6, 12]))


def one_of(random, *options):
    return options[int(random.integers(len(options)))]


def yes(random):
    return bool(random.random() < 0.5)


def a_kernel(random):
    kernel = one_of(random, "linear", "poly", "poly", "rbf", "rbf", "precomputed", polynomial)
    numbers = {"gamma": one_of(random, "scale", "auto", 1.0, 1e-6, 1e6)}
    if kernel == "poly":
        numbers |= {"degree": one_of(random, 1, 2, 3, 7, 40), "coef0": one_of(random, 0.0, 1.0, 1e6)}
    return {"kernel": kernel, **numbers}


def polynomial(A, B):
    """A kernel that is a function of the user's."""
    A, B = (np.asarray(table.todense() if sparse.issparse(table) else table, dtype=float) for table in (A, B))
    with np.errstate(all="ignore"):
        return (1.0 + A @ B.T) ** 2


def hard_margin(random):
    norm = one_of(random, "l2", "l2", "l1")
    solvers = ("auto", "linear_program") if norm == "l1" else ("auto", "hulls", "coordinate_descent")
    return maxmargin.HardMarginSVM(
        norm,
        solver=one_of(random, *solvers),
        fit_intercept=yes(random),
        multi_class=one_of(random, "ovr", "ovo"),
        on_inseparable=one_of(random, "raise", "return"),
    )


def hinge(random):
    return maxmargin.LinearSVM(
        price(random),
        solver=one_of(random, "auto", "interior_point", "sieve", "coordinate_descent"),
        fit_intercept=yes(random),
        tol=one_of(random, 1e-2, 1e-4, 1e-9),
        multi_class=one_of(random, "ovr", "ovo"),
        class_weight=one_of(random, None, None, "balanced"),
    )


def squared_hinge(random):
    return maxmargin.LinearSVM(
        price(random),
        loss="squared_hinge",
        solver=one_of(random, "auto", "coordinate_descent", "newton", "newton"),
        fit_intercept=yes(random),
        tol=one_of(random, 1e-2, 1e-4, 1e-9),
        multi_class=one_of(random, "ovr", "ovo"),
        class_weight=one_of(random, None, None, "balanced"),
    )


def kernel_svm(random):
    C = price(random)
    return maxmargin.KernelSVM(
        C,
        **a_kernel(random),
        tol=one_of(random, 1e-2, 1e-3, 1e-6),
        multi_class=one_of(random, "ovr", "ovo"),
        approximation=None if math.inf == C else one_of(random, None, None, 3),
        loss=one_of(random, "hinge", "squared_hinge", "huber_hinge", "modified_huber"),
        fit_intercept=one_of(random, True, False),
    )


def hard_kernel_svm(random):
    multi_class, bias = one_of(random, "ovr", "ovo"), one_of(random, True, False)
    return maxmargin.KernelSVM(math.inf, **a_kernel(random), multi_class=multi_class, fit_intercept=bias)


def stochastic(random):
    step = one_of(random, "pegasos", "pegasos", 1e-3, 10.0)
    return maxmargin.StochasticSVM(
        price(random, hard=0.0), step=step, average=yes(random), project=yes(random), fit_intercept=yes(random)
    )


def kernel_stochastic(random):
    return maxmargin.StochasticSVM(
        price(random, hard=0.0), **a_kernel(random), average=yes(random), project=yes(random), max_iter=20
    )


def mistake_driven(kind, **choices):
    def make(random):
        chosen = {name: one_of(random, *options) for name, options in choices.items()}
        return kind(
            **chosen,
            order=one_of(random, "cyclic", "shuffled", "worst_first"),
            fit_intercept=yes(random),
            multi_class=one_of(random, "ovr", "ovo"),
            max_updates=one_of(random, 100, 20_000),
        )

    return make


def kernel_perceptron(random):
    return maxmargin.KernelPerceptron(**a_kernel(random), fit_intercept=yes(random), max_iter=50)


class Separability:
    """`maxmargin.separability` as an estimator."""

    def __init__(self, **asked):
        self.asked = asked

    def fit(self, X, y):
        self.certificate_ = maxmargin.separability(X, y, **self.asked)
        return self

    def __repr__(self):
        return f"separability({self.asked})"


class Path(Separability):
    """`maxmargin.path` as an estimator; its last point is looked at."""

    def fit(self, X, y, sample_weight=None):
        street = maxmargin.path(X, y, sample_weight=sample_weight, **self.asked)
        assert np.all(np.isfinite([point.C for point in street.points]))
        self.certificate_ = street.points[-1].certificate
        return self

    def __repr__(self):
        return f"path({self.asked})"


class Audited(Separability):
    """`maxmargin.audit` of a fit as an estimator."""

    def fit(self, X, y):
        model = maxmargin.Perceptron(max_updates=50) if self.asked["separating"] else maxmargin.LinearSVM(max_iter=2)
        found = maxmargin.audit(model.fit(X, y), X, y)
        assert found.report()
        self.certificate_ = found.parts[0].certificate
        return self

    def __repr__(self):
        return f"audit({self.asked})"


LEARNERS = {
    "hard margin": hard_margin,
    "hinge": hinge,
    "squared hinge": squared_hinge,
    "kernel": kernel_svm,
    "hard margin, kernel": hard_kernel_svm,
    "stochastic": stochastic,
    "stochastic, kernel": kernel_stochastic,
    "perceptron": mistake_driven(maxmargin.Perceptron, average=(True, False), rate=(1.0, 1e-200)),
    "margin perceptron": mistake_driven(maxmargin.MarginPerceptron, guess=(None, None, 1e-3, 1e30)),
    "Winnow": mistake_driven(maxmargin.Winnow, epsilon=(None, 0.1, 1e-6), balanced=(True, False)),
    "perceptron, kernel": kernel_perceptron,
    "separability": lambda random: Separability(
        norm=one_of(random, "l2", "l1"), fit_intercept=yes(random), multi_class=one_of(random, "ovr", "ovo")
    ),
    "path": lambda random: Path(
        Cs=one_of(random, 3, [1e-9, 1.0, 1e9]), loss=one_of(random, "hinge", "squared_hinge"), fit_intercept=yes(random)
    ),
    "audit": lambda random: Audited(separating=yes(random)),
}
WITHOUT_WEIGHTS = (
    "perceptron", "margin perceptron", "Winnow", "perceptron, kernel", "separability", "audit",
)  # fmt: skip


# -------------------------------------------------------------------------------------------------------- tables


def nasty_weights(random, y):
    """Some rows without weight, though never a whole class; and weights of every size."""
    weights = one_of(random, np.ones(len(y)), 10.0 ** random.integers(-12, 13, len(y)), random.integers(0, 4, len(y)))
    weights = np.where(random.random(len(y)) < 0.2, 0.0, weights)
    for label in np.unique(y):
        own = np.flatnonzero(y == label)
        if not np.any(weights[own] > 0.0):
            weights[own[0]] = 1.0
    return weights


def nasty_table(random):
    n, d = int(random.integers(2, 25)), int(random.integers(1, 9))
    if random.random() < 0.15:
        n, d = 2, int(random.integers(1, 4))
    if random.random() < 0.15:
        d = n + int(random.integers(0, 40))
    n_classes = min(n, one_of(random, 2, 2, 2, 2, 3, 4))
    story = []
    y = random.permutation(np.arange(n) % n_classes)
    if random.random() < 0.1:  # one row of every class but the first
        y = random.permutation(np.maximum(0, np.arange(n) - (n - n_classes)))
        y = np.unique(y, return_inverse=True)[1]
    name, X = list(SHAPES.items())[int(random.integers(len(SHAPES)))]
    X, story = X(random, n, d, y), [name]
    for name, change in CHANGES.items():
        if random.random() < 0.12:
            X, y = change(random, X, y)
            story.append(name)
    with np.errstate(all="ignore"):
        X = np.clip(np.nan_to_num(X, posinf=1e300, neginf=-1e300), -1e300, 1e300)
    X, form = in_a_form(random, X)
    return X, y, ", ".join([*story, *form])


def apart(random, n, d, y):
    X = random.normal(size=(n, d))
    X[:, 0] += 6.0 * y
    return X


SHAPES = {
    "far apart": apart,
    "by chance": lambda random, n, d, y: random.normal(size=(n, d)),
    "on a grid": lambda random, n, d, y: random.integers(-1, 2, (n, d)).astype(float),
    "touching": lambda random, n, d, y: random.integers(0, 2, (n, d)) + 1.0 * (y[:, None] == 1),
    "on a line": lambda random, n, d, y: np.outer(random.integers(-3, 4, n), random.normal(size=d)),
    "all equal": lambda random, n, d, y: np.tile(random.normal(size=d), (n, 1)),
    "all zero": lambda random, n, d, y: np.zeros((n, d)),
}


def zero_rows(random, X, y):
    return np.where(random.random((len(X), 1)) < 0.3, 0.0, X), y


def constant_columns(random, X, y):
    return np.where(random.random(X.shape[1]) < 0.5, random.normal(), X), y


def contradictions(random, X, y):
    """A row that is there twice, with two labels."""
    row = int(random.integers(len(X)))
    return np.vstack([X, X[row]]), np.append(y, np.unique(y)[(int(y[row]) + 1) % len(np.unique(y))])


def many_equal_rows(random, X, y):
    chosen = random.integers(0, len(X), 40)
    return np.vstack([X, X[chosen]]), np.append(y, y[chosen])


def power_of_ten(random):
    return 10.0 ** one_of(random, -150, 150, int(random.integers(-150, 151)))


def another_scale(random, X, y):
    return X * power_of_ten(random), y


def scales_of_columns(random, X, y):
    return X * np.array([power_of_ten(random) for _ in range(X.shape[1])]), y


def scales_of_rows(random, X, y):
    return X * np.array([[power_of_ten(random)] for _ in range(len(X))]), y


def far_from_the_origin(random, X, y):
    return X + 10.0 ** one_of(random, 3, 8, 15), y


def one_huge_row(random, X, y):
    X = X.copy()
    X[int(random.integers(len(X)))] *= 1e100
    return X, y


def subnormals(random, X, y):
    return np.where(random.random(X.shape) < 0.3, SUBNORMAL * random.integers(-9, 10, X.shape), X), y


def neighbours(random, X, y):
    """The same row for all, but for a unit in the last place."""
    base = np.tile(X[0], (len(X), 1))
    return np.where(random.random(X.shape) < 0.5, np.nextafter(base, np.inf), base), y


CHANGES = {
    "zero rows": zero_rows,
    "constant columns": constant_columns,
    "contradictions": contradictions,
    "many equal rows": many_equal_rows,
    "another scale": another_scale,
    "scales of columns": scales_of_columns,
    "scales of rows": scales_of_rows,
    "far from the origin": far_from_the_origin,
    "one huge row": one_huge_row,
    "neighbours": neighbours,
    "subnormals": subnormals,
}


def in_a_form(random, X):
    """As an array of doubles, of floats or of integers; or sparse."""
    form = random.random()
    if form < 0.1:
        return np.clip(np.round(X), -(2.0**52), 2.0**52).astype(np.int64), ["integers"]
    if form < 0.25:
        X = np.clip(X, -LARGEST_FLOAT32, LARGEST_FLOAT32).astype(np.float32)
    return (sparse.csr_array(X), []) if 0.2 < form < 0.4 else (X, [])
