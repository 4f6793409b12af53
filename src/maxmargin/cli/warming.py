"""What `doctor --warm` fits: the cache then holds the loops of all estimators, dense and sparse, in either precision.

The tables are larger than those that are solved uncompiled, easy and hard, so that a solver that hands over does so.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sparse

import maxmargin
from maxmargin._loops import MOST_ROWS

ROWS, COLUMNS = 2 * MOST_ROWS, 12
FORMS: tuple[Callable[[Any], Any], ...] = (np.asarray, sparse.csr_array)
MODELS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("LinearSVM", {}),
    ("LinearSVM", {"C": 1e-3, "solver": "coordinate_descent"}),
    ("LinearSVM", {"loss": "squared_hinge"}),
    ("HardMarginSVM", {"on_inseparable": "return"}),
    ("HardMarginSVM", {"solver": "coordinate_descent", "on_inseparable": "return", "max_time": 1.0}),
    ("KernelSVM", {}),
    ("StochasticSVM", {}),
    ("Perceptron", {}),
    ("MarginPerceptron", {}),
    ("Winnow", {}),
    ("KernelPerceptron", {}),
)


def fits() -> Iterator[tuple[str, Callable[[], None]]]:
    """What is fitted, and the fit."""
    random = np.random.default_rng(0)
    X = random.standard_normal((ROWS, COLUMNS))
    values = X @ random.standard_normal(COLUMNS)
    for dtype in (np.float64, np.float32):
        for form in FORMS:
            table = form(X.astype(dtype))
            for name, parameters in MODELS:
                for noise in (0.0, 2.0):
                    y = values + noise * random.standard_normal(ROWS) > 0.0
                    yield (
                        f"{name} on {form.__name__} {dtype.__name__}",
                        functools.partial(fit, name, parameters, table, y),
                    )


def fit(name: str, parameters: dict[str, Any], X: Any, y: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nobody asks for these models
        getattr(maxmargin, name)(**parameters).fit(X, y)
