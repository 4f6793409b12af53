"""Write an SVMlight file that reads back as the same bits.

Each number is written with as many digits as it takes to tell it from every other float64 (at most 17), and whole
numbers without a point. Stored zeros of a sparse matrix are kept; of a dense one, only what is not zero is written.
"""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

import numpy as np
import scipy.sparse as sparse
from numpy.typing import ArrayLike, NDArray

from maxmargin.data.checking import checked_rows
from maxmargin.data.table import is_source, matrix_of
from maxmargin.reading.files import Source, opener_of

LARGEST_WHOLE = 2.0**53


def write_svmlight(
    target: Source,
    X: Any,
    y: ArrayLike,
    *,
    zero_based: bool = False,
    queries: ArrayLike | None = None,
    comment: str | None = None,
) -> None:
    """Write rows and labels in the format of SVMlight and LIBSVM.

    Parameters
    ----------
    target : path or open file
        A path that ends in .gz, .bz2 or .xz is compressed.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        The samples.
    y : array-like of shape (n_samples,)
        Their labels, which are numbers.
    zero_based : bool, default=False
        How indices are counted.
    queries : array-like of int, default=None
        Written after qid: where they are not negative.
    comment : str, default=None
        Becomes the first lines.

    Examples
    --------
    >>> import io
    >>> text = io.StringIO()
    >>> write_svmlight(text, [[0.1, 0.0], [0.0, 2.0]], [1, -1])
    >>> text.getvalue()
    '1 1:0.1\\n-1 2:2\\n'
    """
    X = matrix_of(checked_rows(X)) if is_source(X) else X
    rows, labels = sparse.csr_array(X), numbers_of(np.asarray(y), "label")
    numbers_of(rows.data, "value")
    asked = np.full(len(labels), -1) if queries is None else np.asarray(queries, np.int64)
    for name, given in {"labels": labels, "queries": asked}.items():
        if given.shape != (rows.shape[0],):
            raise ValueError(
                f"there are {rows.shape[0]} rows, but {name} of shape {given.shape}; give one for each row"
            )
    with opened(target) as write:
        if comment is not None:
            write("".join(f"# {line}\n" for line in comment.splitlines()))
        write_rows(write, rows, labels, asked, 0 if zero_based else 1)


def write_rows(
    write: Callable[[str], object],
    rows: sparse.csr_array,
    labels: NDArray[Any],
    queries: NDArray[np.int64],
    first_index: int,
) -> None:
    for row, (start, end) in enumerate(zip(rows.indptr[:-1], rows.indptr[1:], strict=True)):
        order = np.argsort(rows.indices[start:end], kind="stable") + start
        indices = rows.indices[order].tolist()
        if any(index == after for index, after in itertools.pairwise(indices)):
            raise ValueError(f"row {row} has two entries in one column; call X.sum_duplicates() first")
        pairs = zip(indices, rows.data[order].tolist(), strict=True)
        words = [written(labels[row].item()), *(f"{index + first_index}:{written(value)}" for index, value in pairs)]
        if queries[row] >= 0:
            words.insert(1, f"qid:{queries[row]}")
        write(" ".join(words) + "\n")


def written(value: float) -> str:
    """As few digits as tell a number from its neighbours."""
    text = repr(value)
    return text[:-2] if text.endswith(".0") else text


def numbers_of(values: NDArray[Any], name: str) -> NDArray[Any]:
    """The values, if they are numbers that the file can hold exactly."""
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
        raise ValueError(f"a {name} must be a float64 or a whole number, not {values.dtype}; encode it first")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} {int(np.argmin(np.isfinite(values)))} is {values[~np.isfinite(values)][0]}")
    if values.dtype.kind in "iu" and values.size and max(-float(values.min()), float(values.max())) > LARGEST_WHOLE:
        raise ValueError(f"a {name} beyond 2^53 would not be read back as it is; divide, or subtract an offset")
    return values.astype(np.int64) if values.dtype.kind == "b" else values


@contextmanager
def opened(target: Source) -> Iterator[Callable[[str], object]]:
    """What writes text to the target."""
    if isinstance(target, str | os.PathLike):
        with opener_of(target)(target, "wt", encoding="ascii", newline="\n") as file:
            yield file.write
    elif isinstance(target, io.TextIOBase):
        yield target.write
    else:
        yield lambda text: cast("IO[bytes]", target).write(text.encode("ascii"))
