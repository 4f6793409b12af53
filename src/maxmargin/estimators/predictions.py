"""Labels from values: the votes of pairs of classes; of rows that come by blocks the labels, and how many are right."""

from __future__ import annotations

import copy
import functools
import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from maxmargin.data.executor import check_interrupt, pass_over
from maxmargin.data.labelled import RawBlock, Unsurveyed, with_labels
from maxmargin.data.table import Source, is_column, is_dask, is_source


def votes(decisions: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """One-versus-one scores of each class: the votes won, and the summed scores squeezed below half a vote.

    A score of exactly 0 is a vote for the positive side, as it is everywhere in predictions.
    """
    count = votes_of_few if len(decisions) <= n_classes else votes_of_many
    won, confidence = count(decisions, n_classes)
    return np.asarray(won + confidence / (3.0 * (np.abs(confidence) + 1.0)))


def votes_of_many(decisions: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """The votes won and the summed scores of each row and class, pair after pair."""
    won, confidence = found = np.zeros((2, len(decisions), n_classes))
    for column, (k, j) in enumerate(itertools.combinations(range(n_classes), 2)):
        score = decisions[:, column]
        won[:, k] += score >= 0.0
        won[:, j] += ~(score >= 0.0)
        confidence[:, k] += score
        confidence[:, j] -= score
    return found


@functools.lru_cache(maxsize=8)
def pairs_of(n_classes: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(n_classes, 1)


def votes_of_few(decisions: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """The same, added in the same order, all pairs at once: beside few rows, a loop over them takes the time."""
    first, second = pairs_of(n_classes)
    won, scores = found = np.zeros((2, len(decisions), n_classes, n_classes))  # of the other classes, by each class
    won[:, second, first] = decisions >= 0.0
    won[:, first, second] = ~(decisions >= 0.0)
    scores[:, second, first] = decisions
    scores[:, first, second] = -decisions
    return np.asarray(found.sum(axis=2))


def labels_by_blocks(estimator: Any, source: Source) -> NDArray[Any]:
    """In one read, of which the labels alone are kept; what is wrong with a block is said with its number."""
    found = [estimator.classes_[:0]]
    for k in range(source.n_blocks):
        check_interrupt()
        rows = source.block(k)
        try:
            found += [estimator.predict(rows)] if rows.shape[0] else []
        except ValueError as error:
            raise ValueError(f"block {k}: {error}") from None
    return np.concatenate(found)


def stays(X: Any, y: Any) -> bool:
    """Whether the labels stay where the blocks of X are."""
    return is_source(X) and (is_dask(X) or is_column(y) or isinstance(y, str))


class Predicted(NamedTuple):
    """How much the rows of each label weigh that are predicted to be of each class."""

    labels: NDArray[Any]
    weights: NDArray[np.float64]

    def and_of(self, other: Predicted) -> Predicted:
        labels, places = np.unique(np.concatenate([self.labels, other.labels]), return_inverse=True)
        weights = np.zeros((len(labels), self.weights.shape[1]))
        np.add.at(weights, places, np.vstack([self.weights, other.weights]))
        return Predicted(labels, weights)


class Predict(NamedTuple):
    """The pass that counts."""

    svm: Any

    def __call__(self, block: RawBlock) -> Predicted:
        labels, places = np.unique(block.labels, return_inverse=True)
        weights = np.zeros((len(labels), len(self.svm.classes_)))
        if len(labels):
            codes = np.searchsorted(self.svm.classes_, self.svm.predict(block.X))
            np.add.at(weights, (places, codes), 1.0 if block.weights is None else block.weights)
        return Predicted(labels, weights)


def accuracy(svm: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """The share of the rows, by their weights, that are predicted right."""
    check_is_fitted(svm, "classes_")
    source = with_labels(X, y, sample_weight)
    names, known = getattr(source, "feature_names", None), getattr(svm, "feature_names_in_", None)
    if names is not None and known is not None and list(names) != known.tolist():
        raise ValueError(
            f"the columns of X are {', '.join(map(repr, names))}, and it was fitted on "
            f"{', '.join(map(repr, known.tolist()))}: give these, in this order"
        )
    unnamed = copy.copy(svm)  # blocks are arrays
    vars(unnamed).pop("feature_names_in_", None)
    found = pass_over(Predict(unnamed), Unsurveyed(source))
    meant = source.meant(found.labels) if hasattr(source, "meant") else found.labels
    right = found.weights[meant[:, None] == svm.classes_].sum()
    return float(right / found.weights.sum())
