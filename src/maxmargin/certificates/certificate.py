"""The certificate of separation: what is proven about one two-class problem, with all that is needed to check it again.

It holds the plane and the weights of the rows (the two sides of the proof), the bounds that follow from them, and
how well they satisfy the conditions of optimality. It never holds what only a solver believes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.proof import KKT, TheoremBound
from maxmargin.certificates.proof import FurtherLook as FurtherLook
from maxmargin.certificates.proof import Verdict as Verdict
from maxmargin.certificates.record import Record
from maxmargin.certificates.separation import WITNESSED
from maxmargin.data.table import Vector


def relative_gap(lower: float, upper: float) -> float:
    """(upper - lower) / upper; infinite where nothing bounds the margin from above, NaN where it is zero."""
    if not (math.isfinite(upper) and upper > 0.0):
        return math.nan if upper == 0.0 else math.inf
    return (upper - lower) / upper


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Record):
    """What is proven about separating one class from another (or from the rest).

    verdict                      what is proven, as a sentence
    norm, fit_intercept          which margin: "l2" or "l1"; with a bias or through the origin
    positive, negative           the labels on the two sides; negative None means all other labels
    n_rows, n_columns            the size of the problem
    w, b                         the plane w.x + b = 0, zero if none is claimed
    rows, weights                rows of X with weights: points of the hulls, or the witness that the hulls meet
    margin_lower, margin_upper   the best margin of any plane lies between them, rounding included
    primal, dual                 the same as values of min 1/2|w|^2 (l1: |w|_1) subject to y (w.x + b) >= 1
    tol                          the relative gap that was asked for; 0 where none was, as in learning by mistakes
    kkt                          how well the conditions of optimality hold; None where no plane separates
    theorems                     the algorithm's guarantees beside what happened
    rows_off_plane               of a weakly separable problem: how many rows are not on the plane; None: not counted
    further_look                 of an inseparable one: what became of the search for a weakly separating plane
    """

    kind: ClassVar[str] = "separation"
    told_by: ClassVar[set[str]] = {"norm"}
    verdicts: ClassVar[type[StrEnum]] = Verdict
    question: ClassVar[str] = "is_separable"
    may_ask_for_no_gap: ClassVar[bool] = True

    verdict: Verdict
    norm: str
    fit_intercept: bool
    positive: Any
    negative: Any
    n_rows: int
    n_columns: int
    w: Vector
    b: float
    rows: NDArray[np.intp]
    weights: Vector
    margin_lower: float
    margin_upper: float
    primal: float
    dual: float
    tol: float
    kkt: KKT | None = None
    theorems: tuple[TheoremBound, ...] = ()
    rows_off_plane: int | None = None
    further_look: FurtherLook = FurtherLook.NOT_ASKED

    @property
    def relative_gap(self) -> float:
        """(margin_upper - margin_lower) / margin_upper: how much wider a street could at most be."""
        return relative_gap(self.margin_lower, self.margin_upper)

    @property
    def is_separable(self) -> bool | None:
        """True or False where it is proven, None where it is not."""
        if self.verdict in (Verdict.OPTIMAL, Verdict.SEPARABLE):
            return True
        if self.verdict in WITNESSED:
            return False
        return None
