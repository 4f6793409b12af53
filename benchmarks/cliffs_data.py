"""The sets of the cliffs: real ones where a folder has them, made ones of the same shapes elsewhere.

text      sparse rows of words whose frequencies fall like 1 / rank, of length 1; two classes prefer other words
images    784 numbers in [0, 1], most of them 0: a few blurred spots whose places depend on the class
clouds    Gaussians around as many centres as there are classes, some labels flipped
"""

from pathlib import Path

import datasets
import numpy as np
import scipy.sparse as sp
from datasets import LabelledSet


class Sets:
    """By name: `load` gives two classes, -1 and +1, `classes` all that there are. The short form has fewer rows."""

    def __init__(self, folder: Path | None, short: bool) -> None:
        self.folder, self.short = folder, short

    def load(self, name: str, rows: int | None = None) -> LabelledSet:
        assert self.folder is not None
        X, y = datasets.load(name, self.folder)
        return some_rows(X, y, rows)

    def classes(self, name: str, rows: int | None = None) -> LabelledSet:
        """Dense sets are standardised here, too."""
        assert self.folder is not None
        with np.load(self.folder / f"{name}.npz") as arrays:
            X, y = datasets.standardise(arrays["X"]), arrays["y"]
        return some_rows(X, y, rows)


def some_rows(X, y, rows: int | None) -> LabelledSet:
    """A random choice of rows, the same every time."""
    if rows is None or rows >= len(y):
        return LabelledSet(X, y)
    chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:rows])
    return LabelledSet(X[chosen], y[chosen])


def text(rows: int, words: int, length: int, seed: int = 1) -> LabelledSet:
    random = np.random.default_rng(seed)
    y = np.where(random.random(rows) < 0.5, 1.0, -1.0)
    frequency = 1.0 / np.arange(1, words + 1)
    leaning = np.exp(0.7 * random.standard_normal(words))
    lengths = random.poisson(length, rows) + 1
    indices, ends = [], np.cumsum(np.append(0, lengths))
    for sign in (1.0, -1.0):
        drawn = random.choice(words, lengths[y == sign].sum(), p=normed(frequency * leaning**sign))
        indices.append(np.split(drawn, np.cumsum(lengths[y == sign])[:-1]))
    both = {1.0: iter(indices[0]), -1.0: iter(indices[1])}
    columns = np.concatenate([next(both[sign]) for sign in y])
    X = sp.csr_matrix((np.ones(len(columns)), columns, ends), shape=(rows, words))
    X.sum_duplicates()
    X = X.multiply(np.log1p(1.0 / frequency)[None, :]).tocsr()
    X = sp.csr_matrix(X.multiply(1.0 / np.sqrt(X.multiply(X).sum(axis=1))))
    X.sort_indices()
    return LabelledSet(X, y)


def normed(values: np.ndarray) -> np.ndarray:
    return values / values.sum()


def images(rows: int, seed: int = 2, side: int = 28, spots: int = 4) -> LabelledSet:
    """Two classes: each has its own places for spots, of which a picture shows some, shaken."""
    random = np.random.default_rng(seed)
    y = np.where(random.random(rows) < 0.5, 1.0, -1.0)
    places = random.uniform(5, side - 5, (2, 3 * spots, 2))
    grid = np.arange(side)
    X = np.zeros((rows, side, side), dtype=np.float32)
    for _ in range(spots):
        at = places[(y > 0).astype(int), random.integers(0, 3 * spots, rows)] + 1.5 * random.standard_normal((rows, 2))
        down, across = (np.exp(-0.5 * ((grid - at[:, [k]]) / 1.5) ** 2) for k in (0, 1))
        X += down[:, :, None] * across[:, None, :]
    X[X < 0.05] = 0.0
    return LabelledSet(X.reshape(rows, side * side), y)


def clouds(rows: int, columns: int, classes: int, spread: float, flipped: float = 0.02, seed: int = 3) -> LabelledSet:
    """Labels 0, 1, ...; with two classes -1 and +1. Each class has three centres."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, classes, rows)
    centres = random.standard_normal((classes, 3, columns))
    X = centres[labels, random.integers(0, 3, rows)] + spread * random.standard_normal((rows, columns))
    wrong = random.random(rows) < flipped
    labels[wrong] = random.integers(0, classes, int(wrong.sum()))
    return LabelledSet(X, labels * 2.0 - 1.0 if classes == 2 else labels)
