"""A labelled source, cut again: the same rows in the same order, in blocks of other heights.

A block of the new cut is put together from those that it lies in. The last one that was read is kept, because the next
one begins there: whoever goes through the blocks in their order reads each of the source once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.data.executor import pass_over
from maxmargin.data.labelled import LabelledSource, RawBlock, RowsAndLabels, Unsurveyed
from maxmargin.data.table import Matrix, is_sparse


class Recut:
    """A `labelled.LabelledSource` of blocks of these heights; `own` are those of the source."""

    def __init__(self, source: LabelledSource, own: NDArray[np.int64], heights: NDArray[Any]) -> None:
        self.source, self.n_columns, self.n_blocks = source, source.n_columns, len(heights)
        self.n_rows: int | None = int(own.sum())
        self.cuts, self.own_cuts = edges_of(heights), edges_of(own)
        self.last: tuple[int, RawBlock] | None = None

    def labelled_block(self, k: int) -> RowsAndLabels:
        start, stop = self.cuts[k : k + 2]
        first = int(np.searchsorted(self.own_cuts, start, side="right")) - 1
        parts: list[RowsAndLabels] = []
        for number in range(min(first, self.source.n_blocks - 1), self.source.n_blocks):
            begin, end = self.own_cuts[number : number + 2]
            if begin >= stop and parts:
                break
            X, labels, weights = self.read(number)[1:]
            rows = slice(max(0, start - begin), max(0, min(stop, end) - begin))
            parts.append(RowsAndLabels(X[rows], labels[rows], None if weights is None else weights[rows]))
        return joined(parts)

    def read(self, number: int) -> RawBlock:
        last = self.last
        if last is None or last[0] != number:
            self.last = None  # before the next one is in memory
            last = self.last = number, Unsurveyed(self.source).block(number)
        return last[1]

    def meant(self, labels: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.source.meant(labels)) if hasattr(self.source, "meant") else labels

    def fingerprint(self) -> dict[str, Any]:
        return {**self.source.fingerprint(), "heights": np.diff(self.cuts).tolist()}

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "last": None}


def edges_of(heights: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(heights)]).astype(np.int64)


def joined(parts: list[RowsAndLabels]) -> RowsAndLabels:
    """Rows of neighbours as one block."""
    parts = [part for part in parts if len(part.labels)] or parts[:1]
    if len({part.labels.dtype.kind == "U" for part in parts}) > 1:
        raise ValueError("the labels of some blocks are text, and of others numbers: write them alike")
    if len(parts) == 1:
        return parts[0]
    X: list[Matrix] = [part.X for part in parts]
    return RowsAndLabels(
        sparse.vstack(X, format="csr") if all(map(is_sparse, X)) else np.concatenate(X),
        np.concatenate([part.labels for part in parts]),
        None if any(part.weights is None for part in parts) else np.concatenate([part.weights for part in parts]),
    )


class Sizes(NamedTuple):
    """A pass over unchecked rows: how many each block has, and how many bytes their numbers take together."""

    heights: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
    n_bytes: int = 0

    def __call__(self, block: RawBlock) -> Sizes:
        X = block.X
        return Sizes(np.array([X.shape[0]]), int(X.data.nbytes + X.indices.nbytes if is_sparse(X) else X.nbytes))

    def and_of(self, other: Sizes) -> Sizes:
        return Sizes(np.concatenate([self.heights, other.heights]), self.n_bytes + other.n_bytes)


def sizes_of(source: LabelledSource) -> Sizes:
    """In one pass."""
    found: Sizes = pass_over(Sizes(), Unsurveyed(source))
    return found
