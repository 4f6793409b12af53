"""Small tables with nasty numbers: is the verdict of `separability` ever another than that of exact enumeration?

    PYTHONPATH=src:tests python tests/solve/hunt_false_separations.py [TABLES] [SEED]        2000 and 0 by default

The truth is found in fractions, with no code of the library, by trying the smallest dependent subsets of the rows
(`oracles.truth`). What `separability` says is held against it, and its certificate is verified in fractions. UNDECIDED
is an honest answer, and is counted; so is NOT_SEPARABLE where a plane that separates weakly was overlooked.
"""

import sys
import warnings
from collections import Counter

import numpy as np
from certificates.hunt_false_verdicts import rows
from oracles import NOT, SEPARABLE, WEAKLY, truth

from maxmargin import separability

TOLD = {"OPTIMAL": SEPARABLE, "SEPARABLE": SEPARABLE, "WEAKLY_SEPARABLE": WEAKLY, "NOT_SEPARABLE": NOT}


def main(tables=2000, seed=0):
    random, counts, wrong = np.random.default_rng(seed), Counter(), 0
    for _ in range(tables):
        X, y = rows(random, "separability")
        bias = bool(random.random() < 0.7)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            certificate = separability(X, y, fit_intercept=bias)
        told, true = TOLD.get(certificate.verdict.name), truth(X, y, fit_intercept=bias)
        overlooked = (told, true) == (NOT, WEAKLY)
        counts["not, with a weak plane overlooked" if overlooked else told or "undecided"] += 1
        if (told not in (None, true) and not overlooked) or not certificate.verify(X, y, exact=True):
            wrong += 1
            print(f"told {told}, true {true}: {X.tolist()} {y.tolist()} fit_intercept={bias}")
    found = ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(counts.items()))
    print(f"{tables:,} tables ({found}): {wrong:,} false verdicts or witnesses")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
