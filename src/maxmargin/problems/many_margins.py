"""Soft margins of few rows each, one after the other: what solver and judge work on in one call for all of them.

    problem k     rows edges[k] to edges[k + 1] of X, signs and costs,     max |x_ij| = largest[k]
    loss          the same for all of them

A call of the interpreter costs as much as a pass over a hundred short rows, and a fit of a small table makes a thousand
of them. Here the problems of a fit, one for each pair of classes, share them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.table import Vector, is_sparse
from maxmargin.problems.losses import Loss
from maxmargin.problems.statement import TwoClasses, prices


@dataclass(frozen=True, eq=False)
class ManyMargins:
    """Problems of the same columns and the same loss; X is an array of float64, and no problem is without rows.

    `rows` are the numbers of the rows in the user's table.
    """

    X: NDArray[np.float64]
    signs: Vector
    costs: Vector
    rows: NDArray[np.intp]
    edges: NDArray[np.int64]
    largest: Vector
    loss: Loss
    fit_intercept: bool

    @cached_property
    def upper(self) -> Vector:
        """u_i, the largest value that a_i may take."""
        return self.loss.bounds(self.costs)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many rows each problem has."""
        return np.diff(self.edges)

    @cached_property
    def spans(self) -> list[slice]:
        """The rows of each problem."""
        return [slice(*pair) for pair in itertools.pairwise(self.edges.tolist())]

    def __len__(self) -> int:
        return len(self.edges) - 1

    def of_rows(self, numbers: Any) -> Any:
        """Numbers of the problems, or vectors, as numbers of their rows."""
        return np.repeat(numbers, self.counts, axis=0)


class Proposals(NamedTuple):
    """A plane for each problem, dual variables within their box for each row, and the steps that it took."""

    w: NDArray[np.float64]
    b: Vector
    a: Vector
    steps: NDArray[np.int64]


class ManySolver(NamedTuple):
    """How many small problems are solved in one call.

    proposals    of (many, tol): a plane and dual variables for each problem
    suits        of the loss: whether it is one of those
    rows, columns, numbers    of a problem at most; and it has a row for each column

    The function may be named as "module:function", as those of a solver.
    """

    proposals: Callable[[ManyMargins, float], Proposals] | str
    suits: Callable[[Loss], bool]
    rows: int
    columns: int
    numbers: int


def many_margins(problems: Sequence[TwoClasses], C: float, loss: Loss, fit_intercept: bool) -> ManyMargins:
    """These problems, one after the other, in float64: which holds every float32."""
    tables: list[Any] = [two.X for two in problems]
    edges = np.zeros(len(problems) + 1, dtype=np.int64)
    np.cumsum([len(two.signs) for two in problems], out=edges[1:])
    return ManyMargins(
        np.ascontiguousarray(joined([X.toarray() if is_sparse(X) else X for X in tables]), dtype=np.float64),
        joined([two.signs for two in problems]),
        joined([prices(C, two) for two in problems]),
        joined([two.rows for two in problems]),
        edges,
        np.array([two.largest for two in problems]),
        loss,
        bool(fit_intercept),
    )


def joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
