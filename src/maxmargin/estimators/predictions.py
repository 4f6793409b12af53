"""What a fitted estimator says of rows: w.x + b and, where rows come by blocks, their labels and how many are right.

A product needs no order of memory: an array in Fortran order, as that inside of a data frame, is multiplied as it lies.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from maxmargin.data.checking import ACCEPTED, checked_table, is_source, opened, place_in, refuse_what_is_not_finite
from maxmargin.data.executor import check_interrupt, pass_over, row_by_row
from maxmargin.data.labelled import RawBlock, Unsurveyed, with_labels
from maxmargin.data.table import Block, Matrix, Source, Table, as_table, canonical, is_column, is_dask, is_sparse


def rows_to_multiply(estimator: Any, X: Any) -> Matrix | Table:
    """X with all that `fit` checks of a table, but in the order of memory that it has."""
    if is_source(X):
        return checked_table(estimator, X, reset=False).X
    X, names = opened(X)
    X = canonical(validate_data(estimator, X, reset=False, **(ACCEPTED | {"order": None})))
    with np.errstate(over="ignore", invalid="ignore"):
        total = (X.data if is_sparse(X) else X).sum()
    if not np.isfinite(total):  # or else every number is
        refuse_what_is_not_finite(X, place_in(names))
    return X


def values_at(X: Matrix | Table, coef: NDArray[Any], intercept: Any) -> NDArray[np.float64]:
    """w.x + b: one column for each plane."""
    return row_by_row(PlaneValues(coef, intercept), as_table(X))


@np.errstate(over="ignore", invalid="ignore")
def plane_values(X: Matrix, coef: NDArray[Any], intercept: Any) -> NDArray[np.float64]:
    """w.x + b: one column for each plane. A sum that overflows on its way is made anew in smaller units, so that it has
    its sign, and is infinite only where it is beyond float64."""
    values = np.asarray(X @ coef.T + intercept, dtype=np.float64)
    if not np.isfinite(values.sum()):  # or else all of them are
        beyond = np.flatnonzero(~np.all(np.isfinite(values), axis=1))
        few = sparse.csr_array(X[beyond], dtype=np.float64)
        largest = abs(few).max(axis=1).toarray().ravel(), np.max(np.abs(coef), axis=1)
        of_rows, of_planes = (np.frexp(sizes)[1] for sizes in largest)
        few.data = np.ldexp(few.data, -np.repeat(of_rows, np.diff(few.indptr)))
        sums = few @ np.ldexp(coef, -of_planes[:, None]).T
        again = np.ldexp(sums, of_rows[:, None] + of_planes) + intercept
        values[beyond] = np.where(np.isfinite(values[beyond]), values[beyond], again)
    return values


class PlaneValues(NamedTuple):
    """The same, of a block of rows."""

    coef: NDArray[Any]
    intercept: Any

    def __call__(self, block: Block) -> NDArray[np.float64]:
        return plane_values(block.X, self.coef, self.intercept)


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
