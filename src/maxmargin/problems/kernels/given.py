"""Kernels whose values are given: by a function of the user, or by a table that holds them.

    a function     k(A, B): the kernel of every row of A with every row of B
    precomputed    row i of the table is x_i's kernel with every row that was learnt from

What a function returns, or a table holds, is the real value: nothing is rounded. That it is positive semidefinite is
taken on trust. A function need not be safe beside itself, and may have its own threads: it is called for large blocks,
one after the other.
"""

from __future__ import annotations

import itertools
import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.executor import Threads
from maxmargin.data.frames import unmasked
from maxmargin.data.objects import given, placed
from maxmargin.data.table import Matrix, Vector, is_sparse, largest_magnitude
from maxmargin.problems.kernels.base import Kernel, Points, as_array, block_sums, register, rows_of, spans, weights_of
from maxmargin.problems.kernels.limits import MOST

TILE = 256  # rows and columns of a table that are compared with their mirror image at a time
SKEW = 1e-8  # of the largest value: how far from symmetric a precomputed kernel may be


def nothing_rounded(A: Points) -> tuple[Vector, Vector]:
    nothing = np.zeros(A.X.shape[0])
    return nothing, nothing


@register
@dataclass(frozen=True, eq=False)
class Function(Kernel):
    """k(A, B), the user's own."""

    suits_few: ClassVar[bool] = False
    name: ClassVar[str] = "function"
    irrational: ClassVar[str] = "nothing is known of what a function rounds"
    is_code: ClassVar[bool] = True
    block: ClassVar[tuple[int, int]] = (1024, 1024)  # few calls

    function: Callable[[Any, Any], Any] | None = None
    of_objects: bool = False  # it is given rows that are no numbers

    def points(self, X: Any, places: NDArray[np.intp] | None = None) -> Points:
        return super().points(placed(X) if self.of_objects else X, places)

    def values(self, A: Points, B: Points) -> NDArray[np.float64]:
        assert self.function is not None
        if not (len(A.places) and len(B.places)):
            return np.zeros((len(A.places), len(B.places)))  # many a function wants rows
        return checked_values(self.function(given(A.X), given(B.X)), A.places, B.places)

    def rounding(self, A: Points, B: Points) -> tuple[Vector, Vector]:
        return nothing_rounded(A)

    def refuse_beyond_float64(self, points: Points) -> None:
        """It is asked when it is called."""

    def combine(
        self,
        A: Points,
        B: Points,
        coefficients: NDArray[np.float64],
        threads: Threads | None = None,
        sizes: Vector | None = None,
    ) -> NDArray[np.float64]:
        n, weights = A.X.shape[0], weights_of(coefficients)
        out, (height, width) = np.zeros((n, coefficients.shape[1])), self.block
        for rows, columns in itertools.product(spans(0, n, height), spans(0, len(coefficients), width)):
            values = self.values(rows_of(A, rows), rows_of(B, columns))
            out[rows] += values @ coefficients[columns]
            if sizes is not None:
                sizes[rows] += np.abs(values) @ weights[columns]
        return out


@register
class Precomputed(Kernel):
    """k(x_i, x_j) is what row i of the table holds in column j."""

    suits_few: ClassVar[bool] = False
    name = "precomputed"
    irrational = ""
    is_table = True

    def points(self, X: Matrix, places: NDArray[np.intp] | None = None) -> Points:
        return Points(X, np.zeros(0), np.arange(X.shape[0]) if places is None else places)

    def values(self, A: Points, B: Points) -> NDArray[np.float64]:
        return as_array(A.X[:, B.places])

    def diagonal(self, A: Points) -> Vector:
        return np.ravel(as_array(A.X[np.arange(len(A.places)), A.places]))  # a row of its own, of a csr_matrix

    def rounding(self, A: Points, B: Points) -> tuple[Vector, Vector]:
        return nothing_rounded(A)

    def refuse_beyond_float64(self, points: Points) -> None:
        if points.X.shape[0] and not (largest := largest_magnitude(points.X)) <= MOST:
            raise ValueError(
                f"a value of the precomputed kernel has the size {largest:.3g}, and sums of such values are beyond "
                "float64; divide the kernel by a number, and multiply C by it"
            )

    def combine(
        self,
        A: Points,
        B: Points,
        coefficients: NDArray[np.float64],
        threads: Threads | None = None,
        sizes: Vector | None = None,
    ) -> NDArray[np.float64]:
        """The coefficients in the places of their columns: zeros between them cost less than to pick columns."""
        spread, weights = (spread_out(c, B.places, A.X.shape[1]) for c in (coefficients, weights_of(coefficients)))
        n, left_of = A.X.shape[0], A.X.__getitem__
        return block_sums(self, n, left_of, lambda columns: columns, spread, weights, threads, sizes, both=False)

    def terms_of_sums(self, A: Points, B: Points) -> int:
        return int(A.X.shape[1])

    def from_factors(self, left: Matrix, right: slice) -> NDArray[np.float64]:
        return as_array(left[:, right])


def checked_values(returned: Any, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
    """What a user's function returned for these rows of tables, as it must be: in an array of our own, because solvers
    write into it, and the function may keep its."""
    shape = len(rows), len(columns)
    asked = (
        f"the kernel function was given {shape[0]} and {shape[1]} rows and must return a table of shape {shape}, "
        "one value for each pair"
    )
    returned = unmasked(returned) if isinstance(returned, np.ma.MaskedArray) else returned
    try:
        table = np.asarray(returned.toarray() if is_sparse(returned) else returned)
    except ValueError as error:  # lists of different lengths
        raise ValueError(f"{asked}; it returned no table: {error}") from None
    if table.shape != shape:
        turned = ", which is transposed: rows are those of its first argument" if table.shape == shape[::-1] else ""
        found = f"the shape {table.shape}{turned}" if table.ndim else reprlib.repr(returned)
        raise ValueError(f"{asked}; it returned {found}")
    no_numbers = "the values of a kernel are real numbers, and the kernel function returned"
    if table.dtype.kind not in "biufO":
        raise ValueError(f"{no_numbers} {table.dtype}")
    try:
        values = np.array(table, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{no_numbers} something else: {error}") from None
    if not np.all(np.isfinite(values)):
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"the kernel function returned {values[row, column]} for row {rows[row]} and row {columns[column]}; "
            "its values must be finite"
        )
    return values


def refuse_a_skew_table(table: Matrix, places: NDArray[np.intp]) -> None:
    """A precomputed kernel is symmetric: `table` holds its values among the rows in these places."""
    n, most = table.shape[0], SKEW * max(largest_magnitude(table), 1e-300)
    size = n if is_sparse(table) else TILE
    for rows, columns in itertools.product(spans(0, n, size), repeat=2):
        if columns.start < rows.start:
            continue
        skew = abs(table[rows, columns] - table[columns, rows].T)
        if not float(skew.max()) > most:
            continue
        i, j = np.unravel_index(int(skew.argmax()), skew.shape)
        i, j = rows.start + i, columns.start + j
        raise ValueError(
            f"a precomputed kernel is symmetric; row {places[i]}, column {places[j]} holds {table[i, j]} "
            f"and row {places[j]}, column {places[i]} holds {table[j, i]}"
        )


def spread_out(values: NDArray[np.float64], places: NDArray[np.intp], size: int) -> NDArray[np.float64]:
    """The values in their places, and zeros elsewhere."""
    out = np.zeros((size, *values.shape[1:]))
    out[places] = values
    return out
