"""A certificate: what is proven about one two-class problem, with all that is needed to check it again.

It holds the plane and the weights of the rows (the two sides of the proof), the bounds that follow from them, and
how well they satisfy the conditions of optimality. It never holds what only a solver believes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.proof import KKT, Proof, TheoremBound
from maxmargin.certificates.rounding import rounded_down, rounded_up
from maxmargin.data.matrix import Vector

if TYPE_CHECKING:
    from maxmargin.certificates.verification import Verification


class Verdict(StrEnum):
    """What is proven, as a sentence."""

    OPTIMAL = "The widest street: no plane has a larger margin, to the stated gap."
    SEPARABLE = "Separable: this plane has every row strictly on its side; its margin is bounded from both sides."
    WEAKLY_SEPARABLE = "Weakly separable: a plane has no row on the wrong side, but no plane keeps all rows off itself."
    NOT_SEPARABLE = "Not separable: a point lies in the hulls of both classes; the witness rows prove it."
    UNDECIDED = "Undecided at this precision: the best margin lies in the stated interval around zero."
    STOPPED = "Stopped before a separating plane was found; the bounds are true."


class FurtherLook(StrEnum):
    """Where no plane separates: what became of the search for one that separates weakly. Reported, not proven."""

    NOT_ASKED = "not asked"
    FOUND = "found"
    NONE_FOUND = "no plane was found that leaves no row on its wrong side and some row off itself"
    TOO_LARGE = "a plane that leaves no row on its wrong side was not looked for: the table is too large for that"
    NO_TIME = "a plane that leaves no row on its wrong side was not found before the time was over"


def relative_gap(lower: float, upper: float) -> float:
    """(upper - lower) / upper; infinite where nothing bounds the margin from above, NaN where it is zero."""
    if not (math.isfinite(upper) and upper > 0.0):
        return math.nan if upper == 0.0 else math.inf
    return (upper - lower) / upper


@dataclass(frozen=True, eq=False)
class Certificate(Proof):
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

    verdicts: ClassVar[type[StrEnum]] = Verdict
    numbers: ClassVar[tuple[str, ...]] = ("b", "margin_lower", "margin_upper", "primal", "dual", "tol")
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

    def __setstate__(self, state: dict[str, Any]) -> None:
        look = FurtherLook(state.get("further_look", FurtherLook.NOT_ASKED))
        super().__setstate__({"rows_off_plane": None, **state, "further_look": look})

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """What `to_dict` wrote, now or before there was a further look."""
        look, off = fields.get("further_look", "NOT_ASKED"), fields.get("rows_off_plane")
        if look not in FurtherLook.__members__ or not (off is None or (type(off) is int and off >= 0)):
            raise ValueError(f"not a certificate: further_look {look!r}, rows_off_plane {off!r}")
        return super().from_dict({**fields, "further_look": FurtherLook[look], "rows_off_plane": off})

    @property
    def relative_gap(self) -> float:
        """(margin_upper - margin_lower) / margin_upper: how much wider a street could at most be."""
        return relative_gap(self.margin_lower, self.margin_upper)

    @property
    def is_separable(self) -> bool | None:
        """True or False where it is proven, None where it is not."""
        if self.verdict in (Verdict.OPTIMAL, Verdict.SEPARABLE):
            return True
        if self.verdict in (Verdict.NOT_SEPARABLE, Verdict.WEAKLY_SEPARABLE):
            return False
        return None

    def verify(self, X: Any, y: Any, *, exact: bool = False, sample_weight: Any = None) -> Verification:
        """Check every number against the raw data, with code that imports no solver.

        exact=True decides the proof in rational arithmetic, where rounding cannot fake anything.
        The answer can stand in an `if`, and says why when it is printed. Rows of zero `sample_weight` were not
        part of the problem: give the same weights as to `fit`.
        """
        from maxmargin.certificates.verification import verify

        return verify(self, X, y, exact=exact, sample_weight=sample_weight)

    def __repr__(self) -> str:
        return (
            f"Certificate({self.verdict.name}, margin in [{rounded_down(self.margin_lower)}, "
            f"{rounded_up(self.margin_upper)}], relative gap {rounded_up(self.relative_gap, 2)}, "
            f"{self.n_support} of {self.n_rows} rows carry weight)"
        )

    def report(self) -> str:
        """All of it, for a person."""
        from maxmargin.certificates.report import report

        return report(self)
