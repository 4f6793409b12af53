"""What a file keeps so that a model can be told from one that was changed, and its data from other data; and the
check of it.

The record of the fit (`estimators/base.py`) goes into the file beside what it is about: the class of each support row,
digests of the support vectors and of some rows of the table. It is null in a model that never had one: from a file
before version 3, or after `partial_fit`.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.kernel_margin import KernelCertificate
from maxmargin.data.checking import checked_table
from maxmargin.data.table import is_sparse, matrix_of
from maxmargin.estimators.agreement import disagreements, parts_of
from maxmargin.estimators.base import single
from maxmargin.estimators.linear import LinearSVM
from maxmargin.estimators.model_verification import OTHER_TABLE
from maxmargin.estimators.probability import Calibration
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.kinds import NOT_NEGATIVE, Between, Digest, OneOf, Stored, shown

TYPES = ("float64", "float32", "sparse float64", "sparse float32")


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
        table = matrix_of(table)
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


def refuse_another_table(estimator: Any, sample: str | None) -> None:
    """A `Refusal` where the table, behind the steps before the estimator, is not the one that the fit has seen."""
    seen = getattr(estimator, "_seen", None)
    if sample is not None and seen is not None and sample != seen["sample"]:
        raise Refusal(OTHER_TABLE)


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
        return cls(seen["n_rows"], seen["sample"], vectors, seen["codes"] if "support" in parts else None)

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
        unknown = set(roles) - {one.name for one in fields(cls)}
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
    parts = parts_of(estimator.certificate_)
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
