"""What a file keeps of an estimator beside what its fit has left: its parameters and the proof, and by what a model can
be told from one that was changed, and its data from other data.

    parameters     as they are declared; of a certificate the plain fields, with planes, rows and weights as arrays
    the record     of the fit (`estimators/base.py`): the class of each support row, digests of the support vectors and
                   of some rows of the table; null in a model that never had one, from a file before version 3, or after
                   `partial_fit`
    fingerprint    of the whole table

All parts of a certificate are of one kind. Nothing is believed here: `verify` checks what was read against the data.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from maxmargin.certificates.form import WORDS
from maxmargin.certificates.kernel_margin import KernelCertificate
from maxmargin.certificates.multiclass import MulticlassCertificate
from maxmargin.certificates.record import KINDS, LATER, Record
from maxmargin.certificates.slim import SlimCertificate
from maxmargin.data.checking import checked_table
from maxmargin.data.table import is_sparse, matrix_of
from maxmargin.estimators.agreement import disagreements
from maxmargin.estimators.base import behind_the_steps, digest_of, sample_of, single
from maxmargin.estimators.linear import LinearSVM
from maxmargin.estimators.model_verification import OTHER_TABLE
from maxmargin.estimators.parameters import Choice, Declarations
from maxmargin.estimators.probability import Calibration
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.schema import (
    NOT_NEGATIVE,
    Arrays,
    Between,
    Digest,
    Fields,
    OneOf,
    Reader,
    Rule,
    Size,
    Stored,
    shown,
    split,
    without_numpy,
    written,
)
from maxmargin.run.control import Status

TYPES = ("float64", "float32", "sparse float64", "sparse float32")
ARRAYS = ("weights", "shares"), ("w", "rule_w"), ("heights",)  # of rows, planes and blocks, where a kind has them
IN_ARRAYS = {"rows", *itertools.chain(*ARRAYS)}
ROWS, WEIGHTS = Stored("certificate rows", types=("int64",)), Stored("certificate rows")
HEIGHTS = Stored("blocks", types=("int64",))  # the same of all parts: they are about one table
LABEL = Rule("a label", lambda value: isinstance(value, str | int | float))
KINDS_OF_FIELDS: dict[str, Any] = {  # where the annotations of a certificate say less
    **{name: Annotated[str, OneOf(words)] for name, words in WORDS.items()},
    "class_weight": tuple[tuple[Annotated[Any, LABEL], float], ...],
    "row": Annotated[int, Between(-1)],
}


def write_parameters(declarations: Declarations, values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as a document holds them, if it can: no function among them, which would be code."""
    found, values = {}, without_numpy(dict(values))
    for name, declaration in declarations.items():
        if declaration.of_this_process:
            continue
        value = values[name]
        if not declaration.keeps(value):
            can = f"a file can hold {declaration.words_for_a_file()}"
            code = "; a function is code, and a model file holds none" if callable(value) else ""
            raise Refusal(f"the parameter {name}={shown(value)} cannot be kept: {can}{code}")
        if not (declaration.later and value == declaration.default):
            found[name] = declaration.written(value)
    return found


def read_parameters(declarations: Declarations, fields: Fields) -> dict[str, Any]:
    """All parameters of the estimator, and no others."""
    values = {name: declaration.default for name, declaration in declarations.items()}
    kept = [name for name, declaration in declarations.items() if not declaration.of_this_process]
    kept = [name for name in kept if name in fields.left or not declarations[name].later]
    for name, said in fields.take_all(dict.fromkeys(kept, Any)).items():
        declaration = declarations[name]
        try:
            value = declaration.restored(said)
        except ValueError as problem:
            raise Refusal(f"the parameter {name} {problem}") from None
        if not declaration.keeps(value):
            foreign = isinstance(declaration, Choice) and isinstance(value, str)
            why = "; what was registered for the fit must be registered here, too" if foreign else ""
            raise Refusal(f"the parameter {name} must be {declaration.words_for_a_file()}, not {shown(value)}{why}")
        values[name] = value
    return values


@dataclass
class Parts:
    """What the document says of a certificate: each of its parts, and how many rows carry weight in each."""

    kind: Annotated[str, OneOf(KINDS)]
    sizes: list[int]
    parts: list[dict[str, Any]]


