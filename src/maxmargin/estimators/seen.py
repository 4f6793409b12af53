"""What a fit has seen of its table: the record by which a fitted estimator can be told from one that was changed.

A certificate names rows by their numbers. Whose side they are on, and what stands in them, is in the table, which no
model keeps. So a fit notes

    n_rows     of the table
    sample     a digest of some rows of the table, evenly spread, as the estimator saw them: behind all steps before it
    codes      the class of each row of `support_`, where there are such rows
    vectors    a digest of `support_vectors_`, with what the kernel subtracts from them, where predictions need them

These are plain values, so that any program that keeps estimators keeps them too.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.data.table import Matrix, Table, is_sparse

ROWS = 64  # of the sample, at most
NUMBERS = 2**14  # of the sample, at most, if one row has not more: the digest takes part of the time of a small fit


def seen_by(estimator: Any, X: Matrix | Table, codes: NDArray[np.intp]) -> dict[str, Any]:
    """The record of a fit that has just been stored in the estimator; `codes` are the classes of the rows of X."""
    support = getattr(estimator, "support_", None)
    return {
        "n_rows": int(X.shape[0]),
        "sample": sample_of(X),
        "codes": None if support is None else codes[support],
        "vectors": vectors_of(estimator),
    }


def sample_of(X: Matrix | Table) -> str:
    """A digest of some rows: the same for the same numbers, dense or sparse, in float32 or float64."""
    n_rows, n_columns = X.shape
    count = min(n_rows, ROWS, max(1, NUMBERS // max(1, n_columns)))
    rows = X[np.linspace(0, n_rows - 1, count).astype(np.intp)]
    digest = hashlib.sha256(f"{n_rows} {n_columns}\n".encode())
    for numbers, kind in zip(entries_of(rows), ("<i8", "<i8", "<f8"), strict=True):
        digest.update(np.ascontiguousarray(numbers, dtype=kind).data)
    return digest.hexdigest()


def entries_of(rows: Matrix) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """What is not zero, as CSR has it: where each row begins, the columns, the numbers."""
    if is_sparse(rows):
        entries = sparse.csr_array(rows, dtype=np.float64)
        entries.sum_duplicates()
        entries.eliminate_zeros()
        return entries.indptr, entries.indices, entries.data
    is_entry = rows != 0.0
    begins = np.concatenate([[0], np.cumsum(np.count_nonzero(is_entry, axis=1))])
    return begins, np.nonzero(is_entry)[1], rows[is_entry]


def vectors_of(estimator: Any) -> str | None:
    """A digest of the support vectors, to the last bit, and of what the kernel subtracts from every row."""
    vectors = getattr(estimator, "support_vectors_", None)
    if vectors is None:
        return None
    digest = hashlib.sha256(f"{vectors.dtype.name} {vectors.shape}\n".encode())
    shift = getattr(getattr(estimator, "_kernel", None), "shift", None)
    own = [vectors.indptr, vectors.indices, vectors.data] if is_sparse(vectors) else [vectors]
    for numbers in (*own, np.zeros(0) if shift is None else shift):
        kind = "<i8" if numbers.dtype.kind == "i" else numbers.dtype.newbyteorder("<")
        digest.update(np.ascontiguousarray(numbers, dtype=kind).data if numbers.size else b"")
    return digest.hexdigest()
