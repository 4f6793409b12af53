"""One sweep of the perceptrons: how close it comes to the speed of reading the rows at all.

    python benchmarks/sweeps.py [--rounds N] [--threads N]

The time of a sweep is the slope between two numbers of sweeps, so that validation and compilation are not
counted. A few flipped labels keep every learner sweeping. The peers are scikit-learn's Perceptron, with and
without shuffling, and the product X @ w, which reads the same numbers and does no more.

The bars: at least half the bandwidth of X @ w; at least 5 times the speed of scikit-learn's Perceptron on
dense rows and 2 times on sparse ones. scikit-learn shuffles unless told not to, and the bar is against that
default: in order, its sweeps run at more than a fifth of the bandwidth themselves. The ratio in the same order
stands beside.
"""

import argparse
import os
import platform
import time
import warnings
from collections.abc import Callable
from datetime import date
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import sklearn.linear_model
from threadpoolctl import threadpool_limits

FLIPPED = 0.01  # share of the labels
FEW, MANY = 3, 13  # sweeps
SHARE_OF_BANDWIDTH = 0.5
TIMES_PEER = {"dense": 5.0, "sparse": 2.0}

# Who sweeps: from X and y, so many times.


class Sweeper(NamedTuple):
    name: str
    order: str
    sweep: Callable[[Any, np.ndarray, int], None]


def multiply(X, y, sweeps: int) -> None:
    w = np.ones(X.shape[1])
    for _ in range(sweeps):
        X @ w


def learn_sklearn(X, y, sweeps: int, *, shuffle: bool) -> None:
    sklearn.linear_model.Perceptron(max_iter=sweeps, tol=None, shuffle=shuffle, random_state=0).fit(X, y)


def learn_maxmargin(X, y, sweeps: int, *, order: str, guess: float = 0.0) -> None:
    """The algorithm alone: an estimator stops by its updates, and then asks whether a plane exists at all."""
    from maxmargin.problems.choices import Order
    from maxmargin.problems.statement import Norm, Separation
    from maxmargin.solvers.mistakes.perceptron import perceptron

    problem = Separation(X, y, Norm.L2, fit_intercept=True)
    for _ in perceptron(problem, order=Order(order), guess=guess, max_sweeps=sweeps).iterates:
        pass


PRODUCT = Sweeper("X @ w", "cyclic", multiply)
PEERS = {
    "cyclic": Sweeper("sklearn Perceptron", "cyclic", partial(learn_sklearn, shuffle=False)),
    "shuffled": Sweeper("sklearn Perceptron", "shuffled", partial(learn_sklearn, shuffle=True)),
}
OURS = [
    Sweeper(name, order, partial(learn_maxmargin, order=order, guess=guess))
    for name, guess in {"Perceptron": 0.0, "MarginPerceptron .001": 0.001, "MarginPerceptron .01": 0.01}.items()
    for order in PEERS
]


# The rows.


def make_dense(n: int = 500_000, d: int = 54):
    """A normal cloud of 216 MB, more than a cache holds, cut by a plane."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d))
    return X, noisy_labels(X, random)


def make_sparse(n: int = 50_000, d: int = 60_000, words: int = 145):
    """Rows like those of text: 7 million nonzeros, frequent columns and rare ones, every row of length 1."""
    random = np.random.default_rng(0)
    columns = (d * random.random(n * words) ** 3).astype(np.int32)
    X = sp.csr_matrix((1 + random.random(n * words), columns, np.arange(n + 1) * words), shape=(n, d))
    X.sum_duplicates()
    X.data /= np.repeat(np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1])), np.diff(X.indptr))
    return X, noisy_labels(X, random)


def noisy_labels(X, random: np.random.Generator) -> np.ndarray:
    """The side of a random plane, with a few labels flipped."""
    scores = X @ random.standard_normal(X.shape[1])
    flipped = random.random(X.shape[0]) < FLIPPED
    return np.where((scores > np.median(scores)) ^ flipped, 1.0, -1.0)


# The clock.


def measure(sweepers: list[Sweeper], X, y, rounds: int) -> dict[Sweeper, float]:
    """Seconds per sweep. Every round runs all once, so that a busy minute of the machine falls on all alike."""
    best = {(sweeper, sweeps): np.inf for sweeper in sweepers for sweeps in (FEW, MANY)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nobody converges here, and some say so
        for sweeper in sweepers:
            sweeper.sweep(X, y, FEW)  # compiles
        for _ in range(rounds):
            for sweeper, sweeps in best:
                start = time.perf_counter()
                sweeper.sweep(X, y, sweeps)
                best[sweeper, sweeps] = min(best[sweeper, sweeps], time.perf_counter() - start)
    return {sweeper: (best[sweeper, MANY] - best[sweeper, FEW]) / (MANY - FEW) for sweeper in sweepers}


# The table.


def report(kind: str, X, seconds: dict[Sweeper, float]) -> None:
    size = X.data.nbytes + X.indices.nbytes if sp.issparse(X) else X.nbytes
    print("\n{:,} x {:,}, {}, {:.0f} MB\n".format(*X.shape, kind, size / 1e6))
    print("| sweep | order | ms | GB/s | M rows/s | of X @ w | x sklearn, same order | x default | bars |")
    print("|---|---|--:|--:|--:|--:|--:|--:|---|")
    for sweeper, its in seconds.items():
        share = seconds[PRODUCT] / its
        same_order, default = (seconds[PEERS[order]] / its for order in (sweeper.order, "shuffled"))
        bars = ""
        if sweeper in OURS:
            held = (share >= SHARE_OF_BANDWIDTH, default >= TIMES_PEER[kind])
            bars = ", ".join("holds" if holds else "FAILS" for holds in held)
        print(
            f"| {sweeper.name} | {sweeper.order} | {its * 1e3:.1f} | {size / its / 1e9:.1f} "
            f"| {X.shape[0] / its / 1e6:.1f} | {share:.2f} | {same_order:.1f} | {default:.1f} | {bars} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="the best of so many (default: 5)")
    parser.add_argument("--threads", type=int, default=1, help="of X @ w (default: 1, as a sweep has)")
    options = parser.parse_args()
    versions = f"numpy {np.__version__}, scikit-learn {sklearn.__version__}"
    print(f"{date.today()}, {os.cpu_count()} processors, {platform.machine()}, {versions}")
    sweepers = [PRODUCT, *PEERS.values(), *(OURS if find_spec("maxmargin") else ())]
    with threadpool_limits(options.threads):
        for kind, make in {"dense": make_dense, "sparse": make_sparse}.items():
            X, y = make()
            report(kind, X, measure(sweepers, X, y, options.rounds))


if __name__ == "__main__":
    main()
