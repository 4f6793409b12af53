"""Rows in memory as a table that is read by blocks."""

import numpy as np

from maxmargin.data.labelled import LabelledTable, RowsAndLabels, surveyed
from maxmargin.problems.block_margin import BlockMargin
from maxmargin.problems.losses import HINGE


class Cut:
    """X and y, cut at these rows; blocks may be empty."""

    n_rows = None

    def __init__(self, X, y, edges, weights=None):
        self.X, self.y, self.edges, self.weights = X, np.asarray(y), [int(edge) for edge in edges], weights
        self.n_columns, self.n_blocks = X.shape[1], len(self.edges) - 1

    def labelled_block(self, k):
        rows = slice(self.edges[k], self.edges[k + 1])
        return RowsAndLabels(self.X[rows], self.y[rows], None if self.weights is None else self.weights[rows])

    def fingerprint(self):
        return {"edges": self.edges}


def by_blocks(X, y, edges=None, blocks=5, weights=None) -> LabelledTable:
    """The table after its survey, cut at `edges` or into so many blocks."""
    return surveyed(Cut(X, y, np.linspace(0, len(y), blocks + 1) if edges is None else edges, weights))


def two_classes(table, positive=1, negative=0, fit_intercept=True) -> BlockMargin:
    return BlockMargin(positive, negative, np.ones(len(table.classes)), HINGE, fit_intercept)
