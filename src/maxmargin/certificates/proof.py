"""What every certificate is made of and can do besides proving: be printed, written to JSON and read back."""

from __future__ import annotations

import dataclasses
import json
import math
import operator
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Self

import numpy as np

from maxmargin.data.matrix import Vector


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
    """What a theorem promises beside what was measured; `at_most` says which way the promise goes."""

    name: str
    bound: float
    measured: float
    at_most: bool = True

    @property
    def holds(self) -> bool:
        return self.measured <= self.bound if self.at_most else self.measured >= self.bound


class Proof(ABC):
    """A certificate as text: `report` for a person, JSON for a machine. Subclasses are dataclasses."""

    verdicts: ClassVar[type[StrEnum]]
    numbers: ClassVar[tuple[str, ...]]  # the fields that are one float each
    question: ClassVar[str]  # the property to ask instead of `if certificate`
    may_ask_for_no_gap: ClassVar[bool] = False
    later_fields: ClassVar[dict[str, Any]] = {"theorems": ()}  # what older documents lack, and what it is then

    primal: float
    dual: float
    weights: Vector

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a file; some programs keep an enum as its text."""
        vars(self).update(state, verdict=self.verdicts(state["verdict"]))

    @classmethod
    def may_ask_for(cls, tol: float) -> bool:
        """Whether tol is a relative gap that says something; 0, where no gap needs to be asked for."""
        return 0.0 < tol < 1.0 or (cls.may_ask_for_no_gap and tol == 0.0)

    @property
    def gap(self) -> float:
        """primal - dual, both recomputed from the data; NaN where neither side is finite."""
        return self.primal - self.dual

    @property
    def is_about_margin(self) -> bool:
        """Whether a margin is bounded, that of a hard one, or else the objective of a soft one."""
        return math.isinf(getattr(self, "C", math.inf))

    @property
    def n_support(self) -> int:
        """How many rows carry weight."""
        return int(np.count_nonzero(self.weights))

    def __bool__(self) -> bool:
        raise TypeError(
            f"a certificate is neither true nor false: ask .{self.question}, or .verify(X, y), which can stand in an if"
        )

    @abstractmethod
    def report(self) -> str:
        """All of it, for a person."""

    def __str__(self) -> str:
        return self.report()

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from maxmargin.certificates.html import certificate_html

        return certificate_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values only; `from_dict` is the way back."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return {field.name: plain(getattr(self, field.name)) for field in fields}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """What `to_dict` wrote; a ValueError says what is missing or unknown."""
        names = {field.name for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        fields = {name: value for name, value in cls.later_fields.items() if name in names} | fields
        if set(fields) != names:
            raise ValueError(
                f"not a certificate: missing {sorted(names - set(fields))}, unknown {sorted(set(fields) - names)}"
            )
        values = dict(fields)
        if values["verdict"] not in cls.verdicts.__members__:
            raise ValueError(f"unknown verdict {values['verdict']!r}; known are {sorted(cls.verdicts.__members__)}")
        values["verdict"] = cls.verdicts[values["verdict"]]
        try:
            for name in cls.numbers:
                values[name] = float(values[name])
            if "w" in values:
                values["w"] = np.asarray(values["w"], dtype=np.float64)
            values["weights"] = np.asarray(values["weights"], dtype=np.float64)
            values["rows"] = np.array([operator.index(row) for row in values["rows"]], dtype=np.intp)
            if values["kkt"] is not None:
                values["kkt"] = KKT(**{name: Violation(**entry) for name, entry in values["kkt"].items()})
            if "theorems" in values:
                values["theorems"] = tuple(TheoremBound(**theorem) for theorem in values["theorems"])
            if "class_weight" in values:
                values["class_weight"] = tuple((label, float(weight)) for label, weight in values["class_weight"])
        except (AttributeError, TypeError, ValueError) as error:
            raise ValueError(f"not a certificate: {error}") from None
        if "tol" in values and not cls.may_ask_for(values["tol"]):
            raise ValueError(f"not a certificate: tol must be above 0 and below 1, not {values['tol']}")
        return cls(**values)

    def to_json(self) -> str:
        """One line of JSON; what JSON cannot hold is written as {"number": "inf"}."""
        return json.dumps(spell_out(self.to_dict()), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        return cls.from_dict(read_back(json.loads(text)))


def plain(value: Any) -> Any:
    """Numbers, strings, lists and dicts in place of arrays, enums and dataclasses."""
    if isinstance(value, StrEnum):
        return value.name
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return [plain(entry) for entry in value]
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else value


def spell_out(value: Any) -> Any:
    """Numbers that JSON cannot hold, as {"number": "inf"}: a label that is the string "inf" stays a string."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    if isinstance(value, dict):
        return {key: spell_out(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [spell_out(entry) for entry in value]
    return value


def read_back(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"number"}:
            return float(value["number"])
        return {key: read_back(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [read_back(entry) for entry in value]
    return value
