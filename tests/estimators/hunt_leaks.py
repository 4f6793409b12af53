"""Thousands of fits in one process: does its memory grow?

    PYTHONPATH=src:tests python tests/estimators/hunt_leaks.py [FITS]        4000 by default

Every estimator in turn, fitted, verified, pickled and forgotten. The memory of the process is read after the first
quarter of the fits, when everything is loaded and compiled, and at the end. It may grow by `MOST_GROWTH`.
"""

import gc
import pickle
import sys
import warnings

from estimators.hunt_interrupts import ESTIMATORS, table
from playground.test_fuzz import resident_bytes
from sklearn.base import clone

MOST_GROWTH = 40 * 2**20  # bytes: what allocators keep for later


def main(fits=4000):
    warnings.simplefilter("ignore")
    X, y = table(n=300)
    before = 0
    for number in range(fits):
        if number == fits // 4:
            gc.collect()
            before = resident_bytes()
        model = clone(ESTIMATORS[number % len(ESTIMATORS)]).fit(X, y)
        assert pickle.loads(pickle.dumps(model)).certificate_.verify(X, y)
    gc.collect()
    growth = resident_bytes() - before
    grown = growth > MOST_GROWTH
    print(f"{fits:,} fits: memory grew by {growth / 2**20:+.1f} MiB after the first quarter of them")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
