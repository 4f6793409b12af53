"""Our own runs in the linear benchmark: one fit for each tolerance, all in one process.

A ladder of tolerances gives the time that we need for any excess: the shortest of the runs that end at it or
below. The last rung is tight, and gives the optimum that everybody is measured from.
"""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import datasets
import numpy as np
import scipy.sparse as sp
from isolation import measure_each
from linear_judge import objective
from linear_proof import proof_share
from memory_peak import peak, start_watching_the_peak

REFERENCE_TOL = 1e-8
TOLS = (0.5, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, REFERENCE_TOL)


class Rung(NamedTuple):
    """One fit of ours; without seconds, why there are none.

    primal    P with the best b for our w, as everybody is judged
    dual      the lower bound that the certificate proves
    gap       (P - dual) / P with our own w and b, both recomputed
    growth    how much the process grew during the fit, in bytes
    proof     the share of the time that went into judging and certifying (linear_proof.py)
    """

    tol: float
    seconds: float | None
    primal: float = np.inf
    dual: float = -np.inf
    gap: float = np.inf
    solver: str = ""
    status: str = ""
    growth: int = 0
    proof: float = 0.0
    failure: str = ""


def climb(set_name: str, folder: Path | None, C: float, loss: str, time_limit: float) -> list[Rung]:
    """The rungs, the loosest first; the first that fails is the last."""
    measured = measure_each(prepare, set_name, folder, C, loss, time_limit=time_limit)
    return [
        Rung(tol, m.seconds, **m.value) if m.seconds is not None else Rung(tol, None, failure=m.failure)
        for tol, m in zip(TOLS, measured, strict=False)
    ]


def prepare(set_name: str, folder: Path | None, C: float, loss: str):
    import warnings

    from maxmargin import LinearSVM

    warnings.simplefilter("ignore")  # whoever has not converged is judged by the gap
    X, y = datasets.load(set_name, folder)
    LinearSVM(C=C, loss=loss, tol=TOLS[0]).fit(X, y)  # compiles
    for tol in TOLS:
        fit = partial(LinearSVM(C=C, loss=loss, tol=tol).fit, X, y)
        yield fit, partial(describe, X, y, fit, start_watching_the_peak())


def describe(X, y, fit, before: int, fitted) -> dict:
    growth = peak() - before
    w, b, dual = np.ravel(fitted.coef_), float(np.ravel(fitted.intercept_)[0]), float(fitted.certificate_.dual)
    own = objective(X, y, fitted.C, fitted.loss, w, b)
    return {
        "primal": objective(X, y, fitted.C, fitted.loss, w),
        "dual": dual,
        "gap": (own - dual) / own,
        "solver": str(fitted.solver_),
        "status": str(fitted.status_),
        "growth": growth,
        "proof": proof_share(fit),
    }


def data_bytes(X) -> int:
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes
