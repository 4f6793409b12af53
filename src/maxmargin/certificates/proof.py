"""What certificates are made of: verdicts, conditions of optimality, theorems."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from maxmargin.certificates.words import rounded_down, rounded_up


class Verdict(StrEnum):
    """What is proven, as a sentence.

    Examples
    --------
    >>> from maxmargin import Verdict, separability
    >>> separability([[0], [1], [2]], [0, 1, 0]).verdict is Verdict.NOT_SEPARABLE
    True
    """

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


@dataclass(frozen=True)
class Violation:
    """The largest violation of one condition, and the row where it occurs (-1: it has no row)."""

    value: float
    row: int = -1


@dataclass(frozen=True)
class KKT:
    """The conditions of Karush, Kuhn and Tucker at the claimed plane and weights: the largest violation of each.

    Hard margin, in canonical scale: w and a are scaled so that the nearest row has y (w.x + b) = 1 and
    w = sum a_i y_i x_i would hold exactly at the optimum; violations are relative to |w| (stationarity), to 1 (primal),
    and to sum a (dual, slackness).

    stationarity       |w - sum a_i y_i x_i|                  (l1: 1 - w.p / (|w|_1 |p|_max) with p = sum a_i y_i x_i)
    primal             max 1 - y_i (w.x_i + b)
    dual               max -a_i,  and |sum a_i y_i| if there is a bias
    slackness          max a_i (y_i (w.x_i + b) - 1)
    bias               the support vectors' own values of b, highest minus lowest: they should agree

    Soft margin, xi_i = max(0, 1 - y_i (w.x_i + b)): stationarity relative to |w|; the primal holds by the choice of xi;
    the dual is |sum a_i y_i| / sum a; slackness is the largest share of one row in the gap, relative to the objective,
    and together with the stationarity these shares are the gap; bias as above, over the rows with 0 < a_i < C_i.
    A margin in the space of a kernel, soft or hard, likewise: w and the weights' own w differ by a factor only.
    """

    stationarity: Violation
    primal: Violation
    dual: Violation
    slackness: Violation
    bias: Violation


@dataclass(frozen=True)
class TheoremBound:
    """What a theorem promises beside what was measured; `at_most` says which way the promise goes.

    `plane` is (w_1, ..., w_d, b) of the plane whose margin the bound is from; empty: of the certificate's own.
    """

    name: str
    bound: float
    measured: float
    at_most: bool = True
    plane: tuple[float, ...] = ()

    @property
    def holds(self) -> bool:
        return self.measured <= self.bound if self.at_most else self.measured >= self.bound

    def __str__(self) -> str:
        relation, shown = ("of at most", rounded_up) if self.at_most else ("against at least", rounded_down)
        promise = "without a bound" if math.isinf(self.bound) else f"{relation} {shown(self.bound, 6)}"
        best = ", g of the best plane known" if self.plane else ""
        return f"{self.name}{best}: {self.measured:.6g} {promise}"


def promise(theorem: TheoremBound) -> str:
    """What a theorem promises beside what was counted."""
    if not theorem.at_most:
        return f"{theorem.name}: {theorem.bound:g} is promised, {rounded_down(theorem.measured, 3)} is reached."
    if math.isfinite(theorem.bound):
        return f"{theorem.name}: {theorem.measured:,.0f} of at most {math.floor(theorem.bound):,}."
    counted = f"{theorem.measured:,.0f}" if float(theorem.measured).is_integer() else f"{theorem.measured:.6g}"
    return f"{theorem.name}: it promises nothing here; {counted} were counted."
