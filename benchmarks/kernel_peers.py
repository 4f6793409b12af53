"""The peers of the kernel benchmark, each in the form that suits it best.

    SVC, SVC 2000           scikit-learn, with 200 MB (its default) and 2000 MB of cache; LIBSVM inside
    libsvm                  the official LIBSVM, with 2000 MB
    intelex, intelex f32    scikit-learn-intelex, in float64 and in float32
    thundersvm              ThunderSVM on the processor (thundersvm-cpu; the package thundersvm is for CUDA)

Their C and gamma are ours, and their tolerances are their defaults. The intelex and thundersvm rows use all the threads
that there are for the race, the others know only one.

A peer gets its table in the form that it would otherwise convert to inside the call: float64 in C order or CSR. intelex
is faster on dense tables where a quarter of the numbers or more are not zero, and thundersvm crashes on large CSR
tables: they get dense ones then. What is timed is `fit`; for the official LIBSVM it is `svm_train`, without the
conversion to its own nodes.

A package is imported when its peer first runs, so a missing one costs only its own column.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import kernel_sets
import numpy as np
import scipy.sparse as sp
from kernel_judge import judge

LARGE_CACHE = 2000  # MB
DENSE_ENOUGH = 0.25  # share of the numbers that are not zero


class Support(NamedTuple):
    """The rows that carry the plane, and their dual variables."""

    rows: np.ndarray
    weights: np.ndarray


class Peer(NamedTuple):
    """`convert(X, y)` is not timed, `fit(converted, C, gamma)` is; `support(fitted)` reads the result.

    A peer that `needs_own_python` runs in the interpreter of --peer-python, where one is given.
    """

    convert: Callable[[Any, np.ndarray], Any]
    fit: Callable[[Any, float, float], Any]
    support: Callable[[Any], Support]
    threads: int = 1
    needs_own_python: bool = False


def as_float64(X, y):
    return X.astype(np.float64, copy=False), y


def support_of(model) -> Support:
    """A coefficient has the sign of its row or, if the peer calls the other class positive, the opposite one."""
    coef = model.dual_coef_
    return Support(model.support_, np.abs(coef.toarray() if sp.issparse(coef) else coef).ravel())


# scikit-learn.


def fit_svc(data, C: float, gamma: float, cache_size: float):
    from sklearn.svm import SVC

    return SVC(C=C, gamma=gamma, cache_size=cache_size).fit(*data)


# The official LIBSVM.


def as_libsvm_nodes(X, y):
    from libsvm.svmutil import svm_problem

    return svm_problem(y, sp.csr_matrix(X, dtype=np.float64))


def train_libsvm(nodes, C: float, gamma: float):
    from libsvm.svmutil import svm_parameter, svm_train

    return svm_train(nodes, svm_parameter(f"-s 0 -t 2 -c {C!r} -g {gamma!r} -m {LARGE_CACHE} -q"))


def libsvm_support(model) -> Support:
    rows = np.ctypeslib.as_array(model.sv_indices, (model.l,)) - 1
    return Support(rows, np.abs(np.ctypeslib.as_array(model.sv_coef[0], (model.l,))))


# scikit-learn-intelex.


def as_intelex_table(X, y, dtype):
    if sp.issparse(X) and X.nnz >= DENSE_ENOUGH * X.shape[0] * X.shape[1]:
        X = X.toarray()
    return X.astype(dtype, copy=False), y


def fit_intelex(data, C: float, gamma: float, threads: int):
    import daal4py
    from sklearnex.svm import SVC

    daal4py.daalinit(threads)
    model = SVC(C=C, gamma=gamma, cache_size=LARGE_CACHE).fit(*data)
    if not hasattr(model, "_onedal_estimator"):
        raise RuntimeError("it left the work to scikit-learn")
    return model


# ThunderSVM.


def as_dense_float64(X, y):
    return np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64), y


def fit_thundersvm(data, C: float, gamma: float, threads: int):
    from thundersvm import SVC

    return SVC(kernel="rbf", C=C, gamma=gamma, n_jobs=threads).fit(*data)


def peers_with(threads: int) -> dict[str, Peer]:
    """The peers, by name, with at most so many threads."""
    shared = {"threads": threads, "needs_own_python": True}
    intelex = partial(fit_intelex, threads=threads)
    return {
        "SVC": Peer(as_float64, partial(fit_svc, cache_size=200), support_of),
        "SVC 2000": Peer(as_float64, partial(fit_svc, cache_size=LARGE_CACHE), support_of),
        "libsvm": Peer(as_libsvm_nodes, train_libsvm, libsvm_support),
        "intelex": Peer(partial(as_intelex_table, dtype=np.float64), intelex, support_of, **shared),
        "intelex f32": Peer(partial(as_intelex_table, dtype=np.float32), intelex, support_of, **shared),
        "thundersvm": Peer(as_dense_float64, partial(fit_thundersvm, threads=threads), support_of, **shared),
    }


def prepare(costs: list[float], peer_name: str, threads: int, set_name: str, folder: Path | None):
    """For each C the call to time and its description, what the judge says. A few rows wake the peer up."""
    import warnings

    warnings.simplefilter("ignore")  # whoever has not converged is judged by the gap
    peer = peers_with(threads)[peer_name]
    X, y = kernel_sets.load(set_name, folder)
    gamma = kernel_sets.scale_gamma(X)
    peer.fit(peer.convert(*kernel_sets.a_few_rows(X, y)), costs[0], gamma)
    data = peer.convert(X, y)
    for C in costs:
        yield partial(peer.fit, data, C, gamma), partial(describe, X, y, gamma, C, peer.support)


def describe(X, y, gamma: float, C: float, support: Callable[[Any], Support], fitted) -> dict:
    rows, weights = support(fitted)
    verdict = judge(X, y, gamma, C, rows, weights)
    return {"primal": verdict.primal, "dual": verdict.dual, "n_support": len(rows)}
