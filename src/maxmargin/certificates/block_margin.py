"""The certificate of a soft margin of rows that are read block by block: kilobytes, however many rows there are.

    dual <= the least value of 1/2 |w|^2 + sum_i C_i loss(1 - y_i (w.x_i + b)) <= primal

The plane is told as always, the dual variables by a rule of few numbers, and row by row only where rows are listed
(`problems.block_margin`). A row is named by its block and its place in it: block * 2^32 + row. So the certificate
speaks of a table that is cut into blocks of these heights, and of no other one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.passes import proves_gap, soft_gap
from maxmargin.certificates.proof import TheoremBound
from maxmargin.certificates.record import Record
from maxmargin.certificates.soft_margin import SoftVerdict
from maxmargin.certificates.verify import Bound, Evaluator, register
from maxmargin.data.table import Vector
from maxmargin.problems.block_margin import BlockMargin, ListedRows, Rule, Weights
from maxmargin.problems.losses import width_of


@dataclass(frozen=True, eq=False, repr=False)
class BlockMarginCertificate(Record):
    """What is proven about the soft margin between one class and another (or the rest) of a table of blocks.

    Parameters
    ----------
    verdict : SoftVerdict
        What is proven, as a sentence.
    loss, C, fit_intercept : str, float, bool
        Which problem; `loss` is the name of one in `problems.losses`.
    class_weight : tuple of pairs
        Pairs (label, weight): C_i = C * weight of the label * sample weight; empty: all 1.
    positive, negative : label
        The labels on the two sides; negative None means all other labels.
    n_rows, n_columns : int
        The size of the problem.
    heights : ndarray of int
        How many rows each block of the table has, also such as are on neither side.
    fingerprint : str
        64 bits that tell these rows, their C_i and blocks from others (`fingerprint`).
    w, b : ndarray, float
        The plane w.x + b = 0.
    rule_used : bool
        Whether a rule tells a_i of the rows that are not listed; else they are 0.
    rule_w, rule_b : ndarray, float
        The plane of the rule: a_i = C_i slope(1 - y_i (rule_w.x_i + rule_b)).
    rule_width : float
        Of the hinge: how far its edge is rounded off (`problems.block_margin`); 0: not at all.
    rows, shares : ndarray of int, ndarray
        Rows with dual variables of their own, block * 2^32 + row, in increasing order, and a_i relative to the
        largest that it may be. With a bias, the class of the larger sum is to be scaled down to the other's.
    primal, dual : float
        The optimum lies between them, rounding included: P of the plane is at most `primal`, and D of the dual
        variables at least `dual`.
    tol : float
        The relative gap that was asked for.
    kkt, theorems : None, tuple of TheoremBound
        None and none: they would need a number of each row.
    huber_width : float or None
        Where the Huber hinge becomes a straight line; None for all other losses.

    Examples
    --------
    >>> from maxmargin import LinearSVM
    >>> X, y = [[0], [1], [4], [3], [6], [7]], [0, 0, 0, 1, 1, 1]
    >>> certificate = LinearSVM(memory="10MB").fit(X, y).certificate_
    >>> certificate.dual <= certificate.primal, certificate.is_optimal, bool(certificate.verify(X, y))
    (True, True, True)
    """

    kind: ClassVar[str] = "soft margin by blocks"
    recognised_by: ClassVar[set[str]] = {"loss", "heights"}
    verdicts: ClassVar[type[StrEnum]] = SoftVerdict
    question: ClassVar[str] = "is_optimal"

    verdict: SoftVerdict
    loss: str
    C: float
    fit_intercept: bool
    class_weight: tuple[tuple[Any, float], ...]
    positive: Any
    negative: Any
    n_rows: int
    n_columns: int
    heights: NDArray[np.intp]
    fingerprint: str
    w: Vector
    b: float
    rule_used: bool
    rule_w: Vector
    rule_b: float
    rule_width: float
    rows: NDArray[np.intp]
    shares: Vector
    primal: float
    dual: float
    tol: float
    kkt: None = None
    theorems: tuple[TheoremBound, ...] = ()
    huber_width: float | None = None

    def __getattr__(self, name: str) -> Any:
        """Why it is not there."""
        if name == "weights":
            raise AttributeError(
                "rows by blocks have no list of weights: `told` has the rule and the rows that are listed"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def relative_gap(self) -> float:
        """(primal - dual) / primal: how much lower an objective could at most be."""
        return soft_gap(self.primal, self.dual)

    @property
    def is_optimal(self) -> bool:
        """Whether the gap that was asked for is proven."""
        return self.verdict is SoftVerdict.OPTIMAL

    @property
    def n_support(self) -> int:
        """How many of the listed rows carry weight; the rule gives weight to others."""
        return int(np.count_nonzero(self.shares))

    @property
    def support_words(self) -> str:
        return f"{len(self.rows)} of {self.n_rows} rows listed, the others by a rule"

    @property
    def told(self) -> Weights:
        """The dual variables of all rows."""
        rule = Rule(self.rule_w, self.rule_b, self.rule_width, self.rule_used)
        return Weights(rule, ListedRows(self.rows.astype(np.uint64), self.shares))


@register(BlockMarginCertificate.kind)
class BlockMarginEvaluator(Evaluator):
    """P of the plane and D of the dual variables, from the blocks (`block_verification`)."""

    by_blocks = True

    @classmethod
    def refusals(cls, c: Any, X: Any, y: Any, sample_weight: Any, kernel: Any, exact: bool) -> tuple[str, ...]:
        from maxmargin.certificates.block_verification import answers_of  # which a fit does not need

        return answers_of([c], X, y, sample_weight, exact).reasons[0]

    def bounds(self) -> Iterator[Bound]:
        """They are measured by `refusals`."""
        yield from ()


def certify_blocks(
    problem: BlockMargin,
    plane: tuple[Vector, float],
    weights: Weights,
    bounds: tuple[float, float],
    *,
    C: float,
    class_weight: tuple[tuple[Any, float], ...] = (),
    positive: Any,
    negative: Any,
    n_rows: int,
    heights: NDArray[Any],
    fingerprint: str,
    tol: float,
) -> BlockMarginCertificate:
    """What `block_duality` has measured, as a certificate: bounds = (`primal.upper` of the plane, `dual.lower` of the
    weights), which may be from passes of their own."""
    (w, b), (rule, listed), (primal, dual), loss = plane, weights, bounds, problem.loss
    is_read = rule.used and not loss.is_smooth  # of a smooth loss, the rule has no width
    if not rule.used:
        rule = Rule.nothing(len(w))
    return BlockMarginCertificate(
        verdict=SoftVerdict.OPTIMAL if proves_gap(dual, primal, tol) else SoftVerdict.BOUNDED,
        loss=loss.name,
        C=float(C),
        fit_intercept=bool(problem.fit_intercept),
        class_weight=class_weight,
        positive=positive,
        negative=negative,
        n_rows=int(n_rows),
        n_columns=len(w),
        heights=np.asarray(heights, dtype=np.intp),
        fingerprint=fingerprint,
        w=np.array(w, dtype=np.float64),
        b=float(b),
        rule_used=bool(rule.used),
        rule_w=np.array(rule.w, dtype=np.float64),
        rule_b=float(rule.b),
        rule_width=float(rule.width) if is_read else 0.0,
        rows=listed.ids.astype(np.intp),
        shares=np.array(listed.shares, dtype=np.float64),
        primal=primal,
        dual=dual,
        tol=float(tol),
        huber_width=width_of(loss),
    )
