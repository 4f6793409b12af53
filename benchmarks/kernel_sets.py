"""The sets of the kernel benchmark: those of datasets.py, parts of mnist, and a made one that no plane can cut.

All of them are raced with the kernel k(x, x') = exp(-gamma |x - x'|^2), gamma = 1 / (columns * variance of X), which
scikit-learn calls "scale". It is computed here, once, so that everybody gets the same number.
"""

from pathlib import Path
from typing import NamedTuple

import datasets
import numpy as np
import scipy.sparse as sp
from datasets import LabelledSet


class NoisyCorners(NamedTuple):
    """The corners of a square, opposite ones alike: y is the sign of x_0 x_1, blurred, and some labels are flipped.

    The first two columns are standard normal. The others are too, times `faint`, and mean nothing.
    """

    n_rows: int
    n_columns: int
    faint: float
    blur: float
    flipped: float
    seed: int

    def make(self) -> LabelledSet:
        random = np.random.default_rng(self.seed)
        X = random.standard_normal((self.n_rows, self.n_columns))
        X[:, 2:] *= self.faint
        product = X[:, 0] * X[:, 1] + self.blur * random.standard_normal(self.n_rows)
        is_flipped = random.random(self.n_rows) < self.flipped
        return LabelledSet(X, np.where((product > 0) ^ is_flipped, 1.0, -1.0))


LARGE_MADE = "corners_100k_x_50"
MADE = {LARGE_MADE: NoisyCorners(100_000, 50, faint=0.3, blur=0.1, flipped=0.05, seed=9)}
PARTS = {"mnist_20k": ("mnist", 20_000), "mnist_60k": ("mnist", 60_000)}
REAL = (  # the smallest first
    *("svmguide1", "spam_kernlab", "usps", "magic04", "letter_scale", "covtype_20k", "a9a", "w8a", "ijcnn1"),
    *("cod-rna", *PARTS),
)
TINY = ("sonar", "heart_scale", "ionosphere", "skl_breast_cancer", "fourclass_scale")  # run only where they are named


def load(name: str, folder: Path | None) -> LabelledSet:
    """The set of that name. A part is a random choice of rows, the same every time."""
    if name in MADE:
        return MADE[name].make()
    whole, n_rows = PARTS.get(name, (name, None))
    X, y = datasets.load(whole, folder)
    if n_rows is None:
        return LabelledSet(X, y)
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:n_rows])
    return LabelledSet(X[rows], y[rows])


def a_few_rows(X, y) -> LabelledSet:
    """Rows of both classes, to wake a solver up with."""
    rows = np.concatenate([np.flatnonzero(y > 0)[:50], np.flatnonzero(y < 0)[:50]])
    return LabelledSet(X[rows], y[rows])


def scale_gamma(X) -> float:
    if sp.issparse(X):
        n_numbers = X.shape[0] * X.shape[1]
        squares = X.multiply(X).sum(dtype=np.float64) / n_numbers
        variance = squares - (X.sum(dtype=np.float64) / n_numbers) ** 2
    else:
        variance = X.var(dtype=np.float64)
    return float(1.0 / (X.shape[1] * variance))
