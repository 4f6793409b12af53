"""A table in the blocks and with the labels that a certificate names: no survey need find them.

X and y may be what stays in files or on workers, or be in memory. Rows are cut as the claim says: where their blocks
have other heights, because another memory or other row groups made them, they are put together anew (`data.recut`). Of
Dask, whose graph has its own blocks, they are asked for instead.

What a file means by "1" is known when all of its labels were seen. So it is guessed, and whoever has seen all labels
compares.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.checking import check_labels, check_rows, check_weights
from maxmargin.data.labelled import LabelledBlock, LabelledSource, Unsurveyed, with_labels
from maxmargin.data.recut import Recut, sizes_of
from maxmargin.data.table import BLOCKS_HELD, Matrix, is_source
from maxmargin.problems.statement import plain


class CutRows(NamedTuple):
    """Rows in memory, as blocks of these heights."""

    X: Matrix
    heights: NDArray[Any]

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.X.shape[1])

    @property
    def n_blocks(self) -> int:
        return len(self.heights)

    def block(self, k: int) -> Matrix:
        first = int(self.heights[:k].sum())
        return self.X[first : first + int(self.heights[k])]


def source_of(X: Any, y: Any, sample_weight: Any, heights: NDArray[Any]) -> LabelledSource:
    """Rows with labels and weights, cut into blocks; a ValueError where these cannot be of such heights."""
    if not is_source(X):
        X = check_rows(X)
        if X.shape[0] != int(heights.sum()):
            raise ValueError(
                f"the certificate is about a table of {int(heights.sum())} rows, these data have {X.shape[0]}"
            )
        y = check_labels(y, X.shape[0])
        weights = None if sample_weight is None else check_weights(sample_weight, X.shape[0])
        return with_labels(CutRows(X, heights), y, weights)
    source = with_labels(X, y, sample_weight)
    return source if source.n_blocks == len(heights) else cut_again(source, heights, getattr(X, "memory", None))


def cut_again(source: LabelledSource, heights: NDArray[Any], memory: int | None) -> LabelledSource:
    """The same rows in blocks of these heights; a ValueError where the memory is too little for them."""
    if hasattr(source, "graph"):
        raise ValueError(
            f"the certificate is about a table of {len(heights)} blocks of {listed(heights)} rows, and the chunks or "
            "partitions of X are others: give X and y in those (rechunk, repartition) in which they were fitted"
        )
    own, n_bytes = sizes_of(source)
    n_rows, n_claimed = int(own.sum()), int(heights.sum())
    if n_rows != n_claimed:
        raise ValueError(f"the certificate is about a table of {n_claimed} rows, these data have {n_rows}")
    needed = BLOCKS_HELD * int(heights.max()) * n_bytes / max(1, n_rows)
    if memory is not None and memory < needed:
        raise ValueError(
            f"the certificate is about blocks of up to {int(heights.max())} rows, and {BLOCKS_HELD} of them must fit "
            f"into the memory of {memory / 1e6:.3g} MB: allow {math.ceil(needed / 1e6)} MB"
        )
    return Recut(source, own, heights)


def listed(heights: NDArray[Any]) -> str:
    return ", ".join(map(str, heights[:4].tolist())) + (", ..." if len(heights) > 4 else "")


class OtherBlockSizes(ValueError):
    """A block has not as many rows as the certificate says."""


class ClaimedBlock(NamedTuple):
    """A block with the codes of its labels, and which labels its rows have that count: as written, with their code."""

    block: LabelledBlock
    codes: dict[Any, int]


class ClaimedBlocks(NamedTuple):
    """Blocks whose labels the certificates name. Code k is that of labels[k], len(labels) that of all others.

    `codes`, by what is written, are what the labels mean; None: it is guessed.
    """

    source: LabelledSource
    labels: tuple[Any, ...]
    heights: NDArray[Any]
    codes: dict[Any, int] | None = None

    @property
    def n_blocks(self) -> int:
        return self.source.n_blocks

    def block(self, k: int) -> ClaimedBlock:
        number, X, labels, weights = Unsurveyed(self.source).block(k)
        if len(labels) != self.heights[k]:
            raise OtherBlockSizes(f"block {k} has {len(labels)} rows, and the certificate is about {self.heights[k]}")
        written, places = np.unique(labels, return_inverse=True)
        code_of = [self.code_of(plain(one)) for one in written]
        codes = np.array(code_of, dtype=np.intp)[places]
        counting = np.ones(len(labels), dtype=bool) if weights is None else weights > 0.0
        codes = np.where(counting, codes, -1)
        seen = {plain(written[place]): code_of[place] for place in np.unique(places[counting])}
        return ClaimedBlock(LabelledBlock(number, X, codes, weights), seen)

    def code_of(self, written: Any) -> int:
        return self.guessed(written) if self.codes is None else self.codes.get(written, len(self.labels))

    def meant(self, written: dict[Any, int]) -> dict[Any, int]:
        """The codes of labels, when all that are written are known."""
        texts = np.unique(np.array(list(written))) if written else np.empty(0)
        meanings = self.source.meant(texts) if written and hasattr(self.source, "meant") else texts
        return {
            plain(text): self.labels.index(plain(meaning)) if plain(meaning) in self.labels else len(self.labels)
            for text, meaning in zip(texts, meanings, strict=True)
        }

    def guessed(self, written: Any) -> int:
        """The code of the label that this may be: a number may be written as text."""
        for code, label in enumerate(self.labels):
            if written == label or (
                isinstance(written, str) and not isinstance(label, str) and as_number(written) == label
            ):
                return code
        return len(self.labels)


def as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