def write_certificate(certificate: Any, arrays: Arrays) -> Any:
    """What the document says of a certificate; its arrays are added to those of the file."""
    parts: tuple[Any, ...] = certificate.parts
    if any(isinstance(part, SlimCertificate) for part in parts):
        raise Refusal("its certificate is slim, without the rows and weights that prove it: save it with its proof")
    kind = type(parts[0]).kind
    arrays["certificate.rows"] = np.concatenate([part.rows for part in parts]).astype(np.int64)
    of_rows, of_planes, of_blocks = arrays_of(KINDS[kind])
    for name in of_rows:
        arrays[f"certificate.{name}"] = np.concatenate([getattr(part, name) for part in parts])
    for name in of_planes:
        arrays[f"certificate.{name}"] = np.stack([getattr(part, name) for part in parts])
    for _ in of_blocks:
        arrays["certificate.heights"] = parts[0].heights.astype(np.int64)
        if not all(np.array_equal(part.heights, parts[0].heights) for part in parts):
            raise Refusal("the parts of the certificate are about tables of different blocks")
    plain = [{name: value for name, value in part.to_dict().items() if name not in IN_ARRAYS} for part in parts]
    lacking = {"huber_width": None, **KINDS[kind].later}  # as older files
    fields = [{k: v for k, v in part.items() if k not in lacking or v != lacking[k]} for part in plain]
    return written(Parts(kind, [len(part.rows) for part in parts], fields), arrays)


def read_certificate(reader: Reader, document: Any, sides: list[tuple[Any, Any]], n_columns: int) -> Any:
    """The certificate of a model whose planes have these sides."""
    said: Parts = reader.value(Parts, document, "certificate")
    kind = KINDS[said.kind]
    if not len(said.sizes) == len(said.parts) == len(sides):
        raise Refusal(f"the certificate must have {len(sides)} parts, one for each plane, each with a size")
    of_rows, of_planes, of_blocks = arrays_of(kind)
    arrays: dict[str, Any] = {
        "rows": split(reader.array("certificate.rows", ROWS, [NOT_NEGATIVE]), said.sizes, "certificate.rows")
    }
    for name in of_rows:
        arrays[name] = split(reader.array(f"certificate.{name}", WEIGHTS), said.sizes, f"certificate.{name}")
    for name in of_planes:
        planes = reader.array(f"certificate.{name}", Stored(len(sides), n_columns))
        arrays[name] = [plane.copy() for plane in planes]
    for name in of_blocks:
        arrays[name] = [reader.array(f"certificate.{name}", HEIGHTS, [NOT_NEGATIVE])] * len(sides)
    parts = dataclasses.replace(reader, kinds=KINDS_OF_FIELDS, missing={**LATER, **kind.later, "plane": ()})
    made = []
    for index, part in enumerate(said.parts):
        with parts.fields(part, f"certificate.parts[{index}]") as fields:
            made.append(fields.read(kind, **{name: of_parts[index] for name, of_parts in arrays.items()}))
        refuse_another_question(made[-1], fields.place, sides[index], n_columns)
    return made[0] if len(made) == 1 else MulticlassCertificate(tuple(made))


def refuse_another_question(part: Record, place: str, sides: tuple[Any, Any], n_columns: int) -> None:
    """A `Refusal` where a certificate is about another plane than that of its model, or asks for no gap."""
    if (part.positive, part.negative) != sides:
        raise Refusal(f"{place} is not about the labels of its plane, {shown(sides)}")
    if part.n_columns != n_columns:
        raise Refusal(f"{place} is about {part.n_columns} columns, and the model has {n_columns}")
    if not type(part).may_ask_for(tol := getattr(part, "tol", 0.5)):
        raise Refusal(f"{place}.tol must be above 0 and below 1, not {tol}")


def arrays_of(kind: type[Record]) -> list[list[str]]:
    """The fields of this kind that are numbers of its rows, of its planes and of its blocks."""
    own = {field.name for field in dataclasses.fields(kind)}
    return [[name for name in names if name in own] for names in ARRAYS]


