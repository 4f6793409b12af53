"""A fingerprint of data: whether a table is the one that a model was fitted to."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np

from maxmargin.data.checking import checked_table
from maxmargin.data.table import is_sparse, matrix_of
from maxmargin.estimators.linear import LinearSVM
from maxmargin.persistence.kinds import Between, Digest, OneOf

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
