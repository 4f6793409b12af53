"""The peers of the linear benchmark, each in the form that suits it best, and how many threads it uses.

All of them add the bias as one more column and penalise it, except SVC, SGDClassifier, and LIBLINEAR with -R,
which only its primal solver of the squared hinge knows. Their C is ours, and SGDClassifier's alpha is 1 / (C n):
none of them puts a factor before a loss, not even before the squared one. Snap ML and SVC know the hinge alone.

A peer gets its table in the form that it would otherwise convert to inside the call: float64 in C order or CSR
for LIBLINEAR's family and SVC, float32 for Snap ML, the set's own type for SGDClassifier. What is timed is `fit`;
for the official LIBLINEAR it is `train`, without the conversion to its own nodes.

A package is imported when its peer first runs, so a missing one costs only its own column.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import datasets
import numpy as np
import scipy.sparse as sp
from linear_judge import objective

MOST_ROWS_FOR_SVC = 20_000


class Peer(NamedTuple):
    """`convert(X, y)` is not timed, `fit(converted, C)` is; `normal(fitted)` reads w off the result."""

    convert: Callable[[Any, np.ndarray], Any]
    fit: Callable[[Any, float], Any]
    normal: Callable[[Any], np.ndarray]
    threads: int = 1
    most_rows: float = np.inf


def as_float64(X, y):
    return X.astype(np.float64, copy=False), y


def as_float32(X, y):
    return X.astype(np.float32, copy=False), y


def as_it_is(X, y):
    return X, y


def with_step(X, y):
    """The table as it is, and half the inverse of a row's mean square: a first step that a squared loss can bear."""
    squares = np.square(X.data if sp.issparse(X) else X).sum(dtype=np.float64)
    return X, y, 0.5 * len(y) / squares


def coefficients(model) -> np.ndarray:
    coef = model.coef_
    return np.asarray(coef.todense() if sp.issparse(coef) else coef, dtype=np.float64).ravel()


# scikit-learn.


def fit_linear_svc(data, C: float, **settings):
    from sklearn.svm import LinearSVC

    return LinearSVC(C=C, random_state=0, **settings).fit(*data)


def fit_svc(data, C: float):
    from sklearn.svm import SVC

    return SVC(kernel="linear", C=C, cache_size=2000).fit(*data)


def fit_sgd(data, C: float):
    from sklearn.linear_model import SGDClassifier

    X, y = data
    return SGDClassifier(loss="hinge", alpha=1.0 / (C * X.shape[0]), random_state=0).fit(X, y)


def fit_squared_sgd(data, C: float):
    """With its default steps it diverges on many sets."""
    from sklearn.linear_model import SGDClassifier

    X, y, step = data
    steps = {"learning_rate": "adaptive", "eta0": step}
    return SGDClassifier(loss="squared_hinge", alpha=1.0 / (C * X.shape[0]), random_state=0, **steps).fit(X, y)


# The official LIBLINEAR.


def as_liblinear_nodes(X, y):
    from liblinear.liblinearutil import problem

    return problem(y, sp.csr_matrix(X, dtype=np.float64))


def train_liblinear(nodes, C: float, settings: str):
    from liblinear.liblinearutil import parameter, train

    return train(nodes, parameter(f"{settings} -B 1 -c {C!r} -q"))


def liblinear_normal(model) -> np.ndarray:
    w = np.ctypeslib.as_array(model.w, (model.nr_feature,)).copy()
    return w if model.get_labels()[0] > 0 else -w


# Snap ML: min regularizer / 2 |w|^2 + sum of losses, always through the dual.


def fit_snapml(data, C: float, **settings):
    from snapml import SupportVectorMachine

    X, y = data
    return SupportVectorMachine(regularizer=1.0 / C, fit_intercept=True, random_state=0, **settings).fit(X, y)


TIGHT = {"tol": 1e-6, "max_iter": 20_000}


def linear_svc(**settings) -> Peer:
    return Peer(as_float64, partial(fit_linear_svc, **settings), coefficients)


def liblinear(settings: str) -> Peer:
    return Peer(as_liblinear_nodes, partial(train_liblinear, settings=settings), liblinear_normal)


def snapml(n_jobs: int, **settings) -> Peer:
    return Peer(as_float32, partial(fit_snapml, n_jobs=n_jobs, **settings), coefficients, threads=n_jobs)


PEERS = {
    "hinge": {
        "LinearSVC": linear_svc(loss="hinge"),
        "LinearSVC tight": linear_svc(loss="hinge", **TIGHT),
        "liblinear": liblinear("-s 3"),
        "snapml": snapml(1),
        "snapml x2": snapml(2),
        "snapml tight": snapml(1, **TIGHT),
        "SGDClassifier": Peer(as_it_is, fit_sgd, coefficients),
        "SVC": Peer(as_float64, fit_svc, coefficients, most_rows=MOST_ROWS_FOR_SVC),
    },
    "squared_hinge": {
        "LinearSVC dual": linear_svc(loss="squared_hinge", dual=True),
        "LinearSVC primal": linear_svc(loss="squared_hinge", dual=False),
        "LinearSVC tight": linear_svc(loss="squared_hinge", dual=False, **TIGHT),
        "liblinear -s 1": liblinear("-s 1"),
        "liblinear -s 2": liblinear("-s 2"),
        "liblinear tight": liblinear("-s 2 -R -e 1e-6"),
        "SGDClassifier": Peer(with_step, fit_squared_sgd, coefficients),
    },
}


def prepare(costs: list[float], loss: str, peer_name: str, set_name: str, folder: Path | None):
    """For each C the call to time and its description, the objective. A tiny set wakes the peer up."""
    import warnings

    warnings.simplefilter("ignore")  # whoever has not converged is judged by the objective
    peer = PEERS[loss][peer_name]
    peer.fit(peer.convert(*datasets.SeparableGaussians(20, 3, gap=1.0, seed=0).make()), costs[0])
    X, y = datasets.load(set_name, folder)
    data = peer.convert(X, y)
    for C in costs:
        yield partial(peer.fit, data, C), partial(judged, X, y, C, loss, peer.normal)


def judged(X, y, C: float, loss: str, normal: Callable[[Any], np.ndarray], fitted) -> float:
    return objective(X, y, C, loss, normal(fitted))
