"""Rows in the form that a kernel needs; and sum_j k(x, x_j) c_j for many of them at once.

Values of the kernel are made block by block, summed and forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.executor import Threads, block_edges, check_interrupt, one_thread_for_blas
from maxmargin.data.table import Matrix, Vector, is_sparse

FAINT = 2.0**-1000  # added to weights: u times it is more than what a weight below the normal range can have lost
BLOCKS_AT_ONCE = 32  # of rows whose left factors are made together


class Points(NamedTuple):
    """Rows as a kernel wants them, with |x|^2 if it is made of inner products, and their places.

    `places` are the numbers of these rows in the table that was learnt from, where they come from there.
    """

    X: Matrix
    squares: Vector
    places: NDArray[np.intp]

    @property
    def dense(self) -> NDArray[np.float64]:
        """The rows as an array, also where they are sparse."""
        return as_array(self.X)


def rows_of(points: Points, rows: slice | NDArray[np.intp]) -> Points:
    """Some of the rows."""
    squares = points.squares[rows] if len(points.squares) else points.squares
    return Points(points.X[rows], squares, points.places[rows])


def spans(start: int, stop: int, size: int) -> Iterator[slice]:
    """start..stop in slices of that size."""
    return (slice(low, min(low + size, stop)) for low in range(start, stop, size))


def as_array(values: Any) -> NDArray[np.float64]:
    return np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)


class InBlocks(Protocol):
    """A kernel as these sums need it: the values of a block come from a factor of its rows and one of its columns."""

    @property
    def block(self) -> tuple[int, int]: ...
    def left_factor(self, A: Points) -> Any: ...
    def from_factors(self, left: Any, right: Any) -> NDArray[np.float64]: ...


def weights_of(coefficients: NDArray[np.float64]) -> Vector:
    """|c_j| over all columns, and a little."""
    return np.asarray(np.abs(coefficients).sum(axis=1) + FAINT)


def block_sums(
    kernel: InBlocks,
    A: Points,
    right_of: Callable[[slice], Any],
    coefficients: NDArray[np.float64],
    weights: Vector,
    threads: Threads | None,
    sizes: Vector | None,
    both: bool,
) -> NDArray[np.float64]:
    """The sums of each row of A; `right_of` makes the factor of the rows x_j in a slice.

    To `sizes`, if it is given, sum_j |k(x, x_j)| weights_j is added. With `both` the x_j are the rows of A: each value
    is made once and serves both of its rows.
    """
    n, out = A.X.shape[0], np.zeros((A.X.shape[0], coefficients.shape[1]))
    (height, width), edges = kernel.block, block_edges(n, n * len(coefficients))
    mirrored = [np.zeros_like(out) for _ in edges] if both else []  # for each thread: its own

    @np.errstate(over="ignore", invalid="ignore")  # of this thread
    def run(block: int, start: int, stop: int) -> None:
        for some in spans(start, stop, BLOCKS_AT_ONCE * height):
            check_interrupt()
            left = kernel.left_factor(rows_of(A, some))
            run_some(block, some, left)

    def run_some(block: int, some: slice, left: Any) -> None:
        start, stop = some.start, some.stop
        cuts = [(slice(start + at.start, start + at.stop), at) for at in spans(0, stop - start, height)]
        parts = [(rows, rows_of(left, at) if isinstance(left, Points) else left[at]) for rows, at in cuts]
        for columns in spans(start if both else 0, len(coefficients), width):
            right = right_of(columns)
            for rows, part in parts:
                if both and columns.start < rows.start:
                    break  # these pairs, and those of the rows below, have had their turn the other way round
                check_interrupt()
                values = kernel.from_factors(part, right)
                out[rows] += values @ coefficients[columns]
                if sizes is not None:
                    sizes[rows] += np.abs(values) @ weights[columns]
                if both:
                    beyond = slice(max(rows.stop, columns.start), columns.stop)
                    mirrored[block][beyond] += values[:, beyond.start - columns.start :].T @ coefficients[rows]

    with Threads.shared(threads) as shared, one_thread_for_blas():
        shared.run(run, edges)
    return sum(mirrored, out)