@dataclass(frozen=True)
class Fingerprint:
    """SHA-256 of X and y as an estimator sees them, with the shape and the type of X.

    The numbers count, not how they came: a list, an array, a data frame of float64 have the same fingerprint. Rows in
    another order, another precision, or a sparse table in place of a dense one have another.
    """

    sha256: Digest
    n_rows: Annotated[int, Between(1)]
    n_columns: Annotated[int, Between(1)]
    dtype: Annotated[str, OneOf(TYPES)]

    @classmethod
    def of(cls, X: Any, y: Any) -> Fingerprint:
        """The fingerprint of a table and its labels."""
        table, labels, _ = checked_table(LinearSVM(), X, y)
        return cls.of_checked(matrix_of(table), labels)

    @classmethod
    def of_checked(cls, table: Any, labels: Any) -> Fingerprint:
        """The same, of what `fit` would compute with."""
        kind = f"sparse {table.dtype.name}" if is_sparse(table) else table.dtype.name
        n_rows, n_columns = table.shape
        digest = hashlib.sha256(f"{kind} {n_rows} {n_columns}\n".encode())
        if is_sparse(table):
            digest.update(np.ascontiguousarray(table.indptr, dtype="<i8").data)
            digest.update(np.ascontiguousarray(table.indices, dtype="<i8").data)
            table = table.data
        digest.update(np.ascontiguousarray(table, dtype=table.dtype.newbyteorder("<")).data)
        classes, codes = np.unique(np.asarray(labels), return_inverse=True)
        digest.update(json.dumps(classes.tolist()).encode())
        digest.update(np.ascontiguousarray(codes, dtype="<i8").data)
        return cls(digest.hexdigest(), int(n_rows), int(n_columns), kind)

    def matches(self, X: Any, y: Any) -> bool:
        """Whether this is the table."""
        return Fingerprint.of(X, y) == self

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def refuse_another_plane(estimator: Any) -> None:
    """A `Refusal` where an estimator predicts by other planes than those of its certificate."""
    found = disagreements(estimator)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise Refusal(f"it does not predict by the planes that are proven: {found[0]}{more}")


def fingerprint_of(model: Any, estimator: Any, X: Any, y: Any) -> dict[str, Any]:
    """The fingerprint of the data, as the estimator saw them, behind the steps before it."""
    if y is None:
        raise Refusal("a fingerprint is of X and y: give both or neither")
    prepared = behind_the_steps(model, X) if isinstance(model, Pipeline) else X
    table, labels, _ = checked_table(LinearSVM(), prepared, y)
    table = matrix_of(table)
    made = Fingerprint.of_checked(table, labels)
    if made.n_columns != estimator.n_features_in_:
        raise Refusal(f"X has {made.n_columns} columns, and the model was fitted to {estimator.n_features_in_}")
    return {**made.to_dict(), "sample": digest_of(sample_of(table))}


def refuse_another_table(estimator: Any, sample: str | None) -> None:
    """A `Refusal` where the table, behind the steps before the estimator, is not the one that the fit has seen."""
    seen = getattr(estimator, "_seen", None)
    if sample is not None and seen is not None and sample != digest_of(seen["sample"]):
        raise Refusal(OTHER_TABLE)


@dataclass
class Counts:
    """How long the fit took, how it ended, and how wide its streets are."""

    n_iter: int
    n_updates: Annotated[list[int], Size("planes")]
    margins: Annotated[list[float], Size("planes")]
    status: Annotated[list[Status], Size("planes")] | None

    @classmethod
    def of(cls, estimator: Any) -> Self:
        updates, margins = listed(estimator.n_updates_), listed(estimator.margin_)
        status = listed(estimator.status_) if hasattr(estimator, "status_") else None
        return cls(int(estimator.n_iter_), [int(one) for one in updates], [float(one) for one in margins], status)

    def put(self, estimator: Any) -> None:
        estimator.n_iter_, estimator.n_updates_ = self.n_iter, single(self.n_updates)
        estimator.margin_ = single(self.margins)
        estimator.street_ = single([2.0 * margin for margin in self.margins])
        if self.status is not None:
            estimator.status_ = single(self.status)
        elif hasattr(estimator, "certificate_"):
            raise Refusal("'status' must say for each plane why the fit ended")


def listed(value: Any) -> list[Any]:
    """What is there for each plane, also where there is one, as a list."""
    return list(value) if isinstance(value, list | tuple | np.ndarray) else [value]


