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
from maxmargin.certificates.proof import KKT, FurtherLook, TheoremBound
from maxmargin.certificates.report import Verification, report
from maxmargin.certificates.slim import without_proof
from maxmargin.certificates.verify import verify
from maxmargin.certificates.words import rounded_down, rounded_up
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
    recognised_by: ClassVar[set[str]]  # fields of the statement: a document that has them is of this kind (`kind_of`)
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

    def __getstate__(self) -> dict[str, Any]:
        """For a pickle: rows by how far each is from the one before, in as few bytes as these take."""
        state, rows = vars(self).copy(), np.asarray(self.rows)
        if rows.ndim == 1 and len(rows) and rows.dtype.kind == "i" and rows[0] >= 0 and np.all(rows[1:] > rows[:-1]):
            steps = np.diff(rows, prepend=0)
            state["rows"] = steps.astype(np.min_scalar_type(int(steps.max())))
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a file, perhaps an older one; some programs keep an enum as its text."""
        if state["rows"].dtype.kind == "u":
            state = state | {"rows": np.cumsum(state["rows"], dtype=np.intp)}
        own = {field.name for field in dataclasses.fields(self)}
        state = {name: value for name, value in (LATER | self.later).items() if name in own} | state
        state["verdict"] = self.verdicts(state["verdict"])
        if "further_look" in own:
            state["further_look"] = FurtherLook(state["further_look"])
        vars(self).update(state)

    @classmethod
    def may_ask_for(cls, tol: float) -> bool:
        """Whether tol is a relative gap that says something; 0, where no gap needs to be asked for.

        Parameters
        ----------
        tol : float
            Of a certificate.

        Returns
        -------
        bool
            Whether it may be claimed.
        """
        return 0.0 < tol < 1.0 or (cls.may_ask_for_no_gap and tol == 0.0)

    @property
    @abstractmethod
    def relative_gap(self) -> float:
        """How much better a plane could at most be, relative to the larger bound."""

    @property
    def parts(self) -> tuple[Self, ...]:
        """Itself, as the certificate of one plane; that of many classes has one for each."""
        return (self,)

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

    @property
    def support_words(self) -> str:
        """Which rows speak, in short."""
        return f"{self.n_support} of {self.n_rows} rows carry weight"

    def verify(
        self, X: Any, y: Any, *, exact: bool = False, sample_weight: Any = None, kernel: Any = None
    ) -> Verification:
        """Check every number against the raw data, with code that imports no solver.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples of the fit; of a precomputed kernel, its table.
        y : array-like of shape (n_samples,)
            The labels of the fit.
        exact : bool, default=False
            Whether to decide in rational arithmetic, where rounding cannot fake anything; in the space of a
            kernel, for linear, poly and precomputed.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the fit: samples of weight zero were not part of the problem.
        kernel : callable, default=None
            The kernel, where it is a function of yours.

        Returns
        -------
        Verification
            True or False in an `if`; the reasons when it is printed.
        """
        return verify(self, X, y, exact=exact, sample_weight=sample_weight, kernel=kernel)

    def slim(self) -> Any:
        """What it says, without the rows and weights that prove it: a few hundred bytes beside the plane.

        Returns
        -------
        SlimCertificate
            It shows the same verdict and bounds, and `verify` refuses it. An estimator that predicts by `coef_`, and
            whose `certificate_` is slim, leaves `dual_coef_` and `support_` out of its pickles, too.
        """
        return without_proof(self)

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
        return f"{type(self).__name__}({', '.join(said)}, {self.support_words})"

    def report(self) -> str:
        """All of it, for a person.

        Returns
        -------
        str
            What `print` shows.
        """
        return report(self)

    def __str__(self) -> str:
        return self.report()

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return certificate_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values only; `from_dict` is the way back.

        Returns
        -------
        dict
            By the names of the fields.
        """
        return {field.name: plain(getattr(self, field.name)) for field in dataclasses.fields(self)}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """What `to_dict` wrote, now or before; a ValueError says what is missing or unknown.

        Parameters
        ----------
        fields : dict
            What `to_dict` wrote.

        Returns
        -------
        a certificate
            Not verified: ask `verify`.
        """
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
        except (AttributeError, OverflowError, TypeError, ValueError) as error:
            raise ValueError(f"not a certificate: {error}") from None
        if "tol" in values and not cls.may_ask_for(values["tol"]):
            raise ValueError(f"not a certificate: tol must be above 0 and below 1, not {values['tol']}")
        return cls(**(values | {"verdict": cls.verdicts[verdict]}))

    def to_json(self) -> str:
        """One line of JSON; what JSON cannot hold is written as {"number": "inf"}.

        Returns
        -------
        str
            For `from_json`.
        """
        return json.dumps(spell_out(self.to_dict()), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """What `to_json` wrote; a ValueError says what is wrong.

        Parameters
        ----------
        text : str
            What `to_json` wrote.

        Returns
        -------
        a certificate
            Not verified: ask `verify`.
        """
        return cls.from_dict(read_back(json.loads(text)))


def is_witness_of_kernel(part: Any) -> bool:
    """Whether its rows are a witness in the space of a kernel, where planes are made of rows too: it has no plane."""
    return hasattr(part, "kernel") and part.is_separable is False


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
    if isinstance(value, TheoremBound):
        fields = dataclasses.asdict(value) | {"plane": list(value.plane)}
        return fields if value.plane else {name: entry for name, entry in fields.items() if name != "plane"}
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
