"""The sets on which the choice of a linear solver is measured: real ones from a folder, and made ones of odd shapes.

A set belongs to the tuning or to the testing half by a digest of its name: nobody chose. Rules and constants are looked
for on the tuning half alone.
"""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import datasets
import numpy as np
import scipy.sparse as sp
from cliffs_data import text
from datasets import LabelledSet

MOST_COLUMNS = 3000  # beyond, there is nothing to choose: coordinate descent is alone


def half_of(name: str) -> str:
    return "tuning" if hashlib.sha256(name.encode()).digest()[0] % 2 else "testing"


def sets(folder: Path | None, seed: int) -> Iterator[tuple[str, Callable[[], LabelledSet]]]:
    """Names, and how each is loaded or made."""
    names = sorted({path.stem.removesuffix("_X") for path in folder.glob("*.npz")}) if folder else []
    yield from ((name, lambda name=name: datasets.load(name, folder)) for name in names)
    yield from ((name, lambda make=make: make(np.random.default_rng(seed))) for name, make in MADE.items())


def signs(scores: np.ndarray, random: np.random.Generator, noise: float, quantile: float = 0.5) -> np.ndarray:
    """By a threshold of the scores, blurred by noise of so many standard deviations."""
    blurred = scores + noise * scores.std() * random.standard_normal(len(scores))
    return np.where(blurred > np.quantile(blurred, quantile), 1.0, -1.0)


def normal(random, rows, columns, noise, quantile=0.5):
    X = random.standard_normal((rows, columns))
    return LabelledSet(X, signs(X @ random.standard_normal(columns), random, noise, quantile))


def heavy(random, rows, columns, freedom, quantile=0.5):
    X = datasets.standardise(random.standard_t(freedom, (rows, columns)))
    return LabelledSet(X, signs(np.tanh(X) @ random.standard_normal(columns), random, 0.3, quantile))


def correlated(random, rows, columns, rank):
    """A few hidden numbers in all columns, and a little of each column's own."""
    X = random.standard_normal((rows, rank)) @ random.standard_normal((rank, columns))
    X = datasets.standardise(X + 0.1 * random.standard_normal(X.shape))
    return LabelledSet(X, signs(X @ random.standard_normal(columns), random, 0.3))


def copied(random, rows, distinct, columns):
    X, y = normal(random, distinct, columns, 0.5)
    taken = random.integers(0, distinct, rows)
    return LabelledSet(X[taken], np.where(random.random(rows) < 0.05, -y[taken], y[taken]))


def one_hot(random, rows, features, words):
    codes = np.minimum(random.geometric(0.3, (rows, features)) - 1, words - 1) + words * np.arange(features)
    ends = features * np.arange(rows + 1)
    X = sp.csr_matrix((np.ones(codes.size), codes.ravel(), ends), shape=(rows, features * words))
    return LabelledSet(X, signs(X @ random.standard_normal(X.shape[1]), random, 0.5, 0.75))


def mixed_scales(random, rows, columns):
    X, y = normal(random, rows, columns, 0.3)
    return LabelledSet(X * np.logspace(-2, 2, columns), y)


def apart(random, rows, columns, gap, quantile=0.5):
    X, y = normal(random, rows, columns, 0.0, quantile)
    return LabelledSet(X + gap * y[:, None] * np.ones(columns) / np.sqrt(columns), y)


def rounded(random, rows, columns):
    X, y = normal(random, rows, columns, 0.5)
    return LabelledSet(np.round(X), y)


MADE = {
    "made_noise_2k_x_10": lambda random: normal(random, 2_000, 10, 0.3),
    "made_noise_20k_x_30": lambda random: normal(random, 20_000, 30, 0.3),
    "made_noise_100k_x_10": lambda random: normal(random, 100_000, 10, 0.3),
    "made_noise_1k_x_300": lambda random: normal(random, 1_000, 300, 0.5),
    "made_only_noise_5k_x_40": lambda random: normal(random, 5_000, 40, 10.0),
    "made_rare_1pc_50k_x_20": lambda random: normal(random, 50_000, 20, 0.3, 0.99),
    "made_rare_1pm_100k_x_20": lambda random: normal(random, 100_000, 20, 0.3, 0.999),
    "made_rare_3pc_10k_x_60": lambda random: normal(random, 10_000, 60, 0.1, 0.97),
    "made_heavy_20k_x_20": lambda random: heavy(random, 20_000, 20, 2.1),
    "made_heavier_10k_x_50": lambda random: heavy(random, 10_000, 50, 1.5),
    "made_correlated_20k_x_50": lambda random: correlated(random, 20_000, 50, 5),
    "made_correlated_3k_x_200": lambda random: correlated(random, 3_000, 200, 20),
    "made_copies_100k_of_500": lambda random: copied(random, 100_000, 500, 20),
    "made_copies_50k_of_9k": lambda random: copied(random, 50_000, 9_000, 30),
    "made_one_hot_30k_x_200": lambda random: one_hot(random, 30_000, 10, 20),
    "made_one_hot_5k_x_1000": lambda random: one_hot(random, 5_000, 20, 50),
    "made_scales_10k_x_20": lambda random: mixed_scales(random, 10_000, 20),
    "made_apart_20k_x_20": lambda random: apart(random, 20_000, 20, 0.1),
    "made_nearly_apart_5k_x_100": lambda random: normal(random, 5_000, 100, 0.02),
    "made_rounded_40k_x_8": lambda random: rounded(random, 40_000, 8),
    "made_rare_2pc_30k_x_10": lambda random: normal(random, 30_000, 10, 0.5, 0.98),
    "made_rare_5pm_60k_x_15": lambda random: normal(random, 60_000, 15, 0.3, 0.995),
    "made_rare_1pc_8k_x_40": lambda random: normal(random, 8_000, 40, 0.1, 0.99),
    "made_rare_3pm_20k_x_30": lambda random: normal(random, 20_000, 30, 0.5, 0.997),
    "made_rare_apart_40k_x_12": lambda random: apart(random, 40_000, 12, 0.05, 0.99),
    "made_rare_heavy_15k_x_25": lambda random: heavy(random, 15_000, 25, 2.5, 0.98),
    "made_apart_8k_x_40": lambda random: apart(random, 8_000, 40, 0.2),
    "made_apart_50k_x_10": lambda random: apart(random, 50_000, 10, 0.05),
    "made_nearly_apart_20k_x_30": lambda random: normal(random, 20_000, 30, 0.02),
    "made_text_3k_x_2k": lambda _: text(3_000, 2_000, 20),
    "made_text_20k_x_3k": lambda _: text(20_000, 3_000, 10),
}
