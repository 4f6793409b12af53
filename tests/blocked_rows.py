"""Rows of a matrix in memory as a source of blocks, which counts how often each is read."""

from __future__ import annotations

from collections import Counter

import numpy as np

from maxmargin.data.executor import fold_range, join, join_two, on_block


class Blocked:
    """X cut at these edges; `n_rows` is told or not. `fails_at`: a block, and how often it can be read."""

    fails_at = (-1, 0)

    def __init__(self, X, edges, n_rows=None):
        self.X, self.edges, self.n_rows = X, [int(edge) for edge in edges], n_rows
        self.n_columns, self.n_blocks = X.shape[1], len(self.edges) - 1
        self.reads = Counter()

    def block(self, k):
        if (k, self.reads[k]) == self.fails_at:
            raise OSError("the disk is gone")
        self.reads[k] += 1
        return self.X[self.edges[k] : self.edges[k + 1]]

    @property
    def passes(self):
        """How often every block was read."""
        counts = set(self.reads.values())
        assert len(counts) == 1, "some blocks were read more often than others"
        return counts.pop()


class LastFirst:
    """An executor of one's own: it takes the last block first."""

    def map(self, part, table, *row_vectors):
        found = {k: on_block(part, table, k, row_vectors) for k in reversed(range(table.n_blocks))}
        return (found[k] for k in sorted(found))

    def fold(self, part, blocks, own):
        ranges = [(k, min(k + 8, blocks.n_blocks)) for k in range(0, blocks.n_blocks, 8)]
        found = {start: fold_range(part, blocks, own, start, stop) for start, stop in reversed(ranges)}
        return join((found[start] for start in sorted(found)), join_two)


class ColumnOf:
    """Values that lie beside such rows, in the same blocks."""

    def __init__(self, rows, values):
        self.rows, self.values = rows, values

    def block(self, k):
        return self.values[self.rows.edges[k] : self.rows.edges[k + 1]]


def uneven(n, blocks=9):
    """Edges of blocks, of which one is empty and one has a single row."""
    inner = np.linspace(0, n, blocks - 1).astype(int)
    return sorted([*inner, inner[2], inner[3] + 1])


class Made:
    """Rows that are made when they are asked for: a table of any length. Its labels come with its blocks."""

    def __init__(self, n_blocks, height, columns=20):
        self.n_blocks, self.height, self.n_columns, self.n_rows = n_blocks, height, columns, None
        self.heights = [height] * n_blocks

    def labelled(self, k):
        random = np.random.default_rng(k)
        X = random.standard_normal((self.height, self.n_columns), dtype=np.float32)
        return X, (X[:, 0] + X[:, 1] + random.standard_normal(self.height) > 0.3).astype(np.int8)

    def block(self, k):
        return self.labelled(k)[0]

    @property
    def labels(self):
        return LabelsOf(self)


class LabelsOf:
    def __init__(self, table):
        self.rows = table

    def block(self, k):
        return self.rows.labelled(k)[1]

    def fingerprint(self):
        return {"made": True}
