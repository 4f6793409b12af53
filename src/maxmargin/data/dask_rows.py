"""Arrays and data frames of Dask as a source of rows with labels: a chunk, or a partition, is a block.

    X    an array of two dimensions whose chunks have all columns, or a data frame of numbers
    y    an array of the same chunks, a series of the same partitions, or the name of a column of the frame; or an array
         in memory, where the lengths of the blocks are known. Weights likewise

Kept are the graph of Dask and, for each block, the keys of its pieces. Whoever needs block k computes what the graph
says of it, and nothing else (`between`): a worker there; without a cluster this process, by Dask's synchronous
scheduler, or by the one that the user has chosen. Rows that the user keeps in the memory of a cluster, `X.persist()`,
stay where they are.

Nothing of Dask is imported before there is something of Dask.
"""

from __future__ import annotations

import copy
import hashlib
import math
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.checking import check_labels, check_weights, opened
from maxmargin.data.dask_pass import dask_module
from maxmargin.data.frames import frame_of, refuse_two_of_one_name
from maxmargin.data.labelled import RowsAndLabels
from maxmargin.data.table import is_dask


def is_frame(X: Any) -> bool:
    """Whether its partitions are data frames, or series."""
    return hasattr(type(X), "map_partitions")


class DaskRows:
    """Rows with labels: a `labelled.LabelledSource`.

    graph    of all pieces; keys: those of each block: X, then labels and weights, unless they are columns of X
    start    the number of the first block that is here
    """

    def __init__(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        refuse_cut_rows(X)
        in_frame = {role: name for role, name in (("y", y), ("weight", sample_weight)) if isinstance(name, str)}
        if in_frame and not is_frame(X):
            raise TypeError(f"y = {y!r} names a column, and an array of Dask has no columns by name: give labels")
        self.label, self.weight = in_frame.get("y"), in_frame.get("weight")
        self.feature_names = names_of(X, list(in_frame.values()))
        self.n_columns = int(X.shape[1]) if self.feature_names is None else len(self.feature_names)
        heights = None if is_frame(X) or any(math.isnan(height) for height in X.chunks[0]) else list(X.chunks[0])
        keys = [keys_of(X)]
        self.n_blocks, self.start, self.names = len(keys[0]), 0, {"X": str(keys[0][0][0])}
        given: list[Any] = [X]
        own: dict[Any, Any] = {}
        for role, column in (("y", y), ("sample_weight", sample_weight)):
            if column is None or isinstance(column, str):
                continue
            if is_dask(column):
                refuse_other_blocks(X, column, role)
                given.append(column)
                keys.append(keys_of(column))
            else:
                pieces = cut(column, role, heights)
                keys.append([(f"maxmargin-{digest_of(pieces)}", k) for k in range(self.n_blocks)])
                own.update(zip(keys[-1], pieces, strict=True))
            self.names[role] = str(keys[-1][0][0])
        self.has_labels, self.has_weights = "y" in self.names, "sample_weight" in self.names
        self.is_in_cluster = bool(futures_in(given))
        if not self.is_in_cluster:  # each by itself: optimized together, series of one frame get each other's keys
            given = [part.optimize() if is_frame(part) else dask_module("dask").optimize(part)[0] for part in given]
            optimized = iter(given)
            keys = [column if column[0] in own else keys_of(next(optimized)) for column in keys]
        self.graph: dict[Any, Any] = {key: task for part in given for key, task in dict(part.__dask_graph__()).items()}
        self.graph.update(own)
        self.keys = [list(block) for block in zip(*keys, strict=True)]
        self.n_rows = None if heights is None else int(sum(heights))
        self.n_bytes = None if self.n_rows is None else self.n_rows * self.n_columns * X.dtype.itemsize

    def between(self, start: int, stop: int) -> DaskRows:
        """The same, with the graph of these blocks only."""
        part = copy.copy(self)
        part.start, part.keys = start, self.keys[start - self.start : stop - self.start]
        wanted = [key for block in part.keys for key in block]
        part.graph = dask_module("dask.optimization").cull(self.graph, wanted)[0] if wanted else {}
        return part

    def labelled_block(self, k: int) -> RowsAndLabels:
        block = self.between(k, k + 1)
        graph, (keys,) = block.graph, block.keys
        if self.is_in_cluster:  # whose client is gone, or is not to be used
            graph = {key: task.result() if hasattr(task, "result") else task for key, task in graph.items()}
        return self.assembled(k, computed(graph, keys))

    def in_hand(self, start: int, stop: int, pieces: Sequence[Any]) -> InHand:
        """The same, of pieces that have been computed, in the order of the keys."""
        return InHand(self, start, len(pieces) // (stop - start), pieces, self.n_columns)

    def assembled(self, k: int, pieces: Sequence[Any]) -> RowsAndLabels:
        """A block from its pieces."""
        X, *beside = pieces
        labels = beside.pop(0) if self.has_labels else None
        weights = beside.pop(0) if self.has_weights else None
        if self.feature_names is not None:
            labels = X[self.label] if self.label is not None else labels
            weights = X[self.weight] if self.weight is not None else weights
            try:
                X, _ = opened(X[list(self.feature_names)])
            except (TypeError, ValueError) as error:
                raise type(error)(f"block {k}: {error}") from None
        return RowsAndLabels(X, labels, weights)

    def fingerprint(self) -> dict[str, Any]:
        """Dask names what it computes by a digest of how."""
        beside = {"label": self.label, "weight": self.weight}
        return {"kind": "dask", **self.names, **beside, "n_columns": self.n_columns, "n_blocks": self.n_blocks}


class DaskTable:
    """Rows without labels: a `table.Source`."""

    def __init__(self, X: Any) -> None:
        self.rows = DaskRows(X, None)
        self.n_rows, self.n_columns, self.n_blocks = self.rows.n_rows, self.rows.n_columns, self.rows.n_blocks

    def block(self, k: int) -> Any:
        return self.rows.labelled_block(k).X


class InHand(NamedTuple):
    """Blocks whose pieces have come already, `width` of each, from block `start` on."""

    rows: DaskRows
    start: int
    width: int
    pieces: Sequence[Any]
    n_columns: int

    def labelled_block(self, k: int) -> RowsAndLabels:
        first = (k - self.start) * self.width
        return self.rows.assembled(k, self.pieces[first : first + self.width])


def computed(graph: dict[Any, Any], keys: list[Any]) -> Any:
    """By this process, or by the function that the user has told Dask to take: Ray's, for example."""
    dask = dask_module("dask")
    asked = dask.config.get("scheduler", None)
    return (asked if callable(asked) else dask.get)(graph, keys)


def keys_of(column: Any) -> list[Any]:
    """One for each block."""
    return [key[0] if isinstance(key, list) else key for key in column.__dask_keys__()]


def futures_in(given: list[Any]) -> list[Any]:
    """What is in the memory of a cluster, or on its way there."""
    found: list[Any] = sys.modules["distributed"].futures_of(given) if "distributed" in sys.modules else []
    return found


def names_of(X: Any, beside: list[str]) -> tuple[Any, ...] | None:
    """The features of a frame; None of an array. A ValueError where one of them holds no numbers."""
    if not is_frame(X):
        return None
    frame = frame_of(X._meta)
    if frame is None:
        raise TypeError(f"X is a {type(X).__name__} of Dask: give a data frame, or an array of two dimensions")
    refuse_two_of_one_name(frame.names)
    for name in beside:
        if name not in frame.names:
            raise ValueError(f"X has no column {name!r}; it has {', '.join(map(repr, frame.names[:20]))}")
    for place, name in enumerate(frame.names):
        dtype = frame.columns[:, place].dtype
        if name not in beside and not (dtype.is_numeric() or str(dtype) == "Boolean"):
            raise ValueError(
                f"column {name!r} of X is {X.dtypes[name]}, and a table that is read by blocks holds numbers: encode "
                "it first (dask.dataframe.get_dummies, after X.categorize()), or leave it out"
            )
    return tuple(name for name in frame.names if name not in beside)


def refuse_cut_rows(X: Any) -> None:
    if is_frame(X):
        return
    if X.ndim != 2:
        raise ValueError(f"X has the shape {X.shape}: a table has two dimensions")
    if X.numblocks[1] != 1:
        raise ValueError(
            f"the rows of X are cut into {X.numblocks[1]} chunks of columns: a block has whole rows. Give "
            "X.rechunk({1: -1}), which Dask computes once more"
        )


def refuse_other_blocks(X: Any, column: Any, role: str) -> None:
    if len(column.shape) != 1:
        raise ValueError(f"{role} must have one dimension, and not the shape {column.shape}")
    edges = [tuple(one.divisions) if is_frame(one) else one.chunks[0] for one in (X, column)]
    known = [all(edge is not None and edge == edge for edge in some) for some in edges]
    same = len(keys_of(X)) == len(keys_of(column))
    if is_frame(X) == is_frame(column) and all(known):
        same = same and edges[0] == edges[1]
    if not same:
        how = f"{role}.repartition(divisions=X.divisions)" if is_frame(column) else f"{role}.rechunk((X.chunks[0],))"
        raise ValueError(f"the blocks of {role} are not those of X: give {how}, or a column of the same table")


def cut(column: Any, role: str, heights: list[int] | None) -> list[NDArray[Any]]:
    """What is in memory, as the blocks of X have it."""
    if heights is None:
        raise ValueError(
            f"{role} is in memory, and it is not known how many rows each block of X has: give {role} as a column of "
            "the same table (its name will do), or X.to_dask_array(lengths=True)"
        )
    values = check_labels(column, sum(heights)) if role == "y" else check_weights(column, sum(heights))
    return np.split(values, np.cumsum(heights)[:-1])


def digest_of(pieces: list[NDArray[Any]]) -> str:
    content = repr([piece.tolist() for piece in pieces])
    return hashlib.sha256(content.encode()).hexdigest()
