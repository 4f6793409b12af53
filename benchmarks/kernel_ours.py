"""Our own runs in the kernel benchmark: one fit for each tolerance, all in one process.

A ladder of tolerances gives the time that we need for any gap. A fit ends by itself when its time is over, and what it
has then is judged. The first tolerance that is not proven ends the ladder: the next one would only take longer.
"""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import kernel_sets
import numpy as np
from isolation import measure_each
from kernel_judge import Verdict, judge
from memory_peak import peak, start_watching_the_peak

TOLS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
JUDGED = 1e-3  # the tolerance whose answer is judged like everybody's; at the others the certificate's bounds count
PATIENCE = 2.0  # a fit that takes so many times its limit is killed


class Rung(NamedTuple):
    """One fit of ours; without seconds, why there are none.

    primal, dual             what the judge says, as of everybody, at one tolerance; elsewhere upper and lower
    upper, lower             the bounds of the optimum that the certificate proves
    growth                   how much the process grew during the fit, in bytes
    """

    tol: float
    seconds: float | None
    primal: float = np.inf
    dual: float = -np.inf
    upper: float = np.inf
    lower: float = -np.inf
    n_support: int = 0
    status: str = ""
    growth: int = 0
    failure: str = ""

    @property
    def gap(self) -> float:
        """As judged."""
        return Verdict(self.primal, self.dual).gap

    @property
    def proven(self) -> float:
        """As certified."""
        return Verdict(self.upper, self.lower).gap


def climb(set_name: str, folder: Path | None, C: float, time_limit: float, cache_size: float) -> list[Rung]:
    """The rungs, the loosest first; the first that fails is the last."""
    measured = measure_each(prepare, set_name, folder, C, time_limit, cache_size, time_limit=PATIENCE * time_limit)
    return [
        Rung(tol, m.seconds, **m.value) if m.seconds is not None else Rung(tol, None, failure=m.failure)
        for tol, m in zip(TOLS, measured, strict=False)
    ]


def prepare(set_name: str, folder: Path | None, C: float, time_limit: float, cache_size: float):
    import warnings

    from maxmargin import KernelSVM

    warnings.simplefilter("ignore")  # whoever has not converged is judged by the gap
    X, y = kernel_sets.load(set_name, folder)
    gamma = kernel_sets.scale_gamma(X)
    svm = partial(KernelSVM, C=C, kernel="rbf", gamma=gamma, cache_size=cache_size, max_time=time_limit)
    svm(tol=TOLS[-1]).fit(*kernel_sets.a_few_rows(X, y))
    for tol in TOLS:
        told: list[dict] = []
        yield partial(svm(tol=tol).fit, X, y), partial(describe, X, y, tol == JUDGED, start_watching_the_peak(), told)
        if Rung(tol, None, **told[0]).proven > tol:
            return


def describe(X, y, is_judged: bool, before: int, told: list[dict], fitted) -> dict:
    """The fields of a rung; they are left in `told` as well."""
    growth, proven = peak() - before, fitted.certificate_
    verdict = Verdict(proven.primal, proven.dual)
    if is_judged:
        verdict = judge(X, y, fitted.gamma, fitted.C, fitted.support_, np.abs(fitted.dual_coef_[0]))
    told.append(
        {
            "primal": verdict.primal,
            "dual": verdict.dual,
            "upper": float(proven.primal),
            "lower": float(proven.dual),
            "n_support": len(fitted.support_),
            "status": str(fitted.status_),
            "growth": growth,
        }
    )
    return told[0]
