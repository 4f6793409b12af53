"""What every certificate is: a statement, a claim and bounds, and what can be done with them.

    statement    which problem: the labels of the two sides, its size, and of each kind its own (norm; loss, C; kernel)
    claim        a plane, or none; rows with weights
    bounds       the best margin, or the least objective, lies between two numbers
    besides      the verdict, the gap that was asked for, the conditions of optimality, theorems

A kind of certificate is a frozen dataclass that derives from `Record`; `form` knows the annotations of its fields, as
text (from __future__ import annotations). An evaluator that is registered for it (`verify`) measures its claim. All
else is written once: it is verified, printed, shown in a notebook, written to JSON and read back by its fields.
"""

from __future__ import annotations

import dataclasses
import json
import math
from abc import ABC, abstractmethod
from enum import StrEnum
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.form import FITS
from maxmargin.certificates.html import certificate_html
from maxmargin.certificates.proof import KKT, FurtherLook, TheoremBound, plain, read_back, spell_out
from maxmargin.certificates.report import report
from maxmargin.certificates.rounding import rounded_down, rounded_up
from maxmargin.certificates.verify import Verification, verify
from maxmargin.data.table import Vector

KINDS: dict[str, type[Record]] = {}
LATER: dict[str, Any] = {  # what older documents lack, and what it is then
    "theorems": (),
    "huber_width": None,
    "rows_off_plane": None,
    "further_look": FurtherLook.NOT_ASKED,
}


class Record(ABC):
    """The fields that all kinds have, and what they do. Subclasses are dataclasses, which name their kind."""

    kind: ClassVar[str]
    told_by: ClassVar[set[str]]  # the fields of the statement that no other kind has, or none that has not more
    verdicts: ClassVar[type[StrEnum]]
    question: ClassVar[str]  # the property to ask instead of `if certificate`
    may_ask_for_no_gap: ClassVar[bool] = False
    is_lifted: ClassVar[bool] = False  # whether a bias is counted as a part of w
    later: ClassVar[dict[str, Any]] = {}  # what older documents of this kind alone lack

    __dataclass_fields__: ClassVar[dict[str, Any]]
    verdict: Any
    positive: Any
    negative: Any
    n_rows: int
    n_columns: int
    rows: NDArray[np.intp]
    weights: Vector
    primal: float
    dual: float
    kkt: KKT | None
    theorems: tuple[TheoremBound, ...]

    def __init_subclass__(cls) -> None:
        KINDS[cls.kind] = cls

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a file, perhaps an older one; some programs keep an enum as its text."""
        own = {field.name for field in dataclasses.fields(self)}
        state = {name: value for name, value in (LATER | self.later).items() if name in own} | state
        state["verdict"] = self.verdicts(state["verdict"])
        if "further_look" in own:
            state["further_look"] = FurtherLook(state["further_look"])
        vars(self).update(state)

    @classmethod
    def may_ask_for(cls, tol: float) -> bool:
        """Whether tol is a relative gap that says something; 0, where no gap needs to be asked for."""
        return 0.0 < tol < 1.0 or (cls.may_ask_for_no_gap and tol == 0.0)

    @property
    @abstractmethod
    def relative_gap(self) -> float:
        """How much better a plane could at most be, relative to the larger bound."""

    @property
    def gap(self) -> float:
        """primal - dual, both recomputed from the data; NaN where neither side is finite."""
        return self.primal - self.dual

    @property
    def is_separable(self) -> bool | None:
        """True or False where it is proven, None where it is not: a soft margin does not say."""
        return None

    @property
    def is_about_margin(self) -> bool:
        """Whether a margin is bounded, that of a hard one, or else the objective of a soft one."""
        return math.isinf(getattr(self, "C", math.inf))

    @property
    def n_support(self) -> int:
        """How many rows carry weight."""
        return int(np.count_nonzero(self.weights))

    def verify(
        self, X: Any, y: Any, *, exact: bool = False, sample_weight: Any = None, kernel: Any = None
    ) -> Verification:
        """Check every number against the raw data, with code that imports no solver.

        exact=True decides in rational arithmetic, where rounding cannot fake anything; in the space of a kernel, for
        linear, poly and precomputed. The answer can stand in an `if`, and says why when it is printed. Give the same
        `sample_weight` as to `fit`: rows of weight zero were not part of the problem. A kernel that is a function must
        be given again; of a precomputed one, X is the table.
        """
        return verify(self, X, y, exact=exact, sample_weight=sample_weight, kernel=kernel)

    def __bool__(self) -> bool:
        raise TypeError(
            f"a certificate is neither true nor false: ask .{self.question}, or .verify(X, y), which can stand in an if"
        )

    def __repr__(self) -> str:
        own = vars(self)
        what = ("margin", "margin_lower", "margin_upper") if "margin_lower" in own else ("objective", "dual", "primal")
        low, high = (own[name] for name in what[1:])
        said = [own["verdict"].name, *([own["kernel"]] if "kernel" in own else [])]
        said += [f"{what[0]} in [{rounded_down(low)}, {rounded_up(high)}]"]
        said += [f"relative gap {rounded_up(self.relative_gap, 2)}"] if "tol" in own else []
        return f"{type(self).__name__}({', '.join(said)}, {self.n_support} of {self.n_rows} rows carry weight)"

    def report(self) -> str:
        """All of it, for a person."""
        return report(self)

    def __str__(self) -> str:
        return self.report()

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return certificate_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values only; `from_dict` is the way back."""
        return {field.name: plain(getattr(self, field.name)) for field in dataclasses.fields(self)}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """What `to_dict` wrote, now or before; a ValueError says what is missing or unknown."""
        declared = {field.name: FITS.get(str(field.type)) for field in dataclasses.fields(cls)}
        fields = {name: plain(value) for name, value in (LATER | cls.later).items() if name in declared} | fields
        if set(fields) != set(declared):
            raise ValueError(
                f"not a certificate: missing {sorted(set(declared) - set(fields))}, "
                f"unknown {sorted(set(fields) - set(declared))}"
            )
        verdict = fields["verdict"]
        if verdict not in cls.verdicts.__members__:
            raise ValueError(f"unknown verdict {verdict!r}; known are {sorted(cls.verdicts.__members__)}")
        try:
            values = {name: kind.read(fields[name]) for name, kind in declared.items() if kind is not None}
        except (AttributeError, TypeError, ValueError) as error:
            raise ValueError(f"not a certificate: {error}") from None
        if "tol" in values and not cls.may_ask_for(values["tol"]):
            raise ValueError(f"not a certificate: tol must be above 0 and below 1, not {values['tol']}")
        return cls(**(values | {"verdict": cls.verdicts[verdict]}))

    def to_json(self) -> str:
        """One line of JSON; what JSON cannot hold is written as {"number": "inf"}."""
        return json.dumps(spell_out(self.to_dict()), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        return cls.from_dict(read_back(json.loads(text)))
