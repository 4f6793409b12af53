"""The margin problem: which plane is farthest from the rows of both classes?

    l2    max_{w,b}  min_i  y_i (w.x_i + b) / |w|_2      the Euclidean distance of the nearest row
    l1    max_{w,b}  min_i  y_i (w.x_i + b) / |w|_1      the same in the largest-coordinate distance

The dual is a pair of nearest points, one in the hull of each class (without b: the point of the hull of all
y_i x_i that is nearest to the origin), measured in the dual norm: |.|_2 for l2, the largest coordinate for l1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from maxmargin.data.matrix import Matrix, Vector


class Norm(StrEnum):
    """The norm of w by which a margin is measured."""

    L1 = "l1"
    L2 = "l2"


@dataclass(frozen=True, eq=False)
class SignedRows:
    """Rows X with signs +1 and -1."""

    X: Matrix
    signs: Vector

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.X.shape[1])


@dataclass(frozen=True, eq=False)
class Separation(SignedRows):
    """`fit_intercept` says whether the plane may leave the origin."""

    norm: Norm
    fit_intercept: bool


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver claims at one moment; nothing in it is believed before it is certified.

    w, b      the plane w.x + b = 0
    a         weights of the rows, none negative, in any scale: the dual point (mistake counts are one)
    settled   the algorithm has ended by its own rule; otherwise it could go on
    updates   how many steps it took: updates of w, or changes of the active set
    sweeps    how many passes over the rows
    details   what this algorithm has to add, by name
    """

    w: Vector
    b: float
    a: Vector
    settled: bool
    updates: int
    sweeps: int
    details: dict[str, Any]
