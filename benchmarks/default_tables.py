"""Thirty tables that scikit-learn brings or makes: nothing is downloaded, and everybody has the same ones."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

Table = tuple[np.ndarray, np.ndarray]


def tables() -> Iterator[tuple[str, Table]]:
    """Each by its name; those of the real world as they are, and scaled."""
    for name, load in BROUGHT.items():
        X, y = load()
        yield name, (X, y)
        yield f"{name}, scaled", (StandardScaler().fit_transform(X), y)
    for name, make in MADE.items():
        yield name, make()


def brought(load: Callable[..., Table]) -> Table:
    return load(return_X_y=True)


def parity() -> Table:
    """Is the digit odd?"""
    X, y = datasets.load_digits(return_X_y=True)
    return X, y % 2


def above_median(table: Table) -> Table:
    """A number as two classes: is it above the median?"""
    X, y = table
    return X, (y > np.median(y)).astype(int)


def sizes(table: Table, seed: int) -> Table:
    """Features in units of their own, from a thousandth to a thousand."""
    X, y = table
    return X * 10.0 ** np.random.default_rng(seed).uniform(-3, 3, X.shape[1]), y


def moved(table: Table, distance: float) -> Table:
    """Far from the origin."""
    X, y = table
    return X + distance, y


BROUGHT: dict[str, Callable[[], Table]] = {
    "breast_cancer": partial(brought, datasets.load_breast_cancer),
    "iris": partial(brought, datasets.load_iris),
    "wine": partial(brought, datasets.load_wine),
    "digits": partial(brought, datasets.load_digits),
    "digits, odd or even": parity,
    "diabetes, above the median": lambda: above_median(datasets.load_diabetes(return_X_y=True)),
}
classification = partial(datasets.make_classification, random_state=0)
MADE: dict[str, Callable[[], Table]] = {
    "classification, small": partial(classification, 200, 20),
    "classification, large": partial(classification, 2000, 20),
    "classification, wide": partial(classification, 200, 500),
    "classification, 30 informative features": partial(classification, 2000, 100, n_informative=30),
    "classification, 20 % of the labels random": partial(classification, 1000, 20, flip_y=0.2),
    "classification, 5 % in one class": partial(classification, 1000, 20, weights=[0.95]),
    "classification, 5 classes": partial(classification, 1000, 20, n_informative=8, n_classes=5),
    "classification, features in many units": lambda: sizes(classification(1000, 20), 1),
    "classification, moved by 100": lambda: moved(classification(1000, 20), 100.0),
    "blobs, 2 classes": partial(datasets.make_blobs, 500, centers=2, random_state=0),
    "blobs, 6 classes": partial(datasets.make_blobs, 600, centers=6, n_features=5, random_state=0),
    "moons": partial(datasets.make_moons, 500, noise=0.2, random_state=0),
    "circles": partial(datasets.make_circles, 500, noise=0.1, factor=0.5, random_state=0),
    "gaussian quantiles": partial(datasets.make_gaussian_quantiles, n_samples=500, n_features=5, random_state=0),
    "Hastie 10.2": partial(datasets.make_hastie_10_2, 2000, random_state=0),
    "Friedman 1, above the median": lambda: above_median(datasets.make_friedman1(1000, random_state=0)),
    "Friedman 2, above the median": lambda: above_median(datasets.make_friedman2(1000, random_state=0)),
    "Friedman 3, above the median": lambda: above_median(datasets.make_friedman3(1000, random_state=0)),
}
