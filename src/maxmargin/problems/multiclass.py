"""Many classes as two-class problems: one against the rest, or one against one; and what their rows cost."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.labels import Labels
from maxmargin.data.matrix import Matrix, Vector
from maxmargin.data.table import Table, select
from maxmargin.problems.choices import Strategy as Strategy

ClassWeight = tuple[tuple[Any, float], ...]  # pairs (label, weight); none if every weight is 1


@dataclass(frozen=True, eq=False)
class TwoClasses:
    """Rows of two sides: X and signs of this problem, and which rows of the user's table they are.

    `negative` is None when the negative side is "all others"; `weights` are the sample weights, all positive;
    `largest` is max |x_ij| of the table, if it is known.
    """

    X: Matrix | Table
    signs: Vector
    weights: Vector | None
    rows: NDArray[np.intp]
    positive: Any
    negative: Any
    largest: float | None


def two_class_problems(
    X: Matrix | Table, labels: Labels, strategy: Strategy, weights: Vector | None = None, largest: float | None = None
) -> list[TwoClasses]:
    """In the order of `coef_`: two classes give one problem with classes[1] on the positive side."""
    n_classes = len(labels.classes)
    if n_classes == 2:
        pairs: list[tuple[int, int | None]] = [(1, 0)]
    elif strategy is Strategy.ONE_VERSUS_REST:
        pairs = [(k, None) for k in range(n_classes)]
    else:
        pairs = list(itertools.combinations(range(n_classes), 2))
    return [_problem(X, labels, pair, weights, largest) for pair in pairs]


def _problem(
    X: Matrix | Table, labels: Labels, pair: tuple[int, int | None], weights: Vector | None, largest: float | None
) -> TwoClasses:
    (classes, codes), (positive, negative) = labels, pair
    rows = np.flatnonzero(codes >= 0 if negative is None else (codes == positive) | (codes == negative))
    signs = np.where(codes[rows] == positive, 1.0, -1.0)
    label, other = plain(classes[positive]), None if negative is None else plain(classes[negative])
    kept_weights = None if weights is None else weights[rows]
    known = largest if len(rows) == X.shape[0] else None  # the largest number may be in a row that is left out
    return TwoClasses(select(X, rows), signs, kept_weights, rows, label, other, known)


def plain(label: Any) -> Any:
    """A label as Python writes it: 1, not np.int64(1)."""
    return label.item() if isinstance(label, np.generic) else label


def votes(decisions: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """One-versus-one scores of each class: the votes won, and the summed scores squeezed below half a vote.

    A score of exactly 0 is a vote for the positive side, as it is everywhere in predictions.
    """
    won = np.zeros((len(decisions), n_classes))
    confidence = np.zeros_like(won)
    for column, (k, j) in enumerate(itertools.combinations(range(n_classes), 2)):
        score = decisions[:, column]
        won[:, k] += score >= 0.0
        won[:, j] += ~(score >= 0.0)
        confidence[:, k] += score
        confidence[:, j] -= score
    return won + confidence / (3.0 * (np.abs(confidence) + 1.0))


def prices(C: float, two: TwoClasses) -> Vector:
    """C_i of each row, which float64 must be able to hold."""
    if two.weights is None:
        return np.full(two.X.shape[0], C)
    with np.errstate(over="ignore"):
        costs = C * two.weights
    wrong = ~((costs > 0.0) & (costs < math.inf))
    if np.any(wrong):
        row = int(np.argmax(wrong))
        raise ValueError(
            f"C times the weight of row {two.rows[row]} is {C:g} * {two.weights[row]:g}, which float64 cannot hold"
        )
    return costs
