"""A certificate: what is proven about one two-class problem, with all that is needed to check it again.

It holds the plane and the weights of the rows (the two sides of the proof), the bounds that follow from them, and
how well they satisfy the conditions of optimality. It never holds what only a solver believes.
"""

from __future__ import annotations

import dataclasses
import json
import math
import operator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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


@dataclass(frozen=True)
class Violation:
    """The largest violation of one condition, and the row where it occurs (-1: it has no row)."""

    value: float
    row: int = -1


@dataclass(frozen=True)
class KKT:
    """The conditions of Karush, Kuhn and Tucker at the claimed plane and weights, in canonical scale.

    w and a are scaled so that the nearest row has y (w.x + b) = 1 and w = sum a_i y_i x_i would hold exactly at the
    optimum; violations are relative to |w| (stationarity), to 1 (primal), and to sum a (dual, slackness).

    stationarity       |w - sum a_i y_i x_i|                  (l1: 1 - w.p / (|w|_1 |p|_max) with p = sum a_i y_i x_i)
    primal             max 1 - y_i (w.x_i + b)
    dual               max -a_i,  and |sum a_i y_i| if there is a bias
    slackness          max a_i (y_i (w.x_i + b) - 1)
    bias               the support vectors' own values of b, highest minus lowest: they should agree
    """

    stationarity: Violation
    primal: Violation
    dual: Violation
    slackness: Violation
    bias: Violation


@dataclass(frozen=True)
class TheoremBound:
    """What a theorem promises beside what was measured; `at_most` says which way the promise goes."""

    name: str
    bound: float
    measured: float
    at_most: bool = True

    @property
    def holds(self) -> bool:
        return self.measured <= self.bound if self.at_most else self.measured >= self.bound


def relative_gap(lower: float, upper: float) -> float:
    """(upper - lower) / upper; infinite where nothing bounds the margin from above, NaN where it is zero."""
    if not (math.isfinite(upper) and upper > 0.0):
        return math.nan if upper == 0.0 else math.inf
    return (upper - lower) / upper


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is proven about separating one class from another (or from the rest).

    verdict                      what is proven, as a sentence
    norm, fit_intercept          which margin: "l2" or "l1"; with a bias or through the origin
    positive, negative           the labels on the two sides; negative None means all other labels
    n_rows, n_columns            the size of the problem
    w, b                         the plane w.x + b = 0, zero if none is claimed
    rows, weights                rows of X with weights: points of the hulls, or the witness that the hulls meet
    margin_lower, margin_upper   the best margin of any plane lies between them, rounding included
    primal, dual                 the same as values of min 1/2|w|^2 (l1: |w|_1) subject to y (w.x + b) >= 1
    tol                          the relative gap that was asked for
    kkt                          how well the conditions of optimality hold; None where no plane separates
    theorems                     the algorithm's guarantees beside what happened
    """

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

    @property
    def gap(self) -> float:
        """primal - dual, both recomputed; NaN where the primal has no feasible point and the dual no bound."""
        return self.primal - self.dual

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

    @property
    def n_support(self) -> int:
        """How many rows carry weight."""
        return int(np.count_nonzero(self.weights))

    def __bool__(self) -> bool:
        raise TypeError(
            "a certificate is neither true nor false: ask .is_separable, or .verify(X, y), which can stand in an if"
        )

    def verify(self, X: Any, y: Any, *, exact: bool = False, sample_weight: Any = None) -> Verification:
        """Check every number against the raw data, with code that shares nothing with the solvers.

        exact=True decides the proof in rational arithmetic, where rounding cannot fake anything.
        The answer can stand in an `if`, and says why when it is printed. Rows of zero `sample_weight` were not
        part of the problem: give the same weights as to `fit`.
        """
        from maxmargin.certificates.verification import verify

        return verify(self, X, y, exact=exact, sample_weight=sample_weight)

    def __repr__(self) -> str:
        return (
            f"Certificate({self.verdict.name}, margin in [{self.margin_lower:.6g}, {self.margin_upper:.6g}], "
            f"relative gap {self.relative_gap:.1e}, {self.n_support} of {self.n_rows} rows carry weight)"
        )

    def __str__(self) -> str:
        return self.report()

    def report(self) -> str:
        """All of it, for a person."""
        from maxmargin.certificates.report import report

        return report(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values only; `Certificate.from_dict` is the way back."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        fields["verdict"] = self.verdict.name
        fields["w"], fields["weights"] = self.w.tolist(), self.weights.tolist()
        fields["rows"] = self.rows.tolist()
        fields["kkt"] = None if self.kkt is None else dataclasses.asdict(self.kkt)
        fields["theorems"] = [dataclasses.asdict(theorem) for theorem in self.theorems]
        for side in ("positive", "negative"):
            fields[side] = fields[side].item() if isinstance(fields[side], np.generic) else fields[side]
        return fields

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Certificate:
        """The certificate that `to_dict` wrote; a ValueError says what is missing or unknown."""
        names = {field.name for field in dataclasses.fields(cls)}
        if set(fields) != names:
            raise ValueError(
                f"not a certificate: missing {sorted(names - set(fields))}, unknown {sorted(set(fields) - names)}"
            )
        values = dict(fields)
        if values["verdict"] not in Verdict.__members__:
            raise ValueError(f"unknown verdict {values['verdict']!r}; known are {sorted(Verdict.__members__)}")
        values["verdict"] = Verdict[values["verdict"]]
        try:
            for name in ("b", "margin_lower", "margin_upper", "primal", "dual", "tol"):
                values[name] = float(values[name])
            values["w"] = np.asarray(values["w"], dtype=np.float64)
            values["weights"] = np.asarray(values["weights"], dtype=np.float64)
            values["rows"] = np.array([operator.index(row) for row in values["rows"]], dtype=np.intp)
            if values["kkt"] is not None:
                values["kkt"] = KKT(**{name: Violation(**entry) for name, entry in values["kkt"].items()})
            values["theorems"] = tuple(TheoremBound(**theorem) for theorem in values["theorems"])
        except (AttributeError, TypeError, ValueError) as error:
            raise ValueError(f"not a certificate: {error}") from None
        return cls(**values)

    def to_json(self) -> str:
        """One line of JSON; what JSON cannot hold is written as {"number": "inf"}."""
        return json.dumps(_spell_out(self.to_dict()), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        return cls.from_dict(_read_back(json.loads(text)))


def _spell_out(value: Any) -> Any:
    """Numbers that JSON cannot hold, as {"number": "inf"}: a label that is the string "inf" stays a string."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    if isinstance(value, dict):
        return {key: _spell_out(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_spell_out(entry) for entry in value]
    return value


def _read_back(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"number"}:
            return float(value["number"])
        return {key: _read_back(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_read_back(entry) for entry in value]
    return value
