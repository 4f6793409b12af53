"""Rows of a kernel that a table in memory holds, as a user has given it: they are picked out, and no row is copied.

phi is shifted to one of the rows, as that of `kernel_rows.GivenValues` is. Making a row takes about as long as reading
it, so that few are kept.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import njit
from maxmargin.data.executor import Threads, check_interrupt
from maxmargin.data.table import Vector, is_sparse
from maxmargin.solvers.kernel_smo.kernel_rows import GivenValues, KernelRows, Rows, Values


def picked(rows: KernelRows) -> KernelRows:
    """The same rows, where they come from a table in memory."""
    if not (isinstance(rows, GivenValues) and rows.kernel.is_table) or is_sparse(rows.points.X):
        return rows
    own = np.arange(rows.n_columns), rows.points.places
    return GivenTable(rows.points.X, *own, rows.to_z, rows.scale, rows.threads)


class GivenTable(KernelRows):
    """`chosen` are the rows of the table that are columns here, `places` its columns that stand for them."""

    def __init__(
        self, table: NDArray[np.floating], chosen: Rows, places: Rows, to_z: Vector, scale: float, threads: Threads
    ) -> None:
        super().__init__(len(chosen), threads, math.inf)
        self.table, self.chosen, self.places, self.to_z, self.scale = table, chosen, places, to_z, scale
        self.are_light = True

    def left(self, rows: Rows) -> tuple[Rows, Vector]:
        return self.chosen[rows], self.to_z[rows]

    def inner(self, left: tuple[Rows, Vector], start: int, stop: int, out: Values, at: int) -> None:
        check_interrupt()
        pick(self.table, *left, self.places[start:stop], self.to_z[start:stop], 1.0 / self.scale, out, at)

    def finish(self, inner: Values, start: int, stop: int) -> None:
        """They are the kernel."""

    def restricted(self, columns: Rows) -> GivenTable:
        some = self.chosen[columns], self.places[columns], self.to_z[columns]
        return GivenTable(self.table, *some, self.scale, self.threads)


@njit
def pick(table: Any, rows: Any, left: Any, places: Any, right: Any, factor: Any, out: Any, at: Any) -> None:
    """out[k] = the values of a row of the table in these places, shifted and scaled, from column `at` on."""
    for k in range(rows.shape[0]):
        line, row, own = table[rows[k]], out[k, at : at + places.shape[0]], left[k]
        for t in range(places.shape[0]):
            row[t] = np.float32((line[places[t]] - own - right[t]) * factor)