@dataclass
class Seen:
    """The record of the fit as the document holds it; the classes of the support rows are an array."""

    n_rows: Annotated[int, Between(1)]
    sample: Digest
    vectors: Digest | None
    codes: Annotated[NDArray[np.intp] | None, Stored("support", types=("int64",), name="support_codes"), NOT_NEGATIVE]

    @classmethod
    def of(cls, estimator: Any, parts: tuple[str, ...]) -> Self | None:
        seen = getattr(estimator, "_seen", None)
        if seen is None:
            return None
        vectors = seen["vectors"] if "support_vectors" in parts else None
        return cls(seen["n_rows"], digest_of(seen["sample"]), vectors, seen["codes"] if "support" in parts else None)

    def put(self, estimator: Any, parts: tuple[str, ...]) -> None:
        if (self.codes is None) == ("support" in parts):
            raise Refusal("the array 'support_codes' must be there with the rows of the support, and only then")
        if self.codes is not None and np.any(self.codes >= len(estimator.classes_)):
            raise Refusal("the array 'support_codes' speaks of classes that the model does not have")
        if self.codes is not None and np.any(estimator.support_ >= self.n_rows):
            raise Refusal(f"the array 'support' speaks of rows beyond the {self.n_rows} of the table")
        if (self.vectors is None) == ("support_vectors" in parts):
            raise Refusal("'vectors' of the record must be there with the support vectors, and only then")
        estimator._seen = vars(self).copy()


@dataclass
class ColumnRoles:
    """The columns of the table that were no features."""

    label: str | None = None
    weight: str | None = None
    id: str | None = None

    @classmethod
    def of(cls, roles: Mapping[str, str] | None, columns_by: str | None) -> Self | None:
        if not roles:
            return None
        unknown = set(roles) - {one.name for one in dataclasses.fields(cls)}
        if unknown:
            raise Refusal(f"a column is a label, a weight or an id, and no {min(unknown)!r}")
        return cls(**roles).checked(columns_by)

    def checked(self, columns_by: str | None) -> Self:
        for part, name in vars(self).items():
            if columns_by == "position" and name is not None and not name.isdecimal():
                raise Refusal(f"roles.{part} must be the index of a column, which has no name, not {shown(name)}")
        return self

    def beside(self, features: Collection[str], columns_by: str | None) -> dict[str, str]:
        """What is known, where each column plays one part. A feature without a name is called x and its index."""
        named = {part: name for part, name in vars(self.checked(columns_by)).items() if name is not None}
        taken: dict[str, str] = dict.fromkeys(features, "a feature")
        for part, name in named.items():
            feature = f"x{int(name)}" if columns_by == "position" else name
            if feature in taken:
                raise Refusal(f"roles.{part} is the column {shown(name)}, which is {taken[feature]} of the model too")
            taken[feature] = f"roles.{part}"
        return named


def checked_calibration(calibration: Calibration | None, n_classes: int) -> Calibration | None:
    """One curve for two classes, else one for each; of finite numbers, from two folds or more."""
    if calibration is None:
        return None
    n_curves = 1 if n_classes == 2 else n_classes
    for name, numbers in (("slopes", calibration.slopes), ("offsets", calibration.offsets)):
        if len(numbers) != n_curves or not all(map(math.isfinite, numbers)):
            raise Refusal(f"calibration.{name} must be {n_curves} finite numbers, for {n_classes} classes")
    if calibration.folds < 2:
        raise Refusal("calibration.folds must be 2 or more")
    return calibration


def bring_to_canonical_form(estimator: Any) -> None:
    """A hard margin in the space of a kernel from a file before version 3, scaled until its nearest row has
    y (w.phi(x) + b) = 1.

    Those files hold the plane of the weights as the solver left them, and 1 / |w| of it as the margin. The certificate
    knows the margin m of the plane, and y (w.phi(x) + b) / |w| = m at its nearest row: so the factor is 1 / (m |w|).
    """
    parts = estimator.certificate_.parts
    margins = estimator.margin_ if len(parts) > 1 else [estimator.margin_]
    made = []
    for line, (part, margin) in enumerate(zip(parts, margins, strict=True)):
        is_hard = isinstance(part, KernelCertificate) and part.is_hard and part.is_separable is True
        nearest = part.margin_lower / margin if is_hard and 0.0 < margin < math.inf else math.nan
        if 0.0 < nearest < math.inf:
            estimator.dual_coef_[line] /= nearest
            estimator.intercept_[line] /= nearest
            margin = part.margin_lower
        made.append(float(margin))
    estimator.margin_, estimator.street_ = single(made), single([2.0 * margin for margin in made])
