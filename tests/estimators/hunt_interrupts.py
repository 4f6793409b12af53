"""Ctrl-C at random moments of fits: is there always an answer, with a certificate that holds, or none at all?

    PYTHONPATH=src:tests python tests/estimators/hunt_interrupts.py [SIGNALS] [SEED]        500 and 0 by default

A signal is sent to this process at a random moment of a fit, from its first line to beyond its end. Then the fit has
ended by itself, or raised KeyboardInterrupt. Whatever attributes it left are those of one plane: the certificate is
verified against the data, and the plane predicts. Nothing else may be raised, and the next fit, undisturbed, has the
bits of the first.
"""

import os
import signal
import sys
import threading
import time
import warnings

import numpy as np
from sklearn.base import clone

import maxmargin

ESTIMATORS = (
    maxmargin.LinearSVM(tol=1e-8),
    maxmargin.LinearSVM(solver="coordinate_descent", tol=1e-7),
    maxmargin.LinearSVM(loss="squared_hinge", tol=1e-8),
    maxmargin.KernelSVM(tol=1e-6),
    maxmargin.StochasticSVM(tol=1e-3, max_iter=30),
    maxmargin.HardMarginSVM(on_inseparable="return"),
    maxmargin.Perceptron(max_updates=20_000),
    maxmargin.KernelPerceptron(max_iter=20),
)


def table(n=1200, d=6):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d))
    return X, np.where(X @ random.normal(size=d) + 0.5 * random.normal(size=n) > 0, 1, -1)


def bits(model, X):
    return model.decision_function(X).tobytes() + repr(model.certificate_.to_json()).encode()


def interrupted(estimator, X, y, after):
    """The model, and whether KeyboardInterrupt was raised; a signal that comes too late hits nobody."""
    model, raised = clone(estimator), False
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        model.fit(X, y)
        timer.cancel()
        timer.join()
    except KeyboardInterrupt:
        raised = True
    return model, raised


def main(signals=500, seed=0):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warnings.simplefilter("ignore")
    random, (X, y) = np.random.default_rng(seed), table()
    raised = kept = wrong = 0
    calm = {}
    for estimator in ESTIMATORS:
        clone(estimator).fit(X, y)  # compiled from here on
        begun = time.perf_counter()
        model = clone(estimator).fit(X, y)
        calm[estimator] = time.perf_counter() - begun, bits(model, X)
    for number in range(signals):
        estimator = ESTIMATORS[number % len(ESTIMATORS)]
        seconds, wanted = calm[estimator]
        model, stopped = interrupted(estimator, X, y, random.uniform(0.0, 1.1 * seconds))
        raised += stopped
        if hasattr(model, "certificate_"):
            kept += stopped
            if not model.certificate_.verify(X, y) or not np.all(np.isfinite(model.decision_function(X))):
                wrong += 1
                print(f"signal {number}, {estimator}: {model.certificate_.verify(X, y)}")
        if number % 10 == 0 and bits(clone(estimator).fit(X, y), X) != wanted:
            wrong += 1
            print(f"signal {number}, {estimator}: the next fit has other bits")
    print(
        f"{signals:,} signals, {raised:,} of them stopped a fit, {kept:,} of these left a plane: {wrong:,} planes "
        "without a proof that holds, or fits that differ afterwards"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
