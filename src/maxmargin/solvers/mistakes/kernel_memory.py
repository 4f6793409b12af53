"""One loop for rows and for kernels: rows of the kernel, made when they are first needed and remembered.

A plane w = sum_j c_j phi(x_j) is known to a loop by its values v_i = w.phi(x_i) on all rows of a table. Then

    w.phi(x_i)             is v_i
    w += step phi(x_i)     is v += step (k(x_1, x_i), ..., k(x_n, x_i)),  a row of the kernel

so that a loop written with the words below serves a dense table, a CSR table and a kernel:

    inner(rows, i, v)         w.x_i
    move(rows, i, step, v)    w += step x_i
    is_ready(rows, i)         whether move() can be called: a row of the kernel must be in memory
    expect(rows, i)           asks for x_i, a few rows before it is needed

A visit costs nothing, a move n additions. The memory is a ring: where it is full, the oldest rows make room, those
first that were made in vain.

The rows are float64. Who is content with float32, because values are measured once more before anything is believed,
may have them so where there are many: those of an rbf are then made as batch SMO makes them, several times faster.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import is_record, overload
from maxmargin.data.executor import Threads, check_interrupt
from maxmargin.data.rows import add, dot, touch_row
from maxmargin.data.table import terms_of
from maxmargin.problems.kernels import Kernel, Points, ProductKernel, rows_of, spans
from maxmargin.problems.protocol import State, varying
from maxmargin.solvers.kernel_smo.kernel_rows import KernelRows, shared_rows
from maxmargin.solvers.kernel_smo.row_cache import RowBatches

BYTES = 2**28  # of memory for rows of the kernel
AT_ONCE = 64  # rows that are made together
PRODUCTS = 200_000_000  # of numbers, between two checks of the clock
MANY = 1000  # rows: where there are more, float32 saves time that is noticed

Values = NDArray[np.floating]


class RememberedRows(NamedTuple):
    """Row i of the kernel is stored[slots[i]]; it is not there where slots[i] < 0."""

    stored: Values
    slots: NDArray[np.int64]


@dataclass(init=False, eq=False)
class KernelMemory(State):
    """The rows of the kernel of a table with itself; with `threads` for it, float32 will do."""

    owners: NDArray[np.int64] = varying()
    next: int = varying()
    made: RowBatches = varying()

    def __init__(self, kernel: Kernel, points: Points, threads: Threads | None = None) -> None:
        self.kernel, self.points, self.threads = kernel, points, threads
        n, is_rbf = points.X.shape[0], isinstance(kernel, ProductKernel) and kernel.is_exponential
        self.is_rough = threads is not None and n > MANY and is_rbf
        number = np.dtype(np.float32 if self.is_rough else np.float64)
        size = int(min(n, max(AT_ONCE, BYTES // (number.itemsize * n))))
        self.rows = RememberedRows(np.empty((size, n), dtype=number), np.full(n, -1, dtype=np.int64))
        self.owners = np.full(size, -1, dtype=np.int64)
        self.next = 0
        self.made = RowBatches(size)

    def fetch(self, first: int, others: NDArray[np.intp], used: NDArray[np.bool_] | None = None) -> None:
        """Make row `first`, and with it the first few of the others that are missing. Rows that were never used, if it
        is told which were, make room before the oldest ones: a sweep comes back to the others."""
        slots = self.rows.slots
        missing = others[slots[others] < 0]
        _, places = np.unique(missing, return_index=True)
        missing = missing[np.sort(places)]
        wanted = np.concatenate([[first], missing[missing != first]])[: min(AT_ONCE, len(self.owners))]
        own = (self.next + np.arange(len(self.owners))) % len(self.owners)
        if used is not None:
            own = own[np.argsort((self.owners[own] >= 0) & used[self.owners[own]], kind="stable")]
        own = own[: len(wanted)]
        gone = self.owners[own]
        slots[gone[gone >= 0]] = -1
        self.owners[own], slots[wanted] = wanted, own
        self.next = int(own[-1] + 1) % len(self.owners)
        self.rows.stored[own] = self.made_together(wanted)
        self.made.note(own, wanted)

    @functools.cached_property
    def in_float32(self) -> KernelRows:
        """Who makes rows in float32; those of an rbf are not scaled."""
        assert self.threads is not None
        return shared_rows(self.kernel, self.points, self.threads).rows

    def made_together(self, rows: NDArray[np.intp]) -> Values:
        if not self.is_rough:
            return self.met(rows, self.points)
        out = np.empty((len(rows), self.points.X.shape[0]), dtype=np.float32)
        self.in_float32.fill(rows, out)
        return out

    def square(self, rows: NDArray[np.intp]) -> Values:
        """The kernel among these rows."""
        return self.in_float32.square(rows) if self.is_rough else self.met(rows, rows_of(self.points, rows))

    def met(self, rows: NDArray[np.intp], others: Points) -> NDArray[np.float64]:
        """A product of matrices for some of the columns at a time, with a check of the clock between."""
        n, few = others.X.shape[0], rows_of(self.points, rows)
        products = max(1, len(rows) * terms_of(others.X))
        columns = n if self.kernel.is_code else max(AT_ONCE, PRODUCTS // products)
        values = np.empty((len(rows), n))
        for some in spans(0, n, columns):
            check_interrupt()
            values[:, some] = self.kernel.values(few, rows_of(others, some))
        return values

    def after_restore(self) -> None:
        slots = self.rows.slots
        self.made.make_again(self.owners, len(slots), self.made_together, self.rows.stored)
        self.next %= len(self.owners)
        filled = np.flatnonzero(self.owners >= 0)
        slots[:] = -1
        slots[self.owners[filled]] = filled


def inner(rows: Any, i: int, v: Any) -> float:
    return float(v[i]) if isinstance(rows, RememberedRows) else dot(rows, i, v)


def move(rows: Any, i: int, step: float, v: Any) -> None:
    if isinstance(rows, RememberedRows):
        v += step * rows.stored[rows.slots[i]]
    else:
        add(rows, i, step, v)


def is_ready(rows: Any, i: int) -> bool:
    return not isinstance(rows, RememberedRows) or bool(rows.slots[i] >= 0)


def expect(rows: Any, i: int) -> None:
    pass  # there is nothing to compute


def remembered(rows: Any) -> bool:
    return is_record(rows, RememberedRows)


@overload(inner)
def _compile_inner(rows: Any, i: Any, v: Any) -> Any:
    def kernel(rows: Any, i: Any, v: Any) -> Any:
        return v[i]

    def table(rows: Any, i: Any, v: Any) -> Any:
        return dot(rows, i, v)

    return kernel if remembered(rows) else table


@overload(move)
def _compile_move(rows: Any, i: Any, step: Any, v: Any) -> Any:
    def kernel(rows: Any, i: Any, step: Any, v: Any) -> None:
        row = rows.stored[rows.slots[i]]
        for j in range(row.shape[0]):
            v[j] += step * row[j]

    def table(rows: Any, i: Any, step: Any, v: Any) -> None:
        add(rows, i, step, v)

    return kernel if remembered(rows) else table


@overload(is_ready)
def _compile_is_ready(rows: Any, i: Any) -> Any:
    def kernel(rows: Any, i: Any) -> Any:
        return rows.slots[i] >= 0

    def table(rows: Any, i: Any) -> Any:
        return True

    return kernel if remembered(rows) else table


@overload(expect)
def _compile_expect(rows: Any, i: Any) -> Any:
    def kernel(rows: Any, i: Any) -> None:
        pass

    def table(rows: Any, i: Any) -> None:
        touch_row(rows, i)

    return kernel if remembered(rows) else table
