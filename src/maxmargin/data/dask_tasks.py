"""What a worker of a Dask cluster computes for `dask_executor.py`: blocks in its memory, branches of the tree.

Whatever is sent is wrapped (`Sent`). Dask takes tuples apart, and one that begins with a function for a task. And a
worker that cannot open a message closes its connection and ends, as the next one does that is given the task: wrapped,
it is opened within the task, whose error says what is missing.
"""

from __future__ import annotations

import copy
import importlib
import pickle
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.data.executor import RowVector, fold_range, join, join_two, on_block, one_thread_for_blas
from maxmargin.data.labelled import RowsAndLabels, Unsurveyed

Packed = tuple[bytes, list[Any]]  # a pickle, and the memory of its arrays


class Sent:
    """What Dask shall not look into: it travels as bytes, and is opened where it is needed."""

    def __init__(self, content: Any) -> None:
        self.opened = content
        self.packed: Packed | None = None

    @property
    def content(self) -> Any:
        packed = self.packed
        if packed is not None:
            self.opened, self.packed = unpacked(*packed), None
        return self.opened

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        head, buffers = self.packed or packed(self.opened)
        return as_sent, (type(self), head, buffers if protocol >= 5 else [bytes(buffer) for buffer in buffers])

    @classmethod
    def sealed(cls, content: Any) -> Sent:
        """Packed at once: what cannot be is an error here, and not within Dask."""
        sent = cls(content)
        sent.packed = packed(content)
        return sent

    @property
    def n_bytes(self) -> int:
        """Of what travels."""
        head, buffers = self.packed or packed(self.opened)
        return len(head) + sum(memoryview(buffer).nbytes for buffer in buffers)


def as_sent(kind: type[Sent], head: bytes, buffers: list[Any]) -> Sent:
    sent = kind(None)
    sent.packed = head, buffers
    return sent


def packed(content: Any) -> Packed:
    """Its arrays are not copied."""
    buffers: list[Any] = []
    try:
        return importlib.import_module("cloudpickle").dumps(content, 5, buffers.append), buffers
    except Exception as error:
        raise TypeError(
            f"rows and what is asked of them are sent to the workers, and something of it cannot be ({error}): leave "
            "files, locks and connections out of it (__getstate__) and open them in block(k), or fit without a cluster"
        ) from error


def unpacked(head: bytes, buffers: list[Any]) -> Any:
    try:
        return pickle.loads(head, buffers=buffers)
    except Exception as error:
        raise RuntimeError(
            f"a worker cannot open what it was sent ({type(error).__name__}: {error}): modules that the rows come from "
            "must be installed where the workers are, or sent there (client.upload_file), or be sent with them "
            "(cloudpickle.register_pickle_by_value)"
        ) from error


class Held:
    """Blocks start, start + 1, ... of a table, in memory."""

    def __init__(self, content: Sequence[Any], start: int) -> None:
        self.content, self.start, self.n_blocks = content, start, start + len(content)

    def block(self, k: int) -> Any:
        return self.content[k - self.start]

    @property
    def n_columns(self) -> int:
        return int(self.content[0].X.shape[1])

    def labelled_block(self, k: int) -> RowsAndLabels:
        """Of a table before its survey: what the table after it is made of."""
        block = self.block(k)
        return RowsAndLabels(block.X, block.labels, block.weights)

    def __sizeof__(self) -> int:
        return sum(size_of(part) for block in self.content for part in block)


class HeldRun(Sent):
    def __sizeof__(self) -> int:
        """For the scheduler, which counts what workers hold."""
        return int(self.content.__sizeof__())


def size_of(part: Any) -> int:
    """In bytes, of an array or of CSR; of what is neither, nothing to speak of."""
    pieces = [part] if isinstance(part, np.ndarray) else [getattr(part, name, None) for name in ("data", "indices")]
    return sum(int(piece.nbytes) for piece in pieces if isinstance(piece, np.ndarray))


def reading(blocks: Any, source: Any) -> Any:
    """The same table, its rows from another source."""
    if isinstance(blocks, Unsurveyed):
        return Unsurveyed(source)
    twin = copy.copy(blocks)
    twin.source = source
    return twin


# A run of blocks: what has block(k) for each of them.


def given(start: int, stop: int, sent: Sent) -> Sent:
    """As it was sent: once to the cluster, and from there to the workers that need it."""
    return sent


def held(start: int, stop: int, blocks: Sent) -> Sent:
    with one_thread_for_blas:
        return HeldRun(Held([blocks.content.block(k) for k in range(start, stop)], start))


def held_again(start: int, stop: int, blocks: Sent, before: Sent) -> Sent:
    """Of a table after its survey, from what was held for it."""
    return held(start, stop, Sent(reading(blocks.content, before.content)))


def in_hand(start: int, stop: int, blocks: Sent, hold: bool, *pieces: Any) -> Sent:
    """Of rows that Dask computes. Where they are not held, this is no copy: it only knows where they are."""
    found = Sent(reading(blocks.content, blocks.content.source.in_hand(start, stop, pieces)))
    return held(start, stop, found) if hold else found


# What a pass asks.


def fold_run(start: int, stop: int, part: Sent, run: Sent, own: Sent) -> Sent:
    with one_thread_for_blas:
        return Sent(fold_range(part.content, run.content, own.content, start, stop))


def join_run(level: int, number: int, *found: Sent) -> Sent:
    return Sent(join((one.content for one in found), join_two))


class Shifted(NamedTuple):
    """A piece of a row vector that begins at row `first`, and is cut by the numbers of its rows."""

    values: RowVector
    first: int

    def __getitem__(self, rows: Any) -> Any:
        return self.values[rows.start - self.first : rows.stop - self.first]


def map_run(start: int, stop: int, part: Sent, table: Sent, slices: Sent) -> Sent:
    with one_thread_for_blas:
        return Sent([on_block(part.content, table.content, k, slices.content) for k in range(start, stop)])
