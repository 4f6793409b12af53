"""Which rows of a kernel were made together, so that the same bits can be made again.

A product of matrices may round a row in another way when other rows stand beside it. So a memory of rows is written
down as the batches in which its rows were made: row numbers, each batch ended by -1, and for each slot its batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maxmargin.problems.state import State, StateError, varying

Rows = NDArray[np.intp]


@dataclass(init=False, eq=False)
class RowBatches(State):
    """The batches of which some row is still in a slot."""

    numbers: Rows = varying()  # of the batch that each slot is of, counted without gaps
    listed: Rows = varying(grows=True)  # the rows of the batches, each batch ended by -1

    def __init__(self, n_slots: int) -> None:
        self.batch_of = np.full(n_slots, -1, dtype=np.int64)
        self.batches: dict[int, Rows] = {}
        self.next = 0
        self.numbers, self.listed = self.batch_of.copy(), np.zeros(0, dtype=np.int64)

    def note(self, slots: Rows, rows: Rows) -> None:
        """These rows were made together, for these slots."""
        self.batch_of[slots] = self.next
        self.batches[self.next] = rows.copy()
        self.next += 1
        if len(self.batches) > len(self.batch_of):  # more than can be in use
            used = set(self.batch_of.tolist())
            self.batches = {number: rows for number, rows in self.batches.items() if number in used}

    def before_snapshot(self) -> None:
        used, batch_of = np.unique(self.batch_of[self.batch_of >= 0], return_inverse=True)
        self.numbers = np.full(len(self.batch_of), -1, dtype=np.int64)
        self.numbers[self.batch_of >= 0] = batch_of
        ended = [np.append(self.batches[number], -1) for number in used.tolist()]
        self.listed = np.concatenate([np.empty(0, dtype=np.int64), *ended])

    def make_again(
        self,
        owners: Rows,
        n_rows: int,
        make: Callable[[Rows], NDArray[np.floating]],
        into: NDArray[np.floating],
    ) -> None:
        """Fill the slots as they were; make(rows) makes a batch."""
        numbers, ends = self.numbers.copy(), np.flatnonzero(self.listed < 0)
        batches = [part[:-1] for part in np.split(self.listed, ends + 1)[:-1]]
        right = numbers.shape == owners.shape == self.batch_of.shape and owners.max(initial=-1) < n_rows
        right = right and all(len(rows) and rows.max() < n_rows for rows in batches)
        if not right or numbers.max(initial=-1) >= len(batches):
            raise StateError("its memory of the kernel's rows does not fit this run")
        for number, rows in enumerate(batches):
            slots = np.flatnonzero((numbers == number) & (owners >= 0))
            self.note(np.flatnonzero(numbers == number), rows)
            places = np.argsort(rows, kind="stable")
            found = places[np.minimum(np.searchsorted(rows[places], owners[slots]), len(rows) - 1)]
            if not np.array_equal(rows[found], owners[slots]):
                raise StateError("its memory of the kernel's rows does not fit this run")
            into[slots] = make(rows)[found]
