"""Rows of the kernel that were made, kept in memory of bounded size.

A product of matrices may round a row in another way when other rows stand beside it. So a memory of rows is written
down as the batches in which its rows were made: row numbers, each batch ended by -1, and for each slot its batch.

Where rows are light (`KernelRows.are_light`), made anew about as fast as they are read, only few slots are in use at
first: memory is to stay near the size of the data. When as many rows as these were made again, and again, there are
twice as many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import njit
from maxmargin.problems.kernels import spans
from maxmargin.problems.protocol import State, StateError, varying
from maxmargin.solvers.kernel_smo.kernel_rows import KernelRows, Rows, Values

ENOUGH = 2.0**27  # bytes, for rows that are cheap to make
FIRST = 256  # slots for light rows, to begin with
AGAIN = 2  # times the slots: after as many rows that had been made before, there are twice as many slots
TOGETHER = 64  # rows that are made beside their slots, where these are scattered


def room_for(rows: KernelRows, n_bytes: float) -> Values:
    """Memory for kernel rows: so many bytes, but for one row at least and for all of them at most.

    Memory that was never touched costs more than rows that are cheap to make: of those, a limited number is kept.
    """
    n = rows.n_columns
    return np.empty(int(min(n * n, max(n, (min(n_bytes, ENOUGH) if rows.is_cheap else n_bytes) // 4))), np.float32)


def rooms_for(rows: KernelRows, n_bytes: float) -> tuple[Values, Values]:
    """Memory for the rows over all columns, and for those over some: light rows have one for both, in turn."""
    if rows.are_light:
        return (shared := room_for(rows, n_bytes)), shared
    return room_for(rows, 0.5 * n_bytes), room_for(rows, 0.5 * n_bytes)


@dataclass(init=False, eq=False)
class RowCache(State):
    """Kernel rows that are kept: a ring of slots in which what came first is replaced first.

    in_use      how many of the slots are
    were_made   rows that once were
    again       how many rows were made once more since `in_use` has changed
    """

    owner: Rows = varying()
    next_slot: int = varying()
    made: RowBatches = varying()
    in_use: int = varying()
    were_made: NDArray[np.bool_] = varying()
    again: int = varying()

    def __init__(self, rows: KernelRows, memory: Values) -> None:
        n = rows.n_columns
        slots = min(n, len(memory) // n)
        self.rows, self.values = rows, memory[: slots * n].reshape(slots, n)
        self.slot_of, self.owner = np.full(n, -1), np.full(slots, -1)
        self.were_made, self.again = np.zeros(n, dtype=bool), 0
        self.in_use = min(slots, FIRST) if rows.are_light else slots
        self.forget()

    def forget(self) -> None:
        """Nothing is kept any more: the memory may be used for something else."""
        self.slot_of[:], self.owner[:], self.next_slot = -1, -1, 0
        self.made = RowBatches(len(self.owner))

    def slots(self, chosen: Rows) -> Rows:
        """Where in `values` the rows are, no more than there are slots in use; what is missing is made."""
        missing = chosen[self.slot_of[chosen] < 0]
        if len(missing):
            self.grow(missing)
            wanted = np.zeros(self.rows.n_columns + 1, dtype=bool)  # the last one stands for slots without an owner
            wanted[chosen] = True
            order = (np.arange(self.in_use) + self.next_slot) % self.in_use
            free = order[~wanted[self.owner[order]]][: len(missing)]
            self.slot_of[self.owner[free][self.owner[free] >= 0]] = -1
            self.owner[free] = self.slot_of[missing] = -1  # until they are made: a user's function may fail
            for first, last in self.batches(free):
                self.make(missing[first:last], free[first:last])
                self.made.note(free[first:last], missing[first:last])
            self.owner[free], self.slot_of[missing] = missing, free
            self.next_slot = (int(free[-1]) + 1) % self.in_use
        return self.slot_of[chosen]

    def grow(self, missing: Rows) -> None:
        """More slots where rows come back that had to go."""
        self.again += int(np.count_nonzero(self.were_made[missing]))
        self.were_made[missing] = True
        if self.again > AGAIN * self.in_use and self.in_use < len(self.owner):
            self.next_slot, self.again = self.in_use, 0
            self.in_use = min(2 * self.in_use, len(self.owner))

    def batches(self, free: Rows) -> Iterable[tuple[int, int]]:
        """Which of these slots are filled together: those that follow each other or, where few do, the next few."""
        stretches = list(runs(free))
        if len(stretches) * TOGETHER <= 2 * len(free):
            return stretches
        return ((part.start, part.stop) for part in spans(0, len(free), TOGETHER))

    def make(self, rows: Rows, slots: Rows) -> None:
        """Where the slots follow each other, in their place."""
        if slots[-1] - slots[0] == len(slots) - 1:
            self.rows.fill(rows, self.values[slots[0] : slots[-1] + 1])
        else:
            self.values[slots] = self.made_together(rows)

    def square(self, chosen: Rows) -> Values:
        """The kernel among these rows. Where rows are expensive to make, those that are kept are copied from."""
        slots = self.slot_of[chosen]
        kept, missing = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
        if self.rows.is_cheap or not len(kept):
            return self.rows.square(chosen)
        out = np.empty((len(chosen), len(chosen)), dtype=np.float32)
        copy_values(self.values, slots[kept], chosen, kept, out)
        out[np.ix_(missing, kept)] = out[np.ix_(kept, missing)].T
        out[np.ix_(missing, missing)] = self.rows.square(chosen[missing])
        return out

    def after_restore(self) -> None:
        self.made.make_again(self.owner, self.rows.n_columns, self.made_together, self.values)
        self.in_use = min(max(1, self.in_use), len(self.owner))
        self.next_slot %= self.in_use
        filled = np.flatnonzero(self.owner >= 0)
        self.slot_of[:] = -1
        self.slot_of[self.owner[filled]] = filled

    def made_together(self, rows: Rows) -> Values:
        values = np.empty((len(rows), self.rows.n_columns), dtype=np.float32)
        self.rows.fill(rows, values)
        return values


@njit
def copy_values(cache: Any, slots: Any, columns: Any, places: Any, out: Any) -> None:
    """out[places[k]] = the columns of the row in slots[k]."""
    for k in range(slots.shape[0]):
        row, target = cache[slots[k]], out[places[k]]
        for t in range(columns.shape[0]):
            target[t] = row[columns[t]]


def runs(slots: Rows) -> Iterator[tuple[int, int]]:
    """Stretches of slots that follow each other."""
    edges = np.flatnonzero(np.diff(slots) != 1) + 1
    return zip([0, *edges], [*edges, len(slots)], strict=True)


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
